//! Real traces read as what they are known to be: requests, share of reads, footprint and duration as counted by
//! others. Only one of them may be shipped; the rest are read where they are, or passed over with a message.

use std::io::Cursor;
use std::path::PathBuf;
use workload::reader::read_from;
use workload::{AddressUnit, BadReason, Footprint, Prepared, ReadOptions, Spec, TimeUnit, WorkloadError};

/// File, format, reads and writes, read %, footprint in GiB of 4 KiB pages, duration in s (traces/README.md).
const KNOWN: &[(&str, &str, u64, f64, f64, f64)] = &[
    ("msr-prxy_0-first20k.csv.zst", "msr", 20_000, 1.7, 0.011, 939.0),
    ("msr-hm_0-sample1k.csv.zst", "msr", 1_000, 50.8, 0.007, 127.0),
    ("msr-cut-rw20-80.trace.zst", "mqsim", 10_000, 20.2, 0.028, 243.0),
    ("msr-prxy_0-reads.trace.zst", "mqsim", 29_360, 100.0, 0.076, 46_654.0),
    ("umass-financial1-first10k.spc.zst", "spc", 10_000, 40.8, 0.028, 260.0),
    ("mqsim-wsrch-small.trace.zst", "mqsim", 24_783, 100.0, 0.355, 60.0),
    ("mqsim-tpcc-small.trace.zst", "mqsim", 6_999, 62.6, 0.078, 0.14),
    ("msn-fs-disk5.trace.zst", "mqsim", 149_999, 87.0, 2.05, 143.0),
    ("desktop-pcmark.trace.zst", "mqsim", 56_087, 74.6, 2.22, 466.0),
    ("llm-opt7b.trace.zst", "mqsim", 36_873, 86.4, 5.19, 34.0),
    // Two whole seconds, spread.
    ("tencent-cbs-50k.csv.zst", "tencent", 50_000, 49.0, 1.33, 2.0),
    ("cloudphysics-vm-2h.csv.zst", "cloudphysics", 113_872, 41.3, 1.03, 7_200.0),
    ("hadoop-node9.blkparse.zst", "blkparse", 107_053, 98.3, 29.0, 172.0),
    ("rocksdb-ycsb-load-ssd.csv.zst", "blkparse", 10_000, 100.0, 0.595, 7.2),
    ("fiu-mail-cheetah.blkparse.zst", "fiu", 9_997, 89.0, 0.035, 23.6),
    ("fiu-home1-sample.blkparse.zst", "fiu", 1_000, 0.0, 0.002, 69.0),
    ("fiu-home2-sample.blkparse.zst", "fiu", 1_000, 8.8, 0.004, 443.0),
    ("desktop-diskmon-sys1.txt.zst", "diskmon", 58_818, 50.3, 0.667, 1_205.0),
    // The README has 2.5 s: 2.448 rounded twice.
    ("systor17-sample.csv.zst", "systor17", 999, 82.7, 0.038, 2.4),
    ("rocksdb-ycsb-a-run1.csv.zst", "rocksdb", 64_189, 0.0, 1.66, 24.7),
];

/// Files of the collection that are no traces, and what is said of them.
const OTHERS: &[(&str, &str)] = &[
    ("msr-writepop-hm_0.csv.zst", "`histogram`"),
    ("msr-writepop-prxy_0.csv.zst", "`histogram`"),
    ("msr-writepop-usr_0.csv.zst", "`histogram`"),
    ("msr-writepop-web_0.csv.zst", "`histogram`"),
    ("rocksdb-ycsb-a-run1.octf.tar.zst", "tar archive"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A trace of the collection beside the repository, if it is there.
fn collected(name: &str) -> Option<String> {
    let path = root().join("../shared/traces").join(name);
    if path.is_file() {
        return Some(path.display().to_string());
    }
    eprintln!("passed over: {name} is not at {}", path.display());
    None
}

fn prepared(path: &str, settings: &[(&str, &str)]) -> Prepared {
    let mut spec = Spec::trace(path);
    for (key, value) in settings {
        spec.set(key, value).unwrap();
    }
    spec.prepare().unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a number is the rounded one.
fn rounds_to(exact: f64, rounded: f64, digits: i32) -> bool {
    (exact - rounded).abs() <= 0.5000001 * 10f64.powi(-digits)
}

fn check_known(path: &str, known: &(&str, &str, u64, f64, f64, f64)) -> Footprint {
    let &(name, format, requests, read_percent, gib, seconds) = known;
    let auto = prepared(path, &[]);
    let named = prepared(path, &[("format", format)]);
    assert_eq!(auto.workload_hash(), named.workload_hash(), "{name}: recognised as another format");
    let footprint = auto.footprint(0).unwrap();
    let found = footprint.bytes() as f64 / f64::from(1 << 30);
    let duration = footprint.duration_ns as f64 / 1e9;
    assert_eq!(footprint.requests, requests, "{name}: requests");
    assert!(
        rounds_to(footprint.read_percent(), read_percent, 1),
        "{name}: {} % reads",
        footprint.read_percent()
    );
    // Rounded or cut: within one of the last digit.
    let unit = if gib < 1.0 {
        0.001
    } else if gib < 10.0 {
        0.01
    } else {
        0.1
    };
    assert!((found - gib).abs() < unit, "{name}: footprint {found} GiB");
    let digits = if seconds < 1.0 { 2 } else { i32::from(seconds.fract() > 0.0) };
    assert!(rounds_to(duration, seconds, digits), "{name}: {duration} s");
    let report = auto.report();
    // That one ends in zeros.
    let zeros = if name == "fiu-mail-cheetah.blkparse.zst" { vec![BadReason::ZeroBytes] } else { Vec::new() };
    let skipped: Vec<BadReason> = report.skipped.iter().map(|skipped| skipped.reason).collect();
    assert_eq!((report.skipped_total(), skipped), (zeros.len() as u64, zeros), "{name}: {report:?}");
    footprint
}

#[test]
fn collected_traces_are_what_they_are_known_to_be() {
    for known in KNOWN {
        if let Some(path) = collected(known.0) {
            check_known(&path, known);
        }
    }
}

/// Units that the mqsim traces of the collection have, as those who published them say.
fn units_of(name: &str) -> (TimeUnit, AddressUnit) {
    match name {
        "mqsim-wsrch-small.trace.zst" | "mqsim-tpcc-small.trace.zst" | "llm-opt7b.trace.zst" => {
            (TimeUnit::Nanoseconds, AddressUnit::Sectors)
        }
        "msr-cut-rw20-80.trace.zst" => (TimeUnit::Milliseconds, AddressUnit::Bytes),
        _ => (TimeUnit::Milliseconds, AddressUnit::Sectors),
    }
}

/// The format recognised and the units taken for granted.
type Beginning = (&'static str, Option<(TimeUnit, AddressUnit)>);

/// What reading a text begins with.
fn beginning(text: Vec<u8>) -> Result<Beginning, WorkloadError> {
    let source = read_from(Cursor::new(text), "text", "auto", &ReadOptions::default())?;
    let report = source.report();
    Ok((
        report.detected.map_or("", |detected| detected.format),
        report.assumed.map(|assumed| (assumed.time, assumed.space)),
    ))
}

#[test]
fn collected_traces_and_fragments_of_them_are_recognised() {
    const FRAGMENTS: usize = 20;
    const FRAGMENT_BYTES: usize = 64 << 10;
    for (name, format, ..) in KNOWN {
        let Some(path) = collected(name) else { continue };
        let text = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
        let expected = (*format, (*format == "mqsim").then(|| units_of(name)));
        assert_eq!(beginning(text.clone()), Ok(expected), "{name}");
        for fragment in 0..FRAGMENTS {
            // From the middle of a line to the middle of another one.
            let from = (text.len() * fragment / FRAGMENTS).max(1);
            let to = (from + FRAGMENT_BYTES).min(text.len());
            assert_eq!(beginning(text[from..to].to_vec()), Ok(expected), "{name}: from byte {from} to {to}");
        }
    }
}

#[test]
fn no_pace_of_a_collected_trace_is_doubted() {
    for (name, ..) in KNOWN {
        let Some(path) = collected(name) else { continue };
        assert_eq!(prepared(&path, &[]).report().too_fast, None, "{name}");
    }
}

#[test]
fn every_event_of_a_block_trace_is_counted() {
    let Some(path) = collected("hadoop-node9.blkparse.zst") else { return };
    // README: 107,053 Q, 105,634 D and 79,408 C events; 704,444 in all, and 50 writes have a flush before them.
    for (event, data, flushes) in
        [("auto", 107_053, 50), ("Q", 107_053, 50), ("D", 105_634, 0), ("C", 79_408, 0)]
    {
        let prepared = prepared(&path, &[("event", event)]);
        let footprint = prepared.footprint(0).unwrap();
        assert_eq!((footprint.requests, footprint.flushes), (data, flushes), "{event}");
        let report = prepared.report();
        let other: u64 = report.passed_over.iter().map(|(_, count)| count).sum();
        let summary = report
            .passed_over
            .iter()
            .find(|(what, _)| *what == "lines of the summary")
            .map_or(0, |(_, n)| *n);
        assert_eq!(other - summary + data, 704_444, "{:?}", report.passed_over);
        assert!(report.processes.iter().any(|name| name == "DataXceiver for") == (event != "C"));
    }
}

#[test]
fn files_that_are_no_traces_are_refused_with_advice() {
    for (name, says) in OTHERS {
        if let Some(path) = collected(name) {
            let error = Spec::trace(path).prepare().err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(says), "{name}: {error}");
        }
    }
}

fn shipped() -> String {
    root().join("data/rocksdb-ycsb-a-run1.csv.zst").display().to_string()
}

#[test]
fn the_shipped_trace_is_what_it_is_known_to_be() {
    let footprint = check_known(&shipped(), &KNOWN[KNOWN.len() - 1]);
    assert_eq!((footprint.reads, footprint.trims, footprint.flushes), (1, 231, 0));
}

#[test]
fn a_compacted_trace_fills_its_footprint_and_nothing_else() {
    let prepared = prepared(&shipped(), &[]);
    let sectors = prepared.space_sectors().unwrap();
    let recorded = prepared.footprint(0).unwrap();
    assert_eq!(sectors * 512, recorded.bytes());
    let mut source = prepared.open(sectors).unwrap();
    let expected = source.len_hint().unwrap();
    let compacted = workload::footprint(&mut *source).unwrap();
    assert_eq!((compacted.pages, compacted.end_lba.next_multiple_of(8)), (recorded.pages, sectors));
    assert_eq!((compacted.requests, compacted.bytes_written), (recorded.requests, recorded.bytes_written));
    let report = source.report();
    assert_eq!(compacted.requests + compacted.trims + report.trims_dropped, expected);
    assert_eq!(compacted.duration_ns, recorded.duration_ns);
    let error = prepared.open(sectors - 1).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("needs 3") && error.contains("address = \"wrap\""), "{error}");
}

#[test]
fn a_wrapped_trace_stays_on_the_drive() {
    for drive_sectors in [7, 8, 1000, 1 << 20, (1 << 22) - 3] {
        let prepared = prepared(&shipped(), &[("address", "wrap")]);
        let mut source = prepared.open(drive_sectors).unwrap();
        let mut requests = 0;
        while let Some(request) = source.next().unwrap() {
            assert!(request.sectors > 0 && request.end() <= drive_sectors, "{request:?} on {drive_sectors}");
            requests += 1;
        }
        assert_eq!(requests, 64_189 + 231);
        assert!(source.report().wrapped > 0);
    }
}

#[test]
fn file_and_hints_come_through() {
    let mut source = prepared(&shipped(), &[("first", "1")]).open(1 << 30).unwrap();
    let request = source.next().unwrap().unwrap();
    assert_eq!((request.hints.file, request.hints.stream, request.sectors), (76, 0, 256));
    assert_eq!(source.next().unwrap(), None);
}

#[test]
fn devices_are_laid_out_as_asked() {
    let Some(path) = collected("mqsim-wsrch-small.trace.zst") else { return };
    let all = prepared(&path, &[("address", "as_is")]);
    let merged = prepared(&path, &[("address", "as_is"), ("devices", "merge")]);
    let one = prepared(&path, &[("address", "as_is"), ("devices", "2")]);
    let totals = |p: &Prepared| workload::footprint(&mut *p.open(1 << 40).unwrap()).unwrap();
    let (all_pages, merged_pages, one_pages) =
        (totals(&all).pages, totals(&merged).pages, totals(&one).pages);
    // Laid one after the other no page is shared, on top of each other some are.
    assert_eq!(all_pages, all.footprint(0).unwrap().pages);
    assert!(merged_pages < all_pages && one_pages < merged_pages);
    assert!(all.space_sectors() > merged.space_sectors());
    assert_eq!(one.report().left_out[0].1 + totals(&one).requests, totals(&all).requests);
    let mut spec = Spec::trace(&path);
    spec.set("devices", "77").unwrap();
    let error = spec.prepare().err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("no request passes devices = 77") && error.contains("it has 0, 1"), "{error}");
}
