//! The blocks of a drive one by one, as a table.

use crate::base::columns::{Column, Table, Values};
use serde::{Deserialize, Serialize};
use ssd::{BlockRow, Drive};

/// Name of the table, and of its files in a folder of results.
pub(crate) const NAME: &str = "blocks";

/// The blocks of a drive, lane by lane, as they were at a time; superblocks count as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockTable(pub Vec<BlockRow>);

impl BlockTable {
    /// As they are now.
    pub fn of(drive: &Drive) -> Self {
        BlockTable(drive.blocks().table())
    }

    /// As a table: a row for each block, what is not known left empty.
    pub fn table(&self) -> Table {
        let counts = |of: fn(&BlockRow) -> u64| Values::Counts(self.0.iter().map(of).collect());
        let known = |of: fn(&BlockRow) -> Option<u64>| Values::CountsOrNone(self.0.iter().map(of).collect());
        let states = self.0.iter().map(|row| row.state.name());
        let columns = vec![
            Column::new("block", Values::Counts((0..self.0.len() as u64).collect())),
            Column::new("lane", counts(|row| row.lane.into())),
            Column::new("state", Values::Names(states.collect())),
            Column::new("live_units", counts(|row| row.live_units.into())),
            Column::new("programmed_units", counts(|row| row.programmed_units.into())),
            Column::new("erases", counts(|row| row.erases.into())),
            Column::new("age_units", known(|row| row.age_units)),
            Column::new("stream", known(|row| row.stream.map(u64::from))),
            Column::new("mode", counts(|row| row.mode.into())),
            Column::new("one_bit", counts(|row| row.one_bit.into())),
            Column::new("wear_q12", counts(|row| row.wear_q12.into())),
            Column::new("disturbed_q12", known(|row| row.disturbed_q12.map(u64::from))),
        ];
        Table::new(NAME, columns)
    }
}
