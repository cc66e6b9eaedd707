//! A paper's folder, read.

use super::claims::{self, Claim, Constant, Rule};
use super::experiment::{self, Experiment};
use super::lines;
use super::options::Options;
use super::sentences::Sentences;
use crate::base::document::PaperError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A paper's folder, read.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its name: that of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What is run.
    pub experiment: Experiment,
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// What was chosen with numbers of the paper in sight.
    pub constants: Vec<Constant>,
    /// The sentences that make the claims; `None` of an experiment of ours.
    pub sentences: Option<Sentences>,
}

/// Names of all papers in a folder: its folders with an `experiment.toml`.
pub fn papers(folder: &Path) -> Result<Vec<String>, PaperError> {
    let list = std::fs::read_dir(folder).map_err(|error| PaperError::file(folder, "read", error))?;
    let entries = list.filter_map(Result::ok).filter(|entry| entry.path().join("experiment.toml").is_file());
    let no_text = |name: OsString| {
        let message = "its name is not UTF-8 text, and a paper is named by it";
        PaperError::file(&folder.join(name), "use", message)
    };
    let names = entries.map(|entry| entry.file_name().into_string().map_err(no_text));
    let mut names: Vec<String> = names.collect::<Result<_, _>>()?;
    names.sort();
    Ok(names)
}

impl Paper {
    /// Reads a paper's folder and checks that its files fit together. Without a `claims.toml` nothing is claimed.
    pub fn load(folder: &Path) -> Result<Self, PaperError> {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let experiment = experiment::read(folder)?;
        let path = folder.join("claims.toml");
        let (claims, constants) = if path.exists() { claims::read(&path)? } else { Default::default() };
        for claim in &claims {
            check_names(&path, &experiment, claim)?;
        }
        let path = folder.join("sentences.toml");
        let read = || Sentences::read(&path, &claims, &experiment);
        let sentences = path.exists().then(read).transpose()?;
        Ok(Paper { name, folder: folder.to_owned(), experiment, claims, constants, sentences })
    }

    /// Refuses a claim whose sentence is not in `sentences.toml`.
    pub fn check_sentences(&self) -> Result<(), PaperError> {
        let path = self.folder.join("sentences.toml");
        let none = Sentences { document: String::new(), all: Vec::new() };
        self.sentences.as_ref().unwrap_or(&none).check(&path, &self.claims)
    }

    /// The folder in which a run keeps everything.
    pub fn out(&self, options: &Options) -> PathBuf {
        options.out.join(&self.name).join(if options.quick { "quick" } else { "full" })
    }
}

/// Refuses a claim about something that is not run.
fn check_names(path: &Path, experiment: &Experiment, claim: &Claim) -> Result<(), PaperError> {
    let wrong = |key: &str, found: &str, names: Vec<&str>| PaperError::Wrong {
        place: format!("{}: claim {:?}", path.display(), claim.id),
        key: key.to_owned(),
        found: format!("{found:?}, which experiment.toml does not run"),
        allowed: names.join(", "),
        near: None,
    };
    if let Err((name, known)) = lines::check_claim(claim, &experiment.laboratories) {
        return Err(wrong("laboratory", &name, known.iter().map(String::as_str).collect()));
    }
    let Some(measure) = &claim.measure else { return Ok(()) };
    let of = |name: &String| experiment.studies.iter().find(|study| study.name == *name);
    let Some(studies) = measure.studies.iter().map(of).collect::<Option<Vec<_>>>() else {
        let names = experiment.studies.iter().map(|study| study.name.as_str()).collect();
        let found = measure.studies.iter().find(|name| of(name).is_none());
        return Err(wrong("study", found.map_or("", String::as_str), names));
    };
    let mut techniques: Vec<&String> = measure.techniques.iter().chain([&measure.against]).collect();
    let mut workloads: Vec<&String> = measure.workloads.iter().collect();
    match &claim.rule {
        Rule::Order { techniques: order } => techniques.extend(order),
        Rule::OrderOfWorkloads { workloads: order } | Rule::FirstOfWorkloads { workloads: order } => {
            workloads.extend(order);
        }
        _ => {}
    }
    techniques.retain(|name| !name.is_empty());
    for study in studies {
        let lists = [
            ("technique", &techniques, &study.techniques),
            ("workloads", &workloads, &study.workloads),
            ("ages", &measure.ages.iter().collect(), &study.ages),
            ("phase", &measure.phase.iter().collect(), &study.measured),
        ];
        for (key, names, known) in lists {
            if let Some(name) = names.iter().find(|name| !known.contains(name)) {
                return Err(wrong(key, name, known.iter().map(String::as_str).collect()));
            }
        }
    }
    Ok(())
}
