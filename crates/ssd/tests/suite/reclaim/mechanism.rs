//! What `block` and `page_type` move, and when: by hand.

use crate::reclaim::support::*;
use ssd::config::Value;
use ssd::flash::op::{Cause, OpKind};
use ssd::{Drive, Executor, OpCode, Status};

fn reclaims(drive: &Drive) -> u64 {
    drive.stats().pages_programmed(Cause::ReadReclaim)
}

/// A hundred reads at 90 %: nothing moves at the 89th read of a block, everything that lives in it at the 90th; the
/// block is erased and its count begins anew. What was trimmed is not copied.
#[test]
fn block_moves_what_lives_in_a_block_at_its_limit() {
    let values = [("max_reads", integer(100)), ("threshold_percent", Value::Float(90.0))];
    let mut drive = filled(&config("block", &values), Executor::Functional);
    drive.record_effects(true);
    for unit in 8..18 {
        assert_eq!(act(&mut drive, OpCode::Trim, unit), Status::Ok);
    }
    let erases = drive.chips().erase_count(0);
    (0..89).for_each(|n| assert_eq!(read(&mut drive, n % 8), Status::Ok));
    assert_eq!((moved(&mut drive), drive.chips().erase_count(0)), (vec![], erases));
    read(&mut drive, 3);
    let expected: Vec<_> =
        (0..PAGES).filter(|unit| !(8..18).contains(unit)).map(|unit| (unit, unit)).collect();
    assert_eq!((moved(&mut drive), drive.chips().erase_count(0)), (expected, erases + 1));
    let stats = drive.stats();
    assert_eq!((reclaims(&drive), stats.ftl.reclaimed_pages, stats.ftl.premature_pages), (38, 38, 38));
    assert_eq!(stats.flash.ops[OpKind::Erase as usize][Cause::ReadReclaim as usize], 1);
    // Where they are now they were read once, and can be read 89 times; the mover's reads were of the old block.
    (0..89).for_each(|n| assert_eq!(read(&mut drive, n % 8), Status::Ok));
    assert_eq!(moved(&mut drive), vec![]);
    drive.check().unwrap();
}

/// `effective`: a read counts by its page type, beta of TLCopt .78, 1 and .79. 100 reads of LSB pages are 78: the limit
/// of 90 is reached by the 116th of them (.78 is 200/256, rounded up: 115.2) or the 90th of CSB pages.
#[test]
fn block_weighs_page_types() {
    for (page_type, reads) in [(0, 116), (1, 90), (2, 114)] {
        let values = [
            ("max_reads", integer(100)),
            ("threshold_percent", Value::Float(90.0)),
            ("effective", Value::Bool(true)),
        ];
        let mut cfg = config("block", &values);
        cfg.cells.disturb.page_weights = vec![0.78, 1.0, 0.79];
        let mut drive = filled(&cfg, Executor::Functional);
        let found = (1..).find(|_| {
            read(&mut drive, 6 + page_type);
            reclaims(&drive) > 0
        });
        assert_eq!(found, Some(reads), "page type {page_type}");
        assert_eq!(reclaims(&drive), u64::from(PAGES));
    }
}

/// By the part's own limit: what the worst wordline stands when all reads are of its neighbour, at the end of the bin
/// of 64 cycles.
#[test]
fn block_takes_its_limit_from_the_part() {
    let cfg = config("block", &[]);
    let limit = libm::floor(model(&cfg).block_reads_max(2.048 - 0.064 + 0.064) * 0.95) as u32;
    let mut drive = filled(&cfg, Executor::Functional);
    (1..limit).for_each(|_| assert_eq!(read(&mut drive, 4), Status::Ok));
    assert_eq!(reclaims(&drive), 0);
    read(&mut drive, 4);
    assert_eq!(reclaims(&drive), u64::from(PAGES), "limit {limit}");
}

/// 100 reads times 1.0, 1.1 and 1.2: the pages of each type leave at the 100th, 110th and 120th read, once, and only
/// they; the mover's 16 reads count, so that the host makes 16 fewer each time. The empty block is erased.
#[test]
fn page_type_moves_each_type_at_its_limit() {
    let values = [("max_reads", integer(100)), ("threshold_percent", Value::Float(100.0))];
    let mut cfg = config("page_type", &values);
    let factors = Value::List(vec![Value::Float(1.0), Value::Float(1.3), Value::Float(1.6)]);
    select(&mut cfg, "page_type", &[("type_factors", factors)]);
    let mut drive = filled(&cfg, Executor::Functional);
    drive.record_effects(true);
    let erases = drive.chips().erase_count(0);
    let mut reads = 0;
    for (page_type, at) in [(0, 100), (1, 130 - 16), (2, 160 - 32)] {
        while reads + 1 < at {
            read(&mut drive, 5);
            reads += 1;
            assert_eq!(moved(&mut drive), vec![], "at read {reads}");
        }
        read(&mut drive, 5);
        reads += 1;
        let pages = (0..WORDLINES).map(|wordline| 3 * wordline + page_type);
        assert_eq!(moved(&mut drive), pages.map(|page| (page, page)).collect::<Vec<_>>(), "at read {reads}");
    }
    assert_eq!(drive.chips().erase_count(0), erases + 1);
    assert_eq!(reclaims(&drive), u64::from(PAGES));
    drive.check().unwrap();
}

/// A block that is being filled is left alone as long as nothing must leave it, and closed when something must.
#[test]
fn a_block_being_filled_is_closed_only_if_it_must_be() {
    let mut drive = Drive::new(&straw("exact")).unwrap();
    drive.set_executor(Executor::Functional);
    // Units 0 to 7: wordlines 0 and 1 of the first block, and a part of wordline 2.
    drive.fill(0, 8).unwrap();
    drive.record_effects(true);
    let is_closed = |drive: &mut Drive| {
        drive.fill(60, 1).unwrap();
        let pages = drive.chips().programmed_pages(0);
        let found = drive.chips().programmed_pages(1);
        (pages, found)
    };
    (0..400).for_each(|_| assert_eq!(read(&mut drive, 4), Status::Ok));
    assert_eq!((moved(&mut drive), is_closed(&mut drive)), (vec![], (9, 0)));
    // Neighbours of wordline 1: wordline 0 is of the worst group, what is written of wordline 2 goes later.
    (0..1_500).for_each(|_| assert_eq!(read(&mut drive, 4), Status::Ok));
    let left = moved(&mut drive);
    assert_eq!(left, [0, 1, 2, 6, 7, 60].map(|unit| (unit, unit.min(8))));
    assert_eq!(is_closed(&mut drive).0, 9);
    assert_eq!(drive.stats().ftl.lost_units, 0);
    drive.check().unwrap();
}

/// What is written beside a wordline that was read a lot before would be lost at once: the block is closed in time.
#[test]
fn nothing_is_written_where_reads_have_been() {
    for (policy, values) in [("straw", vec![("check_interval", integer(10))]), ("lazy_exact", vec![])] {
        let mut drive = Drive::new(&config(policy, &values)).unwrap();
        drive.set_executor(Executor::Functional);
        // Wordline 0 alone.
        drive.fill(0, 3).unwrap();
        (0..3_000).for_each(|_| assert_eq!(read(&mut drive, 1), Status::Ok));
        drive.fill(3, 60).unwrap();
        (0..63).for_each(|unit| assert_eq!(read(&mut drive, unit), Status::Ok, "{policy}: unit {unit}"));
        assert_eq!(drive.stats().ftl.lost_units, 0);
        assert_eq!(drive.chips().programmed_pages(0), 3, "{policy}");
    }
}

/// Reads in bulk (`disturb`) are told to the policy: what is due then moves with the next command.
#[test]
fn bulk_reads_count() {
    for (policy, values) in [
        ("block", vec![("max_reads", integer(400))]),
        ("straw", vec![("check_interval", integer(10))]),
        // Of some 546 reads that a neighbour stands, for one more page.
        ("lazy_exact", vec![("ahead_reads", integer(1))]),
    ] {
        let mut drive = filled(&config(policy, &values), Executor::Functional);
        drive.age(&"disturb 520 reads of wordline 1".parse().unwrap()).unwrap();
        assert_eq!(reclaims(&drive), 0);
        assert_eq!(read(&mut drive, 0), Status::Ok);
        let (expected, stats) = (reclaims(&drive), drive.stats());
        assert_eq!(expected > 0, policy != "lazy_exact", "{policy}");
        assert_eq!((stats.ftl.lost_units, stats.host.uncorrectable), (0, 0));
        drive.age(&"cycle to 2500".parse().unwrap()).unwrap();
        assert_eq!(drive.blocks().worst_disturb_q12().map(|worst| worst < 100), Some(true), "{policy}");
    }
}
