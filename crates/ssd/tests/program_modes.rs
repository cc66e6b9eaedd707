//! In which program mode blocks are programmed, and what comes of it.

mod support;

use ssd::config::{Layer, Table};
use ssd::drive_config::{DriveConfig, resolve};
use ssd::sections::ErrorModel;
use ssd::{Command, Drive, Executor, Lba, OpCode, Part};
use support::Load;

/// A shipped drive of HIRE's, cut down to 48 blocks, with cells that age.
fn hire(preset: &str) -> DriveConfig {
    let layer = Layer::file("test.toml", format!("preset = \"{preset}\"\n"));
    let mut cfg = resolve(&[layer], &[]).unwrap_or_else(|errors| panic!("{errors}")).config;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.blocks_per_plane, g.wordlines_per_block) = (1, 2, 12, 8);
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.errors.model = ErrorModel::Cells;
    cfg
}

/// A drive that is filled, and written over by the load.
fn worked(cfg: &DriveConfig, executor: Executor) -> Drive {
    let mut drive = Drive::new(cfg).unwrap_or_else(|errors| panic!("{errors}"));
    drive.fill(0, drive.logical_units()).unwrap();
    drive.set_executor(executor);
    Load::new(7).run(&mut drive, 6_000);
    drive.drain();
    drive.check().unwrap();
    drive
}

/// All blocks in one mode of a part, and a part whose normal mode is that: the same drive.
#[test]
fn high_and_low_are_the_parts_of_these_voltages() {
    for (policy, preset, mode) in [("high", "hire_boost", 1), ("low", "hire_reduced", 2)] {
        let mut cfg = hire("hire_base");
        cfg.program_mode.select(policy).unwrap();
        for executor in [Executor::Functional, Executor::Timed] {
            let [chosen, made] = [&cfg, &hire(preset)].map(|cfg| worked(cfg, executor));
            assert_eq!(chosen.event_hash(), made.event_hash(), "{policy}, {executor:?}");
            assert_eq!(chosen.stats(), made.stats(), "{policy}, {executor:?}");
            let erased = chosen.erase_counts().iter().filter(|&&count| count > 0).count();
            assert!(erased > 20, "{erased} superblocks were erased");
            for block in 0..chosen.chips().blocks() {
                let [ours, theirs] = [&chosen, &made].map(|drive| drive.chips().true_wear(block));
                assert_eq!(ours, theirs, "{policy}: wear of block {block}");
                if chosen.chips().programmed_pages(block) > 0 {
                    assert_eq!(
                        (chosen.chips().mode(block), made.chips().mode(block)),
                        (mode, 0),
                        "block {block}"
                    );
                }
            }
        }
    }
}

/// Blocks that nobody chooses a mode for are programmed in the normal one, and wear by it.
#[test]
fn nominal_is_the_first_mode_of_a_part() {
    let drive = worked(&hire("hire_base"), Executor::Timed);
    let chips = drive.chips();
    for block in 0..chips.blocks() {
        let cycles = u64::from(chips.erase_count(block));
        let wear = chips.true_wear(block).unwrap().done_q20;
        assert_eq!(chips.mode(block), 0);
        // A cycle counts from the first program after its erase.
        assert!(wear == cycles << 20 || wear + (1 << 20) == cycles << 20, "{wear} of {cycles} cycles");
    }
}

/// HIRE table 1 on the drive: a read of one page of an idle drive, from the command to the data.
#[test]
fn a_read_takes_what_hires_table_says() {
    for (policy, ns) in [("nominal", 170_000), ("high", 70_000), ("low", 310_000)] {
        let mut cfg = hire("hire");
        cfg.program_mode.select(policy).unwrap();
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, drive.logical_units()).unwrap();
        let sectors = drive.unit_bytes() / 512;
        let command = Command { op: OpCode::Read, lba: Lba(0), sectors, ..Command::default() };
        drive.submit(0, &command, drive.now()).unwrap();
        assert!(drive.advance_to_completion());
        let times = drive.pop_completion().unwrap().breakdown.ns;
        let of_flash = [Part::Array, Part::Transfer, Part::Decode, Part::DieWait, Part::ChannelWait];
        assert_eq!(of_flash.map(|part| times[part as usize]).iter().sum::<u64>(), ns, "{policy}");
    }
}
