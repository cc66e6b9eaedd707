//! Pages that are to be locked and hold what lives, and blocks whose locks fail: both must be emptied first.

use super::{HOPELESS, LEAVING, Locks};
use crate::flash::Flash;
use crate::flash::op::{Cause, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::Ftl;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::{BlockState, Blocks};
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::write::waits::Lack;
use crate::units::{BlockId, LaneId, Ppn, Pun};
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
    fn wait_for_room(&mut self, lane: LaneId, block: BlockId, lacks_room: bool) {
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
        if !self.erases {
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

impl Ftl {
    /// What lives in a page moves elsewhere in its lane; if there is no room, when there is.
    pub(super) fn move_out(&mut self, flash: &mut Flash, lane: LaneId, page: Ppn) {
        let block = self.tables.layout.block_of_page(page).0;
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let mut count = 0;
        let first = page.0 * self.tables.layout.units_per_page;
        for unit in (first..first + self.tables.layout.units_per_page)
            .filter(|&unit| self.tables.map.is_live(Pun(unit)))
        {
            units[count] = self.tables.unit_at(unit);
            count += 1;
        }
        let is_busy = self.work.is_busy(&self.tables.layout, lane, MOVES_FOR_LOCKS);
        if is_busy || !self.has_room_beside(lane, count as u32) {
            return self.locks.wait_for_room(lane, block, !is_busy);
        }
        let before = self.locks.pages[page.index()];
        self.locks.pages[page.index()] |= LEAVING;
        let is_new = self.locks.is_leaving(before | LEAVING) && !self.locks.is_leaving(before);
        self.locks.leaving += u32::from(is_new);
        self.work.counts.sanitize_copies += count as u64;
        self.tables.blocks.set_cause(block, Cause::Sanitize);
        let mut op = self.op_of_move(flash, OpKind::Read, Cause::Sanitize, page, lane);
        self.reclaim.note_read(&self.tables, &mut self.work, flash, &op);
        self.tables.blocks.leave(block, count as u32);
        if self.issue_move(flash, lane, &mut op, &units[..count]) {
            self.take_read(lane, (Cause::Sanitize, page, op.outcome), &units[..count]);
            if self.work.lanes[lane.index()].full_pages(self.tables.layout.units_per_page) > 0 {
                self.program_all_gathered(flash, lane, false);
            }
        }
    }

    /// The wordline of a page of a block that is being filled is finished: with nothing. Of a block that moves fill
    /// only if they do not need what is left there.
    pub(super) fn pad(&mut self, flash: &mut Flash, lane: LaneId, page: Ppn) {
        let (block, last) = (
            self.tables.layout.block_of_page(page).0,
            self.locks.pages_of_wordline(&self.tables.layout, page).last(),
        );
        // Wordlines that are filled up go beyond what moves may have on their way, two at most.
        if self.work.is_busy(&self.tables.layout, lane, MOVES_FOR_LOCKS + self.locks.pages_filled_up()) {
            return self.locks.wait_for_room(lane, block, false);
        }
        let first = block.0 * self.tables.layout.pages_per_block;
        let streams = self.space.allocator.streams();
        let is_of_host = |stream| streams.is_of_host(stream) && !streams.is_shared(stream);
        if let (Some(stream), Some(next), Some(last)) =
            (self.space.allocator.stream_of(lane, block), self.space.allocator.filled(lane, block), last)
            && !is_of_host(stream)
            && !self.has_room_beside(
                lane,
                (last.0 + 1).saturating_sub(first + next) * self.tables.layout.units_per_page,
            )
        {
            return self.locks.wait_for_room(lane, block, true);
        }
        while let Some(stream) = self.space.allocator.stream_of(lane, block)
            && self.space.allocator.filled(lane, block).is_some_and(|next| Some(Ppn(first + next)) <= last)
        {
            let Some(found) =
                self.space.allocator.page_in(lane, stream, 0, &mut self.tables.blocks, self.tables.clock)
            else {
                return;
            };
            self.work.counts.padded_units += u64::from(self.tables.layout.units_per_page);
            let op = self.op_of_move(flash, OpKind::Program, Cause::Sanitize, found.page, lane);
            let mut op = self.tables.bound_for(block, op);
            if is_of_host(stream) {
                // Behind the host's own, which may not be carried out yet.
                self.begin_move(flash, lane, op, &[]);
            } else {
                self.program_moved(flash, lane, &mut op, &mut []);
            }
        }
    }

    /// Whether so many units find room beside the reserve: cleaning must be able to go on after them. Blocks that are
    /// being emptied, and have room for what still lives there, will be of the reserve: those that it lacks, and one
    /// more, which is kept from the host.
    fn has_room_beside(&mut self, lane: LaneId, units: u32) -> bool {
        let (reserve, free) = (self.work.reserve, self.space.allocator.free(lane));
        let lacking = reserve.saturating_sub(free);
        let coming = self.work.lanes[lane.index()].coming.min(reserve);
        let block = self.tables.layout.data_units_per_block();
        let one_more = if coming > lacking && free <= reserve { block } else { 0 };
        self.has_room_or_claims(lane, units + (reserve - coming.min(lacking)) * block, one_more)
    }

    /// Whether so many units find room, if need be in a free block that is kept from the host for them, or in one with
    /// room for so many of them that is coming.
    pub(in crate::ftl) fn has_room_or_claims(&mut self, lane: LaneId, units: u32, coming: u32) -> bool {
        if self.work.has_room(&self.tables, &self.space.allocator, lane, units, Cause::Sanitize) {
            return true;
        }
        let is_new = self.space.allocator.claim(lane, coming > 0);
        let has_room =
            self.work.has_room(&self.tables, &self.space.allocator, lane, units - coming, Cause::Sanitize);
        if !has_room && is_new {
            self.space.allocator.unclaim(lane);
        }
        has_room
    }

    /// The host lacks a page: no block is kept from it for what must leave pages, if one was. It goes on then.
    #[cold]
    pub(in crate::ftl) fn give_up_claims(&mut self) {
        if !self.space.allocator.has_claims() {
            return;
        }
        for lane in (0..self.tables.layout.lanes).map(LaneId) {
            if !self.work.lane_mut(lane).is_moving() && self.space.allocator.unclaim(lane) {
                self.waits.come(Lack::Page);
            }
        }
    }

    /// Begins to empty the next block whose locks fail; one that is being filled is closed.
    #[cold]
    pub(in crate::ftl) fn start_hopeless(&mut self, lane: LaneId) -> bool {
        if self.space.ring.coming(&self.work, lane) >= self.work.coming_at_most {
            return false;
        }
        for _ in 0..self.locks.lanes[lane.index()].hopeless.len() {
            let Some(block) = self.locks.lanes[lane.index()].hopeless.pop_front() else { return false };
            if !self.locks.is_hopeless(&self.tables.layout, block)
                || self.tables.blocks.state(block) == BlockState::Bad
            {
                continue;
            }
            if self.tables.blocks.state(block) == BlockState::Open {
                if !self.may_close_early(lane, block) {
                    // What is cleaned fills it, or makes room.
                    let locks = &mut self.locks.lanes[lane.index()];
                    locks.lacks_room = true;
                    locks.hopeless.push_back(block);
                    continue;
                }
                self.close_early(block);
            }
            if self.tables.blocks.is_stale(block) && self.space.allocator.take_from_free(lane, block) {
                // Whoever waits for what is exposed there may be who would have opened it.
                self.tables.blocks.wait_no_more(block);
            }
            let is_still = self.tables.blocks.state(block) == BlockState::Closed
                && self.tables.blocks.programming(block) == 0
                && !self.tables.blocks.is_failing(block);
            // With replicas that have become pages more may live there than moves are always sure of.
            let (live, sure) = (
                self.tables.blocks.live(block),
                self.work.reserve * self.tables.layout.data_units_per_block(),
            );
            let may_begin = is_still
                && match live {
                    0 => true,
                    _ if live > sure => self.has_room_or_claims(lane, live, 0),
                    _ => self.work.has_room(&self.tables, &self.space.allocator, lane, live, Cause::Sanitize),
                };
            if may_begin {
                // One of the cache of host writes comes back to its ring.
                let is_one_bit = self.tables.blocks.is_one_bit(block);
                return if is_one_bit {
                    self.destage(lane, block)
                } else {
                    self.begin(lane, block, Cause::Sanitize)
                };
            }
            self.locks.lanes[lane.index()].hopeless.push_back(block);
        }
        false
    }

    /// Whether what lives in a block that is being filled finds room elsewhere: where moves fill it, its own is lost.
    fn may_close_early(&self, lane: LaneId, block: BlockId) -> bool {
        let streams = self.space.allocator.streams();
        let is_of_moves = |stream| !streams.is_of_host(stream) || streams.is_shared(stream);
        let filled =
            self.space.allocator.filled(lane, block).unwrap_or_default() * self.tables.layout.units_per_page;
        let lost = match self.space.allocator.stream_of(lane, block) {
            Some(stream) if is_of_moves(stream) => self.tables.layout.data_units_per_block() - filled,
            _ => 0,
        };
        self.work.has_room(
            &self.tables,
            &self.space.allocator,
            lane,
            self.tables.blocks.live(block) + lost,
            Cause::Sanitize,
        )
    }

    /// A block that is being filled is filled no further.
    pub(super) fn close_early(&mut self, block: BlockId) {
        let lane = self.tables.layout.lane_of(block);
        self.tables.replicas.close_off(&self.tables.layout, block);
        if self.tables.blocks.is_one_bit(block) {
            self.space.ring.abandon(lane, block, &mut self.tables.blocks, self.tables.clock);
        } else {
            self.space.allocator.abandon(lane, block, &mut self.tables.blocks, self.tables.clock);
        }
    }

    /// Somebody waits for locks and nothing goes on: whatever waits for room is tried again. Returns whether that
    /// helps.
    pub fn retry_locks(&mut self, flash: &mut Flash) -> bool {
        self.locks.hurry_deferred(&self.tables, &mut self.work);
        (0..self.tables.layout.blocks())
            .map(BlockId)
            .for_each(|block| self.locks.list_all(&self.tables, &mut self.work, block));
        for lane in (0..self.tables.layout.lanes).map(LaneId) {
            self.locks.uncrowd(&self.tables, &mut self.work, lane);
            self.check_lane(flash, lane);
            self.program_all_gathered(flash, lane, true);
        }
        self.look_at_candidates(flash);
        !self.outbox.is_empty()
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
            while drive.past().settle(Pace::Saturated) {}
            drive.check().unwrap();
            assert_eq!(drive.state.ftl.locks.exposed(), 0, "{policy}");
        }
    }
}
