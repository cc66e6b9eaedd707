//! What a request takes, counted by valgrind's callgrind: instructions, accesses of data, mispredicted branches, cache
//! misses. They do not depend on what else the machine does, and so can be held. `make instructions` fails where one
//! is above `benches/instructions.txt`; `make instructions UPDATE=1` writes that file. They depend on the compiler, so
//! only its own is held.
//!
//! Callgrind is driven here and not through a framework: those need a second program of the very same version
//! installed beside the library, and what is needed are the numbers of one function.

mod callgrind;
mod file;
mod loads;

use crate::report::Row;
use callgrind::{Counts, OPERATIONS};
use file::{Committed, FILE};
use lab::{LoopMode, Preconditioning, RunConfig, RunSpec, run_prepared};
use loads::{CASES, Case};
use ssd::{Drive, DriveConfig};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use workload::{Prepared, Spec};

const PREFIX: &str = "instructions_";
/// Requests of the run whose instructions are taken off.
const FEW: u64 = 1_000;
/// Requests of a run as users have them.
const MANY: u64 = 1_000_000;
/// Rounds of requests served before those that are counted, at most: a load that never stays as it is has no count.
const ROUNDS: u32 = 40;
/// How far the flash operations of a request may be from those of the round before: 2 %.
const STEADY: f64 = 0.02;

/// The function whose instructions are counted, by its name: all of a run as users have it.
#[inline(never)]
fn measured(drive: &mut Drive, cfg: &DriveConfig, load: &Prepared, spec: &RunSpec) -> u64 {
    run_prepared(drive, cfg, load, spec, &mut |_| {}).expect("a complete run").requests_served
}

/// A case's requests, and how the program runs them: with the series that it keeps unasked, whose intervals have as
/// many requests here as in a run of [`MANY`].
fn load(case: &Case, drive: &Drive, count: u64, seed: u64) -> (Prepared, RunSpec) {
    let text = format!("pattern = 'uniform'\nseed = {seed}\ncount = {count}\n{}", case.load);
    let load = Spec::parse(&text).expect("a sound workload");
    let program = RunConfig::default().spec(&load);
    let spec = RunSpec {
        preconditioning: Preconditioning::default(),
        loop_mode: LoopMode::Closed { depth: case.depth },
        executor: drive.executor(),
        samples: (u64::from(program.samples) * count).div_ceil(MANY) as u32,
        ..program
    };
    (load.prepare().expect("a sound workload"), spec)
}

/// Serves requests; where garbage collection is what counts, until the flash operations of a request stay within 2 % of
/// those of the round before.
fn warm_up(case: &Case, cfg: &DriveConfig, drive: &mut Drive) {
    let mut last = f64::NAN;
    for round in 0..ROUNDS {
        let (load, spec) = load(case, drive, case.before, 2 + u64::from(round));
        run_prepared(drive, cfg, &load, &spec, &mut |_| {}).expect("a complete run");
        // A run counts from its own beginning.
        let now = drive.stats().all_ops() as f64 / case.before as f64;
        if !case.until_steady || (now - last).abs() <= STEADY * last {
            return;
        }
        last = now;
    }
    panic!("{}: after {ROUNDS} rounds the flash operations of a request still change", case.name);
}

/// Runs a case: [`FEW`] requests, then so many as are counted beside them. What callgrind looks at.
pub fn case(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case");
    let (cfg, mut drive) = (case.prepare)();
    warm_up(case, &cfg, &mut drive);
    let operations = [FEW, FEW + case.requests].map(|count| {
        let (load, spec) = load(case, &drive, count, 1);
        assert_eq!(measured(&mut drive, &cfg, &load, &spec), count);
        drive.stats().all_ops()
    });
    println!("{OPERATIONS}{} {}", operations[0], operations[1]);
    assert!((case.acts)(&drive.stats()) > 0, "{name}: the load does not do what it is for");
}

/// Whether the machine has callgrind; says so aloud if not.
fn has_valgrind() -> bool {
    let found =
        Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!(
            "SKIPPED: no valgrind here, so no instructions are counted (Debian: apt-get install valgrind)"
        );
    }
    found
}

/// What each case takes; none where it cannot be counted.
fn counted() -> Result<Vec<(&'static Case, Counts)>, String> {
    if !has_valgrind() {
        return Ok(Vec::new());
    }
    // A few at a time: each has a drive in memory.
    let next = AtomicUsize::new(0);
    let count_some = || {
        let mut done = Vec::new();
        while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((case, callgrind::count(case)?));
            eprintln!("counted {}", case.name);
        }
        Ok::<_, String>(done)
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let mut done = std::thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|_| scope.spawn(count_some)).collect();
        let some: Result<Vec<_>, _> = running.into_iter().map(|it| it.join().expect("counts")).collect();
        some.map(|some| some.concat())
    })?;
    done.sort_by_key(|(case, _)| CASES.iter().position(|it| it.name == case.name));
    Ok(done)
}

/// Instructions a request of each case, as a bench.
pub fn rows() -> Vec<Row> {
    let counted = counted().unwrap_or_else(|error| panic!("{error}"));
    let committed = Committed::read().unwrap_or_else(|error| panic!("{error}"));
    let row = |(case, counts): &(&Case, Counts)| {
        let name = format!("{PREFIX}{}", case.name);
        Row::new(&name, counts.instructions, "instructions/request", committed.goal(case.name))
    };
    counted.iter().map(row).collect()
}

/// Counts and holds what the file says, or writes it anew.
pub fn hold(is_update: bool) -> Result<(), String> {
    let rows = counted()?;
    print!("{}", file::table(&rows));
    if is_update && !rows.is_empty() {
        Committed::write(&rows)?;
        println!("written to {FILE}");
        return Ok(());
    }
    let missed = Committed::read()?.missed(&rows);
    for miss in &missed {
        println!("MISSED  {miss}");
    }
    match missed.len() {
        0 => Ok(()),
        missed => Err(format!(
            "{missed} of the counts above are over what {FILE} allows. If that is meant, `make instructions UPDATE=1` writes it \
             anew: say why in the commit"
        )),
    }
}
