//! PeWear+: cycles and program time, with a margin for those blocks that they take for younger than they are.

use super::{Estimate, Member, Seen, ends};
use crate::nand::cell::CellModel;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "pe_tprog";
/// What it does.
pub const SUMMARY: &str = "cycles and program time, with a margin";
/// Where it comes from.
pub const SOURCE: &str = "PeWear+ of RealWear section 2.8.1, with RealWear's linear form";
/// What it costs.
pub const MEMORY: &str = "14 bytes per physical block, 2 per block of a lane";

section! {
    /// `pe_tprog` has no parameters: coefficients and margin are those of `cell.markers`.
    pub struct Params {}
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    estimate: Estimate,
}

impl Policy {
    /// Builds it; [`Policy::learn`] brings the coefficients.
    pub fn new(_: &Params) -> Self {
        Policy { estimate: Estimate::default() }
    }
}

impl Member for Policy {
    // tidy: allow(float): called when a drive is built
    fn learn(&mut self, cells: &CellModel) {
        let m = &cells.part().markers;
        let &[constant, per_kcycle, per_us] = m.pe_tprog.as_slice() else { return };
        self.estimate = Estimate::new(cells, constant + m.pe_tprog_margin, &[per_kcycle / 1e3, per_us / 1e3]);
    }

    // tidy: allow(float): called when a drive is built
    fn off_bits(&self, cells: &CellModel) -> Option<[f64; 2]> {
        let m = &cells.part().markers;
        ends(&m.pe_tprog_off, m.pe_tprog_margin)
    }

    fn age_q12(&self, seen: &Seen) -> u32 {
        self.estimate.age_q12([seen.cycles, seen.program_ns, 0, 0])
    }
}
