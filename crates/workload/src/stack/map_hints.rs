//! Hints made of other hints: which streams, priorities or classes a drive is told for the files, processes and program
//! contexts that a trace or a capture knows. What an application or a kernel would do with NVMe directives, in a line.

use crate::base::error::WorkloadError;
use crate::base::near::near;
use crate::base::remark::Remark;
use crate::base::report::{NAMES_SHOWN, SourceReport};
use crate::base::request::{FilesAtStart, Request, Source};
use crate::base::settings::{Value, found, quoted};
use ssd::signals::Hints;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use toml::de::DeValue;

ssd::choice! {
    /// A hint of a request.
    pub enum Hint {
        /// Placement id or device.
        Stream = "stream",
        /// File.
        File = "file",
        /// Process.
        Process = "process",
        /// Program context.
        Context = "context",
        /// Priority.
        Priority = "priority",
        /// Security class.
        Class = "class",
        /// Read once only: 1.
        OneTime = "one_time",
    }
}

impl Hint {
    fn max(self) -> u32 {
        match self {
            Hint::Stream => u32::from(u16::MAX),
            Hint::File | Hint::Process | Hint::Context => u32::MAX,
            Hint::Priority => 3,
            Hint::Class => 2,
            Hint::OneTime => 1,
        }
    }

    fn of(self, hints: &Hints) -> u32 {
        match self {
            Hint::Stream => u32::from(hints.stream),
            Hint::File => hints.file,
            Hint::Process => hints.process,
            Hint::Context => hints.context,
            Hint::Priority => u32::from(hints.priority),
            Hint::Class => u32::from(hints.class),
            Hint::OneTime => u32::from(hints.one_time),
        }
    }

    /// Sets it to a value not above its largest.
    fn set(self, hints: &mut Hints, value: u32) {
        match self {
            Hint::Stream => hints.stream = value as u16,
            Hint::File => hints.file = value,
            Hint::Process => hints.process = value,
            Hint::Context => hints.context = value,
            Hint::Priority => hints.priority = value as u8,
            Hint::Class => hints.class = value as u8,
            Hint::OneTime => hints.one_time = value > 0,
        }
    }
}

/// Which values of a hint a rule is for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    /// All that are known, so not 0.
    Any,
    Numbers(RangeInclusive<u32>),
    /// A name, of which the number is not known yet.
    Name(String),
}

impl Which {
    fn has(&self, value: u32) -> bool {
        match self {
            Which::Any => value > 0,
            Which::Numbers(range) => range.contains(&value),
            Which::Name(_) => false,
        }
    }
}

/// What a rule sets a hint to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Value(u32),
    /// The number that it was chosen by; of so many values, from 1, if they are limited.
    Number(Option<u32>),
}

impl To {
    fn of(self, number: u32) -> u32 {
        match self {
            To::Value(value) => value,
            To::Number(None) => number,
            // What is not known stays unknown.
            To::Number(Some(values)) => number.checked_sub(1).map_or(0, |number| 1 + number % values),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    text: String,
    from: Hint,
    which: Which,
    to: Vec<(Hint, To)>,
}

/// Rules, each of which looks at the hints as they were recorded; a later one has the last word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapHints {
    /// As they were written.
    text: String,
    rules: Vec<Rule>,
}

/// Most rules.
const RULES_MAX: usize = 256;

const EXAMPLE: &str = "rules such as \"file 17-31 -> stream 2, priority 3; process postgres -> class 2; \
    context -> stream % 8\"";

/// What is wrong, and what is allowed.
type Wrong = (String, String);

fn hint_named(name: &str, rule: &str) -> Result<Hint, Wrong> {
    Hint::from_name(name).ok_or_else(|| {
        let near = near(name, Hint::NAMES.iter().copied());
        let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        (format!("found `{name}`{near} in {rule:?}"), Hint::NAMES.join(", "))
    })
}

/// A number in decimal, or in hexadecimal behind `0x`.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    (!digits.starts_with('+')).then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

impl Rule {
    fn parse(text: &str) -> Result<Self, Wrong> {
        let Some((from, to)) = text.split_once("->") else {
            return Err((format!("found {text:?} without ->"), EXAMPLE.to_string()));
        };
        let (name, which) = from.trim().split_once(char::is_whitespace).unwrap_or((from.trim(), ""));
        let from = hint_named(name, text)?;
        let mut rule = Rule { text: text.to_string(), from, which: Which::Any, to: Vec::new() };
        rule.which = rule.which(which.trim())?;
        for target in to.split(',') {
            let target = rule.target(target.trim())?;
            if rule.to.iter().any(|(hint, _)| *hint == target.0) {
                return Err((
                    format!("`{}` is set twice in {text:?}", target.0.name()),
                    "each hint once in a rule".to_string(),
                ));
            }
            rule.to.push(target);
        }
        Ok(rule)
    }

    fn which(&self, text: &str) -> Result<Which, Wrong> {
        if text.is_empty() {
            return Ok(Which::Any);
        }
        let (first, last) = text.split_once('-').map_or((text, text), |(a, b)| (a.trim(), b.trim()));
        let max = u64::from(self.from.max());
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last && last <= max => {
                Ok(Which::Numbers(first as u32..=last as u32))
            }
            (Some(_), Some(_)) => {
                let allowed = format!(
                    "a number from 0 to {max}, or a range such as 3-7, the smaller \
                                       number first"
                );
                Err((format!("found `{text}` for `{}` in {:?}", self.from.name(), self.text), allowed))
            }
            _ if matches!(self.from, Hint::Process | Hint::File) => Ok(Which::Name(text.to_string())),
            _ => {
                let found = format!("found `{text}` for `{}` in {:?}", self.from.name(), self.text);
                Err((found, "a number, or a range: only files and processes have names".to_string()))
            }
        }
    }

    fn target(&self, text: &str) -> Result<(Hint, To), Wrong> {
        let (name, value) = text.split_once(|c: char| c.is_whitespace() || c == '%').map_or(
            (text, ""),
            // The sign belongs to what stands behind it.
            |(name, _)| (name, text[name.len()..].trim()),
        );
        let hint = hint_named(name, &self.text)?;
        let max = u64::from(hint.max());
        let wrong = |found: String, allowed: String| Err((format!("{found} in {:?}", self.text), allowed));
        if let Some(values) = value.strip_prefix('%') {
            return match number(values.trim()) {
                Some(values) if (1..=max).contains(&values) => Ok((hint, To::Number(Some(values as u32)))),
                _ => {
                    wrong(format!("found `{value}` for `{name}`"), format!("% and a number from 1 to {max}"))
                }
            };
        }
        if value.is_empty() {
            if self.from.max() > hint.max() {
                let found = format!("a `{}` can be larger than any `{name}`", self.from.name());
                return wrong(found, format!("a maximum, such as {name} % {}", max.min(8)));
            }
            return Ok((hint, To::Number(None)));
        }
        match number(value) {
            Some(value) if value <= max => Ok((hint, To::Value(value as u32))),
            _ => wrong(format!("found `{value}` for `{name}`"), format!("a number from 0 to {max}")),
        }
    }
}

impl MapHints {
    /// Reads rules such as `file 17-31 -> stream 2, priority 3; context -> stream % 8`.
    pub fn from_text(text: &str) -> Result<Self, WorkloadError> {
        Self::parse(text).map_err(|(found, allowed)| WorkloadError::setting("map_hints", found, allowed))
    }

    /// Whether there are no rules, so that hints stay as they are.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    fn parse(text: &str) -> Result<Self, Wrong> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let rules: Vec<Rule> =
            text.split(';').map(|rule| Rule::parse(rule.trim())).collect::<Result<_, _>>()?;
        if rules.len() > RULES_MAX {
            return Err((format!("found {} rules", rules.len()), format!("at most {RULES_MAX}")));
        }
        Ok(MapHints { text: text.to_string(), rules })
    }

    /// The same with the numbers that the names stand for in a workload that has looked through its input.
    pub(crate) fn with_names(&self, known: &SourceReport) -> Result<Self, WorkloadError> {
        let mut rules = self.clone();
        for rule in &mut rules.rules {
            let Which::Name(name) = &rule.which else { continue };
            let names = if rule.from == Hint::File { &known.files } else { &known.processes };
            let Some(at) = names.iter().position(|known| known == name) else {
                let what = rule.from.name();
                let found = format!("no {what} is called {name:?} in {:?}", rule.text);
                let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
                let allowed = match names.len() {
                    0 if what == "file" => "numbers: files have no names here".to_string(),
                    0 => "numbers: processes have no names here".to_string(),
                    NAMES_SHOWN => format!("a number, or one of the first {NAMES_SHOWN} names: {shown}, …"),
                    count if count > SHOWN => format!("a number, {shown}, …"),
                    _ => format!("a number, {shown}"),
                };
                let error = WorkloadError::setting("map_hints", found, allowed);
                return Err(error.with_near(near(name, names.iter().map(String::as_str))));
            };
            let id = at as u32 + 1;
            rule.which = Which::Numbers(id..=id);
        }
        Ok(rules)
    }
}

/// Names that an error tells.
const SHOWN: usize = 16;

impl Value for MapHints {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::parse(&text_of(value)?).ok()
    }
    fn show(&self) -> String {
        quoted(&self.text)
    }
    fn allowed() -> String {
        EXAMPLE.to_string()
    }
    fn explain(key: &str, value: &DeValue<'_>) -> Option<WorkloadError> {
        let wrong = match text_of(value) {
            Some(text) => Self::parse(&text).err(),
            None => Some((format!("found {}", found(value)), EXAMPLE.to_string())),
        };
        wrong.map(|(found, allowed)| WorkloadError::setting(key, found, allowed))
    }
}

/// Rules in one text, or a list of them.
fn text_of(value: &DeValue<'_>) -> Option<String> {
    if let DeValue::Array(rules) = value {
        let rules = rules.iter().map(|rule| rule.get_ref().as_str()).collect::<Option<Vec<_>>>()?;
        return Some(rules.join("; "));
    }
    value.as_str().map(str::to_string)
}

/// Rules at work, and how often each was: by all openings of a workload together, as passes and phases open it anew.
pub(crate) struct Mapping {
    rules: Vec<Rule>,
    /// Requests seen, and of them those that each rule was for.
    seen: AtomicU64,
    counts: Vec<AtomicU64>,
}

impl Mapping {
    pub(crate) fn new(rules: &MapHints) -> Self {
        let counts = rules.rules.iter().map(|_| AtomicU64::new(0)).collect();
        Mapping { rules: rules.rules.clone(), seen: AtomicU64::new(0), counts }
    }

    /// Whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    fn map(&self, hints: &mut Hints) {
        let recorded = *hints;
        self.seen.fetch_add(1, Relaxed);
        for (rule, count) in self.rules.iter().zip(&self.counts) {
            let number = rule.from.of(&recorded);
            if rule.which.has(number) {
                count.fetch_add(1, Relaxed);
                rule.to.iter().for_each(|(hint, to)| hint.set(hints, to.of(number)));
            }
        }
    }

    /// Says which rules were for no request so far, once there were requests.
    pub(crate) fn tell(&self, report: &mut SourceReport) {
        let is_unused = |count: &AtomicU64| self.seen.load(Relaxed) > 0 && count.load(Relaxed) == 0;
        for (rule, _) in self.rules.iter().zip(&self.counts).filter(|(_, count)| is_unused(count)) {
            let note = Remark::note(format!("map_hints: {:?} matched no request", rule.text));
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
    }
}

/// A workload whose hints are made of those that it has.
pub(crate) struct Mapped {
    source: Box<dyn Source>,
    mapping: Arc<Mapping>,
}

impl Mapped {
    /// The workload itself if there are no rules.
    pub(crate) fn above(source: Box<dyn Source>, mapping: &Arc<Mapping>) -> Box<dyn Source> {
        if mapping.is_empty() {
            return source;
        }
        Box::new(Mapped { source, mapping: Arc::clone(mapping) })
    }
}

impl Source for Mapped {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        let mut next = self.source.next()?;
        if let Some(request) = &mut next {
            self.mapping.map(&mut request.hints);
        }
        Ok(next)
    }

    fn len_hint(&self) -> Option<u64> {
        self.source.len_hint()
    }

    fn report(&self) -> SourceReport {
        let mut report = self.source.report();
        self.mapping.tell(&mut report);
        report
    }

    fn files_at_start(&self) -> FilesAtStart {
        let mut files = self.source.files_at_start();
        files.held.iter_mut().for_each(|held| self.mapping.map(&mut held.hints));
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::kinds::Spec;

    const TRACE: &str = "1000 1 java 800 8 W 8 0\n2000 2 gzip 808 8 W 8 0\n3000 1 java 816 8 W 9 0\n\
        4000 3 nfsd 824 8 W 9 0\n";

    fn hints(rules: &str) -> Result<(Vec<Hints>, Vec<String>), String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), TRACE).unwrap();
        let mut spec = Spec::trace(file.path().display().to_string());
        spec.set("map_hints", rules).map_err(|e| e.to_string())?;
        let prepared = spec.prepare().map_err(|e| e.to_string())?;
        let mut source = prepared.open(1 << 21).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        while let Some(request) = source.next().map_err(|e| e.to_string())? {
            out.push(request.hints);
        }
        Ok((out, source.report().remarks()))
    }

    fn of<T>(rules: &str, get: impl Fn(&Hints) -> T) -> Vec<T> {
        hints(rules).unwrap().0.iter().map(get).collect()
    }

    #[test]
    fn hints_come_of_hints() {
        let plain = of("", |h| *h);
        assert_eq!(
            plain.iter().map(|h| (h.process, h.stream)).collect::<Vec<_>>(),
            [(1, 0), (2, 0), (1, 1), (3, 1)]
        );
        let pairs = |h: &Hints| (h.stream, h.priority, h.class);
        let by_name = of("process java -> stream 7, priority 3", pairs);
        assert_eq!(by_name, [(7, 3, 0), (0, 0, 0), (7, 3, 0), (1, 0, 0)]);
        let by_number = of("process 2-3 -> class 2", pairs);
        assert_eq!(by_number, [(0, 0, 0), (0, 0, 2), (1, 0, 0), (1, 0, 2)], "the rest stays");
        assert_eq!(of("process -> stream % 2", |h| h.stream), [1, 2, 1, 1]);
        assert_eq!(of("stream -> process", |h| h.process), [1, 2, 1, 1], "an unknown stream says nothing");
        assert_eq!(of("stream 0-0x1 -> context 0xabc", |h| h.context), [0xabc; 4]);
        // Rules look at what was recorded; the last one has the last word.
        let swap =
            of("process -> stream%3; stream -> process; process gzip -> stream 9", |h| (h.process, h.stream));
        assert_eq!(swap, [(1, 1), (2, 9), (1, 1), (1, 3)]);
        let list = of("[\"process 1 -> stream 4\", \"process 3 -> stream 5\"]", |h| h.stream);
        assert_eq!(list, [4, 0, 4, 5]);
    }

    #[test]
    fn a_rule_for_nothing_is_told() {
        let (_, remarks) = hints("file 3 -> stream 1; process 1 -> stream 2").unwrap();
        assert!(remarks.contains(&"map_hints: \"file 3 -> stream 1\" matched no request".to_string()));
        assert_eq!(remarks.iter().filter(|text| text.contains("map_hints")).count(), 1);
    }

    #[test]
    fn rules_of_phases_are_told_for_all_of_them() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), TRACE).unwrap();
        let phase = |rule: &str, until: u64| {
            let path = file.path().display();
            format!("{{ path = '{path}', map_hints = '{rule}', until_requests = {until} }}")
        };
        // The first begins again and ends behind the first line, which it had met before.
        let (used, unused) = ("process nfsd -> stream 2", "process 9 -> stream 2");
        for (rules, told) in [([used, used], 0), ([unused, used], 1), ([used, unused], 1)] {
            let text = format!("phases = [{}, {}]", phase(rules[0], 5), phase(rules[1], 4));
            let mut source = Spec::parse(&text).unwrap().open(1 << 21).unwrap();
            while source.next().unwrap().is_some() {}
            let remarks = source.report().remarks();
            let found = remarks.iter().filter(|text| text.contains("matched no request")).count();
            assert_eq!(found, told, "{remarks:?}");
        }
    }

    #[test]
    fn what_identifies_a_workload_depends_on_rules_only_where_there_are_any() {
        let hash = |rules: &str| {
            let mut spec = Spec::parse("pattern = \"zipf\"").unwrap();
            assert!(spec.set("map_hints", rules).is_err(), "a generator has no hints to make others of");
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), TRACE).unwrap();
            spec = Spec::trace(file.path().display().to_string());
            spec.set("map_hints", rules).unwrap();
            spec.prepare().unwrap().workload_hash()
        };
        assert_eq!(hash(""), hash(" "));
        assert_ne!(hash(""), hash("process 1 -> stream 2"));
        assert_ne!(hash("process 1 -> stream 1"), hash("process 1 -> stream 2"));
    }

    #[test]
    fn wrong_rules_say_where() {
        for (rules, says) in [
            ("process 1", "map_hints: found \"process 1\" without ->"),
            ("proces 1 -> stream 2", "found `proces` (did you mean `process`?) in \"proces 1 -> stream 2\""),
            ("process 1 -> steam 2", "found `steam` (did you mean `stream`?)"),
            ("process 1 -> stream 70000", "found `70000` for `stream`"),
            ("process 1 -> class 3", "a number from 0 to 2"),
            ("process 1 -> priority high", "found `high` for `priority`"),
            ("context -> stream", "a `context` can be larger than any `stream`"),
            ("context -> stream", "such as stream % 8"),
            ("context -> stream % 0", "% and a number from 1 to 65535"),
            ("context main -> stream 1", "only files and processes have names"),
            ("process 9-3 -> stream 1", "found `9-3` for `process`"),
            ("process 1 -> stream 1, stream 2", "`stream` is set twice"),
            ("process 1 -> stream 1;", "found \"\" without ->"),
            ("process jav -> stream 1", "no process is called \"jav\""),
            ("process jav -> stream 1", "java, gzip, nfsd"),
            ("process jav -> stream 1", "did you mean `java`?"),
            ("file log -> stream 1", "files have no names here"),
            ("7", "map_hints: found 7"),
        ] {
            let error = hints(rules).unwrap_err();
            assert!(error.contains(says), "{rules}: {error}");
        }
    }
}
