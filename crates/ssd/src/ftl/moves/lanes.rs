//! Moving live data out of blocks: for cleaning, for wear levelling, because of reads, out of blocks that fail.
//!
//! Jobs of a lane are done in steps: a few pages of the block are read, their live units gathered and programmed
//! elsewhere, and every completion starts the next step, so that host operations run between them. A block is erased
//! only when every unit read from it is programmed and mapped at its new place. A lane has at most two jobs at a time:
//! one of routine, and one because of reads, which goes first (see `reclaim`).

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::reclaim::margins;
use crate::ftl::stream::Victim;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::{Offer, Seen, is_replica};
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::{RECLAIM, ROUTINE};
use crate::ftl::work::walk::{PageUnits, Step, Walk};
use crate::ftl::{Media, Moves};
use crate::nand::Outcome;
use crate::units::{BlockId, LaneId, OpId, Ppn, Pun};

impl Moves {
    /// Looks whether a lane should be cleaned, and starts or continues.
    pub(in crate::ftl) fn check_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        if self.media.space.ring.is_used() {
            let Media { space, tables, work, waits, cleaning, .. } = &mut self.media;
            cleaning.tend_ring(space, (tables, work), waits, lane);
        }
        self.media.update_wanted(lane);
        self.pump_lane(flash, lane);
    }

    /// One step of a lane: start jobs if there are none, read on, program what is gathered. A technique's own job goes
    /// before one because of reads, and that before routine. Where pages are locked, [`crate::ftl::Ftl`] has the locks
    /// of a lane done before this when it looks at lanes anew.
    pub(in crate::ftl) fn pump_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        self.media.work.emptied = false;
        self.media.space.allocator.forget_refusals(lane);
        if self.media.work.lane_mut(lane).has_own {
            self.go_on_own(flash, lane);
        }
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
        self.program_all_gathered(flash, lane, self.media.locks.bound.is_pressed(lane));
    }

    /// Begins the next job of a lane. This is the order of work: the first with something to do and room for it begins.
    /// Moves because of reads go before all of these.
    fn start_job(&mut self, flash: &Flash, lane: LaneId) -> bool {
        if self.media.locks.holds_moves(&self.media.work, flash, lane, true) {
            return false;
        }
        self.start_retirement(lane)
            || self.media.space.ring.is_used() && self.start_destage(flash, lane)
            || self.media.locks.lists.has_unlockable(lane) && self.start_unlockable(lane)
            || self.start_cleaning(flash, lane)
            || self.media.space.ring.is_used() && self.clean_for_ring(lane)
            || self.media.techniques.are_on() && self.start_offered(flash, lane)
    }

    /// Begins to empty a block that failed a program.
    fn start_retirement(&mut self, lane: LaneId) -> bool {
        let Media { tables, work, space, locks, .. } = &mut self.media;
        let Some(&block) = work.lanes[lane.index()].retire.front() else { return false };
        if tables.blocks.programming(block) > 0
            || locks.manner.erases_bad() && work.lanes[lane.index()].coming_free() >= work.coming_at_most
        {
            return false;
        }
        // A block that failed is counted as coming where it is erased once more; it is never free.
        let may_come = !locks.manner.erases_bad();
        if !space.may_retire(tables, work, lane, (block, may_come)) {
            return false;
        }
        work.lane_mut(lane).retire.pop_front();
        self.media.begin(lane, block, Cause::BadBlock)
    }

    /// Begins to destage a block, if one should leave, cleaning has not its turn and there is room.
    pub(in crate::ftl) fn start_destage(&mut self, flash: &Flash, lane: LaneId) -> bool {
        if !self.media.work.lanes[lane.index()].leaving_cache.is_empty() {
            let Media { tables, work, space, reclaim, .. } = &mut self.media;
            if let Some(block) = reclaim.begin_to_leave_cache((tables, work, space), flash, lane) {
                return self.media.destage(lane, block);
            }
        }
        let Media { work, space, .. } = &self.media;
        let cleans_first = work.lanes[lane.index()].wanted && space.ring.lane(lane).had_turn;
        !cleans_first
            && space.ring.wants_destage(work, &self.page_classes, lane)
            && space.allocator.free(lane) > work.reserve
            && self.destage_next(lane)
    }

    fn destage_next(&mut self, lane: LaneId) -> bool {
        let Media { tables, work, space, .. } = &mut self.media;
        let next = space.ring.next_to_leave(lane, &tables.layout, &tables.blocks);
        let Some(block) =
            next.filter(|&block| space.allocator.fits(tables, work, lane, block, Cause::Destage))
        else {
            return false;
        };
        work.lanes[lane.index()].coming_free() < work.coming_at_most && self.media.destage(lane, block)
    }

    /// Begins to clean a block, if the lane is to be cleaned or somebody lacks room there.
    #[inline(always)]
    fn start_cleaning(&mut self, flash: &Flash, lane: LaneId) -> bool {
        let Media { work, tables, locks, space, .. } = &self.media;
        let is_at_rest = || work.pace == Pace::Saturated && !space.allocator.is_at_reserve(work, lane);
        if space.allocator.is_bounded() && is_at_rest() && !work.lanes[lane.index()].short {
            // A block that is begun is emptied; another is only if somebody lacks it.
            return false;
        }
        let work = &work.lanes[lane.index()];
        let retires = work.retire.front().is_some_and(|&block| tables.blocks.programming(block) == 0);
        let leaves = || work.leaving_cache.iter().any(|&block| tables.blocks.may_leave_cache(block));
        let occupied = || locks.lists.is_occupied(lane);
        let lacks_room = work.candidates.lacks_room || retires || work.short || occupied() || leaves();
        if !(work.wanted || lacks_room)
            || self.media.work.lanes[lane.index()].coming_free() >= self.media.work.coming_at_most
        {
            return false;
        }
        self.media.update_wanted(lane);
        if !(self.media.work.lanes[lane.index()].wanted || lacks_room) {
            return false;
        }
        if self.start_victim(lane, |_, _| true)
            || self.media.space.ring.is_used() && self.destage_instead(flash, lane)
        {
            return true;
        }
        // Nothing is worth it: a round of cleaning is over.
        if self.media.cleaning.trigger.ends_without_victims() && self.media.work.lane_mut(lane).coming == 0 {
            self.media.work.lane_mut(lane).wanted = false;
        }
        false
    }

    /// Begins to clean the block that is chosen, if one is and it is worth it.
    pub(super) fn start_victim(
        &mut self,
        lane: LaneId,
        is_worth_it: impl Fn(&Tables, BlockId) -> bool,
    ) -> bool {
        let Moves { media, separation, .. } = self;
        let Media { cleaning, tables, space, work, .. } = media;
        let chosen = cleaning.choose(separation, (tables, space, work), lane);
        let worth_it = chosen.filter(|&block| is_worth_it(tables, block));
        worth_it.is_some_and(|block| self.start_with(lane, block))
    }

    /// Begins to clean a block.
    pub(in crate::ftl) fn start_with(&mut self, lane: LaneId, block: BlockId) -> bool {
        let Moves { media, separation, .. } = self;
        let Media { tables, space, work, .. } = media;
        let stream = space.allocator.streams().of_policy(tables.blocks.stream(block));
        let (live, units) = (tables.blocks.live(block), tables.layout.data_units_per_block());
        let clock = tables.clock;
        if space.ring.is_used() {
            space.ring.lane_mut(lane).had_turn = false;
        }
        work.counts.note_victim(usize::from(separation.policy.class(stream)), live, units);
        let (opened, filled) = (tables.blocks.opened_at(block), clock - tables.blocks.age(block, clock));
        separation.policy.on_victim(Victim { stream, lane, opened, filled, clock, live, units });
        self.media.begin(lane, block, Cause::Cleaning)
    }

    /// Cleaning has found nothing to do: then it is not its turn, and where it is out of room the ring makes some.
    /// Returns whether a job was begun.
    pub(in crate::ftl) fn destage_instead(&mut self, flash: &Flash, lane: LaneId) -> bool {
        self.media.space.ring.lane_mut(lane).had_turn = false;
        if self.start_destage(flash, lane) {
            return true;
        }
        let Media { tables, work, space, waits, .. } = &mut self.media;
        let coming = work.lanes[lane.index()].coming;
        if space.allocator.free(lane) + coming > work.reserve || space.ring.lane(lane).owned == 0 {
            return false;
        }
        if space.take_from_ring(tables, waits, lane) {
            return false;
        }
        space.ring.lane_mut(lane).gives_room = true;
        work.lanes[lane.index()].destaging == 0 && self.destage_next(lane)
    }

    /// Begins to clean a block for the cache, if that has fewer than it should: one that frees more than it then holds.
    pub(in crate::ftl) fn clean_for_ring(&mut self, lane: LaneId) -> bool {
        let (ring, coming) = (self.media.space.ring.lane(lane), self.media.work.lanes[lane.index()].coming);
        let lacks = u64::from(ring.owned + coming) * 101 < u64::from(ring.target) * 100;
        if !lacks || self.media.work.lanes[lane.index()].coming_free() >= self.media.work.coming_at_most {
            return false;
        }
        self.start_victim(lane, |tables, block| {
            let frees = tables.layout.data_units_per_block() - tables.blocks.live(block);
            frees > tables.layout.one_bit_units_per_block()
        })
    }

    /// Begins to empty a block that a technique offers: the first that may be emptied now, and for which there is room.
    #[cold]
    fn start_offered(&mut self, flash: &Flash, lane: LaneId) -> bool {
        let mut from = 0;
        loop {
            let seen = Seen { tables: &self.media.tables, chip: &flash.chip };
            let Some((offer, by, cause)) = self.media.techniques.choose(from, lane, &seen) else {
                return false;
            };
            let block = offer.block;
            if !self.can_start(lane, offer, cause) {
                self.media.techniques.declined(by, lane);
                from = by as u32 + 1;
                continue;
            }
            if self.media.tables.blocks.state(block) == BlockState::Open {
                self.media.space.close_early(&mut self.media.tables, block);
            }
            let begun = self.media.begin(lane, block, cause);
            self.media.techniques.taken(
                by,
                lane,
                block,
                &Seen { tables: &self.media.tables, chip: &flash.chip },
            );
            return begun;
        }
    }

    /// Whether the block that a technique offers may be emptied now, and there is room.
    fn can_start(&mut self, lane: LaneId, offer: Offer, cause: Cause) -> bool {
        let Media { space, tables, work, .. } = &mut self.media;
        let Offer { block, closes, waits } = offer;
        let can = tables.blocks.programming(block) == 0
            && !tables.blocks.is_failing(block)
            && (!waits || work.lanes[lane.index()].coming_free() < work.coming_at_most)
            && space.allocator.fits(tables, work, lane, block, cause);
        can && match tables.blocks.state(block) {
            BlockState::Open => {
                closes && (tables.blocks.is_one_bit(block) || space.allocator.may_abandon(work, lane, block))
            }
            state => state == BlockState::Closed,
        }
    }

    /// Goes on with a job as far as it can; returns whether that is finished, and another may begin.
    fn go_on(&mut self, flash: &mut Flash, lane: LaneId, which: usize) -> bool {
        let mut may_be_busy = true;
        self.media.reclaim.look_anew(&mut self.media.work, lane, which);
        loop {
            let waits = self.media.locks.holds_moves(&self.media.work, flash, lane, false)
                || may_be_busy && self.media.work.must_wait(&self.media.tables, lane, which)
                || self.media.space.allocator.rests(&self.media.tables, &self.media.work, lane, which);
            let Media { work, tables, .. } = &mut self.media;
            let Some(job) = &mut work.lanes[lane.index()].jobs[which] else { return false };
            if waits && job.rests_while_it_waits() {
                return false;
            }
            let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
            match job.step(tables, !waits, &mut units) {
                Step::Read { page, count } => {
                    may_be_busy = self.move_page(flash, lane, page, (&mut units, count));
                    continue;
                }
                Step::Ask => self.ask_for_more(flash, lane, which),
                Step::Replicate { place, to } => self.media.replicate(flash, lane, place, to),
                Step::Wait => return false,
                Step::Done => return self.end_job(flash, lane, which),
            }
            may_be_busy = true;
        }
    }

    /// What is read away from a block next, or leaves it altogether, is the read-reclaim policy's to say.
    fn ask_for_more(&mut self, flash: &mut Flash, lane: LaneId, which: usize) {
        if let Some(Job::Empty { walk, .. }) = self.media.work.lane_mut(lane).jobs[which] {
            let next = self.media.reclaim.choose_wordline(&self.media.tables, flash, &walk);
            let walk = next.unwrap_or(walk);
            self.media.work.lane_mut(lane).jobs[which] = Some(Job::Empty { walk, in_parts: next.is_some() });
        } else {
            self.migrate_on(flash, lane);
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
        let locks = &self.media.locks;
        if locks.are_on() && locks.exposed.is_left(&locks.manner, page) {
            // It is on its way already. Read twice, one of its copies would be dead on arrival, beside the other one:
            // that would have to leave next, for its lock, and so on without end.
            return false;
        }
        let block = self.media.tables.layout.block_of_page(page).0;
        let cause = self.media.tables.blocks.cause(block);
        let mut op = self.media.space.read_of_move(
            &self.media.tables,
            &self.media.work,
            flash,
            (cause, Pun(room[0].source)),
            lane,
        );
        margins::note(&mut self.media.work.counts, &flash.chip, &op);
        self.media.reclaim.note_read(&self.media.tables, &mut self.media.work, flash, &op);
        // A copy inside its plane takes its errors along: for a policy that sees them it would have to move again, and
        // so on without end.
        let copies = self.media.techniques.copies()
            && !(cause == Cause::ReadReclaim && self.media.reclaim.policy.sees_chips());
        if copies && self.copy_back(flash, lane, (block, &op), &mut room[..count]) {
            return true;
        }
        let units = &room[..count];
        self.media.tables.blocks.leave(block, count as u32);
        if !self.media.issue_move(flash, lane, &mut op, units) {
            return true;
        }
        self.take_read(lane, (cause, page, op.outcome), units);
        !self.program_moved_for(flash, lane, cause, room)
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

    /// Told that an operation is done that is not the host's.
    pub(in crate::ftl) fn on_own_done(&mut self, flash: &mut Flash, id: OpId) {
        let op = *flash.pool.get(id);
        match (op.kind, op.cause) {
            (OpKind::Read, _) if op.is_look() => self.media.on_first_page(flash, id, &op),
            (OpKind::Erase, _) => self.on_erased(flash, id, &op),
            (OpKind::Read, cause) if is_replica(cause) => self.on_replica_read(flash, id, &op),
            (_, cause) if is_replica(cause) => self.on_replica_programmed(flash, id, &op),
            (OpKind::Read, _) => self.on_move_read(flash, id, &op),
            (OpKind::Program | OpKind::Copyback, _) => self.on_move_programmed(flash, id, &op),
            _ => self.media.on_locked(flash, id, &op),
        }
    }

    /// Units of a moving block are in the controller.
    pub(in crate::ftl) fn on_move_read(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        let block = self.media.tables.layout.block_of_page(op.ppn).0;
        let has_own = op.cause != Cause::Sanitize && self.media.work.lane_mut(lane).has_own;
        if has_own && self.media.techniques.reads(lane, block) {
            return self.on_own_read(flash, id, op, lane);
        }
        let emptied = self.take_read(lane, (op.cause, op.ppn, op.outcome), flash.pool.units(id));
        flash.pool.remove(id);
        self.media.work.lane_mut(lane).reads -= 1;
        if emptied {
            self.media.all_arrived(flash, block);
        }
        self.pump_lane(flash, lane);
    }

    /// A program of moved units is over.
    pub(in crate::ftl) fn on_move_programmed(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let lane = LaneId(op.tag);
        let (units, count) = flash.pool.take(id);
        if self.media.locks.are_on() {
            let Media { locks, tables, work, .. } = &mut self.media;
            locks.end_copies(tables, work, (op.ppn, &units[..count]));
        }
        self.place_all(flash, lane, op, &units[..count]);
        self.media.work.lane_mut(lane).programs -= 1;
        self.media
            .after_program(self.media.tables.layout.block_of_page(op.ppn).0, op.outcome == Outcome::Fail);
        if self.media.locks.are_on()
            && self.media.locks.lists.next_occupied(&self.media.tables, &self.media.work, lane).is_some()
        {
            // What must leave pages is asked before others take the lane's operations; both are, one after the other,
            // once what was issued before is read from where it then was. Until then the host need not wait for moves.
            self.media.space.allocator.forget_refusals(lane);
            self.media.work.looks.soon(lane);
        } else {
            self.pump_lane(flash, lane);
        }
    }

    /// One member of a block is erased; with the last, the block is free or retired.
    pub(in crate::ftl) fn on_erased(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = BlockId(op.tag);
        if self.media.erased(flash, block, op) {
            self.media.work.note_erased();
            self.check_lane(flash, self.media.tables.layout.lane_of(block));
        }
    }

    /// A page to be replicated is in the controller.
    pub(in crate::ftl) fn on_replica_read(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let (units, count) = flash.pool.take(id);
        let lane = self.media.tables.layout.lane_of(self.media.tables.layout.block_of_page(op.ppn).0);
        self.media.work.lane_mut(lane).reads -= 1;
        self.media.replica_read(flash, lane, op, &units[..count]);
        self.pump_lane(flash, lane);
    }

    /// A replica is at its place.
    pub(in crate::ftl) fn on_replica_programmed(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        let (units, count) = flash.pool.take(id);
        let lane = LaneId(op.tag);
        if self.media.locks.are_on() {
            self.media.locks.copying.end(op.ppn);
        }
        self.media.work.lane_mut(lane).programs -= 1;
        self.media.replica_programmed(flash, op, &units[..count]);
        self.pump_lane(flash, lane);
        let other = self.media.tables.layout.lane_of(self.media.tables.layout.block_of_page(op.ppn).0);
        if other != lane {
            // What reads want of the block waited for this program.
            self.pump_lane(flash, other);
        }
    }

    /// A read for a technique's own job is over.
    #[inline(never)]
    fn on_own_read(&mut self, flash: &mut Flash, id: OpId, op: &Op, lane: LaneId) {
        let (units, count) = flash.pool.take(id);
        self.media.take_own(lane, op, &units[..count]);
        self.media.work.lane_mut(lane).reads -= 1;
        self.pump_lane(flash, lane);
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
                let Media { space, tables, work, .. } = &ftl.moves.media;
                space.allocator.has_room(tables, work, LaneId(0), units, Cause::Cleaning)
            };
            assert!(has_room(32) && !has_room(33), "{streams} streams");
        }
    }
}
