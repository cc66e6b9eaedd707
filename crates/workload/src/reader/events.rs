//! Events of Linux's block layer, whichever tool has recorded them: their letters, what RWBS says, and the requests
//! made of those that are asked for.

use super::fields::{Bad, Fields, Range};
use super::format::{Raw, Row};
use super::layout::Word;
use super::names::{DeviceNumbers, Names};
use super::options::Event;
use crate::base::findings::BadReason;
use ssd::signals::{Hints, OpCode};

/// Letters of events, and what to call a line of each that is not taken for a request.
const EVENTS: [(&[u8], &str); 20] = [
    (b"Q", "events Q (queued)"),
    (b"D", "events D (dispatched)"),
    (b"C", "events C (completed)"),
    (b"G", "events G (request made)"),
    (b"I", "events I (inserted)"),
    (b"P", "events P (plugged)"),
    (b"U", "events U (unplugged)"),
    (b"UT", "events UT (unplugged by timer)"),
    (b"T", "events T (unplugged by timer)"),
    (b"M", "events M (merged at the back)"),
    (b"F", "events F (merged in front)"),
    (b"X", "events X (split)"),
    (b"A", "events A (remapped)"),
    (b"B", "events B (bounced)"),
    (b"R", "events R (requeued)"),
    (b"S", "events S (waited for a request)"),
    (b"m", "messages"),
    (b"N", "events N (notes)"),
    (b"a", "events a (aborted)"),
    (b"u", "events u (unknown)"),
];
pub(super) const NO_DATA: &str = "events that move no data";
pub(super) const PASSED_THROUGH: &str = "SCSI commands passed through";

/// The letter of the events that are requests: where nobody says which, the first that `is_there` of queued, dispatched
/// and completed.
pub(super) fn event_to_read(event: Event, is_there: impl Fn(&[u8]) -> bool) -> &'static [u8] {
    match event {
        Event::Auto => [&b"Q"[..], b"D", b"C"].into_iter().find(|letter| is_there(letter)).unwrap_or(b"Q"),
        named => named.name().as_bytes(),
    }
}

/// What to call an event that is not taken for a request.
#[inline]
pub(super) fn called(letter: &[u8]) -> Option<&'static str> {
    EVENTS.iter().find(|(known, _)| *known == letter).map(|(_, what)| *what)
}

/// The events that are requests, with the numbers that names in them got.
#[derive(Default)]
pub(super) struct Requests {
    /// Their letter.
    pub event: &'static [u8],
    pub processes: Names,
    pub devices: DeviceNumbers,
}

/// What a line says of a request.
pub(super) struct Asked<'a> {
    pub time_ns: u64,
    pub rwbs: Word<'a>,
    /// Major and minor number, and where they stand.
    pub device: (u64, u64, usize),
    pub range: Range,
    pub process: &'a [u8],
}

impl Requests {
    /// The request of one of these events.
    #[inline]
    pub(super) fn request(&mut self, asked: &Asked<'_>) -> Result<Row, Bad> {
        let Some((op, flush_before, fua)) = operation(&asked.rwbs)? else { return Ok(Row::Other(NO_DATA)) };
        if asked.range.sectors == 0 && !flush_before && op != OpCode::Flush {
            return Ok(Row::Other(NO_DATA));
        }
        let (major, minor, at) = asked.device;
        let allowed = "one of at most 256 devices";
        let too_many = || Bad { reason: BadReason::TooLarge, column: "device", allowed, at };
        let device = self.devices.id(&(major, minor)).ok_or_else(too_many)?;
        // What blkparse prints for a process whose name is not in the trace.
        let process = if asked.process == b"(null)" { 0 } else { self.processes.id(asked.process) };
        let mut raw = Raw::new(asked.time_ns, op, device, asked.range);
        if op == OpCode::Flush {
            raw.range.sectors = 0;
        }
        let hints = Hints { stream: device, process, ..Hints::default() };
        Ok(Row::Request(Raw { fua, flush_before, hints, ..raw }))
    }
}

/// What RWBS asks for: operation, whether a flush comes first, forced unit access; `None` if it moves no data.
///
/// Letters in the order in which the kernel and blkparse put them: F (flush first), the operation (R, W, D discard, N
/// none, F flush), then E (erase), F (forced unit access), A (read-ahead), S (synchronous), M (metadata), B (barrier).
#[inline]
pub(super) fn operation(rwbs: &Word<'_>) -> Result<Option<(OpCode, bool, bool)>, Bad> {
    let (flush_before, rest) = match rwbs.text {
        [b'F', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let (op, flags) = match rest {
        [b'R', flags @ ..] => (OpCode::Read, flags),
        [b'W', flags @ ..] => (OpCode::Write, flags),
        [b'D', flags @ ..] => (OpCode::Trim, flags),
        // A flush with nothing behind it.
        [b'N' | b'F', flags @ ..] if flush_before => (OpCode::Flush, flags),
        [] if flush_before => (OpCode::Flush, rest),
        [b'N', ..] => return Ok(None),
        _ => {
            let allowed = "R, W, D or N, after F or alone, and then flags of FASMBE";
            return Err(rwbs.refuse(BadReason::UnknownOperation, allowed));
        }
    };
    if flags.iter().any(|flag| !b"FASMBEU".contains(flag)) {
        return Err(rwbs.refuse(BadReason::UnknownOperation, "R, W, D or N, and then flags of FASMBE"));
    }
    Ok(Some((op, flush_before && op != OpCode::Flush, flags.contains(&b'F'))))
}

/// A line of another event than the one that is asked for.
#[inline]
pub(super) fn other(event: &Word<'_>) -> Result<Row, Bad> {
    match called(event.text) {
        Some(what) => Ok(Row::Other(what)),
        None => Err(event.refuse(BadReason::UnknownOperation, "an event of blktrace such as Q, D or C")),
    }
}

/// `8,16` as two numbers.
#[inline]
pub(super) fn two_numbers(device: &[u8], at: usize) -> Result<(u64, u64), Bad> {
    let mut numbers = Fields::new(device, b',');
    let both = numbers.number("device").and_then(|major| Ok((major, numbers.number("device")?)));
    match both {
        Ok(both) if numbers.is_done() => Ok(both),
        _ => {
            let allowed = "major,minor such as 8,16";
            Err(Bad { reason: BadReason::NotANumber, column: "device", allowed, at })
        }
    }
}

/// What stands between the brackets of the rest of a line.
#[inline]
pub(super) fn bracketed(rest: &[u8]) -> &[u8] {
    let Some(from) = memchr::memchr(b'[', rest) else { return b"" };
    let inner = &rest[from + 1..];
    &inner[..memchr::memrchr(b']', inner).unwrap_or(inner.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_operation_flush_and_forced_access() {
        let of = |text: &str| operation(&Word { text: text.as_bytes(), column: "RWBS", at: 0 });
        for (text, expected) in [
            ("R", Some((OpCode::Read, false, false))),
            ("RA", Some((OpCode::Read, false, false))),
            ("WSM", Some((OpCode::Write, false, false))),
            ("FWFSM", Some((OpCode::Write, true, true))),
            ("FWS", Some((OpCode::Write, true, false))),
            ("WFS", Some((OpCode::Write, false, true))),
            ("D", Some((OpCode::Trim, false, false))),
            ("DE", Some((OpCode::Trim, false, false))),
            ("F", Some((OpCode::Flush, false, false))),
            ("FN", Some((OpCode::Flush, false, false))),
            ("FFS", Some((OpCode::Flush, false, false))),
            ("N", None),
        ] {
            assert_eq!(of(text), Ok(expected), "{text}");
        }
        for text in ["", "X", "RX", "AR", "W5"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
