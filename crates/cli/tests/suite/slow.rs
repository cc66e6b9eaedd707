//! Shipped runs that are slow for a reason: `--explain-tail` names it, and without it they are not.

use crate::program::{root, wordline};

/// The run with more settings: what its slowest requests waited for most, if they did, and the 99.9th percentile; ns.
fn slowest(name: &str, kind: &str, more: &[&str]) -> (Option<String>, u64) {
    let file = root().join("data/slow").join(name);
    let file = file.to_str().expect("a path in UTF-8");
    let told = wordline(&[&["run", file, "--explain-tail", "99.9", "--json"], more].concat()).ok().json();
    let reasons = told["tail"][kind]["reasons"].as_array().expect("reasons").iter();
    let waits = reasons.map(|reason| reason["what"].as_str().expect("a name").to_owned());
    let first = waits.into_iter().find(|what| !what.starts_with("own."));
    (first, told["latency_ns"][kind]["p99_9"].as_u64().expect("a latency"))
}

#[test]
fn each_names_what_slows_it_down() {
    let cases = [
        ("erases.toml", "read", "array.erase.cleaning", "flash.preemption.policy=safe_point"),
        ("buffer.toml", "write", "array.program.host", "host.buffer.size_mib=16"),
        ("channel.toml", "read", "transfer.out.host", "flash.channel.bandwidth_mb_s=1200"),
    ];
    for (name, kind, cause, without) in cases {
        let (found, slow) = slowest(name, kind, &[]);
        assert_eq!(found.as_deref(), Some(cause), "{name}");
        let (_, quick) = slowest(name, kind, &["--set", without]);
        assert!(slow > 3 * quick, "{name}: {slow} ns, with {without} {quick}");
    }
}
