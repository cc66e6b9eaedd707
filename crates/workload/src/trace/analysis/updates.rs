//! Which program contexts write again what was written before, and when (redFTL figure 27): whether few of them do most
//! of it, and which do it at the same time.

use std::collections::BTreeMap;

/// Most bins; when they are full, each two become one.
const BINS_MAX: usize = 256;
/// Contexts that are told apart; all later ones are one.
const CONTEXTS_MAX: usize = 4096;

/// Pages that each context has written again, over time. Time is counted in such pages, of all contexts.
#[derive(Clone, Debug, PartialEq)]
pub struct Updates {
    /// Width of a bin, in pages written again.
    pub bin_pages: f64,
    /// All pages written again by requests with a context.
    pub pages: f64,
    /// By context, in the order in which they came: its number (0 for all beyond 4,096) and its pages in each bin, up
    /// to its last.
    pub contexts: Vec<(u32, Vec<f64>)>,
    /// Where each of them is.
    rows: BTreeMap<u32, usize>,
}

impl Default for Updates {
    fn default() -> Self {
        Updates { bin_pages: 1.0, pages: 0.0, contexts: Vec::new(), rows: BTreeMap::new() }
    }
}

impl Updates {
    /// A request of a context has written so many pages again.
    pub(crate) fn add(&mut self, context: u32, pages: f64) {
        if context == 0 || pages == 0.0 {
            return;
        }
        while self.pages >= self.bin_pages * BINS_MAX as f64 {
            self.widen();
        }
        let at = (self.pages / self.bin_pages) as usize;
        let row = self.row(context);
        let bins = &mut self.contexts[row].1;
        if bins.len() <= at {
            bins.resize(at + 1, 0.0);
        }
        bins[at] += pages;
        self.pages += pages;
    }

    /// The row of a context; those that find none share one.
    fn row(&mut self, context: u32) -> usize {
        let context = match self.rows.len() < CONTEXTS_MAX || self.rows.contains_key(&context) {
            true => context,
            false => 0,
        };
        let next = self.contexts.len();
        let row = *self.rows.entry(context).or_insert(next);
        if row == next {
            self.contexts.push((context, Vec::new()));
        }
        row
    }

    fn widen(&mut self) {
        self.bin_pages *= 2.0;
        for (_, bins) in &mut self.contexts {
            *bins = bins.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    /// The contexts by how much they wrote again, most first, each with its pages.
    pub fn by_pages(&self) -> Vec<(u32, f64)> {
        let mut all: Vec<(u32, f64)> =
            self.contexts.iter().map(|(context, bins)| (*context, bins.iter().sum())).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all
    }

    /// The share of them that so many contexts wrote that wrote most, in percent; `None` without any. Those that share
    /// a row are none of them.
    pub fn top_percent(&self, contexts: usize) -> Option<f64> {
        let named = self.by_pages().into_iter().filter(|(context, _)| *context != 0);
        let top: f64 = named.take(contexts).map(|(_, pages)| pages).sum();
        (self.pages > 0.0).then(|| 100.0 * top / self.pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_counted_apart() {
        let mut updates = Updates::default();
        for (context, pages) in [(7, 3.0), (0, 9.0), (8, 1.0), (7, 0.0), (7, 2.0)] {
            updates.add(context, pages);
        }
        assert_eq!(updates.contexts, [(7, vec![3.0, 0.0, 0.0, 0.0, 2.0]), (8, vec![0.0, 0.0, 0.0, 1.0])]);
        assert_eq!((updates.pages, updates.by_pages()), (6.0, vec![(7, 5.0), (8, 1.0)]));
        assert_eq!(updates.top_percent(1), Some(500.0 / 6.0));
        assert_eq!(Updates::default().top_percent(5), None);
    }

    #[test]
    fn bins_widen_and_lose_nothing() {
        let mut updates = Updates::default();
        for at in 0..10_000u32 {
            updates.add(1 + at % 3, 1.0);
        }
        assert_eq!((updates.pages, updates.bin_pages), (10_000.0, 64.0));
        let sums: Vec<f64> = updates.by_pages().iter().map(|(_, pages)| *pages).collect();
        assert_eq!(sums, [3334.0, 3333.0, 3333.0]);
        assert!(updates.contexts.iter().all(|(_, bins)| bins.len() == 157));
    }

    #[test]
    fn memory_has_a_bound() {
        let mut updates = Updates::default();
        (1..=5000).for_each(|context| updates.add(context, 1.0));
        assert_eq!(updates.contexts.len(), CONTEXTS_MAX + 1);
        assert_eq!(updates.contexts[CONTEXTS_MAX].0, 0);
        assert_eq!(updates.by_pages()[0], (0, 904.0));
        assert_eq!(updates.top_percent(5), Some(0.1));
    }
}
