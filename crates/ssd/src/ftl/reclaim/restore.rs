//! What is kept for moves because of reads, restored.

use super::Reclaim;
use crate::ftl::read_reclaim::{Destination, Part};
use crate::ftl::tables::layout::Layout;
use crate::ftl::tables::wordlines::Wordlines;
use crate::ftl::work::migration::Migration;
use crate::restore::{Verdict, alike, ensure};

impl Reclaim {
    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: Reclaim, layout: &Layout) -> Verdict {
        alike("reclaims under way", &self.services, &fresh.services)?;
        let blocks = layout.blocks();
        ensure(self.services.iter().flatten().all(|service| service.is_of(blocks)), "a reclaim under way")?;
        match (&mut self.one_bit, fresh.one_bit) {
            (Some(one_bit), Some(fresh)) => one_bit.restored(fresh)?,
            (None, None) => {}
            _ => return Err("whether reads of blocks of one bit a cell are counted".to_owned()),
        }
        (self.active, self.spreads) = (fresh.active, fresh.spreads);
        self.policy.restored(fresh.policy)
    }

    /// Whether all that a partial migration has done and does next is there.
    pub(in crate::ftl) fn can_migrate(wordlines: &Wordlines, migration: &Migration, physical: u32) -> bool {
        let pages = wordlines.places();
        let has_page = |place: u32, to: u32| place < pages && to < physical;
        let left = migration.left.is_none_or(|want| match (want.part, want.to) {
            (Part::Wordline(at), Destination::Moves) => at < pages / wordlines.types(),
            (Part::Page(place), Destination::Replica(to)) => has_page(place, to),
            (Part::Types(_), Destination::Moves) | (Part::Replicas, Destination::Here) => true,
            _ => false,
        });
        left && migration.replica().is_none_or(|(place, to)| has_page(place, to))
    }
}
