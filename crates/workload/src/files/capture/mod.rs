//! Captures: what a program did to files, call by call, with the call stack of each (`wordline capture`).
//!
//! `file.rs` is how they are kept.

mod calls;
mod file;

#[cfg(test)]
mod tests;

pub use calls::{Capture, CapturedFile, Event, Manner, Module, Op, Process, Stack, Totals, fold};
pub use file::{MAGIC, Writer, is_capture};
