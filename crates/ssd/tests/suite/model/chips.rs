//! The chips with their bytes, as somebody who is cut off between any two effects finds them: pages, the spare area of
//! each unit, and nothing of the drive's memory. A scan of the spare areas must find what was promised to be durable.
//!
//! Of several copies of a logical unit the one written last by the host counts; copies keep the number of what they
//! were copied from. Drives whose policies ask for no facts carry no sequence in their spare areas, so the numbers are
//! the observer's own, in the order in which programs begin; where there are facts, both must order alike.

use super::oracle::{Oracle, Verdict};
use ssd::ftl::sanitize;
use ssd::nand::Raw;
use ssd::observe::{ChipEffect, Source};
use ssd::signals::{Facts, Spare};
use ssd::units::{Lpn, Pun};
use ssd::{Drive, DriveConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What is in one unit of a page, spare area and data.
struct Unit {
    lpn: u32,
    sequence: u64,
    facts: Facts,
    /// Versions by granule, as the oracle counts them; `None` until the oracle says what was placed.
    data: Option<Vec<u64>>,
}

/// What somebody makes of a page.
pub struct Found<'a> {
    pub place: (u32, u32),
    /// Its program has ended, and well.
    pub is_whole: bool,
    pub units: Vec<Seen<'a>>,
}

/// A unit of it: what its spare area says, its place among all writes as we count them, and its data.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub spare: Spare,
    pub sequence: u64,
    pub data: &'a [u64],
}

impl Seen<'_> {
    fn of(unit: &Unit) -> Option<Seen<'_>> {
        let spare = Spare { lpn: Lpn(unit.lpn), facts: unit.facts };
        unit.data.as_deref().map(|data| Seen { spare, sequence: unit.sequence, data })
    }
}

/// A page that was programmed, or is being.
struct Page {
    /// Whether it can be read: its program has ended, and well.
    whole: bool,
    /// Whether its program has ended at all: of one that failed a thief may make something.
    ended: bool,
    /// Whether it is locked.
    hidden: bool,
    units: BTreeMap<u32, Unit>,
}

/// All chips.
#[derive(Default)]
pub struct Chips {
    /// By block and page.
    pages: BTreeMap<(u32, u32), Page>,
    /// Where a unit of flash, as the firmware counts them, is on the chips.
    places: BTreeMap<u32, (u32, u32)>,
    /// The page whose units are being told.
    open: Option<(u32, u32)>,
    sequence: u64,
    /// Units of flash that were programmed with a logical unit since, by that.
    of_unit: BTreeMap<u32, BTreeSet<u32>>,
    /// Blocks that are locked, and those that are being erased, with what they held until then.
    locked: BTreeSet<u32>,
    erasing: BTreeSet<u32>,
    going: BTreeMap<(u32, u32), Page>,
    /// Pages of a wordline, where one follows the other, and whether what is hidden is noise.
    pages_per_wordline: u32,
    noisy: bool,
    /// Cuts between a program's begin and its end, and others.
    pub cuts_in_programs: u64,
    pub cuts: u64,
}

impl Chips {
    /// The chips of a drive, whose wordlines may be scrubbed.
    pub fn of(cfg: &DriveConfig) -> Self {
        Chips {
            pages_per_wordline: cfg.geometry.bits_per_cell,
            noisy: [sanitize::scrub::NAME, sanitize::reprogram::NAME].contains(&cfg.sanitize.name()),
            ..Chips::default()
        }
    }

    /// A chip did something; `oracle` has seen all that was before.
    pub fn apply(&mut self, effect: ChipEffect, oracle: &Oracle) -> Verdict {
        match effect {
            ChipEffect::ProgramBegins { block, page, .. } => {
                let place = (block, page);
                if self.locked.contains(&block) {
                    return Err(format!("page {page} of block {block} is programmed, and that is locked"));
                }
                if self.pages.get(&place).is_some_and(|page| page.whole) {
                    return Err(format!("page {page} of block {block} is programmed over data"));
                }
                if self.noisy && self.pages.range(self.wordline(place)).any(|(_, page)| page.hidden) {
                    return Err(format!("page {page} of block {block} is programmed on a wordline of noise"));
                }
                let page = Page { whole: false, ended: false, hidden: false, units: BTreeMap::new() };
                self.pages.insert(place, page);
                self.open = Some(place);
            }
            ChipEffect::Spare { to, lpn, from, facts } => self.fill(to, lpn.0, from, facts, oracle)?,
            ChipEffect::ProgramEnds { block, page, failed } => {
                let Some(found) = self.pages.get_mut(&(block, page)) else {
                    return Err(format!("the program of page {page} of block {block} ends and never began"));
                };
                (found.whole, found.ended) = (!failed, true);
            }
            ChipEffect::EraseBegins { block } => {
                self.erasing.insert(block);
                let first = self.pages.range((block, 0)..(block + 1, 0)).flat_map(|(_, page)| &page.units);
                for (at, unit) in first {
                    self.of_unit.entry(unit.lpn).or_default().remove(at);
                }
                let rest = self.pages.split_off(&(block, 0));
                for (place, page) in rest {
                    if place.0 == block { &mut self.going } else { &mut self.pages }.insert(place, page);
                }
            }
            ChipEffect::PulseBegins { .. } => {}
            ChipEffect::LockPage { block, page, failed } | ChipEffect::Reprogram { block, page, failed } => {
                let Some(found) = self.pages.get_mut(&(block, page)).filter(|found| found.ended) else {
                    return Err(format!("page {page} of block {block} is locked, and was not programmed"));
                };
                found.hidden |= !failed;
            }
            ChipEffect::LockBlock { block, failed } => {
                if !failed {
                    self.locked.insert(block);
                    let pages = self.pages.range_mut((block, 0)..(block + 1, 0));
                    pages.for_each(|(_, page)| page.hidden = true);
                }
            }
            ChipEffect::Scrub { block, page, failed } => {
                let wordline = self.wordline((block, page));
                for (_, found) in self.pages.range_mut(wordline).filter(|_| !failed) {
                    if !found.ended {
                        return Err(format!(
                            "page {page} of block {block} is scrubbed and programmed at once"
                        ));
                    }
                    found.hidden = true;
                }
            }
            ChipEffect::EraseEnds { block } => {
                self.erasing.remove(&block);
                self.locked.remove(&block);
                self.going.retain(|place, _| place.0 != block);
                if self.pages.keys().any(|place| place.0 == block) {
                    return Err(format!("block {block} was programmed while it was erased"));
                }
            }
        }
        Ok(())
    }

    /// The pages of a page's wordline.
    fn wordline(&self, (block, page): (u32, u32)) -> Range<(u32, u32)> {
        let first = page / self.pages_per_wordline * self.pages_per_wordline;
        (block, first)..(block, first + self.pages_per_wordline)
    }

    /// Cells make no errors, and a page cannot be corrected: one beside it was reprogrammed.
    pub fn is_spoiled(&self, mut units: Range<u32>) -> Verdict {
        let place = units.find_map(|unit| self.places.get(&unit)).copied();
        let place = place.ok_or("a page cannot be corrected, and was not programmed")?;
        let is_noise = |(at, page): (&(u32, u32), &Page)| *at != place && page.hidden;
        // Its erase may have begun since it was read, or where no time passes have ended.
        let wordline = [&self.pages, &self.going].map(|pages| pages.range(self.wordline(place)));
        let is_erased = !self.pages.contains_key(&place) && !self.going.contains_key(&place);
        match self.noisy && (is_erased || wordline.into_iter().flatten().any(is_noise)) {
            true => Ok(()),
            false => Err(format!("page {place:?} is lost, and none of its wordline was reprogrammed")),
        }
    }

    fn fill(&mut self, to: Pun, lpn: u32, from: Source, facts: Facts, oracle: &Oracle) -> Verdict {
        let Some(place) = self.open else { return Err(format!("unit {lpn} goes into no page")) };
        let (sequence, facts, data) = match from {
            Source::Slot(slot) => {
                self.sequence += 1;
                let data = oracle.slot_data(slot.0, lpn).ok_or("a program from a slot of another unit")?;
                (self.sequence, facts, Some(data))
            }
            Source::Zero => {
                self.sequence += 1;
                (self.sequence, facts, None)
            }
            Source::Flash(unit) => {
                let found = self.unit(unit.0).filter(|found| found.lpn == lpn);
                let found =
                    found.ok_or_else(|| format!("unit {lpn} copied from {unit:?}, which holds another"))?;
                let kept = if facts.sequence() == 0 { found.facts } else { facts };
                (found.sequence, kept, found.data.clone())
            }
        };
        self.places.insert(to.0, place);
        self.of_unit.entry(lpn).or_default().insert(to.0);
        let page = self.pages.get_mut(&place).ok_or("a page that is told of was begun")?;
        page.units.insert(to.0, Unit { lpn, sequence, facts, data });
        Ok(())
    }

    fn unit(&self, unit: u32) -> Option<&Unit> {
        let page = self.pages.get(self.places.get(&unit)?)?;
        page.units.get(&unit)
    }

    /// Where a thief reads a version of a granule, if anywhere.
    pub fn find(&self, lpn: u32, granule: usize, version: u64) -> Option<(u32, u32)> {
        let holds = |at: &&u32| {
            let place = &self.places[at];
            let page = self.pages.get(place).filter(|page| page.ended && !page.hidden);
            page.and_then(|page| page.units.get(at)?.data.as_ref())
                .is_some_and(|data| data[granule] == version)
        };
        self.of_unit.get(&lpn)?.iter().find(holds).map(|at| self.places[at])
    }

    /// What a thief reads on a page.
    pub fn on_page(&self, block: u32, page: u32) -> impl Iterator<Item = (u32, Vec<u64>)> {
        let found = self.pages.get(&(block, page)).filter(|page| page.ended && !page.hidden);
        let units = found.into_iter().flat_map(|page| page.units.values());
        units.filter_map(|unit| Some((unit.lpn, unit.data.clone()?)))
    }

    /// Whether the chips answer a thief as they must, page by page.
    pub fn check_answers(&self, drive: &Drive, pages_per_block: u32) -> Verdict {
        let chips = drive.chips();
        for block in (0..chips.blocks()).filter(|block| !self.erasing.contains(block)) {
            for page in 0..pages_per_block {
                let expected = match self.pages.get(&(block, page)).filter(|page| page.ended) {
                    _ if self.locked.contains(&block) => Raw::Zeros,
                    None => Raw::Erased,
                    Some(page) if page.hidden && self.noisy => Raw::Noise,
                    Some(page) if page.hidden => Raw::Zeros,
                    Some(_) => Raw::Data,
                };
                let found = chips.raw_read(block, page, drive.now(), 0);
                if found != expected {
                    return Err(format!("page {page} of block {block} answers {found:?}, not {expected:?}"));
                }
            }
        }
        self.check_copies(drive, pages_per_block)
    }

    /// What is hidden is hidden in copies, too, that a thief has the chips make, in a block that holds nothing of it.
    fn check_copies(&self, drive: &Drive, pages_per_block: u32) -> Verdict {
        let is_hidden = |(place, page): &(&(u32, u32), &Page)| {
            page.ended && (page.hidden || self.locked.contains(&place.0)) && !self.erasing.contains(&place.0)
        };
        let hidden: Vec<_> = self.pages.iter().filter(is_hidden).map(|(&place, _)| place).collect();
        let mut chips = drive.chips().clone();
        let holds = |block: &u32| hidden.iter().all(|place| place.0 != *block);
        let Some(to) = (0..chips.blocks()).find(holds) else { return Ok(()) };
        chips.erase(to);
        for (block, page) in hidden {
            if chips.programmed_pages(to) == pages_per_block {
                chips.erase(to);
            }
            let found = chips.raw_copy((block, page), to, drive.now());
            if found == Raw::Data {
                return Err(format!("a thief copies page {page} of block {block}, and reads it there"));
            }
        }
        Ok(())
    }

    /// Every page that holds anything, or did before the erase that is under way.
    pub fn everything(&self) -> impl Iterator<Item = Found<'_>> {
        self.pages.iter().chain(&self.going).map(|(&place, page)| Found {
            place,
            is_whole: page.whole,
            units: page.units.values().filter_map(Seen::of).collect(),
        })
    }

    /// A unit was placed below the buffer: this is its data.
    pub fn place(&mut self, unit: u32, data: Vec<u64>) -> Verdict {
        let place = self.places.get(&unit).ok_or("a unit was placed and not programmed")?;
        let page = self.pages.get_mut(place).ok_or("a unit was placed in a page that was not programmed")?;
        page.units.get_mut(&unit).ok_or("a unit was placed in another")?.data = Some(data);
        Ok(())
    }

    /// The power is cut here: what a scan of the spare areas finds newest of each logical unit holds what was promised.
    pub fn cut(&mut self, oracle: &Oracle) -> Verdict {
        if self.pages.values().flat_map(|page| page.units.values()).any(|unit| unit.data.is_none()) {
            // The oracle has yet to say what is being placed.
            return Ok(());
        }
        self.cuts += 1;
        self.cuts_in_programs += u64::from(self.pages.values().any(|page| !page.whole));
        let mut newest: BTreeMap<u32, &Unit> = BTreeMap::new();
        for unit in
            self.pages.values().filter(|page| page.whole && !page.hidden).flat_map(|page| page.units.values())
        {
            let found = newest.entry(unit.lpn).or_insert(unit);
            let (told, before) = (unit.facts.sequence(), found.facts.sequence());
            if told > 0 && before > 0 && told.cmp(&before) != unit.sequence.cmp(&found.sequence) {
                return Err(format!("unit {}: the spare areas say {told} and {before}, else", unit.lpn));
            }
            if unit.sequence > found.sequence {
                *found = unit;
            }
        }
        oracle.finds(|lpn| newest.get(&lpn).and_then(|unit| unit.data.as_deref()))
    }
}
