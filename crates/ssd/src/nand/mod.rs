//! The chips: what a block is, what may be done to it, and what it does in return.
//!
//! Knows no address above a block: the firmware names a die, a plane, a block in it and a page in that.

pub mod address;
pub mod aging;
pub mod cell;
pub mod chip;
pub mod gray;
mod locks;
pub mod order;
pub mod torn;

pub use address::PageAddress;
pub use chip::{Chip, Outcome};
pub use locks::{Raw, Sanitizing};
