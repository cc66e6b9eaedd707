//! Nothing allocates in the loop after its warm-up, and memory does not grow with the number of requests.
//!
//! Alone in its binary: it counts the allocations of its own thread by a global allocator.

mod common;

use common::{generator, small_drive, used};
use lab::memory::{CountingAlloc, thread_allocations};
use lab::{LoopMode, RunSpec, precondition, run};
use ssd::{Drive, DriveConfig};
use std::alloc::System;
use workload::Source;

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
    const COUNT: u64 = 150_000;
    let mut drive = Drive::new(config).unwrap();
    precondition(&mut drive, 1, &used(), &mut |_| {}).unwrap();
    let workload = generator(COUNT, settings);
    let inner = workload.open(drive.logical_sectors()).unwrap();
    let mut source = Marked { inner, taken: 0, from: 40_000, to: COUNT - 10, at_from: 0, at_to: 0 };
    let result = run(&mut drive, config, &mut source, spec, &mut |_| {}).unwrap();
    assert_eq!(result.requests_served, COUNT);
    source.at_to - source.at_from
}

#[test]
fn the_loops_do_not_allocate() {
    let paced = format!("{MIX}\narrival = \"poisson\"\nrate_iops = 20000");
    let closed = RunSpec { loop_mode: LoopMode::Closed { depth: 32 }, ..RunSpec::default() };
    let open = RunSpec { loop_mode: LoopMode::Open, ..RunSpec::default() };
    let logged = RunSpec { request_log: Some(common::fresh_path("no-alloc.csv")), ..closed.clone() };
    let packed = RunSpec { request_log: Some(common::fresh_path("no-alloc.csv.zst")), ..closed.clone() };
    let late = RunSpec { warm_up: 60_000, ..closed.clone() };
    let cases = [
        ("closed", MIX, &closed),
        ("open", &paced, &open),
        ("warm-up", MIX, &late),
        ("with a log", MIX, &logged),
        ("with a compressed log", MIX, &packed),
    ];
    let mut page_mapped = small_drive();
    page_mapped.mapping.unit = ssd::sections::MappingUnit::Page;
    for config in [small_drive(), page_mapped] {
        for (name, settings, spec) in cases {
            let found = allocations(&config, settings, spec);
            assert_eq!(found, 0, "{name}, unit {:?}: allocations in 110 000 requests", config.mapping.unit);
        }
    }
}
