//! A table of starting voltages by program/erase cycles, time since programming, group of the wordline and page type.
//!
//! It is made once, from a block of one quality: as firmware makes it from a few sample chips. Blocks of the same
//! cycles but other quality are misjudged, and take retries for it (RealWear section 3.4: 2 to 7 of them after 12
//! months).

use super::{Member, RANGES};
use crate::nand::aging::{PageAge, Sequence};
use crate::nand::cell::{Block, CellModel, CellState, Damage, Group};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "table_by_cycles";
/// What it does.
pub const SUMMARY: &str = "starts at the entry that a sample block with the same cycles and data age would \
                           need";
/// Where it comes from.
pub const SOURCE: &str = "RealWear section 3.4 (Kim 2020): the reference-voltage table indexed by P/E cycles";
/// What it costs.
pub const MEMORY: &str = "one byte for each row of cycles, range of time, group and page type";

section! {
    /// Parameters of `table_by_cycles`.
    pub struct Params {
        /// Range of cycles that one row of the table covers.
        cycles_per_row: u32 = 1_000, unit "cycles", range 1..=1_000_000;
        /// Rows of the table; the last also covers all higher cycles.
        rows: u32 = 16, unit "rows", range 1..=256;
        /// Quality of the block that the table is made from: 0 is the worst, 1 the best of the population.
        /// RealWear's table starts from the best block of each row.
        sample_quality: f64 = 1.0, range 0.0..=1.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    page_types: usize,
    /// Entry to begin with: row, range of time, group, page type.
    entries: Vec<u8>,
}

impl Policy {
    /// Builds it; [`Policy::learn`] fills the table.
    pub fn new(params: &Params) -> Self {
        Policy { params: params.clone(), page_types: 1, entries: Vec::new() }
    }
}

impl Member for Policy {
    /// Makes the table: for each row (in its middle) and range of time (at its beginning) the first entry that reads a
    /// page of the sample block, or the one with the fewest errors if none does.
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, cells: &CellModel, _: Option<[f64; 2]>, _: bool) -> Result<(), String> {
        self.page_types = cells.page_types();
        let sample = Block {
            quality: self.params.sample_quality,
            erase_offset: 0.0,
            fresh_offset: 0.0,
            program_offset: 0.0,
        };
        self.entries.clear();
        for row in 0..self.params.rows {
            let kcycles = (f64::from(row) + 0.5) * f64::from(self.params.cycles_per_row) / 1000.0;
            let worn = cells.worn_state(&sample, &Damage { lasting: kcycles, done: kcycles });
            for minutes in RANGES {
                for group in Group::ALL {
                    let state = CellState {
                        retention_hours: f64::from(minutes) / 60.0,
                        height: cells.height_of(group),
                        ..worn
                    };
                    self.entries.extend((0..cells.page_types()).map(|page| first_entry(cells, &state, page)));
                }
            }
        }
        Ok(())
    }

    /// The entry of the page's row, range, group and type.
    #[inline]
    fn sequence(&self, age: &PageAge) -> Sequence {
        let row = (age.cycles / self.params.cycles_per_row).min(self.params.rows - 1) as usize;
        let range = RANGES.iter().rposition(|&begin| begin <= age.minutes).unwrap_or(0);
        let at = (row * RANGES.len() + range) * Group::ALL.len() + usize::from(age.group);
        let entry = self.entries.get(at * self.page_types + usize::from(age.page_type));
        Sequence::entry(entry.copied().unwrap_or(0))
    }
}

/// The first entry of the retry table that corrects a page in that state; if none does, the one with the fewest errors.
// tidy: allow(float): called when a drive is built
fn first_entry(cells: &CellModel, state: &CellState, page: usize) -> u8 {
    let limit = f64::from(cells.hard_limit_bits());
    let distribution = cells.distribution(state);
    let errors = |entry: u32| {
        let references = cells.retry_references(state.wear_kcycles, state.mode, entry);
        cells.sector_bits(cells.page_rber(&distribution, page, &references))
    };
    let (mut best, mut fewest) = (0, f64::INFINITY);
    for entry in 0..=cells.part().retry.entries {
        let found = errors(entry);
        if found <= limit {
            return entry as u8;
        }
        if found < fewest {
            (best, fewest) = (entry, found);
        }
    }
    best as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(params: &Params) -> Policy {
        let mut policy = Policy::new(params);
        let cells = CellModel::preset("tlc_48l").expect("a shipped part");
        policy.learn(&cells, None, false).expect("cells of any kind");
        policy
    }

    #[test]
    fn begins_further_down_the_table_the_older_the_data_and_the_block() {
        let policy = learned(&Params::default());
        let age =
            |cycles, minutes| PageAge { cycles, minutes, age_range: 0, group: 3, page_type: 0, reads_q12: 0 };
        let first = |cycles, minutes| policy.sequence(&age(cycles, minutes)).first().place();
        assert_eq!(first(0, 0), 0);
        assert!(first(6_000, 525_600) > first(1_000, 525_600));
        assert!(first(6_000, 525_600) > first(6_000, 43_800));
        assert_eq!(first(1_000_000, u32::MAX), first(15_999, 525_600));
    }

    #[test]
    fn a_table_of_a_poor_sample_begins_no_earlier() {
        let (best, worst) =
            (learned(&Params::default()), learned(&Params { sample_quality: 0.0, ..Params::default() }));
        let age =
            |cycles| PageAge { cycles, minutes: 525_600, age_range: 0, group: 3, page_type: 0, reads_q12: 0 };
        let first = |policy: &Policy, cycles| policy.sequence(&age(cycles)).first().place();
        assert!((0..16).all(|row| first(&worst, row * 1_000) >= first(&best, row * 1_000)));
        assert!(first(&worst, 7_000) > first(&best, 7_000));
    }
}
