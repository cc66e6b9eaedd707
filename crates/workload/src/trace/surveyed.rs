//! A trace that was read through once, as a workload.

use crate::base::error::WorkloadError;
use crate::base::footprint::Footprint;
use crate::base::input::bytes::Progress;
use crate::base::input::spool::STANDARD_INPUT;
use crate::base::report::SourceReport;
use crate::base::request::Source;
use crate::base::shape::Devices;
use crate::reader::format_to_read;
use crate::stack::drives::{Apart, DRIVES_MAX, Drives, names_of};
use crate::stack::kind::{Kind, Ready, name_of, path_in};
use crate::stack::map_hints::MapHints;
use crate::stack::priorities::PriorityShares;
use crate::stack::replay::copies;
use crate::stack::stripe::Stripe;
use crate::trace::spec::TraceSpec;
use crate::trace::survey::{Survey, TraceSource};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

impl Kind for TraceSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        if self.path.as_os_str().is_empty() {
            return Err(WorkloadError::setting("path", "found nothing", "the path of a trace"));
        }
        if self.to_s > 0.0 && self.to_s <= self.from_s {
            let allowed = format!("after from_s, which is {:?}, or 0 for the end", self.from_s);
            return Err(WorkloadError::setting("to_s", format!("found {:?}", self.to_s), allowed));
        }
        if self.end_sector > 0 && self.end_sector <= self.from_sector {
            let allowed = format!("above from_sector, which is {}, or 0 for the end", self.from_sector);
            return Err(WorkloadError::setting("end_sector", format!("found {}", self.end_sector), allowed));
        }
        if self.drives == Drives::Each && self.devices == Devices::Merge {
            let found = "\"each\" beside devices = \"merge\", which makes one device of all";
            return Err(WorkloadError::setting("drives", found, "\"together\", or other devices"));
        }
        format_to_read(&self.format, &self.read_options()).map(|_| ())
    }

    fn has_times(&self) -> bool {
        self.columns.is_empty() || self.columns.has_times()
    }

    fn reads(&self) -> Vec<OsString> {
        vec![self.path.clone().into()]
    }

    fn page_cache(&self) -> Option<(f64, bool)> {
        (self.page_cache_mib > 0.0).then_some((self.page_cache_mib, self.plain_lru))
    }

    fn stripe(&self) -> Option<Stripe> {
        self.drives.stripe(self.stripe_drives, self.stripe_kib)
    }

    fn map_hints(&self) -> MapHints {
        self.map_hints.clone()
    }

    fn priorities(&self) -> (PriorityShares, u64) {
        (self.priority_shares, self.seed)
    }

    fn title(&self) -> String {
        if self.path.as_os_str() == STANDARD_INPUT { "stdin".to_string() } else { name_of(&self.path) }
    }

    fn resolve_path(&mut self, directory: &Path) {
        if self.path.as_os_str() != STANDARD_INPUT {
            self.path = path_in(directory, &self.path);
        }
    }

    fn prepare(&self, progress: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        let survey = Survey::run(self, progress)?;
        let drives = if self.drives == Drives::Each { survey.devices.len() } else { 1 };
        if drives > DRIVES_MAX {
            let found = format!("\"each\", and requests of {drives} devices");
            let allowed =
                format!("\"each\" of up to {DRIVES_MAX} devices (--device chooses), or \"together\"");
            return Err(WorkloadError::setting("drives", found, allowed));
        }
        Ok(Box::new(Surveyed::new(self.clone(), survey)))
    }
}

/// A trace that was read through once.
pub(crate) struct Surveyed {
    spec: TraceSpec,
    survey: Arc<Survey>,
}

impl Surveyed {
    pub(crate) fn new(spec: TraceSpec, survey: Survey) -> Self {
        Surveyed { spec, survey: Arc::new(survey) }
    }
}

impl Ready for Surveyed {
    fn space_sectors(&self) -> Option<u64> {
        Some(self.survey.space_sectors(&self.spec))
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(TraceSource::open(&self.spec, &self.survey, drive_sectors)?))
    }

    fn footprint(&self, _: u64) -> Result<Footprint, WorkloadError> {
        Ok(self.survey.footprint)
    }

    fn report(&self) -> SourceReport {
        self.survey.report.clone()
    }

    fn content(&self) -> Option<(u64, &'static [&'static str])> {
        const IN_REQUESTS: &[&str] = &[
            "path",
            "format",
            "time_unit",
            "address_unit",
            "event",
            "columns",
            "separator",
            "header",
            "on_bad_line",
            "on_time_step_back",
            "process",
            "operations",
            "from_sector",
            "end_sector",
            "from_s",
            "to_s",
            "skip",
            "first",
        ];
        Some((self.survey.hash, IN_REQUESTS))
    }

    fn apart(&self) -> Apart {
        let devices = &self.survey.devices;
        if self.spec.drives == Drives::Together || devices.len() < 2 {
            return Apart::No;
        }
        let known = devices.iter().map(|device| self.survey.report.device(*device));
        let (numbers, names): (Vec<u64>, Vec<String>) = known.unzip();
        Apart::Devices(names_of(&names).into_iter().zip(numbers).collect())
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        copies(self.spec.copies, self.spec.seed, || self.once(drive_sectors))
    }
}
