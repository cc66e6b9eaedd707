//! Units written in order and overwritten at random.

use super::done::Preconditioned;
use super::laid::OneDie;
use super::overwriting::Overwriting;
use super::turnover::Turnover;
use super::wanted::{Past, Preconditioning};
use super::work::{Work, units_filled};
use crate::base::error::Failure;
use crate::base::stop::Stop;
use crate::measure::progress::Progress;
use ssd::Drive;
use ssd::rng::Rng;

/// Writes a drive in order, and overwrites what was written at random.
pub(super) fn uniform(
    work: &mut Work<'_>,
    die: Option<OneDie>,
    seed: u64,
    wanted: &Preconditioning,
    (filled, done): (u32, &mut Preconditioned),
) -> Result<(), Failure> {
    let turnover = Turnover::begin(work.drive);
    if let Some(die) = &die {
        die.lay_out(work, seed, filled)?;
        done.steady_way = Some("one_die".to_owned());
    } else {
        work.fill(filled)?;
    }
    if filled == 0 {
        return Ok(());
    }
    done.past = Past::Uniform.name().to_owned();
    let rng = Rng::named(seed, "lab/precondition/overwrite");
    let mut overwriting = Overwriting { work, rng, pace: wanted.pace, filled, done, turnover };
    let agrees = match &die {
        Some(die) => overwriting.agrees_with(die.write_amplification, wanted)?,
        None => false,
    };
    if !agrees {
        overwriting.run(wanted.overwrite)?;
    }
    let Overwriting { work, done, mut turnover, .. } = overwriting;
    turnover.look(work.drive);
    done.turned_over = turnover.is_complete(work.drive);
    Ok(())
}

/// Overwrites a drive in steady state for a pass more, looks at it at so many moments, and returns its write
/// amplification.
pub(super) fn once_more(
    drive: &mut Drive,
    seed: u64,
    wanted: &Preconditioning,
    moments: u64,
    look: &mut dyn FnMut(&Drive),
    (stop, progress): (&Stop, &mut dyn FnMut(Progress)),
) -> Result<f64, Failure> {
    let filled = units_filled(drive, wanted.fill_percent);
    let mut done = Preconditioned::default();
    let rng = Rng::named(seed, "lab/precondition/once_more");
    let work = &mut Work { drive, stop, progress };
    let turnover = Turnover::begin(work.drive);
    Overwriting { work, rng, pace: wanted.pace, filled, done: &mut done, turnover }.pass(moments, look)
}
