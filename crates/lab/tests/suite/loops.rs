//! Runs in closed and open loop: every request is served and accounted for, to the nanosecond.

use crate::common;

use common::{Log, closed, fresh_path, generator, open, run, small_drive, try_run};
use lab::{Busy, Distribution, Failure, LoopMode, Overwrite, Preconditioning, RunSpec};
use ssd::Part;

const MIX: &str = "read_percent = 60\nsize_bytes = [[4096, 5], [16384, 2], [512, 1], [65536, 1]]";

/// The exact percentile of sorted values: the least value that so many percent do not exceed.
fn exact(sorted: &[u64], percent: f64) -> u64 {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted[rank - 1]
}

fn check_distribution(kind: &str, found: &Distribution, mut values: Vec<u64>) {
    values.sort_unstable();
    let sum: u128 = values.iter().map(|&ns| u128::from(ns)).sum();
    assert_eq!(found.count, values.len() as u64, "{kind}");
    assert_eq!(found.mean, Some(sum as f64 / values.len() as f64), "{kind}");
    assert_eq!((found.min, found.max), (values.first().copied(), values.last().copied()), "{kind}");
    let points = [(50.0, found.p50), (99.0, found.p99), (99.9, found.p99_9), (99.99, found.p99_99)];
    for (percent, found) in points {
        let (found, exact) = (found.unwrap(), exact(&values, percent));
        // Three significant digits, never below the true value.
        assert!(
            found >= exact && found as f64 <= exact as f64 * 1.001,
            "{kind} p{percent}: {found}, exact {exact}"
        );
    }
}

/// Everything a log and a result must agree on.
fn check_log(result: &lab::RunResult, log: &Log) {
    assert_eq!(log.columns, lab::request_log_columns());
    assert_eq!(log.rows.len() as u64, result.requests_served);
    let ops = log.counts("op");
    let count = |op: &str| ops.get(op).copied().unwrap_or(0);
    assert_eq!((count("read"), count("write")), (result.reads, result.writes));
    assert_eq!((count("trim"), count("flush")), (result.trims, result.flushes));
    let columns = ["arrival_ns", "submitted_ns", "start_ns", "completion_ns"].map(|name| log.numbers(name));
    let latencies = log.numbers("latency_ns");
    let parts: Vec<Vec<u64>> =
        Part::ALL.iter().map(|part| log.numbers(&format!("{}_ns", part.name()))).collect();
    for (row, &latency) in latencies.iter().enumerate() {
        let [arrival, submitted, start, completion] = [0, 1, 2, 3].map(|column| columns[column][row]);
        assert!(arrival <= submitted && submitted <= start && start <= completion, "row {row}");
        assert_eq!(latency, completion - arrival, "row {row}");
        assert_eq!(
            latency,
            parts.iter().map(|part| part[row]).sum::<u64>(),
            "row {row}: {:?}",
            log.rows[row]
        );
    }
    assert!(columns[3].is_sorted(), "rows are in order of completion");
    let ops: Vec<&str> = log.texts("op").collect();
    let of = |op: &str| {
        latencies.iter().zip(&ops).filter(|(_, o)| **o == op).map(|(ns, _)| *ns).collect::<Vec<_>>()
    };
    check_distribution("read", &result.latency_ns.read, of("read"));
    check_distribution("write", &result.latency_ns.write, of("write"));
    check_distribution("all", &result.latency_ns.all, latencies);
    for (part, times) in Part::ALL.iter().zip(&parts) {
        let sum: u64 = times.iter().zip(&ops).filter(|(_, op)| **op == "read").map(|(ns, _)| ns).sum();
        assert_eq!(result.breakdown_ns.read[*part].sum, sum, "{}", part.name());
    }
}

/// Requests in the drive in the mean over time, by going through all submissions and completions.
fn in_flight(log: &Log, until: u64) -> f64 {
    let mut steps: Vec<(u64, i64)> = log.numbers("submitted_ns").into_iter().map(|at| (at, 1)).collect();
    steps.extend(log.numbers("completion_ns").into_iter().map(|at| (at, -1)));
    steps.sort_unstable();
    let (mut area, mut inside, mut last) = (0u128, 0i64, 0);
    for (at, step) in steps {
        area += inside as u128 * u128::from(at - last);
        (inside, last) = (inside + step, at);
    }
    assert_eq!(inside, 0);
    area as f64 / until as f64
}

#[test]
fn a_closed_loop_serves_all_and_accounts_for_every_nanosecond() {
    let (result, log) = Log::of_run("closed.csv", &small_drive(), &generator(20_000, MIX), &closed(16));
    assert_eq!((result.requests_generated, result.requests_served), (20_000, 20_000));
    assert_eq!((result.ended.as_str(), result.requests_failed), ("complete", 0));
    check_log(&result, &log);
    // So many in flight are kept; only the last few drain.
    let mean = in_flight(&log, result.simulated_ns);
    assert!((mean / 16.0 - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn an_open_loop_submits_at_arrival_and_counts_waiting_outside() {
    let mut config = small_drive();
    (config.queues.count, config.queues.depth) = (2, 4);
    // More than the drive can do: a queue of 8 is full most of the time.
    let settings = format!("{MIX}\narrival = \"poisson\"\nrate_iops = 30000");
    let (result, log) = Log::of_run("open.csv", &config, &generator(20_000, &settings), &open());
    assert_eq!((result.requests_generated, result.requests_served), (20_000, 20_000));
    check_log(&result, &log);
    assert!(result.breakdown_ns.read[Part::HostQueue].sum > 0, "some requests wait outside");
    // Arrivals are those of the workload, whatever the drive does.
    let workload = generator(20_000, &settings);
    let mut source = workload.open(config.logical_bytes() / 512).unwrap();
    let mut arrivals = Vec::new();
    while let Some(request) = source.next().unwrap() {
        arrivals.push(request.arrival_ns);
    }
    let mut logged = log.numbers("arrival_ns");
    logged.sort_unstable();
    assert_eq!(logged, arrivals);
}

#[test]
fn littles_law_holds_at_low_and_high_load() {
    for (name, rate) in [("little-low.csv", 2_000), ("little-high.csv", 12_000)] {
        let settings = format!("read_percent = 70\narrival = \"poisson\"\nrate_iops = {rate}");
        let (result, log) = Log::of_run(name, &small_drive(), &generator(50_000, &settings), &open());
        check_log(&result, &log);
        let mean = in_flight(&log, result.simulated_ns);
        let waiting_outside: u64 = log.numbers("host_queue_ns").iter().sum();
        let inside = result.latency_ns.all.mean.unwrap() - waiting_outside as f64 / 50_000.0;
        let by_law = result.iops.all.unwrap() / 1e9 * inside;
        assert!((by_law / mean - 1.0).abs() < 0.01, "{rate}/s: {mean} in flight, by Little's law {by_law}");
        let said = result.in_flight_mean.unwrap();
        assert!((said / mean - 1.0).abs() < 0.01, "{rate}/s: {mean} in flight, the result says {said}");
    }
}

#[test]
fn at_a_low_rate_the_latency_is_that_of_one_request_alone() {
    let settings = "read_percent = 100\nsize_bytes = 4096\narrival = \"fixed\"\nrate_iops = 100";
    let spec = RunSpec { preconditioning: common::used(), ..open() };
    let result = run(&small_drive(), &generator(2_000, settings), &spec);
    let latency = &result.latency_ns.read;
    assert_eq!(latency.min, latency.max, "nothing to wait for");
    assert_eq!(result.iops.all.map(|rate| rate.round()), Some(100.0));
    let utilisation = result.utilisation.die.mean.unwrap();
    assert!(utilisation > 0.0 && utilisation < 0.01, "{utilisation}");
}

#[test]
fn a_warm_up_is_served_and_not_measured() {
    let spec = RunSpec { warm_up: 5_000, requests: Some(12_000), ..closed(8) };
    let (result, log) = Log::of_run("warm-up.csv", &small_drive(), &generator(20_000, MIX), &spec);
    assert_eq!((result.requests_generated, result.requests_served), (12_000, 12_000));
    assert_eq!((result.requests_warm_up, result.requests_measured), (5_000, 7_000));
    assert_eq!(result.reads + result.writes, 7_000);
    // Rows of the warm-up come first: they completed first.
    let completions = log.numbers("completion_ns");
    assert_eq!(completions.len(), 12_000);
    assert_eq!(result.simulated_ns, completions[11_999] - completions[4_999]);
    let mut latencies = log.numbers("latency_ns").split_off(5_000);
    latencies.sort_unstable();
    assert_eq!(result.latency_ns.all.max, latencies.last().copied());
}

#[test]
fn a_warm_up_longer_than_the_workload_measures_nothing_and_says_so() {
    let spec = RunSpec { warm_up: 1_000, ..closed(8) };
    let error = try_run(&small_drive(), &generator(1_000, ""), &spec).unwrap_err();
    assert_eq!(error.failure, Failure::NothingMeasured { warm_up: 1_000, completed: 1_000 });
    let result = error.result.unwrap();
    assert_eq!((result.requests_served, result.requests_measured), (1_000, 0));
    assert_eq!(
        (result.iops.all, result.write_amplification, result.latency_ns.read.mean),
        (None, None, None)
    );
}

#[test]
fn a_loop_deeper_than_the_queues_is_refused() {
    let error = try_run(&small_drive(), &generator(10, ""), &closed(257)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("run.depth") && text.contains("257") && text.contains("1 to 256"), "{text}");
    let full = RunSpec { loop_mode: LoopMode::Closed { depth: 0 }, ..closed(1) };
    let result = run(&small_drive(), &generator(10_000, ""), &full);
    assert_eq!(result.depth, Some(256));
}

#[test]
fn several_queues_are_each_kept_full() {
    let mut config = small_drive();
    (config.queues.count, config.queues.depth) = (4, 8);
    let (result, log) = Log::of_run("queues.csv", &config, &generator(10_000, MIX), &closed(8));
    check_log(&result, &log);
    let mean = in_flight(&log, result.simulated_ns);
    assert!((mean / 32.0 - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn without_time_there_are_counts_and_no_rates() {
    let spec = RunSpec { executor: ssd::Executor::Functional, ..closed(16) };
    let result = run(&small_drive(), &generator(50_000, "read_percent = 0"), &spec);
    assert_eq!((result.requests_served, result.simulated_ns), (50_000, 0));
    assert_eq!((result.iops.all, result.bandwidth_mb_s.write, result.in_flight_mean), (None, None, None));
    assert_eq!(result.latency_ns.write.max, Some(0));
    assert!(result.write_amplification.unwrap() > 1.0);
}

#[test]
fn a_compressed_log_holds_the_same_rows() {
    let workload = generator(3_000, MIX);
    let (plain, _) = Log::of_run("log.csv", &small_drive(), &workload, &closed(4));
    let path = fresh_path("log.csv.zst");
    let packed = run(&small_drive(), &workload, &RunSpec { request_log: Some(path.clone()), ..closed(4) });
    assert_eq!(plain.event_hash, packed.event_hash);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[..4], [0x28, 0xb5, 0x2f, 0xfd], "Zstandard's magic number");
    let text = zstd::decode_all(&bytes[..]).unwrap();
    assert_eq!(text, std::fs::read(path.with_extension("")).unwrap());
}

#[test]
fn a_log_that_cannot_be_written_is_an_error_with_its_path() {
    let path = fresh_path("no-such-folder").join("log.csv");
    let spec = RunSpec { request_log: Some(path), ..closed(4) };
    let error = try_run(&small_drive(), &generator(10, ""), &spec).unwrap_err();
    assert!(error.to_string().contains("no-such-folder"), "{error}");
    assert!(matches!(error.failure, Failure::Log(_)));
}

/// Of a drive at full load one die after the other is looked at: with one there is always something to do.
#[test]
fn utilisation_is_a_share_of_the_measured_time() {
    for (cache, warm_up) in [(false, 0), (false, 3_000), (true, 0), (true, 3_000)] {
        let mut config = small_drive();
        (config.geometry.channels, config.geometry.chips_per_channel) = (1, 1);
        config.geometry.blocks_per_plane = 200;
        config.timing.cache_operations = cache;
        let spec = RunSpec { warm_up, ..closed(32) };
        let result = run(&config, &generator(10_000, MIX), &spec);
        let Busy { mean, max } = result.utilisation.die;
        assert_eq!(mean, max, "there is one die");
        let what = format!("cache operations {cache}, warm-up {warm_up}");
        assert!(max.is_some_and(|share| (0.98..=1.0).contains(&share)), "{what}: {max:?}");
        let channel = result.utilisation.channel.max;
        assert!(channel.is_some_and(|share| share > 0.0 && share <= 1.0), "{what}: {channel:?}");
    }
    // A channel of 20 MB/s is what limits four dies.
    let mut config = small_drive();
    config.channel.bandwidth_mb_s = 20.0;
    for warm_up in [0, 3_000] {
        let spec = RunSpec { warm_up, ..closed(32) };
        let result = run(&config, &generator(10_000, "read_percent = 100"), &spec);
        let channel = result.utilisation.channel.max;
        assert!(channel.is_some_and(|share| (0.95..=1.0).contains(&share)), "{channel:?}");
    }
}

/// Dies whose data waits for its channel are not busy, and what bounds the drive is the channel.
#[test]
fn reads_that_channels_bound_leave_arrays_idle() {
    let mut last = 1.0;
    for chips in [4, 8, 16] {
        let mut config = small_drive();
        config.geometry.chips_per_channel = chips;
        (config.timing.t_read_us, config.channel.bandwidth_mb_s) = (vec![50.0], 600.0);
        let reads = generator(10_000, "read_percent = 100\nsize_bytes = 16384");
        // Filled and no more: nothing is cleaned beside the reads.
        let filled =
            Preconditioning { fill_percent: 100.0, overwrite: Overwrite::None, ..Preconditioning::default() };
        let result = run(&config, &reads, &RunSpec { preconditioning: filled, ..closed(256) });
        let used = &result.utilisation;
        let [die, array, waiting, channel] =
            [used.die, used.array, used.waiting, used.channel].map(|busy| busy.mean.unwrap());
        assert!((die - array - waiting).abs() < 1e-9, "{used:?}");
        assert!(channel > 0.95 && die > 0.85, "{chips} chips: {used:?}");
        assert!(array < 0.7 * last && waiting > 0.3, "{chips} chips: {used:?}");
        assert_eq!(
            result.verdict.bound_by.as_deref(),
            Some("channels"),
            "{chips} chips: {}",
            result.verdict.text
        );
        last = array;
    }
}

/// One die has all the work, and stands beside the mean of all.
#[test]
fn one_hot_die_bounds_a_drive_and_is_told() {
    let mut config = small_drive();
    config.geometry.chips_per_channel = 8;
    let reads = generator(3_000, "read_percent = 100\nsize_bytes = 4096\nfootprint_gib = 3.814697265625e-6");
    let result = run(&config, &reads, &closed(16));
    let array = result.utilisation.array;
    assert!(array.max > Some(0.9) && array.mean < Some(0.07), "{array:?}");
    assert_eq!(result.verdict.bound_by.as_deref(), Some("busiest die"), "{}", result.verdict.text);
    let text = &result.verdict.text;
    assert!(
        text.starts_with("bounded by its busiest die, 9") && text.contains(" % on average over all"),
        "{text}"
    );
}

#[test]
fn a_run_that_is_asked_to_end_completes_what_it_holds_and_says_so() {
    let config = small_drive();
    let workload = generator(100_000, MIX);
    for mode in [closed(16).loop_mode, LoopMode::Open] {
        let stop = lab::Stop::default();
        let spec = RunSpec { loop_mode: mode, stop: stop.clone(), ..closed(16) };
        let experiment = lab::Experiment { config: config.clone(), workload: &workload, spec };
        let mut ask = |at: lab::Progress| {
            if at.phase == lab::Phase::Running {
                stop.ask()
            }
        };
        let error = experiment.run(&mut ask).unwrap_err();
        assert_eq!(error.failure, Failure::Interrupted { phase: lab::Phase::Running });
        let result = error.result.unwrap();
        assert!(result.ended.starts_with("interrupted:"), "{}", result.ended);
        assert_eq!(result.requests_served, result.requests_generated);
        // Told after 2^15 requests, and taken note of with the next.
        assert!((32_768..33_768).contains(&result.requests_served), "{}", result.requests_served);
        assert_eq!(result.latency_ns.all.count, result.requests_served);
    }
}

#[test]
fn a_drive_being_made_ready_is_left_when_that_is_asked_for() {
    for phase in [lab::Phase::Filling, lab::Phase::Overwriting, lab::Phase::Ageing] {
        let mut config = small_drive();
        config.errors.model = ssd::sections::ErrorModel::Cells;
        let steps = lab::AgeSteps::parse(&["cycle to 100", "retain 1 days"]).unwrap();
        let stop = lab::Stop::default();
        let workload = generator(10, "");
        let spec = RunSpec { stop: stop.clone(), age: steps, ..closed(1) };
        let experiment = lab::Experiment { config, workload: &workload, spec };
        let mut ask = |at: lab::Progress| {
            if at.phase == phase {
                stop.ask()
            }
        };
        let error = experiment.run(&mut ask).unwrap_err();
        assert!(error.failure == Failure::Interrupted { phase } && error.result.is_none(), "{error}");
    }
}
