//! Whom the slowest requests waited for: it adds up, and names what the run without it does not suffer from.

use crate::common;

use common::{closed, generator, is_soak, open, run, small_drive, tiny_drive, with_every_policy};
use lab::{RunResult, RunSpec, Slowest, report};
use ssd::DriveConfig;
use ssd::config::Table;
use ssd::host::buffer;

const MIX: &str = "read_percent = 50\nsize_bytes = [[4096, 3], [16384, 1]]";

fn adds_up(result: &RunResult, what: &str) {
    let tail = result.tail.as_ref().unwrap_or_else(|| panic!("{what}: no tail"));
    let kinds = [(&tail.read, &result.latency_ns.read), (&tail.write, &result.latency_ns.write)];
    for (slowest, latency) in kinds {
        let Some(slowest) = slowest else {
            assert_eq!(latency.count, 0, "{what}");
            continue;
        };
        let all = (latency.mean.unwrap() * latency.count as f64).round() as u64;
        assert!(slowest.sum_ns.abs_diff(all) <= latency.count, "{what}: {} of {all} ns", slowest.sum_ns);
        assert_eq!(slowest.requests, latency.count, "{what}");
        assert_eq!(slowest.reasons.iter().map(|reason| reason.ns).sum::<u64>(), slowest.sum_ns, "{what}");
        assert_eq!(
            slowest.reasons.iter().map(|reason| reason.requests).sum::<u64>(),
            latency.count,
            "{what}"
        );
        for reason in &slowest.reasons {
            let told = if reason.what == "page" { reason.ns } else { 0 };
            assert_eq!(reason.went_to.iter().map(|part| part.ns).sum::<u64>(), told, "{what}");
        }
        let longest = slowest.reasons.iter().filter_map(|reason| reason.longest);
        assert_eq!(longest.map(|longest| longest.latency_ns).max(), latency.max, "{what}");
    }
}

/// Of all requests, under every policy, in a closed loop or an open one; and nothing else becomes of the run.
#[test]
fn reasons_add_up_under_every_policy() {
    let small = [0, 1].map(|_| (String::new(), small_drive()));
    let all = with_every_policy(&tiny_drive()).into_iter().chain(small);
    // The loops take turns; in `make soak` each policy has both.
    for (turn, (what, config)) in all.enumerate() {
        let loops = [closed(16), open()].into_iter().enumerate();
        for (_, spec) in loops.filter(|(at, _)| is_soak() || turn % 2 == *at) {
            let load = generator(400, &format!("{MIX}\narrival = \"poisson\"\nrate_iops = 4000"));
            let told = run(&config, &load, &RunSpec { explain_tail: 1e-4, ..spec.clone() });
            adds_up(&told, &what);
            assert_eq!(told.event_hash, run(&config, &load, &spec).event_hash, "{what}");
        }
    }
}

/// A drive that is written full at once has no page for most writes: cleaning's own work is told in place of that.
#[test]
fn what_making_room_went_to_is_told() {
    let config = small_drive();
    let spec = RunSpec { explain_tail: 50.0, ..closed(16) };
    let result = run(&config, &generator(4_000, "read_percent = 0\nsize_bytes = 16384"), &spec);
    let slowest = result.tail.as_ref().unwrap().write.as_ref().unwrap();
    let page = slowest.reasons.iter().find(|reason| reason.what == "page").unwrap();
    let of = |what: &str| page.went_to.iter().find(|part| part.what == what).map_or(0, |part| part.ns);
    let work = ["array.read.cleaning", "array.program.cleaning", "array.erase.cleaning"].map(of);
    assert!(page.share > 0.2 && work.iter().all(|ns| *ns > 0), "{page:#?}");
    // Hardly any of it is time in which nobody made room.
    assert!(of("page") * 10 < page.ns, "{page:#?}");
    assert!(report::table(&result).contains("    of it die busy: erase (GC)"));
}

/// The log of a run that is explained says of each request what it waited for last and who held it longest: of a read
/// from flash always, of no request longer than it took.
#[test]
fn the_log_tells_of_each_request_who_held_it() {
    let config = small_drive();
    let spec = RunSpec { explain_tail: 99.0, ..closed(16) };
    let (result, log) = common::Log::of_run("told.csv", &config, &generator(3_000, MIX), &spec);
    assert_eq!(log.rows.len(), 3_000);
    let (plain, _) = common::Log::of_run("plain.csv", &config, &generator(3_000, MIX), &closed(16));
    assert_eq!(plain.event_hash, result.event_hash);
    let column = |name: &str| log.texts(name).collect::<Vec<_>>();
    let (array, dies, holders) = (log.numbers("array_ns"), column("die"), column("holder"));
    let (latency, held) = (log.numbers("latency_ns"), log.numbers("held_ns"));
    let waits = ["die_wait_ns", "channel_wait_ns", "suspended_ns"].map(|part| log.numbers(part));
    let mut waited = 0;
    for at in 0..log.rows.len() {
        assert!(held[at] <= latency[at] && holders[at].is_empty() == (held[at] == 0), "{:?}", log.rows[at]);
        if array[at] > 0 {
            assert!(dies[at].parse::<u32>().is_ok_and(|die| die < 4), "{:?}", log.rows[at]);
        }
        let in_flash: u64 = waits.iter().map(|wait| wait[at]).sum();
        assert!(in_flash == 0 || held[at] > 0, "{:?}", log.rows[at]);
        waited += u32::from(in_flash > 0);
    }
    assert!(waited > 500, "{waited}");
}

#[test]
fn without_time_or_if_not_asked_for_nothing_is_told() {
    let load = || generator(200, MIX);
    assert_eq!(run(&small_drive(), &load(), &closed(8)).tail, None);
    let timeless = RunSpec { executor: ssd::Executor::Functional, explain_tail: 99.0, ..closed(8) };
    assert_eq!(run(&small_drive(), &load(), &timeless).tail, None);
}

fn slowest_reads(config: &DriveConfig, load: &str) -> (Slowest, u64) {
    let result = run(config, &generator(4_000, load), &RunSpec { explain_tail: 99.0, ..open() });
    (result.tail.unwrap().read.unwrap(), result.latency_ns.read.p99.unwrap())
}

/// What holds the slowest reads most, and how slow they are, where that is the cause and where it is taken away.
#[test]
fn the_cause_is_named_that_slows_reads_down() {
    let load = |more: &str| format!("arrival = \"poisson\"\nrate_iops = 300\n{more}");
    let mixed = load("read_percent = 80");
    // Erases that nothing stops.
    let mut erases = small_drive();
    erases.timing.t_erase_us = 40_000.0;
    let mut short = erases.clone();
    short.timing.t_erase_us = 500.0;
    // Programs that nothing stops.
    let mut programs = small_drive();
    programs.timing.t_program_us = programs.timing.t_program_us.iter().map(|us| us * 10.0).collect();
    programs.timing.t_erase_us = 500.0;
    programs.buffer = buffer::Config::None(buffer::none::Params::default());
    let mut stopped = programs.clone();
    stopped.preemption.select("immediate").unwrap();
    // A channel that is slow.
    let mut channel = small_drive();
    channel.channel.bandwidth_mb_s = 4.0;
    let mut quick = channel.clone();
    quick.channel.bandwidth_mb_s = 1_000.0;
    let cases = [
        ("array.erase.", &erases, &short, &mixed),
        ("array.program.", &programs, &stopped, &mixed),
        ("transfer.", &channel, &quick, &load("read_percent = 100\nsize_bytes = 16384")),
    ];
    for (cause, with, without, load) in cases {
        let (told, slow) = slowest_reads(with, load);
        let first = told.reasons.iter().find(|reason| !reason.what.starts_with("own.")).unwrap();
        assert!(first.what.starts_with(cause), "{cause}: {:#?}", told.reasons);
        let (_, quick) = slowest_reads(without, load);
        assert!(slow > 3 * quick, "{cause}: {slow} ns, without {quick}");
    }
}

/// A flush is a kind of request wherever requests are told by kind: a commit's milliseconds do not hide behind writes.
#[test]
fn flushes_are_told_as_reads_and_writes_are() {
    let spec = RunSpec { samples: 100, explain_tail: 99.0, ..closed(1) };
    let text = "#wordline 1 time_ns,op,lba,sectors,device,stream,file\n";
    let rows: String =
        (0..4_000).map(|at| format!("{at},W,{},8,0,0,0\n{at},F,0,0,0,0,0\n", at % 997 * 8)).collect();
    let path = common::fresh_path("tail-flushes.wl");
    std::fs::write(&path, format!("{text}{rows}")).unwrap();
    let result = run(&small_drive(), &workload::Spec::trace(&path).prepare().unwrap(), &spec);
    assert_eq!((result.writes, result.flushes), (4_000, 4_000));
    let (flush, write) = (&result.latency_ns.flush, &result.latency_ns.write);
    assert!(flush.p50 > write.p50, "{flush:?}");
    let spent: f64 = result.breakdown_ns.flush.iter().map(|(_, spent)| spent.mean.unwrap()).sum();
    assert!((spent - flush.mean.unwrap()).abs() < 1e-6 * spent, "{spent}, {flush:?}");
    let slowest = result.tail.as_ref().unwrap().flush.as_ref().unwrap();
    assert!(slowest.requests >= 40 && slowest.reasons[0].what.starts_with("array."), "{slowest:?}");
    let series = result.series.as_ref().unwrap();
    let at = |name: &str| series.column(name).unwrap();
    let flushes: u64 = series
        .rows
        .iter()
        .map(|row| match row[at("flushes")] {
            lab::SeriesValue::Number(number) => number,
            _ => 0,
        })
        .sum();
    assert_eq!(flushes, 4_000);
    let table = lab::report::table(&result);
    assert!(table.lines().next().unwrap().contains("IOPS (writes, flushes)"), "{table}");
    assert!(table.contains("of flushes within") && table.contains("of flushes: "), "{table}");
    let compared = lab::report::compare(&[result.clone(), result.clone()]);
    assert!(compared.contains("flush latency p99") && !compared.contains("trim latency"), "{compared}");
    assert!(lab::report::page(&result).contains("flushes"));
    // What took as long as the slowest is among them, and they are not called one of a thousand.
    let slowest = result.breakdown_ns.slowest.write.from_p99_9.unwrap();
    assert!(slowest > 400 && !table.contains("write          slowest .1 %"), "{slowest}: {table}");
}
