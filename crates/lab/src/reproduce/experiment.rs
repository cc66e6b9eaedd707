//! What is run for a paper: `experiment.toml`. Techniques, workloads and ages make grids, the studies.

use super::PaperError;
use super::laboratory::Laboratory;
use super::loops::unrolled;
use super::shipped::Shipped;
use super::skew::Skew;
use super::study::{FittedAgain, Names, Study, study};
use crate::base::document::{File, Walk};
use crate::past::age::AgeSteps;
use crate::plan::run_config::RunConfig;
use ssd::config::{Layer, Origin};
use ssd::drive_config::{Resolved, resolve, resolve_table};
use ssd::sections::CellPart;
use std::collections::BTreeMap;
use std::path::Path;
use toml::de::DeTable;
use workload::{Spec, WorkloadError};

/// Tables of a configuration that are not the drive's.
const FOREIGN: &[&str] = &["run", "workload"];

/// A technique: settings on top of the study's drive.
#[derive(Clone, Debug)]
pub struct Technique {
    /// Name in claims and results.
    pub name: String,
    /// Name in plots.
    pub label: String,
    /// Settings, as of `--set`.
    pub set: Vec<String>,
    /// More of them at quick scale.
    pub quick_set: Vec<String>,
}

/// How old the drive's cells are.
#[derive(Clone, Debug)]
pub struct Age {
    /// Name in claims and results.
    pub name: String,
    /// Steps by which they get there.
    pub steps: AgeSteps,
}

/// Where requests come from.
#[derive(Clone, Debug)]
pub enum From {
    /// A generator or a shipped stand-in.
    Spec(Box<Spec>),
    /// A recorded trace of this file name, wherever it lies.
    Trace(String),
}

/// A workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Name in claims and results.
    pub name: String,
    /// Name in plots.
    pub label: String,
    /// Where its requests come from.
    pub from: From,
    /// Settings on top.
    pub set: Vec<String>,
    /// More of them at quick scale.
    pub quick_set: Vec<String>,
    /// Settings of the drive that it runs on, on top of those of the technique.
    pub drive: Vec<String>,
    /// Steps that its drive is aged by, after those of the age.
    pub steps: AgeSteps,
    /// Where it stands on the horizontal axis of curves.
    pub across: Option<f64>,
    /// The skew of its reads, for `achieved`.
    pub skew: Option<Skew>,
}

impl Workload {
    /// What its phases are called; `None` if it has none, or is driven by jobs.
    fn phases(&self) -> Option<Vec<String>> {
        match &self.from {
            From::Spec(spec) if !spec.is_driven() => spec.phase_names(),
            _ => None,
        }
    }
}

/// A plot of bars: one for each technique at each workload.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name of its file.
    pub name: String,
    /// Headline.
    pub title: String,
    /// Of which study.
    pub study: String,
    /// `bars`: a metric, normalised to `against` if that is named. `lines`: the same as curves. `cdf`: latencies of
    /// reads. `shares`: metrics that are parts of a whole. `series`: a metric as curves over the measured phases.
    /// `versions`: units of files in flash.
    pub kind: FigureKind,
    /// Bars, lines and series: normalised to this technique.
    pub against: String,
    /// Lines and series: what is on the horizontal axis, with its unit.
    pub across: String,
    /// At which age; empty for the first of the study.
    pub age: String,
}

/// What a plot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// A metric.
    Bars(String),
    /// A metric over what workloads differ in.
    Lines(String),
    /// A metric over the measured phases.
    Series(String),
    /// How read latencies are distributed, a plot for each workload.
    Cdf,
    /// Parts of a whole.
    Shares(Vec<String>),
    /// Units of files in flash over time, a plot for each workload.
    Versions,
}

/// How far a quick run may drift from its expectations; %.
#[derive(Clone, Debug, Default)]
pub struct Tolerances {
    /// Of metrics that are not named.
    pub default_percent: f64,
    /// Of single metrics.
    pub metrics: Vec<(String, f64)>,
}

impl Tolerances {
    /// That of a metric.
    pub fn of(&self, metric: &str) -> f64 {
        let named = self.metrics.iter().find(|(name, _)| name == metric);
        named.map_or(self.default_percent, |(_, percent)| *percent)
    }
}

/// All of `experiment.toml`.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What it is about.
    pub title: String,
    /// All techniques.
    pub techniques: Vec<Technique>,
    /// All ages.
    pub ages: Vec<Age>,
    /// All workloads.
    pub workloads: Vec<Workload>,
    /// All studies.
    pub studies: Vec<Study>,
    /// All that is measured of blocks alone.
    pub laboratories: Vec<Laboratory>,
    /// All plots.
    pub figures: Vec<Figure>,
    /// For `--check`.
    pub tolerances: Tolerances,
}

/// Reads `experiment.toml` of a folder.
pub fn read(folder: &Path) -> Result<Experiment, PaperError> {
    of(&File::read(&folder.join("experiment.toml"))?, folder, None)
}

/// What such a file of a folder says, where shipped workloads are what they are, or one of them is another.
pub(super) fn of(file: &File, folder: &Path, shipped: Option<&Shipped>) -> Result<Experiment, PaperError> {
    file.with_made(unrolled, |top| {
        let techniques = top.tables("technique", technique)?;
        let ages = top.tables("age", age)?;
        let workloads = top.tables("workload", |walk| workload(walk, folder, shipped))?;
        let all = Names {
            techniques: techniques.iter().map(|it| it.name.clone()).collect(),
            ages: ages.iter().map(|it| it.name.clone()).collect(),
            workloads: workloads.iter().map(|it| it.name.clone()).collect(),
            phases: workloads.iter().map(Workload::phases).collect(),
        };
        all.check(top)?;
        let studies = top.tables("study", |walk| study(walk, name(walk)?, folder, &all))?;
        let figures = top.tables("figure", |walk| figure(walk, &studies, &all))?;
        let laboratories = top.tables("laboratory", |walk| Laboratory::read(walk, name(walk)?))?;
        let tolerances = top.table("check", tolerances)?.unwrap_or_default();
        Ok(Experiment {
            title: top.need_text("title")?,
            techniques,
            ages,
            workloads,
            studies,
            laboratories,
            figures,
            tolerances,
        })
    })
}

fn technique(walk: &Walk<'_>) -> Result<Technique, PaperError> {
    let name = name(walk)?;
    Ok(Technique {
        label: walk.text("label")?.unwrap_or_else(|| name.clone()),
        set: walk.texts("set")?.unwrap_or_default(),
        quick_set: walk.texts("quick_set")?.unwrap_or_default(),
        name,
    })
}

/// A name that can be part of a file's.
fn name(walk: &Walk<'_>) -> Result<String, PaperError> {
    let name = walk.need_text("name")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.chars().all(is_plain) && !name.starts_with('.') {
        return Ok(name);
    }
    Err(walk.wrong("name", format!("{name:?}"), "letters, digits, _, - and ."))
}

fn age(walk: &Walk<'_>) -> Result<Age, PaperError> {
    Ok(Age { name: name(walk)?, steps: steps(walk)? })
}

fn steps(walk: &Walk<'_>) -> Result<AgeSteps, PaperError> {
    let texts = walk.texts("steps")?.unwrap_or_default();
    AgeSteps::parse(&texts).map_err(|problem| walk.config_error("steps", problem))
}

fn workload(walk: &Walk<'_>, folder: &Path, shipped: Option<&Shipped>) -> Result<Workload, PaperError> {
    let name = name(walk)?;
    let trace = walk.text("trace")?;
    let spec = match walk.raw_table("spec")? {
        None => None,
        Some((table, at, file)) => Some(spec(table, shipped).map_err(|error| {
            let (key, at) = match error.problem() {
                workload::Problem::Setting { span: Some(span), .. } => ("", span.start),
                _ => ("spec", at),
            };
            file.wrong(at, &walk.key(key), error.to_string(), "see wordline run --help")
        })?),
    };
    let spec = spec.map(|mut spec| {
        spec.resolve_path(folder);
        spec
    });
    let from = match (trace, spec) {
        (Some(trace), None) => From::Trace(trace),
        (None, Some(spec)) => From::Spec(Box::new(spec)),
        (both, _) => {
            let found =
                if both.is_some() { "found both of trace and spec" } else { "found neither trace nor spec" };
            return Err(walk.wrong("trace", found, "the file name of a trace, or a table [workload.spec]"));
        }
    };
    let settings = |key| -> Result<Vec<String>, PaperError> {
        let set = walk.texts(key)?.unwrap_or_default();
        match set.iter().find(|text| !text.contains('=')) {
            Some(text) => Err(walk.wrong(key, format!("{text:?}"), "KEY=VALUE")),
            None => Ok(set),
        }
    };
    let label = walk.text("label")?.unwrap_or_else(|| name.clone());
    Ok(Workload {
        label,
        name,
        from,
        set: settings("set")?,
        quick_set: settings("quick_set")?,
        drive: walk.texts("drive")?.unwrap_or_default(),
        steps: steps(walk)?,
        across: walk.number("across")?,
        skew: Skew::read(walk)?,
    })
}

fn spec(table: &DeTable<'_>, shipped: Option<&Shipped>) -> Result<Spec, WorkloadError> {
    shipped.map_or_else(|| Spec::from_table(table), |shipped| shipped.spec(table))
}

fn figure(walk: &Walk<'_>, studies: &[Study], all: &Names) -> Result<Figure, PaperError> {
    let name_of_study = walk.need_text("study")?;
    let Some(study) = studies.iter().find(|study| study.name == name_of_study) else {
        let names: Vec<&str> = studies.iter().map(|study| study.name.as_str()).collect();
        return Err(walk.no_such("study", "study", &name_of_study, &names));
    };
    let metrics = walk.texts("metrics")?.unwrap_or_default();
    let names = super::metrics::names();
    if let Some(wrong) = metrics.iter().find(|metric| !names.contains(&metric.as_str())) {
        return Err(walk.no_such("metrics", "metric", wrong, &names));
    }
    let kind = walk.need_text("kind")?;
    let kind = match (kind.as_str(), metrics.as_slice()) {
        ("bars", [metric]) => FigureKind::Bars(metric.clone()),
        ("lines", [metric]) => FigureKind::Lines(metric.clone()),
        ("series", [metric]) => FigureKind::Series(metric.clone()),
        ("cdf", []) => FigureKind::Cdf,
        ("shares", [_, _, ..]) => FigureKind::Shares(metrics),
        ("versions", []) => FigureKind::Versions,
        ("bars" | "lines" | "series" | "cdf" | "shares" | "versions", _) => {
            let allowed =
                "one metric for bars, lines and series, none for cdf and versions, two or more for shares";
            return Err(walk.wrong("metrics", format!("{metrics:?}"), allowed));
        }
        (other, _) => {
            let kinds = ["bars", "lines", "series", "cdf", "shares", "versions"];
            return Err(walk.no_such("kind", "kind of figure", other, &kinds));
        }
    };
    let against = walk.text("against")?.unwrap_or_default();
    let age = walk.text("age")?.unwrap_or_default();
    for (key, what, name, names) in
        [("against", "technique", &against, &all.techniques), ("age", "age", &age, &all.ages)]
    {
        if !name.is_empty() {
            walk.known(key, what, std::slice::from_ref(name), names)?;
        }
    }
    let across = walk.text("across")?.unwrap_or_default();
    if across.is_empty() == matches!(kind, FigureKind::Lines(_) | FigureKind::Series(_)) {
        let allowed =
            "what is on the horizontal axis of kind = \"lines\" or \"series\", with its unit; else nothing";
        return Err(walk.wrong("across", format!("{across:?}"), allowed));
    }
    if kind == FigureKind::Versions && !study.versions {
        let found = format!("study {name_of_study:?}, which does not watch files");
        return Err(walk.wrong("study", found, "a study with versions = true for kind = \"versions\""));
    }
    if matches!(kind, FigureKind::Series(_)) && study.measured.is_empty() {
        let found = format!("study {name_of_study:?}, which measures no phases");
        return Err(walk.wrong("study", found, "a study with measured for kind = \"series\""));
    }
    let (name, title) = (name(walk)?, walk.need_text("title")?);
    Ok(Figure { name, title, study: name_of_study, kind, against, across, age })
}

fn tolerances(walk: &Walk<'_>) -> Result<Tolerances, PaperError> {
    let default_percent = walk.number("default_percent")?.unwrap_or(0.0);
    let metrics = walk.table("percent", Walk::all_numbers)?.unwrap_or_default();
    let names = super::metrics::names();
    if let Some((wrong, _)) = metrics.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        return Err(walk.no_such("percent", "metric", wrong, &names));
    }
    Ok(Tolerances { default_percent, metrics })
}

/// A drive and how workloads are run on it.
pub struct Setup {
    /// The drive.
    pub resolved: Resolved,
    /// The `[run]` table.
    pub run: RunConfig,
    /// Where its keys were set.
    pub run_origins: BTreeMap<String, Origin>,
}

impl Setup {
    fn of(layers: &[Layer]) -> Result<Self, PaperError> {
        let resolved = resolve(layers, FOREIGN).map_err(PaperError::Config)?;
        let mut run = RunConfig::default();
        let run_origins = resolve_table(layers, "run", &mut run).map_err(PaperError::Config)?;
        Ok(Setup { resolved, run, run_origins })
    }

    /// Where a key of the drive or of `[run]` was set; `None` if it has its default.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.resolved.origin(key).or_else(|| self.run_origins.get(key))
    }
}

impl Experiment {
    /// The drive of a technique in a study, and of a workload that has settings of its own for it.
    pub fn setup(
        &self,
        study: &Study,
        of: (&Technique, &Workload),
        quick: bool,
        seed: u64,
    ) -> Result<Setup, PaperError> {
        Setup::of(&layers_with_other(study, of, quick, seed)?)
    }

    /// Puts what a study says of cells in those that such a drive has otherwise.
    pub(super) fn put_cells(
        &self,
        study: &Study,
        of: (&Technique, &Workload),
        quick: bool,
        cells: &mut CellPart,
    ) -> Result<(), PaperError> {
        let layers = layers_with_other(study, of, quick, 1)?;
        for path in CellPart::SECTIONS {
            if let Some(section) = cells.section_mut(path) {
                resolve_table(&layers, path, section).map_err(PaperError::Config)?;
            }
        }
        Ok(())
    }

    /// The drives of a study at a scale: each of its techniques with each of its workloads.
    pub(super) fn drives_of(&self, study: &Study, quick: bool) -> Vec<(&Technique, &Workload)> {
        let workloads = || self.workloads.iter().filter(|it| study.workloads(quick).contains(&it.name));
        let techniques = self.techniques.iter().filter(|it| study.techniques.contains(&it.name));
        techniques.flat_map(|technique| workloads().map(move |workload| (technique, workload))).collect()
    }

    /// The technique of that name.
    pub fn technique(&self, name: &str) -> Option<&Technique> {
        self.techniques.iter().find(|it| it.name == name)
    }
}

/// All that configures the drive of a technique in a study, and of a workload; with another value of a key, and what
/// was fitted to that.
fn layers_with_other(
    study: &Study,
    of: (&Technique, &Workload),
    quick: bool,
    seed: u64,
) -> Result<Vec<Layer>, PaperError> {
    let mut layers = layers(study, of, quick, seed)?;
    if let Some(varied) = &study.varied {
        // Where the key is set is asked of the full scale: a smaller one may set it again.
        let full = Setup::of(&self::layers(study, of, false, seed)?)?;
        if full.origin(&varied.key) == Some(&varied.origin) {
            layers.push(Layer::file("varied", format!("{} = {}", varied.key, varied.value)));
        }
    }
    let is_its = |it: &&FittedAgain| (&it.technique, &it.workload) == (&of.0.name, &of.1.name);
    let markers = study.markers.iter().filter(is_its);
    layers.extend(markers.map(|marker| Layer::file("fitted again", marker.text.clone())));
    Ok(layers)
}

/// The same as the paper is.
fn layers(
    study: &Study,
    (technique, workload): (&Technique, &Workload),
    quick: bool,
    seed: u64,
) -> Result<Vec<Layer>, PaperError> {
    let mut layers = Vec::new();
    for path in study.config.iter().chain(study.quick.iter().filter(|_| quick)) {
        let file = File::read(path)?;
        layers.push(Layer::file(path.display().to_string(), file.text));
    }
    let of_scale = technique.quick_set.iter().filter(|_| quick);
    for text in technique.set.iter().chain(of_scale).chain([&format!("drive.seed={seed}")]) {
        let mut layer = Layer::set(text).map_err(PaperError::Config)?;
        layer.source = format!("technique {}: {text}", technique.name);
        layers.push(layer);
    }
    for text in &workload.drive {
        let mut layer = Layer::set(text).map_err(PaperError::Config)?;
        layer.source = format!("workload {}: {text}", workload.name);
        layers.push(layer);
    }
    Ok(layers)
}
