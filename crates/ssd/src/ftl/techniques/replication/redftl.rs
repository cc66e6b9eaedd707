//! redFTL: before a block must be reclaimed, the pages that are read most get a second copy in a block that is read
//! seldom, so that reads spread. Once that block has served enough of them, its copies become the pages.

use crate::ftl::read_reclaim::{Look, Member, PageRead, Part, ReadLimits, Setup, Size, Urgency, Want};
use crate::policy::Misfit;
use crate::restore::{Verdict, alike, ensure, keep_line, keep_room, within};
use crate::rng::Rng;
use crate::sections::Geometry;
use crate::snapshot::raw;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Name in configurations.
pub const NAME: &str = "redftl";
/// What it does.
pub const SUMMARY: &str =
    "replicates a block's most-read pages in the least-read blocks before its reads reach a limit";
/// Where it comes from.
pub const SOURCE: &str = "redFTL section 3.4 (also Ha, Jeong, Kim, APSys 2013)";
/// What it costs.
pub const MEMORY: &str = "12 bytes and a bit per page; 28 bytes per block; per mapping unit kept for replicas 16 \
    bytes (up to 32 before the table grows to the next power of two)";

choice! {
    /// What a page's rate is compared with.
    pub enum BlockRate {
        /// The mean rate of the block's valid pages: the block's rate over their number.
        Mean = "mean",
        /// The rate of all reads of the block: the letter of the paper. Only pages whose reads come in bursts pass it.
        Sum = "sum",
    }
}

section! {
    /// Parameters of `redftl`.
    pub struct Params {
        /// Reads that a block endures (MRC); 0 as in policy `block`.
        max_reads: u32 = 40_000, unit "reads", range 0..=10_000_000;
        /// Share of `max_reads` above which frequently read pages get replicas.
        replica_percent: f64 = 70.0, unit "%", range 1.0..=100.0;
        /// Share of `max_reads` above which the replicas in a block become the primary copies.
        migration_percent: f64 = 90.0, unit "%", range 1.0..=100.0;
        /// Share of `max_reads` at which a block is moved and erased.
        threshold_percent: f64 = 95.0, unit "%", range 1.0..=100.0;
        /// Share of `max_reads` between two searches for frequently read pages in a block (assumed).
        check_percent: f64 = 5.0, unit "%", range 0.1..=100.0;
        /// A page is frequently read if its read rate exceeds the block's by this factor (alpha).
        alpha: f64 = 2.0, range 0.0..=1000.0;
        /// The block's rate to compare with (`mean` is assumed).
        block_rate: BlockRate = BlockRate::Mean;
        /// Reads are even, and a random half of the pages gets replicas, if the coefficient of variation of the pages'
        /// rates is below this (assumed).
        even_variation: f64 = 0.25, range 0.0..=10.0;
        /// Share of all blocks, the least read, that enter the pool when it is filled (assumed).
        good_blocks_percent: f64 = 10.0, unit "%", range 0.01..=100.0;
        /// Pages at the end of each block that are reserved for replicas (the paper studies 0 to 15).
        replica_limit: u32 = 15, unit "pages", range 0..=4_096;
    }
    in_order replica_percent <= migration_percent;
    in_order migration_percent <= threshold_percent;
}

/// No page's rate is taken for more, so that sums of squares fit.
const MOST: u128 = 1 << 40;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    replicate_above: ReadLimits,
    adopt_above: ReadLimits,
    reclaim_at: ReadLimits,
    /// Reads between two looks.
    interval: ReadLimits,
    alpha_q8: u32,
    /// Square of the coefficient of variation below which reads are even.
    even_q16: u64,
    pages: u32,
    page_types: u32,
    /// Reads of the drive so far: the clock of accesses. It wraps.
    clock: u32,
    /// Readings since the erase, and what they were at the last look, by physical block: every attempt disturbs.
    #[serde(with = "raw")]
    blocks: Vec<u32>,
    #[serde(with = "raw")]
    looked: Vec<u32>,
    /// First and last access.
    #[serde(with = "raw")]
    block_span: Vec<[u32; 2]>,
    /// Accesses of pages, wordline by wordline, type by type: attempts to correct one make no page hotter.
    #[serde(with = "raw")]
    page_reads: Vec<u32>,
    #[serde(with = "raw")]
    page_span: Vec<[u32; 2]>,
    /// Pages found to be read often, a bit each, in words by physical block.
    #[serde(with = "raw")]
    often: Vec<u64>,
    words: usize,
    /// The good block pool: first in, first out.
    pool: VecDeque<u32>,
    pool_size: u32,
    #[serde(with = "raw")]
    candidates: Vec<u32>,
    rng: Rng,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            replicate_above: ReadLimits::default(),
            adopt_above: ReadLimits::default(),
            reclaim_at: ReadLimits::default(),
            interval: ReadLimits::default(),
            alpha_q8: 0,
            even_q16: 0,
            pages: 0,
            page_types: 1,
            clock: 0,
            blocks: Vec::new(),
            looked: Vec::new(),
            block_span: Vec::new(),
            page_reads: Vec::new(),
            page_span: Vec::new(),
            often: Vec::new(),
            words: 0,
            pool: VecDeque::new(),
            pool_size: 0,
            candidates: Vec::new(),
            rng: Rng::named(0, ""),
        }
    }

    /// Whether the replicas in a block should become pages, and were not asked to.
    #[inline]
    fn adopts(&self, block: usize, cycles: u32) -> bool {
        let above = self.adopt_above.at(cycles);
        self.blocks[block] > above && self.looked[block] <= above
    }

    /// Whether pages of a block that are read often should be looked for.
    #[inline]
    fn replicates(&self, block: usize, cycles: u32) -> bool {
        let (reads, looked) = (self.blocks[block], self.looked[block]);
        let above = self.replicate_above.at(cycles);
        self.params.replica_limit > 0
            && reads > above
            && (looked <= above || reads - looked >= self.interval.at(cycles))
    }

    /// The next page read often that has no replica, and a block for it.
    fn next_replica(&mut self, look: &Look<'_>, block: usize, from: u32) -> Option<Want> {
        let often =
            |place: &u32| self.often[block * self.words + *place as usize / 64] >> (place % 64) & 1 == 1;
        let place = (from..self.pages).filter(often).find(|&place| look.lacks_replica(place))?;
        self.good_block(look, block as u32).map(|to| Want::replica(place, to))
    }

    /// Rate of a page over one read in the block's time: reads over the time from the first to the last access (of a
    /// single read that time is not known, and the block's is taken), in 1/256.
    fn rate_q8(&self, page: usize, block_time: u32) -> u128 {
        let [first, last] = self.page_span[page];
        let reads = self.page_reads[page];
        let time = if reads > 1 { last.wrapping_sub(first) } else { block_time };
        let read = (u128::from(reads) * u128::from(block_time)) << 8;
        (read / u128::from(time.max(1))).min(MOST)
    }

    /// Marks the pages that are read often: half of them, by lot, if all are read alike, else those read faster than
    /// the block.
    fn find_pages_read_often(&mut self, look: &Look<'_>, block: usize) {
        let base = block * self.pages as usize;
        let [first, last] = self.block_span[block];
        let time = last.wrapping_sub(first).max(1);
        let (mut valid, mut sum, mut squares) = (0u32, 0u128, 0u128);
        for place in (0..self.pages).filter(|&place| look.is_valid(place)) {
            let rate = self.rate_q8(base + place as usize, time);
            (valid, sum, squares) = (valid + 1, sum + rate, squares + rate * rate);
        }
        if valid == 0 {
            return;
        }
        let marks = block * self.words..(block + 1) * self.words;
        // n sum x^2 - (sum x)^2 is (n sigma)^2, and (sum x)^2 is (n mean)^2.
        let spread = u128::from(valid) * squares - sum * sum;
        let even = spread << 16 < u128::from(self.even_q16) * sum * sum;
        if even && valid > 1 && self.often[marks].iter().all(|&word| word == 0) {
            return self.choose_half(look, block, valid);
        }
        let divisor = if self.params.block_rate == BlockRate::Mean { valid } else { 1 };
        let accesses: u128 =
            self.page_reads[base..][..self.pages as usize].iter().copied().map(u128::from).sum();
        let of_block_q8 = accesses << 8;
        for place in (0..self.pages).filter(|&place| look.is_valid(place)) {
            let rate = self.rate_q8(base + place as usize, time) * u128::from(divisor);
            if rate << 8 > u128::from(self.alpha_q8) * of_block_q8 {
                self.often[block * self.words + place as usize / 64] |= 1 << (place % 64);
            }
        }
    }

    /// Marks a random half of the valid pages (Knuth's selection sampling).
    fn choose_half(&mut self, look: &Look<'_>, block: usize, valid: u32) {
        let (mut left, mut wanted) = (valid, valid / 2);
        for place in (0..self.pages).filter(|&place| look.is_valid(place)) {
            if self.rng.below(left) < wanted {
                self.often[block * self.words + place as usize / 64] |= 1 << (place % 64);
                wanted -= 1;
            }
            left -= 1;
        }
    }

    /// The block that has been longest in the pool and can take a replica; it leaves the pool, for with what is read
    /// often in it, it will not stay good. An empty pool is filled with the blocks read least of those that can: first
    /// with such that hold no replica, then with such that hold one, and so on up to the limit.
    fn good_block(&mut self, look: &Look<'_>, source: u32) -> Option<u32> {
        let healthier = |blocks: &[u32], at: u32| blocks[at as usize] < blocks[source as usize];
        while let Some(at) = self.pool.pop_front() {
            if look.may_hold(at) && healthier(&self.blocks, at) {
                return Some(at);
            }
        }
        let blocks = &self.blocks;
        self.candidates.clear();
        self.candidates
            .extend((0..blocks.len() as u32).filter(|&at| look.may_hold(at) && healthier(blocks, at)));
        let harm = |&at: &u32| (look.replicas_in(at), blocks[at as usize], at);
        let size = (self.pool_size as usize).min(self.candidates.len());
        if size < self.candidates.len() {
            self.candidates.select_nth_unstable_by_key(size, harm);
        }
        let good = &mut self.candidates[..size];
        good.sort_unstable_by_key(harm);
        self.pool.extend(good.iter());
        self.candidates.clear();
        self.pool.pop_front()
    }
}

impl Member for Policy {
    /// Makes its tables.
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, setup: &Setup<'_>) {
        let params = &self.params;
        let limits = |percent: f64| ReadLimits::new(setup.cells, params.max_reads, percent / 100.0);
        self.replicate_above = limits(params.replica_percent);
        self.adopt_above = limits(params.migration_percent);
        self.reclaim_at = limits(params.threshold_percent);
        self.interval = limits(params.check_percent);
        self.alpha_q8 = libm::round(params.alpha * 256.0) as u32;
        self.even_q16 = libm::round(params.even_variation * params.even_variation * 65_536.0) as u64;
        (self.pages, self.page_types) = (setup.wordlines * setup.page_types, setup.page_types);
        let (blocks, words) = (setup.physical_blocks as usize, self.pages.div_ceil(64) as usize);
        self.blocks = vec![0; blocks];
        self.looked = vec![0; blocks];
        self.block_span = vec![[0; 2]; blocks];
        self.page_reads = vec![0; blocks * self.pages as usize];
        self.page_span = vec![[0; 2]; blocks * self.pages as usize];
        (self.often, self.words) = (vec![0; blocks * words], words);
        let share = f64::from(setup.physical_blocks) * params.good_blocks_percent / 100.0;
        self.pool_size = libm::ceil(share).clamp(1.0, f64::from(setup.physical_blocks)) as u32;
        self.pool = VecDeque::with_capacity(self.pool_size as usize);
        self.candidates = Vec::with_capacity(blocks);
        self.rng = Rng::named(setup.seed, "ftl/read_reclaim/redftl");
    }

    /// Counts the read. What a block stands is a matter of readings. What is read often is one of accesses: rates are
    /// "read access counts" over "logical read access times", which grow by one with a read of any page (sections
    /// 3.3.1, 3.4.2), and the paper knows no retries. If those counted, pages would be taken for hot that are hard to
    /// read.
    #[inline]
    fn on_read(&mut self, read: &PageRead) -> Urgency {
        let block = read.physical as usize;
        if read.access {
            let place = read.wordline * self.page_types + u32::from(read.page_type);
            let page = block * self.pages as usize + place as usize;
            self.clock = self.clock.wrapping_add(1);
            note(&mut self.block_span[block], self.clock);
            note(&mut self.page_span[page], self.clock);
            self.page_reads[page] = self.page_reads[page].saturating_add(1);
        }
        self.blocks[block] = self.blocks[block].saturating_add(read.readings);
        let reads = self.blocks[block];
        if reads <= self.replicate_above.at(read.cycles) && reads < self.reclaim_at.at(read.cycles) {
            return Urgency::No;
        }
        let due = reads >= self.reclaim_at.at(read.cycles)
            || self.adopts(block, read.cycles)
            || self.replicates(block, read.cycles);
        if due { Urgency::Now } else { Urgency::No }
    }

    /// The whole block at its limit; before that, first that replicas become pages, then replicas one by one.
    fn wants(&mut self, look: &Look<'_>, left: Option<Want>) -> Option<Want> {
        let block = look.at.block as usize;
        match left {
            None => {
                if self.blocks[block] >= self.reclaim_at.at(look.cycles) {
                    return Some(Want::BLOCK);
                }
                if look.is_filling() {
                    return None;
                }
                let adopts = self.adopts(block, look.cycles);
                if self.replicates(block, look.cycles) {
                    self.find_pages_read_often(look, block);
                }
                self.looked[block] = self.blocks[block];
                if adopts { Some(Want::ADOPT) } else { self.next_replica(look, block, 0) }
            }
            Some(Want { part: Part::Page(place), .. }) => self.next_replica(look, block, place + 1),
            Some(_) => self.next_replica(look, block, 0),
        }
    }

    /// Counts from zero.
    fn on_erase(&mut self, physical: u32) {
        let (block, pages) = (physical as usize, self.pages as usize);
        (self.blocks[block], self.looked[block], self.block_span[block]) = (0, 0, [0; 2]);
        self.page_reads[block * pages..(block + 1) * pages].fill(0);
        self.page_span[block * pages..(block + 1) * pages].fill([0; 2]);
        self.often[block * self.words..(block + 1) * self.words].fill(0);
    }

    /// Its counters, the pool and limits.
    fn memory_bytes(&self) -> usize {
        let limits = [&self.replicate_above, &self.adopt_above, &self.reclaim_at, &self.interval];
        let limits: usize = limits.iter().map(|limits| limits.0.len()).sum();
        let words = self.blocks.len() + self.looked.len() + self.page_reads.len();
        let spans = self.block_span.len() + self.page_span.len();
        // Candidates are needed only while the pool is filled, one word a block.
        4 * (words + limits + self.pool_size as usize + self.blocks.len()) + 8 * (spans + self.often.len())
    }

    fn memory_estimate(&self, size: &Size) -> u64 {
        size.pages.saturating_mul(12)
    }

    fn replica_pages_per_block(&self) -> u32 {
        self.params.replica_limit
    }

    fn misfit(&self, geometry: &Geometry) -> Option<Misfit> {
        let (kept, pages) = (self.params.replica_limit, geometry.pages_per_block());
        (kept >= pages).then(|| Misfit {
            keys: &["ftl.read_reclaim.replica_limit", "nand.geometry.wordlines_per_block"],
            found: format!("{kept} of {pages} pages of each block reserved for replicas"),
            allowed: format!("at most {}, so that data has a page", pages - 1),
        })
    }

    fn restored(&mut self, mut fresh: Policy) -> Verdict {
        alike("reads of blocks", &self.blocks, &fresh.blocks)?;
        alike("reads at the last look", &self.looked, &fresh.looked)?;
        alike("accesses of blocks", &self.block_span, &fresh.block_span)?;
        alike("reads of pages", &self.page_reads, &fresh.page_reads)?;
        alike("accesses of pages", &self.page_span, &fresh.page_span)?;
        alike("pages read often", &self.often, &fresh.often)?;
        fresh.blocks = core::mem::take(&mut self.blocks);
        fresh.looked = core::mem::take(&mut self.looked);
        fresh.block_span = core::mem::take(&mut self.block_span);
        fresh.page_reads = core::mem::take(&mut self.page_reads);
        fresh.page_span = core::mem::take(&mut self.page_span);
        fresh.often = core::mem::take(&mut self.often);
        within("blocks of the pool", self.pool.iter().copied(), fresh.blocks.len())?;
        ensure(self.pool.len() <= fresh.pool_size as usize, "blocks of the pool")?;
        keep_line(&mut self.pool, &fresh.pool);
        (fresh.pool, fresh.clock) = (core::mem::take(&mut self.pool), self.clock);
        fresh.rng = self.rng.clone();
        keep_room(&mut self.candidates, &fresh.candidates);
        fresh.candidates = core::mem::take(&mut self.candidates);
        *self = fresh;
        Ok(())
    }
}

/// An access at time `now`. (Where there were only readings there is no first one yet.)
#[inline]
fn note(span: &mut [u32; 2], now: u32) {
    *span = [if *span == [0; 2] { now } else { span[0] }, now];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::cell::{CellModel, CellPart};

    /// Two blocks of 4 pages, which stand 100 reads.
    fn policy(percent: f64) -> Policy {
        let cells = CellModel::new(CellPart::default()).unwrap();
        let mut policy = Policy::new(&Params {
            max_reads: 100,
            replica_percent: percent,
            migration_percent: percent,
            threshold_percent: percent,
            ..Params::default()
        });
        policy.learn(&Setup {
            readings_at_most: 9,
            lanes: 1,
            cells: &cells,
            physical_blocks: 2,
            wordlines: 4,
            page_types: 1,
            logical_units: 6,
            seed: 1,
        });
        policy
    }

    fn read(wordline: u32, readings: u32, access: bool) -> PageRead {
        PageRead { physical: 1, wordline, page_type: 0, mode: 0, cycles: 0, readings, access }
    }

    #[test]
    fn what_a_block_stands_is_counted_in_readings() {
        let mut policy = policy(50.0);
        // Seven readings for each access: 49 after seven of them.
        for _ in 0..7 {
            assert_eq!(policy.on_read(&read(0, 1, true)), Urgency::No);
            assert_eq!(policy.on_read(&read(0, 6, false)), Urgency::No);
        }
        assert_eq!(policy.on_read(&read(3, 1, true)), Urgency::Now);
        policy.on_erase(1);
        // Reads of an age step, all at once.
        assert_eq!(policy.on_read(&read(2, 49, false)), Urgency::No);
        assert_eq!(policy.on_read(&read(2, 1, true)), Urgency::Now);
    }

    #[test]
    fn what_is_hot_is_counted_in_accesses() {
        let (mut plain, mut hard) = (policy(100.0), policy(100.0));
        for turn in 0..12 {
            for policy in [&mut plain, &mut hard] {
                _ = policy.on_read(&read(turn % 3, 1, true));
            }
            _ = hard.on_read(&read(turn % 3, 5 * (turn % 3), false));
        }
        let heat = |policy: &Policy| {
            (policy.clock, policy.block_span[1], [4, 5, 6, 7].map(|page| policy.rate_q8(page, 11)))
        };
        // Four accesses in the 9 steps from the first to the last, in a block's time of 11.
        let rate = 4 * 11 * 256 / 9;
        assert_eq!(heat(&plain), (12, [1, 12], [rate, rate, rate, 0]));
        assert_eq!(heat(&hard), heat(&plain));
        // Readings: 4 of each page, and 4 times 5 and 10 more.
        assert_eq!([plain.blocks[1], hard.blocks[1]], [12, 72]);
    }
}
