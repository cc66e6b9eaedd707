//! What is told of it: tables for people, TOML to keep, a section of the paper's README.

use super::trials::{Outcome, Trial, Tried};
use crate::base::document::{File, PaperError, Walk};
use crate::report::table::grid;
use crate::reproduce::options::Options;
use crate::reproduce::verdict::Finding;
use std::fmt::Write as _;
use std::path::Path;

/// How the file begins.
pub const BEGINS: &str = "# Written by `wordline lab sensitivity`.\n";

/// Its name in a paper's folder.
pub const FILE: &str = "sensitivity.toml";

/// Keys that a README names of those that decide a claim.
const NAMED: usize = 6;

/// Claims that a README names of those that no run here judges; more are counted.
const NOT_JUDGED: usize = 8;

/// What came of a paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The paper.
    pub paper: String,
    /// Commit of the program.
    pub commit: String,
    /// The first seed.
    pub seed: u64,
    /// At reduced scale.
    pub quick: bool,
    /// Only keys that begin so were tried; none for all.
    pub only: Vec<String>,
    /// All claims.
    pub claims: Vec<Claimed>,
    /// All that is tagged and was tried.
    pub keys: Vec<Key>,
}

/// A claim as it is, without anything tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claimed {
    /// The claim.
    pub id: String,
    /// What was measured with the first seed, in words.
    pub measured: String,
    /// Its verdict with one seed after the other.
    pub verdicts: Vec<String>,
    /// Why it is not judged, if it is not.
    pub why: String,
}

/// What is tagged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Key {
    /// Its key.
    pub key: String,
    /// Where it is set.
    pub file: String,
    /// `A` or `F`.
    pub tag: String,
    /// What it is.
    pub value: String,
    /// What else it could be.
    pub others: Vec<Other>,
}

/// Another value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Other {
    /// The value.
    pub value: String,
    /// `judged`, `no other run`, `refused` or `failed`.
    pub outcome: String,
    /// Whether the age marker was fitted again, to the cells that it makes.
    pub fitted_again: bool,
    /// Claims that turn.
    pub turned: Vec<String>,
    /// Why it was refused or failed.
    pub why: String,
    /// Claims that turn at full scale, where that was asked.
    pub turned_in_full: Option<Vec<String>>,
}

/// What a verdict hangs on.
#[derive(Clone, Debug, PartialEq)]
pub enum Hang {
    /// There is none.
    NotJudged,
    /// On the seed: no key is told to decide it.
    Seed,
    /// On these keys, each with the value that turns it.
    Keys(Vec<(String, String)>),
    /// On nothing that was tried.
    Nothing,
}

impl Report {
    pub(super) fn new(paper: &str, options: &Options, findings: &[Vec<Finding>], tried: &[Tried]) -> Self {
        let version = crate::result::version();
        let (_, commit) = version.split_once('+').unwrap_or((&version, ""));
        let claim = |(at, first): (usize, &Finding)| Claimed {
            id: first.claim.id.clone(),
            measured: first.measured_text(),
            verdicts: findings.iter().map(|found| found[at].verdict.name().to_owned()).collect(),
            why: match first.verdict.name() {
                "not judged" => first.verdict.why().to_owned(),
                _ => String::new(),
            },
        };
        Report {
            paper: paper.to_owned(),
            commit: commit.to_owned(),
            seed: options.seed,
            quick: options.quick,
            only: Vec::new(),
            claims: findings[0].iter().enumerate().map(claim).collect(),
            keys: tried.iter().map(key).collect(),
        }
    }

    /// What the verdict of a claim hangs on.
    pub fn hangs(&self, claim: &Claimed) -> Hang {
        if claim.verdicts.iter().any(|verdict| verdict == "not judged") {
            return Hang::NotJudged;
        }
        if claim.verdicts.iter().any(|verdict| *verdict != claim.verdicts[0]) {
            return Hang::Seed;
        }
        let turns = |key: &Key| {
            let turning = key.others.iter().filter(|other| other.turned.contains(&claim.id));
            let values: Vec<&str> = turning.map(|other| shortly(&other.value, &key.value)).collect();
            (!values.is_empty()).then(|| (key.key.clone(), values.join(" or ")))
        };
        let mut keys: Vec<_> = self.keys.iter().filter_map(turns).collect();
        // What a paper could have said of its drive and load goes before the laws of the cells.
        keys.sort_by_key(|(key, _)| key.starts_with("cell."));
        if keys.is_empty() { Hang::Nothing } else { Hang::Keys(keys) }
    }

    /// Claims with what decides them, and keys with what they decide, for people.
    pub fn table(&self) -> String {
        let mut rows = vec![["claim", "measured", "verdict", "decided by"].map(str::to_owned).to_vec()];
        let mut decided = String::new();
        for claim in &self.claims {
            let by = match self.hangs(claim) {
                Hang::NotJudged => "-".to_owned(),
                Hang::Seed => "seed".to_owned(),
                Hang::Nothing => "nothing".to_owned(),
                Hang::Keys(keys) => {
                    let _ = writeln!(decided, "\n{} hangs on", claim.id);
                    for (key, value) in &keys {
                        let _ = writeln!(decided, "  {key} ({value})");
                    }
                    format!("{} keys", keys.len())
                }
            };
            rows.push(vec![claim.id.clone(), claim.measured.clone(), claim.verdicts[0].clone(), by]);
        }
        let mut text = grid(&rows) + "\n";
        for claim in self.claims.iter().filter(|claim| !claim.why.is_empty()) {
            let _ = writeln!(text, "{}: {}", claim.id, claim.why);
        }
        let of_blocks = self.of_blocks().count();
        if of_blocks > 0 {
            let _ = writeln!(text, "{of_blocks} claims of blocks alone: no drive judges them");
        }
        text += &decided;
        for key in &self.keys {
            let _ = writeln!(text, "\n{} = {} [{}] {}", key.key, key.value, key.tag, key.file);
            for other in &key.others {
                let _ = writeln!(text, "  {}: {}", other.value, other.told());
            }
            if key.others.is_empty() {
                let _ = writeln!(text, "  nothing else was tried");
            }
        }
        text
    }

    /// As TOML.
    pub fn toml(&self) -> String {
        let mut text = String::from(BEGINS);
        let scale = if self.quick { "quick" } else { "full" };
        let _ = writeln!(
            text,
            "paper = {:?}\ncommit = {:?}\nseed = {}\nscale = {scale:?}",
            self.paper, self.commit, self.seed
        );
        if !self.only.is_empty() {
            let _ = writeln!(text, "only = {:?}", self.only);
        }
        for claim in &self.claims {
            let _ = writeln!(
                text,
                "\n[[claim]]\nid = {:?}\nverdicts = {:?}\nmeasured = {:?}",
                claim.id, claim.verdicts, claim.measured
            );
            if !claim.why.is_empty() {
                let _ = writeln!(text, "why = {:?}", claim.why);
            }
        }
        for key in &self.keys {
            let _ = writeln!(
                text,
                "\n[[key]]\nkey = {:?}\nfile = {:?}\ntag = {:?}\nvalue = {:?}",
                key.key, key.file, key.tag, key.value
            );
            for other in &key.others {
                let _ =
                    writeln!(text, "[[key.other]]\nvalue = {:?}\noutcome = {:?}", other.value, other.outcome);
                if other.fitted_again {
                    let _ = writeln!(text, "fitted_again = true");
                }
                if !other.turned.is_empty() {
                    let _ = writeln!(text, "turned = {:?}", other.turned);
                }
                if let Some(turned) = &other.turned_in_full {
                    let _ = writeln!(text, "turned_in_full = {turned:?}");
                }
                if !other.why.is_empty() {
                    let _ = writeln!(text, "why = {:?}", other.why);
                }
            }
        }
        text
    }

    /// Reads such a file.
    pub fn read(path: &Path) -> Result<Self, PaperError> {
        File::read(path)?.with_table(|top| {
            Ok(Report {
                paper: top.need_text("paper")?,
                commit: top.text("commit")?.unwrap_or_default(),
                seed: top.whole("seed")?.unwrap_or(1),
                quick: top.text("scale")?.as_deref() == Some("quick"),
                only: top.texts("only")?.unwrap_or_default(),
                claims: top.tables("claim", claimed)?,
                keys: top.tables("key", read_key)?,
            })
        })
    }

    /// Claims that are not judged by drives.
    fn of_blocks(&self) -> impl Iterator<Item = &Claimed> {
        let is_judged = |claim: &&Claimed| self.hangs(claim) != Hang::NotJudged;
        self.claims.iter().filter(move |claim| claim.why.is_empty() && !is_judged(claim))
    }

    /// What was tried, for a README.
    fn tried(&self) -> String {
        let others = || self.keys.iter().flat_map(|key| &key.others);
        let count = |outcome: &str| others().filter(|other| other.outcome == outcome).count();
        let scale = if self.quick { "quick" } else { "full" };
        let left =
            [("refused", "make no drive or load"), ("failed", "fail"), ("no other run", "change no run")];
        let left =
            left.map(|(outcome, what)| (count(outcome), what)).into_iter().filter(|(count, _)| *count > 0);
        let left: Vec<String> = left.map(|(count, what)| format!("{count} {what}")).collect();
        let left = if left.is_empty() { String::new() } else { format!("; {}", left.join(", ")) };
        let mut text = format!(
            "`wordline lab sensitivity {}`, at {scale} scale (commit `{}`): {} keys that are assumed or fitted, \
             {} other values{left}.\n",
            self.paper,
            self.commit,
            self.keys.len(),
            others().count(),
        );
        let fitted = others().filter(|other| other.fitted_again).count();
        if fitted > 0 {
            let _ = writeln!(
                text,
                "For {fitted} of them the age marker was fitted again, to the cells that they make."
            );
        }
        if !self.only.is_empty() {
            let _ = writeln!(text, "Only keys that begin with `{}` were tried.", self.only.join("`, `"));
        }
        text
    }

    /// The section of a README, where claims have these verdicts at full scale.
    pub fn markdown(&self, in_full: &dyn Fn(&str) -> Option<String>) -> String {
        if self.keys.is_empty() && self.claims.iter().all(|claim| self.hangs(claim) == Hang::NotJudged) {
            return "No claim is judged by drives: nothing hangs on what is assumed or fitted.\n".to_owned();
        }
        let mut text = self.tried();
        let name = |claim: &Claimed| {
            let full = in_full(&claim.id).filter(|verdict| *verdict != claim.verdicts[0]);
            full.map_or_else(
                || format!("`{}`", claim.id),
                |full| format!("`{}` ({full} at full scale)", claim.id),
            )
        };
        let of = |hang: Hang, verdict: &str| -> Vec<String> {
            let is_it = |claim: &&Claimed| {
                let is_of_blocks = hang == Hang::NotJudged && claim.why.is_empty();
                self.hangs(claim) == hang
                    && !is_of_blocks
                    && (verdict.is_empty() || claim.verdicts[0] == verdict)
            };
            self.claims.iter().filter(is_it).map(name).collect()
        };
        let whatever =
            if self.only.is_empty() { "whatever we assume" } else { "whatever of these we assume" };
        let lists = [
            (format!("Met {whatever}"), of(Hang::Nothing, "met"), usize::MAX),
            (format!("Missed {whatever}"), of(Hang::Nothing, "missed"), usize::MAX),
            ("Open, since they turn with the seed".to_owned(), of(Hang::Seed, ""), usize::MAX),
            ("Not judged here".to_owned(), of(Hang::NotJudged, ""), NOT_JUDGED),
        ];
        for (what, claims, named) in lists.into_iter().filter(|(_, claims, _)| !claims.is_empty()) {
            let told = match claims.len() > named {
                true => format!("{} claims", claims.len()),
                false => claims.join(", "),
            };
            let _ = write!(text, "\n- {what}: {told}.");
        }
        let of_blocks = self.of_blocks().count();
        if of_blocks > 0 {
            let _ = write!(text, "\n- Of blocks alone, judged by no drive: {of_blocks} claims.");
        }
        for claim in &self.claims {
            let Hang::Keys(keys) = self.hangs(claim) else { continue };
            let told = keys.iter().take(NAMED).map(|(key, value)| format!("`{key}` ({value})"));
            let more = keys.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let told = told.collect::<Vec<_>>().join(", ");
            let _ = write!(text, "\n- {}, {}, hangs on {told}{more}.", name(claim), claim.verdicts[0]);
        }
        wrapped(&text)
    }
}

impl Other {
    /// What came of it, in words.
    fn told(&self) -> String {
        let full = match &self.turned_in_full {
            None => String::new(),
            Some(turned) if turned.is_empty() => ", in full none".to_owned(),
            Some(turned) => format!(", in full {}", turned.join(", ")),
        };
        let told = match self.outcome.as_str() {
            "judged" if self.turned.is_empty() => "as before".to_owned(),
            "judged" => format!("turns {}{full}", self.turned.join(", ")),
            other if self.why.is_empty() => other.to_owned(),
            other => format!("{other}: {}", self.why),
        };
        if self.fitted_again { format!("age marker fitted again, {told}") } else { told }
    }
}

fn key(tried: &Tried) -> Key {
    let tagged = &tried.tagged;
    let other = |trial: &Trial| {
        let (outcome, turned, why) = match &trial.outcome {
            Outcome::Judged(turned) => ("judged", turned.clone(), ""),
            Outcome::NoOther => ("no other run", Vec::new(), ""),
            Outcome::Refused(why) => ("refused", Vec::new(), why.as_str()),
            Outcome::Failed(why) => ("failed", Vec::new(), why.as_str()),
        };
        let turned_in_full = trial.in_full.as_ref().map(|outcome| match outcome {
            Outcome::Judged(turned) => turned.clone(),
            _ => Vec::new(),
        });
        Other {
            value: trial.one.value.clone(),
            outcome: outcome.to_owned(),
            fitted_again: trial.fitted_again,
            turned,
            why: why.to_owned(),
            turned_in_full,
        }
    };
    Key {
        key: tagged.key.clone(),
        file: tagged.file.clone(),
        tag: tagged.tag.letter().to_owned(),
        value: tagged.value.clone(),
        others: tried.trials.iter().map(other).collect(),
    }
}

/// A value for people: half or twice of a list is told so.
fn shortly<'v>(value: &'v str, own: &str) -> &'v str {
    let numbers = |text: &str| -> Vec<f64> {
        text.trim_matches(['[', ']']).split(", ").filter_map(|number| number.parse().ok()).collect()
    };
    let (others, own) = (numbers(value), numbers(own));
    let is_times =
        |factor: f64| others.iter().zip(&own).any(|(other, own)| *own != 0.0 && *other == own * factor);
    match value.starts_with('[') {
        true if is_times(0.5) => "half",
        true if is_times(2.0) => "twice",
        _ => value,
    }
}

fn claimed(walk: &Walk<'_>) -> Result<Claimed, PaperError> {
    let verdicts = walk.texts("verdicts")?.unwrap_or_default();
    if verdicts.is_empty() {
        return Err(walk.wrong("verdicts", "found nothing", "a verdict for each seed"));
    }
    Ok(Claimed {
        id: walk.need_text("id")?,
        measured: walk.text("measured")?.unwrap_or_default(),
        verdicts,
        why: walk.text("why")?.unwrap_or_default(),
    })
}

fn read_key(walk: &Walk<'_>) -> Result<Key, PaperError> {
    let other = |walk: &Walk<'_>| {
        Ok(Other {
            value: walk.need_text("value")?,
            outcome: walk.need_text("outcome")?,
            fitted_again: walk.flag("fitted_again")?.unwrap_or_default(),
            turned: walk.texts("turned")?.unwrap_or_default(),
            why: walk.text("why")?.unwrap_or_default(),
            turned_in_full: walk.texts("turned_in_full")?,
        })
    };
    Ok(Key {
        key: walk.need_text("key")?,
        file: walk.need_text("file")?,
        tag: walk.need_text("tag")?,
        value: walk.need_text("value")?,
        others: walk.tables("other", other)?,
    })
}

/// Lines of at most 120 columns; those of a list are indented.
fn wrapped(text: &str) -> String {
    let mut whole = String::new();
    for line in text.lines() {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let mut columns = 0;
        for (number, word) in line.split(' ').enumerate() {
            let width = word.chars().count();
            if number > 0 && columns + 1 + width > 120 {
                let _ = write!(whole, "\n{indent}{word}");
                columns = indent.len() + width;
            } else {
                let space = if number > 0 { " " } else { "" };
                let _ = write!(whole, "{space}{word}");
                columns += space.len() + width;
            }
        }
        whole.push('\n');
    }
    whole
}
