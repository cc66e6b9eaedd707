//! Commands that are complete when what they have killed cannot be read any more (`ftl.sanitize.acknowledge`), and of
//! what class the data is that they write.

use super::staging::SlotState;
use super::{Below, Host};
use crate::observe::Source;
use crate::signals::{Hints, Part, Status};
use crate::units::{CommandId, Lpn, SlotId};

impl Host {
    /// A trim, a flush or a write to the medium has done its work: it is answered, when the locks allow that.
    #[inline]
    pub(super) fn answer(&mut self, id: CommandId, b: &mut Below<'_>) {
        if b.ftl.locks.are_on() { self.answer_when_locked(id, b) } else { self.respond(id, b) }
    }

    #[cold]
    fn answer_when_locked(&mut self, id: CommandId, b: &mut Below<'_>) {
        match b.ftl.locks.wait_for_locks(&b.ftl.tables, &mut b.ftl.work, &mut b.ftl.waits) {
            Some(ticket) => {
                self.commands.get_mut(id).flush = ticket;
                self.unlocked.push(&mut self.commands, id);
            }
            None => self.respond(id, b),
        }
    }

    /// The units of a command that is complete when its data is in flash, where its deaths are taken together.
    fn durable(&self, id: CommandId, b: &Below<'_>) -> Option<core::ops::Range<u32>> {
        let entry = self.commands.get(id);
        let is_durable = b.ftl.locks.are_on() && (entry.command.fua || !self.rules.write_back);
        is_durable.then(|| self.shape.unit_of(entry.command.lba.0) as u32..entry.end)
    }

    /// A unit of a write has a slot. With the first of them the write begins.
    #[cold]
    pub(super) fn begin_durable(&self, id: CommandId, b: &mut Below<'_>) {
        let cursor = self.commands.get(id).cursor;
        if let Some(units) = self.durable(id, b).filter(|units| units.start == cursor) {
            b.ftl.locks.begin_write(units);
        }
    }

    /// All its data is in flash, or never will be.
    #[cold]
    pub(super) fn end_durable(&self, id: CommandId, b: &mut Below<'_>) {
        if let Some(units) = self.durable(id, b) {
            b.ftl.locks.end_write(&b.ftl.tables, &mut b.ftl.work, units);
        }
    }

    /// Whether a command waits for locks.
    pub fn waits_for_locks(&self) -> bool {
        self.unlocked.front().is_some()
    }

    /// Commands whose locks are there are answered; if none will come for the others these fail.
    #[cold]
    pub fn after_locks(&mut self, others_fail: bool, b: &mut Below<'_>) {
        while let Some(id) = self.unlocked.front() {
            if !b.ftl.locks.is_locked(self.commands.get(id).flush) {
                if !others_fail {
                    break;
                }
                self.commands.get_mut(id).status = Status::ReadOnly;
            }
            self.unlocked.pop(&self.commands);
            let entry = self.commands.get_mut(id);
            self.waiters.add_locks(id, b.now.since(entry.mark));
            entry.book(Part::LockWait, b.now);
            self.respond(id, b);
        }
        if !self.waits_for_locks() {
            b.ftl.locks.end_wait_for_locks(&mut b.ftl.waits);
        }
    }

    /// The class of what a slot holds after a command of a class has written to it: what it held before may still be
    /// there.
    #[cold]
    pub(super) fn class_of_slot(&self, slot: SlotId, said: u8, is_fresh: bool, b: &Below<'_>) -> u8 {
        let class = b.ftl.locks.class_of(said);
        let before = self.said.get(slot.index()).map_or(0, |said| said.hints.class);
        if is_fresh { class } else { class.max(before) }
    }

    /// A slot takes what it lacks from elsewhere: it is as secret as that.
    #[cold]
    fn secure(&mut self, slot: SlotId, class: u8) {
        if let Some(said) = self.said.get_mut(slot.index()) {
            said.hints.class = said.hints.class.max(class);
        }
    }

    /// The same, from flash.
    #[inline]
    pub(super) fn fill_class_from_flash(&mut self, slot: SlotId, from: Source, b: &Below<'_>) {
        if b.ftl.locks.are_on() && b.ftl.tables.is_secured(from) {
            self.secure(slot, Hints::SECURE);
        }
    }

    /// A slot holds what was read, and nothing else.
    #[inline]
    pub(super) fn take_class_from_flash(&mut self, slot: SlotId, from: Source, b: &Below<'_>) {
        if b.ftl.locks.are_on()
            && let Some(said) = self.said.get_mut(slot.index())
        {
            said.hints.class = if b.ftl.tables.is_secured(from) { Hints::SECURE } else { Hints::INSECURE };
        }
    }

    /// What is being programmed of a unit that is trimmed will be exposed: before anybody is answered for it.
    #[cold]
    pub(super) fn note_dropped(&mut self, lpn: Lpn, b: &mut Below<'_>) {
        let mut slot = self.staging.find(lpn);
        while slot.is_some() {
            let found = *self.staging.get(slot);
            if found.state == SlotState::Programming {
                b.ftl.withdraw_program(b.flash, found.op, found.place);
            }
            slot = found.older;
        }
    }

    /// The same, from another slot.
    #[inline]
    pub(super) fn fill_class_from_slot(&mut self, slot: SlotId, from: SlotId, b: &Below<'_>) {
        if b.ftl.locks.are_on() {
            let class = self.said.get(from.index()).map_or(0, |said| said.hints.class);
            self.secure(slot, class);
        }
    }
}
