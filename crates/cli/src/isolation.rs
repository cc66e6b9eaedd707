//! A run in a process of its own, so that a policy that brings the process down is told as that.
//!
//! The process is this program again, with the same words. It leaves its exit code in a note when it has come to its
//! end: whoever ends it otherwise, by a signal or by `exit`, leaves none, whatever code the system tells.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio, id};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lab::workers::death;
use lab::{no_thread, process};
use signal_hook::consts::{SIGCONT, SIGSTOP, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Between two looks at whether the other process is there.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The words that this program was called with.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Remembers the words that this program was called with; what was said first holds.
pub fn is_called_as(words: &[OsString]) {
    WORDS.get_or_init(|| words.to_vec());
}

/// What a note begins with: who waits for the other process, and how that has ended.
const WAITS: &str = "waits ";
const ENDED: &str = "ended ";

/// The file in which the other process leaves its exit code; removed with this.
struct Note(PathBuf);

impl Note {
    fn new() -> io::Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = std::env::temp_dir().join(format!("wordline-{}-{now}.note", id()));
        // Nobody else's, and nothing behind a link.
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let note = Note(path);
        file.write_all(format!("{WAITS}{}", id()).as_bytes())?;
        Ok(note)
    }

    fn read(&self) -> Option<u8> {
        fs::read_to_string(&self.0).ok()?.strip_prefix(ENDED)?.parse().ok()
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // Somebody may clean up such places.
        let _ = fs::remove_file(&self.0);
    }
}

/// Leaves the exit code for whoever has started this process.
pub fn leave(note: &Path, code: u8) {
    // Not where there is none any more: then nobody waits for it. Without it the end is told as a death.
    let file = OpenOptions::new().write(true).truncate(true).open(note);
    let _ = file.and_then(|mut file| file.write_all(format!("{ENDED}{code}").as_bytes()));
}

/// Ends this process when the one that has started it is gone: nobody waits for it any more, nor for its note.
pub fn end_with_parent(note: &Path) -> Result<(), Failure> {
    let note = note.to_owned();
    // As the note has it: the parent may be gone already. Read here, for in a while it has the exit code.
    let text = fs::read_to_string(&note).unwrap_or_default();
    let parent = text.strip_prefix(WAITS).and_then(|parent| parent.parse().ok());
    let watch = move || {
        while parent == Some(parent_id()) {
            thread::sleep(LOOK_EVERY);
        }
        let _ = fs::remove_file(note);
        std::process::exit(1);
    };
    let started = thread::Builder::new().spawn(watch);
    started.map(drop).map_err(|error| Failure::work(no_thread(error).to_string()))
}

/// Runs these words again in another process of this `program`, and passes on how that ends; its death is told as that
/// of these libraries' policies.
pub fn run(program: io::Result<Command>, libraries: &[String]) -> Result<(), Failure> {
    let unmade =
        |error: io::Error| Failure::work(format!("--isolate-policies: no process can be started: {error}"));
    let note = Note::new().map_err(unmade)?;
    // Ctrl-Z comes to this process alone, as Ctrl-C does. Where the system refuses, it stops no other.
    let is_to_rest = Arc::new(AtomicBool::new(false));
    let _ = flag::register(SIGTSTP, Arc::clone(&is_to_rest));
    let interrupt = Interrupt::listen();
    let mut child = command(program, &note.0).and_then(|mut command| command.spawn()).map_err(unmade)?;
    let status = wait(&mut child, &interrupt, &is_to_rest).map_err(unmade)?;
    match (note.read(), status.code()) {
        (Some(0), Some(0)) => Ok(()),
        (Some(left), Some(code)) if i32::from(left) == code => Err(Failure::Ended(left)),
        // A signal that comes before it listens, or a second one, ends it at once, as it was asked to.
        (None, _) if interrupt.stop.is_asked() && is_ended_by(status, interrupt.signal()) => {
            let message = "interrupted; nothing was measured".to_owned();
            Err(Failure::Interrupted { signal: interrupt.signal(), message })
        }
        _ => Err(Failure::work(died(libraries, status))),
    }
}

/// Whether a signal has ended a process, or has made it end.
fn is_ended_by(status: ExitStatus, signal: u8) -> bool {
    let signal = i32::from(signal);
    status.signal() == Some(signal) || status.code() == Some(128 + signal)
}

fn died(libraries: &[String], status: ExitStatus) -> String {
    format!(
        "the run's process died{}: {}\n    what it had measured is lost; a library must neither write what it is \
         shown nor end the process (docs/own-policy.md)",
        death::blame(libraries),
        death::told(status)
    )
}

/// This program with the same words, and where to leave its note.
fn command(program: io::Result<Command>, note: &Path) -> io::Result<Command> {
    let unknown = || io::Error::other("the program does not know how it was called");
    let mut command = program?;
    let (name, rest) = WORDS.get().and_then(|words| words.get(1..)?.split_first()).ok_or_else(unknown)?;
    command.arg(name).arg("--isolated").arg(note).args(rest);
    // Ctrl-C comes to this process, which passes it on: a second one would end the other at once.
    command.process_group(0);
    // Nor may it read from the terminal, then: it would be stopped.
    if io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    Ok(command)
}

/// Waits for its end, and passes on every signal that comes meanwhile.
fn wait(child: &mut Child, interrupt: &Interrupt, is_to_rest: &AtomicBool) -> io::Result<ExitStatus> {
    let mut is_passed_on = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if is_to_rest.swap(false, Ordering::Relaxed) {
            process::send(child.id(), SIGSTOP as u8);
            // Returns when the shell has it go on.
            let _ = low_level::emulate_default_handler(SIGTSTP);
            process::send(child.id(), SIGCONT as u8);
        }
        if interrupt.stop.is_asked() && !is_passed_on {
            is_passed_on = true;
            process::send(child.id(), interrupt.signal());
        }
        thread::sleep(LOOK_EVERY);
    }
}
