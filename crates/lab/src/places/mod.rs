//! What a command reads and writes, and what a file is that is there already: nothing of the user's is overwritten.

mod file;
mod kind;

pub use crate::plan::claim::{Force, Set, check_folder, claim_folder};
pub use crate::plan::outputs::Places;
pub use file::claim_file;
pub use kind::Kind;
