//! What was measured: a table, which becomes CSV and Parquet, and the plots of it.

use crate::base::columns::{Column, Table, Values};
use crate::report::plot::{Line, Lines, Plot};
use std::ops::Deref;

/// What is on horizontal axes.
pub(super) const CYCLES: &str = "P/E cycles (thousands)";
pub(super) const RETENTION: &str = "Retention at 30 degrees C (months)";

/// A value of one row.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Word(String),
    Number(f64),
    Count(u64),
}

impl From<&str> for Cell {
    fn from(word: &str) -> Self {
        Cell::Word(word.to_owned())
    }
}

impl From<String> for Cell {
    fn from(word: String) -> Self {
        Cell::Word(word)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Cell::Count(count)
    }
}

impl Cell {
    /// A column for it and its like.
    fn column(&self) -> Values {
        match self {
            Cell::Word(_) => Values::Words(Vec::new()),
            Cell::Number(_) => Values::Numbers(Vec::new()),
            Cell::Count(_) => Values::Counts(Vec::new()),
        }
    }

    fn push_to(self, values: &mut Values) {
        match (values, self) {
            (Values::Words(values), Cell::Word(word)) => values.push(word),
            (Values::Numbers(values), Cell::Number(number)) => values.push(number),
            (Values::Counts(values), Cell::Count(count)) => values.push(count),
            (values, cell) => unreachable!("a column of one kind: {values:?}, {cell:?}"),
        }
    }
}

/// A plot of curves.
struct Curves {
    /// Stem of the file's name.
    name: String,
    /// What is on the vertical axis, with its unit.
    up: String,
    across: &'static str,
    lines: Vec<Line>,
}

/// A table and its plots. It reads as the table.
pub struct Sheet {
    table: Table,
    plots: Vec<Curves>,
}

impl Deref for Sheet {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

/// A curve.
pub(super) fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
    Line::new(name, points.into_iter().collect())
}

impl Sheet {
    /// A table of rows, without plots.
    pub(super) fn new<const N: usize>(
        name: &'static str,
        names: [&'static str; N],
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        for row in rows {
            for (place, cell) in row.into_iter().enumerate() {
                if place == columns.len() {
                    columns.push(Column::new(names[place], cell.column()));
                }
                cell.push_to(&mut columns[place].values);
            }
        }
        Sheet { table: Table::new(name, columns), plots: Vec::new() }
    }

    /// With a plot; `up` and `across` are on its axes.
    pub(super) fn plot(
        mut self,
        name: &str,
        up: impl Into<String>,
        across: &'static str,
        lines: Vec<Line>,
    ) -> Self {
        self.plots.push(Curves { name: name.to_owned(), up: up.into(), across, lines });
        self
    }

    /// The table and the plot of curves; `names` are those of the curve, of x and of y.
    pub(super) fn curves(
        name: &'static str,
        names: [&'static str; 3],
        up: impl Into<String>,
        across: &'static str,
        lines: Vec<Line>,
    ) -> Self {
        let rows: Vec<[Cell; 3]> = lines
            .iter()
            .flat_map(|line| {
                line.points.iter().map(|&(x, y)| [line.name.as_str().into(), x.into(), y.into()])
            })
            .collect();
        Sheet::new(name, names, rows).plot(name, up, across, lines)
    }

    /// The plots, with the stems of their files' names. One that is named as the sheet shows the sheet's own numbers.
    pub fn plots(&self) -> impl Iterator<Item = (&str, Plot)> {
        self.plots.iter().map(|plot| {
            let lines = Lines { up: &plot.up, across: plot.across, lines: &plot.lines };
            (plot.name.as_str(), lines.plot())
        })
    }
}
