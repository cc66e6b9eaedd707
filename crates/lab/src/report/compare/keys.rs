//! What was set differently: keys of configurations that are in force, and the order of their values.

use crate::report::cells::NONE;
use crate::result::RunResult;
use serde_json::Value;
use ssd::sections::ErrorModel;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A key with its value in each result; `None` where it is not there or not in force.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// Its name.
    pub name: String,
    /// Its values, result by result.
    pub values: Vec<Option<Value>>,
}

impl Key {
    fn of(name: &str, results: &[RunResult]) -> Self {
        let value =
            |result: &RunResult| result.config.get(name).filter(|_| is_in_force(name, result)).cloned();
        Key { name: name.to_owned(), values: results.iter().map(value).collect() }
    }

    /// Whether two results have it, and differ.
    fn differs(&self) -> bool {
        let mut known = self.values.iter().flatten();
        let first = known.next();
        known.any(|value| Some(value) != first)
    }

    /// Its value in a result, as text.
    pub fn shown(&self, result: usize) -> String {
        match &self.values[result] {
            None => NONE.to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }

    /// The different values, in order.
    pub fn distinct(&self) -> Vec<String> {
        let mut shown: Vec<String> = (0..self.values.len()).map(|result| self.shown(result)).collect();
        shown.sort_by(|a, b| natural(a, b));
        shown.dedup();
        shown
    }

    /// Whether the values of another key say what this one's are.
    fn follows_from(&self, other: &Key) -> bool {
        let pairs: BTreeSet<(String, String)> =
            (0..self.values.len()).map(|result| (other.shown(result), self.shown(result))).collect();
        pairs.len() == other.distinct().len()
    }
}

/// Whether a key changes anything in a result: constants of cells do nothing where no cells are modelled.
fn is_in_force(key: &str, result: &RunResult) -> bool {
    let text = |key: &str| result.config.get(key).and_then(Value::as_str).unwrap_or_default();
    let has_cells = text("nand.errors.model") != ErrorModel::None.name();
    let has_locks = text("ftl.sanitize.policy") != "none";
    match key {
        "nand.errors.model" => true,
        _ if key.starts_with("cell.") => has_cells || has_locks,
        _ if key.starts_with("nand.errors.") => has_cells,
        _ if key.starts_with("nand.lock.") => has_locks,
        _ => true,
    }
}

/// Where a key stands among others: first what is run, then the drive from the outside to the inside.
fn rank(key: &str) -> usize {
    const ORDER: [&str; 6] = ["workload.", "preset", "drive.", "nand.", "host.", "run."];
    ORDER.iter().position(|start| key.starts_with(start)).unwrap_or(ORDER.len())
}

/// The keys that are in force and differ, in the order in which they are told.
pub(super) fn differing(results: &[RunResult]) -> Vec<Key> {
    let names: BTreeSet<&String> = results.iter().flat_map(|result| result.config.keys()).collect();
    let mut keys: Vec<Key> =
        names.into_iter().map(|name| Key::of(name, results)).filter(Key::differs).collect();
    keys.sort_by(|a, b| rank(&a.name).cmp(&rank(&b.name)).then_with(|| a.name.cmp(&b.name)));
    keys
}

/// All keys that are in force in any of them, in the order in which they are told.
pub(super) fn in_force(results: &[RunResult]) -> Vec<&String> {
    let has = |name: &String| results.iter().any(|of| of.config.contains_key(name) && is_in_force(name, of));
    let names: BTreeSet<&String> = results.iter().flat_map(|result| result.config.keys()).collect();
    let mut names: Vec<&String> = names.into_iter().filter(|name| has(name)).collect();
    names.sort_by_key(|name| rank(name));
    names
}

/// The keys of that name, or of the section of that name; none if there is no such.
pub(super) fn named(name: &str, results: &[RunResult]) -> Vec<Key> {
    let section = format!("{name}.");
    let names: BTreeSet<&String> = results.iter().flat_map(|result| result.config.keys()).collect();
    let found = names.into_iter().filter(|key| *key == name || key.starts_with(&section));
    found.map(|key| Key::of(key, results)).collect()
}

/// Parts keys in those that say which run it is, and those that follow from one of them.
pub(super) fn told_apart(keys: Vec<Key>) -> (Vec<Key>, Vec<Key>) {
    let follows = |at: usize| {
        keys.iter().enumerate().any(|(other, key)| {
            let is_same = || key.follows_from(&keys[at]);
            other != at && keys[at].follows_from(key) && (other < at || !is_same())
        })
    };
    let followers: BTreeSet<usize> = (0..keys.len()).filter(|at| follows(*at)).collect();
    let (mut apart, mut rest) = (Vec::new(), Vec::new());
    for (at, key) in keys.into_iter().enumerate() {
        if followers.contains(&at) { rest.push(key) } else { apart.push(key) }
    }
    (apart, rest)
}

/// The order in which people count: numbers within texts by their size.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (x, y) = match (a.first(), b.first()) {
            (Some(x), Some(y)) => (x, y),
            (x, y) => return x.is_some().cmp(&y.is_some()),
        };
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let ([x, y], rest) = ([number(a), number(b)], |text: &[u8]| digits(text));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
            (a, b) = (&a[rest(a)..], &b[rest(b)..]);
            order
        } else {
            let order = x.cmp(y);
            (a, b) = (&a[1..], &b[1..]);
            order
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Digits at the beginning of a text.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// These digits without zeros in front.
fn number(text: &[u8]) -> &[u8] {
    let all = &text[..digits(text)];
    &all[all.iter().take_while(|byte| **byte == b'0').count()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_the_order_of_their_size() {
        let mut names = ["op28", "op7-b", "op7-a", "op15", "op007", "a", "", "op"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["", "a", "op", "op007", "op7-a", "op7-b", "op15", "op28"]);
    }

    #[test]
    fn keys_that_follow_from_others_are_told_apart() {
        let key = |name: &str, values: [i32; 4]| Key {
            name: name.to_owned(),
            values: values.map(|value| Some(value.into())).to_vec(),
        };
        let keys = vec![
            key("trace", [1, 1, 2, 2]),
            key("blocks", [64, 64, 64, 80]),
            key("policy", [1, 2, 1, 2]),
            key("twin", [8, 8, 9, 9]),
        ];
        let (apart, rest) = told_apart(keys);
        let names = |keys: Vec<Key>| keys.into_iter().map(|key| key.name).collect::<Vec<_>>();
        // Blocks follow from no single key.
        assert_eq!(names(apart), ["trace", "blocks", "policy"]);
        assert_eq!(names(rest), ["twin"]);
    }
}
