//! As late as can be, with the chips' own knowledge: a wordline moves when waiting for one more read could lose data.
//!
//! It counts every reading of every wordline, as the chips do, and knows what each wordline endures at its very cycles
//! and how far it can be disturbed before a page of it may need a second attempt: their own tables, in their own units.
//! No drive can be built so; it tells what exact counters and late moves are worth.
//!
//! At each look it plays through that the host reads the worst page as often as it may before the next look, and then
//! all that lives leaves the block, closest to its limit first, each disturbing what is still there. While everybody
//! would get away nothing moves; if not, the closest does, and the rest is played through anew. What it does not know
//! is how many attempts a page beyond its plain range takes, which noise decides: it counts as many as there can be.
//! Nor does it keep for cleaning, which reads a block in page order: what is close to its limit can be lost there.
//!
//! It does not look into the future, and is no bound on what a drive copies: who moves wordlines early spares their
//! neighbours, which are then read beside no more, and the readings of a late move. In blocks of few wordlines that is
//! worth a fifth of all copies. What every policy must copy is in `docs/models/read_reclaim_bound.md`.

use super::{ChipLook, Look, Member, PageRead, Setup, Size, Urgency, Want, groups};
use crate::nand::aging::build::disturb_truth;
use crate::nand::aging::tables::Endurance;
use crate::prefetch::prefetch;
use crate::restore::{Verdict, alike, keep_room};
use crate::snapshot::raw;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "lazy_exact";
/// What it does.
pub const SUMMARY: &str =
    "moves wordlines just before reads could lose them, by the chips' counters: impossible in a real drive";
/// Where it comes from.
pub const SOURCE: &str = "this project: calibration section 2.3 with the chips' own table and counters";
/// What it costs.
pub const MEMORY: &str = "cannot be built: 13 bytes per wordline and 16 per block; scratch space";

section! {
    /// Parameters of `lazy_exact`.
    pub struct Params {
        /// Reads of a neighbour that a wordline must still endure: the number of pages that can be read between two
        /// checks, by one command or several. The default assumes commands of at most 16 pages, one at a time; 1 is
        /// enough for one-page commands if no time is simulated. Otherwise reads continue during moves, and a higher
        /// value is needed.
        ahead_reads: u32 = 16, unit "reads", range 1..=1_000_000;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    group_of: Vec<u8>,
    /// A wordline of each group.
    of_group: [Option<u32>; 4],
    /// The chips' own: harm of a reading by mode and page type in units of the counters, what wordlines endure.
    weights: Vec<[u32; 4]>,
    endurance: Endurance,
    /// Harm of the worst reading, and of one of each page of a wordline.
    worst: u64,
    move_once: u64,
    /// How often one read senses its page at most.
    readings_at_most: u64,
    /// Harm done since the erase, by physical block.
    #[serde(with = "raw")]
    blocks: Vec<u64>,
    /// Harm done since the erase, by wordline.
    #[serde(with = "raw")]
    counts: Vec<u32>,
    /// Wordlines that have left their block.
    #[serde(with = "raw")]
    gone: Vec<u8>,
    /// Harm to the block at which a wordline makes what was played through untrue: where it would be lost, or no longer
    /// be read plainly.
    #[serde(with = "raw")]
    due: Vec<u64>,
    /// The first of them, by physical block.
    #[serde(with = "raw")]
    look_at: Vec<u64>,
    /// Scratch, by wordline of the block looked at: how far it is disturbed, how far from its limit, what its move does
    /// to others, whether it may take many readings, and who is closest.
    #[serde(with = "raw")]
    erc: Vec<u64>,
    #[serde(with = "raw")]
    slack: Vec<i64>,
    #[serde(with = "raw")]
    harm: Vec<u64>,
    #[serde(with = "raw")]
    hard: Vec<u8>,
    #[serde(with = "raw")]
    line: Vec<u32>,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            group_of: Vec::new(),
            of_group: [None; 4],
            weights: Vec::new(),
            endurance: Endurance::default(),
            worst: 0,
            move_once: 0,
            readings_at_most: 0,
            blocks: Vec::new(),
            counts: Vec::new(),
            gone: Vec::new(),
            due: Vec::new(),
            look_at: Vec::new(),
            erc: Vec::new(),
            slack: Vec::new(),
            harm: Vec::new(),
            hard: Vec::new(),
            line: Vec::new(),
        }
    }

    /// How far a wordline is disturbed.
    #[inline]
    fn effective(&self, physical: u32, wordline: usize, adjacent_q16: u64) -> u64 {
        let wordlines = self.group_of.len();
        let counts = &self.counts[physical as usize * wordlines..][..wordlines];
        let below = if wordline > 0 { counts[wordline - 1] } else { 0 };
        let above = if wordline + 1 < wordlines { counts[wordline + 1] } else { 0 };
        let beside = u64::from(below) + u64::from(above);
        let others = self.blocks[physical as usize].saturating_sub(beside + u64::from(counts[wordline]));
        others + ((beside * adjacent_q16) >> 16)
    }

    /// Puts the live wordlines in line, closest first, as they would stand after one more read; returns the harm of a
    /// neighbour's read and the end of the plain range of each group.
    fn line_up(&mut self, look: &Look<'_>, chips: &ChipLook<'_>) -> ([u64; 4], [u64; 4]) {
        let (wordlines, block) = (self.group_of.len(), look.at.block);
        let gone = block as usize * wordlines;
        let adjacent_q16 =
            core::array::from_fn::<_, 4, _>(|group| self.endurance.adjacent_q16(group, look.cycles));
        let plain = self.of_group.map(|at| at.map_or(u64::MAX, |at| chips.plain_until(look, at)));
        let reads = self.worst * u64::from(self.params.ahead_reads);
        self.line.clear();
        let mut any_hard = false;
        for at in 0..wordlines {
            self.hard[at] = 0;
            if self.gone[gone + at] != 0 {
                continue;
            }
            if !look.has_live(at as u32) {
                // In a block that is full nothing is written there any more.
                self.gone[gone + at] = u8::from(!look.is_filling());
                continue;
            }
            let group = usize::from(self.group_of[at]);
            self.erc[at] = self.effective(block, at, adjacent_q16[group]);
            let soon = self.erc[at] + self.most_of_a_read(reads, adjacent_q16[group]);
            self.hard[at] = u8::from(soon > plain[group]);
            any_hard |= self.hard[at] != 0;
            self.line.push(at as u32);
        }
        let readings = |is_hard| if is_hard { self.readings_at_most } else { 1 };
        for &at in &self.line {
            let at = at as usize;
            let group = usize::from(self.group_of[at]);
            let beside =
                (at > 0 && self.hard[at - 1] != 0) || self.hard.get(at + 1).is_some_and(|&hard| hard != 0);
            let by_neighbour = (reads * readings(beside) * adjacent_q16[group]) >> 16;
            self.erc[at] += by_neighbour.max(reads * readings(any_hard)) + 1;
            self.slack[at] = self.endurance.most(group, look.cycles) as i64 - self.erc[at] as i64;
        }
        let slack = &self.slack;
        self.line.sort_unstable_by_key(|&at| (slack[at as usize], at));
        (adjacent_q16, plain)
    }

    /// What so much harm of single readings comes to at most beside a wordline.
    fn most_of_a_read(&self, reads: u64, adjacent_q16: u64) -> u64 {
        ((reads * self.readings_at_most * adjacent_q16) >> 16) + 1
    }

    /// Lets all leave as they stand in line, and tells whether everybody gets away; notes for each how much more harm
    /// changes nothing.
    fn play(&mut self, look: &Look<'_>, adjacent_q16: &[u64; 4], plain: &[u64; 4]) -> bool {
        let wordlines = self.group_of.len();
        let block = look.at.block as usize;
        let reads = self.worst * u64::from(self.params.ahead_reads);
        self.harm.fill(0);
        let mut all = 0;
        for &at in &self.line {
            let at = at as usize;
            let group = usize::from(self.group_of[at]);
            let below = if at > 0 { self.harm[at - 1] } else { 0 };
            let beside = below + self.harm.get(at + 1).copied().unwrap_or(0);
            let waited = all + ((beside * (adjacent_q16[group] - 65_536)) >> 16);
            let Some(mut left) = (self.slack[at] - waited as i64).try_into().ok() else { return false };
            if self.hard[at] == 0 {
                // It is told that it will be hard as soon as the worst read could make it so.
                let soon = self.most_of_a_read(reads, adjacent_q16[group]);
                left = u64::min(left, plain[group].saturating_sub(self.erc[at] + soon));
            }
            let is_plain = self.erc[at] + waited <= plain[group];
            if is_plain {
                left = u64::min(left, plain[group] - self.erc[at] - waited);
            }
            self.due[block * wordlines + at] = self.blocks[block] + left + 1;
            self.harm[at] = self.move_once * if is_plain { 1 } else { self.readings_at_most };
            all += self.harm[at];
        }
        true
    }

    fn first_due(&self, block: usize) -> u64 {
        let due = &self.due[block * self.group_of.len()..];
        self.line.iter().map(|&at| due[at as usize]).min().unwrap_or(u64::MAX)
    }
}

impl Member for Policy {
    /// Makes its tables.
    fn learn(&mut self, setup: &Setup<'_>) {
        let (_, weights, endurance) = disturb_truth(setup.cells);
        let types = setup.page_types as usize;
        let of_mode = |weights: &[u32; 4]| weights.iter().take(types).copied().map(u64::from).sum();
        self.worst = weights.iter().flatten().copied().max().map_or(1, u64::from);
        self.move_once = weights.iter().map(of_mode).max().unwrap_or(1);
        self.readings_at_most = u64::from(setup.readings_at_most);
        (self.weights, self.endurance) = (weights, endurance);
        self.group_of = groups(setup);
        self.of_group = core::array::from_fn(|group| {
            (0..).zip(&self.group_of).find(|(_, of)| usize::from(**of) == group).map(|(at, _)| at)
        });
        let (blocks, wordlines) = (setup.physical_blocks as usize, setup.wordlines as usize);
        self.blocks = vec![0; blocks];
        self.counts = vec![0; blocks * wordlines];
        self.gone = vec![0; blocks * wordlines];
        self.due = vec![0; blocks * wordlines];
        self.look_at = vec![0; blocks];
        self.erc = vec![0; wordlines];
        self.slack = vec![0; wordlines];
        self.harm = vec![0; wordlines];
        self.hard = vec![0; wordlines];
        self.line = Vec::with_capacity(wordlines);
    }

    /// Starts loading the counter of a wordline.
    #[inline]
    fn prefetch(&self, physical: u32, wordline: u32) {
        prefetch(&self.counts, physical as usize * self.group_of.len() + wordline as usize);
    }

    /// Counts the read. What was played through stays true until the harm done to the block reaches what was then found
    /// for one of its wordlines; for those beside the read, which it harms more, that comes closer.
    #[inline]
    fn on_read(&mut self, read: &PageRead) -> Urgency {
        let wordlines = self.group_of.len();
        let (block, wordline) = (read.physical as usize, read.wordline as usize);
        let weight = self.weights[usize::from(read.mode)][usize::from(read.page_type)];
        let harm = weight.saturating_mul(read.readings);
        self.blocks[block] += u64::from(harm);
        let count = &mut self.counts[block * wordlines + wordline];
        *count = count.saturating_add(harm);
        for at in [wordline.wrapping_sub(1), wordline + 1] {
            if at < wordlines && self.gone[block * wordlines + at] == 0 {
                let adjacent_q16 = self.endurance.adjacent_q16(usize::from(self.group_of[at]), read.cycles);
                let more = ((u64::from(harm) * (adjacent_q16 - 65_536)) >> 16) + 1;
                let due = &mut self.due[block * wordlines + at];
                *due = due.saturating_sub(more);
                self.look_at[block] = self.look_at[block].min(*due);
            }
        }
        if self.blocks[block] >= self.look_at[block] { Urgency::Now } else { Urgency::No }
    }

    fn sees_chips(&self) -> bool {
        true
    }

    /// The live wordline that is closest to its limit, if not everybody would get away after one more read.
    fn wants_seeing(&mut self, look: &Look<'_>, chips: &ChipLook<'_>, left: Option<Want>) -> Option<Want> {
        let wordlines = self.group_of.len();
        let block = look.at.block as usize;
        if let Some(wordline) = left.and_then(Want::as_wordline) {
            self.gone[block * wordlines + wordline as usize] = 1;
        }
        let (adjacent_q16, plain) = self.line_up(look, chips);
        let is_safe = self.play(look, &adjacent_q16, &plain);
        self.look_at[block] = if is_safe { self.first_due(block) } else { 0 };
        let closest = self.line.first().filter(|_| !is_safe);
        closest.map(|&wordline| Want::wordline(wordline))
    }

    fn orders_leaving(&self) -> bool {
        true
    }

    /// The one closest to its limit.
    fn leaves_next(
        &mut self,
        look: &Look<'_>,
        chips: Option<&ChipLook<'_>>,
        left: Option<u32>,
    ) -> Option<(i64, u32)> {
        if let Some(wordline) = left {
            self.gone[look.at.block as usize * self.group_of.len() + wordline as usize] = 1;
        }
        self.line_up(look, chips?);
        self.line.first().map(|&at| (self.slack[at as usize], at))
    }

    /// Counts from zero.
    fn on_erase(&mut self, physical: u32) {
        let wordlines = self.group_of.len();
        let (block, from) = (physical as usize, physical as usize * wordlines);
        (self.blocks[block], self.look_at[block]) = (0, 0);
        self.counts[from..from + wordlines].fill(0);
        self.gone[from..from + wordlines].fill(0);
    }

    /// Its counters, if it could be built.
    fn memory_bytes(&self) -> usize {
        let by_wordline = 4 * self.counts.len() + self.gone.len() + 8 * self.due.len();
        by_wordline + 29 * self.group_of.len() + 16 * self.blocks.len()
    }

    fn memory_estimate(&self, size: &Size) -> u64 {
        size.wordlines.saturating_mul(13)
    }

    /// What wordlines endure it knows at every cycle.
    fn cycles_told_apart(&self) -> u32 {
        u32::MAX
    }

    fn restored(&mut self, mut fresh: Policy) -> Verdict {
        alike("harm to blocks", &self.blocks, &fresh.blocks)?;
        alike("harm to wordlines", &self.counts, &fresh.counts)?;
        alike("wordlines that left", &self.gone, &fresh.gone)?;
        alike("wordlines that come due", &self.due, &fresh.due)?;
        alike("blocks that come due", &self.look_at, &fresh.look_at)?;
        fresh.blocks = core::mem::take(&mut self.blocks);
        fresh.counts = core::mem::take(&mut self.counts);
        fresh.gone = core::mem::take(&mut self.gone);
        fresh.due = core::mem::take(&mut self.due);
        fresh.look_at = core::mem::take(&mut self.look_at);
        alike("scratch", &self.erc, &fresh.erc)?;
        fresh.erc = core::mem::take(&mut self.erc);
        alike("scratch", &self.slack, &fresh.slack)?;
        fresh.slack = core::mem::take(&mut self.slack);
        alike("scratch", &self.harm, &fresh.harm)?;
        fresh.harm = core::mem::take(&mut self.harm);
        alike("scratch", &self.hard, &fresh.hard)?;
        fresh.hard = core::mem::take(&mut self.hard);
        keep_room(&mut self.line, &fresh.line);
        fresh.line = core::mem::take(&mut self.line);
        *self = fresh;
        Ok(())
    }
}
