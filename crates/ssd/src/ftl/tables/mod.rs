//! The tables: which page holds what, and what is known of each block. State alone: nothing here decides, and nothing
//! here knows of techniques.

pub mod blocks;
pub(in crate::ftl) mod facts;
pub mod layout;
pub mod map;
pub mod parity;
pub(in crate::ftl) mod replicas;
pub mod wordlines;
pub mod worn;

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::nand::PageAddress;
use crate::nand::order::PageOrder;
use crate::observe::Source;
use crate::sections::Sections;
use crate::signals::Spare;
use crate::units::{BlockId, LaneId, Lpn, Ppn, Pun};
use blocks::{BlockState, Blocks};
use facts::FactsTable;
use layout::Layout;
use map::Map;
use replicas::Replicas;
use serde::{Deserialize, Serialize};
use wordlines::Wordlines;

/// Which page holds what, and what is known of each block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tables {
    /// The mapping table.
    pub map: Map,
    /// The block table.
    pub blocks: Blocks,
    /// Where everything is.
    pub layout: Layout,
    /// In which order the pages of a block are programmed.
    pub(in crate::ftl) order: PageOrder,
    /// Which of them share a wordline.
    #[serde(skip)]
    pub(in crate::ftl) wordlines: Wordlines,
    /// What data carries with it.
    pub(in crate::ftl) facts: FactsTable,
    /// Second copies of units that are read often.
    pub(crate) replicas: Replicas,
    /// Host units written: the clock of block ages.
    pub(in crate::ftl) clock: u64,
}

/// A place in flash that can be read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub(in crate::ftl) Pun);

impl Tables {
    /// Nothing is written, on a drive of a checked configuration. What `loses` data keeps a bit a unit for that.
    pub(in crate::ftl) fn new(
        cfg: &Sections,
        (layout, order): (Layout, PageOrder),
        erase_count: impl Fn(u32) -> u32,
        (facts, loses): (FactsTable, bool),
    ) -> Self {
        let physical = (layout.blocks() * layout.units_per_block()) as usize;
        let counts = (0..layout.blocks()).map(|b| erase_count(layout.member(BlockId(b), 0).block));
        Tables {
            map: Map::new(cfg.logical_units() as usize, physical, loses),
            blocks: Blocks::new(&layout, counts),
            wordlines: Wordlines::new(&order, cfg.geometry.bits_per_cell),
            order,
            facts,
            replicas: Replicas::new(cfg, &layout),
            clock: 0,
            layout,
        }
    }

    /// A unit of flash that is to move.
    #[inline]
    pub(in crate::ftl) fn unit_at(&self, at: u32) -> UnitRef {
        UnitRef::new(self.map.stored(Pun(at)).0, at).with_facts(self.facts.get(Pun(at)))
    }

    /// Whether an operation is on a page or block of one bit a cell.
    #[inline]
    pub(in crate::ftl) fn is_one_bit(&self, op: &Op) -> bool {
        self.layout.is_one_bit(op)
    }

    /// Nothing of a page can be read any more: none of its units is secured.
    pub(in crate::ftl) fn reveal_nothing(&mut self, page: Ppn) {
        let units = self.layout.units_of_page(page);
        units.for_each(|unit| self.facts.set_secured(unit, false));
    }

    /// A block is erased: none of its units is secured.
    pub(in crate::ftl) fn forget_secured(&mut self, block: BlockId) {
        self.facts.forget_secured(self.layout.first_unit(block), self.layout.units_per_block());
    }

    /// The lane in which a write of a logical unit, or its trim, kills a copy of secured data, if it does.
    pub(in crate::ftl) fn lane_of_kill(&self, lpn: Lpn) -> Option<LaneId> {
        self.secured_copy(lpn).map(|at| self.layout.lane_of(self.layout.block_of_unit(at)))
    }

    /// The copy of secured data in flash that a write of a logical unit, or its trim, kills, if there is one.
    pub(in crate::ftl) fn secured_copy(&self, lpn: Lpn) -> Option<Pun> {
        let at = self.map.lookup(lpn);
        (at.is_some() && self.facts.is_secured(at)).then_some(at)
    }

    /// Where a logical unit is read, if it is anywhere: its replica, or where it is mapped.
    #[inline]
    pub(in crate::ftl) fn place_to_read(&self, lpn: Lpn) -> Pun {
        let replica = self.replicas.get(lpn);
        if replica.is_some() { replica } else { self.map.lookup(lpn) }
    }

    /// Where the first of some units is read, if one read gets them all. Units that have replicas are read one at a
    /// time, and those larger than a page part by part.
    #[inline]
    pub fn one_page_of(&self, first: Lpn, count: u32) -> Option<Place> {
        let at = self.place_to_read(first);
        let is_here = |lpn: Lpn| {
            let unit = self.place_to_read(lpn);
            let reached = count == 1 || (self.map.lookup(lpn) == unit && self.layout.share_read(at, unit));
            unit.is_some() && reached
        };
        let is_one = self.layout.wide == 1 && (first.0..first.0 + count).map(Lpn).all(is_here);
        is_one.then_some(Place(at))
    }

    /// What the spare area of a unit of flash says; nothing where none was programmed since the last erase. Of the
    /// facts those that somebody asked for; of the class only what is not locked yet, and where it is locked at all.
    pub fn spare_of(&self, unit: Pun) -> Option<Spare> {
        let lpn = self.map.stored(unit);
        lpn.is_some().then(|| Spare { lpn, facts: self.facts.get(unit) })
    }

    /// An operation on a page. One that programs is in the mode of its block ([`Tables::bind`]); a read takes that
    /// which the chip says.
    #[inline(always)]
    pub(in crate::ftl) fn op(&self, kind: OpKind, cause: Cause, page: Ppn) -> Op {
        let at = self.layout.locate(page);
        let one_bit = self.layout.one_bit_type;
        let page_type = if one_bit > 0 && self.blocks.is_one_bit(self.layout.block_of_page(page).0) {
            one_bit
        } else {
            self.order.page_type(at.page)
        };
        Op::new(kind, cause, page, at, page_type)
    }

    /// A read of the page that holds a unit.
    #[inline(always)]
    pub(in crate::ftl) fn read_of(&self, cause: Cause, unit: Pun) -> Op {
        let page = self.layout.page_of_unit(unit).0;
        let mut op = self.op(OpKind::Read, cause, page);
        if self.layout.deep > 1 {
            (op.at, op.page_type) = self.of_wordline(page, unit);
        }
        op
    }

    /// Where of a page of the firmware that is a wordline the page lies that holds a unit, and its type.
    #[cold]
    #[inline(never)]
    fn of_wordline(&self, page: Ppn, unit: Pun) -> (PageAddress, u8) {
        let at = self.layout.locate_part(page, self.layout.page_of_wordline(unit));
        (at, self.order.page_type(at.page))
    }

    /// A program to a block is issued, in the block's mode.
    #[inline]
    pub(in crate::ftl) fn bind(&mut self, block: BlockId, op: &mut Op) {
        self.blocks.program_issued(block);
        op.mode = self.blocks.mode(block);
    }

    /// Age and live units of every block that is full.
    pub fn full_blocks(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let full = |&block: &BlockId| self.blocks.state(block) == BlockState::Closed;
        let look = |block| (self.age_of(block), self.blocks.live(block));
        (0..self.layout.blocks()).map(BlockId).filter(full).map(look)
    }

    /// Host units written since a block was filled.
    pub fn age_of(&self, block: BlockId) -> u64 {
        self.blocks.age(block, self.clock)
    }

    /// The units of a block that may hold replicas, in the order in which they were programmed.
    pub(in crate::ftl) fn replica_units(&self, block: BlockId) -> impl Iterator<Item = Pun> + use<> {
        let first = self.replicas.first * self.layout.span * self.layout.units_per_page;
        let base = self.layout.first_unit(block).0;
        (base + first..base + self.layout.units_per_block()).map(Pun)
    }

    /// A unit of flash is a replica no more. Whether it was one.
    pub(in crate::ftl) fn forget_replica_at(&mut self, unit: Pun) -> bool {
        let lpn = self.map.stored(unit);
        lpn.is_some() && self.replicas.get(lpn) == unit && self.replicas.forget(lpn).is_some()
    }

    /// A block is to be erased, locked or retired: its replicas do not count any more. Who is told hears of each.
    pub(in crate::ftl) fn drop_replicas(&mut self, block: BlockId, mut tell: impl FnMut(&Tables, Pun)) {
        if self.replicas.count == 0 {
            return;
        }
        for unit in self.replica_units(block) {
            if self.forget_replica_at(unit) {
                tell(self, unit);
            }
        }
    }

    /// Checks the table against the others (slow); the error names the first place where they do not agree.
    pub(in crate::ftl) fn check_replicas(&self) -> Result<(), String> {
        let mut count = 0;
        for (lpn, at) in self.replicas.index.iter().map(|(lpn, at)| (lpn, Pun(at))) {
            count += 1;
            let page = self.layout.page_of_unit(at).0;
            let (block, place) = self.layout.block_of_page(page);
            let physical = self.layout.locate(page).block as usize;
            let programmed = self.replicas.first + u32::from(self.replicas.used[physical]);
            let inside = (self.replicas.first..programmed).contains(&(place / self.layout.span));
            if !inside || self.map.stored(at) != lpn || self.map.is_live(at) {
                return Err(format!("logical unit {} has no replica in unit {}", lpn.0, at.0));
            }
            if !self.map.lookup(lpn).is_some() {
                return Err(format!("logical unit {} has a replica and no page", lpn.0));
            }
            let state = self.blocks.state(block);
            if !matches!(state, BlockState::Closed | BlockState::Moving | BlockState::Migrating) {
                return Err(format!("block {} is {state:?} and holds replicas", block.0));
            }
        }
        if count == self.replicas.count {
            Ok(())
        } else {
            Err(format!("{count} units have replicas, their count says {}", self.replicas.count))
        }
    }

    /// The most that any page with live data is disturbed now, in 1/4096 of what it stands; `None` where cells do not
    /// age.
    pub fn worst_disturb_q12(&self, flash: &Flash) -> Option<u32> {
        let mut worst = flash.chip.ages().then_some(0)?;
        let units = self.layout.units_per_page;
        for block in (0..self.layout.blocks()).map(BlockId).filter(|&block| self.blocks.live(block) > 0) {
            let first = self.layout.first_unit(block).0 / units;
            for page in (first..first + self.layout.pages_per_block).map(Ppn) {
                // One page of a wordline tells of all; where none is live there is nothing to tell.
                if self.map.next_live(page.0 * units, (page.0 + 1) * units).is_some() {
                    let at = self.layout.locate(page);
                    worst = worst.max(flash.chip.disturb_q12(at.block, at.page)?);
                    for part in 1..self.layout.width {
                        let at = self.layout.locate_part(page, part);
                        worst = worst.max(flash.chip.disturb_q12(at.block, at.page)?);
                    }
                }
            }
        }
        Some(worst)
    }

    /// Starts loading what the units after `at` will need: first where they are, then what is known of that place.
    #[inline]
    pub(in crate::ftl) fn prefetch_ahead(&self, lpns: &[u32], at: usize, count: usize) {
        const FAR: usize = 32;
        const NEAR: usize = 16;
        for i in at..at + count {
            if let Some(&lpn) = lpns.get(i + FAR) {
                self.map.prefetch(lpn);
            }
            if let Some(&lpn) = lpns.get(i + NEAR) {
                let old = self.map.lookup(Lpn(lpn));
                if old.is_some() {
                    self.map.prefetch_live(old);
                    self.blocks.prefetch(self.layout.block_of_unit(old));
                }
            }
        }
    }

    /// Whether nothing lives in a physical block, and nothing more is programmed there.
    pub(in crate::ftl) fn is_member_dead(&self, block: BlockId, member: u32) -> bool {
        use blocks::BlockState::{Bad, Closed, Draining, Free, Migrating, Moving};
        let is_full = matches!(self.blocks.state(block), Closed | Moving | Draining | Migrating | Bad | Free)
            && self.blocks.programming(block) == 0;
        let units = self.layout.units_per_page;
        let has_live = |page: Ppn| self.map.live_of(page.0 * units, units) != 0;
        is_full
            && (self.blocks.live(block) == 0
                || self.layout.span > 1 && !self.layout.pages_of_member(block, member).any(has_live))
    }

    /// Whether data from a place in flash is secured.
    pub fn is_secured(&self, from: Source) -> bool {
        matches!(from, Source::Flash(unit) if self.facts.is_secured(unit))
    }

    pub(in crate::ftl) fn lane_at(&self, turn: u32) -> LaneId {
        LaneId(self.layout.lane_order[turn as usize])
    }
}
