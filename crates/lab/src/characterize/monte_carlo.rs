//! Single cells: write a state, draw a threshold voltage, read every page type, count wrong bits. An independent
//! check of the overlap integrals.

use crate::base::threads::on_all_cores;
use ssd::nand::cell::sector::{place_stream, uniform};
use ssd::nand::cell::{CellModel, CellState, Distribution, MAX_STATES, References};
use ssd::rng::Rng;

/// Cells that share a random sequence.
const CHUNK: u64 = 100_000;

/// The four ages: wear in 1000 cycles, hours at 30 degrees C, share of the reads endured.
pub const AGES: [(f64, f64, f64); 4] =
    [(0.0, 0.0, 0.0), (0.5, 730.0, 0.3), (1.5, 2_190.0, 0.6), (3.0, 8_760.0, 1.0)];

/// Wrong bits of one page type at one age, counted and expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// Place in [`AGES`].
    pub age: usize,
    /// Page type.
    pub page: usize,
    /// Read at the factory's references; else at the best.
    pub factory: bool,
    /// Cells drawn.
    pub cells: u64,
    /// Wrong bits among them.
    pub wrong: u64,
    /// Wrong bits by the integrals.
    pub expected: f64,
}

impl Count {
    /// How far counted and expected numbers are apart, in standard deviations of the count; half a bit is free.
    pub fn deviation(&self) -> f64 {
        let share = self.expected / self.cells.max(1) as f64;
        let variance = (self.expected * (1.0 - share)).max(0.25);
        ((self.wrong as f64 - self.expected).abs() - 0.5).max(0.0) / variance.sqrt()
    }
}

/// A standard normal variable (Marsaglia's polar method).
fn normal(rng: &mut Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * libm::log(square) / square).sqrt();
        }
    }
}

/// Voltages of drawn cells, counted in bins around whole multiples of `width` in V, from the first to the last; those
/// beyond are left out. Stream `lab.voltages` of (age, chunk): the same on any number of cores.
pub fn histogram(
    cells: &Distribution,
    seed: u64,
    age: u64,
    count: u64,
    width: f64,
    bins: (i32, i32),
) -> Vec<u64> {
    let number = (bins.1 - bins.0 + 1).max(0) as usize;
    let chunks = count.div_ceil(CHUNK).max(1);
    let drawn = on_all_cores(chunks as usize, |chunk| {
        let mut rng = place_stream(seed, "lab.voltages", &[age, chunk as u64]);
        let mut counts = vec![0u64; number];
        for _ in 0..CHUNK {
            let written = rng.below(cells.states as u32) as usize;
            let volts = cells.mean[written] + cells.sigma[written] * normal(&mut rng);
            let bin = libm::round(volts / width) as i64 - i64::from(bins.0);
            if let Some(count) = usize::try_from(bin).ok().and_then(|bin| counts.get_mut(bin)) {
                *count += 1;
            }
        }
        counts
    });
    let mut sum = vec![0; number];
    for counts in drawn {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sum
}

/// Cells by state written and by the number of references that their voltage passes.
type Regions = [[u64; MAX_STATES]; MAX_STATES];

/// Draws cells and sorts them by two sets of references.
fn draw(cells: &Distribution, sets: &[References; 2], count: u64, rng: &mut Rng) -> [Regions; 2] {
    let mut regions = [[[0; MAX_STATES]; MAX_STATES]; 2];
    for _ in 0..count {
        let written = rng.below(cells.states as u32) as usize;
        let volts = cells.mean[written] + cells.sigma[written] * normal(rng);
        for (regions, references) in regions.iter_mut().zip(sets) {
            let passed = references[1..cells.states].iter().filter(|&&reference| volts > reference).count();
            regions[written][passed] += 1;
        }
    }
    regions
}

/// Wrong bits of a page type among sorted cells.
fn wrong_bits(thresholds: &[u32], regions: &Regions) -> u64 {
    // A bit turns at each threshold of its page type.
    let bit = |state: usize| thresholds.iter().filter(|&&threshold| threshold as usize <= state).count() & 1;
    let mut wrong = 0;
    for (written, row) in regions.iter().enumerate() {
        let turned = row.iter().enumerate().filter(|(read, _)| bit(*read) != bit(written));
        wrong += turned.map(|(_, count)| count).sum::<u64>();
    }
    wrong
}

/// Counts wrong bits of every page type at the four ages, among `cells` cells at each age (rounded up to whole
/// chunks of 100,000). Streams `lab.cells` of (age, chunk): the same on any number of cores.
pub fn count(model: &CellModel, seed: u64, cells: u64) -> Vec<Count> {
    let chunks = cells.div_ceil(CHUNK).max(1);
    let mut counts = Vec::new();
    for (age, (wear_kcycles, retention_hours, erc_fraction)) in AGES.into_iter().enumerate() {
        let state = CellState { wear_kcycles, retention_hours, erc_fraction, ..CellState::default() };
        let volts = model.distribution(&state);
        let sets = [model.optimal_references(&volts), *model.default_references(0)];
        let drawn = on_all_cores(chunks as usize, |chunk| {
            let mut rng = place_stream(seed, "lab.cells", &[age as u64, chunk as u64]);
            draw(&volts, &sets, CHUNK, &mut rng)
        });
        for (page, thresholds) in model.code().iter().enumerate() {
            for (set, references) in sets.iter().enumerate() {
                counts.push(Count {
                    age,
                    page,
                    factory: set == 1,
                    cells: chunks * CHUNK,
                    wrong: drawn.iter().map(|sets| wrong_bits(thresholds, &sets[set])).sum(),
                    expected: (chunks * CHUNK) as f64 * model.page_rber_all_states(&volts, page, references),
                });
            }
        }
    }
    counts
}
