//! The papers' numbers beside ours, with a verdict by rule.
//!
//! A miss is a result, not an error: it stays in the table. The rules were chosen by how a number is printed, not by
//! what we measure; whether the number helped to choose a constant stands beside it (calibration section 0.1).

mod correction;
mod elsewhere;
mod finding;
mod markers;
mod reading;
mod voltage;
mod wear;

pub use finding::{Finding, Fitted, Rule, Verdict};

use crate::base::number::digits;
use crate::base::sources::commit;
use crate::characterize::monte_carlo::{self, AGES};
use crate::characterize::population::Population;
use crate::report::cells::NONE;
use crate::report::table::grid;
use finding::Findings;
use ssd::config::ConfigErrors;
use ssd::nand::cell::CellModel;
use std::fmt::Write as _;

/// How what is measured begins as TOML.
pub const BEGINS: &str = "# Written by `wordline lab check";

/// The parts that the check measures.
pub const PARTS: [&str; 5] = ["tlc_48l", "slc", "mlc", "mlc_hire", "qlc"];

/// How much is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Seed of all random sequences.
    pub seed: u64,
    /// Chips of the population.
    pub chips: u32,
    /// Blocks of each chip.
    pub blocks: u32,
    /// Single cells drawn, over all parts and ages; 0 for none, and no lines about them.
    pub cells: u64,
    /// Only this part of [`PARTS`].
    pub part: Option<&'static str>,
}

impl Plan {
    /// The papers' population of 160 chips x 120 blocks, and 10^8 cells.
    pub const FULL: Plan = Plan { seed: 1, chips: 160, blocks: 120, cells: 100_000_000, part: None };
    /// A sixth of the blocks and a hundredth of the cells.
    pub const QUICK: Plan = Plan { seed: 1, chips: 80, blocks: 40, cells: 1_000_000, part: None };
}

/// The table, and what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was asked for.
    pub plan: Plan,
    /// The lines.
    pub findings: Vec<Finding>,
}

/// Measures everything.
pub fn run(plan: &Plan) -> Result<Check, ConfigErrors> {
    let mut findings = Vec::new();
    for part in PARTS.into_iter().filter(|part| plan.part.is_none_or(|only| only == *part)) {
        let model = CellModel::preset(part)?;
        let mut of_part = Findings { part, list: Vec::new() };
        match part {
            "tlc_48l" => {
                let population = Population::new(&model, plan.seed, plan.chips, plan.blocks);
                wear::tlc(&model, &population, &mut of_part)?;
                voltage::tlc(&model, &population, &mut of_part);
                reading::tlc(&model, &population, &mut of_part);
                correction::tlc(&model, &population, &mut of_part)?;
                markers::tlc(&model, &population, plan.seed, &mut of_part)?;
            }
            "mlc" => reading::mlc(&model, &mut of_part),
            "mlc_hire" => correction::hire(&model, &mut of_part),
            _ => {}
        }
        single_cells(&model, plan, &mut of_part);
        findings.append(&mut of_part.list);
    }
    if plan.part.is_none() {
        findings.extend(elsewhere::findings());
    }
    Ok(Check { plan: plan.clone(), findings })
}

fn single_cells(model: &CellModel, plan: &Plan, findings: &mut Findings) {
    if plan.cells == 0 {
        return;
    }
    let parts = if plan.part.is_some() { 1 } else { PARTS.len() as u64 };
    let counts = monte_carlo::count(model, plan.seed, plan.cells.div_ceil(parts * AGES.len() as u64));
    for (age, (wear, hours, reads)) in AGES.into_iter().enumerate() {
        let of_age = || counts.iter().filter(|count| count.age == age);
        let most = of_age().map(monte_carlo::Count::deviation).fold(0.0, f64::max);
        let cells = of_age().map(|count| count.cells).max().unwrap_or(0);
        let quantity = format!(
            "{cells} single cells at {wear}K cycles, {hours} h, {reads} of the reads: off the integrals (sigma)"
        );
        findings.add(&quantity, "own check", (4.0, most), Rule::AtMost, Fitted::No);
    }
}

impl Check {
    /// How many lines are met, missed and not judged.
    pub fn counts(&self) -> [usize; 3] {
        let count = |verdict| self.findings.iter().filter(|finding| finding.verdict() == verdict).count();
        [Verdict::Met, Verdict::Missed, Verdict::NotJudged].map(count)
    }

    /// The verdicts counted, and how much was measured.
    fn remark(&self) -> String {
        let [met, missed, open] = self.counts();
        let plan = &self.plan;
        format!(
            "{met} met, {missed} missed, {open} not judged; {} chips x {} blocks, {} single cells, seed {}\n",
            plan.chips, plan.blocks, plan.cells, plan.seed
        )
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let head =
            ["quantity", "part", "source", "claimed", "measured", "tolerance", "used in fitting", "verdict"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for finding in &self.findings {
            rows.push(vec![
                finding.quantity.clone(),
                finding.part.to_owned(),
                finding.source.to_owned(),
                digits(finding.claimed),
                finding.measured.map_or(NONE.to_owned(), digits),
                finding.rule.text().to_owned(),
                finding.fitted_text().to_owned(),
                finding.verdict().text().to_owned(),
            ]);
        }
        rows
    }

    /// The table for people.
    pub fn table(&self) -> String {
        format!("{}\n{}", grid(&self.rows()), self.remark())
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let mut text =
            format!("# What the papers say and what the laboratory measures\n\n{}\n", self.remark());
        for (number, row) in self.rows().iter().enumerate() {
            let _ = writeln!(text, "| {} |", row.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
            }
        }
        text
    }

    /// The table as TOML, with what it was made from; `date` is not known here and goes in if given.
    pub fn toml(&self, date: Option<&str>) -> String {
        let (plan, [met, missed, open]) = (&self.plan, self.counts());
        let mut text = format!("{BEGINS} --out DIR`.\n");
        let _ = writeln!(text, "version = {:?}", env!("CARGO_PKG_VERSION"));
        let _ = writeln!(text, "commit = {:?}", commit());
        if let Some(date) = date {
            let _ = writeln!(text, "date = {date:?}");
        }
        let _ = writeln!(text, "seed = {}\nchips = {}\nblocks = {}", plan.seed, plan.chips, plan.blocks);
        let _ = writeln!(text, "cells = {}\nmet = {met}\nmissed = {missed}\nnot_judged = {open}", plan.cells);
        for finding in &self.findings {
            let _ = writeln!(text, "\n[[finding]]\nquantity = {:?}", finding.quantity);
            let _ = writeln!(text, "part = {:?}\nsource = {:?}", finding.part, finding.source);
            let _ = writeln!(text, "claimed = {:?}", finding.claimed);
            // What was not measured has no number.
            if let Some(measured) = finding.measured {
                let _ = writeln!(text, "measured = {measured:?}");
            }
            let _ = writeln!(text, "tolerance = {:?}", finding.rule.text());
            let _ = writeln!(text, "used_in_fitting = {:?}", finding.fitted_text());
            let _ = writeln!(text, "verdict = {:?}", finding.verdict().text());
        }
        text
    }
}
