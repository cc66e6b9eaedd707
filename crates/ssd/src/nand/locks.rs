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
mod tests;
