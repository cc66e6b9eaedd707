//! Nothing allocates in the loop after its warm-up, and memory does not grow with the number of requests.
//!
//! Alone in its binary: it counts the allocations of its own thread by a global allocator.

#[path = "suite/common/mod.rs"]
mod common;

use common::{generator, small_drive, used};
use lab::memory::{CountingAlloc, thread_allocations};
use lab::{LoopMode, RunSpec, precondition, run, run_driven};
use ssd::{Drive, DriveConfig};
use std::alloc::System;
use workload::{Driven, LaneTimes, Poll, Source, SourceReport, Spec, WorkloadError};

#[global_allocator]
static GLOBAL: CountingAlloc<System> = CountingAlloc(System);

const MIX: &str = "read_percent = 50\nsize_bytes = [[4096, 4], [16384, 2], [512, 1], [131072, 1]]";

/// A source that remembers how many allocations its thread had made at two of its requests.
struct Marked {
    inner: Box<dyn Source>,
    taken: u64,
    from: u64,
    to: u64,
    at_from: u64,
    at_to: u64,
}

impl Source for Marked {
    fn next(&mut self) -> Result<Option<workload::Request>, workload::WorkloadError> {
        self.taken += 1;
        if self.taken == self.from {
            self.at_from = thread_allocations();
        }
        if self.taken == self.to {
            self.at_to = thread_allocations();
        }
        self.inner.next()
    }
    fn len_hint(&self) -> Option<u64> {
        self.inner.len_hint()
    }
    fn report(&self) -> workload::SourceReport {
        self.inner.report()
    }
}

/// Allocations between two requests of a run.
fn allocations(config: &DriveConfig, settings: &str, spec: &RunSpec) -> u64 {
    // Between them what grows by doubling does so once: at 65,536.
    const COUNT: u64 = 90_000;
    let mut drive = Drive::new(config).unwrap();
    precondition(&mut drive, 1, &used(), &mut |_| {}).unwrap();
    let workload = generator(COUNT, settings);
    let inner = workload.open(drive.logical_sectors()).unwrap();
    let mut source = Marked { inner, taken: 0, from: 40_000, to: COUNT - 10, at_from: 0, at_to: 0 };
    let spec = RunSpec { samples: 1_000, ..spec.clone() };
    let result = run(&mut drive, config, &mut source, &spec, &mut |_| {}).unwrap();
    assert_eq!(result.requests_served, COUNT);
    source.at_to - source.at_from
}

/// Jobs that remember how many allocations their thread had made at two of their requests.
struct MarkedJobs {
    inner: Box<dyn Driven>,
    taken: u64,
    at: [u64; 2],
}

impl Driven for MarkedJobs {
    fn poll(&mut self, now_ns: u64) -> Result<Poll, WorkloadError> {
        let poll = self.inner.poll(now_ns)?;
        if matches!(poll, Poll::Request { .. }) {
            self.taken += 1;
        }
        match self.taken {
            20_000 => self.at[0] = thread_allocations(),
            60_000 => self.at[1] = thread_allocations(),
            _ => {}
        }
        Ok(poll)
    }
    fn lanes(&self) -> Vec<String> {
        self.inner.lanes()
    }
    fn completed(&mut self, lane: u32, now_ns: u64) -> bool {
        self.inner.completed(lane, now_ns)
    }
    fn times(&self, lane: u32) -> LaneTimes {
        self.inner.times(lane)
    }
    fn has_rate(&self, lane: u32) -> bool {
        self.inner.has_rate(lane)
    }
    fn warm_up_ns(&self) -> Option<u64> {
        self.inner.warm_up_ns()
    }
    fn depth(&self) -> u64 {
        self.inner.depth()
    }
    fn requests_at_most(&self) -> Option<u64> {
        self.inner.requests_at_most()
    }
    fn report(&self) -> SourceReport {
        self.inner.report()
    }
}

#[test]
fn jobs_do_not_allocate() {
    let text = "[global]\nfilename=/dev/sda\nsize=32m\n[a]\nrw=randrw\niodepth=16\nloops=4\nbssplit=4k/80:16k/20\n\
                [b]\nrw=randwrite\nnumjobs=3\nrate_iops=20k\nrate_process=poisson\nthinktime=100us\n\
                thinktime_blocks=9\niodepth=4\nloops=4\nfsync=32\n[c]\nrw=randread\nrandom_distribution=zipf:0.9\niodepth=32\nloops=8\n";
    let path = common::fresh_path("no-alloc.fio");
    std::fs::write(&path, text).unwrap();
    let mut config = small_drive();
    // Some requests find no room.
    config.queues.depth = 32;
    let mut drive = Drive::new(&config).unwrap();
    precondition(&mut drive, 1, &used(), &mut |_| {}).unwrap();
    let workload = Spec::fio(path.display().to_string()).prepare().unwrap();
    let inner = workload.driven(drive.logical_sectors()).unwrap().unwrap();
    let mut jobs = MarkedJobs { inner, taken: 0, at: [0; 2] };
    let spec = RunSpec { loop_mode: LoopMode::Jobs, ..RunSpec::default() };
    let result = run_driven(&mut drive, &config, &mut jobs, &spec, &mut |_| {}).unwrap();
    assert!(jobs.taken > 70_000 && result.requests_served == jobs.taken, "{} requests", jobs.taken);
    assert_eq!(jobs.at[1] - jobs.at[0], 0);
}

#[test]
fn the_loops_do_not_allocate() {
    let paced = format!("{MIX}\narrival = \"poisson\"\nrate_iops = 20000");
    let closed = RunSpec { loop_mode: LoopMode::Closed { depth: 32 }, ..RunSpec::default() };
    let open = RunSpec { loop_mode: LoopMode::Open, ..RunSpec::default() };
    let logged = RunSpec { request_log: Some(common::fresh_path("no-alloc.csv")), ..closed.clone() };
    let packed = RunSpec { request_log: Some(common::fresh_path("no-alloc.csv.zst")), ..closed.clone() };
    let late = RunSpec { warm_up: 60_000, ..closed.clone() };
    let explained = RunSpec { explain_tail: 99.9, ..late.clone() };
    let cases = [
        ("closed", MIX, &closed),
        ("open", &paced, &open),
        ("warm-up", MIX, &late),
        ("explained", MIX, &explained),
        ("with a log", MIX, &logged),
        ("with a compressed log", MIX, &packed),
    ];
    let (small, mut page_mapped, mut wide) = (small_drive(), small_drive(), small_drive());
    page_mapped.mapping.unit = ssd::sections::MappingUnit::Page;
    (wide.mapping.unit, wide.geometry.planes_per_die) = (ssd::sections::MappingUnit::SixtyFourKib, 4);
    // What is told of a run does not know how the drive maps units: the two loops, which do, with all kinds.
    let of_pages = [&page_mapped, &wide]
        .into_iter()
        .flat_map(|config| cases[..2].iter().map(move |case| (config, case)));
    for (config, (name, settings, spec)) in cases.iter().map(|case| (&small, case)).chain(of_pages) {
        let found = allocations(config, settings, spec);
        assert_eq!(found, 0, "{name}, unit {:?}: allocations in 50 000 requests", config.mapping.unit);
    }
}
