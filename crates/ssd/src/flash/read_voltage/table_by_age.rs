//! A table of voltages by age of the block, time since programming, group of the wordline and page type: BoundedRead.
//!
//! A cell of the table holds up to three sets of voltages, chosen when the drive is built from the exact model
//! ([`crate::nand::cell::sets`]): of every state in it that the best voltages would read with 4 bits to spare one of
//! the sets reads the page, telegraph noise included. The states of a cell are those of blocks whose true age lies in
//! the cell's, widened by what the fit of the marker is off (`cell.markers.*_off`: all but one block in a thousand). A
//! cell that three sets do not cover fails the build.
//!
//! The sets are voltages of their own, on the line of the chip's retry table in quarters of its step: at whole steps
//! alone some cells of TLC-48L and a third of those of QLC have states that no entry reads. Voltages off that line
//! would each need a table of errors for the chips to go by.
//!
//! Of the dimensions of the table (calibration section 5) temperature has one range, as no run changes it between
//! program and read. Reads have one under the linear law, by which they add the same errors to all voltages, and four
//! under the law of voltage, quarters of ERC_MAX as the counters of reads say: there the erased state rises with reads,
//! which nothing on the line of the retry table follows, and so the sets of the page type that senses the lowest
//! reference have one of their own, in steps of 20 mV. Three sets do then not do for all that the best voltages leave 4
//! bits in some of the 240 cells of ages, times and groups of the last quarter (9 of TLC-48L, 19 of MLC, some 26 of
//! QLC, none of MLC as HIRE has it) and in one or two of QLC's third: there they read what has 5 to 7 bits to spare.
//!
//! The limit is that of hard reads, though a part with modes of voltage may be read with more levels: then more than is
//! promised is read. The bound is of blocks in the normal mode whose erases were not suspended at once, of data up to
//! 12 months old, and of sectors that are the worst of their page; others are read with the same sets, and then by the
//! old order.

use super::{Member, RANGES};
use crate::memo::Memo;
use crate::nand::aging::{MOST_SETS, Margin, PARTS, PageAge, Sequence};
use crate::nand::cell::sets::{Demand, SetFinder, States};
use crate::nand::cell::{CellModel, CellPart, Group};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "table_by_age";
/// What it does.
pub const SUMMARY: &str =
    "up to three voltage sets for blocks of that age, one of which reads whatever can be read";
/// Where it comes from.
pub const SOURCE: &str =
    "RealWear section 3.4 (BoundedRead): the reference-voltage table (ORT) indexed by block age";
/// What it costs.
pub const MEMORY: &str = "8 bytes for each tenth of age, range of time, group and page type (5.6 KiB for TLC; four \
                          times that with the law `voltage`); a byte for each physical block";

/// Ranges of age, a tenth of a life each; what is older counts as the last.
const AGES: u32 = 10;
/// A life, on the scale of ages.
const LIFE: u32 = 1 << 12;
/// Where the last range of time ends that a bound is told for, in minutes: 12 months.
const END: u32 = 525_600;
/// Ranges of effective reads under the law of voltage, up to ERC_MAX; more count as the last.
const READS: u32 = 4;
/// What the best voltages leave to the limit where a set must read, in bits.
const SPARE_BITS: u32 = 4;
/// What they leave, in bits, where three sets do not do for more, because reads move the cells.
const SPARE_AT_WORST_BITS: u32 = 7;

section! {
    /// Parameters of `table_by_age`: none.
    pub struct Params {}
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    page_types: usize,
    /// Ranges of effective reads.
    reads: u32,
    /// Errors of a sector that the sets were chosen for, in 1/256 bit.
    #[serde(skip)]
    limit_q8: u32,
    /// By range of age: cycles of the average block that wear as much as blocks may that are told to be so old.
    wear: Vec<[u32; 2]>,
    /// Range of age, range of time, range of reads, group, page type.
    sets: Vec<Sequence>,
}

impl Policy {
    /// Builds it; [`Policy::learn`] fills the table.
    pub fn new(_: &Params) -> Self {
        Policy { page_types: 1, reads: 1, limit_q8: 0, wear: Vec::new(), sets: Vec::new() }
    }

    /// Cells of the table by how many sets they hold: one, two, three.
    pub fn cells_by_sets(&self) -> [usize; MOST_SETS] {
        core::array::from_fn(|at| self.sets.iter().filter(|sets| sets.sets().len() == at + 1).count())
    }

    /// Bytes of the table.
    pub fn bytes(&self) -> usize {
        self.sets.len() * size_of::<Sequence>()
    }
}

/// The true wear, in 1000 cycles of the average block, of blocks in a range of age; `off` is what N12 is less the
/// marker's estimate, in bits.
// tidy: allow(float): called when a drive is built
fn wear_of(cells: &CellModel, age: u32, off: [f64; 2]) -> [f64; 2] {
    let life = f64::from(cells.hard_limit_bits());
    let edge = |age: u32, off: f64| cells.wear_of_n12(f64::from(age) / f64::from(AGES) * life + off);
    [edge(age, off[0]), edge(age + 1, off[1])]
}

/// What is demanded of so many sets at most.
// tidy: allow(float): called when a drive is built
fn demand(most: usize) -> Demand {
    let [spare_bits, spare_at_worst_bits] = [SPARE_BITS, SPARE_AT_WORST_BITS].map(f64::from);
    Demand { spare_bits, spare_at_worst_bits, parts: PARTS, most }
}

/// The shares of ERC_MAX of a range of reads.
// tidy: allow(float): called when a drive is built
fn shares(range: u32) -> [f64; 2] {
    [range, range + 1].map(|at| f64::from(at) / f64::from(READS))
}

/// All that the table is made of.
#[derive(Clone, PartialEq)]
struct Ground {
    part: CellPart,
    off: [f64; 2], // tidy: allow(float): compared when a drive is built
    reads_move: bool,
}

/// The tables that were used last, and what could not be one.
static LEARNED: Memo<Ground, Result<Policy, String>> = Memo::new(8, |_| 1);

/// The policy with its table.
// tidy: allow(float): called when a drive is built
fn learned(cells: &CellModel, off: [f64; 2], reads_move: bool) -> Result<Policy, String> {
    let most = MOST_SETS.min(cells.part().retry.entries as usize + 1);
    let finder = SetFinder::new(cells, demand(most));
    let ranges: Vec<[f64; 2]> = (0..READS).filter(|_| reads_move).map(shares).collect();
    let (mut wear, mut sets) = (Vec::new(), Vec::new());
    for age in 0..AGES {
        let kcycles = wear_of(cells, age, off);
        wear.push([libm::ceil(kcycles[0] * 1e3) as u32, libm::floor(kcycles[1] * 1e3) as u32]);
        for (range, &begin) in RANGES[..RANGES.len() - 1].iter().enumerate() {
            let hours = [begin, RANGES[range + 1].min(END)].map(|minutes| f64::from(minutes) / 60.0);
            let found = finder.find(&States { kcycles, hours }, &ranges).map_err(|wrong| {
                let needed = wrong.needed.map_or_else(
                    || "no set reads one of its states".to_owned(),
                    |needed| format!("needs {needed} sets of voltages"),
                );
                format!(
                    "the cell of ages from .{age} on, {} to {} hours, group {:?}, page type {}: {needed}",
                    hours[0], hours[1], wrong.group, wrong.page
                )
            })?;
            sets.extend(found.iter().map(|sets| Sequence::new(sets)));
        }
    }
    let (page_types, reads) = (cells.page_types(), if reads_move { READS } else { 1 });
    Ok(Policy { page_types, reads, limit_q8: cells.hard_limit_bits() << 8, wear, sets })
}

impl Member for Policy {
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, cells: &CellModel, off: Option<[f64; 2]>, reads_move: bool) -> Result<(), String> {
        let Some(off) = off else { return Err("a marker that does not tell what it is off".to_owned()) };
        let ground = Ground { part: cells.part().clone(), off, reads_move };
        *self = LEARNED.get(ground, |_| learned(cells, off, reads_move))?;
        Ok(())
    }

    fn goes_by_age(&self) -> bool {
        true
    }

    fn age_range(&self, age_q12: u32) -> u8 {
        (age_q12 * AGES / LIFE).min(AGES - 1) as u8
    }

    fn promises(&self, age: &PageAge, margin: &Margin, cycles: u32) -> bool {
        let Some(&[least, most]) = self.wear.get(usize::from(age.age_range)) else { return false };
        // Only beyond half of ERC_MAX, where reads move cells, three sets do not always do.
        let spare_bits = if age.reads_q12 < 1 << 11 { SPARE_BITS } else { SPARE_AT_WORST_BITS };
        (least..=most).contains(&cycles)
            && age.minutes <= END
            && age.reads_q12 <= 1 << 12
            && margin.bits_q8 + spare_bits * 256 <= margin.limit_q8.min(self.limit_q8)
    }

    /// The sets of the page's age, ranges of time and of reads, group and type.
    #[inline]
    fn sequence(&self, age: &PageAge) -> Sequence {
        let ranges = RANGES.len() - 1;
        let range = RANGES[..ranges].iter().rposition(|&begin| begin <= age.minutes).unwrap_or(0);
        let quarter = (u64::from(age.reads_q12) * u64::from(self.reads)) >> 12;
        let quarter = quarter.min(u64::from(self.reads) - 1) as usize;
        let at = (usize::from(age.age_range) * ranges + range) * self.reads as usize + quarter;
        let at = at * Group::ALL.len() + usize::from(age.group);
        let sets = self.sets.get(at * self.page_types + usize::from(age.page_type));
        sets.copied().unwrap_or(Sequence::entry(0))
    }
}
