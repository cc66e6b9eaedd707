//! What `straw` moves, and at which read: against a reckoning of one block from the constants alone.

use crate::reclaim::support::*;
use ssd::nand::cell::{CellModel, Group};
use ssd::{Drive, DriveConfig, Executor, Status};

/// Reads between two checks. A read can sense its page 35 times: 16 entries, 8 readings to track, and levels 1, 3 and 7
/// of soft sensing.
const INTERVAL: u64 = 10;

/// One block, reckoned by hand.
struct Block {
    cells: CellModel,
    groups: Vec<usize>,
    attempts: u64,
    all: u64,
    counts: Vec<u64>,
    /// Counters shared by few wordlines.
    entries: Option<Vec<(u32, u64)>>,
    live: Vec<bool>,
    left: Vec<u32>,
    passed: bool,
}

impl Block {
    fn new(cfg: &DriveConfig, drive: &Drive, entries: Option<usize>) -> Self {
        let part = &cfg.cells;
        let soft: f64 = part.ecc.level_steps.iter().sum();
        Block {
            cells: model(cfg),
            groups: (0..WORDLINES).map(|at| usize::from(drive.chips().page_age(0, 3 * at).group)).collect(),
            attempts: u64::from(part.retry.entries + 1 + cfg.errors.tracking_reads) + soft as u64,
            all: 0,
            counts: vec![0; WORDLINES as usize],
            entries: entries.map(|entries| vec![(u32::MAX, 0); entries]),
            live: vec![true; WORDLINES as usize],
            left: Vec::new(),
            passed: false,
        }
    }

    fn count(&mut self, wordline: u32) {
        self.all += 1;
        self.counts[wordline as usize] += 1;
        self.passed |= self.all.is_multiple_of(INTERVAL);
        if let Some(entries) = &mut self.entries {
            let least = (0..entries.len()).min_by_key(|&at| entries[at].1).unwrap();
            let at = entries.iter().position(|entry| entry.0 == wordline).unwrap_or(least);
            entries[at] = (wordline, entries[at].1 + 1);
        }
    }

    fn reads(&self, wordline: i64) -> u64 {
        if !(0..i64::from(WORDLINES)).contains(&wordline) {
            return 0;
        }
        match &self.entries {
            None => self.counts[wordline as usize],
            Some(entries) => {
                let found = entries.iter().find(|entry| i64::from(entry.0) == wordline);
                found.map_or_else(|| entries.iter().map(|entry| entry.1).min().unwrap(), |entry| entry.1)
            }
        }
    }

    /// What is left of what its group stands, at the end of the bin of 64 cycles with 2,000 cycles in it: less ERC, and
    /// less what is kept for the reads until the next check, all of a neighbour, and for the moves of its neighbours.
    fn slack(&self, wordline: u32) -> f64 {
        let group = Group::ALL[self.groups[wordline as usize]];
        let kcycles = libm::floor(2_000.0 / 64.0) * 0.064 + 0.064;
        let (limit, alpha) = (self.cells.erc_max(group, kcycles), self.cells.adjacent(group, kcycles));
        let at = i64::from(wordline);
        let beside = (self.reads(at - 1) + self.reads(at + 1)).min(self.all);
        let own = if self.entries.is_some() { 0 } else { self.counts[wordline as usize] };
        let others = (self.all - beside).saturating_sub(own);
        let (limit, alpha) = (libm::floor(limit), libm::ceil(alpha * 256.0) / 256.0);
        let live = |at: i64| (0..i64::from(WORDLINES)).contains(&at) && self.live[at as usize];
        let neighbours = [at - 1, at + 1].into_iter().filter(|&at| live(at)).count() as f64;
        let ahead = (INTERVAL + self.attempts - 1) as f64;
        let kept = ahead * alpha + neighbours * self.to_move() * (alpha - 1.0);
        limit - kept.min(limit / 2.0) - others as f64 - beside as f64 * alpha
    }

    /// What moving a wordline costs the others at most.
    fn to_move(&self) -> f64 {
        (3 * self.attempts) as f64
    }

    /// The wordline that leaves: the closest, if somebody would not stand what those in front of it may cost.
    fn due(&self) -> Option<u32> {
        let live = (0..WORDLINES).filter(|&at| self.live[at as usize]);
        let mut line: Vec<_> = live.map(|at| (self.slack(at), at)).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        // They are told apart by the 1024th part of the longest line, in a power of two.
        let width = libm::exp2(libm::ceil(libm::log2(f64::from(WORDLINES) * self.to_move() / 1024.0)));
        let bucket = |slack: f64| libm::floor(slack / width);
        let late = |&(slack, _): &(f64, u32)| {
            let front = line.iter().filter(|other| bucket(other.0) <= bucket(slack)).count() - 1;
            slack < 0.0 || front as f64 * self.to_move() > bucket(slack) * width
        };
        line.iter().any(late).then(|| line[0].1)
    }

    /// The host reads a wordline: what leaves the block then, in this order.
    fn read(&mut self, wordline: u32) -> Vec<u32> {
        self.count(wordline);
        let mut left = Vec::new();
        while std::mem::take(&mut self.passed) {
            while let Some(at) = self.due() {
                (0..3).for_each(|_| self.count(at));
                self.live[at as usize] = false;
                left.push(at);
                self.passed = false;
            }
        }
        self.left.extend(&left);
        left
    }
}

/// Reads pages of the first block in that order, as long as it has any, beside the reckoning; returns what left it
/// when.
fn follow(cfg: &DriveConfig, entries: Option<usize>, page: impl Fn(u32) -> u32) -> Vec<(u32, u32)> {
    let mut drive = filled(cfg, Executor::Functional);
    drive.record_effects(true);
    let erases = drive.chips().erase_count(0);
    let mut block = Block::new(cfg, &drive, entries);
    let mut events = Vec::new();
    for n in 1..200_000 {
        let page = page(n);
        if !block.live[(page / 3) as usize] {
            if block.live.iter().any(|&live| live) { continue } else { break }
        }
        assert_eq!(drive.chips().erase_count(0), erases, "erased while it holds data");
        assert_eq!(read(&mut drive, page), Status::Ok);
        let expected = block.read(page / 3);
        let pages = |wordline: &u32| (3 * wordline..3 * wordline + 3).map(|page| (page, page));
        let found: Vec<_> = moved(&mut drive).into_iter().filter(|unit| unit.1 < PAGES).collect();
        assert_eq!(found, expected.iter().flat_map(pages).collect::<Vec<_>>(), "read {n}");
        events.extend(expected.iter().map(|&wordline| (n, wordline)));
    }
    assert_eq!(drive.stats().flash.retries[1..].iter().sum::<u64>(), 0, "reckoned without retries");
    if block.live.iter().all(|&live| !live) {
        assert_eq!(drive.chips().erase_count(0), erases + 1, "an empty block is erased");
    }
    assert_eq!(drive.stats().ftl.reclaimed_pages, 3 * events.len() as u64);
    drive.check().unwrap();
    events
}

/// One page read again and again: its two neighbours leave when their reads, times alpha, are used up; all other
/// wordlines nearly alpha times later; the wordline itself, which its own reads do not disturb, stays.
#[test]
fn a_hammered_wordline_sends_its_neighbours_away() {
    let cfg = straw("exact");
    let events = follow(&cfg, None, |_| 3 * 5 + 1);
    let (cells, drive) = (model(&cfg), filled(&cfg, Executor::Functional));
    let mut neighbours: Vec<_> = events[..2].to_vec();
    neighbours.sort_by_key(|event| event.1);
    for (at, wordline) in neighbours {
        assert!([4, 6].contains(&wordline));
        let group = Group::ALL[usize::from(drive.chips().page_age(0, 3 * wordline).group)];
        // Kept: 44 reads ahead, and the moves of two neighbours, but no more than half; 3 reads were the mover's.
        let (limit, alpha) = (cells.erc_max(group, 2.048), cells.adjacent(group, 2.048));
        let limit = (limit - (44.0 * alpha + 2.0 * 105.0 * (alpha - 1.0)).min(limit / 2.0)) / alpha;
        assert!((f64::from(at) - limit).abs() <= 10.0, "wordline {wordline} left at {at}, stands {limit}");
    }
    assert_eq!(events.len() as u32, WORDLINES - 1, "{events:?}");
    assert!(events.iter().all(|event| event.1 != 5) && events[2].0 > 4 * events[1].0, "{events:?}");
}

/// Read evenly, the groups leave one after the other: the worst first, before its ERC_MAX over 1 + (2 alpha - 3)/N, but
/// no earlier than all others could take to move.
#[test]
fn even_reads_send_the_groups_away_in_their_order() {
    let cfg = straw("exact");
    let events = follow(&cfg, None, |n| n % PAGES);
    let (cells, drive) = (model(&cfg), filled(&cfg, Executor::Functional));
    // Of 1 + (2 alpha - 3)/N a read; at the edges, which have one neighbour, 1 + (alpha - 2)/N.
    let predicted = |wordline: u32, front: u32| {
        let group = Group::ALL[usize::from(drive.chips().page_age(0, 3 * wordline).group)];
        let alpha = cells.adjacent(group, 2.048);
        let beside = if wordline == 0 || wordline + 1 == WORDLINES { 1.0 } else { 2.0 };
        let limit = cells.erc_max(group, 2.048);
        let kept =
            (44.0 * alpha + beside * 105.0 * (alpha - 1.0)).min(limit / 2.0) + 105.0 * f64::from(front);
        let more = beside * (alpha - 1.0) - 1.0;
        (limit - kept) / (1.0 + more / f64::from(WORDLINES))
    };
    let first = |front| (0..WORDLINES).map(|at| predicted(at, front)).fold(f64::MAX, f64::min);
    let (at, wordline) = events[0];
    let range = first(WORDLINES - 1) - 25.0..first(0) + 25.0;
    assert!(range.contains(&f64::from(at)), "{range:?}: {events:?}");
    assert!((predicted(wordline, 0) - first(0)).abs() < 25.0, "{events:?}");
    // The last one left is disturbed by nobody.
    assert!(events.len() as u32 >= WORDLINES - 1, "{events:?}");
}

/// A table that says that nothing is stood: at the first check all wordlines leave, and the block is erased.
#[test]
fn an_empty_block_is_erased() {
    let mut cfg = straw("exact");
    select(&mut cfg, "straw", &[("table_percent", ssd::config::Value::Float(1.0))]);
    let mut drive = filled(&cfg, Executor::Functional);
    drive.record_effects(true);
    let erases = drive.chips().erase_count(0);
    (0..9).for_each(|_| assert_eq!(read(&mut drive, 20), Status::Ok));
    assert_eq!((moved(&mut drive), drive.chips().erase_count(0)), (vec![], erases));
    read(&mut drive, 20);
    let mut found: Vec<_> = moved(&mut drive).into_iter().filter(|unit| unit.0 < PAGES).collect();
    found.sort_unstable();
    assert_eq!(found, (0..PAGES).map(|page| (page, page)).collect::<Vec<_>>());
    assert_eq!(drive.chips().erase_count(0), erases + 1);
    drive.check().unwrap();
}

/// The same reckoning with few counters: it moves more, and earlier.
#[test]
fn shared_counters_move_what_the_reckoning_says() {
    for entries in [1, 2, 4, 16] {
        let mut cfg = straw("space_saving");
        select(&mut cfg, "straw", &[("entries", integer(entries))]);
        let hammered = follow(&cfg, Some(entries as usize), |_| 3 * 5 + 1);
        assert!(hammered.len() >= 2, "{hammered:?}");
        let even = follow(&cfg, Some(entries as usize), |n| n % PAGES);
        let mixed = follow(&cfg, Some(entries as usize), |n| if n % 3 == 0 { 20 } else { (n * 7) % PAGES });
        assert!(even.len() >= 15 && mixed.len() >= 15, "{even:?} {mixed:?}");
    }
    let shared = follow(&straw("space_saving"), Some(4), |n| n % PAGES);
    let exact = follow(&straw("exact"), None, |n| n % PAGES);
    assert!(shared[0].0 < exact[0].0, "{} and {}", shared[0].0, exact[0].0);
}
