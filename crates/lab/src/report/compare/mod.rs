//! Results side by side: a column each with ratios where there are few, a row each where there are many.

mod keys;
mod rows;

use crate::base::csv::Csv;
use crate::base::number::digits;
use crate::report::cells::NONE;
use crate::report::table::{grid, title};
use crate::result::RunResult;
use crate::result::metrics::{Metric, ZERO_TELLS, metrics};
use crate::result::problem::{legend, letters, marked, names};
use keys::{Key, differing, in_force, named, natural, told_apart};
use rows::{Rows, WIDTH};
use ssd::config::{Problem, control_escape, is_control};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// More results than these have rows, not columns.
const COLUMNS_MAX: usize = 4;
/// Names that a remark on several results lists.
const NAMES_SHOWN: usize = 3;

/// Results to be compared, each with a name of its own.
#[derive(Clone, Debug)]
pub struct Comparison {
    results: Vec<RunResult>,
    /// Which of them the others are compared with.
    baseline: usize,
    /// Where each is that was given, in the order in which they were.
    given: Vec<usize>,
    /// Keys that say which run it is, the outermost first.
    apart: Vec<Key>,
    /// Keys that follow from these.
    following: Vec<Key>,
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
    fn has_groups(&self) -> bool {
        self.apart.len() > 1 && self.apart[0].distinct().len() < self.results.len()
    }

    /// What a result is compared with: of its group the one that is otherwise set as the baseline, if there is one.
    fn base_of(&self, result: usize) -> usize {
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

    fn keys(&self) -> &[Key] {
        &self.apart
    }

    fn has_choice(&self) -> bool {
        self.chosen.is_some()
    }

    /// The metrics that any result has, of those asked for; in the order asked for.
    fn metrics(&self) -> Vec<Metric> {
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

    /// For people.
    pub fn text(&self) -> String {
        if self.results.is_empty() {
            return String::new();
        }
        let has_room = || grid(&self.metric_rows()).lines().all(|line| line.chars().count() <= WIDTH);
        if self.results.len() <= COLUMNS_MAX && has_room() {
            return self.columns();
        }
        let mut text = self.opening() + "\n" + &Rows::new(self).text() + &self.footnote();
        if !self.has_choice() {
            text.push_str(&self.remarks());
        }
        text
    }

    /// The letters behind a result's name.
    fn marks(result: &RunResult) -> String {
        letters(names(&result.problems))
    }

    /// What they mean; nothing without any.
    pub(crate) fn marks_explained(&self) -> Option<String> {
        let marks: Vec<String> = self.results.iter().map(Comparison::marks).collect();
        let legend = legend(marks.iter().map(String::as_str));
        legend.map(|legend| format!("Marked runs are {legend}."))
    }

    /// The same below a table.
    fn footnote(&self) -> String {
        self.marks_explained().map_or(String::new(), |legend| format!("\n{legend}\n"))
    }

    /// What is compared, and with what.
    fn opening(&self) -> String {
        let (runs, baseline) = (self.results.len(), title(&self.results[self.baseline]));
        let mut text = match self.has_groups() {
            true => format!("{runs} runs, ratios to the one in each group that matches {baseline}"),
            false => format!("{runs} runs, ratios to {baseline}"),
        };
        text.push_str(if self.differ(|result| &result.workload_hash) {
            "; the workloads are not the same\n"
        } else {
            "\n"
        });
        for key in self.apart.iter().filter(|_| !self.has_choice()) {
            let values: Vec<String> = key.distinct().iter().map(|value| last_part(value)).collect();
            text.push_str(&wrapped(&format!("  {}: {}", key.name, values.join(", "))));
        }
        if !self.following.is_empty() {
            let names: Vec<&str> = self.following.iter().map(|key| key.name.as_str()).collect();
            text.push_str(&wrapped(&format!("  and keys that follow from these: {}", names.join(", "))));
        }
        text
    }

    /// As tables of Markdown.
    pub fn markdown(&self) -> String {
        if self.results.len() > COLUMNS_MAX {
            return Rows::new(self).markdown() + &self.footnote();
        }
        let mut text = markdown(&self.metric_rows(), 1) + &self.footnote();
        let keys = self.key_rows();
        if keys.len() > 1 {
            text.push_str(&format!("\n{}", markdown(&keys, 1)));
        }
        text
    }

    /// A row for each result: what was set differently, then all metrics in full, in the units of `result.json`.
    pub fn csv(&self) -> String {
        let (metrics, keys) = (self.metrics(), || self.apart.iter().chain(&self.following));
        let head =
            keys().map(|key| key.name.as_str()).chain(metrics.iter().map(|metric| metric.key.as_str()));
        let head = ["run"].into_iter().chain(head).chain(["problems"]);
        let mut csv = Csv::new(&head.collect::<Vec<_>>());
        for (number, result) in self.results.iter().enumerate() {
            let mut row = vec![title(result).to_owned()];
            row.extend(
                keys().map(|key| key.values[number].as_ref().map_or(String::new(), |_| key.shown(number))),
            );
            row.extend(
                metrics.iter().map(|metric| (metric.value)(result).map_or(String::new(), |x| x.to_string())),
            );
            row.push(names(&result.problems).join(" "));
            csv.row(&row);
        }
        csv.into_text()
    }

    fn differ(&self, get: fn(&RunResult) -> &str) -> bool {
        self.results.iter().any(|result| get(result) != get(&self.results[0]))
    }

    /// A row for each metric, with a column for each result and for its ratio.
    pub(crate) fn metric_rows(&self) -> Vec<Vec<String>> {
        let (mut head, mut ended) = (vec![String::new()], vec!["ended".to_owned()]);
        let order = self.baseline_first();
        for &number in &order {
            let result = &self.results[number];
            head.push(marked(title(result).to_owned(), &Comparison::marks(result)));
            // A word is enough here; each result's own table has the whole reason.
            ended.push(result.ended.split(':').next().unwrap_or_default().to_owned());
            if number != self.baseline {
                head.push(String::new());
                ended.push(String::new());
            }
        }
        let mut rows = vec![head, ended];
        for metric in self.metrics() {
            let mut row = vec![metric.name.clone()];
            let base = (metric.value)(&self.results[self.baseline]);
            for &number in &order {
                let value = (metric.value)(&self.results[number]);
                row.push(value.map_or(NONE.to_owned(), metric.show));
                if number != self.baseline {
                    row.push(ratio(value, base));
                }
            }
            rows.push(row);
        }
        rows
    }

    /// The results with the baseline first.
    fn baseline_first(&self) -> Vec<usize> {
        let others = (0..self.results.len()).filter(|at| *at != self.baseline);
        std::iter::once(self.baseline).chain(others).collect()
    }

    /// The configuration values that are not the same in all results, one column each.
    fn key_rows(&self) -> Vec<Vec<String>> {
        let order = self.baseline_first();
        let mut rows = vec![vec!["configuration".to_owned()]];
        rows[0].extend(order.iter().map(|&at| title(&self.results[at]).to_owned()));
        for key in self.apart.iter().chain(&self.following) {
            let values = order.iter().map(|&at| key.shown(at));
            rows.push(std::iter::once(key.name.clone()).chain(values).collect());
        }
        rows
    }

    /// A column for each result.
    fn columns(&self) -> String {
        let mut text = grid(&self.metric_rows()) + &self.footnote();
        if self.has_choice() {
            let keys = self.key_rows();
            return if keys.len() > 1 { format!("{text}\n{}", grid(&keys)) } else { text };
        }
        let takes_time = self.results.iter().any(RunResult::takes_time);
        let has = |metric: &Metric| self.results.iter().any(|result| (metric.value)(result).is_some());
        if takes_time && metrics().iter().any(|metric| metric.name.contains("latency") && !has(metric)) {
            text.push_str(
                "Latencies of too few requests are omitted: less than one beyond a percentile, or 20 in \
                 all.\n",
            );
        }
        for result in self.results.iter().filter(|result| !result.preconditioning.age_steps.is_empty()) {
            let steps = result.preconditioning.age_steps.join(", ");
            text.push_str(&format!("{} was aged: {steps}.\n", title(result)));
        }
        text.push_str(&self.remarks());
        if self.differ(|result| &result.workload_hash) {
            text.push_str("The workloads are not the same.\n");
        }
        let keys = self.key_rows();
        if keys.len() > 1 {
            text.push_str(&format!("\n{}", grid(&keys)));
        }
        for result in self.results.iter().filter(|result| result.config.is_empty()) {
            let name = title(result);
            text.push_str(&format!("{name} is from an earlier version: its configuration is not known.\n"));
        }
        if self.results.len() > 1 && !self.differ(|result| &result.config_hash) {
            text.push_str("The drives' configurations are the same.\n");
        }
        text
    }

    /// How runs ended that did not complete, other problems, and remarks: what says the same of several results is told
    /// once, and never with the numbers of one as if they were those of all.
    fn remarks(&self) -> String {
        let mut told: Vec<(String, Vec<(&str, String)>)> = Vec::new();
        for result in &self.results {
            let ended = (!result.is_complete()).then(|| format!("ended early ({})", result.ended));
            let problems = result.problems.iter().filter(|problem| problem.name != "incomplete");
            let problems = problems.map(|problem| &problem.text);
            for remark in ended.iter().chain(problems).chain(&result.remarks) {
                let shape = shape(remark);
                let said = (title(result), remark.clone());
                match told.iter_mut().find(|(other, _)| *other == shape) {
                    Some((_, all)) => all.push(said),
                    None => told.push((shape, vec![said])),
                }
            }
        }
        let lines: String = told.iter().map(|(_, said)| self.remark(said)).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    /// What is said of several results, but for its numbers: these are of each where there is room, else of one that is
    /// named.
    fn remark(&self, said: &[(&str, String)]) -> String {
        let (first, remark) = &said[0];
        let is_the_same = said.iter().all(|(_, other)| other == remark);
        let all = said.len() == self.results.len();
        let who = match said {
            [(name, _)] => (*name).to_owned(),
            _ if !is_the_same && said.len() <= COLUMNS_MAX => {
                return said.iter().map(|(name, text)| wrapped(&format!("{name}: {text}."))).collect();
            }
            _ if !is_the_same && all => format!("all, with the numbers of {first}"),
            _ if !is_the_same => format!("{} runs, with the numbers of {first}", said.len()),
            _ if all => format!("all, such as {first}"),
            _ if said.len() <= NAMES_SHOWN => {
                said.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
            }
            _ => format!("{} runs, such as {first}", said.len()),
        };
        wrapped(&format!("{who}: {remark}."))
    }
}

/// A remark without its numbers: the same for all results of which the same is said.
fn shape(remark: &str) -> String {
    let is_of_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let units =
        ["B", "KiB", "MiB", "GiB", "TiB", "B/s", "MB/s", "GB/s", "ns", "us", "ms", "s", "k", "M", "%"];
    let words = remark.split([' ', ':', ',']).filter(|word| !is_of_number(word) && !units.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Of a path its last part.
fn last_part(value: &str) -> String {
    value.rsplit('/').next().unwrap_or(value).to_owned()
}

/// Text in lines of a terminal; those after the first stand further to the right.
pub(crate) fn wrapped(text: &str) -> String {
    let margin = text.len() - text.trim_start().len();
    let mut out = String::new();
    let mut line = " ".repeat(margin);
    let mut is_first = true;
    for word in text.split_whitespace() {
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&format!("{line}\n"));
            line = " ".repeat(margin + 4);
            is_first = true;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
        is_first = false;
    }
    out + &line + "\n"
}

/// Rows as a table of Markdown; the first is its head, and the first `left` columns are text.
pub(crate) fn markdown(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cell = |at| row.get(at).map_or(String::new(), |cell: &String| escaped(cell.trim()));
        text.push_str(&line((0..columns).map(cell).collect()));
        if number == 0 {
            let rule = (0..columns).map(|column| if column < left { "---" } else { "---:" }.to_owned());
            text.push_str(&line(rule.collect()));
        }
    }
    text
}

/// Text for a cell of Markdown: it stays what it is, and becomes no tag, link or other cell.
fn escaped(text: &str) -> String {
    let is_letter = |c: &char| c.is_alphanumeric();
    let mut out = String::new();
    let (mut before, mut letters) = (' ', text.chars().peekable());
    while let Some(c) = letters.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Between letters it is no mark of emphasis.
            '_' if is_letter(&before) && letters.peek().is_some_and(is_letter) => out.push(c),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => out.extend(['\\', c]),
            c if is_control(c) => out.push_str(&format!("\\{}", control_escape(c))),
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// The ratio of a value to the baseline's, where both have one.
fn ratio(value: Option<f64>, base: Option<f64>) -> String {
    match (value, base) {
        (Some(value), Some(base)) if base > 0.0 => format!("x{}", digits(value / base)),
        _ => String::new(),
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
fn parts(path: &std::path::Path) -> Vec<String> {
    let folder = if path.ends_with(crate::result::FILE_NAME) { path.parent().unwrap_or(path) } else { path };
    folder.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}
