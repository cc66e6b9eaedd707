//! Which blocks trade places, so that wear spreads?

use crate::ftl::tables::blocks::LaneView;

family! {
    /// Which blocks trade places, so that wear spreads?
    path "ftl/wear_leveling", default none;
    members {
        none: None,
        dynamic: Dynamic,
        static_swap: StaticSwap,
    }
    methods {
        /// Asked after each erase in a lane: a closed block whose data should move to the most worn free block.
        fn choose(&mut self, view: &LaneView<'_>, erases: u64) -> Option<u32> {
            None
        }
        /// Whether it ever moves data, which takes an open block of its own in each lane.
        fn acts(&self) -> bool {
            true
        }
        /// Whether of the free blocks the least erased is opened, and not the one that came free first.
        fn opens_least_erased(&self) -> bool {
            false
        }
    }
}
