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

pub mod age;
pub mod bare_blocks;
pub(crate) mod blocks;
pub(crate) mod build;
pub(crate) mod contents;
pub(crate) mod engine;
pub mod external;
pub mod foresee;
pub(crate) mod past;
pub(crate) mod reading;
pub mod reconfigure;
pub(crate) mod reports;
pub(crate) mod silence;
pub mod stats;
pub(crate) mod streamed;
pub(crate) mod tend;
pub(crate) mod tracing;

use crate::config::ConfigErrors;
use crate::drive_config::DriveConfig;
use crate::executor::{Executor, Pace};
use crate::flash::BrokenBound;
use crate::nand::Chip;
use crate::nand::aging::Telemetry;
use crate::nand::torn::TornChips;
use crate::observe::Effect;
use crate::rng::mix;
use crate::signals::{Command, Completion, Reason, Status};
use crate::snapshot::{self, Saving, SnapshotError};
use crate::units::{Lba, SimTime};
use age::{AgeError, AgeStep};
use blocks::Blocks;
use contents::Contents;
use engine::State;
use external::{External, ExternalPolicies};
use foresee::{Ahead, Foresight, ForesightError};
use past::{NoRoom, Past};
use reconfigure::{ReconfigureError, reconfigured};
use reports::Reports;
use stats::{Stats, Wear};
use std::io::Read;
use std::sync::Arc;
use tracing::Tracing;

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

/// A hash of a configuration, as it enters snapshots.
pub(crate) fn config_hash(cfg: &DriveConfig) -> u64 {
    // A configuration is plain data; should it ever fail to serialise, all such configurations look alike.
    snapshot::checksum(&postcard::to_allocvec(cfg).unwrap_or_default())
}

/// # Its life
impl Drive {
    /// A fresh drive. Errors if the configuration makes no sense, naming the keys, or if there is no memory for it.
    pub fn new(cfg: &DriveConfig) -> Result<Drive, ConfigErrors> {
        Drive::with_policies(cfg, ExternalPolicies::default())
    }

    /// A fresh drive with policies from outside: one for each family whose policy is `external`, and those that the
    /// caller has decide in place of others. Such a drive cannot be saved.
    ///
    /// # Errors
    /// As for [`Drive::new`]; if a policy is missing, or given and not asked for; and if the lanes have no blocks to
    /// spare for the streams of a separator.
    ///
    /// # Panics
    /// If a trusted separator names more streams than there can be, or none for the host.
    pub fn with_policies(cfg: &DriveConfig, policies: ExternalPolicies) -> Result<Drive, ConfigErrors> {
        Ok(Drive { state: State::new(cfg, policies)?, config_hash: config_hash(cfg) })
    }

    /// Writes the whole drive, with everything under way, to `out`. Recorded effects are not part of it. Refused if a
    /// policy of the caller's own is at work: nobody could say what it knows.
    pub fn save(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        self.saving()?.write(out)
    }

    /// What [`Drive::save`] writes, of which length and header are known before.
    pub fn saving(&self) -> std::io::Result<Saving<'_, impl serde::Serialize>> {
        if let Some(family) = self.external().family() {
            let what = format!(
                "the drive cannot be saved: {family} is a policy from the program, not from a configuration"
            );
            return Err(std::io::Error::new(std::io::ErrorKind::Unsupported, what));
        }
        Saving::new(self.config_hash, &self.state)
    }

    /// A drive as it was when it was saved. `cfg` must be the configuration it was saved with.
    pub fn restore(cfg: &DriveConfig, mut bytes: &[u8]) -> Result<Drive, SnapshotError> {
        let length = bytes.len() as u64;
        Drive::restore_from(cfg, &mut bytes, length).map_err(SnapshotError::within)
    }

    /// The same of a snapshot of so many bytes that is read piece by piece: memory never holds it as a whole. What is
    /// wrong with it is inside the error, as a [`SnapshotError`].
    pub fn restore_from(cfg: &DriveConfig, from: &mut impl Read, bytes: u64) -> std::io::Result<Drive> {
        let config_hash = config_hash(cfg);
        let mut state: State = streamed::read(config_hash, from, bytes)?;
        let malformed = |what: String| std::io::Error::other(SnapshotError::Malformed(what));
        let fresh = Drive::new(cfg).map_err(|errors| malformed(errors.to_string()))?;
        state.restored(fresh.state).map_err(malformed)?;
        Ok(Drive { state, config_hash })
    }

    /// Goes on under another configuration, from what lies on its flash. `from` is its own. What policies have learnt
    /// is forgotten where they change, and kept where they do not; counters go on. Policies from outside are those for
    /// the families that are `external` from now on. The drive stays as it is if that cannot be.
    pub fn reconfigure(
        &mut self,
        from: &DriveConfig,
        cfg: &DriveConfig,
        policies: ExternalPolicies,
    ) -> Result<(), ReconfigureError> {
        if self.config_hash != config_hash(from) {
            return Err(ReconfigureError::Other);
        }
        self.state = reconfigured(&self.state, from, cfg, policies)?;
        self.config_hash = config_hash(cfg);
        Ok(())
    }

    /// Whether a step is possible on a drive built as this one is, whatever its age: what can be refused before a drive
    /// is filled.
    pub fn check_age(&self, step: &AgeStep) -> Result<(), AgeError> {
        step.check_on(&self.state.ftl, &self.state.flash.chip)
    }

    /// Takes a step of ageing, at once and for all blocks. Nothing changes if it fails. Between two steps the drive is
    /// on for long enough to do, in no time, what the first has made due; what the last has is done as time passes.
    pub fn age(&mut self, step: &AgeStep) -> Result<(), AgeError> {
        self.check_age(step)?;
        self.state.catch_up();
        step.take(&mut self.state.ftl, &mut self.state.flash)?;
        if self.state.executor == Executor::Functional {
            self.state.settle_new();
        }
        Ok(())
    }

    /// Tells the drive what will be submitted from now on, in place of what it was told before. What it holds then, and
    /// what is written below the buffer ([`Drive::fill`], [`Drive::overwrite`]), dies at the first command that
    /// overwrites or trims it; what is written so before it is told of anything counts as never to die, until it moves.
    /// Nothing happens on a drive that does not look ahead.
    pub fn foresee(&mut self, foresight: Arc<Foresight>) -> Result<(), ForesightError> {
        self.ahead().check(&foresight)?;
        self.state.ftl.moves.separation.policy.foresee(&foresight);
        self.state.ftl.moves.page_classes.foresee(&foresight);
        Ok(())
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
}

/// # Commands and time
impl Drive {
    /// Sectors of 512 bytes the host sees.
    pub fn logical_sectors(&self) -> u64 {
        self.state.host.logical_sectors()
    }

    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u32 {
        self.state.ftl.moves.media.tables.layout.unit_bytes
    }

    /// Mapping units of the logical space.
    pub fn logical_units(&self) -> u32 {
        self.state.ftl.moves.media.tables.map.logical()
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
        self.state.submit(queue, command, now);
        Ok(())
    }

    /// When the next thing will happen by itself.
    pub fn next_event_at(&self) -> Option<SimTime> {
        self.state.events.next_at()
    }

    /// Lets everything happen that is due up to and including time `to`.
    pub fn advance_to(&mut self, to: SimTime) {
        self.state.run_until_before(SimTime(to.0.saturating_add(1)));
        self.state.set_now(self.state.now.max(to));
        self.state.settle_new();
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

    /// Lets time pass to the next completion, for at most as many events as `left` says, from which what happened is
    /// taken. False with some left: there is nothing to wait for.
    #[inline]
    pub fn advance_to_completion_within(&mut self, left: &mut u32) -> bool {
        self.state.advance_to_completion_within(left)
    }

    /// Lets everything happen that is under way, however long it takes.
    pub fn drain(&mut self) {
        self.state.drain();
    }

    /// Takes the oldest completion.
    #[inline]
    pub fn pop_completion(&mut self) -> Option<Completion> {
        self.next_completion().copied()
    }

    /// Takes the oldest completion where it stands, without a copy of it.
    #[inline]
    pub fn next_completion(&mut self) -> Option<&Completion> {
        self.state.host.next_completion()
    }

    /// Starts loading the mapping of a command that is known ahead.
    #[inline]
    pub fn prefetch(&self, lba: Lba) {
        let lpn = self.state.host.unit_of(lba.0);
        self.state.ftl.moves.media.tables.map.prefetch(lpn as u32);
    }

    /// Starts loading what a read of it will need of the chips' counters and the firmware's. Best some time after
    /// [`Drive::prefetch`]: it looks the mapping up.
    #[inline]
    pub fn prefetch_read(&self, lba: Lba) {
        let media = &self.state.ftl.moves.media;
        let lpn = self.state.host.unit_of(lba.0);
        media.reclaim.prefetch_read(&media.tables, &self.state.flash, lpn as u32);
    }

    /// Whether time passes.
    pub fn executor(&self) -> Executor {
        self.state.executor
    }

    /// Switches the executor; what is under way is finished first.
    pub fn set_executor(&mut self, executor: Executor) {
        if self.state.executor != executor {
            self.drain();
            self.state.apply_executor(executor);
        }
    }

    /// Reads sectors of one page as a command would, in no time and without the command: several times faster. `None`
    /// if it takes a command: where time passes, while others are under way, for what is not on one page of flash, and
    /// where effects are recorded or reads are kept. Counts and hashes are those of the command.
    #[inline]
    pub fn read_at_once(&mut self, lba: Lba, sectors: u32) -> Option<Status> {
        self.state.read_at_once(lba, sectors)
    }

    /// Writes everything dirty in the buffer to flash and empties the buffer.
    pub fn flush_buffer(&mut self) {
        self.state.flush_buffer();
    }

    /// Writes `units` consecutive mapping units from unit `from` below the buffer, in no time.
    pub fn fill(&mut self, from: u32, units: u32) -> Result<(), NoRoom> {
        self.past().fill(from, units)
    }

    /// Writes whole mapping units below the buffer, in no time ([`Past::overwrite`]).
    pub fn overwrite(&mut self, units: &[u32]) -> Result<(), NoRoom> {
        self.past().overwrite(Pace::Relaxed, units)
    }
}

/// # What it tells
impl Drive {
    /// Records effects from now on, or stops. While recording, take them often: they are kept until taken.
    pub fn record_effects(&mut self, on: bool) {
        self.state.ftl.moves.media.effects.record(on);
        self.state.flash.steps.on = false;
        self.state.flash.note_listeners();
    }

    /// Records what the chips do as well ([`Effect::Chip`]), or stops recording. What they are doing when it begins is
    /// told when it ends.
    pub fn record_chip_effects(&mut self, on: bool) {
        self.state.ftl.moves.media.effects.record_chips(on);
        self.state.flash.steps.on = on;
        self.state.flash.note_listeners();
    }

    /// Takes the oldest effect.
    pub fn pop_effect(&mut self) -> Option<Effect> {
        self.state.ftl.moves.media.effects.pop()
    }

    /// All counters. What dies and channels are doing now counts up to now.
    pub fn stats(&self) -> Stats {
        let stats = self.state.counted();
        debug_assert_eq!(stats.check(), Ok(()));
        stats
    }

    /// Sets all counters back to zero.
    pub fn reset_stats(&mut self) {
        self.state.reset_counts();
    }

    /// A hash of everything that happened so far, in order and with its time.
    pub fn event_hash(&self) -> u64 {
        mix(self.state.flash.hash() ^ mix(self.state.host.hash()))
    }

    /// Wear and state.
    pub fn health(&self) -> Health {
        let (read_only, broken_bound) = (self.state.host.read_only(), self.state.flash.broken_bound());
        Health { read_only, wear: self.blocks().wear(), broken_bound }
    }

    /// Checks that all tables agree (slow); the error names the first place where they do not.
    pub fn check(&self) -> Result<(), String> {
        self.state.check()
    }

    /// What a physical block shows of its wear (blocks are numbered plane by plane over the whole drive); `None` where
    /// cells do not age. Each call is a new measurement.
    pub fn telemetry(&mut self, block: u32) -> Option<Telemetry> {
        self.state.flash.chip.telemetry(block)
    }

    /// The chips: the ground truth that no firmware sees, for tests and reports.
    pub fn chips(&self) -> &Chip {
        &self.state.flash.chip
    }

    /// Its blocks.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { ftl: &self.state.ftl, flash: &self.state.flash }
    }

    /// What lies where on its flash.
    pub fn contents(&self) -> Contents<'_> {
        Contents { ftl: &self.state.ftl }
    }

    /// What its techniques have to tell.
    pub fn reports(&self) -> Reports<'_> {
        Reports { state: &self.state }
    }

    /// What its policies must know of what comes.
    pub fn ahead(&self) -> Ahead<'_> {
        Ahead { ftl: &self.state.ftl, space: self.state.host.space() }
    }

    /// Its policies from outside.
    #[inline]
    pub fn external(&self) -> External<'_> {
        External { ftl: &self.state.ftl }
    }

    /// Whom its commands wait for, and what its dies and channels do.
    #[inline]
    pub fn tracing(&mut self) -> Tracing<'_> {
        Tracing { state: &mut self.state }
    }

    /// What can be done to it in no time.
    pub fn past(&mut self) -> Past<'_> {
        Past { state: &mut self.state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::write::waits::Lack;
    use crate::host::buffer::none;
    use crate::signals::{OpCode, Status};

    /// A unit waits for others to share a page with, a read ends meanwhile, and somebody was once refused a page: the
    /// unit is programmed when it has waited long enough, and the drive is not full.
    #[test]
    fn who_waits_for_company_is_not_taken_for_one_without_room() {
        let buffer = none::Params { gather_timeout_us: 500.0, ..Default::default() }.into();
        let cfg = DriveConfig { buffer, ..DriveConfig::default() };
        assert!(cfg.units_per_page() > 1);
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, 64).unwrap();
        drive.set_executor(Executor::Timed);
        drive.state.ftl.moves.media.waits.lack(Lack::Page);
        drive.state.ftl.moves.media.waits.take_refusal(Lack::Page);
        let command = |op, fua| Command { op, fua, sectors: 8, arrival: drive.now(), ..Command::default() };
        let commands =
            [command(OpCode::Write, true), Command { lba: Lba(64), ..command(OpCode::Read, false) }];
        for command in commands {
            drive.submit(0, &command, command.arrival).unwrap();
        }
        drive.drain();
        let ends: Vec<_> =
            std::iter::from_fn(|| drive.pop_completion()).map(|it| (it.op, it.status)).collect();
        assert_eq!(ends, [(OpCode::Read, Status::Ok), (OpCode::Write, Status::Ok)]);
        assert_eq!(drive.health().read_only, None);
    }
}
