//! Which reference voltages does a read try first?
//!
//! The chip has a table of retry entries, made for more and more lost charge. A policy names up to three sets of
//! voltages to begin with, entries or what lies between them; when those fail the read goes on from the first of them
//! upwards, then downwards, then by tracking (see `nand::aging`).

use crate::nand::aging::{Margin, PageAge, Sequence};
use crate::nand::cell::CellModel;

family! {
    /// Which reference voltages does a read try first?
    path "flash/read_voltage", default default_sequence;
    members {
        default_sequence: DefaultSequence,
        table_by_cycles: TableByCycles,
        table_by_age: TableByAge,
    }
    methods {
        /// Told once, when the drive is built, of the cells, and of the least and the most that N12 is less what the
        /// marker of age estimates, in bits, where a marker estimates it; and whether reads move the cells
        /// (the law of voltage). An error is why that cannot be worked with.
        // tidy: allow(float): called when a drive is built
        fn learn(&mut self, cells: &CellModel, off: Option<[f64; 2]>, reads_move: bool) -> Result<(), String> {
            Ok(())
        }
        /// Whether it goes by the ages of blocks, and by voltages between the entries of the retry table; then the
        /// reads that its sets do not read are counted.
        fn goes_by_age(&self) -> bool {
            false
        }
        /// The range of ages, as it tells them apart, of a block of that age in 1/4096 of its life.
        fn age_range(&self, age_q12: u32) -> u8 {
            0
        }
        /// Whether the sets for such a page were promised to read it, whose block has worn as so many cycles of the
        /// average block.
        fn promises(&self, age: &PageAge, margin: &Margin, cycles: u32) -> bool {
            false
        }
        /// Whether it looks at pages. If not, each is read by the retry table from its beginning.
        fn looks(&self) -> bool {
            true
        }
        /// The voltages to begin with.
        fn sequence(&self, age: &PageAge) -> Sequence {
            Sequence::entry(0)
        }
    }
}

/// Where ranges of time since programming begin, in minutes at the reference temperature: a day, a week, 1, 3, 6 and 12
/// months (calibration section 5, assumed).
const RANGES: [u32; 7] = [0, 1_440, 10_080, 43_800, 131_400, 262_800, 525_600];
