//! Phases of a workload, and workloads together: what is told of each.

use crate::common;

use common::{closed, fresh_path, run, small_drive, try_run, used};
use lab::{Failure, LoopMode, RunResult, RunSpec};
use ssd::counters::Count;
use ssd::{Executor, Stats};
use workload::{Prepared, Spec};

fn workload(text: &str) -> Prepared {
    Spec::parse(text).and_then(|spec| spec.prepare()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

const WRITES: &str = "name = \"writes\", pattern = \"uniform\", read_percent = 0, until_requests = 30000";
const MIXED: &str = "pattern = \"zipf\", read_percent = 70, size_bytes = 8192, until_requests = 20000";

fn phases(texts: &[&str]) -> Prepared {
    let members: Vec<String> = texts.iter().map(|text| format!("{{ {text} }}")).collect();
    workload(&format!("phases = [{}]", members.join(", ")))
}

/// Members, and what the drive counted, add up to the whole.
fn check_sums(result: &RunResult) {
    let sum = |of: &dyn Fn(&lab::MemberResult) -> u64| result.members.iter().map(of).sum::<u64>();
    assert_eq!(sum(&|member| member.share.requests), result.requests_measured);
    assert_eq!(sum(&|member| member.requests_warm_up), result.requests_warm_up);
    assert_eq!(sum(&|member| member.share.bytes_written), result.bytes_written);
    assert_eq!(sum(&|member| member.share.bytes_read), result.bytes_read);
    let whole = &result.latency_ns;
    assert_eq!(sum(&|member| member.share.latency_ns.read.count), whole.read.count);
    assert_eq!(sum(&|member| member.share.latency_ns.write.count), whole.write.count);
    assert_eq!(sum(&|member| member.share.latency_ns.trim.count), whole.trim.count);
    assert_eq!(sum(&|member| member.share.latency_ns.flush.count), whole.flush.count);
    for (key, count) in &result.counters {
        let told: u64 =
            result.members.iter().filter_map(|member| member.counters.get(key)).map(Count::sum).sum();
        let adds_up = Stats::all_counters().any(|counter| counter.key == key && counter.adds_up());
        assert_eq!(told, if adds_up { count.sum() } else { 0 }, "{key}");
    }
    let programmed = |member: &lab::MemberResult| {
        member.write_amplification.unwrap_or(0.0) * member.share.bytes_written as f64
    };
    let told: f64 = result.members.iter().map(programmed).sum();
    let whole = result.write_amplification.unwrap_or(0.0) * result.bytes_written as f64;
    // A phase without writes has no amplification, though the drive still programs what earlier ones left.
    let all_wrote = result.members.iter().all(|member| member.write_amplification.is_some());
    assert!(
        told <= whole * (1.0 + 1e-9) && (!all_wrote || told >= whole * (1.0 - 1e-9)),
        "{told} of {whole}"
    );
}

/// Where no time passes one request ends before the next begins: then a phase is what it is when it runs alone.
#[test]
fn a_first_phase_is_told_as_if_it_were_alone() {
    let spec = RunSpec { executor: Executor::Functional, ..closed(1) };
    let alone = run(&small_drive(), &phases(&[WRITES]), &spec);
    let both = run(&small_drive(), &phases(&[WRITES, "until_requests = 5, pattern = \"uniform\""]), &spec);
    let [first, second] = &both.members[..] else { panic!("{:?}", both.members) };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("writes", "uniform"));
    assert_eq!(first.write_amplification, alone.write_amplification);
    assert_eq!(first.write_amplification_by_cause, alone.write_amplification_by_cause);
    assert!(first.write_amplification.unwrap() > 1.0 && second.share.requests == 5);
    let counts = alone.counters.iter().filter(|(key, _)| !key.ends_with("_max"));
    for (key, count) in counts {
        assert_eq!(first.counters.get(key), Some(count), "{key}");
    }
    check_sums(&both);
}

#[test]
fn phases_add_up_whatever_the_loop() {
    let workload =
        phases(&[WRITES, MIXED, "pattern = \"sequential\", read_percent = 100, until_requests = 1000"]);
    let result = run(&small_drive(), &workload, &closed(32));
    let [writes, mixed, reads] = &result.members[..] else { panic!("{:?}", result.members) };
    assert_eq!((writes.share.writes, mixed.share.requests, reads.share.reads), (30_000, 20_000, 1_000));
    assert_eq!((reads.write_amplification, reads.share.bytes_written), (None, 0));
    assert_eq!(writes.start_ns, Some(0));
    // A phase begins when a place becomes free, while requests of the one before are under way.
    let latest = |member: &lab::MemberResult| member.share.latency_ns.all.max.unwrap();
    for (before, after) in [(writes, mixed), (mixed, reads)] {
        let (began, ended) = (after.start_ns.unwrap(), before.end_ns.unwrap());
        assert!(began <= ended && ended <= began + latest(before), "{began} {ended}");
    }
    assert_eq!(reads.end_ns, Some(result.simulated_ns));
    check_sums(&result);
    let open = "phases = [{ pattern = \"uniform\", arrival = \"poisson\", rate_iops = 5000, until_s = 0.5 }, \
                { pattern = \"uniform\", arrival = \"poisson\", rate_iops = 1000, until_requests = 500 }]";
    let result =
        run(&small_drive(), &self::workload(open), &RunSpec { loop_mode: LoopMode::Open, ..closed(1) });
    assert!(result.members[1].start_ns.unwrap() >= 500_000_000, "{:?}", result.members[1].start_ns);
    let rates: Vec<f64> = result.members.iter().map(|member| member.share.iops.all.unwrap()).collect();
    assert!((rates[0] / 5000.0 - 1.0).abs() < 0.1 && (rates[1] / 1000.0 - 1.0).abs() < 0.2, "{rates:?}");
    check_sums(&result);
    // The same requests, with a table for each.
    let again = run(&small_drive(), &workload, &closed(32));
    assert_eq!(again.members[1].counters, run(&small_drive(), &workload, &closed(32)).members[1].counters);
    assert!(lab::report::table(&result).contains("\nphase "), "{}", lab::report::table(&result));
}

#[test]
fn what_completes_before_the_measurement_is_no_phase_result() {
    let workload = phases(&[WRITES, MIXED]);
    let part = run(&small_drive(), &workload, &RunSpec { warm_up: 10_000, ..closed(8) });
    assert_eq!((part.members[0].requests_warm_up, part.members[0].share.requests), (10_000, 20_000));
    check_sums(&part);
    let whole = run(&small_drive(), &workload, &RunSpec { warm_up: 40_000, ..closed(8) });
    let [writes, mixed] = &whole.members[..] else { panic!("{:?}", whole.members) };
    assert_eq!((writes.requests_warm_up, writes.share.requests), (30_000, 0));
    assert_eq!((mixed.requests_warm_up, mixed.share.requests), (10_000, 10_000));
    assert!(writes.counters.values().all(|count| count.sum() == 0), "{:?}", writes.counters);
    check_sums(&whole);
}

#[test]
fn workloads_together_are_told_apart_without_the_drives_work() {
    let text = "together = [{ name = \"a\", pattern = \"uniform\", read_percent = 100, until_requests = 900 }, \
                { name = \"b\", pattern = \"uniform\", read_percent = 0, until_requests = 300, stream = 7 }]";
    let result = run(&small_drive(), &workload(text), &closed(4));
    let [a, b] = &result.members[..] else { panic!("{:?}", result.members) };
    assert_eq!((a.share.reads, a.share.writes, b.share.reads, b.share.writes), (900, 0, 0, 300));
    assert!(a.counters.is_empty() && a.write_amplification.is_none() && b.write_amplification.is_none());
    assert!(b.end_ns.unwrap() < a.end_ns.unwrap());
    assert!(lab::report::table(&result).contains("\nworkload "));
    let plain = run(&small_drive(), &workload("pattern = \"uniform\"\ncount = 10"), &closed(4));
    assert!(plain.members.is_empty());
}

/// The keys of a workload of fio jobs on the whole drive.
fn jobs(name: &str, text: &str) -> String {
    let path = fresh_path(&format!("member-{name}.fio"));
    std::fs::write(&path, format!("[global]\nfilename=/dev/nvme0n1\ndirect=1\n{text}")).unwrap();
    format!("jobs = {:?}", path.display().to_string())
}

fn in_turn() -> RunSpec {
    RunSpec { loop_mode: LoopMode::Jobs, preconditioning: used(), ..RunSpec::default() }
}

/// fio's own word for one after the other is `stonewall`.
#[test]
fn jobs_in_phases_are_jobs_behind_stonewalls() {
    let (write, read) =
        ("[a]\nrw=write\nsize=6m\niodepth=4\nthinktime=50us\n", "rw=read\nsize=6m\niodepth=8\n");
    let one = jobs("one", &format!("{write}[b]\nstonewall\n{read}"));
    let (first, second) = (jobs("first", write), jobs("second", &format!("[b]\n{read}")));
    let behind = run(&small_drive(), &workload(&one), &in_turn());
    let phased = run(&small_drive(), &phases(&[&first, &format!("name = \"then\", {second}")]), &in_turn());
    assert_eq!(phased.event_hash, behind.event_hash);
    assert_eq!((phased.loop_mode.as_str(), phased.requests_total), ("jobs", behind.requests_total));
    let names: Vec<&str> = phased.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["member-first.fio: a", "then: b"]);
    for (phased, behind) in phased.jobs.iter().zip(&behind.jobs) {
        assert_eq!((&phased.share, phased.start_ns), (&behind.share, behind.start_ns));
        assert_eq!((phased.measured_ns, phased.end_ns), (behind.measured_ns, behind.end_ns));
    }
    let [a, b] = &phased.members[..] else { panic!("{:?}", phased.members) };
    assert_eq!((a.share.writes, b.share.reads, b.start_ns), (1536, 1536, phased.jobs[1].start_ns));
    assert_eq!(a.share.latency_ns, phased.jobs[0].share.latency_ns);
    check_sums(&phased);
}

#[test]
fn each_phase_tells_its_flushes_and_trims() {
    let commits = jobs("commits", "[wal]\nioengine=sync\nrw=write\nsize=1m\nbs=4k\nfdatasync=1\n");
    let drops = jobs("drops", "[drop]\nrw=randtrim\nsize=1m\nbs=4k\n");
    let result = run(&small_drive(), &phases(&[&commits, &drops]), &in_turn());
    check_sums(&result);
    let [first, second] = &result.members[..] else { panic!("{:?}", result.members) };
    let kinds = |of: &lab::MemberResult| {
        let of = &of.share.latency_ns;
        [&of.all, &of.read, &of.write, &of.trim, &of.flush].map(|kind| kind.count)
    };
    assert_eq!((kinds(first), kinds(second)), ([511, 0, 256, 0, 255], [256, 0, 0, 256, 0]));
    let table = lab::report::table(&result);
    let head = table.lines().find(|line| line.starts_with("phase ")).unwrap();
    assert!(
        head.contains("trims  flushes") && head.contains("write p99  trim p99  flush p99  write"),
        "{table}"
    );
}

/// A phase of requests before one of jobs is what it is without them.
#[test]
fn phases_of_requests_keep_their_loop_beside_jobs() {
    let mut config = small_drive();
    config.queues.count = 1;
    let closed_phase = "pattern = \"zipf\", read_percent = 60, until_requests = 5000";
    let open_phase = "pattern = \"uniform\", arrival = \"fixed\", rate_iops = 2000, until_s = 0.25";
    let job = jobs("tail", "[a]\nrw=randread\niodepth=2\nnumber_ios=500\n");
    let text = [&format!("depth = 8, {closed_phase}"), job.as_str(), open_phase];
    let all = run(&config, &phases(&text), &in_turn());
    let alone = run(&config, &phases(&[closed_phase]), &RunSpec { preconditioning: used(), ..closed(8) });
    let [first, job, last] = &all.members[..] else { panic!("{:?}", all.members) };
    assert_eq!(first.share, alone.members[0].share);
    assert_eq!((first.end_ns, job.start_ns), (Some(alone.simulated_ns), Some(alone.simulated_ns)));
    assert_eq!((all.jobs.len(), all.jobs[0].share.requests, job.share.requests), (1, 500, 500));
    // One each half millisecond from the end of the jobs on.
    assert_eq!((last.start_ns, last.share.requests), (job.end_ns, 500));
    let sent = last.start_ns.unwrap() + 499 * 500_000;
    assert!((sent + 1..sent + 5_000_000).contains(&last.end_ns.unwrap()), "{last:?}");
    check_sums(&all);
    // 32 in flight where nothing is said, and time is none without an executor that has it.
    let (unsaid, said) =
        (phases(&[closed_phase, text[1]]), phases(&[&format!("depth = 32, {closed_phase}"), text[1]]));
    assert_eq!(run(&config, &unsaid, &in_turn()).event_hash, run(&config, &said, &in_turn()).event_hash);
    let timeless = run(&config, &phases(&text), &RunSpec { executor: Executor::Functional, ..in_turn() });
    assert_eq!(timeless.requests_served, all.requests_served);
    let again = run(&config, &phases(&text), &in_turn());
    assert_eq!((again.event_hash, again.members), (all.event_hash, all.members));
}

#[test]
fn phases_of_jobs_end_at_their_limits_and_begin_again_until_then() {
    const MS: u64 = 1_000_000;
    let job =
        jobs("limits", "[a]\nrw=randread\niodepth=4\nnumber_ios=100\n[b]\nrw=randwrite\nnumber_ios=10\n");
    let timed = jobs("timed", "[c]\nrw=randread\nruntime=1h\ntime_based\n");
    let text = [
        format!("name = \"twice\", until_requests = 150, {job}"),
        format!("name = \"time\", until_s = 0.02, {timed}"),
        format!("name = \"gib\", until_gib = 0.00390625, {timed}"),
    ];
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    let result = run(&small_drive(), &phases(&text), &in_turn());
    let [twice, time, gib] = &result.members[..] else { panic!("{:?}", result.members) };
    let of = |name: &str| result.jobs.iter().find(|job| job.name == name).unwrap();
    let (a, b) = (of("twice: a"), of("twice: b"));
    // A pass has 110 requests; the limit falls into the second.
    assert_eq!((twice.share.requests, a.share.requests + b.share.requests), (150, 150));
    assert!(a.share.requests > 100 && b.share.requests > 10 && b.start_ns == Some(0), "{a:?} {b:?}");
    assert!(b.end_ns.is_none_or(|end| end <= twice.end_ns.unwrap()), "{b:?}");
    let latency = time.share.latency_ns.all.max.unwrap();
    let took = time.end_ns.unwrap() - twice.end_ns.unwrap();
    assert!((20 * MS..=20 * MS + latency).contains(&took), "{took} ns");
    assert_eq!((gib.share.reads, of("gib: c").share.reads, of("gib: c").end_ns), (1024, 1024, None));
    check_sums(&result);
    let functional = RunSpec { executor: Executor::Functional, ..in_turn() };
    let refused = |text: &str| match try_run(&small_drive(), &phases(&[text]), &functional) {
        Err(error) => error.failure,
        Ok(result) => panic!("{text}: {}", result.requests_served),
    };
    for text in [text[1], timed.as_str(), &format!("until_s = 1, {job}")] {
        assert!(matches!(refused(text), Failure::Setting { key: "run.executor", .. }), "{text}");
    }
    assert_eq!(run(&small_drive(), &phases(&[text[2]]), &functional).requests_served, 1024);
    let reads = jobs("reads", "[a]\nrw=read\nsize=1m\n");
    let endless = refused(&format!("until_drive_writes = 1, {reads}"));
    assert!(endless.to_string().contains("got no closer"), "{endless}");
}
