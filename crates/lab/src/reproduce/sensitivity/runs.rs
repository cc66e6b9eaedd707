//! The runs: as it is, with other seeds, and with each other value.

use super::markers::Marked;
use super::tags::Tagged;
use super::told::Report;
use super::trials::{Outcome, Trial, Tried, in_full};
use super::tries::Try;
use super::{keys, trimmed, varied};
use crate::base::document::{File, PaperError};
use crate::reproduce::cell::{Cell, Place};
use crate::reproduce::options::Options;
use crate::reproduce::outcome;
use crate::reproduce::paper::Paper;
use crate::reproduce::stored::Stored;
use crate::reproduce::study::Seeds;
use crate::reproduce::verdict::{self, Finding, Runs, Verdict};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// How many seeds tell whether a verdict turns with them: that of the run and those that follow it (assumed).
pub const SEEDS: u64 = 3;

/// Seeds that are listed, not counted, are moved by so much for the next.
const SEED_STEP: u64 = 1000;

/// What is tried of a paper, and with what.
pub struct Sensitivity {
    paper: Paper,
    trimmed: Paper,
    options: Options,
    /// All that is tagged and tried.
    pub tagged: Vec<Tagged>,
}

/// A paper as it is.
pub struct Base {
    /// Its cells.
    cells: Vec<Cell>,
    /// Seconds of each of its studies.
    seconds: BTreeMap<String, f64>,
    /// What becomes of its claims, with one seed after the other.
    pub findings: Vec<Vec<Finding>>,
    /// How many runs there were with one seed.
    pub runs: usize,
    /// How often other values need the age marker fitted again.
    pub fits: usize,
    /// Seconds that a fit takes.
    seconds_of_fit: f64,
    /// The drives that go by such a marker.
    marked: Marked,
}

/// What came of another value, and whether the age marker was fitted to its cells.
struct Ended {
    end: Result<(Paper, Vec<Cell>), Outcome>,
    fitted_again: bool,
}

/// How far the work is.
#[derive(Clone, Debug)]
pub struct SoFar<'a> {
    /// What is being done: `as it is`, `seed 2`, or a key.
    pub what: &'a str,
    /// So many pieces are done.
    pub done: usize,
    /// Of so many.
    pub total: usize,
}

/// Who is told how far the work is.
type Tell<'a> = &'a dyn Fn(SoFar<'_>);

impl Sensitivity {
    /// What is tagged in all that judges a paper's claims. What runs keep is kept in `options.out` until the end.
    pub fn plan(paper: &Paper, options: &Options) -> Result<Self, PaperError> {
        let trimmed = trimmed::trimmed(paper);
        let tagged = keys::all(paper, &trimmed, options.quick)?;
        let options = Options { resume: true, ..options.clone() };
        Ok(Sensitivity { paper: paper.clone(), trimmed, options, tagged })
    }

    /// How many other values there are.
    pub fn tries(&self) -> usize {
        self.tagged.iter().map(|tagged| tagged.tries.len()).sum()
    }

    /// The studies that are run.
    pub fn studies(&self) -> impl Iterator<Item = &str> {
        self.trimmed.experiment.studies.iter().map(|study| study.name.as_str())
    }

    /// Runs the paper as it is, with one seed after the other.
    pub fn base(&self, tell: Tell<'_>) -> Result<Base, PaperError> {
        let marked = Marked::of(&self.trimmed, self.options.quick)?;
        let mut base = Base {
            cells: Vec::new(),
            seconds: BTreeMap::new(),
            findings: Vec::new(),
            runs: 0,
            fits: self.fits(&marked),
            seconds_of_fit: marked.seconds()?,
            marked,
        };
        for number in 0..SEEDS {
            let (what, total) = (format!("seed {}", self.options.seed.wrapping_add(number)), SEEDS as usize);
            tell(SoFar { what: &what, done: number as usize, total });
            let (paper, folder) = (shifted(&self.trimmed, number), if number == 0 { "base" } else { "seed" });
            let seed = self.options.seed.wrapping_add(number);
            let options = Options { seed, out: self.options.out.join(folder), ..self.options.clone() };
            let mut cells = Vec::new();
            for study in &paper.experiment.studies {
                let mut alone = paper.clone();
                alone.experiment.studies.retain(|other| other.name == study.name);
                let begun = Instant::now();
                let outcome = run(&alone, &options)?;
                if let Some(why) = outcome.failed.first() {
                    return Err(PaperError::Run { name: paper.name.clone(), message: why.clone() });
                }
                if number == 0 {
                    base.seconds.insert(study.name.clone(), begun.elapsed().as_secs_f64());
                    base.runs += outcome.cells.iter().map(|cell| cell.seeds.len()).sum::<usize>();
                }
                cells.extend(outcome.cells);
            }
            let numbers = cells.iter().map(|cell| (&cell.place, &cell.metrics));
            base.findings.push(self.found(numbers, self.options.quick));
            if number == 0 {
                base.cells = cells;
            } else {
                remove(&options.out)?;
            }
        }
        Ok(base)
    }

    /// How often other values need the age marker fitted again.
    fn fits(&self, marked: &Marked) -> usize {
        let quick = self.options.quick;
        let all = self.tagged.iter().flat_map(|tagged| tagged.tries.iter().map(move |one| (tagged, one)));
        let others = all.filter_map(|(tagged, one)| varied::with(&self.trimmed, tagged, one, quick).ok());
        others.map(|other| marked.fits(&other, quick)).sum()
    }

    /// Seconds that all other values take, by those of the studies as they are and of a fit.
    pub fn price(&self, base: &Base) -> f64 {
        let of = |study: &String| base.seconds.get(study).copied().unwrap_or(0.0);
        let each = |tagged: &Tagged| tagged.tries.len() as f64 * tagged.studies.iter().map(of).sum::<f64>();
        self.tagged.iter().map(each).sum::<f64>() + base.fits as f64 * base.seconds_of_fit
    }

    /// Runs it with each other value.
    pub fn run(&self, base: &Base, tell: Tell<'_>) -> Result<Vec<Tried>, PaperError> {
        let (mut all, total) = (Vec::new(), self.tries());
        let mut done = 0;
        for tagged in &self.tagged {
            let mut trials = Vec::new();
            for one in &tagged.tries {
                tell(SoFar { what: &tagged.key, done, total });
                trials.push(self.one(base, tagged, one)?);
                done += 1;
            }
            all.push(Tried { tagged: tagged.clone(), trials });
        }
        Ok(all)
    }

    /// Seconds that [`run_in_full`](Self::run_in_full) takes, by as many requests as the stored results have.
    pub fn price_in_full(&self, base: &Base, tried: &[Tried]) -> Result<f64, PaperError> {
        let stored = Stored::read(&File::read(&self.paper.folder.join("results.toml"))?)?;
        let is_run = |place: &Place| {
            let studies = &self.trimmed.experiment.studies;
            studies
                .iter()
                .any(|study| study.name == place.study && study.techniques.contains(&place.technique))
        };
        let of = |study: &String| {
            let quick = base.cells.iter().filter(|cell| cell.place.study == *study);
            let quick: u64 = quick.map(|cell| cell.result.requests_measured).sum();
            let full = stored.cells.iter().zip(&stored.requests);
            let full = full.filter(|((place, _), _)| place.study == *study && is_run(place));
            let times = full.map(|(_, requests)| requests).sum::<u64>() as f64 / quick.max(1) as f64;
            base.seconds.get(study).copied().unwrap_or(0.0) * times.max(1.0)
        };
        let each = |tried: &Tried| {
            let turned = || tried.trials.iter().filter(|trial| trial.outcome.has_turned());
            let fitted = turned().filter(|trial| trial.fitted_again).count() as f64;
            let runs = turned().count() as f64 * tried.tagged.studies.iter().map(of).sum::<f64>();
            runs + fitted * base.seconds_of_fit
        };
        Ok(tried.iter().map(each).sum())
    }

    /// Runs at full scale what turned a verdict, beside the stored results.
    pub fn run_in_full(&self, tried: &mut [Tried], tell: Tell<'_>) -> Result<(), PaperError> {
        let file = File::read(&self.paper.folder.join("results.toml"))?;
        let stored = Stored::read(&file)?;
        let before = self.found(stored.cells.iter().map(|(place, metrics)| (place, metrics)), false);
        let full = keys::all(&self.paper, &self.trimmed, false)?;
        let options = Options { quick: false, ..self.options.clone() };
        let marked = Marked::of(&self.trimmed, false)?;
        let total = in_full(tried);
        let mut done = 0;
        for tried in tried {
            let tagged = full.iter().find(|it| (&it.key, &it.set) == (&tried.tagged.key, &tried.tagged.set));
            let Some(tagged) = tagged else { continue };
            for trial in tried.trials.iter_mut().filter(|trial| trial.outcome.has_turned()) {
                tell(SoFar { what: &tagged.key, done, total });
                let is_it = |one: &&Try| match trial.one.factor {
                    Some(factor) => one.factor == Some(factor),
                    None => one.value == trial.one.value,
                };
                let Some(one) = tagged.tries.iter().find(is_it) else { continue };
                let others = |other: &Paper, cells: &[Cell]| {
                    let kept = stored.cells.iter().filter(|(place, _)| !has(other, place));
                    let kept = kept.map(|(place, metrics)| (place, metrics));
                    self.found(kept.chain(cells.iter().map(|cell| (&cell.place, &cell.metrics))), false)
                };
                trial.in_full = Some(match self.carry_out(&options, &marked, (tagged, one))?.end {
                    Ok((other, cells)) => judged(&before, &others(&other, &cells)),
                    Err(outcome) => outcome,
                });
                done += 1;
            }
        }
        Ok(())
    }

    /// What came of all of it. The runs' files go.
    pub fn report(self, base: &Base, tried: &[Tried]) -> Result<Report, PaperError> {
        remove(&self.options.out)?;
        Ok(Report::new(&self.paper.name, &self.options, &base.findings, tried))
    }

    /// Runs what uses a key with another value of it.
    fn one(&self, base: &Base, tagged: &Tagged, one: &Try) -> Result<Trial, PaperError> {
        let Ended { end, fitted_again } = self.carry_out(&self.options, &base.marked, (tagged, one))?;
        let outcome = end.map_or_else(|outcome| outcome, |(other, own)| self.outcome(base, &other, &own));
        Ok(Trial { one: one.clone(), outcome, fitted_again, in_full: None })
    }

    /// What came of the studies that use a key.
    fn outcome(&self, base: &Base, other: &Paper, own: &[Cell]) -> Outcome {
        let is_as_before = |cell: &Cell| {
            base.cells.iter().any(|before| (&before.place, &before.identity) == (&cell.place, &cell.identity))
        };
        if own.iter().all(is_as_before) {
            return Outcome::NoOther;
        }
        let cells = base.cells.iter().filter(|cell| !has(other, &cell.place)).chain(own);
        let found = self.found(cells.map(|cell| (&cell.place, &cell.metrics)), self.options.quick);
        judged(&base.findings[0], &found)
    }

    /// The cells of the studies that use a key, with another value of it; or why there are none.
    fn carry_out(
        &self,
        options: &Options,
        marked: &Marked,
        (tagged, one): (&Tagged, &Try),
    ) -> Result<Ended, PaperError> {
        let options = Options { out: self.options.out.join("other"), ..options.clone() };
        let from = Options { out: self.options.out.join("base"), ..options.clone() };
        let mut fitted_again = false;
        let ended = varied::with(&self.trimmed, tagged, one, options.quick).and_then(|mut other| {
            fitted_again = marked.fit(&mut other, options.quick)?;
            taken_over(&other.out(&from), &other.out(&options))?;
            run(&other, &options).map(|outcome| (other, outcome))
        });
        remove(&options.out)?;
        let end = match ended {
            Ok((_, outcome)) if !outcome.failed.is_empty() => Err(Outcome::Failed(told(&outcome.failed[0]))),
            Ok((other, outcome)) => Ok((other, outcome.cells)),
            Err(error @ PaperError::Run { .. }) => Err(Outcome::Failed(told(&error.to_string()))),
            Err(error @ (PaperError::File { .. } | PaperError::Missing { .. })) => return Err(error),
            Err(error) => Err(Outcome::Refused(told(&error.to_string()))),
        };
        Ok(Ended { end, fitted_again })
    }

    /// What becomes of the claims by numbers of runs.
    fn found<'c>(
        &'c self,
        numbers: impl IntoIterator<Item = (&'c Place, &'c BTreeMap<String, f64>)>,
        quick: bool,
    ) -> Vec<Finding> {
        let runs = Runs::of(&self.paper.experiment, quick, numbers);
        self.paper.claims.iter().map(|claim| verdict::find(claim, &runs)).collect()
    }
}

/// Which claims turned.
fn judged(before: &[Finding], after: &[Finding]) -> Outcome {
    let turned = before.iter().zip(after).filter(|(own, other)| turns(&own.verdict, &other.verdict));
    Outcome::Judged(turned.map(|(own, _)| own.claim.id.clone()).collect())
}

/// Whether a paper runs the study of a cell.
fn has(paper: &Paper, place: &Place) -> bool {
    paper.experiment.studies.iter().any(|study| study.name == place.study)
}

/// Whether one is met and the other missed.
fn turns(one: &Verdict, other: &Verdict) -> bool {
    matches!((one, other), (Verdict::Met, Verdict::Missed(_)) | (Verdict::Missed(_), Verdict::Met))
}

/// The first of several lines, with what was found.
fn told(why: &str) -> String {
    why.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The paper with the next seeds: those that are counted follow from the run's.
fn shifted(paper: &Paper, number: u64) -> Paper {
    let mut paper = paper.clone();
    for study in &mut paper.experiment.studies {
        for seeds in [&mut study.seeds, &mut study.quick_seeds] {
            if let Seeds::These(all) = seeds {
                all.iter_mut().for_each(|seed| *seed = seed.wrapping_add(number * SEED_STEP));
            }
        }
    }
    paper
}

fn run(paper: &Paper, options: &Options) -> Result<outcome::Outcome, PaperError> {
    paper.run(options, &|_| {})
}

/// Finished cells and aged drives of an earlier run for another: those that it has, too, are not run again.
fn taken_over(from: &Path, to: &Path) -> Result<(), PaperError> {
    let entries = match std::fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(PaperError::file(from, "read", error)),
    };
    std::fs::create_dir_all(to).map_err(|error| PaperError::file(to, "write", error))?;
    for entry in entries {
        let path = entry.map_err(|error| PaperError::file(from, "read", error))?.path();
        let Some(other) = path.file_name().map(|name| to.join(name)) else { continue };
        if path.is_dir() {
            taken_over(&path, &other)?;
        } else if std::fs::hard_link(&path, &other).is_err() {
            std::fs::copy(&path, &other).map_err(|error| PaperError::file(&other, "write", error))?;
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), PaperError> {
    if folder.is_dir() {
        std::fs::remove_dir_all(folder).map_err(|error| PaperError::file(folder, "write", error))?;
    }
    Ok(())
}
