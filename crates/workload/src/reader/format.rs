//! What a trace format is: how one line becomes one request.

use super::fields::{Bad, Range, TimeScale, Units};
use super::names::Names;
use super::options::ReadOptions;
use super::volumes::Volumes;
use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::input::lines::Cut;
use crate::base::report::SourceReport;
use crate::base::request::Record;
use crate::base::units::TimeUnit;
use ssd::signals::{Hints, OpCode};

/// One column of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, as errors call it.
    pub name: &'static str,
    /// Unit, or the words allowed.
    pub unit: &'static str,
    /// What it is used for; empty if it is passed over.
    pub used_for: &'static str,
}

/// In which order the lines of a trace stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// In order of arrival: what steps back is moved up.
    Recorded,
    /// Nearly in order, such as by completion: sorted in a window.
    Sorted,
    /// The same, and times are whole seconds: spread over their second.
    Spread,
}

/// What a format reads from one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A request.
    Request(Raw),
    /// A line that is as it should be and is no request: what it is, in a few words, for counting.
    Other(&'static str),
}

/// A request as a format reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    /// Time as the trace has it, from whatever origin.
    pub time_ns: u64,
    pub op: OpCode,
    pub fua: bool,
    /// A flush is to be done before it.
    pub flush_before: bool,
    pub device: u16,
    pub range: Range,
    pub hints: Hints,
}

impl Raw {
    /// A request of which nothing else is known: its device is its stream.
    #[inline]
    pub(crate) fn new(time_ns: u64, op: OpCode, device: u16, range: Range) -> Self {
        let hints = Hints { stream: device, ..Hints::default() };
        Raw { time_ns, op, fua: false, flush_before: false, device, range, hints }
    }
}

/// What a trace leaves open and its beginning must show: scales that are set once it is known.
pub(crate) struct OpenUnits<'a> {
    /// Of times that are whole numbers.
    pub time: Option<&'a mut TimeScale>,
    /// Of addresses and sizes.
    pub space: Option<&'a mut Units>,
}

/// The names that a format has turned into numbers.
#[derive(Default)]
pub(crate) struct Known<'a> {
    pub files: Option<&'a Names>,
    /// Of devices that have no numbers of their own, in order of the numbers they got.
    pub devices: Vec<String>,
}

/// A trace format: how one line becomes one request.
pub(crate) trait Format: Send + Sized + 'static {
    const SUMMARY: &'static str;
    const SOURCE: &'static str;
    const COLUMNS: &'static [Column];
    /// The beginning of a trace of this format, with its header if it has one: two requests or more, no line of it
    /// wrong. People see it in the list of formats, and the tests of all formats read it.
    const SAMPLE: &'static [u8];
    /// What `columns` must be for it, in the format that needs that.
    const SAMPLE_COLUMNS: &'static str = "";
    /// What its first line begins with, and that of no other; empty if nothing tells it like that.
    const MARK: &'static str = "";
    /// What it is made of.
    const CUT: Cut = Cut::Lines;
    const SEPARATOR: u8;
    /// Fewest and most columns of a line that may be recognised as this format.
    const RECOGNISED_COLUMNS: (usize, usize);

    /// A parser; `head` is the beginning of the trace, for what only the data can tell.
    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self;

    /// Takes the first line if it is a header. An error means that there must be one and it lacks something.
    fn header(&mut self, _line: &[u8]) -> Result<bool, Bad> {
        Ok(false)
    }

    /// Reads one line.
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad>;

    /// Whether a line ends within a field, which goes on in the next one.
    #[inline]
    fn line_goes_on(&self, _line: &[u8]) -> bool {
        false
    }

    /// What separates columns, where that is not the same for all traces of the format.
    fn separator(&self) -> u8 {
        Self::SEPARATOR
    }

    /// Whether its times count from the beginning of the workload; otherwise the first request's is the origin.
    fn times_count_from_zero(&self) -> bool {
        false
    }

    /// What a trace of this kind is called, where the format is of several that have the same columns.
    fn kind(&self) -> &'static str {
        ""
    }

    /// The units that neither the format nor the user says.
    fn open_units(&mut self) -> OpenUnits<'_> {
        OpenUnits { time: None, space: None }
    }

    /// The unit of times that was told by their looks, where it is neither known nor open.
    fn guessed_time(&self) -> TimeUnit {
        TimeUnit::Auto
    }

    /// What is assumed of the trace and changes how the numbers of a run are read, and what to do about it.
    fn assumed(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// In which order the lines stand.
    fn order(&self) -> Order {
        Order::Recorded
    }

    /// Whether requests have times.
    fn has_times(&self) -> bool {
        true
    }

    /// Names of processes that were turned into numbers so far.
    fn processes(&self) -> Option<&Names> {
        None
    }

    /// Devices whose numbers may be larger than those that tell them apart.
    fn volumes(&self) -> Option<&Volumes> {
        None
    }

    /// Other names that were.
    fn known(&self) -> Known<'_> {
        Known::default()
    }
}

/// A stream of recorded requests.
pub(crate) trait Records: Send {
    fn next(&mut self) -> Result<Option<Record>, WorkloadError>;
    fn report(&self) -> SourceReport;
    /// What stands for a device that was asked for.
    fn device(&self, device: u64) -> Option<u16>;
    /// The name of a process that has been met.
    fn process(&self, id: u32) -> Option<&[u8]>;
    /// Bytes of the file read so far and in all.
    fn progress(&self) -> Progress;
}
