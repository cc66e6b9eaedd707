//! Instructions a request, counted by valgrind's callgrind: they do not depend on what else the machine does, and so
//! can be held. `make instructions` fails where one is above `benches/instructions.txt` by more than 2 %;
//! `make instructions UPDATE=1` writes that file. They depend on the compiler, so only its own is held.
//!
//! Callgrind is driven here and not through a framework: those need a second program of the very same version
//! installed beside the library, and what is needed is one number of one function.

use crate::report::{Goal, Row};
use crate::speed::{filled, preset, preset_with};
use crate::techniques::locking;
use lab::experiment::run;
use lab::spec::{LoopMode, RunSpec};
use ssd::flash::op::Cause;
use ssd::rng::Rng;
use ssd::{AgeStep, Drive, DriveConfig, Executor, Pace, Stats};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use workload::Spec;

const FILE: &str = "benches/instructions.txt";
const HEAD: &str = "\
# Instructions a request, counted by callgrind. `make instructions UPDATE=1` writes this file, `make instructions` holds
# it: 2 % more fail. Another compiler makes another program, so its counts are not held.
";
/// What built this, from the build script.
const COMPILER: &str = env!("WORDLINE_COMPILER");
const PREFIX: &str = "instructions_";
/// Requests of the run whose instructions are taken off.
const FEW: u64 = 1_000;
/// How far a count may be above what the file says.
const SLACK: f64 = 1.02;
/// A load whose instructions are counted.
struct Case {
    name: &'static str,
    /// The drive, in the state in which the load finds it.
    prepare: fn() -> (DriveConfig, Drive),
    depth: u32,
    load: &'static str,
    /// Requests served before those that are counted, until the buffer is as full as it stays.
    before: u64,
    requests: u64,
    /// How often the technique acted that the load is for: it must.
    acts: fn(&Stats) -> u64,
}

const CASES: &[Case] = &[
    Case {
        name: "random_read",
        prepare: full,
        depth: 32,
        load: READS,
        before: 1_000,
        requests: 30_000,
        acts: always,
    },
    Case {
        name: "random_70_30",
        prepare: full,
        depth: 32,
        load: MIX,
        before: 60_000,
        requests: 30_000,
        acts: always,
    },
    Case {
        name: "fresh_write",
        prepare: fresh,
        depth: 32,
        load: WRITES,
        before: 30_000,
        requests: 30_000,
        acts: always,
    },
    Case {
        name: "steady_cleaning",
        prepare: cleaned,
        depth: 16,
        load: LARGE_WRITES,
        before: 15_000,
        requests: 15_000,
        acts: always,
    },
    Case {
        name: "counted_read_straw",
        prepare: counting,
        depth: 1,
        load: PAGE_READS,
        before: 1_000,
        requests: 300_000,
        acts: always,
    },
    Case {
        name: "page_overwrite",
        prepare: || overwritten("none"),
        depth: 16,
        load: PAGE_WRITES,
        before: 5_000,
        requests: 15_000,
        acts: always,
    },
    Case {
        name: "page_overwrite_locked",
        prepare: || overwritten("page_and_block_lock"),
        depth: 16,
        load: PAGE_WRITES,
        before: 5_000,
        requests: 15_000,
        acts: |stats| stats.ftl.exposed_pages,
    },
    Case {
        name: "slc_cache",
        prepare: cached,
        depth: 1,
        load: PAGE_WRITES,
        before: 10_000,
        requests: 10_000,
        acts: |stats| stats.ftl.slc_destaged,
    },
    Case {
        name: "replicas",
        prepare: || disturbed("redftl"),
        depth: 4,
        load: HOT_READS,
        before: 10_000,
        requests: 20_000,
        acts: |stats| moved(stats, Cause::Replication),
    },
    Case {
        name: "deals",
        prepare: || disturbed("redftl_plus"),
        depth: 4,
        load: HOT_READS,
        before: 10_000,
        requests: 20_000,
        acts: |stats| stats.ftl.dealt_pages.iter().sum(),
    },
    Case {
        name: "copyback",
        prepare: || moving(&["ftl.migration.policy=copyback_by_cycles"]),
        depth: 16,
        load: PAGE_WRITES,
        before: 10_000,
        requests: 10_000,
        acts: |stats| stats.ftl.copies,
    },
    Case {
        name: "ages",
        prepare: || moving(&["ftl.age_marker.policy=real_wear"]),
        depth: 16,
        load: PAGE_WRITES,
        before: 10_000,
        requests: 10_000,
        acts: |stats| stats.techniques.age_marker.age_checks,
    },
    Case {
        name: "sorting",
        prepare: sorting,
        depth: 16,
        load: PAGE_MIX,
        before: 10_000,
        requests: 10_000,
        acts: |stats| stats.ftl.class_matched,
    },
    Case {
        name: "swaps",
        prepare: || {
            // Where the host takes all that is free there is seldom room for a whole block.
            moving(&[
                "ftl.wear_leveling.policy=static_swap",
                "ftl.wear_leveling.max_difference=1",
                "drive.over_provisioning_percent=100",
            ])
        },
        depth: 16,
        load: COLD_REST,
        before: 20_000,
        requests: 20_000,
        acts: |stats| moved(stats, Cause::WearLeveling),
    },
];

/// For loads that are for no technique.
fn always(_: &Stats) -> u64 {
    1
}

fn moved(stats: &Stats, cause: Cause) -> u64 {
    stats.ftl.moved_units[cause as usize]
}

const READS: &str = "read_percent = 100\nsize_bytes = 4096";
const MIX: &str = "read_percent = 70\nsize_bytes = 4096";
const WRITES: &str = "read_percent = 0\nsize_bytes = 4096";
const LARGE_WRITES: &str = "read_percent = 0\nsize_bytes = 8192";
const PAGE_READS: &str = "read_percent = 100\nsize_bytes = 16384";
const PAGE_WRITES: &str = "read_percent = 0\nsize_bytes = 16384";

const PAGE_MIX: &str = "read_percent = 50\nsize_bytes = 16384";
/// Some pages are read over and over.
const HOT_READS: &str = "read_percent = 95\nsize_bytes = 16384\nfootprint_percent = 1";
/// Most of the data stays as it is.
const COLD_REST: &str = "read_percent = 0\nsize_bytes = 16384\nfootprint_percent = 5";

/// A quarter of m64, 16 GiB: filling the whole takes most of the time under valgrind, and counts differ little.
fn quarter() -> DriveConfig {
    let mut cfg = preset("m64");
    cfg.geometry.blocks_per_plane /= 4;
    cfg
}

fn fresh() -> (DriveConfig, Drive) {
    let cfg = quarter();
    let drive = Drive::new(&cfg).expect("a sound preset");
    (cfg, drive)
}

fn full() -> (DriveConfig, Drive) {
    let cfg = quarter();
    let drive = filled(&cfg, 100);
    (cfg, drive)
}

/// Three quarters written, and overwritten until every lane is cleaned.
fn cleaned() -> (DriveConfig, Drive) {
    used(quarter(), 75)
}

/// So many percent written, and half as many units as there are overwritten.
fn used(cfg: DriveConfig, percent: u64) -> (DriveConfig, Drive) {
    let mut drive = filled(&cfg, percent);
    let mut rng = Rng::named(cfg.drive.seed, "bench/instructions");
    let units = drive.logical_units();
    let lpns: Vec<u32> = (0..units / 2).map(|_| rng.below(units)).collect();
    drive.overwrite(&lpns).expect("room");
    (cfg, drive)
}

/// A quarter of one chip of Straw's drive, with more spare room, full and cycled 2,000 times, that only counts.
fn counting() -> (DriveConfig, Drive) {
    let settings = [
        "nand.errors.model=cells",
        "nand.errors.disturb_counters=wordline",
        "ftl.read_reclaim.policy=straw",
        "ftl.read_reclaim.counters=space_saving",
    ];
    let mut cfg = preset_with("straw", &settings);
    (cfg.geometry.channels, cfg.geometry.chips_per_channel) = (1, 1);
    cfg.geometry.blocks_per_plane /= 4;
    cfg.drive.over_provisioning_percent = 20.0;
    let mut drive = filled(&cfg, 100);
    let step: AgeStep = "cycle to 2000".parse().expect("a sound step");
    drive.age(&step).expect("a drive whose cells age");
    drive.set_executor(Executor::Functional);
    (cfg, drive)
}

/// The drive of the bench `locks`, full and written over once more, with a policy of `ftl.sanitize`; nothing of that is
/// left to be locked.
fn overwritten(policy: &str) -> (DriveConfig, Drive) {
    let (cfg, mut drive) = used(locking(policy), 100);
    while drive.past().catch_up(Pace::Relaxed) {}
    (cfg, drive)
}

/// Two dies of TLC, mapped by page.
fn tlc(settings: &[&str]) -> DriveConfig {
    let small = [
        "nand.geometry.channels=1",
        "nand.geometry.chips_per_channel=1",
        "nand.geometry.blocks_per_plane=128",
        "nand.geometry.wordlines_per_block=32",
        "ftl.mapping.unit=page",
        "host.buffer.size_mib=1",
        "drive.over_provisioning_percent=25",
    ];
    preset_with("tlc", &[&small[..], settings].concat())
}

/// That drive with cells that age, in the middle of their lives, full and cleaned.
fn moving(settings: &[&str]) -> (DriveConfig, Drive) {
    let (cfg, mut drive) = used(tlc(&[&["nand.errors.model=cells"], settings].concat()), 100);
    drive.age(&"cycle to 1000".parse().expect("a sound step")).expect("a drive whose cells age");
    (cfg, drive)
}

/// That drive with a cache of one bit a cell. A host that writes all the time would pass it by, so no time passes.
fn cached() -> (DriveConfig, Drive) {
    let (cfg, mut drive) = used(tlc(&["ftl.slc_cache.policy=fixed"]), 75);
    drive.set_executor(Executor::Functional);
    (cfg, drive)
}

/// That drive whose blocks stand few reads.
fn disturbed(policy: &str) -> (DriveConfig, Drive) {
    let policy = format!("ftl.read_reclaim.policy={policy}");
    moving(&[&policy, "ftl.read_reclaim.max_reads=100", "nand.errors.disturb_counters=wordline"])
}

/// That drive with pages chosen by how often data is read.
fn sorting() -> (DriveConfig, Drive) {
    let settings = [
        "ftl.page_class.policy=read_heat",
        "ftl.allocation.moves=joined",
        "ftl.cleaning.reserve_blocks=24",
        "ftl.gc_trigger.policy=watermark",
        "ftl.gc_trigger.start_free_percent=0",
        "ftl.gc_trigger.stop_free_percent=1",
        "drive.over_provisioning_percent=60",
    ];
    used(tlc(&settings), 100)
}

/// The function whose instructions are counted, by its name: all of a run as users have it.
#[inline(never)]
fn measured(drive: &mut Drive, cfg: &DriveConfig, source: &mut dyn workload::Source, spec: &RunSpec) -> u64 {
    run(drive, cfg, source, spec, &mut |_| {}).expect("a complete run").requests_served
}

/// Runs a case: [`FEW`] requests, then so many as are counted beside them. What callgrind looks at.
pub fn case(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a case");
    let (cfg, mut drive) = (case.prepare)();
    let spec = RunSpec {
        loop_mode: LoopMode::Closed { depth: case.depth },
        executor: drive.executor(),
        ..RunSpec::default()
    };
    let source = |count: u64, seed: u64| {
        let text = format!("pattern = 'uniform'\nseed = {seed}\ncount = {count}\n{}", case.load);
        let load = Spec::parse(&text).and_then(|spec| spec.prepare()).expect("a sound workload");
        load.open(drive.logical_sectors()).expect("a generator")
    };
    let mut before = source(case.before, 2);
    let counted = [FEW, FEW + case.requests].map(|count| (count, source(count, 1)));
    run(&mut drive, &cfg, &mut *before, &spec, &mut |_| {}).expect("a complete run");
    for (count, mut source) in counted {
        assert_eq!(measured(&mut drive, &cfg, &mut *source, &spec), count);
    }
    assert!((case.acts)(&drive.stats()) > 0, "{name}: the load does not do what it is for");
}

/// Instructions of both calls of [`measured`], as callgrind counts them: it writes a file after each.
fn count(case: &Case) -> Result<[u64; 2], String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for callgrind's files: {error}"))?;
    let file = folder.path().join("out");
    let output = Command::new("valgrind")
        // Large rooms come from the system, clear, in both runs: else the second clears what the first has given back.
        .env("MALLOC_MMAP_THRESHOLD_", "131072")
        .args(["--tool=callgrind", "--toggle-collect=drive::instructions::measured"])
        .arg("--dump-after=drive::instructions::measured")
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(this)
        .args(["--case", case.name])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let collected = |number: u32| {
        let text = std::fs::read_to_string(file.with_extension(number.to_string())).ok()?;
        text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<u64>().ok())
    };
    match (collected(1), collected(2)) {
        (Some(alone), Some(all)) if output.status.success() && alone < all => Ok([alone, all]),
        _ => Err(format!("{}: {}\n{}", case.name, output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// Instructions a request: what a run takes whatever its length is counted alone, and left out.
fn instructions_a_request(case: &Case) -> Result<f64, String> {
    let [alone, all] = count(case)?;
    Ok((all - alone) as f64 / case.requests as f64)
}

/// What the file says: the compiler, and instructions by case.
struct Committed {
    compiler: String,
    counts: BTreeMap<String, f64>,
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE)
}

impl Committed {
    fn read() -> Result<Committed, String> {
        let text = std::fs::read_to_string(path()).map_err(|error| format!("{FILE}: {error}"))?;
        let mut committed = Committed { compiler: String::new(), counts: BTreeMap::new() };
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
            let wrong =
                || format!("{FILE}:{number}: found {line:?}, allowed: NAME: NUMBER, or compiler: NAME");
            match line.split_once(": ").ok_or_else(wrong)? {
                ("compiler", name) => committed.compiler = name.to_owned(),
                (name, count) => {
                    let count = count.parse().map_err(|_| wrong())?;
                    committed.counts.insert(name.to_owned(), count);
                }
            }
        }
        Ok(committed)
    }

    fn write(rows: &[Row]) -> Result<(), String> {
        let mut text = format!("{HEAD}compiler: {COMPILER}\n");
        for row in rows {
            let _ = writeln!(text, "{}: {:.0}", row.name.trim_start_matches(PREFIX), row.value);
        }
        std::fs::write(path(), text).map_err(|error| format!("{FILE}: {error}"))
    }
}

/// Whether the machine has callgrind; says so aloud if not.
fn has_valgrind() -> bool {
    let found =
        Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!(
            "SKIPPED: no valgrind here, so no instructions are counted (Debian: apt-get install valgrind)"
        );
    }
    found
}

/// Instructions a request of each case, as a bench.
pub fn rows() -> Vec<Row> {
    counted().unwrap_or_else(|error| panic!("{error}"))
}

/// Instructions a request of each case; none where they cannot be counted.
fn counted() -> Result<Vec<Row>, String> {
    if !has_valgrind() {
        return Ok(Vec::new());
    }
    let committed = Committed::read()?;
    let is_held = committed.compiler == COMPILER;
    if !is_held {
        eprintln!("NOT HELD: this is built by {COMPILER}, {FILE} is of {}", committed.compiler);
    }
    let counts = std::thread::scope(|scope| {
        let running: Vec<_> = CASES.iter().map(|case| scope.spawn(|| instructions_a_request(case))).collect();
        running.into_iter().map(|case| case.join().expect("a count")).collect::<Result<Vec<_>, _>>()
    })?;
    let row = |(case, count): (&Case, f64)| {
        let bound = committed.counts.get(case.name).map_or(0.0, |count| count * SLACK);
        let goal = if is_held { Goal::AtMost(bound) } else { Goal::None };
        Row::new(&format!("{PREFIX}{}", case.name), count, "instructions/request", goal)
    };
    Ok(CASES.iter().zip(counts).map(row).collect())
}

/// Counts and holds what the file says, or writes it anew.
pub fn hold(is_update: bool) -> Result<(), String> {
    let rows = counted()?;
    print!("{}", crate::report::table(&rows));
    if is_update && !rows.is_empty() {
        Committed::write(&rows)?;
        println!("written to {FILE}");
        return Ok(());
    }
    match rows.iter().filter(|row| !row.goal.is_reached(row.value)).count() {
        0 => Ok(()),
        missed => Err(format!(
            "{missed} loads take more instructions than {FILE} allows (2 % more than it says). If that is meant, \
             `make instructions UPDATE=1` writes it anew: say why in the commit"
        )),
    }
}
