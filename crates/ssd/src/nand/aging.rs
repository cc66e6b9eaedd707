//! Cells that age, as the event loop sees them: integers only.
//!
//! For each block the chips remember how often and how gently it was cycled, when its data was programmed and how
//! often it was read; from that, and the tables made of the cell model when the drive is built, follows how many
//! attempts a read takes, and whether any succeeds.

use serde::{Deserialize, Serialize};

/// How a page is read, attempt by attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// With an entry of the retry table, each threshold sensed as often as the program mode asks.
    Entry,
    /// With the best voltages, found by reading the page several times.
    Tracking,
    /// With the best voltages and so many sensing levels at each threshold: index into `cell.ecc.level_steps`.
    Soft(u8),
}

/// What came of reading a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensed {
    /// Attempts that failed.
    pub failed: u8,
    /// Whether the attempt after them succeeded; otherwise none was left to make.
    pub readable: bool,
}

/// What the firmware knows of a page when it chooses the voltages to read it with first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAge {
    /// Program/erase cycles of the block.
    pub cycles: u32,
    /// Minutes at the reference temperature since its data was programmed.
    pub minutes: u32,
    /// Group of its wordline, as [`super::cell::Group`].
    pub group: u8,
    /// Page type.
    pub page_type: u8,
}

/// What a block shows of its wear (calibration 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Erase pulses (ISPE loops) of the last erase.
    pub erase_pulses: u32,
    /// The same at the fine resolution, in steps of a pulse.
    pub erase_steps: u32,
    /// Errors of the first page's worst sector right after programming (N0), with telegraph noise, in 1/256 bit.
    pub fresh_bits_q8: u32,
    /// Program time of a page, in ns.
    pub program_ns: u32,
}
