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
use std::collections::BTreeSet;
use std::ops::Range;

/// Where a page is: its block, and which page of that.
pub type Place = (u32, u32);

/// Chances of a locked page to answer that its flags give: of so few one in a run may, and no two.
const BY_CHANCE: Range<f64> = 1e-9..1e-3;

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
    pub place: Place,
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
    units: Units,
}

/// The units of a page by their numbers, in that order.
#[derive(Default)]
struct Units(Vec<(u32, Unit)>);

impl Units {
    fn place_of(&self, at: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&at, |(at, _)| *at)
    }

    fn get(&self, at: u32) -> Option<&Unit> {
        self.place_of(at).ok().map(|found| &self.0[found].1)
    }

    fn get_mut(&mut self, at: u32) -> Option<&mut Unit> {
        self.place_of(at).ok().map(|found| &mut self.0[found].1)
    }

    fn insert(&mut self, at: u32, unit: Unit) {
        match self.place_of(at) {
            Ok(found) => self.0[found].1 = unit,
            Err(free) => self.0.insert(free, (at, unit)),
        }
    }

    fn values(&self) -> impl Iterator<Item = &Unit> {
        self.0.iter().map(|(_, unit)| unit)
    }
}

/// Pages by their places, in that order.
#[derive(Default)]
struct Pages(Vec<Vec<Option<Page>>>);

impl Pages {
    fn get(&self, (block, page): Place) -> Option<&Page> {
        self.0.get(block as usize)?.get(page as usize)?.as_ref()
    }

    fn get_mut(&mut self, (block, page): Place) -> Option<&mut Page> {
        self.0.get_mut(block as usize)?.get_mut(page as usize)?.as_mut()
    }

    fn insert(&mut self, (block, page): Place, what: Page) {
        let (block, page) = (block as usize, page as usize);
        self.0.resize_with(self.0.len().max(block + 1), Vec::new);
        let pages = &mut self.0[block];
        pages.resize_with(pages.len().max(page + 1), || None);
        pages[page] = Some(what);
    }

    /// What a block holds, which then holds nothing.
    fn take(&mut self, block: u32) -> Vec<(Place, Page)> {
        let taken = self.0.get_mut(block as usize).map(std::mem::take).unwrap_or_default();
        let placed = taken.into_iter().enumerate();
        placed.filter_map(|(page, what)| Some(((block, page as u32), what?))).collect()
    }

    fn of_block(&self, block: u32) -> impl Iterator<Item = (Place, &Page)> {
        let pages = self.0.get(block as usize).into_iter().flatten().enumerate();
        pages.filter_map(move |(page, what)| Some(((block, page as u32), what.as_ref()?)))
    }

    /// Some pages of one block.
    fn range_mut(&mut self, block: u32, pages: Range<u32>) -> impl Iterator<Item = &mut Page> {
        let of_block = self.0.get_mut(block as usize).into_iter().flatten();
        of_block.take(pages.end as usize).skip(pages.start as usize).flatten()
    }

    fn iter(&self) -> impl Iterator<Item = (Place, &Page)> {
        (0..self.0.len() as u32).flat_map(|block| self.of_block(block))
    }

    fn values(&self) -> impl Iterator<Item = &Page> {
        self.0.iter().flatten().flatten()
    }
}

/// What stands at a place of a list, which grows up to there.
fn at<T: Default + Clone>(list: &mut Vec<T>, place: u32) -> &mut T {
    let place = place as usize;
    list.resize(list.len().max(place + 1), T::default());
    &mut list[place]
}

/// All chips.
#[derive(Default)]
pub struct Chips {
    pages: Pages,
    /// Where a unit of flash, as the firmware counts them, is on the chips.
    places: Vec<Option<Place>>,
    /// The page whose units are being told.
    open: Option<Place>,
    sequence: u64,
    /// Units of flash that were programmed with a logical unit since, by that.
    of_unit: Vec<Vec<u32>>,
    /// Blocks that are locked, and those that are being erased, with what they held until then.
    locked: BTreeSet<u32>,
    erasing: BTreeSet<u32>,
    going: Pages,
    /// Pages whose flags have lost their charge by chance.
    answering: BTreeSet<Place>,
    /// Pages of a wordline, where one follows the other, and whether what is hidden is noise.
    pages_per_wordline: u32,
    noisy: bool,
    /// Blocks that were programmed with one bit a cell.
    one_bit: Vec<bool>,
    /// Cuts between a program's begin and its end, and others.
    pub cuts_in_programs: u64,
    pub cuts: u64,
    /// Pages of one bit a cell that were scrubbed or reprogrammed.
    pub one_bit_hidden: u64,
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
            ChipEffect::ProgramBegins { block, page, one_bit, .. } => {
                let place = (block, page);
                self.note_bits(place, one_bit)?;
                if self.locked.contains(&block) {
                    return Err(format!("page {page} of block {block} is programmed, and that is locked"));
                }
                if self.pages.get(place).is_some_and(|page| page.whole) {
                    return Err(format!("page {page} of block {block} is programmed over data"));
                }
                if self.noisy && self.wordline_of(&self.pages, place).any(|(_, page)| page.hidden) {
                    return Err(format!("page {page} of block {block} is programmed on a wordline of noise"));
                }
                let page = Page { whole: false, ended: false, hidden: false, units: Units::default() };
                self.pages.insert(place, page);
                self.open = Some(place);
            }
            ChipEffect::Spare { to, lpn, from, facts } => self.fill(to, lpn.0, from, facts, oracle)?,
            ChipEffect::ProgramEnds { block, page, failed } => {
                let Some(found) = self.pages.get_mut((block, page)) else {
                    return Err(format!("the program of page {page} of block {block} ends and never began"));
                };
                (found.whole, found.ended) = (!failed, true);
            }
            ChipEffect::EraseBegins { block } => {
                self.erasing.insert(block);
                for (place, page) in self.pages.take(block) {
                    for (unit, held) in &page.units.0 {
                        at(&mut self.of_unit, held.lpn).retain(|other| other != unit);
                    }
                    self.going.insert(place, page);
                }
            }
            ChipEffect::PulseBegins { .. } => {}
            ChipEffect::LockPage { block, page, failed } | ChipEffect::Reprogram { block, page, failed } => {
                let Some(found) = self.pages.get_mut((block, page)).filter(|found| found.ended) else {
                    return Err(format!("page {page} of block {block} is locked, and was not programmed"));
                };
                found.hidden |= !failed;
                self.one_bit_hidden += u64::from(self.noisy && !failed && self.is_one_bit(block));
            }
            ChipEffect::LockBlock { block, failed } => {
                if !failed {
                    self.locked.insert(block);
                    self.pages.range_mut(block, 0..u32::MAX).for_each(|page| page.hidden = true);
                }
            }
            ChipEffect::Scrub { block, page, one_bit, failed } => {
                if one_bit != self.is_one_bit(block) {
                    return Err(format!(
                        "page {page} of block {block} is scrubbed as one of other bits a cell"
                    ));
                }
                let wordline = self.wordline((block, page));
                self.one_bit_hidden += u64::from(one_bit && !failed);
                for found in self.pages.range_mut(block, wordline).filter(|_| !failed) {
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
                self.going.take(block);
                if self.pages.of_block(block).next().is_some() {
                    return Err(format!("block {block} was programmed while it was erased"));
                }
            }
        }
        Ok(())
    }

    /// A page is programmed with one bit a cell, or is not: its block was opened so, and a page is a wordline then.
    fn note_bits(&mut self, (block, page): Place, one_bit: bool) -> Verdict {
        let found = at(&mut self.one_bit, block);
        if page == 0 {
            *found = one_bit;
        }
        match *found == one_bit {
            true => Ok(()),
            false => Err(format!("page {page} of block {block} is programmed with other bits a cell")),
        }
    }

    /// Whether a block was programmed with one bit a cell since its last erase.
    pub fn is_one_bit(&self, block: u32) -> bool {
        self.one_bit.get(block as usize).copied().unwrap_or(false)
    }

    /// The pages of a page's wordline.
    fn wordline(&self, (block, page): Place) -> Range<u32> {
        let width = if self.is_one_bit(block) { 1 } else { self.pages_per_wordline };
        let first = page / width * width;
        first..first + width
    }

    /// Those of them that are there.
    fn wordline_of<'a>(
        &self,
        pages: &'a Pages,
        (block, page): Place,
    ) -> impl Iterator<Item = (Place, &'a Page)> {
        let wordline = self.wordline((block, page));
        wordline.filter_map(move |page| pages.get((block, page)).map(|found| ((block, page), found)))
    }

    /// Cells make no errors, and a page cannot be corrected: one beside it was reprogrammed.
    pub fn is_spoiled(&self, mut units: Range<u32>) -> Verdict {
        let place = units.find_map(|unit| self.place_of(unit));
        let place = place.ok_or("a page cannot be corrected, and was not programmed")?;
        let is_noise = |(at, page): (Place, &Page)| at != place && page.hidden;
        // Its erase may have begun since it was read, or where no time passes have ended.
        let mut wordline =
            [&self.pages, &self.going].into_iter().flat_map(|pages| self.wordline_of(pages, place));
        let is_erased = self.pages.get(place).is_none() && self.going.get(place).is_none();
        match self.noisy && (is_erased || wordline.any(is_noise)) {
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
        if !oracle.has(lpn, to.0) {
            return Err(format!("unit {lpn} goes to flash unit {}, one of which there is not", to.0));
        }
        *at(&mut self.places, to.0) = Some(place);
        let copies = at(&mut self.of_unit, lpn);
        if !copies.contains(&to.0) {
            copies.push(to.0);
        }
        let page = self.pages.get_mut(place).ok_or("a page that is told of was begun")?;
        page.units.insert(to.0, Unit { lpn, sequence, facts, data });
        Ok(())
    }

    fn place_of(&self, unit: u32) -> Option<Place> {
        self.places.get(unit as usize).copied().flatten()
    }

    fn unit(&self, unit: u32) -> Option<&Unit> {
        self.pages.get(self.place_of(unit)?)?.units.get(unit)
    }

    /// Where a thief reads a version of a granule, if anywhere.
    pub fn find(&self, lpn: u32, granule: usize, version: u64) -> Option<Place> {
        let holds = |&at: &u32| {
            let place = self.place_of(at)?;
            let page = self.pages.get(place).filter(|page| page.ended && !page.hidden)?;
            (page.units.get(at)?.data.as_ref()?[granule] == version).then_some(place)
        };
        self.of_unit.get(lpn as usize)?.iter().find_map(holds)
    }

    /// What a thief reads on a page.
    pub fn on_page(&self, block: u32, page: u32) -> impl Iterator<Item = (u32, &[u64])> {
        let found = self.pages.get((block, page)).filter(|page| page.ended && !page.hidden);
        let units = found.into_iter().flat_map(|page| page.units.values());
        units.filter_map(|unit| Some((unit.lpn, unit.data.as_deref()?)))
    }

    /// Whether the chips answer a thief as they must, page by page.
    pub fn check_answers(&mut self, drive: &Drive, pages_per_block: u32) -> Verdict {
        let chips = drive.chips();
        for block in (0..chips.blocks()).filter(|block| !self.erasing.contains(block)) {
            for page in 0..pages_per_block {
                let expected = match self.pages.get((block, page)).filter(|page| page.ended) {
                    _ if self.locked.contains(&block) => Raw::Zeros,
                    None => Raw::Erased,
                    Some(page) if page.hidden && self.noisy => Raw::Noise,
                    Some(page) if page.hidden => Raw::Zeros,
                    Some(_) => Raw::Data,
                };
                let found = chips.raw_read(block, page, drive.now(), 0);
                let is_lost = (expected, found) == (Raw::Zeros, Raw::Data) && {
                    let chance = chips.chance_of_answer(block, page, drive.now(), 0);
                    chance.is_some_and(|chance| BY_CHANCE.contains(&chance))
                };
                if is_lost {
                    self.answering.insert((block, page));
                }
                if found != expected && !(is_lost && self.answering.len() == 1) {
                    return Err(format!("page {page} of block {block} answers {found:?}, not {expected:?}"));
                }
            }
        }
        self.check_copies(drive, pages_per_block)
    }

    /// What is hidden is hidden in copies, too, that a thief has the chips make, in a block that holds nothing of it.
    fn check_copies(&self, drive: &Drive, pages_per_block: u32) -> Verdict {
        let is_hidden = |(place, page): &(Place, &Page)| {
            page.ended && (page.hidden || self.locked.contains(&place.0)) && !self.erasing.contains(&place.0)
        };
        let hidden = self.pages.iter().filter(is_hidden).map(|(place, _)| place);
        let hidden: Vec<_> = hidden.filter(|place| !self.answering.contains(place)).collect();
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
        self.pages.iter().chain(self.going.iter()).map(|(place, page)| Found {
            place,
            is_whole: page.whole,
            units: page.units.values().filter_map(Seen::of).collect(),
        })
    }

    /// A unit was placed below the buffer: this is its data.
    pub fn place(&mut self, unit: u32, data: Vec<u64>) -> Verdict {
        let place = self.place_of(unit).ok_or("a unit was placed and not programmed")?;
        let page = self.pages.get_mut(place).ok_or("a unit was placed in a page that was not programmed")?;
        page.units.get_mut(unit).ok_or("a unit was placed in another")?.data = Some(data);
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
        let mut newest: Vec<Option<&Unit>> = vec![None; oracle.units()];
        for unit in
            self.pages.values().filter(|page| page.whole && !page.hidden).flat_map(|page| page.units.values())
        {
            let found = newest[unit.lpn as usize].get_or_insert(unit);
            let (told, before) = (unit.facts.sequence(), found.facts.sequence());
            if told > 0 && before > 0 && told.cmp(&before) != unit.sequence.cmp(&found.sequence) {
                return Err(format!("unit {}: the spare areas say {told} and {before}, else", unit.lpn));
            }
            if unit.sequence > found.sequence {
                *found = unit;
            }
        }
        oracle.finds(|lpn| newest[lpn as usize].and_then(|unit| unit.data.as_deref()))
    }
}
