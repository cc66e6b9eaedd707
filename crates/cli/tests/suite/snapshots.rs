//! Drives saved by one process and restored by another.

use crate::program::{SMALL, file, folder, trace, wordline};

#[test]
fn a_restored_drive_goes_on_as_if_nothing_had_happened() {
    let folder = folder("snapshot");
    let small = file(&folder, "small.toml", SMALL);
    let aged = folder.join("aged.snap").display().to_string();
    let run = [
        "run",
        "--config",
        &small,
        "--synthetic",
        "uniform",
        "--read-percent",
        "30",
        "--requests",
        "20000",
        "--json",
    ];
    // The workload says at which pace the drive is overwritten, and with what.
    let age = [
        "run",
        "--config",
        &small,
        "--synthetic",
        "uniform",
        "--read-percent",
        "30",
        "--requests",
        "20000",
        "--precondition-only",
        "--save-snapshot",
        &aged,
    ];
    let saved = wordline(&age).ok();
    assert!(saved.err.contains("aged:"), "{}", saved.err);
    let restored = wordline(&[&run[..], &["--snapshot", &aged]].concat()).ok().json();
    let uninterrupted = wordline(&run).ok().json();
    for key in ["event_hash", "simulated_ns", "latency_ns", "flash", "erase_count"] {
        assert_eq!(restored[key], uninterrupted[key], "{key}");
    }
    // The configuration beside it is the one it needs.
    let beside = format!("{aged}.toml");
    let again = ["run", "--config", &beside, "--snapshot", &aged, "--quiet"];
    wordline(&[&again[..], &["--synthetic", "uniform", "--requests", "100"]].concat()).ok();
}

/// Also where the workload's own writes are the drive's past, and where its policy looks ahead.
#[test]
fn a_drive_is_saved_with_the_past_that_a_run_would_give_it() {
    let folder = folder("saved_past");
    let small = file(&folder, "small.toml", SMALL);
    let own = folder.join("own.snap").display().to_string();
    for (policy, past) in [("none", "own"), ("oracle", "own"), ("oracle", "fill=100,times=1")] {
        let policy = format!("ftl.stream.policy={policy}");
        let generator = ["--synthetic", "zipf", "--read-percent", "10", "--requests", "6000"];
        let drive = ["--config", &small, "--set", &policy, "--set", "drive.over_provisioning_percent=80"];
        let run = [&["run"][..], &drive, &generator].concat();
        let save = ["--precondition", past, "--precondition-only", "--save-snapshot", &own, "--force"];
        wordline(&[&run[..], &save].concat()).ok();
        let whole = wordline(&[&run[..], &["--precondition", past, "--json"]].concat()).ok().json();
        let rest = wordline(&[&run[..], &["--snapshot", &own, "--json"]].concat()).ok().json();
        for key in ["event_hash", "write_amplification", "erase_count"] {
            assert_eq!(whole[key], rest[key], "{policy}, {past}: {key}");
        }
        assert!(whole["erase_count"]["total"].as_u64() > Some(0), "{policy}, {past}");
    }
}

#[test]
fn a_run_continues_from_where_another_ended() {
    let folder = folder("continued");
    let first = folder.join("first.snap").display().to_string();
    let small = file(&folder, "small.toml", SMALL);
    let run = ["run", "--config", &small, &trace(), "--first", "2000", "--json"];
    let one = wordline(&[&run[..], &["--save-snapshot", &first]].concat()).ok().json();
    let two = wordline(&[&run[..], &["--snapshot", &first]].concat()).ok().json();
    assert_ne!(one["event_hash"], two["event_hash"]);
    assert_eq!(one["requests_served"], two["requests_served"]);
    assert!(two["erase_count"]["total"].as_u64() >= one["erase_count"]["total"].as_u64());
}

#[test]
fn wrong_and_damaged_snapshots_are_told_apart() {
    let folder = folder("damaged");
    let small = file(&folder, "small.toml", SMALL);
    let good = folder.join("good.snap").display().to_string();
    let age = [
        "run",
        "--config",
        &small,
        "--precondition",
        "fill=50",
        "--precondition-only",
        "--save-snapshot",
        &good,
    ];
    wordline(&age).ok();
    let run = ["run", "--config", &small, "--synthetic", "uniform", "--requests", "10"];
    let with =
        |snapshot: &str, extra: &[&str]| wordline(&[&run[..], &["--snapshot", snapshot], extra].concat());
    let bytes = std::fs::read(&good).unwrap();
    with("no-such.snap", &[]).fails(2, &["no-such.snap", "No such file"]);
    with(&file(&folder, "empty.snap", ""), &[]).fails(2, &["empty.snap"]);
    with(&file(&folder, "cut.snap", &bytes[..bytes.len() - 7]), &[]).fails(2, &["cut.snap", "incomplete"]);
    with(&small, &[]).fails(2, &["small.toml", "not a Wordline snapshot"]);
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 0x10;
    with(&file(&folder, "damaged.snap", &damaged), &[]).fails(2, &["damaged.snap", "checksum"]);
    with(&good, &["--seed", "5"]).fails(2, &["another configuration", "good.snap.toml"]);
    with(&good, &["--precondition", "none"]).fails(2, &["--snapshot", "--precondition"]);
    let nowhere = folder.join("no-such/x.snap").display().to_string();
    let save = ["--precondition", "none", "--save-snapshot", &nowhere];
    wordline(&[&run[..], &save].concat()).fails(2, &["x.snap", "cannot write the snapshot"]);
    wordline(&["run", "--precondition-only"]).fails(2, &["--save-snapshot"]);
}
