//! Data sorted by the class of pages (`ftl.page_class`): where it ends up, what reads count, what drains a queue.

use ssd::config::{Table, Value};
use ssd::flash::op::{Cause, OpKind};
use ssd::observe::Effect;
use ssd::sections::{MappingUnit, MovesOfFirst};
use ssd::units::Pun;
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};

/// One plane of QLC blocks of four wordlines, a page a mapping unit; nothing is kept in DRAM but what the queue holds.
fn config(blocks: u32) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (blocks, 4, 4);
    (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 60.0);
    cfg.allocation.moves = MovesOfFirst::Joined;
    cfg.page_class.select("read_heat").unwrap();
    for (key, value) in [("size_mib", 0.25), ("flush_start_percent", 0.0), ("flush_stop_percent", 0.0)] {
        cfg.buffer.set(key, &Value::Float(value)).unwrap();
    }
    cfg
}

fn set(cfg: &mut DriveConfig, key: &str, value: Value) {
    cfg.page_class.set(key, &value).unwrap();
}

fn send(drive: &mut Drive, op: OpCode, unit: u32, fua: bool) {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(unit) * u64::from(sectors));
    let command = Command { op, fua, lba, sectors, arrival: drive.now(), ..Command::default() };
    drive.submit(0, &command, drive.now()).unwrap();
    assert!(drive.advance_to_completion());
    drive.pop_completion().unwrap();
}

/// Units in the order of their programs, with their places.
fn programmed(drive: &mut Drive) -> Vec<(u32, u32)> {
    drive.drain();
    let mut found = Vec::new();
    while let Some(effect) = drive.pop_effect() {
        if let Effect::Program { lpn, to: Pun(to), .. } = effect {
            found.push((lpn.0, to % 4));
        }
    }
    found
}

/// By hand: a queue of 12 units, four of heat 3 (class 0), eight of heat 0 (class 3), written in turn; two queues stay
/// empty. The next writes push them out in the order of pages, and FLUSH what is left.
#[test]
fn twelve_units_go_to_the_pages_they_deserve() {
    let mut cfg = config(24);
    set(&mut cfg, "queue_blocks", Value::Float(0.75));
    set(&mut cfg, "p", Value::List(vec![Value::Float(1.0); 3]));
    let mut drive = Drive::new(&cfg).unwrap();
    drive.set_executor(Executor::Functional);
    drive.record_effects(true);
    let hot = [0, 3, 6, 9];
    for unit in hot {
        (0..3).for_each(|_| send(&mut drive, OpCode::Read, unit, false));
    }
    (0..11).for_each(|unit| send(&mut drive, OpCode::Write, unit, false));
    assert_eq!(programmed(&mut drive), [], "the queue is not full");
    send(&mut drive, OpCode::Write, 11, false);
    assert_eq!(programmed(&mut drive), [(0, 0)]);
    // P_b and P_c are nearest to class 0 and class 3.
    for (write, expected) in [(12, (3, 1)), (13, (1, 2)), (14, (2, 3)), (15, (6, 0))] {
        send(&mut drive, OpCode::Write, write, false);
        assert_eq!(programmed(&mut drive), [expected]);
    }
    // The queue absorbs what is written again and again.
    (0..5).for_each(|_| send(&mut drive, OpCode::Write, 15, false));
    assert_eq!(programmed(&mut drive), []);
    drive.flush_buffer();
    let rest = [(9, 1), (4, 2), (5, 3), (7, 0), (8, 1), (10, 2), (11, 3), (12, 0), (13, 1), (14, 2), (15, 3)];
    assert_eq!(programmed(&mut drive), rest);
    let counts = drive.stats().ftl;
    // Own: 0 and 6 on P_a; 2, 5, 11 and 15 on P_d.
    assert_eq!((counts.class_matched, counts.class_neighbour, counts.class_queued_max), (6, 10, 12));
    assert_eq!((counts.heat_raises, counts.heat_lowers), (12, 0));
    drive.check().unwrap();
}

/// What somebody waits for goes before all others of its class, and drains no more than it must.
#[test]
fn fua_drains_only_up_to_its_own() {
    let mut drive = Drive::new(&config(24)).unwrap();
    drive.record_effects(true);
    (0..20).for_each(|unit| send(&mut drive, OpCode::Write, unit, false));
    assert_eq!(programmed(&mut drive), []);
    send(&mut drive, OpCode::Write, 30, true);
    assert_eq!(programmed(&mut drive), [(30, 0)]);
    // A unit in the queue is written again by somebody who waits.
    send(&mut drive, OpCode::Write, 7, true);
    assert_eq!(programmed(&mut drive), [(7, 1)]);
}

/// A read counts once for each unit of a command, whether its data is in DRAM or in flash, or is read at once; merges
/// and moves do not count.
#[test]
fn reads_of_the_host_count_once_a_unit() {
    let mut cfg = config(24);
    set(&mut cfg, "p", Value::List(vec![Value::Float(1.0); 3]));
    let mut drive = Drive::new(&cfg).unwrap();
    drive.set_executor(Executor::Functional);
    drive.fill(0, 200).unwrap();
    let raises = |drive: &Drive| drive.stats().ftl.heat_raises;
    let sectors = u64::from(drive.unit_bytes() / 512);
    let read = Command {
        op: OpCode::Read,
        lba: Lba(3 * sectors),
        sectors: 4 * sectors as u32,
        ..Command::default()
    };
    drive.submit(0, &read, drive.now()).unwrap();
    drive.drain();
    drive.pop_completion().unwrap();
    assert_eq!(raises(&drive), 4, "units 3 to 6");
    assert!(drive.read_at_once(Lba(3 * sectors), 1).is_some());
    assert_eq!(raises(&drive), 5, "at once");
    send(&mut drive, OpCode::Write, 10, false);
    send(&mut drive, OpCode::Read, 10, false);
    assert_eq!(raises(&drive), 6, "from the queue");
    // Half a unit is merged with what flash has.
    let half = Command { op: OpCode::Write, lba: Lba(20 * sectors), sectors: 4, ..Command::default() };
    drive.submit(0, &half, drive.now()).unwrap();
    drive.drain();
    drive.pop_completion().unwrap();
    drive.flush_buffer();
    let mut rng = ssd::rng::Rng::named(1, "writes");
    for _ in 0..4_000 {
        send(&mut drive, OpCode::Write, 50 + rng.below(150), false);
    }
    let stats = drive.stats();
    assert!(stats.flash.ops[OpKind::Read as usize][Cause::Merge as usize] > 0);
    assert!(stats.flash.ops[OpKind::Read as usize][Cause::Cleaning as usize] > 0);
    assert_eq!(raises(&drive), 6);
    let report = drive.reports().page_classes();
    assert_eq!(report.levels.iter().sum::<u64>(), u64::from(drive.logical_units()));
    assert_eq!(report.table_bytes, u64::from(drive.logical_units()).div_ceil(4));
}

/// A lane that is cleaned keeps what it moves until its queue is full or nothing more comes; then all of it goes on,
/// and the blocks that it came from are erased.
#[test]
fn moves_wait_in_queues_and_do_not_stay_there() {
    for executor in [Executor::Timed, Executor::Functional] {
        let mut cfg = config(40);
        cfg.cleaning.reserve_blocks = 4;
        let mut drive = Drive::new(&cfg).unwrap();
        drive.set_executor(executor);
        drive.fill(0, drive.logical_units()).unwrap();
        let mut rng = ssd::rng::Rng::named(1, "moves");
        for _ in 0..8_000 {
            let unit = rng.below(drive.logical_units());
            send(&mut drive, if rng.below(2) == 0 { OpCode::Write } else { OpCode::Read }, unit, false);
        }
        drive.drain();
        drive.check().unwrap();
        let counts = drive.stats().ftl;
        assert!(counts.moved_units[Cause::Cleaning as usize] > 1_000, "{executor:?}");
        assert!(counts.class_matched > 2_000, "{executor:?}: {counts:?}");
        assert!(counts.heat_lowers > 100 && counts.class_queued_max >= 32, "{executor:?}");
        // Saved in the middle of it, it goes on alike.
        let mut bytes = Vec::new();
        drive.save(&mut bytes).unwrap();
        let mut twin = Drive::restore(&cfg, &bytes).unwrap();
        for drive in [&mut drive, &mut twin] {
            let mut rng = ssd::rng::Rng::named(2, "moves");
            for _ in 0..2_000 {
                let unit = rng.below(drive.logical_units());
                send(drive, if rng.below(2) == 0 { OpCode::Write } else { OpCode::Read }, unit, false);
            }
            drive.drain();
        }
        assert_eq!((drive.event_hash(), drive.stats()), (twin.event_hash(), twin.stats()));
        assert_eq!(drive.reports().page_classes(), twin.reports().page_classes());
    }
}

/// What cannot be is named with what could.
#[test]
fn errors_name_their_keys() {
    let error = |change: &dyn Fn(&mut DriveConfig)| {
        let mut cfg = config(24);
        change(&mut cfg);
        cfg.validate().unwrap_err().to_string()
    };
    let with = |key: &'static str, value: Value| error(&move |cfg| drop(cfg.page_class.set(key, &value)));
    let has = |error: String, words: &[&str]| {
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    has(with("queue_blocks", Value::Float(0.2)), &["queue of 3 mapping units", "4 classes", "at least 4"]);
    has(
        with("bits", Value::Integer(3)),
        &["3 probabilities", "3 bits", "7, one for each", "ftl.page_class.p"],
    );
    has(with("p", Value::List(vec![Value::Float(1.0)])), &["1 probabilities", "3, one for each"]);
    has(
        error(&|cfg| cfg.allocation.placement = ssd::sections::Placement::Static),
        &["placement", "each logical page has a plane"],
    );
    let refuses = |key: &str, value: Value| {
        let mut cfg = config(24);
        format!(
            "{:?}",
            cfg.page_class
                .set(key, &value)
                .and_then(|()| match cfg.page_class.check().pop() {
                    Some((_, problem)) => Err(problem),
                    None => Ok(()),
                })
                .unwrap_err()
        )
    };
    for (key, value) in [
        ("bits", Value::Integer(0)),
        ("bits", Value::Integer(9)),
        ("p", Value::List(vec![Value::Float(1.5), Value::Float(0.1), Value::Float(0.0)])),
        ("p", Value::List(vec![Value::Float(-0.1), Value::Float(0.1), Value::Float(0.0)])),
    ] {
        assert!(
            refuses(key, value.clone()).contains("Range"),
            "{key} = {value}: {}",
            refuses(key, value.clone())
        );
    }
}

/// What looks ahead is told beforehand, or writes nothing.
#[test]
fn without_foresight_the_oracle_writes_nothing() {
    let mut cfg = config(24);
    cfg.page_class.select("oracle").unwrap();
    let mut drive = Drive::new(&cfg).unwrap();
    assert_eq!(drive.ahead().key(), Some("ftl.page_class.policy"));
    let sectors = drive.unit_bytes() / 512;
    let write = Command { op: OpCode::Write, lba: Lba(0), sectors, ..Command::default() };
    let status = |drive: &mut Drive, command: &Command| {
        drive.submit(0, command, drive.now()).unwrap();
        assert!(drive.advance_to_completion());
        drive.pop_completion().unwrap().status
    };
    assert!(drive.ahead().is_lacking());
    assert_eq!(status(&mut drive, &write), ssd::Status::NotForeseen);
    let mut foreseeing = drive.ahead().begin();
    let read = Command { op: OpCode::Read, ..write };
    let scrub = Command { hints: ssd::Hints { one_time: true, ..ssd::Hints::default() }, ..read };
    [write, read, scrub].iter().for_each(|command| foreseeing.take(command).unwrap());
    drive.foresee(foreseeing.finish()).unwrap();
    let told = drive.ahead().told().unwrap();
    assert_eq!((told.deaths(), told.reads_of(ssd::Lpn(0))), (1, &[1][..]), "a scrub says nothing");
    assert_eq!(
        [write, read, write].map(|command| status(&mut drive, &command) == ssd::Status::Ok),
        [true, true, false]
    );
}

/// A read that is said to be the only one raises no heat.
#[test]
fn scrubs_count_for_nothing() {
    let mut drive = Drive::new(&config(24)).unwrap();
    drive.set_executor(Executor::Functional);
    drive.fill(0, 8).unwrap();
    let sectors = drive.unit_bytes() / 512;
    let read = Command { op: OpCode::Read, lba: Lba(0), sectors, ..Command::default() };
    let scrub = Command { hints: ssd::Hints { one_time: true, ..ssd::Hints::default() }, ..read };
    for (command, raises) in [(scrub, 0), (read, 1), (scrub, 1)] {
        drive.submit(0, &command, drive.now()).unwrap();
        drive.drain();
        drive.pop_completion().unwrap();
        assert_eq!(drive.stats().ftl.heat_raises, raises);
    }
}
