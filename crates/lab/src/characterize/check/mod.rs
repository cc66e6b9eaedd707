//! The papers' numbers beside ours, with a verdict by rule.
//!
//! A miss is a result, not an error: it stays in the table. The rules were chosen by how a number is printed, not by
//! what we measure; whether the number helped to choose a constant stands beside it (calibration section 0.1).

mod correction;
mod elsewhere;
mod markers;
mod reading;
mod voltage;
mod wear;

use super::monte_carlo::{self, AGES};
use super::population::Population;
use crate::base::number::digits;
use crate::report::cells::NONE;
use crate::report::table::grid;
use ssd::config::ConfigErrors;
use ssd::nand::cell::CellModel;
use std::fmt::Write as _;

/// How what is measured begins as TOML.
pub const BEGINS: &str = "# Written by `wordline lab check";

/// The parts that the check measures.
pub const PARTS: [&str; 5] = ["tlc_48l", "slc", "mlc", "mlc_hire", "qlc"];

/// When a measured number meets a claimed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Counts, and times that a paper gives in whole units: equal.
    Exact,
    /// Three digits or more are printed: within 1 %.
    Printed,
    /// Two digits or fewer are printed, or a curve is read off: within 5 %.
    Rounded,
    /// A mean over the population: within 2 %.
    Mean,
    /// The ends of a population: within 10 %.
    Ends,
    /// "Up to": not more.
    AtMost,
    /// "At least", "some": not less.
    AtLeast,
    /// Nothing to judge by, for this reason.
    None(&'static str),
}

impl Rule {
    /// The rule as the table states it.
    pub fn text(self) -> &'static str {
        match self {
            Rule::Exact => "equal",
            Rule::Printed => "1 %",
            Rule::Rounded => "5 %",
            Rule::Mean => "2 %",
            Rule::Ends => "10 %",
            Rule::AtMost => "at most",
            Rule::AtLeast => "at least",
            Rule::None(why) => why,
        }
    }

    fn holds(self, claimed: f64, measured: f64) -> Option<bool> {
        let within = |share: f64| (measured - claimed).abs() <= share * claimed.abs();
        match self {
            Rule::Exact => Some((measured - claimed).abs() < 1e-9),
            Rule::Printed => Some(within(0.01)),
            Rule::Rounded => Some(within(0.05)),
            Rule::Mean => Some(within(0.02)),
            Rule::Ends => Some(within(0.10)),
            Rule::AtMost => Some(measured <= claimed),
            Rule::AtLeast => Some(measured >= claimed),
            Rule::None(_) => None,
        }
    }
}

/// Was the claimed number used to choose a constant of the model?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitted {
    /// The number itself was.
    Yes,
    /// Numbers beside it were, or it is one of several that a constant is a compromise of.
    Partly,
    /// It came out.
    No,
}

/// What becomes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// By the rule, the measured number is the claimed one.
    Met,
    /// It is not.
    Missed,
    /// There is no rule to judge by.
    NotJudged,
}

impl Verdict {
    /// `met`, `missed`, `not judged`.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Part measured.
    pub part: &'static str,
    /// What was measured, with its unit.
    pub quantity: String,
    /// Paper and figure or section.
    pub source: &'static str,
    /// What the paper says.
    pub claimed: f64,
    /// What the laboratory found, if it is a number and if it can be measured here.
    pub measured: Option<f64>,
    /// When they agree.
    pub rule: Rule,
    /// Whether that says anything.
    pub fitted: Fitted,
}

impl Finding {
    /// By the rule.
    pub fn verdict(&self) -> Verdict {
        let held = match self.measured {
            Some(measured) => self.rule.holds(self.claimed, measured),
            None if matches!(self.rule, Rule::None(_)) => None,
            None => Some(false),
        };
        match held {
            Some(true) => Verdict::Met,
            Some(false) => Verdict::Missed,
            None => Verdict::NotJudged,
        }
    }

    fn fitted_text(&self) -> &'static str {
        match self.fitted {
            Fitted::Yes => "yes",
            Fitted::Partly => "partly",
            Fitted::No => "no",
        }
    }
}

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

/// The lines being collected for one part.
struct Findings {
    part: &'static str,
    list: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, quantity: &str, source: &'static str, numbers: (f64, f64), rule: Rule, fitted: Fitted) {
        let (claimed, measured) = numbers;
        let (quantity, measured) = (quantity.to_owned(), Some(measured).filter(|found| found.is_finite()));
        self.list.push(Finding { part: self.part, quantity, source, claimed, measured, rule, fitted });
    }
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
        let _ = writeln!(text, "commit = {:?}", env!("WORDLINE_COMMIT"));
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
