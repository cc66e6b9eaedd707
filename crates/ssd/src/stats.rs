//! What a drive has counted, from all layers. Rates, means and tables are made of it outside the drive.

use crate::flash::FlashCounts;
use crate::flash::op::{CAUSES, Cause, OpKind};
use crate::ftl::FtlCounts;
use crate::host::HostCounts;
use crate::units::SimTime;

/// Counters since the drive was built or they were last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Time of the reset.
    pub since: SimTime,
    /// Time of the reading.
    pub until: SimTime,
    /// The host interface's.
    pub host: HostCounts,
    /// The translation layer's.
    pub ftl: FtlCounts,
    /// The chips'.
    pub flash: FlashCounts,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Mapping units in a page.
    pub units_per_page: u32,
}

/// How often the drive's blocks were erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// Blocks in use.
    pub blocks: u32,
    /// Blocks retired since the drive was built.
    pub retired: u32,
    /// Least erases of a block.
    pub min: u32,
    /// Most erases of a block.
    pub max: u32,
    /// Erases of all blocks.
    pub total: u64,
}

impl Stats {
    /// Operations of a kind, for all causes.
    pub fn ops(&self, kind: OpKind) -> u64 {
        self.flash.ops[kind as usize].iter().sum()
    }

    /// All flash operations.
    pub fn all_ops(&self) -> u64 {
        OpKind::ALL.iter().map(|&kind| self.ops(kind)).sum()
    }

    /// Pages programmed for a cause, by whatever means.
    pub fn pages_programmed(&self, cause: Cause) -> u64 {
        let of = |kind: OpKind| self.flash.ops[kind as usize][cause as usize];
        of(OpKind::Program) + of(OpKind::Copyback)
    }

    /// Bytes programmed for each cause, counting whole pages: what the flash wears by.
    pub fn programmed_bytes(&self) -> [u64; CAUSES] {
        let page = u64::from(self.unit_bytes) * u64::from(self.units_per_page);
        core::array::from_fn(|cause| self.pages_programmed(Cause::ALL[cause]) * page)
    }
}
