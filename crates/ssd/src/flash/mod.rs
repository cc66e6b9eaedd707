//! Channels, dies, planes and their queues: how long everything takes.
//!
//! Knows no logical page. The firmware issues operations; the flash queues them at their dies, forms multi-plane
//! groups of neighbours in a queue, shares the channel, and reports operations as done. In the functional executor
//! operations are applied at once and no time passes.

mod at;
mod channel;
mod copies;
mod counts;
mod cut;
mod die;
mod dies;
pub mod holders;
mod list;
pub(crate) mod of_host;
pub mod op;
mod outcome;
mod phases;
mod planes;
pub mod preemption;
pub mod read_voltage;
mod record;
mod restore;
pub mod rows;
mod sensing;
mod suspend;
pub mod timing;
mod voltages;
mod wordlines;

use crate::events::{EventKind, EventQueue};
use crate::nand::torn::{AtWork, TornChips};
use crate::nand::{Chip, PageAddress};
use crate::restore::{Verdict, ensure, keep_room};
use crate::sections::Sections;
use crate::units::{OpId, SimTime};
use copies::Sources;
pub use counts::{ATTEMPTS, FlashCounts, PER_ERASE, PROGRAM_MODES, SUSPENDS};
pub(crate) use die::pressed::Waiting;
use dies::Dies;
use holders::Holders;
use of_host::OfHost;
use op::{Op, OpPool};
pub use record::Record;
use serde::{Deserialize, Serialize};
pub use voltages::BrokenBound;
use voltages::Voltages;

/// All chips of a drive with their queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flash {
    /// Operations in flight.
    pub pool: OpPool,
    /// The chips' ground truth.
    pub chip: Chip,
    /// What is counted.
    pub record: Record,
    /// The time of what is being handled.
    pub now: SimTime,
    /// Operations that are done and not yet seen by the firmware.
    pub done: Vec<OpId>,
    voltages: Voltages,
    sources: Sources,
    dies: Dies,
    instant: bool,
    /// What chips have begun and ended since somebody looked, if anybody does.
    #[serde(skip)]
    pub steps: Steps,
    /// Whom operations wait for, if anybody asks.
    #[serde(skip)]
    pub(crate) holders: Option<Box<Holders>>,
    /// Whether somebody listens to what chips do, or asks whom operations wait for.
    #[serde(skip)]
    pub(crate) is_told: bool,
}

/// Programs and erases that begin and end in the chips, in order, for an observer.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Whether they are kept.
    pub on: bool,
    /// The operation, and whether it begins.
    pub list: Vec<(OpId, bool)>,
}

impl Steps {
    #[inline(always)]
    fn add(&mut self, id: OpId, begins: bool) {
        if self.on {
            self.list.push((id, begins));
        }
    }
}

/// Operations that there is room for.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Of the host.
    pub host: usize,
    /// Of moves.
    pub moves: usize,
}

impl Flash {
    /// Idle dies and channels around `chip`, with room for so many operations of the host and of moves. The policy of
    /// voltages has been told of the cells.
    pub fn new(
        cfg: &Sections,
        (read_voltage, preemption): (read_voltage::Policy, &preemption::Config),
        chip: Chip,
        room: Room,
    ) -> Self {
        let dies = Dies::new(cfg, preemption);
        let mut chip = chip;
        if dies.rules.preempts {
            chip.remember_suspends();
        }
        let operations = room.host + room.moves;
        Flash {
            pool: OpPool::new(room.host, room.moves, cfg.units_per_program()),
            record: Record::default(),
            now: SimTime::ZERO,
            done: Vec::with_capacity(operations),
            voltages: Voltages::new(read_voltage, chip.blocks()),
            sources: Sources::new(&chip, operations),
            chip,
            dies,
            instant: false,
            steps: Steps::default(),
            holders: None,
            is_told: false,
        }
    }

    /// The time, where it passes.
    pub(crate) fn passing(&self) -> Option<SimTime> {
        (!self.is_instant()).then_some(self.now)
    }

    /// From now on a die does what the firmware has issued before what the host reads, or no longer.
    pub(crate) fn press(&mut self, die: u32, is_pressed: bool) {
        self.dies.all[die as usize].pressed = is_pressed;
    }

    /// Operations that can still be issued for the host.
    #[inline]
    pub fn host_room(&self) -> usize {
        self.pool.host_room()
    }

    /// Whether the array of its die has begun with an operation that carries data there and was given to it, or begins
    /// when the data has come (slow).
    pub fn has_begun(&self, id: OpId) -> bool {
        self.dies.has_begun(id, &self.pool)
    }

    /// The operations under way, as the host knows them.
    #[inline]
    pub(crate) fn of_host(&self) -> OfHost<'_> {
        OfHost { pool: &self.pool }
    }

    /// An operation is over and forgotten.
    #[inline]
    pub(crate) fn forget(&mut self, id: OpId) {
        self.pool.remove(id);
    }

    /// A hash of every operation done so far, with its time.
    pub fn hash(&self) -> u64 {
        self.record.hash
    }

    /// The first read that was not as promised since counters were set to zero.
    pub fn broken_bound(&self) -> Option<BrokenBound> {
        self.voltages.broken
    }

    /// The counters at `now`, with what dies and channels are in the middle of up to then.
    pub fn counts_until(&self, now: SimTime) -> FlashCounts {
        let Dies { all, channels, .. } = &self.dies;
        FlashCounts {
            die_busy_ns: all.iter().map(|die| die.busy_until(now)).collect(),
            die_array_ns: all.iter().map(|die| die.worked_until(now)).collect(),
            channel_busy_ns: channels.iter().map(|channel| channel.busy_until(now)).collect(),
            ..self.record.counts.clone()
        }
    }

    /// Puts how long each die had work on it and how long its array worked, and how long each channel carried
    /// something, in place of what the lists hold; ns.
    pub fn read_busy(&self, now: SimTime, dies: &mut Vec<[u64; 2]>, channels_ns: &mut Vec<u64>) {
        self.dies.read_busy(now, dies, channels_ns);
    }

    /// The firmware has told the age of a physical block, in 1/4096 of its life.
    #[inline]
    pub(crate) fn note_age(&mut self, block: u32, age_q12: u32) {
        self.voltages.note_age(block, age_q12);
    }

    /// Effective reads, in units of the chips' counters, up to which the first attempt to read a page surely succeeds.
    pub(crate) fn plain_until(&self, block: u32, page: u32) -> u64 {
        self.chip.plain_until(block, page, self.voltages.sequence(&self.chip, block, page).first())
    }

    /// The page that an operation under way copies.
    pub(crate) fn note_source(&mut self, id: OpId, from: PageAddress) {
        self.sources.note(id, from, &self.chip);
    }

    /// Ends of array work that lie ahead beside one of each die.
    pub(crate) fn more_events_at_most(&self) -> usize {
        self.dies.more_events_at_most()
    }

    /// What the arrays of the dies do to the chips, what is suspended included (slow).
    pub fn at_work(&self) -> Vec<AtWork> {
        self.dies.at_work(&self.pool)
    }

    /// The chips as the power left them at a time.
    #[cold]
    pub fn cut(self, now: SimTime) -> TornChips {
        let at_work = self.at_work();
        let mut chips = TornChips::new(self.chip);
        at_work.iter().for_each(|work| chips.tear(work, now));
        chips
    }

    /// Somebody listens to what chips do, or asks whom operations wait for, or nobody does any more.
    pub(crate) fn note_listeners(&mut self) {
        self.is_told = self.steps.on || self.holders.is_some();
    }

    /// Sets the counters back to zero; what dies and channels are in the middle of counts from `now` on.
    pub fn reset_counts(&mut self, now: SimTime) {
        (self.record.counts, self.voltages.broken) = (FlashCounts::default(), None);
        self.dies.reset_busy(now);
    }

    /// Gives operations that are issued together to their dies, so that they can form multi-plane groups.
    #[inline]
    pub fn give(&mut self, ids: &[OpId], now: SimTime, events: &mut EventQueue) {
        if let &[id] = ids {
            return self.give_alone(id, now, events);
        }
        for &id in ids {
            self.dies.enter(id, &mut self.pool, &self.chip, now);
            self.dies.all[self.pool.get(id).at.die as usize].queue(&mut self.pool, id, false);
        }
        for &id in ids {
            self.start_waiting(self.pool.get(id).at.die, now, events);
        }
    }

    /// Whether operations are applied at once: the functional executor.
    #[inline]
    pub fn is_instant(&self) -> bool {
        self.instant
    }

    /// Switches between operations that take time and operations applied at once; nothing may be in flight.
    pub fn set_instant(&mut self, instant: bool) {
        self.instant = instant;
    }

    /// Handles an event of a die or a channel.
    #[inline(always)]
    pub fn on_event(&mut self, kind: EventKind, id: u32, now: SimTime, events: &mut EventQueue) {
        match kind {
            EventKind::ArrayDone => self.on_array_done(id, now, events),
            EventKind::OutDone => self.on_out_done(id, now, events),
            EventKind::InDone => self.on_in_done(id, now, events),
            EventKind::ChannelFree => self.on_channel_free(id, now, events),
            EventKind::Decoded => self.on_decoded(OpId(id), now, events),
            EventKind::Sensed => self.on_sensed(OpId(id), now, events),
            _ => unreachable!("not an event of the flash"),
        }
    }

    /// Keeps what policies of another flash ask for. Ages of blocks are to be told anew.
    pub(crate) fn keep_as(&mut self, other: &Flash) {
        self.voltages.keep_as(&other.voltages);
        // Nothing is under way that somebody would have to watch still.
        self.dies.watches = other.dies.watches;
        if let (Some(aging), Some(other)) = (self.chip.aging_mut(), other.chip.aging()) {
            aging.keep_as(other);
        }
    }

    /// Takes what follows from the configuration from a fresh flash, and checks the rest; who knows where pages are
    /// says whether an operation is at its page.
    pub(crate) fn restored(&mut self, fresh: Flash, check_place: &dyn Fn(&Op) -> Verdict) -> Verdict {
        self.chip.restored(fresh.chip)?;
        self.voltages.restored(fresh.voltages)?;
        self.record.check()?;
        self.dies.restored(fresh.dies)?;
        ensure(self.done.is_empty(), "operations that are done and not seen")?;
        keep_room(&mut self.done, &fresh.done);
        self.pool.restored(&fresh.pool, check_place)?;
        self.sources.check(&fresh.sources, &self.pool, &self.chip)?;
        let is_there = |op: &Op| !op.kind.reads() || op.at.page < self.chip.programmed_pages(op.at.block);
        ensure(self.pool.iter().all(|(_, op)| is_there(op)), "a read of an erased page")?;
        self.dies.check_known(&self.pool)
    }

    /// Checks what is due of dies, channels and reads being decoded against what they do; `due` are all events.
    pub(crate) fn check_due(&self, due: &[(SimTime, EventKind, u32)]) -> Verdict {
        self.dies.check_due(due, &self.pool, self.now)
    }
}
