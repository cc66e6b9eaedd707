//! What the host interface counts.

use serde::{Deserialize, Serialize};

counters! {
    /// What the host interface has counted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct HostCounts of "host" {
        /// Commands completed by kind: read, write, trim, flush.
        commands: [u64; 4], "commands", in "reads";
        /// Commands that completed with a status other than `Ok`.
        failed: u64, "commands", in "requests_failed";
        /// Of these, commands that needed data which could not be corrected.
        uncorrectable: u64, "commands", in "requests_uncorrectable";
        /// Bytes read by completed reads.
        read_bytes: u64, "bytes", in "bytes_read";
        /// Bytes written by completed writes.
        written_bytes: u64, "bytes", in "bytes_written";
        /// Mapping units wholly read from DRAM.
        buffer_hits: u64, "units", in "buffer.hits";
        /// Mapping units read at least in part from flash.
        buffer_misses: u64, "units", in "buffer.misses";
        /// Mapping units read ahead (`host.read_ahead`), whether anybody asks for them or not.
        read_ahead: u64, "units", in "buffer.read_ahead_units";
        /// Of these, those that a command asked for while they were under way.
        read_ahead_awaited: u64, "units", in "buffer.read_ahead_awaited";
        /// Of these, those that a command found in DRAM; the rest was read in vain, or is still there.
        read_ahead_hits: u64, "units", in "buffer.read_ahead_hits";
        /// Mapping units read that were never written, or were trimmed.
        unmapped_reads: u64, "units", in "buffer.unmapped_reads";
        /// Writes that had to wait for a slot of the buffer.
        buffer_stalls: u64, "writes", in "buffer.stalls";
        /// Mapping units that left DRAM, by class: unknown, read-hot, write-hot, mixed.
        hotness: [u64; 4], "units", in "host.hotness.rh";
        /// Mapping units overwritten in DRAM before they were flushed.
        buffer_overwrites: u64, "units", in "buffer.overwrites";
    }
}
