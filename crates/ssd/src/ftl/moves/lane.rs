//! What goes on in each lane: the moves under way, and what waits.

use super::candidates::Candidates;
use super::deal::Deal;
use super::gathered::Gathered;
use super::job::Job;
use super::migration::Migration;
use super::sorted::Sorted;
use super::victims::Victims;
use crate::executor::Pace;
use crate::flash::op::{Cause, UnitRef};
use crate::ftl::gc_trigger::Limits;
use crate::ftl::page_class::PageClasses;
use crate::ftl::stream::{StreamId, Streams};
use crate::ftl::tables::layout::Layout;
use crate::sections::Sections;
use crate::units::{BlockId, LaneId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Blocks of a lane that may be on their way to being free at once, by routine work, where data is not sorted.
const COMING_AT_MOST: u32 = 3;
/// So many more with those that are emptied because of reads.
pub(in crate::ftl) const COMING_BY_READS: u32 = 2;

/// Which of a lane's jobs: the one because of reads, and all others.
pub(in crate::ftl) const RECLAIM: usize = 0;
pub(in crate::ftl) const ROUTINE: usize = 1;

/// When a round of cleaning began.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::ftl) struct Round {
    /// Host units written by then.
    pub began: u64,
    /// Erases of the lane by then.
    pub erases: u64,
}

/// What goes on in one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct LaneWork {
    pub jobs: [Option<Job>; 2],
    /// Units read and waiting for a page to be programmed, by stream; where data is sorted, in queues of its own.
    pub gathered: Box<[Gathered]>,
    pub sorted: Sorted,
    pub reads: u32,
    pub programs: u32,
    /// Cleaning has begun and not reached its end.
    pub wanted: bool,
    /// Blocks being emptied for cleaning or erased.
    pub coming: u32,
    /// Those being erased.
    #[serde(skip)]
    pub erasing: u32,
    /// Data that is sorted waits for the next block that is destaged.
    pub holds: bool,
    pub erases: u64,
    /// The round of cleaning under way, or the last one.
    pub round: Round,
    /// Blocks that failed a program and are to be retired.
    pub retire: VecDeque<BlockId>,
    /// The block wear levelling wants moved.
    pub swap: BlockId,
    /// Blocks that must be looked at because of reads.
    pub candidates: Candidates,
    /// What moves because of reads could not wait until the host is silent.
    pub due: bool,
    /// More is about to be read that leaves pages for their locks.
    #[serde(skip)]
    pub more: bool,
    /// Blocks being dealt because of reads.
    pub deal: Deal,
}

/// The state of all moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Mover {
    pub lanes: Vec<LaneWork>,
    pub in_flight_at_most: u32,
    pub reserve: u32,
    /// Blocks of a lane that may be on their way to being free at once, by routine work.
    pub coming_at_most: u32,
    spare: u32,
    span: u32,
    /// Emptied blocks are erased when they are opened.
    #[serde(skip)]
    pub lazy: bool,
    /// The host waits for what cleaning has emptied, page by page.
    #[serde(skip)]
    pub paces_host: bool,
    /// Lanes are cleaned as far as the host would have waited for.
    #[serde(skip)]
    pub catches_up: bool,
    pub idle: bool,
    /// Where victims are looked for.
    pub victims: Victims,
    /// How fast the host is where no time passes.
    #[serde(skip)]
    pub pace: Pace,
    /// A block was emptied since the lane at work was looked at: it will be free as soon as this is carried out.
    #[serde(skip)]
    pub emptied: bool,
    /// The host has been silent long enough for blocks that wait for it to be looked at.
    pub quiet: bool,
}

impl Mover {
    pub fn new(
        cfg: &Sections,
        layout: &Layout,
        (streams, asks): (Streams, bool),
        (reclaims, deals): (bool, bool),
        (page_classes, caches): (&PageClasses, bool),
    ) -> Self {
        let room = (2 * cfg.cleaning.copies_in_flight + 2) as usize * layout.units_per_page as usize;
        let gathered = || (0..streams.all()).map(|_| Gathered::with_capacity(room)).collect();
        let queue = (page_classes.queue_units(), room);
        let sorted = || match page_classes.sorts() {
            true => Sorted::new(streams.all(), page_classes.count(), queue),
            false => Sorted::default(),
        };
        let lanes = (0..layout.lanes)
            .map(|_| LaneWork {
                jobs: [None; 2],
                gathered: gathered(),
                sorted: sorted(),
                reads: 0,
                programs: 0,
                wanted: false,
                coming: 0,
                erasing: 0,
                holds: false,
                erases: 0,
                round: Round::default(),
                retire: VecDeque::with_capacity(8),
                swap: BlockId::NONE,
                candidates: Candidates::new(layout, reclaims),
                due: false,
                more: false,
                deal: Deal::new(layout, cfg.cleaning.copies_in_flight, deals),
            })
            .collect();
        let share = cfg
            .logical_units()
            .div_ceil(u64::from(layout.lanes))
            .div_ceil(u64::from(layout.data_units_per_block()));
        let units = if caches { layout.one_bit_units_per_block() } else { layout.data_units_per_block() };
        let smallest = units.max(1);
        Mover {
            lanes,
            in_flight_at_most: cfg.cleaning.copies_in_flight,
            reserve: cfg.cleaning.reserve_blocks,
            coming_at_most: COMING_AT_MOST + blocks_in_queues(page_classes, smallest),
            // Each stream has a block open.
            spare: layout.blocks_per_lane.saturating_sub(share as u32 + u32::from(streams.count)),
            span: layout.span,
            lazy: cfg.cleaning.lazy_erase,
            paces_host: cfg.cleaning.paces_host,
            catches_up: false,
            idle: false,
            victims: Victims::new(asks, layout.blocks_per_lane),
            pace: Pace::Relaxed,
            emptied: false,
            quiet: false,
        }
    }

    /// Takes what follows from the configuration from a fresh one.
    pub fn restored(&mut self, fresh: Mover) {
        self.victims = fresh.victims;
        self.in_flight_at_most = fresh.in_flight_at_most;
        (self.reserve, self.spare, self.span) = (fresh.reserve, fresh.spare, fresh.span);
        (self.lazy, self.paces_host) = (fresh.lazy, fresh.paces_host);
        self.coming_at_most = fresh.coming_at_most;
    }

    /// What a trigger may know of a lane, some of whose blocks are the cache's.
    pub fn limits(&self, blocks: u32, cached: u32) -> Limits {
        let (spare, reserve, idle) = (self.spare.saturating_sub(cached), self.reserve, self.idle);
        let blocks = blocks - cached;
        Limits { blocks, spare, reserve, idle, cleaned: 0, written: 0, since: 0, units_per_block: 0 }
    }

    /// Bytes of the lists that deals take.
    pub fn bytes_of_deals(&self) -> usize {
        self.lanes.iter().map(|work| work.deal.bytes()).sum()
    }

    /// Operations that moves of all lanes can have in flight.
    pub fn operations_at_most(&self) -> usize {
        self.lanes.len()
            * (2 * self.in_flight_at_most + (self.coming_at_most + COMING_BY_READS + 2) * self.span + 4)
                as usize
    }

    /// Whether a lane has as many pages on their way as it may, and so many more: pages that are being read or
    /// programmed, or wait for a page.
    #[inline]
    pub fn is_busy(&self, layout: &Layout, lane: LaneId, more: u32) -> bool {
        let work = &self.lanes[lane.index()];
        work.reads + work.programs + work.full_pages(layout.units_per_page) >= self.in_flight_at_most + more
    }
}

/// Blocks whose data may wait in the queues of a lane. Each class has its share of the pages: a unit waits at most
/// while its class programs all that the queues hold, and so do the blocks that are read meanwhile; of each
/// of them a half lives (assumed).
fn blocks_in_queues(page_classes: &PageClasses, units_per_block: u32) -> u32 {
    2 * u32::from(page_classes.count()) * page_classes.queue_units().div_ceil(units_per_block)
}

impl LaneWork {
    /// Whether operations of moves for this cause do not yield to host reads: those that reads have made due, and
    /// those that make the room that such moves wait for.
    #[inline]
    pub fn is_due(&self, cause: Cause) -> bool {
        match cause {
            Cause::ReadReclaim => self.due || !self.candidates.now.is_empty(),
            _ => self.candidates.lacks_room && !self.candidates.now.is_empty(),
        }
    }

    /// Units of a stream that go to one page now: as many as fit; fewer only if the `rest` is asked for, or nothing
    /// more will join them. Where data is sorted, so many must wait as the queues hold, but for that rest.
    #[inline(always)]
    pub fn page_of(&self, stream: StreamId, per_page: usize, rest: bool) -> usize {
        let (waiting, enough) = match self.sorted.is_used() {
            true => (self.sorted.held(stream) as usize, self.sorted.enough() as usize),
            false => (self.gathered[stream.index()].len(), per_page),
        };
        match waiting {
            waiting if waiting >= enough => per_page,
            waiting if rest || (!self.has_job() && self.reads == 0 && !self.more && !self.goes_on()) => {
                waiting.min(per_page)
            }
            _ => 0,
        }
    }

    /// Whether more will join data that is sorted, once a block is erased or another is destaged: the queues need not
    /// drain for the next job.
    #[inline]
    fn goes_on(&self) -> bool {
        self.sorted.is_used() && (self.holds || self.wanted && self.erasing > 0)
    }

    /// Whether units wait for a page.
    #[inline]
    pub fn has_gathered(&self) -> bool {
        !self.sorted.is_empty() || self.gathered.iter().any(|units| !units.is_empty())
    }

    /// Units that wait for a page, with the stream in whose line each is.
    pub fn all_gathered(&self) -> impl Iterator<Item = (usize, &UnitRef)> {
        let lines = self.gathered.iter().enumerate();
        let gathered = lines.flat_map(|(at, units)| units.all().iter().map(move |unit| (at, unit)));
        gathered.chain(self.sorted.all())
    }

    /// Pages that the units that wait will take.
    #[inline]
    pub fn pages_gathered(&self, per_page: u32) -> u32 {
        let pages = |units: u32| units.div_ceil(per_page);
        let gathered = self.gathered.iter().map(|units| pages(units.len() as u32)).sum::<u32>();
        gathered + self.sorted.each_held().map(pages).sum::<u32>()
    }

    /// Full pages that found no room; what is gathered of a page not yet full must not hold reads back.
    #[inline]
    pub fn full_pages(&self, per_page: u32) -> u32 {
        let full = |units: u32| if units < per_page { 0 } else { units / per_page };
        let gathered = self.gathered.iter().map(|units| full(units.len() as u32)).sum::<u32>();
        if self.sorted.is_used() { gathered + self.full_pages_sorted(per_page) } else { gathered }
    }

    /// The same of what is sorted.
    #[inline(never)]
    fn full_pages_sorted(&self, per_page: u32) -> u32 {
        let full = |held: u32| (held + per_page).saturating_sub(self.sorted.enough().max(1)) / per_page;
        self.sorted.each_held().map(full).sum()
    }

    /// Whether a deal is under way.
    #[inline]
    pub fn is_dealing(&self) -> bool {
        self.deal.active
    }

    /// The partial migration under way, if any.
    pub fn migration(&mut self) -> Option<&mut Migration> {
        match &mut self.jobs[RECLAIM] {
            Some(Job::Migrate(migration)) => Some(migration),
            _ => None,
        }
    }

    /// Whether blocks are or may be at work because of reads.
    #[inline]
    pub fn has_candidates(&self) -> bool {
        self.candidates.some() || matches!(self.jobs[RECLAIM], Some(Job::Migrate(_)))
    }

    /// Whether a page is being read or programmed for a move.
    #[inline]
    pub fn is_moving(&self) -> bool {
        self.reads + self.programs > 0
    }

    /// Whether pages are being read of a block.
    #[inline]
    pub fn has_job(&self) -> bool {
        self.jobs.iter().flatten().any(|job| job.walk().is_some())
    }
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
            Mover::new(&cfg, &layout, (streams, false), (false, false), (&classes, false)).limits(20, 0).spare
        };
        // Half of the blocks hold data.
        assert_eq!([1, 2, 5].map(spare), [9, 8, 5]);
    }
}
