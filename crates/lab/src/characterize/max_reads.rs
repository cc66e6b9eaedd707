//! Reads endured by pattern, group of wordlines, age, program mode and page type (calibration sections 2.2 to 2.4).

use super::reads::{BlockOfWordlines, Law, Pattern, Spread, Victim, WORDLINES, reads_until};
use super::sheet::{CYCLES, Cell, Sheet, line};
use crate::base::threads::on_all_cores;
use crate::report::plot::Line;
use ssd::nand::cell::{CellModel, Group};

/// Ages, in 1000 cycles.
const KCYCLES: [f64; 7] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0];

/// One measurement.
struct Measured {
    pattern: &'static str,
    victim: String,
    law: Law,
    kcycles: f64,
    mode: usize,
    /// Page type that is read; none where all reads count 1.
    page: Option<usize>,
    reads: u64,
}

impl Measured {
    fn row(&self) -> [Cell; 7] {
        [
            self.pattern.into(),
            self.victim.as_str().into(),
            self.law.name().into(),
            self.kcycles.into(),
            (self.mode as u64).into(),
            self.page.map_or("any".to_owned(), |page| page.to_string()).into(),
            self.reads.into(),
        ]
    }
}

pub(super) fn measure(model: &CellModel, seed: u64) -> [Sheet; 2] {
    [by_pattern(model, seed), by_mode(model)]
}

/// Reads until a page is lost, from a counter for each wordline: a table for all patterns, and the plots.
fn by_pattern(model: &CellModel, seed: u64) -> Sheet {
    let jobs: Vec<(f64, Law)> =
        KCYCLES.into_iter().flat_map(|kcycles| Law::ALL.map(|law| (kcycles, law))).collect();
    let measured = on_all_cores(jobs.len(), |job| at_age(model, seed, jobs[job].0, jobs[job].1));
    let measured: Vec<Measured> = measured.into_iter().flatten().collect();
    let pick = |pattern: &str, victim: &str, law: Law, mode: usize, page: Option<usize>, name: String| {
        let points = measured.iter().filter(|own| {
            own.pattern == pattern
                && own.victim == victim
                && own.law == law
                && (own.mode, own.page) == (mode, page)
        });
        line(name, points.map(|own| (own.kcycles, own.reads as f64 / 1e3)))
    };
    let plain = |pattern, victim: &str, law: Law| {
        pick(pattern, victim, law, 0, None, format!("{victim}, {} law", law.name()))
    };
    let of_groups = |pattern| -> Vec<Line> {
        Group::ALL.map(|group| plain(pattern, &format!("{group:?}"), Law::Linear)).into()
    };
    let mut hammered = of_groups("one wordline");
    hammered.push(plain("one wordline", "Worst", Law::Voltage));
    let mut even = of_groups("round");
    even.extend(["median wordline", "last wordline"].map(|victim| plain("round", victim, Law::Linear)));
    even.push(plain("random", "first wordline", Law::Linear));
    let modes = (0..model.part().modes.read_endurance.len()).map(|mode| {
        let name = format!("mode {mode}, page type {}", worst_page(model));
        pick("one wordline", "Worst", Law::Linear, mode, Some(worst_page(model)), name)
    });
    let pages = (0..model.page_types()).filter(|&page| page != worst_page(model)).map(|page| {
        pick("one wordline", "Worst", Law::Linear, 0, Some(page), format!("mode 0, page type {page}"))
    });
    let modes: Vec<Line> = modes.chain(pages).collect();
    let names = ["pattern", "lost", "law", "kcycles", "mode", "page_read", "reads"];
    Sheet::new("max_reads", names, measured.iter().map(Measured::row))
        .plot(
            "max_reads_one_wordline",
            "Reads of one wordline endured, by its neighbours' group (thousands)",
            CYCLES,
            hammered,
        )
        .plot(
            "max_reads_even",
            "Reads of all wordlines in turn endured, by what is lost (thousands)",
            CYCLES,
            even,
        )
        .plot(
            "max_reads_by_mode",
            "Reads of one wordline endured, by mode and page type read (thousands)",
            CYCLES,
            modes,
        )
}

/// The page type whose reads do the most harm.
fn worst_page(model: &CellModel) -> usize {
    let weights = (0..model.page_types()).map(|page| model.read_weight(page, 0));
    weights.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(page, _)| page)
}

/// All patterns at one age.
fn at_age(model: &CellModel, seed: u64, kcycles: f64, law: Law) -> Vec<Measured> {
    let block = BlockOfWordlines::new(model, WORDLINES, kcycles, law, Spread::Groups);
    let spread = BlockOfWordlines::new(model, WORDLINES, kcycles, law, Spread::Wordlines);
    let mut found = Vec::new();
    let mut add = |pattern, victim: &str, mode, page, reads: Option<u64>| {
        let victim = victim.to_owned();
        found.extend(reads.map(|reads| Measured { pattern, victim, law, kcycles, mode, page, reads }));
    };
    let weights: Vec<(usize, Option<usize>, f64)> = core::iter::once((0, None, 1.0))
        .chain((0..model.part().modes.read_endurance.len()).flat_map(|mode| {
            (0..model.page_types()).map(move |page| (mode, Some(page), model.read_weight(page, mode)))
        }))
        .collect();
    for &(mode, page, weight) in &weights {
        for group in Group::ALL {
            let (one, name) = (Pattern::One(block.neighbour_of_worst(group)), format!("{group:?}"));
            let victim = Victim::Of(group);
            add("one wordline", &name, mode, page, block.reads_until_lost(one, victim, weight));
            add("round", &name, mode, page, block.reads_until_lost(Pattern::Round, victim, weight));
        }
    }
    for (victim, name) in [(Victim::Median, "median wordline"), (Victim::Last, "last wordline")] {
        add("round", name, 0, None, spread.reads_until_lost(Pattern::Round, victim, 1.0));
    }
    let place = (1e3 * kcycles) as u64;
    add("random", "first wordline", 0, None, block.random_reads_until_lost(seed, place));
    found
}

/// Reads that a block's one counter allows, by page type and program mode (redFTL+).
fn by_mode(model: &CellModel) -> Sheet {
    let limit = f64::from(model.part().disturb.max_reads);
    let modes = &model.part().modes;
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (mode, pass) in modes.pass_ratio.iter().enumerate() {
        let mut points = Vec::new();
        for page in 0..model.page_types() {
            let weight = model.read_weight(page, mode);
            let reads = reads_until(|reads| reads * weight >= limit);
            rows.push([
                (mode as u64).into(),
                (page as u64).into(),
                (*pass).into(),
                modes.program_time[mode].into(),
                weight.into(),
                (reads as u64).into(),
            ]);
            points.push((page as f64, reads / 1e3));
        }
        curves.push(line(format!("mode {mode}: {pass} of the pass voltage"), points));
    }
    let names = ["mode", "page_type", "pass_ratio", "program_time", "weight", "reads"];
    Sheet::new("max_reads_of_block", names, rows).plot(
        "max_reads_of_block",
        "Reads of one page type that a block's counter allows (thousands)",
        "Page type",
        curves,
    )
}
