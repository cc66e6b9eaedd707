//! Which lane takes a host page: the next in turn that has room, or, with static placement, that of its address.
//!
//! With static placement the pages of the logical space are counted off over all lanes in allocation order, as MQSim
//! does: page n has the turn n modulo the number of lanes. Whatever moves stays in its lane, so a lane never holds more
//! than its share of the logical space, and what a drive of one lane needs to go on cleaning is enough for each.

use crate::ftl::stream::StreamId;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::Blocks;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::write::open::{Allocated, Allocator};
use crate::ftl::write::ring::Ring;
use crate::sections;
use crate::sections::Sections;
use crate::units::{BlockId, Divisor, LaneId, Lpn, Pun};
use serde::{Deserialize, Serialize};

/// How the lane of a host page is found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::ftl) enum Placement {
    /// In turn.
    Dynamic,
    /// By its address, counted off over so many lanes.
    Static(Divisor),
}

/// Where pages for data come from: open blocks and free ones, in the lanes that they are taken from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Space {
    /// Which block is filled, and which is next.
    pub allocator: Allocator,
    /// Which lane takes a host page.
    pub(in crate::ftl) placement: Placement,
    /// The cache of host writes.
    pub ring: Ring,
}

impl Space {
    /// The next page for moved data: in the same lane; should that be full, in any lane with blocks to spare, unless
    /// pages have lanes of their own; if there is none, what another stream of moves has left in its block. Streams
    /// kept apart must not keep each other waiting: the blocks that would make room may be those that the units come
    /// from.
    pub(in crate::ftl) fn move_target(
        &mut self,
        tables: &mut Tables,
        reserve: u32,
        lane: LaneId,
        stream: StreamId,
    ) -> Option<Allocated> {
        // Where exposure has a bound, what another lane has free is for its own moves.
        let is_alone = self.placement.is_static() || self.allocator.is_bounded();
        let lanes = if is_alone { 0 } else { tables.layout.lanes };
        let (blocks, clock) = (&mut tables.blocks, tables.clock);
        let allocator = &mut self.allocator;
        if let Some(found) = allocator.page_in(lane, stream, 0, blocks, clock) {
            return Some(found);
        }
        let others = (0..lanes).map(LaneId).filter(|&other| other != lane);
        for other in others {
            if let Some(found) = allocator.page_in(other, stream, reserve, blocks, clock) {
                return Some(found);
            }
        }
        let streams = allocator.streams();
        let shared = (0..streams.all() as u8).map(StreamId);
        shared
            .filter(|&other| other != stream && (!streams.is_of_host(other) || streams.is_of_moves(other)))
            .find_map(|other| allocator.page_in(lane, other, 0, blocks, clock))
    }

    /// The next page for host data that begins with a logical unit: in the cache, if there is one and it has a page.
    /// Where the host is `paced`, it may have to wait for cleaning.
    #[inline]
    pub(in crate::ftl) fn host_page(
        &mut self,
        tables: &mut Tables,
        work: &Work,
        lpn: Lpn,
        stream: StreamId,
        paced: bool,
    ) -> Option<Allocated> {
        if self.ring.is_used()
            && let Some(found) = self.ring_page(tables, lpn)
        {
            return Some(found);
        }
        self.full_page(tables, work, lpn, stream, paced)
    }

    /// A page of the cache for host data.
    #[inline(never)]
    pub(in crate::ftl) fn ring_page(&mut self, tables: &mut Tables, lpn: Lpn) -> Option<Allocated> {
        match self.placement.turn_of(lpn) {
            Some(turn) => self.ring.page_in(tables.lane_at(turn), &mut tables.blocks, tables.clock),
            None => self.ring.next_page(&tables.layout, &mut tables.blocks, tables.clock),
        }
    }

    /// A page of a full block for host data.
    #[inline]
    pub(in crate::ftl) fn full_page(
        &mut self,
        tables: &mut Tables,
        work: &Work,
        lpn: Lpn,
        stream: StreamId,
        paced: bool,
    ) -> Option<Allocated> {
        let Tables { blocks, layout, clock, .. } = tables;
        let (blocks, clock) = (blocks, *clock);
        let allocator = &mut self.allocator;
        match self.placement {
            Placement::Dynamic if paced => {
                let waits = |allocator: &Allocator, blocks: &Blocks, lane| {
                    allocator.holds_host_back((layout, blocks), work, lane, stream)
                };
                allocator.next_host_page::<true>(layout, stream, (blocks, clock), waits)
            }
            Placement::Dynamic => {
                allocator.next_host_page::<false>(layout, stream, (blocks, clock), |_, _, _| false)
            }
            Placement::Static(lanes) => {
                let lane = LaneId(layout.lane_order[lanes.split(lpn.0).1 as usize]);
                allocator.host_page_in(lane, stream, blocks, clock)
            }
        }
    }

    /// Whether the lane whose turn it is has a page for host data of a stream.
    pub(in crate::ftl) fn has_host_page(&self, tables: &Tables, turn: u32, stream: StreamId) -> bool {
        let lane = tables.lane_at(turn);
        self.ring.has_page(lane) || self.allocator.has_host_page(lane, stream)
    }
}

impl Placement {
    pub fn new(cfg: &Sections, layout: &Layout) -> Self {
        match cfg.allocation.placement {
            sections::Placement::Dynamic => Placement::Dynamic,
            sections::Placement::Static => Placement::Static(Divisor::new(layout.lanes)),
        }
    }

    /// Where pages have lanes of their own: the turn of the page that a logical unit is.
    #[inline]
    pub(in crate::ftl) fn turn_of(&self, lpn: Lpn) -> Option<u32> {
        match *self {
            Placement::Dynamic => None,
            Placement::Static(lanes) => Some(lanes.split(lpn.0).1),
        }
    }

    /// Whether lanes keep their data to themselves.
    #[inline]
    pub(in crate::ftl) fn is_static(&self) -> bool {
        matches!(self, Placement::Static(_))
    }

    /// Where pages have lanes of their own, those of a block lie in theirs.
    pub(in crate::ftl) fn check_place(&self, tables: &Tables, block: BlockId) -> Result<(), String> {
        let (lane, from) = (tables.layout.lane_of(block), tables.layout.first_unit(block).0);
        let units = from..from + tables.layout.units_per_block();
        for lpn in
            units.filter(|&unit| tables.map.is_live(Pun(unit))).map(|unit| tables.map.stored(Pun(unit)))
        {
            let own = self.turn_of(lpn).map(|turn| tables.lane_at(turn));
            if own.is_some_and(|own| own != lane) {
                return Err(format!("unit {} lies in lane {}, which is not its own", lpn.0, lane.0));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::sections::{Issue, MappingUnit, Superblock};
    use crate::{Drive, Executor};

    /// The planes, counted over the drive, that the first pages go to: two channels of a die of four planes each.
    fn planes_in_turn(order: &str, issue: Issue) -> Vec<u32> {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 4);
        (g.blocks_per_plane, g.wordlines_per_block) = (10, 4);
        cfg.drive.over_provisioning_percent = 100.0;
        (cfg.mapping.unit, cfg.allocation.superblock) = (MappingUnit::Page, Superblock::Planes);
        cfg.allocation.issue = issue;
        cfg.allocation.order = crate::sections::AllocationOrder::from_name(order).unwrap();
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, 24).unwrap();
        let ftl = &drive.state.ftl;
        let at = |page| {
            ftl.moves.media.tables.layout.locate(
                ftl.moves.media.tables.layout.page_of_unit(ftl.moves.media.tables.map.lookup(Lpn(page))).0,
            )
        };
        (0..24).map(at).map(|at| 4 * at.die + at.plane).collect()
    }

    #[test]
    fn a_die_takes_a_page_for_each_plane_where_planes_go_first() {
        // page = plane + 4 (channel + 2 n)
        let by_plane: Vec<u32> = (0..24).map(|page| page % 8).collect();
        assert_eq!(planes_in_turn("pcwd", Issue::Page), by_plane);
        // A row is a turn, whatever the order.
        assert_eq!(planes_in_turn("cpwd", Issue::Row), by_plane);
        // page = channel + 2 (plane + 4 n)
        let by_channel = (0..24).map(|page| 4 * (page % 2) + page / 2 % 4);
        assert_eq!(planes_in_turn("cpwd", Issue::Page), by_channel.collect::<Vec<u32>>());
    }

    #[test]
    fn consecutive_pages_go_round_channels_then_chips_dies_and_planes() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 3, 2, 2);
        (g.blocks_per_plane, g.wordlines_per_block) = (10, 4);
        cfg.drive.over_provisioning_percent = 100.0;
        (cfg.mapping.unit, cfg.allocation.superblock) = (MappingUnit::Page, Superblock::None);
        cfg.allocation.placement = sections::Placement::Static;
        let mut drive = Drive::new(&cfg).unwrap();
        drive.set_executor(Executor::Functional);
        drive.fill(0, 25).unwrap();
        let ftl = &drive.state.ftl;
        let place = |page| {
            let at = ftl.moves.media.tables.layout.locate(
                ftl.moves.media.tables.layout.page_of_unit(ftl.moves.media.tables.map.lookup(Lpn(page))).0,
            );
            // A channel has 6 dies, 2 of each chip.
            [at.die / 6, at.die % 6 / 2, at.die % 2, at.plane]
        };
        // page = channel + 2 (chip + 3 (die + 2 (plane + 2 n)))
        assert_eq!([0, 1, 2, 5].map(place), [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [1, 2, 0, 0]]);
        assert_eq!([6, 12, 23, 24].map(place), [[0, 0, 1, 0], [0, 0, 0, 1], [1, 2, 1, 1], [0, 0, 0, 0]]);
        // Written again and in another order they stay there.
        drive.overwrite(&[23, 6, 6, 12]).unwrap();
        let ftl = &drive.state.ftl;
        let lane = |page| {
            ftl.moves
                .media
                .tables
                .layout
                .lane_of(
                    ftl.moves.media.tables.layout.block_of_unit(ftl.moves.media.tables.map.lookup(Lpn(page))),
                )
                .0
        };
        assert_eq!(
            [6, 12, 23].map(lane),
            [6, 12, 23].map(|turn| ftl.moves.media.tables.layout.lane_order[turn])
        );
    }
}
