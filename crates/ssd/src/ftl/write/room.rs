//! Waiting for room: who does, and when it is worth another try.

use serde::{Deserialize, Serialize};

/// Whether host data waits for free pages, and whether any may have come free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    wanted: bool,
    refused: bool,
    made: bool,
}

impl Room {
    /// Host data found no page.
    #[inline]
    pub fn refuse(&mut self) {
        (self.wanted, self.refused) = (true, true);
    }

    /// A page was found, and host data waits for more or not.
    #[inline]
    pub fn grant(&mut self, others_wait: bool) {
        self.wanted = others_wait;
    }

    /// Nobody waits any more: there will be no room.
    pub fn give_up(&mut self) {
        self.wanted = false;
    }

    /// Whether host data waits for want of a free page.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Whether nobody has to look for room: none was made and nobody was refused; nor does anybody who waits for it
    /// try again, as after an operation.
    #[inline]
    pub fn is_quiet(&self, tries_again: bool) -> bool {
        !(self.made || self.refused || (tries_again && self.wanted))
    }

    /// Whether data was refused since this was last asked.
    #[inline]
    pub fn take_refusal(&mut self) -> bool {
        core::mem::take(&mut self.refused)
    }

    /// A page may have come free.
    #[inline]
    pub fn make(&mut self) {
        self.made = true;
    }

    /// Whether one may have.
    #[inline]
    pub fn is_made(&self) -> bool {
        self.made
    }

    /// The same, once.
    #[inline]
    pub fn take_made(&mut self) -> bool {
        core::mem::take(&mut self.made)
    }
}
