//! With which reference voltages is a page read first?
//!
//! The chip has a table of retry entries, made for more and more lost charge. A policy names up to three sets of
//! voltages to begin with, entries or what lies between them; when those fail the read goes on from the first of them
//! upwards, then downwards, then by tracking (see `nand::aging`).

use crate::nand::aging::{PageAge, Sequence};
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
        /// The voltages to begin with.
        fn sequence(&self, age: &PageAge) -> Sequence {
            Sequence::entry(0)
        }
    }
}
