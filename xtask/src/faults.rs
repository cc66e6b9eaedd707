//! Deliberate faults: each is put into the code, and a test must turn red.
//!
//! `xtask/faults/*.txt` name them, in the form of [`text`]. All are compiled into one build of a copy of the checkout,
//! and a variable of the environment switches on one at a time: a hundred faults cost one build. The nearest tests run
//! first, the quickest of the others next, and the first that fails ends it. What came of each is kept, so that a run
//! that was ended goes on where it was.

mod text;
pub mod tree;

use crate::suite::run::{self, Limits, Plan, Verdict};
use crate::suite::{self, Suite, Test};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use text::Fault;

/// The variable that switches a fault on; 0 is none.
const VARIABLE: &str = "WORDLINE_FAULT";
/// After so long without a red test it is given up.
const LIMIT: Duration = Duration::from_secs(600);
/// A test that takes so long with a fault is red: with all it takes a tenth at most.
const HANGS: Duration = Duration::from_secs(240);

/// What came of a fault.
#[derive(Clone, PartialEq, Eq)]
struct Found {
    /// `caught`, `survived` or `unknown`.
    what: String,
    /// Seconds until then.
    seconds: u64,
    /// The test that turned red.
    test: String,
}

/// Where outcomes are kept, under a hash of the sources: they hold for these alone.
struct Kept {
    path: PathBuf,
    sources: u64,
    found: BTreeMap<String, Found>,
}

impl Kept {
    fn read(path: PathBuf, sources: u64) -> Self {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut lines = text.lines();
        let is_same = lines.next() == Some(format!("{sources:016x}").as_str());
        let line = |line: &str| {
            let mut words = line.split('\t');
            let slug = words.next()?.to_owned();
            let what = words.next()?.to_owned();
            let seconds = words.next()?.parse().ok()?;
            Some((slug, Found { what, seconds, test: words.next()?.to_owned() }))
        };
        let found = if is_same { lines.filter_map(line).collect() } else { BTreeMap::new() };
        Kept { path, sources, found }
    }

    fn write(&self) -> Result<(), String> {
        let mut text = format!("{:016x}\n", self.sources);
        for (slug, f) in &self.found {
            text += &format!("{slug}\t{}\t{}\t{}\n", f.what, f.seconds, f.test);
        }
        fs::write(&self.path, text).map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

/// Puts in the faults whose slugs hold one of the words (all without words), and prints what came of each.
pub fn faults(root: &Path, target: &Path, words: &[String]) -> ExitCode {
    match try_faults(root, target, words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}

fn try_faults(root: &Path, target: &Path, words: &[String]) -> Result<bool, String> {
    let all = text::read(&root.join("xtask/faults"))?;
    let place = target.join("faults");
    let sources = tree::lay(root, &place.join("tree"), &all)?;
    let suite = Suite::build(&place.join("tree"), &place.join("build"))?;
    let mut kept = Kept::read(place.join("outcomes.txt"), sources);
    let mut bench =
        Bench { suite: &suite, place: &place, times: suite::times(target), green: BTreeMap::new() };
    let chosen =
        |fault: &Fault| words.is_empty() || words.iter().any(|word| fault.slug.contains(word.as_str()));
    let chosen: Vec<(u32, &Fault)> = (1..).zip(&all).filter(|(_, fault)| chosen(fault)).collect();
    if chosen.is_empty() {
        return Err(format!("no fault is called like {}", words.join(" or ")));
    }
    for (number, fault) in &chosen {
        if !kept.found.contains_key(&fault.slug) {
            let found = bench.put_in(*number, fault)?;
            kept.found.insert(fault.slug.clone(), found);
            kept.write()?;
        }
        let found = &kept.found[&fault.slug];
        println!("{:9} {:4} s  {}  {}", found.what, found.seconds, fault.slug, found.test);
    }
    let count = |what: &str| chosen.iter().filter(|(_, f)| kept.found[&f.slug].what == what).count();
    println!("\n{} caught, {} survived, {} unknown", count("caught"), count("survived"), count("unknown"));
    for (_, fault) in &chosen {
        let found = &kept.found[&fault.slug];
        if found.what != "caught" {
            println!("  {:9} {}: {} ({})", found.what, fault.slug, fault.what, fault.path);
        }
    }
    Ok(count("caught") == chosen.len())
}

/// The build in which faults are switched on.
struct Bench<'a> {
    suite: &'a Suite,
    place: &'a Path,
    /// How long tests take, as far as it is known.
    times: BTreeMap<String, u64>,
    /// Whether a test is green without a fault.
    green: BTreeMap<Test, bool>,
}

impl Bench<'_> {
    /// Switches a fault on, and runs tests until one is red that is green without it.
    fn put_in(&mut self, number: u32, fault: &Fault) -> Result<Found, String> {
        let begun = Instant::now();
        let found = |what: &str, test: String| Found {
            what: what.to_owned(),
            seconds: begun.elapsed().as_secs(),
            test,
        };
        let mut tests = self.in_order(fault)?;
        loop {
            let left = LIMIT.saturating_sub(begun.elapsed());
            let outcomes = self.run(&tests, number, left, true);
            for outcome in outcomes.iter().filter(|o| o.verdict == Verdict::Red) {
                if self.is_green(&outcome.test) {
                    return Ok(found("caught", self.suite.name(&outcome.test)));
                }
            }
            let ended =
                |test: &Test| outcomes.iter().any(|o| o.verdict != Verdict::Stopped && o.test == *test);
            if begun.elapsed() >= LIMIT {
                return Ok(found("unknown", String::new()));
            }
            tests.retain(|test| !ended(test));
            if tests.is_empty() {
                return Ok(found("survived", String::new()));
            }
        }
    }

    /// The nearest tests as the fault names them, then the others, the quickest first.
    fn in_order(&self, fault: &Fault) -> Result<Vec<Test>, String> {
        let time = |test: &Test| self.times.get(&self.suite.name(test)).copied().unwrap_or(1000);
        let rank = |test: &Test| {
            let name = self.suite.name(test);
            fault.nearest.iter().position(|filter| name.contains(filter)).unwrap_or(usize::MAX)
        };
        let none = |filter: &&String| !self.suite.tests.iter().any(|t| self.suite.name(t).contains(*filter));
        if let Some(filter) = fault.nearest.iter().find(none) {
            return Err(format!("{}: no test is called like {filter}", fault.slug));
        }
        let mut tests = self.suite.tests.clone();
        tests.sort_by_cached_key(|test| (rank(test), time(test)));
        Ok(tests)
    }

    fn is_green(&mut self, test: &Test) -> bool {
        if let Some(&known) = self.green.get(test) {
            return known;
        }
        let outcomes = self.run(std::slice::from_ref(test), 0, LIMIT, false);
        let is_green = outcomes.iter().all(|outcome| outcome.verdict == Verdict::Green);
        if !is_green {
            println!("  {} is red without a fault, too: left out", self.suite.name(test));
        }
        self.green.insert(test.clone(), is_green);
        is_green
    }

    fn run(&self, tests: &[Test], number: u32, left: Duration, stop_at_red: bool) -> Vec<run::Outcome> {
        let environment = [(VARIABLE, number.to_string())];
        let plan =
            Plan { suite: self.suite, tests, logs: &self.place.join("logs"), environment: &environment };
        run::run(&plan, &Limits { test: HANGS, all: left, stop_at_red }, &mut |_, _, _| ())
    }
}
