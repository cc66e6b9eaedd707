//! A job file as a workload.

use super::jobs::JobFile;
use crate::driven::{Driven, Played};
use crate::error::WorkloadError;
use crate::input::Progress;
use crate::kind::{Kind, Ready};
use crate::record::Source;
use crate::report::SourceReport;
use crate::settings::settings;
use std::path::Path;

settings! {
    /// The jobs of a fio job file.
    pub struct FioSpec {
        /// The job file of fio; what it includes is beside it, and ${VARIABLE} comes from the environment.
        jobs: String = String::new(), unit "", allowed "a path", if |path| !path.is_empty();
        /// How long each request takes where the jobs are played without a drive, as by `wordline trace`; 0 for no
        /// time at all.
        service_us: u64 = 0, unit "us", allowed "0 to 1000000000", if |us| *us <= 1_000_000_000;
        /// Seed of the random sequences, beside what the jobs say (`randseed`).
        seed: u64 = 1, unit "", allowed "", if |_| true;
    }
}

impl Kind for FioSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        if self.jobs.is_empty() {
            return Err(WorkloadError::setting("jobs", "found nothing", "the path of a job file"));
        }
        Ok(())
    }

    /// Each job waits for its own requests.
    fn has_times(&self) -> bool {
        false
    }

    fn title(&self) -> String {
        let name = Path::new(&self.jobs).file_name();
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn reads(&self) -> Vec<String> {
        vec![self.jobs.clone()]
    }

    fn resolve_path(&mut self, directory: &Path) {
        if Path::new(&self.jobs).is_relative() {
            self.jobs = directory.join(&self.jobs).display().to_string();
        }
    }

    fn prepare(&self, _: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        let jobs = JobFile::load(&self.jobs)?;
        let space_sectors = jobs.space_sectors()?;
        Ok(Box::new(Understood { spec: self.clone(), hash: jobs.hash(), jobs, space_sectors }))
    }
}

/// A job file that was read.
struct Understood {
    spec: FioSpec,
    jobs: JobFile,
    hash: u64,
    space_sectors: Option<u64>,
}

impl Ready for Understood {
    fn space_sectors(&self) -> Option<u64> {
        self.space_sectors
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        if self.spec.service_us == 0
            && let Some(job) = self.jobs.timed_job()
        {
            let found = format!("requests take no time, and job {job} ends by time (runtime)");
            return Err(WorkloadError::setting(
                "service_us",
                found,
                "a time that each request takes, such as 100",
            ));
        }
        let driven = self.jobs.open(drive_sectors, self.spec.seed)?;
        Ok(Box::new(Played::new(driven, self.spec.service_us * 1000)))
    }

    fn report(&self) -> SourceReport {
        SourceReport { notes: self.jobs.remarks().to_vec(), ..SourceReport::default() }
    }

    fn content(&self) -> Option<(u64, &'static [&'static str])> {
        Some((self.hash, &["jobs"]))
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        self.once(drive_sectors)
    }

    fn driven(&self, drive_sectors: u64) -> Option<Result<Box<dyn Driven>, WorkloadError>> {
        Some(self.jobs.open(drive_sectors, self.spec.seed))
    }

    fn timed_job(&self) -> Option<&str> {
        self.jobs.timed_job()
    }
}
