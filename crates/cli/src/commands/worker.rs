//! `wordline worker`: carries out runs of a sweep for another process of this program, an order a line.

use std::io::{self, BufRead, Write};

use lab::sweep::{Order, Worker};
use serde_json::json;

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Reads orders from standard input until that ends, and answers each by a line when its file is written: what went
/// wrong with that, or nothing.
pub fn run(out: &mut dyn Write) -> Result<(), Failure> {
    let interrupt = Interrupt::listen();
    let mut worker = Worker::default();
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::work(format!("standard input: {error}")))?;
        let order: Order = serde_json::from_str(&line).map_err(|error| {
            Failure::usage(format!("wordline worker is for wordline sweep: {error}\n    found:   {line:?}"))
        })?;
        // A run that was told to end is not done, and has no answer.
        let Some(outcome) = worker.run(&order, &interrupt.stop) else { return Ok(()) };
        let trouble = outcome.write(&order.file).err().map(|error| error.to_string());
        writeln!(out, "{}", json!({ "trouble": trouble, "failure": outcome.failure }))?;
        out.flush()?;
    }
    Ok(())
}
