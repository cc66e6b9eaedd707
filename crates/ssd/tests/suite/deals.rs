//! redFTL+ in whole drives: which data moves, when, in which program mode and to which pages.

mod scarce;
mod support;

use ssd::flash::op::{Cause, OpKind};
use ssd::ftl::gc_trigger::background_idle;
use ssd::ftl::read_reclaim;
use ssd::ftl::read_reclaim::redftl_plus::{Counters, DealOrder, Params};
use ssd::observe::{Effect, Source};
use ssd::rng::Rng;
use ssd::sections::{ErrorModel, MappingUnit, ProgramOrder, Superblock};
use ssd::{Drive, DriveConfig, Executor, OpCode, SimTime};
use support::{Observed, command, config, moved, read, rewrite, submit};

/// Effective reads counted by hand: the pages of a block of two wordlines are LSB, CSB, MSB, LSB, CSB, MSB.
const BETA: [f64; 3] = [0.25, 0.5, 1.0];

/// redFTL figure 19: blocks of 6 pages. Reads of a to f, in the disturbed block, and g to l, in the coldest.
#[test]
fn two_blocks_of_six_pages_are_dealt_hottest_first() {
    let reads = [90, 60, 12, 80, 70, 10, 8, 7, 3, 2, 1, 0];
    let effective: f64 = (0..6).map(|page| BETA[page % 3] * f64::from(reads[page])).sum();
    assert_eq!(effective, 129.5);
    let params = Params { max_reads: 129, counters: Counters::Exact, ..Params::default() };
    let mut drive = Observed::new(&config(params), 12);
    for lpn in (6..12).chain(0..6) {
        for _ in 0..reads[lpn as usize] {
            assert_eq!(drive.drive.stats().ftl.reclaims, 0, "before the last read");
            read(&mut drive.drive, lpn);
        }
    }
    assert_eq!(drive.drive.stats().ftl.reclaims, 1);
    let copies = drive.copies();
    // a d e b | c f g h | i j k l by heat; pages of both targets in turn: LSB CSB MSB LSB CSB MSB.
    let lpns: Vec<u32> = copies.iter().map(|copy| copy.0).collect();
    assert_eq!(lpns, [0, 3, 2, 5, 8, 9, 4, 1, 6, 7, 10, 11]);
    let (first, second) = (copies[0].2 / 6, copies[1].2 / 6);
    assert!(first != second && first > 1 && second > 1);
    for (n, &(lpn, from, to)) in copies.iter().enumerate() {
        let block = if n % 2 == 0 { first } else { second };
        assert_eq!((from, to), (lpn, block * 6 + n as u32 / 2), "copy {n}");
    }
    assert_eq!(drive.erased(), [0, 6]);
    assert_eq!([first, second].map(|block| drive.drive.chips().mode(block)), [1, 1]);
    assert_eq!(drive.drive.stats().ftl.dealt_pages, [0, 12, 0, 0]);
    drive.drive.check().unwrap();
}

/// Heat of what lies on each page type, whatever the geometry: no page is hotter than one of a type before it, by
/// number or by what reads of the types harm; of two that harm alike the first in number goes first.
#[test]
fn hot_units_lie_on_types_that_are_read_with_less_harm() {
    let (base, opt, alike) = ([0.25, 0.5, 1.0], [0.78, 1.0, 0.79], [1.0, 0.5, 0.5]);
    for (weights, deal_order, expected) in [
        (base, DealOrder::PageType, [0, 1, 2]),
        (opt, DealOrder::PageType, [0, 1, 2]),
        (base, DealOrder::Weight, [0, 1, 2]),
        (opt, DealOrder::Weight, [0, 2, 1]),
        (alike, DealOrder::Weight, [1, 2, 0]),
    ] {
        for shape in [
            (ProgramOrder::WordlineMajor, Superblock::None, MappingUnit::Page),
            (ProgramOrder::Shadow, Superblock::None, MappingUnit::Page),
            (ProgramOrder::Shadow, Superblock::Planes, MappingUnit::FourKib),
            (ProgramOrder::WordlineMajor, Superblock::Planes, MappingUnit::FourKib),
        ] {
            let found = heat_by_type(&weights, deal_order, shape);
            let [first, second, third] = expected.map(|page_type: usize| found[page_type]);
            let falls = first.0 >= second.1 && second.0 >= third.1;
            assert!(falls && first.1 > third.0, "{weights:?}, {deal_order:?}, {shape:?}: {found:?}");
        }
    }
}

/// Reads of the coldest and the hottest unit on the pages of each type, after a deal.
fn heat_by_type(
    weights: &[f64],
    deal_order: DealOrder,
    (order, superblock, unit): (ProgramOrder, Superblock, MappingUnit),
) -> [(u32, u32); 3] {
    let params = Params { max_reads: 3_000, counters: Counters::Exact, deal_order, ..Params::default() };
    let (mut cfg, mut rng) = (config(params), Rng::named(4, "deals"));
    cfg.cells.disturb.page_weights = weights.to_vec();
    (cfg.geometry.planes_per_die, cfg.geometry.wordlines_per_block) = (2, 6);
    (cfg.cell.program_order, cfg.allocation.superblock, cfg.mapping.unit) = (order, superblock, unit);
    let types = ssd::nand::order::PageOrder::of(&cfg);
    let (span, per_page) = (cfg.lane_span(), cfg.units_per_page());
    let units = 4 * 18 * span * per_page;
    let mut drive = Observed::new(&cfg, units);
    let mut heat = vec![0u32; units as usize];
    let hot: Vec<u32> = (0..units).map(|_| rng.below(units)).collect();
    while drive.drive.stats().ftl.reclaims == 0 {
        let among = 1 + rng.below(units);
        let lpn = hot[rng.below(among) as usize];
        heat[lpn as usize] += 1;
        read(&mut drive.drive, lpn);
    }
    let mut by_type = [(u32::MAX, 0); 3];
    let copies = drive.copies();
    assert!(copies.len() as u32 >= 18 * span * per_page, "{} copies", copies.len());
    for (lpn, _, to) in copies {
        let page = to / per_page % (18 * span) / span;
        let (least, most) = &mut by_type[usize::from(types.page_type(page))];
        *least = heat[lpn as usize].min(*least);
        *most = heat[lpn as usize].max(*most);
    }
    drive.drive.check().unwrap();
    by_type
}

#[test]
fn modes_go_from_0_to_1_to_2_and_back_by_cleaning() {
    let mut drive = Observed::new(&config(Params { max_reads: 100, ..Params::default() }), 30);
    let mut modes = Vec::new();
    for reclaims in 1..=4 {
        while drive.drive.stats().ftl.reclaims < reclaims {
            read(&mut drive.drive, 2);
        }
        modes.push(drive.mode_of(2));
    }
    // Other units of the blocks of two deals are in the mode of theirs.
    assert_eq!(modes, [1, 2, 2, 2]);
    let cleaned = moved(&drive.drive, Cause::Cleaning);
    // All but the hot unit is rewritten until its block is the one to clean.
    let mut rng = Rng::named(2, "rewrites");
    while drive.mode_of(2) != 0 {
        rewrite(&mut drive.drive, 3 + rng.below(27));
        assert!(drive.drive.stats().ftl.host_units < 3_000, "the block is never cleaned");
    }
    assert!(moved(&drive.drive, Cause::Cleaning) > cleaned);
    assert_eq!(drive.drive.stats().ftl.reclaims, 4);
    // It is a normal block again: its next reclaim begins with mode 1.
    while drive.drive.stats().ftl.reclaims < 5 {
        read(&mut drive.drive, 2);
    }
    assert_eq!(drive.mode_of(2), 1);
}

/// Nanoseconds that the die was busy until a deal of two full blocks, or a second one, was over.
fn busy_ns(program_time: [f64; 3], second: bool) -> u64 {
    let mut cfg = config(Params { max_reads: 100, ..Params::default() });
    cfg.cells.modes.program_time = program_time.to_vec();
    let mut drive = Observed::new(&cfg, 12);
    drive.drive.set_executor(Executor::Timed);
    let reclaims = if second { 2 } else { 1 };
    while drive.drive.stats().ftl.reclaims < reclaims {
        drive.drive.drain();
        read(&mut drive.drive, 2);
    }
    drive.drive.drain();
    drive.drive.stats().flash.die_busy_ns[0]
}

#[test]
fn programs_take_the_time_of_their_mode() {
    let (plain, first) = (busy_ns([1.0; 3], false), busy_ns([1.0, 1.08, 1.19], false));
    let t_program_ns = 700_000;
    assert_eq!(first - plain, 12 * t_program_ns * 8 / 100);
    // A second deal, of both blocks again, in mode 2.
    let (plain, second) = (busy_ns([1.0; 3], true), busy_ns([1.0, 1.08, 1.19], true));
    assert_eq!(second - plain, 12 * t_program_ns * (8 + 19) / 100);
}

/// Two blocks that are dealt together are one reclaim, and take one time.
#[test]
fn a_pair_of_blocks_is_served_once() {
    let mut drive = Observed::new(&config(Params { max_reads: 100, ..Params::default() }), 12).drive;
    drive.set_executor(Executor::Timed);
    while drive.stats().ftl.reclaims < 2 {
        drive.drain();
        read(&mut drive, 2);
    }
    drive.drain();
    let stats = drive.stats().ftl;
    assert_eq!((stats.services.count, stats.reclaimed_blocks), (2, 4));
}

#[test]
fn blocks_move_when_the_host_is_silent_and_at_once_at_the_limit() {
    let cfg = config(Params { max_reads: 200, ..Params::default() });
    let mut drive = Observed::new(&cfg, 12).drive;
    drive.set_executor(Executor::Timed);
    // 190 reads of an MSB page: 95 %.
    for _ in 0..190 {
        read(&mut drive, 2);
    }
    let silent = drive.now();
    drive.advance_to(SimTime(silent.0 + 9_999_999));
    assert_eq!(drive.stats().ftl.reclaims, 0);
    let mut other = drive.clone();
    drive.advance_to(SimTime(silent.0 + 10_000_000));
    assert_eq!(drive.stats().ftl.reclaims, 1);
    drive.drain();
    assert_eq!((moved(&drive, Cause::ReadReclaim), drive.stats().ftl.reclaimed_blocks), (12, 2));
    // A host that is never silent for so long: at 100 %, at once.
    for n in 191..=200 {
        assert_eq!(other.stats().ftl.reclaims, 0, "after {} reads", n - 1);
        read(&mut other, 2);
        let now = other.now();
        other.advance_to(SimTime(now.0 + 5_000_000));
    }
    assert_eq!(other.stats().ftl.reclaims, 1);
}

#[test]
fn silence_for_cleaning_and_for_reclaim_are_two_things() {
    let reads = Params { max_reads: 100, idle_after_us: 3_000.0, pairing: false, ..Params::default() };
    for (cleaning_us, cleaned, reclaimed) in
        [(1_000.0, 1_000_000, 3_000_000), (5_000.0, 5_000_000, 3_000_000)]
    {
        let mut cfg = config(reads.clone());
        cfg.gc_trigger = background_idle::Params {
            idle_after_us: cleaning_us,
            idle_free_percent: 50.0,
            ..background_idle::Params::default()
        }
        .into();
        cfg.geometry.blocks_per_plane = 24;
        let units = cfg.logical_units() as u32;
        let mut drive = Observed::new(&cfg, units).drive;
        // Dead pages for cleaning to gain: 21 blocks in use, 3 free.
        for i in 0..121 - units {
            drive.overwrite(&[6 + 2 * i % (units - 6)]).unwrap();
        }
        assert_eq!(moved(&drive, Cause::Cleaning), 0);
        drive.set_executor(Executor::Timed);
        let erases =
            |drive: &Drive| drive.stats().flash.ops[OpKind::Erase as usize][Cause::Cleaning as usize];
        let before = erases(&drive);
        let mut reads = 0;
        while reads < 97 {
            read(&mut drive, 2);
            reads += 1;
        }
        let silent = drive.now().0;
        let (mut first_clean, mut first_reclaim) = (None, None);
        while let Some(at) = drive.next_event_at() {
            drive.advance_to(at);
            let after = at.0 - silent;
            if erases(&drive) > before && first_clean.is_none() {
                first_clean = Some(after);
            }
            if drive.stats().ftl.reclaims > 0 && first_reclaim.is_none() {
                first_reclaim = Some(after);
            }
        }
        assert_eq!(first_reclaim, Some(reclaimed), "cleaning after {cleaning_us} us");
        // An erase of 3.5 ms, which may wait for another.
        let clean_at = first_clean.expect("nothing was cleaned");
        let erased = cleaned + 3_500_000;
        assert!(
            (erased..erased + 4_000_000).contains(&clean_at),
            "{clean_at}, cleaning after {cleaning_us} us"
        );
    }
}

#[test]
fn without_pairing_a_block_moves_alone_and_in_order() {
    let params = Params { max_reads: 100, pairing: false, ..Params::default() };
    let mut drive = Observed::new(&config(params), 12);
    while drive.drive.stats().ftl.reclaims == 0 {
        read(&mut drive.drive, 5);
    }
    let copies = drive.copies();
    let target = copies[0].2 / 6;
    assert_eq!(copies, (0..6).map(|page| (page, page, target * 6 + page)).collect::<Vec<_>>());
    assert_eq!((drive.erased(), drive.drive.chips().mode(target)), (vec![0], 1));
}

/// The other source is read-resistant already: what has been read out of a block once does not go to a weaker mode.
#[test]
fn the_mode_is_that_of_the_source_that_needs_more() {
    let mut drive = Observed::new(&config(Params { max_reads: 100, ..Params::default() }), 18);
    // Blocks 0 and 1 are dealt in mode 1, for reads of unit 2; then block 2, of the normal mode, with one of those.
    for (unit, reclaims, mode) in [(2, 1, 1), (14, 2, 2)] {
        while drive.drive.stats().ftl.reclaims < reclaims {
            read(&mut drive.drive, unit);
        }
        assert_eq!(drive.mode_of(unit), mode, "reclaim {reclaims}");
    }
    assert_eq!(drive.drive.stats().ftl.dealt_pages, [0, 12, 12, 0]);
    drive.drive.check().unwrap();
}

/// An empty block is the least-read of all: the disturbed one goes over two alone, and nobody else's data is copied.
#[test]
fn an_empty_block_may_be_the_coldest() {
    for (empty_partner, copied, erased) in [(false, 12, 2), (true, 6, 1)] {
        let params = Params { max_reads: 100, counters: Counters::Exact, empty_partner, ..Params::default() };
        let mut drive = Observed::new(&config(params), 12);
        while drive.drive.stats().ftl.reclaims == 0 {
            read(&mut drive.drive, 5);
        }
        let copies = drive.copies();
        assert_eq!((copies.len(), drive.erased().len()), (copied, erased), "{copies:?}");
        let targets: std::collections::BTreeSet<u32> = copies.iter().map(|copy| copy.2 / 6).collect();
        assert_eq!(targets.len(), 2, "both ways over two blocks: {copies:?}");
        // LSB pages of both targets, then CSB and MSB pages.
        if empty_partner {
            let lpns: Vec<u32> = copies.iter().map(|copy| copy.0).collect();
            assert_eq!(lpns, [5, 0, 1, 2, 3, 4]);
        }
        drive.drive.check().unwrap();
    }
}

/// With few free blocks an empty partner is none, and the drive neither stops nor loses data.
#[test]
fn empty_partners_leave_room_for_cleaning() {
    for executor in [Executor::Timed, Executor::Functional] {
        let cfg = config(Params { max_reads: 20, empty_partner: true, ..Params::default() });
        let drive = busy_run(&cfg, executor, 6_000);
        assert!(drive.stats().ftl.reclaims > 20, "{executor:?}: {} reclaims", drive.stats().ftl.reclaims);
        assert_eq!((drive.stats().ftl.lost_units, drive.health().read_only), (0, None));
    }
}

#[test]
fn a_block_without_a_partner_is_sorted_alone() {
    let params = Params { max_reads: 100, counters: Counters::Exact, ..Params::default() };
    let mut drive = Observed::new(&config(params), 6);
    while drive.drive.stats().ftl.reclaims == 0 {
        read(&mut drive.drive, 5);
    }
    let lpns: Vec<u32> = drive.copies().iter().map(|copy| copy.0).collect();
    // LSB: 5, 0. CSB: 1, 2. MSB: 3, 4.
    assert_eq!(lpns, [5, 1, 3, 0, 2, 4]);
}

/// Two drives side by side, one saved and restored in the middle of a deal.
#[test]
fn a_deal_survives_a_snapshot() {
    let cfg = config(Params { max_reads: 100, ..Params::default() });
    let mut drive = Observed::new(&cfg, 12).drive;
    drive.set_executor(Executor::Timed);
    while drive.stats().ftl.reclaims == 0 {
        read(&mut drive, 2);
    }
    let mut halves = 0;
    for copies in 1..12 {
        while moved(&drive, Cause::ReadReclaim) < copies {
            let at = drive.next_event_at().unwrap();
            drive.advance_to(at);
        }
        let mut bytes = Vec::new();
        drive.save(&mut bytes).unwrap();
        let mut restored = Drive::restore(&cfg, &bytes).unwrap();
        let mut again = Vec::new();
        restored.save(&mut again).unwrap();
        assert_eq!(bytes, again);
        let mut original = drive.clone();
        original.drain();
        restored.drain();
        assert_eq!((original.event_hash(), original.stats()), (restored.event_hash(), restored.stats()));
        assert_eq!(moved(&restored, Cause::ReadReclaim), 12);
        restored.check().unwrap();
        halves += 1;
    }
    assert_eq!(halves, 11);
}

/// A unit that is rewritten or trimmed while its block is dealt is not put back, and others keep their page types.
#[test]
fn data_that_dies_during_a_deal_is_passed_over() {
    let params = Params { max_reads: 100, counters: Counters::Exact, ..Params::default() };
    let mut cfg = config(params);
    cfg.cleaning.copies_in_flight = 1;
    let mut drive = Observed::new(&cfg, 12);
    drive.drive.set_executor(Executor::Timed);
    while drive.drive.stats().ftl.reclaims == 0 {
        read(&mut drive.drive, 2);
    }
    // Read by now is unit 2, the hottest; 0 and 1 come next for LSB pages, 8 for an MSB page.
    let now = drive.drive.now();
    let trim = command(&drive.drive, OpCode::Trim, 1);
    drive.drive.submit(0, &trim, now).unwrap();
    submit(&mut drive.drive, OpCode::Write, 8);
    drive.drive.drain();
    let copies = drive.copies();
    let lpns: Vec<u32> = copies.iter().map(|copy| copy.0).collect();
    assert!(!lpns.contains(&1) && lpns.len() >= 10, "{lpns:?}");
    let types: Vec<u32> = copies.iter().filter(|copy| [2, 0, 3].contains(&copy.0)).map(|c| c.2 % 3).collect();
    assert_eq!(types, [0, 0, 0], "{copies:?}");
    drive.drive.check().unwrap();
}

/// A load of reads, mostly of a few units, and writes.
fn busy_run(cfg: &DriveConfig, executor: Executor, commands: u32) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    drive.set_executor(executor);
    let mut rng = Rng::named(9, "busy");
    for _ in 0..commands {
        match rng.below(40) {
            0 => rewrite(&mut drive, rng.below(units)),
            1..5 => read(&mut drive, rng.below(units)),
            _ => read(&mut drive, rng.below(6) * 5 % units),
        }
    }
    drive.drain();
    drive.check().unwrap();
    drive
}

#[test]
fn the_same_run_twice_goes_the_same_way() {
    for executor in [Executor::Timed, Executor::Functional] {
        let cfg = config(Params { max_reads: 20, ..Params::default() });
        let (one, two) = (busy_run(&cfg, executor, 6_000), busy_run(&cfg, executor, 6_000));
        assert!(one.stats().ftl.reclaims > 20, "{executor:?}: {} reclaims", one.stats().ftl.reclaims);
        assert_eq!((one.event_hash(), one.stats()), (two.event_hash(), two.stats()));
    }
}

/// With hardly a free block the drive neither stops nor loses data, and still reclaims.
#[test]
fn scarce_blocks_are_enough() {
    for blocks in 6..12 {
        for executor in [Executor::Timed, Executor::Functional] {
            let mut cfg = config(Params { max_reads: 40, ..Params::default() });
            cfg.geometry.blocks_per_plane = blocks;
            // The least over-provisioning that is allowed.
            let fits = |percent: &f64| {
                let mut tight = cfg.clone();
                tight.drive.over_provisioning_percent = *percent;
                tight.validate().is_ok()
            };
            cfg.drive.over_provisioning_percent =
                (1..300).map(f64::from).find(fits).unwrap_or_else(|| panic!("{blocks} blocks"));
            let drive = busy_run(&cfg, executor, 4_000);
            assert!(drive.stats().ftl.reclaims > 5, "{blocks} blocks, {executor:?}");
            assert_eq!(drive.health().read_only, None);
        }
    }
}

/// Targets whose programs fail: the deal goes on with other blocks, or stops, and no data is lost.
#[test]
fn failing_targets_are_left() {
    let mut failed = 0;
    for seed in 0..40 {
        let mut cfg = config(Params { max_reads: 60, ..Params::default() });
        cfg.drive.seed = seed;
        cfg.geometry.blocks_per_plane = 40;
        cfg.reliability.program_fail_ppm = 5_000.0;
        cfg.errors.model = if seed % 2 == 0 { ErrorModel::Cells } else { ErrorModel::None };
        let executor = if seed % 4 < 2 { Executor::Timed } else { Executor::Functional };
        let drive = busy_run(&cfg, executor, 1_500);
        failed += drive.stats().flash.program_fails;
        assert_eq!((drive.stats().ftl.lost_units, drive.health().read_only), (0, None), "seed {seed}");
    }
    assert!(failed > 40, "{failed}");
}

#[test]
fn thresholds_must_be_in_order() {
    let params = Params { threshold_percent: 90.0, forced_percent: 80.0, ..Params::default() };
    let errors = Drive::new(&config(params)).err().unwrap().to_string();
    assert!(errors.contains("ftl.read_reclaim.threshold_percent"), "{errors}");
}

/// Effects that are not of this file's concern are still in order: nothing but copies and erases comes of reads.
#[test]
fn only_copies_and_erases_come_of_a_deal() {
    let mut drive = Observed::new(&config(Params { max_reads: 50, ..Params::default() }), 12);
    while drive.drive.stats().ftl.reclaims == 0 {
        read(&mut drive.drive, 2);
    }
    drive.take_effects();
    let strange = |effect: &&Effect| {
        !matches!(
            effect,
            Effect::Copy { .. } | Effect::Erase { .. } | Effect::Read { .. } | Effect::Complete { .. }
        )
    };
    assert_eq!(drive.effects.iter().find(strange), None);
}

/// What a read-hot load comes to under a policy.
#[derive(Debug)]
struct Outcome {
    reclaims: u64,
    copied: u64,
    erases: u64,
    lsb_percent: u64,
}

/// A share of 2^64ths of all.
fn scaled(all: u64, share: u64) -> u64 {
    ((u128::from(all) * u128::from(share)) >> 64) as u64
}

/// Reads of skewed heat over a drive of two chips with 48 blocks of 192 pages each, and one write for 5,000 reads; the
/// hottest of 10,800 units takes some 4 % of all reads. The limit is a tenth of the paper's.
fn hot_reads(policy: read_reclaim::Config) -> Outcome {
    let mut cfg = config(Params::default());
    let g = &mut cfg.geometry;
    (g.chips_per_channel, g.blocks_per_plane, g.wordlines_per_block) = (2, 48, 64);
    cfg.drive.over_provisioning_percent = 70.0;
    cfg.errors.model = ErrorModel::None;
    cfg.read_reclaim = policy;
    let mut drive = Drive::new(&cfg).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    drive.set_executor(Executor::Functional);
    drive.record_effects(true);
    let types = ssd::nand::order::PageOrder::of(&cfg);
    let mut rng = Rng::named(7, "hot");
    let (mut reads, mut lsb) = (0, 0);
    for n in 0..1_500_000u64 {
        // The cube of an even share of the drive, strewn over it.
        let share = rng.next_u64();
        let place = [share; 3].iter().fold(u64::from(units) << 32, |all, &share| scaled(all, share)) >> 32;
        let lpn = (place * 7_919 % u64::from(units)) as u32;
        if n % 5_000 == 4_999 {
            rewrite(&mut drive, rng.below(units));
            continue;
        }
        read(&mut drive, lpn);
        while let Some(effect) = drive.pop_effect() {
            if let Effect::Read { from: Source::Flash(unit), .. } = effect {
                reads += 1;
                lsb += u64::from(types.page_type(unit.0 % cfg.geometry.pages_per_block()) == 0);
            }
        }
    }
    drive.check().unwrap();
    let stats = drive.stats();
    let why = Cause::ReadReclaim as usize;
    Outcome {
        reclaims: stats.ftl.reclaims,
        copied: stats.ftl.moved_units[why],
        erases: stats.flash.ops[OpKind::Erase as usize][why],
        lsb_percent: lsb * 100 / reads,
    }
}

/// redFTL section 4.4, in order and sign: counting the harm of reads saves some of the baseline's reclaims,
/// read-resistant blocks more, dealing most, which reads more from LSB pages; exact counters change little. A pair is
/// two blocks to copy: where the heat does not change, dealing copies more than read-resistant blocks alone.
#[test]
fn variants_of_the_paper_come_in_its_order() {
    let max_reads = 4_000;
    // Where no time passes the host is never silent: all move at 95 %.
    let plus = Params { max_reads, forced_percent: 95.0, ..Params::default() };
    let block = hot_reads(read_reclaim::block::Params { max_reads, ..Default::default() }.into());
    let summed =
        hot_reads(read_reclaim::block::Params { max_reads, effective: true, ..Default::default() }.into());
    let rrb = hot_reads(Params { pairing: false, page_types: false, ..plus.clone() }.into());
    let dealt = hot_reads(plus.clone().into());
    let exact = hot_reads(Params { counters: Counters::Exact, ..plus }.into());
    println!(
        "block {block:?}\nblock, effective {summed:?}\nRRB {rrb:?}\nredFTL+ {dealt:?}\nredFTL++ {exact:?}"
    );
    let reclaims = [&block, &summed, &rrb, &dealt, &exact].map(|outcome| outcome.reclaims);
    assert!(
        reclaims[..4].is_sorted_by(|more, less| more > less) && reclaims[4] <= reclaims[3],
        "{reclaims:?}"
    );
    assert!(dealt.copied < block.copied && dealt.erases == 2 * dealt.reclaims);
    assert!(dealt.lsb_percent * 100 > rrb.lsb_percent * 115, "{dealt:?}");
    assert!(exact.copied.abs_diff(dealt.copied) < dealt.copied / 4);
}
