//! Chips that lost their power in the middle of what they did.
//!
//! What becomes of an operation that has had a part of its time is the model of its cells where there is one, and else
//! what is worst for who has something to hide (assumed):
//!
//! - a *lock of a page* has programmed as many flag cells as a pulse of that length does; more of them flip later;
//! - a *lock of a block* has brought the select line up part of the way, and it comes down from there;
//! - a page whose *program* has begun answers with all that was to be programmed;
//! - a wordline whose *scrub* has begun, or a page that is being *reprogrammed*, answers as before;
//! - a block whose *erase* has begun answers zeros, until an erase is whole.
//!
//! What has begun and has had no time yet has left nothing. Locks that were cut short do not add up with those before
//! and after them: one that is whole takes their place.

use super::chip::{Chip, Outcome};
use super::locks::Raw;
use crate::units::SimTime;
use std::collections::{BTreeMap, BTreeSet};

/// What an array does to its chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doing {
    /// Programs a page.
    Programs,
    /// Erases a block.
    Erases,
    /// Locks a page.
    LocksPage,
    /// Locks a block.
    LocksBlock,
    /// Scrubs the wordline of a page.
    Scrubs,
    /// Reprograms the wordline of a page.
    Reprograms,
}

/// An array at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtWork {
    /// What it does.
    pub doing: Doing,
    /// The physical block, counted over the drive.
    pub block: u32,
    /// The page in it; nothing where it is the block.
    pub page: u32,
    /// Since when it does, or when it will begin.
    pub since: SimTime,
    /// Until when it does, if it is to be suspended then.
    pub until: SimTime,
    /// Array time that it had before.
    pub before_ns: u64,
    /// Array time in which nothing changes yet: a copy reads first.
    pub lead_ns: u64,
    /// Array time of all of it.
    pub total_ns: u64,
}

impl AtWork {
    /// Array time until `now` in which something has changed.
    pub fn done_ns(&self, now: SimTime) -> u64 {
        let done = self.before_ns + now.min(self.until).since(self.since);
        done.min(self.total_ns).saturating_sub(self.lead_ns)
    }
}

/// Chips whose power was lost. Whoever has power again may lock, scrub and erase, and read what answers.
#[derive(Clone, Debug)]
pub struct TornChips {
    chip: Chip,
    /// Locks of pages that lost power, and those of blocks: after how much of the pulse, and when.
    pages: BTreeMap<(u32, u32), (u64, SimTime)>,
    blocks: BTreeMap<u32, (u64, SimTime)>,
    /// Blocks whose erase did.
    erasing: BTreeSet<u32>,
    /// Pages whose program did.
    programmed: BTreeSet<(u32, u32)>,
}

impl TornChips {
    /// Chips that were doing nothing.
    pub fn new(chip: Chip) -> Self {
        let (pages, blocks) = (BTreeMap::new(), BTreeMap::new());
        TornChips { chip, pages, blocks, erasing: BTreeSet::new(), programmed: BTreeSet::new() }
    }

    /// An array loses power at a time.
    pub fn tear(&mut self, work: &AtWork, now: SimTime) {
        let (place, done) = ((work.block, work.page), work.done_ns(now));
        if done == 0 {
            return;
        }
        match work.doing {
            Doing::Programs => {
                self.chip.program(place.0, place.1);
                self.programmed.insert(place);
            }
            Doing::Erases => _ = self.erasing.insert(place.0),
            Doing::LocksPage => _ = self.pages.insert(place, (done, now)),
            Doing::LocksBlock => _ = self.blocks.insert(place.0, (done, now)),
            Doing::Scrubs | Doing::Reprograms => {}
        }
    }

    /// The chips, but for what was torn.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// Pages whose program lost power, of blocks that were not erased since.
    pub fn torn_programs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.programmed.iter().copied()
    }

    /// Pages whose lock lost power, and after how many ns; neither locked nor erased since.
    pub fn torn_locks(&self) -> impl Iterator<Item = ((u32, u32), u64)> {
        self.pages.iter().map(|(&place, &(ns, _))| (place, ns))
    }

    /// As [`Chip::raw_read`].
    pub fn raw_read(&self, block: u32, page: u32, now: SimTime, minutes: u64) -> Raw {
        let (place, at) = ((block, page), (now, minutes));
        if self.erasing.contains(&block) {
            return Raw::Zeros;
        }
        let Some(flags) = self.chip.flags() else { return self.chip.raw_read(block, page, now, minutes) };
        if self.blocks.get(&block).is_some_and(|&torn| flags.holds_torn(torn, at)) {
            return Raw::Zeros;
        }
        let cycles = self.chip.erase_count(block);
        match self.chip.raw_read(block, page, now, minutes) {
            Raw::Data
                if self
                    .pages
                    .get(&place)
                    .is_some_and(|&torn| !flags.answers_torn(place, cycles, torn, at)) =>
            {
                Raw::Zeros
            }
            found => found,
        }
    }

    /// Locks a page, or scrubs its wordline.
    pub fn sanitize_page(&mut self, block: u32, page: u32, one_bit: bool, now: SimTime) -> Outcome {
        let outcome = self.chip.sanitize_page(block, page, one_bit, now);
        if outcome == Outcome::Pass {
            self.pages.remove(&(block, page));
        }
        outcome
    }

    /// Locks a block.
    pub fn lock_block(&mut self, block: u32, now: SimTime) -> Outcome {
        let outcome = self.chip.lock_block(block, now);
        if outcome == Outcome::Pass {
            self.blocks.remove(&block);
        }
        outcome
    }

    /// Erases a block.
    pub fn erase(&mut self, block: u32) -> Outcome {
        self.pages.retain(|place, _| place.0 != block);
        self.programmed.retain(|place| place.0 != block);
        self.blocks.remove(&block);
        self.erasing.remove(&block);
        self.chip.erase(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::Sanitizing;
    use crate::nand::cell::lock::{PageLock, majority_lost};
    use crate::sections::{Reliability, Sections};

    const PAGES: u32 = 256;

    /// Chips of so many blocks, full, that have just begun to do the same to each page or block.
    fn chips(blocks: u32) -> TornChips {
        let cfg = Sections::default();
        let mut chip = Chip::new(1, blocks, PAGES, &Reliability::default(), 1);
        chip = chip.with_locks(&cfg, Some(Sanitizing::Locks));
        for block in 0..blocks {
            (0..PAGES).for_each(|page| _ = chip.program(block, page));
        }
        TornChips::new(chip)
    }

    fn work(doing: Doing, block: u32, page: u32, total_ns: u64) -> AtWork {
        let (since, until) = (SimTime(1_000), SimTime(u64::MAX));
        AtWork { doing, block, page, since, until, before_ns: 0, lead_ns: 0, total_ns }
    }

    fn answering(chips: &TornChips, minutes: u64) -> f64 {
        let at = SimTime(200_000);
        let pages = (0..chips.chip().blocks()).flat_map(|block| (0..PAGES).map(move |page| (block, page)));
        let count = pages.filter(|&(b, p)| chips.raw_read(b, p, at, minutes) == Raw::Data).count();
        count as f64 / f64::from(chips.chip().blocks() * PAGES)
    }

    /// What power leaves of 100,000 locks, against the sums: 65 % still answer after 3 us of 100; none after 10 us, but
    /// 8 % again in a year; none ever after all of it.
    #[test]
    fn locks_of_pages_cut_short_answer_as_often_as_sums_say() {
        const YEAR: u64 = 365 * 24 * 60;
        for (cut_us, at_once, in_a_year) in [(3, 0.65, 0.80), (10, 0.0, 0.08), (100, 0.0, 0.0)] {
            let mut chips = chips(400);
            for block in 0..400 {
                for page in 0..PAGES {
                    let work = work(Doing::LocksPage, block, page, 100_000);
                    chips.tear(&work, SimTime(1_000 + 1_000 * cut_us));
                }
            }
            for (minutes, about) in [(0, at_once), (YEAR, in_a_year)] {
                let found = answering(&chips, minutes);
                let flipped = PageLock::CHOSEN.flipped(minutes as f64 / 60.0, Some(cut_us as f64));
                let expected = majority_lost(9, flipped);
                let deviation = (expected * (1.0 - expected) / (400.0 * f64::from(PAGES))).sqrt();
                let which = format!("{cut_us} us, {minutes} minutes: {found} for {expected}");
                assert!((found - expected).abs() <= 4.0 * deviation + 1e-9, "{which}");
                assert!((found - about).abs() < 0.02, "{which}, about {about}");
            }
            // Locks that are whole take their place.
            for block in 0..400 {
                (0..PAGES).for_each(|page| _ = chips.sanitize_page(block, page, false, SimTime(200_000)));
            }
            assert_eq!((answering(&chips, 0), answering(&chips, YEAR)), (0.0, 0.0));
            assert_eq!(chips.torn_locks().count(), 0);
        }
    }

    /// Half of a block lock holds 39 days; less than 128 us never; erases that are whole end all of it.
    #[test]
    fn blocks_answer_as_their_select_lines_and_erases_say() {
        let mut chips = chips(3);
        chips.tear(&work(Doing::LocksBlock, 0, 0, 300_000), SimTime(151_000));
        chips.tear(&work(Doing::LocksBlock, 1, 0, 300_000), SimTime(121_000));
        chips.tear(&work(Doing::Erases, 2, 0, 3_500_000), SimTime(1_001));
        let at = SimTime(200_000);
        let read = |chips: &TornChips, minutes| [0, 1, 2].map(|block| chips.raw_read(block, 7, at, minutes));
        let day = 24 * 60;
        assert_eq!(read(&chips, 39 * day), [Raw::Zeros, Raw::Data, Raw::Zeros]);
        assert_eq!(read(&chips, 40 * day), [Raw::Data, Raw::Data, Raw::Zeros]);
        chips.lock_block(1, at);
        assert_eq!(read(&chips, 40 * day), [Raw::Data, Raw::Zeros, Raw::Zeros]);
        (0..3).for_each(|block| _ = chips.erase(block));
        assert_eq!(read(&chips, 0), [Raw::Erased; 3]);
    }

    /// What has had no time leaves nothing; a program that has had any answers, a copy only when it has read.
    #[test]
    fn programs_answer_from_their_first_step_on() {
        let mut chips = chips(1);
        let at = SimTime(200_000);
        chips.erase(0);
        let copy = AtWork { lead_ns: 75_000, ..work(Doing::Programs, 0, 0, 775_000) };
        chips.tear(&copy, SimTime(1_000));
        chips.tear(&copy, SimTime(76_000));
        assert_eq!((chips.raw_read(0, 0, at, 0), chips.torn_programs().count()), (Raw::Erased, 0));
        chips.tear(&copy, SimTime(76_001));
        assert_eq!(chips.raw_read(0, 0, at, 0), Raw::Data);
        assert_eq!(chips.torn_programs().collect::<Vec<_>>(), [(0, 0)]);
        // Suspended after 300 us, and not begun yet.
        let stopped = AtWork { until: SimTime::ZERO, since: SimTime::ZERO, before_ns: 300_000, ..copy };
        assert_eq!(stopped.done_ns(SimTime(900_000)), 225_000);
        assert_eq!(AtWork { since: SimTime(5_000), ..copy }.done_ns(SimTime(4_000)), 0);
    }
}
