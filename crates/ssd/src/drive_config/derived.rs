//! Values that follow from the whole configuration, policies included: what blocks hold, how many each lane needs, how
//! much memory the tables take.

use super::DriveConfig;
use crate::config::Table;
use crate::config::member::Misfit;
use crate::ftl::stream::{self, Streams};
use crate::ftl::tables::parity::Parity;
use crate::ftl::work::bound::Terms;
use crate::ftl::{page_class, program_mode, read_reclaim, sanitize, slc_cache};
use crate::host::buffer;
use crate::sections::{DisturbCounters, ErrorModel};

impl DriveConfig {
    /// Bytes that the tables of such a drive take, about: what grows with units, pages, wordlines and blocks.
    pub fn memory_bytes(&self) -> u64 {
        let g = &self.geometry;
        let (physical, logical) = (self.physical_units(), self.logical_units());
        let wordlines = g.blocks().saturating_mul(u64::from(g.wordlines_per_block));
        let ages = self.errors.model == ErrorModel::Cells;
        // Both maps, a bit for live and one for lost; blocks as firmware and chips know them.
        let maps = physical.saturating_add(logical).saturating_mul(33) / 8;
        let blocks = g.blocks().saturating_mul(if ages { 66 + 37 } else { 66 });
        let counters = match (ages, self.errors.disturb_counters) {
            (true, DisturbCounters::Wordline) => wordlines.saturating_mul(4),
            _ => 0,
        };
        let size = read_reclaim::Size { pages: g.physical_pages(), wordlines, logical_units: logical };
        let policy = read_reclaim::Policy::build(&self.read_reclaim).memory_estimate(&size);
        let sanitize = sanitize::Policy::build(&self.sanitize);
        // Of the firmware a byte a page, a bit a unit, 16 bytes a block; of the chips a bit a page, four bytes a block;
        // of neither a clock for each page.
        let locks = (g.physical_pages().saturating_mul(8 * 8 + 9) / 8)
            .saturating_add(physical / 8)
            .saturating_add(g.blocks().saturating_mul(20));
        // Where locks are set again, of the firmware 8 bytes a block, of the chips as much once more.
        let renewed = (g.physical_pages() / 8).saturating_add(g.blocks().saturating_mul(12));
        let renewed = if sanitize.rules().relock_ns > 0 { renewed } else { 0 };
        // Where exposure has a bound, of the firmware 24 bytes a page.
        let owed = g.physical_pages().saturating_mul(24);
        let owed = if sanitize.rules().max_exposed_ns > 0 { owed } else { 0 };
        let locks = if sanitize.acts() { locks.saturating_add(renewed).saturating_add(owed) } else { 0 };
        let heats = page_class::Policy::build(&self.page_class).table_bytes(logical);
        let techniques = self.techniques().memory_bytes(self);
        [blocks, counters, policy, heats, locks, self.stream_bytes(), techniques]
            .into_iter()
            .fold(maps, u64::saturating_add)
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
        let lanes = u64::from(self.lanes()) * u64::from(self.used_blocks_per_plane());
        lanes.saturating_mul(self.data_units_per_block())
    }

    /// Which pages of a block, or superblock, hold parity.
    pub(super) fn parity(&self) -> Parity {
        let pages = self.data_pages_per_block().saturating_mul(self.lane_span()) / self.pages_per_unit();
        Parity::new(self.parity_share_q32(), pages, self.pages_per_row())
    }

    /// Slots of host data in DRAM.
    pub fn staging_slots(&self) -> u32 {
        let rules = buffer::Policy::build(&self.buffer).rules(self.unit_bytes());
        rules.staging_slots(self, self.streams(), self.host_queue_units())
    }

    /// Mapping units that the queue of a stream holds of host data: with a cache none, for what is destaged is sorted.
    pub fn host_queue_units(&self) -> u32 {
        if self.slc_blocks_per_lane() > 0 { 0 } else { self.queue_units() }
    }

    /// Blocks (or superblocks) of each lane that are the cache's at least (`ftl.slc_cache`).
    pub fn slc_blocks_per_lane(&self) -> u32 {
        slc_cache::Policy::build(&self.slc_cache).least()
    }

    /// Mapping units that the queue of a stream holds where data is sorted by the class of pages (`ftl.page_class`).
    pub fn queue_units(&self) -> u32 {
        page_class::Policy::build(&self.page_class).queue_units(self.data_units_per_block()) as u32
    }

    /// Mapping units that data fills in a block, or superblock, without what lies among it as parity.
    pub fn data_units_per_block(&self) -> u64 {
        (u64::from(self.parity().data()) * u64::from(self.units_per_page())).max(1)
    }

    /// Why data cannot be sorted by the class of pages, if it is to be.
    pub(super) fn page_class_misfit(&self) -> Option<Misfit> {
        page_class::misfit(&self.page_class, self, self.data_units_per_block())
    }

    /// Bytes of memory that the separator of data takes on such a drive.
    pub fn stream_bytes(&self) -> u64 {
        let (size, policy) = (self.stream_size(), stream::Policy::build(&self.stream));
        let beside = if self.tells_hotness_beside() { stream::hotness::memory_bytes(&size) } else { 0 };
        policy.memory_bytes(&size) + beside
    }

    /// What a policy that separates data is told of the drive.
    pub(crate) fn stream_size(&self) -> stream::Size {
        stream::Size {
            logical_units: self.logical_units(),
            physical_units: self.physical_units(),
            lanes: self.lanes(),
            blocks_per_lane: self.used_blocks_per_plane(),
            units_per_block: self.data_units_per_block() as u32,
        }
    }

    /// The streams that data is separated in.
    pub fn streams(&self) -> Streams {
        stream::Policy::build(&self.stream).laid_out(self.allocation.moves, self.tells_hotness_beside())
    }

    /// Whether the policy of program modes goes by the hotness of data.
    pub(crate) fn asks_for_hotness(&self) -> bool {
        program_mode::Policy::build(&self.program_mode).needs_hotness()
    }

    /// Whether data is told apart by its hotness beside what separates it.
    pub(super) fn tells_hotness_beside(&self) -> bool {
        self.asks_for_hotness() && !stream::Policy::build(&self.stream).tells_hotness()
    }

    /// Blocks (or superblocks) that each lane keeps open at once: one for each stream, and one for cold data if a
    /// technique moves that.
    pub fn open_blocks_per_lane(&self) -> u32 {
        u32::from(self.streams().count) + u32::from(self.techniques().move_cold_data())
    }

    /// Blocks (or superblocks) of each lane that the logical space fills when it is all written.
    pub fn data_blocks_per_lane(&self) -> u64 {
        let per_lane = self.logical_units().div_ceil(u64::from(self.lanes()));
        per_lane.div_ceil(self.data_units_per_block())
    }

    /// Blocks (or superblocks) that each lane needs beside its data: open ones, the reserve, one to clean into, those
    /// that dead units beyond the reach of cleaning may take up, the cache's, and those expected to be bad from the
    /// factory that no unused block stands in for.
    pub fn spare_blocks_needed_per_lane(&self) -> u64 {
        let (blocks, all) = (self.used_blocks_per_plane(), self.geometry.blocks_per_plane);
        let bad = f64::from(all) * self.reliability.factory_bad_ppm / 1e6;
        let lacking = (bad.ceil() as u64).saturating_sub(u64::from(all - blocks));
        self.spare_blocks_to_work_per_lane(blocks) + lacking
    }

    /// The same for a lane with so many good blocks.
    pub fn spare_blocks_to_work_per_lane(&self, blocks: u32) -> u64 {
        u64::from(self.cleaning.reserve_blocks)
            + u64::from(self.open_blocks_per_lane())
            + 1
            + self.stray_blocks_per_lane(blocks)
            + self.blocks_for_claims_per_lane()
            + u64::from(self.slc_blocks_per_lane())
    }

    /// Blocks of each lane that are kept for what moves for locks, where exposure has a bound: with room for what one
    /// program kills and for what may come unasked, and one more, for lanes do not fill evenly; none if data leaves
    /// several times that room in its last block (assumed).
    fn blocks_for_claims_per_lane(&self) -> u64 {
        const TIMES: u64 = 4;
        let limit_ns = sanitize::Policy::build(&self.sanitize).rules().max_exposed_ns;
        if limit_ns == 0 {
            return 0;
        }
        let pages = u64::from(Terms::margin_of(self) + self.units_per_program());
        let units = pages * u64::from(self.units_per_program());
        let data = self.logical_units().div_ceil(u64::from(self.lanes()));
        let left = self.data_blocks_per_lane() * self.data_units_per_block() - data;
        if left >= TIMES * units { 0 } else { 1 + units.div_ceil(self.data_units_per_block()) }
    }

    /// Blocks' worth of dead units that cleaning may never gain, beyond what the open blocks make up for. A block is
    /// worth cleaning when a page comes free, or a wordline where that is programmed at once, so each may keep all but
    /// one unit of it dead. When the host can
    /// get no page, its own open block and the one to clean into are spent on them too: they make up for less than two.
    pub fn stray_blocks_per_lane(&self, blocks: u32) -> u64 {
        let units_per_program = u64::from(self.units_per_program());
        (u64::from(blocks) * (units_per_program - 1) / self.data_units_per_block()).saturating_sub(1)
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
