//! What a deal says of itself when a drive is restored.

use super::{Deal, Way};
use crate::ftl::tables::layout::Layout;
use crate::restore::{Verdict, ensure, keep_line, keep_room, within};
use crate::units::{BlockId, Pun};

impl Deal {
    /// Its lists have the room of a fresh one.
    pub fn keep_room(&mut self, fresh: &Deal) {
        keep_room(&mut self.units, &fresh.units);
        keep_line(&mut self.window, &fresh.window);
    }

    /// Pages of a block that it has dealt to.
    pub fn filled(&self, block: BlockId) -> Option<u32> {
        let targets = self.targets.iter().filter(|_| self.active);
        targets.copied().find(|target| target.block == block).map(|target| target.next)
    }

    /// Units that were read and wait for their program.
    pub fn in_controller(&self) -> impl Iterator<Item = Pun> + '_ {
        let waiting = self.window.iter().filter(|unit| unit.way == Way::InController);
        waiting.map(|waiting| Pun(waiting.unit.source))
    }

    /// Checks that it is of blocks and units of its lane.
    pub fn restored(&self, layout: &Layout, is_own: impl Fn(BlockId) -> bool) -> Verdict {
        let blocks = self.sources().chain(self.targets.iter().map(|target| target.block));
        ensure(blocks.filter(|block| block.is_some()).all(is_own), "a deal of another lane's blocks")?;
        ensure(!self.active || self.sources[0].is_some(), "a deal of no block")?;
        ensure(matches!(self.fan, 1 | 2), "targets of a deal")?;
        let pages = layout.pages_per_block;
        ensure(self.targets.iter().all(|target| target.next <= pages), "pages of a deal's target")?;
        ensure(self.pages <= 2 * pages && self.filled <= layout.units_per_page, "pages of a deal")?;
        let inside = |&(next, end): &(u32, u32)| next <= end && end as usize <= self.units.len();
        ensure(self.shares.iter().all(inside), "shares of a deal")?;
        let units = (layout.blocks() * layout.units_per_block()) as usize;
        within("units to be dealt", self.units.iter().map(|dealt| dealt.unit), units)?;
        within("units being dealt", self.window.iter().map(|dealt| dealt.unit.source), units)?;
        ensure(self.window.iter().all(|dealt| dealt.target < 2), "targets of units")
    }
}
