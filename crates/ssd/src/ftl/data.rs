//! What becomes of data: it is mapped at a new place, trimmed, lost, or a replica takes its place.

use crate::ftl::stream::STREAMS_AT_MOST;
use crate::ftl::tables::facts::Death;
use crate::ftl::work::candidates::Candidate;
use crate::ftl::{Ftl, Media};
use crate::observe::Effect;
use crate::signals::Facts;
use crate::units::{Lpn, Pun};

impl Ftl {
    /// Forgets the data of a logical unit.
    #[inline]
    pub fn trim(&mut self, lpn: Lpn) {
        let old = self.moves.media.tables.map.remove(lpn);
        self.moves.media.locks.forget_replica(&mut self.moves.media.tables, &mut self.moves.media.work, lpn);
        self.moves.separation.policy.on_trim(lpn);
        self.moves.page_classes.on_trim(lpn);
        if old.is_some() {
            self.moves.media.locks.bury(
                &mut self.moves.media.tables,
                &mut self.moves.media.work,
                old,
                Death::Ended,
            );
            self.moves.media.work.counts.trimmed_units += 1;
        }
        self.moves.media.effects.push(Effect::Trim { lpn });
    }
}

impl Media {
    /// Points a logical unit at where it now is.
    #[inline(always)]
    pub(in crate::ftl) fn commit(&mut self, lpn: Lpn, to: Pun, facts: Facts, by: Death) {
        self.tables.facts.set(to, facts);
        self.work.counts.stream_units[facts.stream() as usize % STREAMS_AT_MOST] += 1;
        let old = self.tables.map.assign(lpn, to);
        if old.is_some() {
            self.locks.bury(&mut self.tables, &mut self.work, old, by);
        }
        self.tables.blocks.gain(self.tables.layout.block_of_unit(to));
    }

    /// The data of a unit of flash cannot be corrected. If it stands for a logical unit, that one's replica takes its
    /// place; without one it has no data any more until it is written again. Returns whether that is so.
    pub fn lose(&mut self, lpn: Lpn, from: Pun) -> bool {
        if self.tables.map.lookup(lpn) != from || self.adopt(lpn) {
            return false;
        }
        self.tables.map.lose(lpn);
        self.locks.bury(&mut self.tables, &mut self.work, from, Death::Ended);
        self.work.counts.lost_units += 1;
        self.effects.push(Effect::Lose { lpn });
        true
    }

    /// The replica of a logical unit, if it has one, becomes its page: the mapping points there, the original is dead.
    pub(in crate::ftl) fn adopt(&mut self, lpn: Lpn) -> bool {
        let to = self.tables.replicas.get(lpn);
        if !to.is_some() {
            return false;
        }
        self.tables.replicas.forget(lpn);
        let from = self.tables.map.assign(lpn, to);
        self.locks.bury(&mut self.tables, &mut self.work, from, Death::Moved);
        self.tables.blocks.adopt(self.tables.layout.block_of_unit(to));
        self.work.counts.replicas_adopted += 1;
        self.effects.push(Effect::Adopt { lpn, from, to });
        true
    }

    /// All replicas in one member of a block become pages.
    pub(in crate::ftl) fn adopt_all(&mut self, candidate: Candidate) {
        for unit in self.tables.replica_units(candidate.block) {
            let lpn = self.tables.map.stored(unit);
            let at = self.tables.layout.block_of_page(self.tables.layout.page_of_unit(unit).0).1;
            if at % self.tables.layout.span == candidate.member
                && lpn.is_some()
                && self.tables.replicas.get(lpn) == unit
            {
                self.adopt(lpn);
            }
        }
    }

    /// The data of a unit of flash that stands for a logical unit, or may have, cannot be corrected: a replica is given
    /// up, an original is replaced by its replica. Returns whether the logical unit has no data left.
    pub(in crate::ftl) fn read_failed(&mut self, lpn: Lpn, at: Pun) -> bool {
        if at.is_some() && self.tables.replicas.get(lpn) == at {
            self.locks.forget_replica(&mut self.tables, &mut self.work, lpn);
            self.work.counts.replicas_failed += 1;
            return false;
        }
        self.lose(lpn, at)
    }
}
