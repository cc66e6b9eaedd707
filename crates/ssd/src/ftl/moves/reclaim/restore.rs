//! What is kept for moves because of reads, restored.

use super::{Candidate, Candidates, NOW, Partial, Reclaim, WHEN_IDLE};
use crate::ftl::read_reclaim::Want;
use crate::ftl::tables::layout::Layout;
use crate::restore::{MOST, Verdict, alike, ensure, keep_line, keep_room};

impl Candidates {
    /// Its lists have the room of fresh ones.
    pub fn keep_room(&mut self, fresh: &Candidates) {
        keep_line(&mut self.now, &fresh.now);
        keep_line(&mut self.when_idle, &fresh.when_idle);
    }

    /// Every block is on each list at most once, and marked so.
    pub fn check(&self, place: impl Fn(&Candidate) -> usize) -> bool {
        let mut marks = vec![0u8; self.listed.len()];
        for (list, bit) in [(&self.now, NOW), (&self.when_idle, WHEN_IDLE)] {
            for candidate in list {
                let mark = &mut marks[place(candidate)];
                if *mark & bit != 0 {
                    return false;
                }
                *mark |= bit;
            }
        }
        marks == self.listed
    }

    /// Checks that it candidates for blocks of its lane; that marks and lists agree is [`Candidates::check`]'s.
    pub fn restored(&self, fresh: &Candidates, is_own: impl Fn(&Candidate) -> bool) -> Verdict {
        alike("blocks that can be looked at", &self.listed, &fresh.listed)?;
        let mut candidates =
            self.now.iter().chain(&self.when_idle).chain(self.partial.iter().map(|at| &at.candidate));
        ensure(candidates.all(is_own), "another lane's block to be looked at")?;
        ensure(self.lacked_at < MOST, "when a deal lacked room")
    }

    /// What was asked to leave, or is to leave, a block.
    fn wanted(&self) -> impl Iterator<Item = Want> {
        let of = |partial: Partial| [Some(partial.left), partial.next];
        self.partial.into_iter().flat_map(of).flatten()
    }
}

impl Reclaim {
    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: Reclaim, layout: &Layout) -> Verdict {
        ensure(self.lanes.is_empty(), "lanes to be looked at")?;
        keep_room(&mut self.lanes, &fresh.lanes);
        alike("reclaims under way", &self.services, &fresh.services)?;
        let blocks = layout.blocks();
        ensure(self.services.iter().flatten().all(|service| service.is_of(blocks)), "a reclaim under way")?;
        (self.active, self.page_at, self.in_order) = (fresh.active, fresh.page_at, fresh.in_order);
        self.orders_leaving = fresh.orders_leaving;
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
