//! Ctrl-C and its like: the run ends, what was measured is kept and marked so.

use crate::program::{SMALL, file, finish, folder, start, wordline_in};
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

const ENDLESS: [&str; 9] = [
    "run",
    "--config",
    "small.toml",
    "--synthetic",
    "uniform",
    "--requests",
    "2000000000",
    "--read-percent",
    "50",
];

/// Waits until something is so.
pub fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited a minute for {what}");
        sleep(Duration::from_millis(5));
    }
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// The last signal that the program says it catches: SIGXFSZ, by its bit.
const LAST_CAUGHT: u64 = 1 << 24;

/// Waits until the program catches every request to end.
pub fn wait_for_handler(process: u32) {
    let status = format!("/proc/{process}/status");
    wait_for("a handler", || {
        let text = std::fs::read_to_string(&status).unwrap();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & LAST_CAUGHT != 0
    });
}

/// Bytes in files that are not whole yet.
fn bytes_in_parts(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let parts = entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "part"));
    parts.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
}

#[test]
fn an_interrupted_run_keeps_what_it_has_measured() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = folder(&format!("interrupted-{signal}"));
        file(&folder, "small.toml", SMALL);
        let places = ["--precondition", "fill=50", "--out", "dir", "--request-log", "log.csv"];
        let args = [&ENDLESS[..], &places, &["--save-snapshot", "s"]].concat();
        let child = start(&folder, &args);
        wait_for("rows of the log", || bytes_in_parts(&folder) > 100_000);
        assert!(!folder.join("log.csv").exists(), "the log is not whole yet");
        send(&child, signal);
        let done = finish(child, &args).fails(code, &["interrupted after", "requests"]);
        assert!(done.out.contains("interrupted") && done.out.contains("write amplification"), "{}", done.out);
        let text = std::fs::read_to_string(folder.join("dir/result.json")).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        assert!(result["ended"].as_str().unwrap().starts_with("interrupted:"), "{}", result["ended"]);
        assert_eq!(result["requests_served"], result["requests_generated"]);
        let rows = std::fs::read_to_string(folder.join("log.csv")).unwrap().lines().count() as u64;
        assert_eq!(result["requests_served"].as_u64().unwrap() + 1, rows);
        assert_eq!(bytes_in_parts(&folder), 0);
        let beside = std::fs::read_to_string(folder.join("s.toml")).unwrap();
        assert!(beside.starts_with("# The run ended early (interrupted)"), "{beside}");
        let restored = ["run", "--config", "s.toml", "--snapshot", "s", "--synthetic", "uniform"];
        wordline_in(&folder, &[&restored[..], &["--requests", "10"]].concat()).ok();
    }
}

#[test]
fn interrupted_before_it_measures_a_run_leaves_nothing() {
    let folder = folder("interrupted-early");
    let places = ["--out", "dir", "--request-log", "log.csv", "--save-snapshot", "s"];
    let large = ["run", "--drive", "tlc", "--synthetic", "uniform", "--requests", "10"];
    let alone = ["run", "--drive", "tlc", "--precondition-only", "--save-snapshot", "s"];
    for args in [[&large[..], &places].concat(), alone.to_vec()] {
        let child = start(&folder, &args);
        wait_for_handler(child.id());
        send(&child, "INT");
        let done = finish(child, &args).fails(130, &["interrupted while filling", "nothing was measured"]);
        assert_eq!(done.out, "");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}

/// Sends an interrupt to each of these after so many seconds; it must end within two, saying this.
fn ends_soon(name: &str, cases: &[(&[&str], f64, &str)]) {
    let folder = folder(name);
    file(&folder, "small.toml", SMALL);
    for &(args, seconds, says) in cases {
        let child = start(&folder, args);
        wait_for_handler(child.id());
        sleep(Duration::from_secs_f64(seconds));
        send(&child, "INT");
        let sent = Instant::now();
        finish(child, args).fails(130, &[says]);
        assert!(sent.elapsed() < Duration::from_secs(2), "{args:?}: {:?} to the end", sent.elapsed());
    }
}

/// A drive of 5.6 GiB whose 4-KiB writes are dear: four of them share a page that is to be locked when one dies.
const LOCKED: [&str; 14] = [
    "run",
    "--drive",
    "tlc",
    "--set",
    "nand.geometry.blocks_per_plane=64",
    "--set",
    "nand.geometry.wordlines_per_block=32",
    "--set",
    "ftl.sanitize.policy=page_lock",
    "--workload",
    "mailserver",
    "--set",
    "workload.secure_percent=100",
    "--precondition",
];

#[test]
fn a_drive_that_is_overwritten_ends_soon() {
    let uniform = [&LOCKED[..], &["uniform"]].concat();
    let die = ["run", "--drive", "m64", "--synthetic", "uniform", "--requests", "10"];
    let own = ["run", "--synthetic", "uniform", "--read-percent", "0", "--requests", "40000000"];
    let cases: [(&[&str], f64, &str); 3] = [
        (&uniform, 1.5, "interrupted while overwriting"),
        (&die, 0.5, "interrupted while"),
        (&own, 0.7, "interrupted while"),
    ];
    ends_soon("interrupted-overwriting", &cases);
}

#[test]
fn a_run_with_much_under_way_ends_soon() {
    let large = ["--set", "workload.size_bytes=1073741824", "--depth", "32", "--precondition", "none"];
    let large = [&["run", "--drive", "m64", "--synthetic", "uniform"], &large[..]].concat();
    let locked = [&LOCKED[..], &["fill=100", "--requests", "20000000"]].concat();
    let ahead = ["run", "--zipf", "80/20", "--set", "ftl.stream.policy=oracle", "--requests", "200000000"];
    let untimed = [&ENDLESS[..], &["--set", "run.executor=functional", "--precondition", "none"]].concat();
    let cases: [(&[&str], f64, &str); 4] = [
        (&large, 0.7, "interrupted"),
        (&locked, 1.0, "interrupted"),
        (&ahead, 0.5, "interrupted while looking ahead"),
        (&untimed, 0.5, "interrupted after"),
    ];
    ends_soon("interrupted-running", &cases);
}

#[test]
fn the_second_interrupt_ends_at_once() {
    let folder = folder("interrupted-twice");
    file(&folder, "small.toml", SMALL);
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Somebody has the pipe open and does not read: the run waits for room in it for ever.
    let _reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let args = [&ENDLESS[..], &["--precondition", "none", "--request-log", "pipe"]].concat();
    let mut child = start(&folder, &args);
    wait_for_handler(child.id());
    let status = format!("/proc/{}/status", child.id());
    let sleeps = || {
        sleep(Duration::from_millis(5));
        std::fs::read_to_string(&status).unwrap().contains("State:\tS")
    };
    wait_for("the full pipe", || (0..20).all(|_| sleeps()));
    send(&child, "INT");
    sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it still waits");
    send(&child, "INT");
    assert_eq!(finish(child, &args).code, Some(130));
}

/// Nobody opens a pipe, or nobody reads what is printed: one signal is heard all the same, and what goes elsewhere is
/// written.
#[test]
fn a_reader_that_sleeps_is_not_waited_for_without_end() {
    let folder = folder("interrupted-unread");
    file(&folder, "small.toml", SMALL);
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let args = [&ENDLESS[..], &["--precondition", "none", "--request-log", "pipe"]].concat();
    let child = start(&folder, &args);
    wait_for_handler(child.id());
    sleep(Duration::from_millis(200));
    send(&child, "TERM");
    finish(child, &args).fails(143, &["pipe", "nobody reads it, and the command was asked to end"]);

    let reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    // What is printed has no room.
    let mut full = OpenOptions::new().write(true).open(&pipe).unwrap();
    full.write_all(&[b'x'; 65536 - 4096 + 1]).unwrap();
    let args = [&ENDLESS[..], &["--precondition", "none", "--out", "dir"]].concat();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    let mut child = command.args(&args).current_dir(&folder).stdout(full).spawn().unwrap();
    wait_for_handler(child.id());
    sleep(Duration::from_millis(200));
    send(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(std::fs::metadata(folder.join("dir/result.json")).unwrap().len() > 100);
    drop(reader);
}
