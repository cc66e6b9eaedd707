//! Partial migration: parts of a block leave it one after the other, and it stays; and the order in which wordlines
//! leave a block that is emptied.

use crate::flash::Flash;
use crate::flash::op::Cause;
use crate::ftl::Ftl;
use crate::ftl::moves::candidates::{Candidate, NOW, Partial};
use crate::ftl::moves::job::{Job, Part};
use crate::ftl::moves::lane::{COMING_WITH_RECLAIM, RECLAIM};
use crate::ftl::read_reclaim::{ChipLook, Want};
use crate::ftl::tables::blocks::BlockState;
use crate::units::{BlockId, LaneId, NONE};

impl Ftl {
    /// Starts moving the next part of a block, or ends with it; returns whether a job was started.
    /// `None` if the next candidate may be looked at.
    pub(super) fn migrate_on(&mut self, flash: &mut Flash, lane: LaneId, partial: Partial) -> Option<bool> {
        let candidate = partial.candidate;
        let want = partial.next.unwrap_or_else(|| self.ask(flash, candidate, partial.left));
        let (types, only, pages) = match want {
            Want::Nothing => return self.end_partial(flash, lane, candidate),
            Want::Wordline(wordline) => (u8::MAX, wordline, self.pages_of(wordline)),
            Want::Types(types) => (types, NONE, (0, self.order.pages())),
            Want::Adopt => {
                self.adopt_all(candidate);
                self.work(lane).candidates.partial = Some(Partial { candidate, left: want, next: None });
                return None;
            }
            Want::Replicate { place, to } => {
                let full = self.is_busy(lane);
                let (left, next) = if full { (partial.left, Some(want)) } else { (want, None) };
                self.work(lane).candidates.partial = Some(Partial { candidate, left, next });
                if full {
                    return Some(false);
                }
                let page = self.reclaim.page_at[place as usize];
                self.replicate(flash, lane, candidate, page, to);
                return None;
            }
            Want::Block | Want::Deal { .. } => return self.look_later(flash, lane, candidate),
        };
        // What was read meanwhile may have brought wordlines to their limits that were passed before.
        let place = self.place_in_lane(lane, &candidate);
        let asked_again = self.work(lane).candidates.listed[place] & NOW != 0;
        if partial.next.is_none() && (asked_again || !self.has_room_for(lane, candidate, want)) {
            return self.look_later(flash, lane, candidate);
        }
        let part = Part { member: candidate.member, types, wordline: only };
        let job = Job::of_part(&self.view(), candidate.block, part, pages);
        let work = self.work(lane);
        work.candidates.partial = Some(Partial { candidate, left: want, next: None });
        work.jobs[RECLAIM] = Some(job);
        Some(true)
    }

    /// The wordline of a block that leaves it next, if the policy says so: of all members the one that stands least.
    /// Returns whether there is one.
    pub(in crate::ftl) fn choose_wordline(&mut self, flash: &Flash, job: &mut Job) -> bool {
        let mut chosen: Option<(i64, u32, u32)> = None;
        for member in 0..self.layout.span {
            let left = job.part.filter(|part| part.member == member).map(|part| part.wordline);
            let (look, policy) = self.look(flash, Candidate { block: job.block, member });
            let chips = policy.sees_chips().then_some(ChipLook(flash));
            let next = policy.leaves_next(&look, chips.as_ref(), left);
            let next = next.map(|(stands, wordline)| (stands, member, wordline));
            chosen = [chosen, next].into_iter().flatten().min();
        }
        let Some((_, member, wordline)) = chosen else { return false };
        let pages = self.pages_of(wordline);
        job.go_on_with(&self.view(), Part { member, types: u8::MAX, wordline }, pages);
        true
    }

    /// The first page of a wordline, and the one after its last.
    fn pages_of(&self, wordline: u32) -> (u32, u32) {
        let types = self.reclaim.page_types;
        let pages = &self.reclaim.page_at[(wordline * types) as usize..][..types as usize];
        (pages[0], pages[pages.len() - 1] + 1)
    }

    /// The rest of a block leaves it later: the block is first on the list again.
    fn look_later(&mut self, flash: &mut Flash, lane: LaneId, candidate: Candidate) -> Option<bool> {
        let place = self.place_in_lane(lane, &candidate);
        self.work(lane).candidates.put_first(candidate, place);
        self.end_partial(flash, lane, candidate)
    }

    /// Nothing more must leave a block; what was read from it is on its way.
    fn end_partial(&mut self, flash: &mut Flash, lane: LaneId, candidate: Candidate) -> Option<bool> {
        self.work(lane).candidates.partial = None;
        self.blocks.set_state(candidate.block, BlockState::Migrating);
        if self.blocks.leaving(candidate.block) == 0 {
            self.migrated(flash, candidate.block);
        }
        None
    }

    /// All that was to leave a block has left: it is closed again, or, if it is empty, erased.
    pub(in crate::ftl) fn migrated(&mut self, flash: &mut Flash, block: BlockId) {
        self.end_service(flash, block);
        self.blocks.set_state(block, BlockState::Closed);
        if self.blocks.is_failing(block) {
            return self.retire_when_closed(flash, block);
        }
        let lane = self.layout.lane_of(block);
        self.may_look_again(lane);
        if self.blocks.live(block) == 0 && self.work(lane).coming < COMING_WITH_RECLAIM {
            self.blocks.start_moving(block, Cause::ReadReclaim);
            self.blocks.set_state(block, BlockState::Draining);
            self.work(lane).coming += 1;
            self.empty(flash, block);
        }
    }
}
