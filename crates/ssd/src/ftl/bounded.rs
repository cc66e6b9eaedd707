//! What may begin only if the locks that it will owe fit in, in room and in time (`ftl.sanitize.max_exposed_ms`).

use crate::flash::Flash;
use crate::flash::op::{UNITS_AT_MOST, UnitRef};
use crate::ftl::stream::StreamId;
use crate::ftl::write::open::Allocated;
use crate::ftl::write::placement::Holds;
use crate::ftl::write::waits::Lack;
use crate::ftl::{Ftl, Media, Moves};
use crate::units::{LaneId, Lpn, NONE, OpId};

/// Copies of secured data that are to be killed, by lane.
#[derive(Clone, Copy, Debug)]
struct Kills {
    lanes: [(LaneId, u32); UNITS_AT_MOST],
    len: usize,
}

impl Kills {
    const NONE: Kills = Kills { lanes: [(LaneId(0), 0); UNITS_AT_MOST], len: 0 };

    fn add(&mut self, lane: LaneId) {
        let found = self.lanes[..self.len].iter_mut().find(|(other, _)| *other == lane);
        match found {
            Some((_, count)) => *count += 1,
            None => {
                self.lanes[self.len] = (lane, 1);
                self.len += 1;
            }
        }
    }

    fn all(&self) -> &[(LaneId, u32)] {
        &self.lanes[..self.len]
    }
}

impl Media {
    /// The lane in which a write of a logical unit kills a copy of secured data, if it does.
    pub(in crate::ftl) fn lane_of_kill(&self, lpn: Lpn) -> Option<LaneId> {
        let at = self.tables.map.lookup(lpn);
        let kills = at.is_some() && self.tables.facts.is_secured(at);
        kills.then(|| self.tables.layout.lane_of(self.tables.layout.block_of_unit(at)))
    }

    /// Whether a lane has room for so many more pages of moves for locks. If not it is cleaned, low or not.
    fn has_room_to_owe(&mut self, lane: LaneId, pages: u32) -> bool {
        let margin = self.locks.bound.terms.margin;
        let has_room =
            self.space.allocator.has_room_to_owe(&self.tables, &self.work, lane, pages + margin, 0);
        let is_new = !has_room && !self.work.lanes[lane.index()].short;
        self.work.lane_mut(lane).short = !has_room;
        if is_new {
            self.work.looks.soon(lane);
        }
        has_room
    }

    /// Whether what kills so many copies in each of these lanes may begin: there is room for what lives beside all of
    /// them, and time, where time passes, before what is owed there is late.
    fn may_owe(&mut self, flash: &Flash, kills: &[(LaneId, u32)]) -> bool {
        // All lanes are asked: each that lacks room is cleaned.
        let has_room =
            kills.iter().fold(true, |all, &(lane, count)| self.has_room_to_owe(lane, count) && all);
        has_room
            && (flash.is_instant() || kills.iter().all(|&(lane, _)| self.has_time_to_owe(flash, kills, lane)))
    }

    fn has_time_to_owe(&self, flash: &Flash, kills: &[(LaneId, u32)], lane: LaneId) -> bool {
        let bound = &self.locks.bound;
        let group = bound.group_of(lane);
        let here = kills.iter().filter(|(other, _)| bound.group_of(*other) == group);
        let ns = bound.claims_ns(here.map(|(_, count)| count).sum()) + bound.program_ns();
        bound.slack(&self.work, group, flash.now) >= ns as i64
    }

    /// The host's next program waits, as it would not without the bound, if a lane has a page for it.
    #[cold]
    pub(in crate::ftl) fn hold(&mut self, flash: &Flash, stream: StreamId) {
        let mut lanes = (0..self.tables.layout.lanes).map(LaneId);
        if lanes.any(|lane| self.space.allocator.has_host_page(lane, stream)) {
            self.locks.bound.hold(flash.now);
        } else {
            self.locks.bound.let_go(&mut self.work, flash.now);
        }
    }

    /// The host has been refused a page in all lanes for want of room: they are cleaned, low or not.
    pub(in crate::ftl) fn lack_room_to_owe(&mut self) {
        for lane in (0..self.tables.layout.lanes).map(LaneId) {
            if !self.work.lane_mut(lane).short {
                self.work.lane_mut(lane).short = true;
                self.work.looks.soon(lane);
            }
        }
    }

    /// Units are about to be programmed for the host: what they kill is claimed.
    pub(in crate::ftl) fn claim_all(&mut self, units: &[UnitRef]) {
        for unit in units.iter().filter(|unit| unit.lpn != NONE) {
            if let Some(lane) = self.lane_of_kill(Lpn(unit.lpn)) {
                self.locks.bound.claim(&mut self.work, unit.source as usize, lane);
            }
        }
    }

    /// The page that units are written to without operations, if there is one.
    #[inline]
    pub(in crate::ftl) fn page_at_once(
        &mut self,
        flash: &Flash,
        stream: StreamId,
        units: &[u32],
        moved: bool,
    ) -> Option<Allocated> {
        if self.locks.bound.is_on() {
            let may = self.may_kill_all(flash, units);
            return if may { self.bounded_page(flash, Lpn(units[0]), stream, false) } else { None };
        }
        let Media { space, tables, work, .. } = self;
        match moved {
            true => space.full_page(tables, work, Lpn(units[0]), stream, false),
            false => space.host_page(tables, work, Lpn(units[0]), stream, false),
        }
    }

    /// A page of a full block for host data, where exposure has a bound; a lane without is short of room.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn bounded_page(
        &mut self,
        flash: &Flash,
        lpn: Lpn,
        stream: StreamId,
        paced: bool,
    ) -> Option<Allocated> {
        let Media { space, tables, work, locks, .. } = self;
        let holds = Holds { paced, bound: locks.bound.at(flash) };
        let found = space.bounded_page(tables, work, lpn, stream, holds);
        if found.is_none() {
            self.lack_room_to_owe();
        }
        found
    }

    /// Whether units may be written, or trimmed, where no time passes or at once.
    pub(in crate::ftl) fn may_kill_all(&mut self, flash: &Flash, lpns: &[u32]) -> bool {
        let mut kills = Kills::NONE;
        lpns.iter().filter_map(|&lpn| self.lane_of_kill(Lpn(lpn))).for_each(|lane| kills.add(lane));
        self.may_owe(flash, kills.all())
    }
}

impl Ftl {
    /// Whether the units of a stream that go next may be programmed. Which these are is not known where data is sorted,
    /// or others fill their page up: then there must be room and time for a page of them wherever they lie.
    pub(in crate::ftl) fn may_program(&mut self, flash: &Flash, stream: StreamId) -> bool {
        let media = &mut self.moves.media;
        let count = media.tables.layout.units_per_page as usize;
        let mut kills = Kills::NONE;
        for nth in 0..count {
            let Some(lpn) = self.gather.nth(stream, nth) else {
                return self.may_program_anywhere(flash);
            };
            if let Some(lane) = media.lane_of_kill(lpn) {
                kills.add(lane);
            }
        }
        media.may_owe(flash, kills.all())
    }

    /// Whether a logical unit may be trimmed that this program carries, if any does. If not, somebody waits for a page,
    /// and for time.
    #[cold]
    pub fn may_trim(&mut self, flash: &Flash, lpn: Lpn, program: OpId) -> bool {
        let media = &mut self.moves.media;
        let mut kills = Kills::NONE;
        if let Some(lane) = media.lane_of_kill(lpn) {
            kills.add(lane);
        }
        if program.is_some() {
            let page = flash.pool.get(program).ppn;
            kills.add(media.tables.layout.lane_of(media.tables.layout.block_of_page(page).0));
        }
        let may = media.may_owe(flash, kills.all());
        match may {
            true => media.locks.bound.let_go(&mut media.work, flash.now),
            false => {
                media.locks.bound.hold(flash.now);
                media.waits.lack(Lack::Page);
            }
        }
        may
    }

    fn may_program_anywhere(&mut self, flash: &Flash) -> bool {
        let media = &mut self.moves.media;
        let waiting = self.gather.waiting();
        let count = media.tables.layout.units_per_page.min(waiting);
        let mut may = true;
        for lane in (0..media.tables.layout.lanes).map(LaneId) {
            // All of them are asked: each that lacks room is cleaned.
            may &= media.may_owe(flash, &[(lane, count)]);
        }
        may
    }

    /// What a drive owes is looked at, now that nothing is left to carry. Returns whether there is something again.
    pub(crate) fn tend_bound(&mut self, flash: &mut Flash) -> bool {
        let bound = &self.moves.media.locks.bound;
        for group in 0..bound.groups() {
            let Media { locks, work, .. } = &mut self.moves.media;
            let bound = &mut locks.bound;
            let is_pressed = bound.owes_in(group) && bound.slack(work, group, flash.now) <= 0;
            if is_pressed != bound.pressed[group] {
                bound.pressed[group] = is_pressed;
                bound.any_pressed = bound.any_pressed + u32::from(is_pressed) - u32::from(!is_pressed);
                self.press(flash, group, is_pressed);
            }
        }
        let Media { locks, tables, work, .. } = &mut self.moves.media;
        if locks.bound.any_pressed > 0 {
            locks.hurry_deferred(tables, work);
        }
        self.moves.media.work.has_new_candidates() || self.moves.media.is_carrying(flash)
    }

    /// A group of dies does nothing any more but what it owes, or all else again.
    fn press(&mut self, flash: &mut Flash, group: usize, is_pressed: bool) {
        for lane in self.moves.media.locks.bound.lanes_of(group).map(LaneId) {
            let Media { tables, work, .. } = &mut self.moves.media;
            for member in 0..tables.layout.span {
                flash.press(tables.layout.member(tables.layout.first_block(lane), member).die, is_pressed);
            }
            work.looks.soon(lane);
        }
    }
}

impl Moves {
    /// Whether a lane's moves wait, for the locks of its dies would be late.
    #[inline(always)]
    pub(in crate::ftl) fn yields_to_locks(&self, flash: &Flash, lane: LaneId, begins: bool) -> bool {
        self.media.locks.bound.is_on() && self.locks_would_be_late(flash, lane, begins)
    }

    #[cold]
    #[inline(never)]
    fn locks_would_be_late(&self, flash: &Flash, lane: LaneId, begins: bool) -> bool {
        let Media { locks, work, .. } = &self.media;
        let bound = &locks.bound;
        if flash.is_instant() || locks.lists.is_occupied(lane) {
            return false;
        }
        let group = bound.group_of(lane);
        let ns = bound.page_ns() + if begins { bound.erase_ns() } else { 0 };
        bound.owes_in(group) && bound.slack(work, group, flash.now) < ns as i64
    }

    /// Whether what moves in a lane waits for nothing to share its page with.
    #[inline]
    pub(in crate::ftl) fn is_pressed(&self, lane: LaneId) -> bool {
        let bound = &self.media.locks.bound;
        bound.any_pressed > 0 && bound.pressed[bound.group_of(lane)]
    }
}
