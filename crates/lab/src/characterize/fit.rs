//! Markers of a block's age, fitted: least squares on blocks at random ages (RealWear section 3.2.2).
//!
//! Each block of the population has a dwell of its own and stands somewhere between a quarter of its life and its end.
//! What is seen of it there is set beside its N12. PeWear+ and PeWear++ get a margin besides: what they are short of
//! the limit when blocks die.

use super::population::{Population, quantile};
use ssd::config::{ConfigErrors, Table};
use ssd::nand::cell::sector::{place_stream, uniform};
use ssd::nand::cell::{Block, CellModel, Damage};
use ssd::rng::Rng;
use ssd::sections::cell::Markers;

/// How every fitted file begins.
pub const BEGINS: &str = "# Markers of a block's age for ";

/// Shortest part of their lives that blocks have behind them.
const YOUNGEST: f64 = 0.25;
/// Longest dwell of the mixed population, in minutes (calibration section 4.2).
pub(super) const LONGEST_DWELL: f64 = 300.0;
/// Standard deviation of the errors that PeWear++ measures, over those of the first page (calibration section 4.2).
const BER_SIGMA_BITS: f64 = 0.82;
/// Blocks that may die before PeWear+ and PeWear++ say so.
const MISSED: f64 = 0.0005;
/// Shares of blocks for which it is told what an estimate is off.
const SHARES: [f64; 7] = [0.0005, 0.005, 0.05, 0.5, 0.95, 0.995, 0.9995];

/// What the markers are fitted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Name of the part.
    pub part: &'static str,
    /// Seed of blocks, ages and noise.
    pub seed: u32,
    /// Chips of the population.
    pub chips: u32,
    /// Blocks of each chip.
    pub blocks: u32,
}

impl Plan {
    /// The paper's population.
    pub const FULL: Plan = Plan { part: "tlc_48l", seed: 1, chips: 160, blocks: 120 };
}

/// What is seen of a block, and what it is.
pub(super) struct Seen {
    /// Errors of its worst sector after 12 months.
    pub n12: f64,
    kcycles: f64,
    erase_fine_ms: f64,
    erase_ms: f64,
    fresh: f64,
    fresh_noisy: f64,
    fresh_rough: f64,
    program_us: f64,
    dwell_ln: f64,
}

/// Variables of each marker, in the order of its coefficients after the constant.
impl Seen {
    /// What is seen of a block with such damage and dwell; what is measured is drawn.
    pub fn of(model: &CellModel, block: &Block, damage: &Damage, dwell: f64, rng: &mut Rng) -> Self {
        let fresh_noisy = model.fresh_bits_measured(block, damage, rng);
        // The sum of twelve even variables is normal enough.
        let normal = (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0;
        Seen {
            n12: model.n12(block.quality, damage.lasting),
            kcycles: damage.done,
            erase_fine_ms: model.erase_fine_ms(block, damage),
            erase_ms: model.erase_marker_ms(block, damage),
            fresh: model.fresh_bits(block, damage),
            fresh_noisy,
            fresh_rough: (fresh_noisy + BER_SIGMA_BITS * normal).max(0.0),
            program_us: model.program_us(block, damage, 0),
            dwell_ln: libm::log(dwell.clamp(1.0, model.part().population.dwell_full_minutes)),
        }
    }

    pub fn real_wear(&self) -> Vec<f64> {
        vec![1.0, self.kcycles, self.erase_fine_ms, self.fresh, self.dwell_ln]
    }

    pub fn uncalibrated(&self) -> Vec<f64> {
        vec![1.0, self.kcycles, self.erase_ms, self.fresh_noisy, self.dwell_ln]
    }

    pub fn pe_tprog(&self) -> Vec<f64> {
        vec![1.0, self.kcycles, self.program_us]
    }

    pub fn pe_tprog_ber(&self) -> Vec<f64> {
        vec![1.0, self.kcycles, self.program_us, self.fresh_rough]
    }
}

/// A block after a share of its life.
fn look(model: &CellModel, block: &Block, dwell: f64, share: f64, rng: &mut Rng) -> Seen {
    let limit = f64::from(model.hard_limit_bits());
    let celsius = model.part().retention.reference_c;
    let factor = model.dwell_factor(dwell, celsius);
    let kcycles = share * model.life_kcycles(block.quality, factor, limit).max(0.0);
    let damage = Damage { lasting: kcycles * factor, done: kcycles };
    Seen::of(model, block, &damage, dwell, rng)
}

/// Fits the markers of a part.
pub fn fit(plan: &Plan) -> Result<Markers, ConfigErrors> {
    Ok(fit_to(&CellModel::preset(plan.part)?, plan.seed, (plan.chips, plan.blocks)))
}

/// Fits the markers of any cells, on so many chips and blocks of each. A marker for which nothing can be fitted has no
/// coefficients.
pub fn fit_to(model: &CellModel, seed: u32, (chips, blocks): (u32, u32)) -> Markers {
    let population = Population::new(model, u64::from(seed), chips, blocks);
    let seen = population.by_place(|place, block| {
        let mut rng = place_stream(u64::from(seed), "lab.fit_markers", &[place as u64]);
        let dwell = libm::pow(LONGEST_DWELL, uniform(&mut rng));
        let share = YOUNGEST + (1.0 - YOUNGEST) * uniform(&mut rng);
        (look(model, block, dwell, share, &mut rng), look(model, block, dwell, 1.0, &mut rng))
    });
    let mut markers = Markers { fitted_on: model.part().fingerprint(), seed, ..Markers::default() };
    let fitted = |of: fn(&Seen) -> Vec<f64>| {
        let found = least_squares(&seen.iter().map(|(at, _)| (of(at), at.n12)).collect::<Vec<_>>());
        let Some(found) = found else { return (Vec::new(), Vec::new(), 0.0) };
        let off = |at: &Seen| at.n12 - product(&found, &of(at));
        let ages: Vec<f64> = seen.iter().map(|(at, _)| off(at)).collect();
        let ends: Vec<f64> = seen.iter().map(|(_, end)| off(end)).collect();
        let told = SHARES.map(|share| rounded(quantile(&ages, share))).to_vec();
        (found.into_iter().map(rounded).collect::<Vec<f64>>(), told, rounded(quantile(&ends, 1.0 - MISSED)))
    };
    (markers.real_wear, markers.real_wear_off, _) = fitted(Seen::real_wear);
    (markers.uncalibrated, markers.uncalibrated_off, _) = fitted(Seen::uncalibrated);
    (markers.pe_tprog, markers.pe_tprog_off, markers.pe_tprog_margin) = fitted(Seen::pe_tprog);
    (markers.pe_tprog_ber, markers.pe_tprog_ber_off, markers.pe_tprog_ber_margin) =
        fitted(Seen::pe_tprog_ber);
    markers
}

/// To a millionth.
fn rounded(x: f64) -> f64 {
    libm::round(x * 1e6) / 1e6
}

/// Coefficients times variables.
pub(super) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The factors with the least sum of squares, by the normal equations (RealWear section 3.2.2); none if variables
/// depend on each other: of a part whose blocks are dead when they are born there is nothing to fit.
fn least_squares(rows: &[(Vec<f64>, f64)]) -> Option<Vec<f64>> {
    let width = rows.first().map_or(0, |(row, _)| row.len());
    let (mut normal, mut right) = (vec![vec![0.0; width]; width], vec![0.0; width]);
    for (row, wanted) in rows {
        for (i, x) in row.iter().enumerate() {
            right[i] += x * wanted;
            for (j, y) in row.iter().enumerate() {
                normal[i][j] += x * y;
            }
        }
    }
    solved(normal, right)
}

/// Solves a symmetric, positive definite system by Cholesky's factors; none if it is not definite.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    // The lower triangle becomes the factor L, and the right side the solution of L x = right.
    for i in 0..right.len() {
        for j in 0..=i {
            let rest = matrix[i][j] - product(&matrix[i][..j], &matrix[j][..j]);
            if i > j {
                matrix[i][j] = rest / matrix[j][j];
            } else if rest > 0.0 {
                matrix[i][i] = libm::sqrt(rest);
            } else {
                return None;
            }
        }
        right[i] = (right[i] - product(&matrix[i][..i], &right[..i])) / matrix[i][i];
    }
    for i in (0..right.len()).rev() {
        let below: f64 = (i + 1..right.len()).map(|j| matrix[j][i] * right[j]).sum();
        right[i] = (right[i] - below) / matrix[i][i];
    }
    Some(right)
}

/// The file `presets/marker/<part>.toml`.
pub fn toml(plan: &Plan, markers: &Markers) -> String {
    let Plan { part, seed, chips, blocks } = plan;
    let mut text = format!(
        "{BEGINS}{part}: least squares on {} blocks of {chips} chips, seed {seed}.\n# [F] by \
         `wordline lab fit-markers`: blocks at 25 to 100 % of their lives, dwell log-uniform from 1 to 300 minutes\n# \
         (RealWear section 3.2.2); [A] where RealWear gives no number.\n\n[cell.markers]\n",
        chips * blocks
    );
    for field in Markers::FIELDS {
        let tag = match field.key {
            "guard_bits" => "[P] RealWear section 3.2.1: up to 4 bits between two reads",
            "seed" => "[A]",
            _ => "[F]",
        };
        let unit = if field.unit.is_empty() { String::new() } else { format!("{} ", field.unit) };
        let value = markers.show(field.key).unwrap_or_default();
        text.push_str(&format!("{} = {value} # {unit}{tag}\n", field.key));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane through points that lie on it.
    #[test]
    fn least_squares_finds_what_was_put_in() {
        let rows: Vec<(Vec<f64>, f64)> = (0..50)
            .map(|i| {
                let (x, y) = (f64::from(i), f64::from(i * i % 17));
                (vec![1.0, x, y], 3.0 - 0.25 * x + 2.0 * y)
            })
            .collect();
        let found = least_squares(&rows).expect("a plane");
        for (found, wanted) in found.iter().zip([3.0, -0.25, 2.0]) {
            assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        }
        // One variable that is always 0 says nothing.
        assert_eq!(least_squares(&[(vec![1.0, 0.0], 2.0), (vec![1.0, 0.0], 2.0)]), None);
    }

    /// Calibration section 4.2 fitted 10.0, -.07, 1.85, 1.03 and -.95 on other draws of the same population.
    #[test]
    fn the_fit_is_near_that_of_the_calibration() {
        let markers = fit(&Plan::FULL).expect("a shipped part");
        let known = [(10.0, 1.5), (-0.07, 0.1), (1.85, 0.15), (1.03, 0.15), (-0.95, 0.25)];
        for (found, (wanted, slack)) in markers.real_wear.iter().zip(known) {
            assert!((found - wanted).abs() < slack, "{:?}", markers.real_wear);
        }
        let off = &markers.real_wear_off;
        assert!(off.windows(2).all(|pair| pair[0] < pair[1]) && off[3].abs() < 0.2, "{off:?}");
        assert!(markers.pe_tprog_margin > markers.pe_tprog_ber_margin && markers.pe_tprog_ber_margin > 0.0);
    }

    /// What ships is what the fit gives.
    #[test]
    fn the_shipped_markers_are_those_of_the_fit() {
        for preset in ssd::config::presets::markers() {
            let plan = Plan { part: preset.name, ..Plan::FULL };
            assert_eq!(toml(&plan, &fit(&plan).expect("a shipped part")), preset.text, "{}", preset.file);
        }
    }
}
