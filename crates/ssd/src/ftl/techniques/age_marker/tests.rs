//! Ages of blocks, as the firmware's markers tell them: by hand, against the truth, and what follows from them.

use super::*;
use crate::config::{Table, Value};
use crate::flash::op::{Cause, OpKind};
use crate::sections::{CellPart, Errors};
use crate::{Command, Drive, DriveConfig, Lba, OpCode, SimDuration};

pub(crate) fn cells() -> CellModel {
    CellModel::preset("tlc_48l").expect("a shipped part")
}

#[test]
fn an_estimate_is_a_constant_and_factors() {
    let estimate = Estimate::new(&cells(), 8.0, &[0.016, 2.0, 0.0]);
    // 8 + 16 + 8 of 64 bits.
    assert_eq!(estimate.age_q12([1_000, 4, 99, 7]), LIFE / 2);
    assert_eq!(Estimate::new(&cells(), -8.0, &[]).age_q12([1; 4]), 0);
    assert_eq!(Estimate::new(&cells(), 1e6, &[]).age_q12([1; 4]), 65_535);
}

#[test]
fn coefficients_are_of_the_cells_they_are_used_on() {
    let mut cfg = Sections::default();
    let said = |config: &Config, cfg: &Sections| wrong_cells(config, cfg).map(|misfit| misfit.found);
    let real_wear = Config::named("real_wear").expect("a member");
    assert!(said(&real_wear, &cfg).is_some_and(|found| found.contains("do not age")));
    cfg.errors.model = ErrorModel::Cells;
    assert!(said(&real_wear, &cfg).is_some_and(|found| found.contains("without the coefficients")));
    cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
    assert_eq!(said(&real_wear, &cfg), None);
    cfg.cells.population.growth_worst += 0.1;
    let found = wrong_cells(&real_wear, &cfg).expect("other cells");
    let own = cfg.cells.fingerprint().to_string();
    assert!(found.found.contains(&own) && found.allowed.contains("fit-markers"), "{found:?}");
    assert_eq!(said(&Config::named("pe_cycles").expect("a member"), &cfg), None);
}

#[test]
fn logarithms_of_dwells() {
    let ln = Logarithm::new(16, 180.0);
    for (minutes, wanted) in
        [(0.0, 0.0), (1.0, 0.0), (5.0, 1.609), (30.0, 3.401), (180.0, 5.193), (1e6, 5.193)]
    {
        let found = f64::from(ln.of_ticks((minutes * 16.0) as u32)) / 256.0;
        assert!((found - wanted).abs() < 0.006, "{minutes} {found}");
    }
}

/// Four planes of so many TLC blocks of 48 wordlines that differ, and what tells their age.
fn varied(blocks_per_plane: u32, marker: &str) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block) = (blocks_per_plane, 48);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: true, ..Errors::default() };
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
    cfg.age_marker.select(marker).expect("a marker");
    cfg
}

fn aged(cfg: &DriveConfig, steps: &[&str]) -> Drive {
    let mut drive = Drive::new(cfg).expect("a drive");
    for step in steps {
        drive.age(&step.parse().expect("a step")).expect("room in the tables");
    }
    drive
}

/// N12 less what the marker says of each block, in bits; what noise the marker adds for safety taken off.
fn off(drive: &Drive, model: &CellModel, safety: f64) -> Vec<f64> {
    let population = &model.part().population;
    let of_block = |block| {
        let wear = drive.chips().true_wear(block).expect("cells that age");
        let n12 = population.mean_n12 + population.mean_growth * f64::from(wear.equivalent_cycles) / 1e3;
        n12 - (f64::from(drive.blocks().age_q12(block)) / 64.0 - safety)
    };
    (0..drive.chips().blocks()).map(of_block).collect()
}

/// The estimate is off by no more than the fit says of its own blocks, and the noise of one measurement; where dwells
/// were long, too.
#[test]
fn real_wear_tells_how_worn_blocks_are() {
    let cfg = varied(60, "real_wear");
    let model = CellModel::new(cfg.cells.clone()).expect("a shipped part");
    let m = &cfg.cells.markers;
    let safety = m.guard_bits * m.real_wear[3];
    let noise = cfg.cells.effects.rtn_bits * m.real_wear[3] + 0.1;
    for steps in [
        &["cycle to 7000"][..],
        &["cycle to 9000 with 5 minutes dwell"],
        &["cycle to 4000", "cycle to 10000 with 30 minutes dwell"],
    ] {
        let off = off(&aged(&cfg, steps), &model, safety);
        let (low, high) = (m.real_wear_off[0] - noise, m.real_wear_off[6] + noise);
        assert!(off.iter().all(|off| (low..high).contains(off)), "{steps:?}: {low} to {high}: {off:?}");
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        assert!(mean.abs() < 1.5, "{steps:?}: {mean}");
    }
    // Cycles alone cannot tell blocks apart.
    let drive = aged(&varied(60, "pe_cycles"), &["cycle to 6000"]);
    assert!((0..drive.chips().blocks()).all(|block| drive.blocks().age_q12(block) == 3_072));
}

fn write_over(drive: &mut Drive, rounds: u64) {
    let sectors = u64::from(drive.unit_bytes() / 512);
    let units = u64::from(drive.logical_units());
    for tag in 0..rounds * units {
        while drive.outstanding() >= 16 {
            assert!(drive.advance_to_completion(), "stuck");
            while drive.pop_completion().is_some() {}
        }
        let lba = Lba(tag % units * sectors);
        let command = Command {
            op: OpCode::Write,
            lba,
            sectors: sectors as u32,
            tag,
            arrival: drive.now(),
            ..Command::default()
        };
        drive.submit(0, &command, drive.now()).expect("a place in the queue");
    }
    drive.drain();
    while drive.pop_completion().is_some() {}
}

/// Small blocks, so that they are erased often.
fn busy(policy: &str) -> DriveConfig {
    let mut cfg = varied(60, policy);
    cfg.geometry.wordlines_per_block = 8;
    cfg.geometry.blocks_per_plane = 24;
    cfg
}

/// Each block that is programmed anew has its first page read once; a snapshot in between changes nothing.
#[test]
fn first_pages_are_read_once_for_each_erase() {
    let cfg = busy("real_wear");
    let mut drive = Drive::new(&cfg).expect("a drive");
    write_over(&mut drive, 4);
    drive.check().expect("whole");
    let stats = drive.stats();
    let reads = stats.flash.ops[OpKind::Read as usize][Cause::AgeCheck as usize];
    let chips = drive.chips();
    let blocks = (0..chips.blocks())
        .map(|block| u64::from(chips.erase_count(block)) + u64::from(chips.programmed_pages(block) > 0));
    assert_eq!((reads, stats.techniques.age_marker.age_checks), (blocks.sum::<u64>(), reads));
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("room");
    let mut restored = Drive::restore(&cfg, &bytes).expect("a snapshot");
    for drive in [&mut drive, &mut restored] {
        write_over(drive, 1);
    }
    assert_eq!(restored.event_hash(), drive.event_hash());
    let ages = |drive: &Drive| (0..96).map(|block| drive.blocks().age_q12(block)).collect::<Vec<u32>>();
    assert_eq!(ages(&restored), ages(&drive));
    assert!(ages(&drive).iter().all(|&age| age > 0 && age < 2_048), "{:?}", ages(&drive));
}

/// A marker that reads no pages knows the program time from the first erase on: nobody dies young.
#[test]
fn young_blocks_are_taken_for_young() {
    for policy in ["pe_tprog", "pe_tprog_ber", "real_wear"] {
        let mut drive = Drive::new(&busy(policy)).expect("a drive");
        write_over(&mut drive, 4);
        let (counts, own) = (drive.stats().ftl, drive.stats().techniques.age_marker);
        assert_eq!(
            (own.age_retired, counts.age_q12_max < 4_096),
            (0, true),
            "{policy}: {}",
            counts.age_q12_max
        );
    }
}

/// A block is retired by the erase at which its cycles are used up, none lives longer, and nothing is lost by it.
#[test]
fn blocks_are_retired_at_the_end_of_their_lives() {
    let mut cfg = busy("pe_cycles");
    cfg.buffer.select("none").expect("a policy");
    let limit = Value::Integer(6);
    cfg.section_mut("ftl.age_marker").expect("a section").set("max_cycles", &limit).expect("a key");
    let mut drive = Drive::new(&cfg).expect("a drive");
    // Cold data in most blocks, so that few are erased.
    write_over(&mut drive, 1);
    let units = drive.logical_units();
    let sectors = u64::from(drive.unit_bytes() / 512);
    let mut tag = 0;
    while drive.stats().techniques.age_marker.age_retired < 4 {
        let lba = Lba(tag % u64::from(units / 10) * sectors);
        let command = Command {
            op: OpCode::Write,
            lba,
            sectors: sectors as u32,
            tag,
            arrival: drive.now(),
            ..Command::default()
        };
        drive.submit(0, &command, drive.now()).expect("an empty queue");
        drive.drain();
        while drive.pop_completion().is_some() {}
        drive.advance_to(drive.now() + SimDuration(1_000));
        tag += 1;
        assert!(tag < 200_000, "no block dies");
    }
    drive.check().expect("whole");
    let stats = drive.stats();
    assert_eq!(stats.ftl.retired_blocks, stats.techniques.age_marker.age_retired);
    let chips = drive.chips();
    let worn: Vec<u32> = (0..chips.blocks()).map(|block| chips.erase_count(block)).collect();
    assert_eq!(worn.iter().max(), Some(&6));
    let dead = worn.iter().filter(|&&cycles| cycles == 6).count() as u64;
    assert!(dead >= stats.techniques.age_marker.age_retired && stats.ftl.lost_units == 0);
    assert!(stats.ftl.age_q12_max >= 4_096);
}

/// What is kept of a block takes 14 bytes, beside its age.
#[test]
fn ages_cost_fourteen_bytes_a_block() {
    let bytes = |policy| Drive::new(&varied(60, policy)).expect("a drive").reports().table_bytes().all;
    assert_eq!(bytes("real_wear") - bytes("none"), 14 * 240);
}

/// A marker that cannot know is refused.
#[test]
fn markers_of_other_cells_are_refused() {
    let said = |cfg: &DriveConfig| Drive::new(cfg).err().map(|errors| errors.to_string()).unwrap_or_default();
    let mut cfg = varied(60, "real_wear");
    cfg.cells.population.growth_worst = 6.0;
    let message = said(&cfg);
    for part in ["ftl.age_marker.policy", "cell.markers.fitted_on", "fitted to the cells", "fit-markers"] {
        assert!(message.contains(part), "{message}");
    }
    cfg.cells.markers.fitted_on = cfg.cells.fingerprint();
    assert_eq!(said(&cfg), "");
    cfg.errors.model = ErrorModel::None;
    let message = said(&cfg);
    assert!(message.contains("cells that do not age") && message.contains("nand.errors.model"), "{message}");
}
