//! A restored translation layer: every number points to something, and counts are those of what is there.

use crate::flash::Flash;
use crate::flash::op::{Op, OpKind, UnitRef};
use crate::ftl::Media;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::map::Map;
use crate::ftl::techniques::{Seen, is_replica};
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::{LaneWork, RECLAIM};
use crate::restore::{MOST, Verdict, alike, ensure, keep_line, within, within_or_none};
use crate::units::{BlockId, LaneId, Lpn, OpId, Pun};

impl LaneWork {
    fn keep_room(&mut self, fresh: &LaneWork) {
        for (line, fresh) in self.gathered.iter_mut().zip(&*fresh.gathered) {
            line.keep_room(fresh);
        }
        keep_line(&mut self.retire, &fresh.retire);
        self.candidates.keep_room(&fresh.candidates);
    }
}

impl Map {
    /// Checks that all entries are of this drive; that they agree is [`Map::check`]'s.
    pub(super) fn restored(&mut self, fresh: &Map) -> Verdict {
        alike("live units", self.live_words(), fresh.live_words())?;
        alike("lost units", self.lost_words(), fresh.lost_words())?;
        let (logical, physical) = (fresh.logical() as usize, fresh.physical() as usize);
        ensure(self.logical() as usize == logical, "logical units")?;
        ensure(self.physical() as usize == physical, "units of flash")?;
        within_or_none("mapped unit", (0..logical as u32).map(|lpn| self.lookup(Lpn(lpn)).0), physical)?;
        within_or_none("stored unit", (0..physical as u32).map(|unit| self.stored(Pun(unit)).0), logical)?;
        let beyond = |words: &[u64], end: usize| {
            !end.is_multiple_of(64) && words.last().is_some_and(|word| word >> (end % 64) != 0)
        };
        ensure(!beyond(self.live_words(), physical), "live units beyond the last")?;
        ensure(!beyond(self.lost_words(), logical), "lost units beyond the last")
    }
}

impl Media {
    /// Takes what follows from the configuration from a fresh one, and checks the rest; the flash is checked already.
    pub(in crate::ftl) fn restored(&mut self, fresh: Media, flash: &Flash) -> Verdict {
        let tables = fresh.tables;
        (self.tables.layout, self.tables.order, self.space.placement) =
            (tables.layout, tables.order, fresh.space.placement);
        self.cleaning.restored(fresh.cleaning)?;
        ensure(self.tables.clock < MOST, "the clock of blocks")?;
        self.tables.map.restored(&tables.map)?;
        // Blocks have modes where cells do not age, too; nobody looks at them there.
        let modes = flash.chip.aging().map_or(1 << u8::BITS, |aging| aging.modes());
        self.tables.blocks.restored(&tables.blocks, &self.tables.layout, (self.tables.clock, modes))?;
        self.tables.facts.restored(&tables.facts)?;
        self.space.allocator.restored(fresh.space.allocator, &self.tables.layout, &self.tables.blocks)?;
        self.space.ring.restored(fresh.space.ring, &self.tables.layout, &self.tables.blocks)?;
        self.reclaim.restored(fresh.reclaim, &self.tables.layout)?;
        self.tables.replicas.restored(tables.replicas, &self.tables.map)?;
        self.locks.restored(
            fresh.locks,
            (self.tables.layout.blocks_per_lane, self.tables.map.logical()),
            flash.now,
        )?;
        let seen = Seen { tables: &self.tables, chip: &flash.chip };
        self.techniques.restored(fresh.techniques, &seen)?;
        flash.pool.iter().try_for_each(|(id, op)| self.check_op(flash, id, op))?;
        for lane in 0..self.work.lanes.len().max(fresh.work.lanes.len()) {
            let (Some(work), Some(fresh)) = (self.work.lanes.get_mut(lane), fresh.work.lanes.get(lane))
            else {
                return Err("lanes that are not there".to_owned());
            };
            work.keep_room(fresh);
            work.sorted.restored(&fresh.sorted)?;
            let erasing = self.check_lane_work(LaneId(lane as u32), fresh)?;
            self.work.lanes[lane].erasing = erasing;
            let has_own = self.work.lanes[lane].has_own;
            ensure(has_own == self.techniques.work_in(LaneId(lane as u32)), "a job of nobody's")?;
            let migration = self.work.lanes[lane].migration().copied();
            let can = migration.is_none_or(|it| self.reclaim.can_migrate(&it, flash.chip.blocks()));
            ensure(can, "what is to leave a block")?;
        }
        self.work.check_moves(&self.tables, flash, (&self.techniques.in_controller(), is_replica))?;
        self.work.restored(fresh.work)?;
        self.check_pages(flash)
    }

    /// Units that an operation carries, its lane or block, and its mode.
    fn check_op(&self, flash: &Flash, id: OpId, op: &Op) -> Verdict {
        let is_of_host = op.cause.is_for_host();
        let units = flash.pool.units(id);
        within_or_none(
            "unit of an operation",
            units.iter().map(|unit| unit.lpn),
            self.tables.map.logical() as usize,
        )?;
        if !is_of_host || op.kind == OpKind::Read {
            let sources = units.iter().map(|unit| unit.source);
            within_or_none("source of an operation", sources, self.tables.map.physical() as usize)?;
        }
        let block = self.tables.layout.block_of_page(op.ppn).0;
        match op.kind {
            OpKind::Erase => ensure(op.tag == block.0, "an erase of another block"),
            kind if kind.hides() => {
                ensure(self.locks.are_on() && op.units == 1, "a lock, where nothing is locked")?;
                return ensure(op.tag == self.tables.layout.lane_of(block).0, "a lock of another lane");
            }
            _ if is_of_host => Ok(()),
            OpKind::Read if op.is_look() => {
                let is_asked = self.techniques.read_first_pages() == Some(op.cause);
                return ensure(is_asked && op.at.page == 0, "a read for nothing");
            }
            OpKind::Read if is_replica(op.cause) => {
                within("block that takes a replica", [op.tag], flash.chip.blocks() as usize)
            }
            _ => within("lane of a move", [op.tag], self.tables.layout.lanes as usize),
        }?;
        let is_move = !is_of_host && op.kind != OpKind::Erase;
        let is_whole =
            |unit: &UnitRef| unit.lpn < self.tables.map.logical() && unit.source < self.tables.map.physical();
        // Of a page that was dealt, all may have died before it was programmed.
        let may_be_empty = !is_move || op.kind == OpKind::Program;
        ensure(may_be_empty || op.units > 0, "a move without units")?;
        ensure(!is_move || units.iter().all(is_whole), "a move of units that are not there")
    }

    /// Blocks of the lane that are being erased, if all that is known of it can be.
    fn check_lane_work(&self, lane: LaneId, fresh: &LaneWork) -> Result<u32, String> {
        let work = &self.work.lanes[lane.index()];
        let first = self.tables.layout.first_block(lane).0;
        let is_own = |block: BlockId| (first..first + self.tables.layout.blocks_per_lane).contains(&block.0);
        ensure(work.retire.iter().all(|&block| is_own(block)), "a block to be retired")?;
        ensure(work.erases < MOST && work.coming <= self.tables.layout.blocks_per_lane, "erases of a lane")?;
        let states = (first..first + self.tables.layout.blocks_per_lane)
            .map(|block| self.tables.blocks.state(BlockId(block)));
        let erasing = states.filter(|&state| state == BlockState::Erasing).count();
        ensure(
            self.space.ring.coming(&self.work, lane) as usize >= erasing,
            "blocks of a lane that come free",
        )?;
        alike("streams", &work.gathered, &fresh.gathered)?;
        let own_stream = |(at, unit): (usize, &UnitRef)| unit.facts().stream() as usize == at;
        ensure(work.all_gathered().all(own_stream), "the stream of a unit on its way")?;
        let units = || work.all_gathered().map(|(_, unit)| unit);
        within("units on their way", units().map(|unit| unit.lpn), self.tables.map.logical() as usize)?;
        within("units on their way", units().map(|unit| unit.source), self.tables.map.physical() as usize)?;
        for (which, job) in work.jobs.iter().enumerate() {
            let Some(job) = job else { continue };
            ensure(is_own(job.block()), "a job in another lane")?;
            ensure(which == RECLAIM || matches!(job, Job::Empty { .. }), "a job in another's place")?;
            self.work.check_job(&self.tables, job)?;
        }
        work.candidates.restored(&fresh.candidates, |candidate| {
            is_own(candidate.block) && candidate.member < self.tables.layout.span
        })?;
        Ok(erasing as u32)
    }

    /// Chips hold what the firmware has programmed: live data can be read, and open blocks go on where they stand.
    fn check_pages(&self, flash: &Flash) -> Verdict {
        let mut under_way = vec![0u32; flash.chip.blocks() as usize];
        for (_, op) in
            flash.pool.iter().filter(|(_, op)| matches!(op.kind, OpKind::Program | OpKind::Copyback))
        {
            under_way[op.at.block as usize] += 1;
        }
        for block in (0..self.tables.layout.blocks()).map(BlockId) {
            let lane = self.tables.layout.lane_of(block);
            let own = self.techniques.filled(lane, block);
            let open =
                self.space.allocator.filled(lane, block).or(own).or(self.space.ring.filled(lane, block));
            for member in 0..self.tables.layout.span {
                let physical = self.tables.layout.member(block, member).block;
                let issued = flash.chip.programmed_pages(physical) + under_way[physical as usize];
                let expected = match (self.tables.blocks.state(block), open) {
                    _ if self.tables.blocks.is_stale(block) || self.tables.blocks.is_erasing(block) => None,
                    (BlockState::Free, _) => Some(0),
                    (BlockState::Open, Some(next)) => {
                        Some((next + self.tables.layout.span - 1 - member) / self.tables.layout.span)
                    }
                    (BlockState::Closed, _) if self.tables.blocks.is_failing(block) => None,
                    (BlockState::Closed, _) if self.tables.blocks.is_one_bit(block) => {
                        let full = self.tables.layout.one_bit_pages_per_block / self.tables.layout.span;
                        // One whose locks fail may have been closed before it was.
                        let is_whole = !self.locks.are_on()
                            || !self.locks.exposed.is_hopeless(&self.tables.layout, block);
                        Some(if is_whole { full } else { issued.min(full) })
                    }
                    (BlockState::Closed, _) => self.tables.replicas.filled(physical),
                    _ => None,
                };
                ensure(expected.is_none_or(|pages| pages == issued), "pages programmed in a block")?;
            }
        }
        let (mut at, end) =
            (self.tables.map.next_live(0, self.tables.map.physical()), self.tables.map.physical());
        while let Some(unit) = at {
            let page = self.tables.layout.page_of_unit(Pun(unit)).0;
            let place = self.tables.layout.locate(page);
            ensure(place.page < flash.chip.programmed_pages(place.block), "live data on an erased page")?;
            at = self.tables.map.next_live((page.0 + 1) * self.tables.layout.units_per_page, end);
        }
        Ok(())
    }
}
