//! An option of a job file, and how closely it is followed.

use super::parse::Wrong;
use super::settings::Job;
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
    /// Gives a job the value of the option.
    pub(crate) fn apply(&self, job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
        (self.take)(job, value)
    }
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
