//! What can be wrong with a workload, told with the place, what was found there and what is allowed.

use crate::base::findings::{Assumed, BadReason, LeftOut, grouped};
use crate::base::units::{AddressUnit, TimeUnit};
use ssd::config::{escaped, shown, shown_up_to};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Most characters of a finding: a few words and what they quote, which is cut before.
const FINDING_MAX: usize = 1000;

/// An error of a workload. Small, because every request of a stream could carry one.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadError(Box<Problem>);

/// The kinds of errors.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A file cannot be opened, read or decompressed.
    File {
        /// The file's path as it was given.
        file: String,
        /// What was being done ("open", "read", "decompress").
        action: &'static str,
        /// What the system or the decompressor says.
        message: String,
    },
    /// A line of a trace, or a record of a binary one, cannot be understood, and `on_bad_line` is `error`.
    BadLine {
        /// The trace's path.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// Where a record begins, in bytes of the unpacked file; `None` for a line.
        byte: Option<u64>,
        /// Name of the column, empty where the whole line is meant.
        column: &'static str,
        /// What kind of damage it is.
        reason: BadReason,
        /// What stands there, shortened and with unprintable bytes escaped.
        found: String,
        /// What may stand there.
        allowed: String,
    },
    /// The contents of a trace do not look like exactly one of the known formats.
    FormatNotRecognised {
        /// The trace's path.
        file: String,
        /// How the file begins.
        found: String,
        /// Formats that would fit (none, or more than one).
        candidates: Vec<&'static str>,
        /// All known formats.
        allowed: Vec<&'static str>,
        /// What to do with a file that is known to be something else.
        advice: Option<&'static str>,
    },
    /// No line at the beginning of a trace is of the format that was named.
    OtherFormat {
        /// The format named.
        named: &'static str,
        /// What is wrong with the first line.
        cause: String,
        /// Formats that it is of by its looks.
        fitting: Vec<&'static str>,
    },
    /// A trace does not say what its numbers are numbers of, and they can be none of the usual units, or several.
    UnknownUnits {
        /// The trace's path.
        file: String,
        /// What its head would be in each of the units in question.
        candidates: Vec<Assumed>,
        /// In all of them faster than drives are.
        is_too_fast: bool,
    },
    /// A trace holds no request at all: empty, only a header, or nothing but skipped lines.
    NoRequests {
        /// The trace's path.
        file: String,
        /// Lines read.
        lines: u64,
        /// Lines skipped as damaged.
        skipped: u64,
        /// Lines that are as they should be and are no request: what they are, and how many.
        passed_over: Vec<(&'static str, u64)>,
    },
    /// What is asked for of a trace leaves nothing of it.
    NothingSelected {
        /// The trace's path.
        file: String,
        /// The first filter that left requests out.
        asked: String,
        /// Requests left out, and why.
        left_out: Vec<(LeftOut, u64)>,
        /// Devices or processes that the first filter left out: what there is instead.
        others: Vec<String>,
    },
    /// A trace was read twice and was not the same.
    Changed {
        /// The trace's path.
        file: String,
    },
    /// A request reaches beyond the drive, and `address` is `as_is`.
    OutOfRange {
        /// Number of the request in the workload, from 1.
        request: u64,
        /// Its first sector.
        lba: u64,
        /// Its sectors.
        sectors: u32,
        /// Sectors of the drive.
        drive_sectors: u64,
    },
    /// The workload needs more space than the drive has.
    DoesNotFit {
        /// What needs the space.
        what: Cow<'static, str>,
        /// Sectors needed.
        needed_sectors: u64,
        /// Sectors of the drive.
        drive_sectors: u64,
        /// What can be done about it.
        advice: Cow<'static, str>,
    },
    /// An option of a fio job file is wrong.
    Job {
        /// The job file, or one that it includes.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// The option; empty where a section or the file as a whole is meant.
        option: String,
        /// What is wrong.
        found: String,
        /// What is allowed.
        allowed: String,
        /// A known name close to the one written.
        near: Option<String>,
    },
    /// A key or value of the `[workload]` table is wrong.
    Setting {
        /// The key as it was written; empty where a key is missing.
        key: String,
        /// Where in the text it stands, in bytes, when it came from a file.
        span: Option<Range<usize>>,
        /// What is wrong.
        found: String,
        /// What is allowed.
        allowed: String,
        /// A known name close to the one written.
        near: Option<String>,
    },
}

impl WorkloadError {
    /// What is wrong, for programs.
    pub fn problem(&self) -> &Problem {
        &self.0
    }

    /// A wrong setting.
    pub(crate) fn setting(key: &str, found: impl Into<String>, allowed: impl Into<String>) -> Self {
        Problem::Setting {
            key: key.to_string(),
            span: None,
            found: found.into(),
            allowed: allowed.into(),
            near: None,
        }
        .into()
    }

    /// The same error with a known name close to the one written.
    pub(crate) fn with_near(mut self, name: Option<String>) -> Self {
        if let Problem::Setting { near, .. } = &mut *self.0 {
            *near = name;
        }
        self
    }

    /// The same error of a setting that lies in another one.
    pub(crate) fn within(mut self, outer: &str) -> Self {
        if let Problem::Setting { key, .. } = &mut *self.0 {
            *key = if key.is_empty() { outer.to_string() } else { format!("{outer}.{key}") };
        }
        self
    }

    /// The same error with the place it stands at.
    pub(crate) fn at(mut self, place: Range<usize>) -> Self {
        if let Problem::Setting { span: span @ None, .. } = &mut *self.0 {
            *span = Some(place);
        }
        self
    }
}

impl From<Problem> for WorkloadError {
    #[cold]
    fn from(problem: Problem) -> Self {
        WorkloadError(Box::new(problem))
    }
}

impl std::error::Error for WorkloadError {}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Problem::File { file, action, message } => {
                write!(f, "{file}: cannot {action}: {}", escaped(message))
            }
            Problem::BadLine { file, line, byte, column, reason, found, allowed } => {
                match byte {
                    Some(byte) => write!(f, "{file}: record at byte {byte}: ")?,
                    None => write!(f, "{file}:{line}: ")?,
                }
                if !column.is_empty() {
                    write!(f, "{} {column}: ", if byte.is_some() { "field" } else { "column" })?;
                }
                write!(f, "{}: found {found}, allowed: {allowed}", reason.text())
            }
            Problem::FormatNotRecognised { file, advice: Some(advice), .. } => {
                write!(f, "{file}: not a trace: {advice}")
            }
            Problem::FormatNotRecognised { file, found, candidates, allowed, .. } => {
                not_recognised(f, file, found, candidates, allowed)
            }
            Problem::OtherFormat { named, cause, fitting } => {
                let fitting = fitting.join(", or ");
                write!(
                    f,
                    "{cause}\n    none of its first lines is in the format {named}; it looks like {fitting}"
                )
            }
            Problem::UnknownUnits { file, candidates, is_too_fast } => {
                unknown_units(f, file, candidates, *is_too_fast)
            }
            Problem::NoRequests { file, lines, skipped, passed_over } => {
                no_request(f, file, (*lines, *skipped), passed_over)
            }
            Problem::NothingSelected { file, asked, left_out, others } => {
                let counts: Vec<String> =
                    left_out.iter().map(|(why, count)| format!("{count} {}", why.text())).collect();
                write!(f, "{file}: no request passes {asked}: {}", counts.join(", "))?;
                if others.is_empty() { Ok(()) } else { write!(f, "; it has {}", others.join(", ")) }
            }
            Problem::Changed { file } => write!(f, "{file}: changed while it was being used"),
            Problem::OutOfRange { request, lba, sectors, drive_sectors } => write!(
                f,
                "request {request}: sectors {lba} to {} are beyond the drive's {drive_sectors} sectors \
                 (address = \"wrap\" or \"compact\" would make it fit)",
                lba.saturating_add(u64::from(*sectors)).saturating_sub(1),
            ),
            Problem::DoesNotFit { what, needed_sectors, drive_sectors, advice } => write!(
                f,
                "{what} needs {} but the drive has {}: {advice}",
                size_text(*needed_sectors),
                size_text(*drive_sectors)
            ),
            Problem::Job { file, line, option, found, allowed, near } => {
                write!(f, "{file}:{line}: ")?;
                if !option.is_empty() {
                    write!(f, "{}: ", shown(option))?;
                }
                write_finding(f, found, near.as_deref(), allowed)
            }
            Problem::Setting { key, found, allowed, near, .. } => {
                write!(f, "workload")?;
                if !key.is_empty() {
                    write!(f, ".{}", shown(key))?;
                }
                f.write_str(": ")?;
                write_finding(f, found, near.as_deref(), allowed)
            }
        }
    }
}

/// What a trace has instead of requests, and how to take it for these.
fn no_request(
    f: &mut fmt::Formatter<'_>,
    file: &str,
    (lines, skipped): (u64, u64),
    passed_over: &[(&str, u64)],
) -> fmt::Result {
    write!(f, "{file}: no request in this trace ({lines} lines, {skipped} skipped as damaged)")?;
    for (number, (what, count)) in passed_over.iter().enumerate() {
        write!(f, "{} {} {what}", if number == 0 { ":" } else { "," }, grouped(*count))?;
    }
    let flags = [("events Q", "queue"), ("events D", "issue"), ("events C", "complete")];
    let is_there = |event: &str| passed_over.iter().any(|(what, _)| what.starts_with(event));
    for (event, flag) in flags.into_iter().filter(|(event, _)| is_there(event)) {
        write!(f, "; --event {flag} takes {event} for requests")?;
    }
    Ok(())
}

/// A trace of no format, or of several.
fn not_recognised(
    f: &mut fmt::Formatter<'_>,
    file: &str,
    found: &str,
    candidates: &[&str],
    allowed: &[&str],
) -> fmt::Result {
    match candidates {
        [] => {
            let all = allowed.join(", ");
            write!(f, "{file}: not a trace of a known format: begins with {found}, allowed: {all}")?;
        }
        several => write!(f, "{file}: could be any of: {}", several.join(", "))?,
    }
    write!(
        f,
        "\n    `wordline formats` shows the columns of each. If it is one of them, name it (--format NAME, \
         or workload.format) to see the first line that does not fit; if it is another text with columns, \
         describe them (--columns)"
    )
}

/// What was found, what was meant perhaps, and what is allowed.
fn write_finding(f: &mut fmt::Formatter<'_>, found: &str, near: Option<&str>, allowed: &str) -> fmt::Result {
    f.write_str(&shown_up_to(found, FINDING_MAX))?;
    if let Some(near) = near {
        write!(f, " (did you mean `{near}`?)")?;
    }
    write!(f, ", allowed: {allowed}")
}

/// What a trace's head would be in each unit in question, and what to say about it.
fn unknown_units(
    f: &mut fmt::Formatter<'_>,
    file: &str,
    candidates: &[Assumed],
    is_too_fast: bool,
) -> fmt::Result {
    let why = if is_too_fast { "in which it is slow enough for a drive" } else { "that fits alone" };
    write!(f, "{file}: its numbers do not name their unit, and there is none {why}:")?;
    for one in candidates {
        write!(f, "\n    {}: {}", one.units("times in", "addresses in"), one.pace.figures())?;
    }
    let open = |is_open: fn(&Assumed) -> bool| candidates.iter().any(is_open);
    if open(|one| one.time != TimeUnit::Auto) {
        write!(f, "\n    say which: --time-unit us, or time_unit = \"us\" in [workload]")?;
        write!(f, "; allowed: {}", TimeUnit::NAMES[1..].join(", "))?;
    }
    if open(|one| one.space != AddressUnit::Auto) {
        write!(f, "\n    say which: --address-unit bytes, or address_unit = \"bytes\" in [workload]")?;
        write!(f, "; allowed: {}", AddressUnit::NAMES[1..].join(", "))?;
    }
    Ok(())
}

/// A number of sectors with the size people think in, in the unit that suits it.
fn size_text(sectors: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let unit = (1..UNITS.len()).rev().find(|&unit| sectors >= 2 << (10 * unit)).unwrap_or(0);
    let size = sectors as f64 / (2u64 << (10 * unit)) as f64;
    let size = format!("{size:.2}");
    let size = size.trim_end_matches('0').trim_end_matches('.');
    format!("{sectors} sectors ({size} {})", UNITS[unit])
}

/// The first bytes of something found in a file, made printable.
pub(crate) fn printable(bytes: &[u8]) -> String {
    const SHOWN: usize = 48;
    let text: String = bytes.iter().take(SHOWN).flat_map(|b| b.escape_ascii()).map(char::from).collect();
    if bytes.is_empty() {
        "nothing".to_string()
    } else if bytes.len() > SHOWN {
        format!("'{text}' and {} more bytes", bytes.len() - SHOWN)
    } else {
        format!("'{text}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_the_unit_that_suits_them() {
        assert_eq!(size_text(128), "128 sectors (64 KiB)");
        assert_eq!(size_text(1), "1 sectors (0.5 KiB)");
        assert_eq!(size_text(3 << 10), "3072 sectors (1.5 MiB)");
        assert_eq!(size_text(1 << 21), "2097152 sectors (1 GiB)");
        assert_eq!(size_text(u64::MAX).split(' ').next_back(), Some("TiB)"));
    }
}
