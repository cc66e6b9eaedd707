//! A write buffer that also keeps what is read; the least recently used clean data gives way.

use super::{Flush, Member, Rules, lru_rules};

/// Name in configurations.
pub const NAME: &str = "lru_read_write";
/// What it does.
pub const SUMMARY: &str = "like lru_write, and also caches data read from flash";
/// Where it comes from.
pub const SOURCE: &str = "common practice; the LRU buffers of redFTL (table 1) and HIRE";
/// What it costs.
pub const MEMORY: &str = "its DRAM, and 45 bytes of bookkeeping per slot, 8 more with evict = \"lru\"";

choice! {
    /// What is evicted when a slot is needed.
    pub enum Evict {
        /// Clean data, the least recently used first. Dirty data is flushed ahead (`flush_start_percent`), and stays.
        CleanFirst = "clean_first",
        /// The least recently used data, clean or dirty. What is dirty is programmed first; nothing is flushed ahead.
        Lru = "lru",
    }
}

section! {
    /// Parameters of `lru_read_write`.
    pub struct Params {
        /// Size of the buffer.
        size_mib: f64 = 16.0, unit "MiB", range 0.25..=65536.0;
        /// What is evicted when a slot is needed.
        evict: Evict = Evict::CleanFirst;
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
        let one_list = self.evict == Evict::Lru;
        let rules = lru_rules(self.size_mib, marks, self.t_access_ns, unit_bytes);
        Rules { keep_reads: true, one_list, flush: self.flush, ..rules }
    }
}
