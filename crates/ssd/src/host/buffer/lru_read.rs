//! A read buffer: what is read from flash is kept, the least recently used gives way, and writes pass by.

use super::{Member, Rules, lru_rules};

/// Name in configurations.
pub const NAME: &str = "lru_read";
/// What it does.
pub const SUMMARY: &str = "caches data read from flash; a write completes when its data is in flash";
/// Where it comes from.
pub const SOURCE: &str = "the read buffer of redFTL (section 3.2.3 and table 1)";
/// What it costs.
pub const MEMORY: &str = "its DRAM, and 45 bytes of bookkeeping per slot";

section! {
    /// Parameters of `lru_read`.
    pub struct Params {
        /// Size of the buffer.
        size_mib: f64 = 16.0, unit "MiB", range 0.25..=65536.0;
        /// Time of one access to DRAM.
        t_access_ns: u32 = 200, unit "ns", range 0..=1_000_000;
    }
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    /// No write stays: none is held back from flash, and none takes a slot from what was read.
    // tidy: allow(float): called when a drive is built
    fn rules(&self, unit_bytes: u32) -> Rules {
        let rules = lru_rules(self.size_mib, (0.0, 0.0), self.t_access_ns, unit_bytes);
        Rules { write_back: false, keep_reads: true, ..rules }
    }
}
