//! A write buffer: writes complete in DRAM, and the least recently used dirty data is flushed when too much of it is
//! dirty. Data stays readable there until its slot is needed.

use super::{Flush, Member, Rules, lru_rules};

/// Name in configurations.
pub const NAME: &str = "lru_write";
/// What it does.
pub const SUMMARY: &str = "writes complete in DRAM; least recently used data is flushed";
/// Where it comes from.
pub const SOURCE: &str = "common practice; the LRU buffers of redFTL (table 1) and HIRE";
/// What it costs.
pub const MEMORY: &str = "its DRAM, and 45 bytes of bookkeeping per slot";

section! {
    /// Parameters of `lru_write`.
    pub struct Params {
        /// Size of the buffer.
        size_mib: f64 = 16.0, unit "MiB", range 0.25..=65536.0;
        /// Flushing begins when more than this share of the slots is dirty.
        flush_start_percent: f64 = 50.0, unit "%", range 0.0..=100.0;
        /// Flushing ends when this share of the slots is dirty.
        flush_stop_percent: f64 = 25.0, unit "%", range 0.0..=100.0;
        /// What FLUSH and writes with FUA wait for: `program` (data is in flash) or `capacitors` (in DRAM).
        flush: Flush = Flush::Program;
        /// Time of one access to DRAM.
        t_access_ns: u32 = 200, unit "ns", range 0..=1_000_000;
    }
    in_order flush_stop_percent <= flush_start_percent;
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn rules(&self, unit_bytes: u32) -> Rules {
        let marks = (self.flush_start_percent, self.flush_stop_percent);
        Rules { flush: self.flush, ..lru_rules(self.size_mib, marks, self.t_access_ns, unit_bytes) }
    }
}
