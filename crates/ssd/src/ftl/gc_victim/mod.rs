//! Which block is reclaimed?

use crate::ftl::outside::{Identity, PolicyFault};
use crate::ftl::tables::blocks::LaneView;
use crate::rng::Rng;

family! {
    /// Which block is reclaimed?
    path "ftl/gc_victim", default greedy;
    members {
        greedy: Greedy,
        cost_benefit: CostBenefit,
        cost_age_time: CostAgeTime,
        fifo: Fifo,
        d_choices: DChoices,
        random: Random,
    }
    external External, named external: Outside;
    methods {
        /// The block of this lane to clean next, if one can be chosen.
        fn choose(&mut self, view: &LaneView<'_>, rng: &mut Rng) -> Option<u32>;
        /// Whether it only stands for a policy that is to be given to the drive.
        fn is_missing(&self) -> bool {
            false
        }
        /// Who it is and how often it was asked, if it comes from outside.
        fn identity(&self) -> Option<(Identity, u64)> {
            None
        }
        /// What it did wrong, if it comes from outside: then it is not asked any more.
        fn fault(&self) -> Option<&PolicyFault> {
            None
        }
    }
}
