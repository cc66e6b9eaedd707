//! What is under way or asked for, and what was done: state, no decision.

pub(crate) mod bound;
pub(in crate::ftl) mod candidates;
pub(in crate::ftl) mod gathered;
pub(in crate::ftl) mod job;
pub(in crate::ftl) mod lane;
pub(in crate::ftl) mod looks;
pub(in crate::ftl) mod migration;
mod moved;
mod sorted;
pub(in crate::ftl) mod walk;

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, OpKind, UnitRef};
use crate::ftl::counts::FtlCounts;
use crate::ftl::gc_trigger::Limits;
use crate::ftl::page_class::PageClasses;
use crate::ftl::stream::{StreamId, Streams};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::{BlockState, Blocks};
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::job::Job;
use crate::ftl::work::walk::Pages;
use crate::restore::{Verdict, ensure};
use crate::sections::Sections;
use crate::units::{BlockId, LaneId, Lpn, Pun};
use candidates::Candidates;
use gathered::Gathered;
use lane::{LaneWork, ROUTINE, Round};
use looks::Looks;
use moved::Moved;
use serde::{Deserialize, Serialize};
use sorted::Sorted;
use std::collections::BTreeSet;

/// Blocks of a lane that may be on their way to being free at once, by routine work, where data is not sorted.
pub(crate) const COMING_AT_MOST: u32 = 3;
/// So many more with those that are emptied because of reads.
pub(crate) const COMING_BY_READS: u32 = 2;

/// What goes on, and what was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Work {
    /// What goes on in each lane.
    pub(in crate::ftl) lanes: Vec<LaneWork>,
    /// Lanes that are looked at soon.
    pub(in crate::ftl) looks: Looks,
    /// Counters.
    pub counts: FtlCounts,
    pub(in crate::ftl) in_flight_at_most: u32,
    pub(in crate::ftl) reserve: u32,
    /// Blocks of a lane that may be on their way to being free at once, by routine work.
    pub(in crate::ftl) coming_at_most: u32,
    spare: u32,
    span: u32,
    width: u32,
    /// Emptied blocks are erased when they are opened.
    #[serde(skip)]
    pub(in crate::ftl) lazy: bool,
    /// The host waits for what cleaning has emptied, page by page.
    #[serde(skip)]
    pub(in crate::ftl) paces_host: bool,
    /// Lanes are cleaned as far as the host would have waited for.
    #[serde(skip)]
    pub(in crate::ftl) catches_up: bool,
    pub(in crate::ftl) idle: bool,
    /// How fast the host is where no time passes.
    #[serde(skip)]
    pub(in crate::ftl) pace: Pace,
    /// A block was emptied since the lane at work was looked at: it will be free as soon as this is carried out.
    #[serde(skip)]
    pub(in crate::ftl) emptied: bool,
    /// The host has been silent long enough for blocks that wait for it to be looked at.
    pub(in crate::ftl) quiet: bool,
    /// Whether cleaning has to move data.
    moved: Moved,
}

impl Work {
    pub(in crate::ftl) fn new(
        cfg: &Sections,
        layout: &Layout,
        streams: Streams,
        reclaims: bool,
        (page_classes, caches): (&PageClasses, bool),
    ) -> Self {
        let in_flight_at_most = cfg.moves_in_flight();
        let room =
            (2 * in_flight_at_most + layout.pages_per_row + 1) as usize * layout.units_per_page as usize;
        let gathered = || (0..streams.all()).map(|_| Gathered::with_capacity(room)).collect();
        let queue = (page_classes.queue_units(), room);
        let sorted = || match page_classes.sorts() {
            true => Sorted::new(streams.all(), page_classes.count(), queue),
            false => Sorted::default(),
        };
        // All blocks of the cache may have to leave it because of reads.
        let cached = if caches && reclaims { layout.blocks_per_lane as usize } else { 0 };
        let lane = |_| LaneWork::new((gathered(), sorted()), Candidates::new(layout, reclaims), cached);
        let lanes = (0..layout.lanes).map(lane).collect();
        let share = cfg
            .logical_units()
            .div_ceil(u64::from(layout.lanes))
            .div_ceil(u64::from(layout.data_units_per_block()));
        let units = if caches { layout.one_bit_units_per_block() } else { layout.data_units_per_block() };
        let smallest = units.max(1);
        Work {
            lanes,
            looks: Looks::new(layout.lanes),
            counts: FtlCounts::default(),
            in_flight_at_most,
            reserve: cfg.cleaning.reserve_blocks,
            coming_at_most: COMING_AT_MOST + blocks_in_queues(page_classes, smallest),
            // Each stream has a block open.
            spare: layout.blocks_per_lane.saturating_sub(share as u32 + u32::from(streams.count)),
            span: layout.span,
            width: layout.width,
            lazy: cfg.cleaning.lazy_erase,
            paces_host: cfg.cleaning.paces_host,
            catches_up: false,
            idle: false,
            pace: Pace::Relaxed,
            emptied: false,
            moved: Moved::default(),
            quiet: false,
        }
    }

    /// A page is programmed that carries so many units: the rest of it is padding. All that pads is counted here.
    #[inline]
    pub(in crate::ftl) fn note_padding(&mut self, layout: &Layout, cause: Cause, carried: usize) {
        self.counts.padded_units[cause as usize] += u64::from(layout.units_per_page) - carried as u64;
    }

    /// What goes on in a lane, to change it.
    #[inline]
    pub(in crate::ftl) fn lane_mut(&mut self, lane: LaneId) -> &mut LaneWork {
        &mut self.lanes[lane.index()]
    }

    /// A lane has no room for what locks will move, and is cleaned for that, low or not; or it has.
    pub(in crate::ftl) fn set_short(&mut self, lane: LaneId, is_short: bool) {
        let was_short = core::mem::replace(&mut self.lane_mut(lane).short, is_short);
        if is_short && !was_short {
            self.looks.soon(lane);
        }
    }

    /// All lanes are so, for the host has found a page in none.
    #[cold]
    pub(in crate::ftl) fn lack_room(&mut self) {
        (0..self.lanes.len() as u32).for_each(|lane| self.set_short(LaneId(lane), true));
    }

    /// A unit waits for a page of its stream.
    #[inline]
    pub(in crate::ftl) fn gather(&mut self, classes: &PageClasses, lane: LaneId, unit: UnitRef) {
        let (to, work) = (StreamId(unit.facts().stream() as u8), self.lane_mut(lane));
        if classes.sorts() {
            // It was asked about when it was read.
            return work.sorted.push(to, classes.peek(Lpn(unit.lpn)), unit);
        }
        work.gathered[to.index()].push(unit);
    }

    /// Takes what follows from the configuration from a fresh one.
    pub(in crate::ftl) fn restored(&mut self, fresh: Work) -> Verdict {
        self.looks.restored(&fresh.looks)?;
        self.in_flight_at_most = fresh.in_flight_at_most;
        (self.reserve, self.spare) = (fresh.reserve, fresh.spare);
        (self.span, self.width) = (fresh.span, fresh.width);
        (self.lazy, self.paces_host) = (fresh.lazy, fresh.paces_host);
        self.coming_at_most = fresh.coming_at_most;
        Ok(())
    }

    /// What a trigger may know of a lane. Of its blocks so many are the cache's: what that has is neither data's nor
    /// free.
    pub(in crate::ftl) fn limits(&self, tables: &Tables, lane: LaneId, cached: u32) -> Limits {
        let here = &self.lanes[lane.index()];
        let Round { began, erases } = here.round;
        Limits {
            blocks: tables.layout.blocks_per_lane - cached,
            spare: self.spare.saturating_sub(cached),
            reserve: self.reserve,
            idle: self.idle,
            cleaned: (here.erases - erases) as u32 + here.coming,
            written: tables.clock,
            since: (tables.clock - began) / u64::from(tables.layout.lanes),
            units_per_block: tables.layout.data_units_per_block(),
        }
    }

    /// Operations that moves of all lanes can have in flight.
    pub(in crate::ftl) fn operations_at_most(&self) -> usize {
        self.lanes.len()
            * ((2 * self.in_flight_at_most + 4) * self.width
                + (self.coming_at_most + COMING_BY_READS + 2) * self.span) as usize
    }

    /// Whether a lane has as many pages on their way as it may, and so many more, so that another row would be too
    /// many: pages that are being read or programmed, or wait for a page.
    #[inline]
    pub(in crate::ftl) fn is_busy(&self, layout: &Layout, lane: LaneId, more: u32) -> bool {
        let work = &self.lanes[lane.index()];
        let issued = work.reads + (work.programs + layout.pages_per_row) * layout.deep;
        let at_most = self.in_flight_at_most + more;
        issued > at_most || issued + work.full_pages(layout) * layout.deep > at_most
    }

    /// Whether a job's next read waits until operations end: as many are under way as may be, and it is of another row
    /// than the last.
    #[inline]
    pub(in crate::ftl) fn must_wait(&self, tables: &Tables, lane: LaneId, which: usize) -> bool {
        let job = || self.lanes[lane.index()].jobs[which].as_ref();
        self.is_busy(&tables.layout, lane, 0) && !job().is_some_and(|job| job.is_in_row(tables))
    }

    pub(in crate::ftl) fn check_job(&self, tables: &Tables, job: &Job) -> Verdict {
        let state = tables.blocks.state(job.block());
        ensure(matches!(state, BlockState::Moving | BlockState::Migrating), "a job in a block at rest")?;
        let members = match job {
            Job::Migrate(migration) => migration.candidate.member..migration.candidate.member + 1,
            Job::Empty { .. } => 0..tables.layout.span,
        };
        ensure(members.end <= tables.layout.span, "a job in a member that is not there")?;
        let Some(walk) = job.walk() else { return Ok(()) };
        ensure(walk.block == job.block(), "a job in two blocks")?;
        let first = tables.layout.first_unit(walk.block).0;
        let inside = first..=first + tables.layout.units_per_block();
        let places = [walk.cursor, walk.end, walk.ahead];
        ensure(places.iter().all(|place| inside.contains(place)), "a job beyond its block")?;
        let is_part = |pages: &Pages| members.contains(&pages.member);
        ensure(walk.pages.as_ref().is_none_or(is_part), "a job in a member that is not there")
    }

    /// Reads and programs of moves, and what has left its block and not arrived; jobs of techniques' own hold some of
    /// its units in the controller. Reads for replicas are those of the lane that they read in.
    pub(in crate::ftl) fn check_moves(
        &self,
        tables: &Tables,
        flash: &Flash,
        (held, is_replica): (&[Pun], fn(Cause) -> bool),
    ) -> Verdict {
        let mut under_way = vec![(0, 0); tables.layout.lanes as usize];
        let mut leaving = vec![0u32; tables.layout.blocks() as usize];
        held.iter().for_each(|&unit| leaving[tables.layout.block_of_unit(unit).index()] += 1);
        // Of a page that is read in all its parts each stands for all.
        let mut seen = BTreeSet::new();
        for (id, op) in flash.pool.iter().filter(|(_, op)| !op.cause.is_for_host()) {
            if op.kind == OpKind::Erase || op.kind.hides() || op.is_look() {
                continue;
            }
            let is_one = op.kind != OpKind::Read || tables.layout.wide == 1 || seen.insert(op.ppn);
            if !is_one || !tables.layout.stands_for_page(op) {
                continue;
            }
            let is_replica = op.kind == OpKind::Read && is_replica(op.cause);
            let own = tables.layout.lane_of(tables.layout.block_of_page(op.ppn).0);
            let lane = if is_replica { own } else { LaneId(op.tag) };
            let (reads, programs) = &mut under_way[lane.index()];
            *if op.kind == OpKind::Read { reads } else { programs } += 1;
            for unit in flash.pool.units(id) {
                leaving[tables.layout.block_of_unit(Pun(unit.source)).index()] += 1;
            }
        }
        for (work, (reads, programs)) in self.lanes.iter().zip(under_way) {
            ensure((work.reads, work.programs) == (reads, programs), "reads and programs of a lane's moves")?;
            for (_, unit) in work.all_gathered() {
                leaving[tables.layout.block_of_unit(Pun(unit.source)).index()] += 1;
            }
        }
        let mut agree = (0..).map(BlockId).zip(leaving);
        let wrong = agree.find(|&(block, count)| tables.blocks.leaving(block) != count);
        wrong.map_or(Ok(()), |(block, count)| {
            let said = tables.blocks.leaving(block);
            Err(format!("{count} units are leaving block {}, its count says {said}", block.0))
        })
    }

    /// Blocks agree with the operations under way, and without any nothing is on its way out of them.
    pub(in crate::ftl) fn check_blocks(&self, tables: &Tables, flash: &Flash) -> Result<(), String> {
        let mut programs = vec![(0, 0); tables.layout.blocks() as usize];
        // The read of a first page keeps its block as a program does, and so does the erase of one that is open.
        for (_, op) in flash.pool.iter().filter(|(_, op)| tables.layout.stands_for_page(op)) {
            let block = tables.layout.block_of_page(op.ppn).0;
            let (programs, erases) = &mut programs[block.index()];
            let is_late = op.kind.erases() && tables.blocks.state(block) != BlockState::Erasing;
            *erases += u32::from(op.kind.erases());
            let keeps = matches!(op.kind, OpKind::Program | OpKind::Copyback) || op.is_look();
            *programs += u32::from(keeps || is_late);
        }
        for (block, programs) in (0..).map(BlockId).zip(programs) {
            tables.blocks.check(block, programs)?;
        }
        let waits = |work: &LaneWork| work.has_own || work.has_gathered();
        if flash.pool.in_flight() > 0 || self.lanes.iter().any(waits) {
            return Ok(());
        }
        match (0..tables.layout.blocks()).map(BlockId).find(|&block| tables.blocks.leaving(block) > 0) {
            Some(block) => Err(format!(
                "nothing is under way, and {} units are leaving block {}",
                tables.blocks.leaving(block),
                block.0
            )),
            None => Ok(()),
        }
    }

    /// A block was erased.
    pub(in crate::ftl) fn note_erased(&mut self) {
        self.moved.note_erased(self.lanes.len(), self.counts.moved_units[Cause::Cleaning as usize]);
    }

    /// Whether data has to be moved for the room that comes of cleaning.
    pub fn moves_data(&self) -> bool {
        self.moved.is_needed()
    }

    /// A failing block is closed and quiet: queue it for retirement.
    pub(in crate::ftl) fn retire_when_closed(&mut self, tables: &Tables, block: BlockId) {
        if tables.blocks.state(block) != BlockState::Closed {
            return;
        }
        let lane = tables.layout.lane_of(block);
        let queue = &mut self.lane_mut(lane).retire;
        if !queue.contains(&block) {
            queue.push_back(block);
        }
        self.looks.soon(lane);
    }

    /// Whether reads have put something on a list since they were last looked at.
    #[inline]
    pub fn has_new_candidates(&self) -> bool {
        self.looks.any()
    }

    /// The next unit of one of a stream's queues, if it has died since it was read.
    pub(in crate::ftl) fn take_dead(
        &mut self,
        tables: &Tables,
        lane: LaneId,
        stream: StreamId,
    ) -> Option<UnitRef> {
        let map = &tables.map;
        let is_dead = |unit: &UnitRef| map.lookup(Lpn(unit.lpn)) != Pun(unit.source);
        self.lanes[lane.index()].sorted.take_dead(stream, is_dead)
    }

    /// Whether the host waits for what cleaning has emptied, page by page.
    pub fn paces_host(&self) -> bool {
        self.paces_host
    }

    /// Whether a block that failed is being emptied in a lane: what is claimed there is for that.
    pub(in crate::ftl) fn is_retiring(&self, blocks: &Blocks, lane: LaneId) -> bool {
        self.lanes[lane.index()].jobs[ROUTINE]
            .as_ref()
            .is_some_and(|job| blocks.cause(job.block()) == Cause::BadBlock)
    }

    /// Whether emptied blocks wait for their erase until they are opened.
    #[inline]
    pub(crate) fn erases_lazily(&self) -> bool {
        self.lazy
    }

    /// Whether no operation of a lane's moves is under way.
    #[inline]
    pub(in crate::ftl) fn is_still(&self, lane: LaneId) -> bool {
        let work = &self.lanes[lane.index()];
        work.reads + work.programs + work.erasing == 0
    }

    /// Whether a lane wants to be cleaned, and nothing of that is under way though time passes: as after writes that
    /// took none.
    #[inline]
    pub(in crate::ftl) fn rests_unduly(&self, lane: LaneId) -> bool {
        self.paces_host && self.lanes[lane.index()].wanted && self.is_still(lane)
    }
}

/// Blocks whose data may wait in the queues of a lane. Each class has its share of the pages: a unit waits at most
/// while its class programs all that the queues hold, and so do the blocks that are read meanwhile; of each
/// of them a half lives (assumed).
fn blocks_in_queues(page_classes: &PageClasses, units_per_block: u32) -> u32 {
    2 * u32::from(page_classes.count()) * page_classes.queue_units().div_ceil(units_per_block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::nand::Chip;
    use crate::sections::MappingUnit;

    /// What can be free in a lane is what neither data nor open blocks take.
    #[test]
    fn each_stream_takes_a_block_of_the_spare_room() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (20, 4, 1);
        (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 100.0);
        let layout = Layout::new(&cfg, &Chip::new(1, 20, 4, &cfg.reliability, 1));
        let spare = |count| {
            let streams = Streams::of(count, 1, 1 << (count - 1));
            let classes = PageClasses::new(&cfg, &cfg.page_class, 4, 80);
            Work::new(&cfg, &layout, streams, false, (&classes, false)).spare
        };
        // Half of the blocks hold data.
        assert_eq!([1, 2, 5].map(spare), [9, 8, 5]);
    }
}
