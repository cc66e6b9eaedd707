//! The integer tables against the exact model.

use super::part;
use crate::nand::cell::sector::binomial_at_most;
use crate::nand::cell::table::{CellTable, ERC_ONE, FACTOR_ONE, PageRead, ReadOdds, ReferenceSet, TablePlan};
use crate::nand::cell::voltages::{LOWEST_STEP_V, LOWEST_ZERO};
use crate::nand::cell::{CellModel, CellState, Group};
use crate::rng::Rng;

const SETS: [ReferenceSet; 4] =
    [ReferenceSet::Entry(0), ReferenceSet::Entry(3), ReferenceSet::Entry(7), ReferenceSet::Optimal];

fn plan(model: &CellModel, most_cycles: u32) -> TablePlan {
    TablePlan {
        heights: Group::ALL.map(|group| model.height_of(group)).to_vec(),
        sets: SETS.to_vec(),
        most_cycles,
        most_minutes: 10 * 525_600,
        mode: 0,
        cycles: 1.0,
        warmer_c: 0.0,
        apart: false,
    }
}

/// Half even, half even on the logarithm.
fn spread(rng: &mut Rng, most: u32) -> u32 {
    let x = rng.below(most + 1);
    if rng.below(2) == 0 { x } else { x >> rng.below(most.ilog2() + 1) }
}

/// At most 1 % of the errors or 0.2 bit off, over the whole range.
/// The same of a lowest reference that lies apart from the line of the retry table.
#[test]
fn a_lowest_reference_apart_agrees_with_the_exact_model() {
    for (name, most_cycles) in
        [("tlc_48l", 16_000), ("slc", 100_000), ("mlc", 12_000), ("mlc_hire", 1_000), ("qlc", 2_000)]
    {
        let model = part(name);
        let sets: Vec<ReferenceSet> = (0..8).map(|at| ReferenceSet::Quarters(7 * at)).collect();
        let plan = TablePlan { sets, apart: true, ..plan(&model, most_cycles) };
        let table = CellTable::new(&model, &plan);
        let mut rng = Rng::named(18, name);
        let mut worst = (0.0, String::new());
        for _ in 0..3_000 {
            let (cycles, minutes) = (spread(&mut rng, most_cycles), spread(&mut rng, plan.most_minutes));
            let (erc, lowest) = (rng.below(2 * ERC_ONE + 1), 1 + rng.below(96) as u8);
            let (height, set) = (rng.below(4) as usize, rng.below(8));
            let state = CellState {
                wear_kcycles: f64::from(cycles) / 1000.0,
                retention_hours: f64::from(minutes) / 60.0,
                erc_fraction: f64::from(erc) / f64::from(ERC_ONE),
                height: plan.heights[height],
                ..CellState::default()
            };
            let first = model.retry_references(state.wear_kcycles, 0, 0);
            let worn =
                model.distribution(&CellState { wear_kcycles: state.wear_kcycles, ..CellState::default() });
            let mut references = model.step_references(&worn, 0, f64::from(7 * set) / 4.0);
            references[1] = first[1] + (f64::from(lowest) - f64::from(LOWEST_ZERO)) * LOWEST_STEP_V;
            let exact = model.sector_bits(model.page_rber(
                &model.distribution(&state),
                model.lowest_page(),
                &references,
            ));
            let found =
                table.apart_bits_q8(height, set as usize, lowest, &table.locate(cycles, minutes, erc));
            let found = f64::from(found) / 256.0;
            let off = (found - exact).abs() / (0.01 * exact).max(0.2);
            if off > worst.0 {
                worst = (off, format!("{name} {state:?} {set} {lowest}: {found}, {exact}"));
            }
        }
        assert!(worst.0 <= 1.0, "{worst:?}");
    }
}

#[test]
fn tables_agree_with_the_exact_model() {
    for (name, most_cycles) in
        [("tlc_48l", 16_000), ("slc", 100_000), ("mlc", 12_000), ("mlc_hire", 1_000), ("qlc", 2_000)]
    {
        let model = part(name);
        let plan = plan(&model, most_cycles);
        let table = CellTable::new(&model, &plan);
        let mut rng = Rng::named(17, name);
        let mut worst = (0.0, String::new());
        for _ in 0..3_000 {
            let (cycles, minutes) = (spread(&mut rng, most_cycles), spread(&mut rng, plan.most_minutes));
            let erc = rng.below(2 * ERC_ONE + 1);
            let (height, set) = (rng.below(4) as usize, rng.below(4) as usize);
            let page = rng.below(model.page_types() as u32) as usize;
            let state = CellState {
                wear_kcycles: f64::from(cycles) / 1000.0,
                retention_hours: f64::from(minutes) / 60.0,
                erc_fraction: f64::from(erc) / f64::from(ERC_ONE),
                height: plan.heights[height],
                ..CellState::default()
            };
            let cells = model.distribution(&state);
            let references = match SETS[set] {
                ReferenceSet::Entry(entry) => model.retry_references(state.wear_kcycles, 0, entry),
                ReferenceSet::Optimal => model.optimal_references(&cells),
                ReferenceSet::Quarters(_) => unreachable!("not among the sets"),
            };
            let exact = model.sector_bits(model.page_rber(&cells, page, &references));
            let at = table.locate(cycles, minutes, erc);
            let found = f64::from(table.sector_bits_q8(height, set, page, &at)) / 256.0;
            let off = (found - exact).abs() / (0.01 * exact).max(0.2);
            if off > worst.0 {
                worst = (off, format!("{name} {state:?} {:?} page {page}: {found}, {exact}", SETS[set]));
            }
        }
        assert!(worst.0 <= 1.0, "{worst:?}");
    }
}

#[test]
fn beyond_the_range_the_last_point_holds() {
    let model = part("tlc_48l");
    let table =
        CellTable::new(&model, &TablePlan { sets: vec![ReferenceSet::Optimal], ..plan(&model, 4_000) });
    let bits = |cycles, minutes, erc| table.sector_bits_q8(3, 0, 0, &table.locate(cycles, minutes, erc));
    assert_eq!(bits(u32::MAX, u32::MAX, u32::MAX), bits(u32::MAX - 1, u32::MAX - 1, 2 * ERC_ONE));
    assert!(bits(u32::MAX, 0, 0) > bits(3_000, 0, 0) && bits(0, 0, 0) > 0);
    assert!(table.bytes() < 4 << 20, "{}", table.bytes());
}

#[test]
fn odds_of_a_page_are_those_of_its_sectors() {
    let odds = ReadOdds::new(64, 8_192, 16);
    for (bits, slack) in
        [(10.0, 1e-6), (40.0, 2e-4), (48.3, 1e-3), (55.7, 1e-3), (64.0, 1e-3), (90.0, 1e-6), (1e4, 0.0)]
    {
        let exact = libm::pow(binomial_at_most(8_192, bits / 8_192.0_f64, 64), 16.0);
        let found = f64::from(odds.read((bits * 256.0) as u32)) / 4_294_967_296.0;
        assert!((found - exact).abs() <= slack, "{bits}: {found} {exact}");
    }
    assert_eq!(odds.read(0), u32::MAX);
}

#[test]
fn a_row_gives_the_same_retries_as_attempts() {
    let model = part("tlc_48l");
    let sets = (0..8).map(ReferenceSet::Entry).collect();
    let table = CellTable::new(&model, &TablePlan { sets, ..plan(&model, 12_000) });
    let odds = ReadOdds::new(64, model.bits_in_sector(), 16);
    let mut rng = Rng::named(5, "rows");
    let mut most = 0;
    for _ in 0..300 {
        let at = table.locate(spread(&mut rng, 12_000), spread(&mut rng, 525_600), rng.below(ERC_ONE / 8));
        let page = rng.below(3) as usize;
        let read = PageRead { height: 3, page, at, factor: FACTOR_ONE + rng.below(20_000) };
        let row = table.retry_row(&odds, &read);
        for _ in 0..20 {
            let chance = rng.next_u64() as u32;
            assert_eq!(row.retries(chance), table.retries(&odds, &read, chance));
            most = most.max(row.retries(chance).unwrap_or(0));
        }
        assert!((1..8).all(|retries| row.at_most(retries) >= row.at_most(retries - 1)));
    }
    assert!(most >= 5, "{most}");
}
