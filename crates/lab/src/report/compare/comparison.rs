//! Results that are compared: which, with which of them, and by which keys and metrics.

use super::keys::{Key, differing, in_force, named, natural, told_apart};
use super::text::last_part;
use crate::report::table::title;
use crate::result::RunResult;
use crate::result::metrics::{Metric, ZERO_TELLS, metrics};
use crate::result::problem::{legend, letters, names};
use ssd::config::Problem;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// More results than these have rows, not columns.
pub(super) const COLUMNS_MAX: usize = 4;

/// Results to be compared, each with a name of its own.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub(super) results: Vec<RunResult>,
    /// Which of them the others are compared with.
    pub(super) baseline: usize,
    /// Where each is that was given, in the order in which they were.
    given: Vec<usize>,
    /// Keys that say which run it is, the outermost first.
    pub(super) apart: Vec<Key>,
    /// Keys that follow from these.
    pub(super) following: Vec<Key>,
    /// Metrics that were asked for, by their keys; all if nothing was asked for.
    chosen: Option<Vec<String>>,
}

/// A name that no result or nothing in them has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCompared {
    /// What was asked for.
    pub found: String,
    /// What there is.
    pub allowed: Vec<String>,
    /// What was probably meant.
    pub near: Option<String>,
}

impl NotCompared {
    fn new(found: &str, names: impl IntoIterator<Item = String>) -> Self {
        let allowed: Vec<String> = names.into_iter().collect();
        let near = match Problem::no_such_name("name", found, allowed.iter().map(String::as_str)) {
            Problem::NoSuchName { near, .. } => near,
            _ => None,
        };
        NotCompared { found: found.to_owned(), allowed, near }
    }
}

impl Comparison {
    /// Results with the folders or files that they are from. Those that have one name are called after these. In the
    /// order of a shell's list (`out/*`) they are put in the order in which people count; any other order stays.
    pub fn new(from: Vec<(PathBuf, RunResult)>) -> Self {
        let labels = labels(&from);
        let is_listed = from.windows(2).all(|pair| pair[0].0 <= pair[1].0) && from.len() > 1;
        let results = from.into_iter().zip(labels).map(|((_, result), name)| RunResult { name, ..result });
        Comparison::in_groups(results.collect(), is_listed)
    }

    /// The same of results that are in no files, in their order.
    pub fn of(results: &[RunResult]) -> Self {
        let from: Vec<(PathBuf, RunResult)> =
            results.iter().map(|result| (PathBuf::from(title(result)), result.clone())).collect();
        let labels = labels(&from);
        let named = results.iter().zip(labels).map(|(result, name)| RunResult { name, ..result.clone() });
        Comparison::in_groups(named.collect(), false)
    }

    /// Many results are put in groups by what was set differently.
    fn in_groups(results: Vec<RunResult>, is_listed: bool) -> Self {
        let (apart, _) = told_apart(differing(&results));
        let mut order: Vec<usize> = (0..results.len()).collect();
        if is_listed {
            order.sort_by(|&a, &b| natural(&results[a].name, &results[b].name));
        }
        if results.len() > COLUMNS_MAX {
            order.sort_by(|&a, &b| {
                let by_key = apart.iter().map(|key| natural(&key.shown(a), &key.shown(b)));
                by_key.fold(Ordering::Equal, Ordering::then)
            });
        }
        let place = |given: usize| order.iter().position(|at| *at == given).unwrap_or(0);
        let given: Vec<usize> = (0..results.len()).map(place).collect();
        let baseline = if is_listed { 0 } else { given.first().copied().unwrap_or(0) };
        let results: Vec<RunResult> = order.into_iter().map(|at| results[at].clone()).collect();
        let (apart, following) = told_apart(differing(&results));
        Comparison { results, baseline, given, apart, following, chosen: None }
    }

    /// Compares with the result that was given at this place, from 0.
    pub fn with_given_baseline(mut self, given: usize) -> Self {
        self.baseline = self.given[given];
        self
    }

    /// Compares with the result of that name.
    pub fn with_baseline(mut self, name: &str) -> Result<Self, NotCompared> {
        let names = || self.results.iter().map(|result| result.name.clone());
        self.baseline =
            names().position(|other| other == name).ok_or_else(|| NotCompared::new(name, names()))?;
        Ok(self)
    }

    /// Tells only these metrics, keys of the configuration, and sections of it.
    pub fn with_keys(mut self, names: &[&str]) -> Result<Self, NotCompared> {
        let (mut chosen, mut keys) = (Vec::new(), Vec::new());
        for name in names {
            let metric =
                metrics().into_iter().find(|metric| metric.key == *name || metric.name.trim() == *name);
            match (metric, named(name, &self.results)) {
                (Some(metric), _) => chosen.push(metric.key),
                (None, found) if !found.is_empty() => keys.extend(found),
                (None, _) => {
                    let settings: BTreeSet<&String> =
                        self.results.iter().flat_map(|of| of.config.keys()).collect();
                    let all = metrics().into_iter().map(|metric| metric.key);
                    return Err(NotCompared::new(name, all.chain(settings.into_iter().cloned())));
                }
            }
        }
        (self.apart, self.following, self.chosen) = (keys, Vec::new(), Some(chosen));
        Ok(self)
    }

    /// Where the result that was given at this place, from 0, is told.
    pub(crate) fn place_of(&self, given: usize) -> usize {
        self.given[given]
    }

    /// The results, in the order in which they are told, each with a name of its own.
    pub fn results(&self) -> &[RunResult] {
        &self.results
    }

    /// What plots head each result with: what its group has in common; nothing where there are none.
    pub(crate) fn groups(&self) -> Vec<String> {
        match self.apart.as_slice() {
            [first, _, ..] if self.results.len() > COLUMNS_MAX => (0..self.results.len())
                .map(|at| format!("{} = {}", first.name, last_part(&first.shown(at))))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Whether rows stand in groups, by the first key.
    pub(super) fn has_groups(&self) -> bool {
        self.apart.len() > 1 && self.apart[0].distinct().len() < self.results.len()
    }

    /// What a result is compared with: of its group the one that is otherwise set as the baseline, if there is one.
    pub(super) fn base_of(&self, result: usize) -> usize {
        let [group, rest @ ..] = self.apart.as_slice() else { return self.baseline };
        if !self.has_groups() {
            return self.baseline;
        }
        let is_it = |other: &usize| {
            let as_baseline = |key: &Key| key.shown(*other) == key.shown(self.baseline);
            group.shown(*other) == group.shown(result) && rest.iter().all(as_baseline)
        };
        (0..self.results.len()).find(is_it).unwrap_or(self.baseline)
    }

    /// The keys that are in force and not the same in all results, those first that say which run it is.
    pub(crate) fn differing_keys(&self) -> Vec<&String> {
        self.apart.iter().chain(&self.following).map(|key| &key.name).collect()
    }

    /// All keys that are in force.
    pub(crate) fn keys_in_force(&self) -> Vec<&String> {
        in_force(&self.results)
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.apart
    }

    pub(super) fn has_choice(&self) -> bool {
        self.chosen.is_some()
    }

    /// The metrics that any result has, of those asked for; in the order asked for.
    pub(super) fn metrics(&self) -> Vec<Metric> {
        // Rows of zeros tell nothing, unless they were asked for, or nobody would take them for granted.
        let has = |metric: &Metric| {
            let tells =
                |value: f64| value != 0.0 || self.has_choice() || ZERO_TELLS.contains(&metric.key.as_str());
            self.results.iter().any(|result| (metric.value)(result).is_some_and(tells))
        };
        let mut all: Vec<Metric> = metrics().into_iter().filter(has).collect();
        if let Some(chosen) = &self.chosen {
            let place = |metric: &Metric| chosen.iter().position(|key| *key == metric.key);
            all.retain(|metric| place(metric).is_some());
            all.sort_by_key(place);
        }
        all
    }

    /// The letters behind a result's name.
    pub(super) fn marks(result: &RunResult) -> String {
        letters(names(&result.problems))
    }

    /// What they mean; nothing without any.
    pub(crate) fn marks_explained(&self) -> Option<String> {
        let marks: Vec<String> = self.results.iter().map(Comparison::marks).collect();
        let legend = legend(marks.iter().map(String::as_str));
        legend.map(|legend| format!("Marked runs are {legend}."))
    }

    pub(super) fn differ(&self, get: fn(&RunResult) -> &str) -> bool {
        self.results.iter().any(|result| get(result) != get(&self.results[0]))
    }
}

/// A name for each result as it is shown: nothing in it is a command to a terminal.
fn labels(from: &[(PathBuf, RunResult)]) -> Vec<String> {
    told_apart_by(from).iter().map(|name| ssd::config::escaped(name).into_owned()).collect()
}

/// A name for each result: its own; if several have that, as much of the end of its path as tells them apart.
fn told_apart_by(from: &[(PathBuf, RunResult)]) -> Vec<String> {
    let is_new = |labels: &[String]| labels.iter().collect::<BTreeSet<_>>().len() == labels.len();
    let own: Vec<String> = from.iter().map(|(_, result)| title(result).to_owned()).collect();
    if is_new(&own) {
        return own;
    }
    let parts: Vec<Vec<String>> = from.iter().map(|(path, _)| parts(path)).collect();
    let deepest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let cut = |depth: usize| -> Vec<String> {
        parts.iter().map(|parts| parts[parts.len().saturating_sub(depth)..].join("/")).collect()
    };
    let by_path = (1..=deepest).map(cut).find(|labels| is_new(labels));
    // The same one twice.
    by_path
        .unwrap_or_else(|| own.iter().zip(1..).map(|(name, number)| format!("{name} ({number})")).collect())
}

/// The folders on the way to a result, from the outermost.
pub(super) fn parts(path: &std::path::Path) -> Vec<String> {
    let folder = if path.ends_with(crate::result::FILE_NAME) { path.parent().unwrap_or(path) } else { path };
    folder.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}
