//! The captures that are shipped: whole, unambiguous, small, nameless, and workloads as they are.

use ssd::signals::OpCode;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use workload::Spec;
use workload::capture::{Capture, Op};

const NAMES: [&str; 6] = ["cscope", "gcc", "git", "multi", "postgres", "sqlite"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/captures/{name}.capture"))
}

#[test]
fn stacks_are_whole_and_none_has_the_sum_of_another() {
    let mut bytes = 0;
    for name in NAMES {
        bytes += std::fs::metadata(path(name)).unwrap().len();
        let capture = Capture::open(&path(name)).unwrap();
        let calls = capture.events.len() as u64;
        assert!(calls > 1000, "{name}: {calls}");
        assert!(capture.totals.whole_percent(calls) >= 99.9, "{name}: {:?}", capture.totals);
        // Of 64 bits, and of the 32 that hints have.
        assert_eq!(capture.ambiguous(), 0, "{name}");
        // Numbers for names.
        assert!(capture.files.iter().all(|file| file.name.is_empty()), "{name}");
        assert!(capture.modules.iter().all(|module| !module.name.contains('/')), "{name}");
        assert!(capture.processes.iter().all(|process| !process.name.contains('/')), "{name}");
        // A program begins in one place: all whole stacks that end in it end there.
        let mut roots: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        for stack in capture.stacks.iter().filter(|stack| stack.is_whole) {
            let &(module, address) = stack.frames.last().unwrap();
            roots.entry(module).or_default().insert(address);
        }
        for (module, places) in roots {
            assert_eq!(places.len(), 1, "{name}: {}: {places:x?}", capture.modules[module as usize].name);
        }
    }
    assert!(bytes < 3 << 20, "{bytes}");
}

#[test]
fn every_sample_becomes_requests_with_its_contexts() {
    for name in NAMES {
        let capture = Capture::open(&path(name)).unwrap();
        let known: BTreeSet<u32> = capture.contexts().into_iter().collect();
        let spec = Spec::capture(path(name).display().to_string());
        let prepared = spec.prepare().unwrap();
        let sectors = prepared.space_sectors().unwrap();
        let mut source = prepared.open(sectors).unwrap();
        let (mut bytes, mut found, mut last, mut flushes) = (0u64, BTreeSet::new(), 0, 0);
        while let Some(request) = source.next().unwrap() {
            assert!(request.end() <= sectors && request.arrival_ns >= last, "{name}");
            last = request.arrival_ns;
            flushes += u64::from(request.op == OpCode::Flush);
            // Below are the file system's own.
            if request.op == OpCode::Write && request.hints.file >= 16 {
                bytes += request.bytes();
                found.insert(request.hints.context);
            }
        }
        assert!(found.is_subset(&known), "{name}");
        assert!(found.len() >= 2 && bytes > 1 << 20, "{name}: {} contexts, {bytes} bytes", found.len());
        let syncs =
            capture.events.iter().filter(|e| matches!(e.op, Op::Fsync | Op::Fdatasync)).count() as u64;
        assert!(
            flushes > 0 && flushes <= 2 * syncs + last / 5_000_000_000 + 2,
            "{name}: {flushes} of {syncs}"
        );
        // The same again.
        assert_eq!(spec.prepare().unwrap().workload_hash(), prepared.workload_hash());
    }
}
