//! How many commands the drive's queues hold: as many as the run keeps in flight, unless that was said.

use super::asked::Job;
use super::error::{JobError, conflict};
use super::memo::Chosen;
use crate::plan::run_config::RunConfig;
use crate::plan::spec::LoopMode;
use ssd::config::{Layer, Origin};
use ssd::drive_config::COMMANDS_MAX;
use std::collections::BTreeMap;
use std::sync::Arc;
use workload::{Prepared, Spec};

/// Commands that each queue holds.
const ROOM: &str = "host.queues.depth";
/// Queues.
const QUEUES: &str = "host.queues.count";
/// Requests in flight on each queue of a closed loop.
const DEPTH: &str = "run.depth";

impl Job {
    /// The same for a drive that is there already: its queues hold what they do, whatever is run.
    pub fn on_built_drive(self) -> Self {
        Job { is_built: true, ..self }
    }
}

/// The drive, whose queues hold what the run keeps in flight; what was done for that, in a line. Where somebody says
/// how many they hold, or the drive is there already, a closed loop may not be deeper: told before the drive is aged,
/// not after. Requests of jobs wait before the drive then.
pub(super) fn resolve(
    job: &Job,
    sized: Option<&str>,
    workload: Option<(&Spec, &Prepared)>,
    (run, origins): (&RunConfig, &BTreeMap<String, Origin>),
) -> Result<(Arc<Chosen>, Option<String>), JobError> {
    let resolved = job.resolve(sized)?;
    let Some((spec, prepared)) = workload else { return Ok((resolved, None)) };
    let (room, count) = (resolved.config.queues.depth, resolved.config.queues.count);
    let room_max = COMMANDS_MAX / u64::from(count);
    let is_fixed = job.is_built || resolved.origin(ROOM).is_some();
    let (wanted, whose) = match run.loop_mode(spec) {
        LoopMode::Open => return Ok((resolved, None)),
        LoopMode::Closed { depth } if depth <= room => return Ok((resolved, None)),
        LoopMode::Closed { depth } if is_fixed || u64::from(depth) > room_max => {
            let found = format!("{depth} requests in flight on each queue");
            let (of_drive, allowed) = match is_fixed {
                true => (ROOM, format!("1 to {room}, which is what a queue holds, or {ROOM}={depth}")),
                false => {
                    (QUEUES, format!("1 to {room_max}, so that {count} queues hold {COMMANDS_MAX} at most"))
                }
            };
            return Err(conflict([DEPTH, of_drive], origins, &resolved, found, allowed));
        }
        LoopMode::Closed { depth } => {
            let place = origins.get(DEPTH).map(|origin| format!(" ({origin})")).unwrap_or_default();
            (u64::from(depth), format!("{depth} requests in flight on each queue{place}"))
        }
        LoopMode::Jobs => {
            let depth = prepared.depth();
            let wanted = depth.div_ceil(u64::from(count)).min(room_max);
            if is_fixed || wanted <= u64::from(room) {
                return Ok((resolved, None));
            }
            (wanted, format!("jobs that keep {depth} requests in flight"))
        }
    };
    let mut deeper = job.clone();
    let mut layer = Layer::set(&format!("{ROOM}={wanted}"))?;
    layer.source = format!("raised for {whose}");
    deeper.flags.push(layer);
    let note = format!("queues: {ROOM} is raised from {room} to {wanted}, for {whose}");
    Ok((deeper.resolve(sized)?, Some(note)))
}
