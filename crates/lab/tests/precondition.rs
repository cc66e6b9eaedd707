//! Ageing a drive before the measurement.

mod common;

use common::{closed, generator, run, small_drive, try_run};
use lab::precondition::PreconditionError;
use lab::{EraseCounts, Failure, Overwrite, Phase, Preconditioning, RunSpec, precondition};
use ssd::Drive;
use ssd::config::Superblock;

fn steady(fill_percent: f64) -> Preconditioning {
    let overwrite = Overwrite::SteadyState { change_percent: 2.0, times_at_most: 20.0 };
    Preconditioning { fill_percent, overwrite, ..Preconditioning::default() }
}

/// A drive whose write amplification theory knows: one lane of many blocks, so that it cleans globally.
fn one_lane(over_provisioning_percent: f64) -> ssd::DriveConfig {
    let mut config = small_drive();
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die) = (1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (1_200, 64, 1);
    config.allocation.superblock = Superblock::None;
    config.drive.over_provisioning_percent = over_provisioning_percent;
    config
}

#[test]
fn steady_state_has_the_write_amplification_of_theory() {
    // Uniform random writes with FIFO cleaning: A = 1 / (1 - x) where x = exp(-T/U (1 - x)) is the share of a block
    // still valid when its turn comes, T/U blocks in use over blocks of data (Desnoyers, "Analytic Models of SSD
    // Write Performance", 2014, section 3). The free blocks that cleaning keeps, 1 % of 1200, are not in use.
    let mut config = one_lane(25.0);
    config.gc_victim = ssd::ftl::gc_victim::Config::named("fifo").unwrap();
    let mut drive = Drive::new(&config).unwrap();
    let done = precondition(&mut drive, 1, &steady(100.0), &mut |_| {}).unwrap();
    let in_use = f64::from(1_200 - 12) / 960.0;
    let share = (0..500).fold(0.5f64, |x, _| (-in_use * (1.0 - x)).exp());
    let (theory, found) = (1.0 / (1.0 - share), done.write_amplification.unwrap());
    assert_eq!(done.steady, Some(true));
    assert!((found / theory - 1.0).abs() < 0.02, "found {found}, theory {theory}");
    // Greedy cleaning does better.
    let mut drive = Drive::new(&one_lane(25.0)).unwrap();
    let greedy = precondition(&mut drive, 1, &steady(100.0), &mut |_| {}).unwrap();
    assert!(greedy.write_amplification.unwrap() < found, "{greedy:?}");
    assert!(greedy.write_amplification.unwrap() > 1.5, "{greedy:?}");
}

#[test]
fn the_measurement_goes_on_at_the_amplification_that_preconditioning_reached() {
    let config = one_lane(25.0);
    let spec = RunSpec { preconditioning: steady(100.0), executor: ssd::Executor::Functional, ..closed(32) };
    let writes = generator(600_000, "read_percent = 0\nsize_bytes = 4096");
    let result = run(&config, &writes, &spec);
    let before = result.preconditioning.write_amplification.unwrap();
    let measured = result.write_amplification.unwrap();
    assert!((measured / before - 1.0).abs() < 0.03, "before {before}, measured {measured}");
    let causes: f64 = result.write_amplification_by_cause.iter().filter_map(|(_, share)| *share).sum();
    assert!((causes - measured).abs() < 1e-9);
}

#[test]
fn a_drive_is_filled_to_the_utilisation_asked_for() {
    let mut drive = Drive::new(&small_drive()).unwrap();
    let wanted =
        Preconditioning { fill_percent: 75.0, overwrite: Overwrite::Times(0.5), ..Default::default() };
    let mut phases = Vec::new();
    let done =
        precondition(&mut drive, 1, &wanted, &mut |at| phases.push((at.phase, at.done, at.total))).unwrap();
    let filled = (f64::from(drive.logical_units()) * 0.75).round() as u64;
    assert_eq!((done.units_filled, done.units_overwritten), (filled, (filled as f64 * 0.5).round() as u64));
    assert_eq!(done.steady, None);
    let stats = drive.stats();
    assert_eq!(stats.ftl.host_units, done.units_filled + done.units_overwritten);
    drive.check().unwrap();
    let last = |phase| phases.iter().rev().find(|at| at.0 == phase).copied();
    assert_eq!(last(Phase::Filling), Some((Phase::Filling, filled, Some(filled))));
    let overwritten = done.units_overwritten;
    assert_eq!(last(Phase::Overwriting), Some((Phase::Overwriting, overwritten, Some(overwritten))));
    assert_eq!(drive.now(), ssd::SimTime::ZERO, "no time passes");
}

#[test]
fn counters_begin_at_zero_after_it() {
    let result = run(&small_drive(), &generator(2_000, "read_percent = 100"), &closed(8));
    assert_eq!(result.ftl.host_units, 0);
    assert_eq!((result.flash.programs.sum(), result.flash.erases.sum()), (0, 0));
    assert_eq!(result.write_amplification, None);
    assert!(result.preconditioning.units_overwritten > 0);
}

#[test]
fn erase_counts_are_given() {
    let counts = |erase_counts, seed| {
        let mut drive = Drive::new(&small_drive()).unwrap();
        let wanted = Preconditioning { erase_counts, ..common::used() };
        precondition(&mut drive, seed, &wanted, &mut |_| {}).unwrap();
        drive.erase_counts()
    };
    assert!(counts(EraseCounts::Equal(1_000), 1).iter().all(|&count| count == 1_000));
    let uniform = counts(EraseCounts::Uniform { min: 10, max: 19 }, 1);
    assert!((10..20).all(|count| uniform.contains(&count)), "each count is some block's: {uniform:?}");
    assert!(uniform.iter().all(|count| (10..20).contains(count)));
    assert_eq!(uniform, counts(EraseCounts::Uniform { min: 10, max: 19 }, 1));
    assert_ne!(uniform, counts(EraseCounts::Uniform { min: 10, max: 19 }, 2));
    assert!(counts(EraseCounts::AsIs, 1).iter().any(|&count| count > 0));
}

#[test]
fn steady_state_is_bounded_and_says_when_it_was_not_reached() {
    let overwrite = Overwrite::SteadyState { change_percent: 0.001, times_at_most: 1.5 };
    let wanted = Preconditioning { fill_percent: 100.0, overwrite, ..Default::default() };
    let mut drive = Drive::new(&small_drive()).unwrap();
    let done = precondition(&mut drive, 1, &wanted, &mut |_| {}).unwrap();
    assert_eq!(done.steady, Some(false));
    assert_eq!(done.units_overwritten, (done.units_filled as f64 * 1.5).round() as u64);
}

#[test]
fn a_drive_that_wears_out_meanwhile_is_an_error_with_a_reason() {
    let mut config = small_drive();
    config.reliability.endurance_cycles = 3;
    let wanted = Preconditioning { overwrite: Overwrite::Times(40.0), ..common::used() };
    let error =
        try_run(&config, &generator(10, ""), &RunSpec { preconditioning: wanted, ..closed(1) }).unwrap_err();
    let text = error.to_string();
    let Failure::Preconditioning(PreconditionError::NoRoom { phase, written, wanted, retired, .. }) =
        error.failure
    else {
        panic!("{text}")
    };
    assert!(phase == Phase::Overwriting && written < wanted && retired > 0, "{text}");
    assert!(text.contains("blocks retired") && error.result.is_none(), "{text}");
}

#[test]
fn senseless_settings_name_their_key() {
    for (wanted, key) in [
        (Preconditioning { fill_percent: 101.0, ..Default::default() }, "run.fill_percent"),
        (Preconditioning { fill_percent: f64::NAN, ..Default::default() }, "run.fill_percent"),
        (Preconditioning { overwrite: Overwrite::Times(-1.0), ..common::used() }, "run.overwrite_times"),
    ] {
        let mut drive = Drive::new(&small_drive()).unwrap();
        let error = precondition(&mut drive, 1, &wanted, &mut |_| {}).unwrap_err().to_string();
        assert!(error.starts_with(key) && error.contains("allowed"), "{error}");
    }
}
