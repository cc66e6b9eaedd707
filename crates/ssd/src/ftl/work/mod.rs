//! What is under way or asked for, and what was done: state, no decision.

pub(in crate::ftl) mod candidates;
pub(in crate::ftl) mod deal;
pub(in crate::ftl) mod gathered;
pub(in crate::ftl) mod job;
pub(in crate::ftl) mod lane;
pub(in crate::ftl) mod looks;
pub(in crate::ftl) mod migration;
mod sorted;
pub(in crate::ftl) mod walk;

use crate::executor::Pace;
use crate::ftl::counts::FtlCounts;
use crate::ftl::gc_trigger::Limits;
use crate::ftl::page_class::PageClasses;
use crate::ftl::stream::Streams;
use crate::ftl::tables::layout::Layout;
use crate::restore::Verdict;
use crate::sections::Sections;
use crate::units::{BlockId, LaneId};
use candidates::Candidates;
use deal::Deal;
use gathered::Gathered;
use lane::{LaneWork, Round};
use looks::Looks;
use serde::{Deserialize, Serialize};
use sorted::Sorted;
use std::collections::VecDeque;

/// Blocks of a lane that may be on their way to being free at once, by routine work, where data is not sorted.
const COMING_AT_MOST: u32 = 3;
/// So many more with those that are emptied because of reads.
pub(in crate::ftl) const COMING_BY_READS: u32 = 2;

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
}

impl Work {
    pub(in crate::ftl) fn new(
        cfg: &Sections,
        layout: &Layout,
        streams: Streams,
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
        Work {
            lanes,
            looks: Looks::new(layout.lanes),
            counts: FtlCounts::default(),
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
            pace: Pace::Relaxed,
            emptied: false,
            quiet: false,
        }
    }

    /// What goes on in a lane, to change it.
    #[inline]
    pub(in crate::ftl) fn lane_mut(&mut self, lane: LaneId) -> &mut LaneWork {
        &mut self.lanes[lane.index()]
    }

    /// Takes what follows from the configuration from a fresh one.
    pub(in crate::ftl) fn restored(&mut self, fresh: Work) -> Verdict {
        self.looks.restored(&fresh.looks)?;
        self.in_flight_at_most = fresh.in_flight_at_most;
        (self.reserve, self.spare, self.span) = (fresh.reserve, fresh.spare, fresh.span);
        (self.lazy, self.paces_host) = (fresh.lazy, fresh.paces_host);
        self.coming_at_most = fresh.coming_at_most;
        Ok(())
    }

    /// What a trigger may know of a lane, some of whose blocks are the cache's.
    pub(in crate::ftl) fn limits(&self, blocks: u32, cached: u32) -> Limits {
        let (spare, reserve, idle) = (self.spare.saturating_sub(cached), self.reserve, self.idle);
        let blocks = blocks - cached;
        Limits { blocks, spare, reserve, idle, cleaned: 0, written: 0, since: 0, units_per_block: 0 }
    }

    /// Bytes of the lists that deals take.
    pub(in crate::ftl) fn bytes_of_deals(&self) -> usize {
        self.lanes.iter().map(|work| work.deal.bytes()).sum()
    }

    /// Operations that moves of all lanes can have in flight.
    pub(in crate::ftl) fn operations_at_most(&self) -> usize {
        self.lanes.len()
            * (2 * self.in_flight_at_most + (self.coming_at_most + COMING_BY_READS + 2) * self.span + 4)
                as usize
    }

    /// Whether a lane has as many pages on their way as it may, and so many more: pages that are being read or
    /// programmed, or wait for a page.
    #[inline]
    pub(in crate::ftl) fn is_busy(&self, layout: &Layout, lane: LaneId, more: u32) -> bool {
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
            Work::new(&cfg, &layout, streams, (false, false), (&classes, false)).limits(20, 0).spare
        };
        // Half of the blocks hold data.
        assert_eq!([1, 2, 5].map(spare), [9, 8, 5]);
    }
}
