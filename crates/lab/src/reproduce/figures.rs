//! Plots in the papers' own axes: bars for each workload and technique, distributions of read latencies, parts of a
//! whole.

use super::experiment::{Figure, FigureKind};
use super::metrics;
use super::study::Study;
use super::{Cell, Experiment, Outcome};
use crate::base::csv::Csv;
use crate::report::plot::axis::Times;
use crate::report::plot::font::text_width;
use crate::report::plot::frame::{Frame, Key, KeyKind, Mark, Scale};
use crate::report::plot::grouped::{Group, grouped};
use crate::report::plot::picture::{Anchor, Stroke};
use crate::report::plot::{FILLED, HEIGHT, Line, Lines, Measured, Plot, colour, shows, steps};
use crate::result::Distribution;
use crate::result::problem::letters;

impl Outcome {
    /// All plots, with the stems of their files' names.
    pub fn plots(&self, experiment: &Experiment) -> Vec<(String, Plot)> {
        let mut plots = Vec::new();
        for figure in &experiment.figures {
            let Some(study) = experiment.studies.iter().find(|study| study.name == figure.study) else {
                continue;
            };
            let ages: Vec<&String> = match figure.age.as_str() {
                "" => study.ages(self.quick).iter().collect(),
                age => study.ages(self.quick).iter().filter(|other| *other == age).collect(),
            };
            for age in ages {
                let shown = Shown { outcome: self, experiment, figure, age, phase: study.last_phase() };
                match &figure.kind {
                    FigureKind::Bars(metric) => {
                        plots.push((shown.stem(""), shown.bars(metric, study.workloads(self.quick))))
                    }
                    FigureKind::Lines(metric) => {
                        plots.push((shown.stem(""), shown.lines(metric, study.workloads(self.quick))))
                    }
                    FigureKind::Series(metric) => {
                        plots.push((shown.stem(""), shown.series(metric, study, self.quick)))
                    }
                    FigureKind::Cdf => {
                        for workload in study.workloads(self.quick) {
                            plots.push((shown.stem(workload), shown.distributions(workload)));
                        }
                    }
                    FigureKind::Versions => {
                        for workload in study.workloads(self.quick) {
                            plots.push((shown.stem(workload), shown.versions(workload)));
                        }
                    }
                    FigureKind::Shares(parts) => {
                        plots.push((shown.stem(""), shown.shares(parts, study.workloads(self.quick))));
                    }
                }
            }
        }
        plots
    }
}

/// A figure at an age.
struct Shown<'a> {
    outcome: &'a Outcome,
    experiment: &'a Experiment,
    figure: &'a Figure,
    age: &'a str,
    /// The measured phase that it is of.
    phase: &'a str,
}

/// A point of a curve, and what must be known of it.
type Point = ((f64, f64), Measured);

/// A curve through points. What must be known of them is told with its numbers if any of their runs has problems.
fn curve(name: &str, points: impl Iterator<Item = Point>) -> Line {
    let (points, measured): (Vec<(f64, f64)>, Vec<Measured>) = points.unzip();
    let is_doubtful = measured.iter().any(|point| !point.problems.is_empty());
    Line { measured: if is_doubtful { measured } else { Vec::new() }, ..Line::new(name, points) }
}

impl Shown<'_> {
    fn stem(&self, workload: &str) -> String {
        let parts = [&self.figure.name, self.age, workload];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("-")
    }

    /// What readers of the file are told that it is; the plot itself has axes only.
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
                && place.phase == self.phase
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

    /// A metric of a run, over that of the technique that the figure compares with, if there is one.
    fn value(&self, metric: &str, technique: &str, workload: &str) -> Option<f64> {
        let own = *self.cell(technique, workload)?.metrics.get(metric)?;
        if self.figure.against.is_empty() {
            return Some(own);
        }
        let other = *self.cell(&self.figure.against, workload)?.metrics.get(metric)?;
        (other > 0.0).then(|| own / other)
    }

    /// Letters of the problems of the run that a value is of, and of the one that it is held over.
    fn problems(&self, technique: &str, workload: &str) -> String {
        self.problems_of(technique, &[workload])
    }

    /// The same of several workloads together.
    fn problems_of<S: AsRef<str>>(&self, technique: &str, workloads: &[S]) -> String {
        let cells = workloads.iter().flat_map(|workload| {
            [technique, &self.figure.against]
                .into_iter()
                .filter_map(|name| self.cell(name, workload.as_ref()))
        });
        letters(cells.flat_map(|cell| &cell.problems).map(String::as_str))
    }

    /// A point of a curve, and what must be known of it.
    fn point(&self, metric: &str, (technique, workload): (&str, &str), x: f64) -> Option<Point> {
        let y = self.value(metric, technique, workload)?;
        let runs = self.cell(technique, workload)?.seeds.len();
        let problems = self.problems(technique, workload);
        Some(((x, y), Measured { half_width: None, runs, problems }))
    }

    /// What that is, on an axis and as the name of a column.
    fn up(&self, metric: &str) -> (String, String) {
        let found = metrics::metric(metric);
        let (quantity, unit) = found.map_or((metric.into(), ""), |metric| (metric.quantity(), metric.unit));
        match self.figure.against.as_str() {
            "" if unit.is_empty() => (quantity, metric.to_owned()),
            "" => (format!("{quantity} ({unit})"), metric.to_owned()),
            against => {
                let techniques = self.techniques();
                let label =
                    techniques.iter().find(|(name, _)| *name == against).map_or(against, |(_, label)| label);
                (format!("{quantity} (normalized to {label})"), format!("{metric}_over_{against}"))
            }
        }
    }

    /// A curve for each technique, over what the workloads differ in.
    fn lines(&self, metric: &str, workloads: &[String]) -> Plot {
        let at = |name: &String| {
            let found = self.experiment.workloads.iter().find(|it| it.name == *name);
            found.and_then(|it| Some((it.across?, it.name.as_str())))
        };
        let mut places: Vec<(f64, &str)> = workloads.iter().filter_map(at).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let line = |(name, label): &(&str, &str)| {
            let points = places.iter().filter_map(|(x, at)| self.point(metric, (name, at), *x));
            curve(label, points)
        };
        let lines: Vec<Line> = self.techniques().iter().map(line).collect();
        Lines { up: &self.up(metric).0, across: &self.figure.across, lines: &lines }.plot()
    }

    /// A curve for each technique and workload, over the measured phases.
    fn series(&self, metric: &str, study: &Study, quick: bool) -> Plot {
        let (techniques, workloads) = (self.techniques(), study.workloads(quick));
        let mut lines = Vec::new();
        for workload in workloads {
            for (technique, label) in &techniques {
                let at = |phase: &String| {
                    let shown = Shown { phase, ..*self };
                    shown.point(metric, (technique, workload), study.across(phase)?)
                };
                let name = match (techniques.len(), workloads.len()) {
                    (_, 1) => (*label).to_owned(),
                    (1, _) => self.label(workload),
                    _ => format!("{}, {label}", self.label(workload)),
                };
                lines.push(curve(&name, study.measured.iter().filter_map(at)));
            }
        }
        lines.retain(|line| !line.points.is_empty());
        Lines { up: &self.up(metric).0, across: &self.figure.across, lines: &lines }.plot()
    }

    /// A bar for each workload and technique, and their means.
    fn bars(&self, metric: &str, workloads: &[String]) -> Plot {
        let techniques = self.techniques();
        let group = |workload: &String| Group {
            name: self.label(workload),
            bars: techniques.iter().map(|(name, _)| self.value(metric, name, workload)).collect(),
            half_widths: Vec::new(),
        };
        let mut groups: Vec<Group> = workloads.iter().map(group).collect();
        let mean = |number: usize| {
            let values: Vec<f64> = groups.iter().filter_map(|group| group.bars[number]).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let means = (0..techniques.len()).map(mean).collect();
        groups.push(Group { name: "mean".to_owned(), bars: means, half_widths: Vec::new() });
        let (up, column) = self.up(metric);
        let names: Vec<&str> = techniques.iter().map(|(_, label)| *label).collect();
        let mut data = Csv::new(&["workload", "technique", &column, "problems"]);
        for (at, group) in groups.iter().enumerate() {
            for ((name, label), value) in techniques.iter().zip(&group.bars) {
                let Some(value) = value else { continue };
                // A mean has those of all that it is the mean of.
                let of = workloads.get(at).map_or(workloads, std::slice::from_ref);
                let problems = self.problems_of(name, of);
                data.row(&[&group.name, *label, &value.to_string(), &problems]);
            }
        }
        let measured = groups[..workloads.len()].iter().flat_map(|group| &group.bars).flatten();
        let shows = measured.filter(|value| **value != 0.0).count() > 1;
        Plot::new(grouped("Workload", up, &names, &groups).titled(self.title("")), data, shows)
    }

    /// How the latencies of reads are distributed, a line for each technique.
    fn distributions(&self, workload: &str) -> Plot {
        let techniques = self.techniques();
        let curves: Vec<(&str, &Distribution)> = techniques
            .iter()
            .filter_map(|(name, label)| Some((*label, &self.cell(name, workload)?.result.latency_ns.read)))
            .filter(|(_, spread)| spread.count > 0)
            .collect();
        let mut data = Csv::new(&["technique", "percent", "latency_ns", "problems"]);
        for (name, label) in &techniques {
            let Some((_, spread)) = curves.iter().find(|(other, _)| other == label) else { continue };
            let problems = self.problems(name, workload);
            for (percent, ns) in steps(spread) {
                data.row(&[*label, &percent.to_string(), &ns.to_string(), &problems]);
            }
        }
        let times = Times::around(curves.iter().map(|(_, spread)| *spread));
        let across = times.scale("Read response time");
        let marks = [0, 20, 40, 60, 80, 100];
        let marks = marks.map(|percent| Mark::new(f64::from(percent) / 100.0, percent.to_string()));
        let up = Scale { title: "CDF of reads (%)".to_owned(), marks: marks.into() };
        let title = self.title(&self.label(workload));
        if curves.is_empty() {
            return Plot::new(Frame::empty(&across, &up, "nothing to show").titled(title), data, false);
        }
        let key = |(number, (label, _)): (usize, &(&str, _))| Key {
            label: (*label).to_owned(),
            colour: colour(number),
            kind: KeyKind::Line(Stroke::Full),
        };
        let keys: Vec<Key> = curves.iter().enumerate().map(key).collect();
        let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
        let mut is_shown = false;
        for (number, (_, spread)) in curves.iter().enumerate() {
            let points: Vec<(f64, f64)> = steps(spread).map(|(percent, ns)| (ns as f64, percent)).collect();
            is_shown |= spread.count > 1 && shows([points.as_slice()]);
            let place = |&(ns, percent): &(f64, f64)| frame.place(times.share(ns), percent / 100.0);
            let points = points.iter().map(place).collect();
            frame.picture.curve(points, colour(number), Stroke::Full);
        }
        Plot::new(frame.picture.titled(title), data, is_shown)
    }

    /// Units of files in flash, of the first technique that was run.
    fn versions(&self, workload: &str) -> Plot {
        let first = self.techniques().first().map(|(technique, _)| *technique);
        let cell = first.and_then(|technique| self.cell(technique, workload));
        let found = cell.and_then(|cell| cell.result.versions.clone()).unwrap_or_default();
        crate::report::plot::versions(&found)
    }

    /// Parts of a whole in percent, a stacked bar for each workload and technique.
    fn shares(&self, parts: &[String], workloads: &[String]) -> Plot {
        let techniques = self.techniques();
        let mut data = Csv::new(&["workload", "technique", "part", "share", "problems"]);
        let mut bars = Vec::new();
        for (at, workload) in workloads.iter().enumerate() {
            for (number, (name, label)) in techniques.iter().enumerate() {
                let Some(cell) = self.cell(name, workload) else { continue };
                let value = |part: &String| cell.metrics.get(part).copied().unwrap_or(0.0);
                let all: f64 = parts.iter().map(value).sum();
                let share = |part| if all > 0.0 { value(part) / all } else { 0.0 };
                let shares: Vec<f64> = parts.iter().map(share).collect();
                for (part, share) in parts.iter().zip(&shares) {
                    let problems = self.problems(name, workload);
                    data.row(&[&self.label(workload), *label, part, &share.to_string(), &problems]);
                }
                bars.push((at, number, shares));
            }
        }
        let marks = workloads.iter().enumerate();
        let marks = marks.map(|(at, workload)| Mark::of_step(at, workloads.len(), self.label(workload)));
        let across =
            Scale { title: "Workload, and technique by its number".to_owned(), marks: marks.collect() };
        let marks = [0, 25, 50, 75, 100];
        let marks = marks.map(|percent| Mark::new(f64::from(percent) / 100.0, percent.to_string()));
        let up = Scale { title: "Share (%)".to_owned(), marks: marks.into() };
        // What no bar has would only fill the legend.
        let used = (0..parts.len()).filter(|&part| bars.iter().any(|(.., shares)| shares[part] > 0.0));
        let key = |part: usize| Key { label: parts[part].clone(), colour: colour(part), kind: KeyKind::Box };
        let mut keys: Vec<Key> = used.map(key).collect();
        let has_bar = |technique: usize| bars.iter().any(|(_, number, _)| *number == technique);
        for (number, (_, label)) in techniques.iter().enumerate().filter(|(number, _)| has_bar(*number)) {
            let label = format!("{}: {label}", number + 1);
            keys.push(Key { label, colour: colour(number), kind: KeyKind::None });
        }
        let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
        let bar = FILLED / techniques.len().max(1) as f64;
        let mut parts_shown = 0;
        for (at, number, shares) in &bars {
            let left = *at as f64 + (1.0 - FILLED) / 2.0 + bar * *number as f64;
            let [from, to] = [left, left + bar * 0.9].map(|x| x / workloads.len() as f64);
            let mut below = 0.0;
            for (part, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                let hint = format!("{}, {}: {:.1} %", techniques[*number].1, parts[part], 100.0 * share);
                frame.rect((from, below), (to, below + share), colour(part), &hint);
                below += share;
                parts_shown += 1;
            }
            // The technique's number, at the foot of its bar, if that is wide enough.
            let ((left, y), (right, _)) = (frame.place(from, 0.0), frame.place(to, 0.0));
            let number = (number + 1).to_string();
            if text_width(&number) <= right - left {
                frame.picture.text((f64::midpoint(left, right), y - 4.0), Anchor::Middle, &number);
            }
        }
        Plot::new(frame.picture.titled(self.title("")), data, parts_shown > 1)
    }
}
