//! redFTL+: disturbed blocks move to read-resistant blocks, which are programmed in a mode that is read at a lower pass
//! voltage, together with the least-read block of the lane, the hottest data on the pages whose reads harm least.

use crate::ftl::read_reclaim::{
    Look, MAX_PAGE_TYPES, Member, PageRead, READ_ONE, ReadLimits, Setup, Size, Urgency, Want, read_weights,
};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::restore::{Verdict, alike};
use crate::snapshot::raw;
use crate::units::{BlockId, LaneId, Lpn, Pun, SimDuration};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "redftl_plus";
/// What it does.
pub const SUMMARY: &str =
    "deals the pages of a disturbed and the least-read block over resistant blocks, hottest on fast pages";
/// Where it comes from.
pub const SOURCE: &str = "redFTL sections 4.2.3 and 4.3 (also Ha, Jeong, Kim, IEEE TCAD 2016)";
/// What it costs.
pub const MEMORY: &str = "5 bytes per block and, paired, 1 byte per logical unit and 4 per block (two_level) or 4 \
    bytes per unit (exact)";

choice! {
    /// How reads of logical units are counted.
    pub enum Counters {
        /// Two saturating counters of 4 bits in a byte; the first is sampled 15 times in a block's life.
        TwoLevel = "two_level",
        /// A counter of 32 bits: redFTL++.
        Exact = "exact",
    }
}

choice! {
    /// Which page types the hottest data of a deal goes to first.
    pub enum DealOrder {
        /// LSB, CSB, MSB (redFTL section 4.3.3).
        PageType = "page_type",
        /// Those whose reads harm least, of equals in the order of page types: "more read-resistant pages" (our reading
        /// of redFTL section 4.3.4). The same on chips whose reads harm more from type to type.
        Weight = "weight",
    }
}

section! {
    /// Parameters of `redftl_plus`.
    pub struct Params {
        /// Effective reads that a block endures (MRC), in reads of the worst page type in the normal mode; 0 as in
        /// policy `block`.
        max_reads: u32 = 40_000, unit "reads", range 0..=10_000_000;
        /// Share of `max_reads` at which a block moves when the host is idle.
        threshold_percent: f64 = 95.0, unit "%", range 1.0..=100.0;
        /// Share of `max_reads` at which a block moves at once (assumed: the paper only moves in the background). In
        /// the functional executor the host is never idle, and only this counts.
        forced_percent: f64 = 100.0, unit "%", range 1.0..=200.0;
        /// Time without host commands after which the drive counts as idle (assumed, calibration section 15).
        idle_after_us: f64 = 10000.0, unit "us", range 1.0..=1e9;
        /// Moves a block together with the least-read block of its lane and sorts their data. If false (RRB in the
        /// paper), only program modes add resistance, and a block moves alone into one block, in order.
        pairing: bool = true;
        /// An empty block may be the least-read of its lane: the disturbed block's data alone is then dealt to two
        /// blocks. If false (the paper mixes with "the read-coldest" data, section 4.3.3), only blocks with data
        /// count.
        empty_partner: bool = false;
        /// Weights each read by the harm of its page type (beta). If false (RRB in the paper, "without considering
        /// the effect of RRPs"), each read counts as the worst type in its block's mode.
        page_types: bool = true;
        /// How reads of logical units are counted.
        counters: Counters = Counters::TwoLevel;
        /// Which page types the hottest data goes to first.
        deal_order: DealOrder = DealOrder::PageType;
    }
    in_order threshold_percent <= forced_percent;
}

/// Most that a counter of 4 bits says, and samples in a block's life.
const FULL: u8 = 15;
/// One on the second level: the upper half of the byte.
const SECOND: u8 = 16;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    idle_after_ns: u64,
    /// Reads at which a block moves in the background, moves at once, and fails.
    background: ReadLimits,
    forced: ReadLimits,
    most: ReadLimits,
    /// Harm of a read: mode, page type.
    weights: Vec<Vec<u32>>,
    /// Harm of a read of the worst page type: mode.
    worst: Vec<u32>,
    /// Effective reads since the erase, in 1/[`READ_ONE`], by physical block.
    #[serde(with = "raw")]
    counts: Vec<u32>,
    /// Reads of whatever kind since the erase, by physical block (`two_level`): they say when to sample.
    #[serde(with = "raw")]
    totals: Vec<u32>,
    /// The block status table: program mode, and in the upper four bits the samples taken, by physical block.
    #[serde(with = "raw")]
    status: Vec<u8>,
    /// Both levels in a byte, by logical unit (`two_level`).
    #[serde(with = "raw")]
    levels: Vec<u8>,
    /// Reads by logical unit (`exact`).
    #[serde(with = "raw")]
    reads: Vec<u32>,
    sample_due: bool,
}

#[inline]
fn mode_of(status: u8) -> u8 {
    status % SECOND
}

/// Calls `then` with every logical unit that lives in a physical block.
fn each_live(look: &Look<'_>, mut then: impl FnMut(Lpn)) {
    let pages = look.layout.pages_per_block / look.layout.span;
    for units in (0..pages).map(|page| look.units_of(page)) {
        let mut at = look.map.next_live(units.start, units.end);
        while let Some(unit) = at {
            then(look.map.stored(Pun(unit)));
            at = look.map.next_live(unit + 1, units.end);
        }
    }
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            idle_after_ns: SimDuration::from_us(params.idle_after_us).0,
            background: ReadLimits::default(),
            forced: ReadLimits::default(),
            most: ReadLimits::default(),
            weights: Vec::new(),
            worst: Vec::new(),
            counts: Vec::new(),
            totals: Vec::new(),
            status: Vec::new(),
            levels: Vec::new(),
            reads: Vec::new(),
            sample_due: false,
        }
    }

    /// 15 times in a block's life a sample is due: "whenever the total read count of a block" passes another fifteenth
    /// of its maximum (section 4.3.4), which is that of a normal block times alpha ("RRBs with higher maximum read
    /// count", section 4.4). All reads count alike here.
    #[inline]
    fn count_towards_sample(&mut self, read: &PageRead, mode: u8) {
        let at = read.physical as usize;
        let Some(total) = self.totals.get_mut(at) else { return };
        *total = total.saturating_add(read.readings);
        let samples = self.status[at] / SECOND;
        let passed = u64::from(*total) * u64::from(self.worst[usize::from(mode)]) * 15;
        let whole = u64::from(self.most.at(read.cycles)) * u64::from(READ_ONE);
        if samples < FULL && passed >= whole * u64::from(samples + 1) {
            let samples = (passed / whole).min(u64::from(FULL)) as u8;
            self.status[at] = mode_of(self.status[at]) + samples * SECOND;
            self.sample_due = true;
        }
    }

    /// The block that moves with a disturbed one, if any: the least-read of its lane, the first of equals, reads of its
    /// physical blocks together; of full blocks that nothing is done with.
    #[inline(never)]
    pub(in crate::ftl) fn partner_of(
        &self,
        tables: &Tables,
        lane: LaneId,
        disturbed: BlockId,
    ) -> Option<BlockId> {
        let (layout, blocks) = (&tables.layout, &tables.blocks);
        let movable = |&block: &BlockId| {
            block != disturbed
                && blocks.state(block) == BlockState::Closed
                && blocks.programming(block) == 0
                && blocks.leaving(block) == 0
                && !blocks.is_failing(block)
                && !blocks.is_one_bit(block)
        };
        let reads = |&block: &BlockId| -> u64 {
            let members = (0..layout.span).map(|k| layout.member(block, k).block);
            members.map(|physical| u64::from(self.counts[physical as usize])).sum()
        };
        let first = layout.first_block(lane).0;
        (first..first + layout.blocks_per_lane).map(BlockId).filter(movable).min_by_key(reads)
    }

    /// Whether an empty block counts as the least-read: the disturbed one is dealt over two blocks alone.
    pub(in crate::ftl) fn has_empty_partner(&self) -> bool {
        self.params.empty_partner
    }

    /// The program mode in which data of a physical block is dealt: 1 for that of a normal block, 2 for that of a
    /// read-resistant one (section 4.3.2).
    pub(in crate::ftl) fn mode_after(&self, physical: u32) -> u8 {
        let mode = if mode_of(self.status[physical as usize]) == 0 { 1 } else { 2 };
        let highest = self.weights.len().min(usize::from(SECOND)) - 1;
        mode.min(highest as u8)
    }

    /// Page types in the order in which the hottest data goes to them, in blocks of a program mode.
    pub(in crate::ftl) fn order_of_types(&self, mode: u8) -> [u8; MAX_PAGE_TYPES] {
        let mut types = core::array::from_fn(|page_type| page_type as u8);
        if self.params.deal_order == DealOrder::Weight {
            let weights = &self.weights[usize::from(mode)];
            types.sort_by_key(|&page_type| weights.get(usize::from(page_type)).copied().unwrap_or(u32::MAX));
        }
        types
    }

    /// How hot a unit is that is about to be dealt: the second level, or all reads; both levels begin again.
    pub(in crate::ftl) fn take_heat(&mut self, lpn: Lpn) -> u32 {
        if let Some(levels) = self.levels.get_mut(lpn.index()) {
            return u32::from(core::mem::take(levels) / SECOND);
        }
        self.reads.get_mut(lpn.index()).map_or(0, core::mem::take)
    }

    /// A physical block is opened in a program mode, to be dealt over, or is given back as it was.
    pub(in crate::ftl) fn on_open(&mut self, physical: u32, mode: u8) {
        self.status[physical as usize] = mode;
    }
}

impl Member for Policy {
    /// Makes its tables.
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, setup: &Setup<'_>) {
        let Params { max_reads, threshold_percent, forced_percent, pairing, page_types, counters, .. } =
            self.params;
        let limits = |share: f64| ReadLimits::of_harm(setup.cells, max_reads, share);
        self.most = limits(1.0);
        self.forced = limits(forced_percent / 100.0);
        self.background = limits(threshold_percent.min(forced_percent) / 100.0);
        self.weights = read_weights(setup.cells);
        // The part may have fewer types than weights.
        let types = (setup.page_types as usize).min(MAX_PAGE_TYPES);
        let worst = |mode: &Vec<u32>| mode[..types].iter().copied().max().unwrap_or(READ_ONE);
        self.worst = self.weights.iter().map(worst).collect();
        if !page_types {
            self.weights.iter_mut().zip(&self.worst).for_each(|(mode, worst)| mode.fill(*worst));
        }
        let blocks = setup.physical_blocks as usize;
        (self.counts, self.status) = (vec![0; blocks], vec![0; blocks]);
        let units = if pairing { setup.logical_units as usize } else { 0 };
        match counters {
            Counters::TwoLevel if pairing => (self.levels, self.totals) = (vec![0; units], vec![0; blocks]),
            Counters::TwoLevel => {}
            Counters::Exact => self.reads = vec![0; units],
        }
    }

    /// Counts the read by the harm of its page type in its block's mode.
    #[inline]
    fn on_read(&mut self, read: &PageRead) -> Urgency {
        let at = read.physical as usize;
        let mode = mode_of(self.status[at]).max(read.mode);
        let count = &mut self.counts[at];
        let weight = self.weights[usize::from(mode)][usize::from(read.page_type)];
        *count = count.saturating_add(weight.saturating_mul(read.readings));
        let reads = *count / READ_ONE;
        self.count_towards_sample(read, mode);
        if reads >= self.forced.at(read.cycles) {
            Urgency::Now
        } else if reads >= self.background.at(read.cycles) {
            Urgency::WhenIdle
        } else {
            Urgency::No
        }
    }

    /// All of a block that has reached its limit: out of a normal block to mode 1, out of a read-resistant one to
    /// mode 2.
    fn wants(&mut self, look: &Look<'_>, _: Option<Want>) -> Option<Want> {
        let at = look.at.block as usize;
        if self.counts[at] / READ_ONE < self.background.at(look.cycles) {
            return None;
        }
        Some(Want::spread(self.mode_after(look.at.block), self.params.pairing))
    }

    /// Counts from zero; what fills the block next does so in the normal mode, unless it is opened otherwise.
    fn on_erase(&mut self, physical: u32) {
        self.counts[physical as usize] = 0;
        self.status[physical as usize] = 0;
        if let Some(total) = self.totals.get_mut(physical as usize) {
            *total = 0;
        }
    }

    /// Its counters, status table and limits.
    fn memory_bytes(&self) -> usize {
        let limits = self.most.0.len() + self.forced.0.len() + self.background.0.len();
        let words = self.counts.len() + self.totals.len() + limits + self.reads.len();
        4 * words + self.status.len() + self.levels.len()
    }

    fn spreads(&self) -> bool {
        true
    }

    #[inline]
    fn on_unit_read(&mut self, lpn: Lpn) {
        if let Some(levels) = self.levels.get_mut(lpn.index()) {
            *levels += u8::from(*levels % SECOND < FULL);
        } else if let Some(reads) = self.reads.get_mut(lpn.index()) {
            *reads = reads.saturating_add(1);
        }
    }

    #[inline]
    fn sample_due(&self) -> bool {
        self.sample_due
    }

    /// Saturated counters of the first level add one to the second, and all of the first begin again (section 4.3.4).
    fn sample(&mut self, look: &Look<'_>) {
        self.sample_due = false;
        each_live(look, |lpn| {
            let levels = &mut self.levels[lpn.index()];
            let (first, second) = (*levels % SECOND, *levels / SECOND);
            *levels = (second + u8::from(first == FULL)).min(FULL) * SECOND;
        });
    }

    fn idle_after_ns(&self) -> Option<u64> {
        Some(self.idle_after_ns)
    }

    /// A byte and more for each unit.
    fn memory_estimate(&self, size: &Size) -> u64 {
        size.logical_units.saturating_mul(4)
    }

    fn restored(&mut self, mut fresh: Policy) -> Verdict {
        alike("reads of blocks", &self.counts, &fresh.counts)?;
        alike("all reads of blocks", &self.totals, &fresh.totals)?;
        alike("modes of blocks", &self.status, &fresh.status)?;
        alike("heat of units", &self.levels, &fresh.levels)?;
        alike("reads of units", &self.reads, &fresh.reads)?;
        fresh.counts = core::mem::take(&mut self.counts);
        fresh.totals = core::mem::take(&mut self.totals);
        fresh.status = core::mem::take(&mut self.status);
        fresh.levels = core::mem::take(&mut self.levels);
        fresh.reads = core::mem::take(&mut self.reads);
        fresh.sample_due = self.sample_due;
        *self = fresh;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::ftl::tables::blocks::Blocks;
    use crate::ftl::tables::layout::Layout;
    use crate::ftl::tables::map::Map;
    use crate::ftl::tables::replicas::Replicas;
    use crate::ftl::tables::wordlines::Wordlines;
    use crate::nand::Chip;
    use crate::nand::cell::CellModel;

    /// TLCbase of redFTL table 5, on blocks of 2 wordlines.
    fn policy(params: Params) -> (Policy, DriveConfig) {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (12, 2, 3);
        cfg.cells.disturb.page_weights = vec![0.25, 0.5, 1.0];
        let cells = CellModel::new(cfg.cells.clone()).unwrap();
        let mut policy = Policy::new(&params);
        policy.learn(&Setup {
            readings_at_most: 1,
            lanes: 1,
            cells: &cells,
            physical_blocks: 12,
            wordlines: 2,
            page_types: 3,
            logical_units: 40,
            seed: 1,
        });
        (policy, cfg)
    }

    fn read(physical: u32, page_type: u8) -> PageRead {
        PageRead { physical, wordline: 0, page_type, mode: 0, cycles: 0, readings: 1, access: true }
    }

    /// Reads of a page type that a block in a mode takes before it is a candidate at once.
    fn endured(policy: &mut Policy, mode: u8, page_type: u8) -> u32 {
        policy.on_erase(3);
        policy.on_open(3, mode);
        (1..).find(|_| policy.on_read(&read(3, page_type)) == Urgency::Now).unwrap()
    }

    #[test]
    fn reads_count_beta_over_alpha() {
        let (mut policy, _) = policy(Params { max_reads: 1_000, ..Params::default() });
        assert_eq!([0, 1, 2].map(|page_type| endured(&mut policy, 0, page_type)), [4_000, 2_000, 1_000]);
        assert_eq!([0, 1, 2].map(|page_type| endured(&mut policy, 1, page_type)), [8_000, 4_000, 2_000]);
        // An LSB read in mode 2 counts .25 / 5 = .05.
        assert_eq!([0, 1, 2].map(|page_type| endured(&mut policy, 2, page_type)), [20_000, 10_000, 5_000]);
    }

    #[test]
    fn a_block_waits_for_silence_before_it_must_move() {
        let (mut policy, _) = policy(Params { max_reads: 100, ..Params::default() });
        let urgencies: Vec<_> = (0..101).map(|_| policy.on_read(&read(5, 2))).collect();
        let first = |urgency| urgencies.iter().position(|&found| found == urgency).map(|at| at + 1);
        assert_eq!((first(Urgency::WhenIdle), first(Urgency::Now)), (Some(95), Some(100)));
    }

    #[test]
    fn counters_are_sampled_at_every_fifteenth() {
        let (mut policy, cfg) = policy(Params { max_reads: 150, ..Params::default() });
        let chip = Chip::new(1, 12, 6, &cfg.reliability, 1);
        let layout = Layout::new(&cfg, &chip);
        let mut map = Map::new(40, 12 * 6 * layout.units_per_page as usize, false);
        // Units 7 and 8 live in block 2, unit 9 does not.
        let first = layout.first_unit(BlockId(2));
        map.assign(Lpn(7), first);
        map.assign(Lpn(8), Pun(first.0 + layout.units_per_page));
        map.assign(Lpn(9), layout.first_unit(BlockId(4)));
        let (blocks, replicas) = (Blocks::new(&layout, (0..12).map(|_| 0)), Replicas::new(&cfg, &layout));
        let wordlines = Wordlines::default();
        let mut samples = Vec::new();
        for n in 1..=150 {
            // Unit 7 is read once, unit 8 every second time, unit 9 (elsewhere) always.
            policy.on_unit_read(Lpn(9));
            policy.on_unit_read(Lpn(7));
            if n % 2 == 0 {
                policy.on_unit_read(Lpn(8));
            }
            policy.on_unit_read(Lpn(7));
            _ = policy.on_read(&read(2, 2));
            if policy.sample_due() {
                samples.push((n, policy.levels[7] % SECOND, policy.levels[8] % SECOND));
                let at = layout.member(BlockId(2), 0);
                let look = Look {
                    unwritten: None,
                    live_units: 0,
                    map: &map,
                    layout: &layout,
                    blocks: &blocks,
                    replicas: &replicas,
                    wordlines: &wordlines,
                    block: BlockId(2),
                    member: 0,
                    at,
                    cycles: 0,
                };
                policy.sample(&look);
                assert!(!policy.sample_due());
            }
        }
        // 150 reads of weight 1: a sample every 10; by then unit 7 was read 20 times, which is 15, and unit 8 5 times.
        assert_eq!(samples, (1..=15).map(|i| (10 * i, 15, 5)).collect::<Vec<_>>());
        // The second level is full at 15; the first of a unit of another block is not reset.
        assert_eq!([7, 8, 9].map(|lpn| policy.levels[lpn]), [15 * SECOND, 0, 15]);
        // Dealing takes the second level, and forgets both.
        assert_eq!([7, 8, 9].map(|lpn| policy.take_heat(Lpn(lpn))), [15, 0, 0]);
        assert_eq!(policy.levels[..10], [0; 10]);
    }

    /// Reads of a page type at which samples of block 2, opened in a mode, are due.
    fn sampled(policy: &mut Policy, mode: u8, page_type: u8) -> Vec<u32> {
        policy.on_erase(2);
        policy.on_open(2, mode);
        let due = |n: &u32| {
            _ = policy.on_read(&PageRead { mode, ..read(2, page_type) });
            core::mem::take(&mut policy.sample_due) && *n > 0
        };
        (1..=1_000).filter(due).collect()
    }

    #[test]
    fn samples_follow_all_reads_whatever_their_page_type() {
        let (mut policy, _) = policy(Params { max_reads: 150, ..Params::default() });
        let tenths: Vec<u32> = (1..=15).map(|i| 10 * i).collect();
        for page_type in 0..3 {
            assert_eq!(sampled(&mut policy, 0, page_type), tenths, "page type {page_type}");
        }
        // A block in mode 2 stands five times as many.
        assert_eq!(sampled(&mut policy, 2, 0), (1..=15).map(|i| 50 * i).collect::<Vec<_>>());
    }

    #[test]
    fn without_page_types_only_modes_resist() {
        let (mut policy, _) = policy(Params { max_reads: 1_000, page_types: false, ..Params::default() });
        for (mode, reads) in [(0, 1_000), (1, 2_000), (2, 5_000)] {
            assert_eq!([0, 1, 2].map(|page_type| endured(&mut policy, mode, page_type)), [reads; 3]);
        }
    }

    #[test]
    fn memory_is_what_the_tables_take() {
        let limits = 3 * 512 * 4;
        let bytes = |params| policy(params).0.memory_bytes() - limits;
        assert_eq!(bytes(Params::default()), 12 * 9 + 40);
        assert_eq!(bytes(Params { counters: Counters::Exact, ..Params::default() }), 12 * 5 + 4 * 40);
        assert_eq!(bytes(Params { pairing: false, ..Params::default() }), 12 * 5);
    }
}
