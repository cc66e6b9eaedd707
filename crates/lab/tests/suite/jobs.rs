//! Jobs of fio in the loop that they drive: their clock, their limits, and what is told of each.

use crate::common;

use common::{fresh_path, generator, small_drive, try_run, used};
use lab::report::Comparison;
use lab::{Distribution, Failure, JobResult, LoopMode, RunResult, RunSpec};
use ssd::{DriveConfig, Executor};
use workload::{Prepared, Spec};

const MS: u64 = 1_000_000;

/// A job file of the whole drive.
fn jobs(name: &str, text: &str) -> Prepared {
    let path = fresh_path(&format!("{name}.fio"));
    std::fs::write(&path, format!("[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\n{text}"))
        .unwrap();
    let spec = Spec::fio(path.display().to_string());
    spec.prepare().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn spec() -> RunSpec {
    RunSpec { preconditioning: used(), ..RunSpec::default() }
}

fn run(config: &DriveConfig, workload: &Prepared, spec: &RunSpec) -> RunResult {
    try_run(config, workload, spec).unwrap_or_else(|error| panic!("{error}"))
}

fn max_latency(job: &JobResult) -> u64 {
    job.share.latency_ns.all.max.unwrap_or(0)
}

#[test]
fn stages_delays_and_limits_are_kept_on_the_simulated_clock() {
    let text = "size=8m\n[a]\nrw=randread\niodepth=4\nruntime=20ms\ntime_based\n[b]\nstonewall\nnumber_ios=100\n\
                [c]\nstonewall\nstartdelay=50ms\nrw=randread\nruntime=5ms\nramp_time=5ms\ntime_based\n";
    let result = run(&small_drive(), &jobs("stages", text), &spec());
    let [a, b, c] = &result.jobs[..] else { panic!("{:?}", result.jobs) };
    assert_eq!((a.name.as_str(), b.name.as_str(), c.name.as_str()), ("a", "b", "c"));
    let a_end = a.end_ns.unwrap();
    assert_eq!((a.start_ns, a.measured_ns), (Some(0), Some(0)));
    assert!((20 * MS..=20 * MS + max_latency(a)).contains(&a_end), "{a:?}");
    assert_eq!((b.start_ns, b.share.requests, b.share.reads), (Some(a_end), 100, 100));
    assert!(b.end_ns.unwrap() < 50 * MS);
    assert_eq!((c.start_ns, c.measured_ns), (Some(50 * MS), Some(55 * MS)));
    assert!((60 * MS..=60 * MS + max_latency(c)).contains(&c.end_ns.unwrap()), "{c:?}");
    assert!(c.requests_warm_up > 10 && c.share.requests > 10, "{c:?}");
    // Only the first jobs' warm-up is one of the whole run.
    assert_eq!(result.requests_warm_up, 0);
    let told: u64 = result.jobs.iter().map(|job| job.share.requests + job.requests_warm_up).sum();
    assert_eq!((told, result.requests_served), (result.requests_generated, result.requests_generated));
    // They have their own loop, whatever is asked for; and what has no jobs cannot have it.
    assert_eq!((result.loop_mode.as_str(), result.depth), ("jobs", None));
    let asked = RunSpec { loop_mode: LoopMode::Jobs, ..spec() };
    let error = try_run(&small_drive(), &generator(10, ""), &asked).unwrap_err();
    assert!(matches!(error.failure, Failure::Setting { key: "run.loop_mode", .. }), "{error}");
}

#[test]
fn the_warm_up_of_the_first_jobs_is_that_of_the_run() {
    let text = "size=8m\nrw=randwrite\nruntime=10ms\nramp_time=7ms\ntime_based\n[a]\niodepth=8\nnumjobs=2\n";
    let result = run(&small_drive(), &jobs("ramp", text), &spec());
    assert_eq!(result.requests_warm_up, result.jobs.iter().map(|job| job.requests_warm_up).sum::<u64>());
    assert_eq!(result.requests_measured, result.jobs.iter().map(|job| job.share.requests).sum::<u64>());
    assert_eq!(result.bytes_written, result.jobs.iter().map(|job| job.share.bytes_written).sum::<u64>());
    assert!(result.requests_warm_up > 0 && result.requests_measured > 0);
    let end = 10 * MS + result.jobs.iter().map(max_latency).max().unwrap();
    assert!((10 * MS - MS..=end).contains(&result.simulated_ns), "{}", result.simulated_ns);
    let too_long = jobs("ramp-too-long", "size=1m\nramp_time=1h\n[a]\nrw=read\n");
    let error = try_run(&small_drive(), &too_long, &spec()).unwrap_err();
    assert!(matches!(error.failure, Failure::NothingMeasured { .. }), "{error}");
}

#[test]
fn a_pause_is_added_to_each_request() {
    for (text, pauses) in
        [("thinktime=1ms\n", 99.0), ("thinktime=1ms\nthinktime_blocks=10\n", 9.0), ("thinktime=0\n", 0.0)]
    {
        let job = format!("size=8m\nrw=randread\nnumber_ios=100\n{text}[a]\n");
        let result = run(&small_drive(), &jobs("pause", &job), &spec());
        let job = &result.jobs[0];
        let expected = 100.0 * job.share.latency_ns.all.mean.unwrap() + pauses * 1e6;
        let taken = 100.0 * 1e9 / job.share.iops.all.unwrap();
        // The histogram's mean is exact.
        assert!((taken - expected).abs() < 1.0, "{text}: {taken} ns, expected {expected}");
    }
}

#[test]
fn rates_are_kept_for_each_direction() {
    let text = |iops| format!("size=4m\nrw=randrw\nrwmixread=70\nrate_iops={iops}\niodepth=4\n[a]\n");
    let calm = run(&small_drive(), &jobs("calm", &text("2k")), &spec());
    let job = &calm.jobs[0];
    // Both directions have the same rate, so that the mix is even, whatever rwmixread says.
    assert_eq!((job.share.reads, job.share.writes), (512, 512));
    let seconds = 511.0 / 2048.0;
    assert!((job.share.iops.read.unwrap() * seconds / 512.0 - 1.0).abs() < 0.01, "{job:?}");
    assert_eq!(job.latency_from_due_ns.as_ref().unwrap().mean, job.share.latency_ns.all.mean);
    let busy = run(&small_drive(), &jobs("busy", &text("2m")), &spec());
    let job = &busy.jobs[0];
    let (due, sent) =
        (job.latency_from_due_ns.as_ref().unwrap().mean.unwrap(), job.share.latency_ns.all.mean.unwrap());
    assert!(due > 10.0 * sent, "{due} ns from due, {sent} ns from sending");
    let unrated = run(&small_drive(), &jobs("unrated", "size=4m\n[a]\nrw=read\n"), &spec());
    assert_eq!(unrated.jobs[0].latency_from_due_ns, None);
}

#[test]
fn more_than_the_queues_hold_is_sent_when_there_is_room() {
    let mut config = small_drive();
    (config.queues.count, config.queues.depth) = (2, 4);
    let text = "size=4m\nrw=randread\niodepth=32\nnumjobs=3\n[a]\n";
    let result = run(&config, &jobs("held", text), &spec());
    assert!(result.jobs.iter().all(|job| job.share.requests == 1024), "{:?}", result.jobs);
    // Waiting before a queue is a part of the latency: 96 requests are under way until the end.
    let latencies = result.latency_ns.all.mean.unwrap() * 3072.0;
    let under_way = latencies / result.simulated_ns as f64;
    assert!((90.0..=96.0).contains(&under_way), "{under_way}");
}

#[test]
fn the_same_jobs_give_the_same_run_and_the_same_counts_without_time() {
    let text = "size=8m\n[a]\nrw=randrw\nbssplit=4k/70:16k/30\niodepth=8\nfsync=16\nnumjobs=2\n\
                [b]\nrw=randwrite\nsync=1\nrandom_distribution=zipf:1.2\n[c]\nstonewall\nrw=randtrimwrite\n";
    let workload = jobs("same", text);
    let once = run(&small_drive(), &workload, &spec());
    let again = run(&small_drive(), &workload, &spec());
    assert_eq!((&once.event_hash, &once.jobs), (&again.event_hash, &again.jobs));
    let timeless = run(&small_drive(), &workload, &RunSpec { executor: Executor::Functional, ..spec() });
    let counts = |result: &RunResult| {
        let of = |job: &JobResult| {
            (
                job.share.reads,
                job.share.writes,
                job.share.trims,
                job.share.flushes,
                job.share.bytes_read,
                job.share.bytes_written,
            )
        };
        result.jobs.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(counts(&once), counts(&timeless));
    assert!(once.trims == 2048 && once.flushes > 0, "{} trims, {} flushes", once.trims, once.flushes);
    assert_eq!(timeless.jobs[0].share.iops.all, None);

    let timed = jobs("timed", "size=8m\n[a]\nruntime=1s\ntime_based\n");
    let error =
        try_run(&small_drive(), &timed, &RunSpec { executor: Executor::Functional, ..spec() }).unwrap_err();
    let Failure::Setting { key: "run.executor", found, .. } = &error.failure else { panic!("{error}") };
    assert!(found.contains("job a ends by time"), "{found}");
}

#[test]
fn the_order_of_passes_decides_write_amplification() {
    let amplification = |name, option| {
        let text = format!("size=95m\nrw=randwrite\nloops=6\niodepth=32\n{option}\n[a]\n");
        let spec = RunSpec { executor: Executor::Functional, warm_up: 2 * 24_320, ..spec() };
        run(&small_drive(), &jobs(name, &text), &spec).write_amplification.unwrap()
    };
    let (same, fresh, free) = (
        amplification("wa-same", "randrepeat=1"),
        amplification("wa-fresh", "randrepeat=0"),
        amplification("wa-free", "norandommap=1"),
    );
    assert!(same < 1.05, "{same}");
    assert!(fresh > same + 0.1 && free > fresh + 0.1, "{same}, {fresh}, {free}");
}

/// A job file of the whole drive whose jobs are not direct, below a page cache of so many MiB.
fn cached(name: &str, mib: u64, keys: &str, text: &str) -> Prepared {
    let path = fresh_path(&format!("{name}.fio"));
    std::fs::write(&path, format!("[global]\nfilename=/dev/nvme0n1\n{text}")).unwrap();
    let table = format!("jobs = '{}'\npage_cache_mib = {mib}\n{keys}", path.display());
    Spec::parse(&table).and_then(|spec| spec.prepare()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn what_a_page_cache_holds_is_not_read_again() {
    let text = "size=8m\n[a]\nrw=read\nloops=4\niodepth=4\n[b]\ndirect=1\nstonewall\nrw=read\nsize=4m\n";
    let result = run(&small_drive(), &cached("reread", 64, "page_cache_us = 3", text), &spec());
    let [a, b, cache] = &result.jobs[..] else { panic!("{:?}", result.jobs) };
    // One pass comes from the drive, ahead of what is asked; the other three take 3 us for four requests at a time.
    assert_eq!((b.share.bytes_read, cache.name.as_str()), (4 << 20, "page cache"));
    // It does not know where the job's part of the drive ends.
    let ahead = 128 << 10;
    assert!((8 << 20..=(8 << 20) + ahead).contains(&a.share.bytes_read), "{}", a.share.bytes_read);
    assert!(a.share.reads < 2048 / 8, "{} requests for 2,048 pages", a.share.reads);
    let hits = 3 * 2048 / 4 * 3_000;
    assert!(a.end_ns.unwrap() > hits && a.end_ns.unwrap() < hits + 2048 * 100_000, "{a:?}");
    assert_eq!((cache.share.requests, cache.start_ns), (0, None));
    assert!(!result.remarks.iter().any(|remark| remark.contains("page_cache_mib")), "{:?}", result.remarks);
    // Time goes on, though the drive hears nothing once each page was read.
    let text = "size=1m\n[a]\nrw=randread\nruntime=200ms\ntime_based\n";
    let result = run(&small_drive(), &cached("hits", 64, "", text), &spec());
    assert!((1 << 20..=(1 << 20) + ahead).contains(&result.bytes_read), "{}", result.bytes_read);
    assert!((200 * MS..201 * MS).contains(&result.jobs[0].end_ns.unwrap()), "{:?}", result.jobs[0]);
}

#[test]
fn what_is_written_waits_in_the_page_cache() {
    let total = |result: &RunResult| result.jobs.iter().map(|job| job.share.bytes_written).sum::<u64>();
    // Four times over each page: what is dirty still is written once.
    let text = "size=4m\n[a]\nrw=randwrite\nloops=4\n";
    let result = run(&small_drive(), &cached("rewrite", 64, "", text), &spec());
    assert_eq!((result.bytes_written, total(&result)), (4 << 20, 4 << 20));
    let [a, cache] = &result.jobs[..] else { panic!("{:?}", result.jobs) };
    assert_eq!((a.share.writes, a.end_ns), (0, Some(4 * 1024 * 2_000)));
    // The flusher finds them after 30 seconds.
    assert!((30_000 * MS..36_000 * MS).contains(&cache.start_ns.unwrap()), "{cache:?}");
    // A plain cache writes what falls out, and the rest at the end.
    let plain = cached("plain", 1, "plain_lru = true", text);
    let result = run(&small_drive(), &plain, &spec());
    assert!(total(&result) > 12 << 20 && total(&result) <= 16 << 20, "{}", total(&result));
    // More than a fifth of the cache dirty: the job writes before it goes on.
    let text = "size=32m\n[a]\nrw=write\n";
    let result = run(&small_drive(), &cached("limit", 4, "", text), &spec());
    let [a, cache] = &result.jobs[..] else { panic!("{:?}", result.jobs) };
    assert_eq!(total(&result), 32 << 20);
    assert!(cache.share.bytes_written > a.share.bytes_written, "{:?}", result.jobs);
    // Each fsync waits for what is dirty, then for the flush.
    let text = "size=4m\n[a]\nrw=randwrite\nfsync=2\nnumber_ios=101\n";
    let synced = cached("synced", 64, "", text);
    let result = run(&small_drive(), &synced, &spec());
    assert_eq!(
        (result.flushes, result.jobs[0].share.bytes_written, total(&result)),
        (50, 100 << 12, 101 << 12)
    );
    assert_eq!(result.event_hash, run(&small_drive(), &synced, &spec()).event_hash);
    let sent: u64 = result.jobs.iter().map(|job| job.share.requests).sum();
    assert_eq!(sent, result.requests_served);
}

/// Three jobs: a log whose every write is a commit, a table that is read and written, and one that trims.
const COMMITS: &str = "bs=4k\n[wal]\nioengine=sync\nfdatasync=1\nrw=write\nsize=4m\nio_size=1m\n\
                       [table]\niodepth=4\nrw=randrw\noffset=4m\nsize=8m\nio_size=2m\n\
                       [drop]\nrw=randtrim\noffset=12m\nsize=4m\nio_size=1m\n";

#[test]
fn each_job_tells_flushes_and_trims_apart_and_together_they_are_those_of_the_run() {
    let result = run(&small_drive(), &jobs("kinds", COMMITS), &spec());
    let [wal, table, drop] = &result.jobs[..] else { panic!("{:?}", result.jobs) };
    let latency = |job: &JobResult| job.share.latency_ns.clone();
    let counts =
        |of: &lab::ShareLatencies| [&of.all, &of.read, &of.write, &of.trim, &of.flush].map(|kind| kind.count);
    // fio does not sync after the last write.
    assert_eq!(counts(&latency(wal)), [511, 0, 256, 0, 255]);
    assert_eq!(counts(&latency(drop)), [256, 0, 0, 256, 0]);
    let [all, read, write, trim, flush] = counts(&latency(table));
    assert_eq!((all, read + write, trim, flush), (512, 512, 0, 0));
    // A kind that a job has not is told as in the whole run: nothing but a count of 0.
    assert_eq!((latency(wal).trim, latency(drop).flush), (Distribution::default(), Distribution::default()));
    let whole = &result.latency_ns;
    let kinds = [&whole.all, &whole.read, &whole.write, &whole.trim, &whole.flush].map(|kind| kind.count);
    let told: Vec<[u64; 5]> = result.jobs.iter().map(|job| counts(&latency(job))).collect();
    assert_eq!(kinds, std::array::from_fn(|kind| told.iter().map(|of| of[kind]).sum::<u64>()));
    for job in &result.jobs {
        let (share, [all, read, write, trim, flush]) = (&job.share, counts(&latency(job)));
        assert_eq!(
            (share.requests, share.reads, share.writes, share.trims, share.flushes),
            (all, read, write, trim, flush)
        );
    }
    // A commit waits for the flash; the log's writes, and all trims, only for the buffer.
    let p99 = |of: &Distribution| of.p99.unwrap();
    assert!(p99(&latency(wal).flush) > 10 * p99(&latency(wal).write), "{wal:?}");
    // Only this job flushes or trims, and a job's percentiles are within 1 %.
    let close = |of: &Distribution, whole: &Distribution| {
        let (of, whole) = (p99(of) as f64, p99(whole) as f64);
        (of / whole - 1.0).abs() < 0.012
    };
    assert!(close(&latency(wal).flush, &whole.flush) && close(&latency(drop).trim, &whole.trim));
}

#[test]
fn rows_of_jobs_have_columns_for_the_kinds_that_are_mixed() {
    let table = |text| {
        let told = lab::report::table(&run(&small_drive(), &jobs("columns", text), &spec()));
        let head = told.lines().position(|line| line.starts_with("job ")).unwrap();
        told.lines().skip(head).take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let mixed = table(COMMITS);
    assert!(mixed[0].contains("reads  trims  flushes"), "{mixed:#?}");
    assert!(mixed[0].ends_with("read p99  write p99  trim p99  flush p99"), "{mixed:#?}");
    let cells = |row: usize| mixed[row].split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let [wal, drop]: [Vec<&str>; 2] = [cells(1), cells(3)];
    assert_eq!(
        (&wal[..6], &drop[..6]),
        (&["wal", "0 ns", "511", "0", "0", "255"][..], &["drop", "0 ns", "256", "0", "256", "0"][..])
    );
    let ends = |row: &[&str]| row[row.len() - 4..].iter().map(|cell| *cell == "-").collect::<Vec<_>>();
    assert_eq!((ends(&wal), ends(&drop)), (vec![true, false, true, false], vec![true, true, false, true]));
    // Where each job does one thing, the latency of all its requests says it.
    let pure = table("size=1m\n[a]\nrw=randread\n[b]\nrw=randwrite\n");
    assert!(pure[0].ends_with("max") && !pure[0].contains("flushes"), "{pure:#?}");
}

#[test]
fn jobs_of_results_that_did_not_tell_flushes_are_still_read() {
    let text = run(&small_drive(), &jobs("older", COMMITS), &spec()).to_json();
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    for job in older["jobs"].as_array_mut().unwrap() {
        let latency = job["latency_ns"].as_object_mut().unwrap();
        assert!(latency.remove("flush").is_some() && latency.remove("trim").is_some());
    }
    let read = RunResult::of_json(&older.to_string()).unwrap();
    assert_eq!(read.jobs[0].share.latency_ns.flush, Distribution::default());
    assert_eq!(read.jobs[0].share.flushes, 255);
}

#[test]
fn rows_of_many_runs_show_flushes_and_trims_where_there_are_any() {
    let rows = |text| {
        let one = run(&small_drive(), &jobs("rows", text), &spec());
        let name = |number| RunResult { name: format!("run {number}"), ..one.clone() };
        Comparison::of(&(0..5).map(name).collect::<Vec<_>>()).markdown()
    };
    let (with, without) = (rows(COMMITS), rows("size=1m\n[a]\nrw=randrw\n"));
    for kind in ["trim latency p99", "flush latency p99"] {
        assert!(with.contains(kind) && !without.contains(kind), "{kind}: {with}\n{without}");
    }
}
