//! `docs/results.md` explains every key of a result: its tables are made from the documentation of the types, by way of
//! the schema, and of the counters.

use lab::report;
use serde_json::{Map, Value};
use ssd::counters::Counter;
use ssd::flash::op::Cause;
use ssd::signals::Priority;
use ssd::{Part, Stats};
use std::collections::BTreeSet;
use std::path::Path;

const BEGINS: &str = "<!-- generated: ";
const ENDS: &str = "<!-- end of generated -->\n";
const KINDS: [&str; 8] = ["all", "read", "write", "trim", "flush", "mv", "uv", "KIND"];
/// Types of a few values each, which get one row together.
const SMALL: [&str; 9] = [
    "Distribution",
    "Rates",
    "Busy",
    "MeanMax",
    "Exposures",
    "ShareLatencies",
    "Share",
    "SuspendsOf",
    "Together",
];

/// The members of an object with their keys, in the order of the type's fields, which is that of the required ones.
fn members(object: &Value) -> Option<Vec<(&str, &Value)>> {
    let required = object["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let place = |key: &str| required.iter().position(|one| one == key).unwrap_or(usize::MAX);
    let mut members: Vec<_> =
        object["properties"].as_object()?.iter().map(|(key, one)| (key.as_str(), one)).collect();
    members.sort_by_key(|(key, _)| place(key));
    Some(members)
}

/// A row: keys that are explained together, and what they mean.
struct Row {
    keys: Vec<String>,
    text: String,
}

impl Row {
    fn line(&self, stem: &str) -> String {
        let shown = |(place, key): (usize, &String)| match key.strip_prefix(stem) {
            Some(rest) if place > 0 && !stem.is_empty() => format!("`{rest}`"),
            _ => format!("`{key}`"),
        };
        let keys: Vec<String> = self.keys.iter().enumerate().map(shown).collect();
        format!("| {} | {} |\n", keys.join(", "), self.text)
    }

    fn markdown(&self) -> String {
        let stem = match self.keys.as_slice() {
            [first, _, ..] => first.rsplit_once('.').map_or("", |(stem, _)| stem),
            _ => "",
        };
        let stem = if self.keys.iter().all(|key| key.starts_with(&format!("{stem}."))) { stem } else { "" };
        self.line(stem)
    }
}

/// What a value is, once references, null and lists are looked through.
struct Target<'a> {
    path: String,
    name: Option<&'a str>,
    schema: &'a Value,
}

struct Page<'a> {
    definitions: &'a Map<String, Value>,
    axes: [(&'static str, BTreeSet<&'static str>); 3],
}

impl<'a> Page<'a> {
    fn of(schema: &'a Value) -> Self {
        let causes = Cause::ALL.map(Cause::name).into_iter().collect();
        let parts = Part::ALL.map(Part::name).into_iter().collect();
        let priorities = Priority::ALL.map(Priority::name).into_iter().collect();
        let axes = [("CAUSE", causes), ("PART", parts), ("PRIORITY", priorities)];
        Page { definitions: schema["$defs"].as_object().unwrap(), axes }
    }

    fn target(&self, mut path: String, mut schema: &'a Value) -> Target<'a> {
        let mut name = None;
        loop {
            if let Some(reference) = schema["$ref"].as_str() {
                name = reference.strip_prefix("#/$defs/");
                schema = &self.definitions[name.unwrap()];
            } else if let Some(all) = schema["anyOf"].as_array() {
                schema = all.iter().find(|one| one["type"] != "null").unwrap();
            } else if schema["items"]["$ref"].is_string() {
                path += "[]";
                schema = &schema["items"];
            } else if let Some((axis, of_one)) = self.by_axis(schema) {
                path = format!("{path}.{axis}");
                schema = of_one;
            } else {
                return Target { path, name, schema };
            }
        }
    }

    fn by_axis(&self, schema: &'a Value) -> Option<(&'static str, &'a Value)> {
        let members = schema["properties"].as_object()?;
        let names: BTreeSet<&str> = members.keys().map(String::as_str).collect();
        let (axis, _) = self.axes.iter().find(|(_, all)| *all == names)?;
        Some((*axis, members.values().next()?))
    }

    /// The rows of the members of an object; of members that are alike, and large, those of one.
    fn rows(&self, path: &str, object: &'a Value, found: &mut Vec<Row>) {
        let members = members(object).unwrap();
        let mut seen = BTreeSet::new();
        for (key, schema) in &members {
            let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            let direct = self.target(at(key), schema);
            let is_large = |target: &Target<'_>| {
                let is_small = target.name.is_some_and(|name| SMALL.contains(&name));
                target.name.is_some() && !is_small
            };
            let alike = members.iter().filter(|(_, one)| self.target(String::new(), one).name == direct.name);
            let target = if is_large(&direct) && alike.count() > 1 {
                if !seen.insert(direct.name) {
                    continue;
                }
                self.target(at("KIND"), schema)
            } else {
                direct
            };
            self.of_target(&target, schema["description"].as_str().unwrap_or_default(), found);
        }
    }

    fn of_target(&self, target: &Target<'a>, text: &str, found: &mut Vec<Row>) {
        let text = text.replace('\n', " ");
        let is_small = target.name.is_some_and(|name| SMALL.contains(&name));
        let members = members(target.schema);
        let is_counter = |(_, one): &(&str, &Value)| one["x-unit"].is_string();
        let are_counters = members.as_ref().is_some_and(|all| all.iter().all(is_counter));
        match members {
            Some(all) if is_small => {
                let key = |(key, schema)| self.target(format!("{}.{key}", target.path), schema).path;
                found.push(Row { keys: all.into_iter().map(key).collect(), text });
            }
            Some(_) if !are_counters => self.rows(&target.path, target.schema, found),
            _ => found.push(Row { keys: vec![target.path.clone()], text }),
        }
    }
}

/// The rows of counters.
fn counters() -> String {
    let row = |counter: &Counter| {
        let told_in = counter.told_in.map_or(String::new(), |key| format!("`{key}`"));
        format!("| `counters.{}` | {} | {} | {told_in} |\n", counter.key, counter.unit, counter.doc)
    };
    let rows: String = Stats::all_counters().map(row).collect();
    format!("| key | unit | meaning | also in |\n|---|---|---|---|\n{rows}")
}

/// The table of these keys at the top of a result, or of a type by its name.
fn table(page: &Page<'_>, schema: &Value, keys: &[&str]) -> String {
    let mut found = Vec::new();
    for key in keys {
        if let Some(object) = page.definitions.get(*key) {
            page.rows("", object, &mut found);
            continue;
        }
        let of_key = &schema["properties"][*key];
        assert!(of_key.is_object(), "docs/results.md: {key} is no key of a result");
        let target = page.target((*key).to_owned(), of_key);
        page.of_target(&target, of_key["description"].as_str().unwrap(), &mut found);
    }
    let rows: String = found.iter().map(Row::markdown).collect();
    format!("| key | meaning |\n|---|---|\n{rows}")
}

/// `WORDLINE_DOCS=write` writes the tables anew.
#[test]
fn the_page_of_results_has_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let docs = std::fs::read_to_string(&path).unwrap();
    let schema: Value = serde_json::from_str(&report::schema()).unwrap();
    let page = Page::of(&schema);
    let mut told = BTreeSet::new();
    let mut made = String::new();
    let mut parts = docs.split(BEGINS);
    made += parts.next().unwrap();
    for part in parts {
        let (keys, rest) = part.split_once(" -->\n").unwrap();
        let (_, rest) = rest.split_once(ENDS).unwrap();
        let names: Vec<&str> = keys.split(' ').collect();
        for name in &names {
            assert!(told.insert((*name).to_owned()), "{name} stands in two tables");
        }
        let rows = if keys == "counters" { counters() } else { table(&page, &schema, &names) };
        made += &format!("{BEGINS}{keys} -->\n\n{rows}\n{ENDS}{rest}");
    }
    let all: BTreeSet<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    let missing: Vec<_> = all.difference(&told).collect();
    assert!(missing.is_empty(), "in no table of docs/results.md: {missing:?}");
    if std::env::var_os("WORDLINE_DOCS").is_some_and(|value| value == "write") {
        std::fs::write(&path, made).unwrap();
        return;
    }
    assert!(docs == made, "docs/results.md is stale: WORDLINE_DOCS=write writes the tables anew");
}

/// Keys of real results have a row, or stand below one, or above those that are there when there is more to tell.
#[test]
fn every_key_of_a_run_has_a_row() {
    let schema: Value = serde_json::from_str(&report::schema()).unwrap();
    let page = Page::of(&schema);
    let mut found = Vec::new();
    page.rows("", &schema, &mut found);
    let rows: Vec<String> = found.into_iter().flat_map(|row| row.keys).collect();
    let is_at = |segment: &str, row: &str| {
        let axis = page.axes.iter().find(|(axis, _)| *axis == row);
        let is_of_axis = axis.is_some_and(|(_, names)| names.contains(segment));
        row.trim_end_matches("[]") == segment || is_of_axis || row == "KIND" && KINDS.contains(&segment)
    };
    for key in include_str!("golden/result_keys.txt").lines() {
        let fits =
            |row: &String| key.split('.').zip(row.split('.')).all(|(segment, row)| is_at(segment, row));
        assert!(rows.iter().any(fits), "{key} has no row in docs/results.md");
    }
}
