//! Phases of a workload, and workloads together: what is told of each.

mod common;

use common::{closed, run, small_drive};
use lab::{LoopMode, RunResult, RunSpec};
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
    assert_eq!(sum(&|member| member.share.latency_ns.read.count), result.latency_ns.read.count);
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
    let whole = result.write_amplification.unwrap() * result.bytes_written as f64;
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
