//! Tagged values of loads, ages and techniques: in the text of `experiment.toml`, and of shipped workloads.

use super::tags::Tag;
use super::tries::{Numbers, times};
use crate::base::document::{File, PaperError};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

type Item<'a> = Spanned<DeValue<'a>>;

/// A tagged value of a text, or all that stand under one key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// The key.
    pub key: String,
    /// Its tag.
    pub tag: Tag,
    /// Where the values are, in the order of the text.
    pub spans: Vec<Range<usize>>,
}

/// A text being looked through.
struct Look<'t> {
    text: &'t str,
    found: Vec<Found>,
}

/// The tagged values of the loads, ages and techniques in an `experiment.toml`.
pub(super) fn of_experiment(file: &File) -> Result<Vec<Found>, PaperError> {
    let top = parsed(file)?;
    let mut look = Look { text: &file.text, found: Vec::new() };
    look.workloads(top.get("workload"));
    look.techniques(top.get("technique"));
    for age in tables(top.get("age")) {
        let name = age.get("name").and_then(|name| name.get_ref().as_str()).unwrap_or("?");
        look.entries(&format!("age.{name}"), age);
    }
    Ok(look.found)
}

/// Those of a shipped workload.
pub(super) fn of_shipped(text: &str) -> Vec<Found> {
    let mut look = Look { text, found: Vec::new() };
    if let Ok(top) = DeTable::parse(text)
        && let Some(DeValue::Table(workload)) = top.get_ref().get("workload").map(Spanned::get_ref)
    {
        look.entries("workload", workload);
    }
    look.found
}

fn parsed(file: &File) -> Result<DeTable<'_>, PaperError> {
    DeTable::parse(&file.text).map(Spanned::into_inner).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        file.wrong(at, "", error.message(), "TOML")
    })
}

/// The tables of a list, or the one that there is.
fn tables<'a, 'i>(item: Option<&'a Item<'i>>) -> Vec<&'a DeTable<'i>> {
    match item.map(Spanned::get_ref) {
        Some(DeValue::Array(items)) => items.iter().filter_map(|item| item.get_ref().as_table()).collect(),
        Some(DeValue::Table(table)) => vec![table],
        _ => Vec::new(),
    }
}

impl Look<'_> {
    fn workloads(&mut self, item: Option<&Item<'_>>) {
        for workload in tables(item) {
            // A loop's bodies.
            self.workloads(workload.get("each"));
            for (key, item) in workload {
                match (key.get_ref().as_ref(), item.get_ref()) {
                    ("spec", DeValue::Table(spec)) => self.entries("workload", spec),
                    ("steps", _) => self.value("workload.steps", item),
                    ("drive", _) => self.settings("workload.drive", item),
                    _ => {}
                }
            }
        }
    }

    fn techniques(&mut self, item: Option<&Item<'_>>) {
        for technique in tables(item) {
            self.techniques(technique.get("each"));
            for key in ["set", "quick_set"] {
                if let Some(item) = technique.get(key) {
                    self.settings("technique", item);
                }
            }
        }
    }

    /// Adds the numbers of settings as `--set` takes them.
    fn settings(&mut self, path: &str, item: &Item<'_>) {
        if let DeValue::Array(items) = item.get_ref() {
            items.iter().for_each(|item| self.settings(path, item));
        }
        let Range { start, end } = item.span();
        let quoted = &self.text[start..end];
        let Some((key, _)) = quoted.split_once('=').filter(|_| item.get_ref().is_str()) else { return };
        let value = start + key.len() + 1..end - 1;
        if times(&self.text[value.clone()], 1.0, Numbers::ANY).is_some() {
            let key = format!("{path}.{}", key.trim_start_matches(['"', '\'']).trim());
            self.spanned(&key, value, end);
        }
    }

    fn entries(&mut self, path: &str, table: &DeTable<'_>) {
        for (key, item) in table {
            let path = format!("{path}.{}", key.get_ref());
            let inner = tables(Some(item));
            match item.get_ref() {
                DeValue::Table(table) => self.entries(&path, table),
                DeValue::Array(_) if !inner.is_empty() => {
                    for (number, table) in inner.into_iter().enumerate() {
                        self.entries(&format!("{path}[{}]", number + 1), table);
                    }
                }
                _ => self.value(&path, item),
            }
        }
    }

    fn value(&mut self, key: &str, item: &Item<'_>) {
        self.spanned(key, item.span(), item.span().end);
    }

    /// Adds a value that is tagged behind an end, or in the line where it begins.
    fn spanned(&mut self, key: &str, span: Range<usize>, end: usize) {
        let line = |from: usize| {
            let rest = &self.text[from..];
            Tag::of_line(&rest[..rest.find('\n').unwrap_or(rest.len())])
        };
        let begins = self.text[span.clone()].find('\n').and_then(|_| line(span.start));
        let Some(tag) = begins.or_else(|| line(end)) else { return };
        match self.found.iter_mut().find(|other| (other.key.as_str(), other.tag) == (key, tag)) {
            Some(other) => other.spans.push(span),
            None => self.found.push(Found { key: key.to_owned(), tag, spans: vec![span] }),
        }
    }
}

/// The values, each once.
pub(super) fn values(text: &str, spans: &[Range<usize>]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for span in spans {
        let value = text[span.clone()].trim();
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all.join(", ")
}

/// A text whose values there are multiplied.
pub(super) fn multiplied(text: &str, spans: &[Range<usize>], factor: f64) -> String {
    let mut sorted = spans.to_vec();
    sorted.sort_by_key(|span| span.start);
    let (mut whole, mut at) = (String::new(), 0);
    for span in sorted {
        let value = &text[span.clone()];
        whole.push_str(&text[at..span.start]);
        whole.push_str(&times(value, factor, Numbers::ANY).unwrap_or_else(|| value.to_owned()));
        at = span.end;
    }
    whole + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn values_of_one_key_are_one() {
        let text = "[[age]]\nname = \"old\"\nsteps = [\"cycle to 7000\"] # [F] the text has none\n\
                    [[workload]]\nname = \"a\"\n[workload.spec]\nrate_iops = 100 # [A]\nzipf_theta = 0.8 # [P]\n\
                    [[workload]]\nname = \"b\"\n[workload.spec]\nrate_iops = 200 # 1/s [A]\n\
                    [[workload.spec.parts]]\nname = \"data\"\nspace_mib = 8.0 # [F]\n\
                    [[technique]]\nname = \"t\"\nset = [\n  \"ftl.stream.policy=pds\", # [A]\n  \"ftl.stream.streams=24\", # [A]\n]\n";
        let file = File { path: PathBuf::from("experiment.toml"), text: text.to_owned() };
        let found = of_experiment(&file).unwrap();
        let told: Vec<_> = found.iter().map(|one| (one.key.as_str(), values(text, &one.spans))).collect();
        let expected = [
            ("workload.rate_iops", "100, 200"),
            ("workload.parts[1].space_mib", "8.0"),
            ("technique.ftl.stream.streams", "24"),
            ("age.old.steps", "[\"cycle to 7000\"]"),
        ];
        assert_eq!(told, expected.map(|(key, value)| (key, value.to_owned())));
        let half = multiplied(text, &found[0].spans, 0.5);
        assert!(
            half.contains("rate_iops = 50 # [A]") && half.contains("rate_iops = 100 # 1/s [A]"),
            "{half}"
        );
        let half = multiplied(text, &found[2].spans, 0.5);
        assert!(half.contains("\"ftl.stream.streams=12\", # [A]"), "{half}");
        assert_eq!(multiplied(text, &found[3].spans, 2.0), text.replace("to 7000", "to 14000"));
    }
}
