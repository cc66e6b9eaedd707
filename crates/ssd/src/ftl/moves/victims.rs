//! Victims of cleaning where data is separated: among which blocks they are looked for, and what is counted of them.

use crate::executor::Pace;
use crate::flash::op::Cause;
use crate::ftl::Ftl;
use crate::ftl::counts::VICTIM_BINS;
use crate::ftl::stream::{Among, CLASSES, LaneStreams, Policy, Victim};
use crate::ftl::tables::blocks::LaneView;
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::{RECLAIM, ROUTINE, Round};
use crate::units::{BlockId, LaneId};
use serde::{Deserialize, Serialize};

/// Where victims are looked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::ftl) struct Victims {
    /// Live units of the blocks of a lane, but for those that are left out: made anew for each victim.
    #[serde(skip)]
    live: Vec<u32>,
}

impl Victims {
    /// Room to leave out some of so many blocks of a lane, if the policy asks for it.
    pub fn new(asked: bool, blocks_per_lane: u32) -> Self {
        Victims { live: vec![0; if asked { blocks_per_lane as usize } else { 0 }] }
    }

    /// Whether the policy that separates data is asked.
    #[inline]
    pub fn are_asked_for(&self) -> bool {
        !self.live.is_empty()
    }

    /// The next victim of a lane; `chooser` is `ftl.gc_victim`.
    pub fn choose(
        &mut self,
        policy: &mut Policy,
        lane: &LaneStreams<'_>,
        chooser: &mut impl FnMut(&LaneView<'_>) -> Option<u32>,
    ) -> Option<u32> {
        let among = policy.among(lane);
        if among == Among::All {
            return chooser(lane.blocks);
        }
        let dead = lane.blocks.least_live().filter(|&block| lane.blocks.eligible(block) == Some(0));
        if dead.is_some() {
            return dead;
        }
        let wanted = match among {
            Among::Group(group) => {
                chooser(&self.only(lane, |block| policy.group(lane.filled(block)) == group))
            }
            Among::This(block) => Some(block).filter(|&block| lane.blocks.eligible(block).is_some()),
            Among::All | Among::Classes => {
                return (0..CLASSES as u8).find_map(|class| {
                    chooser(&self.only(lane, |block| policy.class(lane.of(block)) == class))
                });
            }
        };
        wanted.or_else(|| chooser(lane.blocks))
    }

    /// The blocks of a lane, of which only some can be chosen.
    fn only<'a>(&'a mut self, lane: &LaneStreams<'a>, is_in: impl Fn(u32) -> bool) -> LaneView<'a> {
        for (block, live) in (0..).zip(&mut self.live) {
            *live = lane.blocks.live_if(block, is_in(block));
        }
        lane.blocks.with_live(&self.live)
    }
}

impl Ftl {
    /// Cleaning begins to empty a block.
    pub(super) fn note_victim(&mut self, block: BlockId) {
        let stream = self.space.allocator.streams().of_policy(self.tables.blocks.stream(block));
        let (live, units) = (self.tables.blocks.live(block), self.tables.layout.data_units_per_block());
        let class = usize::from(self.stream.class(stream)).min(CLASSES - 1);
        if self.space.ring.is_used() {
            self.space.ring.lane_mut(self.tables.layout.lane_of(block)).had_turn = false;
        }
        let counts = &mut self.work.counts;
        counts.victims[class] += 1;
        counts.dead_victims[class] += u64::from(live == 0);
        counts.victim_units[class] += u64::from(live);
        let bin = (live as usize * (VICTIM_BINS - 1)).div_ceil(units as usize);
        counts.victims_by_live[bin.min(VICTIM_BINS - 1)] += 1;
        let (lane, clock) = (self.tables.layout.lane_of(block), self.tables.clock);
        let (opened, filled) =
            (self.tables.blocks.opened_at(block), clock - self.tables.blocks.age(block, clock));
        self.stream.on_victim(Victim { stream, lane, opened, filled, clock, live, units });
    }

    pub(in crate::ftl) fn update_wanted(&mut self, lane: LaneId) {
        let (limits, free) =
            (self.space.ring.limits(&self.tables, &self.work, lane), self.space.allocator.free(lane));
        let work = &self.work.lanes[lane.index()];
        let wanted = if self.work.pace == Pace::Saturated {
            true
        } else if work.wanted {
            self.gc_trigger.goes_on(free + work.coming, &limits)
        } else {
            self.gc_trigger.starts(free + work.coming, &limits)
        };
        let (clock, work) = (self.tables.clock, self.work.lane_mut(lane));
        if wanted && !work.wanted {
            work.round = Round { began: clock, erases: work.erases };
        }
        work.wanted = wanted;
    }

    pub(in crate::ftl) fn choose_victim(&mut self, lane: LaneId) -> Option<BlockId> {
        // Blocks on their way to being free will make room for any answer; only without them is a policy overruled.
        let coming = self.work.lanes[lane.index()].coming > 0;
        if coming
            && !self.work.has_room(
                &self.tables,
                &self.space.allocator,
                lane,
                self.tables.layout.data_units_per_block(),
                Cause::Cleaning,
            )
        {
            return None;
        }
        let first = self.tables.layout.first_block(lane).0;
        let view: LaneView<'_> = self.tables.blocks.lane_view(&self.tables.layout, lane, self.tables.clock);
        let chooser = &mut |view: &LaneView<'_>| {
            let chosen = self.gc_victim.choose(view, &mut self.victim_rng)?;
            let can_be = view.eligible(chosen).is_some();
            assert!(can_be, "ftl.gc_victim chose block {chosen}, which cannot be cleaned");
            Some(chosen)
        };
        let chosen = if self.tells_apart && self.victims.are_asked_for() {
            let (filled_by, streams) =
                (self.tables.blocks.lane_streams(&self.tables.layout, lane), self.space.allocator.streams());
            let lane = LaneStreams { blocks: &view, lane, filled_by, streams };
            self.victims.choose(&mut self.stream, &lane, chooser)?
        } else {
            chooser(&view)?
        };
        let chosen = BlockId(first + chosen);
        if self.work.fits(&self.tables, &self.space.allocator, lane, chosen, Cause::Cleaning) {
            return Some(chosen);
        }
        let least = BlockId(
            first
                + self.tables.blocks.lane_view(&self.tables.layout, lane, self.tables.clock).least_live()?,
        );
        self.work.fits(&self.tables, &self.space.allocator, lane, least, Cause::Cleaning).then_some(least)
    }

    pub(in crate::ftl) fn begin(&mut self, lane: LaneId, block: BlockId, cause: Cause) -> bool {
        self.locks.drop_replicas(&mut self.tables, &mut self.work, block);
        self.tables.blocks.start_moving(block, cause);
        let job = Job::empty(&self.tables, block, self.reclaim.policy.orders_leaving());
        let which = if cause == Cause::ReadReclaim { RECLAIM } else { ROUTINE };
        let erases_bad = self.locks.erases_bad();
        let work = self.work.lane_mut(lane);
        let comes = cause != Cause::Destage && (cause != Cause::BadBlock || erases_bad);
        work.coming += u32::from(comes);
        work.jobs[which] = Some(job);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::ftl::stream::{Member, Moved, Needs, StreamId, Streams, Written};
    use crate::sections::MappingUnit;
    use crate::units::LaneId;
    use crate::{Drive, ExternalPolicies};

    /// Units by their number in three streams; victims as it says.
    #[derive(Clone, Debug)]
    struct InThree(Among);

    impl Member for InThree {
        fn streams(&self) -> Streams {
            Streams::shared(3)
        }

        fn needs(&self) -> Needs {
            Needs { victims: true, ..Needs::default() }
        }

        fn of_write(&mut self, write: Written) -> StreamId {
            StreamId((write.lpn.0 % 3) as u8)
        }

        fn of_move(&mut self, moved: Moved) -> StreamId {
            StreamId((moved.lpn.0 % 3) as u8)
        }

        /// Stream 1 goes first, then 0, then 2.
        fn class(&self, stream: StreamId) -> u8 {
            [1, 0, 2][stream.index()]
        }

        fn among(&mut self, _: &LaneStreams<'_>) -> Among {
            self.0
        }
    }

    /// A lane of blocks of four units, filled by three streams of 24 units each; what is left of each block of a
    /// stream, in the order in which they were filled.
    fn drive(among: Among, left: [[u32; 6]; 3]) -> Drive {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (40, 4, 1);
        (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 100.0);
        let mut drive = Drive::with_policies(&cfg, ExternalPolicies::trusted_stream(InThree(among))).unwrap();
        drive.fill(0, 72).unwrap();
        for (stream, left) in (0..).zip(left) {
            for (block, left) in (0..).zip(left) {
                for unit in left..4 {
                    drive.state.ftl.trim(crate::units::Lpn(stream + 3 * (4 * block + unit)));
                }
            }
        }
        drive.check().unwrap();
        drive
    }

    /// The units of the block that is cleaned next: its stream, and where it comes in that.
    fn victim(drive: &mut Drive) -> (u32, u32) {
        let ftl = &mut drive.state.ftl;
        let block = ftl.choose_victim(LaneId(0)).unwrap();
        let first = ftl.tables.layout.first_unit(block).0;
        let lpn = ftl.tables.map.stored(crate::units::Pun(first)).0;
        (lpn % 3, lpn / 12)
    }

    #[test]
    fn dead_blocks_go_first_then_class_by_class() {
        let full = [4; 6];
        let rest = [4, 3, 2, 4, 4, 4];
        let dead = [4, 3, 3, 0, 4, 4];
        for (left, expected) in [
            // The least live of all lies in the last class.
            ([rest, rest, [1; 6]], (1, 2)),
            ([rest, full, [1; 6]], (0, 2)),
            ([full, full, rest], (2, 2)),
            ([rest, rest, dead], (2, 3)),
        ] {
            assert_eq!(victim(&mut drive(Among::Classes, left)), expected, "{left:?}");
        }
        assert_eq!(victim(&mut drive(Among::All, [rest, rest, [4, 4, 4, 1, 4, 4]])), (2, 3));
    }

    #[test]
    fn a_group_is_cleaned_alone() {
        let left = [[4, 3, 2, 1, 4, 4], [1; 6], [1; 6]];
        // By default a stream is a group.
        assert_eq!(victim(&mut drive(Among::Group(0), left)), (0, 3));
        // With nothing to be chosen there, all are looked at; what is dead goes first.
        let full = [[4; 6], [4, 4, 1, 4, 4, 4], [4, 4, 3, 4, 4, 4]];
        assert_eq!(victim(&mut drive(Among::Group(0), full)), (1, 2));
        let dead = [[4, 3, 2, 1, 4, 4], [1; 6], [1, 1, 1, 1, 0, 1]];
        assert_eq!(victim(&mut drive(Among::Group(0), dead)), (2, 4));
    }

    #[test]
    fn a_block_is_cleaned_if_it_can_be() {
        let left = [[4, 3, 2, 1, 4, 4], [1; 6], [1; 6]];
        let chosen = |left, block| drive(Among::This(block), left).state.ftl.choose_victim(LaneId(0));
        let is_full = |block: &u32| (0..6).any(|at| left[0][at as usize] == 4 && 3 * at == *block);
        for block in (0..18).filter(|block| !is_full(block)) {
            assert_eq!(chosen(left, block), Some(BlockId(block)));
        }
        assert_ne!(chosen(left, 0), Some(BlockId(0)), "all of it lives");
        assert_eq!(victim(&mut drive(Among::This(3), [left[0], left[1], [1, 1, 0, 1, 1, 1]])), (2, 2));
    }
}
