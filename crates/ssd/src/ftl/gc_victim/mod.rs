//! Which block is reclaimed?

use crate::ftl::outside::Record;
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
    external External, named external: Outside, kept in Record;
    methods {
        /// The block of this lane to clean next, if one can be chosen.
        fn choose(&mut self, view: &LaneView<'_>, rng: &mut Rng) -> Option<u32>;
    }
}
