//! Curves over two linear axes, or over a logarithmic one whose marks are given.

use super::axis::Numbers;
use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::{Picture, Stroke};
use super::{HEIGHT, Plot, colour, shows};
use crate::base::csv::Csv;

/// A curve with its name and its points.
pub(crate) struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// What was measured at each of the points; empty of a curve that is no line between a few measurements.
    pub measured: Vec<Measured>,
}

/// How sure a value is that was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// Half the width of its confidence interval, if it has one.
    pub half_width: Option<f64>,
    /// Of how many runs it is the mean.
    pub runs: usize,
    /// Letters of their problems.
    pub problems: String,
}

impl Measured {
    /// The last cells of its row in a plot's numbers, behind the value.
    pub fn cells(&self) -> [String; 3] {
        let half = self.half_width.map_or(String::new(), |half| half.to_string());
        [half, self.runs.to_string(), self.problems.clone()]
    }

    /// What heads these cells.
    pub const HEAD: [&str; 3] = ["half_width", "runs", "problems"];
}

impl Line {
    /// A curve through points.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Line { name: name.into(), points, measured: Vec::new() }
    }

    /// The intervals of its points: their x, and both ends.
    fn intervals(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let of = |((x, y), measured): (&(f64, f64), &Measured)| {
            let half = measured.half_width.filter(|half| *half > 0.0)?;
            Some((*x, y - half, y + half))
        };
        self.points.iter().zip(&self.measured).filter_map(of)
    }
}

/// A plot of curves. Both axes hold 0 and all points.
pub(crate) struct Lines<'a> {
    /// What is on the vertical axis, with its unit.
    pub up: &'a str,
    /// What is on the horizontal axis, with its unit.
    pub across: &'a str,
    /// The curves.
    pub lines: &'a [Line],
}

/// The horizontal axis.
pub(crate) enum Across {
    /// Round steps that hold 0 and all points.
    Linear,
    /// Logarithmic, from the first of these marks to the last.
    Log(Vec<(f64, String)>),
}

impl Lines<'_> {
    pub fn plot(&self) -> Plot {
        self.plot_over(&Across::Linear)
    }

    pub fn plot_over(&self, across: &Across) -> Plot {
        let is_measured = self.lines.iter().any(|line| !line.measured.is_empty());
        let more: &[&str] = if is_measured { &Measured::HEAD } else { &[] };
        let mut data = Csv::new(&[&["curve", "x", "y"], more].concat());
        for line in self.lines {
            for (at, (x, y)) in line.points.iter().enumerate() {
                let mut row = vec![line.name.clone(), x.to_string(), y.to_string()];
                if is_measured {
                    row.extend(line.measured.get(at).cloned().unwrap_or_default().cells());
                }
                data.row(&row);
            }
        }
        Plot::new(self.picture(across), data, self.shows())
    }

    pub(super) fn shows(&self) -> bool {
        shows(self.lines.iter().map(|line| line.points.as_slice()))
    }

    pub(super) fn picture(&self, across: &Across) -> Picture {
        // A name without a curve would make readers look for it.
        let drawn: Vec<(usize, &Line)> =
            self.lines.iter().enumerate().filter(|(_, line)| !line.points.is_empty()).collect();
        let points = || drawn.iter().flat_map(|(_, line)| &line.points);
        let columns = Numbers::linear(points().map(|(x, _)| *x));
        let ends = drawn.iter().flat_map(|(_, line)| line.intervals()).flat_map(|(_, low, high)| [low, high]);
        let rows = Numbers::linear(points().map(|(_, y)| *y).chain(ends));
        let share = |x: f64| match across {
            Across::Linear => columns.share(x),
            Across::Log(marks) => {
                let [low, high] = [marks[0].0, marks[marks.len() - 1].0];
                (x.max(low) / low).ln() / (high / low).ln()
            }
        };
        let across = match across {
            Across::Linear => columns.scale(self.across),
            Across::Log(marks) => {
                let marks = marks.iter().map(|(value, label)| Mark::new(share(*value), label)).collect();
                Scale { title: self.across.to_owned(), marks }
            }
        };
        let up = rows.scale(self.up);
        if drawn.is_empty() {
            return Frame::empty(&across, &up, "nothing to show");
        }
        let key = |(number, line): &(usize, &Line)| Key {
            label: line.name.clone(),
            colour: colour(*number),
            kind: KeyKind::Line(Stroke::Full),
        };
        let keys: Vec<Key> = drawn.iter().map(key).collect();
        let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
        for (number, line) in &drawn {
            let place = |(x, y): &(f64, f64)| frame.place(share(*x), rows.share(*y));
            let points: Vec<_> = line.points.iter().map(place).collect();
            let intervals = line.intervals().map(|(x, low, high)| [place(&(x, low)), place(&(x, high))]);
            for ends in intervals.collect::<Vec<_>>() {
                frame.picture.interval(ends, colour(*number));
            }
            if !line.measured.is_empty() {
                points.iter().for_each(|point| frame.picture.dot(*point, colour(*number)));
            }
            frame.picture.curve(points, colour(*number), Stroke::Full);
        }
        frame.picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_without_points_is_not_in_the_legend() {
        let line = |name: &str, points: &[(f64, f64)]| Line::new(name, points.to_vec());
        let lines =
            [line("drawn", &[(0.0, 1.0), (2.0, -3.0)]), line("bare", &[]), line("dot", &[(1.0, 1.0)])];
        let plot = Lines { up: "bits a sector", across: "K cycles", lines: &lines }.plot();
        let svg = plot.svg();
        assert!(svg.contains("aria-label=\"drawn\"") && !svg.contains("bare"), "{svg}");
        assert!(svg.contains("<circle") && svg.contains("\"bits a sector\"") && svg.contains("\"K cycles\""));
        // Below 0 is within the frame too.
        assert!(svg.contains("\"-3\""), "{svg}");
        assert_eq!(plot.csv(), "curve,x,y\ndrawn,0,1\ndrawn,2,-3\ndot,1,1\n");
        let none = Lines { up: "y", across: "x", lines: &[] }.plot();
        assert!(none.svg().contains("nothing to show"));
    }

    /// A dot for each, a line with two ends where it has an interval, within the frame, and the numbers beside them.
    #[test]
    fn what_was_measured_has_dots_and_intervals() {
        let measured = [Some(2.0), None, Some(0.0)].map(|half_width| Measured {
            half_width,
            runs: 3,
            ..Measured::default()
        });
        let line =
            Line { measured: measured.to_vec(), ..Line::new("a", vec![(0.0, 9.0), (1.0, 5.0), (2.0, 4.0)]) };
        let plain = Line::new("a", line.points.clone());
        let of = |line: Line| Lines { up: "y", across: "x", lines: &[line] }.plot();
        let (bare, plot) = (of(plain), of(line));
        let count = |plot: &Plot, what: &str| plot.svg().matches(what).count();
        assert_eq!((count(&bare, "<circle"), count(&plot, "<circle")), (0, 3));
        // The one interval that has a width is three lines in the curve's colour, in which nothing else is a line; that
        // of the third point has none, and the second has no interval.
        let drawn = format!("stroke=\"{}\"/>", colour(0));
        let lines = |plot: &Plot| {
            let svg = plot.svg();
            svg.lines().filter(|line| line.starts_with("<line ") && line.ends_with(&drawn)).count()
        };
        assert_eq!((lines(&bare), lines(&plot)), (0, 3));
        assert!(plot.svg().contains("\"12\"") && !bare.svg().contains("\"12\""), "the axis holds 9 + 2");
        assert_eq!(plot.csv(), "curve,x,y,half_width,runs,problems\na,0,9,2,3,\na,1,5,,3,\na,2,4,0,3,\n");
    }

    #[test]
    fn there_is_nothing_in_zeros_and_single_points() {
        let line = |points: &[(f64, f64)]| Line::new("a", points.to_vec());
        let of = |lines: &[Line]| !Lines { up: "y", across: "x", lines }.plot().files("stem").is_empty();
        let nothing =
            [line(&[]), line(&[(1.0, 2.0)]), line(&[(0.0, 0.0), (1.0, 0.0)]), line(&[(1.0, 2.0); 2])];
        assert!(!of(&nothing) && !of(&[]));
        assert!(of(&[line(&[]), line(&[(0.0, 0.0), (1.0, 2.0)])]));
    }
}
