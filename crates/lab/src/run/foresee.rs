//! Reading a workload once before it is run, for a drive whose policies look ahead (`oracle` of `ftl.stream` and of
//! `ftl.page_class`).

use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::measure::progress::Progress;
use crate::plan::spec::RunSpec;
use ssd::{Command, Drive, Foresight, Lba};
use std::sync::Arc;
use workload::{Played, Prepared, Source};

/// Requests between two calls of the progress function.
const PROGRESS_EVERY: u64 = 1 << 16;

/// Tells a drive that looks ahead what a run will ask of it: the requests of `source`, as many as `spec` wants. A drive
/// that does not is left alone, and the source unread. A drive that is yet to be preconditioned is told later: its past
/// is that of a drive that knew nothing, as where it was saved in between.
pub fn foresee<S: Source + ?Sized>(
    drive: &mut Drive,
    source: &mut S,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    let ahead = read_ahead(drive, source, spec, progress)?;
    ahead.map_or(Ok(()), |ahead| tell(drive, ahead))
}

/// Tells a drive what was read ahead.
pub(crate) fn tell(drive: &mut Drive, ahead: Arc<Foresight>) -> Result<(), Failure> {
    drive.foresee(ahead).map_err(|error| too_long(drive, &error))
}

/// What a drive that looks ahead is to be told; nothing for others.
fn read_ahead<S: Source + ?Sized>(
    drive: &Drive,
    source: &mut S,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Arc<Foresight>>, Failure> {
    if !drive.ahead().is_wanted() {
        return Ok(None);
    }
    let total = spec.total(source.len_hint());
    let limit = spec.requests.unwrap_or(u64::MAX);
    let mut foreseeing = drive.ahead().begin();
    let phase = Phase::LookingAhead;
    let mut done = 0;
    while done < limit
        && let Some(request) = source.next().map_err(Failure::Workload)?
    {
        if done.is_multiple_of(PROGRESS_EVERY) {
            progress(Progress { phase, done, total, simulated_ns: 0, so_far: None });
            if spec.stop.is_asked() {
                return Err(Failure::Interrupted { phase });
            }
        }
        let (lba, sectors) = (Lba(request.lba), request.sectors);
        let command = Command { op: request.op, lba, sectors, hints: request.hints, ..Command::default() };
        foreseeing.take(&command).map_err(|error| too_long(drive, &error))?;
        done += 1;
    }
    Ok(Some(foreseeing.finish()))
}

/// The same of a workload that was prepared. Jobs are read where their order is known beforehand: of one job, that
/// does not end by time.
pub(crate) fn read_prepared_ahead(
    drive: &Drive,
    workload: &Prepared,
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Arc<Foresight>>, Failure> {
    if !drive.ahead().is_wanted() {
        return Ok(None);
    }
    let sectors = drive.logical_sectors();
    let Some(driven) = workload.driven(sectors) else {
        let mut source = workload.open(sectors).map_err(Failure::Workload)?;
        return read_ahead(drive, &mut *source, spec, progress);
    };
    let driven = driven.map_err(Failure::Workload)?;
    let lanes = driven.lanes().len();
    let timed = workload.timed_job().map(|job| format!("job {job} ends by time (runtime, until_s)"));
    let many = (lanes > 1).then(|| format!("{lanes} jobs send as the drive answers"));
    if let Some(why) = timed.or(many) {
        return Err(unknown(drive, &format!("{why}: their order is not known in advance")));
    }
    // How long requests take changes when one job sends them, and not what.
    read_ahead(drive, &mut Played::new(driven, 1), spec, progress)
}

/// The error of a drive that looks ahead and is told nothing.
pub(crate) fn check_told(drive: &Drive) -> Result<(), Failure> {
    if drive.ahead().is_lacking() {
        return Err(unknown(drive, "requests that were not read in advance (lab::foresee)"));
    }
    Ok(())
}

/// The key of the policy that looks ahead.
fn key(drive: &Drive) -> &'static str {
    drive.ahead().key().unwrap_or("ftl.stream.policy")
}

fn unknown(drive: &Drive, found: &str) -> Failure {
    let found = format!("a policy that looks ahead, and {found}");
    let allowed = "a trace, a generated workload, or one job that ends by size, io_size or number_ios; \
                   or a policy that a drive can have";
    Failure::Setting { key: key(drive), found, allowed: allowed.to_owned() }
}

fn too_long(drive: &Drive, error: &ssd::ForesightError) -> Failure {
    let found = format!("a policy that looks ahead, and {error}");
    Failure::Setting { key: key(drive), found, allowed: "a shorter run (run.requests)".to_owned() }
}
