//! Snapshots: bit-exact, and a file that is not one is a typed error, whatever is wrong with it.

use crate::support;

use ssd::rng::Rng;
use ssd::snapshot::{HEADER_BYTES, MAGIC, SnapshotError, VERSION};
use ssd::{AgeStep, Drive, DriveConfig, Executor};
use support::habits::with_habits;
use support::reclaiming::{self, Reads};
use support::{Load, small, soaked, with_every_policy, with_policy};

fn saved(drive: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    bytes
}

/// A drive in the middle of its work, as bytes.
fn sample(cfg: &DriveConfig) -> Vec<u8> {
    let mut drive = Drive::new(cfg).unwrap();
    Load::new(1).run(&mut drive, 3_000);
    assert!(drive.outstanding() > 0);
    saved(&drive)
}

/// Gives no more than a few bytes at once, as a pipe or a decompressor may.
struct Drops<'a>(&'a [u8], usize);

impl std::io::Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let some = buffer.len().min(self.1);
        self.1 = self.1 % 4_093 + 1;
        self.0.read(&mut buffer[..some])
    }
}

/// The same drive, read piece by piece.
fn streamed(cfg: &DriveConfig, bytes: &[u8]) -> std::io::Result<Drive> {
    Drive::restore_from(cfg, &mut Drops(bytes, 1), bytes.len() as u64)
}

/// Why a file is refused: the same whether it is in memory or is read piece by piece.
fn refused(cfg: &DriveConfig, bytes: &[u8]) -> SnapshotError {
    let error = Drive::restore(cfg, bytes).map(|_| ()).expect_err("a wrong file is refused");
    let same = streamed(cfg, bytes).map(|_| ()).expect_err("a wrong file is refused");
    assert_eq!(same.downcast::<SnapshotError>().unwrap(), error);
    error
}

#[test]
fn saved_restored_and_saved_again_is_the_same_to_the_bit() {
    let mut faulty = small();
    faulty.reliability.program_fail_ppm = 2_000.0;
    faulty.reliability.factory_bad_ppm = 20_000.0;
    let placed = [with_habits(with_policy("buffer", "none")), with_habits(small())];
    let policies = with_every_policy().map(|(_, cfg)| cfg);
    let mut some = small();
    some.drive.raw_gib = some.used_bytes() as f64 / f64::from(1 << 30);
    some.geometry.blocks_per_plane += 5;
    let mut guarded = small();
    (guarded.redundancy.parity_percent, guarded.drive.over_provisioning_percent) = (10.0, 60.0);
    for cfg in [small(), faulty, some, guarded].into_iter().chain(placed).chain(policies) {
        for executor in [Executor::Timed, Executor::Functional] {
            let mut drive = Drive::new(&cfg).unwrap();
            drive.set_executor(executor);
            let mut load = Load::new(1);
            for _ in 0..soaked(2) {
                load.run(&mut drive, 300);
                let bytes = saved(&drive);
                let restored = Drive::restore(&cfg, &bytes).unwrap();
                assert!(saved(&restored) == bytes, "{executor:?}, {}", cfg.to_toml());
                drive = streamed(&cfg, &bytes).unwrap();
                assert!(saved(&drive) == bytes, "{executor:?}, {}", cfg.to_toml());
            }
        }
    }
}

/// A file that ends before its header says, or cannot be read on, is told as such, not as a wrong drive.
#[test]
fn a_file_that_cannot_be_read_to_its_end_is_no_wrong_snapshot() {
    let (cfg, bytes) = (small(), sample(&small()));
    for end in [HEADER_BYTES, bytes.len() / 2, bytes.len() - 1] {
        let short = Drive::restore_from(&cfg, &mut &bytes[..end], bytes.len() as u64).unwrap_err();
        assert_eq!(short.kind(), std::io::ErrorKind::UnexpectedEof, "{end}: {short}");
        let broken = std::io::Read::chain(&bytes[..end], Broken);
        let error = Drive::restore_from(&cfg, &mut { broken }, bytes.len() as u64).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData, "{end}: {error}");
    }
}

/// Where a file cannot be read.
struct Broken;

impl std::io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::InvalidData.into())
    }
}

/// What ages a drive leaves work behind that nothing has begun: blocks that are due for a look. The drive is saved
/// with it, and the restored one goes the same way.
#[test]
fn a_drive_is_saved_after_any_step_of_ageing() {
    let steps = ["cycle to 100", "disturb 1000 reads", "disturb 600 reads of wordline 3", "retain 1 days"];
    for (_, name, cfg) in reclaiming::drives() {
        for executor in [Executor::Timed, Executor::Functional] {
            let mut drive = Drive::new(&cfg).unwrap();
            drive.set_executor(executor);
            drive.fill(0, drive.logical_units()).unwrap();
            for text in steps {
                drive.age(&text.parse::<AgeStep>().unwrap()).unwrap();
                let bytes = saved(&drive);
                let restored = Drive::restore(&cfg, &bytes);
                let mut restored = restored.unwrap_or_else(|error| panic!("{name}, {text}: {error}"));
                assert!(saved(&restored) == bytes, "{name}, {text}");
                for drive in [&mut drive, &mut restored] {
                    Reads::new(1).run(drive, 40);
                }
                let end = |drive: &Drive| (drive.event_hash(), drive.stats(), drive.now());
                assert_eq!(end(&drive), end(&restored), "{name}, {text}");
            }
            assert!(reclaiming::moved(&drive) > 0, "{name} {executor:?} moved nothing");
        }
    }
}

/// Any steps in any order, between reads and writes: the drive that is restored each time and its twin that never is
/// end alike.
#[test]
fn drives_of_random_lives_go_on_as_if_they_had_not_been_saved() {
    let drives = reclaiming::drives();
    let mut taken = [0; 4];
    for seed in 0..soaked(24) {
        let mut rng = Rng::named(seed, "snapshot/lives");
        let (_, name, cfg) = &drives[rng.below(drives.len() as u32) as usize];
        let mut drive = Drive::new(cfg).unwrap();
        drive.set_executor([Executor::Timed, Executor::Functional][rng.below(2) as usize]);
        drive.fill(0, drive.logical_units() / (1 + rng.below(3))).unwrap();
        let (mut twin, mut cycles) = (drive.clone(), 0);
        for _ in 0..6 {
            let kind = rng.below(4);
            cycles = drive.health().wear.max.max(cycles) + rng.below(300);
            let step = match kind {
                0 => format!("cycle to {cycles} with {} minutes dwell at 40 C", 1 + rng.below(9)),
                1 => format!("retain {} hours at 35 C", rng.below(100)),
                2 => format!("disturb {} reads", rng.below(900)),
                _ => format!("disturb {} reads of wordline {}", rng.below(300), rng.below(8)),
            };
            let (reads, order) = (rng.below(60), rng.next_u64());
            for drive in [&mut drive, &mut twin] {
                drive.age(&step.parse::<AgeStep>().unwrap()).unwrap();
            }
            let bytes = saved(&drive);
            drive =
                Drive::restore(cfg, &bytes).unwrap_or_else(|error| panic!("{name} {seed}, {step}: {error}"));
            assert!(saved(&drive) == bytes, "{name} {seed}, {step}");
            for drive in [&mut drive, &mut twin] {
                Reads::new(order).run(drive, reads);
            }
            taken[kind as usize] += 1;
        }
        let end = |drive: &Drive| (drive.event_hash(), drive.stats(), drive.now());
        assert_eq!(end(&drive), end(&twin), "{name} {seed}");
    }
    assert!(taken.iter().all(|&steps| steps > 10), "{taken:?}");
}

#[test]
fn a_fresh_drive_survives_it_too() {
    let drive = Drive::new(&small()).unwrap();
    let restored = Drive::restore(&small(), &saved(&drive)).unwrap();
    assert_eq!((restored.event_hash(), restored.stats()), (drive.event_hash(), drive.stats()));
}

#[test]
fn other_files_are_told_apart() {
    let cfg = small();
    for bytes in [&b"WLSNAQ\r\n and so on"[..], b"x", b"[drive]\nseed = 1\n", &[0; 4096], b"WLSNAP\n\n"] {
        assert_eq!(refused(&cfg, bytes), SnapshotError::NotASnapshot);
    }
    assert!(refused(&cfg, b"x").to_string().contains("not a Wordline snapshot"));
}

#[test]
fn a_snapshot_cut_off_anywhere_says_so() {
    let (cfg, whole) = (small(), sample(&small()));
    let n = whole.len();
    let header = HEADER_BYTES;
    let near = [0, 1, 7, 8, 9, 15, 16, 24, 39, header, header + 1, header + 8, n / 2, n - 8, n - 7, n - 1];
    let mut rng = Rng::named(1, "cut");
    let anywhere = (0..200).map(|_| rng.below(n as u32) as usize);
    for length in near.into_iter().chain(anywhere) {
        let expected = if length < header { header as u64 } else { n as u64 };
        let error = SnapshotError::Truncated { expected, found: length as u64 };
        assert_eq!(refused(&cfg, &whole[..length]), error);
        assert!(error.to_string().contains(&format!("found {length} bytes, expected {expected}")));
    }
    let longer = [&whole[..], &[0]].concat();
    let error = SnapshotError::Truncated { expected: n as u64, found: n as u64 + 1 };
    assert_eq!(refused(&cfg, &longer), error);
}

#[test]
fn every_flipped_bit_is_noticed() {
    let (cfg, whole) = (small(), sample(&small()));
    let flipped = |bit: usize| {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        refused(&cfg, &bytes)
    };
    for bit in 0..8 * HEADER_BYTES {
        let error = flipped(bit);
        let expected = match bit / 64 {
            0 => matches!(error, SnapshotError::NotASnapshot),
            1 => matches!(error, SnapshotError::Version { .. }),
            2 => matches!(error, SnapshotError::OtherConfig { .. }),
            3 => matches!(error, SnapshotError::Truncated { .. }),
            _ => matches!(error, SnapshotError::Damaged),
        };
        assert!(expected, "bit {bit} of the header flipped: {error}");
    }
    let mut rng = Rng::named(2, "flip");
    let content = (whole.len() - HEADER_BYTES) as u32;
    for _ in 0..300 {
        let bit = 8 * (HEADER_BYTES + rng.below(content) as usize) + rng.below(8) as usize;
        assert_eq!(flipped(bit), SnapshotError::Damaged, "bit {bit}");
    }
}

#[test]
fn damage_of_many_bytes_is_noticed() {
    let (cfg, whole) = (small(), sample(&small()));
    let mut rng = Rng::named(3, "damage");
    for _ in 0..200 {
        let mut bytes = whole.clone();
        let from = HEADER_BYTES + rng.below((bytes.len() - HEADER_BYTES) as u32) as usize;
        let end = (from + 1 + rng.below(5_000) as usize).min(bytes.len());
        for byte in &mut bytes[from..end] {
            *byte = rng.next_u64() as u8;
        }
        if bytes != whole {
            assert_eq!(refused(&cfg, &bytes), SnapshotError::Damaged);
        }
        let (left, right) = whole[HEADER_BYTES..].split_at(from - HEADER_BYTES);
        let turned = [&whole[..HEADER_BYTES], right, left].concat();
        if turned != whole {
            assert_eq!(refused(&cfg, &turned), SnapshotError::Damaged);
        }
    }
}

#[test]
fn another_configuration_or_version_is_refused() {
    let whole = sample(&small());
    let changes: [fn(&mut DriveConfig); 4] = [
        |cfg| cfg.drive.seed += 1,
        |cfg| cfg.geometry.blocks_per_plane += 1,
        |cfg| cfg.timing.t_erase_us += 0.001,
        |cfg| cfg.gc_victim = ssd::ftl::gc_victim::Config::named("fifo").unwrap(),
    ];
    for change in changes {
        let mut cfg = small();
        change(&mut cfg);
        let error = refused(&cfg, &whole);
        assert!(
            matches!(error, SnapshotError::OtherConfig { expected, found } if expected != found),
            "{error}"
        );
    }
    let mut older = whole.clone();
    older[8] = 0;
    assert_eq!(refused(&small(), &older), SnapshotError::Version { found: 0 });
    assert_eq!((&whole[..8], u64::from(whole[8])), (&MAGIC[..], VERSION));
}
