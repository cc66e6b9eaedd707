//! Several Bloom filters take turns: each write enters the present one, or the next that does not have the unit, and
//! the oldest is emptied when the turn passes. Hot is what many of them have, the younger counting more.

use super::{HOT, Member, Moved, Size, StreamId, Streams, Written, hot_or_cold};
use crate::ftl::fading::Fading;
use crate::restore::{Verdict, ensure};
use crate::rng::mix;
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "bloom";
/// What it does.
pub const SUMMARY: &str =
    "data is hot if enough of several Bloom filters contain it; filters rotate, younger ones count more";
/// Where it comes from.
pub const SOURCE: &str = "Park and Du (2011); also redFTL section 2.4.2";
/// What it costs.
pub const MEMORY: &str = "a byte for each bit of a filter, which holds that bit of up to eight filters";

section! {
    /// Parameters of `bloom`.
    pub struct Params {
        /// Filters.
        filters: u32 = 4, range 2..=8;
        /// Bits of a filter.
        bits: u32 = 2_048, range 1..=268_435_456;
        /// Bits set per unit.
        hashes: u32 = 2, range 1..=8;
        /// Writes after which the next filter takes its turn.
        turn: u32 = 512, unit "units", range 1..=1_000_000_000;
        /// A unit is hot if the weights of the filters that contain it add up to this. The youngest filter's weight
        /// is the number of filters, the next one's is one less, and so on down to 1.
        hot_at: u32 = 6, range 1..=36;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    /// By bit: which filters have it set, one bit each.
    bits: Fading<u8>,
    /// The filter whose turn it is.
    present: u32,
    /// Writes since it began.
    writes: u32,
    /// What each set of filters counts at this turn.
    weights: Vec<u8>,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        let bits = Fading::new(0, 0, params.filters);
        Policy { params: params.clone(), bits, present: 0, writes: 0, weights: Vec::new() }
    }

    /// What the filter counts.
    fn weight(&self, filter: u32) -> u8 {
        let filters = self.params.filters;
        // The one after the present is the oldest.
        ((filter + filters - self.present - 1) % filters + 1) as u8
    }

    /// Finds what each set of filters counts.
    fn weigh(&mut self) {
        for set in 0..self.weights.len() {
            let those = (0..self.params.filters).filter(|filter| set >> filter & 1 == 1);
            self.weights[set] = those.map(|filter| self.weight(filter)).sum();
        }
    }

    /// The bits of a unit. Two hashes make any number of them (Kirsch and Mitzenmacher, 2006).
    #[inline]
    fn places(&self, lpn: Lpn) -> impl Iterator<Item = usize> + use<> {
        let hashed = mix(u64::from(lpn.0));
        let (first, step, bits) = (hashed as u32, (hashed >> 32) as u32 | 1, u64::from(self.params.bits));
        (0..self.params.hashes).map(move |which| {
            let hash = first.wrapping_add(step.wrapping_mul(which));
            ((u64::from(hash) * bits) >> 32) as usize
        })
    }

    /// The filters that have a unit, one bit each.
    #[inline]
    fn having(&self, lpn: Lpn) -> u8 {
        self.places(lpn).fold(u8::MAX, |having, place| having & self.bits.get(place))
    }

    #[inline]
    fn note(&mut self, lpn: Lpn) {
        let filters = self.params.filters;
        let all = u8::MAX >> (8 - filters);
        // Those that do not have it; in turn, the present one first.
        let lacking = u32::from(!self.having(lpn) & all);
        let in_turn = lacking >> self.present | lacking << (filters - self.present);
        if lacking != 0 {
            let filter = (self.present + in_turn.trailing_zeros()) % filters;
            for place in self.places(lpn) {
                *self.bits.get_mut(place) |= 1 << filter;
            }
        }
        self.writes += 1;
        if self.writes == self.params.turn {
            self.writes = 0;
            self.present = (self.present + 1) % filters;
            self.bits.turn(!(1 << self.present));
            self.weigh();
        }
    }

    #[inline]
    fn is_hot(&self, lpn: Lpn) -> bool {
        u32::from(self.weights[usize::from(self.having(lpn))]) >= self.params.hot_at
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(2)
    }

    fn learn(&mut self, _: &Size) {
        self.bits = Fading::new(self.params.bits as usize, 0, self.params.filters);
        self.weights = vec![0; 1 << self.params.filters];
        self.weigh();
    }

    fn memory_bytes(&self, _: &Size) -> u64 {
        u64::from(self.params.bits) + (1 << self.params.filters)
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
        fresh.bits.restored("bits of filters", core::mem::take(&mut self.bits))?;
        ensure(self.present < fresh.params.filters, "the filter whose turn it is")?;
        ensure(self.writes < fresh.params.turn, "writes of a filter's turn")?;
        let most = u8::MAX >> (8 - fresh.params.filters);
        ensure(fresh.bits.all(|having| having <= most), "bits of filters there are not")?;
        (fresh.present, fresh.writes) = (self.present, self.writes);
        fresh.weigh();
        *self = fresh;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SIZE, moved, written};
    use super::*;

    fn policy(params: Params) -> Policy {
        let mut policy = Policy::new(&params);
        policy.learn(&SIZE);
        policy
    }

    /// Turns of three writes; filters A to D, of which A has the first turn.
    #[test]
    fn a_unit_enters_the_next_filter_that_lacks_it_and_the_oldest_is_emptied() {
        let mut policy = policy(Params { turn: 3, ..Params::default() });
        // Written, the filters that have it then (bit 0 is A), what they count (the present one 4), hot at 6.
        let steps = [
            // A's turn: A counts 4, D 3, C 2, B 1, which is emptied next.
            (5, 0b0001, 4),
            (5, 0b0011, 4 + 1),
            // With the third write B's turn begins, B is emptied: B 4, A 3, D 2, C 1.
            (5, 0b0101, 3 + 1),
            (5, 0b0111, 3 + 4 + 1),
            (5, 0b1111, 10),
            // C's turn, C is emptied: C 4, B 3, A 2, D 1.
            (9, 0b0010, 3),
            (5, 0b1111, 10),
            (9, 0b0110, 7),
        ];
        for (lpn, having, weight) in steps {
            let stream = policy.of_write(written(lpn));
            let found = (policy.having(Lpn(lpn)), policy.weights[usize::from(policy.having(Lpn(lpn)))]);
            assert_eq!((found, stream), ((having, weight), hot_or_cold(weight >= 6)), "unit {lpn}");
        }
        // D's turn begins with the next write, whatever that is; moves and what is written once more teach nothing.
        assert_eq!([5, 9, 4].map(|lpn| policy.of_move(moved(lpn, 0))), [1, 1, 0].map(StreamId));
        (0..9).for_each(|_| _ = policy.of_write(Written { again: true, ..written(4) }));
        assert_eq!((policy.having(Lpn(4)), policy.present, policy.writes), (0, 2, 2));
    }

    /// Beside filters that are sets: a unit that was entered is never missed.
    #[test]
    fn filters_have_all_that_entered_them() {
        let params = Params { filters: 5, bits: 700, hashes: 3, turn: 40, hot_at: 9 };
        let mut policy = policy(params.clone());
        let mut sets = vec![std::collections::BTreeSet::new(); 5];
        let (mut present, mut more) = (0, 0);
        let mut rng = crate::rng::Rng::named(1, "filters");
        for write in 1..=4_000u32 {
            let lpn = rng.below(90) * rng.below(3);
            let before = policy.having(Lpn(lpn));
            let filter = (0..5).map(|step| (present + step) % 5).find(|&filter| before >> filter & 1 == 0);
            filter.into_iter().for_each(|filter| _ = sets[filter].insert(lpn));
            if write.is_multiple_of(params.turn) {
                present = (present + 1) % 5;
                sets[present].clear();
            }
            _ = policy.of_write(written(lpn));
            let exact: u32 =
                (0..5).filter(|&filter| sets[filter].contains(&lpn)).map(|filter| 1 << filter).sum();
            let having = u32::from(policy.having(Lpn(lpn)));
            assert_eq!(exact & !having, 0, "write {write}: in {exact:05b}, found in {having:05b}");
            more += u32::from(having != exact);
        }
        assert!(more < 400, "{more} of 4000 were found where they are not");
    }
}
