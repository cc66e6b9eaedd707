//! A paper in which one thing is another.

use super::loads::multiplied;
use super::tags::{Set, Tagged};
use super::tries::{Numbers, Try, times};
use crate::base::document::{File, PaperError};
use crate::reproduce::experiment::{self, Workload};
use crate::reproduce::paper::Paper;
use crate::reproduce::shipped::Shipped;
use crate::reproduce::study::{Study, Varied};
use std::collections::BTreeSet;
use std::ops::Range;

/// The paper with another value of what is tagged, and the studies alone that use it.
pub(super) fn with(paper: &Paper, tagged: &Tagged, one: &Try, quick: bool) -> Result<Paper, PaperError> {
    let mut other = paper.clone();
    match &tagged.set {
        Set::Key(origin) => {
            other.experiment.studies.retain(|study| tagged.studies.contains(&study.name));
            for study in &mut other.experiment.studies {
                study.varied = Some(Varied {
                    key: tagged.key.clone(),
                    origin: origin.clone(),
                    value: one.value.clone(),
                });
            }
        }
        Set::Text { shipped, spans } => {
            let factor = one.factor.unwrap_or(1.0);
            let again = read_again(paper, shipped.as_deref(), spans, factor)?;
            put(&mut other, again, (&tagged.key, factor), quick);
        }
    }
    Ok(other)
}

/// What is run, with values of a text multiplied.
fn read_again(
    paper: &Paper,
    shipped: Option<&str>,
    spans: &[Range<usize>],
    factor: f64,
) -> Result<experiment::Experiment, PaperError> {
    let mut file = File::read(&paper.folder.join("experiment.toml"))?;
    match shipped.and_then(workload::standin) {
        None => {
            file.text = multiplied(&file.text, spans, factor);
            experiment::of(&file, &paper.folder, None)
        }
        Some(preset) => {
            let text = multiplied(preset.text, spans, factor);
            experiment::of(&file, &paper.folder, Some(&Shipped { name: preset.name.to_owned(), text }))
        }
    }
}

/// Puts the workloads, ages and techniques that have changed in a paper, and leaves it the studies that use them.
fn put(paper: &mut Paper, again: experiment::Experiment, (key, factor): (&str, f64), quick: bool) {
    let differs =
        |one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| format!("{one:?}") != format!("{other:?}");
    let (mut workloads, mut ages, mut techniques) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (own, mut other) in paper.experiment.workloads.iter_mut().zip(again.workloads) {
        if differs(own, &other) {
            set_again(&mut other, key, factor);
            workloads.insert(other.name.clone());
            *own = other;
        }
    }
    for (own, other) in paper.experiment.ages.iter_mut().zip(again.ages) {
        if differs(own, &other) {
            ages.insert(other.name.clone());
            *own = other;
        }
    }
    for (own, other) in paper.experiment.techniques.iter_mut().zip(again.techniques) {
        if differs(own, &other) {
            techniques.insert(other.name.clone());
            *own = other;
        }
    }
    let uses = |study: &Study| {
        let warms = study.warm.as_ref().is_some_and(|warm| workloads.contains(&warm.workload));
        let runs = study.workloads(quick).iter().any(|name| workloads.contains(name));
        let tries = study.techniques.iter().any(|name| techniques.contains(name));
        warms || runs || tries || study.ages(quick).iter().any(|name| ages.contains(name))
    };
    paper.experiment.studies.retain(uses);
}

/// A key that a workload sets over its table, such as at quick scale, is multiplied there.
fn set_again(workload: &mut Workload, key: &str, factor: f64) {
    let Some(key) = key.strip_prefix("workload.") else { return };
    for text in workload.set.iter_mut().chain(&mut workload.quick_set) {
        let other = text.split_once('=').filter(|(name, _)| name.trim() == key);
        if let Some(value) = other.and_then(|(_, value)| times(value.trim(), factor, Numbers::ANY)) {
            *text = format!("{key}={value}");
        }
    }
}
