//! How `straw` counts reads: its shared counters by hand, against exact ones, and their memory.

use crate::reclaim::support::{config, model};
use ssd::ftl::read_reclaim::straw::{Counters, Params, Policy};
use ssd::ftl::read_reclaim::{Member, PageRead, Setup};
use ssd::nand::cell::Group;
use ssd::rng::Rng;

fn policy(counters: Counters, entries: u32, blocks: u32, wordlines: u32) -> Policy {
    let cells = model(&config("never", &[]));
    let facts = Setup {
        cells: &cells,
        physical_blocks: blocks,
        wordlines,
        page_types: 3,
        readings_at_most: 1,
        lanes: 128,
        logical_units: 0,
        seed: 1,
    };
    let mut policy = Policy::new(&Params { counters, entries, ..Params::default() });
    policy.learn(&facts);
    policy
}

fn page_read(physical: u32, wordline: u32, readings: u32) -> PageRead {
    PageRead { physical, wordline, page_type: 0, mode: 0, cycles: 0, readings, access: true }
}

/// Three counters, reads of wordlines 5 6 7 5 8 6: 8 takes the counter of 6 (the first of the least) and its count, 6
/// then that of 7.
#[test]
fn a_wordline_without_a_counter_takes_the_least_and_its_count() {
    let mut policy = policy(Counters::SpaceSaving, 3, 2, 16);
    let mut read = |wordline, expected: [u64; 5]| {
        policy.on_read(&page_read(1, wordline, 1));
        assert_eq!([5, 6, 7, 8, 9].map(|at| policy.reads_at_most(1, at)), expected, "after {wordline}");
    };
    read(5, [1, 0, 0, 0, 0]);
    read(6, [1, 1, 0, 0, 0]);
    read(7, [1, 1, 1, 1, 1]);
    read(5, [2, 1, 1, 1, 1]);
    // Counters: 5 twice, 8 with one of 6 and its own, 7 once; who has none was read once at most.
    read(8, [2, 1, 1, 2, 1]);
    read(6, [2, 2, 2, 2, 2]);
    assert_eq!((policy.reads_at_most(0, 5), policy.block_reads(1)), (0, 6), "blocks are apart");
    policy.on_erase(1);
    assert_eq!((policy.reads_at_most(1, 5), policy.block_reads(1)), (0, 0));
}

/// The algorithm as it is printed, with a scan for everything.
struct Plain(Vec<(Option<u32>, u64)>);

impl Plain {
    fn read(&mut self, wordline: u32, readings: u32) {
        let found = self.0.iter().position(|entry| entry.0 == Some(wordline));
        let least = self.0.iter().map(|entry| entry.1).min().unwrap();
        let at = found.unwrap_or_else(|| self.0.iter().position(|entry| entry.1 == least).unwrap());
        self.0[at] = (Some(wordline), self.0[at].1 + u64::from(readings));
    }

    fn reads(&self, wordline: u32) -> u64 {
        let least = self.0.iter().map(|entry| entry.1).min().unwrap();
        self.0.iter().find(|entry| entry.0 == Some(wordline)).map_or(least, |entry| entry.1)
    }
}

fn draw(rng: &mut Rng, shape: u32, wordlines: u32, n: u32) -> u32 {
    match shape {
        0 => rng.below(wordlines),
        1 => n % wordlines,
        2 => rng.below(wordlines).min(rng.below(wordlines)).min(rng.below(wordlines)),
        3 if n % 10 < 8 => 7 % wordlines,
        4 => (n / 50) % wordlines,
        _ => {
            let most = 1 + rng.below(wordlines);
            rng.below(most)
        }
    }
}

/// Over a million reads of all shapes: counts are those of the printed algorithm, never below the truth; so are the
/// effective reads of every wordline, whatever of them were its own.
#[test]
fn shared_counters_never_say_too_little() {
    let mut rng = Rng::named(5, "streams");
    let (mut reads, mut above) = (0, 0);
    for round in 0..60 {
        let wordlines = 2 + rng.below(200);
        let entries = [1, 2, 3, 8, 16, 17, 32, 40][round % 8];
        let mut policy = policy(Counters::SpaceSaving, entries, 1, wordlines);
        let mut exact = self::policy(Counters::Exact, 1, 1, wordlines);
        let mut plain = Plain(vec![(None, 0); entries as usize]);
        let mut truth = vec![0u64; wordlines as usize];
        for n in 0..20_000 {
            let wordline = draw(&mut rng, round as u32 % 6, wordlines, n);
            let readings = if rng.below(50) == 0 { 1 + rng.below(20) } else { 1 };
            let read = page_read(0, wordline, readings);
            assert_eq!(policy.on_read(&read), exact.on_read(&read));
            plain.read(wordline, readings);
            truth[wordline as usize] += u64::from(readings);
            reads += 1;
            if n % 997 != 0 {
                continue;
            }
            for at in 0..wordlines {
                let said = policy.reads_at_most(0, at);
                assert_eq!(said, plain.reads(at), "wordline {at} of {wordlines}, {entries} counters");
                assert!(said >= truth[at as usize]);
                assert_eq!(exact.reads_at_most(0, at), truth[at as usize]);
                above += u64::from(said > truth[at as usize]);
                let (estimate, real) = (policy.effective_reads(0, at, 0), exact.effective_reads(0, at, 0));
                assert!(estimate >= real, "wordline {at}: {estimate} effective reads, in truth {real}");
            }
        }
    }
    assert!(reads >= 1_000_000 && above > 0);
}

/// Figure 6's arithmetic: reads of the block less those beside and its own, and alpha times those beside; by the cells'
/// own alpha, rounded up.
#[test]
fn effective_reads_are_those_of_figure_6() {
    let cells = model(&config("never", &[]));
    let mut policy = policy(Counters::Exact, 1, 1, 16);
    for (wordline, readings) in [(4, 700), (5, 90), (6, 11), (12, 5_000)] {
        policy.on_read(&page_read(0, wordline, readings));
    }
    for wordline in 0..16 {
        let cycles = 1_999;
        let group = Group::ALL[usize::from(policy.group_of(wordline))];
        let adjacent = libm::ceil(cells.adjacent(group, 2.048) * 256.0) as u64;
        let (others, beside) = match wordline {
            5 => (5_000, 711),
            4 | 6 => (5_000 + if wordline == 4 { 11 } else { 700 }, 90),
            3 => (5_101, 700),
            7 => (5_790, 11),
            11 | 13 => (801, 5_000),
            12 => (801, 0),
            _ => (5_801, 0),
        };
        let expected = others + (beside * adjacent).div_ceil(256);
        assert_eq!(policy.effective_reads(0, wordline, cycles), expected, "wordline {wordline}");
    }
}

/// On Straw's drive of 2 TiB (18,048 blocks of 2,568 wordlines): four bytes a wordline, or six for each of 32 counters
/// and eight a block; and 16 KiB of table.
#[test]
fn memory_on_the_drive_of_the_paper() {
    let bytes = |counters, entries| policy(counters, entries, 18_048, 2_568).memory_bytes();
    let to_choose = 16_384 + 4_096 + 128 * 2_568usize.div_ceil(64) * 8;
    assert_eq!(bytes(Counters::Exact, 32), 18_048 * (4 * 2_568 + 4) + to_choose);
    assert_eq!(bytes(Counters::SpaceSaving, 32), 18_048 * (32 * 6 + 8) + 4 * 2_568 + to_choose);
    // 185 MB and 3.6 MB; the paper's three and five bytes a counter make 139 and 2.9 MB.
    assert_eq!(
        (bytes(Counters::Exact, 32) / 1_000_000, bytes(Counters::SpaceSaving, 32) / 100_000),
        (185, 36)
    );
}
