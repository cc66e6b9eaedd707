//! A restored host interface: every command under way is somewhere, every slot is of a unit, every list ends.

use super::Host;
use super::ahead::UnderWay;
use super::staging::{Slot, SlotState};
use crate::events::EventKind;
use crate::flash::Flash;
use crate::flash::of_host::HostWork;
use crate::restore::{Verdict, distinct, ensure, within};
use crate::signals::{OpCode, Status};
use crate::units::{CommandId, NONE, SimTime, SlotId};

impl Host {
    /// Takes what follows from the configuration from a fresh interface, and checks the rest; the flash is checked
    /// already, `due` are all events, and the drive's time is `now`.
    pub(crate) fn restored(
        &mut self,
        fresh: Host,
        flash: &Flash,
        due: &[(SimTime, EventKind, u32)],
        now: SimTime,
    ) -> Verdict {
        self.queues.restored(&fresh.queues)?;
        (self.firmware, self.logical_sectors) = (fresh.firmware, fresh.logical_sectors);
        (self.reads.tells, self.looks_ahead) = (fresh.reads.tells, fresh.looks_ahead);
        self.reads.looks = fresh.reads.looks;
        match (&mut self.reads.ahead, &fresh.reads.ahead) {
            (Some(ahead), Some(fresh)) => ahead.restored(fresh)?,
            (None, None) => {}
            _ => return Err("reads ahead, which the configuration does not have".to_owned()),
        }
        self.programs.restored(&fresh.programs)?;
        self.commands.restored(&fresh.commands, self.queues.len(), now)?;
        let units = self.logical_sectors / fresh.slots.shape.sectors;
        self.slots.restored(fresh.slots, units, &self.commands.table, flash.of_host().capacity())?;
        ensure(self.commands.table.reach(units), "units that a command works on")?;
        self.check_lists(due)?;
        self.check_operations(flash)
    }

    /// Every command is on one list, completed or awaits an event at most, and what is due is under way.
    fn check_lists(&self, due: &[(SimTime, EventKind, u32)]) -> Verdict {
        let table = &self.commands.table;
        let end = table.capacity();
        let used = table.used();
        let mut listed: Vec<u32> = self.commands.completed.iter().map(|id| id.0).collect();
        let unfetched = self.queues.check(table)?;
        listed.extend(&unfetched);
        let lists = [&self.reads.starved, &self.writes.stalled, &self.writes.flushes];
        for list in lists.into_iter().chain([&self.writes.trims, &self.commands.unlocked]) {
            listed.extend(table.walk(list)?);
        }
        let of = |kinds: &'static [EventKind]| due.iter().filter(move |event| kinds.contains(&event.1));
        let commands = [EventKind::Arrive, EventKind::Fetched, EventKind::DataIn, EventKind::Complete];
        listed.extend(due.iter().filter(|event| commands.contains(&event.1)).map(|event| event.2));
        let mut is_begun = used.clone();
        let fetched = due.iter().filter(|event| matches!(event.1, EventKind::Arrive | EventKind::Fetched));
        let fetched: Vec<u32> = fetched.map(|event| event.2).chain(unfetched).collect();
        let listed = distinct("commands that wait", listed, end)?;
        fetched.into_iter().for_each(|id| is_begun[id as usize] = false);
        for number in (0..end).filter(|&number| is_begun[number]) {
            self.check_reach(CommandId(number as u32))?;
        }
        ensure(listed.iter().zip(&used).all(|(listed, used)| *used || !listed), "a command that is not")?;
        ensure(
            of(&[EventKind::Fetched]).count() == usize::from(self.queues.fetching),
            "a command being fetched",
        )?;
        let is = |id: u32, op: OpCode| table.get(CommandId(id)).command.op == op;
        ensure(of(&[EventKind::DataIn]).all(|event| is(event.2, OpCode::Write)), "data of another command")?;
        let lists = lists.into_iter().chain([&self.writes.trims]);
        for (list, op) in lists.zip([OpCode::Read, OpCode::Write, OpCode::Flush, OpCode::Trim]) {
            ensure(table.walk(list)?.iter().all(|&id| is(id, op)), "a command on another's list")?;
        }
        Ok(())
    }

    /// A command that has begun works on the units that it names.
    fn check_reach(&self, id: CommandId) -> Verdict {
        let entry = self.commands.table.get(id);
        let (lba, sectors) = (entry.command.lba.0, u64::from(entry.command.sectors));
        let end = lba.saturating_add(sectors);
        let is_answered = entry.status == Status::NotForeseen;
        let is_refused = sectors == 0 || end > self.logical_sectors || !entry.command.hints.are_valid();
        if is_answered || entry.command.op == OpCode::Flush || is_refused {
            return ensure(entry.cursor == entry.end, "units of a command that has none");
        }
        let units = lba / self.slots.shape.sectors..=end.div_ceil(self.slots.shape.sectors);
        let is_within = units.contains(&u64::from(entry.cursor)) && u64::from(entry.end) == *units.end();
        ensure(is_within, "units that a command works on")
    }

    /// Operations for the host are awaited: programs and merges by slots, reads by commands.
    fn check_operations(&self, flash: &Flash) -> Verdict {
        let (mut programs, mut reads) = (0, vec![0; self.commands.table.capacity()]);
        let used = self.commands.table.used();
        let slots = self.slots.staging.len() as usize;
        let (mut merges, mut carried) = (vec![0_u8; slots], 0);
        let mut ahead: Vec<UnderWay> = Vec::new();
        for op in flash.of_host().under_way() {
            match op.work {
                HostWork::Program => {
                    programs += 1;
                    within("slots being programmed", op.slots().map(|slot| slot.0), slots)?;
                    for (place, slot) in (0u8..).zip(op.slots()) {
                        carried += 1;
                        let slot = self.slots.staging.get(slot);
                        let is_here = (slot.op, slot.place) == (op.id, place);
                        let is_it = slot.state == SlotState::Programming && is_here;
                        ensure(is_it, "a slot is not being programmed")?;
                    }
                }
                HostWork::Rest => {
                    within("slots being merged", [op.tag], slots)?;
                    merges[op.tag as usize] = merges[op.tag as usize].saturating_add(1);
                    let mut units = op.units();
                    let slot = self.slots.staging.get(SlotId(op.tag));
                    let is_it = slot.state == SlotState::Merging && units.next() == Some(slot.lpn.0);
                    ensure(is_it && units.next().is_none(), "a slot is not being merged")?;
                }
                HostWork::Read => {
                    within("commands that read", [op.tag], used.len())?;
                    let entry = self.commands.table.get(CommandId(op.tag));
                    let is_read = used[op.tag as usize] && entry.command.op == OpCode::Read;
                    ensure(is_read && op.units().next().is_some(), "an operation of no read")?;
                    reads[op.tag as usize] += 1;
                }
                HostWork::ReadAhead => {
                    let mut units = op.units();
                    let first = units.next().ok_or("a read ahead of nothing")?;
                    let others = op.units().skip(1).count() as u32;
                    ensure(units.eq(first + 1..=first + others), "units of a read ahead")?;
                    ensure(op.tag == NONE, "a read ahead that a command asks for")?;
                    ahead.push(UnderWay::of(op.id, first, others + 1));
                }
                HostWork::Other => return Err("an operation the host never asks for".to_owned()),
            }
        }
        let listed = self.reads.ahead.as_ref().map_or(&[][..], |ahead| &ahead.under_way);
        ensure(listed.len() == ahead.len(), "reads ahead under way")?;
        let is_listed = |read: &UnderWay| listed.iter().any(|other| other.is_like(read));
        ensure(ahead.iter().all(is_listed), "reads ahead under way")?;
        for read in listed.iter().filter(|read| read.waits.is_some()) {
            within("commands that wait for a read ahead", [read.waits.0], used.len())?;
            reads[read.waits.0 as usize] += 1;
        }
        ensure(programs == self.programs.under_way, "programs of host data")?;
        for (number, reads) in reads.into_iter().enumerate().filter(|(number, _)| used[*number]) {
            let entry = self.commands.table.get(CommandId(number as u32));
            let is_awaited = entry.command.op != OpCode::Read || entry.outstanding == reads;
            ensure(is_awaited, "reads that a command awaits")?;
        }
        let under_way = |slot: &Slot| matches!(slot.state, SlotState::Programming | SlotState::Merging);
        let slots = || (0..self.slots.staging.len()).map(|slot| self.slots.staging.get(SlotId(slot)));
        let awaited = slots().filter(|slot| under_way(slot)).count();
        let merged = merges.iter().filter(|&&reads| reads > 0).count();
        ensure(awaited == merged + carried, "slots that wait for nothing")?;
        let mut rests = slots().zip(merges);
        let agree = |(slot, reads): (&Slot, u8)| slot.state != SlotState::Merging || slot.rest == reads;
        ensure(rests.all(agree), "reads of the rest of a unit")
    }
}
