//! What the translation layer counts.

use super::service_times::ServiceTimes;
use crate::counters::{Count, Counted};
use crate::flash::PROGRAM_MODES;
use crate::flash::op::CAUSES;
use crate::ftl::stream::{CLASSES, STREAMS_AT_MOST};
use serde::{Deserialize, Serialize};

/// Bins of [`FtlCounts::victims_by_live`].
pub const VICTIM_BINS: usize = 17;

/// Why pages were exposed for long: nowhere was room for what lives there, locks came too late, a lock has failed, only
/// erases hide them (`ftl.sanitize.policy = "erase"`).
pub const EXPOSURE_CAUSES: [&str; 4] = ["no_room", "no_time", "failed_lock", "erase"];

/// For how long some pages were exposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposures {
    /// How many.
    pub pages: u64,
    /// All of it; ns.
    pub ns: u64,
    /// The longest; ns.
    pub ns_max: u64,
}

/// All of them together, as a sum of times.
impl Counted for Exposures {
    const DIMENSIONS: u8 = 0;

    fn count(&self) -> Count {
        Count::One(self.ns)
    }

    fn total(&self) -> u64 {
        self.ns
    }
}

impl Exposures {
    pub(super) fn add(&mut self, ns: u64) {
        self.pages += 1;
        // Years may pass in which nothing comes to a drive that lacks room.
        self.ns = self.ns.saturating_add(ns);
        self.ns_max = self.ns_max.max(ns);
    }

    /// These and others.
    #[must_use]
    pub fn and(self, other: Exposures) -> Exposures {
        Exposures {
            pages: self.pages + other.pages,
            ns: self.ns.saturating_add(other.ns),
            ns_max: self.ns_max.max(other.ns_max),
        }
    }
}

counters! {
    /// What the translation layer has counted.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FtlCounts of "ftl" {
        /// Mapping units written by the host.
        host_units: u64, "units", in "ftl.host_units";
        /// Mapping units moved, by cause (index as `Cause`).
        moved_units: [u64; CAUSES], "units", in "ftl.moved_units";
        /// Unit slots left empty in programmed pages, by cause (index as `Cause`).
        padded_units: [u64; CAUSES], "units", in "ftl.padded_units";
        /// Unit slots that parity across dies took (`ftl.parity_percent`).
        parity_units: u64, "units", in "ftl.parity_units";
        /// Mapping units programmed, by the stream of their blocks: those of `ftl.stream`, then one for data moved
        /// from the first, if that has its own blocks, then one for data moved by wear levelling.
        stream_units: [u64; STREAMS_AT_MOST], "units", in "ftl.stream.units";
        /// Mapping units programmed in a page of another stream, to fill it.
        mixed_units: u64, "units", in "ftl.stream.mixed_units";
        /// Mapping units programmed to pages of their own class (`ftl.page_class`).
        class_matched: u64, "units", in "ftl.page_class.matched";
        /// Mapping units programmed to pages of another class, because no unit of that class was waiting.
        class_neighbour: u64, "units", in "ftl.page_class.neighbour";
        /// The most mapping units that waited in the queues of one stream, for host data or for a lane's moves.
        class_queued_max: u32, "units", in "ftl.page_class.queued_max";
        /// Times that a host read raised the heat of a mapping unit (`ftl.page_class`).
        heat_raises: u64, "times", in "ftl.heat.raises";
        /// Times that the heat of a mapping unit was lowered.
        heat_lowers: u64, "times", in "ftl.heat.lowers";
        /// Pages read for the host from SLC blocks (`ftl.slc_cache`).
        slc_hits: u64, "pages", in "ftl.slc.hits";
        /// SLC blocks that began to be destaged.
        slc_destaged: u64, "blocks", in "ftl.slc.destaged";
        /// Mapping units that the host wrote straight to full blocks, because the cache was full.
        slc_bypassed: u64, "units", in "ftl.slc.bypassed";
        /// Mapping units trimmed that were mapped.
        trimmed_units: u64, "units", in "ftl.trimmed_units";
        /// Mapping units whose data was lost to errors.
        lost_units: u64, "units", in "ftl.lost_units";
        /// Pages read for the host by page type, lowest first; retries do not count.
        host_reads_by_type: [u64; 4], "pages";
        /// Whole blocks moved because of reads; a block that only moved along with another does not count.
        reclaims: u64, "blocks";
        /// Time that moves by read reclaim took, in the timed executor.
        services: ServiceTimes, "ns", in "ftl.read_reclaim.service_ns.mean";
        /// Pages programmed by read reclaim to blocks opened in a program mode, by mode.
        dealt_pages: [u64; PROGRAM_MODES], "pages";
        /// Mapping units read by the host from replicas.
        replica_reads: u64, "units", in "ftl.read_reclaim.replica_reads";
        /// Replicas of mapping units that became the primary copy.
        replicas_adopted: u64, "units", in "ftl.read_reclaim.replicas_adopted";
        /// Replicas of mapping units that could not be corrected when read.
        replicas_failed: u64, "units", in "ftl.read_reclaim.replicas_failed";
        /// Pages moved by read reclaim: those whose data was read to be written elsewhere.
        reclaimed_pages: u64, "pages", in "ftl.read_reclaim.pages";
        /// Of these, where cells age, pages that had seen less than half of the reads they endure.
        premature_pages: u64, "pages", in "ftl.read_reclaim.premature_pages";
        /// The most reads that any page had seen when it moved, for whatever cause, or when it could not be
        /// corrected, in 1/4096 of what it endures: above 4096 the move came too late. For data that has not moved
        /// see `Drive::worst_disturb_q12`.
        disturbed_q12_max: u32, "1/4096", in "ftl.read_reclaim.most_disturbed";
        /// Blocks (superblocks count as one) that garbage collection began to empty, by the class of their stream
        /// (`ftl.stream`).
        victims: [u64; CLASSES], "blocks", in "ftl.victims.count";
        /// Of these, blocks that held no valid unit.
        dead_victims: [u64; CLASSES], "blocks", in "ftl.victims.dead";
        /// Valid units in them at that time, by the same classes.
        victim_units: [u64; CLASSES], "units";
        /// Blocks that garbage collection began to empty, by their share of valid units: none, then up to 1/16, 2/16
        /// and so on.
        victims_by_live: [u64; VICTIM_BINS], "blocks", in "ftl.victims.histogram";
        /// Pages copied inside the chips (`ftl.migration`).
        copies: u64, "pages", in "ftl.migration.copybacks";
        /// Pages not copied because their destination was in another plane, of another class (`ftl.page_class`), or the
        /// first page of a block, which tells its age.
        copies_refused_by_place: u64, "pages", in "ftl.migration.refused_by_place";
        /// Pages not copied because not all of their mapping units were valid: a copy takes whole pages.
        copies_refused_by_valid: u64, "pages", in "ftl.migration.refused_by_valid";
        /// Pages not copied because they leave the SLC cache, whose data a copy inside the chip could not pack.
        copies_refused_by_slc: u64, "pages", in "ftl.migration.refused_by_slc";
        /// Pages not copied because another page of their wordline was reprogrammed: the controller must see whether
        /// they are lost.
        copies_refused_by_reprogram: u64, "pages", in "ftl.migration.refused_by_reprogram";
        /// Blocks erased and returned to the free list.
        reclaimed_blocks: u64, "blocks", in "ftl.reclaimed_blocks";
        /// Of these, by the program mode that they were programmed in (`cell.modes`).
        erased_by_mode: [u64; PROGRAM_MODES], "blocks", in "ftl.program_mode.blocks";
        /// Blocks retired.
        retired_blocks: u64, "blocks", in "ftl.retired_blocks";
        /// Mapping units moved because their page was to be locked.
        sanitize_copies: u64, "units", in "ftl.sanitize.copies";
        /// Page and block locks repeated because they were old.
        sanitize_relocks: u64, "operations", in "ftl.sanitize.relocks";
        /// Pages that stay exposed: no lock works on them, and they cannot be erased: their block is retired.
        sanitize_given_up: u64, "pages", in "ftl.sanitize.given_up";
        /// Time in which the host's next program, or a trim, waited for the locks of what others have invalidated, or
        /// for room for what these move (`max_exposed_ms`).
        sanitize_held_ns: u64, "ns", in "ftl.sanitize.held_ns";
        /// Pages in which a copy of secured data was invalidated.
        exposed_pages: u64, "pages", in "ftl.sanitize.exposed.pages";
        /// The most of these that were not yet locked or erased at any one time.
        exposed_pages_max: u64, "pages", in "ftl.sanitize.exposed.pages_max";
        /// Total exposure, in time, of those locked or erased since.
        exposed_ns: u64, "ns", in "ftl.sanitize.exposed.ns_mean";
        /// Longest exposure of any of them.
        exposed_ns_max: u64, "ns", in "ftl.sanitize.exposed.ns_max";
        /// Of these, exposures ended by a lock.
        exposed_locked: Exposures, "ns", in "ftl.sanitize.exposed.by_lock.ns_mean";
        /// Of these, exposures ended by an erase.
        exposed_erased: Exposures, "ns", in "ftl.sanitize.exposed.by_erase.ns_mean";
        /// Pages exposed for more than 100 ms, by cause: no room for valid data there, no time, a failed lock, or
        /// only erases hide them.
        exposed_long: [u64; EXPOSURE_CAUSES.len()], "pages", in "ftl.sanitize.exposed.over_100ms.pages";
        /// The highest age of any block when it was erased or checked, in 1/4096 of a life.
        age_q12_max: u32, "1/4096";
    }
}

impl FtlCounts {
    /// A unit goes to a page of the class that it deserves, or of another.
    #[inline]
    pub(in crate::ftl) fn note_class(&mut self, is_own: bool) {
        let count = if is_own { &mut self.class_matched } else { &mut self.class_neighbour };
        *count += 1;
    }

    /// Cleaning begins to empty a block of a class of streams, in which so many of its units live.
    pub(in crate::ftl) fn note_victim(&mut self, class: usize, live: u32, units: u32) {
        let class = class.min(CLASSES - 1);
        self.victims[class] += 1;
        self.dead_victims[class] += u64::from(live == 0);
        self.victim_units[class] += u64::from(live);
        let bin = (live as usize * (VICTIM_BINS - 1)).div_ceil(units as usize);
        self.victims_by_live[bin.min(VICTIM_BINS - 1)] += 1;
    }
}
