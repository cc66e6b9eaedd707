//! The options of a job file: one table with what each does here.

use super::parse::Wrong;
use super::settings::Job;
use super::table::OPTIONS;
use super::value::Value;

/// How closely an option does what it does in fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The same requests in the same order, or the same times.
    Exact,
    /// The same by probability, with random numbers of our own.
    Statistical,
    /// No effect on what a drive gets: taken, and named in a remark.
    Warning,
    /// It would change what the drive gets and is not simulated: an error.
    Refused,
}

impl Class {
    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Class::Exact => "exact",
            Class::Statistical => "statistical",
            Class::Warning => "no effect",
            Class::Refused => "refused",
        }
    }
}

pub(super) type Take = fn(&mut Job, Value<'_>) -> Result<(), Wrong>;

/// An option.
pub struct JobOption {
    /// Its name, then its other names.
    pub names: &'static [&'static str],
    /// How closely it is followed.
    pub class: Class,
    /// What it does here, or why it does nothing.
    pub about: &'static str,
    pub(super) take: Take,
}

impl JobOption {
    /// The option of that name.
    pub(crate) fn named(name: &str) -> Option<&'static JobOption> {
        OPTIONS.iter().find(|option| option.names.contains(&name))
    }

    /// Gives a job the value of the option.
    pub(crate) fn apply(&self, job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
        (self.take)(job, value)
    }
}

/// All options, in the order of fio's manual.
pub fn options() -> &'static [JobOption] {
    OPTIONS
}

/// The error for a name that no option has.
pub(crate) fn unknown(name: &str) -> Wrong {
    let names = OPTIONS.iter().flat_map(|option| option.names.iter().copied());
    Wrong::new("unknown option", "options of fio 3.33 (docs/fio.md lists them)").like(name, names)
}

pub(super) const fn exact(names: &'static [&'static str], about: &'static str, take: Take) -> JobOption {
    JobOption { names, class: Class::Exact, about, take }
}

pub(super) const fn statistical(
    names: &'static [&'static str],
    about: &'static str,
    take: Take,
) -> JobOption {
    JobOption { names, class: Class::Statistical, about, take }
}

pub(super) const fn nothing(names: &'static [&'static str], about: &'static str) -> JobOption {
    JobOption { names, class: Class::Warning, about, take: |_, _| Ok(()) }
}

pub(super) const fn refused(names: &'static [&'static str], about: &'static str, take: Take) -> JobOption {
    JobOption { names, class: Class::Refused, about, take }
}
