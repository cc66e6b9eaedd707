//! Host data on its way to flash: units wait in streams, become pages, and are mapped when those are programmed.

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::stream::{Said, StreamId};
use crate::ftl::tables::facts::Death;
use crate::ftl::write::owing::Holds;
use crate::ftl::write::waits::Lack;
use crate::ftl::{Ftl, Media, Programmed};
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

/// What came of a page that was written without operations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// It is written.
    Done,
    /// It is, and there is something to carry out.
    Stop,
    /// Its program failed.
    Failed,
    /// There is no page for it.
    NoRoom,
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
        let media = &mut self.moves.media;
        if self.gather.grow_parked(slot, bytes) {
            if media.locks.are_on() {
                self.gather.secure(slot, media.locks.manner.class_of(said.hints.class));
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
        let media = &mut self.moves.media;
        let op = *flash.pool.get(id);
        let has_begun = !media.outbox.contains(&id) && flash.has_begun(id);
        let unit = &mut flash.pool.units_mut(id)[usize::from(place)];
        if unit.is_given_up() {
            return;
        }
        if has_begun && media.locks.are_on() {
            media.locks.note_dead_in_program(&media.tables, &mut media.work, &op, unit);
        }
        *unit = if has_begun { unit.given_up() } else { UnitRef::new(NONE, unit.source).given_up() };
    }

    /// What waits in line for lanes that have room may go on.
    pub fn unpark(&mut self) {
        let media = &mut self.moves.media;
        let turns = if self.gather.parked() > 0 { media.tables.layout.lanes } else { 0 };
        for turn in 0..turns {
            let stream = self.gather.oldest_parked(turn).map(|unit| unit.stream);
            if stream.is_some_and(|stream| media.space.has_host_page(&media.tables, turn, stream)) {
                self.gather.unpark(turn);
            }
        }
    }

    /// Programs units that wait, of one stream, to its next page, even if they do not fill it. Where pages have lanes
    /// of their own, what finds no room there waits in line, and the others go on.
    pub fn program_page(&mut self, flash: &mut Flash) -> Paged {
        let Some(stream) = self.gather.next_stream() else { return Paged::NoRoom };
        if self.moves.media.locks.bound.is_on() && !self.may_program(flash, stream) {
            self.hold(flash, stream);
            return Paged::NoRoom;
        }
        let media = &mut self.moves.media;
        let oldest = self.gather.oldest(stream, 0).0;
        let lpn = self.gather.get(oldest).lpn;
        if let Some(turn) = media.space.placement.turn_of(lpn)
            && (self.gather.is_line(turn) || !media.space.has_host_page(&media.tables, turn, stream))
        {
            self.gather.park(oldest, turn);
            media.waits.lack(Lack::Page);
            return Paged::Parked;
        }
        let paced = media.work.paces_host && !flash.is_instant();
        let Media { space, tables, work, locks, .. } = media;
        let found = match locks.bound.is_on() {
            true => space.bounded_page(
                tables,
                work,
                lpn,
                stream,
                &Holds { bound: &locks.bound, now: flash.passing(), paced },
            ),
            false => space.host_page(tables, work, lpn, stream, paced),
        };
        let Some(found) = found else {
            if locks.bound.is_on() {
                work.lack_room();
                self.hold(flash, stream);
            } else {
                media.waits.lack(Lack::Page);
            }
            return Paged::NoRoom;
        };
        media.erase_if_opened(flash, found);
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let class = if self.gather.sorts() {
            self.moves.page_classes.class_of_page(&media.tables, found.page)
        } else {
            0
        };
        let (count, bytes) =
            self.gather.take_units(&media.tables, &mut media.work, (stream, class), &mut units);
        media.space.ring.note_bypass(&media.tables, &mut media.work, found.page, count);
        if media.locks.bound.is_on() {
            media.locks.bound.claim_all(&media.tables, &mut media.work, &units[..count]);
            media.locks.bound.let_go(&mut media.work, flash.now);
        }
        // A page that begins with what is promoted is a page of it.
        let is_promoted = units[0].facts().promoted() > 0;
        let cause = if is_promoted { Cause::Promote } else { Cause::Host };
        media.work.note_padding(&media.tables.layout, cause, count);
        let mut op = Op { bytes, ..media.tables.op(OpKind::Program, cause, found.page) };
        media.tables.bind(found.block, &mut op);
        let id = media.issue_whole(flash, op, &units[..count]);
        media.write_parity(flash, found, &op, false);
        if media.tables.layout.pages_per_row > 1 {
            self.gather.note_left(stream, media.tables.layout.left_of_row(found.page));
        }
        media.waits.grant(Lack::Page, self.gather.parked() > 0);
        if found.opened || paced && media.work.rests_unduly(found.lane) {
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
        let media = &mut self.moves.media;
        let (block, _) = media.tables.layout.block_of_page(page);
        let first = page.0 * media.tables.layout.units_per_page;
        let failed = outcome == Outcome::Fail;
        let spent = flash.pool.spent(id);
        let mut promoted = 0;
        let locks = media.locks.are_on();
        for (i, unit) in (0..).zip(flash.pool.units(id)) {
            let (to, slot) = (Pun(first + i), SlotId(unit.source));
            if locks && media.locks.bound.is_on() {
                media.locks.bound.unclaim(&mut media.work, slot.index());
            }
            if locks && (failed || unit.is_given_up()) && unit.lpn != NONE {
                media.locks.note_dead_on_arrival(&mut media.tables, &mut media.work, to, unit.facts());
            }
            if unit.is_given_up() {
                // What the spare area says, if anything, though nobody will read it.
                media.tables.map.note_stray(Lpn(unit.lpn), to);
            } else if failed {
                self.gather.take_back(&mut media.tables, Lpn(unit.lpn), to, slot);
            } else {
                media.forget_replica(Lpn(unit.lpn));
                media.commit(Lpn(unit.lpn), to, unit.facts(), Death::Written);
                let of_host = 1 - unit.facts().promoted();
                media.tables.clock += of_host;
                media.work.counts.host_units += of_host;
                promoted += 1 - of_host;
                media.effects.push(Effect::Program { lpn: Lpn(unit.lpn), slot, to });
            }
            self.programmed.push(Programmed { slot, outcome, queued: spent.queued, times: spent.times });
        }
        media.work.counts.moved_units[Cause::Promote as usize] += promoted;
        media.locks.settle_page(&media.tables, &mut media.work, page);
        flash.pool.remove(id);
        media.after_program(block, failed);
    }

    /// Writes whole units one after another without operations or time: the quick way to a full drive. Cleaning is
    /// done as needed. Returns how many units were written before there was something to carry out or a program
    /// failed, as an error if before no page was left. Units that are `moved` stand for what cleaning has moved: the
    /// host has not written them, and blocks grow no older by them.
    ///
    /// Where data is separated some of them may wait, and be written by the next call: `direct` is not idle then.
    pub fn write_directly(&mut self, flash: &mut Flash, lpns: &[u32], moved: bool) -> Result<usize, usize> {
        if !self.direct.waiting.is_empty() {
            return self.sort_directly(flash, lpns, moved);
        }
        let stream = StreamId(self.moves.media.space.allocator.streams().of_host.trailing_zeros() as u8);
        let units_per_page = self.moves.media.tables.layout.units_per_page as usize;
        for (n, page_units) in lpns.chunks(units_per_page).enumerate() {
            self.moves.media.tables.prefetch_ahead(lpns, n * units_per_page, page_units.len());
            for &lpn in page_units {
                self.moves.separation.of_write(
                    self.moves.media.space.allocator.streams(),
                    self.moves.media.tables.clock,
                    (Lpn(lpn), Said::default(), false),
                );
            }
            match self.write_page(flash, stream, page_units, moved) {
                Written::Done => {}
                Written::Stop => return Ok(((n + 1) * units_per_page).min(lpns.len())),
                Written::Failed => return Ok(n * units_per_page),
                Written::NoRoom => return Err(n * units_per_page),
            }
        }
        Ok(lpns.len())
    }

    /// Writes whole units where the host's data goes to several streams: units wait until those of their stream make a
    /// page. When all have been asked about, what is left goes to pages together.
    fn sort_directly(&mut self, flash: &mut Flash, lpns: &[u32], moved: bool) -> Result<usize, usize> {
        let units_per_page = self.moves.media.tables.layout.units_per_page as usize;
        for at in 0..self.direct.waiting.len() {
            if self.direct.waiting[at].len() == units_per_page {
                match self.write_waiting(flash, at, moved) {
                    Written::Done => {}
                    Written::NoRoom => return Err(0),
                    _ => return Ok(0),
                }
            }
        }
        for (n, &lpn) in lpns.iter().enumerate() {
            self.moves.media.tables.prefetch_ahead(lpns, n, 1);
            let at = self
                .moves
                .separation
                .of_write(
                    self.moves.media.space.allocator.streams(),
                    self.moves.media.tables.clock,
                    (Lpn(lpn), Said::default(), false),
                )
                .index();
            self.direct.waiting[at].push(lpn);
            if self.direct.waiting[at].len() == units_per_page {
                match self.write_waiting(flash, at, moved) {
                    Written::Done => {}
                    Written::NoRoom => return Err(n + 1),
                    _ => return Ok(n + 1),
                }
            }
        }
        while let Some(at) = self.direct.waiting.iter().position(|units| !units.is_empty()) {
            self.fill_up_directly(at);
            match self.write_waiting(flash, at, moved) {
                Written::Done => {}
                Written::NoRoom => return Err(lpns.len()),
                _ => break,
            }
        }
        Ok(lpns.len())
    }

    /// Units of other streams take the places that those of a stream would leave empty in a page.
    fn fill_up_directly(&mut self, at: usize) {
        let media = &mut self.moves.media;
        let units_per_page = media.tables.layout.units_per_page as usize;
        let (before, rest) = self.direct.waiting.split_at_mut(at);
        let Some((units, after)) = rest.split_first_mut() else { return };
        for other in before.iter_mut().chain(after) {
            let some = other.len().min(units_per_page - units.len());
            units.extend(other.drain(..some));
            media.work.counts.mixed_units += some as u64;
        }
    }

    /// Writes the units of a stream that wait, a page of them; they wait on if that fails.
    fn write_waiting(&mut self, flash: &mut Flash, at: usize, moved: bool) -> Written {
        let mut units = core::mem::take(&mut self.direct.waiting[at]);
        let written = self.write_page(flash, StreamId(at as u8), &units, moved);
        if matches!(written, Written::Done | Written::Stop) {
            units.clear();
        }
        self.direct.waiting[at] = units;
        written
    }

    /// Writes a page of units of a stream without operations or time.
    #[inline]
    fn write_page(
        &mut self,
        flash: &mut Flash,
        stream: StreamId,
        page_units: &[u32],
        moved: bool,
    ) -> Written {
        let media = &mut self.moves.media;
        let Media { space, tables, work, locks, .. } = media;
        let (units_per_page, lpn) = (tables.layout.units_per_page, Lpn(page_units[0]));
        let found = match (locks.bound.is_on(), moved) {
            (true, _) => space.page_of_kills((tables, work), (&locks.bound, flash), stream, page_units),
            (false, true) => space.full_page(tables, work, lpn, stream, false),
            (false, false) => space.host_page(tables, work, lpn, stream, false),
        };
        let Some(found) = found else { return Written::NoRoom };
        let block = found.block;
        let mut op = tables.op(OpKind::Program, Cause::Host, found.page);
        tables.bind(block, &mut op);
        media.erase_if_opened(flash, found);
        media.parts.do_at_once(&media.tables.layout, flash, &mut op);
        let class = if media.locks.are_on() { media.locks.manner.class_of(0) } else { 0 };
        let facts = Facts::NONE.with_stream(u64::from(stream.0)).with_class(class.into());
        if media.effects.has_chips() {
            self.tell_page(op, page_units, facts);
        }
        let media = &mut self.moves.media;
        let outcome = op.outcome;
        let count = page_units.len() as u64;
        if outcome == Outcome::Pass {
            for (i, &lpn) in (0..).zip(page_units) {
                let (lpn, to) = (Lpn(lpn), Pun(found.page.0 * units_per_page + i));
                media.forget_replica(lpn);
                let facts = facts.with_sequence(self.gather.sequence + u64::from(i) + 1);
                media.commit(lpn, to, facts, Death::Ended);
                media.effects.push(Effect::Place { lpn, to });
            }
            if moved {
                media.work.counts.moved_units[Cause::Cleaning as usize] += count;
            } else {
                media.tables.clock += count;
                media.work.counts.host_units += count;
                media.space.ring.note_bypass(&media.tables, &mut media.work, found.page, page_units.len());
            }
        }
        if outcome == Outcome::Fail {
            for (to, &lpn) in (found.page.0 * units_per_page..).zip(page_units) {
                media.tables.map.note_stray(Lpn(lpn), Pun(to));
                if media.locks.are_on() {
                    media.locks.note_dead_on_arrival(&mut media.tables, &mut media.work, Pun(to), facts);
                }
            }
        }
        self.gather.sequence += count;
        media.after_program(block, outcome == Outcome::Fail);
        media.write_parity(flash, found, &op, true);
        if found.opened && media.work.pace == Pace::Relaxed {
            self.moves.check_lane(flash, found.lane);
        }
        let media = &self.moves.media;
        match outcome {
            Outcome::Fail => Written::Failed,
            _ if !media.outbox.is_empty() => Written::Stop,
            // What it has killed is locked before it is the turn of the next.
            _ if media.locks.bound.is_on() && media.work.looks.any() => Written::Stop,
            _ => Written::Done,
        }
    }

    /// Tells of the program of a page of whole units, which is over.
    #[cold]
    fn tell_page(&mut self, op: Op, lpns: &[u32], facts: Facts) {
        let media = &mut self.moves.media;
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        for ((sequence, unit), &lpn) in (self.gather.sequence + 1..).zip(&mut units).zip(lpns) {
            *unit = UnitRef::new(lpn, NONE).with_facts(facts.with_sequence(sequence));
        }
        media.effects.tell_at_once(&media.tables.layout, &op, &units[..lpns.len()]);
    }
}
