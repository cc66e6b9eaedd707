//! A chain of groups: what survives in one goes on to the next, so that groups are told apart by the age of their data.
//! How many there are, and how large, follows from how soon units are written again: a model of the chain predicts its
//! write amplification, and groups are added while that falls (`midas/plan.rs`). What is soon written again has a group
//! of its own.
//!
//! A group but the last is first in, first out. What has become due in it and still lives as a whole is not moved: its
//! block counts as the last group's from then on, as do blocks that are there when a group is planned; their units,
//! when they are copied at last, go on in the chain.

mod plan;

use self::plan::{Chain, Curve, GRAIN, GRAINS, Known, Lives, ONE, SHORT};
use super::{
    Among, Filled, LaneStreams, Member, Moved, Needs, Report, Size, StreamId, Streams, Victim, Written,
};
use crate::ftl::tables::blocks::BlockState;
use crate::restore::{MOST, Verdict, alike, ensure};
use crate::rng;
use crate::snapshot::raw;
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "midas";
/// What it does.
pub const SUMMARY: &str =
    "a chain of groups by age, whose number and sizes are planned from rewrite intervals";
/// Where it comes from.
pub const SOURCE: &str = "MiDAS (chain, hot group, intervals and their model); last group: Desnoyers (2012)";
/// What it costs.
pub const MEMORY: &str = "2 bytes per mapping unit, 4 bytes per sampled unit";

section! {
    /// Parameters of `midas`.
    pub struct Params {
        /// Maximum groups in the chain. Two more streams are for hot data, and for data that returns from it to the
        /// first group.
        groups: u32 = 8, range 1..=28;
        /// Rewrite intervals are sampled for one unit in this many.
        sample_every: u32 = 100, unit "units", range 1..=1_000_000;
        /// A new plan is made whenever this share of the logical space has been written (assumed).
        plan_percent: u32 = 100, unit "%", range 1..=10_000;
        /// If a group's victims hold more valid data than planned, by this many percentage points, the group and
        /// those behind it are merged.
        merge_points: u32 = 10, unit "%", range 1..=100;
    }
}

/// Groups have streams of these numbers. The last: whatever is in no other.
const LAST: u8 = 0;
/// Hot data.
const HOT: u8 = 1;
/// The first of the chain, if that has more than one: what else the host writes. Those behind it follow.
const FIRST: u8 = 2;
/// Ticks within which data is written again soon while there is no plan (assumed).
const SOON: u8 = 32;
/// Victims of a group, at least, until it is asked how much of them lived (assumed).
const VICTIMS: u32 = 16;

/// What is known of a unit: how often it was soon written again, in two bits;
const COUNTER: u16 = 3;
/// whether it was hot when it was written last;
const WAS_HOT: u16 = 4;
/// the group it went to, plus one, or nothing if it was never written: five bits;
const GROUP: u32 = 3;
/// and when it was written, in ticks: eight bits.
const TICK: u32 = 8;
/// So small a share of the logical space is a tick, or less, down to half of it.
const TICKS: u64 = 1 << 8;
/// Times come round after 256 ticks. So a hand goes round the units, so many with each write of the host: in 64 ticks
/// it has seen all. Data it finds to be older than what is counted by ticks it leaves at that age.
const HAND: u64 = 16;

/// Victims of a group since it was last asked.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Found {
    victims: u32,
    units: u64,
    live: u64,
}

/// Since the last plan: blocks of lanes that held data, when they were cleaned; units that were copied.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Seen {
    lanes: u64,
    blocks: u64,
    copies: u64,
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    #[serde(skip)]
    size: Option<Size>,
    /// By unit.
    #[serde(with = "raw")]
    units: Vec<u16>,
    /// Units that hold data.
    used: u64,
    /// When the units that are sampled were written, in grains from 1 on.
    #[serde(with = "raw")]
    written: Vec<u32>,
    /// Units of a grain; the power of two that a tick is; writes from plan to plan.
    grain: u64,
    tick: u32,
    period: u64,
    #[serde(skip)]
    valid_of_full: Vec<u32>,
    /// Of hot data and of the rest.
    lives: [Lives; 2],
    seen: Seen,
    /// Writes since the last plan.
    writes: u64,
    chain: Chain,
    /// Data that is written again within so many ticks was soon.
    soon: u8,
    /// By lane and group: blocks that were full before belong to the last.
    since: Vec<u64>,
    found: [Found; super::STREAMS_AT_MOST],
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            size: None,
            units: Vec::new(),
            used: 0,
            written: Vec::new(),
            grain: 1,
            tick: 0,
            period: 1,
            valid_of_full: Vec::new(),
            lives: [Lives::default(), Lives::default()],
            seen: Seen::default(),
            writes: 0,
            chain: Chain::NONE,
            soon: SOON,
            since: Vec::new(),
            found: Default::default(),
        }
    }

    /// Groups there can be, with that of hot data.
    fn count(&self) -> u8 {
        self.params.groups.max(2) as u8 + 1
    }

    /// The stream of what returns from hot data to the first group. So no stream takes both what the host writes and
    /// what is moved: cleaning would have to share its open block.
    fn back(&self) -> StreamId {
        StreamId(self.count())
    }

    /// The group that a copy goes to, and how much less likely to be hot it is; of what is trimmed, the last.
    #[inline]
    fn next_group(&self, known: u16) -> (u8, u16) {
        match group_of(known) {
            Some(HOT) if self.chain.has(HOT) => (FIRST, 2),
            Some(group) if self.chain.has(group) && group + 1 < self.chain.end => (group + 1, 1),
            _ => (LAST, 1),
        }
    }

    #[inline]
    fn stream_of_copy(&self, group: u8) -> StreamId {
        if group == FIRST { self.back() } else { StreamId(group) }
    }

    /// Learns of a write.
    #[inline]
    fn note(&mut self, lpn: Lpn, clock: u64) {
        let known = self.units[lpn.index()];
        let now = (clock >> self.tick) as u8;
        let age = now.wrapping_sub((known >> TICK) as u8);
        let counter = match known & COUNTER {
            // Who leaves the first group is judged by that; where all is planned to be one group nobody does.
            counter if self.chain.is_single() || group_of(known) != Some(FIRST) => counter,
            counter if age <= self.soon => (counter + 1).min(COUNTER),
            counter => counter.saturating_sub(1),
        };
        let is_hot = counter == COUNTER;
        match known {
            0 => self.used += 1,
            _ => self.lives[usize::from(known & WAS_HOT == 0)].end_any(age),
        }
        self.lives[usize::from(!is_hot)].write();
        if let Some(at) = self.place(lpn) {
            self.watch(at, clock, known & WAS_HOT != 0, is_hot);
        }
        let to = if is_hot && self.chain.has(HOT) { HOT } else { FIRST };
        let hot = if is_hot { WAS_HOT } else { 0 };
        self.units[lpn.index()] = counter | hot | u16::from(to + 1) << GROUP | u16::from(now) << TICK;
        self.go_round(now);
        self.writes += 1;
        if self.writes >= self.period {
            self.writes = 0;
            self.plan(clock);
        }
    }

    /// The hand goes on.
    #[inline]
    fn go_round(&mut self, now: u8) {
        let count = self.units.len() as u64;
        let from = (self.writes * HAND % count) as usize;
        let to = (from + HAND as usize).min(self.units.len());
        self.units[from..to].iter_mut().for_each(|known| hold_old(known, now));
    }

    /// The place of a unit among those that are watched, if it is.
    #[inline]
    fn place(&self, lpn: Lpn) -> Option<usize> {
        let place = lpn.0 / self.params.sample_every;
        (self.watched(place) == lpn).then_some(place as usize)
    }

    /// The unit that is watched of each hundred.
    #[inline]
    fn watched(&self, place: u32) -> Lpn {
        let every = self.params.sample_every;
        let within = ((rng::mix(place.into()) >> 32) * u64::from(every)) >> 32;
        Lpn(place.wrapping_mul(every).wrapping_add(within as u32))
    }

    /// Now, in grains.
    fn grains(&self, clock: u64) -> u32 {
        (clock / self.grain) as u32 & (u32::MAX >> 1)
    }

    /// A unit that is watched was written: the life of what it replaces has ended, another has begun.
    fn watch(&mut self, at: usize, clock: u64, was_hot: bool, is_hot: bool) {
        let now = self.grains(clock);
        let written = &mut self.written[at];
        if *written > 0 {
            self.lives[usize::from(!was_hot)].end(u64::from((now + 1).saturating_sub(*written)));
        }
        *written = now + 1;
        self.lives[usize::from(!is_hot)].begin();
    }

    /// How old the data is that lives of units that are watched: what was seen so far ends, or begins anew.
    fn look(&mut self, clock: u64, is_end: bool) {
        let now = self.grains(clock);
        for (place, &written) in (0..).zip(&self.written) {
            if written > 0 {
                let was_hot = self.units[self.watched(place).index()] & WAS_HOT != 0;
                self.lives[usize::from(!was_hot)].pause(u64::from((now + 1).saturating_sub(written)), is_end);
            }
        }
    }

    /// Makes a plan of what was seen, and begins anew.
    #[cold]
    fn plan(&mut self, clock: u64) {
        let (Some(size), Seen { lanes: 1.., .. }) = (self.size, self.seen) else {
            // The drive is still being filled: lives are seen from now on.
            self.lives.iter_mut().for_each(Lives::clear);
            return self.look(clock, false);
        };
        self.look(clock, true);
        let [hot, cold] = &self.lives;
        let in_grains = |units: u64| units * GRAIN / self.grain;
        let tick = in_grains(1 << self.tick).max(1);
        let row = u64::from(size.lanes) * u64::from(size.units_per_block);
        let known = Known {
            hot: Curve::of(&[hot], tick),
            cold: Curve::of(&[cold], tick),
            all: Curve::of(&[hot, cold], tick),
            hot_writes: hot.writes() * ONE / (hot.writes() + cold.writes()).max(1),
            row: in_grains(row),
            space: in_grains(self.seen.blocks * row / self.seen.lanes),
            data: in_grains(self.used),
            valid_of_full: &self.valid_of_full,
        };
        let measured = self.seen.copies * ONE / self.period;
        let chain = known.better_than(self.chain, self.params.groups as u8, measured);
        self.lives.iter_mut().for_each(Lives::halve);
        self.look(clock, false);
        (self.seen, self.found) = (Seen::default(), Default::default());
        self.adopt(chain, clock);
    }

    /// Follows a plan: what lies in blocks of streams that become groups belongs to the last, where it was.
    fn adopt(&mut self, chain: Chain, clock: u64) {
        let old = core::mem::replace(&mut self.chain, chain);
        self.soon = match (chain.stay / GRAIN * self.grain) >> (self.tick + 1) {
            _ if chain.is_unplanned() => SOON,
            half => half.clamp(1, SHORT as u64) as u8,
        };
        let count = usize::from(self.count());
        let is_new = |group: usize| chain.has(group as u8) && !old.has(group as u8);
        if !(0..count).any(is_new) {
            return;
        }
        for since in self.since.chunks_exact_mut(count) {
            let new = since.iter_mut().enumerate().filter(|(group, _)| is_new(*group));
            new.for_each(|(_, since)| *since = clock + 1);
        }
        for known in &mut self.units {
            if group_of(*known).is_some_and(|group| !old.has(group)) {
                *known = in_group(*known, LAST);
            }
        }
    }

    /// Full blocks of a group in a lane, and the one of them that was filled first.
    fn standing(&self, lane: &LaneStreams<'_>, group: u8) -> (u32, Option<u32>) {
        let is_in = |&block: &u32| {
            lane.blocks.state(block) == BlockState::Closed && self.group(lane.filled(block)) == group
        };
        let blocks = (0..lane.blocks.len()).filter(is_in);
        blocks.fold((0, None), |(count, first), block| {
            let is_first = first.is_none_or(|first| lane.blocks.age(block) > lane.blocks.age(first));
            (count + 1, if is_first { Some(block) } else { first })
        })
    }
}

/// The group that a unit went to, if it was written.
#[inline]
const fn group_of(known: u16) -> Option<u8> {
    ((known >> GROUP & 31) as u8).checked_sub(1)
}

/// Keeps an age that is longer than what is counted by ticks from coming round.
#[inline]
fn hold_old(known: &mut u16, now: u8) {
    const OLD: u8 = SHORT as u8;
    if *known != 0 && now.wrapping_sub((*known >> TICK) as u8) > OLD {
        *known = *known & ((1 << TICK) - 1) | u16::from(now.wrapping_sub(OLD)) << TICK;
    }
}

/// A unit, in another group.
#[inline]
fn in_group(known: u16, group: u8) -> u16 {
    known & !(31 << GROUP) | u16::from(group + 1) << GROUP
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        let (count, of_host) = (self.count() + 1, 1 << HOT | 1 << FIRST);
        Streams::of(count, of_host, u32::MAX >> (32 - u32::from(count)) & !of_host)
    }

    fn needs(&self) -> Needs {
        Needs { victims: true, ..Needs::default() }
    }

    fn learn(&mut self, size: &Size) {
        self.size = Some(*size);
        let sampled = size.logical_units.div_ceil(u64::from(self.params.sample_every));
        self.units = vec![0; size.logical_units as usize];
        self.written = vec![0; sampled as usize];
        self.grain = size.logical_units.div_ceil(GRAINS).max(1);
        self.tick = (size.logical_units / TICKS).max(1).ilog2();
        self.period = (size.logical_units * u64::from(self.params.plan_percent) / 100).max(1);
        self.valid_of_full = plan::valid_of_full();
        self.lives = [Lives::new(), Lives::new()];
        self.since = vec![0; size.lanes as usize * usize::from(self.count())];
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        let sampled = size.logical_units.div_ceil(u64::from(self.params.sample_every));
        let since = 8 * u64::from(size.lanes) * u64::from(self.count());
        2 * size.logical_units + 4 * sampled + since + 2 * Lives::bytes() + plan::table_bytes()
    }

    #[inline]
    fn of_write(&mut self, write: Written) -> StreamId {
        if !write.again {
            self.note(write.lpn, write.clock);
        }
        let is_hot = self.units[write.lpn.index()] & WAS_HOT != 0;
        StreamId(if is_hot && self.chain.has(HOT) { HOT } else { FIRST })
    }

    /// To the next group; what leaves one is less likely to be hot, and much less if it leaves that of hot data. By
    /// the last version of the logical unit: where that is still on its way to flash, what moves is about to die.
    #[inline]
    fn of_move(&mut self, moved: Moved) -> StreamId {
        let known = self.units[moved.lpn.index()];
        let (next, less) = self.next_group(known);
        // What was trimmed since it was read holds nothing any more.
        if known != 0 {
            let known = known & !COUNTER | (known & COUNTER).saturating_sub(less);
            self.units[moved.lpn.index()] = in_group(known, next);
            self.seen.copies += 1;
        }
        self.stream_of_copy(next)
    }

    fn peek_move(&mut self, moved: Moved) -> StreamId {
        let (next, _) = self.next_group(self.units[moved.lpn.index()]);
        self.stream_of_copy(next)
    }

    fn on_trim(&mut self, lpn: Lpn) {
        let known = core::mem::take(&mut self.units[lpn.index()]);
        self.used -= u64::from(known != 0);
        if let Some(at) = self.place(lpn) {
            self.written[at] = 0;
        }
    }

    fn on_victim(&mut self, victim: Victim) {
        let Victim { lane, stream, filled, .. } = victim;
        let group = self.group(Filled { lane, stream, at: filled });
        // What was opened before the plan, or is in no group of one, tells nothing of it.
        if victim.opened + self.writes < victim.clock || self.chain.end == FIRST {
            return;
        }
        let found = &mut self.found[usize::from(group)];
        found.victims += 1;
        found.units += u64::from(victim.units);
        found.live += u64::from(victim.live);
        if found.victims < VICTIMS {
            return;
        }
        let Found { units, live, .. } = core::mem::take(found);
        let valid = u64::from(self.chain.valid[usize::from(group)]);
        if live * 100 * ONE > units * (valid * 100 + u64::from(self.params.merge_points) * ONE) {
            match group {
                HOT => self.chain.blocks[usize::from(HOT)] = 0,
                LAST if self.chain.end > FIRST + 1 => self.chain.end -= 1,
                LAST | FIRST => self.chain = Chain::NONE,
                group => self.chain.end = group,
            }
        }
    }

    /// Results tell hot data, the first group, those between, the last.
    fn class(&self, stream: StreamId) -> u8 {
        match stream.0 {
            LAST => 3,
            stream => stream.min(3) - 1,
        }
    }

    /// The first group above its size loses its oldest block; what is due there and lives as a whole stays where it is
    /// and belongs to the last group from then on.
    fn among(&mut self, lane: &LaneStreams<'_>) -> Among {
        let is_used =
            |&block: &u32| matches!(lane.blocks.state(block), BlockState::Open | BlockState::Closed);
        self.seen.lanes += 1;
        self.seen.blocks += (0..lane.blocks.len()).filter(is_used).count() as u64;
        for group in self.chain.groups() {
            while let (count, Some(oldest)) = self.standing(lane, group)
                && count > self.chain.blocks[usize::from(group)]
            {
                if lane.blocks.eligible(oldest).is_some() {
                    return Among::This(oldest);
                }
                let at = usize::from(self.count()) * lane.lane.index() + usize::from(group);
                self.since[at] = lane.filled(oldest).at + 1;
            }
        }
        Among::Group(LAST)
    }

    #[inline]
    fn group(&self, block: Filled) -> u8 {
        let group = if block.stream == self.back() { FIRST } else { block.stream.0 };
        let at = usize::from(self.count()) * block.lane.index() + usize::from(group);
        if self.chain.has(group) && block.at >= self.since[at] { group } else { LAST }
    }

    fn report(&self) -> Report {
        let groups = u32::from(self.chain.end - FIRST) + 1 + u32::from(self.chain.has(HOT));
        Report { groups, ..Report::default() }
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        alike("what is known of units", &self.units, &fresh.units)?;
        alike("when units were written", &self.written, &fresh.written)?;
        alike("when blocks became the last group's", &self.since, &fresh.since)?;
        for (lives, fresh) in self.lives.iter().zip(&fresh.lives) {
            lives.restored(fresh)?;
        }
        (self.params, self.size, self.valid_of_full) = (fresh.params, fresh.size, fresh.valid_of_full);
        (self.grain, self.tick, self.period) = (fresh.grain, fresh.tick, fresh.period);
        let count = self.count();
        let groups = self.units.iter().filter_map(|&known| group_of(known));
        ensure(groups.clone().all(|group| group < count), "groups of units")?;
        ensure(groups.count() as u64 == self.used, "units that hold data")?;
        let is_unit = |(place, &at): (u32, &u32)| {
            at == 0 || at <= 1 << 31 && self.watched(place).index() < self.units.len()
        };
        ensure((0..).zip(&self.written).all(is_unit), "when units were written")?;
        ensure(self.writes < self.period, "writes since the last plan")?;
        ensure((FIRST..=count).contains(&self.chain.end), "groups")?;
        ensure(self.chain.valid.iter().all(|&valid| u64::from(valid) <= ONE), "live shares of groups")?;
        ensure(self.chain.copies < MOST && self.chain.stay < MOST, "what is expected of groups")?;
        let blocks = self.size.map_or(0, |size| u64::from(size.blocks_per_lane));
        ensure(self.seen.copies < 1 << 40, "units that were copied")?;
        ensure(self.seen.lanes < 1 << 40 && self.seen.blocks <= self.seen.lanes * blocks, "blocks of lanes")?;
        ensure(self.since.iter().all(|&since| since < MOST), "when blocks became the last group's")?;
        let is_found =
            |found: &Found| found.victims < VICTIMS && found.live <= found.units && found.units < 1 << 40;
        ensure(self.found.iter().all(is_found), "victims of groups")
    }
}

#[cfg(test)]
mod tests;
