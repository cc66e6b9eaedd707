//! The host interface: submission queues, the link, the firmware's time, the DRAM buffer, completions.
//!
//! Knows no physical page beyond passing on what the translation layer answers. A command passes: submission queue,
//! link latency, fetch (round robin over the queues, one at a time), data or flash work, link, completion.

mod at_once;
pub mod buffer;
mod check;
mod command;
mod counts;
mod held;
pub mod hotness;
mod index;
mod leave;
mod link;
mod locked;
mod reads;
mod restore;
mod staging;
mod writes;

use crate::events::{EventKind, EventQueue};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::stream::{Needs, Said, Streams};
use crate::observe::Effect;
use crate::rng::SPREAD;
use crate::sections::{Arbitration, Sections};
use crate::signals::{Command, Completion, OpCode, PRIORITIES, Part, Priority, Reason, Status};
use crate::units::{CommandId, Lba, SimTime};
use buffer::Rules;
use command::{CommandList, CommandTable};
use core::ops::Range;
pub use counts::HostCounts;
use held::Waiters;
use hotness::Hits;
use link::Link;
use serde::{Deserialize, Serialize};
use staging::Staging;
use std::collections::VecDeque;

/// What a layer may use of the rest of the drive while it handles something at time `now`.
pub struct Below<'a> {
    /// The time.
    pub now: SimTime,
    /// Whether time passes.
    pub timed: bool,
    /// The translation layer.
    pub ftl: &'a mut Ftl,
    /// The chips.
    pub flash: &'a mut Flash,
    /// What is to happen.
    pub events: &'a mut EventQueue,
}

impl Below<'_> {
    /// Whether a flash operation can be issued for the host now.
    #[inline]
    fn may_issue(&self) -> bool {
        self.flash.host_room() > 0
    }

    /// Schedules an event after `ns`, or at once if no time passes.
    #[inline]
    fn schedule(&mut self, ns: u64, kind: EventKind, id: u32) -> SimTime {
        let at = SimTime(self.now.0 + if self.timed { ns } else { 0 });
        self.events.push(at, kind, id);
        at
    }
}

/// How sectors make up mapping units and their granules.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct UnitShape {
    sectors: u64,
    /// That is two to the power of so much; `NONE` if it is no power of two. Divisions are slow.
    shift: u32,
    granule_sectors: u64,
    granule_bytes: u32,
    full: u64,
}

impl UnitShape {
    fn new(unit_bytes: u32) -> Self {
        let sectors = u64::from(unit_bytes) / crate::units::SECTOR_BYTES;
        let granule_sectors = sectors.div_ceil(64);
        let granules = sectors.div_ceil(granule_sectors);
        let full = u64::MAX >> (64 - granules);
        let shift = if sectors.is_power_of_two() { sectors.trailing_zeros() } else { crate::units::NONE };
        UnitShape { sectors, shift, granule_sectors, granule_bytes: granule_sectors as u32 * 512, full }
    }

    /// The unit that a sector is part of.
    #[inline]
    fn unit_of(&self, sector: u64) -> u64 {
        if self.shift == crate::units::NONE { sector / self.sectors } else { sector >> self.shift }
    }

    /// The granules of unit `lpn` that sectors `from..end` touch.
    #[inline]
    fn mask(&self, lpn: u32, from: u64, end: u64) -> u64 {
        let base = u64::from(lpn) * self.sectors;
        let (first, last) = (from.saturating_sub(base), (end - base).min(self.sectors));
        let (first, last) = match self.granule_sectors {
            1 => (first, last),
            sectors => (first / sectors, last.div_ceil(sectors)),
        };
        self.full & (u64::MAX << first) & (u64::MAX >> (64 - last))
    }

    /// The units that sectors cover whole.
    #[inline]
    fn covered(&self, first: u64, end: u64) -> Range<u32> {
        first.div_ceil(self.sectors) as u32..(end / self.sectors) as u32
    }

    /// Bytes of the granules of a mask.
    #[inline]
    fn bytes(&self, mask: u64) -> u32 {
        mask.count_ones() * self.granule_bytes
    }
}

/// The logical space, as commands name parts of it.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    shape: UnitShape,
    sectors: u64,
}

impl Space {
    /// The units that a command reads, writes or forgets; `None` if it names none, or is refused for what it names.
    #[inline]
    pub fn touched(&self, command: &Command) -> Option<Range<u32>> {
        let Command { op, lba: Lba(first), sectors, .. } = *command;
        let end = first.saturating_add(u64::from(sectors));
        if op == OpCode::Flush || sectors == 0 || end > self.sectors || !command.hints.are_valid() {
            return None;
        }
        if op == OpCode::Trim {
            return Some(self.shape.covered(first, end));
        }
        Some(self.shape.unit_of(first) as u32..self.shape.unit_of(end - 1) as u32 + 1)
    }
}

/// A submission queue. Of so many bytes that its place among others is a shift.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(32))]
struct Queue {
    /// By priority, if commands are fetched by it; else all are in the line of medium.
    waiting: [CommandList; PRIORITIES],
    used: u32,
}

/// Commands fetched in a row of a higher priority than one that waits, at most (assumed).
const IN_A_ROW: u32 = 16;

/// The host interface of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    /// Counters.
    pub counts: HostCounts,
    queues: Vec<Queue>,
    depth: u32,
    turn: usize,
    /// Commands are fetched by priority; so many in a row went before one of a lower.
    by_priority: bool,
    in_a_row: u32,
    commands: CommandTable,
    completed: VecDeque<CommandId>,
    /// Whom commands have waited for.
    #[serde(skip)]
    pub(crate) waiters: Waiters,
    link: Link,
    firmware_ns: u64,
    fetching: bool,
    /// Commands between arrival in the queues and fetch.
    unfetched: u32,
    shape: UnitShape,
    logical_sectors: u64,
    rules: Rules,
    staging: Staging,
    /// By slot: what the host said with its last write; empty if nobody asks.
    said: Vec<Said>,
    /// Accesses to each slot's data, and what they amount to; empty if nobody counts.
    hits: Vec<Hits>,
    hotness: hotness::Policy,
    /// Uses of slots are followed: they are counted, or decide what leaves.
    follows: bool,
    /// Reads of units are told to the policy that sorts them by page type.
    tells_reads: bool,
    /// Some policy must know of commands before they come.
    looks_ahead: bool,
    /// A command has come whose priority is not medium.
    classes: bool,
    flushing: bool,
    /// Slots that commands or newer slots wait for to be in flash, and that can be worked on.
    urgent: u32,
    /// Everything dirty is to be written, whether somebody waits or not.
    hurrying: bool,
    programs: u32,
    programs_at_most: u32,
    /// Until when the page now gathering may wait; zero if none does.
    gather_until: SimTime,
    gather_scheduled: bool,
    /// Reads that wait for flash operations to become available, writes that wait for slots, flushes that wait.
    starved: CommandList,
    stalled: CommandList,
    flushes: CommandList,
    /// Trims, flushes and writes to the medium that wait for locks.
    unlocked: CommandList,
    /// All writes do.
    writes_wait: bool,
    read_only: Option<Reason>,
    hash: u64,
}

impl Host {
    /// The interface of a checked configuration.
    pub fn new(
        cfg: &Sections,
        (buffer, hotness): (&buffer::Config, &hotness::Config),
        needs: Needs,
        (streams, queued): (Streams, u32),
    ) -> Self {
        let rules = buffer::Policy::build(buffer).rules(cfg.unit_bytes());
        let hotness = hotness::Policy::build(hotness);
        let commands = (cfg.queues.count * cfg.queues.depth) as usize;
        let programs_at_most = cfg.host_programs_at_most();
        let slots = rules.staging_slots(cfg, streams, queued);
        let aside = slots - rules.staging_slots(cfg, Streams::shared(1), queued);
        Host {
            counts: HostCounts::default(),
            queues: vec![
                Queue { waiting: [CommandList::EMPTY; PRIORITIES], used: 0 };
                cfg.queues.count as usize
            ],
            depth: cfg.queues.depth,
            turn: 0,
            by_priority: cfg.queues.arbitration == Arbitration::Priority,
            in_a_row: 0,
            commands: CommandTable::new(commands),
            completed: VecDeque::with_capacity(commands),
            waiters: Waiters::default(),
            link: Link::new(&cfg.link),
            firmware_ns: crate::units::SimDuration::from_us(cfg.firmware.t_command_us).0,
            fetching: false,
            unfetched: 0,
            shape: UnitShape::new(cfg.unit_bytes()),
            logical_sectors: cfg.logical_units() * u64::from(cfg.unit_bytes()) / crate::units::SECTOR_BYTES,
            rules,
            staging: Staging::new(
                (slots, aside),
                commands as u32,
                leave::one_list(&rules, slots - aside - queued, cfg),
            )
            .with_queues(queued > 0),
            said: vec![Said::default(); if needs.hints { slots as usize } else { 0 }],
            hits: vec![Hits::default(); if hotness.counts() { slots as usize } else { 0 }],
            follows: hotness.counts() || rules.one_list,
            tells_reads: false,
            looks_ahead: false,
            classes: false,
            hotness,
            flushing: false,
            urgent: 0,
            hurrying: false,
            programs: 0,
            programs_at_most,
            gather_until: SimTime::ZERO,
            gather_scheduled: false,
            starved: CommandList::EMPTY,
            stalled: CommandList::EMPTY,
            flushes: CommandList::EMPTY,
            unlocked: CommandList::EMPTY,
            writes_wait: false,
            read_only: None,
            hash: 0,
        }
    }

    /// The same, which tells policies below of reads and asks them about commands, if they want it.
    pub fn telling(self, ftl: &Ftl) -> Self {
        Host { tells_reads: ftl.counts_host_reads(), looks_ahead: ftl.looks_ahead().is_some(), ..self }
    }

    /// The same, which answers no write while what that killed can be read, if locks ask for that: then all writes are
    /// to the medium.
    pub fn waiting(self, ftl: &Ftl) -> Self {
        let writes_wait = ftl.locks.hold_writes();
        let write_back = self.rules.write_back && !writes_wait;
        Host { writes_wait, rules: Rules { write_back, ..self.rules }, ..self }
    }

    /// Slots of host data in DRAM.
    pub fn slots(&self) -> u32 {
        self.staging.len()
    }

    /// Sectors the host sees.
    pub fn logical_sectors(&self) -> u64 {
        self.logical_sectors
    }

    /// The logical space.
    pub fn space(&self) -> Space {
        Space { shape: self.shape, sectors: self.logical_sectors }
    }

    /// The mapping unit that a sector is part of.
    #[inline]
    pub fn unit_of(&self, sector: u64) -> u64 {
        self.shape.unit_of(sector)
    }

    /// Whether another command may be put in a queue.
    #[inline]
    pub fn queue_has_room(&self, queue: usize) -> bool {
        self.queues[queue].used < self.depth
    }

    /// Number of submission queues.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Commands accepted and not yet taken back.
    pub fn outstanding(&self) -> usize {
        self.commands.len()
    }

    /// Commands that are being worked on: accepted and not completed.
    pub fn working(&self) -> usize {
        self.commands.len() - self.completed.len()
    }

    /// Mapping units in the buffer whose data is not in flash yet and not on its way.
    pub fn dirty_units(&self) -> u32 {
        self.staging.dirty()
    }

    /// Tells from now on whom commands wait for, or no more.
    pub fn tell_holders(&mut self, on: bool) {
        self.waiters = Waiters::of(if on { self.commands.capacity() } else { 0 });
    }

    /// Why the drive takes no more writes, if it does not.
    pub fn read_only(&self) -> Option<Reason> {
        self.read_only
    }

    /// A hash of every completion so far.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Tells the policy that looks ahead of a command: false if it was told of another.
    #[cold]
    fn is_foreseen(&self, command: &Command, b: &mut Below<'_>) -> bool {
        let is_trim = command.op == OpCode::Trim;
        if !is_trim && command.op != OpCode::Write {
            return true;
        }
        self.space().touched(command).is_none_or(|units| b.ftl.is_foreseen(units, is_trim))
    }

    /// Accepts a command into a queue that has room.
    #[inline]
    pub fn submit(&mut self, queue: usize, command: &Command, b: &mut Below<'_>) -> bool {
        let slots = &mut self.queues[queue];
        if slots.used >= self.depth {
            return false;
        }
        let Some(id) = self.commands.add(command, queue as u16, b.now) else { return false };
        slots.used += 1;
        if self.looks_ahead && !self.is_foreseen(command, b) {
            self.commands.get_mut(id).status = Status::NotForeseen;
        }
        if self.link.latency_ns > 0 && b.timed {
            b.schedule(self.link.latency_ns, EventKind::Arrive, id.0);
        } else {
            self.on_arrive(id, b);
        }
        true
    }

    /// A command is in the drive's sight.
    #[inline(always)]
    pub fn on_arrive(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.commands.get_mut(id);
        entry.book(Part::Link, b.now);
        let queue = entry.queue as usize;
        if self.by_priority {
            self.wait_in_class(id, queue);
        } else {
            self.queues[queue].waiting[Priority::Medium as usize].push(&mut self.commands, id);
        }
        self.unfetched += 1;
        self.fetch(b);
    }

    /// A command waits in the line of its class: what is written keeps its order.
    #[cold]
    fn wait_in_class(&mut self, id: CommandId, queue: usize) {
        let Command { op, hints, .. } = self.commands.get(id).command;
        let class = if op == OpCode::Read { hints.class() } else { Priority::Medium };
        self.queues[queue].waiting[class as usize].push(&mut self.commands, id);
    }

    /// The next command by priority, queue by queue in turn.
    #[cold]
    fn next_by_priority(&mut self) -> Option<CommandId> {
        let class = self.class_to_fetch() as usize;
        let mut queues = (self.turn..self.queues.len()).chain(0..self.turn);
        let queue = queues.find(|&queue| self.queues[queue].waiting[class].front().is_some())?;
        self.turn = if queue + 1 == self.queues.len() { 0 } else { queue + 1 };
        self.queues[queue].waiting[class].pop(&self.commands)
    }

    /// The next command as it came, queue by queue in turn; none if none waits in the queue whose turn it is.
    #[inline(always)]
    fn next_in_turn(&mut self) -> Option<CommandId> {
        let queue = self.turn;
        self.turn = if queue + 1 == self.queues.len() { 0 } else { queue + 1 };
        self.queues[queue].waiting[Priority::Medium as usize].pop(&self.commands)
    }

    /// The highest class that waits, but now and then the lowest. One waits.
    fn class_to_fetch(&mut self) -> Priority {
        let waits = |class: &Priority| {
            self.queues.iter().any(|queue| queue.waiting[*class as usize].front().is_some())
        };
        let mut classes = Priority::ALL.into_iter().filter(waits);
        let lowest = classes.next().unwrap_or_default();
        let highest = classes.next_back().unwrap_or(lowest);
        if highest == lowest || self.in_a_row >= IN_A_ROW {
            self.in_a_row = 0;
            return lowest;
        }
        self.in_a_row += 1;
        highest
    }

    /// Fetches the next command, queue by queue in turn, if the firmware is free.
    #[inline]
    fn fetch(&mut self, b: &mut Below<'_>) {
        while !self.fetching && self.unfetched > 0 {
            let next = if self.by_priority { self.next_by_priority() } else { self.next_in_turn() };
            let Some(id) = next else { continue };
            self.unfetched -= 1;
            self.commands.get_mut(id).book(Part::Submission, b.now);
            if self.firmware_ns > 0 && b.timed {
                self.fetching = true;
                b.schedule(self.firmware_ns, EventKind::Fetched, id.0);
            } else {
                self.execute(id, b);
            }
        }
    }

    /// The firmware has dealt with a command: its work begins, and the next is fetched.
    #[inline]
    pub fn on_fetched(&mut self, id: CommandId, b: &mut Below<'_>) {
        self.fetching = false;
        self.commands.get_mut(id).book(Part::Firmware, b.now);
        self.execute(id, b);
        self.fetch(b);
    }

    #[inline]
    fn execute(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.commands.get_mut(id);
        let Command { op, lba: Lba(lba), sectors, hints, .. } = entry.command;
        entry.ready_at = b.now;
        if hints.priority != 0 || hints.class != 0 {
            if !hints.are_valid() {
                entry.status = Status::InvalidField;
                return self.respond(id, b);
            }
            self.classes |= hints.class() != Priority::Medium;
        }
        if op == OpCode::Flush {
            return self.start_flush(id, b);
        }
        let end = lba.saturating_add(u64::from(sectors));
        if sectors == 0 || end > self.logical_sectors {
            entry.status = if sectors == 0 { Status::InvalidField } else { Status::LbaOutOfRange };
            return self.respond(id, b);
        }
        if entry.status != Status::Ok {
            return self.respond(id, b);
        }
        entry.cursor = self.shape.unit_of(lba) as u32;
        entry.end = self.shape.unit_of(end - 1) as u32 + 1;
        match op {
            OpCode::Read => self.continue_read(id, b),
            OpCode::Write => {
                if self.link.inward_free_at > b.now && b.timed {
                    entry.book(Part::LinkWait, self.link.inward_free_at);
                }
                let at = self.link.inward(u64::from(sectors) * crate::units::SECTOR_BYTES, b.now, b.timed);
                b.events.push(at, EventKind::DataIn, id.0);
            }
            OpCode::Trim => self.trim(id, b),
            OpCode::Flush => unreachable!("handled above"),
        }
    }

    /// Sends a command's answer: data of a read, then the completion.
    #[inline]
    fn respond(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.commands.get_mut(id);
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
        let entry = self.commands.get_mut(id);
        entry.book(Part::Link, b.now);
        let (Command { op, sectors, lba, tag, .. }, status) = (entry.command, entry.status);
        self.count_end(op, lba, sectors, status, b.now);
        b.ftl.effects.push(Effect::Complete { command: id, tag });
        self.completed.push_back(id);
    }

    /// Counts a command that has ended, and adds it to the hash.
    #[inline]
    fn count_end(&mut self, op: OpCode, Lba(lba): Lba, sectors: u32, status: Status, now: SimTime) {
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

    /// Whether a completion waits to be taken.
    #[inline]
    pub fn has_completion(&self) -> bool {
        !self.completed.is_empty()
    }

    /// Takes the oldest completion; its place in the queue is free again.
    #[inline]
    pub fn next_completion(&mut self) -> Option<&Completion> {
        let id = self.completed.pop_front()?;
        self.waiters.taken = id;
        let (queue, completion) = self.commands.take(id);
        self.queues[queue as usize].used -= 1;
        Some(completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_cover_the_touched_granules() {
        let page = UnitShape::new(16_384);
        assert_eq!((page.sectors, page.full), (32, 0xffff_ffff));
        assert_eq!(page.mask(0, 0, 32), 0xffff_ffff);
        assert_eq!(page.mask(1, 40, 48), 0xff00);
        assert_eq!(page.mask(1, 10, 33), 1);
        assert_eq!(page.mask(1, 63, 100), 1 << 31);
        assert_eq!(page.bytes(0xff00), 4096);
        let large = UnitShape::new(65_536);
        assert_eq!((large.sectors, large.granule_sectors, large.full), (128, 2, u64::MAX));
        assert_eq!(large.mask(0, 3, 4), 0b10);
        assert_eq!(large.mask(0, 0, 128), u64::MAX);
    }
}
