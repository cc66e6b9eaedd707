//! What is fixed when a drive is built: the tables that the cell model becomes, and how blocks differ. Integers only;
//! `build` fills them.

use super::sequence::{PARTS, PARTS_SHIFT};
use crate::nand::cell::CellModel;
use crate::nand::cell::still::StillTable;
use crate::nand::cell::table::{CellTable, ReadOdds};
use crate::nand::cell::voltages::Voltages;
use std::sync::Arc;

/// Bits of a set of voltages that say where it lies on the line of the retry table.
pub(crate) const LOWEST_SHIFT: u32 = 16;
/// Those bits.
pub(crate) const LINE_MASK: usize = (1 << LOWEST_SHIFT) - 1;
/// Parts of a reference minute that the clock counts.
pub(crate) const TICKS_PER_MINUTE: u32 = 16;
/// Longest time that is told apart, in minutes at the reference temperature: 255 years. Tables and clock end there.
pub(crate) const MOST_MINUTES: u32 = 1 << 27;
/// Most cycles, and most equivalent cycles of the worst block, that are told apart.
pub(crate) const MOST_CYCLES: u32 = 1 << 17;
/// Cycles between two points of ERC_MAX, as a power of two.
pub(crate) const ERC_SHIFT: u32 = 6;
/// A whole cycle of damage.
pub(crate) const CYCLE: u64 = 1 << 20;
/// Dwell, in ticks, after which the logistic law is taken to be at its end: 2.8 days.
pub(crate) const MOST_DWELL_TICKS: u32 = 1 << 16;

/// What the time between two erases leaves of a block's wear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dwell {
    /// Share of the cycle's wear that lasts, in 1/65536.
    pub(crate) lasting_q16: u32,
    /// Share of what lasts beyond full recovery, of all cycles, that goes, in 1/65536.
    pub(crate) rest_q16: u32,
}

impl Dwell {
    /// One minute at the reference temperature: all wear lasts.
    pub(crate) const REFERENCE: Dwell = Dwell { lasting_q16: 65_536, rest_q16: 0 };
}

/// What long rests take away of wear that had lasted (`cell.population.rest_recovery`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest {
    /// Share of all damage that lasts after full recovery, in 1/65536: no rest leaves less.
    pub floor_q16: u32,
    /// Share of what lasts beyond that which a rest takes away, in 1/65536: each octave of ticks in 32 steps. Empty if
    /// none takes anything.
    pub shares_q16: Vec<u32>,
}

/// Steps of an octave, as a power of two.
const STEPS_SHIFT: u32 = 5;

impl Rest {
    /// Ticks at which a step of the table begins.
    pub(crate) fn ticks_of(step: u32) -> u64 {
        let (octave, part) = (step >> STEPS_SHIFT, u64::from(step & ((1 << STEPS_SHIFT) - 1)));
        (((1 << STEPS_SHIFT) + part) << octave) >> STEPS_SHIFT
    }

    /// The step that so many ticks lie in, at least 1 tick.
    fn step_of(ticks: u32) -> u32 {
        let octave = ticks.ilog2();
        let part = (u64::from(ticks) << STEPS_SHIFT >> octave) as u32 & ((1 << STEPS_SHIFT) - 1);
        (octave << STEPS_SHIFT) + part
    }

    #[inline]
    fn share_q16(&self, ticks: u32) -> u32 {
        match self.shares_q16.len() {
            0 => 0,
            steps => self.shares_q16[(Rest::step_of(ticks.max(1)) as usize).min(steps - 1)],
        }
    }
}

/// A number up to 1 (2^32) so many times itself.
fn power_q32(mut base: u64, mut times: u32) -> u64 {
    let product = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 32) as u64;
    let mut power = 1 << 32;
    while times > 0 {
        if times & 1 == 1 {
            power = product(power, base);
        }
        base = product(base, base);
        times >>= 1;
    }
    power
}

/// A page's place, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

impl Place {
    pub(crate) fn new(wordline: u32, page_type: u8, group: u8) -> Self {
        Place(wordline << 4 | u32::from(page_type) << 2 | u32::from(group))
    }
    #[inline]
    pub(crate) fn wordline(self) -> usize {
        (self.0 >> 4) as usize
    }
    #[inline]
    pub(crate) fn page_type(self) -> usize {
        (self.0 >> 2 & 3) as usize
    }
    #[inline]
    pub(crate) fn group(self) -> usize {
        (self.0 & 3) as usize
    }
}

/// What a block is by birth (calibration section 4.2), fixed point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Equivalent cycles of the unworn block, in 1/16 cycle; negative for a good one.
    pub born_q4: i32,
    /// Equivalent cycles for each cycle.
    pub growth_q16: u32,
    /// Unworn N12, in bits.
    pub n12_q16: i32,
    /// N12 gained with each cycle, in bits.
    pub n12_growth_q32: u32,
    /// What its erases need more, in pulses.
    pub erase_q16: i32,
    /// Errors it has more when fresh, in bits.
    pub fresh_q16: i32,
    /// What its programs take longer, in ns.
    pub program_ns: i32,
    /// exp(-x) of the part of the early loss that it was born with.
    pub early_q24: u32,
}

/// What a read must not exceed.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    /// Errors of a sector that are corrected, in 1/256 bit.
    pub bits_q8: u32,
    /// The chance that all sectors of a page have no more.
    pub odds: ReadOdds,
}

/// A step of soft sensing.
#[derive(Clone, Debug)]
pub(crate) struct Soft {
    /// Index into `cell.ecc.level_steps`.
    pub step: u8,
    pub limit: Limit,
}

/// What depends on the program mode; blocks of one bit a cell are the last.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    /// Where the pages of its blocks begin in [`Tables::places`].
    pub places: u32,
    /// What its wordlines endure.
    pub endurance: Arc<Endurance>,
    /// Telegraph noise of a read, in 1/256 bit: even up to plus and minus this.
    pub noise_q8: i32,
    /// Its errors: index into [`Tables::errors`].
    pub errors: usize,
    /// With as many levels as the mode is read with.
    pub own: Limit,
    /// Soft steps beyond that, in the order they are tried.
    pub soft: Vec<Soft>,
    /// Harm of a reading of each page type, in units of the read counters.
    pub weights: [u32; 4],
    /// The same on average over page types, in 1/65536 of them.
    pub even_weight_q16: u64,
    /// Readings that so many attempts make.
    pub readings: Vec<u32>,
    /// Wear of a cycle, in [`CYCLE`].
    pub wear: u64,
    /// Program time over that of the normal mode, in 1/65536.
    pub program_q16: u32,
}

/// Errors by state.
#[derive(Clone, Debug)]
pub(crate) enum Errors {
    /// Of still cells; reads add to them in proportion.
    Still(StillTable),
    /// Reads move the erased state.
    Moved(CellTable),
}

impl Errors {
    /// Bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Errors::Still(table) => table.bytes(),
            Errors::Moved(table) => table.bytes(),
        }
    }
}

/// Effective reads by group and cycles (calibration section 2.3).
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Endurance {
    /// alpha at no cycles, in 1/65536.
    pub adjacent_q16: [i64; 4],
    /// What alpha gains with a cycle, in 1/2^32.
    pub gain_q32: i64,
    /// ERC_MAX in units of the read counters: every 64 cycles, by group.
    pub most: Vec<[u64; 4]>,
}

impl Endurance {
    /// Harm of a neighbour's read over that of another wordline (alpha), in 1/65536.
    #[inline]
    pub(crate) fn adjacent_q16(&self, group: usize, cycles: u32) -> u64 {
        let gain = (self.gain_q32 * i64::from(cycles)) >> 16;
        (self.adjacent_q16[group] + gain).max(65_536) as u64
    }

    /// Effective reads that a wordline endures, in units of the read counters.
    #[inline]
    pub(crate) fn most(&self, group: usize, cycles: u32) -> u64 {
        let at = ((cycles >> ERC_SHIFT) as usize).min(self.most.len() - 2);
        let part = u64::from(cycles - ((at as u32) << ERC_SHIFT)).min(1 << ERC_SHIFT);
        let (low, high) = (self.most[at][group], self.most[at + 1][group]);
        low - (((low - high) * part) >> ERC_SHIFT)
    }
}

/// What can be seen of wear (calibration section 4.2), fixed point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Share of done damage in what is visible, in 1/65536.
    pub done_share_q16: u32,
    /// Pulses at no visible damage.
    pub erase_base_q16: i64,
    /// Pulses for each bit of visible N12.
    pub erase_per_bit_q24: i64,
    /// Steps of a pulse.
    pub erase_fine: i64,
    /// Fresh errors at no visible damage, with the average block's N12 taken off.
    pub fresh_base_q16: i64,
    /// Fresh errors for each bit of visible N12.
    pub fresh_per_bit_q24: i64,
    /// Program time of an unworn block, in ns.
    pub program_ns: i64,
    /// What it loses early, in ns.
    pub early_ns: i64,
    /// 1 over the bits in which it loses that, in 1/2^32.
    pub early_per_bit_q32: u64,
    /// What it loses steadily, in 1/65536 ns for each bit.
    pub late_ns_per_bit_q16: i64,
    /// Share of what a block was born with that counts as wear of programs, and the N12 it is counted from.
    pub program_share_q16: i64,
    /// See `program_share_q16`.
    pub program_n12_q16: i64,
    /// exp(-i/256) in 1/2^24.
    pub falling_exp: Vec<u32>,
    /// Program time (normal mode) and erase pulses of an unworn average block.
    pub nominal_program_ns: u32,
    /// See `nominal_program_ns`.
    pub nominal_pulses: u32,
}

/// All that is fixed.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// The cells themselves, for steps of the `age` grammar: never used in the event loop.
    pub model: CellModel,
    /// Pages of a block in program order, and after them those of a block of one bit a cell, if there are such.
    pub places: Vec<Place>,
    /// Pages of a block that uses all bits of its cells.
    pub pages: u32,
    pub wordlines: u32,
    pub errors: Vec<Arc<Errors>>,
    pub modes: Vec<Mode>,
    /// Entries of the retry table, the first included.
    pub entries: u8,
    /// Whether the voltages between them are known, too, in quarters of a step.
    pub parts: bool,
    /// Readings of the attempt that finds the best voltages; 0: there is none.
    pub tracking: u32,
    /// What a page's count of the errors that it carries goes by, in 1/256 bit: so fine that its end is just more than
    /// is ever corrected.
    pub carried_unit_q8: u32,
    /// Whether sectors are drawn around the mean (or the model's errors are those of the worst).
    pub drawn: bool,
    /// Whether reads are counted for each wordline.
    pub by_wordline: bool,
    /// Whether times of the array follow wear.
    pub worn_times: bool,
    /// Units of the read counters for one read of the worst page type in the normal mode.
    pub unit: u32,
    /// The mode of blocks of one bit a cell, if there are such. Then cycles are counted by the damage they did.
    pub one_bit: Option<u8>,
    /// Share of a cycle's wear that lasts, in 1/65536, by ticks of dwell.
    pub dwell_q16: Vec<u32>,
    /// What long dwells do beside.
    pub rest: Rest,
    /// Ticks of the clock for each ns of simulated time, in 1/2^64.
    pub ticks_q64: u64,
    pub seen: Seen,
    /// By suspends at once of an erase: factor on errors, in 1/4096, and what it wears more, in [`CYCLE`].
    pub suspended_q12: Vec<u32>,
    pub suspend_wear: Vec<u64>,
    /// What it makes of a block's errors that it waited for its first program, if anything.
    pub open: OpenInterval,
    /// Blocks, or one for all where they do not differ.
    pub traits: Vec<Traits>,
}

/// Steps of the factor on errors by the time from the erase of a block to its first program, all alike; none if that
/// does nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenInterval {
    /// Ticks of the clock up to which a step holds.
    pub until: Vec<u32>,
    /// Factor of each, in 1/4096.
    pub factor_q12: Vec<u32>,
}

impl OpenInterval {
    /// The step of so many ticks.
    pub fn step(&self, ticks: u32) -> u8 {
        self.until.partition_point(|&until| until < ticks).min(usize::from(u8::MAX)) as u8
    }
}

impl Tables {
    #[inline]
    pub(crate) fn traits(&self, block: u32) -> &Traits {
        if self.traits.len() == 1 { &self.traits[0] } else { &self.traits[block as usize] }
    }

    /// A set of voltages: its place on the line of the retry table, in quarters of its step, and above
    /// [`LOWEST_SHIFT`] where its lowest reference lies apart. Places are the entries, the best voltages, and (`parts`)
    /// what lies between the entries.
    #[inline]
    pub(crate) fn set_at(&self, set: Voltages) -> usize {
        self.place_at(set.place()) | usize::from(set.lowest()) << LOWEST_SHIFT
    }

    /// The same of a set that lies on the line as a whole.
    #[inline]
    pub(crate) fn place_at(&self, place: u8) -> usize {
        let (entry, part) = (usize::from(place >> PARTS_SHIFT), usize::from(place & (PARTS - 1)));
        let entries = usize::from(self.entries);
        debug_assert!(entry < entries, "entry {entry} of the retry table, which has {entries}");
        if part == 0 {
            return entry;
        }
        assert!(
            self.parts && entry + 1 < entries,
            "voltages between two entries that the tables do not know"
        );
        entries + 1 + entry * usize::from(PARTS - 1) + part - 1
    }

    /// What so many ticks between two erases leave.
    #[inline]
    pub(crate) fn dwell(&self, ticks: u32) -> Dwell {
        Dwell {
            lasting_q16: self.dwell_q16[(ticks as usize).min(self.dwell_q16.len() - 1)],
            rest_q16: self.rest.share_q16(ticks),
        }
    }

    /// What lasts of all damage after so many rests of a length.
    #[inline]
    pub(crate) fn rested(&self, done: u64, lasting: u64, dwell: Dwell, times: u32) -> u64 {
        if dwell.rest_q16 == 0 {
            return lasting;
        }
        let floor = ((u128::from(done) * u128::from(self.rest.floor_q16)) >> 16) as u64;
        let kept_q32 = power_q32(u64::from(65_536 - dwell.rest_q16) << 16, times);
        let beyond = lasting.saturating_sub(floor);
        lasting - beyond + ((u128::from(beyond) * u128::from(kept_q32)) >> 32) as u64
    }

    /// What wordlines endure, of the part's own modes and of one bit a cell.
    fn endurances(&self) -> impl Iterator<Item = &Endurance> {
        let one_bit = self.one_bit.map(|mode| &self.modes[usize::from(mode)]);
        self.modes.first().into_iter().chain(one_bit).map(|mode| &*mode.endurance)
    }

    /// Bytes of the tables.
    pub(crate) fn bytes(&self) -> usize {
        self.errors.iter().map(|of| of.bytes()).sum::<usize>()
            + self.places.len() * size_of::<Place>()
            + self.traits.len() * size_of::<Traits>()
            + self.endurances().map(|of| of.most.len() * size_of::<[u64; 4]>()).sum::<usize>()
            + (self.dwell_q16.len() + self.rest.shares_q16.len() + self.seen.falling_exp.len()) * 4
    }
}
