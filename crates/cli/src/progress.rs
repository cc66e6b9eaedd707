//! How far long work has come, on the terminal; nothing at all if nobody looks.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::Phase;
use workload::{Prepared, Spec, WorkloadError};

/// A bar on standard error, if that is a terminal.
pub struct Progress {
    bar: ProgressBar,
    phase: Cell<Option<Phase>>,
}

impl Progress {
    /// A bar that shows nothing yet; with `quiet`, or without a terminal, it never will.
    pub fn new(quiet: bool) -> Self {
        let is_shown = !quiet && std::io::stderr().is_terminal();
        // The library honours NO_COLOR; a terminal that cannot move its cursor gets nothing.
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if is_shown {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Progress { bar, phase: Cell::new(None) }
    }

    /// Begins a piece of work of so many steps; 0 if that is not known.
    pub fn begin(&self, what: &str, total: u64) {
        let template = if total > 0 {
            "{msg:<14} {wide_bar} {percent:>3} %  {elapsed} (left {eta})"
        } else {
            "{msg:<14} {spinner} {human_pos}  {elapsed}"
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        self.bar.set_style(style);
        self.bar.set_length(total);
        self.bar.set_position(0);
        self.bar.reset_elapsed();
        self.bar.set_message(what.to_owned());
    }

    /// So much of it is done.
    pub fn at(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// How far an experiment is.
    pub fn phase(&self, at: lab::Progress) {
        if self.phase.replace(Some(at.phase)) != Some(at.phase) {
            self.begin(at.phase.name(), at.total.unwrap_or(0));
        }
        self.at(at.done);
    }

    /// A line on standard error, above the bar.
    pub fn print(&self, line: &str) {
        // Standard error may be closed: then there is nobody to tell.
        self.bar.suspend(|| _ = writeln!(std::io::stderr(), "{line}"));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Reads a workload through, showing how far it is.
    pub fn survey(&self, spec: &Spec) -> Result<Prepared, WorkloadError> {
        let mut begun = false;
        spec.prepare_with(&mut |progress| {
            if !begun {
                self.begin("reading trace", progress.total);
                begun = true;
            }
            self.at(progress.done);
        })
    }
}
