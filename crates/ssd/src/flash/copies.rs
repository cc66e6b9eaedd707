//! Copies inside a plane (copyback), where cells make errors: the page that is read goes past the controller, so that
//! its errors go with it.

use super::op::OpPool;
use crate::nand::{Chip, PageAddress};
use crate::restore::{Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::OpId;
use serde::{Deserialize, Serialize};

/// The page of the chips that each operation copies from; none where pages do not carry errors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sources {
    #[serde(with = "raw")]
    pages: Vec<u32>,
}

impl Sources {
    /// Of so many operations, if pages carry errors.
    pub fn new(chip: &Chip, operations: usize) -> Self {
        Sources { pages: vec![0; if chip.carries() { operations } else { 0 }] }
    }

    /// Whether any are kept.
    pub fn are_kept(&self) -> bool {
        !self.pages.is_empty()
    }

    /// The page that an operation under way copies.
    pub fn note(&mut self, id: OpId, from: PageAddress, chip: &Chip) {
        if let Some(source) = self.pages.get_mut(id.index()) {
            *source = from.block * chip.pages_per_block() + from.page;
        }
    }

    /// The block and the page in it that an operation copies.
    pub fn of(&self, id: OpId, chip: &Chip) -> Option<(u32, u32)> {
        let pages = chip.pages_per_block();
        self.pages.get(id.index()).map(|source| (source / pages, source % pages))
    }

    /// Of a restored drive: what is copied can be, which is a programmed page.
    pub fn check(&self, fresh: &Sources, pool: &OpPool, chip: &Chip) -> Verdict {
        alike("pages that are copied", &self.pages, &fresh.pages)?;
        let is_there = |id: OpId| {
            let Some((block, page)) = self.of(id, chip) else { return true };
            block < chip.blocks() && page < chip.programmed_pages(block)
        };
        let mut copies = pool.iter().filter(|(_, op)| op.kind.copies());
        ensure(copies.all(|(id, _)| is_there(id)), "a copy of an erased page")
    }
}
