//! For how long a drive says that dead copies of secured data could be read, beside a clock of its own for each page:
//! that looks at what the chips answer whenever anything has happened.

use crate::support::{every, is_soak, soaked};
use ssd::config::{Table, Value};
use ssd::host::buffer;
use ssd::nand::Raw;
use ssd::rng::Rng;
use ssd::sections::{ErrorModel, MappingUnit, Superblock};
use ssd::units::{Pun, SimTime};
use ssd::{Command, Drive, DriveConfig, Lba, OpCode};
use std::collections::BTreeMap;

const POLICIES: [&str; 5] = ["page_lock", "page_and_block_lock", "erase", "scrub", "reprogram"];

/// Two channels with a die of two planes each.
fn config(unit: MappingUnit, superblock: Superblock, policy: &str, lazy: bool) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (12, 2, 3);
    cfg.drive.over_provisioning_percent = 150.0;
    (cfg.mapping.unit, cfg.allocation.superblock) = (unit, superblock);
    cfg.cleaning.lazy_erase = lazy;
    cfg.sanitize.select(policy).unwrap();
    cfg.queues.depth = 64;
    cfg.buffer = buffer::Config::None(buffer::none::Params { gather_timeout_us: 50.0, ..Default::default() });
    cfg
}

/// Clocks of pages that can be read and hold a dead copy.
#[derive(Default)]
struct Clocks {
    since: BTreeMap<(u32, u32), u64>,
    ns: u64,
    ns_max: u64,
}

impl Clocks {
    /// Something may have happened. All data is secured.
    fn look(&mut self, drive: &Drive) {
        let (chips, now) = (drive.chips(), drive.now());
        let mut found = BTreeMap::new();
        for unit in (0..drive.contents().units()).map(Pun) {
            let (block, page) = drive.contents().place_of(unit);
            if page < chips.programmed_pages(block)
                && drive
                    .contents()
                    .spare_of(unit)
                    .is_some_and(|spare| !drive.contents().lives_at(spare.lpn, unit))
                && chips.raw_read(block, page, now, 0) == Raw::Data
            {
                found.insert((block, page), self.since.get(&(block, page)).copied().unwrap_or(now.0));
            }
        }
        for (place, since) in std::mem::replace(&mut self.since, found) {
            if !self.since.contains_key(&place) {
                self.end(now.0 - since);
            }
        }
    }

    fn end(&mut self, ns: u64) {
        self.ns += ns;
        self.ns_max = self.ns_max.max(ns);
    }
}

/// Small writes and some trims, a queue full of them.
fn writes(rng: &mut Rng, units: u32) -> (OpCode, u32) {
    let op = if rng.below(16) == 0 { OpCode::Trim } else { OpCode::Write };
    (op, rng.below(units))
}

/// The same between many reads of a few units.
fn reads(rng: &mut Rng, units: u32) -> (OpCode, u32) {
    if rng.below(6) == 0 { writes(rng, units) } else { (OpCode::Read, rng.below(7) * (units / 7)) }
}

/// Keeps a queue full of commands that are drawn so, and holds what the drive says against the clocks.
fn held_to_clocks(
    cfg: &DriveConfig,
    depth: usize,
    requests: u32,
    next: fn(&mut Rng, u32) -> (OpCode, u32),
) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    let (mut rng, units) = (Rng::named(1, "load"), drive.logical_units());
    let sectors = drive.unit_bytes() / 512;
    drive.fill(0, units).unwrap();
    drive.reset_stats();
    let mut clocks = Clocks::default();
    let mut sent = 0;
    loop {
        while sent < requests && drive.outstanding() < depth {
            let (op, unit) = next(&mut rng, units);
            let lba = Lba(u64::from(sectors) * u64::from(unit));
            let command =
                Command { op, lba, sectors, arrival: drive.now(), tag: sent.into(), ..Command::default() };
            drive.submit(0, &command, drive.now()).unwrap();
            clocks.look(&drive);
            sent += 1;
        }
        let Some(at) = drive.next_event_at() else { break };
        drive.advance_to(SimTime(at.0));
        while drive.pop_completion().is_some() {}
        clocks.look(&drive);
    }
    drive.check().unwrap();
    assert_eq!(drive.health().read_only, None);
    let counts = &drive.stats().ftl;
    assert!(counts.exposed_pages > 100, "{} pages", counts.exposed_pages);
    let (locked, erased, open) =
        (counts.exposed_locked, counts.exposed_erased, drive.reports().sanitize().open.times);
    assert_eq!(locked.and(erased).ns_max, clocks.ns_max, "the longest that has ended");
    assert_eq!(locked.and(erased).ns, clocks.ns, "all that has ended");
    assert_eq!((counts.exposed_ns, counts.exposed_ns_max), (clocks.ns, clocks.ns_max));
    assert_eq!(locked.pages + erased.pages + open.pages, counts.exposed_pages, "pages");
    let now = drive.now().0;
    assert_eq!(open.pages, clocks.since.len() as u64, "pages that are open");
    assert_eq!(open.ns_max, clocks.since.values().map(|since| now - since).max().unwrap_or(0));
    assert_eq!(open.ns, clocks.since.values().map(|since| now - since).sum::<u64>());
    drive
}

#[test]
fn what_is_told_of_exposure_is_what_a_clock_for_each_page_says() {
    for policy in POLICIES {
        for unit in [MappingUnit::Page, MappingUnit::FourKib] {
            for superblock in [Superblock::None, Superblock::Planes, Superblock::All] {
                for (depth, lazy) in [(1, false), (32, false), (32, true)] {
                    let which = format!("{policy} {unit:?} {superblock:?} depth {depth} lazy {lazy}");
                    println!("{which}");
                    let cfg = config(unit, superblock, policy, lazy);
                    held_to_clocks(&cfg, depth, soaked(150) as u32, writes);
                }
            }
        }
    }
}

/// The longest that a page is exposed on a full drive of two dies in a run of small writes at random, with reads of
/// others and a trim of a quarter of the drive between them, under a queue so full; ns. And the drive.
fn longest_exposure(superblock: Superblock, most_ms: f64, depth: usize) -> (u64, Drive) {
    let mut cfg = config(MappingUnit::FourKib, superblock, "page_and_block_lock", false);
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (40, 16);
    cfg.drive.over_provisioning_percent = 30.0;
    cfg.sanitize.set("max_exposed_ms", &Value::Float(most_ms)).unwrap();
    let mut drive = Drive::new(&cfg).unwrap();
    let (units, mut rng) = (drive.logical_units(), Rng::named(4, "load"));
    drive.fill(0, units).unwrap();
    let batch: Vec<u32> = (0..2 * units).map(|_| rng.below(units)).collect();
    drive.overwrite(&batch).unwrap();
    drive.reset_stats();
    for tag in 0..8_000 {
        let op = if rng.below(4) == 0 { OpCode::Read } else { OpCode::Write };
        let (lba, sectors) = (Lba(8 * u64::from(rng.below(units))), 8);
        let mut command = Command { op, lba, sectors, tag, ..command_at(&drive) };
        if tag == 4_000 {
            (command.op, command.lba, command.sectors) = (OpCode::Trim, Lba(0), 2 * units);
        }
        drive.submit(0, &command, drive.now()).unwrap();
        while drive.outstanding() >= depth {
            assert!(drive.advance_to_completion(), "stuck");
            while drive.pop_completion().is_some() {}
        }
        if tag % 1_000 == 0 {
            drive.check().unwrap();
        }
    }
    let open = drive.reports().sanitize().open.times.ns_max;
    (drive.stats().ftl.exposed_ns_max.max(open), drive)
}

/// With a bound no page is exposed for longer, whatever the load, where pages are for much longer without. Writes wait
/// for that, and a trim of much is done in portions.
#[test]
fn no_page_is_exposed_for_longer_than_the_bound() {
    for superblock in [Superblock::None, Superblock::Planes, Superblock::All] {
        for depth in [1, 32] {
            let (free_ns, free) = longest_exposure(superblock, 0.0, depth);
            let (bound_ns, bound) = longest_exposure(superblock, 100.0, depth);
            println!("{superblock:?} depth {depth}: {free_ns} and {bound_ns} ns");
            assert!(bound_ns <= 100_000_000, "{superblock:?} depth {depth}: {bound_ns} ns");
            assert!(free_ns > 150_000_000, "{superblock:?} depth {depth}: {free_ns} ns without a bound");
            assert!(bound.stats().ftl.sanitize_held_ns > 0, "nobody has waited");
            assert_eq!(free.stats().ftl.sanitize_held_ns, 0);
            assert_eq!(bound.health().read_only, None);
        }
    }
}

/// The same of drives that make replicas of what is read often, adopt them and give them up.
#[test]
fn what_is_told_of_replicas_is_what_a_clock_for_each_page_says() {
    const VALUES: [(&str, i128); 5] = [
        ("max_reads", 80),
        ("replica_percent", 20),
        ("migration_percent", 30),
        ("replica_limit", 3),
        ("good_blocks_percent", 100),
    ];
    let Some(cause) = every::cause("replication") else { return };
    let mut total = [0; 3];
    for policy in ["page_lock", "page_and_block_lock", "erase"] {
        for unit in [MappingUnit::Page, MappingUnit::FourKib] {
            for superblock in [Superblock::None, Superblock::All] {
                for (depth, lazy) in [(1, false), (32, true)] {
                    println!("{policy} {unit:?} {superblock:?} depth {depth} lazy {lazy}");
                    let mut cfg = config(unit, superblock, policy, lazy);
                    cfg.geometry.wordlines_per_block = 4;
                    cfg.read_reclaim.select("redftl").unwrap();
                    for (key, value) in VALUES {
                        cfg.read_reclaim.set(key, &Value::Integer(value)).unwrap();
                    }
                    let drive = held_to_clocks(&cfg, depth, soaked(600) as u32, reads);
                    let counts = &drive.stats().ftl;
                    let made = counts.moved_units[cause as usize];
                    let found = [made, counts.replicas_adopted, counts.replica_reads];
                    total.iter_mut().zip(found).for_each(|(total, found)| *total += found);
                }
            }
        }
    }
    println!("replicas made, adopted, read: {total:?}");
    assert!(total[0] > soaked(500) && total[1] > soaked(100), "{total:?}");
}

/// One lane of pages of four units is full of data, and all room is not too little: units that die one by one leave a
/// page of three that move, and the page that this takes comes free.
#[test]
fn a_drive_of_one_lane_is_not_full_because_pages_are_left() {
    for policy in ["page_lock", "page_and_block_lock", "scrub"] {
        for spare in [30.0, 100.0] {
            let mut cfg = config(MappingUnit::FourKib, Superblock::All, policy, false);
            cfg.geometry.blocks_per_plane = 40;
            cfg.drive.over_provisioning_percent = spare;
            let mut drive = Drive::new(&cfg).unwrap();
            let (units, mut rng) = (drive.logical_units(), Rng::named(3, "load"));
            drive.fill(0, units).unwrap();
            let batches = 4 * units / 64;
            for _ in 0..batches {
                let batch: Vec<u32> = (0..64).map(|_| rng.below(units)).collect();
                drive
                    .overwrite(&batch)
                    .unwrap_or_else(|short| panic!("{policy}, {spare} % spare: {short:?}"));
            }
            let counts = &drive.stats().ftl;
            let moved: u64 = counts.moved_units.iter().sum();
            println!(
                "{policy} {spare}: {moved} of {} moved, {} padded",
                counts.host_units,
                counts.padded_units.iter().sum::<u64>()
            );
            // Of a rest of a page that moves by itself one in four places stays empty. Scrubs fill wordlines with
            // nothing.
            assert!(
                policy == "scrub" || counts.padded_units.iter().sum::<u64>() * 8 < counts.host_units,
                "{policy}: {} padded",
                counts.padded_units.iter().sum::<u64>()
            );
            drive.check().unwrap();
        }
    }
}

/// Programs fail now and then, and locks always: blocks out of use keep what no lock hides, and the drive comes to
/// rest.
#[test]
fn locks_that_always_fail_come_to_an_end() {
    for (policy, lazy) in
        [("page_lock", false), ("page_and_block_lock", false), ("scrub", false), ("page_lock", true)]
    {
        let mut cfg = config(MappingUnit::FourKib, Superblock::None, policy, lazy);
        cfg.geometry.blocks_per_plane = 40;
        (cfg.reliability.lock_fail_ppm, cfg.reliability.program_fail_ppm) = (1_000_000.0, 20_000.0);
        let mut drive = Drive::new(&cfg).unwrap();
        let (units, mut rng) = (drive.logical_units(), Rng::named(5, "load"));
        drive.fill(0, units / 2).unwrap();
        let sectors = drive.unit_bytes() / 512;
        for tag in 0..600 {
            let lba = Lba(u64::from(sectors) * u64::from(rng.below(units / 2)));
            drive.submit(0, &Command { lba, sectors, tag, ..command_at(&drive) }, drive.now()).unwrap();
            assert!(drive.advance_to_completion(), "{policy}: stuck");
            while drive.pop_completion().is_some() {}
        }
        drive.drain();
        drive.check().unwrap();
        let counts = &drive.stats().ftl;
        let failed = counts.exposed_long[2] + drive.reports().sanitize().open.times.pages;
        println!("{policy} {lazy}: {} given up, {failed} failed", counts.sanitize_given_up);
        assert!(drive.stats().flash.lock_fails > 0, "{policy}");
        assert!(lazy || counts.retired_blocks == 0 || counts.sanitize_given_up > 0, "{policy}");
    }
}

/// Writes wait for their locks, and no lock holds: what they leave is erased, in blocks that would wait for that as in
/// others, and the drive goes on. Where no erase holds either it comes to its end, and says so to all who wait.
#[test]
fn who_waits_for_locks_that_always_fail_is_answered() {
    for policy in ["page_lock", "page_and_block_lock", "erase", "scrub"] {
        for (lazy, erases_fail) in [(false, false), (true, false), (false, true), (true, true)] {
            for (bits, depth) in [(1, 1), (1, 4), (3, 1), (3, 4)] {
                let which =
                    format!("{policy} lazy {lazy} erases fail {erases_fail} bits {bits} depth {depth}");
                let mut cfg = config(MappingUnit::Page, Superblock::None, policy, lazy);
                let g = &mut cfg.geometry;
                (g.channels, g.planes_per_die, g.blocks_per_plane) = (1, 1, 29);
                (g.wordlines_per_block, g.bits_per_cell) = (4, bits);
                cfg.drive.over_provisioning_percent = 16.0;
                cfg.reliability.lock_fail_ppm = 1_000_000.0;
                cfg.reliability.erase_fail_ppm = if erases_fail { 1_000_000.0 } else { 0.0 };
                cfg.sanitize.set("acknowledge", &Value::Text("every_write".to_owned())).unwrap();
                let mut drive = Drive::new(&cfg).unwrap();
                let (units, mut rng) = (drive.logical_units(), Rng::named(7, "load"));
                let sectors = drive.unit_bytes() / 512;
                drive.fill(0, units).unwrap();
                for tag in 0..200 {
                    let lba = Lba(u64::from(sectors) * u64::from(rng.below(units - 8)));
                    let sectors = sectors * (1 + rng.below(8));
                    let write = Command { lba, sectors, tag, ..command_at(&drive) };
                    drive.submit(0, &write, drive.now()).unwrap();
                    while drive.outstanding() >= depth {
                        assert!(drive.advance_to_completion(), "{which}: stuck");
                        while drive.pop_completion().is_some() {}
                    }
                }
                drive.drain();
                while drive.pop_completion().is_some() {}
                assert_eq!(drive.outstanding(), 0, "{which}: stuck");
                let ended = drive.health().read_only;
                assert_eq!(ended.is_some(), erases_fail, "{which}: {ended:?}");
                drive.check().unwrap();
            }
        }
    }
}

fn command_at(drive: &Drive) -> Command {
    Command { op: OpCode::Write, arrival: drive.now(), ..Command::default() }
}

/// A page of four units is being programmed when two of them are trimmed: its spare area says what lies there, dead or
/// alive, under locks and without.
#[test]
fn what_is_trimmed_on_its_way_has_a_spare_area() {
    for policy in ["none", "page_lock"] {
        let cfg = config(MappingUnit::FourKib, Superblock::None, policy, false);
        let mut drive = Drive::new(&cfg).unwrap();
        let write = Command { fua: true, sectors: 32, ..command_at(&drive) };
        drive.submit(0, &write, drive.now()).unwrap();
        drive.advance_to(SimTime(100_000));
        assert_eq!(drive.outstanding(), 1, "it is being programmed");
        let trim = Command { op: OpCode::Trim, lba: Lba(8), sectors: 16, tag: 1, ..command_at(&drive) };
        drive.submit(0, &trim, drive.now()).unwrap();
        drive.drain();
        let spare = (0..drive.contents().units())
            .filter_map(|unit| Some((unit, drive.contents().spare_of(Pun(unit))?.lpn)));
        let told: Vec<_> =
            spare.map(|(unit, lpn)| (lpn.0, drive.contents().lives_at(lpn, Pun(unit)))).collect();
        // Under locks what lives has moved.
        for (lpn, is_alive) in [(0, true), (1, false), (2, false), (3, true)] {
            assert!(told.contains(&(lpn, is_alive)), "{policy}: {told:?}");
        }
        drive.check().unwrap();
    }
}

/// The same of a program that waits for its die: it has not begun, and programs nothing in the place of what is
/// trimmed.
#[test]
fn what_is_trimmed_before_its_turn_is_not_programmed() {
    for policy in ["none", "page_lock"] {
        let mut cfg = config(MappingUnit::Page, Superblock::None, policy, false);
        (cfg.geometry.channels, cfg.geometry.planes_per_die) = (1, 1);
        cfg.geometry.blocks_per_plane = 24;
        let mut drive = Drive::new(&cfg).unwrap();
        for tag in 0..2 {
            let write = Command { fua: true, lba: Lba(32 * tag), sectors: 32, tag, ..command_at(&drive) };
            drive.submit(0, &write, drive.now()).unwrap();
        }
        drive.advance_to(SimTime(100_000));
        assert_eq!(drive.outstanding(), 2, "one is being programmed, one waits");
        let trim = Command { op: OpCode::Trim, lba: Lba(32), sectors: 32, tag: 2, ..command_at(&drive) };
        drive.submit(0, &trim, drive.now()).unwrap();
        drive.drain();
        let spare = (0..drive.contents().units()).filter_map(|unit| drive.contents().spare_of(Pun(unit)));
        assert_eq!(spare.map(|spare| spare.lpn.0).collect::<Vec<_>>(), [0], "{policy}");
        assert_eq!(drive.stats().ftl.exposed_pages, 0, "{policy}: nothing was there to be exposed");
        drive.check().unwrap();
    }
}

/// One lane with little room, whose data dies all the time: wordlines are padded to be scrubbed, but not with pages
/// that cleaning needs to go on.
#[test]
fn scrubs_leave_moves_their_room() {
    let mut cfg = config(MappingUnit::FourKib, Superblock::All, "scrub", false);
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (64, 4);
    cfg.drive.over_provisioning_percent = 8.0;
    let mut drive = Drive::new(&cfg).unwrap();
    let (units, mut rng) = (drive.logical_units(), Rng::named(3, "load"));
    drive.fill(0, units).unwrap();
    let sectors = drive.unit_bytes() / 512;
    for tag in 0..6_000 {
        let lba = Lba(u64::from(sectors) * u64::from(rng.below(units)));
        drive.submit(0, &Command { lba, sectors, tag, ..command_at(&drive) }, drive.now()).unwrap();
        while drive.outstanding() >= 32 {
            assert!(drive.advance_to_completion(), "stuck");
            while drive.pop_completion().is_some() {}
        }
    }
    assert_eq!(drive.health().read_only, None);
}

/// Units in the order in which they are overwritten: at random, or one of each page before another of any, so that all
/// pages hold what is dead beside what lives.
fn orders(units: u32, seed: u64) -> [(&'static str, Vec<u32>); 2] {
    let mut rng = Rng::named(seed, "order");
    let at_random = (0..units).map(|_| rng.below(units)).collect();
    let spread = (0..4).flat_map(|first| (first..units).step_by(4)).collect();
    [("at random", at_random), ("spread", spread)]
}

/// Overwrites units while time passes, and reads some of the first, 32 at a time; false if the drive takes no more.
fn overwrite_in_time(drive: &mut Drive, order: &[u32]) -> bool {
    let sectors = drive.unit_bytes() / 512;
    for (tag, unit) in (0..).zip(order) {
        let lba = Lba(u64::from(sectors) * u64::from(*unit));
        drive.submit(0, &Command { lba, sectors, tag, ..command_at(drive) }, drive.now()).unwrap();
        let lba = Lba(u64::from(sectors) * (tag % 16));
        let read = Command { op: OpCode::Read, lba, sectors, tag, ..command_at(drive) };
        drive.submit(0, &read, drive.now()).unwrap();
        while drive.outstanding() >= 32 {
            if !drive.advance_to_completion() {
                return false;
            }
            while drive.pop_completion().is_some() {}
        }
    }
    drive.drain();
    drive.health().read_only.is_none()
}

/// Whatever dies, and in whatever order: locks that need room for what lives beside the dead take none that the host
/// needs to go on; nor beside moves because of reads.
fn never_full(policy: &str) {
    never_full_beside(policy, "never", &[true, false]);
    never_full_beside(policy, "block", &[true]);
    if is_soak() {
        never_full_beside(policy, "page_type", &[true]);
    }
}

fn never_full_beside(policy: &str, reclaim: &str, times: &[bool]) {
    let (mut full, mut reclaims) = (Vec::new(), 0);
    for superblock in [Superblock::None, Superblock::Planes, Superblock::All] {
        for unit in [MappingUnit::Page, MappingUnit::FourKib] {
            for (spare, &in_time) in
                [7.0, 28.0].into_iter().flat_map(|spare| times.iter().map(move |it| (spare, it)))
            {
                let mut cfg = config(unit, superblock, policy, false);
                (cfg.geometry.channels, cfg.geometry.blocks_per_plane) = (1, 64);
                every::choose(&mut cfg, "ftl.read_reclaim", reclaim);
                cfg.drive.over_provisioning_percent = spare;
                if reclaim != "never" {
                    cfg.errors.model = ErrorModel::Cells;
                    cfg.read_reclaim.set("max_reads", &Value::Integer(40)).unwrap();
                }
                let mut drive = Drive::new(&every::fitted(cfg).unwrap()).unwrap();
                let all = drive.logical_units();
                drive.fill(0, all).unwrap();
                let seeds = 3..3 + soaked(1);
                for (order, units) in seeds.flat_map(|seed| orders(all, seed)) {
                    let goes_on = if in_time {
                        overwrite_in_time(&mut drive, &units)
                    } else {
                        units.chunks(64).all(|some| drive.overwrite(some).is_ok())
                    };
                    if !goes_on {
                        full.push(format!("{unit:?} {superblock:?} {spare} % {order}, in time: {in_time}"));
                    }
                }
                drive.check().unwrap();
                reclaims += drive.stats().ftl.reclaims;
            }
        }
    }
    assert!(full.is_empty(), "{policy} {reclaim}: {full:#?}");
    assert_eq!(reclaims > 0, reclaim == "block", "{policy} {reclaim}: {reclaims} blocks");
}

#[test]
fn a_healthy_drive_is_never_full_under_page_lock() {
    never_full("page_lock");
}

#[test]
fn a_healthy_drive_is_never_full_under_page_and_block_lock() {
    never_full("page_and_block_lock");
}

#[test]
fn a_healthy_drive_is_never_full_under_erase() {
    never_full("erase");
}

#[test]
fn a_healthy_drive_is_never_full_under_scrub() {
    never_full("scrub");
}

#[test]
fn a_healthy_drive_is_never_full_under_reprogram() {
    never_full("reprogram");
}
