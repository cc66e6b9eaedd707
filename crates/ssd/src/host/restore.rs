//! A restored host interface: every command under way is somewhere, every slot is of a unit, every list ends.

use super::command::{CommandList, CommandTable};
use super::staging::{Slot, SlotState};
use super::{Host, IN_A_ROW};
use crate::events::EventKind;
use crate::flash::Flash;
use crate::flash::of_host::HostWork;
use crate::restore::{MOST, Verdict, alike, distinct, ensure, keep_line, within};
use crate::signals::{OpCode, PRIORITIES, Priority, Status};
use crate::units::{CommandId, SimTime, SlotId};

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
        alike("queues", &self.queues, &fresh.queues)?;
        (self.depth, self.firmware_ns, self.shape) = (fresh.depth, fresh.firmware_ns, fresh.shape);
        (self.logical_sectors, self.rules) = (fresh.logical_sectors, fresh.rules);
        self.writes_wait = fresh.writes_wait;
        (self.programs_at_most, self.by_priority) = (fresh.programs_at_most, fresh.by_priority);
        ensure(self.in_a_row <= IN_A_ROW, "commands fetched in a row")?;
        (self.hotness, self.follows) = (fresh.hotness, fresh.follows);
        (self.tells_reads, self.looks_ahead) = (fresh.tells_reads, fresh.looks_ahead);
        alike("accesses to slots", &self.hits, &fresh.hits)?;
        // At 255 both are halved.
        ensure(self.hits.iter().all(|hits| hits.reads.max(hits.writes) < u8::MAX), "accesses to slots")?;
        self.link.restored(&fresh.link)?;
        ensure(self.turn < self.queues.len(), "the queue whose turn it is")?;
        ensure(self.gather_until.0 < MOST, "until when data gathers")?;
        self.check_counts()?;
        self.commands.restored(&fresh.commands, self.queues.len(), now)?;
        self.staging.restored(&fresh.staging, self.commands.capacity(), flash.of_host().capacity())?;
        let units = self.logical_sectors / self.shape.sectors;
        let slots = (0..self.staging.len()).map(|slot| self.staging.get(SlotId(slot)));
        let used = slots.filter(|slot| slot.state != SlotState::Free);
        ensure(used.clone().all(|slot| u64::from(slot.lpn.0) < units), "a slot of a unit that is not there")?;
        ensure(used.clone().all(|slot| slot.mask & !self.shape.full == 0), "granules of a slot")?;
        ensure(self.commands.reach(units), "units that a command works on")?;
        self.check_lists(due)?;
        keep_line(&mut self.completed, &fresh.completed);
        self.check_operations(flash)
    }

    fn check_counts(&self) -> Verdict {
        let c = &self.counts;
        let others =
            [c.failed, c.uncorrectable, c.read_bytes, c.written_bytes, c.buffer_hits, c.buffer_misses];
        let more = [c.unmapped_reads, c.buffer_stalls, c.buffer_overwrites];
        let mut counts = c.commands.into_iter().chain(others).chain(more).chain(c.hotness);
        ensure(counts.all(|count| count < MOST), "counts of commands")
    }

    /// Every command is on one list, completed or awaits an event at most, and what is due is under way.
    fn check_lists(&self, due: &[(SimTime, EventKind, u32)]) -> Verdict {
        let end = self.commands.capacity();
        let used = self.commands.used();
        let mut listed: Vec<u32> = self.completed.iter().map(|id| id.0).collect();
        let (mut waiting, mut unfetched) = (0, Vec::new());
        let lists = [&self.starved, &self.stalled, &self.flushes];
        let (medium, all) = (Priority::Medium as usize, self.queues.iter());
        let is_sorted = |list: &CommandList| list.front().is_some();
        let mut apart = all.clone().flat_map(|queue| (0..PRIORITIES).zip(&queue.waiting));
        let fits = apart.all(|(class, list)| self.by_priority || class == medium || !is_sorted(list));
        ensure(fits, "a command that is to be fetched by its priority")?;
        for list in all.flat_map(|queue| &queue.waiting) {
            let ids = self.commands.walk(list)?;
            waiting += ids.len();
            unfetched.extend(ids.iter().copied());
            listed.extend(ids);
        }
        for list in lists.into_iter().chain([&self.unlocked]) {
            listed.extend(self.commands.walk(list)?);
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
        ensure(waiting == self.unfetched as usize, "commands to be fetched")?;
        ensure(of(&[EventKind::Fetched]).count() == usize::from(self.fetching), "a command being fetched")?;
        let is = |id: u32, op: OpCode| self.commands.get(CommandId(id)).command.op == op;
        ensure(of(&[EventKind::DataIn]).all(|event| is(event.2, OpCode::Write)), "data of another command")?;
        for (list, op) in lists.into_iter().zip([OpCode::Read, OpCode::Write, OpCode::Flush]) {
            ensure(self.commands.walk(list)?.iter().all(|&id| is(id, op)), "a command on another's list")?;
        }
        for (number, queue) in self.queues.iter().enumerate() {
            ensure(queue.used <= self.depth, "commands of a queue")?;
            ensure(self.commands.of_queue(number) == queue.used as usize, "commands of a queue")?;
        }
        let gathers = of(&[EventKind::GatherTimeout]).count();
        ensure(gathers == usize::from(self.gather_scheduled), "data that gathers")
    }

    /// A command that has begun works on the units that it names.
    fn check_reach(&self, id: CommandId) -> Verdict {
        let entry = self.commands.get(id);
        let (lba, sectors) = (entry.command.lba.0, u64::from(entry.command.sectors));
        let end = lba.saturating_add(sectors);
        let is_answered = entry.status == Status::NotForeseen;
        let is_refused = sectors == 0 || end > self.logical_sectors || !entry.command.hints.are_valid();
        if is_answered || entry.command.op == OpCode::Flush || is_refused {
            return ensure(entry.cursor == entry.end, "units of a command that has none");
        }
        let units = lba / self.shape.sectors..=end.div_ceil(self.shape.sectors);
        let is_within = units.contains(&u64::from(entry.cursor)) && u64::from(entry.end) == *units.end();
        ensure(is_within, "units that a command works on")
    }

    /// Operations for the host are awaited: programs and merges by slots, reads by commands.
    fn check_operations(&self, flash: &Flash) -> Verdict {
        let (mut programs, mut reads) = (0, vec![0; self.commands.capacity()]);
        let used = self.commands.used();
        let slots = self.staging.len() as usize;
        let (mut merges, mut carried) = (0, 0);
        for op in flash.of_host().under_way() {
            match op.work {
                HostWork::Program => {
                    programs += 1;
                    within("slots being programmed", op.slots().map(|slot| slot.0), slots)?;
                    for (place, slot) in (0u8..).zip(op.slots()) {
                        carried += 1;
                        let slot = self.staging.get(slot);
                        let is_here = (slot.op, slot.place) == (op.id, place);
                        let is_it = slot.state == SlotState::Programming && is_here;
                        ensure(is_it, "a slot is not being programmed")?;
                    }
                }
                HostWork::Rest => {
                    merges += 1;
                    within("slots being merged", [op.tag], slots)?;
                    let mut units = op.units();
                    let slot = self.staging.get(SlotId(op.tag));
                    let is_it = slot.state == SlotState::Merging && units.next() == Some(slot.lpn.0);
                    ensure(is_it && units.next().is_none(), "a slot is not being merged")?;
                }
                HostWork::Read => {
                    within("commands that read", [op.tag], used.len())?;
                    let entry = self.commands.get(CommandId(op.tag));
                    let is_read = used[op.tag as usize] && entry.command.op == OpCode::Read;
                    ensure(is_read && op.units().next().is_some(), "an operation of no read")?;
                    reads[op.tag as usize] += 1;
                }
                HostWork::Other => return Err("an operation the host never asks for".to_owned()),
            }
        }
        ensure(programs == self.programs, "programs of host data")?;
        for (number, reads) in reads.into_iter().enumerate().filter(|(number, _)| used[*number]) {
            let entry = self.commands.get(CommandId(number as u32));
            let is_awaited = entry.command.op != OpCode::Read || entry.outstanding == reads;
            ensure(is_awaited, "reads that a command awaits")?;
        }
        let under_way = |slot: &Slot| matches!(slot.state, SlotState::Programming | SlotState::Merging);
        let slots = (0..self.staging.len()).map(|slot| self.staging.get(SlotId(slot)));
        let awaited = slots.filter(|slot| under_way(slot)).count();
        ensure(awaited == merges + carried, "slots that wait for nothing")
    }
}

impl CommandTable {
    fn restored(&mut self, fresh: &CommandTable, queues: usize, now: SimTime) -> Verdict {
        let free = self.restored_room(fresh)?;
        distinct("free commands", free, self.capacity())?;
        let used = self.used();
        for number in (0..self.capacity()).filter(|&number| used[number]) {
            let entry = self.get(CommandId(number as u32));
            within("queue of a command", [u32::from(entry.queue)], queues)?;
            ensure(entry.cursor <= entry.end, "units that a command works on")?;
            let times = [entry.submitted.0, entry.command.arrival.0];
            ensure(times.iter().all(|&at| at <= now.0.max(MOST)), "times of a command")?;
            let later = [entry.ready_at.0, entry.mark.0].into_iter().chain(entry.answer.breakdown.ns);
            ensure(later.max() < Some(MOST), "times of a command")?;
        }
        Ok(())
    }

    /// Numbers of commands under way that are linked from a list's head on.
    fn walk(&self, list: &CommandList) -> Result<Vec<u32>, String> {
        let (mut ids, mut at) = (Vec::new(), list.front());
        while let Some(id) = at {
            within("commands that wait", [id.0], self.capacity())?;
            ensure(ids.len() < self.capacity(), "a list of commands without end")?;
            ids.push(id.0);
            at = self.after(id);
        }
        ensure(list.ends_with(ids.last().copied()), "the end of a list of commands")?;
        Ok(ids)
    }
}
