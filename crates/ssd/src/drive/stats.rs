//! What a drive has counted, from all layers. Rates, means and tables are made of it outside the drive.

use crate::counters::{Count, Counter};
use crate::flash::FlashCounts;
use crate::flash::op::{CAUSES, Cause, OpKind};
use crate::ftl::FtlCounts;
use crate::ftl::techniques::TechniqueCounts;
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
    /// Those of its techniques alone.
    pub techniques: TechniqueCounts,
    /// The chips'.
    pub flash: FlashCounts,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Mapping units in a page; 1 where they are larger.
    pub units_per_page: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Whether the cells age: only then reads are told apart by their attempts.
    pub cells_age: bool,
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
    /// Every counter with what it says.
    pub fn counters(&self) -> impl Iterator<Item = (&'static Counter, Count)> {
        let counts = [self.host.counts(), self.ftl.counts(), self.techniques.counts(), self.flash.counts()];
        Stats::all_counters().zip(counts.into_iter().flatten())
    }

    /// Every counter of a drive.
    pub fn all_counters() -> impl Iterator<Item = &'static Counter> {
        let above = HostCounts::COUNTERS.iter().chain(FtlCounts::COUNTERS);
        above.chain(TechniqueCounts::counters()).chain(FlashCounts::COUNTERS)
    }

    /// What a counter says in sum, by its key; 0 of one that this build does not have.
    pub fn total(&self, key: &str) -> u64 {
        self.counters().find(|(counter, _)| counter.key == key).map_or(0, |(_, count)| count.sum())
    }

    /// Checks that counts agree with each other and with the time that passed; the error says which do not.
    pub fn check(&self) -> Result<(), String> {
        if let Some((counter, _)) = self.counters().find(|(_, count)| !count.has_room()) {
            return Err(format!("{} has counted more than can happen", counter.key));
        }
        let elapsed = self.until.since(self.since);
        for (name, busy) in [("die", &self.flash.die_busy_ns), ("channel", &self.flash.channel_busy_ns)] {
            if let Some(number) = busy.iter().position(|&ns| ns > elapsed) {
                let ns = busy[number];
                return Err(format!("{name} {number} was busy for {ns} ns, {elapsed} ns have passed"));
            }
        }
        let mut of_arrays = self.flash.die_array_ns.iter().zip(&self.flash.die_busy_ns);
        if let Some(number) = of_arrays.position(|(array, busy)| array > busy) {
            return Err(format!("the array of die {number} worked for longer than the die was busy"));
        }
        if self.flash.inversions > 0 {
            return Err(format!("{} high reads waited longer than they must", self.flash.inversions));
        }
        let by_attempts = self.flash.retries.iter().sum::<u64>();
        let reads = if self.cells_age { self.ops(OpKind::Read) } else { 0 };
        if by_attempts != reads {
            return Err(format!("{reads} pages were read, {by_attempts} are counted by their attempts"));
        }
        Ok(())
    }

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
        self.flash.pages_programmed(cause)
    }

    /// Bytes programmed for each cause, counting whole pages: what the flash wears by.
    pub fn programmed_bytes(&self) -> [u64; CAUSES] {
        let page = u64::from(self.page_bytes);
        core::array::from_fn(|at| Cause::numbered(at).map_or(0, |cause| self.pages_programmed(cause) * page))
    }
}
