//! Operational laws, which hold for any load: Little's law, the utilisation law, conservation of work.

use super::*;
use ssd::flash::op::OpKind;
use ssd::sections::Issue;

/// Reads and writes of whole pages at random, on a full drive that cleans.
fn mixed(cfg: &DriveConfig) -> (Drive, impl FnMut(u64) -> Command + use<>) {
    let mut drive = Drive::new(cfg).unwrap();
    let pages = drive.logical_units();
    drive.fill(0, pages).unwrap();
    let mut rng = Rng::named(31, "mixed");
    let next = move |_: u64| {
        let op = if rng.below(10) < 7 { OpCode::Read } else { OpCode::Write };
        on_page(op, rng.below(pages), 32)
    };
    (drive, next)
}

fn small(channels: u32, chips: u32, planes: u32) -> DriveConfig {
    let mut cfg = round_numbers(channels, chips, planes);
    cfg.drive.over_provisioning_percent = 28.0;
    cfg.geometry.wordlines_per_block = 16;
    cfg
}

#[test]
fn littles_law_holds_in_a_closed_loop() {
    // N in flight = throughput x mean latency.
    for depth in [1, 4, 32] {
        let mut cfg = small(2, 2, 2);
        cfg.buffer =
            buffer::Config::LruWrite(buffer::lru_write::Params { size_mib: 1.0, ..Default::default() });
        let (mut drive, next) = mixed(&cfg);
        let flow = closed_loop(&mut drive, depth, 60_000, next);
        close("Little's law, in flight", flow.latency_ns as f64 / flow.ns as f64, depth as f64, 0.5);
    }
}

#[test]
fn littles_law_holds_for_arrivals() {
    // The number in flight, integrated as time passes, is what the completions say they were there for: exactly.
    let (mut drive, mut next) = mixed(&small(2, 2, 2));
    let mut rng = Rng::named(32, "gaps");
    let (mut area, mut latency, mut last, mut at) = (0u64, 0u64, 0, 0);
    for n in 0..20_000u64 {
        at += u64::from(rng.below(400_000));
        while drive.next_event_at().is_some_and(|event| event.0 < at) {
            let event = drive.next_event_at().unwrap();
            area += drive.outstanding() as u64 * (event.0 - last);
            last = event.0;
            drive.advance_to(event);
            while let Some(done) = drive.pop_completion() {
                assert_eq!(done.completed, event);
                latency += done.completed.since(done.arrival);
            }
        }
        area += drive.outstanding() as u64 * (at - last);
        last = at;
        let command = Command { tag: n, arrival: SimTime(at), ..next(0) };
        // Arrivals are slower than the drive: it never fills a queue of 4 096.
        drive.submit(0, &command, SimTime(at)).unwrap();
    }
    while let Some(event) = drive.next_event_at() {
        area += drive.outstanding() as u64 * (event.0 - last);
        last = event.0;
        drive.advance_to(event);
        while let Some(done) = drive.pop_completion() {
            latency += done.completed.since(done.arrival);
        }
    }
    assert_eq!(area, latency);
}

/// Operations of a kind.
fn count(drive: &Drive, kind: OpKind) -> u64 {
    drive.stats().ops(kind)
}

#[test]
fn busy_time_is_operations_times_their_time() {
    // One die on each channel and no multi-plane operations: a die is held for exactly the time of its operations,
    // whatever they are for. Whole pages, so each kind has one time.
    let mut cfg = small(4, 1, 2);
    (cfg.scheduling.multi_plane, cfg.allocation.issue) = (false, Issue::Page);
    let (mut drive, next) = mixed(&cfg);
    drive.reset_stats();
    closed_loop(&mut drive, 64, 60_000, next);
    let stats = drive.stats();
    let by_time = |read: u64, program: u64, erase: u64| {
        count(&drive, OpKind::Read) * read
            + count(&drive, OpKind::Program) * program
            + count(&drive, OpKind::Erase) * erase
    };
    assert!(count(&drive, OpKind::Erase) > 500, "the run cleans");
    let (read, program) = (300 + 40 + 16_384, 400 + 16_384);
    assert_eq!(stats.flash.channel_busy_ns.iter().sum::<u64>(), by_time(read, program, 350));
    let arrays = stats.flash.die_array_ns.iter().sum::<u64>();
    assert_eq!(arrays, by_time(50_000, 600_000, 3_000_000));
    let die_busy = by_time(read + 50_000, program + 600_000, 350 + 3_000_000);
    assert_eq!(stats.flash.die_busy_ns.iter().sum::<u64>(), die_busy);
    let elapsed = stats.until.since(stats.since);
    assert!(stats.flash.die_busy_ns.iter().all(|&ns| ns > elapsed / 2 && ns <= elapsed));
}

#[test]
fn channels_carry_what_the_operations_say() {
    // Shared channels and multi-plane operations change when data is carried, not how long.
    let (mut drive, next) = mixed(&small(2, 4, 2));
    drive.reset_stats();
    closed_loop(&mut drive, 64, 60_000, next);
    let stats = drive.stats();
    assert!(stats.flash.groups > 1_000);
    let busy = count(&drive, OpKind::Read) * (300 + 40 + 16_384)
        + count(&drive, OpKind::Program) * (400 + 16_384)
        + count(&drive, OpKind::Erase) * 350;
    assert_eq!(stats.flash.channel_busy_ns.iter().sum::<u64>(), busy);
    // Planes of a group share their array's time.
    let work = [(OpKind::Read, 50_000), (OpKind::Program, 600_000), (OpKind::Erase, 3_000_000)];
    let alone: u64 = work.into_iter().map(|(kind, ns)| count(&drive, kind) * ns).sum();
    let arrays = stats.flash.die_array_ns.iter().sum::<u64>();
    assert!(arrays < alone && 2 * arrays > alone, "{arrays} of {alone}");
    // A die is held at least while its channel works for it, and no longer than the run.
    let elapsed = stats.until.since(stats.since);
    assert!(stats.flash.die_busy_ns.iter().all(|&ns| ns <= elapsed));
    assert!(stats.flash.die_busy_ns.iter().sum::<u64>() > busy);
}

#[test]
fn every_page_is_accounted_for() {
    // Host programs carry what the host wrote, cleaning moves what was live, erases give back what was taken.
    let (mut drive, next) = mixed(&small(2, 2, 2));
    drive.reset_stats();
    closed_loop(&mut drive, 16, 60_000, next);
    let stats = drive.stats();
    assert_eq!(stats.host.written_bytes, stats.ftl.host_units * 16_384);
    let programs = count(&drive, OpKind::Program) + count(&drive, OpKind::Copyback);
    assert!(stats.ftl.moved_units.iter().sum::<u64>() + stats.ftl.host_units <= programs);
    // Over a long run blocks programmed and blocks erased are the same but for those free at the start and the end.
    let blocks = programs / 16;
    assert!(blocks.abs_diff(count(&drive, OpKind::Erase)) < 8 * 64, "{blocks} blocks programmed");
}
