//! A comparison, told: as text, Markdown and CSV.

use super::comparison::{COLUMNS_MAX, Comparison};
use super::rows::Rows;
use super::text::{WIDTH, last_part, markdown, ratio, wrapped};
use crate::base::csv::Csv;
use crate::report::cells::NONE;
use crate::report::table::{grid, title};
use crate::result::RunResult;
use crate::result::metrics::{Metric, metrics};
use crate::result::problem::{marked, names};

impl Comparison {
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

/// Names that a remark on several results lists.
const NAMES_SHOWN: usize = 3;

/// A remark without its numbers: the same for all results of which the same is said.
fn shape(remark: &str) -> String {
    let is_of_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let units =
        ["B", "KiB", "MiB", "GiB", "TiB", "B/s", "MB/s", "GB/s", "ns", "us", "ms", "s", "k", "M", "%"];
    let words = remark.split([' ', ':', ',']).filter(|word| !is_of_number(word) && !units.contains(word));
    words.collect::<Vec<_>>().join(" ")
}
