//! The `[run]` table: defaults, meaning, and what is said about mistakes.

use lab::job::{Job, with_path};
use lab::{AgeSteps, EraseCounts, LoopMode, Overwrite, Past, RunConfig};
use ssd::config::presets::Group;
use ssd::config::{Layer, Table, presets};
use ssd::drive_config::resolve_table;
use ssd::{Executor, Pace};
use std::path::Path;
use workload::Spec;

fn read(text: &str) -> Result<RunConfig, String> {
    let mut run = RunConfig::default();
    let layers = [Layer::file("my.toml", format!("preset = \"tlc\"\n[run]\n{text}\n"))];
    resolve_table(&layers, "run", &mut run).map_err(|errors| errors.to_string())?;
    Ok(run)
}

fn generator() -> Spec {
    Spec::parse("pattern = \"uniform\"").unwrap()
}

#[test]
fn without_settings_a_drive_is_aged_to_steady_state() {
    let spec = read("").unwrap().spec(&generator());
    assert_eq!(spec.preconditioning.fill_percent, 100.0);
    let steady = Overwrite::SteadyState { change_percent: 2.0, times_at_most: 10.0 };
    assert_eq!(
        (spec.preconditioning.overwrite, spec.preconditioning.erase_counts),
        (steady, EraseCounts::AsIs)
    );
    assert_eq!((spec.loop_mode, spec.executor), (LoopMode::Closed { depth: 32 }, Executor::Timed));
    assert_eq!((spec.warm_up, spec.requests, spec.request_log), (0, None, None));
    assert_eq!(spec.age, AgeSteps::default());
}

#[test]
fn every_setting_has_its_effect() {
    let text = "fill_percent = 80\noverwrite = \"times\"\noverwrite_times = 0.5\nerase_count_min = 10\n\
                erase_count_max = 20\nloop_mode = \"open\"\nrequests = 1000\nwarm_up_requests = 100\n\
                executor = \"functional\"";
    let spec = read(text).unwrap().spec(&generator());
    assert_eq!(spec.preconditioning.fill_percent, 80.0);
    assert_eq!(spec.preconditioning.overwrite, Overwrite::Times(0.5));
    assert_eq!(spec.preconditioning.erase_counts, EraseCounts::Uniform { min: 10, max: 20 });
    assert_eq!((spec.loop_mode, spec.executor), (LoopMode::Open, Executor::Functional));
    assert_eq!((spec.warm_up, spec.requests), (100, Some(1_000)));
    let aged = read("age = [\"cycle to 3000\", \"retain 12 months at 55 C\"]").unwrap();
    let steps = ["cycle to 3000", "retain 12 months at 55 C"];
    assert_eq!(aged.spec(&generator()).age.texts(), steps);
    assert_eq!(read("age = \"cycle to 3000\"").unwrap().age.texts(), steps[..1]);
    let shown = aged.show("age").unwrap();
    assert_eq!(shown, "[\"cycle to 3000\", \"retain 12 months at 55 C\"]");
    assert_eq!(read(&format!("age = {shown}")).unwrap(), aged);
    let none = read("overwrite = \"none\"\nerase_count_min = 7\ndepth = 4").unwrap().spec(&generator());
    assert_eq!(none.preconditioning.overwrite, Overwrite::None);
    assert_eq!(none.preconditioning.erase_counts, EraseCounts::Equal(7));
    assert_eq!(none.loop_mode, LoopMode::Closed { depth: 4 });
}

#[test]
fn the_loop_follows_the_workload_unless_it_is_said() {
    let mode = |run: &str, workload: &Spec| read(run).unwrap().loop_mode(workload);
    let paced = Spec::parse("pattern = \"zipf\"\narrival = \"poisson\"").unwrap();
    let trace = Spec::trace("some.csv");
    assert_eq!(mode("", &generator()), LoopMode::Closed { depth: 32 });
    assert_eq!((mode("", &paced), mode("", &trace)), (LoopMode::Open, LoopMode::Open));
    assert_eq!(mode("loop_mode = \"closed\"\ndepth = 8", &trace), LoopMode::Closed { depth: 8 });
    assert_eq!(mode("loop_mode = \"open\"", &generator()), LoopMode::Open);
}

#[test]
fn mistakes_are_told_with_line_key_and_alternatives() {
    for (text, wanted) in [
        ("fil_percent = 80", &["my.toml:3", "run.fil_percent", "did you mean fill_percent?"][..]),
        ("depth = 8\nfill_percent = 180", &["my.toml:4", "run.fill_percent", "180", "0 to 100 %"]),
        ("overwrite = \"steady\"", &["my.toml:3", "run.overwrite", "\"steady\"", "steady_state"]),
        ("executor = \"timd\"", &["run.executor", "did you mean \"timed\"?"]),
        ("depth = \"many\"", &["run.depth", "a whole number"]),
        ("warm_up = 100", &["run.warm_up", "warm_up_requests"]),
        ("requests = -1", &["run.requests", "-1"]),
        ("fill_percent = nan", &["my.toml:3", "run.fill_percent", "found:   nan", "0 to 100 %"]),
        ("explain_tail = inf", &["my.toml:3", "run.explain_tail", "found:   inf", "0 to 99.9999 %"]),
        ("age = [\"retain 1 hours\", 5]", &["my.toml:3", "run.age", "found:   5", "a list of steps such as"]),
        ("age = [\"cycel to 3000\"]", &["my.toml:3", "run.age", "\"cycel to 3000\"", "cycle to"]),
    ] {
        let error = read(text).unwrap_err();
        for part in wanted {
            assert!(error.contains(part), "{text}: {part} is not in:\n{error}");
        }
    }
}

/// Traces that ship, and those beside the tree.
fn traces() -> Vec<std::path::PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join("../shared/traces").exists() {
        println!("skipped: ../shared/traces is not there");
    }
    let folders = [root.join("data"), root.join("data/captures"), root.join("../shared/traces")];
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let is_trace = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|extension| extension == "zst" || extension == "capture")
    };
    paths.filter(is_trace).collect()
}

/// Whether a shipped drive says itself what its past is, as those of papers do.
fn is_of_a_paper(preset: &str) -> bool {
    let layers = [Layer::set(&format!("preset={preset}")).unwrap()];
    let mut run = RunConfig::default();
    let origins = resolve_table(&layers, "run", &mut run).unwrap();
    assert_eq!(run.past == Past::Uniform, origins.contains_key("run.past"), "{preset}");
    origins.contains_key("run.past")
}

#[test]
fn naming_a_drive_does_not_change_what_happened_before() {
    let names = || presets::drives().iter().map(|preset| preset.name);
    let bought: Vec<&str> = names().filter(|name| !is_of_a_paper(name)).collect();
    let real =
        bought.iter().filter(|name| presets::drive(name).is_some_and(|it| it.group() == Group::Bought));
    assert_eq!(real.count(), 9);
    assert_eq!(bought[..6], ["client_tlc", "tlc", "qlc", "aged_tlc", "aged_qlc", "client_full"]);
    let past = |drive: Option<&str>, spec: &Spec| {
        let job = Job::read(None, drive, &[]).unwrap();
        job.run().unwrap().0.spec(spec).preconditioning
    };
    let generators =
        ["pattern = \"uniform\"", "pattern = \"zipf\"\narrival = \"poisson\"", "preset = \"oltp\""];
    let generators = generators.into_iter().map(|text| Spec::parse(text).unwrap());
    let specs: Vec<Spec> = traces().iter().map(|path| with_path(None, path)).chain(generators).collect();
    assert!(specs.len() > 10, "{specs:?}");
    for spec in &specs {
        let unnamed = past(None, spec);
        assert_eq!(unnamed.past, Past::Own, "{}", spec.title());
        for name in &bought {
            assert_eq!(past(Some(name), spec), unnamed, "{} on {name}", spec.title());
        }
        for name in names().filter(|name| !bought.contains(name)) {
            assert_eq!(past(Some(name), spec).past, Past::Uniform, "{} on {name}", spec.title());
        }
    }
}

/// A job file, which is a test's own.
fn jobs(name: &str, text: &str) -> Spec {
    let path = crate::common::fresh_path(name);
    std::fs::write(&path, format!("[global]\nioengine=libaio\ndirect=1\nsize=64m\nbs=4k\n{text}")).unwrap();
    with_path(None, &path)
}

/// The pace of what was before a job file's run, as `overwrite_pace = "auto"` has it.
fn pace_before(drive: &str, jobs: &str) -> Pace {
    let spec = self::jobs("pace.fio", jobs);
    let prepared = spec.prepare().unwrap();
    let plan = Job::read(None, Some(drive), &[]).unwrap().plan(Some((&spec, &prepared))).unwrap();
    plan.spec(&spec).preconditioning.pace
}

#[test]
fn a_past_is_at_the_pace_of_the_jobs_that_follow() {
    let (slow, fast) = (Pace::Relaxed, Pace::Saturated);
    for (jobs, expected) in [
        // Depth: what is done once it is in the buffer is as fast as the host.
        ("[a]\nrw=write", fast),
        ("[a]\nrw=randwrite\niodepth=32", fast),
        ("[a]\nrw=randrw\niodepth=32\nrwmixread=70", fast),
        ("[a]\nrw=randread\niodepth=32", slow),
        // Flushes.
        ("[a]\nrw=write\nfdatasync=1", slow),
        ("[a]\nrw=randwrite\nfsync=1", slow),
        ("[a]\nrw=randwrite\nsync=1", slow),
        ("[a]\nrw=randwrite\nfsync=1\nnumjobs=4", slow),
        ("[a]\nrw=randwrite\nfsync=1\nnumjobs=64", fast),
        ("[a]\nrw=randwrite\nsync=1\niodepth=8", slow),
        ("[a]\nrw=write\nbs=1m\nfsync=32", fast),
        ("[a]\nrw=write\nfsync=10000", fast),
        // Rates.
        ("[a]\nrw=randwrite\niodepth=32\nrate_iops=1000", slow),
        ("[a]\nrw=randwrite\niodepth=32\nrate=,20m", slow),
        ("[a]\nrw=randwrite\niodepth=32\nrate=,400m", fast),
        ("[a]\nrw=randwrite\niodepth=32\nrate_iops=1000\nnumjobs=5", slow),
        ("[a]\nrw=randwrite\niodepth=32\nrate_iops=30000\nnumjobs=5", fast),
        // Pauses.
        ("[a]\nrw=randwrite\nthinktime=1000", slow),
        ("[a]\nrw=randwrite\nthinktime=1", fast),
        ("[a]\nrw=randwrite\nthinktime=100ms\nthinktime_blocks=100000", fast),
        // One of them is enough, and those that follow each other are looked at one by one.
        ("[a]\nrw=randwrite\nfsync=1\n[b]\nrw=randwrite\niodepth=32", fast),
        ("[a]\nrw=randwrite\nfsync=1\n[b]\nrw=randread\niodepth=32", slow),
        ("[a]\nrw=randwrite\nfsync=1\n[b]\nstonewall\nrw=randwrite\nrate_iops=10", slow),
        ("[a]\nrw=randwrite\nfsync=1\n[b]\nstonewall\nrw=randwrite", fast),
    ] {
        assert_eq!(pace_before("tlc", jobs), expected, "{jobs}");
    }
    // On a drive of a die, three flushed writers are many.
    let few = "[a]\nrw=randwrite\nfsync=1\nnumjobs=3";
    assert_eq!((pace_before("tlc", few), pace_before("pds", few)), (slow, fast));
}

/// Commands that a queue holds with this drive and run, and what is said of it; or what is wrong.
fn queues(config: &str, workload: &str, sets: &[&str], is_built: bool) -> Result<(u32, Vec<String>), String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let job = Job::of_text(Path::new("my.toml"), config.to_owned()).with_sets(&sets).unwrap();
    let job = if is_built { job.on_built_drive() } else { job };
    let spec =
        if workload.starts_with('[') { jobs("queues.fio", workload) } else { Spec::parse(workload).unwrap() };
    let plan = job.plan(Some((&spec, &spec.prepare().unwrap()))).map_err(|error| error.message)?;
    let said = plan.notes.iter().filter(|note| note.contains("host.queues.depth")).cloned().collect();
    Ok((plan.resolved.config.queues.depth, said))
}

#[test]
fn queues_hold_what_a_run_keeps_in_flight_unless_their_depth_was_set() {
    let random = "pattern = \"uniform\"";
    // Of drives that are sized and those that are named, and of settings wherever they are.
    for drive in ["", "preset = \"tlc\"\n"] {
        let deep = format!("{drive}[run]\ndepth = 1000\n");
        let (room, said) = queues(&deep, random, &[], false).unwrap();
        assert_eq!((room, said.len()), (1_000, 1), "{said:?}");
        assert!(said[0].contains("from 256 to 1000") && said[0].contains("my.toml:"), "{said:?}");
        assert_eq!(queues(drive, random, &["run.depth=257"], false).unwrap().0, 257);
        for plain in ["run.depth=256", "run.depth=0", "run.loop_mode=open"] {
            assert_eq!(queues(drive, random, &[plain], false).unwrap(), (256, vec![]), "{plain}");
        }
        // What was set stays, even where it is the default.
        let set_in_file = format!("{drive}[host.queues]\ndepth = 256\n");
        let of_file = queues(&set_in_file, random, &["run.depth=1000"], false).unwrap_err();
        let of_flag = queues(&deep, random, &["host.queues.depth=256"], false).unwrap_err();
        let of_built = queues(&deep, random, &[], true).unwrap_err();
        for (error, place) in [(of_file, "my.toml:"), (of_flag, "--set"), (of_built, "its default")] {
            for part in ["run.depth", "found:   1000", "1 to 256", "host.queues.depth=1000", place] {
                assert!(error.contains(part), "{error}");
            }
        }
        assert_eq!(queues(&deep, random, &["host.queues.depth=1024"], false).unwrap(), (1_024, vec![]));
    }
}

#[test]
fn a_raised_depth_is_within_what_all_queues_may_hold() {
    let random = "pattern = \"uniform\"";
    let most = ["run.depth=65536", "host.queues.count=1"];
    assert_eq!(queues("", random, &most, false).unwrap().0, 65_536);
    let error = queues("", random, &["run.depth=300", "host.queues.count=250"], false).unwrap_err();
    for part in ["run.depth", "found:   300", "1 to 262", "250 queues", "host.queues.count"] {
        assert!(error.contains(part), "{error}");
    }
    // Jobs are served with what there is, as before.
    let many = "[a]\nrw=read\niodepth=60000\nnumjobs=3\n";
    assert_eq!(queues("", many, &["host.queues.count=4"], false).unwrap().0, 16_384);
}

#[test]
fn queues_hold_what_jobs_keep_in_flight_together() {
    let of = |text: &str, sets: &[&str]| queues("", text, sets, false).unwrap();
    assert_eq!(of("[a]\nrw=read\niodepth=256\n", &[]), (256, vec![]));
    let (room, said) = of("[a]\nrw=read\niodepth=512\n", &[]);
    assert!(room == 512 && said.len() == 1 && said[0].contains("512 requests in flight"), "{said:?}");
    assert_eq!(of("[a]\nrw=read\niodepth=64\nnumjobs=5\n", &[]).0, 320);
    assert_eq!(of("[a]\nrw=read\niodepth=200\n[b]\nstonewall\nrw=write\niodepth=200\n", &[]).0, 256);
    assert_eq!(of("[a]\nrw=read\niodepth=1001\n", &["host.queues.count=2"]).0, 501);
    // Where the depth was set, or the drive is there, requests wait in front of it.
    let deep = "[a]\nrw=read\niodepth=512\n";
    assert_eq!(of(deep, &["host.queues.depth=100"]), (100, vec![]));
    assert_eq!(queues("", deep, &[], true).unwrap(), (256, vec![]));
}
