//! A run on several drives: each has a result and a folder of its own, and all have a sum.

use std::io::Write;

use lab::job::Given;
use lab::result::problems::Requirements;
use lab::{Drives, DrivesError, DrivesResult, Job, report};
use workload::Spec;

use super::args::Run;
use super::{failed, lost, unserved, warn};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::requiring::met;

impl Run {
    /// Runs a workload for several drives.
    pub(super) fn on_drives(
        &self,
        (job, spec, given, drives): (&Job, &Spec, &Given, &Drives<'_>),
        required: &Requirements,
        progress: &Progress,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let names = drives.names();
        self.check_one_drive(&names)?;
        let plan = job.plan(Some(drives.largest()))?;
        let plan = plan.with_workload_origins(job.workload_origins(spec, given));
        let told =
            format!("drives: {} alike ({}), each with a result of its own", names.len(), names.join(", "));
        self.tell(progress, &[plan.notes.as_slice(), &[told]].concat());
        let _claims = self.claim_folders_of(&names)?;
        let interrupt = Interrupt::listen();
        let cache = self.cache();
        let how = |spec: &Spec| self.run_spec(&plan, spec, &interrupt.stop, cache.as_ref());
        let hear = &mut self.hear((&plan, Some(spec)), cache.as_deref(), progress);
        let drive = &mut || plan.drive().map_err(lab::Failure::Config);
        let ran = drives.run((&plan.resolved.config, &self.name(spec)), drive, &how, hear);
        progress.finish();
        warn(progress, cache.as_deref());
        let (result, failure) = match ran {
            Ok(result) => (Some(result), None),
            Err(DrivesError { error, drive, result }) => {
                let failure = failed(&error, &interrupt);
                let failure = drive.iter().fold(failure, |failure, drive| failure.about(drive));
                (result.map(|result| *result), Some(failure))
            }
        };
        let Some(result) = result else { return failure.map_or(Ok(()), Err) };
        let missing = self.deliver_drives(&result, |drive| plan.to_toml(drives.workload_of(drive)), out)?;
        result.drives.iter().for_each(|result| self.tell(progress, &lost(result)));
        let unmet = met(required, &result.drives).err();
        let failure = failure.or_else(|| result.drives.iter().find_map(unserved)).or(unmet);
        match (failure, missing) {
            (None, None) => Ok(()),
            (None, Some(missing)) => Err(Failure::work(missing)),
            (Some(failure), None) => Err(failure),
            (Some(failure), Some(missing)) => Err(failure.and(&missing)),
        }
    }

    /// Refuses what is written of, or begins with, one drive.
    fn check_one_drive(&self, names: &[&str]) -> Result<(), Failure> {
        let Run { output, measurement, .. } = self;
        let flags = [
            ("--request-log", output.request_log.is_some()),
            ("--fio-json", output.fio_json.is_some()),
            ("--timeline", output.timeline.is_some()),
            ("--versions", output.versions.is_some()),
            ("--keep-versions", output.keep_versions.is_some()),
            ("--watch", output.watch),
            ("--counters", output.counters),
            ("--snapshot", measurement.snapshot.is_some()),
            ("--save-snapshot", measurement.save_snapshot.is_some()),
            ("--precondition-only", measurement.precondition_only),
        ];
        match flags.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::usage(format!(
                "{flag}\n    found:   a workload for {} drives ({})\n    allowed: one drive: --drives together, or \
                 the workload of one of them alone",
                names.len(),
                names.join(", ")
            ))),
        }
    }

    /// Prints the results, then writes them. Returns what could not be written.
    fn deliver_drives(
        &self,
        result: &DrivesResult,
        config: impl Fn(usize) -> String,
        out: &mut dyn Write,
    ) -> Result<Option<String>, Failure> {
        if !self.output.quiet {
            let text = match (self.output.json, self.output.brief) {
                (true, _) => result.to_json(),
                (_, true) => report::drives_brief(result),
                _ => report::drives_table(result),
            };
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
        let Some(folder) = &self.output.out else { return Ok(None) };
        Ok(report::write_drives(folder, result, config).err().map(|error| error.to_string()))
    }
}
