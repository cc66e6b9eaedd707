//! Two lists of units, the last written first: what is written while it is a candidate becomes hot, and what has been
//! hot for longest is a candidate again when the hot list is full.

use super::{HOT, Member, Moved, Size, StreamId, Streams, Written, hot_or_cold};
use crate::index::UnitIndex;
use crate::list::{Links, List, Node};
use crate::restore::{Verdict, alike, ensure};
use crate::units::{Lpn, NONE};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "two_level_lru";
/// What it does.
pub const SUMMARY: &str = "data is hot if it is written again while on an LRU list of candidates";
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

const UNUSED: Row = Row { lpn: NONE, level: Level::Unused, links: Links::NONE };

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
        let level = &mut self.rows[at as usize].level;
        let from = if *level == Level::Hot { &mut self.hot } else { &mut self.candidates };
        *level = Level::Hot;
        from.remove(&mut self.rows, at);
        self.hot.put(&mut self.rows, at, false);
        if self.hot.len() > self.params.hot {
            let oldest = self.hot.oldest();
            self.hot.remove(&mut self.rows, oldest);
            self.rows[oldest as usize].level = Level::Candidate;
            self.candidates.put(&mut self.rows, oldest, false);
        }
    }

    /// A unit becomes a candidate; if there are enough, the one that was written longest ago is forgotten.
    fn add_candidate(&mut self, lpn: Lpn) {
        let mut at = self.hot.len() + self.candidates.len();
        if self.candidates.len() == self.params.candidates {
            at = self.candidates.oldest();
            self.candidates.remove(&mut self.rows, at);
            self.index.remove(Lpn(self.rows[at as usize].lpn));
        }
        self.rows[at as usize] = Row { lpn: lpn.0, level: Level::Candidate, links: Links::NONE };
        self.candidates.put(&mut self.rows, at, false);
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
        self.candidates.check("candidates", &self.rows, |row| row.level == Level::Candidate)?;
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

    fn policy(hot: u32, candidates: u32) -> Policy {
        let mut policy = Policy::new(&Params { hot, candidates });
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
        let mut policy = policy(2, 3);
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
}
