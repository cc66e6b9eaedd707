//! Gathering: units of host data wait here, by stream, until they make a page.
//!
//! A unit is known by the DRAM slot its data lies in. Streams take turns; within one the oldest goes first, unless
//! somebody waits for another. Where data is sorted by the class of pages (`ftl/page_class`), a stream has a queue for
//! each, and more than a page waits. Where pages have lanes of their own (static placement), what finds its lane full
//! is *parked* in line there, in its order, and goes on before all others when the lane has room.

use crate::flash::op::{UNITS_AT_MOST, UnitRef};
use crate::ftl::page_class::nearest;
use crate::ftl::stream::{StreamId, Streams};
use crate::ftl::tables::Tables;
use crate::ftl::work::Work;
use crate::ftl::write::waits::{Lack, Waits};
use crate::list::{Links, List, Node};
use crate::restore::{Verdict, alike, ensure, within};
use crate::signals::Facts;
use crate::units::{Lpn, Pun, SlotId};
use serde::{Deserialize, Serialize};

/// Where a unit waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Line {
    /// Nowhere.
    None,
    /// For a page of its stream.
    Stream,
    /// For the lane of a turn.
    Turn(u32),
}

/// A unit that waits, or is being programmed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Waiting {
    pub lpn: Lpn,
    /// Bytes of it that hold data.
    pub bytes: u32,
    pub facts: Facts,
    pub stream: StreamId,
    /// Class of pages that it deserves.
    class: u8,
    line: Line,
    links: Links,
}

impl Node for Waiting {
    #[inline]
    fn links(&self) -> Links {
        self.links
    }

    #[inline]
    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

impl Waiting {
    /// Where it waits for a page, among the queues of all streams.
    #[inline]
    fn queue(&self, classes: u8) -> usize {
        self.stream.index() * usize::from(classes) + usize::from(self.class)
    }
}

const NOBODY: Waiting = Waiting {
    lpn: Lpn::NONE,
    bytes: 0,
    facts: Facts::NONE,
    stream: StreamId(0),
    class: 0,
    line: Line::None,
    links: Links::NONE,
};

/// Units of host data that wait to be programmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Gather {
    /// By slot.
    units: Vec<Waiting>,
    /// By stream, and within each by class of pages.
    queues: Box<[List]>,
    streams: u8,
    classes: u8,
    /// Whether data waits by the class of pages.
    sorts: bool,
    /// The stream whose turn it is.
    turn: u8,
    units_per_page: u32,
    /// From so many units on a stream has enough for a page.
    least: u32,
    /// By stream: the same for what is left of the row that it fills (`ftl.allocation.issue`).
    enough: Box<[u32]>,
    pages_per_row: u32,
    /// Streams with enough for what is left of their row, a bit for each.
    full: u32,
    /// Units in all streams.
    waiting: u32,
    /// By turn of the lanes; none where placement is dynamic.
    parked_at: Box<[List]>,
    /// Units parked.
    parked: u32,
    /// Units whose programs were issued.
    pub(in crate::ftl) sequence: u64,
}

impl Gather {
    /// Nothing waits; room for `slots` units, and for pages of so many turns (static placement). Data goes in order.
    pub(in crate::ftl) fn new(
        streams: Streams,
        (units_per_page, pages_per_row): (u32, u32),
        slots: u32,
        turns: u32,
    ) -> Self {
        Gather {
            units: vec![NOBODY; slots as usize],
            queues: vec![List::EMPTY; usize::from(streams.count)].into_boxed_slice(),
            streams: streams.count,
            classes: 1,
            sorts: false,
            turn: 0,
            units_per_page,
            least: units_per_page,
            enough: vec![pages_per_row * units_per_page; usize::from(streams.count)].into_boxed_slice(),
            pages_per_row,
            full: 0,
            waiting: 0,
            parked_at: vec![List::EMPTY; turns as usize].into_boxed_slice(),
            parked: 0,
            sequence: 0,
        }
    }

    /// With a queue for each class of pages, which hold so many units of a stream together.
    pub(in crate::ftl) fn by_class(self, classes: u8, queue_units: u32) -> Self {
        let queues = vec![List::EMPTY; usize::from(self.streams) * usize::from(classes)].into_boxed_slice();
        let least = self.least.max(queue_units);
        let row = least + (self.pages_per_row - 1) * self.units_per_page;
        let enough = vec![row; self.enough.len()].into_boxed_slice();
        Gather { queues, classes, sorts: true, least, enough, ..self }
    }

    /// Whether data waits by the class of pages.
    #[inline]
    pub(in crate::ftl) fn sorts(&self) -> bool {
        self.sorts
    }

    /// Units that wait for a page, not counting those parked.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Units that wait for a lane.
    #[inline]
    pub fn parked(&self) -> u32 {
        self.parked
    }

    /// Units that wait in the queues of a stream.
    #[inline]
    pub(in crate::ftl) fn held(&self, stream: StreamId) -> u32 {
        if self.classes == 1 {
            return self.queues[stream.index()].len();
        }
        self.of(stream).iter().map(|queue| queue.len()).sum()
    }

    /// The queues of a stream, by class.
    fn of(&self, stream: StreamId) -> &[List] {
        let classes = usize::from(self.classes);
        &self.queues[stream.index() * classes..][..classes]
    }

    /// Whether a stream has enough for what is left of its row.
    #[inline]
    pub fn has_full_row(&self) -> bool {
        self.full != 0
    }

    /// Whether rows are gathered, and nothing but a page that is not full would go next.
    pub fn would_pad_a_row(&self) -> bool {
        self.pages_per_row > 1 && self.holding(self.units_per_page) == 0
    }

    /// A page of a stream was programmed, with so many left of its row behind it.
    #[inline]
    pub(in crate::ftl) fn note_left(&mut self, stream: StreamId, left: u32) {
        let left = if left > 0 { left } else { self.pages_per_row };
        self.enough[stream.index()] = self.least + (left - 1) * self.units_per_page;
        self.note_full(stream);
    }

    /// Notes whether a stream has enough for what is left of its row.
    #[inline]
    fn note_full(&mut self, stream: StreamId) {
        self.full = self.full & !(1 << stream.0) | self.is_full(stream) << stream.0;
    }

    /// 1 if a stream has enough for what is left of its row.
    #[inline]
    fn is_full(&self, stream: StreamId) -> u32 {
        u32::from(self.held(stream) >= self.enough[stream.index()])
    }

    /// A unit waits from now on.
    #[inline(always)]
    pub(in crate::ftl) fn put(
        &mut self,
        slot: SlotId,
        waiting: (Lpn, u32, StreamId, u8),
        facts: Facts,
        first: bool,
    ) {
        let (lpn, bytes, stream, class) = waiting;
        let unit = Waiting { lpn, bytes, facts, stream, class, line: Line::Stream, links: Links::NONE };
        self.units[slot.index()] = unit;
        self.queues[unit.queue(self.classes)].put(&mut self.units, slot.0, first);
        self.count(Line::Stream, stream, 1);
    }

    /// A unit that was programmed in vain goes before all others of its queue.
    pub(in crate::ftl) fn put_back(&mut self, slot: SlotId) {
        self.link(slot.0, Line::Stream, true);
    }

    /// What is known of a unit.
    #[inline]
    pub(in crate::ftl) fn get(&self, slot: SlotId) -> &Waiting {
        &self.units[slot.index()]
    }

    /// Whether a unit is parked. More of it may have been written: so many bytes in all.
    pub(in crate::ftl) fn grow_parked(&mut self, slot: SlotId, bytes: u32) -> bool {
        let unit = &mut self.units[slot.index()];
        let is_parked = matches!(unit.line, Line::Turn(_));
        unit.bytes = if is_parked { bytes } else { unit.bytes };
        is_parked
    }

    /// A unit that waits is at least of a security class.
    #[cold]
    pub(in crate::ftl) fn secure(&mut self, slot: SlotId, class: u8) {
        let facts = &mut self.units[slot.index()].facts;
        *facts = facts.with_class(facts.class().max(class.into()));
    }

    /// A unit waits no more.
    #[inline]
    pub(crate) fn take(&mut self, slot: SlotId) {
        self.unlink(slot.0);
    }

    /// The stream to program from: with enough for its row, else with a page, else with anything; streams take turns.
    #[inline]
    pub(in crate::ftl) fn next_stream(&self) -> Option<StreamId> {
        let among = if self.full != 0 { self.full } else { self.holding_most() };
        let ahead = among >> self.turn << self.turn;
        let next = if ahead != 0 { ahead } else { among };
        (next != 0).then(|| StreamId(next.trailing_zeros() as u8))
    }

    /// Streams with a page where rows are gathered, or with anything if there are none.
    fn holding_most(&self) -> u32 {
        let pages = if self.pages_per_row > 1 { self.holding(self.units_per_page) } else { 0 };
        if pages != 0 { pages } else { self.holding(1) }
    }

    /// Streams with so many units, a bit for each (slow).
    fn holding(&self, least: u32) -> u32 {
        let streams = (0..self.streams).map(StreamId);
        streams.map(|stream| u32::from(self.held(stream) >= least) << stream.0).sum()
    }

    /// A page of a stream was programmed: the next has its turn.
    #[inline]
    pub(in crate::ftl) fn pass_turn(&mut self, stream: StreamId) {
        self.turn = if stream.0 + 1 == self.streams { 0 } else { stream.0 + 1 };
    }

    /// Units of a stream that go in one page now.
    #[inline]
    pub(in crate::ftl) fn page_of(&self, stream: StreamId) -> usize {
        self.held(stream).min(self.units_per_page) as usize
    }

    /// The unit of a stream that goes next to a page of a class, and whether that is the unit's own.
    #[inline(always)]
    pub(in crate::ftl) fn oldest(&self, stream: StreamId, class: u8) -> (SlotId, bool) {
        if self.classes == 1 {
            return (SlotId(self.queues[stream.index()].oldest()), true);
        }
        self.oldest_of_several(stream, class)
    }

    /// The unit of a stream that goes next to a page of a class, where there are several.
    #[inline(never)]
    fn oldest_of_several(&self, stream: StreamId, class: u8) -> (SlotId, bool) {
        let queues = self.of(stream);
        let from = nearest(class, self.classes, |at| queues[usize::from(at)].len() > 0).unwrap_or(0);
        (SlotId(queues[usize::from(from)].oldest()), from == class)
    }

    /// Of the units of a stream the one that goes so many after the next, where that is told by the stream alone.
    pub(in crate::ftl) fn nth(&self, stream: StreamId, nth: usize) -> Option<Lpn> {
        if self.classes > 1 {
            return None;
        }
        let slot = self.queues[stream.index()].ahead(&self.units, nth);
        self.units.get(slot as usize).map(|unit| unit.lpn)
    }

    /// The unit that has waited longest for the lane of a turn.
    pub(in crate::ftl) fn oldest_parked(&self, turn: u32) -> Option<&Waiting> {
        self.units.get(self.parked_at[turn as usize].oldest() as usize)
    }

    /// Whether units wait for the lane of a turn.
    #[inline]
    pub(in crate::ftl) fn is_line(&self, turn: u32) -> bool {
        self.parked_at[turn as usize].len() > 0
    }

    /// Parks a unit at the end of the line for the lane of a turn.
    pub(in crate::ftl) fn park(&mut self, slot: SlotId, turn: u32) {
        self.unlink(slot.0);
        self.link(slot.0, Line::Turn(turn), false);
    }

    /// Units parked for a lane wait for a page again, before all others and in their order.
    pub(in crate::ftl) fn unpark(&mut self, turn: u32) {
        // The head is the one parked last.
        while self.is_line(turn) {
            let slot = self.parked_at[turn as usize].newest();
            self.unlink(slot);
            self.link(slot, Line::Stream, true);
        }
    }

    /// Counts what came to a stream's or a turn's line, or went from it.
    #[inline]
    fn count(&mut self, line: Line, stream: StreamId, change: i32) {
        match line {
            Line::None => {}
            Line::Stream => {
                self.waiting = self.waiting.wrapping_add_signed(change);
                self.note_full(stream);
            }
            Line::Turn(_) => self.parked = self.parked.wrapping_add_signed(change),
        }
    }

    #[inline(always)]
    fn link(&mut self, slot: u32, line: Line, first: bool) {
        let unit = &mut self.units[slot as usize];
        unit.line = line;
        let (stream, queue) = (unit.stream, unit.queue(self.classes));
        match line {
            Line::None => {}
            Line::Stream => self.queues[queue].put(&mut self.units, slot, first),
            Line::Turn(turn) => self.parked_at[turn as usize].put(&mut self.units, slot, first),
        }
        self.count(line, stream, 1);
    }

    #[inline]
    fn unlink(&mut self, slot: u32) {
        let unit = &mut self.units[slot as usize];
        let line = core::mem::replace(&mut unit.line, Line::None);
        let (stream, queue) = (unit.stream, unit.queue(self.classes));
        match line {
            Line::None => {}
            Line::Stream => self.queues[queue].remove(&mut self.units, slot),
            Line::Turn(turn) => self.parked_at[turn as usize].remove(&mut self.units, slot),
        }
        self.count(line, stream, -1);
    }

    /// Whether the unit in a slot waits, and which it is (slow).
    pub fn waits(&self, slot: SlotId) -> Option<Lpn> {
        self.units.get(slot.index()).filter(|unit| unit.line != Line::None).map(|unit| unit.lpn)
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub(in crate::ftl) fn restored(&mut self, fresh: &Gather, logical: u32) -> Verdict {
        alike("units that wait", &self.units, &fresh.units)?;
        alike("queues of units that wait", &self.queues, &fresh.queues)?;
        alike("lanes that units are parked for", &self.parked_at, &fresh.parked_at)?;
        (self.units_per_page, self.least) = (fresh.units_per_page, fresh.least);
        self.pages_per_row = fresh.pages_per_row;
        alike("streams", &self.enough, &fresh.enough)?;
        let pages = |enough: &u32| enough.checked_sub(self.least).map(|more| more / self.units_per_page);
        let is_row = |enough: &u32| pages(enough).is_some_and(|more| more < self.pages_per_row);
        ensure(self.enough.iter().all(is_row), "pages left of a row")?;
        (self.streams, self.classes, self.sorts) = (fresh.streams, fresh.classes, fresh.sorts);
        let streams = usize::from(self.streams);
        within("stream whose turn it is", [u32::from(self.turn)], streams)?;
        within("stream of a unit", self.units.iter().map(|unit| u32::from(unit.stream.0)), streams)?;
        let classes = self.units.iter().map(|unit| u32::from(unit.class));
        within("class of a unit", classes, usize::from(self.classes))?;
        let waiting = || self.units.iter().filter(|unit| unit.line != Line::None);
        ensure(waiting().all(|unit| unit.lpn.0 < logical && unit.bytes > 0), "a unit that waits")?;
        const WHAT: &str = "a list of units that wait";
        let all = |line: Line| move |unit: &Waiting| unit.line == line;
        for (queue, list) in self.queues.iter().enumerate() {
            let is_own = |unit: &Waiting| all(Line::Stream)(unit) && unit.queue(self.classes) == queue;
            list.check(WHAT, &self.units, is_own)?;
        }
        for (turn, list) in (0..).zip(&self.parked_at) {
            list.check(WHAT, &self.units, all(Line::Turn(turn)))?;
        }
        let is_there = |unit: &Waiting| match unit.line {
            Line::Turn(turn) => (turn as usize) < self.parked_at.len(),
            _ => true,
        };
        ensure(self.units.iter().all(is_there), "lane that a unit is parked for")?;
        let of = |lists: &[List]| lists.iter().map(|list| list.len()).sum::<u32>();
        ensure((self.waiting, self.parked) == (of(&self.queues), of(&self.parked_at)), "units that wait")?;
        let full = (0..self.streams).map(StreamId).map(|stream| self.is_full(stream) << stream.0).sum();
        ensure(self.full == full, "streams with enough for a row")
    }
}

impl Gather {
    /// Units that wait in line for a lane of their own are not tried one by one, but somebody waits for room.
    #[inline]
    pub fn note_parked(&mut self, waits: &mut Waits) {
        if self.parked() > 0 {
            waits.lack(Lack::Page);
        }
    }

    /// The oldest units of a stream, a page of them at most: how many, and their bytes. Should they not fill it, units
    /// of other streams take the places that would be left empty.
    #[inline]
    pub(in crate::ftl) fn take_units(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        (stream, class): (StreamId, u8),
        units: &mut [UnitRef; UNITS_AT_MOST],
    ) -> (usize, u32) {
        let (mut count, mut bytes) = (self.page_of(stream), 0);
        for unit in &mut units[..count] {
            bytes += self.take_unit(work, (stream, class), stream, unit);
        }
        if count < tables.layout.units_per_page as usize {
            (count, bytes) = self.take_from_others(tables, work, (stream, class), units, (count, bytes));
        }
        self.pass_turn(stream);
        (count, bytes)
    }

    /// Units of other streams take the places that would be left empty.
    #[inline(never)]
    pub(in crate::ftl) fn take_from_others(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        (stream, class): (StreamId, u8),
        units: &mut [UnitRef; UNITS_AT_MOST],
        (mut count, mut bytes): (usize, u32),
    ) -> (usize, u32) {
        while count < tables.layout.units_per_page as usize
            && let Some(other) = self.next_stream()
        {
            bytes += self.take_unit(work, (other, class), stream, &mut units[count]);
            work.counts.mixed_units += 1;
            count += 1;
        }
        (count, bytes)
    }

    /// The oldest unit of a stream goes to a page of a class, of another stream or its own: how many bytes of it hold
    /// data.
    #[inline(always)]
    pub(in crate::ftl) fn take_unit(
        &mut self,
        work: &mut Work,
        (stream, class): (StreamId, u8),
        to: StreamId,
        unit: &mut UnitRef,
    ) -> u32 {
        let (slot, is_own) = self.oldest(stream, class);
        if self.sorts() {
            work.counts.note_class(is_own);
        }
        let waiting = *self.get(slot);
        self.take(slot);
        self.sequence += 1;
        let facts = waiting.facts.with_sequence(self.sequence).with_stream(u64::from(to.0));
        *unit = UnitRef::new(waiting.lpn.0, slot.0).with_facts(facts);
        waiting.bytes
    }

    /// A unit was programmed in vain: it waits again, and what its place in flash says is of no use.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn take_back(&mut self, tables: &mut Tables, lpn: Lpn, to: Pun, slot: SlotId) {
        tables.map.note_stray(lpn, to);
        self.put_back(slot);
    }
}

#[cfg(test)]
mod tests;
