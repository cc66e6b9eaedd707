//! The voltages that a page is read with first.

use serde::{Deserialize, Serialize};

/// Parts of a step of the retry table, as a power of two.
pub(crate) const PARTS_SHIFT: u32 = 2;
/// Parts of a step of the retry table that a place may lie at.
pub const PARTS: u8 = 1 << PARTS_SHIFT;
/// Most voltage sets before the retry table is gone through.
pub const MOST_SETS: usize = 3;

/// What a page is read with before the retry table is gone through: up to three sets of voltages, each by its place on
/// the line of the retry table, in quarters of the table's step ([`PARTS`]). A place that is no whole step needs chips
/// whose tables know it ([`crate::nand::Chip::with_cells_for`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    places: [u8; MOST_SETS],
    len: u8,
}

impl Sequence {
    /// One entry of the retry table, 63 at most.
    #[inline]
    pub const fn entry(entry: u8) -> Self {
        assert!(entry < 1 << (8 - PARTS_SHIFT), "an entry beyond the longest retry table");
        Sequence { places: [entry << PARTS_SHIFT, 0, 0], len: 1 }
    }

    /// The sets at these places, one to three, in the order in which they are tried.
    pub fn new(places: &[u8]) -> Self {
        assert!((1..=MOST_SETS).contains(&places.len()), "a sequence of {} sets", places.len());
        let mut all = [0; MOST_SETS];
        all[..places.len()].copy_from_slice(places);
        Sequence { places: all, len: places.len() as u8 }
    }

    /// Where its sets lie, in quarters of a step.
    #[inline]
    pub fn places(&self) -> &[u8] {
        &self.places[..usize::from(self.len)]
    }

    /// The place of its first set.
    #[inline]
    pub fn first(&self) -> u8 {
        self.places[0]
    }
}
