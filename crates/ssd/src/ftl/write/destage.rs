//! Destaging: blocks of one bit a cell leave the cache of host writes, and blocks change between it and full ones.
//!
//! `ftl/slc_cache` says how many blocks a lane's ring (`write/ring.rs`) should have. While fewer than two of it are
//! erased, it has more than it should, or the host is silent and more of it hold data than are to keep it, the block
//! that is to leave first is emptied like one that is cleaned, and its live data goes to full blocks. An erased block
//! changes sides where the ring has too many, or too few while cleaning can spare one. Cleaning and destaging take
//! turns in a lane; full blocks without room take a block of the ring. Where data is sorted by the class of pages, what
//! was read waits in its queues from one block that is destaged to the next.

use crate::flash::op::{Cause, Op};
use crate::ftl::page_class::PageClasses;
use crate::ftl::slc_cache::LaneSpace;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::work::Work;
use crate::ftl::write::placement::Space;
use crate::ftl::write::ring::Ring;
use crate::ftl::write::waits::{Lack, Waits};
use crate::units::{BlockId, LaneId, Ppn};

/// Erased blocks that a ring has at least.
pub(in crate::ftl) const ERASED: u32 = 2;

impl Ring {
    /// The host reads a page.
    #[inline]
    pub(in crate::ftl) fn note_host_page(&mut self, tables: &Tables, work: &mut Work, op: &Op) {
        if self.is_used() && tables.is_one_bit(op) {
            work.counts.slc_hits += 1;
            self.on_read(tables.layout.block_of_page(op.ppn).0);
        } else {
            work.counts.host_reads_by_type[usize::from(op.page_type)] += 1;
        }
    }

    /// Whether a block of a lane's ring should leave it.
    pub(in crate::ftl) fn wants_destage(
        &self,
        work: &Work,
        page_classes: &PageClasses,
        lane: LaneId,
    ) -> bool {
        if !self.is_used() {
            return false;
        }
        let (ring, work) = (self.lane(lane), &work.lanes[lane.index()]);
        // Where data is sorted, what was read of a block waits for more to join it: it may take some blocks more.
        let coming = if page_classes.sorts() { work.erasing } else { work.destaging };
        ring.is_over(ring.owned - work.destaging)
            || ring.free() + coming < ERASED
            || self.is_idle && self.has_idle_data(lane, work.destaging)
    }

    /// Where data is sorted: whether what was read may wait for the next block that is destaged, because nobody needs a
    /// block before.
    #[inline]
    pub(in crate::ftl) fn tell_whether_it_holds(
        &mut self,
        work: &mut Work,
        page_classes: &PageClasses,
        lane: LaneId,
    ) {
        if self.is_used() && page_classes.sorts() {
            let holds = !work.lanes[lane.index()].wanted && !self.wants_destage(work, page_classes, lane);
            work.lane_mut(lane).holds = holds;
        }
    }

    /// Rings have as many blocks as their count says.
    pub(in crate::ftl) fn check_rings(&self, tables: &Tables) -> Result<(), String> {
        let lanes = if self.is_used() { tables.layout.lanes } else { 0 };
        for lane in (0..lanes).map(LaneId) {
            let first = tables.layout.first_block(lane).0;
            let own = (first..first + tables.layout.blocks_per_lane).map(BlockId);
            let counted = own.filter(|&block| tables.blocks.is_one_bit(block)).count() as u32;
            let said = self.lane(lane).owned;
            if counted != said {
                return Err(format!(
                    "lane {} has {counted} blocks of one bit a cell, its ring says {said}",
                    lane.0
                ));
            }
        }
        Ok(())
    }

    /// Host data takes a page: where there is a cache, and it is none of it, the cache was full.
    #[inline]
    pub(in crate::ftl) fn note_bypass(&mut self, tables: &Tables, work: &mut Work, page: Ppn, units: usize) {
        if self.is_used() && !tables.blocks.is_one_bit(tables.layout.block_of_page(page).0) {
            work.counts.slc_bypassed += units as u64;
        }
    }
}

impl Space {
    /// What a lane has room for.
    pub(in crate::ftl) fn space(&self, tables: &Tables, work: &Work, lane: LaneId) -> LaneSpace {
        let first = tables.layout.first_block(lane).0;
        let mut space = LaneSpace {
            blocks: 0,
            // Streams, that of wear levelling too, have a block open each.
            kept: self.allocator.streams().all() as u32 + work.reserve + 1,
            full_units: tables.layout.data_units_per_block(),
            one_bit_units: tables.layout.one_bit_units_per_block(),
            live: 0,
            cached: 0,
        };
        for block in (first..first + tables.layout.blocks_per_lane).map(BlockId) {
            let live = u64::from(tables.blocks.live(block));
            space.blocks += u32::from(tables.blocks.state(block) != BlockState::Bad);
            space.live += live;
            space.cached += if tables.blocks.is_one_bit(block) { live } else { 0 };
        }
        space
    }

    /// Takes this block from the free ones of its lane, of the ring or not; false if it is none of them.
    pub(in crate::ftl) fn take_from_free(&mut self, lane: LaneId, block: BlockId) -> bool {
        self.allocator.take_from_free(lane, block)
            || self.ring.is_used() && self.ring.lane_mut(lane).take_from_free(block)
    }

    /// The block of a lane's ring that needs the least room elsewhere, if there is that room or it needs none: the ring
    /// gives it up once it is erased.
    #[cold]
    pub(in crate::ftl) fn give_up_least(
        &mut self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
    ) -> Option<BlockId> {
        let block = Ring::least_to_leave(lane, &tables.layout, &tables.blocks).filter(|&block| {
            tables.blocks.live(block) == 0 || self.allocator.fits(tables, work, lane, block, Cause::Destage)
        })?;
        self.ring.lane_mut(lane).gives_room = true;
        Some(block)
    }

    /// An erased block of the ring is a full one from now on; returns whether there was one.
    pub(in crate::ftl) fn take_from_ring(
        &mut self,
        tables: &mut Tables,
        waits: &mut Waits,
        lane: LaneId,
    ) -> bool {
        let Some(block) = self.ring.lane_mut(lane).take(&mut tables.blocks) else { return false };
        self.allocator.give_back(lane, block, &mut tables.blocks);
        waits.come(Lack::Page);
        true
    }

    /// A block has come free: one of the ring stays there, or is a full one from now on.
    pub(in crate::ftl) fn put_free(
        &mut self,
        tables: &mut Tables,
        work: &Work,
        lane: LaneId,
        block: BlockId,
    ) {
        if !tables.blocks.is_one_bit(block) {
            return self.allocator.give_back(lane, block, &mut tables.blocks);
        }
        let space = self.space(tables, work, lane);
        self.ring.ask(lane, &space);
        let ring = self.ring.lane_mut(lane);
        if ring.gives_room || ring.is_over(ring.owned) {
            ring.gives_room = false;
            ring.forget(block, &mut tables.blocks);
            self.allocator.give_back(lane, block, &mut tables.blocks);
        } else {
            ring.put(block, &mut tables.blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Table, Value};
    use crate::drive_config::DriveConfig;
    use crate::ftl::Media;
    use crate::rng::Rng;
    use crate::sections::MappingUnit;
    use crate::units::LaneId;
    use crate::{Command, Drive, Lba, OpCode};

    /// A lane of blocks of eight wordlines of four bits, with a cache of six, that is cleaned up to so many free
    /// blocks.
    fn cached(free_percent: f64) -> DriveConfig {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (80, 8, 4);
        (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 60.0);
        for (mark, less) in [("start_free_percent", 1.0), ("stop_free_percent", 0.0)] {
            cfg.gc_trigger.set(mark, &Value::Float(free_percent - less)).unwrap();
        }
        cfg.buffer.select("none").unwrap();
        cfg.slc_cache.select("fixed").unwrap();
        cfg.slc_cache.set("blocks_per_lane", &Value::Integer(6)).unwrap();
        cfg
    }

    /// The cache takes a block that it lacks only where nothing is to be cleaned.
    #[test]
    fn the_cache_leaves_cleaning_its_blocks() {
        for (wanted, expected) in [(false, 6), (true, 5)] {
            let mut drive = Drive::new(&cached(5.0)).unwrap();
            let units = drive.logical_units();
            drive.fill(0, units).unwrap();
            let (ftl, lane) = (&mut drive.state.ftl, LaneId(0));
            ftl.moves.media.work.lane_mut(lane).wanted = wanted;
            ftl.moves.media.space.ring.lane_mut(lane).gives_room = false;
            while ftl.moves.media.space.ring.lane(lane).owned > 5 {
                assert!(
                    ftl.moves.media.space.take_from_ring(
                        &mut ftl.moves.media.tables,
                        &mut ftl.moves.media.waits,
                        lane
                    ),
                    "no erased block"
                );
            }
            let Media { space, tables, work, waits, cleaning, .. } = &mut ftl.moves.media;
            cleaning.tend_ring(space, (tables, work), waits, lane);
            assert_eq!(ftl.moves.media.space.ring.lane(lane).owned, expected, "cleaning is wanted: {wanted}");
            ftl.moves.media.space.ring.check_rings(&ftl.moves.media.tables).unwrap();
        }
    }

    /// The lane is full and always to be cleaned, and its cache has always a block that is to leave: the host writes as
    /// fast as it can.
    #[test]
    fn cleaning_and_destaging_take_turns() {
        let mut drive = Drive::new(&cached(50.0)).unwrap();
        let (units, mut rng) = (drive.logical_units(), Rng::named(1, "load"));
        drive.fill(0, units).unwrap();
        let sectors = drive.unit_bytes() / 512;
        let (lane, mut turns, mut in_a_row) = (LaneId(0), 0, 0);
        for tag in 0..4_000 {
            let lba = Lba(u64::from(sectors) * u64::from(rng.below(units)));
            let command = Command { op: OpCode::Write, lba, sectors, tag, ..Command::default() };
            drive.submit(0, &Command { arrival: drive.now(), ..command }, drive.now()).unwrap();
            while drive.outstanding() > 15 {
                let seen = |drive: &Drive| {
                    let counts = &drive.state.ftl.moves.media.work.counts;
                    (counts.slc_destaged, counts.victims.iter().sum::<u64>())
                };
                let ftl = &drive.state.ftl;
                let is_due = ftl.moves.media.work.lanes[lane.index()].wanted
                    && ftl.moves.media.space.ring.lane(lane).had_turn;
                let before = seen(&drive);
                assert!(drive.state.step_here(), "stuck");
                let after = seen(&drive);
                turns += u64::from(is_due && after.1 > before.1);
                in_a_row += u64::from(is_due && after.0 > before.0 && after.1 == before.1);
                while drive.pop_completion().is_some() {}
            }
        }
        assert!(turns > 10 && in_a_row == 0, "{turns} turns, {in_a_row} times cleaning lost its own");
    }
}
