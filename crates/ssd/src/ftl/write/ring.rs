//! The cache of host writes (`ftl/slc_cache`): in each lane a ring of blocks of one bit a cell, opened one after the
//! other, and which of them leaves it next. Whether one leaves is said in `ftl/write/destage.rs`.

use super::open::{Allocated, OpenBlock, Turn};
use crate::ftl::slc_cache::{self, Destage, LaneSpace};
use crate::ftl::tables::blocks::{BlockState, Blocks};
use crate::ftl::tables::layout::Layout;
use crate::restore::{MOST, Verdict, alike, distinct, ensure, keep_line};
use crate::units::{BlockId, LaneId, Ppn, StreamId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The ring of a lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaneRing {
    /// Erased blocks, the one that is opened next first.
    free: VecDeque<u32>,
    open: OpenBlock,
    /// Blocks of one bit a cell, erased ones included.
    pub owned: u32,
    /// How many there should be.
    pub target: u32,
    /// Full blocks lack room, and cleaning cannot make any: the next block of the ring that is erased is one of them.
    pub gives_room: bool,
    /// The lane destaged last, and cleaning has its turn.
    pub had_turn: bool,
}

impl LaneRing {
    /// Erased blocks.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Whether so many blocks are more than a hundredth over the target.
    pub fn is_over(&self, blocks: u32) -> bool {
        u64::from(blocks) * 100 > u64::from(self.target) * 101
    }

    /// A block that holds nothing is one of the ring from now on; returns it to the ring if it was.
    pub fn put(&mut self, block: BlockId, blocks: &mut Blocks) {
        self.owned += u32::from(!blocks.is_one_bit(block));
        blocks.set_state(block, BlockState::Free);
        blocks.set_one_bit(block, true);
        self.free.push_back(block.0);
    }

    /// Takes the erased block that is opened next; [`LaneRing::put`] puts it back, behind all others.
    pub fn next_free(&mut self) -> Option<BlockId> {
        self.free.pop_front().map(BlockId)
    }

    /// Takes this block from the erased ones, of which it stays one of the ring; false if it is none of them.
    pub fn take_from_free(&mut self, block: BlockId) -> bool {
        let at = self.free.iter().position(|&free| free == block.0);
        at.and_then(|at| self.free.remove(at)).is_some()
    }

    /// Takes an erased block, which is none of the ring any more.
    pub fn take(&mut self, blocks: &mut Blocks) -> Option<BlockId> {
        let block = BlockId(self.free.pop_back()?);
        self.forget(block, blocks);
        Some(block)
    }

    /// A block is none of the ring any more.
    pub fn forget(&mut self, block: BlockId, blocks: &mut Blocks) {
        self.owned -= 1;
        blocks.set_one_bit(block, false);
    }
}

/// The rings of all lanes; none without a cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ring {
    lanes: Box<[LaneRing]>,
    policy: slc_cache::Policy,
    /// Reads put off that a block is destaged.
    by_access: bool,
    /// The host has been silent long enough for data to leave though there is room.
    pub is_idle: bool,
    /// By block: when it was opened, or last accessed.
    stamps: Vec<u64>,
    stamp: u64,
    turn: Turn,
    pages_per_block: u32,
    one_bit_pages: u32,
    /// Program mode of its blocks.
    #[serde(skip)]
    mode: u8,
}

impl Ring {
    /// Rings without blocks, which are programmed in a mode.
    pub fn new(config: &slc_cache::Config, layout: &Layout, mode: u8) -> Self {
        let policy = slc_cache::Policy::build(config);
        let of_used = |count: u32| if policy.is_used() { count as usize } else { 0 };
        let open = OpenBlock { block: BlockId::NONE, next: 0 };
        let ring = || LaneRing {
            free: VecDeque::with_capacity(layout.blocks_per_lane as usize),
            open,
            owned: 0,
            target: 0,
            gives_room: false,
            had_turn: false,
        };
        Ring {
            lanes: (0..of_used(layout.lanes)).map(|_| ring()).collect(),
            by_access: policy.destage() == Destage::Lru,
            is_idle: false,
            stamps: vec![0; of_used(layout.blocks())],
            stamp: 0,
            turn: Turn { lane: 0, left: layout.pages_per_turn },
            pages_per_block: layout.pages_per_block,
            one_bit_pages: layout.one_bit_pages_per_block,
            policy,
            mode,
        }
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: Ring, layout: &Layout, blocks: &Blocks) -> Verdict {
        alike("rings of blocks", &self.lanes, &fresh.lanes)?;
        alike("accesses of blocks", &self.stamps, &fresh.stamps)?;
        self.policy.restored(fresh.policy)?;
        (self.pages_per_block, self.one_bit_pages) = (fresh.pages_per_block, fresh.one_bit_pages);
        (self.by_access, self.mode) = (fresh.by_access, fresh.mode);
        let turn = self.turn;
        ensure(turn.lane < layout.lanes && turn.left <= layout.pages_per_turn, "whose turn it is")?;
        let is_past = |stamp: &u64| *stamp <= self.stamp;
        ensure(self.stamp < MOST && self.stamps.iter().all(is_past), "accesses of a block")?;
        for (lane, (ring, fresh)) in self.lanes.iter_mut().zip(&fresh.lanes).enumerate() {
            let first = layout.first_block(LaneId(lane as u32)).0;
            let own = first..first + layout.blocks_per_lane;
            let free = ring.free.iter().map(|block| block.wrapping_sub(first));
            distinct("free blocks of a ring", free, own.len())?;
            let is_free = |&block: &u32| {
                blocks.state(BlockId(block)) == BlockState::Free && blocks.is_one_bit(BlockId(block))
            };
            ensure(ring.free.iter().all(is_free), "a free block of a ring is not")?;
            let open = ring.open;
            let is_open = |block| blocks.state(block) == BlockState::Open && blocks.is_one_bit(block);
            let can = !open.block.is_some()
                || own.contains(&open.block.0) && open.next < self.one_bit_pages && is_open(open.block);
            ensure(can, "an open block of a ring is not")?;
            let counted = own.filter(|&block| blocks.is_one_bit(BlockId(block))).count() as u32;
            ensure(ring.owned == counted, "blocks of a ring")?;
            ensure(ring.target <= layout.blocks_per_lane, "blocks that a ring should have")?;
            keep_line(&mut ring.free, &fresh.free);
        }
        Ok(())
    }

    /// Whether there is a cache.
    #[inline]
    pub fn is_used(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// The ring of a lane.
    pub fn lane(&self, lane: LaneId) -> &LaneRing {
        &self.lanes[lane.index()]
    }

    /// The ring of a lane, to change it.
    pub fn lane_mut(&mut self, lane: LaneId) -> &mut LaneRing {
        &mut self.lanes[lane.index()]
    }

    /// Erased blocks of a lane that are its ring's.
    pub fn free(&self, lane: LaneId) -> u32 {
        self.lanes.get(lane.index()).map_or(0, LaneRing::free)
    }

    /// Blocks of a lane that are its ring's, erased ones included.
    pub fn owned(&self, lane: LaneId) -> u32 {
        self.lanes.get(lane.index()).map_or(0, |ring| ring.owned)
    }

    /// Nanoseconds without host commands after which data leaves though there is room; `None`: never.
    pub fn idle_after_ns(&self) -> Option<u64> {
        self.policy.when_idle().after_ns
    }

    /// Whether the ring of a lane has more full blocks than keep their data while the host is silent, so many of which
    /// leave already.
    pub fn has_idle_data(&self, lane: LaneId, leaving: u32) -> bool {
        let ring = self.lane(lane);
        let others = ring.free() + leaving + u32::from(ring.open.block.is_some());
        ring.owned > others + self.policy.when_idle().kept(ring.target)
    }

    /// Asks how many blocks a lane should have.
    pub fn ask(&mut self, lane: LaneId, space: &LaneSpace) {
        self.lanes[lane.index()].target = self.policy.target(space);
    }

    /// Whether the ring of a lane has a page for host data.
    #[inline]
    pub fn has_page(&self, lane: LaneId) -> bool {
        self.lanes.get(lane.index()).is_some_and(|ring| ring.open.block.is_some() || !ring.free.is_empty())
    }

    /// The next page for host data in the ring of a lane.
    pub fn page_in(&mut self, lane: LaneId, blocks: &mut Blocks, now: u64) -> Option<Allocated> {
        let ring = &mut self.lanes[lane.index()];
        let opened = !ring.open.block.is_some();
        if opened {
            ring.open = OpenBlock { block: BlockId(ring.free.pop_front()?), next: 0 };
            blocks.open(ring.open.block, (StreamId::NONE, self.mode), now);
        }
        let OpenBlock { block, next } = ring.open;
        let page = Ppn(block.0 * self.pages_per_block + next);
        let is_full = next + 1 == self.one_bit_pages;
        ring.open = OpenBlock { block: if is_full { BlockId::NONE } else { block }, next: next + 1 };
        if is_full {
            blocks.close(block, now);
        }
        if opened || is_full && self.by_access {
            self.stamp += 1;
            self.stamps[block.index()] = self.stamp;
        }
        Some(Allocated { page, block, lane, opened, parity: 0 })
    }

    /// The next page for host data, lane by lane in allocation order; lanes whose ring is full are passed over.
    pub fn next_page(&mut self, layout: &Layout, blocks: &mut Blocks, now: u64) -> Option<Allocated> {
        for _ in 0..=layout.lanes {
            let lane = LaneId(layout.lane_order[self.turn.lane as usize]);
            if self.turn.left > 0
                && let Some(found) = self.page_in(lane, blocks, now)
            {
                self.turn = self.turn.after(layout, found.page);
                return Some(found);
            }
            let next = if self.turn.lane + 1 == layout.lanes { 0 } else { self.turn.lane + 1 };
            self.turn = Turn { lane: next, left: layout.pages_per_turn };
        }
        None
    }

    /// The host reads a page of the ring.
    #[inline]
    pub fn on_read(&mut self, block: BlockId) {
        if self.by_access {
            self.stamp += 1;
            self.stamps[block.index()] = self.stamp;
        }
    }

    /// The block of a lane's ring that is destaged next, if any can be.
    pub fn next_to_leave(&self, lane: LaneId, layout: &Layout, blocks: &Blocks) -> Option<BlockId> {
        Self::can_leave(lane, layout, blocks).min_by_key(|block| self.stamps[block.index()])
    }

    /// The block of a lane's ring that needs the least room elsewhere, if any can be destaged.
    pub fn least_to_leave(lane: LaneId, layout: &Layout, blocks: &Blocks) -> Option<BlockId> {
        Self::can_leave(lane, layout, blocks).min_by_key(|&block| blocks.live(block))
    }

    fn can_leave<'a>(
        lane: LaneId,
        layout: &Layout,
        blocks: &'a Blocks,
    ) -> impl Iterator<Item = BlockId> + use<'a> {
        let first = layout.first_block(lane).0;
        let own = (first..first + layout.blocks_per_lane).map(BlockId);
        own.filter(|&block| blocks.can_destage(block))
    }

    /// Stops filling a block, if it is open: a program to it failed.
    pub fn abandon(&mut self, lane: LaneId, block: BlockId, blocks: &mut Blocks, now: u64) {
        let open = &mut self.lanes[lane.index()].open;
        if open.block == block {
            open.block = BlockId::NONE;
            blocks.close(block, now);
        }
    }

    /// Pages of a block that are taken, if it is open.
    pub fn filled(&self, lane: LaneId, block: BlockId) -> Option<u32> {
        self.lanes
            .get(lane.index())
            .map(|ring| ring.open)
            .filter(|open| open.block == block)
            .map(|open| open.next)
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        let lanes = self.lanes.iter().map(|ring| ring.free.capacity() * size_of::<u32>()).sum::<usize>();
        lanes + self.stamps.len() * size_of::<u64>()
    }

    /// What the rings of all lanes are at.
    pub fn report(&self) -> slc_cache::Report {
        let sum = |of: fn(&LaneRing) -> u32| self.lanes.iter().map(of).sum();
        slc_cache::Report { blocks: sum(|ring| ring.owned), target: sum(|ring| ring.target) }
    }
}
