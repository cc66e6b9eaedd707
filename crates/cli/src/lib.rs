//! The `wordline` command: every subcommand is a file in `commands/`. A library, because the program is a Python
//! package's script as well.
//!
//! Results go to standard output, everything else to standard error. Exit code 0: done; 1: failed while working;
//! 2: bad usage or configuration; 3: not what `--require` asks for; 129, 130, 143: ended by a terminal that is gone,
//! Ctrl-C or a request to terminate.

mod advice;
mod caching;
mod commands;
mod drive_args;
mod failure;
mod interrupt;
mod isolation;
mod policy_args;
mod progress;
mod requiring;
mod snapshots;
mod stdout;
mod terminal;
mod text;
mod workload_args;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::sync::LazyLock;

use clap::{CommandFactory, Parser, Subcommand};

use commands::{
    cache, capture as capturing, compare, completion, endurance, explain, fit, forensics, formats,
    lab as laboratory, new, policies, presets, report, reproduce, run as running, sweep, trace, worker,
};
use failure::Failure;
use lab::files::Pipe;
use stdout::Output;
use terminal::Plain;

/// The version with the commit that the program was built from, as in results.
static VERSION: LazyLock<String> = LazyLock::new(lab::result::version);

/// An SSD you can open: simulate a NAND-flash drive under a real trace or a generated load
#[derive(Parser, Debug)]
#[command(name = "wordline", version = VERSION.as_str(), propagate_version = true, max_term_width = 110)]
#[command(after_help = "\
Examples:
  wordline run data/rocksdb-ycsb-a-run1.csv.zst --out out/my
  wordline run --synthetic zipf --zipf 80/20 --read-percent 70 --depth 32
  wordline report out/my -o my.html
  wordline explain --drive m64

Exit codes: 0 success, 1 failure while working, 2 bad usage or configuration, 3 not what --require asks for,
130 ended by Ctrl-C (143: by SIGTERM).")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a trace or a generated workload on a simulated drive, and report what the drive did
    Run(Box<running::Run>),
    /// Say how long a drive lasts under a load, by its rating and what the load makes it write
    Endurance(Box<endurance::Endurance>),
    /// List the drives and NAND parts that ship with the program
    Presets(presets::Presets),
    /// List the policies: what they decide, their parameters, their sources
    Policies(policies::Policies),
    /// Write a template for your own policy, a Rust crate or a C file that builds and runs
    New(new::New),
    /// Show the drive as configured: every value, and where it came from
    Explain(explain::Explain),
    /// Find the configuration of a drive one can buy, from its public figures or fio's results
    Fit(fit::Fit),
    /// Inspect, convert or cut a trace
    Trace(Box<trace::Trace>),
    /// Record what a program writes to files, with the call stack of each write
    Capture(capturing::Capture),
    /// List the trace formats that can be read
    Formats(formats::Formats),
    /// Measure a population of virtual chips
    Lab(laboratory::Lab),
    /// Repeat papers' experiments, and compare their claims with the results
    Reproduce(reproduce::Reproduce),
    /// Find what a thief could read from the chips of a saved drive
    Forensics(forensics::ForensicsArgs),
    /// Compare the results of several runs side by side
    Compare(compare::Compare),
    /// Write results as one HTML file with charts, which needs no network
    Report(report::Report),
    /// List or remove cached aged drives
    Cache(cache::Cache),
    /// Run every combination of settings that a sweep file lists
    Sweep(sweep::SweepArgs),
    /// Carry out runs of a sweep for another process
    #[command(hide = true)]
    Worker,
    /// Print a script that lets a shell complete commands and flags
    Completion(completion::Completion),
}

impl Command {
    fn run(&self, out: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Command::Run(args) => running::run(args, out).map_err(|failure| args.advised(failure)),
            Command::Endurance(args) => endurance::run(args, out),
            Command::Presets(args) => presets::run(args, out),
            Command::Policies(args) => policies::run(args, out),
            Command::New(args) => new::run(args, out),
            Command::Explain(args) => explain::run(args, out),
            Command::Fit(args) => fit::run(args, out),
            Command::Trace(args) => trace::run(args, out),
            Command::Capture(args) => capturing::run(args),
            Command::Formats(args) => formats::run(args, out),
            Command::Lab(args) => laboratory::run(args, out),
            Command::Reproduce(args) => reproduce::run(args, out),
            Command::Forensics(args) => forensics::run(args, out),
            Command::Compare(args) => compare::run(args, out),
            Command::Report(args) => report::run(args, out),
            Command::Cache(args) => cache::run(args, out),
            Command::Sweep(args) => sweep::run(args, out),
            Command::Worker => worker::run(out),
            Command::Completion(args) => completion::run(args, Cli::command(), out),
        }
    }
}

/// Runs a command line, whose first word is the program's name; `worker` is the command line of this program
/// as a worker. Returns the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>, worker: &[OsString]) -> u8 {
    worker::is_started_as(worker);
    let args: Vec<OsString> = args.into_iter().collect();
    isolation::is_called_as(&args);
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            let program = Cli::command();
            let commands: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
            let words = args.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
            return advice::tell(error, &words.collect::<Vec<_>>(), &commands);
        }
    };
    let note = match &cli.command {
        Command::Run(args) => args.note(),
        _ => None,
    };
    if let Some(note) = note {
        // Without the watch, a run whose parent dies would go on for nobody.
        if let Err(failure) = isolation::end_with_parent(note) {
            terminal::tell(&format!("error: {}", failure.message().unwrap_or_default()));
            isolation::leave(note, failure.exit_code());
            return failure.exit_code();
        }
    }
    let code = carry_out(&cli);
    if let Some(note) = note {
        isolation::leave(note, code);
    }
    code
}

/// Carries out a command, and says what went wrong.
fn carry_out(cli: &Cli) -> u8 {
    // The file itself: what is kept back by the library's own buffer could wait for a reader without end.
    let stdout = match io::stdout().as_fd().try_clone_to_owned() {
        Ok(stdout) => Pipe::new(File::from(stdout)),
        Err(error) => {
            let failure = Failure::from(error);
            terminal::tell(&format!("error: {}", failure.message().unwrap_or_default()));
            return failure.exit_code();
        }
    };
    let mut out = Output::new(Plain::new(BufWriter::new(stdout)));
    let result = cli.command.run(&mut out);
    let printed = out.finish().map_err(Failure::from);
    let failure = match (result, printed) {
        (Ok(()), Ok(())) => return 0,
        // That nobody reads any more is no news beside a failure.
        (Err(failure), Ok(()) | Err(Failure::Closed)) | (Ok(()), Err(failure)) => failure,
        (Err(failure), Err(unprinted)) => failure.and(unprinted.message().unwrap_or_default()),
    };
    if let Some(message) = failure.message() {
        terminal::tell(&format!("error: {message}"));
    }
    failure.exit_code()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The commands of a text: lines that begin with the program's name, up to a remark or redirection.
    fn commands(text: &str) -> Vec<Vec<String>> {
        let text: String = text.split("\\\n").map(str::trim_start).collect();
        let lines = text.lines().map(|line| line.trim().trim_start_matches("target/release/"));
        let lines = lines.filter(|line| line.starts_with("wordline "));
        let end = |line: &str| ["  ", " #", " >"].iter().filter_map(|mark| line.find(mark)).min();
        lines.map(|line| words(&line[..end(line).unwrap_or(line.len())])).collect()
    }

    /// What a shell makes of a line: words between spaces, those in quotes as one.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (number, part) in line.split('"').enumerate() {
            match number % 2 {
                0 => words.extend(part.split(' ').filter(|word| !word.is_empty()).map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    #[test]
    fn flags_are_declared_without_contradictions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_example_of_help_and_docs_is_understood() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("a file of the checkout");
        let mut texts = vec![read("README.md"), read("docs/command_line.md")];
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            texts.push(command.get_after_help().expect("every command has examples").to_string());
        }
        let commands: Vec<_> = texts.iter().flat_map(|text| commands(text)).collect();
        assert!(commands.len() >= 25, "{commands:?}");
        for command in commands {
            if let Err(error) = Cli::try_parse_from(&command) {
                panic!("{}: {error}", command.join(" "));
            }
        }
    }
}
