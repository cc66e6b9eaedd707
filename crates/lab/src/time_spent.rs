//! Where the time of requests went, of all of them and of the fastest and slowest.

use crate::by::{Axis, By};
use crate::meter::{KINDS, Kind, Meter, Side, ratio};
use crate::result::{Distribution, RunResult};
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// Where the time of one kind of requests went.
#[derive(Clone, Copy)]
pub(crate) struct OfKind<'a> {
    /// One of them: `read`.
    pub name: &'static str,
    pub spent: &'a By<Part, Spent>,
    pub latency: &'a Distribution,
    pub slowest: SlowestCount,
}

impl OfKind<'_> {
    /// Several of them: `reads`.
    pub fn plural(&self) -> &'static str {
        match self.name {
            "read" => "reads",
            "write" => "writes",
            "trim" => "trims",
            _ => "flushes",
        }
    }

    /// What share of all requests of the kind the slowest are that a mean is of, as text: `.1 %`, or `19 %` if so many
    /// took as long. `of_thousand` is the share that they would be.
    pub fn slowest_share(&self, of_thousand: u64) -> String {
        let counted = if of_thousand == 1 { self.slowest.from_p99_9 } else { self.slowest.from_p99 };
        slowest_share(counted, self.latency.count, of_thousand as f64 / 1e3)
    }
}

/// The share that so many of so many requests are, as text: that which was asked for, unless ties make it twice as
/// large.
pub(crate) fn slowest_share(counted: Option<u64>, all: u64, asked: f64) -> String {
    let share = counted.map_or(asked, |counted| counted as f64 / all.max(1) as f64);
    // A single request may be more than that share.
    let is_as_asked = share <= 2.0 * asked || counted == Some(1);
    let share = 100.0 * if is_as_asked { asked } else { share };
    let text = if share >= 0.095 { format!("{share:.1}") } else { format!("{share:.4}") };
    let text = text.trim_end_matches(".0");
    format!("{} %", text.strip_prefix('0').filter(|text| text.starts_with('.')).unwrap_or(text))
}

impl RunResult {
    /// Where the time of requests went, of the kinds that there were.
    pub(crate) fn time_of_kinds(&self) -> impl Iterator<Item = OfKind<'_>> {
        let (spent, latency, slowest) = (&self.breakdown_ns, &self.latency_ns, &self.breakdown_ns.slowest);
        let of = |name, spent, latency, slowest| OfKind { name, spent, latency, slowest };
        let all = [
            of("read", &spent.read, &latency.read, slowest.read),
            of("write", &spent.write, &latency.write, slowest.write),
            of("trim", &spent.trim, &latency.trim, slowest.trim),
            of("flush", &spent.flush, &latency.flush, slowest.flush),
        ];
        all.into_iter().filter(|kind| kind.latency.count > 0)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_what_they_say() {
        assert_eq!(slowest_share(Some(30), 30_000, 0.001), ".1 %");
        assert_eq!(slowest_share(Some(59), 30_000, 0.001), ".1 %");
        assert_eq!(slowest_share(Some(5_700), 30_000, 0.001), "19 %");
        assert_eq!(slowest_share(Some(30_000), 30_000, 0.01), "100 %");
        assert_eq!(slowest_share(Some(1), 10, 0.001), ".1 %");
        assert_eq!(slowest_share(None, 10, 0.01), "1 %");
        assert_eq!(slowest_share(Some(9), 10_000_000, 0.000_001), "0.0001 %");
    }
}
