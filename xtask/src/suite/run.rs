//! Runs tests side by side, each in a process of its own, and measures each.

use super::{Suite, Test};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Green,
    /// It failed, crashed or hung.
    Red,
    /// It is ignored unless asked for.
    Skipped,
    /// It was ended because of another, or the time for all was over.
    Stopped,
}

/// A test that ran.
pub struct Outcome {
    /// The test.
    pub test: Test,
    /// What came of it.
    pub verdict: Verdict,
    /// How long it took.
    pub took: Duration,
    /// What it printed, if it failed.
    pub output: String,
}

/// What is run.
pub struct Plan<'a> {
    /// All tests.
    pub suite: &'a Suite,
    /// Those that are run, in this order.
    pub tests: &'a [Test],
    /// Folder for what they print.
    pub logs: &'a Path,
    /// Variables of their environment.
    pub environment: &'a [(&'a str, String)],
}

/// When to stop.
pub struct Limits {
    /// A test that takes longer hangs, and failed.
    pub test: Duration,
    /// No test begins or goes on later.
    pub all: Duration,
    /// Stop at the first that fails.
    pub stop_at_red: bool,
}

/// Runs tests, as many at a time as there are processors; tells each that ended, how many have, and of how many.
pub fn run(plan: &Plan, limits: &Limits, told: &mut dyn FnMut(&Outcome, usize, usize)) -> Vec<Outcome> {
    let _ = fs::create_dir_all(plan.logs);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, ended) = mpsc::channel();
    let send = Mutex::new(send);
    let begun = Instant::now();
    let mut outcomes = Vec::new();
    std::thread::scope(|scope| {
        for worker in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let send = send.lock().expect("no worker dies with it").clone();
            let (next, stop) = (&next, &stop);
            scope.spawn(move || {
                while let Some(test) = plan.tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) || begun.elapsed() >= limits.all {
                        return;
                    }
                    let left = limits.all.saturating_sub(begun.elapsed());
                    let outcome = one(plan, test, worker, limits, left, stop);
                    if outcome.verdict == Verdict::Red && limits.stop_at_red {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if send.send(outcome).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for outcome in ended {
            told(&outcome, outcomes.len() + 1, plan.tests.len());
            outcomes.push(outcome);
        }
    });
    outcomes
}

/// Runs one test.
fn one(
    plan: &Plan,
    test: &Test,
    worker: usize,
    limits: &Limits,
    left: Duration,
    stop: &AtomicBool,
) -> Outcome {
    let begun = Instant::now();
    let outcome = |verdict, output| Outcome { test: test.clone(), verdict, took: begun.elapsed(), output };
    let log = plan.logs.join(format!("{worker}.log"));
    let files = File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) = match files {
        Ok(files) => files,
        Err(error) => return outcome(Verdict::Red, format!("{} cannot be written: {error}", log.display())),
    };
    let mut command = plan.suite.binaries[test.binary].command();
    command.args(["--exact", "--nocapture", &test.path]).stdout(Stdio::from(out)).stderr(Stdio::from(err));
    command.envs(plan.environment.iter().map(|(name, value)| (name, value)));
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return outcome(Verdict::Red, format!("does not start: {error}")),
    };
    let ended = wait(&mut child, || {
        if stop.load(Ordering::Relaxed) || begun.elapsed() >= left {
            return Some(Verdict::Stopped);
        }
        (begun.elapsed() >= limits.test).then_some(Verdict::Red)
    });
    let text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    match ended {
        Ok(true) if text.contains("; 1 ignored;") => outcome(Verdict::Skipped, String::new()),
        // Nothing of that name would also be a success.
        Ok(true) if text.contains("test result: ok. 1 passed") => outcome(Verdict::Green, String::new()),
        Ok(_) => outcome(Verdict::Red, text),
        Err(Verdict::Red) => {
            outcome(Verdict::Red, format!("{text}\nended: over {} s", limits.test.as_secs()))
        }
        Err(verdict) => outcome(verdict, String::new()),
    }
}

/// Waits for a child: whether it succeeded, or why it was ended.
fn wait(child: &mut Child, mut ended: impl FnMut() -> Option<Verdict>) -> Result<bool, Verdict> {
    let mut pause = Duration::from_micros(500);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Ok(status.success());
        }
        if let Some(why) = ended() {
            // It may have ended by itself just now.
            let _ = child.kill();
            let _ = child.wait();
            return Err(why);
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    }
}
