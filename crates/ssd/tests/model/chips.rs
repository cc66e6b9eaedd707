//! The chips with their bytes, as somebody who is cut off between any two effects finds them: pages, the spare area of
//! each unit, and nothing of the drive's memory. A scan of the spare areas must find what was promised to be durable.
//!
//! Of several copies of a logical unit the one written last by the host counts; copies keep the number of what they
//! were copied from. Drives whose policies ask for no facts carry no sequence in their spare areas, so the numbers are
//! the observer's own, in the order in which programs begin; where there are facts, both must order alike.

use super::oracle::{Oracle, Verdict};
use ssd::observe::{ChipEffect, Source};
use ssd::signals::Facts;
use ssd::units::Pun;
use std::collections::BTreeMap;

/// What is in one unit of a page, spare area and data.
struct Unit {
    lpn: u32,
    sequence: u64,
    facts: Facts,
    /// Versions by granule, as the oracle counts them; `None` until the oracle says what was placed.
    data: Option<Vec<u64>>,
}

/// A page that was programmed, or is being.
struct Page {
    /// Whether it can be read: its program has ended, and well.
    whole: bool,
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
    /// Cuts between a program's begin and its end, and others.
    pub cuts_in_programs: u64,
    pub cuts: u64,
}

impl Chips {
    /// A chip did something; `oracle` has seen all that was before.
    pub fn apply(&mut self, effect: ChipEffect, oracle: &Oracle) -> Verdict {
        match effect {
            ChipEffect::ProgramBegins { block, page, .. } => {
                let place = (block, page);
                if self.pages.get(&place).is_some_and(|page| page.whole) {
                    return Err(format!("page {page} of block {block} is programmed over data"));
                }
                self.pages.insert(place, Page { whole: false, units: BTreeMap::new() });
                self.open = Some(place);
            }
            ChipEffect::Spare { to, lpn, from, facts } => self.fill(to, lpn.0, from, facts, oracle)?,
            ChipEffect::ProgramEnds { block, page, failed } => {
                let Some(found) = self.pages.get_mut(&(block, page)) else {
                    return Err(format!("the program of page {page} of block {block} ends and never began"));
                };
                found.whole = !failed;
            }
            ChipEffect::EraseBegins { block } => self.pages.retain(|place, _| place.0 != block),
            ChipEffect::EraseEnds { block } => {
                if self.pages.keys().any(|place| place.0 == block) {
                    return Err(format!("block {block} was programmed while it was erased"));
                }
            }
        }
        Ok(())
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
        let page = self.pages.get_mut(&place).ok_or("a page that is told of was begun")?;
        page.units.insert(to.0, Unit { lpn, sequence, facts, data });
        Ok(())
    }

    fn unit(&self, unit: u32) -> Option<&Unit> {
        let page = self.pages.get(self.places.get(&unit)?)?;
        page.units.get(&unit)
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
        for unit in self.pages.values().filter(|page| page.whole).flat_map(|page| page.units.values()) {
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
