//! Objects whose keys are those of counters or of an axis, as a JSON Schema says it.

use crate::base::by::{Axis, By};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use ssd::Stats;
use ssd::counters::Counter;
use std::borrow::Cow;

/// An object with these keys and no others.
fn object(properties: Map<String, Value>, required: Vec<&str>) -> Schema {
    json_schema!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false
    })
}

fn of_counters(are_meant: impl Fn(&Counter) -> bool) -> Schema {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for counter in Stats::all_counters().filter(|counter| are_meant(counter)) {
        let number = json!({ "type": "integer", "minimum": 0 });
        let kind = (0..counter.dimensions).fold(number, |of, _| json!({ "type": "array", "items": of }));
        let mut said = kind.as_object().cloned().unwrap_or_default();
        said.insert("description".to_owned(), counter.doc.into());
        said.insert("x-unit".to_owned(), counter.unit.into());
        properties.insert(counter.key.to_owned(), said.into());
        required.push(counter.key);
    }
    object(properties, required)
}

/// All counters.
pub(super) fn counters(_: &mut SchemaGenerator) -> Schema {
    of_counters(|_| true)
}

/// Those whose differences mean something; a workload of one piece has none of them.
pub(super) fn counters_of_phases(_: &mut SchemaGenerator) -> Schema {
    let mut schema = of_counters(Counter::adds_up);
    schema.remove("required");
    schema
}

impl<A: Axis, T: JsonSchema> JsonSchema for By<A, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}By{}", T::schema_name(), A::ALL.len()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let of_one = generator.subschema_for::<T>().to_value();
        let properties = A::ALL.iter().map(|of| (of.name().to_owned(), of_one.clone())).collect();
        object(properties, A::ALL.iter().map(|of| of.name()).collect())
    }
}
