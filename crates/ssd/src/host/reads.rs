//! Reads: from DRAM slots, from flash, or zeros.

use super::Below;
use super::ahead::Ahead;
use super::command::CommandList;
use super::commands::Commands;
use super::slots::Slots;
use super::staging::SlotState;
use crate::flash::op::UNITS_AT_MOST;
use crate::ftl::{Brought, End, Found, LastRead, Reader};
use crate::observe::{Effect, Source};
use crate::signals::{Command, Priority, Status};
use crate::units::{CommandId, Lpn, OpId, SimTime};
use serde::{Deserialize, Serialize};

/// Reads that were fetched and have not asked for all their units, and what governs reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reads {
    /// Reads that wait for flash operations to become available.
    pub starved: CommandList,
    /// Reads of units are told to the policy that sorts them by page type.
    pub tells: bool,
    /// That is so, or reads go ahead: each read is looked at.
    pub looks: bool,
    /// What is read ahead, if anything is.
    pub ahead: Option<Box<Ahead>>,
    /// A command has come whose priority is not medium.
    pub classes: bool,
}

impl Reads {
    /// None yet.
    pub const NONE: Reads =
        Reads { starved: CommandList::EMPTY, tells: false, looks: false, ahead: None, classes: false };

    /// Reads the command's units from where it stopped; units of one page become one operation.
    #[inline]
    pub fn go_on(&mut self, id: CommandId, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
        if self.looks {
            return self.go_on_looking(id, slots, commands, b);
        }
        self.read_units::<false>(id, slots, commands, b);
    }

    /// The same where each read is looked at.
    #[inline(never)]
    fn go_on_looking(
        &mut self,
        id: CommandId,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) {
        if self.read_units::<true>(id, slots, commands, b)
            && let Some(ahead) = &mut self.ahead
        {
            ahead.go_on(id, slots, commands, b);
        }
    }

    /// Whether all are asked for: else the command waits for operations that are free.
    #[inline]
    fn read_units<const LOOKS: bool>(
        &mut self,
        id: CommandId,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        let mut last = LastRead::NONE;
        loop {
            let entry = commands.table.get(id);
            let (cursor, end) = (entry.cursor, entry.end);
            if cursor == end {
                break;
            }
            if !b.may_issue() {
                self.starved.push(&mut commands.table, id);
                return false;
            }
            let first = entry.command.lba.0;
            let mask = slots.shape.mask(cursor, first, first + u64::from(entry.command.sectors));
            if !LOOKS || !self.is_told(id, Lpn(cursor), slots, commands, b) {
                self.read_unit(id, (Lpn(cursor), mask), &mut last, slots, commands, b);
            }
            commands.table.get_mut(id).cursor = cursor + 1;
        }
        if commands.table.get(id).outstanding == 0 {
            commands.respond(id, b);
        }
        true
    }

    /// Tells of a unit that a command reads; whether it is on its way already, read ahead.
    #[inline(never)]
    fn is_told(
        &mut self,
        id: CommandId,
        lpn: Lpn,
        slots: &Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        if self.tells {
            tell_read(id, lpn, commands, b);
        }
        self.ahead.as_mut().is_some_and(|ahead| ahead.join(id, lpn, slots, commands))
    }

    /// Reads the granules of `mask` of one unit: slots first, newest to oldest, then flash.
    #[inline]
    fn read_unit(
        &self,
        id: CommandId,
        (lpn, mask): (Lpn, u64),
        last: &mut LastRead,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) {
        let missing = read_slots(id, (lpn, mask), slots, commands, b);
        if slots.follows {
            let newest = slots.staging.find(lpn);
            if newest.is_some() {
                slots.follow(newest, false);
            }
        }
        if missing == 0 {
            commands.counts.buffer_hits += 1;
            return;
        }
        let bytes = slots.shape.bytes(missing);
        let priority =
            if self.classes { commands.table.get(id).command.hints.class() } else { Priority::Medium };
        match b.ftl.read_unit(b.flash, Reader::Command(id.0, priority), (lpn, missing, bytes), last) {
            Found::Issued(reads) => {
                commands.counts.buffer_misses += 1;
                commands.table.get_mut(id).outstanding += u32::from(reads);
            }
            Found::Joined => commands.counts.buffer_misses += 1,
            Found::Lost => commands.table.get_mut(id).status = Status::Uncorrectable,
            Found::Nowhere => {
                commands.counts.unmapped_reads += 1;
                let tag = commands.table.get(id).command.tag;
                b.ftl.moves.media.effects.push(Effect::Read { tag, lpn, from: Source::Zero, mask: missing });
                needs_access(id, slots.rules.access_ns, commands, b.now);
            }
        }
    }

    /// The units of a flash read for a command, or ahead, one by one: some are kept, and some are to be read again.
    /// Returns the command, or that which waits for some of what was read ahead.
    pub fn look_at(
        &mut self,
        id: OpId,
        command: CommandId,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> CommandId {
        let ahead = self.ahead.as_mut().and_then(|ahead| ahead.end(id));
        let command = ahead.map_or(command, |read| read.waits);
        let asks = if command.is_some() { commands.table.get(command).command } else { Command::default() };
        let nothing = Brought { lpn: Lpn::NONE, mask: 0, end: End::Again };
        let mut brought = [nothing; UNITS_AT_MOST];
        let count = b.ftl.end_read(b.flash, id, asks.tag, &mut brought);
        for unit in &mut brought[..count] {
            let lpn = unit.lpn;
            if ahead.is_some_and(|read| read.is_asked(lpn)) {
                unit.mask = slots.shape.mask(lpn.0, asks.lba.0, asks.lba.0 + u64::from(asks.sectors));
                match unit.end {
                    End::Read { from, current: true } => b.ftl.moves.media.effects.push(Effect::Read {
                        tag: asks.tag,
                        lpn,
                        from,
                        mask: unit.mask,
                    }),
                    _ => unit.end = End::Again,
                }
            }
            match unit.end {
                End::Lost => commands.table.get_mut(command).status = Status::Uncorrectable,
                End::Read { from, current: true } if ahead.is_some() || keeps(unit.mask, slots) => {
                    keep(lpn, from, unit.mask == 0, slots, commands, b);
                }
                End::Read { .. } | End::Again => {}
            }
        }
        self.read_again(command, &brought[..count], slots, commands, b);
        command
    }

    /// What one read was to bring another one does, wherever it is.
    fn read_again(
        &self,
        command: CommandId,
        brought: &[Brought],
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) {
        let mut last = LastRead::NONE;
        let again = |unit: &&Brought| unit.end == End::Again && unit.mask != 0;
        for &Brought { lpn, mask, .. } in brought.iter().filter(again) {
            if b.may_issue_one() {
                self.read_unit(command, (lpn, mask), &mut last, slots, commands, b);
            } else {
                // There was room for one read; the rest waits behind it.
                b.ftl.read_behind(b.flash, lpn, mask, &last);
            }
        }
    }
}

/// A command reads a unit, wherever that is: once, however often flash is asked. A read that is said to be the only
/// one (a scrub) tells nothing.
#[inline(never)]
fn tell_read(id: CommandId, lpn: Lpn, commands: &Commands, b: &mut Below<'_>) {
    if !commands.table.get(id).command.hints.one_time {
        b.ftl.note_host_read(lpn);
    }
}

/// Serves granules from the unit's slots; returns those still missing.
#[inline]
fn read_slots(
    id: CommandId,
    (lpn, mask): (Lpn, u64),
    slots: &mut Slots,
    commands: &mut Commands,
    b: &mut Below<'_>,
) -> u64 {
    let mut missing = mask;
    let mut slot = slots.staging.find(lpn);
    while slot.is_some() && missing != 0 {
        let found = *slots.staging.get(slot);
        let here = missing & found.mask;
        if here != 0 {
            missing &= !here;
            let tag = commands.table.get(id).command.tag;
            b.ftl.moves.media.effects.push(Effect::Read { tag, lpn, from: Source::Slot(slot), mask: here });
            needs_access(id, slots.rules.access_ns, commands, b.now);
            if found.ahead {
                slots.staging.get_mut(slot).ahead = false;
                commands.counts.read_ahead_hits += 1;
            }
            if matches!(found.state, SlotState::Clean | SlotState::Dirty) && !found.waiter.is_some() {
                slots.staging.set_state(slot, found.state, found.hurried);
            }
        }
        slot = found.older;
    }
    missing
}

/// The command's data passes DRAM from now on.
#[inline]
fn needs_access(id: CommandId, access_ns: u64, commands: &mut Commands, now: SimTime) {
    let ready = SimTime(now.0 + access_ns);
    let entry = commands.table.get_mut(id);
    entry.ready_at = entry.ready_at.max(ready);
}

/// Whether a unit that a command has read stays in DRAM: if it is whole.
fn keeps(mask: u64, slots: &Slots) -> bool {
    slots.rules.keep_reads && mask == slots.shape.full
}

/// Keeps a unit just read in a slot, if one is free or clean, and nothing newer is there; `is_ahead` if nobody has
/// asked for it.
fn keep(
    lpn: Lpn,
    from: Source,
    is_ahead: bool,
    slots: &mut Slots,
    commands: &mut Commands,
    b: &mut Below<'_>,
) {
    if slots.staging.find(lpn).is_some() {
        return;
    }
    let Some((slot, evicted)) = slots.staging.take(lpn) else { return };
    slots.take_over(slot, evicted, &mut commands.counts, b);
    let mask = slots.shape.full;
    let taken = slots.staging.get_mut(slot);
    (taken.mask, taken.ahead) = (mask, is_ahead);
    slots.staging.set_state(slot, SlotState::Clean, false);
    slots.follow(slot, false);
    slots.take_class_from_flash(slot, from, b);
    b.ftl.moves.media.effects.push(Effect::Fill { slot, from, mask });
}
