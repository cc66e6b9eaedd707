//! Moving data because of reads (read reclaim): carries out what the policy wants, beside cleaning and before it.
//!
//! A read that makes the policy ask for a look puts the block on its lane's list. When its turn comes, the policy names
//! what must leave the block: all of it, which is then erased, or parts, one after the other, after which the block is
//! closed again (and erased if it is empty). Moves that find no room make the lane clean first. Blocks of the SLC cache
//! are none of the policy's ([`one_bit`]).

mod hears;
pub(in crate::ftl) mod margins;
mod one_bit;
mod restore;
mod service;

use crate::flash::Flash;
use crate::flash::op::Op;
use crate::ftl::read_reclaim::{self, ChipLook, Look, PageRead, Setup, Urgency, Want};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::ftl::work::candidates::Candidate;
use crate::ftl::work::lane::RECLAIM;
use crate::ftl::work::migration::Migration;
use crate::ftl::work::walk::{Pages, Walk};
use crate::sections::Sections;
use crate::units::{BlockId, LaneId};
use serde::{Deserialize, Serialize};

/// What became of a look at a block.
pub(in crate::ftl) enum Looked {
    /// It is off the list.
    Over,
    /// It must wait: for programs, for room, for what is already leaving it.
    Waits,
    /// A job was started.
    Started,
}

/// What the translation layer keeps for moves because of reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reclaim {
    pub(in crate::ftl) policy: read_reclaim::Policy,
    /// The policy ever moves anything.
    active: bool,
    /// The policy may want units spread over fresh blocks, and hears of their reads.
    spreads: bool,
    /// Reads of blocks of one bit a cell, where there are any and data moves because of reads.
    one_bit: Option<one_bit::OneBit>,
    /// Reclaims under way, by block.
    services: Vec<Option<service::Service>>,
}

impl Reclaim {
    /// The policy of a checked configuration, told of the drive.
    pub fn new(
        cfg: &Sections,
        policy: &read_reclaim::Config,
        layout: &Layout,
        (logical_units, caches): (u32, bool),
    ) -> Self {
        let g = &cfg.geometry;
        let mut policy = read_reclaim::Policy::build(policy);
        let active = policy.acts();
        if active {
            let cells = hears::cells(cfg);
            policy.learn(&Setup {
                cells: &cells,
                physical_blocks: g.planes() * g.blocks_per_plane,
                wordlines: g.wordlines_per_block,
                page_types: g.bits_per_cell,
                lanes: layout.lanes,
                logical_units,
                readings_at_most: hears::readings_at_most(cfg, &cells),
                seed: cfg.drive.seed,
            });
        }
        let of_active = |count: u32| if active { count as usize } else { 0 };
        let services = vec![None; of_active(layout.blocks())];
        let spreads = policy.spreads();
        let one_bit = (active && caches).then(|| one_bit::OneBit::new(cfg));
        Reclaim { policy, active, spreads, one_bit, services }
    }

    /// Whether anything ever moves because of reads.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether it may want units spread over fresh blocks.
    pub fn spreads(&self) -> bool {
        self.spreads
    }

    /// See [`Ftl::idle_after_ns`].
    pub fn idle_after_ns(&self) -> Option<u64> {
        self.policy.idle_after_ns()
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        self.policy.memory_bytes() + self.one_bit.as_ref().map_or(0, one_bit::OneBit::bytes)
    }

    /// A page is about to be read: the policy counts it.
    #[inline(always)]
    pub(in crate::ftl) fn note_read(&mut self, tables: &Tables, work: &mut Work, flash: &Flash, op: &Op) {
        if self.active {
            let (read, candidate) = self.read_by(tables, flash, op, 1, true);
            self.tell(tables, work, flash, &read, candidate.block, candidate.member);
        }
    }

    /// A page is about to be read for what its block shows of its age. That disturbs as any read does, and moves
    /// nothing by itself: where the data went the next block would be read so, and a drive whose cells endure few
    /// reads would never come to rest.
    pub(in crate::ftl) fn note_look(&mut self, tables: &Tables, flash: &Flash, op: &Op) {
        if self.active {
            let (read, candidate) = self.read_by(tables, flash, op, 1, true);
            self.hear(tables, flash, &read, candidate);
        }
    }

    /// What the policy is told of a read, and what might be looked at for it.
    #[inline(always)]
    fn read_by(
        &self,
        tables: &Tables,
        flash: &Flash,
        op: &Op,
        readings: u32,
        access: bool,
    ) -> (PageRead, Candidate) {
        let (block, at) = tables.layout.block_of_page(op.ppn);
        let read = PageRead {
            physical: op.at.block,
            wordline: tables.order.place(op.at.page).wordline,
            page_type: op.page_type,
            mode: flash.chip.mode(op.at.block),
            cycles: self.cycles(tables, flash, (block, op.at.block)),
            readings,
            access,
        };
        (read, Candidate { block, member: at % tables.layout.span })
    }

    /// Cycles of a physical block, which is a member of a block: where some are of one bit a cell, as they wear it.
    #[inline(always)]
    fn cycles(&self, tables: &Tables, flash: &Flash, (block, physical): (BlockId, u32)) -> u32 {
        if self.one_bit.is_some() {
            return one_bit::cycles(flash, physical);
        }
        tables.blocks.erase_count(block)
    }

    /// The policy hears of reads, and samples the block if it is to: whether that must be looked at.
    #[inline]
    fn hear(&mut self, tables: &Tables, flash: &Flash, read: &PageRead, candidate: Candidate) -> Urgency {
        if self.one_bit.is_some() && tables.blocks.is_one_bit(candidate.block) {
            return self.hear_one_bit(read);
        }
        let urgency = self.policy.on_read(read);
        if self.spreads && self.policy.sample_due() {
            let (look, policy) = self.look(tables, flash, candidate);
            policy.sample(&look);
        }
        urgency
    }

    /// Tells the policy of reads, and puts the block on a list if it says so.
    #[inline]
    pub(in crate::ftl) fn tell(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        flash: &Flash,
        read: &PageRead,
        block: BlockId,
        member: u32,
    ) {
        let candidate = Candidate { block, member };
        let urgency = self.hear(tables, flash, read, candidate);
        if urgency != Urgency::No {
            self.list(tables, work, candidate, urgency);
        }
    }

    pub(in crate::ftl) fn list(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        candidate: Candidate,
        urgency: Urgency,
    ) {
        if tables.blocks.is_one_bit(candidate.block) {
            return self.list_one_bit(tables, work, candidate.block);
        }
        let lane = tables.layout.lane_of(candidate.block);
        let migration = work.lane_mut(lane).migration();
        let is_migrated = migration.is_some_and(|migration| migration.candidate.block == candidate.block);
        match tables.blocks.state(candidate.block) {
            BlockState::Open | BlockState::Closed | BlockState::Migrating => {}
            BlockState::Moving if is_migrated => {}
            // All of it is leaving already.
            _ => return,
        }
        let place = candidate.place(&tables.layout);
        work.lane_mut(lane).candidates.add(candidate, place, urgency);
        work.looks.soon(lane);
    }

    /// What a block on a lane's list may have waited for is over.
    #[inline]
    pub(in crate::ftl) fn may_look_again(&mut self, work: &mut Work, lane: LaneId) {
        if self.active && work.lane_mut(lane).has_candidates() {
            work.looks.soon(lane);
        }
    }

    /// A read is over, and took some attempts: the policy counts those after the first. They disturb as much.
    #[inline(always)]
    pub fn note_retries(&mut self, tables: &Tables, work: &mut Work, flash: &Flash, op: &Op, attempts: u8) {
        if self.active && attempts > 1 {
            let readings = flash.chip.readings(op.at.block, attempts);
            let (read, candidate) = self.read_by(tables, flash, op, readings - 1, false);
            if op.is_look() {
                self.hear(tables, flash, &read, candidate);
            } else {
                self.tell(tables, work, flash, &read, candidate.block, candidate.member);
            }
        }
    }

    /// A look at a lane's list begins: who lacks room will say so. Who spreads data remembers for how
    /// long it has waited.
    pub(in crate::ftl) fn begin_look(&mut self, work: &mut Work, lane: LaneId) {
        work.lane_mut(lane).candidates.lacks_room &= self.spreads;
    }

    /// Nothing that is to be spread waits for room any more.
    pub(in crate::ftl) fn need_no_room(&mut self, work: &mut Work, lane: LaneId) {
        if self.spreads {
            work.lane_mut(lane).candidates.lacks_room = false;
        }
    }

    pub(in crate::ftl) fn ask(
        &mut self,
        tables: &Tables,
        flash: &Flash,
        candidate: Candidate,
        left: Option<Want>,
    ) -> Option<Want> {
        let (look, policy) = self.look(tables, flash, candidate);
        if policy.sees_chips() {
            policy.wants_seeing(&look, &ChipLook(flash), left)
        } else {
            policy.wants(&look, left)
        }
    }

    /// A block as the policy looks at it, and the policy.
    pub(in crate::ftl) fn look<'a>(
        &'a mut self,
        tables: &'a Tables,
        flash: &Flash,
        candidate: Candidate,
    ) -> (Look<'a>, &'a mut read_reclaim::Policy) {
        let at = tables.layout.member(candidate.block, candidate.member);
        let filling = tables.blocks.state(candidate.block) == BlockState::Open;
        let look = Look {
            map: &tables.map,
            layout: &tables.layout,
            blocks: &tables.blocks,
            replicas: &tables.replicas,
            wordlines: &tables.wordlines,
            unwritten: filling.then(|| flash.chip.programmed_pages(at.block)),
            live_units: tables.blocks.live(candidate.block),
            block: candidate.block,
            member: candidate.member,
            at,
            cycles: self.cycles(tables, flash, (candidate.block, at.block)),
        };
        (look, &mut self.policy)
    }

    /// Takes the first off the list whose turn it is.
    pub(in crate::ftl) fn drop_candidate(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        lane: LaneId,
        candidate: Candidate,
    ) -> Looked {
        let (idle, place) = (work.quiet, candidate.place(&tables.layout));
        let candidates = &mut work.lane_mut(lane).candidates;
        if let Some((list, bit)) = candidates.list(idle) {
            let first = list.pop_front();
            debug_assert_eq!(first, Some(candidate));
            candidates.listed[place] &= !bit;
        }
        Looked::Over
    }

    /// A partial migration that was interrupted goes on: the lane's list is looked at anew.
    #[inline]
    pub(in crate::ftl) fn look_anew(&mut self, work: &mut Work, lane: LaneId, which: usize) {
        if which == RECLAIM
            && let Some(migration) = work.lane_mut(lane).migration()
            && migration.walk().is_none()
            && migration.passed.is_none()
        {
            migration.passed = Some(0);
            self.begin_look(work, lane);
        }
    }

    /// What is read next of a block that is emptied in parts: of all members the wordline that stands least, if the
    /// policy names one.
    pub(in crate::ftl) fn choose_wordline(
        &mut self,
        tables: &Tables,
        flash: &mut Flash,
        walk: &Walk,
    ) -> Option<Walk> {
        let block = walk.block;
        let mut chosen: Option<(i64, u32, u32)> = None;
        for member in 0..tables.layout.span {
            let left = walk.pages.filter(|pages| pages.member == member).map(|pages| pages.wordline);
            let (look, policy) = self.look(tables, flash, Candidate { block, member });
            let chips = policy.sees_chips().then_some(ChipLook(flash));
            let next = policy.leaves_next(&look, chips.as_ref(), left);
            let next = next.map(|(stands, wordline)| (stands, member, wordline));
            chosen = [chosen, next].into_iter().flatten().min();
        }
        let (_, member, wordline) = chosen?;
        let pages = Pages { member, types: u8::MAX, wordline };
        Some(Walk::of(tables, block, pages, tables.wordlines.range(wordline)))
    }

    /// The rest of a block leaves it later: the block is first on the list again.
    pub(in crate::ftl) fn look_later(
        &mut self,
        tables: &Tables,
        work: &mut Work,
        lane: LaneId,
        migration: &mut Migration,
    ) {
        let place = migration.candidate.place(&tables.layout);
        work.lane_mut(lane).candidates.put_first(migration.candidate, place);
        migration.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Table;
    use crate::sections::ErrorModel;
    use crate::units::Lpn;
    use crate::{Drive, DriveConfig};

    /// A look at what is due to reads leaves the block that is kept from the host to what leaves a page for its lock.
    #[test]
    fn a_look_leaves_a_block_to_what_counts_on_it() {
        const LANE: LaneId = LaneId(0);
        for (sanitize, reads, is_kept) in
            [("page_lock", 1, true), ("page_lock", 0, false), ("none", 1, false)]
        {
            let mut cfg = DriveConfig::default();
            let g = &mut cfg.geometry;
            (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
            (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (24, 4, 3);
            (cfg.drive.over_provisioning_percent, cfg.errors.model) = (100.0, ErrorModel::Cells);
            cfg.sanitize.select(sanitize).unwrap();
            cfg.read_reclaim.select("block").unwrap();
            let mut drive = Drive::new(&cfg).unwrap();
            drive.fill(0, drive.logical_units()).unwrap();
            let (ftl, flash) = (&mut drive.state.ftl, &mut drive.state.flash);
            let block =
                ftl.moves.media.tables.layout.block_of_unit(ftl.moves.media.tables.map.lookup(Lpn(0)));
            ftl.moves.media.reclaim.list(
                &ftl.moves.media.tables,
                &mut ftl.moves.media.work,
                Candidate { block, member: 0 },
                Urgency::Now,
            );
            assert!(ftl.moves.media.space.allocator.claim(LANE, false));
            ftl.moves.media.work.lane_mut(LANE).reads = reads;
            ftl.moves.start_reclaim(flash, LANE);
            assert_eq!(ftl.moves.media.space.allocator.has_claims(), is_kept, "{sanitize}, {reads} reads");
        }
    }
}
