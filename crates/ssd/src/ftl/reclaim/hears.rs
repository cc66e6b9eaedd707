//! What the policy hears of: reads in bulk, erases, cells; and what is loaded ahead for it.

use super::PageRead;
use super::Reclaim;
use crate::flash::Flash;
use crate::ftl::tables::Tables;
use crate::ftl::work::Work;
use crate::ftl::work::candidates::Candidate;
use crate::nand::cell::CellModel;
use crate::sections::{ErrorModel, Sections};
use crate::units::{BlockId, LaneId, Lpn};

/// The cells of a checked configuration whose data moves because of reads: such are refused if their cells are wrong,
/// whether or not these make errors.
pub(in crate::ftl) fn cells(cfg: &Sections) -> CellModel {
    match CellModel::new(cfg.cells.clone()) {
        Ok(cells) => cells,
        Err(errors) => unreachable!("cells that were not checked: {errors}"),
    }
}

/// How often the attempts of one read sense a page at most.
// tidy: allow(float): called when a drive is built
pub(in crate::ftl) fn readings_at_most(cfg: &Sections, cells: &CellModel) -> u32 {
    if cfg.errors.model == ErrorModel::None {
        return 1;
    }
    let part = cells.part();
    let soft = if cfg.errors.tracking_reads > 0 { &part.ecc.level_steps[..] } else { &[] };
    let soft: f64 = soft.iter().map(|levels| libm::ceil(*levels)).sum();
    part.retry.entries + 1 + cfg.errors.tracking_reads + soft as u32
}

impl Reclaim {
    /// The host reads a logical unit from flash: it has become hotter.
    #[inline]
    pub fn note_unit(&mut self, lpn: Lpn) {
        if self.spreads {
            self.policy.on_unit_read(lpn);
        }
    }

    /// Every block that holds data was read so many times at once, evenly or at one wordline: [`crate::AgeStep`].
    pub fn note_disturb(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        flash: &Flash,
        reads: u64,
        wordline: Option<u32>,
    ) {
        if !self.active {
            return;
        }
        for block in (0..tables.layout.blocks()).map(BlockId) {
            for member in 0..tables.layout.span {
                let physical = tables.layout.member(block, member).block;
                if tables.blocks.is_one_bit(block) {
                    self.tell_one_bit(tables, work, flash, (block, member), reads);
                    continue;
                }
                if flash.chip.is_one_bit(physical) {
                    // It was retired while it was in the cache.
                    continue;
                }
                let pages = flash.chip.programmed_pages(physical);
                let held = (0..pages).map(|page| tables.order.place(page).wordline + 1).max().unwrap_or(0);
                let hit = |at: u32| wordline.is_none_or(|wordline| wordline == at);
                let shares = if wordline.is_some() { 1 } else { u64::from(held) };
                for at in (0..held).filter(|&at| hit(at)) {
                    self.tell_evenly(tables, work, flash, (block, member), at, reads.div_ceil(shares));
                }
            }
        }
    }

    /// So many reads of a wordline, page types taking turns.
    pub(in crate::ftl) fn tell_evenly(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        flash: &Flash,
        of: (BlockId, u32),
        wordline: u32,
        reads: u64,
    ) {
        let physical = tables.layout.member(of.0, of.1).block;
        let types = tables.wordlines.types() as u8;
        for page_type in 0..types {
            let readings = reads.div_ceil(u64::from(types)).min(u64::from(u32::MAX)) as u32;
            let (mode, cycles) = (flash.chip.mode(physical), self.cycles(tables, flash, (of.0, physical)));
            let read = PageRead { physical, wordline, page_type, mode, cycles, readings, access: false };
            self.tell(tables, work, flash, &read, of.0, of.1);
        }
    }

    /// Blocks are cycled to so many erases: the reads of those that had fewer are forgotten.
    pub fn forget_reads_of_younger(&mut self, tables: &Tables, cycles: u32) {
        let blocks = if self.active { tables.layout.blocks() } else { 0 };
        for block in (0..blocks).map(BlockId) {
            if tables.blocks.erase_count(block) < cycles {
                self.forget_reads_of(tables, block);
            }
        }
    }

    pub(in crate::ftl) fn forget_reads_of(&mut self, tables: &Tables, block: BlockId) {
        for member in 0..tables.layout.span {
            let physical = tables.layout.member(block, member).block;
            self.policy.on_erase(physical);
            if let Some(one_bit) = &mut self.one_bit {
                one_bit.forget(physical);
            }
        }
    }

    /// Starts loading the counters of the page that a read of a logical unit will find. (Where time passes, what the
    /// chips need is loaded when the operation is queued.)
    #[inline]
    pub fn prefetch_read(&self, tables: &Tables, flash: &Flash, lpn: u32) {
        if !flash.is_instant() || !flash.chip.ages() || lpn >= tables.map.logical() {
            return;
        }
        let unit = tables.map.lookup(Lpn(lpn));
        if unit.is_some() {
            let at = tables.layout.locate(tables.layout.page_of_unit(unit).0);
            flash.chip.prefetch_sense(at.block, at.page);
            self.policy.prefetch(at.block, tables.order.place(at.page).wordline);
        }
    }

    /// Cycles up to which the policy knows what blocks stand.
    pub fn most_cycles_told_apart(&self) -> u32 {
        self.policy.cycles_told_apart()
    }

    /// A block is erased: its reads are forgotten.
    pub(in crate::ftl) fn forget_reads(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        if !self.active {
            return;
        }
        self.forget_reads_of(tables, block);
        let lane = tables.layout.lane_of(block);
        for member in 0..tables.layout.span {
            let candidate = Candidate { block, member };
            let at = candidate.place(&tables.layout);
            work.lane_mut(lane).candidates.remove(candidate, at);
        }
        work.lane_mut(lane).left_cache(block);
        if self.spreads && !work.lane_mut(lane).has_candidates() {
            self.need_no_room(work, lane);
        }
    }

    /// Lists and marks must agree.
    pub(in crate::ftl) fn check_candidates(&self, tables: &Tables, work: &Work) -> Result<(), String> {
        for lane in (0..tables.layout.lanes).map(LaneId) {
            if !work.lanes[lane.index()].candidates.check(|candidate| candidate.place(&tables.layout)) {
                return Err(format!("lane {}: blocks to be looked at and their marks differ", lane.0));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::flash::op::{Cause, OpKind};
    use crate::ftl::Ftl;
    use crate::ftl::read_reclaim::{Policy, straw};
    use crate::units::Ppn;
    use crate::{AgeStep, Drive, Executor};

    /// What moves read where no time passes counts with all its attempts: each disturbs the neighbours.
    #[test]
    fn reads_of_moves_tell_their_attempts() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block) = (16, 16);
        cfg.drive.over_provisioning_percent = 100.0;
        cfg.errors.model = ErrorModel::Cells;
        cfg.read_reclaim = straw::Params { counters: straw::Counters::Exact, ..Default::default() }.into();
        let mut drive = Drive::new(&cfg).unwrap();
        drive.set_executor(Executor::Functional);
        drive.fill(0, 100).unwrap();
        for step in ["cycle to 3000", "retain 12 months"] {
            drive.age(&step.parse::<AgeStep>().unwrap()).unwrap();
        }
        let (ftl, flash) = (&mut drive.state.ftl, &mut drive.state.flash);
        let counted = |ftl: &Ftl, physical| match &ftl.moves.media.reclaim.policy {
            Policy::Straw(policy) => policy.block_reads(physical),
            _ => unreachable!("the policy is straw"),
        };
        let mut most = 0;
        for page in (0..10).map(Ppn) {
            let mut op = ftl.moves.media.tables.op(OpKind::Read, Cause::Cleaning, page);
            let before = counted(ftl, op.at.block);
            ftl.moves.media.reclaim.note_read(&ftl.moves.media.tables, &mut ftl.moves.media.work, flash, &op);
            assert!(ftl.moves.media.issue_move(flash, LaneId(0), &mut op, &[]));
            let readings = flash.chip.readings(op.at.block, op.attempts);
            assert_eq!(counted(ftl, op.at.block) - before, u64::from(readings));
            most = most.max(readings);
        }
        assert!(most > 2, "pages of such an age take retries");
    }
}
