//! What each kind of operation is: a row of a table. Whoever handles operations asks the row and not the kind, so that
//! another command of the chips is another row, and a new effect on them if it has one.

use super::op::OpKind;

/// Which way data goes on the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Neither.
    None,
    /// Into the die, with the command.
    In,
    /// Out of the die, after the array's work.
    Out,
}

/// What the array does, and so how long it takes (`timing.rs` has the tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Senses a page.
    Sense,
    /// Programs a page.
    Program,
    /// Erases a block.
    Erase,
    /// Senses a page and programs another.
    SenseAndProgram,
    /// One pulse on flags, a select line or a wordline.
    Pulse,
}

/// What becomes of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcomes {
    /// Nothing but what a read disturbs.
    Reads,
    /// One more page holds data.
    Programs,
    /// A block holds none.
    Erases,
    /// A page cannot be read any more, or none of its wordline.
    HidesPage,
    /// No page of a block can be read any more.
    HidesBlock,
}

/// With which neighbours in the queue it can form a multi-plane group: of its own kind, one in each plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joins {
    /// With none.
    Never,
    /// With those of the same page number.
    SamePage,
    /// With any.
    Any,
}

/// Steps that the array's work is made of; a suspend can take effect at the end of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stops {
    /// It is one step and cannot be suspended.
    Never,
    /// After each of `nand.timing.program_steps`.
    ProgramSteps,
    /// After each of `nand.timing.erase_steps`.
    EraseSteps,
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Data on the channel.
    pub data: Data,
    /// The array's work.
    pub work: Work,
    /// Effect on the chip.
    pub effect: Outcomes,
    /// Multi-plane groups.
    pub joins: Joins,
    /// Suspend.
    pub stops: Stops,
}

const READ: Row = Row {
    data: Data::Out,
    work: Work::Sense,
    effect: Outcomes::Reads,
    joins: Joins::SamePage,
    stops: Stops::Never,
};

const PROGRAM: Row = Row {
    data: Data::In,
    work: Work::Program,
    effect: Outcomes::Programs,
    joins: Joins::SamePage,
    stops: Stops::ProgramSteps,
};

const ERASE: Row = Row {
    data: Data::None,
    work: Work::Erase,
    effect: Outcomes::Erases,
    joins: Joins::Any,
    stops: Stops::EraseSteps,
};

const COPYBACK: Row = Row {
    data: Data::None,
    work: Work::SenseAndProgram,
    effect: Outcomes::Programs,
    joins: Joins::Never,
    stops: Stops::ProgramSteps,
};

/// A pulse that keeps data from being read: one step, alone in its die, with an erase's command.
const fn pulse(effect: Outcomes) -> Row {
    Row { data: Data::None, work: Work::Pulse, effect, joins: Joins::Never, stops: Stops::Never }
}

const OF_PAGE: Row = pulse(Outcomes::HidesPage);
const OF_BLOCK: Row = pulse(Outcomes::HidesBlock);

impl OpKind {
    /// Its row.
    #[inline(always)]
    pub const fn row(self) -> &'static Row {
        match self {
            OpKind::Read => &READ,
            OpKind::Program => &PROGRAM,
            OpKind::Erase => &ERASE,
            OpKind::Copyback => &COPYBACK,
            OpKind::PageLock | OpKind::Scrub | OpKind::Reprogram => &OF_PAGE,
            OpKind::BlockLock => &OF_BLOCK,
        }
    }

    /// Whether it brings data out of the chip, and leaves the chip's own as it was.
    #[inline(always)]
    pub const fn reads(self) -> bool {
        matches!(self.row().data, Data::Out)
    }

    /// Whether its data comes from another page of the chip, past the controller.
    #[inline(always)]
    pub const fn copies(self) -> bool {
        matches!(self.row().work, Work::SenseAndProgram)
    }

    /// Whether it erases a block.
    #[inline(always)]
    pub const fn erases(self) -> bool {
        matches!(self.row().effect, Outcomes::Erases)
    }

    /// Whether it ends what a page or a block holds, so that no read that was issued before it may come after it.
    #[inline(always)]
    pub const fn ends_data(self) -> bool {
        matches!(self.row().effect, Outcomes::Erases | Outcomes::HidesPage | Outcomes::HidesBlock)
    }

    /// Whether it keeps what a page or a block holds from being read.
    #[inline(always)]
    pub const fn hides(self) -> bool {
        matches!(self.row().effect, Outcomes::HidesPage | Outcomes::HidesBlock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the rest of the flash takes for granted of any row.
    #[test]
    fn rows_make_sense() {
        for kind in OpKind::ALL {
            let row = kind.row();
            // Only what leaves the chip's data alone can be made of several attempts and come back to its queue.
            assert_eq!(kind.reads(), row.effect == Outcomes::Reads, "{kind:?}");
            assert_eq!(row.work == Work::Sense, row.effect == Outcomes::Reads, "{kind:?}");
            assert!(!kind.reads() || row.stops == Stops::Never, "{kind:?}");
            // A copy in one plane has two addresses: no other plane can join.
            assert!(row.work != Work::SenseAndProgram || row.joins == Joins::Never, "{kind:?}");
            // Pulses are alone and are not stopped.
            let is_alone = (row.joins, row.stops) == (Joins::Never, Stops::Never);
            assert!(kind.hides() == (row.work == Work::Pulse) && (is_alone || !kind.hides()), "{kind:?}");
        }
    }
}
