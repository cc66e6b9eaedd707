//! Which contexts are updated at similar times: a log of updates, how far apart those of two contexts lie in it, and
//! clusters of contexts by single linkage (IDS section 6.2.3).

use super::Row;
use core::cmp::Ordering;

/// How far apart the updates of two contexts lie on average (`ul`, IDS equation 6.3): an exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ftl) struct Distance {
    sum: u32,
    count: u32,
}

impl Distance {
    fn compare(self, other: Distance) -> Ordering {
        let [a, b] = [(self, other), (other, self)].map(|(a, b)| u64::from(a.sum) * u64::from(b.count));
        a.cmp(&b)
    }
}

/// Two contexts, the lower first, and how far apart they are.
#[derive(Clone, Copy, Debug)]
struct Link {
    distance: Distance,
    low: u16,
    high: u16,
}

impl Link {
    /// The nearer goes first; of equal ones that with the lower context.
    fn compare(&self, other: &Link) -> Ordering {
        let by_distance = self.distance.compare(other.distance);
        by_distance.then((self.low, self.high).cmp(&(other.low, other.high)))
    }
}

/// Where a context stands among the clusters, which are numbered as they are made, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ftl) struct Standing {
    /// The first cluster that holds it: its original cluster.
    pub original: u16,
    /// The lowest-numbered cluster inside that: its root cluster.
    pub root: u16,
}

const NOT_THERE: u16 = u16::MAX;

/// Clusters of the contexts of a log, and room to find them.
#[derive(Clone, Debug, Default)]
pub(in crate::ftl) struct Linkage {
    /// The contexts that are clustered, in order: all that follows counts them from 0.
    members: Vec<Row>,
    /// By place of the log: which of them was updated.
    log: Vec<u16>,
    /// Their places in the log: how many.
    places: Vec<u32>,
    /// By place of the log: how far away the nearest update of the member looked at is.
    near: Vec<u32>,
    /// Sum, over the places of the second, of how far away the nearest of the first is: of members, first by second.
    sums: Vec<u32>,
    /// The links of the shortest tree, by length.
    tree: Vec<Link>,
    /// By member outside the tree: its shortest link to one inside.
    reach: Vec<Option<Link>>,
    /// Whether a member is in the tree.
    inside: Vec<bool>,
    /// The cluster that a cluster or a member is in: clusters first, then members.
    within: Vec<u16>,
    /// By cluster: the lowest-numbered inside.
    lowest: Vec<u16>,
    standings: Vec<Standing>,
}

impl Linkage {
    /// Room for a log of so many updates.
    pub fn new(window: usize) -> Self {
        Linkage {
            members: Vec::with_capacity(window),
            log: Vec::with_capacity(window),
            places: Vec::with_capacity(window),
            near: Vec::with_capacity(window),
            sums: Vec::with_capacity(window * window),
            tree: Vec::with_capacity(window),
            reach: Vec::with_capacity(window),
            inside: Vec::with_capacity(window),
            within: Vec::with_capacity(2 * window),
            lowest: Vec::with_capacity(window),
            standings: Vec::with_capacity(window),
        }
    }

    /// Bytes that room for such a log takes.
    pub fn bytes(window: usize) -> u64 {
        let (numbers, links) =
            (6 * size_of::<u16>() + 2 * size_of::<u32>(), size_of::<(Link, Option<Link>)>());
        let each = numbers + links + size_of::<bool>() + size_of::<Standing>();
        (window * (each + window * size_of::<u32>())) as u64
    }

    /// The contexts that were clustered last, in order.
    pub fn members(&self) -> &[Row] {
        &self.members
    }

    /// Where they stand among the clusters, in the same order; nowhere if there is but one, for it is in no cluster.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// Clusters those contexts of a log that are `wanted`. The others count as updates between theirs.
    pub fn cluster(&mut self, log: &[Row], wanted: impl Fn(Row) -> bool) {
        self.members.clear();
        self.members.extend(log.iter().copied().filter(|&row| wanted(row)));
        self.members.sort_unstable();
        self.members.dedup();
        self.log.clear();
        self.log
            .extend(log.iter().map(|row| self.members.binary_search(row).map_or(NOT_THERE, |at| at as u16)));
        self.measure();
        self.find_tree();
        self.merge();
    }

    /// How far apart two members are: the mean, over all updates of both, of how far away the nearest of the other is.
    fn distance(&self, p: usize, q: usize) -> Distance {
        let count = self.members.len();
        let sum = self.sums[p * count + q] + self.sums[q * count + p];
        Distance { sum, count: self.places[p] + self.places[q] }
    }

    /// The sums that distances are made of: for each member a way through the log and back.
    fn measure(&mut self) {
        let count = self.members.len();
        self.places.clear();
        self.places.resize(count, 0);
        for &at in self.log.iter().filter(|&&at| at != NOT_THERE) {
            self.places[usize::from(at)] += 1;
        }
        self.sums.clear();
        self.sums.resize(count * count, 0);
        for member in 0..count {
            let here = |at: &u16| usize::from(*at) == member;
            self.near.clear();
            let mut away = u32::MAX;
            for at in &self.log {
                away = if here(at) { 0 } else { away.saturating_add(1) };
                self.near.push(away);
            }
            away = u32::MAX;
            for (at, near) in self.log.iter().zip(&mut self.near).rev() {
                away = if here(at) { 0 } else { away.saturating_add(1) };
                *near = away.min(*near);
                if *at != NOT_THERE {
                    self.sums[member * count + usize::from(*at)] += *near;
                }
            }
        }
    }

    /// The shortest tree over all members, its links by length (Prim 1957). No two links compare as equal, so there is
    /// but one, and it holds just the links that single linkage merges by.
    fn find_tree(&mut self) {
        let count = self.members.len();
        self.tree.clear();
        self.reach.clear();
        self.reach.resize(count, None);
        self.inside.clear();
        self.inside.resize(count, false);
        let mut newest = 0;
        for _ in 1..count {
            self.inside[newest] = true;
            let mut best: Option<(usize, Link)> = None;
            for at in (0..count).filter(|&at| !self.inside[at]) {
                let (low, high) = (newest.min(at) as u16, newest.max(at) as u16);
                let link = Link { distance: self.distance(newest, at), low, high };
                let shortest = self.reach[at].filter(|reach| reach.compare(&link).is_lt()).unwrap_or(link);
                self.reach[at] = Some(shortest);
                if best.is_none_or(|(_, best)| shortest.compare(&best).is_lt()) {
                    best = Some((at, shortest));
                }
            }
            if let Some((at, link)) = best {
                self.tree.push(link);
                newest = at;
            }
        }
        self.tree.sort_unstable_by(Link::compare);
    }

    /// Clusters, one for each link of the tree, the shortest first.
    fn merge(&mut self) {
        let clusters = self.tree.len();
        self.within.clear();
        self.within.resize(clusters + self.members.len(), NOT_THERE);
        self.lowest.clear();
        self.standings.clear();
        self.standings.resize(if clusters > 0 { self.members.len() } else { 0 }, Standing::default());
        for made in 0..clusters {
            let Link { low, high, .. } = self.tree[made];
            let parts = [low, high].map(|member| self.top(clusters + usize::from(member)));
            let mut lowest = made as u16;
            for part in parts {
                self.within[part] = made as u16;
                if part < clusters {
                    lowest = lowest.min(self.lowest[part]);
                }
            }
            self.lowest.push(lowest);
            for part in parts.into_iter().filter(|&part| part >= clusters) {
                self.standings[part - clusters] = Standing { original: made as u16, root: lowest };
            }
        }
    }

    /// The last cluster that holds a cluster or a member; itself if there is none. Ways are halved as they are gone.
    fn top(&mut self, mut at: usize) -> usize {
        while self.within[at] != NOT_THERE {
            let up = usize::from(self.within[at]);
            if self.within[up] == NOT_THERE {
                return up;
            }
            self.within[at] = self.within[up];
            at = up;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use kodama::{Method, linkage};
    use std::collections::BTreeSet;

    fn clustered(log: &[u16]) -> Linkage {
        let mut linkage = Linkage::new(log.len());
        let log: Vec<Row> = log.iter().map(|&row| Row(row)).collect();
        linkage.cluster(&log, |_| true);
        linkage
    }

    /// The contexts of each cluster, as they were made.
    fn sets(linkage: &Linkage) -> Vec<BTreeSet<u16>> {
        let mut sets: Vec<BTreeSet<u16>> = Vec::new();
        for link in &linkage.tree {
            let part = |member| {
                let found = sets.iter().rev().find(|set| set.contains(&member));
                found.cloned().unwrap_or_else(|| BTreeSet::from([member]))
            };
            let both = &part(link.low) | &part(link.high);
            sets.push(both);
        }
        sets
    }

    /// IDS figure 33, as far as it is printed: a log of six updates, of which it says W = 7. Its 1.2 is what its
    /// equations give; its 1.8 needs a seventh update.
    #[test]
    fn figure_33_in_exact_fractions() {
        let linkage = clustered(&[1, 1, 2, 3, 1, 2]);
        let away = |log: &[u16], of: u16| -> Vec<u32> {
            let places =
                |at: usize| (0..log.len()).filter(|&to| log[to] == of).map(move |to| at.abs_diff(to) as u32);
            (0..log.len()).map(|at| places(at).min().unwrap()).collect()
        };
        let log = [1, 1, 2, 3, 1, 2];
        assert_eq!((away(&log, 2)[0], away(&log, 3)[0], away(&log, 3)[1]), (2, 3, 2));
        assert_eq!(linkage.distance(0, 1), Distance { sum: 6, count: 5 });
        assert_eq!(linkage.distance(0, 2), Distance { sum: 7, count: 4 });
        let linkage = clustered(&[1, 1, 2, 3, 1, 2, 3]);
        assert_eq!(linkage.distance(0, 1), Distance { sum: 6, count: 5 });
        assert_eq!(linkage.distance(0, 2), Distance { sum: 9, count: 5 });
    }

    /// IDS figure 34: links 1-2 < 4-5 < 2-3 < the rest. A log with these distances makes its clusters.
    #[test]
    fn figure_34_numbers_clusters_as_they_are_made() {
        let mut linkage = Linkage::new(5);
        linkage.members = [1, 2, 3, 4, 5].map(Row).to_vec();
        linkage.places = vec![1; 5];
        linkage.sums = vec![0; 25];
        for p in 0..5usize {
            for q in 0..5usize {
                let pair = (p.min(q) + 1, p.max(q) + 1);
                let order = [(1, 2), (4, 5), (2, 3)].iter().position(|&first| first == pair);
                linkage.sums[5 * p + q] = order.map_or(9, |at| at as u32 + 1);
            }
        }
        linkage.find_tree();
        linkage.merge();
        let named: Vec<Vec<u16>> = sets(&linkage)
            .iter()
            .map(|set| set.iter().map(|&at| linkage.members[usize::from(at)].0).collect())
            .collect();
        assert_eq!(named, [vec![1, 2], vec![4, 5], vec![1, 2, 3], vec![1, 2, 3, 4, 5]]);
        let standing = |original, root| Standing { original, root };
        let expected = [standing(0, 0), standing(0, 0), standing(2, 0), standing(1, 1), standing(1, 1)];
        assert_eq!(linkage.standings(), expected);
    }

    #[test]
    fn contexts_that_are_not_wanted_are_only_in_between() {
        let mut linkage = Linkage::new(8);
        linkage.cluster(&[1, 9, 9, 2, 9, 1].map(Row), |row| row.0 != 9);
        assert_eq!(linkage.members(), [1, 2].map(Row));
        // 3 and 2 away from the 2; the 2 is 2 away from the nearer 1.
        assert_eq!(linkage.distance(0, 1), Distance { sum: 7, count: 3 });
        linkage.cluster(&[1, 1].map(Row), |_| true);
        assert_eq!((linkage.members(), linkage.standings()), (&[Row(1)][..], &[][..]));
    }

    /// The shortest way from each to each along the tree: the distance at which single linkage joins them.
    fn joined_at(parts: impl Iterator<Item = (usize, usize, f64)>, count: usize) -> Vec<f64> {
        let mut at = vec![0.0; count * count];
        let mut sets: Vec<Vec<usize>> = (0..count).map(|member| vec![member]).collect();
        for (low, high, distance) in parts {
            for &p in &sets[low] {
                for &q in &sets[high] {
                    (at[p * count + q], at[q * count + p]) = (distance, distance);
                }
            }
            let both = [sets[low].clone(), sets[high].clone()].concat();
            sets.push(both);
        }
        at
    }

    /// Ten thousand logs beside another implementation: the same distances at which each pair is joined and, where no
    /// two are equal, the same clusters in the same order.
    #[test]
    fn random_logs_give_what_kodama_gives() {
        let mut rng = Rng::named(8, "logs");
        let mut orders = 0;
        for case in 0..10_000 {
            let (length, kinds) = (2 + rng.below(63), 2 + rng.below(20));
            let log: Vec<u16> = (0..length).map(|_| rng.below(kinds) as u16).collect();
            let ours = clustered(&log);
            let count = ours.members().len();
            let value = |distance: Distance| f64::from(distance.sum) / f64::from(distance.count);
            let pairs = (0..count).flat_map(|p| (p + 1..count).map(move |q| (p, q)));
            let mut condensed: Vec<f64> = pairs.map(|(p, q)| value(ours.distance(p, q))).collect();
            let theirs = linkage(&mut condensed, count, Method::Single);
            let steps = theirs.steps();
            let theirs =
                joined_at(steps.iter().map(|step| (step.cluster1, step.cluster2, step.dissimilarity)), count);
            // Our links name members: what is a cluster by then is found by name.
            let mut of: Vec<usize> = (0..count).collect();
            let ways = ours.tree.iter().enumerate().map(|(made, link)| {
                let (low, high) = (of[usize::from(link.low)], of[usize::from(link.high)]);
                of.iter_mut()
                    .filter(|cluster| [low, high].contains(cluster))
                    .for_each(|it| *it = count + made);
                (low, high, value(link.distance))
            });
            let ways: Vec<_> = ways.collect();
            assert_eq!(joined_at(ways.iter().copied(), count), theirs, "case {case}: {log:?}");
            if steps.windows(2).all(|pair| pair[0].dissimilarity < pair[1].dissimilarity) {
                let made = |(low, high): (usize, usize)| (low.min(high), low.max(high));
                let order: Vec<_> = steps.iter().map(|step| made((step.cluster1, step.cluster2))).collect();
                assert_eq!(ways.iter().map(|&(low, high, _)| made((low, high))).collect::<Vec<_>>(), order);
                orders += usize::from(count > 2);
            }
        }
        assert!(orders > 1_000, "{orders} logs without equal distances");
    }
}
