//! What reads do to the cells of other wordlines (calibration section 2): the law of voltage, the weights of redFTL+,
//! and the effective read counts of Straw.

use super::state::power;
use super::{CellModel, Group};

/// Straw's effective read count of a wordline: reads of its two neighbours count `adjacent` times, its own not.
pub fn effective_reads(block_reads: f64, neighbour_reads: f64, own_reads: f64, adjacent: f64) -> f64 {
    block_reads - neighbour_reads - own_reads + adjacent * neighbour_reads
}

/// Effective reads of every wordline for each read of the block, when reads go round its wordlines evenly.
pub fn effective_reads_uniform(wordlines: f64, adjacent: f64) -> f64 {
    1.0 + (2.0 * adjacent - 3.0) / wordlines
}

/// Harm of a read of each page type over the worst: a share `base` for any read, the rest with its thresholds.
/// 0 is TLCbase of redFTL+; 0.242 fits its MLC, 0.34 to 0.38 its TLCopt (calibration section 2.2).
pub fn page_weights(code: &[Vec<u32>], base: f64) -> Vec<f64> {
    let most = code.iter().map(Vec::len).max().unwrap_or(1).max(1) as f64;
    code.iter().map(|thresholds| base + (1.0 - base) * thresholds.len() as f64 / most).collect()
}

impl CellModel {
    /// Reads endured at a lower pass voltage over those at the normal one: by the law of Fowler and Nordheim
    /// (calibration section 2.1). `ratio` is the lower voltage over the normal one.
    pub fn endurance_by_law(&self, ratio: f64) -> f64 {
        libm::exp(self.part.disturb.slope * (1.0 / ratio - 1.0)) / (ratio * ratio)
    }

    /// The same as measured (redFTL Table 4): a curve through its points. `None` below the lowest ratio that passes.
    pub fn endurance_as_measured(&self, ratio: f64) -> Option<f64> {
        let d = &self.part.disturb;
        let less = 1.0 - ratio;
        (d.lowest_ratio..=1.0)
            .contains(&ratio)
            .then(|| libm::exp(d.ratio_linear * less + d.ratio_square * less * less))
    }

    /// Harm of a neighbour's read over that of another wordline, by the same law: the neighbours' pass voltage is
    /// higher.
    pub fn adjacent_by_law(&self) -> f64 {
        let high = 1.0 + self.part.disturb.adjacent_v / self.part.states.pass_v;
        high * high * libm::exp(self.part.disturb.slope * (1.0 - 1.0 / high))
    }

    /// Harm of a read of a page type in a program mode, in reads of the worst page type in the normal mode (beta over
    /// alpha of redFTL+).
    pub fn read_weight(&self, page: usize, mode: usize) -> f64 {
        self.part.disturb.page_weights[page] / self.part.modes.read_endurance[mode]
    }

    /// Harm of a neighbour's read over that of another wordline (alpha of Straw).
    pub fn adjacent(&self, group: Group, kcycles: f64) -> f64 {
        let d = &self.part.disturb;
        let gain = d.adjacent_per_kcycle * (kcycles - d.reference_kcycles);
        (d.adjacent[group.index()] + gain).max(1.0)
    }

    /// Effective reads that the wordlines of a group endure.
    pub fn erc_max(&self, group: Group, kcycles: f64) -> f64 {
        let d = &self.part.disturb;
        d.erc_max[group.index()] * libm::pow(d.erc_decay[group.index()], kcycles - d.reference_kcycles)
    }

    /// Reads that a whole block endures when its worst wordline's neighbour takes them all.
    pub fn block_reads_max(&self, kcycles: f64) -> f64 {
        self.erc_max(Group::Worst, kcycles) / self.adjacent(Group::Worst, kcycles)
    }

    /// Effective reads that a wordline endures, by its place in the block from worst (0) to best (1).
    pub fn erc_max_at(&self, place: f64, kcycles: f64) -> f64 {
        let d = &self.part.disturb;
        let top = d.top_erc * (1.0 + d.top_decay * (d.top_kcycles - kcycles));
        let groups = [Group::Worst, Group::Bad, Group::Good, Group::Best];
        let mut left = 0.0;
        for (i, &group) in groups.iter().enumerate() {
            let share = self.part.wordlines.group_shares[group.index()];
            let low = self.erc_max(group, kcycles);
            let high = groups.get(i + 1).map_or(top, |&next| self.erc_max(next, kcycles));
            if place <= left + share && share > 0.0 {
                return low + (high - low) * (place - left) / share;
            }
            left += share;
        }
        top
    }

    /// Rise of the erased state at the end of a wordline's effective reads, in V (calibration section 2.5).
    pub fn erased_shift_v(&self, kcycles: f64) -> f64 {
        let d = &self.part.disturb;
        let early = d.erased_shift_loss_v * power(kcycles, d.erased_shift_power);
        (d.erased_shift_v - early - d.erased_shift_per_kcycle_v * kcycles).max(0.0)
    }

    /// Errors in a sector with those of read disturb, by the linear law (calibration section 2.5).
    pub fn disturbed_bits(&self, other_bits: f64, erc_fraction: f64) -> f64 {
        other_bits + (f64::from(self.hard_limit_bits()) - other_bits).max(0.0) * erc_fraction
    }
}
