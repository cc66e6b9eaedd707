//! Whom commands wait for, where somebody asks ([`crate::flash::holders`]).

use super::{Below, Host};
use crate::flash::holders::{Held, Holder};
use crate::signals::Part;
use crate::units::{CommandId, SimTime};

/// Parts of a command's time in which an operation waited.
const WAITS: [Part; 3] = [Part::DieWait, Part::ChannelWait, Part::Suspended];

impl Host {
    /// Tells from now on, or no more.
    pub fn tell_holders(&mut self, on: bool) {
        self.held = vec![Held::NOTHING; if on { self.commands.capacity() } else { 0 }].into();
    }

    /// Whether it is told.
    #[inline]
    pub(super) fn tells_holders(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whom the command has waited for that was taken back last.
    pub fn take_held(&mut self) -> Held {
        let held = self.held.get_mut(self.taken.index());
        held.map_or(Held::NOTHING, |held| std::mem::replace(held, Held::NOTHING))
    }

    /// The operation is over that a command has waited for last, and its time is booked. What went by before the command
    /// joined it does not count.
    #[inline]
    pub(super) fn note_operation(&mut self, id: CommandId, held: impl FnOnce() -> Held) {
        if self.tells_holders() {
            self.add_operation(id, &held());
        }
    }

    #[cold]
    fn add_operation(&mut self, id: CommandId, held: &Held) {
        let waited: u64 =
            WAITS.map(|part| self.commands.get(id).answer.breakdown.ns[part as usize]).iter().sum();
        let held = held.without_first(held.total().saturating_sub(waited));
        self.add(id, &held);
    }

    /// A command has waited in the buffer: for room, or for data to be in flash.
    #[inline]
    pub(super) fn book_buffer(&mut self, id: CommandId, b: &Below<'_>) {
        let entry = self.commands.get_mut(id);
        let since = entry.mark;
        entry.book(Part::Buffer, b.now);
        if self.tells_holders() && since < b.now {
            self.add(id, &b.flash.held_by_last(since, b.now));
        }
    }

    /// A command has waited for locks.
    #[cold]
    pub(super) fn book_locks(&mut self, id: CommandId, now: SimTime) {
        let entry = self.commands.get_mut(id);
        let since = entry.mark;
        entry.book(Part::DieWait, now);
        if let Some(held) = self.held.get_mut(id.index()) {
            held.add(Holder::LOCKS, now.since(since));
        }
    }

    #[cold]
    fn add(&mut self, id: CommandId, more: &Held) {
        let held = &mut self.held[id.index()].ns;
        held.iter_mut().zip(&more.ns).for_each(|(held, more)| *held += more);
    }
}

/// No command.
pub(super) fn nobody() -> CommandId {
    CommandId::NONE
}
