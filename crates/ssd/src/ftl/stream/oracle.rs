//! Knows when each unit will be overwritten or trimmed, and puts together what dies at about the same time. No drive
//! can do that: it says what knowing is worth, and how much of it the others get without.
//!
//! A unit's time left is counted in deaths (`ftl/foresight.rs`), from what the host has handed over so far. In a block
//! for each range of times left, ranges twice as wide from one to the next, what shares a block dies within as many
//! deaths as it had left when it was written.

use super::{Foresight, Member, Moved, Needs, Size, StreamId, Streams, Written};
use crate::ftl::foresight::Fates;
use crate::units::Lpn;
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name in configurations.
pub const NAME: &str = "oracle";
/// What it does.
pub const SUMMARY: &str =
    "by when data will die, known from the workload: impossible in a real drive, shows the possible gain";
/// Where it comes from.
pub const SOURCE: &str = "redFTL section 5.1.2 (ORA, whose rule is not given); the ranges are assumed";
/// What it costs.
pub const MEMORY: &str = "20 bytes per logical unit, 4 bytes per future overwrite";

section! {
    /// `oracle` has no parameters.
    pub struct Params {}
}

/// Ranges of times left that are told apart.
const RANGES: u8 = 7;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// Units of one block in every lane.
    #[serde(skip)]
    row: u64,
    /// What it was told; not in snapshots.
    #[serde(skip)]
    told: Option<Box<Fates>>,
}

impl Policy {
    /// A policy that has been told nothing.
    pub fn new(_: &Params) -> Self {
        Policy { row: 1, told: None }
    }

    /// The stream of what was last written of a unit: the first for what never dies, else by the time left.
    fn stream_of(&self, lpn: Lpn) -> StreamId {
        let left = self.told.as_ref().and_then(|told| told.left(lpn));
        left.map_or(StreamId(0), |left| StreamId(1 + range(u64::from(left), self.row)))
    }
}

/// The range of a time left: `floor(log2(1 + left/row))`, and the last for all that is longer.
fn range(left: u64, row: u64) -> u8 {
    let sum = row + left;
    let guess = sum.ilog2() - row.ilog2();
    // The lower bits of both decide whether that is one too many.
    let range = guess - u32::from(sum < row << guess);
    range.min(u32::from(RANGES) - 1) as u8
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(RANGES + 1)
    }

    fn learns(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs { foresight: true, ..Needs::default() }
    }

    fn learn(&mut self, size: &Size) {
        self.row = u64::from(size.lanes) * u64::from(size.units_per_block);
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        Fates::bytes(size.logical_units)
    }

    fn foresee(&mut self, foresight: &Arc<Foresight>) {
        self.told = Some(Box::new(Fates::new(Arc::clone(foresight))));
    }

    fn foresight(&self) -> Option<&Arc<Foresight>> {
        self.told.as_ref().map(|told| &told.foresight)
    }

    fn on_accept(&mut self, units: Range<u32>, is_trim: bool) -> bool {
        let Some(told) = &mut self.told else { return false };
        units.map(Lpn).all(|lpn| told.replace(lpn, is_trim).is_some())
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        if let Some(told) = &mut self.told {
            told.write(write.lpn);
        }
        self.stream_of(write.lpn)
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        self.stream_of(moved.lpn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula, with fractions as they are.
    fn exact(left: u64, row: u64) -> u8 {
        (0..).take_while(|&k| row + left >= row << (k + 1)).count().min(6) as u8
    }

    #[test]
    fn ranges_double() {
        for row in [1, 3, 4, 7, 64, 1000, 12_345] {
            for left in (0..5_000).chain([row * 63 - 1, row * 63, row * 127, u64::from(u32::MAX)]) {
                assert_eq!(range(left, row), exact(left, row), "{left} of {row}");
            }
        }
        assert_eq!(
            [0, 3, 4, 11, 12, 28, 60, 124, 252].map(|left| range(left, 4)),
            [0, 0, 1, 1, 2, 3, 4, 5, 6]
        );
    }
}
