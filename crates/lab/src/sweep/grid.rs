//! Sweep files: a configuration with tables that say which of its keys vary, and how.

use super::baseline::Baseline;
use super::error::SweepError;
use super::labels::Labels;
use super::sample;
use super::tables::{Leaf, Source, Table};
use crate::base::number::count;
use crate::result::metrics::metric_keys;
use std::cmp::Ordering::Equal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use toml::de::DeTable;

/// Tables of a sweep file that are not of the drive, the run or the workload.
pub const TABLES: [&str; 5] = ["sweep", "grid", "zip", "sample", "labels"];
/// The most runs of a sweep.
pub const RUNS_MAX: u64 = 1_000_000;

/// A sweep file, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Runs of each point, with a seed each.
    pub repeats: u32,
    /// The seed of each point's first run; the others count up from it.
    pub seed: u64,
    /// Varied keys down the side of its pivot tables; empty if the file names none.
    pub rows: Vec<String>,
    /// Varied keys across the top; empty if the file names none.
    pub columns: Vec<String>,
    /// Metrics to be shown; empty if the file names none.
    pub metrics: Vec<String>,
    /// What tables call things.
    pub labels: Labels,
    /// What all points are compared with; empty if the file names nothing.
    pub baseline: Baseline,
    /// Drives are aged as the file has them, without what varies and can change on an aged drive; else each as it is
    /// itself.
    pub ages_base: bool,
    /// Dotted keys that vary: those of `[grid]`, `[zip]` and `[sample]`, each in the order of the file.
    pub varied: Vec<String>,
    axes: Vec<Axis>,
    /// Points of `[sample]` that were drawn a second time, and are not run again.
    pub duplicates: usize,
    lines: BTreeMap<String, u32>,
}

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Dotted keys and their values in TOML, as `--set KEY=VALUE` takes them.
    pub settings: Vec<(String, String)>,
    /// Which of the repeats it is, from 0.
    pub repeat: u32,
    /// Its seed.
    pub seed: u64,
}

/// Texts one after the other: a million short ones take no more room than their letters.
#[derive(Clone, Debug, Default, PartialEq)]
struct Texts {
    letters: String,
    ends: Vec<usize>,
}

impl Texts {
    fn at(&self, place: usize) -> &str {
        let from = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[from..self.ends[place]]
    }
}

impl FromIterator<String> for Texts {
    fn from_iter<I: IntoIterator<Item = String>>(texts: I) -> Self {
        let mut all = Texts::default();
        for text in texts {
            all.letters.push_str(&text);
            all.ends.push(all.letters.len());
        }
        all
    }
}

/// Keys that change together, and for each its values at each step.
#[derive(Clone, Debug, Default, PartialEq)]
struct Axis {
    keys: Vec<String>,
    values: Vec<Texts>,
}

impl Axis {
    fn steps(&self) -> usize {
        self.values.first().map_or(0, |values| values.ends.len())
    }
}

/// Which steps were there before, of values key by key.
fn repeated(values: &[Vec<String>]) -> Vec<bool> {
    let steps = values.first().map_or(0, Vec::len);
    let mut order: Vec<usize> = (0..steps).collect();
    let compare = |a: &usize, b: &usize| {
        values.iter().map(|of| of[*a].cmp(&of[*b])).find(|it| it.is_ne()).unwrap_or(Equal)
    };
    // Equal ones keep their order: the first is not repeated.
    order.sort_by(compare);
    let mut again = vec![false; steps];
    order.windows(2).for_each(|pair| again[pair[1]] = compare(&pair[0], &pair[1]).is_eq());
    again
}

/// Nothing varies, perhaps because a table is called otherwise.
fn nothing_varies(source: &Source<'_>, file: &DeTable<'_>) -> SweepError {
    let allowed = "keys in [grid], [zip] or [sample], or repeats above 1 in [sweep]";
    let misspelt = file.iter().find_map(|(key, _)| {
        let name: &str = key.get_ref();
        let found = format!("a sweep that varies nothing, and [{name}]");
        let error = source.wrong(key.span().start, "sweep", found, allowed).near(name, TABLES);
        error.near.as_deref().is_some_and(|near| near != name).then_some(error)
    });
    misspelt.unwrap_or_else(|| source.wrong(0, "sweep", "a sweep that varies nothing", allowed))
}

impl Sweep {
    /// Reads a sweep file's text; messages call it by its path.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SweepError> {
        let source = Source { path, text };
        let file = DeTable::parse(text).map_err(|error| {
            source.wrong(error.span().map_or(0, |span| span.start), "", error.message(), "TOML")
        })?;
        let [head, grid, zip, sample, labels] = TABLES.map(|name| Table::of(&source, file.get_ref(), name));
        let head = head?;
        let mut sweep = head.as_ref().map_or_else(|| Ok(Sweep::empty()), Sweep::read)?;
        let mut keys = Keys { source: &source, at: BTreeMap::new(), varied: Vec::new() };
        let mut axes = Vec::new();
        if let Some(table) = grid? {
            axes.extend(product(&table, &mut keys)?);
        }
        if let Some(table) = zip? {
            axes.push(together(&table, &mut keys)?);
        }
        if let Some(table) = sample? {
            axes.push(sweep.sampled(&table, &mut keys)?);
        }
        axes.retain(|axis| !axis.keys.is_empty());
        if axes.is_empty() && sweep.repeats == 1 {
            return Err(nothing_varies(&source, file.get_ref()));
        }
        let sizes = axes.iter().map(|axis| axis.steps() as u64).chain([u64::from(sweep.repeats)]);
        let runs = sizes.fold(1, u64::saturating_mul);
        if runs > RUNS_MAX {
            let allowed = format!("up to {} runs", count(RUNS_MAX));
            return Err(source.wrong(0, "sweep", format!("{} runs", count(runs)), allowed));
        }
        sweep.axes = axes;
        sweep.lines = keys.at.iter().map(|(key, (at, _))| (key.clone(), source.line(*at))).collect();
        sweep.varied = keys.varied;
        if let Some(table) = head {
            sweep.check_layout(&table)?;
            sweep.check_metrics(&table)?;
            let allowed = "values of varied keys, such as { ftl.gc_victim.policy = \"greedy\" }";
            if let Some(baseline) = table.table("baseline", allowed)? {
                sweep.baseline = Baseline::read(&baseline, &sweep.values())?;
            }
        }
        if let Some(table) = labels? {
            sweep.labels = Labels::read(&table, &sweep.values())?;
        }
        Ok(sweep)
    }

    fn empty() -> Self {
        Sweep {
            repeats: 1,
            seed: 1,
            rows: Vec::new(),
            columns: Vec::new(),
            metrics: Vec::new(),
            labels: Labels::default(),
            baseline: Baseline::default(),
            ages_base: false,
            varied: Vec::new(),
            axes: Vec::new(),
            duplicates: 0,
            lines: BTreeMap::new(),
        }
    }

    fn read(table: &Table<'_>) -> Result<Self, SweepError> {
        table.only(&["repeats", "seed", "rows", "columns", "metrics", "baseline", "age_with"])?;
        Ok(Sweep {
            ages_base: table.is_second("age_with", ["each", "base"])?,
            repeats: table.whole("repeats", 1, RUNS_MAX)?.unwrap_or(1) as u32,
            seed: table.whole("seed", 0, u64::MAX)?.unwrap_or(1),
            rows: table.texts("rows")?,
            columns: table.texts("columns")?,
            metrics: table.texts("metrics")?,
            ..Sweep::empty()
        })
    }

    /// `[sample]` as an axis, each point once.
    fn sampled(&mut self, table: &Table<'_>, keys: &mut Keys<'_>) -> Result<Axis, SweepError> {
        let mut axis = Axis::default();
        for leaf in sample::keys(table)? {
            axis.keys.push(keys.add(table, &leaf)?);
        }
        let mut values = sample::values(table, self.seed, RUNS_MAX)?;
        let again = repeated(&values);
        self.duplicates = again.iter().filter(|again| **again).count();
        for column in &mut values {
            let mut again = again.iter();
            column.retain(|_| again.next() != Some(&true));
        }
        axis.values = values.into_iter().map(Texts::from_iter).collect();
        Ok(axis)
    }

    /// The varied keys with the values that each has.
    fn values(&self) -> Vec<(String, Vec<String>)> {
        let of = |key: &String| {
            let axis = self.axes.iter().find_map(|axis| {
                let at = axis.keys.iter().position(|other| other == key)?;
                Some((0..axis.steps()).map(|step| axis.values[at].at(step).to_owned()).collect())
            });
            (key.clone(), axis.unwrap_or_default())
        };
        self.varied.iter().map(of).collect()
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.axes.iter().map(Axis::steps).product::<usize>() * self.repeats as usize
    }

    /// All runs: the first key of `[grid]` changes slowest, the repeats fastest.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        (0..self.runs()).map(|run| self.point(run))
    }

    /// One run, by its number in the order of all.
    pub fn point(&self, run: usize) -> Point {
        let repeats = self.repeats as usize;
        let (repeat, mut rest) = ((run % repeats) as u32, run / repeats);
        let mut steps = Vec::new();
        for axis in self.axes.iter().rev() {
            steps.push(rest % axis.steps());
            rest /= axis.steps();
        }
        let of_axis = |(axis, step): (&Axis, usize)| -> Vec<(String, String)> {
            let values = axis.values.iter().map(|values| values.at(step).to_owned());
            axis.keys.iter().cloned().zip(values).collect()
        };
        let settings = self.axes.iter().zip(steps.into_iter().rev()).flat_map(of_axis).collect();
        Point { settings, repeat, seed: self.seed.wrapping_add(u64::from(repeat)) }
    }

    /// Metrics are numbers that results have.
    fn check_metrics(&self, table: &Table<'_>) -> Result<(), SweepError> {
        if self.metrics.is_empty() {
            return Ok(());
        }
        let known = metric_keys();
        let Some(found) = self.metrics.iter().find(|metric| !known.contains(metric)) else { return Ok(()) };
        let error = table.wrong("metrics", format!("{found:?}"), known.join(", "));
        Err(error.near(found, known.iter().map(String::as_str)))
    }

    /// Rows and columns are varied keys, each once.
    fn check_layout(&self, table: &Table<'_>) -> Result<(), SweepError> {
        let mut known = BTreeSet::new();
        for (list, names) in [("rows", &self.rows), ("columns", &self.columns)] {
            for name in names {
                if !self.varied.contains(name) {
                    let found = format!("{name:?}, which does not vary");
                    let varied = self.varied.iter().map(String::as_str);
                    return Err(table.wrong(list, found, self.varied.join(", ")).near(name, varied));
                }
                if !known.insert(name) {
                    return Err(table.wrong(
                        list,
                        format!("{name:?} twice"),
                        "each key once, in rows or columns",
                    ));
                }
            }
        }
        Ok(())
    }

    /// The line on which a varied key stands, from 1.
    pub fn line_of(&self, key: &str) -> Option<u32> {
        self.lines.get(key).copied()
    }
}

/// The varied keys met so far.
struct Keys<'a> {
    source: &'a Source<'a>,
    /// First byte of each, and the table that it is in.
    at: BTreeMap<String, (usize, String)>,
    varied: Vec<String>,
}

impl Keys<'_> {
    /// Takes a key that must be new.
    fn add(&mut self, table: &Table<'_>, leaf: &Leaf<'_>) -> Result<String, SweepError> {
        if let Some((at, other)) = self.at.insert(leaf.key.clone(), (leaf.at, table.path.clone())) {
            let found = format!("also in [{other}], line {}", self.source.line(at));
            return Err(table.wrong_at(leaf, found, "each key once"));
        }
        self.varied.push(leaf.key.clone());
        Ok(leaf.key.clone())
    }
}

/// `[grid]`: an axis for each key.
fn product(table: &Table<'_>, keys: &mut Keys<'_>) -> Result<Vec<Axis>, SweepError> {
    let axis = |leaf: &Leaf<'_>| {
        let values = vec![table.distinct(leaf)?.into_iter().collect()];
        Ok(Axis { keys: vec![keys.add(table, leaf)?], values })
    };
    table.leaves(|_| false)?.iter().map(axis).collect()
}

/// `[zip]`: one axis for all keys.
fn together(table: &Table<'_>, keys: &mut Keys<'_>) -> Result<Axis, SweepError> {
    let mut axis = Axis::default();
    let leaves = table.leaves(|_| false)?;
    let mut all: Vec<Vec<String>> = Vec::new();
    for leaf in &leaves {
        let values = table.values(leaf)?;
        let first = &leaves[0];
        if let Some(length) = all.first().map(Vec::len).filter(|length| *length != values.len()) {
            let (own, line) = (values.len(), table.source.line(first.at));
            let found = format!("a list of {own}; {} (line {line}) has {length}", first.key);
            return Err(table.wrong_at(leaf, found, "lists of equal length"));
        }
        all.push(values);
        axis.keys.push(keys.add(table, leaf)?);
    }
    if let Some(step) = repeated(&all).iter().position(|again| *again) {
        let step: Vec<&str> = all.iter().map(|values| values[step].as_str()).collect();
        return Err(table.wrong_at(&leaves[0], format!("{} twice", step.join(" with ")), "each step once"));
    }
    axis.values = all.into_iter().map(Texts::from_iter).collect();
    Ok(axis)
}

#[cfg(test)]
mod tests;
