//! The values of columns.

use lab::columns::Values;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The values of a column.
#[derive(Debug)]
pub enum Data {
    /// Counts, and times in ns.
    Counts(Vec<u64>),
    /// Measured numbers, and counts of which some are not there: NaN.
    Numbers(Vec<f64>),
    /// A few names, by their place in a list.
    Names {
        /// One for each row.
        codes: Vec<u8>,
        /// What they stand for.
        names: Vec<Cow<'static, str>>,
    },
    /// Texts.
    Words(Vec<String>),
}

impl Data {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self {
            Data::Counts(values) => values.len(),
            Data::Numbers(values) => values.len(),
            Data::Names { codes, .. } => codes.len(),
            Data::Words(words) => words.len(),
        }
    }

    /// Those of a column of the laboratory's.
    pub fn of(values: Values) -> Self {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        match values {
            Values::Counts(values) => Data::Counts(values),
            Values::Numbers(values) => Data::Numbers(values),
            Values::NumbersOrNone(values) => Data::Numbers(values.into_iter().map(number).collect()),
            Values::CountsOrNone(values) => Data::Numbers(
                values.into_iter().map(|value| number(value.map(|count| count as f64))).collect(),
            ),
            Values::Words(words) => Data::Words(words),
            Values::Names(names) => Data::of_names(names),
        }
    }

    /// Names as codes, unless there are too many for that.
    pub fn of_names(all: Vec<&'static str>) -> Self {
        let mut known: BTreeMap<&'static str, u8> = BTreeMap::new();
        let mut names = Vec::new();
        let mut codes = Vec::with_capacity(all.len());
        for name in &all {
            let code = match known.get(name) {
                Some(code) => *code,
                None if names.len() > usize::from(u8::MAX) => {
                    return Data::Words(all.into_iter().map(str::to_owned).collect());
                }
                None => {
                    let code = names.len() as u8;
                    known.insert(name, code);
                    names.push(Cow::Borrowed(*name));
                    code
                }
            };
            codes.push(code);
        }
        Data::Names { codes, names }
    }

    /// A value as text; nothing where there is none.
    pub fn text(&self, row: usize) -> String {
        match self {
            Data::Counts(values) => values[row].to_string(),
            Data::Numbers(values) if values[row].is_nan() => String::new(),
            Data::Numbers(values) => values[row].to_string(),
            Data::Names { codes, names } => names[usize::from(codes[row])].to_string(),
            Data::Words(words) => words[row].clone(),
        }
    }
}
