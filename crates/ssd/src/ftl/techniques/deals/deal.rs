//! A lane's deal: all that lives in one or two blocks moves into freshly opened blocks in a program mode of their own,
//! the hottest units on the page types that are read with least harm (redFTL section 4.3.3).
//!
//! Pages of a block are programmed in a fixed order, so it is the sources that are read in the order of the deal: with
//! n pages of data, page k goes to target k mod 2 as its page k / 2; the pages of each type among them make a share,
//! and the hottest units fill the share of the first type, the next that of the second, and so on: by number, or by
//! what a read of each harms. A unit that is overwritten, trimmed or lost before its turn is passed over, and the next
//! of its share takes its place, so that the others stay on their page types. A deal needs no room but its targets:
//! what they take of the free blocks comes back with the sources, unless a block is dealt over two alone.

use crate::flash::op::UnitRef;
use crate::ftl::read_reclaim::MAX_PAGE_TYPES as TYPES;
use crate::ftl::read_reclaim::redftl_plus::Policy;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::techniques::{Ended, OwnStep, Spread};
use crate::ftl::work::walk::PageUnits;
use crate::restore::{MOST, Verdict, distinct, ensure, keep_line, keep_room, within};
use crate::units::{BlockId, Ppn, Pun};
use core::cmp::Reverse;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A unit to be dealt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Dealt {
    heat: u32,
    unit: u32,
}

/// A block that units are dealt to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Target {
    block: BlockId,
    next: u32,
}

const NO_TARGET: Target = Target { block: BlockId::NONE, next: 0 };

/// What is known of a unit on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Way {
    Reading,
    InController,
    Dead,
}

/// A unit on its way, in the order of programs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct OnItsWay {
    unit: UnitRef,
    way: Way,
    /// The last of its page.
    last: bool,
    target: u8,
}

/// A lane's deal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Deal {
    pub is_active: bool,
    /// The disturbed block and its partner, if it has one.
    pub sources: [BlockId; 2],
    targets: [Target; 2],
    /// Targets that pages go round.
    fan: u32,
    pub mode: u8,
    /// Hottest first, if they are sorted.
    sorted: bool,
    units: Vec<Dealt>,
    /// Next and end of the units for each page type; for all in the first, if they are not sorted.
    shares: [(u32, u32); TYPES],
    /// Page types, that of the hottest units first.
    types: [u8; TYPES],
    /// Pages whose units are read or being read, and units of the one begun.
    pages: u32,
    filled: u32,
    /// No more is to be read: all was, or no target is left.
    over: bool,
    /// A target failed and there was none in its place: the rest stays where it is.
    cut_short: bool,
    window: VecDeque<OnItsWay>,
    /// Erases of the lane when a deal first lacked room.
    pub lacked_at: u64,
    /// Which target the next block that is opened becomes.
    #[serde(skip)]
    opens: usize,
    /// There was no block for it.
    #[serde(skip)]
    found_none: bool,
}

impl Deal {
    /// No deal; with room for those of a lane.
    pub fn new(layout: &Layout, pages_in_flight: u32) -> Self {
        let window = (pages_in_flight + 2) * layout.units_per_page;
        Deal {
            is_active: false,
            sources: [BlockId::NONE; 2],
            targets: [NO_TARGET; 2],
            fan: 1,
            mode: 0,
            sorted: false,
            units: Vec::with_capacity(2 * layout.units_per_block() as usize),
            shares: [(0, 0); TYPES],
            types: core::array::from_fn(|page_type| page_type as u8),
            pages: 0,
            filled: 0,
            over: false,
            cut_short: false,
            window: VecDeque::with_capacity(window as usize),
            lacked_at: 0,
            opens: 0,
            found_none: false,
        }
    }

    /// Bytes of its lists.
    pub fn bytes(&self) -> usize {
        self.units.capacity() * size_of::<Dealt>() + self.window.capacity() * size_of::<OnItsWay>()
    }

    /// Begins: all that lives in its sources is dealt. Its targets are opened next.
    pub fn begin(&mut self, tables: &Tables, policy: &mut Policy, spread: Spread, sorted: bool) {
        let Spread { sources, blocks, mode } = spread;
        (self.is_active, self.sources, self.fan, self.mode, self.sorted) =
            (true, sources, blocks, mode, sorted);
        (self.pages, self.filled, self.over, self.cut_short) = (0, 0, false, false);
        (self.targets, self.shares) = ([NO_TARGET; 2], [(0, 0); TYPES]);
        (self.opens, self.found_none) = (0, false);
        self.types = policy.order_of_types(mode);
        self.units.clear();
        for block in sources.into_iter().filter(|block| block.is_some()) {
            let from = tables.layout.first_unit(block).0;
            let end = from + tables.layout.units_per_block();
            let mut at = tables.map.next_live(from, end);
            while let Some(unit) = at {
                let heat = policy.take_heat(tables.map.stored(Pun(unit)));
                self.units.push(Dealt { heat, unit });
                at = tables.map.next_live(unit + 1, end);
            }
        }
        self.sort_units(tables);
    }

    /// Hottest first, of equals the disturbed block's and then the first; and how many go to pages of each type.
    fn sort_units(&mut self, tables: &Tables) {
        let (layout, order) = (&tables.layout, &tables.order);
        let (per_page, per_block) = (layout.units_per_page, layout.units_per_block());
        let count = self.units.len() as u32;
        if !self.sorted {
            self.shares[0] = (0, count);
            return;
        }
        let first = layout.first_unit(self.sources[0]).0;
        let own = first..first + per_block;
        self.units
            .sort_unstable_by_key(|dealt| (Reverse(dealt.heat), !own.contains(&dealt.unit), dealt.unit));
        let mut sizes = [0; TYPES];
        for page in 0..count.div_ceil(per_page) {
            let page_type = order.page_type(page / self.fan / layout.span);
            sizes[usize::from(page_type)] += per_page.min(count - page * per_page);
        }
        let mut from = 0;
        for page_type in self.types.map(usize::from) {
            self.shares[page_type] = (from, from + sizes[page_type]);
            from += sizes[page_type];
        }
    }

    /// A block was opened for it, or there was none.
    pub fn opened(&mut self, block: BlockId) {
        if let Some(target) = self.targets.get_mut(self.opens) {
            *target = Target { block, next: 0 };
        }
        self.opens += 1;
        // Of the first ones nothing has been read that waits for them.
        self.found_none = !block.is_some() && !self.window.is_empty();
    }

    /// What is to be done next: pages on their way go to their targets in order, and more units are read while there is
    /// room; `may_read` if the lane may have more operations under way, of `pages` in all.
    pub fn step(&mut self, tables: &Tables, may_read: bool, pages: u32, units: &mut PageUnits) -> OwnStep {
        let per_page = tables.layout.units_per_page;
        loop {
            if let Some(program) = self.first_page(tables, units) {
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
                return OwnStep::Wait;
            }
            match self.window.back_mut() {
                None => return OwnStep::Done,
                Some(back) if back.last => return OwnStep::Wait,
                Some(back) => back.last = true,
            }
        }
    }

    /// What becomes of the first page on its way, if all its units are in the controller or dead; they are on their way
    /// no more. A page of which nothing lives is programmed empty if others follow it, so that they keep their places.
    fn first_page(&mut self, tables: &Tables, units: &mut PageUnits) -> Option<OwnStep> {
        let last = self.window.iter().position(|unit| unit.last)?;
        let mut page = self.window.iter().take(last + 1);
        if page.any(|unit| unit.way == Way::Reading) {
            return None;
        }
        let lives = self.window.iter().take(last + 1).any(|unit| unit.way == Way::InController);
        if !lives && self.over && self.window.len() == last + 1 {
            self.window.clear();
            return None;
        }
        // A target that is full or has failed is replaced by the other, or by a fresh one.
        let planned = usize::from(self.window[0].target);
        let open = [planned, 1 - planned].into_iter().find(|&at| self.targets[at].block.is_some());
        if open.is_none() && !self.found_none {
            self.opens = planned;
            return Some(OwnStep::Open { mode: self.mode });
        }
        let mut count = 0;
        for dealt in self.window.drain(..=last).filter(|dealt| dealt.way == Way::InController) {
            units[count] = dealt.unit;
            count += 1;
        }
        let Some(at) = open else {
            // What is in the controller goes where cleaning's data goes; the rest stays.
            (self.found_none, self.over, self.cut_short) = (false, true, true);
            return Some(OwnStep::Gather { count });
        };
        let target = &mut self.targets[at];
        let page = Ppn(target.block.0 * tables.layout.pages_per_block + target.next);
        target.next += 1;
        let fills = target.next == tables.layout.pages_per_block;
        if fills {
            *target = NO_TARGET;
        }
        Some(OwnStep::Program { page, count, fills })
    }

    /// The next unit is to be read, with those after it that lie in the same page and go to the same page.
    fn next_read(&mut self, tables: &Tables, units: &mut PageUnits) -> Option<OwnStep> {
        let (mut share, first) = self.peek(tables)?;
        let (mut unit, mut count) = (first, 0);
        loop {
            units[count] = tables.unit_at(unit);
            let ended = self.put_on_its_way(tables, share, units[count]);
            count += 1;
            match self.peek(tables) {
                Some((next_share, next)) if !ended && tables.layout.share_read(Pun(first), Pun(next)) => {
                    (share, unit) = (next_share, next);
                }
                _ => break,
            }
        }
        let page = tables.layout.page_of_unit(Pun(first)).0;
        let is_first = tables.layout.block_of_page(page).0 == self.sources[0];
        Some(OwnStep::Read { page, count, is_first })
    }

    /// The unit to be read next, and the share it is of: the next of the page type that is planned; if none is left,
    /// of the colder, then of the hotter shares.
    fn peek(&mut self, tables: &Tables) -> Option<(usize, u32)> {
        let order = &tables.order;
        let page = (self.pages / self.fan / tables.layout.span).min(order.pages() - 1);
        let planned = if self.sorted { usize::from(order.page_type(page)) } else { 0 };
        let types = self.types.map(usize::from);
        let at = types.iter().position(|&page_type| page_type == planned).unwrap_or_default();
        for share in types[at..].iter().chain(types[..at].iter().rev()).copied() {
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
    pub fn arrive(&mut self, unit: &UnitRef, way: Way) {
        if let Some(found) = self.window.iter_mut().find(|found| found.unit.source == unit.source) {
            found.way = way;
        }
    }

    /// A program to a block failed: if that is a target, no more goes there. Returns whether it is.
    pub fn drop_target(&mut self, block: BlockId) -> bool {
        let target = self.targets.iter_mut().find(|target| target.block == block);
        target.map(|target| *target = NO_TARGET).is_some()
    }

    /// All is read and on its way to the targets.
    pub fn end(&mut self) -> Ended {
        self.is_active = false;
        let targets = core::mem::replace(&mut self.targets, [NO_TARGET; 2]);
        let opened = targets.map(|target| (target.block, target.next == 0));
        Ended { sources: self.sources, opened, cut_short: self.cut_short }
    }

    /// Pages of a block that it has dealt to.
    pub fn filled(&self, block: BlockId) -> Option<u32> {
        let targets = self.targets.iter().filter(|_| self.is_active);
        targets.copied().find(|target| target.block == block).map(|target| target.next)
    }

    /// Units that were read and wait for their program.
    pub fn in_controller(&self) -> impl Iterator<Item = Pun> + '_ {
        let waiting = self.window.iter().filter(|unit| unit.way == Way::InController);
        waiting.map(|waiting| Pun(waiting.unit.source))
    }

    /// Takes room from a fresh one, and checks that it is of blocks and units of its lane.
    pub fn restored(&mut self, fresh: &Deal, layout: &Layout, is_own: impl Fn(BlockId) -> bool) -> Verdict {
        keep_room(&mut self.units, &fresh.units);
        keep_line(&mut self.window, &fresh.window);
        let blocks = self.sources.into_iter().chain(self.targets.iter().map(|target| target.block));
        ensure(blocks.filter(|block| block.is_some()).all(is_own), "a deal of another lane's blocks")?;
        ensure(!self.is_active || self.sources[0].is_some(), "a deal of no block")?;
        ensure(self.lacked_at < MOST, "when a deal lacked room")?;
        ensure(matches!(self.fan, 1 | 2), "targets of a deal")?;
        let pages = layout.pages_per_block;
        ensure(self.targets.iter().all(|target| target.next <= pages), "pages of a deal's target")?;
        ensure(self.pages <= 2 * pages && self.filled <= layout.units_per_page, "pages of a deal")?;
        distinct("page types of a deal", self.types.into_iter().map(u32::from), TYPES)?;
        let inside = |&(next, end): &(u32, u32)| next <= end && end as usize <= self.units.len();
        ensure(self.shares.iter().all(inside), "shares of a deal")?;
        let units = (layout.blocks() * layout.units_per_block()) as usize;
        within("units to be dealt", self.units.iter().map(|dealt| dealt.unit), units)?;
        within("units being dealt", self.window.iter().map(|dealt| dealt.unit.source), units)?;
        ensure(self.window.iter().all(|dealt| dealt.target < 2), "targets of units")
    }
}
