//! The result as fio tells it: its layout, and numbers that are those of the result and of the request log.

use crate::common;

use common::{Log, closed, fresh_path, generator, open, run, small_drive, used};
use lab::{Distribution, RunResult, RunSpec, report};
use serde_json::Value;
use ssd::Executor;
use workload::{Prepared, Spec};

const MIX: &str = "read_percent = 60\nsize_bytes = [[4096, 3], [16384, 1]]";

fn told(spec: RunSpec) -> RunSpec {
    RunSpec { tells_fio: true, ..spec }
}

/// What is told of a run, read back.
fn fio(result: &RunResult) -> Value {
    serde_json::from_str(&report::fio_json(result).expect("it was asked for")).unwrap()
}

fn jobs(result: &RunResult) -> Vec<Value> {
    fio(result)["jobs"].as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Equal but for what the last digit of a float may be off, or for a part of it.
fn is_near(found: &Value, expected: f64, part: f64) {
    let found = number(found);
    assert!((found - expected).abs() <= expected.abs() * part + 1e-6, "{found}, expected {expected}");
}

/// The times from sending to completion are those of the result.
fn is_distribution(direction: &Value, of: &Distribution) {
    let (lat, clat) = (&direction["lat_ns"], &direction["clat_ns"]);
    assert_eq!((lat["N"].as_u64(), clat["N"].as_u64()), (Some(of.count), Some(of.count)));
    assert_eq!(direction["total_ios"].as_u64(), Some(of.count));
    assert_eq!((lat["min"].as_u64(), lat["max"].as_u64()), (of.min.or(Some(0)), of.max.or(Some(0))));
    is_near(&lat["mean"], of.mean.unwrap_or(0.0), 1e-12);
    if number(&direction["slat_ns"]["max"]) == 0.0 && of.count > 0 {
        let at = &clat["percentile"];
        for (key, percentile) in
            [("50.000000", of.p50), ("99.000000", of.p99), ("99.900000", of.p99_9), ("99.990000", of.p99_99)]
        {
            assert_eq!(at[key].as_u64(), percentile);
        }
    }
}

/// Against the request log: exact but for percentiles, which are at most 0.1 % too long.
fn is_log(direction: &Value, kind: &str, log: &Log) {
    let ops: Vec<&str> = log.texts("op").collect();
    let [arrived, sent, done] = ["arrival_ns", "submitted_ns", "completion_ns"].map(|name| log.numbers(name));
    let of = |from: &[u64], to: &[u64]| -> Vec<u64> {
        let rows = (0..ops.len()).filter(|&row| ops[row] == kind);
        let mut all: Vec<u64> = rows.map(|row| to[row] - from[row]).collect();
        all.sort_unstable();
        all
    };
    for (name, times) in
        [("slat_ns", of(&arrived, &sent)), ("clat_ns", of(&sent, &done)), ("lat_ns", of(&arrived, &done))]
    {
        let (found, count) = (&direction[name], times.len() as f64);
        assert_eq!(found["N"].as_u64(), Some(times.len() as u64), "{kind} {name}");
        assert_eq!(found["min"].as_u64(), times.first().copied(), "{kind} {name}");
        assert_eq!(found["max"].as_u64(), times.last().copied(), "{kind} {name}");
        let mean = times.iter().sum::<u64>() as f64 / count;
        is_near(&found["mean"], mean, 1e-12);
        let squares: f64 = times.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum();
        is_near(&found["stddev"], (squares / (count - 1.0)).sqrt(), 1e-9);
        let Some(percentiles) = found.get("percentile") else {
            assert_ne!(name, "clat_ns", "{kind}");
            continue;
        };
        let percentiles = percentiles.as_object().unwrap();
        assert_eq!(percentiles.len(), 17);
        for (percent, ns) in percentiles {
            let rank = (percent.parse::<f64>().unwrap() / 100.0 * count).ceil().max(1.0) as usize;
            let (exact, ns) = (times[rank - 1], ns.as_u64().unwrap());
            assert!(
                ns >= exact && (ns - exact) as f64 <= exact as f64 / 1000.0,
                "{kind} {percent}: {ns}, {exact}"
            );
        }
    }
}

/// What is told of a whole run is what its result says.
fn is_result(result: &RunResult) {
    let [job] = &jobs(result)[..] else { panic!("one job") };
    assert_eq!(job["jobname"], Value::from(result.name.as_str()));
    let latency = &result.latency_ns;
    for (kind, of, bytes, iops, bandwidth) in [
        ("read", &latency.read, result.bytes_read, result.iops.read, result.bandwidth_mb_s.read),
        ("write", &latency.write, result.bytes_written, result.iops.write, result.bandwidth_mb_s.write),
    ] {
        let direction = &job[kind];
        is_distribution(direction, of);
        assert_eq!(direction["io_bytes"].as_u64(), Some(bytes));
        assert_eq!(direction["io_kbytes"].as_u64(), Some(bytes / 1024));
        assert_eq!(direction["runtime"].as_u64(), Some(result.simulated_ns / 1_000_000));
        is_near(&direction["iops"], iops.unwrap(), 1e-12);
        let bytes_a_second = bandwidth.unwrap() * 1e6;
        assert!(
            (number(&direction["bw_bytes"]) - bytes_a_second).abs() <= 1.0,
            "{bytes_a_second}: {direction}"
        );
        assert_eq!(direction["bw"].as_u64(), direction["bw_bytes"].as_u64().map(|rate| rate / 1024));
    }
    is_distribution(&job["trim"], &latency.trim);
    assert_eq!(job["sync"]["total_ios"].as_u64(), Some(latency.flush.count));
    assert_eq!(job["sync"]["lat_ns"]["N"].as_u64(), Some(latency.flush.count));
}

#[test]
fn a_run_of_one_piece_is_one_job_with_the_numbers_of_its_result() {
    let named = |spec: RunSpec| told(RunSpec { name: "mine".to_owned(), ..spec });
    let timed = format!("{MIX}\narrival = \"poisson\"\nrate_iops = 20000");
    for (file, workload, spec) in [
        ("fio-closed.csv", generator(6_000, MIX), closed(8)),
        ("fio-open.csv", generator(4_000, &timed), open()),
        ("fio-warm.csv", generator(4_000, MIX), RunSpec { warm_up: 1_000, ..closed(4) }),
    ] {
        let (result, log) = Log::of_run(file, &small_drive(), &workload, &named(spec));
        is_result(&result);
        let measured =
            Log { columns: log.columns, rows: log.rows[result.requests_warm_up as usize..].to_vec() };
        let [job] = &jobs(&result)[..] else { panic!("one job") };
        ["read", "write"].iter().for_each(|kind| is_log(&job[kind], kind, &measured));
        assert_eq!((job["error"].as_u64(), job["total_err"].as_u64()), (Some(0), Some(0)));
    }
}

/// Queues that are too short: the time before them is `slat_ns`.
#[test]
fn waiting_outside_the_drive_is_submission_latency() {
    let mut config = small_drive();
    (config.queues.count, config.queues.depth) = (1, 2);
    let timed = format!("{MIX}\narrival = \"poisson\"\nrate_iops = 90000");
    let (result, log) = Log::of_run("fio-slat.csv", &config, &generator(3_000, &timed), &told(open()));
    is_result(&result);
    let [job] = &jobs(&result)[..] else { panic!("one job") };
    assert!(number(&job["read"]["slat_ns"]["mean"]) > number(&job["read"]["clat_ns"]["mean"]), "{job}");
    ["read", "write"].iter().for_each(|kind| is_log(&job[kind], kind, &log));
}

fn fio_jobs(name: &str, text: &str) -> Prepared {
    let path = fresh_path(&format!("{name}.fio"));
    std::fs::write(&path, format!("[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\n{text}"))
        .unwrap();
    Spec::fio(path.display().to_string()).prepare().unwrap()
}

#[test]
fn each_job_of_a_workload_of_jobs_is_one() {
    let text = "size=8m\n[reader]\nrw=randread\niodepth=4\nnumber_ios=700\n\
                [writer]\nrw=randwrite\nnumjobs=2\niodepth=8\n[rated]\nrw=randrw\nrate_iops=40k\n";
    let result = run(
        &small_drive(),
        &fio_jobs("fio-jobs", text),
        &told(RunSpec { preconditioning: used(), ..closed(1) }),
    );
    let told = jobs(&result);
    assert_eq!((told.len(), result.jobs.len()), (4, 4));
    for (told, job) in told.iter().zip(&result.jobs) {
        assert_eq!(told["jobname"], Value::from(job.name.as_str()));
        let share = &job.share;
        for (kind, of, bytes, iops) in [
            ("read", &share.latency_ns.read, share.bytes_read, share.iops.read),
            ("write", &share.latency_ns.write, share.bytes_written, share.iops.write),
        ] {
            is_distribution(&told[kind], of);
            assert_eq!(told[kind]["io_bytes"].as_u64(), Some(bytes), "{}", job.name);
            is_near(&told[kind]["iops"], iops.unwrap(), 1e-12);
        }
    }
}

#[test]
fn each_phase_is_a_job() {
    let text = "phases = [{ name = \"fill\", pattern = \"sequential\", count = 500, read_percent = 0 }, \
                { name = \"use\", pattern = \"uniform\", count = 900, read_percent = 80 }]";
    let workload =
        Spec::parse(text).and_then(|spec| spec.prepare()).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&small_drive(), &workload, &told(closed(8)));
    let names: Vec<String> =
        jobs(&result).iter().map(|job| job["jobname"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["fill", "use"]);
    for (told, member) in jobs(&result).iter().zip(&result.members) {
        is_distribution(&told["read"], &member.share.latency_ns.read);
        is_distribution(&told["write"], &member.share.latency_ns.write);
    }
}

/// The layout of fio 3: names and their order, and no more than is known.
#[test]
fn the_layout_is_that_of_fio() {
    let result = run(&small_drive(), &generator(400, MIX), &told(closed(4)));
    let whole = fio(&result);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&whole), ["fio version", "jobs", "timestamp"]);
    assert!(whole["fio version"].as_str().unwrap().starts_with("wordline-"));
    assert_eq!(whole["timestamp"], Value::from(0));
    let job = &whole["jobs"][0];
    assert_eq!(keys(job), ["error", "job_runtime", "jobname", "read", "sync", "total_err", "trim", "write"]);
    let of_direction = [
        "bw",
        "bw_bytes",
        "clat_ns",
        "io_bytes",
        "io_kbytes",
        "iops",
        "lat_ns",
        "runtime",
        "slat_ns",
        "total_ios",
    ];
    for kind in ["read", "write", "trim"] {
        assert_eq!(keys(&job[kind]), of_direction, "{kind}");
        for times in ["slat_ns", "lat_ns"] {
            assert_eq!(keys(&job[kind][times]), ["N", "max", "mean", "min", "stddev"]);
        }
    }
    // Nothing was trimmed.
    assert_eq!(keys(&job["trim"]["clat_ns"]), ["N", "max", "mean", "min", "stddev"]);
    let percents = [
        "1.000000",
        "5.000000",
        "10.000000",
        "20.000000",
        "30.000000",
        "40.000000",
        "50.000000",
        "60.000000",
        "70.000000",
        "80.000000",
        "90.000000",
        "95.000000",
        "99.000000",
        "99.500000",
        "99.900000",
        "99.950000",
        "99.990000",
    ];
    let text = report::fio_json(&result).unwrap();
    let places: Vec<usize> =
        percents.iter().map(|percent| text.find(&format!("\"{percent}\"")).expect(percent)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn it_does_not_change_the_run_and_is_not_there_unasked() {
    let (asked, not) = (
        run(&small_drive(), &generator(900, MIX), &told(closed(4))),
        run(&small_drive(), &generator(900, MIX), &closed(4)),
    );
    assert_eq!((asked.event_hash.as_str(), report::fio_json(&not)), (not.event_hash.as_str(), None));
    let again = run(&small_drive(), &generator(900, MIX), &told(closed(4)));
    assert_eq!(report::fio_json(&asked), report::fio_json(&again));
    // It is no part of result.json.
    let written =
        |result: &RunResult| serde_json::from_str::<Value>(&result.to_json()).unwrap()["latency_ns"].clone();
    assert_eq!(written(&asked), written(&not));
}

#[test]
fn where_no_time_passes_there_are_counts_alone() {
    for depth in [1, 8] {
        let spec = told(RunSpec { executor: Executor::Functional, ..closed(depth) });
        let result = run(&small_drive(), &generator(2_000, MIX), &spec);
        let job = &jobs(&result)[0];
        for (kind, bytes, count) in
            [("read", result.bytes_read, result.reads), ("write", result.bytes_written, result.writes)]
        {
            assert_eq!(job[kind]["io_bytes"].as_u64(), Some(bytes));
            assert_eq!(job[kind]["total_ios"].as_u64(), Some(count));
            assert_eq!(job[kind].as_object().unwrap().len(), 3, "{}", job[kind]);
        }
    }
}

/// Paths of all keys, with what is there; an array is what its first element is.
fn keys(value: &Value, path: &str, all: &mut std::collections::BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Object(of) => {
            of.iter().for_each(|(key, value)| keys(value, &format!("{path}.{key}"), all));
            "object"
        }
        Value::Array(of) => {
            of.iter().take(1).for_each(|value| keys(value, &format!("{path}[]"), all));
            "array"
        }
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Bool(_) | Value::Null => "other",
    };
    all.insert(path.to_owned(), kind);
}

/// What fio itself writes of such a job has every key that is written here, each with a value of the same kind.
#[test]
fn fio_itself_has_every_key() {
    let file = fresh_path("fio.dat");
    // It counts errors where it goes on after them, as a drive does.
    let job = ["--name=job", "--ioengine=psync", "--size=4m", "--rw=randrw", "--bs=4k"];
    let job = job.into_iter().chain(["--continue_on_error=all", "--output-format=json"]);
    let found =
        std::process::Command::new("fio").args(job).arg(format!("--filename={}", file.display())).output();
    let Ok(output) = found else {
        eprintln!("skipped: fio is not installed");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ours = fio(&run(&small_drive(), &generator(2_000, MIX), &told(closed(4))));
    let [theirs, ours] = [&theirs, &ours].map(|value| {
        let mut all = std::collections::BTreeMap::new();
        keys(value, "", &mut all);
        all
    });
    let not_theirs: Vec<_> = ours.iter().filter(|(path, kind)| theirs.get(*path) != Some(kind)).collect();
    assert!(not_theirs.is_empty() && ours.len() > 100, "{not_theirs:#?} of {}", ours.len());
}
