//! Threshold voltages of a part: distributions, error rates by wordline, best references.

use super::monte_carlo;
use super::plan::Plan;
use super::reads::{MONTH_HOURS, groups_of};
use super::sheet::{CYCLES, RETENTION, Sheet, line};
use crate::report::plot::Line;
use ssd::nand::cell::{CellModel, CellState, Distribution};

/// Wordlines of a block of 003.
const WORDLINES: usize = 192;
/// Width of a bin of voltages, in V.
const BIN_V: f64 = 0.02;
/// First and last bin.
const BINS: (i32, i32) = (-200, 350);

fn aged(wear_kcycles: f64, months: f64) -> CellState {
    CellState { wear_kcycles, retention_hours: months * MONTH_HOURS, ..CellState::default() }
}

/// Raw bit error rate of a page type at the best references.
pub(super) fn best_rber(model: &CellModel, state: &CellState, page: usize) -> f64 {
    let cells = model.distribution(state);
    model.page_rber(&cells, page, &model.optimal_references(&cells))
}

pub(super) fn measure(model: &CellModel, plan: &Plan) -> [Sheet; 4] {
    [errors_by_wordline(model), errors_by_time(model), histograms(model, plan), references(model)]
}

/// RBER of each wordline of a block and each page type, at four ages.
fn errors_by_wordline(model: &CellModel) -> Sheet {
    let placed = groups_of(model, WORDLINES);
    let mut rows = Vec::new();
    let mut curves: Vec<Line> =
        (0..model.page_types()).map(|page| line(format!("page type {page}"), [])).collect();
    for (kcycles, months) in [(0.0, 0.0), (1.0, 12.0), (3.0, 0.0), (3.0, 12.0)] {
        for (wordline, (group, _)) in placed.iter().enumerate() {
            let off_middle = (2 * wordline + 1).abs_diff(WORDLINES) as f64;
            let height = off_middle / (WORDLINES - 1) as f64;
            let state = CellState { height, ..aged(kcycles, months) };
            let cells = model.distribution(&state);
            let sets = [model.optimal_references(&cells), *model.default_references(0)];
            for (page, curve) in curves.iter_mut().enumerate() {
                let [best, factory] = sets.map(|set| model.page_rber(&cells, page, &set));
                rows.push([
                    (wordline as u64).into(),
                    format!("{group:?}").into(),
                    height.into(),
                    (page as u64).into(),
                    kcycles.into(),
                    months.into(),
                    best.into(),
                    factory.into(),
                ]);
                if (kcycles, months) == (3.0, 12.0) {
                    curve.points.push((wordline as f64, 1e3 * best));
                }
            }
        }
    }
    let names =
        ["wordline", "group", "height", "page_type", "kcycles", "months", "rber_best", "rber_factory"];
    Sheet::new("rber_by_wordline", names, rows).plot(
        "rber_by_wordline",
        "RBER at 3K cycles and 12 months, best references (1e-3)",
        "Wordline",
        curves,
    )
}

/// RBER of the first page type by retention time and cycles.
fn errors_by_time(model: &CellModel) -> Sheet {
    let of_wear = |wear: f64| {
        let months = (0..=24).map(|half| 0.5 * f64::from(half));
        line(format!("{wear}K cycles"), months.map(|time| (time, best_rber(model, &aged(wear, time), 0))))
    };
    let mut lines: Vec<Line> = [0.0, 1.0, 3.0, 5.0, 8.0].map(of_wear).into();
    let rows: Vec<_> = lines
        .iter()
        .flat_map(|line| line.points.iter().map(|&(x, y)| [line.name.as_str().into(), x.into(), y.into()]))
        .collect();
    for point in lines.iter_mut().flat_map(|line| &mut line.points) {
        point.1 *= 1e3;
    }
    Sheet::new("rber_by_retention", ["wear", "months", "rber"], rows).plot(
        "rber_by_retention",
        "RBER of page type 0, worst wordline, best references (1e-3)",
        RETENTION,
        lines,
    )
}

/// Share of cells in a bin around a voltage, by the distributions, in percent.
fn share_in_bin(cells: &Distribution, volts: f64) -> f64 {
    let above = |volts: f64, i: usize| {
        0.5 * libm::erfc((volts - cells.mean[i]) / (cells.sigma[i] * core::f64::consts::SQRT_2))
    };
    let within = |i: usize| above(volts - 0.5 * BIN_V, i) - above(volts + 0.5 * BIN_V, i);
    100.0 * (0..cells.states).map(within).sum::<f64>() / cells.states as f64
}

/// Threshold voltages: cells by 20 mV, by the distributions and counted one by one.
fn histograms(model: &CellModel, plan: &Plan) -> Sheet {
    let ages = [
        ("fresh", aged(0.0, 0.0)),
        ("3K cycles", aged(3.0, 0.0)),
        ("3K cycles, 12 months", aged(3.0, 12.0)),
        ("3K cycles, all reads endured", CellState { erc_fraction: 1.0, ..aged(3.0, 1.0) }),
    ];
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (number, (name, state)) in ages.into_iter().enumerate() {
        let cells = model.distribution(&state);
        let counted = monte_carlo::histogram(&cells, plan.seed, number as u64, plan.cells, BIN_V, BINS);
        let drawn = counted.iter().sum::<u64>().max(1) as f64;
        let mut points = Vec::new();
        for (bin, count) in (BINS.0..=BINS.1).zip(counted) {
            let volts = f64::from(bin) * BIN_V;
            let share = share_in_bin(&cells, volts);
            points.push((volts, share));
            // Voltages beyond the last bins are not counted: they are fewer than one in 10^9.
            rows.push([name.into(), volts.into(), share.into(), (100.0 * count as f64 / drawn).into()]);
        }
        curves.push(line(name, points));
    }
    let names = ["age", "volts", "percent_of_cells", "counted_percent"];
    Sheet::new("threshold_voltages", names, rows).plot(
        "threshold_voltages",
        "Cells in each 20 mV (%)",
        "Threshold voltage (V)",
        curves,
    )
}

/// How far each best reference is from the factory's, by cycles, time and reads.
fn references(model: &CellModel) -> Sheet {
    let factory = *model.default_references(0);
    let shift = |state: &CellState, reference: usize| {
        1e3 * (model.optimal_references(&model.distribution(state))[reference] - factory[reference])
    };
    let wears: Vec<f64> = (0..=24).map(|half| 0.5 * f64::from(half)).collect();
    let times: Vec<f64> = [0.0, 0.03, 0.25, 0.5].into_iter().chain((1..=12).map(f64::from)).collect();
    let shares: Vec<f64> = (0..=20).map(|step| 0.05 * f64::from(step)).collect();
    let by_cycles = wears.iter().map(|&wear| ("cycles", wear, aged(wear, 0.0)));
    let by_time = [0.0, 1.0, 3.0, 8.0].into_iter();
    let by_time = by_time.flat_map(|wear| times.iter().map(move |&time| ("months", time, aged(wear, time))));
    let by_reads = [1.0, 3.0].into_iter().flat_map(|wear| {
        let read = move |share: f64| CellState { erc_fraction: share, ..aged(wear, 1.0) };
        shares.iter().map(move |&share| ("reads", share, read(share)))
    });
    let states: Vec<_> = by_cycles.chain(by_time).chain(by_reads).collect();
    let mut rows = Vec::new();
    for (axis, _, state) in &states {
        for reference in 1..model.states() {
            rows.push([
                (*axis).into(),
                format!("R{reference}").into(),
                state.wear_kcycles.into(),
                (state.retention_hours / MONTH_HOURS).into(),
                state.erc_fraction.into(),
                shift(state, reference).into(),
            ]);
        }
    }
    // Plots begin at 0: the way the reference goes is in the curve's name.
    let curve = |axis: &str, wear: Option<f64>, reference: usize| {
        let of_axis = states
            .iter()
            .filter(|(own, _, state)| *own == axis && wear.is_none_or(|wear| wear == state.wear_kcycles));
        let points: Vec<(f64, f64)> = of_axis.map(|(_, x, state)| (*x, shift(state, reference))).collect();
        let way = if points.last().is_some_and(|(_, last)| *last < 0.0) { "down" } else { "up" };
        let at = wear.map_or(String::new(), |wear| format!(", {wear}K cycles"));
        line(format!("R{reference} {way}{at}"), points.into_iter().map(|(x, y)| (x, y.abs())))
    };
    let all = 1..model.states();
    let top = model.states() - 1;
    Sheet::new("reference_shifts", ["by", "reference", "kcycles", "months", "reads_share", "shift_mv"], rows)
        .plot(
            "reference_shifts_by_cycles",
            "Best references, from the factory's, just programmed (mV)",
            CYCLES,
            all.clone().map(|reference| curve("cycles", None, reference)).collect(),
        )
        .plot(
            "reference_shifts_by_retention",
            "Best references, from the factory's (mV)",
            RETENTION,
            [(0.0, top), (1.0, top), (3.0, top), (8.0, top), (3.0, 1)]
                .map(|(wear, reference)| curve("months", Some(wear), reference))
                .into(),
        )
        .plot(
            "reference_shifts_by_reads",
            "Best references, from the factory's, after a month (mV)",
            "Reads, of those endured (fraction)",
            [(1.0, 1), (3.0, 1), (3.0, top)]
                .map(|(wear, reference)| curve("reads", Some(wear), reference))
                .into(),
        )
}
