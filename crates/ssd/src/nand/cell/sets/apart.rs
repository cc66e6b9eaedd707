//! Sets of voltages whose lowest reference lies apart from the line of the retry table.
//!
//! A set is a place on the line for all other references, and a step of its own for the lowest. A state is read by all
//! pairs of the two whose errors together are few enough, which is no interval: so sets are found by looking for the
//! fewest that cover all states.

use super::{SetFinder, States, Uncovered, points};
use crate::nand::cell::state::Worn;
use crate::nand::cell::voltages::{LOWEST_MOST, LOWEST_STEP_V, LOWEST_ZERO, Voltages};
use crate::nand::cell::{CellState, Distribution, Group, References};
use std::rc::Rc;

/// What the chips' integer tables may be off the exact model, and states between those that are looked at: kept free,
/// in bits.
const GUARD_BITS: f64 = 0.75;
/// Room that is tried for beyond that, from the most on.
const ROOMS_BITS: [f64; 2] = [2.0, 1.0];
/// Even points of wear that are looked at, and those in between that are even on the scale of early wear; points of
/// times and of reads. Ends are included.
const WEAR: u32 = 9;
const EARLY: u32 = 3;
const TIMES: u32 = 7;
const READS: u32 = 5;
/// Most states.
const STATES: usize = ((WEAR + EARLY + 1) * TIMES * READS) as usize;

/// States, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mask([u64; STATES.div_ceil(64)]);

impl Mask {
    fn first(count: usize) -> Self {
        (0..count).fold(Mask::default(), |mask, state| mask.with(state, true))
    }

    /// Those in which the errors of both together are at most so many.
    fn of(most: f64, one: &[f64], other: &[f64]) -> Self {
        let mut mask = Mask::default();
        for (word, (one, other)) in mask.0.iter_mut().zip(one.chunks(64).zip(other.chunks(64))) {
            for (state, (one, other)) in one.iter().zip(other).enumerate() {
                *word |= u64::from(one + other <= most) << state;
            }
        }
        mask
    }

    fn with(mut self, state: usize, is_read: bool) -> Self {
        self.0[state / 64] |= u64::from(is_read) << (state % 64);
        self
    }

    fn has(&self, state: usize) -> bool {
        self.0[state / 64] >> (state % 64) & 1 != 0
    }

    fn without(&self, other: &Mask) -> Self {
        Mask(core::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    fn is_within(&self, other: &Mask) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & !other == 0)
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// A set, and the states that it reads.
type Reader = (Mask, Voltages);

/// The fewest of the sets, and at most so many, that together read all that is left.
fn cover(readers: &[Reader], left: Mask, most: usize) -> Option<Vec<Reader>> {
    (0..=most).find_map(|count| cover_by(readers, left, count))
}

fn cover_by(readers: &[Reader], left: Mask, count: usize) -> Option<Vec<Reader>> {
    if left.is_empty() {
        return Some(Vec::new());
    }
    if count == 0 {
        return None;
    }
    // One of the sets must read the state that fewest of them do.
    let of = |state: usize| readers.iter().filter(move |(mask, _)| mask.has(state));
    let state = (0..STATES).filter(|&state| left.has(state)).min_by_key(|&state| of(state).count())?;
    of(state).find_map(|one| {
        let mut found = cover_by(readers, left.without(&one.0), count - 1)?;
        found.push(*one);
        Some(found)
    })
}

/// References at all places, for cells of some wear.
type Line = Rc<[References]>;

/// A state of cells, and the references for such wear.
struct State {
    cells: Distribution,
    line: Line,
}

/// Up to where in a range something holds that holds at its beginning.
fn end_of([mut low, mut high]: [f64; 2], holds: impl Fn(f64) -> bool) -> f64 {
    if holds(high) {
        return high;
    }
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        *(if holds(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

/// Errors of the states, apart for the two that make a set.
struct Errors {
    /// Of the other references at each place, by state.
    others: Vec<Vec<f64>>,
    /// Of the lowest reference at each of its steps from the first on, by state.
    lowest: Vec<Vec<f64>>,
    first: u8,
}

impl Errors {
    /// Sets and what they read with at most so many errors, noise included; none that reads only what another does.
    fn readers(&self, most: f64, noise: f64) -> Vec<Reader> {
        // A sector with fewer errors than there is noise is far from the limit.
        let most = most - noise;
        let steps = self.lowest.len();
        let of_place = |others| self.lowest.iter().map(move |lowest| Mask::of(most, others, lowest));
        let masks: Vec<Mask> = self.others.iter().flat_map(|others| of_place(others)).collect();
        // Most are within what a set beside them reads. Of two that read the same the first is kept.
        let is_within_next = |at: usize| {
            let (place, step) = (at / steps, at % steps);
            let before = [(step > 0).then(|| at - 1), at.checked_sub(steps)];
            let behind =
                [(step + 1 < steps).then_some(at + 1), (place + 1 < self.others.len()).then_some(at + steps)];
            before.into_iter().flatten().any(|beside| masks[at].is_within(&masks[beside]))
                || behind
                    .into_iter()
                    .flatten()
                    .any(|beside| masks[at].is_within(&masks[beside]) && masks[at] != masks[beside])
        };
        let apart = |at: usize| Voltages::apart((at / steps) as u8, self.first + (at % steps) as u8);
        let left = (0..masks.len()).filter(|&at| !is_within_next(at));
        let mut all: Vec<Reader> = left.map(|at| (masks[at], apart(at))).collect();
        all.sort_by_key(|(mask, _)| core::cmp::Reverse(mask.count()));
        let mut kept: Vec<Reader> = Vec::new();
        for one in all {
            if !kept.iter().any(|(mask, _)| one.0.is_within(mask)) {
                kept.push(one);
            }
        }
        kept
    }
}

impl SetFinder<'_> {
    /// The sets for pages that sense the lowest reference, under the law of voltage. Of states that the best voltages
    /// leave `spare_bits` each is read.
    pub(super) fn apart(
        &self,
        (group, page): (Group, usize),
        ranges: &States,
        reads: [f64; 2],
        spare_bits: f64,
    ) -> Result<Vec<Voltages>, Uncovered> {
        let model = self.model;
        let (senses, limit) = (&model.code()[page], f64::from(model.hard_limit_bits()));
        let lines = self.lines(ranges.kcycles);
        let demanded = self.states(group, &lines, (ranges, reads), |cells: &Distribution| {
            self.bits(cells, senses, &model.optimal_references(cells)) + spare_bits <= limit
        });
        if demanded.is_empty() {
            let all = self.states(group, &lines, (ranges, reads), |_| true);
            return Ok(vec![self.nearest(&all[all.len() / 2], senses)]);
        }
        let errors = self.errors(&demanded, senses);
        let (most, noise) = (limit - GUARD_BITS, model.part().effects.rtn_bits);
        let (left, readers) = (Mask::first(demanded.len()), errors.readers(most, noise));
        let Some(found) = cover(&readers, left, self.demand.most) else {
            let is_read = |state| readers.iter().any(|(mask, _)| mask.has(state));
            let needed = (0..demanded.len()).all(is_read).then_some(self.demand.most + 1);
            return Err(Uncovered { group, page, needed });
        };
        let with_room = |room: &f64| cover(&errors.readers(most - room, noise), left, found.len());
        let mut found = ROOMS_BITS.iter().find_map(with_room).unwrap_or(found);
        found.sort_by_key(|(mask, _)| core::cmp::Reverse(mask.count()));
        Ok(found.into_iter().map(|(_, set)| set).collect())
    }

    /// References at all places, by wear: even points, and points that are even on the scale by which the rise of the
    /// erased state falls, most of it where there is little wear.
    fn lines(&self, kcycles: [f64; 2]) -> Vec<(Worn, Line)> {
        let power = self.model.part().disturb.erased_shift_power;
        let even = points(kcycles, WEAR, |wear| wear, |at| at);
        let early =
            points(kcycles, EARLY + 2, |wear| libm::pow(wear, power), |at| libm::pow(at, 1.0 / power));
        even.chain(early.skip(1).take(EARLY as usize)).map(|wear| self.worn_line(wear)).collect()
    }

    fn worn_line(&self, kcycles: f64) -> (Worn, Line) {
        (self.model.worn(kcycles), self.line(kcycles).into())
    }

    /// The states of the ranges of which something is demanded; with those at which demands end, for some wear and some
    /// reads.
    fn states(
        &self,
        group: Group,
        lines: &[(Worn, Line)],
        (ranges, [from, to]): (&States, [f64; 2]),
        is_demanded: impl Fn(&Distribution) -> bool,
    ) -> Vec<State> {
        let height = self.model.height_of(group);
        let mut found = Vec::new();
        for retention_hours in self.times(ranges.hours, TIMES) {
            let cells = |worn: &Worn, erc_fraction: f64| {
                let state = CellState { retention_hours, height, erc_fraction, ..CellState::default() };
                self.model.distribution_of(worn, &state)
            };
            let is_worn = |worn: &Worn| is_demanded(&cells(worn, from));
            let demanding: Vec<&(Worn, Line)> = lines.iter().filter(|(worn, _)| is_worn(worn)).collect();
            let most = demanding.iter().map(|(worn, _)| worn.kcycles).reduce(f64::max);
            let Some(most) = most else { continue };
            let last = end_of([most, ranges.kcycles[1]], |wear| is_worn(&self.model.worn(wear)));
            let at_end = (last > most).then(|| self.worn_line(last));
            for (worn, line) in demanding.into_iter().chain(&at_end) {
                let end = end_of([from, to], |reads| is_demanded(&cells(worn, reads)));
                let shares = points([from, end], READS, |share| share, |at| at);
                found
                    .extend(shares.map(|share| State { cells: cells(worn, share), line: Line::clone(line) }));
            }
        }
        found
    }

    fn errors(&self, demanded: &[State], senses: &[u32]) -> Errors {
        let zero = f64::from(LOWEST_ZERO);
        let best =
            |state: &State| (state.cells.optimal_reference(1) - state.line[0][1]) / LOWEST_STEP_V + zero;
        let lowest = libm::floor(demanded.iter().map(best).fold(f64::MAX, f64::min)) - 1.0;
        let highest = libm::ceil(demanded.iter().map(best).fold(f64::MIN, f64::max)) + 1.0;
        let [first, last] = [lowest, highest].map(|step| step.clamp(1.0, f64::from(LOWEST_MOST)) as u8);
        let above: Vec<u32> = senses.iter().copied().filter(|&threshold| threshold != 1).collect();
        let others = |place: usize| {
            let bits = |state: &State| self.bits(&state.cells, &above, &state.line[place]);
            demanded.iter().map(bits).collect()
        };
        let lowest = |step: u8| {
            let volts = |state: &State| state.line[0][1] + (f64::from(step) - zero) * LOWEST_STEP_V;
            let errors = |state: &State| self.tails.overlap(&state.cells, 1, volts(state));
            demanded.iter().map(|state| self.model.sector_bits(errors(state))).collect()
        };
        Errors {
            others: (0..usize::from(self.places)).map(others).collect(),
            lowest: (first..=last).map(lowest).collect(),
            first,
        }
    }

    /// The set with the fewest errors in a state, of which nothing is demanded.
    fn nearest(&self, state: &State, senses: &[u32]) -> Voltages {
        let errors = self.errors(core::slice::from_ref(state), senses);
        let least = |bits: &[Vec<f64>]| {
            (0..bits.len()).min_by(|&a, &b| bits[a][0].total_cmp(&bits[b][0])).unwrap_or(0) as u8
        };
        Voltages::apart(least(&errors.others), errors.first + least(&errors.lowest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Those that no other has all states of, the first of those that have the same; most states first.
    fn kept_of_all(errors: &Errors, most: f64) -> Vec<Reader> {
        let mut all = Vec::new();
        for (place, others) in (0..).zip(&errors.others) {
            for (lowest, bits) in (errors.first..).zip(&errors.lowest) {
                let is_read = |state: &usize| others[*state] + bits[*state] <= most;
                let states = (0..others.len()).filter(is_read);
                all.push((
                    states.fold(Mask::default(), |mask, state| mask.with(state, true)),
                    Voltages::apart(place, lowest),
                ));
            }
        }
        all.sort_by_key(|(mask, _)| core::cmp::Reverse(mask.count()));
        let is_more =
            |at: usize, one: &Reader| all[..at].iter().any(|(mask, _)| one.0.without(mask).is_empty());
        all.iter().enumerate().filter(|(at, one)| !is_more(*at, one)).map(|(_, one)| *one).collect()
    }

    #[test]
    fn sets_are_kept_that_no_other_replaces() {
        let mut rng = Rng::named(1, "sets");
        for round in 0..60 {
            let (places, steps) = (1 + rng.below(12) as usize, 1 + rng.below(9) as usize);
            let states = 1 + rng.below(40) as usize;
            // Errors rise away from the best of each state, by whole bits: many sets read the same.
            let mut bits = |count: usize| -> Vec<Vec<f64>> {
                let best: Vec<i64> = (0..states).map(|_| i64::from(rng.below(count as u32))).collect();
                (0..count as i64)
                    .map(|at| best.iter().map(|best| (best - at).abs() as f64).collect())
                    .collect()
            };
            let errors = Errors { others: bits(places), lowest: bits(steps), first: 3 };
            for most in [-1.0, 0.0, 1.0, 3.0, 100.0] {
                assert_eq!(errors.readers(most, 0.0), kept_of_all(&errors, most), "round {round}");
            }
        }
    }
}
