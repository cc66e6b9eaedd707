//! A table of voltages by age of the block, time since programming, group of the wordline and page type: BoundedRead.
//!
//! A cell of the table holds up to three sets of voltages, chosen when the drive is built from the exact model
//! ([`crate::nand::cell::sets`]): of every state in it that the best voltages would read with 4 bits to spare one of
//! the sets reads the page, telegraph noise included. The states of a cell are those of blocks whose true age lies in
//! the cell's, widened by what the fit of the marker is off (`cell.markers.*_off`: all but one block in a thousand). A
//! cell that three sets do not cover fails the build.
//!
//! The sets are voltages of their own, on the line of the chip's retry table in quarters of its step: at whole steps
//! alone two cells of TLC-48L and 231 of QLC have states that no entry reads, and six of TLC-48L need a fourth.
//! Voltages off that line would each need a table of errors for the chips to go by.
//!
//! Of the dimensions of the table (calibration section 5) two have one range each here: under the linear law of
//! disturb reads add the same errors to all voltages, and no run changes the temperature between program and read.
//! Where a law tells voltages apart the table is refused: the erased state rises with reads, and no entry of a retry
//! table, nor what lies between, follows it. Up to half of ERC_MAX three sets for each cell would do, and nearly
//! always one; beyond it there are states with 4 bits to spare that no set reads, always of the page type that senses
//! the lowest threshold. Of 60 cells of age and time they are in 12 of TLC-48L in the third quarter and in 59 in the
//! last; in 50 and 60 of MLC; in 51 and 50 of QLC. (MLC as HIRE has it, whose best voltages leave few states 4 bits,
//! has none.) That law takes voltages whose lowest reference moves apart from the others.
//!
//! The bound is of blocks in the normal mode whose erases were not suspended at once, of data up to 12 months old, and
//! of sectors that are the worst of their page; others are read with the same sets, and then by the old order.

use super::{Member, RANGES};
use crate::nand::aging::{MOST_SETS, PARTS, PageAge, Sequence};
use crate::nand::cell::sets::{Demand, SetFinder, States};
use crate::nand::cell::{CellModel, Group};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "table_by_age";
/// What it does.
pub const SUMMARY: &str =
    "up to three sets of voltages for blocks of that age: one of them reads all that can be read";
/// Where it comes from.
pub const SOURCE: &str =
    "RealWear section 3.4 (BoundedRead): the reference-voltage table (ORT) indexed by block age";
/// What it costs.
pub const MEMORY: &str = "4 bytes for each tenth of age, range of time, group and page type (2.8 KiB for TLC); a byte \
                          for each physical block";

/// Ranges of age, a tenth of a life each; what is older counts as the last.
const AGES: u32 = 10;
/// A life, on the scale of ages.
const LIFE: u32 = 1 << 12;
/// Where the last range of time ends that a bound is told for, in minutes: 12 months.
const END: u32 = 525_600;
/// What the best voltages leave to the limit where a set must read, in bits.
const SPARE_BITS: u32 = 4;

section! {
    /// Parameters of `table_by_age`: none.
    pub struct Params {}
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    page_types: usize,
    /// Range of age, range of time, group, page type.
    sets: Vec<Sequence>,
}

impl Policy {
    /// Builds it; [`Policy::learn`] fills the table.
    pub fn new(_: &Params) -> Self {
        Policy { page_types: 1, sets: Vec::new() }
    }

    /// Cells of the table by how many sets they hold: one, two, three.
    pub fn cells_by_sets(&self) -> [usize; MOST_SETS] {
        core::array::from_fn(|at| self.sets.iter().filter(|sets| sets.places().len() == at + 1).count())
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

impl Member for Policy {
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, cells: &CellModel, off: Option<[f64; 2]>) -> Result<(), String> {
        let Some(off) = off else { return Err("a marker that does not tell what it is off".to_owned()) };
        let most = MOST_SETS.min(cells.part().retry.entries as usize + 1);
        let finder = SetFinder::new(cells, Demand { spare_bits: f64::from(SPARE_BITS), parts: PARTS, most });
        self.page_types = cells.page_types();
        self.sets.clear();
        for age in 0..AGES {
            let kcycles = wear_of(cells, age, off);
            for (range, &begin) in RANGES[..RANGES.len() - 1].iter().enumerate() {
                let hours = [begin, RANGES[range + 1].min(END)].map(|minutes| f64::from(minutes) / 60.0);
                let found = finder.find(&States { kcycles, hours, reads: None }).map_err(|wrong| {
                    let needed = wrong.needed.map_or_else(
                        || "no set reads one of its states".to_owned(),
                        |needed| format!("needs {needed} sets of voltages"),
                    );
                    format!(
                        "the cell of ages from .{age} on, {} to {} hours, group {:?}, page type {}: {needed}",
                        hours[0], hours[1], wrong.group, wrong.page
                    )
                })?;
                self.sets.extend(found.iter().map(|sets| Sequence::new(sets)));
            }
        }
        Ok(())
    }

    fn goes_by_age(&self) -> bool {
        true
    }

    fn age_range(&self, age_q12: u32) -> u8 {
        (age_q12 * AGES / LIFE).min(AGES - 1) as u8
    }

    /// The sets of the page's age, range of time, group and type.
    #[inline]
    fn sequence(&self, age: &PageAge) -> Sequence {
        let ranges = RANGES.len() - 1;
        let range = RANGES[..ranges].iter().rposition(|&begin| begin <= age.minutes).unwrap_or(0);
        let at = (usize::from(age.age_range) * ranges + range) * Group::ALL.len() + usize::from(age.group);
        let sets = self.sets.get(at * self.page_types + usize::from(age.page_type));
        sets.copied().unwrap_or(Sequence::entry(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::cell::still::StillTable;
    use crate::nand::cell::table::{CellTable, ERC_ONE, ReferenceSet, TablePlan};
    use crate::rng::Rng;

    /// What `real_wear` is off.
    fn off(cells: &CellModel) -> Option<[f64; 2]> {
        let m = &cells.part().markers;
        let safety = m.guard_bits * m.real_wear.get(3)?;
        Some([m.real_wear_off.first()? - safety, m.real_wear_off.last()? - safety])
    }

    fn learned(part: &str) -> (CellModel, Policy) {
        let cells = CellModel::preset(part).expect("a shipped part");
        let mut policy = Policy::new(&Params {});
        policy.learn(&cells, off(&cells)).unwrap_or_else(|why| panic!("{part}: {why}"));
        (cells, policy)
    }

    /// All voltages on the line of the retry table, and the best ones after them, as the chips' tables have them.
    fn tables(cells: &CellModel) -> StillTable {
        let places = (0..=cells.part().retry.entries * u32::from(PARTS)).map(ReferenceSet::Quarters);
        StillTable::new(
            cells,
            &TablePlan {
                heights: Group::ALL.map(|group| cells.height_of(group)).to_vec(),
                sets: places.chain([ReferenceSet::Optimal]).collect(),
                most_cycles: 1 << 17,
                most_minutes: 1 << 27,
                mode: 0,
                cycles: 1.0,
                warmer_c: 0.0,
            },
        )
    }

    /// Cells of age and time that hold a state which no set on the line of the retry table reads, by quarters of
    /// ERC_MAX, when reads move the erased state.
    fn unread_by_reads(part: &str) -> [usize; 4] {
        let cells = CellModel::preset(part).expect("a shipped part");
        let off = off(&cells).expect("a marker");
        let finder = SetFinder::new(&cells, Demand { spare_bits: 4.0, parts: PARTS, most: MOST_SETS });
        let low = cells.code().iter().position(|thresholds| thresholds.contains(&1));
        let times = || RANGES.windows(2).map(|ends| [ends[0], ends[1]].map(|at| f64::from(at) / 60.0));
        let is_unread = |&(age, hours, quarter): &(u32, [f64; 2], u32)| {
            let reads = Some([quarter, quarter + 1].map(|at| f64::from(at) / 4.0));
            let found = finder.find(&States { kcycles: wear_of(&cells, age, off), hours, reads });
            found.err().is_some_and(|wrong| {
                assert_eq!(
                    (wrong.needed, Some(wrong.page)),
                    (None, low),
                    "{part}: .{age} {hours:?} {quarter}"
                );
                true
            })
        };
        core::array::from_fn(|quarter| {
            let ages = (0..AGES).flat_map(|age| times().map(move |hours| (age, hours, quarter as u32)));
            ages.filter(is_unread).count()
        })
    }

    /// Why the law of voltage is refused.
    #[test]
    fn retry_entries_do_not_follow_the_erased_state() {
        assert_eq!(unread_by_reads("tlc_48l"), [0, 0, 12, 59]);
        assert_eq!(unread_by_reads("mlc"), [0, 0, 50, 60]);
        assert_eq!(unread_by_reads("qlc"), [0, 0, 51, 50]);
        assert_eq!(unread_by_reads("mlc_hire"), [0; 4]);
    }

    /// The same by the table that a drive under that law reads by: TLC-48L after 1000 cycles, an hour old, worst group.
    #[test]
    fn a_drive_meets_what_no_entry_reads() {
        let cells = CellModel::preset("tlc_48l").expect("a shipped part");
        let places = cells.part().retry.entries * u32::from(PARTS) + 1;
        let table = CellTable::new(
            &cells,
            &TablePlan {
                heights: vec![cells.height_of(Group::Worst)],
                sets: (0..places).map(ReferenceSet::Quarters).chain([ReferenceSet::Optimal]).collect(),
                most_cycles: 2_000,
                most_minutes: 1_000,
                mode: 0,
                cycles: 1.0,
                warmer_c: 0.0,
            },
        );
        let limit_q8 = cells.hard_limit_bits() << 8;
        let low = cells.code().iter().position(|thresholds| thresholds.contains(&1)).expect("a page");
        let bits_q8 = |set: u32, quarters: u32| {
            table.sector_bits_q8(0, set as usize, low, &table.locate(1_000, 60, quarters * ERC_ONE / 4))
        };
        for (quarters, is_read) in [(0, true), (2, true), (4, false)] {
            let least = (0..places).map(|set| bits_q8(set, quarters)).min().expect("an entry");
            assert_eq!(least <= limit_q8, is_read, "{quarters}: {least}");
            assert!(bits_q8(places, quarters) + 4 * 256 <= limit_q8, "{quarters}");
        }
    }

    /// The bound, at random states of all cells: with the noise that is worst, and as many reads as leave 4 bits.
    #[test]
    fn what_leaves_four_bits_is_read_by_a_set_of_its_cell() {
        for (part, wanted) in [
            ("tlc_48l", ([358, 334, 28], 2_880)),
            ("mlc", ([480, 0, 0], 1_920)),
            ("mlc_hire", ([480, 0, 0], 1_920)),
            ("qlc", ([631, 289, 40], 3_840)),
            ("qlc_modes", ([631, 289, 40], 3_840)),
        ] {
            let (cells, policy) = learned(part);
            let (table, off) = (tables(&cells), off(&cells).expect("a marker"));
            let best = usize::from(cells.part().retry.entries as u8 * PARTS) + 1;
            let limit_q8 = cells.hard_limit_bits() << 8;
            let noise_q8 = (cells.part().effects.rtn_bits * 256.0) as u32;
            let mut rng = Rng::named(7, part);
            let mut seen = 0;
            for _ in 0..40_000 {
                let age_q12 = rng.below(LIFE);
                let wear = f64::from(age_q12) / f64::from(LIFE) * f64::from(cells.hard_limit_bits());
                let n12 = wear + off[0] + (off[1] - off[0]) * f64::from(rng.below(1_001)) / 1e3;
                let cycles = (cells.wear_of_n12(n12) * 1e3) as u32;
                let minutes = rng.below(END) >> rng.below(20);
                let (group, page) = (rng.below(4) as u8, rng.below(cells.page_types() as u32) as u8);
                let age_range = policy.age_range(age_q12);
                let age = PageAge { cycles, minutes, age_range, group, page_type: page };
                let row = table.row(usize::from(group), usize::from(page), table.locate(cycles, minutes));
                let best_q8 = table.sector_bits_q8(&row, best);
                if best_q8 + 4 * 256 > limit_q8 {
                    continue;
                }
                let with_noise = |&place: &u8| {
                    let bits_q8 = table.sector_bits_q8(&row, usize::from(place));
                    bits_q8 + bits_q8.min(noise_q8)
                };
                let least = policy.sequence(&age).places().iter().map(with_noise).min().expect("a set");
                assert!(least <= best_q8 + 4 * 256, "{part}: {age:?}: {least} {best_q8}");
                seen += 1;
            }
            assert!(seen > 5_000, "{part}: {seen}");
            assert_eq!((policy.cells_by_sets(), policy.bytes()), wanted, "{part}");
        }
    }
}
