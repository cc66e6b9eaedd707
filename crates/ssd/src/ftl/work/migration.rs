//! Partial migration: parts of a block leave it one after the other, or have replicas made of them, and it stays. What
//! is next the policy is asked, part by part.

use super::candidates::Candidate;
use super::walk::{PageUnits, Step, Walk};
use crate::ftl::read_reclaim::Want;
use crate::ftl::tables::Tables;
use serde::{Deserialize, Serialize};

/// What comes next.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Next {
    /// What the policy says.
    Ask,
    /// Pages are read.
    Walk(Walk),
    /// A replica is made.
    Replicate { place: u32, to: u32 },
    /// Nothing.
    Over,
}

/// Parts of a block that are moving.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Migration {
    pub candidate: Candidate,
    /// What has left it last.
    pub left: Option<Want>,
    next: Next,
    /// Blocks of the lane's list that were passed over in the look at it that goes on with this; none if it has ended.
    pub passed: Option<usize>,
}

impl Migration {
    /// Begins in the middle of a look at the lane's list; nothing is to be done yet.
    pub fn of(candidate: Candidate, passed: usize) -> Self {
        Migration { candidate, left: None, next: Next::Ask, passed: Some(passed) }
    }

    /// What it is reading, if anything.
    #[inline]
    pub fn walk(&self) -> Option<&Walk> {
        match &self.next {
            Next::Walk(walk) => Some(walk),
            _ => None,
        }
    }

    /// The replica it is to make next, if any: of which page, in which block.
    pub fn replica(&self) -> Option<(u32, u32)> {
        match self.next {
            Next::Replicate { place, to } => Some((place, to)),
            _ => None,
        }
    }

    /// Pages leave it next.
    pub fn go_on(&mut self, want: Want, walk: Walk) {
        (self.left, self.next, self.passed) = (Some(want), Next::Walk(walk), None);
    }

    /// A page gets a replica next.
    pub fn make(&mut self, want: Want, place: u32, to: u32) {
        (self.left, self.next) = (Some(want), Next::Replicate { place, to });
    }

    /// Something was done at once: what comes after it is asked.
    pub fn has_done(&mut self, want: Want) {
        self.left = Some(want);
    }

    /// Nothing comes next.
    pub fn end(&mut self) {
        self.next = Next::Over;
    }

    /// What is to be done next; `may_read` if the lane may have more pages on their way.
    #[inline(never)]
    pub fn step(&mut self, tables: &Tables, may_read: bool, units: &mut PageUnits) -> Step {
        let step = match &mut self.next {
            Next::Walk(_) | Next::Replicate { .. } if !may_read => {
                self.passed = None;
                return Step::Wait;
            }
            Next::Walk(walk) => match walk.step(tables, units) {
                Step::Done => Step::Ask,
                read => return read,
            },
            &mut Next::Replicate { place, to } => Step::Replicate { place, to },
            Next::Ask => Step::Ask,
            Next::Over => Step::Done,
        };
        if step != Step::Done {
            self.next = Next::Ask;
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Drive;
    use crate::drive_config::DriveConfig;
    use crate::flash::op::{UNITS_AT_MOST, UnitRef};
    use crate::ftl::work::walk::Pages;
    use crate::units::{BlockId, NONE};

    /// A look at a lane's list goes on behind a migration with those that it has passed over, but not after a wait, in
    /// which anything may have come that they waited for.
    #[test]
    fn a_wait_ends_the_look_at_the_list() {
        let mut drive = Drive::new(&DriveConfig::default()).unwrap();
        drive.fill(0, 64).unwrap();
        let tables = &drive.state.ftl.moves.media.tables;
        let candidate = Candidate { block: BlockId(0), member: 0 };
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let pages = Pages { member: 0, types: u8::MAX, wordline: NONE };
        let walk = || Walk::of(tables, candidate.block, pages, (0, 4));
        for waits in [false, true] {
            let mut parts = [Migration::of(candidate, 3); 2];
            parts[0].make(Want::replica(5, 1), 5, 1);
            let step = parts[0].step(tables, !waits, &mut units);
            let replicate = Step::Replicate { place: 5, to: 1 };
            assert_eq!(
                (step, parts[0].passed),
                if waits { (Step::Wait, None) } else { (replicate, Some(3)) }
            );
            // After what it waited for it makes the replica.
            let step = parts[0].step(tables, true, &mut units);
            assert_eq!(step, if waits { replicate } else { Step::Ask });
            // Reading a part takes longer than a look, in any case.
            parts[1].go_on(Want::BLOCK, walk());
            let step = parts[1].step(tables, !waits, &mut units);
            assert_eq!((step == Step::Wait, parts[1].passed), (waits, None));
            // Where nothing is to be read or programmed, nothing is waited for.
            let mut asks = Migration::of(candidate, 3);
            assert_eq!((asks.step(tables, !waits, &mut units), asks.passed), (Step::Ask, Some(3)));
        }
    }
}
