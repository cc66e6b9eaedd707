//! The model against the numbers of the calibration. Where it gives another number than the papers claim, the test
//! holds the number it gives and names the claim.

mod aging;
mod input;
mod population;
mod reading;
mod tables;

use super::{CellModel, CellState};

fn part(name: &str) -> CellModel {
    CellModel::preset(name).unwrap_or_else(|errors| panic!("{name}:\n{errors}"))
}

fn aged(wear_kcycles: f64, retention_hours: f64) -> CellState {
    CellState { wear_kcycles, retention_hours, ..CellState::default() }
}

/// Errors of a sector at the best references.
fn best_bits(model: &CellModel, state: &CellState, page: usize) -> f64 {
    let cells = model.distribution(state);
    model.sector_bits(model.page_rber(&cells, page, &model.optimal_references(&cells)))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} within {tolerance}");
}

#[test]
fn timing() {
    use crate::nand::cell::{Group, table};
    use std::time::Instant;
    let m = CellModel::preset("tlc_48l").unwrap();
    let t = Instant::now();
    let plan = table::TablePlan {
        heights: Group::ALL.iter().map(|g| m.height_of(*g)).collect(),
        sets: (0..8).map(table::ReferenceSet::Entry).collect(),
        most_cycles: 16_000,
        most_minutes: 5_260_000,
        mode: 0,
        warmer_c: 0.0,
    };
    let tab = table::CellTable::new(&m, &plan);
    println!("build {:?} bytes {}", t.elapsed(), tab.bytes());
    let t = Instant::now();
    let one = table::CellTable::new(
        &m,
        &table::TablePlan { heights: vec![1.0], sets: vec![table::ReferenceSet::Optimal], ..plan.clone() },
    );
    println!("build {:?} bytes optimal {}", t.elapsed(), one.bytes());
    let mut rng = crate::rng::Rng::stream(1, "x");
    let pts: Vec<_> = (0..4096)
        .map(|_| {
            (
                rng.below(16000),
                rng.below(500_000),
                rng.below(4096),
                rng.below(4) as usize,
                rng.below(3) as usize,
            )
        })
        .collect();
    for local in [1, 64] {
        let t = Instant::now();
        let mut sum = 0u64;
        for _ in 0..1000 {
            for p in &pts {
                let at = tab.locate(3000 + p.0 / local, 40_000 + p.1 / local, p.2 / 4);
                sum += tab.sector_bits_q8(p.3, 0, p.4, &at) as u64;
            }
        }
        println!("lookup local {local} {:?} each {}", t.elapsed() / 4_096_000, sum);
    }
    let odds = table::ReadOdds::new(64, 8192, 16);
    let t = Instant::now();
    let mut sum = 0u64;
    for _ in 0..1000 {
        for p in &pts {
            let at = tab.locate(1000 + p.0 / 64, p.1 / 64, p.2 / 40);
            let r = table::PageRead { height: p.3, page: p.4, at, factor: table::FACTOR_ONE };
            sum += tab.retries(&odds, &r, (p.1 * 8191) as u32).unwrap_or(9) as u64;
        }
    }
    println!("retries {:?} each, mean {}", t.elapsed() / 4_096_000, sum as f64 / 4_096_000.0);
}
