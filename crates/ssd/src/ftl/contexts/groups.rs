//! The streams of groups: each group has one while there are enough; then a newcomer goes on in the open block of the
//! group that was used least recently, that is, it takes over its stream.

use super::{Group, ROWS};
use crate::restore::{MOST, Verdict, alike, distinct, ensure};
use crate::units::StreamId;
use serde::{Deserialize, Serialize};

/// A stream and the group that has it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Held {
    group: Option<Group>,
    /// When it was used last, by [`Groups::uses`]; 0: never, or its group is no more.
    used: u64,
}

/// Which group writes to which stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct Groups {
    /// The first stream that groups write to.
    first: u8,
    /// By stream, from the first on.
    held: Box<[Held]>,
    uses: u64,
    /// Place in `held`, plus one, by group; 0: it has none.
    #[serde(skip)]
    places: Box<[u8]>,
}

impl Groups {
    /// No group has a stream of those from `first` to `end`.
    pub fn new(first: u8, end: u8) -> Self {
        let count = usize::from(end.saturating_sub(first));
        Groups {
            first,
            held: vec![Held::default(); count].into_boxed_slice(),
            uses: 0,
            places: vec![0; ROWS + 1].into_boxed_slice(),
        }
    }

    /// Bytes that it takes.
    pub fn bytes(streams: u8) -> u64 {
        (ROWS + 1 + usize::from(streams) * size_of::<Held>()) as u64
    }

    /// Checks what a snapshot says, and takes the rest from a fresh one.
    pub fn restored(&mut self, fresh: Groups) -> Verdict {
        alike("streams of groups", &self.held, &fresh.held)?;
        (self.first, self.places) = (fresh.first, fresh.places);
        ensure(self.uses < MOST && self.held.iter().all(|held| held.used <= self.uses), "uses of groups")?;
        let groups = self.held.iter().filter_map(|held| held.group).map(|group| u32::from(group.get()));
        distinct("groups with a stream", groups, ROWS + 1)?;
        for (place, held) in (1..).zip(&self.held) {
            if let Some(group) = held.group {
                self.places[usize::from(group.get())] = place;
            }
        }
        Ok(())
    }

    /// The stream of a group, which is used now.
    #[inline]
    pub fn stream(&mut self, group: Group) -> StreamId {
        self.uses += 1;
        let at = match self.places[usize::from(group.get())].checked_sub(1) {
            Some(at) => usize::from(at),
            None => self.take_over(group),
        };
        self.held[at].used = self.uses;
        StreamId(self.first + at as u8)
    }

    /// A group without stream takes that which was used least recently, the first of several never used.
    #[cold]
    fn take_over(&mut self, group: Group) -> usize {
        let at = (0..self.held.len()).min_by_key(|&at| self.held[at].used).unwrap_or(0);
        if let Some(old) = self.held[at].group.replace(group) {
            self.places[usize::from(old.get())] = 0;
        }
        self.places[usize::from(group.get())] = at as u8 + 1;
        at
    }

    /// A group is no more: its stream is the next to be taken over.
    pub fn dissolve(&mut self, group: Group) {
        if let Some(at) = core::mem::take(&mut self.places[usize::from(group.get())]).checked_sub(1) {
            self.held[usize::from(at)] = Held::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newcomer_takes_over_what_was_used_least_recently() {
        let mut groups = Groups::new(2, 5);
        let mut streams = |names: &[u16]| -> Vec<u8> {
            names.iter().map(|&name| groups.stream(Group::new(name).unwrap()).0).collect()
        };
        assert_eq!(streams(&[7, 8, 7, 9, 8]), [2, 3, 2, 4, 3]);
        // 7 was used before 9 and 8: 10 goes on in its block; then 7 is a newcomer itself.
        assert_eq!(streams(&[10, 10, 7, 9, 8]), [2, 2, 4, 3, 2]);
        groups.dissolve(Group::new(9).unwrap());
        assert_eq!([11, 7, 8].map(|name| groups.stream(Group::new(name).unwrap()).0), [3, 4, 2]);
    }
}
