//! Page types are moved apart: each when the block's reads reach what pages of that type stand.

use super::{Look, Member, PageRead, Part, ReadLimits, Setup, Urgency, Want};
use crate::restore::{Verdict, alike};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "page_type";
/// What it does.
pub const SUMMARY: &str = "moves the pages of each type when the block's read count reaches what that type \
                           endures";
/// Where it comes from.
pub const SOURCE: &str = "PAGETYPE of Straw section IV, after S. Han et al., Page Type-Aware Data Migration \
    Technique for Read Disturb Management of NAND Flash Memory, IEEE TVLSI 2023";
/// What it costs.
pub const MEMORY: &str = "5 bytes per block";

section! {
    /// Parameters of `page_type`.
    pub struct Params {
        /// Reads that a block's weakest page type endures; 0 as in policy `block`.
        max_reads: u32 = 0, unit "reads", range 0..=10_000_000;
        /// Share of that at which pages are moved.
        threshold_percent: f64 = 95.0, unit "%", range 1.0..=100.0;
        /// What each page type endures relative to the weakest, in rising order; types not listed endure as much as
        /// the last. The weakest is the page that senses the lowest threshold (calibration section 2.4, fitted to
        /// 29.4 % fewer copies).
        type_factors: Vec<f64> = vec![1.0, 1.1, 1.2], range 1.0..=10.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    /// By page type.
    limits: Vec<ReadLimits>,
    /// Reads since the erase, and types already moved, by physical block.
    #[serde(with = "crate::snapshot::raw")]
    counts: Vec<u32>,
    #[serde(with = "crate::snapshot::raw")]
    moved: Vec<u8>,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { params: params.clone(), limits: Vec::new(), counts: Vec::new(), moved: Vec::new() }
    }

    /// Types that have reached their limit and were not moved, a bit for each.
    #[inline]
    fn due(&self, physical: u32, cycles: u32) -> u8 {
        let reads = self.counts[physical as usize];
        let reached = self.limits.iter().enumerate().filter(|(_, limits)| reads >= limits.at(cycles));
        reached.fold(0, |types, (page, _)| types | 1 << page) & !self.moved[physical as usize]
    }
}

impl Member for Policy {
    /// Makes its tables.
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, setup: &Setup<'_>) {
        let Params { max_reads, threshold_percent, ref type_factors } = self.params;
        let last = type_factors.last().copied().unwrap_or(1.0);
        let factors =
            (0..setup.page_types as usize).map(|page| type_factors.get(page).copied().unwrap_or(last));
        let share = threshold_percent / 100.0;
        self.limits = factors.map(|factor| ReadLimits::new(setup.cells, max_reads, share * factor)).collect();
        self.counts = vec![0; setup.physical_blocks as usize];
        self.moved = vec![0; setup.physical_blocks as usize];
    }

    /// Counts the read.
    #[inline]
    fn on_read(&mut self, read: &PageRead) -> Urgency {
        let count = &mut self.counts[read.physical as usize];
        *count = count.saturating_add(read.readings);
        if self.due(read.physical, read.cycles) == 0 { Urgency::No } else { Urgency::Now }
    }

    /// The types that have reached their limit; once they are moved they are not asked for again.
    fn wants(&mut self, look: &Look<'_>, left: Option<Want>) -> Option<Want> {
        if let Some(Want { part: Part::Types(types), .. }) = left {
            self.moved[look.at.block as usize] |= types;
        }
        let types = self.due(look.at.block, look.cycles);
        (types != 0).then_some(Want::types(types))
    }

    /// Counts from zero.
    fn on_erase(&mut self, physical: u32) {
        self.counts[physical as usize] = 0;
        self.moved[physical as usize] = 0;
    }

    /// Its counters and limits.
    fn memory_bytes(&self) -> usize {
        let limits: usize = self.limits.iter().map(|limits| limits.0.len()).sum();
        4 * (self.counts.len() + limits) + self.moved.len()
    }

    fn restored(&mut self, mut fresh: Policy) -> Verdict {
        alike("reads of blocks", &self.counts, &fresh.counts)?;
        alike("types that moved", &self.moved, &fresh.moved)?;
        fresh.counts = core::mem::take(&mut self.counts);
        fresh.moved = core::mem::take(&mut self.moved);
        *self = fresh;
        Ok(())
    }
}
