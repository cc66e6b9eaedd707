//! A drive whose cells do not stand many reads, and who moves its data.

use ssd::config::{DisturbCounters, ErrorModel, Errors, Table, Value};
use ssd::nand::cell::CellModel;
use ssd::rng::Rng;
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

/// That drive under every policy that moves data, and every way in which it counts.
pub fn drives() -> Vec<(&'static str, String, DriveConfig)> {
    let text = |value: &str| Value::Text(value.to_owned());
    let limit = || ("max_reads", Value::Integer(0));
    let straw = |counters| vec![("counters", text(counters)), ("check_interval", Value::Integer(30))];
    let plus =
        |counters, pairing| vec![limit(), ("counters", text(counters)), ("pairing", Value::Bool(pairing))];
    let policies = [
        ("block", vec![limit()]),
        ("block", vec![limit(), ("effective", Value::Bool(true))]),
        ("page_type", vec![limit()]),
        // Reads go on while data moves.
        ("lazy_exact", vec![("ahead_reads", Value::Integer(60))]),
        ("redftl", vec![limit(), ("replica_limit", Value::Integer(4))]),
        ("straw", straw("exact")),
        ("straw", [straw("space_saving"), vec![("entries", Value::Integer(3))]].concat()),
        ("redftl_plus", plus("two_level", true)),
        ("redftl_plus", plus("exact", true)),
        ("redftl_plus", plus("two_level", false)),
    ];
    let drive = |(policy, values): (&'static str, Vec<(&str, Value)>)| {
        let mut cfg = config();
        let table = cfg.section_mut("ftl.read_reclaim").unwrap();
        table.select(policy).unwrap();
        for (key, value) in &values {
            table.set(key, value).unwrap_or_else(|problem| panic!("{policy}.{key}: {problem:?}"));
        }
        (policy, format!("{policy} {values:?}"), cfg)
    };
    policies.into_iter().map(drive).collect()
}

/// Reads, three of four of them of seven units, and a write in a hundred commands.
pub struct Reads(Rng);

impl Reads {
    pub fn new(seed: u64) -> Self {
        Reads(Rng::stream(seed, "reads"))
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
    units[Cause::ReadReclaim as usize] + units[Cause::Replication as usize]
}
