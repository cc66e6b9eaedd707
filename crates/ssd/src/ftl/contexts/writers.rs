//! Who wrote what: a row for each program context, and the last writer of each logical unit.

use super::{ROWS, Row};
use crate::index::UnitIndex;
use crate::restore::{Verdict, alike, distinct, ensure, within};
use crate::signals::Hints;
use crate::snapshot::raw;
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// The contexts that have written, and what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Writers {
    rows: UnitIndex,
    count: u32,
    turned_away: u64,
    /// Row of the last writer, plus one, by logical unit; 0: it is not known.
    #[serde(with = "raw")]
    units: Vec<u16>,
}

/// The context as a key of the table: 0 has none, so that no other can be its mark for "none".
#[inline]
fn key(context: u32) -> Lpn {
    Lpn(context.wrapping_sub(1))
}

impl Writers {
    /// Nobody has written to any of so many units.
    pub fn new(logical_units: u64) -> Self {
        let rows = if logical_units > 0 { ROWS as u32 } else { 0 };
        Writers {
            rows: UnitIndex::new(rows),
            count: 0,
            turned_away: 0,
            units: vec![0; logical_units as usize],
        }
    }

    /// Bytes that it takes on a drive of so many units.
    pub fn bytes(logical_units: u64) -> u64 {
        logical_units.saturating_mul(2).saturating_add(UnitIndex::new(ROWS as u32).bytes() as u64)
    }

    /// Checks what a snapshot says.
    pub fn restored(&mut self, fresh: &Writers) -> Verdict {
        alike("writers of units", &self.units, &fresh.units)?;
        let count = self.rows.restored(&fresh.rows, u32::MAX as usize, ROWS)?;
        ensure(count == self.count as usize, "contexts that are known")?;
        distinct("rows of contexts", self.rows.iter().map(|(_, row)| row), count)?;
        within("writers of units", self.units.iter().map(|&row| u32::from(row)), count + 1)
    }

    /// The row of the context of a write, a new one if it has none; none if nothing was said, or all rows are taken.
    #[inline]
    pub fn row(&mut self, said: &Hints) -> Option<Row> {
        if said.context == 0 {
            return None;
        }
        let found = self.rows.get(key(said.context));
        if found < ROWS as u32 {
            return Some(Row(found as u16));
        }
        if self.count as usize == ROWS {
            self.turned_away += 1;
            return None;
        }
        let row = self.count;
        self.rows.set(key(said.context), row);
        self.count += 1;
        Some(Row(row as u16))
    }

    /// Who wrote a unit last, if that is known.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> Option<Row> {
        self.units[lpn.index()].checked_sub(1).map(Row)
    }

    /// Remembers who wrote a unit last.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, row: Option<Row>) {
        self.units[lpn.index()] = row.map_or(0, |row| row.0 + 1);
    }

    /// Contexts that have a row.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Writes of contexts that found no row.
    pub fn turned_away(&self) -> u64 {
        self.turned_away
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(context: u32) -> Hints {
        Hints { context, ..Hints::default() }
    }

    #[test]
    fn contexts_beyond_the_table_are_counted() {
        let mut writers = Writers::new(4);
        let rows: Vec<_> = (0..ROWS as u32).map(|n| writers.row(&said(n * 0x1_0007 + 1))).collect();
        assert!((0..).zip(rows).all(|(n, row)| row == Some(Row(n))));
        assert_eq!([2, 3, 2].map(|context| writers.row(&said(context))), [None; 3]);
        assert_eq!((writers.count(), writers.turned_away()), (ROWS as u32, 3));
        assert_eq!([1, 0x1_0008].map(|context| writers.row(&said(context))), [0, 1].map(|at| Some(Row(at))));
        assert_eq!((writers.row(&said(0)), writers.turned_away()), (None, 3));
    }

    #[test]
    fn the_largest_context_is_one_like_others() {
        let mut writers = Writers::new(4);
        assert_eq!(
            [u32::MAX, 1, u32::MAX].map(|context| writers.row(&said(context))),
            [0, 1, 0].map(|at| Some(Row(at)))
        );
        writers.set(Lpn(3), Some(Row(1)));
        assert_eq!([2, 3].map(|at| writers.of(Lpn(at))), [None, Some(Row(1))]);
        writers.set(Lpn(3), None);
        assert_eq!(writers.of(Lpn(3)), None);
    }
}
