//! A reason not to take a result's numbers as they stand, as results tell it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason not to take a result's numbers as they stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Its short name: `incomplete`, `failed_requests`, `overloaded`, `several_regimes`, `not_steady`.
    pub name: String,
    /// What is wrong, in a sentence.
    pub text: String,
}

impl Problem {
    pub(crate) fn new(name: &'static str, text: String) -> Self {
        Problem { name: name.to_owned(), text }
    }
}

/// All kinds of them with the letter that marks them in tables, and what it stands for; the most serious first.
pub(crate) const MARKS: [(&str, char, &str); 5] = [
    ("incomplete", 'i', "ended early"),
    ("failed_requests", 'f', "with failed requests"),
    ("overloaded", 'o', "overloaded"),
    ("several_regimes", 'r', "not stationary"),
    ("not_steady", 's', "not steady"),
];

/// Their names.
pub(crate) fn names(problems: &[Problem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.name.as_str()).collect()
}

/// The letters of problems of these names, the most serious first.
pub(crate) fn letters<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    MARKS.iter().filter(|(name, ..)| names.contains(name)).map(|(_, letter, _)| letter).collect()
}

/// A text with its letters, as tables have it.
pub(crate) fn marked(text: String, letters: &str) -> String {
    if letters.is_empty() { text } else { format!("{text} ({letters})") }
}

/// What these letters stand for: `(o) overloaded, (s) not steady`; nothing if there are none.
pub(crate) fn legend<'a>(letters: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let there: String = letters.into_iter().collect();
    let told: Vec<String> = MARKS
        .iter()
        .filter(|(_, letter, _)| there.contains(*letter))
        .map(|(_, letter, what)| format!("({letter}) {what}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}
