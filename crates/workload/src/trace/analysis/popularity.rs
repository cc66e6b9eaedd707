//! How unevenly accesses fall on pages.

use super::counts::Counts;

/// How many pages have how many accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Popularity {
    /// Pages by their accesses.
    pages: Counts,
}

impl Popularity {
    /// Counts a page with its accesses; one that has none is no part of it.
    #[inline]
    pub(crate) fn add(&mut self, accesses: u32) {
        if accesses > 0 {
            self.pages.add(accesses, usize::MAX);
        }
    }

    /// Numbers of accesses with the pages that have them, in ascending order.
    fn groups(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.pages.iter().map(|(accesses, pages)| (u64::from(accesses), pages))
    }

    /// Pages.
    pub fn pages(&self) -> u64 {
        self.groups().map(|(_, pages)| pages).sum()
    }

    /// Accesses to them.
    pub fn accesses(&self) -> u64 {
        self.groups().map(|(accesses, pages)| accesses * pages).sum()
    }

    /// The Gini coefficient of the accesses: 0 if all pages have as many, near 1 if one has all; `None` without pages.
    ///
    /// G = sum over pages of (2 i - n - 1) x_i / (n sum of x), with pages by their accesses x from i = 1 up (Gini 1912,
    /// in the form of Dixon et al., Ecology 68(5), 1987).
    pub fn gini(&self) -> Option<f64> {
        let pages = self.pages();
        let (mut before, mut sum) = (0u64, 0.0);
        for (accesses, group) in self.groups() {
            // The mean number i of a group's pages.
            let middle = before as f64 + (group as f64 + 1.0) / 2.0;
            sum += (2.0 * middle - pages as f64 - 1.0) * accesses as f64 * group as f64;
            before += group;
        }
        (pages > 0).then(|| sum / (pages as f64 * self.accesses() as f64))
    }

    /// What part of the accesses, in percent, goes to the most accessed pages, given in percent of them and rounded to
    /// whole pages; `None` without pages. Where pages have only a few accesses each, chance alone makes some of them
    /// hotter than others.
    pub fn top_percent(&self, pages_percent: f64) -> Option<f64> {
        let (pages, accesses) = (self.pages(), self.accesses());
        let mut left = libm::round(pages as f64 * pages_percent / 100.0) as u64;
        let mut sum = 0;
        for (accesses, group) in self.groups().rev() {
            let taken = group.min(left);
            sum += taken * accesses;
            left -= taken;
        }
        (pages > 0).then(|| 100.0 * sum as f64 / accesses as f64)
    }

    /// That for all parts, as a curve from (0, 0) to (100, 100): percent of the pages, the most accessed first, and
    /// percent of the accesses; in steps of at least 1/4 %. Empty without pages.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let (pages, accesses) = (self.pages(), self.accesses());
        if pages == 0 {
            return Vec::new();
        }
        let mut curve = vec![(0.0, 0.0)];
        let (mut pages_sum, mut accesses_sum) = (0, 0);
        for (each, group) in self.groups().rev() {
            pages_sum += group;
            accesses_sum += group * each;
            let at = (100.0 * pages_sum as f64 / pages as f64, 100.0 * accesses_sum as f64 / accesses as f64);
            let before = curve[curve.len() - 1];
            if at.0 - before.0 >= 0.25 || at.1 - before.1 >= 0.25 || pages_sum == pages {
                curve.push(at);
            }
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[u32]) -> Popularity {
        let mut popularity = Popularity::default();
        counts.iter().for_each(|count| popularity.add(*count));
        popularity
    }

    #[test]
    fn gini_as_by_hand() {
        for (counts, expected) in [
            (&[5, 5, 5, 5][..], 0.0),
            // (1*1 + 3*3) / (2*4) - (2+1)/2... by the formula: (-1*1 + 1*3) / (2*4).
            (&[1, 3], 0.25),
            // (-3*1 - 1*2 + 1*3 + 3*4) / (4*10).
            (&[4, 2, 1, 3], 0.25),
            // All but one page have one access, one has 97: (-99 - 97 ... + 97) + 99*97 = -99 + 9603, over 100*196.
            (&[&[1; 99][..], &[97]].concat(), 9504.0 / 19600.0),
            (&[7], 0.0),
            // (-1*1 + 1*9999) / (2*10000), with a count beyond the common ones.
            (&[9_999, 1], 9998.0 / 20000.0),
        ] {
            let found = of(counts).gini().unwrap();
            assert!((found - expected).abs() < 1e-12, "{counts:?}: {found}, by hand {expected}");
        }
        assert_eq!((of(&[]).gini(), of(&[0, 0]).gini()), (None, None));
    }

    #[test]
    fn gini_is_the_mean_difference() {
        // The definition: the mean of |x - y| over all pairs, divided by twice the mean.
        let counts: Vec<u32> = (0..60u32).map(|i| 1 + i * i % 97 + 5_000 * (i % 7 / 6)).collect();
        let n = counts.len() as f64;
        let pairs = counts.iter().flat_map(|x| counts.iter().map(move |y| f64::from(x.abs_diff(*y))));
        let mean = counts.iter().sum::<u32>() as f64 / n;
        let expected = pairs.sum::<f64>() / (n * n) / (2.0 * mean);
        assert!((of(&counts).gini().unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn the_hottest_pages() {
        let mut counts = vec![1; 9];
        counts.push(31);
        let popularity = of(&counts);
        assert_eq!((popularity.pages(), popularity.accesses()), (10, 40));
        let found = [0.0, 10.0, 20.0, 100.0].map(|percent| popularity.top_percent(percent));
        assert_eq!(found, [0.0, 77.5, 80.0, 100.0].map(Some));
        assert_eq!(of(&[]).top_percent(20.0), None);
        assert_eq!(popularity.curve(), [(0.0, 0.0), (10.0, 77.5), (100.0, 100.0)]);
        assert!(of(&[]).curve().is_empty());
    }
}
