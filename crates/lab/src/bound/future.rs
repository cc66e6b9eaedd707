//! A workload's future as the bound needs it: how often each unit is read in each period, and which are written.

use ssd::OpCode;
use std::collections::BTreeMap;
use workload::Request;

/// Counts up to which classes of reads are single numbers; above, each class is so much wider than the one before.
const SINGLE: u32 = 64;
const WIDER: f64 = 1.02;
/// Powers of two of periods that are tried.
const FEWEST_LOG2: u32 = 2;
/// The most of them: periods shorter than that of all runs' ages differ by chance only.
const MOST_LOG2: u32 = 8;

/// What is told of each request.
pub type Each<'a> = dyn FnMut(&Request) + 'a;

/// Where requests fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Logical units, all of which hold data when the run begins.
    pub units: u32,
    /// Sectors of a unit.
    pub unit_sectors: u32,
}

/// How reads are spread over units and periods, for units that are written at most so often.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Periods.
    pub periods: u64,
    /// Units that are counted.
    pub units: u64,
    /// Host writes of them.
    pub writes: u64,
    /// Reads of a unit in a period in which it is not written, at least, and how many times that is so.
    pub classes: Vec<(f64, f64)>,
}

/// Counts of one way to cut the run.
#[derive(Clone, Debug)]
struct Level {
    periods: u64,
    reads: Vec<u32>,
    /// By set of units, by class: how many unit-periods.
    seen: Vec<BTreeMap<u32, u64>>,
}

/// A workload's future.
#[derive(Clone, Debug)]
pub struct Future {
    levels: Vec<Level>,
    /// Sets of units: each has those of all before it, too. Units and writes of the set alone.
    sets: Vec<(u64, u64)>,
}

fn class_of(reads: u32) -> u32 {
    if reads < SINGLE {
        return reads;
    }
    let wider = (f64::from(reads) / f64::from(SINGLE)).ln() / WIDER.ln();
    let class = SINGLE + wider as u32;
    // Rounding must not put it above what it is.
    if reads_of(class) > f64::from(reads) { class - 1 } else { class }
}

/// Fewest reads of a class.
fn reads_of(class: u32) -> f64 {
    if class <= SINGLE { f64::from(class) } else { f64::from(SINGLE) * WIDER.powi((class - SINGLE) as i32) }
}

impl Future {
    /// Records a workload: `pass` calls its argument with all requests of the run, and does so twice.
    pub fn record<E>(
        shape: Shape,
        mut pass: impl FnMut(&mut Each<'_>) -> Result<(), E>,
    ) -> Result<Future, E> {
        let units_of = |request: &Request| {
            let step = u64::from(shape.unit_sectors);
            let end = request.end().div_ceil(step).min(u64::from(shape.units));
            (request.lba / step).min(end) as usize..end as usize
        };
        let mut writes = vec![0_u32; shape.units as usize];
        let mut requests = 0;
        pass(&mut |request| {
            requests += 1;
            match request.op {
                OpCode::Write => writes[units_of(request)].iter_mut().for_each(|n| *n = n.saturating_add(1)),
                // What is trimmed is left out of all sets.
                OpCode::Trim => writes[units_of(request)].fill(u32::MAX),
                OpCode::Read | OpCode::Flush => {}
            }
        })?;
        let (set_of, sets) = sets(&writes);
        let mut recorder = Recorder::new(shape, requests, &set_of, sets.len());
        pass(&mut |request| {
            match request.op {
                OpCode::Read => recorder.reads[units_of(request)].iter_mut().for_each(|n| *n += 1),
                OpCode::Write => recorder.written[units_of(request)].fill(recorder.period + 1),
                OpCode::Trim | OpCode::Flush => {}
            }
            recorder.next();
        })?;
        let levels = recorder.levels;
        Ok(Future { levels, sets })
    }

    /// All spreads: every way to cut the run, every set of units.
    pub fn spreads(&self) -> impl Iterator<Item = Spread> + '_ {
        self.levels.iter().flat_map(|level| (0..self.sets.len()).map(|set| self.spread(level, set)))
    }

    fn spread(&self, level: &Level, set: usize) -> Spread {
        let mut classes: BTreeMap<u32, u64> = BTreeMap::new();
        for seen in &level.seen[..=set] {
            for (&class, &count) in seen {
                *classes.entry(class).or_default() += count;
            }
        }
        Spread {
            periods: level.periods,
            units: self.sets[..=set].iter().map(|(units, _)| units).sum(),
            writes: self.sets[..=set].iter().map(|(_, writes)| writes).sum(),
            classes: classes.into_iter().map(|(class, count)| (reads_of(class), count as f64)).collect(),
        }
    }
}

/// Sets of units by how often they are written: never, and at most as often as a quarter, a half, three quarters and
/// all of those that are. The set of each unit, and units and writes of each set.
fn sets(writes: &[u32]) -> (Vec<u8>, Vec<(u64, u64)>) {
    let mut sorted: Vec<u32> = writes.iter().copied().filter(|&n| n > 0 && n < u32::MAX).collect();
    sorted.sort_unstable();
    let mut most = vec![0];
    most.extend(
        [1, 2, 3, 4].iter().filter_map(|quarter| sorted.get((sorted.len() * quarter / 4).max(1) - 1)),
    );
    most.dedup();
    let set_of = |&n: &u32| most.iter().position(|&most| n <= most).map_or(u8::MAX, |set| set as u8);
    let set_of: Vec<u8> = writes.iter().map(set_of).collect();
    let mut sets = vec![(0, 0); most.len()];
    for (&set, &n) in set_of.iter().zip(writes) {
        if let Some((units, all)) = sets.get_mut(usize::from(set)) {
            *units += 1;
            *all += u64::from(n);
        }
    }
    (set_of, sets)
}

/// Counts the second pass.
struct Recorder<'a> {
    set_of: &'a [u8],
    requests: u64,
    at: u64,
    /// The shortest periods: which one it is, and where it ends.
    period: u32,
    end: u64,
    reads: Vec<u32>,
    /// Period in which a unit was last written, from 1; 0 for never.
    written: Vec<u32>,
    levels: Vec<Level>,
}

impl<'a> Recorder<'a> {
    fn new(shape: Shape, requests: u64, set_of: &'a [u8], sets: usize) -> Self {
        let units = shape.units as usize;
        let level = |log2: u32| Level {
            periods: 1_u64 << log2,
            reads: vec![0; units],
            seen: vec![BTreeMap::new(); sets],
        };
        Recorder {
            set_of,
            requests,
            at: 0,
            period: 0,
            end: requests.div_ceil(1 << MOST_LOG2),
            reads: vec![0; units],
            written: vec![0; units],
            levels: (FEWEST_LOG2..=MOST_LOG2).map(level).collect(),
        }
    }

    /// A request is done.
    fn next(&mut self) {
        self.at += 1;
        while self.at >= self.end && self.period < 1 << MOST_LOG2 {
            self.period += 1;
            let next = (u128::from(self.requests) * u128::from(self.period + 1)).div_ceil(1 << MOST_LOG2);
            self.end = next as u64;
            self.close();
        }
    }

    /// A shortest period has ended; perhaps longer ones, too.
    fn close(&mut self) {
        for level in &mut self.levels {
            let length = (1 << MOST_LOG2) / level.periods as u32;
            let is_over = self.period.is_multiple_of(length);
            let begun = self.period.saturating_sub(length);
            let at = level.reads.iter_mut().zip(&self.reads).zip(self.written.iter().zip(self.set_of));
            if !is_over {
                at.for_each(|((all, new), _)| *all += new);
                continue;
            }
            for ((all, &new), (&written, &set)) in at {
                let reads = std::mem::take(all) + new;
                if let Some(seen) = level.seen.get_mut(usize::from(set)).filter(|_| written <= begun) {
                    *seen.entry(class_of(reads)).or_default() += 1;
                }
            }
        }
        self.reads.fill(0);
    }
}
