//! Workloads on several drives: each gets what it would get by itself, and all have one clock.

use crate::common;

use common::{fresh_path, small_drive, try_run, used};
use lab::{Drives, DrivesError, DrivesResult, Failure, RunResult, RunSpec};
use ssd::{Drive, DriveConfig};
use workload::{Prepared, Spec, WorkloadError};

/// A job file, with options that hold for all of its jobs.
fn jobs(name: &str, text: &str) -> Spec {
    let path = fresh_path(&format!("{name}.fio"));
    std::fs::write(&path, format!("[global]\ndirect=1\nioengine=libaio\n{text}")).unwrap();
    Spec::fio(path)
}

fn trace(name: &str, lines: &str, settings: &str) -> Spec {
    let path = fresh_path(&format!("{name}.csv"));
    std::fs::write(&path, lines).unwrap();
    let columns = "columns = \"time=1:us,device=2,op=3,offset=4:bytes,size=5:bytes\"";
    let text = format!("path = {:?}\n{columns}\naddress = \"as_is\"\n{settings}", path.display().to_string());
    Spec::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn prepare(spec: &Spec) -> Result<Prepared, WorkloadError> {
    spec.prepare()
}

fn try_on_drives(config: &DriveConfig, spec: &Spec, how: &RunSpec) -> Result<DrivesResult, Box<DrivesError>> {
    let prepared = prepare(spec).unwrap_or_else(|error| panic!("{error}"));
    let drives = Drives::of(spec, &prepared, prepare).unwrap().expect("several drives");
    let new = &mut || Drive::new(config).map_err(Failure::Config);
    drives.run((config, "all"), new, &|_| how.clone(), &mut |_| {}).map_err(Box::new)
}

fn on_drives(config: &DriveConfig, spec: &Spec, how: &RunSpec) -> DrivesResult {
    try_on_drives(config, spec, how).unwrap_or_else(|error| panic!("{error}"))
}

fn alone(config: &DriveConfig, spec: &Spec, how: &RunSpec) -> RunResult {
    try_run(config, &prepare(spec).unwrap(), how).unwrap_or_else(|error| panic!("{error}"))
}

/// All that a run measured, without what it is called and what it cost.
fn measured(result: &RunResult) -> RunResult {
    RunResult {
        name: String::new(),
        workload_hash: String::new(),
        requests_total: None,
        blocks: None,
        remarks: Vec::new(),
        cautions: None,
        cpu_seconds: 0.0,
        wall_seconds: 0.0,
        requests_per_cpu_second: None,
        peak_rss_bytes: None,
        preconditioning: lab::Preconditioned { cpu_seconds: 0.0, ..result.preconditioning.clone() },
        ..result.clone()
    }
}

/// Two runs measured the same; what differs first is told.
fn assert_alike(found: &RunResult, own: &RunResult, of: &str) {
    let (found, own) = (measured(found), measured(own));
    let (told, expected) = (found.to_json(), own.to_json());
    let differ = told.lines().zip(expected.lines()).find(|(told, expected)| told != expected);
    assert_eq!(differ, None, "{of}");
}

/// When requests of a drive arrived and completed, from the beginning; ns.
fn times(result: &RunResult) -> Vec<(u64, u64)> {
    let table = result.requests.as_ref().expect("requests were kept");
    let text = table.csv();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column =
        |name: &str| head.iter().position(|key| *key == name).unwrap_or_else(|| panic!("{name}: {head:?}"));
    let (arrival, latency) = (column("arrival_ns"), column("latency_ns"));
    let of = |line: &str| {
        let cells: Vec<u64> = line.split(',').map(|cell| cell.parse().unwrap_or(0)).collect();
        (cells[arrival], cells[arrival] + cells[latency])
    };
    lines.map(of).collect()
}

const A: &str = "[a]\nfilename=/dev/nvme0n1\nrw=randrw\nbs=8k\niodepth=7\nnumber_ios=3000\nnumjobs=2\n";
/// The same at a rate, with pauses.
const C: &str = "[c]\nfilename=/dev/nvme1n1\nrw=randrw\nbs=4k\niodepth=4\nrate_iops=9k\nnumber_ios=900\nstartdelay=3ms\n\
                 [d]\nfilename=/dev/nvme1n1\nrw=read\nnumber_ios=90\nthinktime=1ms\n";
const B: &str = "[b]\nfilename=/dev/nvme1n1\nrw=randwrite\nbs=4k\niodepth=16\nnumber_ios=4000\nfsync=50\n";

#[test]
fn jobs_on_drives_of_their_own_get_what_they_get_alone() {
    let (config, how) = (small_drive(), RunSpec { preconditioning: used(), ..RunSpec::default() });
    let both = on_drives(&config, &jobs("both", &format!("{A}{B}")), &how);
    let names: Vec<&str> = both.drives.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["nvme0n1", "nvme1n1"]);
    let paced = on_drives(&config, &jobs("paced", &format!("{A}{C}")), &how);
    let pairs = both.drives.iter().chain(&paced.drives).zip([A, B, A, C]);
    let told = |of: &RunResult| {
        (of.bytes_read, of.bytes_written, of.iops.all, of.simulated_ns, of.latency_ns.clone())
    };
    for (result, text) in pairs {
        let own = alone(&config, &jobs("own", text), &how);
        assert_eq!(result.event_hash, own.event_hash, "{text}");
        assert_eq!(told(result), told(&own), "{text}");
        // Alone, a drive is looked at once more at the end of a pause: how busy it was counts up to there.
        if text != C {
            assert_alike(result, &own, text);
        }
    }
    let (sum, [a, b]) = (&both.sum, &both.drives[..]) else { panic!("two drives") };
    assert_eq!(sum.share.requests, a.requests_measured + b.requests_measured);
    assert_eq!(sum.share.bytes_written, a.bytes_written + b.bytes_written);
    assert_eq!(sum.share.flushes, 79);
    assert_eq!(sum.simulated_ns, a.simulated_ns.max(b.simulated_ns));
    let longest = [a, b].map(|result| result.latency_ns.all.max).into_iter().max().unwrap();
    assert_eq!((sum.share.latency_ns.all.max, sum.jobs.len()), (longest, 3));
    let iops = sum.share.requests as f64 * 1e9 / sum.simulated_ns as f64;
    assert!((sum.share.iops.all.unwrap() / iops - 1.0).abs() < 1e-9);
    let programmed = (a.flash.bytes_programmed.sum() + b.flash.bytes_programmed.sum()) as f64;
    assert_eq!(sum.write_amplification, Some(programmed / sum.share.bytes_written as f64));
}

/// Reads of what was never written take one time, here called the step; jobs take turns by it.
#[test]
fn one_job_on_two_drives_has_one_clock_and_one_depth() {
    let config = small_drive();
    let how = RunSpec { keeps_requests: true, ..RunSpec::default() };
    let job =
        |text: &str| jobs("clock", &format!("filename=/dev/sda:/dev/sdb\nrw=read\nbs=4k\nsize=32k\n{text}"));
    let one = on_drives(&config, &job("[a]\niodepth=1\nnumber_ios=4\n"), &how);
    let [a, b] = &one.drives[..] else { panic!("two drives") };
    let step = times(a)[0].1;
    assert!(step > 0);
    // A drive waits while the other one works.
    assert_eq!(times(a), [(0, step), (2 * step, 3 * step)]);
    assert_eq!(times(b), [(step, 2 * step), (3 * step, 4 * step)]);
    assert_eq!((a.jobs[0].share.requests, b.jobs[0].share.requests), (2, 2));
    assert_eq!((one.sum.jobs[0].share.requests, one.sum.jobs[0].end_ns), (4, Some(4 * step)));
    // Two at a time: one on each.
    let two = on_drives(&config, &job("[a]\niodepth=2\nnumber_ios=4\n"), &how);
    for result in &two.drives {
        assert_eq!(times(result), [(0, step), (step, 2 * step)], "{}", result.name);
    }
    assert_eq!(two.sum.simulated_ns, 2 * step);
    // A job that comes after the others begins when those of the other drive have ended.
    let text = "rw=read\nbs=4k\nsize=16k\n[a]\nfilename=/dev/sda\n[b]\nstonewall\nfilename=/dev/sdb\n";
    let turns = on_drives(&config, &jobs("turns", text), &how);
    let [a, b] = &turns.drives[..] else { panic!("two drives") };
    assert_eq!(times(a).last().unwrap().1, 4 * step);
    assert_eq!(times(b)[0].0, 4 * step);
    // The warm-up of a run is that of all drives together.
    let warm = RunSpec { warm_up: 3, ..how };
    let warm = on_drives(&config, &job("[a]\niodepth=1\nnumber_ios=8\n"), &warm);
    let counts = |of: fn(&RunResult) -> u64| warm.drives.iter().map(of).collect::<Vec<_>>();
    assert_eq!(
        (counts(|it| it.requests_warm_up), counts(|it| it.requests_measured)),
        (vec![2, 1], vec![2, 3])
    );
    assert_eq!(warm.sum.simulated_ns, 5 * step);
}

#[test]
fn devices_of_a_trace_are_drives_of_their_own_if_it_is_asked_for() {
    let lines: String = (0..2_000u64)
        .map(|at| {
            let (device, op) = (at % 3 % 2, if at % 5 == 0 { "R" } else { "W" });
            format!("{},{device},{op},{},4096\n", at * 40, at * 7919 % 8000 * 4096)
        })
        .collect();
    let config = small_drive();
    let how = RunSpec { loop_mode: lab::LoopMode::Open, preconditioning: used(), ..RunSpec::default() };
    let both = on_drives(&config, &trace("devices", &lines, "drives = \"each\""), &how);
    assert_eq!(both.drives.iter().map(|it| it.requests_measured).sum::<u64>(), 2_000);
    for (device, result) in both.drives.iter().enumerate() {
        assert_eq!(result.name, format!("device-{device}"));
        let own = alone(&config, &trace("devices", &lines, &format!("devices = {device}")), &how);
        assert_alike(result, &own, "");
        assert_eq!(result.workload_hash, own.workload_hash);
    }
    let wrong =
        Spec::parse("path = \"t.csv\"\ndrives = \"each\"\ndevices = \"merge\"").unwrap_err().to_string();
    assert!(wrong.contains("workload.drives") && wrong.contains("devices = \"merge\""), "{wrong}");
}

#[test]
fn where_there_is_one_drive_several_are_refused_or_share_it() {
    let (config, spec) = (small_drive(), jobs("refused", &format!("{A}{B}")));
    let error = try_run(&config, &prepare(&spec).unwrap(), &RunSpec::default()).unwrap_err().to_string();
    assert!(error.contains("workload.drives") && error.contains("nvme0n1, nvme1n1"), "{error}");
    let shared = alone(&config, &spec.on_one_drive(), &RunSpec::default());
    assert!(shared.remarks.iter().any(|remark| remark.contains("devices are one drive here")));
    assert_eq!(shared.requests_measured, 3000 * 2 + 4000 + 79);
    // One device, or files, are one drive.
    for text in [A, "[a]\nsize=1m\nfilename=x:y\n"] {
        assert!(prepare(&jobs("one", text)).unwrap().split().names().is_empty());
    }
    // Where no time passes, all is counted the same.
    let functional =
        RunSpec { executor: ssd::Executor::Functional, preconditioning: used(), ..RunSpec::default() };
    let counted = on_drives(&config, &spec, &functional);
    assert_eq!(counted.drives.iter().map(|it| it.requests_measured).collect::<Vec<_>>(), [6000, 4079]);
}
