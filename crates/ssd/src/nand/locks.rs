//! What a chip keeps of pages and blocks that must not be read any more (Evanesco; RealWear chapter 5): a bit a page
//! and four bytes a block, where `ftl.sanitize` has anything done to them.
//!
//! A locked page or block answers zeros; a scrubbed wordline is noise. Only a completed erase takes that
//! back. Flags of locks weaken with time (`cell/lock.rs`): whether those of a page have is a quantile of its own, drawn
//! once for each erase of its block, so that a lock that is lost stays lost and nothing depends on when one looks.

use super::cell::lock::{BLOCK_LOCK_US, BlockLock, PageLock, majority_lost};
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
            fails: chance(cfg.reliability.lock_fail_ppm),
            hole: cfg.lock.copyback_hole,
        };
        Locks {
            rules: Some(rules),
            pages: vec![0; pages.div_ceil(64) as usize],
            blocks: vec![0; blocks as usize],
            rng: Rng::named(cfg.drive.seed, "nand/lock_fail"),
        }
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest: no page is marked that is not
    /// programmed, and none is locked in a block without a first lock.
    pub fn restored(&mut self, fresh: Locks, programmed: &[u32]) -> Verdict {
        alike("flags of pages", &self.pages, &fresh.pages)?;
        alike("flags of blocks", &self.blocks, &fresh.blocks)?;
        self.rules = fresh.rules;
        let rules = self.rules();
        let of_locks = rules.what == Sanitizing::Locks;
        for (block, &pages) in (0..).zip(programmed) {
            let word = self.blocks[block as usize];
            ensure(word & !BLOCK_LOCKED < (MOST / MINUTE_NS) as u32 + 2, "when a block was locked first")?;
            ensure(of_locks || word == 0, "locks on chips that have none")?;
            ensure(word & BLOCK_LOCKED == 0 || word > BLOCK_LOCKED, "when a block was locked first")?;
            let is_marked = |page| self.is_marked(block, page);
            ensure(!(pages..rules.pages_per_block).any(is_marked), "a flag of a page that is erased")?;
            let is_dated = !of_locks || word != 0 || !(0..pages).any(is_marked);
            ensure(is_dated, "a locked page in a block that was never locked")?;
        }
        let beyond = programmed.len() as u64 * u64::from(rules.pages_per_block);
        let is_clear =
            beyond.is_multiple_of(64) || self.pages.last().is_none_or(|last| last >> (beyond % 64) == 0);
        ensure(is_clear, "flags beyond the last page")
    }

    fn rules(&self) -> &Rules {
        self.rules.as_ref().expect("flags have the rules of a configuration, or are not yet restored")
    }

    /// Bytes of the flags.
    pub fn bytes(&self) -> usize {
        8 * self.pages.len() + 4 * self.blocks.len()
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
            *word = ((now.0 / MINUTE_NS) as u32 & !BLOCK_LOCKED) + 1;
        }
    }

    /// Whether the chip says that a pulse has failed: it then has changed nothing.
    fn fails(&mut self) -> bool {
        let fails = self.rules().fails;
        self.rng.hits(fails)
    }

    /// A page is locked, or scrubbed with its wordline, of a block of which so many are programmed. False if that has
    /// failed.
    pub fn take_page(&mut self, block: u32, page: u32, programmed: u32, now: SimTime) -> bool {
        if self.fails() {
            return false;
        }
        match self.rules().what {
            Sanitizing::Locks => self.date(block, now),
            Sanitizing::Scrubs => {
                let width = self.rules().pages_per_wordline;
                let first = page / width * width;
                (first..(first + width).min(programmed)).for_each(|page| self.mark(block, page));
            }
        }
        self.mark(block, page);
        true
    }

    /// A block is locked. False if that failed.
    pub fn take_block(&mut self, block: u32, now: SimTime) -> bool {
        if self.fails() {
            return false;
        }
        self.date(block, now);
        self.blocks[block as usize] |= BLOCK_LOCKED;
        true
    }

    /// A block was erased: its flags are as new.
    pub fn erased(&mut self, block: u32) {
        self.blocks[block as usize] = 0;
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
        let (rules, word) = (self.rules(), self.blocks[block as usize]);
        let first = u64::from(word & !BLOCK_LOCKED).saturating_sub(1);
        let hours = hours_since(first, at);
        if word & BLOCK_LOCKED != 0 && rules.block.is_locked(hours) {
            return Raw::Zeros;
        }
        match (page < programmed, self.is_marked(block, page), rules.what) {
            (false, ..) => Raw::Erased,
            (true, false, _) => Raw::Data,
            (true, true, Sanitizing::Locks) => {
                let lost = majority_lost(rules.cells, rules.page.flipped(hours, None));
                let is_lost = quantile(rules.seed, (block, page), cycles) < chance(1e6 * lost);
                if is_lost { Raw::Data } else { Raw::Zeros }
            }
            (true, true, _) => Raw::Noise,
        }
    }

    /// What a copy inside the chip carries of a page that answers so: what a locked one holds, if the chip has that
    /// hole. No copy comes by the select line of a locked block.
    pub fn carried(&self, (block, page): (u32, u32), answer: Raw) -> Raw {
        let is_locked = self.is_marked(block, page) && self.rules().what == Sanitizing::Locks;
        let passes = self.rules().hole && is_locked && self.blocks[block as usize] & BLOCK_LOCKED == 0;
        if passes { Raw::Data } else { answer }
    }

    /// A page was programmed with zeros, or with noise.
    pub fn blank(&mut self, block: u32, page: u32, now: SimTime) {
        if self.rules().what == Sanitizing::Locks {
            self.date(block, now);
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
    use super::*;
    use crate::nand::cell::lock::FIVE_YEARS_HOURS;

    /// After five years 3.8e-7 of locks by nine cells are lost and 2.8e-8 of those by eleven: of 10^8 pages as chips
    /// draw them 38 and 2.8, but for what chance does.
    #[test]
    fn a_hundred_million_locks_are_lost_as_often_as_sums_say() {
        const PAGES: u32 = 10_000;
        let five_years = PageLock::CHOSEN.flipped(FIVE_YEARS_HOURS, None);
        let [nine, eleven] = [9, 11].map(|cells| 1e6 * majority_lost(cells, five_years));
        let mut lost = [0_u32; 2];
        for block in 0..10_000 {
            for page in 0..PAGES {
                let drawn = quantile(7, (block, page), block % 5);
                lost[0] += u32::from(drawn < chance(nine));
                lost[1] += u32::from(drawn < chance(eleven));
            }
        }
        for (found, expected) in lost.into_iter().zip([100.0 * nine, 100.0 * eleven]) {
            let off = (f64::from(found) - expected).abs();
            assert!(off <= 4.0 * expected.sqrt(), "{found} of 10^8 locks are lost, expected {expected}");
        }
    }

    /// Two blocks of six pages, of which three and none are programmed; a page of the first is locked.
    fn flags(what: Sanitizing) -> (Locks, Locks, [u32; 2]) {
        let mut cfg = crate::drive_config::DriveConfig::default();
        (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (2, 3);
        let fresh = || Locks::new(&cfg, what, 2);
        let mut locks = fresh();
        locks.take_page(0, 1, 3, SimTime(120_000_000_000));
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
    }
}
