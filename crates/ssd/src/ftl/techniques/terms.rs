//! What techniques are told and asked of blocks' wear, of copies and of other policies, and what they answer: values,
//! so that none knows another.

use crate::ftl::tables::worn::Worn;
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
    /// It was erased. Where no time passes its first page is not read: what that would show counts now.
    Erased { at_once: bool },
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
    /// by more ([`super::Technique::copies_by_wear`]).
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
    /// Blocks of one bit a cell cache what the host writes.
    pub cache: Option<&'a str>,
    /// Data is sorted in the controller by what it is.
    pub sorts: Option<&'a str>,
    /// What dies is programmed over, which costs others of their bits.
    pub reprograms: Option<&'a str>,
}
