//! Which blocks swap data, so that wear spreads?

use crate::ftl::outside::Record;
use crate::ftl::tables::blocks::LaneView;

family! {
    /// Which blocks swap data, so that wear spreads?
    path "ftl/wear_leveling", default none;
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
