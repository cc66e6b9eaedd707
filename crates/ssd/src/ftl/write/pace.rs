//! Host writes at the pace of cleaning (`ftl.cleaning.paces_host`): the room that comes of a block is the host's page
//! by page, as the block is emptied, and not all at once when it is erased.
//!
//! A lane's room is what is left in its open blocks, in its free ones, and in those being cleaned as far as they have
//! been read. Cleaning a block raises it by what was dead there, bit by bit. The host waits while it is no more than
//! the reserve and a block: so when it has filled a block another is there, or is as soon as the block is erased that
//! is being cleaned. Where it may fill whatever is there, it then waits until a whole block's worth of dead pages is
//! found: for all the blocks that they lie in.

use crate::flash::op::Cause;
use crate::ftl::stream::StreamId;
use crate::ftl::tables::blocks::Blocks;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::work::job::Job;
use crate::ftl::write::open::Allocator;
use crate::units::LaneId;

impl Allocator {
    /// Whether the host has to wait before it takes more pages of a lane for a stream. Pages that the chips can program
    /// together are taken together, and nobody waits for nothing: an operation of the lane is under way, and when that
    /// has ended this is asked again.
    #[inline(never)]
    pub(in crate::ftl) fn holds_host_back(
        &self,
        (layout, blocks): (&Layout, &Blocks),
        work: &Work,
        lane: LaneId,
        stream: StreamId,
    ) -> bool {
        if self.free(lane) > work.reserve + 1 || work.is_still(lane) {
            return false;
        }
        let left = self.left(lane, stream);
        self.is_at_first_of(layout.abreast, lane, stream)
            && self.is_behind((layout, blocks), work, lane, left)
    }

    /// Whether cleaning of a lane is behind the host, which has so many pages left in its block.
    fn is_behind(&self, (layout, blocks): (&Layout, &Blocks), work: &Work, lane: LaneId, left: u32) -> bool {
        let moves = &work.lanes[lane.index()];
        let (mut emptying, mut emptied) = (0, 0);
        for job in moves.jobs.iter().flatten() {
            let Job::Empty { walk, in_parts } = job else { continue };
            emptying += 1;
            if !in_parts && blocks.cause(walk.block) == Cause::Cleaning {
                let read = (walk.cursor - layout.first_unit(walk.block).0) / layout.units_per_page;
                emptied += layout.parity.data_among(walk.block, 0, read);
            }
        }
        let block = layout.parity.data();
        let whole = self.free(lane) + moves.coming.saturating_sub(emptying);
        let room = whole * block + emptied + self.left_for_moves(lane) + left;
        room <= (work.reserve + 1) * block
    }

    /// Whether a lane's cleaning is as far as it had to be. Of several blocks that the host fills the fullest counts.
    pub(super) fn has_caught_up(
        &self,
        (layout, blocks): (&Layout, &Blocks),
        work: &Work,
        lane: LaneId,
    ) -> bool {
        let left = self.least_left_for_host(lane);
        !self.is_behind((layout, blocks), work, lane, left)
    }

    /// What a lane has refused the host it would refuse it now.
    pub(in crate::ftl) fn check_refusals(
        &self,
        (layout, blocks): (&Layout, &Blocks),
        work: &Work,
        lane: LaneId,
    ) -> Result<(), String> {
        if self.is_bounded() {
            // It is asked anew each time.
            return Ok(());
        }
        let waits = |stream| work.paces_host && self.holds_host_back((layout, blocks), work, lane, stream);
        let all = (0..self.streams().count).map(StreamId);
        let mut refused = all.filter(|&stream| self.has_refused(lane, stream));
        match refused.find(|&stream| self.has_host_page(lane, stream) && !waits(stream)) {
            Some(stream) => {
                Err(format!("lane {} holds the host back in stream {} for nothing", lane.0, stream.0))
            }
            None => Ok(()),
        }
    }
}
