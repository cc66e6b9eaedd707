//! What goes on in each lane: the moves under way, and what waits.

use super::candidates::Candidates;
use super::gathered::Gathered;
use super::job::Job;
use super::migration::Migration;
use super::sorted::Sorted;
use super::walk::Walk;
use crate::flash::op::{Cause, UnitRef};
use crate::ftl::stream::StreamId;
use crate::ftl::tables::layout::Layout;
use crate::restore::keep_line;
use crate::units::BlockId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Which of a lane's jobs: the one because of reads, and all others.
pub(in crate::ftl) const RECLAIM: usize = 0;
pub(in crate::ftl) const ROUTINE: usize = 1;

/// When a round of cleaning began.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::ftl) struct Round {
    /// Host units written by then.
    pub began: u64,
    /// Erases of the lane by then.
    pub erases: u64,
}

/// What goes on in one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct LaneWork {
    pub jobs: [Option<Job>; 2],
    /// Units read and waiting for a page to be programmed, by stream; where data is sorted, in queues of its own.
    pub gathered: Box<[Gathered]>,
    pub sorted: Sorted,
    pub reads: u32,
    pub programs: u32,
    /// Cleaning has begun and not reached its end.
    pub wanted: bool,
    /// Blocks being emptied for cleaning or erased.
    pub coming: u32,
    /// Blocks of the SLC cache being destaged, or erased after it.
    pub destaging: u32,
    /// Those being erased.
    #[serde(skip)]
    pub erasing: u32,
    /// Data that is sorted waits for the next block that is destaged.
    pub holds: bool,
    pub erases: u64,
    /// The round of cleaning under way, or the last one.
    pub round: Round,
    /// Blocks that failed a program and are to be retired.
    pub retire: VecDeque<BlockId>,
    /// Blocks that must be looked at because of reads.
    pub candidates: Candidates,
    /// Blocks of the SLC cache that must leave it because of reads, until they are emptied.
    pub leaving_cache: VecDeque<BlockId>,
    /// What moves because of reads could not wait until the host is silent.
    pub due: bool,
    /// More is about to be read that leaves pages for their locks.
    #[serde(skip)]
    pub more: bool,
    /// A technique has a job of its own under way, beside these.
    pub has_own: bool,
    /// Pages that moves for locks are going to take, where exposure has a bound ([`Bound`]).
    ///
    /// [`Bound`]: super::bound::Bound
    pub owed: u32,
    /// Somebody waits for such pages.
    pub short: bool,
}

impl LaneWork {
    /// Nothing goes on, with room for what waits, and for so many blocks that leave the cache because of reads.
    pub fn new(
        (gathered, sorted): (Box<[Gathered]>, Sorted),
        candidates: Candidates,
        leaving_cache: usize,
    ) -> Self {
        LaneWork {
            jobs: [None; 2],
            gathered,
            sorted,
            reads: 0,
            programs: 0,
            wanted: false,
            coming: 0,
            destaging: 0,
            erasing: 0,
            holds: false,
            erases: 0,
            round: Round::default(),
            retire: VecDeque::with_capacity(8),
            candidates,
            leaving_cache: VecDeque::with_capacity(leaving_cache),
            due: false,
            more: false,
            has_own: false,
            owed: 0,
            short: false,
        }
    }

    /// Whether operations of moves for this cause do not yield to host reads: those that reads have made due, and
    /// those that make the room that such moves wait for.
    #[inline]
    pub fn is_due(&self, cause: Cause) -> bool {
        match cause {
            Cause::ReadReclaim => self.due || !self.candidates.now.is_empty(),
            Cause::Destage if !self.leaving_cache.is_empty() => true,
            _ => self.candidates.lacks_room && !self.candidates.now.is_empty(),
        }
    }

    /// Units of a stream that go to one page now: as many as fit, if there is as much for each page that is `left` of
    /// its row; else only if the `rest` is asked for, or nothing more will join them. Where data is sorted, so many
    /// must wait as the queues hold, but for that rest.
    #[inline(always)]
    pub fn page_of(
        &self,
        stream: StreamId,
        per_page: usize,
        rest: bool,
        left: impl FnOnce() -> u32,
    ) -> usize {
        let (waiting, enough) = match self.sorted.is_used() {
            true => (self.sorted.held(stream) as usize, self.sorted.enough() as usize),
            false => (self.gathered[stream.index()].len(), per_page),
        };
        match waiting {
            waiting if waiting >= enough && waiting >= enough + (left() - 1) as usize * per_page => per_page,
            waiting if rest || (!self.has_job() && self.reads == 0 && !self.more && !self.goes_on()) => {
                waiting.min(per_page)
            }
            _ => 0,
        }
    }

    /// Whether more will join data that is sorted, once a block is erased or another is destaged: the queues need not
    /// drain for the next job.
    #[inline]
    fn goes_on(&self) -> bool {
        self.sorted.is_used() && (self.holds || self.wanted && self.erasing > 0)
    }

    /// Whether units wait for a page.
    #[inline]
    pub fn has_gathered(&self) -> bool {
        !self.sorted.is_empty() || self.gathered.iter().any(|units| !units.is_empty())
    }

    /// Units that wait for a page, with the stream in whose line each is.
    pub fn all_gathered(&self) -> impl Iterator<Item = (usize, &UnitRef)> {
        let lines = self.gathered.iter().enumerate();
        let gathered = lines.flat_map(|(at, units)| units.all().iter().map(move |unit| (at, unit)));
        gathered.chain(self.sorted.all())
    }

    /// Pages that the units that wait will take.
    #[inline]
    pub fn pages_gathered(&self, per_page: u32) -> u32 {
        let pages = |units: u32| units.div_ceil(per_page);
        let gathered = self.gathered.iter().map(|units| pages(units.len() as u32)).sum::<u32>();
        gathered + self.sorted.each_held().map(pages).sum::<u32>()
    }

    /// Pages of full rows that found no room; what is gathered of a row not yet full must not hold reads back.
    #[inline]
    pub fn full_pages(&self, layout: &Layout) -> u32 {
        let (row, per_row) = (layout.pages_per_row, layout.pages_per_row * layout.units_per_page);
        let full = |units: u32| if units < per_row { 0 } else { units / per_row * row };
        let gathered = self.gathered.iter().map(|units| full(units.len() as u32)).sum::<u32>();
        if self.sorted.is_used() { gathered + self.full_pages_sorted(layout) } else { gathered }
    }

    /// Pages of full rows of what is sorted that found no room.
    #[inline(never)]
    fn full_pages_sorted(&self, layout: &Layout) -> u32 {
        let (row, per_page) = (layout.pages_per_row, layout.units_per_page);
        let full = |held: u32| (held + per_page).saturating_sub(self.sorted.enough().max(1)) / per_page;
        self.sorted.each_held().map(|held| full(held) / row * row).sum()
    }

    /// The partial migration under way, if any.
    pub fn migration(&mut self) -> Option<&mut Migration> {
        match &mut self.jobs[RECLAIM] {
            Some(Job::Migrate(migration)) => Some(migration),
            _ => None,
        }
    }

    /// What a job is reading of a block, if one is.
    pub fn walk_of(&self, block: BlockId) -> Option<&Walk> {
        self.jobs.iter().flatten().filter_map(|job| job.walk()).find(|walk| walk.block == block)
    }

    /// Whether blocks are or may be at work because of reads.
    #[inline]
    pub fn has_candidates(&self) -> bool {
        self.candidates.some()
            || matches!(self.jobs[RECLAIM], Some(Job::Migrate(_)))
            || !self.leaving_cache.is_empty()
    }

    /// A block is emptied, or used no more: if it had to leave the cache because of reads, it has.
    pub fn left_cache(&mut self, block: BlockId) {
        self.leaving_cache.retain(|&leaving| leaving != block);
    }

    /// Whether a page is being read or programmed for a move.
    #[inline]
    pub fn is_moving(&self) -> bool {
        self.reads + self.programs > 0
    }

    /// Whether pages are being read of a block.
    #[inline]
    pub fn has_job(&self) -> bool {
        self.jobs.iter().flatten().any(|job| job.walk().is_some())
    }

    /// Blocks that are on their way to being erased, by routine work.
    #[inline]
    pub fn coming_free(&self) -> u32 {
        self.coming + self.destaging
    }

    /// Takes the room of a fresh one.
    pub(in crate::ftl) fn keep_room(&mut self, fresh: &LaneWork) {
        for (line, fresh) in self.gathered.iter_mut().zip(&*fresh.gathered) {
            line.keep_room(fresh);
        }
        keep_line(&mut self.retire, &fresh.retire);
        keep_line(&mut self.leaving_cache, &fresh.leaving_cache);
        self.candidates.keep_room(&fresh.candidates);
    }
}
