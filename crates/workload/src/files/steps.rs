//! What a process does, over and over: steps on files, as a list of words.

use crate::base::error::WorkloadError;
use crate::base::near::near;
use crate::base::settings::{Value, found, quoted};
use toml::de::DeValue;

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal;)+) => {
        /// One step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Step { $($(#[doc = $doc])+ $variant,)+ }

        impl Step {
            /// All words, with what they mean.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, concat!($($doc),+))),+];
            const NAMES: &'static [&'static str] = &[$($word),+];
            const ALL: &'static [Step] = &[$(Step::$variant),+];
        }
    };
}

words! {
    /// Choose a file: the steps that follow are about it. Takes no time.
    Pick = "pick";
    /// A new empty file, which is then the chosen one.
    Create = "create";
    /// Write the chosen file anew as a whole, with a size drawn as for files at the start.
    Write = "write";
    /// Write to the end of the chosen file.
    Append = "append";
    /// Write to a place in the chosen file (of few large files: to a place in any of them).
    Overwrite = "overwrite";
    /// Cut the chosen file to nothing.
    Truncate = "truncate";
    /// Give the chosen file another name.
    Rename = "rename";
    /// Make the chosen file durable.
    Fsync = "fsync";
    /// Read the chosen file as a whole.
    Read = "read";
    /// Read a place in the chosen file, as long as an overwrite.
    ReadPart = "read_part";
    /// Delete a file, any but those only appended to.
    Delete = "delete";
    /// Write to the end of the log, which begins anew when it is `log_mib` long.
    Log = "log";
    /// Make the log durable.
    SyncLog = "sync_log";
    /// Database: read a row: one page.
    Point = "point";
    /// Database: read a range of rows: two pages that follow each other.
    Range = "range";
    /// Database: change a row: one page.
    Update = "update";
    /// Database: delete a row.
    DeleteRow = "delete_row";
    /// Database: insert the row that was deleted last, in the page that it was in.
    InsertRow = "insert_row";
    /// Database: what was changed is durable: its redo is written and flushed.
    Commit = "commit";
}

impl Step {
    fn word(self) -> &'static str {
        Step::NAMES[self as usize]
    }

    /// Whether it needs a database.
    pub(super) fn is_of_database(self) -> bool {
        self as usize >= Step::Point as usize
    }
}

/// Steps in a row, so many times.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Round {
    steps: Vec<Step>,
    times: u32,
}

/// What each process does, in a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps(Vec<Round>);

/// Most steps of a loop, rounds written out.
const STEPS_MAX: usize = 100_000;

impl Steps {
    /// All steps in turn, each with the number of its place in the text: rounds written out.
    pub(super) fn program(&self) -> Vec<(Step, u32)> {
        let mut out = Vec::new();
        let mut place = 0;
        for round in &self.0 {
            let numbered = |i: usize, step: &Step| (*step, place + i as u32);
            for _ in 0..round.times {
                out.extend(round.steps.iter().enumerate().map(|(i, step)| numbered(i, step)));
            }
            place += round.steps.len() as u32;
        }
        out
    }

    /// Whether it has this step.
    pub(super) fn has(&self, wanted: impl Fn(Step) -> bool) -> bool {
        self.0.iter().any(|round| round.steps.iter().any(|&step| wanted(step)))
    }

    fn parse(key: &str, value: &DeValue<'_>) -> Result<Self, WorkloadError> {
        let wrong =
            |key: &str, found: String| WorkloadError::setting(key, format!("found {found}"), Self::allowed());
        let DeValue::Array(items) = value else { return Err(wrong(key, found(value))) };
        let mut rounds = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let here = format!("{key}[{i}]");
            let text = item.get_ref().as_str().ok_or_else(|| wrong(&here, found(item.get_ref())))?;
            let (words, times) = text.rsplit_once('*').unwrap_or((text, "1"));
            let times = times.trim().parse().ok().filter(|n| (1..=STEPS_MAX as u32).contains(n));
            let times = times.ok_or_else(|| wrong(&here, quoted(text)))?;
            let mut steps = Vec::new();
            for word in words.split_whitespace() {
                let known = Step::NAMES.iter().position(|name| *name == word);
                let step = known.map(|i| Step::ALL[i]).ok_or_else(|| {
                    let error =
                        WorkloadError::setting(&here, format!("found {word}"), Step::NAMES.join(", "));
                    error.with_near(near(word, Step::NAMES.iter().copied()))
                })?;
                steps.push(step);
            }
            if steps.is_empty() {
                return Err(wrong(&here, quoted(text)));
            }
            rounds.push(Round { steps, times });
        }
        let total: usize = rounds.iter().map(|round| round.steps.len() * round.times as usize).sum();
        if total == 0 || total > STEPS_MAX {
            return Err(WorkloadError::setting(key, format!("found {total} steps"), "1 to 100000"));
        }
        Ok(Steps(rounds))
    }
}

impl Value for Steps {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::parse("", value).ok()
    }
    fn explain(key: &str, value: &DeValue<'_>) -> Option<WorkloadError> {
        Self::parse(key, value).err()
    }
    fn show(&self) -> String {
        let round = |round: &Round| {
            let words: Vec<&str> = round.steps.iter().map(|step| step.word()).collect();
            let times = if round.times == 1 { String::new() } else { format!(" * {}", round.times) };
            quoted(&format!("{}{times}", words.join(" ")))
        };
        format!("[{}]", self.0.iter().map(round).collect::<Vec<_>>().join(", "))
    }
    fn allowed() -> String {
        format!("a list such as [\"pick read * 10\", \"log\"] of: {}", Step::NAMES.join(", "))
    }
}
