//! What the drive did in a run, and how large it is.

use super::Distribution;
use crate::block_age::AgeWork;
use crate::by::By;
use crate::migration::MigrationWork;
use crate::modes::ProgramModeWork;
use crate::page_class::{HeatWork, PageClassWork};
use crate::retries::Retries;
use crate::sanitize::SanitizeWork;
use crate::separation::StreamWork;
use crate::slc::SlcWork;
use crate::suspends::DieWork;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::op::Cause;

/// Flash operations by kind and cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlashWork {
    /// Pages read to the controller.
    pub reads: By<Cause, u64>,
    /// Pages programmed from the controller.
    pub programs: By<Cause, u64>,
    /// Blocks erased.
    pub erases: By<Cause, u64>,
    /// Pages copied inside a plane.
    pub copybacks: By<Cause, u64>,
    /// Multi-plane operations (each counted above as the single operations in it).
    pub multi_plane_groups: u64,
    /// Programs that failed.
    pub program_fails: u64,
    /// Erases that failed.
    pub erase_fails: u64,
    /// Bytes programmed, counting whole pages.
    pub bytes_programmed: By<Cause, u64>,
    /// Attempts that page reads took.
    #[serde(default)]
    pub retries: Retries,
    /// Page reads that no attempt could correct.
    #[serde(default)]
    pub uncorrectable: By<Cause, u64>,
    /// Suspends of dies' work, and what became of priorities there.
    #[serde(flatten)]
    pub dies: DieWork,
}

/// Work of the translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FtlWork {
    /// Mapping units written to flash for the host.
    pub host_units: u64,
    /// Mapping units moved.
    pub moved_units: By<Cause, u64>,
    /// Places for mapping units left empty in programmed pages.
    pub padded_units: u64,
    /// Mapping units trimmed.
    pub trimmed_units: u64,
    /// Mapping units whose data was lost to errors.
    #[serde(default)]
    pub lost_units: u64,
    /// Blocks (superblocks count as one) erased and given back.
    pub reclaimed_blocks: u64,
    /// Blocks retired.
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
    /// Blocks that cleaning emptied.
    #[serde(default)]
    pub victims: Victims,
    /// In which program modes blocks were programmed.
    #[serde(default)]
    pub program_mode: ProgramModeWork,
    /// Time of flash operations for cleaning, one after the other: pages read x tR, pages programmed x tPROG, copied x
    /// (tR + tPROG), blocks erased x tBERS, each with the mean over page types; ns.
    #[serde(default)]
    pub gc_time_ns: u64,
}

/// Blocks that cleaning emptied, by the class of their stream (`ftl.stream`; without classes all are of the first).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Victims {
    /// How many, up to the last class that had any.
    pub count: Vec<u64>,
    /// Of these, how many held no live unit.
    pub dead: Vec<u64>,
    /// Units that lived in one on average, by the same; null without victims.
    pub copied_mean: Vec<Option<f64>>,
    /// All of them by the share of their units that lived: none, then up to 1/16, 2/16 and so on to all.
    pub histogram: Vec<u64>,
}

impl Victims {
    /// How many there were.
    pub fn all(&self) -> u64 {
        self.count.iter().sum()
    }

    /// Of these, how many held no live unit.
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

/// What the read-reclaim policy did, by the chips' counters. Pages it copied are in `flash.programs` under its cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadReclaimWork {
    /// The policy.
    pub policy: String,
    /// Pages moved: those whose data was read to be put elsewhere.
    pub pages: u64,
    /// Of these, pages that had seen less than half of the reads they stand.
    pub premature_pages: u64,
    /// Most that any of them had seen, over what it stands: above 1 it came too late.
    pub most_disturbed: Option<f64>,
    /// Bytes of the policy's tables.
    pub table_bytes: u64,
    /// How long moves because of reads took, each until the last of it was at its new place; ns. Percentiles are at
    /// most 1/16 above the true ones. Empty where no time passes.
    #[serde(default)]
    pub service_ns: Distribution,
    /// Mapping units read by the host from replicas.
    #[serde(default)]
    pub replica_reads: u64,
    /// Replicas of mapping units that became the page itself.
    #[serde(default)]
    pub replicas_adopted: u64,
    /// Replicas of mapping units that could not be corrected when read.
    #[serde(default)]
    pub replicas_failed: u64,
}

/// Work of the DRAM buffer, in mapping units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BufferWork {
    /// Read wholly from DRAM.
    pub hits: u64,
    /// Read at least in part from flash.
    pub misses: u64,
    /// Read although never written, or trimmed.
    pub unmapped_reads: u64,
    /// Their share of all that was read, 0 to 1; null if nothing was.
    #[serde(default)]
    pub unmapped_read_share: Option<f64>,
    /// Writes that had to wait for room.
    pub stalls: u64,
    /// Overwritten in DRAM before they went to flash.
    pub overwrites: u64,
}

impl BufferWork {
    /// Mapping units read by the host, wherever they were found.
    pub fn units_read(&self) -> u64 {
        self.hits + self.misses + self.unmapped_reads
    }
}

/// How often blocks (superblocks count as one) in use were erased, preconditioning included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EraseCount {
    /// Least.
    pub min: u32,
    /// Mean.
    pub mean: f64,
    /// Most.
    pub max: u32,
    /// Of all together.
    pub total: u64,
    /// Blocks in use.
    pub blocks: u32,
    /// Blocks retired since the drive was built.
    pub retired: u32,
}

/// Share of the measured time, 0 to 1, that units were busy; null if no time passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Busy {
    /// Of all units on average.
    pub mean: Option<f64>,
    /// Of the busiest unit.
    pub max: Option<f64>,
}

/// How busy the drive was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilisation {
    /// Dies: at work, or waiting for the channel.
    pub die: Busy,
    /// Their arrays: at work, which suspending and resuming are.
    #[serde(default)]
    pub array: Busy,
    /// Dies that have something to do while their arrays rest: a command or data waits for the channel, or crosses it.
    #[serde(default)]
    pub waiting: Busy,
    /// Channels: commands or data on the wires.
    pub channel: Busy,
}

/// The drive's size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveSize {
    /// Bytes the host sees.
    pub logical_bytes: u64,
    /// Bytes of all chips.
    pub physical_bytes: u64,
    /// Channels.
    pub channels: u32,
    /// Dies.
    pub dies: u32,
    /// Bytes of the simulator's tables that grow with the drive.
    pub table_bytes: u64,
}
