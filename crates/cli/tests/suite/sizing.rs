//! Drives that are sized to the workload: what is filled, and what stays when a setting changes.

use crate::program::{file, folder, wordline};
use serde_json::Value;
use std::path::Path;

fn result(args: &[&str]) -> Value {
    let run = ["run", "--json", "--synthetic"];
    wordline(&[&run[..], args].concat()).ok().json()
}

#[test]
fn a_generated_run_fills_all_that_it_addresses() {
    const ONCE: [&str; 6] =
        ["--set", "run.overwrite=none", "--requests", "20000", "--set", "run.executor=functional"];
    for pattern in [&["uniform"][..], &["zipf", "--zipf", "80/20"], &["uniform", "--footprint", "50%"]] {
        let found = result(&[pattern, &ONCE, &["--read-percent", "100"]].concat());
        assert_eq!(found["buffer"]["unmapped_reads"], 0, "{pattern:?}");
        assert_eq!(found["buffer"]["unmapped_read_share"], 0.0, "{pattern:?}");
    }
    // An odd footprint is filled to its last sector.
    let odd = ["uniform", "--footprint", "300000256", "--size", "512", "--set", "run.overwrite=none"];
    let found = result(&[&odd[..], &["--read-percent", "100", "--requests", "20000"]].concat());
    assert_eq!(found["buffer"]["unmapped_reads"], 0);
    // What the user leaves empty is remarked on.
    let empty =
        result(&["uniform", "--read-percent", "100", "--requests", "2000", "--precondition", "fill=50"]);
    let share = empty["buffer"]["unmapped_read_share"].as_f64().unwrap();
    assert!((share - 0.5).abs() < 0.05, "{share}");
    assert!(empty["remarks"].to_string().contains("units read"), "{}", empty["remarks"]);
}

#[test]
fn what_is_called_steady_stays_as_it_is() {
    // Half of the drive is written: over a tenth of it the amplification scatters by 3 %.
    let run = ["uniform", "--read-percent", "0", "--requests", "1000000", "--set", "run.executor=functional"];
    let result = result(&[&run[..], &["--set", "drive.over_provisioning_percent=28"]].concat());
    assert_eq!(result["preconditioning"]["steady"], true);
    let before = result["preconditioning"]["write_amplification"].as_f64().unwrap();
    let measured = result["write_amplification"].as_f64().unwrap();
    assert!((measured / before - 1.0).abs() < 0.02, "{before} before, {measured} measured");
}

/// The drive that nobody described, uniform random writes and the oldest block as the victim: the closed form of
/// Desnoyers ("Analytic Models of SSD Write Performance", 2014, section 3), 1 / (1 - x) with x = exp(-T/U (1 - x)). In use
/// are all blocks of a lane but the one in reserve and one more: so far does cleaning let the host go, which it paces.
#[test]
fn a_generator_has_the_write_amplification_of_theory() {
    for percent in [15.0, 28.0] {
        let over_provisioning = format!("drive.over_provisioning_percent={percent}");
        let writes = ["uniform", "--read-percent", "0", "--size", "4KiB", "--requests", "300000"];
        let sets = ["--set", &over_provisioning, "--set", "ftl.gc_victim.policy=fifo"];
        let found = result(&[&writes[..], &sets].concat());
        // A lane is a die.
        let of = |place: &str, what: &str| found[place][what].as_f64().unwrap();
        let blocks = of("erase_count", "blocks") / of("drive", "dies");
        let (in_use, data) = (blocks - 2.0, blocks / (1.0 + percent / 100.0));
        let share = (0..2_000).fold(0.5_f64, |x, _| (-in_use / data * (1.0 - x)).exp());
        // What is overwritten in the buffer never reaches flash.
        let of_host = of("write_amplification_by_cause", "host");
        let amplification = found["write_amplification"].as_f64().unwrap() / of_host;
        let theory = 1.0 / (1.0 - share);
        assert!((amplification / theory - 1.0).abs() < 0.02, "{percent} %: {amplification}, theory {theory}");
    }
}

#[test]
fn a_sweep_of_over_provisioning_keeps_the_geometry() {
    let sizes: Vec<Value> = ["4", "7", "20"]
        .iter()
        .map(|percent| {
            let set = format!("drive.over_provisioning_percent={percent}");
            let args = ["uniform", "--requests", "100", "--precondition", "none", "--set", &set];
            result(&args)["drive"].clone()
        })
        .collect();
    for size in &sizes {
        for key in ["physical_bytes", "dies", "channels"] {
            assert_eq!(size[key], sizes[0][key], "{key}");
        }
    }
    let logical: Vec<u64> = sizes.iter().map(|size| size["logical_bytes"].as_u64().unwrap()).collect();
    assert!(logical[0] > logical[1] && logical[1] > logical[2], "{logical:?}");
}

/// A real trace, where the traces are.
fn shared(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces").join(name);
    if !path.exists() {
        println!("skipped: {name} is not there");
        return None;
    }
    Some(path.display().to_string())
}

/// All traces there are in the soak, small ones in `make test`.
fn traces() -> Vec<String> {
    let small = || TRACES.into_iter().filter_map(shared).collect();
    if std::env::var_os("WORDLINE_SOAK").is_none() {
        return small();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let Ok(files) = std::fs::read_dir(folder) else { return small() };
    let paths = files.filter_map(|file| Some(file.ok()?.path().display().to_string()));
    paths.filter(|path| path.ends_with(".zst") && !path.ends_with(".tar.zst")).collect()
}

/// Small traces, and those that touch enough for a drive of their own size.
const TRACES: [&str; 8] = [
    "tencent-cbs-50k.csv.zst",
    "cloudphysics-vm-2h.csv.zst",
    "rocksdb-ycsb-load-ssd.csv.zst",
    "msr-hm_0-sample1k.csv.zst",
    "systor17-sample.csv.zst",
    "fiu-mail-cheetah.blkparse.zst",
    "umass-financial1-first10k.spc.zst",
    "llm-opt7b.trace.zst",
];
const LARGE: [&str; 2] = ["tencent-cbs-50k.csv.zst", "cloudphysics-vm-2h.csv.zst"];

fn of_trace(path: &str, percent: u32, args: &[&str]) -> Value {
    let set = format!("drive.over_provisioning_percent={percent}");
    wordline(&[&["run", path, "--json", "--set", &set], args].concat()).ok().json()
}

#[test]
fn more_spare_room_is_less_to_write() {
    for path in LARGE.into_iter().filter_map(shared) {
        let amplification = |percent| {
            let found = of_trace(&path, percent, &["--size", "footprint"]);
            found["write_amplification"].as_f64().unwrap()
        };
        let found = [7, 15, 28].map(amplification);
        for pair in found.windows(2) {
            assert!(pair[1] <= 1.02 * pair[0], "{path}: {found:?}");
            assert!(pair[0] < 1.2 || pair[1] <= 0.95 * pair[0], "{path}: {found:?}");
        }
        assert!(found[0] > 1.2, "{path}: {found:?}");
    }
}

/// What is only read lies as it was written, in order: as quick to read as on a drive that was only filled.
#[test]
fn what_is_only_read_is_read_as_from_a_filled_drive() {
    let Some(path) = shared("rocksdb-ycsb-load-ssd.csv.zst") else { return };
    let [own, filled] =
        [&[][..], &["--precondition", "fill=100"]].map(|args: &[&str]| of_trace(&path, 7, args));
    let array = |found: &Value| found["breakdown_ns"]["read"]["array"]["mean"].as_f64().unwrap();
    assert!((array(&own) / array(&filled) - 1.0).abs() < 0.05, "{own} {filled}");
    assert_eq!(own["preconditioning"]["state"], "written once");
}

#[test]
fn a_past_is_chosen_on_any_drive_and_told() {
    let run =
        |args: &[&str]| result(&[&["uniform", "--requests", "2000", "--footprint", "64MiB"], args].concat());
    assert_eq!(run(&[])["preconditioning"]["past"], "own");
    assert_eq!(run(&["--precondition", "uniform"])["preconditioning"]["past"], "uniform");
    let named =
        ["--set", "nand.geometry.blocks_per_plane=128", "--set", "nand.geometry.wordlines_per_block=8"];
    let own = run(&named);
    assert_eq!((&own["preconditioning"]["past"], &own["config"]["run.past"]), (&"own".into(), &"own".into()));
    let asked = run(&[&named[..], &["--precondition", "uniform"]].concat());
    assert_eq!(asked["preconditioning"]["past"], "uniform");
    assert_eq!(asked["preconditioning"]["past_reason"], "");
    // What a paper ran on is overwritten at random, whatever runs.
    let paper = run(&["--set", "preset=redftl", "--precondition", "times=1"]);
    assert_eq!(paper["preconditioning"]["past"], "uniform");
    assert!(paper["config_origins"]["run.past"].as_str().unwrap().starts_with("preset drive/redftl"));
}

/// The default drive, by its name and as large as it was made for the trace: the same drive with the same past, so the
/// same events.
#[test]
fn naming_the_default_drive_changes_nothing() {
    // Shorter blocks are erased in less time.
    const SIZED: [&str; 8] = [
        "geometry.channels",
        "geometry.chips_per_channel",
        "geometry.dies_per_chip",
        "geometry.wordlines_per_block",
        "geometry.blocks_per_plane",
        "timing.t_erase_us",
        "timing.erase_steps",
        "slc.t_erase_us",
    ];
    for path in traces() {
        let run = |args: &[&str]| {
            let all = [&["run", &path, "--json", "--set", "run.requests=5000"], args].concat();
            wordline(&all).ok().json()
        };
        let unnamed = run(&[]);
        let size = |key: &str| {
            let key = format!("nand.{key}");
            format!("{key}={}", unnamed["config"][&key])
        };
        let sets = SIZED.map(size);
        let mut args = vec!["--drive", "client_tlc", "--address", "compact"];
        args.extend(sets.iter().flat_map(|set| ["--set", set.as_str()]));
        let named = run(&args);
        for key in ["past", "past_reason", "passes", "units_overwritten", "state", "pace"] {
            assert_eq!(named["preconditioning"][key], unnamed["preconditioning"][key], "{path}: {key}");
        }
        assert_eq!(named["event_hash"], unnamed["event_hash"], "{path}");
    }
}

#[test]
fn why_a_past_is_not_the_workloads_own_is_told_in_the_line_that_tells_the_past() {
    let folder = folder("past_reason");
    let jobs = file(&folder, "jobs.fio", "[w]\nrw=randwrite\nbs=4k\nsize=1m\niodepth=4\n");
    let small = ["--set", "preset=tlc", "--precondition", "times=0.1"];
    let told = wordline(&[&["run", &jobs][..], &small].concat()).ok().out;
    assert!(told.contains("overwritten at random (what will be written is not known beforehand)"), "{told}");
    let generator = ["run", "--synthetic", "uniform", "--requests", "100"];
    let told = wordline(&[&generator[..], &small].concat()).ok().out;
    assert!(told.contains("of the workload's own writes"), "{told}");
    let told = wordline(&[&generator[..], &["--precondition", "times=0.1,uniform"]].concat()).ok().out;
    assert!(told.contains("overwritten at random (asked for by --precondition times=0.1,uniform)"), "{told}");
}

#[test]
fn a_drive_as_small_as_a_footprint_needs_one() {
    let refused = |args: &[&str]| {
        wordline(&[&["run", "--synthetic", "uniform"], args].concat()).fails(2, &["--size", "allowed"]);
    };
    refused(&["--size", "footprint"]);
    refused(&["--size", "footprint", "--footprint", "64MiB"]);
    refused(&["--size", "4KiB", "--size", "8KiB"]);
    let small = result(&[
        "uniform",
        "--requests",
        "2000",
        "--footprint",
        "1GiB",
        "--size",
        "footprint",
        "--size",
        "8KiB",
    ]);
    let logical = small["drive"]["logical_bytes"].as_u64().unwrap();
    assert!((1 << 30..(1 << 30) * 5 / 4).contains(&logical), "{logical}");
    assert_eq!(small["bytes_read"].as_u64().unwrap() % 8_192, 0);
}

/// That a run on a drive with so much spare room says so, and calls its past what it was.
fn assert_is_called_right(path: &str, percent: u32, found: &Value) {
    let before = &found["preconditioning"];
    let gross = before["spare"]["gross"].as_f64().unwrap();
    // A block of each lane of 128.
    assert!((100.0 * gross - f64::from(percent)).abs() < 1.0, "{path}: {gross} of {percent} %");
    assert!(before["spare"]["net"].as_f64().unwrap() < gross, "{path}");
    assert_eq!((&found["drive"]["channels"], &found["drive"]["dies"]), (&8.into(), &16.into()), "{path}");
    let (state, turned) = (before["state"].as_str().unwrap(), before["turned_over"] == true);
    let is_right = match state {
        "written once" => found["writes"] == 0 && before["units_overwritten"] == 0,
        "not turned over" => !turned,
        "steady" => turned && before["steady"] == true,
        other => turned && other.starts_with("still moving by ") && before["steady"] == false,
    };
    assert!(is_right, "{path}: {before}");
}

/// The spare room is what was asked for, and the past is called what it was. Why reads take longer than on a drive that
/// was only filled is told by the parts of their time, to nine tenths.
#[test]
fn what_a_past_is_and_costs_reads_is_told() {
    let (mut told, ms) = (0, 1e6);
    for path in traces() {
        let [own, filled] =
            [&[][..], &["--precondition", "fill=100"]].map(|args: &[&str]| of_trace(&path, 7, args));
        assert_is_called_right(&path, 7, &own);
        assert_is_called_right(&path, 28, &of_trace(&path, 28, &[]));
        let mean = |found: &Value| found["latency_ns"]["read"]["mean"].as_f64();
        let (Some(own_ns), Some(filled_ns)) = (mean(&own), mean(&filled)) else { continue };
        if own_ns <= 3.0 * filled_ns {
            continue;
        }
        let parts = |found: &Value| -> Vec<f64> {
            let parts = found["breakdown_ns"]["read"].as_object().unwrap();
            parts.values().map(|part| part["mean"].as_f64().unwrap_or(0.0)).collect()
        };
        let more: f64 =
            parts(&own).iter().zip(parts(&filled)).map(|(own, filled)| (own - filled).max(0.0)).sum();
        assert!(
            more >= 0.9 * (own_ns - filled_ns),
            "{path}: {} of {} ms",
            more / ms,
            (own_ns - filled_ns) / ms
        );
        told += 1;
    }
    println!("{told} traces whose reads take over three times as long");
}

/// A past that keeps the order of its workload, or shuffles it: the order is a key, and what it does is seen.
#[test]
fn a_past_in_fewer_pieces_is_easier_to_clean() {
    let Some(path) = shared("tencent-cbs-50k.csv.zst") else { return };
    let amplification = |pieces: &str| {
        let set = format!("run.past_pieces={pieces}");
        let found = of_trace(&path, 7, &["--size", "footprint", "--set", &set]);
        found["write_amplification"].as_f64().unwrap()
    };
    let [whole, cut] = ["1", "512"].map(amplification);
    assert!(cut > 1.1 * whole, "{whole} in one piece, {cut} in 512");
}

#[test]
fn a_separator_that_has_seen_the_workload_says_so() {
    let remarks = |policy: &str, past: &str| {
        let policy = format!("ftl.stream.policy={policy}");
        let args = ["uniform", "--read-percent", "0", "--requests", "20000", "--footprint", "128MiB"];
        let args = [&args[..], &["--size", "footprint", "--set", &policy, "--precondition", past]].concat();
        result(&args)["remarks"].to_string()
    };
    assert!(remarks("sepbit", "own").contains("trained on this workload"));
    assert!(!remarks("sepbit", "uniform").contains("trained"));
    assert!(!remarks("none", "own").contains("trained"));
}

#[test]
fn queues_become_as_deep_as_the_run_and_a_line_says_so() {
    let folder = folder("deep");
    let jobs = "[global]\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\nsize=64m\nnumber_ios=2000\n\
                [a]\niodepth=300\n[b]\niodepth=100\n";
    let jobs = file(&folder, "jobs.fio", jobs);
    let short = ["--precondition", "fill=100", "--json"];
    let random = ["--synthetic", "uniform", "--read-percent", "100", "--requests", "5000", "--depth"];
    for (args, room, whose) in [
        (&[&["run"][..], &random, &["1000"], &short].concat(), 1_000, "--closed 1000"),
        (&[&["run", &jobs][..], &short].concat(), 400, "jobs that keep 400"),
    ] {
        let out = folder.join(room.to_string());
        let out = out.to_str().unwrap();
        let done = wordline(&[&args[..], &["--out", out]].concat()).ok();
        let lines: Vec<&str> = done.err.lines().filter(|line| line.contains("host.queues.depth")).collect();
        assert_eq!(lines.len(), 1, "{}", done.err);
        assert!(lines[0].contains(&format!("from 256 to {room}, for ")), "{}", lines[0]);
        assert!(lines[0].contains(whose), "{}", lines[0]);
        let result = done.json();
        assert_eq!(result["config"]["host.queues.depth"], room);
        assert!(result["in_flight_mean"].as_f64().unwrap() > 256.0, "{}", result["in_flight_mean"]);
        // What was written repeats the run, without a word.
        let again = wordline(&["run", &format!("{out}/config.toml"), "--json"]).ok();
        assert!(!again.err.contains("host.queues.depth"), "{}", again.err);
        assert_eq!(again.json()["event_hash"], result["event_hash"]);
    }
}

#[test]
fn a_saved_drive_keeps_its_queues() {
    let folder = folder("saved");
    let saved = folder.join("drive.snap");
    let saved = saved.to_str().unwrap();
    let age = ["run", "--drive", "pds", "--precondition", "fill=10", "--precondition-only"];
    wordline(&[&age[..], &["--save-snapshot", saved]].concat()).ok();
    let from = ["run", "--drive", "pds", "--snapshot", saved];
    let jobs = file(&folder, "jobs.fio", "[a]\nrw=randread\nbs=4k\nsize=1m\nnumber_ios=1000\niodepth=300\n");
    let result = wordline(&[&from[..], &["--json", &jobs]].concat()).ok().json();
    assert_eq!(result["config"]["host.queues.depth"], 256);
    let deep = ["--synthetic", "uniform", "--requests", "10", "--depth", "300"];
    wordline(&[&from[..], &deep].concat())
        .fails(2, &["--closed 300: run.depth", "1 to 256", "host.queues.depth"]);
}
