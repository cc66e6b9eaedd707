//! Raw bit errors of a page by overlap integrals, the best references, and the retry table (calibration sections 1.1
//! and 5).

use super::normal::tail;
use super::{CellModel, CellState, Distribution, MAX_STATES};

/// Reference voltages in V; entry `b` separates states `b-1` and `b`, entry 0 is not used.
pub type References = [f64; MAX_STATES];

impl Distribution {
    /// Error rate from cells of the state below a reference that lie above it.
    pub fn spill_up(&self, threshold: usize, volts: f64) -> f64 {
        let z = (volts - self.mean[threshold - 1]) / self.sigma[threshold - 1];
        self.factor * tail(z) / self.states as f64
    }

    /// Error rate from cells of the state above a reference that lie below it.
    pub fn spill_down(&self, threshold: usize, volts: f64) -> f64 {
        let z = (self.mean[threshold] - volts) / self.sigma[threshold];
        self.factor * tail(z) / self.states as f64
    }

    /// Error rate at one reference: cells of its two neighbours on the wrong side, over all cells.
    pub fn overlap(&self, threshold: usize, volts: f64) -> f64 {
        self.spill_up(threshold, volts) + self.spill_down(threshold, volts)
    }

    /// The reference with the fewest errors: where the upper state's density overtakes the lower one's. In closed
    /// form, because both are normal; below or above both means where one state lies within the other.
    pub fn optimal_reference(&self, threshold: usize) -> f64 {
        let (from, to) = (self.mean[threshold - 1], self.mean[threshold]);
        let (sa, sb) = (self.sigma[threshold - 1], self.sigma[threshold]);
        let distance = to - from;
        // With u the distance from the lower mean: a u^2 + 2 b u + c = 0, in the forms without cancellation.
        let a = 1.0 / (sa * sa) - 1.0 / (sb * sb);
        let b = distance / (sb * sb);
        let c = 2.0 * libm::log(sa / sb) - distance * b;
        let root = (b * b - a * c).max(0.0).sqrt();
        let u = if b > 0.0 {
            -c / (b + root)
        } else if a != 0.0 {
            (root - b) / a
        } else {
            0.5 * distance
        };
        from + u
    }
}

impl CellModel {
    /// The references with the fewest errors, in V.
    pub fn optimal_references(&self, cells: &Distribution) -> References {
        let mut references = [0.0; MAX_STATES];
        for (threshold, reference) in references.iter_mut().enumerate().take(self.states()).skip(1) {
            *reference = cells.optimal_reference(threshold);
        }
        references
    }

    /// Raw bit error rate of a page type, neighbouring states only: what calibration section 1.1 states.
    pub fn page_rber(&self, cells: &Distribution, page: usize, references: &References) -> f64 {
        let thresholds = self.code[page].iter().map(|&threshold| threshold as usize);
        thresholds.map(|threshold| cells.overlap(threshold, references[threshold])).sum()
    }

    /// Raw bit error rate of a page type over all states: holds also when states pass each other or a reference
    /// lies far off. References must rise.
    pub fn page_rber_all_states(&self, cells: &Distribution, page: usize, references: &References) -> f64 {
        let mut thresholds = self.code[page].clone();
        thresholds.sort_unstable();
        let mut wrong = 0.0;
        for state in 0..cells.states {
            // Passing a reference turns the bit: above it the cell reads as the other value.
            let own = thresholds.iter().filter(|&&threshold| threshold as usize <= state).count();
            let mut below = 1.0;
            for (passed, &threshold) in thresholds.iter().enumerate() {
                let above = tail((references[threshold as usize] - cells.mean[state]) / cells.sigma[state]);
                if (passed ^ own) & 1 == 1 {
                    wrong += below - above;
                }
                below = above;
            }
            if (thresholds.len() ^ own) & 1 == 1 {
                wrong += below;
            }
        }
        cells.factor * wrong / cells.states as f64
    }

    /// Errors of the worst page type in a sector.
    pub fn worst_sector_bits(&self, cells: &Distribution, references: &References) -> f64 {
        let pages = (0..self.page_types()).map(|page| self.page_rber(cells, page, references));
        self.sector_bits(pages.fold(0.0, f64::max))
    }

    /// References of an entry of the retry table at that wear (calibration section 5): the lowest ones follow wear,
    /// and each entry is lower than the one before, in proportion to the states' places.
    pub fn retry_references(&self, wear_kcycles: f64, mode: usize, entry: u32) -> References {
        let worn = self.distribution(&CellState { wear_kcycles, mode, ..CellState::default() });
        self.entry_references(&worn, mode, entry)
    }

    /// The same from the distribution of the just-programmed cells at that wear.
    pub(super) fn entry_references(&self, worn: &Distribution, mode: usize, entry: u32) -> References {
        self.step_references(worn, mode, f64::from(entry))
    }

    /// The same so many steps from the first entry, whole or not.
    pub(super) fn step_references(&self, worn: &Distribution, mode: usize, steps: f64) -> References {
        let retry = &self.part.retry;
        let mut references = self.references[mode];
        for (threshold, reference) in references.iter_mut().enumerate().take(self.states()).skip(1) {
            if threshold <= retry.wear_shifted as usize {
                *reference = worn.optimal_reference(threshold);
            }
            // States below 0 V have place 0 here: the erased state is not followed.
            let place = 0.5 * (self.places[threshold - 1].max(0.0) + self.places[threshold]);
            *reference -= steps * retry.step_v * place;
        }
        references
    }

    /// Entries of the retry table that fail before the worst page has at most `limit_bits` errors in a sector;
    /// `None` if all fail.
    pub fn retries_needed(&self, state: &CellState, limit_bits: f64) -> Option<u32> {
        let cells = self.distribution(state);
        let fresh = CellState { wear_kcycles: state.wear_kcycles, mode: state.mode, ..CellState::default() };
        let worn = self.distribution(&fresh);
        (0..=self.part.retry.entries).find(|&entry| {
            self.worst_sector_bits(&cells, &self.entry_references(&worn, state.mode, entry)) <= limit_bits
        })
    }

    /// Retries of a system whose table is indexed by N12: one for each `bits_per_step` the index is off.
    pub fn retries_by_index(&self, n12_true: f64, n12_indexed: f64) -> u32 {
        libm::ceil((n12_true - n12_indexed).abs() / self.part.retry.bits_per_step) as u32
    }

    /// Retries of a system whose table is indexed by cycles: its entries start at the best block of that many
    /// cycles, two retries away at 12 months, and a read gives up after 8.
    pub fn retries_by_cycles(&self, n12: f64, kcycles: f64) -> u32 {
        let best = self.n12(1.0, kcycles);
        (2 + self.retries_by_index(n12.max(best), best)).min(8)
    }
}
