//! What is known of a run when it is over, before it becomes a result.

use crate::base::error::Failure;
use crate::measure::meter::{Meter, Served};
use crate::measure::series::TimeSeries;
use crate::measure::versions::Versions;
use crate::past::precondition::Preconditioned;
use crate::plan::spec::RunSpec;
use ssd::DriveConfig;
use std::time::Duration;

/// What a result is made of.
pub(crate) struct Facts<'a> {
    pub drive: &'a ssd::Drive,
    pub config: &'a DriveConfig,
    pub spec: &'a RunSpec,
    /// Requests of the whole workload.
    pub total: Option<u64>,
    pub aged: Preconditioned,
    pub served: Served,
    pub meter: &'a Meter,
    pub cost: Cost,
    pub failure: Option<&'a Failure>,
    /// Whether the drive had been written before the run.
    pub was_used: bool,
    /// Whether it took no writes then.
    pub was_read_only: bool,
    /// Time series, if there are any.
    pub series: Option<&'a TimeSeries>,
    /// Versions of files, if they are to be told.
    pub versions: Option<&'a Versions>,
}

/// Time that a run took of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub cpu: Duration,
    pub wall: Duration,
}
