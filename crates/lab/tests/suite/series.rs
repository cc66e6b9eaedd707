//! Time series: they add up to what the run says, whatever the loop, the drive and the number of intervals.

use crate::common;

use common::{Log, closed, generator, open, run, small_drive, tiny_drive, with_every_policy};
use lab::{RunResult, RunSpec, SeriesValue, TimeSeries};
use ssd::counters::Count;
use ssd::host::buffer;
use ssd::{DriveConfig, Executor};

const MIX: &str = "read_percent = 50\nsize_bytes = [[4096, 3], [16384, 1]]";

fn numbers(series: &TimeSeries, name: &str) -> Vec<u64> {
    let column = series.column(name).unwrap_or_else(|| panic!("no column {name}"));
    let number = |row: &Vec<SeriesValue>| match row[column] {
        SeriesValue::Number(number) => number,
        SeriesValue::Nothing => 0,
        SeriesValue::Ratio(ratio) => panic!("{name}: {ratio}"),
    };
    series.rows.iter().map(number).collect()
}

fn sum(series: &TimeSeries, name: &str) -> u64 {
    numbers(series, name).iter().sum()
}

/// What is told of intervals is what is told of the run, and each interval begins where the last has ended.
fn adds_up(result: &RunResult, what: &str) {
    let series = result.series.as_ref().unwrap_or_else(|| panic!("{what}: no series"));
    let (starts, ends) = (numbers(series, "start_ns"), numbers(series, "end_ns"));
    assert_eq!(starts[0], 0, "{what}");
    assert!(starts[1..].iter().zip(&ends).all(|(start, end)| start == end), "{what}");
    assert!(ends[..ends.len() - 1].iter().zip(&starts).all(|(end, start)| end - start == series.interval_ns));
    assert!(ends.last().unwrap() >= &result.simulated_ns, "{what}");
    for counter in ssd::Reading::counters() {
        let told = &result.counters[counter.key];
        let found = numbers(series, counter.key);
        let found = if counter.adds_up() { found.iter().sum() } else { found[found.len() - 1] };
        // One that is told as a table of several things is one number here: their sum.
        assert_eq!(found, told.sum(), "{what}: {}", counter.key);
    }
    let programmed = ssd::flash::op::Cause::ALL.map(|cause| format!("bytes_programmed.{}", cause.name()));
    let programmed: u64 = programmed.iter().map(|name| sum(series, name)).sum();
    assert_eq!(programmed, result.flash.bytes_programmed.sum(), "{what}");
    for (name, of) in [("read", &result.latency_ns.read), ("write", &result.latency_ns.write)] {
        assert_eq!(sum(series, &format!("{name}s")), of.count, "{what}: {name}s");
        let longest = numbers(series, &format!("{name}_max_ns")).into_iter().max();
        assert_eq!(longest.filter(|ns| *ns > 0), of.max.filter(|ns| *ns > 0), "{what}: {name}s");
    }
    let each = |counter: &str| match &result.counters[counter] {
        Count::Each(counts) => counts.clone(),
        other => panic!("{counter}: {other:?}"),
    };
    for (at, counter) in ["flash.die_busy_ns", "flash.die_array_ns"].iter().enumerate() {
        for (die, told) in each(counter).into_iter().enumerate() {
            assert_eq!(series.dies.iter().map(|dies| dies[die][at]).sum::<u64>(), told, "{what}: die {die}");
        }
    }
    for (channel, told) in each("flash.channel_busy_ns").into_iter().enumerate() {
        let found: u64 = series.channels.iter().map(|channels| channels[channel]).sum();
        assert_eq!(found, told, "{what}: channel {channel}");
    }
}

fn ratios<'a>(series: &'a TimeSeries, name: &str) -> impl Iterator<Item = Option<f64>> + 'a {
    let at = series.column(name).unwrap();
    series.rows.iter().map(move |row| match row[at] {
        SeriesValue::Ratio(ratio) => Some(ratio),
        _ => None,
    })
}

fn sampled(config: &DriveConfig, requests: u64, spec: RunSpec, samples: u32) -> RunResult {
    run(config, &generator(requests, MIX), &RunSpec { samples, ..spec })
}

#[test]
fn series_add_up_to_the_run() {
    let timed = "read_percent = 50\narrival = \"poisson\"\nrate_iops = 20000";
    for samples in [1, 2, 7, 40, 1_000] {
        for (what, spec) in [("closed", closed(8)), ("warm", RunSpec { warm_up: 1_500, ..closed(8) })] {
            adds_up(&sampled(&small_drive(), 6_000, spec, samples), &format!("{what}, {samples}"));
        }
        let spec = RunSpec { samples, ..open() };
        adds_up(&run(&small_drive(), &generator(3_000, timed), &spec), &format!("open, {samples}"));
    }
}

#[test]
fn series_add_up_under_every_policy() {
    for (name, config) in with_every_policy(&tiny_drive()) {
        adds_up(&sampled(&config, 1_500, closed(16), 30), &name);
    }
}

/// Fewer intervals are longer, and the same run is told by them.
#[test]
fn intervals_become_longer_and_nothing_is_lost() {
    let results = [1_000, 64, 8].map(|samples| sampled(&small_drive(), 4_000, closed(8), samples));
    let series = results.each_ref().map(|result| result.series.as_ref().unwrap());
    assert_eq!(results[0].event_hash, results[2].event_hash);
    assert_eq!(series[0].interval_ns, 1_000_000);
    assert!(
        series[0].rows.len() > 64 && (32..=64).contains(&series[1].rows.len()),
        "{}",
        series[0].rows.len()
    );
    assert!((4..=8).contains(&series[2].rows.len()));
    for name in ["reads", "writes", "bytes_programmed.host", "flash.ops"] {
        let fine = numbers(series[0], name);
        for coarse in &series[1..] {
            let each = (coarse.interval_ns / series[0].interval_ns) as usize;
            let mut together: Vec<u64> = fine.chunks(each).map(|part| part.iter().sum()).collect();
            // The last is longer than the others, not shorter.
            if together.len() > coarse.rows.len() {
                let rest = together.pop().unwrap();
                *together.last_mut().unwrap() += rest;
            }
            assert_eq!(numbers(coarse, name), together, "{name}");
        }
    }
}

/// What stands on average is what Little's law says of the run; the last interval is a whole one; and write
/// amplification is that of the run, whatever the buffer keeps back meanwhile.
#[test]
fn averages_over_time_are_those_of_the_run() {
    let timed = "read_percent = 30\narrival = \"poisson\"\nrate_iops = 20000";
    for samples in [7, 60, 1_000] {
        let closed = sampled(&small_drive(), 20_000, closed(24), samples);
        let open = run(&small_drive(), &generator(6_000, timed), &RunSpec { samples, ..open() });
        for result in [closed, open] {
            let series = result.series.as_ref().unwrap();
            let lengths: Vec<u64> = numbers(series, "end_ns")
                .iter()
                .zip(numbers(series, "start_ns"))
                .map(|(end, start)| end - start)
                .collect();
            let shortest = lengths.iter().min().unwrap();
            assert!(lengths.len() == 1 || *shortest == series.interval_ns, "{lengths:?}");
            let inside: f64 = ratios(series, "commands_mean")
                .zip(&lengths)
                .map(|(mean, &ns)| mean.unwrap() * ns as f64)
                .sum();
            let (found, told) = (inside / result.simulated_ns as f64, result.in_flight_mean.unwrap());
            assert!((found / told - 1.0).abs() < 1e-6, "{samples}: {found} commands, {told}");
            let dirty: Vec<f64> = ratios(series, "dirty_units_mean").map(Option::unwrap).collect();
            assert!(
                dirty.iter().any(|mean| *mean > 0.0) && dirty.iter().all(|mean| *mean <= 1e4),
                "{dirty:?}"
            );
            let left = numbers(series, "bytes_left_buffer");
            let written = ratios(series, "write_amplification").zip(&left);
            let programmed: f64 = written.map(|(ratio, &left)| ratio.unwrap_or(0.0) * left as f64).sum();
            let all: u64 = numbers(series, "bytes_programmed.host").iter().sum();
            assert!(programmed >= all as f64 * 0.999_999, "{programmed} of {all} in all");
            // Data goes to flash in whole pages, and what is under way at an interval's end is a row for each die, and
            // the one behind it.
            let host = numbers(series, "bytes_programmed.host");
            let over = host.iter().zip(&left).map(|(host, left)| host.saturating_sub(*left)).max().unwrap();
            assert!(over <= 8 * 65_536, "{over} bytes more than left the buffer: {host:?}, {left:?}");
        }
    }
}

/// Against the request log: each interval's percentiles are those of what completed in it, up to 1/32 too long, however
/// often intervals have become one.
#[test]
fn percentiles_are_those_of_the_request_log() {
    for samples in [2, 8, 1_000] {
        let spec = RunSpec { samples, ..closed(8) };
        let name = format!("series-{samples}.csv");
        let (result, log) = Log::of_run(&name, &small_drive(), &generator(5_000, MIX), &spec);
        let series = result.series.as_ref().unwrap();
        let (ends, latencies) = (log.numbers("completion_ns"), log.numbers("latency_ns"));
        let ops: Vec<&str> = log.texts("op").collect();
        let mut told = 0;
        for (row, (start, end)) in
            numbers(series, "start_ns").into_iter().zip(numbers(series, "end_ns")).enumerate()
        {
            let last = row + 1 == series.rows.len();
            for kind in ["read", "write"] {
                let is_of = |at: usize| ops[at] == kind && ends[at] >= start && (ends[at] < end || last);
                let mut of: Vec<u64> =
                    (0..ends.len()).filter(|&at| is_of(at)).map(|at| latencies[at]).collect();
                of.sort_unstable();
                assert_eq!(
                    numbers(series, &format!("{kind}s"))[row],
                    of.len() as u64,
                    "{samples}: row {row}"
                );
                for (quantile, of_thousand) in [("p50", 500), ("p99", 990), ("p99_9", 999)] {
                    let found = numbers(series, &format!("{kind}_{quantile}_ns"))[row];
                    let Some(&exact) = of.get((of.len() * of_thousand).div_ceil(1_000).saturating_sub(1))
                    else {
                        continue;
                    };
                    assert!(
                        found >= exact && found - exact <= exact / 32,
                        "{samples}, {row}: {found}, {exact}"
                    );
                    told += 1;
                }
            }
        }
        assert!(told > 5, "{samples}: {told}");
    }
}

#[test]
fn without_time_or_if_not_asked_for_there_are_none() {
    assert_eq!(sampled(&small_drive(), 500, closed(8), 0).series, None);
    let timeless = RunSpec { executor: Executor::Functional, ..closed(8) };
    assert_eq!(sampled(&small_drive(), 500, timeless, 100).series, None);
}

/// Writes are complete in the buffer, and reach flash while nothing completes: that is told then, and not with the next
/// request, nor with the last.
#[test]
fn what_happens_between_requests_is_told_in_its_time() {
    let mut config = small_drive();
    config.buffer = buffer::lru_write::Params {
        size_mib: 2.0,
        flush_start_percent: 0.0,
        flush_stop_percent: 0.0,
        ..Default::default()
    }
    .into();
    let rare = "read_percent = 0\narrival = \"fixed\"\nrate_iops = 70\nsize_bytes = 16384";
    let [none, result] =
        [0, 1_000].map(|samples| run(&config, &generator(50, rare), &RunSpec { samples, ..open() }));
    assert_eq!(none.event_hash, result.event_hash);
    let series = result.series.as_ref().unwrap();
    let writes = numbers(series, "writes");
    assert_eq!(
        writes.iter().filter(|&&writes| writes > 0).count(),
        50,
        "intervals of 1 ms, requests every 14"
    );
    let is_busy = |row: usize| series.dies[row].iter().any(|[busy, _]| *busy > 0);
    let alone = (0..writes.len()).filter(|&row| writes[row] == 0 && is_busy(row)).count();
    let idle = (0..writes.len()).filter(|&row| !is_busy(row)).count();
    assert!(alone > 12 && idle > 300, "{alone} of {} at work without a request, {idle} idle", writes.len());
}

#[test]
fn tables_have_a_line_for_each_interval_and_part() {
    let result = sampled(&small_drive(), 3_000, closed(8), 100);
    let series = result.series.as_ref().unwrap();
    let [csv, dies, channels] = series.tables().map(|table| table.csv());
    assert_eq!(csv.lines().count(), series.rows.len() + 1);
    let fields = csv.lines().map(|line| line.split(',').count());
    assert!(fields.clone().all(|count| count == series.columns.len()), "{:?}", fields.collect::<Vec<_>>());
    assert_eq!(dies.lines().count(), 1 + 4 * series.rows.len());
    assert_eq!(channels.lines().count(), 1 + 2 * series.rows.len());
    assert!(series.columns.iter().all(|column| !column.doc.is_empty()));
}
