//! Where a page number points: the arithmetic between the firmware's blocks and the chips' planes.
//!
//! Lanes are the groups of planes that blocks are allocated from: single planes, the planes of a die, or all planes.
//! A firmware block takes one physical block in each plane of its lane and stripes pages over them.

use crate::flash::op::{Op, OpKind};
use crate::flash::rows::Outcomes;
use crate::ftl::tables::parity::Parity;
use crate::nand::{Chip, PageAddress};
use crate::restore::{Verdict, ensure, within};
use crate::sections::{AllocationOrder, Sections, Superblock};
use crate::units::{BlockId, Divisor, LaneId, Ppn, Pun, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// The shape of a drive, with its divisions prepared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Layout {
    /// Channels.
    pub channels: u32,
    /// Dies of the drive.
    pub dies: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Planes in each die.
    pub planes_per_die: u32,
    /// Lanes of the drive.
    pub lanes: u32,
    /// Blocks of each lane, of those that the factory left good as many as are used: the least over the lane's planes.
    pub blocks_per_lane: u32,
    /// Planes a block is striped over.
    pub span: u32,
    /// Pages of the chips that a page of the firmware takes: 1, unless it is `wide` or `deep`. The firmware programs
    /// all of it, and the host reads what it asks for.
    pub width: u32,
    /// Of these, pages in planes side by side: several where mapping units are larger than a page of the chips. The
    /// firmware reads all of them.
    pub wide: u32,
    /// And pages of one wordline: all of them where chips program one-shot. The firmware reads what it needs.
    pub deep: u32,
    /// Pages of one number in a block.
    pub abreast: u32,
    /// Pages of a (firmware) block.
    pub pages_per_block: u32,
    /// Pages of it that data fills, with parity among it; those after them are kept for replicas.
    pub data_pages_per_block: u32,
    /// Which of those hold parity.
    #[serde(skip)]
    pub parity: Parity,
    /// Pages of it that there are with one bit a cell: the first so many.
    pub one_bit_pages_per_block: u32,
    /// Their page type, which is none of the others', where blocks of the drive are used so; 0 elsewhere.
    #[serde(skip)]
    pub one_bit_type: u8,
    /// Mapping units in a page.
    pub units_per_page: u32,
    /// Mapping units that lie together in a page of the chips, and are read at once.
    pub units_per_read: u32,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Pages that are read and programmed together: the planes of a die, or one.
    pub pages_per_row: u32,
    /// Pages a lane takes before allocation goes on to the next.
    pub pages_per_turn: u32,
    /// Lanes in allocation order.
    pub lane_order: Vec<u32>,
    block_of_page: Divisor,
    abreast_of_page: Divisor,
    unit_of_page: Divisor,
    unit_of_read: Divisor,
    lane_of_block: Divisor,
    block_of_unit: Divisor,
    /// Each member of each lane.
    members: Vec<Member>,
    /// Physical block of each member of each block, by `block * span + member`; empty if the factory marked none bad:
    /// then they follow from the block's place in its lane.
    member_blocks: Vec<u32>,
}

/// A plane that blocks of a lane are striped over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Member {
    /// Plane, counted over the drive.
    plane: u32,
    die: u32,
    plane_of_die: u32,
}

/// Positions of the four dimensions in an allocation order; position 0 varies fastest, but planes before it where they
/// make `rows`.
fn plane_rank(order: AllocationOrder, cfg: &Sections, plane: u32, rows: bool) -> u64 {
    let g = &cfg.geometry;
    let (die, p) = (plane / g.planes_per_die, plane % g.planes_per_die);
    let (chip, d) = (die / g.dies_per_chip, die % g.dies_per_chip);
    let (c, w) = (chip / g.chips_per_channel, chip % g.chips_per_channel);
    let rank = order.name().bytes().rev().fold(0, |rank, letter| {
        let (value, size) = match letter {
            b'c' => (c, g.channels),
            b'w' => (w, g.chips_per_channel),
            b'd' => (d, g.dies_per_chip),
            _ if rows => (0, 1),
            _ => (p, g.planes_per_die),
        };
        rank * u64::from(size) + u64::from(value)
    });
    if rows { rank * u64::from(g.planes_per_die) + u64::from(p) } else { rank }
}

impl Member {
    fn new(plane: u32, planes_per_die: u32) -> Self {
        Member { plane, die: plane / planes_per_die, plane_of_die: plane % planes_per_die }
    }
}

/// By plane: the blocks that the firmware uses, those left out that were bad when they left the factory.
fn good_blocks(cfg: &Sections, chip: &Chip) -> Vec<Vec<u32>> {
    let g = &cfg.geometry;
    let of_plane = |plane: u32| {
        let physical = (0..g.blocks_per_plane).map(|block| plane * g.blocks_per_plane + block);
        let good = physical.filter(|&block| !chip.is_factory_bad(block));
        good.take(cfg.used_blocks_per_plane() as usize).collect()
    };
    (0..g.planes()).map(of_plane).collect()
}

impl Layout {
    /// The layout of a checked configuration on these chips (whose factory-bad blocks are left out).
    pub fn new(cfg: &Sections, chip: &Chip) -> Self {
        let g = &cfg.geometry;
        let order = cfg.allocation.order;
        let pages_per_row = cfg.pages_per_row();
        let rows = cfg.planes_per_row() > 1;
        let planes = g.planes();
        let span = cfg.lane_span();
        let lanes = planes / span;
        let mut members: Vec<u32> = (0..planes).collect();
        for lane in members.chunks_mut(span as usize) {
            lane.sort_by_key(|&plane| plane_rank(order, cfg, plane, rows));
        }
        let mut lane_order: Vec<u32> = (0..lanes).collect();
        lane_order.sort_by_key(|&lane| plane_rank(order, cfg, members[(lane * span) as usize], rows));

        let good = good_blocks(cfg, chip);
        let blocks_per_lane = good.iter().map(Vec::len).min().unwrap_or(0) as u32;
        let are_whole = blocks_per_lane == g.blocks_per_plane;
        let member_blocks = (0..if are_whole { 0 } else { lanes })
            .flat_map(|lane| (0..blocks_per_lane).map(move |i| (lane, i)))
            .flat_map(|(lane, i)| (0..span).map(move |k| (lane * span + k, i)))
            .map(|(member, i)| good[members[member as usize] as usize][i as usize])
            .collect();
        let (wide, deep) = (cfg.pages_per_unit(), cfg.pages_of_program());
        let abreast = span / wide;
        let pages_per_block = g.pages_per_block() / deep * abreast;
        let plane_first = order.name().starts_with('p');
        Layout {
            channels: g.channels,
            dies: g.dies(),
            dies_per_channel: g.chips_per_channel * g.dies_per_chip,
            planes_per_die: g.planes_per_die,
            lanes,
            blocks_per_lane,
            span,
            width: wide * deep,
            wide,
            deep,
            abreast,
            pages_per_block,
            data_pages_per_block: pages_per_block,
            parity: Parity::new(cfg.parity_share_q32(), pages_per_block, pages_per_row),
            one_bit_pages_per_block: g.wordlines_per_block * abreast,
            one_bit_type: 0,
            units_per_page: cfg.units_per_program(),
            units_per_read: cfg.units_per_page(),
            unit_bytes: cfg.unit_bytes(),
            pages_per_row,
            pages_per_turn: if plane_first && cfg.allocation.superblock == Superblock::Planes {
                abreast
            } else {
                pages_per_row
            },
            lane_order,
            block_of_page: Divisor::new(pages_per_block),
            abreast_of_page: Divisor::new(abreast),
            unit_of_page: Divisor::new(cfg.units_per_program()),
            unit_of_read: Divisor::new(cfg.units_per_page()),
            lane_of_block: Divisor::new(blocks_per_lane.max(1)),
            block_of_unit: Divisor::new(pages_per_block * cfg.units_per_program()),
            members: members.into_iter().map(|plane| Member::new(plane, g.planes_per_die)).collect(),
            member_blocks,
        }
    }

    /// This layout, with so many pages at the end of each physical block that no data fills.
    pub fn keeping(mut self, pages: u32) -> Self {
        self.data_pages_per_block =
            (self.pages_per_block / self.abreast).saturating_sub(pages).max(1) * self.abreast;
        self.parity = self.parity.over(self.data_pages_per_block);
        self
    }

    /// This layout, of a drive that may use blocks with one bit a cell.
    pub fn with_one_bit(mut self, are_used: bool) -> Self {
        self.one_bit_type =
            if are_used { (self.pages_per_block / self.one_bit_pages_per_block) as u8 } else { 0 };
        self
    }

    /// Whether an operation is on a page or block of one bit a cell.
    #[inline]
    pub fn is_one_bit(&self, op: &Op) -> bool {
        self.one_bit_type > 0 && op.page_type == self.one_bit_type
    }

    /// Blocks of the drive that can hold data.
    pub fn blocks(&self) -> u32 {
        self.lanes * self.blocks_per_lane
    }

    /// Mapping units of a block.
    #[inline]
    pub fn units_per_block(&self) -> u32 {
        self.pages_per_block * self.units_per_page
    }

    /// The first unit of a page of one member of a block.
    #[inline]
    pub fn first_unit_of(&self, block: BlockId, member: u32, page: u32) -> Pun {
        Pun(self.first_unit(block).0 + (page * self.abreast + member / self.wide) * self.units_per_page)
    }

    /// Mapping units of a block that data fills, without what lies among it as parity.
    #[inline]
    pub fn data_units_per_block(&self) -> u32 {
        self.parity.data() * self.units_per_page
    }

    /// Mapping units of a block of one bit a cell.
    #[inline]
    pub fn one_bit_units_per_block(&self) -> u32 {
        self.one_bit_pages_per_block * self.units_per_page
    }

    /// The page a unit lies in, and its place there.
    #[inline]
    pub fn page_of_unit(&self, unit: Pun) -> (Ppn, u32) {
        let (page, slot) = self.unit_of_page.split(unit.0);
        (Ppn(page), slot)
    }

    /// The units of a page.
    #[inline]
    pub fn units_of_page(&self, page: Ppn) -> impl Iterator<Item = Pun> + Clone + use<> {
        (page.0 * self.units_per_page..(page.0 + 1) * self.units_per_page).map(Pun)
    }

    /// Whether one read gets two units: they lie in the same page of the chips.
    #[inline]
    pub fn share_read(&self, a: Pun, b: Pun) -> bool {
        self.unit_of_read.quotient(a.0) == self.unit_of_read.quotient(b.0)
    }

    /// The page of a unit, and the first of the units that are read at once with it.
    #[inline]
    pub fn read_of(&self, unit: Pun) -> (Ppn, Pun) {
        let read = self.unit_of_read.quotient(unit.0);
        let page = if self.deep == 1 { Ppn(read) } else { self.page_of_unit(unit).0 };
        (page, Pun(read * self.units_per_read))
    }

    /// Which of the pages that a wordline is programmed with holds a unit.
    #[inline]
    pub fn page_of_wordline(&self, unit: Pun) -> u32 {
        self.unit_of_read.quotient(self.page_of_unit(unit).1)
    }

    /// Pages for data that are left of a row behind one of its pages.
    #[inline]
    pub fn left_of_row(&self, page: Ppn) -> u32 {
        let left = self.pages_per_row - 1 - page.0 % self.pages_per_row;
        if !self.parity.is_written() {
            return left;
        }
        let (block, at) = self.block_of_page(page);
        self.parity.data_of(block, at + 1, left)
    }

    /// The block a unit lies in.
    #[inline]
    pub fn block_of_unit(&self, unit: Pun) -> BlockId {
        BlockId(self.block_of_unit.quotient(unit.0))
    }

    /// The pages of a block that lie in one of its physical blocks, or have a part there.
    pub fn pages_of_member(&self, block: BlockId, member: u32) -> impl Iterator<Item = Ppn> + Clone + use<> {
        let (pages, first) = (self.pages_per_block, member / self.wide);
        (block.0 * pages + first..(block.0 + 1) * pages).step_by(self.abreast as usize).map(Ppn)
    }

    /// The block a page lies in, and the page's place there.
    #[inline]
    pub fn block_of_page(&self, page: Ppn) -> (BlockId, u32) {
        let (block, at) = self.block_of_page.split(page.0);
        (BlockId(block), at)
    }

    /// The first unit of a block.
    #[inline]
    pub fn first_unit(&self, block: BlockId) -> Pun {
        Pun(block.0 * self.units_per_block())
    }

    /// The lane a block belongs to.
    #[inline]
    pub fn lane_of(&self, block: BlockId) -> LaneId {
        LaneId(self.lane_of_block.quotient(block.0))
    }

    /// The first block of a lane.
    #[inline]
    pub fn first_block(&self, lane: LaneId) -> BlockId {
        BlockId(lane.0 * self.blocks_per_lane)
    }

    /// The physical block of member `k` of a block, with its die and plane.
    #[inline]
    pub fn member(&self, block: BlockId, k: u32) -> PageAddress {
        let (lane, place) = self.lane_of_block.split(block.0);
        let Member { plane, die, plane_of_die } = self.members[(lane * self.span + k) as usize];
        let physical = match self.member_blocks.get((block.0 * self.span + k) as usize) {
            Some(&physical) => physical,
            None => plane * self.blocks_per_lane + place,
        };
        PageAddress { die, plane: plane_of_die, block: physical, page: 0 }
    }

    /// Where a page is on the chips; the first of its parts, if it has several.
    #[inline(always)]
    pub fn locate(&self, ppn: Ppn) -> PageAddress {
        if self.width > 1 {
            return self.locate_part(ppn, 0);
        }
        let (block, at) = self.block_of_page(ppn);
        let (page, k) = self.abreast_of_page.split(at);
        PageAddress { page, ..self.member(block, k) }
    }

    /// Where the part of that number of a page is on the chips.
    #[cold]
    #[inline(never)]
    pub fn locate_part(&self, ppn: Ppn, part: u32) -> PageAddress {
        let (block, at) = self.block_of_page(ppn);
        let (row, k) = self.abreast_of_page.split(at);
        let page = row * self.deep + part / self.wide;
        PageAddress { page, ..self.member(block, k * self.wide + part % self.wide) }
    }

    /// Bytes of a part of a page: a page of the chips.
    #[inline]
    pub fn part_bytes(&self) -> u32 {
        self.units_per_read * self.unit_bytes / self.wide
    }

    /// The granules of a unit, as the host counts them, that lie in a part of it.
    pub fn granules_of_part(&self, part: u32) -> u64 {
        let granules = (self.unit_bytes / SECTOR_BYTES as u32).min(u64::BITS) / self.wide;
        (u64::MAX >> (u64::BITS - granules)) << (part * granules)
    }

    /// Where a page is on the chips, part by part.
    pub fn parts(&self, ppn: Ppn) -> impl Iterator<Item = PageAddress> {
        (0..self.width).map(move |part| self.locate_part(ppn, part))
    }
}

impl Layout {
    /// Whether an operation stands for its page: of the programs of a page's parts one carries the units.
    pub(in crate::ftl) fn stands_for_page(&self, op: &Op) -> bool {
        self.width == 1 || op.kind != OpKind::Program || op.units > 0
    }

    /// Whether an operation, as a snapshot has it, is where its page is, and on no more than a page.
    pub(crate) fn check_op(&self, op: &Op) -> Verdict {
        let pages = (self.blocks() * self.pages_per_block) as usize;
        within("page of an operation", [op.ppn.0], pages)?;
        let block = self.block_of_page(op.ppn).0;
        let is_there = match op.kind.row().effect {
            Outcomes::Erases | Outcomes::HidesBlock => {
                (0..self.span).any(|member| self.member(block, member) == op.at)
            }
            Outcomes::Reads | Outcomes::Programs | Outcomes::HidesPage => {
                self.parts(op.ppn).any(|at| at == op.at)
            }
        };
        ensure(is_there, "an operation is elsewhere than its page")?;
        ensure(op.bytes <= self.units_per_page * self.unit_bytes, "an operation on more than a page")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::sections::Issue;
    use std::collections::BTreeSet;

    fn config(order: &str, superblock: Superblock) -> DriveConfig {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 3, 2, 2);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (5, 4, 1);
        cfg.allocation.order = AllocationOrder::from_name(order).unwrap();
        (cfg.allocation.superblock, cfg.allocation.issue) = (superblock, Issue::Page);
        cfg
    }

    fn layout(cfg: &DriveConfig) -> Layout {
        let g = &cfg.geometry;
        let chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
        Layout::new(cfg, &chip)
    }

    #[test]
    fn every_page_has_its_own_place() {
        for superblock in [Superblock::None, Superblock::Planes, Superblock::All] {
            let cfg = config("cwdp", superblock);
            let layout = layout(&cfg);
            let pages = layout.blocks() * layout.pages_per_block;
            assert_eq!(u64::from(pages), cfg.geometry.physical_pages());
            let places: BTreeSet<_> = (0..pages)
                .map(|p| layout.locate(Ppn(p)))
                .map(|a| {
                    assert_eq!(a.block / cfg.geometry.blocks_per_plane, a.die * 2 + a.plane);
                    (a.block, a.page)
                })
                .collect();
            assert_eq!(places.len() as u32, pages);
        }
    }

    #[test]
    fn the_first_letter_varies_fastest() {
        // Planes are numbered plane, die, chip, channel: a channel has 12 of them, a chip 4, a die 2.
        let first = |order| layout(&config(order, Superblock::None)).lane_order[..4].to_vec();
        assert_eq!(first("cwdp"), [0, 12, 4, 16]);
        assert_eq!(first("wcdp"), [0, 4, 8, 12]);
        assert_eq!(first("dcwp"), [0, 2, 12, 14]);
        assert_eq!(first("pdwc"), [0, 1, 2, 3]);
    }

    /// The planes that the first pages of a drive lie in, counted over the drive.
    fn planes_of_pages(order: &str, superblock: Superblock, pages: u32) -> Vec<u32> {
        let layout = layout(&config(order, superblock));
        (0..pages).map(|page| layout.locate(Ppn(page))).map(|at| at.die * 2 + at.plane).collect()
    }

    #[test]
    fn a_block_is_striped_over_its_planes_in_the_order_of_allocation() {
        assert_eq!(planes_of_pages("cwdp", Superblock::Planes, 4), [0, 1, 0, 1]);
        // One after the other: channels (12 planes apart), chips (4), dies (2), planes.
        let by_channel = [0, 12, 4, 16, 8, 20, 2, 14, 6, 18, 10, 22, 1, 13];
        assert_eq!(planes_of_pages("cwdp", Superblock::All, 14), by_channel);
        let by_plane = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(planes_of_pages("pdwc", Superblock::All, 8), by_plane);
        assert_eq!(planes_of_pages("dcwp", Superblock::All, 6), [0, 2, 12, 14, 4, 6]);
    }

    /// Planes are numbered plane, die, chip, channel: a channel has 12 of them, a chip 4, a die 2.
    #[test]
    fn a_row_goes_before_the_order_of_allocation() {
        let layout = |superblock| {
            let mut cfg = config("cwdp", superblock);
            cfg.allocation.issue = Issue::Row;
            layout(&cfg)
        };
        let [alone, die, all] = [Superblock::None, Superblock::Planes, Superblock::All].map(layout);
        assert_eq!([alone.pages_per_row, die.pages_per_row, all.pages_per_row], [1, 2, 2]);
        assert_eq!([alone.pages_per_turn, die.pages_per_turn], [1, 2]);
        let planes = (0..8).map(|page| all.locate(Ppn(page))).map(|at| at.die * 2 + at.plane);
        assert_eq!(planes.collect::<Vec<u32>>(), [0, 1, 12, 13, 4, 5, 16, 17]);
        assert_eq!([4, 5].map(|page| all.left_of_row(Ppn(page))), [1, 0]);
    }

    #[test]
    fn factory_bad_blocks_are_left_out() {
        let mut cfg = config("cwdp", Superblock::Planes);
        cfg.geometry.blocks_per_plane = 100;
        cfg.reliability.factory_bad_ppm = 50_000.0;
        let g = &cfg.geometry;
        let chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
        let layout = Layout::new(&cfg, &chip);
        assert!(layout.blocks_per_lane < 100);
        for block in 0..layout.blocks() {
            for k in 0..layout.span {
                assert!(!chip.is_factory_bad(layout.member(BlockId(block), k).block));
            }
        }
    }
}
