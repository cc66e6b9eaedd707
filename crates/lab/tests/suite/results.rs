//! What a result says, under which keys, and what becomes of a run that could not be finished.

use crate::common;

use common::{Log, closed, fresh_path, generator, run, small_drive, try_run};
use lab::{
    EraseCounts, Failure, Lifetime, Overwrite, Preconditioning, RunError, RunResult, RunSpec, Spent, report,
};
use serde_json::Value;
use ssd::config::Table as _;
use ssd::flash::op::Cause;
use ssd::{Part, Stats};
use std::collections::BTreeSet;

const MIX: &str = "read_percent = 60\nsize_bytes = [[4096, 3], [16384, 1]]";

/// All keys of an object that hold a value, those inside others with a dot. What stands under `failed_by_status`
/// depends on what failed, under `config` are the keys of configurations, and under `counters` those of the drive's
/// table.
fn keys(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) if !["failed_by_status", "config", "counters"].contains(&prefix) => {
            for (key, value) in members {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                keys(value, &path, found);
            }
        }
        _ => _ = found.insert(prefix.to_owned()),
    }
}

fn keys_of(result: &RunResult) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    keys(&serde_json::from_str(&result.to_json()).unwrap(), "", &mut found);
    found
}

/// What the host has written may all lie in the buffer: nothing is known of what it takes on flash, not even that it is
/// nothing.
#[test]
fn where_nothing_was_programmed_there_is_no_write_amplification() {
    let told = |count| {
        let result = run(&small_drive(), &generator(count, "read_percent = 0"), &closed(1));
        let parts: Vec<Option<f64>> =
            result.write_amplification_by_cause.iter().map(|(_, part)| *part).collect();
        (result.flash.bytes_programmed.sum(), result.write_amplification, parts)
    };
    let (programmed, all, parts) = told(1);
    assert!(
        programmed == 0 && all.is_none() && parts.iter().all(Option::is_none),
        "{programmed} {all:?} {parts:?}"
    );
    let (programmed, all, parts) = told(5_000);
    assert!(
        programmed > 0 && all.is_some() && parts.iter().all(Option::is_some),
        "{programmed} {all:?} {parts:?}"
    );
}

/// Keys are a promise: a script that reads one today reads it tomorrow. To add one, add it to the file (and to
/// `docs/results.md`); to take one away or change its meaning, count `FORMAT` up as well.
#[test]
fn keys_are_those_of_the_golden_list() {
    let found = keys_of(&run(&small_drive(), &generator(2_000, MIX), &closed(8)));
    let golden: BTreeSet<String> =
        include_str!("golden/result_keys.txt").lines().map(str::to_owned).collect();
    let missing: Vec<_> = golden.difference(&found).collect();
    let new: Vec<_> = found.difference(&golden).collect();
    assert!(missing.is_empty() && new.is_empty(), "missing: {missing:#?}, new: {new:#?}");
}

#[test]
fn keys_do_not_depend_on_the_run() {
    let base = keys_of(&run(&small_drive(), &generator(500, MIX), &closed(8)));
    let reads = run(&small_drive(), &generator(500, "read_percent = 100"), &closed(8));
    let timeless = RunSpec { executor: ssd::Executor::Functional, ..RunSpec::default() };
    let timeless = run(&small_drive(), &generator(500, "read_percent = 0"), &timeless);
    assert_eq!((keys_of(&reads), keys_of(&timeless)), (base.clone(), base));
    assert_eq!(
        (reads.write_amplification, timeless.iops.all, timeless.latency_ns.read.mean),
        (None, None, None)
    );
}

#[test]
fn every_counter_reaches_the_result() {
    let result = run(&small_drive(), &generator(2_000, MIX), &closed(8));
    let found: Vec<&String> = result.counters.keys().collect();
    let mut keys: Vec<&str> = Stats::all_counters().map(|counter| counter.key).collect();
    keys.sort_unstable();
    assert_eq!(found, keys);
    let value = |key: &str| result.counters[key].sum();
    assert_eq!(value("ftl.host_units"), result.ftl.host_units);
    assert_eq!(value("host.read_bytes"), result.bytes_read);
    assert!(value("ftl.host_units") > 0 && value("ftl.host_reads_by_type") > 0 && value("flash.ops") > 0);
    let golden = include_str!("golden/result_keys.txt");
    for key in Stats::all_counters().filter_map(|counter| counter.told_in) {
        let is_key = |line: &str| line == key || line.starts_with(&format!("{key}."));
        assert!(golden.lines().any(is_key), "{key} is no key of a result");
    }
}

#[test]
fn a_result_reads_back_as_it_was_written() {
    let workload = generator(3_000, MIX);
    let result = run(&small_drive(), &workload, &RunSpec { name: "small".to_owned(), ..closed(8) });
    let folder = fresh_path("report");
    let config = small_drive().to_toml();
    let files = report::write(&folder, &result, &config).unwrap();
    let names: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    let plots = ["latency", "breakdown", "victims"];
    let plots =
        plots.iter().flat_map(|plot| ["svg", "pdf", "txt", "csv"].map(|ending| format!("{plot}.{ending}")));
    let others = ["result.json", "config.toml"].map(str::to_owned);
    let page = "report.html".to_owned();
    assert_eq!(names, others.into_iter().chain(plots).chain([page]).collect::<Vec<_>>());
    assert!(files.iter().all(|path| path.is_file()));
    assert_eq!(RunResult::load(&folder).unwrap(), result);
    assert_eq!(RunResult::load(&folder.join("result.json")).unwrap(), result);
    assert_eq!(std::fs::read_to_string(folder.join("config.toml")).unwrap(), config);
}

/// A line for each block, and what they add up to is what the result says.
#[test]
fn blocks_are_a_table_beside_the_result() {
    let config = small_drive();
    let workload = generator(9_000, "read_percent = 20");
    let mut drive = ssd::Drive::new(&config).unwrap();
    let mut result = lab::run_prepared(&mut drive, &config, &workload, &closed(8), &mut |_| {}).unwrap();
    result.blocks = Some(lab::BlockTable::of(&drive));
    let folder = fresh_path("blocks");
    let files = report::write(&folder, &result, &config.to_toml()).unwrap();
    assert!(files.contains(&folder.join("blocks.csv")));
    let table = Log::parse(&std::fs::read_to_string(folder.join("blocks.csv")).unwrap());
    let wear = &result.erase_count;
    assert_eq!(table.rows.len() as u32, wear.blocks + wear.retired);
    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    let (erases, live) = (table.numbers("erases"), table.numbers("live_units"));
    assert_eq!((erases.iter().sum::<u64>(), erases.iter().max()), (wear.total, Some(&u64::from(wear.max))));
    // The drive was filled, and what is in the buffer has not died in flash yet.
    assert_eq!(live.iter().sum::<u64>(), u64::from(drive.logical_units()));
    let states = table.counts("state");
    assert!(states["closed"] > 150 && states["free"] > 0 && !states.contains_key("bad"), "{states:?}");
    for (age, state) in table.texts("age_units").zip(table.texts("state")) {
        assert_eq!(age.is_empty(), ["free", "open", "erasing"].contains(&state), "{state}: {age:?}");
    }
    assert!(table.texts("disturbed_q12").all(str::is_empty), "cells do not age");
}

/// Results of earlier versions of the same format lack the keys that came later.
#[test]
fn results_without_the_newer_keys_are_read() {
    let result = run(&small_drive(), &generator(3_000, MIX), &closed(8));
    let mut value: Value = serde_json::from_str(&result.to_json()).unwrap();
    let without = |value: &mut Value, path: &str| {
        let (place, key) = path.rsplit_once('/').unwrap();
        let object = value.pointer_mut(place).and_then(Value::as_object_mut).unwrap();
        assert!(object.remove(key).is_some(), "{path}");
    };
    value["format"] = 1.into();
    for path in [
        "/error_model",
        "/requests_uncorrectable",
        "/flash/retries",
        "/flash/uncorrectable",
        "/ftl/lost_units",
        "/buffer/unmapped_read_share",
        "/lifetime",
        "/config",
        "/preconditioning/bytes_written",
        "/breakdown_ns/read/decode",
        "/breakdown_ns/write/decode",
        "/breakdown_ns/read/link_wait",
        "/breakdown_ns/write/lock_wait",
        "/flash/reads/read_reclaim",
        "/ftl/moved_units/read_reclaim",
        "/ftl/stream",
        "/ftl/victims",
        "/ftl/gc_time_ns",
        "/write_amplification_by_cause/read_reclaim",
    ] {
        without(&mut value, path);
    }
    let folder = fresh_path("older");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("result.json"), value.to_string()).unwrap();
    let mut older = RunResult::load(&folder).unwrap();
    assert_eq!(std::mem::replace(&mut older.format, result.format), 1);
    assert_eq!((&older.lifetime, older.config.len()), (&Lifetime::default(), 0));
    (older.lifetime, older.config) = (result.lifetime.clone(), result.config.clone());
    assert_eq!(std::mem::take(&mut older.preconditioning.bytes_written), 0);
    older.preconditioning.bytes_written = result.preconditioning.bytes_written;
    assert_eq!(older.breakdown_ns.read[ssd::Part::Decode], lab::Spent::default());
    assert_eq!(older.write_amplification_by_cause[ssd::flash::op::Cause::ReadReclaim], None);
    older.write_amplification_by_cause = result.write_amplification_by_cause.clone();
    older.breakdown_ns = result.breakdown_ns.clone();
    assert_eq!(older.buffer.unmapped_read_share, None);
    older.buffer = result.buffer;
    assert_eq!((older.ftl.victims.all(), older.ftl.gc_time_ns, older.ftl.stream.policy.as_str()), (0, 0, ""));
    older.ftl = result.ftl.clone();
    assert_eq!(older, result);
    assert!(!older.has_errors());
}

/// What is told of victims agrees with what else is told of cleaning.
#[test]
fn victims_are_those_that_cleaning_erased() {
    let result = run(&small_drive(), &generator(60_000, "read_percent = 0"), &closed(8));
    let (victims, flash) = (&result.ftl.victims, &result.flash);
    assert_eq!((victims.count.len(), victims.count[0]), (1, victims.histogram.iter().sum()));
    assert_eq!(victims.all_dead(), victims.histogram[0]);
    // What was chosen and what was erased differ by what is under way at either end.
    let [chosen, erased] = [victims.all(), result.ftl.reclaimed_blocks].map(|count| count as f64);
    assert!(chosen > 100.0 && (chosen - erased).abs() < 20.0, "{chosen} {erased}");
    let copied = victims.copied().unwrap() * chosen;
    let moved = result.ftl.moved_units[Cause::Cleaning] as f64;
    // Some units die on their way.
    assert!(copied >= moved && copied < 1.05 * moved, "{copied} {moved}");
    let timing = &small_drive().timing;
    let [read, program] = [&timing.t_read_us, &timing.t_program_us].map(|us| us[0]);
    let us = flash.reads[Cause::Cleaning] as f64 * read
        + flash.programs[Cause::Cleaning] as f64 * program
        + flash.erases[Cause::Cleaning] as f64 * timing.t_erase_us;
    assert!((result.ftl.gc_time_ns as f64 / 1e3 / us - 1.0).abs() < 1e-9);
    assert_eq!(result.ftl.stream.units.len(), 2);
    assert_eq!(result.ftl.stream.units[0], result.ftl.host_units);
}

/// The remark with this beginning of a sentence in it, if the run made it.
fn remark<'a>(result: &'a RunResult, text: &str) -> Option<&'a str> {
    result.remarks.iter().map(String::as_str).find(|remark| remark.contains(text))
}

#[test]
fn reads_that_find_nothing_are_counted_and_remarked() {
    let half = Preconditioning { fill_percent: 50.0, ..Preconditioning::default() };
    let reads = generator(4_000, "read_percent = 100");
    let result = run(&small_drive(), &reads, &RunSpec { preconditioning: half, ..closed(8) });
    let share = result.buffer.unmapped_read_share.unwrap();
    assert!((share - 0.5).abs() < 0.03, "{share}");
    assert_eq!(share, result.buffer.unmapped_reads as f64 / 4_000.0, "all reads are of one unit");
    let expected = result.buffer.unmapped_reads;
    let text = remark(&result, "were never written").expect("a remark");
    let grouped = format!("{},{:03} of 4,000 units read", expected / 1_000, expected % 1_000);
    assert!(text.starts_with(&grouped), "{text}");
    assert!(report::table(&result).contains(text), "tables show it");
    let filled = run(&small_drive(), &reads, &closed(8));
    assert_eq!((filled.buffer.unmapped_read_share, remark(&filled, "never written")), (Some(0.0), None));
    let writes = run(&small_drive(), &generator(4_000, "read_percent = 0"), &closed(8));
    assert_eq!(writes.buffer.unmapped_read_share, None, "nothing was read");
}

/// Pages of four units, of which one dies at a time: three move for its lock. Where nothing lives beside the dead, and
/// where nothing is locked, nothing moves.
#[test]
fn a_drive_that_moves_data_for_its_locks_says_so() {
    let writes = generator(4_000, "read_percent = 0");
    let told = |policy: &str, unit| {
        let mut config = small_drive();
        (config.mapping.unit, config.geometry.page_bytes) = (unit, 16_384);
        config.sanitize.select(policy).unwrap();
        let result = run(&config, &writes, &closed(8));
        let text = remark(&result, "which policy none would not have moved").map(str::to_owned);
        (result.flash.programs[Cause::Sanitize], result.flash.programs.sum(), text)
    };
    use ssd::sections::MappingUnit::{FourKib, Page};
    let (own, all, text) = told("page_lock", FourKib);
    let text = text.unwrap_or_else(|| panic!("{own} of {all} pages"));
    assert!(own * 5 > all, "{own} of {all}");
    assert!(
        text.contains("because something beside them had become invalid") && text.contains("page_lock"),
        "{text}"
    );
    for (policy, unit) in [("page_lock", Page), ("none", FourKib)] {
        let (own, _, text) = told(policy, unit);
        assert_eq!((own, text), (0, None), "{policy} {unit:?}");
    }
}

#[test]
fn a_run_that_wrote_too_little_says_how_little() {
    const LITTLE: &str = "too little to judge write amplification";
    let logical_units = u64::from(ssd::Drive::new(&small_drive()).unwrap().logical_units());
    let writes = |count: u64| generator(count, "read_percent = 0");
    let few = run(&small_drive(), &writes(logical_units / 4), &closed(8));
    let erases = few.flash.erases.sum();
    let text = remark(&few, LITTLE).expect("a quarter of the drive, not aged to steady state");
    assert!(
        text.starts_with(&format!("wrote 25 % of the drive, with {erases} erases of 400 blocks")),
        "{text}"
    );
    let many = run(&small_drive(), &writes(logical_units), &closed(8));
    assert_eq!(remark(&many, LITTLE), None, "the whole drive was written");
    let overwrite = Overwrite::SteadyState { change_percent: 50.0, times_at_most: 4.0 };
    let steady = RunSpec { preconditioning: Preconditioning { overwrite, ..common::used() }, ..closed(8) };
    let aged = run(&small_drive(), &writes(logical_units / 4), &steady);
    assert_eq!(aged.preconditioning.steady, Some(true));
    assert!(aged.flash.erases.sum() >= 20, "5 % of the blocks: {}", aged.flash.erases.sum());
    assert_eq!(remark(&aged, LITTLE), None, "steady before, and cleaned enough");
    let fewer = run(&small_drive(), &writes(logical_units / 400), &steady);
    assert!(fewer.flash.erases.sum() < 20 && remark(&fewer, LITTLE).is_some(), "{:?}", fewer.remarks);
    let reads = run(&small_drive(), &generator(1_000, "read_percent = 100"), &closed(8));
    assert_eq!(remark(&reads, LITTLE), None, "no write amplification, nothing to remark");
}

#[test]
fn a_file_that_is_no_result_is_an_error_with_its_path() {
    let folder = fresh_path("no-results");
    std::fs::create_dir_all(&folder).unwrap();
    let error = RunResult::load(&folder).unwrap_err().to_string();
    assert!(error.contains("result.json") && error.contains("cannot read"), "{error}");
    for (text, what) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("[true]", "invalid type"),
        ("{\"format\": 999}", "format 999"),
        ("{\"format\": 1}", "missing field"),
    ] {
        let file = folder.join("result.json");
        std::fs::write(&file, text).unwrap();
        let error = RunResult::load(&folder).unwrap_err().to_string();
        assert!(error.contains("cannot understand") && error.contains(what), "{text}: {error}");
    }
}

/// A drive that wears out within the run.
fn wearing_out() -> Result<RunResult, RunError> {
    let mut config = small_drive();
    config.reliability.endurance_cycles = 1_000;
    let preconditioning = Preconditioning {
        fill_percent: 100.0,
        overwrite: Overwrite::Times(1.0),
        erase_counts: EraseCounts::Equal(999),
        ..Preconditioning::default()
    };
    try_run(&config, &generator(500_000, "read_percent = 30"), &RunSpec { preconditioning, ..closed(16) })
}

#[test]
fn a_drive_that_becomes_read_only_ends_the_run_and_keeps_what_was_measured() {
    let error = wearing_out().unwrap_err();
    assert_eq!(error.failure, Failure::ReadOnly { reason: ssd::Reason::WornOut });
    let text = error.to_string();
    assert!(text.contains("read-only") && text.contains("worn out"), "{text}");
    let result = error.result.unwrap();
    assert!(result.ended.starts_with("read_only: ") && !result.is_complete(), "{}", result.ended);
    assert!(
        result.requests_served > 10_000 && result.requests_served < 500_000,
        "{}",
        result.requests_served
    );
    assert_eq!(result.requests_served, result.requests_generated, "none is left behind");
    assert!(result.failed_by_status["read_only"] > 0);
    assert_eq!(result.requests_failed, result.failed_by_status.values().sum::<u64>());
    assert_eq!(result.reads + result.writes, result.requests_served);
    assert!(result.erase_count.retired > 0 && result.flash.erase_fails > 0);
    assert!(report::table(&result).contains("read_only"));
}

#[test]
fn requests_beyond_the_drive_get_their_status_and_do_not_end_the_run() {
    struct Beyond(u64);
    impl workload::Source for Beyond {
        fn next(&mut self) -> Result<Option<workload::Request>, workload::WorkloadError> {
            self.0 += 1;
            let lba = if self.0.is_multiple_of(2) { 1 << 40 } else { 8 };
            let request = workload::Request { lba, sectors: 8, ..workload::Request::default() };
            Ok((self.0 <= 100).then_some(request))
        }
        fn len_hint(&self) -> Option<u64> {
            None
        }
        fn report(&self) -> workload::SourceReport {
            workload::SourceReport::default()
        }
    }
    let config = small_drive();
    let mut drive = ssd::Drive::new(&config).unwrap();
    let result = lab::run(&mut drive, &config, &mut Beyond(0), &closed(4), &mut |_| {}).unwrap();
    assert_eq!((result.requests_served, result.reads, result.requests_failed), (100, 100, 50));
    assert_eq!(result.failed_by_status["lba_out_of_range"], 50);
    assert_eq!(result.latency_ns.read.count, 50, "latencies are those of requests that were done");
}

#[test]
fn a_workload_that_breaks_off_is_an_error_after_what_came_before() {
    struct Broken(u64);
    impl workload::Source for Broken {
        fn next(&mut self) -> Result<Option<workload::Request>, workload::WorkloadError> {
            self.0 += 1;
            if self.0 <= 1_000 {
                return Ok(Some(workload::Request { sectors: 8, ..workload::Request::default() }));
            }
            Err(workload::Problem::Changed { file: "some.trace".to_owned() }.into())
        }
        fn len_hint(&self) -> Option<u64> {
            None
        }
        fn report(&self) -> workload::SourceReport {
            workload::SourceReport::default()
        }
    }
    let config = small_drive();
    let mut drive = ssd::Drive::new(&config).unwrap();
    let error = lab::run(&mut drive, &config, &mut Broken(0), &closed(4), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("some.trace"), "{error}");
    let result = error.result.unwrap();
    assert_eq!((result.requests_generated, result.requests_served), (1_000, 1_000));
    assert!(result.ended.starts_with("workload: "), "{}", result.ended);
}

#[test]
fn a_policy_that_has_moved_nothing_says_how_many_reads_are_missing() {
    let mut config = small_drive();
    config.errors.model = ssd::sections::ErrorModel::Cells;
    let preconditioning = Preconditioning { fill_percent: 100.0, ..Preconditioning::default() };
    let executor = ssd::Executor::Functional;
    let spec = RunSpec { preconditioning, executor, ..closed(1) };
    let reads = |policy: &str, count: u64| {
        let mut config = config.clone();
        config.read_reclaim = ssd::ftl::read_reclaim::Config::named(policy).unwrap();
        run(&config, &generator(count, "read_percent = 100\nsize_bytes = 4096\nfootprint_percent = 1"), &spec)
    };
    const NOTHING: &str = "no data moved because of reads";
    assert_eq!(remark(&reads("never", 20_000), NOTHING), None, "it never will");
    let few = reads("block", 20_000);
    let text = remark(&few, NOTHING).expect("a few reads of each page");
    let missing = text.split("up to ").nth(1).and_then(|rest| rest.split(" more page reads").next()).unwrap();
    let missing: u64 = missing.replace(',', "").parse().unwrap();
    // With as many more the first block moves: sooner, since the policy thinks of the weakest page.
    let many = reads("block", 20_000 + missing);
    assert!(many.ftl.read_reclaim.pages > 0, "after {missing} more: {:?}", many.ftl.read_reclaim);
    assert_eq!(remark(&many, NOTHING), None);
}

#[test]
fn the_whole_configuration_is_in_the_result() {
    let config = small_drive();
    let result = run(&config, &generator(500, MIX), &closed(8));
    assert_eq!(result.config["nand.geometry.channels"], 2);
    assert_eq!(result.config["ftl.gc_victim.policy"], config.gc_victim.name());
    assert_eq!(result.config["drive.over_provisioning_percent"], 20.0);
    let workload = workload::Spec::parse("pattern = \"uniform\"\ncount = 500\nread_percent = 60").unwrap();
    let of_run = lab::RunConfig { depth: 8, fill_percent: 50.0, ..Default::default() };
    let result = run(&config, &workload.prepare().unwrap(), &of_run.spec(&workload));
    assert_eq!(
        (&result.config["run.depth"], &result.config["workload.pattern"]),
        (&8.into(), &"uniform".into())
    );
    assert_eq!(result.config["workload.read_percent"], 60.0);
}

#[test]
fn a_comparison_tells_what_was_set_differently() {
    let result = |policy: &str, channels: u32| {
        let mut config = small_drive();
        config.geometry.channels = channels;
        ssd::config::Table::select(&mut config.gc_victim, policy).unwrap();
        run(&config, &generator(500, MIX), &RunSpec { name: policy.to_owned(), ..closed(8) })
    };
    let (greedy, fifo) = (result("greedy", 2), result("fifo", 4));
    let text = report::compare(&[greedy.clone(), fifo]);
    let line = |key: &str| {
        let found =
            text.lines().find(|line| line.starts_with(key)).map(|line| line.split_whitespace().collect());
        found.unwrap_or_else(Vec::new)
    };
    assert_eq!(line("configuration "), ["configuration", "greedy", "fifo"]);
    assert_eq!(line("ftl.gc_victim.policy"), ["ftl.gc_victim.policy", "greedy", "fifo"]);
    assert_eq!(line("nand.geometry.channels"), ["nand.geometry.channels", "2", "4"]);
    assert!(line("nand.geometry.blocks_per_plane").is_empty(), "the same in both:\n{text}");
    let same = report::compare(&[greedy.clone(), greedy.clone()]);
    assert!(!same.contains("configuration ") && same.contains("configurations are the same"), "{same}");
    let older = RunResult { config: lab::Settings::new(), ..greedy.clone() };
    assert!(report::compare(&[greedy, older]).contains("earlier version"));
}

#[test]
fn a_drive_that_wears_out_tells_its_lifetime() {
    let mut config = small_drive();
    config.reliability.endurance_cycles = 8;
    let spec = RunSpec { warm_up: 1_000, ..closed(16) };
    let result =
        try_run(&config, &generator(900_000, "read_percent = 0"), &spec).unwrap_err().result.unwrap();
    let Lifetime { tbw: Some(tbw), dwpd: Some(dwpd), basis, .. } = &result.lifetime else {
        panic!("{:?}", result.lifetime)
    };
    // The warm-up and the measurement write 4 KiB at a time, all but the last few in success.
    let before = result.preconditioning.bytes_written;
    let units = result.preconditioning.units_filled + result.preconditioning.units_overwritten;
    assert_eq!(before, units * 4_096);
    assert!(result.preconditioning.bytes_programmed >= before);
    let written = before + 1_000 * 4_096 + result.bytes_written;
    assert_eq!(*tbw, written as f64 / 1e12);
    let days = 5.0 * 365.0;
    assert!((dwpd * days * result.drive.logical_bytes as f64 / written as f64 - 1.0).abs() < 1e-9);
    assert!(basis.contains(&written.to_string()) && basis.contains("5 years (assumed)"), "{basis}");
    assert!(report::table(&result).contains("until worn out"));
    let used = RunSpec { was_used: true, ..spec };
    let used = try_run(&config, &generator(900_000, "read_percent = 0"), &used).unwrap_err().result.unwrap();
    assert!(used.lifetime.basis.contains("used before"), "{}", used.lifetime.basis);
    let well = run(&small_drive(), &generator(500, MIX), &closed(8));
    assert_eq!((well.lifetime.tbw, well.lifetime.basis.as_str()), (None, "not worn out"));
}

/// The second number is a part of the first, in results and in comparisons, under every policy.
#[test]
fn pages_moved_too_early_are_some_of_those_moved() {
    let (mut moved, mut early) = (0, 0);
    let family = ssd::policy::family("ftl/read_reclaim").unwrap();
    for policy in family.members.iter().map(|member| member.name) {
        let mut config = small_drive();
        config.errors.model = ssd::sections::ErrorModel::Cells;
        // Some policies use wordlines in a mode that holds less.
        config.drive.over_provisioning_percent = 250.0;
        if ssd::config::Table::select(&mut config.read_reclaim, policy).is_err() {
            continue;
        }
        let steps = lab::AgeSteps::parse(&["cycle to 3000", "disturb 100000 reads"]).unwrap();
        let spec = RunSpec { age: steps, executor: ssd::Executor::Functional, ..closed(1) };
        let outcome = try_run(&config, &generator(60_000, "read_percent = 80"), &spec);
        let result = outcome
            .unwrap_or_else(|error| *error.result.unwrap_or_else(|| panic!("{policy}: {:?}", error.failure)));
        let work = &result.ftl.read_reclaim;
        assert!(work.premature_pages <= work.pages, "{policy}: {work:?}");
        (moved, early) = (moved + work.pages, early + work.premature_pages);
        let text = report::compare(std::slice::from_ref(&result));
        let shown = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).is_some();
        assert_eq!(shown("pages moved for reads"), policy != "never", "{text}");
    }
    assert!(moved > 1_000 && early > 0, "{moved} pages moved, {early} too early");
}

/// Against the request log: the parts of the slowest add up to the mean latency of those that are at least as slow as
/// the percentile, and of what lies within 1/32 of it; and so at the other end.
#[test]
fn where_the_time_of_the_slowest_went_is_where_the_log_says() {
    let spec = RunSpec { samples: 100, ..closed(16) };
    let (result, log) = Log::of_run("slowest.csv", &small_drive(), &generator(20_000, MIX), &spec);
    let (latencies, ops) = (log.numbers("latency_ns"), log.texts("op").collect::<Vec<_>>());
    for (kind, spent, all) in [
        ("read", &result.breakdown_ns.read, &result.latency_ns.read),
        ("write", &result.breakdown_ns.write, &result.latency_ns.write),
    ] {
        let of: Vec<usize> = (0..ops.len()).filter(|&at| ops[at] == kind).collect();
        let mean = |column: &[u64], is_meant: &dyn Fn(u64) -> bool| {
            let found: Vec<u64> =
                of.iter().filter(|&&at| is_meant(latencies[at])).map(|&at| column[at]).collect();
            found.iter().sum::<u64>() as f64 / found.len() as f64
        };
        let sum = |of: fn(&Spent) -> Option<f64>| {
            Part::ALL.map(|part| of(&spent[part]).unwrap()).iter().sum::<f64>()
        };
        let [p50, p99, p99_9] = [all.p50, all.p99, all.p99_9].map(Option::unwrap);
        for (found, at) in [(sum(|part| part.mean_from_p99), p99), (sum(|part| part.mean_from_p99_9), p99_9)]
        {
            // The percentiles of the result are up to 1/1000 too long.
            let most = mean(&latencies, &|ns| ns >= at);
            let least = mean(&latencies, &|ns| ns as f64 >= at as f64 * 30.9 / 32.0);
            assert!((least - 1.0..=most + 1.0).contains(&found), "{kind}: {least} {found} {most}");
        }
        let found = sum(|part| part.mean_to_p50);
        let least = mean(&latencies, &|ns| ns as f64 <= p50 as f64 * 0.998);
        let most = mean(&latencies, &|ns| ns as f64 <= p50 as f64 * 33.1 / 32.0);
        assert!((least - 1.0..=most + 1.0).contains(&found), "{kind}: {least} {found} {most}");
        // What differs is told apart: the slowest wait longer for what they wait for.
        assert!(sum(|part| part.mean_from_p99) > 1.5 * found, "{kind}");
        let most = Part::ALL
            .into_iter()
            .max_by(|&a, &b| spent[a].mean_from_p99_9.partial_cmp(&spent[b].mean_from_p99_9).unwrap());
        let part = most.unwrap();
        let column = log.numbers(&format!("{}_ns", part.name()));
        let exact = mean(&column, &|ns| ns >= p99_9);
        let told = spent[part].mean_from_p99_9.unwrap();
        assert!((told / exact - 1.0).abs() < 0.1, "{kind} {}: {told}, {exact} in the log", part.name());
    }
}
