//! A question as it is asked, by flags or by arguments of a function: texts, and which drive it is.

use ssd::sections::RatedWorkload;
use workload::{Prepared, Spec};

use super::amounts::{bytes, bytes_a_day};
use super::answer::YEARS;
use super::budget::Rated;
use super::load::Pattern;
use super::question::Question;
use crate::plan::job::{DEFAULT_DRIVE, Job, JobError};

/// Bytes of a TB, in which ratings count.
const TB: f64 = 1e12;

/// What was asked, word by word; what is none was not said.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Capacity of a drive that nobody names.
    pub capacity: Option<String>,
    /// What the maker lets the host write: TB, or with a unit.
    pub tbw: Option<String>,
    /// For which workload.
    pub rated: Option<String>,
    /// Program/erase cycles.
    pub pe: Option<u32>,
    /// Years that it is to last.
    pub years: Option<f64>,
    /// What is written a day.
    pub writes: Option<String>,
    /// What is read a day.
    pub reads: Option<String>,
    /// Where is written.
    pub pattern: Option<String>,
    /// Reads after which a block is moved.
    pub reclaim_reads: Option<f64>,
    /// Not to tell what else could be.
    pub is_short: bool,
    /// What stands before the names of these in messages: two dashes, for flags.
    pub dashes: &'static str,
}

/// Names, and what each stands for.
type Names<T> = (&'static [&'static str], fn(&str) -> Option<T>);

impl Wanted {
    fn about(&self, name: &str) -> String {
        format!("{}{name}", self.dashes)
    }

    fn amount(
        &self,
        name: &str,
        text: &Option<String>,
        read: impl Fn(&str) -> Result<f64, String>,
    ) -> Result<Option<f64>, JobError> {
        let read = |text: &String| read(text).map_err(|wrong| JobError::new(wrong).about(&self.about(name)));
        text.as_ref().map(read).transpose()
    }

    /// A name of a list.
    fn named<T>(
        &self,
        flag: &str,
        what: &'static str,
        text: &Option<String>,
        (names, read): Names<T>,
    ) -> Result<Option<T>, JobError> {
        let read = |text: &String| {
            read(text).ok_or_else(|| JobError::no_such(what, text, names).about(&self.about(flag)))
        };
        text.as_ref().map(read).transpose()
    }

    /// The question about a job's drive, under a workload if there is one.
    pub fn question<'a>(
        &self,
        job: &Job,
        workload: Option<(&'a Spec, &'a Prepared)>,
    ) -> Result<Question<'a>, JobError> {
        let pattern =
            self.named("pattern", "pattern", &self.pattern, (Pattern::NAMES, Pattern::from_name))?;
        if let (Some((spec, _)), Some(pattern)) = (workload, pattern) {
            return Err(JobError::new(format!(
                "both a workload ({}) and {} {}; allowed: one of the two",
                spec.title(),
                self.about("pattern"),
                pattern.name()
            )));
        }
        let capacity = self.amount("capacity", &self.capacity, |text| bytes(text, None))?;
        if capacity.is_some() && job.names_a_drive() {
            return Err(JobError::new(format!(
                "both a drive and {}; allowed: one of the two (a capacity is that of a drive like {DEFAULT_DRIVE}, \
                 which {} drive.over_provisioning_percent=15 and the like may change)",
                self.about("capacity"),
                self.about("set")
            )));
        }
        let whole_numbers = |name: &str, value: Option<f64>| match value {
            Some(value) if !(value.is_finite() && value > 0.0 && value <= 1e9) => Err(JobError::new(
                format!("{}: found {value:?}, allowed: above 0, up to 1e9", self.about(name)),
            )),
            _ => Ok(value),
        };
        let years = whole_numbers("years", self.years)?.unwrap_or(YEARS);
        let reads_a_block = whole_numbers("reclaim-reads", self.reclaim_reads)?;
        if self.pe == Some(0) {
            let name = self.about("pe");
            return Err(JobError::new(format!("{name}: found 0, allowed: cycles from 1 up, such as 1500")));
        }
        let resolved = job.resolve(None)?;
        let drive = resolved.config.clone();
        let cycles = Some(drive.reliability.endurance_cycles).filter(|cycles| *cycles > 0);
        let name = match capacity {
            Some(_) => format!("a drive like {DEFAULT_DRIVE}"),
            None => job.drive_name(),
        };
        Ok(Question {
            name,
            capacity,
            rated: self.rating(&drive.rating, resolved.origin("drive.rating.workload").is_some())?,
            cycles: self.pe.or(cycles),
            years,
            workload,
            pattern,
            writes: self.amount("writes", &self.writes, bytes_a_day)?,
            reads: self.amount("reads", &self.reads, bytes_a_day)?,
            reads_a_block,
            tells_what_if: !self.is_short,
            drive,
        })
    }

    /// What the maker promises: as asked, or as the drive's configuration has it.
    fn rating(&self, own: &ssd::sections::Rating, is_set: bool) -> Result<Option<Rated>, JobError> {
        let names = (RatedWorkload::NAMES, RatedWorkload::from_name as fn(&str) -> _);
        let workload = self.named("rated", "workload of a rating", &self.rated, names)?;
        let tbw = self.amount("tbw", &self.tbw, |text| bytes(text, Some(TB)))?;
        let of_drive = Some(own.tbw * TB).filter(|bytes| *bytes > 0.0);
        let is_said = workload.is_some() || tbw.is_none() && is_set;
        let rated = |bytes: f64| Rated { bytes, workload: workload.unwrap_or(own.workload), is_said };
        Ok(tbw.or(of_drive).map(rated))
    }
}
