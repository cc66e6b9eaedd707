//! What each unit of flash holds: which logical unit, in which version, of which file. Made of effects alone.

use super::book::Book;
use ssd::Drive;
use ssd::observe::{ChipEffect, Effect, Source};
use ssd::units::{Lpn, NONE, Pun, SlotId};
use std::collections::BTreeMap;

/// What became of a copy in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was programmed since the last erase.
    Erased,
    /// Being programmed, or programmed and not yet mapped.
    Pending,
    /// A logical unit is mapped to it.
    Live,
    /// A second copy of what lives elsewhere.
    Replica,
    /// It has died, and the chip still gives it away.
    Dead,
    /// The same, of a copy that a move has left behind, or made for nothing.
    Left,
    /// It has died, and its page is locked or scrubbed.
    Hidden,
}

/// Data, as the host has written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    /// The file's place in the book.
    pub file: u32,
    /// The logical unit was written so often by the host until then; 0 for what lay there before the run.
    pub version: u32,
    /// Security class, as the write said it.
    pub class: u8,
    /// When the command was handed to the drive; ns.
    pub written_ns: u64,
    /// It had died before the run began.
    pub was_dead: bool,
}

/// Of which nothing is known.
const UNKNOWN: Content = Content { file: NONE, version: 0, class: 0, written_ns: 0, was_dead: false };

/// A unit of flash.
#[derive(Clone, Copy, Debug)]
struct Unit {
    lpn: u32,
    content: Content,
    state: State,
}

/// All units of flash.
#[derive(Debug)]
pub(super) struct Ledger {
    units: Vec<Unit>,
    /// The unit of flash that each logical unit is mapped to, and how often the host has written it.
    mapped: Vec<u32>,
    versions: Vec<u32>,
    replicas: BTreeMap<u32, Vec<u32>>,
    /// What slots of DRAM hold.
    slots: Vec<Option<Content>>,
    /// What is known of commands under way.
    commands: BTreeMap<u64, Content>,
    /// The first unit of each physical page, by block and page.
    firsts: Vec<u32>,
    pages_per_block: u32,
    pages_per_wordline: u32,
    units_per_page: u32,
}

impl Ledger {
    /// What lies on a drive now, as its tables say.
    pub fn new(drive: &Drive, units_per_page: u32, pages_per_wordline: u32, book: &mut Book) -> Self {
        let chips = drive.chips();
        let pages_per_block = chips.pages_per_block();
        let fresh = Unit { lpn: NONE, content: UNKNOWN, state: State::Erased };
        let mut ledger = Ledger {
            units: vec![fresh; drive.contents().units() as usize],
            mapped: vec![NONE; drive.logical_units() as usize],
            versions: vec![0; drive.logical_units() as usize],
            replicas: BTreeMap::new(),
            slots: Vec::new(),
            commands: BTreeMap::new(),
            firsts: vec![NONE; chips.blocks() as usize * pages_per_block as usize],
            pages_per_block,
            pages_per_wordline,
            units_per_page,
        };
        for first in (0..drive.contents().units()).step_by(units_per_page as usize) {
            let (block, page) = drive.contents().place_of(Pun(first));
            let place = ledger.page(block, page);
            ledger.firsts[place] = first;
            let is_there = page < chips.programmed_pages(block);
            for unit in (first..first + units_per_page).filter(|_| is_there) {
                let Some(spare) = drive.contents().spare_of(Pun(unit)) else { continue };
                let content = Content { was_dead: true, ..UNKNOWN };
                ledger.units[unit as usize] = Unit { lpn: spare.lpn.0, content, state: State::Dead };
            }
        }
        for lpn in 0..drive.logical_units() {
            let Some(unit) = drive.contents().mapped_to(Lpn(lpn)) else { continue };
            ledger.mapped[lpn as usize] = unit.0;
            let content = Content { file: book.owner(lpn), ..UNKNOWN };
            ledger.units[unit.index()] = Unit { lpn, content, state: State::Live };
            book.change(content.file, 1, 0, 0);
        }
        book.settle();
        ledger
    }

    fn page(&self, block: u32, page: u32) -> usize {
        block as usize * self.pages_per_block as usize + page as usize
    }

    /// A command was handed to the drive.
    pub fn note_command(&mut self, tag: u64, content: Content) {
        self.commands.insert(tag, content);
    }

    /// Something happened in the drive.
    pub fn apply(&mut self, effect: Effect, book: &mut Book) {
        match effect {
            Effect::Accept { tag, lpn, slot, .. } => self.accept(tag, lpn, slot, book),
            Effect::Fill { slot, from, .. } => {
                // What was written before is the newer part of it.
                let content = self.content(from);
                self.slot(slot).get_or_insert(content);
            }
            Effect::Release { slot } => *self.slot(slot) = None,
            Effect::Complete { tag, .. } => _ = self.commands.remove(&tag),
            Effect::Program { lpn, slot, to } => {
                self.arrive(lpn, Source::Slot(slot), to);
                self.end_replicas(lpn, book);
                self.map(lpn, to, State::Dead, book);
            }
            Effect::Place { lpn, to } => {
                self.arrive(lpn, Source::Zero, to);
                self.end_replicas(lpn, book);
                self.map(lpn, to, State::Dead, book);
            }
            Effect::Copy { lpn, from, to } => {
                self.arrive(lpn, Source::Flash(from), to);
                self.map(lpn, to, State::Left, book);
            }
            Effect::Dead { lpn, from, to } => {
                self.arrive(lpn, Source::Flash(from), to);
                self.set(to.0, State::Left, book);
            }
            Effect::Replicate { lpn, from, to } => {
                self.arrive(lpn, Source::Flash(from), to);
                self.set(to.0, State::Replica, book);
                self.replicas.entry(lpn.0).or_default().push(to.0);
            }
            Effect::Adopt { lpn, to, .. } => {
                if let Some(replicas) = self.replicas.get_mut(&lpn.0) {
                    replicas.retain(|&replica| replica != to.0);
                }
                self.map(lpn, to, State::Left, book);
            }
            Effect::Trim { lpn } => {
                book.trim(lpn.0);
                self.end(lpn, book);
            }
            Effect::Lose { lpn } => self.end(lpn, book),
            Effect::Chip(effect) => self.apply_to_chips(effect, book),
            Effect::Erase { .. } | Effect::Unreadable { .. } | Effect::Read { .. } => {}
        }
        book.settle();
    }

    fn apply_to_chips(&mut self, effect: ChipEffect, book: &mut Book) {
        match effect {
            ChipEffect::Spare { to, lpn, from, .. } => {
                let content = self.content(from);
                self.units[to.index()] = Unit { lpn: lpn.0, content, state: State::Pending };
            }
            ChipEffect::ProgramEnds { block, page, failed: true } => {
                // It is programmed elsewhere once more; what is here a thief may read.
                self.set_all(
                    (block, page, 1),
                    |state| (state == State::Pending).then_some(State::Left),
                    book,
                );
            }
            ChipEffect::EraseEnds { block } => {
                self.set_all((block, 0, self.pages_per_block), |_| Some(State::Erased), book);
            }
            ChipEffect::LockPage { block, page, failed: false }
            | ChipEffect::Reprogram { block, page, failed: false } => self.hide((block, page, 1), book),
            ChipEffect::LockBlock { block, failed: false } => {
                self.hide((block, 0, self.pages_per_block), book)
            }
            ChipEffect::Scrub { block, page, one_bit, failed: false } => {
                let width = if one_bit { 1 } else { self.pages_per_wordline };
                self.hide((block, page / width * width, width), book);
            }
            _ => {}
        }
    }

    fn accept(&mut self, tag: u64, lpn: Lpn, slot: SlotId, book: &mut Book) {
        let version = &mut self.versions[lpn.index()];
        *version += 1;
        let content = Content { version: *version, ..*self.commands.get(&tag).unwrap_or(&UNKNOWN) };
        *self.slot(slot) = Some(content);
        book.write(lpn.0, content.file);
    }

    fn slot(&mut self, slot: SlotId) -> &mut Option<Content> {
        let place = slot.index();
        if place >= self.slots.len() {
            self.slots.resize(place + 1, None);
        }
        &mut self.slots[place]
    }

    fn content(&mut self, from: Source) -> Content {
        match from {
            Source::Slot(slot) => self.slot(slot).unwrap_or(UNKNOWN),
            Source::Flash(unit) => self.units[unit.index()].content,
            Source::Zero => UNKNOWN,
        }
    }

    /// A copy is there whose program was not told of: it had begun before anybody listened.
    fn arrive(&mut self, lpn: Lpn, from: Source, to: Pun) {
        let is_told = self.units[to.index()].state == State::Pending && self.units[to.index()].lpn == lpn.0;
        if !is_told {
            let content = self.content(from);
            self.units[to.index()] = Unit { lpn: lpn.0, content, state: State::Pending };
        }
    }

    /// A logical unit lives in a unit of flash from now on, and the copy before becomes what is said.
    fn map(&mut self, lpn: Lpn, to: Pun, old: State, book: &mut Book) {
        let unit = std::mem::replace(&mut self.mapped[lpn.index()], to.0);
        self.end_copy(unit, old, book);
        self.set(to.0, State::Live, book);
    }

    /// A logical unit lives no more.
    fn end(&mut self, lpn: Lpn, book: &mut Book) {
        let old = std::mem::replace(&mut self.mapped[lpn.index()], NONE);
        self.end_copy(old, State::Dead, book);
        self.end_replicas(lpn, book);
    }

    fn end_copy(&mut self, unit: u32, state: State, book: &mut Book) {
        let is_there = |unit: &Unit| matches!(unit.state, State::Live | State::Replica);
        if self.units.get(unit as usize).is_some_and(is_there) {
            self.set(unit, state, book);
        }
    }

    fn end_replicas(&mut self, lpn: Lpn, book: &mut Book) {
        if self.replicas.is_empty() {
            return;
        }
        for unit in self.replicas.remove(&lpn.0).unwrap_or_default() {
            // Its block may have been erased and be in use for other data.
            if self.units[unit as usize].lpn == lpn.0 && self.units[unit as usize].state == State::Replica {
                self.set(unit, State::Left, book);
            }
        }
    }

    /// A lock or a scrub is over.
    fn hide(&mut self, pages: (u32, u32, u32), book: &mut Book) {
        let is_exposed = |state| matches!(state, State::Dead | State::Left);
        self.set_all(pages, |state| is_exposed(state).then_some(State::Hidden), book);
    }

    /// Gives the units of so many pages from one on of a physical block a state that depends on their own.
    fn set_all(
        &mut self,
        (block, page, count): (u32, u32, u32),
        state: impl Fn(State) -> Option<State>,
        book: &mut Book,
    ) {
        for page in page..(page + count).min(self.pages_per_block) {
            let first = self.firsts[self.page(block, page)];
            if first == NONE {
                continue;
            }
            for unit in first..first + self.units_per_page {
                if let Some(state) = state(self.units[unit as usize].state) {
                    self.set(unit, state, book);
                }
            }
        }
    }

    fn set(&mut self, unit: u32, state: State, book: &mut Book) {
        let place = &mut self.units[unit as usize];
        let old = std::mem::replace(&mut place.state, state);
        let more = |which: State| i32::from(state == which) - i32::from(old == which);
        let (valid, dead, left) = (more(State::Live), more(State::Dead), more(State::Left));
        if (valid, dead, left) != (0, 0, 0) {
            book.change(place.content.file, valid, dead + left, left);
        }
    }

    /// What every unit of flash holds that was programmed: its number, the logical unit, the data. Pages that are
    /// locked are among them, for the cells of their flags do not last for ever.
    pub fn held(&self) -> impl Iterator<Item = (u32, u32, Content)> {
        let units = (0..).zip(&self.units).filter(|(_, unit)| unit.state != State::Erased);
        units.map(|(number, unit)| (number, unit.lpn, unit.content))
    }
}
