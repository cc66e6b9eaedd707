//! Chips that differ: a block's quality, what its cycles did to it, and what can be seen of that (calibration section
//! 4.2).

use super::normal::tail;
use super::sector::{place_stream, uniform};
use super::{CellModel, CellState};
use crate::memo::Memo;
use crate::rng::Rng;
use crate::sections::cell::DwellLaw;
use std::sync::Arc;

/// Quality of the block that the voltage model describes.
pub(crate) const MEAN_QUALITY: f64 = 0.65;

/// Rest beyond which nothing more of old wear goes, in minutes at the reference temperature: 3 months at 40 degrees C
/// (RealWear section 3.3.2, the longest that it shows).
pub(crate) const LONGEST_REST_MINUTES: f64 = 497_000.0;

/// A block as it came from the factory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// 0 is the worst, 1 the best; a few lie a little outside.
    pub quality: f64,
    /// What its erases take longer, in pulses.
    pub erase_offset: f64,
    /// Errors it has more when fresh, in bits.
    pub fresh_offset: f64,
    /// What its programs take longer, in us.
    pub program_offset: f64,
}

/// What program and erase cycles did to a block, in 1000 cycles of the reference dwell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Damage {
    /// What is left after self-recovery: this makes errors.
    pub lasting: f64,
    /// What was done, recovered or not.
    pub done: f64,
}

/// A population of blocks, each the same at every call.
#[derive(Clone, Debug)]
pub struct VirtualChips<'a> {
    model: &'a CellModel,
    seed: u64,
    /// Beta variable by rank, for many blocks; empty: computed for each.
    ranks: Arc<[f64]>,
}

/// Tables of ranks by the second parameter of the Beta distribution: 30 KB each.
static RANKS: Memo<f64, Arc<[f64]>> = Memo::new(4, |_| 1);

/// Points of the table of ranks for each standard deviation.
const RANK_POINTS: f64 = 256.0;
/// Its ends, in standard deviations: one block in 10^14 lies beyond.
const RANK_END: f64 = 7.5;

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

/// The value below which a Beta(2, b) variable lies with probability `u`. Its distribution function is
/// 1 - (1-x)^b (1 + b x).
fn beta_quantile(b: f64, u: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if 1.0 - libm::pow(1.0 - middle, b) * (1.0 + b * middle) < u { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

impl<'a> VirtualChips<'a> {
    /// The population of that seed. Streams: `nand.cell.chip` by chip, `nand.cell.block` by chip and block.
    pub fn new(model: &'a CellModel, seed: u64) -> Self {
        VirtualChips { model, seed, ranks: Arc::default() }
    }

    /// The same with a table for the quality, off by less than 10^-5: for tens of thousands of blocks at once.
    pub fn tabulated(mut self) -> Self {
        self.ranks = RANKS.get(self.model.part.population.quality_b, |&b| {
            let points = 0..=(2.0 * RANK_END * RANK_POINTS) as u32;
            let rank = |point: u32| f64::from(point) / RANK_POINTS - RANK_END;
            points.map(|point| beta_quantile(b, tail(-rank(point)))).collect()
        });
        self
    }

    /// A block of a chip. Its quality has the Beta distribution whatever the share of the chip: chip and block add up
    /// on the scale of a normal variable, whose rank is the rank of the quality.
    pub fn block(&self, chip: u32, block: u32) -> Block {
        let (p, o) = (&self.model.part.population, &self.model.part.observables);
        let common = normal(&mut place_stream(self.seed, "nand.cell.chip", &[u64::from(chip)]));
        let mut rng = place_stream(self.seed, "nand.cell.block", &[u64::from(chip), u64::from(block)]);
        let rank = p.chip_share.sqrt() * common + (1.0 - p.chip_share).sqrt() * normal(&mut rng);
        let beta = self.beta(rank);
        Block {
            quality: (p.quality_factor * beta + p.quality_offset).clamp(p.quality_low, p.quality_high),
            erase_offset: o.erase_sigma * normal(&mut rng),
            fresh_offset: o.fresh_sigma * normal(&mut rng),
            program_offset: o.program_sigma_us * normal(&mut rng),
        }
    }

    /// The Beta variable of that rank.
    fn beta(&self, rank: f64) -> f64 {
        if self.ranks.is_empty() {
            return beta_quantile(self.model.part.population.quality_b, tail(-rank));
        }
        let at = ((rank + RANK_END) * RANK_POINTS).clamp(0.0, (self.ranks.len() - 1) as f64);
        let point = (at as usize).min(self.ranks.len() - 2);
        let (low, high) = (self.ranks[point], self.ranks[point + 1]);
        low + (high - low) * (at - point as f64)
    }
}

impl Damage {
    /// Adds cycles, in thousands, at a dwell time and a temperature, in a program mode.
    pub fn cycle(&mut self, model: &CellModel, kcycles: f64, dwell_minutes: f64, celsius: f64, mode: usize) {
        let harm = kcycles * model.part.modes.wear[mode];
        self.done += harm;
        self.lasting += harm * model.dwell_factor(dwell_minutes, celsius);
        let share = model.rest_share(dwell_minutes, celsius);
        if share > 0.0 {
            let beyond = (self.lasting - self.done * model.fully_rested()).max(0.0);
            self.lasting -= beyond * (1.0 - libm::pow(1.0 - share, 1000.0 * kcycles));
        }
    }
}

impl CellModel {
    /// Share of a cycle's wear that is left when so many minutes at that temperature lie between its erase and the next
    /// (calibration section 1.3).
    pub fn dwell_factor(&self, minutes: f64, celsius: f64) -> f64 {
        let p = &self.part.population;
        let effective = self.hours_at_reference(minutes, celsius);
        match p.dwell {
            DwellLaw::Log => 1.0 - p.dwell_log * libm::log(effective.clamp(1.0, p.dwell_full_minutes)),
            DwellLaw::Logistic => {
                let curve = |x: f64| 1.0 / (1.0 + libm::exp(-(x - p.dwell_middle) / p.dwell_width));
                1.0 - p.dwell_logistic * (curve(libm::log(effective.max(1.0))) - curve(0.0))
            }
        }
    }

    /// The least share of a cycle's wear that any dwell leaves.
    pub fn fully_rested(&self) -> f64 {
        let p = &self.part.population;
        match p.dwell {
            DwellLaw::Log => 1.0 - p.dwell_log * libm::log(p.dwell_full_minutes),
            DwellLaw::Logistic => {
                1.0 - p.dwell_logistic * (1.0 - 1.0 / (1.0 + libm::exp(p.dwell_middle / p.dwell_width)))
            }
        }
    }

    /// Share of what lasts beyond full recovery, of all cycles, that a dwell of so many minutes at that temperature
    /// takes away: none up to full recovery, then with its logarithm.
    pub fn rest_share(&self, minutes: f64, celsius: f64) -> f64 {
        let p = &self.part.population;
        let beyond = self.hours_at_reference(minutes, celsius) / p.dwell_full_minutes;
        let longest = LONGEST_REST_MINUTES / p.dwell_full_minutes;
        match beyond > 1.0 {
            true if longest > beyond => p.rest_recovery * libm::log(beyond) / libm::log(longest),
            true => p.rest_recovery,
            false => 0.0,
        }
    }

    /// N12 of an unworn block of that quality, in bits.
    pub fn n12_unworn(&self, quality: f64) -> f64 {
        self.part.population.n12_worst - self.part.population.n12_span * quality
    }

    /// What its N12 gains with 1000 cycles of the reference dwell, in bits.
    pub fn n12_growth(&self, quality: f64) -> f64 {
        self.part.population.growth_worst - self.part.population.growth_span * quality
    }

    /// Errors of the worst wordline's sector after 12 months at the reference temperature, of a block of that quality
    /// and lasting damage.
    pub fn n12(&self, quality: f64, lasting: f64) -> f64 {
        self.n12_unworn(quality) + self.n12_growth(quality) * lasting
    }

    /// The N12 that erase time and fresh errors show: some of what recovered still shows in them.
    pub fn n12_visible(&self, quality: f64, damage: &Damage) -> f64 {
        let share = self.part.population.unrecovered;
        self.n12(quality, (1.0 - share) * damage.lasting + share * damage.done)
    }

    /// 1000 cycles until N12 reaches `limit_bits`, when each leaves `factor` of its wear.
    pub fn life_kcycles(&self, quality: f64, factor: f64, limit_bits: f64) -> f64 {
        (limit_bits - self.n12_unworn(quality)) / (self.n12_growth(quality) * factor)
    }

    /// Does the block still keep data for 12 months?
    pub fn is_alive(&self, quality: f64, lasting: f64) -> bool {
        self.n12(quality, lasting) < f64::from(self.hard_limit_bits())
    }

    /// The wear at which the voltage model's average block has that N12, in 1000 cycles.
    pub fn wear_of_n12(&self, n12: f64) -> f64 {
        ((n12 - self.part.population.mean_n12) / self.part.population.mean_growth).max(0.0)
    }

    /// The state of a block's cells: wear and retention of its quality, everything else fresh.
    pub fn worn_state(&self, block: &Block, damage: &Damage) -> CellState {
        let span = self.part.population.retention_span;
        CellState {
            wear_kcycles: self.wear_of_n12(self.n12(block.quality, damage.lasting)),
            retention_factor: 1.0 + span * (MEAN_QUALITY - block.quality),
            ..CellState::default()
        }
    }

    /// Erase pulses the block needs, with fractions.
    pub fn erase_need(&self, block: &Block, damage: &Damage) -> f64 {
        let o = &self.part.observables;
        o.erase_base + o.erase_per_bit * self.n12_visible(block.quality, damage) + block.erase_offset
    }

    /// Erase pulses (ISPE loops) the block takes.
    pub fn erase_pulses(&self, block: &Block, damage: &Damage) -> u32 {
        libm::ceil(self.erase_need(block, damage)).max(1.0) as u32
    }

    /// The erase time that a chip reports: whole pulses, in ms.
    pub fn erase_marker_ms(&self, block: &Block, damage: &Damage) -> f64 {
        self.part.observables.erase_pulse_ms * f64::from(self.erase_pulses(block, damage))
    }

    /// The erase time at the fine resolution that RealWear asks of chips, in ms.
    pub fn erase_fine_ms(&self, block: &Block, damage: &Damage) -> f64 {
        let steps = f64::from(self.part.observables.erase_fine);
        let need = libm::ceil(self.erase_need(block, damage) * steps).max(1.0);
        self.part.observables.erase_pulse_ms * need / steps
    }

    /// Errors of the worst wordline's LSB page right after programming (N0), in bits.
    pub fn fresh_bits(&self, block: &Block, damage: &Damage) -> f64 {
        let o = &self.part.observables;
        let visible = self.n12_visible(block.quality, damage) - self.part.population.mean_n12;
        libm::round(o.fresh_base + o.fresh_per_bit * visible + block.fresh_offset).max(0.0)
    }

    /// One measurement of that: with random telegraph noise.
    pub fn fresh_bits_measured(&self, block: &Block, damage: &Damage, rng: &mut Rng) -> f64 {
        let noise = (2.0 * uniform(rng) - 1.0) * self.part.effects.rtn_bits;
        (self.fresh_bits(block, damage) + noise).max(0.0)
    }

    /// Program time of the block in a program mode, in us: it falls with wear. Read time does not change.
    pub fn program_us(&self, block: &Block, damage: &Damage, mode: usize) -> f64 {
        let o = &self.part.observables;
        let born = self.n12_unworn(block.quality) - self.n12_unworn(o.program_quality);
        let worn = self.n12_growth(block.quality) * damage.lasting + o.program_share * born;
        let early = o.program_early_us * (1.0 - libm::exp(-worn / o.program_early_bits));
        let normal =
            o.program_us - early - o.program_late_us * worn / o.program_late_bits + block.program_offset;
        normal * self.part.modes.program_time[mode]
    }
}
