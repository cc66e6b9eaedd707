//! Whether data has to be moved for the room that comes of cleaning.

use serde::{Deserialize, Serialize};

/// What cleaning had moved at the last look.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Moved {
    /// Blocks erased since then.
    erased: u32,
    /// Units moved until then.
    units: u64,
    /// Whether that was more than at the look before.
    is_needed: bool,
}

impl Moved {
    /// A block was erased; once it is as many as there are lanes, it is looked at what was moved for them.
    pub fn note_erased(&mut self, lanes: usize, units: u64) {
        self.erased += 1;
        if self.erased as usize >= lanes {
            *self = Moved { erased: 0, units, is_needed: units != self.units };
        }
    }

    /// Whether data was moved for the last blocks.
    pub fn is_needed(&self) -> bool {
        self.is_needed
    }
}
