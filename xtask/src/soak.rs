//! Long runs, for a night: random runs at twenty times the size of `make test`, papers, faults, fuzzing.
//!
//! Each step says beforehand what it takes. What is done is kept under the hash of the commit, so that a soak that was
//! ended goes on where it was; the figures that steps print are kept in `benches/soak/<commit>.txt`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// A long run.
struct Step {
    name: &'static str,
    about: &'static str,
    /// Minutes that it takes on two idle cores, about.
    minutes: u64,
    variables: &'static [(&'static str, &'static str)],
    command: &'static [&'static str],
    /// Lines that hold one of these words are its figures.
    figures: &'static [&'static str],
}

/// Runs tests of the drive as they are called, one after the other, and shows what they print.
const fn ssd(filter: &'static str) -> [&'static str; 10] {
    [
        "cargo",
        "test",
        "-p",
        "wordline-ssd",
        "--test",
        "suite",
        filter,
        "--",
        "--nocapture",
        "--test-threads=1",
    ]
}

/// Twenty times what `make test` runs.
const TWENTY: &[(&str, &str)] = &[("WORDLINE_SOAK", "1")];

const STEPS: &[Step] = &[
    Step {
        name: "instructions",
        about: "what callgrind counts for a request, beside benches/instructions.txt",
        minutes: 5,
        variables: &[],
        command: &["make", "instructions"],
        // Lines of a table.
        figures: &["  "],
    },
    Step {
        name: "model",
        about: "random drives beside a plain model, twenty times as many",
        minutes: 45,
        variables: TWENTY,
        command: &ssd("model::"),
        figures: &["commands in", "CutTally", "locks of", "units "],
    },
    Step {
        name: "cuts",
        about: "100,000 power cuts",
        minutes: 40,
        variables: &[("WORDLINE_MODEL_CUTS", "100000")],
        command: &ssd("after_power_cuts"),
        figures: &["CutTally"],
    },
    Step {
        name: "far",
        about: "the same random drives from seeds that nobody has run",
        minutes: 30,
        variables: &[("WORDLINE_SOAK", "1"), ("WORDLINE_MODEL_FROM", "{commit}")],
        command: &ssd("agree"),
        figures: &["commands in"],
    },
    Step {
        name: "suite",
        about: "all other tests at their full sizes",
        minutes: 30,
        variables: TWENTY,
        command: &["cargo", "run", "--quiet", "-p", "xtask", "--", "test", "--but", "model::"],
        figures: &["passed", " s  "],
    },
    Step {
        name: "fits",
        about: "ten drives of ours, fitted to what runs say of them",
        minutes: 20,
        variables: &[],
        command: &[
            "cargo",
            "test",
            "-p",
            "wordline-lab",
            "--lib",
            "fit::",
            "--",
            "--include-ignored",
            "--nocapture",
        ],
        figures: &["test result", "small: ", "large: "],
    },
    Step {
        name: "voltages",
        about: "voltages by age of the parts that `make test` leaves out",
        minutes: 1,
        variables: &[],
        command: &["cargo", "test", "-p", "wordline-ssd", "--test", "suite", "sets::", "--", "--ignored"],
        figures: &["test result"],
    },
    Step {
        name: "options",
        about: "each option of fio jobs beside fio itself, where it is installed",
        minutes: 3,
        variables: &[],
        command: &[
            "cargo",
            "test",
            "-p",
            "wordline-workload",
            "--test",
            "suite",
            "fio_options",
            "--",
            "--ignored",
        ],
        figures: &["test result"],
    },
    Step {
        name: "papers",
        about: "every paper's quick run against what it is expected to give",
        minutes: 10,
        variables: &[],
        command: &[
            "cargo",
            "run",
            "--quiet",
            "--release",
            "-p",
            "wordline",
            "--",
            "reproduce",
            "--quick",
            "--check",
            "--force",
            "--out",
            "target/soak/papers",
        ],
        figures: &["as expected", "drift"],
    },
    Step {
        name: "characterization",
        about: "the cells at full size against the papers' chips",
        minutes: 10,
        variables: &[],
        command: &["cargo", "run", "--quiet", "--release", "-p", "wordline", "--", "lab", "check"],
        figures: &["met", "missed"],
    },
    Step {
        name: "drives",
        about: "3,000 random drives through the command line, each for a whole life (needs python3)",
        minutes: 90,
        variables: &[],
        command: &["python3", "scripts/random_drives.py", "--drives", "3000"],
        figures: &["drives from seed", "seed "],
    },
    Step {
        name: "faults",
        about: "deliberate faults: does a test turn red?",
        minutes: 90,
        variables: &[],
        command: &["cargo", "run", "--quiet", "-p", "xtask", "--", "faults"],
        figures: &["survived", "unknown"],
    },
    Step {
        name: "counter",
        about: "a counter is a line where it is declared and one where it counts",
        minutes: 4,
        variables: &[],
        command: &["scripts/one_counter.sh"],
        figures: &[": "],
    },
    Step {
        name: "timeline",
        about: "timelines by Perfetto's own schema, and SQL on them; by TRACE_PROCESSOR as well, where that is set",
        minutes: 3,
        variables: &[],
        command: &["scripts/timeline_check.sh"],
        figures: &["as result.json", "trace processor"],
    },
    Step {
        name: "doors",
        about: "commands killed at random moments, two at once, shards, full and read-only disks",
        minutes: 4,
        variables: &[],
        command: &["scripts/doors.sh", "60"],
        figures: &["WRONG", "doors:"],
    },
    Step {
        name: "sweeps",
        about: "1,000 runs of a sweep that is killed 20 times",
        minutes: 5,
        variables: &[("WORDLINE_SOAK", "1")],
        command: &[
            "cargo",
            "test",
            "-p",
            "wordline",
            "--test",
            "suite",
            "what_is_killed",
            "--",
            "--nocapture",
        ],
        figures: &["kills", "test result"],
    },
    Step {
        name: "snakemake",
        about: "the sweep of examples/ by Snakemake's local executor",
        minutes: 4,
        variables: &[],
        command: &["scripts/sweep_check.sh"],
        figures: &["by Snakemake"],
    },
    Step {
        name: "python",
        about: "the tests of the Python package with pandas, polars and pyarrow",
        minutes: 3,
        variables: &[],
        command: &["bash", "-c", "scripts/python.sh more && scripts/python.sh test"],
        figures: &["passed"],
    },
    Step {
        name: "fuzz",
        about: "every reader of traces and the parser of jobs, a minute each",
        minutes: 25,
        variables: &[],
        command: &["scripts/fuzz.sh", "60"],
        figures: &["found", "ERROR", "number_of_executed_units"],
    },
];

/// Runs the steps that are called so (all without names) and not done yet.
pub fn soak(root: &Path, target: &Path, names: &[String]) -> ExitCode {
    if let Some(unknown) = names.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        eprintln!("xtask: no long run is called `{unknown}`; allowed are {}", known.join(", "));
        return ExitCode::from(2);
    }
    match try_soak(root, target, names) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_soak(root: &Path, target: &Path, names: &[String]) -> Result<bool, String> {
    let commit = commit(root)?;
    let place = target.join("soak").join(&commit);
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let steps: Vec<&Step> =
        STEPS.iter().filter(|step| names.is_empty() || names.iter().any(|name| name == step.name)).collect();
    let done = |step: &Step| place.join(format!("{}.done", step.name));
    let left: Vec<&&Step> = steps.iter().filter(|step| !done(step).exists()).collect();
    let minutes: u64 = left.iter().map(|step| step.minutes).sum();
    println!(
        "{commit}: {} of {} long runs are left, about {minutes} min on two cores",
        left.len(),
        steps.len()
    );
    for step in &steps {
        let state = if done(step).exists() { "done" } else { "left" };
        println!("  {state}  {:3} min  {:17} {}", step.minutes, step.name, step.about);
    }
    let mut green = true;
    for step in left {
        println!("\n== {}: {}", step.name, step.about);
        let (ok, figures) = run(root, &place, &commit, step)?;
        if ok {
            fs::write(done(step), figures).map_err(|error| format!("{}: {error}", place.display()))?;
        } else {
            println!("== {} failed; it is repeated by `make soak ONLY={}`", step.name, step.name);
            green = false;
        }
    }
    keep(root, &place, &commit)?;
    Ok(green)
}

/// The commit, with a mark if something has changed since.
fn commit(root: &Path) -> Result<String, String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root).output();
        let output = output.map_err(|error| format!("git does not run: {error}"))?;
        Ok::<String, String>(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = !git(&["status", "--porcelain", "--", "crates", "Cargo.lock"])?.is_empty();
    Ok(if changed { format!("{commit}-changed") } else { commit })
}

/// Runs a step, shows what it prints and picks its figures.
fn run(root: &Path, place: &Path, commit: &str, step: &Step) -> Result<(bool, String), String> {
    let begun = Instant::now();
    let mut command = Command::new(step.command[0]);
    command.args(&step.command[1..]).current_dir(root).stdin(Stdio::null()).stdout(Stdio::piped());
    // A commit's own seeds: far from those of all others, and the same when it is repeated.
    let seeds = u64::from_str_radix(&commit[..commit.len().min(7)], 16).unwrap_or(1) + 1_000_000;
    for (name, value) in step.variables {
        command.env(name, value.replace("{commit}", &seeds.to_string()));
    }
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", step.command[0]))?;
    let mut figures = String::new();
    let mut log = fs::File::create(place.join(format!("{}.log", step.name)))
        .map_err(|error| format!("{}: {error}", place.display()))?;
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let line = line.unwrap_or_default();
        println!("{line}");
        let _ = writeln!(log, "{line}");
        if step.figures.iter().any(|word| line.contains(word)) {
            figures += &format!("    {}\n", line.trim());
        }
    }
    let ok = child.wait().is_ok_and(|status| status.success());
    Ok((ok, format!("{}: {} s\n{figures}", step.name, begun.elapsed().as_secs())))
}

/// Writes the figures of all steps that are done.
fn keep(root: &Path, place: &Path, commit: &str) -> Result<(), String> {
    let mut text = format!("Long runs of {commit} (make soak)\n\n");
    for step in STEPS {
        text += &fs::read_to_string(place.join(format!("{}.done", step.name)))
            .unwrap_or_else(|_| format!("{}: not run\n", step.name));
    }
    let folder: PathBuf = root.join("benches/soak");
    let file = folder.join(format!("{commit}.txt"));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, text))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    println!("\nfigures: benches/soak/{commit}.txt");
    Ok(())
}
