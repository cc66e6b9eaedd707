//! Wear levelling: which blocks swap data, so that wear evens out?
//!
//! After each erase in a lane the policy may name a closed block that is little worn because its data is cold. When
//! nothing in the lane is more urgent, that data moves to an open block of its own, which is the most worn of the free
//! blocks, and the little-worn block is free for data that changes. A block that cannot move then, because it is in use
//! or there is no room, is forgotten until the policy names it again.

pub use super::NoCounts as Counts;
use super::{GoesByAges, Needs, Offer, Offers, Seen, Technique};
use crate::ftl::outside::Record;
use crate::ftl::tables::blocks::LaneView;
use crate::ftl::tables::layout::Layout;
use crate::restore::{Verdict, alike, ensure};
use crate::sections::Sections;
use crate::units::{BlockId, LaneId};
use serde::{Deserialize, Serialize};

family! {
    /// Which blocks swap data, so that wear evens out?
    path "ftl/techniques/wear_leveling", default none;
    members {
        none: None,
        dynamic: Dynamic,
        static_swap: StaticSwap,
        age_aware: AgeAware,
    }
    external External, named external: Outside, kept in Record;
    methods {
        /// Asked after each erase in a lane: a closed block whose data should move to the oldest free block.
        fn choose(&mut self, view: &LaneView<'_>, erases: u64) -> Option<u32> {
            None
        }
        /// Whether it ever moves data, which takes an open block of its own in each lane.
        fn acts(&self) -> bool {
            true
        }
        /// Whether it goes by the ages of blocks, which `ftl.age_marker` must tell.
        fn needs_ages(&self) -> bool {
            false
        }
        /// Whether of the free blocks the least erased is opened, and not the one that came free first.
        fn opens_least_erased(&self) -> bool {
            false
        }
    }
}

/// The technique.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WearLeveling {
    pub(crate) policy: Policy,
    /// The block of each lane whose data is to move next.
    next: Vec<BlockId>,
}

impl Technique for WearLeveling {
    type Config = Config;
    type Counts = Counts;

    const COLD: bool = true;

    const IS_CHANGEABLE: bool = true;

    fn acts(config: &Config) -> bool {
        Policy::build(config).acts()
    }

    fn new(config: &Config, _: &Sections, layout: &Layout) -> Self {
        WearLeveling { policy: Policy::build(config), next: vec![BlockId::NONE; layout.lanes as usize] }
    }

    fn is_on(&self) -> bool {
        self.policy.acts()
    }

    fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict {
        self.policy.restored(fresh.policy)?;
        alike("lanes whose wear is leveled", &self.next, &fresh.next)?;
        let is_own = |(lane, block): (u32, &BlockId)| seen.lane(LaneId(lane)).any(|own| own == *block);
        let known = (0..).zip(&self.next).filter(|(_, block)| block.is_some()).all(is_own);
        ensure(known, "a block of another lane to be swapped")
    }
}

impl Offers for WearLeveling {
    fn opens_least_erased(&self) -> bool {
        self.policy.opens_least_erased()
    }

    fn emptied(&mut self, lane: LaneId, erases: u64, seen: &Seen<'_>) {
        let tables = seen.tables;
        let view = tables.blocks.lane_view(&tables.layout, lane, tables.clock);
        if let Some(cold) = self.policy.choose(&view, erases) {
            self.next[lane.index()] = BlockId(tables.layout.first_block(lane).0 + cold);
        }
    }

    fn offer(&self, lane: LaneId, _: &Seen<'_>) -> Option<Offer> {
        let block = Some(self.next[lane.index()]).filter(|block| block.is_some())?;
        Some(Offer { block, closes: false, waits: false })
    }

    fn declined(&mut self, lane: LaneId) {
        self.next[lane.index()] = BlockId::NONE;
    }

    fn taken(&mut self, lane: LaneId, _: BlockId, _: &Seen<'_>) {
        self.next[lane.index()] = BlockId::NONE;
    }
}

impl GoesByAges for WearLeveling {
    fn needs_ages(config: &Config) -> Option<Needs> {
        Policy::build(config).needs_ages().then(|| Needs {
            errors: false,
            key: "ftl.wear_leveling.policy",
            by: format!("wear levelling by \"{}\"", config.name()),
            or: None,
        })
    }
}

#[cfg(test)]
mod tests;
