//! Versions of files in flash: small timelines counted by hand, and random runs held against a slow look at every page.

use crate::common;

use common::{fresh_path, small_drive};
use lab::{LoopMode, Preconditioning, RunResult, RunSpec, Versions, VersionsSpec, run};
use ssd::config::{Table, Value};
use ssd::nand::Raw;
use ssd::rng::Rng;
use ssd::sections::MappingUnit;
use ssd::units::Pun;
use ssd::{Command, Drive, DriveConfig, Executor, Hints, Lba, OpCode};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use workload::{FilesAtStart, Held, Request, Source, SourceReport, WorkloadError};

/// Sectors of a unit, which is a page.
const UNIT: u32 = 32;

/// Requests from a list, on a drive where files lie.
struct List(VecDeque<Request>, FilesAtStart);

impl Source for List {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.pop_front())
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }

    fn report(&self) -> SourceReport {
        SourceReport::default()
    }

    fn files_at_start(&self) -> FilesAtStart {
        self.1.clone()
    }
}

/// One chip of pages of one unit, without a buffer: each write is a program. 24 blocks of 6 pages, 96 units of data.
fn chips(planes: u32) -> DriveConfig {
    let mut config = DriveConfig::default();
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, planes);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (24, 2, 3);
    config.drive.over_provisioning_percent = 50.0;
    config.mapping.unit = MappingUnit::Page;
    config.buffer.select("none").unwrap();
    assert_eq!(config.unit_bytes(), UNIT * 512);
    config
}

fn request(op: OpCode, file: u32, unit: u32, units: u32) -> Request {
    let hints = Hints { file, ..Hints::default() };
    Request { op, lba: (unit * UNIT).into(), sectors: units * UNIT, hints, ..Request::default() }
}

fn write(file: u32, unit: u32) -> Request {
    request(OpCode::Write, file, unit, 1)
}

/// Serves requests one by one, in no time; what became of versions, and the drive.
fn serve(config: &DriveConfig, requests: &[Request], files: FilesAtStart) -> (Versions, RunResult, Drive) {
    serve_by(Executor::Functional, config, requests, files)
}

/// The same where time passes or not.
fn serve_by(
    executor: Executor,
    config: &DriveConfig,
    requests: &[Request],
    files: FilesAtStart,
) -> (Versions, RunResult, Drive) {
    let spec = RunSpec {
        loop_mode: LoopMode::Closed { depth: 1 },
        executor,
        versions: VersionsSpec { watch: true, ..VersionsSpec::default() },
        ..RunSpec::default()
    };
    let mut drive = Drive::new(config).unwrap();
    let mut source = List(requests.iter().copied().collect(), files);
    let result = run(&mut drive, config, &mut source, &spec, &mut |_| {}).unwrap();
    (result.versions.clone().unwrap(), result, drive)
}

/// Writes of 4 KiB that fill the drive.
fn fill(drive: &Drive) -> f64 {
    drive.logical_sectors() as f64 / 8.0
}

#[test]
fn a_file_that_is_only_appended_to_has_one_version() {
    let requests: Vec<Request> = (0..20).map(|unit| write(16 + unit / 10, unit)).collect();
    let (versions, ..) = serve(&chips(1), &requests, FilesAtStart::default());
    assert_eq!((versions.uv.files, versions.mv.files), (2, 0));
    assert_eq!((versions.uv.vaf.mean, versions.uv.vaf.max), (Some(0.0), Some(0.0)));
    assert_eq!(
        (versions.uv.t_insecure.max, versions.mv.vaf.mean, versions.uv.shown),
        (Some(0.0), None, None)
    );
}

/// Units 0 to 3 of file 16 are written; unit 1 again with the 5th and 6th write, of another file the 7th and 8th.
#[test]
fn overwritten_units_are_invalid_until_the_end() {
    let units = [(16, 0), (16, 1), (16, 2), (16, 3), (16, 1), (16, 1), (17, 8), (17, 9)];
    let requests: Vec<Request> = units.iter().map(|&(file, unit)| write(file, unit)).collect();
    let (versions, _, drive) = serve(&chips(1), &requests, FilesAtStart::default());
    // 2 invalid at most of 4 valid; insecure while the 6th to 8th unit were written, of four 4-KiB pages each.
    assert_eq!((versions.mv.files, versions.mv.vaf.max), (1, Some(0.5)));
    assert_eq!(versions.mv.t_insecure.max, Some(12.0 / fill(&drive)));
    assert_eq!((versions.uv.files, versions.uv.vaf.max), (1, Some(0.0)));
    let shown = versions.mv.shown.unwrap();
    assert_eq!((shown.file, shown.valid.last(), shown.invalid.last()), (16, Some(&4), Some(&2)));
    // Nothing was moved.
    assert_eq!((versions.mv.by_moves.files, versions.mv.by_moves.t_insecure.max), (0, Some(0.0)));
}

/// Two files fill the same blocks; one is overwritten until cleaning has to move what is beside it. What the other has
/// of invalid units moves have left, all of it; of the overwritten one's they have left a part.
#[test]
fn copies_that_moves_leave_are_told_apart() {
    let mut requests: Vec<Request> = (0..40).flat_map(|n| [write(16, n), write(17, 48 + n)]).collect();
    requests.extend((0..400).map(|n| write(17, 48 + n * 7 % 40)));
    let mut config = chips(1);
    // What moves leave stays for a while.
    config.cleaning.lazy_erase = true;
    let (versions, ..) = serve_by(Executor::Timed, &config, &requests, FilesAtStart::default());
    let (uv, mv) = (versions.uv, versions.mv);
    assert_eq!((uv.files, mv.files), (1, 1));
    assert!(uv.vaf.max > Some(0.0) && uv.t_insecure.max > Some(0.0), "{uv:?}");
    assert_eq!((uv.by_moves.files, uv.by_moves.vaf, uv.by_moves.t_insecure), (1, uv.vaf, uv.t_insecure));
    assert!(mv.by_moves.vaf.max < mv.vaf.max && mv.by_moves.t_insecure.max <= mv.t_insecure.max, "{mv:?}");
    // Before the first move there is nothing of it.
    let (versions, ..) = serve_by(Executor::Timed, &config, &requests[..90], FilesAtStart::default());
    assert_eq!((versions.mv.by_moves.files, versions.mv.files, versions.uv.vaf.max), (0, 1, Some(0.0)));
}

/// An append that begins in the file's last unit leaves what was there a part of what is there: one version, though the
/// old unit is dead. One that begins before it does not.
#[test]
fn an_append_is_no_overwrite() {
    let append = request(OpCode::Write, 16, 2, 2);
    let requests = [request(OpCode::Write, 16, 0, 3), append, request(OpCode::Write, 16, 4, 1)];
    let (versions, ..) = serve(&chips(1), &requests, FilesAtStart::default());
    assert_eq!((versions.uv.files, versions.mv.files), (1, 0));
    assert_eq!(versions.uv.vaf.max, Some(1.0 / 5.0));
    let (versions, ..) =
        serve(&chips(1), &[requests[0], append, request(OpCode::Write, 16, 2, 1)], FilesAtStart::default());
    assert_eq!((versions.uv.files, versions.mv.files, versions.mv.vaf.max), (0, 1, Some(0.5)));
}

/// What is trimmed is dead, and stays until its block is erased.
#[test]
fn a_deleted_file_stays_in_flash() {
    let requests =
        [request(OpCode::Write, 16, 0, 4), request(OpCode::Trim, 0, 0, 4), write(17, 9), write(17, 10)];
    let (versions, _, drive) = serve(&chips(1), &requests, FilesAtStart::default());
    assert_eq!((versions.mv.files, versions.mv.vaf.max), (1, Some(1.0)));
    assert_eq!(versions.mv.t_insecure.max, Some(8.0 / fill(&drive)));
    // Its place taken without a word.
    let requests = [write(16, 0), write(17, 0)];
    let (versions, ..) = serve(&chips(1), &requests, FilesAtStart::default());
    assert_eq!((versions.mv.files, versions.uv.files, versions.mv.vaf.max), (1, 1, Some(1.0)));
}

/// Locked or scrubbed copies are not to be had: no file has invalid units when a write is over.
#[test]
fn what_is_locked_is_not_invalid() {
    let overwritten: Vec<Request> = (0..60).map(|n| write(16, n % 20)).collect();
    for policy in ["page_lock", "page_and_block_lock", "scrub", "erase", "reprogram"] {
        let mut config = chips(1);
        config.sanitize.select(policy).unwrap();
        let (versions, result, _) = serve(&config, &overwritten, FilesAtStart::default());
        let work = &result.ftl.sanitize;
        assert!(
            work.page_locks + work.block_locks + work.scrubs + work.reprograms + result.flash.erases.sum()
                > 0,
            "{policy}"
        );
        assert_eq!((versions.mv.files, versions.mv.t_insecure.max), (1, Some(0.0)), "{policy}");
    }
    let (versions, ..) = serve(&chips(1), &overwritten, FilesAtStart::default());
    assert_eq!(versions.mv.vaf.max, Some(2.0));
}

/// Files that lie there before the first request count with what they hold.
#[test]
fn files_of_the_start_are_known() {
    let held = |file, unit: u64, units: u64| Held {
        hints: Hints { file, ..Hints::default() },
        lba: unit * u64::from(UNIT),
        sectors: units * u64::from(UNIT),
    };
    // Numbers below 16 are of no file.
    let files = FilesAtStart { first: 16, held: vec![held(16, 0, 8), held(17, 10, 4), held(3, 20, 4)] };
    let spec = RunSpec {
        preconditioning: Preconditioning { fill_percent: 100.0, ..Preconditioning::default() },
        loop_mode: LoopMode::Closed { depth: 1 },
        executor: Executor::Functional,
        versions: VersionsSpec { watch: true, ..VersionsSpec::default() },
        ..RunSpec::default()
    };
    let config = chips(1);
    let mut drive = Drive::new(&config).unwrap();
    let mut source = List([write(16, 2), write(3, 21), write(3, 22), write(18, 30)].into(), files);
    let result = run(&mut drive, &config, &mut source, &spec, &mut |_| {}).unwrap();
    let versions = result.versions.unwrap();
    assert_eq!((versions.uv.files, versions.mv.files, versions.mv.vaf.max), (2, 1, Some(0.125)));
    // File 18 came later.
    assert_eq!(
        (versions.uv.of_run.files, versions.mv.of_run.files, versions.mv.of_run.vaf.max),
        (1, 0, None)
    );
}

#[test]
fn a_workload_without_files_says_so() {
    let (versions, result, _) = serve(&chips(1), &[write(0, 1), write(0, 1)], FilesAtStart::default());
    assert_eq!((versions.files(), versions.uv.vaf.mean), (0, None));
    assert!(
        result.remarks.iter().any(|remark| remark.contains("no write named its file")),
        "{:?}",
        result.remarks
    );
    let spec = RunSpec { loop_mode: LoopMode::Closed { depth: 1 }, ..RunSpec::default() };
    let config = chips(1);
    let mut drive = Drive::new(&config).unwrap();
    let result = run(&mut drive, &config, &mut List([].into(), FilesAtStart::default()), &spec, &mut |_| {});
    assert_eq!(result.unwrap().versions, None, "nobody asked");
}

/// Files of 16 units that keep their places, written, appended to and trimmed at random.
fn random(seed: u64, units: u32, count: usize) -> VecDeque<Request> {
    let mut rng = Rng::named(seed, "versions");
    let mut next = || {
        let unit = rng.below(units);
        let most = (16 - unit % 16).min(units - unit);
        let length = 1 + rng.below(most);
        match rng.below(20) {
            0 => request(OpCode::Trim, 0, unit, length),
            1 => request(OpCode::Read, 0, unit, length),
            _ => request(OpCode::Write, 100 + unit / 16, unit, length),
        }
    };
    (0..count).map(|_| next()).collect()
}

/// Valid and invalid units of each file, by a look at every page of the chips.
fn recount(drive: &Drive) -> Units {
    let mut found = Units::new();
    for unit in (0..drive.contents().units()).map(Pun) {
        let (block, page) = drive.contents().place_of(unit);
        let Some(spare) = drive.contents().spare_of(unit) else { continue };
        if drive.chips().raw_read(block, page, drive.now(), 0) != Raw::Data {
            continue;
        }
        let (valid, invalid) = found.entry(100 + u64::from(spare.lpn.0) / 16).or_default();
        match drive.contents().mapped_to(spare.lpn) == Some(unit) {
            true => *valid += 1,
            false => *invalid += 1,
        }
    }
    found.retain(|_, counts| *counts != (0, 0));
    found
}

/// Valid and invalid units by file.
type Units = BTreeMap<u64, (u64, u64)>;

/// The last row of each file in a table, and its maxima.
fn rows(path: &PathBuf) -> (Units, Units) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("writes,file,valid,invalid,moved"));
    let (mut last, mut most, mut before) = (BTreeMap::new(), BTreeMap::new(), 0);
    for line in lines {
        let numbers: Vec<u64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        let [writes, file, valid, invalid, moved] = numbers[..] else { panic!("{line}") };
        assert!(writes >= before && moved <= invalid, "{line}");
        before = writes;
        last.insert(file, (valid, invalid));
        let (valid_max, invalid_max) = most.entry(file).or_insert((0, 0));
        (*valid_max, *invalid_max) = (valid.max(*valid_max), invalid.max(*invalid_max));
    }
    last.retain(|_, counts| *counts != (0, 0));
    (last, most)
}

/// Runs that end at many places: what the table says last is what a look at every page finds.
#[test]
fn random_runs_agree_with_a_look_at_every_page() {
    let path = fresh_path("versions.csv");
    let (mut compared, mut hidden) = (0, 0);
    // Nine of each policy.
    for seed in 0..54 {
        let mut config = chips(1 + (seed % 2) as u32);
        config.drive.seed = seed;
        let policies = ["none", "page_lock", "page_and_block_lock", "scrub", "erase", "reprogram"];
        let policy = policies[seed as usize % policies.len()];
        config.sanitize.select(policy).unwrap();
        let depth = if seed % 3 == 0 { 1 } else { 8 };
        let executor = if seed % 4 == 0 { Executor::Functional } else { Executor::Timed };
        for count in [3, 50, 200, 700] {
            let spec = RunSpec {
                preconditioning: Preconditioning {
                    fill_percent: if seed % 5 < 2 { 100.0 } else { 0.0 },
                    ..Preconditioning::default()
                },
                loop_mode: LoopMode::Closed { depth },
                executor,
                versions: VersionsSpec { table: Some(path.clone()), ..VersionsSpec::default() },
                ..RunSpec::default()
            };
            let mut drive = Drive::new(&config).unwrap();
            let units = drive.logical_units();
            let held = (0..units).map(|unit| Held {
                hints: Hints { file: 100 + unit / 16, ..Hints::default() },
                lba: (unit * UNIT).into(),
                sectors: UNIT.into(),
            });
            let files = FilesAtStart { first: 100, held: held.collect() };
            let mut source = List(random(seed, units, count), files);
            let result = run(&mut drive, &config, &mut source, &spec, &mut |_| {}).unwrap();
            let (last, most) = rows(&path);
            let about = format!("seed {seed}, {policy}, {count} requests, depth {depth}, {executor:?}");
            assert_eq!(last, recount(&drive), "{about}");
            compared += last.values().map(|(_, invalid)| invalid).sum::<u64>();
            let work = &result.ftl.sanitize;
            hidden += work.page_locks + work.scrubs + work.reprograms;
            // The result's maxima see each effect, the table what is so between two requests.
            let versions = result.versions.unwrap();
            assert_eq!(
                versions.files(),
                most.values().filter(|(valid, _)| *valid > 0).count() as u64,
                "{about}"
            );
            let by_rows = most.values().filter(|(valid, _)| *valid > 0).map(|(v, i)| *i as f64 / *v as f64);
            let vaf = [versions.uv.vaf.max, versions.mv.vaf.max].into_iter().flatten().fold(0.0, f64::max);
            assert!(vaf >= by_rows.fold(0.0, f64::max) * 0.999, "{about}: {vaf}");
        }
    }
    assert!(compared > 2_000 && hidden > 1_000, "{compared} invalid units, {hidden} locks and scrubs");
}

/// A replica is as alive as what it is of: a thief who reads it has found nothing that was deleted.
#[test]
fn replicas_are_not_dead_copies() {
    let mut config = small_drive();
    (config.geometry.wordlines_per_block, config.drive.over_provisioning_percent) = (4, 60.0);
    config.errors.model = ssd::sections::ErrorModel::Cells;
    config.read_reclaim.select("redftl").unwrap();
    config.sanitize.select("page_lock").unwrap();
    for (key, value) in
        [("max_reads", 80), ("replica_percent", 20), ("replica_limit", 3), ("good_blocks_percent", 100)]
    {
        config.read_reclaim.set(key, &Value::Integer(value)).unwrap();
    }
    let mut drive = Drive::new(&config).unwrap();
    drive.fill(0, drive.logical_units()).unwrap();
    let sectors = drive.unit_bytes() / 512;
    let mut most = 0;
    for tag in 0..20_000 {
        let lba = Lba(u64::from(sectors) * (tag % 7));
        let read =
            Command { op: OpCode::Read, lba, sectors, tag, arrival: drive.now(), ..Command::default() };
        drive.submit(0, &read, drive.now()).unwrap();
        drive.drain();
        while drive.pop_completion().is_some() {}
        if tag % 200 == 0 {
            let (told, finds) = lab::forensics::look(&drive, &config, 0, (None, None), &lab::Stop::default());
            assert!(finds.is_empty() && told.dead_secured.data == 0, "after {tag} reads: {told:?}");
            most = most.max(told.live.data);
        }
    }
    assert!(
        most > u64::from(drive.logical_units()),
        "{most} units alive, {} without replicas",
        drive.logical_units()
    );
}
