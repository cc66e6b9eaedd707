//! Pages that are to be locked and hold what lives, and blocks whose locks fail: both must be emptied first.

use super::{HOPELESS, Locks};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::{BlockState, Blocks};
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::units::{BlockId, LaneId};
use std::ops::Range;

/// Pages that may be on their way in a lane for their locks, beside those of other moves.
pub(in crate::ftl) const MOVES_FOR_LOCKS: u32 = 2;

/// Where the pages of a block stand in a table of all pages.
fn pages_of(layout: &Layout, block: BlockId) -> Range<usize> {
    let first = (block.0 * layout.pages_per_block) as usize;
    first..first + layout.pages_per_block as usize
}

impl Locks {
    /// Whether pages of a lane wait for room.
    #[inline]
    pub fn is_crowded(&self, lane: LaneId) -> bool {
        self.on && self.lanes[lane.index()].lacks_room
    }

    /// A block is looked at again when there are operations for its pages, or room that they lack.
    pub(in crate::ftl) fn wait_for_room(&mut self, lane: LaneId, block: BlockId, lacks_room: bool) {
        self.blocks[block.index()].lacks_room |= lacks_room;
        let lane = &mut self.lanes[lane.index()];
        lane.lacks_room |= lacks_room;
        if !lane.crowded.contains(&block) {
            lane.crowded.push_back(block);
        }
    }

    /// Whether blocks of a lane are to be emptied because locks fail.
    #[inline]
    pub fn has_hopeless(&self, lane: LaneId) -> bool {
        self.on && !self.lanes[lane.index()].hopeless.is_empty()
    }

    /// Whether a block still has pages that no lock helps.
    pub(in crate::ftl) fn is_hopeless(&self, layout: &Layout, block: BlockId) -> bool {
        self.pages[pages_of(layout, block)].iter().any(|state| state & HOPELESS != 0)
    }

    /// Whether something lies in a block out of use that no lock helps, and no erase.
    #[cold]
    pub fn has_given_up(&self, layout: &Layout, blocks: &Blocks) -> bool {
        let mut bad =
            (0..layout.blocks()).map(BlockId).filter(|&block| blocks.state(block) == BlockState::Bad);
        self.on && bad.any(|block| self.is_hopeless(layout, block))
    }

    /// A block is used no more: what is exposed there is locked as anywhere, for no erase will hide it.
    #[cold]
    pub fn hope_again(&mut self, layout: &Layout, block: BlockId) {
        if !self.manner.erases {
            self.pages[pages_of(layout, block)].iter_mut().for_each(|state| *state &= !HOPELESS);
        }
    }

    /// There may be room for what must leave pages of a lane.
    pub(in crate::ftl) fn uncrowd(&mut self, tables: &Tables, work: &mut Work, lane: LaneId) {
        self.lanes[lane.index()].lacks_room = false;
        if self.next_crowded(tables, work, lane).is_some() {
            self.look_soon(&mut work.looks, lane);
        }
    }

    /// The block of a lane whose pages have waited longest for what lives there to leave, if more may leave now.
    #[cold]
    pub(in crate::ftl) fn next_crowded(&self, tables: &Tables, work: &Work, lane: LaneId) -> Option<BlockId> {
        let is_busy = work.is_busy(&tables.layout, lane, MOVES_FOR_LOCKS);
        self.lanes[lane.index()].crowded.front().copied().filter(|_| !is_busy && !self.is_crowded(lane))
    }

    /// No lock holds in a block: it is emptied and erased.
    pub(in crate::ftl) fn give_up_block(&mut self, tables: &Tables, work: &mut Work, block: BlockId) {
        let lane = tables.layout.lane_of(block);
        let hopeless = &mut self.lanes[lane.index()].hopeless;
        if !hopeless.contains(&block) {
            hopeless.push_back(block);
        }
        work.looks.soon(lane);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Table;
    use crate::drive_config::DriveConfig;
    use crate::rng::Rng;
    use crate::{Command, Drive, Lba, OpCode, Pace};

    /// A lane of 96 blocks of 24 pages of four units, whose data is secured.
    fn config(policy: &str) -> DriveConfig {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (96, 8, 3);
        cfg.drive.over_provisioning_percent = 12.0;
        cfg.sanitize.select(policy).unwrap();
        cfg
    }

    /// Writes in no time by a host that takes all room leave pages exposed in every block.
    fn exposed(policy: &str) -> Drive {
        let mut drive = Drive::new(&config(policy)).unwrap();
        let (units, mut rng) = (drive.logical_units(), Rng::named(1, "past"));
        drive.fill(0, units).unwrap();
        for _ in 0..units / 256 {
            let batch: Vec<u32> = (0..256).map(|_| rng.below(units)).collect();
            drive
                .past()
                .overwrite(Pace::Saturated, &batch)
                .unwrap_or_else(|short| panic!("{policy}: {short:?}"));
        }
        drive
    }

    /// Looks at pages for each operation of a run of writes at random, so many at a time.
    fn looks_per_operation(drive: &mut Drive, at_a_time: usize) -> f64 {
        let (units, mut rng) = (drive.logical_units(), Rng::named(2, "now"));
        drive.reset_stats();
        drive.state.ftl.locks.looks = 0;
        for tag in 0..400 {
            let lba = Lba(8 * u64::from(rng.below(units)));
            let command =
                Command { op: OpCode::Write, lba, sectors: 8, tag, fua: true, ..Command::default() };
            drive.submit(0, &command, drive.now()).unwrap();
            while drive.outstanding() > at_a_time || tag == 399 && drive.outstanding() > 0 {
                assert!(drive.advance_to_completion(), "stuck");
                while drive.pop_completion().is_some() {}
            }
        }
        drive.check().unwrap();
        let operations: u64 = drive.stats().flash.ops.iter().flatten().sum();
        drive.state.ftl.locks.looks as f64 / operations as f64
    }

    /// However many blocks of a lane wait for room, an operation's end has those looked at that may find it: a few
    /// pages, and not those of all 96 blocks. Where pages are reprogrammed, many writes at a time make blocks wait.
    #[test]
    fn what_waits_for_room_is_not_looked_at_all_the_time() {
        let limits = [
            ("page_lock", 8, 4.0),
            ("page_and_block_lock", 8, 4.0),
            ("scrub", 8, 6.0),
            ("reprogram", 8, 2.0),
            ("reprogram", 200, 16.0),
        ];
        let looks = limits.map(|(policy, at_a_time, _)| looks_per_operation(&mut exposed(policy), at_a_time));
        let is_within = |(looks, (_, _, limit)): (&f64, (_, _, f64))| *looks < limit;
        assert!(looks.iter().zip(limits).all(is_within), "looks for an operation: {looks:?} of {limits:?}");
    }

    /// Nothing of the past is left to be locked where it was written in no time.
    #[test]
    fn what_was_exposed_in_no_time_is_locked_in_no_time() {
        for policy in ["page_lock", "page_and_block_lock", "scrub", "reprogram", "erase"] {
            let mut drive = exposed(policy);
            while drive.past().catch_up(Pace::Saturated) {}
            drive.check().unwrap();
            assert_eq!(drive.state.ftl.locks.generations.exposed(), 0, "{policy}");
        }
    }
}
