//! Which blocks are looked at for their locks: in each lane those that are ready, those whose pages hold what lives,
//! which must leave first, and those whose locks fail, which are emptied and erased; and of all lanes those that wait
//! for the end of a job or a write. No block waits for that for long: for `batch_ms` at most.

use super::exposed::{EXPOSED, Exposed, ISSUED, UNLOCKABLE};
use super::manner::Manner;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::work::bound::Bound;
use crate::ftl::work::looks::Looks;
use crate::restore::{Verdict, alike, ensure, keep_line};
use crate::units::{BlockId, LaneId, SimTime};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// Pages that may be on their way in a lane for their locks, beside those of other moves.
pub(in crate::ftl) const MOVES_FOR_LOCKS: u32 = 2;

/// Where a block is to be looked at.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Listed {
    /// Pages in which something has died since it was looked at: the first, and behind the last.
    pub first: u32,
    pub end: u32,
    /// It is on its lane's list, or among those that wait for their job, or for room.
    pub listed: bool,
    pub deferred: bool,
    /// What lives in one of its pages has found no room elsewhere since none of them was exposed.
    pub lacks_room: bool,
}

/// What is to be locked in a lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LaneLocks {
    pub ready: VecDeque<BlockId>,
    /// Blocks with pages in which something lives that finds no room elsewhere.
    pub occupied: VecDeque<BlockId>,
    pub lacks_room: bool,
    /// Blocks to be emptied and erased, because locks in them fail.
    pub unlockable: VecDeque<BlockId>,
    pub in_flight: u32,
}

/// All lists of blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lists {
    pub(super) blocks: Vec<Listed>,
    pub(super) lanes: Vec<LaneLocks>,
    /// Blocks whose pages wait for a job or a write, and since when; those first that have waited for longest.
    pub(super) deferred: VecDeque<(BlockId, SimTime)>,
    /// For how long they do at most.
    batch_ns: u64,
    /// Locks go without moves.
    is_alone: bool,
    /// Pages looked at so far.
    #[cfg(test)]
    #[serde(skip)]
    pub(super) looks: u64,
}

impl Lists {
    /// Empty ones of so many blocks and lanes.
    pub(super) fn new(
        manner: &Manner,
        bound: &Bound,
        layout: &Layout,
        (blocks, lanes): (usize, usize),
    ) -> Self {
        let line = || VecDeque::with_capacity(layout.blocks_per_lane as usize);
        let lane = |_| LaneLocks {
            ready: line(),
            occupied: line(),
            lacks_room: false,
            unlockable: line(),
            in_flight: 0,
        };
        Lists {
            blocks: vec![Listed::default(); blocks],
            lanes: (0..lanes).map(lane).collect(),
            deferred: VecDeque::with_capacity(blocks),
            batch_ns: bound.batch_ns(manner.rules.batch_ns),
            // Where exposure has a bound, what waits for locks to be done goes on then.
            is_alone: manner.is_alone() && !bound.is_on(),
            #[cfg(test)]
            looks: 0,
        }
    }

    /// Bytes of memory of the controller.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len() * core::mem::size_of::<Listed>()
    }

    /// Takes what follows from the configuration from fresh ones, and checks that every block is in its lane.
    pub(super) fn restored(&mut self, fresh: &Lists, blocks_per_lane: u32, now: SimTime) -> Verdict {
        (self.batch_ns, self.is_alone) = (fresh.batch_ns, fresh.is_alone);
        alike("blocks to be locked", &self.blocks, &fresh.blocks)?;
        alike("lanes with locks", &self.lanes, &fresh.lanes)?;
        let in_lane = |lane: u32, block: &BlockId| {
            (lane * blocks_per_lane..(lane + 1) * blocks_per_lane).contains(&block.0)
        };
        for (number, (lane, fresh)) in (0..).zip(self.lanes.iter_mut().zip(&fresh.lanes)) {
            let mut listed = lane.ready.iter().chain(&lane.occupied).chain(&lane.unlockable);
            ensure(listed.all(|block| in_lane(number, block)), "another lane's block to be locked")?;
            for (line, fresh) in [
                (&mut lane.ready, &fresh.ready),
                (&mut lane.occupied, &fresh.occupied),
                (&mut lane.unlockable, &fresh.unlockable),
            ] {
                ensure(line.len() <= blocks_per_lane as usize, "blocks to be locked")?;
                keep_line(line, fresh);
            }
        }
        ensure(self.deferred.len() <= self.blocks.len(), "blocks whose locks wait")?;
        ensure(
            self.deferred.iter().all(|(block, since)| block.index() < self.blocks.len() && *since <= now),
            "blocks whose locks wait",
        )?;
        keep_line(&mut self.deferred, &fresh.deferred);
        Ok(())
    }

    /// A lane is looked at soon for its locks. What fills wordlines or empties blocks is a matter of moves.
    pub(in crate::ftl) fn look_soon(&self, looks: &mut Looks, lane: LaneId) {
        looks.soon_for_locks(lane, self.is_alone);
    }

    /// Pages of a block are to be looked at.
    pub(super) fn list(&mut self, tables: &Tables, work: &mut Work, block: BlockId, pages: Range<u32>) {
        let lane = tables.layout.lane_of(block);
        let listed = &mut self.blocks[block.index()];
        if listed.first >= listed.end {
            (listed.first, listed.end) = (pages.start, pages.end);
        } else {
            (listed.first, listed.end) = (listed.first.min(pages.start), listed.end.max(pages.end));
        }
        if !listed.listed {
            listed.listed = true;
            self.lanes[lane.index()].ready.push_back(block);
        }
        self.look_soon(&mut work.looks, lane);
    }

    /// Takes the next page of a block that is to be looked at; where pages are locked each by itself, the next that is
    /// exposed and has no lock on its way.
    #[inline]
    pub(super) fn next(
        &mut self,
        exposed: &Exposed,
        layout: &Layout,
        block: BlockId,
        one_by_one: bool,
    ) -> Option<u32> {
        let listed = &mut self.blocks[block.index()];
        if listed.first < listed.end && one_by_one {
            let from = (block.0 * layout.pages_per_block) as usize;
            let pages = &exposed.pages[from + listed.first as usize..from + listed.end as usize];
            let is_next = |state: &u8| state & (EXPOSED | ISSUED | UNLOCKABLE) == EXPOSED;
            let passed = pages.iter().position(is_next).unwrap_or(pages.len()) as u32;
            listed.first += passed;
            #[cfg(test)]
            {
                self.looks += u64::from(passed);
            }
        }
        #[cfg(test)]
        {
            self.looks += 1;
        }
        let at = listed.first;
        listed.first += 1;
        (at < listed.end).then_some(at)
    }

    /// All pages of the block that is first in a lane have been looked at.
    pub(in crate::ftl) fn end_first(&mut self, lane: LaneId, block: BlockId) {
        self.lanes[lane.index()].ready.pop_front();
        let listed = &mut self.blocks[block.index()];
        (listed.listed, listed.first, listed.end) = (false, 0, 0);
    }

    /// No page of a block is exposed any more.
    pub(super) fn end_occupied(&mut self, block: BlockId) {
        self.blocks[block.index()].lacks_room = false;
    }

    /// A block is erased: nothing in it is to be looked at.
    pub(super) fn forget(&mut self, block: BlockId) {
        let listed = &mut self.blocks[block.index()];
        (listed.first, listed.end) = (0, 0);
    }

    /// Whether pages of a lane wait for room.
    #[inline]
    pub(in crate::ftl) fn is_occupied(&self, lane: LaneId) -> bool {
        self.lanes.get(lane.index()).is_some_and(|lane| lane.lacks_room)
    }

    /// A block is looked at again when there are operations for its pages, or room that they lack.
    pub(in crate::ftl) fn wait_for_room(&mut self, lane: LaneId, block: BlockId, lacks_room: bool) {
        self.blocks[block.index()].lacks_room |= lacks_room;
        let lane = &mut self.lanes[lane.index()];
        lane.lacks_room |= lacks_room;
        if !lane.occupied.contains(&block) {
            lane.occupied.push_back(block);
        }
    }

    /// There may be room for what must leave pages of a lane.
    pub(in crate::ftl) fn look_for_room(&mut self, tables: &Tables, work: &mut Work, lane: LaneId) {
        self.lanes[lane.index()].lacks_room = false;
        if self.next_occupied(tables, work, lane).is_some() {
            self.look_soon(&mut work.looks, lane);
        }
    }

    /// The block of a lane whose pages have waited longest for what lives there to leave, if more may leave now.
    #[cold]
    pub(in crate::ftl) fn next_occupied(
        &self,
        tables: &Tables,
        work: &Work,
        lane: LaneId,
    ) -> Option<BlockId> {
        let is_busy = work.is_busy(&tables.layout, lane, MOVES_FOR_LOCKS);
        self.lanes[lane.index()].occupied.front().copied().filter(|_| !is_busy && !self.is_occupied(lane))
    }

    /// The first block of a lane that is to be looked at.
    pub(in crate::ftl) fn first_ready(&self, lane: LaneId) -> Option<BlockId> {
        self.lanes[lane.index()].ready.front().copied()
    }

    /// The first of those that wait for room is not looked at again before there is some.
    pub(in crate::ftl) fn pass_occupied(&mut self, lane: LaneId) {
        self.lanes[lane.index()].occupied.pop_front();
    }

    /// Whether something waits for room in a lane, or a block is to be emptied: both are a matter of moves.
    pub(in crate::ftl) fn wait_for_moves(&self, lane: LaneId) -> bool {
        let lane = &self.lanes[lane.index()];
        lane.lacks_room || !lane.unlockable.is_empty()
    }

    /// How many blocks of a lane are to be emptied and erased, because locks in them fail.
    pub(in crate::ftl) fn count_unlockable(&self, lane: LaneId) -> usize {
        self.lanes[lane.index()].unlockable.len()
    }

    /// The next of them.
    pub(in crate::ftl) fn next_unlockable(&mut self, lane: LaneId) -> Option<BlockId> {
        self.lanes[lane.index()].unlockable.pop_front()
    }

    /// It cannot be emptied now, for it `lacks_room` or is in use: it is the last of them.
    pub(in crate::ftl) fn put_off_unlockable(&mut self, lane: LaneId, block: BlockId, lacks_room: bool) {
        let lane = &mut self.lanes[lane.index()];
        lane.lacks_room |= lacks_room;
        lane.unlockable.push_back(block);
    }

    /// Whether blocks of a lane are to be emptied because locks fail.
    #[inline]
    pub(in crate::ftl) fn has_unlockable(&self, lane: LaneId) -> bool {
        self.lanes.get(lane.index()).is_some_and(|lane| !lane.unlockable.is_empty())
    }

    /// No lock holds in a block: it is emptied and erased.
    pub(super) fn give_up_block(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        let lane = tables.layout.lane_of(block);
        let unlockable = &mut self.lanes[lane.index()].unlockable;
        if !unlockable.contains(&block) {
            unlockable.push_back(block);
        }
        work.looks.soon(lane);
    }

    /// The pages of a block wait for the end of its job, or of a write.
    pub(super) fn defer(&mut self, block: BlockId, now: SimTime) {
        let listed = &mut self.blocks[block.index()];
        if !listed.deferred {
            listed.deferred = true;
            self.deferred.push_back((block, now));
        }
    }

    /// The block that has waited for that for longest waits no longer.
    pub(super) fn end_wait(&mut self) -> Option<BlockId> {
        let (block, _) = self.deferred.pop_front()?;
        self.blocks[block.index()].deferred = false;
        Some(block)
    }

    /// If it has waited for long enough, it waits no longer.
    pub(super) fn end_long_wait(&mut self, now: SimTime) -> Option<BlockId> {
        let (_, since) = *self.deferred.front()?;
        if since.0 + self.batch_ns <= now.0 { self.end_wait() } else { None }
    }

    /// Whether a block waits for the end of its job.
    #[inline]
    pub fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// When the first of them has waited long enough.
    pub fn next_at(&self) -> Option<SimTime> {
        let (_, since) = self.deferred.front()?;
        Some(SimTime(since.0 + self.batch_ns))
    }

    /// An operation that locks something in a lane is on its way.
    pub(super) fn begin_operation(&mut self, lane: LaneId) {
        self.lanes[lane.index()].in_flight += 1;
    }

    /// It is over.
    pub(in crate::ftl) fn end_operation(&mut self, lane: LaneId) {
        self.lanes[lane.index()].in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Table;
    use crate::drive_config::DriveConfig;
    use crate::rng::Rng;
    use crate::{Command, Drive, Lba, OpCode, Pace};

    /// A lane of 96 blocks of 24 pages of four units, whose data is secured.
    fn config(policy: &str) -> DriveConfig {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (96, 8, 3);
        cfg.drive.over_provisioning_percent = 12.0;
        cfg.sanitize.select(policy).unwrap();
        cfg
    }

    /// Writes in no time by a host that takes all room leave pages exposed in every block.
    fn exposed(policy: &str) -> Drive {
        let mut drive = Drive::new(&config(policy)).unwrap();
        let (units, mut rng) = (drive.logical_units(), Rng::named(1, "past"));
        drive.fill(0, units).unwrap();
        for _ in 0..units / 256 {
            let batch: Vec<u32> = (0..256).map(|_| rng.below(units)).collect();
            drive
                .past()
                .overwrite(Pace::Saturated, &batch)
                .unwrap_or_else(|short| panic!("{policy}: {short:?}"));
        }
        drive
    }

    /// Looks at pages for each operation of a run of writes at random, so many at a time.
    fn looks_per_operation(drive: &mut Drive, at_a_time: usize) -> f64 {
        let (units, mut rng) = (drive.logical_units(), Rng::named(2, "now"));
        drive.reset_stats();
        drive.state.ftl.moves.media.locks.lists.looks = 0;
        for tag in 0..400 {
            let lba = Lba(8 * u64::from(rng.below(units)));
            let command =
                Command { op: OpCode::Write, lba, sectors: 8, tag, fua: true, ..Command::default() };
            drive.submit(0, &command, drive.now()).unwrap();
            while drive.outstanding() > at_a_time || tag == 399 && drive.outstanding() > 0 {
                assert!(drive.advance_to_completion(), "stuck");
                while drive.pop_completion().is_some() {}
            }
        }
        drive.check().unwrap();
        let operations: u64 = drive.stats().flash.ops.iter().flatten().sum();
        drive.state.ftl.moves.media.locks.lists.looks as f64 / operations as f64
    }

    /// However many blocks of a lane wait for room, an operation's end has those looked at that may find it: a few
    /// pages, and not those of all 96 blocks. Where pages are reprogrammed, many writes at a time make blocks wait.
    #[test]
    fn what_waits_for_room_is_not_looked_at_all_the_time() {
        let limits = [
            ("page_lock", 8, 4.0),
            ("page_and_block_lock", 8, 4.0),
            ("scrub", 8, 6.0),
            ("reprogram", 8, 2.0),
            ("reprogram", 200, 16.0),
        ];
        let looks = limits.map(|(policy, at_a_time, _)| looks_per_operation(&mut exposed(policy), at_a_time));
        let is_within = |(looks, (_, _, limit)): (&f64, (_, _, f64))| *looks < limit;
        assert!(looks.iter().zip(limits).all(is_within), "looks for an operation: {looks:?} of {limits:?}");
    }

    /// Nothing of the past is left to be locked where it was written in no time.
    #[test]
    fn what_was_exposed_in_no_time_is_locked_in_no_time() {
        for policy in ["page_lock", "page_and_block_lock", "scrub", "reprogram", "erase"] {
            let mut drive = exposed(policy);
            while drive.past().catch_up(Pace::Saturated) {}
            drive.check().unwrap();
            assert_eq!(drive.state.ftl.moves.media.locks.generations.exposed(), 0, "{policy}");
        }
    }
}
