//! Partial migration: parts of a block leave it one after the other, and it stays; and the order in which wordlines
//! leave a block that is emptied.

use crate::flash::Flash;
use crate::flash::op::Cause;
use crate::ftl::Ftl;
use crate::ftl::read_reclaim::{ChipLook, Destination, Part, Want};
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::work::COMING_BY_READS;
use crate::ftl::work::candidates::{Candidate, NOW};
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::RECLAIM;
use crate::ftl::work::migration::Migration;
use crate::ftl::work::walk::{Pages, Walk};
use crate::units::{BlockId, LaneId, NONE};

impl Ftl {
    /// A partial migration that was interrupted goes on: the lane's list is looked at anew.
    #[inline]
    pub(in crate::ftl) fn look_anew(&mut self, lane: LaneId, which: usize) {
        if which == RECLAIM
            && let Some(migration) = self.work.lane_mut(lane).migration()
            && migration.walk().is_none()
            && migration.passed.is_none()
        {
            migration.passed = Some(0);
            self.begin_look(lane);
        }
    }

    /// Asks the policy what is to be done with a block next that stays, and prepares it.
    pub(in crate::ftl) fn migrate_on(&mut self, flash: &mut Flash, lane: LaneId) {
        self.look_anew(lane, RECLAIM);
        let Some(&mut found) = self.work.lane_mut(lane).migration() else { return };
        let mut migration = found;
        match self.ask(flash, migration.candidate, migration.left) {
            None => migration.end(),
            Some(want) => self.take_up(lane, &mut migration, want, false),
        }
        self.work.lane_mut(lane).jobs[RECLAIM] = Some(Job::Migrate(migration));
    }

    /// Takes up what the policy wants of a block that stays; for the `first` that there is room is known.
    pub(super) fn take_up(&mut self, lane: LaneId, migration: &mut Migration, want: Want, first: bool) {
        let candidate = migration.candidate;
        let (types, wordline, range) = match (want.part, want.to) {
            (Part::Wordline(wordline), Destination::Moves) => (u8::MAX, wordline, self.pages_of(wordline)),
            (Part::Types(types), Destination::Moves) => (types, NONE, (0, self.tables.order.pages())),
            (Part::Page(place), Destination::Replica(to)) => return migration.make(want, place, to),
            (Part::Replicas, Destination::Here) => {
                self.adopt_all(candidate);
                return migration.has_done(want);
            }
            (Part::Block, Destination::Moves | Destination::Deal { .. }) => {
                return self.look_later(lane, migration);
            }
            _ => unreachable!("ftl.read_reclaim wants {want:?}"),
        };
        // What was read meanwhile may have brought wordlines to their limits that were passed before.
        let place = candidate.place(&self.tables.layout);
        let asked_again = self.work.lane_mut(lane).candidates.listed[place] & NOW != 0;
        if !first && (asked_again || !self.has_room_for(lane, candidate, want)) {
            return self.look_later(lane, migration);
        }
        let pages = Pages { member: candidate.member, types, wordline };
        migration.go_on(want, Walk::of(&self.tables, candidate.block, pages, range));
    }

    /// What is read next of a block that is emptied in parts: of all members the wordline that stands least, if the
    /// policy names one.
    pub(in crate::ftl) fn choose_wordline(&mut self, flash: &mut Flash, walk: &Walk) -> Option<Walk> {
        let block = walk.block;
        let mut chosen: Option<(i64, u32, u32)> = None;
        for member in 0..self.tables.layout.span {
            let left = walk.pages.filter(|pages| pages.member == member).map(|pages| pages.wordline);
            let (look, policy) = self.look(flash, Candidate { block, member });
            let chips = policy.sees_chips().then_some(ChipLook(flash));
            let next = policy.leaves_next(&look, chips.as_ref(), left);
            let next = next.map(|(stands, wordline)| (stands, member, wordline));
            chosen = [chosen, next].into_iter().flatten().min();
        }
        let (_, member, wordline) = chosen?;
        let pages = Pages { member, types: u8::MAX, wordline };
        Some(Walk::of(&self.tables, block, pages, self.pages_of(wordline)))
    }

    /// The first page of a wordline, and the one after its last.
    fn pages_of(&self, wordline: u32) -> (u32, u32) {
        let types = self.reclaim.page_types;
        let pages = &self.reclaim.page_at[(wordline * types) as usize..][..types as usize];
        (pages[0], pages[pages.len() - 1] + 1)
    }

    /// The rest of a block leaves it later: the block is first on the list again.
    fn look_later(&mut self, lane: LaneId, migration: &mut Migration) {
        let place = migration.candidate.place(&self.tables.layout);
        self.work.lane_mut(lane).candidates.put_first(migration.candidate, place);
        migration.end();
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
        self.end_service(flash, block);
        self.tables.blocks.set_state(block, BlockState::Closed);
        if self.locks.are_on() {
            self.locks.list_all(&self.tables, &mut self.work, block);
        }
        if self.tables.blocks.is_failing(block) {
            return self.retire_when_closed(flash, block);
        }
        let lane = self.tables.layout.lane_of(block);
        self.may_look_again(lane);
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
