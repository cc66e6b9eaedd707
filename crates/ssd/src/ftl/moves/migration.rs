//! Partial migration: parts of a block leave it one after the other, or have replicas made of them, and it stays. What
//! is next the policy is asked, part by part.

use super::candidates::Candidate;
use super::walk::{PageUnits, Step, View, Walk};
use crate::ftl::read_reclaim::Want;
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
    pub fn step(&mut self, view: &View<'_>, may_read: bool, units: &mut PageUnits) -> Step {
        let step = match &mut self.next {
            Next::Walk(_) | Next::Replicate { .. } if !may_read => {
                self.passed = None;
                return Step::Wait;
            }
            Next::Walk(walk) => match walk.step(view, units) {
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
