//! How much a drive took before it was worn out.

use crate::facts::Facts;
use crate::precondition::EraseCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{AgeStep, OpCode, Reason};

/// Years over which writes a day are counted: the usual warranty of drives; assumed.
const WARRANTY_YEARS: f64 = 5.0;
/// Days of a year.
const DAYS: f64 = 365.0;

/// Endurance in the terms of JEDEC JESD218: terabytes written by the host (TBW, 1 TB = 10^12 bytes), and drive writes a
/// day (DWPD) that use them up over the warranty. Null unless the drive wore out in this run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lifetime {
    /// Terabytes (10^12 bytes) that the host wrote until the drive accepted no more, preconditioning and warm-up
    /// included; null unless it wore out.
    pub tbw: Option<f64>,
    /// Drive writes per day: `tbw` divided by `drive.logical_bytes` and by 5 years of 365 days, the usual warranty
    /// (assumed).
    pub dwpd: Option<f64>,
    /// What these two are based on, or why there are none, as a sentence.
    pub basis: String,
}

impl Lifetime {
    /// Of a run: all that the host wrote counts, before the measurement too.
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        let without = |basis: &str| Lifetime { basis: basis.to_owned(), ..Lifetime::default() };
        if facts.drive.health().read_only != Some(Reason::WornOut) {
            return without("not worn out");
        }
        if facts.was_read_only {
            return without("worn out before the run");
        }
        let bytes =
            facts.aged.bytes_written + facts.meter.bytes_before + facts.meter.kind(OpCode::Write).bytes;
        let logical = facts.config.logical_bytes() as f64;
        let mut basis = format!(
            "measured: {bytes} bytes written by the host until the drive wore out, preconditioning \
             included; DWPD \
             over {WARRANTY_YEARS} years (assumed)"
        );
        if facts.was_used {
            basis.push_str("; the drive was used before this run, and those writes are not counted");
        }
        let is_set = facts.spec.preconditioning.erase_counts != EraseCounts::AsIs;
        if is_set || facts.spec.age.0.iter().any(|step| matches!(step, AgeStep::Cycle { .. })) {
            basis.push_str("; part of the wear was set, not written (run.age, run.erase_count_min and _max)");
        }
        Lifetime {
            tbw: Some(bytes as f64 / 1e12),
            dwpd: (logical > 0.0).then(|| bytes as f64 / logical / (WARRANTY_YEARS * DAYS)),
            basis,
        }
    }
}
