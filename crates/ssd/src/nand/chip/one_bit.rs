//! Erases of blocks that are used with one bit a cell: each wears less than another (`nand.slc.wear`).

use crate::restore::{Verdict, alike, ensure};
use serde::{Deserialize, Serialize};

/// How many each block has seen; no table where none is used so.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct OneBitErases {
    counts: Vec<u32>,
    /// How much less one wears than another, in 1/65536.
    #[serde(skip)]
    spared_q16: u32,
}

impl OneBitErases {
    /// Of so many blocks; each wears so much of what another does.
    // tidy: allow(float): called when a drive is built
    pub fn new(blocks: u32, wear: f64) -> Self {
        let spared_q16 = libm::round((1.0 - wear) * 65_536.0) as u32;
        OneBitErases { counts: vec![0; blocks as usize], spared_q16 }
    }

    /// A block is erased.
    pub fn note(&mut self, block: u32) {
        if let Some(count) = self.counts.get_mut(block as usize) {
            *count += 1;
        }
    }

    /// A block is taken to have seen so many erases in all.
    pub fn recount(&mut self, block: u32, cycles: u32) {
        if let Some(count) = self.counts.get_mut(block as usize) {
            *count = (*count).min(cycles);
        }
    }

    /// How many erases in the normal mode wear as much as these of a block do not.
    #[inline]
    pub fn spared(&self, block: u32) -> u32 {
        let count = self.counts.get(block as usize).copied().unwrap_or(0);
        ((u64::from(count) * u64::from(self.spared_q16)) >> 16) as u32
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest beside all erases.
    pub fn restored(&mut self, fresh: OneBitErases, all: &[u32]) -> Verdict {
        alike("erase counts of chips", &self.counts, &fresh.counts)?;
        self.spared_q16 = fresh.spared_q16;
        ensure(self.counts.iter().zip(all).all(|(one_bit, all)| one_bit <= all), "erases of one bit a cell")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten of them wear as much as one in the normal mode; what is spared is rounded down.
    #[test]
    fn ten_erases_of_one_bit_wear_as_much_as_one() {
        let mut erases = OneBitErases::new(2, 0.1);
        (0..1_001).for_each(|_| erases.note(1));
        assert_eq!([0, 1].map(|block| erases.spared(block)), [0, 900]);
        erases.recount(1, 10);
        assert_eq!(erases.spared(1), 8);
        assert_eq!(OneBitErases::default().spared(1), 0);
        let fresh = || OneBitErases::new(2, 0.1);
        assert!(
            erases.clone().restored(fresh(), &[0, 10]).is_ok() && erases.restored(fresh(), &[0, 9]).is_err()
        );
    }
}
