//! What has blocks to be emptied.

use super::{Offer, Seen, Technique};
use crate::ftl::work::looks::Looks;
use crate::units::{BlockId, LaneId};

/// Has blocks to be emptied now and then. Whoever hears when a block is emptied, or the cells' clock ticks, finds them
/// then; not each hears both.
#[allow(unused_variables, dead_code)] // no technique of the list may be so
pub(in crate::ftl) trait Offers: Technique {
    /// The cells' clock has ticked: lanes for which it has a block to offer are to be looked at.
    fn tick(&mut self, seen: &Seen<'_>, looks: &mut Looks) {}

    /// A block of a lane was emptied, its `erases`th, and is, or will be, erased.
    fn emptied(&mut self, lane: LaneId, erases: u64, seen: &Seen<'_>) {}

    /// The block of a lane that it would have emptied next: all that lives in it moves, as from a victim of cleaning.
    fn offer(&self, lane: LaneId, seen: &Seen<'_>) -> Option<Offer>;

    /// Its offer could not be taken: the block is in use, or there is no room. By default it is made again.
    fn declined(&mut self, lane: LaneId) {}

    /// Its offer was taken: the block is being emptied.
    fn taken(&mut self, lane: LaneId, block: BlockId, seen: &Seen<'_>);

    /// Whether of the free blocks the least erased is opened, and not the one that came free first. Asked even if it
    /// does nothing else.
    fn opens_least_erased(&self) -> bool {
        false
    }
}
