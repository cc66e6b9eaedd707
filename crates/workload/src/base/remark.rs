//! What a person should know of a run's workload, or of the run itself, as a sentence.

use std::fmt;

/// Something to know, with its weight: who finds it says whether it changes how numbers are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What is so, in a sentence.
    pub text: String,
    /// What to do about it, if there is something to say.
    pub to_do: Option<String>,
    /// Whether it changes how the numbers of a run are read; otherwise it tells how the workload was understood.
    pub matters: bool,
}

/// What makes a remark of a sentence: [`Remark::note`] or [`Remark::caution`].
pub(crate) type Kind = fn(String) -> Remark;

impl Remark {
    /// How the workload was understood, or what was done to it that leaves numbers what they are.
    pub fn note(text: impl Into<String>) -> Self {
        Remark { text: text.into(), to_do: None, matters: false }
    }

    /// What must be known to read the numbers.
    pub fn caution(text: impl Into<String>) -> Self {
        Remark { matters: true, ..Remark::note(text) }
    }

    /// The same with what to do about it.
    pub fn advising(self, to_do: impl Into<String>) -> Self {
        Remark { to_do: Some(to_do.into()), ..self }
    }

    /// The same of a part of a workload, which is named in front.
    pub(crate) fn of_part(self, part: &str) -> Self {
        Remark { text: format!("{part}: {}", self.text), ..self }
    }
}

/// The sentence, and behind it in parentheses what to do.
impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to_do {
            Some(to_do) => write!(f, "{} ({to_do})", self.text),
            None => f.write_str(&self.text),
        }
    }
}
