//! The cache of one bit a cell (`ftl.slc_cache`): what it holds, what leaves it and when, and what it makes of writes.

use super::support::every::{has, select};
use ssd::config::{Table, Value};
use ssd::flash::op::{Cause, OpKind};
use ssd::nand::Raw;
use ssd::nand::cell::CellPart;
use ssd::rng::Rng;
use ssd::sections::{ErrorModel, MappingUnit, MovesOfFirst};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};

/// One plane of so many blocks of four bits a cell, a page a mapping unit.
fn config(policy: &str, blocks: u32, wordlines: u32) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (blocks, wordlines, 4);
    (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 60.0);
    cfg.buffer.select("none").unwrap();
    cfg.slc_cache.select(policy).unwrap();
    cfg
}

fn set(cfg: &mut DriveConfig, key: &str, value: Value) {
    cfg.slc_cache.set(key, &value).unwrap();
}

fn functional(cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    drive.set_executor(Executor::Functional);
    drive
}

fn send(drive: &mut Drive, op: OpCode, unit: u32) {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(unit) * u64::from(sectors));
    let command = Command { op, lba, sectors, arrival: drive.now(), ..Command::default() };
    drive.submit(0, &command, drive.now()).unwrap();
    drive.drain();
    drive.pop_completion().unwrap();
}

/// A lane of 104 blocks of 100 units or 25; 5 are kept (host, moves, cold, reserve, one to clean into).
fn adaptive(spare_percent: f64) -> DriveConfig {
    let mut cfg = config("adaptive", 104, 25);
    set(&mut cfg, "spare_percent", Value::Float(spare_percent));
    // 9,252 units.
    cfg.drive.over_provisioning_percent = 12.402;
    cfg
}

/// By hand: full blocks hold 100/1.07 = 93.458 units, 99 of them 9,252.3; x = (9,252.3 - U)/68.458: 54 at 60 %, 27 at
/// 80 %, none at 100 %, where two are left. What the two erased blocks of the ring and its dead data push out takes a
/// block or two.
#[test]
fn the_cache_shrinks_as_the_drive_fills_and_grows_as_it_is_trimmed() {
    let mut drive = functional(&adaptive(7.0));
    let all = drive.logical_units();
    assert_eq!(all, 9_252);
    let report = drive.reports().slc_cache();
    assert_eq!((report.blocks, report.target), (99, 99));
    let mut written = 0;
    for (used_percent, expected) in [(25, 99), (60, 54), (80, 27), (100, 2)] {
        let units = all * used_percent / 100;
        drive.fill(written, units - written).unwrap();
        written = units;
        drive.check().unwrap();
        let report = drive.reports().slc_cache();
        assert!((expected - 2..=expected).contains(&report.target) || report.target == 2, "{report:?}");
        assert!(report.target.max(2).abs_diff(report.blocks) <= 1, "{used_percent} %: {report:?}");
        assert_eq!(drive.stats().ftl.slc_bypassed, 0, "{used_percent} %");
    }
    let stats = drive.stats();
    assert_eq!(stats.ftl.host_units, u64::from(all));
    // Nothing has died: each unit was moved once at most, and only by destaging.
    assert!(stats.ftl.moved_units[Cause::Destage as usize] > u64::from(all) * 9 / 10);
    assert_eq!(stats.ftl.moved_units[Cause::Cleaning as usize], 0);
    // Three quarters are trimmed: with the next writes all is the cache's again but what the rest takes.
    for unit in all / 4..all {
        send(&mut drive, OpCode::Trim, unit);
    }
    (0..200).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    let report = drive.reports().slc_cache();
    // 2,313 units, of which some 2,000 are in full blocks.
    assert!(report.target >= 70 && report.blocks + 2 >= report.target, "{report:?}");
    drive.check().unwrap();
}

/// A cache whose blocks hold four units: which of them the host finds there.
fn in_cache(drive: &mut Drive, units: core::ops::Range<u32>) -> Vec<u32> {
    let mut hit = |unit: &u32| {
        let before = drive.stats().ftl.slc_hits;
        send(drive, OpCode::Read, *unit);
        drive.stats().ftl.slc_hits > before
    };
    units.filter(|unit| hit(unit)).collect()
}

/// Four blocks of four units: when the third is opened one is erased, and the first is destaged.
#[test]
fn the_block_opened_first_leaves_first() {
    let mut cfg = config("fixed", 40, 4);
    set(&mut cfg, "blocks_per_lane", Value::Integer(4));
    let mut drive = functional(&cfg);
    (0..8).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    assert_eq!((drive.stats().ftl.slc_destaged, drive.reports().slc_cache().blocks), (0, 4));
    send(&mut drive, OpCode::Write, 8);
    assert_eq!(drive.stats().ftl.slc_destaged, 1);
    assert_eq!(in_cache(&mut drive, 0..9), [4, 5, 6, 7, 8]);
    // Reads do not matter.
    (9..13).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    assert_eq!(in_cache(&mut drive, 0..13), [8, 9, 10, 11, 12]);
    let moved = drive.stats().ftl.moved_units[Cause::Destage as usize];
    assert_eq!((moved, drive.stats().ftl.slc_bypassed), (8, 0));
}

/// Four units on four wordlines: one of them is hidden by one pulse. Nothing moves, nothing is filled up, and the three
/// pages that would share a wordline with it in another block stay as they are.
#[test]
fn a_page_of_the_cache_is_its_wordline() {
    for (policy, kind) in [("scrub", OpKind::Scrub), ("reprogram", OpKind::Reprogram)] {
        let mut cfg = config("fixed", 40, 4);
        set(&mut cfg, "blocks_per_lane", Value::Integer(4));
        cfg.cells = CellPart::preset("qlc").unwrap();
        select(&mut cfg, "ftl.sanitize", policy);
        let mut drive = functional(&cfg);
        (0..4).for_each(|unit| send(&mut drive, OpCode::Write, unit));
        assert_eq!(in_cache(&mut drive, 0..4), [0, 1, 2, 3]);
        send(&mut drive, OpCode::Trim, 1);
        let stats = drive.stats();
        assert_eq!((stats.ops(kind), stats.ftl.sanitize_copies), (1, 0), "{policy}");
        assert_eq!((stats.ftl.padded_units.iter().sum::<u64>(), stats.ops(OpKind::Program)), (0, 4));
        let chips = drive.chips();
        let block = (0..chips.blocks()).find(|&block| chips.programmed_pages(block) > 0).unwrap();
        let raw = [0, 1, 2, 3].map(|page| chips.raw_read(block, page, drive.now(), 525_600));
        assert_eq!(raw, [Raw::Data, Raw::Noise, Raw::Data, Raw::Data], "{policy}");
        assert_eq!(in_cache(&mut drive, 0..4), [0, 2, 3]);
        assert_eq!((drive.reports().sanitize().lost_pages, drive.stats().ftl.lost_units), (0, 0));
        drive.check().unwrap();
        let mut bytes = Vec::new();
        drive.save(&mut bytes).unwrap();
        Drive::restore(&cfg, &bytes).unwrap().check().unwrap();
    }
}

#[test]
fn the_block_whose_last_access_is_the_longest_ago_leaves_first() {
    let mut cfg = config("fixed", 40, 4);
    set(&mut cfg, "blocks_per_lane", Value::Integer(4));
    set(&mut cfg, "destage", Value::Text("lru".to_owned()));
    let mut drive = functional(&cfg);
    (0..8).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    send(&mut drive, OpCode::Read, 0);
    send(&mut drive, OpCode::Write, 8);
    assert_eq!(in_cache(&mut drive, 0..9), [0, 1, 2, 3, 8]);
}

/// Data that died in the cache is not moved, and its block is erased in the time of one bit a cell.
#[test]
fn what_dies_in_the_cache_never_reaches_full_blocks() {
    let mut cfg = config("fixed", 40, 4);
    set(&mut cfg, "blocks_per_lane", Value::Integer(4));
    let mut drive = functional(&cfg);
    for _ in 0..50 {
        (0..4).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    }
    let stats = drive.stats();
    assert_eq!(stats.ftl.moved_units[Cause::Destage as usize], 0);
    let of = |kind, cause| stats.flash.ops[kind as usize][cause as usize];
    // 50 blocks were opened; two or three are not erased yet.
    assert_eq!((of(OpKind::Erase, Cause::Destage), of(OpKind::Program, Cause::Destage)), (48, 0));
    assert_eq!(in_cache(&mut drive, 0..4), [0, 1, 2, 3]);
}

/// Uniform overwrites of W units through a ring of n blocks of S: when a block is opened as the (n-1)th, the oldest is
/// destaged, so unit k of it has seen (n-2) S - k - 1 writes after its own and lives on with (1 - 1/W) to that power.
/// About 1 - e^(-(n-2) S/W) of all writes die in the cache.
fn survivors(ring: u32, block: u32, units: u32) -> f64 {
    let alive = (0..block).map(|k| (1.0 - 1.0 / f64::from(units)).powi(((ring - 2) * block - k - 1) as i32));
    alive.sum::<f64>() / f64::from(block)
}

#[test]
fn writes_die_in_the_cache_as_the_formula_says() {
    for (ring, share) in [(6, 0.5), (12, 0.5), (22, 1.0), (42, 0.3)] {
        let mut cfg = config("fixed", 160, 16);
        set(&mut cfg, "blocks_per_lane", Value::Integer(ring));
        let mut drive = functional(&cfg);
        let units = (f64::from(drive.logical_units()) * share) as u32;
        drive.fill(0, units).unwrap();
        let mut rng = Rng::named(7, "uniform");
        let mut write = |drive: &mut Drive, count: u32| {
            let lpns: Vec<u32> = (0..count).map(|_| rng.below(units)).collect();
            lpns.chunks(64).for_each(|lpns| drive.overwrite(lpns).unwrap());
        };
        write(&mut drive, 3 * units);
        drive.reset_stats();
        write(&mut drive, 100_000);
        let stats = drive.stats();
        let destaged = stats.ftl.moved_units[Cause::Destage as usize] as f64 / 1e5;
        let expected = survivors(ring as u32, 16, units);
        println!("ring of {ring} blocks, {units} units: {destaged:.4} destaged, expected {expected:.4}");
        // Each of 100,000 writes lives or dies: four standard deviations.
        let spread = 4.0 * (expected * (1.0 - expected) / 1e5).sqrt();
        assert!((destaged - expected).abs() < spread, "{destaged} {expected} {spread}");
        // Write amplification counts what is destaged, and what of it is cleaned again.
        let moved: u64 = stats.ftl.moved_units.iter().sum();
        let programs: u64 = stats.flash.ops[OpKind::Program as usize].iter().sum();
        assert_eq!(programs, 100_000 + moved);
        assert_eq!(stats.ftl.slc_bypassed, 0);
    }
}

/// Where time passes, a host that is faster than destaging finds the cache full, and writes on to full blocks.
#[test]
fn a_fast_host_writes_past_a_full_cache() {
    let mut cfg = config("fixed", 60, 8);
    set(&mut cfg, "blocks_per_lane", Value::Integer(4));
    cfg.timing.t_program_us = vec![2_000.0];
    let mut drive = Drive::new(&cfg).unwrap();
    let sectors = drive.unit_bytes() / 512;
    for unit in 0..600u32 {
        while drive.outstanding() >= 16 {
            assert!(drive.advance_to_completion());
            while drive.pop_completion().is_some() {}
        }
        let lba = Lba(u64::from(unit) * u64::from(sectors));
        let command = Command { op: OpCode::Write, lba, sectors, arrival: drive.now(), ..Command::default() };
        drive.submit(0, &command, drive.now()).unwrap();
    }
    drive.drain();
    drive.check().unwrap();
    let stats = drive.stats();
    let destaged = stats.ftl.moved_units[Cause::Destage as usize];
    assert!(stats.ftl.slc_bypassed > 200, "{}", stats.ftl.slc_bypassed);
    assert!(destaged + stats.ftl.slc_bypassed + 4 * 8 >= 600, "{destaged} {}", stats.ftl.slc_bypassed);
}

/// Destaged data is sorted by the class of pages; what the host writes is not, and waits for nobody.
#[test]
fn destaged_data_goes_through_the_queues_of_classes() {
    let mut cfg = config("fixed", 60, 8);
    cfg.allocation.moves = MovesOfFirst::Joined;
    cfg.page_class.select("read_heat").unwrap();
    let mut drive = functional(&cfg);
    (0..64).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    let stats = drive.stats();
    let sorted = stats.ftl.class_matched + stats.ftl.class_neighbour;
    let destaged = stats.ftl.moved_units[Cause::Destage as usize];
    assert!(destaged > 0 && sorted == destaged, "{sorted} {destaged}");
    assert_eq!(stats.ftl.host_units, 64);
}

/// What was read of one block waits for what the next ones hold, so that each page finds data of its class: nearly all
/// does, of data of which each block of the cache holds one class, where the cache is larger than the queues.
#[test]
fn what_is_destaged_waits_from_one_block_to_the_next() {
    let mut cfg = config("fixed", 120, 8);
    set(&mut cfg, "blocks_per_lane", Value::Integer(24));
    cfg.allocation.moves = MovesOfFirst::Joined;
    cfg.page_class.select("read_heat").unwrap();
    let always = Value::List(vec![Value::Float(1.0); 3]);
    for (key, value) in [("p", always), ("decrease", Value::Text("rhwo".to_owned()))] {
        cfg.page_class.set(key, &value).unwrap();
    }
    let mut drive = functional(&cfg);
    for unit in 0..1_600 {
        send(&mut drive, OpCode::Write, unit);
        (0..unit / 8 % 4).for_each(|_| send(&mut drive, OpCode::Read, unit));
    }
    let stats = drive.stats();
    let sorted = stats.ftl.class_matched + stats.ftl.class_neighbour;
    println!("{} of {sorted} units destaged to pages of their class", stats.ftl.class_matched);
    assert!(sorted > 1_000 && stats.ftl.class_matched * 100 > sorted * 99);
    drive.check().unwrap();
}

/// A cache of four blocks of four units, and data that moves because of reads; blocks of one bit a cell endure so much
/// of what their part does.
fn reclaiming(read_endurance: f64, policy: &str) -> DriveConfig {
    let mut cfg = config("fixed", 40, 4);
    cfg.geometry.bits_per_cell = 3;
    set(&mut cfg, "blocks_per_lane", Value::Integer(4));
    cfg.read_reclaim.select(policy).unwrap();
    if cfg.read_reclaim.show("replica_limit").is_some() {
        cfg.read_reclaim.set("replica_limit", &Value::Integer(2)).unwrap();
    }
    cfg.slc.read_endurance = read_endurance;
    cfg
}

/// By hand, for a new block: the limits of its table are those of 64 cycles, which wear as much as 640 of one bit a
/// cell (`nand.slc.wear` = .1). 521,700 x .7783^(.64 - 2) = 733,530 effective reads; a neighbour's read counts 9.56 +
/// 1.48 (.64 - 2) = 7.547; 95 % of the quotient are 92,331 reads. A thousandth of that, half and twice as
/// much: 92, 46, 184.
#[test]
fn a_block_of_the_cache_leaves_at_the_limit_of_its_cells_whatever_the_policy() {
    for policy in ["block", "page_type", "straw", "lazy_exact", "redftl", "redftl_plus"] {
        if !has(&format!("ftl.read_reclaim.{policy}")) {
            continue;
        }
        for (read_endurance, expected) in [(0.001, 92), (0.0005, 46), (0.002, 184)] {
            let mut drive = functional(&reclaiming(read_endurance, policy));
            // One block is full, another is being filled.
            (0..6).for_each(|unit| send(&mut drive, OpCode::Write, unit));
            for (unit, leaves) in [(1, 1), (5, 2)] {
                let reads = (1..).find(|_| {
                    send(&mut drive, OpCode::Read, unit);
                    drive.stats().ftl.slc_destaged == leaves
                });
                assert_eq!(reads, Some(expected), "{policy}, unit {unit}, {read_endurance}");
                assert_eq!(drive.stats().ftl.reclaims, u64::from(leaves as u32), "{policy}");
                assert_eq!(in_cache(&mut drive, unit..unit + 1), [0_u32; 0], "{policy}");
                drive.check().unwrap();
            }
            let lost = drive.stats().ftl.lost_units;
            assert_eq!((drive.stats().ftl.moved_units[Cause::Destage as usize], lost), (6, 0), "{policy}");
        }
    }
}

/// Cells of one bit that endure few reads lose what is read beside them, and lose nothing where their blocks leave the
/// cache in time.
#[test]
fn what_the_host_reads_in_the_cache_is_lost_without_reclaim_alone() {
    let lost = |policy: &str| {
        let mut cfg = reclaiming(0.0001, policy);
        cfg.errors.model = ErrorModel::Cells;
        let mut drive = functional(&cfg);
        for round in 0..20 {
            (0..8).for_each(|unit| send(&mut drive, OpCode::Write, unit));
            (0..500).for_each(|read| send(&mut drive, OpCode::Read, (round + read / 100) % 8));
        }
        drive.check().unwrap();
        drive.stats().ftl.lost_units
    };
    assert!(lost("never") > 10, "{} lost", lost("never"));
    assert_eq!(lost("block"), 0);
}

/// A cycle of one bit a cell wears a tenth of another (`nand.slc.wear`), for the marker of ages too; cells that age and
/// others that do not agree on it.
#[test]
fn erases_of_the_cache_age_a_block_by_a_tenth() {
    if !has("ftl.age_marker") {
        return;
    }
    for cells in [ErrorModel::None, ErrorModel::Cells] {
        let mut cfg = config("fixed", 40, 4);
        cfg.geometry.bits_per_cell = 3;
        set(&mut cfg, "blocks_per_lane", Value::Integer(4));
        select(&mut cfg, "ftl.age_marker", "pe_cycles");
        cfg.section_mut("ftl.age_marker").unwrap().set("max_cycles", &Value::Integer(4_096)).unwrap();
        cfg.errors.model = cells;
        let mut drive = functional(&cfg);
        // All dies in the cache: nothing is destaged to full blocks.
        (0..4_000).for_each(|write| send(&mut drive, OpCode::Write, write % 2));
        let erases = drive.blocks().erase_counts();
        let most = (0..40).max_by_key(|&block| erases[block as usize]).unwrap();
        let (erased, age) = (erases[most as usize], drive.blocks().age_q12(most));
        assert!(erased > 200, "{erased} erases");
        assert!(age.abs_diff(erased / 10) <= 1, "{cells:?}: {erased} erases, an age of {age} cycles");
    }
}

/// What is old leaves the cache, from a block that is being filled, too.
#[test]
fn old_data_leaves_the_cache() {
    if !has("ftl.refresh") {
        return;
    }
    let mut cfg = config("fixed", 40, 4);
    cfg.geometry.bits_per_cell = 3;
    set(&mut cfg, "blocks_per_lane", Value::Integer(4));
    cfg.errors.model = ErrorModel::Cells;
    select(&mut cfg, "ftl.refresh", "by_age");
    let mut drive = functional(&cfg);
    (0..6).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    drive.age(&"retain 89 days at 30 C".parse().unwrap()).unwrap();
    assert_eq!(in_cache(&mut drive, 0..6), [0, 1, 2, 3, 4, 5]);
    drive.age(&"retain 2 days at 30 C".parse().unwrap()).unwrap();
    assert_eq!(in_cache(&mut drive, 0..6), [0_u32; 0]);
    drive.check().unwrap();
}

fn refused(cfg: &DriveConfig) -> String {
    cfg.validate().expect_err("it is refused").to_string()
}

#[test]
fn errors_name_what_a_cache_does_not_go_with() {
    let fixed = config("fixed", 40, 4);
    let mut cfg = fixed.clone();
    cfg.geometry.bits_per_cell = 1;
    assert!(refused(&cfg).contains("bits_per_cell of 2 to 4"));
    let mut cfg = fixed.clone();
    cfg.errors.model = ErrorModel::Cells;
    (cfg.cells, cfg.geometry.spare_bytes) = (CellPart::preset("qlc").unwrap(), 4_096);
    cfg.validate().unwrap();
    cfg.cells.modes.names = ["nominal", "a", "b", "c"].map(str::to_owned).to_vec();
    let modes = &mut cfg.cells.modes;
    for list in [
        &mut modes.voltage_scale,
        &mut modes.wear,
        &mut modes.program_time,
        &mut modes.pass_ratio,
        &mut modes.read_endurance,
        &mut modes.levels,
    ] {
        *list = vec![list[0]; 4];
    }
    assert!(refused(&cfg).contains("at most 3 besides SLC blocks"));
    // 40 blocks, 25 of data, 2 open, one in reserve, one to clean into: 11 are left over.
    let mut cfg = fixed;
    set(&mut cfg, "blocks_per_lane", Value::Integer(11));
    cfg.validate().unwrap();
    set(&mut cfg, "blocks_per_lane", Value::Integer(12));
    let text = refused(&cfg);
    assert!(
        text.contains("a cache of 12 blocks in each lane of 40") && text.contains("at most 11 blocks"),
        "{text}"
    );
}
