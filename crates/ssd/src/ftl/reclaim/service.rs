//! Service times of reclaims (redFTL figure 13): from the moment at which something is to leave a block because of
//! reads until the last of it is at its new place. Where no time passes there are none.

use super::Reclaim;
use crate::flash::Flash;
use crate::ftl::work::Work;
use crate::units::{BlockId, SimTime};
use serde::{Deserialize, Serialize};

/// A reclaim under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ftl) struct Service {
    since: SimTime,
    /// A block that moves with it.
    other: Option<BlockId>,
}

impl Service {
    /// Whether it is of a drive of so many blocks.
    pub fn is_of(&self, blocks: u32) -> bool {
        self.other.is_none_or(|block| block.0 < blocks)
    }
}

impl Reclaim {
    /// Something is to leave a block from now on, and another with it.
    pub(in crate::ftl) fn begin_service(&mut self, flash: &Flash, block: BlockId, other: Option<BlockId>) {
        let service = Service { since: flash.now, other };
        self.services[block.index()] = (!flash.is_instant()).then_some(service);
    }

    /// All that was to leave a block is at its new place. What moved nothing took no time and does not count.
    pub(in crate::ftl) fn end_service(&mut self, work: &mut Work, flash: &Flash, block: BlockId) {
        let Some(service) = self.services.get_mut(block.index()).and_then(Option::take) else {
            return;
        };
        let of_other = service.other.and_then(|other| self.services[other.index()]);
        let ns = flash.now.since(service.since);
        if ns > 0 && of_other.is_none_or(|other| other.since != service.since) {
            work.counts.services.record(ns);
        }
    }
}
