//! As many blocks as data does not need: all of them until what is used fills them with one bit a cell, then fewer in
//! proportion to what is used, because a unit needs less room in a full block.
//!
//! With B blocks of which r are kept, Q units in a full block and S in one of one bit a cell, U live units, and full
//! blocks that hold Q/(1+o) of them, x blocks of one bit a cell hold all of it if
//! `x S + (B - r - x) Q/(1+o) = U`, so `x = ((B - r) Q/(1+o) - U) / (Q/(1+o) - S)`.
//! That takes the cache as full of live data. It also holds what was overwritten in it, and what that has pushed out
//! must fit in full blocks, too: of U of which C is in the cache, `x <= B - r - (U - C)(1+o)/Q`.

use super::{Destage, LEAST, LaneSpace, Member, WhenIdle};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "adaptive";
/// What it does.
pub const SUMMARY: &str = "all blocks that data does not need: fewer, the fuller the drive is";
/// Where it comes from.
pub const SOURCE: &str =
    "RHS section IV: a hybrid controller with an adaptive cache; the law of its size is derived (assumed)";
/// What it costs.
pub const MEMORY: &str = "9 bytes per block";

section! {
    /// Parameters of `adaptive`.
    pub struct Params {
        /// Over-provisioning of the full blocks, as a share of their data, for garbage collection to work with.
        spare_percent: f64 = 7.0, unit "%", range 0..=50;
        /// Which block leaves the cache first.
        destage: Destage = Destage::Fifo;
        /// Time without host commands after which data leaves the cache though there is room in it (assumed), until
        /// the next command; a block that is being emptied then is finished. 0: never.
        idle_after_us: f64 = 1e6, unit "us", range 0..=1e9;
        /// Share of the cache's blocks that may keep their data then.
        idle_keep_percent: f64 = 0.0, unit "%", range 0..=100;
    }
}

/// What 1 is in [`Policy::room`].
const ONE: u64 = 1_000_000;

/// `adaptive` at work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// 1 + o, in millionths.
    room: u64,
    destage: Destage,
    when_idle: WhenIdle,
}

impl Policy {
    /// Builds it.
    // tidy: allow(float): called when a policy is built
    pub fn new(params: &Params) -> Self {
        Policy {
            room: ONE + libm::round(params.spare_percent * 1e4) as u64,
            destage: params.destage,
            when_idle: WhenIdle::new(params.idle_after_us, params.idle_keep_percent),
        }
    }
}

impl Member for Policy {
    fn restored(&mut self, fresh: Self) -> Result<(), String> {
        *self = fresh;
        Ok(())
    }

    fn least(&self) -> u32 {
        LEAST
    }

    fn target(&self, lane: &LaneSpace) -> u32 {
        let most = lane.blocks.saturating_sub(lane.kept);
        let (full, one_bit) = (u64::from(lane.full_units) * ONE, u64::from(lane.one_bit_units) * self.room);
        let room = u64::from(most) * full;
        // A unit gains nothing in a full block that is kept so empty: then all can be the cache's.
        let by_use =
            match room.saturating_sub(lane.live * self.room).checked_div(full.saturating_sub(one_bit)) {
                Some(blocks) => blocks.min(u64::from(most)) as u32,
                None => most,
            };
        let pushed_out = (lane.live - lane.cached.min(lane.live)) * self.room;
        let beside = u64::from(most).saturating_sub(pushed_out.div_ceil(full.max(1))) as u32;
        by_use.min(beside).max(LEAST)
    }

    fn destage(&self) -> Destage {
        self.destage
    }

    fn when_idle(&self) -> WhenIdle {
        self.when_idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane of 104 blocks, 4 of them kept, of 400 units or 100: with `spare_percent`, so much of the 40,000 units
    /// that full blocks could hold is used; all that fits of it is in the cache.
    fn target(spare_percent: f64, used_percent: u64) -> u32 {
        let policy = Policy::new(&Params { spare_percent, ..Params::default() });
        let space =
            LaneSpace { blocks: 104, kept: 4, full_units: 400, one_bit_units: 100, live: 0, cached: 0 };
        let live = 400 * used_percent;
        let cached = |blocks: u32| (u64::from(blocks) * 100).min(live);
        // What is in the cache follows from its size: the largest that is consistent.
        let sizes = (0..=100).rev().map(|blocks| (blocks, cached(blocks)));
        let is_fixed =
            |&(blocks, cached): &(u32, u64)| policy.target(&LaneSpace { live, cached, ..space }) >= blocks;
        sizes
            .into_iter()
            .find(is_fixed)
            .map_or(0, |(blocks, cached)| policy.target(&LaneSpace { live, cached, ..space }).min(blocks))
    }

    /// By hand, without spare room: x = (40,000 - U) / 300, so 100 blocks at 10,000 units, 53 at 24,000, 26 at 32,000,
    /// none at 40,000, where two are left.
    #[test]
    fn all_is_cache_until_a_quarter_is_used_and_then_less_in_proportion() {
        assert_eq!([0, 10, 25].map(|used| target(0.0, used)), [100, 100, 100]);
        assert_eq!([60, 80].map(|used| target(0.0, used)), [53, 26]);
        assert_eq!(target(0.0, 100), 2);
    }

    /// By hand, a quarter of what full blocks hold spare: they hold 320 units, x = (32,000 - U) / 220.
    #[test]
    fn full_blocks_keep_their_spare_room() {
        // 36.4 blocks at 24,000 units; all of 32,000 in full blocks leaves none, so two.
        assert_eq!([25, 60, 80, 100].map(|used| target(25.0, used)), [100, 36, 2, 2]);
    }

    /// Half of 20,000 units was pushed out of the cache by what was overwritten in it: 25 full blocks hold them.
    #[test]
    fn what_dead_data_pushes_out_has_room() {
        let policy = Policy::new(&Params { spare_percent: 0.0, ..Params::default() });
        let space =
            LaneSpace { blocks: 104, kept: 4, full_units: 400, one_bit_units: 100, live: 10_000, cached: 0 };
        assert_eq!(policy.target(&space), 75);
        assert_eq!(policy.target(&LaneSpace { cached: 6_000, ..space }), 90);
        assert_eq!(policy.target(&LaneSpace { cached: 10_000, ..space }), 100);
    }
}
