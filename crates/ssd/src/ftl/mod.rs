//! The flash translation layer: which page holds what, and all work that keeps room for more.
//!
//! A state machine with an outbox: it is told what was written, read and done, changes its tables, and issues flash
//! operations. Whether time passes until they are done is the executor's matter.

mod bounded;
mod chips;
mod cleaning;
mod contexts;
mod counts;
mod fading;
pub mod foresight;
pub mod gc_trigger;
pub mod gc_victim;
pub mod locks;
pub mod media;
pub mod moves;
pub mod outside;
pub mod page_class;
pub mod program_mode;
pub mod read_reclaim;
mod reads;
mod reclaim;
pub mod sanitize;
mod separation;
mod service_times;
pub mod slc_cache;
pub mod stream;
pub mod tables;
pub mod techniques;
pub(crate) mod wear;
pub mod work;
pub mod write;
mod writes;

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, OpTimes};
use crate::ftl::cleaning::Cleaning;
use crate::ftl::locks::Locks;
use crate::ftl::media::Parts;
use crate::ftl::page_class::PageClasses;
use crate::ftl::program_mode::ProgramModes;
use crate::ftl::reclaim::Reclaim;
use crate::ftl::separation::Separation;
use crate::ftl::stream::{StreamId, Streams};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::facts::{Death, FactsTable};
use crate::ftl::tables::layout::Layout;
use crate::ftl::techniques::{Seen, Shown, Techniques};
use crate::ftl::work::Work;
use crate::ftl::work::lane::LaneWork;
use crate::ftl::write::direct::Direct;
use crate::ftl::write::gather::Gather;
use crate::ftl::write::open::Allocator;
use crate::ftl::write::placement::{Placement, Space};
use crate::ftl::write::ring::Ring;
use crate::ftl::write::waits::{Lack, Waits};
use crate::nand::order::PageOrder;
use crate::nand::{Chip, Outcome};
use crate::observe::{Effect, Effects};
use crate::restore::{MOST, Verdict, ensure, keep_room};
use crate::sections::{self, ErrorModel, Sections};
use crate::units::{BlockId, LaneId, Lpn, OpId, Pun, SimTime, SlotId};
use core::ops::Range;
use serde::{Deserialize, Serialize};

pub use counts::{EXPOSURE_CAUSES, Exposures, FtlCounts};
pub use media::Media;
pub use moves::Moves;
pub use reads::{Brought, End, Found, LastRead, Reader};
pub use service_times::ServiceTimes;
pub use tables::Place;
pub use writes::Paged;

/// What begins when the host has been silent for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum IdleWork {
    /// Cleaning ahead.
    Cleaning,
    /// Blocks that must be looked at because of reads, and can wait.
    Reclaim,
    /// Data of the SLC cache that nobody lacks the room of.
    Destage,
}

impl IdleWork {
    /// All of it, in order.
    pub const ALL: [IdleWork; 3] = [IdleWork::Cleaning, IdleWork::Reclaim, IdleWork::Destage];
}

/// The end of a program, for one of the slots it carried.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Programmed {
    /// The slot.
    pub slot: SlotId,
    /// Whether its data is now in flash.
    pub outcome: Outcome,
    /// When the program was queued.
    pub queued: SimTime,
    /// Where its time went.
    pub times: OpTimes,
}

/// Bytes of a drive's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableBytes {
    /// Of all that grow with the drive.
    pub all: usize,
    /// Of those that the read-reclaim policy keeps, its counters and limits, and of what carries out what it wants.
    pub read_reclaim: usize,
    /// Of the firmware's, of what is to be locked.
    pub locks: usize,
}

/// The translation layer: the host's writes and reads, above moves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ftl {
    /// Data on the move, and below it what is where.
    pub moves: Moves,
    /// Slots whose programs ended since the executor last looked.
    pub programmed: Vec<Programmed>,
    /// Host data that waits for its page.
    pub gather: Gather,
    /// Units that are written without operations and wait for a page of their stream.
    pub(crate) direct: Direct,
}

/// Which policies decide.
#[derive(Clone, Copy, Debug)]
pub struct Policies<'a> {
    /// Which block is reclaimed.
    pub gc_victim: &'a gc_victim::Config,
    /// When cleaning starts, and how far it goes.
    pub gc_trigger: &'a gc_trigger::Config,
    /// Whether data must move because of reads, and which.
    pub read_reclaim: &'a read_reclaim::Config,
    /// In which program mode a block is programmed.
    pub program_mode: &'a program_mode::Config,
    /// Which page type holds which data.
    pub page_class: &'a page_class::Config,
    /// How many blocks cache host writes with one bit per cell.
    pub slc_cache: &'a slc_cache::Config,
    /// What happens to copies that nobody may read.
    pub sanitize: &'a sanitize::Config,
    /// Whether work of dies may be stopped for reads.
    pub suspends: bool,
    /// Those of techniques.
    pub techniques: techniques::Configs<'a>,
}

impl Ftl {
    /// An empty drive of a checked configuration, with so many slots of host data above it.
    pub fn new(
        cfg: &Sections,
        policies: &Policies<'_>,
        layout: Layout,
        order: PageOrder,
        (stream, beside, streams): (stream::Policy, Option<stream::hotness::Policy>, Streams),
        slots: u32,
        erase_count: impl Fn(u32) -> u32,
    ) -> Self {
        let logical = cfg.logical_units();
        let needs = stream.needs();
        let classes = core::array::from_fn(|at| match &beside {
            Some(_) => streams.class(StreamId(at as u8)),
            None => stream.class(streams.of_policy(StreamId(at as u8))),
        });
        let program_modes = ProgramModes::new(cfg, policies.program_mode);
        let allocator =
            Allocator::new(&layout, cfg.cleaning.reserve_blocks, (streams, classes), program_modes);
        let (block, all) = (layout.data_units_per_block(), u64::from(layout.blocks()));
        let page_classes = PageClasses::new(cfg, policies.page_class, block, all * u64::from(block));
        let ring = Ring::new(policies.slc_cache, &layout, cfg.one_bit_mode());
        let layout = layout.with_one_bit(ring.is_used());
        let reclaim = Reclaim::new(cfg, policies.read_reclaim, &layout, (logical as u32, ring.is_used()));
        let sorting = (&page_classes, ring.is_used());
        let work = Work::new(cfg, &layout, streams, reclaim.is_active(), sorting);
        let physical = (layout.blocks() * layout.units_per_block()) as usize;
        let turns = if cfg.allocation.placement == sections::Placement::Static { layout.lanes } else { 0 };
        let mut gather = Gather::new(streams, (layout.units_per_page, layout.pages_per_row), slots, turns);
        // With a cache what the host writes is not sorted before it is destaged.
        if page_classes.sorts() && !ring.is_used() {
            gather = gather.by_class(page_classes.count(), page_classes.queue_units());
        }
        let by = (policies.sanitize, policies.suspends);
        let locks = Locks::new(cfg, by, &layout, (work.operations_at_most(), slots));
        let loses = cfg.errors.model == ErrorModel::Cells || locks.manner.reprograms();
        let facts = FactsTable::new(needs.facts, physical, locks.are_on());
        let tables = Tables::new(cfg, (layout, order), erase_count, (facts, loses));
        let layout = &tables.layout;
        let techniques = Techniques::new(&policies.techniques, cfg, layout);
        let mut media = Media {
            parts: Parts::new(layout),
            outbox: Vec::with_capacity(work.operations_at_most() + locks.operations_at_most() + 1024),
            effects: Effects::default(),
            waits: Waits::watched(locks.renewals.are_on()),
            space: Space {
                allocator: allocator.by_wear(techniques.opens_least_erased()).bounded(locks.bound.is_on()),
                placement: Placement::new(cfg, layout),
                ring,
            },
            work,
            reclaim,
            cleaning: Cleaning::new(
                (policies.gc_victim, policies.gc_trigger),
                cfg.drive.seed,
                needs.victims,
                layout,
            ),
            locks: locks.beside_copies(techniques.copies()),
            techniques,
            tables,
        };
        let cached = if media.space.ring.is_used() { media.tables.layout.lanes } else { 0 };
        let Media { space, tables, work, waits, cleaning, .. } = &mut media;
        for lane in (0..cached).map(LaneId) {
            cleaning.tend_ring(space, (tables, work), waits, lane);
        }
        let direct = Direct::new(streams, media.tables.layout.units_per_page);
        let moves = Moves { media, page_classes, separation: Separation::new(stream, beside) };
        Ftl { moves, programmed: Vec::with_capacity(64), gather, direct }
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest; the flash is checked already.
    pub(crate) fn restored(&mut self, fresh: Ftl, flash: &Flash) -> Verdict {
        let (moves, media) = (fresh.moves, &mut self.moves.media);
        let fresh_media = moves.media;
        self.moves.separation.restored(moves.separation)?;
        self.moves.page_classes.restored(moves.page_classes)?;
        ensure(self.direct.is_idle(), "writes between two layers")?;
        self.direct = fresh.direct;
        ensure(media.outbox.is_empty() && self.programmed.is_empty(), "operations between two layers")?;
        keep_room(&mut media.outbox, &fresh_media.outbox);
        keep_room(&mut self.programmed, &fresh.programmed);
        self.gather.restored(&fresh.gather, media.tables.map.logical())?;
        ensure(self.gather.sequence < MOST, "writes so far")?;
        media.restored(fresh_media, flash)?;
        self.check(flash)
    }

    /// Checks that counts and tables agree (slow); the error names the first place where they do not.
    pub fn check(&self, flash: &Flash) -> Result<(), String> {
        let media = &self.moves.media;
        media.tables.map.check()?;
        media.tables.check_replicas()?;
        media.locks.check_locks(&media.tables, flash, &media.work)?;
        media.work.check_blocks(&media.tables, flash)?;
        let units = media.tables.layout.units_per_block();
        for b in 0..media.tables.layout.blocks() {
            let from = b * units;
            let counted =
                (from..from + units).filter(|&unit| media.tables.map.is_live(Pun(unit))).count() as u32;
            let said = media.tables.blocks.live(BlockId(b));
            if counted != said {
                return Err(format!("block {b} holds {counted} live units, its count says {said}"));
            }
            let state = media.tables.blocks.state(BlockId(b));
            if counted > 0 && matches!(state, BlockState::Free | BlockState::Erasing | BlockState::Bad) {
                return Err(format!("block {b} is {state:?} and holds {counted} live units"));
            }
            media.space.placement.check_place(&media.tables, BlockId(b))?;
        }
        for lane in (0..media.tables.layout.lanes).map(LaneId) {
            let first = media.tables.layout.first_block(lane).0;
            let blocks = (first..first + media.tables.layout.blocks_per_lane).map(BlockId);
            let counted =
                blocks.filter(|&block| media.tables.blocks.state(block) == BlockState::Free).count() as u32;
            let said = media.space.allocator.free(lane) + media.space.ring.free(lane);
            if counted != said {
                return Err(format!("lane {} has {counted} free blocks, its list says {said}", lane.0));
            }
            let Tables { layout, blocks, .. } = &media.tables;
            media.space.allocator.check_refusals((layout, blocks), &media.work, lane)?;
        }
        media.space.ring.check_rings(&media.tables)?;
        media.reclaim.check_candidates(&media.tables, &media.work)?;
        Ok(())
    }

    /// Chips whose pages remember what errors they carry, if pages are copied inside them.
    pub(crate) fn with_copies(&self, chip: Chip) -> Chip {
        if self.moves.media.techniques.copies() { chip.with_copies() } else { chip }
    }

    /// Above those chips, which are fresh.
    pub(crate) fn above(mut self, chip: &mut Chip) -> Self {
        self.moves.media.techniques.learn(chip);
        self.moves.media.outbox.reserve(self.moves.media.techniques.operations_at_most());
        self
    }

    /// Flash operations that moves may have in flight at once, beside so many of the host's: they are kept for them.
    pub fn operations_of_moves(&self, of_host: usize) -> usize {
        let media = &self.moves.media;
        let locks = media.locks.operations_at_most();
        let moves = media.work.operations_at_most() + media.techniques.operations_at_most() + locks;
        // Behind each page of data there may be one of parity.
        let parity = if media.tables.layout.parity.is_written() { of_host + moves } else { 0 };
        let moves = moves + parity;
        moves + media.space.allocator.late_erases_at_most(&media.tables, &media.work, of_host + moves)
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> TableBytes {
        let media = &self.moves.media;
        let reclaim = media.reclaim.bytes() + media.tables.replicas.bytes();
        let locks = media.locks.bytes() + media.tables.facts.bytes();
        let all = media.tables.map.bytes()
            + reclaim
            + media.techniques.bytes()
            + locks
            + media.locks.clock_bytes()
            + media.tables.layout.blocks() as usize * core::mem::size_of::<[u64; 5]>()
            + media.space.ring.bytes()
            + self.moves.page_classes.bytes(u64::from(media.tables.map.logical()));
        let read_reclaim = reclaim + media.techniques.bytes_of("ftl.read_reclaim");
        TableBytes { all, read_reclaim, locks }
    }

    /// Nanoseconds without commands after which [`Ftl::set_idle`] should be called, if ever.
    pub fn idle_after_ns(&self, work: IdleWork) -> Option<u64> {
        let media = &self.moves.media;
        match work {
            IdleWork::Cleaning => media.cleaning.trigger.idle_after_ns(),
            IdleWork::Reclaim => media.reclaim.idle_after_ns(),
            IdleWork::Destage => media.space.ring.idle_after_ns(),
        }
    }

    /// The cells' clock has ticked: lanes for which techniques have something new to do are looked at soon.
    #[cold]
    pub(crate) fn on_tick(&mut self, chip: &Chip) {
        let Media { techniques, tables, work, .. } = &mut self.moves.media;
        if techniques.are_on() {
            techniques.tick(&Seen { tables, chip }, &mut work.looks);
        }
    }

    /// Whether techniques have something to do that has not begun.
    pub(crate) fn is_behind(&self) -> bool {
        let media = &self.moves.media;
        media.techniques.are_on() && media.work.looks.any()
    }

    /// The key of a policy that must know what the host is going to do, if there is one.
    #[inline]
    pub(crate) fn looks_ahead(&self) -> Option<&'static str> {
        match (self.moves.separation.policy.needs().foresight, self.moves.page_classes.looks_ahead()) {
            (true, _) => Some("ftl.stream.policy"),
            (false, true) => Some("ftl.page_class.policy"),
            (false, false) => None,
        }
    }

    /// The host has handed over a command that overwrites units, or trims them: false if those who look ahead have
    /// foreseen another.
    #[cold]
    pub(crate) fn is_foreseen(&mut self, units: Range<u32>, is_trim: bool) -> bool {
        let by_stream = !self.moves.separation.policy.needs().foresight
            || self.moves.separation.policy.on_accept(units.clone(), is_trim);
        by_stream
            && (!self.moves.page_classes.looks_ahead() || self.moves.page_classes.on_accept(units, is_trim))
    }

    /// Looks whether lanes should be cleaned, and starts or continues: the host has no page left.
    pub fn check_lanes(&mut self, flash: &mut Flash) {
        (0..self.moves.media.tables.layout.lanes)
            .map(LaneId)
            .for_each(|lane| self.moves.check_lane(flash, lane));
    }

    /// Cleaning catches up with such a host, until a pace is set.
    pub fn catch_up(&mut self, flash: &mut Flash) {
        self.moves.media.work.catches_up = true;
        self.check_lanes(flash);
    }

    /// How fast the host is from now on, where no time passes.
    pub fn set_pace(&mut self, pace: Pace) {
        let media = &mut self.moves.media;
        media.work.catches_up = false;
        let changed = std::mem::replace(&mut media.work.pace, pace) != pace;
        for lane in (0..media.tables.layout.lanes).map(LaneId).filter(|_| changed) {
            // Not yet cleaned: that is for the executor that goes on.
            media.update_wanted(lane);
        }
    }

    /// Tells whether the host has been silent long enough for something to begin; it begins, or no more of it does.
    pub fn set_idle(&mut self, flash: &mut Flash, work: IdleWork, idle: bool) {
        let media = &mut self.moves.media;
        match work {
            IdleWork::Cleaning => media.work.idle = idle,
            IdleWork::Reclaim => media.work.quiet = idle,
            IdleWork::Destage => media.space.ring.is_idle = idle,
        }
        for lane in (0..media.tables.layout.lanes).map(LaneId).filter(|_| idle) {
            self.moves.check_lane(flash, lane);
        }
    }

    /// Lets the lanes whose lists have grown look at them.
    pub fn look_at_candidates(&mut self, flash: &mut Flash) {
        while let Some(lane) = self.moves.media.work.looks.take_next() {
            if !(self.moves.media.locks.are_on() && self.moves.lock_lane(flash, lane)) {
                self.moves.pump_lane(flash, lane);
            }
        }
    }

    /// Tries again to start moves that found nothing to do; for when the host waits for room. Returns whether a block
    /// was given up for it that had been kept for moves.
    pub fn retry(&mut self, flash: &mut Flash) -> bool {
        let given_up = self.give_up_claims(flash);
        let begins_anew = self.moves.media.cleaning.trigger.ends_without_victims();
        for lane in (0..self.moves.media.tables.layout.lanes).map(LaneId) {
            // A round that ended because nothing was worth it may begin anew: something may have died since.
            if begins_anew && !self.moves.media.work.lane_mut(lane).wanted {
                self.moves.media.update_wanted(lane);
            }
            let work = self.moves.media.work.lane_mut(lane);
            let at_rest = !work.is_moving();
            let waits = |work: &LaneWork| {
                work.wanted
                    || work.short
                    || work.has_job()
                    || work.has_own
                    || work.has_candidates()
                    || work.has_gathered()
            };
            if at_rest
                && (waits(work)
                    || self.moves.media.space.ring.wants_destage(
                        &self.moves.media.work,
                        &self.moves.page_classes,
                        lane,
                    ))
            {
                self.moves.pump_lane(flash, lane);
                // A job that found no page for its stream may have what it lacks behind it: the block that the last job
                // emptied can be erased when the rest of it, less than a page, is programmed.
                let work = self.moves.media.work.lane_mut(lane);
                if !work.is_moving() && work.has_job() {
                    self.moves.program_all_gathered(flash, lane, true);
                }
            }
        }
        given_up
    }

    /// The host lacks a page: no block is kept from it for what must leave pages, if one was. It goes on then.
    /// Returns whether that was so.
    #[cold]
    pub(in crate::ftl) fn give_up_claims(&mut self, flash: &mut Flash) -> bool {
        if !self.moves.media.space.allocator.has_claims() {
            return false;
        }
        let mut any = false;
        let keeps = self.moves.page_classes.sorts() && !self.moves.media.locks.are_on();
        for lane in (0..self.moves.media.tables.layout.lanes).map(LaneId) {
            let Media { space, tables, work, .. } = &mut self.moves.media;
            if work.lane_mut(lane).is_moving() || work.is_retiring(&tables.blocks, lane) {
                continue;
            }
            let mut is_given_up = space.unclaim(tables, work, lane, keeps);
            if !is_given_up && space.allocator.has_claim(lane) {
                // What waits there goes now. If nothing does, nothing needs the block.
                self.moves.program_all_gathered(flash, lane, true);
                let Media { space, work, .. } = &mut self.moves.media;
                is_given_up = !work.lane_mut(lane).is_moving() && space.allocator.unclaim(lane);
            }
            if is_given_up {
                self.moves.media.waits.come(Lack::Page);
                any = true;
            }
        }
        any
    }

    /// Somebody waits for locks and nothing goes on: whatever waits for room is tried again. Returns whether that
    /// helps.
    pub fn retry_locks(&mut self, flash: &mut Flash) -> bool {
        let Media { locks, tables, work, .. } = &mut self.moves.media;
        locks.hurry_deferred(tables, work);
        (0..tables.layout.blocks()).map(BlockId).for_each(|block| locks.list_all(tables, work, block));
        for lane in (0..self.moves.media.tables.layout.lanes).map(LaneId) {
            let Media { locks, tables, work, .. } = &mut self.moves.media;
            locks.lists.look_for_room(tables, work, lane);
            self.moves.check_lane(flash, lane);
            self.moves.program_all_gathered(flash, lane, true);
        }
        self.look_at_candidates(flash);
        self.moves.media.is_carrying(flash)
    }

    /// Nothing goes on, and what is on its way to being free lacks a page itself, for what is left of it: blocks
    /// without live data, which need none, are erased, or those of the cache with the least. Returns whether any is.
    #[cold]
    pub fn erase_dead(&mut self, flash: &mut Flash) -> bool {
        for lane in (0..self.moves.media.tables.layout.lanes).map(LaneId) {
            let Media { tables, space, work, .. } = &mut self.moves.media;
            if work.lanes[lane.index()].has_job() {
                continue;
            }
            let begun = if let Some(block) = cleaning::dead_block(tables, lane) {
                self.moves.start_with(lane, block)
            } else if let Some(block) = space.give_up_least(tables, work, lane) {
                self.moves.media.destage(lane, block)
            } else {
                false
            };
            if begun {
                self.moves.pump_lane(flash, lane);
            }
        }
        self.moves.media.is_carrying(flash)
    }

    /// The flash is told how old all blocks are.
    pub(crate) fn tell_wear(&self, flash: &mut Flash) {
        for physical in 0..flash.chip.blocks() {
            flash.note_age(physical, self.moves.media.age_q12(&flash.chip, physical));
        }
    }

    /// Ages a block of the firmware's numbering, chips included.
    pub fn set_erase_count(&mut self, flash: &mut Flash, block: BlockId, cycles: u32) {
        let media = &mut self.moves.media;
        media.tables.blocks.set_erase_count(block, cycles);
        for k in 0..media.tables.layout.span {
            let physical = media.tables.layout.member(block, k).block;
            let before = flash.chip.erase_count(physical);
            flash.chip.set_erase_count(physical, cycles);
            let shown = Shown::Cycled { before, ticks: None };
            media.techniques.shown(physical, shown, &mut flash.chip);
        }
        media.update_wear(flash, block);
    }

    /// Forgets the data of a logical unit.
    #[inline]
    pub fn trim(&mut self, lpn: Lpn) {
        let media = &mut self.moves.media;
        let old = media.tables.map.remove(lpn);
        media.forget_replica(lpn);
        self.moves.separation.policy.on_trim(lpn);
        self.moves.page_classes.on_trim(lpn);
        if old.is_some() {
            media.invalidate(old, Death::Ended);
            media.work.counts.trimmed_units += 1;
        }
        media.effects.push(Effect::Trim { lpn });
    }

    /// Told that an operation is done: a program of host data, or one of its own (`Moves::on_own_done`). After the
    /// program of a first page that is read for its errors, if anybody asks for them. Host reads are not the
    /// translation layer's.
    #[inline(always)]
    pub fn on_done(&mut self, flash: &mut Flash, id: OpId) {
        let &Op { kind, cause, at, ppn, outcome, .. } = flash.pool.get(id);
        if at.page == 0 && matches!(kind, OpKind::Program | OpKind::Copyback) {
            self.moves.media.first_programmed(flash, id);
        }
        match (kind, cause) {
            (OpKind::Program, Cause::Host | Cause::Promote) => self.on_host_program(flash, id, ppn, outcome),
            _ => self.moves.on_own_done(flash, id),
        }
    }
}
