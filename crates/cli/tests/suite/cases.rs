//! Small inputs that once went wrong (`../shared/cases`), each with what is right. Skipped where that folder is
//! missing.

use crate::program::{file, folder, root, wordline, wordline_in};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const QLC: &[&str] = &[
    "--drive",
    "qlc",
    "--set",
    "nand.geometry.channels=2",
    "--set",
    "nand.geometry.chips_per_channel=2",
    "--set",
    "ftl.slc_cache.policy=adaptive",
    "--precondition",
    "none",
    "--no-cache",
];
const NEW: &[&str] = &["--precondition", "none", "--no-cache"];

/// A case; `None`, with a message, where there are none.
fn case(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/cases").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no {}", path.display());
    None
}

/// The text of a case.
fn text(name: &str) -> Option<String> {
    case(name).map(|path| std::fs::read_to_string(path).unwrap())
}

/// What a run prints, and its result.
fn run(path: &str, more: &[&str]) -> (String, Value) {
    let mut names = Path::new(path).iter().rev().map(|part| part.to_string_lossy());
    let (file, of) = (names.next().unwrap(), names.next().unwrap());
    let out = folder(&format!("case_run_{of}_{file}"));
    let args = ["run", path, "--counters", "--out", out.to_str().unwrap()];
    let told = wordline(&[&args, more].concat()).ok().out;
    let result = std::fs::read_to_string(out.join("result.json")).unwrap();
    (told, serde_json::from_str(&result).unwrap())
}

/// The same of a case.
fn run_case(name: &str, more: &[&str]) -> Option<(String, Value)> {
    case(name).map(|path| run(path.to_str().unwrap(), more))
}

fn number(value: &Value, place: &str) -> f64 {
    value.pointer(place).and_then(Value::as_f64).unwrap_or_else(|| panic!("{place} of {value}"))
}

#[test]
fn two_devices_are_two_address_spaces() {
    let Some(path) = case("D1-two.fio") else { return };
    let out = folder("case_two").join("out").display().to_string();
    let args = ["run", path.to_str().unwrap(), "--out", &out];
    let told = wordline(&[&args, NEW].concat()).ok().err;
    assert!(told.contains("drives: 2 alike (nvme0n1, nvme1n1)"), "{told}");
    for name in ["nvme0n1", "nvme1n1"] {
        let result = std::fs::read_to_string(format!("{out}/{name}/result.json")).unwrap();
        let result: Value = serde_json::from_str(&result).unwrap();
        assert_eq!((number(&result, "/writes"), number(&result, "/bytes_written")), (2.0, 8192.0), "{name}");
    }
}

#[test]
fn an_offset_of_no_percent_is_none() {
    let Some(percent) = text("D2-off0.fio") else { return };
    let folder = folder("case_offset");
    let bytes = file(&folder, "bytes.fio", percent.replace("offset=0%", "offset=0"));
    let percent = file(&folder, "percent.fio", percent);
    assert_eq!(run(&bytes, NEW).1["event_hash"], run(&percent, NEW).1["event_hash"]);
}

#[test]
fn the_last_zone_is_the_rest() {
    let Some(open) = text("D3-zoned.fio") else { return };
    let folder = folder("case_zones");
    let said = file(&folder, "said.fio", open.replace("40/\n", "40/90\n"));
    let open = file(&folder, "open.fio", open);
    assert_eq!(run(&said, NEW).1["event_hash"], run(&open, NEW).1["event_hash"]);
}

#[test]
fn an_slc_cache_is_emptied_while_nobody_asks_for_anything() {
    let Some(idle) = text("D4-slcidle.fio") else { return };
    let folder = folder("case_idle");
    let busy = file(&folder, "busy.fio", idle.replace("startdelay=600", "startdelay=0"));
    let idle = file(&folder, "idle.fio", idle);
    let second = |path: &str| number(&run(path, QLC).1, "/jobs/1/bandwidth_mb_s/write");
    let (busy, idle) = (second(&busy), second(&idle));
    assert!(busy < 60.0 && idle > 5.0 * busy, "{busy} MB/s at once, {idle} after 600 s");
}

#[test]
fn a_trim_costs_more_the_longer_it_is() {
    let Some(long) = text("D5-trimlen.fio") else { return };
    let folder = folder("case_trims");
    let mean = |size: &str| {
        let path = file(&folder, &format!("{size}.fio"), long.replace("bs=128m", &format!("bs={size}")));
        number(&run(&path, NEW).1, "/latency_ns/trim/mean")
    };
    let [short, half, long] = ["4k", "64m", "128m"].map(mean);
    // A part for the command, and one for its length.
    assert!(long > 5.0 * short, "{short} ns, {long} ns");
    assert!(((long - short) / (half - short) - 2.0).abs() < 0.02, "{short} {half} {long} ns");
}

#[test]
fn a_cache_that_fills_up_is_told() {
    let writes =
        ["--synthetic", "sequential", "--read-percent", "0", "--size", "1MiB", "--requests", "16000"];
    let told = wordline(&[&["run"], &writes[..], &["--depth", "8"], QLC].concat()).ok().out;
    assert!(told.contains("the SLC cache was full after 7.9") && told.contains("not stationary"), "{told}");
}

#[test]
fn a_rate_that_is_not_reached_is_an_overload() {
    let Some((told, result)) = run_case("D8-rate.fio", &["--no-cache"]) else { return };
    assert_eq!(result["verdict"]["state"], "overloaded", "{told}");
    // Both count from when a request was due; the job's own counts from when it was sent, too.
    let (all, job) =
        (number(&result, "/latency_ns/write/mean"), number(&result, "/jobs/0/latency_from_due_ns/mean"));
    let sent = number(&result, "/jobs/0/latency_ns/write/mean");
    assert!(
        (all / job - 1.0).abs() < 1e-9 && sent < all / 10.0,
        "{all} ns, its only job {job} ns, from sent {sent}"
    );
    assert!(told.contains("from sent: mean"), "{told}");
}

#[test]
fn biosnoop_is_read_with_names_of_processes_that_have_blanks() {
    let Some(path) = case("D9-biosnoop.txt") else { return };
    let info = wordline(&["trace", "info", path.to_str().unwrap()]).ok().out;
    assert!(info.contains("requests      4") && info.contains("Web Content"), "{info}");
}

#[test]
fn a_binary_blktrace_file_is_read() {
    let Some(line) = text("D10-blktrace") else { return };
    let folder = folder("case_blktrace");
    let made = Command::new("sh").current_dir(&folder).args(["-c", &line]).output().unwrap();
    if !made.status.success() {
        eprintln!("skipped: {}", String::from_utf8_lossy(&made.stderr));
        return;
    }
    let done = wordline_in(&folder, &["trace", "info", "disk.blktrace.0"]).ok();
    assert!(done.out.contains("requests      200") && !done.out.contains("\\x"), "{}", done.out);
}

#[test]
fn an_odd_size_through_a_page_cache_is_whole_pages() {
    let Some((told, result)) = run_case("D11-etcd.fio", NEW) else { return };
    // 22 MiB of 2,300 bytes are as many bytes of pages.
    assert_eq!(number(&result, "/bytes_written"), f64::from(22 << 20));
    assert!(told.contains("rounded up to pages of 4 KiB"), "{told}");
}

#[test]
fn writes_of_parts_of_units_are_told() {
    let Some((told, _)) = run_case("D12-unaligned.fio", NEW) else { return };
    assert!(told.contains("all writes cover parts of 4 KiB units"), "{told}");
}

#[test]
fn a_job_that_cannot_saturate_has_no_saturated_past() {
    let Some(path) = case("sync64.fio") else { return };
    let args = [
        "run",
        path.to_str().unwrap(),
        "--drive",
        "tlc",
        "--set",
        "ftl.cleaning.paces_host=true",
        "--no-cache",
    ];
    let result = wordline(&[&args[..], &["--json"]].concat()).ok().json();
    assert!((number(&result, "/write_amplification") - 4.0).abs() < 0.1, "{}", result["write_amplification"]);
}
