//! Straw: only the wordlines that are heavily disturbed move. A wordline's effective reads (neighbours' reads count
//! alpha times) are compared with what its group stands at the block's cycles; a block is erased when it is empty.

use super::{Facts, Look, PageRead, ParameterTable, Urgency, Want, groups};
use crate::prefetch::prefetch;
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
    "4 bytes per block and, exact, 4 per wordline or, space_saving, 6 per counter and 4 more per block";

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
    /// The least counter of each block, the first of equals (`space_saving`).
    #[serde(with = "raw")]
    least: Vec<u32>,
    /// Wordlines side by side that are of one group: the last of them, and the group.
    runs: Vec<(u32, u8)>,
    /// Reads to look ahead: until the next check, which a read of many attempts may pass by as many.
    ahead: u32,
}

/// What a wordline of a group is told to be heavily disturbed by, at a block's cycles and reads: others' reads count
/// 256, neighbours' `adjacent_q8`, and more than `limit_q8` is too much.
#[derive(Clone, Copy)]
struct Bound {
    all: u64,
    adjacent_q8: u64,
    limit_q8: u64,
}

impl Bound {
    /// With so many reads beside a wordline and of its own.
    #[inline]
    fn is_passed(&self, beside: u64, own: u64) -> bool {
        let beside = beside.min(self.all);
        let others = (self.all - beside).saturating_sub(own);
        (others << 8) + beside * self.adjacent_q8 > self.limit_q8
    }
}

/// The shared counters of a block.
struct Entries<'a> {
    holders: &'a [u16],
    counts: &'a [u32],
    /// What a wordline without a counter was read at most.
    unknown: u32,
}

impl Entries<'_> {
    /// Reads of a wordline, never too few.
    #[inline]
    fn reads(&self, wordline: u32) -> u64 {
        u64::from(find(self.holders, wordline as u16).map_or(self.unknown, |at| self.counts[at]))
    }
}

/// The counter of a wordline. Looks at many holders at once, which is what processors are good at.
#[inline]
fn find(holders: &[u16], wordline: u16) -> Option<usize> {
    let mut from = 0;
    for some in holders.chunks(16) {
        if some.iter().fold(false, |hit, &holder| hit | (holder == wordline)) {
            return some.iter().position(|&holder| holder == wordline).map(|at| from + at);
        }
        from += some.len();
    }
    None
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
            least: Vec::new(),
            runs: Vec::new(),
            ahead: 0,
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
        let of_entries = if exact { 0 } else { blocks };
        self.holders = vec![NOBODY; of_entries * self.stride];
        self.least = vec![0; of_entries];
        self.runs = Vec::new();
        for (wordline, &group) in (0..).zip(&self.group_of) {
            match self.runs.last_mut() {
                Some((last, same)) if *same == group => *last = wordline,
                _ => self.runs.push((wordline, group)),
            }
        }
        self.ahead = self.params.check_interval + facts.readings_at_most - 1;
    }

    /// Starts loading the counters of a wordline, or those that the wordlines of its block share.
    #[inline]
    pub fn prefetch(&self, physical: u32, wordline: u32) {
        let from = physical as usize * self.stride;
        prefetch(&self.blocks, physical as usize);
        if self.holders.is_empty() {
            return prefetch(&self.counts, from + wordline as usize);
        }
        for at in (from..from + self.stride).step_by(32) {
            prefetch(&self.holders, at);
            prefetch(&self.counts, at);
            prefetch(&self.counts, at + 16);
        }
    }

    /// Counts the read.
    #[inline]
    pub fn on_read(&mut self, read: &PageRead) -> Urgency {
        if self.holders.is_empty() {
            let count = &mut self.counts[read.physical as usize * self.stride + read.wordline as usize];
            *count = count.saturating_add(read.readings);
        } else {
            self.count_shared(read);
        }
        let reads = &mut self.blocks[read.physical as usize];
        *reads = reads.saturating_add(read.readings);
        let passed = *reads % self.params.check_interval;
        if passed < read.readings { Urgency::Now } else { Urgency::No }
    }

    /// Space-Saving (Metwally et al.): a wordline without a counter takes the least, and its count. Counts only grow,
    /// so that the least is found by going on from the last one: a step a read, in the long run.
    #[inline]
    fn count_shared(&mut self, read: &PageRead) {
        let from = read.physical as usize * self.stride;
        let holders = &mut self.holders[from..from + self.stride];
        let counts = &mut self.counts[from..from + self.stride];
        let least = &mut self.least[read.physical as usize];
        let wordline = read.wordline as u16;
        let at = find(holders, wordline).unwrap_or_else(|| {
            holders[*least as usize] = wordline;
            *least as usize
        });
        let before = counts[at];
        counts[at] = before.saturating_add(read.readings);
        if at == *least as usize {
            let next = counts[at + 1..].iter().position(|&count| count == before);
            *least = next.map_or_else(|| first_least(counts), |next| at + 1 + next) as u32;
        }
    }

    /// The first heavily disturbed wordline with live data: one whose effective reads, with those that may come until
    /// the next check, pass what its group stands.
    pub fn wants(&mut self, look: &Look<'_>, left: Want) -> Want {
        let first = if let Want::Wordline(wordline) = left { wordline + 1 } else { 0 };
        let bounds = self.bounds(look);
        if bounds.iter().all(|bound| !bound.is_passed(bound.all, 0)) {
            // Not even if all reads were of its neighbours.
            return Want::Nothing;
        }
        let exact = self.holders.is_empty();
        let found = if exact {
            self.first_exact(look, &bounds, first)
        } else {
            self.first_shared(look, &bounds, first)
        };
        found.map_or(Want::Nothing, Want::Wordline)
    }

    /// What each group is told by.
    fn bounds(&self, look: &Look<'_>) -> [Bound; 4] {
        let all = u64::from(self.blocks[look.at.block as usize]);
        core::array::from_fn(|group| {
            let (limit, adjacent_q8) = self.table.at(group as u8, look.cycles);
            let limit_q8 = (limit << 8).saturating_sub(u64::from(self.ahead) * adjacent_q8);
            Bound { all, adjacent_q8, limit_q8 }
        })
    }

    fn first_exact(&self, look: &Look<'_>, bounds: &[Bound; 4], first: u32) -> Option<u32> {
        let wordlines = self.group_of.len();
        let counts = &self.counts[look.at.block as usize * self.stride..][..wordlines];
        let mut from = first;
        while let Some(wordline) = look.next_live(from, wordlines as u32) {
            let at = wordline as usize;
            let below = if at > 0 { counts[at - 1] } else { 0 };
            let above = if at + 1 < wordlines { counts[at + 1] } else { 0 };
            let bound = &bounds[usize::from(self.group_of[at])];
            if bound.is_passed(u64::from(below) + u64::from(above), u64::from(counts[at])) {
                return Some(wordline);
            }
            from = wordline + 1;
        }
        None
    }

    /// The same by shared counters. A wordline's own reads are not told from those that its counter took over, so they
    /// count as disturbing it; a wordline without a counter was read at most as often as the least of them.
    fn first_shared(&self, look: &Look<'_>, bounds: &[Bound; 4], first: u32) -> Option<u32> {
        let wordlines = self.group_of.len() as u32;
        let range = look.at.block as usize * self.stride..(look.at.block as usize + 1) * self.stride;
        let (holders, counts) = (&self.holders[range.clone()], &self.counts[range]);
        let unknown = counts[self.least[look.at.block as usize] as usize];
        let entries = Entries { holders, counts, unknown };
        let is_heavy = |wordline: u32| {
            let below = if wordline > 0 { entries.reads(wordline - 1) } else { 0 };
            let above = if wordline + 1 < wordlines { entries.reads(wordline + 1) } else { 0 };
            bounds[usize::from(self.group_of[wordline as usize])].is_passed(below + above, 0)
        };
        let counted = holders.iter().filter(|&&holder| holder != NOBODY).map(|&holder| u32::from(holder));
        let beside = counted.flat_map(|wordline| [wordline.checked_sub(1), Some(wordline + 1)]).flatten();
        let candidates = beside.filter(|&at| at >= first && at < wordlines);
        let by_counter = candidates.filter(|&at| look.has_live(at) && is_heavy(at)).min();
        // Of groups that pass their limits without a counter beside them every wordline is looked at.
        let mut start = 0;
        for &(last, group) in &self.runs {
            let (from, end) = (start.max(first), (last + 1).min(by_counter.unwrap_or(wordlines)));
            start = last + 1;
            if from < end && bounds[usize::from(group)].is_passed(2 * u64::from(unknown), 0) {
                let mut from = from;
                while let Some(wordline) = look.next_live(from, end) {
                    if is_heavy(wordline) {
                        return Some(wordline);
                    }
                    from = wordline + 1;
                }
            }
        }
        by_counter
    }

    /// Counts from zero.
    pub fn on_erase(&mut self, physical: u32) {
        let from = physical as usize * self.stride;
        self.blocks[physical as usize] = 0;
        self.counts[from..from + self.stride].fill(0);
        if !self.holders.is_empty() {
            self.holders[from..from + self.stride].fill(NOBODY);
            self.least[physical as usize] = 0;
        }
    }

    /// Reads of a block since its erase.
    pub fn block_reads(&self, physical: u32) -> u64 {
        u64::from(self.blocks[physical as usize])
    }

    /// Group of a wordline.
    pub fn group_of(&self, wordline: u32) -> u8 {
        self.group_of[wordline as usize]
    }

    /// Reads of a wordline as its counters tell: `exact` the truth, `space_saving` never less.
    pub fn reads_at_most(&self, physical: u32, wordline: u32) -> u64 {
        let from = physical as usize * self.stride;
        let counts = &self.counts[from..from + self.stride];
        if self.holders.is_empty() {
            return u64::from(counts[wordline as usize]);
        }
        let unknown = counts[self.least[physical as usize] as usize];
        Entries { holders: &self.holders[from..from + self.stride], counts, unknown }.reads(wordline)
    }

    /// Effective reads of a wordline as its counters tell (figure 6), at so many cycles, rounded up.
    pub fn effective_reads(&self, physical: u32, wordline: u32, cycles: u32) -> u64 {
        let reads = |wordline| self.reads_at_most(physical, wordline);
        let below = if wordline > 0 { reads(wordline - 1) } else { 0 };
        let above = if (wordline as usize) + 1 < self.group_of.len() { reads(wordline + 1) } else { 0 };
        let all = self.block_reads(physical);
        let beside = (below + above).min(all);
        let own = if self.holders.is_empty() { reads(wordline) } else { 0 };
        let (_, adjacent_q8) = self.table.at(self.group_of[wordline as usize], cycles);
        (all - beside).saturating_sub(own) + (beside * adjacent_q8).div_ceil(256)
    }

    /// Its counters and table.
    pub fn memory_bytes(&self) -> usize {
        4 * (self.blocks.len() + self.counts.len() + self.least.len())
            + 2 * self.holders.len()
            + 8 * self.table.erc_max.len()
    }
}

/// The place of the least of some counters, the first of equals.
#[inline]
fn first_least(counts: &[u32]) -> usize {
    let least = counts.iter().copied().min().unwrap_or(0);
    counts.iter().position(|&count| count == least).unwrap_or(0)
}
