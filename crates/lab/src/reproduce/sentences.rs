//! What a paper says, sentence by sentence: `sentences.toml`.

use super::PaperError;
use super::claims::{Claim, Rule};
use super::experiment::Experiment;
use crate::base::document::{File, Walk};
use std::path::Path;

/// Whence a claimed number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// The sentence has it.
    Text,
    /// Somebody's eye, off a figure: the sentence is what the paper says of it.
    Figure,
    /// A computation with numbers of the sentence.
    Computed,
    /// A table, of which the sentence is a row or the caption.
    Table,
}

impl ReadFrom {
    const ALL: [(&'static str, ReadFrom); 4] = [
        ("text", ReadFrom::Text),
        ("figure", ReadFrom::Figure),
        ("computed", ReadFrom::Computed),
        ("table", ReadFrom::Table),
    ];
}

/// A sentence, or parts of one with `...` between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Section, figure or table.
    pub place: String,
    /// Its words.
    pub text: String,
    /// Whence the numbers of its claims are.
    pub from: ReadFrom,
    /// The claims that it makes; `*` at the end stands for all that begin so.
    pub claims: Vec<String>,
    /// The studies whose set-up it fixes.
    pub studies: Vec<String>,
}

/// What a paper says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentences {
    /// How the name of its document begins.
    pub document: String,
    /// Its sentences.
    pub all: Vec<Sentence>,
}

/// Whether a name, or all that begin with it, is meant.
fn means(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begins) => name.starts_with(begins),
        None => pattern == name,
    }
}

impl Sentence {
    fn read(walk: &Walk<'_>) -> Result<Self, PaperError> {
        let names = ReadFrom::ALL.map(|(name, _)| name);
        let from = match walk.text("from")? {
            None => ReadFrom::Text,
            Some(found) => match ReadFrom::ALL.iter().find(|(name, _)| *name == found) {
                Some((_, from)) => *from,
                None => return Err(walk.no_such("from", "source of a number", &found, &names)),
            },
        };
        let sentence = Sentence {
            place: walk.need_text("where")?,
            text: walk.need_text("text")?,
            from,
            claims: walk.texts("claims")?.unwrap_or_default(),
            studies: walk.texts("studies")?.unwrap_or_default(),
        };
        if sentence.claims.is_empty() && sentence.studies.is_empty() {
            return Err(walk.wrong(
                "claims",
                "found nothing",
                "claims that it makes, or studies that it fixes",
            ));
        }
        Ok(sentence)
    }

    fn is_of(&self, claim: &Claim) -> bool {
        self.claims.iter().any(|pattern| means(pattern, &claim.id))
    }

    /// Whether it says a number, in digits or as a word, or as so many percent.
    pub fn has_number(&self, number: f64) -> bool {
        let said = numbers(&self.text);
        let is_in = |value: f64| said.iter().any(|said| (said - value).abs() <= 1e-9 * value.abs());
        [1.0, 100.0, 0.001, 0.01].iter().any(|scale| is_in(number * scale))
    }
}

/// The numbers of a text, in digits or as words.
fn numbers(text: &str) -> Vec<f64> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let mut found = Vec::new();
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    for token in text.split(|c: char| !is_of_number(c)) {
        let plain = token.trim_matches(['.', ',']).replace(',', "");
        found.extend(plain.parse::<f64>());
    }
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        found.extend(WORDS.iter().position(|known| *known == word).map(|value| value as f64));
        if matches!(word, "no" | "none") {
            found.push(0.0);
        }
    }
    found
}

impl Sentences {
    /// Reads `sentences.toml`, and checks that what it names is there.
    pub fn read(path: &Path, claims: &[Claim], experiment: &Experiment) -> Result<Self, PaperError> {
        let file = File::read(path)?;
        file.with_table(|top| {
            let all = top.tables("sentence", |walk| {
                let sentence = Sentence::read(walk)?;
                let names: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
                let is_there = |pattern: &&String| names.iter().any(|name| means(pattern, name));
                if let Some(wrong) = sentence.claims.iter().find(|pattern| !is_there(pattern)) {
                    return Err(walk.no_such("claims", "claim", wrong, &names));
                }
                let known: Vec<String> = experiment.studies.iter().map(|study| study.name.clone()).collect();
                walk.known("studies", "study", &sentence.studies, &known)?;
                Ok(sentence)
            })?;
            Ok(Sentences { document: top.need_text("document")?, all })
        })
    }

    /// Refuses a claim that no sentence makes, or whose number is not in it though it is not said to be from elsewhere.
    pub fn check(&self, path: &Path, claims: &[Claim]) -> Result<(), PaperError> {
        for claim in claims.iter().filter(|claim| !claim.is_ours()) {
            let its: Vec<&Sentence> = self.all.iter().filter(|sentence| sentence.is_of(claim)).collect();
            if its.is_empty() {
                let found = format!("no sentence makes claim {:?}", claim.id);
                return Err(wrong(path, &found, "a [[sentence]] whose claims name it, or where = \"ours\""));
            }
            let number = claim.claimed.filter(|_| matches!(claim.rule, Rule::Number | Rule::Rough));
            let says = |sentence: &&Sentence| {
                sentence.from != ReadFrom::Text || number.is_none_or(|number| sentence.has_number(number))
            };
            if !its.iter().any(says) {
                let found = format!(
                    "claim {:?} claims {}, which is not in its sentence",
                    claim.id,
                    number.unwrap_or(0.0)
                );
                return Err(wrong(
                    path,
                    &found,
                    "a sentence with it, or from = \"table\", \"figure\", \"computed\"",
                ));
            }
        }
        Ok(())
    }
}

fn wrong(path: &Path, found: &str, allowed: &str) -> PaperError {
    PaperError::Wrong {
        place: path.display().to_string(),
        key: "sentence".to_owned(),
        found: found.to_owned(),
        allowed: allowed.to_owned(),
        near: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_digits_and_as_words() {
        let text = "erases on average about five times more, 1,600 us and 94.5% of no-lock.";
        assert_eq!(numbers(text), [1600.0, 94.5, 5.0, 0.0]);
        let sentence = |text: &str| Sentence {
            place: "1".to_owned(),
            text: text.to_owned(),
            from: ReadFrom::Text,
            claims: Vec::new(),
            studies: Vec::new(),
        };
        assert!(sentence("94.5% of it").has_number(0.945) && sentence("7K cycles").has_number(7000.0));
        assert!(!sentence("94.5% of it").has_number(94.0));
    }

    #[test]
    fn a_star_stands_for_all_that_begin_so() {
        assert!(
            means("table8-*", "table8-gcc") && means("a", "a") && !means("a", "ab") && !means("b*", "ab")
        );
    }
}
