//! Rows that are kept: a table in memory.

use super::{Cell, Column, Of};
use crate::base::columns::{self, Table, Values};

/// A table that grows.
#[derive(Clone)]
pub(crate) struct KeptRows {
    name: &'static str,
    columns: Vec<columns::Column>,
}

impl KeptRows {
    /// Of no rows yet.
    pub fn new(name: &'static str, columns: Vec<Column>) -> Self {
        let empty = |of| match of {
            Of::Numbers => Values::Counts(Vec::new()),
            Of::NumbersOrNone => Values::CountsOrNone(Vec::new()),
            Of::Words => Values::Names(Vec::new()),
        };
        let columns = columns.into_iter().map(|column| columns::Column::new(column.name, empty(column.of)));
        KeptRows { name, columns: columns.collect() }
    }

    /// Keeps a row: a cell for each column, of its kind.
    pub fn add(&mut self, cells: &[Cell]) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (&mut column.values, *cell) {
                (Values::Counts(all), Cell::Number(number)) => all.push(number),
                (Values::CountsOrNone(all), Cell::Number(number)) => all.push(Some(number)),
                (Values::CountsOrNone(all), Cell::Nothing) => all.push(None),
                (Values::Names(all), Cell::Word(word)) => all.push(word),
                _ => debug_assert!(false, "{cell:?} in column {}", column.name),
            }
        }
    }

    /// All of them.
    pub fn finish(self) -> Table {
        Table::new(self.name, self.columns)
    }
}
