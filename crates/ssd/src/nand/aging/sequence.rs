//! The voltages that a page is read with first.

use crate::nand::cell::voltages::Voltages;
use serde::{Deserialize, Serialize};

/// Parts of a step of the retry table, as a power of two.
pub(crate) const PARTS_SHIFT: u32 = 2;
/// Parts of a step of the retry table that a place may lie at.
pub const PARTS: u8 = 1 << PARTS_SHIFT;
/// Most voltage sets before the retry table is gone through.
pub const MOST_SETS: usize = 3;

/// What a page is read with before the retry table is gone through: up to three sets of voltages, each by its place on
/// the line of the retry table, in quarters of the table's step ([`PARTS`]). A place that is no whole step, and a
/// lowest reference apart from the line, need chips whose tables know it ([`crate::nand::Chip::with_cells_for`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    sets: [Voltages; MOST_SETS],
    len: u16,
}

impl Sequence {
    /// One entry of the retry table, 63 at most.
    #[inline]
    pub const fn entry(entry: u8) -> Self {
        assert!(entry < 1 << (8 - PARTS_SHIFT), "an entry beyond the longest retry table");
        let none = Voltages::at(0);
        Sequence { sets: [Voltages::at(entry << PARTS_SHIFT), none, none], len: 1 }
    }

    /// These sets, one to three, in the order in which they are tried.
    pub fn new(sets: &[Voltages]) -> Self {
        assert!((1..=MOST_SETS).contains(&sets.len()), "a sequence of {} sets", sets.len());
        let mut all = [Voltages::default(); MOST_SETS];
        all[..sets.len()].copy_from_slice(sets);
        Sequence { sets: all, len: sets.len() as u16 }
    }

    /// Its sets.
    #[inline]
    pub fn sets(&self) -> &[Voltages] {
        &self.sets[..usize::from(self.len)]
    }

    /// The first of them.
    #[inline]
    pub fn first(&self) -> Voltages {
        self.sets[0]
    }
}
