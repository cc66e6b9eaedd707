//! Calibration section 1: the voltage fit of the 48-layer TLC, temperature, and what multiplies errors.

use super::{aged, best_bits, near, part};
use crate::nand::cell::{CellState, Distribution, Group};

const YEAR: f64 = 8_760.0;
const MONTH: f64 = 730.0;

/// Wear, N(0), N(12) of LSB, CSB and MSB, in bits, as calibration section 1.1 prints them.
const FIT: [[f64; 5]; 8] = [
    [0.0, 4.1, 13.2, 13.0, 11.8],
    [1.0, 5.5, 18.4, 19.1, 16.6],
    [2.0, 6.7, 22.3, 23.6, 20.1],
    [4.0, 9.1, 29.7, 32.4, 26.8],
    [6.0, 11.7, 37.2, 41.3, 33.3],
    [8.0, 14.6, 45.1, 50.3, 39.9],
    [10.0, 17.7, 53.3, 59.6, 46.6],
    [12.0, 21.1, 61.9, 69.0, 53.3],
];

#[test]
fn tlc_has_the_errors_of_the_fit() {
    let tlc = part("tlc_48l");
    for [wear, fresh, lsb, csb, msb] in FIT {
        // The constants are rounded; the script's are not.
        near(best_bits(&tlc, &aged(wear, 0.0), 0), fresh, 0.06);
        near(best_bits(&tlc, &aged(wear, YEAR), 0), lsb, 0.12);
        near(best_bits(&tlc, &aged(wear, YEAR), 1), csb, 0.3);
        near(best_bits(&tlc, &aged(wear, YEAR), 2), msb, 0.2);
        // The pinned line it was fitted to: 13.9 + 4.14 P. At 2K cycles and up within 2.5 bits.
        near(best_bits(&tlc, &aged(wear, YEAR), 0), 13.9 + 4.14 * wear, 2.5);
    }
}

#[test]
fn best_references_move_as_pinned() {
    let tlc = part("tlc_48l");
    let start = tlc.default_references(0);
    for (threshold, volts) in [-0.267, 1.000, 2.012, 2.659, 3.301, 3.943, 4.740].into_iter().enumerate() {
        near(start[threshold + 1], volts, 0.001);
    }
    let shift_mv = |state: &CellState, threshold: usize| {
        1e3 * (tlc.optimal_references(&tlc.distribution(state))[threshold] - start[threshold])
    };
    // Wear, R1, R2 at once, R7 after 12 months; R6 and R7 do not feel wear. 1K: +300 and +100 mV are pinned.
    let rows = [
        [0.0, 0.0, 0.0, -146.0],
        [1.0, 300.0, 100.0, -210.0],
        [2.0, 338.0, 111.0, -236.0],
        [4.0, 380.0, 123.0, -273.0],
        [8.0, 426.0, 137.0, -326.0],
        [12.0, 454.0, 145.0, -367.0],
    ];
    for [wear, r1, r2, r7] in rows {
        near(shift_mv(&aged(wear, 0.0), 1), r1, 1.0);
        near(shift_mv(&aged(wear, 0.0), 2), r2, 1.0);
        near(shift_mv(&aged(wear, 0.0), 6), 0.0, 0.1);
        near(shift_mv(&aged(wear, 0.0), 7), 0.0, 0.1);
        near(shift_mv(&aged(wear, YEAR), 7), r7, 1.0);
    }
    for (warmer, r7) in [(0.0, -199.0), (25.0, -212.0), (50.0, -226.0)] {
        near(shift_mv(&CellState { read_c: 30.0 + warmer, ..aged(4.0, MONTH) }, 7), r7, 1.0);
    }
    let disturbed = CellState { erc_fraction: 1.0, ..aged(2.0, MONTH) };
    assert!(shift_mv(&disturbed, 1) > shift_mv(&aged(2.0, MONTH), 1), "R1 rises with reads");
    near(shift_mv(&disturbed, 2), shift_mv(&aged(2.0, MONTH), 2), 1e-9);
}

#[test]
fn the_best_reference_is_the_best() {
    for name in ["tlc_48l", "slc", "mlc", "qlc", "qlc_modes", "mlc_hire"] {
        let model = part(name);
        for state in [aged(0.0, 0.0), aged(1.0, YEAR), CellState { erc_fraction: 0.8, ..aged(0.5, MONTH) }] {
            let cells = model.distribution(&state);
            for threshold in 1..model.states() {
                let best = cells.optimal_reference(threshold);
                let errors = cells.overlap(threshold, best);
                for off in [-0.02, -0.002, 0.002, 0.02] {
                    assert!(errors <= cells.overlap(threshold, best + off), "{name} {threshold} {off}");
                }
            }
        }
    }
}

#[test]
fn references_that_are_off_cost_what_script_08_prints() {
    let tlc = part("tlc_48l");
    for (wear, low, best, high) in
        [(0.0, 51.4, 13.2, 51.4), (4.0, 80.9, 29.7, 82.6), (8.0, 103.1, 45.1, 106.5)]
    {
        let cells = tlc.distribution(&aged(wear, YEAR));
        let references = tlc.optimal_references(&cells);
        let bits = |off: f64| tlc.sector_bits(tlc.page_rber(&cells, 0, &references.map(|volts| volts + off)));
        near(bits(-0.1), low, 0.3);
        near(bits(0.0), best, 0.12);
        near(bits(0.1), high, 0.3);
    }
}

#[test]
fn cells_gone_far_are_counted_over_all_states() {
    let tlc = part("tlc_48l");
    let cells = tlc.distribution(&aged(3.0, YEAR));
    let references = tlc.optimal_references(&cells);
    for page in 0..3 {
        let (pairs, all) =
            (tlc.page_rber(&cells, page, &references), tlc.page_rber_all_states(&cells, page, &references));
        near(all / pairs, 1.0, 1e-3);
    }
    // References 0.6 V too low: about one state. Neighbours alone count no cell that passes two thresholds of a page.
    let low = references.map(|volts| volts - 0.6);
    let (pairs, all) = (tlc.page_rber(&cells, 1, &low), tlc.page_rber_all_states(&cells, 1, &low));
    assert!(all > 0.3 && (all - pairs).abs() < 0.02, "{all} {pairs}");
    // Every cell far above all references: half of the states hold the other bit.
    let one = Distribution { states: 8, mean: [9.0; 16], sigma: [0.1; 16], factor: 1.0 };
    near(tlc.page_rber_all_states(&one, 2, &references), 0.5, 1e-9);
}

#[test]
fn temperature_speeds_time_up() {
    let tlc = part("tlc_48l");
    near(tlc.arrhenius(30.0, 40.0), 3.835, 0.001);
    near(tlc.arrhenius(30.0, 50.0), 13.54, 0.01); // RealWear rounds to 13
    near(tlc.arrhenius(30.0, 85.0), 641.9, 0.1);
    near(tlc.arrhenius(40.0, 30.0) * tlc.arrhenius(30.0, 40.0), 1.0, 1e-12);
    near(tlc.hours_at_reference(13.0, 85.0) / YEAR * 12.0, 11.4, 0.05); // RealWear says 12 months
    near(tlc.hours_at_reference(3.0, 40.0), 11.5, 0.01);
}

#[test]
#[should_panic(expected = "absolute zero")]
fn nothing_is_colder_than_absolute_zero() {
    part("tlc_48l").arrhenius(30.0, -273.16);
}

#[test]
fn wordlines_differ_by_height_and_group() {
    let tlc = part("tlc_48l");
    near(tlc.error_factor(0.0), 0.6, 1e-12);
    near(tlc.error_factor(1.0), 1.0, 1e-12);
    near(tlc.retention_factor(1.0) / tlc.retention_factor(0.0), 1.3, 1e-12);
    for (group, errors) in Group::ALL.into_iter().zip([0.60, 0.75, 0.88, 1.00]) {
        near(tlc.error_factor(tlc.height_of(group)), errors, 1e-12);
    }
    let bits = |height: f64| best_bits(&tlc, &CellState { height, ..aged(4.0, YEAR) }, 0);
    assert!(bits(0.0) < 0.6 * bits(1.0), "less retention and fewer errors at the centre");
}

#[test]
fn open_interval_and_suspends_multiply_errors() {
    let tlc = part("tlc_48l");
    // Calibration section 5: 0, 1, 10, 60 minutes and a day; 30 % at the day is pinned.
    for (minutes, factor) in
        [(0.0, 1.0), (1.0, 1.029), (10.0, 1.099), (60.0, 1.170), (1_440.0, 1.300), (9e9, 1.3)]
    {
        near(tlc.open_interval_factor(minutes), factor, 0.0006);
    }
    for (suspends, factor) in
        [(0, 1.0), (30, 1.0), (31, 1.007), (50, 1.137), (65, 1.24), (100, 1.48), (120, 1.617)]
    {
        near(tlc.suspend_factor(suspends), factor, 0.0005);
    }
    let plain = best_bits(&tlc, &aged(4.0, YEAR), 0);
    let both = CellState { open_minutes: 1_440.0, suspends: 100, ..aged(4.0, YEAR) };
    near(best_bits(&tlc, &both, 0) / plain, 1.3 * 1.48, 1e-9);
}

#[test]
fn sanitising_by_overprogramming_loses_pages() {
    let (mlc, tlc) = (part("mlc"), part("tlc_48l"));
    near(mlc.sanitised_over_limit(false, false), 0.074, 0.001); // pinned
    near(mlc.sanitised_over_limit(false, true), 0.817, 0.002); // "most"
    near(tlc.sanitised_over_limit(true, false), 0.9987, 0.0003); // pinned: all
    near(tlc.sanitised_over_limit(false, false), 0.5, 1e-9);
}

#[test]
fn assumed_parts_have_the_error_rates_of_script_14() {
    // Part, wear, errors at once and after 12 months of each page type; the script prints two digits.
    type Row = (&'static str, f64, &'static [f64], &'static [f64]);
    const ROWS: &[Row] = &[
        ("slc", 50.0, &[1.9e-6], &[1.7e-4]),
        ("slc", 100.0, &[3.6e-5], &[2.4e-3]),
        ("mlc", 0.0, &[6.4e-6, 6.4e-6], &[6.8e-5, 6.8e-5]),
        ("mlc", 3.0, &[1.7e-5, 4.7e-5], &[2.4e-4, 3.7e-4]),
        ("mlc", 10.0, &[5.6e-5, 3.7e-4], &[7.9e-4, 2.0e-3]),
        ("qlc", 0.0, &[2.0e-4, 4.0e-4, 8.0e-4, 1.4e-3], &[6.3e-4, 1.3e-3, 2.5e-3, 4.4e-3]),
        ("qlc", 1.0, &[5.3e-4, 1.1e-3, 2.1e-3, 3.7e-3], &[1.6e-3, 3.1e-3, 6.2e-3, 1.1e-2]),
    ];
    for (name, wear, now, later) in ROWS {
        let model = part(name);
        for (hours, expected) in [(0.0, now), (YEAR, later)] {
            for (page, rber) in expected.iter().enumerate() {
                let found = best_bits(&model, &aged(*wear, hours), page) / f64::from(model.bits_in_sector());
                near(found / rber, 1.0, 0.06);
            }
        }
    }
}
