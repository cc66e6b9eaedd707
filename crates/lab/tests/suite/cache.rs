//! Aged drives that are kept: what comes from the cache is what would have been made.

use crate::common;

use common::{closed, fresh_path, generator, run, small_drive, tiny_drive, with_every_policy};
use lab::{AgeSteps, DriveCache, Past, Preconditioning, RunResult, RunSpec};
use ssd::DriveConfig;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use workload::{Prepared, Spec};

/// A cache that keeps whatever took any time, in a new folder.
fn cache(name: &str) -> Arc<DriveCache> {
    Arc::new(DriveCache::new(fresh_path(name)).with_limits(Duration::ZERO, 1 << 30))
}

/// With the workload's own past where that is possible.
fn spec(cache: Option<&Arc<DriveCache>>) -> RunSpec {
    let spec = closed(8);
    let preconditioning = Preconditioning { past: Past::Own, ..spec.preconditioning };
    RunSpec { cache: cache.cloned(), preconditioning, ..spec }
}

fn writes() -> Prepared {
    generator(2_000, "read_percent = 30\nsize_bytes = 16384")
}

/// All of a result but what it cost, and whether the drive was kept.
fn told(mut result: RunResult) -> RunResult {
    (result.cpu_seconds, result.wall_seconds, result.preconditioning.cpu_seconds) = (0.0, 0.0, 0.0);
    (result.requests_per_cpu_second, result.peak_rss_bytes) = (None, None);
    result.preconditioning.kept = false;
    result
}

/// The one file of a cache.
fn file_of(cache: &DriveCache) -> PathBuf {
    let folders = std::fs::read_dir(cache.folder()).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> =
        folders.map(|folder| folder.join("aged.drive")).filter(|path| path.is_file()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn under_every_policy_a_kept_drive_does_what_a_new_one_does() {
    let workload = writes();
    let kept = cache("cache-policies");
    for (name, config) in with_every_policy(&tiny_drive()) {
        let without = run(&config, &workload, &spec(None));
        let first = run(&config, &workload, &spec(Some(&kept)));
        let second = run(&config, &workload, &spec(Some(&kept)));
        assert!(!first.preconditioning.kept && second.preconditioning.kept, "{name}");
        assert_eq!(told(first), told(without.clone()), "{name}: the run that makes it");
        assert_eq!(told(second), told(without), "{name}: the run that finds it");
        // Some policies are the default.
        kept.clear().unwrap();
    }
    assert_eq!(kept.take_remarks(), [""; 0]);
}

#[test]
fn cells_keep_their_age() {
    let (workload, kept) = (writes(), cache("cache-cells"));
    let mut config = small_drive();
    config.errors.model = ssd::sections::ErrorModel::Cells;
    let age = AgeSteps::parse(&["cycle to 1000", "retain 3 months"]).unwrap();
    let aged = |cache| RunSpec { age: age.clone(), ..spec(cache) };
    let without = run(&config, &workload, &aged(None));
    run(&config, &workload, &aged(Some(&kept)));
    let found = run(&config, &workload, &aged(Some(&kept)));
    assert!(found.preconditioning.kept && found.preconditioning.age_steps.len() == 2);
    assert_eq!(told(found), told(without));
    assert!(kept.entries().unwrap()[0].what.contains("retain 3 months"));
    // A part of it is another drive.
    let part = AgeSteps::parse(&["cycle to 1000", "retain 3 months of 0%-50%"]).unwrap();
    let parted = |cache| run(&config, &workload, &RunSpec { age: part.clone(), ..spec(cache) });
    let (without, made, found) = (parted(None), parted(Some(&kept)), parted(Some(&kept)));
    assert_eq!([&made, &found].map(|run| run.preconditioning.kept), [false, true]);
    assert_eq!(told(found), told(without));
}

#[test]
fn what_made_the_drive_tells_drives_apart() {
    let (workload, kept) = (writes(), cache("cache-apart"));
    run(&small_drive(), &workload, &spec(Some(&kept)));
    let is_found = |config: &DriveConfig, workload: &Prepared, spec: &RunSpec| {
        run(config, workload, spec).preconditioning.kept
    };
    assert!(is_found(&small_drive(), &workload, &spec(Some(&kept))));
    // A measurement of another kind begins on the same drive.
    let other = RunSpec { name: "other".into(), samples: 10, ..spec(Some(&kept)) };
    assert!(is_found(&small_drive(), &workload, &other));
    let mut config = small_drive();
    config.drive.seed += 1;
    assert!(!is_found(&config, &workload, &spec(Some(&kept))), "another seed");
    let fewer = RunSpec { requests: Some(1_000), ..spec(Some(&kept)) };
    assert!(!is_found(&small_drive(), &workload, &fewer), "fewer requests in its past");
    let mut uniform = spec(Some(&kept));
    uniform.preconditioning.past = Past::Uniform;
    assert!(!is_found(&small_drive(), &workload, &uniform), "another past");
    // At random, whatever is measured behind it.
    assert!(is_found(&small_drive(), &generator(500, "read_percent = 90"), &uniform));
}

#[test]
fn another_trace_of_the_same_name_is_another_drive() {
    let kept = cache("cache-traces");
    let path = fresh_path("cache-trace.csv");
    let mut found = Vec::new();
    for first_lba in [0, 0, 800] {
        let line = |at: u64| format!("{at},W,{},8\n", first_lba + at % 90 * 8);
        let text: String = (0..500).map(line).collect();
        std::fs::write(&path, format!("time,op,lba,sectors\n{text}")).unwrap();
        let settings = "columns = \"time=time:us,op=op,offset=lba:sectors,size=sectors:sectors\"";
        let spec_text = format!("path = {:?}\n{settings}", path.display().to_string());
        let workload = Spec::parse(&spec_text).unwrap().prepare().unwrap();
        found.push(run(&small_drive(), &workload, &spec(Some(&kept))).preconditioning.kept);
    }
    assert_eq!(found, [false, true, false]);
}

#[test]
fn what_is_damaged_is_made_anew() {
    let (workload, kept) = (writes(), cache("cache-damaged"));
    let first = told(run(&small_drive(), &workload, &spec(Some(&kept))));
    let path = file_of(&kept);
    let good = std::fs::read(&path).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let (none, half) = (Vec::new(), good[..good.len() / 2].to_vec());
    // Nothing; half of it; its name, the length of its head, the head, the drive.
    let all = [none, half, flipped(3), flipped(29), flipped(200), flipped(good.len() - 100)];
    for (number, damaged) in all.into_iter().enumerate() {
        std::fs::write(&path, &damaged).unwrap();
        let anew = run(&small_drive(), &workload, &spec(Some(&kept)));
        assert!(!anew.preconditioning.kept, "{number}");
        assert_eq!(told(anew), first, "{number}");
        let remarks = kept.take_remarks();
        assert!(remarks.len() == 1 && remarks[0].contains("damaged, rebuilt"), "{number}: {remarks:?}");
        assert!(run(&small_drive(), &workload, &spec(Some(&kept))).preconditioning.kept, "{number}");
    }
}

#[test]
fn of_two_runs_at_once_one_ages_the_drive() {
    let (workload, kept) = (writes(), cache("cache-at-once"));
    let results: Vec<RunResult> = std::thread::scope(|scope| {
        let one = || run(&small_drive(), &workload, &spec(Some(&kept)));
        let all: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let made = results.iter().filter(|result| !result.preconditioning.kept).count();
    assert_eq!(made, 1);
    assert!(results.iter().all(|result| told(result.clone()) == told(results[0].clone())));
}

#[test]
fn a_run_does_not_fail_for_its_cache() {
    let workload = writes();
    let file = fresh_path("cache-is-a-file");
    std::fs::write(&file, "no folder").unwrap();
    // Below a file there is no folder, and where there is no room no drive.
    let nowhere = Arc::new(DriveCache::new(file.join("below")).with_limits(Duration::ZERO, 1 << 30));
    let tight = Arc::new(DriveCache::new(fresh_path("cache-tight")).with_limits(Duration::ZERO, 1_000));
    for kept in [nowhere, tight] {
        run(&small_drive(), &workload, &spec(Some(&kept)));
        let remarks = kept.take_remarks();
        assert!(remarks.len() == 1 && remarks[0].contains("was not cached"), "{remarks:?}");
    }
    assert!(!Path::new(&fresh_path("cache-tight")).exists());
}

#[test]
fn the_drives_that_were_not_used_for_longest_make_room() {
    let workload = writes();
    let kept = cache("cache-room");
    run(&small_drive(), &workload, &spec(Some(&kept)));
    let bytes = kept.entries().unwrap()[0].bytes;
    let two = Arc::new(DriveCache::new(kept.folder()).with_limits(Duration::ZERO, 2 * bytes + bytes / 2));
    let with_seed = |seed: u64| {
        let mut config = small_drive();
        config.drive.seed = seed;
        // Times of files may be as coarse as some milliseconds.
        std::thread::sleep(Duration::from_millis(20));
        run(&config, &workload, &spec(Some(&two))).preconditioning.kept
    };
    let first = small_drive().drive.seed;
    assert_eq!([1, 2, 1].map(|more| with_seed(first + more)), [false, false, true]);
    assert_eq!(two.entries().unwrap().len(), 2);
    // The first went for the third; the one used last stays.
    assert_eq!([3, 1, 2].map(|more| with_seed(first + more)), [false, true, false]);
    assert_eq!(two.clear().unwrap().0, 2);
    assert_eq!(two.entries().unwrap(), []);
    // What takes no time is not kept.
    let patient = Arc::new(DriveCache::new(kept.folder()));
    run(&small_drive(), &workload, &spec(Some(&patient)));
    assert_eq!(patient.entries().unwrap(), []);
}

mod sources {
    include!("../../sources.rs");

    /// The hash of the sources of this program.
    pub fn own() -> u64 {
        hash_of_sources(std::path::Path::new(env!("CARGO_MANIFEST_DIR")), &DECIDING, &mut |_| {})
    }

    pub fn of(folder: &std::path::Path) -> u64 {
        hash_of_sources(folder, &["src"], &mut |_| {})
    }
}

/// A drive is kept under a hash of the sources that it was made by, which any edit of the firmware changes.
#[test]
fn an_edit_of_the_firmware_is_another_drive() {
    let kept = cache("cache-sources");
    run(&small_drive(), &writes(), &spec(Some(&kept)));
    let file = std::fs::read(file_of(&kept)).unwrap();
    let name = format!("sources {:016x}", sources::own());
    assert!(file.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "{name}");

    let folder = fresh_path("sources");
    let member = folder.join("src/ftl/gc_victim");
    std::fs::create_dir_all(&member).unwrap();
    let write = |name: &str, text: &str| std::fs::write(member.join(name), text).unwrap();
    write("greedy.rs", "the fewest live");
    write("fifo.rs", "the oldest");
    let before = sources::of(&folder);
    assert_eq!(sources::of(&folder), before);
    write("greedy.rs", "the most live");
    let edited = sources::of(&folder);
    write("greedy.rs", "the fewest live");
    std::fs::rename(member.join("fifo.rs"), member.join("first.rs")).unwrap();
    let renamed = sources::of(&folder);
    write("random.rs", "");
    assert_eq!(std::collections::BTreeSet::from([before, edited, renamed, sources::of(&folder)]).len(), 4);
}
