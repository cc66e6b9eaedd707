//! Flags of pages and blocks against sums, and pages that are lost beside others.

use super::*;
use crate::nand::cell::lock::FIVE_YEARS_HOURS;

/// What [`mix`] makes of this is the number itself: each step of it turned round.
fn unmix(mut x: u64) -> u64 {
    x ^= x >> 31 ^ x >> 62;
    x = x.wrapping_mul(0x3196_42b2_d24d_8ec3);
    x ^= x >> 27 ^ x >> 54;
    x = x.wrapping_mul(0x96de_1b17_3f11_9089);
    x ^= x >> 30 ^ x >> 60;
    x.wrapping_sub(crate::rng::SPREAD)
}

/// A quantile is drawn by two rounds of [`mix`], which is one to one: over all seeds every number comes up once.
#[test]
fn every_quantile_is_drawn_as_often_as_any_other() {
    let mut rng = Rng::named(1, "numbers");
    for number in (0..1_000).map(|_| rng.next_u64()).chain([0, 1, u64::MAX]) {
        assert_eq!((mix(unmix(number)), unmix(mix(number))), (number, number));
        let (place, cycles) = ((3, 1), 5);
        assert_eq!(quantile(seed_of(number, place, cycles), place, cycles), number);
    }
}

/// With this seed the quantile of a page is `drawn`.
fn seed_of(drawn: u64, (block, page): (u32, u32), cycles: u32) -> u64 {
    unmix(unmix(drawn) ^ (u64::from(block) << 32 | u64::from(page))) ^ u64::from(cycles)
}

/// A copy of a locked page is zeros: no flag stands before it that could lose its charge. It ends with an erase.
#[test]
fn zeros_do_not_turn_into_data() {
    let cfg = crate::drive_config::DriveConfig::default();
    let mut locks = Locks::new(&cfg, Sanitizing::Locks, 1);
    // Of all pages that are locked these lose their flags first.
    let (page, cycles, year) = (7, 3, (SimTime::ZERO, 525_600));
    locks.rules.as_mut().unwrap().seed = seed_of(0, (0, page), cycles);
    assert!(locks.take_page(0, page, (8, false), SimTime::ZERO));
    assert_eq!(locks.answer((0, page), (8, cycles), year), Raw::Data);
    locks.erased(0);
    locks.blank(0, page, SimTime::ZERO);
    assert_eq!(locks.answer((0, page), (8, cycles), year), Raw::Zeros);
    assert_eq!(locks.answer((0, page - 1), (8, cycles), year), Raw::Data);
    locks.erased(0);
    assert_eq!(locks.answer((0, page), (8, cycles), year), Raw::Data);
}

/// The chance that so many cells of a lock are flipped or more, cell by cell: of so many looked at, how likely each
/// number of flips is.
fn sum_of_outcomes(flips: usize, cells: usize, chance: f64) -> f64 {
    let mut likely = vec![1.0];
    for _ in 0..cells {
        let mut next = vec![0.0; likely.len() + 1];
        for (count, share) in likely.iter().enumerate() {
            next[count] += share * (1.0 - chance);
            next[count + 1] += share * chance;
        }
        likely = next;
    }
    likely[flips..].iter().sum()
}

/// The share of all quantiles with which a locked page answers, found by halving what is left of them: the sums
/// over all outcomes of nine and eleven cells after one and five years, to a billionth of their value. Of 10^8
/// pages 1.6 and 38 of nine cells, .06 and 2.8 of eleven: so many draws would hardly tell these from none.
#[test]
fn pages_answer_again_at_the_quantiles_that_sums_say() {
    for (cells, years, about) in [(9, 1, 1.6e-8), (9, 5, 3.8e-7), (11, 1, 6.1e-10), (11, 5, 2.8e-8)] {
        let mut cfg = crate::drive_config::DriveConfig::default();
        cfg.lock.cells = cells;
        let mut locks = Locks::new(&cfg, Sanitizing::Locks, 1);
        let (page, cycles) = (7, 3);
        assert!(locks.take_page(0, page, (8, false), SimTime::ZERO));
        let mut answers = |drawn: u64| {
            let rules = locks.rules.as_mut().unwrap();
            rules.seed = seed_of(drawn, (0, page), cycles);
            locks.answer((0, page), (8, cycles), (SimTime::ZERO, years * 525_600)) == Raw::Data
        };
        assert!(answers(0) && !answers(u64::MAX));
        // The last that answers, and the first that does not.
        let (mut last, mut first) = (0, u64::MAX);
        while first - last > 1 {
            let middle = last + (first - last) / 2;
            *if answers(middle) { &mut last } else { &mut first } = middle;
        }
        let found = first as f64 / 18_446_744_073_709_551_616.0;
        let flipped = PageLock::CHOSEN.flipped(years as f64 * 8_760.0, None);
        let expected = sum_of_outcomes(cells as usize / 2 + 1, cells as usize, flipped);
        assert!(
            (found / expected - 1.0).abs() < 1e-9,
            "{cells} cells, {years} years: {found} for {expected}"
        );
        assert!((found / about - 1.0).abs() < 0.05, "{cells} cells, {years} years: {found}, not {about}");
    }
}

/// After five years 3.8e-7 of locks by nine cells are lost: of 10^8 pages as chips draw them 38, but for what
/// chance does. So quantiles of neighbours are as uneven as draws.
#[test]
fn a_hundred_million_locks_are_lost_as_often_as_sums_say() {
    const PAGES: u32 = 10_000;
    let nine = 1e6 * majority_lost(9, PageLock::CHOSEN.flipped(FIVE_YEARS_HOURS, None));
    let mut lost = 0_u32;
    for block in 0..10_000 {
        for page in 0..PAGES {
            lost += u32::from(quantile(7, (block, page), block % 5) < chance(nine));
        }
    }
    let expected = 100.0 * nine;
    let off = (f64::from(lost) - expected).abs();
    assert!(off <= 4.0 * expected.sqrt(), "{lost} of 10^8 locks are lost, expected {expected}");
}

/// RealWear figure 37: of the upper pages of MLC wordlines 7.4 % are lost as soon as the lower one is reprogrammed,
/// 82 % after a year; a page that is lost stays so, and none is whose wordline was left alone.
#[test]
fn pages_are_lost_beside_reprogrammed_ones_as_often_as_chips_say() {
    const BLOCKS: u32 = 400;
    let mut cfg = crate::drive_config::DriveConfig::default();
    (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (64, 2);
    cfg.cells = crate::nand::cell::CellPart::preset("mlc").unwrap();
    let mut locks = Locks::new(&cfg, Sanitizing::Reprograms, BLOCKS);
    let start = SimTime(90 * MINUTE_NS);
    for block in 0..BLOCKS {
        for page in (0..64).step_by(2) {
            assert!(locks.take_page(block, page, (128, false), start));
        }
    }
    let lost = |minutes: u64, first: u32| {
        let now = SimTime(start.0 + minutes * MINUTE_NS);
        let pages = (0..BLOCKS).flat_map(|block| (first..first + 64).step_by(2).map(move |at| (block, at)));
        pages.filter(|&(block, page)| locks.is_lost(block, page, 3, now)).collect::<Vec<_>>()
    };
    let (now, later, year) = (lost(0, 1), lost(1_000, 1), lost(525_600, 1));
    for (found, share) in [(&now, 0.0746), (&year, 0.8171)] {
        let all = f64::from(BLOCKS) * 32.0;
        let off = (found.len() as f64 - share * all).abs();
        assert!(off < 4.0 * (share * (1.0 - share) * all).sqrt(), "{} of {all}, not {share}", found.len());
    }
    assert!(now.iter().all(|page| later.contains(page)) && later.iter().all(|page| year.contains(page)));
    assert!(now.len() < later.len() && later.len() < year.len());
    assert_eq!(lost(525_600, 65), []);
    let at = (start, 0);
    assert_eq!(
        (locks.answer((0, 0), (128, 3), at), locks.answer((0, 1), (128, 3), at)),
        (Raw::Noise, Raw::Data)
    );
    locks.erased(0);
    assert!(!(0..128).any(|page| locks.is_lost(0, page, 4, start)));
}

/// Two blocks of six pages, of which three and none are programmed; a page of the first is locked.
fn flags(what: Sanitizing) -> (Locks, Locks, [u32; 2]) {
    let mut cfg = crate::drive_config::DriveConfig::default();
    (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (2, 3);
    let fresh = || Locks::new(&cfg, what, 2);
    let mut locks = fresh();
    locks.take_page(0, 1, (3, false), SimTime(120_000_000_000));
    (locks, fresh(), [3, 0])
}

/// Damages a table of flags and says what is told of it.
fn told(what: Sanitizing, damage: impl Fn(&mut Locks)) -> Result<(), String> {
    let (mut locks, fresh, programmed) = flags(what);
    damage(&mut locks);
    locks.restored(fresh, &programmed)
}

#[test]
fn a_damaged_table_of_flags_is_refused() {
    assert_eq!(told(Sanitizing::Locks, |_| {}), Ok(()));
    assert_eq!(told(Sanitizing::Scrubs, |_| {}), Ok(()));
    let refused = |what, damage: &dyn Fn(&mut Locks), says: &str| {
        let found = told(what, damage).unwrap_err();
        assert!(found.contains(says), "{found:?}, not {says:?}");
    };
    let of_locks = Sanitizing::Locks;
    refused(of_locks, &|locks| locks.pages.push(0), "flags of pages");
    refused(of_locks, &|locks| _ = locks.blocks.pop(), "flags of blocks");
    refused(of_locks, &|locks| locks.mark(0, 4), "a flag of a page that is erased");
    refused(of_locks, &|locks| locks.mark(1, 0), "a flag of a page that is erased");
    refused(of_locks, &|locks| locks.blocks[0] = 0, "in a block that was never locked");
    refused(of_locks, &|locks| locks.blocks[1] = BLOCK_LOCKED, "when a block was locked first");
    refused(of_locks, &|locks| locks.blocks[1] = BLOCK_LOCKED - 1, "when a block was locked first");
    refused(of_locks, &|locks| locks.pages[0] |= 1 << 12, "flags beyond the last page");
    refused(Sanitizing::Scrubs, &|locks| locks.blocks[0] = 1, "locks on chips that have none");
    let reprograms = Sanitizing::Reprograms;
    assert_eq!(told(reprograms, |_| {}), Ok(()));
    refused(reprograms, &|locks| locks.blocks[0] |= BLOCK_LOCKED, "locks on chips that have none");
    refused(reprograms, &|locks| locks.blocks[0] = 0, "in a block that was never locked");
    refused(reprograms, &|locks| locks.blocks[0] = ONE_BIT, "when a block was locked first");
    refused(of_locks, &|locks| locks.blocks[0] |= ONE_BIT, "when a block was locked first");
}

/// Of one bit a cell a page is its wordline: no other is noise with it, and none is ever lost beside it.
#[test]
fn a_page_of_one_bit_a_cell_goes_alone() {
    let mut cfg = crate::drive_config::DriveConfig::default();
    (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (64, 2);
    cfg.cells = crate::nand::cell::CellPart::preset("mlc").unwrap();
    let later = SimTime(525_600 * MINUTE_NS);
    for what in [Sanitizing::Scrubs, Sanitizing::Reprograms] {
        for one_bit in [true, false] {
            let fresh = || Locks::new(&cfg, what, 1);
            let mut locks = fresh();
            (0..64).step_by(2).for_each(|page| _ = locks.take_page(0, page, (64, one_bit), SimTime::ZERO));
            let beside = (1..64).step_by(2);
            let noise =
                beside.clone().filter(|&page| locks.answer((0, page), (64, 3), (later, 0)) == Raw::Noise);
            assert_eq!(noise.count(), if what == Sanitizing::Scrubs && !one_bit { 32 } else { 0 });
            if what == Sanitizing::Reprograms {
                let lost = beside.filter(|&page| locks.is_lost(0, page, 3, later)).count();
                assert_eq!(lost > 0, !one_bit, "{lost} of 32");
            }
            assert_eq!(locks.restored(fresh(), &[64]), Ok(()));
        }
    }
}
