//! What a host is going to do, told beforehand, unit by unit: when what each logical unit holds is overwritten or
//! forgotten, and when it is read.
//!
//! Time is counted in *deaths*: the data of one unit that is overwritten or trimmed, anywhere on the drive, in the
//! order of the commands. What the units hold when the counting begins counts as data, whether the host ever wrote
//! it or not.

use crate::units::Lpn;
use std::fmt;
use std::sync::Arc;

/// A time that never comes.
pub(crate) const NEVER: u32 = u32::MAX;

/// For each unit the times of what happens to it, in order and then [`NEVER`]: one table of times, and where each
/// unit's begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// By unit, and one more: where its times begin.
    starts: Vec<u32>,
    times: Vec<u32>,
}

impl Lines {
    /// Sorts (unit, time) by unit; what is there twice keeps its order.
    fn new(units: u32, events: impl ExactSizeIterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; units as usize + 1];
        for (unit, _) in events.clone() {
            starts[unit as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += core::mem::replace(start, sum) + 1;
        }
        let mut times = vec![NEVER; events.len() + units as usize];
        for (unit, time) in events {
            let place = &mut starts[unit as usize];
            times[*place as usize] = time;
            *place += 1;
        }
        // Each start has become the place of what ends its unit's times.
        starts.rotate_right(1);
        starts[0] = 0;
        starts[1..].iter_mut().for_each(|start| *start += 1);
        Lines { starts, times }
    }

    /// Where the times of a unit begin.
    #[inline]
    pub fn start(&self, lpn: Lpn) -> u32 {
        self.starts[lpn.index()]
    }

    /// The time at a place that is one of a unit's; behind its last there is one that never comes.
    #[inline]
    pub fn time_at(&self, place: u32) -> u32 {
        self.times[place as usize]
    }

    /// All times of a unit.
    fn of(&self, lpn: Lpn) -> &[u32] {
        &self.times[self.starts[lpn.index()] as usize..self.starts[lpn.index() + 1] as usize - 1]
    }

    fn bytes(&self) -> usize {
        size_of::<u32>() * (self.starts.len() + self.times.len())
    }
}

/// All that a host is going to do to a drive, from one moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foresight {
    pub(crate) deaths: Lines,
    reads: Option<Lines>,
}

impl Foresight {
    /// So many units, some of which are written in this order: for who asks a policy without a drive.
    pub fn of_writes(
        units: u32,
        written: impl IntoIterator<Item = Lpn>,
    ) -> Result<Foresight, ForesightError> {
        let mut takes = Takes::new(units, false);
        written.into_iter().try_for_each(|lpn| takes.replace(lpn, false))?;
        Ok(takes.finish())
    }

    /// Logical units of the drive that it is for.
    pub fn units(&self) -> u32 {
        self.deaths.starts.len() as u32 - 1
    }

    /// Deaths in all.
    pub fn deaths(&self) -> u32 {
        self.deaths.times.len() as u32 - self.units()
    }

    /// When what a unit holds dies, now and each time after it was written again: so many deaths come before.
    pub fn deaths_of(&self, lpn: Lpn) -> &[u32] {
        self.deaths.of(lpn)
    }

    /// When a unit is read: so many deaths come before. Nothing where no policy asked for it
    /// ([`Needs::reads_to_come`](super::stream::Needs::reads_to_come)).
    pub fn reads_of(&self, lpn: Lpn) -> &[u32] {
        self.reads.as_ref().map_or(&[], |reads| reads.of(lpn))
    }

    /// How often a unit is read before its `death`: the deaths before that are counted, [`NEVER`] is the end.
    pub(crate) fn reads_until(&self, lpn: Lpn, death: u32) -> u32 {
        self.reads_of(lpn).partition_point(|&time| time <= death) as u32
    }

    /// Memory that it takes; bytes.
    pub fn bytes(&self) -> usize {
        self.deaths.bytes() + self.reads.as_ref().map_or(0, Lines::bytes)
    }
}

/// Which units hold data: all of them, but for those trimmed since.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    /// A bit a unit.
    trimmed: Vec<u64>,
}

impl Holding {
    pub fn new(units: u32) -> Self {
        Holding { trimmed: vec![0; units.div_ceil(64) as usize] }
    }

    /// A unit is written, or trimmed: whether data of it dies.
    #[inline]
    pub fn replace(&mut self, lpn: Lpn, is_trim: bool) -> bool {
        let (word, bit) = (&mut self.trimmed[lpn.index() / 64], 1 << (lpn.0 % 64));
        let held = *word & bit == 0;
        *word = if is_trim { *word | bit } else { *word & !bit };
        held
    }
}

/// What becomes of each unit's data, while the host does what was foreseen.
#[derive(Clone, Debug)]
pub(crate) struct Fates {
    pub foresight: Arc<Foresight>,
    /// Deaths so far.
    clock: u32,
    holding: Holding,
    /// By unit.
    all: Vec<Fate>,
}

/// What is known of a unit.
#[derive(Clone, Copy, Debug)]
struct Fate {
    /// The place of its next death among all deaths, for what the host has handed over, and when that is.
    next: u32,
    due: u32,
    /// When what was last written of it dies. The host may have handed over what replaces it.
    dies: u32,
}

impl Fates {
    /// Nothing has happened yet.
    pub fn new(foresight: Arc<Foresight>) -> Self {
        let fate = |lpn| {
            let next = foresight.deaths.start(lpn);
            let due = foresight.deaths.time_at(next);
            Fate { next, due, dies: due }
        };
        let all = (0..foresight.units()).map(|unit| fate(Lpn(unit))).collect();
        Fates { holding: Holding::new(foresight.units()), clock: 0, all, foresight }
    }

    /// Bytes for so many units.
    pub fn bytes(units: u64) -> u64 {
        units * size_of::<Fate>() as u64 + units / 8
    }

    /// A unit is written or trimmed: whether data of it dies; `None` if that was not foreseen.
    #[inline]
    pub fn replace(&mut self, lpn: Lpn, is_trim: bool) -> Option<bool> {
        if !self.holding.replace(lpn, is_trim) {
            return Some(false);
        }
        let fate = &mut self.all[lpn.index()];
        if fate.due != self.clock {
            return None;
        }
        fate.next += 1;
        fate.due = self.foresight.deaths.time_at(fate.next);
        self.clock += 1;
        Some(true)
    }

    /// What the host has written last of a unit goes to flash.
    #[inline]
    pub fn write(&mut self, lpn: Lpn) {
        let fate = &mut self.all[lpn.index()];
        fate.dies = fate.due;
    }

    /// How many deaths come before that of what was last written of a unit; `None` if it never dies.
    #[inline]
    pub fn left(&self, lpn: Lpn) -> Option<u32> {
        let dies = self.all[lpn.index()].dies;
        (dies != NEVER).then(|| dies.saturating_sub(self.clock))
    }

    /// Whether the host has handed over what replaces the last that was written of a unit.
    #[inline]
    pub fn is_replaced(&self, lpn: Lpn) -> bool {
        let fate = &self.all[lpn.index()];
        fate.dies != fate.due
    }

    /// When what the host has handed over last of a unit dies.
    #[inline]
    pub fn due(&self, lpn: Lpn) -> u32 {
        self.all[lpn.index()].due
    }
}

/// A foresight in the making.
#[derive(Clone, Debug)]
pub(crate) struct Takes {
    units: u32,
    holding: Holding,
    /// Which unit's data dies, in order.
    deaths: Vec<u32>,
    /// Unit and time of every read, if they are kept.
    reads: Option<Vec<(u32, u32)>>,
}

impl Takes {
    pub fn new(units: u32, reads: bool) -> Self {
        Takes { units, holding: Holding::new(units), deaths: Vec::new(), reads: reads.then(Vec::new) }
    }

    /// The next thing that happens to a unit: it is written or trimmed.
    pub fn replace(&mut self, lpn: Lpn, is_trim: bool) -> Result<(), ForesightError> {
        if self.holding.replace(lpn, is_trim) {
            self.check_room(self.deaths.len())?;
            self.deaths.push(lpn.0);
        }
        Ok(())
    }

    /// It is read.
    pub fn read(&mut self, lpn: Lpn) -> Result<(), ForesightError> {
        let now = self.deaths.len() as u32;
        let Some(reads) = &mut self.reads else { return Ok(()) };
        reads.push((lpn.0, now));
        let count = reads.len();
        self.check_room(count)
    }

    fn check_room(&self, count: usize) -> Result<(), ForesightError> {
        // The last number stands for never, and each unit ends with it.
        if count < (u32::MAX - 1 - self.units) as usize { Ok(()) } else { Err(ForesightError::TooLong) }
    }

    pub fn deaths(&self) -> u64 {
        self.deaths.len() as u64
    }

    pub fn finish(self) -> Foresight {
        let deaths = self.deaths.iter().enumerate().map(|(time, &unit)| (unit, time as u32));
        let reads = self.reads.as_ref().map(|reads| Lines::new(self.units, reads.iter().copied()));
        Foresight { deaths: Lines::new(self.units, deaths), reads }
    }
}

/// Why a drive cannot be told what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForesightError {
    /// More happens than 32 bits can count.
    TooLong,
    /// It was made for another drive.
    OtherDrive {
        /// Logical units of that drive.
        found: u32,
        /// Logical units of this one.
        expected: u32,
    },
}

impl fmt::Display for ForesightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(
                f,
                "more units are overwritten, trimmed or read than can be foreseen: {} with those of the drive",
                u32::MAX - 1
            ),
            Self::OtherDrive { found, expected } => {
                write!(f, "foreseen for a drive of {found} mapping units, this one has {expected}")
            }
        }
    }
}

impl std::error::Error for ForesightError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn times_are_counted_in_deaths() {
        let mut takes = Takes::new(4, true);
        // Unit 1 is trimmed twice and written: only the first of the three is a death.
        for (unit, what) in [(0, 'w'), (1, 't'), (1, 'r'), (1, 't'), (1, 'w'), (0, 'w'), (2, 'r'), (1, 'w')] {
            match what {
                'r' => takes.read(Lpn(unit)),
                what => takes.replace(Lpn(unit), what == 't'),
            }
            .unwrap();
        }
        let found = takes.finish();
        assert_eq!((found.units(), found.deaths()), (4, 4));
        let deaths: Vec<_> = (0..4).map(|unit| found.deaths_of(Lpn(unit)).to_vec()).collect();
        assert_eq!(deaths, [vec![0, 2], vec![1, 3], vec![], vec![]]);
        let reads: Vec<_> = (0..4).map(|unit| found.reads_of(Lpn(unit)).to_vec()).collect();
        assert_eq!(reads, [vec![], vec![2], vec![3], vec![]]);
        assert_eq!(found.bytes(), 4 * (5 + 4 + 4 + 5 + 2 + 4));
    }

    #[test]
    fn lines_agree_with_lists() {
        let mut rng = Rng::named(1, "lines");
        for units in [1, 7, 200] {
            let mut takes = Takes::new(units, false);
            let mut lists = vec![Vec::new(); units as usize];
            for time in 0..3_000 {
                let unit = rng.below(units) / (1 + rng.below(3));
                takes.replace(Lpn(unit), false).unwrap();
                takes.read(Lpn(unit)).unwrap();
                lists[unit as usize].push(time);
            }
            let found = takes.finish();
            for (unit, list) in (0..).map(Lpn).zip(&lists) {
                assert_eq!(found.deaths_of(unit), &list[..]);
                let start = found.deaths.start(unit);
                let stepped: Vec<_> = (start..)
                    .map(|place| found.deaths.time_at(place))
                    .take_while(|&time| time != NEVER)
                    .collect();
                assert_eq!(&stepped, list);
                assert!(found.reads_of(unit).is_empty(), "nobody asked for them");
            }
        }
    }
}
