//! What goes before routine. Because of reads: the blocks on a lane's list are looked at, and a block moves as a whole,
//! is spread, or parts of it leave one after the other, and it stays. For locks: what lives in a page that is to be
//! locked moves out first, or its wordline is filled up; blocks in which no lock holds are emptied.

use crate::flash::op::{Cause, OpKind, UNITS_AT_MOST, UnitRef};
use crate::flash::{Flash, PROGRAM_MODES};
use crate::ftl::locks::issue as locks;
use crate::ftl::locks::lists::MOVES_FOR_LOCKS;
use crate::ftl::read_reclaim::{Destination, Part, Want};
use crate::ftl::reclaim::Looked;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::{OwnStep, Reach, Spread, TakenUp, Wish};
use crate::ftl::work::COMING_BY_READS;
use crate::ftl::work::candidates::{Candidate, NOW};
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::RECLAIM;
use crate::ftl::work::migration::Migration;
use crate::ftl::work::walk::{Pages, Walk};
use crate::ftl::write::placement::Space;
use crate::ftl::write::waits::Lack;
use crate::ftl::{Media, Moves};
use crate::units::{BlockId, LaneId, NONE, Ppn, Pun};

impl Moves {
    /// Starts the next job that is due to reads.
    #[inline]
    pub(in crate::ftl) fn start_reclaim(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        self.media.reclaim.is_active()
            && self.media.work.lane_mut(lane).candidates.some()
            && !self.media.work.lane_mut(lane).has_own
            && {
                self.media.reclaim.begin_look(&mut self.media.work, lane);
                self.next_candidate(flash, lane, 0)
            }
    }

    /// Looks at the blocks of a lane's list after those that were passed over, until a job is started.
    pub(in crate::ftl) fn next_candidate(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        mut passed: usize,
    ) -> bool {
        loop {
            // A claim that came to nothing: the host may have the block, if nothing is on its way that counts on it.
            let Media { locks, work, tables, space, waits, .. } = &mut self.media;
            let counts_on_it =
                work.is_retiring(&tables.blocks, lane) || locks.are_on() && work.lane_mut(lane).is_moving();
            if !counts_on_it
                && space.unclaim(tables, work, lane, self.page_classes.sorts() && !locks.are_on())
            {
                waits.come(Lack::Page);
            }
            let idle = self.media.work.quiet;
            let Some((list, bit)) = self.media.work.lane_mut(lane).candidates.list(idle) else {
                self.media.reclaim.need_no_room(&mut self.media.work, lane);
                return false;
            };
            if passed >= list.len() {
                return false;
            }
            let candidate = list[0];
            self.media.work.lane_mut(lane).due = bit == NOW;
            match self.look_at(flash, lane, candidate, passed) {
                Looked::Over => {}
                Looked::Started => return true,
                // What is spread keeps its turn.
                Looked::Waits if self.media.reclaim.spreads() => return false,
                Looked::Waits => {
                    passed += 1;
                    if let Some((list, _)) = self.media.work.lane_mut(lane).candidates.list(idle) {
                        list.rotate_left(1);
                    }
                }
            }
        }
    }

    /// Looks at the block that is first on its lane's list.
    pub(in crate::ftl) fn look_at(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        candidate: Candidate,
        passed: usize,
    ) -> Looked {
        let Media { tables, work, space, reclaim, .. } = &mut self.media;
        let block = candidate.block;
        let state = tables.blocks.state(block);
        if state == BlockState::Migrating {
            return Looked::Waits;
        }
        if !matches!(state, BlockState::Open | BlockState::Closed) || tables.blocks.is_failing(block) {
            return reclaim.drop_candidate(tables, work, lane, candidate);
        }
        if state == BlockState::Closed && tables.blocks.programming(block) > 0 {
            return Looked::Waits;
        }
        let Some(want) = reclaim.ask(tables, flash, candidate, None) else {
            return reclaim.drop_candidate(tables, work, lane, candidate);
        };
        if state == BlockState::Open {
            if !space.allocator.may_abandon(work, lane, block) {
                return Looked::Waits;
            }
            // Closed, it is asked about again: what was yet to be written need not leave it.
            space.allocator.abandon(lane, block, &mut tables.blocks, tables.clock);
            tables.replicas.close_off(&tables.layout, block);
            return self.look_at(flash, lane, candidate, passed);
        }
        if want == Want::BLOCK {
            return self.begin_whole(flash, lane, candidate);
        }
        if let Destination::Fresh { mode, paired } = want.to {
            let forced = !self.media.work.lane_mut(lane).candidates.now.is_empty();
            return match self.carry_out(flash, lane, &Wish { candidate, mode, paired, forced }) {
                TakenUp::Later => Looked::Waits,
                TakenUp::Now(_) if self.media.work.lane_mut(lane).has_own => Looked::Waits,
                TakenUp::Now(_) => Looked::Over,
                TakenUp::NoBlocks => self.begin_whole(flash, lane, candidate),
            };
        }
        let Media { space, tables, work, .. } = &mut self.media;
        let pages = want.part.pages(&tables.wordlines);
        if want.to == Destination::Moves && !space.has_room_for(tables, work, lane, (block, pages)) {
            return Looked::Waits;
        }
        let Media { tables, work, reclaim, .. } = &mut self.media;
        reclaim.drop_candidate(tables, work, lane, candidate);
        tables.blocks.start_moving(block, Cause::ReadReclaim);
        reclaim.begin_service(flash, block, None);
        let mut migration = Migration::of(candidate, passed);
        self.take_up(lane, &mut migration, want, true);
        self.media.work.lane_mut(lane).jobs[RECLAIM] = Some(Job::Migrate(migration));
        Looked::Started
    }

    /// Begins moving a whole block to where cleaning's data goes, if there is room.
    pub(in crate::ftl) fn begin_whole(
        &mut self,
        flash: &Flash,
        lane: LaneId,
        candidate: Candidate,
    ) -> Looked {
        let Media { tables, work, space, reclaim, .. } = &mut self.media;
        let room = space.allocator.fits(tables, work, lane, candidate.block, Cause::ReadReclaim);
        let spreads = reclaim.spreads();
        let here = work.lane_mut(lane);
        here.candidates.lacks_room = !room || (here.candidates.lacks_room && !spreads);
        if !room || here.coming >= work.coming_at_most + COMING_BY_READS {
            return Looked::Waits;
        }
        work.counts.reclaims += 1;
        reclaim.drop_candidate(tables, work, lane, candidate);
        reclaim.begin_service(flash, candidate.block, None);
        self.media.begin(lane, candidate.block, Cause::ReadReclaim);
        Looked::Started
    }

    /// Takes up what the policy wants of a block that stays; for the `first` that there is room is known.
    pub(in crate::ftl) fn take_up(
        &mut self,
        lane: LaneId,
        migration: &mut Migration,
        want: Want,
        first: bool,
    ) {
        let candidate = migration.candidate;
        let (types, wordline, range) = match (want.part, want.to) {
            (Part::Wordline(wordline), Destination::Moves) => {
                (u8::MAX, wordline, self.media.tables.wordlines.range(wordline))
            }
            (Part::Types(types), Destination::Moves) => (types, NONE, (0, self.media.tables.order.pages())),
            (Part::Page(place), Destination::Replica(to)) => return migration.make(want, place, to),
            (Part::Replicas, Destination::Here) => {
                self.media.adopt_all(candidate);
                return migration.has_done(want);
            }
            (Part::Block, Destination::Moves | Destination::Fresh { .. }) => {
                return self.media.reclaim.look_later(
                    &self.media.tables,
                    &mut self.media.work,
                    lane,
                    migration,
                );
            }
            _ => unreachable!("ftl.read_reclaim wants {want:?}"),
        };
        // What was read meanwhile may have brought wordlines to their limits that were passed before.
        let place = candidate.place(&self.media.tables.layout);
        let asked_again = self.media.work.lane_mut(lane).candidates.listed[place] & NOW != 0;
        let Media { space, tables, work, .. } = &mut self.media;
        let part = (candidate.block, want.part.pages(&tables.wordlines));
        if !first && (asked_again || !space.has_room_for(tables, work, lane, part)) {
            return self.media.reclaim.look_later(&self.media.tables, &mut self.media.work, lane, migration);
        }
        let pages = Pages { member: candidate.member, types, wordline };
        migration.go_on(want, Walk::of(&self.media.tables, candidate.block, pages, range));
    }

    /// Asks the policy what is to be done with a block next that stays, and prepares it.
    pub(in crate::ftl) fn migrate_on(&mut self, flash: &mut Flash, lane: LaneId) {
        self.media.reclaim.look_anew(&mut self.media.work, lane, RECLAIM);
        let Some(&mut found) = self.media.work.lane_mut(lane).migration() else { return };
        let mut migration = found;
        match self.media.reclaim.ask(&self.media.tables, flash, migration.candidate, migration.left) {
            None => migration.end(),
            Some(want) => self.take_up(lane, &mut migration, want, false),
        }
        self.media.work.lane_mut(lane).jobs[RECLAIM] = Some(Job::Migrate(migration));
    }

    /// Nothing more must leave a block; what was read from it is on its way. The look at the list goes on; returns
    /// whether another job was started.
    pub(in crate::ftl) fn end_migration(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        migration: Migration,
    ) -> bool {
        let block = migration.candidate.block;
        self.media.tables.blocks.set_state(block, BlockState::Migrating);
        if self.media.tables.blocks.leaving(block) == 0 {
            self.media.migrated(flash, block);
        }
        self.next_candidate(flash, lane, migration.passed.unwrap_or(0))
    }

    /// Begins what a policy wishes, if a technique takes that up and there is room.
    #[cold]
    pub(in crate::ftl) fn carry_out(&mut self, flash: &mut Flash, lane: LaneId, wish: &Wish) -> TakenUp {
        let to_spare = self.media.space.allocator.free(lane).saturating_sub(self.media.work.reserve);
        let Media { techniques, tables, work, reclaim, .. } = &mut self.media;
        let reach = Reach { tables, work, policy: &mut reclaim.policy };
        let found = techniques.take_up(lane, wish, to_spare, reach);
        if let TakenUp::Now(spread) = found {
            self.media.reclaim.drop_candidate(&self.media.tables, &mut self.media.work, lane, wish.candidate);
            self.begin_own(flash, lane, spread);
        }
        found
    }

    fn begin_own(&mut self, flash: &mut Flash, lane: LaneId, spread: Spread) {
        let Spread { sources, blocks, mode } = spread;
        self.media.work.counts.reclaims += 1;
        let work = self.media.work.lane_mut(lane);
        (work.candidates.lacks_room, work.has_own) = (false, true);
        for (at, block) in sources.into_iter().enumerate().filter(|(_, block)| block.is_some()) {
            self.media.tables.blocks.start_moving(block, Cause::ReadReclaim);
            self.media.reclaim.begin_service(
                flash,
                block,
                Some(sources[1 - at]).filter(|other| other.is_some()),
            );
            self.media.work.lane_mut(lane).coming += 1;
        }
        (0..blocks).for_each(|_| self.media.open_own(lane, mode));
        self.media.update_wanted(lane);
        self.go_on_own(flash, lane);
    }

    /// Goes on with a lane's job of a technique's own: programs what is there, reads what is next, and ends it when
    /// nothing is left.
    #[inline(never)]
    pub(in crate::ftl) fn go_on_own(&mut self, flash: &mut Flash, lane: LaneId) {
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        while self.media.work.lane_mut(lane).has_own {
            let at_most = self.media.work.in_flight_at_most;
            let work = &self.media.work.lanes[lane.index()];
            let may_read = flash.is_instant() || work.reads + work.programs < at_most;
            match self.media.techniques.step(lane, &self.media.tables, (may_read, at_most), &mut units) {
                OwnStep::Read { page, count, is_first } => {
                    self.media.read_own(flash, lane, (page, is_first), &units[..count]);
                }
                OwnStep::Program { page, count, fills } => {
                    self.program_own(flash, lane, (page, fills), &mut units[..count]);
                }
                OwnStep::Gather { count } => {
                    for &unit in &units[..count] {
                        let unit = self.in_stream_of_move(Cause::ReadReclaim, unit);
                        self.media.work.gather(&self.page_classes, lane, unit);
                    }
                }
                OwnStep::Open { mode } => self.media.open_own(lane, mode),
                OwnStep::Wait => return,
                OwnStep::Done => self.media.end_own(flash, lane),
            }
        }
    }

    fn program_own(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        (page, fills): (Ppn, bool),
        units: &mut [UnitRef],
    ) {
        let Media { space, tables, work, .. } = &mut self.media;
        let block = tables.layout.block_of_page(page).0;
        if fills {
            tables.blocks.close(block, tables.clock);
        }
        let mut op = space.program_of_move(tables, work, flash, (Cause::ReadReclaim, block, page), lane);
        if self.media.work.lazy {
            self.media.erase_if_stale(flash, page);
        }
        self.media.work.note_padding(&self.media.tables.layout, Cause::ReadReclaim, units.len());
        self.media.work.counts.dealt_pages[usize::from(op.mode).min(PROGRAM_MODES - 1)] += 1;
        self.program_moved(flash, lane, &mut op, units);
    }

    /// Begins to empty the next block whose locks fail; one that is being filled is closed.
    #[cold]
    pub(in crate::ftl) fn start_unlockable(&mut self, lane: LaneId) -> bool {
        if self.media.work.lanes[lane.index()].coming_free() >= self.media.work.coming_at_most {
            return false;
        }
        for _ in 0..self.media.locks.lists.count_unlockable(lane) {
            let Some(block) = self.media.locks.lists.next_unlockable(lane) else { return false };
            let Media { tables, work, space, locks, .. } = &mut self.media;
            if !locks.exposed.is_unlockable(&tables.layout, block)
                || tables.blocks.state(block) == BlockState::Bad
            {
                continue;
            }
            if tables.blocks.state(block) == BlockState::Open {
                if !space.may_close_early(tables, work, lane, block) {
                    // What is cleaned fills it, or makes room.
                    locks.lists.put_off_unlockable(lane, block, true);
                    continue;
                }
                space.close_early(tables, block);
            }
            if tables.blocks.is_stale(block) && space.take_from_free(lane, block) {
                // Whoever waits for what is exposed there may be who would have opened it.
                tables.blocks.wait_no_more(block);
            }
            let is_still = tables.blocks.state(block) == BlockState::Closed
                && tables.blocks.programming(block) == 0
                && !tables.blocks.is_failing(block);
            // With replicas that have become pages more may live there than moves are always sure of.
            let (live, sure) =
                (tables.blocks.live(block), work.reserve * tables.layout.data_units_per_block());
            let may_begin = is_still
                && match live {
                    0 => true,
                    _ if live > sure => space.has_room_or_claims(tables, work, lane, live, 0),
                    _ => space.allocator.has_room(tables, work, lane, live, Cause::Sanitize),
                };
            if may_begin {
                // One of the cache of host writes comes back to its ring.
                let is_one_bit = self.media.tables.blocks.is_one_bit(block);
                return if is_one_bit {
                    self.media.destage(lane, block)
                } else {
                    self.media.begin(lane, block, Cause::Sanitize)
                };
            }
            self.media.locks.lists.put_off_unlockable(lane, block, false);
        }
        false
    }

    /// Locks what is exposed in a lane, as far as there are operations. False if its moves are to be looked at, too.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn lock_lane(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        // Where no time passes what leaves pages goes together, not each page's rest for itself.
        self.media.work.lane_mut(lane).more = flash.is_instant();
        let mut is_full = self.lock_ready(flash, lane);
        // Of what waits for room no more is looked at than finds it.
        while !is_full && let Some(block) = self.next_occupied(lane) {
            self.media.locks.list_all(&self.media.tables, &mut self.media.work, block);
            is_full = self.lock_ready(flash, lane);
            if !is_full && self.next_occupied(lane).is_some() {
                self.media.locks.lists.pass_occupied(lane);
            }
        }
        if core::mem::take(&mut self.media.work.lane_mut(lane).more) {
            self.program_all_gathered(flash, lane, false);
        }
        let Media { locks, work, .. } = &self.media;
        if locks.renewals.are_on() && !locks.holds_moves(work, flash, lane, false) {
            loop {
                let Media { locks, tables, work, .. } = &mut self.media;
                let Some(op) = locks.next_renewal(tables, work, lane) else { break };
                self.media.issue(flash, op, &[UnitRef::PADDING]);
            }
        }
        self.media.work.looks.is_for_locks(lane) && !self.media.locks.lists.wait_for_moves(lane)
    }

    fn next_occupied(&self, lane: LaneId) -> Option<BlockId> {
        self.media.locks.lists.next_occupied(&self.media.tables, &self.media.work, lane)
    }

    /// Locks what is exposed in those blocks of a lane that are listed. Whether there are no operations for more.
    fn lock_ready(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        while !self.media.locks.is_full(lane) {
            let Some(block) = self.media.locks.lists.first_ready(lane) else { return false };
            if !self.lock_next(flash, lane, block) {
                self.media.locks.lists.end_first(lane, block);
            }
        }
        true
    }

    /// Does what is next about a block; false if there is nothing.
    fn lock_next(&mut self, flash: &mut Flash, lane: LaneId, block: BlockId) -> bool {
        loop {
            let Media { locks, tables, work, .. } = &mut self.media;
            match locks.next_step(tables, work, flash, block) {
                None => return false,
                Some(locks::Step::MoveOut(page)) => self.move_out(flash, lane, page),
                Some(locks::Step::FillUp(page)) => self.pad(flash, lane, page),
                Some(locks::Step::Lock(op)) => {
                    if let Some(op) = op {
                        self.media.issue(flash, op, &[UnitRef::PADDING]);
                    }
                    return true;
                }
            }
        }
    }

    /// What lives in a page moves elsewhere in its lane; if there is no room, when there is.
    fn move_out(&mut self, flash: &mut Flash, lane: LaneId, page: Ppn) {
        let Media { tables, work, space, locks, reclaim, .. } = &mut self.media;
        let block = tables.layout.block_of_page(page).0;
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let mut count = 0;
        let first = page.0 * tables.layout.units_per_page;
        for unit in
            (first..first + tables.layout.units_per_page).filter(|&unit| tables.map.is_live(Pun(unit)))
        {
            units[count] = tables.unit_at(unit);
            count += 1;
        }
        let is_busy = work.is_busy(&tables.layout, lane, MOVES_FOR_LOCKS);
        // Where exposure has a bound, what it takes was claimed before anything died.
        let has_room = |space: &mut Space| match space.allocator.is_bounded() {
            true => space.allocator.has_room(tables, work, lane, 0, Cause::Sanitize),
            false => space.has_room_beside(tables, work, lane, count as u32),
        };
        if is_busy || !has_room(space) {
            return locks.lists.wait_for_room(lane, block, !is_busy);
        }
        locks.exposed.leave(&locks.manner, page);
        work.counts.sanitize_copies += count as u64;
        if !tables.blocks.leaves(block) {
            tables.blocks.set_cause(block, Cause::Sanitize);
        }
        let mut op = space.op_of_move(tables, work, flash, (OpKind::Read, Cause::Sanitize), page, lane);
        reclaim.note_read(tables, work, flash, &op);
        tables.blocks.leave(block, count as u32);
        if self.media.issue_move(flash, lane, &mut op, &units[..count]) {
            self.take_read(lane, (Cause::Sanitize, page, op.outcome), &units[..count]);
            if self.media.work.lanes[lane.index()].full_pages(&self.media.tables.layout) > 0 {
                self.program_all_gathered(flash, lane, false);
            }
        }
    }

    /// The wordline of a page of a block that is being filled is finished: with nothing. Of a block that moves fill
    /// only if they do not need what is left there.
    fn pad(&mut self, flash: &mut Flash, lane: LaneId, page: Ppn) {
        let Media { tables, work, space, locks, .. } = &mut self.media;
        let (block, last) =
            (tables.layout.block_of_page(page).0, locks.manner.pages_of_wordline(tables, page).last());
        // Wordlines that are filled up go beyond what moves may have on their way, two at most.
        if work.is_busy(&tables.layout, lane, MOVES_FOR_LOCKS + locks.manner.pages_filled_up()) {
            return locks.lists.wait_for_room(lane, block, false);
        }
        let first = block.0 * tables.layout.pages_per_block;
        let streams = space.allocator.streams();
        let is_of_host = |stream| streams.is_of_host(stream) && !streams.is_shared(stream);
        if let (Some(stream), Some(next), Some(last)) =
            (space.allocator.stream_of(lane, block), space.allocator.filled(lane, block), last)
            && !is_of_host(stream)
            && !space.has_room_beside(
                tables,
                work,
                lane,
                (last.0 + 1).saturating_sub(first + next) * tables.layout.units_per_page,
            )
        {
            return locks.lists.wait_for_room(lane, block, true);
        }
        loop {
            let Media { tables, work, space, .. } = &mut self.media;
            let Some(stream) = space.allocator.stream_of(lane, block) else { return };
            if space.allocator.filled(lane, block).is_none_or(|next| Some(Ppn(first + next)) > last) {
                return;
            }
            let (blocks, clock) = (&mut tables.blocks, tables.clock);
            let Some(found) = space.allocator.page_in(lane, stream, 0, blocks, clock) else { return };
            work.note_padding(&tables.layout, Cause::Sanitize, 0);
            let kind = (OpKind::Program, Cause::Sanitize);
            let mut op = space.op_of_move(tables, work, flash, kind, found.page, lane);
            tables.bind(block, &mut op);
            if is_of_host(stream) {
                // Behind the host's own, which may not be carried out yet.
                self.media.begin_move(flash, lane, op, &[]);
                self.media.write_parity(flash, found, &op, false);
            } else {
                self.program_moved(flash, lane, &mut op, &mut []);
                self.media.write_parity(flash, found, &op, flash.is_instant());
            }
        }
    }

    /// Somebody waits for locks: what leaves pages waits no longer for more of its class to share a page with.
    /// Elsewhere a rest goes as soon as no more will join it. Returns whether anything goes.
    pub fn hurry_leaving(&mut self, flash: &mut Flash) -> bool {
        if self.media.locks.exposed.leaving == 0 || !self.page_classes.sorts() {
            return false;
        }
        for lane in (0..self.media.tables.layout.lanes).map(LaneId) {
            if self.media.work.lane_mut(lane).reads == 0 {
                self.program_all_gathered(flash, lane, true);
            }
        }
        self.media.is_carrying(flash)
    }
}
