//! A trace that was read through once, as a workload.

use crate::base::error::WorkloadError;
use crate::base::footprint::Footprint;
use crate::base::report::SourceReport;
use crate::base::request::Source;
use crate::base::shape::{Devices, Drives};
use crate::spec::kinds::{Spec, TraceSpec};
use crate::stack::kind::{Ready, copies};
use crate::stack::split::{Split, names_of};
use crate::trace::survey::{Survey, TraceSource};
use std::sync::Arc;

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

    fn split(&self) -> Split {
        let devices = &self.survey.devices;
        if self.spec.drives == Drives::Together || devices.len() < 2 {
            return Split::Whole;
        }
        let known = devices.iter().map(|device| self.survey.report.device(*device));
        let (numbers, names): (Vec<u64>, Vec<String>) = known.unzip();
        let part = |number: u64| {
            let (devices, drives) = (Devices::Only(vec![number]), Drives::Together);
            Spec::Trace(TraceSpec { devices, drives, ..self.spec.clone() })
        };
        Split::Parts(names_of(&names).into_iter().zip(numbers.into_iter().map(part)).collect())
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        copies(self.spec.copies, self.spec.seed, || self.once(drive_sectors))
    }
}
