//! Copies inside the chips: rows by hand, limits of copies against the truth, and what is refused.

use super::*;
use crate::config::{Layer, Table};
use crate::drive_config::resolve;
use crate::nand::Outcome;
use crate::nand::aging::Sequence;
use crate::sections::{Errors, MappingUnit, Superblock};
use crate::{Drive, DriveConfig, SimTime};

/// The first entry of the retry table: the voltages of fresh data.
const FIRST: Sequence = Sequence::entry(0);
/// 12 months.
const YEAR_NS: u64 = 525_600 * 60_000_000_000;

/// 4 planes of 30 blocks of 48 wordlines that differ.
fn config() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block) = (30, 48);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: true, ..Errors::default() };
    cfg.drive.over_provisioning_percent = 60.0;
    cfg
}

/// Whether drives have the family that tells the ages of blocks: a test that goes by them is skipped without.
fn tells_ages() -> bool {
    crate::policy::family("ftl.age_marker").is_some()
}

/// Nothing was copied yet in so many blocks.
fn copies(blocks: u32, pages: u32) -> Copies {
    let policy = Policy::build(&Config::named("copyback_by_cycles").expect("a member"));
    Copies { policy, in_a_row: vec![0; (blocks * pages) as usize], pages_per_block: pages }
}

/// Copies a page so often in a row from page to page, each time between blocks of a limit; how often it went.
fn chain(limits: &[u8]) -> usize {
    let mut copies = copies(1, limits.len() as u32 + 1);
    for (at, &limit) in limits.iter().enumerate() {
        let Some(row) = copies.next(Ppn(at as u32), limit) else { return at };
        copies.in_a_row[at + 1] = row;
    }
    limits.len()
}

#[test]
fn copies_in_a_row_end_at_the_lowest_limit_on_their_way() {
    assert_eq!([0, 1, 2, 3, 7].map(|limit| chain(&[limit; 8])), [0, 1, 2, 3, 7]);
    // Two copies in an old block, and the young one takes no third; nor does an old one what has three behind it.
    assert_eq!(chain(&[2, 5, 5, 5]), 2);
    assert_eq!(chain(&[5, 5, 2, 5]), 2);
    assert_eq!(chain(&[5, 5, 5, 2]), 3);
    assert_eq!(chain(&[5, 3, 5, 5]), 3);
}

#[test]
fn an_erase_ends_a_row() {
    let mut copies = copies(2, 2);
    copies.in_a_row = vec![0o33, 0o33, 0o33, 0o33];
    assert_eq!(copies.next(Ppn(2), 5), None);
    copies.wiped(BlockId(1));
    assert_eq!(copies.in_a_row, [0o33, 0o33, 0, 0]);
    assert_eq!(copies.next(Ppn(2), 5), Some(0o51));
}

#[test]
fn what_is_no_row_is_refused_in_a_snapshot() {
    let drive = Drive::new(&config()).expect("a drive");
    let seen = Seen { tables: &drive.state.ftl.moves.media.tables, chip: &drive.state.flash.chip };
    for (row, is_row) in [(0, true), (0o33, true), (0o43, true), (0o34, false), (0o101, false)] {
        let mut found = copies(1, 1);
        found.in_a_row = vec![row];
        assert_eq!(found.restored(copies(1, 1), &seen).is_ok(), is_row, "{row:o}");
    }
    assert!(copies(2, 1).restored(copies(1, 1), &seen).is_err());
}

fn copy(chip: &mut Chip, from: (u32, u32), to: u32) -> u32 {
    let page = chip.programmed_pages(to);
    assert_eq!(chip.copy(from, (to, page), chip.mode(to), &FIRST), Outcome::Pass);
    page
}

/// 4 planes of 30 TLC blocks that differ, of 48 wordlines; their units are pages.
fn varied(policy: &str) -> DriveConfig {
    let mut cfg = config();
    cfg.cells = crate::sections::CellPart::preset("tlc_48l").expect("a shipped part");
    cfg.mapping.unit = MappingUnit::Page;
    if let Some(marker) = cfg.section_mut("ftl.age_marker") {
        marker.select("real_wear").expect("a marker");
    }
    cfg.buffer.select("none").expect("a policy");
    cfg.migration.select(policy).expect("a policy");
    // Each block a lane, cleaned in turn: data that nobody writes moves again and again, in its plane.
    cfg.allocation.superblock = Superblock::None;
    cfg.gc_victim.select("fifo").expect("a policy");
    cfg
}

/// Copies data of each block so often in a row, page after page of it, reads all of it after 12 months, and counts what
/// was copied most often and is lost.
fn lost_after(chip: &mut Chip, copies: &[u32]) -> u32 {
    let pages = chip.pages_per_block();
    for (block, &copies) in (0..).zip(copies) {
        for page in 0..pages {
            match page % (copies + 1) {
                0 => assert_eq!(chip.program(block, page), Outcome::Pass),
                _ => assert_eq!(copy(chip, (block, page - 1), block), page),
            }
        }
    }
    chip.advance_clock(SimTime(YEAR_NS));
    let mut lost = 0;
    for (block, &copies) in (0..).zip(copies) {
        let ends = (0..pages).filter(|page| page % (copies + 1) == copies);
        lost += ends.filter(|&page| !chip.sense(block, page, 0).readable).count() as u32;
    }
    lost
}

/// The formula of FastCopy in blocks that differ. By what the marker says of them none of the data that has as many
/// copies behind it as it may is lost in 12 months; by what they are, one copy more loses some.
#[test]
fn a_limit_one_too_high_loses_data_and_ours_never() {
    if !tells_ages() {
        return;
    }
    let cfg = varied("copyback_by_age");
    let mut policy = copyback_by_age::Policy::new(&copyback_by_age::Params::default());
    policy.learn(&CellModel::new(cfg.cells.clone()).expect("a shipped part"));
    let population = &cfg.cells.population;
    for cycles in [300, 2_460, 3_500, 6_150] {
        let mut drive = Drive::new(&cfg).expect("a drive");
        drive.age(&format!("cycle to {cycles}").parse().expect("a step")).expect("room in the tables");
        let mut chip = drive.chips().clone().with_copies();
        let blocks = chip.blocks();
        let limits = |age_q12: &dyn Fn(u32) -> u32| -> Vec<u32> {
            let left_q8 = |block| 4 * 4_096_u32.saturating_sub(age_q12(block));
            let of_block =
                |block| u32::from(policy.limit(&Worn { cycles, left_q8: left_q8(block), ..Worn::default() }));
            (0..blocks).map(of_block).collect()
        };
        let true_age = |block| {
            let wear = drive.chips().true_wear(block).expect("cells that age").equivalent_cycles;
            let n12 = population.mean_n12 + population.mean_growth * f64::from(wear) / 1e3;
            (n12 * 64.0) as u32
        };
        let one_more: Vec<u32> = limits(&true_age).iter().map(|limit| limit + 1).collect();
        let limits = limits(&|block| drive.blocks().age_q12(block));
        assert!(limits.iter().filter(|&&limit| limit > 0).count() > 20, "{cycles}: {limits:?}");
        assert_eq!(lost_after(&mut chip.clone(), &limits), 0, "{cycles}");
        let lost = lost_after(&mut chip, &one_more);
        assert!(lost > 0 || cycles < 2_000, "{cycles}: {one_more:?}");
    }
}

/// Configurations that are refused, and what is said of them.
const WRONG: &[(&str, &[&str])] = &[
    (
        "[ftl.cleaning]\ncopyback = true",
        &["my.toml:2: ftl.cleaning.copyback: no such key", "did you mean ftl.migration.policy?"],
    ),
    (
        "[ftl.mapping]\nunit = \"64kib\"\n[ftl.migration]\npolicy = \"copyback_always\"",
        &[
            "my.toml:4: ftl.migration.policy: impossible",
            "copyback (\"copyback_always\")",
            "units of 4",
            "unit = \"page\"",
        ],
    ),
    (
        "[ftl.migration]\npolicy = \"copyback_by_cycles\"\nlimits = [3, 8]",
        &["my.toml:3: ftl.migration.limits", "8", "0 to 7"],
    ),
    (
        "[ftl.migration]\npolicy = \"copyback_by_cycles\"\nlimits = [3, 1.5]",
        &["my.toml:3: ftl.migration.limits: impossible", "a part of a copy", "whole numbers"],
    ),
];

/// Those that the ages of blocks have to do with.
const WRONG_AGES: &[(&str, &[&str])] = &[
    (
        "[ftl.mapping]\nunit = \"page\"\n[ftl.migration]\npolicy = \"copyback_by_age\"",
        &[
            "my.toml:4: ftl.migration.policy: impossible",
            "ages by \"none\", which estimates no errors",
            "ftl.age_marker.policy = \"real_wear\", or another fitted marker",
            "ftl.age_marker.policy (its default)",
        ],
    ),
    (
        "[ftl.mapping]\nunit = \"page\"\n[ftl.migration]\npolicy = \"copyback_by_age\"\n[ftl.age_marker]\n\
         policy = \"pe_cycles\"",
        &["my.toml:4: ftl.migration.policy: impossible", "ages by \"pe_cycles\""],
    ),
];

#[test]
fn what_is_wrong_is_told_with_place_finding_and_remedy() {
    let of_ages = WRONG_AGES.iter().filter(|_| tells_ages());
    for (text, parts) in WRONG.iter().chain(of_ages) {
        let refused = resolve(&[Layer::file("my.toml", *text)], &["workload", "run"]);
        let message = refused.expect_err("refused").to_string();
        for part in *parts {
            assert!(message.contains(part), "{part:?} is missing in:\n{message}");
        }
    }
}
