//! How far the verdicts of a paper hang on what it does not say: each key of its drives and loads that is tagged as
//! assumed or fitted is tried at half and twice, each name in turn, and the claims are judged again.

mod keys;
mod loads;
mod markers;
mod runs;
mod tags;
mod told;
mod trials;
mod tries;
mod trimmed;
mod varied;

pub use runs::{Base, SEEDS, Sensitivity, SoFar};
pub use tags::{Tag, Tagged};
pub use told::{BEGINS, Claimed, FILE, Hang, Key, Other, Report};
pub use trials::{Outcome, Trial, Tried, in_full};
pub use tries::Try;
