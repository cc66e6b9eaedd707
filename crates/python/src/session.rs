//! A run that is fed.

use crate::data::Data;
use crate::errors;
use crate::feed;
use crate::handle::{Handle, Slot};
use crate::results::{Result, told};
use crate::table::Table;
use lab::files::FileLock;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssd::Completion;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// A run that is fed piece by piece: `feed`, `completions`, `feed` ... `finish`. However the requests are divided,
/// the result is that of one run with all of them. Its drive is busy until it is finished.
#[pyclass(module = "wordline", frozen)]
pub struct Session {
    inner: Mutex<Option<lab::Session>>,
    slot: Arc<Slot>,
    config: String,
    /// When the last request arrives that was fed; ns.
    last_ns: Mutex<u64>,
    /// Of its request log, which no other run writes meanwhile.
    lock: Mutex<Option<FileLock>>,
}

/// Requests that are fed at once: some ms of work.
const PIECE: usize = 1 << 13;

impl Drop for Session {
    /// A session that nobody has any more gives its drive back.
    fn drop(&mut self) {
        let session = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(session) = session {
            self.slot.give_back(Handle::used(session.end().1));
        }
    }
}

impl Session {
    pub(crate) fn new(
        session: lab::Session,
        slot: Arc<Slot>,
        config: String,
        lock: Option<FileLock>,
    ) -> Self {
        Session {
            inner: Mutex::new(Some(session)),
            slot,
            config,
            last_ns: Mutex::new(0),
            lock: Mutex::new(lock),
        }
    }

    /// Refuses arrivals that begin before the last one that was fed; those of a later call begin at its last.
    fn passes(&self, key: &str, (first, last): (u64, u64)) -> PyResult<()> {
        let mut before = self.last_ns.lock().unwrap_or_else(PoisonError::into_inner);
        if first < *before {
            let allowed = format!("{} or later, like the requests fed before", *before);
            return Err(feed::wrong(key, first, &allowed));
        }
        *before = last;
        Ok(())
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        of: impl FnOnce(&mut lab::Session) -> std::result::Result<T, lab::Failure> + Send,
    ) -> PyResult<T> {
        let mut session = match self.inner.try_lock() {
            Ok(session) => session,
            Err(TryLockError::WouldBlock) => return Err(errors::busy()),
            Err(TryLockError::Poisoned(session)) => session.into_inner(),
        };
        let session = session.as_mut().ok_or_else(finished)?;
        py.detach(|| of(session)).map_err(|failure| errors::of_failure(&failure))
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
        requests: Option<&Bound<'_, PyDict>>,
        columns: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let none = PyDict::new(py);
        let (requests, has_times) = feed::requests(requests.or(columns).unwrap_or(&none))?;
        if has_times && let (Some(first), Some(last)) = (requests.first(), requests.last()) {
            self.passes("arrival_ns[0]", (first.arrival_ns, last.arrival_ns))?;
        }
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
        lba: u64,
        sectors: u64,
        arrival_ns: Option<u64>,
        fua: bool,
    ) -> PyResult<()> {
        let request = feed::request(op, (lba, sectors), arrival_ns.unwrap_or(0), fua)?;
        if let Some(ns) = arrival_ns {
            self.passes("arrival_ns", (ns, ns))?;
        }
        self.with(py, |session| session.feed(&[request]))
    }

    /// Advances simulated time to this point, in ns since the session began.
    fn advance_to(&self, py: Python<'_>, ns: u64) -> PyResult<()> {
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
        let session = match self.inner.try_lock() {
            Ok(mut session) => session.take().ok_or_else(finished)?,
            Err(TryLockError::WouldBlock) => return Err(errors::busy()),
            Err(TryLockError::Poisoned(session)) => session.into_inner().take().ok_or_else(finished)?,
        };
        let (result, drive) = py.detach(|| session.end());
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        let blocks = lab::BlockTable::of(&drive);
        self.slot.give_back(Handle::used(drive));
        told(py, result, blocks, &self.config)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Gives the drive back if `finish` was not called; what was measured is gone then.
    fn __exit__(&self, py: Python<'_>, _kind: Py<PyAny>, _error: Py<PyAny>, _trace: Py<PyAny>) {
        if let Ok(mut session) = self.inner.try_lock()
            && let Some(session) = session.take()
        {
            let (_, drive) = py.detach(|| session.end());
            self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
            self.slot.give_back(Handle::used(drive));
        }
    }
}
