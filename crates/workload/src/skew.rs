//! How unevenly a workload uses its space.

use crate::pages::ChunkHasher;
use crate::record::{Request, SECTOR_BYTES};
use ssd::signals::OpCode;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Extents that accesses are counted in: 64 KiB.
pub const EXTENT_BYTES: u64 = 64 << 10;
const EXTENT_SECTORS: u64 = EXTENT_BYTES / SECTOR_BYTES;

/// Reads and writes of each extent of 64 KiB. Memory: about 16 bytes for every extent touched.
#[derive(Default)]
pub struct Skew {
    /// Sorted before it is used: its order is never seen.
    counts: HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>,
}

impl Skew {
    /// Counts a read or write once for each extent it touches.
    pub fn add(&mut self, request: &Request) {
        if request.sectors == 0 || !matches!(request.op, OpCode::Read | OpCode::Write) {
            return;
        }
        for extent in request.lba / EXTENT_SECTORS..=(request.end() - 1) / EXTENT_SECTORS {
            let count = self.counts.entry(extent).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// What part of the accesses, in percent, goes to the most accessed parts of the extents, given in percent. Where
    /// extents are accessed only a few times each, chance alone makes some of them hotter than others.
    pub fn access_percent(&self, space_percent: &[f64]) -> Vec<f64> {
        let mut counts: Vec<u32> = self.counts.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let sum = |counts: &[u32]| counts.iter().map(|&n| u64::from(n)).sum::<u64>() as f64;
        let all = sum(&counts).max(1.0);
        let share = |percent: &f64| {
            let hottest = libm::round(counts.len() as f64 * percent / 100.0) as usize;
            100.0 * sum(&counts[..hottest.min(counts.len())]) / all
        };
        space_percent.iter().map(share).collect()
    }

    /// Extents touched.
    pub fn extents(&self) -> u64 {
        self.counts.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_tenth() {
        let mut skew = Skew::default();
        let read = |lba, sectors| Request { lba, sectors, ..Request::default() };
        for extent in 0..10 {
            skew.add(&read(extent * 128, 8));
        }
        (0..30).for_each(|_| skew.add(&read(5 * 128 + 100, 8)));
        assert_eq!(skew.access_percent(&[0.0, 10.0, 100.0]), [0.0, 77.5, 100.0]);
        // One that crosses into the next extent counts for both.
        skew.add(&read(127, 2));
        assert_eq!((skew.extents(), skew.access_percent(&[100.0])[0]), (10, 100.0));
        assert_eq!(Skew::default().access_percent(&[20.0]), [0.0]);
    }
}
