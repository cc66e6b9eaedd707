//! New drives: nothing wears their cells, and what their blocks differ by is a share of their lives.

use crate::support::every::{has, select};
use ssd::config::Table;
use ssd::config::presets;
use ssd::nand::cell::CellModel;
use ssd::sections::{CellPart, ErrorModel, SectorErrors};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};

/// 8 planes of 16 blocks of 32 wordlines of a shipped part, whose blocks differ.
fn of(part: &str, seed: u64) -> DriveConfig {
    let cells = CellPart::preset(part).expect("a shipped part");
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 2, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.spare_bytes) = (16, 32, 65_536);
    g.bits_per_cell = cells.states.bits_per_cell;
    cfg.cells = cells;
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.drive.seed = seed;
    cfg.timing.t_read_us = Vec::new();
    (cfg.errors.model, cfg.errors.variation) = (ErrorModel::Cells, true);
    cfg.buffer.select("none").expect("a policy");
    cfg
}

/// Reads all data once; page reads by attempts that failed.
fn read_all(drive: &mut Drive) -> Vec<u64> {
    drive.set_executor(Executor::Functional);
    drive.reset_stats();
    let sectors = drive.unit_bytes() / 512;
    for unit in 0..u64::from(drive.logical_units()) {
        let (lba, arrival) = (Lba(unit * u64::from(sectors)), drive.now());
        let command = Command { op: OpCode::Read, lba, sectors, arrival, ..Command::default() };
        drive.submit(0, &command, drive.now()).expect("an empty queue");
        drive.drain();
        while drive.pop_completion().is_some() {}
    }
    drive.stats().flash.retries.to_vec()
}

/// HIRE's limits lie right above the error rates of its pages: of drawn sectors a few exceed them.
fn may_retry(part: &str, sectors: SectorErrors) -> bool {
    part == "mlc_hire" && sectors == SectorErrors::Drawn
}

#[test]
fn a_new_drive_of_any_part_reads_without_retries() {
    for part in presets::cells() {
        for (seed, sectors) in [(1, SectorErrors::Worst), (2, SectorErrors::Worst), (3, SectorErrors::Drawn)]
        {
            let mut cfg = of(part.name, seed);
            cfg.errors.sectors = sectors;
            let mut drive = Drive::new(&cfg).unwrap_or_else(|errors| panic!("{}: {errors}", part.name));
            drive.fill(0, drive.logical_units()).expect("room");
            let retries = read_all(&mut drive);
            let [first, more] = [retries[0], retries[1..].iter().sum()];
            let most = if may_retry(part.name, sectors) { first / 200 } else { 0 };
            assert!(first > 0 && more <= most, "{} {sectors:?}, seed {seed}: {retries:?}", part.name);
        }
    }
}

/// The worst block that a part may have is born with a share of its life behind it, the same for all parts whose
/// spread is taken from that of another.
#[test]
fn blocks_are_born_with_the_same_share_of_life_behind_them() {
    let share = |part: &str| {
        let cells = CellModel::preset(part).expect("a shipped part");
        let life = cells.wear_of_n12(f64::from(cells.hard_limit_bits()));
        cells.wear_of_n12(cells.n12_unworn(0.0)) / life
    };
    let tlc = share("tlc_48l");
    assert!((0.13..0.15).contains(&tlc), "{tlc}");
    for part in ["qlc", "qlc_modes"] {
        assert!((share(part) / tlc - 1.0).abs() < 0.02, "{part}: {} {tlc}", share(part));
    }
}

/// Modes of voltage are read with as many levels as they need: what `table_by_age` promises holds for what those
/// correct.
#[test]
fn the_bound_holds_for_a_part_with_program_modes() {
    if !has("ftl.age_marker") {
        return;
    }
    for part in ["qlc", "qlc_modes"] {
        let mut cfg = of(part, 1);
        select(&mut cfg, "ftl.age_marker", "real_wear");
        cfg.read_voltage.select("table_by_age").expect("a policy");
        let mut drive = Drive::new(&cfg).unwrap_or_else(|errors| panic!("{part}: {errors}"));
        drive.fill(0, drive.logical_units()).expect("room");
        for step in ["cycle to 500", "retain 1 months", "disturb 10000 reads", "retain 11 months"] {
            drive.age(&step.parse().expect("a step")).expect("room in the tables");
            let retries = read_all(&mut drive);
            assert!(
                drive.health().broken_bound.is_none(),
                "{part}, {step}: {:?}, {retries:?}",
                drive.health().broken_bound
            );
        }
    }
}
