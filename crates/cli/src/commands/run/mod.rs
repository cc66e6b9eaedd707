//! `wordline run`: a workload on a drive. Here is its flow.

mod ages;
mod args;
mod drives;
mod measurement;
mod output;
mod outputs;

pub use self::args::Run;

use std::io::Write;
use std::sync::Arc;

use lab::{
    AgeSteps, BlockTable, DriveCache, Drives, ExecutorChoice, Job, Plan, RunResult, RunSpec, Stop,
    VersionsSpec,
};
use ssd::Drive;
use workload::{Prepared, Spec};

use self::output::save;
use lab::job::{Given, is_config, with_path};

use super::worker;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::isolation;
use crate::progress::Progress;
use crate::requiring::met;
use crate::snapshots::restore;
use crate::text::{bytes, thousands};
use crate::workload_args::Flagged;

/// Runs a workload.
pub fn run(args: &Run, out: &mut dyn Write) -> Result<(), Failure> {
    let config = args.input.as_deref().filter(|path| is_config(path));
    let flags = [args.measurement.layers()?, args.synthetic.layers()?, args.policies.layers()?].concat();
    let job = args.drive.job(config, flags)?.allowing(args.policies.allowed());
    let job = if args.measurement.snapshot.is_some() { job.on_built_drive() } else { job };
    let required = args.require.requirements()?;
    if args.policies.isolate() {
        return isolation::run(worker::program(), &job.libraries()?);
    }
    let flagged = args.workload(&job)?;
    let _lock = args.claim_places(flagged.as_ref().map(|flagged| &flagged.spec))?;
    let progress = Progress::new(args.output.quiet).watching(args.output.watch);
    let Some(Flagged { spec, given }) = flagged else {
        return args.without_workload(&job, &progress);
    };
    let prepared = progress.survey(&spec)?;
    if let Some(drives) = Drives::of(&spec, &prepared, |part| progress.survey(part))? {
        return args.on_drives((&job, &spec, &given, &drives), &required, &progress, out);
    }
    let plan = job.plan(Some((&spec, &prepared)))?;
    let plan = plan.with_workload_origins(job.workload_origins(&spec, &given));
    args.tell(&progress, &plan.notes);
    args.check_watch(&plan)?;
    args.check_snapshots(&plan)?;
    // Until here there is nothing to lose.
    let interrupt = Interrupt::listen();
    let mut drive = args.drive(&plan)?;
    if args.measurement.precondition_only {
        return args.age(&plan, Some((&spec, &prepared)), &mut drive, &interrupt, &progress);
    }
    let measured = args.measure(&plan, &spec, &prepared, &mut drive, &interrupt.stop, &progress);
    progress.finish();
    let (mut result, failure) = match measured {
        Ok(result) => (Some(Box::new(result)), None),
        Err(error) => {
            let failure = failed(&error, &interrupt);
            (error.result, Some(failure))
        }
    };
    let mut missing = Vec::new();
    if let (Some(result), Some(_)) = (&mut result, &args.output.out) {
        result.blocks = Some(BlockTable::of(&drive));
    }
    if let Some(result) = &result {
        missing.extend(args.deliver(&plan, &spec, result, out)?);
        args.tell(&progress, &lost(result));
    }
    if let Some(path) = &args.measurement.save_snapshot {
        let saved = match &result {
            // What is under way still would be answered to whoever uses the drive next.
            Some(result) if result.requests_served < result.requests_generated => {
                Err(Failure::work(format!("{}: not saved", path.display())))
            }
            Some(result) => save(&drive, &plan, path, incomplete(result).as_deref()),
            None => Err(Failure::work(format!("{}: not saved", path.display()))),
        };
        missing.extend(saved.err().and_then(|failure| failure.message().map(str::to_owned)));
    }
    let unmet = result.as_ref().and_then(|result| met(&required, [&**result]).err());
    let failure = failure.or_else(|| result.and_then(|result| unserved(&result))).or(unmet);
    match (failure, missing.join("\n").as_str()) {
        (None, "") => Ok(()),
        (None, missing) => Err(Failure::work(missing)),
        (Some(failure), "") => Err(failure),
        (Some(failure), missing) => Err(failure.and(missing)),
    }
}

/// Units from which filling a drive is announced.
const UNITS_ANNOUNCED: u64 = 64 << 20;
/// Units that a machine of today fills a second, and those of which a die is overwritten first; measured on one core of
/// a server of 2023, busy beside that.
const UNITS_A_SECOND: [f64; 2] = [30e6, 10e6];

/// A drive that takes long to fill.
struct LongFilling {
    units: u64,
    unit_bytes: u64,
}

impl LongFilling {
    /// Of so much of a drive.
    fn of(logical_units: u64, unit_bytes: u64, percent: f64) -> Option<Self> {
        let units = (logical_units as f64 * percent / 100.0) as u64;
        (units > UNITS_ANNOUNCED).then_some(LongFilling { units, unit_bytes })
    }

    /// What to say before the first phase in which something is written.
    fn told(&self, phase: lab::Phase) -> String {
        let (rate, how) = match phase {
            lab::Phase::OneDie => (UNITS_A_SECOND[1], " as overwriting leaves it, which a die shows,"),
            _ => (UNITS_A_SECOND[0], ""),
        };
        format!(
            "filling {} ({} units){how} before the run: about {:.0} s (--precondition none leaves the drive empty)",
            bytes(self.units * self.unit_bytes),
            thousands(self.units),
            self.units as f64 / rate,
        )
    }
}

/// Says what went wrong with the aged drives that are kept, and who is waited for: with `--quiet`, too, for otherwise
/// nobody would know why every run ages its drive anew.
fn warn(progress: &Progress, cache: Option<&DriveCache>) {
    let remarks = cache.map(DriveCache::take_remarks).unwrap_or_default();
    remarks.iter().for_each(|remark| progress.print(remark));
}

/// Why a run failed; a signal has its own exit code.
fn failed(error: &lab::RunError, interrupt: &Interrupt) -> Failure {
    let measured = |result: &RunResult| {
        format!("interrupted after {} requests; the result covers these", result.requests_served)
    };
    let message = match (&error.failure, &error.result) {
        (lab::Failure::Interrupted { phase }, None) => {
            format!("interrupted while {}; nothing was measured", phase.name())
        }
        (lab::Failure::Interrupted { .. }, Some(result)) => measured(result),
        // Its output is lost, too.
        (lab::Failure::Log(lost), Some(result)) if interrupt.stop.is_asked() => {
            format!("{}\n{lost}", measured(result))
        }
        // Such as a pipe that nobody has read since.
        _ if interrupt.stop.is_asked() => error.to_string(),
        _ => return Failure::from(error),
    };
    Failure::Interrupted { signal: interrupt.signal(), message }
}

/// A remark on a drive whose run did not come to its end.
fn incomplete(result: &RunResult) -> Option<String> {
    let why = result.ended.split(':').next().unwrap_or_default();
    (!result.is_complete())
        .then(|| format!("The run ended early ({why}), after {} requests.", result.requests_served))
}

/// A complaint if requests were not served, or not in success.
fn unserved(result: &RunResult) -> Option<Failure> {
    result.unserved().map(Failure::work)
}

/// What to say of data that could not be read.
fn lost(result: &RunResult) -> Vec<String> {
    if result.requests_uncorrectable + result.ftl.lost_units == 0 {
        return Vec::new();
    }
    let (requests, units) = (result.requests_uncorrectable, result.ftl.lost_units);
    vec![format!("data loss: {requests} requests ended uncorrectable, {units} units lost")]
}

impl Run {
    /// The workload: the trace named, the generator described, or the table of the configuration.
    fn workload(&self, job: &Job) -> Result<Option<Flagged>, Failure> {
        let configured = job.workload()?;
        let trace = self.input.as_deref().filter(|path| !is_config(path));
        // A depth says how requests are generated, if nothing else says what they are.
        let has_depth = self.measurement.closed.is_some() && !self.measurement.precondition_only;
        let is_generated = self.synthetic.any() || (has_depth && trace.is_none() && configured.is_none());
        let mut spec = match (trace, is_generated) {
            (Some(path), true) => return Err(self.synthetic.refused_beside(path, true)),
            (Some(path), false) => {
                let spec = with_path(configured, path);
                Flagged { given: Given::path(&spec, "command line"), spec }
            }
            (None, true) => self.synthetic.start(configured)?,
            (None, false) => match configured {
                Some(spec) => spec.into(),
                None => return Ok(None),
            },
        };
        self.trace.apply(&mut spec)?;
        self.replay.apply(&mut spec)?;
        self.synthetic.apply(&mut spec)?;
        if let Some(seed) = &self.measurement.seed {
            spec.spec.set_seed_as_written(seed).map_err(|error| Failure::from(error).about("--seed"))?;
            spec.given.keys.insert("seed".to_owned(), "--seed".to_owned());
        }
        job.settle(&mut spec.spec, self.replay.address.is_some())?;
        if spec.spec.is_driven() && (self.measurement.closed.is_some() || self.measurement.open) {
            let message = "--closed, --depth and --open set how requests reach the drive, but jobs define \
                           that themselves \
                           (iodepth, rate_iops in the job file, `depth` of other phases)";
            return Err(Failure::usage(message));
        }
        Ok(Some(spec))
    }

    /// With nothing to run, a drive can still be aged and saved.
    fn without_workload(&self, job: &Job, progress: &Progress) -> Result<(), Failure> {
        if !self.measurement.precondition_only {
            let message = "nothing to run: name a trace, a configuration with the table [workload], or what to \
                           generate, such as --synthetic uniform or --read-percent 70 (see wordline run --help)";
            return Err(Failure::usage(message));
        }
        let plan = job.plan(None)?;
        self.tell(progress, &plan.notes);
        self.check_snapshots(&plan)?;
        let interrupt = Interrupt::listen();
        let mut drive = self.drive(&plan)?;
        self.age(&plan, None, &mut drive, &interrupt, progress)
    }

    /// Refuses to watch a run that keeps no series.
    fn check_watch(&self, plan: &Plan) -> Result<(), Failure> {
        let found = match (plan.run.executor, plan.run.samples) {
            _ if !self.output.watch => return Ok(()),
            (ExecutorChoice::Functional, _) => "run.executor = \"functional\", which simulates no time",
            (ExecutorChoice::Timed, 0) => "run.samples = 0, which keeps no time series",
            (ExecutorChoice::Timed, _) => return Ok(()),
        };
        Err(Failure::usage(format!(
            "--watch\n    found:   {found}\n    allowed: a timed run with run.samples"
        )))
    }

    /// Remarks on what is done, for people; results go elsewhere.
    fn tell(&self, progress: &Progress, notes: &[String]) {
        if !self.output.quiet {
            for note in notes {
                progress.print(note);
            }
        }
    }

    /// Tells how far it is; for whom it waits at once, and that filling the drive will take long once it begins: a
    /// drive that is cached is not filled.
    fn hear<'a>(
        &'a self,
        (plan, spec): (&Plan, Option<&Spec>),
        cache: Option<&'a DriveCache>,
        progress: &'a Progress,
    ) -> impl FnMut(lab::Progress<'_>) + 'a {
        let config = &plan.resolved.config;
        let percent = plan.run.preconditioning(spec).fill_percent;
        let mut filling = LongFilling::of(config.logical_units(), u64::from(config.unit_bytes()), percent);
        move |at| {
            match at.phase {
                lab::Phase::Waiting => warn(progress, cache),
                lab::Phase::OneDie | lab::Phase::Filling => {
                    let note = filling.take().map(|filling| filling.told(at.phase));
                    self.tell(progress, note.as_slice());
                }
                _ => {}
            }
            progress.phase(at);
        }
    }

    /// Where aged drives are kept, if this one may be.
    fn cache(&self) -> Option<Arc<DriveCache>> {
        let is_new = self.measurement.snapshot.is_none() && !self.measurement.no_cache;
        is_new.then(|| self.measurement.cache.open())?
    }

    /// The drive: a new one, or the one that was saved.
    fn drive(&self, plan: &Plan) -> Result<Drive, Failure> {
        let Some(path) = &self.measurement.snapshot else { return Ok(plan.drive()?) };
        restore(path, &plan.resolved.config)
    }

    /// A policy from outside cannot be saved with a drive: nobody could say what it knows. Told before the run.
    fn check_snapshots(&self, plan: &Plan) -> Result<(), Failure> {
        let asked = plan.resolved.config.asks_for_policies();
        let Some((family, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) else { return Ok(()) };
        let flags = [
            ("--snapshot", &self.measurement.snapshot),
            ("--save-snapshot", &self.measurement.save_snapshot),
        ];
        match flags.into_iter().find_map(|(flag, path)| Some((flag, path.as_ref()?))) {
            None => Ok(()),
            Some((flag, path)) => Err(Failure::usage(format!(
                "{flag} {}\n    found:   {}.policy = \"external\", which cannot be part of a snapshot\n    \
                 allowed: \
                 a new drive that is not saved, or a policy that `wordline policies` lists",
                path.display(),
                family.section()
            ))),
        }
    }

    /// Ages the drive and saves it.
    fn age(
        &self,
        plan: &Plan,
        workload: Option<(&Spec, &Prepared)>,
        drive: &mut Drive,
        interrupt: &Interrupt,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let config = &plan.resolved.config;
        let cache = self.cache();
        let about = workload.map(|(spec, _)| spec);
        let tell = &mut self.hear((plan, about), cache.as_deref(), progress);
        let spec = workload.map_or_else(
            || RunSpec {
                preconditioning: plan.run.preconditioning(None),
                age: plan.run.age.clone(),
                ..RunSpec::default()
            },
            |(spec, _)| plan.spec(spec),
        );
        let spec = RunSpec { stop: interrupt.stop.clone(), cache: cache.clone(), ..spec };
        let aged = lab::prepare_run(drive, config, workload.map(|(_, prepared)| prepared), &spec, tell);
        progress.finish();
        warn(progress, cache.as_deref());
        let aged = aged.map_err(|failure| failed(&lab::RunError::from(failure), interrupt))?;
        let amplification =
            aged.write_amplification.map_or(String::new(), |x| format!(", write amplification {x:.3}"));
        let steps: String = aged.age_steps.iter().map(|step| format!(", {step}")).collect();
        let note = format!(
            "aged: {} units filled, {} overwritten{amplification}{steps}{}",
            aged.units_filled,
            aged.units_overwritten,
            if aged.kept { "; reused from the cache" } else { "" },
        );
        self.tell(progress, &[note]);
        self.measurement.save_snapshot.as_deref().map_or(Ok(()), |path| save(drive, plan, path, None))
    }

    /// How a workload is run, but for what is written meanwhile.
    fn run_spec(&self, plan: &Plan, spec: &Spec, stop: &Stop, cache: Option<&Arc<DriveCache>>) -> RunSpec {
        RunSpec {
            name: self.name(spec),
            origins: plan.origins(),
            stop: stop.clone(),
            cache: cache.cloned(),
            ..plan.spec(spec)
        }
    }

    fn measure(
        &self,
        plan: &Plan,
        spec: &Spec,
        prepared: &Prepared,
        drive: &mut Drive,
        stop: &Stop,
        progress: &Progress,
    ) -> Result<RunResult, lab::RunError> {
        let cache = self.cache();
        let mut run = RunSpec {
            request_log: self.output.request_log.clone(),
            tells_fio: self.output.fio_json.is_some(),
            timeline: self.output.timeline(),
            versions: VersionsSpec {
                table: self.output.versions.clone(),
                keep: self.output.keep_versions.clone(),
                ..VersionsSpec::default()
            },
            workload_hash: prepared.workload_hash(),
            was_used: self.measurement.snapshot.is_some(),
            ..self.run_spec(plan, spec, stop, cache.as_ref())
        };
        if self.measurement.snapshot.is_some() {
            run.preconditioning = lab::Preconditioning::default();
            // Those of the file were taken before the drive was saved; the flags ask for more.
            if self.measurement.age.is_empty() {
                run.age = AgeSteps::default();
            }
        }
        let hear = &mut self.hear((plan, Some(spec)), cache.as_deref(), progress);
        let measured = lab::run_prepared(drive, &plan.resolved.config, prepared, &run, hear);
        warn(progress, cache.as_deref());
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_to_fill_is_told_beforehand() {
        assert!(LongFilling::of(64 << 20, 4096, 100.0).is_none());
        assert!(LongFilling::of(100 << 20, 4096, 50.0).is_none());
        let told = |phase| LongFilling::of(320 << 20, 4096, 100.0).unwrap().told(phase);
        let in_order = told(lab::Phase::Filling);
        assert!(
            in_order.starts_with("filling 1.25 TiB (335,544,320 units) before the run: about 11 s"),
            "{in_order}"
        );
        assert!(told(lab::Phase::OneDie).contains("before the run: about 34 s"));
    }
}
