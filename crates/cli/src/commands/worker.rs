//! `wordline worker`: carries out runs of a sweep for another process of this program, an order a line.

use std::io::{self, BufRead, Write};

use lab::sweep::{Done, Order, Worker};
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
        let answer = match worker.run(&order, &interrupt.stop) {
            // It is not done, and has no answer.
            Done::Stopped => return Ok(()),
            Done::Undone(why) => json!({ "undone": why }),
            Done::Kept(outcome) => {
                let trouble = outcome.write(&order.file).err().map(|error| error.to_string());
                json!({ "trouble": trouble, "failure": outcome.failure })
            }
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
