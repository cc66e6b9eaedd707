//! The flash translation layer: which page holds what, and all work that keeps room for more.
//!
//! A state machine with an outbox: it is told what was written, read and done, changes its tables, and issues flash
//! operations. Whether time passes until they are done is the executor's matter.

mod chips;
mod contexts;
mod counts;
mod data;
mod ends;
mod fading;
pub mod foresight;
pub mod gc_trigger;
pub mod gc_victim;
pub mod locks;
mod moves;
pub mod outside;
pub mod page_class;
pub mod program_mode;
pub mod read_reclaim;
mod reads;
mod restore;
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

use crate::flash::Flash;
use crate::flash::op::OpTimes;
use crate::ftl::locks::Locks;
use crate::ftl::page_class::PageClasses;
use crate::ftl::program_mode::ProgramModes;
use crate::ftl::stream::{StreamId, Streams};
use crate::ftl::tables::layout::Layout;
use crate::nand::order::PageOrder;
use crate::nand::{Chip, Outcome};
use crate::observe::Effects;
use crate::sections::{self, ErrorModel, Sections};
use crate::units::{BlockId, LaneId, OpId, Pun, SimTime, SlotId};
use core::ops::Range;
pub use counts::{EXPOSURE_CAUSES, Exposures, FtlCounts};
use moves::reclaim::Reclaim;
use moves::victims::Cleaning;
pub use reads::{Brought, End, Found, LastRead};
use separation::Separation;
use serde::{Deserialize, Serialize};
pub use service_times::ServiceTimes;
pub use tables::Place;
use tables::Tables;
use tables::blocks::BlockState;
use tables::facts::FactsTable;
use techniques::{Seen, Shown, Techniques};
use work::Work;
use write::direct::Direct;
use write::gather::Gather;
use write::open::Allocator;
use write::placement::{Placement, Space};
use write::ring::Ring;
use write::waits::Waits;

/// What begins when the host has been silent for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum IdleWork {
    /// Cleaning ahead.
    Cleaning,
    /// Blocks that must be looked at because of reads, and can wait.
    Reclaim,
}

impl IdleWork {
    /// All of it, in order.
    pub const ALL: [IdleWork; 2] = [IdleWork::Cleaning, IdleWork::Reclaim];
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
    /// Of those that the read-reclaim policy keeps, its counters and limits, and of those that its replicas need.
    pub read_reclaim: usize,
    /// Of the firmware's, of what is to be locked.
    pub locks: usize,
}

/// What is where and what is under way; what becomes of units and blocks, and who is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Media {
    /// Which page holds what, and what is known of each block.
    pub tables: Tables,
    /// Operations issued and not yet taken by the executor.
    pub outbox: Vec<OpId>,
    /// What happens to data, for an observer.
    #[serde(skip)]
    pub effects: Effects,
    /// Who waits for room.
    pub waits: Waits,
    /// Where pages for data come from.
    pub(crate) space: Space,
    /// What is under way or asked for, and what was done.
    pub work: Work,
    /// Moves because of reads.
    pub(crate) reclaim: Reclaim,
    /// When a lane is cleaned, and which block.
    pub(crate) cleaning: Cleaning,
    /// What nobody may read any more.
    pub(crate) locks: Locks,
    pub(crate) techniques: Techniques,
}

/// Data on the move: what a lane does next, and where what it reads goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Moves {
    /// What it moves, and all that must know.
    pub media: Media,
    pub(crate) page_classes: PageClasses,
    /// Which stream data goes to.
    pub(crate) separation: Separation,
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
        (stream, streams): (stream::Policy, Streams),
        slots: u32,
        erase_count: impl Fn(u32) -> u32,
    ) -> Self {
        let logical = cfg.logical_units();
        let reclaim = Reclaim::new(cfg, policies.read_reclaim, &order, &layout, logical as u32);
        let needs = stream.needs();
        let classes = core::array::from_fn(|at| stream.class(streams.of_policy(StreamId(at as u8))));
        let program_modes = ProgramModes::new(cfg, policies.program_mode);
        let allocator =
            Allocator::new(&layout, cfg.cleaning.reserve_blocks, (streams, classes), program_modes);
        let (block, all) = (layout.data_units_per_block(), u64::from(layout.blocks()));
        let page_classes = PageClasses::new(cfg, policies.page_class, block, all * u64::from(block));
        let of_reclaim = (reclaim.is_active(), reclaim.deals());
        let ring = Ring::new(policies.slc_cache, &layout, cfg.one_bit_mode());
        let sorting = (&page_classes, ring.is_used());
        let work = Work::new(cfg, &layout, streams, of_reclaim, sorting);
        let physical = (layout.blocks() * layout.units_per_block()) as usize;
        let turns = if cfg.allocation.placement == sections::Placement::Static { layout.lanes } else { 0 };
        let mut gather = Gather::new(streams, layout.units_per_page, slots, turns);
        // With a cache what the host writes is not sorted before it is destaged.
        if page_classes.sorts() && !ring.is_used() {
            gather = gather.by_class(page_classes.count(), page_classes.queue_units());
        }
        let locks = Locks::new(cfg, policies.sanitize, &layout, work.operations_at_most());
        let loses = cfg.errors.model == ErrorModel::Cells || locks.manner.reprograms();
        let facts = FactsTable::new(needs.facts, physical, locks.are_on());
        let tables = Tables::new(cfg, (layout, order), erase_count, (facts, loses));
        let layout = &tables.layout;
        let techniques = Techniques::new(&policies.techniques, cfg, layout);
        let mut media = Media {
            outbox: Vec::with_capacity(work.operations_at_most() + locks.operations_at_most() + 1024),
            effects: Effects::default(),
            waits: Waits::watched(locks.renewals.are_on()),
            space: Space {
                allocator: allocator.by_wear(techniques.open_least_erased()),
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
            locks,
            techniques,
            tables,
        };
        let cached = if media.space.ring.is_used() { media.tables.layout.lanes } else { 0 };
        (0..cached).map(LaneId).for_each(|lane| media.tend_ring(lane));
        let direct = Direct::new(streams, media.tables.layout.units_per_page);
        let moves = Moves { media, page_classes, separation: Separation::new(stream) };
        Ftl { moves, programmed: Vec::with_capacity(64), gather, direct }
    }

    /// Chips whose pages remember what errors they carry, if pages are copied inside them.
    pub(crate) fn with_copies(&self, chip: Chip) -> Chip {
        if self.moves.media.techniques.copies() { chip.with_copies() } else { chip }
    }

    /// Flash operations that moves may have in flight at once, beside so many of the host's: they are kept for them.
    pub fn operations_of_moves(&self, of_host: usize) -> usize {
        let locks = self.moves.media.locks.operations_at_most();
        let moves = self.moves.media.work.operations_at_most()
            + self.moves.media.techniques.operations_at_most()
            + locks;
        moves
            + self.moves.media.work.late_erases_at_most(
                &self.moves.media.tables,
                &self.moves.media.space.allocator,
                of_host + moves,
            )
    }

    /// Nanoseconds without commands after which [`Ftl::set_idle`] should be called, if ever.
    pub fn idle_after_ns(&self, work: IdleWork) -> Option<u64> {
        match work {
            IdleWork::Cleaning => self.moves.media.cleaning.trigger.idle_after_ns(),
            IdleWork::Reclaim => self.moves.media.reclaim.idle_after_ns(),
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
        self.moves.media.techniques.are_on() && self.moves.media.work.looks.any()
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

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> TableBytes {
        let read_reclaim = self.moves.media.reclaim.bytes()
            + self.moves.media.tables.replicas.bytes()
            + self.moves.media.work.bytes_of_deals();
        let locks = self.moves.media.locks.bytes() + self.moves.media.tables.facts.bytes();
        let all = self.moves.media.tables.map.bytes()
            + read_reclaim
            + self.moves.media.techniques.bytes()
            + locks
            + self.moves.media.locks.clock_bytes()
            + self.moves.media.tables.layout.blocks() as usize * core::mem::size_of::<[u64; 5]>()
            + self.moves.media.space.ring.bytes()
            + self.moves.page_classes.bytes(u64::from(self.moves.media.tables.map.logical()));
        TableBytes { all, read_reclaim, locks }
    }

    /// Above those chips, which are fresh.
    pub(crate) fn above(mut self, chip: &mut Chip) -> Self {
        self.moves.media.techniques.learn(chip);
        self.moves.media.outbox.reserve(self.moves.media.techniques.operations_at_most());
        self
    }

    /// The flash is told how old all blocks are.
    pub(crate) fn tell_wear(&self, flash: &mut Flash) {
        for physical in 0..flash.chip.blocks() {
            flash.note_age(physical, self.moves.media.age_q12(&flash.chip, physical));
        }
    }

    /// Ages a block of the firmware's numbering, chips included.
    pub fn set_erase_count(&mut self, flash: &mut Flash, block: BlockId, cycles: u32) {
        self.moves.media.tables.blocks.set_erase_count(block, cycles);
        for k in 0..self.moves.media.tables.layout.span {
            let physical = self.moves.media.tables.layout.member(block, k).block;
            let before = flash.chip.erase_count(physical);
            flash.chip.set_erase_count(physical, cycles);
            let shown = Shown::Cycled { before, ticks: None };
            self.moves.media.techniques.shown(
                physical,
                shown,
                &mut flash.chip,
                &mut self.moves.media.work.counts,
            );
        }
        self.moves.media.update_wear(flash, block);
    }

    /// Checks that counts and tables agree (slow); the error names the first place where they do not.
    pub fn check(&self, flash: &Flash) -> Result<(), String> {
        self.moves.media.tables.map.check()?;
        self.moves.media.tables.check_replicas()?;
        self.moves.media.locks.check_locks(&self.moves.media.tables, flash)?;
        self.moves.media.work.check_blocks(&self.moves.media.tables, flash)?;
        let units = self.moves.media.tables.layout.units_per_block();
        for b in 0..self.moves.media.tables.layout.blocks() {
            let from = b * units;
            let counted = (from..from + units)
                .filter(|&unit| self.moves.media.tables.map.is_live(Pun(unit)))
                .count() as u32;
            let said = self.moves.media.tables.blocks.live(BlockId(b));
            if counted != said {
                return Err(format!("block {b} holds {counted} live units, its count says {said}"));
            }
            let state = self.moves.media.tables.blocks.state(BlockId(b));
            if counted > 0 && matches!(state, BlockState::Free | BlockState::Erasing | BlockState::Bad) {
                return Err(format!("block {b} is {state:?} and holds {counted} live units"));
            }
            self.moves.media.space.placement.check_place(&self.moves.media.tables, BlockId(b))?;
        }
        for lane in (0..self.moves.media.tables.layout.lanes).map(LaneId) {
            let first = self.moves.media.tables.layout.first_block(lane).0;
            let blocks = (first..first + self.moves.media.tables.layout.blocks_per_lane).map(BlockId);
            let counted = blocks
                .filter(|&block| self.moves.media.tables.blocks.state(block) == BlockState::Free)
                .count() as u32;
            let said = self.moves.media.space.allocator.free(lane) + self.moves.media.space.ring.free(lane);
            if counted != said {
                return Err(format!("lane {} has {counted} free blocks, its list says {said}", lane.0));
            }
            self.moves.media.work.check_refusals(
                &self.moves.media.tables.layout,
                (&self.moves.media.space.allocator, &self.moves.media.tables.blocks),
                lane,
            )?;
        }
        self.moves.media.space.ring.check_rings(&self.moves.media.tables)?;
        self.moves.media.reclaim.check_candidates(&self.moves.media.tables, &self.moves.media.work)?;
        Ok(())
    }
}

impl Media {
    /// Age of a physical block, in 1/4096 of its life; 0 where nothing tells it.
    pub(crate) fn age_q12(&self, chip: &Chip, physical: u32) -> u32 {
        self.techniques.worn(physical, chip.erase_count(physical)).age_q12
    }
}
