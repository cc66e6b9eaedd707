//! Lists of operations.

use super::op::OpPool;
use crate::units::OpId;
use serde::{Deserialize, Serialize};

/// A first-in first-out list of operations, linked through the pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OpList {
    pub head: OpId,
    tail: OpId,
}

impl OpList {
    pub const EMPTY: OpList = OpList { head: OpId::NONE, tail: OpId::NONE };

    #[inline]
    pub fn push(&mut self, pool: &mut OpPool, id: OpId) {
        pool.get_mut(id).next = OpId::NONE;
        if self.tail.is_some() {
            pool.get_mut(self.tail).next = id;
        } else {
            self.head = id;
        }
        self.tail = id;
    }

    /// Whether that is the last of it.
    pub fn ends_with(&self, last: Option<&OpId>) -> bool {
        self.tail == last.copied().unwrap_or(OpId::NONE)
    }

    /// Puts an operation back where the next is taken.
    pub fn push_front(&mut self, pool: &mut OpPool, id: OpId) {
        pool.get_mut(id).next = self.head;
        self.head = id;
        if !self.tail.is_some() {
            self.tail = id;
        }
    }

    /// Takes an operation out that stands behind another, or first if behind none.
    pub fn take_out(&mut self, pool: &mut OpPool, before: OpId, id: OpId) {
        let next = pool.get(id).next;
        if before.is_some() {
            pool.get_mut(before).next = next;
        } else {
            self.head = next;
        }
        if self.tail == id {
            self.tail = before;
        }
    }

    #[inline]
    pub fn pop(&mut self, pool: &OpPool) -> OpId {
        let id = self.head;
        self.head = pool.get(id).next;
        if !self.head.is_some() {
            self.tail = OpId::NONE;
        }
        id
    }
}
