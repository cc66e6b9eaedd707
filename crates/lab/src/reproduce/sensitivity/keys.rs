//! All that is tagged in what a paper runs.

use super::loads::{self, values};
use super::tags::{Set, Sources, Tag, Tagged, file_of};
use super::tries::{self, Numbers, Try, scaled};
use super::trimmed::claims_of;
use super::varied;
use crate::base::document::{File, PaperError};
use crate::reproduce::experiment::Setup;
use crate::reproduce::paper::Paper;
use ssd::config::{Origin, Table};

/// Where random numbers begin: no assumption about a drive.
const SEED: &str = ".seed";

/// What follows from the cells: no value of its own can be assumed.
const FITTED_ON: &str = "cell.markers.fitted_on";

/// All that is tagged as assumed or fitted in the drives, runs, loads and ages of a trimmed paper, in this order.
pub(super) fn all(paper: &Paper, trimmed: &Paper, quick: bool) -> Result<Vec<Tagged>, PaperError> {
    let mut all = of_drives(trimmed, quick)?;
    all.extend(of_loads(trimmed, quick)?);
    for tagged in &mut all {
        for claim in tagged.studies.iter().flat_map(|study| claims_of(paper, study)) {
            if !tagged.claims.contains(&claim.id) {
                tagged.claims.push(claim.id.clone());
            }
        }
    }
    Ok(all)
}

fn of_drives(trimmed: &Paper, quick: bool) -> Result<Vec<Tagged>, PaperError> {
    let experiment = &trimmed.experiment;
    let (mut all, mut sources) = (Vec::<Tagged>::new(), Sources::default());
    for study in &experiment.studies {
        for of in experiment.drives_of(study, quick) {
            let [full, here] = [false, quick].map(|quick| experiment.setup(study, of, quick, 1));
            let (full, here) = (full?, here?);
            for (key, origin) in full.resolved.origins().chain(&full.run_origins) {
                let known = all.iter_mut().find(|it| it.key == *key && it.set == Set::Key(origin.clone()));
                match known {
                    Some(known) if known.studies.contains(&study.name) => {}
                    Some(known) => known.studies.push(study.name.clone()),
                    None => {
                        let found = of_key((key, origin), &here, &mut sources);
                        all.extend(found.map(|tagged| Tagged {
                            file: file_of(&origin.source, &trimmed.folder),
                            studies: vec![study.name.clone()],
                            ..tagged
                        }));
                    }
                }
            }
        }
    }
    Ok(all)
}

/// A key that is tagged where it is set.
fn of_key((key, origin): (&str, &Origin), here: &Setup, sources: &mut Sources) -> Option<Tagged> {
    let (path, name) = key.rsplit_once('.')?;
    let line = sources.line(&origin.source, origin.line.filter(|_| !key.ends_with(SEED))?)?;
    let tag = Tag::of_line(line)?;
    // What follows from another key is said to be set where that is.
    let (set, _) = line.split_once('=')?;
    if set.trim().rsplit('.').next() != Some(name) {
        return None;
    }
    let run: &dyn Table = &here.run;
    let section = here.resolved.config.sections().find(|(other, _)| *other == path);
    let table = if path == "run" { run } else { section?.1 };
    let (value, tries) = tries::of_key(table, name)?;
    let tries = if key == FITTED_ON { Vec::new() } else { tries };
    Some(Tagged {
        key: key.to_owned(),
        file: String::new(),
        tag,
        value,
        tries,
        studies: Vec::new(),
        claims: Vec::new(),
        set: Set::Key(origin.clone()),
    })
}

fn of_loads(trimmed: &Paper, quick: bool) -> Result<Vec<Tagged>, PaperError> {
    let own = File::read(&trimmed.folder.join("experiment.toml"))?;
    let mut texts = vec![(None, "experiment.toml", own.text.as_str(), loads::of_experiment(&own)?)];
    let is_named = |name: &str| own.text.to_ascii_lowercase().contains(&name.to_ascii_lowercase());
    for preset in workload::standins().iter().filter(|preset| is_named(preset.name)) {
        texts.push((Some(preset.name.to_owned()), preset.file, preset.text, loads::of_shipped(preset.text)));
    }
    let mut all = Vec::new();
    for (shipped, file, text, found) in texts {
        for found in found {
            let first = &text[found.spans[0].clone()];
            let mut tagged = Tagged {
                key: found.key,
                file: file.to_owned(),
                tag: found.tag,
                value: values(text, &found.spans),
                tries: scaled(first, Numbers::ANY),
                studies: Vec::new(),
                claims: Vec::new(),
                set: Set::Text { shipped: shipped.clone(), spans: found.spans },
            };
            tagged.studies = studies_of(trimmed, &tagged, quick)?;
            if !tagged.studies.is_empty() {
                all.push(tagged);
            }
        }
    }
    Ok(all)
}

/// The studies that run what a text says, by what another value changes.
fn studies_of(trimmed: &Paper, tagged: &Tagged, quick: bool) -> Result<Vec<String>, PaperError> {
    let anything = [Try { value: String::new(), factor: Some(2.0) }];
    for one in tagged.tries.iter().chain(&anything) {
        if let Ok(other) = varied::with(trimmed, tagged, one, quick) {
            return Ok(other.experiment.studies.into_iter().map(|study| study.name).collect());
        }
    }
    Ok(Vec::new())
}
