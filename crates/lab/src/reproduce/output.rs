//! Outcomes for people (a table) and for programs (`results.toml`).

use super::beside;
use super::verdict::{Finding, Measured};
use super::{Basis, Cell, Claim, Outcome, Verdict};
use crate::base::number::digits;
use crate::report::table::grid;
use crate::result::problem::{legend, letters, marked};
use crate::result::problems::tally_names;
use std::fmt::Write as _;

/// How results begin.
pub const BEGINS: &str = "# Written by `wordline reproduce`.\n";

impl Claim {
    /// What is claimed, in words.
    pub fn claimed_text(&self) -> String {
        match (&self.rule, self.claimed) {
            (super::Rule::FirstOfWorkloads { workloads }, _) => {
                format!("{} < {}", workloads[0], workloads[1..].join(", "))
            }
            (rule, _) if !rule.order().is_empty() => rule.order().join(" < "),
            (super::Rule::Interval { from, to }, _) => {
                format!("{} to {} {}", claimed(*from), claimed(*to), self.unit).trim_end().to_owned()
            }
            (super::Rule::Limit { at_most }, Some(limit)) => {
                format!("{} {} {}", if *at_most { "<=" } else { ">=" }, claimed(limit), self.unit)
                    .trim_end()
                    .to_owned()
            }
            (super::Rule::Sign { above }, Some(bound)) => {
                format!("{} {} {}", if *above { ">" } else { "<" }, claimed(bound), self.unit)
                    .trim_end()
                    .to_owned()
            }
            (_, Some(value)) => format!("{} {}", claimed(value), self.unit).trim_end().to_owned(),
            (_, None) => String::new(),
        }
    }
}

/// A claimed number, as exact as it is claimed.
fn claimed(value: f64) -> String {
    let told = digits(value);
    let is_exact = told.replace(',', "").parse() == Ok(value);
    if is_exact { told } else { value.to_string() }
}

impl Finding {
    /// What was measured, in words.
    pub fn measured_text(&self) -> String {
        match &self.measured {
            Measured::Nothing(_) => "-".to_owned(),
            Measured::Number(value) => {
                let spread = self.spread.map(|spread| format!(" +- {}", digits(spread))).unwrap_or_default();
                format!("{}{spread} {}", digits(*value), self.claim.unit).trim_end().to_owned()
            }
            Measured::Order(order) => {
                let names: Vec<&str> = order.iter().map(|(name, _)| name.as_str()).collect();
                names.join(" < ")
            }
        }
    }
}

/// How many claims are met, missed and neither.
pub(super) fn counts(findings: &[Finding]) -> [usize; 3] {
    let [met, missed] = ["met", "missed"].map(|name| count(findings, name));
    [met, missed, findings.len() - met - missed]
}

fn count(findings: &[Finding], name: &str) -> usize {
    findings.iter().filter(|finding| finding.verdict.name() == name).count()
}

impl Outcome {
    /// How many claims are met, missed and neither: open or not judged.
    pub fn counts(&self) -> [usize; 3] {
        counts(&self.findings)
    }

    /// How many runs there were, each phase and seed one.
    fn runs(&self) -> usize {
        self.cells.iter().map(|cell| cell.seeds.len()).sum()
    }

    /// How many of the claims that were judged are met, by what that would tell.
    pub fn by_basis(&self) -> String {
        let of = |(name, basis): (&str, Basis)| {
            let all = self.findings.iter().filter(|finding| finding.claim.basis == basis);
            let judged: Vec<&Verdict> = all.map(|it| &it.verdict).filter(|it| it.is_decided()).collect();
            let met = judged.iter().filter(|verdict| **verdict == &Verdict::Met).count();
            format!("{name} {met} of {}", judged.len())
        };
        Basis::ALL.map(of).join(", ")
    }

    /// Claimed beside measured, for people.
    pub fn table(&self) -> String {
        let scale = if self.quick { "quick scale" } else { "full scale" };
        let mut text = format!("{}: {} ({scale}, seed {})\n\n", self.paper, self.title, self.seed);
        let head =
            ["claim", "where", "claimed", "measured", "n", "rule", "basis", "verdict"].map(str::to_owned);
        let mut rows = vec![head.to_vec()];
        for finding in &self.findings {
            rows.push(vec![
                finding.claim.id.clone(),
                finding.claim.place.clone(),
                finding.claim.claimed_text(),
                finding.measured_text(),
                if finding.pairs > 0 { finding.pairs.to_string() } else { "-".to_owned() },
                finding.claim.rule.text().to_owned(),
                finding.claim.basis.name().to_owned(),
                finding.verdict.name().to_owned(),
            ]);
        }
        let whys = self.findings.iter().map(|finding| finding.verdict.why());
        for (line, why) in grid(&rows).lines().zip([""].into_iter().chain(whys)) {
            let _ = writeln!(text, "{}", format!("{line}  {why}").trim_end());
        }
        let [met, missed, undecided] = self.counts();
        let open = match count(&self.findings, "open") {
            0 => String::new(),
            open => format!(" ({open} of them open)"),
        };
        let _ =
            write!(text, "\n{met} met, {missed} missed, {undecided} not judged{open}; {} runs", self.runs());
        if self.resumed > 0 {
            let _ = write!(text, ", {} of them from before", self.resumed);
        }
        let _ = writeln!(text, "\nmet by basis: {}", self.by_basis());
        text.push_str(&doubtful(&self.cells));
        text.push_str(&beside::table(&self.cells));
        text.push_str(&beside::less(&self.cells));
        for name in &self.skipped {
            let _ = writeln!(text, "skipped: workload {name}: its trace was not found (--traces DIR)");
        }
        text
    }

    /// The whole outcome as TOML: seed, commit and date, claims, cells.
    pub fn toml(&self, date: Option<&str>) -> String {
        let mut text = String::from(BEGINS);
        let version = crate::result::version();
        let (version, commit) = version.split_once('+').unwrap_or((&version, ""));
        let [met, missed, not_judged] = self.counts();
        let scale = if self.quick { "quick" } else { "full" };
        let _ = writeln!(text, "paper = {:?}\nversion = {version:?}\ncommit = {commit:?}", self.paper);
        if let Some(date) = date {
            let _ = writeln!(text, "date = {date:?}");
        }
        let _ = writeln!(text, "seed = {}\nscale = {scale:?}", self.seed);
        let _ = writeln!(text, "met = {met}\nmissed = {missed}\nnot_judged = {not_judged}");
        let _ = writeln!(text, "skipped = {:?}", self.skipped);
        for finding in &self.findings {
            finding_toml(&mut text, finding);
        }
        for found in &self.laboratories {
            let numbers = found.numbers.iter().map(|(line, value)| format!("{line:?} = {value:?}"));
            let numbers = numbers.collect::<Vec<_>>().join("\n");
            let _ =
                writeln!(text, "\n[[laboratory]]\nname = {:?}\n[laboratory.numbers]\n{numbers}", found.name);
        }
        for cell in &self.cells {
            cell_toml(&mut text, cell);
        }
        text
    }
}

/// How many runs have problems and which these are, marked as in the tables of sweeps; nothing if none has.
fn doubtful(cells: &[Cell]) -> String {
    let names: Vec<Vec<&str>> =
        cells.iter().map(|cell| cell.problems.iter().map(String::as_str).collect()).collect();
    let Some(told) = tally_names(&names) else { return String::new() };
    let mut text = format!("\nproblems: {told}\n");
    let marks = names.iter().map(|names| letters(names.iter().copied()));
    let marked_cells = cells.iter().zip(marks).filter(|(_, marks)| !marks.is_empty());
    for (cell, marks) in marked_cells.clone().take(DOUBTFUL_SHOWN) {
        let _ = writeln!(text, "  {}", marked(cell.place.name(), &marks));
    }
    let more = marked_cells.clone().count().saturating_sub(DOUBTFUL_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more: `problems` in results.toml");
    }
    let all: Vec<String> = marked_cells.map(|(_, marks)| marks).collect();
    let _ = writeln!(text, "{}", legend(all.iter().map(String::as_str)).unwrap_or_default());
    text
}

/// Runs with problems that the table lists.
const DOUBTFUL_SHOWN: usize = 12;

pub(super) fn finding_toml(text: &mut String, finding: &Finding) {
    let claim = &finding.claim;
    let _ = writeln!(
        text,
        "\n[[claim]]\nid = {:?}\nwhere = {:?}\ntext = {:?}",
        claim.id, claim.place, claim.text
    );
    let _ = writeln!(text, "kind = {:?}\nrule = {:?}", claim.rule.kind(), claim.rule.text());
    let _ = writeln!(text, "basis = {:?}\nclaimed = {:?}", claim.basis.name(), finding.claim.claimed_text());
    if finding.pairs > 0 {
        let _ = writeln!(text, "n = {}", finding.pairs);
    }
    match &finding.measured {
        Measured::Nothing(_) => {}
        Measured::Number(value) => {
            let _ = writeln!(text, "measured = {value:?}\nunit = {:?}", claim.unit);
            if let Some(spread) = finding.spread {
                let _ = writeln!(text, "spread = {spread:?}");
            }
        }
        Measured::Order(order) => {
            let list: Vec<String> =
                order.iter().map(|(name, value)| format!("[{name:?}, {value:?}]")).collect();
            let _ = writeln!(text, "measured = [{}]", list.join(", "));
        }
    }
    let _ = writeln!(text, "verdict = {:?}", finding.verdict.name());
    if !finding.verdict.why().is_empty() {
        let _ = writeln!(text, "why = {:?}", finding.verdict.why());
    }
    if !claim.note.is_empty() {
        let _ = writeln!(text, "note = {:?}", claim.note);
    }
}

fn cell_toml(text: &mut String, cell: &Cell) {
    let place = &cell.place;
    let _ = writeln!(text, "\n[[cell]]\nstudy = {:?}\ntechnique = {:?}", place.study, place.technique);
    let _ = writeln!(text, "workload = {:?}\nage = {:?}", place.workload, place.age);
    if !place.phase.is_empty() {
        let _ = writeln!(text, "phase = {:?}", place.phase);
    }
    if cell.seeds.len() > 1 {
        let _ = writeln!(text, "seeds = {:?}", cell.seeds);
    }
    let _ = writeln!(text, "requests = {}", cell.result.requests_measured);
    if !cell.problems.is_empty() {
        let _ = writeln!(text, "problems = {:?}", cell.problems);
    }
    // The keys of counters have dots.
    let quoted = |name: &str| if name.contains('.') { format!("{name:?}") } else { name.to_owned() };
    for (key, values) in [("metrics", &cell.metrics), ("spread", &cell.spread)] {
        // A spread of 0 says nothing.
        let told = values.iter().filter(|(_, value)| key == "metrics" || **value > 0.0);
        let told: Vec<String> = told.map(|(name, value)| format!("{} = {value:?}", quoted(name))).collect();
        if key == "metrics" || !told.is_empty() {
            let _ = writeln!(text, "{key} = {{ {} }}", told.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claimed_number_is_told_as_exactly_as_it_is_claimed() {
        assert_eq!([0.0048, 1400.7, 40.0, 332_000.0].map(claimed), ["0.0048", "1400.7", "40", "332,000"]);
    }
}
