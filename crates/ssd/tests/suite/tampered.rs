//! Snapshots that were changed on purpose, their checksum made to fit: refused, or a drive that works. Never a panic,
//! never a loop without end. `WORDLINE_TAMPERED_CASES=n` makes a longer search of it, `WORDLINE_TAMPERED_FROM=n` begins
//! with case n.

use crate::support;

use ssd::rng::Rng;
use ssd::sections::MappingUnit;
use ssd::snapshot::{HEADER_BYTES, SnapshotError, checksum};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode, SimTime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{Load, bounded, reclaiming, relocking, small, soaked, variable, with_every_policy};

/// Drives without cells, each with something that others have not.
fn plain() -> Vec<DriveConfig> {
    let mut cache = small();
    cache.timing.cache_operations = true;
    let mut faulty = small();
    faulty.reliability.program_fail_ppm = 2_000.0;
    faulty.reliability.factory_bad_ppm = 20_000.0;
    let mut slow = small();
    (slow.link.latency_us, slow.firmware.t_command_us, slow.firmware.t_trim_us) = (1.0, 0.5, 60.0);
    let policies = with_every_policy().map(|(_, cfg)| cfg);
    let mut wide = small();
    wide.mapping.unit = MappingUnit::ThirtyTwoKib;
    let mut one_shot = small();
    (one_shot.cell.one_shot, one_shot.drive.over_provisioning_percent) = (true, 60.0);
    [small(), cache, faulty, slow, wide, one_shot, relocking(), bounded()]
        .into_iter()
        .chain(policies)
        .collect()
}

/// Drives that move data because of reads, one for each policy and way to count.
fn reclaiming() -> Vec<DriveConfig> {
    let of = |(_, _, mut cfg): (_, _, DriveConfig)| {
        cfg.queues.count = 2;
        cfg
    };
    reclaiming::drives().into_iter().map(of).collect()
}

/// A drive in the middle of its work, as bytes.
fn sample(cfg: &DriveConfig, executor: Executor) -> Vec<u8> {
    let mut drive = Drive::new(cfg).unwrap();
    drive.set_executor(executor);
    Load::new(1).run(&mut drive, 3_000);
    assert!(executor == Executor::Functional || drive.outstanding() > 0);
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    bytes
}

/// Changes some bytes of the content, and the checksum with it.
fn tamper(whole: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let size = (bytes.len() - HEADER_BYTES) as u32;
    for _ in 0..1 + rng.below(3) {
        let at = HEADER_BYTES + rng.below(size) as usize;
        bytes[at] = match rng.below(4) {
            0 => bytes[at] ^ 1 << rng.below(8),
            1 => bytes[at].wrapping_add(1),
            2 => 0,
            _ => rng.next_u64() as u8,
        };
    }
    let sum = checksum(&bytes[HEADER_BYTES..]);
    bytes[32..40].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Lets a drive work for a while, whatever comes of it.
fn work(drive: &mut Drive, rng: &mut Rng) {
    let sectors = drive.unit_bytes() / 512;
    for tag in 0..200u64 {
        let queue = tag as usize % drive.queues();
        let lba = Lba(u64::from(rng.below(drive.logical_units())) * u64::from(sectors));
        let op = [OpCode::Read, OpCode::Write, OpCode::Write, OpCode::Trim][rng.below(4) as usize];
        let command = Command { op, lba, sectors, tag, arrival: drive.now(), ..Command::default() };
        let _ = drive.submit(queue, &command, drive.now());
        for _ in 0..50 {
            let Some(at) = drive.next_event_at() else { break };
            drive.advance_to(at);
        }
        while drive.pop_completion().is_some() {}
    }
    drive.advance_to(SimTime(drive.now().0 + 1_000_000));
    let _ =
        (drive.stats(), drive.health(), drive.blocks().worst_disturb_q12(), drive.reports().table_bytes());
}

/// Runs so many cases on each drive; says how many snapshots were taken for what they are not.
fn run(configs: &[DriveConfig], cases: u64) {
    let from = variable("WORDLINE_TAMPERED_FROM").unwrap_or(0);
    let cases = variable("WORDLINE_TAMPERED_CASES").unwrap_or(soaked(cases));
    let (mut refused, mut taken, mut failures) = (0, 0, Vec::new());
    for (number, cfg) in configs.iter().enumerate() {
        for executor in [Executor::Timed, Executor::Functional] {
            let whole = sample(cfg, executor);
            for case in from..from + cases.div_ceil(2) {
                let mut rng = Rng::named(case, "tampered");
                let bytes = tamper(&whole, &mut rng);
                let outcome = catch_unwind(AssertUnwindSafe(|| match Drive::restore(cfg, &bytes) {
                    Ok(mut drive) => {
                        work(&mut drive, &mut rng);
                        true
                    }
                    Err(SnapshotError::Malformed(what)) => {
                        assert!(!what.is_empty());
                        false
                    }
                    Err(other) => panic!("{other}"),
                }));
                match outcome {
                    Ok(true) => taken += 1,
                    Ok(false) => refused += 1,
                    Err(_) => failures.push(format!("drive {number}, {executor:?}, case {case}")),
                }
            }
        }
    }
    println!("{refused} refused, {taken} taken, {} panics", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(refused > 0);
}

#[test]
fn a_tampered_snapshot_never_panics() {
    run(&plain(), 20);
}

#[test]
fn a_tampered_snapshot_of_aging_cells_never_panics() {
    run(&reclaiming(), 8);
}

/// Tables are as large, and lists have as much room, as before.
#[test]
fn a_restored_drive_takes_as_much_memory() {
    for cfg in plain().into_iter().chain(reclaiming()) {
        let drive = Drive::restore(&cfg, &sample(&cfg, Executor::Timed)).unwrap();
        let fresh = Drive::new(&cfg).unwrap();
        assert_eq!(
            drive.reports().table_bytes(),
            fresh.reports().table_bytes(),
            "{}",
            cfg.read_reclaim.name()
        );
    }
}
