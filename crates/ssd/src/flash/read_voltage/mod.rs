//! With which reference voltages is a page read first?
//!
//! The chip has a table of retry entries, made for more and more lost charge. A policy names the entry to begin with;
//! when that fails the read goes on upwards, then downwards, then by tracking (see `nand::aging`).

use crate::nand::aging::PageAge;
use crate::nand::cell::CellModel;

family! {
    /// With which reference voltages is a page read first?
    path "flash/read_voltage", default default_sequence;
    members {
        default_sequence: DefaultSequence,
        table_by_cycles: TableByCycles,
    }
    methods {
        /// Told of the cells once, when the drive is built.
        fn learn(&mut self, cells: &CellModel) {}
        /// The entry of the retry table to begin with.
        fn first(&self, age: &PageAge) -> u8 {
            0
        }
    }
}
