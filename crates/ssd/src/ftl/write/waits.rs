//! Waiting, in one place: what host data lacks to be programmed, and whether any of it may have come.
//!
//! Data that lacks a page stays in `Gather`, or parked in the line of its lane, where `Ftl::program_page` refused it.
//! Who frees a block, or gives one up that was kept from the host, says that it has come (`Media::note_reclaimed` and a
//! few more); then `State::make_room` tries again.

use serde::{Deserialize, Serialize};

/// What somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Lack {
    /// A free page: programs go on when a block is erased or given back.
    Page,
    /// A flash operation: programs and merges go on when one ends.
    Operation,
    /// A slot of DRAM, or the end of a unit that a flush counts: writes and flushes go on when units are programmed or
    /// given up.
    Slot,
}

impl Lack {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// In what has come: somebody looks after each event (see [`Waits::watch`]).
const WATCHED: u8 = 1 << 7;

/// Who waits, and what has come: a bit for each [`Lack`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    wanted: u8,
    /// Asked for in vain since somebody looked.
    refused: u8,
    come: u8,
}

impl Waits {
    /// Something is lacking.
    #[inline]
    pub fn lack(&mut self, what: Lack) {
        self.wanted |= what.bit();
        self.refused |= what.bit();
    }

    /// It was found, and others wait for more of it or not.
    #[inline]
    pub fn grant(&mut self, what: Lack, others_wait: bool) {
        self.wanted = self.wanted & !what.bit() | u8::from(others_wait) << what as u8;
    }

    /// Whether somebody waits for it.
    #[inline]
    pub fn is_wanted(&self, what: Lack) -> bool {
        self.wanted & what.bit() != 0
    }

    /// Whether nobody waits for anything.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.wanted == 0
    }

    /// Whether somebody waits for it; whoever does is told now, and nobody waits any more.
    #[inline]
    pub fn take_wanted(&mut self, what: Lack) -> bool {
        let wanted = self.is_wanted(what);
        self.grant(what, false);
        wanted
    }

    /// Whether it was asked for in vain since this was last asked.
    #[inline]
    pub fn take_refusal(&mut self, what: Lack) -> bool {
        let refused = self.refused & what.bit() != 0;
        self.refused &= !what.bit();
        refused
    }

    /// Some of it may have come.
    #[inline]
    pub fn come(&mut self, what: Lack) {
        self.come |= what.bit();
    }

    /// Whether some may have.
    #[inline]
    pub fn has_come(&self, what: Lack) -> bool {
        self.come & what.bit() != 0
    }

    /// Whether some may have come; told once.
    #[inline]
    pub fn take_come(&mut self, what: Lack) -> bool {
        let has_come = self.has_come(what);
        self.come &= !what.bit();
        has_come
    }

    /// Nobody waits; somebody has to look after each event even so, or not.
    pub fn watched(always: bool) -> Self {
        let mut waits = Waits::default();
        waits.watch(always);
        waits
    }

    /// From now on somebody has to look after each event, whoever waits; or not any more.
    pub fn watch(&mut self, on: bool) {
        self.come = self.come & !WATCHED | if on { WATCHED } else { 0 };
    }

    /// Whether somebody does.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.come & WATCHED != 0
    }

    /// Whether nobody has to look for it: none has come and nobody was refused; nor does anybody who waits for it try
    /// again, as after an operation.
    #[inline]
    pub fn is_quiet(&self, what: Lack, tries_again: bool) -> bool {
        let asks = if tries_again { self.wanted } else { 0 };
        (self.come | self.refused | asks) & (what.bit() | WATCHED) == 0
    }
}
