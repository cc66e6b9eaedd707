//! Candidates: blocks that must be looked at because of reads, by lane.

use crate::ftl::read_reclaim::Urgency;
use crate::ftl::tables::layout::Layout;
use crate::restore::{Verdict, alike, ensure, keep_line};
use crate::units::BlockId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A physical block to be looked at: member of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ftl) struct Candidate {
    pub block: BlockId,
    pub member: u32,
}

impl Candidate {
    /// Where it stands among the physical blocks of its lane.
    pub fn place(&self, layout: &Layout) -> usize {
        let first = layout.first_block(layout.lane_of(self.block)).0;
        ((self.block.0 - first) * layout.span + self.member) as usize
    }
}

/// On which of its lane's lists a physical block is: bits.
pub(in crate::ftl) const WHEN_IDLE: u8 = 1;
pub(in crate::ftl) const NOW: u8 = 2;

/// A lane's list of blocks to be looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::ftl) struct Candidates {
    pub now: VecDeque<Candidate>,
    when_idle: VecDeque<Candidate>,
    /// By member of a block of the lane.
    pub(in crate::ftl) listed: Vec<u8>,
    /// Something must move and finds no room: the lane is cleaned for it.
    pub lacks_room: bool,
}

impl Candidates {
    /// An empty list for a lane.
    pub fn new(layout: &Layout, used: bool) -> Self {
        let members = if used { (layout.blocks_per_lane * layout.span) as usize } else { 0 };
        Candidates {
            now: VecDeque::with_capacity(members),
            when_idle: VecDeque::with_capacity(members),
            listed: vec![0; members],
            ..Candidates::default()
        }
    }

    /// Whether anything is to be done.
    #[inline]
    pub fn some(&self) -> bool {
        !self.now.is_empty() || !self.when_idle.is_empty()
    }

    /// Puts a block on a list, once; `at` is its member among the lane's.
    pub(in crate::ftl) fn add(&mut self, candidate: Candidate, at: usize, urgency: Urgency) {
        let (bit, list) = match urgency {
            Urgency::No => return,
            Urgency::WhenIdle => (WHEN_IDLE, &mut self.when_idle),
            Urgency::Now => (NOW, &mut self.now),
        };
        if self.listed[at] < bit {
            self.listed[at] |= bit;
            list.push_back(candidate);
        }
    }

    /// Puts a block in front of all others.
    pub(in crate::ftl) fn put_first(&mut self, candidate: Candidate, at: usize) {
        if self.listed[at] & NOW != 0 {
            self.now.retain(|other| *other != candidate);
        }
        self.listed[at] |= NOW;
        self.now.push_front(candidate);
    }

    /// The list whose turn it is, and its bit.
    pub(in crate::ftl) fn list(&mut self, idle: bool) -> Option<(&mut VecDeque<Candidate>, u8)> {
        if !self.now.is_empty() {
            return Some((&mut self.now, NOW));
        }
        (idle && !self.when_idle.is_empty()).then_some((&mut self.when_idle, WHEN_IDLE))
    }

    /// Takes a block off the list.
    pub(in crate::ftl) fn remove(&mut self, candidate: Candidate, at: usize) {
        let lists = std::mem::take(&mut self.listed[at]);
        for (list, bit) in [(&mut self.now, NOW), (&mut self.when_idle, WHEN_IDLE)] {
            if lists & bit != 0 {
                list.retain(|&waiting| waiting != candidate);
            }
        }
    }

    /// Its lists have the room of fresh ones.
    pub fn keep_room(&mut self, fresh: &Candidates) {
        keep_line(&mut self.now, &fresh.now);
        keep_line(&mut self.when_idle, &fresh.when_idle);
    }

    /// Every block is on each list at most once, and marked so.
    pub fn check(&self, place: impl Fn(&Candidate) -> usize) -> bool {
        let mut marks = vec![0u8; self.listed.len()];
        for (list, bit) in [(&self.now, NOW), (&self.when_idle, WHEN_IDLE)] {
            for candidate in list {
                let mark = &mut marks[place(candidate)];
                if *mark & bit != 0 {
                    return false;
                }
                *mark |= bit;
            }
        }
        marks == self.listed
    }

    /// Checks that its candidates are blocks of its lane; that marks and lists agree is [`Candidates::check`]'s.
    pub fn restored(&self, fresh: &Candidates, is_own: impl Fn(&Candidate) -> bool) -> Verdict {
        alike("blocks that can be looked at", &self.listed, &fresh.listed)?;
        ensure(self.now.iter().chain(&self.when_idle).all(is_own), "another lane's block to be looked at")
    }
}
