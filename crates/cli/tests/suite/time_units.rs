//! Traces whose times are whole numbers: the unit they are taken for, and what is said about it.

use crate::program::{SMALL, file, folder, wordline};
use serde_json::Value;
use std::path::Path;

/// A trace in MQSim's format: so many writes of 128 KiB, so many units of time apart.
fn trace(folder: &Path, name: &str, count: u64, gap: u64) -> String {
    let lines = (0..count).map(|i| format!("{} 0 {} 256 0\n", i * gap, i % 64 * 256));
    file(folder, name, lines.collect::<String>())
}

fn run(config: &str, trace: &str, more: &[&str]) -> Value {
    let args = ["run", "--config", config, trace, "--precondition", "none", "--json"];
    wordline(&[&args[..], more].concat()).ok().json()
}

#[test]
fn microseconds_are_not_taken_for_nanoseconds() {
    let folder = folder("time-units");
    let small = file(&folder, "small.toml", SMALL);
    // 12 s at 22 MB/s; in nanoseconds 12 ms at 22 GB/s, three times what the link carries.
    let microseconds = trace(&folder, "us.trace", 2_000, 6_000);
    let found = run(&small, &microseconds, &[]);
    assert!(found["simulated_ns"].as_u64().unwrap() >= 11_994_000_000, "{}", found["simulated_ns"]);
    let remarks = found["remarks"].to_string();
    assert!(
        remarks.contains("times are read as us, addresses as sectors: the first 1000 requests"),
        "{remarks}"
    );
    assert!(!remarks.contains("host link") && !remarks.contains("arrive within"), "{remarks}");
    // Told to be nanoseconds they are, with two remarks.
    let told = run(&small, &microseconds, &["--time-unit", "ns"]);
    let remarks = told["remarks"].to_string();
    assert!(remarks.contains("writes arrive at 21.8") && remarks.contains("carries 7 GB/s"), "{remarks}");
    assert!(remarks.contains("all requests arrive within 11.99 ms"), "{remarks}");
    assert!(!remarks.contains("times are read as"), "{remarks}");
    let set = run(&small, &microseconds, &["--set", "workload.time_unit=us"]);
    assert_eq!(set["event_hash"], found["event_hash"]);
    // A closed loop does not look at arrivals.
    let closed = run(&small, &microseconds, &["--time-unit", "ns", "--closed", "4"]);
    assert!(!closed["remarks"].to_string().contains("arrive"), "{}", closed["remarks"]);
    // Nor does it at what is asked of them, which is said.
    let sped = run(&small, &microseconds, &["--time-unit", "ns", "--closed", "4", "--speed-up", "3"]);
    assert_eq!(sped["event_hash"], closed["event_hash"]);
    assert!(sped["remarks"].to_string().contains("speed_up does nothing here"), "{}", sped["remarks"]);
    let args = ["run", "--config", &small, "--precondition", "none", "--json", "--requests", "500"];
    let rated = wordline(&[&args[..], &["--rate", "1000", "--closed", "4"]].concat()).ok().json();
    assert!(rated["remarks"].to_string().contains("the rate at which requests arrive"), "{rated}");
}

#[test]
fn where_two_units_fit_the_user_has_to_say() {
    let folder = folder("two-units");
    // 5 us apart, or 5 ms: both are ordinary.
    let both =
        file(&folder, "both.trace", (0..500).map(|i| format!("{} 0 8 8 1\n", i * 5_001)).collect::<String>());
    let says = ["both.trace", "in ns", "199961 requests/s", "in us", "200 requests/s", "--time-unit"];
    wordline(&["trace", &both]).fails(2, &says);
    wordline(&["run", &both]).fails(2, &says);
    let told = wordline(&["trace", &both, "--time-unit", "ms", "--json"]).ok().json();
    assert_eq!(told["duration_ns"], 499_u64 * 5_001 * 1_000_000);
    wordline(&["trace", &both, "--time-unit", "hours"]).fails(2, &["--time-unit", "hours", "ns"]);
}
