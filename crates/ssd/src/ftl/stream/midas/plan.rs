//! How many groups a chain of them should have, and how large each should be: what is copied in each follows from how
//! soon units are written again (MiDAS: update interval distribution, analytical model).
//!
//! Ages are counted in writes of the host, sizes in units; both are told in 2^-8 of a grain, which is a small share of
//! the logical space. Shares are in 2^-16.

use super::{FIRST, HOT};
use crate::ftl::stream::STREAMS_AT_MOST;
use crate::restore::{Verdict, alike, ensure};
use crate::snapshot::raw;
use serde::{Deserialize, Serialize};

/// A whole, where shares are counted.
pub(super) const ONE: u64 = 1 << 16;
/// A grain, where ages and sizes are counted.
pub(super) const GRAIN: u64 = 1 << 8;
/// So many grains are the logical space.
pub(super) const GRAINS: u64 = 1 << 10;
/// Bins of ages: a grain each, then so many an octave, up to 2^20 grains.
const OCTAVE: u64 = 32;
const BINS: usize = OCTAVE as usize * (20 - OCTAVE.ilog2() as usize + 1);
/// What one life counts, before it is halved.
const LIFE: u32 = 1 << 8;
/// Steps of how full the last group is.
const STEPS: usize = 1 << 10;
/// A group more must save so many copies per write (assumed).
const WORTH: u64 = ONE / 100;

/// The bin of an age in grains.
fn bin(grains: u64) -> usize {
    if grains < OCTAVE {
        return grains as usize;
    }
    let octave = grains.ilog2() - OCTAVE.ilog2();
    (OCTAVE * u64::from(octave + 1) + (grains >> octave) % OCTAVE).min(BINS as u64) as usize
}

/// The first age of a bin.
fn edge(bin: usize) -> u64 {
    let bin = bin as u64;
    let grains = if bin < OCTAVE { bin } else { (OCTAVE + bin % OCTAVE) << (bin / OCTAVE - 1) };
    grains * GRAIN
}

/// Ticks for which the lives of all units are counted (MiDAS counts its first interval so).
pub(super) const SHORT: usize = 180;

/// How long data of some units lived, as far as it was seen: by bin of age, the last for all that is older.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Lives {
    /// Writes of all units, and lives of all that ended so soon, by ticks.
    writes: u64,
    short: Vec<u64>,
    /// Lives that were first seen, or last seen, at an age.
    #[serde(with = "raw")]
    from: Vec<u32>,
    #[serde(with = "raw")]
    until: Vec<u32>,
    /// Lives that ended.
    #[serde(with = "raw")]
    ended: Vec<u32>,
    /// Lives that began.
    begun: u32,
}

impl Lives {
    pub fn new() -> Self {
        let none = || vec![0; BINS + 1];
        Lives { writes: 0, short: vec![0; SHORT], from: none(), until: none(), ended: none(), begun: 0 }
    }

    /// Any unit was written.
    #[inline]
    pub fn write(&mut self) {
        self.writes += 1;
    }

    /// Data of any unit has lived so many ticks.
    #[inline]
    pub fn end_any(&mut self, ticks: u8) {
        if let Some(count) = self.short.get_mut(usize::from(ticks)) {
            *count += 1;
        }
    }

    /// One of those that are watched was written.
    pub fn begin(&mut self) {
        self.begun = self.begun.saturating_add(LIFE);
    }

    /// Data of one of those lived so many grains.
    pub fn end(&mut self, grains: u64) {
        let count = &mut self.ended[bin(grains)];
        *count = count.saturating_add(LIFE);
    }

    /// Data of one of those lives, so many grains old: it is seen no further, or from now on.
    pub fn pause(&mut self, grains: u64, is_end: bool) {
        let count = &mut (if is_end { &mut self.until } else { &mut self.from })[bin(grains)];
        *count = count.saturating_add(LIFE);
    }

    /// Half of what was seen so far counts from now on.
    pub fn halve(&mut self) {
        self.begun /= 2;
        self.writes /= 2;
        self.short.iter_mut().for_each(|count| *count /= 2);
        for counts in [&mut self.from, &mut self.until, &mut self.ended] {
            counts.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// Nothing was seen.
    pub fn clear(&mut self) {
        (self.begun, self.writes) = (0, 0);
        self.short.fill(0);
        [&mut self.from, &mut self.until, &mut self.ended].into_iter().for_each(|counts| counts.fill(0));
    }

    pub fn writes(&self) -> u64 {
        self.writes
    }

    pub const fn bytes() -> u64 {
        3 * 4 * (BINS as u64 + 1) + 8 * SHORT as u64
    }

    pub fn restored(&self, fresh: &Lives) -> Verdict {
        for counts in [&self.from, &self.until, &self.ended] {
            alike("lives of data", counts, &fresh.ended)?;
        }
        alike("lives of all data", &self.short, &fresh.short)?;
        ensure(self.short.iter().chain([&self.writes]).all(|&count| count < 1 << 40), "lives of all data")
    }
}

/// Lives that have ended, counted on by ticks.
struct Soon {
    ticks: usize,
    ended: u64,
}

impl Soon {
    /// So many by an age, in 2^-16. Of those that are told to have ended after some ticks half did so after more than
    /// that: both ends of a life are rounded down.
    fn ended_by(&mut self, age: u64, tick: u64, of: impl Fn(usize) -> u64) -> u64 {
        let half = tick.div_ceil(2);
        if age < half {
            return of(0) * age * ONE / half;
        }
        while (self.ticks as u64 + 1) * tick <= age + half {
            self.ended += of(self.ticks);
            self.ticks += 1;
        }
        self.ended * ONE + of(self.ticks) * (age + half - self.ticks as u64 * tick) * ONE / tick
    }
}

/// What share of data still lives at an age.
#[derive(Clone)]
pub(super) struct Curve {
    alive: [u64; BINS + 1],
    /// Area below it.
    area: [u64; BINS + 1],
    /// The bin up to which any was seen.
    end: usize,
}

impl Curve {
    /// Of lives that were seen; a tick is so long. What lives longer than all are counted is told by those that are
    /// watched: of those seen at an age, which share ended there (Kaplan and Meier (1958), for lives
    /// that are not seen from their beginning, or not to their end). Those alone would miss the few units that have
    /// most of the writes, or take them for too many.
    pub fn of(lives: &[&Lives], tick: u64) -> Curve {
        let sum = |of: &dyn Fn(&Lives) -> u64| lives.iter().map(|lives| of(lives)).sum::<u64>();
        let writes = sum(&|lives| lives.writes).max(1);
        let (mut seen, mut left) = (sum(&|lives| lives.begun.into()), ONE << 16);
        let mut soon = Soon { ticks: 0, ended: 0 };
        let mut curve = Curve { alive: [0; BINS + 1], area: [0; BINS + 1], end: 0 };
        for at in 0..=BINS {
            let count = |of: fn(&Lives) -> &Vec<u32>| -> u64 { sum(&|lives| of(lives)[at].into()) };
            if edge(at) < (SHORT as u64 - 1) * tick {
                let ended =
                    soon.ended_by(edge(at), tick, |ticks| sum(&|lives| lives.short[ticks])).min(writes * ONE);
                left = ((u128::from(writes * ONE - ended) << 16) / u128::from(writes)) as u64;
            }
            curve.alive[at] = left >> 16;
            if at > 0 {
                let mean = (curve.alive[at - 1] + curve.alive[at]) / 2;
                curve.area[at] = curve.area[at - 1] + mean * (edge(at) - edge(at - 1));
            }
            let (from, until) = (count(|lives| &lives.from), count(|lives| &lives.until));
            let ended = count(|lives| &lives.ended);
            curve.end = if from + until + ended > 0 { at } else { curve.end };
            seen += from;
            left -= (u128::from(left) * u128::from(ended.min(seen)) / u128::from(seen.max(1))) as u64;
            seen = seen.saturating_sub(ended + until);
        }
        curve
    }

    /// The share that lives at an age, and the area up to it.
    fn at(&self, age: u64) -> (u64, u64) {
        let at = bin(age / GRAIN);
        if at >= BINS {
            let beyond = age - edge(BINS);
            return (self.alive[BINS], self.area[BINS] + self.alive[BINS] * beyond);
        }
        let (from, width) = (age - edge(at), edge(at + 1) - edge(at));
        let alive = self.alive[at] - (self.alive[at] - self.alive[at + 1]) * from / width;
        (alive, self.area[at] + (self.alive[at] + alive) / 2 * from)
    }
}

/// The product of a share and anything.
fn share(of: u64, share: u64) -> u64 {
    ((u128::from(of) * u128::from(share)) >> 16) as u64
}

/// Groups, by stream, and what is expected of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chain {
    /// The stream behind those that are groups of the chain; all that is not in them or hot is the last group.
    pub end: u8,
    /// Full blocks of a lane: of hot data, if it has a group, and of the chain's.
    pub blocks: [u32; STREAMS_AT_MOST],
    /// Live share of their victims; of the first: of the last group's.
    pub valid: [u32; STREAMS_AT_MOST],
    /// Copies per write.
    pub copies: u64,
    /// How long data stays in the first group.
    pub stay: u64,
}

impl Chain {
    /// One group for all.
    pub const NONE: Chain = Chain {
        end: FIRST,
        blocks: [0; STREAMS_AT_MOST],
        valid: [0; STREAMS_AT_MOST],
        copies: 1 << 40,
        stay: 0,
    };

    /// Whether nothing is planned.
    #[inline]
    pub fn is_unplanned(&self) -> bool {
        self.end == FIRST && self.copies == Chain::NONE.copies
    }

    /// Whether all is planned to be one group.
    #[inline]
    pub fn is_single(&self) -> bool {
        self.end == FIRST && self.copies != Chain::NONE.copies
    }

    /// Whether a stream's blocks are a group, and not a part of the last.
    #[inline]
    pub fn has(&self, stream: u8) -> bool {
        (FIRST..self.end).contains(&stream) || stream == HOT && self.blocks[usize::from(HOT)] > 0
    }

    /// The groups but for the last, from hot data on.
    pub fn groups(&self) -> impl Iterator<Item = u8> + use<> {
        let this = *self;
        (HOT..self.end).filter(move |&stream| this.has(stream))
    }
}

/// What a plan is made of.
pub(super) struct Known<'a> {
    /// Lives of hot data, of the rest, and of all.
    pub hot: Curve,
    pub cold: Curve,
    pub all: Curve,
    /// Share of the writes that are of hot data.
    pub hot_writes: u64,
    /// Room in a block of every lane, in all that are not free, and live data.
    pub row: u64,
    pub space: u64,
    pub data: u64,
    pub valid_of_full: &'a [u32],
}

impl Known<'_> {
    /// What is expected of groups of some sizes: data that enters each and what of it lives when it leaves (MiDAS:
    /// f1 = 1 - t0 + t0 v0, then f v, at last f / (1 - v)); none if they do not fit. A group has a block more than is
    /// full: the one that is open is half full.
    pub fn predict(&self, mut chain: Chain) -> Option<Chain> {
        let curve = if chain.has(HOT) { &self.cold } else { &self.all };
        // The last group has an open block, and so has what comes from hot data; what the host writes is in the last
        // group if it has no other.
        let half = self.row / 2;
        let open = half + if chain.end == FIRST || chain.has(HOT) { half } else { 0 };
        let mut space = self.space.checked_sub(open)?;
        let (mut inflow, mut live, mut age) = (ONE, 0, 0);
        (chain.copies, chain.stay) = (0, 0);
        if chain.has(HOT) {
            let blocks = u64::from(chain.blocks[usize::from(HOT)]);
            space = space.checked_sub((blocks + 1) * self.row)?;
            let stay = ((blocks * self.row + half) * ONE).checked_div(self.hot_writes)?;
            let (valid, area) = self.hot.at(stay.min(1 << 32));
            chain.valid[usize::from(HOT)] = valid as u32;
            chain.copies = share(self.hot_writes, valid);
            live = share(area / ONE, self.hot_writes);
            inflow = ONE - self.hot_writes + chain.copies;
        }
        let first = inflow;
        for group in usize::from(FIRST)..usize::from(chain.end) {
            let blocks = u64::from(chain.blocks[group]);
            space = space.checked_sub((blocks + 1) * self.row)?;
            let stay = ((blocks * self.row + half) * ONE).checked_div(inflow)?.min(1 << 32);
            let ((before, from), (after, to)) = (curve.at(age), curve.at(age + stay));
            let valid = (after * ONE).checked_div(before)?;
            chain.valid[group] = valid as u32;
            live += share((to - from) / ONE, first);
            inflow = share(inflow, valid);
            chain.copies += inflow;
            chain.stay = if age == 0 { stay } else { chain.stay };
            age += stay;
        }
        // What is left of all data; or its share, where more is seen to live than there can be.
        let longer = share(curve.area[curve.end].saturating_sub(curve.at(age).1) / ONE, first);
        let live = match live + longer {
            all if all > self.data => (u128::from(self.data) * u128::from(longer) / u128::from(all)) as u64,
            _ => self.data - live,
        };
        let full = (live * STEPS as u64).checked_div(space)?;
        let valid = u64::from(*self.valid_of_full.get(full as usize).filter(|_| full < STEPS as u64)?);
        chain.valid[0] = valid as u32;
        chain.copies += inflow * valid / (ONE - valid);
        Some(chain)
    }

    /// Gives a group the size that makes the copies the fewest; whether there is any. Of sizes an eighth apart, then of
    /// those beside the best.
    fn improve(&self, chain: &mut Chain, group: u8) -> bool {
        let most = (self.space / self.row.max(1)) as u32;
        let least = u32::from(group != HOT);
        let best_of = |from: u32, to: u32, part: u32| {
            let next = move |&blocks: &u32| Some(blocks + (blocks / part).max(1)).filter(|&next| next < to);
            let sizes = core::iter::successors(Some(from), next).map(|blocks| {
                let mut tried = *chain;
                tried.blocks[usize::from(group)] = blocks;
                self.predict(tried)
            });
            sizes.flatten().min_by_key(|tried| tried.copies)
        };
        let Some(coarse) = best_of(least, most, 8) else { return false };
        let about = coarse.blocks[usize::from(group)];
        let fine = best_of((about - about / 8).max(least), about + about / 8 + 1, 64);
        let best = fine.filter(|fine| fine.copies < coarse.copies).unwrap_or(coarse);
        *chain = best;
        true
    }

    /// Groups of hot data and of the chain, so many at most with the last, added while the copies become fewer; then
    /// each gets the size that is the best beside the others.
    pub fn plan(&self, most: u8) -> Chain {
        let mut chain = self.predict(Chain::NONE).unwrap_or(Chain::NONE);
        while chain.end <= most {
            let mut more = Chain { end: chain.end + 1, ..chain };
            if !self.improve(&mut more, chain.end) || more.copies + WORTH > chain.copies {
                break;
            }
            chain = more;
        }
        // Hot is what is soon written again where it leaves a group: there is none without groups.
        if chain.end > FIRST {
            (HOT..chain.end).for_each(|group| _ = self.improve(&mut chain, group));
        }
        chain
    }

    /// A chain that is better than this one; this one if it did as well: so many copies per write were measured of it.
    pub fn better_than(&self, chain: Chain, most: u8, measured: u64) -> Chain {
        let planned = self.plan(most);
        let same = self.predict(chain).filter(|_| planned.copies >= measured);
        same.unwrap_or(planned)
    }
}

/// The live share of victims of a group of uniformly written data that is so full, first in, first out: `valid` where
/// `full = (valid - 1) / ln valid` (Desnoyers, 2012), in steps.
// tidy: allow(float): called when a drive is built
pub(super) fn valid_of_full() -> Vec<u32> {
    let full = |valid: f64| (valid - 1.0) / libm::log(valid);
    let of_step = |step: usize| {
        let (mut low, mut high) = (1e-12, 1.0 - 1e-9);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            *(if full(middle) < step as f64 / STEPS as f64 { &mut low } else { &mut high }) = middle;
        }
        ((low * ONE as f64) as u32).min(ONE as u32 - 1)
    };
    (0..STEPS).map(of_step).collect()
}

/// Bytes of that table.
pub(super) const fn table_bytes() -> u64 {
    4 * STEPS as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_begin_where_the_last_one_ended() {
        for at in 0..BINS {
            let (first, next) = (edge(at) / GRAIN, edge(at + 1) / GRAIN);
            assert_eq!((bin(first), bin(next - 1), bin(next)), (at, at, at + 1));
        }
        assert_eq!((edge(BINS) / GRAIN, bin(u64::MAX)), (1 << 20, BINS));
    }

    /// The curve of a survival function of ages in shares of the logical space.
    fn curve(alive: impl Fn(f64) -> f64) -> Curve {
        let mut curve = Curve { alive: [0; BINS + 1], area: [0; BINS + 1], end: BINS };
        for at in 0..=BINS {
            let age = edge(at) as f64 / (GRAIN * GRAINS) as f64;
            curve.alive[at] = (alive(age) * ONE as f64) as u64;
            if at > 0 {
                let mean = (curve.alive[at - 1] + curve.alive[at]) / 2;
                curve.area[at] = curve.area[at - 1] + mean * (edge(at) - edge(at - 1));
            }
        }
        curve
    }

    /// Blocks that the data of a drive fills, and that there are.
    const DATA: f64 = 512.0;
    const SPACE: f64 = 600.0;

    /// What is known of a drive whose data has hardly any that is hot.
    fn known(alive: impl Fn(f64) -> f64, table: &[u32]) -> Known<'_> {
        let all = curve(alive);
        let data = GRAINS * GRAIN;
        let (row, hot) = (data / DATA as u64, curve(|_| 0.0));
        let space = SPACE as u64 * row;
        Known { hot, cold: all.clone(), all, hot_writes: 1, row, space, data, valid_of_full: table }
    }

    /// A tick is four grains. Of sixteen writes two ended lives in their first tick and two in their second. Of lives
    /// that are watched four began: one was not seen beyond 1,050 grains, one ended after 1,100, another after 1,200.
    /// A fifth was seen from 1,070 on.
    #[test]
    fn lives_become_a_curve() {
        let mut lives = Lives::new();
        (0..16).for_each(|_| lives.write());
        (0..4).for_each(|_| lives.begin());
        [0, 0, 1, 1, 200].into_iter().for_each(|ticks| lives.end_any(ticks));
        [1_100, 1_200].into_iter().for_each(|grains| lives.end(grains));
        lives.pause(1_050, true);
        lives.pause(1_070, false);
        let curve = Curve::of(&[&lives], 4 * GRAIN);
        let alive = |grains: u64| curve.at(grains * GRAIN).0 * 1000 / ONE;
        // Half of what ends in a tick does so in the next; then four are seen, three beyond 1,050, four from 1,070 on,
        // three beyond 1,100.
        assert_eq!([0, 1, 2, 4, 6, 1_024, 1_088].map(alive), [1000, 937, 875, 812, 750, 750, 750]);
        assert_eq!([1_152, 1_180, 1_300, 1 << 22].map(alive), [562, 562, 375, 375]);
        let area = |grains: u64| curve.at(grains * GRAIN).1 / ONE / GRAIN;
        assert_eq!([area(8), area(16), area(32)], [6, 12, 24]);
        lives.halve();
        assert_eq!(Curve::of(&[&lives], 4 * GRAIN).at(1_300 * GRAIN).0 * 1000 / ONE, 375);
        lives.clear();
        assert_eq!(Curve::of(&[&lives], 4 * GRAIN).at(1_300 * GRAIN).0, ONE);
    }

    /// First in, first out: half full of uniformly written data, a fifth of a victim lives (Desnoyers, 2012).
    #[test]
    fn the_last_group_is_as_closed_formulas_say() {
        let table = valid_of_full();
        let valid = |full: usize| f64::from(table[full * STEPS / 100]) / ONE as f64;
        for (full, expected) in [(50, 0.2032), (80, 0.6285), (90, 0.807)] {
            assert!((valid(full) - expected).abs() < 0.01, "{full} %: {}", valid(full));
        }
    }

    /// What a chain of sizes in blocks copies, by sums of floats over ages of a thousandth of a block.
    fn copies(alive: &dyn Fn(f64) -> f64, sizes: &[f64]) -> f64 {
        let (mut inflow, mut age, mut live, mut copies, mut space) = (1.0, 0.0, 0.0, 0.0, SPACE - 0.5);
        for &size in sizes {
            let stay = (size + 0.5) / inflow / DATA;
            let steps = 10_000;
            let step = stay / f64::from(steps);
            live += (0..steps).map(|at| alive(age + (f64::from(at) + 0.5) * step) * step * DATA).sum::<f64>();
            inflow *= alive(age + stay) / alive(age);
            (age, copies, space) = (age + stay, copies + inflow, space - size - 1.0);
        }
        let full = (DATA - live) / if sizes.is_empty() { space - 0.5 } else { space };
        let (mut low, mut high) = (1e-12, 1.0 - 1e-9);
        for _ in 0..60 {
            let middle: f64 = (low + high) / 2.0;
            *(if (middle - 1.0) / middle.ln() < full { &mut low } else { &mut high }) = middle;
        }
        copies + inflow * low / (1.0 - low)
    }

    fn chain(sizes: &[u32]) -> Chain {
        let mut chain = Chain { end: FIRST + sizes.len() as u8, ..Chain::NONE };
        for (group, &blocks) in (usize::from(FIRST)..).zip(sizes) {
            chain.blocks[group] = blocks;
        }
        chain
    }

    fn predicted(known: &Known<'_>, sizes: &[u32]) -> f64 {
        known.predict(chain(sizes)).unwrap().copies as f64 / ONE as f64
    }

    /// Uniform writes: lives are exponential. One group is as the closed formula says, and the best there is: who has
    /// survived is no different from who is new.
    #[test]
    fn uniform_data_stays_together() {
        let alive = |age: f64| (-age).exp();
        let table = valid_of_full();
        let known = known(alive, &table);
        // 512 blocks of data in 599: 0.725 of a victim lives.
        let one = predicted(&known, &[]);
        assert!((one - 0.725 / (1.0 - 0.725)).abs() < 0.03, "{one:.3}");
        for sizes in [&[100][..], &[300], &[60, 60], &[50, 100, 150]] {
            let (found, sizes) = (predicted(&known, sizes), sizes.iter().copied().map(f64::from));
            let expected = copies(&alive, &sizes.collect::<Vec<_>>());
            assert!((found - expected).abs() < 0.02 * (1.0 + expected), "{found:.3}, {expected:.3}");
            assert!(found > one, "{found:.3}, {one:.3} in one group");
        }
        assert_eq!(known.plan(8).end, FIRST);
    }

    /// Nine writes in ten go to a tenth of the data: a first group lets that die.
    #[test]
    fn what_lives_differently_is_told_apart() {
        let alive = |age: f64| 0.9 * (-9.0 * age).exp() + 0.1 * (-age / 9.0).exp();
        let table = valid_of_full();
        let known = known(alive, &table);
        let one = predicted(&known, &[]);
        for sizes in [&[90][..], &[60, 60], &[40, 60, 50]] {
            let (found, sizes) = (predicted(&known, sizes), sizes.iter().copied().map(f64::from));
            let expected = copies(&alive, &sizes.collect::<Vec<_>>());
            assert!((found - expected).abs() < 0.03 * (1.0 + expected), "{found:.3}, {expected:.3}");
        }
        let planned = known.plan(8);
        let [groups, copies] = [f64::from(planned.end - FIRST), planned.copies as f64 / ONE as f64];
        println!("{copies:.3} copies per write in {groups} groups and the last, {one:.3} in one");
        assert!(groups >= 1.0 && copies < 0.5 * one, "{groups} groups, {copies:.3}, {one:.3} in one");
        // No size of a single group does better, nor has a plan of two more copies than one of one.
        let single = (1..599).filter_map(|blocks| known.predict(chain(&[blocks])));
        let best = single.map(|chain| chain.copies).min().unwrap();
        assert!(known.plan(2).copies <= best + WORTH && planned.copies <= best, "{best}");
        // What is there stays if it will do nearly as well.
        assert_eq!(known.better_than(planned, 8, planned.copies), planned);
        assert_eq!(known.better_than(Chain::NONE, 8, planned.copies + 1), planned);
    }

    /// By hand: half of all that is written is hot.
    #[test]
    fn hot_data_is_told_apart() {
        let table = valid_of_full();
        let mut known = known(|age| (-age).exp(), &table);
        known.hot = curve(|age| if age < 0.005 { 1.0 - age / 0.01 } else { 0.25 });
        known.hot_writes = ONE / 2;
        let mut chain = chain(&[60]);
        chain.blocks[usize::from(HOT)] = 2;
        let found = known.predict(chain).unwrap();
        // 2.5 blocks of 512 at half of all writes: an age of 0.0098, when a quarter lives.
        assert_eq!(found.valid[usize::from(HOT)], ONE as u32 / 4);
        // f1 = 1 - t0 + t0 v0 = 0.5 + 0.5 / 4; 60.5 blocks of 512 at that: an age of 0.1891, when 0.828 lives.
        assert_eq!(found.stay * 625 / 1000 / known.row, 60);
        let valid = f64::from(found.valid[usize::from(FIRST)]) / ONE as f64;
        assert!((valid - (-60.5f64 / DATA / 0.625).exp()).abs() < 0.002, "{valid:.4}");
    }
}
