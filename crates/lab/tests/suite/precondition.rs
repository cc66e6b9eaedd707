//! Ageing a drive before the measurement.

use crate::common;

use common::{closed, generator, run, small_drive, try_run};
use lab::experiment::prepare;
use lab::precondition::PreconditionError;
use lab::{
    AgeSteps, EraseCounts, Failure, Overwrite, Past, Phase, Preconditioned, Preconditioning, RunSpec,
    SteadyWay, precondition,
};
use ssd::sections::Superblock;
use ssd::{Drive, DriveConfig, Lanes, Pace};

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

/// However few of its requests are measured, a mix has the past of all that it would write: that of the generator which
/// writes the same, where its parts are one, and where they are two with a part that only reads.
#[test]
fn the_past_of_a_mix_does_not_depend_on_how_many_requests_are_measured() {
    let config = one_lane(25.0);
    let amplification = |workload: &workload::Prepared, requests| {
        let preconditioning = Preconditioning { past: Past::Own, ..steady(100.0) };
        let spec = RunSpec { preconditioning, requests, executor: ssd::Executor::Functional, ..closed(32) };
        let result = run(&config, workload, &spec);
        assert_eq!(result.preconditioning.past, "own");
        assert_eq!(result.preconditioning.steady, Some(true));
        result.preconditioning.write_amplification.unwrap()
    };
    let mix = |places: &str| {
        let space_mib = f64::from(Drive::new(&config).unwrap().logical_units()) / 256.0;
        let part = |share: f64, read: f64| {
            format!(
                "{{ share_percent = {share}, read_percent = {read}, space_mib = {space_mib:?}, size_bytes = 4096, \
                 {places} }}"
            )
        };
        let text = format!("chunk_kib = 0\nparts = [{}, {}]", part(40.0, 100.0), part(60.0, 50.0));
        workload::Spec::parse(&text).unwrap().prepare().unwrap()
    };
    let hot = "places = 'hot_cold', hot_space_percent = 20.0, hot_access_percent = 80.0";
    let zipf = "places = 'zipf', theta = 0.9";
    for (places, same) in [
        ("places = 'uniform'", Some("pattern = 'uniform'")),
        (hot, None),
        (zipf, Some("pattern = 'zipf'\nzipf_theta = 0.9\nscatter = false")),
    ] {
        let few = amplification(&mix(places), Some(100));
        let many = amplification(&mix(places), Some(300_000));
        assert_eq!(few, many, "{places}");
        if let Some(same) = same {
            let text = format!("{same}\ncount = 4000\nread_percent = 0\nsize_bytes = 4096");
            let plain = workload::Spec::parse(&text).unwrap().prepare().unwrap();
            let plain = amplification(&plain, None);
            assert!((few / plain - 1.0).abs() < 0.03, "{places}: {few}, a generator's {plain}");
        }
    }
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
        drive.blocks().erase_counts()
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

/// Every block was programmed, cleaning has begun, and the word for it is right.
fn is_turned_over(drive: &Drive, done: &Preconditioned, what: &str) {
    assert_eq!((done.steady, done.turned_over), (Some(true), true), "{what}: {done:?}");
    assert_eq!(done.state, "steady", "{what}");
    let blocks = drive.blocks().table();
    let virgin = blocks.iter().filter(|block| block.erases == 0 && block.programmed_units == 0).count();
    assert_eq!(virgin, 0, "{what}: blocks that nothing was written to, of {}", blocks.len());
    let Lanes { blocks, units, live_units, erases } = drive.blocks().lanes();
    let data = live_units.div_ceil(erases.len() as u64 * u64::from(units));
    let spare = u64::from(blocks) - data;
    assert!(erases.iter().all(|&erases| erases >= spare), "{what}: {erases:?} of {spare}");
}

#[test]
fn steady_is_said_once_every_block_was_programmed_and_cleaning_goes_round_whatever_the_spare() {
    for percent in [3.0, 7.0, 28.0, 60.0, 99.0, 101.0, 150.0, 250.0, 400.0] {
        let mut config = small_drive();
        config.geometry.blocks_per_plane = 300;
        config.drive.over_provisioning_percent = percent;
        // A drive of which little is filled has as much spare.
        for fill_percent in [100.0, 40.0] {
            let mut drive = Drive::new(&config).unwrap();
            let done = precondition(&mut drive, 1, &steady(fill_percent), &mut |_| {}).unwrap();
            is_turned_over(&drive, &done, &format!("{percent} % spare, {fill_percent} % filled"));
            // Where there is a lot of room, blocks are empty before they are cleaned.
            let amplification = done.write_amplification.unwrap();
            let moves = amplification > 1.0 || percent * 100.0 / fill_percent > 300.0;
            assert!(moves, "{percent} %, {fill_percent} %: {done:?}");
        }
        // A generator's own writes, which are drawn.
        let preconditioning = Preconditioning { past: lab::Past::Own, ..steady(100.0) };
        let spec = RunSpec { preconditioning, executor: ssd::Executor::Functional, ..closed(1) };
        let done = run(&config, &generator(100, "read_percent = 0"), &spec).preconditioning;
        assert_eq!(
            (done.past.as_str(), done.steady, done.turned_over),
            ("own", Some(true), true),
            "{done:?}"
        );
    }
}

/// What is not used is no spare room, and no part of what is told of the drive.
#[test]
fn spare_room_is_that_of_the_flash_that_is_used() {
    let mut all = small_drive();
    all.geometry.blocks_per_plane = 150;
    let mut some = all.clone();
    some.drive.raw_gib = all.used_bytes() as f64 / f64::from(1 << 30);
    some.geometry.blocks_per_plane = 220;
    let spec = RunSpec { preconditioning: steady(100.0), ..closed(8) };
    let [all, some] = [all, some].map(|config| run(&config, &generator(20_000, "read_percent = 0"), &spec));
    assert_eq!(some.preconditioning.spare, all.preconditioning.spare);
    assert_eq!(some.drive.physical_bytes, all.drive.physical_bytes);
    assert_eq!(some.erase_count, all.erase_count);
    assert_eq!(some.write_amplification, all.write_amplification);
    assert_eq!(some.remarks, all.remarks);
}

/// One that may not be written for so long is no worse than it says.
#[test]
fn what_is_not_turned_over_is_not_steady() {
    let mut config = small_drive();
    config.drive.over_provisioning_percent = 400.0;
    let overwrite = Overwrite::SteadyState { change_percent: 2.0, times_at_most: 1.0 };
    let wanted = Preconditioning { overwrite, ..steady(100.0) };
    let mut drive = Drive::new(&config).unwrap();
    let done = precondition(&mut drive, 1, &wanted, &mut |_| {}).unwrap();
    assert_eq!((done.steady, done.turned_over), (Some(false), false), "{done:?}");
    assert_eq!(done.state, "not turned over");
    let spare = f64::from(drive.logical_units()) * 4.0;
    assert!((done.units_overwritten as f64 / spare - 1.0).abs() < 0.1, "once the spare room: {done:?}");
}

#[test]
fn a_die_that_a_drive_is_laid_out_like_was_turned_over() {
    let mut config = one_lane(150.0);
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.blocks_per_plane) = (4, 2, 200);
    config.buffer = ssd::host::buffer::none::Params::default().into();
    let wanted = Preconditioning { steady_way: SteadyWay::OneDie, ..steady(100.0) };
    let mut drive = Drive::new(&config).unwrap();
    let (steps, stop) = (AgeSteps::default(), lab::Stop::default());
    let done = prepare(&mut drive, &config, &wanted, &steps, &stop, &mut |_| {}).unwrap();
    assert_eq!((done.state.as_str(), done.steady), ("laid out as if overwritten", Some(true)), "{done:?}");
    let mut whole = Drive::new(&config).unwrap();
    let long = precondition(&mut whole, 1, &steady(100.0), &mut |_| {}).unwrap();
    let (a, b) = (long.write_amplification.unwrap(), done.write_amplification.unwrap());
    assert!((b / a - 1.0).abs() < 0.02, "{a} the long way, {b} the short one");
}

#[test]
fn a_drive_that_wears_out_meanwhile_is_an_error_with_a_reason() {
    let mut config = small_drive();
    config.reliability.endurance_cycles = 3;
    let wanted = Preconditioning { overwrite: Overwrite::Times(40.0), ..common::used() };
    let error =
        try_run(&config, &generator(10, ""), &RunSpec { preconditioning: wanted, ..closed(1) }).unwrap_err();
    let text = error.to_string();
    let Failure::Preconditioning(PreconditionError::WornOut { phase, written_bytes, logical_bytes, retired }) =
        error.failure
    else {
        panic!("{text}")
    };
    assert!(phase == Phase::Overwriting && retired > 0 && error.result.is_none(), "{text}");
    assert_eq!(logical_bytes, config.logical_bytes(), "{text}");
    // It is filled once at least. Three erases of each block, and those that are written after them, are four times its
    // flash.
    let most = 4 * config.geometry.physical_bytes();
    assert!((logical_bytes..=most).contains(&written_bytes), "{written_bytes} of {most}");
    for told in ["wore out while overwriting", "drive writes", "nand.reliability.endurance_cycles"] {
        assert!(text.contains(told) && !text.contains("full"), "{text}");
    }
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

/// What an earlier run left to be locked is no past that was written here: it is not locked in no time.
#[test]
fn a_drive_that_is_not_preconditioned_stays_as_it_was() {
    let mut config = small_drive();
    config.sanitize = ssd::ftl::sanitize::Config::named("page_lock").unwrap();
    config.drive.over_provisioning_percent = 12.0;
    let mut drive = Drive::new(&config).unwrap();
    let units = drive.logical_units();
    let done = Preconditioning { fill_percent: 100.0, ..Preconditioning::default() };
    precondition(&mut drive, 1, &done, &mut |_| {}).unwrap();
    let written: Vec<u32> = (0..units).step_by(3).collect();
    drive.past().overwrite(Pace::Saturated, &written).unwrap();
    let before = (drive.stats(), drive.event_hash());
    precondition(&mut drive, 1, &Preconditioning::default(), &mut |_| {}).unwrap();
    assert_eq!((drive.stats(), drive.event_hash()), before);
    assert!(
        drive.past().catch_up(Pace::Relaxed) || drive.stats() != before.0,
        "something was left to be locked"
    );
}

/// Shares of full blocks with so many tenths of their units live.
fn tenths(drive: &Drive) -> [f64; 11] {
    let (blocks, units) = (drive.blocks().full(), drive.blocks().lanes().units);
    let mut shares = [0.0; 11];
    for &(_, live) in &blocks {
        shares[(live * 10 / units) as usize] += 1.0 / blocks.len() as f64;
    }
    shares
}

#[test]
fn a_drive_like_one_die_is_as_one_that_was_overwritten_as_a_whole() {
    let mut config = one_lane(9.0);
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.blocks_per_plane) = (4, 2, 300);
    config.buffer = ssd::host::buffer::none::Params::default().into();
    for (policy, pace) in
        [("greedy", Pace::Saturated), ("cost_benefit", Pace::Relaxed), ("random", Pace::Relaxed)]
    {
        config.gc_victim = ssd::ftl::gc_victim::Config::named(policy).unwrap();
        let aged = |way| {
            let wanted = Preconditioning { steady_way: way, pace, ..steady(100.0) };
            // Five passes are more than the search for steady state takes: nothing is left of how it began.
            let overwrite = if way == SteadyWay::Whole { Overwrite::Times(5.0) } else { wanted.overwrite };
            let wanted = Preconditioning { overwrite, ..wanted };
            let mut drive = Drive::new(&config).unwrap();
            let done = prepare(
                &mut drive,
                &config,
                &wanted,
                &AgeSteps::default(),
                &lab::Stop::default(),
                &mut |_| {},
            )
            .unwrap();
            drive.check().unwrap();
            (drive, done)
        };
        let ((whole, long), (like_a_die, short)) = (aged(SteadyWay::Whole), aged(SteadyWay::OneDie));
        assert_eq!((short.steady_way.as_deref(), short.steady), (Some("one_die"), Some(true)), "{policy}");
        assert!(short.units_overwritten < u64::from(whole.logical_units()) / 5, "{policy}: {short:?}");
        // Measured on both for as long: so many writes that the drive forgets how it began would prove nothing.
        let amplification = |drive: &Drive| {
            let mut drive = drive.clone();
            let writes =
                generator(u64::from(drive.logical_units()) / 4, "read_percent = 0\nsize_bytes = 4096");
            let spec = RunSpec { executor: ssd::Executor::Functional, ..RunSpec::default() };
            let mut source = writes.open(drive.logical_sectors()).unwrap();
            let spec = RunSpec { loop_mode: lab::LoopMode::Closed { depth: 1 }, ..spec };
            lab::run(&mut drive, &config, &mut *source, &spec, &mut |_| {})
                .unwrap()
                .write_amplification
                .unwrap()
        };
        if pace == Pace::Relaxed {
            let (a, b) = (amplification(&whole), amplification(&like_a_die));
            assert!((b / a - 1.0).abs() < 0.02, "{policy}: {a} after the long way, {b} after the short one");
        }
        let (a, b) = (long.write_amplification.unwrap(), short.write_amplification.unwrap());
        assert!((b / a - 1.0).abs() < 0.02, "{policy}: {a} the long way, {b} the short one");
        let apart: f64 = tenths(&whole).iter().zip(tenths(&like_a_die)).map(|(a, b)| (a - b).abs()).sum();
        assert!(apart / 2.0 < 0.03, "{policy}: {:.3?} {:.3?}", tenths(&whole), tenths(&like_a_die));
    }
}

#[test]
fn the_short_way_is_for_large_drives_and_for_steady_state() {
    let config = small_drive();
    let way = |wanted: &Preconditioning| {
        let mut drive = Drive::new(&config).unwrap();
        let done =
            prepare(&mut drive, &config, wanted, &AgeSteps::default(), &lab::Stop::default(), &mut |_| {})
                .unwrap();
        drive.check().unwrap();
        done.steady_way
    };
    assert_eq!(way(&steady(100.0)).as_deref(), Some("whole"), "too small by itself");
    let asked = Preconditioning { steady_way: SteadyWay::OneDie, ..steady(100.0) };
    assert!(way(&asked).is_some());
    let times = Preconditioning { overwrite: Overwrite::Times(0.5), ..asked };
    assert_eq!(way(&times), None);
}

/// Write amplification of uniform writes where time passes, for as long as it takes to become steady and once more.
fn timed(config: &DriveConfig, pace: Pace, paced: &str, loop_mode: lab::LoopMode) -> (f64, f64) {
    let units = config.logical_units();
    let preconditioning = Preconditioning { pace, ..steady(100.0) };
    let spec = RunSpec { preconditioning, loop_mode, warm_up: units, ..RunSpec::default() };
    let writes = generator(2 * units, &format!("read_percent = 0\nsize_bytes = 4096\n{paced}"));
    let result = run(config, &writes, &spec);
    (result.preconditioning.write_amplification.unwrap(), result.write_amplification.unwrap())
}

/// One lane at 7 %, written without a buffer, so that nothing is overwritten in DRAM.
fn tight() -> DriveConfig {
    let mut config = one_lane(7.0);
    let g = &mut config.geometry;
    (g.blocks_per_plane, g.wordlines_per_block, g.page_bytes, g.spare_bytes) = (912, 128, 4_096, 512);
    config.buffer = ssd::host::buffer::none::Params::default().into();
    config
}

#[test]
fn a_slow_host_finds_the_free_blocks_that_it_was_promised() {
    let (before, measured) =
        timed(&tight(), Pace::Relaxed, "arrival = \"poisson\"\nrate_iops = 100", lab::LoopMode::Open);
    assert!((measured / before - 1.0).abs() < 0.01, "before {before}, measured {measured}");
}

#[test]
fn so_does_one_that_is_faster_than_cleaning() {
    let closed = lab::LoopMode::Closed { depth: 32 };
    let (before, measured) = timed(&tight(), Pace::Saturated, "", closed);
    assert!((measured / before - 1.0).abs() < 0.02, "before {before}, measured {measured}");
    // The marks make no difference to it, and all to a slow host's drive.
    let mut high = tight();
    let marks = ssd::ftl::gc_trigger::watermark::Params { start_free_percent: 3.0, stop_free_percent: 3.0 };
    high.gc_trigger = marks.into();
    let (high_before, high_measured) = timed(&high, Pace::Saturated, "", closed);
    assert!((high_before / before - 1.0).abs() < 0.001, "{high_before} for {before}");
    assert!((high_measured / measured - 1.0).abs() < 0.02, "{high_measured} for {measured}");
    let relaxed = |config: &DriveConfig| {
        let mut drive = Drive::new(config).unwrap();
        precondition(&mut drive, 1, &steady(100.0), &mut |_| {}).unwrap().write_amplification.unwrap()
    };
    assert!(relaxed(&tight()) > 1.1 * before);
    assert!(relaxed(&high) > 1.2 * relaxed(&tight()));
}
