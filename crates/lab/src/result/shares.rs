//! What parts of a run's requests got: its jobs, its phases, several workloads together.

use super::distribution::{Distribution, Rates};
use super::keys;
use crate::base::by::By;
use crate::measure::fio_tally::FioJob;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::counters::Count;
use ssd::flash::op::Cause;
use std::collections::BTreeMap;

/// Results of a part of a run's requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Requests completed in its measurement.
    pub requests: u64,
    /// Of these, requests that did not succeed.
    pub requests_failed: u64,
    /// Reads, failed ones included.
    pub reads: u64,
    /// Writes, failed ones included.
    pub writes: u64,
    /// Trims, failed ones included.
    pub trims: u64,
    /// Flushes, failed ones included.
    pub flushes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Successful requests per second of its measurement.
    pub iops: Rates,
    /// Megabytes (10^6 bytes) per second of its measurement.
    pub bandwidth_mb_s: Rates,
    /// Latency; keys as in the run's `latency_ns`. Percentiles are at most 1 % too high, and `percentiles` is
    /// empty.
    pub latency_ns: ShareLatencies,
    /// What fio would say of it, if that was asked for.
    #[serde(skip)]
    pub fio: Option<Box<FioJob>>,
}

/// Latency distributions of a part of a run's requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareLatencies {
    /// All requests.
    pub all: Distribution,
    /// Reads.
    pub read: Distribution,
    /// Writes.
    pub write: Distribution,
    /// Trims; results of earlier versions do not tell them.
    #[serde(default)]
    pub trim: Distribution,
    /// Flushes; likewise.
    #[serde(default)]
    pub flush: Distribution,
}

/// Results of one job, in its own measurement: from the end of its warm-up to its last completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobResult {
    /// The job, with the number of the clone after a dot if there are several, and its phase and a colon in front
    /// if it is in one.
    pub name: String,
    /// When it began, from the beginning of the run, in ns; null if it did not.
    pub start_ns: Option<u64>,
    /// When its warm-up ended, from the beginning of the run, in ns.
    pub measured_ns: Option<u64>,
    /// When its last request had completed, from the beginning of the run, in ns; null if a limit of its phase cut
    /// it short.
    pub end_ns: Option<u64>,
    /// Requests completed before its measurement.
    pub requests_warm_up: u64,
    /// Its requests, with latencies from when it sent them.
    #[serde(flatten)]
    pub share: Share,
    /// Latency of all requests from when they were due; null for a job without a rate.
    pub latency_from_due_ns: Option<Distribution>,
}

/// Results of one phase, or of one of several workloads run together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberResult {
    /// Its `name`, or what it is.
    pub name: String,
    /// When its first request was handed to the drive, from the beginning of the run, in ns; null if none was.
    pub start_ns: Option<u64>,
    /// When its last request completed, from the beginning of the run, in ns.
    pub end_ns: Option<u64>,
    /// Requests completed during the warm-up of the run.
    pub requests_warm_up: u64,
    /// Its requests, with latencies from arrival. Its measurement begins with it, or with that of the run.
    #[serde(flatten)]
    pub share: Share,
    /// For a phase: bytes programmed from its first request to the first of the next, divided by the bytes it
    /// wrote. Data left in the buffer at its end counts for the next phase. Null without writes or
    /// programs, and for workloads run together, which share the drive's work.
    pub write_amplification: Option<f64>,
    /// The contribution of each cause.
    pub write_amplification_by_cause: By<Cause, Option<f64>>,
    /// For a phase: what the drive counted from its first request to the first of the next; maxima (`_max`) are
    /// left out. Empty for workloads run together.
    #[schemars(schema_with = "keys::counters_of_phases")]
    pub counters: BTreeMap<String, Count>,
}
