//! The physical lower bound: a wordline moves when its next read could lose it, and not before.
//!
//! It counts every reading of every wordline, as the chips do, and knows what each wordline endures at its very cycles:
//! their own table, in their own units. No drive can be built so; it tells how much of what others copy had to be
//! copied. "Could lose it" means: the worst next read of a neighbour, and then the reads that empty the block, each of
//! which disturbs what is still there (a block whose wordlines all stand at their limits could not even be moved
//! away). A read of these counts one reading: where a page needs many attempts, and cells stand few reads, that is not
//! enough.

use super::{Facts, Look, PageRead, Urgency, Want, groups};
use crate::nand::aging::tables::Endurance;
use crate::nand::cell::build::disturb_truth;
use crate::prefetch::prefetch;
use crate::snapshot::raw;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "oracle";
/// What it does.
pub const SUMMARY: &str =
    "moves single wordlines when their next read could lose them; a bound, no drive can do it";
/// Where it comes from.
pub const SOURCE: &str =
    "lower bound of this project: calibration 2.3 with the chips' own table and counters";
/// What it costs.
pub const MEMORY: &str = "not to be built: 5 bytes per wordline and 20 per block";

section! {
    /// Parameters of `oracle`.
    pub struct Params {
        /// Reads of a neighbour that a wordline must still stand. 1 is the bound where moves take no time; where they
        /// take time reads go on meanwhile, and only more of them are safe.
        ahead_reads: u32 = 1, unit "reads", range 1..=1_000_000;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    group_of: Vec<u8>,
    page_types: u32,
    /// The chips' own: harm of a reading by mode and page type in units of the counters, the largest, what wordlines
    /// endure.
    weights: Vec<[u32; 4]>,
    worst: u64,
    endurance: Endurance,
    /// Harm done since the erase, by physical block.
    #[serde(with = "raw")]
    blocks: Vec<u64>,
    /// The same by wordline.
    #[serde(with = "raw")]
    counts: Vec<u32>,
    /// Wordlines that have left their block.
    #[serde(with = "raw")]
    gone: Vec<u8>,
    /// Harm at which a wordline that was not read beside could be due.
    #[serde(with = "raw")]
    look_at: Vec<u64>,
    /// Pages that emptying the block reads.
    #[serde(with = "raw")]
    to_empty: Vec<u32>,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            group_of: Vec::new(),
            page_types: 0,
            weights: Vec::new(),
            worst: 0,
            endurance: Endurance::default(),
            blocks: Vec::new(),
            counts: Vec::new(),
            gone: Vec::new(),
            look_at: Vec::new(),
            to_empty: Vec::new(),
        }
    }

    /// Makes its tables.
    pub fn learn(&mut self, facts: &Facts<'_>) {
        let (_, weights, endurance) = disturb_truth(facts.cells);
        self.worst = weights.iter().flatten().copied().max().map_or(1, u64::from);
        (self.weights, self.endurance) = (weights, endurance);
        (self.group_of, self.page_types) = (groups(facts), facts.page_types);
        let (blocks, wordlines) = (facts.physical_blocks as usize, facts.wordlines as usize);
        self.blocks = vec![0; blocks];
        self.counts = vec![0; blocks * wordlines];
        self.gone = vec![0; blocks * wordlines];
        self.look_at = vec![0; blocks];
        self.to_empty = vec![facts.wordlines * facts.page_types; blocks];
    }

    /// Harm that a wordline still stands, less what must be kept; negative when it is due.
    #[inline]
    fn slack(&self, physical: u32, wordline: usize, cycles: u32) -> i64 {
        let wordlines = self.group_of.len();
        let counts = &self.counts[physical as usize * wordlines..][..wordlines];
        let below = if wordline > 0 { counts[wordline - 1] } else { 0 };
        let above = if wordline + 1 < wordlines { counts[wordline + 1] } else { 0 };
        let group = usize::from(self.group_of[wordline]);
        let adjacent_q16 = self.endurance.adjacent_q16(group, cycles);
        let beside = u64::from(below) + u64::from(above);
        let others = self.blocks[physical as usize].saturating_sub(beside + u64::from(counts[wordline]));
        let erc = others + ((beside * adjacent_q16) >> 16);
        let reads_beside = u64::from(self.params.ahead_reads) + 2 * u64::from(self.page_types);
        let kept = ((reads_beside * self.worst * adjacent_q16) >> 16)
            + u64::from(self.to_empty[physical as usize]) * self.worst;
        let most = self.endurance.most(group, cycles);
        // Cells that do not even stand that are used to the half.
        most as i64 - (erc + kept.min(most / 2)) as i64
    }

    /// Starts loading the counter of a wordline.
    #[inline]
    pub fn prefetch(&self, physical: u32, wordline: u32) {
        prefetch(&self.counts, physical as usize * self.group_of.len() + wordline as usize);
    }

    /// Counts the read. Those beside it come closer by alpha reads, all others by one: for them it is enough to look
    /// when the block's reads have brought the closest of them to its limit.
    #[inline]
    pub fn on_read(&mut self, read: &PageRead) -> Urgency {
        let wordlines = self.group_of.len();
        let (block, wordline) = (read.physical as usize, read.wordline as usize);
        let weight = self.weights[usize::from(read.mode)][usize::from(read.page_type)];
        let harm = weight.saturating_mul(read.readings);
        self.blocks[block] += u64::from(harm);
        let count = &mut self.counts[block * wordlines + wordline];
        *count = count.saturating_add(harm);
        for at in [wordline.wrapping_sub(1), wordline + 1] {
            if at < wordlines && self.gone[block * wordlines + at] == 0 {
                let slack = self.slack(read.physical, at, read.cycles);
                let due = self.blocks[block] + (slack + 1).max(0) as u64;
                self.look_at[block] = self.look_at[block].min(due);
            }
        }
        if self.blocks[block] >= self.look_at[block] { Urgency::Now } else { Urgency::No }
    }

    /// The wordline with live data that is due and closest to its limit.
    pub fn wants(&mut self, look: &Look<'_>, left: Want) -> Want {
        let wordlines = self.group_of.len();
        let block = look.at.block as usize;
        if let Want::Wordline(wordline) = left {
            self.gone[block * wordlines + wordline as usize] = 1;
        }
        let pages = wordlines as u32 * self.page_types;
        self.to_empty[block] = if look.is_filling() { pages } else { look.live_pages_at_most() };
        let (mut closest, mut nearest) = (None, i64::MAX);
        for at in 0..wordlines {
            if self.gone[block * wordlines + at] != 0 {
                continue;
            }
            let live = look.has_live(at as u32);
            let slack = self.slack(look.at.block, at, look.cycles);
            if live && slack < 0 && closest.is_none_or(|(_, least)| slack < least) {
                closest = Some((at as u32, slack));
            }
            if live {
                nearest = nearest.min(slack);
            } else if !look.is_filling() {
                // Nothing is written there any more.
                self.gone[block * wordlines + at] = 1;
            }
        }
        self.look_at[block] = self.blocks[block].saturating_add(nearest.max(0) as u64).saturating_add(1);
        closest.map_or(Want::Nothing, |(wordline, _)| Want::Wordline(wordline))
    }

    /// Counts from zero.
    pub fn on_erase(&mut self, physical: u32) {
        let wordlines = self.group_of.len();
        let (block, from) = (physical as usize, physical as usize * wordlines);
        (self.blocks[block], self.look_at[block]) = (0, 0);
        self.counts[from..from + wordlines].fill(0);
        self.gone[from..from + wordlines].fill(0);
        self.to_empty[block] = wordlines as u32 * self.page_types;
    }

    /// Its counters, if it could be built.
    pub fn memory_bytes(&self) -> usize {
        4 * (self.counts.len() + self.to_empty.len()) + self.gone.len() + 8 * (2 * self.blocks.len())
    }
}
