//! What `result.json` is, for programs: a JSON Schema, made from the types and from what counters say of themselves.

use super::whole::RunResult;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema (JSON Schema, draft 2020-12) of `result.json`: every key with its type and meaning. A counter says its
/// unit as `x-unit`.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<RunResult>();
    schema.insert("title".to_owned(), "The result of a run of Wordline".into());
    schema.to_value()
}
