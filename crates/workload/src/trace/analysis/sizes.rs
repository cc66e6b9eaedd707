//! How large requests are.

use super::counts::Counts;
use std::collections::BTreeMap;

/// Sizes from 2 MiB on that are counted one by one: the first so many that appear.
const RARE_MAX: usize = 1 << 16;

/// How often each size occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    counts: Counts,
    others: u64,
}

impl Sizes {
    #[inline]
    pub(crate) fn add(&mut self, sectors: u32) {
        self.others += u64::from(!self.counts.add(sectors, RARE_MAX));
    }

    /// Sizes in sectors with how often they occurred; requests of further sizes stand under 0.
    pub(crate) fn finish(self) -> BTreeMap<u32, u64> {
        self.counts.iter().chain((self.others > 0).then_some((0, self.others))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sizes_are_counted() {
        let mut sizes = Sizes::default();
        [8, 8, 4095, 4096, u32::MAX, 4096].iter().for_each(|size| sizes.add(*size));
        let found: Vec<_> = sizes.clone().finish().into_iter().collect();
        assert_eq!(found, [(8, 2), (4095, 1), (4096, 2), (u32::MAX, 1)]);
        (0..RARE_MAX as u32).for_each(|more| sizes.add(10_000 + more));
        assert_eq!(sizes.finish().get(&0), Some(&2));
    }
}
