//! Memory that jobs take beside the drive's: random maps, and what is read back.

use super::jobs::JobFile;
use super::layout::Worker;
use super::map::Map;
use super::parse::Wrong;
use super::read_back::ReadBack;
use super::settings::{Checks, Job};
use crate::base::error::WorkloadError;
use crate::base::request::SECTOR_BYTES;

/// Memory that all random maps together may take: of four tebibytes in blocks of 4 KiB.
const MAP_BYTES_MAX: u64 = 1 << 30;

impl JobFile {
    /// Refuses what would take too much memory.
    pub(super) fn check_maps(&self, workers: &[Worker]) -> Result<(), WorkloadError> {
        let mut bytes = 0u64;
        for worker in workers {
            let job = &self.jobs[worker.job];
            let blocks = |sectors: u64| sectors * SECTOR_BYTES / job.least_size();
            if job.reads_back {
                bytes = bytes.saturating_add(ReadBack::memory_bytes(unread(job, worker.size)));
                if bytes > MAP_BYTES_MAX {
                    let found = format!("more than {} MiB for what is read back", MAP_BYTES_MAX >> 20);
                    let allowed = "less to write, larger requests, or do_verify=0";
                    return Err(Wrong::new(found, allowed).at(&job.place, "verify"));
                }
            }
            if !job.uses_map() {
                continue;
            }
            let maps = worker.spans.iter().map(|span| Map::memory_bytes(blocks(span.sectors)));
            bytes = bytes.saturating_add(maps.sum());
            if bytes > MAP_BYTES_MAX {
                let found = format!("random maps of more than {} MiB", MAP_BYTES_MAX >> 20);
                let allowed = "less space, larger requests, or norandommap=1";
                return Err(Wrong::new(found, allowed).at(&job.place, "size"));
            }
        }
        Ok(())
    }
}

/// Writes of a pass of so many bytes that may be unread at a time: all, unless as many are read as are written.
fn unread(job: &Job, bytes: u64) -> u64 {
    let all = bytes / job.least_size();
    let Checks { every, batch } = job.checks;
    let keeps_up = every > 0 && (batch == 0 || batch >= every);
    if keeps_up { all.min(every.saturating_add(job.iodepth)) } else { all }
}
