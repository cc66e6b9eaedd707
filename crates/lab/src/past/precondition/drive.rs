//! Ageing a drive, in whichever way.

use super::around::aged;
use super::done::Preconditioned;
use super::one_die;
use super::own::{self, Ageing, Own, reason};
use super::uniform::uniform;
use super::wanted::{Overwrite, Past, Preconditioning, SteadyWay};
use super::work::Work;
use crate::base::error::Failure;
use crate::base::stop::Stop;
use crate::measure::progress::Progress;
use ssd::{Drive, DriveConfig};

/// Ages a drive. Counters are not reset. Without its configuration the whole drive is overwritten until it is steady,
/// whatever `steady_way` says.
pub fn precondition(
    drive: &mut Drive,
    seed: u64,
    wanted: &Preconditioning,
    progress: &mut dyn FnMut(Progress),
) -> Result<Preconditioned, Failure> {
    precondition_until(drive, None, None, seed, wanted, (&Stop::default(), progress))
}

/// The same for a drive of a configuration, of which a single die can be built; ending early if `stop` is asked for.
pub(crate) fn precondition_until(
    drive: &mut Drive,
    config: Option<&DriveConfig>,
    own: Option<Own<'_>>,
    seed: u64,
    wanted: &Preconditioning,
    stop_and_progress: (&Stop, &mut dyn FnMut(Progress)),
) -> Result<Preconditioned, Failure> {
    aged(drive, seed, wanted, stop_and_progress, |work, filled, done| {
        let wants_own = wanted.past == Past::Own && wanted.overwrite != Overwrite::None && filled > 0;
        let own = if wants_own { known(own, work, (config, wanted, filled))? } else { Err("") };
        let (own, passes) = match own {
            Ok(own) => own,
            Err(reason) => {
                done.past_reason = reason.to_owned();
                let die = match config {
                    Some(config) => one_die::measure(work, config, seed, wanted, filled)?,
                    None => None,
                };
                return uniform(work, die, seed, wanted, (filled, done));
            }
        };
        work.fill(filled)?;
        done.past = Past::Own.name().to_owned();
        let mut ageing = Ageing::new(work, (own, passes), wanted, (seed, filled), done);
        match wanted.overwrite {
            Overwrite::Times(times) => ageing.times(times),
            Overwrite::SteadyState { change_percent, times_at_most } => {
                ageing.until_steady(change_percent, times_at_most)
            }
            Overwrite::None => Ok(()),
        }
    })
}

/// The writes of a workload's own that a drive is overwritten with, where they were asked for; or why not with them.
fn known<'a>(
    own: Option<Own<'a>>,
    work: &mut Work<'_>,
    (config, wanted, filled): (Option<&DriveConfig>, &Preconditioning, u32),
) -> Result<Result<(Own<'a>, own::Passes), &'static str>, Failure> {
    let Some(own) = own else { return Ok(Err(reason::UNKNOWN)) };
    if wanted.steady_way == SteadyWay::OneDie {
        return Ok(Err(reason::ONE_DIE));
    }
    // The same past, in a tenth of the time.
    let is_short = config.is_some_and(|it| one_die::is_wanted(filled, it.geometry.dies(), wanted));
    let unit_bytes = u64::from(work.drive.unit_bytes());
    if is_short && filled == work.drive.logical_units() && own.workload.writes_evenly(unit_bytes) {
        return Ok(Err(reason::EVEN));
    }
    Ok(own.read(work)?.map(|passes| (own, passes)))
}
