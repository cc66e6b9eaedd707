//! Effects: what happens to data, told in order to an observer that may hold the bytes.
//!
//! Payload never enters the drive. A command's data is known by the DRAM slot it was put in, stored data by its
//! physical unit. Who keeps bytes (a live server, a test) applies the effects in order and has a drive with data.

use crate::signals::Facts;
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
    /// A command's write data was put in a slot, which now stands for its logical unit.
    Accept {
        /// The command's number, as its submitter chose it.
        tag: u64,
        /// The logical unit.
        lpn: Lpn,
        /// The slot.
        slot: SlotId,
        /// The granules written.
        mask: u64,
        /// Whether the slot is newly taken: what it held before is void.
        fresh: bool,
    },
    /// Granules of a slot were filled from elsewhere: to make a partly written unit whole, or to keep what was read.
    Fill {
        /// The slot; newly taken if it held nothing.
        slot: SlotId,
        /// Where the data came from.
        from: Source,
        /// The granules filled.
        mask: u64,
    },
    /// A slot was programmed into a unit of flash and the mapping now points there. Granules that the slot does not
    /// hold read as zeros.
    Program {
        /// The logical unit.
        lpn: Lpn,
        /// The slot.
        slot: SlotId,
        /// The unit of flash.
        to: Pun,
    },
    /// A whole unit was written below the buffer, as preconditioning does, and the mapping now points there. It has no
    /// data but what the observer gives it.
    Place {
        /// The logical unit.
        lpn: Lpn,
        /// The unit of flash.
        to: Pun,
    },
    /// A unit of flash was copied to another and the mapping now points there.
    Copy {
        /// The logical unit.
        lpn: Lpn,
        /// The unit of flash it was read from.
        from: Pun,
        /// The unit of flash that holds it now.
        to: Pun,
    },
    /// A unit of flash was copied, but the logical unit was overwritten or trimmed in the meantime: dead on arrival.
    Dead {
        /// The logical unit.
        lpn: Lpn,
        /// The unit of flash it was read from.
        from: Pun,
        /// The unit of flash that holds the useless copy.
        to: Pun,
    },
    /// A unit of flash was copied to another, its replica. The mapping still points to the first; from now on reads may
    /// come from either, until the logical unit is programmed, placed or trimmed or one of the two is erased.
    Replicate {
        /// The logical unit.
        lpn: Lpn,
        /// The unit of flash it was read from, and stays mapped to.
        from: Pun,
        /// The unit of flash that holds the replica.
        to: Pun,
    },
    /// The mapping of a logical unit now points to its replica; nothing was copied.
    Adopt {
        /// The logical unit.
        lpn: Lpn,
        /// The unit of flash it was mapped to, now dead.
        from: Pun,
        /// The unit of flash that held its replica.
        to: Pun,
    },
    /// All units of a block are gone.
    Erase {
        /// The block's first unit of flash.
        first: Pun,
        /// Units of the block.
        units: u32,
    },
    /// A logical unit is no longer mapped, and has no slot. Flash keeps no trace of that: who looks for the newest copy
    /// in flash alone, as after a power cut, finds what the unit was before.
    Trim {
        /// The logical unit.
        lpn: Lpn,
    },
    /// The data of a logical unit had more errors than can be corrected, and it is no longer mapped. Until it is
    /// written or trimmed, reads of it end as uncorrectable.
    Lose {
        /// The logical unit.
        lpn: Lpn,
    },
    /// A page of flash was read, and no attempt could correct it. Data is lost only after that.
    Unreadable {
        /// The page's first unit of flash.
        first: Pun,
        /// Units of the page.
        units: u32,
    },
    /// A read returned data of one unit.
    Read {
        /// The command's number, as its submitter chose it.
        tag: u64,
        /// The logical unit.
        lpn: Lpn,
        /// Where the data came from.
        from: Source,
        /// The granules returned.
        mask: u64,
    },
    /// A DRAM slot was given up. Whoever holds the bytes of data that may be secret writes zeros over them.
    Release {
        /// The slot.
        slot: SlotId,
    },
    /// A command completed (the completion itself carries the status).
    Complete {
        /// The command's place in the command table.
        command: CommandId,
        /// The command's number, as its submitter chose it.
        tag: u64,
    },
    /// A chip did something; only if [`crate::Drive::record_chip_effects`] asked for it.
    Chip(ChipEffect),
}

/// What the chips do, in the order in which they do it. Told between the other effects, before what follows from it:
/// whoever holds the bytes can be cut off between any two and knows what is on the chips. Blocks and pages are
/// physical, blocks counted over the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipEffect {
    /// A chip begins to program a page. Until it ends, nothing of the page can be read.
    ProgramBegins {
        /// The block.
        block: u32,
        /// The page in the block.
        page: u32,
        /// The page's first unit of flash, as the other effects count them; each page that a larger unit takes has
        /// that unit.
        first: Pun,
        /// Whether the block is used with one bit a cell: then the page is a wordline.
        one_bit: bool,
    },
    /// What goes into one unit of that page and its spare area; told for each right after the program's begin, or, of
    /// a unit larger than a page, after that of the last page it takes, and of a wordline that is programmed at once,
    /// for all units of it, after that of its last page. Units that are not told of hold nothing. A copy inside a chip
    /// has the same effects as any other program.
    Spare {
        /// The unit of flash.
        to: Pun,
        /// The logical unit.
        lpn: Lpn,
        /// Where the data comes from: a slot of DRAM, a unit of flash (read before), or nowhere: then an
        /// [`Effect::Place`] follows, whose data it is.
        from: Source,
        /// What else the spare area says. A sequence of 0 is that of the unit it comes from.
        facts: Facts,
    },
    /// The program is over.
    ProgramEnds {
        /// The block.
        block: u32,
        /// The page in the block.
        page: u32,
        /// Whether the chip said that it failed: then the page cannot be read.
        failed: bool,
    },
    /// A chip begins to erase a block. From now on nothing of it can be read.
    EraseBegins {
        /// The block.
        block: u32,
    },
    /// The block is erased.
    EraseEnds {
        /// The block.
        block: u32,
    },
    /// A chip begins to lock, scrub or reprogram a page, or to lock a block.
    PulseBegins {
        /// The block.
        block: u32,
        /// The page in the block; none if it is all of them.
        page: Option<u32>,
    },
    /// The flags of a page are set: it answers zeros, until its block is erased.
    LockPage {
        /// The block.
        block: u32,
        /// The page in the block.
        page: u32,
        /// Whether the chip said that it failed: then nothing has changed.
        failed: bool,
    },
    /// The flag of a block is set: all of its pages answer zeros, until it is erased.
    LockBlock {
        /// The block.
        block: u32,
        /// Whether the chip said that it failed: then nothing has changed.
        failed: bool,
    },
    /// A page is noise, until its block is erased; others of its wordline may be lost.
    Reprogram {
        /// The block.
        block: u32,
        /// The page in the block.
        page: u32,
        /// Whether the chip said that it failed: then nothing has changed.
        failed: bool,
    },
    /// A page and all others of its wordline are noise, until the block is erased.
    Scrub {
        /// The block.
        block: u32,
        /// The page in the block.
        page: u32,
        /// Whether the block is used with one bit a cell: then there are no others.
        one_bit: bool,
        /// Whether the chip said that it failed: then nothing has changed.
        failed: bool,
    },
}

/// The queue of effects; off by default, and then it costs one branch.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    on: bool,
    chips: bool,
    queue: VecDeque<Effect>,
}

impl Effects {
    /// Switches recording on or off.
    pub fn record(&mut self, on: bool) {
        (self.on, self.chips) = (on, false);
    }

    /// Switches the recording of what chips do, and of all else with it, on or off.
    pub fn record_chips(&mut self, on: bool) {
        (self.on, self.chips) = (on, on);
    }

    /// Whether it is recorded what chips do.
    #[inline]
    pub fn has_chips(&self) -> bool {
        self.chips
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
