//! Whom commands wait for, where somebody asks ([`crate::flash::holders`]).

use super::command::Entry;
use crate::flash::Flash;
use crate::flash::holders::room::Room;
use crate::flash::holders::{Held, Holder, Holders, LastOperation, Told};
use crate::ftl::Programmed;
use crate::signals::{OpCode, Part};
use crate::units::{CommandId, OpId, SimTime};

/// Parts of a command's time in which an operation waited.
const WAITS: [Part; 3] = [Part::DieWait, Part::ChannelWait, Part::Suspended];

/// What is known of a command's waits.
#[derive(Clone, Copy, Debug)]
struct Waited {
    told: Told,
    /// Since it may have had to wait for programs.
    room: Room,
}

/// Whom all commands wait for; nothing if nobody asks.
#[derive(Clone, Debug)]
pub(crate) struct Waiters {
    by_command: Box<[Waited]>,
    /// The command that was taken back last.
    pub(super) taken: CommandId,
}

impl Default for Waiters {
    fn default() -> Self {
        Waiters { by_command: Box::default(), taken: CommandId::NONE }
    }
}

impl Waiters {
    const NOBODY: Waited = Waited { told: Told::NOTHING, room: Room::NONE };

    /// Of so many commands.
    pub fn of(commands: usize) -> Self {
        Waiters { by_command: vec![Self::NOBODY; commands].into(), ..Waiters::default() }
    }

    /// Whether somebody asks.
    #[inline]
    pub(super) fn are_told(&self) -> bool {
        !self.by_command.is_empty()
    }

    /// Whom the command has waited for that was taken back last.
    pub fn take_told(&mut self) -> Told {
        let waited = self.by_command.get_mut(self.taken.index());
        let told = waited.map_or(Told::NOTHING, |waited| std::mem::replace(waited, Self::NOBODY).told);
        Told { command: self.taken.0, ..told }
    }

    /// A write or a flush may have to wait for programs from now on.
    #[inline(always)]
    pub(super) fn begin(&mut self, id: CommandId, flash: &Flash, now: SimTime) {
        if self.are_told() {
            self.begin_told(id, flash, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_told(&mut self, id: CommandId, flash: &Flash, now: SimTime) {
        let Some(holders) = &flash.holders else { return };
        self.by_command[id.index()].room = holders.programs.begin(now);
    }

    /// It need not any more, or not for the same.
    #[inline(always)]
    pub(super) fn end(&mut self, id: CommandId, flash: &Flash, now: SimTime) {
        if self.are_told() {
            self.end_told(id, flash, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn end_told(&mut self, id: CommandId, flash: &Flash, now: SimTime) {
        let Some(holders) = &flash.holders else { return };
        let waited = &mut self.by_command[id.index()];
        if now > waited.room.since() {
            waited.told.last = holders.programs.ended_now(now).or(waited.told.last);
        }
        holders.programs.tell_since(&waited.room, now, &mut waited.told);
        waited.room = holders.programs.begin(now);
    }

    /// The read is over that a command has waited for last, and its time is booked.
    #[cold]
    #[inline(never)]
    pub(super) fn end_read(&mut self, id: CommandId, entry: &Entry, flash: &Flash, read: OpId) {
        let Some(holders) = &flash.holders else { return };
        self.end_operation(id, entry, (holders.of(read), Some(holders.last(flash, read))));
    }

    /// The program is over that a command has waited for last, and its time is booked: that which ended last. What went
    /// by before the command joined it does not count.
    #[cold]
    #[inline(never)]
    pub(super) fn end_program(&mut self, id: CommandId, entry: &Entry, flash: &Flash, done: &Programmed) {
        let Some(Holders { programs, .. }) = flash.holders.as_deref() else { return };
        self.end_operation(id, entry, programs.last());
        if entry.command.op == OpCode::Write {
            let waited = &mut self.by_command[id.index()];
            let before = entry.answer.breakdown.ns[Part::Dispatch as usize];
            let lacked = programs.lacked_before_last(&waited.room).at_most(before);
            waited.told.add_page(&lacked);
            let gathered = programs.gathered_until(done.slot.index(), done.queued);
            waited.told.held.add(Holder::ROW, gathered.min(before - lacked.total()));
        }
    }

    fn end_operation(&mut self, id: CommandId, entry: &Entry, (held, last): (&Held, Option<LastOperation>)) {
        let waited = &mut self.by_command[id.index()];
        waited.told.last = last;
        let of = |part: Part| entry.answer.breakdown.ns[part as usize];
        waited.told.held.add_all(&held.at_most(WAITS.map(of).iter().sum()));
    }

    /// A command has waited for locks; ns.
    pub(super) fn add_locks(&mut self, id: CommandId, ns: u64) {
        if let Some(waited) = self.by_command.get_mut(id.index()) {
            waited.told.held.add(Holder::LOCKS, ns);
        }
    }
}
