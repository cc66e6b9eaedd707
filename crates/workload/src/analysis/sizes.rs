//! How large requests are.

use std::collections::BTreeMap;

/// Sizes below it, in sectors, have a place of their own: 2 MiB.
const COMMON: usize = 4096;
/// Other sizes that are counted one by one: the first so many that appear.
const RARE_MAX: usize = 1 << 16;

/// How often each size occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    common: Vec<u64>,
    rare: BTreeMap<u32, u64>,
    others: u64,
}

impl Sizes {
    #[inline]
    pub(crate) fn add(&mut self, sectors: u32) {
        let at = sectors as usize;
        if at < COMMON {
            if self.common.len() <= at {
                self.common.resize(at + 1, 0);
            }
            self.common[at] += 1;
        } else if self.rare.len() < RARE_MAX || self.rare.contains_key(&sectors) {
            *self.rare.entry(sectors).or_default() += 1;
        } else {
            self.others += 1;
        }
    }

    /// Sizes in sectors with how often they occurred; requests of further sizes stand under 0.
    pub(crate) fn finish(self) -> BTreeMap<u32, u64> {
        let common = self.common.iter().enumerate().map(|(sectors, count)| (sectors as u32, *count));
        let others = (self.others > 0).then_some((0, self.others));
        common.filter(|(_, count)| *count > 0).chain(self.rare).chain(others).collect()
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
