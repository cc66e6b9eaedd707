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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::cell::still::StillTable;
    use crate::nand::cell::table::{CellTable, ERC_ONE, ReferenceSet, TablePlan};
    use crate::nand::cell::voltages::Voltages;
    use crate::rng::Rng;

    /// What `real_wear` is off.
    fn off(cells: &CellModel) -> Option<[f64; 2]> {
        let m = &cells.part().markers;
        let safety = m.guard_bits * m.real_wear.get(3)?;
        Some([m.real_wear_off.first()? - safety, m.real_wear_off.last()? - safety])
    }

    fn learned(part: &str, reads_move: bool) -> (CellModel, Policy) {
        let cells = CellModel::preset(part).expect("a shipped part");
        let mut policy = Policy::new(&Params {});
        policy.learn(&cells, off(&cells), reads_move).unwrap_or_else(|why| panic!("{part}: {why}"));
        (cells, policy)
    }

    /// Nothing of what is tabulated, for all groups.
    fn plan(cells: &CellModel) -> TablePlan {
        TablePlan {
            heights: Group::ALL.map(|group| cells.height_of(group)).to_vec(),
            sets: Vec::new(),
            most_cycles: 1 << 17,
            most_minutes: 1 << 27,
            mode: 0,
            cycles: 1.0,
            warmer_c: 0.0,
            apart: false,
        }
    }

    /// All voltages on the line of the retry table, and the best ones after them, as the chips' tables have them.
    fn tables(cells: &CellModel) -> StillTable {
        let places = (0..=cells.part().retry.entries * u32::from(PARTS)).map(ReferenceSet::Quarters);
        StillTable::new(
            cells,
            &TablePlan { sets: places.chain([ReferenceSet::Optimal]).collect(), ..plan(cells) },
        )
    }

    /// Sets on the line of the retry table, and the best voltages after them, by the tables that drives go by whose
    /// reads move cells.
    fn moving_tables(cells: &CellModel) -> CellTable {
        let places = cells.part().retry.entries * u32::from(PARTS) + 1;
        CellTable::new(
            cells,
            &TablePlan {
                sets: (0..places).map(ReferenceSet::Quarters).chain([ReferenceSet::Optimal]).collect(),
                apart: true,
                ..plan(cells)
            },
        )
    }

    /// Why the lowest reference lies apart where reads move cells: of TLC-48L after 1000 cycles, an hour old, worst
    /// group, nothing on the line of the retry table follows the erased state.
    #[test]
    fn no_retry_entry_follows_the_erased_state() {
        let cells = CellModel::preset("tlc_48l").expect("a shipped part");
        let table = moving_tables(&cells);
        let places = cells.part().retry.entries as usize * usize::from(PARTS) + 1;
        let limit_q8 = cells.hard_limit_bits() << 8;
        let bits_q8 = |set: usize, quarters: u32| {
            let at = table.locate(1_000, 60, quarters * ERC_ONE / 4);
            table.sector_bits_q8(Group::Worst.index(), set, cells.lowest_page(), &at)
        };
        for (quarters, is_read) in [(0, true), (2, true), (4, false)] {
            let least = (0..places).map(|set| bits_q8(set, quarters)).min().expect("an entry");
            assert_eq!(least <= limit_q8, is_read, "{quarters}: {least}");
            assert!(bits_q8(places, quarters) + 4 * 256 <= limit_q8, "{quarters}");
        }
    }

    /// Cycles, minutes and age of random data of blocks whose age is off by no more than the fit's residuals.
    fn random_age(cells: &CellModel, policy: &Policy, rng: &mut Rng) -> PageAge {
        let off = off(cells).expect("a marker");
        let age_q12 = rng.below(LIFE);
        let wear = f64::from(age_q12) / f64::from(LIFE) * f64::from(cells.hard_limit_bits());
        let n12 = wear + off[0] + (off[1] - off[0]) * f64::from(rng.below(1_001)) / 1e3;
        PageAge {
            cycles: (cells.wear_of_n12(n12) * 1e3) as u32,
            minutes: rng.below(END) >> rng.below(20),
            age_range: policy.age_range(age_q12),
            group: rng.below(4) as u8,
            page_type: rng.below(cells.page_types() as u32) as u8,
            reads_q12: 0,
        }
    }

    /// The bound under the law of voltage, at random states up to ERC_MAX: what the best voltages leave 4 bits is read
    /// with the noise that is worst, but for few states beyond half of that, where it is what they leave 7 bits.
    fn assert_moved_are_read(part: &str, unread: u32, wanted: ([usize; 3], usize)) {
        let (cells, policy) = learned(part, true);
        let table = moving_tables(&cells);
        let best = cells.part().retry.entries as usize * usize::from(PARTS) + 1;
        let limit_q8 = cells.hard_limit_bits() << 8;
        let noise_q8 = (cells.part().effects.rtn_bits * 256.0) as u32;
        let (mut rng, page) = (Rng::named(8, part), cells.lowest_page());
        let (mut seen, mut missed) = (0, 0);
        for _ in 0..40_000 {
            let (reads_q12, page_type) = (rng.below(ERC_ONE + 1), page as u8);
            let age = PageAge { reads_q12, page_type, ..random_age(&cells, &policy, &mut rng) };
            let (group, at) = (usize::from(age.group), table.locate(age.cycles, age.minutes, reads_q12));
            let best_q8 = table.sector_bits_q8(group, best, page, &at);
            if best_q8 + SPARE_BITS * 256 > limit_q8 {
                continue;
            }
            let with_noise = |set: &Voltages| {
                let bits_q8 = table.apart_bits_q8(group, usize::from(set.place()), set.lowest(), &at);
                bits_q8 + bits_q8.min(noise_q8)
            };
            let least = policy.sequence(&age).sets().iter().map(with_noise).min().expect("a set");
            if least > limit_q8 {
                let is_told = reads_q12 >= ERC_ONE / 2 && best_q8 + SPARE_AT_WORST_BITS * 256 > limit_q8;
                assert!(is_told, "{part}: {age:?}: {least} {best_q8}");
                missed += 1;
            }
            seen += 1;
        }
        assert!(seen > 5_000, "{part}: {seen}");
        assert_eq!((missed, policy.cells_by_sets(), policy.bytes()), (unread, wanted.0, wanted.1), "{part}");
    }

    #[test]
    fn what_reads_have_moved_is_read_by_a_set_of_its_cell() {
        assert_moved_are_read("tlc_48l", 0, ([2_809, 41, 30], 23_040));
    }

    #[test]
    #[ignore = "long: make soak"]
    fn so_it_is_of_mlc() {
        assert_moved_are_read("mlc", 1, ([1_824, 56, 40], 15_360));
    }

    #[test]
    #[ignore = "long: make soak"]
    fn so_it_is_of_mlc_as_hire_has_it() {
        assert_moved_are_read("mlc_hire", 0, ([1_920, 0, 0], 15_360));
    }

    #[test]
    #[ignore = "long: make soak"]
    fn so_it_is_of_qlc() {
        assert_moved_are_read("qlc", 5, ([3_645, 126, 69], 30_720));
    }

    /// What is promised ends with what a page has to spare, with a year, with the reads that it endures, and with what
    /// the marker may be off.
    #[test]
    fn no_more_is_promised_than_was_demanded() {
        let (cells, policy) = learned("tlc_48l", true);
        let limit_q8 = cells.hard_limit_bits() << 8;
        let page = PageAge { cycles: 0, minutes: END, age_range: 3, group: 0, page_type: 0, reads_q12: 0 };
        let margin = |spare_q8: u32| Margin { erc_q12: 0, bits_q8: limit_q8 - spare_q8, limit_q8 };
        let [least, most] = policy.wear[3];
        assert!(least < most && policy.promises(&page, &margin(1_024), least));
        assert!(policy.promises(&page, &margin(1_024), most));
        assert!(!policy.promises(&page, &margin(1_023), least));
        assert!(!policy.promises(&page, &margin(1_024), most + 1));
        assert!(!policy.promises(&PageAge { minutes: END + 1, ..page }, &margin(1_024), least));
        // Modes that are read with more levels correct more: the sets were not chosen for that.
        let soft = Margin { erc_q12: 0, bits_q8: limit_q8 - 1_023, limit_q8: 2 * limit_q8 };
        assert!(!policy.promises(&page, &soft, least));
        let read = PageAge { reads_q12: ERC_ONE / 2, ..page };
        assert!(
            policy.promises(&read, &margin(7 * 256), least)
                && !policy.promises(&read, &margin(7 * 256 - 1), least)
        );
        // The sets were chosen for states up to ERC_MAX.
        let [last, beyond] = [ERC_ONE, ERC_ONE + 1].map(|reads_q12| PageAge { reads_q12, ..page });
        assert!(policy.promises(&last, &margin(7 * 256), least));
        assert!(!policy.promises(&beyond, &margin(7 * 256), least));
    }

    /// The bound, at random states of all cells: with the noise that is worst, and as many reads as leave 4 bits.
    #[test]
    fn what_leaves_four_bits_is_read_by_a_set_of_its_cell() {
        let wanted = [
            ("tlc_48l", ([358, 334, 28], 5_760)),
            ("mlc", ([480, 0, 0], 3_840)),
            ("mlc_hire", ([480, 0, 0], 3_840)),
            ("qlc", ([744, 198, 18], 7_680)),
            ("qlc_modes", ([744, 198, 18], 7_680)),
        ];
        let found = wanted.map(|(part, _)| {
            let (cells, policy) = learned(part, false);
            let table = tables(&cells);
            let best = usize::from(cells.part().retry.entries as u8 * PARTS) + 1;
            let limit_q8 = cells.hard_limit_bits() << 8;
            let noise_q8 = (cells.part().effects.rtn_bits * 256.0) as u32;
            let mut rng = Rng::named(7, part);
            let mut seen = 0;
            for _ in 0..40_000 {
                let age = random_age(&cells, &policy, &mut rng);
                let (group, page) = (usize::from(age.group), usize::from(age.page_type));
                let row = table.row(group, page, table.locate(age.cycles, age.minutes));
                let best_q8 = table.sector_bits_q8(&row, best);
                if best_q8 + 4 * 256 > limit_q8 {
                    continue;
                }
                let with_noise = |set: &Voltages| {
                    let bits_q8 = table.sector_bits_q8(&row, usize::from(set.place()));
                    bits_q8 + bits_q8.min(noise_q8)
                };
                let least = policy.sequence(&age).sets().iter().map(with_noise).min().expect("a set");
                assert!(least <= best_q8 + 4 * 256, "{part}: {age:?}: {least} {best_q8}");
                seen += 1;
            }
            assert!(seen > 5_000, "{part}: {seen}");
            (part, (policy.cells_by_sets(), policy.bytes()))
        });
        assert_eq!(found, wanted);
    }
}
