//! `wordline capture`: what it leaves to the command, what it writes, and what it refuses.

use std::path::Path;
use std::process::Command;

use crate::program::{file, folder, wordline};

/// Says that a test is skipped, and why, where programs cannot be traced.
fn is_forbidden() -> bool {
    let refused = capture::refusal();
    if let Some(error) = &refused {
        eprintln!("skipped: {error}");
    }
    refused.is_some()
}

#[test]
fn a_command_keeps_its_output_and_its_end() {
    if is_forbidden() {
        return;
    }
    let folder = folder("capture_end");
    let path = folder.join("sh.capture").display().to_string();
    let text = folder.join("text").display().to_string();
    let script = format!("read line; echo got $line; echo 12345 > {text}; exit 7");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    let input = std::fs::File::open(file(&folder, "input", "a line\n")).unwrap();
    let output =
        command.args(["capture", "-o", &path, "--", "sh", "-c", &script]).stdin(input).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "got a line\n");
    assert_eq!(output.status.code(), Some(7));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("1 calls of 1 processes on 1 files, 1 call stacks; complete: 100.0 %"), "{told}");
    let capture = workload::capture::Capture::open(Path::new(&path)).unwrap();
    assert_eq!((capture.events.len(), capture.events[0].size), (1, 6));
    // Names are kept only where that is asked for.
    assert_eq!(capture.files[0].name, "");
    std::fs::remove_file(&text).unwrap();
    wordline(&["capture", "-q", "--force", "--names", "-o", &path, "--", "sh", "-c", &script]).fails(7, &[]);
    let named = workload::capture::Capture::open(Path::new(&path)).unwrap();
    assert_eq!((named.files[0].name.as_str(), named.files[0].size), (text.as_str(), 0));
    assert_eq!(named.contexts(), capture.contexts());
    // Nothing is replaced unasked.
    wordline(&["capture", "-o", &path, "--", "true"]).fails(2, &["it exists", "--force"]);
}

#[test]
fn a_signal_ends_the_command_and_then_us() {
    use std::os::unix::process::ExitStatusExt;
    if is_forbidden() {
        return;
    }
    let folder = folder("capture_signal");
    let path = folder.join("sh.capture").display().to_string();
    let capture = |script: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
        command.args(["capture", "-q", "--force", "-o", &path, "--", "sh", "-c", script]).status().unwrap()
    };
    assert_eq!(capture("kill -TERM $$").signal(), Some(15));
    assert!(workload::capture::Capture::open(Path::new(&path)).is_ok());
    // What is sent to us goes to the command, which may have its own answer to it.
    assert_eq!(capture("trap 'exit 9' TERM; kill -TERM $PPID; sleep 1 & wait").code(), Some(9));
}

#[test]
fn what_cannot_be_run_is_told() {
    let folder = folder("capture_wrong");
    let path = folder.join("a.capture").display().to_string();
    if cfg!(target_os = "linux") {
        let wrong = ["capture", "-o", &path, "--", "no-such-program"];
        wordline(&wrong).fails(2, &["no such command", "\"no-such-program\"", "PATH"]);
        assert!(!Path::new(&path).exists());
    }
    wordline(&["capture"]).fails(2, &["<COMMAND>"]);
    let nowhere = folder.join("none/a.capture").display().to_string();
    wordline(&["capture", "-o", &nowhere, "--", "true"]).fails(2, &["cannot write the capture"]);
}

/// Two tracers of one process there cannot be: where `strace` is, it stands for a system that forbids tracing.
#[test]
fn a_system_that_forbids_tracing_is_named() {
    let has_strace = Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
    if is_forbidden() || !has_strace {
        eprintln!("skipped: no strace, or none that may trace");
        return;
    }
    let folder = folder("capture_forbidden");
    let path = folder.join("a.capture").display().to_string();
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-o",
        "/dev/null",
        env!("CARGO_BIN_EXE_wordline"),
        "capture",
        "-o",
        &path,
        "--",
        "true",
    ]);
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("tracing programs (ptrace) is forbidden here"), "{told}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_capture_is_a_workload() {
    let folder = folder("capture_workload");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/captures/cscope.capture");
    let ran = wordline(&["run", sample, "--precondition", "none", "--json"]).ok().json();
    assert!(ran["requests_served"].as_u64().unwrap() > 50, "{ran}");
    let looked = wordline(&["trace", "info", sample, "--json"]).ok().json();
    // Beyond journal and metadata there is more than one context.
    let trace = folder.join("cscope.wl.zst").display().to_string();
    wordline(&["trace", "from-capture", sample, "--out", &trace, "--force"]).ok();
    let written = wordline(&["trace", "info", &trace, "--json"]).ok().json();
    assert_eq!(looked["requests"], written["requests"]);
    let small = ["trace", "from-capture", sample, "--cache-mib", "0.25", "--to", "csv"];
    let text = wordline(&small).ok().out;
    assert!(
        text.lines().count() as u64 > looked["requests"].as_u64().unwrap(),
        "a smaller cache absorbs less"
    );
    let set = |text| ["trace", "from-capture", sample, "--out", &trace, "--force", "--set", text];
    wordline(&set("map_hints=file 1-2 -> stream 9; context -> class 2")).ok();
    let mapped = wordline(&["trace", "info", &trace, "--json"]).ok().json();
    assert_eq!(mapped["streams"][0]["number"], 9, "{}", mapped["streams"]);
    assert_eq!(mapped["requests"], written["requests"]);
    wordline(&set("journal_mib")).fails(2, &["--set journal_mib", "KEY=VALUE"]);
    wordline(&set("workload.jurnal_mib=4")).fails(2, &["jurnal_mib", "did you mean", "journal_mib"]);
    let wrong = ["trace", "from-capture", sample, "--cache-mib", "none"];
    wordline(&wrong).fails(2, &["--cache-mib", "cache_mib", "0.25 to 1e6"]);
}

#[test]
fn what_is_no_whole_capture_is_told() {
    let folder = folder("capture_damaged");
    let sample =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/captures/cscope.capture")).unwrap();
    let cut = folder.join("cut.capture");
    std::fs::write(&cut, &sample[..sample.len() / 2]).unwrap();
    wordline(&["run", &cut.display().to_string()]).fails(1, &["cut.capture", "it is truncated"]);
    let foreign = file(&folder, "foreign.capture", "0,1,read\n");
    wordline(&["trace", "from-capture", &foreign])
        .fails(1, &["foreign.capture", "it begins with", "wlcaptur"]);
    wordline(&["trace", "from-capture", "none.capture"]).fails(2, &["none.capture: cannot open"]);
}
