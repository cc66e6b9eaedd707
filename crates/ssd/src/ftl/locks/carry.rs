//! What is done about pages that are to be locked: the lock is issued, or what lives there moves out first, or its
//! wordline is filled up; and blocks in which no lock holds are emptied.

use super::IN_FLIGHT_AT_MOST;
use super::exposed::is_due;
use super::issue::Look;
use super::lists::MOVES_FOR_LOCKS;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::sanitize::{Answer, Deaths};
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::write::waits::Lack;
use crate::ftl::{Media, Moves};
use crate::units::{BlockId, LaneId, Ppn, Pun};

impl Moves {
    /// Locks what is exposed in a lane, as far as there are operations. False if its moves are to be looked at, too.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn lock_lane(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        // Where no time passes what leaves pages goes together, not each page's rest for itself.
        self.media.work.lane_mut(lane).more = flash.is_instant();
        let mut is_full = self.lock_ready(flash, lane);
        // Of what waits for room no more is looked at than finds it.
        while !is_full
            && let Some(block) =
                self.media.locks.lists.next_crowded(&self.media.tables, &self.media.work, lane)
        {
            self.media.locks.list_all(&self.media.tables, &mut self.media.work, block);
            is_full = self.lock_ready(flash, lane);
            if !is_full
                && self.media.locks.lists.next_crowded(&self.media.tables, &self.media.work, lane).is_some()
            {
                self.media.locks.lists.lanes[lane.index()].crowded.pop_front();
            }
        }
        if core::mem::take(&mut self.media.work.lane_mut(lane).more) {
            self.program_all_gathered(flash, lane, false);
        }
        if self.media.locks.renewals.are_on() {
            self.media.renew_lane(flash, lane);
        }
        let locks = &self.media.locks.lists.lanes[lane.index()];
        self.media.work.looks.is_for_locks(lane) && !locks.lacks_room && locks.hopeless.is_empty()
    }

    /// Locks what is exposed in those blocks of a lane that are listed. Whether there are no operations for more.
    pub(in crate::ftl) fn lock_ready(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        let at_most = IN_FLIGHT_AT_MOST * self.media.tables.layout.span;
        while self.media.locks.lists.lanes[lane.index()].in_flight < at_most {
            let Some(&block) = self.media.locks.lists.lanes[lane.index()].ready.front() else { return false };
            if !self.lock_next(flash, lane, block) {
                self.media.locks.lists.end_first(lane, block);
            }
        }
        true
    }

    /// Does what is next about a block; false if there is nothing.
    pub(in crate::ftl) fn lock_next(&mut self, flash: &mut Flash, lane: LaneId, block: BlockId) -> bool {
        loop {
            // What leaves a page may be the last of its block, which is then erased.
            let is_erased = self.media.tables.blocks.state(block) == BlockState::Free
                && !self.media.tables.blocks.is_stale(block);
            if is_erased || self.media.tables.blocks.is_erasing(block) {
                return false;
            }
            let (locks, layout) = (&mut self.media.locks, &self.media.tables.layout);
            let one_by_one = !locks.manner.scrubs();
            let next = locks.lists.next(&locks.exposed, layout, block, one_by_one);
            let Some(at) = next else { return false };
            let page = Ppn(block.0 * self.media.tables.layout.pages_per_block + at);
            match self.media.locks.look_at_page(&self.media.tables, flash, block, page) {
                Look::Nothing => {}
                Look::Waits => self.media.locks.lists.defer(block, self.media.locks.clocks.now),
                Look::Crowded(page) => self.move_out(flash, lane, page),
                Look::Unfinished => self.pad(flash, lane, page),
                Look::Dead => {
                    self.media.locks.give_up_replicas(&mut self.media.tables, &mut self.media.work, page);
                    self.media.lock(flash, block, at);
                    return true;
                }
            }
        }
    }

    /// What lives in a page moves elsewhere in its lane; if there is no room, when there is.
    pub(in crate::ftl) fn move_out(&mut self, flash: &mut Flash, lane: LaneId, page: Ppn) {
        let block = self.media.tables.layout.block_of_page(page).0;
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let mut count = 0;
        let first = page.0 * self.media.tables.layout.units_per_page;
        for unit in (first..first + self.media.tables.layout.units_per_page)
            .filter(|&unit| self.media.tables.map.is_live(Pun(unit)))
        {
            units[count] = self.media.tables.unit_at(unit);
            count += 1;
        }
        let is_busy = self.media.work.is_busy(&self.media.tables.layout, lane, MOVES_FOR_LOCKS);
        if is_busy
            || !self.media.space.has_room_beside(&self.media.tables, &self.media.work, lane, count as u32)
        {
            return self.media.locks.lists.wait_for_room(lane, block, !is_busy);
        }
        self.media.locks.exposed.leave(&self.media.locks.manner, page);
        self.media.work.counts.sanitize_copies += count as u64;
        self.media.tables.blocks.set_cause(block, Cause::Sanitize);
        let mut op = self.media.space.op_of_move(
            &self.media.tables,
            &self.media.work,
            flash,
            (OpKind::Read, Cause::Sanitize),
            page,
            lane,
        );
        self.media.reclaim.note_read(&self.media.tables, &mut self.media.work, flash, &op);
        self.media.tables.blocks.leave(block, count as u32);
        if self.media.issue_move(flash, lane, &mut op, &units[..count]) {
            self.take_read(lane, (Cause::Sanitize, page, op.outcome), &units[..count]);
            if self.media.work.lanes[lane.index()].full_pages(self.media.tables.layout.units_per_page) > 0 {
                self.program_all_gathered(flash, lane, false);
            }
        }
    }

    /// The wordline of a page of a block that is being filled is finished: with nothing. Of a block that moves fill
    /// only if they do not need what is left there.
    pub(in crate::ftl) fn pad(&mut self, flash: &mut Flash, lane: LaneId, page: Ppn) {
        let (block, last) = (
            self.media.tables.layout.block_of_page(page).0,
            self.media.locks.manner.pages_of_wordline(&self.media.tables.layout, page).last(),
        );
        // Wordlines that are filled up go beyond what moves may have on their way, two at most.
        if self.media.work.is_busy(
            &self.media.tables.layout,
            lane,
            MOVES_FOR_LOCKS + self.media.locks.manner.pages_filled_up(),
        ) {
            return self.media.locks.lists.wait_for_room(lane, block, false);
        }
        let first = block.0 * self.media.tables.layout.pages_per_block;
        let streams = self.media.space.allocator.streams();
        let is_of_host = |stream| streams.is_of_host(stream) && !streams.is_shared(stream);
        if let (Some(stream), Some(next), Some(last)) = (
            self.media.space.allocator.stream_of(lane, block),
            self.media.space.allocator.filled(lane, block),
            last,
        ) && !is_of_host(stream)
            && !self.media.space.has_room_beside(
                &self.media.tables,
                &self.media.work,
                lane,
                (last.0 + 1).saturating_sub(first + next) * self.media.tables.layout.units_per_page,
            )
        {
            return self.media.locks.lists.wait_for_room(lane, block, true);
        }
        while let Some(stream) = self.media.space.allocator.stream_of(lane, block)
            && self
                .media
                .space
                .allocator
                .filled(lane, block)
                .is_some_and(|next| Some(Ppn(first + next)) <= last)
        {
            let Some(found) = self.media.space.allocator.page_in(
                lane,
                stream,
                0,
                &mut self.media.tables.blocks,
                self.media.tables.clock,
            ) else {
                return;
            };
            self.media.work.counts.padded_units += u64::from(self.media.tables.layout.units_per_page);
            let op = self.media.space.op_of_move(
                &self.media.tables,
                &self.media.work,
                flash,
                (OpKind::Program, Cause::Sanitize),
                found.page,
                lane,
            );
            let mut op = self.media.tables.bound_for(block, op);
            if is_of_host(stream) {
                // Behind the host's own, which may not be carried out yet.
                self.media.begin_move(flash, lane, op, &[]);
            } else {
                self.program_moved(flash, lane, &mut op, &mut []);
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
        !self.media.outbox.is_empty()
    }
}

impl Media {
    /// Locks a page of a block, or its whole physical block.
    pub(in crate::ftl) fn lock(&mut self, flash: &mut Flash, block: BlockId, at: u32) {
        let member = at % self.tables.layout.span;
        let is_dead = self.tables.is_member_dead(block, member);
        let deaths = Deaths {
            // Where something lives nobody asks how many there are: counting them for each would cost most of all.
            pages: if is_dead {
                self.locks.dead_pages(&mut self.tables, &mut self.work, flash, block, at)
            } else {
                1
            },
            is_dead,
            is_bad: self.tables.blocks.state(block) == BlockState::Bad,
            page_ns: self.locks.manner.page_ns,
            block_ns: self.locks.manner.block_ns,
        };
        let answer = self.locks.manner.policy.answer(&deaths);
        let first = Ppn(block.0 * self.tables.layout.pages_per_block);
        let lane = self.tables.layout.lane_of(block);
        let op = match answer {
            Answer::Erase => {
                self.locks.exposed.give_up_page(Ppn(first.0 + at));
                return self.locks.lists.give_up_block(&self.tables, &mut self.work, block);
            }
            Answer::Pages if self.locks.manner.scrubs() => {
                // One of them stands for all.
                let mut page = Ppn(first.0 + at);
                for other in self.locks.manner.pages_of_wordline(&self.tables.layout, page) {
                    if self.locks.exposed.lock_issued(other) {
                        page = other;
                    }
                }
                self.space.ring.op(&self.tables, self.locks.manner.page_op, Cause::Sanitize, page)
            }
            Answer::Pages => {
                let page = Ppn(first.0 + at);
                self.locks.exposed.lock_issued(page);
                self.space.ring.op(&self.tables, self.locks.manner.page_op, Cause::Sanitize, page)
            }
            Answer::Block => {
                // Nothing that a locked block holds is read, or programmed behind it.
                self.locks.drop_replicas(&mut self.tables, &mut self.work, block);
                self.tables.replicas.close_off(&self.tables.layout, block);
                for page in self.tables.layout.pages_of_member(block, member) {
                    self.locks.exposed.lock_issued(page);
                }
                Op::new(
                    OpKind::BlockLock,
                    Cause::Sanitize,
                    first,
                    self.tables.layout.member(block, member),
                    0,
                )
            }
        };
        self.locks.lists.begin_operation(lane);
        self.issue(flash, Op { tag: lane.0, ..op }, &[UnitRef::PADDING]);
    }

    /// Begins to empty the next block whose locks fail; one that is being filled is closed.
    #[cold]
    pub(in crate::ftl) fn start_hopeless(&mut self, lane: LaneId) -> bool {
        if self.space.ring.coming(&self.work, lane) >= self.work.coming_at_most {
            return false;
        }
        for _ in 0..self.locks.lists.lanes[lane.index()].hopeless.len() {
            let Some(block) = self.locks.lists.lanes[lane.index()].hopeless.pop_front() else { return false };
            if !self.locks.exposed.is_hopeless(&self.tables.layout, block)
                || self.tables.blocks.state(block) == BlockState::Bad
            {
                continue;
            }
            if self.tables.blocks.state(block) == BlockState::Open {
                if !self.space.may_close_early(&self.tables, &self.work, lane, block) {
                    // What is cleaned fills it, or makes room.
                    let locks = &mut self.locks.lists.lanes[lane.index()];
                    locks.lacks_room = true;
                    locks.hopeless.push_back(block);
                    continue;
                }
                self.space.close_early(&mut self.tables, block);
            }
            if self.tables.blocks.is_stale(block) && self.space.allocator.take_from_free(lane, block) {
                // Whoever waits for what is exposed there may be who would have opened it.
                self.tables.blocks.wait_no_more(block);
            }
            let is_still = self.tables.blocks.state(block) == BlockState::Closed
                && self.tables.blocks.programming(block) == 0
                && !self.tables.blocks.is_failing(block);
            // With replicas that have become pages more may live there than moves are always sure of.
            let (live, sure) = (
                self.tables.blocks.live(block),
                self.work.reserve * self.tables.layout.data_units_per_block(),
            );
            let may_begin = is_still
                && match live {
                    0 => true,
                    _ if live > sure => {
                        self.space.has_room_or_claims(&self.tables, &self.work, lane, live, 0)
                    }
                    _ => self.work.has_room(&self.tables, &self.space.allocator, lane, live, Cause::Sanitize),
                };
            if may_begin {
                // One of the cache of host writes comes back to its ring.
                let is_one_bit = self.tables.blocks.is_one_bit(block);
                return if is_one_bit {
                    self.destage(lane, block)
                } else {
                    self.begin(lane, block, Cause::Sanitize)
                };
            }
            self.locks.lists.lanes[lane.index()].hopeless.push_back(block);
        }
        false
    }

    /// The host lacks a page: no block is kept from it for what must leave pages, if one was. It goes on then.
    #[cold]
    pub(in crate::ftl) fn give_up_claims(&mut self) {
        if !self.space.allocator.has_claims() {
            return;
        }
        for lane in (0..self.tables.layout.lanes).map(LaneId) {
            if !self.work.lane_mut(lane).is_moving() && self.space.allocator.unclaim(lane) {
                self.waits.come(Lack::Page);
            }
        }
    }

    /// Sets locks of a lane again, one at a time on each plane.
    pub(in crate::ftl) fn renew_lane(&mut self, flash: &mut Flash, lane: LaneId) {
        while self.locks.lists.lanes[lane.index()].in_flight < self.tables.layout.span
            && let Some(block) = self.locks.renewals.first(lane)
        {
            let next = self.locks.renewals.next(&self.locks.exposed, &self.tables, lane, block);
            if let Some(page) = next {
                self.renew(flash, lane, block, page);
            } else {
                self.locks.renewals.end_first(lane);
            }
        }
    }

    /// Locks a page again, or its physical block.
    pub(in crate::ftl) fn renew(&mut self, flash: &mut Flash, lane: LaneId, block: BlockId, at: u32) {
        let member = at % self.tables.layout.span;
        let is_dead = self.tables.is_member_dead(block, member);
        let due = |page: &Ppn| is_due(self.locks.exposed.state(*page));
        let deaths = Deaths {
            pages: if is_dead {
                self.tables.layout.pages_of_member(block, member).filter(due).count() as u32
            } else {
                1
            },
            is_dead,
            is_bad: self.tables.blocks.state(block) == BlockState::Bad,
            page_ns: self.locks.manner.page_ns,
            block_ns: self.locks.manner.block_ns,
        };
        let first = Ppn(block.0 * self.tables.layout.pages_per_block);
        let op = if self.locks.manner.policy.answer(&deaths) == Answer::Block {
            self.locks.drop_replicas(&mut self.tables, &mut self.work, block);
            self.tables.replicas.close_off(&self.tables.layout, block);
            for page in self.tables.layout.pages_of_member(block, member) {
                self.locks.exposed.renew(page);
            }
            Op::new(OpKind::BlockLock, Cause::Sanitize, first, self.tables.layout.member(block, member), 0)
        } else {
            self.locks.exposed.renew(Ppn(first.0 + at));
            self.space.ring.op(&self.tables, OpKind::PageLock, Cause::Sanitize, Ppn(first.0 + at))
        };
        self.work.counts.sanitize_relocks += 1;
        self.locks.lists.begin_operation(lane);
        self.issue(flash, Op { tag: lane.0, ..op }, &[UnitRef::PADDING]);
    }
}
