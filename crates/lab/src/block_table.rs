//! The blocks of a drive one by one, as a table.

use ssd::{BlockRow, Drive};

/// Name of the file in a folder of results.
pub(crate) const FILE_NAME: &str = "blocks.csv";

/// Columns of the table.
const COLUMNS: [&str; 12] = [
    "block",
    "lane",
    "state",
    "live_units",
    "programmed_units",
    "erases",
    "age_units",
    "stream",
    "mode",
    "one_bit",
    "wear_q12",
    "disturbed_q12",
];

/// The blocks of a drive, lane by lane, as they were at a time; superblocks count as one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockTable(pub Vec<BlockRow>);

impl BlockTable {
    /// As they are now.
    pub fn of(drive: &Drive) -> Self {
        BlockTable(drive.block_table())
    }

    /// As CSV: a line for each block, what is not known left empty.
    pub fn csv(&self) -> String {
        let mut text = COLUMNS.join(",") + "\n";
        for (block, row) in self.0.iter().enumerate() {
            let or_empty = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
            let cells = [
                block.to_string(),
                row.lane.to_string(),
                row.state.name().to_owned(),
                row.live_units.to_string(),
                row.programmed_units.to_string(),
                row.erases.to_string(),
                or_empty(row.age_units),
                or_empty(row.stream.map(u64::from)),
                row.mode.to_string(),
                u8::from(row.one_bit).to_string(),
                row.wear_q12.to_string(),
                or_empty(row.disturbed_q12.map(u64::from)),
            ];
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}
