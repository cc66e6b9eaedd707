//! The drive: all layers together, driven by a caller who owns the clock.
//!
//! ```
//! use ssd::{Command, Drive, DriveConfig, Lba, OpCode, SimTime};
//! let mut drive = Drive::new(&DriveConfig::default()).unwrap();
//! let write = Command { op: OpCode::Write, lba: Lba(64), sectors: 8, ..Command::default() };
//! drive.submit(0, &write, SimTime(0)).unwrap();
//! assert!(drive.advance_to_completion());
//! let done = drive.pop_completion().unwrap();
//! assert_eq!(done.breakdown.total(), (done.completed - done.arrival).0);
//! ```

use crate::config::{ConfigError, ConfigErrors, KeyAt, Problem};
use crate::drive_config::DriveConfig;
use crate::events::{EventKind, EventQueue};
use crate::executor::Executor;
use crate::flash::{BrokenBound, Flash, Room};
use crate::ftl::ages::Ages;
use crate::ftl::stream::{self, Streams};
use crate::ftl::tables::layout::Layout;
use crate::ftl::{Ftl, IdleWork, Policies, gc_victim, sanitize, wear_leveling};
use crate::host::{Below, Host};
use crate::nand::Chip;
use crate::nand::aging::Telemetry;
use crate::nand::order::PageOrder;
use crate::nand::torn::{AtWork, TornChips};
use crate::observe::Effect;
use crate::restore::{MOST, Verdict, distinct, ensure};
use crate::rng::mix;
use crate::signals::{Command, Completion, Reason};
use crate::snapshot::{self, SnapshotError};
use crate::stats::{Stats, Wear};
use crate::units::{BlockId, Lba, SimTime};
use serde::{Deserialize, Serialize};

/// Everything of a drive that a snapshot holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub host: Host,
    pub ftl: Ftl,
    pub flash: Flash,
    pub events: EventQueue,
    pub now: SimTime,
    pub executor: Executor,
    /// The host has been silent since then.
    pub silent_since: SimTime,
    /// For each [`IdleWork`]: a check is scheduled.
    pub idle_check: [bool; 2],
    /// For each [`IdleWork`]: the host has been silent for so long.
    pub idle: [bool; 2],
    counted_since: SimTime,
}

impl State {
    /// Takes what follows from the configuration from a fresh drive, and checks that the rest can have happened to it.
    pub(crate) fn restored(&mut self, fresh: State) -> Verdict {
        ensure(self.now.0 < MOST && self.silent_since <= self.now, "the drive's time")?;
        ensure(self.counted_since <= self.now && self.flash.now <= self.now, "the drive's time")?;
        let due = self.events.restored(fresh.events, self.now)?;
        let checks = due.iter().filter(|event| event.1 == EventKind::IdleCheck).map(|event| event.2);
        let checks = distinct("looks at silence", checks, IdleWork::ALL.len())?;
        ensure(checks[..] == self.idle_check, "looks at silence")?;
        let layout = fresh.ftl.tables.layout.clone();
        let looks = due.iter().filter(|event| event.1 == EventKind::LocksDue).count();
        ensure(looks == usize::from(self.ftl.locks.timer), "looks at locks that wait")?;
        self.flash.restored(fresh.flash, &|op| layout.check_op(op))?;
        self.flash.check_due(&due)?;
        self.flash.set_instant(self.executor == Executor::Functional);
        self.ftl.restored(fresh.ftl, &self.flash)?;
        self.host.restored(fresh.host, &self.flash, &due, self.now)
    }
}

/// A simulated drive.
#[derive(Clone, Debug)]
pub struct Drive {
    pub(crate) state: State,
    pub(crate) config_hash: u64,
}

/// How a drive is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Why it takes no more writes, if it does not.
    pub read_only: Option<Reason>,
    /// Erases and retirements.
    pub wear: Wear,
    /// The first page, since counters were set to zero, that was not read with the voltages that were promised to
    /// read it; `FlashCounts::bound_broken` counts them.
    pub broken_bound: Option<BrokenBound>,
}

/// The drive of a state that was saved, with what follows from the configuration of a fresh one.
pub(crate) fn of_saved(state: State, fresh: Drive) -> Result<Drive, String> {
    let mut drive = Drive { state, config_hash: fresh.config_hash };
    drive.state.restored(fresh.state)?;
    drive.check()?;
    Ok(drive)
}

/// A hash of a configuration, as it enters snapshots.
pub(crate) fn config_hash(cfg: &DriveConfig) -> u64 {
    // A configuration is plain data; should it ever fail to serialise, all such configurations look alike.
    snapshot::checksum(&postcard::to_allocvec(cfg).unwrap_or_default())
}

/// The factory may have marked more blocks bad than its rate lets expect: do those left hold the data?
fn check_good_blocks(cfg: &DriveConfig, streams: Streams, good: u32) -> Result<(), ConfigErrors> {
    let more = streams.count.saturating_sub(cfg.streams().count);
    let spare = cfg.spare_blocks_to_work_per_lane(good) + u64::from(more);
    let needed = cfg.data_blocks_per_lane() + spare;
    if u64::from(good) >= needed {
        return Ok(());
    }
    let keys = ["nand.reliability.factory_bad_ppm", "drive.over_provisioning_percent", "drive.seed"];
    let keys = keys.map(|key| KeyAt { key: key.to_owned(), origin: None }).to_vec();
    let found = format!("the factory left {good} good blocks in the poorest lane");
    let mut allowed = format!("at least {needed} to hold the data and clean");
    let fit = (u64::from(streams.count) + u64::from(good)).saturating_sub(needed);
    if streams.count > 2 && fit > 0 {
        allowed.push_str(&format!(", or ftl.stream with at most {fit} streams, not {}", streams.count));
    }
    let problem = Problem::Conflict { found, allowed };
    Err(ConfigErrors(vec![ConfigError { keys, origin: None, problem }]))
}

/// Is there memory for that many bytes of tables? Asked for at once and given back, before anything is built: a table
/// that finds no room ends the program.
fn check_memory(bytes: u64) -> Result<(), ConfigErrors> {
    let asked = usize::try_from(bytes).ok();
    if asked.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok()) {
        return Ok(());
    }
    let keys = ["nand.geometry.blocks_per_plane", "nand.geometry.channels"];
    let keys = keys.map(|key| KeyAt { key: key.to_owned(), origin: None }).to_vec();
    let (whole, tenths) = (bytes >> 30, ((bytes & ((1 << 30) - 1)) * 10) >> 30);
    let found = format!(
        "the tables of this drive need {whole}.{tenths} GiB of memory, which this machine does not give"
    );
    let allowed = "a smaller drive, or larger mapping units (ftl.mapping.unit)".to_owned();
    let problem = Problem::Conflict { found, allowed };
    Err(ConfigErrors(vec![ConfigError { keys, origin: None, problem }]))
}

impl Drive {
    /// A fresh drive. Errors if the configuration makes no sense, naming the keys, or if there is no memory for it.
    pub fn new(cfg: &DriveConfig) -> Result<Drive, ConfigErrors> {
        cfg.check_given([false; 3])?;
        Drive::build(cfg, stream::Policy::build(&cfg.stream))
    }

    pub(crate) fn build(cfg: &DriveConfig, stream: stream::Policy) -> Result<Drive, ConfigErrors> {
        let mut stream = stream;
        cfg.validate()?;
        let streams = stream.checked_streams(cfg.allocation.moves);
        check_memory(cfg.memory_bytes())?;
        let g = &cfg.geometry;
        let sanitize = sanitize::Policy::build(&cfg.sanitize);
        let mut chip =
            Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, cfg.drive.seed)
                .with_cells_for(cfg, cfg.uses_of_cells())?
                .with_locks(cfg, sanitize.means())
                .with_renewals(sanitize.rules().relock_ns > 0);
        let layout = Layout::new(cfg, &chip).keeping(cfg.replica_pages_per_block());
        check_good_blocks(cfg, streams, layout.blocks_per_lane)?;
        let order = PageOrder::of(cfg);
        stream.learn(&cfg.stream_size());
        let queued = cfg.host_queue_units();
        let mut needs = stream.needs();
        // Of what class data is, is said with it.
        needs.hints |= sanitize.acts();
        let host = Host::new(cfg, (&cfg.buffer, &cfg.hotness), needs, (streams, queued));
        let policies = Policies {
            gc_victim: &cfg.gc_victim,
            gc_trigger: &cfg.gc_trigger,
            read_reclaim: &cfg.read_reclaim,
            program_mode: &cfg.program_mode,
            page_class: &cfg.page_class,
            slc_cache: &cfg.slc_cache,
            sanitize: &cfg.sanitize,
            wear_leveling: &cfg.wear_leveling,
            migration: &cfg.migration,
        };
        let ftl = Ftl::new(cfg, &policies, layout.clone(), order, (stream, streams), host.slots(), |block| {
            chip.erase_count(block)
        });
        let ages = Ages::new(&cfg.age_marker, &mut chip);
        let read_voltage = cfg.voltages(&chip, ages.off_bits(&chip))?;
        let ftl = ftl.with_ages(ages, &chip);
        let host = host.telling(&ftl).waiting(&ftl);
        // Room for hosts' reads and programs, whatever is being moved.
        let commands = (cfg.queues.count * cfg.queues.depth) as usize;
        let operations = (4 * commands).clamp(64, 16_384) + 4 * g.planes() as usize;
        let room = Room { host: operations, moves: ftl.operations_of_moves(operations) };
        let mut flash = Flash::new(cfg, (read_voltage, &cfg.preemption), ftl.with_copies(chip), room);
        ftl.tell_ages(&mut flash);
        let pending = (2 * g.dies() + g.channels) as usize + 2 * commands + 9;
        let pending = pending + g.dies() as usize * flash.void_events_at_most();
        let state = State {
            host,
            ftl,
            flash,
            events: EventQueue::with_capacity(pending),
            now: SimTime::ZERO,
            executor: Executor::Timed,
            silent_since: SimTime::ZERO,
            idle_check: [false; 2],
            idle: [false; 2],
            counted_since: SimTime::ZERO,
        };
        Ok(Drive { state, config_hash: config_hash(cfg) })
    }

    /// The parts of the drive, for a layer to work with.
    #[inline]
    pub(crate) fn split(&mut self) -> (&mut Host, Below<'_>) {
        let State { host, ftl, flash, events, now, executor, .. } = &mut self.state;
        let timed = *executor == Executor::Timed;
        (host, Below { now: *now, timed, ftl, flash, events })
    }

    /// Sectors of 512 bytes the host sees.
    pub fn logical_sectors(&self) -> u64 {
        self.state.host.logical_sectors()
    }

    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u32 {
        self.state.ftl.tables.layout.unit_bytes
    }

    /// Mapping units of the logical space.
    pub fn logical_units(&self) -> u32 {
        self.state.ftl.tables.map.logical()
    }

    /// The drive's time: that of the last event or [`Drive::advance_to`].
    pub fn now(&self) -> SimTime {
        self.state.now
    }

    /// Whether another command may be put in a submission queue.
    pub fn queue_has_room(&self, queue: usize) -> bool {
        self.state.host.queue_has_room(queue)
    }

    /// Number of submission queues.
    pub fn queues(&self) -> usize {
        self.state.host.queues()
    }

    /// Commands submitted whose completion was not taken.
    pub fn outstanding(&self) -> usize {
        self.state.host.outstanding()
    }

    /// Puts a command in a submission queue at time `now`, which must not lie before the drive's time; what was due
    /// before `now` happens first. Gives the command back if the queue is full.
    #[inline]
    pub fn submit(&mut self, queue: usize, command: &Command, now: SimTime) -> Result<(), Command> {
        assert!(now >= self.state.now, "submission at {} ns, the drive is at {} ns", now.0, self.state.now.0);
        if !self.queue_has_room(queue) {
            return Err(*command);
        }
        self.run_until_before(now);
        self.set_now(now);
        self.wake();
        let (host, mut below) = self.split();
        host.submit(queue, command, &mut below);
        self.settle_event();
        Ok(())
    }

    /// When the next thing will happen by itself.
    pub fn next_event_at(&self) -> Option<SimTime> {
        self.state.events.next_at()
    }

    /// Lets everything happen that is due up to and including time `to`.
    pub fn advance_to(&mut self, to: SimTime) {
        self.run_until_before(SimTime(to.0.saturating_add(1)));
        self.set_now(self.state.now.max(to));
    }

    /// Lets things happen until a completion waits (true) or nothing is left to happen (false).
    pub fn advance_to_completion(&mut self) -> bool {
        loop {
            let mut left = u32::MAX;
            let waits = self.advance_to_completion_within(&mut left);
            if waits || left > 0 {
                return waits;
            }
        }
    }

    /// Lets everything happen that is under way, however long it takes.
    pub fn drain(&mut self) {
        while self.step() {}
    }

    /// Takes the oldest completion.
    #[inline]
    pub fn pop_completion(&mut self) -> Option<Completion> {
        self.next_completion().copied()
    }

    /// The same where it stands, without a copy of it.
    #[inline]
    pub fn next_completion(&mut self) -> Option<&Completion> {
        self.state.host.next_completion()
    }

    /// Starts loading the mapping of a command that is known ahead.
    #[inline]
    pub fn prefetch(&self, lba: Lba) {
        let lpn = self.state.host.unit_of(lba.0);
        self.state.ftl.tables.map.prefetch(lpn as u32);
    }

    /// Starts loading what a read of it will need of the chips' counters and the firmware's. Best some time after
    /// [`Drive::prefetch`]: it looks the mapping up.
    #[inline]
    pub fn prefetch_read(&self, lba: Lba) {
        let lpn = self.state.host.unit_of(lba.0);
        self.state.ftl.prefetch_read(&self.state.flash, lpn as u32);
    }

    /// Whether time passes.
    pub fn executor(&self) -> Executor {
        self.state.executor
    }

    /// Switches the executor; what is under way is finished first.
    pub fn set_executor(&mut self, executor: Executor) {
        if self.state.executor != executor {
            self.drain();
            self.apply_executor(executor);
        }
    }

    pub(crate) fn apply_executor(&mut self, executor: Executor) {
        self.state.executor = executor;
        self.state.flash.set_instant(executor == Executor::Functional);
        if executor == Executor::Functional && self.state.ftl.erases_lazily() {
            self.state.ftl.erase_all_stale(&mut self.state.flash);
        }
    }

    #[inline]
    pub(crate) fn set_now(&mut self, now: SimTime) {
        if self.state.flash.is_told {
            self.state.tell_lack(now);
        }
        self.state.now = now;
        self.state.flash.now = now;
        self.state.ftl.set_now(now);
        self.state.flash.chip.advance_clock(now);
    }

    /// Records effects from now on, or stops. While recording, take them often: they are kept until taken.
    pub fn record_effects(&mut self, on: bool) {
        self.state.ftl.effects.record(on);
        self.state.flash.steps.on = false;
        self.state.flash.note_listeners();
    }

    /// Records what the chips do as well ([`Effect::Chip`]), or stops recording. What they are doing when it begins is
    /// told when it ends.
    pub fn record_chip_effects(&mut self, on: bool) {
        self.state.ftl.effects.record_chips(on);
        self.state.flash.steps.on = on;
        self.state.flash.note_listeners();
    }

    /// Takes the oldest effect.
    pub fn pop_effect(&mut self) -> Option<Effect> {
        self.state.ftl.effects.pop()
    }

    /// All counters. What dies and channels are doing now counts up to now.
    pub fn stats(&self) -> Stats {
        let stats = self.counted();
        debug_assert_eq!(stats.check(), Ok(()));
        stats
    }

    fn counted(&self) -> Stats {
        let State { host, ftl, flash, now, counted_since, .. } = &self.state;
        Stats {
            since: *counted_since,
            until: *now,
            host: host.counts,
            ftl: ftl.work.counts.clone(),
            flash: flash.counts_until(*now),
            unit_bytes: ftl.tables.layout.unit_bytes,
            units_per_page: ftl.tables.layout.units_per_page,
            cells_age: flash.chip.ages(),
        }
    }

    /// Sets all counters back to zero.
    pub fn reset_stats(&mut self) {
        let state = &mut self.state;
        state.host.counts = Default::default();
        state.ftl.work.counts = Default::default();
        state.flash.reset_counts(state.now);
        state.counted_since = state.now;
    }

    /// A hash of everything that happened so far, in order and with its time.
    pub fn event_hash(&self) -> u64 {
        mix(self.state.flash.hash() ^ mix(self.state.host.hash()))
    }

    /// Wear and state.
    pub fn health(&self) -> Health {
        let blocks = &self.state.ftl.tables.blocks;
        let mut wear = Wear { retired: blocks.retired(), min: u32::MAX, ..Wear::default() };
        for count in blocks.erase_counts() {
            wear.blocks += 1;
            wear.min = wear.min.min(count);
            wear.max = wear.max.max(count);
            wear.total += u64::from(count);
        }
        wear.min = wear.min.min(wear.max);
        let (read_only, broken_bound) = (self.state.host.read_only(), self.state.flash.broken_bound);
        Health { read_only, wear, broken_bound }
    }

    /// Erase counts of all blocks in use.
    pub fn erase_counts(&self) -> Vec<u32> {
        self.state.ftl.tables.blocks.erase_counts().collect()
    }

    /// Mapping units that consecutive writes put in one lane before they go on to the next.
    pub fn stripe_units(&self) -> u32 {
        let layout = &self.state.ftl.tables.layout;
        layout.pages_per_turn * layout.units_per_page
    }

    /// Of every block that is full: the host units written since it was filled, and its live units. Lane by lane.
    pub fn full_blocks(&self) -> Vec<(u64, u32)> {
        self.state.ftl.full_blocks().collect()
    }

    /// Ages blocks: the erase count of each block (superblocks count as one) becomes `count(block)`.
    pub fn set_erase_counts(&mut self, mut count: impl FnMut(u32) -> u32) {
        let State { ftl, flash, .. } = &mut self.state;
        for block in 0..ftl.tables.layout.blocks() {
            ftl.set_erase_count(flash, BlockId(block), count(block));
        }
    }

    /// Age of a physical block as the firmware's marker has it (`ftl.age_marker`), in 1/4096 of its life; 0 where none
    /// tells it.
    pub fn block_age_q12(&self, block: u32) -> u32 {
        self.state.ftl.age_q12(&self.state.flash.chip, block)
    }

    /// What a physical block shows of its wear (blocks are numbered plane by plane over the whole drive); `None` where
    /// cells do not age. Each call is a new measurement.
    pub fn telemetry(&mut self, block: u32) -> Option<Telemetry> {
        self.state.flash.chip.telemetry(block)
    }

    /// The most that any page with live data is disturbed now, in 1/4096 of what it stands; `None` where cells do not
    /// age. Takes a look at every wordline. With `FtlCounts::disturbed_q12_max` it is the smallest margin of a run.
    pub fn worst_disturb_q12(&self) -> Option<u32> {
        self.state.ftl.worst_disturb_q12(&self.state.flash)
    }

    /// The chips: the ground truth that no firmware sees, for tests and reports.
    pub fn chips(&self) -> &Chip {
        &self.state.flash.chip
    }

    /// What the arrays of the dies do to the chips now: the state that it leaves if power is lost meanwhile is known.
    pub fn at_work(&self) -> Vec<AtWork> {
        self.state.flash.at_work()
    }

    /// The power is lost now: the chips as somebody finds them. All that DRAM held is gone; no capacitor lets an
    /// operation end. What the spare areas say was told to whoever recorded effects ([`ChipEffect::Spare`]).
    ///
    /// [`ChipEffect::Spare`]: crate::observe::ChipEffect::Spare
    #[cold]
    pub fn cut(self) -> TornChips {
        let State { flash, now, .. } = self.state;
        flash.cut(now)
    }

    /// Pages of the chips that can hold data.
    pub fn physical_pages(&self) -> u64 {
        u64::from(self.state.ftl.tables.layout.blocks())
            * u64::from(self.state.ftl.tables.layout.pages_per_block)
    }

    /// Checks that all tables agree (slow); the error names the first place where they do not.
    pub fn check(&self) -> Result<(), String> {
        let State { host, ftl, flash, events, .. } = &self.state;
        ftl.check(flash)?;
        host.check(&ftl.gather)?;
        self.counted().check()?;
        flash.broken_bound.map_or(Ok(()), |broken| Err(broken.to_string()))?;
        let left = flash.pool.in_flight() + host.working();
        if events.is_empty() && left > 0 {
            return Err(format!("nothing will happen, but {left} operations and commands are under way"));
        }
        Ok(())
    }

    /// Writes the whole drive, with everything under way, to `out`. Recorded effects are not part of it. Refused if a
    /// policy of the caller's own is at work: nobody could say what it knows.
    pub fn save(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        if let Some(family) = self.external_family() {
            let what = format!(
                "the drive cannot be saved: {family} is a policy of the program, not of a configuration"
            );
            return Err(std::io::Error::new(std::io::ErrorKind::Unsupported, what));
        }
        let content = postcard::to_allocvec(&self.state).map_err(std::io::Error::other)?;
        out.write_all(&snapshot::seal(self.config_hash, &content))?;
        out.write_all(&content)
    }

    /// The section of a family whose policy comes from outside, if one does.
    pub(crate) fn external_family(&self) -> Option<String> {
        let ftl = &self.state.ftl;
        match (&ftl.gc_victim, &ftl.wear_leveling, &ftl.stream) {
            (gc_victim::Policy::External(_), ..) => Some(gc_victim::FAMILY.section()),
            (_, wear_leveling::Policy::External(_), _) => Some(wear_leveling::FAMILY.section()),
            (.., stream::Policy::External(_)) => Some(stream::FAMILY.section()),
            _ => None,
        }
    }

    /// A drive as it was when it was saved. `cfg` must be the configuration it was saved with.
    pub fn restore(cfg: &DriveConfig, bytes: &[u8]) -> Result<Drive, SnapshotError> {
        let config_hash = config_hash(cfg);
        let content = snapshot::open(config_hash, bytes)?;
        let (state, rest): (State, _) = postcard::take_from_bytes(content)
            .map_err(|error| SnapshotError::Malformed(error.to_string()))?;
        let fresh = Drive::new(cfg).map_err(|errors| SnapshotError::Malformed(errors.to_string()))?;
        ensure(rest.is_empty(), "more than a drive")
            .and_then(|()| of_saved(state, fresh))
            .map_err(SnapshotError::Malformed)
    }

    fn wake(&mut self) {
        for work in IdleWork::ALL {
            if std::mem::take(&mut self.state.idle[work as usize]) {
                let State { ftl, flash, .. } = &mut self.state;
                ftl.set_idle(flash, work, false);
            }
        }
    }

    pub(crate) fn fall_silent(&mut self) {
        self.state.silent_since = self.state.now;
        for work in IdleWork::ALL {
            if !self.state.idle_check[work as usize]
                && let Some(ns) = self.state.ftl.idle_after_ns(work)
                && self.state.executor == Executor::Timed
            {
                self.state.idle_check[work as usize] = true;
                let due = SimTime(self.state.now.0 + ns);
                self.state.events.push(due, EventKind::IdleCheck, work as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_without_memory_for_it_says_how_much_it_needs() {
        assert!(check_memory(1 << 20).is_ok());
        let error = check_memory((1 << 60) + (1 << 29)).unwrap_err().to_string();
        assert!(error.contains("1073741824.5 GiB") && error.contains("blocks_per_plane"), "{error}");
    }
}
