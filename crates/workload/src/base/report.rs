//! What happened while a workload was read: nothing is dropped or changed in silence.

use crate::base::findings::{Assumed, BadReason, LeftOut, Pace, grouped};
use crate::base::remark::{Kind, Remark};
use crate::base::units::TimeUnit;

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

/// What devices are called together that nobody asked for.
pub(crate) const OTHERS: &str = "others";

/// Devices with other numbers that a remark names.
const NUMBERS_TOLD: usize = 5;

/// Names kept for each kind of things named.
pub const NAMES_SHOWN: usize = 1000;

/// A format that was recognised, and how well the beginning of the trace fits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The format's name.
    pub format: &'static str,
    /// What its traces of this kind are called, where one format has several; empty otherwise.
    pub kind: &'static str,
    /// Lines looked at, without the header.
    pub lines: u64,
    /// Lines of these that can be read.
    pub fitting: u64,
    /// Whether there is a header.
    pub has_header: bool,
}

/// Counts of what was read and of what had to be done to it. A trace that is repeated is counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// Lines of the trace, with header, blank and damaged ones; records, where it is binary.
    pub lines: u64,
    /// It is made of binary records.
    pub is_binary: bool,
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
    /// Lines that are as they should be and are no request, such as other events of a block trace: what they are, and
    /// how many.
    pub passed_over: Vec<(&'static str, u64)>,
    /// The format, where it was recognised.
    pub detected: Option<Detected>,
    /// Units that were taken for granted, where nothing says them.
    pub assumed: Option<Assumed>,
    /// Units are known, and in them the beginning asks for more than a drive can do.
    pub too_fast: Option<Pace>,
    /// Requests have no times: they all arrive at once, or as others complete.
    pub has_no_times: bool,
    /// Requests that stood behind a later one and were sorted in.
    pub sorted: u64,
    /// Times were whole seconds and were spread over their second.
    pub spread_over_seconds: bool,
    /// Names of processes, in order of their numbers from 1 (at most 1,000; so for the next two).
    pub processes: Vec<String>,
    /// Names of files, in order of their numbers from 1.
    pub files: Vec<String>,
    /// Names of devices that have no numbers of their own, in order of the numbers they got, from 0.
    pub device_names: Vec<String>,
    /// Devices whose numbers are too large to tell them apart: the number that stands for each, and its own.
    pub renumbered: Vec<(u16, String)>,
    /// Devices that requests of a trace go to, where it is more than one.
    pub devices: u64,
    /// The last line had no line end (it was used if it could be read).
    pub last_line_unterminated: bool,
    /// Requests left out because they were not asked for, and why.
    pub left_out: Vec<(LeftOut, u64)>,
    /// `wrap`: requests whose address lay beyond the drive and was taken modulo its size.
    pub wrapped: u64,
    /// `wrap`: requests moved down so that they do not cross the end of the drive.
    pub moved_from_end: u64,
    /// `wrap`: requests longer than the drive, cut to its size.
    pub shortened: u64,
    /// `compact`: trims of pages that are never read or written: dropped.
    pub trims_dropped: u64,
    /// Remarks of the workload's own, a line each.
    pub notes: Vec<Remark>,
    /// Files: operations left out since the file system was full.
    pub refused_operations: u64,
}

impl SourceReport {
    /// Damaged lines skipped, of all reasons.
    pub fn skipped_total(&self) -> u64 {
        self.skipped.iter().map(|s| s.count).sum()
    }

    /// The number by which a device is asked for (`devices`), and its name.
    pub(crate) fn device(&self, device: u16) -> (u64, String) {
        let own = self.renumbered.iter().find(|(number, _)| *number == device).map(|(_, own)| own);
        let number = own.and_then(|own| own.parse().ok()).unwrap_or(u64::from(device));
        let name = self.device_names.get(usize::from(device));
        (number, name.map_or_else(|| format!("device-{number}"), String::clone))
    }

    /// What it is made of.
    fn piece(&self) -> &'static str {
        if self.is_binary { "record" } else { "line" }
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

    /// Counts a line that is no request.
    #[inline]
    pub(crate) fn pass_over(&mut self, what: &'static str) {
        match self.passed_over.iter_mut().find(|(known, _)| std::ptr::eq(*known, what) || *known == what) {
            Some((_, count)) => *count += 1,
            None => self.passed_over.push((what, 1)),
        }
    }

    /// Remarks for a person, one line each; empty if there is nothing to remark.
    pub fn remarks(&self) -> Vec<String> {
        self.told().iter().map(Remark::to_string).collect()
    }

    /// The same with their weight.
    pub fn told(&self) -> Vec<Remark> {
        let mut out = self.notes.clone();
        out.extend(self.guesses());
        for s in &self.skipped {
            let lines: Vec<String> = s.first_lines.iter().map(u64::to_string).collect();
            let more = if s.count > s.first_lines.len() as u64 { ", …" } else { "" };
            out.push(Remark::caution(format!(
                "{} damaged {piece}s skipped: {} ({piece} {}{more})",
                grouped(s.count),
                s.reason.text(),
                lines.join(", "),
                piece = self.piece()
            )));
        }
        let mut remark = |kind: Kind, count: u64, text: &str| {
            if count > 0 {
                out.push(kind(format!("{} {text}", grouped(count))));
            }
        };
        let (note, caution): (Kind, Kind) = (Remark::note, Remark::caution);
        remark(note, self.sorted, "requests out of time order were sorted");
        remark(note, self.zero_length, "requests of length 0 dropped");
        remark(note, self.rounded_to_sectors, "requests rounded outwards to whole 512-byte sectors");
        for (why, count) in &self.left_out {
            remark(note, *count, &format!("requests {} left out", why.text()));
        }
        remark(caution, self.wrapped, "requests beyond the drive wrapped to an address modulo its size");
        remark(
            note,
            self.moved_from_end,
            "requests moved down so that they do not cross the end of the drive",
        );
        remark(caution, self.shortened, "requests longer than the drive shortened to its size");
        remark(note, self.trims_dropped, "trims of pages never read or written dropped");
        remark(
            note,
            self.devices,
            "devices of the trace are combined into one drive, in order of arrival (--device selects some, \
             --drives each keeps them apart)",
        );
        remark(
            caution,
            self.refused_operations,
            "operations on files skipped because the file system was full",
        );
        out.extend(self.other_numbers().map(Remark::note));
        if self.time_steps_back > 0 {
            out.push(Remark::note(format!(
                "{} requests arrived before the one above them, by up to {:.3} ms: treated as arriving \
                 with it",
                grouped(self.time_steps_back),
                self.time_step_back_ns_max as f64 / 1e6
            )));
        }
        if self.last_line_unterminated {
            out.push(Remark::caution("the last line has no line end: the file may be truncated"));
        }
        out
    }

    /// Which numbers stand for devices called otherwise.
    fn other_numbers(&self) -> Option<String> {
        let one = |(number, name): &(u16, String)| format!("{name} by {number}");
        let known = || self.renumbered.iter().filter(|(_, name)| name != OTHERS);
        let told: Vec<String> = known().take(NUMBERS_TOLD).map(one).collect();
        let more = if known().count() > NUMBERS_TOLD { ", ..." } else { "" };
        let text = "devices whose numbers are above 65535, or taken, are told apart by others";
        (!told.is_empty()).then(|| format!("{text}: {}{more}", told.join(", ")))
    }

    /// What was taken for granted of the trace.
    fn guesses(&self) -> Vec<Remark> {
        let mut out = Vec::new();
        if let Some(Detected { format, kind, lines, fitting, .. }) = self.detected {
            let piece = self.piece();
            let fit = match fitting == lines {
                true => format!("all of the first {} {piece}s match", grouped(lines)),
                false => format!("{} of the first {} {piece}s match", grouped(fitting), grouped(lines)),
            };
            out.push(Remark::note(match kind {
                "" => format!("format: {format} ({fit})"),
                kind => format!("format: {kind} (--format {format}; {fit})"),
            }));
        }
        if let Some(assumed) = &self.assumed {
            let addresses =
                if assumed.time == TimeUnit::Auto { "addresses are read as" } else { "addresses as" };
            let units = assumed.units("times are read as", addresses);
            let text = format!("{units}: {}", assumed.pace.figures());
            out.push(Remark::note(text).advising("--time-unit, --address-unit"));
        }
        if let Some(pace) = &self.too_fast {
            let figures = pace.figures();
            let text = format!("{figures}: more than a drive can do; are the units right?");
            out.push(Remark::caution(text).advising("check --time-unit and --address-unit"));
        }
        if self.has_no_times {
            let text = "it has no times: requests are sent as earlier ones complete (closed loop), or all \
                        at once \
                 (open)";
            out.push(Remark::note(text));
        }
        if self.spread_over_seconds {
            let text = "times are whole seconds: the requests of each second are spread evenly over it";
            out.push(Remark::note(text));
        }
        if !self.passed_over.is_empty() {
            let total: u64 = self.passed_over.iter().map(|(_, count)| count).sum();
            let kinds: Vec<String> =
                self.passed_over.iter().map(|(what, count)| format!("{} {what}", grouped(*count))).collect();
            let piece = self.piece();
            let text = format!("{} {piece}s are not requests: {}", grouped(total), kinds.join(", "));
            out.push(Remark::note(text));
        }
        out
    }
}
