//! Whether jobs can write faster than a drive cleans, by what they say themselves.

use ssd::DriveConfig;
use workload::Demand;

/// Part of the dies that must program for what is written to keep cleaning from them (assumed).
const DIES_KEPT: f64 = 0.5;

/// Whether any jobs that run at the same time can: a past at the pace of a host that takes all free blocks is theirs.
pub(crate) fn can_saturate(groups: &[Vec<Demand>], config: &DriveConfig) -> bool {
    groups.iter().any(|group| group.iter().map(|demand| share(demand, config)).sum::<f64>() >= 1.0)
}

/// What a job takes of what the drive can serve while it cleans, at most.
fn share(demand: &Demand, config: &DriveConfig) -> f64 {
    let g = &config.geometry;
    let program_bytes = f64::from(g.planes_per_die) * f64::from(g.page_bytes);
    let dies = f64::from(g.dies());
    // What waits for flash keeps a die busy for each program that it takes; where writes are done once they are in the
    // buffer, depth is no limit.
    let is_buffered = config.buffer.name() != ssd::host::buffer::none::NAME;
    let depth_bytes = (!is_buffered).then_some(demand.depth_bytes);
    let waits = demand.unsynced_bytes.into_iter().chain(depth_bytes).min();
    let by_waits = waits.map(|bytes| (bytes as f64 / program_bytes).ceil() / (DIES_KEPT * dies));
    let by_rate = demand.bytes_per_s.map(|rate| rate / sustained(config));
    by_waits.into_iter().chain(by_rate).fold(f64::INFINITY, f64::min)
}

/// Bytes a second that the drive takes for ever, overwritten at random, as an estimate: a unit is programmed
/// (1 + s) / 2s times where the spare room is the share s of the data, and each of those that are moved is read, too.
fn sustained(config: &DriveConfig) -> f64 {
    let g = &config.geometry;
    let program_s = config.program_us_per_page(&config.timing.t_program_us) / 1e6;
    let programmed = f64::from(g.dies()) * f64::from(g.planes_per_die) * f64::from(g.page_bytes) / program_s;
    let parity = 1.0 + config.redundancy.parity_percent / 100.0;
    let spare = config.physical_units() as f64 / parity / config.logical_units().max(1) as f64 - 1.0;
    programmed * spare / (1.0 + spare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::config::Layer;
    use ssd::drive_config::resolve;

    fn tlc() -> DriveConfig {
        resolve(&[Layer::set("preset=tlc").unwrap()], &[]).unwrap().config
    }

    /// By hand: 32 dies x 2 planes x 16 KiB in 500 us are 2.1 GB/s, of which random overwrites at 7 % spare leave a
    /// fifteenth.
    #[test]
    fn what_a_drive_takes_for_ever_is_estimated() {
        let found = sustained(&tlc());
        assert!((found / 137e6 - 1.0).abs() < 0.01, "{found}");
    }

    /// Deeper, faster, with fewer flushes: who can saturate a drive still can.
    #[test]
    fn more_of_a_job_takes_no_less_of_a_drive() {
        let config = tlc();
        let waits = [Some(4 << 10), Some(64 << 10), Some(1 << 20), Some(16 << 20), None];
        let rates = [Some(1e5), Some(1e7), Some(1e8), Some(1e9), Some(1e11), None];
        let at = |wait: usize, rate: usize, jobs: usize| {
            let demand =
                Demand { depth_bytes: 4 << 10, unsynced_bytes: waits[wait], bytes_per_s: rates[rate] };
            can_saturate(&[vec![demand; jobs]], &config)
        };
        for wait in 0..waits.len() {
            for rate in 0..rates.len() {
                for jobs in [1, 3, 40] {
                    let is_it = at(wait, rate, jobs);
                    let more = [(wait + 1, rate, jobs), (wait, rate + 1, jobs), (wait, rate, 2 * jobs)];
                    let there = more.into_iter().filter(|more| more.0 < waits.len() && more.1 < rates.len());
                    for (wait, rate, jobs) in there {
                        assert!(at(wait, rate, jobs) || !is_it, "{wait} {rate} {jobs}");
                    }
                }
            }
        }
        assert!(at(4, 5, 1) && !at(0, 5, 1) && !at(4, 0, 1) && at(0, 5, 40));
    }

    #[test]
    fn jobs_one_after_the_other_do_not_add_up() {
        let demand = Demand { depth_bytes: 4 << 10, unsynced_bytes: Some(4 << 10), bytes_per_s: None };
        let config = tlc();
        assert!(can_saturate(&[vec![demand; 16]], &config));
        assert!(!can_saturate(&vec![vec![demand]; 16], &config));
        assert!(!can_saturate(&[], &config));
    }
}
