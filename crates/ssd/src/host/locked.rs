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

    /// A slot takes what it lacks from flash.
    #[inline]
    pub fn fill_class_from_flash(&mut self, slot: SlotId, from: Source, b: &Below<'_>) {
        let media = &b.ftl.moves.media;
        if media.locks.are_on() && media.tables.is_secured(from) {
            self.secure(slot, Hints::SECURE);
        }
    }

    /// A slot holds what was read, and nothing else.
    #[inline]
    pub fn take_class_from_flash(&mut self, slot: SlotId, from: Source, b: &Below<'_>) {
        let media = &b.ftl.moves.media;
        if media.locks.are_on()
            && let Some(said) = self.said.get_mut(slot.index())
        {
            said.hints.class = if media.tables.is_secured(from) { Hints::SECURE } else { Hints::INSECURE };
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
