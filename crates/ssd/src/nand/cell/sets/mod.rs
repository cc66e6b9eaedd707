//! Few sets of voltages that read all states of a range: what one cell of a table of reference voltages holds.
//!
//! Sets lie on the line of the retry table (calibration section 5), in parts of its step, as read offsets of chips are
//! finer than their retry tables: on that line the tables that chips age by hold the errors of every state, so that
//! what is chosen here by the exact model is what a drive's reads meet. Voltages off the line would need a table of
//! errors each.
//!
//! Where reads move the erased state (the law of voltage) no place on that line follows it. Then the lowest reference
//! is chosen apart from the others ([`Voltages::lowest`]), for the page type that senses it.

mod apart;

use super::still::Tails;
use super::voltages::Voltages;
use super::{CellModel, CellState, Distribution, Group, References};

/// Points of a range of wear or of retention that are looked at, its ends included.
const POINTS: u32 = 9;
/// What the chips' integer tables may be off the exact model, in bits, of a set against the best voltages: kept free.
const GUARD_BITS: f64 = 0.5;
/// How finely the spare room of sets is compared, in bits.
const FINENESS_BITS: f64 = 1.0 / 16.0;

/// A range of states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct States {
    /// From the least to the most wear, in 1000 cycles of the average block.
    pub kcycles: [f64; 2],
    /// From the shortest to the longest time since programming, in hours at the reference temperature.
    pub hours: [f64; 2],
}

/// What sets must do, and how many there may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// A state counts if the best voltages, reads included, leave so many bits to the limit.
    pub spare_bits: f64,
    /// Parts of a step of the retry table at which sets may lie.
    pub parts: u8,
    /// Most sets.
    pub most: usize,
    /// Where reads move the erased state and the most sets do not read all such states, a bit more is asked for, and
    /// another, up to so many.
    pub spare_at_worst_bits: f64,
}

/// Pages whose states so many sets do not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// Group of their wordlines.
    pub group: Group,
    /// Their page type.
    pub page: usize,
    /// Sets that they need, or more; `None` if there is a state that no set reads.
    pub needed: Option<usize>,
}

/// Finds sets for one part.
pub struct SetFinder<'a> {
    model: &'a CellModel,
    demand: Demand,
    tails: Tails,
    /// Places on the line of the retry table.
    places: u8,
}

/// What sets make of the states of a page: for each state and place the errors, with noise, beyond those of the best
/// voltages, or under the law of voltage beyond those that leave `spare_bits` to the limit; in bits.
struct Excess {
    places: usize,
    bits: Vec<f64>,
}

impl Excess {
    fn states(&self) -> impl Iterator<Item = &[f64]> {
        self.bits.chunks_exact(self.places)
    }

    /// Sets that read all states with at most so much excess, the one that reads most of them first; `None` if there is
    /// a state that none reads. Of all sets that read the state with the lowest last place the last one reads most
    /// others: what a state is read with is an interval, so that no fewer sets would do.
    fn covered_by(&self, most: f64) -> Option<Vec<u8>> {
        let last = |state: &[f64]| state.iter().rposition(|&bits| bits <= most);
        let mut left: Vec<(usize, &[f64])> =
            self.states().map(|state| Some((last(state)?, state))).collect::<Option<_>>()?;
        let mut found = Vec::new();
        while let Some(at) = left.iter().map(|(last, _)| *last).min() {
            left.retain(|(_, state)| state[at] > most);
            found.push(at as u8);
        }
        let reads = |at: &u8| self.states().filter(|state| state[usize::from(*at)] <= most).count();
        found.sort_by_key(|at| core::cmp::Reverse(reads(at)));
        Some(found)
    }

    /// The fewest sets for at most so much excess, and of those that many the ones with the most room to spare.
    fn best_within(&self, most: f64) -> Option<Vec<u8>> {
        let mut found = self.covered_by(most)?;
        let (mut low, mut high) = (0.0, most);
        while high - low > FINENESS_BITS {
            let middle = 0.5 * (low + high);
            match self.covered_by(middle).filter(|sets| sets.len() <= found.len()) {
                Some(sets) => (found, high) = (sets, middle),
                None => low = middle,
            }
        }
        Some(found)
    }

    /// The one set whose worst excess is least: for states that nothing is demanded of.
    fn least(&self) -> u8 {
        let worst = |at: &usize| self.states().map(|state| state[*at]).fold(0.0, f64::max);
        (0..self.places).min_by(|a, b| worst(a).total_cmp(&worst(b))).unwrap_or(0) as u8
    }
}

impl<'a> SetFinder<'a> {
    /// For a part in its normal mode.
    pub fn new(model: &'a CellModel, demand: Demand) -> Self {
        let places = model.part().retry.entries as u8 * demand.parts + 1;
        SetFinder { model, demand, tails: Tails::new(), places }
    }

    /// The sets for each group and page type (in this order), for each range of effective reads, in shares of ERC_MAX,
    /// under the law of voltage; none are given under the linear law, and then the sets are for all reads.
    ///
    /// Under the linear law reads add the same to all voltages, up to the limit itself: so a set reads all that the
    /// best voltages read with `spare_bits` to the limit if it makes at most `spare_bits` errors more than they, noise
    /// included. Under the law of voltage reads are part of the state of pages that sense the lowest reference and
    /// nothing to others, and a set reads what it brings down to the limit itself.
    ///
    /// # Errors
    /// The first pages whose states need more sets.
    pub fn find(&self, states: &States, reads: &[[f64; 2]]) -> Result<Vec<Vec<Voltages>>, Uncovered> {
        let wear = points(states.kcycles, POINTS, |kcycles| kcycles, |at| at);
        let lines: Vec<(f64, Vec<References>)> = wear.map(|kcycles| (kcycles, self.line(kcycles))).collect();
        let low = (!reads.is_empty()).then(|| self.model.lowest_page());
        let mut of_line = Vec::new();
        for group in Group::ALL {
            for (page, (demanded, all)) in
                self.excess(group, &lines, states, low.is_some()).into_iter().enumerate()
            {
                let sets = match demanded.bits.is_empty() || low == Some(page) {
                    true => Some(vec![all.least()]),
                    false => demanded.best_within(self.demand.spare_bits - GUARD_BITS),
                };
                match sets {
                    Some(sets) if sets.len() <= self.demand.most => {
                        of_line.push(sets.into_iter().map(Voltages::at).collect::<Vec<_>>());
                    }
                    sets => return Err(Uncovered { group, page, needed: sets.map(|sets| sets.len()) }),
                }
            }
        }
        let Some(low) = low else { return Ok(of_line) };
        let mut found = Vec::new();
        for &range in reads {
            for (pages, group) in of_line.chunks(self.model.page_types()).zip(Group::ALL) {
                let begin = found.len();
                found.extend_from_slice(pages);
                found[begin + low] = self.apart_at_worst((group, low), states, range)?;
            }
        }
        Ok(found)
    }

    /// The sets of pages that sense the lowest reference; where they are too many for what is demanded, of as little
    /// less as can be.
    fn apart_at_worst(
        &self,
        page: (Group, usize),
        states: &States,
        reads: [f64; 2],
    ) -> Result<Vec<Voltages>, Uncovered> {
        let mut spare_bits = self.demand.spare_bits;
        loop {
            let found = self.apart(page, states, reads, spare_bits);
            spare_bits += 1.0;
            if found.is_ok() || spare_bits > self.demand.spare_at_worst_bits {
                return found;
            }
        }
    }

    /// References at all places, for cells of that wear.
    fn line(&self, wear_kcycles: f64) -> Vec<References> {
        let worn = self.model.distribution(&CellState { wear_kcycles, ..CellState::default() });
        let step = |place: u8| f64::from(place) / f64::from(self.demand.parts);
        (0..self.places).map(|place| self.model.step_references(&worn, 0, step(place))).collect()
    }

    /// Times of a range, even on the scale on which charge is lost.
    fn times(&self, hours: [f64; 2], count: u32) -> impl Iterator<Item = f64> {
        let onset = self.model.part().retention.onset_hours;
        points(hours, count, move |hours| libm::log1p(hours / onset), move |at| onset * libm::expm1(at))
    }

    /// Mean errors of a sector at these thresholds.
    fn bits(&self, cells: &Distribution, thresholds: &[u32], volts: &References) -> f64 {
        let at = |&at: &u32| self.tails.overlap(cells, at as usize, volts[at as usize]);
        self.model.sector_bits(thresholds.iter().map(at).sum())
    }

    /// For each page type the excess in states of which something is demanded, and in all; reads do nothing to them.
    fn excess(
        &self,
        group: Group,
        lines: &[(f64, Vec<References>)],
        ranges: &States,
        reads_move: bool,
    ) -> Vec<(Excess, Excess)> {
        let (model, part) = (self.model, self.model.part());
        let limit = f64::from(model.hard_limit_bits());
        let none = || Excess { places: usize::from(self.places), bits: Vec::new() };
        let mut found: Vec<(Excess, Excess)> = (0..model.page_types()).map(|_| (none(), none())).collect();
        for &(kcycles, ref line) in lines {
            let worn = model.worn(kcycles);
            for retention_hours in self.times(ranges.hours, POINTS) {
                let height = model.height_of(group);
                let state = CellState { retention_hours, height, ..CellState::default() };
                let cells = model.distribution_of(&worn, &state);
                let best = model.optimal_references(&cells);
                for (thresholds, (demanded, all)) in model.code().iter().zip(&mut found) {
                    let least = self.bits(&cells, thresholds, &best);
                    let free = if reads_move { limit - self.demand.spare_bits } else { least };
                    let excess = |volts: &References| {
                        let bits = self.bits(&cells, thresholds, volts);
                        bits + bits.min(part.effects.rtn_bits) - free
                    };
                    let begin = all.bits.len();
                    all.bits.extend(line.iter().map(excess));
                    if least + self.demand.spare_bits <= limit {
                        demanded.bits.extend_from_slice(&all.bits[begin..]);
                    }
                }
            }
        }
        found
    }
}

/// So many points from one end to the other, even on a scale; one if the ends are the same.
fn points(
    ends: [f64; 2],
    count: u32,
    to_scale: impl Fn(f64) -> f64,
    from_scale: impl Fn(f64) -> f64,
) -> impl Iterator<Item = f64> {
    let [low, high] = ends.map(to_scale);
    let many = if high > low { count } else { 1 };
    (0..many).map(move |i| from_scale(low + (high - low) * f64::from(i) / f64::from(count - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excess(bits: &[[f64; 4]]) -> Excess {
        Excess { places: 4, bits: bits.concat() }
    }

    #[test]
    fn as_few_sets_as_can_be_with_as_much_room_as_can_be() {
        let states = excess(&[[1.0, 0.5, 3.0, 9.0], [2.5, 1.0, 1.5, 4.0], [9.0, 6.0, 2.0, 0.5]]);
        assert_eq!(states.covered_by(0.9), None);
        assert_eq!(states.covered_by(1.0), Some(vec![1, 3]));
        assert_eq!(states.covered_by(3.0), Some(vec![2]));
        // Two sets could do with less, but one is enough.
        assert_eq!(states.best_within(3.5), Some(vec![2]));
        // At 2.9 two are needed; they have room down to 1.
        assert_eq!(states.best_within(2.9), Some(vec![1, 3]));
        assert_eq!(states.least(), 2);
    }

    #[test]
    fn young_cells_need_one_set_and_a_wide_range_names_who_needs_more() {
        let tlc = CellModel::preset("tlc_48l").expect("a shipped part");
        let demand = Demand { spare_bits: 4.0, parts: 4, most: 3, spare_at_worst_bits: 4.0 };
        let young = States { kcycles: [0.0, 0.2], hours: [0.0, 24.0] };
        let found = SetFinder::new(&tlc, demand).find(&young, &[]).expect("one set each");
        assert_eq!((found.len(), found.iter().all(|sets| sets.len() == 1)), (12, true));
        let wide = States { kcycles: [0.0, 10.0], hours: [0.0, 8_760.0] };
        let refused = SetFinder::new(&tlc, demand).find(&wide, &[]).expect_err("too much");
        assert!(refused.needed.is_some_and(|needed| needed > 3), "{refused:?}");
        let none = SetFinder::new(&tlc, Demand { spare_bits: 1.0, ..demand }).find(&young, &[]);
        assert_eq!(none.expect_err("noise alone is more").needed, None);
    }
}
