//! Pictures of runs that have requests of all kinds.

use super::*;

/// Each kind of requests has a curve, or a bar, and each kind of curve a look of its own.
#[test]
fn trims_and_flushes_are_drawn_beside_reads_and_writes() {
    let mut base = base();
    base.latency_ns.trim = base.latency_ns.read.clone();
    base.latency_ns.flush = base.latency_ns.write.clone();
    let files = written("kinds", std::slice::from_ref(&base));
    let svg = text(&files, "latency.svg");
    let count = |pattern: &str| svg.matches(&format!("stroke-dasharray=\"{pattern}\"")).count();
    // A curve, and its key.
    assert_eq!(["6 3", "2 2", "6 3 2 3"].map(count), [2; 3], "{svg}");
    let kinds = ["read", "write", "trim", "flush"];
    assert!(kinds.iter().all(|kind| Svg::read(&svg).has(kind)));
    let csv = text(&files, "latency.csv");
    assert!(kinds.iter().all(|kind| csv.contains(&format!(",{kind},"))), "{csv}");
    // Of many runs each kind has its bar.
    let many: Vec<RunResult> =
        (0..12).map(|number| RunResult { name: format!("run {number}"), ..base.clone() }).collect();
    let csv = text(&written("kinds_of_many", &many), "latency.csv");
    assert!(kinds.iter().all(|kind| csv.matches(&format!(",{kind},99,")).count() == 12), "{csv}");
}
