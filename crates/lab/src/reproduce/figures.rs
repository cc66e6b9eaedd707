//! Plots in the papers' own axes: bars for each workload and technique, distributions of read latencies, parts of a
//! whole.

use super::experiment::{Figure, FigureKind};
use super::metrics;
use super::{Cell, Experiment, Outcome};
use crate::number::{digits, duration};
use crate::plot::svg::{Anchor, Svg};
use crate::plot::{axis, colour};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 54.0;
const LEGEND_LINE: f64 = 18.0;
/// Share of a step of the horizontal axis that its bars take.
const FILLED: f64 = 0.8;
const GREY: &str = "#dddddd";

/// A group of bars: its name, and the height of each; `None` where nothing was measured.
struct Group {
    name: String,
    bars: Vec<Option<f64>>,
}

impl Outcome {
    /// All plots, as names of files and their texts.
    pub fn svgs(&self, experiment: &Experiment) -> Vec<(String, String)> {
        let mut files = Vec::new();
        for figure in &experiment.figures {
            let Some(study) = experiment.studies.iter().find(|study| study.name == figure.study) else {
                continue;
            };
            let ages: Vec<&String> = match figure.age.as_str() {
                "" => study.ages(self.quick).iter().collect(),
                age => study.ages(self.quick).iter().filter(|other| *other == age).collect(),
            };
            for age in ages {
                let shown = Shown { outcome: self, experiment, figure, age };
                match &figure.kind {
                    FigureKind::Bars(metric) => {
                        files.push((shown.file(""), shown.bars(metric, study.workloads(self.quick))))
                    }
                    FigureKind::Cdf => {
                        for workload in study.workloads(self.quick) {
                            files.push((shown.file(workload), shown.distributions(workload)));
                        }
                    }
                    FigureKind::Shares(parts) => {
                        files.push((shown.file(""), shown.shares(parts, study.workloads(self.quick))));
                    }
                }
            }
        }
        files
    }
}

/// A figure at an age.
struct Shown<'a> {
    outcome: &'a Outcome,
    experiment: &'a Experiment,
    figure: &'a Figure,
    age: &'a str,
}

impl Shown<'_> {
    fn file(&self, workload: &str) -> String {
        let parts = [&self.figure.name, self.age, workload];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}.svg", parts.join("-"))
    }

    fn title(&self, more: &str) -> String {
        let more = if more.is_empty() { String::new() } else { format!(", {more}") };
        format!("{} ({}{more})", self.figure.title, self.age)
    }

    fn cell(&self, technique: &str, workload: &str) -> Option<&Cell> {
        self.outcome.cells.iter().find(|cell| {
            let place = &cell.place;
            place.study == self.figure.study
                && place.technique == technique
                && place.workload == workload
                && place.age == self.age
        })
    }

    /// Techniques of the study that were run, with their labels.
    fn techniques(&self) -> Vec<(&str, &str)> {
        let is_run = |name: &str| {
            self.outcome.cells.iter().any(|c| c.place.study == self.figure.study && c.place.technique == name)
        };
        let all = self.experiment.techniques.iter().map(|it| (it.name.as_str(), it.label.as_str()));
        all.filter(|(name, _)| is_run(name)).collect()
    }

    fn label(&self, workload: &str) -> String {
        let found = self.experiment.workloads.iter().find(|it| it.name == workload);
        found.map_or_else(|| workload.to_owned(), |it| it.label.clone())
    }

    /// A bar for each workload and technique, and their means.
    fn bars(&self, metric: &str, workloads: &[String]) -> String {
        let techniques = self.techniques();
        let value = |technique: &str, workload: &str| {
            let own = *self.cell(technique, workload)?.metrics.get(metric)?;
            if self.figure.against.is_empty() {
                return Some(own);
            }
            let other = *self.cell(&self.figure.against, workload)?.metrics.get(metric)?;
            (other > 0.0).then(|| own / other)
        };
        let group = |workload: &String| Group {
            name: self.label(workload),
            bars: techniques.iter().map(|(name, _)| value(name, workload)).collect(),
        };
        let mut groups: Vec<Group> = workloads.iter().map(group).collect();
        let mean = |number: usize| {
            let values: Vec<f64> = groups.iter().filter_map(|group| group.bars[number]).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let means = (0..techniques.len()).map(mean).collect();
        groups.push(Group { name: "mean".to_owned(), bars: means });
        let unit = match self.figure.against.as_str() {
            "" => metrics::metric(metric).map_or("", |metric| metric.unit).to_owned(),
            against => {
                let label =
                    techniques.iter().find(|(name, _)| *name == against).map_or(against, |(_, label)| label);
                format!("{metric}, normalised to {label}")
            }
        };
        let names: Vec<&str> = techniques.iter().map(|(_, label)| *label).collect();
        grouped(&self.title(""), &unit, &names, &groups)
    }

    /// How the latencies of reads are distributed, a line for each technique.
    fn distributions(&self, workload: &str) -> String {
        let techniques = self.techniques();
        let curves: Vec<_> = techniques
            .iter()
            .filter_map(|(name, label)| Some((*label, &self.cell(name, workload)?.result.latency_ns.read)))
            .filter(|(_, spread)| spread.count > 0)
            .collect();
        let mut svg = Svg::new(WIDTH, HEIGHT + LEGEND_LINE * curves.len() as f64);
        svg.title(&self.title(&self.label(workload)));
        let least = curves.iter().filter_map(|(_, spread)| spread.min).min().unwrap_or(1);
        let most = curves.iter().filter_map(|(_, spread)| spread.max).max().unwrap_or(10);
        let (low, high) = axis::decades(least as f64, most as f64);
        let x = |ns: f64| {
            let share = (ns.max(1.0).log10() - f64::from(low)) / f64::from(high - low);
            LEFT + share.max(0.0) * (WIDTH - LEFT - RIGHT)
        };
        let y = |percent: f64| HEIGHT - BOTTOM - percent / 100.0 * (HEIGHT - TOP - BOTTOM);
        for decade in low..=high {
            let ns = 10f64.powi(decade);
            svg.line((x(ns), y(0.0)), (x(ns), y(100.0)), GREY);
            svg.text((x(ns), HEIGHT - BOTTOM + 16.0), Anchor::Middle, &duration(ns));
        }
        for percent in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
            svg.line((LEFT, y(percent)), (WIDTH - RIGHT, y(percent)), GREY);
            svg.text((LEFT - 8.0, y(percent) + 4.0), Anchor::End, &format!("{percent} %"));
        }
        svg.text((WIDTH / 2.0, HEIGHT - BOTTOM + 34.0), Anchor::Middle, "read response time");
        for (number, (label, spread)) in curves.iter().enumerate() {
            let mut points = vec![(x(spread.min.unwrap_or(1) as f64), y(0.0))];
            points.extend(spread.percentiles.iter().map(|&(percent, ns)| (x(ns as f64), y(percent))));
            svg.path(&points, colour(number), false);
            legend(&mut svg, number, label);
        }
        svg.finish()
    }

    /// Parts of a whole in percent, a stacked bar for each workload and technique.
    fn shares(&self, parts: &[String], workloads: &[String]) -> String {
        let techniques = self.techniques();
        let mut svg = Svg::new(WIDTH, HEIGHT + LEGEND_LINE * (parts.len() + techniques.len()) as f64);
        svg.title(&self.title(""));
        let place_y = |share: f64| HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
        for percent in [0, 25, 50, 75, 100] {
            let y = place_y(f64::from(percent) / 100.0);
            svg.line((LEFT, y), (WIDTH - RIGHT, y), GREY);
            svg.text((LEFT - 8.0, y + 4.0), Anchor::End, &format!("{percent} %"));
        }
        let step = (WIDTH - LEFT - RIGHT) / workloads.len().max(1) as f64;
        let bar = step * FILLED / techniques.len().max(1) as f64;
        for (at, workload) in workloads.iter().enumerate() {
            let left = LEFT + step * at as f64;
            svg.text((left + step / 2.0, HEIGHT - BOTTOM + 34.0), Anchor::Middle, &self.label(workload));
            for (number, (name, label)) in techniques.iter().enumerate() {
                let Some(cell) = self.cell(name, workload) else { continue };
                let values: Vec<f64> =
                    parts.iter().map(|part| cell.metrics.get(part).copied().unwrap_or(0.0)).collect();
                let all: f64 = values.iter().sum();
                let x = left + step * (1.0 - FILLED) / 2.0 + bar * number as f64;
                svg.text((x + bar / 2.0, HEIGHT - BOTTOM + 16.0), Anchor::Middle, &(number + 1).to_string());
                let mut below = 0.0;
                for (part, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                    let (low, high) = (place_y(below / all), place_y((below + value) / all));
                    let hint = format!("{label}, {}: {:.1} %", parts[part], 100.0 * value / all);
                    svg.rect((x, high), (bar * 0.9, low - high), colour(part), &hint);
                    below += value;
                }
            }
        }
        for (number, part) in parts.iter().enumerate() {
            legend(&mut svg, number, part);
        }
        for (number, (_, label)) in techniques.iter().enumerate() {
            let at = HEIGHT + LEGEND_LINE * (parts.len() + number) as f64;
            svg.text((LEFT, at + 4.0), Anchor::Start, &format!("{}: {label}", number + 1));
        }
        svg.finish()
    }
}

fn legend(svg: &mut Svg, number: usize, label: &str) {
    let at = HEIGHT + LEGEND_LINE * number as f64;
    svg.rect((LEFT, at - 7.0), (12.0, 12.0), colour(number), label);
    svg.text((LEFT + 20.0, at + 4.0), Anchor::Start, label);
}

/// Standing bars in groups, with a legend below.
fn grouped(title: &str, unit: &str, names: &[&str], groups: &[Group]) -> String {
    let mut svg = Svg::new(WIDTH, HEIGHT + LEGEND_LINE * names.len() as f64);
    svg.title(title);
    let most = groups.iter().flat_map(|group| &group.bars).flatten().copied().fold(0.0, f64::max);
    let rows = axis::linear(most);
    let top = rows.last().copied().unwrap_or(1.0);
    let place_y = |value: f64| HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM);
    for row in rows {
        svg.line((LEFT, place_y(row)), (WIDTH - RIGHT, place_y(row)), GREY);
        svg.text((LEFT - 8.0, place_y(row) + 4.0), Anchor::End, &digits(row));
    }
    svg.text((LEFT, TOP - 8.0), Anchor::Start, unit);
    let step = (WIDTH - LEFT - RIGHT) / groups.len().max(1) as f64;
    let bar = step * FILLED / names.len().max(1) as f64;
    for (at, group) in groups.iter().enumerate() {
        let left = LEFT + step * at as f64;
        svg.text((left + step / 2.0, HEIGHT - BOTTOM + 16.0), Anchor::Middle, &group.name);
        for (number, value) in group.bars.iter().enumerate() {
            let Some(value) = value else { continue };
            let x = left + step * (1.0 - FILLED) / 2.0 + bar * number as f64;
            let hint = format!("{}, {}: {}", group.name, names[number], digits(*value));
            svg.rect(
                (x, place_y(*value)),
                (bar * 0.95, place_y(0.0) - place_y(*value)),
                colour(number),
                &hint,
            );
        }
    }
    for (number, name) in names.iter().enumerate() {
        legend(&mut svg, number, name);
    }
    svg.finish()
}
