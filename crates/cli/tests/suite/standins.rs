//! Stand-ins for traces of papers, from the command line.

use crate::program::{file, folder, root, wordline};

/// A pass of few requests over a small space.
const SHORT: &[&str] = &["--footprint", "256MiB", "--requests", "4000", "--precondition", "none", "--json"];

fn run(args: &[&str]) -> serde_json::Value {
    wordline(&[&["run"], args, SHORT].concat()).ok().json()
}

#[test]
fn workloads_are_listed_and_shown() {
    let list = wordline(&["presets"]).ok().out;
    for text in
        ["Workloads, stand-ins", "--workload NAME", "websearch", "tpc-h", "Stand-in for Ali188", "syn2"]
    {
        assert!(list.contains(text), "{text} in:\n{list}");
    }
    let text = std::fs::read_to_string(root().join("presets/workload/ads.toml")).unwrap();
    for name in ["workload/ads", "ads"] {
        assert_eq!(wordline(&["presets", name]).ok().out, text);
    }
    wordline(&["presets", "workload/adds"]).fails(2, &["workload/adds", "did you mean \"workload/ads\"?"]);
}

#[test]
fn a_stand_in_runs_and_its_configuration_repeats_it() {
    let out = folder("standins").join("ads").display().to_string();
    let first = run(&["--workload", "ads", "--copies", "3", "--repeat", "2", "--out", &out]);
    assert_eq!(first["requests_served"], 24_000);
    let reads = first["reads"].as_f64().unwrap() / 24_000.0;
    assert!((reads - 0.96).abs() < 0.02, "{reads}");
    let config = format!("{out}/config.toml");
    let again = wordline(&["run", &config, "--json"]).ok().json();
    for key in ["event_hash", "workload_hash", "config_hash"] {
        assert_eq!(first[key], again[key], "{key}");
    }
    let seeded = run(&["--workload", "ads", "--copies", "3", "--repeat", "2", "--seed", "9"]);
    assert_ne!(seeded["workload_hash"], first["workload_hash"]);
    let explained = wordline(&["explain", &config, "--all"]).ok().out;
    assert!(explained.contains("copies") && explained.contains("chunk_kib"), "{explained}");
}

#[test]
fn a_profile_on_files_and_phases_run_and_their_configuration_repeats_them() {
    let folder = folder("files_and_phases");
    let text = "[run]\nfill_percent = 50\noverwrite = 'none'\n[[workload.phases]]\npreset = 'varmail'\n\
                until_requests = 3000\n[[workload.phases]]\npreset = 'webserver'\ncache_percent = 5\nuntil_s = 0.5\n";
    let phases = file(&folder, "phases.toml", text);
    let out = folder.join("varmail").display().to_string();
    let small = &["--footprint", "1GiB", "--precondition", "none", "--json", "--out", &out];
    let args = [&["run", "--workload", "varmail", "--requests", "4000"], small.as_slice()].concat();
    let first = wordline(&args).ok().json();
    assert_eq!(first["requests_served"], 4_000);
    for (config, wanted) in [(format!("{out}/config.toml"), Some(&first)), (phases, None)] {
        let one = wordline(&["run", &config, "--json"]).ok().json();
        let wanted = wanted.cloned().unwrap_or_else(|| wordline(&["run", &config, "--json"]).ok().json());
        assert!(one["requests_served"].as_u64().unwrap() >= 3_000, "{one}");
        for key in ["event_hash", "workload_hash", "config_hash"] {
            assert_eq!(one[key], wanted[key], "{key}");
        }
    }
    let text = "[[workload.phases]]\npattern = 'zipf'\nuntil_s = 5\n";
    let endless = file(&folder, "endless.toml", text);
    wordline(&["run", &endless])
        .fails(2, &["endless.toml:1: workload.phases[0].until_s: found a time limit"]);
    wordline(&[
        "run",
        "--workload",
        "fileserver",
        "--set",
        "workload.fill_percent=99",
        "--footprint",
        "1GiB",
    ])
    .fails(2, &["the workload's files needs", "smaller fill_percent"]);
}

#[test]
fn the_text_of_a_preset_is_a_configuration() {
    let folder = folder("standins_text");
    let text = wordline(&["presets", "workload/multi"]).ok().out;
    let own = file(&folder, "own.toml", text.replace("count = 4300000", "count = 4000"));
    let result =
        wordline(&["run", &own, "--footprint", "256MiB", "--precondition", "none", "--json"]).ok().json();
    assert_eq!(result["requests_served"], 4000);
    let named = file(&folder, "named.toml", "[workload]\npreset = 'multi'\ncount = 4000\n");
    let text = wordline(&["trace", "--workload", "multi", "--requests", "4000"]).ok().out;
    assert!(text.starts_with("multi\n") && text.contains("4,000 (98."), "{text}");
    let explained = wordline(&["explain", &named]).ok().out;
    assert!(explained.contains("1791.67"), "{explained}");
}

#[test]
fn a_workload_is_summed_up_with_skew_and_hits() {
    let args = ["trace", "--workload", "tpc-e", "--requests", "200000", "--footprint", "512MiB"];
    let json = wordline(&[&args[..], &["--buffer", "4MiB,512MiB", "--json"]].concat()).ok().json();
    assert_eq!(json["requests"], 200_000);
    assert_eq!(json["title"], "tpc-e");
    // The hottest 10 % are two thirds of the hot 15 %, which get 85 %.
    let hottest = json["access_percent_by_hottest_percent"]["10"].as_f64().unwrap();
    assert!((hottest - 56.7).abs() < 3.0, "{hottest}");
    let hits = |size: &str| json["buffer_hit_percent"][size].as_f64().unwrap();
    assert!(hits("4MiB") < 6.0 && hits("512MiB") > 60.0, "{json}");
    let text = wordline(&[&args[..], &["--buffer", "4MiB"]].concat()).ok().out;
    assert!(text.contains("LRU 4MiB") && text.contains("64-KiB extents"), "{text}");
}

/// The read-buffer study with the drive's own buffer, at a sixteenth of the size: the very hits of an exact LRU, where
/// written data does not stay dirty.
#[test]
fn the_drives_buffer_is_an_exact_lru() {
    let workload = ["--workload", "multi", "--footprint", "524MiB", "--requests", "240000"];
    let sizes = ["--buffer", "4MiB,16MiB", "--buffer-warm-up", "120000", "--json"];
    let exact = wordline(&[&["trace"], &workload[..], &sizes[..]].concat()).ok().json();
    for mib in ["4", "16"] {
        let size = format!("host.buffer.size_mib={mib}");
        let mut args = vec!["run", "--set", "host.buffer.policy=lru_read_write", "--set", &size];
        args.extend([
            "--set",
            "host.buffer.flush_start_percent=1",
            "--set",
            "host.buffer.flush_stop_percent=0",
        ]);
        args.extend([
            "--set",
            "run.executor=functional",
            "--precondition",
            "fill=80",
            "--warm-up",
            "120000",
            "--json",
        ]);
        args.extend(workload);
        let result = wordline(&args).ok().json();
        let count = |key: &str| result["buffer"][key].as_f64().unwrap();
        let found = 100.0 * count("hits") / (count("hits") + count("misses"));
        let expected = exact["buffer_hit_percent"][&format!("{mib}MiB")].as_f64().unwrap();
        assert!((found - expected).abs() < 0.01, "{mib} MiB: {found} %, {expected} %");
    }
}

#[test]
fn what_cannot_be_is_told() {
    let fails = |args: &[&str], says: &[&str]| {
        wordline(&[&["run"], args].concat()).fails(2, says);
    };
    fails(
        &["--workload", "webserch"],
        &["--workload", "webserch", "did you mean `websearch`?", "allowed: ads, mds"],
    );
    fails(&["--workload", "ads", "--copies", "0"], &["--copies", "allowed: 1 to 1000"]);
    fails(&["--workload", "ads", "--read-percent", "5"], &["--read-percent", "belongs to generators"]);
    fails(&["--workload", "ads", "--synthetic", "zipf"], &["--synthetic", "cannot be used with"]);
    let small =
        ["--workload", "ads", "--drive", "tlc", "--set", "drive.logical_gib=2", "--precondition", "none"];
    fails(&small, &["this workload needs", "26 GiB", "footprint_gib = 2.0 or less"]);
    wordline(&["trace"]).fails(2, &["name a trace, or --workload NAME"]);
    wordline(&["trace", "--workload", "ads", "--buffer", "4"]).fails(2, &["--buffer", "a page or more"]);
}
