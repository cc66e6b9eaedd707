//! Straw: only the wordlines that are heavily disturbed move. A wordline's effective reads (neighbours' reads count
//! alpha times) are compared with what its group stands at the block's cycles; a block is erased when it is empty.

use super::{Facts, Look, PageRead, ParameterTable, Urgency, Want, groups};
use crate::snapshot::raw;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "straw";
/// What it does.
pub const SUMMARY: &str = "moves single wordlines when their effective reads reach what their group stands";
/// Where it comes from.
pub const SOURCE: &str = "seed 002 (Straw), section III";
/// What it costs.
pub const MEMORY: &str =
    "4 bytes per block and, exact, 4 per wordline or, space_saving, 6 per counter of a block";

choice! {
    /// How the reads of wordlines are counted.
    pub enum Counters {
        /// One counter for each wordline (STRAW-WL).
        Exact = "exact",
        /// A few counters for each block, for the wordlines read most (STRAW-SS).
        SpaceSaving = "space_saving",
    }
}

section! {
    /// Parameters of `straw`.
    pub struct Params {
        /// How the reads of wordlines are counted.
        counters: Counters = Counters::SpaceSaving;
        /// Counters of each block (`space_saving`).
        entries: u32 = 32, unit "counters", range 1..=4096;
        /// Reads of a block between two checks.
        check_interval: u32 = 1_000, unit "reads", range 1..=1_000_000;
        /// Effective reads of the firmware's table over those the chips stand: 100 is the truth, more is optimistic.
        table_percent: f64 = 100.0, unit "%", range 1.0..=1000.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    table: ParameterTable,
    group_of: Vec<u8>,
    /// Counters of each block.
    stride: usize,
    /// Reads since the erase, by physical block.
    #[serde(with = "raw")]
    blocks: Vec<u32>,
    /// Reads of each counter: one a wordline, or one an entry.
    #[serde(with = "raw")]
    counts: Vec<u32>,
    /// Wordline of each entry (`space_saving`).
    #[serde(with = "raw")]
    holders: Vec<u16>,
}

/// Reads of a block, and its cycles.
struct BlockReads {
    all: u64,
    cycles: u32,
}

/// The shared counters of a block.
struct Entries<'a> {
    holders: &'a [u16],
    counts: &'a [u32],
}

impl Entries<'_> {
    /// Reads of a wordline, never too few.
    #[inline]
    fn reads(&self, wordline: u32, unknown: u32) -> u64 {
        let at = self.holders.iter().position(|&holder| u32::from(holder) == wordline);
        u64::from(at.map_or(unknown, |at| self.counts[at]))
    }
}

/// No wordline.
const NOBODY: u16 = u16::MAX;

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            table: ParameterTable::default(),
            group_of: Vec::new(),
            stride: 0,
            blocks: Vec::new(),
            counts: Vec::new(),
            holders: Vec::new(),
        }
    }

    /// Makes its tables.
    // tidy: allow(float): called when a drive is built
    pub fn learn(&mut self, facts: &Facts<'_>) {
        self.table = ParameterTable::new(facts.cells, self.params.table_percent / 100.0);
        self.group_of = groups(facts);
        let exact = self.params.counters == Counters::Exact;
        self.stride = if exact { facts.wordlines } else { self.params.entries } as usize;
        let blocks = facts.physical_blocks as usize;
        self.blocks = vec![0; blocks];
        self.counts = vec![0; blocks * self.stride];
        self.holders = if exact { Vec::new() } else { vec![NOBODY; blocks * self.stride] };
    }

    /// Counts the read. Space-Saving (Metwally et al.): a wordline without a counter takes the least, and its count.
    #[inline]
    pub fn on_read(&mut self, read: &PageRead) -> Urgency {
        let from = read.physical as usize * self.stride;
        let at = if self.holders.is_empty() {
            read.wordline as usize
        } else {
            let holders = &mut self.holders[from..from + self.stride];
            let wordline = read.wordline as u16;
            holders.iter().position(|&holder| holder == wordline).unwrap_or_else(|| {
                let least = least(&self.counts[from..from + self.stride]).0;
                holders[least] = wordline;
                least
            })
        };
        self.counts[from + at] += 1;
        let reads = &mut self.blocks[read.physical as usize];
        *reads += 1;
        if reads.is_multiple_of(self.params.check_interval) { Urgency::Now } else { Urgency::No }
    }

    /// The first heavily disturbed wordline with live data: one whose effective reads, with those that may come until
    /// the next check, pass what its group stands.
    pub fn wants(&mut self, look: &Look<'_>, left: Want) -> Want {
        let first = if let Want::Wordline(wordline) = left { wordline + 1 } else { 0 };
        let wordlines = self.group_of.len() as u32;
        let from = look.at.block as usize * self.stride;
        let counts = &self.counts[from..from + self.stride];
        let block = BlockReads { all: u64::from(self.blocks[look.at.block as usize]), cycles: look.cycles };
        let found = if self.holders.is_empty() {
            let reads = |wordline: u32| u64::from(counts[wordline as usize]);
            (first..wordlines).find(|&wordline| {
                let below = if wordline > 0 { reads(wordline - 1) } else { 0 };
                let above = if wordline + 1 < wordlines { reads(wordline + 1) } else { 0 };
                self.is_heavy(&block, wordline, below + above, reads(wordline)) && look.has_live(wordline)
            })
        } else {
            let entries = Entries { holders: &self.holders[from..from + self.stride], counts };
            self.first_heavy(look, &block, &entries, first)
        };
        found.map_or(Want::Nothing, Want::Wordline)
    }

    /// The same by shared counters. A wordline's own reads are not told from those that its counter took over, so they
    /// count as disturbing it; a wordline without a counter was read at most as often as the least of them.
    fn first_heavy(
        &self,
        look: &Look<'_>,
        block: &BlockReads,
        entries: &Entries<'_>,
        first: u32,
    ) -> Option<u32> {
        let wordlines = self.group_of.len() as u32;
        let unknown = least(entries.counts).1;
        let heavy = |wordline: u32| {
            let below = if wordline > 0 { entries.reads(wordline - 1, unknown) } else { 0 };
            let above = if wordline + 1 < wordlines { entries.reads(wordline + 1, unknown) } else { 0 };
            self.is_heavy(block, wordline, below + above, 0) && look.has_live(wordline)
        };
        let anywhere = (0..4).any(|group| self.is_heavy_in(block, group, 2 * u64::from(unknown), 0));
        if anywhere {
            return (first..wordlines).find(|&wordline| heavy(wordline));
        }
        // Only neighbours of the wordlines that are counted can be heavy.
        let counted =
            entries.holders.iter().filter(|&&holder| holder != NOBODY).map(|&holder| u32::from(holder));
        let beside = counted.flat_map(|wordline| [wordline.checked_sub(1), Some(wordline + 1)]).flatten();
        beside.filter(|&at| at >= first && at < wordlines && heavy(at)).min()
    }

    #[inline]
    fn is_heavy(&self, block: &BlockReads, wordline: u32, beside: u64, own: u64) -> bool {
        self.is_heavy_in(block, self.group_of[wordline as usize], beside, own)
    }

    /// Whether a wordline of a group, with so many reads beside it and of its own, may pass its limit before the next
    /// check.
    #[inline]
    fn is_heavy_in(&self, block: &BlockReads, group: u8, beside: u64, own: u64) -> bool {
        let (limit, adjacent_q8) = self.table.at(group, block.cycles);
        let beside = beside.min(block.all);
        let ahead_q8 = u64::from(self.params.check_interval) * adjacent_q8;
        let others = (block.all - beside).saturating_sub(own);
        (others << 8) + beside * adjacent_q8 + ahead_q8 > limit << 8
    }

    /// Counts from zero.
    pub fn on_erase(&mut self, physical: u32) {
        let from = physical as usize * self.stride;
        self.blocks[physical as usize] = 0;
        self.counts[from..from + self.stride].fill(0);
        if !self.holders.is_empty() {
            self.holders[from..from + self.stride].fill(NOBODY);
        }
    }

    /// Its counters and table.
    pub fn memory_bytes(&self) -> usize {
        4 * (self.blocks.len() + self.counts.len()) + 2 * self.holders.len() + 8 * self.table.erc_max.len()
    }
}

/// The place and value of the least of some counters, the first of equals.
#[inline]
fn least(counts: &[u32]) -> (usize, u32) {
    counts.iter().copied().enumerate().min_by_key(|&(_, count)| count).unwrap_or((0, 0))
}
