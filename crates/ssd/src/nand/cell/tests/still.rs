//! The table of still cells against the exact model.

use super::part;
use crate::nand::cell::still::StillTable;
use crate::nand::cell::table::{ReferenceSet, TablePlan};
use crate::nand::cell::{CellState, Group};
use crate::rng::Rng;

/// At most 1 % of the errors or 0.2 bit off, over the whole range: all parts, groups, page types, entries 0 to 15 and
/// the best references, to 10 years.
#[test]
fn the_table_of_still_cells_agrees_with_the_exact_model() {
    for (name, most_cycles) in
        [("tlc_48l", 16_000), ("slc", 100_000), ("mlc", 12_000), ("mlc_hire", 1_000), ("qlc", 2_000)]
    {
        let model = part(name);
        let plan = TablePlan {
            heights: Group::ALL.map(|group| model.height_of(group)).to_vec(),
            sets: (0..16).map(ReferenceSet::Entry).chain([ReferenceSet::Optimal]).collect(),
            most_cycles,
            most_minutes: 10 * 525_600,
            mode: 0,
            cycles: 1.0,
            warmer_c: 0.0,
            apart: false,
        };
        let table = StillTable::new(&model, &plan);
        let mut rng = Rng::named(17, name);
        let mut worst = (0.0, String::new());
        for _ in 0..6_000 {
            let cycles = rng.below(most_cycles + 1) >> rng.below(most_cycles.ilog2());
            let minutes = rng.below(plan.most_minutes) >> rng.below(22);
            let (height, set) = (rng.below(4) as usize, rng.below(17) as usize);
            let page = rng.below(model.page_types() as u32) as usize;
            let state = CellState {
                wear_kcycles: f64::from(cycles) / 1000.0,
                retention_hours: f64::from(minutes) / 60.0,
                height: plan.heights[height],
                ..CellState::default()
            };
            let cells = model.distribution(&state);
            let references = match plan.sets[set] {
                ReferenceSet::Entry(entry) => model.retry_references(state.wear_kcycles, 0, entry),
                ReferenceSet::Optimal => model.optimal_references(&cells),
                ReferenceSet::Quarters(_) => unreachable!("not among the sets"),
            };
            let exact = model.sector_bits(model.page_rber(&cells, page, &references));
            let row = table.row(height, page, table.locate(cycles, minutes));
            let found = f64::from(table.sector_bits_q8(&row, set)) / 256.0;
            let off = (found - exact).abs() / (0.01 * exact).max(0.2);
            if off > worst.0 {
                worst = (off, format!("{name} {state:?} set {set} page {page}: {found}, {exact}"));
            }
        }
        assert!(worst.0 <= 1.0, "{worst:?}");
        assert!(worst.0 > 0.01, "compared with itself?");
        assert!(table.bytes() < 5 << 20, "{}", table.bytes());
    }
}
