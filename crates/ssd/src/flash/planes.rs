//! Which planes of a die hold reads, where planes read on their own.

use super::list::OpList;
use super::op::{Op, OpPool};
use crate::units::{OpId, SimTime};
use serde::{Deserialize, Serialize};

/// Reads that hold planes of a die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Planes {
    /// By plane, if they read on their own: the read that holds it, if any.
    pub reads: Box<[OpId]>,
    /// Planes that are held.
    pub held: u64,
    /// Of these, planes that sense, or will once the command is in.
    pub sensing: u64,
    /// Reads whose page waits for the interface, in the order in which they were sensed.
    pub ready: OpList,
}

impl Planes {
    /// So many planes that read on their own; 0: they work together.
    pub fn new(count: u32) -> Self {
        let reads = vec![OpId::NONE; count as usize].into_boxed_slice();
        Planes { reads, held: 0, sensing: 0, ready: OpList::EMPTY }
    }

    /// Whether no read can begin.
    pub fn are_all_held(&self) -> bool {
        self.held.count_ones() as usize >= self.reads.len()
    }

    /// Whether the plane of an operation is held.
    pub fn is_held(&self, op: &Op) -> bool {
        self.held >> op.at.plane & 1 == 1
    }

    /// Whether an operation could begin.
    pub fn have_room_for(&self, op: &Op) -> bool {
        if op.kind.reads() { !self.is_held(op) } else { self.held == 0 }
    }

    /// The reads that sense, or will once their command is in.
    pub fn sensing(&self) -> impl Iterator<Item = OpId> + Clone {
        let is_at_work = |&(plane, _): &(usize, &OpId)| self.sensing >> plane & 1 == 1;
        self.reads.iter().enumerate().filter(is_at_work).map(|(_, &id)| id)
    }

    /// Of the reads that sense the one that began first, and when.
    pub fn first(&self, pool: &OpPool) -> Option<(OpId, SimTime)> {
        self.sensing().map(|id| (id, pool.spent(id).mark)).min_by_key(|&(_, since)| since)
    }
}
