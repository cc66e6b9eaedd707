//! Drives in a stripe: each gets its pieces, and a request completes with the last of them.

use crate::common;

use common::{fresh_path, small_drive, try_run, used};
use lab::{Drives, DrivesResult, Failure, LoopMode, Overwrite, Past, Preconditioning, RunResult, RunSpec};
use ssd::{Drive, DriveConfig};
use std::collections::BTreeMap;
use workload::{Prepared, Spec, Stripe, WorkloadError};

/// So many drives, in chunks of 64 KiB.
fn striped(drives: u16, kind: &str) -> (Prepared, Spec) {
    let text = format!("{kind}\ndrives = \"striped\"\nstripe_drives = {drives}\nstripe_kib = 64");
    let spec = Spec::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    (spec.prepare().unwrap_or_else(|error| panic!("{error}")), spec)
}

fn jobs(name: &str, text: &str) -> String {
    let path = fresh_path(&format!("{name}.fio"));
    std::fs::write(&path, format!("[global]\ndirect=1\nioengine=libaio\n{text}")).unwrap();
    format!("jobs = {:?}", path.display().to_string())
}

/// Reads and writes of 4 to 256 KiB, each at a time of its own.
fn trace(name: &str) -> String {
    let line = |at: u64| {
        let op = if at.is_multiple_of(3) { "R" } else { "W" };
        format!("{},{op},{},{}\n", at * 90, at * 7919 % 8_000 * 4096, (at % 64 + 1) * 4096)
    };
    let path = fresh_path(&format!("{name}.csv"));
    std::fs::write(&path, (0..1_500u64).map(line).collect::<String>()).unwrap();
    let columns = "columns = \"time=1:us,op=2,offset=3:bytes,size=4:bytes\"";
    format!("path = {:?}\n{columns}\naddress = \"as_is\"", path.display().to_string())
}

fn run(config: &DriveConfig, (prepared, spec): &(Prepared, Spec), how: &RunSpec) -> DrivesResult {
    let drives =
        Drives::of(spec, prepared, |_| -> Result<Prepared, WorkloadError> { unreachable!("one volume") });
    let drives = drives.unwrap().expect("several drives");
    let new = &mut || Drive::new(config).map_err(Failure::Config);
    drives
        .run((config, "volume"), new, &|_| how.clone(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"))
}

/// When requests arrived, with their latencies; ns.
fn times(result: &RunResult) -> Vec<(u64, u64)> {
    let text = result.requests.as_ref().expect("requests were kept").csv();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|key| *key == name).expect("a column");
    let (arrival, latency) = (column("arrival_ns"), column("latency_ns"));
    let cell = |line: &str, column: usize| line.split(',').nth(column).unwrap().parse().unwrap();
    lines.map(|line| (cell(line, arrival), cell(line, latency))).collect()
}

/// Reads of what was never written take one time, here called the step, for any drive.
#[test]
fn a_job_reads_from_all_drives_of_a_volume_at_a_time() {
    let config = small_drive();
    let how = RunSpec { keeps_requests: true, ..RunSpec::default() };
    let job = jobs("wide", "filename=/dev/md0\nrw=read\nsize=512k\n[a]\nbs=128k\niodepth=1\n");
    let wide = run(&config, &striped(2, &job), &how);
    let [a, b] = &wide.drives[..] else { panic!("two drives") };
    assert_eq!((a.name.as_str(), b.name.as_str(), wide.stripe_kib), ("drive-0", "drive-1", Some(64)));
    let step = times(a)[0].1;
    let expected: Vec<(u64, u64)> = (0..4).map(|at| (at * step, step)).collect();
    assert_eq!((times(a), times(b)), (expected.clone(), expected));
    let share = &wide.sum.share;
    assert_eq!((share.requests, share.bytes_read, wide.sum.simulated_ns), (4, 512 << 10, 4 * step));
    let latency = &share.latency_ns.read;
    assert_eq!((latency.min, latency.max, latency.count), (Some(step), Some(step), 4));
    // A drive knows nothing of the job, whose requests are the volume's.
    assert!(a.jobs.is_empty() && wide.sum.jobs[0].share.requests == 4);
    // Small requests take turns.
    let job = jobs("narrow", "filename=/dev/md0\nrw=read\nsize=512k\n[a]\nbs=64k\niodepth=1\n");
    let narrow = run(&config, &striped(2, &job), &how);
    let of = |drive: usize| times(&narrow.drives[drive]).iter().map(|(at, _)| at / step).collect::<Vec<_>>();
    assert_eq!((of(0), of(1)), (vec![0, 2, 4, 6], vec![1, 3, 5, 7]));
    // A flush goes to all, and is one; a limit and a warm-up count requests of the volume.
    let job =
        jobs("writes", "filename=/dev/md0\nrw=write\nsize=512k\nfdatasync=1\n[a]\nbs=128k\niodepth=1\n");
    let writes = run(&config, &striped(2, &job), &RunSpec { warm_up: 2, requests: Some(6), ..how });
    assert_eq!((writes.sum.share.flushes, writes.sum.share.writes), (2, 2));
    assert!(writes.drives.iter().all(|it| (it.flushes, it.writes) == (2, 2)));
}

/// What each drive gets over and over until it is steady: it takes each another time.
fn own_past() -> Preconditioning {
    let overwrite = Overwrite::SteadyState { change_percent: 5.0, times_at_most: 4.0 };
    Preconditioning { past: Past::Own, overwrite, ..used() }
}

#[test]
fn drives_of_a_volume_get_what_each_gets_alone_of_a_trace() {
    let config = small_drive();
    let how = RunSpec {
        loop_mode: LoopMode::Open,
        keeps_requests: true,
        preconditioning: own_past(),
        ..RunSpec::default()
    };
    for drives in [2, 3] {
        let workload = striped(drives, &trace("volume"));
        let volume = run(&config, &workload, &how);
        assert_eq!(volume.sum.share.requests, 1_500);
        let mut whole: BTreeMap<u64, u64> = BTreeMap::new();
        for (number, found) in volume.drives.iter().enumerate() {
            let alone = workload.0.on_member(Stripe::new(drives, 128), number as u16);
            let own = try_run(&config, &alone, &how).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                (found.event_hash.as_str(), found.requests_measured),
                (own.event_hash.as_str(), own.requests_measured)
            );
            assert_eq!(found.latency_ns, own.latency_ns);
            for (arrival, latency) in times(found) {
                let longest = whole.entry(arrival).or_default();
                *longest = latency.max(*longest);
            }
        }
        // Each request takes as long as its longest piece.
        let all = &volume.sum.share.latency_ns.all;
        assert_eq!((all.count, all.max), (whole.len() as u64, whole.values().max().copied()));
        let mean = whole.values().sum::<u64>() as f64 / whole.len() as f64;
        assert!((all.mean.unwrap() - mean).abs() < 1.0, "{:?} {mean}", all.mean);
        let bytes = volume.drives.iter().map(|it| it.bytes_written).sum::<u64>();
        assert_eq!(volume.sum.share.bytes_written, bytes);
    }
    // At a depth, so many requests of the volume are in flight.
    let closed = RunSpec { loop_mode: LoopMode::Closed { depth: 1 }, ..how };
    let one = run(&config, &striped(2, &trace("volume")), &closed);
    let busy: u64 = one.sum.share.latency_ns.all.mean.map_or(0, |mean| (mean * 1_500.0) as u64);
    let queues = u64::from(config.queues.count);
    assert!(
        one.sum.simulated_ns.abs_diff(busy / queues) <= one.sum.simulated_ns / 50,
        "{busy} {:?}",
        one.sum
    );
}

#[test]
fn a_volume_needs_room_on_each_drive_and_stays_out_of_phases() {
    let (workload, _) = striped(2, &trace("room"));
    let whole = Spec::parse(&trace("room")).unwrap().prepare().unwrap();
    assert_eq!(workload.space_sectors(), Some(whole.space_sectors().unwrap().div_ceil(256) * 128));
    assert_ne!(workload.workload_hash(), whole.workload_hash());
    assert_ne!(workload.workload_hash(), striped(3, &trace("room")).0.workload_hash());
    let error = try_run(&small_drive(), &workload, &RunSpec::default()).unwrap_err().to_string();
    assert!(error.contains("\"striped\", and 2 drives (drive-0, drive-1)"), "{error}");
    let phase = format!("[[phases]]\n{}\ndrives = \"striped\"", trace("room"));
    let error = Spec::parse(&phase).and_then(|spec| spec.prepare().map(drop)).unwrap_err().to_string();
    assert!(error.contains("phases[0].drives") && error.contains("\"together\""), "{error}");
    for (key, value) in [("stripe_drives", "1"), ("stripe_drives", "65"), ("stripe_kib", "48")] {
        let text = format!("{}\ndrives = \"striped\"\n{key} = {value}", trace("room"));
        let error = Spec::parse(&text).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(value), "{error}");
    }
}
