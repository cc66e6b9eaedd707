//! The model as integer tables: errors of a sector by wear, retention and reads, and the odds of needing retries.
//!
//! A table is built once, for one part. The event loop asks it with integers and gets integers.
//!
//! - **Axes.** Wear (in cycles) has eight points for each doubling, retention (in minutes at the reference
//!   temperature) two; beyond the last point the last one holds. Between two points the part is that of the logarithm.
//! - **Errors** are stored as logarithms, because they grow like the tail of a normal distribution: 16 bits in steps of
//!   1/2048 of a doubling. A table for each page type holds all that does not depend on reads.
//! - **Reads** move only the erased state. What it spills over threshold 1 is the tail above a z that falls with
//!   effective reads in proportion, so two tables (z and its fall) and the tail's own do. Only the best references,
//!   which move with reads themselves, need a third axis: 32 points for each ERC_MAX.
//! - **Error.** Against the exact model at most 1 % of the errors or 0.2 bit (tested at random points of all parts).
//! - **Memory.** [`CellTable::bytes`]; for TLC up to 16K cycles and 10 years 44 KiB for each height and entry of the
//!   retry table, 0.6 MiB for each height with the best references.
//! - **Time**, on a busy machine of 2 cores: 6 ns to locate a state, 10 ns for a page type without threshold 1, 20 ns
//!   for the one with it; 0.13 s to build four heights and eight entries.

mod lowest;

use super::normal::tail;
use super::sector::binomial_at_most;
use super::{CellModel, CellState, Distribution, MAX_STATES};
use lowest::Lowest;

/// Points of the axis of effective reads for each ERC_MAX.
const ERC_POINTS: u32 = 32;
/// Highest effective reads, in ERC_MAX.
const ERC_MOST: u32 = 2;
/// Points of that axis.
const ERC_AXIS: u32 = ERC_POINTS * ERC_MOST + 1;
/// Lowest z of the tail's table.
const Z_LOW: f64 = -8.0;
/// Steps of z in 16 bits.
const Z_STEPS: f64 = 1_024.0;
/// Steps of the fall of z for each ERC_MAX in 16 bits.
const FALL_STEPS: f64 = 4_096.0;
/// Steps of z between two entries of the tail's table.
const TAIL_SHIFT: u32 = 5;
/// Entries of the tail's table: up to z = 24, where nothing is left.
const TAIL_POINTS: u32 = (32 * 1_024) >> TAIL_SHIFT;
/// One ERC_MAX on the integer scale.
pub const ERC_ONE: u32 = 4_096;
/// A factor of 1 on the integer scale of factors.
pub const FACTOR_ONE: u32 = 65_536;
/// Doublings below one error that the logarithm still tells apart.
const FLOOR: f64 = 12.0;
/// Steps of the logarithm for each doubling.
const LOG_STEPS: f64 = 2_048.0;

/// Which references a page is read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceSet {
    /// An entry of the retry table; 0 is the default read.
    Entry(u32),
    /// So many quarters of a step of the retry table from its first entry, on the line that its entries lie on.
    Quarters(u32),
    /// The best ones for the state the cells are in.
    Optimal,
}

impl ReferenceSet {
    /// Steps of the retry table from its first entry, whole or not; `None` of what does not lie on its line.
    pub(super) fn steps(self) -> Option<f64> {
        match self {
            ReferenceSet::Entry(entry) => Some(f64::from(entry)),
            ReferenceSet::Quarters(place) => Some(f64::from(place) / 4.0),
            ReferenceSet::Optimal => None,
        }
    }
}

/// What to tabulate.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePlan {
    /// Heights of wordlines, or of groups of them.
    pub heights: Vec<f64>,
    /// Reference sets.
    pub sets: Vec<ReferenceSet>,
    /// Highest wear, in cycles.
    pub most_cycles: u32,
    /// Cycles of the part that do as much as one of these.
    pub cycles: f64,
    /// Longest retention, in minutes at the reference temperature.
    pub most_minutes: u32,
    /// Program mode.
    pub mode: usize,
    /// How much warmer the read is than the program, in degrees C.
    pub warmer_c: f64,
    /// Whether the lowest reference may lie apart from the line ([`CellTable::apart_bits_q8`]).
    pub apart: bool,
}

/// An axis with `1 << fine` points for each doubling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    fine: u32,
    pub(super) points: u32,
}

/// Between which points of an axis a value lies: lower point, and how far from it in 1/65536.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Between {
    point: u32,
    part: u32,
}

impl Axis {
    pub(super) fn up_to(most: u32, fine: u32) -> Self {
        let mut axis = Axis { fine, points: u32::MAX };
        axis.points = axis.locate(most).point + 2;
        axis
    }

    pub(super) fn value(self, point: u32) -> u64 {
        let in_octave = 1 << self.fine;
        if point < in_octave {
            return u64::from(point);
        }
        u64::from(in_octave + (point & (in_octave - 1))) << ((point >> self.fine) - 1)
    }

    /// The part is that on a scale of logarithms, on which the model is straighter: p + p (1 - p) / (2 m + 1), with m
    /// the lower point in steps of its doubling, is ln(1 + p/m) / ln(1 + 1/m) to a thousandth.
    #[inline]
    pub(super) fn locate(self, x: u32) -> Between {
        if x < 1 << self.fine {
            return Between { point: x, part: 0 }.within(self.points);
        }
        let shift = x.ilog2() - self.fine;
        let steps = x >> shift;
        let part = u64::from(x & ((1 << shift) - 1)) << 16 >> shift;
        let bulge = ((part * (65_536 - part)) >> 16) * u64::from(BULGE[steps as usize]);
        let point = (shift << self.fine) + steps;
        Between { point, part: (part + (bulge >> 16)) as u32 }.within(self.points)
    }
}

impl Between {
    /// The last point of the axis for what lies beyond it.
    #[inline]
    fn within(self, points: u32) -> Self {
        if self.point < points - 1 { self } else { Between { point: points - 2, part: FACTOR_ONE } }
    }
}

/// A point of the table: where wear, retention and effective reads lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TablePoint {
    wear: Between,
    retention: Between,
    erc: u32,
}

/// Four neighbouring points of wear and retention.
pub(super) struct Square {
    pub(super) cell: usize,
    row: usize,
    worn: u32,
    aged: u32,
}

impl Square {
    #[inline]
    pub(super) fn of(wear: &Between, time: &Between, axis: Axis) -> Self {
        let row = axis.points as usize;
        Square {
            cell: wear.point as usize * row + time.point as usize,
            row,
            worn: wear.part,
            aged: time.part,
        }
    }

    #[inline]
    pub(super) fn value(&self, at: impl Fn(usize) -> i64) -> i64 {
        let young = between(at(self.cell), at(self.cell + self.row), self.worn);
        let old = between(at(self.cell + 1), at(self.cell + self.row + 1), self.worn);
        between(young, old, self.aged)
    }
}

/// Errors of a sector as integers.
#[derive(Clone, Debug, PartialEq)]
pub struct CellTable {
    wear: Axis,
    retention: Axis,
    /// For each height, its reference sets.
    tables: Vec<SetTable>,
    /// For each height, its sets with the lowest reference apart; none if there are no such.
    lowest: Vec<Lowest>,
    sets: usize,
    /// The page type that senses threshold 1.
    low_page: usize,
    /// Logarithm of the tail above z, and of nothing else.
    tail: Vec<i32>,
    powers: Powers,
}

/// 2^(i/256) in 1/2^24: what turns logarithms into errors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Powers(Vec<u32>);

impl Powers {
    pub(super) fn new() -> Self {
        let power = |i: u32| libm::round(libm::exp2(f64::from(i) / 256.0) * 16_777_216.0) as u32;
        Powers((0..=256).map(power).collect())
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.len() * 4
    }

    /// Errors in 1/256 bit from a logarithm in 1/256 of its steps.
    #[inline]
    pub(super) fn bits_q8(&self, log: i64) -> u32 {
        let (octave, part) = (log >> 19, (log & 0x7_ffff) as u64);
        let (at, between) = ((part >> 11) as usize, part & 0x7ff);
        let (low, high) = (u64::from(self.0[at]), u64::from(self.0[at + 1]));
        let mantissa = low + (((high - low) * between) >> 11);
        // 24 bits of mantissa, 12 doublings below one error, 8 bits of fraction.
        ((mantissa << 4) >> (32 - octave.min(31))) as u32
    }
}

/// The tables of a height and a reference set.
#[derive(Clone, Debug, PartialEq)]
struct SetTable {
    /// Logarithm of errors: page type, wear, retention.
    pages: Vec<u16>,
    reads: Reads,
}

/// What depends on reads.
#[derive(Clone, Debug, PartialEq)]
enum Reads {
    /// z of the erased state at threshold 1, and its fall with reads: wear, retention.
    Fixed {
        places: Vec<[u16; 2]>,
        /// Logarithm of the errors if all cells were beyond.
        whole: i64,
    },
    /// Logarithm of errors at threshold 1: wear, retention, effective reads.
    Tracked(Vec<u16>),
}

/// 65536 / (2 m + 1), for [`Axis::locate`].
const BULGE: [u32; 16] =
    [65_536, 21_845, 13_107, 9362, 7282, 5958, 5041, 4369, 3855, 3449, 3121, 2849, 2621, 2427, 2260, 2114];

/// Errors as they are stored.
pub(super) fn to_log(bits: f64) -> u16 {
    to_u16((libm::log2(bits.max(1e-12)) + FLOOR) * LOG_STEPS)
}

fn to_u16(steps: f64) -> u16 {
    libm::round(steps).clamp(0.0, f64::from(u16::MAX)) as u16
}

/// Logarithms of the tail above z, in 1/256 of their steps.
fn tail_logs() -> Vec<i32> {
    let step = f64::from(1 << TAIL_SHIFT) / Z_STEPS;
    let log = |point: u32| libm::log2(tail(Z_LOW + f64::from(point) * step).max(1e-290)) * LOG_STEPS * 256.0;
    (0..=TAIL_POINTS).map(|point| libm::round(log(point)) as i32).collect()
}

/// Logarithm of the errors if all cells of a state were beyond a reference, in 1/256 of its steps.
fn whole_of(model: &CellModel, fresh: &CellState) -> i64 {
    let whole = model.sector_bits(model.distribution(fresh).factor / model.states() as f64);
    libm::round((libm::log2(whole) + FLOOR) * LOG_STEPS * 256.0) as i64
}

#[inline]
fn between(a: i64, b: i64, part: u32) -> i64 {
    a + (((b - a) * i64::from(part)) >> 16)
}

impl CellTable {
    /// Tabulates a part.
    pub fn new(model: &CellModel, plan: &TablePlan) -> Self {
        let mut table = CellTable {
            wear: Axis::up_to(plan.most_cycles, 3),
            retention: Axis::up_to(plan.most_minutes, 1),
            tables: Vec::new(),
            lowest: Vec::new(),
            sets: plan.sets.len(),
            low_page: model.lowest_page(),
            tail: tail_logs(),
            powers: Powers::new(),
        };
        let fresh = CellState {
            read_c: CellState::default().program_c + plan.warmer_c,
            mode: plan.mode,
            ..CellState::default()
        };
        for &height in &plan.heights {
            let fresh = CellState { height, ..fresh };
            for set in &plan.sets {
                let tables = match set.steps() {
                    Some(steps) => table.fixed(model, &fresh, plan.cycles, steps),
                    None => table.tracked(model, &fresh, plan.cycles),
                };
                table.tables.push(tables);
            }
            if plan.apart {
                table.lowest.push(table.lowest_of(model, &fresh, plan));
            }
        }
        table
    }

    /// Distributions at the points of wear and retention, in the order of storage; with the wear.
    fn states<'a>(
        &self,
        model: &'a CellModel,
        fresh: &'a CellState,
        cycles: f64,
    ) -> impl Iterator<Item = (f64, Distribution)> + 'a {
        let (wear, time) = (self.wear, self.retention);
        (0..wear.points).flat_map(move |point| {
            let kcycles = wear.value(point) as f64 * cycles / 1000.0;
            let worn = model.worn(kcycles);
            (0..time.points).map(move |aged| {
                let retention_hours = time.value(aged) as f64 / 60.0;
                (kcycles, model.distribution_of(&worn, &CellState { retention_hours, ..*fresh }))
            })
        })
    }

    /// So many steps of the retry table from its first entry.
    fn fixed(&self, model: &CellModel, fresh: &CellState, cycles: f64, steps: f64) -> SetTable {
        let points = (self.wear.points * self.retention.points) as usize;
        let mut pages = vec![0; points * model.page_types()];
        let mut places = Vec::with_capacity(points);
        let (mut worn, mut references) = (-1.0, [0.0; MAX_STATES]);
        for (cell, (wear, cells)) in self.states(model, fresh, cycles).enumerate() {
            if wear != worn {
                let state = CellState { wear_kcycles: wear, mode: fresh.mode, ..CellState::default() };
                let programmed = model.distribution(&state);
                (worn, references) = (wear, model.step_references(&programmed, fresh.mode, steps));
            }
            for (page, thresholds) in model.code().iter().enumerate() {
                let errors = |&threshold: &u32| match threshold {
                    1 => cells.spill_down(1, references[1]),
                    _ => cells.overlap(threshold as usize, references[threshold as usize]),
                };
                pages[page * points + cell] = to_log(model.sector_bits(thresholds.iter().map(errors).sum()));
            }
            let z = (references[1] - cells.mean[0]) / cells.sigma[0];
            let fall = model.erased_shift_v(wear) / cells.sigma[0];
            places.push([to_u16((z - Z_LOW) * Z_STEPS), to_u16(fall * FALL_STEPS)]);
        }
        SetTable { pages, reads: Reads::Fixed { places, whole: whole_of(model, fresh) } }
    }

    /// The best references.
    fn tracked(&self, model: &CellModel, fresh: &CellState, cycles: f64) -> SetTable {
        let points = (self.wear.points * self.retention.points) as usize;
        let mut pages = vec![0; points * model.page_types()];
        for (cell, (_, cells)) in self.states(model, fresh, cycles).enumerate() {
            for (page, thresholds) in model.code().iter().enumerate() {
                let others =
                    thresholds.iter().filter(|&&threshold| threshold != 1).map(|&other| other as usize);
                let rber = others
                    .map(|threshold| cells.overlap(threshold, cells.optimal_reference(threshold)))
                    .sum();
                pages[page * points + cell] = to_log(model.sector_bits(rber));
            }
        }
        let mut logs = Vec::with_capacity((self.wear.points * self.retention.points * ERC_AXIS) as usize);
        for (wear, mut cells) in self.states(model, fresh, cycles) {
            let (still, rise) = (cells.mean[0], model.erased_shift_v(wear));
            for erc in 0..ERC_AXIS {
                cells.mean[0] = still + rise * f64::from(erc) / f64::from(ERC_POINTS);
                logs.push(to_log(model.sector_bits(cells.overlap(1, cells.optimal_reference(1)))));
            }
        }
        SetTable { pages, reads: Reads::Tracked(logs) }
    }

    /// Memory of the tables, in bytes.
    pub fn bytes(&self) -> usize {
        let set = |table: &SetTable| {
            let reads = match &table.reads {
                Reads::Fixed { places, .. } => places.len() * 4,
                Reads::Tracked(logs) => logs.len() * 2,
            };
            table.pages.len() * 2 + reads
        };
        let lowest: usize = self.lowest.iter().map(Lowest::bytes).sum();
        self.tables.iter().map(set).sum::<usize>() + lowest + self.tail.len() * 4 + self.powers.bytes()
    }

    /// Where a state lies: wear in cycles, retention in minutes at the reference temperature, effective reads in
    /// 1/[`ERC_ONE`] of ERC_MAX.
    #[inline]
    pub fn locate(&self, cycles: u32, minutes: u32, erc: u32) -> TablePoint {
        TablePoint {
            wear: self.wear.locate(cycles),
            retention: self.retention.locate(minutes),
            erc: erc.min(ERC_ONE * ERC_MOST),
        }
    }

    /// Mean errors of a sector in 1/256 bit: of a height and reference set of the plan, and a page type.
    #[inline]
    pub fn sector_bits_q8(&self, height: usize, set: usize, page: usize, at: &TablePoint) -> u32 {
        let table = &self.tables[height * self.sets + set];
        let square = Square::of(&at.wear, &at.retention, self.retention);
        let points = (self.wear.points * self.retention.points) as usize;
        let plane = &table.pages[page * points..];
        let still = self.powers.bits_q8(square.value(|cell| i64::from(plane[cell]) << 8));
        if page != self.low_page {
            return still;
        }
        still
            + match &table.reads {
                Reads::Fixed { places, whole } => {
                    let z = square.value(|cell| i64::from(places[cell][0]) << 8);
                    let fall = square.value(|cell| i64::from(places[cell][1]));
                    self.powers.bits_q8((self.tail_log(z - ((fall * i64::from(at.erc)) >> 6)) + whole).max(0))
                }
                Reads::Tracked(logs) => {
                    let point = (at.erc * ERC_POINTS / ERC_ONE).min(ERC_AXIS - 2);
                    let part = (at.erc * ERC_POINTS - point * ERC_ONE) * (FACTOR_ONE / ERC_ONE);
                    self.powers.bits_q8(square.value(|cell| {
                        let low = cell * ERC_AXIS as usize + point as usize;
                        between(i64::from(logs[low]) << 8, i64::from(logs[low + 1]) << 8, part)
                    }))
                }
            }
    }

    /// Logarithm of the tail above z, which is in 1/256 of its steps.
    #[inline]
    fn tail_log(&self, z: i64) -> i64 {
        let z = z.clamp(0, (i64::from(TAIL_POINTS) << (TAIL_SHIFT + 8)) - 1);
        let (point, part) = ((z >> (TAIL_SHIFT + 8)) as usize, z & ((1 << (TAIL_SHIFT + 8)) - 1));
        let (low, high) = (i64::from(self.tail[point]), i64::from(self.tail[point + 1]));
        low + (((high - low) * part) >> (TAIL_SHIFT + 8))
    }

    /// Attempts that fail before one reads the page: its sets in the order of the plan. `chance` is an even 32-bit
    /// variable, the same weak cells for all attempts; `factor` multiplies errors, in 1/[`FACTOR_ONE`].
    /// `None`: all fail.
    pub fn retries(&self, odds: &ReadOdds, read: &PageRead, chance: u32) -> Option<u32> {
        (0..self.sets as u32).find(|&set| chance < odds.read(self.scaled(set as usize, read)))
    }

    #[inline]
    fn scaled(&self, set: usize, read: &PageRead) -> u32 {
        let bits = u64::from(self.sector_bits_q8(read.height, set, read.page, &read.at));
        ((bits * u64::from(read.factor)) >> 16).min(u64::from(u32::MAX)) as u32
    }

    /// The same for many reads of one state: a row to be kept.
    pub fn retry_row(&self, odds: &ReadOdds, read: &PageRead) -> RetryRow {
        let mut row = RetryRow { at_most: [0; RetryRow::MOST], sets: self.sets.min(RetryRow::MOST) as u32 };
        let mut best = 0;
        for set in 0..row.sets as usize {
            best = odds.read(self.scaled(set, read)).max(best);
            row.at_most[set] = best;
        }
        row
    }
}

/// A read of a page, for [`CellTable::retries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRead {
    /// Height, by its place in the plan.
    pub height: usize,
    /// Page type.
    pub page: usize,
    /// State of the cells.
    pub at: TablePoint,
    /// Factor on errors from the open interval and suspends, in 1/[`FACTOR_ONE`].
    pub factor: u32,
}

/// Chances that a read needs at most so many retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryRow {
    at_most: [u32; RetryRow::MOST],
    sets: u32,
}

impl RetryRow {
    /// Most attempts of a row.
    pub const MOST: usize = 16;

    /// Attempts that fail before one succeeds, for an even 32-bit variable; `None`: all fail.
    #[inline]
    pub fn retries(&self, chance: u32) -> Option<u32> {
        (0..self.sets).find(|&set| chance < self.at_most[set as usize])
    }

    /// Chance of at most so many retries, in 1/2^32.
    pub fn at_most(&self, retries: u32) -> u32 {
        self.at_most[(retries as usize).min(Self::MOST - 1)]
    }
}

/// Chance that all sectors of a page have few enough errors to be corrected, by their mean errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOdds {
    /// At each quarter of a bit, in 1/2^32.
    odds: Vec<u32>,
}

impl ReadOdds {
    /// For a limit in bits of a sector of `sector_bits`, and so many sectors in a page.
    pub fn new(limit: u32, sector_bits: u32, sectors: u32) -> Self {
        // Six standard deviations beyond the limit nothing is left.
        let most = f64::from(limit) + 12.0 * f64::from(limit + 9).sqrt();
        let points = 0..=(libm::ceil(most) as u32 * 4);
        let chance = |quarter: u32| {
            let rber = f64::from(quarter) / 4.0 / f64::from(sector_bits);
            libm::pow(binomial_at_most(sector_bits, rber, limit), f64::from(sectors))
        };
        ReadOdds { odds: points.map(|quarter| (chance(quarter) * f64::from(u32::MAX)) as u32).collect() }
    }

    /// Chance in 1/2^32 at mean errors in 1/256 bit.
    #[inline]
    pub fn read(&self, bits_q8: u32) -> u32 {
        let (at, part) = ((bits_q8 >> 6) as usize, i64::from(bits_q8 & 63));
        match self.odds.get(at..at + 2) {
            Some(pair) => {
                (i64::from(pair[0]) + (((i64::from(pair[1]) - i64::from(pair[0])) * part) >> 6)) as u32
            }
            None => 0,
        }
    }
}
