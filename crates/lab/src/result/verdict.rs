//! What bounds a run, as a result tells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests come faster than they are served.
pub(crate) const OVERLOADED: &str = "overloaded";
/// Requests wait for answers.
pub(crate) const CLOSED: &str = "closed";

/// What bounds a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// `overloaded`: the run takes over 10 % and over 20 ms longer than its requests take to arrive, or a job falls so
    /// far behind its rate. `bursts`: half of all latency falls in windows that take at most half of the time, and
    /// whose requests take five times as long as the median window's. `closed`: requests come as the drive answers.
    /// `busy`, `idle`: the drive keeps up. Requests of jobs that all have rates arrive when they are due. Empty if no
    /// time is simulated.
    pub state: String,
    /// The busiest part, if it is busy 80 % of the time: `dies` (by how busy they are, or how occupied if no
    /// other part is as busy), `channels`, `link` or `firmware`; `busiest die` or `busiest channel` if only that one
    /// is; otherwise null.
    pub bound_by: Option<String>,
    /// Share of the time that the busiest part is busy, or occupied where dies bound by that.
    pub busy: Option<f64>,
    /// Share of garbage collection, other moves and erases in the dies' work, by nominal times.
    pub background_share: Option<f64>,
    /// Requests arriving per second, from the first to the last; null in a closed loop, unless all jobs have rates.
    pub arrivals_per_second: Option<f64>,
    /// Requests served per second.
    pub served_per_second: Option<f64>,
    /// Share of all requests that come in bursts; null without bursts.
    pub burst_requests_share: Option<f64>,
    /// Share of the time that bursts take; null without bursts.
    pub burst_time_share: Option<f64>,
    /// Share of all latency that bursts cause; null without bursts.
    pub burst_latency_share: Option<f64>,
    /// All of it in a sentence: the end of the line `in short`.
    pub text: String,
}

impl Verdict {
    /// Whether requests came faster than they were served.
    pub fn is_overloaded(&self) -> bool {
        self.state == OVERLOADED
    }

    /// Whether what is served per second is the drive's doing, and not that of those who send requests by a clock.
    pub(crate) fn is_throughput_the_drives(&self) -> bool {
        self.is_overloaded() || self.state == CLOSED
    }
}
