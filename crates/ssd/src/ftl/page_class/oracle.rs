//! Knows how often each unit's data will be read until it dies, and puts what is read most on the pages that are read
//! fastest. No drive can do that: it says what read heat separation can come to, and how much of it the others reach.
//!
//! A unit's rank is that among all units, by the reads that are left of what the host has written of each: those before
//! its next overwrite or trim. Units that are read alike often take turns in the ranks that they have together. Which
//! ranks a class has is learnt: what enters the queues is to be shared as pages are by their types, for a queue that
//! gets more than its pages fills up and drives the others' units out.

use super::{Change, Classes, Member, Size};
use crate::ftl::foresight::{Fates, Foresight};
use crate::ftl::page_class::read_heat::units_of_blocks;
use crate::ftl::tables::map::Map;
use crate::restore::{Verdict, ensure};
use crate::rng::Rng;
use crate::units::Lpn;
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name in configurations.
pub const NAME: &str = "oracle";
/// What it does.
pub const SUMMARY: &str =
    "by future reads, known from the workload: impossible in a real drive, shows the possible gain";
/// Where it comes from.
pub const SOURCE: &str = "RHS section IV-B (optimal placement)";
/// What it costs.
pub const MEMORY: &str = "20 bytes per logical unit, 4 bytes per future read and overwrite";

choice! {
    /// Of what the classes are shares.
    pub enum Edges {
        /// Of what is written and moved: the ranks follow it.
        Written = "written",
        /// Of the logical units: with one page type a class, quartiles.
        Units = "units",
    }
}

section! {
    /// Parameters of `oracle`.
    pub struct Params {
        /// What the classes are shares of (assumed; RHS section IV-B does not say).
        edges: Edges = Edges::Written;
        /// Combined capacity of a stream's queues, in blocks: up to that much data waits to be programmed.
        queue_blocks: f64 = 2.0, unit "blocks", range 0.0..=64.0;
    }
}

/// In whose queue a unit waits.
#[derive(Clone, Copy, Debug)]
enum By {
    Host,
    Moves,
}

/// The unit of shares and ranks.
const WHOLE: u64 = 1 << 32;

/// A unit that enters its queue moves each edge by so little of its distance from where it should be (assumed): a part
/// in two to the power of this.
const SLOWLY: u32 = 10;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    #[serde(skip, default = "Params::default")]
    params: Params,
    /// By class but the last: its share of the pages, with those before it; a fraction of [`WHOLE`].
    #[serde(skip)]
    shares: Vec<u64>,
    /// For host data and moved data, which have queues of their own: by class but the last, the ranks up to which units
    /// are of that or a faster one; fractions of [`WHOLE`].
    edges: [Vec<u64>; 2],
    /// Units that have entered queues.
    turn: u32,
    /// What it was told; not in snapshots.
    #[serde(skip)]
    told: Option<Box<Told>>,
}

#[derive(Clone, Debug)]
struct Told {
    fates: Fates,
    /// By unit: reads to come of what the host has written of it last.
    left: Vec<u32>,
    /// By number of reads: units that have so many left, or more.
    at_least: Vec<u32>,
}

impl Told {
    fn new(foresight: Arc<Foresight>) -> Self {
        let units = || (0..foresight.units()).map(Lpn);
        let fates = Fates::new(Arc::clone(&foresight));
        let left: Vec<u32> = units().map(|lpn| foresight.reads_until(lpn, fates.due(lpn))).collect();
        let most = units().map(|lpn| most_reads(&foresight, lpn)).max().unwrap_or(0);
        let mut at_least = vec![0; most as usize + 1];
        left.iter().for_each(|&left| at_least[left as usize] += 1);
        for reads in (1..at_least.len()).rev() {
            at_least[reads - 1] += at_least[reads];
        }
        Told { fates, left, at_least }
    }

    /// Reads that are left of a unit have changed.
    fn set(&mut self, lpn: Lpn, now: u32) {
        let before = core::mem::replace(&mut self.left[lpn.index()], now);
        let range = |from: u32, to: u32| from as usize + 1..to as usize + 1;
        if now > before {
            self.at_least[range(before, now)].iter_mut().for_each(|units| *units += 1);
        } else {
            self.at_least[range(now, before)].iter_mut().for_each(|units| *units -= 1);
        }
    }

    /// A unit is written or trimmed: false if that was not foreseen.
    fn replace(&mut self, lpn: Lpn, is_trim: bool) -> bool {
        let before = self.fates.due(lpn);
        let replaced = self.fates.replace(lpn, is_trim);
        if replaced == Some(true) {
            let foresight = &self.fates.foresight;
            let past = foresight.reads_until(lpn, before);
            let now = foresight.reads_until(lpn, self.fates.due(lpn)) - past;
            self.set(lpn, now);
        }
        replaced.is_some()
    }
}

/// Most reads of a unit between two of its deaths.
fn most_reads(foresight: &Foresight, lpn: Lpn) -> u32 {
    let (mut most, mut past) = (0, 0);
    for &death in foresight.deaths_of(lpn) {
        let until = foresight.reads_until(lpn, death);
        most = most.max(until - past);
        past = until;
    }
    most.max(foresight.reads_of(lpn).len() as u32 - past)
}

/// By class but the last: the share that it and those before it have of all page types.
fn shares(classes: &Classes, types: usize) -> Vec<u64> {
    let of_types = &classes.of_type[..types];
    let up_to = |class: u8| of_types.iter().filter(|&&other| other <= class).count() as u64;
    (0..classes.count - 1).map(|class| WHOLE * up_to(class) / types as u64).collect()
}

impl Policy {
    /// A policy that has been told nothing.
    pub fn new(params: &Params) -> Self {
        let (shares, edges) = (Vec::new(), [const { Vec::new() }; 2]);
        Policy { params: params.clone(), shares, edges, turn: 0, told: None }
    }

    /// The class of a rank.
    #[inline]
    fn of_rank(&self, rank: u64, by: By) -> u8 {
        self.edges[by as usize].iter().take_while(|&&edge| rank >= edge).count() as u8
    }

    /// The rank of what lies on flash of a unit, and of what the host has handed over last: somewhere among those that
    /// are read alike often.
    fn rank(&self, lpn: Lpn) -> u64 {
        // If that is replaced already, nobody will read it there.
        let Some(told) = self.told.as_ref().filter(|told| !told.fates.is_replaced(lpn)) else {
            return WHOLE - 1;
        };
        let left = told.left[lpn.index()] as usize;
        let more = told.at_least.get(left + 1).map_or(0, |&units| u64::from(units));
        let (alike, all) = (u64::from(told.at_least[left]) - more, told.left.len() as u64);
        // The fraction that the golden ratio gives: any number of turns is spread evenly.
        let turn = u64::from(self.turn.wrapping_mul(0x9e37_79b9));
        (more * WHOLE + alike * turn) / all
    }

    /// A unit enters its queue: its class, and what that says of the edges.
    fn enter(&mut self, lpn: Lpn, by: By) -> u8 {
        let rank = self.rank(lpn);
        let class = self.of_rank(rank, by);
        self.turn = self.turn.wrapping_add(1);
        if self.params.edges == Edges::Written {
            for (edge, &share) in self.edges[by as usize].iter_mut().zip(&self.shares) {
                // In the mean nothing changes if a unit is below the edge as often as the share says.
                *edge = if rank < *edge {
                    edge.saturating_sub((WHOLE - share) >> SLOWLY)
                } else {
                    (*edge + (share >> SLOWLY)).min(WHOLE)
                };
            }
        }
        class
    }
}

impl Member for Policy {
    fn queue_units(&self, units_per_block: u64) -> u64 {
        units_of_blocks(self.params.queue_blocks, units_per_block)
    }

    fn counts_reads(&self) -> bool {
        true
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn learn(&mut self, size: &Size) {
        self.shares = shares(&size.classes, size.types);
        self.edges = [self.shares.clone(), self.shares.clone()];
    }

    fn table_bytes(&self, logical_units: u64) -> u64 {
        Fates::bytes(logical_units) + logical_units * 8
    }

    fn foresee(&mut self, foresight: &Arc<Foresight>) {
        self.told = Some(Box::new(Told::new(Arc::clone(foresight))));
    }

    fn foresight(&self) -> Option<&Arc<Foresight>> {
        self.told.as_ref().map(|told| &told.fates.foresight)
    }

    fn on_accept(&mut self, units: Range<u32>, is_trim: bool) -> bool {
        let Some(told) = &mut self.told else { return false };
        units.map(Lpn).all(|lpn| told.replace(lpn, is_trim))
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        let are_ranks = |edges: &Vec<u64>| edges.iter().all(|&edge| edge <= WHOLE);
        let is_alike = |edges: &Vec<u64>| edges.len() == fresh.shares.len() && are_ranks(edges);
        ensure(self.edges.iter().all(is_alike), "ranks of classes")?;
        (self.params, self.shares, self.told) = (fresh.params, fresh.shares, fresh.told);
        Ok(())
    }

    fn class(&self, lpn: Lpn) -> u8 {
        self.of_rank(self.rank(lpn), By::Moves)
    }

    fn class_of_write(&mut self, lpn: Lpn) -> u8 {
        if let Some(told) = &mut self.told {
            told.fates.write(lpn);
        }
        self.enter(lpn, By::Host)
    }

    fn class_of_move(&mut self, lpn: Lpn) -> u8 {
        self.enter(lpn, By::Moves)
    }

    fn on_read(&mut self, lpn: Lpn, _: &Map, _: &mut Rng) -> Change {
        if let Some(told) = &mut self.told
            && told.left[lpn.index()] > 0
        {
            let now = told.left[lpn.index()] - 1;
            told.set(lpn, now);
        }
        Change::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::foresight::Takes;
    use crate::nand::gray;

    fn policy(edges: Edges, takes: Takes) -> Policy {
        let mut policy = Policy::new(&Params { edges, ..Params::default() });
        let classes = Classes::of(&gray::named("qlc_orbc").unwrap().code());
        let takes = takes.finish();
        let logical_units = u64::from(takes.units());
        policy.learn(&Size { logical_units, data_units: 2 * logical_units, classes, types: 4 });
        policy.foresee(&Arc::new(takes));
        policy
    }

    /// By hand: eight units, read 5, 4, 3, 2 and 1 times and never; the first is then written, and read once more.
    #[test]
    fn ranks_follow_the_reads_that_are_left() {
        let mut takes = Takes::new(8, true);
        for (unit, reads) in [(0, 5), (1, 4), (2, 3), (3, 2), (4, 1)] {
            (0..reads).for_each(|_| takes.read(Lpn(unit)).unwrap());
        }
        takes.replace(Lpn(0), false).unwrap();
        takes.read(Lpn(0)).unwrap();
        let mut policy = policy(Edges::Units, takes);
        let classes = |policy: &Policy| [0, 1, 2, 3, 4, 5].map(|unit| policy.class(Lpn(unit)));
        assert_eq!(classes(&policy), [0, 0, 1, 1, 2, 2]);
        let (map, mut rng) = (Map::new(8, 16, false), Rng::named(1, "oracle"));
        (0..3).for_each(|_| assert_eq!(policy.on_read(Lpn(0), &map, &mut rng), Change::default()));
        // Two are left, as of unit 3: behind units 1 and 2, which have more.
        assert_eq!(classes(&policy), [1, 0, 0, 1, 2, 2]);
        assert!(!policy.on_accept(7..8, false), "unit 7 is never written");
        assert!(policy.on_accept(0..1, false));
        assert_eq!(classes(&policy)[0], 3, "nobody reads what is replaced");
        assert_eq!(policy.class_of_write(Lpn(0)), 1, "one read is left, as of unit 4: behind units 1 to 3");
        assert_eq!(classes(&policy)[1..4], [0, 0, 1]);
        policy.on_read(Lpn(7), &map, &mut rng);
        // Units that are never read take turns in the ranks from 5 on: of two, in the last classes.
        let turns: Vec<u8> = (0..300).map(|_| policy.class_of_move(Lpn(7))).collect();
        assert_eq!([2, 3].map(|class| turns.iter().filter(|&&of| of == class).count()), [100, 200]);
    }

    /// What enters is shared as pages are, though half of it is never read, and of the units only one in eight.
    #[test]
    fn edges_follow_what_enters() {
        let of = |code: &str| {
            let found = shares(&Classes::of(&gray::named(code).unwrap().code()), 4);
            found.iter().map(|&share| 4 * share / WHOLE).collect::<Vec<_>>()
        };
        assert_eq!((of("qlc_orbc"), of("qlc_pbbc"), of("qlc_mbbc")), (vec![1, 2, 3], vec![1, 2], vec![1]));
        let mut takes = Takes::new(800, true);
        for unit in 0..700 {
            (0..1 + unit).for_each(|_| takes.read(Lpn(unit)).unwrap());
        }
        let mut policy = policy(Edges::Written, takes);
        let (mut rng, mut counts) = (Rng::named(1, "edges"), [0u32; 4]);
        for turn in 0..40_000 {
            let unit = if rng.below(2) == 0 { 700 + rng.below(100) } else { rng.below(700) };
            let class = policy.class_of_move(Lpn(unit));
            counts[usize::from(class)] += u32::from(turn >= 20_000);
        }
        // A count strays as far as its edge does, times two to the power of SLOWLY.
        assert!(counts.iter().all(|count| count.abs_diff(5_000) < 100), "{counts:?}");
    }

    /// Beside counting what is to come of each unit, at every step.
    #[test]
    fn reads_left_agree_with_counting() {
        let (units, map) = (40, Map::new(40, 80, false));
        let mut rng = Rng::named(1, "ranks");
        // Skewed: reads to the low ones, writes to the high ones.
        let low = |rng: &mut Rng| rng.below(units).min(rng.below(units)).min(rng.below(units));
        let events: Vec<(bool, u32)> = (0..3_000)
            .map(
                |_| if rng.below(4) > 0 { (false, low(&mut rng)) } else { (true, units - 1 - low(&mut rng)) },
            )
            .collect();
        let mut takes = Takes::new(units, true);
        for &(is_write, unit) in &events {
            if is_write { takes.replace(Lpn(unit), false) } else { takes.read(Lpn(unit)) }.unwrap();
        }
        let mut policy = policy(Edges::Units, takes);
        for (at, &(is_write, unit)) in events.iter().enumerate() {
            let left = |unit: u32| {
                let to_come = events[at..].iter().filter(|event| event.1 == unit);
                to_come.take_while(|event| !event.0).count()
            };
            let lefts: Vec<usize> = (0..units).map(left).collect();
            let than =
                |other: &dyn Fn(usize) -> bool| lefts.iter().filter(|&&left| other(left)).count() as u64;
            let own = lefts[unit as usize];
            let ranks = [than(&|left| left > own), than(&|left| left >= own)].map(|rank| rank * WHOLE / 40);
            let found = policy.rank(Lpn(unit));
            assert!((ranks[0]..ranks[1]).contains(&found), "event {at}: {found} of {ranks:?}");
            if is_write {
                assert!(policy.on_accept(unit..unit + 1, false));
                policy.class_of_write(Lpn(unit));
            } else {
                policy.on_read(Lpn(unit), &map, &mut rng);
            }
        }
    }
}
