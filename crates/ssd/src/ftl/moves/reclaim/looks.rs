//! Looks at the blocks of a lane's list, and the jobs that come of them: a block moves as a whole, is dealt, or parts
//! of it leave one after the other, and it stays.

use super::Looked;
use crate::flash::Flash;
use crate::flash::op::Cause;
use crate::ftl::moves::dealing::{Begun, DealRequest};
use crate::ftl::read_reclaim::{Destination, Part, Want};
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::work::COMING_BY_READS;
use crate::ftl::work::candidates::{Candidate, NOW};
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::RECLAIM;
use crate::ftl::work::migration::Migration;
use crate::ftl::work::walk::{Pages, Walk};
use crate::ftl::write::waits::Lack;
use crate::ftl::{Media, Moves};
use crate::units::{LaneId, NONE};

impl Moves {
    /// Starts the next job that is due to reads.
    #[inline]
    pub(in crate::ftl) fn start_reclaim(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        self.media.reclaim.active
            && self.media.work.lane_mut(lane).candidates.some()
            && !self.media.work.lane_mut(lane).is_dealing()
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
            if !(self.media.locks.are_on() && self.media.work.lane_mut(lane).is_moving())
                && self.media.space.allocator.unclaim(lane)
            {
                self.media.waits.come(Lack::Page);
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
                // A deal keeps its turn.
                Looked::Waits if self.media.reclaim.deals => return false,
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
        let block = candidate.block;
        let state = self.media.tables.blocks.state(block);
        if state == BlockState::Migrating {
            return Looked::Waits;
        }
        if !matches!(state, BlockState::Open | BlockState::Closed)
            || self.media.tables.blocks.is_failing(block)
        {
            return self.media.reclaim.drop_candidate(
                &self.media.tables,
                &mut self.media.work,
                lane,
                candidate,
            );
        }
        let is_programmed = state == BlockState::Closed && self.media.tables.blocks.programming(block) > 0;
        if is_programmed {
            return Looked::Waits;
        }
        let Some(want) = self.media.reclaim.ask(&self.media.tables, flash, candidate, None) else {
            return self.media.reclaim.drop_candidate(
                &self.media.tables,
                &mut self.media.work,
                lane,
                candidate,
            );
        };
        if state == BlockState::Open {
            if !self.media.work.may_abandon(&self.media.space.allocator, lane, block) {
                return Looked::Waits;
            }
            // Closed, it is asked about again: what was yet to be written need not leave it.
            self.media.space.allocator.abandon(
                lane,
                block,
                &mut self.media.tables.blocks,
                self.media.tables.clock,
            );
            self.media.tables.replicas.close_off(&self.media.tables.layout, block);
            return self.look_at(flash, lane, candidate, passed);
        }
        if want == Want::BLOCK {
            return self.media.begin_whole(flash, lane, candidate);
        }
        if let Destination::Deal { mode, paired } = want.to {
            let forced = !self.media.work.lane_mut(lane).candidates.now.is_empty();
            return match self.begin_deal(flash, lane, DealRequest { candidate, mode, paired, forced }) {
                Begun::Later => Looked::Waits,
                Begun::Yes if self.media.work.lane_mut(lane).is_dealing() => Looked::Waits,
                Begun::Yes => Looked::Over,
                Begun::NoBlocks => self.media.begin_whole(flash, lane, candidate),
            };
        }
        if want.to == Destination::Moves && !self.media.has_room_for(lane, candidate, want) {
            return Looked::Waits;
        }
        self.media.reclaim.drop_candidate(&self.media.tables, &mut self.media.work, lane, candidate);
        self.media.tables.blocks.start_moving(block, Cause::ReadReclaim);
        self.media.reclaim.begin_service(flash, block, None);
        let mut migration = Migration::of(candidate, passed);
        self.media.take_up(lane, &mut migration, want, true);
        self.media.work.lane_mut(lane).jobs[RECLAIM] = Some(Job::Migrate(migration));
        Looked::Started
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
}

impl Media {
    /// Whether the lane has pages for a part of a block, and besides a block's worth for cleaning, which must be able
    /// to go on. A free block that the host could have is kept for it.
    pub(in crate::ftl) fn has_room_for(&mut self, lane: LaneId, candidate: Candidate, want: Want) -> bool {
        let (types, per_page) = (self.reclaim.page_types, self.tables.layout.units_per_page);
        let pages = match want.part {
            Part::Wordline(_) => types,
            _ => self.tables.order.pages(),
        };
        let live = self.tables.blocks.live(candidate.block);
        let needed = (pages * per_page).min(live) + self.tables.layout.data_units_per_block();
        let has_room = self.space.has_room_or_claims(&self.tables, &self.work, lane, needed, 0);
        self.work.lane_mut(lane).candidates.lacks_room |= !has_room;
        has_room
    }

    /// Begins moving a whole block to where cleaning's data goes, if there is room.
    pub(in crate::ftl) fn begin_whole(
        &mut self,
        flash: &Flash,
        lane: LaneId,
        candidate: Candidate,
    ) -> Looked {
        let room =
            self.work.fits(&self.tables, &self.space.allocator, lane, candidate.block, Cause::ReadReclaim);
        let deals = self.reclaim.deals;
        let work = self.work.lane_mut(lane);
        work.candidates.lacks_room = !room || (work.candidates.lacks_room && !deals);
        if !room || work.coming >= self.work.coming_at_most + COMING_BY_READS {
            return Looked::Waits;
        }
        self.work.counts.reclaims += 1;
        self.reclaim.drop_candidate(&self.tables, &mut self.work, lane, candidate);
        self.reclaim.begin_service(flash, candidate.block, None);
        self.begin(lane, candidate.block, Cause::ReadReclaim);
        Looked::Started
    }

    /// Asks the policy what is to be done with a block next that stays, and prepares it.
    pub(in crate::ftl) fn migrate_on(&mut self, flash: &mut Flash, lane: LaneId) {
        self.reclaim.look_anew(&mut self.work, lane, RECLAIM);
        let Some(&mut found) = self.work.lane_mut(lane).migration() else { return };
        let mut migration = found;
        match self.reclaim.ask(&self.tables, flash, migration.candidate, migration.left) {
            None => migration.end(),
            Some(want) => self.take_up(lane, &mut migration, want, false),
        }
        self.work.lane_mut(lane).jobs[RECLAIM] = Some(Job::Migrate(migration));
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
                (u8::MAX, wordline, self.reclaim.pages_of(wordline))
            }
            (Part::Types(types), Destination::Moves) => (types, NONE, (0, self.tables.order.pages())),
            (Part::Page(place), Destination::Replica(to)) => return migration.make(want, place, to),
            (Part::Replicas, Destination::Here) => {
                self.adopt_all(candidate);
                return migration.has_done(want);
            }
            (Part::Block, Destination::Moves | Destination::Deal { .. }) => {
                return self.reclaim.look_later(&self.tables, &mut self.work, lane, migration);
            }
            _ => unreachable!("ftl.read_reclaim wants {want:?}"),
        };
        // What was read meanwhile may have brought wordlines to their limits that were passed before.
        let place = candidate.place(&self.tables.layout);
        let asked_again = self.work.lane_mut(lane).candidates.listed[place] & NOW != 0;
        if !first && (asked_again || !self.has_room_for(lane, candidate, want)) {
            return self.reclaim.look_later(&self.tables, &mut self.work, lane, migration);
        }
        let pages = Pages { member: candidate.member, types, wordline };
        migration.go_on(want, Walk::of(&self.tables, candidate.block, pages, range));
    }
}
