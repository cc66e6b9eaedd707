//! Markers of wear: how much of their life blocks are used for by cycles, by RealWear and by what came before it
//! (RealWear section 3; calibration sections 4.2 and 4.3). The laboratory cycles each block until it dies and asks the
//! markers on the way; their coefficients are those that come with the part (`presets/marker`).

use super::Fitted::{self, No, Partly, Yes};
use super::finding::{Findings, Rule};
use crate::characterize::fit::{LONGEST_DWELL, Seen, product};
use crate::characterize::population::{Population, extremes, mean, quantile};
use ssd::config::ConfigErrors;
use ssd::nand::cell::sector::{place_stream, uniform};
use ssd::nand::cell::{Block, CellModel, CellPart, Damage};

/// 1000 cycles between two looks at a block.
const STEP_KCYCLES: f64 = 0.1;
/// Share of its life that a block has left when it counts as outliving RealWear (calibration section 4.2).
const OUTLIVES: f64 = 0.12;
/// Share of its life by which RealWear before its calibration may be off (calibration section 4.2).
const OFF: f64 = 0.04;
/// Cycles that are asked for after a block is dead, in 1000, before a marker is given up on.
const LONGEST_KCYCLES: f64 = 100.0;

/// A marker: what it goes by, its coefficients and what is added to be on the safe side, in bits.
struct Marker<'a> {
    variables: fn(&Seen) -> Vec<f64>,
    coefficients: &'a [f64],
    margin: f64,
}

/// RealWear, the same before it was calibrated, PeWear+ and PeWear++.
const MARKERS: usize = 4;

impl Marker<'_> {
    fn all(model: &CellModel) -> [Marker<'_>; MARKERS] {
        let m = &model.part().markers;
        let guard = m.guard_bits * m.real_wear.get(3).copied().unwrap_or_default();
        let marker = |variables, coefficients, margin| Marker { variables, coefficients, margin };
        [
            marker(Seen::real_wear as fn(&Seen) -> Vec<f64>, m.real_wear.as_slice(), guard),
            marker(Seen::uncalibrated, &m.uncalibrated, 0.0),
            marker(Seen::pe_tprog, &m.pe_tprog, m.pe_tprog_margin),
            marker(Seen::pe_tprog_ber, &m.pe_tprog_ber, m.pe_tprog_ber_margin),
        ]
    }

    /// Its estimate of N12.
    fn n12(&self, seen: &Seen) -> f64 {
        product(self.coefficients, &(self.variables)(seen)) + self.margin
    }
}

/// 1000 cycles until a block dies, and until each marker says so.
struct End {
    life: f64,
    told: [f64; MARKERS],
}

impl End {
    /// Of a block; `noise` is that of its measurements, each drawn once.
    fn of(model: &CellModel, block: &Block, dwell: f64, noise: (u64, usize)) -> Self {
        let limit = f64::from(model.hard_limit_bits());
        let markers = Marker::all(model);
        let (mut damage, mut told) = (Damage::default(), [None; MARKERS]);
        while damage.done < 2.0 * LONGEST_KCYCLES {
            damage.cycle(model, STEP_KCYCLES, dwell, 30.0, 0);
            let mut rng = place_stream(noise.0, "lab.marker_noise", &[noise.1 as u64]);
            let seen = Seen::of(model, block, &damage, dwell, &mut rng);
            for (marker, told) in markers.iter().zip(&mut told) {
                if told.is_none() && marker.n12(&seen) >= limit {
                    *told = Some(damage.done - 0.5 * STEP_KCYCLES);
                }
            }
            let is_dead = seen.n12 >= limit;
            if is_dead && (told.iter().all(Option::is_some) || damage.done > LONGEST_KCYCLES) {
                break;
            }
        }
        let life = model.life_kcycles(block.quality, model.dwell_factor(dwell, 30.0), limit);
        End { life, told: told.map(|told| told.unwrap_or(damage.done)) }
    }
}

pub(super) fn tlc(
    model: &CellModel,
    population: &Population<'_>,
    seed: u64,
    to: &mut Findings,
) -> Result<(), ConfigErrors> {
    let measured = population.by_place(|place, block| {
        let even = uniform(&mut place_stream(seed, "lab.dwell", &[place as u64]));
        End::of(model, block, libm::pow(LONGEST_DWELL, even), (seed, place))
    });
    used(&measured, to);
    misjudged(&measured, to);
    spreads(population, seed, to);
    levelled(population, seed, to);
    rests(model, to)
}

/// Lifetime efficiency (RealWear equation 3.2).
fn used(ends: &[End], to: &mut Findings) {
    let lives: Vec<f64> = ends.iter().map(|end| end.life).collect();
    let used = |of: &dyn Fn(&End) -> f64| {
        100.0 * mean(&ends.iter().map(|end| of(end).min(end.life)).collect::<Vec<_>>()) / mean(&lives)
    };
    let mut add = |quantity: &str, claimed: f64, of: &dyn Fn(&End) -> f64, fitted: Fitted| {
        to.add(quantity, "RealWear Fig. 15", (claimed, used(of)), Rule::Rounded, fitted);
    };
    add("life used by a limit of 7K cycles (%)", 44.6, &|_| 7.0, Partly);
    add("life used by a limit of 1K cycles (%)", 12.7, &|_| 1.0, No);
    add("life used by cycles and program time (%)", 54.3, &|end| end.told[2], Partly);
    add("life used by those and fresh errors (%)", 68.5, &|end| end.told[3], Partly);
    add("life used by RealWear (%)", 92.0, &|end| end.told[0], Partly);
}

/// Blocks that die before a marker says so, or live on after it.
fn misjudged(ends: &[End], to: &mut Findings) {
    let share = |is: &dyn Fn(&End) -> bool| {
        100.0 * ends.iter().filter(|end| is(end)).count() as f64 / ends.len().max(1) as f64
    };
    let source = "RealWear Fig. 15";
    let early = share(&|end| end.told[0] > end.life + STEP_KCYCLES);
    to.add("blocks dead before RealWear says so (%)", source, (0.0, early), Rule::Exact, Partly);
    let late = share(&|end| end.told[0] < (1.0 - OUTLIVES) * end.life);
    to.add("blocks that outlive RealWear by 12 % of life (%)", source, (8.0, late), Rule::Rounded, Partly);
    let source = "RealWear Fig. 14";
    let early = share(&|end| end.told[1] > (1.0 + OFF) * end.life);
    to.add("RealWear uncalibrated: dead before it says so (%)", source, (28.0, early), Rule::Rounded, No);
    let late = share(&|end| end.told[1] < (1.0 - OFF) * end.life);
    to.add("RealWear uncalibrated: alive after it said so (%)", source, (16.0, late), Rule::Rounded, No);
}

/// How far blocks lie apart of which a marker says the same.
fn spreads(population: &Population<'_>, seed: u64, to: &mut Findings) {
    let off = population.after_by_place(7.0, |model, place, block, damage| {
        let mut rng = place_stream(seed, "lab.marker_noise", &[place as u64]);
        let seen = Seen::of(model, block, damage, 1.0, &mut rng);
        Marker::all(model).map(|marker| seen.n12 - marker.n12(&seen))
    });
    let spread = |marker: usize| {
        let off: Vec<f64> = off.iter().map(|off| off[marker]).collect();
        quantile(&off, 0.999) - quantile(&off, 0.001)
    };
    let mut add = |quantity: &str, claimed: f64, marker: usize, fitted: Fitted| {
        to.add(quantity, "RealWear Fig. 16", (claimed, spread(marker)), Rule::AtMost, fitted);
    };
    add("N12 spread at one cycles and program time (bits)", 20.0, 2, No);
    add("N12 spread at those and fresh errors (bits)", 15.0, 3, No);
    add("N12 of blocks of one age by RealWear, spread at 7K (bits)", 7.0, 0, Partly);
}

/// Wear levelling by age uses all of the population's life, by cycles only the limit.
fn levelled(population: &Population<'_>, seed: u64, to: &mut Findings) {
    let model = population.model();
    let rested = population.by_place(|place, block| End::of(model, block, 5.0, (seed, place)));
    let life = mean(&rested.iter().map(|end| end.life.min(end.told[0])).collect::<Vec<f64>>());
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
    let (first, _) = extremes(&rested.iter().map(|end| end.life).collect::<Vec<f64>>());
    to.add(
        "first block dead at dwell 5 min, over the safe limit of 8K (K cycles)",
        source,
        (8.0, first),
        Rule::AtLeast,
        No,
    );
}

/// Minutes of a month: 730 hours.
const MONTH_MINUTES: f64 = 43_800.0;
/// Least fall of an age that counts as a drop, in lives: above a fine step of the erase time.
const DROP: f64 = 0.02;

/// Figure 17: a block of the mean, erased each 10 minutes at 30 degrees C, that lies for 3 months at 40 degrees C after
/// each third of its life (assumed). How often RealWear's age falls.
fn drops(model: &CellModel) -> usize {
    let block = Block { quality: 0.5, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };
    let limit = f64::from(model.hard_limit_bits());
    let [marker, ..] = Marker::all(model);
    let mut rng = place_stream(1, "lab.marker_noise", &[0]);
    let (mut damage, mut ages) = (Damage::default(), Vec::new());
    let life = model.life_kcycles(block.quality, model.dwell_factor(10.0, 30.0), limit);
    let rests = [1.0, 2.0].map(|third| libm::floor(third * life / 3.0 / STEP_KCYCLES));
    for step in 0..(life / STEP_KCYCLES) as u32 {
        if rests.contains(&f64::from(step)) {
            damage.cycle(model, 1e-3, 3.0 * MONTH_MINUTES, 40.0, 0);
        }
        damage.cycle(model, STEP_KCYCLES, 10.0, 30.0, 0);
        ages.push(marker.n12(&Seen::of(model, &block, &damage, 10.0, &mut rng)) / limit);
    }
    ages.windows(2).filter(|pair| pair[0] - pair[1] > DROP).count()
}

fn rests(model: &CellModel, to: &mut Findings) -> Result<(), ConfigErrors> {
    let source = "RealWear Fig. 17";
    let quantity = "drops of a block's age by two rests of 3 months at 40 degrees C";
    to.add(quantity, source, (2.0, drops(model) as f64), Rule::Exact, No);
    let mut part: CellPart = model.part().clone();
    part.population.rest_recovery = 1.0;
    let quantity = "the same where long rests take old wear away, too (rest_recovery)";
    to.add(quantity, source, (2.0, drops(&CellModel::new(part)?) as f64), Rule::Exact, Yes);
    Ok(())
}
