//! Drives whose cells age, from end to end: what reads of aged pages take, and what makes pages old.

use crate::common;

use common::{Log, closed, fresh_path, generator, run, small_drive};
use lab::{AgeSteps, Overwrite, Preconditioning, RunResult, RunSpec};
use ssd::DriveConfig;
use ssd::sections::{ErrorModel, Issue, MappingUnit};
use std::collections::BTreeMap;

/// The small drive in whole pages, without a buffer or a link to wait for, with cells that age.
fn aging_drive() -> DriveConfig {
    let mut config = small_drive();
    config.errors.model = ErrorModel::Cells;
    config.mapping.unit = MappingUnit::Page;
    config.buffer = ssd::host::buffer::none::Params::default().into();
    (config.scheduling.multi_plane, config.allocation.issue) = (false, Issue::Page);
    config
}

/// Filled in order, then aged by these steps.
fn aged(steps: &[&str], depth: u32) -> RunSpec {
    let preconditioning =
        Preconditioning { fill_percent: 100.0, overwrite: Overwrite::None, ..Preconditioning::default() };
    RunSpec { preconditioning, age: AgeSteps::parse(steps).unwrap(), ..closed(depth) }
}

const READS: &str = "read_percent = 100\nsize_bytes = 16384";

fn reads_after(steps: &[&str]) -> RunResult {
    run(&aging_drive(), &generator(20_000, READS), &aged(steps, 8))
}

/// tREAD = (tR + tDMA + tECC)(NumRetry + 1) (RealWear Eq. 2.2), read by read: the parts of each request are whole
/// multiples of those of one attempt, all of the same number of attempts, and these numbers are those counted.
#[test]
fn each_attempt_takes_its_time_of_die_channel_and_decoder() {
    let config = aging_drive();
    let spec = aged(&["cycle to 2000", "retain 6 months"], 1);
    let (result, log) = Log::of_run("attempts.csv", &config, &generator(20_000, READS), &spec);
    let part = |name: &str| log.numbers(&format!("{name}_ns"));
    let (array, transfer, decode) = (part("array"), part("transfer"), part("decode"));
    let attempt_decode = *decode.iter().min().unwrap();
    let attempt_transfer = *transfer.iter().min().unwrap();
    let t_read: Vec<u64> = config.t_read_us().iter().map(|us| (us * 1000.0).round() as u64).collect();
    assert!(attempt_decode > 0 && attempt_transfer > 0);
    let mut by_attempts = BTreeMap::<u64, u64>::new();
    for (place, ((array, transfer), decode)) in array.iter().zip(&transfer).zip(&decode).enumerate() {
        let attempts = decode / attempt_decode;
        assert_eq!((decode % attempt_decode, *transfer), (0, attempts * attempt_transfer), "row {place}");
        assert!(
            t_read.iter().any(|t_read| *array == attempts * t_read),
            "row {place}: {array} ns, {attempts}"
        );
        *by_attempts.entry(attempts).or_default() += 1;
    }
    // One request in flight never waits for another.
    assert!(part("die_wait").iter().chain(&part("channel_wait")).all(|wait| *wait == 0));
    let counted = result.flash.retries.histogram.iter().zip(1..).filter(|(reads, _)| **reads > 0);
    assert_eq!(by_attempts, counted.map(|(reads, attempts)| (attempts, *reads)).collect());
    assert!(by_attempts.len() > 3, "{by_attempts:?}: pages differ");
}

/// Months at 55 degrees C are as many more at 30 degrees C as Arrhenius' law with the part's 1.1 eV says.
#[test]
fn warm_storage_ages_faster_by_the_factor_of_arrhenius() {
    let cells = aging_drive().cells.retention.clone();
    let kelvin = |celsius: f64| 273.15 + celsius;
    let exponent = cells.activation_ev / cells.boltzmann_ev_per_k
        * (1.0 / kelvin(cells.reference_c) - 1.0 / kelvin(55.0));
    let factor = exponent.exp();
    assert!(factor > 20.0 && factor < 30.0, "{factor}");
    let cycled = "cycle to 2000";
    let warm = reads_after(&[cycled, "retain 20 days at 55 C"]);
    let long = format!("retain {} hours", (480.0 * factor).round());
    let cool = reads_after(&[cycled, &long]);
    let short = reads_after(&[cycled, "retain 20 days"]);
    let mean = |result: &RunResult| result.flash.retries.mean.unwrap();
    assert!((mean(&warm) - mean(&cool)).abs() < 0.02, "{} and {}", mean(&warm), mean(&cool));
    assert!(mean(&warm) > mean(&short) + 0.5, "{} and {}", mean(&warm), mean(&short));
}

#[test]
fn every_kind_of_age_costs_retries() {
    let mean = |steps: &[&str]| reads_after(steps).flash.retries.mean.unwrap();
    let [fresh, cycled, kept] =
        [&[][..], &["cycle to 3000"], &["cycle to 3000", "retain 6 months"]].map(mean);
    let read = mean(&["cycle to 3000", "retain 6 months", "disturb 200000 reads"]);
    assert!(fresh <= cycled && cycled < kept && kept < read, "{fresh}, {cycled}, {kept}, {read}");
    // Steps are taken in order: data is written again when its block is cycled, so what came before is gone.
    assert!(mean(&["retain 6 months", "cycle to 3000"]) < kept);
}

/// The functional executor draws the same attempts, without their time.
#[test]
fn without_time_the_same_pages_are_lost() {
    let steps = ["cycle to 20000", "retain 10 years at 40 C"];
    let timed = run(&aging_drive(), &generator(2_000, READS), &aged(&steps, 1));
    let spec = RunSpec { executor: ssd::Executor::Functional, ..aged(&steps, 1) };
    let functional = run(&aging_drive(), &generator(2_000, READS), &spec);
    assert!(timed.requests_uncorrectable > 0, "{:?}", timed.flash.retries);
    // A page that was found lost is not read again.
    let again = timed.requests_uncorrectable - timed.flash.uncorrectable.sum();
    assert!(again > 0 && timed.flash.reads.sum() + again == 2_000, "{again}");
    assert_eq!(timed.ftl.lost_units, timed.flash.uncorrectable.sum());
    assert_eq!(functional.flash.retries, timed.flash.retries);
    assert_eq!(functional.requests_uncorrectable, timed.requests_uncorrectable);
}

/// An aged result reads back, and is drawn.
#[test]
fn an_aged_result_is_kept_whole() {
    let result = reads_after(&["cycle to 3000", "retain 3 months"]);
    let folder = fresh_path("aged-result");
    lab::report::write(&folder, &result, "").unwrap();
    assert_eq!(RunResult::load(&folder).unwrap(), result);
    assert_eq!(result.preconditioning.age_steps, ["cycle to 3000", "retain 3 months"]);
    let svg = std::fs::read_to_string(folder.join("retries.svg")).unwrap();
    let bars = result.flash.retries.histogram.iter().filter(|reads| **reads > 0).count();
    assert_eq!(svg.matches(" failed: ").count(), bars);
}

#[test]
fn a_step_that_cannot_be_taken_ends_the_experiment() {
    let workload = generator(10, READS);
    for (config, step) in
        [(small_drive(), "retain 1 hour"), (aging_drive(), "disturb 9 reads of wordline 99")]
    {
        let error = common::try_run(&config, &workload, &aged(&[step], 1)).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("run.age") && text.contains(step) && text.contains("allowed"), "{text}");
        assert!(error.result.is_none());
        // It is refused before the drive is filled.
        let mut drive = ssd::Drive::new(&config).unwrap();
        let spec = aged(&["cycle to 10", step], 1);
        let mut worked = false;
        let refused =
            lab::prepare(&mut drive, &config, &spec.preconditioning, &spec.age, &spec.stop, &mut |_| {
                worked = true
            });
        assert!(refused.is_err() && !worked, "{step}");
    }
}
