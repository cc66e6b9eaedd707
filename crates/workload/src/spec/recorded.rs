//! A workload's requests with their devices and addresses as they were recorded: what is looked into and converted,
//! while a drive gets them placed on itself. Read once, in constant memory.

use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::remark::Remark;
use crate::base::report::SourceReport;
use crate::base::request::{Record, Source};
use crate::spec::kinds::Spec;
use crate::trace::select::Selected;
use crate::trace::spec::TraceSpec;

/// A stream of recorded requests: those of a trace that are asked for, or all of a generator.
pub struct Recorded(Kind);

enum Kind {
    Trace(Box<Asked>),
    /// With what was to be said of the workload before it was opened.
    Made(Box<dyn Source>, Vec<Remark>),
}

/// What is asked for of a trace, and how many requests that were so far.
struct Asked {
    spec: TraceSpec,
    selected: Selected,
    requests: u64,
}

impl Recorded {
    /// Opens a workload. A trace is read as it is, neither repeated nor sped up nor placed on a drive; what is
    /// generated is generated for its own space, or `drive_sectors` if it fills whatever drive there is.
    pub fn open(spec: &Spec, drive_sectors: u64) -> Result<Self, WorkloadError> {
        spec.check()?;
        if let Spec::Trace(spec) = spec {
            let selected = Selected::open(spec)?;
            let asked = Asked { spec: spec.clone(), selected, requests: 0 };
            return Ok(Recorded(Kind::Trace(Box::new(asked))));
        }
        let prepared = spec.prepare()?;
        let space = prepared.space_sectors().unwrap_or(drive_sectors);
        Ok(Recorded(Kind::Made(prepared.open(space)?, prepared.report().notes)))
    }

    /// The next request; `None` after the last one. A trace of which nothing is asked for is an error.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, WorkloadError> {
        match &mut self.0 {
            Kind::Trace(asked) => match asked.selected.next()? {
                Some(record) => {
                    asked.requests += 1;
                    Ok(Some(record))
                }
                None if asked.requests == 0 => Err(asked.selected.nothing(&asked.spec)),
                None => Ok(None),
            },
            Kind::Made(source, _) => Ok(source.next()?.map(|request| Record { request, device: 0 })),
        }
    }

    /// What was read so far, and what had to be done to it; empty for what is generated.
    pub fn report(&self) -> SourceReport {
        match &self.0 {
            Kind::Trace(asked) => asked.selected.report(),
            Kind::Made(source, notes) => {
                let mut report = source.report();
                report.notes.retain(|note| !notes.contains(note));
                report.notes.splice(..0, notes.iter().cloned());
                report
            }
        }
    }

    /// How far a trace's file is read; nothing of nothing for what is generated.
    pub fn progress(&self) -> Progress {
        match &self.0 {
            Kind::Trace(asked) => asked.selected.progress(),
            Kind::Made(..) => Progress::default(),
        }
    }
}
