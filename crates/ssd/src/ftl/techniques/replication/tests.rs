//! Reads of replicas.

use crate::config::{Table, Value};
use crate::drive_config::DriveConfig;
use crate::flash::op::{Cause, OpKind};
use crate::sections::MappingUnit;
use crate::{Command, Drive, Lba, OpCode};

fn read(drive: &mut Drive) {
    let command =
        Command { op: OpCode::Read, lba: Lba(0), sectors: 8, arrival: drive.now(), ..Command::default() };
    drive.submit(0, &command, drive.now()).unwrap();
    drive.drain();
    assert!(drive.pop_completion().is_some());
}

/// What a replica brought is as good as what its original brings: it stays in the read cache.
#[test]
fn what_comes_from_a_replica_is_kept_in_dram() {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (16, 8, 1, 4_096);
    (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 150.0);
    cfg.buffer.select("lru_read").unwrap();
    cfg.read_reclaim.select("redftl").unwrap();
    for (key, value) in [("max_reads", 100), ("replica_limit", 2)] {
        cfg.read_reclaim.set(key, &Value::Integer(value)).unwrap();
    }
    let mut drive = Drive::new(&cfg).unwrap();
    drive.fill(0, 48).unwrap();
    let from_flash = |drive: &Drive| drive.stats().flash.ops[OpKind::Read as usize][Cause::Host as usize];
    while drive.stats().ftl.replica_reads == 0 {
        drive.flush_buffer();
        read(&mut drive);
        assert!(from_flash(&drive) < 100, "no replica was made");
    }
    let before = from_flash(&drive);
    read(&mut drive);
    assert_eq!(from_flash(&drive), before);
}
