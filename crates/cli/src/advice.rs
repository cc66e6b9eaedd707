//! What to type instead: advice behind an error, for mistakes that are made often.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ssd::config::Problem;
use std::borrow::Cow;
use std::path::Path;

use crate::failure::Failure;
use crate::terminal;

/// Flags that other programs have, and how the same is said here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("--rw", "--synthetic uniform --read-percent 70"),
    ("--readwrite", "--synthetic uniform --read-percent 70"),
    ("--qd", "--depth 32"),
    ("--iodepth", "--depth 32"),
    ("--bs", "--size 4KiB"),
    ("--block-size", "--size 4KiB"),
    ("--runtime", "--requests 1e6"),
    ("--trace", "wordline run TRACE: the file needs no flag"),
    ("--input", "wordline run TRACE: the file needs no flag"),
    ("--output", "--out DIR"),
    ("--threads", "a run uses one core; wordline sweep --jobs 8 does several runs at a time"),
    ("--numjobs", "--copies 4, or a fio job file"),
    ("--op", "--set drive.over_provisioning_percent=28"),
    ("--over-provisioning", "--set drive.over_provisioning_percent=28"),
    ("--preset", "--drive tlc"),
];

/// Says how a command line is wrong; returns the exit code, which is 0 where help was asked for.
pub fn tell(mut error: clap::Error, arguments: &[String], commands: &[&str]) -> u8 {
    let code = error.exit_code() as u8;
    let Some(advice) = advice(&error, arguments, commands) else {
        print(&error);
        return code;
    };
    for guess in [
        ContextKind::Suggested,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::TrailingArg,
    ] {
        error.remove(guess);
    }
    print(&error);
    terminal::tell(&format!("    {advice}"));
    code
}

/// Prints what clap says, with its colours unless a word of the command line would bring its own.
fn print(error: &clap::Error) {
    let text = error.render().to_string();
    if matches!(terminal::plain(&text), Cow::Borrowed(_)) {
        // Standard output and error may be closed: then there is nobody to tell.
        _ = error.print();
    } else {
        terminal::tell(text.trim_end());
    }
}

/// Advice for a command line that cannot be understood, where there is any that is better than clap's.
fn advice(error: &clap::Error, arguments: &[String], commands: &[&str]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let found = text(ContextKind::InvalidSubcommand)?;
            if Path::new(found).exists() {
                return Some(format!("to run it: wordline run {found}"));
            }
            near("command", found, commands.iter().copied())
                .map(|near| format!("did you mean `wordline {near}`?"))
        }
        ErrorKind::UnknownArgument => unknown(text(ContextKind::InvalidArg)?, arguments, commands),
        _ => None,
    }
}

/// Advice for a flag, or a word, that is not expected where it stands.
fn unknown(found: &str, arguments: &[String], commands: &[&str]) -> Option<String> {
    let flag = found.split(['=', ' ']).next().unwrap_or(found);
    if let Some((_, here)) = ELSEWHERE.iter().find(|(name, _)| *name == flag) {
        return Some(format!("instead: {here}"));
    }
    let at = arguments.iter().position(|argument| argument.split('=').next() == Some(flag))?;
    let command = arguments.iter().position(|argument| commands.contains(&argument.as_str()));
    if let Some(command) = command.filter(|command| at < *command) {
        return Some(format!("flags go after the command: wordline {} {flag} ...", arguments[command]));
    }
    // `--set KEY VALUE` leaves the value where a trace is expected, and the trace is one word too many.
    let set = arguments.windows(3).find(|words| words[0] == "--set" && !words[1].contains('='))?;
    Some(format!("a setting is one word with `=`: --set {}={}", set[1], set[2]))
}

/// The name that was probably meant.
fn near<'a>(what: &'static str, found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    match Problem::no_such_name(what, found, names) {
        Problem::NoSuchName { near, .. } => near,
        _ => None,
    }
}

/// The failure of a run, and what else was meant perhaps by what it was given to run.
pub fn of_input(failure: Failure, path: &Path) -> Failure {
    let shown = path.display();
    if path.join(lab::result::FILE_NAME).is_file() {
        let again = path.join("config.toml");
        return failure.and(&format!(
            "    it is the folder of a result; to look at it: wordline report {shown}; to repeat it: wordline run {}",
            again.display()
        ));
    }
    if path.file_name().is_some_and(|name| name == lab::result::FILE_NAME) {
        return failure.and(&format!("    that is a result; to view it: wordline report {shown}"));
    }
    if path.exists() {
        return failure;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let found = path.file_name().unwrap_or_default().to_string_lossy();
    match near("file", &found, names.iter().map(String::as_str)) {
        Some(name) => failure.and(&format!("    did you mean {}?", path.with_file_name(name).display())),
        None => failure,
    }
}
