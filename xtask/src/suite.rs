//! All tests of the workspace, each in a process of its own: a test that crashes or hangs costs itself, what failed is
//! repeated by one command, and the slowest are known by name.

pub mod build;
#[cfg(test)]
mod features;
pub mod run;

use self::build::Binary;
use self::run::{Limits, Outcome, Plan, Verdict};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A test that takes longer is named at the end: `make test` has every behaviour at quick sizes.
const SLOW: Duration = Duration::from_secs(10);
/// So many of the slowest are printed.
const SLOWEST: usize = 10;
/// A test that takes longer hangs.
const HANGS: Duration = Duration::from_secs(900);
/// Lines of a failing test's output that are shown, its last.
const LINES: usize = 60;

/// A test: its binary, and its path there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// Index of the binary.
    pub binary: usize,
    /// Path in the binary, as libtest calls it.
    pub path: String,
}

/// The binaries and all tests in them.
pub struct Suite {
    /// All test binaries.
    pub binaries: Vec<Binary>,
    /// All tests.
    pub tests: Vec<Test>,
}

impl Suite {
    /// Builds all tests of the workspace at a place, into a target directory, and lists them.
    pub fn build(root: &Path, target: &Path) -> Result<Self, String> {
        let binaries = build::binaries(root, target)?;
        let mut tests = Vec::new();
        for (binary, found) in binaries.iter().enumerate() {
            tests.extend(found.list()?.into_iter().map(|path| Test { binary, path }));
        }
        Ok(Suite { binaries, tests })
    }

    /// `crate/binary::path`, which filters are held against.
    pub fn name(&self, test: &Test) -> String {
        format!("{}::{}", self.binaries[test.binary].name, test.path)
    }

    /// The command that repeats a test alone.
    fn repeat(&self, test: &Test) -> String {
        let binary = &self.binaries[test.binary];
        format!("cargo test -p {} {} {} -- --exact", binary.package, binary.flag, test.path)
    }
}

/// How long each test took when it ran last, in milliseconds; a file beside the build output.
pub fn times(target: &Path) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(target.join("suite-times.txt")).unwrap_or_default();
    let line = |line: &str| {
        let (ms, name) = line.split_once(' ')?;
        Some((name.to_owned(), ms.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn keep_times(target: &Path, times: &BTreeMap<String, u64>) {
    let text: String = times.iter().map(|(name, ms)| format!("{ms} {name}\n")).collect();
    // Only the order of the next run depends on it.
    let _ = fs::write(target.join("suite-times.txt"), text);
}

/// Which tests are meant: those whose names hold a word (all without words) and none of those behind a `--but`.
struct Choice {
    words: Vec<String>,
    but: Vec<String>,
}

impl Choice {
    fn of(arguments: &[String]) -> Result<Self, String> {
        let mut choice = Choice { words: Vec::new(), but: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--but" => choice.but.push(arguments.next().ok_or("--but: no name behind it")?.clone()),
                other if other.starts_with('-') => return Err(format!("`{other}`: allowed is --but NAME")),
                word => choice.words.push(word.to_owned()),
            }
        }
        Ok(choice)
    }

    fn holds(&self, name: &str) -> bool {
        let is_in = |words: &[String]| words.iter().any(|word| name.contains(word.as_str()));
        (self.words.is_empty() || is_in(&self.words)) && !is_in(&self.but)
    }
}

/// Runs tests as the arguments choose them, and prints what came of them.
pub fn test(root: &Path, target: &Path, arguments: &[String]) -> ExitCode {
    let choice = match Choice::of(arguments) {
        Ok(choice) => choice,
        Err(error) => {
            eprintln!("xtask: {error}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let suite = match Suite::build(root, target) {
        Ok(suite) => suite,
        Err(error) => {
            eprintln!("xtask: {error}");
            return ExitCode::FAILURE;
        }
    };
    let built = begun.elapsed();
    let mut times = times(target);
    let mut tests = suite.tests.clone();
    tests.retain(|test| choice.holds(&suite.name(test)));
    // The longest first, so that both processors end together; what is not known may be long.
    let known = |test: &Test| times.get(&suite.name(test)).copied().unwrap_or(u64::MAX);
    tests.sort_by_key(|test| std::cmp::Reverse(known(test)));
    if tests.is_empty() {
        eprintln!("xtask: no test is called like {}", arguments.join(" "));
        return ExitCode::from(2);
    }
    println!("{} tests in {} binaries, built in {} s", tests.len(), suite.binaries.len(), built.as_secs());
    let begun = Instant::now();
    let plan = Plan { suite: &suite, tests: &tests, logs: &target.join("suite-logs"), environment: &[] };
    let limits = Limits { test: HANGS, all: Duration::MAX, stop_at_red: false };
    let outcomes = run::run(&plan, &limits, &mut progress(begun));
    times.extend(outcomes.iter().map(|o| (suite.name(&o.test), o.took.as_millis() as u64)));
    keep_times(target, &times);
    report(&suite, &outcomes, begun.elapsed())
}

/// A line now and then, and what failed as soon as it has.
fn progress(begun: Instant) -> impl FnMut(&Outcome, usize, usize) {
    let mut told = Instant::now();
    move |outcome, done, all| {
        if outcome.verdict == Verdict::Red {
            println!("FAILED {}", outcome.test.path);
        }
        if told.elapsed() >= Duration::from_secs(15) {
            println!("  {done} of {all} tests after {} s", begun.elapsed().as_secs());
            told = Instant::now();
        }
    }
}

fn report(suite: &Suite, outcomes: &[Outcome], took: Duration) -> ExitCode {
    let red: Vec<&Outcome> = outcomes.iter().filter(|o| o.verdict == Verdict::Red).collect();
    for outcome in &red {
        println!("\n---- {} ----", suite.name(&outcome.test));
        let lines: Vec<&str> = outcome.output.lines().collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            println!("{line}");
        }
        println!("again: {}", suite.repeat(&outcome.test));
    }
    let mut slowest: Vec<&Outcome> = outcomes.iter().collect();
    slowest.sort_by_key(|o| std::cmp::Reverse(o.took));
    println!("\nthe slowest:");
    for outcome in slowest.iter().take(SLOWEST) {
        let over = if outcome.took > SLOW { "  over 10 s" } else { "" };
        println!("  {:6.1} s  {}{over}", outcome.took.as_secs_f64(), suite.name(&outcome.test));
    }
    let count = |verdict| outcomes.iter().filter(|o| o.verdict == verdict).count();
    println!("\nran for {} s", took.as_secs());
    println!("{} passed, {} failed, {} skipped", count(Verdict::Green), red.len(), count(Verdict::Skipped));
    if red.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
