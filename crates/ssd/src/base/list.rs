//! Doubly linked lists through a table: nodes are moved from list to list without allocation. The tail is the next to
//! be taken.

use crate::restore::{Verdict, ensure};
use crate::units::NONE;
use serde::{Deserialize, Serialize};

/// A node's neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Links {
    prev: u32,
    next: u32,
}

impl Links {
    /// Of a node that is on no list.
    pub const NONE: Links = Links { prev: NONE, next: NONE };

    /// The node that is taken after this one; [`NONE`] if there is none.
    #[inline]
    pub fn toward_newest(&self) -> u32 {
        self.prev
    }
}

/// A row of a table that can be on a list.
pub(crate) trait Node {
    fn links(&self) -> Links;
    fn links_mut(&mut self) -> &mut Links;
}

/// A list of rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl List {
    /// Nothing.
    pub const EMPTY: List = List { head: NONE, tail: NONE, len: 0 };

    /// How many there are.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The one put there last; [`NONE`] if there is none.
    #[inline]
    pub fn newest(&self) -> u32 {
        self.head
    }

    /// The next to be taken; [`NONE`] if there is none.
    #[inline]
    pub fn oldest(&self) -> u32 {
        self.tail
    }

    /// The one to be taken after `steps` others; [`NONE`] if there are not so many.
    #[inline]
    pub fn ahead(&self, nodes: &[impl Node], steps: usize) -> u32 {
        let mut at = self.tail;
        for _ in 0..steps {
            if at == NONE {
                break;
            }
            at = nodes[at as usize].links().prev;
        }
        at
    }

    /// Puts a row at the head, or, if it is to be `first`, where the next is taken.
    #[inline]
    pub fn put(&mut self, nodes: &mut [impl Node], at: u32, first: bool) {
        self.len += 1;
        let (prev, next) = if first { (self.tail, NONE) } else { (NONE, self.head) };
        *nodes[at as usize].links_mut() = Links { prev, next };
        match prev {
            NONE => self.head = at,
            prev => nodes[prev as usize].links_mut().next = at,
        }
        match next {
            NONE => self.tail = at,
            next => nodes[next as usize].links_mut().prev = at,
        }
    }

    /// Takes a row off the list that it is on.
    #[inline]
    pub fn remove(&mut self, nodes: &mut [impl Node], at: u32) {
        self.len -= 1;
        let Links { prev, next } = nodes[at as usize].links();
        match prev {
            NONE => self.head = next,
            prev => nodes[prev as usize].links_mut().next = next,
        }
        match next {
            NONE => self.tail = prev,
            next => nodes[next as usize].links_mut().prev = prev,
        }
    }

    /// Checks that the list holds the rows that are its own, linked both ways (slow).
    pub fn check<N: Node>(&self, what: &str, nodes: &[N], is_own: impl Fn(&N) -> bool) -> Verdict {
        let (mut before, mut at, mut count) = (NONE, self.head, 0);
        while at != NONE {
            let found = nodes.get(at as usize);
            let is_next = found.is_some_and(|node| node.links().prev == before && is_own(node));
            ensure(is_next && count < self.len, what)?;
            (before, count) = (at, count + 1);
            at = nodes[at as usize].links().next;
        }
        let all = nodes.iter().filter(|node| is_own(node)).count();
        ensure(before == self.tail && count == self.len && all == count as usize, what)
    }
}
