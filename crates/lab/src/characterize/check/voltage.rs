//! Threshold voltages: errors by wear, time and temperature, best references, retries (calibration sections 1 and 5).

use super::Fitted::{No, Partly, Yes};
use super::finding::{Findings, Rule};
use crate::characterize::population::{Population, extremes, mean};
use ssd::nand::cell::{Block, CellModel, CellState, Damage};

/// Hours of 12 months.
const YEAR_HOURS: f64 = 8_760.0;
/// Where a search for a time ends, in hours.
const LONGEST_HOURS: f64 = 1e9;

/// Errors of a sector of a page type at the best references, in bits.
pub(super) fn best_bits(model: &CellModel, state: &CellState, page: usize) -> f64 {
    let cells = model.distribution(state);
    model.sector_bits(model.page_rber(&cells, page, &model.optimal_references(&cells)))
}

fn aged(wear_kcycles: f64, retention_hours: f64) -> CellState {
    CellState { wear_kcycles, retention_hours, ..CellState::default() }
}

pub(super) fn tlc(model: &CellModel, population: &Population<'_>, to: &mut Findings) {
    errors(model, to);
    references(model, to);
    ways(model, to);
    temperature(model, to);
    factors(model, to);
    retries(model, population, to);
}

fn errors(model: &CellModel, to: &mut Findings) {
    for (wear, claimed) in [(0.0, 13.9), (4.0, 30.5), (8.0, 47.0), (12.0, 63.6)] {
        let quantity = format!("N12 of the average block by its voltages at {wear}K cycles (bits)");
        let bits = best_bits(model, &aged(wear, YEAR_HOURS), 0);
        to.add(&quantity, "RealWear Fig. 9, derived", (claimed, bits), Rule::Rounded, Yes);
    }
    for (quality, kcycles, name) in [(0.0, 3.0, "worst"), (1.0, 8.0, "best")] {
        let block = Block { quality, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };
        let mut damage = Damage::default();
        damage.cycle(model, kcycles, 1.0, 30.0, 0);
        let state = CellState { retention_hours: YEAR_HOURS, ..model.worn_state(&block, &damage) };
        let quantity = format!("N12 of the {name} block by its voltages at {kcycles}K cycles (bits)");
        to.add(&quantity, "RealWear Fig. 9", (37.0, best_bits(model, &state, 0)), Rule::Rounded, Partly);
    }
}

fn references(model: &CellModel, to: &mut Findings) {
    let start = model.default_references(0);
    let shift = |wear: f64, threshold: usize| {
        let cells = model.distribution(&aged(wear, 0.0));
        1e3 * (model.optimal_references(&cells)[threshold] - start[threshold])
    };
    let source = "RealWear Fig. 18";
    to.add("best R1 at 1K cycles over fresh (mV)", source, (300.0, shift(1.0, 1)), Rule::Rounded, Yes);
    to.add("best R2 at 1K cycles over fresh (mV)", source, (100.0, shift(1.0, 2)), Rule::Rounded, Yes);
    for threshold in [6, 7] {
        let moved = shift(12.0, threshold).abs();
        let quantity = format!("best R{threshold} at 12K cycles over fresh (mV)");
        to.add(&quantity, source, (1.0, moved), Rule::AtMost, Yes);
    }
}

/// The ways in which best references go that figure 18 tells only as such.
fn ways(model: &CellModel, to: &mut Findings) {
    let start = model.default_references(0);
    let shift = |state: &CellState, threshold: usize| {
        1e3 * (model.optimal_references(&model.distribution(state))[threshold] - start[threshold])
    };
    let year = |wear: f64, height: f64| CellState { height, ..aged(wear, YEAR_HOURS) };
    let source = "RealWear section 3.4.1";
    let fall = shift(&year(1.0, 1.0), 7);
    to.add("best R7 falls in 12 months, 1K cycles (mV)", source, (0.0, fall), Rule::AtMost, Partly);
    let faster = shift(&year(8.0, 1.0), 7) / fall;
    to.add("the same at 8K over 1K cycles: faster", source, (1.0, faster), Rule::AtLeast, Partly);
    let at_edge = shift(&year(3.0, 1.0), 7) / shift(&year(3.0, 0.0), 7);
    to.add("the same at the edge over the centre: more", source, (1.0, at_edge), Rule::AtLeast, No);
    let lost = |threshold: usize| shift(&year(3.0, 1.0), threshold) - shift(&aged(3.0, 0.0), threshold);
    let low = lost(1).abs() / lost(7).abs();
    to.add("the same of R1 over R7, 3K cycles: less", source, (1.0, low), Rule::AtMost, No);
    let read = |erc_fraction: f64| CellState { erc_fraction, ..aged(3.0, 730.0) };
    let rise = shift(&read(1.0), 1) - shift(&read(0.0), 1);
    to.add("best R1 rises by all reads endured (mV)", source, (0.0, rise), Rule::AtLeast, No);
}

/// Hours at 30 degrees C after which a page has the errors that it has after `hours` at `celsius`: by search.
fn hours_alike(model: &CellModel, hours: f64, celsius: f64) -> f64 {
    let bits = |at_30: f64| best_bits(model, &aged(2.0, at_30), 0);
    let wanted = bits(model.hours_at_reference(hours, celsius));
    let (mut low, mut high) = (0.0, LONGEST_HOURS);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if bits(middle) < wanted { low = middle } else { high = middle }
    }
    high
}

fn temperature(model: &CellModel, to: &mut Findings) {
    let source = "RealWear section 3.1.1";
    let bake = hours_alike(model, 13.0, 85.0) / YEAR_HOURS * 12.0;
    to.add("13 h at 85 degrees C in months at 30", source, (12.0, bake), Rule::Rounded, No);
    to.add(
        "1 h at 50 degrees C in hours at 30",
        source,
        (13.0, hours_alike(model, 1.0, 50.0)),
        Rule::Rounded,
        No,
    );
    let warm = hours_alike(model, 1.0, 40.0);
    let rule = Rule::None("derived from Ea, no claim");
    to.add("1 h at 40 degrees C in hours at 30", "calibration section 1.3", (3.835, warm), rule, No);
}

fn factors(model: &CellModel, to: &mut Findings) {
    let plain = best_bits(model, &aged(4.0, YEAR_HOURS), 0);
    let more = |state: CellState| 100.0 * (best_bits(model, &state, 0) / plain - 1.0);
    let suspended = |suspends: u32| more(CellState { suspends, ..aged(4.0, YEAR_HOURS) });
    let source = "RealWear Fig. 29";
    to.add("errors more after 100 erase suspends (%)", source, (48.0, suspended(100)), Rule::Rounded, Yes);
    to.add("errors more after 30 erase suspends (%)", source, (0.0, suspended(30)), Rule::Exact, Yes);
    let open = more(CellState { open_minutes: 1_440.0, ..aged(4.0, YEAR_HOURS) });
    to.add(
        "errors more after an open interval of a day (%)",
        "RealWear Fig. 41",
        (30.0, open),
        Rule::Rounded,
        Yes,
    );
    let lost = 100.0 * model.sanitised_over_limit(true, false);
    to.add(
        "TLC pages lost when both lower pages are over-programmed (%)",
        "RealWear section 5.1.2",
        (100.0, lost),
        Rule::Printed,
        Yes,
    );
}

fn retries(model: &CellModel, population: &Population<'_>, to: &mut Findings) {
    let limit = f64::from(model.hard_limit_bits());
    let needed = |wear: f64, hours: f64| {
        model.retries_needed(&aged(wear, hours), limit).map_or(f64::INFINITY, f64::from)
    };
    let source = "RealWear Fig. 20";
    to.add("retries at 12 months, 1K cycles", source, (2.0, needed(1.0, YEAR_HOURS)), Rule::Exact, Partly);
    to.add("retries at 12 months, 10K cycles", source, (7.0, needed(10.0, YEAR_HOURS)), Rule::Exact, Partly);
    let n12 = population.n12(7.0);
    let by_cycles: Vec<f64> = n12.iter().map(|bits| f64::from(model.retries_by_cycles(*bits, 7.0))).collect();
    let (fewest, most) = extremes(&by_cycles);
    to.add("fewest retries in the population, table by cycles, 7K", source, (2.0, fewest), Rule::Exact, Yes);
    to.add("most retries in the population, table by cycles, 7K", source, (7.0, most), Rule::Exact, Yes);
    let indexed = f64::from(model.retries_by_index(45.0, 38.0));
    to.add(
        "retries where a table's index is off by 7 bits",
        "RealWear section 3.3.2",
        (2.0, indexed),
        Rule::AtMost,
        No,
    );
    // Of drives at 4K cycles the claims of chapter 4 speak (assumed); 7K is where Fig. 20 tells retries.
    for (kcycles, mean_name, most_name) in [
        (4.0, "retries more after 100 suspends, mean, at 4K", "retries more after 100 suspends, most, at 4K"),
        (7.0, "retries more after 100 suspends, mean, at 7K", "retries more after 100 suspends, most, at 7K"),
    ] {
        let n12 = population.n12(kcycles);
        let alive = n12.iter().filter(|bits| **bits < limit);
        let extra: Vec<f64> = alive
            .map(|bits| f64::from(model.retries_by_index(bits * model.suspend_factor(100), *bits)))
            .collect();
        let rule = Rule::None("the blocks' age is not told");
        to.add(mean_name, "RealWear Fig. 29", (2.8, mean(&extra)), rule, No);
        to.add(most_name, "RealWear Fig. 29", (4.0, extremes(&extra).1), rule, No);
    }
}
