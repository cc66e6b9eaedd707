//! Job files of fio, from the command line.

use crate::program::{SMALL, file, folder, wordline};
use serde_json::{Value, json};

#[test]
fn a_job_file_runs_and_its_configuration_repeats_it() {
    let folder = folder("fio_run");
    let text = "[global]\ninclude more.inc\n[fill]\nrw=write\nbs=64k\n[mix]\nstonewall\nfilename=fill.0.0\nrw=randrw\n\
                iodepth=8\nrate_iops=20k\n";
    file(&folder, "more.inc", "size=16m\nioengine=libaio\ndirect=1\n");
    let path = file(&folder, "two.fio", text);
    let out = folder.join("out").display().to_string();
    let first = wordline(&["run", &path, "--precondition", "none", "--json", "--out", &out]).ok().json();
    let jobs = first["jobs"].as_array().unwrap();
    assert_eq!((jobs[0]["name"].as_str(), jobs[1]["name"].as_str()), (Some("fill"), Some("mix")));
    assert_eq!((jobs[0]["writes"].as_u64(), jobs[1]["requests"].as_u64()), (Some(256), Some(4096)));
    assert_eq!(jobs[0]["end_ns"], jobs[1]["start_ns"]);
    assert_eq!(first["loop_mode"], "jobs");
    let again = wordline(&["run", &format!("{out}/config.toml"), "--json"]).ok().json();
    for key in ["event_hash", "workload_hash", "config_hash", "jobs"] {
        assert_eq!(first[key], again[key], "{key}");
    }
    let table = wordline(&["run", &path, "--precondition", "none"]).ok().out;
    assert!(table.contains("2 jobs") && table.contains("from sent: mean"), "{table}");
    let seeded = wordline(&["run", &path, "--precondition", "none", "--json", "--seed", "7"]).ok().json();
    assert_ne!(seeded["workload_hash"], first["workload_hash"]);
    let looked = wordline(&["trace", &path]).ok().out;
    assert!(looked.contains("4,352") && looked.contains("ignored fio options"), "{looked}");
}

#[test]
fn mistakes_in_a_job_file_are_told_with_their_place() {
    let folder = folder("fio_wrong");
    let wrong = file(&folder, "wrong.fio", "[a]\nsize=1m\niodeph=4\n");
    wordline(&["run", &wrong]).fails(2, &["wrong.fio:3", "did you mean `iodepth`?"]);
    for (option, says) in [("bs=4000\ndirect=1", "4000"), ("rw=randwrit", "did you mean `randwrite`?")] {
        let wrong = file(&folder, "value.fio", format!("[a]\nsize=1m\n{option}\n"));
        wordline(&["run", &wrong]).fails(2, &["value.fio:3", says]);
    }
    // What is no trace and begins with a section is a job file, whatever its name.
    let named = file(&folder, "named.txt", "; a job\n[a]\nrw=randread\n");
    wordline(&["run", &named]).fails(2, &["named.txt:2: size: found no size", "filename=/dev/"]);
    let job = file(&folder, "right.fio", "[a]\nsize=1m\nruntime=2\ntime_based\n");
    wordline(&["run", &job, "--depth", "4"]).fails(2, &["--depth", "iodepth"]);
    // What is said to try instead is what a job file takes.
    let both = wordline(&["run", &job, "--requests", "4"]);
    both.fails(2, &["both a job file", "(--requests)", "--set run.requests=N"]);
    wordline(&["run", &job, "--copies", "2"]).fails(2, &["copies", "belongs to"]);
    let functional = ["run", &job, "--precondition", "none", "--set", "run.executor=functional"];
    wordline(&functional).fails(2, &["run.executor", "job a ends by time"]);
    // Without a drive its requests take 100 us each.
    let looked = wordline(&["trace", &job]).ok().out;
    assert!(looked.contains("requests      20,000") && looked.contains("takes 100 us"), "{looked}");
    let circle = file(&folder, "circle.fio", "[a]\nsize=1m\ninclude circle.fio\n");
    wordline(&["run", &circle]).fails(2, &["circle.fio:3: include", "include each other"]);
}

/// What a drive of 0.6 GiB makes of six passes over 512 MiB, the first two not counted: our jobs, and the requests that
/// fio 3.33 logged for the same (its figures by `amplification.py`). It is fio's order that decides.
#[test]
fn write_amplification_is_that_of_fio() {
    let folder = folder("fio_amplification");
    let drive = file(&folder, "drive.toml", include_str!("fio/drive.toml"));
    for line in include_str!("fio/amplification.txt").lines().filter(|line| !line.starts_with('#')) {
        let (figure, options) = line.split_once(' ').unwrap();
        let text = format!("[job]\nsize=512m\niodepth=32\n{}\n", options.replace(' ', "\n"));
        let path = file(&folder, "job.fio", text);
        let result = wordline(&["run", &path, "--config", &drive, "--json"]).ok().json();
        let (ours, fio) = (result["write_amplification"].as_f64().unwrap(), figure.parse::<f64>().unwrap());
        assert!((ours / fio - 1.0).abs() < 0.01, "{options}: {ours}, of fio's requests {fio}");
    }
}

/// `--fio-json` says of each job what `result.json` says.
#[test]
fn a_result_in_the_layout_of_fio() {
    let folder = folder("fio-json");
    let small = file(&folder, "small.toml", SMALL);
    let text = "[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\nsize=8m\n\
                [a]\nrw=randread\n[b]\nrw=randwrite\nnumjobs=2\niodepth=4\n";
    let jobs = file(&folder, "two.fio", text);
    let place = folder.join("fio.json").display().to_string();
    let told = |workload: &[&str]| -> (Value, Value) {
        let args =
            [&["run", "--config", &small, "--fio-json", &place, "--force", "--json"], workload].concat();
        let result = wordline(&args).ok().json();
        (result, serde_json::from_str(&std::fs::read_to_string(&place).unwrap()).unwrap())
    };
    let (result, fio) = told(&[&jobs]);
    let (found, expected) = (fio["jobs"].as_array().unwrap(), result["jobs"].as_array().unwrap());
    assert_eq!((found.len(), expected.len()), (3, 3));
    for (job, of) in found.iter().zip(expected) {
        assert_eq!(job["jobname"], of["name"]);
        for (kind, requests, bytes) in [("read", "reads", "bytes_read"), ("write", "writes", "bytes_written")]
        {
            assert_eq!((&job[kind]["total_ios"], &job[kind]["io_bytes"]), (&of[requests], &of[bytes]));
            let p99 = job[kind]["clat_ns"].pointer("/percentile/99.000000").cloned().unwrap_or(Value::Null);
            assert_eq!(p99, of["latency_ns"][kind]["p99"], "{job}");
        }
    }
    let (result, fio) = told(&["--synthetic", "uniform", "--requests", "3000", "--name", "one"]);
    let job = &fio["jobs"][0];
    assert_eq!(
        (&fio["fio version"], &job["jobname"]),
        (&json!(format!("wordline-{}", result["version"].as_str().unwrap())), &json!("one"))
    );
    assert_eq!(job["read"]["total_ios"], result["reads"]);
    assert_eq!(job["write"]["io_bytes"], result["bytes_written"]);
}

/// A job that waits for each of its flushes leaves a drive time to clean: it does not begin on one without a free
/// block, and pays for nobody's writes but its own.
#[test]
fn a_job_that_waits_for_flash_begins_on_a_drive_that_could_clean() {
    let place = folder("fio-pace");
    let jobs = file(
        &place,
        "sync.fio",
        "[w]\nfilename=/dev/nvme0n1\ndirect=1\nrw=write\nbs=4k\nfdatasync=1\nsize=4m\n",
    );
    let small = [
        "nand.geometry.blocks_per_plane=64",
        "nand.geometry.wordlines_per_block=16",
        "drive.over_provisioning_percent=28",
        "ftl.cleaning.paces_host=true",
    ];
    let small = small.map(|key| ["--set", key]).concat();
    let run = |more: &[&str]| {
        let all = [&["run", "--json", "--drive", "tlc", &jobs], &small[..], more].concat();
        wordline(&all).ok().json()
    };
    let (auto, relaxed) = (run(&[]), run(&["--set", "run.overwrite_pace=relaxed"]));
    assert_eq!(auto["preconditioning"]["pace"], "relaxed");
    assert_eq!(auto["event_hash"], relaxed["event_hash"]);
    let saturated = run(&["--set", "run.overwrite_pace=saturated"]);
    let amplification = |of: &Value| of["write_amplification"].as_f64().unwrap();
    assert!(
        1.5 * amplification(&auto) < amplification(&saturated),
        "{} {}",
        amplification(&auto),
        amplification(&saturated)
    );
}

/// Two jobs on devices of their own, and what is said and written of two drives.
#[test]
fn each_device_of_jobs_is_a_drive() {
    let folder = folder("fio_drives");
    let text = "[global]\ndirect=1\nrw=write\nbs=4k\nsize=8k\n[log]\nfilename=/dev/nvme0n1\n[data]\n\
                filename=/dev/nvme1n1\n";
    let path = file(&folder, "two.fio", text);
    let out = folder.join("out").display().to_string();
    let run = |more: &[&str]| {
        wordline(&[&["run", path.as_str(), "--drive", "m64", "--precondition", "none"], more].concat())
    };
    let both = run(&["--json", "--out", &out]).ok().json();
    let drives = both["drives"].as_array().unwrap();
    let told: Vec<_> =
        drives.iter().map(|it| (it["name"].as_str().unwrap(), it["bytes_written"].as_u64())).collect();
    assert_eq!(told, [("nvme0n1", Some(8192)), ("nvme1n1", Some(8192))]);
    assert_eq!((&both["sum"]["writes"], &both["sum"]["bytes_written"]), (&json!(4), &json!(16384)));
    // Each folder is that of a run; theirs has all.
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{out}/result.json")).unwrap()).unwrap();
    assert_eq!(written["drives"].as_array().unwrap().len(), 2);
    let compared = wordline(&["compare", &format!("{out}/nvme0n1"), &format!("{out}/nvme1n1")]).ok().out;
    assert!(compared.contains("nvme0n1") && compared.contains("nvme1n1"), "{compared}");
    wordline(&["report", &out]).fails(2, &["2 drives", "nvme0n1, nvme1n1"]);
    run(&["--out", &out]).fails(2, &["--force"]);
    let table = run(&["--out", &out, "--force"]).ok().out;
    assert!(table.contains("drive nvme0n1\n") && table.contains("\nall      "), "{table}");
    let again = wordline(&["run", &format!("{out}/nvme1n1/config.toml"), "--json"]).ok().json();
    assert_eq!(again["drives"][1]["event_hash"], drives[1]["event_hash"]);
    // What is one drive's.
    for flag in
        [&["--request-log", "log.csv"][..], &["--save-snapshot", "s"], &["--watch"], &["--fio-json", "j"]]
    {
        run(flag).fails(2, &[flag[0], "2 drives (nvme0n1, nvme1n1)", "--drives together"]);
    }
    let shared = run(&["--drives", "together"]).ok().out;
    assert!(shared.contains("devices are one drive here"), "{shared}");
    run(&["--drives", "ech"]).fails(2, &["--drives", "ech", "each"]);
    let cached = ["--set", "workload.page_cache_mib=1"];
    run(&cached).fails(2, &["page_cache_mib", "drives = \"together\""]);
    run(&["--require", "write_latency_p99<1ns"]).fails(3, &["nvme0n1: write", "nvme1n1: write"]);
}
