//! Straw: only the wordlines that are heavily disturbed move. A wordline's effective reads (neighbours' reads count
//! alpha times) are compared with what its group stands at the block's cycles; a block is erased when it is empty.
//!
//! Moving a wordline reads it, and pages near their limits are read in many attempts, each of which disturbs what is
//! still in the block. So wordlines that are due at nearly the same time, such as a group that is read evenly, cannot
//! all wait for their own limits: whoever is k-th in line must stand what the k - 1 before it cost. A block is in need
//! if somebody would not; then the closest leaves, and the rest is reckoned anew, with the readings it really took.
//! Wordlines that leave closest first, one at a time, never pass what the table says (deadlines that can be kept are
//! kept if the earliest goes first), as long as host reads wait for them.

use super::{Look, Member, PageRead, ParameterTable, Setup, Size, Urgency, Want, groups};
use crate::config::member::Misfit;
use crate::prefetch::prefetch;
use crate::restore::{Verdict, alike, ensure, within};
use crate::sections::Geometry;
use crate::snapshot::raw;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "straw";
/// What it does.
pub const SUMMARY: &str = "moves single wordlines when their effective reads reach what their group endures";
/// Where it comes from.
pub const SOURCE: &str = "Straw section III (Chun et al., IEEE CAL 2024)";
/// What it costs.
pub const MEMORY: &str =
    "4 bytes per block; exact: 4 per wordline; space_saving: 6 per counter, 4 more per block; scratch space";

choice! {
    /// How reads of wordlines are counted.
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
        /// How reads of wordlines are counted.
        counters: Counters = Counters::SpaceSaving;
        /// Counters of each block (`space_saving`).
        entries: u32 = 32, unit "counters", range 1..=4096;
        /// Reads of a block between two checks.
        check_interval: u32 = 1_000, unit "reads", range 1..=1_000_000;
        /// Effective reads in the firmware's table, relative to what the chips endure: 100 is exact, more is
        /// optimistic.
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
    /// Wordlines of each group.
    sizes: [u32; 4],
    /// Reads to look ahead: until the next check, which a read of many attempts may pass by as many.
    ahead: u32,
    /// Readings that move a wordline, at most.
    to_move: u32,
    /// Wordlines that have been told to leave and may still be on their way: a bit each, by lane.
    #[serde(with = "raw")]
    leaving: Vec<u64>,
    /// Scratch: wordlines by how far they are from being due, see [`Crowd`].
    #[serde(with = "raw")]
    crowd: Vec<u32>,
    /// Scratch: reads beside each wordline of the block looked at (`space_saving`).
    #[serde(with = "raw")]
    beside: Vec<u32>,
}

/// What a wordline of a group is told by, at a block's cycles and reads: others' reads count 256, neighbours'
/// `adjacent_q8`, and more than `limit_q8` is too much.
#[derive(Clone, Copy)]
struct Bound {
    all: u64,
    adjacent_q8: u64,
    limit_q8: u64,
    /// Kept for the reads until the next check, all of a neighbour.
    ahead_q8: u64,
    /// Kept for the move of each neighbour, beyond what any move costs.
    move_beside_q8: u64,
}

impl Bound {
    /// What is left of the limit with so many reads beside a wordline and of its own, and so many neighbours that may
    /// move before it. Cells that hardly stand a move's readings are used to the half.
    #[inline]
    fn slack(&self, beside: u64, own: u64, neighbours: u64) -> i64 {
        let beside = beside.min(self.all);
        let others = (self.all - beside).saturating_sub(own);
        let kept = (self.ahead_q8 + neighbours * self.move_beside_q8).min(self.limit_q8 / 2);
        self.limit_q8 as i64 - (kept + (others << 8) + beside * self.adjacent_q8) as i64
    }
}

/// Buckets of a crowd.
const BUCKETS: usize = 1024;

/// Wordlines by what is left of their limits: who waits in line, and whether all of them can.
struct Crowd<'a> {
    buckets: &'a mut [u32],
    /// Width of a bucket in 1/256 read, as a power of two: the last bucket ends where no line is long enough to matter.
    width: u32,
    /// What moving one costs all others, in 1/256 read.
    move_q8: u64,
    /// Somebody is due already.
    late: bool,
}

impl<'a> Crowd<'a> {
    fn new(buckets: &'a mut [u32], wordlines: usize, to_move: u32) -> Self {
        buckets.fill(0);
        let move_q8 = u64::from(to_move) << 8;
        let width = (wordlines as u64 * move_q8).div_ceil(BUCKETS as u64).next_power_of_two().ilog2();
        Crowd { buckets, width, move_q8, late: false }
    }

    /// Whether a wordline with so much left matters, however many wait.
    #[inline]
    fn reaches(&self, slack: i64) -> bool {
        slack < (BUCKETS as i64) << self.width
    }

    /// So many wordlines have so much left.
    #[inline]
    fn add(&mut self, slack: i64, count: u32) {
        self.late |= slack < 0 && count > 0;
        if slack >= 0 && self.reaches(slack) {
            self.buckets[(slack >> self.width) as usize] += count;
        }
    }

    /// Whether somebody is due, or would be before all in front have moved.
    fn is_in_need(&self) -> bool {
        let mut upto = 0;
        self.late
            || (0u64..).zip(&*self.buckets).any(|(bucket, &count)| {
                upto += u64::from(count);
                count > 0 && (upto - 1) * self.move_q8 > bucket << self.width
            })
    }
}

/// Live wordlines of a block, less those on their way out: in their order, each with the number of its live neighbours.
struct Line<'a> {
    look: &'a Look<'a>,
    leaving: &'a [u64],
    wordlines: u32,
    before: Option<u32>,
    next: Option<u32>,
}

impl<'a> Line<'a> {
    fn new(look: &'a Look<'a>, leaving: &'a [u64], wordlines: u32) -> Self {
        let mut line = Line { look, leaving, wordlines, before: None, next: None };
        line.next = line.live(0);
        line
    }

    #[inline]
    fn live(&self, mut from: u32) -> Option<u32> {
        loop {
            let at = self.look.next_live(from, self.wordlines)?;
            if self.leaving[at as usize / 64] >> (at % 64) & 1 == 0 {
                return Some(at);
            }
            from = at + 1;
        }
    }
}

impl Iterator for Line<'_> {
    type Item = (u32, u64);

    #[inline]
    fn next(&mut self) -> Option<(u32, u64)> {
        let at = self.next?;
        self.next = self.live(at + 1);
        let below = self.before.is_some_and(|before| before + 1 == at);
        let above = self.next == Some(at + 1);
        self.before = Some(at);
        Some((at, u64::from(below) + u64::from(above)))
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
/// Wordlines of a block that can share counters, at most: the last number is nobody's.
const MOST_SHARING: u32 = NOBODY as u32;

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
            sizes: [0; 4],
            ahead: 0,
            to_move: 0,
            leaving: Vec::new(),
            crowd: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Words of a bit per wordline.
    fn words(&self) -> usize {
        self.group_of.len().div_ceil(64)
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

    /// What each group is told by.
    fn bounds(&self, look: &Look<'_>) -> [Bound; 4] {
        let all = u64::from(self.blocks[look.at.block as usize]);
        core::array::from_fn(|group| {
            let (limit, adjacent_q8) = self.table.at(group as u8, look.cycles);
            Bound {
                all,
                adjacent_q8,
                limit_q8: limit << 8,
                ahead_q8: u64::from(self.ahead) * adjacent_q8,
                move_beside_q8: u64::from(self.to_move) * adjacent_q8.saturating_sub(256),
            }
        })
    }

    fn closest_exact(&mut self, look: &Look<'_>, bounds: &[Bound; 4]) -> Option<u32> {
        let (groups, words) = (&self.group_of, self.words());
        let counts = &self.counts[look.at.block as usize * self.stride..][..groups.len()];
        let slack = |at: usize, neighbours: u64| {
            let below = if at > 0 { counts[at - 1] } else { 0 };
            let above = counts.get(at + 1).copied().unwrap_or(0);
            let beside = u64::from(below) + u64::from(above);
            bounds[usize::from(groups[at])].slack(beside, u64::from(counts[at]), neighbours)
        };
        // First as if all of them lived, which is quickly told.
        let mut crowd = Crowd::new(&mut self.crowd, groups.len(), self.to_move);
        (0..groups.len()).for_each(|at| crowd.add(slack(at, 2), 1));
        if !crowd.is_in_need() {
            return None;
        }
        let leaving = &self.leaving[look.lane() * words..][..words];
        let crowd = Crowd::new(&mut self.crowd, groups.len(), self.to_move);
        closest(Line::new(look, leaving, groups.len() as u32), crowd, slack)
    }

    /// The same by shared counters. A wordline's own reads are not told from those that its counter took over, so they
    /// count as disturbing it; a wordline without a counter was read at most as often as the least of them. Those with
    /// no counter beside them are all alike in their group, and it is enough to know how many they are.
    fn closest_shared(&mut self, look: &Look<'_>, bounds: &[Bound; 4]) -> Option<u32> {
        let (groups, words) = (&self.group_of, self.words());
        let wordlines = groups.len() as u32;
        let range = look.at.block as usize * self.stride..(look.at.block as usize + 1) * self.stride;
        let (holders, counts) = (&self.holders[range.clone()], &self.counts[range]);
        let unknown = counts[self.least[look.at.block as usize] as usize];
        let entries = Entries { holders, counts, unknown };
        let counted = || holders.iter().filter(|&&holder| holder != NOBODY).map(|&holder| u32::from(holder));
        let mut crowd = Crowd::new(&mut self.crowd, groups.len(), self.to_move);
        for (bound, &size) in bounds.iter().zip(&self.sizes) {
            crowd.add(bound.slack(2 * u64::from(unknown), 0, 2), size);
        }
        for at in counted().flat_map(|at| [at.checked_sub(1), Some(at + 1)]).flatten() {
            if at < wordlines {
                let below = if at > 0 { entries.reads(at - 1) } else { 0 };
                let above = if at + 1 < wordlines { entries.reads(at + 1) } else { 0 };
                crowd.add(bounds[usize::from(groups[at as usize])].slack(below + above, 0, 2), 1);
            }
        }
        if !crowd.is_in_need() {
            return None;
        }
        let beside = &mut self.beside[..];
        beside.fill(unknown.saturating_mul(2));
        for edge in [0, groups.len() - 1] {
            beside[edge] -= unknown.min(beside[edge]);
        }
        for (&holder, &count) in holders.iter().zip(counts).filter(|(holder, _)| **holder != NOBODY) {
            for at in [usize::from(holder).wrapping_sub(1), usize::from(holder) + 1] {
                if let Some(beside) = beside.get_mut(at) {
                    *beside = beside.saturating_add(count - unknown);
                }
            }
        }
        let slack = |at: usize, neighbours: u64| {
            bounds[usize::from(groups[at])].slack(u64::from(beside[at]), 0, neighbours)
        };
        let leaving = &self.leaving[look.lane() * words..][..words];
        let crowd = Crowd::new(&mut self.crowd, groups.len(), self.to_move);
        closest(Line::new(look, leaving, wordlines), crowd, slack)
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
}

impl Member for Policy {
    /// Makes its tables.
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, setup: &Setup<'_>) {
        self.table = ParameterTable::new(setup.cells, self.params.table_percent / 100.0);
        self.group_of = groups(setup);
        let exact = self.params.counters == Counters::Exact;
        self.stride = if exact { setup.wordlines } else { self.params.entries } as usize;
        let blocks = setup.physical_blocks as usize;
        self.blocks = vec![0; blocks];
        self.counts = vec![0; blocks * self.stride];
        let of_entries = if exact { 0 } else { blocks };
        self.holders = vec![NOBODY; of_entries * self.stride];
        self.least = vec![0; of_entries];
        self.sizes = [0; 4];
        for &group in &self.group_of {
            self.sizes[usize::from(group)] += 1;
        }
        self.ahead = self.params.check_interval + setup.readings_at_most - 1;
        self.to_move = setup.page_types * setup.readings_at_most;
        self.leaving = vec![0; setup.lanes as usize * self.words()];
        self.crowd = vec![0; BUCKETS];
        self.beside = vec![0; if exact { 0 } else { setup.wordlines as usize }];
    }

    /// Starts loading the counters of a wordline, or those that the wordlines of its block share.
    #[inline]
    fn prefetch(&self, physical: u32, wordline: u32) {
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
    fn on_read(&mut self, read: &PageRead) -> Urgency {
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

    /// The live wordline that is closest to its limit, if the block is in need.
    fn wants(&mut self, look: &Look<'_>, left: Option<Want>) -> Option<Want> {
        let words = self.words();
        let lane = look.lane() * words;
        match left.and_then(Want::as_wordline) {
            Some(at) => self.leaving[lane + at as usize / 64] |= 1 << (at % 64),
            None => self.leaving[lane..lane + words].fill(0),
        }
        let bounds = self.bounds(look);
        let crowd = Crowd::new(&mut self.crowd, self.group_of.len(), self.to_move);
        if !bounds.iter().any(|bound| crowd.reaches(bound.slack(bound.all, 0, 2))) {
            // Not even if all reads were of its neighbours.
            return None;
        }
        let exact = self.holders.is_empty();
        let found =
            if exact { self.closest_exact(look, &bounds) } else { self.closest_shared(look, &bounds) };
        found.map(Want::wordline)
    }

    /// Counts from zero.
    fn on_erase(&mut self, physical: u32) {
        let from = physical as usize * self.stride;
        self.blocks[physical as usize] = 0;
        self.counts[from..from + self.stride].fill(0);
        if !self.holders.is_empty() {
            self.holders[from..from + self.stride].fill(NOBODY);
            self.least[physical as usize] = 0;
        }
    }

    /// Its counters and table.
    fn memory_bytes(&self) -> usize {
        4 * (self.blocks.len() + self.counts.len() + self.least.len())
            + 2 * self.holders.len()
            + 4 * (self.crowd.len() + self.beside.len())
            + 8 * self.leaving.len()
            + 8 * self.table.erc_max.len()
    }

    fn memory_estimate(&self, size: &Size) -> u64 {
        size.wordlines.saturating_mul(4)
    }

    fn misfit(&self, geometry: &Geometry) -> Option<Misfit> {
        let wordlines = geometry.wordlines_per_block;
        let shares = self.params.counters == Counters::SpaceSaving;
        (shares && wordlines > MOST_SHARING).then(|| Misfit {
            keys: &["nand.geometry.wordlines_per_block", "ftl.read_reclaim.counters"],
            found: format!("{wordlines} wordlines of a block, whose reads share counters"),
            allowed: format!("at most {MOST_SHARING}, or ftl.read_reclaim.counters = \"exact\""),
        })
    }

    fn restored(&mut self, mut fresh: Policy) -> Verdict {
        alike("reads of blocks", &self.blocks, &fresh.blocks)?;
        alike("reads of wordlines", &self.counts, &fresh.counts)?;
        alike("wordlines that are counted", &self.holders, &fresh.holders)?;
        alike("the least counters", &self.least, &fresh.least)?;
        alike("wordlines that leave", &self.leaving, &fresh.leaving)?;
        fresh.blocks = core::mem::take(&mut self.blocks);
        fresh.counts = core::mem::take(&mut self.counts);
        fresh.holders = core::mem::take(&mut self.holders);
        fresh.least = core::mem::take(&mut self.least);
        fresh.leaving = core::mem::take(&mut self.leaving);
        within("the least counter", fresh.least.iter().copied(), fresh.stride)?;
        let wordlines = fresh.group_of.len();
        let is_one = |&holder: &u16| holder == NOBODY || usize::from(holder) < wordlines;
        ensure(fresh.holders.iter().all(is_one), "wordlines that are counted")?;
        alike("scratch", &self.crowd, &fresh.crowd)?;
        fresh.crowd = core::mem::take(&mut self.crowd);
        alike("scratch", &self.beside, &fresh.beside)?;
        fresh.beside = core::mem::take(&mut self.beside);
        *self = fresh;
        Ok(())
    }
}

/// Who of a block in need has least left; nobody if it is in none.
#[inline]
fn closest(line: Line<'_>, mut crowd: Crowd<'_>, slack: impl Fn(usize, u64) -> i64) -> Option<u32> {
    let mut closest = None;
    for (wordline, neighbours) in line {
        let slack = slack(wordline as usize, neighbours);
        crowd.add(slack, 1);
        if closest.is_none_or(|(_, least)| slack < least) {
            closest = Some((wordline, slack));
        }
    }
    closest.filter(|_| crowd.is_in_need()).map(|(wordline, _)| wordline)
}

/// The place of the least of some counters, the first of equals.
#[inline]
fn first_least(counts: &[u32]) -> usize {
    let least = counts.iter().copied().min().unwrap_or(0);
    counts.iter().position(|&count| count == least).unwrap_or(0)
}
