//! Where the time of requests went, kind by kind, as tables and pictures of a result tell it.

use crate::base::by::By;
use crate::result::time_spent::{SlowestCount, Spent};
use crate::result::{Distribution, RunResult};
use ssd::Part;

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
        assert_eq!(slowest_share(Some(9), 10_000_000, 0.000_001), ".0001 %");
    }
}
