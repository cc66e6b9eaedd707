//! Two lists of units, the last written first: a candidate that has been written often enough becomes hot, and what has
//! been hot for longest is a candidate again, as if written once, when the hot list is full.

use super::{HOT, Member, Moved, Size, StreamId, Streams, Written, hot_or_cold};
use crate::index::UnitIndex;
use crate::list::{Links, List, Node};
use crate::restore::{Verdict, alike, ensure};
use crate::units::{Lpn, NONE};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "two_level_lru";
/// What it does.
pub const SUMMARY: &str = "data is hot if it is written more than twice while on an LRU list of candidates";
/// Where it comes from.
pub const SOURCE: &str = "Chang and Kuo (2002), the two-level LRU list; also redFTL section 2.4.2";
/// What it costs.
pub const MEMORY: &str = "for each unit on a list, 16 bytes and two to four 8-byte table entries";

section! {
    /// Parameters of `two_level_lru`.
    pub struct Params {
        /// Units on the hot list.
        hot: u32 = 512, unit "units", range 1..=1_048_576;
        /// Units on the candidate list.
        candidates: u32 = 1_024, unit "units", range 1..=1_048_576;
        /// The write with which a candidate becomes hot: it is "written more than twice within a short time" (redFTL
        /// section 2.4.2). With 2 any second write does.
        hot_at: u32 = 3, unit "writes", range 2..=255;
    }
}

/// Which list a unit is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Level {
    Unused,
    Candidate,
    Hot,
}

/// A unit on a list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    lpn: u32,
    level: Level,
    /// Of a candidate: how often it was written since it is one.
    writes: u8,
    links: Links,
}

impl Node for Row {
    fn links(&self) -> Links {
        self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

const UNUSED: Row = Row { lpn: NONE, level: Level::Unused, writes: 0, links: Links::NONE };

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    units: u64,
    /// Those that are used are the first.
    rows: Vec<Row>,
    hot: List,
    candidates: List,
    /// The row of a unit.
    index: UnitIndex,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            units: 0,
            rows: Vec::new(),
            hot: List::EMPTY,
            candidates: List::EMPTY,
            index: UnitIndex::new(0),
        }
    }

    /// Rows there are.
    fn most(params: &Params) -> u32 {
        params.hot + params.candidates
    }

    fn is_hot(&self, lpn: Lpn) -> bool {
        let at = self.index.get(lpn);
        at != NONE && self.rows[at as usize].level == Level::Hot
    }

    /// The unit was written: whether it was on a list.
    fn note(&mut self, lpn: Lpn) {
        let at = self.index.get(lpn);
        if at == NONE {
            return self.add_candidate(lpn);
        }
        let row = &mut self.rows[at as usize];
        let from = if row.level == Level::Hot { &mut self.hot } else { &mut self.candidates };
        row.writes = row.writes.saturating_add(1);
        let is_hot = row.level == Level::Hot || u32::from(row.writes) >= self.params.hot_at;
        from.remove(&mut self.rows, at);
        self.put(at, if is_hot { Level::Hot } else { Level::Candidate });
        if self.hot.len() > self.params.hot {
            let oldest = self.hot.oldest();
            self.hot.remove(&mut self.rows, oldest);
            self.rows[oldest as usize].writes = 1;
            self.put(oldest, Level::Candidate);
        }
    }

    /// Puts a row on top of a list.
    fn put(&mut self, at: u32, level: Level) {
        self.rows[at as usize].level = level;
        let list = if level == Level::Hot { &mut self.hot } else { &mut self.candidates };
        list.put(&mut self.rows, at, false);
    }

    /// A unit becomes a candidate; if there are enough, the one that was written longest ago is forgotten.
    fn add_candidate(&mut self, lpn: Lpn) {
        let mut at = self.hot.len() + self.candidates.len();
        if self.candidates.len() == self.params.candidates {
            at = self.candidates.oldest();
            self.candidates.remove(&mut self.rows, at);
            self.index.remove(Lpn(self.rows[at as usize].lpn));
        }
        self.rows[at as usize] = Row { lpn: lpn.0, writes: 1, ..UNUSED };
        self.put(at, Level::Candidate);
        self.index.set(lpn, at);
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(2)
    }

    fn learn(&mut self, size: &Size) {
        let rows = Policy::most(&self.params);
        self.units = size.logical_units;
        self.rows = vec![UNUSED; rows as usize];
        self.index = UnitIndex::new(rows);
    }

    fn memory_bytes(&self, _: &Size) -> u64 {
        let rows = Policy::most(&self.params);
        UnitIndex::bytes_for(rows) as u64 + u64::from(rows) * size_of::<Row>() as u64
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        if !write.again {
            self.note(write.lpn);
        }
        hot_or_cold(self.is_hot(write.lpn))
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        hot_or_cold(self.is_hot(moved.lpn))
    }

    fn class(&self, stream: StreamId) -> u8 {
        u8::from(stream == HOT)
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        alike("units on lists", &self.rows, &fresh.rows)?;
        let count = self.index.restored(&fresh.index, fresh.units as usize, fresh.rows.len())?;
        (self.params, self.units) = (fresh.params, fresh.units);
        self.hot.check("hot units", &self.rows, |row| row.level == Level::Hot)?;
        let is_candidate =
            |row: &Row| row.level == Level::Candidate && (1..self.params.hot_at).contains(&row.writes.into());
        self.candidates.check("candidates", &self.rows, is_candidate)?;
        let fits = self.hot.len() <= self.params.hot && self.candidates.len() <= self.params.candidates;
        let used = (self.hot.len() + self.candidates.len()) as usize;
        ensure(fits && count == used, "units on lists")?;
        ensure(self.rows[..used].iter().all(|row| row.level != Level::Unused), "units on lists")?;
        let mut found = self.index.iter();
        ensure(found.all(|(lpn, at)| self.rows[at as usize].lpn == lpn.0), "units on lists")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SIZE, moved, written};
    use super::*;

    fn policy(hot: u32, candidates: u32, hot_at: u32) -> Policy {
        let mut policy = Policy::new(&Params { hot, candidates, hot_at });
        policy.learn(&SIZE);
        policy
    }

    fn on(policy: &Policy, list: &List) -> Vec<u32> {
        (0..list.len() as usize)
            .map(|at| policy.rows[list.ahead(&policy.rows, at) as usize].lpn)
            .rev()
            .collect()
    }

    /// Two hot units, three candidates; by hand.
    #[test]
    fn a_hit_promotes_and_an_overflow_falls_to_the_head_of_the_candidates() {
        let mut policy = policy(2, 3, 2);
        // Written, hot or not, the hot list, the candidates: the last first.
        let steps: [(u32, u8, &[u32], &[u32]); 12] = [
            (1, 0, &[], &[1]),
            (2, 0, &[], &[2, 1]),
            (3, 0, &[], &[3, 2, 1]),
            (4, 0, &[], &[4, 3, 2]),
            (1, 0, &[], &[1, 4, 3]),
            (3, 1, &[3], &[1, 4]),
            (4, 1, &[4, 3], &[1]),
            (3, 1, &[3, 4], &[1]),
            (1, 1, &[1, 3], &[4]),
            (5, 0, &[1, 3], &[5, 4]),
            (6, 0, &[1, 3], &[6, 5, 4]),
            (7, 0, &[1, 3], &[7, 6, 5]),
        ];
        for (lpn, stream, hot, candidates) in steps {
            assert_eq!(policy.of_write(written(lpn)), StreamId(stream), "{lpn}");
            assert_eq!(
                (on(&policy, &policy.hot), on(&policy, &policy.candidates)),
                (hot.to_vec(), candidates.to_vec())
            );
        }
        // What is moved, and what is written once more while it waits, is told by what is known: nothing is learnt.
        assert_eq!([1, 3, 7, 4].map(|lpn| policy.of_move(moved(lpn, 0))), [1, 1, 0, 0].map(StreamId));
        assert_eq!(policy.of_write(Written { again: true, ..written(7) }), StreamId(0));
        assert_eq!(on(&policy, &policy.candidates), [7, 6, 5]);
    }

    /// One hot unit, two candidates; by hand. What falls from the hot list is written twice before it is hot again.
    #[test]
    fn the_third_write_makes_hot() {
        let mut policy = policy(1, 2, 3);
        let steps: [(u32, u8, &[u32], &[u32]); 10] = [
            (1, 0, &[], &[1]),
            (1, 0, &[], &[1]),
            (2, 0, &[], &[2, 1]),
            (1, 1, &[1], &[2]),
            (2, 0, &[1], &[2]),
            (2, 1, &[2], &[1]),
            (1, 0, &[2], &[1]),
            (1, 1, &[1], &[2]),
            (3, 0, &[1], &[3, 2]),
            // Forgotten, it is new.
            (4, 0, &[1], &[4, 3]),
        ];
        for (lpn, stream, hot, candidates) in steps {
            assert_eq!(policy.of_write(written(lpn)), StreamId(stream), "{lpn}");
            assert_eq!(
                (on(&policy, &policy.hot), on(&policy, &policy.candidates)),
                (hot.to_vec(), candidates.to_vec())
            );
        }
    }
}
