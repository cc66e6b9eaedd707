//! What techniques are told and asked of blocks' wear, of copies, of jobs of their own and of other policies, and what
//! they answer: values, so that none knows another.

use crate::ftl::read_reclaim;
use crate::ftl::tables::Tables;
use crate::ftl::tables::worn::Worn;
use crate::ftl::work::Work;
use crate::ftl::work::candidates::Candidate;
use crate::nand::aging::Telemetry;
use crate::nand::{Chip, PageAddress};
use crate::units::{BlockId, Ppn};

/// A block that a technique would have emptied.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // nobody may offer one
pub(in crate::ftl) struct Offer {
    pub block: BlockId,
    /// If the block is still being filled, it is filled no further.
    pub closes: bool,
    /// It waits while as many blocks as may be are on their way to being free.
    pub waits: bool,
}

/// What has become of a physical block when it is measured what its cells show.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // no technique of the list may ask
pub(crate) enum Shown {
    /// It is new.
    Made,
    /// It was erased, having been used with one bit a cell or not. Where no time passes its first page is not read:
    /// what that would show counts now.
    Erased { at_once: bool, one_bit: bool },
    /// Its first page was read, once it was programmed.
    FirstPage,
    /// It went through cycles in bulk, each with a dwell of so many ticks (at the reference, 1 minute); before them it
    /// had seen so many.
    Cycled { before: u32, ticks: Option<u32> },
}

/// A measurement of a physical block.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // no technique of the list may ask
pub(in crate::ftl) struct Measured<'a> {
    pub what: Shown,
    /// What its cells show; nothing where they do not age.
    pub seen: Option<Telemetry>,
    pub chip: &'a Chip,
}

/// A page that moves and could be copied inside its plane.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // no technique of the list may ask
pub(in crate::ftl) struct Hop {
    pub source: Ppn,
    pub from: PageAddress,
    /// What is known of the wear of the physical blocks that it leaves and comes to; of cycles alone where nobody goes
    /// by more ([`super::CopiesInside::copies_by_wear`]).
    pub worn: [Worn; 2],
}

/// What a configuration tells of the ages of blocks.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // no technique of the list may ask
pub(crate) struct Tells {
    /// Whether blocks have ages.
    pub ages: bool,
    /// Whether errors are estimated from which they follow.
    pub errors: bool,
    /// The key that decides it, and what it says.
    pub key: &'static str,
    pub name: &'static str,
    /// A better choice.
    pub better: &'static str,
}

/// What a policy must be told of the ages of blocks.
#[derive(Clone, Debug)]
#[allow(dead_code)] // no technique of the list may ask
pub(crate) struct Needs {
    /// Whether it goes by errors, and not by ages alone.
    pub errors: bool,
    /// The key that decides it, and what is chosen there.
    pub key: &'static str,
    pub by: String,
    /// Another way out, if there is one.
    pub or: Option<&'static str>,
}

/// What policies that are no techniques do, by name, and some techniques cannot stand.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // no technique of the list may ask
pub(crate) struct Beside<'a> {
    /// What dies goes with its wordline, once that is full.
    pub fills_wordlines: Option<&'a str>,
    /// Blocks are programmed in modes that mean something else than how they resist reads: by whom, and their names.
    pub modes: Option<(&'a str, &'a [String])>,
}

/// A policy of `ftl.read_reclaim` wants all of a block spread over fresh ones.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // no technique of the list may carry it out
pub(in crate::ftl) struct Wish {
    pub candidate: Candidate,
    /// The program mode of the fresh blocks, at least.
    pub mode: u8,
    /// Together with another block.
    pub paired: bool,
    /// It cannot wait for long.
    pub forced: bool,
}

/// What becomes of a wish.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // no technique of the list may carry it out
pub(in crate::ftl) enum TakenUp {
    /// It begins now.
    Now(Spread),
    /// It waits for blocks to come free.
    Later,
    /// There are no free blocks to be had: the block may only move as cleaning moves it.
    NoBlocks,
}

/// A job of a technique's own, as it begins.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Spread {
    /// The blocks that are emptied, or none in place of the second.
    pub sources: [BlockId; 2],
    /// So many blocks are opened for it, in this program mode.
    pub blocks: u32,
    pub mode: u8,
}

/// What a technique reaches beside itself while it works for `ftl.read_reclaim`: what is under way and asked for, and
/// its policy.
pub(in crate::ftl) struct Reach<'a> {
    pub tables: &'a Tables,
    pub work: &'a mut Work,
    pub policy: &'a mut read_reclaim::Policy,
}

/// What a job of a technique's own does next. The units are put where the caller has room for them, as many as `count`
/// says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // no technique of the list may have such a job
pub(in crate::ftl) enum OwnStep {
    /// Reads these units, which lie in one page; whether it is of the block that it is all about.
    Read { page: Ppn, count: usize, is_first: bool },
    /// Programs these units, which are in the controller, to a page, with which its block is full if so.
    Program { page: Ppn, count: usize, fills: bool },
    /// These units, which are in the controller, go where cleaning's data goes.
    Gather { count: usize },
    /// Opens a fresh block in a program mode, if there is one.
    Open { mode: u8 },
    /// Nothing, until an operation ends.
    Wait,
    /// Nothing any more.
    Done,
}

/// What is left of a job of a technique's own.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Ended {
    /// The blocks that were emptied, or none in place of the second.
    pub sources: [BlockId; 2],
    /// Those that were opened for it and are not full, and whether one is still empty.
    pub opened: [(BlockId, bool); 2],
    /// Something was left in the blocks that were to be emptied.
    pub cut_short: bool,
}
