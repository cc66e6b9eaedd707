//! One file, split into what is code, what is comment and what is neither, just well enough for the rules.

use std::ops::Range;

/// A file of the checkout.
pub struct Source {
    /// Path from the root of the checkout, with `/` between its parts.
    pub path: String,
    /// The file as it is.
    pub text: String,
    /// The text with comments, and the contents of string and character literals, blanked out; byte for byte as
    /// long as `text`, with the same line ends. Empty unless the file is Rust.
    pub code: String,
    /// The text with all but the comments blanked out, likewise.
    pub comments: String,
    line_starts: Vec<usize>,
    test_code: Vec<Range<usize>>,
    functions: Vec<Function>,
    exemptions: Vec<Exemption>,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// From `fn` to behind the closing brace, in bytes.
    pub span: Range<usize>,
}

/// A comment `// tidy: allow(rule): reason`.
#[derive(Clone, Debug)]
pub struct Exemption {
    /// Line of the comment, from 1.
    pub line: usize,
    /// The rule it lifts.
    pub rule: String,
    /// Is there a reason behind it?
    pub has_reason: bool,
    covered: Range<usize>,
}

impl Source {
    /// Reads what a file holds.
    pub fn new(path: &str, text: String) -> Source {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut source = Source {
            path: path.to_owned(),
            line_starts,
            text,
            code: String::new(),
            comments: String::new(),
            test_code: Vec::new(),
            functions: Vec::new(),
            exemptions: Vec::new(),
        };
        if source.is_rust() {
            (source.code, source.comments) = split(&source.text);
            source.test_code = test_code(&source.code);
            source.functions = functions(&source.code);
            source.exemptions = source.find_exemptions();
        }
        source
    }

    /// Is it a Rust file?
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The line, from 1, that holds the byte at `offset`.
    pub fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// All functions with a body, in order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// All exemptions, in order.
    pub fn exemptions(&self) -> &[Exemption] {
        &self.exemptions
    }

    /// Is the whole file a test or a bench?
    pub fn is_test_file(&self) -> bool {
        ["/tests/", "/benches/", "/tests.rs"].iter().any(|part| self.path.contains(part))
    }

    /// Is the byte at `offset` part of a test?
    pub fn is_test(&self, offset: usize) -> bool {
        self.is_test_file() || self.test_code.iter().any(|span| span.contains(&offset))
    }

    /// Does a comment exempt the code at `offset` from a rule?
    pub fn is_exempt(&self, rule: &str, offset: usize) -> bool {
        self.exemptions.iter().any(|e| e.rule == rule && e.has_reason && e.covered.contains(&offset))
    }

    /// Where `word` stands in the code as a whole word or path, test code included.
    pub fn code_words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        words(&self.code, word)
    }

    /// The name of the file without folder and ending.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.strip_suffix(".rs").unwrap_or(name)
    }

    /// The folder of the file, without a `/` at its end.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    fn line_span(&self, line: usize) -> Range<usize> {
        let start = self.line_starts[line - 1];
        start..self.line_starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// A comment beside code covers its line; one above code covers the next line of code, or the whole function
    /// that begins there.
    fn find_exemptions(&self) -> Vec<Exemption> {
        const MARK: &str = "// tidy: allow(";
        let is_documentation = |at: usize| {
            let comment = self.comments[self.line_span(self.line_of(at))].trim_start();
            comment.starts_with("///") || comment.starts_with("//!")
        };
        let mut found = Vec::new();
        for (at, _) in self.comments.match_indices(MARK).filter(|(at, _)| !is_documentation(*at)) {
            let rest = &self.comments[at + MARK.len()..];
            let rest = rest.lines().next().unwrap_or("");
            let (rule, reason) = rest.split_once(')').unwrap_or((rest, ""));
            let line = self.line_of(at);
            let is_code = |line: &usize| {
                let code = self.code[self.line_span(*line)].trim();
                !code.is_empty() && !code.starts_with("#[")
            };
            let target = (line..=self.line_starts.len()).find(is_code).unwrap_or(line);
            let span = self.line_span(target);
            let function = self.functions.iter().find(|f| target != line && span.contains(&f.span.start));
            found.push(Exemption {
                line,
                rule: rule.trim().to_owned(),
                has_reason: reason.trim_start_matches([':', ' ']).trim().len() >= 8,
                covered: function.map_or(span.clone(), |f| span.start..f.span.end),
            });
        }
        found
    }
}

/// Where `word` stands in `text` with no letter, digit or `_` at either side.
pub fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let word_ends_in_name = word.ends_with(is_name);
        !(before.is_some_and(is_name) || word_ends_in_name && after.is_some_and(is_name))
    })
}

/// Can `c` be part of a Rust name?
pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The end of the bracketed group that opens at or after `from`, behind its closing bracket.
pub fn group_end(code: &str, from: usize, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0usize;
    for (at, &byte) in code.as_bytes().iter().enumerate().skip(from) {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// The name that starts at or after `from`, blanks skipped.
pub fn name_at(code: &str, from: usize) -> &str {
    let rest = code[from..].trim_start();
    let rest = rest.strip_prefix("r#").unwrap_or(rest);
    &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
}

/// The spans of items marked `#[cfg(test)]` (or `#[cfg(all(test, ...))]`) that have a body.
fn test_code(code: &str) -> Vec<Range<usize>> {
    let marks = ["#[cfg(test)]", "#[cfg(all(test"];
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (at, mark) in marks.iter().flat_map(|mark| code.match_indices(mark)) {
        let rest = at + mark.len();
        let body = code[rest..].find(['{', ';']).map(|found| rest + found);
        if let Some(body) = body.filter(|&body| code.as_bytes()[body] == b'{') {
            spans.push(at..group_end(code, body, b'{', b'}').unwrap_or(code.len()));
        }
    }
    spans
}

/// All functions that have a body.
fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for at in words(code, "fn") {
        let name = name_at(code, at + 2);
        let is_macro_name = code[at + 2..].trim_start().starts_with('$');
        if name.is_empty() && !is_macro_name {
            continue; // a function pointer type
        }
        if let Some(body) = body_start(code, at) {
            let end = group_end(code, body, b'{', b'}').unwrap_or(code.len());
            found.push(Function { name: name.to_owned(), span: at..end });
        }
    }
    found
}

/// The opening brace of the function at `at`, if it has a body.
fn body_start(code: &str, at: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (offset, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(offset),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Which part of a Rust file a byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    Literal,
}

/// Splits a Rust file into (code, comments), both as long as the text.
fn split(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut comments = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (part, end) = next_part(bytes, at);
        for (offset, &byte) in bytes[at..end].iter().enumerate() {
            let is_edge = part == Part::Literal && byte == b'"' && (offset == 0 || at + offset + 1 == end);
            let blank = if byte == b'\n' { b'\n' } else { b' ' };
            code.push(if part == Part::Code || is_edge { byte } else { blank });
            comments.push(if part == Part::Comment { byte } else { blank });
        }
        at = end;
    }
    // Parts end at ASCII bytes, so no character was cut in two.
    let text_of = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text_of(code), text_of(comments))
}

/// The part that starts at `at`, and its end.
fn next_part(bytes: &[u8], at: usize) -> (Part, usize) {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        return (Part::Comment, at + length);
    }
    if rest.starts_with(b"/*") {
        return (Part::Comment, at + block_comment_length(rest));
    }
    let starts_name = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if let Some(length) = raw_string_length(rest).filter(|_| starts_name) {
        return (Part::Literal, at + length);
    }
    match rest[0] {
        b'"' => (Part::Literal, at + quoted_length(rest, b'"')),
        b'\'' if is_character(rest) => (Part::Literal, at + quoted_length(rest, b'\'')),
        _ => {
            let stops = |&b: &u8| matches!(b, b'/' | b'"' | b'\'' | b'r' | b'b' | b'c');
            let length = rest[1..].iter().position(stops).map_or(rest.len(), |found| found + 1);
            (Part::Code, at + length)
        }
    }
}

fn block_comment_length(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Length of `r"..."`, `br#"..."#` and the like, if one starts here.
fn raw_string_length(rest: &[u8]) -> Option<usize> {
    let prefix = [&b"r"[..], b"br", b"cr"].into_iter().find(|prefix| rest.starts_with(prefix))?.len();
    let hashes = rest[prefix..].iter().take_while(|&&b| b == b'#').count();
    let body = prefix + hashes + 1;
    if rest.get(body - 1) != Some(&b'"') {
        return None;
    }
    let end = [&b"\""[..], &b"#".repeat(hashes)].concat();
    let length = rest[body..].windows(end.len()).position(|window| window == end);
    Some(length.map_or(rest.len(), |found| body + found + end.len()))
}

/// Length of a literal in quotes with escapes.
fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Is this quote the start of a character, not of a lifetime?
fn is_character(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(&first) => {
            let width = match first {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            rest.get(1 + width) == Some(&b'\'')
        }
        None => false,
    }
}
