//! Where the time of requests went, of all of them and of the fastest and slowest.

use crate::base::by::{Axis, By};
use crate::measure::meter::{KINDS, Kind, Meter, Side, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::Part;

/// Time spent in one part of requests' lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Time that all reads (or writes) together spent in this part, in ns.
    pub sum: u64,
    /// Average per request, in ns; over all parts these add up to the mean latency.
    pub mean: Option<f64>,
    /// Average over requests up to the median latency, and those within 1/32 of it. Null, like the next two, with
    /// `run.samples = 0` and in functional runs.
    #[serde(default)]
    pub mean_to_p50: Option<f64>,
    /// Average over requests from the 99th percentile on, and those within 1/32 of it.
    #[serde(default)]
    pub mean_from_p99: Option<f64>,
    /// Average over requests from the 99.9th percentile on, and those within 1/32 of it.
    #[serde(default)]
    pub mean_from_p99_9: Option<f64>,
}

/// Where the time of requests went; ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSpent {
    /// Reads.
    pub read: By<Part, Spent>,
    /// Writes.
    pub write: By<Part, Spent>,
    /// Trims.
    #[serde(default)]
    pub trim: By<Part, Spent>,
    /// Flushes.
    #[serde(default)]
    pub flush: By<Part, Spent>,
    /// How many requests the means of the slowest are of.
    #[serde(default)]
    pub slowest: SlowestCounts,
}

/// How many requests the means of the slowest are of, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowestCounts {
    /// Reads.
    pub read: SlowestCount,
    /// Writes.
    pub write: SlowestCount,
    /// Trims.
    pub trim: SlowestCount,
    /// Flushes.
    pub flush: SlowestCount,
}

/// How many requests of a kind the means of the slowest are of: more than their names say where many took as long. Null
/// where there are no such means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowestCount {
    /// Those of `mean_from_p99`.
    pub from_p99: Option<u64>,
    /// Those of `mean_from_p99_9`.
    pub from_p99_9: Option<u64>,
}

impl TimeSpent {
    /// What was measured.
    pub(crate) fn of(meter: &Meter) -> Self {
        let [read, write, trim, flush] = KINDS.map(|op| by_part(meter.kind(op)));
        let [of_read, of_write, of_trim, of_flush] = KINDS.map(|op| {
            let counted = |of_million| meter.kind(op).slowest(of_million);
            SlowestCount { from_p99: counted(990_000), from_p99_9: counted(999_000) }
        });
        let slowest = SlowestCounts { read: of_read, write: of_write, trim: of_trim, flush: of_flush };
        TimeSpent { read, write, trim, flush, slowest }
    }
}

fn by_part(kind: &Kind) -> By<Part, Spent> {
    let [to_p50, from_p99, from_p99_9] = [(Side::To, 500_000), (Side::From, 990_000), (Side::From, 999_000)]
        .map(|(side, of)| kind.part_means(side, of));
    By::new(|part: Part| {
        let sum = kind.part_sum(part.index());
        Spent {
            sum: u64::try_from(sum).unwrap_or(u64::MAX),
            mean: ratio(sum as f64, kind.count as f64),
            mean_to_p50: to_p50.map(|parts| parts[part.index()]),
            mean_from_p99: from_p99.map(|parts| parts[part.index()]),
            mean_from_p99_9: from_p99_9.map(|parts| parts[part.index()]),
        }
    })
}
