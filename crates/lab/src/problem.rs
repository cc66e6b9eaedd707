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
