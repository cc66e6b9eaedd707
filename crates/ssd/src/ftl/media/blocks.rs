//! The end of what a block holds: all that was to leave it has arrived, and it is erased, or retired.
//!
//! Emptied blocks may wait for their erase until they are opened (`ftl.cleaning.lazy_erase`; RealWear sections 5.2.4
//! and 5.3): such a block goes on its lane's free list as it is. When its first page is about to be programmed the
//! erase is issued before that, and the die, which keeps their order, does one after the other. Until the erase ends it
//! keeps the block as a program does. Where no time passes nothing waits: blocks are erased when they are emptied, and
//! those that wait when time stops.

use crate::flash::op::{Cause, Op, OpKind};
use crate::flash::{Flash, PROGRAM_MODES};
use crate::ftl::Media;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::{Seen, Shown};
use crate::ftl::work::COMING_BY_READS;
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::{RECLAIM, ROUTINE};
use crate::ftl::write::open::Allocated;
use crate::ftl::write::waits::Lack;
use crate::nand::{Chip, Outcome};
use crate::observe::Effect;
use crate::units::{BlockId, LaneId, OpId, Ppn, Pun};

impl Media {
    pub(in crate::ftl) fn begin(&mut self, lane: LaneId, block: BlockId, cause: Cause) -> bool {
        self.drop_replicas(block);
        self.tables.blocks.start_moving(block, cause);
        let in_parts = self.reclaim.policy.orders_leaving() && !self.tables.blocks.is_one_bit(block);
        let job = Job::empty(&self.tables, block, in_parts);
        let which = if cause == Cause::ReadReclaim { RECLAIM } else { ROUTINE };
        let erases_bad = self.locks.manner.erases_bad();
        let work = self.work.lane_mut(lane);
        let comes = cause != Cause::Destage && (cause != Cause::BadBlock || erases_bad);
        work.coming += u32::from(comes);
        work.jobs[which] = Some(job);
        true
    }

    /// Begins to destage a block of the ring.
    pub(in crate::ftl) fn destage(&mut self, lane: LaneId, block: BlockId) -> bool {
        self.space.ring.lane_mut(lane).had_turn = true;
        self.work.lane_mut(lane).destaging += 1;
        self.work.counts.slc_destaged += 1;
        self.begin(lane, block, Cause::Destage)
    }

    /// Looks whether a lane is to be cleaned.
    pub(in crate::ftl) fn update_wanted(&mut self, lane: LaneId) {
        self.cleaning.update_wanted(&self.tables, &self.space, &mut self.work, lane);
    }

    /// Moved data of a lane took a page: whoever lost a block by it may have to be cleaned.
    #[inline]
    pub(in crate::ftl) fn after_allocation(&mut self, lane: LaneId, found: Allocated) {
        if found.lane != lane {
            self.update_wanted(found.lane);
        } else if found.opened && (self.reclaim.is_active() || self.locks.are_on() || self.work.lazy) {
            // Moves because of reads, or for locks, use up blocks that no cleaning is about to make good; nor do blocks
            // that have come free at once.
            self.update_wanted(lane);
            self.work.looks.soon(lane);
        }
    }

    /// Bookkeeping of a block after one of its programs; a failed one retires it.
    pub(in crate::ftl) fn after_program(&mut self, block: BlockId, failed: bool) {
        let last = self.tables.blocks.program_done(block);
        if last && self.locks.are_on() {
            self.locks.list_wordlines(&self.tables, &mut self.work, block);
        }
        let lane = self.tables.layout.lane_of(block);
        if failed && !self.tables.blocks.is_failing(block) {
            self.tables.blocks.set_failing(block);
            self.tables.replicas.close_off(&self.tables.layout, block);
            if self.tables.blocks.is_one_bit(block) {
                self.space.ring.abandon(lane, block, &mut self.tables.blocks, self.tables.clock);
            }
            // The last pages that moves have are filled all the same: what is moved makes the room to retire the block.
            let is_last = self.space.allocator.free(lane) == 0
                && !self.space.allocator.is_open_for_host(lane, block, true);
            if !is_last {
                self.space.allocator.abandon(lane, block, &mut self.tables.blocks, self.tables.clock);
            }
            if self.techniques.gives_up(lane, block) {
                self.tables.blocks.close(block, self.tables.clock);
            }
        }
        if last && self.tables.blocks.is_failing(block) {
            self.work.retire_when_closed(&self.tables, block);
        } else if last {
            self.reclaim.may_look_again(&mut self.work, lane);
        }
    }

    /// A unit read away from a block needs it no more: it has arrived, or is dead.
    pub(in crate::ftl) fn unit_arrived(&mut self, flash: &mut Flash, block: BlockId) {
        if self.tables.blocks.arrive(block) {
            self.all_arrived(flash, block);
        }
    }

    /// All that was read away from a block has arrived: it is empty, or what was to leave it has left.
    pub(in crate::ftl) fn all_arrived(&mut self, flash: &mut Flash, block: BlockId) {
        if self.tables.blocks.state(block) == BlockState::Draining {
            self.empty(flash, block);
        } else {
            self.migrated(flash, block);
        }
    }

    /// All that was to leave a block has left: it is closed again, or, if it is empty, erased.
    pub(in crate::ftl) fn migrated(&mut self, flash: &mut Flash, block: BlockId) {
        self.reclaim.end_service(&mut self.work, flash, block);
        self.tables.blocks.set_state(block, BlockState::Closed);
        if self.locks.are_on() {
            self.locks.list_all(&self.tables, &mut self.work, block);
        }
        if self.tables.blocks.is_failing(block) {
            return self.work.retire_when_closed(&self.tables, block);
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

    /// A block holds nothing any more: erase it, or retire it if it failed.
    pub(in crate::ftl) fn empty(&mut self, flash: &mut Flash, block: BlockId) {
        self.reclaim.end_service(&mut self.work, flash, block);
        self.drop_replicas(block);
        if self.tables.blocks.cause(block) == Cause::BadBlock && !self.locks.manner.erases_bad() {
            self.retire(block);
            return;
        }
        if self.work.lazy && self.can_wait_for_erase(flash, block) {
            return self.leave_unerased(flash, block);
        }
        self.work.emptied = true;
        self.tables.blocks.erase_issued(block, self.tables.layout.span);
        let lane = self.tables.layout.lane_of(block);
        self.work.lane_mut(lane).erasing += 1;
        for k in 0..self.tables.layout.span {
            let op = self.space.erase_of(&self.tables, &self.work, block, k);
            self.issue(flash, op, &[]);
        }
    }

    /// One member of a block is erased. Returns whether it was the last: then the block is free or retired.
    pub(in crate::ftl) fn erased(&mut self, flash: &mut Flash, block: BlockId, op: &Op) -> bool {
        if self.tables.blocks.state(block) != BlockState::Erasing {
            self.on_late_erase(flash, block, op);
            return false;
        }
        self.member_erased(flash, block, op.at.block);
        if self.locks.are_on() && self.tables.layout.span > 1 {
            self.locks.note_erased_member(&self.tables, &mut self.work, block, op.at.block);
        }
        if !self.tables.blocks.erase_done(block, op.outcome == Outcome::Fail) {
            return false;
        }
        let lane = self.tables.layout.lane_of(block);
        self.reclaim.forget_reads(&self.tables, &mut self.work, block);
        if self.locks.are_on() {
            self.tables.forget_secured(block);
            self.locks.note_erased_locks(&self.tables, &mut self.work, block);
        }
        self.tables.replicas.reset(&self.tables.layout, block);
        self.techniques.wiped(block);
        let (first, units) = (self.tables.layout.first_unit(block), self.tables.layout.units_per_block());
        self.tables.map.note_erased(first, units);
        self.effects.push(Effect::Erase { first, units });
        let destaged = self.tables.blocks.cause(block) == Cause::Destage;
        let is_spent = self.techniques.is_spent(block, &self.tables);
        if self.tables.blocks.is_failing(block) || is_spent {
            self.retire(block);
        } else {
            self.space.put_free(&mut self.tables, &self.work, lane, block);
            self.note_reclaimed(block);
        }
        let work = self.work.lane_mut(lane);
        *if destaged { &mut work.destaging } else { &mut work.coming } -= 1;
        work.erasing -= 1;
        self.count_erase(flash, lane);
        true
    }

    /// Whether an emptied block can be left as it is: time passes, it is not about to be retired, and nothing of it is
    /// to be hidden that only an erase hides.
    pub(super) fn can_wait_for_erase(&self, flash: &Flash, block: BlockId) -> bool {
        let hides = self.locks.are_on()
            && self.locks.exposed.must_be_erased(&self.locks.manner, &self.tables.layout, block);
        !(flash.is_instant() || self.tables.blocks.is_failing(block) || hides)
    }

    /// An emptied block is free, and waits for its erase.
    #[cold]
    pub(super) fn leave_unerased(&mut self, flash: &Flash, block: BlockId) {
        let lane = self.tables.layout.lane_of(block);
        self.reclaim.forget_reads(&self.tables, &mut self.work, block);
        let one_bit = self.tables.blocks.is_one_bit(block);
        let destaged = self.tables.blocks.cause(block) == Cause::Destage;
        self.tables.blocks.set_state(block, BlockState::Free);
        self.space.put_free(&mut self.tables, &self.work, lane, block);
        self.tables.blocks.set_stale(block, one_bit);
        self.note_reclaimed(block);
        if self.locks.are_on() {
            self.locks.list_all(&self.tables, &mut self.work, block);
            self.locks.lists.look_for_room(&self.tables, &mut self.work, lane);
        }
        let work = self.work.lane_mut(lane);
        *if destaged { &mut work.destaging } else { &mut work.coming } -= 1;
        self.count_erase(flash, lane);
        self.update_wanted(lane);
        self.work.looks.soon(lane);
    }

    /// A block is used no more.
    pub(in crate::ftl) fn retire(&mut self, block: BlockId) {
        self.tables.blocks.set_state(block, BlockState::Bad);
        self.work.counts.retired_blocks += 1;
        if self.locks.are_on() {
            self.locks.exposed.lock_as_anywhere(&self.locks.manner, &self.tables.layout, block);
            self.locks.list_all(&self.tables, &mut self.work, block);
        }
        if self.tables.blocks.is_one_bit(block) {
            let lane = self.tables.layout.lane_of(block);
            self.work.lane_mut(lane).left_cache(block);
            self.space.ring.lane_mut(lane).forget(block, &mut self.tables.blocks);
        }
    }

    /// A block has come free.
    pub(in crate::ftl) fn note_reclaimed(&mut self, block: BlockId) {
        self.work.counts.reclaimed_blocks += 1;
        let mode = usize::from(self.tables.blocks.mode(block));
        self.work.counts.erased_by_mode[mode.min(PROGRAM_MODES - 1)] += 1;
        self.waits.come(Lack::Page);
    }

    /// A block of a lane was emptied and is, or will be, erased.
    pub(in crate::ftl) fn count_erase(&mut self, flash: &Flash, lane: LaneId) {
        let work = self.work.lane_mut(lane);
        work.erases += 1;
        if self.techniques.are_on() {
            let (erases, seen) = (work.erases, Seen { tables: &self.tables, chip: &flash.chip });
            self.techniques.emptied(lane, erases, &seen);
        }
    }

    /// No time passes from now on: what waits for its erase is erased.
    #[cold]
    pub(crate) fn erase_all_stale(&mut self, flash: &mut Flash) {
        for lane in (0..self.tables.layout.lanes).map(LaneId) {
            for _ in 0..self.space.allocator.free(lane) {
                let Some(block) = self.space.allocator.take_back(lane) else { return };
                if !self.tables.blocks.is_stale(block) || self.erase_at_rest(flash, block) {
                    self.space.allocator.give_back(lane, block, &mut self.tables.blocks);
                } else {
                    self.retire(block);
                    // A block less is free, which cleaning may have to make good.
                    self.update_wanted(lane);
                    self.work.looks.soon(lane);
                }
            }
            for _ in 0..self.space.ring.free(lane) {
                let Some(block) = self.space.ring.lane_mut(lane).next_free() else { return };
                if self.tables.blocks.is_stale(block) && !self.erase_at_rest(flash, block) {
                    self.retire(block);
                    self.work.looks.soon(lane);
                } else {
                    self.space.ring.lane_mut(lane).put(block, &mut self.tables.blocks);
                }
            }
        }
    }

    /// Erases a block that waits for it, and is not opened; false if it is used no more.
    fn erase_at_rest(&mut self, flash: &mut Flash, block: BlockId) -> bool {
        self.begin_late_erase(block);
        for member in 0..self.tables.layout.span {
            let mut op = self.space.erase_of(&self.tables, &self.work, block, member);
            flash.do_at_once(&mut op);
            self.effects.tell_at_once(&self.tables.layout, &op, &[]);
            self.tables.blocks.program_done(block);
            self.late_member_erased(flash, block, &op, op.outcome == Outcome::Fail);
        }
        let is_spent = self.techniques.is_spent(block, &self.tables);
        !self.tables.blocks.is_failing(block) && !is_spent
    }

    /// A page is about to be programmed: if a block was opened for it that waits for its erase, that goes first.
    #[inline(always)]
    pub(in crate::ftl) fn erase_if_opened(&mut self, flash: &mut Flash, found: Allocated) {
        if found.opened && self.work.lazy {
            self.erase_if_stale(flash, found.page);
        }
    }

    /// A page is about to be programmed in a block: if that waits for its erase, the erase goes first.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn erase_if_stale(&mut self, flash: &mut Flash, page: Ppn) {
        let (block, _) = self.tables.layout.block_of_page(page);
        if !self.tables.blocks.is_stale(block) {
            return;
        }
        self.begin_late_erase(block);
        if flash.is_instant() {
            // Locks of it may be among them.
            self.apply_outbox(flash);
        }
        for member in 0..self.tables.layout.span {
            let mut op = self.space.erase_of(&self.tables, &self.work, block, member);
            if flash.is_instant() {
                flash.do_at_once(&mut op);
                self.effects.tell_at_once(&self.tables.layout, &op, &[]);
                self.on_late_erase(flash, block, &op);
            } else {
                self.issue(flash, op, &[]);
            }
        }
    }

    /// What is known of a block that waits for its erase, and is erased now, ends: what is programmed there is other
    /// data.
    fn begin_late_erase(&mut self, block: BlockId) {
        self.reclaim.forget_reads(&self.tables, &mut self.work, block);
        self.tables.replicas.reset(&self.tables.layout, block);
        self.techniques.wiped(block);
        if self.locks.are_on() {
            self.locks.leave_to_erase(&self.tables, &mut self.work, block);
        }
        self.tables.blocks.late_erase_issued(block, self.tables.layout.span);
    }

    /// A member of a block is erased that was opened first. If that fails the block is filled no further, and retired:
    /// what was meant for it by then is programmed, and moves.
    #[cold]
    pub(in crate::ftl) fn on_late_erase(&mut self, flash: &mut Flash, block: BlockId, op: &Op) {
        let is_last = self.late_member_erased(flash, block, op, false);
        let is_spent = is_last && self.techniques.is_spent(block, &self.tables);
        self.after_program(block, op.outcome == Outcome::Fail || is_spent);
    }

    /// What a member of a block held that has waited for its erase is gone; whether that was the last member.
    fn late_member_erased(&mut self, flash: &mut Flash, block: BlockId, op: &Op, fails: bool) -> bool {
        self.member_erased(flash, block, op.at.block);
        let is_last = self.tables.blocks.erase_done(block, fails);
        self.tell_late_erase(block, op);
        if self.locks.are_on() {
            self.locks.forget_erased(&mut self.tables, &mut self.work, block, op.at.block);
            if is_last {
                self.locks.note_late_erase(&self.tables, &mut self.work, block);
            }
        }
        is_last
    }

    /// Members of a block are erased one by one, and others of their pages may be programmed already.
    fn tell_late_erase(&mut self, block: BlockId, op: &Op) {
        let (first, units) = (self.tables.layout.first_unit(block), self.tables.layout.units_per_page);
        if self.tables.layout.span == 1 {
            self.tables.map.note_erased(first, self.tables.layout.units_per_block());
            return self.effects.push(Effect::Erase { first, units: self.tables.layout.units_per_block() });
        }
        let pages = (block.0 * self.tables.layout.pages_per_block..)
            .take(self.tables.layout.pages_per_block as usize);
        for page in pages.filter(|&page| self.tables.layout.locate(Ppn(page)).block == op.at.block) {
            self.tables.map.note_erased(Pun(page * units), units);
            self.effects.push(Effect::Erase { first: Pun(page * units), units });
        }
    }

    /// A member of a block was erased.
    #[inline]
    pub(in crate::ftl) fn member_erased(&mut self, flash: &mut Flash, block: BlockId, physical: u32) {
        if self.techniques.tells_wear() {
            let (at_once, one_bit) = (flash.is_instant(), self.tables.blocks.erases_one_bit(block));
            self.shown(flash, block, physical, Shown::Erased { at_once, one_bit });
        }
    }

    /// A physical block is measured, and so is the age of the block that it is a member of.
    pub(in crate::ftl) fn shown(&mut self, flash: &mut Flash, block: BlockId, physical: u32, what: Shown) {
        self.techniques.shown(physical, what, &mut flash.chip);
        self.update_wear(flash, block);
    }

    /// A block is as worn as its most worn member.
    pub(in crate::ftl) fn update_wear(&mut self, flash: &mut Flash, block: BlockId) {
        if !self.techniques.tells_wear() {
            return;
        }
        let mut age = 0;
        for k in 0..self.tables.layout.span {
            let physical = self.tables.layout.member(block, k).block;
            let own = self.techniques.worn(physical, flash.chip.cycles(physical)).age_q12;
            flash.note_age(physical, own);
            age = age.max(own);
        }
        self.tables.blocks.set_wear_q12(block, age as u16);
        self.work.counts.age_q12_max = self.work.counts.age_q12_max.max(age);
    }

    /// Age of a physical block, in 1/4096 of its life; 0 where nothing tells it.
    pub(crate) fn age_q12(&self, chip: &Chip, physical: u32) -> u32 {
        self.techniques.worn(physical, chip.cycles(physical)).age_q12
    }

    /// The first page of a block is programmed: if what it shows is asked for, it is read. The block waits for that as
    /// for a program: nothing empties it before.
    #[inline(never)]
    pub(in crate::ftl) fn first_programmed(&mut self, flash: &mut Flash, id: OpId) {
        let Some(cause) = self.techniques.reads_first_pages() else { return };
        let op = *flash.pool.get(id);
        if op.outcome == Outcome::Fail || flash.is_instant() || self.tables.is_one_bit(&op) {
            return;
        }
        self.tables.blocks.program_issued(self.tables.layout.block_of_page(op.ppn).0);
        let bytes = self.tables.layout.units_per_page * self.tables.layout.unit_bytes;
        let read = Op { bytes, ..self.tables.op(OpKind::Read, cause, op.ppn) };
        self.reclaim.note_look(&self.tables, flash, &read);
        self.issue(flash, read, &[]);
    }

    /// The first page of a block was read.
    pub(in crate::ftl) fn on_first_page(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = self.tables.layout.block_of_page(op.ppn).0;
        self.shown(flash, block, op.at.block, Shown::FirstPage);
        self.after_program(block, false);
    }

    /// Told that a lock is over.
    #[cold]
    pub(in crate::ftl) fn on_locked(&mut self, flash: &mut Flash, id: OpId, op: &Op) {
        flash.pool.remove(id);
        let block = self.tables.layout.block_of_page(op.ppn).0;
        let lane = self.tables.layout.lane_of(block);
        self.locks.lists.end_operation(lane);
        self.locks.end_lock(&mut self.tables, &mut self.work, block, op);
        // What is next is looked at when all that has ended is known: a program may have.
        self.locks.lists.look_soon(&mut self.work.looks, lane);
    }
}
