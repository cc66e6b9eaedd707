//! The options of a job file: one table with what each does here.

use super::option::JobOption;
use super::parse::Wrong;
use super::table::OPTIONS;

impl JobOption {
    /// The option of that name.
    pub(crate) fn named(name: &str) -> Option<&'static JobOption> {
        OPTIONS.iter().find(|option| option.names.contains(&name))
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
