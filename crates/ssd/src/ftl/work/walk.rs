//! Walks: which pages of a block are read next, and what lives in them. They read the tables and change nothing but
//! themselves, as all steps of jobs do; `Ftl` carries out what these say.

use crate::flash::op::{UNITS_AT_MOST, UnitRef};
use crate::ftl::tables::Tables;
use crate::units::{BlockId, NONE, Ppn, Pun};
use serde::{Deserialize, Serialize};

/// Units of one page.
pub(in crate::ftl) type PageUnits = [UnitRef; UNITS_AT_MOST];

/// What a job does next. The units are put where the caller has room for them, as many as `count` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ftl) enum Step {
    /// Reads these units, which one read gets.
    Read {
        /// The page that they lie in.
        page: Ppn,
        /// How many units.
        count: usize,
    },
    /// Makes a replica of a page.
    Replicate {
        /// The page: wordline times page types plus page type.
        place: u32,
        /// The physical block that takes it.
        to: u32,
    },
    /// Asks the read-reclaim policy what else is to leave, or which part leaves next.
    Ask,
    /// Nothing, until an operation ends.
    Wait,
    /// Nothing any more.
    Done,
}

/// Live units whose mapping entries are loaded ahead of the cursor.
pub(in crate::ftl) const AHEAD: usize = 16;

/// Reads a block, or a part of it, page by page in their order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Walk {
    pub block: BlockId,
    /// Only these pages.
    pub pages: Option<Pages>,
    pub cursor: u32,
    pub end: u32,
    /// Up to here the mapping entries of live units are being loaded.
    pub ahead: u32,
}

/// Pages of one physical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ftl) struct Pages {
    /// Member of the (firmware) block.
    pub member: u32,
    /// Page types, a bit for each.
    pub types: u8,
    /// Wordline; [`NONE`] for all.
    pub wordline: u32,
}

impl Pages {
    /// Whether a page belongs to them.
    fn hold(&self, tables: &Tables, page: Ppn) -> bool {
        let at = tables.layout.block_of_page(page).1;
        let place = tables.order.place(at / tables.layout.span);
        at % tables.layout.span == self.member
            && self.types >> place.page_type & 1 == 1
            && (self.wordline == NONE || self.wordline == place.wordline)
    }
}

impl Walk {
    /// Reads some pages of a block, which lie in `range` of its members.
    pub fn of(tables: &Tables, block: BlockId, pages: Pages, range: (u32, u32)) -> Walk {
        let unit = |page| tables.layout.first_unit_of(block, 0, page).0;
        let cursor = unit(range.0);
        Walk { block, pages: Some(pages), cursor, end: unit(range.1), ahead: cursor }
    }

    /// The next page with live units: they are to be read. [`Step::Done`] if there is none.
    #[inline(always)]
    pub fn step(&mut self, tables: &Tables, units: &mut PageUnits) -> Step {
        while let Some(first) = tables.map.next_live(self.cursor, self.end) {
            let (page, Pun(first)) = tables.layout.read_of(Pun(first));
            self.cursor = first + tables.layout.units_per_read;
            if self.pages.is_some_and(|pages| !pages.hold(tables, page)) {
                continue;
            }
            let count = each_live(tables, first, |nth, unit| units[nth] = tables.unit_at(unit));
            self.look_ahead(tables, count);
            return Step::Read { page, count };
        }
        Step::Done
    }

    /// Whether pages with live units are left of the row that is being read.
    #[inline]
    pub fn is_in_row(&self, tables: &Tables) -> bool {
        let per_row = tables.layout.pages_per_row * tables.layout.units_per_page;
        let past = self.cursor % per_row;
        past > 0
            && self.pages.is_none()
            && tables.map.next_live(self.cursor, (self.cursor - past + per_row).min(self.end)).is_some()
    }

    /// Starts loading the mapping entries of the next live units, page by page, `count` of them or some more.
    #[inline]
    pub(in crate::ftl) fn look_ahead(&mut self, tables: &Tables, count: usize) {
        let mut begun = 0;
        while begun < count {
            let Some(first) = tables.map.next_live(self.ahead, self.end) else { return };
            let first = tables.layout.read_of(Pun(first)).1.0;
            begun += each_live(tables, first, |_, unit| tables.map.prefetch(tables.map.stored(Pun(unit)).0));
            self.ahead = first + tables.layout.units_per_read;
        }
    }
}

/// Calls `then` with the live units that are read at once, of which `first` is the first; returns how many there are.
#[inline]
fn each_live(tables: &Tables, first: u32, mut then: impl FnMut(usize, u32)) -> usize {
    let mut live = tables.map.live_of(first, tables.layout.units_per_read);
    let mut count = 0;
    while live != 0 {
        then(count, first + live.trailing_zeros());
        live &= live - 1;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::ftl::tables::facts::FactsTable;
    use crate::ftl::tables::layout::Layout;
    use crate::nand::Chip;
    use crate::nand::order::PageOrder;
    use crate::sections::{MappingUnit, Superblock};
    use crate::signals::Facts;
    use crate::units::Lpn;

    /// Blocks of two wordlines of three pages in each of two planes, written from unit 0 on, unit 4 dead: the pages and
    /// sequence numbers that a walk reads in block 0.
    fn read_by(make: impl Fn(&Tables) -> Walk) -> Vec<(u32, u64)> {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 2);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (4, 2, 3);
        (cfg.mapping.unit, cfg.allocation.superblock) = (MappingUnit::Page, Superblock::Planes);
        let layout = Layout::new(&cfg, &Chip::new(2, 4, 6, &cfg.reliability, 1));
        let facts = FactsTable::new(true, 48, false);
        let mut tables = Tables::new(&cfg, (layout, PageOrder::of(&cfg)), |_| 0, (facts, false));
        for unit in 0..24 {
            tables.map.assign(Lpn(unit), Pun(unit));
            tables.facts.set(Pun(unit), Facts::NONE.with_sequence(u64::from(unit) + 100));
        }
        tables.map.remove(Lpn(4));
        let (mut walk, mut units) = (make(&tables), [UnitRef::PADDING; UNITS_AT_MOST]);
        let mut read = Vec::new();
        while let Step::Read { page, count } = walk.step(&tables, &mut units) {
            assert_eq!((count, units[0].lpn, units[0].source), (1, page.0, page.0));
            read.push((page.0, units[0].facts().sequence()));
        }
        read
    }

    /// Pages with the numbers that they were written with.
    fn pages(pages: &[u32]) -> Vec<(u32, u64)> {
        pages.iter().map(|&page| (page, u64::from(page) + 100)).collect()
    }

    #[test]
    fn a_whole_block_is_read_in_the_order_of_its_pages() {
        let all: Vec<u32> = (0..12).filter(|page| *page != 4).collect();
        assert_eq!(
            read_by(|_| Walk { block: BlockId(0), pages: None, cursor: 0, end: 12, ahead: 0 }),
            pages(&all)
        );
    }

    #[test]
    fn a_part_is_the_pages_of_its_member_wordline_and_types() {
        // Page 2 k + m is page k of member m; pages 0 to 2 of a member are wordline 0, 3 to 5 wordline 1.
        let of = |member, types, wordline, range: (u32, u32)| {
            read_by(|tables| Walk::of(tables, BlockId(0), Pages { member, types, wordline }, range))
        };
        assert_eq!(of(1, u8::MAX, 1, (3, 6)), pages(&[7, 9, 11]));
        assert_eq!(of(0, u8::MAX, 0, (0, 3)), pages(&[0, 2]));
        assert_eq!(of(0, 0b101, NONE, (0, 6)), pages(&[0, 6, 10]));
        assert_eq!(of(1, 0b010, NONE, (0, 6)), pages(&[3, 9]));
        // The range may hold more wordlines than the part.
        assert_eq!(of(1, 0b001, 1, (0, 6)), pages(&[7]));
    }
}
