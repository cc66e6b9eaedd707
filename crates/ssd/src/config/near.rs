//! Near matches: what did the author of a misspelt key or name mean?

/// Unit suffixes of keys, longest first so that `_mb_s` is not taken for `_s`.
const UNITS: &[&str] = &[
    "mb_s", "gb_s", "mib_s", "kb_s", "percent", "cycles", "bytes", "blocks", "pages", "ppm", "ppb", "kib",
    "mib", "gib", "tib", "ns", "us", "ms", "kb", "mb", "gb", "tb", "s",
];

/// The key without its unit suffix, and the unit.
pub(crate) fn split_unit(key: &str) -> (&str, Option<&str>) {
    for unit in UNITS {
        match key.strip_suffix(unit).and_then(|stem| stem.strip_suffix('_')) {
            Some(stem) if !stem.is_empty() => return (stem, Some(unit)),
            _ => {}
        }
    }
    (key, None)
}

/// The candidate nearest to `found`, if one is near enough to be a slip of the pen, or the only one that goes on where
/// `found` ends (`tlc` of `tlc_48l`).
pub(crate) fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let longer =
        |name: &&str| !found.is_empty() && name.strip_prefix(found).is_some_and(|s| s.starts_with('_'));
    let mut longer = candidates.iter().copied().filter(longer);
    if let (Some(name), None) = (longer.next(), longer.next()) {
        return Some(name);
    }
    // One slip in a short word, up to a third of a long one.
    let allowed = (found.chars().count() / 3).clamp(1, 4);
    let distances = candidates.into_iter().map(|name| (distance(found, name), name));
    distances.filter(|(d, _)| *d <= allowed).min().map(|(_, name)| name)
}

/// Edit distance in which a swap of neighbours counts as one (optimal string alignment), case ignored.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(80).flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().take(80).flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_but_not_strangers() {
        let names = ["greedy", "cost_benefit", "fifo", "d_choices"];
        assert_eq!(nearest("gredy", names), Some("greedy"));
        assert_eq!(nearest("cost-benefit", names), Some("cost_benefit"));
        assert_eq!(nearest("fiof", names), Some("fifo"));
        assert_eq!(nearest("Greedy", names), Some("greedy"));
        assert_eq!(nearest("lru", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("tlc", ["slc", "mlc", "tlc_48l"]), Some("tlc_48l"));
        assert_eq!(nearest("mlc", ["slc", "mlc_hire", "mlc_old"]), Some("slc"));
    }

    #[test]
    fn splits_units_from_keys() {
        assert_eq!(split_unit("t_read_ms"), ("t_read", Some("ms")));
        assert_eq!(split_unit("bandwidth_mb_s"), ("bandwidth", Some("mb_s")));
        assert_eq!(split_unit("channels"), ("channels", None));
    }
}
