//! Flags that were set a second time (`ftl.sanitize.relock_months`): which, and since when they hold.
//!
//! A block has two dates, that of its first lock and that of the first which was set again; a bit a page says which of
//! them counts. When all locks of the block are set again the second date takes the place of the first. No lock is
//! taken for younger than it is. A cell that is programmed again is as after its first pulse, and those that lost their
//! charge first do so again (both assumed: what a page lost after so many hours it loses after as many once more).

use super::{BLOCK_LOCKED, MINUTE_NS};
use crate::restore::{MOST, Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// The second dates of a drive's flags; empty where nothing is locked twice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Renewed {
    pages_per_block: u32,
    /// A bit for each page: the second date of its block is its own.
    #[serde(with = "raw")]
    pages: Vec<u64>,
    /// As the word of a block that holds the first date; 0 if nothing of it was locked again.
    #[serde(with = "raw")]
    blocks: Vec<u32>,
}

impl Renewed {
    /// Nothing was locked again yet, of so many blocks.
    pub fn new(blocks: u32, pages_per_block: u32) -> Self {
        let pages = u64::from(blocks) * u64::from(pages_per_block);
        Renewed {
            pages_per_block,
            pages: vec![0; pages.div_ceil(64) as usize],
            blocks: vec![0; blocks as usize],
        }
    }

    /// Whether locks may be set again.
    pub fn is_kept(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Bytes of it.
    pub fn bytes(&self) -> usize {
        8 * self.pages.len() + 4 * self.blocks.len()
    }

    fn place(&self, block: u32, page: u32) -> (usize, u64) {
        let at = u64::from(block) * u64::from(self.pages_per_block) + u64::from(page);
        ((at / 64) as usize, 1 << (at % 64))
    }

    /// Whether the lock of a page was set again.
    pub fn has(&self, block: u32, page: u32) -> bool {
        let (word, bit) = self.place(block, page);
        self.pages.get(word).is_some_and(|pages| pages & bit != 0)
    }

    /// The word of a block.
    pub fn word(&self, block: u32) -> u32 {
        self.blocks.get(block as usize).copied().unwrap_or_default()
    }

    /// Nothing of a block was locked again.
    pub fn forget(&mut self, block: u32) {
        if core::mem::take(&mut self.blocks[block as usize]) != 0 {
            for page in 0..self.pages_per_block {
                let (word, bit) = self.place(block, page);
                self.pages[word] &= !bit;
            }
        }
    }

    /// The lock of a page is set again. If it had been already, a new round has begun: what the last one has not
    /// reached counts by the first date.
    pub fn take_page(&mut self, block: u32, page: u32, now: SimTime) {
        if self.has(block, page) {
            self.forget(block);
        }
        self.date(block, now);
        let (word, bit) = self.place(block, page);
        self.pages[word] |= bit;
    }

    /// The same of a block's own lock.
    pub fn take_block(&mut self, block: u32, now: SimTime) {
        if self.word(block) & BLOCK_LOCKED != 0 {
            self.forget(block);
        }
        self.date(block, now);
        self.blocks[block as usize] |= BLOCK_LOCKED;
    }

    fn date(&mut self, block: u32, now: SimTime) {
        let word = &mut self.blocks[block as usize];
        if *word == 0 {
            *word = dated(now);
        }
    }

    /// Checks that it is of this drive, and of pages and blocks that are locked: told by the word of a block, and
    /// whether a page is.
    pub fn restored(
        &self,
        fresh: &Renewed,
        word: impl Fn(u32) -> u32,
        is_marked: impl Fn(u32, u32) -> bool,
    ) -> Verdict {
        alike("flags that were set again", &self.pages, &fresh.pages)?;
        alike("blocks with locks that were set again", &self.blocks, &fresh.blocks)?;
        ensure(self.pages_per_block == fresh.pages_per_block, "flags that were set again")?;
        for (block, &second) in (0..).zip(&self.blocks) {
            let (first, minute) = (word(block), second & !BLOCK_LOCKED);
            ensure(minute < (MOST / MINUTE_NS) as u32 + 2, "when a block was locked again")?;
            ensure((minute == 0) == (second == 0), "when a block was locked again")?;
            ensure(second == 0 || first != 0, "a block that was locked again, and never before")?;
            ensure(second & !first & BLOCK_LOCKED == 0, "a block that was locked again, and never before")?;
            let is_wrong = |page| self.has(block, page) && (second == 0 || !is_marked(block, page));
            ensure(!(0..self.pages_per_block).any(is_wrong), "a lock that was set again, and never before")?;
        }
        let beyond = self.blocks.len() as u64 * u64::from(self.pages_per_block);
        let is_clear =
            beyond.is_multiple_of(64) || self.pages.last().is_none_or(|last| last >> (beyond % 64) == 0);
        ensure(is_clear, "flags beyond the last page that were set again")
    }
}

/// The word of a block that is locked at a time for the first time.
pub(super) fn dated(now: SimTime) -> u32 {
    ((now.0 / MINUTE_NS) as u32 & !BLOCK_LOCKED) + 1
}

#[cfg(test)]
mod tests {
    use super::super::{Locks, Raw, Sanitizing};
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::nand::cell::lock::{PageLock, majority_lost};

    const HOUR: u64 = 3_600_000_000_000;
    const YEAR: u64 = 8_760 * HOUR;

    /// Two blocks of six pages, of which three and none are programmed; nothing is locked.
    fn locks() -> Locks {
        let mut cfg = DriveConfig::default();
        (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (2, 3);
        (cfg.lock.block_voltage, cfg.timing.t_block_lock_us) = (5, 200.0);
        Locks::new(&cfg, Sanitizing::Locks, 2).renewing()
    }

    /// Locks pages of the first block at a time, of which four are programmed.
    fn lock(locks: &mut Locks, pages: &[u32], at: u64) {
        pages.iter().for_each(|&page| assert!(locks.take_page(0, page, (4, false), SimTime(at))));
    }

    /// How old the locks of three pages of the first block are at a time, by the chance that they answer; hours.
    fn ages(locks: &Locks, at: u64) -> [u64; 3] {
        [0, 1, 2].map(|page| {
            let chance = locks.chance_of_answer(0, page, (SimTime(at), 0)).unwrap();
            let is_so =
                |hours: &u64| majority_lost(9, PageLock::CHOSEN.flipped(*hours as f64, None)) == chance;
            (0..10 * 8_760).find(is_so).expect("an age of whole hours")
        })
    }

    #[test]
    fn a_block_is_younger_when_all_its_locks_were_set_again() {
        let mut locks = locks();
        lock(&mut locks, &[0, 1, 2], 0);
        assert_eq!(ages(&locks, 3 * YEAR), [26_280; 3]);
        lock(&mut locks, &[0], 3 * YEAR);
        lock(&mut locks, &[1], 3 * YEAR + 5 * HOUR);
        assert_eq!(ages(&locks, 4 * YEAR), [8_760, 8_760, 35_040]);
        assert!(locks.renewed.has(0, 1) && !locks.renewed.has(0, 2));
        lock(&mut locks, &[2], 3 * YEAR + 9 * HOUR);
        assert_eq!(ages(&locks, 4 * YEAR), [8_760; 3]);
        // The second date is the first now, and another round can begin.
        assert_eq!((locks.blocks[0], locks.renewed.word(0)), (dated(SimTime(3 * YEAR)), 0));
        lock(&mut locks, &[2, 1], 5 * YEAR);
        assert_eq!(ages(&locks, 6 * YEAR), [26_280, 8_760, 8_760]);
        // An erase ends it.
        locks.erased(0);
        lock(&mut locks, &[0, 1, 2], 6 * YEAR);
        assert_eq!(ages(&locks, 7 * YEAR), [8_760; 3]);
        assert_eq!(locks.renewed.word(0), 0);
    }

    #[test]
    fn a_round_that_is_not_over_is_given_up_by_the_next() {
        let mut locks = locks();
        lock(&mut locks, &[0, 1, 2], 0);
        lock(&mut locks, &[0, 1], YEAR);
        lock(&mut locks, &[0], 2 * YEAR);
        assert_eq!(ages(&locks, 2 * YEAR), [0, 17_520, 17_520]);
        lock(&mut locks, &[1, 2], 2 * YEAR);
        assert_eq!((ages(&locks, 2 * YEAR), locks.renewed.word(0)), ([0; 3], 0));
        // A page that is locked for the first time while others are set again is of that round; before, of the first.
        lock(&mut locks, &[0, 3], 3 * YEAR);
        assert!(locks.renewed.has(0, 3));
        lock(&mut locks, &[1, 2], 3 * YEAR);
        assert_eq!((ages(&locks, 4 * YEAR), locks.renewed.word(0)), ([8_760; 3], 0));
    }

    /// At voltage 5 for 200 us a block is locked for 90 days, and its pages' own flags are seen then.
    #[test]
    fn a_block_that_is_locked_again_is_locked_for_as_long_again() {
        let day = 24 * HOUR;
        let mut locks = locks();
        lock(&mut locks, &[0, 1, 2], 0);
        assert!(locks.take_block(0, SimTime(0)));
        let holds = |locks: &Locks, at: u64| locks.answer((0, 3), (4, 0), (SimTime(at), 0)) == Raw::Zeros;
        assert!(holds(&locks, 80 * day) && !holds(&locks, 95 * day));
        assert_eq!(locks.chance_of_answer(0, 3, (SimTime(80 * day), 0)), Some(0.0));
        for round in 1..4 {
            assert!(locks.take_block(0, SimTime(round * YEAR)));
            assert!(holds(&locks, round * YEAR + 80 * day), "round {round}");
            assert!(!holds(&locks, round * YEAR + 95 * day), "round {round}");
            // The flags of its pages were not set again.
            assert_eq!(ages(&locks, round * YEAR + 95 * day)[0], round * 8_760 + 95 * 24);
            assert!(locks.forbid(0, 3));
        }
        assert_eq!(locks.chance_of_answer(0, 3, (SimTime(4 * YEAR), 0)), Some(1.0));
        assert_eq!(locks.chance_of_answer(1, 1, (SimTime(4 * YEAR), 0)), None);
    }

    #[test]
    fn damaged_dates_of_locks_that_were_set_again_are_refused() {
        let found = |damage: &dyn Fn(&mut Renewed)| {
            let mut locks = locks();
            lock(&mut locks, &[0, 1, 2], 0);
            lock(&mut locks, &[0], YEAR);
            damage(&mut locks.renewed);
            let mut cfg = DriveConfig::default();
            (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (2, 3);
            locks.restored(Locks::new(&cfg, Sanitizing::Locks, 2).renewing(), &[4, 0])
        };
        assert_eq!(found(&|_| {}), Ok(()));
        let refused = |damage: &dyn Fn(&mut Renewed), says: &str| {
            let told = found(damage).unwrap_err();
            assert!(told.contains(says), "{told:?}, not {says:?}");
        };
        refused(&|renewed| renewed.pages.push(0), "flags that were set again");
        refused(&|renewed| _ = renewed.blocks.pop(), "blocks with locks that were set again");
        refused(&|renewed| renewed.pages_per_block = 5, "flags that were set again");
        refused(&|renewed| renewed.blocks[0] = BLOCK_LOCKED - 1, "when a block was locked again");
        refused(&|renewed| renewed.blocks[0] = BLOCK_LOCKED, "when a block was locked again");
        refused(&|renewed| renewed.blocks[0] |= BLOCK_LOCKED, "locked again, and never before");
        refused(&|renewed| renewed.blocks[1] = 7, "locked again, and never before");
        refused(&|renewed| renewed.pages[0] |= 1 << 3, "set again, and never before");
        refused(&|renewed| renewed.blocks[0] = 0, "set again, and never before");
        refused(&|renewed| renewed.pages[0] |= 1 << 12, "flags beyond the last page that were set again");
    }
}
