//! Host data on its way to flash: units wait in streams, become pages, and are mapped when those are programmed.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::stream::{Said, StreamId};
use crate::ftl::tables::Tables;
use crate::ftl::tables::facts::Death;
use crate::ftl::work::Work;
use crate::ftl::write::gather::Gather;
use crate::ftl::write::waits::{Lack, Waits};
use crate::ftl::{Ftl, Programmed};
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::signals::Facts;
use crate::units::{Lpn, NONE, OpId, Ppn, Pun, SlotId};

/// Why a unit waits to be programmed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offer {
    /// The host has written it.
    New,
    /// It has written it again while it waited.
    Again,
    /// It was only read.
    Promoted,
}

/// What became of the units that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paged {
    /// Some of them are being programmed together.
    Programs(OpId),
    /// One of them waits for a lane of its own now.
    Parked,
    /// There is no page for them.
    NoRoom,
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

impl Ftl {
    /// A unit of host data, in a slot of DRAM, may be programmed: `bytes` of it hold data. It goes before others if it
    /// is to be `first`.
    #[inline]
    pub fn offer(&mut self, slot: SlotId, lpn: Lpn, bytes: u32, said: Said, first: bool) {
        self.offer_to(slot, (lpn, bytes), said, first, Offer::New);
    }

    /// A unit that the host has not written is programmed once more, as its separation asks.
    pub fn offer_promoted(&mut self, slot: SlotId, lpn: Lpn, bytes: u32) {
        self.offer_to(slot, (lpn, bytes), Said::default(), false, Offer::Promoted);
    }

    #[inline(always)]
    fn offer_to(&mut self, slot: SlotId, (lpn, bytes): (Lpn, u32), said: Said, first: bool, offer: Offer) {
        let (streams, clock) = (self.moves.media.space.allocator.streams(), self.moves.media.tables.clock);
        let stream = self.moves.separation.of_write(streams, clock, (lpn, said, offer != Offer::New));
        // What hosts say beyond what is known must not turn into something else.
        let priority = u64::from(said.hints.priority.min(3));
        let class = u64::from(match self.moves.media.locks.are_on() {
            true => {
                let said = (offer != Offer::Promoted).then_some(said.hints.class);
                self.moves.media.locks.manner.class_to_lock(&self.moves.media.tables, lpn, said)
            }
            false => said.hints.class.min(3),
        });
        let facts = Facts::NONE
            .with_stream(u64::from(stream.0))
            .with_class(class)
            .with_priority(priority)
            .with_promoted(u64::from(offer == Offer::Promoted));
        let class = if self.moves.page_classes.sorts() { self.class_of_offer(lpn, offer) } else { 0 };
        self.gather.put(slot, (lpn, bytes, stream, class), facts, first);
        if self.gather.sorts() {
            self.moves.media.work.counts.class_queued_max =
                self.moves.media.work.counts.class_queued_max.max(self.gather.held(stream));
        }
    }

    /// The class of pages that a unit deserves. What is promoted is moved, and not written by the host.
    #[inline(never)]
    fn class_of_offer(&mut self, lpn: Lpn, offer: Offer) -> u8 {
        let (class, lowered) = match offer {
            Offer::Promoted => self.moves.page_classes.of_move(lpn),
            Offer::New | Offer::Again => self.moves.page_classes.of_write(lpn),
        };
        self.moves.media.work.counts.heat_lowers += u64::from(lowered);
        if self.gather.sorts() { class } else { 0 }
    }

    /// The host has written again to a unit that waits. It goes before others; where data is sorted by class, only if
    /// it is `urgent`: what is written often must not leave the queue early.
    pub fn offer_again(&mut self, slot: SlotId, bytes: u32, said: Said, urgent: bool) {
        if self.gather.grow_parked(slot, bytes) {
            if self.moves.media.locks.are_on() {
                self.gather.secure(slot, self.moves.media.locks.manner.class_of(said.hints.class));
            }
        } else {
            let lpn = self.gather.get(slot).lpn;
            self.gather.take(slot);
            let first = urgent || !self.gather.sorts();
            self.offer_to(slot, (lpn, bytes), said, first, Offer::Again);
        }
    }

    /// A unit that is being programmed is trimmed, or about to be: the program is in vain for it. What has not begun
    /// programs nothing in its place; of what has, its page is exposed as soon as it is there.
    pub fn withdraw_program(&mut self, flash: &mut Flash, id: OpId, place: u8) {
        let op = *flash.pool.get(id);
        let has_begun = !self.moves.media.outbox.contains(&id) && flash.has_begun(id);
        let unit = &mut flash.pool.units_mut(id)[usize::from(place)];
        if unit.is_given_up() {
            return;
        }
        if has_begun && self.moves.media.locks.are_on() {
            self.moves.media.locks.note_unborn(
                &self.moves.media.tables,
                &mut self.moves.media.work,
                &op,
                unit,
            );
        }
        *unit = if has_begun { unit.given_up() } else { UnitRef::new(NONE, unit.source).given_up() };
    }

    /// What waits in line for lanes that have room may go on.
    pub fn unpark(&mut self) {
        let turns = if self.gather.parked() > 0 { self.moves.media.tables.layout.lanes } else { 0 };
        for turn in 0..turns {
            let stream = self.gather.oldest_parked(turn).map(|unit| unit.stream);
            if stream.is_some_and(|stream| {
                self.moves.media.space.has_host_page(&self.moves.media.tables, turn, stream)
            }) {
                self.gather.unpark(turn);
            }
        }
    }

    /// Programs units that wait, of one stream, to its next page, even if they do not fill it. Where pages have lanes
    /// of their own, what finds no room there waits in line, and the others go on.
    pub fn program_page(&mut self, flash: &mut Flash) -> Paged {
        let Some(stream) = self.gather.next_stream() else { return Paged::NoRoom };
        let oldest = self.gather.oldest(stream, 0).0;
        let lpn = self.gather.get(oldest).lpn;
        if let Some(turn) = self.moves.media.space.placement.turn_of(lpn)
            && (self.gather.is_line(turn)
                || !self.moves.media.space.has_host_page(&self.moves.media.tables, turn, stream))
        {
            self.gather.park(oldest, turn);
            self.moves.media.waits.lack(Lack::Page);
            return Paged::Parked;
        }
        let paced = self.moves.media.work.paces_host && !flash.is_instant();
        let Some(found) = self.moves.media.space.host_page(
            &mut self.moves.media.tables,
            &self.moves.media.work,
            lpn,
            stream,
            paced,
        ) else {
            self.moves.media.waits.lack(Lack::Page);
            return Paged::NoRoom;
        };
        self.moves.media.erase_if_opened(flash, found);
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let class = if self.gather.sorts() {
            self.moves.page_classes.class_of_page(&self.moves.media.tables, found.page)
        } else {
            0
        };
        let (count, bytes) = self.gather.take_units(
            &self.moves.media.tables,
            &mut self.moves.media.work,
            (stream, class),
            &mut units,
        );
        self.moves.media.work.counts.padded_units +=
            u64::from(self.moves.media.tables.layout.units_per_page) - count as u64;
        self.moves.media.space.ring.note_bypass(
            &self.moves.media.tables,
            &mut self.moves.media.work,
            found.page,
            count,
        );
        // A page that begins with what is promoted is a page of it.
        let is_promoted = units[0].facts().promoted() > 0;
        let cause = if is_promoted { Cause::Promote } else { Cause::Host };
        let op = Op {
            bytes,
            ..self.moves.media.space.ring.op(&self.moves.media.tables, OpKind::Program, cause, found.page)
        };
        let op =
            self.moves.media.tables.bound_for(self.moves.media.tables.layout.block_of_page(found.page).0, op);
        let id = self.moves.media.issue(flash, op, &units[..count]);
        self.moves.media.waits.grant(Lack::Page, self.gather.parked() > 0);
        if found.opened || paced && self.moves.media.work.rests_unduly(found.lane) {
            self.moves.check_lane(flash, found.lane);
        }
        Paged::Programs(id)
    }

    /// A page of host data is programmed, or it has failed.
    #[inline(always)]
    pub(in crate::ftl) fn on_host_program(
        &mut self,
        flash: &mut Flash,
        id: OpId,
        page: Ppn,
        outcome: Outcome,
    ) {
        let (block, _) = self.moves.media.tables.layout.block_of_page(page);
        let first = page.0 * self.moves.media.tables.layout.units_per_page;
        let failed = outcome == Outcome::Fail;
        let spent = flash.pool.spent(id);
        let mut promoted = 0;
        let locks = self.moves.media.locks.are_on();
        for (i, unit) in (0..).zip(flash.pool.units(id)) {
            let (to, slot) = (Pun(first + i), SlotId(unit.source));
            if locks && (failed || unit.is_given_up()) && unit.lpn != NONE {
                self.moves.media.locks.note_stillborn(
                    &mut self.moves.media.tables,
                    &mut self.moves.media.work,
                    to,
                    unit.facts(),
                );
            }
            if unit.is_given_up() {
                // What the spare area says, if anything, though nobody will read it.
                self.moves.media.tables.map.note_stray(Lpn(unit.lpn), to);
            } else if failed {
                self.gather.take_back(&mut self.moves.media.tables, Lpn(unit.lpn), to, slot);
            } else {
                match locks {
                    true => self.moves.media.locks.forget_replica(
                        &mut self.moves.media.tables,
                        &mut self.moves.media.work,
                        Lpn(unit.lpn),
                    ),
                    false => self.moves.media.tables.replicas.forget(Lpn(unit.lpn)),
                }
                self.moves.media.commit(Lpn(unit.lpn), to, unit.facts(), Death::Written);
                let of_host = 1 - unit.facts().promoted();
                self.moves.media.tables.clock += of_host;
                self.moves.media.work.counts.host_units += of_host;
                promoted += 1 - of_host;
                self.moves.media.effects.push(Effect::Program { lpn: Lpn(unit.lpn), slot, to });
            }
            self.programmed.push(Programmed { slot, outcome, queued: spent.queued, times: spent.times });
        }
        self.moves.media.work.counts.moved_units[Cause::Promote as usize] += promoted;
        flash.pool.remove(id);
        self.moves.media.after_program(block, failed);
    }
}
