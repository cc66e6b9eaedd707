//! The table of blocks agrees with what else is told of them, whatever the policies.

use crate::support::{Load, small, with_every_policy};
use ssd::ftl::tables::blocks::BlockState;
use ssd::{BlockRow, Drive};

/// What is known of all blocks in other ways.
fn agrees(name: &str, drive: &Drive) -> Vec<BlockRow> {
    let (table, lanes) = (drive.blocks().table(), drive.blocks().lanes());
    assert_eq!(table.len(), lanes.erases.len() * lanes.blocks as usize, "{name}");
    assert!(table.is_sorted_by_key(|row| row.lane), "{name}: lane by lane");
    let live: u64 = table.iter().map(|row| u64::from(row.live_units)).sum();
    assert_eq!(live, lanes.live_units, "{name}");
    for (lane, erases) in lanes.erases.iter().enumerate() {
        let of_lane = table.iter().filter(|row| row.lane as usize == lane);
        assert_eq!(of_lane.map(|row| u64::from(row.erases)).sum::<u64>(), *erases, "{name}: lane {lane}");
    }
    let used = table.iter().filter(|row| row.state != BlockState::Bad).map(|row| row.erases);
    assert_eq!(used.collect::<Vec<_>>(), drive.blocks().erase_counts(), "{name}");
    let closed = table.iter().filter(|row| row.state == BlockState::Closed);
    let full: Vec<(u64, u32)> = closed.map(|row| (row.age_units.unwrap(), row.live_units)).collect();
    assert_eq!(full, drive.blocks().full(), "{name}");
    let programmed: u32 = table.iter().map(|row| row.programmed_units).sum();
    let chips = drive.chips();
    let pages: u32 = (0..chips.blocks()).map(|block| chips.programmed_pages(block)).sum();
    let units_per_page = drive.contents().units() / drive.blocks().pages() as u32;
    // Blocks that no lane has, of planes with fewer bad ones than others, are never programmed.
    assert_eq!(programmed, pages * units_per_page, "{name}");
    match drive.blocks().worst_disturb_q12() {
        None => assert!(table.iter().all(|row| row.disturbed_q12.is_none()), "{name}"),
        Some(worst) => {
            let most = table.iter().map(|row| row.disturbed_q12.expect("cells age")).max();
            assert!(most >= Some(worst), "{name}: {most:?}, {worst} of what lives");
        }
    }
    table
}

#[test]
fn a_fresh_drive_has_free_blocks_alone() {
    let drive = Drive::new(&small()).unwrap();
    for row in agrees("fresh", &drive) {
        assert_eq!(
            (row.state, row.live_units, row.programmed_units, row.erases),
            (BlockState::Free, 0, 0, 0)
        );
        assert_eq!((row.age_units, row.stream, row.disturbed_q12), (None, None, None));
    }
}

#[test]
fn the_table_of_blocks_agrees_with_the_rest() {
    let mut aged = 0;
    for (name, cfg) in with_every_policy() {
        let mut drive = Drive::new(&cfg).unwrap();
        let mut load = Load::new(7);
        for _ in 0..3 {
            load.run(&mut drive, 1_000);
            agrees(&name, &drive);
        }
        drive.drain();
        let table = agrees(&name, &drive);
        for row in &table {
            assert!(row.live_units <= row.programmed_units, "{name}: {row:?}");
            let is_full = matches!(
                row.state,
                BlockState::Closed | BlockState::Moving | BlockState::Migrating | BlockState::Draining
            );
            assert_eq!(row.age_units.is_some(), is_full, "{name}: {row:?}");
        }
        assert!(table.iter().any(|row| row.live_units > 0), "{name}");
        aged += u32::from(drive.chips().ages());
    }
    assert!(aged > 0);
}
