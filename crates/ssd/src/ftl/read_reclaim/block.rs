//! A block whose reads reach a share of what it stands is moved as a whole and erased: what most drives do.

use super::{Look, Member, PageRead, READ_ONE, ReadLimits, Setup, Urgency, Want, read_weights};
use crate::restore::{Verdict, alike};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "block";
/// What it does.
pub const SUMMARY: &str = "moves a whole block when its read count reaches a limit";
/// Where it comes from.
pub const SOURCE: &str = "the baseline of redFTL section 3.1, and BLOCK of Straw section IV";
/// What it costs.
pub const MEMORY: &str = "4 bytes per block";

section! {
    /// Parameters of `block`.
    pub struct Params {
        /// Reads that a block endures (MRC). 0: what its worst wordline endures at the block's cycles if all reads
        /// are of a neighbour (`cell.disturb`).
        max_reads: u32 = 0, unit "reads", range 0..=10_000_000;
        /// Share of `max_reads` at which the block is moved.
        threshold_percent: f64 = 95.0, unit "%", range 1.0..=100.0;
        /// Weights each read by the harm of its page type in its block's program mode (beta over alpha of redFTL+),
        /// instead of counting all reads as the worst type.
        effective: bool = false;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    limits: ReadLimits,
    /// Harm of a read: mode, page type.
    weights: Vec<Vec<u32>>,
    /// Reads since the erase, in 1/[`READ_ONE`], by physical block.
    #[serde(with = "crate::snapshot::raw")]
    counts: Vec<u32>,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            limits: ReadLimits::default(),
            weights: Vec::new(),
            counts: Vec::new(),
        }
    }
}

impl Member for Policy {
    /// Makes its tables.
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, setup: &Setup<'_>) {
        let share = self.params.threshold_percent / 100.0;
        self.limits = ReadLimits::of_harm(setup.cells, self.params.max_reads, share);
        self.weights = match self.params.effective {
            true => read_weights(setup.cells),
            false => vec![vec![READ_ONE; setup.page_types as usize]; setup.cells.part().modes.wear.len()],
        };
        self.counts = vec![0; setup.physical_blocks as usize];
    }

    /// Counts the read.
    #[inline]
    fn on_read(&mut self, read: &PageRead) -> Urgency {
        let count = &mut self.counts[read.physical as usize];
        let weight = self.weights[usize::from(read.mode)][usize::from(read.page_type)];
        *count = count.saturating_add(weight.saturating_mul(read.readings));
        if *count / READ_ONE >= self.limits.at(read.cycles) { Urgency::Now } else { Urgency::No }
    }

    /// All of a block that has reached its limit.
    fn wants(&mut self, look: &Look<'_>, _: Option<Want>) -> Option<Want> {
        let reads = self.counts[look.at.block as usize] / READ_ONE;
        (reads >= self.limits.at(look.cycles)).then_some(Want::BLOCK)
    }

    /// Counts from zero.
    fn on_erase(&mut self, physical: u32) {
        self.counts[physical as usize] = 0;
    }

    /// Its counters and limits.
    fn memory_bytes(&self) -> usize {
        4 * (self.counts.len() + self.limits.0.len())
    }

    fn restored(&mut self, mut fresh: Policy) -> Verdict {
        alike("reads of blocks", &self.counts, &fresh.counts)?;
        fresh.counts = core::mem::take(&mut self.counts);
        *self = fresh;
        Ok(())
    }
}
