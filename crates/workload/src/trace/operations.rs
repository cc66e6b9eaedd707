//! Which operations of a trace are asked for.

use crate::base::request::{OPERATIONS, operation_named};
use crate::base::settings::{Value, quoted};
use ssd::signals::OpCode;
use toml::de::DeValue;

/// Which operations of a trace are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations([bool; OPERATIONS.len()]);

impl Default for Operations {
    fn default() -> Self {
        Operations([true; OPERATIONS.len()])
    }
}

impl Operations {
    #[inline]
    pub(super) fn has(self, op: OpCode) -> bool {
        self.0[op as usize]
    }
}

impl Value for Operations {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        let text = value.as_str()?;
        if text == "all" {
            return Some(Self::default());
        }
        let mut taken = [false; OPERATIONS.len()];
        for word in text.split(',') {
            taken[operation_named(word.trim())? as usize] = true;
        }
        Some(Operations(taken))
    }
    fn show(&self) -> String {
        if *self == Self::default() {
            return quoted("all");
        }
        let words = OPERATIONS.into_iter().filter(|op| self.has(*op)).map(OpCode::name);
        quoted(&words.collect::<Vec<_>>().join(","))
    }
    fn allowed() -> String {
        "all, or some of read, write, trim, flush with commas between them".to_string()
    }
    fn names() -> &'static [&'static str] {
        &["all", "read", "write", "trim", "flush"]
    }
}
