//! The same seed, configuration and workload give the same run, alone or beside others; anything else another one.

use crate::common::{self, soaked};

use common::{closed, generator, open, run, small_drive, tiny_drive, with_every_policy};
use lab::{EraseCounts, Experiment, Overwrite, Preconditioning, RunResult, RunSpec, run_all};
use std::sync::atomic::{AtomicU64, Ordering};

/// The result without what depends on the machine.
fn without_costs(result: &RunResult) -> RunResult {
    let mut result = result.clone();
    (result.cpu_seconds, result.wall_seconds, result.preconditioning.cpu_seconds) = (0.0, 0.0, 0.0);
    (result.requests_per_cpu_second, result.peak_rss_bytes) = (None, None);
    result
}

const MIX: &str = "read_percent = 50\nsize_bytes = [[4096, 3], [16384, 1]]";

#[test]
fn twice_the_same_is_the_same_to_the_last_number() {
    let paced = format!("{MIX}\narrival = \"poisson\"\nrate_iops = 9000");
    for (spec, settings) in [(closed(16), MIX), (open(), &paced)] {
        let once = || without_costs(&run(&small_drive(), &generator(20_000, settings), &spec));
        let (first, second) = (once(), once());
        assert_eq!(first, second);
        assert_eq!(first.to_json(), second.to_json());
    }
}

#[test]
fn another_seed_preconditioning_or_workload_is_another_run() {
    let workload = generator(5_000, MIX);
    let base = run(&small_drive(), &workload, &closed(16));
    let mut other_seed = small_drive();
    other_seed.drive.seed = 2;
    let less = Preconditioning { fill_percent: 90.0, ..common::used() };
    let variants = [
        ("seed", run(&other_seed, &workload, &closed(16))),
        ("preconditioning", run(&small_drive(), &workload, &RunSpec { preconditioning: less, ..closed(16) })),
        ("depth", run(&small_drive(), &workload, &closed(17))),
        ("workload", run(&small_drive(), &generator(5_000, &format!("{MIX}\nseed = 2")), &closed(16))),
    ];
    for (what, variant) in &variants {
        assert_ne!(variant.event_hash, base.event_hash, "{what}");
    }
    assert_ne!(variants[0].1.config_hash, base.config_hash);
    assert_ne!(variants[3].1.workload_hash, base.workload_hash);
    assert_eq!(variants[1].1.config_hash, base.config_hash);
}

#[test]
fn side_by_side_is_the_same_as_one_by_one() {
    let workload = generator(soaked(2_500), MIX);
    let experiments: Vec<Experiment<'_>> = with_every_policy(&tiny_drive())
        .into_iter()
        .map(|(name, config)| {
            let spec = RunSpec { name, ..closed(16) };
            Experiment { config, workload: &workload, spec }
        })
        .collect();
    let told = AtomicU64::new(0);
    let together = run_all(&experiments, &|number, _| {
        assert!(number < experiments.len());
        told.fetch_add(1, Ordering::Relaxed);
    });
    assert!(told.into_inner() > 0);
    for (experiment, result) in experiments.iter().zip(together) {
        let alone = experiment.run(&mut |_| {}).unwrap();
        let result = result.unwrap();
        assert_eq!(result.name, experiment.spec.name);
        assert_eq!(without_costs(&result), without_costs(&alone));
    }
}

#[test]
fn one_failure_among_several_stays_one() {
    let workload = generator(1_000, MIX);
    let good = Experiment { config: small_drive(), workload: &workload, spec: closed(4) };
    let mut bad = good.clone();
    bad.config.queues.depth = 0;
    let results = run_all(&[good.clone(), bad, good], &|_, _| {});
    assert_eq!(results.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    let error = results[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("host.queues.depth"), "{error}");
    assert!(run_all(&[], &|_, _| {}).is_empty());
}

#[test]
fn erase_counts_do_not_disturb_overwrites() {
    let workload = generator(5_000, MIX);
    let erase_counts = EraseCounts::Uniform { min: 100, max: 200 };
    let aged = Preconditioning { erase_counts, overwrite: Overwrite::Times(1.0), ..common::used() };
    let plain = run(&small_drive(), &workload, &closed(16));
    let aged = run(&small_drive(), &workload, &RunSpec { preconditioning: aged, ..closed(16) });
    // Cleaning does not look at erase counts by default, so that only those differ.
    assert_eq!(
        (aged.flash.clone(), aged.latency_ns.clone()),
        (plain.flash.clone(), plain.latency_ns.clone())
    );
    assert!(aged.erase_count.min >= 100 && aged.erase_count.max >= 190, "{:?}", aged.erase_count);
}
