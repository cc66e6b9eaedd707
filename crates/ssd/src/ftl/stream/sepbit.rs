//! Guesses when data will die, and puts together what dies at the same time: a write by how long the data lived that it
//! replaces, a copy by how old it is. Both are held against how long blocks of short-lived data last.

use super::{Member, Moved, Size, StreamId, Streams, Victim, Written};
use crate::restore::{MOST, Verdict, alike, ensure};
use crate::snapshot::raw;
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "sepbit";
/// What it does.
pub const SUMMARY: &str = "six classes: writes by the lifetime of the data they replace, copies by their age";
/// Where it comes from.
pub const SOURCE: &str = "SepBIT section 3.3";
/// What it costs.
pub const MEMORY: &str = "4 bytes per mapping unit (when the host wrote it last)";

section! {
    /// Parameters of `sepbit`.
    pub struct Params {
        /// Class-1 blocks reclaimed before their mean lifetime is recalculated.
        window: u32 = 16, unit "blocks", range 1..=65_536;
        /// Copies younger than this many such lifetimes are in class 4.
        young: u32 = 4, range 1..=65_536;
        /// Copies older than that, but younger than this many lifetimes, are in class 5, others in class 6.
        old: u32 = 16, range 1..=65_536;
    }
    in_order young <= old;
}

/// A table's entry: when the unit was written, in ticks, from 1 on; 0 if nothing is known of it.
const TIME: u32 = u32::MAX >> 1;
/// And whether it lies where it was written, in class 1.
const FIRST: u32 = !TIME;
/// A tick is so small a share of the logical space: ages come round after 2^31 ticks, 4,096 times the logical space.
const TICKS: u64 = 1 << 19;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    /// A tick is two to this power of units written.
    shift: u32,
    #[serde(with = "raw")]
    written: Vec<u32>,
    /// Mean life of class 1, in ticks; [`MOST`] until it is known.
    life: u64,
    /// Blocks of class 1 reclaimed since it was taken, and the sum of their lives in units written.
    blocks: u32,
    lives: u64,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { params: params.clone(), shift: 0, written: Vec::new(), life: MOST, blocks: 0, lives: 0 }
    }

    /// Now, as a table's entry says it.
    #[inline]
    fn ticks(&self, clock: u64) -> u32 {
        ((clock >> self.shift) % u64::from(TIME)) as u32 + 1
    }

    /// Ticks since a unit was written; none if nothing is known of it.
    #[inline]
    fn age(&self, lpn: Lpn, clock: u64) -> Option<u64> {
        let then = self.written[lpn.0 as usize] & TIME;
        let (now, round) = (u64::from(self.ticks(clock)), u64::from(TIME));
        (then != 0).then(|| (now + round - u64::from(then)) % round)
    }
}

/// The stream of a class, which are counted from 1.
const fn class(number: u8) -> StreamId {
    StreamId(number - 1)
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::of(6, 0b11, 0b11_1100)
    }

    fn learn(&mut self, size: &Size) {
        self.shift = size.logical_units.div_ceil(TICKS).next_power_of_two().trailing_zeros();
        self.written = vec![0; size.logical_units as usize];
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        4 * size.logical_units
    }

    #[inline]
    fn of_write(&mut self, write: Written) -> StreamId {
        let at = write.lpn.0 as usize;
        if !write.again {
            // What was not there before has lived for ever (section 3.3).
            let is_short = self.age(write.lpn, write.clock).is_some_and(|life| life < self.life);
            self.written[at] = self.ticks(write.clock) | if is_short { FIRST } else { 0 };
        }
        if self.written[at] & FIRST != 0 { class(1) } else { class(2) }
    }

    #[inline]
    fn of_move(&mut self, moved: Moved) -> StreamId {
        let to = self.peek_move(moved);
        let written = &mut self.written[moved.lpn.0 as usize];
        if *written & FIRST != 0 {
            *written &= TIME;
        }
        to
    }

    fn peek_move(&mut self, moved: Moved) -> StreamId {
        if self.written[moved.lpn.0 as usize] & FIRST != 0 {
            return class(3);
        }
        let age = self.age(moved.lpn, moved.clock).unwrap_or(MOST);
        match () {
            () if age < self.life.saturating_mul(u64::from(self.params.young)) => class(4),
            () if age < self.life.saturating_mul(u64::from(self.params.old)) => class(5),
            () => class(6),
        }
    }

    fn on_trim(&mut self, lpn: Lpn) {
        self.written[lpn.0 as usize] = 0;
    }

    fn on_victim(&mut self, victim: Victim) {
        if victim.stream != class(1) {
            return;
        }
        self.blocks += 1;
        self.lives = self.lives.saturating_add(victim.clock - victim.opened);
        if self.blocks >= self.params.window {
            self.life = (self.lives / u64::from(self.blocks)) >> self.shift;
            (self.blocks, self.lives) = (0, 0);
        }
    }

    /// Results tell what the host writes of short and of long life, copies of the first, and all other copies.
    fn class(&self, stream: StreamId) -> u8 {
        stream.0.min(3)
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        alike("when units were written", &self.written, &fresh.written)?;
        (self.params, self.shift) = (fresh.params, fresh.shift);
        ensure(self.life <= MOST && self.lives <= MOST, "lives of blocks")?;
        ensure(self.blocks < self.params.window, "blocks of class 1")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SIZE, moved, written};
    use super::*;
    use crate::units::LaneId;

    fn policy(window: u32) -> Policy {
        let mut policy = Policy::new(&Params { window, ..Params::default() });
        policy.learn(&SIZE);
        policy
    }

    fn victim(stream: u8, opened: u64, clock: u64) -> Victim {
        Victim { stream: StreamId(stream), lane: LaneId(0), filled: clock, opened, clock, live: 0, units: 16 }
    }

    /// By hand: classes of writes and copies, before a life is known and after.
    #[test]
    fn classes_follow_lives_and_ages() {
        let mut policy = policy(2);
        let write =
            |policy: &mut Policy, lpn, clock| policy.of_write(Written { clock, ..written(lpn) }).0 + 1;
        // New data is of class 2; without a life, all that is updated is of class 1.
        assert_eq!([(7, 0), (8, 10), (7, 5_000)].map(|(lpn, at)| write(&mut policy, lpn, at)), [2, 2, 1]);
        // Blocks of other classes say nothing; two of class 1 that lasted 100 and 300 make a life of 200.
        for (stream, opened, clock) in [(1, 0, 9), (0, 5_000, 5_100), (4, 0, 9), (0, 5_000, 5_300)] {
            policy.on_victim(victim(stream, opened, clock));
        }
        assert_eq!((policy.life, policy.blocks, policy.lives), (200, 0, 0));
        // Data that lived 199 ticks is replaced, and such that lived 200.
        assert_eq!(
            [(7, 5_199), (7, 5_399), (8, 5_400)].map(|(lpn, at)| write(&mut policy, lpn, at)),
            [1, 2, 2]
        );
        assert_eq!(write(&mut policy, 7, 5_500), 1);
        let copy = |policy: &mut Policy, lpn, clock| policy.of_move(Moved { clock, ..moved(lpn, 0) }).0 + 1;
        // Out of class 1, and then by age: 4 and 16 lives are 800 and 3,200.
        let ages = [(7, 5_501), (7, 6_299), (7, 6_300), (7, 8_699), (7, 8_700), (8, 6_199), (9, 6_000)];
        assert_eq!(ages.map(|(lpn, at)| copy(&mut policy, lpn, at)), [3, 4, 5, 5, 6, 4, 6]);
        // Trimmed data has no life that could be told; what is written once more while it waits stays as it was.
        policy.on_trim(Lpn(8));
        assert_eq!(write(&mut policy, 8, 5_401), 2);
        assert_eq!(policy.of_write(Written { clock: 5_402, again: true, ..written(8) }), class(2));
        assert_eq!(policy.age(Lpn(8), 5_411), Some(10));
    }

    /// On a drive of 2^21 units a tick is four of them; ages come round after 2^31 - 1 ticks.
    #[test]
    fn ticks_are_as_long_as_the_drive_is_large() {
        let mut policy = Policy::new(&Params::default());
        policy.learn(&Size { logical_units: 1 << 21, ..SIZE });
        assert_eq!(policy.shift, 2);
        for clock in [0, 4, (u64::from(TIME) - 1) * 4, u64::from(TIME) * 4, 1 << 50] {
            _ = policy.of_write(Written { clock, ..written(5) });
            let ages = [0, 3, 4, 400].map(|later| policy.age(Lpn(5), clock + later));
            assert_eq!(ages, [0, 0, 1, 100].map(Some), "written at {clock}");
        }
        assert_eq!(policy.memory_bytes(&Size { logical_units: 1 << 21, ..SIZE }), 1 << 23);
    }
}
