//! How often work of dies was suspended for reads, and what became of their priorities.

use crate::base::by::{Axis, By};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::FlashCounts;
use ssd::signals::Priority;

/// Suspends of one kind of work, by the priority of the read that caused them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuspendsOf {
    /// Suspended at once.
    pub at_once: By<Priority, u64>,
    /// Suspended at the end of a step; for reads, between two attempts.
    pub boundary: By<Priority, u64>,
}

/// How often erases were suspended, those that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuspendsPerErase {
    /// Suspends per erase on average; null where nothing is suspended or erased.
    pub mean: Option<f64>,
    /// Of these, suspends at once, per erase on average.
    pub at_once_mean: Option<f64>,
    /// Erases by number of suspends: none, one, two ... up to the most there were, or to 31 and more; empty where
    /// nothing is suspended.
    pub histogram: Vec<u64>,
}

/// Work of dies that was suspended for reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspends {
    /// Erases suspended, by the priority of the read that caused it (`flash.preemption`). A multi-plane group
    /// counts once.
    pub erase: SuspendsOf,
    /// Programs and copybacks suspended.
    pub program: SuspendsOf,
    /// Reads stopped by more urgent ones (`at_once`), or that let more urgent ones go before their next attempt
    /// (`boundary`).
    pub read: SuspendsOf,
    /// Suspends of each erase.
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
    /// Host page reads during whose wait the die worked for a host read of lower priority.
    pub delayed_by_lower: By<Priority, u64>,
    /// High-priority reads, the only ones at their die, that waited longer than `priority_aware` promises: always
    /// 0.
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
