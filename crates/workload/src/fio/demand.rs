//! How fast jobs can write, as far as they say it themselves: how much they leave on its way, and what rate they keep.

use super::jobs::JobFile;
use super::settings::{Job, Work};
use crate::base::driven::Demand;

/// Place of writes among the directions.
const WRITES: usize = 1;

impl JobFile {
    /// What writes of its jobs there can be, clone by clone: jobs that run at the same time are together.
    pub(super) fn demands(&self) -> Vec<Vec<Demand>> {
        let mut groups: Vec<Vec<Demand>> = vec![Vec::new()];
        for job in &self.jobs {
            if job.stonewall {
                groups.push(Vec::new());
            }
            let clones = usize::try_from(job.numjobs).unwrap_or(usize::MAX).min(CLONES_MAX);
            if let (Some(demand), Some(group)) = (demand(job), groups.last_mut()) {
                group.extend(std::iter::repeat_n(demand, clones));
            }
        }
        groups
    }

    /// Requests in flight at most, of all clones of the jobs that run at the same time.
    pub(super) fn depth(&self) -> u64 {
        let (mut most, mut group) = (0u64, 0u64);
        for job in &self.jobs {
            group = if job.stonewall { 0 } else { group };
            group = group.saturating_add(job.iodepth.saturating_mul(job.numjobs));
            most = most.max(group);
        }
        most
    }
}

/// More clones than that are as fast as these.
const CLONES_MAX: usize = 10_000;

/// Of one clone; `None` if it writes nothing.
fn demand(job: &Job) -> Option<Demand> {
    let writes = match job.work {
        Work::Read | Work::Trim => 0.0,
        Work::Write | Work::TrimWrite => 1.0,
        Work::Mixed => 1.0 - job.read_percent as f64 / 100.0,
    };
    if writes <= 0.0 || job.writes_verify {
        return None;
    }
    let bytes = job.sizes[WRITES].max();
    let depth = if job.has_sync_engine { 1 } else { job.iodepth.max(1) };
    // A flush waits until all before it is done, and what comes next waits for the flush.
    let every = [job.fsync, job.fdatasync].into_iter().filter(|every| *every > 0).min();
    let unsynced = every.into_iter().chain(job.sync.then_some(depth)).min();
    let of_rates = [job.rate[WRITES] as f64, job.rate_iops[WRITES] as f64 * bytes as f64];
    let pause_s = job.thinktime_ns as f64 / 1e9;
    let of_pauses = job.thinktime_blocks.max(1) as f64 * bytes as f64 * writes / pause_s;
    let rates = of_rates.into_iter().filter(|rate| *rate > 0.0);
    let bytes_per_s = rates.chain((pause_s > 0.0).then_some(of_pauses)).reduce(f64::min);
    Some(Demand {
        depth_bytes: depth.saturating_mul(bytes),
        unsynced_bytes: unsynced.map(|writes| writes.saturating_mul(bytes)),
        bytes_per_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::FioSpec;
    use crate::stack::kind::{Kind, Ready};

    fn demands(text: &str) -> Vec<Vec<Demand>> {
        ready(text).demands().unwrap()
    }

    fn ready(text: &str) -> Box<dyn Ready> {
        // Tests may run at the same time.
        let name = format!("wordline-demand-{}-{:x}", std::process::id(), text.len());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let jobs = folder.join("jobs.fio");
        std::fs::write(&jobs, format!("[global]\nsize=1m\nbs=4k\nioengine=libaio\n{text}")).unwrap();
        let ready = FioSpec { jobs, ..FioSpec::default() }.prepare(&mut |_| {}).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        ready
    }

    #[test]
    fn what_jobs_can_write_follows_from_depth_flushes_rate_and_pauses() {
        let one = |options: &str| demands(&format!("[a]\nrw=randwrite\n{options}"))[0][0];
        let plain = Demand { depth_bytes: 4 << 10, unsynced_bytes: None, bytes_per_s: None };
        let deep = Demand { depth_bytes: 128 << 10, ..plain };
        assert_eq!(one(""), plain);
        assert_eq!(one("iodepth=32"), deep);
        assert_eq!(one("iodepth=32\nioengine=sync"), plain);
        assert_eq!(one("fdatasync=1"), Demand { unsynced_bytes: Some(4 << 10), ..plain });
        assert_eq!(one("iodepth=32\nfsync=8"), Demand { unsynced_bytes: Some(32 << 10), ..deep });
        assert_eq!(one("iodepth=32\nsync=1"), Demand { unsynced_bytes: Some(128 << 10), ..deep });
        assert_eq!(one("rate_iops=100"), Demand { bytes_per_s: Some(409_600.0), ..plain });
        assert_eq!(one("rate=,1m"), Demand { bytes_per_s: Some(1_048_576.0), ..plain });
        assert_eq!(one("rate=1m,"), plain, "a rate of reads");
        assert_eq!(one("thinktime=1000"), Demand { bytes_per_s: Some(4_096_000.0), ..plain });
    }

    #[test]
    fn jobs_keep_in_flight_what_they_do_at_the_same_time() {
        let depth = |text: &str| ready(text).depth();
        assert_eq!(depth("[a]\nrw=read\n"), 1);
        assert_eq!(depth("[a]\nrw=read\niodepth=300\nnumjobs=3\n[b]\nrw=write\niodepth=8\n"), 908);
        assert_eq!(depth("[a]\nrw=read\niodepth=64\n[b]\nstonewall\nrw=write\niodepth=65\n"), 65);
        assert_eq!(depth("[a]\nrw=read\niodepth=64\n[b]\nstonewall\nrw=write\niodepth=3\n"), 64);
    }

    #[test]
    fn jobs_that_run_at_the_same_time_are_together() {
        let found = demands("[a]\nrw=write\nnumjobs=3\n[b]\nrw=read\n[c]\nrw=rw\n[d]\nstonewall\nrw=write\n");
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [4, 1]);
    }
}
