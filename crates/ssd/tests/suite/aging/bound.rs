//! The bound of BoundedRead (RealWear section 3.4): with voltages by the age that RealWear tells, no read whose page
//! the best voltages would leave 4 bits takes more than three attempts.

use crate::aging::support::config;
use crate::support::every::{has, select};
use crate::support::is_soak;
use ssd::config::Table;
use ssd::nand::cell::{CellModel, CellPart};
use ssd::sections::{DisturbLaw, ErrorModel};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};

/// Ages of drives as RealWear has them, in cycles: child, young adult and old adult, 10, 20 and 50 % of 12,300 cycles.
const STAGES: [(&str, u32); 3] = [("child", 1_230), ("young adult", 2_460), ("old adult", 6_150)];

/// 4 planes of 30 blocks whose ages are known, read by a policy.
fn by(policy: &str) -> DriveConfig {
    let mut cfg = config();
    (cfg.geometry.channels, cfg.geometry.blocks_per_plane) = (2, 30);
    cfg.errors.variation = true;
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
    select(&mut cfg, "ftl.age_marker", "real_wear");
    cfg.read_voltage.select(policy).expect("a policy");
    cfg.buffer.select("none").expect("a policy");
    cfg
}

fn aged(policy: &str, steps: &[String]) -> Drive {
    of(&by(policy), steps)
}

fn of(cfg: &DriveConfig, steps: &[String]) -> Drive {
    let mut drive = Drive::new(cfg).expect("a drive");
    drive.fill(0, drive.logical_units()).expect("room");
    for step in steps {
        drive.age(&step.parse().expect("a step")).expect("room in the tables");
    }
    drive.reset_stats();
    drive
}

/// Pages with data, and those of them that the bound does not speak of: the true age of their block lies beyond what
/// the marker is off, or the best voltages leave less than so many bits.
fn pages(drive: &Drive, spare_bits: u32) -> (u64, u64, u64) {
    let cells = CellModel::preset("tlc_48l").expect("a shipped part");
    let m = &cells.part().markers;
    let safety = m.guard_bits * m.real_wear[3];
    let (mut all, mut misjudged, mut tight) = (0, 0, 0);
    for block in 0..drive.chips().blocks() {
        let range = f64::from((drive.blocks().age_q12(block) * 10 / 4_096).min(9));
        let edge = |age: f64, off: f64| cells.wear_of_n12(age / 10.0 * 64.0 + off - safety);
        let wear = f64::from(drive.chips().true_wear(block).expect("cells that age").equivalent_cycles) / 1e3;
        let is_inside =
            edge(range, m.real_wear_off[0]) <= wear && wear <= edge(range + 1.0, m.real_wear_off[6]);
        for page in 0..drive.chips().programmed_pages(block) {
            let margin = drive.chips().margin(block, page).expect("cells that age");
            all += 1;
            misjudged += u64::from(!is_inside);
            tight += u64::from(is_inside && margin.bits_q8 + spare_bits * 256 > margin.limit_q8);
        }
    }
    (all, misjudged, tight)
}

/// Reads all data once; page reads by attempts that failed, and those beyond the bound.
fn read_all(drive: &mut Drive) -> (Vec<u64>, u64) {
    drive.set_executor(Executor::Functional);
    let unit = u64::from(drive.unit_bytes() / 512);
    let sectors = 4 * unit;
    for at in (0..drive.logical_sectors() / sectors).map(|n| n * sectors) {
        let command = Command {
            op: OpCode::Read,
            lba: Lba(at),
            sectors: sectors as u32,
            arrival: drive.now(),
            ..Command::default()
        };
        drive.submit(0, &command, drive.now()).expect("an empty queue");
        drive.drain();
        while drive.pop_completion().is_some() {}
    }
    let flash = drive.stats().flash;
    assert_eq!(flash.bound_broken, 0, "reads that were promised to take three attempts at most");
    (flash.retries.to_vec(), flash.beyond_bound)
}

fn beyond_two(retries: &[u64]) -> u64 {
    retries[3..].iter().sum()
}

#[test]
fn no_read_takes_more_than_three_attempts_whatever_the_stage() {
    if !has("ftl.age_marker") {
        return;
    }
    let mut others = [0; 2];
    for (stage, cycles) in STAGES {
        for (months, reads) in [(0, 0), (1, 0), (12, 0), (12, 100_000)] {
            let mut steps = vec![format!("cycle to {cycles}")];
            steps.extend((months > 0).then(|| format!("retain {months} months")));
            steps.extend((reads > 0).then(|| format!("disturb {reads} reads")));
            let mut drive = aged("table_by_age", &steps);
            let (all, misjudged, tight) = pages(&drive, 4);
            let (retries, beyond) = read_all(&mut drive);
            let what = format!("{stage}, {steps:?}: {all} pages, {misjudged} misjudged, {tight} tight");
            for (policy, count) in ["default_sequence", "table_by_cycles"].iter().zip(&mut others) {
                let (retries, beyond) = read_all(&mut aged(policy, &steps));
                assert_eq!(beyond, 0, "{policy} has no bound");
                *count += beyond_two(&retries);
            }
            assert!(misjudged * 20 <= all && tight * 100 <= all, "{what}");
            assert!(beyond_two(&retries) <= misjudged + tight, "{what}: {retries:?}");
            assert_eq!(retries.iter().sum::<u64>(), all, "{what}: {retries:?}");
            assert!(beyond <= misjudged + tight, "{what}: {beyond} beyond the bound");
        }
    }
    assert!(others[0] > 10_000 && others[1] > 30, "{others:?}");
}

/// The same where reads move the erased state, up to all the reads that blocks endure: what has 7 bits to spare takes
/// three attempts at most.
#[test]
fn what_reads_have_moved_takes_no_more_than_three_attempts() {
    if !has("ftl.age_marker") {
        return;
    }
    let by_law = |policy: &str, steps: &[String]| {
        let mut cfg = by(policy);
        cfg.errors.disturb_law = DisturbLaw::Voltage;
        of(&cfg, steps)
    };
    let (mut read, mut others) = (0, 0);
    // The younger stage in `make soak`.
    let stages = if is_soak() { &[STAGES[0], STAGES[2]][..] } else { &STAGES[2..] };
    for &(stage, cycles) in stages {
        for (months, reads) in [(0, 130_000), (1, 110_000), (12, 90_000)] {
            let mut steps = vec![format!("cycle to {cycles}"), format!("disturb {reads} reads")];
            steps.extend((months > 0).then(|| format!("retain {months} months")));
            let mut drive = by_law("table_by_age", &steps);
            let (all, misjudged, tight) = pages(&drive, 7);
            let (retries, beyond) = read_all(&mut drive);
            let what = format!("{stage}, {steps:?}: {all} pages, {misjudged} misjudged, {tight} tight");
            let default = read_all(&mut by_law("default_sequence", &steps)).0;
            others += beyond_two(&default);
            assert!(misjudged * 20 <= all, "{what}");
            assert!(beyond_two(&retries) <= misjudged + tight, "{what}: {retries:?}");
            assert!(beyond <= misjudged + tight, "{what}: {beyond} beyond the bound");
            read += all - misjudged - tight;
        }
    }
    assert!(read > 10_000 && others > 3_500, "{read} pages, {others} reads of the retry table");
}

/// A snapshot keeps the ages that voltages are chosen by.
#[test]
fn a_snapshot_keeps_the_ages_of_blocks() {
    if !has("ftl.age_marker") {
        return;
    }
    let mut drive = aged("table_by_age", &["cycle to 6150".to_owned(), "retain 12 months".to_owned()]);
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("room");
    let mut restored = Drive::restore(&by("table_by_age"), &bytes).expect("a snapshot");
    assert_eq!(read_all(&mut restored), read_all(&mut drive));
    assert_eq!(restored.event_hash(), drive.event_hash());
}

/// Voltages by age need ages that estimate errors, and cells that age.
#[test]
fn what_does_not_go_with_voltages_by_age_is_refused() {
    if !has("ftl.age_marker") {
        return;
    }
    let refused = |change: fn(&mut DriveConfig), words: [&str; 2]| {
        let mut cfg = by("table_by_age");
        change(&mut cfg);
        let said = Drive::new(&cfg).expect_err("refused").to_string();
        for word in words.into_iter().chain(["flash.read_voltage.policy"]) {
            assert!(said.contains(word), "{word}: {said}");
        }
    };
    let marker = "ftl.age_marker.policy";
    refused(|cfg| select(cfg, "ftl.age_marker", "none"), [marker, "\"none\", which estimates no errors"]);
    refused(|cfg| select(cfg, "ftl.age_marker", "pe_cycles"), [marker, "real_wear"]);
    refused(
        |cfg| {
            cfg.errors.model = ErrorModel::None;
            select(cfg, "ftl.age_marker", "none");
        },
        ["nand.errors.model", "cells that do not age"],
    );
    // A marker that is far off: the first cell that three sets do not cover is named.
    refused(
        |cfg| cfg.cells.markers.real_wear_off = vec![-30.0, 0.0, 0.0, 0.0, 0.0, 0.0, 30.0],
        ["the cell of ages from", "group"],
    );
}
