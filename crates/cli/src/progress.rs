//! How far long work has come: a bar on a terminal, a line now and then where standard error goes elsewhere.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::{Phase, SoFar};
use workload::{Prepared, STANDARD_INPUT, Spec, WorkloadError};

use crate::terminal;
use crate::text::{bytes, time};

/// Between two lines where there is no terminal. Work that takes less has none.
pub const LINE_EVERY: Duration = Duration::from_secs(10);

/// Between two looks at what a run's series tell.
const WATCH_EVERY: Duration = Duration::from_millis(500);

/// A bar on standard error, if that is a terminal, or lines.
pub struct Progress {
    bar: ProgressBar,
    phase: Cell<Option<Phase>>,
    lines: Option<Lines>,
    quiet: bool,
    /// Shows also what the run's series tell; when it has last done so.
    watched: Option<Cell<Option<Instant>>>,
}

/// Lines instead of a bar.
struct Lines {
    begun: Cell<Instant>,
    told: Cell<Instant>,
}

impl Progress {
    /// A bar that shows nothing yet; with `quiet` it never will, and without a terminal there are lines.
    pub fn new(quiet: bool) -> Self {
        let is_shown = !quiet && std::io::stderr().is_terminal();
        // The library honours NO_COLOR; a terminal that cannot move its cursor gets nothing.
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if is_shown {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        let now = Cell::new(Instant::now());
        let lines = (!quiet && !is_shown).then(|| Lines { begun: now.clone(), told: now });
        Progress { bar, phase: Cell::new(None), lines, quiet, watched: None }
    }

    /// The same that also shows what the run's series tell.
    pub fn watching(self, watches: bool) -> Self {
        Progress { watched: watches.then(Cell::default), ..self }
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
        if let Some(lines) = &self.lines {
            lines.begun.set(Instant::now());
        }
    }

    /// The next step of work whose steps have names.
    pub fn step(&self, what: &str, number: u64) {
        self.bar.set_message(what.to_owned());
        self.at(number);
    }

    /// So much of it is done.
    pub fn at(&self, done: u64) {
        self.bar.set_position(done);
        if let Some(lines) = &self.lines
            && lines.told.get().elapsed() >= LINE_EVERY
        {
            lines.told.set(Instant::now());
            let text = line(&self.bar.message(), done, self.bar.length(), lines.begun.get().elapsed());
            self.print(&text);
        }
    }

    /// How far an experiment is.
    pub fn phase(&self, at: lab::Progress) {
        if self.phase.replace(Some(at.phase)) != Some(at.phase) {
            self.begin(at.phase.name(), at.total.unwrap_or(0));
        } else if let Some(total) = at.total {
            // Nobody knows beforehand how long a drive takes to become steady.
            self.bar.set_length(total);
        }
        self.at(at.done);
        if let (Some(told), Some(so_far)) = (&self.watched, at.so_far)
            && told.get().is_none_or(|told| told.elapsed() >= WATCH_EVERY)
        {
            told.set(Some(Instant::now()));
            self.show(at.simulated_ns, so_far);
        }
    }

    /// What the run's series tell: below the bar, or as lines.
    fn show(&self, simulated_ns: u64, so_far: SoFar<'_>) {
        let rows = format!("{} simulated\n{}", time(simulated_ns), so_far.rows());
        if self.lines.is_some() {
            self.print(rows.trim_end());
        } else {
            let style = ProgressStyle::with_template(
                "{prefix:<14} {wide_bar} {percent:>3} %  {elapsed} (left {eta})\n{msg}",
            );
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.set_prefix(Phase::Running.name());
            self.bar.set_message(terminal::plain(rows.trim_end()).into_owned());
        }
    }

    /// A line on standard error, above the bar.
    pub fn print(&self, line: &str) {
        self.bar.suspend(|| terminal::tell(line));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Keeps standard input where a trace comes from it.
    pub fn keep_standard_input(&self, spec: &Spec) -> Result<(), WorkloadError> {
        if let Spec::Trace(trace) = spec
            && trace.path.as_os_str() == STANDARD_INPUT
        {
            let size = bytes(workload::keep_standard_input()?);
            if !self.quiet {
                self.print(&format!("standard input: {size} copied to a temporary file"));
            }
        }
        Ok(())
    }

    /// Reads a workload through, showing how far it is.
    pub fn survey(&self, spec: &Spec) -> Result<Prepared, WorkloadError> {
        self.keep_standard_input(spec)?;
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

/// What is being done, how far it is, for how long, and how long it will be at this rate.
fn line(what: &str, done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    match total.filter(|&total| total > 0 && done > 0) {
        Some(total) => {
            let share = (done as f64 / total as f64).min(1.0);
            let left = seconds * (1.0 - share) / share;
            format!("{what}: {:.0} % in {seconds:.0} s, about {left:.0} s left", 100.0 * share)
        }
        None => format!("{what}: {done} in {seconds:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_is_left_at_the_rate_so_far() {
        let at = |done, total| line("filling", done, total, Duration::from_secs(30));
        assert_eq!(at(25, Some(100)), "filling: 25 % in 30 s, about 90 s left");
        assert_eq!(at(25, None), "filling: 25 in 30 s");
        assert_eq!(at(0, Some(100)), "filling: 0 in 30 s");
        assert_eq!(at(120, Some(100)), "filling: 100 % in 30 s, about 0 s left");
    }
}
