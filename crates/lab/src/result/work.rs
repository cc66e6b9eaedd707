//! What the drive did in a run, and how large it is.

use super::Distribution;
use crate::base::by::By;
use crate::result::block_age::AgeWork;
use crate::result::migration::MigrationWork;
use crate::result::modes::ProgramModeWork;
use crate::result::page_class::{HeatWork, PageClassWork};
use crate::result::retries::Retries;
use crate::result::sanitize::SanitizeWork;
use crate::result::separation::StreamWork;
use crate::result::slc::SlcWork;
use crate::result::suspends::DieWork;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::op::Cause;

/// Flash operations by kind and cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlashWork {
    /// Pages read from the array into the controller.
    pub reads: By<Cause, u64>,
    /// Pages programmed with data from the controller.
    pub programs: By<Cause, u64>,
    /// Blocks erased; a superblock of n blocks counts n.
    pub erases: By<Cause, u64>,
    /// Pages copied within a plane.
    pub copybacks: By<Cause, u64>,
    /// Operations on several planes at once. Each page or block in them is also counted above.
    pub multi_plane_groups: u64,
    /// Pages that a die programmed at the same time, on average.
    #[serde(default)]
    pub pages_per_program: Together,
    /// Pages that a die read at the same time, on average; retries do not count.
    #[serde(default)]
    pub pages_per_read: Together,
    /// Programs that failed (`nand.reliability`).
    pub program_fails: u64,
    /// Erases that failed (`nand.reliability`).
    pub erase_fails: u64,
    /// Bytes programmed or copied back, counting whole pages, empty parts included.
    pub bytes_programmed: By<Cause, u64>,
    /// Read retries.
    #[serde(default)]
    pub retries: Retries,
    /// Page reads that no attempt could correct; each is also counted in `flash.reads`.
    #[serde(default)]
    pub uncorrectable: By<Cause, u64>,
    /// Suspends of dies' work, and what became of priorities there.
    #[serde(flatten)]
    pub dies: DieWork,
}

/// Pages that the planes of a die worked on at the same time, on average (`ftl.allocation.issue`). Where no time passes
/// each page is alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// For the host, the rest of a partly written unit included; null without any.
    pub host: Option<f64>,
    /// For garbage collection and all other moves; null without any.
    pub moves: Option<f64>,
}

/// Work of the flash translation layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FtlWork {
    /// Mapping units written to flash for the host.
    pub host_units: u64,
    /// Mapping units moved.
    pub moved_units: By<Cause, u64>,
    /// Unit slots left empty in programmed pages.
    pub padded_units: u64,
    /// The same, by what the page was programmed for.
    #[serde(default)]
    pub padded_units_by_cause: By<Cause, u64>,
    /// Unit slots that parity across dies took (`ftl.parity_percent`).
    #[serde(default)]
    pub parity_units: u64,
    /// Mapping units trimmed.
    pub trimmed_units: u64,
    /// Mapping units whose page could not be corrected when it was read or moved. Reading them ends
    /// `uncorrectable`, without another flash read, until they are overwritten or trimmed.
    #[serde(default)]
    pub lost_units: u64,
    /// Blocks (superblocks count as one) erased and returned to the free list.
    pub reclaimed_blocks: u64,
    /// Blocks (superblocks count as one) retired.
    pub retired_blocks: u64,
    /// What moved because of reads.
    #[serde(default)]
    pub read_reclaim: ReadReclaimWork,
    /// Which data shared blocks.
    #[serde(default)]
    pub stream: StreamWork,
    /// Which page types held which data.
    #[serde(default)]
    pub page_class: PageClassWork,
    /// What is known of how often data is read.
    #[serde(default)]
    pub heat: HeatWork,
    /// The cache of one bit a cell.
    #[serde(default)]
    pub slc: SlcWork,
    /// How worn blocks are, as a marker tells.
    #[serde(default)]
    pub age: AgeWork,
    /// Which data that moved went past the controller.
    #[serde(default)]
    pub migration: MigrationWork,
    /// What nobody may read any more.
    #[serde(default)]
    pub sanitize: SanitizeWork,
    /// Blocks that garbage collection emptied.
    #[serde(default)]
    pub victims: Victims,
    /// In which program modes blocks were programmed.
    #[serde(default)]
    pub program_mode: ProgramModeWork,
    /// Time of garbage collection's flash operations if done one after the other, in ns: pages read x tR, pages
    /// programmed x tPROG, pages copied within a plane x (tR + tPROG), blocks erased x tBERS, with the mean over
    /// page types.
    #[serde(default)]
    pub gc_time_ns: u64,
}

/// Blocks (superblocks count as one) that garbage collection emptied, by the separator's class (`ftl.stream`), up to
/// the last class that had any; without classes there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Victims {
    /// Blocks (superblocks count as one) emptied, by the separator's class.
    pub count: Vec<u64>,
    /// Of these, blocks that held no valid unit when garbage collection began.
    pub dead: Vec<u64>,
    /// Valid units per victim on average, by the same classes; null without victims.
    pub copied_mean: Vec<Option<f64>>,
    /// All victims by their share of valid units: none, up to 1/16, up to 2/16 and so on to all.
    pub histogram: Vec<u64>,
}

impl Victims {
    /// How many there were.
    pub fn all(&self) -> u64 {
        self.count.iter().sum()
    }

    /// Of these, how many held no valid unit.
    pub fn all_dead(&self) -> u64 {
        self.dead.iter().sum()
    }

    /// Units that lived in one on average; none without victims.
    pub fn copied(&self) -> Option<f64> {
        let units =
            self.copied_mean.iter().zip(&self.count).map(|(mean, all)| mean.unwrap_or(0.0) * *all as f64);
        (self.all() > 0).then(|| units.sum::<f64>() / self.all() as f64)
    }
}

/// What the read-reclaim policy did, by the chips' counters. The pages it copied are in
/// `flash.programs.read_reclaim`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadReclaimWork {
    /// The `ftl.read_reclaim` policy. The pages that it copied are in `flash.programs.read_reclaim`.
    pub policy: String,
    /// Pages moved by read reclaim, counted where their data was read. They may fill fewer pages at the
    /// destination (`flash.programs.read_reclaim`) if part of the data had been overwritten.
    pub pages: u64,
    /// Of these, pages moved before half of the reads they endure, where cells age.
    pub premature_pages: u64,
    /// The most reads that any of them had seen, relative to what it endures: above 1 the move came too late.
    pub most_disturbed: Option<f64>,
    /// Bytes of the policy's counters and limits.
    pub table_bytes: u64,
    /// Service time, in ns: from the decision that data must leave a block because of reads (the whole block,
    /// wordlines, a round of replicas, two blocks dealt to two) until the last of it is written elsewhere. Waiting
    /// for its turn does not count, nor do moves that moved nothing. Percentiles are at most 1/16 too high. 0 and
    /// null in the functional executor.
    #[serde(default)]
    pub service_ns: Distribution,
    /// Mapping units read by the host from replicas.
    #[serde(default)]
    pub replica_reads: u64,
    /// Replicated mapping units whose replica became the primary copy.
    #[serde(default)]
    pub replicas_adopted: u64,
    /// Replicated mapping units whose replica could not be corrected when read.
    #[serde(default)]
    pub replicas_failed: u64,
}

/// Work of the DRAM buffer, in mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BufferWork {
    /// Units read entirely from DRAM.
    pub hits: u64,
    /// Units read at least partly from flash.
    pub misses: u64,
    /// Units read although they were never written, or were trimmed: they return zeros without flash work.
    pub unmapped_reads: u64,
    /// Their share of all units read (`hits` + `misses` + `unmapped_reads`), 0 to 1; null if nothing was read.
    #[serde(default)]
    pub unmapped_read_share: Option<f64>,
    /// Writes that waited for space in the buffer.
    pub stalls: u64,
    /// Units overwritten in DRAM before they went to flash.
    pub overwrites: u64,
    /// Units read ahead of sequential reads (`host.read_ahead`), whether anybody asked for them or not.
    #[serde(default)]
    pub read_ahead_units: u64,
    /// Of these, units that a read asked for while they were under way, and waited for.
    #[serde(default)]
    pub read_ahead_awaited: u64,
    /// Of these, units that a read found in DRAM; the rest was read in vain, or nobody has asked for it yet.
    #[serde(default)]
    pub read_ahead_hits: u64,
}

impl BufferWork {
    /// Mapping units read by the host, wherever they were found.
    pub fn units_read(&self) -> u64 {
        self.hits + self.misses + self.unmapped_reads
    }
}

/// Erase counts of the blocks in use (superblocks count as one) at the end, preconditioning included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EraseCount {
    /// Lowest erase count of the blocks in use (superblocks count as one), at the end, preconditioning included.
    pub min: u32,
    /// Mean erase count.
    pub mean: f64,
    /// Mean erases of a block during the measurement alone.
    #[serde(default)]
    pub of_run: f64,
    /// Highest erase count.
    pub max: u32,
    /// Sum of all erase counts.
    pub total: u64,
    /// Blocks in use.
    pub blocks: u32,
    /// Blocks retired since the drive was built.
    pub retired: u32,
}

/// Share of the measured time, 0 to 1; null if no time is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Busy {
    /// Average over all of them.
    pub mean: Option<f64>,
    /// The most of any.
    pub max: Option<f64>,
}

/// How busy the drive was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilisation {
    /// Share of the measured time that dies were occupied (`dies occupied` in tables): held by an operation, its data
    /// transfer and waits for the channel included. Work in progress when the measurement begins or ends counts for
    /// the part inside it.
    pub die: Busy,
    /// Share of the time that dies were busy (`dies busy` in tables): the array works, suspending and resuming
    /// included.
    #[serde(default)]
    pub array: Busy,
    /// The rest of `utilisation.die`: occupied and not busy, as a command or data waits for the channel or crosses it.
    /// The remaining time the die was idle.
    #[serde(default)]
    pub waiting: Busy,
    /// Share of the time that channels carried commands or data.
    pub channel: Busy,
}

/// The drive's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveSize {
    /// Capacity that the host sees, in bytes.
    pub logical_bytes: u64,
    /// Bytes of the flash that the firmware uses.
    pub physical_bytes: u64,
    /// Number of channels.
    pub channels: u32,
    /// Number of dies.
    pub dies: u32,
    /// Bytes of the simulator's tables that grow with the drive.
    pub table_bytes: u64,
}
