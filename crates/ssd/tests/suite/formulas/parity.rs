//! Parity across dies: what it adds to write amplification, and what it takes of the spare room.

use super::amplification::{amplification, greedy_formula};
use super::*;
use ssd::flash::op::{Cause, OpKind};
use ssd::sections::Issue;

/// Pages of parity for each other page that was programmed.
fn share(drive: &Drive) -> f64 {
    let stats = drive.stats();
    let parity = stats.pages_programmed(Cause::Parity);
    assert_eq!(stats.ftl.parity_units, parity * u64::from(stats.units_per_page));
    parity as f64 / (stats.ops(OpKind::Program) - parity) as f64
}

/// Whatever a block holds, and however pages go to planes.
fn drives() -> Vec<DriveConfig> {
    let mut drives = vec![one_lane(2_000, 12, 28.0), one_lane(400, 64, 28.0)];
    for superblock in [Superblock::None, Superblock::Planes, Superblock::All] {
        for issue in [Issue::Row, Issue::Page] {
            let mut cfg = round_numbers(1, 2, 4);
            (cfg.allocation.superblock, cfg.allocation.issue) = (superblock, issue);
            (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (120, 48);
            drives.push(cfg);
        }
    }
    drives
}

#[test]
fn sequential_writes_cost_what_parity_adds() {
    for percent in [2.5, 5.0, 25.0] {
        for mut cfg in drives() {
            cfg.redundancy.parity_percent = percent;
            cfg.drive.over_provisioning_percent = 80.0;
            let mut drive = Drive::new(&cfg).unwrap();
            let all: Vec<u32> = (0..drive.logical_units()).collect();
            (0..4).for_each(|_| drive.overwrite(&all).unwrap());
            drive.check().unwrap();
            let stats = drive.stats();
            assert_eq!(stats.ftl.moved_units.iter().sum::<u64>(), 0, "nothing is moved");
            let what = format!("{percent} %, {:?}", cfg.allocation);
            let found = stats.ops(OpKind::Program) as f64 / stats.ftl.host_units as f64;
            close(&what, found, 1.0 + percent / 100.0, 0.1);
            close(&what, share(&drive), percent / 100.0, 2.0);
        }
    }
}

/// It takes the channel and the die for as long as data does: rows of four planes of two dies.
#[test]
fn sequential_writes_cost_what_parity_adds_where_time_passes_too() {
    let written = |percent: f64| {
        let mut cfg = round_numbers(1, 2, 4);
        (cfg.allocation.superblock, cfg.redundancy.parity_percent) = (Superblock::Planes, percent);
        let mut drive = Drive::new(&cfg).unwrap();
        let (pages, mut next) = (drive.logical_units(), 0);
        let flow = closed_loop(&mut drive, 64, 3 * u64::from(pages), |_| {
            next += 1;
            on_page(OpCode::Write, (next - 1) % pages, 32)
        });
        drive.check().unwrap();
        (flow.rate(), drive.stats())
    };
    let ((rate, stats), (without, _)) = (written(5.0), written(0.0));
    close("timed", stats.ops(OpKind::Program) as f64 / stats.ftl.host_units as f64, 1.05, 0.1);
    close("pages a second", rate * 1.05, without, 2.0);
}

#[test]
fn steady_writes_follow_the_formula_with_the_spare_that_parity_leaves() {
    // 63 pages: 60 of data, and a twentieth of that of parity.
    for percent in [12.0, 28.0] {
        let mut cfg = one_lane(2_048, 63, percent);
        cfg.redundancy.parity_percent = 5.0;
        // Two blocks are free, one is the host's, and one is half full of what was moved, as without parity.
        let live = cfg.logical_units() as f64 - 30.0;
        let expected = 1.05 * greedy_formula(live / f64::from((2_048 - 4) * 60), 60);
        close(&format!("{percent} %"), amplification(&cfg, 3, 2), expected, 2.0);
    }
}

#[test]
fn both_executors_put_parity_in_the_same_pages() {
    for superblock in [Superblock::None, Superblock::Planes, Superblock::All] {
        let mut cfg = round_numbers(2, 1, 4);
        (cfg.allocation.superblock, cfg.redundancy.parity_percent) = (superblock, 7.0);
        let mut at_once = Drive::new(&cfg).unwrap();
        let units = at_once.logical_units();
        at_once.fill(0, units).unwrap();
        let mut timed = Drive::new(&cfg).unwrap();
        for page in 0..units {
            timed.submit(0, &on_page(OpCode::Write, page, 32), timed.now()).unwrap();
            timed.drain();
            timed.pop_completion().unwrap();
        }
        assert_eq!(at_once.blocks().table(), timed.blocks().table(), "{superblock:?}");
        assert_eq!(share(&at_once), share(&timed), "{superblock:?}");
        assert!(share(&timed) > 0.06);
    }
}
