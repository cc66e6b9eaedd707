//! Commands, once they are in the drive: their answers, and what is counted of them.

use super::Below;
use super::HostCounts;
use super::command::{CommandList, CommandTable};
use super::held::Waiters;
use super::link::Link;
use super::slots::Slots;
use crate::events::EventKind;
use crate::ftl::Programmed;
use crate::observe::Effect;
use crate::restore::{MOST, Verdict, ensure, keep_line};
use crate::rng::SPREAD;
use crate::sections::Sections;
use crate::signals::{Command, Completion, OpCode, Part, Status};
use crate::units::{CommandId, Lba, OpId, SimTime};
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// All commands, from submission until their completion is taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Commands {
    pub counts: HostCounts,
    pub table: CommandTable,
    pub completed: VecDeque<CommandId>,
    /// Whom commands have waited for.
    #[serde(skip)]
    pub waiters: Waiters,
    pub link: Link,
    /// Trims, flushes and writes to the medium that wait for locks.
    pub unlocked: CommandList,
    /// All writes do.
    pub all_wait: bool,
    /// Of every completion so far.
    pub hash: u64,
}

impl Commands {
    /// None yet.
    pub fn new(cfg: &Sections) -> Self {
        let count = (cfg.queues.count * cfg.queues.depth) as usize;
        Commands {
            counts: HostCounts::default(),
            table: CommandTable::new(count),
            completed: VecDeque::with_capacity(count),
            waiters: Waiters::default(),
            link: Link::new(&cfg.link, cfg.host.write_cap_mb_s),
            unlocked: CommandList::EMPTY,
            all_wait: false,
            hash: 0,
        }
    }

    /// Those that are being worked on: accepted and not completed.
    pub fn working(&self) -> usize {
        self.table.len() - self.completed.len()
    }

    /// A command has waited in the buffer: for room, or for data to be in flash.
    #[inline]
    pub fn book_buffer(&mut self, id: CommandId, b: &Below<'_>) {
        self.table.get_mut(id).book(Part::BufferWait, b.now);
        self.waiters.end(id, b.flash, b.now);
    }

    /// Sends a command's answer: data of a read, then the completion.
    #[inline]
    pub fn respond(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.table.get_mut(id);
        let ready = if b.timed { entry.ready_at.max(b.now) } else { b.now };
        entry.book(Part::Buffer, ready);
        let has_data = entry.command.op == OpCode::Read && entry.status == Status::Ok;
        let bytes = if has_data { u64::from(entry.command.sectors) * crate::units::SECTOR_BYTES } else { 0 };
        if has_data && self.link.outward_free_at > ready && b.timed {
            entry.book(Part::LinkWait, self.link.outward_free_at);
        }
        let at = self.link.outward(bytes, ready, b.timed);
        b.events.push(at, EventKind::Complete, id.0);
    }

    /// The host sees a command complete.
    #[inline]
    pub fn on_complete(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.table.get_mut(id);
        entry.book(Part::Link, b.now);
        let (Command { op, sectors, lba, tag, .. }, status) = (entry.command, entry.status);
        self.count_end(op, lba, sectors, status, b.now);
        b.ftl.moves.media.effects.push(Effect::Complete { command: id, tag });
        self.completed.push_back(id);
    }

    /// Counts a command that has ended, and adds it to the hash.
    #[inline]
    pub fn count_end(&mut self, op: OpCode, Lba(lba): Lba, sectors: u32, status: Status, now: SimTime) {
        let bytes = u64::from(sectors) * crate::units::SECTOR_BYTES;
        let counts = &mut self.counts;
        counts.commands[op as usize] += 1;
        match (op, status) {
            (OpCode::Read, Status::Ok) => counts.read_bytes += bytes,
            (OpCode::Write, Status::Ok) => counts.written_bytes += bytes,
            (_, Status::Ok) => {}
            _ => counts.failed += 1,
        }
        counts.uncorrectable += u64::from(status == Status::Uncorrectable);
        let what = lba << 3 | (status as u64) << 2 | op as u64;
        self.hash = (self.hash ^ now.0 ^ what.rotate_left(32)).wrapping_mul(SPREAD).rotate_left(31);
    }

    /// A trim, a flush or a write to the medium has done its work: it is answered, when the locks allow that.
    #[inline]
    pub fn answer(&mut self, id: CommandId, b: &mut Below<'_>) {
        if b.ftl.moves.media.locks.are_on() { self.answer_when_locked(id, b) } else { self.respond(id, b) }
    }

    #[cold]
    fn answer_when_locked(&mut self, id: CommandId, b: &mut Below<'_>) {
        let media = &mut b.ftl.moves.media;
        match media.locks.wait_for_locks(&media.tables, &mut media.work, &mut media.waits) {
            Some(ticket) => {
                self.table.get_mut(id).flush = ticket;
                self.unlocked.push(&mut self.table, id);
            }
            None => self.respond(id, b),
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
            if !b.ftl.moves.media.locks.generations.is_locked(self.table.get(id).flush) {
                if !others_fail {
                    break;
                }
                self.table.get_mut(id).status = Status::ReadOnly;
            }
            self.unlocked.pop(&self.table);
            let entry = self.table.get_mut(id);
            self.waiters.add_locks(id, b.now.since(entry.mark));
            entry.book(Part::LockWait, b.now);
            self.respond(id, b);
        }
        if !self.waits_for_locks() {
            b.ftl.moves.media.locks.end_wait_for_locks(&mut b.ftl.moves.media.waits);
        }
    }

    /// One of the flash reads that a command waits for is over and has been removed.
    #[inline]
    pub fn end_read(&mut self, command: CommandId, id: OpId, b: &mut Below<'_>) {
        let entry = self.table.get_mut(command);
        entry.outstanding -= 1;
        if entry.outstanding == 0 && entry.cursor == entry.end {
            let spent = b.flash.of_host().spent(id);
            entry.book_operation(spent.queued, &spent.times, b.now);
            if self.waiters.are_told() {
                self.waiters.end_read(command, entry, b.flash, id);
            }
            self.respond(command, b);
        }
    }

    /// One of the slots a command waits for is in flash.
    pub fn slot_is_safe(&mut self, id: CommandId, done: &Programmed, slots: &Slots, b: &mut Below<'_>) {
        let entry = self.table.get_mut(id);
        entry.outstanding -= 1;
        if entry.outstanding == 0 && entry.cursor == entry.end {
            entry.book_operation(done.queued, &done.times, b.now);
            entry.ready_at = b.now;
            if self.waiters.are_told() {
                self.waiters.end_program(id, self.table.get(id), b.flash, done);
            }
            self.end_durable(id, slots, b);
            let entry = self.table.get(id);
            if entry.command.fua || self.all_wait {
                return self.answer(id, b);
            }
            self.respond(id, b);
        }
    }

    /// The units of a command that is complete when its data is in flash, where its deaths are taken together.
    fn durable(&self, id: CommandId, slots: &Slots, b: &Below<'_>) -> Option<Range<u32>> {
        let entry = self.table.get(id);
        let is_durable = b.ftl.moves.media.locks.are_on() && slots.rules.is_durable(entry.command.fua);
        is_durable.then(|| slots.shape.unit_of(entry.command.lba.0) as u32..entry.end)
    }

    /// A unit of a write has a slot. With the first of them the write begins.
    #[cold]
    pub fn begin_durable(&self, id: CommandId, slots: &Slots, b: &mut Below<'_>) {
        let cursor = self.table.get(id).cursor;
        if let Some(units) = self.durable(id, slots, b).filter(|units| units.start == cursor) {
            b.ftl.moves.media.locks.writes.begin(&b.ftl.moves.media.locks.manner, units);
        }
    }

    /// All its data is in flash, or never will be.
    #[cold]
    pub fn end_durable(&self, id: CommandId, slots: &Slots, b: &mut Below<'_>) {
        if let Some(units) = self.durable(id, slots, b) {
            b.ftl.moves.media.locks.end_write(&b.ftl.moves.media.tables, &mut b.ftl.moves.media.work, units);
        }
    }

    /// Takes the oldest completion, with the queue that its command was in.
    #[inline]
    pub fn next_completion(&mut self) -> Option<(u16, &Completion)> {
        let id = self.completed.pop_front()?;
        self.waiters.taken = id;
        Some(self.table.take(id))
    }

    /// Takes what follows from the configuration from fresh ones, and checks the rest, as far as commands alone say.
    pub fn restored(&mut self, fresh: &Commands, queues: usize, now: SimTime) -> Verdict {
        self.all_wait = fresh.all_wait;
        self.link.restored(&fresh.link)?;
        let c = &self.counts;
        let others =
            [c.failed, c.uncorrectable, c.read_bytes, c.written_bytes, c.buffer_hits, c.buffer_misses];
        let more = [c.unmapped_reads, c.buffer_stalls, c.buffer_overwrites];
        let ahead = [c.read_ahead, c.read_ahead_awaited, c.read_ahead_hits];
        let mut counts = c.commands.into_iter().chain(others).chain(more).chain(ahead).chain(c.hotness);
        ensure(counts.all(|count| count < MOST), "counts of commands")?;
        self.table.restored(&fresh.table, queues, now)?;
        keep_line(&mut self.completed, &fresh.completed);
        Ok(())
    }
}
