//! What becomes of blocks that fail, and when erases are urgent.

use super::*;
use crate::Drive;
use crate::drive_config::DriveConfig;
use crate::ftl::work::candidates::Candidate;

/// One lane of 16 blocks of two planes.
fn drive() -> Drive {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (16, 4, 1);
    cfg.drive.over_provisioning_percent = 100.0;
    Drive::new(&cfg).unwrap()
}

/// A block that fails a program is filled no further, but for the last that moves have.
#[test]
fn moves_fill_their_last_block_though_it_has_failed() {
    for (free, is_filled_on) in [(0, true), (1, false)] {
        let mut drive = drive();
        let ftl = &mut drive.state.ftl;
        let moved = StreamId(ftl.moves.media.space.allocator.streams().of_moves.trailing_zeros() as u8);
        let page = ftl
            .moves
            .media
            .space
            .move_target(&mut ftl.moves.media.tables, ftl.moves.media.work.reserve, LaneId(0), moved)
            .unwrap()
            .page;
        while ftl.moves.media.space.allocator.free(LaneId(0)) > free {
            ftl.moves
                .media
                .space
                .allocator
                .take_block(LaneId(0), 0, 0, (&mut ftl.moves.media.tables.blocks, 0))
                .unwrap();
        }
        let block = ftl.moves.media.tables.layout.block_of_page(page).0;
        ftl.moves.media.tables.blocks.program_issued(block);
        ftl.moves.media.after_program(block, true);
        assert!(ftl.moves.media.tables.blocks.is_failing(block));
        assert_eq!(
            ftl.moves.media.space.allocator.filled(LaneId(0), block).is_some(),
            is_filled_on,
            "{free} blocks free"
        );
    }
}

/// An erase is urgent where what reads have made due waits for the room that it makes, and only there.
#[test]
fn erases_are_due_where_room_is_urgent() {
    for (lacks_room, waits) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut drive = drive();
        let (ftl, flash) = (&mut drive.state.ftl, &mut drive.state.flash);
        let work = ftl.moves.media.work.lane_mut(LaneId(0));
        work.candidates.lacks_room = lacks_room;
        if waits {
            work.candidates.now.push_back(Candidate { block: BlockId(1), member: 0 });
        }
        ftl.moves.media.tables.blocks.start_moving(BlockId(0), Cause::Cleaning);
        ftl.moves.media.empty(flash, BlockId(0));
        let due: Vec<bool> = ftl.moves.media.outbox.iter().map(|&id| flash.pool.get(id).due).collect();
        assert_eq!(due, [lacks_room && waits; 2]);
    }
}
