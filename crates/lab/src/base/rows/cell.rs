//! What stands in rows: columns, and the values in them.

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Below 2^63.
    Number(u64),
    /// A word that needs no quotes.
    Word(&'static str),
    /// No number, in a column that may lack some.
    Nothing,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub of: Of,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Numbers,
    /// Numbers, where there is one.
    NumbersOrNone,
    Words,
}

impl Of {
    /// Whether a cell is one of these.
    pub fn takes(self, cell: &Cell) -> bool {
        match cell {
            Cell::Number(_) => self != Of::Words,
            Cell::Word(_) => self == Of::Words,
            Cell::Nothing => self == Of::NumbersOrNone,
        }
    }
}

impl Column {
    /// Columns of numbers.
    pub fn numbers(names: &[&str]) -> Vec<Column> {
        names.iter().map(|name| Column { name: (*name).to_owned(), of: Of::Numbers }).collect()
    }
}
