//! Refresh: what is old is written anew, and nothing else, wherever time passes.

use crate::config::{Table, Value};
use crate::flash::op::Cause;
use crate::sections::{ErrorModel, Errors};
use crate::{Command, Drive, DriveConfig, Executor, Lba, OpCode, SimTime, Status};

const MINUTE_NS: u64 = 60_000_000_000;

/// Data is written anew after so many days.
fn after(days: f64) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block) = (8, 48);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    cfg.drive.over_provisioning_percent = 110.0;
    cfg.refresh.select("by_age").expect("a policy");
    cfg.refresh.set("max_age_days", &Value::Float(days)).expect("a parameter");
    cfg
}

/// A drive that is full of data, and knows no time.
fn full(cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).expect("a drive");
    drive.set_executor(Executor::Functional);
    drive.fill(0, drive.logical_units()).expect("room");
    drive
}

fn retain(drive: &mut Drive, text: &str) {
    drive.age(&format!("retain {text} at 30 C").parse().expect("a step")).expect("room in the tables");
}

/// Units that were written anew.
fn renewed(drive: &Drive) -> u64 {
    drive.stats().ftl.moved_units[Cause::Refresh as usize]
}

#[test]
fn all_that_is_old_moves_once_and_nothing_that_is_young() {
    let mut drive = full(&after(90.0));
    let units = u64::from(drive.logical_units());
    retain(&mut drive, "89 days");
    assert_eq!(renewed(&drive), 0);
    // A third of it is young when the rest grows old.
    let young = drive.logical_units() / 3;
    drive.overwrite(&(0..young).collect::<Vec<_>>()).expect("room");
    retain(&mut drive, "2 days");
    let old = units - u64::from(young);
    // A block holds both where it was open then.
    let per_block = u64::from(drive.blocks().lanes().units);
    let open = 2 * 2 * per_block;
    assert!((old..=old + open).contains(&renewed(&drive)), "{} of {old} old units", renewed(&drive));
    let before = renewed(&drive);
    retain(&mut drive, "40 days");
    assert_eq!(renewed(&drive), before, "nothing is older than 42 days");
    drive.check().expect("tables agree");
}

#[test]
fn nothing_is_written_anew_unless_it_is_asked_for() {
    let mut cfg = after(90.0);
    cfg.refresh.select("never").expect("a policy");
    let mut drive = full(&cfg);
    retain(&mut drive, "10 years");
    assert_eq!(drive.stats().ftl.moved_units.iter().sum::<u64>(), 0);
}

#[test]
fn cells_that_do_not_age_need_none() {
    let mut cfg = after(90.0);
    cfg.errors.model = ErrorModel::None;
    let text = Drive::new(&cfg).expect_err("no cells").to_string();
    assert!(text.contains("ftl.refresh.policy") && text.contains("nand.errors.model"), "{text}");
}

/// By hand: of a minute that has passed 16 ticks are counted, and data of 15 minutes (.0105 days) is due with the 15th.
#[test]
fn time_that_passes_while_the_host_reads_counts() {
    let mut cfg = after(0.0105);
    cfg.errors.temperature_c = 30.0;
    let mut drive = full(&cfg);
    drive.set_executor(Executor::Timed);
    let read = |drive: &mut Drive, minute: u64| {
        let at = SimTime(minute * MINUTE_NS);
        let command = Command { op: OpCode::Read, lba: Lba(0), sectors: 8, ..Command::default() };
        drive.submit(0, &command, at).expect("an empty queue");
        assert!(drive.advance_to_completion());
        drive.pop_completion().expect("a completion");
        drive.advance_to(SimTime(at.0 + MINUTE_NS / 2));
    };
    for minute in 1..=14 {
        read(&mut drive, minute);
    }
    assert_eq!(renewed(&drive), 0);
    read(&mut drive, 15);
    assert_eq!(renewed(&drive), u64::from(drive.logical_units()), "a full drive is written in half a minute");
    // Of a jump the drive hears at its end.
    drive.advance_to(SimTime(32 * MINUTE_NS));
    drive.advance_to(SimTime(33 * MINUTE_NS));
    // A block that took the last of the first round is as old as that, whatever came to it since.
    let twice = 2 * u64::from(drive.logical_units());
    let open = 2 * 2 * u64::from(drive.blocks().lanes().units);
    assert!((twice..=twice + open).contains(&renewed(&drive)), "{} of {twice} units", renewed(&drive));
    drive.check().expect("tables agree");
}

#[test]
fn a_snapshot_in_its_midst_goes_on_alike() {
    let cfg = after(90.0);
    let mut drive = full(&cfg);
    drive.set_executor(Executor::Timed);
    retain(&mut drive, "100 days");
    assert_eq!(renewed(&drive), 0, "not before time passes");
    drive.advance_to(drive.now());
    drive.advance_to(SimTime(drive.now().0 + 5_000_000));
    let begun = renewed(&drive);
    assert!((1..u64::from(drive.logical_units())).contains(&begun), "{begun} units");
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("room");
    let mut restored = Drive::restore(&cfg, &bytes).expect("a snapshot");
    for drive in [&mut drive, &mut restored] {
        drive.advance_to(SimTime(drive.now().0 + MINUTE_NS));
    }
    assert_eq!(restored.event_hash(), drive.event_hash());
    assert_eq!(renewed(&restored), renewed(&drive));
    assert_eq!(renewed(&drive), u64::from(drive.logical_units()));
}

/// What refresh is for: a drive that is on once a month loses nothing in five years at 55 degrees C, which it would.
#[test]
fn data_lives_for_as_long_as_the_drive_is_on_now_and_then() {
    let lost = |policy: &str| {
        let mut cfg = after(90.0);
        cfg.refresh.select(policy).expect("a policy");
        let mut drive = full(&cfg);
        drive.age(&"cycle to 3000".parse().expect("a step")).expect("room in the tables");
        for _ in 0..60 {
            drive.age(&"retain 1 month at 55 C".parse().expect("a step")).expect("room in the tables");
        }
        let mut bad = 0;
        for unit in 0..drive.logical_units() {
            let status = drive.read_at_once(Lba(u64::from(unit) * 8), 8).expect("it is in flash");
            bad += u64::from(status != Status::Ok);
        }
        (bad, drive.blocks().wear().total)
    };
    let (never, by_age) = (lost("never"), lost("by_age"));
    assert!(never.0 > 0, "without it nothing is lost");
    assert_eq!(by_age.0, 0);
    assert!(by_age.1 > never.1, "which wears the drive");
}
