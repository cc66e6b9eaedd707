//! A grid of runs: `[[study]]` of `experiment.toml`.

use super::PaperError;
use crate::base::document::Walk;
use ssd::config::Origin;
use std::path::{Path, PathBuf};

/// Requests served before the measurement, without time, that belong to the aged drive.
#[derive(Clone, Debug)]
pub struct Warm {
    /// Of which workload.
    pub workload: String,
    /// How many at full scale.
    pub requests: u64,
    /// How many at quick scale.
    pub quick_requests: u64,
}

/// Seeds of a study's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// So many: that of the whole run and those that follow it.
    Count(u64),
    /// These.
    These(Vec<u64>),
}

impl Seeds {
    /// The seeds, where that of the whole run is `first`.
    pub fn all(&self, first: u64) -> Vec<u64> {
        match self {
            Seeds::Count(count) => (0..*count).map(|more| first.wrapping_add(more)).collect(),
            Seeds::These(seeds) => seeds.clone(),
        }
    }
}

/// A grid of runs.
#[derive(Clone, Debug)]
pub struct Study {
    /// Name in claims and results.
    pub name: String,
    /// Configurations, later ones override earlier ones.
    pub config: Vec<PathBuf>,
    /// More of them at quick scale.
    pub quick: Vec<PathBuf>,
    /// Names of techniques.
    pub techniques: Vec<String>,
    /// Names of workloads.
    pub workloads: Vec<String>,
    /// Those at quick scale.
    pub quick_workloads: Vec<String>,
    /// Names of ages.
    pub ages: Vec<String>,
    /// Those at quick scale.
    pub quick_ages: Vec<String>,
    /// What is served before the measurement.
    pub warm: Option<Warm>,
    /// The technique whose copies are those that there would be without reads' harm; empty if there is none.
    pub beyond: String,
    /// The technique whose copies those of all others are shares of; empty if there is none.
    pub over: String,
    /// Whether runs are held against what every policy must copy.
    pub bound: bool,
    /// Whether its runs go on until the drive is worn out, and fail if it is not.
    pub until_worn: bool,
    /// Whether it is watched what becomes of files in flash ([`crate::measure::versions`]).
    pub versions: bool,
    /// How often each workload is served, one pass after the other.
    pub repeat: u64,
    /// The phases of its workloads that are measured, each for itself; none to measure workloads as a whole.
    pub measured: Vec<String>,
    /// Where those stand on the horizontal axis of curves.
    pub measured_across: Vec<f64>,
    /// Each run is done once with each of these, and the means are what counts.
    pub seeds: Seeds,
    /// The same at quick scale.
    pub quick_seeds: Seeds,
    /// A key of its drives or runs that has another value; of papers as they are, none has.
    pub varied: Option<Varied>,
    /// Markers of its drives that were fitted to other cells than they have as the paper is.
    pub markers: Vec<FittedAgain>,
}

/// The marker of a technique's drive for a workload, fitted again.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedAgain {
    /// The technique.
    pub technique: String,
    /// The workload.
    pub workload: String,
    /// `[cell.markers]`.
    pub text: String,
}

/// A key with another value, wherever it was set in one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// The key.
    pub key: String,
    /// Where it was set at full scale.
    pub origin: Origin,
    /// Its other value, as TOML text.
    pub value: String,
}

/// Names of everything that studies put together.
pub(super) struct Names {
    pub techniques: Vec<String>,
    pub ages: Vec<String>,
    pub workloads: Vec<String>,
    /// What the phases of each workload are called; `None` where it has none.
    pub phases: Vec<Option<Vec<String>>>,
}

impl Names {
    pub fn check(&self, top: &Walk<'_>) -> Result<(), PaperError> {
        for (key, names) in
            [("technique", &self.techniques), ("age", &self.ages), ("workload", &self.workloads)]
        {
            if names.is_empty() {
                return Err(top.wrong(key, "found nothing", format!("one [[{key}]] or more")));
            }
            if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
                return Err(top.wrong(key, format!("{:?} twice", twice.1), "a name of its own for each"));
            }
        }
        Ok(())
    }
}

pub(super) fn study(walk: &Walk<'_>, name: String, folder: &Path, all: &Names) -> Result<Study, PaperError> {
    let files = |key| -> Result<Vec<PathBuf>, PaperError> {
        Ok(walk.texts(key)?.unwrap_or_default().iter().map(|file| folder.join(file)).collect())
    };
    let chosen =
        |key: &'static str, what, names: &[String], default: &[String]| -> Result<Vec<String>, PaperError> {
            let Some(chosen) = walk.texts(key)? else { return Ok(default.to_vec()) };
            walk.known(key, what, &chosen, names).map(|()| chosen)
        };
    let workloads = chosen("workloads", "workload", &all.workloads, &all.workloads)?;
    let ages = chosen("ages", "age", &all.ages, &all.ages)?;
    let techniques = chosen("techniques", "technique", &all.techniques, &all.techniques)?;
    let one_of_them = |key: &'static str| {
        let name = walk.text(key)?.unwrap_or_default();
        if !name.is_empty() {
            walk.known(key, "technique of the study", std::slice::from_ref(&name), &techniques)?;
        }
        Ok(name)
    };
    let (beyond, over) = (one_of_them("beyond")?, one_of_them("over")?);
    let repeat = walk.whole("repeat")?.unwrap_or(1);
    if repeat == 0 {
        return Err(walk.wrong("repeat", "found 0", "a whole number from 1"));
    }
    let seeds = seeds(walk, "seeds")?.unwrap_or(Seeds::Count(1));
    let study = Study {
        repeat,
        name,
        config: files("config")?,
        quick: files("quick")?,
        techniques,
        quick_workloads: chosen("quick_workloads", "workload", &all.workloads, &workloads)?,
        quick_ages: chosen("quick_ages", "age", &all.ages, &ages)?,
        workloads,
        ages,
        warm: walk.table("warm", |walk| warm(walk, all))?,
        beyond,
        over,
        bound: walk.flag("bound")?.unwrap_or(false),
        until_worn: walk.flag("until_worn")?.unwrap_or(false),
        versions: walk.flag("versions")?.unwrap_or(false),
        measured: walk.texts("measured")?.unwrap_or_default(),
        measured_across: walk.numbers("measured_across")?.unwrap_or_default(),
        quick_seeds: self::seeds(walk, "quick_seeds")?.unwrap_or_else(|| seeds.clone()),
        seeds,
        varied: None,
        markers: Vec::new(),
    };
    if walk.has("measured") || walk.has("measured_across") {
        check_measured(walk, &study, all)?;
    }
    Ok(study)
}

fn warm(walk: &Walk<'_>, all: &Names) -> Result<Warm, PaperError> {
    let workload = walk.need_text("workload")?;
    walk.known("workload", "workload", std::slice::from_ref(&workload), &all.workloads)?;
    let requests = walk.whole("requests")?.unwrap_or(0);
    Ok(Warm { workload, requests, quick_requests: walk.whole("quick_requests")?.unwrap_or(requests) })
}

/// A number of seeds, or a list of them.
fn seeds(walk: &Walk<'_>, key: &'static str) -> Result<Option<Seeds>, PaperError> {
    let allowed = "how many, from 1, or a list of seeds that differ";
    if !walk.is_list(key) {
        return match walk.whole(key)? {
            Some(0) => Err(walk.wrong(key, "found 0", allowed)),
            count => Ok(count.map(Seeds::Count)),
        };
    }
    let seeds = walk.wholes(key)?.unwrap_or_default();
    let twice = seeds.iter().enumerate().find(|(at, seed)| seeds[..*at].contains(seed));
    match twice {
        Some((_, seed)) => Err(walk.wrong(key, format!("{seed} twice"), allowed)),
        None if seeds.is_empty() => Err(walk.wrong(key, "found an empty list", allowed)),
        None => Ok(Some(Seeds::These(seeds))),
    }
}

/// Checks what a study says of phases against its workloads, and against what phases take the place of.
fn check_measured(walk: &Walk<'_>, study: &Study, all: &Names) -> Result<(), PaperError> {
    let measured = &study.measured;
    if measured.is_empty() {
        let allowed = "names of phases ([[workload.spec.phases]]), the last of which claims are about; \
                       or no such key, to measure workloads as a whole";
        return Err(walk.wrong("measured", "found no phase", allowed));
    }
    if let Some((_, name)) = measured.iter().enumerate().find(|(at, name)| measured[..*at].contains(name)) {
        return Err(walk.wrong("measured", format!("{name:?} twice"), "each phase once"));
    }
    if let Some(warm) = &study.warm {
        let found = format!("{} requests of {:?}, beside measured phases", warm.requests, warm.workload);
        let allowed = "no warm-up: phases that are not measured are served untimed, like one";
        return Err(walk.wrong("warm", found, allowed));
    }
    let taken = [
        ("repeat", study.repeat > 1),
        ("bound", study.bound),
        ("until_worn", study.until_worn),
        ("versions", study.versions),
    ];
    if let Some((key, _)) = taken.iter().find(|(_, is_set)| *is_set) {
        return Err(walk.wrong(key, format!("{key} beside measured phases"), "no such key"));
    }
    let across = study.measured_across.len();
    if walk.has("measured_across") && across != measured.len() {
        let found = format!("{across} numbers for {} phases", measured.len());
        return Err(walk.wrong("measured_across", found, "one for each of measured"));
    }
    let used = |name: &String| study.workloads.contains(name) || study.quick_workloads.contains(name);
    for (workload, phases) in all.workloads.iter().zip(&all.phases).filter(|(name, _)| used(name)) {
        let Some(phases) = phases else {
            let found = format!("workload {workload:?}, which has no phases");
            return Err(walk.wrong("measured", found, "workloads of [[workload.spec.phases]], none of jobs"));
        };
        for name in measured {
            let names: Vec<&str> = phases.iter().map(String::as_str).collect();
            match names.iter().filter(|other| *other == name).count() {
                0 => {
                    return Err(walk.no_such("measured", "phase of each workload", name, &names));
                }
                1 => {}
                several => {
                    let found = format!("{several} phases {name:?} of workload {workload:?}");
                    return Err(walk.wrong("measured", found, "a name of its own for each measured phase"));
                }
            }
        }
    }
    Ok(())
}

impl Study {
    /// Its workloads at a scale.
    pub fn workloads(&self, quick: bool) -> &[String] {
        if quick { &self.quick_workloads } else { &self.workloads }
    }

    /// Its ages at a scale.
    pub fn ages(&self, quick: bool) -> &[String] {
        if quick { &self.quick_ages } else { &self.ages }
    }

    /// Its seeds at a scale, where that of the whole run is `first`.
    pub fn seeds(&self, quick: bool, first: u64) -> Vec<u64> {
        let seeds = if quick { &self.quick_seeds } else { &self.seeds };
        seeds.all(first)
    }

    /// The phase that claims and figures are about, if they name none: the last one measured. Empty without phases.
    pub fn last_phase(&self) -> &str {
        self.measured.last().map_or("", String::as_str)
    }

    /// Where a measured phase stands on the horizontal axis.
    pub fn across(&self, phase: &str) -> Option<f64> {
        let number = self.measured.iter().position(|other| other == phase)?;
        Some(self.measured_across.get(number).copied().unwrap_or(number as f64))
    }
}

impl Warm {
    /// Requests at a scale.
    pub fn requests(&self, quick: bool) -> u64 {
        if quick { self.quick_requests } else { self.requests }
    }
}
