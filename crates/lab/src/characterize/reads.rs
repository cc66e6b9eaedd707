//! How many reads a block endures, by how they are spread over its wordlines (calibration sections 2.3 and 2.4).
//!
//! A counter for each wordline, as a chip would keep the truth: after so many reads in a pattern, each wordline's
//! effective reads are summed up from the counters of all, and a page is lost where they make more errors than the
//! code corrects.

use ssd::nand::cell::disturb::effective_reads;
use ssd::nand::cell::sector::place_stream;
use ssd::nand::cell::{CellModel, CellState, Group};

/// Wordlines of a block of Straw: 321 layers of 8 strings.
pub const WORDLINES: usize = 2_568;
/// Hours of the month after which Straw reads its blocks.
pub const MONTH_HOURS: f64 = 730.0;
/// Multiple of the endured reads at which a search for the end gives up.
const GIVE_UP: f64 = 64.0;
/// Random reads between two looks at the wordlines.
const LOOK: u64 = 64;
/// Errors over the limit that are rounding.
const ROUNDING: f64 = 1e-9;

/// How reads become errors (calibration section 2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Errors grow in proportion to reads.
    Linear,
    /// The erased state's voltage grows in proportion to reads.
    Voltage,
}

impl Law {
    /// Both.
    pub const ALL: [Law; 2] = [Law::Linear, Law::Voltage];

    /// As the configuration calls it.
    pub fn name(self) -> &'static str {
        match self {
            Law::Linear => "linear",
            Law::Voltage => "voltage",
        }
    }
}

/// How wordlines of one group differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Not at all: as the drive's chips have it.
    Groups,
    /// Evenly from their group's end to the next group's (Straw's quantiles, calibration section 2.3).
    Wordlines,
}

/// Which wordlines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One, again and again (Straw figure 2, PA).
    One(usize),
    /// Each in turn (Straw figure 2, PB).
    Round,
}

/// Which wordline's loss is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The first that is lost.
    First,
    /// The first of a group.
    Of(Group),
    /// The one after which half of them are lost.
    Median,
    /// The last.
    Last,
}

/// The number of reads at which something is lost: by search.
pub fn reads_until(is_lost: impl Fn(f64) -> bool) -> f64 {
    let (mut fine, mut lost) = (0u64, 1u64 << 40);
    while lost - fine > 1 {
        let middle = fine + (lost - fine) / 2;
        if is_lost(middle as f64) { lost = middle } else { fine = middle }
    }
    lost as f64
}

/// A block's wordlines in their order, and what each endures at one age.
#[derive(Clone, Debug)]
pub struct BlockOfWordlines {
    groups: Vec<Group>,
    /// What a neighbour's read counts, by group.
    adjacent: [f64; 4],
    /// Effective reads after which a page of each is lost; `None`: never.
    endured: Vec<Option<f64>>,
}

/// Does a page of a wordline have more errors than the code corrects, at the best references, a month after
/// programming, when it got `share` of the effective reads that the model says it endures?
pub fn is_lost(model: &CellModel, law: Law, group: Group, kcycles: f64, share: f64) -> bool {
    let still = CellState {
        wear_kcycles: kcycles,
        retention_hours: MONTH_HOURS,
        height: model.height_of(group),
        ..CellState::default()
    };
    let bits = |state: &CellState, page: usize| {
        let cells = model.distribution(state);
        model.sector_bits(model.page_rber(&cells, page, &model.optimal_references(&cells)))
    };
    let limit = f64::from(model.hard_limit_bits()) - ROUNDING;
    (0..model.page_types()).any(|page| match law {
        Law::Linear => model.disturbed_bits(bits(&still, page), share) >= limit,
        Law::Voltage => bits(&CellState { erc_fraction: share, ..still }, page) >= limit,
    })
}

/// The share of the endured reads at which a page is lost: by search; `None` if it never is.
fn share_until_lost(model: &CellModel, law: Law, group: Group, kcycles: f64) -> Option<f64> {
    let lost = |share: f64| is_lost(model, law, group, kcycles, share);
    let (mut fine, mut end) = (0.0, 1.0);
    while !lost(end) {
        (fine, end) = (end, 2.0 * end);
        if end > GIVE_UP {
            return None;
        }
    }
    for _ in 0..60 {
        let middle = 0.5 * (fine + end);
        if lost(middle) { end = middle } else { fine = middle }
    }
    Some(end)
}

/// The group of each of `count` wordlines: those nearest the middle of the block are the best. With their rank from
/// the middle.
pub fn groups_of(model: &CellModel, count: usize) -> Vec<(Group, usize)> {
    let off_middle = |wordline: usize| (2 * wordline + 1).abs_diff(count);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&wordline| (off_middle(wordline), wordline));
    let mut groups = vec![(Group::Worst, 0); count];
    for (rank, wordline) in order.into_iter().enumerate() {
        let place = (rank as f64 + 0.5) / count as f64;
        let mut shares = 0.0;
        let found = Group::ALL.into_iter().find(|&group| {
            shares += model.group_share(group);
            place < shares
        });
        groups[wordline] = (found.unwrap_or(Group::Worst), rank);
    }
    groups
}

impl BlockOfWordlines {
    /// A block of so many wordlines after so many 1000 cycles.
    pub fn new(model: &CellModel, count: usize, kcycles: f64, law: Law, spread: Spread) -> Self {
        let shares = Group::ALL.map(|group| share_until_lost(model, law, group, kcycles));
        let placed = groups_of(model, count);
        let endured = placed.iter().map(|&(group, rank)| {
            let reads = match spread {
                Spread::Groups => model.erc_max(group, kcycles),
                // From the worst wordline (0) to the best (1).
                Spread::Wordlines => model.erc_max_at(1.0 - rank as f64 / (count.max(2) - 1) as f64, kcycles),
            };
            shares[group.index()].map(|share| share * reads)
        });
        let endured = endured.collect();
        let groups = placed.into_iter().map(|(group, _)| group).collect();
        BlockOfWordlines { groups, adjacent: Group::ALL.map(|group| model.adjacent(group, kcycles)), endured }
    }

    /// The groups of the wordlines, in their order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The wordline to read to harm the group most: a neighbour of its worst wordline, in the group if it can be.
    pub fn neighbour_of_worst(&self, group: Group) -> usize {
        let middle = self.groups.len() / 2;
        let worst = (0..middle).find(|&wordline| self.groups[wordline] == group);
        (worst.unwrap_or(0) + 1).min(self.groups.len() - 1)
    }

    /// The counters of the wordlines after so many reads.
    pub fn counters(&self, pattern: Pattern, reads: u64) -> Vec<u64> {
        let count = self.groups.len() as u64;
        match pattern {
            Pattern::One(read) => {
                (0..count).map(|wordline| if wordline == read as u64 { reads } else { 0 }).collect()
            }
            Pattern::Round => {
                (0..count).map(|wordline| reads / count + u64::from(wordline < reads % count)).collect()
            }
        }
    }

    /// Effective reads of a wordline with those counters, of which there are `all`.
    fn effective(&self, counters: &[u64], all: f64, wordline: usize) -> f64 {
        let before = if wordline > 0 { counters[wordline - 1] } else { 0 };
        let after = if wordline + 1 < counters.len() { counters[wordline + 1] } else { 0 };
        let alpha = self.adjacent[self.groups[wordline].index()];
        effective_reads(all, (before + after) as f64, counters[wordline] as f64, alpha)
    }

    /// The wordlines lost with those counters, each read counting `weight`.
    pub fn lost<'a>(&'a self, counters: &'a [u64], weight: f64) -> impl Iterator<Item = usize> + 'a {
        let all = counters.iter().sum::<u64>() as f64;
        (0..self.groups.len()).filter(move |&wordline| {
            let effective = weight * self.effective(counters, all, wordline);
            self.endured[wordline].is_some_and(|endured| effective >= endured)
        })
    }

    /// So many reads at least are left until one of the wordlines is lost, wherever they fall; none if one is.
    fn reads_left(&self, counters: &[u64]) -> f64 {
        let all = counters.iter().sum::<u64>() as f64;
        let mut least = f64::INFINITY;
        for (wordline, endured) in self.endured.iter().enumerate() {
            if let Some(endured) = endured {
                // A read counts once, or as a neighbour's.
                let most = self.adjacent[self.groups[wordline].index()].max(1.0);
                least = least.min((endured - self.effective(counters, all, wordline)) / most);
            }
        }
        least.max(0.0)
    }

    /// Reads in a pattern until that wordline is lost, each read counting `weight`: by search. `None`: never.
    pub fn reads_until_lost(&self, pattern: Pattern, victim: Victim, weight: f64) -> Option<u64> {
        if self.endured.iter().all(Option::is_none) {
            return None;
        }
        let is_lost = |reads: f64| {
            let counters = self.counters(pattern, reads as u64);
            let mut lost = self.lost(&counters, weight);
            match victim {
                Victim::First => lost.next().is_some(),
                Victim::Of(group) => lost.any(|wordline| self.groups[wordline] == group),
                Victim::Median => 2 * lost.count() >= self.groups.len(),
                Victim::Last => lost.count() == self.groups.len(),
            }
        };
        let reads = reads_until(is_lost);
        (reads < (1u64 << 39) as f64).then_some(reads as u64)
    }

    /// Reads of wordlines drawn at random until the first page is lost, to the next 64. Stream `lab.reads` of
    /// `place`. `None`: never.
    pub fn random_reads_until_lost(&self, seed: u64, place: u64) -> Option<u64> {
        // More than this many reads a wordline, and something is lost.
        self.reads_until_lost(Pattern::Round, Victim::First, 1.0)?;
        let mut rng = place_stream(seed, "lab.reads", &[place]);
        let mut counters = vec![0; self.groups.len()];
        let (mut reads, mut looks) = (0, 1);
        loop {
            for _ in 0..looks * LOOK {
                counters[rng.below(self.groups.len() as u32) as usize] += 1;
            }
            reads += looks * LOOK;
            let left = self.reads_left(&counters);
            if left <= 0.0 {
                return Some(reads);
            }
            looks = (left as u64 / LOOK).max(1);
        }
    }
}
