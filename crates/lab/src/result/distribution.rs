//! Rates, and how latencies are distributed.

use crate::base::by::By;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::signals::Priority;

/// A value for all requests, for reads and for writes; null where it has no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// All requests.
    pub all: Option<f64>,
    /// Reads.
    pub read: Option<f64>,
    /// Writes.
    pub write: Option<f64>,
}

/// How latencies are distributed, in ns; null if there are none. Percentiles are at most 0.1 % too high, everything
/// else is exact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Requests that succeeded.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Minimum.
    pub min: Option<u64>,
    /// Median: at most 0.1 % above the true value and never below it, like all percentiles here.
    pub p50: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// 99.99th percentile.
    pub p99_99: Option<u64>,
    /// Maximum.
    pub max: Option<u64>,
    /// The whole distribution: pairs of a percentage of the requests and the time that they take at most.
    pub percentiles: Vec<(f64, u64)>,
}

/// Requests from which on one lies beyond the 99th percentile.
const TELLING: u64 = 100;

impl Distribution {
    /// The 99th percentile, of requests enough for one to lie beyond it.
    pub fn telling_p99(&self) -> Option<u64> {
        self.p99.filter(|_| self.count >= TELLING)
    }
}

/// Latency distributions by kind of request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// All requests.
    pub all: Distribution,
    /// Reads.
    pub read: Distribution,
    /// Reads by priority: `low`, `medium` (also reads without a priority) or `high`.
    #[serde(default)]
    pub read_by_priority: By<Priority, Distribution>,
    /// Writes.
    pub write: Distribution,
    /// Trims.
    pub trim: Distribution,
    /// Flushes.
    pub flush: Distribution,
}
