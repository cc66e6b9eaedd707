//! No buffer: a write completes when its data is in flash. Data on its way there is still held, and read, in DRAM.

use super::{Flush, Member, Rules};
use crate::units::SimDuration;

/// Name in configurations.
pub const NAME: &str = "none";
/// What it does.
pub const SUMMARY: &str = "write-through: a write completes when its data is in flash";
/// Where it comes from.
pub const SOURCE: &str = "baseline";
/// What it costs.
pub const MEMORY: &str = "DRAM for the pages being programmed";

section! {
    /// Parameters of `none`.
    pub struct Params {
        /// Time that the data of a partly filled page may wait for more; 0 programs it at once.
        gather_timeout_us: f64 = 0.0, unit "us", range 0.0..=1e6;
        /// Time of one access to DRAM.
        t_access_ns: u32 = 200, unit "ns", range 0..=1_000_000;
    }
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn rules(&self, _: u32) -> Rules {
        Rules {
            slots: 0,
            write_back: false,
            flush: Flush::Program,
            keep_reads: false,
            one_list: false,
            flush_start: 0,
            flush_stop: 0,
            access_ns: u64::from(self.t_access_ns),
            gather_ns: SimDuration::from_us(self.gather_timeout_us).0,
        }
    }
}
