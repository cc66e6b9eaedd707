//! Ageing a drive before a measurement: filled in order, overwritten at random, blocks given erase counts.
//!
//! All of it goes below the DRAM buffer and takes no simulated time. Random streams have names of their own, so that
//! the workload and the drive's policies draw the same numbers whatever was done before.

use crate::experiment::{Phase, Progress};
use ssd::rng::Rng;
use ssd::{Drive, Lba, Reason};
use std::fmt;

/// Units generated at once: their table lines are being loaded while the others are drawn.
const BATCH: usize = 256;
/// Units written in order at once.
const FILL_BATCH: u32 = 1 << 16;
/// Units overwritten between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 16;
/// Windows that the filled space is divided into: so many are one pass over it.
const WINDOWS: usize = 4;

/// What is done to a drive before a measurement. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preconditioning {
    /// Share of the logical space that is written in order, from its start; %.
    pub fill_percent: f64,
    /// How that share is overwritten at random after that.
    pub overwrite: Overwrite,
    /// Erase counts that blocks have at the end.
    pub erase_counts: EraseCounts,
}

/// How much is overwritten, each mapping unit of the filled space with the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Overwrite {
    /// Nothing.
    #[default]
    None,
    /// So many times the filled space.
    Times(f64),
    /// Until the write amplification (units programmed / units written) is steady. It is taken in windows of a quarter
    /// of the filled space. Steady are four windows in a row that differ, the least from the greatest, by less than
    /// `change_percent` of their mean; or, where single windows scatter because the drive has few blocks, a mean over
    /// four windows that differs from the one over the four windows before by less than half of that.
    SteadyState {
        /// Allowed difference; %.
        change_percent: f64,
        /// At most so many times the filled space is written; then it is left as it is, and the result says so.
        times_at_most: f64,
    },
}

/// Erase counts given to blocks (a superblock counts as one).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraseCounts {
    /// What the writes before have made of them.
    #[default]
    AsIs,
    /// The same for all.
    Equal(u32),
    /// Each number from `min` to `max` with the same probability.
    Uniform {
        /// Least.
        min: u32,
        /// Most.
        max: u32,
    },
}

/// What preconditioning did.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Preconditioned {
    /// Mapping units written in order.
    pub units_filled: u64,
    /// Mapping units overwritten at random.
    pub units_overwritten: u64,
    /// Whether steady state was reached; null if it was not asked for.
    pub steady: Option<bool>,
    /// Write amplification of the last so many overwrites, once the filled space or as much of it as there were;
    /// null if there were less than a quarter.
    pub write_amplification: Option<f64>,
    /// Steps by which the cells were aged after that ([`crate::AgeSteps`]).
    #[serde(default)]
    pub age_steps: Vec<String>,
    /// Processor time it took, steps included.
    pub cpu_seconds: f64,
}

/// Why a drive could not be preconditioned.
#[derive(Clone, Debug, PartialEq)]
pub enum PreconditionError {
    /// A number makes no sense.
    Setting {
        /// Its key in the `[run]` table.
        key: &'static str,
        /// What was found.
        found: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The drive had no room left.
    NoRoom {
        /// What was being done.
        phase: Phase,
        /// Mapping units written until then.
        written: u64,
        /// Mapping units to be written.
        wanted: u64,
        /// Why the drive takes no more writes, if it says so.
        reason: Option<Reason>,
        /// Blocks retired.
        retired: u32,
    },
}

impl fmt::Display for PreconditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreconditionError::Setting { key, found, allowed } => {
                write!(f, "{key}\n    found:   {found}\n    allowed: {allowed}")
            }
            PreconditionError::NoRoom { phase, written, wanted, reason, retired } => {
                write!(
                    f,
                    "the drive was full after {written} of {wanted} mapping units while {}",
                    phase.name()
                )?;
                if let Some(reason) = reason {
                    write!(f, ": {}", reason.text())?;
                }
                if *retired > 0 {
                    write!(f, " ({retired} blocks retired)")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for PreconditionError {}

/// Ages a drive. Counters are not reset.
pub fn precondition(
    drive: &mut Drive,
    seed: u64,
    wanted: &Preconditioning,
    progress: &mut dyn FnMut(Progress),
) -> Result<Preconditioned, PreconditionError> {
    wanted.check()?;
    let cpu = crate::process::thread_cpu_time();
    let filled = (f64::from(drive.logical_units()) * (wanted.fill_percent / 100.0)).round() as u32;
    let mut done = Preconditioned::default();
    let mut work = Work { drive, progress };
    work.fill(filled)?;
    done.units_filled = u64::from(filled);
    if filled > 0 {
        let rng = Rng::stream(seed, "lab/precondition/overwrite");
        Overwriting { work: &mut work, rng, filled, done: &mut done }.run(wanted.overwrite)?;
    }
    set_erase_counts(drive, seed, wanted.erase_counts);
    done.cpu_seconds = crate::process::thread_cpu_time().saturating_sub(cpu).as_secs_f64();
    Ok(done)
}

impl Preconditioning {
    fn check(&self) -> Result<(), PreconditionError> {
        let within = |key, found: f64, low: f64, high: f64, allowed| {
            let is_allowed = found >= low && found <= high;
            if is_allowed { Ok(()) } else { Err(PreconditionError::Setting { key, found, allowed }) }
        };
        within("run.fill_percent", self.fill_percent, 0.0, 100.0, "0 to 100 %")?;
        match self.overwrite {
            Overwrite::None => Ok(()),
            Overwrite::Times(times) => within("run.overwrite_times", times, 0.0, 1e6, "0 to 1000000"),
            Overwrite::SteadyState { change_percent, times_at_most } => {
                within("run.steady_change_percent", change_percent, 0.001, 100.0, "0.001 to 100 %")?;
                within("run.overwrite_times", times_at_most, 0.0, 1e6, "0 to 1000000")
            }
        }
    }
}

fn set_erase_counts(drive: &mut Drive, seed: u64, counts: EraseCounts) {
    match counts {
        EraseCounts::AsIs => {}
        EraseCounts::Equal(count) => drive.set_erase_counts(|_| count),
        EraseCounts::Uniform { min, max } => {
            let mut rng = Rng::stream(seed, "lab/precondition/erase_counts");
            let (low, high) = (min.min(max), min.max(max));
            let values = (high - low).saturating_add(1);
            drive.set_erase_counts(|_| low + rng.below(values));
        }
    }
}

/// A drive being aged.
struct Work<'a> {
    drive: &'a mut Drive,
    progress: &'a mut dyn FnMut(Progress),
}

impl Work<'_> {
    fn tell(&mut self, phase: Phase, done: u64, total: u64) {
        (self.progress)(Progress { phase, done, total: Some(total), simulated_ns: 0 });
    }

    fn no_room(&self, phase: Phase, written: u64, wanted: u64) -> PreconditionError {
        let health = self.drive.health();
        PreconditionError::NoRoom {
            phase,
            written,
            wanted,
            reason: health.read_only,
            retired: health.wear.retired,
        }
    }

    fn fill(&mut self, units: u32) -> Result<(), PreconditionError> {
        let mut done = 0;
        while done < units {
            let count = (units - done).min(FILL_BATCH);
            if let Err(short) = self.drive.fill(done, count) {
                return Err(self.no_room(Phase::Filling, u64::from(done) + short.written, u64::from(units)));
            }
            done += count;
            self.tell(Phase::Filling, u64::from(done), u64::from(units));
        }
        Ok(())
    }
}

/// Random overwrites of the filled space.
struct Overwriting<'a, 'b> {
    work: &'a mut Work<'b>,
    rng: Rng,
    filled: u32,
    done: &'a mut Preconditioned,
}

impl Overwriting<'_, '_> {
    fn run(&mut self, overwrite: Overwrite) -> Result<(), PreconditionError> {
        let units = |times: f64| (f64::from(self.filled) * times).round() as u64;
        match overwrite {
            Overwrite::None => Ok(()),
            Overwrite::Times(times) => self.windows(units(times), None),
            Overwrite::SteadyState { change_percent, times_at_most } => {
                self.done.steady = Some(false);
                self.windows(units(times_at_most), Some(change_percent / 100.0))
            }
        }
    }

    /// Overwrites `total` units, window by window, or fewer if they become steady.
    fn windows(&mut self, total: u64, spread: Option<f64>) -> Result<(), PreconditionError> {
        let window = u64::from(self.filled).div_ceil(WINDOWS as u64);
        let mut past = Past::default();
        let mut left = total;
        while left > 0 {
            let count = left.min(window);
            let amplification = self.window(count, total)?;
            left -= count;
            if count == window {
                past.add(amplification);
                self.done.write_amplification = past.last_pass();
            }
            if spread.is_some_and(|allowed| past.is_steady(allowed)) {
                self.done.steady = Some(true);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Overwrites so many units and returns their write amplification.
    fn window(&mut self, count: u64, total: u64) -> Result<f64, PreconditionError> {
        let written_before = self.programmed();
        let mut left = count;
        let mut told = 0;
        let mut units = [0; BATCH];
        while left > 0 {
            let batch = &mut units[..left.min(BATCH as u64) as usize];
            self.draw(batch);
            if let Err(short) = self.work.drive.overwrite(batch) {
                let written = self.done.units_overwritten + short.written;
                return Err(self.work.no_room(Phase::Overwriting, written, total));
            }
            left -= batch.len() as u64;
            told += batch.len() as u64;
            self.done.units_overwritten += batch.len() as u64;
            if told >= PROGRESS_EVERY || left == 0 {
                told = 0;
                self.work.tell(Phase::Overwriting, self.done.units_overwritten, total);
            }
        }
        Ok((self.programmed() - written_before) as f64 / count as f64)
    }

    #[inline]
    fn draw(&mut self, units: &mut [u32]) {
        let sectors = u64::from(self.work.drive.unit_bytes()) / ssd::units::SECTOR_BYTES;
        for unit in units {
            *unit = self.rng.below(self.filled);
            self.work.drive.prefetch(Lba(u64::from(*unit) * sectors));
        }
    }

    /// Places for units programmed so far, by the host and by moves, empty ones included.
    fn programmed(&self) -> u64 {
        let counts = self.work.drive.stats().ftl;
        counts.host_units + counts.moved_units.iter().sum::<u64>() + counts.padded_units
    }
}

/// Write amplifications of the last windows, the latest first.
#[derive(Default)]
struct Past {
    windows: [f64; 2 * WINDOWS],
    count: usize,
}

impl Past {
    fn add(&mut self, amplification: f64) {
        self.windows.rotate_right(1);
        self.windows[0] = amplification;
        self.count = (self.count + 1).min(self.windows.len());
    }

    fn mean(windows: &[f64]) -> f64 {
        windows.iter().sum::<f64>() / windows.len() as f64
    }

    /// Of the windows of the last pass, as many as there are.
    fn last_pass(&self) -> Option<f64> {
        (self.count > 0).then(|| Self::mean(&self.windows[..self.count.min(WINDOWS)]))
    }

    /// See [`Overwrite::SteadyState`].
    fn is_steady(&self, allowed: f64) -> bool {
        let (last, before) = self.windows.split_at(WINDOWS);
        let mean = Self::mean(last);
        let least = last.iter().copied().fold(f64::INFINITY, f64::min);
        let most = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let windows_agree = self.count >= WINDOWS && most - least < allowed * mean;
        let change = (mean - Self::mean(before)).abs();
        windows_agree || (self.count == self.windows.len() && change < allowed / 2.0 * mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(windows: &[f64]) -> Past {
        let mut past = Past::default();
        windows.iter().for_each(|&window| past.add(window));
        past
    }

    #[test]
    fn steady_is_a_pass_of_windows_that_agree() {
        assert!(past(&[2.0, 2.01, 2.0, 1.99]).is_steady(0.02));
        assert!(past(&[1.0, 2.0, 2.01, 2.0, 1.99]).is_steady(0.02));
        assert!(!past(&[2.0, 2.05, 2.0, 1.99]).is_steady(0.02));
        assert!(!past(&[2.0, 2.0, 2.0]).is_steady(0.02), "a window is missing");
    }

    #[test]
    fn or_two_passes_whose_means_agree() {
        let scattered = [2.0, 2.2, 1.9, 2.1];
        assert!(!past(&scattered).is_steady(0.02));
        assert!(past(&[scattered, scattered].concat()).is_steady(0.02));
        assert!(!past(&[scattered, scattered.map(|window| window * 1.02)].concat()).is_steady(0.02));
    }

    #[test]
    fn the_amplification_told_is_that_of_the_last_pass() {
        assert_eq!(past(&[]).last_pass(), None);
        assert_eq!(past(&[1.0, 2.0]).last_pass(), Some(1.5));
        assert_eq!(past(&[9.0, 1.0, 2.0, 3.0, 4.0]).last_pass(), Some(2.5));
    }
}
