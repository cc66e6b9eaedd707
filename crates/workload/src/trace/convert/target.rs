//! What a format of written traces is: what its lines can hold, and how a request becomes one.

use crate::base::request::Record;

/// What the lines of a format can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeps {
    /// Nanoseconds that times are counted in; what lies below is cut off.
    pub time_ns: u64,
    /// Trims.
    pub trims: bool,
    /// Flushes.
    pub flushes: bool,
    /// Forced unit access.
    pub fua: bool,
    /// The hints, each one of them.
    pub hints: bool,
}

impl Keeps {
    /// All there is.
    pub(super) const ALL: Keeps = Keeps { time_ns: 1, trims: true, flushes: true, fua: true, hints: true };
}

/// A format being written: how requests become lines.
pub(super) trait Target: Send {
    /// What stands before the first request.
    fn begin(&mut self, _out: &mut Vec<u8>) {}

    /// The line, or lines, of a request that is not lost.
    fn add(&mut self, record: &Record, out: &mut Vec<u8>);

    /// What stands after the last one.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// The device of a request and its hints, in the order in which formats that keep them all have them.
pub(super) fn labels(record: &Record) -> [u64; 8] {
    let hints = &record.request.hints;
    [
        record.device.into(),
        hints.stream.into(),
        hints.file.into(),
        hints.process.into(),
        hints.context.into(),
        hints.priority.into(),
        hints.class.into(),
        hints.one_time.into(),
    ]
}

/// Appends a whole number.
pub(super) fn number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}
