//! From a logical unit to its DRAM slot: a table of fixed size ([`UnitIndex`]) that holds at most as many entries as
//! there are slots.

use crate::index::UnitIndex;
use crate::units::{Lpn, SlotId};
use serde::{Deserialize, Serialize};

/// The table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SlotIndex(UnitIndex);

impl SlotIndex {
    /// A table for at most `slots` entries.
    pub fn new(slots: u32) -> Self {
        SlotIndex(UnitIndex::new(slots))
    }

    /// See [`UnitIndex::restored`].
    pub fn restored(&mut self, fresh: &SlotIndex, units: usize, slots: usize) -> Result<usize, String> {
        self.0.restored(&fresh.0, units, slots)
    }

    /// See [`UnitIndex::iter`].
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, u32)> + '_ {
        self.0.iter()
    }

    /// The slot of a logical unit, if it has one.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> SlotId {
        SlotId(self.0.get(lpn))
    }

    /// Sets the slot of a logical unit.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, slot: SlotId) {
        self.0.set(lpn, slot.0);
    }

    /// Removes a logical unit, if it is there.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) {
        self.0.remove(lpn);
    }
}
