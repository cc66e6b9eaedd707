//! What parts of a run's requests got: its jobs, its phases, several workloads together.

use super::{Distribution, Rates, schema};
use crate::by::By;
use crate::fio_tally::FioJob;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::counters::Count;
use ssd::flash::op::Cause;
use std::collections::BTreeMap;

/// What a part of a run's requests came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Requests completed in its measurement.
    pub requests: u64,
    /// Those that completed with another status than `ok`.
    pub requests_failed: u64,
    /// Reads, failed ones included.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Requests per second of its measurement.
    pub iops: Rates,
    /// Megabytes (10^6) per second of its measurement.
    pub bandwidth_mb_s: Rates,
    /// Latencies. Percentiles are at most 1 % above the true ones, and the whole distribution is not told.
    pub latency_ns: ShareLatencies,
    /// What fio would say of it, if that was asked for.
    #[serde(skip)]
    pub fio: Option<Box<FioJob>>,
}

/// Distributions of the latencies of a part of a run's requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareLatencies {
    /// Of all requests.
    pub all: Distribution,
    /// Of reads.
    pub read: Distribution,
    /// Of writes.
    pub write: Distribution,
}

/// What one job of a workload of jobs got, in its own measurement: from the end of its warm-up to its last completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobResult {
    /// The job; with the number of the clone behind a dot, if there are several.
    pub name: String,
    /// When it began, from the beginning of the run; ns. Null if it did not.
    pub start_ns: Option<u64>,
    /// When its measurement began; ns.
    pub measured_ns: Option<u64>,
    /// When its last request had completed; ns. Null if it was ended from outside.
    pub end_ns: Option<u64>,
    /// Requests that completed before its measurement.
    pub requests_warm_up: u64,
    /// Its requests, with latencies from when it sent them.
    #[serde(flatten)]
    pub share: Share,
    /// Latencies from when the request was due, of a job that keeps a rate; null for all others.
    pub latency_from_due_ns: Option<Distribution>,
}

/// What one phase of a workload of phases got, or one of several workloads together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberResult {
    /// What it is called.
    pub name: String,
    /// When its first request was handed to the drive, from the beginning of the run; ns. Null if none was.
    pub start_ns: Option<u64>,
    /// When the last of its requests completed so far; ns.
    pub end_ns: Option<u64>,
    /// Requests that completed before the measurement of the run.
    pub requests_warm_up: u64,
    /// Its requests, with latencies from arrival. Its measurement begins with it, or with that of the run.
    #[serde(flatten)]
    pub share: Share,
    /// Of a phase: bytes programmed from its beginning to that of the next over bytes it wrote. Null without such
    /// writes, and for workloads together, which share the drive's work.
    pub write_amplification: Option<f64>,
    /// The share of each cause in it.
    pub write_amplification_by_cause: By<Cause, Option<f64>>,
    /// Of a phase: what the drive counted from its beginning to that of the next, but for maxima.
    #[schemars(schema_with = "schema::counters_of_phases")]
    pub counters: BTreeMap<String, Count>,
}
