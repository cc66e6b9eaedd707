//! Correction: how many errors, and how long (calibration sections 3 and 5).

use super::normal::tail;
use super::{CellModel, Group};
use crate::sections::cell::CodeKind;

impl CellModel {
    /// Errors in a sector that are corrected with so many levels at each threshold.
    pub fn limit_bits(&self, levels: u32) -> u32 {
        match self.part.ecc.code {
            CodeKind::Bch => self.part.ecc.limit_bits,
            CodeKind::Ldpc => libm::floor(self.max_rber(levels) * f64::from(self.bits_in_sector())) as u32,
        }
    }

    /// The same when each threshold is sensed once.
    pub fn hard_limit_bits(&self) -> u32 {
        self.limit_bits(1)
    }

    /// Highest error rate that is corrected with so many levels at each threshold.
    pub fn max_rber(&self, levels: u32) -> f64 {
        let ecc = &self.part.ecc;
        match ecc.code {
            CodeKind::Bch => f64::from(ecc.limit_bits) / f64::from(self.bits_in_sector()),
            CodeKind::Ldpc => ecc.max_rber[(levels.max(1) as usize).min(ecc.max_rber.len()) - 1],
        }
    }

    /// Levels at each threshold, of those the controller uses, at which that error rate is corrected; `None` if it is
    /// too high for all.
    pub fn levels_needed(&self, rber: f64) -> Option<u32> {
        let steps = self.part.ecc.level_steps.iter().map(|&levels| levels as u32);
        steps.into_iter().find(|&levels| rber <= self.max_rber(levels))
    }

    /// Sensing time when so many levels are sensed in all (HIRE's law), in us.
    pub fn sense_us(&self, levels: u32) -> f64 {
        self.part.ecc.sense_us * f64::from(levels)
    }

    /// Transfer time of what that many levels tell, in us.
    pub fn transfer_us(&self, levels: u32) -> f64 {
        // ceil(log2(n + 1)) is the number of binary digits of n.
        self.part.ecc.transfer_us * f64::from(u32::BITS - levels.leading_zeros())
    }

    /// Decoding time with so many levels at each threshold, in us: that of the next step of the controller.
    pub fn decode_us(&self, levels: u32) -> f64 {
        let ecc = &self.part.ecc;
        let at = ecc.level_steps.partition_point(|&step| step < f64::from(levels));
        ecc.decode_us[at.min(ecc.decode_us.len() - 1)]
    }

    /// Levels that a program mode is read with: at each threshold, times the thresholds of a cell.
    pub fn mode_levels(&self, mode: usize) -> u32 {
        self.part.modes.levels[mode] as u32 * (self.states() as u32 - 1)
    }

    /// Read time of a program mode (HIRE): sensing and transfer, in us.
    pub fn mode_read_us(&self, mode: usize) -> f64 {
        self.sense_us(self.mode_levels(mode)) + self.transfer_us(self.mode_levels(mode))
    }

    /// Read time with retries (RealWear Eq. 2.2), in us: every attempt senses, moves and decodes the page.
    pub fn read_us(&self, t_read_us: f64, retries: u32) -> f64 {
        let ecc = &self.part.ecc;
        (t_read_us + ecc.page_transfer_us + ecc.page_decode_us) * f64::from(retries + 1)
    }

    /// Share of wordlines in a group.
    pub fn group_share(&self, group: Group) -> f64 {
        self.part.wordlines.group_shares[group.index()]
    }
}

/// Highest raw bit error rate that any code of that rate corrects: with hard decisions (binary symmetric channel),
/// and with the exact voltage of every cell (binary input, normal noise).
pub fn capacity_limit(rate: f64) -> (f64, f64) {
    let largest = |enough: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, 0.5);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if enough(middle) { low = middle } else { high = middle }
        }
        low
    };
    let entropy = |p: f64| if p > 0.0 { -p * libm::log2(p) } else { 0.0 };
    let hard = largest(&|p| 1.0 - entropy(p) - entropy(1.0 - p) >= rate);
    // Signals at +1 and -1: the error rate of a hard decision is tail(1/sigma).
    let mut sigma = (0.05, 20.0);
    for _ in 0..40 {
        let middle: f64 = 0.5 * (sigma.0 + sigma.1);
        if soft_capacity(middle) >= rate { sigma.0 = middle } else { sigma.1 = middle }
    }
    (hard, tail(1.0 / sigma.0))
}

/// Bits that one binary signal of +1 or -1 carries through normal noise: 1 - E[log2(1 + exp(-2y/sigma^2))].
fn soft_capacity(sigma: f64) -> f64 {
    const STEPS: u32 = 400;
    let mut lost = 0.0;
    for i in 0..STEPS {
        let z = -8.0 + 16.0 * (f64::from(i) + 0.5) / f64::from(STEPS);
        let exponent = -2.0 * (1.0 + sigma * z) / (sigma * sigma);
        let bits = if exponent > 30.0 { exponent } else { libm::log1p(libm::exp(exponent)) };
        lost += bits * libm::exp(-0.5 * z * z);
    }
    let density = 16.0 / f64::from(STEPS) / (2.0 * core::f64::consts::PI).sqrt();
    1.0 - lost * density / core::f64::consts::LN_2
}
