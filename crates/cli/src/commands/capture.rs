//! `wordline capture`: runs a command and records what it writes to files, with the call stack of each write.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use capture::{End, Error, Recorded};
use clap::Args;
use lab::files::Replacement;
use lab::places::{Force, Kind, claim_file};

use crate::failure::Failure;
use crate::terminal;
use crate::text::thousands;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline capture -- sqlite3 shop.db \"VACUUM\"      writes sqlite3.capture
  wordline capture -o build.capture -- make -j4
  wordline capture --names -o clone.capture -- git clone -q --no-hardlinks project copy
  wordline capture -o rows.capture -- sh -c \"psql -f load.sql && pg_ctl stop\"

The command keeps its input, output, exit code and signals. Only calls that change regular files are recorded: writes,
fsync, truncate, allocate, unlink, rename. Such a call takes about 20 microseconds longer; others are not slowed. Stores
through shared memory maps, io_uring and Linux AIO cannot be seen: a line at the end says if there were any. Programs
with another user's rights (setuid) lose them. More: docs/capture.md";

/// Flags of `capture`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Capture {
    /// Write the capture to this file [default: the command's name followed by .capture, in this folder]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace an earlier capture
    #[arg(long)]
    force: bool,

    /// Keep the paths of files; otherwise they are numbered
    #[arg(long)]
    names: bool,

    /// Print nothing at the end
    #[arg(short, long)]
    quiet: bool,

    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Runs the command.
pub fn run(args: &Capture) -> Result<(), Failure> {
    let path = args.place();
    const WRITING: &str = "write the capture";
    let lock = claim_file(&path, Kind::Capture, WRITING, Force::flag(args.force))?;
    let unwritten = |error: io::Error| Failure::file(&path, WRITING, &error);
    let file = Replacement::create(&path).map_err(unwritten)?;
    let (file, recorded) = match capture::record(&args.command, args.names, file) {
        Ok(done) => done,
        Err(error) => return Err(refused(&path, &error)),
    };
    file.commit().map_err(unwritten)?;
    // Before the end, which may be by the signal that ended the command.
    drop(lock);
    if !args.quiet {
        tell(&path, &recorded);
    }
    match recorded.end {
        End::Code(0) => Ok(()),
        End::Code(code) => Err(Failure::Ended(code as u8)),
        End::Signal(signal) => {
            // So that whoever waits for us sees what it would see of the command.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            Err(Failure::Ended(128 + signal as u8))
        }
    }
}

impl Capture {
    fn place(&self) -> PathBuf {
        let named = || {
            let mut name = Path::new(&self.command[0]).file_name().unwrap_or_default().to_owned();
            name.push(".capture");
            PathBuf::from(name)
        };
        self.out.clone().unwrap_or_else(named)
    }
}

fn refused(path: &Path, error: &Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::Unwritten { .. } => Failure::work(format!("{}: {message}", path.display())),
        _ => Failure::usage(message),
    }
}

/// Says what was recorded. Standard error may be closed: then there is nobody to tell.
fn tell(path: &Path, recorded: &Recorded) {
    let whole = recorded.totals.whole_percent(recorded.calls);
    let mut text = format!(
        "{}: {} calls of {} processes on {} files, {} call stacks; complete: {whole:.1} %",
        path.display(),
        thousands(recorded.calls),
        thousands(recorded.processes),
        thousands(recorded.files),
        thousands(recorded.stacks),
    );
    if recorded.ambiguous > 0 {
        text += &format!(
            "\n  note: {} call stacks have the same sum as another \
                      one",
            thousands(recorded.ambiguous)
        );
    }
    for line in recorded.unseen() {
        text += &format!("\n  not seen: {line}");
    }
    terminal::tell(&text);
}
