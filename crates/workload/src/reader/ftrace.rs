//! The kernel's block events as ftrace, `trace-cmd report` and `perf script` print them.

use super::events::{Asked, Requests, bracketed, called, event_to_read, two_numbers};
use super::fields::{Bad, Fields, TimeScale, Units};
use super::format::{Column, Format, Known, Row};
use super::layout::Word;
use super::names::Names;
use super::options::ReadOptions;
use crate::base::findings::BadReason;
use memchr::memchr_iter;

/// Events of `include/trace/events/block.h`, and the letters that blktrace has for them.
const NAMES: [(&[u8], &[u8]); 15] = [
    (b"block_rq_issue", b"D"),
    (b"block_rq_complete", b"C"),
    (b"block_bio_queue", b"Q"),
    (b"block_rq_insert", b"I"),
    (b"block_getrq", b"G"),
    (b"block_plug", b"P"),
    (b"block_unplug", b"U"),
    (b"block_bio_backmerge", b"M"),
    (b"block_bio_frontmerge", b"F"),
    (b"block_split", b"X"),
    (b"block_bio_remap", b"A"),
    (b"block_rq_remap", b"A"),
    (b"block_bio_bounce", b"B"),
    (b"block_rq_requeue", b"R"),
    (b"block_sleeprq", b"S"),
];
const TIME_ALLOWED: &str =
    "a line of ftrace, trace-cmd or perf, with a time such as 1234.567890: and an event";

/// Reads lines such as `fio-901 [002] d..1. 12.000125: block_rq_issue: 8,0 WS 4096 () 2048 + 8 [fio]`.
pub(crate) struct Ftrace {
    scale: TimeScale,
    units: Units,
    requests: Requests,
}

impl Format for Ftrace {
    const SUMMARY: &'static str = "Text of ftrace (cat /sys/kernel/tracing/trace), trace-cmd report or \
         perf script with the kernel's block events. Requests are the events block_bio_queue (Q), or block_rq_issue \
         (D: what the drive got) if the first lines have none, or else block_rq_complete (C); `event` selects others. \
         Other events, comments and gaps where events were lost are counted. RWBS, devices and process names as for \
         blkparse.";
    const SOURCE: &'static str = "Linux: include/trace/events/block.h, Documentation/trace/ftrace.rst; \
         trace-cmd-report(1); perf-script(1)";
    const COLUMNS: &'static [Column] = &[
        Column { name: "task, pid, cpu, flags", unit: "", used_for: "" },
        Column { name: "time", unit: "s, decimal, and a colon", used_for: "arrival" },
        Column { name: "event", unit: "block_rq_issue, ...", used_for: "which events are requests" },
        Column { name: "device", unit: "major,minor", used_for: "device, stream hint" },
        Column { name: "RWBS", unit: "letters", used_for: "operation, flush, forced unit access" },
        Column { name: "bytes, (command)", unit: "of some events", used_for: "" },
        Column { name: "sector", unit: "512-byte sectors", used_for: "address" },
        Column { name: "+ sectors", unit: "512-byte sectors", used_for: "length" },
        Column { name: "process", unit: "a name in brackets", used_for: "process hint" },
    ];
    const SAMPLE: &'static [u8] = b"# tracer: nop\n\
          #           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n     \
               Web Content-88  [002] d..1.    12.000125: block_rq_issue: 8,0 R 4096 () 2101248 + 8 [Web Content]\n     \
                    <idle>-0     [002] d.h1.    12.000610: block_rq_complete: 8,0 R () 2101248 + 8 [0]\n     \
               jbd2/sda1-8-412   [000] .....    12.004130: block_rq_issue: 8,0 WS 8192 () 9437184 + 16 [jbd2/sda1]\n";
    const SEPARATOR: u8 = b' ';
    const RECOGNISED_COLUMNS: (usize, usize) = (1, 64);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let is_there = |letter: &[u8]| {
            head.iter().filter_map(|line| Printed::of(line)).any(|printed| printed.letter() == Some(letter))
        };
        Ftrace {
            scale: TimeScale::SECONDS.or_named(options.time_unit),
            units: Units::SECTORS.or_named(options.address_unit),
            requests: Requests { event: event_to_read(options.event, is_there), ..Requests::default() },
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let Some(printed) = Printed::of(line) else { return beside(line) };
        let letter = printed.letter();
        if letter != Some(self.requests.event) {
            return Ok(Row::Other(letter.and_then(called).unwrap_or("other events")));
        }
        let time_ns =
            Fields::from(&line[..printed.time_end], b' ', printed.time_at).time("time", self.scale)?;
        let mut fields = Fields::from(line, b' ', printed.fields_at);
        let device_at = fields.position();
        let (major, minor) = two_numbers(fields.word("device", "major,minor such as 8,16")?, device_at)?;
        let at = fields.position();
        let rwbs = Word { text: fields.word("RWBS", "letters such as RA")?, column: "RWBS", at };
        let mut sector_at = fields.position();
        loop {
            let at = fields.position();
            match fields.word("+", "+ and a number of sectors")? {
                b"+" => break,
                _ => sector_at = at,
            }
        }
        let mut sector = Fields::from(line, b' ', sector_at).placed("sector")?;
        let sectors = fields.placed("sectors")?;
        if sectors.value == 0 {
            // A flush lies nowhere: the kernel says -1.
            sector.value = 0;
        }
        let range = self.units.range(sector, sectors)?;
        let is_completed = self.requests.event == b"C";
        let process = if is_completed { b"" } else { bracketed(&line[fields.position().min(line.len())..]) };
        self.requests.request(&Asked { time_ns, rwbs, device: (major, minor, device_at), range, process })
    }

    fn processes(&self) -> Option<&Names> {
        Some(&self.requests.processes)
    }

    fn known(&self) -> Known<'_> {
        Known { devices: self.requests.devices.names(), ..Known::default() }
    }
}

/// Where things stand in a line that tells of an event.
struct Printed<'a> {
    time_at: usize,
    time_end: usize,
    /// The name of the event, without that of its system.
    event: &'a [u8],
    fields_at: usize,
}

impl<'a> Printed<'a> {
    /// The first word that is a time with a colon, the event behind it, and what follows.
    fn of(line: &'a [u8]) -> Option<Self> {
        let (time_at, time_end) = memchr_iter(b':', line).find_map(|end| {
            let at = line[..end].iter().rposition(|b| b.is_ascii_whitespace())? + 1;
            let is_time = line[at..end].iter().all(|b| b.is_ascii_digit() || *b == b'.');
            (is_time && line[at..end].contains(&b'.')).then_some((at, end))
        })?;
        let mut fields = Fields::new(line, b' ');
        while fields.position() <= time_at {
            fields.word("", "").ok()?;
        }
        let mut event = fields.word("", "").ok()?;
        // perf may tell how many events a line stands for.
        if event.iter().all(u8::is_ascii_digit) {
            event = fields.word("", "").ok()?;
        }
        let event = event.strip_suffix(b":")?.rsplit(|&b| b == b':').next()?;
        Some(Printed { time_at, time_end, event, fields_at: fields.position() })
    }

    /// The letter of blktrace for it.
    fn letter(&self) -> Option<&'static [u8]> {
        NAMES.iter().find(|(name, _)| *name == self.event).map(|(_, letter)| *letter)
    }
}

/// A line that tells of no event: a comment, a header, a gap, or damaged.
#[cold]
fn beside(line: &[u8]) -> Result<Row, Bad> {
    let text = line.trim_ascii();
    let begins_with = |start: &str| text.starts_with(start.as_bytes());
    let holds = |word: &[u8]| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    if begins_with("CPU") && holds(b"lost") {
        return Ok(Row::Other("gaps where events were lost"));
    }
    if ["#", "CPU", "cpus=", "version = "].into_iter().any(begins_with) {
        return Ok(Row::Other("comments"));
    }
    let at = line.len() - line.trim_ascii_start().len();
    Err(Bad { reason: BadReason::MissingColumn, column: "time", allowed: TIME_ALLOWED, at })
}
