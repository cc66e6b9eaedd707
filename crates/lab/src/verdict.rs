//! What bounds a run, as a result tells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run is bounded by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// `overloaded`: requests came faster than the drive serves them, for as long as they came. `bursts`: they did for
    /// some of the time. `closed`: they came as the drive answered. `busy` or `idle`: it kept up. Empty where no time
    /// passes.
    pub state: String,
    /// The busiest part: `dies`, `channels`, `link`, `firmware`, or `busiest die` or `busiest channel` where only that
    /// one is; null if none is busy for most of the time.
    pub bound_by: Option<String>,
    /// The share of the measured time for which that part was busy.
    pub busy: Option<f64>,
    /// The share of cleaning, moves and erases in the dies' operations, by their time.
    pub background_share: Option<f64>,
    /// Requests that arrived a second, from the first to the last; null in a closed loop.
    pub arrivals_per_second: Option<f64>,
    /// Requests served a second.
    pub served_per_second: Option<f64>,
    /// Of bursts: the share of all requests that came in them.
    pub burst_requests_share: Option<f64>,
    /// Of bursts: the share of the time they took to arrive.
    pub burst_time_share: Option<f64>,
    /// Of bursts: the share of all latency, and so of the mean, that is theirs.
    pub burst_latency_share: Option<f64>,
    /// All of it in a sentence.
    pub text: String,
}
