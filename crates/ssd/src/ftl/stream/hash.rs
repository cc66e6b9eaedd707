//! A few small counters for many units: each write adds to those that hashes of the unit name, and what finds all of
//! them high is hot. All are halved now and then, so that old writes count less.

use super::{HOT, Member, Moved, Size, StreamId, Streams, Written, hot_or_cold};
use crate::ftl::fading::Fading;
use crate::restore::{Verdict, ensure};
use crate::rng::mix;
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "hash";
/// What it does.
pub const SUMMARY: &str =
    "data is hot if all of its 4-bit counters, picked by hashes, are high; counters are halved regularly";
/// Where it comes from.
pub const SOURCE: &str = "Hsieh, Kuo, Chang (2006); HASH in redFTL section 5.1.3";
/// What it costs.
pub const MEMORY: &str = "4 bits per counter";

section! {
    /// Parameters of `hash`.
    pub struct Params {
        /// Counters per unit.
        hashes: u32 = 2, range 1..=8;
        /// Number of counters.
        counters: u32 = 4_096, range 1..=268_435_456;
        /// A unit is hot if all of its counters have reached this.
        hot_at: u32 = 4, range 1..=15;
        /// Writes after which all counters are halved.
        halve_after: u32 = 4_096, unit "units", range 1..=1_000_000_000;
    }
}

/// A counter goes no further.
const MOST: u64 = 15;
/// Counters of a word.
const PER_WORD: u64 = 16;
/// What is left of each counter's bits when it is halved.
const HALVES: u64 = 0x7777_7777_7777_7777;
/// Halved so often nothing is left of any.
const HALVINGS: u32 = 4;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    counters: Fading<u64>,
    /// Writes since counters were halved.
    writes: u32,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { params: params.clone(), counters: Fading::new(0, 1, HALVINGS), writes: 0 }
    }

    /// The word and the first bit of a unit's counter. Two hashes make any number of them (Kirsch and Mitzenmacher,
    /// 2006).
    #[inline]
    fn place(&self, hashed: u64, which: u32) -> (usize, u64) {
        let hash = (hashed as u32).wrapping_add(((hashed >> 32) as u32 | 1).wrapping_mul(which));
        let counter = (u64::from(hash) * u64::from(self.params.counters)) >> 32;
        ((counter / PER_WORD) as usize, 4 * (counter % PER_WORD))
    }

    #[inline]
    fn note(&mut self, lpn: Lpn) {
        let hashed = mix(u64::from(lpn.0));
        for which in 0..self.params.hashes {
            let (word, bit) = self.place(hashed, which);
            let counters = self.counters.get_mut(word);
            *counters += u64::from((*counters >> bit) & MOST < MOST) << bit;
        }
        self.writes += 1;
        if self.writes == self.params.halve_after {
            self.writes = 0;
            self.counters.turn(HALVES);
        }
    }

    #[inline]
    fn is_hot(&self, lpn: Lpn) -> bool {
        let hashed = mix(u64::from(lpn.0));
        (0..self.params.hashes).all(|which| {
            let (word, bit) = self.place(hashed, which);
            (self.counters.get(word) >> bit) & MOST >= u64::from(self.params.hot_at)
        })
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(2)
    }

    fn learn(&mut self, _: &Size) {
        let words = self.params.counters.div_ceil(PER_WORD as u32);
        self.counters = Fading::new(words as usize, 1, HALVINGS);
    }

    fn memory_bytes(&self, _: &Size) -> u64 {
        u64::from(self.params.counters).div_ceil(PER_WORD) * 8
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

    fn restored(&mut self, mut fresh: Policy) -> Verdict {
        fresh.counters.restored("counters of writes", core::mem::take(&mut self.counters))?;
        (self.params, self.counters) = (fresh.params, fresh.counters);
        ensure(self.writes < self.params.halve_after, "writes since counters were halved")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SIZE, moved, written};
    use super::*;
    use std::collections::BTreeMap;

    fn policy(params: Params) -> Policy {
        let mut policy = Policy::new(&params);
        policy.learn(&SIZE);
        policy
    }

    fn count(policy: &Policy, lpn: u32) -> Vec<u64> {
        let hashed = mix(u64::from(lpn));
        (0..policy.params.hashes)
            .map(|which| {
                let (word, bit) = policy.place(hashed, which);
                policy.counters.get(word) >> bit & MOST
            })
            .collect()
    }

    #[test]
    fn hot_is_what_was_written_four_times_until_counters_are_halved() {
        let mut policy = policy(Params { halve_after: 20, ..Params::default() });
        let hot: Vec<u8> = (0..6).map(|_| policy.of_write(written(7)).0).collect();
        assert_eq!(hot, [0, 0, 0, 1, 1, 1]);
        assert_eq!((count(&policy, 7), policy.of_write(written(8))), (vec![6, 6], StreamId(0)));
        // Saturated at 15 by the 20th write, when all are halved: 7 and, of the one write of unit 8, none.
        (0..12).for_each(|_| _ = policy.of_write(written(7)));
        assert_eq!((count(&policy, 7), count(&policy, 8)), (vec![15, 15], vec![1, 1]));
        assert_eq!(policy.of_write(written(7)), StreamId(1));
        assert_eq!((count(&policy, 7), count(&policy, 8)), (vec![7, 7], vec![0, 0]));
        // Nothing is learnt of what is moved, or written once more while it waits.
        for _ in 0..9 {
            assert_eq!(policy.of_move(moved(7, 0)), StreamId(1));
            assert_eq!(policy.of_write(Written { again: true, ..written(8) }), StreamId(0));
        }
        assert_eq!((count(&policy, 7), count(&policy, 8)), (vec![7, 7], vec![0, 0]));
    }

    /// Beside counters that are whole numbers in a list.
    #[test]
    fn packed_counters_count_as_plain_ones_do() {
        let params = Params { hashes: 3, counters: 37, hot_at: 9, halve_after: 50 };
        let mut policy = policy(params.clone());
        let mut plain: BTreeMap<u64, u64> = BTreeMap::new();
        let mut rng = crate::rng::Rng::named(1, "counters");
        for write in 1..=5_000u32 {
            let lpn = rng.below(30);
            let hashed = mix(u64::from(lpn));
            let own: Vec<u64> = (0..params.hashes)
                .map(|which| policy.place(hashed, which))
                .map(|(word, bit)| word as u64 * PER_WORD + bit / 4)
                .collect();
            assert!(own.iter().all(|&counter| counter < 37));
            for counter in &own {
                let count = plain.entry(*counter).or_default();
                *count = (*count + 1).min(15);
            }
            if write.is_multiple_of(params.halve_after) {
                plain.values_mut().for_each(|count| *count /= 2);
            }
            let is_hot = own.iter().all(|counter| plain[counter] >= 9);
            assert_eq!(policy.of_write(written(lpn)), hot_or_cold(is_hot), "write {write}");
        }
    }
}
