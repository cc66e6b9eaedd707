//! Moving data because of reads (read reclaim): carries out what the policy wants, beside cleaning and before it.
//!
//! A read that makes the policy ask for a look puts the block on its lane's list. When its turn comes, the policy names
//! what must leave the block: all of it, which is then erased, or parts, one after the other, after which the block is
//! closed again (and erased if it is empty). Moves that find no room make the lane clean first.

use super::Ftl;
use super::allocation::Stream;
use super::blocks::BlockState;
use super::cleaning::{COMING_WITH_RECLAIM, Job, Part, RECLAIM};
use super::dealing::{Begun, DealWish};
use super::read_reclaim::{self, Facts, Look, PageRead, Urgency, Want};
use crate::config::DriveConfig;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op};
use crate::nand::Layout;
use crate::nand::cell::CellModel;
use crate::nand::order::PageOrder;
use crate::units::{BlockId, LaneId, Lpn, NONE, Ppn};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A physical block to be looked at: member of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wish {
    pub block: BlockId,
    pub member: u32,
}

/// A block whose parts are being moved.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Thinning {
    wish: Wish,
    /// What has left it last.
    left: Want,
    /// What is to leave it next, if that was asked and not done.
    next: Option<Want>,
}

/// How a physical block stands on its lane's list.
const NOT_LISTED: u8 = 0;
const LISTED_FOR_IDLE: u8 = 1;
const LISTED: u8 = 2;

/// A lane's list of blocks to be looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Wishes {
    now: VecDeque<Wish>,
    when_idle: VecDeque<Wish>,
    /// By member of a block of the lane.
    listed: Vec<u8>,
    thinning: Option<Thinning>,
    /// Something must move and finds no room: the lane is cleaned for it.
    pub lacks_room: bool,
    /// Erases of the lane when a deal first lacked room.
    pub lacked_at: u64,
}

impl Wishes {
    /// An empty list for a lane.
    pub fn new(layout: &Layout, used: bool) -> Self {
        let members = if used { (layout.blocks_per_lane * layout.span) as usize } else { 0 };
        Wishes {
            now: VecDeque::with_capacity(members),
            when_idle: VecDeque::with_capacity(members),
            listed: vec![NOT_LISTED; members],
            ..Wishes::default()
        }
    }

    /// Whether anything is to be done.
    #[inline]
    pub fn some(&self) -> bool {
        self.thinning.is_some() || !self.now.is_empty() || !self.when_idle.is_empty()
    }

    /// Puts a block on the list; `at` is its member among the lane's.
    fn add(&mut self, wish: Wish, at: usize, urgency: Urgency) {
        let (mark, waits) = match urgency {
            Urgency::No => return,
            Urgency::WhenIdle => (LISTED_FOR_IDLE, true),
            Urgency::Now => (LISTED, false),
        };
        if self.listed[at] < mark {
            let waited = std::mem::replace(&mut self.listed[at], mark) == LISTED_FOR_IDLE;
            if waited {
                self.when_idle.retain(|&waiting| waiting != wish);
            }
            if waits { self.when_idle.push_back(wish) } else { self.now.push_back(wish) }
        }
    }

    /// The wish to look at next.
    fn front(&self, idle: bool) -> Option<Wish> {
        self.now.front().or_else(|| self.when_idle.front().filter(|_| idle)).copied()
    }

    fn remove_front(&mut self) {
        _ = self.now.pop_front().or_else(|| self.when_idle.pop_front());
    }

    /// Takes a block off the list.
    fn remove(&mut self, wish: Wish, at: usize) {
        match std::mem::replace(&mut self.listed[at], NOT_LISTED) {
            NOT_LISTED => {}
            LISTED_FOR_IDLE => self.when_idle.retain(|&waiting| waiting != wish),
            _ => self.now.retain(|&waiting| waiting != wish),
        }
    }
}

/// What the translation layer keeps for moves because of reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reclaim {
    pub(super) policy: read_reclaim::Policy,
    /// The policy is not `never`.
    active: bool,
    /// Page of each type of each wordline.
    page_at: Vec<u32>,
    page_types: u32,
    /// The policy may deal units and hears of their reads.
    deals: bool,
    /// Program mode of blocks that nobody chose one for.
    pub(super) normal_mode: u8,
    /// Lanes with something new on their lists.
    lanes: Vec<LaneId>,
}

impl Reclaim {
    /// The policy of a checked configuration, told of the drive.
    pub fn new(cfg: &DriveConfig, order: &PageOrder, lanes: u32, logical_units: u32) -> Self {
        let g = &cfg.geometry;
        let active = !matches!(cfg.read_reclaim, read_reclaim::Config::Never(_));
        let mut policy = read_reclaim::Policy::build(&cfg.read_reclaim);
        let mut page_at = vec![0; order.pages() as usize];
        for page in 0..order.pages() {
            let place = order.place(page);
            page_at[(place.wordline * g.bits_per_cell) as usize + usize::from(place.page_type)] = page;
        }
        if active && let Ok(cells) = CellModel::new(cfg.cells.clone()) {
            policy.learn(&Facts {
                cells: &cells,
                physical_blocks: g.planes() * g.blocks_per_plane,
                wordlines: g.wordlines_per_block,
                page_types: g.bits_per_cell,
                logical_units,
                seed: cfg.drive.seed,
            });
        }
        let lanes = Vec::with_capacity(if active { lanes as usize } else { 0 });
        let (deals, normal_mode) = (policy.deals(), cfg.errors.program_mode as u8);
        Reclaim { policy, active, page_at, page_types: g.bits_per_cell, deals, normal_mode, lanes }
    }

    /// Whether anything ever moves because of reads.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether it may deal units over blocks of its own.
    pub fn deals(&self) -> bool {
        self.deals
    }

    /// See [`Ftl::idle_after_ns`].
    pub fn idle_after_ns(&self) -> Option<u64> {
        self.policy.idle_after_ns()
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        self.policy.memory_bytes()
    }
}

impl Ftl {
    /// The host reads a logical unit from flash.
    #[inline]
    pub fn note_unit(&mut self, lpn: Lpn) {
        if self.reclaim.deals {
            self.reclaim.policy.on_unit_read(lpn);
        }
    }

    /// A page is about to be read: the policy counts it.
    #[inline]
    pub(super) fn note_read(&mut self, flash: &Flash, op: &Op) {
        if self.reclaim.active {
            self.count_read(op, flash.chip.mode(op.at.block));
        }
    }

    fn count_read(&mut self, op: &Op, mode: u8) {
        let (block, at) = self.layout.block_of_page(op.ppn);
        let read = PageRead {
            physical: op.at.block,
            wordline: self.order.place(op.at.page).wordline,
            page_type: op.page_type,
            mode,
            cycles: self.blocks.erase_count(block),
        };
        if op.cause == Cause::Host {
            self.counts.host_reads_by_type[usize::from(op.page_type)] += 1;
        }
        let urgency = self.reclaim.policy.on_read(&read);
        if self.reclaim.deals && self.reclaim.policy.sample_due() {
            let (look, policy) = self.look(Wish { block, member: at % self.layout.span });
            policy.sample(&look);
        }
        if urgency == Urgency::No {
            return;
        }
        let lane = self.layout.lane_of(block);
        let member = at % self.layout.span;
        let place = self.place_in_lane(lane, block, member);
        self.work(lane).wishes.add(Wish { block, member }, place, urgency);
        if !self.reclaim.lanes.contains(&lane) {
            self.reclaim.lanes.push(lane);
        }
    }

    fn place_in_lane(&self, lane: LaneId, block: BlockId, member: u32) -> usize {
        ((block.0 - self.layout.first_block(lane).0) * self.layout.span + member) as usize
    }

    /// Whether reads have put something on a list since [`Ftl::look_at_lists`].
    #[inline]
    pub fn has_new_wishes(&self) -> bool {
        !self.reclaim.lanes.is_empty()
    }

    /// Lets the lanes whose lists have grown look at them.
    pub fn look_at_lists(&mut self, flash: &mut Flash) {
        while let Some(lane) = self.reclaim.lanes.pop() {
            self.pump_lane(flash, lane);
        }
    }

    /// Starts the next job that is due to reads.
    #[inline]
    pub(super) fn start_reclaim(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        self.reclaim.active
            && self.work(lane).wishes.some()
            && !self.work(lane).is_dealing()
            && self.next_wish(flash, lane)
    }

    fn next_wish(&mut self, flash: &mut Flash, lane: LaneId) -> bool {
        loop {
            if let Some(thinning) = self.work(lane).wishes.thinning {
                if let Some(started) = self.thin_on(flash, lane, thinning) {
                    return started;
                }
                continue;
            }
            let quiet = self.mover.quiet;
            let Some(wish) = self.work(lane).wishes.front(quiet) else {
                self.need_no_room(lane);
                return false;
            };
            let state = self.blocks.state(wish.block);
            if state == BlockState::Open {
                if self.ask(wish, Want::Nothing) == Want::Nothing {
                    self.drop_wish(lane, wish);
                    continue;
                }
                if !self.may_abandon(lane, wish.block) {
                    return false;
                }
                self.allocator.abandon(lane, wish.block, &mut self.blocks, self.clock);
                self.replicas.close_off(&self.layout, wish.block);
                continue;
            }
            if state != BlockState::Closed || self.blocks.is_failing(wish.block) {
                self.drop_wish(lane, wish);
                continue;
            }
            if self.blocks.programming(wish.block) > 0 {
                return false;
            }
            match self.ask(wish, Want::Nothing) {
                Want::Nothing => self.drop_wish(lane, wish),
                Want::Block => return self.begin_whole(lane, wish),
                Want::Deal { mode, paired } => {
                    let forced = !self.work(lane).wishes.now.is_empty();
                    match self.begin_deal(flash, lane, DealWish { wish, mode, paired, forced }) {
                        Begun::Later => return false,
                        Begun::Yes if self.work(lane).is_dealing() => return false,
                        Begun::Yes => {}
                        Begun::NoBlocks => return self.begin_whole(lane, wish),
                    }
                }
                want => {
                    self.drop_wish(lane, wish);
                    self.blocks.start_moving(wish.block, Cause::ReadReclaim);
                    self.work(lane).wishes.thinning =
                        Some(Thinning { wish, left: Want::Nothing, next: Some(want) });
                }
            }
        }
    }

    /// Whether filling a block may stop, so that it can be emptied. The room in a block that takes moved data belongs
    /// to the moves under way, and without another block at hand cleaning could not go on: then it is filled first.
    fn may_abandon(&mut self, lane: LaneId, block: BlockId) -> bool {
        let work = &self.mover.lanes[lane.index()];
        let busy = work.has_job()
            || work.is_dealing()
            || work.reads > 0
            || work.gathered.iter().any(|units| !units.is_empty());
        let spare = self.allocator.free(lane) > self.mover.reserve;
        let may = self.allocator.is_open_for_host(lane, block) || (!busy && spare);
        self.work(lane).wishes.lacks_room = !may && !spare;
        may
    }

    /// Begins moving a whole block to where cleaning's data goes, if there is room.
    fn begin_whole(&mut self, lane: LaneId, wish: Wish) -> bool {
        let room = self.fits(lane, wish.block, Stream::Cleaning);
        let work = self.work(lane);
        work.wishes.lacks_room = !room;
        if !room || work.coming >= COMING_WITH_RECLAIM {
            return false;
        }
        self.counts.reclaims += 1;
        self.drop_wish(lane, wish);
        self.begin(lane, wish.block, Cause::ReadReclaim)
    }

    /// No deal waits for room any more.
    fn need_no_room(&mut self, lane: LaneId) {
        if self.reclaim.deals {
            self.work(lane).wishes.lacks_room = false;
        }
    }

    fn ask(&mut self, wish: Wish, left: Want) -> Want {
        let (look, policy) = self.look(wish);
        policy.wants(&look, left)
    }

    /// A block as the policy looks at it, and the policy.
    fn look(&mut self, wish: Wish) -> (Look<'_>, &mut read_reclaim::Policy) {
        let look = Look {
            map: &self.map,
            layout: &self.layout,
            blocks: &self.blocks,
            replicas: &self.replicas,
            page_at: &self.reclaim.page_at,
            page_types: self.reclaim.page_types,
            block: wish.block,
            member: wish.member,
            at: self.layout.member(wish.block, wish.member),
            cycles: self.blocks.erase_count(wish.block),
        };
        (look, &mut self.reclaim.policy)
    }

    pub(super) fn drop_wish(&mut self, lane: LaneId, wish: Wish) {
        let place = self.place_in_lane(lane, wish.block, wish.member);
        let wishes = &mut self.work(lane).wishes;
        wishes.remove_front();
        wishes.listed[place] = NOT_LISTED;
    }

    /// Starts moving the next part of a block, or ends with it. `None` if the next wish may be looked at.
    fn thin_on(&mut self, flash: &mut Flash, lane: LaneId, thinning: Thinning) -> Option<bool> {
        let wish = thinning.wish;
        let want = thinning.next.unwrap_or_else(|| self.ask(wish, thinning.left));
        let (types, pages) = match want {
            Want::Nothing => return self.end_thinning(flash, lane, wish),
            Want::Block | Want::Deal { .. } => {
                self.work(lane).wishes.thinning = None;
                return Some(self.begin(lane, wish.block, Cause::ReadReclaim));
            }
            Want::Wordline(wordline) => {
                let types = self.reclaim.page_types;
                let pages = &self.reclaim.page_at[(wordline * types) as usize..][..types as usize];
                (u8::MAX, (pages[0], pages[pages.len() - 1] + 1))
            }
            Want::Types(types) => (types, (0, self.order.pages())),
            Want::Adopt => {
                self.adopt_all(wish);
                self.work(lane).wishes.thinning = Some(Thinning { wish, left: want, next: None });
                return None;
            }
            Want::Replicate { place, to } => {
                let full = self.is_busy(lane);
                let (left, next) = if full { (thinning.left, Some(want)) } else { (want, None) };
                self.work(lane).wishes.thinning = Some(Thinning { wish, left, next });
                if full {
                    return Some(false);
                }
                let page = self.reclaim.page_at[place as usize];
                self.replicate(flash, lane, wish, page, to);
                return None;
            }
        };
        let only = if let Want::Wordline(wordline) = want { wordline } else { NONE };
        // A block's worth of pages stays for cleaning, which must be able to go on.
        let (per_page, per_block) = (self.layout.units_per_page, self.layout.data_units_per_block());
        let units = (pages.1 - pages.0) * per_page;
        if !self.has_room(lane, units.min(self.blocks.live(wish.block)) + per_block, Stream::Cleaning) {
            self.work(lane).wishes.lacks_room = true;
            return self.end_thinning(flash, lane, wish).or(Some(false));
        }
        let part = Part { member: wish.member, types, wordline: only };
        let cursor = self.layout.first_unit_of(wish.block, 0, pages.0).0;
        let end = self.layout.first_unit_of(wish.block, 0, pages.1).0;
        let wishes = &mut self.work(lane).wishes;
        (wishes.lacks_room, wishes.thinning) = (false, Some(Thinning { wish, left: want, next: None }));
        let job = Job { block: wish.block, part: Some(part), cursor, end, ahead: cursor };
        self.work(lane).jobs[RECLAIM] = Some(job);
        Some(true)
    }

    /// Nothing more must leave a block; what was read from it is on its way.
    fn end_thinning(&mut self, flash: &mut Flash, lane: LaneId, wish: Wish) -> Option<bool> {
        self.work(lane).wishes.thinning = None;
        self.blocks.set_state(wish.block, BlockState::Thinning);
        if self.blocks.leaving(wish.block) == 0 {
            self.thinned(flash, wish.block);
        }
        None
    }

    /// All that was to leave a block has left: it is closed again, or, if it is empty, erased.
    pub(super) fn thinned(&mut self, flash: &mut Flash, block: BlockId) {
        self.blocks.set_state(block, BlockState::Closed);
        if self.blocks.is_failing(block) {
            return self.retire_when_closed(flash, block);
        }
        let lane = self.layout.lane_of(block);
        if self.blocks.live(block) == 0 && self.work(lane).coming < COMING_WITH_RECLAIM {
            self.blocks.start_moving(block, Cause::ReadReclaim);
            self.blocks.set_state(block, BlockState::Draining);
            self.work(lane).coming += 1;
            self.empty(flash, block);
        }
    }

    /// Whether a page belongs to the part of a block that is moved.
    pub(super) fn is_of(&self, part: &Part, page: Ppn) -> bool {
        let (in_member, member) = {
            let (_, at) = self.layout.block_of_page(page);
            (at / self.layout.span, at % self.layout.span)
        };
        let place = self.order.place(in_member);
        member == part.member
            && part.types >> place.page_type & 1 == 1
            && (part.wordline == NONE || part.wordline == place.wordline)
    }

    /// A block is erased: its reads are forgotten, and it is programmed in the normal mode.
    pub(super) fn forget_reads(&mut self, flash: &mut Flash, block: BlockId) {
        if !self.reclaim.active {
            return;
        }
        let lane = self.layout.lane_of(block);
        for member in 0..self.layout.span {
            self.reclaim.policy.on_erase(self.layout.member(block, member).block);
            let at = self.place_in_lane(lane, block, member);
            self.work(lane).wishes.remove(Wish { block, member }, at);
        }
        if self.reclaim.deals {
            self.make_normal(flash, block);
            if !self.work(lane).wishes.some() {
                self.need_no_room(lane);
            }
        }
    }

    /// A page moves because of reads: how much of what it stands it had seen by then.
    pub(super) fn note_margin(&mut self, flash: &Flash, op: &Op) {
        let Some(margin) = flash.chip.margin(op.at.block, op.at.page) else { return };
        let seen_q12 = margin.erc_q12;
        self.counts.reclaimed_pages += 1;
        self.counts.premature_pages += u64::from(seen_q12 < 2_048);
        self.counts.disturbed_q12_max = self.counts.disturbed_q12_max.max(seen_q12);
    }
}
