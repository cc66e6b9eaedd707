//! Jobs are values: what moves out of a block, how far that is, and what is to be done next. They read the tables and
//! change nothing but themselves; `Ftl` carries out what they say.

use crate::flash::op::{UNITS_AT_MOST, UnitRef};
use crate::ftl::tables::facts::FactsTable;
use crate::ftl::tables::layout::Layout;
use crate::ftl::tables::map::Map;
use crate::nand::order::PageOrder;
use crate::units::{BlockId, NONE, Ppn, Pun};
use serde::{Deserialize, Serialize};

/// What jobs look at.
#[derive(Clone, Copy)]
pub(in crate::ftl) struct View<'a> {
    pub map: &'a Map,
    pub layout: &'a Layout,
    pub order: &'a PageOrder,
    pub facts: &'a FactsTable,
}

impl View<'_> {
    /// A unit of flash that is to move.
    #[inline]
    pub fn unit_at(&self, at: u32) -> UnitRef {
        UnitRef::new(self.map.stored(Pun(at)).0, at).with_facts(self.facts.get(Pun(at)))
    }
}

/// Units of one page.
pub(in crate::ftl) type PageUnits = [UnitRef; UNITS_AT_MOST];

/// What a job does next. The units are put where the caller has room for them, as many as `count` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ftl) enum Step {
    /// Reads these units, which lie in one page.
    Read {
        /// The page.
        page: Ppn,
        /// How many units.
        count: usize,
    },
    /// Programs these units, which are in the controller, to one page.
    Program {
        /// Which of the job's blocks takes them.
        target: u8,
        /// How many units.
        count: usize,
    },
    /// Nothing, until an operation ends.
    Wait,
    /// Nothing any more.
    Done,
}

/// Live units whose mapping entries are loaded ahead of the cursor.
const AHEAD: usize = 16;

/// Empties a block, or a part of it, page by page in their order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Job {
    pub block: BlockId,
    /// All of the block is to move, so that it can be erased.
    pub whole: bool,
    /// Only these pages, or these pages now.
    pub part: Option<Part>,
    pub cursor: u32,
    pub end: u32,
    /// Up to here the mapping entries of live units are being loaded.
    pub ahead: u32,
}

/// Pages of one physical block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ftl) struct Part {
    /// Member of the (firmware) block.
    pub member: u32,
    /// Page types, a bit for each.
    pub types: u8,
    /// Wordline; [`NONE`] for all.
    pub wordline: u32,
}

impl Part {
    /// Whether a page belongs to it.
    fn holds(&self, view: &View<'_>, page: Ppn) -> bool {
        let at = view.layout.block_of_page(page).1;
        let place = view.order.place(at / view.layout.span);
        at % view.layout.span == self.member
            && self.types >> place.page_type & 1 == 1
            && (self.wordline == NONE || self.wordline == place.wordline)
    }
}

impl Job {
    /// Empties a whole block, in the order of its pages; or `part` by part, as [`Job::go_on_with`] is told.
    pub fn whole(view: &View<'_>, block: BlockId, in_parts: bool) -> Job {
        let first = view.layout.first_unit(block).0;
        let end = first + view.layout.units_per_block();
        let cursor = if in_parts { end } else { first };
        let mut job = Job { block, whole: true, part: None, cursor, end, ahead: cursor };
        job.look_ahead(view, AHEAD);
        job
    }

    /// Empties a part of a block that lies in `pages` of its members; the rest stays.
    pub fn of_part(view: &View<'_>, block: BlockId, part: Part, pages: (u32, u32)) -> Job {
        let mut job = Job { block, whole: false, part: None, cursor: 0, end: 0, ahead: 0 };
        job.go_on_with(view, part, pages);
        job
    }

    /// Goes on with a part of its block that lies in `pages` of its members.
    pub fn go_on_with(&mut self, view: &View<'_>, part: Part, pages: (u32, u32)) {
        let unit = |page| view.layout.first_unit_of(self.block, 0, page).0;
        (self.part, self.cursor, self.end) = (Some(part), unit(pages.0), unit(pages.1));
        self.ahead = self.cursor;
    }

    /// The next page with live units: they are to be read. [`Step::Done`] if there is none.
    #[inline]
    pub fn step(&mut self, view: &View<'_>, units: &mut PageUnits) -> Step {
        let per_page = view.layout.units_per_page;
        while let Some(first) = view.map.next_live(self.cursor, self.end) {
            let page = view.layout.page_of_unit(Pun(first)).0;
            self.cursor = (page.0 + 1) * per_page;
            if self.part.is_some_and(|part| !part.holds(view, page)) {
                continue;
            }
            let count = each_live(view, page.0 * per_page, |nth, unit| units[nth] = view.unit_at(unit));
            return Step::Read { page, count };
        }
        Step::Done
    }

    /// Starts loading the mapping entries of the next live units, page by page, `count` of them or some more.
    #[inline]
    pub fn look_ahead(&mut self, view: &View<'_>, count: usize) {
        let per_page = view.layout.units_per_page;
        let mut begun = 0;
        while begun < count {
            let Some(first) = view.map.next_live(self.ahead, self.end) else { return };
            let page = view.layout.page_of_unit(Pun(first)).0.0 * per_page;
            begun += each_live(view, page, |_, unit| view.map.prefetch(view.map.stored(Pun(unit)).0));
            self.ahead = page + per_page;
        }
    }
}

/// Calls `then` with the live units of the page that begins with unit `first`; returns how many there are.
#[inline]
fn each_live(view: &View<'_>, first: u32, mut then: impl FnMut(usize, u32)) -> usize {
    let mut live = view.map.live_of(first, view.layout.units_per_page);
    let mut count = 0;
    while live != 0 {
        then(count, first + live.trailing_zeros());
        live &= live - 1;
        count += 1;
    }
    count
}
