//! Knows when each unit will be overwritten or trimmed, and puts together what dies at about the same time. No drive
//! can do that: it says what knowing is worth, and how much of it the others get without.
//!
//! A unit's time left is counted in deaths (`ftl/foresight.rs`), from what the host has handed over so far. In a block
//! for each range of times left, ranges twice as wide from one to the next, what shares a block dies within as many
//! deaths as it had left when it was written.

use super::{Foresight, Member, Moved, Needs, Size, StreamId, Streams, Written};
use crate::ftl::foresight::{Holding, NEVER};
use crate::units::Lpn;
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name in configurations.
pub const NAME: &str = "oracle";
/// What it does.
pub const SUMMARY: &str =
    "by when data will die, for which the workload is read ahead: no drive can; says what knowing is worth";
/// Where it comes from.
pub const SOURCE: &str = "redFTL section 5.1.2 (ORA, whose rule is not told); the ranges are assumed";
/// What it costs.
pub const MEMORY: &str = "20 bytes a logical unit, 4 bytes an overwrite to come";

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
    told: Option<Box<Told>>,
}

#[derive(Clone, Debug)]
struct Told {
    foresight: Arc<Foresight>,
    /// Deaths so far.
    clock: u32,
    holding: Holding,
    /// By unit.
    fates: Vec<Fate>,
}

/// What is known of a unit.
#[derive(Clone, Copy, Debug)]
struct Fate {
    /// The place of its next death among all deaths, for what the host has handed over, and when that is.
    next: u32,
    due: u32,
    /// When what was last written of it dies. The host may have handed over what replaces it.
    dies: u32,
}

impl Told {
    fn new(foresight: Arc<Foresight>) -> Self {
        let fate = |lpn| {
            let next = foresight.deaths.start(lpn);
            let due = foresight.deaths.time_at(next);
            Fate { next, due, dies: due }
        };
        let fates = (0..foresight.units()).map(|unit| fate(Lpn(unit))).collect();
        Told { holding: Holding::new(foresight.units()), clock: 0, fates, foresight }
    }

    /// A unit is written or trimmed: false if that was not foreseen.
    fn replace(&mut self, lpn: Lpn, is_trim: bool) -> bool {
        if !self.holding.replace(lpn, is_trim) {
            return true;
        }
        let fate = &mut self.fates[lpn.index()];
        let foreseen = fate.due == self.clock;
        if foreseen {
            fate.next += 1;
            fate.due = self.foresight.deaths.time_at(fate.next);
            self.clock += 1;
        }
        foreseen
    }

    /// What the host has written last of a unit goes to flash.
    fn write(&mut self, lpn: Lpn) {
        let fate = &mut self.fates[lpn.index()];
        fate.dies = fate.due;
    }
}

impl Policy {
    /// A policy that has been told nothing.
    pub fn new(_: &Params) -> Self {
        Policy { row: 1, told: None }
    }

    /// The stream of what was last written of a unit: the first for what never dies, else by the time left.
    fn stream_of(&self, lpn: Lpn) -> StreamId {
        let Some(told) = &self.told else { return StreamId(0) };
        match told.fates[lpn.index()].dies {
            NEVER => StreamId(0),
            dies => StreamId(1 + range(u64::from(dies.saturating_sub(told.clock)), self.row)),
        }
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

    fn needs(&self) -> Needs {
        Needs { foresight: true, ..Needs::default() }
    }

    fn learn(&mut self, size: &Size) {
        self.row = u64::from(size.lanes) * u64::from(size.units_per_block);
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        size.logical_units * size_of::<Fate>() as u64 + size.logical_units / 8
    }

    fn foresee(&mut self, foresight: &Arc<Foresight>) {
        self.told = Some(Box::new(Told::new(Arc::clone(foresight))));
    }

    fn foresight(&self) -> Option<&Arc<Foresight>> {
        self.told.as_ref().map(|told| &told.foresight)
    }

    fn on_accept(&mut self, units: Range<u32>, is_trim: bool) -> bool {
        let Some(told) = &mut self.told else { return false };
        units.map(Lpn).all(|lpn| told.replace(lpn, is_trim))
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
