//! Long work without the interpreter's lock: other threads of Python go on, and Ctrl-C ends it.

use lab::{Stop, no_thread};
use pyo3::prelude::*;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Between two looks at whether a signal has come.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Does it in a thread of its own, and waits. A signal whose handler raises asks it to stop; that exception is raised
/// once it has.
pub fn work<T: Send>(py: Python<'_>, stop: &Stop, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (done, raised) = py.detach(|| -> io::Result<_> {
        thread::scope(|scope| {
            let (ends, hears) = channel::<()>();
            let working = move || {
                // Nothing is sent: whatever becomes of it, who waits hears that the sender is gone.
                let _ends = ends;
                work()
            };
            let worker = thread::Builder::new().spawn_scoped(scope, working).map_err(no_thread)?;
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = hears.recv_timeout(LOOK_EVERY) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    stop.ask();
                    raised = Some(error);
                }
            }
            Ok((worker.join(), raised))
        })
    })?;
    match (done, raised) {
        (_, Some(error)) => Err(error),
        (Ok(done), None) => Ok(done),
        (Err(panic), None) => resume_unwind(panic),
    }
}
