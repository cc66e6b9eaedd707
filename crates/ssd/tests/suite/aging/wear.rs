//! Wear and time: modes, dwell, temperature.

use crate::aging::support::{MINUTE_NS, YEAR, chip, config, fill, minutes, model, near};
use ssd::SimTime;
use ssd::nand::Outcome;
use ssd::nand::cell::{CellPart, Damage};
use ssd::sections::ArrayTimes;

/// A cycle of the reference dwell.
const CYCLE: u64 = 1 << 20;

/// Factors of RealWear and calibration section 1.3: 12 months at 30 degrees are 12 months, at 55 they are 25 times as
/// long.
#[test]
fn retention_goes_by_the_arrhenius_factor() {
    let aged = |celsius: f64, time: SimTime| {
        let mut cfg = config();
        cfg.errors.temperature_c = celsius;
        let mut chip = chip(&cfg);
        fill(&mut chip, 0);
        chip.advance_clock(time);
        u64::from(chip.page_age(0, 0).minutes)
    };
    let factor = model(&config()).arrhenius(30.0, 55.0);
    near(factor, 24.7, 0.5);
    assert_eq!(aged(30.0, minutes(YEAR)), YEAR);
    assert_eq!(aged(55.0, minutes(YEAR)), (YEAR as f64 * factor) as u64);
    assert_eq!(aged(0.0, minutes(YEAR)), (YEAR as f64 * model(&config()).arrhenius(30.0, 0.0)) as u64);
    assert_eq!(aged(30.0, SimTime(MINUTE_NS - 1)), 0);
    assert_eq!(aged(30.0, SimTime(MINUTE_NS)), 1);
    // Beyond 255 years the clock stands, as the tables do.
    assert_eq!(aged(85.0, minutes(YEAR)), 1 << 27);
}

/// Data is as old as the block's first page.
#[test]
fn data_ages_from_the_first_program_on() {
    let mut chip = chip(&config());
    chip.advance_clock(minutes(100));
    chip.program(0, 0);
    chip.advance_clock(minutes(150));
    chip.program(0, 1);
    assert_eq!((chip.page_age(0, 0).minutes, chip.page_age(0, 1).minutes), (50, 50));
    chip.erase(0);
    chip.program(0, 0);
    assert_eq!(chip.page_age(0, 0).minutes, 0);
}

/// A cycle counts at the erase that ends it, with what the time since the erase before left of it: whether the block
/// held data then or lay erased.
#[test]
fn dwell_leaves_its_share_of_a_cycle() {
    for (rest, factor) in
        [(0, 1.0), (1, 1.0), (5, 0.885), (10, 0.835), (30, 0.757), (180, 0.629), (9_999, 0.629)]
    {
        let cfg = config();
        let exact = model(&cfg).dwell_factor(rest as f64, 30.0);
        near(exact, factor, 0.0006);
        for erased_for in [0, rest / 2, rest] {
            let mut chip = chip(&cfg);
            chip.advance_clock(minutes(3));
            chip.erase(0);
            assert_eq!(chip.true_wear(0).map(|wear| wear.done_q20), Some(0), "never programmed");
            chip.advance_clock(minutes(3 + erased_for));
            fill(&mut chip, 0);
            chip.advance_clock(minutes(3 + rest));
            assert_eq!(chip.true_wear(0).map(|wear| wear.done_q20), Some(0), "its cycle is not over");
            chip.erase(0);
            let wear = chip.true_wear(0).expect("cells that age");
            near(wear.lasting_q20 as f64 / CYCLE as f64, exact, 1e-4);
            assert_eq!(wear.done_q20, CYCLE);
        }
    }
}

/// The first erase ends the cycle that began with the drive, and one of a block without data ends none.
#[test]
fn a_cycle_is_a_program_and_an_erase() {
    let mut chip = chip(&config());
    let done = |chip: &ssd::nand::Chip| chip.true_wear(0).map(|wear| wear.done_q20 / CYCLE);
    chip.erase(0);
    chip.erase(0);
    assert_eq!((done(&chip), chip.erase_count(0)), (Some(0), 2));
    chip.program(0, 0);
    chip.advance_clock(minutes(1_000));
    chip.erase(0);
    let wear = chip.true_wear(0).expect("cells that age");
    assert_eq!((wear.done_q20, chip.erase_count(0)), (CYCLE, 3));
    near(wear.lasting_q20 as f64 / CYCLE as f64, 0.629, 0.0006);
}

/// `rest_recovery`: 3 months at 40 degrees take that share of what lasts beyond full recovery, at the next erase;
/// data that lies is read no better for it.
#[test]
fn long_rests_take_old_wear_away() {
    // 1,000 cycles that all last; .629 of them is what full recovery would leave.
    let left = |share: f64, rest: u64| {
        let mut cfg = config();
        cfg.cells.population.rest_recovery = share;
        let mut chip = chip(&cfg);
        chip.set_erase_count(0, 1_000);
        chip.program(0, 0);
        let lasting = |chip: &ssd::nand::Chip| {
            let wear = chip.true_wear(0).expect("cells that age");
            (wear.lasting_q20 as f64 / CYCLE as f64, wear.done_q20)
        };
        chip.advance_clock(minutes(rest));
        assert_eq!(lasting(&chip), (1_000.0, 1_000 * CYCLE), "data lies");
        chip.erase(0);
        assert_eq!(lasting(&chip).1, 1_001 * CYCLE);
        lasting(&chip).0
    };
    let (full, beyond) = (0.628_7 * 1_001.0, 1_000.0 * (1.0 - 0.628_7));
    for (share, rest, taken) in [
        (0.0, 497_000, 0.0),
        (1.0, 180, 0.0),
        (1.0, 497_000, 1.0),
        (0.5, 497_000, 0.5),
        (0.5, 5_000_000, 0.5),
        // ln(1,800 / 180) / ln(497,000 / 180) = 2.303 / 7.924.
        (0.5, 1_800, 0.145_3),
    ] {
        near(left(share, rest), full + beyond * (1.0 - taken), 2.0);
    }
}

/// In bulk as one by one, and as the laboratory counts.
#[test]
fn rests_in_bulk_are_rests_one_by_one() {
    let mut cfg = config();
    cfg.cells.population.rest_recovery = 0.02;
    let mut single = chip(&cfg);
    single.set_erase_count(0, 1_000);
    cfg.drive.over_provisioning_percent = 110.0;
    let mut drive = ssd::Drive::new(&cfg).expect("a drive");
    for step in ["cycle to 1000", "cycle to 1050 with 2 days dwell"] {
        drive.age(&step.parse().expect("a step")).expect("room in the tables");
    }
    let mut exact = Damage { lasting: 1.0, done: 1.0 };
    for cycle in 1..=50 {
        single.program(0, 0);
        single.advance_clock(minutes(2_880 * cycle));
        single.erase(0);
        exact.cycle(&model(&cfg), 0.001, 2_880.0, 30.0, 0);
    }
    let lasting =
        |chip: &ssd::nand::Chip| chip.true_wear(0).map_or(0.0, |wear| wear.lasting_q20 as f64 / CYCLE as f64);
    near(lasting(&single), 1_000.0 * exact.lasting, 0.3);
    near(lasting(drive.chips()), 1_000.0 * exact.lasting, 0.3);
    assert!(exact.lasting < 0.95, "much has recovered: {exact:?}");
}

/// HIRE: a cycle in the reduced, normal and boosted mode wears 0.8, 1 and 1.2 times.
#[test]
fn modes_wear_by_their_weights() {
    let mut cfg = config();
    cfg.geometry.bits_per_cell = 2;
    cfg.cells = CellPart::preset("mlc_hire").expect("a shipped part");
    let mut chip = chip(&cfg);
    for (mode, weight) in [(0, 1.0), (1, 1.2), (2, 0.8)] {
        for _ in 0..500 {
            chip.program_in(mode, 0, mode as u8);
            chip.erase(mode);
        }
        let wear = chip.true_wear(mode).expect("cells that age");
        near(wear.done_q20 as f64 / CYCLE as f64, 500.0 * weight, 0.001);
        assert_eq!((wear.lasting_q20, chip.erase_count(mode)), (wear.done_q20, 500));
    }
    chip.program_in(1, 0, 1);
    assert_eq!(chip.mode(1), 1);
    chip.erase(1);
    assert_eq!(chip.mode(1), 0, "an erased block has the drive's own mode");
}

#[test]
fn the_first_page_chooses_the_mode_of_a_block() {
    let mut chip = chip(&config());
    let own = chip.mode(0);
    assert_eq!(chip.program_in(0, 0, 1), Outcome::Pass);
    assert_eq!(chip.program_in(0, 1, 2), Outcome::Pass);
    assert_eq!(chip.program(0, 2), Outcome::Pass);
    assert_eq!((chip.mode(0), chip.mode(1)), (1, own));
}

#[test]
#[should_panic(expected = "program mode 7, the part has 3")]
fn a_part_has_so_many_modes() {
    chip(&config()).program_in(0, 0, 7);
}

/// `set_erase_count` wears like so many cycles of the reference dwell, one by one.
#[test]
fn cycles_in_bulk_wear_like_cycles_one_by_one() {
    let mut chip = chip(&config());
    chip.set_erase_count(0, 300);
    for _ in 0..300 {
        chip.program(1, 0);
        chip.erase(1);
    }
    assert_eq!(chip.true_wear(0), chip.true_wear(1));
    assert_eq!((chip.erase_count(0), chip.erase_count(1)), (300, 300));
    // The block that all are alike to has quality .65: N12 13.65 + 4.1 P, the tables' own 13.9 + 4.14 P.
    let expected = (1_000.0 * (13.65 + 4.1 * 0.3 - 13.9) / 4.14) as u32;
    assert_eq!(chip.true_wear(0).map(|wear| wear.equivalent_cycles), Some(expected));
    chip.set_erase_count(0, 100);
    assert_eq!(chip.true_wear(0).map(|wear| wear.done_q20), Some(100 * CYCLE), "younger again");
}

/// Erases take whole pulses, programs get shorter; nominal is an unworn average block.
#[test]
fn times_of_the_array_follow_wear_if_asked() {
    let mut cfg = config();
    let fixed = chip(&cfg);
    assert_eq!((fixed.time_scale_q12(0, true), fixed.time_scale_q12(0, false)), (4_096, 4_096));
    cfg.errors.array_times = ArrayTimes::Worn;
    let mut worn = chip(&cfg);
    assert_eq!((worn.time_scale_q12(0, true), worn.time_scale_q12(0, false)), (4_096, 4_096));
    worn.set_erase_count(0, 5_000);
    let seen = worn.telemetry(0).expect("cells that age");
    assert_eq!(worn.time_scale_q12(0, true), 4_096 * seen.erase_pulses);
    assert!(seen.erase_pulses >= 2);
    let unworn = worn.telemetry(1).expect("cells that age").program_ns;
    let expected = 4_096.0 * f64::from(seen.program_ns) / f64::from(unworn);
    near(f64::from(worn.time_scale_q12(0, false)), expected, 1.0);
    assert!(seen.program_ns < unworn);
}
