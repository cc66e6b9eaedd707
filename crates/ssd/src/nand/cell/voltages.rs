//! A set of voltages to read a page with.

use serde::{Deserialize, Serialize};

/// A step of a lowest reference that lies apart, in V (assumed: as fine as offsets of reads are).
pub const LOWEST_STEP_V: f64 = 0.02;
/// What stands for the lowest reference of the first entry.
pub const LOWEST_ZERO: u8 = 16;
/// What stands for the highest: 1.6 V above that.
pub(super) const LOWEST_MOST: u8 = LOWEST_ZERO + 80;

/// A set of voltages to read a page with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voltages {
    /// Where it lies on the line of the retry table, in parts of its step.
    pub place: u8,
    /// 0: all of it does. Else the lowest reference lies apart: at that of the first entry, and so many steps of
    /// [`LOWEST_STEP_V`] above it as this is above [`LOWEST_ZERO`].
    pub lowest: u8,
}

impl Voltages {
    /// A set on the line.
    pub const fn at(place: u8) -> Self {
        Voltages { place, lowest: 0 }
    }
}
