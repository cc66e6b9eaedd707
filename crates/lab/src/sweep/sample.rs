//! Points drawn at random from the ranges of some keys.

use super::error::SweepError;
use super::tables::{Leaf, Table};
use ssd::config::Value;
use ssd::rng::Rng;
use toml::de::DeTable;

/// Keys of a key's table.
const KEYS: [&str; 5] = ["from", "to", "scale", "integer", "values"];
/// Keys of `[sample]` itself.
const OWN: [&str; 3] = ["count", "method", "seed"];
/// Whole numbers up to here are exact (2^53).
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// What a key is drawn from.
enum Draw {
    /// Numbers from the first to the second, evenly or evenly in their logarithms.
    Range { from: f64, to: f64, is_log: bool, is_whole: bool },
    /// One of these.
    Values(Vec<String>),
}

impl Draw {
    fn read(of: &Table<'_>) -> Result<Self, SweepError> {
        of.only(&KEYS)?;
        if let Some((key, value)) = of.table.get_key_value("values") {
            if let Some(other) = KEYS.iter().find(|key| **key != "values" && of.table.contains_key(**key)) {
                return Err(of.wrong(other, "beside values", "a range, or values"));
            }
            let at = key.span().start;
            return Ok(Draw::Values(of.distinct(&Leaf { key: "values".to_owned(), at, value })?));
        }
        let need = |key| of.number(key)?.ok_or_else(|| of.missing(key, "a number, or values = [...] alone"));
        let ((from, whole_from), (to, whole_to)) = (need("from")?, need("to")?);
        let is_log = of.is_second("scale", ["linear", "log"])?;
        let is_whole = of.flag("integer")?.unwrap_or(whole_from && whole_to);
        for (key, end) in [("from", from), ("to", to)] {
            if is_whole && (end.fract() != 0.0 || end.abs() > WHOLE_MAX) {
                return Err(of.not_allowed(key, "a whole number up to 2^53, or integer = false"));
            }
        }
        if from >= to {
            return Err(of.wrong("from", format!("{from}, with to = {to}"), "less than to"));
        }
        if is_log && from <= 0.0 {
            return Err(of.wrong("from", from.to_string(), "more than 0 on a log scale"));
        }
        Ok(Draw::Range { from, to, is_log, is_whole })
    }

    /// The value at a share of the way, from 0 to less than 1.
    fn at(&self, share: f64) -> String {
        match self {
            Draw::Values(values) => values[(share * values.len() as f64) as usize % values.len()].clone(),
            &Draw::Range { from, to, is_log, is_whole } => {
                // Each whole number has the room up to the next.
                let end = if is_whole { to + 1.0 } else { to };
                let number = match is_log {
                    true => libm::exp(libm::log(from) + share * (libm::log(end) - libm::log(from))),
                    false => from + share * (end - from),
                };
                match is_whole {
                    true => (number.floor().clamp(from, to) as i64).to_string(),
                    false => Value::Float(number.clamp(from, to)).to_string(),
                }
            }
        }
    }
}

/// A key with what it is drawn from.
struct Dimension {
    key: String,
    draw: Draw,
}

/// A table tells what a key is drawn from if it has one of these keys with a value.
fn is_draw(table: &DeTable<'_>) -> bool {
    table.is_empty()
        || KEYS.iter().any(|key| table.get(*key).is_some_and(|value| !value.get_ref().is_table()))
}

/// The keys of `[sample]`, in the order of the file.
pub(super) fn keys<'a>(of: &Table<'a>) -> Result<Vec<Leaf<'a>>, SweepError> {
    let mut leaves = of.leaves(is_draw)?;
    leaves.retain(|leaf| !OWN.contains(&leaf.key.as_str()));
    Ok(leaves)
}

/// What `[sample]` draws: for each of its keys the values of all points.
pub(super) fn values(of: &Table<'_>, seed: u64, most: u64) -> Result<Vec<Vec<String>>, SweepError> {
    let mut dimensions = Vec::new();
    for leaf in keys(of)? {
        let Some(inner) = of.inner(&leaf) else {
            let allowed =
                format!("{}, or a key with {{ from = .., to = .. }} or {{ values = [..] }}", OWN.join(", "));
            return Err(of.wrong_at(&leaf, "no range", &allowed).near(&leaf.key, OWN));
        };
        dimensions.push(Dimension { draw: Draw::read(&inner)?, key: leaf.key });
    }
    let is_random = of.is_second("method", ["latin_hypercube", "random"])?;
    let seed = of.whole("seed", 0, u64::MAX)?.unwrap_or(seed);
    let count = of.whole("count", 1, most)?;
    if dimensions.is_empty() {
        return match count {
            Some(_) => Err(of.wrong("count", "no key to draw", "keys with { from = .., to = .. }")),
            None => Ok(Vec::new()),
        };
    }
    let count = count.ok_or_else(|| of.missing("count", "a whole number from 1"))?;
    let draw = |dimension: &Dimension| {
        let mut rng = Rng::named(seed, &format!("sweep.sample.{}", dimension.key));
        let shares = if is_random { random(count, &mut rng) } else { strata(count, &mut rng) };
        shares.into_iter().map(|share| dimension.draw.at(share)).collect()
    };
    Ok(dimensions.iter().map(draw).collect())
}

/// From 0 to less than 1.
fn share(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / WHOLE_MAX
}

fn random(count: u64, rng: &mut Rng) -> Vec<f64> {
    (0..count).map(|_| share(rng)).collect()
}

/// One dimension of a Latin hypercube (McKay, Beckman, Conover 1979): a draw from each of as many strata as there are
/// points, in random order.
fn strata(count: u64, rng: &mut Rng) -> Vec<f64> {
    let mut order: Vec<u64> = (0..count).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, rng.below(at as u32 + 1) as usize);
    }
    order.into_iter().map(|stratum| (stratum as f64 + share(rng)) / count as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stratum_of_a_latin_hypercube_is_hit_once() {
        for (seed, count) in [(1, 2), (2, 10), (3, 1000)] {
            let mut shares = strata(count, &mut Rng::named(seed, "test"));
            let is_in_order = shares.is_sorted();
            shares.sort_by(f64::total_cmp);
            let hit: Vec<u64> = shares.iter().map(|share| (share * count as f64) as u64).collect();
            assert_eq!(hit, (0..count).collect::<Vec<_>>());
            assert!(count < 10 || !is_in_order, "the order is random");
        }
    }

    #[test]
    fn draws_span_their_ranges() {
        let whole = |is_log| Draw::Range { from: 1.0, to: 8.0, is_log, is_whole: true };
        let at = |draw: &Draw| [0.0, 0.5, 0.999_999].map(|share| draw.at(share));
        assert_eq!(at(&whole(false)), ["1", "5", "8"]);
        // From 1 to 9 in logarithms: 3 is half-way.
        assert_eq!([0.0, 0.499, 0.501, 0.999].map(|share| whole(true).at(share)), ["1", "2", "3", "8"]);
        let real = Draw::Range { from: 1.0, to: 100.0, is_log: true, is_whole: false };
        assert!((real.at(0.5).parse::<f64>().expect("a number") - 10.0).abs() < 1e-9);
        let values = Draw::Values(["\"a\"", "\"b\"", "\"c\""].map(str::to_owned).to_vec());
        assert_eq!(at(&values), ["\"a\"", "\"b\"", "\"c\""]);
    }
}
