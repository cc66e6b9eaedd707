//! The one door to whoever reads what is printed: no character of it is a command to a terminal, wherever it came from.
//!
//! Control characters are written out as JSON and TOML write them in text (`\u001b`), so that what is printed as either
//! stays what it was.

use std::borrow::Cow;
use std::io::{self, Write};

use lab::files::Pipe;
use ssd::config::{control_escape, is_control, shown_up_to};

/// Longest line of a message; who quotes input cuts it long before.
const LINE_MAX: usize = 8000;

/// Lines of text with all other control characters written out.
pub fn plain(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| is_control(c) && c != '\n' && c != '\t';
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| if is_obeyed(c) { control_escape(c) } else { c.to_string() };
    Cow::Owned(text.chars().map(one).collect())
}

/// Lines on standard error.
pub fn tell(text: &str) {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(|line| shown_up_to(line, LINE_MAX)).collect();
    // Standard error may be closed: then there is nobody to tell.
    let _ = writeln!(Pipe::new(io::stderr()), "{}", plain(&lines.join("\n")));
}

/// Hands on text, made plain.
pub struct Plain<W> {
    inner: W,
    /// The first bytes of a character whose others are still to come.
    cut: Vec<u8>,
}

impl<W: Write> Plain<W> {
    /// In front of a writer.
    pub fn new(inner: W) -> Self {
        Plain { inner, cut: Vec::new() }
    }

    fn hand_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.inner.write_all(plain(chunk.valid()).as_bytes())?;
            let rest = chunk.invalid();
            let may_go_on = chunks.peek().is_none()
                && std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            if may_go_on {
                self.cut = rest.to_vec();
            } else {
                write!(self.inner, "{}", rest.escape_ascii())?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Most of what is written has nothing to be looked at.
        let is_plain = |byte: &u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
        if self.cut.is_empty() && bytes.iter().all(is_plain) {
            return self.inner.write(bytes);
        }
        let mut all = std::mem::take(&mut self.cut);
        all.extend_from_slice(bytes);
        self.hand_on(&all)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let cut = std::mem::take(&mut self.cut);
        write!(self.inner, "{}", cut.escape_ascii())?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(pieces: &[&[u8]]) -> String {
        let mut out = Plain::new(Vec::new());
        pieces.iter().for_each(|piece| out.write_all(piece).unwrap());
        out.flush().unwrap();
        String::from_utf8(out.inner).unwrap()
    }

    #[test]
    fn nothing_that_is_printed_is_a_command_to_a_terminal() {
        assert_eq!(printed(&[b"a\tb\nc "]), "a\tb\nc ");
        let red = "\u{1b}[31m \u{9b}2J \u{7f} \r \u{8} \u{202e}";
        assert_eq!(printed(&[red.as_bytes()]), "\\u001b[31m \\u009b2J \\u007f \\u000d \\u0008 \\u202e");
        // Cut within characters, as those who copy bytes may do.
        for step in 1..5 {
            let text = "\u{9b}\u{e9}\u{20ac}\u{1d11e}\u{202e}|";
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(step).collect();
            assert_eq!(printed(&pieces), "\\u009b\u{e9}\u{20ac}\u{1d11e}\\u202e|", "{step}");
        }
        assert_eq!(printed(&[b"\x9b31m\xff", b"\xe2\x82"]), "\\x9b31m\\xff\\xe2\\x82");
    }

    #[test]
    fn what_is_printed_as_json_stays_what_it_was() {
        let text = serde_json::json!("\u{1b}[31m \u{9b} \u{7f} \u{202e}\n").to_string();
        let printed = printed(&[text.as_bytes()]);
        assert!(!printed.contains(is_control), "{printed}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap().to_string(), text);
    }
}
