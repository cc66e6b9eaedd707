//! Whole drives whose cells age, seen from the host: how long reads take, and when data is lost.

use crate::aging::support::{config, model, near};
use ssd::nand::cell::Group;
use ssd::{Command, Completion, Drive, DriveConfig, Executor, Lba, OpCode, Status};

/// tECC of a page, in ns (`cell.ecc.page_decode_us`).
const DECODE_NS: u64 = 20_000;

/// One plane; units are whole pages, so that page p of the first block holds unit p.
fn one_plane() -> DriveConfig {
    let mut cfg = config();
    cfg.geometry.planes_per_die = 1;
    cfg.mapping.unit = ssd::sections::MappingUnit::Page;
    cfg.drive.over_provisioning_percent = 110.0;
    cfg.timing.t_read_us = vec![78.0, 117.0, 78.0];
    cfg
}

fn aged(cfg: &DriveConfig, steps: &[&str]) -> Drive {
    let mut drive = Drive::new(cfg).expect("a drive");
    drive.fill(0, drive.logical_units()).expect("room");
    for step in steps {
        drive.age(&step.parse().expect("a step")).expect("room in the tables");
    }
    drive
}

/// Reads one whole page and waits for it.
fn read(drive: &mut Drive, page: u32) -> Completion {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(page) * u64::from(sectors));
    let command = Command { op: OpCode::Read, lba, sectors, arrival: drive.now(), ..Command::default() };
    drive.submit(0, &command, drive.now()).expect("an empty queue");
    assert!(drive.advance_to_completion());
    drive.pop_completion().expect("a completion")
}

/// Retries (none are counted where cells make no errors) and latency of each page of the first block.
fn latencies(drive: &mut Drive) -> Vec<(u64, u64)> {
    let mut before = drive.stats().flash.retries;
    let mut found = Vec::new();
    for page in 0..drive.chips().pages_per_block() {
        let done = read(drive, page);
        assert_eq!(done.status, Status::Ok);
        assert_eq!(done.breakdown.total(), (done.completed - done.arrival).0);
        let after = drive.stats().flash.retries;
        let retries = (0..after.len()).find(|&n| after[n] != before[n]).unwrap_or(0);
        before = after;
        found.push((retries as u64, (done.completed - done.arrival).0));
    }
    found
}

/// RealWear Eq. 2.2: tREAD = (tR + tDMA + tECC) (NumRetry + 1), to the nanosecond. What the host, the link and the
/// firmware add is taken from the same drive without errors, which has no tECC.
#[test]
fn a_read_takes_its_attempts_exactly() {
    let cfg = one_plane();
    let mut ideal = cfg.clone();
    ideal.errors.model = ssd::sections::ErrorModel::None;
    let plain: Vec<u64> = latencies(&mut aged(&ideal, &[])).iter().map(|page| page.1).collect();
    let transfer = (16_384u64 * 1_000_000_000 + 600_000_000) / 1_200_000_000;
    let once = u64::from(cfg.channel.t_read_command_ns + cfg.channel.t_data_out_command_ns) + transfer;
    let mut seen = [0u32; 16];
    for cycles in [500, 2_000, 4_000, 7_000, 10_000] {
        let steps = [format!("cycle to {cycles}"), "retain 12 months".to_owned()];
        let mut drive = aged(&cfg, &[&steps[0], &steps[1]]);
        for (page, (retries, latency)) in latencies(&mut drive).into_iter().enumerate() {
            let sense = [78_000, 117_000, 78_000][page % 3];
            let expected = plain[page] + DECODE_NS + retries * (sense + once + DECODE_NS);
            assert_eq!(latency, expected, "page {page}, {retries} retries, {cycles} cycles");
            seen[retries as usize] += 1;
        }
    }
    // RealWear: 2 to 7 retries after 12 months; better wordlines and page types need fewer.
    assert!(seen[..8].iter().all(|&pages| pages > 0), "{seen:?}");
    assert_eq!(seen[8..].iter().sum::<u32>(), 0, "{seen:?}");
}

/// Reads one wordline's page over and over, and returns how often it was read when its neighbour was lost.
fn hammer(drive: &mut Drive, page: u32, neighbour: u32, from: u64, step: u64) -> u64 {
    let mut reads = 0;
    loop {
        let burst = if reads == 0 { from } else { step };
        for _ in 0..burst {
            assert_eq!(read(drive, page).status, Status::Ok, "its own reads do not disturb a wordline");
        }
        reads += burst;
        if read(drive, neighbour).status == Status::Uncorrectable {
            return reads;
        }
    }
}

/// A neighbour of the wordline read stands ERC_MAX / alpha reads of the worst page type (calibration section 2.3), and
/// no command can bring it back, in either executor.
#[test]
fn a_hammered_wordline_costs_its_neighbour_at_the_predicted_read() {
    let mut cfg = one_plane();
    cfg.cells.disturb.page_weights = vec![1.0; 3];
    cfg.cells.disturb.erc_max = vec![40_000.0, 36_000.0, 30_000.0, 25_000.0];
    cfg.cells.disturb.top_erc = 50_000.0;
    let cells = model(&cfg);
    // Wordline 0 lies at the edge: it is of the worst group.
    let (group, kcycles) = (Group::Worst, 1.0);
    let predicted = cells.erc_max(group, kcycles) / cells.adjacent(group, kcycles);
    for executor in [Executor::Timed, Executor::Functional] {
        let mut drive = aged(&cfg, &["cycle to 1000"]);
        drive.set_executor(executor);
        let from = (predicted * 0.998) as u64;
        let lost = hammer(&mut drive, 3, 0, from, 1);
        near(lost as f64, predicted, predicted * 0.001);
        let stats = drive.stats();
        assert_eq!((stats.host.uncorrectable, stats.ftl.lost_units), (1, 1));
        assert_eq!(stats.flash.uncorrectable.iter().sum::<u64>(), 1);
        assert_eq!(read(&mut drive, 0).status, Status::Uncorrectable, "lost is lost");
        assert_eq!(drive.stats().flash.uncorrectable.iter().sum::<u64>(), 1, "without asking the chip again");
        let sectors = drive.unit_bytes() / 512;
        let write =
            Command { op: OpCode::Write, fua: true, sectors, arrival: drive.now(), ..Command::default() };
        drive.submit(0, &write, drive.now()).expect("an empty queue");
        assert!(drive.advance_to_completion());
        assert_eq!(drive.pop_completion().map(|done| done.status), Some(Status::Ok));
        assert_eq!(read(&mut drive, 0).status, Status::Ok, "until it is written again");
    }
}

/// 12 months at 55 degrees C are 12 months times the Arrhenius factor at 30, for every read of the drive.
#[test]
fn warmth_is_time_by_the_arrhenius_factor() {
    let cfg = one_plane();
    let factor = libm::exp(1.1 / 8.62e-5 * (1.0 / 303.15 - 1.0 / 328.15));
    let retries = |steps: &[&str]| {
        let mut drive = aged(&cfg, steps);
        latencies(&mut drive).iter().map(|page| page.0).collect::<Vec<_>>()
    };
    let cool = retries(&["cycle to 3000", "retain 12 months"]);
    let shorter = format!("retain {} months at 55 C", 12.0 / factor);
    assert_eq!(retries(&["cycle to 3000", &shorter]), cool);
    let warm = retries(&["cycle to 3000", "retain 12 months at 55 C"]);
    let longer = format!("retain {} months", 12.0 * factor);
    assert_eq!(retries(&["cycle to 3000", &longer]), warm);
    assert!(warm.iter().sum::<u64>() > cool.iter().sum::<u64>());
}

/// HIRE's three drives (HIRE table 1): sensing of 30, 90 and 210 us, which each drive's own part states, is what a read
/// of a fresh page takes in the array; and on one drive the three modes differ by as much.
#[test]
fn hire_reads_take_what_their_mode_senses() {
    for (preset, sense) in [("hire_boost", 30_000), ("hire_base", 90_000), ("hire_reduced", 210_000)] {
        let text = format!("preset = \"{preset}\"\n[nand.errors]\nmodel = \"cells\"\nvariation = false\n");
        let layer = ssd::config::Layer::file("hire", text);
        let mut cfg = ssd::drive_config::resolve(&[layer], &[]).expect("a preset").config;
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block) = (16, 16);
        cfg.drive.over_provisioning_percent = 60.0;
        let mut drive = aged(&cfg, &[]);
        drive.set_executor(Executor::Timed);
        drive.reset_stats();
        let done = read(&mut drive, 3);
        let stats = drive.stats();
        assert_eq!((done.status, stats.flash.retries[0]), (Status::Ok, 1), "{preset}");
        assert_eq!(done.breakdown.ns[ssd::Part::Array as usize], sense, "{preset}");
    }
}
