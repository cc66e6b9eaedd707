//! Lanes that are looked at as soon as what was issued is on its way.

use crate::restore::{Verdict, distinct, keep_room};
use crate::units::LaneId;
use serde::{Deserialize, Serialize};

/// Lanes with something new for whoever looks at them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Looks {
    lanes: Vec<LaneId>,
    /// By lane: it is looked at for its locks, and not for its moves.
    for_locks: Vec<bool>,
}

impl Looks {
    /// No lane is looked at.
    pub fn new(lanes: u32) -> Self {
        Looks { lanes: Vec::with_capacity(lanes as usize), for_locks: vec![false; lanes as usize] }
    }

    /// A lane is looked at soon.
    pub fn soon(&mut self, lane: LaneId) {
        if !self.lanes.contains(&lane) {
            self.lanes.push(lane);
        }
        self.for_locks[lane.index()] = false;
    }

    /// A lane is looked at soon for its locks; where they go without moves, `alone` for them.
    pub fn soon_for_locks(&mut self, lane: LaneId, alone: bool) {
        if !self.lanes.contains(&lane) {
            self.lanes.push(lane);
            self.for_locks[lane.index()] = alone;
        }
    }

    /// Whether any lane is to be looked at.
    #[inline]
    pub fn any(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// The lane that is looked at now.
    pub fn take_next(&mut self) -> Option<LaneId> {
        self.lanes.pop()
    }

    /// Whether the look that was asked for last is for locks alone.
    pub fn is_for_locks(&self, lane: LaneId) -> bool {
        self.for_locks[lane.index()]
    }

    /// Takes room from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: &Looks) -> Verdict {
        let lanes = fresh.for_locks.len();
        // Ageing puts lanes on that list, and nothing looks at them before the next command.
        distinct("lanes to be looked at", self.lanes.iter().map(|lane| lane.0), lanes)?;
        keep_room(&mut self.lanes, &fresh.lanes);
        crate::restore::alike("lanes that are looked at", &self.for_locks, &fresh.for_locks)
    }
}
