//! What has pages copied inside their planes.

use super::{Hop, Technique};
use crate::nand::Chip;
use crate::units::{BlockId, Ppn};

/// Has pages that move copied inside their planes, past the controller; chips remember then what errors copies carry.
/// There is one bus past which a page can go, and so one technique that says when.
#[allow(unused_variables, dead_code)] // no technique of the list may be so
pub(in crate::ftl) trait CopiesInside: Technique {
    /// Whether that goes by the wear of blocks, and not by their cycles alone.
    fn copies_by_wear(&self) -> bool;

    /// Whether a page is copied inside its plane, and does not pass through the controller: what it is told of the copy
    /// then.
    fn copy(&self, hop: &Hop, chip: &Chip, counts: &mut Self::Counts) -> Option<u8>;

    /// The page was copied to that one.
    fn copied(&mut self, to: Ppn, note: u8, counts: &mut Self::Counts);

    /// What a block held is gone: it is erased, or will be before anything else is programmed there.
    fn wiped(&mut self, block: BlockId);
}
