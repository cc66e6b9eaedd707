//! A job file as a workload.

use super::jobs::JobFile;
use crate::base::driven::{Demand, Driven, Played};
use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::remark::Remark;
use crate::base::report::SourceReport;
use crate::base::request::Source;
use crate::base::settings::settings;
use crate::stack::drives::{Apart, DRIVES_MAX, Drives};
use crate::stack::kind::{Kind, Ready, name_of, path_in};
use crate::stack::stripe::Stripe;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

settings! {
    /// The jobs of a fio job file.
    pub struct FioSpec {
        /// The fio job file; included files are relative to it, and ${VARIABLE} comes from the environment.
        jobs: PathBuf = PathBuf::new(), unit "", allowed "a path",
            if |path| !path.as_os_str().is_empty();
        /// Options of fio that hold where the file says nothing of them, as on fio's command line: ["size=10g"].
        options: Vec<String> = Vec::new(), unit "", allowed "options of fio without line breaks, such as size=10g",
            if |options| options.iter().all(|option| !option.contains('\n'));
        /// How long each request takes when the jobs run without a drive, as with `wordline trace`; 0 for no time,
        /// or 100 us if a job ends by time.
        service_us: u64 = 0, unit "us", allowed "0 to 1000000000", if |us| *us <= 1_000_000_000;
        /// Page cache in front of the drive for jobs with `direct=0`, like an operating system's; 0 for none.
        page_cache_mib: f64 = 0.0, unit "MiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// Whether devices (`filename=/dev/...`) are drives of their own, or one drive whose addresses they share; or
        /// all is for a volume of drives in a stripe (RAID 0).
        drives: Drives = Drives::Each, unit "", allowed "", if |_| true;
        /// With drives = "striped": how many make the volume.
        stripe_drives: u64 = 2, unit "", allowed "2 to 64", if |n| (2..=DRIVES_MAX as u64).contains(n);
        /// With drives = "striped": what lies on a drive before the next one comes; 512 is the default of Linux's
        /// mdadm.
        stripe_kib: u64 = 512, unit "KiB", allowed "a power of two from 4 to 65536",
            if |kib| kib.is_power_of_two() && (4..=65_536).contains(kib);
        /// A plain LRU page cache: no read-ahead, no flusher, dirty pages are written when they are evicted.
        plain_lru: bool = false, unit "", allowed "", if |_| true;
        /// Time of a request that hits the page cache.
        page_cache_us: f64 = 2.0, unit "us", allowed "0.001 to 1e6", if |x| (0.001..=1e6).contains(x);
        /// Seed of the random sequences, in addition to the jobs' own (`randseed`).
        seed: u64 = 1, unit "", allowed "", if |_| true;
    }
}

impl Kind for FioSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        if self.jobs.as_os_str().is_empty() {
            return Err(WorkloadError::setting("jobs", "found nothing", "the path of a job file"));
        }
        Ok(())
    }

    /// Each job waits for its own requests.
    fn has_times(&self) -> bool {
        false
    }

    fn is_driven(&self) -> bool {
        true
    }

    fn page_cache(&self) -> Option<(f64, bool)> {
        (self.page_cache_mib > 0.0).then_some((self.page_cache_mib, self.plain_lru))
    }

    fn stripe(&self) -> Option<Stripe> {
        self.drives.stripe(self.stripe_drives, self.stripe_kib)
    }

    fn title(&self) -> String {
        name_of(&self.jobs)
    }

    fn reads(&self) -> Vec<OsString> {
        vec![self.jobs.clone().into()]
    }

    fn resolve_path(&mut self, directory: &Path) {
        self.jobs = path_in(directory, &self.jobs);
    }

    fn prepare(&self, _: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        let mut jobs = JobFile::load_with(&self.jobs, &self.options)?;
        if self.page_cache_mib > 0.0 {
            jobs.has_cache();
        }
        let as_one = jobs.clone();
        if self.drives == Drives::Each {
            jobs = jobs.on_drives_apart()?;
        }
        let drives = jobs.drives();
        if !drives.is_empty() && self.page_cache_mib > 0.0 {
            let found = format!("a page cache in front of {}", drives.join(", "));
            let allowed = "0 with several drives, or drives = \"together\"";
            return Err(WorkloadError::setting("page_cache_mib", found, allowed));
        }
        let space_sectors = jobs.space_sectors()?;
        Ok(Box::new(Understood { spec: self.clone(), hash: jobs.hash(), jobs, as_one, space_sectors }))
    }
}

/// Time of a request without a drive, where nothing says it and a job ends by time [A]; us.
const SERVICE_US: u64 = 100;

/// A job file that was read.
struct Understood {
    spec: FioSpec,
    jobs: JobFile,
    /// The same on one drive, for whom there is none at all.
    as_one: JobFile,
    hash: u64,
    space_sectors: Option<u64>,
}

impl Understood {
    /// Whether the time of a request is our assumption.
    fn is_assumed(&self) -> bool {
        self.spec.service_us == 0 && self.jobs.timed_job().is_some()
    }
}

impl Ready for Understood {
    fn space_sectors(&self) -> Option<u64> {
        self.space_sectors
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        let driven = self.as_one.open(drive_sectors, self.spec.seed)?;
        let service_us = if self.is_assumed() { SERVICE_US } else { self.spec.service_us };
        Ok(Box::new(Played::new(driven, service_us * 1000)))
    }

    fn report(&self) -> SourceReport {
        let mut notes = self.jobs.remarks().to_vec();
        if let Some(job) = self.jobs.timed_job().filter(|_| self.is_assumed()) {
            notes.push(Remark::note(format!(
                "job {job} ends by time, and without a drive each request takes {SERVICE_US} us (service_us)"
            )));
        }
        SourceReport { notes, ..SourceReport::default() }
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

    fn apart(&self) -> Apart {
        let drives = self.jobs.drives();
        if drives.is_empty() { Apart::No } else { Apart::Jobs(drives) }
    }

    fn demands(&self) -> Option<Vec<Vec<Demand>>> {
        Some(self.jobs.demands())
    }

    fn depth(&self) -> u64 {
        self.jobs.depth()
    }

    fn hit_ns(&self) -> u64 {
        (self.spec.page_cache_us * 1e3) as u64
    }

    fn timed_job(&self) -> Option<&str> {
        self.jobs.timed_job()
    }
}
