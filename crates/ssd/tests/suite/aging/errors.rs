//! How many errors a page has, and what a read makes of them.

use crate::aging::support::{YEAR, chip, config, fill, minutes, model, near, page_of};
use ssd::nand::aging::{Attempt, Sensed};
use ssd::nand::cell::sector::binomial_at_most;
use ssd::nand::cell::{Block, CellPart, CellState, Damage, Group};
use ssd::rng::Rng;
use ssd::sections::{DisturbLaw, SectorErrors};

/// The block that all are alike to.
const AVERAGE: Block = Block { quality: 0.65, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };

/// Best voltages against the exact model at 600 states: 1 % or 0.2 bit, for both laws of read disturb.
#[test]
fn errors_are_those_of_the_exact_model() {
    for law in [DisturbLaw::Linear, DisturbLaw::Voltage] {
        let mut cfg = config();
        cfg.errors.disturb_law = law;
        let model = model(&cfg);
        let mut rng = Rng::named(4, "states");
        let mut most = 0.0f64;
        let fresh = chip(&cfg);
        for _ in 0..600 {
            let (cycles, aged) =
                (rng.below(16_000) >> rng.below(10), u64::from(rng.below(5_256_000)) >> rng.below(22));
            let mut chip = fresh.clone();
            chip.set_erase_count(3, cycles);
            fill(&mut chip, 3);
            chip.advance_clock(minutes(aged));
            let (wordline, page_type) = (1 + rng.below(46), rng.below(3));
            let kcycles = f64::from(cycles) / 1e3;
            let page = page_of(wordline, page_type);
            let age = chip.page_age(3, page);
            let group = Group::ALL[usize::from(age.group)];
            let endured = model.erc_max(group, kcycles) / model.adjacent(group, kcycles);
            let wanted = (endured.min(20_000.0) * f64::from(rng.below(100)) / 100.0) as u32;
            let mut hammered = 0;
            while hammered < wanted {
                // CSB pages count 1, at each attempt.
                let sensed = chip.sense(3, page_of(wordline - 1, 1), 0);
                hammered += u32::from(sensed.failed) + 1;
                assert!(sensed.readable);
            }
            let erc = model.adjacent(group, kcycles) * f64::from(hammered) / model.erc_max(group, kcycles);
            let state = CellState {
                retention_hours: aged as f64 / 60.0,
                height: model.height_of(group),
                erc_fraction: if law == DisturbLaw::Voltage { erc } else { 0.0 },
                ..model.worn_state(&AVERAGE, &Damage { lasting: kcycles, done: kcycles })
            };
            let cells = model.distribution(&state);
            let best = model.optimal_references(&cells);
            let bits = model.sector_bits(model.page_rber(&cells, page_type as usize, &best));
            let exact = if law == DisturbLaw::Linear { model.disturbed_bits(bits, erc) } else { bits };
            let found = f64::from(chip.margin(3, page).expect("cells that age").bits_q8) / 256.0;
            let off = (found - exact).abs() / (0.01 * exact).max(0.2);
            assert!(off <= 1.0, "{law:?} {state:?}, {group:?} {page_type} erc {erc}: {found}, {exact}");
            most = most.max(off);
        }
        assert!(most > 0.01, "compared with itself?");
    }
}

#[test]
fn a_fresh_block_is_read_at_the_first_attempt() {
    let mut chip = chip(&config());
    fill(&mut chip, 3);
    for page in 0..chip.pages_per_block() {
        assert_eq!(chip.sense(3, page, 0), Sensed { failed: 0, readable: true });
    }
}

/// Retries after 12 months at 1, 2, 4, 6, 8 and 10K cycles: 2 to 7 for the worst page of the worst wordline (RealWear,
/// and the exact model's own answer).
#[test]
fn retries_grow_with_cycles_as_the_exact_model_says() {
    let mut cfg = config();
    cfg.cells.effects.rtn_bits = 0.0;
    let model = model(&cfg);
    let mut chip = chip(&cfg);
    let ages = [(0, 1_000), (1, 2_000), (2, 4_000), (3, 6_000), (4, 8_000), (5, 10_000)];
    for (block, cycles) in ages {
        chip.set_erase_count(block, cycles);
        fill(&mut chip, block);
    }
    chip.advance_clock(minutes(YEAR));
    let mut found = Vec::new();
    for (block, cycles) in ages {
        let kcycles = f64::from(cycles) / 1e3;
        let state = CellState {
            retention_hours: 8_760.0,
            ..model.worn_state(&AVERAGE, &Damage { lasting: kcycles, done: kcycles })
        };
        let cells = model.distribution(&state);
        for page_type in 0..3 {
            let bits = |entry| {
                let references = model.retry_references(state.wear_kcycles, 0, entry);
                model.sector_bits(model.page_rber(&cells, page_type as usize, &references))
            };
            let exact = (0..=15).find(|&entry| bits(entry) <= 64.0).expect("a page that can be read");
            let sensed = chip.sense(block, page_of(0, page_type), 0);
            assert!(sensed.readable);
            // A page within the tables' error of the limit may go either way.
            let close = (0..=exact).any(|entry| (bits(entry) - 64.0).abs() < 0.64);
            assert!(u32::from(sensed.failed) == exact || close, "{cycles} cycles: {sensed:?}, {exact}");
            found.push(sensed.failed);
        }
    }
    let worst = |at: usize| *found[3 * at..][..3].iter().max().expect("three page types");
    assert_eq!((worst(0), worst(5)), (2, 7), "{found:?}");
}

/// Beginning with the entry that fits costs no retries, beginning beyond it the way back.
#[test]
fn attempts_go_up_then_down_then_track() {
    let mut cfg = config();
    cfg.cells.effects.rtn_bits = 0.0;
    let mut aged = chip(&cfg);
    aged.set_erase_count(0, 10_000);
    fill(&mut aged, 0);
    aged.advance_clock(minutes(YEAR));
    let page = page_of(0, 0);
    let direct = aged.sense(0, page, 0);
    assert!(direct.failed >= 2 && direct.readable);
    assert_eq!(aged.sense(0, page, direct.failed), Sensed { failed: 0, readable: true });
    assert_eq!(aged.sense(0, page, direct.failed - 1), Sensed { failed: 1, readable: true });
    // Fresh data is read by the low entries only: from the last one, down.
    fill(&mut aged, 1);
    let (from_top, last) = (aged.sense(1, page, 15), 15);
    assert!(from_top.readable && from_top.failed > 0);
    assert_eq!(aged.sense(1, page, last - from_top.failed), Sensed { failed: 0, readable: true });
    for failed in 0..16 {
        assert_eq!(aged.attempt(0, failed), Attempt::Entry);
    }
    assert_eq!(aged.attempt(0, 16), Attempt::Tracking);
}

/// QLC with LDPC: what hard reads cannot correct, soft ones can, up to the limit of the last step.
#[test]
fn soft_sensing_comes_last() {
    let mut cfg = config();
    cfg.geometry.bits_per_cell = 4;
    cfg.cells = CellPart::preset("qlc").expect("a shipped part");
    let mut chip = chip(&cfg);
    assert_eq!(chip.attempt(0, 17), Attempt::Soft(1));
    assert_eq!(chip.attempt(0, 18), Attempt::Soft(2));
    let (mut steps, mut lost) = ([0; 3], 0);
    let limits = [4.0e-3, 7.0e-3, 1.1e-2].map(|rber| (8_192.0 * rber) as u32 * 256);
    for block in 0..12 {
        chip.set_erase_count(block, 100 * block);
        fill(&mut chip, block);
    }
    chip.advance_clock(minutes(YEAR));
    for (block, page) in (0..12).flat_map(|block| (0..192).map(move |page| (block, page))) {
        // Before the read, which disturbs others.
        let bits_q8 = chip.margin(block, page).expect("cells that age").bits_q8;
        let sensed = chip.sense(block, page, 0);
        let expected = limits.iter().position(|&limit| bits_q8 <= limit);
        assert_eq!(sensed.readable, expected.is_some() || sensed.failed < 16, "{bits_q8}: {sensed:?}");
        match expected {
            Some(step) => {
                steps[step] += 1;
                assert!(step == 0 || usize::from(sensed.failed) == 16 + step || sensed.failed < 16);
            }
            None => lost += 1,
        }
    }
    assert!(steps[1] > 0 && steps[2] > 0 && lost > 0, "{steps:?} {lost}");
}

/// Noise is even over +-2 bits: each bit of the limit takes in a quarter of the reads, and all of them within 4.
#[test]
fn telegraph_noise_moves_reads_over_the_limit() {
    let share = |limit_bits: u32| {
        let mut cfg = config();
        cfg.cells.ecc.limit_bits = limit_bits;
        cfg.cells.retry.entries = 0;
        cfg.errors.tracking_reads = 0;
        let mut chip = chip(&cfg);
        chip.set_erase_count(0, 2_000);
        fill(&mut chip, 0);
        chip.advance_clock(minutes(YEAR / 365));
        let read = |_| f64::from(u8::from(chip.sense(0, page_of(0, 2), 0).readable));
        (0..20_000).map(read).sum::<f64>() / 20_000.0
    };
    let model = model(&config());
    let state = CellState {
        retention_hours: 24.0,
        ..model.worn_state(&AVERAGE, &Damage { lasting: 2.0, done: 2.0 })
    };
    let references = model.retry_references(state.wear_kcycles, 0, 0);
    let bits = model.sector_bits(model.page_rber(&model.distribution(&state), 2, &references));
    assert!(bits > 10.0 && bits < 60.0, "{bits}");
    let middle = bits.floor() as u32;
    let shares: Vec<f64> = (middle - 2..=middle + 3).map(share).collect();
    let slack = 0.012 + 0.01 * bits / 4.0;
    for (limit, found) in (middle - 2..).zip(&shares) {
        near(*found, ((f64::from(limit) - bits + 2.0) / 4.0).clamp(0.0, 1.0), slack);
    }
    for pair in shares[1..5].windows(2) {
        near(pair[1] - pair[0], 0.25, 0.012);
    }
}

/// Sectors drawn around the mean: all of a page's must be correctable.
#[test]
fn drawn_sectors_fail_as_the_binomial_says() {
    let mut cfg = config();
    cfg.errors.sectors = SectorErrors::Drawn;
    cfg.cells.retry.entries = 0;
    let mut chip = chip(&cfg);
    let sectors = f64::from(cfg.geometry.page_bytes / 1_024);
    let mut between = 0;
    for block in 0..8 {
        chip.set_erase_count(block, 6_000 + 700 * block);
        fill(&mut chip, block);
    }
    chip.advance_clock(minutes(YEAR / 2));
    for block in 0..8 {
        let page = page_of(0, 0);
        let bits = f64::from(chip.margin(block, page).expect("cells that age").bits_q8) / 256.0;
        let exact = binomial_at_most(8_192, bits / 8_192.0, 64).powf(sectors);
        let read = |_| f64::from(u8::from(chip.sense(block, page, 0).readable));
        let found = (0..20_000).map(read).sum::<f64>() / 20_000.0;
        near(found, exact, 0.015);
        between += u32::from(exact > 0.05 && exact < 0.95);
    }
    assert!(between > 1, "no page between readable and lost");
}
