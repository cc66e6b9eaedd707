//! Write amplification of uniform random writes in the steady state.
//!
//! Every page is overwritten with the same probability, so a live page dies at a constant rate and all that matters
//! of a block is its number of live pages. Utilisation `a` is the live share of the blocks that cleaning chooses from.
//! Of the lane's N blocks, when it chooses, two are free, one has just been opened for the host, and one is being
//! filled with moved pages (half full on average): N - 4 blocks are closed, and hold all live pages but b / 2.

use super::*;
use ssd::config::Table;
use ssd::flash::op::{Cause, OpKind};

/// Blocks of the lane and pages of a block.
const BLOCKS: u32 = 2_048;
const PAGES: u32 = 64;
/// Blocks free, open for the host, and open for moves whenever a victim is chosen.
const NOT_CLOSED: u32 = 4;
/// The over-provisionings that proof 3 names (%).
const OVER_PROVISIONING: [f64; 3] = [7.0, 12.0, 28.0];

/// Pages programmed for each page the host wrote: after a sequential fill and `warm` random writes of the whole drive,
/// over `measured` more.
pub(super) fn amplification(cfg: &DriveConfig, warm: u32, measured: u32) -> f64 {
    let mut drive = Drive::new(cfg).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    let mut rng = Rng::named(11, "uniform");
    let mut overwrite = |drive: &mut Drive, times: u32| {
        let lpns: Vec<u32> = (0..units * times).map(|_| rng.below(units)).collect();
        drive.overwrite(&lpns).unwrap();
    };
    overwrite(&mut drive, warm);
    drive.reset_stats();
    overwrite(&mut drive, measured);
    drive.check().unwrap();
    let stats = drive.stats();
    assert_eq!(stats.ftl.host_units, u64::from(units * measured));
    let programmed = stats.ops(OpKind::Program) * u64::from(stats.units_per_page);
    programmed as f64 / stats.ftl.host_units as f64
}

fn lane(percent: f64, victim: gc_victim::Config) -> DriveConfig {
    let mut cfg = one_lane(BLOCKS, PAGES, percent);
    cfg.gc_victim = victim;
    cfg
}

/// Mapping units of a block (of a superblock).
fn block_units(cfg: &DriveConfig) -> u32 {
    cfg.geometry.pages_per_block() * cfg.units_per_page() * cfg.lane_span()
}

/// Live units in closed blocks as a share of their units.
fn utilisation(cfg: &DriveConfig) -> f64 {
    let live = cfg.logical_units() as f64 - f64::from(block_units(cfg)) / 2.0;
    live / f64::from((cfg.geometry.blocks_per_plane - NOT_CLOSED) * block_units(cfg))
}

/// First in, first out: a page is looked at again after all closed blocks were cleaned once, during which the host has
/// written (1 - p) of that many pages; so p = exp(-(1 - p) / a), whose solution is p = -a W(-exp(-1/a) / a).
fn fifo_formula(a: f64) -> f64 {
    let mut p: f64 = 0.5;
    for _ in 0..10_000 {
        p = (-(1.0 - p) / a).exp();
    }
    1.0 / (1.0 - p)
}

#[test]
fn fifo_follows_the_lambert_form() {
    for percent in OVER_PROVISIONING {
        let cfg = lane(percent, gc_victim::Config::Fifo(Default::default()));
        // Pages wait while their own block fills, too: that makes up for the half block (see the document).
        let a = cfg.logical_units() as f64 / f64::from((BLOCKS - NOT_CLOSED) * PAGES);
        close(&format!("fifo {percent} %"), amplification(&cfg, 3, 2), fifo_formula(a), 1.0);
    }
}

/// Greedy, mean field: a block is filled with b live pages, spends 1/j in the state of j live pages, and is cleaned
/// when it reaches k. If y is the mean time spent at k (at most 1/k; longer, and the threshold would be k - 1):
/// a b = (b - k + k y) / (H_b - H_k + y) and WA = b / (b - k + k y).
pub(super) fn greedy_formula(a: f64, b: u32) -> f64 {
    let size = f64::from(b);
    let mut harmonic = 0.0;
    for k in (1..b).rev() {
        harmonic += 1.0 / f64::from(k + 1);
        let live = f64::from(k);
        let y = (size - live - a * size * harmonic) / (a * size - live);
        if live < a * size && y <= 1.0 / live {
            assert!(y >= 0.0, "a = {a}, k = {k}, y = {y}");
            return size / (size - live + live * y);
        }
    }
    1.0
}

#[test]
fn greedy_follows_the_mean_field_of_finite_blocks() {
    for percent in OVER_PROVISIONING {
        let cfg = lane(percent, gc_victim::Config::Greedy(Default::default()));
        let expected = greedy_formula(utilisation(&cfg), PAGES);
        close(&format!("greedy {percent} %"), amplification(&cfg, 3, 2), expected, 2.0);
    }
}

/// Mean field of the best of `d` draws. With S_j the share of blocks that have j or more live pages, the flow of blocks
/// across j is j (S_j - S_{j+1}) by deaths and balances the flow of victims, theta P(victim < j), that come back full.
/// Full blocks are not eligible: drawn, they are passed over, and if all draws are full the next eligible one is taken.
/// Returns the mean live share for a rate theta of cleanings per block and mean life of a page.
fn mean_live_share(theta: f64, b: u32, d: i32) -> f64 {
    let full = theta / f64::from(b);
    let at_least = |s: f64| s.powi(d) - full.powi(d) + full.powi(d) * (s - full) / (1.0 - full);
    let (mut above, mut sum) = (full, full);
    for j in (1..b).rev() {
        // j (s - above) + theta at_least(s) - theta grows with s: halve the interval.
        let (mut low, mut high) = (above, 1.0);
        for _ in 0..60 {
            let s = 0.5 * (low + high);
            let excess = f64::from(j) * (s - above) - theta * (1.0 - at_least(s));
            if excess > 0.0 { high = s } else { low = s }
        }
        above = 0.5 * (low + high);
        sum += above;
    }
    sum / f64::from(b)
}

/// The rate at which the mean live share is `a`; each cleaning lets the host write what it frees, so WA = theta / a.
fn choices_formula(a: f64, b: u32, d: i32) -> f64 {
    let (mut low, mut high) = (0.0, f64::from(b) * 0.999_999);
    for _ in 0..60 {
        let theta = 0.5 * (low + high);
        if mean_live_share(theta, b, d) > a { high = theta } else { low = theta }
    }
    0.5 * (low + high) / a
}

#[test]
fn d_choices_follows_its_mean_field() {
    for percent in OVER_PROVISIONING {
        for d in [2, 10] {
            let cfg = lane(percent, gc_victim::Config::DChoices(gc_victim::d_choices::Params { d }));
            let expected = choices_formula(utilisation(&cfg), PAGES, d as i32);
            close(&format!("d_choices({d}) {percent} %"), amplification(&cfg, 3, 2), expected, 3.0);
        }
    }
}

/// A random block that is not full: it lost its first page, and each of the others survives its stay. Closed form of
/// the above for d = 1; with large blocks it becomes 1 / (1 - a).
fn random_formula(a: f64, b: u32) -> f64 {
    let size = f64::from(b);
    size / (size - (size - 1.0) * a)
}

#[test]
fn random_follows_its_closed_form() {
    for percent in OVER_PROVISIONING {
        let cfg = lane(percent, gc_victim::Config::Random(Default::default()));
        let expected = random_formula(utilisation(&cfg), PAGES);
        // Victims differ most from each other here: the fewer there are to a drive write, the more are watched.
        let measured = if percent < 10.0 { 2 } else { 6 };
        close(&format!("random {percent} %"), amplification(&cfg, 3, measured), expected, 2.0);
    }
}

#[test]
fn the_formulas_agree_where_they_meet() {
    for a in [0.5, 0.78, 0.93] {
        // One choice is random; with very many choices the mean field is greedy.
        assert!((choices_formula(a, 64, 1) / random_formula(a, 64) - 1.0).abs() < 1e-6);
        assert!((choices_formula(a, 64, 20_000) / greedy_formula(a, 64) - 1.0).abs() < 2e-3);
        // Fifo is greedy's limit for large blocks: all blocks die alike.
        assert!((greedy_formula(a, 100_000) / fifo_formula(a) - 1.0).abs() < 1e-3);
    }
    // Where the threshold is whole: k = 32, b = 64, a = (64 - 32) / (64 (H_64 - H_32)).
    let h: f64 = (33..=64).map(|i| 1.0 / f64::from(i)).sum();
    assert!((greedy_formula(32.0 / (64.0 * h), 64) - 2.0).abs() < 1e-9);
}

#[test]
fn units_and_superblocks_make_no_difference() {
    // 1 024 mapping units to a block, as four 4-KiB units on each of 256 pages; 64, as 32 pages in each of two planes.
    // Gathered units are programmed with gaps when a victim is done: about one unit lost for each victim, which small
    // blocks would feel.
    let mut units = one_lane(1_024, 256, 12.0);
    (units.mapping.unit, units.geometry.page_bytes) = (MappingUnit::FourKib, 16_384);
    let mut planes = one_lane(BLOCKS, 32, 12.0);
    (planes.geometry.planes_per_die, planes.allocation.superblock) = (2, Superblock::Planes);
    for (what, cfg) in [("greedy 12 %, 4-KiB units", units), ("greedy 12 %, superblocks", planes)] {
        let expected = greedy_formula(utilisation(&cfg), block_units(&cfg));
        close(what, amplification(&cfg, 3, 2), expected, 2.0);
    }
}

/// The same in virtual time: `depth` single-page writes in flight, first `warm` then `measured` times the drive.
fn timed_amplification(cfg: &DriveConfig, depth: u64, warm: u32, measured: u32) -> f64 {
    let mut drive = Drive::new(cfg).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    let mut rng = Rng::named(12, "uniform");
    for times in [warm, measured] {
        drive.reset_stats();
        closed_loop(&mut drive, depth, u64::from(units * times), |_| write_unit(rng.below(units)));
    }
    drive.check().unwrap();
    let stats = drive.stats();
    stats.ops(OpKind::Program) as f64 / stats.flash.ops[OpKind::Program as usize][Cause::Host as usize] as f64
}

#[test]
fn time_does_not_change_amplification() {
    // Cleaning beside host writes, in four lanes, ends where cleaning in no time does.
    let mut cfg = one_lane(1_024, 32, 28.0);
    cfg.geometry.chips_per_channel = 4;
    cfg.channel.bandwidth_mb_s = 4_000.0;
    for victim in [gc_victim::Config::Greedy(Default::default()), gc_victim::Config::Fifo(Default::default())]
    {
        let name = victim.policy().unwrap();
        cfg.gc_victim = victim.clone();
        let functional = amplification(&cfg, 4, 6);
        close(
            &format!("timed against functional, {name}"),
            timed_amplification(&cfg, 16, 3, 3),
            functional,
            1.0,
        );
    }
}
