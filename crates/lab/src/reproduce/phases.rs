//! A workload of phases, served one after the other, so that each can be measured for itself.

use crate::plan::spec::{LoopMode, RunSpec};
use ssd::Executor;
use workload::{FilesAtStart, Request, Source, SourceReport, WorkloadError};

/// How a phase is served that is not measured: without time, as a warm-up is.
pub(super) fn unmeasured(spec: &RunSpec) -> RunSpec {
    RunSpec { executor: Executor::Functional, loop_mode: LoopMode::Closed { depth: 1 }, ..spec.clone() }
}

/// A source that ends with each phase of the one behind it, and is made to go on.
pub(super) struct InPhases<'a, S: ?Sized> {
    inner: &'a mut S,
    names: Vec<String>,
    /// The next request, of whichever phase.
    ahead: Option<Request>,
    /// The phase that runs.
    at: u16,
    /// The time at which it began.
    start_ns: u64,
    /// Nothing comes behind what is ahead.
    is_over: bool,
}

impl<'a, S: Source + ?Sized> InPhases<'a, S> {
    pub fn new(inner: &'a mut S) -> Self {
        let names = inner.members().names;
        InPhases { inner, names, ahead: None, at: 0, start_ns: 0, is_over: false }
    }

    /// Goes on to the next phase that has requests, if the present one is over; its name, or `None` at the end.
    pub fn begin_next(&mut self) -> Result<Option<String>, WorkloadError> {
        if self.ahead.is_none() {
            self.read()?;
        }
        let Some(request) = self.ahead else { return Ok(None) };
        (self.at, self.start_ns) = (self.inner.member(), request.arrival_ns);
        Ok(self.names.get(usize::from(self.at)).cloned())
    }

    fn read(&mut self) -> Result<(), WorkloadError> {
        if !self.is_over {
            self.ahead = self.inner.next()?;
            self.is_over = self.ahead.is_none();
        }
        Ok(())
    }
}

impl<S: Source + ?Sized> Source for InPhases<'_, S> {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        // What is ahead was the last that the inner source gave: its phase is the one that runs, or the next.
        if self.ahead.is_some() && self.inner.member() != self.at {
            return Ok(None);
        }
        let Some(mut request) = self.ahead.take() else { return Ok(None) };
        self.read()?;
        request.arrival_ns -= self.start_ns;
        Ok(Some(request))
    }

    fn len_hint(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        self.inner.report()
    }

    fn files_at_start(&self) -> FilesAtStart {
        // Phases before this one have changed what there was.
        FilesAtStart { held: Vec::new(), ..self.inner.files_at_start() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Spec;

    /// Phases of 3, 0, 2 and 1 requests, by times: each of them begins at 0, and the empty one is not there.
    #[test]
    fn each_phase_is_a_source_of_its_own() {
        let phase = |name: &str, count: u64, percent: u64| {
            format!(
                "[[phases]]\nname = '{name}'\npattern = 'sequential'\ncount = {count}\nread_percent = {percent}\n\
                 arrival = 'fixed'\nrate_iops = 1000\n"
            )
        };
        let empty = phase("empty", 1, 100) + "until_s = 1e-12\n";
        let text = phase("one", 3, 0) + &empty + &phase("two", 2, 100) + &phase("three", 1, 0);
        let mut source = Spec::parse(&text).and_then(|spec| spec.open(1 << 20)).expect("a workload");
        let mut phases = InPhases::new(&mut *source);
        let mut seen = Vec::new();
        while let Some(name) = phases.begin_next().expect("no error") {
            let requests = std::iter::from_fn(|| phases.next().expect("no error"));
            let told: Vec<(u64, u64)> = requests.map(|r| (r.arrival_ns / 1000, r.lba / 8)).collect();
            seen.push((name, told));
        }
        let one = |name: &str, told: &[(u64, u64)]| (name.to_owned(), told.to_vec());
        let expected = [
            one("one", &[(0, 0), (1000, 1), (2000, 2)]),
            one("two", &[(0, 0), (1000, 1)]),
            one("three", &[(0, 0)]),
        ];
        assert_eq!(seen, expected);
        assert!(matches!(phases.begin_next(), Ok(None)));
    }
}
