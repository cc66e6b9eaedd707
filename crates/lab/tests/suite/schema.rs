//! The schema of results: whatever a run says is as the schema has it, and the docs hold the schema of today.

use crate::common;

use common::{closed, generator, run, small_drive};
use lab::{RunResult, RunSpec, report};
use serde_json::{Map, Value, json};
use ssd::Executor;
use std::path::Path;

const MIX: &str = "read_percent = 60\nsize_bytes = [[4096, 3], [16384, 1]]";

/// What tells something about a value without restricting it.
const NOTES: [&str; 7] = ["$schema", "$defs", "title", "description", "x-unit", "format", "default"];

/// Holds a value against a schema, of whose vocabulary it knows what the schema of results uses, and refuses all else.
struct Checker<'a> {
    definitions: &'a Map<String, Value>,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let Some(schema) = schema.as_object() else {
            return if *schema == json!(true) { Ok(()) } else { Err(format!("{at}: {schema}")) };
        };
        let is_so =
            |wanted: bool| if wanted { Ok(()) } else { Err(format!("{at}: {value} is not {schema:?}")) };
        for (word, rule) in schema {
            match word.as_str() {
                _ if NOTES.contains(&word.as_str()) => {}
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.check(&self.definitions[name], value, at)?;
                }
                "anyOf" => {
                    let all = rule.as_array().unwrap();
                    is_so(all.iter().any(|schema| self.check(schema, value, at).is_ok()))?;
                }
                "type" => {
                    let is = |name: &Value| is_of(value, name.as_str().unwrap());
                    is_so(rule.as_array().map_or_else(|| is(rule), |all| all.iter().any(is)))?;
                }
                "minimum" => is_so(value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()))?,
                "maximum" => is_so(value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()))?,
                "items" => {
                    for item in value.as_array().into_iter().flatten() {
                        self.check(rule, item, &format!("{at}[]"))?;
                    }
                }
                "prefixItems" => {
                    let items = value.as_array().into_iter().flatten();
                    for (item, rule) in items.zip(rule.as_array().unwrap()) {
                        self.check(rule, item, &format!("{at}[]"))?;
                    }
                }
                "minItems" => {
                    is_so(value.as_array().is_none_or(|all| all.len() as u64 >= rule.as_u64().unwrap()))?
                }
                "maxItems" => {
                    is_so(value.as_array().is_none_or(|all| all.len() as u64 <= rule.as_u64().unwrap()))?
                }
                "properties" => {
                    let rules = rule.as_object().unwrap();
                    for (key, value) in value.as_object().into_iter().flatten() {
                        match rules.get(key) {
                            Some(rule) => self.check(rule, value, &format!("{at}.{key}"))?,
                            // Stricter than the standard: no key that the schema does not know.
                            None => return Err(format!("{at}.{key} is not in the schema")),
                        }
                    }
                }
                "required" => {
                    let has = |key: &Value| value.get(key.as_str().unwrap()).is_some();
                    is_so(!value.is_object() || rule.as_array().unwrap().iter().all(has))?;
                }
                "additionalProperties" => {
                    if !schema.contains_key("properties") {
                        for (key, value) in value.as_object().into_iter().flatten() {
                            self.check(rule, value, &format!("{at}.{key}"))?;
                        }
                    }
                }
                other => return Err(format!("{at}: the word {other} is not known here")),
            }
        }
        Ok(())
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("a type called {other}"),
    }
}

fn is_as_said(schema: &Value, result: &Value) -> Result<(), String> {
    let definitions = schema["$defs"].as_object().unwrap();
    Checker { definitions }.check(schema, result, "result")
}

fn as_json(result: &RunResult) -> Value {
    serde_json::from_str(&result.to_json()).unwrap()
}

#[test]
fn what_runs_say_is_as_the_schema_has_it() {
    let schema: Value = serde_json::from_str(&report::schema()).unwrap();
    let mut aged = small_drive();
    aged.errors.model = ssd::sections::ErrorModel::Cells;
    let explained = RunSpec { explain_tail: 99.0, ..closed(8) };
    let timeless = RunSpec { executor: Executor::Functional, ..RunSpec::default() };
    for (config, spec) in [
        (&small_drive(), &closed(8)),
        (&small_drive(), &explained),
        (&small_drive(), &timeless),
        (&aged, &closed(8)),
    ] {
        let result = as_json(&run(config, &generator(3_000, MIX), spec));
        is_as_said(&schema, &result).unwrap_or_else(|error| panic!("{error}"));
    }
    // It does not hold for everything.
    let good = as_json(&run(&small_drive(), &generator(100, MIX), &closed(8)));
    for (place, wrong) in [
        ("/format", json!("1")),
        ("/latency_ns/read/p50", json!(-1)),
        ("/flash/reads", json!({ "host": 1 })),
        ("/counters/ftl.host_units", json!([1])),
        ("/counters", json!({})),
        ("/buffer", json!({ "hits": 1, "unheard_of": 2 })),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = wrong;
        assert!(is_as_said(&schema, &bad).is_err(), "{place}");
    }
}

/// Every key says what it is.
#[test]
fn the_schema_leaves_nothing_unexplained() {
    let schema: Value = serde_json::from_str(&report::schema()).unwrap();
    let objects = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    for object in objects {
        for (key, said) in object["properties"].as_object().into_iter().flatten() {
            assert!(said["description"].is_string(), "{key}: {said}");
        }
    }
    let counters = schema["properties"]["counters"]["properties"].as_object().unwrap();
    assert_eq!(counters.len(), ssd::Stats::all_counters().count());
    assert!(!report::schema().contains("[`"), "links of the documentation of Rust");
    assert!(counters.values().all(|said| said["x-unit"].is_string() && said["description"].is_string()));
}

/// `WORDLINE_DOCS=write` writes it anew.
#[test]
fn the_docs_hold_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/result.schema.json");
    if std::env::var_os("WORDLINE_DOCS").is_some_and(|value| value == "write") {
        std::fs::write(&path, report::schema()).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let is_current = there == report::schema();
    assert!(is_current, "{} is stale: WORDLINE_DOCS=write writes it anew", path.display());
}
