//! What is done before and after a drive is written, in whichever way that is.

use super::done::{Preconditioned, pace_name};
use super::wanted::{EraseCounts, Preconditioning};
use super::work::{Work, units_filled};
use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::measure::progress::Progress;
use ssd::rng::Rng;
use ssd::{Drive, Pace};

/// Ages a drive of a configuration: `way` writes it, units of the filled space at a time.
pub(super) fn aged(
    drive: &mut Drive,
    seed: u64,
    wanted: &Preconditioning,
    (stop, progress): (&Stop, &mut dyn FnMut(Progress)),
    way: impl FnOnce(&mut Work<'_>, u32, &mut Preconditioned) -> Result<(), Failure>,
) -> Result<Preconditioned, Failure> {
    wanted.check().map_err(Failure::Preconditioning)?;
    let cpu = crate::base::process::thread_cpu_time();
    let filled = units_filled(drive, wanted.fill_percent);
    let mut done = Preconditioned { pace: pace_name(wanted.pace).to_owned(), ..Preconditioned::default() };
    done.units_filled = u64::from(filled);
    way(&mut Work { drive, stop, progress }, filled, &mut done)?;
    // What a drive brings along that is not written here goes on as it would have.
    if filled > 0 {
        settle(drive, wanted.pace, stop)?;
    }
    done.say();
    set_erase_counts(drive, seed, wanted.erase_counts);
    done.cpu_seconds = crate::base::process::thread_cpu_time().saturating_sub(cpu).as_secs_f64();
    Ok(done)
}

/// What a drive that was written in no time has still to do, before time passes: its past is no part of what is
/// measured.
fn settle(drive: &mut Drive, pace: Pace, stop: &Stop) -> Result<(), Failure> {
    while drive.past().catch_up(pace) {
        if stop.is_asked() {
            return Err(Failure::Interrupted { phase: Phase::Overwriting });
        }
    }
    Ok(())
}

fn set_erase_counts(drive: &mut Drive, seed: u64, counts: EraseCounts) {
    match counts {
        EraseCounts::AsIs => {}
        EraseCounts::Equal(count) => drive.past().set_erase_counts(|_| count),
        EraseCounts::Uniform { min, max } => {
            let mut rng = Rng::named(seed, "lab/precondition/erase_counts");
            let (low, high) = (min.min(max), min.max(max));
            let values = (high - low).saturating_add(1);
            drive.past().set_erase_counts(|_| low + rng.below(values));
        }
    }
}
