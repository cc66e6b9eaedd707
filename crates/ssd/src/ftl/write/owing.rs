//! Whether the locks that something will owe fit in, in room and in time (`ftl.sanitize.max_exposed_ms`).

use crate::flash::op::UNITS_AT_MOST;
use crate::flash::{Flash, Waiting};
use crate::ftl::stream::StreamId;
use crate::ftl::tables::Tables;
use crate::ftl::work::Work;
use crate::ftl::work::bound::{Bound, Kill, READS_BEFORE};
use crate::ftl::write::open::{Allocated, Allocator};
use crate::ftl::write::placement::{Placement, Space};
use crate::units::{LaneId, Lpn, SimTime};

/// Copies of secured data that are to be killed, by lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Kills {
    lanes: [Kill; UNITS_AT_MOST],
    len: usize,
}

impl Kills {
    /// None yet.
    pub const NONE: Kills =
        Kills { lanes: [Kill { lane: LaneId(0), copies: 0, reads: 0 }; UNITS_AT_MOST], len: 0 };

    /// One more in a lane, for whose page so many reads wait.
    pub fn add(&mut self, lane: LaneId, reads: u32) {
        let found = self.lanes[..self.len].iter_mut().find(|kill| kill.lane == lane);
        match found {
            Some(kill) => (kill.copies, kill.reads) = (kill.copies + 1, kill.reads + reads),
            None => {
                self.lanes[self.len] = Kill { lane, copies: 1, reads };
                self.len += 1;
            }
        }
    }

    /// The copy in flash of a logical unit that is to be written or trimmed, if it is secured.
    pub fn add_copy(&mut self, tables: &Tables, (bound, flash): (&Bound, &Flash), lpn: Lpn) {
        let Some(at) = tables.secured_copy(lpn) else { return };
        let page = tables.layout.page_of_unit(at).0;
        let waiting = Waiting::at(flash, tables.layout.locate(page).die);
        let is_looked_at = waiting.count() > READS_BEFORE && !bound.is_owed(page);
        let reads = if is_looked_at { waiting.reads(|read| read == page) } else { 0 };
        self.add(tables.layout.lane_of(tables.layout.block_of_page(page).0), reads);
    }

    /// Lanes, each once.
    pub fn all(&self) -> &[Kill] {
        &self.lanes[..self.len]
    }
}

/// What the host waits for, where exposure has a bound, before it takes a page of a lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Holds<'a> {
    /// Locks that are owed.
    pub bound: &'a Bound,
    /// The time, where it passes.
    pub now: Option<SimTime>,
    /// Whether cleaning sets its pace.
    pub paced: bool,
}

impl Holds<'_> {
    /// Whether what locks owe in a lane leaves the host no page of a stream there: no block that it could open, or no
    /// time.
    fn waits_for_locks(
        &self,
        (tables, allocator, work): (&Tables, &Allocator, &Work),
        lane: LaneId,
        stream: StreamId,
    ) -> bool {
        let pages = tables.layout.units_per_page + self.bound.terms.margin;
        let (more, opened) = if allocator.is_open(lane, stream) { (1, 0) } else { (0, 1) };
        // A page of a block that only the host fills is no loss to moves.
        let takes = opened > 0 || allocator.streams().is_shared(stream);
        takes && !allocator.has_room_to_owe(tables, work, lane, pages + more, opened)
            || self.now.is_some_and(|now| !self.bound.has_time(work, &[], lane, now))
    }
}

impl Space {
    /// Whether what kills so many copies in each of these lanes may begin: there is room for what lives beside all of
    /// them, and time, where that passes, before what is owed there is late. A lane without room is cleaned, low or
    /// not.
    pub(in crate::ftl) fn may_owe(
        &self,
        bound: &Bound,
        (tables, work): (&Tables, &mut Work),
        now: Option<SimTime>,
        kills: &[Kill],
    ) -> bool {
        let mut has_room = true;
        for &Kill { lane, copies, .. } in kills {
            let pages = copies + bound.terms.margin;
            let fits = self.allocator.has_room_to_owe(tables, work, lane, pages, 0);
            work.set_short(lane, !fits);
            has_room &= fits;
        }
        has_room && now.is_none_or(|now| kills.iter().all(|kill| bound.has_time(work, kills, kill.lane, now)))
    }

    /// [`Space::host_page`] where exposure has a bound: lanes are passed over in which locks leave the host no page.
    /// That is asked anew each time, for it changes as time passes, and no lane's refusal is remembered.
    #[inline(never)]
    pub(in crate::ftl) fn bounded_page(
        &mut self,
        tables: &mut Tables,
        work: &Work,
        lpn: Lpn,
        stream: StreamId,
        holds: &Holds<'_>,
    ) -> Option<Allocated> {
        let waits = |space: &Space, tables: &Tables, lane: LaneId| {
            let Tables { layout, blocks, .. } = tables;
            !space.allocator.has_host_page(lane, stream)
                || holds.waits_for_locks((tables, &space.allocator, work), lane, stream)
                || holds.paced && space.allocator.holds_host_back((layout, blocks), work, lane, stream)
        };
        let clock = tables.clock;
        if let Placement::Static(lanes) = self.placement {
            let lane = LaneId(tables.layout.lane_order[lanes.split(lpn.0).1 as usize]);
            let is_held = waits(self, tables, lane);
            let allocator = &mut self.allocator;
            return if is_held {
                None
            } else {
                allocator.host_page_in(lane, stream, &mut tables.blocks, clock)
            };
        }
        let mut turn = self.allocator.turn_of(&tables.layout, stream);
        for _ in 0..tables.layout.lanes {
            let lane = LaneId(tables.layout.lane_order[turn.lane as usize]);
            if !waits(self, tables, lane) {
                let found = self.allocator.host_page_in(lane, stream, &mut tables.blocks, clock)?;
                self.allocator.take_turn(&tables.layout, stream, turn, found.page);
                return Some(found);
            }
            turn = turn.next(&tables.layout);
        }
        None
    }

    /// The page that logical units are written to at once, if what they kill may begin.
    #[cold]
    pub(in crate::ftl) fn page_of_kills(
        &mut self,
        (tables, work): (&mut Tables, &mut Work),
        (bound, flash): (&Bound, &Flash),
        stream: StreamId,
        units: &[u32],
    ) -> Option<Allocated> {
        let (mut kills, now) = (Kills::NONE, flash.passing());
        units.iter().for_each(|&lpn| kills.add_copy(tables, (bound, flash), Lpn(lpn)));
        if !self.may_owe(bound, (tables, work), now, kills.all()) {
            return None;
        }
        let found =
            self.bounded_page(tables, work, Lpn(units[0]), stream, &Holds { bound, now, paced: false });
        if found.is_none() {
            work.lack_room();
        }
        found
    }
}
