//! `wordline worker`: carries out runs for another process of this program, an order a line.

use std::ffi::OsString;
use std::io::{self, BufReader, Write};
use std::process::Command;
use std::sync::OnceLock;

use lab::workers::{ServeError, serve};

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// The command line of a worker.
static WORKER: OnceLock<Vec<OsString>> = OnceLock::new();

/// Workers are started so from now on; what was said first holds.
pub fn is_started_as(line: &[OsString]) {
    WORKER.get_or_init(|| line.to_vec());
}

/// A process that is one.
pub fn process() -> io::Result<Command> {
    let unknown = || io::Error::other("the program cannot find its own path");
    let (program, args) = WORKER.get().and_then(|line| line.split_first()).ok_or_else(unknown)?;
    let mut command = Command::new(program);
    command.args(args);
    Ok(command)
}

/// So many at a time: as many as there are cores, if nobody says.
pub fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Reads orders from standard input until that ends, and answers each by a line when its file is written.
pub fn run(out: &mut dyn Write) -> Result<(), Failure> {
    let interrupt = Interrupt::listen();
    serve(BufReader::new(io::stdin()), out, &interrupt.stop).map_err(|error| match error {
        ServeError::NoOrder(what) => {
            Failure::usage(format!("wordline worker is for wordline sweep and wordline reproduce: {what}"))
        }
        ServeError::Io(error) => error.into(),
    })
}
