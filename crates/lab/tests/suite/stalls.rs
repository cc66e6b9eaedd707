//! Stalls: what a result says of them is what its request log says, whatever the loop, the drive and the load.

use crate::common;

use common::{Log, PARTS, closed, fresh_path, generator, open, run, small_drive, with_every_policy};
use lab::{RunResult, RunSpec, Stall, Stalls, report};
use ssd::{DriveConfig, Executor, Part};
use workload::{Prepared, Spec};

const MIX: &str = "read_percent = 50\nsize_bytes = [[4096, 3], [16384, 1]]";
const WRITES: &str = "read_percent = 0\nsize_bytes = 16384";
const MS: u64 = 1_000_000;

/// From the request log: for each completion of the measurement, since when nothing had completed while a request was
/// in the drive. `since` is when the measurement began, on the log's clock.
fn stalls_of(log: &Log, warm_up: usize, since: u64) -> Stalls {
    let [sent, done, latencies] =
        ["submitted_ns", "completion_ns", "latency_ns"].map(|name| log.numbers(name));
    let parts: Vec<Vec<u64>> =
        Part::ALL.iter().map(|part| log.numbers(&format!("{}_ns", part.name()))).collect();
    let mut found = Vec::new();
    let mut last = since;
    for row in warm_up..done.len() {
        let end = done[row];
        let inside = (0..done.len()).filter(|&other| sent[other] < end && done[other] >= end);
        if end - last >= 5 * MS {
            let first_sent = inside.clone().map(|other| sent[other]).min().unwrap();
            let start = last.max(first_sent);
            let most = parts.iter().map(|part| part[row]).max().unwrap();
            let part = Part::ALL.into_iter().find(|part| parts[*part as usize][row] == most).unwrap();
            found.push(Stall {
                start_ns: start - since,
                ns: end - start,
                waiting: inside.count() as u64,
                part: part.name().to_owned(),
                part_share: Some(most as f64 / latencies[row] as f64),
            });
        }
        last = end;
    }
    found.retain(|stall| stall.ns >= 5 * MS);
    let (count, total_ns) = (found.len() as u64, found.iter().map(|stall| stall.ns).sum());
    found.sort_by_key(|stall| (std::cmp::Reverse(stall.ns), stall.start_ns));
    found.truncate(16);
    Stalls { count, total_ns, longest: found }
}

/// How many stalls a run has had, which are those of its log.
fn checked(name: &str, config: &DriveConfig, workload: &Prepared, spec: &RunSpec) -> u64 {
    let file = format!("stalls-{}.csv", name.replace([' ', ',', '.'], "-"));
    let (result, log) = Log::of_run(&file, config, workload, spec);
    let warm_up = result.requests_warm_up as usize;
    let since = warm_up.checked_sub(1).map_or(0, |last| log.numbers("completion_ns")[last]);
    assert_eq!(result.stalls, stalls_of(&log, warm_up, since), "{name}");
    told(&result);
    result.stalls.count
}

/// What is told of stalls agrees with the rest of the result, and with its table.
fn told(result: &RunResult) {
    let Stalls { count, total_ns, longest } = &result.stalls;
    assert_eq!(longest.len() as u64, (*count).min(16));
    assert!(longest.iter().all(|stall| stall.ns >= 5 * MS && stall.waiting > 0));
    assert!(longest.iter().all(|stall| stall.start_ns + stall.ns <= result.simulated_ns));
    assert!(
        *total_ns <= result.simulated_ns && longest.iter().map(|stall| stall.ns).sum::<u64>() <= *total_ns
    );
    let line = report::table(result).lines().find(|line| line.starts_with("stalls ")).map(str::to_owned);
    assert_eq!(line.is_some(), *count > 0, "{line:?}");
    if let (Some(line), Some(first)) = (line, longest.first()) {
        let part = Part::ALL.iter().position(|part| part.name() == first.part).unwrap();
        assert!(line.ends_with(&format!(": {}", PARTS[part])) && line.contains(" the longest "), "{line}");
    }
}

/// A drive whose dies can do nothing else for 30 ms while they erase.
fn slow_to_erase() -> DriveConfig {
    let mut config = small_drive();
    config.timing.t_erase_us = 30_000.0;
    config
}

/// Reads of 8 ms one after the other: each is a stall that begins where the last has ended.
#[test]
fn reads_that_take_longer_than_5_ms_are_stalls_of_their_own() {
    let mut config = small_drive();
    config.timing.t_read_us = vec![8_000.0];
    let result = run(&config, &generator(40, "read_percent = 100"), &closed(1));
    let Stalls { count, total_ns, longest } = &result.stalls;
    assert_eq!((*count, *total_ns, longest.len()), (40, result.simulated_ns, 16));
    let latency = &result.latency_ns.read;
    assert_eq!((longest[0].ns, longest[0].waiting), (latency.max.unwrap(), 1));
    assert!(longest.iter().all(|stall| stall.part == "array" && stall.part_share.unwrap() > 0.99));
    config.timing.t_read_us = vec![4_900.0];
    let quick = run(&config, &generator(40, "read_percent = 100"), &closed(1));
    assert!(quick.latency_ns.read.max.unwrap() < 5 * MS);
    assert_eq!(quick.stalls, Stalls::default());
}

/// A request every 14 ms: nothing completes for longer than 5 ms, and nothing waits.
#[test]
fn an_idle_drive_does_not_stall() {
    let rare = "arrival = \"fixed\"\nrate_iops = 70";
    for (read_us, stalls) in [(100.0, 0), (8_000.0, 60)] {
        let mut config = small_drive();
        config.timing.t_read_us = vec![read_us];
        let reads = generator(60, &format!("read_percent = 100\n{rare}"));
        assert_eq!(checked(&format!("idle {read_us}"), &config, &reads, &open()), stalls, "{read_us}");
    }
}

#[test]
fn stalls_are_those_of_the_request_log() {
    let bursts = "read_percent = 30\nsize_bytes = 16384\narrival = \"poisson\"\nrate_iops = 900";
    let (slow, mut found) = (slow_to_erase(), Vec::new());
    for depth in [1, 8, 64] {
        found.push(checked(&format!("closed {depth}"), &slow, &generator(3_000, WRITES), &closed(depth)));
        found.push(checked(&format!("mixed {depth}"), &slow, &generator(3_000, MIX), &closed(depth)));
    }
    let warm = RunSpec { warm_up: 700, ..closed(8) };
    found.push(checked("warm", &slow, &generator(3_000, WRITES), &warm));
    found.push(checked("open", &slow, &generator(3_000, bursts), &open()));
    assert!(found.iter().all(|&count| count > 0), "{found:?}");
    assert!(found.iter().any(|&count| count > 16), "{found:?}");
}

#[test]
fn stalls_are_those_of_the_request_log_on_every_preset() {
    let mut found = 0;
    for preset in ["client_tlc", "tlc", "qlc", "mqsim", "psr"] {
        let layer = ssd::config::Layer::file(preset, format!("preset = \"{preset}\""));
        let mut config = ssd::drive_config::resolve(&[layer], &[]).unwrap().config;
        let g = &mut config.geometry;
        (g.channels, g.chips_per_channel, g.blocks_per_plane, g.wordlines_per_block) = (1, 1, 40, 16);
        (config.drive.logical_gib, config.drive.over_provisioning_percent) = (0.0, 25.0);
        config.buffer = small_drive().buffer;
        for depth in [2, 32] {
            found +=
                checked(&format!("{preset} {depth}"), &config, &generator(1_500, WRITES), &closed(depth));
        }
    }
    assert!(found > 0);
}

#[test]
fn stalls_are_those_of_the_request_log_under_every_policy() {
    for (name, config) in with_every_policy(&slow_to_erase()) {
        checked(&name, &config, &generator(700, MIX), &closed(16));
    }
}

/// Jobs whose warm-up ends by time, in the middle of a stall: what of it lies in the measurement counts.
#[test]
fn a_stall_begins_with_the_measurement_at_the_earliest() {
    let text = "[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\n[a]\nsize=8m\nrw=randread\n\
                ramp_time=30ms\nruntime=100ms\ntime_based\n";
    let path = fresh_path("stalls.fio");
    std::fs::write(&path, text).unwrap();
    let workload = Spec::fio(path.display().to_string()).prepare().unwrap();
    let mut config = small_drive();
    config.timing.t_read_us = vec![20_000.0];
    let (result, log) = Log::of_run("stalls-ramp.csv", &config, &workload, &closed(1));
    let since = result.jobs[0].measured_ns.unwrap();
    assert_eq!(since, 30 * MS);
    let warm_up = result.requests_warm_up as usize;
    assert_eq!(result.stalls, stalls_of(&log, warm_up, since));
    let last = result.stalls.longest.last().unwrap();
    assert!(last.start_ns == 0 && (8 * MS..12 * MS).contains(&last.ns), "{last:?}");
}

#[test]
fn where_no_time_passes_nothing_stalls() {
    let timeless = |spec: RunSpec| RunSpec { executor: Executor::Functional, ..spec };
    let rare = format!("{MIX}\narrival = \"fixed\"\nrate_iops = 50");
    for (workload, spec) in [
        (generator(500, MIX), timeless(closed(1))),
        (generator(500, MIX), timeless(closed(16))),
        (generator(500, &rare), timeless(open())),
    ] {
        let result = run(&slow_to_erase(), &workload, &spec);
        assert_eq!(result.stalls, Stalls::default());
        told(&result);
    }
}
