//! What the spare areas say of the units of flash, as far as a policy asks for it.

use crate::restore::{Verdict, alike};
use crate::signals::Facts;
use crate::units::Pun;
use serde::{Deserialize, Serialize};

/// The facts of each unit of flash; empty if nobody asks. A drive reads them with the page when it moves: the table
/// stands for the spare areas, not for memory of the controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct FactsTable(Vec<Facts>);

impl FactsTable {
    /// A table of so many units, if it is asked for.
    pub fn new(asked: bool, units: usize) -> Self {
        FactsTable(vec![Facts::NONE; if asked { units } else { 0 }])
    }

    /// Checks that it is of this drive.
    pub fn restored(&self, fresh: &FactsTable) -> Verdict {
        alike("facts of units", &self.0, &fresh.0)
    }

    /// What is known of a unit of flash.
    #[inline]
    pub fn get(&self, unit: Pun) -> Facts {
        self.0.get(unit.index()).copied().unwrap_or(Facts::NONE)
    }

    /// A unit of flash was programmed.
    #[inline]
    pub fn set(&mut self, unit: Pun, facts: Facts) {
        if let Some(place) = self.0.get_mut(unit.index()) {
            *place = facts;
        }
    }
}
