//! Long work without the interpreter's lock: other threads of Python go on, Ctrl-C ends it, and how far it is is shown.

use crate::progress::{At, Shown};
use lab::{Progress, Stop, no_thread};
use pyo3::prelude::*;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at whether a signal has come.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Between two times that somebody is told how far it is.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Does it in a thread of its own, and waits. A signal whose handler raises asks it to stop; that exception is raised
/// once it has.
pub fn work<T: Send>(py: Python<'_>, stop: &Stop, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    match watched(py, stop, &Shown::default(), |_| work())? {
        (_, Some(error)) => Err(error),
        (done, None) => Ok(done),
    }
}

/// The same for work that tells how far it is; what was raised comes back beside what was done until then.
pub fn watched<T: Send>(
    py: Python<'_>,
    stop: &Stop,
    shown: &Shown,
    work: impl FnOnce(&mut dyn FnMut(Progress)) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let at: Mutex<Option<At>> = Mutex::default();
    let tell = || match *at.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(at) => Python::attach(|py| shown.tell(py, at)),
        None => Ok(()),
    };
    let done = py.detach(|| -> io::Result<_> {
        thread::scope(|scope| {
            let (ends, hears) = channel::<()>();
            let at = &at;
            let working = move || {
                // Nothing is sent: whatever becomes of it, who waits hears that the sender is gone.
                let _ends = ends;
                work(&mut |now: Progress| {
                    let now = (now.phase.name(), now.done, now.total);
                    *at.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
                })
            };
            let worker = thread::Builder::new().spawn_scoped(scope, working).map_err(no_thread)?;
            let (mut raised, mut told) = (None, Instant::now());
            while let Err(RecvTimeoutError::Timeout) = hears.recv_timeout(LOOK_EVERY) {
                if raised.is_some() {
                    continue;
                }
                let mut checked = Python::attach(|py| py.check_signals());
                if checked.is_ok() && told.elapsed() >= TELL_EVERY {
                    told = Instant::now();
                    checked = tell();
                }
                if let Err(error) = checked {
                    stop.ask();
                    raised = Some(error);
                }
            }
            Ok((worker.join(), raised))
        })
    });
    shown.end(py);
    match done? {
        (Ok(done), raised) => Ok((done, raised)),
        (Err(_), Some(error)) => Err(error),
        (Err(panic), None) => resume_unwind(panic),
    }
}
