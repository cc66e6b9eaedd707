//! The cells: threshold voltages, what moves them, and how many bits are wrong in the end.
//!
//! Everything here is exact and in floats, and runs when a drive or a laboratory is built; the event loop sees only
//! the integer tables of [`table`]. Floats go through `libm`, so that every machine gives the same numbers.
//! The equations and the sources of the constants are in `docs/nand-model.md`.
//!
//! ```
//! use ssd::nand::cell::{CellModel, CellState};
//! let tlc = CellModel::preset("tlc_48l").unwrap();
//! let aged = CellState { wear_kcycles: 1.0, retention_hours: 8_760.0, ..CellState::default() };
//! let cells = tlc.distribution(&aged);
//! let bits = tlc.sector_bits(tlc.page_rber(&cells, 0, &tlc.optimal_references(&cells)));
//! assert!((bits - 18.4).abs() < 0.1);
//! ```

mod check;
pub mod disturb;
pub mod ecc;
pub mod lock;
pub mod markers;
mod normal;
pub mod rber;
pub mod read;
pub mod reprogram;
pub mod sector;
pub mod sets;
pub mod state;
pub mod still;
pub mod table;
#[cfg(test)]
mod tests;
pub mod voltages;
pub mod wear;

pub use crate::sections::CellPart;
pub use rber::References;
pub use read::PRESETS;
pub use state::{CellState, Distribution};
pub use wear::{Block, Damage, VirtualChips};

use crate::config::ConfigErrors;
use crate::nand::gray;

/// Most states of a cell (4 bits).
pub const MAX_STATES: usize = 16;
/// Lowest possible temperature, in degrees C.
pub const ABSOLUTE_ZERO_C: f64 = -273.15;

/// The groups of wordlines that Straw tells apart, by their errors when fresh (Straw section III-A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Fewest errors.
    Best,
    /// Few errors.
    Good,
    /// Many errors.
    Bad,
    /// Most errors.
    Worst,
}

impl Group {
    /// All groups, best first: the order of every list by group.
    pub const ALL: [Group; 4] = [Group::Best, Group::Good, Group::Bad, Group::Worst];

    /// Place in lists by group.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A part whose constants have been checked, with what follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct CellModel {
    part: CellPart,
    code: Vec<Vec<u32>>,
    /// Place of each state on the retention scale (x_i of calibration section 1.1).
    places: [f64; MAX_STATES],
    /// Best references for fresh cells, by program mode.
    references: Vec<References>,
}

impl CellModel {
    /// Checks a part. All errors are reported, not just the first.
    pub fn new(part: CellPart) -> Result<Self, ConfigErrors> {
        part.validate()?;
        let bits = part.states.bits_per_cell;
        let code = match part.states.gray_code.is_empty() {
            true => gray::default_code(bits),
            false => part.states.gray_code.clone(),
        };
        let means = &part.states.mean_v;
        let top = means[means.len() - 1];
        let mut places = [0.0; MAX_STATES];
        for (place, mean) in places.iter_mut().zip(means) {
            *place = mean.max(0.0) / top;
        }
        places[0] = part.states.erased_place;
        let mut model = CellModel { part, code, places, references: Vec::new() };
        let modes = 0..model.part.modes.voltage_scale.len();
        let fresh = modes.map(|mode| model.distribution(&CellState { mode, ..CellState::default() }));
        model.references = fresh.map(|cells| model.optimal_references(&cells)).collect();
        Ok(model)
    }

    /// The shipped part of that name, for instance `tlc_48l`.
    pub fn preset(name: &str) -> Result<Self, ConfigErrors> {
        CellPart::preset(name).and_then(CellModel::new)
    }

    /// The constants.
    pub fn part(&self) -> &CellPart {
        &self.part
    }

    /// Thresholds sensed by each page type.
    pub fn code(&self) -> &[Vec<u32>] {
        &self.code
    }

    /// The page type that senses the lowest threshold, above which reads lift cells.
    pub fn lowest_page(&self) -> usize {
        self.code.iter().position(|thresholds| thresholds.contains(&1)).unwrap_or(0)
    }

    /// States of a cell.
    pub fn states(&self) -> usize {
        1 << self.part.states.bits_per_cell
    }

    /// Page types of a wordline.
    pub fn page_types(&self) -> usize {
        self.part.states.bits_per_cell as usize
    }

    /// Bits of data in a sector.
    pub fn bits_in_sector(&self) -> u32 {
        self.part.ecc.sector_bytes * 8
    }

    /// Errors in a sector at a raw bit error rate.
    pub fn sector_bits(&self, rber: f64) -> f64 {
        f64::from(self.bits_in_sector()) * rber
    }

    /// The references that the chip leaves the factory with: the best ones for fresh cells of a program mode, in V.
    pub fn default_references(&self, mode: usize) -> &References {
        &self.references[mode]
    }
}
