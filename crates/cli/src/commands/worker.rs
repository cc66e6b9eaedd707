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
    let mut command = program()?;
    command.args(line()?.last());
    Ok(command)
}

/// This program, to be given a command.
pub fn program() -> io::Result<Command> {
    let line = line()?;
    let mut command = Command::new(&line[0]);
    // The last word is the worker's command.
    command.args(&line[1..line.len() - 1]);
    Ok(command)
}

fn line() -> io::Result<&'static [OsString]> {
    let unknown = || io::Error::other("the program cannot find its own path");
    WORKER.get().map(Vec::as_slice).filter(|line| line.len() >= 2).ok_or_else(unknown)
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
        ServeError::NoThread(error) => Failure::work(error.to_string()),
        ServeError::Io(error) => error.into(),
    })
}
