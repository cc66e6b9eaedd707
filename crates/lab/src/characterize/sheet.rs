//! What was measured: a table with named columns, which becomes CSV and Parquet, and the plots of it.

use crate::plot::{Csv, Line, Lines, Plot};

/// The values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Names.
    Words(Vec<String>),
    /// Measured numbers.
    Numbers(Vec<f64>),
    /// Counts.
    Counts(Vec<u64>),
}

/// A column with its name, which ends in the unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Values.
    pub values: Values,
}

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

impl Values {
    fn of_kind(cell: &Cell) -> Values {
        match cell {
            Cell::Word(_) => Values::Words(Vec::new()),
            Cell::Number(_) => Values::Numbers(Vec::new()),
            Cell::Count(_) => Values::Counts(Vec::new()),
        }
    }

    fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Values::Words(values), Cell::Word(word)) => values.push(word),
            (Values::Numbers(values), Cell::Number(number)) => values.push(number),
            (Values::Counts(values), Cell::Count(count)) => values.push(count),
            (values, cell) => unreachable!("a column of one kind: {values:?}, {cell:?}"),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Words(values) => values.len(),
            Values::Numbers(values) => values.len(),
            Values::Counts(values) => values.len(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row as text; a number reads back as it was.
    pub fn text(&self, row: usize) -> String {
        match self {
            Values::Words(values) => values[row].clone(),
            Values::Numbers(values) => values[row].to_string(),
            Values::Counts(values) => values[row].to_string(),
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

/// A table and its plots.
pub struct Sheet {
    /// Stem of the files' names.
    pub name: &'static str,
    columns: Vec<Column>,
    plots: Vec<Curves>,
}

/// A curve.
pub(super) fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
    Line { name: name.into(), points: points.into_iter().collect() }
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
                    columns.push(Column { name: names[place], values: Values::of_kind(&cell) });
                }
                columns[place].values.push(cell);
            }
        }
        Sheet { name, columns, plots: Vec::new() }
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

    /// The columns of the table.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The values of a column.
    pub fn values(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// Rows of the table.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let mut table = Csv::new(&names);
        for row in 0..self.rows() {
            table.row(&self.columns.iter().map(|column| column.values.text(row)).collect::<Vec<_>>());
        }
        table.into_text()
    }

    /// The plots, with the stems of their files' names. One that is named as the sheet shows the sheet's own numbers.
    pub fn plots(&self) -> impl Iterator<Item = (&str, Plot)> {
        self.plots.iter().map(|plot| {
            let lines = Lines { up: &plot.up, across: plot.across, lines: &plot.lines };
            (plot.name.as_str(), lines.plot())
        })
    }

    /// The table as Parquet, with the provenance as the file's metadata; `None` in a program built without.
    #[cfg(not(feature = "parquet"))]
    pub fn parquet(&self, _: &[(&'static str, String)]) -> Option<Vec<u8>> {
        None
    }
}
