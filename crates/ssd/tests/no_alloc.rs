//! After warm-up, the loop of submissions, events and completions allocates nothing.
#![allow(
    unsafe_code,
    reason = "an allocator that counts is the only way to see allocations, and its trait is unsafe"
)]

#[path = "suite/support/mod.rs"]
mod support;

use ssd::config::{Table, Value};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::habits::with_habits;
use support::{Load, bounded, reclaiming, relocking, small, with_every_policy, with_policy};

thread_local! {
    /// Allocations of this thread: other tests run beside it.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // Not at a thread's very end, when the counter is gone.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: everything is left to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations while `work` is done.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))), 1);
    assert_eq!(allocations(|| ()), 0);
}

#[test]
fn policies_from_outside_are_asked_without_allocating() {
    use support::outside::{by_parity, greedy, stream, victim, with};
    for policies in [victim(greedy), stream(by_parity)] {
        let section = policies.identities()[0].0.clone();
        let mut drive = with(&small(), policies);
        let mut load = Load::new(3);
        load.run(&mut drive, 8_000);
        let calls = |drive: &Drive| drive.external().asked()[0].2;
        let before = calls(&drive);
        let found = allocations(|| load.run(&mut drive, 30_000));
        assert!(calls(&drive) > before + 100, "{section}: it was asked");
        assert_eq!((found, drive.external().fault()), (0, None), "{section}: allocations in 30000 commands");
    }
}

/// The loop of a drive that is being cleaned, after warm-up.
fn assert_loop_allocates_nothing(cfg: &DriveConfig, executor: Executor, what: &str) {
    let mut drive = Drive::new(cfg).unwrap();
    drive.set_executor(executor);
    let mut load = Load::new(3);
    load.run(&mut drive, 8_000);
    let reclaimed = drive.stats().ftl.reclaimed_blocks;
    // From 8,000 to 17,000: what grows by doubling with the commands does so at least once.
    let commands = if support::is_soak() { 30_000 } else { 9_000 };
    let found = allocations(|| load.run(&mut drive, commands));
    assert!(drive.stats().ftl.reclaimed_blocks > reclaimed, "{what}: nothing was cleaned");
    assert_eq!(found, 0, "{what}, {executor:?}: allocations in {commands} commands");
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    let mut restored = Drive::restore(cfg, &bytes).unwrap();
    load.tell(&mut restored);
    let commands = commands / 3;
    let found = allocations(|| load.run(&mut restored, commands));
    assert_eq!(found, 0, "{what}, {executor:?}: allocations in {commands} commands after a restore");
}

#[test]
fn no_allocation_under_any_policy() {
    for (policy, cfg) in with_every_policy() {
        for executor in [Executor::Timed, Executor::Functional] {
            assert_loop_allocates_nothing(&cfg, executor, &policy);
        }
    }
}

#[test]
fn no_allocation_where_locks_are_set_again() {
    let cfg = relocking();
    let mut drive = Drive::new(&cfg).unwrap();
    let mut load = Load::new(3);
    load.run(&mut drive, 8_000);
    let before = drive.stats().ftl.sanitize_relocks;
    let found = allocations(|| load.run(&mut drive, 30_000));
    let relocks = drive.stats().ftl.sanitize_relocks - before;
    assert!(found == 0 && relocks > 100, "{found} allocations, {relocks} locks set again");
    assert_loop_allocates_nothing(&cfg, Executor::Timed, "relocks");
}

#[test]
fn no_allocation_where_exposure_has_a_bound() {
    for executor in [Executor::Timed, Executor::Functional] {
        assert_loop_allocates_nothing(&bounded(), executor, "a bound of exposure");
    }
}

/// Reads of a few units one after the other.
fn read_often(drive: &mut Drive, commands: u64) {
    let sectors = drive.unit_bytes() / 512;
    for n in 0..commands {
        let lba = Lba((n % 7) * u64::from(sectors));
        let command = Command { op: OpCode::Read, lba, sectors, arrival: drive.now(), ..Command::default() };
        while drive.outstanding() >= 24 || !drive.queue_has_room(0) {
            assert!(drive.advance_to_completion(), "stuck");
            while drive.pop_completion().is_some() {}
        }
        drive.submit(0, &command, drive.now()).unwrap();
    }
}

#[test]
fn no_allocation_under_reclaim_that_deals() {
    if !support::every::has("ftl.read_reclaim.redftl_plus") {
        return;
    }
    for counters in ["two_level", "exact"] {
        for executor in [Executor::Timed, Executor::Functional] {
            let mut cfg = with_policy("buffer", "none");
            cfg.read_reclaim.select("redftl_plus").unwrap();
            cfg.read_reclaim.set("max_reads", &Value::Integer(60)).unwrap();
            cfg.read_reclaim.set("counters", &Value::Text(counters.to_owned())).unwrap();
            let mut drive = Drive::new(&cfg).unwrap();
            drive.set_executor(executor);
            let mut load = Load::new(3);
            let mut work = |drive: &mut Drive, rounds: u32| {
                for _ in 0..rounds {
                    load.run(drive, 40);
                    read_often(drive, 400);
                }
            };
            work(&mut drive, 100);
            let before = drive.stats().ftl.reclaims;
            let found = allocations(|| work(&mut drive, 100));
            assert!(drive.stats().ftl.reclaims > before + 50, "{} reclaims", drive.stats().ftl.reclaims);
            assert_eq!(found, 0, "{counters}, {executor:?}");
            let mut bytes = Vec::new();
            drive.save(&mut bytes).unwrap();
            let mut restored = Drive::restore(&cfg, &bytes).unwrap();
            let found = allocations(|| work(&mut restored, 50));
            assert_eq!(found, 0, "{counters}, {executor:?}, after a restore");
        }
    }
}

#[test]
fn no_allocation_with_whole_pages_and_copyback() {
    let mut cfg = small();
    cfg.mapping.unit = ssd::sections::MappingUnit::Page;
    support::every::select(&mut cfg, "ftl.migration", "copyback_by_cycles");
    cfg.timing.cache_operations = true;
    for executor in [Executor::Timed, Executor::Functional] {
        assert_loop_allocates_nothing(&cfg, executor, "whole pages");
    }
}

#[test]
fn no_allocation_with_a_plane_for_each_page() {
    for member in ssd::host::buffer::FAMILY.members {
        let cfg = with_habits(with_policy("buffer", member.name));
        for executor in [Executor::Timed, Executor::Functional] {
            assert_loop_allocates_nothing(&cfg, executor, &format!("static placement, {}", member.name));
        }
    }
}

#[test]
fn no_allocation_where_cells_age() {
    use ssd::sections::{DisturbLaw, ErrorModel, SectorErrors};
    for (law, sectors) in
        [(DisturbLaw::Linear, SectorErrors::Worst), (DisturbLaw::Voltage, SectorErrors::Drawn)]
    {
        let mut cfg = small();
        (cfg.errors.model, cfg.errors.disturb_law, cfg.errors.sectors) = (ErrorModel::Cells, law, sectors);
        for executor in [Executor::Timed, Executor::Functional] {
            assert_loop_allocates_nothing(&cfg, executor, "cells that age");
            if !support::every::has("ftl.migration") || !support::every::has("ftl.age_marker") {
                continue;
            }
            let mut copies = with_policy("migration", "copyback_by_age");
            (copies.errors.disturb_law, copies.errors.sectors) = (law, sectors);
            assert_loop_allocates_nothing(&copies, executor, "cells that age, and copies inside the chips");
        }
    }
}

#[test]
fn no_allocation_where_cells_age_and_reads_move_data() {
    for (_, name, cfg) in reclaiming::drives() {
        for executor in [Executor::Timed, Executor::Functional] {
            let mut drive = Drive::new(&cfg).unwrap();
            let units = drive.logical_units();
            drive.fill(0, units).unwrap();
            drive.set_executor(executor);
            let mut reads = reclaiming::Reads::new(1);
            reads.run(&mut drive, 5_000);
            let before = reclaiming::moved(&drive);
            let found = allocations(|| _ = reads.run(&mut drive, 40_000));
            let moved = reclaiming::moved(&drive) - before;
            assert!(moved > 50, "{name}, {executor:?}: {moved} units were moved");
            assert_eq!(found, 0, "{name}, {executor:?}");
        }
    }
}

#[test]
fn no_allocation_with_replicas() {
    use ssd::flash::op::OpKind;
    let Some(cause) = support::every::cause("replication") else { return };
    for executor in [Executor::Timed, Executor::Functional] {
        let mut cfg = with_policy("read_reclaim", "redftl");
        for (key, value) in [("max_reads", 12), ("replica_limit", 1)] {
            cfg.read_reclaim.set(key, &Value::Integer(value)).unwrap();
        }
        cfg.buffer.select("none").unwrap();
        cfg.drive.over_provisioning_percent = 80.0;
        let mut drive = Drive::new(&cfg).unwrap();
        drive.set_executor(executor);
        let mut load = Load::new(3);
        load.run(&mut drive, 8_000);
        let made = |drive: &Drive| drive.stats().flash.ops[OpKind::Program as usize][cause as usize];
        let before = made(&drive);
        let found = allocations(|| load.run(&mut drive, 30_000));
        assert!(made(&drive) > before + 20, "{executor:?}: {} replicas were made", made(&drive) - before);
        assert_eq!(found, 0, "{executor:?}");
    }
}

#[test]
fn no_allocation_in_direct_writes() {
    let mut drive = Drive::new(&small()).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    let mut rng = ssd::rng::Rng::named(1, "overwrite");
    let random: Vec<u32> = (0..100_000).map(|_| rng.below(units)).collect();
    drive.overwrite(&random).unwrap();
    assert_eq!(allocations(|| drive.overwrite(&random).unwrap()), 0);
    assert_eq!(allocations(|| drive.fill(0, units).unwrap()), 0);
}
