//! A drive of one plane with blocks of two TLC wordlines, and who watches where its data goes.

use ssd::flash::op::Cause;
use ssd::ftl::read_reclaim::redftl_plus::Params;
use ssd::host::buffer;
use ssd::observe::Effect;
use ssd::sections::{ErrorModel, Errors, MappingUnit};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode, Status};
use std::collections::BTreeMap;

/// One plane of 12 blocks of 6 pages of 16 KiB, mapped by page; TLCbase of redFTL; no buffer.
pub fn config(params: Params) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (12, 2, 3);
    cfg.mapping.unit = MappingUnit::Page;
    cfg.drive.over_provisioning_percent = 90.0;
    cfg.timing.t_program_us = vec![700.0];
    cfg.timing.cache_operations = false;
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    cfg.cells.disturb.page_weights = vec![0.25, 0.5, 1.0];
    cfg.buffer = buffer::none::Params::default().into();
    cfg.read_reclaim = params.into();
    cfg
}

pub fn command(drive: &Drive, op: OpCode, lpn: u32) -> Command {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(lpn) * u64::from(sectors));
    Command { op, lba, sectors, arrival: drive.now(), ..Command::default() }
}

/// Lets a command on a unit complete.
pub fn submit(drive: &mut Drive, op: OpCode, lpn: u32) {
    let command = command(drive, op, lpn);
    drive.submit(0, &command, drive.now()).unwrap();
    while drive.outstanding() > 0 {
        assert!(drive.advance_to_completion(), "stuck");
        while let Some(done) = drive.pop_completion() {
            assert_eq!(done.status, Status::Ok);
        }
    }
}

pub fn read(drive: &mut Drive, lpn: u32) {
    submit(drive, OpCode::Read, lpn);
}

pub fn rewrite(drive: &mut Drive, lpn: u32) {
    submit(drive, OpCode::Write, lpn);
}

/// Units moved for a cause.
pub fn moved(drive: &Drive, cause: Cause) -> u64 {
    drive.stats().ftl.moved_units[cause as usize]
}

/// A drive in the functional executor, filled from unit 0, and what happened to its data since.
pub struct Observed {
    pub drive: Drive,
    pub effects: Vec<Effect>,
    places: BTreeMap<u32, u32>,
    units_per_block: u32,
}

impl Observed {
    pub fn new(cfg: &DriveConfig, units: u32) -> Self {
        let mut drive = Drive::new(cfg).unwrap();
        drive.record_effects(true);
        drive.set_executor(Executor::Functional);
        drive.fill(0, units).unwrap();
        let units_per_block = cfg.geometry.pages_per_block() * cfg.lane_span() * cfg.units_per_page();
        let mut observed = Observed { drive, effects: Vec::new(), places: BTreeMap::new(), units_per_block };
        observed.take_effects();
        observed.effects.clear();
        observed
    }

    pub fn take_effects(&mut self) {
        while let Some(effect) = self.drive.pop_effect() {
            match effect {
                Effect::Program { lpn, to, .. }
                | Effect::Place { lpn, to }
                | Effect::Copy { lpn, to, .. } => {
                    self.places.insert(lpn.0, to.0);
                }
                _ => {}
            }
            self.effects.push(effect);
        }
    }

    /// Copies so far: unit, from, to.
    pub fn copies(&mut self) -> Vec<(u32, u32, u32)> {
        self.take_effects();
        let copies = self.effects.iter().filter_map(|effect| match effect {
            Effect::Copy { lpn, from, to } => Some((lpn.0, from.0, to.0)),
            _ => None,
        });
        copies.collect()
    }

    /// First units of the blocks erased so far.
    pub fn erased(&mut self) -> Vec<u32> {
        self.take_effects();
        let erases = self.effects.iter().filter_map(|effect| match effect {
            Effect::Erase { first, .. } => Some(first.0),
            _ => None,
        });
        erases.collect()
    }

    /// Program mode of the block that a unit lies in (in drives of one plane).
    pub fn mode_of(&mut self, lpn: u32) -> u8 {
        self.take_effects();
        self.drive.chips().mode(self.places[&lpn] / self.units_per_block)
    }
}
