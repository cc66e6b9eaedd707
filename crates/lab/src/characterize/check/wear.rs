//! Wear: lives, spreads, and what the firmware can see of them (RealWear sections 3 and 4; calibration sections 1.3
//! and 4.2).

use super::Fitted::{No, Partly, Yes};
use super::finding::{Findings, Rule};
use crate::characterize::population::{Population, extremes, mean, quantile};
use ssd::config::ConfigErrors;
use ssd::nand::cell::sector::SectorRead;
use ssd::nand::cell::{CellModel, CellPart, Damage};
use ssd::sections::cell::DwellLaw;

/// Dwell beyond which RealWear sees no more recovery, in minutes.
const DWELL_FULL_MINUTES: f64 = 180.0;

pub(super) fn tlc(
    model: &CellModel,
    population: &Population<'_>,
    to: &mut Findings,
) -> Result<(), ConfigErrors> {
    lives(model, population, to)?;
    spreads(population, to);
    observables(population, to);
    noise(model, to);
    Ok(())
}

fn lives(model: &CellModel, population: &Population<'_>, to: &mut Findings) -> Result<(), ConfigErrors> {
    let fast = population.lives(model, 1.0, 30.0);
    to.add("mean life, dwell 1 min (K cycles)", "RealWear Fig. 8", (12.3, mean(&fast)), Rule::Mean, Partly);
    let slow = mean(&population.lives(model, 5.0, 30.0));
    to.add("mean life, dwell 5 min (K cycles)", "RealWear Fig. 8", (13.9, slow), Rule::Mean, Yes);
    let (first, last) = extremes(&fast);
    to.add("first block dead, at (K cycles)", "RealWear Fig. 8", (8.0, first), Rule::Ends, Yes);
    to.add("blocks dead at 7K cycles: safe limit", "RealWear Fig. 8", (7.0, first), Rule::AtLeast, No);
    to.add("last block alive, at (K cycles)", "RealWear Fig. 8", (16.0, last), Rule::AtLeast, No);
    let gain = |model: &CellModel| {
        let life = |celsius: f64| mean(&population.lives(model, 10.0, celsius));
        100.0 * (life(40.0) / life(30.0) - 1.0)
    };
    let source = "RealWear Fig. 17";
    to.add("life at 40 over 30 degrees C, dwell 10 min (%)", source, (20.0, gain(model)), Rule::Rounded, No);
    let mut part: CellPart = model.part().clone();
    part.population.dwell = DwellLaw::Logistic;
    let logistic = gain(&CellModel::new(part)?);
    to.add("the same by the logistic dwell law (%)", source, (20.0, logistic), Rule::Rounded, Yes);
    let rested = |minutes: f64| {
        let mut damage = Damage::default();
        damage.cycle(model, 12.0, minutes, 30.0, 0);
        mean(&population.blocks().iter().map(|b| model.n12(b.quality, damage.lasting)).collect::<Vec<_>>())
    };
    let less = 100.0 * (1.0 - rested(DWELL_FULL_MINUTES) / rested(1.0));
    to.add(
        "N12 less at 12K cycles by a long dwell (%)",
        "RealWear section 3",
        (30.0, less),
        Rule::AtMost,
        No,
    );
    let longer = 100.0 * (rested(DWELL_FULL_MINUTES) / rested(1_000.0) - 1.0);
    to.add("N12 less by a dwell above 180 min (%)", "RealWear Fig. 11", (0.0, longer), Rule::Exact, Yes);
    Ok(())
}

fn spreads(population: &Population<'_>, to: &mut Findings) {
    for (kcycles, claimed) in [(4.0, 19.0), (7.0, 25.0)] {
        let (low, high) = extremes(&population.n12(kcycles));
        let quantity = format!("N12 of the worst block over the best at {kcycles}K cycles (bits)");
        to.add(&quantity, "RealWear Fig. 9", (claimed, high - low), Rule::Ends, Yes);
    }
    let (_, worst) = extremes(&population.n12(3.0));
    to.add("N12 of the worst block at 3K cycles (bits)", "RealWear Fig. 9", (37.0, worst), Rule::Ends, Yes);
    let (best, _) = extremes(&population.n12(8.0));
    to.add("N12 of the best block at 8K cycles (bits)", "RealWear Fig. 9", (37.0, best), Rule::Ends, Yes);
}

fn observables(population: &Population<'_>, to: &mut Findings) {
    let erase = population.after(4.0, |model, block, damage| model.erase_marker_ms(block, damage));
    let (fastest, slowest) = extremes(&erase);
    let source = "RealWear Fig. 14";
    to.add("shortest erase at 4K cycles (ms)", source, (5.0, fastest), Rule::Exact, Partly);
    to.add("longest erase at 4K cycles (ms)", source, (15.0, slowest), Rule::Exact, Partly);
    let pulses = |kcycles: f64, dwell: f64| {
        population.after_resting(kcycles, dwell, |model, block, damage| {
            let alive = model.is_alive(block.quality, damage.lasting);
            if alive { f64::from(model.erase_pulses(block, damage)) } else { 0.0 }
        })
    };
    let most = [4.0, 8.0, 12.0, 16.0].map(|kcycles| extremes(&pulses(kcycles, 1.0)).1);
    to.add(
        "most erase pulses of a block alive",
        "RealWear section 3",
        (5.0, extremes(&most).1),
        Rule::AtMost,
        No,
    );
    // Their dwell is not told; a long one shows pulses more than errors.
    let stuck = [1.0, 5.0, 20.0].map(|dwell| {
        let (early, late) = (pulses(5.0, dwell), pulses(10.0, dwell));
        early.iter().zip(&late).filter(|(early, late)| **early == 2.0 && **late == 2.0).count() as f64
    });
    let quantity = "blocks at 10 ms from 5K to 10K cycles, dwell 1, 5 or 20 min";
    to.add(quantity, "RealWear Fig. 15", (1.0, extremes(&stuck).1), Rule::AtLeast, No);
    let mut at_610 = Vec::new();
    for half in 1..18 {
        let kcycles = f64::from(half) / 2.0;
        let us = population.after(kcycles, |model, block, damage| model.program_us(block, damage, 0));
        let n12 = population.n12(kcycles);
        at_610.extend(us.iter().zip(n12).filter(|(us, _)| (**us - 610.0).abs() < 1.0).map(|(_, n12)| n12));
    }
    let (low, high) = (quantile(&at_610, 0.02), quantile(&at_610, 0.98));
    to.add("lowest N12 at a program time of 610 us (bits)", "RealWear Fig. 12", (30.0, low), Rule::Ends, No);
    to.add(
        "highest N12 at a program time of 610 us (bits)",
        "RealWear Fig. 12",
        (58.0, high),
        Rule::Ends,
        No,
    );
}

fn noise(model: &CellModel, to: &mut Findings) {
    let page = |read: u64| {
        let at = SectorRead { block: 1, cycle: 1, page: 1, sector: 0, read };
        f64::from(model.sector_errors(1, &at, 0.003))
    };
    let (low, high) = extremes(&(0..1_000).map(page).collect::<Vec<_>>());
    to.add(
        "errors between two reads of a page (bits)",
        "RealWear section 3.2.1",
        (4.0, high - low),
        Rule::Exact,
        Yes,
    );
}
