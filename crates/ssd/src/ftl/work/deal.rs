//! Dealing: all that lives in one or two blocks moves into freshly opened blocks in a program mode of their own, the
//! hottest units on the page types that are read with least harm (redFTL section 4.3.3).
//!
//! Pages of a block are programmed in a fixed order, so it is the sources that are read in the order of the deal: with
//! n pages of data, page k goes to target k mod 2 as its page k / 2; the pages of each type among them make a share,
//! and the hottest units fill the share of type 0, the next that of type 1, and so on. A unit that is overwritten,
//! trimmed or lost before its turn is passed over, and the next of its share takes its place, so that the others stay
//! on their page types. A deal needs no room but its targets: what they take of the free blocks comes back with the
//! sources, unless a block is dealt over two alone.

mod restore;

use super::walk::{PageUnits, Step};
use crate::flash::op::UnitRef;
use crate::ftl::read_reclaim::MAX_PAGE_TYPES as TYPES;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::units::{BlockId, Pun};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A unit to be dealt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Dealt {
    pub(in crate::ftl) heat: u32,
    pub(in crate::ftl) unit: u32,
}

/// A block that units are dealt to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Target {
    pub(in crate::ftl) block: BlockId,
    pub(in crate::ftl) next: u32,
}

pub(in crate::ftl) const NO_TARGET: Target = Target { block: BlockId::NONE, next: 0 };

/// What is known of a unit on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::ftl) enum Way {
    Reading,
    InController,
    Dead,
}

/// A unit on its way, in the order of programs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct OnItsWay {
    pub(in crate::ftl) unit: UnitRef,
    pub(in crate::ftl) way: Way,
    /// The last of its page.
    pub(in crate::ftl) last: bool,
    pub(in crate::ftl) target: u8,
}

/// A lane's deal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Deal {
    pub active: bool,
    /// The disturbed block and its partner, if it has one.
    pub(in crate::ftl) sources: [BlockId; 2],
    pub(in crate::ftl) targets: [Target; 2],
    /// Targets that pages go round.
    pub(in crate::ftl) fan: u32,
    pub(in crate::ftl) mode: u8,
    /// Hottest first, if they are sorted.
    pub(in crate::ftl) sorted: bool,
    pub(in crate::ftl) units: Vec<Dealt>,
    /// Next and end of the units for each page type; for all in the first, if they are not sorted.
    pub(in crate::ftl) shares: [(u32, u32); TYPES],
    /// Pages whose units are read or being read, and units of the one begun.
    pub(in crate::ftl) pages: u32,
    pub(in crate::ftl) filled: u32,
    /// No more is to be read: all was, or no target is left.
    pub(in crate::ftl) over: bool,
    /// A target failed and there was none in its place: the rest stays where it is.
    pub(in crate::ftl) cut_short: bool,
    pub(in crate::ftl) window: VecDeque<OnItsWay>,
}

impl Deal {
    /// No deal; with room for those of a lane, if there ever are any.
    pub fn new(layout: &Layout, pages_in_flight: u32, used: bool) -> Self {
        let (units, window) = match used {
            true => (2 * layout.units_per_block(), (pages_in_flight + 2) * layout.units_per_page),
            false => (0, 0),
        };
        Deal {
            active: false,
            sources: [BlockId::NONE; 2],
            targets: [NO_TARGET; 2],
            fan: 1,
            mode: 0,
            sorted: false,
            units: Vec::with_capacity(units as usize),
            shares: [(0, 0); TYPES],
            pages: 0,
            filled: 0,
            over: false,
            cut_short: false,
            window: VecDeque::with_capacity(window as usize),
        }
    }

    /// Bytes of its lists.
    pub fn bytes(&self) -> usize {
        self.units.capacity() * size_of::<Dealt>() + self.window.capacity() * size_of::<OnItsWay>()
    }

    /// The sources there are.
    pub(in crate::ftl) fn sources(&self) -> impl Iterator<Item = BlockId> + use<> {
        self.sources.into_iter().filter(|block| block.is_some())
    }

    /// What is to be done next: pages on their way go to their targets in order, and more units are read while there is
    /// room; `may_read` if the lane may have more operations under way, of `pages` in all.
    pub fn step(&mut self, tables: &Tables, may_read: bool, pages: u32, units: &mut PageUnits) -> Step {
        let per_page = tables.layout.units_per_page;
        loop {
            if let Some(program) = self.first_page(units) {
                return program;
            }
            let full = (self.window.len() as u32 + per_page) > (pages + 2) * per_page;
            if !self.over && !full && may_read {
                match self.next_read(tables, units) {
                    Some(read) => return read,
                    None => self.over = true,
                }
            }
            if !self.over {
                return Step::Wait;
            }
            match self.window.back_mut() {
                None => return Step::Done,
                Some(back) if back.last => return Step::Wait,
                Some(back) => back.last = true,
            }
        }
    }

    /// The units of the first page on its way, if all of them are in the controller or dead; they are on their way no
    /// more. A page of which nothing lives is programmed empty if others follow it, so that they keep their places.
    fn first_page(&mut self, units: &mut PageUnits) -> Option<Step> {
        let last = self.window.iter().position(|unit| unit.last)?;
        if self.window.iter().take(last + 1).any(|unit| unit.way == Way::Reading) {
            return None;
        }
        let (target, mut count) = (self.window[0].target, 0);
        for dealt in self.window.drain(..=last).filter(|dealt| dealt.way == Way::InController) {
            units[count] = dealt.unit;
            count += 1;
        }
        (count > 0 || !self.over || !self.window.is_empty()).then_some(Step::Program { target, count })
    }

    /// The next unit is to be read, with those after it that lie in the same page and go to the same page.
    fn next_read(&mut self, tables: &Tables, units: &mut PageUnits) -> Option<Step> {
        let (mut share, first) = self.peek(tables)?;
        let (mut unit, mut count) = (first, 0);
        loop {
            units[count] = tables.unit_at(unit);
            let ended = self.put_on_its_way(tables, share, units[count]);
            count += 1;
            match self.peek(tables) {
                Some((next_share, next)) if !ended && tables.layout.share_page(Pun(first), Pun(next)) => {
                    (share, unit) = (next_share, next);
                }
                _ => break,
            }
        }
        Some(Step::Read { page: tables.layout.page_of_unit(Pun(first)).0, count })
    }

    /// The unit to be read next, and the share it is of: the next of the page type that is planned; if none is left,
    /// of the less, then of the more vulnerable types.
    fn peek(&mut self, tables: &Tables) -> Option<(usize, u32)> {
        let order = &tables.order;
        let page = (self.pages / self.fan / tables.layout.span).min(order.pages() - 1);
        let planned = if self.sorted { usize::from(order.page_type(page)) } else { 0 };
        for share in (planned..TYPES).chain((0..planned).rev()) {
            let (next, end) = &mut self.shares[share];
            while *next < *end {
                let unit = self.units[*next as usize].unit;
                if tables.map.is_live(Pun(unit)) {
                    return Some((share, unit));
                }
                *next += 1;
            }
        }
        None
    }

    /// Plans where a unit goes; returns whether its page is full.
    fn put_on_its_way(&mut self, tables: &Tables, share: usize, unit: UnitRef) -> bool {
        self.shares[share].0 += 1;
        self.filled += 1;
        let last = self.filled == tables.layout.units_per_page;
        let target = (self.pages % self.fan) as u8;
        if last {
            (self.pages, self.filled) = (self.pages + 1, 0);
        }
        self.window.push_back(OnItsWay { unit, way: Way::Reading, last, target });
        last
    }

    /// A unit is in the controller, or dead.
    pub(in crate::ftl) fn arrive(&mut self, unit: &UnitRef, way: Way) {
        if let Some(found) = self.window.iter_mut().find(|found| found.unit.source == unit.source) {
            found.way = way;
        }
    }
}
