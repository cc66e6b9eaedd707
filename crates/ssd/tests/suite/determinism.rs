//! The same seed, configuration and commands give the same event hash: twice, in another process, watched or not.

use crate::support;

use ssd::sections::{ChannelOrder, Issue, MappingUnit};
use ssd::{Drive, DriveConfig, Executor};
use std::path::Path;
use std::process::Command;
use support::habits::with_habits;
use support::{Load, small, with_every_policy, with_policy};

/// Names the snapshot that a child process is to go on from.
const CHILD: &str = "WORDLINE_TEST_CONTINUE";
const COMMANDS: u64 = 6_000;

fn run(cfg: &DriveConfig, executor: Executor) -> u64 {
    let mut drive = Drive::new(cfg).unwrap();
    drive.set_executor(executor);
    Load::new(1).run(&mut drive, COMMANDS);
    drive.drain();
    assert!(drive.stats().ftl.reclaimed_blocks > 0, "the load is to make the drive clean");
    drive.event_hash()
}

#[test]
fn twice_the_same_under_every_policy() {
    for (policy, cfg) in with_every_policy() {
        for executor in [Executor::Timed, Executor::Functional] {
            assert_eq!(run(&cfg, executor), run(&cfg, executor), "{policy} {executor:?}");
            let cfg = with_habits(cfg.clone());
            assert_eq!(run(&cfg, executor), run(&cfg, executor), "{policy} {executor:?}, habits");
        }
    }
}

#[test]
fn the_seed_matters_where_chance_does() {
    let hash = |change: &dyn Fn(&mut DriveConfig), policy, seed| {
        let mut cfg = with_policy("gc_victim", policy);
        cfg.drive.seed = seed;
        change(&mut cfg);
        run(&cfg, Executor::Timed)
    };
    let sound = |_: &mut DriveConfig| {};
    let faulty = |cfg: &mut DriveConfig| cfg.reliability.program_fail_ppm = 300.0;
    assert_eq!(hash(&sound, "greedy", 1), hash(&sound, "greedy", 2));
    assert_ne!(hash(&faulty, "greedy", 1), hash(&faulty, "greedy", 2));
    assert_ne!(hash(&sound, "random", 1), hash(&sound, "random", 2));
    assert_ne!(hash(&sound, "d_choices", 1), hash(&sound, "d_choices", 2));
}

#[test]
fn a_stream_of_one_component_disturbs_no_other() {
    // Erase failures that never happen draw from a stream of their own: everything else stays as it was.
    let mut cfg = with_policy("gc_victim", "random");
    let without = run(&cfg, Executor::Timed);
    cfg.reliability.erase_fail_ppm = 1e-6;
    assert_eq!(run(&cfg, Executor::Timed), without);
}

/// A unit as large as a page is a page, whatever it is called.
#[test]
fn a_unit_of_a_page_is_a_page() {
    let units =
        [MappingUnit::FourKib, MappingUnit::SixteenKib, MappingUnit::ThirtyTwoKib, MappingUnit::SixtyFourKib];
    for unit in units {
        let hash = |unit, bytes, executor| {
            let mut cfg = small();
            (cfg.mapping.unit, cfg.geometry.page_bytes) = (unit, bytes);
            run(&cfg, executor)
        };
        for executor in [Executor::Timed, Executor::Functional] {
            let bytes = unit.bytes().unwrap();
            assert_eq!(
                hash(unit, bytes, executor),
                hash(MappingUnit::Page, bytes, executor),
                "{} {executor:?}",
                unit.name()
            );
        }
    }
}

#[test]
fn watching_changes_nothing() {
    for (policy, cfg) in with_every_policy() {
        let mut drive = Drive::new(&cfg).unwrap();
        drive.record_effects(true);
        let mut load = Load::new(1);
        for _ in 0..COMMANDS / 100 {
            load.run(&mut drive, 100);
            while drive.pop_effect().is_some() {}
        }
        let mut blind = Drive::new(&cfg).unwrap();
        let mut load = Load::new(1);
        (0..COMMANDS / 100).for_each(|_| load.run(&mut blind, 100));
        assert_eq!(drive.event_hash(), blind.event_hash(), "{policy}");
    }
}

/// Goes on with a drive, whatever it has under way.
fn continued(drive: &mut Drive) -> u64 {
    Load::new(2).run(drive, COMMANDS);
    drive.drain();
    drive.event_hash()
}

#[test]
fn a_snapshot_goes_on_in_another_process() {
    let cfg = small();
    if let Some(path) = std::env::var_os(CHILD) {
        let mut drive = Drive::restore(&cfg, &std::fs::read(path).unwrap()).unwrap();
        println!("hash {:016x}.", continued(&mut drive));
        return;
    }
    let mut drive = Drive::new(&cfg).unwrap();
    Load::new(1).run(&mut drive, COMMANDS);
    assert!(drive.outstanding() > 0 && drive.next_event_at().is_some(), "something is to be under way");
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("determinism-{}.snapshot", std::process::id()));
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "determinism::a_snapshot_goes_on_in_another_process", "--nocapture"])
        .env(CHILD, &path)
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let expected = format!("hash {:016x}.", continued(&mut drive));
    assert!(
        output.status.success() && text.contains(&expected),
        "{expected} expected, the other process says:\n{text}"
    );
}

/// Event hashes of three drives. If a commit changes one, the numbers that users see change too: say which, and why,
/// under "Results change" in CHANGELOG.md.
const GOLDEN: [u64; 3] = [0xc5dd_7d8a_9eaf_0f34, 0x418b_c12b_66a4_19c9, 0x2a75_bce3_3bf5_1dd1];
/// The same with MQSim's habits: both, planes of their own alone, data first alone.
const HABITS: [u64; 3] = [0x8986_c5bb_7386_aa47, 0x40e1_39e9_9da3_da57, 0xe8f1_3a1a_99a1_6bca];

#[test]
fn the_golden_hashes_hold() {
    if !support::every::has("ftl.migration") {
        return;
    }
    let mut pages = small();
    pages.mapping.unit = MappingUnit::Page;
    (pages.scheduling.multi_plane, pages.allocation.issue) = (false, Issue::Page);
    pages.timing.cache_operations = true;
    pages.section_mut("ftl.migration").unwrap().select("copyback_always").unwrap();
    let mut faulty = with_policy("buffer", "none");
    faulty.reliability.program_fail_ppm = 300.0;
    faulty.reliability.erase_fail_ppm = 2_000.0;
    let (mut placed, mut data_first) = (with_habits(pages.clone()), with_policy("buffer", "none"));
    placed.scheduling.channel = ChannelOrder::CommandsFirst;
    data_first.scheduling.channel = ChannelOrder::DataFirst;
    let habits = [with_habits(small()), placed, data_first].map(|cfg| run(&cfg, Executor::Timed));
    let hashes = [small(), pages, faulty].map(|cfg| run(&cfg, Executor::Timed));
    assert_eq!(hashes, GOLDEN, "found {hashes:#018x?}");
    assert_eq!(habits, HABITS, "found {habits:#018x?}");
    assert_ne!(habits[2], run(&with_policy("buffer", "none"), Executor::Timed));
}
