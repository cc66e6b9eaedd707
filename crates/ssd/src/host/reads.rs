//! Reads: from DRAM slots, from flash, or zeros.

use super::staging::SlotState;
use super::{Below, Host};
use crate::flash::op::UNITS_AT_MOST;
use crate::ftl::write::waits::Lack;
use crate::ftl::{Brought, End, Found, LastRead};
use crate::observe::{Effect, Source};
use crate::signals::{Part, Priority, Status};
use crate::units::{CommandId, Lpn, OpId, SimTime};

impl Host {
    /// Reads the command's units from where it stopped; units of one page become one operation.
    pub(super) fn continue_read(&mut self, id: CommandId, b: &mut Below<'_>) {
        let mut last = LastRead::NONE;
        loop {
            let entry = self.commands.get(id);
            let (cursor, end) = (entry.cursor, entry.end);
            if cursor == end {
                break;
            }
            if !b.may_issue() {
                self.starved.push(&mut self.commands, id);
                return;
            }
            let first = entry.command.lba.0;
            let mask = self.shape.mask(cursor, first, first + u64::from(entry.command.sectors));
            if self.tells_reads {
                self.tell_read(id, Lpn(cursor), b);
            }
            self.read_unit(id, Lpn(cursor), mask, &mut last, b);
            self.commands.get_mut(id).cursor = cursor + 1;
        }
        if self.commands.get(id).outstanding == 0 {
            self.respond(id, b);
        }
    }

    /// A command reads a unit, wherever that is: once, however often flash is asked. A read that is said to be the only
    /// one (a scrub) tells nothing.
    #[inline(never)]
    fn tell_read(&self, id: CommandId, lpn: Lpn, b: &mut Below<'_>) {
        if !self.commands.get(id).command.hints.one_time {
            b.ftl.note_host_read(lpn);
        }
    }

    /// Reads the granules of `mask` of one unit: slots first, newest to oldest, then flash.
    #[inline]
    fn read_unit(&mut self, id: CommandId, lpn: Lpn, mask: u64, last: &mut LastRead, b: &mut Below<'_>) {
        let missing = self.read_slots(id, lpn, mask, b);
        if self.follows {
            let newest = self.staging.find(lpn);
            if newest.is_some() {
                self.follow(newest, false);
            }
        }
        if missing == 0 {
            self.counts.buffer_hits += 1;
            return;
        }
        let bytes = self.shape.bytes(missing);
        let priority =
            if self.classes { self.commands.get(id).command.hints.class() } else { Priority::Medium };
        match b.ftl.read_unit(b.flash, (id.0, priority), (lpn, missing, bytes), last) {
            Found::Issued => {
                self.counts.buffer_misses += 1;
                self.commands.get_mut(id).outstanding += 1;
            }
            Found::Joined => self.counts.buffer_misses += 1,
            Found::Lost => self.commands.get_mut(id).status = Status::Uncorrectable,
            Found::Nowhere => {
                self.counts.unmapped_reads += 1;
                let tag = self.commands.get(id).command.tag;
                b.ftl.effects.push(Effect::Read { tag, lpn, from: Source::Zero, mask: missing });
                self.needs_access(id, b.now);
            }
        }
    }

    /// Serves granules from the unit's slots; returns those still missing.
    #[inline]
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
                    self.staging.set_state(slot, found.state, found.hurried);
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
    pub fn on_read(&mut self, id: OpId, b: &mut Below<'_>) {
        let command = CommandId(b.flash.of_host().tag(id));
        if !b.flash.of_host().is_whole(id) || b.ftl.effects.is_on() || self.rules.keep_reads {
            return self.look_at_read(id, command, b);
        }
        b.flash.forget(id);
        self.end_operation(command, id, b);
    }

    /// One of the flash reads that a command waits for is over and has been removed.
    #[inline]
    fn end_operation(&mut self, command: CommandId, id: OpId, b: &mut Below<'_>) {
        let entry = self.commands.get_mut(command);
        entry.outstanding -= 1;
        if entry.outstanding == 0 && entry.cursor == entry.end {
            let spent = b.flash.of_host().spent(id);
            entry.book_operation(spent.queued, &spent.times, b.now);
            if self.waiters.are_told() {
                self.waiters.end_operation(command, entry, b.flash, Some(id));
            }
            self.respond(command, b);
        }
        self.feed_starved(b);
    }

    /// The units of a flash read for a command, one by one: some are kept, and some are to be read again.
    fn look_at_read(&mut self, id: OpId, command: CommandId, b: &mut Below<'_>) {
        let tag = self.commands.get(command).command.tag;
        let nothing = Brought { lpn: Lpn::NONE, mask: 0, end: End::Again };
        let mut brought = [nothing; UNITS_AT_MOST];
        let count = b.ftl.end_read(b.flash, id, tag, &mut brought);
        for &Brought { lpn, mask, end } in &brought[..count] {
            match end {
                End::Lost => self.commands.get_mut(command).status = Status::Uncorrectable,
                End::Read { from, current: true } if self.keeps(lpn, mask) => self.keep(lpn, from, b),
                End::Read { .. } | End::Again => {}
            }
        }
        let mut last = LastRead::NONE;
        for &Brought { lpn, mask, .. } in brought[..count].iter().filter(|unit| unit.end == End::Again) {
            if b.may_issue() {
                self.read_unit(command, lpn, mask, &mut last, b);
            } else {
                // There was room for one read; the rest waits behind it.
                b.ftl.read_behind(b.flash, lpn, mask, &last);
            }
        }
        self.end_operation(command, id, b);
        if self.rules.one_list {
            // What was kept may have taken room that is to be free.
            self.flush_some(b);
        }
    }

    /// Whether a unit just read stays in DRAM: if it is whole, and nothing newer is there.
    fn keeps(&self, lpn: Lpn, mask: u64) -> bool {
        self.rules.keep_reads && mask == self.shape.full && !self.staging.find(lpn).is_some()
    }

    /// Keeps a unit just read in a slot, if one is free or clean.
    fn keep(&mut self, lpn: Lpn, from: Source, b: &mut Below<'_>) {
        let Some((slot, evicted)) = self.staging.take(lpn) else { return };
        self.take_over(slot, evicted, b);
        let mask = self.shape.full;
        self.staging.get_mut(slot).mask = mask;
        self.staging.set_state(slot, SlotState::Clean, false);
        self.follow(slot, false);
        self.take_class_from_flash(slot, from, b);
        b.ftl.effects.push(Effect::Fill { slot, from, mask });
    }

    /// Lets programs and reads that waited for flash operations go on.
    #[inline]
    pub fn feed_starved(&mut self, b: &mut Below<'_>) {
        if b.ftl.waits.is_wanted(Lack::Operation) || !self.starved.is_empty() {
            self.feed_those_starved(b);
        }
    }

    fn feed_those_starved(&mut self, b: &mut Below<'_>) {
        if b.ftl.waits.take_wanted(Lack::Operation) {
            self.flush_some(b);
        }
        while b.may_issue()
            && let Some(command) = self.starved.pop(&self.commands)
        {
            self.commands.get_mut(command).book(Part::Dispatch, b.now);
            self.continue_read(command, b);
        }
    }
}
