//! Values that follow from the configuration: counts, capacities, lanes, times per page type.

use super::sections::{ErrorModel, Geometry, MappingUnit, Placement, Superblock};
use super::{DriveConfig, Table};
use crate::ftl::stream::{self, Streams};
use crate::ftl::{read_reclaim, wear_leveling};
use crate::nand::gray;

/// Bytes of a 4-KiB mapping unit.
pub const FOUR_KIB: u32 = 4_096;
/// Most mapping units a drive can have: unit numbers are 32 bits wide, and the last two have a meaning of their own.
pub const MAX_UNITS: u64 = u32::MAX as u64 - 1;
/// Bytes of a GiB.
pub(super) const GIB: f64 = (1u64 << 30) as f64;

impl Geometry {
    /// Pages of a block: one of each page type on every wordline.
    pub fn pages_per_block(&self) -> u32 {
        self.wordlines_per_block * self.bits_per_cell
    }

    /// Chips of the drive.
    pub fn chips(&self) -> u32 {
        self.channels * self.chips_per_channel
    }

    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.chips() * self.dies_per_chip
    }

    /// Planes of the drive.
    pub fn planes(&self) -> u32 {
        self.dies() * self.planes_per_die
    }

    /// Blocks of the drive, bad ones included.
    pub fn blocks(&self) -> u64 {
        u64::from(self.planes()) * u64::from(self.blocks_per_plane)
    }

    /// Pages of the drive.
    pub fn physical_pages(&self) -> u64 {
        self.blocks().saturating_mul(u64::from(self.pages_per_block()))
    }

    /// Data bytes of the drive.
    pub fn physical_bytes(&self) -> u64 {
        self.physical_pages().saturating_mul(u64::from(self.page_bytes))
    }
}

impl DriveConfig {
    /// Bytes that the tables of such a drive take, about: what grows with units, pages, wordlines and blocks.
    pub fn memory_bytes(&self) -> u64 {
        let g = &self.geometry;
        let (physical, logical) = (self.physical_units(), self.logical_units());
        let wordlines = g.blocks().saturating_mul(u64::from(g.wordlines_per_block));
        let ages = self.errors.model == ErrorModel::Cells;
        // Both maps, a bit for live and one for lost; blocks as firmware and chips know them.
        let maps = physical.saturating_add(logical).saturating_mul(33) / 8;
        let blocks = g.blocks().saturating_mul(if ages { 56 + 37 } else { 56 });
        let counters = match (ages, self.errors.disturb_counters) {
            (true, super::DisturbCounters::Wordline) => wordlines.saturating_mul(4),
            _ => 0,
        };
        let size = read_reclaim::Size { pages: g.physical_pages(), wordlines, logical_units: logical };
        let policy = read_reclaim::Policy::build(&self.read_reclaim).memory_estimate(&size);
        [blocks, counters, policy].into_iter().fold(maps, u64::saturating_add)
    }

    /// Mapping units in a page: 1, or the 4-KiB pieces of the page.
    pub fn units_per_page(&self) -> u32 {
        match self.mapping.unit {
            MappingUnit::Page => 1,
            MappingUnit::FourKib => (self.geometry.page_bytes / FOUR_KIB).max(1),
        }
    }

    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u32 {
        self.geometry.page_bytes / self.units_per_page()
    }

    /// Pages at the end of each block that are kept for replicas of pages read often (`ftl.read_reclaim`).
    pub fn replica_pages_per_block(&self) -> u32 {
        read_reclaim::Policy::build(&self.read_reclaim).replica_pages_per_block()
    }

    /// Pages of a block that data fills: all but those kept for replicas, and at least one.
    pub fn data_pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block().saturating_sub(self.replica_pages_per_block()).max(1)
    }

    /// Mapping units that data can fill.
    pub fn data_units(&self) -> u64 {
        let per_block = u64::from(self.data_pages_per_block()) * u64::from(self.units_per_page());
        self.geometry.blocks().saturating_mul(per_block)
    }

    /// Mapping units that fit on the drive physically.
    pub fn physical_units(&self) -> u64 {
        self.geometry.physical_pages().saturating_mul(u64::from(self.units_per_page()))
    }

    /// Mapping units the host sees: `logical_gib`, or what over-provisioning leaves; whole units, rounded down.
    pub fn logical_units(&self) -> u64 {
        if self.drive.logical_gib > 0.0 {
            (self.drive.logical_gib * GIB / f64::from(self.unit_bytes())) as u64
        } else {
            (self.physical_units() as f64 / (1.0 + self.drive.over_provisioning_percent / 100.0)) as u64
        }
    }

    /// Bytes the host sees.
    pub fn logical_bytes(&self) -> u64 {
        self.logical_units().saturating_mul(u64::from(self.unit_bytes()))
    }

    /// Programs of host data that may be under way at once. Writes that wait for planes of their own leave programs,
    /// and with them slots, for all others.
    pub(crate) fn host_programs_at_most(&self) -> u32 {
        let waiting = match self.allocation.placement {
            Placement::Static => self.queues.count * self.queues.depth,
            Placement::Dynamic => 4,
        };
        (2 * self.geometry.planes()).max(waiting)
    }

    /// Slots of host data in DRAM: the buffer's, and enough to keep every plane programming, with as much again
    /// gathering behind it.
    pub fn staging_slots(&self) -> u32 {
        self.staging_slots_for(self.streams())
    }

    /// The same for other streams of host data than those of the configuration.
    pub(crate) fn staging_slots_for(&self, streams: Streams) -> u32 {
        let rules = crate::host::buffer::Policy::build(&self.buffer).rules(self.unit_bytes());
        let programs = 2 * self.host_programs_at_most() + streams.of_host.count_ones() - 1;
        rules.slots.max(programs * self.units_per_page())
    }

    /// Allocation lanes: groups of planes that open, fill and erase their blocks together.
    pub fn lanes(&self) -> u32 {
        match self.allocation.superblock {
            Superblock::None => self.geometry.planes(),
            Superblock::Planes => self.geometry.dies(),
            Superblock::All => 1,
        }
    }

    /// Planes in each lane, which is also the blocks in a superblock.
    pub fn lane_span(&self) -> u32 {
        self.geometry.planes() / self.lanes()
    }

    /// The streams that data is separated in.
    pub fn streams(&self) -> Streams {
        stream::Policy::build(&self.stream).streams()
    }

    /// Blocks (or superblocks) that each lane keeps open at once: one for each stream, and one for cold data if wear is
    /// leveled.
    pub fn open_blocks_per_lane(&self) -> u32 {
        let cold = wear_leveling::Policy::build(&self.wear_leveling).acts();
        u32::from(self.streams().count) + u32::from(cold)
    }

    /// Blocks (or superblocks) of each lane that the logical space fills when it is all written.
    pub fn data_blocks_per_lane(&self) -> u64 {
        let units_per_block = u64::from(self.data_pages_per_block()) * u64::from(self.units_per_page());
        let per_lane = self.logical_units().div_ceil(u64::from(self.lanes()));
        per_lane.div_ceil(units_per_block * u64::from(self.lane_span()))
    }

    /// Blocks (or superblocks) that each lane needs beside its data: open ones, the reserve, one to clean into, those
    /// that dead units beyond the reach of cleaning may take up, and those expected to be bad from the factory.
    pub fn spare_blocks_needed_per_lane(&self) -> u64 {
        let blocks = self.geometry.blocks_per_plane;
        let bad = f64::from(blocks) * self.reliability.factory_bad_ppm / 1e6;
        self.spare_blocks_to_work_per_lane(blocks) + bad.ceil() as u64
    }

    /// The same for a lane with so many good blocks.
    pub fn spare_blocks_to_work_per_lane(&self, blocks: u32) -> u64 {
        u64::from(self.cleaning.reserve_blocks)
            + u64::from(self.open_blocks_per_lane())
            + 1
            + self.stray_blocks_per_lane(blocks)
    }

    /// Blocks' worth of dead units that cleaning may never gain, beyond what the open blocks make up for. A block is
    /// worth cleaning when a page comes free, so each may keep all but one unit of a page dead. When the host can
    /// get no page, its own open block and the one to clean into are spent on them too: they make up for less than two.
    pub fn stray_blocks_per_lane(&self, blocks: u32) -> u64 {
        let units_per_page = u64::from(self.units_per_page());
        let units_per_block =
            u64::from(self.data_pages_per_block()) * units_per_page * u64::from(self.lane_span());
        (u64::from(blocks) * (units_per_page - 1) / units_per_block).saturating_sub(1)
    }

    /// The Gray code in force: for each page type, lowest first, the thresholds its read senses.
    pub fn gray_code(&self) -> Vec<Vec<u32>> {
        let (bits, states) = (self.geometry.bits_per_cell, &self.cells.states);
        if !self.cell.gray_code.is_empty() {
            return self.cell.gray_code.clone();
        }
        let aging = self.errors.model == ErrorModel::Cells && states.bits_per_cell == bits;
        if aging && !states.gray_code.is_empty() {
            return states.gray_code.clone();
        }
        gray::default_code(bits)
    }

    /// tR of each page type in microseconds, lowest page type first.
    pub fn t_read_us(&self) -> Vec<f64> {
        let timing = &self.timing;
        if timing.t_read_us.is_empty() {
            let sensed = |row: &Vec<u32>| timing.t_read_base_us + timing.t_sense_us * row.len() as f64;
            return self.gray_code().iter().map(sensed).collect();
        }
        self.for_each_page_type(&timing.t_read_us)
    }

    /// tPROG of each page type in microseconds, lowest page type first.
    pub fn t_program_us(&self) -> Vec<f64> {
        self.for_each_page_type(&self.timing.t_program_us)
    }

    fn for_each_page_type(&self, list: &[f64]) -> Vec<f64> {
        let types = self.geometry.bits_per_cell as usize;
        match list {
            [one] => vec![*one; types],
            _ => list.to_vec(),
        }
    }

    /// The whole configuration as TOML, every key written out in the order of declaration.
    ///
    /// The text reads back to the same configuration; it is what `hash` is taken of.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (path, section) in self.sections() {
            text.push_str(&format!("[{path}]\n"));
            if let Some(policy) = section.policy() {
                text.push_str(&format!("policy = \"{policy}\"\n"));
            }
            for field in section.fields() {
                let value = section.show(field.key).unwrap_or_default();
                text.push_str(&format!("{} = {value}\n", field.key));
            }
            text.push('\n');
        }
        text
    }

    /// A number that is the same for equal configurations on every machine (64-bit FNV-1a of `to_toml`).
    pub fn hash(&self) -> u64 {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.to_toml().bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }

    /// The sections with their paths, in the order of declaration.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &dyn Table)> {
        Self::section_paths().filter_map(|path| Some((path, self.section(path)?)))
    }
}
