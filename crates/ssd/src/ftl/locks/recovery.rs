//! After a power cut: what a drive that finds nothing but its chips must lock.
//!
//! A pure function of a scan: what each page answers, and what the spare areas of its units say. Nothing here knows
//! tables or journals, so a unit that was trimmed, and whose lock nobody has waited for, counts as alive again.

use crate::nand::Raw;
use crate::signals::{Hints, Spare};
use std::collections::BTreeMap;

/// What a scan finds of a page.
#[derive(Clone, Copy, Debug)]
pub struct Scanned<'a> {
    /// The physical block, counted over the drive.
    pub block: u32,
    /// The page in it.
    pub page: u32,
    /// What it answers.
    pub raw: Raw,
    /// Whether what it answers can be trusted: all of it is corrected, and its program has ended well.
    pub is_whole: bool,
    /// The spare areas of its units, as far as there are any.
    pub units: &'a [Spare],
}

/// A page to be locked, or its wordline scrubbed, or its block erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The physical block.
    pub block: u32,
    /// The page in it.
    pub page: u32,
    /// Something lives there, and moves elsewhere first.
    pub lives: bool,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Before the drive serves: pages that answer with a secured version of which there is a newer one, and pages that
    /// answer and cannot be trusted, whatever they hold.
    pub first: Vec<Place>,
    /// In the background: pages that answer with a secured copy of what lives elsewhere, and pages that answer zeros,
    /// whose locks may have been cut short and would not last.
    pub later: Vec<Place>,
    /// In the background too: blocks that answer zeros on every page. Nothing lives there; an erase ends it for sure,
    /// whether the block was locked or its erase cut short.
    pub blocks: Vec<u32>,
}

/// How fast chips lock.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Physical blocks of a die: dies work side by side, and do one thing after the other.
    pub blocks_per_die: u32,
    /// A lock of a page; ns.
    pub page_ns: u64,
    /// What is done to a block that answers zeros; ns.
    pub block_ns: u64,
}

impl Pace {
    /// The time of the die that has most to do.
    fn longest_ns(&self, pages: &[Place], blocks: &[u32]) -> u64 {
        let pages = pages.iter().map(|place| (place.block, self.page_ns));
        let blocks = blocks.iter().map(|&block| (block, self.block_ns));
        let mut dies: BTreeMap<u32, u64> = BTreeMap::new();
        for (block, ns) in pages.chain(blocks) {
            *dies.entry(block / self.blocks_per_die.max(1)).or_default() += ns;
        }
        dies.into_values().max().unwrap_or_default()
    }
}

impl Recovery {
    /// How long the drive does not serve, what moves first left out.
    pub fn first_ns(&self, pace: &Pace) -> u64 {
        pace.longest_ns(&self.first, &[])
    }

    /// How long the rest takes, if nothing else is done.
    pub fn later_ns(&self, pace: &Pace) -> u64 {
        pace.longest_ns(&self.later, &self.blocks)
    }
}

/// Where the copy of a logical unit is that counts: in the page that was scanned so, at a place there.
type Newest = BTreeMap<u32, (u64, usize, usize)>;

/// Of several copies that can be trusted the one written last counts, of those alike the first.
fn newest(pages: &[Scanned]) -> Newest {
    let mut newest = Newest::new();
    let whole = |page: &&Scanned| page.raw == Raw::Data && page.is_whole;
    for (at, page) in pages.iter().enumerate().filter(|(_, page)| whole(page)) {
        for (unit, spare) in page.units.iter().enumerate() {
            let found = newest.entry(spare.lpn.0).or_insert((spare.facts.sequence(), at, unit));
            if spare.facts.sequence() > found.0 {
                *found = (spare.facts.sequence(), at, unit);
            }
        }
    }
    newest
}

/// What must be locked before the drive serves, and what in the background, by a scan of all pages of the chips: those
/// of a block together. Pages that are erased or noise need nothing.
pub fn recover(pages: &[Scanned]) -> Recovery {
    let newest = newest(pages);
    let mut recovery = Recovery::default();
    let mut from = 0;
    for block in pages.chunk_by(|a, b| a.block == b.block) {
        if block.iter().all(|page| page.raw == Raw::Zeros) {
            recovery.blocks.push(block[0].block);
        } else {
            for (at, page) in (from..).zip(block) {
                sort(&newest, (at, page), &mut recovery);
            }
        }
        from += block.len();
    }
    recovery
}

fn sort(newest: &Newest, (at, page): (usize, &Scanned), recovery: &mut Recovery) {
    let place = Place { block: page.block, page: page.page, lives: false };
    match page.raw {
        Raw::Zeros => return recovery.later.push(place),
        Raw::Erased | Raw::Noise => return,
        Raw::Data if !page.is_whole => return recovery.first.push(place),
        Raw::Data => {}
    }
    let (mut lives, mut is_old, mut is_double) = (false, false, false);
    for (unit, spare) in page.units.iter().enumerate() {
        let &(sequence, where_at, which) = &newest[&spare.lpn.0];
        let is_secured = spare.facts.class() == Hints::SECURE.into();
        lives |= (where_at, which) == (at, unit);
        is_old |= is_secured && spare.facts.sequence() < sequence;
        is_double |= is_secured && spare.facts.sequence() == sequence && (where_at, which) != (at, unit);
    }
    let place = Place { lives, ..place };
    match () {
        () if is_old => recovery.first.push(place),
        () if is_double => recovery.later.push(place),
        () => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::Facts;
    use crate::units::Lpn;

    fn spare(lpn: u32, sequence: u64, class: u8) -> Spare {
        Spare { lpn: Lpn(lpn), facts: Facts::NONE.with_sequence(sequence).with_class(class.into()) }
    }

    fn page(block: u32, page: u32, raw: Raw, units: &[Spare]) -> Scanned<'_> {
        Scanned { block, page, raw, is_whole: true, units }
    }

    fn places(places: &[Place]) -> Vec<(u32, u32, bool)> {
        places.iter().map(|place| (place.block, place.page, place.lives)).collect()
    }

    /// Each kind of page once: nine pages of three blocks.
    #[test]
    fn every_kind_of_page_is_told_apart() {
        const S: u8 = Hints::SECURE;
        let old = [spare(1, 10, S)];
        let open = [spare(2, 11, Hints::INSECURE)];
        let mixed = [spare(3, 12, S), spare(4, 13, S)];
        let new = [spare(1, 20, S), spare(2, 21, S)];
        let copied = [spare(3, 30, S), spare(1, 20, S)];
        let torn = [spare(4, 40, S)];
        let pages = [
            page(0, 0, Raw::Data, &old),
            page(0, 1, Raw::Data, &open),
            page(0, 2, Raw::Data, &mixed),
            page(0, 3, Raw::Zeros, &[]),
            page(4, 0, Raw::Data, &new),
            page(4, 1, Raw::Data, &copied),
            Scanned { is_whole: false, ..page(4, 2, Raw::Data, &torn) },
            page(4, 3, Raw::Erased, &[]),
            page(5, 0, Raw::Zeros, &[]),
            page(5, 1, Raw::Zeros, &[]),
            page(6, 0, Raw::Noise, &[]),
        ];
        let found = recover(&pages);
        // Unit 1 is newer on (4, 0); unit 2 was insecure; of the third page unit 3 is newer on (4, 1), and 4 lives:
        // what is newer than that is torn, and does not count.
        assert_eq!(places(&found.first), [(0, 0, false), (0, 2, true), (4, 2, false)]);
        // A copy of unit 1 beside unit 3, which lives; and what answers zeros, by page or by block.
        assert_eq!(places(&found.later), [(0, 3, false), (4, 1, true)]);
        assert_eq!(found.blocks, [5]);
        assert_eq!(recover(&[]), Recovery::default());
    }

    /// RealWear section 5.2: half a million pages on 8 chips, 100 us each: 6.25 s.
    #[test]
    fn half_a_million_pages_are_locked_in_six_seconds() {
        let zeros = (0..500_000 / 250).flat_map(|block| {
            (0..=250).map(move |at| page(block, at, if at < 250 { Raw::Zeros } else { Raw::Erased }, &[]))
        });
        let found = recover(&zeros.collect::<Vec<_>>());
        let pace = Pace { blocks_per_die: 250, page_ns: 100_000, block_ns: 3_500_000 };
        assert_eq!(
            (found.later.len(), found.first_ns(&pace), found.later_ns(&pace)),
            (500_000, 0, 6_250_000_000)
        );
        // Blocks count by their own time: 2 of one die, 1 of another.
        let blocks = Recovery { blocks: vec![0, 1, 400], ..Recovery::default() };
        assert_eq!(blocks.later_ns(&pace), 7_000_000);
    }
}
