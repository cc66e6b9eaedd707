//! The stand-ins match what the papers say of their traces.

use ssd::signals::OpCode;
use std::collections::BTreeMap;
use workload::analysis::{Analyzer, Options};
use workload::standin::{self, BUFFER_MIB};
use workload::{Footprint, Prepared, Record, Request, Source, Spec, footprint, read_hit_percent, standins};

fn preset(name: &str, settings: &str) -> Prepared {
    Spec::parse(&format!("preset = '{name}'\n{settings}")).unwrap().prepare().unwrap()
}

fn open(name: &str, settings: &str) -> Box<dyn Source> {
    let prepared = preset(name, settings);
    prepared.open(prepared.space_sectors().unwrap()).unwrap()
}

fn all(name: &str, settings: &str) -> Vec<Request> {
    let mut source = open(name, settings);
    std::iter::from_fn(|| source.next().unwrap()).collect()
}

fn access_percent(requests: &[Request], space_percent: f64) -> f64 {
    let mut analyzer = Analyzer::new(Options::default());
    requests.iter().for_each(|request| analyzer.add(&Record { request: *request, device: 0 }));
    analyzer.finish().popularity.extents.top_percent(space_percent).unwrap()
}

#[test]
fn read_shares_intervals_and_spaces_are_those_of_the_papers() {
    for file in standins() {
        let pinned = standin::pinned(file).unwrap();
        let Spec::Mix(spec) = standin::workload(file).unwrap() else { continue };
        let totals: Footprint = footprint(&mut *open(file.name, "count = 200000")).unwrap();
        // Files of mds are drawn as a whole: some 1500 of them, not 200,000 requests.
        let slack = if file.name == "mds" { 1.5 } else { 0.45 };
        let off = (totals.read_percent() - pinned.read_percent).abs();
        assert!(off < slack, "{}: {} % reads", file.name, totals.read_percent());
        let space = spec.parts.0.iter().map(|part| part.at_mib + part.space_mib).fold(0.0, f64::max);
        assert!(totals.end_lba as f64 / 2048.0 <= space, "{}", file.name);
        if pinned.interval_s > 0 {
            let seconds = spec.count as f64 / spec.rate_iops;
            assert!((seconds / pinned.interval_s as f64 - 1.0).abs() < 1e-4, "{}: {seconds} s", file.name);
        }
        if pinned.working_set_gib > 0.0 {
            assert_eq!(space / 1024.0, pinned.working_set_gib, "{}", file.name);
        }
        assert!(file.text.lines().next().unwrap().starts_with("# Stand-in for"), "{}", file.name);
    }
}

#[test]
fn every_file_is_shipped() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../presets/workload");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_string()).collect();
    let mut listed: Vec<String> = standins().iter().map(|file| file.name.to_string()).collect();
    files.sort_unstable();
    listed.sort_unstable();
    assert_eq!(files, listed);
}

/// redFTL, table 1, with the stand-ins' own figures as calibration section 13 has them [F 11].
#[test]
fn a_read_buffer_hits_what_the_paper_measured() {
    let cases = [
        ("ads", [0.8, 1.6, 3.1], 1_000_000),
        ("websearch", [0.5, 1.0, 1.9], 1_500_000),
        ("tpc-h", [28.5, 29.0, 30.1], 1_500_000),
        ("multi", [36.1, 36.1, 96.0], 1_500_000),
    ];
    for (name, fitted, count) in cases {
        let mut source = open(name, &format!("count = {count}"));
        let sizes = BUFFER_MIB.map(|mib| mib << 20);
        let found = read_hit_percent(&mut *source, 8192, &sizes, count / 2).unwrap();
        let pinned = standin::pinned(workload::standin(name).unwrap()).unwrap();
        for i in 0..3 {
            assert!((found[i] - fitted[i]).abs() <= 0.25, "{name}: {found:.2?}, fitted {fitted:?}");
            assert!((found[i] - pinned.hit_percent.0[i]).abs() <= 1.0, "{name}: {found:.2?}");
        }
    }
}

#[test]
fn sizes_and_runs() {
    let sizes = |name: &str| {
        let mut counts = BTreeMap::new();
        all(name, "count = 100000").iter().for_each(|r| *counts.entry(r.sectors).or_insert(0u32) += 1);
        counts
    };
    let ads = sizes("ads");
    assert_eq!(ads.keys().collect::<Vec<_>>(), [&16, &32]);
    assert!(ads[&16].abs_diff(50_000) < 800, "{ads:?}");
    assert_eq!(sizes("websearch").keys().collect::<Vec<_>>(), [&16]);
    assert_eq!(sizes("ali206").keys().collect::<Vec<_>>(), [&8, &16, &32]);
    // Syn2: half of the requests begin where another of the same run ended; runs have 64 pages and lie on their own.
    let requests = all("syn2", "count = 100000");
    let ends: std::collections::BTreeSet<u64> = requests.iter().map(Request::end).collect();
    let followers = requests.iter().filter(|r| ends.contains(&r.lba)).count();
    assert!(followers.abs_diff(50_000 * 63 / 64) < 900, "{followers}");
    // mds: whole files of 16 MiB, read or written as a whole, 16 at a time.
    let requests = all("mds", "count = 100000");
    // Two users may be at the same place of a popular file.
    let mut open_files: Vec<(u64, OpCode)> = Vec::new();
    for r in &requests {
        if r.lba % 32_768 != 0 {
            let at = open_files.iter().position(|&file| file == (r.lba, r.op));
            open_files.remove(at.expect("in order and of one kind"));
        }
        if r.end() % 32_768 != 0 {
            open_files.push((r.end(), r.op));
        }
    }
    assert!(open_files.len() <= 16, "{}", open_files.len());
}

#[test]
fn the_hot_part_gets_its_share() {
    // At a 64th of the space each extent is accessed some 60 times, so chance does not make any hot.
    for (name, gib, space, access) in
        [("ads", 26.0, 20.0, 80.0), ("websearch", 42.0, 20.0, 80.0), ("tpc-e", 30.0, 15.0, 85.0)]
    {
        let settings = format!("count = 600000\nfootprint_gib = {:?}", gib / 64.0);
        let found = access_percent(&all(name, &settings), space);
        assert!((found - access).abs() < 0.5, "{name}: {found} % to {space} %");
    }
    // tatp: H(0.2 n, 0.9) / H(n, 0.9) of the accesses go to the first fifth of n rows.
    let n = 524_288;
    let harmonic = |n| workload::synthetic::zipf::harmonic(n, 0.9);
    let expected = 100.0 * harmonic(n / 5) / harmonic(n);
    let found = access_percent(&all("tatp", "count = 2000000"), 20.0);
    assert!((found - expected).abs() < 1.0, "{found}, {expected}");
    // Reads and writes of tatp go to the same rows, those of the Ali volumes to other places.
    let rows = |name: &str, op| -> std::collections::BTreeSet<u64> {
        let requests = all(name, "count = 300000\nfootprint_gib = 0.25");
        requests.iter().filter(|r| r.op == op).flat_map(|r| r.lba / 8..r.end() / 8).collect()
    };
    let (read, written) = (rows("tatp", OpCode::Read), rows("tatp", OpCode::Write));
    assert!(written.intersection(&read).count() * 10 > written.len() * 9);
    assert!(rows("ali121", OpCode::Read).is_disjoint(&rows("ali121", OpCode::Write)));
}

#[test]
fn heat_lies_in_chunks_that_are_scattered() {
    let hot_chunks = |chunk_kib: u64| {
        let settings = format!("count = 400000\nfootprint_gib = 0.25\nchunk_kib = {chunk_kib}");
        let mut counts = BTreeMap::new();
        all("websearch", &settings).iter().for_each(|r| *counts.entry(r.lba / 16).or_insert(0u32) += 1);
        // 32,768 pages: hot ones are read 49 times, cold ones 3 times.
        let is_hot: Vec<bool> = (0..32_768).map(|page| counts.get(&page).is_some_and(|&n| n > 20)).collect();
        assert!(is_hot.iter().filter(|&&hot| hot).count().abs_diff(6554) < 70);
        is_hot.windows(2).filter(|w| w[0] != w[1]).count()
    };
    assert_eq!(hot_chunks(0), 1, "in order: hot, then cold");
    // Borders of chunks of 8 pages: 4096 chunks, each with a fifth's chance to be hot: 2 · 0.2 · 0.8 · 4096 borders.
    assert!(hot_chunks(64).abs_diff(1311) < 130, "{}", hot_chunks(64));
    assert!(hot_chunks(8).abs_diff(10_486) < 400, "{}", hot_chunks(8));
}

#[test]
fn scale_keeps_the_shape() {
    for name in ["ads", "tpc-h", "multi", "ali124"] {
        let (large, small) =
            (all(name, "count = 200000\nfootprint_gib = 8"), all(name, "count = 200000\nfootprint_gib = 1"));
        let end = |list: &[Request]| list.iter().map(Request::end).max().unwrap() as f64;
        assert!((end(&large) / end(&small) - 8.0).abs() < 0.02, "{name}");
        let same = large
            .iter()
            .zip(&small)
            .all(|(a, b)| (a.op, a.sectors, a.arrival_ns) == (b.op, b.sectors, b.arrival_ns));
        assert!(same, "{name}: operations, sizes and times are those of the other scale");
        // Halves of the space get the same shares.
        let low = |list: &[Request]| {
            let half = end(list) / 2.0;
            list.iter().filter(|r| (r.lba as f64) < half).count()
        };
        assert!(low(&large).abs_diff(low(&small)) < 8000, "{name}: {} {}", low(&large), low(&small));
    }
    // A buffer that is scaled along hits as often.
    for (name, gib) in [("tpc-h", 28.001953125), ("multi", 8.1875)] {
        let mut source = open(name, &format!("count = 1200000\nfootprint_gib = {:?}", gib / 8.0));
        let found = read_hit_percent(&mut *source, 8192, &[8 << 20, 32 << 20], 300_000).unwrap();
        let expected = if name == "multi" { [36.1, 96.0] } else { [28.5, 30.0] };
        assert!((0..2).all(|i| (found[i] - expected[i]).abs() < 0.4), "{name}: {found:?}");
    }
}

#[test]
fn a_drive_too_small_is_told_what_would_fit() {
    let says =
        |settings: &str, sectors: u64| preset("ads", settings).open(sectors).err().unwrap().to_string();
    let text = says("", 20 << 21);
    for part in
        ["needs 54525952 sectors (26 GiB) but the drive has", "20 GiB", "footprint_gib = 20.0 or less"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(preset("ads", "footprint_gib = 20.0").open(20 << 21).is_ok());
    assert!(preset("ads", "footprint_percent = 100.0").open(20 << 21).is_ok());
    assert_eq!(preset("ads", "footprint_percent = 50.0").space_sectors(), None);
    let text = preset("tpc-h", "footprint_gib = 0.01").open(1 << 31).err().unwrap().to_string();
    for part in
        ["workload.footprint_gib: at 0.0100 GiB the part \"root pages\" has 0 KiB", "8 KiB, allowed: "]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let least = text.rsplit("allowed: ").next().unwrap().split(' ').next().unwrap();
    assert!(preset("tpc-h", &format!("footprint_gib = {least}")).open(1 << 31).is_ok(), "{text}");
}

/// FNV-1a by words over the first requests: the same on every machine and in every build.
#[test]
fn golden_requests() {
    let hash = |name: &str| {
        let requests = all(name, "count = 20000");
        let words = requests.iter().flat_map(|r| [r.arrival_ns, r.op as u64, r.lba, u64::from(r.sectors)]);
        words.fold(0xcbf2_9ce4_8422_2325u64, |h, word| {
            (h ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
        })
    };
    let found: Vec<String> = GOLDEN.iter().map(|(name, _)| format!("{name} {:#018x}", hash(name))).collect();
    let expected: Vec<String> = GOLDEN.iter().map(|(name, hash)| format!("{name} {hash:#018x}")).collect();
    assert_eq!(found, expected);
}

const GOLDEN: [(&str, u64); 5] = [
    ("ads", 0xa36f_ea9e_5225_4dd8),
    ("mds", 0xfa57_e1e4_dad9_f90d),
    ("tpc-h", 0x8771_a862_fef1_2aaf),
    ("multi", 0x6742_f568_2ccf_d5f4),
    ("ali124", 0x54d5_b844_e753_6b38),
];
