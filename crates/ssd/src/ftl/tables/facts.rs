//! What the spare areas say of the units of flash, as far as a policy asks for it.

use crate::restore::{Verdict, alike};
use crate::signals::{Facts, Hints};
use crate::snapshot::raw;
use crate::units::Pun;
use serde::{Deserialize, Serialize};

/// Why a copy does not count any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ftl) enum Death {
    /// Its data lives elsewhere.
    Moved,
    /// Its data is old, or gone.
    Ended,
    /// Its data is old, because the host has written what is newer: by a command that may go on.
    Written,
}

/// The facts of each unit of flash; empty if nobody asks. A drive reads them with the page when it moves: the table
/// stands for the spare areas, not for memory of the controller; but for one bit: whether a unit holds, or held,
/// secured data, and has not been locked or erased since.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct FactsTable {
    all: Vec<Facts>,
    #[serde(with = "raw")]
    secured: Vec<u64>,
}

impl FactsTable {
    /// A table of so many units, if it is asked for; with the bit of what is secured, if that is.
    pub fn new(asked: bool, units: usize, secured: bool) -> Self {
        FactsTable {
            all: vec![Facts::NONE; if asked { units } else { 0 }],
            secured: vec![0; if secured { units.div_ceil(64) } else { 0 }],
        }
    }

    /// Checks that it is of this drive.
    pub fn restored(&self, fresh: &FactsTable) -> Verdict {
        alike("units that are secured", &self.secured, &fresh.secured)?;
        alike("facts of units", &self.all, &fresh.all)
    }

    /// What is known of a unit of flash.
    #[inline]
    pub fn get(&self, unit: Pun) -> Facts {
        let facts = self.all.get(unit.index()).copied().unwrap_or(Facts::NONE);
        if self.secured.is_empty() { facts } else { self.with_class(unit, facts) }
    }

    /// What is known with the class that the bit stands for.
    #[cold]
    fn with_class(&self, unit: Pun, facts: Facts) -> Facts {
        facts.with_class(if self.is_secured(unit) { Hints::SECURE } else { Hints::INSECURE }.into())
    }

    /// Whether a unit of flash holds, or held, secured data, and has not been locked or erased since.
    #[inline]
    pub fn is_secured(&self, unit: Pun) -> bool {
        self.secured.get(unit.index() / 64).is_some_and(|word| word >> (unit.0 % 64) & 1 == 1)
    }

    /// A unit of flash holds secured data, or it holds none any more.
    #[cold]
    pub fn set_secured(&mut self, unit: Pun, secured: bool) {
        let (word, bit) = (&mut self.secured[unit.index() / 64], 1 << (unit.0 % 64));
        *word = if secured { *word | bit } else { *word & !bit };
    }

    /// So many units of flash hold none any more.
    pub fn forget_secured(&mut self, first: Pun, count: u32) {
        let mut unit = first.0;
        while unit < first.0 + count {
            let (at, bit) = ((unit / 64) as usize, unit % 64);
            let here = (64 - bit).min(first.0 + count - unit);
            self.secured[at] &= !(u64::MAX >> (64 - here) << bit);
            unit += here;
        }
    }

    /// Bytes of memory of the controller.
    pub fn bytes(&self) -> usize {
        8 * self.secured.len()
    }

    /// A unit of flash was programmed.
    #[inline]
    pub fn set(&mut self, unit: Pun, facts: Facts) {
        if let Some(place) = self.all.get_mut(unit.index()) {
            *place = facts;
        }
        if !self.secured.is_empty() {
            self.set_secured(unit, facts.class() == Hints::SECURE.into());
        }
    }
}
