//! The family of formats that traces are written in: one file each, one line each in the list below.
//!
//! A target turns one request into one line and says what its lines can hold ([`Keeps`]); what they cannot is left
//! out and counted here, the same for all ([`Lost`]). Nothing is lost in silence.

mod target;

use crate::base::request::Record;
use ssd::signals::OpCode;
use std::io::{self, Write};
use std::path::Path;
use target::Target;

pub use target::Keeps;

/// Bytes that are gathered before they are written or packed.
const BUFFER_BYTES: usize = 256 << 10;
/// zstd's own default level.
const ZSTD_LEVEL: i32 = 3;

macro_rules! targets {
    ($($module:ident: $type:ident,)*) => {
        $(mod $module;)*

        /// All formats that can be written.
        static TARGETS: &[TargetInfo] = &[$(TargetInfo {
            name: stringify!($module),
            summary: $module::SUMMARY,
            keeps: &$module::KEEPS,
            open: || Box::<$module::$type>::default(),
        }),*];
    };
}

targets! {
    wordline: Wordline,
    mqsim: Mqsim,
    fio_iolog: FioIolog,
    csv: Csv,
}

/// A format that traces can be written in.
pub struct TargetInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence or two.
    pub summary: &'static str,
    /// What its lines can hold.
    pub keeps: &'static Keeps,
    open: fn() -> Box<dyn Target>,
}

impl TargetInfo {
    /// What every trace of the format that is written begins with; empty where that is a request.
    pub fn begins(&self) -> Vec<u8> {
        let mut begin = Vec::new();
        (self.open)().begin(&mut begin);
        begin
    }
}

/// All formats that can be written.
pub fn targets() -> &'static [TargetInfo] {
    TARGETS
}

macro_rules! lost {
    ($($(#[$doc:meta])* $field:ident: $text:literal;)*) => {
        /// Requests, by what of them the format could not hold.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Lost {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Lost {
            /// What was lost, with names for a program, counts and words for a person.
            pub fn entries(&self) -> impl Iterator<Item = (&'static str, u64, &'static str)> {
                [$((stringify!($field), self.$field, $text)),*].into_iter().filter(|(_, count, _)| *count > 0)
            }
        }
    };
}

lost! {
    /// Trims left out.
    trims: "trims left out";
    /// Flushes left out.
    flushes: "flushes left out";
    /// Requests written without their forced unit access.
    fua: "requests lose their forced unit access";
    /// Requests whose time was cut to the format's unit.
    times: "times truncated to the format's unit";
    /// Requests without their stream hint (unless that is the device's number, which is kept).
    stream: "requests lose their stream hint";
    /// Requests without their file hint.
    file: "requests lose their file hint";
    /// Requests without their process hint.
    process: "requests lose their process hint";
    /// Requests without their program context.
    context: "requests lose their program context";
    /// Requests without their priority.
    priority: "requests lose their priority";
    /// Requests without their security class.
    class: "requests lose their security class";
    /// Reads without the hint that they are read once only.
    one_time: "requests lose their one-time hint";
}

impl Lost {
    /// Counts what of a request cannot be held; false if nothing can.
    fn count(&mut self, record: &Record, keeps: &Keeps) -> bool {
        let request = &record.request;
        match request.op {
            OpCode::Trim if !keeps.trims => {
                self.trims += 1;
                return false;
            }
            OpCode::Flush if !keeps.flushes => {
                self.flushes += 1;
                return false;
            }
            _ => {}
        }
        self.fua += u64::from(request.fua && !keeps.fua);
        self.times += u64::from(!request.arrival_ns.is_multiple_of(keeps.time_ns));
        if !keeps.hints {
            let hints = &request.hints;
            self.stream += u64::from(hints.stream != 0 && hints.stream != record.device);
            self.file += u64::from(hints.file != 0);
            self.process += u64::from(hints.process != 0);
            self.context += u64::from(hints.context != 0);
            self.priority += u64::from(hints.priority != 0);
            self.class += u64::from(hints.class != 0);
            self.one_time += u64::from(hints.one_time);
        }
        true
    }
}

/// How a file is packed, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// zstd: `.zst`.
    Zstd,
    /// gzip: `.gz`.
    Gzip,
}

impl Packing {
    /// That of a file of this name.
    pub fn of(path: &Path) -> Self {
        let is = |end: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(end));
        if is("zst") {
            Packing::Zstd
        } else if is("gz") {
            Packing::Gzip
        } else {
            Packing::None
        }
    }
}

/// Where bytes go, packed or not.
enum Sink<W: Write> {
    Plain(W),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Gzip(flate2::write::GzEncoder<W>),
}

impl<W: Write> Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Sink::Plain(out) => out.write_all(bytes),
            Sink::Zstd(out) => out.write_all(bytes),
            Sink::Gzip(out) => out.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Sink::Plain(out) => Ok(out),
            Sink::Zstd(out) => out.finish(),
            Sink::Gzip(out) => out.finish(),
        }
    }
}

/// Writes requests as a trace.
pub struct TraceWriter<W: Write> {
    target: Box<dyn Target>,
    keeps: &'static Keeps,
    sink: Sink<W>,
    buffer: Vec<u8>,
    written: u64,
    lost: Lost,
}

/// What became of the requests that were to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Requests written.
    pub requests: u64,
    /// What could not be.
    pub lost: Lost,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace of this format.
    pub fn new(info: &TargetInfo, packing: Packing, out: W) -> io::Result<Self> {
        let sink = match packing {
            Packing::None => Sink::Plain(out),
            Packing::Zstd => Sink::Zstd(zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?),
            Packing::Gzip => Sink::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default())),
        };
        let mut target = (info.open)();
        let mut buffer = Vec::with_capacity(BUFFER_BYTES + 512);
        target.begin(&mut buffer);
        Ok(TraceWriter { target, keeps: info.keeps, sink, buffer, written: 0, lost: Lost::default() })
    }

    /// Writes a request, as far as the format can hold it.
    pub fn add(&mut self, record: &Record) -> io::Result<()> {
        if self.lost.count(record, self.keeps) {
            self.written += 1;
            self.target.add(record, &mut self.buffer);
            if self.buffer.len() >= BUFFER_BYTES {
                self.sink.write(&self.buffer)?;
                self.buffer.clear();
            }
        }
        Ok(())
    }

    /// Ends the trace: all of it is with `W` now, which is handed back.
    pub fn finish(mut self) -> io::Result<(W, Written)> {
        self.target.end(&mut self.buffer);
        self.sink.write(&self.buffer)?;
        Ok((self.sink.finish()?, Written { requests: self.written, lost: self.lost }))
    }
}

#[cfg(test)]
mod tests;
