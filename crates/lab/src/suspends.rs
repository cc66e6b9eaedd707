//! How often work of dies was suspended for reads, and what became of their priorities.

use crate::by::{Axis, By};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::FlashCounts;
use ssd::signals::Priority;

/// Suspends of one kind of work, by the priority of the read that it was suspended for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuspendsOf {
    /// Where it was.
    pub at_once: By<Priority, u64>,
    /// At the end of a step; of reads, between two attempts.
    pub boundary: By<Priority, u64>,
}

/// How often erases were suspended, those that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuspendsPerErase {
    /// In the mean; null where nothing is suspended, or nothing was erased.
    pub mean: Option<f64>,
    /// Of these, at once.
    pub at_once_mean: Option<f64>,
    /// Erases by the number of suspends: none, one, two ... up to the most there were, or to 31 and more.
    pub histogram: Vec<u64>,
}

/// Work of dies that was suspended for reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspends {
    /// Erases.
    pub erase: SuspendsOf,
    /// Programs, and copies inside a plane.
    pub program: SuspendsOf,
    /// Reads.
    pub read: SuspendsOf,
    /// Erases one by one.
    pub per_erase: SuspendsPerErase,
}

/// What dies did for reads beside their work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DieWork {
    /// How often work of theirs was suspended.
    #[serde(default)]
    pub suspends: Suspends,
    /// What became of priorities.
    #[serde(default)]
    pub priority: Priorities,
}

/// Priorities at dies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Priorities {
    /// Page reads of the host that, while they waited for their die, saw it work for one of a lower priority.
    pub delayed_by_lower: By<Priority, u64>,
    /// High reads, alone at their die, that waited longer than the rule of `flash.preemption` allows.
    pub inversions: u64,
}

impl Suspends {
    fn of(counts: &FlashCounts) -> Self {
        let row = |row: usize| By::new(|class: Priority| counts.suspends[row][class.index()]);
        let of = |kind: usize| SuspendsOf { at_once: row(2 * kind), boundary: row(2 * kind + 1) };
        let (erase, program, read) = (of(0), of(1), of(2));
        let histogram = &counts.suspends_per_erase;
        let erases = histogram.iter().sum::<u64>();
        let per = |suspends: u64| (erases > 0).then(|| suspends as f64 / erases as f64);
        let last = histogram.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        let per_erase = SuspendsPerErase {
            mean: per(erase.at_once.sum() + erase.boundary.sum()),
            at_once_mean: per(erase.at_once.sum()),
            histogram: histogram[..last].to_vec(),
        };
        Suspends { erase, program, read, per_erase }
    }
}

impl DieWork {
    /// From what the flash has counted.
    pub(crate) fn of(counts: &FlashCounts) -> Self {
        let delayed_by_lower = By::new(|class: Priority| counts.delayed_by_lower[class.index()]);
        let priority = Priorities { delayed_by_lower, inversions: counts.inversions };
        DieWork { suspends: Suspends::of(counts), priority }
    }
}
