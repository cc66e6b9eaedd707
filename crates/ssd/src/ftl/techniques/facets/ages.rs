//! What tells how worn blocks are.

use super::{Measured, Technique, Tells};
use crate::ftl::tables::Tables;
use crate::ftl::tables::worn::Worn;
use crate::nand::Chip;
use crate::units::BlockId;

/// Tells how worn blocks are: what they show is measured then. One technique of a drive is for that, and all that go by
/// ages ask it, without knowing which it is.
#[allow(unused_variables, dead_code)] // no technique of the list may be so
pub(in crate::ftl) trait TellsAges: Technique {
    /// What it tells of the ages of blocks.
    fn tells_ages(config: &Self::Config) -> Tells;

    /// Told what a physical block has shown.
    fn shown(&mut self, block: u32, measured: &Measured<'_>, counts: &mut Self::Counts);

    /// What is known of the wear of a physical block of so many cycles, if it tells that.
    fn worn(&self, block: u32, cycles: u32) -> Worn;

    /// A block was erased: whether it is used no more.
    fn is_spent(&self, block: BlockId, tables: &Tables, counts: &mut Self::Counts) -> bool;

    /// Whether the first page of a block is read, once it is programmed, for what it shows: an operation of its own.
    fn reads_first_pages(&self) -> bool;

    /// Operations of its own that are in flight at once, at most.
    fn operations_at_most(&self) -> usize;

    /// The least and the most that what it tells of wear is off, in bits, where that is known.
    // tidy: allow(float): called when a drive is built
    fn off_bits(&self, chip: &Chip) -> Option<[f64; 2]>;
}
