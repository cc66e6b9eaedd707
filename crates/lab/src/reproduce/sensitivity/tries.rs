//! What is tried instead of a value: half and twice of a number, each other name.

use ssd::config::{Kind, Limits, Table};
use toml::de::DeValue;

/// What is tried instead of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// The value, as TOML text; of several in one text, the first.
    pub value: String,
    /// By what the numbers are multiplied, if they are.
    pub factor: Option<f64>,
}

/// What numbers can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// The limits that they are held to, if there are any.
    pub limits: Option<Limits>,
    /// Those without a point stay whole.
    pub are_whole: bool,
}

impl Numbers {
    /// Any, of which those without a point are whole.
    pub const ANY: Numbers = Numbers { limits: None, are_whole: true };
}

/// By what numbers are multiplied.
const FACTORS: [f64; 2] = [0.5, 2.0];

/// A value that a key has in a table, and what else is tried.
pub(super) fn of_key(table: &dyn Table, key: &str) -> Option<(String, Vec<Try>)> {
    if let (Some(family), "policy") = (table.family(), key) {
        let policy = table.policy()?;
        let names = family.members.iter().map(|member| member.name);
        return Some((format!("{policy:?}"), others(policy, names)));
    }
    let field = table.fields().iter().find(|field| field.key == key)?;
    let value = table.show(key)?;
    let is_name = value.starts_with('"');
    let tries = match field.kind {
        Kind::Switch => others(&value, ["true", "false"]).into_iter().map(unquoted).collect(),
        Kind::Choice(names) => others(value.trim_matches('"'), names.iter().copied()),
        Kind::GrayCode(names) if is_name => others(value.trim_matches('"'), names.iter().copied()),
        Kind::GrayCode(_) | Kind::Names | Kind::Path => Vec::new(),
        Kind::Number | Kind::Numbers => scaled(&value, Numbers { limits: field.limits, are_whole: false }),
        Kind::Integer | Kind::Steps(_) => scaled(&value, Numbers { limits: field.limits, are_whole: true }),
    };
    Some((value, tries))
}

fn unquoted(one: Try) -> Try {
    Try { value: one.value.trim_matches('"').to_owned(), ..one }
}

fn others<'n>(value: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<Try> {
    let other = |name: &str| Try { value: format!("{name:?}"), factor: None };
    names.into_iter().filter(|name| *name != value).map(other).collect()
}

/// Half and twice of the numbers in a value, as far as limits let them; nothing if they stay as they are.
pub(super) fn scaled(value: &str, numbers: Numbers) -> Vec<Try> {
    let one = |factor: f64| {
        let text = times(value, factor, numbers)?;
        (text != value).then_some(Try { value: text, factor: Some(factor) })
    };
    FACTORS.into_iter().filter_map(one).collect()
}

/// A value whose numbers are multiplied, as TOML text; `None` if it is none of numbers or texts with numbers.
pub(super) fn times(value: &str, factor: f64, numbers: Numbers) -> Option<String> {
    item(parse_value(value)?.get_ref(), factor, numbers)
}

fn parse_value(text: &str) -> Option<toml::Spanned<DeValue<'_>>> {
    DeValue::parse(text).ok()
}

fn item(value: &DeValue<'_>, factor: f64, numbers: Numbers) -> Option<String> {
    match value {
        DeValue::Integer(number) => {
            let number = i128::from_str_radix(number.as_str(), number.radix()).ok()? as f64;
            let mut other = number * factor;
            if numbers.are_whole {
                // Half of one is no whole number.
                other = if other.floor() == 0.0 { number } else { other.floor() };
            }
            Some(format!("{}", within(other, number, numbers.limits)))
        }
        DeValue::Float(number) => {
            let number: f64 = number.as_str().parse().ok().filter(|number: &f64| number.is_finite())?;
            Some(format!("{:?}", within(number * factor, number, numbers.limits)))
        }
        DeValue::Array(items) => {
            let items: Option<Vec<String>> =
                items.iter().map(|one| item(one.get_ref(), factor, numbers)).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        DeValue::String(text) => {
            let word = |word: &str| times(word, factor, numbers).unwrap_or_else(|| word.to_owned());
            let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            let words: Vec<String> = text
                .split(' ')
                .map(|part| if is_number(part) { word(part) } else { part.to_owned() })
                .collect();
            Some(format!("{:?}", words.join(" ")))
        }
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

/// No farther than a limit that the number itself keeps.
fn within(other: f64, number: f64, limits: Option<Limits>) -> f64 {
    match limits {
        Some(limits) if (limits.min..=limits.max).contains(&number) => other.clamp(limits.min, limits.max),
        _ => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(value: &str, limits: Option<Limits>) -> Vec<String> {
        scaled(value, Numbers { limits, ..Numbers::ANY }).into_iter().map(|one| one.value).collect()
    }

    #[test]
    fn numbers_are_tried_at_half_and_twice() {
        assert_eq!(values("8", None), ["4", "16"]);
        assert_eq!(values("3_000", None), ["1500", "6000"]);
        assert_eq!(values("0.3", None), ["0.15", "0.6"]);
        assert_eq!(values("[1.0, -0.5]", None), ["[0.5, -0.25]", "[2.0, -1.0]"]);
        assert_eq!(
            values("[\"cycle to 7000\", \"retain 12 months\"]", None)[0],
            "[\"cycle to 3500\", \"retain 6 months\"]"
        );
        let exact = Numbers { are_whole: false, ..Numbers::ANY };
        assert_eq!(times("[5, 1]", 0.5, exact).as_deref(), Some("[2.5, 0.5]"));
        // Half of one block is none, nothing has no half, and a name none either.
        assert_eq!(values("1", None), ["2"]);
        assert!(
            values("0", None).is_empty()
                && values("[0.0]", None).is_empty()
                && values("true", None).is_empty()
        );
        assert_eq!(values("80.0", Some(Limits { min: 0.0, max: 100.0 })), ["40.0", "100.0"]);
    }

    #[test]
    fn names_are_tried_each() {
        let config = ssd::DriveConfig::default();
        let (_, trigger) = config.sections().find(|(path, _)| *path == "ftl.gc_victim").unwrap();
        let (value, tries) = of_key(trigger, "policy").unwrap();
        assert!(
            tries.len() > 3 && tries.iter().all(|one| one.value != value && one.value.starts_with('"')),
            "{tries:?}"
        );
    }
}
