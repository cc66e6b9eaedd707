//! Of what class the data in slots is (`ftl.sanitize`): what commands say of it, and what they find in flash.

use super::Below;
use super::slots::Slots;
use crate::observe::Source;
use crate::signals::Hints;
use crate::units::SlotId;

impl Slots {
    /// The class of what a slot holds after a command of a class has written to it: what it held before may still be
    /// there.
    #[cold]
    pub fn class_of_slot(&self, slot: SlotId, said: u8, is_fresh: bool, b: &Below<'_>) -> u8 {
        let class = b.ftl.moves.media.locks.manner.class_of(said);
        let before = self.said.get(slot.index()).map_or(0, |said| said.hints.class);
        if is_fresh { class } else { class.max(before) }
    }

    /// A slot takes what it lacks from elsewhere: it is as secret as that.
    #[cold]
    fn secure(&mut self, slot: SlotId, class: u8) {
        if let Some(said) = self.said.get_mut(slot.index()) {
            said.hints.class = said.hints.class.max(class);
        }
    }

    /// Whether what was read for a slot is secured. It may have moved since, and be locked or erased where it was: then
    /// only the unit at its new place says so.
    #[cold]
    fn is_read_of_secured(&self, slot: SlotId, from: Source, b: &Below<'_>) -> bool {
        let now = Source::Flash(b.ftl.moves.media.tables.map.lookup(self.staging.get(slot).lpn));
        b.ftl.moves.media.tables.is_secured(from) || b.ftl.moves.media.tables.is_secured(now)
    }

    /// A slot takes what it lacks from flash.
    #[inline]
    pub fn fill_class_from_flash(&mut self, slot: SlotId, from: Source, b: &Below<'_>) {
        if b.ftl.moves.media.locks.are_on() && self.is_read_of_secured(slot, from, b) {
            self.secure(slot, Hints::SECURE);
        }
    }

    /// A slot holds what was read, and nothing else.
    #[inline]
    pub fn take_class_from_flash(&mut self, slot: SlotId, from: Source, b: &Below<'_>) {
        if b.ftl.moves.media.locks.are_on() {
            let class = if self.is_read_of_secured(slot, from, b) { Hints::SECURE } else { Hints::INSECURE };
            if let Some(said) = self.said.get_mut(slot.index()) {
                said.hints.class = class;
            }
        }
    }

    /// A slot takes what it lacks from another slot.
    #[inline]
    pub fn fill_class_from_slot(&mut self, slot: SlotId, from: SlotId, b: &Below<'_>) {
        if b.ftl.moves.media.locks.are_on() {
            let class = self.said.get(from.index()).map_or(0, |said| said.hints.class);
            self.secure(slot, class);
        }
    }
}
