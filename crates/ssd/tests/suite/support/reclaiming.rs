//! A drive whose cells do not stand many reads, and who moves its data.

use super::every;
use ssd::config::{Table, Value};
use ssd::ftl::read_reclaim;
use ssd::nand::cell::CellModel;
use ssd::rng::Rng;
use ssd::sections::{DisturbCounters, ErrorModel, Errors};
use ssd::{Command, Drive, DriveConfig, Lba, OpCode};

/// Reads of a neighbour that an unworn block stands.
const STANDS: f64 = 800.0;

/// Four planes of 20 blocks of 8 TLC wordlines; read in two attempts at most.
fn config() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (20, 8, 3);
    cfg.drive.over_provisioning_percent = 90.0;
    cfg.buffer.select("none").unwrap();
    let disturb_counters = DisturbCounters::Wordline;
    cfg.errors = Errors {
        model: ErrorModel::Cells,
        variation: false,
        disturb_counters,
        tracking_reads: 1,
        ..Errors::default()
    };
    cfg.cells.retry.entries = 0;
    let scale = STANDS / CellModel::new(cfg.cells.clone()).unwrap().block_reads_max(0.064);
    cfg.cells.disturb.erc_max.iter_mut().for_each(|reads| *reads *= scale);
    cfg.cells.disturb.top_erc *= scale;
    cfg
}

/// That drive under every policy that moves data, and every way in which it can: policy, name and configuration. What
/// blocks stand is taken from the cells.
pub fn drives() -> Vec<(&'static str, String, DriveConfig)> {
    let moving =
        every::variants(&read_reclaim::FAMILY).into_iter().filter(|(policy, _)| !every::is_idle(policy));
    moving
        .map(|(policy, value)| {
            let mut cfg = config();
            every::choose(&mut cfg, "ftl.read_reclaim", policy);
            if cfg.read_reclaim.show("max_reads").is_some() {
                cfg.read_reclaim.set("max_reads", &Value::Integer(0)).unwrap();
            }
            if let Some((key, value)) = &value {
                cfg.read_reclaim.set(key, value).unwrap();
            }
            let name = format!("{policy} {value:?}");
            (policy, name.clone(), every::fitted(cfg).unwrap_or_else(|wrong| panic!("{name}: {wrong}")))
        })
        .collect()
}

/// Reads, three of four of them of seven units, and a write in a hundred commands.
pub struct Reads(Rng);

impl Reads {
    pub fn new(seed: u64) -> Self {
        Reads(Rng::named(seed, "reads"))
    }

    /// One command after the other; returns how many failed.
    pub fn run(&mut self, drive: &mut Drive, commands: u32) -> u32 {
        let (units, sectors) = (drive.logical_units(), drive.unit_bytes() / 512);
        let mut failed = 0;
        for n in 0..commands {
            let any = self.0.below(units);
            let op = if n % 100 == 0 { OpCode::Write } else { OpCode::Read };
            let unit = if op == OpCode::Write || n % 4 == 0 { any } else { any % 7 * (units / 7) };
            let lba = Lba(u64::from(unit) * u64::from(sectors));
            let command = Command { op, lba, sectors, arrival: drive.now(), ..Command::default() };
            drive.submit(0, &command, drive.now()).unwrap();
            assert!(drive.advance_to_completion(), "stuck");
            failed += u32::from(drive.pop_completion().unwrap().status != ssd::Status::Ok);
        }
        failed
    }
}

/// Units moved because of reads, and units that got a replica.
pub fn moved(drive: &Drive) -> u64 {
    use ssd::flash::op::Cause;
    let units = &drive.stats().ftl.moved_units;
    let replicated = every::cause("replication").map_or(0, |cause| units[cause as usize]);
    units[Cause::ReadReclaim as usize] + replicated
}
