//! Effects: what happens to data, told in order to an observer that may hold the bytes.
//!
//! Payload never enters the drive. A command's data is known by the DRAM slot it was put in, stored data by its
//! physical unit. Who keeps bytes (a live server, a test) applies the effects in order and has a drive with data.

use crate::units::{CommandId, Lpn, Pun, SlotId};
use std::collections::VecDeque;

/// Where the data of a read comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A slot of DRAM.
    Slot(SlotId),
    /// A unit of flash.
    Flash(Pun),
    /// Nowhere: never written or trimmed; reads as zeros.
    Zero,
}

/// One step in the life of data. Granules are 1/64 of a mapping unit or 512 bytes, whichever is larger; a mask has
/// one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A command's write data for the granules of `mask` was put in `slot`, which now stands for `lpn`; if `fresh`,
    /// what the slot held before is void.
    Accept { tag: u64, lpn: Lpn, slot: SlotId, mask: u64, fresh: bool },
    /// The granules of `mask` were filled from flash (or zeros), to make a partly written unit whole.
    Fill { slot: SlotId, from: Source, mask: u64 },
    /// A slot was programmed into a unit of flash and the mapping now points there.
    Program { lpn: Lpn, slot: SlotId, to: Pun },
    /// A unit of flash was copied to another and the mapping now points there.
    Copy { lpn: Lpn, from: Pun, to: Pun },
    /// A program completed, but its unit was superseded or trimmed in the meantime: dead on arrival.
    Dead { lpn: Lpn, to: Pun },
    /// All units of physical block `block` (of the drive's own numbering: page numbers divided by pages) are gone.
    Erase { first: Pun, units: u32 },
    /// The unit is no longer mapped.
    Trim { lpn: Lpn },
    /// A read returned the granules of `mask` from `from`.
    Read { tag: u64, lpn: Lpn, from: Source, mask: u64 },
    /// A DRAM slot was given up.
    Release { slot: SlotId },
    /// A command completed (the completion itself carries the status).
    Complete { command: CommandId, tag: u64 },
}

/// The queue of effects; off by default, and then it costs one branch.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    on: bool,
    queue: VecDeque<Effect>,
}

impl Effects {
    /// Switches recording on or off.
    pub fn record(&mut self, on: bool) {
        self.on = on;
    }

    /// Whether effects are being recorded.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Tells an effect.
    #[inline]
    pub fn push(&mut self, effect: Effect) {
        if self.on {
            self.queue.push_back(effect);
        }
    }

    /// Takes the oldest effect.
    pub fn pop(&mut self) -> Option<Effect> {
        self.queue.pop_front()
    }
}
