//! Remarks and verdicts hold beside the numbers that stand below them.

use crate::common;

use common::{closed, fresh_path, generator, open, run, small_drive, soaked, used};
use lab::{Caution, LoopMode, Overwrite, Preconditioning, RunResult, RunSpec};
use ssd::config::{Table, Value};
use ssd::flash::op::Cause;
use workload::{Prepared, Spec};

/// A job file of the whole drive.
fn jobs(name: &str, text: &str) -> Prepared {
    let path = fresh_path(&format!("remarks-{name}.fio"));
    std::fs::write(&path, format!("[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\n{text}"))
        .unwrap();
    Spec::fio(path.display().to_string()).prepare().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn of_jobs(name: &str, text: &str) -> RunResult {
    run(&small_drive(), &jobs(name, text), &RunSpec { preconditioning: used(), ..RunSpec::default() })
}

/// What a remark or a verdict says must hold for the result that it stands in.
fn holds(result: &RunResult) {
    let told = format!("{}: {:?}, {:?}", result.name, result.remarks, result.verdict);
    let copied = result.flash.programs[Cause::Cleaning];
    let is_effectless = result.remarks.iter().any(|remark| remark.contains("no visible effect"));
    assert!(!is_effectless || copied == 0, "{copied} pages programmed for cleaning: {told}");
    let is_uncleaned = result.remarks.iter().any(|remark| remark.contains("nothing was collected"));
    assert!(!is_uncleaned || result.ftl.victims.all() == 0, "{told}");
    weighed(result);
    let verdict = &result.verdict;
    let has_arrivals = result.loop_mode == "open";
    assert!(!has_arrivals || verdict.state != "closed", "{told}");
    assert!(
        !verdict.text.contains("number of requests in flight") || result.loop_mode.starts_with("closed"),
        "{told}"
    );
    assert!(!verdict.text.contains(": 0 requests/s arrive"), "{told}");
    // What piles up does not end with its arrivals, and is told by its own time.
    let is_overloaded = verdict.state == "overloaded";
    let problems: Vec<&str> = result.problems.iter().map(|problem| problem.name.as_str()).collect();
    assert_eq!(is_overloaded, problems.contains(&"overloaded"), "{told}");
    let text = lab::report::table(result);
    let first = text.lines().next().unwrap();
    assert!(!is_overloaded || !first.contains("not stationary: latency"), "{first}");
}

/// Each remark is a caution or a note, and a result that does not say which is read in the same way.
fn weighed(result: &RunResult) {
    let texts = |of: &RunResult| of.cautions().iter().map(Caution::to_string).collect::<Vec<_>>();
    let cautions = texts(result);
    assert!(
        result.cautions.is_some() && cautions.iter().all(|told| result.remarks.contains(told)),
        "{result:?}"
    );
    let mut all: Vec<&str> = cautions.iter().map(String::as_str).chain(result.notes()).collect();
    let mut remarks: Vec<&str> = result.remarks.iter().map(String::as_str).collect();
    all.sort_unstable();
    remarks.sort_unstable();
    assert_eq!(all, remarks);
    let mut older: serde_json::Value = serde_json::from_str(&result.to_json()).unwrap();
    assert!(older.as_object_mut().unwrap().remove("cautions").is_some());
    let older = RunResult::of_json(&older.to_string()).unwrap();
    assert_eq!((older.cautions.as_ref(), texts(&older), older.notes()), (None, cautions, result.notes()));
}

/// All kinds of load on drives with all kinds of past, of many lengths.
#[test]
fn no_remark_is_refuted_by_the_table_below_it() {
    let mut with_copies = 0;
    for seed in 0..soaked(24) {
        let pick = |from: &[u64], by: u64| from[(seed / by) as usize % from.len()];
        let (reads, count) = (pick(&[0, 50, 0, 95, 100], 1), pick(&[300, 8_000, 25_000], 2));
        let past = match seed % 4 {
            0 => Preconditioning::default(),
            1 => Preconditioning { fill_percent: 100.0, ..Preconditioning::default() },
            2 => used(),
            _ => Preconditioning { overwrite: Overwrite::Times(3.0), ..used() },
        };
        let arrival = match seed % 3 {
            0 => String::new(),
            1 => "arrival = \"poisson\"\nrate_iops = 1_000\n".to_owned(),
            _ => "arrival = \"poisson\"\nrate_iops = 400_000\n".to_owned(),
        };
        let spec = if arrival.is_empty() { closed(pick(&[1, 16, 128], 4) as u32) } else { open() };
        let workload = generator(count, &format!("read_percent = {reads}\nseed = {seed}\n{arrival}"));
        let result = run(&small_drive(), &workload, &RunSpec { preconditioning: past, ..spec });
        with_copies += u32::from(result.flash.programs[Cause::Cleaning] > 0);
        holds(&result);
    }
    assert!(with_copies > 5, "{with_copies}");
}

/// A log that is flushed after each write, on drives with and without capacitors.
#[test]
fn flushes_that_program_nearly_nothing_are_told() {
    let log = jobs("log", "size=4m\nrw=write\nbs=4k\nfdatasync=1\n[a]\n");
    let run_on = |flush: &str| {
        let mut config = small_drive();
        config.section_mut("host.buffer").unwrap().set("flush", &Value::Text(flush.to_owned())).unwrap();
        run(&config, &log, &RunSpec::default())
    };
    let told = |result: &RunResult| {
        result.remarks.iter().any(|remark| remark.contains("a flush programs what there is"))
    };
    let (program, saved) = (run_on("program"), run_on("capacitors"));
    assert!(told(&program) && !told(&saved), "{:?} {:?}", program.remarks, saved.remarks);
    // fio flushes between writes, not after the last.
    assert_eq!((program.flash.programs[Cause::Host], program.flushes), (1_023, 1_023));
    assert_eq!(program.write_amplification, Some(4.0 * 1_023.0 / 1_024.0));
    // What the buffer holds at the end is not in flash yet.
    assert!(
        saved.write_amplification.unwrap() <= 1.0
            && saved.latency_ns.flush.max < program.latency_ns.flush.min
    );
    holds(&saved);
}

/// Requests that are due at a rate arrive by it: what their drive makes of them is judged as if they had come from a
/// trace.
#[test]
fn jobs_that_all_keep_their_rates_are_no_closed_loop() {
    let rated = |iops: u64| format!("size=4m\nrw=randrw\niodepth=4\nrate_iops={iops}\nnumjobs=5\n[a]\n");
    let calm = of_jobs("calm", &rated(200));
    assert_eq!(calm.verdict.state, "idle", "{}", calm.verdict.text);
    assert!(calm.verdict.text.contains("the drive keeps up"), "{}", calm.verdict.text);
    holds(&calm);
    let asked = 5.0 * 2.0 * 200.0;
    let found = calm.verdict.arrivals_per_second.unwrap();
    assert!((found / asked - 1.0).abs() < 0.05, "{found} arrive per second, {asked} were asked for");
    let late = of_jobs("late", &rated(200_000));
    assert_eq!(late.verdict.state, "overloaded", "{}", late.verdict.text);
    assert!(late.verdict.arrivals_per_second > late.verdict.served_per_second, "{:?}", late.verdict);
    holds(&late);
}

/// One job that is too slow for its rate is told by its name, whatever the others do.
#[test]
fn a_job_that_cannot_keep_its_rate_is_told() {
    let text = "size=4m\nrw=randread\niodepth=4\ntime_based\nruntime=300ms\n[free]\n[calm]\nrate_iops=100\n[fast]\n\
                rate_iops=900k\n";
    let result = of_jobs("one-late", text);
    assert_eq!(result.verdict.state, "overloaded", "{}", result.verdict.text);
    assert!(
        result.verdict.text.contains("job fast cannot keep its rate, and ends up to"),
        "{}",
        result.verdict.text
    );
    holds(&result);
    let calm = of_jobs("none-late", "size=4m\nrw=randread\niodepth=4\n[free]\n[calm]\nrate_iops=1000\n");
    assert_eq!(calm.verdict.state, "closed");
    assert!(calm.verdict.text.contains("limited by its jobs, which keep"), "{}", calm.verdict.text);
    holds(&calm);
}

/// The latency of a write that was due and could not be sent is the same in every table.
#[test]
fn a_rated_jobs_latency_means_one_thing_in_all_tables() {
    let result = of_jobs("one-meaning", "size=4m\nrw=randwrite\niodepth=4\nrate=,4000m\n[w]\n");
    let [job] = &result.jobs[..] else { panic!("{:?}", result.jobs) };
    let (due, all) = (job.latency_from_due_ns.as_ref().unwrap(), &result.latency_ns.write);
    assert_eq!((due.mean, due.max), (all.mean, all.max));
    let text = lab::report::table(&result);
    let cells = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let mean = &cells("write ")[3];
    assert!(cells("w ").contains(mean), "{mean}:\n{text}");
}

/// A single request is no queue, however long the drive waited for it.
#[test]
fn one_request_is_not_overload() {
    for count in [1, 2] {
        let workload = generator(count, "arrival = \"poisson\"\nrate_iops = 1\n");
        let spec = RunSpec { loop_mode: LoopMode::Open, ..closed(1) };
        let result = run(&small_drive(), &workload, &spec);
        assert_eq!(result.verdict.state, "idle", "{}", result.verdict.text);
        holds(&result);
    }
}

#[test]
fn a_remark_says_itself_whether_it_matters_and_what_to_do() {
    let result = of_jobs("weight", "[a]\nrw=randwrite\nbs=4k\nsize=1m\ntime_based=0\n");
    let cautions = result.cautions();
    let [short, uncleaned] = &cautions[..] else { panic!("{cautions:?}") };
    assert!(short.text.ends_with("too little to judge write amplification") && short.to_do.is_none());
    assert!(uncleaned.text.ends_with("have no visible effect"), "{uncleaned:?}");
    assert_eq!(uncleaned.to_do.as_deref(), Some("try --size footprint, or a longer run"));
    assert_eq!(result.notes(), ["ignored fio options: ioengine"]);
    // The page says what to do apart from what is so, and lists what does not matter further down.
    let page = lab::report::page(&result);
    let to_do = "</strong>Try <span class=\"flag\">--size</span> footprint, or a longer run.";
    assert!(page.contains("have no visible effect.") && page.contains(to_do), "{page}");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("have no visible effect.") < place("Ignored fio options"));
}

/// Writes that lie across units cost reads of what they leave of them; those on their bounds do not.
#[test]
fn writes_of_parts_of_units_are_told() {
    let told = |name: &str, jobs: &str| {
        let result = of_jobs(name, &format!("rw=randwrite\nsize=16m\n{jobs}"));
        let found = |remark: &&String| remark.contains("cover parts of");
        result.remarks.iter().find(found).map(|text| text.split(':').next().unwrap_or_default().to_owned())
    };
    let beside = |whole: u32, parts: u32| {
        format!("[whole]\nbs=4k\nnumber_ios={whole}\n[parts]\nbs=512\nnumber_ios={parts}\n")
    };
    assert_eq!(small_drive().unit_bytes(), 4096);
    assert_eq!(told("whole", "[a]\nbs=4k\nnumber_ios=2000\n"), None);
    let across = told("across", "[a]\nbs=4k\noffset=512\nnumber_ios=2000\n");
    assert_eq!(across.unwrap(), "all writes cover parts of 4 KiB units");
    let some = told("some", &beside(1600, 400));
    assert_eq!(some.unwrap(), "400 of 2,000 writes cover parts of 4 KiB units");
    assert_eq!(told("few", &beside(1900, 100)), None);
    let in_a_row = told("in_a_row", "[a]\nrw=write\nbs=512\nnumber_ios=2000\n");
    assert_eq!(in_a_row, None, "the buffer makes whole units of them");
}

/// A drive whose spare room is nearly all spoken for says nothing of its policies.
#[test]
fn spare_room_that_is_spoken_for_is_told() {
    let with = |tenths: u32| {
        let mut config = small_drive();
        config.drive.over_provisioning_percent = f64::from(tenths) / 10.0;
        config
    };
    let least = (1..280).find(|tenths| with(*tenths).validate().is_ok()).unwrap();
    for (tenths, is_told) in [(least, true), (280, false)] {
        let spec = RunSpec { preconditioning: used(), ..closed(4) };
        let result = run(&with(tenths), &generator(300, "read_percent = 0"), &spec);
        let told = result.remarks.iter().any(|remark| remark.contains("effective over-provisioning is"));
        let net = result.preconditioning.spare.net.unwrap();
        assert_eq!((told, net < 0.01), (is_told, is_told), "{net}: {:?}", result.remarks);
    }
}

/// A policy that empties blocks to erase them counts no unit beside what has died.
#[test]
fn what_locks_move_is_told_as_it_is() {
    for (policy, text) in [("erase", "moved valid units out of blocks"), ("scrub", "something beside them")] {
        let mut config = small_drive();
        config.sanitize.select(policy).unwrap();
        let spec = RunSpec { preconditioning: used(), ..closed(4) };
        let result = run(&config, &generator(3_000, "read_percent = 0"), &spec);
        let told: Vec<_> = result.remarks.iter().filter(|told| told.contains(" moved ")).collect();
        assert!(told.len() == 1 && told[0].contains(text) && !told[0].contains(" 0 "), "{policy}: {told:?}");
    }
}

/// Half of what is written fits in the cache: by time that is a fraction of the run.
#[test]
fn a_full_slc_cache_is_told() {
    let mut config = small_drive();
    config.geometry.bits_per_cell = 4;
    config.timing.t_program_us = vec![3_000.0];
    config.slc_cache.select("adaptive").unwrap();
    let spec = RunSpec { loop_mode: LoopMode::Closed { depth: 8 }, samples: 1_000, ..RunSpec::default() };
    let is_told = |count: u32| {
        let text =
            format!("pattern = \"sequential\"\nread_percent = 0\nsize_bytes = 131_072\ncount = {count}");
        let result = run(&config, &Spec::parse(&text).unwrap().prepare().unwrap(), &spec);
        let told = result.remarks.iter().filter(|told| told.contains("SLC cache was full"));
        (told.count() > 0, result.remarks)
    };
    let (whole, remarks) = is_told(1_000);
    assert!(whole, "{remarks:?}");
    // What fits is written at one speed.
    let (part, remarks) = is_told(100);
    assert!(!part, "{remarks:?}");
}
