//! Event hashes of techniques two by two on one small drive, in both executors: `pairs.txt`. What one of them does
//! alone `hashes.txt` holds; here is what they do to each other, with trims, secured data, idle times, and a drive that
//! is saved and restored in the middle of its work.

use super::support::Load;
use super::support::every::{cause, choose, chosen, fitted, has, know_age};
use super::{VARIABLE, read_mostly, worn};
use ssd::config::{Table, Value};
use ssd::flash::op::Cause;
use ssd::sections::MappingUnit;
use ssd::{Drive, DriveConfig, Executor, SimDuration, Stats};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const FILE: &str = "tests/suite/goldens/pairs.txt";
const HEAD: &str = "\
# Event hashes of two techniques on one drive: timed executor, functional executor. Do not edit by hand:
# WORDLINE_GOLDENS=write cargo test -p wordline-ssd --test suite goldens
";

/// A technique: its name, what switches it on, and how often it acted.
struct Technique {
    name: &'static str,
    /// The family, or the policy of one, that drives may be without.
    of: Option<&'static str>,
    set: fn(&mut DriveConfig),
    is_on: fn(&DriveConfig) -> bool,
    acts: fn(&Stats) -> u64,
}

/// Switches of cleaning, and policies by section and name.
const TECHNIQUES: &[Technique] = &[
    Technique {
        name: "cache",
        of: None,
        set: |cfg| choose(cfg, "ftl.slc_cache", "adaptive"),
        is_on: |cfg| cfg.slc_cache.name() != "none",
        acts: |stats| stats.ftl.slc_destaged,
    },
    Technique {
        name: "reclaim",
        of: None,
        set: |cfg| reclaim(cfg, "straw"),
        is_on: |cfg| cfg.read_reclaim.name() == "straw",
        acts: |stats| moved(stats, Cause::ReadReclaim),
    },
    Technique {
        name: "replicas",
        of: Some("ftl.read_reclaim.redftl"),
        set: |cfg| reclaim(cfg, "redftl"),
        is_on: |cfg| cfg.read_reclaim.name() == "redftl",
        acts: |stats| cause("replication").map_or(0, |cause| moved(stats, cause)),
    },
    Technique {
        name: "deals",
        of: Some("ftl.read_reclaim.redftl_plus"),
        set: |cfg| reclaim(cfg, "redftl_plus"),
        is_on: |cfg| cfg.read_reclaim.name() == "redftl_plus",
        acts: |stats| stats.ftl.dealt_pages.iter().sum(),
    },
    Technique {
        name: "copyback",
        of: Some("ftl.migration"),
        set: |cfg| choose(cfg, "ftl.migration", "copyback_by_cycles"),
        is_on: |cfg| chosen(cfg, "ftl.migration") != "off_chip" && cfg.mapping.unit == MappingUnit::Page,
        acts: |stats| stats.ftl.copies,
    },
    Technique {
        name: "ages",
        of: Some("ftl.age_marker"),
        set: know_age,
        is_on: |cfg| chosen(cfg, "ftl.age_marker") != "none",
        acts: |stats| stats.total("ftl.age_checks"),
    },
    Technique {
        name: "copyback_by_unit",
        of: Some("ftl.migration"),
        set: |cfg| {
            choose(cfg, "ftl.migration", "copyback_by_cycles");
            cfg.mapping.unit = MappingUnit::FourKib;
        },
        is_on: |cfg| chosen(cfg, "ftl.migration") != "off_chip" && cfg.mapping.unit == MappingUnit::FourKib,
        acts: |stats| stats.ftl.copies,
    },
    Technique {
        name: "sorting",
        of: None,
        set: |cfg| choose(cfg, "ftl.page_class", "read_heat"),
        is_on: |cfg| cfg.page_class.name() != "sequential",
        acts: |stats| stats.ftl.class_matched,
    },
    Technique {
        name: "modes",
        of: None,
        set: |cfg| {
            choose(cfg, "ftl.stream", "request_size");
            choose(cfg, "ftl.program_mode", "hire");
            // Room for the open blocks of three times as many streams; few accesses tell.
            cfg.geometry.blocks_per_plane = cfg.geometry.blocks_per_plane.max(30);
            cfg.hotness.set("watermark_percent", &Value::Integer(51)).unwrap();
        },
        is_on: |cfg| cfg.program_mode.name() == "hire" && cfg.stream.name() != "hotness",
        acts: |stats| stats.ftl.erased_by_mode[1..].iter().sum(),
    },
    Technique {
        name: "swaps",
        of: Some("ftl.wear_leveling"),
        set: |cfg| {
            choose(cfg, "ftl.wear_leveling", "static_swap");
            cfg.section_mut("ftl.wear_leveling").unwrap().set("max_difference", &Value::Integer(1)).unwrap();
        },
        is_on: |cfg| chosen(cfg, "ftl.wear_leveling") != "none",
        acts: |stats| cause("wear_leveling").map_or(0, |cause| moved(stats, cause)),
    },
    Technique {
        name: "locks",
        of: None,
        set: |cfg| choose(cfg, "ftl.sanitize", "page_and_block_lock"),
        is_on: |cfg| cfg.sanitize.name() == "page_and_block_lock",
        acts: |stats| stats.ftl.exposed_locked.pages,
    },
    Technique {
        name: "erases",
        of: None,
        set: |cfg| choose(cfg, "ftl.sanitize", "erase"),
        is_on: |cfg| cfg.sanitize.name() == "erase",
        acts: |stats| stats.ftl.exposed_erased.pages,
    },
    Technique {
        name: "scrubs",
        of: None,
        set: |cfg| choose(cfg, "ftl.sanitize", "scrub"),
        is_on: |cfg| cfg.sanitize.name() == "scrub",
        acts: |stats| stats.ftl.exposed_locked.pages,
    },
    Technique {
        name: "streams",
        of: None,
        set: |cfg| choose(cfg, "ftl.stream", "sepbit"),
        is_on: |cfg| cfg.stream.name() == "sepbit",
        acts: |stats| stats.ftl.stream_units.iter().skip(1).sum(),
    },
    Technique {
        name: "lazy_erases",
        of: None,
        set: |cfg| cfg.cleaning.lazy_erase = true,
        is_on: |cfg| cfg.cleaning.lazy_erase,
        acts: |stats| stats.ftl.reclaimed_blocks,
    },
    Technique {
        name: "pace",
        of: None,
        set: |cfg| cfg.cleaning.paces_host = true,
        is_on: |cfg| cfg.cleaning.paces_host,
        acts: |stats| stats.ftl.reclaimed_blocks,
    },
];

/// Those that drives have.
fn techniques() -> impl Iterator<Item = &'static Technique> {
    TECHNIQUES.iter().filter(|technique| technique.of.is_none_or(has))
}

/// Whether a line of the file is of a technique that drives are without.
fn is_gone(line: &str) -> bool {
    let gone = TECHNIQUES.iter().filter(|technique| !technique.of.is_none_or(has));
    gone.flat_map(|gone| line.split(' ').take(2).map(move |name| name == gone.name)).any(|is_gone| is_gone)
}

fn moved(stats: &Stats, cause: Cause) -> u64 {
    stats.ftl.moved_units[cause as usize]
}

/// A policy of reclaim that takes from the cells what blocks stand.
fn reclaim(cfg: &mut DriveConfig, policy: &str) {
    choose(cfg, "ftl.read_reclaim", policy);
    if cfg.read_reclaim.show("max_reads").is_some() {
        cfg.read_reclaim.set("max_reads", &Value::Integer(0)).unwrap();
    }
}

/// A drive with two techniques, if there can be one: they are switched on one after the other, and the second may have
/// taken the first away.
fn drive(pair: [&Technique; 2]) -> Option<DriveConfig> {
    let mut cfg = worn();
    choose(&mut cfg, "ftl.read_reclaim", "never");
    cfg.mapping.unit = MappingUnit::Page;
    cfg.queues.depth = 16;
    pair.iter().for_each(|technique| (technique.set)(&mut cfg));
    let cfg = fitted(cfg).ok()?;
    pair.iter().all(|technique| (technique.is_on)(&cfg)).then_some(cfg)
}

/// Hash and counts after reads and writes, with trims, idle times and a restore.
fn run(cfg: &DriveConfig, executor: Executor) -> (u64, Stats) {
    let mut drive = Drive::new(cfg).unwrap();
    drive.fill(0, drive.logical_units()).unwrap();
    for step in ["cycle to 3000", "retain 3 months"] {
        drive.age(&step.parse().unwrap()).unwrap();
    }
    drive.set_executor(executor);
    let mut load = Load::new(1);
    for _ in 0..4 {
        load.run(&mut drive, 800);
        let mut bytes = Vec::new();
        drive.save(&mut bytes).unwrap();
        drive = Drive::restore(cfg, &bytes).unwrap();
        read_mostly(&mut drive, 5_000);
        drive.drain();
        while drive.pop_completion().is_some() {}
        drive.advance_to(drive.now() + SimDuration(super::PAUSE_NS));
    }
    drive.drain();
    drive.check().unwrap();
    (drive.event_hash(), drive.stats())
}

/// What came of a pair in both executors, and how often each of its techniques acted where time passes; nothing where
/// the configuration's check refuses.
type Came = Option<([u64; 2], [u64; 2])>;

/// Runs each technique alone and all pairs, on all processors: by name.
fn run_all() -> BTreeMap<String, Came> {
    let techniques: Vec<_> = techniques().collect();
    let count = techniques.len();
    let pairs: Vec<_> =
        (0..count).flat_map(|first| (first..count).map(move |second| [first, second])).collect();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let worker = || {
        while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let pair = pair.map(|at| techniques[at]);
            let came = drive(pair).map(|cfg| {
                let (functional, _) = run(&cfg, Executor::Functional);
                let (timed, stats) = run(&cfg, Executor::Timed);
                ([timed, functional], pair.map(|technique| (technique.acts)(&stats)))
            });
            let name = if pair[0].name == pair[1].name { "alone" } else { pair[1].name };
            all.lock().unwrap().insert(format!("{} {name}", pair[0].name), came);
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| _ = scope.spawn(worker)));
    all.into_inner().unwrap()
}

/// Pairs of which one has nothing to do beside the other.
const IDLE: &[&str] = &[];

#[test]
fn the_golden_hashes_of_pairs_hold() {
    let came = run_all();
    let idle = came.iter().filter(|(_, came)| came.is_some_and(|(_, acts)| acts.contains(&0)));
    let idle: Vec<&str> = idle.map(|(name, _)| name.as_str()).collect();
    assert_eq!(idle, IDLE, "pairs in which a technique never acts");
    let found: String = came
        .iter()
        .map(|(name, came)| match came {
            Some(([timed, functional], _)) => format!("{name} {timed:016x} {functional:016x}\n"),
            None => format!("{name} refused\n"),
        })
        .collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "write") {
        std::fs::write(&path, format!("{HEAD}{found}")).unwrap();
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text: String = text.lines().filter(|line| !is_gone(line)).flat_map(|line| [line, "\n"]).collect();
    let expected = text.lines().filter(|line| !line.starts_with('#'));
    let wrong: Vec<_> = found.lines().zip(expected).filter(|(found, line)| found != line).collect();
    assert!(wrong.is_empty(), "{FILE}: found and expected: {wrong:#?}");
    assert_eq!(text, format!("{HEAD}{found}"), "lines of {FILE}");
}
