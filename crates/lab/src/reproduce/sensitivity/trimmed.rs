//! A paper without what no claim about drives is judged by.

use crate::reproduce::claims::{Claim, Rule};
use crate::reproduce::paper::Paper;
use crate::reproduce::study::Study;

/// The claims that are judged by runs of a study.
pub(super) fn claims_of<'p>(paper: &'p Paper, study: &str) -> Vec<&'p Claim> {
    let is_its = |claim: &&Claim| {
        let measure = claim.measure.as_ref().filter(|_| claim.not_judged.is_none());
        measure.is_some_and(|measure| measure.studies.iter().any(|name| name == study))
    };
    paper.claims.iter().filter(is_its).collect()
}

/// The paper with the studies, techniques, workloads and ages that claims are judged by; it claims nothing itself.
pub(super) fn trimmed(paper: &Paper) -> Paper {
    let mut trimmed = paper.clone();
    trimmed.claims.clear();
    trimmed.constants.clear();
    trimmed.experiment.laboratories.clear();
    trimmed.experiment.figures.clear();
    trimmed.experiment.studies.retain(|study| !claims_of(paper, &study.name).is_empty());
    for study in &mut trimmed.experiment.studies {
        trim(study, &claims_of(paper, &study.name));
    }
    trimmed
}

fn trim(study: &mut Study, claims: &[&Claim]) {
    let mut techniques = vec![study.beyond.clone(), study.over.clone()];
    let (mut workloads, mut ages) = (Some(Vec::new()), Some(Vec::new()));
    for claim in claims {
        let Some(measure) = &claim.measure else { continue };
        techniques.extend(measure.techniques.iter().cloned());
        techniques.push(measure.against.clone());
        let ordered = match &claim.rule {
            Rule::OrderOfWorkloads { workloads } | Rule::FirstOfWorkloads { workloads } => workloads,
            rule => {
                techniques.extend(rule.order().iter().cloned());
                &measure.workloads
            }
        };
        add(&mut workloads, ordered);
        add(&mut ages, &measure.ages);
    }
    study.techniques.retain(|name| techniques.contains(name));
    let keep = |all: &mut Vec<String>, used: &Option<Vec<String>>| {
        all.retain(|name| used.as_ref().is_none_or(|used| used.contains(name)));
    };
    keep(&mut study.workloads, &workloads);
    keep(&mut study.quick_workloads, &workloads);
    keep(&mut study.ages, &ages);
    keep(&mut study.quick_ages, &ages);
}

/// More of what is used; where none is named, all are.
fn add(used: &mut Option<Vec<String>>, named: &[String]) {
    match used {
        Some(_) if named.is_empty() => *used = None,
        Some(all) => all.extend(named.iter().cloned()),
        None => {}
    }
}
