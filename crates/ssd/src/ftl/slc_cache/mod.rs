//! How many blocks cache host writes with one bit per cell?
//!
//! A block of one bit a cell holds a part of what it holds otherwise, and is read, programmed and erased faster
//! (`nand.slc`). What the host writes fills a ring of such blocks in each lane (`write/ring.rs`); the block of the ring
//! that is left first is *destaged* (`write/destage.rs`): its live data goes to full blocks, through streams and the
//! queues of page classes. The policy says how many blocks of a lane are the ring's, which leaves it first, and how far
//! it is emptied while the host is silent.

use crate::config::member::Misfit;
use crate::sections::Sections;
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

choice! {
    /// Which block leaves the ring first.
    pub enum Destage {
        /// The one that was opened first.
        Fifo = "fifo",
        /// The one whose last access, a write or a read of the host, is the longest ago.
        Lru = "lru",
    }
}

family! {
    /// How many blocks cache host writes with one bit per cell?
    path "ftl/slc_cache", default none;
    members {
        none: None,
        fixed: Fixed,
        adaptive: Adaptive,
    }
    methods {
        /// Whether there is a cache. If not, nothing below is asked.
        fn is_used(&self) -> bool {
            true
        }
        /// Blocks of a lane that are the cache's at least; its data must fit beside them.
        fn least(&self) -> u32 {
            0
        }
        /// Blocks of a lane that should be the cache's now.
        fn target(&self, lane: &LaneSpace) -> u32 {
            0
        }
        /// Which of them is destaged first.
        fn destage(&self) -> Destage {
            Destage::Fifo
        }
        /// When they are destaged though nobody lacks their room.
        fn when_idle(&self) -> WhenIdle {
            WhenIdle::default()
        }
    }
}

/// How far a cache is emptied while the host is silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhenIdle {
    /// Nanoseconds without host commands after which it begins; `None`: never.
    pub after_ns: Option<u64>,
    /// Blocks that keep their data, in millionths of those that there should be.
    kept: u64,
}

impl WhenIdle {
    // tidy: allow(float): called when a policy is built
    fn new(after_us: f64, keep_percent: f64) -> Self {
        let after_ns = Some(SimDuration::from_us(after_us).0).filter(|&ns| ns > 0);
        WhenIdle { after_ns, kept: libm::round(keep_percent * 1e4) as u64 }
    }

    /// Blocks that keep their data, of so many that there should be.
    pub fn kept(&self, target: u32) -> u32 {
        (u64::from(target) * self.kept / 1_000_000) as u32
    }
}

/// Blocks that a cache has in each lane at least: one to fill, and one for when that is full.
pub const LEAST: u32 = 2;

/// What a lane has room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSpace {
    /// Good blocks.
    pub blocks: u32,
    /// Of these, blocks that can never be the cache's: open ones, the reserve, and one to clean into.
    pub kept: u32,
    /// Units of a full block.
    pub full_units: u32,
    /// Units of a block of one bit a cell.
    pub one_bit_units: u32,
    /// Live units.
    pub live: u64,
    /// Of these, units in blocks of one bit a cell.
    pub cached: u64,
}

/// What the cache is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Blocks of one bit a cell.
    pub blocks: u32,
    /// Blocks that should be.
    pub target: u32,
}

/// Why there can be no cache on a drive, if there is to be one.
pub(crate) fn misfit(config: &Config, cfg: &Sections) -> Option<Misfit> {
    let name = config.name();
    const OR: &str = "or ftl.slc_cache.policy = \"none\"";
    (Policy::build(config).is_used() && cfg.geometry.bits_per_cell == 1).then(|| Misfit {
        keys: &["ftl.slc_cache.policy", "nand.geometry.bits_per_cell"],
        found: format!("a cache (\"{name}\") of one bit a cell, besides SLC blocks"),
        allowed: format!("bits_per_cell of 2 to 4, {OR}"),
    })
}
