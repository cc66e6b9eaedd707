//! The sampled miss-ratio curve of real traces beside the exact one, and other figures beside what others counted.
//! Only one of the traces is shipped; the others are looked for beside the repository, and one that is not there is
//! skipped with a message.

use std::path::PathBuf;
use workload::analysis::{Analysis, Analyzer, MissRatio, Options};
use workload::{Recorded, Spec};

/// File, share of the accesses that goes to the most accessed 20 % of the pages, and share of sequential requests, both
/// in percent and as the collection's README tells them; where it does not, nothing.
const TRACES: &[(&str, Option<f64>, Option<f64>)] = &[
    ("msr-prxy_0-first20k.csv.zst", Some(87.0), Some(70.0)),
    ("msr-prxy_0-reads.trace.zst", Some(75.0), None),
    ("umass-financial1-first10k.spc.zst", Some(58.0), Some(45.0)),
    ("mqsim-wsrch-small.trace.zst", None, None),
    ("mqsim-tpcc-small.trace.zst", None, None),
    ("msn-fs-disk5.trace.zst", Some(33.0), Some(1.0)),
    ("desktop-pcmark.trace.zst", Some(67.0), Some(36.0)),
    ("llm-opt7b.trace.zst", None, Some(75.0)),
    ("msr-cut-rw20-80.trace.zst", Some(64.0), None),
    ("cloudphysics-vm-2h.csv.zst", Some(42.0), Some(26.0)),
    // Its sequential requests were counted in the order of lines; the reader puts those in the order of times.
    ("desktop-diskmon-sys1.txt.zst", Some(39.0), None),
    ("tencent-cbs-50k.csv.zst", None, None),
    ("hadoop-node9.blkparse.zst", None, Some(44.0)),
];

/// The path of a trace, if it is there.
fn path(name: &str) -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = [root.join("data").join(name), root.join("../shared/traces").join(name)];
    let found = places.iter().find(|path| path.is_file()).map(|path| path.display().to_string());
    if found.is_none() {
        eprintln!("skipped: there is no {name}");
    }
    found
}

fn analysed(path: &str, options: Options) -> Analysis {
    let mut recorded = Recorded::open(&Spec::trace(path), 0).unwrap();
    let mut analyzer = Analyzer::new(options);
    while let Some(record) = recorded.next_record().unwrap() {
        analyzer.add(&record);
    }
    analyzer.finish()
}

/// Asserts that a sampled curve is within a hundredth of the exact one for caches of all sizes: on average by far, and
/// everywhere. Where the curve falls like a cliff, the cliff may stand 2 % of its cache's size aside.
fn assert_close(name: &str, exact: &MissRatio, sampled: &MissRatio) {
    let mut sizes: Vec<u64> = (0..200)
        .map(|step| (f64::from(step) / 4.0).exp2() as u64)
        .take_while(|s| *s <= 2 * exact.largest())
        .collect();
    sizes.dedup();
    let mut sum = 0.0;
    for &size in &sizes {
        let (at, found) = (exact.at(size).unwrap(), sampled.at(size).unwrap());
        sum += (at - found).abs();
        let aside = size / 50;
        let (most, least) = (exact.at(size - aside).unwrap(), exact.at(size + aside).unwrap());
        assert!(found < most + 0.01 && found > least - 0.01, "{name}, {size} pages: {found}, exact {at}");
    }
    let mean = sum / sizes.len().max(1) as f64;
    println!("{name}: mean error {mean:.5}");
    assert!(mean < 0.002, "{name}: mean error {mean}");
}

/// One look at each trace with samples and one without: the curves of both agree, and skew and sequence are what others
/// counted.
#[test]
fn samples_are_within_a_hundredth_of_the_exact_curve_and_the_rest_is_as_others_counted() {
    for (name, top, sequential) in TRACES.iter().chain([&("rocksdb-ycsb-a-run1.csv.zst", None, None)]) {
        let Some(path) = path(name) else { continue };
        let memory_bytes = 2 << 30;
        let exact = analysed(&path, Options { exact: true, memory_bytes });
        let sampled = analysed(&path, Options { exact: false, memory_bytes });
        assert_eq!((exact.reuse_rate, exact.pages_rate, sampled.pages_rate), (1.0, 1.0, 1.0), "{name}");
        for (exact, found) in exact.miss_ratio.iter().zip(&sampled.miss_ratio) {
            // A handful of accesses followed says nothing.
            if exact.accesses() as f64 * sampled.reuse_rate >= 500.0 {
                assert_close(name, exact, found);
            }
        }
        let sequence = 100.0 * (sampled.sequence.reads + sampled.sequence.writes) as f64;
        let sequence = sequence / sampled.footprint.requests as f64;
        let share = sampled.popularity.all.top_percent(20.0).unwrap();
        for (what, found, expected) in [("top 20 %", share, top), ("sequential", sequence, sequential)] {
            assert!(expected.is_none_or(|known| (known - found).abs() <= 0.5), "{name}, {what}: {found}");
        }
    }
}
