//! Tags: whence a number is, said in the comment beside it.

use super::tries::Try;
use ssd::config::presets;
use std::collections::BTreeMap;
use std::path::Path;

/// Whence a number is that no paper gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// `[A]`: it is assumed.
    Assumed,
    /// `[F]`: it was fitted to a number of a paper.
    Fitted,
}

impl Tag {
    /// `A` or `F`.
    pub fn letter(self) -> &'static str {
        match self {
            Tag::Assumed => "A",
            Tag::Fitted => "F",
        }
    }

    /// The first tag behind the value in a line, if that is one of these.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        let (_, comment) = line.split_once('#')?;
        let letter = |(at, _)| comment.get(at + 1..).and_then(|rest| rest.split_once(']')).map(|it| it.0);
        match comment.match_indices('[').filter_map(letter).find(|tag| ["P", "D", "F", "A"].contains(tag))? {
            "A" => Some(Tag::Assumed),
            "F" => Some(Tag::Fitted),
            _ => None,
        }
    }
}

/// A key that is assumed or fitted, and what else it could be.
#[derive(Clone, Debug)]
pub struct Tagged {
    /// The key: `nand.geometry.channels`, `run.depth`; of a load `workload.rate_iops`, of an age `age.old.steps`.
    pub key: String,
    /// The file that sets it, as constants of `claims.toml` are told: in the paper's folder, or `presets/...`.
    pub file: String,
    /// Its tag.
    pub tag: Tag,
    /// What it is at this scale, as TOML text.
    pub value: String,
    /// What else is tried.
    pub tries: Vec<Try>,
    /// The studies that use it, of those by which claims are judged.
    pub studies: Vec<String>,
    /// The claims that are judged by these.
    pub claims: Vec<String>,
    pub(super) set: Set,
}

/// How a key is set to something else.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Set {
    /// One of drives or runs, set there.
    Key(ssd::config::Origin),
    /// Values in the text of `experiment.toml`, or of the shipped workload of that name.
    Text {
        /// The shipped workload.
        shipped: Option<String>,
        /// Where the values are; in the order of the text.
        spans: Vec<std::ops::Range<usize>>,
    },
}

/// Lines of the files that configurations come from.
#[derive(Default)]
pub(super) struct Sources(BTreeMap<String, Vec<String>>);

impl Sources {
    /// A line of a source, from 1.
    pub fn line(&mut self, source: &str, line: u32) -> Option<&str> {
        if !self.0.contains_key(source) {
            let text = match shipped(source) {
                Some(preset) => preset.text.to_owned(),
                None => std::fs::read_to_string(source).unwrap_or_default(),
            };
            self.0.insert(source.to_owned(), text.lines().map(str::to_owned).collect());
        }
        self.0[source].get((line as usize).checked_sub(1)?).map(String::as_str)
    }
}

/// The shipped file that messages call so.
fn shipped(source: &str) -> Option<&'static presets::Preset> {
    let (folder, name) = source.strip_prefix("preset ")?.split_once('/')?;
    match folder {
        "drive" => presets::drive(name),
        "nand" => presets::nand(name),
        "marker" => presets::marker(name),
        _ => presets::cell(name),
    }
}

/// A source as constants of `claims.toml` name it.
pub(super) fn file_of(source: &str, folder: &Path) -> String {
    match shipped(source) {
        Some(preset) => preset.file.to_owned(),
        None => {
            let path = Path::new(source);
            path.strip_prefix(folder).unwrap_or(path).display().to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tag_of_a_line_counts() {
        for (line, tag) in [
            ("a = 1 # [A] of four", Some(Tag::Assumed)),
            ("a = 1 # us [F] through [P] one", Some(Tag::Fitted)),
            ("a = 1 # [P] Straw; Bad [A]", None),
            ("a = [1] # list[0] [A]", Some(Tag::Assumed)),
            ("a = [1]", None),
        ] {
            assert_eq!(Tag::of_line(line), tag, "{line}");
        }
    }
}
