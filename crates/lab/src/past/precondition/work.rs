//! A drive being aged, and how far it is.

use crate::base::error::{Failure, PreconditionError};
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::measure::progress::Progress;
use ssd::{Drive, Reason};

/// Units written in order at once.
const FILL_BATCH: u32 = 1 << 16;

/// Units of a drive that so much of its logical space takes.
pub(super) fn units_filled(drive: &Drive, percent: f64) -> u32 {
    (f64::from(drive.logical_units()) * (percent / 100.0)).round() as u32
}

/// Units programmed so far, by the host and by moves, places left empty included.
pub(super) fn units_programmed(drive: &Drive) -> u64 {
    let counts = drive.stats().ftl;
    let moved = counts.moved_units.iter().sum::<u64>();
    counts.host_units + moved + counts.padded_units.iter().sum::<u64>() + counts.parity_units
}

/// Writes all of a drive in order.
pub(crate) fn fill(drive: &mut Drive, stop: &Stop) -> Result<(), Failure> {
    let units = drive.logical_units();
    Work { drive, stop, progress: &mut |_| {} }.fill(units)
}

/// Why a drive takes no more of what it had to.
pub(crate) fn no_room(drive: &Drive, phase: Phase, written: u64, wanted: u64) -> Failure {
    let health = drive.health();
    let retired = health.wear.retired;
    if health.read_only == Some(Reason::WornOut) || health.read_only.is_none() && retired > 0 {
        let unit_bytes = u64::from(drive.unit_bytes());
        return Failure::Preconditioning(PreconditionError::WornOut {
            phase,
            written_bytes: drive.stats().ftl.host_units * unit_bytes,
            logical_bytes: u64::from(drive.logical_units()) * unit_bytes,
            retired,
        });
    }
    Failure::Preconditioning(PreconditionError::NoRoom {
        phase,
        written,
        wanted,
        reason: health.read_only,
        retired,
    })
}

/// A drive being aged.
pub(super) struct Work<'a> {
    pub drive: &'a mut Drive,
    pub stop: &'a Stop,
    pub progress: &'a mut dyn FnMut(Progress),
}

impl Work<'_> {
    /// Tells how far it is; an error if that is far enough.
    pub fn tell(&mut self, phase: Phase, done: u64, total: u64) -> Result<(), Failure> {
        (self.progress)(Progress { phase, done, total: Some(total), simulated_ns: 0, so_far: None });
        self.look(phase)
    }

    /// An error if somebody has asked to end. Asked for every batch of units: what a batch costs depends on the drive.
    pub fn look(&self, phase: Phase) -> Result<(), Failure> {
        if self.stop.is_asked() {
            return Err(Failure::Interrupted { phase });
        }
        Failure::of_policy(self.drive).map_or(Ok(()), Err)
    }

    pub fn no_room(&self, phase: Phase, written: u64, wanted: u64) -> Failure {
        no_room(self.drive, phase, written, wanted)
    }

    pub fn fill(&mut self, units: u32) -> Result<(), Failure> {
        let mut done = 0;
        while done < units {
            let count = (units - done).min(FILL_BATCH);
            if let Err(short) = self.drive.fill(done, count) {
                return Err(self.no_room(Phase::Filling, u64::from(done) + short.written, u64::from(units)));
            }
            done += count;
            self.tell(Phase::Filling, u64::from(done), u64::from(units))?;
        }
        Ok(())
    }
}
