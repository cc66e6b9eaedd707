//! Recognising a format by the first lines of a trace.

use super::fields::Fields;
use super::format::{Format, Row};
use super::options::ReadOptions;
use crate::base::input::lines::{Cut, LINE_BYTES_MAX};
use crate::base::report::Detected;

/// How well the first lines fit a format.
pub(crate) type Fit = Detected;

/// How well they fit `F`; `None` unless at least half of them, header aside, can be read with the right number of
/// columns, and one of them is a request (binary records show what they are without).
pub(super) fn fits<F: Format>(name: &'static str, head: &[&[u8]], options: &ReadOptions) -> Option<Fit> {
    if let Cut::Records(records) = F::CUT
        && !(records.fit)(head)
    {
        return None;
    }
    let mut format = F::new(options, head);
    let has_header = format.header(head.first()?).ok()?;
    let rows = &head[usize::from(has_header)..];
    let lines = rows.len() as u64;
    let mut fit = Fit { format: name, kind: format.kind(), lines, fitting: 0, has_header };
    if rows.is_empty() {
        return has_header.then_some(fit);
    }
    let mut requests = 0;
    for line in rows.iter().filter(|line| line.len() <= LINE_BYTES_MAX) {
        if !F::CUT.is_binary() && !has_right_width::<F>(line, format.separator()) {
            continue;
        }
        let row = format.parse(line);
        fit.fitting += u64::from(row.is_ok());
        requests += u64::from(matches!(row, Ok(Row::Request(_))));
    }
    (fit.fitting * 2 >= fit.lines && (requests > 0 || F::CUT.is_binary())).then_some(fit)
}

/// Whether any line can be read as one of `F`, or there is none to be read.
pub(super) fn reads<F: Format>(head: &[&[u8]], options: &ReadOptions) -> bool {
    let mut format = F::new(options, head);
    let Some(first) = head.first() else { return true };
    let rows = match format.header(first) {
        Ok(is_header) => &head[usize::from(is_header)..],
        Err(_) => return false,
    };
    let mut lines = rows.iter().filter(|line| !line.trim_ascii().is_empty()).peekable();
    lines.peek().is_none() || lines.any(|line| format.parse(line).is_ok())
}

fn has_right_width<F: Format>(line: &[u8], separator: u8) -> bool {
    let (fewest, most) = F::RECOGNISED_COLUMNS;
    let mut rest = Fields::new(line, separator);
    let mut columns = 0;
    while !rest.is_done() && columns <= most {
        columns += usize::from(rest.word("", "").is_ok());
    }
    (fewest..=most).contains(&columns)
}

/// What to do with a file that is no trace but known.
pub(super) fn advice(head: &[&[u8]]) -> Option<&'static str> {
    let first = head.first()?.trim_ascii();
    if first.eq_ignore_ascii_case(b"LBA,Frequency") {
        return Some(
            "it counts how often each address was accessed, and has no requests: the generator `histogram` \
             draws requests from such counts (histogram = \"FILE\" in [workload])",
        );
    }
    // bpftrace tells of its probes first.
    let is_bpftrace = |line: &&[u8]| {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.eq([&b"TIME(ms)"[..], b"DISK", b"COMM", b"PID", b"LAT(ms)"])
    };
    head.iter().take(3).any(is_bpftrace).then_some(
        "biosnoop.bt of bpftrace tells neither addresses nor sizes of its requests: record them with biosnoop of \
         bcc, or with blktrace",
    )
}
