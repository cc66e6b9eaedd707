//! `wordline run` and `compare`: results, files, determinism.

use crate::program::{SMALL, file, folder, shell, trace, wordline};
use serde_json::{Value, json};
use std::path::Path;

/// Keys of result.json that others rely on.
const KEYS: &[&str] = &[
    "/requests_generated",
    "/requests_served",
    "/reads",
    "/writes",
    "/simulated_ns",
    "/cpu_seconds",
    "/write_amplification",
    "/latency_ns/read/p99",
    "/latency_ns/write/p50",
    "/latency_ns/write/p99_9",
    "/latency_ns/write/p99_99",
    "/latency_ns/write/max",
    "/flash/programs/host",
    "/flash/programs/cleaning",
    "/flash/reads/host",
    "/flash/erases/cleaning",
    "/seed",
    "/config_hash",
    "/workload_hash",
    "/event_hash",
    "/version",
];

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

#[test]
fn the_shipped_trace_on_a_drive_sized_to_it() {
    let folder = folder("shipped");
    let out = folder.join("first").display().to_string();
    let log = folder.join("log.csv").display().to_string();
    let done = wordline(&["run", &trace(), "--first", "4000", "--out", &out, "--request-log", &log]).ok();
    for text in ["the workload touches", "8 channels x"] {
        assert!(done.err.contains(text), "{}", done.err);
    }
    for text in ["served", "write amplification", "p99.9", "erase"] {
        assert!(done.out.contains(text), "{text} in:\n{}", done.out);
    }
    let result: Value = serde_json::from_str(&read(folder.join("first/result.json"))).unwrap();
    for key in KEYS {
        assert!(result.pointer(key).is_some(), "{key} in {result:#}");
    }
    // Trims of pages that are never read or written were dropped, and the remarks say so.
    let served = result["requests_served"].as_u64().unwrap();
    assert!((3980..=4000).contains(&served) && result["remarks"].to_string().contains("dropped"), "{served}");
    assert_eq!(result["requests_generated"], json!(served));
    assert_eq!(result["loop_mode"], json!("open"));
    // Part of it is still in the buffer.
    assert!(result["write_amplification"].as_f64().unwrap() > 0.0);
    let blocks = read(folder.join("first/blocks.csv"));
    let expected = result["erase_count"]["blocks"].as_u64().unwrap() as usize;
    assert!(
        blocks.starts_with("block,lane,state,") && blocks.lines().count() > expected,
        "{expected} blocks"
    );
    for name in ["latency.svg", "breakdown.svg"] {
        assert!(read(folder.join("first").join(name)).starts_with("<svg"), "{name}");
        let [pdf, csv] = ["pdf", "csv"].map(|ending| folder.join("first").join(name).with_extension(ending));
        assert!(std::fs::read(&pdf).unwrap().starts_with(b"%PDF-1."), "{}", pdf.display());
        assert!(read(&csv).starts_with("run,requests,"), "{}", csv.display());
    }
    let rows = read(&log);
    assert_eq!(rows.lines().count() as u64, 1 + served);
    // The configuration beside the result repeats the run, from wherever.
    let config = folder.join("first/config.toml").display().to_string();
    let again = wordline(&["run", &config, "--json"]).ok().json();
    for key in ["event_hash", "config_hash", "workload_hash", "simulated_ns", "latency_ns"] {
        assert_eq!(again[key], result[key], "{key}");
    }
}

#[test]
fn the_same_twice_and_json_alone_on_standard_output() {
    let folder = folder("twice");
    let small = file(&folder, "small.toml", SMALL);
    let run = |extra: &[&str]| {
        let args = [
            "run",
            "--config",
            &small,
            "--zipf",
            "80/20",
            "--requests",
            "20000",
            "--read-percent",
            "50",
            "--json",
        ];
        wordline(&[&args[..], extra].concat()).ok().json()
    };
    let first = run(&[]);
    let mut second = run(&[]);
    for key in ["cpu_seconds", "wall_seconds", "requests_per_cpu_second", "peak_rss_bytes"] {
        second[key] = first[key].clone();
    }
    second["preconditioning"]["cpu_seconds"] = first["preconditioning"]["cpu_seconds"].clone();
    assert_eq!(first, second);
    assert_ne!(first["event_hash"], run(&["--seed", "2"])["event_hash"]);
    assert_eq!(first["depth"], json!(32));
    assert_eq!(run(&["--depth", "4"])["depth"], json!(4));
    assert_eq!(run(&["--warm-up", "1000"])["requests_measured"], json!(19_000));
}

#[test]
fn loads_by_flags() {
    let folder = folder("flags");
    let small = file(&folder, "small.toml", SMALL);
    let run = |extra: &[&str]| {
        let args = ["run", "--config", &small, "--requests", "5000", "--precondition", "fill=50", "--json"];
        wordline(&[&args[..], extra].concat()).ok().json()
    };
    let reads = run(&["--synthetic", "sequential", "--read-percent", "100", "--size", "64KiB"]);
    assert_eq!(reads["reads"], json!(5000));
    assert_eq!(reads["bytes_read"], json!(5000 * 65_536));
    let mixed = run(&["--synthetic", "uniform", "--size", "4KiB:3,16KiB", "--footprint", "50%"]);
    assert_eq!(mixed["requests_served"], json!(5000));
    let open = run(&["--rate", "20000", "--read-percent", "100"]);
    assert_eq!(open["loop_mode"], json!("open"));
    let iops = open["iops"]["all"].as_f64().unwrap();
    assert!((18_000.0..22_000.0).contains(&iops), "{iops}");
    let closed = run(&["--rate", "20000", "--read-percent", "100", "--depth", "1"]);
    assert_eq!(closed["loop_mode"], json!("closed"));
    let log = folder.join("log.csv.zst").display().to_string();
    run(&["--zipf-theta", "0.9", "--request-log", &log]);
    assert!(std::fs::read(&log).unwrap().starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
}

#[test]
fn a_trace_is_sped_up_repeated_and_kept_in_flight() {
    let run = |extra: &[&str]| {
        let args = ["run", &trace(), "--first", "1000", "--json"];
        wordline(&[&args[..], extra].concat()).ok().json()
    };
    let plain = run(&[]);
    let fast = run(&["--speed-up", "4"]);
    let slow = run(&["--speed-up", "1/4"]);
    let time = |result: &Value| result["simulated_ns"].as_u64().unwrap();
    assert!(time(&fast) <= time(&plain) && time(&plain) < time(&slow));
    let served = plain["requests_served"].as_u64().unwrap();
    assert_eq!(run(&["--repeat", "3"])["requests_served"], json!(3 * served));
    assert_eq!(run(&["--closed", "8"])["depth"], json!(8));
    assert_ne!(plain["workload_hash"], fast["workload_hash"]);
}

#[test]
fn a_named_drive_wraps_addresses_and_says_so() {
    let folder = folder("wraps");
    let small = file(&folder, "small.toml", SMALL);
    let args = ["run", "--config", &small, &trace(), "--first", "500", "--precondition", "none"];
    let done = wordline(&args).ok();
    assert!(done.err.contains("wrapped around"), "{}", done.err);
    let quiet = wordline(&[&args[..], &["--quiet"]].concat()).ok();
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn results_side_by_side() {
    let folder = folder("compare");
    let small = file(&folder, "small.toml", SMALL);
    let mut dirs = Vec::new();
    for policy in ["greedy", "fifo", "random"] {
        let out = folder.join(policy).display().to_string();
        let set = format!("ftl.gc_victim.policy={policy}");
        let args = [
            "run",
            "--config",
            &small,
            "--synthetic",
            "uniform",
            "--requests",
            "20000",
            "--read-percent",
            "0",
        ];
        wordline(&[&args[..], &["--set", &set, "--out", &out, "--quiet"]].concat()).ok();
        dirs.push(out);
    }
    let out = folder.join("compared").display().to_string();
    let dirs: Vec<&str> = dirs.iter().map(String::as_str).collect();
    let text = wordline(&[&["compare"], &dirs[..], &["--out", &out]].concat()).ok().out;
    for part in ["greedy", "fifo", "random", "write amplification"] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    assert_eq!(read(folder.join("compared/comparison.txt")), text);
    assert!(read(folder.join("compared/latency.svg")).starts_with("<svg"));
    let json = wordline(&[&["compare", "--json"], &dirs[..]].concat()).ok().json();
    assert_eq!(json.as_array().unwrap().len(), 3);
    let by_folder = |i: usize| json[i]["write_amplification"].as_f64().unwrap();
    assert!(by_folder(0) < by_folder(2), "greedy {} against random {}", by_folder(0), by_folder(2));
}

#[test]
fn a_drive_that_wears_out_ends_with_a_reason() {
    let folder = folder("worn");
    let small = file(&folder, "small.toml", SMALL);
    let out = folder.join("out").display().to_string();
    let args =
        ["run", "--config", &small, "--synthetic", "uniform", "--read-percent", "0", "--requests", "2000000"];
    let worn = ["--set", "nand.reliability.endurance_cycles=6", "--precondition", "none", "--out", &out];
    let done =
        wordline(&[&args[..], &worn].concat()).fails(1, &["read-only", "worn out", "of 2000000 requests"]);
    assert!(done.out.contains(" of 2,000,000 served"), "{}", done.out);
    assert!(done.out.contains("read_only"), "{}", done.out);
    let result: Value = serde_json::from_str(&read(folder.join("out/result.json"))).unwrap();
    assert!(result["ended"].as_str().unwrap().starts_with("read_only"), "{}", result["ended"]);
    assert!(result["requests_served"].as_u64().unwrap() < 2_000_000);
    assert_eq!(result["requests_total"], json!(2_000_000));
}

/// Watching files changes nothing in the drive; the table, the result and the plot say the same.
#[test]
fn versions_of_files_are_told_on_request() {
    let folder = folder("versions");
    let at = |name: &str| folder.join(name).display().to_string();
    let run = ["run", "--workload", "mailserver", "--footprint", "512MiB", "--requests", "40000"];
    let (table, out) = (at("versions.csv"), at("out"));
    let plain = wordline(&[&run[..], &["--json"]].concat()).ok().json();
    let told = wordline(&[&run[..], &["--versions", &table, "--out", &out]].concat()).ok();
    let result: Value = serde_json::from_str(&read(folder.join("out/result.json"))).unwrap();
    assert_eq!(plain.get("versions"), None);
    assert_eq!(plain["event_hash"], result["event_hash"]);
    for kind in ["uv", "mv"] {
        let of = &result["versions"][kind];
        assert!(of["files"].as_u64().unwrap() > 100, "{of}");
        for key in ["vaf", "t_insecure"] {
            let [mean, max] = ["mean", "max"].map(|over| of[key][over].as_f64().unwrap());
            assert!(0.0 < mean && mean < max && max < 10.0, "{kind} {key} {mean} {max}");
        }
    }
    for text in ["uni-version", "multi-version"] {
        assert!(told.out.contains(text), "{}", told.out);
    }
    // The file with the most invalid units is in the table, with as many.
    let shown = &result["versions"]["mv"]["shown"];
    let most = |rows: &mut dyn Iterator<Item = u64>| rows.max().unwrap();
    let listed = most(&mut shown["invalid"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()));
    let rows = read(&table);
    let own = format!(",{},", shown["file"]);
    // Writes, file, valid units, invalid ones, and those of them that moves have left.
    let own = rows
        .lines()
        .skip(1)
        .filter(|line| line.split_once(',').is_some_and(|(_, rest)| rest.starts_with(&own[1..])));
    let written = most(&mut own.map(|line| line.split(',').nth(3).unwrap().parse().unwrap()));
    assert!(written >= listed && listed > 0, "{written} {listed}");
    assert!(read(folder.join("out/versions.svg")).contains("multi-version file"));
}

/// Many runs have a row each, in groups by what was set differently and in the order in which people count, and fit
/// into a terminal.
#[test]
fn many_results_have_rows() {
    let folder = folder("compare-many");
    let small = file(&folder, "small.toml", SMALL);
    let mut dirs = Vec::new();
    for trace in ["uniform", "zipf"] {
        for percent in ["15", "28", "7"] {
            let out = folder.join(format!("{trace}-op{percent}")).display().to_string();
            let over = format!("drive.over_provisioning_percent={percent}");
            let args = [
                "run",
                "--config",
                &small,
                "--synthetic",
                trace,
                "--requests",
                "3000",
                "--read-percent",
                "50",
            ];
            let sets = ["--set", "drive.logical_gib=0", "--set", &over, "--out", &out, "--quiet"];
            wordline(&[&args[..], &sets].concat()).ok();
            dirs.push(out);
        }
    }
    let dirs: Vec<&str> = dirs.iter().map(String::as_str).collect();
    let compare = |more: &[&str]| wordline(&[&["compare"], &dirs[..], more].concat());
    let text = compare(&[]).ok().out;
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.split("  ").next()).filter(|n| n.contains("-op")).collect();
    // Without the letters of their problems.
    let names = names.into_iter().map(|name| name.split(" (").next().unwrap_or_default());
    let names: Vec<&str> = names.filter(|name| !name.contains(' ')).collect();
    assert_eq!(
        names,
        ["uniform-op7", "uniform-op15", "uniform-op28", "zipf-op7", "zipf-op15", "zipf-op28"],
        "{text}"
    );
    for part in ["workload.pattern = uniform", "workload.pattern = zipf", "write"] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    // What nobody uses is not told.
    assert!(!text.contains("cell.") && !text.contains("nand.errors."), "{text}");
    let csv = compare(&["--csv", "-"]).ok().out;
    assert!(csv.lines().count() == 7 && csv.starts_with("run,workload.pattern,"), "{csv}");
    let path = folder.join("all.csv").display().to_string();
    compare(&["--csv", &path]).ok();
    assert_eq!(read(folder.join("all.csv")), csv);
    let keys = ["--keys", "write_amplification,drive.over_provisioning_percent", "--markdown"];
    let chosen = compare(&keys).ok().out;
    assert!(
        chosen.starts_with("| ") && chosen.matches("\n| ").count() == 7 && !chosen.contains("IOPS"),
        "{chosen}"
    );
    for baseline in ["zipf-op28", dirs[4]] {
        let text = compare(&["--baseline", baseline]).ok().out;
        assert!(text.contains("matches zipf-op28"), "{text}");
    }
    compare(&["--baseline", "zipf-op2"]).fails(2, &["--baseline", "allowed: uniform-op7,", "did you mean"]);
    compare(&["--keys", "write_amplificaton"]).fails(2, &["--keys", "did you mean \"write_amplification\""]);
}

/// Results of one name are told apart by their folders.
#[test]
fn results_of_one_name_are_called_after_their_folders() {
    let folder = folder("compare-names");
    let small = file(&folder, "small.toml", SMALL);
    let mut dirs = Vec::new();
    for seed in ["1", "2"] {
        std::fs::create_dir(folder.join(seed)).unwrap();
        let out = folder.join(seed).join("run").display().to_string();
        let args = ["run", "--config", &small, "--requests", "500", "--seed", seed, "--out", &out, "--quiet"];
        wordline(&args).ok();
        dirs.push(out);
    }
    let text = wordline(&["compare", &dirs[0], &dirs[1]]).ok().out;
    assert!(text.contains("1/run") && text.contains("2/run"), "{text}");
}

/// Every kind of workload takes a seed: the drive's, and its own where it is random. Of phases that of their members.
#[test]
fn every_kind_of_workload_takes_a_seed() {
    let folder = folder("seeds");
    let phases = "[[workload.phases]]\npattern = \"uniform\"\nread_percent = 0\nuntil_requests = 50\n\
                  [[workload.phases]]\npattern = \"zipf\"\nuntil_requests = 50\n";
    let phases = file(&folder, "phases.toml", format!("{SMALL}\n{phases}"));
    let small = file(&folder, "small.toml", SMALL);
    let recorded = [String::from("data/captures/git.capture"), trace()];
    let with_drive = |load: String| (vec![load, "--config".to_owned(), small.clone()], false);
    for (load, is_random) in recorded.map(with_drive).into_iter().chain([(vec![phases], true)]) {
        let run = |seed: &str| {
            let load: Vec<&str> = load.iter().map(String::as_str).collect();
            let others = ["--seed", seed, "--precondition", "none", "--set", "run.requests=100", "--json"];
            wordline(&[&["run"], &load[..], &others[..]].concat()).ok().json()
        };
        let found = ["1", "17", "0x11"].map(run);
        assert_eq!(found[1]["seed"], 17, "{load:?}");
        assert_eq!(found[1]["event_hash"], found[2]["event_hash"], "{load:?}");
        assert_eq!(found[0]["workload_hash"] != found[1]["workload_hash"], is_random, "{load:?}");
    }
}

/// What is counted and not zero has a line with its number, and nothing else has.
#[test]
fn counters_are_printed_where_they_are_asked_for() {
    let run = ["run", "--synthetic", "uniform", "--requests", "2000", "--precondition", "none"];
    let counters = wordline(&[&run[..], &["--json"]].concat()).ok().json()["counters"].clone();
    let sum = |value: &Value| -> u64 {
        let numbers = value.to_string();
        numbers.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u64>().ok()).sum()
    };
    let printed = wordline(&[&run[..], &["--counters"]].concat()).ok().out;
    let told = printed.split_once("counted by the drive").expect("a table").1;
    for (key, value) in counters.as_object().unwrap() {
        let line = told.lines().find(|line| line.split_whitespace().next() == Some(key));
        let number = line.map(|line| line.split("  ").filter(|cell| !cell.is_empty()).nth(1).unwrap());
        let number = number.map(|number| number.trim().replace(',', "").parse::<u64>().unwrap());
        assert_eq!(number.unwrap_or(0), sum(value), "{key}: {line:?}");
    }
    assert!(!wordline(&run).ok().out.contains("counted by the drive"));
}

/// A run that is watched draws what it does, on a terminal below its bar, else as lines; its result is the same.
#[test]
fn a_run_can_be_watched() {
    let folder = folder("watched");
    let config = file(&folder, "small.toml", SMALL);
    let mut args = vec![
        "run",
        "--config",
        &config,
        "--synthetic",
        "uniform",
        "--read-percent",
        "50",
        "--requests",
        "70000",
    ];
    let plain = wordline(&[&args[..], &["--json"]].concat()).ok();
    assert!(!plain.err.contains("read p99"), "{}", plain.err);
    args.push("--watch");
    let watched = wordline(&[&args[..], &["--json"]].concat()).ok();
    assert_eq!(plain.json()["event_hash"], watched.json()["event_hash"]);
    for row in [
        " simulated\n",
        "\nread ",
        "\nwritten ",
        "\nread p99 ",
        "\nwrite p99 ",
        "\nin the drive ",
        "\u{2588}",
    ] {
        assert!(watched.err.contains(row), "{row:?} in {}", watched.err);
    }
    // util-linux' script gives it a terminal.
    let line = format!("script -qec \"$WORDLINE {}\" /dev/null", args.join(" "));
    if std::process::Command::new("script").arg("--version").output().is_ok() {
        let drawn = shell(&folder, &line).ok().out;
        assert!(drawn.contains("read p99") && drawn.contains("running") && drawn.contains("IOPS"), "{drawn}");
    } else {
        eprintln!("skipped: no terminal to draw on (util-linux' script)");
    }
    for (setting, says) in
        [("run.samples=0", "run.samples = 0"), ("run.executor=functional", "simulates no time")]
    {
        wordline(&[&args[..], &["--set", setting]].concat())
            .fails(2, &["--watch", says, "allowed: a timed run"]);
    }
}
