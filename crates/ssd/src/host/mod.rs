//! The host interface: submission queues, the link, the firmware's time, the DRAM buffer, completions.
//!
//! Knows no physical page beyond passing on what the translation layer answers. A command passes: submission queue,
//! link latency, fetch (round robin over the queues, one at a time), data or flash work, link, completion.

mod ahead;
pub mod buffer;
mod check;
mod command;
mod commands;
mod counts;
mod firmware;
mod held;
pub mod hotness;
mod index;
mod leave;
mod link;
mod locked;
mod programs;
mod queues;
mod reads;
mod restore;
mod slots;
mod space;
mod staging;
mod writes;

use crate::events::{EventKind, EventQueue};
use crate::flash::Flash;
use crate::flash::holders::Told;
use crate::flash::op::Cause;
use crate::ftl::Ftl;
use crate::ftl::Programmed;
use crate::ftl::stream::{Needs, Streams};
use crate::ftl::write::waits::Lack;
use crate::nand::Outcome;
use crate::sections::Sections;
use crate::signals::{Command, Completion, OpCode, Part, Priority, Reason, Status};
use crate::units::SimTime;
use crate::units::{CommandId, Lba, Lpn, OpId};
use ahead::Ahead;
use commands::Commands;
pub use counts::HostCounts;
use firmware::Firmware;
use held::Waiters;
use programs::Programs;
use queues::Queues;
use reads::Reads;
use serde::{Deserialize, Serialize};
use slots::Slots;
pub use space::Space;
use writes::Writes;

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
    /// Whether a page can be read or programmed for the host now.
    #[inline]
    fn may_issue(&self) -> bool {
        self.flash.host_room() >= self.ftl.moves.media.tables.layout.width as usize
    }

    /// Whether one flash operation can be issued for the host now.
    #[inline]
    fn may_issue_one(&self) -> bool {
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

/// The host interface of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    queues: Queues,
    commands: Commands,
    slots: Slots,
    reads: Reads,
    writes: Writes,
    programs: Programs,
    #[serde(skip)]
    firmware: Firmware,
    logical_sectors: u64,
    /// Some policy must know of commands before they come.
    looks_ahead: bool,
}

impl Host {
    /// The interface of a checked configuration.
    pub fn new(
        cfg: &Sections,
        policies: (&buffer::Config, &hotness::Config),
        needs: Needs,
        streams: (Streams, u32),
    ) -> Self {
        let slots = Slots::new(cfg, policies, needs, streams);
        Host {
            queues: Queues::new(cfg),
            commands: Commands::new(cfg),
            reads: Reads { ahead: Ahead::of(cfg), ..Reads::NONE },
            writes: Writes::NONE,
            programs: Programs::new(cfg, slots.rules.one_list),
            slots,
            firmware: Firmware::new(&cfg.firmware),
            logical_sectors: cfg.logical_units() * u64::from(cfg.unit_bytes()) / crate::units::SECTOR_BYTES,
            looks_ahead: false,
        }
    }

    /// Fits the interface to the policies below: it tells them of reads and asks them about commands, if they want it,
    /// and answers no write while what that killed can be read, if locks ask for that: then all writes are to the
    /// medium.
    pub fn above(mut self, ftl: &Ftl) -> Self {
        self.reads.tells = ftl.counts_host_reads();
        self.reads.looks = self.reads.tells || self.reads.ahead.is_some();
        self.looks_ahead = ftl.looks_ahead().is_some();
        self.commands.all_wait = ftl.moves.media.locks.manner.holds_writes();
        self.slots.rules.write_back &= !self.commands.all_wait;
        self
    }

    /// Slots of host data in DRAM.
    pub fn slots(&self) -> u32 {
        self.slots.staging.len()
    }

    /// Sectors the host sees.
    pub fn logical_sectors(&self) -> u64 {
        self.logical_sectors
    }

    /// The logical space.
    pub fn space(&self) -> Space {
        Space { shape: self.slots.shape, sectors: self.logical_sectors }
    }

    /// The mapping unit that a sector is part of.
    #[inline]
    pub fn unit_of(&self, sector: u64) -> u64 {
        self.slots.shape.unit_of(sector)
    }

    /// Whether another command may be put in a queue.
    #[inline]
    pub fn queue_has_room(&self, queue: usize) -> bool {
        self.queues.has_room(queue)
    }

    /// Number of submission queues.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Commands accepted and not yet taken back.
    pub fn outstanding(&self) -> usize {
        self.commands.table.len()
    }

    /// Commands that are being worked on: accepted and not completed.
    pub fn working(&self) -> usize {
        self.commands.working()
    }

    /// Mapping units in the buffer whose data is not in flash yet and not on its way.
    pub fn dirty_units(&self) -> u32 {
        self.slots.staging.unsent()
    }

    /// Slots that hold data not in flash.
    pub fn unclean(&self) -> u32 {
        self.slots.staging.unclean()
    }

    /// What is counted.
    pub fn counts(&self) -> &HostCounts {
        &self.commands.counts
    }

    /// Counts from zero.
    pub fn reset_counts(&mut self) {
        self.commands.counts = HostCounts::default();
    }

    /// Tells from now on whom commands wait for, or no more.
    pub fn tell_holders(&mut self, on: bool) {
        self.commands.waiters = Waiters::of(if on { self.commands.table.capacity() } else { 0 });
    }

    /// Whom the command has waited for that was taken back last.
    pub fn take_told(&mut self) -> Told {
        self.commands.waiters.take_told()
    }

    /// Why the drive takes no more writes, if it does not.
    pub fn read_only(&self) -> Option<Reason> {
        self.writes.read_only
    }

    /// A hash of every completion so far.
    pub fn hash(&self) -> u64 {
        self.commands.hash
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
        if !self.queues.has_room(queue) {
            return false;
        }
        let Some(id) = self.commands.table.add(command, queue as u16, b.now) else { return false };
        self.queues.enter(queue);
        if self.looks_ahead && !self.is_foreseen(command, b) {
            self.commands.table.get_mut(id).status = Status::NotForeseen;
        }
        let latency_ns = self.commands.link.latency_ns;
        if latency_ns > 0 && b.timed {
            b.schedule(latency_ns, EventKind::Arrive, id.0);
        } else {
            self.on_arrive(id, b);
        }
        true
    }

    /// A command is in the drive's sight.
    #[inline(always)]
    pub fn on_arrive(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.commands.table.get_mut(id);
        entry.book(Part::Link, b.now);
        let queue = entry.queue as usize;
        self.queues.wait(id, queue, &mut self.commands.table);
        self.fetch(b);
    }

    /// Fetches the next command, queue by queue in turn, if the firmware is free.
    #[inline]
    fn fetch(&mut self, b: &mut Below<'_>) {
        while self.queues.may_fetch() {
            let Some(id) = self.queues.next(&self.commands.table) else { continue };
            let entry = self.commands.table.get_mut(id);
            entry.book(Part::Submission, b.now);
            let ns = match entry.command.op {
                OpCode::Trim => {
                    let command = entry.command;
                    self.firmware.time_for_trim(&command, self.space())
                }
                _ => self.firmware.command,
            };
            if ns > 0 && b.timed {
                self.queues.fetching = true;
                b.schedule(ns, EventKind::Fetched, id.0);
            } else {
                self.execute(id, b);
            }
        }
    }

    /// The firmware has dealt with a command: its work begins, and the next is fetched.
    #[inline]
    pub fn on_fetched(&mut self, id: CommandId, b: &mut Below<'_>) {
        self.queues.fetching = false;
        self.commands.table.get_mut(id).book(Part::Firmware, b.now);
        self.execute(id, b);
        self.fetch(b);
    }

    #[inline]
    fn execute(&mut self, id: CommandId, b: &mut Below<'_>) {
        let entry = self.commands.table.get_mut(id);
        let Command { op, lba: Lba(lba), sectors, hints, .. } = entry.command;
        entry.ready_at = b.now;
        if hints.priority != 0 || hints.class != 0 {
            if !hints.are_valid() {
                entry.status = Status::InvalidField;
                return self.commands.respond(id, b);
            }
            self.reads.classes |= hints.class() != Priority::Medium;
        }
        if op == OpCode::Flush {
            return self.flush(id, b);
        }
        let end = lba.saturating_add(u64::from(sectors));
        if sectors == 0 || end > self.logical_sectors {
            entry.status = if sectors == 0 { Status::InvalidField } else { Status::LbaOutOfRange };
            return self.commands.respond(id, b);
        }
        if entry.status != Status::Ok {
            return self.commands.respond(id, b);
        }
        entry.cursor = self.slots.shape.unit_of(lba) as u32;
        entry.end = self.slots.shape.unit_of(end - 1) as u32 + 1;
        match op {
            OpCode::Read => self.reads.go_on(id, &mut self.slots, &mut self.commands, b),
            OpCode::Write => {
                let link = &mut self.commands.link;
                if link.inward_free_at > b.now && b.timed {
                    entry.book(Part::LinkWait, link.inward_free_at);
                }
                let at = link.inward(u64::from(sectors) * crate::units::SECTOR_BYTES, b.now, b.timed);
                b.events.push(at, EventKind::DataIn, id.0);
            }
            OpCode::Trim => self.trim(id, b),
            OpCode::Flush => unreachable!("handled above"),
        }
    }

    #[inline(never)]
    fn flush(&mut self, id: CommandId, b: &mut Below<'_>) {
        if self.writes.start_flush(id, &mut self.slots, &mut self.commands, b) {
            self.flush_some(b);
        }
    }

    #[inline(never)]
    fn trim(&mut self, id: CommandId, b: &mut Below<'_>) {
        self.writes.trim(id, &mut self.slots, &mut self.commands, b);
        self.after_programs(b);
    }

    /// A write's data is in the drive.
    pub fn on_data_in(&mut self, id: CommandId, b: &mut Below<'_>) {
        let Host { writes, slots, commands, .. } = self;
        commands.table.get_mut(id).book(Part::Link, b.now);
        commands.waiters.begin(id, b.flash, b.now);
        if writes.stalled.is_empty() {
            writes.continue_write(id, slots, commands, b);
        } else {
            commands.counts.buffer_stalls += 1;
            writes.stalled.push(&mut commands.table, id);
        }
        self.flush_some(b);
    }

    /// The host sees a command complete.
    #[inline]
    pub fn on_complete(&mut self, id: CommandId, b: &mut Below<'_>) {
        self.commands.on_complete(id, b);
    }

    /// Data for a page has waited long enough.
    pub fn on_gather_timeout(&mut self, b: &mut Below<'_>) {
        self.flush_some(b);
    }

    /// A flash read for a command is done.
    #[inline]
    pub fn on_read(&mut self, id: OpId, b: &mut Below<'_>) {
        let command = CommandId(b.flash.of_host().tag(id));
        if !b.flash.of_host().is_whole(id) || b.ftl.moves.media.effects.is_on() || self.slots.rules.keep_reads
        {
            return self.look_at_read(id, command, b);
        }
        b.flash.forget(id);
        self.commands.end_read(command, id, b);
        self.feed_starved(b);
    }

    /// A flash read for a command, or ahead, is done, and its units are looked at one by one.
    fn look_at_read(&mut self, id: OpId, command: CommandId, b: &mut Below<'_>) {
        let command = self.reads.look_at(id, command, &mut self.slots, &mut self.commands, b);
        if command.is_some() {
            self.commands.end_read(command, id, b);
        }
        self.feed_starved(b);
        if self.slots.rules.one_list {
            // What was kept may have taken room that is to be free.
            self.flush_some(b);
        }
    }

    /// A read is done that no command has asked for: ahead, or of the rest of a partly written unit, whose slot is
    /// `tag`.
    pub fn on_own_read(&mut self, cause: Cause, id: OpId, tag: u32, b: &mut Below<'_>) {
        if cause == Cause::ReadAhead {
            return self.look_at_read(id, CommandId::NONE, b);
        }
        if programs::on_merged(id, tag, &mut self.slots, &mut self.commands, b) {
            self.after_programs(b);
        } else {
            self.flush_some(b);
        }
        self.feed_starved(b);
    }

    /// A program of host data is done; `units` of its slots are told one by one with [`Host::on_programmed`].
    pub fn on_program_done(&mut self) {
        self.programs.on_program_done();
    }

    /// A slot's data is in flash, or its program failed.
    pub fn on_programmed(&mut self, done: &Programmed, b: &mut Below<'_>) {
        programs::on_programmed(done, &mut self.slots, &mut self.commands, b);
    }

    /// After programs: waiting writes, flushes, further programs and reads go on.
    #[inline(never)]
    pub fn after_programs(&mut self, b: &mut Below<'_>) {
        self.writes.go_on(&mut self.slots, &mut self.commands, b);
        self.flush_some(b);
        self.feed_starved(b);
    }

    /// Starts programs for as much dirty data as should be on its way and fits.
    #[inline]
    pub fn flush_some(&mut self, b: &mut Below<'_>) {
        if self.writes.read_only.is_none() {
            b.ftl.gather.note_parked(&mut b.ftl.moves.media.waits);
            if !self.writes.trims.is_empty() {
                self.writes.go_on_with_trims(&mut self.slots, &mut self.commands, b);
            }
            if self.programs.have_room() || self.slots.rules.one_list {
                self.start_programs(b);
            }
        }
        if b.ftl.moves.media.waits.take_come(Lack::Slot) {
            // Slots became free and flushes may be done without any program.
            self.after_programs(b);
        }
    }

    #[inline(never)]
    fn start_programs(&mut self, b: &mut Below<'_>) {
        self.programs.start(&self.writes, &mut self.slots, &mut self.commands, b);
    }

    /// Lets programs and reads that waited for flash operations go on.
    #[inline]
    fn feed_starved(&mut self, b: &mut Below<'_>) {
        if b.ftl.moves.media.waits.is_wanted(Lack::Operation) || !self.reads.starved.is_empty() {
            self.feed_those_starved(b);
        }
    }

    fn feed_those_starved(&mut self, b: &mut Below<'_>) {
        if b.ftl.moves.media.waits.take_wanted(Lack::Operation) {
            self.flush_some(b);
        }
        while b.may_issue()
            && let Some(command) = self.reads.starved.pop(&self.commands.table)
        {
            self.commands.table.get_mut(command).book(Part::Dispatch, b.now);
            self.reads.go_on(command, &mut self.slots, &mut self.commands, b);
        }
    }

    /// The drive can make no room: everything that waits for it ends with a status.
    pub fn end_in_read_only(&mut self, reason: Reason, b: &mut Below<'_>) {
        self.writes.end_in_read_only(reason, &mut self.slots, &mut self.commands, b);
    }

    /// Whether something waits that only programs can serve.
    pub fn waits_for_room(&self) -> bool {
        self.writes.read_only.is_none()
            && (!self.writes.trims.is_empty() || self.programs.must_hurry(&self.writes, &self.slots))
    }

    /// Whether a command waits for locks.
    pub fn waits_for_locks(&self) -> bool {
        self.commands.waits_for_locks()
    }

    /// Commands whose locks are there are answered; if none will come for the others these fail.
    #[cold]
    pub fn after_locks(&mut self, others_fail: bool, b: &mut Below<'_>) {
        self.commands.after_locks(others_fail, b);
    }

    /// Starts writing everything dirty to flash, as a FLUSH would.
    pub fn hurry(&mut self, on: bool, b: &mut Below<'_>) {
        self.programs.hurrying = on;
        self.flush_some(b);
    }

    /// Gives up all clean slots: for a change of executor or a direct write below the buffer.
    pub fn drop_clean(&mut self, b: &mut Below<'_>) {
        self.slots.drop_clean(b);
    }

    /// Reads sectors of one page of flash where no time passes and nothing else goes on, without a command: the same
    /// pages are read in the same order, and every count and hash comes out alike, but queues, parts of latencies and
    /// events are left out, which cost more than the flash where reads are counted by the hundred million. `None` if a
    /// command must do it: because something is under way, is kept in DRAM or is not on flash.
    #[inline]
    pub fn read_at_once(&mut self, lba: Lba, sectors: u32, b: &mut Below<'_>) -> Option<Status> {
        let media = &b.ftl.moves.media;
        let end = lba.0.saturating_add(u64::from(sectors));
        let is_quiet = self.commands.table.len() == 0 && self.queues.len() == 1 && media.waits.is_idle();
        if b.timed || !is_quiet || self.slots.rules.keep_reads || media.effects.is_on() {
            return None;
        }
        if sectors == 0 || end > self.logical_sectors {
            return None;
        }
        let first = Lpn((lba.0 / self.slots.shape.sectors) as u32);
        let count = end.div_ceil(self.slots.shape.sectors) as u32 - first.0;
        let mut units = (first.0..first.0 + count).map(Lpn);
        let place = media.tables.one_page_of(first, count)?;
        if units.any(|lpn| self.slots.staging.find(lpn).is_some()) {
            return None;
        }
        if self.reads.tells {
            (first.0..first.0 + count).for_each(|lpn| b.ftl.note_host_read(Lpn(lpn)));
        }
        let (tries, outcome) = b.ftl.read_at_once(b.flash, first, count, place);
        self.commands.counts.buffer_misses += u64::from(tries) * u64::from(count);
        let status = if outcome == Outcome::Pass { Status::Ok } else { Status::Uncorrectable };
        self.commands.count_end(OpCode::Read, lba, sectors, status, b.now);
        Some(status)
    }

    /// Whether a completion waits to be taken.
    #[inline]
    pub fn has_completion(&self) -> bool {
        !self.commands.completed.is_empty()
    }

    /// Takes the oldest completion; its place in the queue is free again.
    #[inline]
    pub fn next_completion(&mut self) -> Option<&Completion> {
        let (queue, completion) = self.commands.next_completion()?;
        self.queues.leave(queue as usize);
        Some(completion)
    }
}
