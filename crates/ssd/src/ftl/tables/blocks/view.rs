//! What a policy sees of a lane's blocks.

use serde::{Deserialize, Serialize};

/// What a block is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum BlockState {
    /// Erased and on its lane's free list.
    Free,
    /// Being filled by a stream.
    Open,
    /// Full; its live units may be moved away.
    Closed,
    /// Its live units are being moved away.
    Moving,
    /// All live units were read; their programs are awaited before the erase.
    Draining,
    /// Some live units were read; their programs are awaited before the block is closed again.
    Migrating,
    /// Being erased.
    Erasing,
    /// Retired.
    Bad,
}

impl BlockState {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            BlockState::Free => "free",
            BlockState::Open => "open",
            BlockState::Closed => "closed",
            BlockState::Moving => "moving",
            BlockState::Draining => "draining",
            BlockState::Migrating => "migrating",
            BlockState::Erasing => "erasing",
            BlockState::Bad => "bad",
        }
    }
}

/// Set in the live count of a block that cleaning may not choose; the count below stays true.
pub const NOT_ELIGIBLE: u32 = 1 << 31;

/// A lane's blocks as a policy sees them; index 0 is the lane's first block.
pub struct LaneView<'a> {
    pub(super) live: &'a [u32],
    pub(super) state: &'a [BlockState],
    pub(super) erase_count: &'a [u32],
    pub(super) closed_at: &'a [u64],
    pub(super) changed_at: &'a [u64],
    pub(super) wear_q12: &'a [u16],
    /// Number of the lane.
    pub lane: u32,
    /// Units of a block that data fills.
    pub units_per_block: u32,
    /// Host units written so far: the clock of ages.
    pub now: u64,
}

/// The blocks of a lane as columns, an entry a block.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// Live units; [`NOT_ELIGIBLE`] is set where cleaning may not choose the block.
    pub live: &'a [u32],
    /// State.
    pub state: &'a [BlockState],
    /// Erases.
    pub erase_count: &'a [u32],
    /// Host units written when the block was filled last; its age is [`LaneView::now`] less that.
    pub closed_at: &'a [u64],
    /// Share of its life that a block has behind it, in 1/4096, as the firmware estimates it; 0 where it does not.
    pub wear_q12: &'a [u16],
}

impl LaneView<'_> {
    /// All that is told of the blocks, as columns.
    #[inline]
    pub fn columns(&self) -> Columns<'_> {
        let LaneView { live, state, erase_count, closed_at, wear_q12, .. } = *self;
        Columns { live, state, erase_count, closed_at, wear_q12 }
    }

    /// Live units of a block, whether it may be chosen or not.
    pub fn live(&self, block: u32) -> u32 {
        self.live[block as usize] & !NOT_ELIGIBLE
    }

    /// Blocks of the lane.
    pub fn len(&self) -> u32 {
        self.live.len() as u32
    }

    /// Whether the lane has no blocks.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Live units of a block that may be chosen; `None` if it may not.
    #[inline]
    pub fn eligible(&self, block: u32) -> Option<u32> {
        let live = self.live[block as usize];
        (live < NOT_ELIGIBLE).then_some(live)
    }

    /// Live units of a block with the mark that it cannot be chosen, unless it `may`.
    #[inline]
    pub(in crate::ftl) fn live_if(&self, block: u32, may: bool) -> u32 {
        self.live[block as usize] | if may { 0 } else { NOT_ELIGIBLE }
    }

    /// This lane with other live units: some of its blocks cannot be chosen.
    pub(in crate::ftl) fn with_live<'a>(&'a self, live: &'a [u32]) -> LaneView<'a> {
        LaneView { live, ..*self }
    }

    /// The eligible block with the least live units, the first of equals.
    #[inline]
    pub fn least_live(&self) -> Option<u32> {
        let least = self.live.iter().copied().min()?;
        if least >= NOT_ELIGIBLE {
            return None;
        }
        self.live.iter().position(|&live| live == least).map(|block| block as u32)
    }

    /// Erases of a block.
    #[inline]
    pub fn erase_count(&self, block: u32) -> u32 {
        self.erase_count[block as usize]
    }

    /// Share of its life that a block has behind it, in 1/4096, as the firmware estimates it; 0 where it does not.
    #[inline]
    pub fn wear_q12(&self, block: u32) -> u32 {
        u32::from(self.wear_q12[block as usize])
    }

    /// State of a block.
    #[inline]
    pub fn state(&self, block: u32) -> BlockState {
        self.state[block as usize]
    }

    /// Host units written since the block was filled.
    #[inline]
    pub fn age(&self, block: u32) -> u64 {
        self.now - self.closed_at[block as usize]
    }

    /// Host units written since the block was last changed: filled, or a unit of it died.
    #[inline]
    pub fn unchanged(&self, block: u32) -> u64 {
        self.now - self.changed_at[block as usize]
    }

    /// The block with the highest score among the eligible ones, the first of equals.
    #[inline]
    pub fn best_by<S: PartialOrd>(&self, mut score: impl FnMut(u32, u32) -> S) -> Option<u32> {
        let mut best: Option<(S, u32)> = None;
        for block in 0..self.len() {
            if let Some(live) = self.eligible(block) {
                let value = score(block, live);
                if best.as_ref().is_none_or(|(top, _)| value > *top) {
                    best = Some((value, block));
                }
            }
        }
        best.map(|(_, block)| block)
    }
}
