//! Writes, trims and flushes: data into slots, slots into pages.

use super::staging::SlotState;
use super::{Below, Host};
use crate::events::EventKind;
use crate::ftl::stream::Said;
use crate::ftl::write::Paged;
use crate::ftl::write::waits::Lack;
use crate::ftl::{End, Found, Programmed};
use crate::nand::Outcome;
use crate::observe::{Effect, Source};
use crate::signals::{Part, Reason, Status};
use crate::units::{CommandId, Lpn, OpId, SimTime, SlotId};

impl Host {
    /// A write's data is in the drive.
    pub fn on_data_in(&mut self, id: CommandId, b: &mut Below<'_>) {
        self.commands.get_mut(id).book(Part::Link, b.now);
        self.waiters.begin(id, b.flash, b.now);
        if self.stalled.is_empty() {
            self.continue_write(id, b);
        } else {
            self.counts.buffer_stalls += 1;
            self.stalled.push(&mut self.commands, id);
        }
        self.flush_some(b);
    }

    /// Puts the command's units in slots from where it stopped.
    fn continue_write(&mut self, id: CommandId, b: &mut Below<'_>) -> bool {
        let entry = self.commands.get(id);
        let durable = entry.command.fua || !self.rules.write_back;
        let (first, end) = (entry.command.lba.0, entry.command.lba.0 + u64::from(entry.command.sectors));
        while self.commands.get(id).cursor < self.commands.get(id).end {
            let lpn = self.commands.get(id).cursor;
            let mask = self.shape.mask(lpn, first, end);
            if self.read_only.is_some() {
                self.refuse_unit(id, b);
            } else if !self.write_unit(id, Lpn(lpn), mask, durable, b) {
                self.counts.buffer_stalls += 1;
                self.stalled.push(&mut self.commands, id);
                return false;
            }
            self.commands.get_mut(id).cursor += 1;
        }
        let access_ns = self.rules.access_ns;
        self.book_buffer(id, b);
        let entry = self.commands.get_mut(id);
        if entry.outstanding == 0 {
            entry.ready_at = SimTime(b.now.0 + access_ns);
            self.respond(id, b);
        }
        true
    }

    /// A drive in read-only takes no unit of a command any more.
    #[cold]
    fn refuse_unit(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.commands.get_mut(id);
        entry.status = Status::ReadOnly;
        if entry.outstanding == 0 && entry.cursor + 1 == entry.end {
            self.end_durable(id, b);
        }
    }

    /// Puts write data for one unit in a slot: the unit's newest, if it may still change, or a new one.
    fn write_unit(&mut self, id: CommandId, lpn: Lpn, mask: u64, durable: bool, b: &mut Below<'_>) -> bool {
        let newest = self.staging.find(lpn);
        let state = if newest.is_some() { self.staging.get(newest).state } else { SlotState::Free };
        let open =
            newest.is_some() && state != SlotState::Programming && !self.staging.get(newest).waiter.is_some();
        let slot = if open {
            newest
        } else {
            let Some((slot, evicted)) = self.staging.take(lpn) else { return false };
            self.take_over(slot, evicted, b);
            slot
        };
        self.follow(slot, true);
        let tag = self.commands.get(id).command.tag;
        b.ftl.effects.push(Effect::Accept { tag, lpn, slot, mask, fresh: !open });
        self.staging.get_mut(slot).mask |= mask;
        self.counts.buffer_overwrites += u64::from(open && state != SlotState::Clean);
        if durable {
            self.commands.get_mut(id).outstanding += 1;
            self.staging.get_mut(slot).waiter = id;
        }
        if !self.said.is_empty() {
            self.note_said(id, slot, !open, b);
        }
        match state {
            _ if !open && newest.is_some() => self.staging.set_state(slot, SlotState::Behind, false),
            SlotState::Merging | SlotState::Behind => {}
            SlotState::Gathered => {
                let bytes = self.shape.bytes(self.staging.get(slot).mask);
                b.ftl.offer_again(slot, bytes, self.said(slot), self.staging.get(slot).is_awaited());
                self.use_slots_aside(b);
            }
            _ => self.staging.set_state(slot, SlotState::Dirty, durable),
        }
        let behind = self.staging.get(slot).state == SlotState::Behind;
        self.urgent += u32::from(durable && !behind);
        true
    }

    /// What the host says with a write is kept with its slot.
    #[inline]
    fn note_said(&mut self, id: CommandId, slot: SlotId, is_fresh: bool, b: &mut Below<'_>) {
        let command = &self.commands.get(id).command;
        let mut said = Said { hints: command.hints, sectors: command.sectors };
        if b.ftl.locks.are_on() {
            said.hints.class = self.class_of_slot(slot, said.hints.class, is_fresh, b);
            self.begin_durable(id, b);
        }
        self.said[slot.index()] = said;
    }

    /// Whether dirty data should be on its way.
    fn wants_flush(&mut self, b: &mut Below<'_>) -> bool {
        if self.rules.one_list {
            self.evict_clean(b);
            return self.staging.wants_room() || self.must_hurry();
        }
        let dirty = self.staging.dirty_beside_queues();
        self.flushing = dirty > if self.flushing { self.rules.flush_stop } else { self.rules.flush_start };
        self.flushing || self.must_hurry()
    }

    fn must_hurry(&self) -> bool {
        self.urgent > 0 || self.hurrying || !self.flushes.is_empty() || !self.stalled.is_empty()
    }

    /// Starts programs for as much dirty data as should be on its way and fits.
    pub fn flush_some(&mut self, b: &mut Below<'_>) {
        self.start_programs(b);
        if b.ftl.waits.take_come(Lack::Slot) {
            // Slots became free and flushes may be done without any program.
            self.after_programs(b);
        }
    }

    fn start_programs(&mut self, b: &mut Below<'_>) {
        if self.read_only.is_some() {
            return;
        }
        b.ftl.note_parked();
        if self.rules.one_list && b.ftl.stream.needs().promotes {
            // Not only when something is dirty: what is clean may become so.
            self.evict_clean(b);
        }
        while self.programs < self.programs_at_most {
            while !b.ftl.gather.has_full_page()
                && self.staging.oldest_dirty().is_some()
                && self.wants_flush(b)
            {
                if !b.may_issue() {
                    b.ftl.waits.lack(Lack::Operation);
                    return;
                }
                self.flush_to_leave(self.staging.oldest_dirty(), b);
                self.prepare(self.staging.oldest_dirty(), b);
                self.look_ahead(b);
            }
            if !b.ftl.gather.has_full_page() && (b.ftl.gather.waiting() == 0 || !self.may_pad(b)) {
                return;
            }
            if !b.may_issue() {
                b.ftl.waits.lack(Lack::Operation);
                return;
            }
            match b.ftl.program_page(b.flash) {
                Paged::Programs(op) => self.on_page(op, b),
                Paged::Parked => {}
                Paged::NoRoom => return,
            }
        }
    }

    /// Some slots are being programmed together.
    fn on_page(&mut self, op: OpId, b: &Below<'_>) {
        for (place, id) in (0..).zip(b.flash.of_host().slots_of(op)) {
            self.staging.set_state(id, SlotState::Programming, false);
            let slot = self.staging.get_mut(id);
            (slot.op, slot.place) = (op, place);
            self.urgent -= u32::from(slot.is_awaited());
        }
        self.programs += 1;
        self.gather_until = SimTime::ZERO;
    }

    /// A slot is whole: it may be programmed.
    fn gather(&mut self, id: SlotId, first: bool, b: &mut Below<'_>) {
        let slot = self.staging.get(id);
        let bytes = self.shape.bytes(slot.mask);
        // Where much is gathered, what somebody waits for goes first.
        let first = first || self.staging.has_queues() && slot.is_awaited();
        if slot.promoted {
            b.ftl.offer_promoted(id, slot.lpn, bytes);
        } else {
            b.ftl.offer(id, slot.lpn, bytes, self.said(id), first);
        }
        self.staging.set_state(id, SlotState::Gathered, false);
        self.use_slots_aside(b);
    }

    /// Slots for data in several streams are used once there is such.
    #[inline]
    fn use_slots_aside(&mut self, b: &mut Below<'_>) {
        if self.staging.has_aside() && b.ftl.tells_apart() {
            self.staging.give_aside();
            b.ftl.waits.come(Lack::Slot);
        }
    }

    /// What the host said with the last write to a slot, if anybody asks.
    #[inline]
    fn said(&self, slot: SlotId) -> Said {
        self.said.get(slot.index()).copied().unwrap_or_default()
    }

    /// Whether a page may be programmed with less than it can hold: somebody waits and nothing will join.
    fn may_pad(&mut self, b: &mut Below<'_>) -> bool {
        let alone = self.staging.merging() == 0 && !self.staging.oldest_dirty().is_some();
        if !alone || !self.must_hurry() {
            return false;
        }
        if self.rules.gather_ns == 0 || !self.flushes.is_empty() || !b.timed {
            return true;
        }
        if self.gather_until == SimTime::ZERO {
            self.gather_until = SimTime(b.now.0 + self.rules.gather_ns);
        }
        if !self.gather_scheduled && b.now < self.gather_until {
            self.gather_scheduled = true;
            b.schedule(self.gather_until.since(b.now), EventKind::GatherTimeout, 0);
        }
        b.now >= self.gather_until
    }

    /// Data for a page has waited long enough.
    pub fn on_gather_timeout(&mut self, b: &mut Below<'_>) {
        self.gather_scheduled = false;
        self.flush_some(b);
    }

    /// Makes a dirty slot ready: at once if it is whole or nothing is stored, else after reading the rest.
    fn prepare(&mut self, slot: SlotId, b: &mut Below<'_>) {
        let (lpn, mask) = (self.staging.get(slot).lpn, self.staging.get(slot).mask);
        let missing = self.shape.full & !mask;
        if missing == 0 {
            return self.gather(slot, false, b);
        }
        match b.ftl.read_rest(b.flash, slot.0, (lpn, missing, self.shape.bytes(missing))) {
            Found::Nowhere => self.gather(slot, false, b),
            Found::Lost => self.give_up(slot, b),
            Found::Issued | Found::Joined => self.staging.set_state(slot, SlotState::Merging, false),
        }
    }

    /// Starts loading the mapping entry of a slot that will be flushed soon.
    #[inline]
    fn look_ahead(&self, b: &Below<'_>) {
        let soon = self.staging.dirty_ahead(4);
        if soon.is_some() {
            b.ftl.tables.map.prefetch(self.staging.get(soon).lpn.0);
        }
    }

    /// The rest of a partly written unit is read.
    pub fn on_merged(&mut self, op: OpId, tag: u32, b: &mut Below<'_>) {
        let slot = SlotId(tag);
        let dead = self.staging.get(slot).dead;
        match b.ftl.end_rest(b.flash, op, dead) {
            End::Read { from, current: true } => {
                let mask = self.shape.full & !self.staging.get(slot).mask;
                b.ftl.effects.push(Effect::Fill { slot, from, mask });
                self.fill_class_from_flash(slot, from, b);
                self.staging.get_mut(slot).mask = self.shape.full;
                let hurry = self.staging.get(slot).waiter.is_some();
                self.gather(slot, hurry, b);
                self.flush_some(b);
            }
            End::Read { .. } | End::Lost => {
                self.staging.release(slot);
                b.ftl.effects.push(Effect::Release { slot });
                // Somebody may have waited for this slot.
                self.after_programs(b);
            }
            End::Again => {
                // Reads again, if the rest is elsewhere, or ends with a loss.
                self.prepare(slot, b);
                self.flush_some(b);
            }
        }
        self.feed_starved(b);
    }

    /// The rest of a partly written unit is lost: so is the unit, for a unit is readable as a whole or not at all. Who
    /// waits for it is told; whoever reads it later will be.
    fn give_up(&mut self, slot: SlotId, b: &mut Below<'_>) {
        let found = *self.staging.get(slot);
        self.urgent -= u32::from(found.is_urgent());
        if found.waiter.is_some() {
            self.staging.get_mut(slot).waiter = CommandId::NONE;
            self.commands.get_mut(found.waiter).status = Status::Uncorrectable;
            let done = Programmed { slot, outcome: Outcome::Fail, queued: b.now, times: Default::default() };
            self.slot_is_safe(found.waiter, &done, b);
        }
        b.ftl.waits.come(Lack::Slot);
        b.ftl.effects.push(Effect::Lose { lpn: found.lpn });
        if found.newer.is_some() {
            self.follow_up(slot, found.newer, b);
        } else {
            self.staging.release(slot);
            b.ftl.effects.push(Effect::Release { slot });
        }
    }

    /// A program of host data is done; `units` of its slots are told one by one with [`Host::on_programmed`].
    pub fn on_program_done(&mut self) {
        self.programs -= 1;
    }

    /// A slot's data is in flash, or its program failed.
    pub fn on_programmed(&mut self, done: &Programmed, b: &mut Below<'_>) {
        let slot = done.slot;
        let found = *self.staging.get(slot);
        if found.dead {
            self.staging.release(slot);
            b.ftl.effects.push(Effect::Release { slot });
            return;
        }
        if done.outcome == Outcome::Fail {
            // It is gathered again already, before all others.
            self.urgent += u32::from(found.is_awaited());
            self.staging.set_state(slot, SlotState::Gathered, false);
            return;
        }
        if found.waiter.is_some() {
            self.staging.get_mut(slot).waiter = CommandId::NONE;
            self.slot_is_safe(found.waiter, done, b);
        }
        if found.newer.is_some() {
            self.follow_up(slot, found.newer, b);
        } else if self.rules.write_back && !found.leaving {
            self.staging.get_mut(slot).promoted = false;
            self.staging.set_state(slot, SlotState::Clean, false);
        } else {
            self.staging.release(slot);
            b.ftl.effects.push(Effect::Release { slot });
        }
    }

    /// The older version of a unit is in flash: the newer takes what it lacks from it and may go.
    fn follow_up(&mut self, old: SlotId, new: SlotId, b: &mut Below<'_>) {
        let fill = self.staging.get(old).mask & !self.staging.get(new).mask;
        if fill != 0 {
            b.ftl.effects.push(Effect::Fill { slot: new, from: Source::Slot(old), mask: fill });
            self.fill_class_from_slot(new, old, b);
            self.staging.get_mut(new).mask |= fill;
        }
        self.staging.release(old);
        b.ftl.effects.push(Effect::Release { slot: old });
        let hurry = self.staging.get(new).is_awaited();
        self.urgent += u32::from(hurry);
        self.staging.set_state(new, SlotState::Dirty, hurry);
    }

    /// One of the slots a command waits for is in flash.
    fn slot_is_safe(&mut self, id: CommandId, done: &Programmed, b: &mut Below<'_>) {
        let entry = self.commands.get_mut(id);
        entry.outstanding -= 1;
        if entry.outstanding == 0 && entry.cursor == entry.end {
            entry.book_operation(done.queued, &done.times, b.now);
            entry.ready_at = b.now;
            if self.waiters.are_told() {
                self.waiters.end_operation(id, self.commands.get(id), b.flash, None);
            }
            self.end_durable(id, b);
            let entry = self.commands.get(id);
            if entry.command.fua || self.writes_wait {
                return self.answer(id, b);
            }
            self.respond(id, b);
        }
    }

    /// After programs: waiting writes, flushes, further programs and reads go on.
    pub fn after_programs(&mut self, b: &mut Below<'_>) {
        while let Some(id) = self.stalled.pop(&self.commands) {
            if !self.requeue_stalled(id, b) {
                break;
            }
        }
        while let Some(id) = self.flushes.front()
            && self.staging.is_flushed(self.commands.get(id).flush)
        {
            self.flushes.pop(&self.commands);
            self.book_buffer(id, b);
            self.answer(id, b);
        }
        self.flush_some(b);
        self.feed_starved(b);
    }

    /// Goes on with a stalled write; if it stalls again it stays the first in line.
    fn requeue_stalled(&mut self, id: CommandId, b: &mut Below<'_>) -> bool {
        if self.waiters.are_told() {
            self.book_buffer(id, b);
        }
        let rest = std::mem::replace(&mut self.stalled, super::CommandList::EMPTY);
        let finished = self.continue_write(id, b);
        if finished {
            self.stalled = rest;
        } else {
            self.counts.buffer_stalls -= 1;
            self.stalled.append(&mut self.commands, rest);
        }
        finished
    }

    /// A command has waited in the buffer: for room, or for data to be in flash.
    #[inline]
    fn book_buffer(&mut self, id: CommandId, b: &Below<'_>) {
        self.commands.get_mut(id).book(Part::BufferWait, b.now);
        self.waiters.end(id, b.flash, b.now);
    }

    pub(super) fn start_flush(&mut self, id: CommandId, b: &mut Below<'_>) {
        let number = self.staging.begin_flush();
        let entry = self.commands.get_mut(id);
        entry.flush = number;
        if self.staging.is_flushed(number) {
            return self.answer(id, b);
        }
        if self.read_only.is_some() {
            self.commands.get_mut(id).status = Status::ReadOnly;
            return self.respond(id, b);
        }
        self.flushes.push(&mut self.commands, id);
        self.waiters.begin(id, b.flash, b.now);
        self.flush_some(b);
    }

    /// Forgets the whole units a command covers; the parts of units at its ends are kept.
    pub(super) fn trim(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.commands.get(id);
        let (first, end) = (entry.command.lba.0, entry.command.lba.0 + u64::from(entry.command.sectors));
        for lpn in self.shape.covered(first, end) {
            if b.ftl.locks.are_on() {
                self.note_dropped(Lpn(lpn), b);
            }
            b.ftl.trim(Lpn(lpn));
            self.drop_slots(Lpn(lpn), b);
        }
        let entry = self.commands.get_mut(id);
        entry.cursor = entry.end;
        if self.read_only == Some(Reason::Full) {
            self.read_only = None;
        }
        self.answer(id, b);
        self.after_programs(b);
    }

    /// Gives up the slots of a trimmed unit. Programs under way lose their target; who waited for them is served.
    fn drop_slots(&mut self, lpn: Lpn, b: &mut Below<'_>) {
        let mut slot = self.staging.forget(lpn);
        while slot.is_some() {
            let found = *self.staging.get(slot);
            let older = self.staging.detach(slot);
            self.urgent -= u32::from(found.is_urgent());
            if found.waiter.is_some() {
                self.staging.get_mut(slot).waiter = CommandId::NONE;
                let done =
                    Programmed { slot, outcome: Outcome::Pass, queued: b.now, times: Default::default() };
                self.slot_is_safe(found.waiter, &done, b);
            }
            match found.state {
                SlotState::Programming => b.ftl.withdraw_program(b.flash, found.op, found.place),
                SlotState::Merging => {}
                state => {
                    if state == SlotState::Gathered {
                        b.ftl.withdraw(slot);
                    }
                    self.staging.release(slot);
                    b.ftl.effects.push(Effect::Release { slot });
                }
            }
            slot = older;
        }
    }

    /// The drive can make no room: everything that waits for it ends with a status.
    pub fn end_in_read_only(&mut self, reason: Reason, b: &mut Below<'_>) {
        self.read_only = Some(reason);
        b.ftl.waits.grant(Lack::Page, false);
        self.urgent = 0;
        for slot in (0..self.staging.len()).map(SlotId) {
            let found = *self.staging.get(slot);
            if found.waiter.is_some() {
                self.commands.get_mut(found.waiter).status = Status::ReadOnly;
                let done =
                    Programmed { slot, outcome: Outcome::Pass, queued: b.now, times: Default::default() };
                self.staging.get_mut(slot).waiter = CommandId::NONE;
                self.slot_is_safe(found.waiter, &done, b);
            }
            self.urgent += u32::from(self.staging.get(slot).is_urgent());
        }
        while let Some(id) = self.stalled.pop(&self.commands) {
            self.continue_write(id, b);
        }
        while let Some(id) = self.flushes.pop(&self.commands) {
            self.commands.get_mut(id).status = Status::ReadOnly;
            self.book_buffer(id, b);
            self.respond(id, b);
        }
    }

    /// Whether something waits that only programs can serve.
    pub fn waits_for_room(&self) -> bool {
        self.read_only.is_none() && self.must_hurry()
    }

    /// Starts writing everything dirty to flash, as a FLUSH would.
    pub fn hurry(&mut self, on: bool, b: &mut Below<'_>) {
        self.hurrying = on;
        self.flush_some(b);
    }

    /// Slots that hold data not in flash.
    pub fn unclean(&self) -> u32 {
        self.staging.unclean()
    }

    /// Gives up all clean slots: for a change of executor or a direct write below the buffer.
    pub fn drop_clean(&mut self, b: &mut Below<'_>) {
        while let Some(slot) = self.staging.oldest_clean() {
            self.staging.release(slot);
            b.ftl.effects.push(Effect::Release { slot });
        }
    }
}
