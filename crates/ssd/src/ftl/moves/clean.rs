//! Moving live data out of blocks: for cleaning, for wear levelling, because of reads, out of blocks that fail.
//!
//! Jobs of a lane are done in steps: a few pages of the block are read, their live units gathered and programmed
//! elsewhere, and every completion starts the next step, so that host operations run between them. A block is erased
//! only when every unit read from it is programmed and mapped at its new place. A lane has at most two jobs at a time:
//! one of routine, and one because of reads, which goes first (see `reclaim`).

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::{Offer, Seen};
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::{LaneWork, RECLAIM, ROUTINE};
use crate::ftl::work::walk::{PageUnits, Step, Walk};
use crate::ftl::{IdleWork, Media, Moves};
use crate::units::{BlockId, LaneId, Ppn};

impl Moves {
    /// Looks whether a lane should be cleaned, and starts or continues.
    pub(in crate::ftl) fn check_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        if self.media.space.ring.is_used() {
            self.media.tend_ring(lane);
        }
        self.media.update_wanted(lane);
        self.pump_lane(flash, lane);
    }

    /// The same for all lanes: the host has no page left.
    pub fn check_lanes(&mut self, flash: &mut Flash) {
        (0..self.media.tables.layout.lanes).map(LaneId).for_each(|lane| self.check_lane(flash, lane));
    }

    /// Cleaning catches up with such a host, until a pace is set.
    pub fn catch_up(&mut self, flash: &mut Flash) {
        self.media.work.catches_up = true;
        self.check_lanes(flash);
    }

    /// Tells whether the host has been silent long enough for something to begin; it begins, or no more of it does.
    pub fn set_idle(&mut self, flash: &mut Flash, work: IdleWork, idle: bool) {
        match work {
            IdleWork::Cleaning => self.media.work.idle = idle,
            IdleWork::Reclaim => self.media.work.quiet = idle,
        }
        for lane in (0..self.media.tables.layout.lanes).map(LaneId).filter(|_| idle) {
            self.check_lane(flash, lane);
        }
    }

    /// Tries again to start moves that found nothing to do; for when the host waits for room.
    pub fn retry(&mut self, flash: &mut Flash) {
        if self.media.locks.are_on() {
            self.media.give_up_claims();
        }
        let begins_anew = self.media.cleaning.trigger.ends_without_victims();
        for lane in (0..self.media.tables.layout.lanes).map(LaneId) {
            // A round that ended because nothing was worth it may begin anew: something may have died since.
            if begins_anew && !self.media.work.lane_mut(lane).wanted {
                self.media.update_wanted(lane);
            }
            let work = self.media.work.lane_mut(lane);
            let at_rest = !work.is_moving();
            let waits = |work: &LaneWork| {
                work.wanted
                    || work.has_job()
                    || work.is_dealing()
                    || work.has_candidates()
                    || work.has_gathered()
            };
            if at_rest
                && (waits(work)
                    || self.media.space.ring.wants_destage(&self.media.work, &self.page_classes, lane))
            {
                self.pump_lane(flash, lane);
                self.unblock(flash, lane);
            }
        }
    }

    /// A job that found no page for its stream may have what it lacks behind it: the block that the last job emptied
    /// can be erased when the rest of it, less than a page, is programmed.
    fn unblock(&mut self, flash: &mut Flash, lane: LaneId) {
        let work = self.media.work.lane_mut(lane);
        if !work.is_moving() && work.has_job() {
            self.program_all_gathered(flash, lane, true);
        }
    }

    /// One step of a lane: start jobs if there are none, read on, program what is gathered.
    pub(in crate::ftl) fn pump_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        self.media.work.emptied = false;
        self.media.space.allocator.forget_refusals(lane);
        self.deal_on(flash, lane);
        while self.media.work.lane_mut(lane).jobs[RECLAIM].is_some() || self.start_reclaim(flash, lane) {
            if !self.go_on(flash, lane, RECLAIM) {
                break;
            }
        }
        while self.media.work.lane_mut(lane).jobs[ROUTINE].is_some() || self.start_job(flash, lane) {
            if !self.go_on(flash, lane, ROUTINE) {
                break;
            }
        }
        self.media.space.ring.tell_whether_it_holds(&mut self.media.work, &self.page_classes, lane);
        self.program_all_gathered(flash, lane, false);
    }

    /// Begins the next job of a lane. This is the order of work: the first with something to do and room for it begins.
    /// Moves because of reads go before all of these.
    fn start_job(&mut self, flash: &Flash, lane: LaneId) -> bool {
        self.media.start_retirement(lane)
            || self.media.space.ring.is_used() && self.start_destage(lane)
            || self.media.locks.lists.has_hopeless(lane) && self.media.start_hopeless(lane)
            || self.start_cleaning(lane)
            || self.media.space.ring.is_used() && self.clean_for_ring(lane)
            || self.media.techniques.are_on() && self.media.start_offered(flash, lane)
    }

    /// Begins to clean a block, if the lane is to be cleaned or somebody lacks room there.
    #[inline(always)]
    fn start_cleaning(&mut self, lane: LaneId) -> bool {
        let work = &self.media.work.lanes[lane.index()];
        let lacks_room = work.candidates.lacks_room || self.media.locks.lists.is_crowded(lane);
        if !(work.wanted || lacks_room)
            || self.media.space.ring.coming(&self.media.work, lane) >= self.media.work.coming_at_most
        {
            return false;
        }
        self.media.update_wanted(lane);
        if !(self.media.work.lanes[lane.index()].wanted || lacks_room) {
            return false;
        }
        if self.start_victim(lane, |_, _| true)
            || self.media.space.ring.is_used() && self.destage_instead(lane)
        {
            return true;
        }
        // Nothing is worth it: a round of cleaning is over.
        if self.media.cleaning.trigger.ends_without_victims() && self.media.work.lane_mut(lane).coming == 0 {
            self.media.work.lane_mut(lane).wanted = false;
        }
        false
    }

    /// Goes on with a job as far as it can; returns whether that is finished, and another may begin.
    fn go_on(&mut self, flash: &mut Flash, lane: LaneId, which: usize) -> bool {
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let mut may_be_busy = true;
        self.media.reclaim.look_anew(&mut self.media.work, lane, which);
        loop {
            let waits = may_be_busy && self.media.work.is_busy(&self.media.tables.layout, lane, 0)
                || self.media.work.rests(&self.media.tables, &self.media.space.allocator, lane, which);
            let Media { work, tables, .. } = &mut self.media;
            let Some(job) = &mut work.lanes[lane.index()].jobs[which] else { return false };
            match job.step(tables, !waits, &mut units) {
                Step::Read { page, count } => {
                    may_be_busy = self.move_page(flash, lane, page, (&mut units, count));
                    continue;
                }
                Step::Ask => self.media.ask_for_more(flash, lane, which),
                Step::Replicate { place, to } => self.media.replicate(flash, lane, place, to),
                Step::Program { .. } => unreachable!("only deals say where their data goes"),
                Step::Wait => return false,
                Step::Done => return self.end_job(flash, lane, which),
            }
            may_be_busy = true;
        }
    }

    /// A job has read all that was to move: a block that it empties can be erased when that has arrived. Returns
    /// whether another may begin.
    fn end_job(&mut self, flash: &mut Flash, lane: LaneId, which: usize) -> bool {
        match self.media.work.lane_mut(lane).jobs[which].take() {
            Some(Job::Migrate(migration)) => self.end_migration(flash, lane, migration),
            Some(Job::Empty { walk: Walk { block, .. }, .. }) => {
                self.media.tables.blocks.set_state(block, BlockState::Draining);
                if self.media.tables.blocks.leaving(block) == 0 {
                    self.media.empty(flash, block);
                }
                true
            }
            None => false,
        }
    }

    /// Reads the live units of a page, or copies the page inside its plane. False if all of it is done.
    fn move_page(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        page: Ppn,
        (room, count): (&mut PageUnits, usize),
    ) -> bool {
        let units = &room[..count];
        let block = self.media.tables.layout.block_of_page(page).0;
        let cause = self.media.tables.blocks.cause(block);
        let mut op = self.media.space.op_of_move(
            &self.media.tables,
            &self.media.work,
            flash,
            (OpKind::Read, cause),
            page,
            lane,
        );
        self.media.work.counts.note_margin(&flash.chip, &op);
        self.media.reclaim.note_read(&self.media.tables, &mut self.media.work, flash, &op);
        let copies = self.media.techniques.copies() && !self.media.tables.blocks.is_one_bit(block);
        if copies && self.copy_back(flash, lane, cause, units[0]) {
            return true;
        }
        self.media.tables.blocks.leave(block, count as u32);
        if !self.media.issue_move(flash, lane, &mut op, units) {
            return true;
        }
        self.take_read(lane, (cause, page, op.outcome), units);
        !self.program_moved_for(flash, lane, cause, room)
    }

    /// Lets the lanes whose lists have grown look at them.
    pub fn look_at_candidates(&mut self, flash: &mut Flash) {
        while let Some(lane) = self.media.work.looks.take_next() {
            if !(self.media.locks.are_on() && self.lock_lane(flash, lane)) {
                self.pump_lane(flash, lane);
            }
        }
    }

    /// Somebody waits for locks and nothing goes on: whatever waits for room is tried again. Returns whether that
    /// helps.
    pub fn retry_locks(&mut self, flash: &mut Flash) -> bool {
        self.media.locks.hurry_deferred(&self.media.tables, &mut self.media.work);
        (0..self.media.tables.layout.blocks())
            .map(BlockId)
            .for_each(|block| self.media.locks.list_all(&self.media.tables, &mut self.media.work, block));
        for lane in (0..self.media.tables.layout.lanes).map(LaneId) {
            self.media.locks.lists.uncrowd(&self.media.tables, &mut self.media.work, lane);
            self.check_lane(flash, lane);
            self.program_all_gathered(flash, lane, true);
        }
        self.look_at_candidates(flash);
        !self.media.outbox.is_empty()
    }
}

impl Media {
    /// How fast the host is from now on, where no time passes.
    pub fn set_pace(&mut self, pace: Pace) {
        self.work.catches_up = false;
        let changed = std::mem::replace(&mut self.work.pace, pace) != pace;
        for lane in (0..self.tables.layout.lanes).map(LaneId).filter(|_| changed) {
            // Not yet cleaned: that is for the executor that goes on.
            self.update_wanted(lane);
        }
    }

    /// Begins to empty a block that failed a program.
    fn start_retirement(&mut self, lane: LaneId) -> bool {
        let Some(&block) = self.work.lanes[lane.index()].retire.front() else { return false };
        if self.tables.blocks.programming(block) > 0
            || !self.work.fits(&self.tables, &self.space.allocator, lane, block, Cause::BadBlock)
            || self.locks.manner.erases_bad()
                && self.space.ring.coming(&self.work, lane) >= self.work.coming_at_most
        {
            return false;
        }
        self.work.lane_mut(lane).retire.pop_front();
        self.begin(lane, block, Cause::BadBlock)
    }

    /// Begins to empty a block that a technique offers: the first that may be emptied now, and for which there is room.
    #[cold]
    fn start_offered(&mut self, flash: &Flash, lane: LaneId) -> bool {
        let mut from = 0;
        loop {
            let seen = Seen { tables: &self.tables, chip: &flash.chip };
            let Some((offer, by, cause)) = self.techniques.choose(from, lane, &seen) else { return false };
            let block = offer.block;
            if !self.can_start(lane, offer, cause) {
                self.techniques.declined(by, lane);
                from = by as u32 + 1;
                continue;
            }
            if self.tables.blocks.state(block) == BlockState::Open {
                let Media { space, tables, .. } = self;
                space.allocator.abandon(lane, block, &mut tables.blocks, tables.clock);
                tables.replicas.close_off(&tables.layout, block);
            }
            let begun = self.begin(lane, block, cause);
            self.techniques.taken(by, lane, block, &Seen { tables: &self.tables, chip: &flash.chip });
            return begun;
        }
    }

    /// Whether the block that a technique offers may be emptied now, and there is room.
    fn can_start(&mut self, lane: LaneId, offer: Offer, cause: Cause) -> bool {
        let Offer { block, closes, waits } = offer;
        let can = self.tables.blocks.programming(block) == 0
            && !self.tables.blocks.is_failing(block)
            && (!waits || self.space.ring.coming(&self.work, lane) < self.work.coming_at_most)
            && self.work.fits(&self.tables, &self.space.allocator, lane, block, cause);
        can && match self.tables.blocks.state(block) {
            BlockState::Open => closes && self.work.may_abandon(&self.space.allocator, lane, block),
            state => state == BlockState::Closed,
        }
    }

    /// What is read away from a block next, or leaves it altogether, is the read-reclaim policy's to say.
    fn ask_for_more(&mut self, flash: &mut Flash, lane: LaneId, which: usize) {
        if let Some(Job::Empty { walk, .. }) = self.work.lane_mut(lane).jobs[which] {
            let next = self.reclaim.choose_wordline(&self.tables, flash, &walk);
            let walk = next.unwrap_or(walk);
            self.work.lane_mut(lane).jobs[which] = Some(Job::Empty { walk, in_parts: next.is_some() });
        } else {
            self.migrate_on(flash, lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::ftl::stream::{Member, Moved, StreamId, Streams, Written};
    use crate::{Drive, ExternalPolicies};

    /// Moves in so many streams.
    #[derive(Clone, Debug)]
    struct Apart(u8);

    impl Member for Apart {
        fn streams(&self) -> Streams {
            Streams::of(1 + self.0, 1, ((1 << self.0) - 1) << 1)
        }

        fn of_write(&mut self, _: Written) -> StreamId {
            StreamId(0)
        }

        fn of_move(&mut self, moved: Moved) -> StreamId {
            StreamId(1 + (moved.lpn.0 % u32::from(self.0)) as u8)
        }
    }

    /// A lane is sure of its reserve, here of a block of eight pages of four units; streams of moves waste none of it:
    /// what they would leave empty others fill.
    #[test]
    fn streams_of_moves_waste_no_room() {
        for streams in [1, 2, 4] {
            let mut cfg = DriveConfig::default();
            let g = &mut cfg.geometry;
            (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
            (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (32, 8, 1);
            cfg.drive.over_provisioning_percent = 150.0;
            let drive = Drive::with_policies(&cfg, ExternalPolicies::trusted_stream(Apart(streams))).unwrap();
            let ftl = &drive.state.ftl;
            let has_room = |units| {
                ftl.moves.media.work.has_room(
                    &ftl.moves.media.tables,
                    &ftl.moves.media.space.allocator,
                    LaneId(0),
                    units,
                    Cause::Cleaning,
                )
            };
            assert!(has_room(32) && !has_room(33), "{streams} streams");
        }
    }
}
