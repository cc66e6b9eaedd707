//! Whom commands wait for, where somebody asks ([`crate::flash::holders`]).

use super::{Below, Host};
use crate::flash::holders::{Held, Holder, Room};
use crate::signals::{OpCode, Part};
use crate::units::{CommandId, SimTime};

/// Parts of a command's time in which an operation waited.
const WAITS: [Part; 3] = [Part::DieWait, Part::ChannelWait, Part::Suspended];

/// What is known of a command's waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    held: Held,
    /// Since it may have had to wait for room.
    room: Room,
}

impl Waited {
    const NOTHING: Waited = Waited { held: Held::NOTHING, room: Room::NONE };
}

impl Host {
    /// Tells from now on, or no more.
    pub fn tell_holders(&mut self, on: bool) {
        self.held = vec![Waited::NOTHING; if on { self.commands.capacity() } else { 0 }].into();
    }

    /// Whether it is told.
    #[inline]
    pub(super) fn tells_holders(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whom the command has waited for that was taken back last.
    pub fn take_held(&mut self) -> Held {
        let waited = self.held.get_mut(self.taken.index());
        waited.map_or(Held::NOTHING, |waited| std::mem::replace(waited, Waited::NOTHING).held)
    }

    /// A write or a flush may have to wait from now on.
    #[inline]
    pub(super) fn begin_wait(&mut self, id: CommandId, b: &Below<'_>) {
        if self.tells_holders() {
            self.held[id.index()].room = b.flash.begin_room(b.now);
        }
    }

    /// The operation is over that a command has waited for last, and its time is booked. What went by before the
    /// command joined it does not count.
    #[inline]
    pub(super) fn note_operation(&mut self, id: CommandId, b: &Below<'_>, held: impl FnOnce() -> Held) {
        if self.tells_holders() {
            self.add_operation(id, b, &held());
        }
    }

    #[cold]
    fn add_operation(&mut self, id: CommandId, b: &Below<'_>, held: &Held) {
        let entry = self.commands.get(id);
        let of = |part: Part| entry.answer.breakdown.ns[part as usize];
        let waited: u64 = WAITS.map(of).iter().sum();
        let mut held = held.without_first(held.total().saturating_sub(waited));
        if entry.command.op == OpCode::Write {
            held.add(Holder::PAGE, of(Part::Dispatch).min(b.flash.lacked_since(&self.held[id.index()].room)));
        }
        self.add(id, &held);
    }

    /// A command has waited in the buffer: for room, or for data to be in flash.
    #[inline]
    pub(super) fn book_buffer(&mut self, id: CommandId, b: &Below<'_>) {
        self.commands.get_mut(id).book(Part::Buffer, b.now);
        if self.tells_holders() {
            self.end_wait(id, b);
        }
    }

    #[cold]
    fn end_wait(&mut self, id: CommandId, b: &Below<'_>) {
        let held = b.flash.held_by_programs(&self.held[id.index()].room, b.now);
        self.add(id, &held);
        self.begin_wait(id, b);
    }

    /// A command has waited for locks.
    #[cold]
    pub(super) fn book_locks(&mut self, id: CommandId, now: SimTime) {
        let entry = self.commands.get_mut(id);
        let since = entry.mark;
        entry.book(Part::DieWait, now);
        if let Some(waited) = self.held.get_mut(id.index()) {
            waited.held.add(Holder::LOCKS, now.since(since));
        }
    }

    #[cold]
    fn add(&mut self, id: CommandId, more: &Held) {
        self.held[id.index()].held.add_all(more);
    }
}

/// No command.
pub(super) fn nobody() -> CommandId {
    CommandId::NONE
}
