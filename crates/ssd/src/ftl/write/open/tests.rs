//! Which page is next, and what is kept for whom.

use super::*;
use crate::drive_config::DriveConfig;
use crate::nand::Chip;

const LANE: LaneId = LaneId(0);

/// A lane of six free blocks of four pages that have seen so many erases; a stream of the host's and one of moves.
fn six_blocks(reserve: u32, erases: [u32; 6]) -> (Layout, Blocks, Allocator) {
    six_blocks_for(Streams::of(2, 1, 2), reserve, erases)
}

fn six_blocks_for(streams: Streams, reserve: u32, erases: [u32; 6]) -> (Layout, Blocks, Allocator) {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (6, 4, 1);
    let chip = Chip::new(1, 6, 4, &cfg.reliability, 1);
    let layout = Layout::new(&cfg, &chip);
    let blocks = Blocks::new(&layout, erases.into_iter());
    let modes = ProgramModes::new(&cfg, &cfg.program_mode);
    let streams = (streams, [0; STREAMS_AT_MOST]);
    let allocator = Allocator::new(&layout, reserve, streams, modes);
    (layout, blocks, allocator)
}

#[test]
fn a_claimed_block_is_for_moves_alone() {
    let (_, mut blocks, mut allocator) = six_blocks(1, [0; 6]);
    let [host, moved] = [0, 1].map(StreamId);
    assert_eq!(allocator.room(LANE, false), 4);
    assert!(allocator.claim(LANE, false));
    assert_eq!(allocator.room(LANE, false), 8);
    // What is left in a block of the host's is no room: the host may fill it first. Four of the six are its own.
    assert!(allocator.host_page_in(LANE, host, &mut blocks, 0).is_some_and(|found| found.opened));
    assert_eq!(allocator.room(LANE, false), 8);
    let mut pages = 1;
    while allocator.host_page_in(LANE, host, &mut blocks, 0).is_some() {
        pages += 1;
    }
    assert_eq!((pages, allocator.free(LANE), allocator.has_host_page(LANE, host)), (16, 2, false));
    // Once moves have opened it, it is claimed no more, and what is left in it is room.
    assert!(allocator.page_in(LANE, moved, 0, &mut blocks, 0).is_some_and(|found| found.opened));
    assert_eq!((allocator.room(LANE, false), allocator.unclaim(LANE)), (3 + 4, false));
    assert!(!allocator.has_host_page(LANE, host));
    // With no more than the reserve left there is nothing to claim.
    assert!(!allocator.claim(LANE, false));
    assert_eq!((allocator.room(LANE, false), allocator.unclaim(LANE)), (3 + 4, false));
    // One that is coming is kept as well, and no second one.
    assert!(allocator.claim(LANE, true) && !allocator.claim(LANE, true));
    assert_eq!(allocator.room(LANE, false), 3 + 4, "it is not there yet");
    allocator.give_back(LANE, BlockId(0), &mut blocks);
    assert_eq!((allocator.room(LANE, false), allocator.has_host_page(LANE, host)), (3 + 8, false));
    allocator.give_back(LANE, BlockId(1), &mut blocks);
    assert_eq!((allocator.room(LANE, false), allocator.has_host_page(LANE, host)), (3 + 8, true));
}

/// Moves that share the host's block have it to themselves while they have taken of the reserve: nobody closes it
/// for other ends.
#[test]
fn a_shared_block_is_kept_while_the_reserve_is_not_whole() {
    let (_, mut blocks, mut allocator) = six_blocks_for(Streams::of(1, 1, 1), 1, [0; 6]);
    let shared = StreamId(0);
    let first = allocator.host_page_in(LANE, shared, &mut blocks, 0).unwrap().page;
    let open = BlockId(first.0 / 4);
    assert!(allocator.is_open_for_host(LANE, open, false) && !allocator.is_open_for_host(LANE, open, true));
    (0..19).for_each(|_| assert!(allocator.host_page_in(LANE, shared, &mut blocks, 0).is_some()));
    assert_eq!((allocator.free(LANE), allocator.has_host_page(LANE, shared)), (1, false));
    let last = allocator.page_in(LANE, shared, 0, &mut blocks, 0).unwrap();
    let last = BlockId(last.page.0 / 4);
    assert_eq!((allocator.free(LANE), allocator.room(LANE, false)), (0, 3));
    assert!(!allocator.is_open_for_host(LANE, last, false));
    allocator.give_back(LANE, open, &mut blocks);
    assert!(allocator.is_open_for_host(LANE, last, false));
}

/// The block that a stream opens, as it was told beforehand; it is given up again.
fn next_block(layout: &Layout, (allocator, blocks): (&mut Allocator, &mut Blocks), stream: StreamId) -> u32 {
    let expected = allocator.peek(LANE, stream, blocks);
    let page = allocator.page_in(LANE, stream, 0, blocks, 0).map(|found| found.page);
    assert_eq!(page, expected);
    let block = layout.block_of_page(page.unwrap()).0;
    allocator.abandon(LANE, block, blocks, 0);
    block.0
}

/// Cold data goes where the wear is; all else where the queue of free blocks begins.
#[test]
fn cold_data_opens_the_most_worn_free_block() {
    let (layout, mut blocks, mut allocator) = six_blocks(0, [3, 7, 1, 9, 9, 0]);
    let mut opened = |stream| next_block(&layout, (&mut allocator, &mut blocks), stream);
    let [host, moved, cold] = [0, 1, 2].map(StreamId);
    // Of 3 and 4, which are equal, the one that has been free for longer.
    assert_eq!([cold, host, cold, cold, moved].map(&mut opened), [3, 0, 4, 1, 2]);
}

/// Where ages are told, it goes to the oldest: that is not the one with the most erases.
#[test]
fn cold_data_opens_the_oldest_free_block() {
    let (layout, mut blocks, mut allocator) = six_blocks(0, [3, 7, 1, 9, 9, 0]);
    (0..).zip([5, 90, 80, 70, 60, 90]).for_each(|(block, age)| blocks.set_wear_q12(BlockId(block), age));
    let mut opened = |stream| next_block(&layout, (&mut allocator, &mut blocks), stream);
    let cold = StreamId(2);
    assert_eq!([cold; 4].map(&mut opened), [1, 5, 2, 3]);
}

/// With dynamic wear leveling other data goes where there is the least wear.
#[test]
fn dynamic_wear_leveling_opens_the_least_erased_free_block() {
    let (layout, mut blocks, allocator) = six_blocks(0, [3, 7, 1, 9, 1, 0]);
    let mut allocator = allocator.by_wear(true);
    let [host, moved, cold] = [0, 1, 2].map(StreamId);
    let mut opened = |stream| next_block(&layout, (&mut allocator, &mut blocks), stream);
    // Of 2 and 4, which are equal, the one that has been free for longer.
    assert_eq!([host, moved, cold, host].map(&mut opened), [5, 2, 3, 4]);
    assert_eq!(allocator.take_block(LANE, 0, 0, (&mut blocks, 0)), Some(BlockId(0)));
}
