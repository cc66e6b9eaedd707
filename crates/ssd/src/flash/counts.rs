//! What the flash counts.

use super::op::{CAUSES, KINDS};
use serde::{Deserialize, Serialize};

/// Attempts that a read can take at most, and one more.
pub const ATTEMPTS: usize = 32;

/// Program modes that counters tell apart; higher ones count as the last.
pub const PROGRAM_MODES: usize = 4;

counters! {
    /// What the flash has counted.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FlashCounts of "flash" {
        /// Operations by kind and cause.
        ops: [[u64; CAUSES]; KINDS], "operations", in "flash.reads";
        /// Multi-plane groups of more than one operation.
        groups: u64, "operations", in "flash.multi_plane_groups";
        /// Programs that failed.
        program_fails: u64, "programs", in "flash.program_fails";
        /// Erases that failed.
        erase_fails: u64, "erases", in "flash.erase_fails";
        /// Page reads by the number of attempts that failed before one succeeded (or none was left).
        retries: [u64; ATTEMPTS], "pages", in "flash.retries.histogram";
        /// Page reads that no attempt could correct, by cause.
        uncorrectable: [u64; CAUSES], "pages", in "flash.uncorrectable";
        /// Pages read for the host by the program mode of their block, where cells age; retries do not count.
        host_reads_by_mode: [u64; PROGRAM_MODES], "pages", in "ftl.program_mode.reads";
        /// Nanoseconds each die had work on it.
        die_busy_ns: Vec<u64>, "ns", in "utilisation.die.mean";
        /// Nanoseconds each channel carried something.
        channel_busy_ns: Vec<u64>, "ns", in "utilisation.channel.mean";
    }
}
