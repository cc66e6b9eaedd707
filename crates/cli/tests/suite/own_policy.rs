//! Policies of the user's own: written by `wordline new policy`, built, run, and found out when they are wrong.

use crate::interrupts::{wait_for, wait_for_handler};
use crate::program::{
    Done, SMALL, children_of, file, finish, folder, kill, root, start, trace, wordline, wordline_in,
    wordline_reading,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run that cleans some thousand times.
const RUN: &str = "[run]\nfill_percent = 100\noverwrite = \"none\"\n[workload]\npattern = \"uniform\"\n\
                   read_percent = 0\ncount = 40_000\n";

/// Whether there is a C compiler; a test without says that it is skipped.
fn has_compiler() -> bool {
    let has = Command::new("cc").arg("--version").output().is_ok_and(|done| done.status.success());
    if !has {
        println!("skipped: no C compiler (cc)");
    }
    has
}

/// A library of what `wordline new policy --c` has written, or of other code in its place.
fn c_library(place: &Path, family: &str, name: &str, code: Option<&str>) -> PathBuf {
    wordline_in(place, &["new", "policy", family, name, "--c"]).ok();
    let source = place.join(format!("{name}.c"));
    if let Some(code) = code {
        std::fs::write(&source, format!("#include \"wordline_policy.h\"\n{code}")).unwrap();
    }
    let library = place.join(format!("{name}.so"));
    let flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"];
    let done = Command::new("cc").args(flags).arg(&library).arg(&source).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

/// A library of the crate that `wordline new policy` has written.
fn rust_library(place: &Path, family: &str, name: &str) -> PathBuf {
    wordline_in(place, &["new", "policy", family, name]).ok();
    let manifest = place.join(name).join("Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--offline", "--quiet", "--manifest-path"]).arg(manifest);
    let done = cargo.env("CARGO_TARGET_DIR", place.join("target")).env_remove("RUSTFLAGS").output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && !told.contains("warning"), "{told}");
    place.join(format!("target/release/lib{name}.so"))
}

fn run(more: &[&str]) -> Value {
    wordline(&[&["run", "--json", "--no-cache"], more].concat()).ok().json()
}

/// The hash of a run's events, and who decided beside the drive.
fn hash(result: &Value) -> &str {
    result["event_hash"].as_str().unwrap()
}

#[test]
fn what_is_written_builds_and_decides_as_the_plainest_policy() {
    let place = folder("own-policy-templates");
    let mut libraries = vec![rust_library(&place, "gc_victim", "in_rust")];
    if has_compiler() {
        libraries.push(c_library(&place, "gc_victim", "in_c", None));
    }
    let config = file(&place, "small.toml", format!("{SMALL}{RUN}"));
    let trace = trace();
    let tiny = [
        "nand.geometry.blocks_per_plane=24",
        "nand.geometry.wordlines_per_block=16",
        "drive.over_provisioning_percent=60",
    ];
    let tiny = tiny.map(|key| ["--set", key]).concat();
    let preset = |name: &'static str| {
        let load =
            ["--synthetic", "uniform", "--requests", "4000", "--precondition", "times=2", "--drive", name];
        [&load[..], &tiny].concat()
    };
    let mut runs = vec![
        vec![config.as_str()],
        vec![&config, "--set", "run.executor=functional"],
        vec![&trace, "--set", "run.requests=20000", "--size", "footprint"],
    ];
    runs.extend(["client_tlc", "qlc", "m64", "redftl", "hire"].map(preset));
    let mut cleaned = 0;
    for arguments in &runs {
        let inside = run(arguments);
        assert!(inside.get("external_policies").is_none());
        for library in &libraries {
            let flag = format!("gc_victim={}", library.display());
            let outside = run(&[&arguments[..], &["--policy", &flag]].concat());
            assert_eq!(hash(&outside), hash(&inside), "{arguments:?} {flag}");
            let told = &outside["external_policies"][0];
            assert_eq!((&told["family"], &told["kind"]), (&"ftl.gc_victim".into(), &"library".into()));
            assert_eq!(told["hash"].as_str().unwrap().len(), 32);
            assert_eq!(outside["config"]["ftl.gc_victim.policy"], "external");
            cleaned += told["calls"].as_u64().unwrap();
        }
    }
    assert!(cleaned > 5_000, "{cleaned}");
}

#[test]
fn libraries_level_wear_and_separate_data() {
    let place = folder("own-policy-others");
    let config = file(&place, "small.toml", format!("{SMALL}{RUN}"));
    let (leveling, stream) =
        (rust_library(&place, "wear_leveling", "leveling"), rust_library(&place, "stream", "separator"));
    let flag = format!("wear_leveling={}", leveling.display());
    // Blocks that are worn unlike, so that there is something to level.
    let worn = ["--set", "run.erase_count_max=200"];
    let with = |more: &[&str]| run(&[&[config.as_str()], &worn[..], more].concat());
    let outside = with(&["--policy", &flag]);
    assert_eq!(hash(&outside), hash(&with(&["--set", "ftl.wear_leveling.policy=static_swap"])));
    assert!(outside["ftl"]["moved_units"]["wear_leveling"].as_u64().unwrap() > 0, "wear was leveled");
    let flag = format!("stream={}", stream.display());
    let (one, two) = (run(&[&config, "--policy", &flag]), run(&[&config, "--policy", &flag]));
    assert_eq!(hash(&one), hash(&two));
    assert_ne!(hash(&one), hash(&run(&[&config])));
    assert_eq!(one["config"]["ftl.stream.streams"], 2);
    if has_compiler() {
        let library = c_library(&place, "wear_leveling", "c_leveling", None);
        let flag = format!("wear_leveling={}", library.display());
        assert_eq!(hash(&with(&["--policy", &flag])), hash(&outside));
        let library = c_library(&place, "stream", "c_separator", None);
        let flag = format!("stream={}", library.display());
        assert_eq!(hash(&run(&[&config, "--policy", &flag])), hash(&one));
        let three = "static int32_t choose(void *s, const wordline_unit *u, uint32_t *a) \
                     { (void)s; *a = u->lpn % 3; return u->streams != 3; }\nWORDLINE_STREAM_POLICY(\"three\", 3, choose)\n";
        let flag = format!("stream={}", c_library(&place, "stream", "three", Some(three)).display());
        assert_eq!(run(&[&config, "--policy", &flag])["config"]["ftl.stream.streams"], 3);
    }
}

/// Greedy in C until call 100; then what `WRONG` does.
const WRONG: &str = "\
static int32_t choose(void *s, const wordline_lane *lane, uint32_t *answer) {
    (void)s;
    uint32_t least = UINT32_MAX, block = 0;
    for (uint32_t at = 0; at < lane->blocks; at++)
        if (lane->live[at] < least) { least = lane->live[at]; block = at; }
    if (lane->call == 100) { WRONG }
    *answer = least & WORDLINE_NOT_ELIGIBLE ? WORDLINE_NONE : block;
    return 0;
}
WORDLINE_BLOCK_POLICY(wordline_gc_victim, \"wrong\", choose)
";

#[test]
fn a_policy_that_fails_ends_the_run_which_keeps_what_was_measured() {
    if !has_compiler() {
        return;
    }
    let place = folder("own-policy-wrong");
    let config = file(&place, "small.toml", format!("{SMALL}{RUN}"));
    let far = "*answer = lane->blocks; return 0;";
    let open =
        "block = 0; while (!(lane->live[block] & WORDLINE_NOT_ELIGIBLE)) block++; *answer = block; return 0;";
    for (name, wrong, found) in [
        ("status", "return 7;", "found:   status 7"),
        ("silent", "return 0;", "found:   status 0, and no answer was written"),
        ("none", "*answer = WORDLINE_NONE; return 0;", "found:   no block, although one may be chosen"),
        ("far", far, "found:   block 64 of 64"),
        ("open", open, ", which is "),
    ] {
        let library = c_library(&place, "gc_victim", name, Some(&WRONG.replace("WRONG", wrong)));
        let (flag, out) =
            (format!("gc_victim={}", library.display()), place.join(name).display().to_string());
        let done = wordline(&["run", &config, "--policy", &flag, "--out", &out, "--quiet"]);
        let says = ["ftl.gc_victim: policy wrong, call 100\n", found, "allowed: ", " requests)"];
        done.fails(1, &says);
        let text = std::fs::read_to_string(Path::new(&out).join("result.json")).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        let served = result["requests_served"].as_u64().unwrap();
        assert!(result["ended"].as_str().unwrap().starts_with("policy: "), "{}", result["ended"]);
        assert!(served > 100 && served < 39_000, "{served}: the run ended soon after");
        assert_eq!(result["external_policies"][0]["calls"], 100);
    }
    // While the drive is aged nothing is measured.
    let aged = config.replace("small", "aged");
    std::fs::write(&aged, format!("{SMALL}{RUN}").replace("\"none\"", "\"times\"")).unwrap();
    let flag = format!("gc_victim={}", place.join("status.so").display());
    let done = wordline(&["run", &aged, "--policy", &flag]).fails(1, &["call 100", "status 7"]);
    assert!(!done.err.contains("requests)"), "{}", done.err);
}

/// Libraries that bring their process down with the hundredth call, and how that is told.
const DEADLY: [(&str, &str, &str); 5] = [
    ("view", "memset((void *)(uintptr_t)lane->live, 0x7f, 1 << 28)", "signal "),
    ("ends", "exit(0)", "exit code 0, before it was done"),
    ("quits", "_exit(3)", "exit code 3, before it was done"),
    ("aborts", "abort()", "signal 6 (SIGABRT)"),
    ("kills", "raise(9)", "signal 9 (SIGKILL)"),
];

/// One of them.
fn deadly(place: &Path, name: &str, code: &str) -> PathBuf {
    let head = "#define _DEFAULT_SOURCE\n#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include \
                <unistd.h>\n";
    // What is written includes the interface itself.
    c_library(
        place,
        "gc_victim",
        name,
        Some(&(head.to_owned() + &WRONG.replace("WRONG", &format!("{code};")))),
    )
}

#[test]
fn who_brings_the_process_down_is_named_by_the_process_beside() {
    if !has_compiler() {
        return;
    }
    let place = folder("own-policy-deadly");
    let config = file(&place, "small.toml", format!("{SMALL}{RUN}"));
    for (name, code, how) in DEADLY {
        let flag = format!("gc_victim={}", deadly(&place, name, code).display());
        let out = place.join(format!("{name}-out")).display().to_string();
        let line = ["run", &config, "--policy", &flag, "--isolate-policies", "--out", &out, "--quiet"];
        let says = ["the run's process died, while it ran the policy ", &flag["gc_victim=".len()..], how];
        let done = wordline(&line).fails(1, &says);
        assert!(done.out.is_empty() && !Path::new(&out).join("result.json").exists(), "{}", done.out);
    }
}

#[test]
fn beside_another_process_a_run_is_what_it_is_in_this_one() {
    if !has_compiler() {
        return;
    }
    let place = folder("own-policy-isolated");
    let config = file(&place, "small.toml", format!("{SMALL}{RUN}"));
    let flag = format!("gc_victim={}", c_library(&place, "gc_victim", "mine", None).display());
    let line = [config.as_str(), "--policy", &flag];
    assert_eq!(hash(&run(&line)), hash(&run(&[&line[..], &["--isolate-policies"]].concat())));
    // Its exit codes are passed on, with what it says: bad usage, a run that fails, a trace from standard input.
    wordline(&["run", &config, "--isolate-policies", "--set", "run.depht=3"]).fails(2, &["run.depht"]);
    wordline(&["run", &config, "--isolate-policies", "--policy", "gc_victim=nowhere.so"])
        .fails(2, &["nowhere.so"]);
    let wrong = c_library(&place, "gc_victim", "wrong", Some(&WRONG.replace("WRONG", "return 7;")));
    let flag = format!("gc_victim={}", wrong.display());
    wordline(&["run", &config, "--isolate-policies", "--policy", &flag]).fails(1, &["call 100", "status 7"]);
    let trace = std::fs::read(trace()).unwrap();
    let from_input =
        ["run", "-", "--isolate-policies", "--set", "run.requests=1000", "--precondition", "none", "--json"];
    assert_eq!(wordline_reading(&from_input, &trace).ok().json()["requests_served"], 1_000);
}

#[test]
fn a_request_to_end_reaches_the_run_beside() {
    let place = folder("own-policy-ended");
    let config = file(&place, "small.toml", format!("{SMALL}{RUN}").replace("40_000", "4_000_000_000"));
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let line = ["run", &config, "--isolate-policies", "--json"];
        let child = start(&place, &line);
        wait_for("the run beside", || !children_of(child.id()).is_empty());
        let beside = children_of(child.id())[0];
        // Until then it is a copy of this one, with its handlers.
        let words = format!("/proc/{beside}/cmdline");
        wait_for("its own words", || std::fs::read_to_string(&words).unwrap().contains("--isolated"));
        wait_for_handler(beside);
        kill(signal, child.id());
        // It may not have begun to measure.
        let done = finish(child, &line).fails(code, &["interrupted "]);
        assert!(done.out.is_empty() || done.json()["requests_served"].is_u64(), "{}", done.out);
    }
    // Ctrl-Z stops both, and both go on.
    let mut child = start(&place, &["run", &config, "--isolate-policies"]);
    wait_for("the run beside", || !children_of(child.id()).is_empty());
    let both = [child.id(), children_of(child.id())[0]];
    wait_for_handler(both[0]);
    let are = |stopped: bool| both.iter().all(|process| (state_of(*process) == "T") == stopped);
    wait_for("them to work", || are(false));
    kill("-TSTP", child.id());
    wait_for("both to stop", || are(true));
    kill("-CONT", child.id());
    wait_for("both to go on", || are(false));
    child.kill().unwrap();
    child.wait().unwrap();
    // Nor does it outlive the one that waits for it.
    let mut child = start(&place, &["run", &config, "--isolate-policies"]);
    wait_for("the run beside", || !children_of(child.id()).is_empty());
    let beside = children_of(child.id())[0];
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("its end", || ["", "Z"].contains(&&*state_of(beside)));
}

/// The letter of a process's state; empty if there is none.
fn state_of(process: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    behind_name.split_whitespace().next().unwrap_or_default().to_owned()
}

#[test]
fn a_sweep_names_the_library_that_brings_its_process_down() {
    if !has_compiler() {
        return;
    }
    let place = folder("own-policy-deadly-sweep");
    let library = deadly(&place, "ends", "exit(0)");
    let text = format!(
        "{SMALL}{RUN}[policy]\ngc_victim = \"ends.so\"\n[grid]\nftl.gc_victim.policy = [\"greedy\", \"external\"]\n"
    );
    let sweep = file(&place, "grid.toml", text);
    let out = place.join("out").display().to_string();
    let done = wordline(&["sweep", &sweep, "-o", &out, "--allow-libraries", "--no-cache"]);
    let died =
        format!("its process died 2 times, while it ran the policy {}: exit code 0", library.display());
    done.fails(1, &[&died, "1 of 2 runs"]);
}

#[test]
fn a_file_that_names_a_library_runs_it_only_if_that_is_allowed() {
    if !has_compiler() {
        return;
    }
    let place = folder("own-policy-files");
    c_library(&place, "gc_victim", "mine", None);
    let named =
        format!("{SMALL}[ftl.gc_victim]\npolicy = \"external\"\n[policy]\ngc_victim = \"mine.so\"\n{RUN}");
    let config = file(&place, "named.toml", &named);
    let refused = "named.toml:14: policy.gc_victim\n    found:   the library mine.so, which a file names";
    wordline(&["run", &config]).fails(2, &[refused, "--allow-libraries"]);
    let plain = file(&place, "plain.toml", format!("{SMALL}{RUN}"));
    assert_eq!(hash(&run(&[&config, "--allow-libraries"])), hash(&run(&[&plain])));
    // Its configuration repeats the run, from anywhere.
    let out = place.join("out").display().to_string();
    wordline(&["run", &config, "--allow-libraries", "--out", &out, "--quiet"]).ok();
    let again = place.join("out/config.toml").display().to_string();
    assert_eq!(hash(&run(&[&again, "--allow-libraries"])), hash(&run(&[&plain])));
    // Named, and not asked for: said, and not loaded.
    let other = file(&place, "other.toml", named.replace("\"external\"", "\"fifo\""));
    let done = wordline(&["run", &other]).ok();
    assert!(done.err.contains("policy.gc_victim is not used"), "{}", done.err);
    let missing = file(&place, "missing.toml", named.replace("gc_victim = \"mine.so\"", ""));
    wordline(&["run", &missing])
        .fails(2, &["missing.toml:12", "ftl.gc_victim.policy", "--policy gc_victim=FILE"]);
}

/// The runs of a sweep: their names, and who was asked.
fn runs(out: &Path) -> Vec<(String, String, Value)> {
    let list = std::fs::read_dir(out.join("runs")).unwrap();
    let paths =
        list.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "json"));
    let read = |path: PathBuf| {
        let outcome: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let result = &outcome["result"];
        (
            outcome["id"].as_str().unwrap().to_owned(),
            hash(result).to_owned(),
            result["external_policies"].clone(),
        )
    };
    paths.map(read).collect()
}

#[test]
fn a_sweep_compares_a_library_with_other_policies() {
    if !has_compiler() {
        return;
    }
    let place = folder("own-policy-sweep");
    let library = c_library(&place, "gc_victim", "mine", None);
    let small = RUN.replace("40_000", "4_000");
    let grid =
        "[policy]\ngc_victim = \"mine.so\"\n[grid]\nftl.gc_victim.policy = [\"greedy\", \"external\"]\n";
    let sweep = file(&place, "sweep.toml", format!("{SMALL}{small}{grid}"));
    let out = place.join("out");
    let carry_out = |more: &[&str]| -> Done {
        let out = out.display().to_string();
        wordline(&[&["sweep", &sweep, "-o", &out, "--quiet"], more].concat())
    };
    carry_out(&[]).fails(2, &["which a file names", "--allow-libraries"]);
    carry_out(&["--allow-libraries"]).ok();
    let first = runs(&out);
    assert_eq!(first.len(), 2);
    assert_eq!(first[0].1, first[1].1, "both are greedy");
    assert_eq!(first.iter().filter(|(.., told)| !told.is_null()).count(), 1);
    // Another library is another run: that of the built-in policy stays.
    std::fs::remove_file(&library).unwrap();
    std::fs::remove_file(place.join("mine.c")).unwrap();
    c_library(
        &place,
        "gc_victim",
        "mine",
        Some(&WRONG.replace("WRONG", "return 7;").replace("100", "1000000")),
    );
    carry_out(&["--allow-libraries"]).ok();
    let second = runs(&out);
    assert_eq!(second.len(), 3);
    assert!(first.iter().all(|run| second.contains(run)));
}

#[test]
fn what_is_wrong_is_told_before_anything_runs() {
    let place = folder("own-policy-refused");
    let in_place = |arguments: &[&str]| wordline_in(&place, arguments);
    in_place(&["new", "policy", "gc_victim", "mine", "--c"]).ok();
    in_place(&["new", "policy", "gc_victim", "mine", "--c"]).fails(2, &["mine.c", "already exists"]);
    // The header is shared by policies beside each other.
    in_place(&["new", "policy", "stream", "other", "--c"]).ok();
    in_place(&["new", "policy", "gc_victim", "mine"]).ok();
    std::fs::write(place.join("mine/src/lib.rs"), "// mine\n").unwrap();
    in_place(&["new", "policy", "gc_victim", "mine"]).fails(2, &["already exists"]);
    assert_eq!(std::fs::read_to_string(place.join("mine/src/lib.rs")).unwrap(), "// mine\n");
    in_place(&["new", "policy", "gc_trigger", "mine"]).fails(2, &["gc_victim, wear_leveling, stream"]);
    in_place(&["new", "policy", "stream", "no-name"]).fails(2, &["a letter, then letters, digits and _"]);
    let run = |more: &[&str]| wordline(&[&["run", "--synthetic", "uniform"], more].concat());
    run(&["--policy", "gc_victim"]).fails(2, &["--policy gc_victim", "FAMILY=FILE"]);
    run(&["--policy", "gc_trigger=x.so"])
        .fails(2, &["family gc_trigger", "gc_victim, wear_leveling, stream"]);
    let source = root().join("README.md").display().to_string();
    run(&["--policy", &format!("stream={source}")]).fails(2, &["README.md", "a shared library"]);
    run(&["--policy", "stream=nowhere.so"]).fails(2, &["nowhere.so", "No such file"]);
    run(&["--set", "ftl.gc_victim.policy=external"]).fails(2, &["--policy gc_victim=FILE"]);
    if has_compiler() {
        let library = c_library(&place, "stream", "third", None);
        let flag = format!("gc_victim={}", library.display());
        run(&["--policy", &flag]).fails(2, &["no symbol `wordline_gc_victim`, but `wordline_stream`"]);
        let flag = format!("stream={}", library.display());
        let saved = place.join("saved").display().to_string();
        run(&["--policy", &flag, "--save-snapshot", &saved]).fails(2, &["cannot be part of a snapshot"]);
        assert!(!place.join("saved").exists());
    }
}

#[test]
fn a_file_gives_libraries_names_that_stand_beside_those_of_shipped_policies() {
    if !has_compiler() {
        return;
    }
    let place = folder("own-policy-named");
    c_library(&place, "gc_victim", "mine", None);
    let named = format!("{SMALL}{RUN}[policies]\nmine = \"mine.so\"\n");
    let grid = "[grid]\nftl.gc_victim.policy = [\"greedy\", \"fifo\", \"mine\"]\n";
    let sweep = file(&place, "sweep.toml", format!("{named}{grid}"));
    let out = place.join("out");
    let to = out.display().to_string();
    let refused = "sweep.toml:19: policies.mine\n    found:   the library mine.so, which a file names";
    wordline(&["sweep", &sweep, "-o", &to]).fails(2, &[refused, "--allow-libraries"]);
    wordline(&["sweep", &sweep, "-o", &to, "--allow-libraries", "--quiet"]).ok();
    let all = runs(&out);
    assert_eq!(all.len(), 3);
    let of_mine = all.iter().find(|(.., told)| !told.is_null()).expect("the library was asked");
    assert_eq!(all.iter().filter(|(_, hash, _)| *hash == of_mine.1).count(), 2, "greedy does the same");
    let rows = std::fs::read_to_string(out.join("runs.csv")).unwrap();
    assert!(rows.contains(",mine,") && !rows.contains("external,"), "{rows}");
    // A single run's file has names as well, and its result the name.
    let policy = "[ftl.gc_victim]\npolicy = \"mine\"\n";
    let one = file(&place, "one.toml", format!("{named}{policy}"));
    let result = run(&[&one, "--allow-libraries"]);
    assert_eq!(
        (hash(&result), &result["config"]["ftl.gc_victim.policy"]),
        (of_mine.1.as_str(), &"mine".into())
    );
    let set = run(&[&one, "--allow-libraries", "--set", "ftl.gc_victim.policy=greedy"]);
    assert_eq!((hash(&set), set["config"]["ftl.gc_victim.policy"].as_str()), (hash(&result), Some("greedy")));
    // What is wrong is told with its place.
    let wrong = |text: &str, says: &[&str]| {
        let path = file(&place, "wrong.toml", text);
        wordline(&["sweep", &path, "-o", &to, "--allow-libraries"]).fails(2, says);
    };
    let (all, line) = (format!("{named}{grid}"), "wrong.toml:19: policies");
    wrong(&all.replace("mine\"]", "mien\"]"), &["\"mien\"", "allowed: greedy", "did you mean \"mine\"?"]);
    let at = format!("{line}.fifo");
    wrong(&all.replace("mine = ", "fifo = "), &[&at, "a name that no shipped policy has"]);
    let at = format!("{line}.gc_victim");
    wrong(&all.replace("mine = ", "gc_victim = "), &[&at, "[policy] has a library for each family"]);
    let at = format!("{line}.mine");
    wrong(&all.replace("\"mine.so\"", "7"), &[&at, "found:   7", "the path of a library"]);
    wrong(&format!("{all}policies.mine.x = [1, 2]\n"), &["policies.mine.x", "mine, which is a library"]);
}
