//! How much a drive took before it was worn out.

use crate::endurance::{DAYS, YEARS, expected};
use crate::past::precondition::EraseCounts;
use crate::plan::job::SIZED;
use crate::result::facts::Facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{AgeStep, Executor, OpCode, Reason};

/// Why a drive that was made as small as its workload says nothing of days.
const OF_SIZED: &str =
    "the drive was made as small as its workload: wordline endurance answers for the whole one";

/// Endurance in the terms of JEDEC JESD218: terabytes written by the host (TBW, 1 TB = 10^12 bytes), and drive writes a
/// day (DWPD) that use them up over the warranty, of a drive that wore out in this run; and how long one that is rated
/// would last if it went on like this.
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
    /// Days until the flash that the drive is good for is programmed, if it goes on as in this run; null where nothing
    /// says how much that is (`drive.rating`, `nand.reliability.endurance_cycles`), nothing was programmed, or no time
    /// was simulated.
    #[serde(default)]
    pub days: Option<f64>,
    /// Bytes that may be programmed to flash over the drive's life: the rating times the write amplification of its
    /// workload, or the cycles of all blocks, whichever is less.
    #[serde(default)]
    pub budget_bytes: Option<f64>,
    /// What `budget_bytes` follow from, or why a rated drive has none, as a sentence; empty of a drive without a
    /// rating.
    #[serde(default)]
    pub budget_basis: String,
}

impl Lifetime {
    /// Of a run, which programmed so many bytes in so many ns.
    pub(crate) fn of(facts: &Facts<'_>, programmed: u64, simulated_ns: u64) -> Self {
        let budget = expected(facts.config);
        // The rating is that of the whole drive, and so is a day's load.
        if budget.is_some() && facts.spec.origins.values().any(|origin| origin == SIZED) {
            return Lifetime { budget_basis: OF_SIZED.to_owned(), ..Lifetime::used_up(facts) };
        }
        let days = budget.as_ref().and_then(|budget| {
            let is_known = programmed > 0 && simulated_ns > 0 && facts.spec.executor == Executor::Timed;
            let a_day = programmed as f64 / simulated_ns as f64 * 86_400e9;
            is_known.then(|| budget.bytes / a_day)
        });
        let (budget_bytes, budget_basis) =
            budget.map_or((None, String::new()), |budget| (Some(budget.bytes), budget.basis));
        Lifetime { days, budget_bytes, budget_basis, ..Lifetime::used_up(facts) }
    }

    /// Of a run that wore the drive out: all that the host wrote counts, before the measurement too.
    fn used_up(facts: &Facts<'_>) -> Self {
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
             over {YEARS} years (assumed)"
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
            dwpd: (logical > 0.0).then(|| bytes as f64 / logical / (YEARS * DAYS)),
            basis,
            ..Lifetime::default()
        }
    }
}
