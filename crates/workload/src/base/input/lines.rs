//! Lines of a trace, or its records where it is binary, in one buffer of fixed size: a file of any length, with lines
//! of any length, is read in constant memory.

use crate::base::error::WorkloadError;
use crate::base::input::bytes::{Input, Progress};
use memchr::memchr;

/// Longest line that is read, in bytes; a longer one is a damaged line.
pub const LINE_BYTES_MAX: usize = 64 << 10;
/// Bytes asked of the file at once, and looked at to recognise a format.
const BUFFER_BYTES: usize = 4 * LINE_BYTES_MAX;
/// Lines looked at to recognise a format and its units.
const HEAD_LINES: usize = 1000;

/// How a file is cut into the pieces that are read one by one.
#[derive(Clone, Copy)]
pub(crate) enum Cut {
    /// At line ends.
    Lines,
    /// Into binary records.
    Records(Records),
}

impl Cut {
    /// Whether it is no text.
    pub(crate) const fn is_binary(self) -> bool {
        matches!(self, Cut::Records(_))
    }
}

/// The binary records of a format.
#[derive(Clone, Copy)]
pub(crate) struct Records {
    /// Bytes of the record that these begin with, which is more than there are if it is cut; if none begins here, bytes
    /// up to the next one. From 1 to [`LINE_BYTES_MAX`].
    pub length: fn(&[u8]) -> usize,
    /// Time of a record, in any unit; `None` if it is damaged.
    pub time: fn(&[u8]) -> Option<u64>,
    /// Whether the first records of a file can be of this format, for all that their fields may be.
    pub fit: fn(&[&[u8]]) -> bool,
}

/// One line without its line end, or one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Its bytes; of a line that is too long only the first ones.
    pub bytes: &'a [u8],
    /// Whether a line end followed; whether all bytes of a record are there.
    pub terminated: bool,
    /// Whether it is longer than [`LINE_BYTES_MAX`].
    pub too_long: bool,
    /// Lines of the file that it is made of.
    pub lines: u64,
}

/// What a line may be that is not too long.
pub(crate) const LINE_ALLOWED: &str = "at most 65536 bytes";

/// Splits an input into lines.
pub(crate) struct Lines {
    input: Input,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Bytes of the file before those of the buffer; counted while records are read.
    before: u64,
}

impl Lines {
    /// Reads the beginning of the input, past a byte-order mark if there is one.
    pub(crate) fn new(input: Input) -> Result<Self, WorkloadError> {
        let buffer = vec![0; BUFFER_BYTES];
        let mut lines = Lines { input, buffer, start: 0, end: 0, at_end: false, before: 0 };
        while !lines.at_end && lines.end < BUFFER_BYTES {
            lines.fill()?;
        }
        if lines.buffer[..lines.end].starts_with(b"\xef\xbb\xbf") {
            lines.start = 3;
        }
        Ok(lines)
    }

    /// The file's name for messages.
    pub(crate) fn file(&self) -> &str {
        self.input.file()
    }

    /// How far the file is read.
    pub(crate) fn progress(&self) -> Progress {
        self.input.progress()
    }

    /// The first lines that are not blank, or the first records, as many as are in the buffer, without taking them; to
    /// be called before [`Lines::next`].
    pub(crate) fn head(&self, cut: Cut) -> Vec<&[u8]> {
        let text = &self.buffer[self.start..self.end];
        if let Cut::Records(records) = cut {
            let mut rest = text;
            let whole = std::iter::from_fn(|| {
                let (record, after) = rest.split_at_checked((records.length)(rest))?;
                rest = after;
                (!record.is_empty()).then_some(record)
            });
            return whole.take(HEAD_LINES).collect();
        }
        // The last piece may go on beyond the buffer; if it is all there is, it is looked at nevertheless.
        let whole = if self.at_end { text.len() } else { memchr::memrchr(b'\n', text).unwrap_or(text.len()) };
        let lines = text[..whole].split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !is_blank(line)).take(HEAD_LINES).collect()
    }

    /// The next line; `None` at the end of the input.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, WorkloadError> {
        let end = memchr(b'\n', &self.buffer[self.start..self.end]);
        if let Some(length) = end.filter(|&length| length <= LINE_BYTES_MAX) {
            let from = self.start;
            self.start += length + 1;
            let bytes = &self.buffer[from..from + length];
            return Ok(Some(Line { bytes, terminated: true, too_long: false, lines: 1 }));
        }
        self.next_slow()
    }

    /// The next line, with those behind it while it `goes_on`. One that would go on for too long, or to the end, is
    /// taken for itself.
    #[inline]
    pub(crate) fn next_while(
        &mut self,
        goes_on: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Line<'_>>, WorkloadError> {
        let (from, end) = (self.start, memchr(b'\n', &self.buffer[self.start..self.end]));
        match end.filter(|&length| length <= LINE_BYTES_MAX) {
            Some(length) if !goes_on(&self.buffer[from..from + length]) => {
                self.start += length + 1;
                let bytes = &self.buffer[from..from + length];
                Ok(Some(Line { bytes, terminated: true, too_long: false, lines: 1 }))
            }
            _ => self.next_joined(goes_on),
        }
    }

    #[cold]
    fn next_joined(&mut self, goes_on: impl Fn(&[u8]) -> bool) -> Result<Option<Line<'_>>, WorkloadError> {
        // As many bytes as a line may have are wanted in the buffer.
        if self.end - self.start <= LINE_BYTES_MAX && !self.at_end {
            self.shift();
            while !self.at_end && self.end <= LINE_BYTES_MAX {
                self.fill()?;
            }
        }
        let text = &self.buffer[self.start..self.end.min(self.start + LINE_BYTES_MAX)];
        let ends = memchr::memchr_iter(b'\n', text);
        let Some((before, length)) = ends.enumerate().find(|(_, length)| !goes_on(&text[..*length])) else {
            return self.next();
        };
        let from = self.start;
        self.start += length + 1;
        let bytes = &self.buffer[from..from + length];
        Ok(Some(Line { bytes, terminated: true, too_long: false, lines: before as u64 + 1 }))
    }

    /// The next record; `None` at the end of the input.
    #[inline]
    pub(crate) fn next_record(&mut self, records: &Records) -> Result<Option<Line<'_>>, WorkloadError> {
        let Some((length, terminated)) = self.record_length(records)? else { return Ok(None) };
        let from = self.start;
        self.start += length;
        let bytes = &self.buffer[from..from + length];
        Ok(Some(Line { bytes, terminated, too_long: false, lines: 1 }))
    }

    /// The time of the next record; `None` at the end of the input, and inside it `None` if that one is damaged.
    pub(crate) fn next_time(&mut self, records: &Records) -> Result<Option<Option<u64>>, WorkloadError> {
        let length = self.record_length(records)?;
        Ok(length.map(|(length, _)| (records.time)(&self.buffer[self.start..self.start + length])))
    }

    /// Bytes of the next record that there are, and whether those are all.
    #[inline]
    fn record_length(&mut self, records: &Records) -> Result<Option<(usize, bool)>, WorkloadError> {
        loop {
            while self.end - self.start < LINE_BYTES_MAX && !self.at_end {
                self.shift();
                self.fill()?;
            }
            let rest = &self.buffer[self.start..self.end];
            if rest.is_empty() {
                return Ok(None);
            }
            let length = (records.length)(rest);
            if rest.iter().any(|&b| b != 0) {
                return Ok(Some((length.min(rest.len()), length <= rest.len())));
            }
            // Zeros that fill up a file which was cut are one piece, however many there are.
            if self.at_end {
                return Ok(Some((rest.len(), false)));
            }
            self.start += (rest.len() - 1) / length * length;
        }
    }

    /// The place in the file, unpacked, of what is read next.
    pub(crate) fn place(&self) -> u64 {
        self.before + self.start as u64
    }

    /// Moves what is left to the start of the buffer.
    fn shift(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.before += self.start as u64;
        self.end -= self.start;
        self.start = 0;
    }

    /// The next line where it is cut by the end of the buffer, too long, or the last one.
    #[cold]
    fn next_slow(&mut self) -> Result<Option<Line<'_>>, WorkloadError> {
        let length = loop {
            if let Some(length) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                if length > LINE_BYTES_MAX {
                    return self.too_long();
                }
                break length;
            }
            if self.end - self.start > LINE_BYTES_MAX {
                return self.too_long();
            }
            if self.at_end {
                let line = without_zeros(&self.buffer[self.start..self.end]);
                self.start = self.end;
                return Ok((!line.is_empty()).then_some(Line {
                    bytes: line,
                    terminated: false,
                    too_long: false,
                    lines: 1,
                }));
            }
            self.shift();
            self.fill()?;
        };
        let from = self.start;
        self.start += length + 1;
        Ok(Some(Line {
            bytes: &self.buffer[from..from + length],
            terminated: true,
            too_long: false,
            lines: 1,
        }))
    }

    /// Passes over a line that is too long, keeping only its first bytes.
    fn too_long(&mut self) -> Result<Option<Line<'_>>, WorkloadError> {
        // More than a line of any format has.
        const KEPT: usize = 4096;
        self.buffer.copy_within(self.start..self.start + KEPT, 0);
        self.start += KEPT;
        let mut only_zeros = true;
        let terminated = loop {
            let rest = &self.buffer[self.start..self.end];
            let length = memchr(b'\n', rest);
            only_zeros &= rest[..length.unwrap_or(rest.len())].iter().all(|&b| b == 0);
            if let Some(length) = length {
                self.start += length + 1;
                break true;
            }
            (self.start, self.end) = (KEPT, KEPT);
            if self.at_end {
                break false;
            }
            self.fill()?;
        };
        let kept = &self.buffer[..KEPT];
        let bytes = if only_zeros && !terminated { without_zeros(kept) } else { kept };
        let too_long = bytes.len() == KEPT && !kept.iter().all(|&b| b == 0);
        Ok(Some(Line { bytes, terminated, too_long, lines: 1 }))
    }

    /// Reads into the free end of the buffer.
    fn fill(&mut self) -> Result<(), WorkloadError> {
        let n = self.input.read(&mut self.buffer[self.end..])?;
        self.end += n;
        self.at_end = n == 0;
        Ok(())
    }
}

/// Whether a line holds nothing: files that were cut or filled up end in zeros.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&b| b == 0 || b.is_ascii_whitespace())
}

/// A last line without the zeros that fill up a file which was cut; one of nothing else stays as it is.
fn without_zeros(line: &[u8]) -> &[u8] {
    match line.iter().rposition(|&b| b != 0) {
        Some(last) => &line[..=last],
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// A reader that hands out a few bytes at a time.
    struct Dribble(std::io::Cursor<Vec<u8>>, usize);

    impl Read for Dribble {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = into.len().min(self.1);
            self.0.read(&mut into[..n])
        }
    }

    fn lines_of(text: &[u8], step: usize) -> Vec<(Vec<u8>, bool, bool)> {
        let input = Input::from_reader(Dribble(std::io::Cursor::new(text.to_vec()), step), "test");
        let mut lines = Lines::new(input).unwrap();
        let mut out = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            out.push((line.bytes.to_vec(), line.terminated, line.too_long));
        }
        out
    }

    #[test]
    fn lines_that_go_on_are_one_at_any_read_size() {
        // Every seventh line goes on in the next two.
        let text: String =
            (0..30_000).map(|i| format!("{}{}\n", "x".repeat(i % 37), i % 7 / 5 * 7 + i % 7)).collect();
        let goes_on = |line: &[u8]| line.ends_with(b"12") || line.ends_with(b"13");
        let expected: Vec<&str> = text.split_inclusive('\n').collect();
        for step in [1 << 20, 4096, 777] {
            let input =
                Input::from_reader(Dribble(std::io::Cursor::new(text.clone().into_bytes()), step), "test");
            let mut lines = Lines::new(input).unwrap();
            let mut at = 0;
            while let Some(line) = lines.next_while(goes_on).unwrap() {
                let parts = expected[at..at + line.lines as usize].concat();
                assert_eq!(line.bytes, parts.trim_end_matches('\n').as_bytes());
                assert_eq!(line.lines, if at % 7 == 5 && at + 3 <= 30_000 { 3 } else { 1 }, "line {at}");
                at += line.lines as usize;
            }
            assert_eq!(at, expected.len());
        }
    }

    #[test]
    fn splits_like_the_standard_library_at_any_read_size() {
        let mut text = Vec::new();
        for i in 0..40_000u32 {
            text.extend_from_slice("x".repeat((i % 37) as usize).as_bytes());
            text.push(b'\n');
        }
        text.extend_from_slice(b"the end");
        let expected: Vec<_> = text.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        for step in [1 << 20, 4096, 777] {
            let found = lines_of(&text, step);
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(&expected).all(|(a, b)| a.0 == *b && !a.2));
            assert!(found.iter().rev().skip(1).all(|l| l.1) && !found[found.len() - 1].1);
        }
    }

    #[test]
    fn long_lines_are_passed_over() {
        let longest = vec![b'a'; LINE_BYTES_MAX];
        let too_long = vec![b'b'; 5 * LINE_BYTES_MAX + 12_345];
        let just = vec![b'c'; LINE_BYTES_MAX + 1];
        let text = [&longest[..], b"\n", &too_long, b"\nshort\n", &just, b"\nend\n", &too_long].concat();
        for step in [1 << 20, 4096, 1013] {
            let found = lines_of(&text, step);
            let kinds: Vec<_> = found.iter().map(|l| (l.0[0], l.1, l.2)).collect();
            assert_eq!(
                kinds,
                [
                    (b'a', true, false),
                    (b'b', true, true),
                    (b's', true, false),
                    (b'c', true, true),
                    (b'e', true, false),
                    (b'b', false, true)
                ]
            );
            assert_eq!(found[0].0.len(), LINE_BYTES_MAX);
        }
    }

    #[test]
    fn zeros_at_the_end_are_no_part_of_the_last_line() {
        for zeros in [1, 5000, LINE_BYTES_MAX, 3 * LINE_BYTES_MAX, 9 * LINE_BYTES_MAX] {
            let text = [b"one\ntwo", &vec![0; zeros][..]].concat();
            let found = lines_of(&text, 4096);
            assert_eq!(found[1..], [(b"two".to_vec(), false, false)], "{zeros}");
            let found = lines_of(&[b"one\n", &vec![0; zeros][..]].concat(), 4096);
            assert!(found[1].0.iter().all(|&b| b == 0) && !found[1].2 && found.len() == 2, "{zeros}");
        }
        // Zeros within a line are part of it.
        assert_eq!(lines_of(b"a\0b\n", 9), [(b"a\0b".to_vec(), true, false)]);
    }

    #[test]
    fn head_shows_whole_lines_and_no_byte_order_mark() {
        let lines = Lines::new(Input::from_reader(&b"\xef\xbb\xbfone\r\n\ntwo\nthr"[..], "test")).unwrap();
        assert_eq!(lines.head(Cut::Lines), [&b"one"[..], b"two", b"thr"]);
        let empty = Lines::new(Input::from_reader(&b""[..], "test")).unwrap();
        assert!(empty.head(Cut::Lines).is_empty());
    }
}
