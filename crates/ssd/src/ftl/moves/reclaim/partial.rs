//! Partial migration: parts of a block leave it one after the other, and it stays; and the order in which wordlines
//! leave a block that is emptied.

use crate::flash::Flash;
use crate::flash::op::Cause;
use crate::ftl::Ftl;
use crate::ftl::read_reclaim::{Destination, Part, Want};
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::work::COMING_BY_READS;
use crate::ftl::work::candidates::NOW;
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::RECLAIM;
use crate::ftl::work::migration::Migration;
use crate::ftl::work::walk::{Pages, Walk};
use crate::units::{BlockId, LaneId, NONE};

impl Ftl {
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
    pub(super) fn take_up(&mut self, lane: LaneId, migration: &mut Migration, want: Want, first: bool) {
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

    /// Nothing more must leave a block; what was read from it is on its way. The look at the list goes on; returns
    /// whether another job was started.
    pub(in crate::ftl) fn end_migration(
        &mut self,
        flash: &mut Flash,
        lane: LaneId,
        migration: Migration,
    ) -> bool {
        let block = migration.candidate.block;
        self.tables.blocks.set_state(block, BlockState::Migrating);
        if self.tables.blocks.leaving(block) == 0 {
            self.migrated(flash, block);
        }
        self.next_candidate(flash, lane, migration.passed.unwrap_or(0))
    }

    /// All that was to leave a block has left: it is closed again, or, if it is empty, erased.
    pub(in crate::ftl) fn migrated(&mut self, flash: &mut Flash, block: BlockId) {
        self.reclaim.end_service(&mut self.work, flash, block);
        self.tables.blocks.set_state(block, BlockState::Closed);
        if self.locks.are_on() {
            self.locks.list_all(&self.tables, &mut self.work, block);
        }
        if self.tables.blocks.is_failing(block) {
            return self.retire_when_closed(flash, block);
        }
        let lane = self.tables.layout.lane_of(block);
        self.reclaim.may_look_again(&mut self.work, lane);
        if self.tables.blocks.live(block) == 0
            && self.work.lane_mut(lane).coming < self.work.coming_at_most + COMING_BY_READS
        {
            self.tables.blocks.start_moving(block, Cause::ReadReclaim);
            self.tables.blocks.set_state(block, BlockState::Draining);
            self.work.lane_mut(lane).coming += 1;
            self.empty(flash, block);
        }
    }
}
