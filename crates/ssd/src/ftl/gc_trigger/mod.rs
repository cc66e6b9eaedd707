//! When is a lane cleaned, and how far?

family! {
    /// When does garbage collection of a lane begin and end?
    path "ftl/gc_trigger", default watermark;
    members {
        watermark: Watermark,
        background_idle: BackgroundIdle,
        batch: Batch,
        background_after: BackgroundAfter,
    }
    methods {
        /// Whether cleaning begins, with `free` blocks of the lane free.
        fn starts(&self, free: u32, view: &Limits) -> bool;
        /// Whether cleaning, once begun, goes on.
        fn goes_on(&self, free: u32, view: &Limits) -> bool {
            self.starts(free, view)
        }
        /// Whether a round of cleaning ends when no block is worth being cleaned.
        fn ends_without_victims(&self) -> bool {
            false
        }
        /// Nanoseconds without host commands after which idle cleaning begins, if it ever does.
        fn idle_after_ns(&self) -> Option<u64> {
            None
        }
    }
}

/// What a trigger may know of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Blocks of the lane.
    pub blocks: u32,
    /// Blocks that the lane's share of the logical space leaves over, after open blocks: more can never be free.
    pub spare: u32,
    /// Blocks that only cleaning may take.
    pub reserve: u32,
    /// Whether no host command has come for [`Policy::idle_after_ns`].
    pub idle: bool,
    /// Blocks of the lane that are erased, or on their way to it, since cleaning last began.
    pub cleaned: u32,
    /// Units the host has written to flash so far.
    pub written: u64,
    /// The lane's share of those that it has written since cleaning of the lane last began.
    pub since: u64,
    /// Units that data fills in a block.
    pub units_per_block: u32,
}

impl Limits {
    /// A share of the lane's blocks, in millionths, as whole blocks: kept above what the host may use and at or
    /// below half of what can be free.
    pub fn blocks_at(&self, millionths: u32) -> u32 {
        let wanted = (u64::from(self.blocks) * u64::from(millionths)).div_ceil(1_000_000) as u32;
        wanted.clamp(self.reserve + 1, (self.spare / 2).max(self.reserve + 1))
    }
}

/// A percentage in millionths.
// tidy: allow(float): called when a policy is built
fn millionths(percent: f64) -> u32 {
    libm::round(percent * 1e4) as u32
}
