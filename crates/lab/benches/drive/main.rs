//! Speed and memory: `make bench`, or `cargo bench -p wordline-lab --bench drive -- [PART OF A NAME]`.
//!
//! Each bench runs in a process of its own, so that peak memory is its own too. Times are processor times of one
//! core, best of several runs, for machines that others use as well.

mod aging;
mod instructions;
mod memory;
mod report;
mod separators;
mod speed;
mod techniques;

use lab::memory::HugePages;
use report::{Bench, Row};
use std::process::{Command, ExitCode, Stdio};

#[global_allocator]
static GLOBAL: HugePages = HugePages;

/// Those of README's table: a minute or two.
const SPEED: &[&str] = &["random_requests", "steady_cleaning", "functional", "straw", "memory_flat"];

/// All benches, in the order of the table.
const BENCHES: &[Bench] = &[
    Bench { name: "table_access", run: memory::table_access },
    Bench { name: "random_requests", run: speed::random_requests },
    Bench { name: "steady_cleaning", run: speed::steady_cleaning },
    Bench { name: "precondition", run: speed::precondition },
    Bench { name: "functional", run: speed::functional },
    Bench { name: "aging_reads", run: aging::reads },
    Bench { name: "straw", run: memory::straw },
    Bench { name: "aging_memory", run: aging::memory },
    Bench { name: "counted_reads", run: aging::counted_reads },
    Bench { name: "decision", run: separators::rows },
    Bench { name: "read_heat", run: techniques::read_heat },
    Bench { name: "ages_and_suspends", run: techniques::ages_and_suspends },
    Bench { name: "locks", run: techniques::locks },
    Bench { name: "memory_flat", run: memory::flat },
    Bench { name: "instructions", run: instructions::rows },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    match arguments.next().as_deref() {
        Some("--only") => only(&arguments.next().unwrap_or_default()),
        Some("--case") => {
            instructions::case(&arguments.next().unwrap_or_default());
            ExitCode::SUCCESS
        }
        Some("--instructions") => match instructions::hold(arguments.next().as_deref() == Some("--update")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        Some("--speed") => measure(|name| SPEED.contains(&name), Some("speed.json")),
        filter => {
            let (part, file) = (filter.unwrap_or_default(), format!("results/{}.json", report::commit()));
            measure(|name| name.contains(part), part.is_empty().then_some(&file))
        }
    }
}

/// Runs one bench here and prints its rows for the parent to read.
fn only(name: &str) -> ExitCode {
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        eprintln!("no bench is named {name:?}");
        return ExitCode::FAILURE;
    };
    for row in (bench.run)() {
        println!("{}", row.to_line());
    }
    ExitCode::SUCCESS
}

/// Runs the benches whose names are wanted; prints the table, and writes the file below `benches`.
fn measure(is_wanted: impl Fn(&str) -> bool, file: Option<&str>) -> ExitCode {
    let (mut rows, load) = (Vec::new(), report::load());
    let mut failed = false;
    for bench in BENCHES.iter().filter(|bench| is_wanted(bench.name)) {
        eprintln!("running {} ...", bench.name);
        match run_apart(bench.name) {
            Ok(found) => rows.extend(found),
            Err(error) => {
                eprintln!("{}: {error}", bench.name);
                failed = true;
            }
        }
    }
    print!("{}", report::table(&rows));
    if let Some(file) = file.filter(|_| !failed) {
        match report::write(file, &rows, &load) {
            Ok(()) => println!("written to benches/{file}"),
            Err(error) => {
                eprintln!("cannot write the results: {error}");
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs one bench in a process of its own.
fn run_apart(name: &str) -> Result<Vec<Row>, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(this);
    let output =
        child.args(["--only", name]).stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    lines.lines().map(|line| Row::from_line(line).ok_or_else(|| format!("not a row: {line}"))).collect()
}
