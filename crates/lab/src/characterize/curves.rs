//! What a population of a part is like: tables and plots, with what they were made from.

pub use super::plan::Plan;

use super::monte_carlo::{self, AGES};
use super::population::{Population, extremes, quantile};
use super::sheet::{CYCLES, RETENTION, Sheet, line};
use super::{max_reads, voltages};
use crate::report::plot::Plot;
use ssd::config::ConfigErrors;
use ssd::nand::cell::CellModel;

/// Hours of 12 months.
const YEAR_HOURS: f64 = 8_760.0;
/// Cycles at which the markers of wear are measured, in 1000 (RealWear figure 14).
const MARKERS_KCYCLES: f64 = 4.0;
/// Cycles at which blocks are read after some months, in 1000.
const READ_KCYCLES: [f64; 6] = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0];
/// Months at 30 degrees C after which blocks are read.
const READ_MONTHS: [f64; 7] = [0.0, 0.25, 1.0, 3.0, 6.0, 9.0, 12.0];

/// Names of the tables.
const TABLES: [&str; 13] = [
    "blocks",
    "dead_blocks",
    "n12",
    "errors_over_time",
    "retries",
    "retries_by_retention",
    "single_cells",
    "rber_by_wordline",
    "rber_by_retention",
    "threshold_voltages",
    "reference_shifts",
    "max_reads",
    "max_reads_of_block",
];
/// Names of plots that are not called as a table.
const PLOTS: [&str; 7] = [
    "lives",
    "max_reads_one_wordline",
    "max_reads_even",
    "max_reads_by_mode",
    "reference_shifts_by_cycles",
    "reference_shifts_by_reads",
    "reference_shifts_by_retention",
];

/// Names of all files in which what is measured may come: tables, plots, and what they were made from.
pub fn files() -> Vec<String> {
    let named = |ending: &'static str| TABLES.iter().map(move |stem| format!("{stem}.{ending}"));
    let plots = TABLES.iter().chain(&PLOTS).flat_map(|stem| Plot::names(stem));
    // A plot of a table's name has no numbers of its own.
    let mut files: Vec<String> =
        plots.chain(named("parquet")).chain(["provenance.json".to_owned()]).collect();
    files.sort();
    files.dedup();
    files
}

/// All tables.
pub fn measure(plan: &Plan) -> Result<Vec<Sheet>, ConfigErrors> {
    let model = CellModel::preset(plan.part)?;
    let population = Population::new(&model, plan.seed, plan.chips, plan.blocks);
    let lives = population.lives(&model, 1.0, 30.0);
    let mut sheets = vec![
        blocks(&model, &population, plan, &lives),
        dead_blocks(&model, &population, &lives),
        n12(&population),
        errors_over_time(&model, &population),
        retries(&model, &population),
        retries_by_retention(&model, &population),
        single_cells(&model, plan),
    ];
    sheets.extend(voltages::measure(&model, plan));
    sheets.extend(max_reads::measure(&model, plan.seed));
    Ok(sheets)
}

/// Every block: its life, its errors and what shows its wear. The plot: how lives are spread.
fn blocks(model: &CellModel, population: &Population<'_>, plan: &Plan, lives: &[f64]) -> Sheet {
    let rested = population.lives(model, 5.0, 30.0);
    let n12 = [3.0, 7.0].map(|kcycles| population.n12(kcycles));
    let markers = population.after(MARKERS_KCYCLES, |model, block, damage| {
        (
            model.erase_marker_ms(block, damage),
            model.fresh_bits(block, damage),
            model.program_us(block, damage, 0),
        )
    });
    let row = |place: usize| {
        let (erase, fresh, program) = markers[place];
        [
            (place as u64 / u64::from(plan.blocks.max(1))).into(),
            (place as u64 % u64::from(plan.blocks.max(1))).into(),
            population.blocks()[place].quality.into(),
            lives[place].into(),
            rested[place].into(),
            n12[0][place].into(),
            n12[1][place].into(),
            erase.into(),
            fresh.into(),
            program.into(),
        ]
    };
    let names = [
        "chip",
        "block",
        "quality",
        "life_kcycles",
        "life_rested_5_min_kcycles",
        "n12_at_3k_bits",
        "n12_at_7k_bits",
        "erase_at_4k_ms",
        "fresh_errors_at_4k_bits",
        "program_at_4k_us",
    ];
    let spread = |name: &str, lives: &[f64]| {
        let share = |low: f64| {
            let within = lives.iter().filter(|life| (low..low + 0.5).contains(*life)).count();
            100.0 * within as f64 / lives.len().max(1) as f64
        };
        line(name, (0..60).map(|half| 0.5 * f64::from(half)).map(|low| (low + 0.25, share(low))))
    };
    let curves = vec![spread("dwell 1 min", lives), spread("dwell 5 min", &rested)];
    Sheet::new("blocks", names, (0..lives.len()).map(row)).plot(
        "lives",
        "Blocks dead in each 500 cycles (%)",
        CYCLES,
        curves,
    )
}

/// Share of blocks that no longer keep data for 12 months, by cycles and dwell.
fn dead_blocks(model: &CellModel, population: &Population<'_>, lives: &[f64]) -> Sheet {
    let lines = [1.0, 5.0, 60.0].map(|dwell| {
        let own = if dwell > 1.0 { population.lives(model, dwell, 30.0) } else { lives.to_vec() };
        let dead = |kcycles: f64| own.iter().filter(|life| **life <= kcycles).count() as f64;
        let points = (0..=60).map(|half| 0.5 * f64::from(half));
        let share = points.map(|kcycles| (kcycles, 100.0 * dead(kcycles) / own.len().max(1) as f64));
        line(format!("dwell {dwell} min"), share)
    });
    let names = ["dwell", "kcycles", "dead_percent"];
    Sheet::curves("dead_blocks", names, "Dead blocks (%)", CYCLES, lines.into())
}

/// The worst, the median and the best of measured errors.
fn ranks(bits: &[f64]) -> [(&'static str, f64); 3] {
    let (best, worst) = extremes(bits);
    [("worst block", worst), ("median block", quantile(bits, 0.5)), ("best block", best)]
}

/// N12 of the worst, the median and the best block, by cycles.
fn n12(population: &Population<'_>) -> Sheet {
    let at = |kcycles: f64| (kcycles, ranks(&population.n12(kcycles)));
    let measured: Vec<_> = (0..=16).map(|kcycles| at(f64::from(kcycles))).collect();
    let pick = |rank: usize| {
        line(measured[0].1[rank].0, measured.iter().map(|(kcycles, ranks)| (*kcycles, ranks[rank].1)))
    };
    let names = ["block", "kcycles", "n12_bits"];
    let title = "Errors of the worst wordline after 12 months, N12 (bits a sector)";
    Sheet::curves("n12", names, title, CYCLES, [0, 1, 2].map(pick).into())
}

/// N(t): errors of the worst wordline's first page type by its voltages, by cycles and time.
fn errors_over_time(model: &CellModel, population: &Population<'_>) -> Sheet {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for kcycles in [0.0, 1.0, 3.0, 5.0, 8.0] {
        let months: Vec<f64> = [0.0, 0.03, 0.25, 0.5].into_iter().chain((1..=12).map(f64::from)).collect();
        let measured: Vec<_> = months
            .iter()
            .map(|&months| {
                let hours = months / 12.0 * YEAR_HOURS;
                let bits = population.after(kcycles, |model, block, damage| {
                    let mut state = model.worn_state(block, damage);
                    state.retention_hours = hours;
                    model.sector_bits(voltages::best_rber(model, &state, 0))
                });
                (months, ranks(&bits))
            })
            .collect();
        for rank in 0..3 {
            for (months, ranks) in &measured {
                let (name, bits) = ranks[rank];
                rows.push([name.into(), kcycles.into(), (*months).into(), bits.into()]);
            }
            let points = measured.iter().map(|(months, ranks)| (*months, ranks[rank].1));
            if [3.0, 8.0].contains(&kcycles) {
                curves.push(line(format!("{}, {kcycles}K cycles", measured[0].1[rank].0), points));
            }
        }
    }
    let limit = f64::from(model.hard_limit_bits());
    curves.push(line("corrected", [(0.0, limit), (12.0, limit)]));
    Sheet::new("errors_over_time", ["block", "kcycles", "months", "bits"], rows).plot(
        "errors_over_time",
        "Errors of the worst wordline, page type 0, best references (bits a sector)",
        RETENTION,
        curves,
    )
}

/// Retries of the blocks of the population after 12 months, with a table by cycles.
fn retries(model: &CellModel, population: &Population<'_>) -> Sheet {
    let of_age = |kcycles: f64| {
        let bits = population.n12(kcycles);
        let needed: Vec<u32> = bits.iter().map(|bits| model.retries_by_cycles(*bits, kcycles)).collect();
        let share = move |count: u32| {
            let number = needed.iter().filter(|retries| **retries == count).count();
            100.0 * number as f64 / needed.len().max(1) as f64
        };
        line(format!("{kcycles}K cycles"), (0..=9).map(move |count| (f64::from(count), share(count))))
    };
    let names = ["age", "retries", "blocks_percent"];
    let title = "Blocks, after 12 months, table by cycles (%)";
    Sheet::curves("retries", names, title, "Read retries", [1.0, 4.0, 7.0].map(of_age).into())
}

/// Retries of the part's own table, by cycles and time: entries that fail for the worst wordline's worst page.
fn retries_by_retention(model: &CellModel, population: &Population<'_>) -> Sheet {
    let limit = f64::from(model.hard_limit_bits());
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for kcycles in READ_KCYCLES {
        let mut points = Vec::new();
        for months in READ_MONTHS {
            let needed = population.after(kcycles, |model, block, damage| {
                let mut state = model.worn_state(block, damage);
                state.retention_hours = months / 12.0 * YEAR_HOURS;
                model.retries_needed(&state, limit).map(f64::from)
            });
            let read: Vec<f64> = needed.iter().copied().flatten().collect();
            let lost = 100.0 * (1.0 - read.len() as f64 / needed.len().max(1) as f64);
            // Where no block can be read there is nothing to tell but that.
            let (fewest, most) = if read.is_empty() { (0.0, 0.0) } else { extremes(&read) };
            let mean = super::population::mean(&read);
            rows.push([kcycles, months, fewest, mean, most, lost].map(Into::into));
            if !read.is_empty() {
                points.push((months, mean));
            }
        }
        curves.push(line(format!("{kcycles}K cycles"), points));
    }
    let names = ["kcycles", "months", "fewest", "mean", "most", "unreadable_percent"];
    Sheet::new("retries_by_retention", names, rows).plot(
        "retries_by_retention",
        "Mean retries with the part's table, of blocks that can be read (per page read)",
        RETENTION,
        curves,
    )
}

/// Single cells beside the integrals.
fn single_cells(model: &CellModel, plan: &Plan) -> Sheet {
    let row = |count: monte_carlo::Count| {
        let (kcycles, hours, reads) = AGES[count.age];
        [
            kcycles.into(),
            hours.into(),
            reads.into(),
            (count.page as u64).into(),
            if count.factory { "factory" } else { "best" }.into(),
            count.cells.into(),
            count.wrong.into(),
            count.expected.into(),
            count.deviation().into(),
        ]
    };
    let names = [
        "kcycles",
        "hours",
        "reads_share",
        "page_type",
        "references",
        "cells",
        "wrong_bits",
        "expected_bits",
        "deviation_sigma",
    ];
    Sheet::new("single_cells", names, monte_carlo::count(model, plan.seed, plan.cells).into_iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_known_before_they_are_measured() {
        let plan = Plan { chips: 2, blocks: 2, cells: 100, ..Plan::QUICK };
        let known = files();
        for sheet in measure(&plan).unwrap() {
            let plots = sheet.plots().flat_map(|(stem, plot)| plot.files(stem)).map(|(name, _)| name);
            for name in plots.chain([format!("{}.csv", sheet.name), format!("{}.parquet", sheet.name)]) {
                assert!(known.contains(&name), "{name}");
            }
        }
    }
}
