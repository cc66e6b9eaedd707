//! Curves over two linear axes, or over a logarithmic one whose marks are given.

use super::axis::Numbers;
use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::Picture;
use super::{HEIGHT, Plot, colour, shows};
use crate::csv::Csv;

/// A curve with its name and its points.
pub(crate) struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points, from left to right.
    pub points: Vec<(f64, f64)>,
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
        let mut data = Csv::new(&["curve", "x", "y"]);
        for line in self.lines {
            for (x, y) in &line.points {
                data.row(&[line.name.as_str(), &x.to_string(), &y.to_string()]);
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
        let rows = Numbers::linear(points().map(|(_, y)| *y));
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
            kind: KeyKind::Line,
        };
        let keys: Vec<Key> = drawn.iter().map(key).collect();
        let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
        for (number, line) in &drawn {
            let place = |(x, y): &(f64, f64)| frame.place(share(*x), rows.share(*y));
            let points = line.points.iter().map(place).collect();
            frame.picture.curve(points, colour(*number), false);
        }
        frame.picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_without_points_is_not_in_the_legend() {
        let line =
            |name: &str, points: &[(f64, f64)]| Line { name: name.to_owned(), points: points.to_vec() };
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

    #[test]
    fn there_is_nothing_in_zeros_and_single_points() {
        let line = |points: &[(f64, f64)]| Line { name: "a".to_owned(), points: points.to_vec() };
        let of = |lines: &[Line]| !Lines { up: "y", across: "x", lines }.plot().files("stem").is_empty();
        let nothing =
            [line(&[]), line(&[(1.0, 2.0)]), line(&[(0.0, 0.0), (1.0, 0.0)]), line(&[(1.0, 2.0); 2])];
        assert!(!of(&nothing) && !of(&[]));
        assert!(of(&[line(&[]), line(&[(0.0, 0.0), (1.0, 2.0)])]));
    }
}
