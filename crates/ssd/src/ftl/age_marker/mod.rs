//! How worn is a block?
//!
//! An age is the share of its life that a block has behind it: 1 where its data would no longer be corrected after 12
//! months. Markers estimate the errors after 12 months (N12) from what the firmware sees of a block, and set them
//! against the errors that are corrected (RealWear section 3.2); what is seen is kept by `ftl/ages.rs`.

use crate::config::member::Misfit;
use crate::nand::cell::CellModel;
use crate::sections::{ErrorModel, Sections};
use serde::{Deserialize, Serialize};

family! {
    /// How worn is a block?
    path "ftl/age_marker", default none;
    members {
        none: None,
        pe_cycles: PeCycles,
        pe_tprog: PeTprog,
        pe_tprog_ber: PeTprogBer,
        real_wear: RealWear,
    }
    methods {
        /// Told of the cells once, when the drive is built.
        fn learn(&mut self, cells: &CellModel) {}
        /// Whether blocks have ages.
        fn acts(&self) -> bool {
            true
        }
        /// Whether it goes by coefficients, which are fitted on cells.
        fn is_fitted(&self) -> bool {
            true
        }
        /// Whether the first page of a block is read once it is programmed, for its errors.
        fn reads_first_page(&self) -> bool {
            false
        }
        /// The least and the most that a block's N12 is less what its age says, in bits: what the fit was off, for all
        /// but one block in a thousand, and what is added to be on the safe side. `None` where that is not known.
        // tidy: allow(float): called when a drive is built
        fn off_bits(&self, cells: &CellModel) -> Option<[f64; 2]> {
            None
        }
        /// Age of a block, in 1/4096 of its life.
        fn age_q12(&self, seen: &Seen) -> u32;
    }
}

/// What the firmware has seen of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Time of its last erase, in fine steps.
    pub erase_steps: u32,
    /// Errors of its first page when that was read last, in 1/256 bit.
    pub fresh_q8: u32,
    /// Program time of a page, in ns.
    pub program_ns: u32,
    /// Mean logarithm of its dwells, each of 1 minute at least and full recovery at most, in 1/256.
    pub dwell_ln_q8: u32,
}

/// A life.
pub const LIFE: u32 = 1 << 12;

/// An estimate of N12 over what is corrected: a constant and factors, in 1/2^32 of 1/4096 of a life.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Estimate {
    constant: i64,
    factors: [i64; 4],
}

impl Estimate {
    /// From bits, and bits for each of what is seen.
    // tidy: allow(float): called when a drive is built
    fn new(cells: &CellModel, constant: f64, factors: &[f64]) -> Self {
        let life = f64::from(LIFE) / f64::from(cells.hard_limit_bits()) * f64::from(1_u32 << 16) * 65_536.0;
        let fixed = |bits: f64| libm::round(bits * life) as i64;
        let factor = |at: usize| factors.get(at).map_or(0, |bits| fixed(*bits));
        Estimate { constant: fixed(constant), factors: core::array::from_fn(factor) }
    }

    /// The age of a block of which so much is seen.
    fn age_q12(&self, seen: [u32; 4]) -> u32 {
        let each = self.factors.iter().zip(seen).map(|(&factor, seen)| i128::from(factor) * i128::from(seen));
        let sum = i128::from(self.constant) + each.sum::<i128>();
        ((sum + (1 << 31)) >> 32).clamp(0, i128::from(u16::MAX)) as u32
    }
}

/// The ends of a list of what an estimate is off, less what is added to the estimate to be on the safe side.
// tidy: allow(float): called when a drive is built
fn ends(off: &[f64], safety: f64) -> Option<[f64; 2]> {
    Some([off.first()? - safety, off.last()? - safety])
}

/// Whether a drive has what a marker goes by.
pub(crate) fn misfit(config: &Config, cfg: &Sections) -> Option<Misfit> {
    if !Policy::build(config).is_fitted() {
        return None;
    }
    let (name, cells) = (config.name(), &cfg.cells);
    if cfg.errors.model == ErrorModel::None {
        return Some(Misfit {
            keys: &["ftl.age_marker.policy", "nand.errors.model"],
            found: format!("ages by \"{name}\" for cells that do not age"),
            allowed: "nand.errors.model = \"cells\", or ftl.age_marker.policy = \"none\" or \"pe_cycles\""
                .to_owned(),
        });
    }
    let m = &cells.markers;
    let lists = [&m.real_wear, &m.uncalibrated, &m.pe_tprog, &m.pe_tprog_ber];
    let (own, of) = (cells.fingerprint(), m.fitted_on);
    let whole = lists.iter().all(|list| !list.is_empty());
    (own != of || !whole).then(|| Misfit {
        keys: &["ftl.age_marker.policy", "cell.markers.fitted_on"],
        found: match whole {
            true => format!("\"{name}\" with coefficients fitted to the cells {of}, for the cells {own}"),
            false => format!("\"{name}\" without the coefficients of [cell.markers]"),
        },
        allowed: format!(
            "the markers of these cells (`wordline lab fit-markers`), with cell.markers.fitted_on = {own}; or \
             ftl.age_marker.policy = \"none\" or \"pe_cycles\""
        ),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::sections::CellPart;

    pub(crate) fn cells() -> CellModel {
        CellModel::preset("tlc_48l").expect("a shipped part")
    }

    #[test]
    fn an_estimate_is_a_constant_and_factors() {
        let estimate = Estimate::new(&cells(), 8.0, &[0.016, 2.0, 0.0]);
        // 8 + 16 + 8 of 64 bits.
        assert_eq!(estimate.age_q12([1_000, 4, 99, 7]), LIFE / 2);
        assert_eq!(Estimate::new(&cells(), -8.0, &[]).age_q12([1; 4]), 0);
        assert_eq!(Estimate::new(&cells(), 1e6, &[]).age_q12([1; 4]), 65_535);
    }

    #[test]
    fn coefficients_are_of_the_cells_they_are_used_on() {
        let mut cfg = Sections::default();
        let said = |config: &Config, cfg: &Sections| misfit(config, cfg).map(|misfit| misfit.found);
        let real_wear = Config::named("real_wear").expect("a member");
        assert!(said(&real_wear, &cfg).is_some_and(|found| found.contains("do not age")));
        cfg.errors.model = ErrorModel::Cells;
        assert!(said(&real_wear, &cfg).is_some_and(|found| found.contains("without the coefficients")));
        cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
        assert_eq!(said(&real_wear, &cfg), None);
        cfg.cells.population.growth_worst += 0.1;
        let found = misfit(&real_wear, &cfg).expect("other cells");
        let own = cfg.cells.fingerprint().to_string();
        assert!(found.found.contains(&own) && found.allowed.contains("fit-markers"), "{found:?}");
        assert_eq!(said(&Config::named("pe_cycles").expect("a member"), &cfg), None);
    }
}
