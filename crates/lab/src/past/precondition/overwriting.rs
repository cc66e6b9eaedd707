//! Random overwrites, for so long or until the write amplification is steady.

use super::done::Preconditioned;
use super::turnover::Turnover;
use super::wanted::{Overwrite, Preconditioning};
use super::work::{Work, units_programmed};
use crate::base::error::Failure;
use crate::base::phase::Phase;
use ssd::rng::Rng;
use ssd::{Drive, Lba, Pace};

/// Units generated at once: their table lines are being loaded while the others are drawn.
const BATCH: usize = 256;
/// Units overwritten between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 16;
/// Windows that the filled space is divided into: so many are one pass over it.
const WINDOWS: usize = 4;
/// Part of the filled space that shows whether a drive laid out like one die is steady.
const LOOK: u64 = 32;
/// So often it is looked at, at most, after as much to settle.
const LOOKS: u64 = 3;

/// Random overwrites of the filled space.
pub(super) struct Overwriting<'a, 'b> {
    pub work: &'a mut Work<'b>,
    pub rng: Rng,
    pub pace: Pace,
    pub filled: u32,
    pub done: &'a mut Preconditioned,
    /// Counts erases since before the drive was filled.
    pub turnover: Turnover,
}

impl Overwriting<'_, '_> {
    pub fn run(&mut self, overwrite: Overwrite) -> Result<(), Failure> {
        let units = |times: f64| (f64::from(self.filled) * times).round() as u64;
        match overwrite {
            Overwrite::None => Ok(()),
            Overwrite::Times(times) => self.windows(units(times), None),
            Overwrite::SteadyState { change_percent, times_at_most } => {
                self.done.steady = Some(false);
                self.done.steady_way = Some("whole".to_owned());
                self.turnover.look(self.work.drive);
                // A drive with more spare than data is turned over by its spare.
                let spare = (self.turnover.spare_units as f64 * times_at_most).round() as u64;
                self.windows(units(times_at_most).max(spare), Some(change_percent / 100.0))
            }
        }
    }

    /// Whether the drive writes as much as a single die of it did, so that it need not be overwritten for longer.
    pub fn agrees_with(&mut self, amplification: f64, wanted: &Preconditioning) -> Result<bool, Failure> {
        let Overwrite::SteadyState { change_percent, .. } = wanted.overwrite else { return Ok(false) };
        // Whole blocks of all lanes: they begin in step, and clean once for each block that the host fills.
        let lanes = self.work.drive.blocks().lanes();
        let row = lanes.erases.len() as u64 * u64::from(lanes.units);
        let count = row * (u64::from(self.filled) / LOOK / row).max(1);
        let total = (1 + LOOKS) * count;
        self.window(count, total)?;
        for _ in 0..LOOKS {
            let found = self.window(count, total)?;
            if (found / amplification - 1.0).abs() < change_percent / 100.0 {
                self.done.steady = Some(true);
                self.done.write_amplification = Some(found);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Overwrites as much as is filled, and looks at the drive at so many moments; returns the write amplification.
    pub fn pass(&mut self, moments: u64, look: &mut dyn FnMut(&Drive)) -> Result<f64, Failure> {
        let piece = u64::from(self.filled).div_ceil(moments);
        let mut sum = 0.0;
        for _ in 0..moments {
            sum += self.window(piece, moments * piece)?;
            look(self.work.drive);
        }
        Ok(sum / moments as f64)
    }

    /// Overwrites `total` units, window by window, or fewer if they become steady.
    fn windows(&mut self, total: u64, spread: Option<f64>) -> Result<(), Failure> {
        let window = u64::from(self.filled).div_ceil(WINDOWS as u64);
        let mut past = Windows::default();
        let mut left = total;
        while left > 0 {
            let count = left.min(window);
            let ends_at = self.done.units_overwritten + left;
            // Nobody knows how long it takes to become steady; at least as long as this.
            let to_come = spread.map_or(left, |allowed| left.min(past.windows_to_come(allowed) * window));
            let told = ends_at.min(self.done.units_overwritten + to_come);
            let amplification = self.window(count, told)?;
            left -= count;
            if count == window {
                past.add(amplification);
                self.done.write_amplification = past.last_pass();
            }
            // Windows agree on 1 as long as there are blocks that nothing was written to.
            if spread.is_some_and(|allowed| past.is_steady(allowed))
                && self.turnover.is_complete(self.work.drive)
            {
                self.done.steady = Some(true);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Overwrites so many units and returns their write amplification.
    fn window(&mut self, count: u64, total: u64) -> Result<f64, Failure> {
        let written_before = units_programmed(self.work.drive);
        let mut left = count;
        let mut told = 0;
        let mut units = [0; BATCH];
        while left > 0 {
            let batch = &mut units[..left.min(BATCH as u64) as usize];
            self.draw(batch);
            if let Err(short) = self.work.drive.past().overwrite(self.pace, batch) {
                let written = self.done.units_overwritten + short.written;
                return Err(self.work.no_room(Phase::Overwriting, written, total));
            }
            self.work.look(Phase::Overwriting)?;
            left -= batch.len() as u64;
            told += batch.len() as u64;
            self.done.units_overwritten += batch.len() as u64;
            if told >= PROGRESS_EVERY || left == 0 {
                told = 0;
                self.work.tell(Phase::Overwriting, self.done.units_overwritten, total)?;
            }
        }
        Ok((units_programmed(self.work.drive) - written_before) as f64 / count as f64)
    }

    #[inline]
    fn draw(&mut self, units: &mut [u32]) {
        let sectors = u64::from(self.work.drive.unit_bytes()) / ssd::units::SECTOR_BYTES;
        for unit in units {
            *unit = self.rng.below(self.filled);
            self.work.drive.prefetch(Lba(u64::from(*unit) * sectors));
        }
    }
}

/// Write amplifications of the last windows, the latest first.
#[derive(Default)]
pub(crate) struct Windows {
    windows: [f64; 2 * WINDOWS],
    count: usize,
}

impl Windows {
    pub(crate) fn add(&mut self, amplification: f64) {
        self.windows.rotate_right(1);
        self.windows[0] = amplification;
        self.count = (self.count + 1).min(self.windows.len());
    }

    fn mean(windows: &[f64]) -> f64 {
        windows.iter().sum::<f64>() / windows.len() as f64
    }

    /// Of the windows of the last pass, as many as there are.
    pub(super) fn last_pass(&self) -> Option<f64> {
        (self.count > 0).then(|| Self::mean(&self.windows[..self.count.min(WINDOWS)]))
    }

    /// Windows at least until the drive can be steady: four that agree, of which some may have been.
    fn windows_to_come(&self, allowed: f64) -> u64 {
        let agrees = |count: usize| {
            let last = &self.windows[..count];
            let (least, most) = last.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
            most - least < allowed * Self::mean(last)
        };
        let agreeing = (1..WINDOWS).rev().find(|&count| count <= self.count && agrees(count)).unwrap_or(0);
        (WINDOWS - agreeing) as u64
    }

    /// See [`Overwrite::SteadyState`].
    pub(crate) fn is_steady(&self, allowed: f64) -> bool {
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

    fn past(windows: &[f64]) -> Windows {
        let mut past = Windows::default();
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
    fn what_is_to_come_is_counted_from_the_windows_that_agree() {
        assert_eq!(past(&[]).windows_to_come(0.02), 4);
        assert_eq!(past(&[2.0]).windows_to_come(0.02), 3);
        assert_eq!(past(&[9.0, 2.0, 2.01]).windows_to_come(0.02), 2);
        assert_eq!(past(&[2.0, 2.01, 2.0, 2.3]).windows_to_come(0.02), 3);
    }

    #[test]
    fn the_amplification_told_is_that_of_the_last_pass() {
        assert_eq!(past(&[]).last_pass(), None);
        assert_eq!(past(&[1.0, 2.0]).last_pass(), Some(1.5));
        assert_eq!(past(&[9.0, 1.0, 2.0, 3.0, 4.0]).last_pass(), Some(2.5));
    }
}
