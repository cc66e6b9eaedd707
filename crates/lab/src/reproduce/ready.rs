//! A workload that a study runs: its settings for a seed, and again from the start when it is over.

use super::experiment::{Experiment, From, Workload};
use super::{Options, PaperError};
use workload::{FilesAtStart, MemberNames, Prepared, Request, Source, SourceReport, Spec, WorkloadError};

/// A workload that was looked through, with its settings.
pub(super) struct Ready {
    pub spec: Spec,
    pub prepared: Prepared,
}

/// The number of a workload in an experiment. Where there are more seeds, those with the second follow all with the
/// first, and so on.
pub(super) fn number(experiment: &Experiment, name: &str) -> usize {
    experiment.workloads.iter().position(|workload| workload.name == name).unwrap_or(usize::MAX)
}

/// Opens a workload's settings for a seed; `None` if its trace is in none of the folders.
pub(super) fn ready(workload: &Workload, options: &Options, seed: u64) -> Result<Option<Ready>, PaperError> {
    let about = |error: WorkloadError| PaperError::Workload { name: workload.name.clone(), error };
    let mut spec = match &workload.from {
        From::Spec(spec) => (**spec).clone(),
        From::Trace(name) => {
            let found = options.traces.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
            let Some(path) = found else { return Ok(None) };
            Spec::trace(path)
        }
    };
    spec.set_seed(seed).map_err(about)?;
    for text in workload.set.iter().chain(workload.quick_set.iter().filter(|_| options.quick)) {
        let Some((key, value)) = text.split_once('=') else { continue };
        spec.set(key.trim(), value.trim()).map_err(about)?;
    }
    let prepared = spec.prepare().map_err(about)?;
    Ok(Some(Ready { spec, prepared }))
}

/// A workload that begins again when it is over: as often as its study says, or until it has given as many requests as
/// the run asks for.
pub(super) struct Again<'a> {
    ready: &'a Ready,
    inner: Box<dyn Source>,
    sectors: u64,
    /// Time at which this pass began.
    offset_ns: u64,
    last_ns: u64,
    /// This pass has given something.
    any: bool,
    /// Passes left, this one included.
    passes: u64,
}

impl<'a> Again<'a> {
    pub(super) fn new(ready: &'a Ready, inner: Box<dyn Source>, sectors: u64, passes: u64) -> Self {
        Again { ready, inner, sectors, offset_ns: 0, last_ns: 0, any: false, passes }
    }
}

impl Source for Again<'_> {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        loop {
            if let Some(mut request) = self.inner.next()? {
                request.arrival_ns = request.arrival_ns.saturating_add(self.offset_ns);
                (self.last_ns, self.any) = (request.arrival_ns, true);
                return Ok(Some(request));
            }
            if !self.any || self.passes <= 1 {
                return Ok(None);
            }
            self.passes -= 1;
            self.inner = self.ready.prepared.open(self.sectors)?;
            (self.offset_ns, self.any) = (self.last_ns, false);
        }
    }

    fn len_hint(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        self.inner.report()
    }

    fn members(&self) -> MemberNames {
        self.inner.members()
    }

    fn member(&self) -> u16 {
        self.inner.member()
    }

    fn files_at_start(&self) -> FilesAtStart {
        self.inner.files_at_start()
    }
}
