//! Reads: from DRAM slots, from flash, or zeros.

use super::staging::SlotState;
use super::{Below, Host};
use crate::flash::op::{Cause, Op, UNITS_AT_MOST, UnitRef};
use crate::nand::Outcome;
use crate::observe::{Effect, Source};
use crate::signals::{Part, Status};
use crate::units::{CommandId, Lpn, NONE, OpId, Pun, SimTime, SlotId};

impl Host {
    /// Reads the command's units from where it stopped; units of one page become one operation.
    pub(super) fn continue_read(&mut self, id: CommandId, b: &mut Below<'_>) {
        let mut last = (OpId::NONE, Pun::NONE);
        loop {
            let entry = self.commands.get(id);
            let (cursor, end) = (entry.cursor, entry.end);
            if cursor == end {
                break;
            }
            if b.flash.pool.host_room() == 0 {
                self.starved.push(&mut self.commands, id);
                return;
            }
            let first = entry.command.lba.0;
            let mask = self.shape.mask(cursor, first, first + u64::from(entry.command.sectors));
            self.read_unit(id, Lpn(cursor), mask, &mut last, b);
            self.commands.get_mut(id).cursor = cursor + 1;
        }
        if self.commands.get(id).outstanding == 0 {
            self.respond(id, b);
        }
    }

    /// Reads the granules of `mask` of one unit: slots first, newest to oldest, then flash.
    fn read_unit(&mut self, id: CommandId, lpn: Lpn, mask: u64, last: &mut (OpId, Pun), b: &mut Below<'_>) {
        let missing = self.read_slots(id, lpn, mask, b);
        if missing == 0 {
            self.counts.buffer_hits += 1;
            return;
        }
        let unit = b.ftl.place_to_read(lpn);
        if !unit.is_some() && b.ftl.map.is_lost(lpn) {
            self.commands.get_mut(id).status = Status::Uncorrectable;
            return;
        }
        if !unit.is_some() {
            self.counts.unmapped_reads += 1;
            let tag = self.commands.get(id).command.tag;
            b.ftl.effects.push(Effect::Read { tag, lpn, from: Source::Zero, mask: missing });
            self.needs_access(id, b.now);
            return;
        }
        self.counts.buffer_misses += 1;
        b.ftl.count_read_of(lpn, unit);
        let wanted = UnitRef { mask: missing, ..UnitRef::new(lpn.0, unit.0) };
        let bytes = self.shape.bytes(missing);
        if last.0.is_some() && b.ftl.layout.share_page(last.1, unit) {
            b.ftl.note_unit(lpn);
            b.flash.pool.extend(last.0, wanted);
            b.flash.pool.get_mut(last.0).bytes += bytes;
            return;
        }
        let op = b.ftl.read(b.flash, Cause::Host, bytes, id.0, wanted);
        self.commands.get_mut(id).outstanding += 1;
        *last = (op, unit);
    }

    /// Serves granules from the unit's slots; returns those still missing.
    fn read_slots(&mut self, id: CommandId, lpn: Lpn, mask: u64, b: &mut Below<'_>) -> u64 {
        let mut missing = mask;
        let mut slot = self.staging.find(lpn);
        while slot.is_some() && missing != 0 {
            let found = *self.staging.get(slot);
            let here = missing & found.mask;
            if here != 0 {
                missing &= !here;
                let tag = self.commands.get(id).command.tag;
                b.ftl.effects.push(Effect::Read { tag, lpn, from: Source::Slot(slot), mask: here });
                self.needs_access(id, b.now);
                if matches!(found.state, SlotState::Clean | SlotState::Dirty) && !found.waiter.is_some() {
                    self.staging.set_state(slot, found.state, false);
                }
            }
            slot = found.older;
        }
        missing
    }

    /// The command's data passes DRAM from now on.
    #[inline]
    fn needs_access(&mut self, id: CommandId, now: SimTime) {
        let ready = SimTime(now.0 + self.rules.access_ns);
        let entry = self.commands.get_mut(id);
        entry.ready_at = entry.ready_at.max(ready);
    }

    /// A flash read for a command is done.
    #[inline]
    pub fn on_read(&mut self, id: OpId, op: &Op, b: &mut Below<'_>) {
        let command = CommandId(op.tag);
        let waiting = b.flash.pool.units(id).last().is_some_and(|unit| unit.source == NONE);
        if op.outcome == Outcome::Fail || waiting {
            return self.read_on_elsewhere(id, op, b);
        }
        if b.ftl.effects.is_on() || self.rules.keep_reads {
            self.tell_and_keep(id, command, b);
        }
        b.flash.pool.remove(id);
        self.end_operation(command, op, b);
    }

    /// One of the flash reads that a command waits for is over.
    #[inline]
    fn end_operation(&mut self, command: CommandId, op: &Op, b: &mut Below<'_>) {
        let entry = self.commands.get_mut(command);
        entry.outstanding -= 1;
        if entry.outstanding == 0 && entry.cursor == entry.end {
            entry.book_operation(op.queued, &op.times, b.now);
            self.respond(command, b);
        }
        self.feed_starved(b);
    }

    /// A flash read for a command could not be corrected, or units wait behind it. What still lies there is lost; what
    /// has moved since the read was issued, or has a second copy, is read from where it is now.
    fn read_on_elsewhere(&mut self, id: OpId, op: &Op, b: &mut Below<'_>) {
        let command = CommandId(op.tag);
        let mut again = [UnitRef::PADDING; UNITS_AT_MOST];
        let (mut count, mut read) = (0, 0);
        for i in 0..usize::from(op.units) {
            let unit = b.flash.pool.units(id)[i];
            let waiting = unit.source == NONE;
            if !waiting && op.outcome == Outcome::Pass {
                read += 1;
            } else if !waiting && b.ftl.read_failed(Lpn(unit.lpn), Pun(unit.source)) {
                self.commands.get_mut(command).status = Status::Uncorrectable;
            } else {
                (again[count], count) = (unit, count + 1);
            }
        }
        b.flash.pool.get_mut(id).units = read;
        self.tell_and_keep(id, command, b);
        b.flash.pool.remove(id);
        let mut last = (OpId::NONE, Pun::NONE);
        for &unit in &again[..count] {
            if b.flash.pool.host_room() == 0 {
                // There was room for one read; the rest waits behind it.
                b.flash.pool.extend(last.0, UnitRef { source: NONE, ..unit });
            } else {
                self.read_unit(command, Lpn(unit.lpn), unit.mask, &mut last, b);
            }
        }
        self.end_operation(command, op, b);
    }

    fn tell_and_keep(&mut self, id: OpId, command: CommandId, b: &mut Below<'_>) {
        let tag = self.commands.get(command).command.tag;
        for i in 0..b.flash.pool.units(id).len() {
            let unit = b.flash.pool.units(id)[i];
            let (lpn, from) = (Lpn(unit.lpn), Pun(unit.source));
            b.ftl.effects.push(Effect::Read { tag, lpn, from: Source::Flash(from), mask: unit.mask });
            let current = b.ftl.is_current(lpn, from);
            if self.rules.keep_reads
                && current
                && unit.mask == self.shape.full
                && !self.staging.find(lpn).is_some()
            {
                self.keep(lpn, from, b);
            }
        }
    }

    /// Keeps a unit just read in a slot, if one is free or clean.
    fn keep(&mut self, lpn: Lpn, from: Pun, b: &mut Below<'_>) {
        let Some((slot, evicted)) = self.staging.take(lpn) else { return };
        self.tell_release(slot, evicted, b);
        let mask = self.shape.full;
        self.staging.get_mut(slot).mask = mask;
        self.staging.set_state(slot, SlotState::Clean, false);
        b.ftl.effects.push(Effect::Fill { slot, from: Source::Flash(from), mask });
    }

    pub(super) fn tell_release(&self, slot: SlotId, evicted: bool, b: &mut Below<'_>) {
        if evicted {
            b.ftl.effects.push(Effect::Release { slot });
        }
    }

    /// Lets programs and reads that waited for flash operations go on.
    #[inline]
    pub fn feed_starved(&mut self, b: &mut Below<'_>) {
        if std::mem::take(&mut self.held_back) {
            self.flush_some(b);
        }
        while b.flash.pool.host_room() > 0
            && let Some(command) = self.starved.pop(&self.commands)
        {
            self.commands.get_mut(command).book(Part::Dispatch, b.now);
            self.continue_read(command, b);
        }
    }
}
