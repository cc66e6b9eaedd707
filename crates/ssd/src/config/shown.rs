//! What messages quote of input: short, and harmless on a terminal.

use std::borrow::Cow;

/// Most characters of input that a message quotes.
pub const SHOWN_MAX: usize = 200;

/// Most errors of a configuration that are looked for: who has made a thousand has named the wrong file.
pub(crate) const ERRORS_MAX: usize = 1000;

/// Whether a terminal, or whoever reads it, may take a character for something else than text: control characters, and
/// those that turn the direction of writing (Unicode 15, 23.2; UAX 9, table 4).
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Such a character written out as JSON and TOML write it in text. All are below 2^16.
pub fn control_escape(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

/// The text with such characters written out, as in `\u001b[31m`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) { out.push_str(&control_escape(c)) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// What a message quotes of a text: its beginning, how much is left out, and nothing that a terminal obeys.
pub fn shown(text: &str) -> Cow<'_, str> {
    shown_up_to(text, SHOWN_MAX)
}

/// The same of at most so many characters.
pub fn shown_up_to(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => escaped(text),
        Some((end, _)) => {
            let (begin, rest) = text.split_at(end);
            Cow::Owned(format!("{}... and {} more bytes", escaped(begin), rest.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_short_and_plain() {
        assert!(matches!(shown("as it is"), Cow::Borrowed("as it is")));
        let just = "\u{e9}".repeat(SHOWN_MAX);
        assert_eq!(shown(&just), just);
        let long = shown(&"k".repeat(20_000_000)).into_owned();
        assert_eq!(long, format!("{}... and 19999800 more bytes", "k".repeat(SHOWN_MAX)));
        assert_eq!(escaped("\u{1b}[31m\u{9b}2J\u{7f}\n"), "\\u001b[31m\\u009b2J\\u007f\\u000a");
        assert_eq!(escaped("\u{202e}txt.exe"), "\\u202etxt.exe");
        assert!(shown(&"\u{1b}".repeat(1000)).len() < 2000);
    }
}
