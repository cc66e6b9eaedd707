//! What the jobs in `fio/` ask for, beside what fio itself asked for (`fio/figures.txt`, made by `fio/measure.py`).
//!
//! Counts, visits and orders of passes are equal; shares, sizes and ranks agree by chi-square (p > 0.001).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use workload::fio::JobFile;
use workload::{Played, SECTOR_BYTES};

const BLOCK: u64 = 4096;
const SPREAD: u64 = 0x61C8_8646_80B5_83EB;
/// Blocks of the jobs with ranks and zones.
const RANKED: u64 = 1024;

type Row = (&'static str, u64, u64);
type Counts = BTreeMap<String, u64>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/fio")
}

/// What a job asks for here.
fn ours(name: &str) -> Vec<Row> {
    let path = folder().join(format!("{name}.fio"));
    let jobs = JobFile::load(path.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
    let mut played = Played::new(jobs.open(1 << 21, 1).unwrap(), 0);
    let mut rows = Vec::new();
    while let Some((_, request)) = played.next_of_lane().unwrap() {
        rows.push((request.op.name(), request.lba * SECTOR_BYTES, request.bytes()));
    }
    rows
}

/// The figures of all jobs: job, figure, value.
fn figures(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut job = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            job = name.to_owned();
            continue;
        }
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        all.entry(job.clone()).or_default().insert(key.to_owned(), value.to_owned());
    }
    all
}

fn committed() -> BTreeMap<String, BTreeMap<String, String>> {
    figures(include_str!("fio/figures.txt"))
}

fn counts(text: &str) -> Counts {
    let item = |item: &str| {
        let (key, count) = item.rsplit_once(':').unwrap();
        (key.to_owned(), count.parse().unwrap())
    };
    text.split(' ').filter(|text| !text.is_empty()).map(item).collect()
}

fn count<K: ToString>(keys: impl Iterator<Item = K>) -> Counts {
    let mut counts = Counts::new();
    keys.for_each(|key| *counts.entry(key.to_string()).or_default() += 1);
    counts
}

/// FNV-1a of the rows as text.
fn fnv(rows: &[Row]) -> String {
    let text: String = rows.iter().map(|(op, at, size)| format!("{op} {at} {size}\n")).collect();
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

fn moved(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|(op, ..)| *op != "flush")
}

/// How often each block was visited by requests that `counts`.
fn blocks<'a>(rows: impl Iterator<Item = &'a Row>) -> BTreeMap<u64, u64> {
    let mut visits = BTreeMap::new();
    for (_, at, size) in rows {
        for block in at / BLOCK..(at + size).div_ceil(BLOCK) {
            *visits.entry(block).or_default() += 1;
        }
    }
    visits
}

fn visits(rows: &[Row]) -> Counts {
    count(blocks(moved(rows)).values())
}

/// Blocks that all visits wrote, and the others.
fn always_written(rows: &[Row]) -> [u64; 2] {
    let all = blocks(moved(rows));
    let written = blocks(rows.iter().filter(|(op, ..)| *op == "write"));
    let always = written.iter().filter(|(block, count)| all[block] == **count).count() as u64;
    [always, all.len() as u64 - always]
}

fn passes(rows: &[Row]) -> &'static str {
    let places: Vec<u64> = moved(rows).map(|(_, at, _)| *at).collect();
    let third = places.len() / 3;
    if places[..third] == places[third..2 * third] { "same" } else { "different" }
}

fn sizes(rows: &[Row]) -> Counts {
    count(moved(rows).map(|(op, _, size)| format!("{op}/{size}")))
}

/// Lengths of runs of requests that follow each other, those from 20 on together.
fn runs(rows: &[Row]) -> Counts {
    let (mut lengths, mut end) = (Vec::new(), None);
    for (_, at, size) in moved(rows) {
        match lengths.last_mut() {
            Some(length) if end == Some(*at) => *length += 1,
            _ => lengths.push(1u64),
        }
        end = Some(at + size);
    }
    count(lengths.into_iter().map(|length| length.min(20)))
}

/// The rank of each request: the hash of fio undone.
fn ranks(rows: &[Row], base: u64) -> Vec<u64> {
    let back = (0..RANKED).find(|back| back.wrapping_mul(SPREAD) % RANKED == 1).unwrap();
    moved(rows).map(|(_, at, _)| (at / BLOCK + RANKED - base) % RANKED * back % RANKED).collect()
}

/// Whether two samples can be of one distribution: chi-square of their counts by key, those that are rare together,
/// against its value at p = 0.001 (Wilson and Hilferty, 1931).
fn agree(name: &str, fio: &Counts, ours: &Counts) {
    let keys: Vec<&String> = fio.keys().chain(ours.keys().filter(|key| !fio.contains_key(*key))).collect();
    let of = |counts: &Counts, key: &String| counts.get(key).copied().unwrap_or(0) as f64;
    let mut bins: Vec<(f64, f64)> = Vec::new();
    let mut rare = (0.0, 0.0);
    for key in keys {
        let bin = (of(fio, key), of(ours, key));
        if bin.0 + bin.1 < 16.0 {
            rare = (rare.0 + bin.0, rare.1 + bin.1);
        } else {
            bins.push(bin);
        }
    }
    if rare.0 + rare.1 > 0.0 {
        bins.push(rare);
    }
    assert!(bins.len() > 1, "{name}: nothing to compare");
    let (of_fio, of_us) = bins.iter().fold((0.0, 0.0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
    let ratio = (of_us / of_fio).sqrt();
    let square: f64 = bins.iter().map(|(a, b)| (a * ratio - b / ratio).powi(2) / (a + b)).sum();
    let freedom = (bins.len() - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    let limit = freedom * (1.0 - spread + 3.0902 * spread.sqrt()).powi(3);
    assert!(
        square < limit,
        "{name}: chi-square {square:.1} of {freedom} degrees, limit {limit:.1}\n{fio:?}\n{ours:?}"
    );
}

#[test]
fn jobs_without_chance_ask_for_the_same_in_the_same_order() {
    let fio = committed();
    for name in ["01-sequential", "03-trimwrite", "04-steps", "17-backwards", "18-strided"] {
        assert_eq!(fnv(&ours(name)), fio[name]["order"], "{name}");
    }
    let mut rows = ours("02-clones");
    rows.sort_unstable();
    assert_eq!(fnv(&rows), fio["02-clones"]["set"]);
}

#[test]
fn maps_are_visited_as_fio_visits_them() {
    let fio = committed();
    for (name, order) in [("05-map", "same"), ("06-mixed-map", "same"), ("07-new-order", "different")] {
        let rows = ours(name);
        assert_eq!(visits(&rows), counts(&fio[name]["visits"]), "{name}");
        assert_eq!((passes(&rows), fio[name]["passes"].as_str()), (order, order), "{name}");
        assert_eq!(
            moved(&rows).map(|(.., size)| size).sum::<u64>().to_string(),
            fio[name]["bytes"],
            "{name}"
        );
        // What repeats itself in three passes is one sample.
        let samples = if order == "same" { 3 } else { 1 };
        let once = |counts: Counts| counts.into_iter().map(|(key, count)| (key, count / samples)).collect();
        agree(name, &once(counts(&fio[name]["runs"])), &once(runs(&rows)));
    }
    let rows = ours("06-mixed-map");
    // A pass repeats its directions: where a block is written, it is written in each pass.
    let [always, others] = always_written(&rows);
    let told: Vec<u64> =
        fio["06-mixed-map"]["always_written"].split(' ').map(|n| n.parse().unwrap()).collect();
    let two = |[a, b]: [u64; 2]| Counts::from([("always".to_owned(), a), ("not".to_owned(), b)]);
    agree("always written", &two([told[0], told[1] - told[0]]), &two([always, others]));
    assert_eq!(always * 3, sizes(&rows)["write/4096"]);
}

#[test]
fn shares_and_sizes_agree() {
    let fio = committed();
    for name in ["08-no-map", "10-range", "16-sizes-by-direction"] {
        let rows = ours(name);
        agree(name, &counts(&fio[name]["sizes"]), &sizes(&rows));
        agree(name, &counts(&fio[name]["visits"]), &visits(&rows));
        if name != "10-range" {
            agree(name, &counts(&fio[name]["operations"]), &count(rows.iter().map(|row| row.0)));
        }
    }
    let rows = ours("09-split");
    assert_eq!(visits(&rows), counts(&fio["09-split"]["visits"]));
    agree("09-split", &counts(&fio["09-split"]["sizes"]), &sizes(&rows));
    let rows = ours("15-runs");
    // The eight blocks of a run have their visits together: one sample.
    let runs_of = |counts: Counts| counts.into_iter().map(|(key, count)| (key, count / 8)).collect();
    agree("15-runs", &runs_of(counts(&fio["15-runs"]["visits"])), &runs_of(visits(&rows)));
    agree("15-runs", &counts(&fio["15-runs"]["runs"]), &runs(&rows));
    assert_eq!(count(rows.iter().map(|row| row.0)), counts(&fio["15-runs"]["operations"]));
}

#[test]
fn ranks_and_zones_agree() {
    let fio = committed();
    for (name, base) in [("11-zipf", 256), ("12-pareto", 256), ("13-normal", 0)] {
        let ranks = ranks(&ours(name), base);
        let parts = count(ranks.iter().map(|rank| rank * 20 / RANKED));
        agree(name, &counts(&fio[name]["rank_parts"]), &parts);
        if name != "13-normal" {
            let first = count(ranks.iter().filter(|rank| **rank < 24));
            agree(name, &counts(&fio[name]["ranks"]), &first);
        }
    }
    let parts = count(ours("14-zones").iter().map(|(_, at, _)| at / BLOCK * 20 / RANKED));
    agree("14-zones", &counts(&fio["14-zones"]["space_parts"]), &parts);
}

/// The figures themselves, in the soak, where fio is there to make them: nothing of ours changes what it says. Its
/// random numbers are the same in every run, but for the job that asks for others.
#[test]
fn fio_still_says_what_was_committed() {
    if std::env::var_os("WORDLINE_SOAK").is_none() {
        eprintln!("passed over: fio makes its figures anew in make soak ONLY=suite");
        return;
    }
    let version = Command::new("fio").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == "fio-3.33") {
        eprintln!("skipped: no fio 3.33 here");
        return;
    }
    let output = Command::new("python3").arg(folder().join("measure.py")).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        eprintln!("skipped: measure.py does not run here");
        return;
    };
    let (mut now, mut then) = (figures(&String::from_utf8(output.stdout).unwrap()), committed());
    for figures in [&mut now, &mut then] {
        figures.remove("07-new-order");
        // Three processes write one log.
        figures
            .get_mut("02-clones")
            .unwrap()
            .retain(|key, _| ["set", "bytes", "visits"].contains(&key.as_str()));
    }
    assert_eq!(now, then);
}
