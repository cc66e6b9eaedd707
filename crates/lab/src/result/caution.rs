//! Remarks that change how a result's numbers are read, as results tell them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use workload::Remark;

/// A remark that changes how the numbers of a result are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caution {
    /// What is so, in a sentence.
    pub text: String,
    /// What to do about it; null if there is nothing to say.
    #[serde(default)]
    pub to_do: Option<String>,
}

impl Caution {
    /// Of a remark, if it is one.
    pub(crate) fn of(remark: &Remark) -> Option<Self> {
        let Remark { text, to_do, matters } = remark;
        matters.then(|| Caution { text: text.clone(), to_do: to_do.clone() })
    }

    /// Of a remark of a result that does not tell which of its remarks these are.
    pub(crate) fn of_older(remark: &str) -> Option<Self> {
        is_older_caution(remark).then(|| Caution { text: remark.to_owned(), to_do: None })
    }
}

/// As the remarks of its result have it.
impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Caution { text, to_do } = self.clone();
        Remark { text, to_do, matters: true }.fmt(f)
    }
}

/// What these remarks said in versions whose results do not tell them apart. Nothing is added here: whoever makes a
/// remark says whether it is one.
const OLDER: [&str; 20] = [
    "too little to judge",
    "no visible effect",
    "no flash was read",
    "growing queue",
    "requests arrive within",
    "are the units right",
    "damaged lines skipped",
    "wrapped to an address",
    "shortened to its size",
    "file may be truncated",
    "destroyed live data",
    "stay readable",
    "data readable for more than",
    "which policy none would not have moved",
    "show little of what they do",
    "knew in advance",
    "was trained on",
    "file system was full",
    "has no effect without",
    "no versions of files",
];

/// Whether a remark of such a result changes how its numbers are read.
pub(crate) fn is_older_caution(remark: &str) -> bool {
    OLDER.iter().any(|words| remark.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_of_older_results_are_known_by_what_they_say() {
        let short = "wrote 3 % of the drive: too little to judge write amplification";
        assert_eq!(Caution::of_older(short).map(|it| it.to_string()).as_deref(), Some(short));
        assert_eq!(Caution::of_older("4 requests rounded outwards to whole 512-byte sectors"), None);
    }

    #[test]
    fn a_caution_reads_as_its_remark() {
        let remark = Remark::caution("nothing was cleaned").advising("try a longer run");
        assert_eq!(Caution::of(&remark).unwrap().to_string(), "nothing was cleaned (try a longer run)");
        assert_eq!(Caution::of(&Remark::note("format: csv")), None);
    }
}
