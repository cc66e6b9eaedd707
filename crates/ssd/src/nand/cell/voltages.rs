//! A set of voltages to read a page with.

use serde::{Deserialize, Serialize};

/// A step of a lowest reference that lies apart, in V (assumed: as fine as offsets of reads are).
pub const LOWEST_STEP_V: f64 = 0.02;
/// What stands for the lowest reference of the first entry.
pub const LOWEST_ZERO: u8 = 16;
/// What stands for the highest: 1.6 V above that.
pub(super) const LOWEST_MOST: u8 = LOWEST_ZERO + 80;

/// A set of voltages to read a page with, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voltages(u16);

impl Voltages {
    /// A set on the line of the retry table, in parts of its step.
    pub const fn at(place: u8) -> Self {
        Voltages(place as u16)
    }

    /// A set there but for the lowest reference, which lies at that of the first entry, and so many steps of
    /// [`LOWEST_STEP_V`] above it as `lowest`, at least 1, is above [`LOWEST_ZERO`].
    pub const fn apart(place: u8, lowest: u8) -> Self {
        Voltages(place as u16 | (lowest as u16) << 8)
    }

    /// Where it lies on the line of the retry table.
    #[inline]
    pub const fn place(self) -> u8 {
        self.0 as u8
    }

    /// Where the lowest reference lies; 0: on the line.
    #[inline]
    pub const fn lowest(self) -> u8 {
        (self.0 >> 8) as u8
    }
}
