//! Nothing of the user's is destroyed, and nothing measured is lost: outputs that are inputs, full disks, closed pipes.

use crate::program::{Done, SMALL, file, finish, folder, shell, start, wordline_in};
use std::collections::BTreeMap;
use std::path::Path;

/// A short run of the small drive.
const RUN: [&str; 7] = ["run", "--config", "small.toml", "--synthetic", "uniform", "--requests", "300"];
/// The same as a shell takes it.
const LINE: &str =
    "$WORDLINE run --config small.toml --synthetic uniform --requests 3000 --precondition fill=50";

fn trace() -> String {
    (0..200)
        .map(|n| format!("{},h,0,{},{},4096,10\n", n * 1000, ["Read", "Write"][n % 2], n * 4096))
        .collect()
}

/// A folder with a drive and a trace.
fn place(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    file(&folder, "small.toml", SMALL);
    file(&folder, "t.csv", trace());
    folder
}

/// All files in a folder, with what they hold.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.insert(name.clone(), Vec::new());
            found.extend(
                files(&path).into_iter().map(|(inner, content)| (format!("{name}/{inner}"), content)),
            );
        } else {
            // A link to nothing holds nothing.
            found.insert(name, std::fs::read(&path).unwrap_or_default());
        }
    }
    found
}

/// Runs what must be refused without touching anything.
fn refused(folder: &Path, says: &str, done: impl FnOnce() -> Done) {
    let before = files(folder);
    let done = done().fails(2, &[says]);
    assert_eq!(done.out, "");
    assert!(files(folder) == before, "{}: files were touched", done.err);
}

#[test]
fn outputs_never_replace_inputs() {
    let folder = place("replace-inputs");
    let at = |name: &str| folder.join(name);
    std::os::unix::fs::symlink("t.csv", at("link.csv")).unwrap();
    std::fs::hard_link(at("t.csv"), at("hard.csv")).unwrap();
    std::fs::create_dir(at("sub")).unwrap();
    wordline_in(&folder, &[&RUN[..], &["--save-snapshot", "s", "--out", "done"]].concat()).ok();
    std::fs::copy(at("small.toml"), at("my.toml")).unwrap();
    let with_trace = ["run", "--config", "small.toml", "--precondition", "none"];
    let cases: [&[&str]; 8] = [
        &["t.csv", "--request-log", "t.csv"],
        &["t.csv", "--request-log", "sub/../t.csv"],
        &["t.csv", "--request-log", "link.csv"],
        &["link.csv", "--request-log", "hard.csv"],
        &["t.csv", "--save-snapshot", "t.csv"],
        &["t.csv", "--request-log", "small.toml"],
        &["t.csv", "--fio-json", "link.csv"],
        &["t.csv", "--save-snapshot", "small"],
    ];
    for case in cases {
        refused(&folder, "it would overwrite the", || {
            wordline_in(&folder, &[&with_trace[..], case].concat())
        });
    }
    let generated = ["--synthetic", "uniform", "--requests", "10"];
    refused(&folder, "it would overwrite the configuration my.toml", || {
        wordline_in(&folder, &[&["run", "my.toml", "--save-snapshot", "my"], &generated[..]].concat())
    });
    refused(&folder, "it would overwrite --snapshot s", || {
        wordline_in(&folder, &[&RUN[..], &["--snapshot", "s", "--save-snapshot", "s"]].concat())
    });
    // Its own configuration repeats a run elsewhere.
    refused(&folder, "it would overwrite the configuration done/config.toml", || {
        wordline_in(&folder, &["run", "done/config.toml", "--out", "done", "--force"])
    });
    // A table in [workload] names its trace itself.
    file(&folder, "named.toml", format!("{SMALL}\n[workload]\npath = \"t.csv\"\n"));
    refused(&folder, "it would overwrite the trace", || {
        wordline_in(&folder, &["run", "named.toml", "--request-log", "hard.csv"])
    });
    refused(&folder, "standard output: it would overwrite the trace", || {
        shell(&folder, "$WORDLINE run t.csv --config small.toml --precondition none >> t.csv")
    });
}

#[test]
fn outputs_never_replace_each_other() {
    let folder = place("replace-outputs");
    std::os::unix::fs::symlink("new", folder.join("link")).unwrap();
    let cases: [&[&str]; 9] = [
        &["--request-log", "new", "--save-snapshot", "new"],
        &["--request-log", "link", "--save-snapshot", "new"],
        &["--request-log", "new.toml", "--save-snapshot", "new"],
        &["--out", "dir", "--request-log", "dir/result.json"],
        &["--out", "dir", "--save-snapshot", "dir/config"],
        &["--out", "dir", "--fio-json", "dir/result.json"],
        &["--request-log", "new", "--fio-json", "link"],
        &["--out", "dir", "--request-log", "dir/../dir/latency.svg"],
        &["--out", "dir", "--save-snapshot", "dir"],
    ];
    for case in cases {
        refused(&folder, "it would overwrite", || wordline_in(&folder, &[&RUN[..], case].concat()));
    }
    shell(&folder, &format!("{LINE} --request-log log > log")).fails(2, &["standard output"]);
    // What can be shared is no conflict.
    let shared = ["--request-log", "/dev/null", "--save-snapshot", "/dev/null"];
    wordline_in(&folder, &[&RUN[..], &shared].concat()).ok();
}

#[test]
fn other_commands_spare_their_inputs_too() {
    let folder = place("replace-others");
    wordline_in(&folder, &[&RUN[..], &["--out", "a"]].concat()).ok();
    refused(&folder, "the result of a run", || wordline_in(&folder, &["compare", "a", "--out", "a"]));
    std::fs::rename(folder.join("a/result.json"), folder.join("a/comparison.txt")).unwrap();
    refused(&folder, "it would overwrite the result", || {
        wordline_in(&folder, &["compare", "a/comparison.txt", "--out", "a"])
    });
    let papers = crate::program::root().join("papers").display().to_string();
    std::fs::create_dir_all(folder.join("out/straw/quick/drives/mine")).unwrap();
    let traces = ["--out", "out", "--papers", &papers, "--traces", "out/straw/quick/drives/mine"];
    refused(&folder, "it is rewritten", || {
        wordline_in(&folder, &[&["reproduce", "straw", "--quick"], &traces[..]].concat())
    });
}

#[test]
fn the_folder_of_another_run_is_replaced_only_by_force() {
    let folder = place("force");
    let run = |seed: &str, extra: &[&str]| {
        wordline_in(&folder, &[&RUN[..], &["--seed", seed, "--out", "dir"], extra].concat())
    };
    run("1", &[]).ok();
    file(&folder, "dir/mine.txt", "a note");
    file(&folder, "dir/retries.svg", "by hand");
    refused(&folder, "retries.svg, which would be replaced", || run("2", &["--force"]));
    // Of an earlier run whose cells aged.
    let list = std::fs::read_to_string(folder.join("dir/.wordline.files")).unwrap();
    file(&folder, "dir/.wordline.files", list + "run\tretries.svg\n");
    refused(&folder, "--force", || run("2", &[]));
    let before = files(&folder);
    run("2", &["--force"]).ok();
    let after = files(&folder);
    assert_ne!(before["dir/result.json"], after["dir/result.json"]);
    assert_eq!(before["dir/mine.txt"], after["dir/mine.txt"]);
    assert!(!after.contains_key("dir/retries.svg"), "a plot that the new run has not");
    let hidden = |name: &&String| name.contains("wordline") && !name.ends_with(".wordline.files");
    assert_eq!(after.keys().find(hidden), None);
    // Nor are files that have such a name by chance.
    std::fs::remove_file(folder.join("dir/.wordline.files")).unwrap();
    std::fs::remove_file(folder.join("dir/result.json")).unwrap();
    for force in [&[][..], &["--force"]] {
        refused(&folder, "config.toml", || run("3", force));
    }
    // A folder with other files is no folder of a run.
    for name in files(&folder).keys().filter(|name| name.starts_with("dir/") && !name.ends_with("mine.txt")) {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    run("3", &[]).ok();
}

#[test]
fn files_that_nobody_named_are_not_replaced() {
    let folder = place("unnamed");
    let run = |extra: &[&str]| wordline_in(&folder, &[&RUN[..], extra].concat());
    file(&folder, "s.toml", "mine");
    refused(&folder, "s.toml", || run(&["--save-snapshot", "s"]));
    let log = "$WORDLINE run --config small.toml - --request-log t.csv < t.csv";
    refused(&folder, "the trace on standard input", || shell(&folder, log));
}

#[test]
fn standard_output_that_fails_loses_nothing_else() {
    let folder = place("stdout");
    let all = format!("{LINE} --json --save-snapshot s --out dir");
    let whole = |code: i32, says: &[&str], line: &str| {
        for name in ["dir", "s", "s.toml"] {
            let path = folder.join(name);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap()
            } else {
                _ = std::fs::remove_file(path)
            }
        }
        let done = shell(&folder, line);
        assert_eq!(done.code, Some(code), "{}", done.err);
        assert!(says.iter().all(|text| done.err.contains(text)), "{}", done.err);
        for name in ["s", "s.toml", "dir/result.json", "dir/config.toml", "dir/latency.svg"] {
            assert!(folder.join(name).metadata().is_ok_and(|found| found.len() > 0), "{name} after {line}");
        }
        let restored = "$WORDLINE run --config s.toml --snapshot s --synthetic uniform --requests 10";
        shell(&folder, restored).ok();
    };
    whole(1, &["cannot write to standard output", "No space left"], &format!("{all} > /dev/full"));
    // The reader is gone before anything is printed; the code is that of the program, not of `true`.
    let closed = |line: &str| format!("( {line}; echo $? > code ) | true; exit $(cat code)");
    whole(0, &[], &closed(&all));
    let worn = "--set nand.reliability.endurance_cycles=3 --requests 900000 --read-percent 0";
    let worn = format!("{LINE} --quiet {worn}").replace("--requests 3000", "").replace("--quiet", "--json");
    shell(&folder, &closed(&worn)).fails(1, &["read-only"]);
    shell(&folder, &format!("{worn} > /dev/full"))
        .fails(1, &["read-only", "cannot write to standard output"]);
    // Lists are read by whoever wants to: no failure.
    shell(&folder, &closed("$WORDLINE policies")).ok();
    shell(&folder, "$WORDLINE policies > /dev/full").fails(1, &["cannot write to standard output"]);
}

/// A limit on the size of files, below that of a result, stands for a full disk.
const FULL: &str = "ulimit -f 4;";

#[test]
fn a_full_disk_leaves_the_old_files_and_prints_the_result() {
    let folder = place("full-disk");
    shell(&folder, &format!("{LINE} --out dir --save-snapshot s --request-log log.csv")).ok();
    let before = files(&folder);
    let again = format!("{FULL} {LINE} --seed 2 --out dir --force");
    let done = shell(&folder, &again).fails(1, &["dir: cannot write", "nothing was replaced"]);
    assert!(done.out.contains("write amplification"), "{}", done.out);
    assert!(files(&folder) == before);
    // Quiet does not mean lost.
    let done = shell(&folder, &format!("{again} --quiet")).fails(1, &["dir: cannot write"]);
    assert!(done.out.contains("write amplification"), "{}", done.out);
    let done = shell(&folder, &format!("{FULL} {LINE} --save-snapshot s --force --out new")).fails(
        1,
        &["s: cannot write the snapshot", "not saved", "new: cannot write", "missing there: result.json"],
    );
    assert!(done.out.contains("write amplification"));
    let after = files(&folder);
    assert!(after["s"] == before["s"] && after["s.toml"] == before["s.toml"]);
    let done =
        shell(&folder, &format!("{FULL} {LINE} --request-log log.csv --force --json")).fails(1, &["log.csv"]);
    assert!(done.json()["ended"].as_str().unwrap().starts_with("request_log"), "{}", done.out);
    assert!(files(&folder)["log.csv"] == before["log.csv"]);
    assert!(files(&folder).keys().all(|name| !name.ends_with(".part")), "{:?}", files(&folder).keys());
}

#[test]
fn a_device_that_is_full_is_told_and_the_rest_is_saved() {
    let folder = place("full-device");
    let log = format!("{LINE} --request-log /dev/full --out dir --save-snapshot s");
    let done = shell(&folder, &log).fails(1, &["/dev/full: cannot write", "No space left"]);
    assert!(done.out.contains("request_log"), "{}", done.out);
    assert!(folder.join("dir/result.json").exists() && folder.join("s").exists());
    shell(&folder, &format!("{LINE} --save-snapshot /dev/full --out other"))
        .fails(1, &["/dev/full: cannot write the snapshot"]);
    let done = shell(&folder, &format!("{LINE} --fio-json /dev/full --out third"));
    assert!(done.fails(1, &["/dev/full: cannot write"]).out.contains("IOPS"));
    assert!(folder.join("third/result.json").exists());
    assert!(folder.join("other/result.json").exists() && !Path::new("/dev/full.toml").exists());
}

#[test]
fn one_run_at_a_time_in_a_folder() {
    let folder = place("one-at-a-time");
    let long = [&RUN[..5], &["--requests", "2000000000", "--precondition", "none", "--out", "dir"]].concat();
    let mut first = start(&folder, &long);
    crate::interrupts::wait_for("the lock", || folder.join("dir/.wordline.lock").exists());
    let second = wordline_in(&folder, &[&RUN[..], &["--out", "dir"]].concat());
    first.kill().unwrap();
    finish(first, &long);
    second.fails(1, &["dir: cannot lock", "another run"]);
    // A run that was killed locks nothing any more.
    wordline_in(&folder, &[&RUN[..], &["--out", "dir"]].concat()).ok();
    assert!(!folder.join("dir/.wordline.lock").exists());
}

#[test]
fn a_refused_run_leaves_no_folder() {
    let folder = place("no-folder");
    let wrong = ["--out", "a/b", "--set", "run.depth=70000"];
    wordline_in(&folder, &[&RUN[..], &wrong].concat()).fails(2, &["run.depth"]);
    assert!(!folder.join("a").exists());
}
