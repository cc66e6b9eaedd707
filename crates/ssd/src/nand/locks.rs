//! What a chip keeps of pages and blocks that must not be read any more (Evanesco; RealWear chapter 5): a bit a page
//! and four bytes a block, where `ftl.sanitize` has anything done to them.
//!
//! A locked page or block answers zeros; a scrubbed wordline is noise, and so is a reprogrammed page, whose neighbours
//! on the wordline may be lost with it (`cell/reprogram.rs`). Only a completed erase takes that back. Flags of locks
//! weaken with time (`cell/lock.rs`): whether those of a page have is a quantile of its own, drawn once for each erase
//! of its block, so that a lock that is lost stays lost and nothing depends on when one looks. So is whether a page is
//! lost.

mod renewed;

use self::renewed::{Renewed, dated};
use super::cell::lock::{BLOCK_LOCK_US, BlockLock, PageLock, majority_lost};
use super::cell::reprogram::Spoiled;
use crate::restore::{MOST, Verdict, alike, ensure};
use crate::rng::{Rng, chance, mix};
use crate::sections::Sections;
use crate::snapshot::raw;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// What is done to pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sanitizing {
    /// Their flags, or that of their block, say that they must not be read.
    #[default]
    Locks,
    /// All cells of their wordline are programmed until no state can be told from another.
    Scrubs,
    /// The cells of their wordline are programmed once more, until the states that tell the page cannot be told from
    /// each other (one-shot reprogramming).
    Reprograms,
}

/// What somebody finds on a page who sends a chip every command that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw {
    /// What was programmed.
    Data,
    /// Zeros: the page or its block is locked.
    Zeros,
    /// Nothing: it was not programmed since the last erase.
    Erased,
    /// Nothing that says what was programmed.
    Noise,
}

/// In the word of a block: it is locked as a whole. Below it, the minute of its first lock, and one; 0 without any.
const BLOCK_LOCKED: u32 = 1 << 31;
/// In the word of a block with pages that were reprogrammed: it is used with one bit a cell, so each was its wordline.
const ONE_BIT: u32 = 1 << 30;
/// Nanoseconds of a minute.
const MINUTE_NS: u64 = 60_000_000_000;

/// What follows from the configuration.
#[derive(Clone, Debug)]
struct Rules {
    what: Sanitizing,
    pages_per_block: u32,
    pages_per_wordline: u32,
    cells: u32,
    page: PageLock,
    block: BlockLock,
    seed: u64,
    torn_seed: u64,
    spoiled: Spoiled,
    spoiled_seed: u64,
    fails: u64,
    hole: bool,
}

/// The flags of a drive's chips.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Locks {
    #[serde(skip)]
    rules: Option<Rules>,
    /// A bit for each page: it is locked or scrubbed.
    #[serde(with = "raw")]
    pages: Vec<u64>,
    #[serde(with = "raw")]
    blocks: Vec<u32>,
    /// Those that were set again since.
    renewed: Renewed,
    /// Pages of zeros that somebody who has the chips has made ([`Locks::blank`]). A drive's own chips have none.
    #[serde(skip)]
    zeros: Vec<(u32, u32)>,
    rng: Rng,
}

impl Locks {
    /// No flag is set on so many blocks.
    pub fn new(cfg: &Sections, what: Sanitizing, blocks: u32) -> Self {
        let g = &cfg.geometry;
        let pages = u64::from(blocks) * u64::from(g.pages_per_block());
        let time = BLOCK_LOCK_US.iter().position(|&us| us == cfg.timing.t_block_lock_us);
        let rules = Rules {
            what,
            pages_per_block: g.pages_per_block(),
            pages_per_wordline: g.bits_per_cell,
            cells: cfg.lock.cells,
            page: PageLock { voltage: cfg.lock.page_voltage, us: cfg.timing.t_page_lock_us },
            block: BlockLock { voltage: cfg.lock.block_voltage, time: time.unwrap_or_default() },
            seed: Rng::named(cfg.drive.seed, "nand/lock_flips").next_u64(),
            torn_seed: Rng::named(cfg.drive.seed, "nand/torn_locks").next_u64(),
            spoiled: Spoiled::new(&cfg.cells.effects),
            spoiled_seed: Rng::named(cfg.drive.seed, "nand/reprogrammed").next_u64(),
            fails: chance(cfg.reliability.lock_fail_ppm),
            hole: cfg.lock.copyback_hole,
        };
        Locks {
            rules: Some(rules),
            pages: vec![0; pages.div_ceil(64) as usize],
            blocks: vec![0; blocks as usize],
            renewed: Renewed::default(),
            zeros: Vec::new(),
            rng: Rng::named(cfg.drive.seed, "nand/lock_fail"),
        }
    }

    /// The same, of which some may be set again.
    pub fn renewing(mut self) -> Self {
        self.renewed = Renewed::new(self.blocks.len() as u32, self.rules().pages_per_block);
        self
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest: no page is marked that is not
    /// programmed, and none is locked in a block without a first lock.
    pub fn restored(&mut self, fresh: Locks, programmed: &[u32]) -> Verdict {
        alike("flags of pages", &self.pages, &fresh.pages)?;
        alike("flags of blocks", &self.blocks, &fresh.blocks)?;
        self.rules = fresh.rules;
        let rules = self.rules();
        let is_dated = rules.what != Sanitizing::Scrubs;
        for (block, &pages) in (0..).zip(programmed) {
            let word = self.blocks[block as usize];
            let dated = if rules.what == Sanitizing::Reprograms { word & !ONE_BIT } else { word };
            ensure(dated & !BLOCK_LOCKED < (MOST / MINUTE_NS) as u32 + 2, "when a block was locked first")?;
            ensure(dated != 0 || word == 0, "when a block was locked first")?;
            let is_possible = rules.what == Sanitizing::Locks || word & BLOCK_LOCKED == 0;
            ensure(is_possible && (is_dated || word == 0), "locks on chips that have none")?;
            ensure(word & BLOCK_LOCKED == 0 || word > BLOCK_LOCKED, "when a block was locked first")?;
            let is_marked = |page| self.is_marked(block, page);
            ensure(!(pages..rules.pages_per_block).any(is_marked), "a flag of a page that is erased")?;
            let is_whole = !is_dated || word != 0 || !(0..pages).any(is_marked);
            ensure(is_whole, "a locked page in a block that was never locked")?;
        }
        let beyond = programmed.len() as u64 * u64::from(rules.pages_per_block);
        let is_clear =
            beyond.is_multiple_of(64) || self.pages.last().is_none_or(|last| last >> (beyond % 64) == 0);
        ensure(is_clear, "flags beyond the last page")?;
        self.renewed.restored(
            &fresh.renewed,
            |block| self.blocks[block as usize],
            |block, page| self.is_marked(block, page),
        )
    }

    fn rules(&self) -> &Rules {
        self.rules.as_ref().expect("flags have the rules of a configuration, or are not yet restored")
    }

    /// Bytes of the flags.
    pub fn bytes(&self) -> usize {
        8 * self.pages.len() + 4 * self.blocks.len() + self.renewed.bytes()
    }

    fn place(&self, block: u32, page: u32) -> (usize, u64) {
        let at = u64::from(block) * u64::from(self.rules().pages_per_block) + u64::from(page);
        ((at / 64) as usize, 1 << (at % 64))
    }

    fn is_marked(&self, block: u32, page: u32) -> bool {
        let (word, bit) = self.place(block, page);
        self.pages[word] & bit != 0
    }

    /// Whether a page must not be read: the firmware never does.
    #[cold]
    #[inline(never)]
    pub fn forbid(&self, block: u32, page: u32) -> bool {
        self.blocks[block as usize] & BLOCK_LOCKED != 0 || self.is_marked(block, page)
    }

    fn mark(&mut self, block: u32, page: u32) {
        let (word, bit) = self.place(block, page);
        self.pages[word] |= bit;
    }

    fn date(&mut self, block: u32, now: SimTime) {
        let word = &mut self.blocks[block as usize];
        if *word == 0 {
            *word = dated(now);
        }
    }

    /// The lock of a page is set, or set again. Of those that may be, none is dated back to the first of its block once
    /// others are being set again.
    fn lock_page(&mut self, block: u32, page: u32, now: SimTime) {
        let is_again = self.is_marked(block, page) || self.renewed.word(block) != 0;
        self.mark(block, page);
        if !self.renewed.is_kept() || !is_again {
            return self.date(block, now);
        }
        self.renewed.take_page(block, page, now);
        let (first, second) = (self.blocks[block as usize], self.renewed.word(block));
        let is_all = (first & !second) & BLOCK_LOCKED == 0
            && (0..self.rules().pages_per_block)
                .all(|page| self.renewed.has(block, page) || !self.is_marked(block, page));
        if is_all {
            self.blocks[block as usize] = second;
            self.renewed.forget(block);
        }
    }

    /// Whether the chip says that a pulse has failed: it then has changed nothing.
    fn fails(&mut self) -> bool {
        let fails = self.rules().fails;
        self.rng.hits(fails)
    }

    /// The firmware senses a page, which must not be locked: whether it is lost, because others of its wordline were
    /// reprogrammed. What is lost once stays so.
    #[cold]
    #[inline(never)]
    pub fn is_lost(&self, block: u32, page: u32, cycles: u32, now: SimTime) -> bool {
        assert!(!self.forbid(block, page), "read of page {page} of block {block}, which is locked");
        let (rules, word) = (self.rules(), self.blocks[block as usize]);
        if rules.what != Sanitizing::Reprograms || word == 0 || word & ONE_BIT != 0 {
            return false;
        }
        let first = page / rules.pages_per_wordline * rules.pages_per_wordline;
        let pages = (first..first + rules.pages_per_wordline).filter(|&page| self.is_marked(block, page));
        let minutes = (now.0 / MINUTE_NS).saturating_sub(u64::from(word - 1));
        let odds = rules.spoiled.odds(pages.count() as u32, minutes as u32);
        quantile(rules.spoiled_seed, (block, page), cycles) < odds
    }

    /// A page is locked, reprogrammed, or scrubbed with its wordline, of a block of which so many are programmed; where
    /// that is used with one bit a cell it is its wordline. False if that has failed.
    pub fn take_page(&mut self, block: u32, page: u32, of_block: (u32, bool), now: SimTime) -> bool {
        let (programmed, one_bit) = of_block;
        if self.fails() {
            return false;
        }
        match self.rules().what {
            Sanitizing::Locks => self.lock_page(block, page, now),
            Sanitizing::Reprograms => {
                self.date(block, now);
                self.blocks[block as usize] |= if one_bit { ONE_BIT } else { 0 };
                self.mark(block, page);
            }
            Sanitizing::Scrubs if one_bit => self.mark(block, page),
            Sanitizing::Scrubs => {
                let width = self.rules().pages_per_wordline;
                let first = page / width * width;
                (first..(first + width).min(programmed)).for_each(|page| self.mark(block, page));
                self.mark(block, page);
            }
        }
        true
    }

    /// A block is locked. False if that failed.
    pub fn take_block(&mut self, block: u32, now: SimTime) -> bool {
        if self.fails() {
            return false;
        }
        if self.renewed.is_kept() && self.blocks[block as usize] != 0 {
            self.renewed.take_block(block, now);
        }
        self.date(block, now);
        self.blocks[block as usize] |= BLOCK_LOCKED;
        true
    }

    /// A block was erased: its flags are as new.
    pub fn erased(&mut self, block: u32) {
        self.blocks[block as usize] = 0;
        self.zeros.retain(|zeros| zeros.0 != block);
        if self.renewed.is_kept() {
            self.renewed.forget(block);
        }
        let count = self.rules().pages_per_block;
        for page in 0..count {
            let (word, bit) = self.place(block, page);
            self.pages[word] &= !bit;
        }
    }

    /// What a page answers, of which so many of its block were programmed after so many erases, at a time: so many
    /// minutes later than `now`, in which nothing else happens.
    pub fn answer(
        &self,
        (block, page): (u32, u32),
        (programmed, cycles): (u32, u32),
        at: (SimTime, u64),
    ) -> Raw {
        if self.block_holds(block, at) {
            return Raw::Zeros;
        }
        match (page < programmed, self.is_marked(block, page), self.rules().what) {
            (false, ..) => Raw::Erased,
            (true, false, _) if self.zeros.contains(&(block, page)) => Raw::Zeros,
            (true, false, _) => Raw::Data,
            (true, true, Sanitizing::Locks) => {
                let lost = chance(1e6 * self.lost(block, page, at));
                if quantile(self.rules().seed, (block, page), cycles) < lost { Raw::Data } else { Raw::Zeros }
            }
            (true, true, _) => Raw::Noise,
        }
    }

    /// Whether the lock of a block as a whole holds then.
    fn block_holds(&self, block: u32, at: (SimTime, u64)) -> bool {
        let (first, second) = (self.blocks[block as usize], self.renewed.word(block));
        let word = if second & BLOCK_LOCKED != 0 { second } else { first };
        word & BLOCK_LOCKED != 0 && self.rules().block.is_locked(hours_locked(word, at))
    }

    /// The chance that the majority of a locked page's flag cells is lost then.
    fn lost(&self, block: u32, page: u32, at: (SimTime, u64)) -> f64 {
        let is_renewed = self.renewed.has(block, page);
        let word = if is_renewed { self.renewed.word(block) } else { self.blocks[block as usize] };
        majority_lost(self.rules().cells, self.rules().page.flipped(hours_locked(word, at), None))
    }

    /// The chance that a page answers again then which was locked: what [`Locks::answer`] draws. Nothing of one that
    /// never was.
    pub fn chance_of_answer(&self, block: u32, page: u32, at: (SimTime, u64)) -> Option<f64> {
        let is_marked = self.is_marked(block, page);
        if self.rules().what != Sanitizing::Locks || !self.forbid(block, page) {
            return None;
        }
        Some(match () {
            () if self.block_holds(block, at) => 0.0,
            () if is_marked => self.lost(block, page, at),
            () => 1.0,
        })
    }

    /// What a copy inside the chip carries of a page that answers so: what a locked one holds, if the chip has that
    /// hole. No copy comes by the select line of a locked block.
    pub fn carried(&self, (block, page): (u32, u32), answer: Raw) -> Raw {
        let is_locked = self.is_marked(block, page) && self.rules().what == Sanitizing::Locks;
        let passes = self.rules().hole && is_locked && self.blocks[block as usize] & BLOCK_LOCKED == 0;
        if passes { Raw::Data } else { answer }
    }

    /// A page was programmed with zeros, where pages are locked, or with noise.
    pub fn blank(&mut self, block: u32, page: u32, now: SimTime) {
        match self.rules().what {
            Sanitizing::Locks => return self.zeros.push((block, page)),
            Sanitizing::Reprograms => self.date(block, now),
            Sanitizing::Scrubs => {}
        }
        self.mark(block, page);
    }

    /// Whether a page still answers whose lock lost power after so many ns, begun at `since`, after so many erases of
    /// its block. Its flips are not those of a lock that was whole.
    pub fn answers_torn(
        &self,
        place: (u32, u32),
        cycles: u32,
        (cut_ns, since): (u64, SimTime),
        at: (SimTime, u64),
    ) -> bool {
        let rules = self.rules();
        let hours = hours_since(since.0 / MINUTE_NS, at);
        let lost = majority_lost(rules.cells, rules.page.flipped(hours, Some(cut_ns as f64 / 1e3)));
        lost >= 1.0 || quantile(rules.torn_seed, place, cycles) < chance(1e6 * lost)
    }

    /// Whether a block is locked whose lock lost power after so many ns, begun at `since`.
    pub fn holds_torn(&self, (cut_ns, since): (u64, SimTime), at: (SimTime, u64)) -> bool {
        self.rules().block.is_locked_cut(cut_ns as f64 / 1e3, hours_since(since.0 / MINUTE_NS, at))
    }
}

/// Hours from the lock that the word of a block is dated with until so many minutes after a time.
fn hours_locked(word: u32, at: (SimTime, u64)) -> f64 {
    hours_since(u64::from(word & !BLOCK_LOCKED).saturating_sub(1), at)
}

/// Hours from a minute until so many minutes after a time.
fn hours_since(minute: u64, (now, more): (SimTime, u64)) -> f64 {
    (now.0 / MINUTE_NS + more).saturating_sub(minute) as f64 / 60.0
}

/// Where the flag cells of a page stand among all that could be, as a 64-bit fraction: those with the lowest are lost.
fn quantile(seed: u64, (block, page): (u32, u32), cycles: u32) -> u64 {
    mix(mix(seed ^ u64::from(cycles)) ^ (u64::from(block) << 32 | u64::from(page)))
}

#[cfg(test)]
mod tests {
    mod alone;

    use super::*;
    use crate::nand::cell::lock::FIVE_YEARS_HOURS;

    /// What [`mix`] makes of this is the number itself: each step of it turned round.
    fn unmix(mut x: u64) -> u64 {
        x ^= x >> 31 ^ x >> 62;
        x = x.wrapping_mul(0x3196_42b2_d24d_8ec3);
        x ^= x >> 27 ^ x >> 54;
        x = x.wrapping_mul(0x96de_1b17_3f11_9089);
        x ^= x >> 30 ^ x >> 60;
        x.wrapping_sub(crate::rng::SPREAD)
    }

    /// A quantile is drawn by two rounds of [`mix`], which is one to one: over all seeds every number comes up once.
    #[test]
    fn every_quantile_is_drawn_as_often_as_any_other() {
        let mut rng = Rng::named(1, "numbers");
        for number in (0..1_000).map(|_| rng.next_u64()).chain([0, 1, u64::MAX]) {
            assert_eq!((mix(unmix(number)), unmix(mix(number))), (number, number));
            let (place, cycles) = ((3, 1), 5);
            assert_eq!(quantile(seed_of(number, place, cycles), place, cycles), number);
        }
    }

    /// With this seed the quantile of a page is `drawn`.
    fn seed_of(drawn: u64, (block, page): (u32, u32), cycles: u32) -> u64 {
        unmix(unmix(drawn) ^ (u64::from(block) << 32 | u64::from(page))) ^ u64::from(cycles)
    }

    /// A copy of a locked page is zeros: no flag stands before it that could lose its charge. It ends with an erase.
    #[test]
    fn zeros_do_not_turn_into_data() {
        let cfg = crate::drive_config::DriveConfig::default();
        let mut locks = Locks::new(&cfg, Sanitizing::Locks, 1);
        // Of all pages that are locked these lose their flags first.
        let (page, cycles, year) = (7, 3, (SimTime::ZERO, 525_600));
        locks.rules.as_mut().unwrap().seed = seed_of(0, (0, page), cycles);
        assert!(locks.take_page(0, page, (8, false), SimTime::ZERO));
        assert_eq!(locks.answer((0, page), (8, cycles), year), Raw::Data);
        locks.erased(0);
        locks.blank(0, page, SimTime::ZERO);
        assert_eq!(locks.answer((0, page), (8, cycles), year), Raw::Zeros);
        assert_eq!(locks.answer((0, page - 1), (8, cycles), year), Raw::Data);
        locks.erased(0);
        assert_eq!(locks.answer((0, page), (8, cycles), year), Raw::Data);
    }

    /// The chance that so many cells of a lock are flipped or more, cell by cell: of so many looked at, how likely each
    /// number of flips is.
    fn sum_of_outcomes(flips: usize, cells: usize, chance: f64) -> f64 {
        let mut likely = vec![1.0];
        for _ in 0..cells {
            let mut next = vec![0.0; likely.len() + 1];
            for (count, share) in likely.iter().enumerate() {
                next[count] += share * (1.0 - chance);
                next[count + 1] += share * chance;
            }
            likely = next;
        }
        likely[flips..].iter().sum()
    }

    /// The share of all quantiles with which a locked page answers, found by halving what is left of them: the sums
    /// over all outcomes of nine and eleven cells after one and five years, to a billionth of their value. Of 10^8
    /// pages 1.6 and 38 of nine cells, .06 and 2.8 of eleven: so many draws would hardly tell these from none.
    #[test]
    fn pages_answer_again_at_the_quantiles_that_sums_say() {
        for (cells, years, about) in [(9, 1, 1.6e-8), (9, 5, 3.8e-7), (11, 1, 6.1e-10), (11, 5, 2.8e-8)] {
            let mut cfg = crate::drive_config::DriveConfig::default();
            cfg.lock.cells = cells;
            let mut locks = Locks::new(&cfg, Sanitizing::Locks, 1);
            let (page, cycles) = (7, 3);
            assert!(locks.take_page(0, page, (8, false), SimTime::ZERO));
            let mut answers = |drawn: u64| {
                let rules = locks.rules.as_mut().unwrap();
                rules.seed = seed_of(drawn, (0, page), cycles);
                locks.answer((0, page), (8, cycles), (SimTime::ZERO, years * 525_600)) == Raw::Data
            };
            assert!(answers(0) && !answers(u64::MAX));
            // The last that answers, and the first that does not.
            let (mut last, mut first) = (0, u64::MAX);
            while first - last > 1 {
                let middle = last + (first - last) / 2;
                *if answers(middle) { &mut last } else { &mut first } = middle;
            }
            let found = first as f64 / 18_446_744_073_709_551_616.0;
            let flipped = PageLock::CHOSEN.flipped(years as f64 * 8_760.0, None);
            let expected = sum_of_outcomes(cells as usize / 2 + 1, cells as usize, flipped);
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{cells} cells, {years} years: {found} for {expected}"
            );
            assert!((found / about - 1.0).abs() < 0.05, "{cells} cells, {years} years: {found}, not {about}");
        }
    }

    /// After five years 3.8e-7 of locks by nine cells are lost: of 10^8 pages as chips draw them 38, but for what
    /// chance does. So quantiles of neighbours are as uneven as draws.
    #[test]
    fn a_hundred_million_locks_are_lost_as_often_as_sums_say() {
        const PAGES: u32 = 10_000;
        let nine = 1e6 * majority_lost(9, PageLock::CHOSEN.flipped(FIVE_YEARS_HOURS, None));
        let mut lost = 0_u32;
        for block in 0..10_000 {
            for page in 0..PAGES {
                lost += u32::from(quantile(7, (block, page), block % 5) < chance(nine));
            }
        }
        let expected = 100.0 * nine;
        let off = (f64::from(lost) - expected).abs();
        assert!(off <= 4.0 * expected.sqrt(), "{lost} of 10^8 locks are lost, expected {expected}");
    }

    /// RealWear figure 37: of the upper pages of MLC wordlines 7.4 % are lost as soon as the lower one is reprogrammed,
    /// 82 % after a year; a page that is lost stays so, and none is whose wordline was left alone.
    #[test]
    fn pages_are_lost_beside_reprogrammed_ones_as_often_as_chips_say() {
        const BLOCKS: u32 = 400;
        let mut cfg = crate::drive_config::DriveConfig::default();
        (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (64, 2);
        cfg.cells = super::super::cell::CellPart::preset("mlc").unwrap();
        let mut locks = Locks::new(&cfg, Sanitizing::Reprograms, BLOCKS);
        let start = SimTime(90 * MINUTE_NS);
        for block in 0..BLOCKS {
            for page in (0..64).step_by(2) {
                assert!(locks.take_page(block, page, (128, false), start));
            }
        }
        let lost = |minutes: u64, first: u32| {
            let now = SimTime(start.0 + minutes * MINUTE_NS);
            let pages =
                (0..BLOCKS).flat_map(|block| (first..first + 64).step_by(2).map(move |at| (block, at)));
            pages.filter(|&(block, page)| locks.is_lost(block, page, 3, now)).collect::<Vec<_>>()
        };
        let (now, later, year) = (lost(0, 1), lost(1_000, 1), lost(525_600, 1));
        for (found, share) in [(&now, 0.0746), (&year, 0.8171)] {
            let all = f64::from(BLOCKS) * 32.0;
            let off = (found.len() as f64 - share * all).abs();
            assert!(
                off < 4.0 * (share * (1.0 - share) * all).sqrt(),
                "{} of {all}, not {share}",
                found.len()
            );
        }
        assert!(now.iter().all(|page| later.contains(page)) && later.iter().all(|page| year.contains(page)));
        assert!(now.len() < later.len() && later.len() < year.len());
        assert_eq!(lost(525_600, 65), []);
        let at = (start, 0);
        assert_eq!(
            (locks.answer((0, 0), (128, 3), at), locks.answer((0, 1), (128, 3), at)),
            (Raw::Noise, Raw::Data)
        );
        locks.erased(0);
        assert!(!(0..128).any(|page| locks.is_lost(0, page, 4, start)));
    }

    /// Two blocks of six pages, of which three and none are programmed; a page of the first is locked.
    fn flags(what: Sanitizing) -> (Locks, Locks, [u32; 2]) {
        let mut cfg = crate::drive_config::DriveConfig::default();
        (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (2, 3);
        let fresh = || Locks::new(&cfg, what, 2);
        let mut locks = fresh();
        locks.take_page(0, 1, (3, false), SimTime(120_000_000_000));
        (locks, fresh(), [3, 0])
    }

    /// Damages a table of flags and says what is told of it.
    fn told(what: Sanitizing, damage: impl Fn(&mut Locks)) -> Result<(), String> {
        let (mut locks, fresh, programmed) = flags(what);
        damage(&mut locks);
        locks.restored(fresh, &programmed)
    }

    #[test]
    fn a_damaged_table_of_flags_is_refused() {
        assert_eq!(told(Sanitizing::Locks, |_| {}), Ok(()));
        assert_eq!(told(Sanitizing::Scrubs, |_| {}), Ok(()));
        let refused = |what, damage: &dyn Fn(&mut Locks), says: &str| {
            let found = told(what, damage).unwrap_err();
            assert!(found.contains(says), "{found:?}, not {says:?}");
        };
        let of_locks = Sanitizing::Locks;
        refused(of_locks, &|locks| locks.pages.push(0), "flags of pages");
        refused(of_locks, &|locks| _ = locks.blocks.pop(), "flags of blocks");
        refused(of_locks, &|locks| locks.mark(0, 4), "a flag of a page that is erased");
        refused(of_locks, &|locks| locks.mark(1, 0), "a flag of a page that is erased");
        refused(of_locks, &|locks| locks.blocks[0] = 0, "in a block that was never locked");
        refused(of_locks, &|locks| locks.blocks[1] = BLOCK_LOCKED, "when a block was locked first");
        refused(of_locks, &|locks| locks.blocks[1] = BLOCK_LOCKED - 1, "when a block was locked first");
        refused(of_locks, &|locks| locks.pages[0] |= 1 << 12, "flags beyond the last page");
        refused(Sanitizing::Scrubs, &|locks| locks.blocks[0] = 1, "locks on chips that have none");
        let reprograms = Sanitizing::Reprograms;
        assert_eq!(told(reprograms, |_| {}), Ok(()));
        refused(reprograms, &|locks| locks.blocks[0] |= BLOCK_LOCKED, "locks on chips that have none");
        refused(reprograms, &|locks| locks.blocks[0] = 0, "in a block that was never locked");
        refused(reprograms, &|locks| locks.blocks[0] = ONE_BIT, "when a block was locked first");
        refused(of_locks, &|locks| locks.blocks[0] |= ONE_BIT, "when a block was locked first");
    }
}
