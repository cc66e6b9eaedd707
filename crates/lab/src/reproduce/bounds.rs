//! What every policy must copy because of reads, for the runs of a study.

use super::ready::{Again, Ready};
use crate::base::number::digits;
use crate::bound::{self, Future, Ground, Shape};
use crate::plan::run_config::RunConfig;
use ssd::DriveConfig;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use workload::{SECTOR_BYTES, Source, WorkloadError};

/// A workload's future on drives of a size: recorded once, when a run needs it.
pub(super) struct Recorded {
    workload: usize,
    shape: Shape,
    requests: Option<u64>,
    passes: u64,
    future: OnceLock<Result<Future, String>>,
}

impl Recorded {
    /// Of a workload on a drive. An error says why a bound cannot be had of it.
    pub fn new(
        workload: usize,
        config: &DriveConfig,
        run: &RunConfig,
        requests: Option<u64>,
        passes: u64,
    ) -> Result<Self, &'static str> {
        if run.fill_percent < 100.0 {
            return Err("a drive that is not completely filled");
        }
        if run.warm_up_requests > 0 {
            return Err("a run with a warm-up");
        }
        let units = u32::try_from(config.logical_units()).map_err(|_| "a drive of more than 2^32 units")?;
        let unit_sectors = (u64::from(config.unit_bytes()) / SECTOR_BYTES) as u32;
        let shape = Shape { units, unit_sectors };
        Ok(Recorded { workload, shape, requests, passes, future: OnceLock::new() })
    }

    /// Its number among others, where it is put if it is new.
    pub fn number(self, all: &mut Vec<Recorded>) -> usize {
        let same = |other: &Recorded| {
            (other.workload, other.shape, other.requests, other.passes)
                == (self.workload, self.shape, self.requests, self.passes)
        };
        all.iter().position(same).unwrap_or_else(|| {
            all.push(self);
            all.len() - 1
        })
    }

    /// What every policy must copy on a drive whose blocks have so many cycles or more.
    pub fn bound(
        &self,
        config: &DriveConfig,
        cycles: u32,
        workloads: &[Option<Ready>],
    ) -> Result<Option<f64>, String> {
        let Some(ground) = Ground::of(config, cycles) else { return Ok(None) };
        let future = self.future.get_or_init(|| self.record(workloads).map_err(|error| error.to_string()));
        let future = future.as_ref().map_err(Clone::clone)?;
        Ok(Some(bound::bound(&ground, future).pages))
    }

    fn record(&self, workloads: &[Option<Ready>]) -> Result<Future, WorkloadError> {
        Future::record(self.shape, |each| {
            let Some(ready) = &workloads[self.workload] else { return Ok(()) };
            let sectors = u64::from(self.shape.units) * u64::from(self.shape.unit_sectors);
            let inner = ready.prepared.open(sectors)?;
            let mut source = Again::new(ready, inner, sectors, self.passes);
            let mut left = self.requests.unwrap_or(u64::MAX);
            while let Some(request) = source.next()?.filter(|_| left > 0) {
                each(&request);
                left -= 1;
            }
            Ok(())
        })
    }
}

/// Fails where a run that kept within what its cells endure copied less than it must have: one of both is wrong.
pub(super) fn hold(metrics: &BTreeMap<String, f64>) -> Result<(), String> {
    let of = |name: &str| metrics.get(name).copied();
    let (Some(copied), Some(bound)) = (of("pages_copied_all"), of("copies_bound")) else { return Ok(()) };
    let kept = of("uncorrectable") == Some(0.0) && of("lost_units") == Some(0.0);
    let endured = of("disturbed_max").is_none_or(|percent| percent <= 100.0);
    if kept && endured && copied < bound {
        return Err(format!("it copied {copied} pages, although every policy must copy {}", digits(bound)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_below_its_bound_fails_unless_it_lost_data() {
        let with = |more: &[(&str, f64)]| {
            let all = [("pages_copied_all", 99.0), ("copies_bound", 100.0), ("uncorrectable", 0.0)];
            let all = all.iter().chain(&[("lost_units", 0.0), ("disturbed_max", 99.9)]).chain(more);
            hold(&all.map(|(name, value)| ((*name).to_owned(), *value)).collect())
        };
        assert!(with(&[]).expect_err("too few").contains("99 pages"));
        for fine in [("pages_copied_all", 100.0), ("uncorrectable", 1.0), ("lost_units", 1.0)] {
            assert_eq!(with(&[fine]), Ok(()), "{fine:?}");
        }
        assert_eq!(with(&[("disturbed_max", 100.1)]), Ok(()));
    }
}
