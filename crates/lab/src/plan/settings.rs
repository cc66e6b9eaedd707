//! A configuration as flat keys with their values: what results carry of it, so that runs can be tabulated.

use serde_json::Value;
use ssd::DriveConfig;
use std::collections::BTreeMap;
use toml::de::DeValue;

/// Values by their dotted keys, such as `nand.geometry.channels`.
pub type Settings = BTreeMap<String, Value>;

/// All keys of a drive, with the policies chosen.
pub(crate) fn of_drive(config: &DriveConfig) -> Settings {
    let mut settings = Settings::new();
    for (path, section) in config.sections() {
        if let Some(policy) = section.policy() {
            settings.insert(format!("{path}.policy"), policy.into());
        }
        for field in section.fields() {
            let shown = section.show(field.key).unwrap_or_default();
            settings.insert(format!("{path}.{}", field.key), value(&shown));
        }
    }
    settings
}

/// A value written as TOML.
pub(crate) fn value(text: &str) -> Value {
    DeValue::parse(text).map_or_else(|_| text.into(), |value| json(value.get_ref(), text))
}

/// A table as JSON.
#[cfg(test)]
pub(crate) fn of_table(table: &toml::de::DeTable<'_>) -> Value {
    table.iter().map(|(key, item)| (key.get_ref().to_string(), of_item(item.get_ref()))).collect()
}

#[cfg(test)]
fn of_item(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::Table(table) => of_table(table),
        DeValue::Array(items) => items.iter().map(|item| of_item(item.get_ref())).collect(),
        other => json(other, ""),
    }
}

fn json(value: &DeValue<'_>, text: &str) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(is_so) => (*is_so).into(),
        DeValue::Integer(number) => {
            let signed = i64::from_str_radix(number.as_str(), number.radix()).map(Value::from);
            let any =
                signed.or_else(|_| u64::from_str_radix(number.as_str(), number.radix()).map(Value::from));
            any.unwrap_or_else(|_| number.as_str().into())
        }
        // JSON has no infinity: that stays text.
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => number.as_str().into(),
        },
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref(), text)).collect(),
        DeValue::Datetime(_) | DeValue::Table(_) => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_keep_their_types() {
        for (text, expected) in [
            ("8", json!(8)),
            ("18446744073709551615", json!(u64::MAX)),
            ("0.5", json!(0.5)),
            ("inf", json!("inf")),
            ("true", json!(true)),
            ("\"a \\\"b\\\"\"", json!("a \"b\"")),
            ("[1, 2.5]", json!([1, 2.5])),
            ("[[4096, 3], [16384, 1]]", json!([[4096, 3], [16384, 1]])),
            ("no value", json!("no value")),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn every_key_of_a_drive_is_there() {
        let config = DriveConfig::default();
        let settings = of_drive(&config);
        assert_eq!(settings["nand.geometry.channels"], json!(config.geometry.channels));
        assert_eq!(settings["ftl.gc_victim.policy"], json!(config.gc_victim.name()));
        let lines = config.to_toml().lines().filter(|line| line.contains(" = ")).count();
        assert_eq!(settings.len(), lines);
    }
}
