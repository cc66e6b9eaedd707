//! The power is lost before, in the middle of, and after what chips do; then the thief looks, the drive recovers, and
//! he looks again, at once and later.
//!
//! What is promised, and held here:
//!
//! - what was said to be gone (`acknowledge = "after_lock"`) answers never, whatever was torn and whenever he looks;
//! - when the drive serves again, no secured version answers of which there is a newer one, and nothing that cannot be
//!   trusted; no recovery locks the only copy of what counts;
//! - when the rest is locked, too, nothing of that answers a month later, and a year later no more than flags lose.
//!
//! What was trimmed, and the trim not acknowledged, may be there again.

use super::super::chips::Found;
use super::super::setup::random_cuts;
use super::{Run, Verdict};
use ssd::ftl::locks::recovery::{Place, Recovery, Scanned, recover};
use ssd::nand::cell::lock::{PageLock, majority_lost};
use ssd::nand::torn::{AtWork, Doing, TornChips};
use ssd::nand::{Outcome, Raw};
use ssd::rng::Rng;
use ssd::signals::Spare;
use ssd::{Hints, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// Before, ten parts of it, and after.
pub const WHEN: usize = 12;
const MONTH: u64 = 30 * 24 * 60;
const YEAR: u64 = 365 * 24 * 60;

/// What a recovery leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    Nothing,
    /// All of it.
    Everything,
    /// Versions of which there is a newer one.
    Old,
    /// Pages that cannot be trusted.
    Torn,
    /// What is locked in the background.
    Background,
}

/// What the cuts were.
#[derive(Clone, Debug, Default)]
pub struct CutTally {
    pub cuts: u64,
    /// Of these, recoveries that were cut off, too.
    pub again: u64,
    /// By what was under way (programs, erases, locks of pages and blocks, scrubs), and when.
    pub by: [[u64; WHEN]; 6],
    /// Pages that recoveries locked first and later, blocks that they erased.
    pub first: u64,
    pub later: u64,
    pub blocks: u64,
    /// Pages whose locks were cut short: those that answered, how many should have, and the variance of that.
    pub torn: u64,
    pub answered: u64,
    pub expected: f64,
    pub variance: f64,
    /// Pages that were locked, those that answered after a year, and how many should have.
    pub locked: u64,
    pub after_year: u64,
    pub expected_after_year: f64,
}

impl CutTally {
    pub fn add(&mut self, other: &CutTally) {
        self.cuts += other.cuts;
        self.again += other.again;
        for (row, more) in self.by.iter_mut().flatten().zip(other.by.iter().flatten()) {
            *row += more;
        }
        self.first += other.first;
        self.later += other.later;
        self.blocks += other.blocks;
        self.torn += other.torn;
        self.answered += other.answered;
        self.expected += other.expected;
        self.variance += other.variance;
        self.locked += other.locked;
        self.after_year += other.after_year;
        self.expected_after_year += other.expected_after_year;
    }
}

/// Who has the power cut.
pub struct Cutter {
    rng: Rng,
    at_most: u64,
    lapse: Lapse,
    /// What was looked at: of each beginning once.
    known: BTreeSet<(Doing, u32, u32, u64)>,
    /// Cuts to come: the time, what is cut, and which part of it.
    due: BTreeSet<(u64, Doing, usize)>,
    tally: CutTally,
}

/// Beginnings of which the power is cut once: programs are many.
fn one_in(doing: Doing) -> u32 {
    match doing {
        Doing::Programs => 200,
        Doing::Erases => 25,
        Doing::LocksPage => 60,
        Doing::LocksBlock => 2,
        Doing::Scrubs => 20,
        Doing::Reprograms => 2,
    }
}

/// What somebody finds who has the chips now.
struct Scene<'a> {
    pages: Vec<Found<'a>>,
    /// Of pages that can be trusted: the newest of each logical unit, as we count.
    newest: BTreeMap<u32, u64>,
    /// Pages that cannot.
    untrusted: BTreeSet<(u32, u32)>,
}

impl Run {
    /// The run of a seed whose drive is cut off so often.
    pub fn cut(seed: u64, at_most: u64, lapse: Lapse) -> Run {
        let mut run = Run::watched(seed, "model/cuts", random_cuts);
        run.cutter = Some(Cutter {
            rng: Rng::named(seed, "model/cuts/when"),
            at_most,
            lapse,
            known: BTreeSet::new(),
            due: BTreeSet::new(),
            tally: CutTally::default(),
        });
        run
    }

    /// Runs until the power was cut often enough, or so many commands are done.
    pub fn run_cuts(&mut self, commands: u64) -> Result<CutTally, String> {
        let units = self.style.footprint / 2;
        self.write_below(None, units)?;
        let is_over = |cutter: &Cutter| cutter.tally.cuts >= cutter.at_most;
        while self.oracle.done < commands && !self.cutter.as_ref().is_some_and(is_over) {
            self.act()?;
        }
        Ok(self.cutter.take().map(|cutter| cutter.tally).unwrap_or_default())
    }

    /// Lets something happen: until a completion waits, or where the power is cut, the next event.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        let next = self.drive.next_event_at().filter(|_| self.cutter.is_some());
        let Some(next) = next else { return self.wait() };
        let next = next.max(self.drive.now());
        if let Some(mut cutter) = self.cutter.take() {
            let verdict = self.cut_until(next, &mut cutter);
            self.cutter = Some(cutter);
            verdict?;
        }
        self.drive.advance_to(next);
        self.effects()?;
        Ok(true)
    }

    fn cut_until(&mut self, next: SimTime, cutter: &mut Cutter) -> Verdict {
        for work in self.drive.blocks().at_work() {
            let is_new = cutter.known.insert((work.doing, work.block, work.page, work.since.0));
            if !is_new || cutter.rng.below(one_in(work.doing)) > 0 {
                continue;
            }
            let (when, rest) = (cutter.rng.below(WHEN as u32) as usize, work.total_ns - work.before_ns);
            let after = match when {
                0 => 0,
                11 => rest,
                part => rest * (2 * part as u64 - 1) / 20,
            };
            cutter.due.insert(((work.since.0 + after).max(self.drive.now().0), work.doing, when));
        }
        while let Some(&(at, doing, when)) = cutter.due.first().filter(|due| due.0 <= next.0) {
            cutter.due.pop_first();
            self.drive.advance_to(SimTime(at).max(self.drive.now()));
            self.effects()?;
            cutter.tally.by[doing as usize][when] += 1;
            self.lose_power(cutter)
                .map_err(|what| format!("power lost at {at} ns, {doing:?} in part {when}: {what}"))?;
        }
        Ok(())
    }

    fn lose_power(&self, cutter: &mut Cutter) -> Verdict {
        let now = self.drive.now();
        let mut chips = self.drive.clone().cut();
        cutter.tally.cuts += 1;
        cutter.count_torn(&chips, now, self.cfg.lock.cells);
        // Of a page whose program was torn a drive may, or may not, read all.
        let read: BTreeSet<_> = chips.torn_programs().filter(|_| cutter.rng.below(2) == 0).collect();
        let (mut scene, mut plan) = self.scan(&chips, &read, cutter.lapse)?;
        self.look(&scene, &chips, (0, false))?;
        if self.cut_again(&mut chips, &plan, cutter) {
            self.look(&scene, &chips, (0, false))?;
            (scene, plan) = self.scan(&chips, &read, cutter.lapse)?;
        }
        for place in &plan.first {
            self.hide(&mut chips, place);
        }
        self.look(&scene, &chips, (0, true))?;
        for place in &plan.later {
            self.hide(&mut chips, place);
        }
        plan.blocks.iter().for_each(|&block| _ = chips.erase(block));
        self.look(&scene, &chips, (MONTH, true))?;
        cutter.count_years(&chips, &scene, now, self.cfg.lock.cells);
        let tally = &mut cutter.tally;
        tally.first += plan.first.len() as u64;
        tally.later += plan.later.len() as u64;
        tally.blocks += plan.blocks.len() as u64;
        Ok(())
    }

    /// The power is lost once more, while pages are locked before the drive serves; not where data moves for that,
    /// which nobody models.
    fn cut_again(&self, chips: &mut TornChips, plan: &Recovery, cutter: &mut Cutter) -> bool {
        let locks = self.cfg.sanitize.name().contains("lock");
        let moves = plan.first.iter().any(|place| place.lives);
        if !locks || moves || plan.first.is_empty() || cutter.rng.below(2) > 0 {
            return false;
        }
        let until = cutter.rng.below(plan.first.len() as u32) as usize;
        plan.first[..until].iter().for_each(|place| self.hide(chips, place));
        let (place, now) = (plan.first[until], self.drive.now());
        let pulse = AtWork {
            doing: Doing::LocksPage,
            block: place.block,
            page: place.page,
            since: now,
            until: SimTime(u64::MAX),
            before_ns: u64::from(cutter.rng.below(100_000)),
            lead_ns: 0,
            total_ns: 100_000,
        };
        chips.tear(&pulse, now);
        cutter.tally.again += 1;
        true
    }

    /// What a drive finds that has lost its memory, and what it makes of it; of pages whose programs were torn it reads
    /// some.
    fn scan(
        &self,
        chips: &TornChips,
        read: &BTreeSet<(u32, u32)>,
        lapse: Lapse,
    ) -> Result<(Scene<'_>, Recovery), String> {
        let now = self.drive.now();
        let model = self.chips.as_ref().ok_or("chips are not recorded")?;
        let mut scene = Scene {
            pages: model.everything().collect(),
            newest: BTreeMap::new(),
            untrusted: BTreeSet::new(),
        };
        scene.pages.sort_by_key(|page| page.place);
        let mut spares: BTreeMap<(u32, u32), Vec<Spare>> = BTreeMap::new();
        for page in &scene.pages {
            if chips.raw_read(page.place.0, page.place.1, now, 0) != Raw::Data {
                continue;
            }
            if !page.is_whole && !read.contains(&page.place) {
                scene.untrusted.insert(page.place);
            } else {
                for unit in &page.units {
                    let newest = scene.newest.entry(unit.spare.lpn.0).or_default();
                    *newest = (*newest).max(unit.sequence);
                }
            }
            spares.insert(page.place, page.units.iter().map(|unit| unit.spare).collect());
        }
        let pages_per_block = self.cfg.geometry.pages_per_block();
        let all =
            (0..chips.chip().blocks()).flat_map(|block| (0..pages_per_block).map(move |page| (block, page)));
        let pages: Vec<_> = all
            .map(|(block, page)| Scanned {
                block,
                page,
                raw: chips.raw_read(block, page, now, 0),
                is_whole: !scene.untrusted.contains(&(block, page)),
                units: spares.get(&(block, page)).map_or(&[], Vec::as_slice),
            })
            .collect();
        let mut plan = recover(&pages);
        scene.keeps(&plan, &spares)?;
        lapse.leave_out(&mut plan, &scene);
        Ok((scene, plan))
    }

    /// A page is kept from being read, as the policy does; its wordline, or its block, goes with it.
    fn hide(&self, chips: &mut TornChips, place: &Place) {
        if self.cfg.sanitize.name() == "erase" {
            chips.erase(place.block);
            return;
        }
        // The block may have been erased since.
        let is_there = |chips: &TornChips| place.page < chips.chip().programmed_pages(place.block);
        let one_bit = self.chips.as_ref().is_some_and(|model| model.is_one_bit(place.block));
        while is_there(chips)
            && chips.sanitize_page(place.block, place.page, one_bit, self.drive.now()) == Outcome::Fail
        {
        }
    }

    /// The thief reads every page, so many minutes later; the drive has served again, or not.
    fn look(&self, scene: &Scene, chips: &TornChips, (minutes, serves): (u64, bool)) -> Verdict {
        let (now, granules) = (self.drive.now(), self.oracle.shape().granules);
        for page in &scene.pages {
            let (block, at) = page.place;
            if chips.raw_read(block, at, now, minutes) != Raw::Data {
                continue;
            }
            let place = format!("page {at} of block {block}, {minutes} minutes later");
            if serves && scene.untrusted.contains(&page.place) {
                return Err(format!("the drive serves, and {place}, answers, which cannot be trusted"));
            }
            for unit in &page.units {
                let lpn = unit.spare.lpn.0;
                let is_gone = |(g, &version): (usize, &u64)| {
                    self.thief
                        .as_ref()
                        .is_some_and(|thief| thief.is_gone(lpn as usize * granules + g, version))
                };
                if unit.data.iter().enumerate().any(is_gone) {
                    return Err(format!("a thief reads unit {lpn} on {place}, which was said to be gone"));
                }
                let is_old = scene.newest.get(&lpn).is_some_and(|&newest| unit.sequence < newest);
                let is_secured = unit.spare.facts.class() == Hints::SECURE.into();
                if serves && is_old && is_secured {
                    return Err(format!(
                        "the drive serves, and a thief reads an old version of {lpn} on {place}"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Scene<'_> {
    /// Nothing that counts is locked before it has moved.
    fn keeps(&self, plan: &Recovery, spares: &BTreeMap<(u32, u32), Vec<Spare>>) -> Verdict {
        let planned = plan.first.iter().chain(&plan.later);
        let gone: BTreeSet<_> =
            planned.filter(|place| !place.lives).map(|place| (place.block, place.page)).collect();
        let trusted = |page: &&Found| {
            spares.contains_key(&page.place)
                && !self.untrusted.contains(&page.place)
                && !gone.contains(&page.place)
        };
        let left = self.pages.iter().filter(trusted).flat_map(|page| &page.units);
        let left: BTreeSet<_> = left.map(|unit| (unit.spare.lpn.0, unit.sequence)).collect();
        match self.newest.iter().find(|&(&lpn, &sequence)| !left.contains(&(lpn, sequence))) {
            Some((lpn, _)) => Err(format!("the recovery locks the only copy of unit {lpn}")),
            None => Ok(()),
        }
    }
}

impl Lapse {
    fn leave_out(self, plan: &mut Recovery, scene: &Scene) {
        let is_torn = |place: &Place| scene.untrusted.contains(&(place.block, place.page));
        match self {
            Lapse::Nothing => {}
            Lapse::Everything => *plan = Recovery::default(),
            Lapse::Old => plan.first.retain(is_torn),
            Lapse::Torn => plan.first.retain(|place| !is_torn(place)),
            Lapse::Background => (plan.later, plan.blocks) = (Vec::new(), Vec::new()),
        }
    }
}

impl Cutter {
    /// Pages whose locks were cut short answer as often as their cells say.
    fn count_torn(&mut self, chips: &TornChips, now: SimTime, cells: u32) {
        // Where an old lock was being set again that one still holds.
        let is_first =
            |&((block, page), _): &((u32, u32), u64)| chips.chip().raw_read(block, page, now, 0) == Raw::Data;
        for ((block, page), ns) in chips.torn_locks().filter(is_first) {
            let chance = majority_lost(cells, PageLock::CHOSEN.flipped(0.0, Some(ns as f64 / 1e3)));
            self.tally.torn += 1;
            self.tally.answered += u64::from(chips.raw_read(block, page, now, 0) == Raw::Data);
            self.tally.expected += chance;
            self.tally.variance += chance * (1.0 - chance);
        }
    }

    /// Pages that are locked, and that answer again after a year.
    fn count_years(&mut self, chips: &TornChips, scene: &Scene, now: SimTime, cells: u32) {
        let is_locked = |page: &&Found| chips.raw_read(page.place.0, page.place.1, now, 0) == Raw::Zeros;
        let lost = majority_lost(cells, PageLock::CHOSEN.flipped(YEAR as f64 / 60.0, None));
        for page in scene.pages.iter().filter(is_locked) {
            self.tally.locked += 1;
            self.tally.expected_after_year += lost;
            let answers = chips.raw_read(page.place.0, page.place.1, now, YEAR) == Raw::Data;
            self.tally.after_year += u64::from(answers);
        }
    }
}
