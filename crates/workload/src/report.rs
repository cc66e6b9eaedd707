//! What happened while a workload was read: nothing is dropped or changed in silence.

use crate::error::BadReason;
use crate::reader::TimeUnit;

/// Line numbers kept for each reason of skipping.
pub const LINES_SHOWN: usize = 5;

/// Lines skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Why.
    pub reason: BadReason,
    /// How many.
    pub count: u64,
    /// Numbers of the first of them (at most five).
    pub first_lines: Vec<u64>,
}

/// A unit that whole-number times are taken for, and what the beginning of the trace asks for in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssumedUnit {
    /// The unit.
    pub unit: TimeUnit,
    /// Requests looked at.
    pub head_requests: u64,
    /// Requests per second that they come to, rounded up.
    pub requests_per_s: u64,
    /// Bytes per second, rounded up.
    pub bytes_per_s: u64,
}

impl AssumedUnit {
    /// What the head asks for, for a person.
    pub(crate) fn figures(&self) -> String {
        let megabytes = self.bytes_per_s as f64 / 1e6;
        format!(
            "the first {} requests ask for {} requests/s and {megabytes:.3} MB/s",
            self.head_requests, self.requests_per_s
        )
    }
}

/// Counts of what was read and of what had to be done to it. A trace that is repeated is counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// Lines of the trace, with header, blank and damaged ones.
    pub lines: u64,
    /// Requests found in it (before device choice), with flushes that came as a flag of a write.
    pub requests: u64,
    /// Blank lines.
    pub blank_lines: u64,
    /// Damaged lines that were skipped, by reason.
    pub skipped: Vec<Skipped>,
    /// Requests whose time lay before an earlier one's and was moved up to it.
    pub time_steps_back: u64,
    /// The largest such step in nanoseconds.
    pub time_step_back_ns_max: u64,
    /// Reads, writes and trims of no sectors: dropped.
    pub zero_length: u64,
    /// Requests that did not begin and end on a sector and were rounded out to whole sectors.
    pub rounded_to_sectors: u64,
    /// The unit that its times were taken for, where nothing says it.
    pub assumed_unit: Option<AssumedUnit>,
    /// The last line had no line end (it was used if it could be read).
    pub last_line_unterminated: bool,
    /// Requests left out because they are for devices not asked for.
    pub other_devices: u64,
    /// `wrap`: requests whose address lay beyond the drive and was taken modulo its size.
    pub wrapped: u64,
    /// `wrap`: requests moved down so that they do not cross the end of the drive.
    pub moved_from_end: u64,
    /// `wrap`: requests longer than the drive, cut to its size.
    pub shortened: u64,
    /// `compact`: trims of pages that are never read or written: dropped.
    pub trims_dropped: u64,
    /// Remarks of the workload's own, a line each.
    pub notes: Vec<String>,
}

impl SourceReport {
    /// Damaged lines skipped, of all reasons.
    pub fn skipped_total(&self) -> u64 {
        self.skipped.iter().map(|s| s.count).sum()
    }

    /// Counts a skipped line.
    pub(crate) fn skip(&mut self, reason: BadReason, line: u64) {
        let at = self.skipped.iter().position(|s| s.reason == reason).unwrap_or_else(|| {
            self.skipped.push(Skipped { reason, count: 0, first_lines: Vec::new() });
            self.skipped.len() - 1
        });
        let skipped = &mut self.skipped[at];
        skipped.count += 1;
        if skipped.first_lines.len() < LINES_SHOWN {
            skipped.first_lines.push(line);
        }
    }

    /// Remarks for a person, one line each; empty if there is nothing to remark.
    pub fn remarks(&self) -> Vec<String> {
        let mut out = self.notes.clone();
        if let Some(assumed) = &self.assumed_unit {
            let unit = assumed.unit.name();
            out.push(format!("times are taken for {unit}: {} (--time-unit)", assumed.figures()));
        }
        for s in &self.skipped {
            let lines: Vec<String> = s.first_lines.iter().map(u64::to_string).collect();
            let more = if s.count > s.first_lines.len() as u64 { ", …" } else { "" };
            out.push(format!(
                "{} damaged lines skipped: {} (line {}{more})",
                s.count,
                s.reason.text(),
                lines.join(", ")
            ));
        }
        let mut remark = |count: u64, text: &str| {
            if count > 0 {
                out.push(format!("{count} {text}"));
            }
        };
        remark(self.zero_length, "requests of no length dropped");
        remark(self.rounded_to_sectors, "requests rounded out to whole 512-byte sectors");
        remark(self.other_devices, "requests of other devices left out");
        remark(self.wrapped, "requests beyond the drive wrapped to an address modulo its size");
        remark(self.moved_from_end, "requests moved down so that they do not cross the end of the drive");
        remark(self.shortened, "requests longer than the drive shortened to its size");
        remark(self.trims_dropped, "trims of pages that are never read or written dropped");
        if self.time_steps_back > 0 {
            out.push(format!(
                "{} requests arrived before the one above them, by up to {:.3} ms: moved up to its time",
                self.time_steps_back,
                self.time_step_back_ns_max as f64 / 1e6
            ));
        }
        if self.last_line_unterminated {
            out.push("the last line has no line end: the file may have been cut".to_string());
        }
        out
    }
}
