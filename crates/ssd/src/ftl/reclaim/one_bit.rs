//! Reads of the SLC cache. Whatever the policy, a block of one bit a cell leaves the cache as a whole before its reads
//! could lose data: policies know the drive's own cells, and what the host reads often is soon written anew by it, too.
//!
//! The limit is what the worst wordline of such cells stands if all reads are of its neighbour, as in policy `block`
//! (ERC_MAX over alpha of `nand.slc.part`, which the chips use as well; assumed).

use super::Reclaim;
use crate::flash::Flash;
use crate::flash::op::Cause;
use crate::ftl::read_reclaim::{PageRead, ReadLimits, Urgency};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::work::Work;
use crate::ftl::write::placement::Space;
use crate::nand::aging::build::one_bit_model;
use crate::restore::{Verdict, alike};
use crate::sections::Sections;
use crate::units::{BlockId, LaneId};
use serde::{Deserialize, Serialize};

/// Reads of blocks of one bit a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct OneBit {
    #[serde(skip)]
    limits: ReadLimits,
    /// Since the erase, by physical block.
    #[serde(with = "crate::snapshot::raw")]
    counts: Vec<u32>,
}

impl OneBit {
    /// Of a checked configuration.
    // tidy: allow(float): called when a drive is built
    pub fn new(cfg: &Sections) -> Self {
        let cells = match one_bit_model(cfg) {
            Ok(cells) => cells,
            Err(errors) => unreachable!("cells of one bit that were not checked: {errors}"),
        };
        // As in policy `block`: what is under way meanwhile disturbs, too.
        let share = 0.95;
        // 1/wear cycles of such cells wear as much as one of the drive's own.
        let limits = ReadLimits::of_cycles(&cells, 0, (share, 1.0 / cfg.slc.wear));
        OneBit { limits, counts: vec![0; cfg.geometry.blocks() as usize] }
    }

    /// A page is read: whether its block must leave the cache.
    pub fn on_read(&mut self, read: &PageRead) -> Urgency {
        let count = &mut self.counts[read.physical as usize];
        *count = count.saturating_add(read.readings);
        if *count >= self.limits.at(read.cycles) { Urgency::Now } else { Urgency::No }
    }

    /// A physical block is erased.
    pub fn forget(&mut self, physical: u32) {
        self.counts[physical as usize] = 0;
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        4 * self.counts.len()
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: OneBit) -> Verdict {
        alike("reads of blocks of one bit a cell", &self.counts, &fresh.counts)?;
        self.limits = fresh.limits;
        Ok(())
    }
}

/// Cycles of a physical block, as they wear it.
#[cold]
#[inline(never)]
pub(super) fn cycles(flash: &Flash, physical: u32) -> u32 {
    flash.chip.cycles(physical)
}

impl Reclaim {
    /// A page of the cache is read.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_one_bit(&mut self, read: &PageRead) -> Urgency {
        self.one_bit.as_mut().map_or(Urgency::No, |one_bit| one_bit.on_read(read))
    }

    /// A block of the cache must leave it because of reads: destaging begins with it.
    #[cold]
    pub(super) fn list_one_bit(&self, tables: &Tables, work: &mut Work, block: BlockId) {
        let lane = tables.layout.lane_of(block);
        if tables.blocks.may_leave_cache(block) {
            let line = &mut work.lane_mut(lane).leaving_cache;
            if !line.contains(&block) {
                line.push_back(block);
            }
            work.looks.soon(lane);
        }
    }

    /// So many reads at once of a block of the cache.
    pub(super) fn tell_one_bit(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        flash: &Flash,
        (block, member): (BlockId, u32),
        reads: u64,
    ) {
        let physical = tables.layout.member(block, member).block;
        let (mode, cycles) = (flash.chip.mode(physical), flash.chip.cycles(physical));
        let readings = reads.min(u64::from(u32::MAX)) as u32;
        let page_type = tables.layout.one_bit_type;
        let read = PageRead { physical, wordline: 0, page_type, mode, cycles, readings, access: false };
        self.tell(tables, work, flash, &read, block, member);
    }

    /// The block of the cache that leaves it next because of reads, whosever turn it is, if one must, can, and finds
    /// room. One that is being filled is closed.
    #[cold]
    pub(in crate::ftl) fn begin_to_leave_cache(
        &mut self,
        (tables, work, space): (&mut Tables, &mut Work, &mut Space),
        flash: &Flash,
        lane: LaneId,
    ) -> Option<BlockId> {
        let here = &work.lanes[lane.index()];
        let block = *here.leaving_cache.iter().find(|&&block| tables.blocks.may_leave_cache(block))?;
        if tables.blocks.state(block) == BlockState::Open {
            space.close_early(tables, block);
        }
        let can = tables.blocks.can_destage(block)
            && here.coming_free() < work.coming_at_most
            && space.allocator.free(lane) > work.reserve
            && space.allocator.fits(tables, work, lane, block, Cause::Destage);
        can.then(|| {
            work.counts.reclaims += 1;
            self.begin_service(flash, block, None);
            block
        })
    }
}
