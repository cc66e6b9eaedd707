//! A run that is fed.

use crate::callables::Callables;
use crate::data::Data;
use crate::errors;
use crate::feed::{self, End};
use crate::handle::{Handle, Slot};
use crate::measured::Measured;
use crate::message;
use crate::results::{Ended, Result};
use crate::running::PIECE;
use crate::table::Table;
use lab::files::FileLock;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};
use ssd::Completion;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// What a session asks of the object that its drive belongs to.
pub trait Fed: Send + Sync {
    /// The user's functions that the drive calls.
    fn callables(&self) -> &Callables;
    /// Where the drive ends.
    fn end(&self) -> End;
    /// Shows the object to the collector of cycles.
    fn visit(&self, visit: &PyVisit<'_>) -> std::result::Result<(), PyTraverseError>;
}

/// A run that is fed piece by piece: `feed`, `completions`, `feed` ... `finish`. However the requests are divided,
/// the result is that of one run with all of them. Its drive is busy until it is finished.
#[pyclass(module = "wordline", frozen)]
pub struct Session {
    inner: Mutex<Option<lab::Session>>,
    drive: Box<dyn Fed>,
    /// That of the drive.
    slot: Arc<Slot>,
    config: String,
    /// Arrival times were asked for.
    has_arrivals: bool,
    /// Whether there is something to measure.
    was_fed: AtomicBool,
    /// Of its request log, which no other run writes meanwhile.
    log: Mutex<Option<FileLock>>,
}

impl Drop for Session {
    /// A session that nobody has any more gives its drive back.
    fn drop(&mut self) {
        let session = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(session) = session {
            self.slot.give_back(Handle::used(session.end().1));
            Python::try_attach(|py| {
                // A warning that somebody has made an error of cannot be raised here.
                self.warn(py).unwrap_or_else(|error| error.write_unraisable(py, None));
            });
        }
    }
}

impl Session {
    pub(crate) fn new(
        session: lab::Session,
        (drive, slot): (Box<dyn Fed>, Arc<Slot>),
        config: String,
        (has_arrivals, log): (bool, Option<FileLock>),
    ) -> Self {
        let (inner, was_fed, log) = (Mutex::new(Some(session)), AtomicBool::default(), Mutex::new(log));
        Session { inner, drive, slot, config, has_arrivals, was_fed, log }
    }

    /// Refuses a first arrival where the session takes none, no arrivals where it takes some, and one in the past.
    fn check(&self, key: &str, first: Option<u64>) -> PyResult<()> {
        let mut session = self.lock()?;
        let session = session.as_mut().ok_or_else(finished)?;
        let (is_open, earliest) = (session.is_open(), session.earliest_ns());
        match first {
            Some(first) if !is_open && !self.has_arrivals => {
                let allowed = "no arrival times, or drive.session(arrivals=True)";
                Err(message::wrong(key, format!("{first}, in a session without them"), allowed))
            }
            Some(first) if first < earliest => Err(message::wrong(key, first, &session.from_when(earliest))),
            None if is_open => {
                let found = "none, in a session whose requests arrive at given times";
                Err(message::wrong("arrival_ns", found, &session.from_when(earliest)))
            }
            _ => Ok(()),
        }
    }

    /// The session; an error if another thread has it.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<lab::Session>>> {
        match self.inner.try_lock() {
            Ok(session) => Ok(session),
            Err(TryLockError::WouldBlock) => Err(errors::busy()),
            Err(TryLockError::Poisoned(session)) => Ok(session.into_inner()),
        }
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        of: impl FnOnce(&mut lab::Session) -> std::result::Result<T, lab::Failure> + Send,
    ) -> PyResult<T> {
        let mut session = self.lock()?;
        let session = session.as_mut().ok_or_else(finished)?;
        let done = py.detach(|| of(session));
        self.drive.callables().raise()?;
        done.map_err(|failure| self.drive.callables().explain(py, errors::of_failure(&failure)))
    }

    /// Warns that what was measured is lost, if there was anything.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        if !self.was_fed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let text = c"a session ended without finish(): what it measured is lost; result = session.finish(), before the \
                     end of its `with` block, keeps it";
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), text, 1)
    }
}

fn finished() -> PyErr {
    errors::WordlineError::new_err("the session is finished; start another with drive.session()")
}

#[pymethods]
impl Session {
    /// Requests to come, as columns of equal length: `lba` and `sectors` (512 bytes), `op` (names, or 0 read, 1
    /// write, 2 trim, 3 flush), and `arrival_ns` if requests arrive at given times.
    #[pyo3(signature = (requests=None, **columns))]
    fn feed(
        &self,
        py: Python<'_>,
        requests: Option<&Bound<'_, PyAny>>,
        columns: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let given = match requests {
            Some(requests) => feed::columns(requests)?.ok_or_else(|| {
                message::wrong(
                    "requests",
                    message::shown_with_kind(requests),
                    "a dict or a data frame of lba, sectors, op",
                )
            })?,
            None => columns.cloned().unwrap_or_else(|| PyDict::new(py)),
        };
        let (requests, has_times) = feed::requests(&given, self.drive.end())?;
        if let Some(first) = requests.first() {
            self.check("arrival_ns[0]", has_times.then_some(first.arrival_ns))?;
        }
        self.was_fed.fetch_or(!requests.is_empty(), Ordering::Relaxed);
        // Ctrl-C is heard between two pieces.
        for piece in requests.chunks(PIECE) {
            self.with(py, |session| session.feed(piece))?;
            if requests.len() > PIECE {
                py.check_signals()?;
            }
        }
        Ok(())
    }

    /// One request, from plain values, for when each request depends on the outcome of the last. `op` is a name or a
    /// number, as for `feed`.
    #[pyo3(signature = (op, lba, sectors, arrival_ns=None, fua=false))]
    fn submit(
        &self,
        py: Python<'_>,
        op: &Bound<'_, PyAny>,
        lba: &Bound<'_, PyAny>,
        sectors: &Bound<'_, PyAny>,
        arrival_ns: Option<&Bound<'_, PyAny>>,
        fua: bool,
    ) -> PyResult<()> {
        let request = feed::request(op, (lba, sectors), arrival_ns, fua, self.drive.end())?;
        self.check("arrival_ns", arrival_ns.map(|_| request.arrival_ns))?;
        self.was_fed.store(true, Ordering::Relaxed);
        self.with(py, |session| session.feed(&[request]))
    }

    /// Advances simulated time to this point, in ns since the session began; not back.
    fn advance_to(&self, py: Python<'_>, ns: &Bound<'_, PyAny>) -> PyResult<()> {
        let whole = "whole numbers of ns from 0, since the session began";
        let ns: u64 = ns.extract().map_err(|_| message::wrong("ns", message::shown_with_kind(ns), whole))?;
        let passed = self.lock()?.as_ref().ok_or_else(finished)?.passed_ns();
        if ns < passed {
            let allowed =
                format!("{passed} ns or later: the clock was advanced to there, and does not go back");
            return Err(message::wrong("ns", format!("{ns} ns"), &allowed));
        }
        self.with(py, |session| session.advance_to(ns))
    }

    /// What has completed since the last call, in order: a table with times in ns since the session began.
    fn completions(&self, py: Python<'_>) -> PyResult<Table> {
        let (done, start) = self.with(py, |session| {
            let start = session.drive().now().0 - session.now_ns();
            Ok((session.completions().collect::<Vec<Completion>>(), start))
        })?;
        let counts = |of: &dyn Fn(&Completion) -> u64| Data::Counts(done.iter().map(of).collect());
        let columns = vec![
            ("arrival_ns", counts(&|done| done.arrival.0.saturating_sub(start))),
            ("completion_ns", counts(&|done| done.completed.0.saturating_sub(start))),
            ("op", Data::of_names(done.iter().map(|done| done.op.name()).collect())),
            ("lba", counts(&|done| done.lba.0)),
            ("sectors", counts(&|done| done.sectors.into())),
            ("status", Data::of_names(done.iter().map(|done| done.status.name()).collect())),
            ("latency_ns", counts(&|done| done.completed.since(done.arrival))),
        ];
        Ok(Table::new("completions", columns))
    }

    /// Simulated time since the session began; ns.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| Ok(session.now_ns()))
    }

    /// Requests sent to the drive and not yet completed.
    #[getter]
    fn in_flight(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| Ok(session.in_flight()))
    }

    /// Serves all requests fed so far, and returns what was measured. The drive is free again.
    fn finish(&self, py: Python<'_>) -> PyResult<Result> {
        let session = self.lock()?.take().ok_or_else(finished)?;
        let (result, drive) = py.detach(|| session.end());
        self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
        let blocks = lab::BlockTable::of(&drive);
        self.slot.give_back(Handle::used(drive));
        let callables = self.drive.callables();
        let raised = callables.raise().err();
        // What went wrong with cached drives was said when it began.
        let measured = Measured { result, blocks, config: self.config.clone(), remarks: Vec::new() };
        let ended = Ended { measured, raised };
        ended.told(py).map_err(|error| callables.explain(py, error))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Gives the drive back if `finish` was not called; what was measured is gone then, and a warning says so.
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Py<PyAny>,
        _error: Py<PyAny>,
        _trace: Py<PyAny>,
    ) -> PyResult<()> {
        if let Ok(mut session) = self.inner.try_lock()
            && let Some(session) = session.take()
        {
            let (_, drive) = py.detach(|| session.end());
            self.log.lock().unwrap_or_else(PoisonError::into_inner).take();
            self.slot.give_back(Handle::used(drive));
            if kind.is_none(py) {
                self.warn(py)?;
            }
        }
        self.drive.callables().raise()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        self.drive.visit(&visit)
    }
}
