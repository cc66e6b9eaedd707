//! What has jobs of its own in lanes.

use super::{Ended, OwnStep, Reach, TakenUp, Technique, Wish};
use crate::flash::op::UnitRef;
use crate::ftl::tables::Tables;
use crate::ftl::work::walk::PageUnits;
use crate::units::{BlockId, LaneId, Pun};

/// Has jobs of its own in lanes, a lane one at a time, whose steps it names one by one; [`crate::ftl::moves`] carries
/// them out. All of its methods are one conversation, which only who has such a job leads.
#[allow(unused_variables, dead_code)] // no technique of the list may be so
pub(in crate::ftl) trait Works: Technique {
    /// Its policy of `ftl.read_reclaim` wants data spread over fresh blocks, in a lane with so many free ones to spare:
    /// what becomes of that.
    fn take_up(&mut self, lane: LaneId, wish: &Wish, to_spare: u32, reach: Reach<'_>) -> TakenUp;

    /// Whether a job of its own is under way in a lane ([`crate::ftl::moves`] carries out its steps).
    fn works_in(&self, lane: LaneId) -> bool;

    /// A block was opened for its job in a lane, or there was none.
    fn opened(&mut self, lane: LaneId, block: BlockId, reach: Reach<'_>);

    /// What its job in a lane does next; `may` says whether the lane may have more operations under way, and how many
    /// pages those may take in all.
    fn step(&mut self, lane: LaneId, tables: &Tables, may: (bool, u32), units: &mut PageUnits) -> OwnStep;

    /// Whether its job in a lane reads what lives in a block.
    fn reads(&self, lane: LaneId, block: BlockId) -> bool;

    /// A unit that its job in a lane has read is in the controller, or has died.
    fn arrived(&mut self, lane: LaneId, unit: &UnitRef, lives: bool);

    /// A program to a block failed: whether its job in a lane fills that, and does so no more.
    fn gives_up(&mut self, lane: LaneId, block: BlockId) -> bool;

    /// Its job in a lane is over: what is left of it.
    fn end(&mut self, lane: LaneId, reach: Reach<'_>) -> Ended;

    /// Pages of an open block that its job in a lane has filled, if it fills that.
    fn filled(&self, lane: LaneId, block: BlockId) -> Option<u32>;

    /// Units that its jobs hold in the controller.
    fn in_controller(&self) -> Vec<Pun>;
}
