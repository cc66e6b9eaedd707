//! Erases of members, ages, and what is checked of a block.

use super::*;
use crate::drive_config::DriveConfig;
use crate::nand::Chip;

/// Two lanes of eight blocks, each over the four planes of a die.
fn blocks() -> (Layout, Blocks) {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 4);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (8, 4, 1);
    cfg.allocation.superblock = crate::sections::Superblock::Planes;
    let chip = Chip::new(8, 8, 4, &cfg.reliability, 1);
    let layout = Layout::new(&cfg, &chip);
    let blocks = Blocks::new(&layout, (0..layout.blocks()).map(|_| 5));
    (layout, blocks)
}

#[test]
fn an_erase_of_all_members_counts_once() {
    let (layout, mut blocks) = blocks();
    let block = BlockId(3);
    blocks.erase_issued(block, layout.span);
    let last: Vec<bool> = (0..layout.span).map(|_| blocks.erase_done(block, false)).collect();
    assert_eq!(last, [false, false, false, true]);
    assert_eq!((blocks.erase_count(block), blocks.erase_count(BlockId(4))), (6, 5));
}

#[test]
fn a_block_is_bad_if_the_erase_of_any_member_fails() {
    for fails in [None, Some(0), Some(2), Some(3)] {
        let (layout, mut blocks) = blocks();
        let block = BlockId(3);
        blocks.erase_issued(block, layout.span);
        (0..layout.span).for_each(|member| _ = blocks.erase_done(block, fails == Some(member)));
        assert_eq!(blocks.is_failing(block), fails.is_some(), "{fails:?}");
    }
}

#[test]
fn a_block_is_as_old_as_when_it_was_last_filled() {
    let (layout, mut blocks) = blocks();
    let age = |blocks: &Blocks, now| blocks.lane_view(&layout, LaneId(1), now).age(2);
    let block = BlockId(layout.blocks_per_lane + 2);
    blocks.close(block, 100);
    assert_eq!(age(&blocks, 130), 30);
    blocks.set_state(block, BlockState::Open);
    blocks.close(block, 400);
    assert_eq!(age(&blocks, 430), 30);
}

#[test]
fn a_block_is_changed_when_it_is_filled_and_when_a_unit_of_it_dies() {
    let (layout, mut blocks) = blocks();
    let unchanged = |blocks: &Blocks, now| blocks.lane_view(&layout, LaneId(1), now).unchanged(2);
    let block = BlockId(layout.blocks_per_lane + 2);
    (0..2).for_each(|_| blocks.gain(block));
    blocks.close(block, 100);
    assert_eq!(unchanged(&blocks, 130), 30);
    blocks.lose(block, 120);
    assert_eq!(unchanged(&blocks, 130), 10);
    assert_eq!(blocks.lane_view(&layout, LaneId(1), 130).age(2), 30, "its age is what it was");
}

#[test]
fn what_is_known_of_a_block_is_checked() {
    let (_, mut blocks) = blocks();
    let block = BlockId(0);
    blocks.program_issued(block);
    assert!(blocks.check(block, (0, 0)).unwrap_err().contains("its count says 1"));
    assert_eq!(blocks.check(block, (1, 0)), Ok(()));
    blocks.program_done(block);
    blocks.close(block, 1);
    assert_eq!(blocks.check(block, (0, 0)), Ok(()));
    assert!(blocks.check(block, (0, 1)).unwrap_err().contains("1 erases of block 0"));
    blocks.live[0] |= NOT_ELIGIBLE;
    assert!(blocks.check(block, (0, 0)).unwrap_err().contains("is Closed"));
}
