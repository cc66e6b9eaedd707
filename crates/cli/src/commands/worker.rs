//! `wordline worker`: carries out runs for another process of this program, an order a line.

use std::io::{self, Write};
use std::process::Command;

use lab::workers::{ServeError, serve};

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// A process that is one.
pub fn process() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("worker");
    Ok(command)
}

/// So many at a time: as many as there are cores, if nobody says.
pub fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Reads orders from standard input until that ends, and answers each by a line when its file is written.
pub fn run(out: &mut dyn Write) -> Result<(), Failure> {
    let interrupt = Interrupt::listen();
    serve(io::stdin().lock(), out, &interrupt.stop).map_err(|error| match error {
        ServeError::NoOrder(what) => {
            Failure::usage(format!("wordline worker is for wordline sweep and wordline reproduce: {what}"))
        }
        ServeError::Io(error) => error.into(),
    })
}
