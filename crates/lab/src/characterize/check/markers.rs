//! Markers of wear: how much of their life blocks are used for by cycles and by RealWear (RealWear section 3;
//! calibration
//! 4.2 and 4.3). The laboratory cycles each block until it dies and asks the marker on the way.

use super::Fitted::{No, Partly};
use super::{Findings, Rule};
use crate::characterize::population::{Population, extremes, mean, quantile};
use ssd::nand::cell::sector::{place_stream, uniform};
use ssd::nand::cell::{Block, CellModel, Damage};

/// Longest dwell of the mixed population, in minutes (calibration section 4.2).
const LONGEST_DWELL: f64 = 300.0;
/// 1000 cycles between two looks at a block.
const STEP_KCYCLES: f64 = 0.1;
/// Errors added to what is measured of N(0), for random noise (RealWear section 3.2.2).
const GUARD_BITS: f64 = 4.0;
/// Share of its life that a block has left when it counts as outliving the marker (calibration section 4.2).
const OUTLIVES: f64 = 0.12;

/// RealWear's estimate of N12 (RealWear Eq. 3.1; coefficients by regression, calibration section 4.2, calibration
/// section 4.2).
fn real_wear(model: &CellModel, block: &Block, damage: &Damage, guard: f64, dwell: f64) -> f64 {
    let fresh = model.fresh_bits(block, damage) + guard;
    let dwell = dwell.clamp(1.0, model.part().population.dwell_full_minutes);
    10.0 - 0.07 * damage.done + 1.85 * model.erase_fine_ms(block, damage) + 1.03 * fresh
        - 0.95 * libm::log(dwell)
}

/// 1000 cycles until a block dies, and until RealWear says so.
fn ends(model: &CellModel, block: &Block, dwell: f64) -> (f64, f64) {
    let limit = f64::from(model.hard_limit_bits());
    let (mut damage, mut marked) = (Damage::default(), None);
    while damage.done < 200.0 {
        damage.cycle(model, STEP_KCYCLES, dwell, 30.0, 0);
        if real_wear(model, block, &damage, GUARD_BITS, dwell) >= limit {
            marked.get_or_insert(damage.done - 0.5 * STEP_KCYCLES);
        }
        let is_dead = !model.is_alive(block.quality, damage.lasting);
        if is_dead && (marked.is_some() || damage.done > 100.0) {
            break;
        }
    }
    let life = model.life_kcycles(block.quality, model.dwell_factor(dwell, 30.0), limit);
    (life, marked.unwrap_or(damage.done))
}

pub(super) fn tlc(model: &CellModel, population: &Population<'_>, seed: u64, to: &mut Findings) {
    let dwells: Vec<f64> = (0..population.blocks().len())
        .map(|block| {
            let even = uniform(&mut place_stream(seed, "lab.dwell", &[block as u64]));
            libm::pow(LONGEST_DWELL, even)
        })
        .collect();
    let measured = population.by_place(|place, block| ends(model, block, dwells[place]));
    let used = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let used: Vec<f64> = measured.iter().map(|end| of(end).min(end.0)).collect();
        let lives: Vec<f64> = measured.iter().map(|end| end.0).collect();
        100.0 * mean(&used) / mean(&lives)
    };
    let source = "RealWear Fig. 15";
    to.add("life used by a limit of 7K cycles (%)", source, (44.6, used(&|_| 7.0)), Rule::Rounded, Partly);
    to.add("life used by a limit of 1K cycles (%)", source, (12.7, used(&|_| 1.0)), Rule::Rounded, No);
    to.add("life used by RealWear (%)", source, (92.0, used(&|end| end.1)), Rule::Rounded, Partly);
    let share = |is: &dyn Fn(&(f64, f64)) -> bool| {
        100.0 * measured.iter().filter(|end| is(end)).count() as f64 / measured.len().max(1) as f64
    };
    let source = "RealWear Fig. 15";
    let early = share(&|end| end.1 > end.0 + STEP_KCYCLES);
    to.add("blocks dead before RealWear says so (%)", source, (0.0, early), Rule::Exact, Partly);
    let late = share(&|end| end.1 < (1.0 - OUTLIVES) * end.0);
    to.add("blocks that outlive RealWear by 12 % of life (%)", source, (8.0, late), Rule::Rounded, Partly);
    let off = population.after(7.0, |model, block, damage| {
        model.n12(block.quality, damage.lasting) - real_wear(model, block, damage, 0.0, 1.0)
    });
    let spread = quantile(&off, 0.999) - quantile(&off, 0.001);
    to.add(
        "N12 of blocks of one age by RealWear, spread at 7K (bits)",
        "RealWear Fig. 16",
        (7.0, spread),
        Rule::AtMost,
        Partly,
    );
    // Wear levelling by age uses all of the population's life, by cycles only the limit.
    let rested = population.by_place(|_, block| ends(model, block, 5.0));
    let life = mean(&rested.iter().map(|end| end.0.min(end.1)).collect::<Vec<f64>>());
    let source = "RealWear Fig. 23";
    let more = 100.0 * (life / 8.0 - 1.0);
    to.add(
        "writes more by age than by a limit of 8K, dwell 5 min (%)",
        source,
        (63.0, more),
        Rule::Rounded,
        No,
    );
    let times = life - 1.0;
    to.add(
        "writes more by age than by a limit of 1K, dwell 5 min (times)",
        source,
        (12.0, times),
        Rule::Rounded,
        No,
    );
    let (first, _) = extremes(&rested.iter().map(|end| end.0).collect::<Vec<f64>>());
    to.add(
        "first block dead at dwell 5 min, over the safe limit of 8K (K cycles)",
        source,
        (8.0, first),
        Rule::AtLeast,
        No,
    );
}
