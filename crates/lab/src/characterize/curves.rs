//! What a population of a part is like, as curves: tables (CSV) and plots (SVG) of one name.

use super::population::{Population, extremes, quantile};
use crate::plot::{Line, Lines};
use ssd::config::ConfigErrors;
use ssd::nand::cell::{CellModel, CellState};
use std::fmt::Write as _;

/// Hours of a month.
const MONTH_HOURS: f64 = 730.0;

/// Curves over one axis.
pub struct Curves {
    /// Stem of the files' names.
    pub name: &'static str,
    title: String,
    across: &'static str,
    lines: Vec<Line>,
}

impl Curves {
    /// One line for each point: curve, x, y.
    pub fn csv(&self) -> String {
        let mut text = String::from("curve,x,y\n");
        for line in &self.lines {
            for (x, y) in &line.points {
                let _ = writeln!(text, "{},{x:.6},{y:.9}", line.name);
            }
        }
        text
    }

    /// The plot.
    pub fn svg(&self) -> String {
        Lines { title: &self.title, across: self.across, lines: &self.lines }.to_svg()
    }
}

/// Whose curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the part.
    pub part: &'static str,
    /// Seed of the population.
    pub seed: u64,
    /// Chips of the population.
    pub chips: u32,
    /// Blocks of each chip.
    pub blocks: u32,
}

impl Plan {
    /// What the curves were made from, as JSON.
    pub fn json(&self, date: Option<&str>) -> String {
        let value = serde_json::json!({
            "part": self.part,
            "seed": self.seed,
            "chips": self.chips,
            "blocks": self.blocks,
            "version": env!("CARGO_PKG_VERSION"),
            "commit": env!("WORDLINE_COMMIT"),
            "date": date,
        });
        format!("{value:#}\n")
    }
}

/// All curves.
pub fn measure(plan: &Plan) -> Result<Vec<Curves>, ConfigErrors> {
    let model = CellModel::preset(plan.part)?;
    let population = Population::new(&model, plan.seed, plan.chips, plan.blocks);
    Ok(vec![
        dead_blocks(&model, &population),
        n12(&population),
        errors_by_height(&model),
        errors_by_time(&model),
        voltages(&model),
        retries(&model, &population),
        references(&model),
    ])
}

fn line(name: impl Into<String>, points: impl Iterator<Item = (f64, f64)>) -> Line {
    Line { name: name.into(), points: points.collect() }
}

fn aged(wear_kcycles: f64, retention_hours: f64) -> CellState {
    CellState { wear_kcycles, retention_hours, ..CellState::default() }
}

fn best_rber(model: &CellModel, state: &CellState, page: usize) -> f64 {
    let cells = model.distribution(state);
    model.page_rber(&cells, page, &model.optimal_references(&cells))
}

/// Share of blocks that no longer keep data for 12 months, by cycles and dwell.
fn dead_blocks(model: &CellModel, population: &Population<'_>) -> Curves {
    let lines = [1.0, 5.0, 60.0].map(|dwell| {
        let lives = population.lives(model, dwell, 30.0);
        let dead = |kcycles: f64| lives.iter().filter(|life| **life <= kcycles).count() as f64;
        let points = (0..=60).map(|half| 0.5 * f64::from(half));
        let share = points.map(|kcycles| (kcycles, 100.0 * dead(kcycles) / lives.len().max(1) as f64));
        line(format!("dwell {dwell} min"), share)
    });
    let title = "Dead blocks (%)".to_owned();
    Curves { name: "dead_blocks", title, across: "K cycles", lines: lines.into() }
}

/// N12 of the worst, the median and the best block, by cycles.
fn n12(population: &Population<'_>) -> Curves {
    let at = |kcycles: f64| (kcycles, population.n12(kcycles));
    let measured: Vec<(f64, Vec<f64>)> = (0..=16).map(|kcycles| at(f64::from(kcycles))).collect();
    let pick = |name: &str, of: &dyn Fn(&[f64]) -> f64| {
        line(name, measured.iter().map(|(kcycles, bits)| (*kcycles, of(bits))))
    };
    let lines = vec![
        pick("worst block", &|bits| extremes(bits).1),
        pick("median block", &|bits| quantile(bits, 0.5)),
        pick("best block", &|bits| extremes(bits).0),
    ];
    let title = "N12: errors of the worst wordline after 12 months (bits a sector)".to_owned();
    Curves { name: "n12", title, across: "K cycles", lines }
}

/// RBER by a wordline's height and page type, at 3K cycles and 12 months.
fn errors_by_height(model: &CellModel) -> Curves {
    let of_page = |page: usize| {
        let at = move |height: f64| CellState { height, ..aged(3.0, 12.0 * MONTH_HOURS) };
        let heights = (0..=20).map(|step| f64::from(step) / 20.0);
        line(
            format!("page type {page}"),
            heights.map(move |height| (height, 1e3 * best_rber(model, &at(height), page))),
        )
    };
    let lines = (0..model.page_types()).map(of_page).collect();
    let title = "RBER by wordline at 3K cycles and 12 months, best references (1e-3)".to_owned();
    Curves { name: "rber_by_height", title, across: "distance from the centre of the block", lines }
}

/// RBER of the first page type by retention time and cycles.
fn errors_by_time(model: &CellModel) -> Curves {
    let of_wear = |wear: f64| {
        let months = (0..=24).map(|half| 0.5 * f64::from(half));
        let points =
            months.map(move |time| (time, 1e3 * best_rber(model, &aged(wear, time * MONTH_HOURS), 0)));
        line(format!("{wear}K cycles"), points)
    };
    let lines = [0.0, 1.0, 3.0, 5.0, 8.0].map(of_wear).into();
    let title = "RBER of page type 0, worst wordline, best references (1e-3)".to_owned();
    Curves { name: "rber_by_retention", title, across: "months at 30 degrees C", lines }
}

/// Threshold voltages: cells by 20 mV.
fn voltages(model: &CellModel) -> Curves {
    let ages = [("fresh", aged(0.0, 0.0)), ("3K cycles", aged(3.0, 0.0))];
    let ages = ages.into_iter().chain([("3K cycles, 12 months", aged(3.0, 12.0 * MONTH_HOURS))]);
    let histogram = |(name, state): (&str, CellState)| {
        let cells = model.distribution(&state);
        let share = move |volts: f64| {
            let below = |volts: f64, i: usize| {
                0.5 * libm::erfc((cells.mean[i] - volts) / (cells.sigma[i] * core::f64::consts::SQRT_2))
            };
            let in_bin = |i: usize| below(volts + 0.01, i) - below(volts - 0.01, i);
            100.0 * (0..cells.states).map(in_bin).sum::<f64>() / cells.states as f64
        };
        line(name, (-200..=350).map(|step| 0.02 * f64::from(step)).map(move |volts| (volts, share(volts))))
    };
    let title = "Threshold voltages (% of cells in 20 mV)".to_owned();
    Curves { name: "threshold_voltages", title, across: "V", lines: ages.map(histogram).collect() }
}

/// Retries of the blocks of the population after 12 months, with a table by cycles.
fn retries(model: &CellModel, population: &Population<'_>) -> Curves {
    let of_age = |kcycles: f64| {
        let bits = population.n12(kcycles);
        let needed: Vec<u32> = bits.iter().map(|bits| model.retries_by_cycles(*bits, kcycles)).collect();
        let share = move |count: u32| {
            let number = needed.iter().filter(|retries| **retries == count).count();
            100.0 * number as f64 / needed.len().max(1) as f64
        };
        line(format!("{kcycles}K cycles"), (0..=9).map(move |count| (f64::from(count), share(count))))
    };
    let title = "Retries after 12 months, table by cycles (% of blocks)".to_owned();
    Curves { name: "retries", title, across: "retries", lines: [1.0, 4.0, 7.0].map(of_age).into() }
}

/// How far the best references are from the factory's, after 12 months and at once.
fn references(model: &CellModel) -> Curves {
    let factory = *model.default_references(0);
    let shift = |name: String, hours: f64, threshold: usize| {
        let at = move |wear: f64| {
            let cells = model.distribution(&aged(wear, hours));
            1e3 * (model.optimal_references(&cells)[threshold] - factory[threshold]).abs()
        };
        line(name, (0..=24).map(|half| 0.5 * f64::from(half)).map(move |wear| (wear, at(wear))))
    };
    let top = model.states() - 1;
    let mut lines = vec![shift("R1 up at once".to_owned(), 0.0, 1)];
    if top > 1 {
        lines.push(shift("R2 up at once".to_owned(), 0.0, 2));
    }
    lines.push(shift(format!("R{top} down after 12 months"), 12.0 * MONTH_HOURS, top));
    let title = "Best references from the factory's (mV)".to_owned();
    Curves { name: "reference_shifts", title, across: "K cycles", lines }
}
