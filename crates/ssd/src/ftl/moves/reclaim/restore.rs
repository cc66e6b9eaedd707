//! What is kept for moves because of reads, restored.

use super::Reclaim;
use crate::ftl::moves::candidates::Candidates;
use crate::ftl::read_reclaim::Want;
use crate::ftl::tables::layout::Layout;
use crate::restore::{Verdict, alike, ensure, keep_room};

impl Reclaim {
    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: Reclaim, layout: &Layout) -> Verdict {
        ensure(self.lanes.is_empty(), "lanes to be looked at")?;
        keep_room(&mut self.lanes, &fresh.lanes);
        alike("reclaims under way", &self.services, &fresh.services)?;
        let blocks = layout.blocks();
        ensure(self.services.iter().flatten().all(|service| service.is_of(blocks)), "a reclaim under way")?;
        (self.active, self.page_at, self.in_order) = (fresh.active, fresh.page_at, fresh.in_order);
        (self.page_types, self.deals, self.normal_mode) = (fresh.page_types, fresh.deals, fresh.normal_mode);
        self.policy.restored(fresh.policy)
    }

    /// Whether all that is to leave blocks is there.
    pub fn can_want(&self, candidates: &Candidates, physical: u32) -> bool {
        let pages = self.page_at.len() as u32;
        candidates.wanted().all(|want| match want {
            Want::Wordline(at) => at < pages / self.page_types,
            Want::Replicate { place, to } => place < pages && to < physical,
            _ => true,
        })
    }
}
