//! Victims of cleaning where data is separated: among which blocks they are looked for, and what is counted of them.

use crate::executor::Pace;
use crate::flash::op::Cause;
use crate::ftl::separation::Separation;
use crate::ftl::stream::{Among, CLASSES, LaneStreams, Policy};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::LaneView;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::work::lane::Round;
use crate::ftl::write::destage::ERASED;
use crate::ftl::write::placement::Space;
use crate::ftl::write::waits::Waits;
use crate::ftl::{gc_trigger, gc_victim};
use crate::restore::Verdict;
use crate::rng::Rng;
use crate::units::{BlockId, LaneId};
use serde::{Deserialize, Serialize};

/// Where victims are looked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Victims {
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

/// When a lane is cleaned, and which block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cleaning {
    pub victim: gc_victim::Policy,
    pub trigger: gc_trigger::Policy,
    rng: Rng,
    among: Victims,
}

impl Cleaning {
    /// By these policies; `is_asked` if the one that separates data says among which blocks.
    pub(in crate::ftl) fn new(
        (victim, trigger): (&gc_victim::Config, &gc_trigger::Config),
        seed: u64,
        is_asked: bool,
        layout: &Layout,
    ) -> Self {
        Cleaning {
            victim: gc_victim::Policy::build(victim),
            trigger: gc_trigger::Policy::build(trigger),
            rng: Rng::named(seed, "ftl/gc_victim"),
            among: Victims::new(is_asked, layout.blocks_per_lane),
        }
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub(in crate::ftl) fn restored(&mut self, fresh: Cleaning) -> Verdict {
        self.among = fresh.among;
        self.victim.restored(fresh.victim)?;
        self.trigger.restored(fresh.trigger)
    }

    /// Goes by the policies of another from now on, as far as they are others: those begin cold.
    pub(crate) fn changed(&mut self, other: &Cleaning, (victim, trigger): (bool, bool)) {
        if victim {
            self.victim = other.victim.clone();
        }
        if trigger {
            self.trigger = other.trigger.clone();
        }
    }

    /// Looks whether a lane is to be cleaned.
    pub(in crate::ftl) fn update_wanted(
        &self,
        tables: &Tables,
        space: &Space,
        work: &mut Work,
        lane: LaneId,
    ) {
        let (limits, free) = (work.limits(tables, lane, space.ring.owned(lane)), space.allocator.free(lane));
        let found = &work.lanes[lane.index()];
        let wanted = if work.pace == Pace::Saturated {
            true
        } else if found.wanted {
            self.trigger.goes_on(free + found.coming, &limits)
        } else {
            self.trigger.starts(free + found.coming, &limits)
        };
        let work = work.lane_mut(lane);
        if wanted && !work.wanted {
            work.round = Round { began: tables.clock, erases: work.erases };
        }
        work.wanted = wanted;
    }

    /// Whether a lane has a free block that neither the host nor moves need, so that none has to be cleaned for it.
    pub(in crate::ftl) fn can_spare(
        &self,
        tables: &Tables,
        space: &Space,
        work: &Work,
        lane: LaneId,
    ) -> bool {
        let free = space.allocator.free(lane);
        let cleans = work.lanes[lane.index()].wanted
            || self.trigger.starts(free - free.min(1), &work.limits(tables, lane, space.ring.owned(lane)));
        free > work.reserve + 1 && !cleans && !space.ring.lane(lane).gives_room
    }

    /// Erased blocks of a lane change sides, as far as the policy of the cache asks for it and cleaning lets them.
    pub(in crate::ftl) fn tend_ring(
        &self,
        space: &mut Space,
        (tables, work): (&mut Tables, &Work),
        waits: &mut Waits,
        lane: LaneId,
    ) {
        let has = space.space(tables, work, lane);
        space.ring.ask(lane, &has);
        while space.ring.lane(lane).owned < space.ring.lane(lane).target
            && self.can_spare(tables, space, work, lane)
        {
            let Some(block) = space.allocator.take_back(lane) else { return };
            space.ring.lane_mut(lane).put(block, &mut tables.blocks);
        }
        let ring = space.ring.lane(lane);
        if ring.is_over(ring.owned) && ring.free() > ERASED {
            space.take_from_ring(tables, waits, lane);
        }
    }

    /// The block of a lane that is cleaned next, if one can be and there is room.
    pub(in crate::ftl) fn choose(
        &mut self,
        separation: &mut Separation,
        (tables, space, work): (&Tables, &Space, &Work),
        lane: LaneId,
    ) -> Option<BlockId> {
        let (layout, allocator) = (&tables.layout, &space.allocator);
        // Blocks on their way to being free will make room for any answer; only without them is a policy overruled.
        let coming = work.lanes[lane.index()].coming > 0;
        let whole = layout.data_units_per_block();
        if coming && !allocator.has_room(tables, work, lane, whole, Cause::Cleaning) {
            return None;
        }
        let first = layout.first_block(lane).0;
        let view: LaneView<'_> = tables.blocks.lane_view(layout, lane, tables.clock);
        let chooser = &mut |view: &LaneView<'_>| {
            let chosen = self.victim.choose(view, &mut self.rng)?;
            let can_be = view.eligible(chosen).is_some();
            assert!(can_be, "ftl.gc_victim chose block {chosen}, which cannot be collected");
            Some(chosen)
        };
        let chosen = if separation.tells_apart() && self.among.are_asked_for() {
            let (filled_by, streams) = (tables.blocks.lane_streams(layout, lane), allocator.streams());
            let lane = LaneStreams { blocks: &view, lane, filled_by, streams };
            self.among.choose(&mut separation.policy, &lane, chooser)?
        } else {
            chooser(&view)?
        };
        let chosen = BlockId(first + chosen);
        if allocator.fits(tables, work, lane, chosen, Cause::Cleaning) {
            return Some(chosen);
        }
        let least = BlockId(first + tables.blocks.lane_view(layout, lane, tables.clock).least_live()?);
        allocator.fits(tables, work, lane, least, Cause::Cleaning).then_some(least)
    }
}

/// A block of a lane without live data, which needs no page that others wait for.
#[cold]
pub(in crate::ftl) fn dead_block(tables: &Tables, lane: LaneId) -> Option<BlockId> {
    let view: LaneView<'_> = tables.blocks.lane_view(&tables.layout, lane, tables.clock);
    let dead = view.least_live().filter(|&block| view.eligible(block) == Some(0));
    dead.map(|block| BlockId(tables.layout.first_block(lane).0 + block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::ftl::stream::{Member, Moved, Needs, StreamId, Streams, Written};
    use crate::ftl::{Media, Moves};
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

    /// The block that is cleaned next.
    fn chosen(moves: &mut Moves) -> Option<BlockId> {
        let Moves { media: Media { cleaning, tables, space, work, .. }, separation, .. } = moves;
        cleaning.choose(separation, (tables, space, work), LaneId(0))
    }

    /// The units of the block that is cleaned next: its stream, and where it comes in that.
    fn victim(drive: &mut Drive) -> (u32, u32) {
        let ftl = &mut drive.state.ftl;
        let block = chosen(&mut ftl.moves).unwrap();
        let first = ftl.moves.media.tables.layout.first_unit(block).0;
        let lpn = ftl.moves.media.tables.map.stored(crate::units::Pun(first)).0;
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
        let chosen = |left, block| super::tests::chosen(&mut drive(Among::This(block), left).state.ftl.moves);
        let is_full = |block: &u32| (0..6).any(|at| left[0][at as usize] == 4 && 3 * at == *block);
        for block in (0..18).filter(|block| !is_full(block)) {
            assert_eq!(chosen(left, block), Some(BlockId(block)));
        }
        assert_ne!(chosen(left, 0), Some(BlockId(0)), "all of it lives");
        assert_eq!(victim(&mut drive(Among::This(3), [left[0], left[1], [1, 1, 0, 1, 1, 1]])), (2, 2));
    }
}
