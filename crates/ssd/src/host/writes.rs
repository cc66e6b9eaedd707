//! Writes, trims and flushes: data into slots, slots into pages.

use super::Below;
use super::buffer::Flush;
use super::command::CommandList;
use super::commands::Commands;
use super::slots::Slots;
use super::staging::SlotState;
use crate::ftl::Programmed;
use crate::ftl::stream::Said;
use crate::ftl::write::waits::Lack;
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::signals::{Reason, Status};
use crate::units::{CommandId, Lpn, OpId, SimTime, SlotId};
use serde::{Deserialize, Serialize};

/// Writes and flushes that wait, and whether there is any use in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Writes {
    /// Writes that wait for slots.
    pub stalled: CommandList,
    /// Flushes that wait.
    pub flushes: CommandList,
    /// Trims that wait for the locks of what they have invalidated.
    pub trims: CommandList,
    pub read_only: Option<Reason>,
}

impl Writes {
    /// None yet.
    pub const NONE: Writes = Writes {
        stalled: CommandList::EMPTY,
        flushes: CommandList::EMPTY,
        trims: CommandList::EMPTY,
        read_only: None,
    };

    /// Puts the command's units in slots from where it stopped.
    pub fn continue_write(
        &mut self,
        id: CommandId,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        let entry = commands.table.get(id);
        let durable = slots.rules.is_durable(entry.command.fua);
        let (first, end) = (entry.command.lba.0, entry.command.lba.0 + u64::from(entry.command.sectors));
        while commands.table.get(id).cursor < commands.table.get(id).end {
            let lpn = commands.table.get(id).cursor;
            let mask = slots.shape.mask(lpn, first, end);
            if self.read_only.is_some() {
                self.refuse_unit(id, slots, commands, b);
            } else if !self.write_unit(id, (Lpn(lpn), mask, durable), slots, commands, b) {
                commands.counts.buffer_stalls += 1;
                self.stalled.push(&mut commands.table, id);
                return false;
            }
            commands.table.get_mut(id).cursor += 1;
        }
        let access_ns = slots.rules.access_ns;
        commands.book_buffer(id, b);
        let entry = commands.table.get_mut(id);
        if entry.outstanding == 0 {
            entry.ready_at = SimTime(b.now.0 + access_ns);
            commands.respond(id, b);
        }
        true
    }

    /// A drive in read-only takes no unit of a command any more.
    #[cold]
    fn refuse_unit(&mut self, id: CommandId, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
        let entry = commands.table.get_mut(id);
        entry.status = Status::ReadOnly;
        if entry.outstanding == 0 && entry.cursor + 1 == entry.end {
            commands.end_durable(id, slots, b);
        }
    }

    /// Puts write data for one unit in a slot: the unit's newest, if it may still change, or a new one.
    fn write_unit(
        &mut self,
        id: CommandId,
        (lpn, mask, durable): (Lpn, u64, bool),
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        let newest = slots.staging.find(lpn);
        let state = if newest.is_some() { slots.staging.get(newest).state } else { SlotState::Free };
        let open = newest.is_some()
            && state != SlotState::Programming
            && !slots.staging.get(newest).waiter.is_some();
        let slot = if open {
            newest
        } else {
            let Some((slot, evicted)) = slots.staging.take(lpn) else { return false };
            slots.take_over(slot, evicted, &mut commands.counts, b);
            slot
        };
        slots.follow(slot, true);
        let tag = commands.table.get(id).command.tag;
        b.ftl.moves.media.effects.push(Effect::Accept { tag, lpn, slot, mask, fresh: !open });
        slots.staging.get_mut(slot).mask |= mask;
        commands.counts.buffer_overwrites += u64::from(open && state != SlotState::Clean);
        if durable {
            commands.table.get_mut(id).outstanding += 1;
            slots.staging.get_mut(slot).waiter = id;
        }
        if !slots.said.is_empty() {
            note_said(id, slot, !open, slots, commands, b);
        }
        match state {
            _ if !open && newest.is_some() => slots.staging.set_state(slot, SlotState::Behind, false),
            SlotState::Merging | SlotState::Behind => {}
            SlotState::Gathered => {
                let bytes = slots.shape.bytes(slots.staging.get(slot).mask);
                b.ftl.offer_again(slot, bytes, slots.said_of(slot), slots.staging.get(slot).is_awaited());
                slots.use_aside(b);
            }
            _ => slots.staging.set_state(slot, SlotState::Dirty, durable),
        }
        let behind = slots.staging.get(slot).state == SlotState::Behind;
        slots.urgent += u32::from(durable && !behind);
        true
    }

    /// After programs: waiting writes go on, and flushes are answered.
    pub fn go_on(&mut self, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
        while let Some(id) = self.stalled.pop(&commands.table) {
            if !self.requeue_stalled(id, slots, commands, b) {
                break;
            }
        }
        while let Some(id) = self.flushes.front()
            && slots.staging.is_flushed(commands.table.get(id).flush)
        {
            self.flushes.pop(&commands.table);
            commands.book_buffer(id, b);
            commands.answer(id, b);
        }
    }

    /// Goes on with a stalled write; if it stalls again it stays the first in line.
    fn requeue_stalled(
        &mut self,
        id: CommandId,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        if commands.waiters.are_told() {
            commands.book_buffer(id, b);
        }
        let rest = std::mem::replace(&mut self.stalled, CommandList::EMPTY);
        let finished = self.continue_write(id, slots, commands, b);
        if finished {
            self.stalled = rest;
        } else {
            commands.counts.buffer_stalls -= 1;
            self.stalled.append(&mut commands.table, rest);
        }
        finished
    }

    /// A flush waits for what is dirty now, or is answered; whether it waits.
    pub fn start_flush(
        &mut self,
        id: CommandId,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        if slots.rules.flush == Flush::Capacitors && self.read_only.is_none() {
            commands.answer(id, b);
            return false;
        }
        let number = slots.staging.begin_flush();
        let entry = commands.table.get_mut(id);
        entry.flush = number;
        if slots.staging.is_flushed(number) {
            commands.answer(id, b);
            return false;
        }
        if self.read_only.is_some() {
            commands.table.get_mut(id).status = Status::ReadOnly;
            commands.respond(id, b);
            return false;
        }
        self.flushes.push(&mut commands.table, id);
        commands.waiters.begin(id, b.flash, b.now);
        true
    }

    /// Forgets the whole units a command covers; the parts of units at its ends are kept. Where exposure has a bound,
    /// no more at once than can be locked in time: the rest waits.
    pub fn trim(&mut self, id: CommandId, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
        if !self.trims.is_empty() || !self.trim_some(id, slots, commands, b) {
            commands.waiters.begin(id, b.flash, b.now);
            self.trims.push(&mut commands.table, id);
        }
    }

    /// Trims that wait go on, as far as they may.
    #[cold]
    pub fn go_on_with_trims(&mut self, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
        while let Some(id) = self.trims.pop(&commands.table) {
            let rest = std::mem::replace(&mut self.trims, CommandList::EMPTY);
            let before = commands.table.get(id).cursor;
            commands.book_buffer(id, b);
            let is_over = self.trim_some(id, slots, commands, b);
            if is_over || commands.table.get(id).cursor != before {
                // Who waits for slots may have those of what was trimmed.
                b.ftl.moves.media.waits.come(Lack::Slot);
            }
            if !is_over {
                commands.waiters.begin(id, b.flash, b.now);
                self.trims.push(&mut commands.table, id);
            }
            self.trims.append(&mut commands.table, rest);
            if !is_over {
                return;
            }
        }
    }

    /// Forgets what of a trim may be forgotten now. Whether that is all, and it is answered.
    fn trim_some(
        &mut self,
        id: CommandId,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        let is_bounded = b.ftl.moves.media.locks.bound.is_on() && self.read_only.is_none();
        let entry = commands.table.get(id);
        let (first, end) = (entry.command.lba.0, entry.command.lba.0 + u64::from(entry.command.sectors));
        let covered = slots.shape.covered(first, end);
        for lpn in covered.start.max(entry.cursor)..covered.end {
            if is_bounded && !may_trim(Lpn(lpn), slots, b) {
                commands.table.get_mut(id).cursor = lpn;
                return false;
            }
            if b.ftl.moves.media.locks.are_on() {
                note_dropped(Lpn(lpn), slots, b);
            }
            b.ftl.trim(Lpn(lpn));
            drop_slots(Lpn(lpn), slots, commands, b);
        }
        let entry = commands.table.get_mut(id);
        entry.cursor = entry.end;
        if self.read_only == Some(Reason::Full) {
            self.read_only = None;
        }
        commands.answer(id, b);
        true
    }

    /// The drive can make no room: everything that waits for it ends with a status.
    pub fn end_in_read_only(
        &mut self,
        reason: Reason,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) {
        self.read_only = Some(reason);
        b.ftl.moves.media.waits.grant(Lack::Page, false);
        slots.urgent = 0;
        for slot in (0..slots.staging.len()).map(SlotId) {
            let found = *slots.staging.get(slot);
            if found.waiter.is_some() {
                commands.table.get_mut(found.waiter).status = Status::ReadOnly;
                let done =
                    Programmed { slot, outcome: Outcome::Pass, queued: b.now, times: Default::default() };
                slots.staging.get_mut(slot).waiter = CommandId::NONE;
                commands.slot_is_safe(found.waiter, &done, slots, b);
            }
            slots.urgent += u32::from(slots.staging.get(slot).is_urgent());
        }
        while let Some(id) = self.stalled.pop(&commands.table) {
            self.continue_write(id, slots, commands, b);
        }
        self.go_on_with_trims(slots, commands, b);
        while let Some(id) = self.flushes.pop(&commands.table) {
            commands.table.get_mut(id).status = Status::ReadOnly;
            commands.book_buffer(id, b);
            commands.respond(id, b);
        }
    }
}

/// Whether what a trim of a unit invalidates can be locked in time: the copy in flash, and what is being programmed.
#[cold]
fn may_trim(lpn: Lpn, slots: &Slots, b: &mut Below<'_>) -> bool {
    let (mut slot, mut program) = (slots.staging.find(lpn), OpId::NONE);
    while slot.is_some() {
        let found = slots.staging.get(slot);
        if found.state == SlotState::Programming {
            program = found.op;
        }
        slot = found.older;
    }
    b.ftl.may_trim(b.flash, lpn, program)
}

/// What is being programmed of a unit that is trimmed will be exposed: before anybody is answered for it.
#[cold]
fn note_dropped(lpn: Lpn, slots: &Slots, b: &mut Below<'_>) {
    let mut slot = slots.staging.find(lpn);
    while slot.is_some() {
        let found = *slots.staging.get(slot);
        if found.state == SlotState::Programming {
            b.ftl.withdraw_program(b.flash, found.op, found.place);
        }
        slot = found.older;
    }
}

/// Gives up the slots of a trimmed unit. Programs under way lose their target; who waited for them is served.
fn drop_slots(lpn: Lpn, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
    let mut slot = slots.staging.forget(lpn);
    while slot.is_some() {
        let found = *slots.staging.get(slot);
        let older = slots.staging.detach(slot);
        slots.urgent -= u32::from(found.is_urgent());
        if found.waiter.is_some() {
            slots.staging.get_mut(slot).waiter = CommandId::NONE;
            let done = Programmed { slot, outcome: Outcome::Pass, queued: b.now, times: Default::default() };
            commands.slot_is_safe(found.waiter, &done, slots, b);
        }
        match found.state {
            SlotState::Programming => b.ftl.withdraw_program(b.flash, found.op, found.place),
            SlotState::Merging => {}
            state => {
                if state == SlotState::Gathered {
                    b.ftl.gather.take(slot);
                }
                slots.release(slot, b);
            }
        }
        slot = older;
    }
}

/// What the host says with a write is kept with its slot.
#[inline]
fn note_said(
    id: CommandId,
    slot: SlotId,
    is_fresh: bool,
    slots: &mut Slots,
    commands: &mut Commands,
    b: &mut Below<'_>,
) {
    let command = &commands.table.get(id).command;
    let mut said = Said { hints: command.hints, sectors: command.sectors };
    if b.ftl.moves.media.locks.are_on() {
        said.hints.class = slots.class_of_slot(slot, said.hints.class, is_fresh, b);
        commands.begin_durable(id, slots, b);
    }
    slots.said[slot.index()] = said;
}
