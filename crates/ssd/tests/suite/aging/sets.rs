//! The voltages of `table_by_age` against the exact model: at random states of all cells of its table one of a cell's
//! sets reads what the best voltages leave room for, and no more is promised than that.

use ssd::flash::read_voltage::Member;
use ssd::flash::read_voltage::table_by_age::{Params, Policy};
use ssd::nand::aging::{Margin, PARTS, PageAge};
use ssd::nand::cell::still::StillTable;
use ssd::nand::cell::table::{CellTable, ERC_ONE, ReferenceSet, TablePlan};
use ssd::nand::cell::voltages::Voltages;
use ssd::nand::cell::{CellModel, Group};
use ssd::rng::Rng;

/// A life, on the scale of ages.
const LIFE: u32 = 1 << 12;
/// Where the last range of time ends that a bound is told for, in minutes: 12 months.
const END: u32 = 525_600;
/// What the best voltages leave to the limit where a set must read, in bits; and where reads have moved cells far.
const SPARE_BITS: u32 = 4;
const SPARE_AT_WORST_BITS: u32 = 7;

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
    let page = PageAge { cycles: 0, minutes: END, age_range: 6, group: 0, page_type: 0, reads_q12: 0 };
    let margin = |spare_q8: u32| Margin { erc_q12: 0, bits_q8: limit_q8 - spare_q8, limit_q8 };
    // What the marker says of the seventh tenth of a life is true of blocks so worn, give or take what it is off.
    let off = off(&cells).expect("a marker");
    let edge = |tenths: f64, off: f64| {
        cells.wear_of_n12(tenths / 10.0 * f64::from(cells.hard_limit_bits()) + off) * 1e3
    };
    let [least, most] = [edge(6.0, off[0]).ceil() as u32, edge(7.0, off[1]).floor() as u32];
    assert!(0 < least && least < most && policy.promises(&page, &margin(1_024), least));
    assert!(policy.promises(&page, &margin(1_024), most));
    assert!(!policy.promises(&page, &margin(1_023), least));
    assert!(!policy.promises(&page, &margin(1_024), most + 1));
    assert!(!policy.promises(&page, &margin(1_024), least - 1));
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
