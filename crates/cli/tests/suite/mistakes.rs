//! Mistakes of a newcomer: each answer says what was found, where, and what to type instead.

use crate::program::{file, folder, root, wordline_in};
use std::path::{Path, PathBuf};

/// What was meant, what was typed, the exit code, and what the answer must say.
type Mistake = (&'static str, &'static [&'static str], i32, &'static [&'static str]);

const COMMANDS: &[Mistake] = &[
    ("a command misspelt", &["rnu", "t.csv"], 2, &["'rnu'", "did you mean `wordline run`?"]),
    ("no command", &["t.csv"], 2, &["'t.csv'", "to run it: wordline run t.csv"]),
    ("a flag before its command", &["--out", "x", "run", "t.csv"], 2, &["'--out'", "wordline run --out ..."]),
    ("a short one", &["-q", "run", "t.csv"], 2, &["'-q'", "flags go after the command: wordline run -q ..."]),
    ("fio's word for reads and writes", &["run", "--rw=randread"], 2, &["'--rw'", "--read-percent 70"]),
    ("fio's word for depth", &["run", "--iodepth", "8"], 2, &["'--iodepth'", "instead: --depth 32"]),
    ("threads", &["run", "--threads", "4", "t.csv"], 2, &["'--threads'", "wordline sweep --jobs 8"]),
    (
        "a policy as a flag",
        &["run", "--policy", "fifo"],
        2,
        &["--policy fifo", "--set ftl.gc_victim.policy=fifo"],
    ),
    ("nothing to run", &["run"], 2, &["nothing to run", "name a trace", "--synthetic uniform"]),
    (
        "bits for bytes",
        &["endurance", "--writes", "864Gb/day", "--tbw", "500"],
        2,
        &["--writes", "Gb are bits"],
    ),
    ("a rate without a time", &["endurance", "--writes", "864GB", "--tbw", "500"], 2, &["864GB/day?"]),
    ("writes without a unit", &["endurance", "--writes", "864/day", "--tbw", "500"], 2, &["864GB or 864TB?"]),
    (
        "no rating",
        &["endurance", "--writes", "1GB/day"],
        2,
        &["drive.rating.tbw", "allowed: --tbw 600, --pe 1500"],
    ),
    (
        "a pattern misspelt",
        &["endurance", "--writes", "1GB/day", "--tbw", "500", "--pattern", "rndom"],
        2,
        &["--pattern", "log, random, mixed, jesd219", "did you mean \"random\"?"],
    ),
    (
        "a rating in GB",
        &["endurance", "--writes", "1GB/day", "--capacity", "1TB", "--tbw", "500000"],
        2,
        &["500 PB", "drive writes a day", "--tbw counts in TB"],
    ),
    (
        "a drive and a capacity",
        &["endurance", "--writes", "1GB/day", "--capacity", "1TB", "--drive", "qlc", "--tbw", "500"],
        2,
        &["both a drive and --capacity"],
    ),
    (
        "nothing written",
        &["endurance", "--tbw", "500"],
        2,
        &["nothing says what is written", "--writes 864GB/day"],
    ),
    ("a sweep without a folder", &["sweep", "sweep.toml"], 2, &["--out <DIR>"]),
];

const FILES: &[Mistake] = &[
    ("a trace misspelt", &["run", "t.csvv"], 2, &["t.csvv: cannot open", "did you mean t.csv?"]),
    (
        "a directory as a trace",
        &["run", "empty"],
        2,
        &["empty: cannot open", "it is a directory", "must be a file"],
    ),
    (
        "a table of counts",
        &["run", "counts.csv"],
        2,
        &["counts.csv", "has no requests", "histogram = \"FILE\""],
    ),
    (
        "a table without sizes",
        &["run", "few.csv"],
        2,
        &["few.csv", "'time,op,lba'", "--columns", "wordline formats"],
    ),
    ("a workbook", &["run", "t.xlsx"], 1, &["t.xlsx", "a zip archive", "unpack it", "allowed: text, gzip"]),
    (
        "a cut file",
        &["run", "cut.csv.zst"],
        1,
        &["cut.csv.zst: cannot decompress", "cut off", "copy it again"],
    ),
    (
        "a result as a trace",
        &["run", "done/result.json"],
        2,
        &["that is a result", "wordline report done/result.json"],
    ),
    ("the folder of a result", &["run", "done"], 2, &["a directory", "wordline run done/config.toml"]),
    (
        "the wrong format",
        &["run", "t.csv", "--format", "msr"],
        1,
        &["t.csv:1", "'timestamp_ns'", "without --format"],
    ),
    (
        "a format misspelt",
        &["run", "t.csv", "--format", "rocksbd"],
        2,
        &["rocksbd", "did you mean", "rocksdb"],
    ),
    (
        "a device that is not there",
        &["run", "t.csv", "--device", "7"],
        2,
        &["t.csv", "devices = 7", "it has 0"],
    ),
    (
        "columns from 0",
        &["run", "t.csv", "--columns", "op=0,offset=1,size=2"],
        2,
        &["column 0", "allowed: 1 to"],
    ),
    (
        "a column left out",
        &["run", "t.csv", "--columns", "op=1,size=3"],
        2,
        &["`offset` is missing", "such as"],
    ),
    ("a sweep as a run", &["run", "sweep.toml"], 2, &["sweep.toml:2", "wordline sweep sweep.toml -o DIR"]),
    ("a run as a sweep", &["sweep", "drive.toml", "-o", "s"], 2, &["varies nothing", "[grid]"]),
    (
        "a trace as a configuration",
        &["explain", "t.csv"],
        2,
        &["t.csv:1", "199 more lines", "wordline trace info"],
    ),
    ("a trace as a result", &["compare", "t.csv"], 2, &["t.csv: cannot understand", "wordline run --out"]),
    (
        "a folder as a snapshot",
        &["forensics", "done"],
        2,
        &["done: cannot read", "wordline run --save-snapshot"],
    ),
    (
        "a result in the way",
        &["run", "t.csv", "--out", "done"],
        2,
        &["--out done", "another folder, or --force"],
    ),
    (
        "an output over the trace",
        &["run", "t.csv", "--out", "t.csv"],
        2,
        &["it would overwrite the trace t.csv"],
    ),
    ("an option of fio misspelt", &["run", "near.fio"], 2, &["near.fio:2", "\"randred\"", "`randread`?"]),
    (
        "two engines, one not simulated",
        &["run", "engines.fio"],
        2,
        &["engines.fio:6: ioengine", "\"filecreate\"", "the file system's own"],
    ),
];

const SETTINGS: &[Mistake] = &[
    (
        "a key misspelt",
        &["run", "t.csv", "--set", "nand.timing.t_raed_us=5"],
        2,
        &["t_raed_us", "mean t_read_us?"],
    ),
    (
        "a key without its section",
        &["run", "t.csv", "--set", "over_provisioning=28"],
        2,
        &["drive.over_provisioning_percent?"],
    ),
    (
        "half a section",
        &["run", "t.csv", "--set", "gc_victim.policy=fifo"],
        2,
        &["[gc_victim]", "mean [ftl.gc_victim]?"],
    ),
    (
        "no unit in the key",
        &["run", "t.csv", "--set", "host.buffer.size=64MiB"],
        2,
        &["mean size_mib? Its unit is MiB."],
    ),
    ("the wrong unit", &["run", "t.csv", "--set", "nand.timing.t_read_us=5MiB"], 2, &["\"5MiB\"", "us"]),
    (
        "two words for one setting",
        &["run", "--set", "drive.seed", "7", "t.csv"],
        2,
        &["`=`: --set drive.seed=7"],
    ),
    (
        "a setting without a value",
        &["run", "t.csv", "--set", "drive.seed"],
        2,
        &["section.key=value", "drive.seed=7"],
    ),
    (
        "a policy misspelt",
        &["run", "t.csv", "--set", "ftl.gc_victim.policy=gredy"],
        2,
        &["\"gredy\"", "mean \"greedy\"?"],
    ),
    (
        "a key of another policy",
        &["explain", "other.toml"],
        2,
        &["other.toml:3", "with policy = \"greedy\"", "that have d: d_choices"],
    ),
    ("capitals", &["run", "t.csv", "--drive", "TLC"], 2, &["--drive TLC", "did you mean \"tlc\"?"]),
    (
        "a size in decimal",
        &["run", "--synthetic", "uniform", "--size", "4kb"],
        2,
        &["--size", "\"4kb\"", "such as 4KiB"],
    ),
    ("thousands", &["run", "--requests", "10k"], 2, &["--requests", "\"10k\"", "such as 10000 or 1e4"]),
    (
        "a pattern of another name",
        &["run", "--synthetic", "random"],
        2,
        &["\"random\"", "uniform, sequential, zipf"],
    ),
    ("a skew with a hyphen", &["run", "--zipf", "80-20"], 2, &["\"80-20\"", "such as 80/20"]),
    (
        "a bare percentage",
        &["run", "t.csv", "--precondition", "100"],
        2,
        &["\"100\"", "did you mean fill=100?"],
    ),
    (
        "age in other words",
        &["run", "t.csv", "--age", "3000 cycles"],
        2,
        &["\"3000 cycles\"", "\"cycle to 3000\""],
    ),
    (
        "cells that do not age",
        &["run", "t.csv", "--age", "cycle to 3000"],
        2,
        &["do not age", "nand.errors.model", "aged_tlc"],
    ),
    (
        "a trace and a generator",
        &["run", "t.csv", "--requests", "10"],
        2,
        &["both a trace (t.csv)", "(--requests)", "one of the two", "--first N", "--set run.requests=N"],
    ),
    (
        "a trace looked at and a generator",
        &["trace", "t.csv", "--requests", "10", "--zipf", "80/20"],
        2,
        &["both a trace (t.csv)", "(--requests, --zipf)", "--first N"],
    ),
    (
        "a trace at a rate",
        &["run", "t.csv", "--rate", "1000"],
        2,
        &["both a trace (t.csv)", "(--rate)", "--speed-up X"],
    ),
    (
        "a profile misspelt",
        &["run", "--workload", "mailservr"],
        2,
        &["\"mailservr\"", "did you mean `mailserver`?"],
    ),
    (
        "a footprint too small",
        &["run", "t.csv", "--size", "footprint"],
        2,
        &["24.88 MiB", "at least 128 MiB"],
    ),
];

/// The first lines of the shipped trace.
fn trace() -> String {
    let compressed = std::fs::File::open(root().join("data/rocksdb-ycsb-a-run1.csv.zst")).unwrap();
    let mut decoder = zstd::stream::read::Decoder::new(compressed).unwrap();
    let mut text = vec![0; 64 << 10];
    std::io::Read::read_exact(&mut decoder, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().take(200).map(|line| format!("{line}\n")).collect()
}

/// A folder with all that the mistakes are made with.
fn place(name: &str) -> PathBuf {
    let place = folder(name);
    let put = |name: &str, text: &str| _ = file(&place, name, text);
    put("t.csv", &trace());
    put("crlf.csv", &trace().replace('\n', "\r\n"));
    put("counts.csv", "LBA,Frequency\n0,10\n8,20\n16,3\n");
    put("few.csv", "time,op,lba\n1,R,5\n");
    put("t.xlsx", "PK\u{3}\u{4}abcdef");
    put("near.fio", "[a]\nrw=randred\nsize=1g\n");
    put("engines.fio", "[global]\nioengine=libaio\nsize=1g\n[a]\nrw=randread\nioengine=filecreate\n");
    put("sweep.toml", "[grid]\ndrive.seed = [1, 2]\n[workload]\npattern = \"uniform\"\n");
    put("drive.toml", "preset = \"tlc\"\n[workload]\npattern = \"uniform\"\n");
    put("other.toml", "[ftl.gc_victim]\npolicy = \"greedy\"\nd = 3\n");
    let whole = std::fs::read(root().join("data/rocksdb-ycsb-a-run1.csv.zst")).unwrap();
    file(&place, "cut.csv.zst", &whole[..20_000]);
    std::fs::create_dir(place.join("empty")).unwrap();
    let done = ["run", "-q", "--requests", "100", "--precondition", "none", "--out", "done"];
    wordline_in(&place, &done).ok();
    place
}

/// Makes mistakes, and reads the answers.
fn make(place: &Path, mistakes: &[Mistake]) {
    let mut unanswered = Vec::new();
    for (what, arguments, code, says) in mistakes {
        let done = wordline_in(place, arguments);
        println!("{what}: {}", done.err);
        assert!(!done.err.contains("panicked"), "{what}: {}", done.err);
        let missing: Vec<_> = says.iter().filter(|text| !done.err.contains(**text)).collect();
        if done.code != Some(*code) || !missing.is_empty() {
            unanswered.push(format!("{what}: exit code {:?}, without {missing:?}:\n{}", done.code, done.err));
        }
    }
    assert!(unanswered.is_empty(), "{}", unanswered.join("\n"));
}

#[test]
fn of_commands_and_flags_are_answered() {
    make(&place("mistakes_commands"), COMMANDS);
}

#[test]
fn of_files_are_answered() {
    make(&place("mistakes_files"), FILES);
}

#[test]
fn of_settings_are_answered() {
    make(&place("mistakes_settings"), SETTINGS);
}

#[test]
fn windows_line_ends_are_no_mistake() {
    let place = place("mistakes_crlf");
    let run = |trace: &str| {
        let run = ["run", trace, "--precondition", "none", "--drive", "m64", "--json"];
        wordline_in(&place, &run).ok().json()["event_hash"].clone()
    };
    assert_eq!(run("crlf.csv"), run("t.csv"));
}

#[test]
fn a_part_of_a_name_is_enough_for_explain() {
    let place = folder("mistakes_explain");
    let whole = wordline_in(&place, &["explain", "--only", "ftl.gc_trigger"]).ok().out;
    assert!(whole.contains("start_free_percent"), "{whole}");
    assert_eq!(wordline_in(&place, &["explain", "--only", "gc_trigger"]).ok().out, whole);
    wordline_in(&place, &["explain", "--only", "timings"]).fails(2, &["--only timings", "nand.timing"]);
}
