//! Ageing a drive before a measurement: filled in order, overwritten at random, blocks given erase counts.
//!
//! All of it goes below the DRAM buffer and takes no simulated time. Random sequences have names of their own, so that
//! the workload and the drive's policies draw the same numbers whatever was done before.

mod claims;
mod one_die;
mod overwriting;
mod own;
mod turnover;

pub use crate::base::error::PreconditionError;

use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::measure::progress::Progress;
pub(crate) use claims::Recipe;
use overwriting::Overwriting;
pub(crate) use overwriting::Past as Windows;
pub(crate) use own::Own;
pub use own::PIECES;
use own::{Ageing, reason};
use ssd::rng::Rng;
use ssd::{Drive, DriveConfig, Pace, Reason};
pub(crate) use turnover::Turnover;

/// Units written in order at once.
const FILL_BATCH: u32 = 1 << 16;

/// What is done to a drive before a measurement. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preconditioning {
    /// Share of the logical space that is written in order, from its start; %.
    pub fill_percent: f64,
    /// How that share is overwritten at random after that.
    pub overwrite: Overwrite,
    /// How fast the host is thought to write that: as fast as the one of the measurement.
    pub pace: Pace,
    /// What overwrites it.
    pub past: Past,
    /// Pieces that each pass over the workload's own writes is cut in; 0 for [`PIECES`].
    pub past_pieces: u32,
    /// How the steady state is reached, if it is asked for.
    pub steady_way: SteadyWay,
    /// Erase counts that blocks have at the end.
    pub erase_counts: EraseCounts,
}

/// How much is overwritten, each mapping unit of the filled space with the same probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Overwrite {
    /// Nothing.
    #[default]
    None,
    /// So many times the filled space.
    Times(f64),
    /// Until the write amplification (units programmed / units written) is steady. It is taken in windows of a quarter
    /// of the filled space. Steady are four windows in a row that differ, the least from the greatest, by less than
    /// `change_percent` of their mean; or, where single windows scatter because the drive has few blocks, a mean over
    /// four windows that differs from the one over the four windows before by less than half of that; and either only
    /// once each lane has erased as many blocks as it has spare.
    SteadyState {
        /// Allowed difference; %.
        change_percent: f64,
        /// At most so many times the filled space is written, or the spare room where that is larger; then it is left
        /// as it is, and the result says so.
        times_at_most: f64,
    },
}

ssd::choice! {
    /// What a drive is overwritten with before a measurement.
    pub enum Past {
        /// Whole units of the filled space, each with the same probability.
        Uniform = "uniform",
        /// The workload's own writes and trims, over and over, in pieces whose order is drawn anew. Where they cannot
        /// be known (jobs that wait for the drive, more than 50 million requests, no workload), and on a large drive
        /// where they are as random: as `uniform`.
        Own = "own",
    }
}

#[expect(clippy::derivable_impls, reason = "choice! marks no default")]
impl Default for Past {
    fn default() -> Self {
        Past::Uniform
    }
}

ssd::choice! {
    /// How a drive is brought to steady state.
    pub enum SteadyWay {
        /// `one_die` for drives of 16 Mi mapping units or more on 8 dies or more, `whole` for the others.
        Auto = "auto",
        /// All of it is overwritten for as long as it takes.
        Whole = "whole",
        /// One die of it is, apart; the drive is written so that its blocks are as full as that die's, and the
        /// amplification that follows is compared with that die's. If they differ, `whole` goes on from there.
        OneDie = "one_die",
    }
}

#[expect(clippy::derivable_impls, reason = "choice! marks no default")]
impl Default for SteadyWay {
    fn default() -> Self {
        SteadyWay::Auto
    }
}

/// Erase counts given to blocks (a superblock counts as one).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EraseCounts {
    /// What the writes before have made of them.
    #[default]
    AsIs,
    /// The same for all.
    Equal(u32),
    /// Each number from `min` to `max` with the same probability.
    Uniform {
        /// Least.
        min: u32,
        /// Most.
        max: u32,
    },
}

/// What preconditioning did.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Preconditioned {
    /// Mapping units written in order before the measurement.
    pub units_filled: u64,
    /// Mapping units overwritten after that.
    pub units_overwritten: u64,
    /// What overwrote them: `own`, the workload's own writes and trims, or `uniform`, units at random; empty if
    /// nothing was filled.
    #[serde(default)]
    pub past: String,
    /// Why that is `uniform` though `run.past = "own"`: the workload's own writes cannot be known, or are as random;
    /// else empty.
    #[serde(default)]
    pub past_reason: String,
    /// Passes over the workload's own writes.
    #[serde(default)]
    pub passes: u64,
    /// Whether every lane has erased as many blocks as it has beyond its data.
    #[serde(default)]
    pub turned_over: bool,
    /// Write amplification of each window by which steadiness was judged, if the workload's own writes were used: a
    /// window is a pass, and at least a quarter of the over-provisioning.
    #[serde(default)]
    pub write_amplification_by_window: Vec<f64>,
    /// Over-provisioning at the first request.
    #[serde(default)]
    pub spare: Spare,
    /// The outcome in words: `steady`, `still moving by x %`, `not turned over`, `written once`, `overwritten`,
    /// `laid out as if overwritten`.
    #[serde(default)]
    pub state: String,
    /// The assumed pace of the host: `relaxed` (the thresholds of `ftl.gc_trigger` hold) or `saturated` (it takes
    /// every free block but the reserve).
    #[serde(default)]
    pub pace: String,
    /// How steady state was reached: `whole` or `one_die`; null if it was not asked for.
    #[serde(default)]
    pub steady_way: Option<String>,
    /// Bytes of all these units, not included in the measurement's `bytes_written`.
    #[serde(default)]
    pub bytes_written: u64,
    /// Bytes programmed to flash for them, garbage collection included; not included in `flash.bytes_programmed`.
    #[serde(default)]
    pub bytes_programmed: u64,
    /// Whether write amplification became steady; null if that was not asked for.
    pub steady: Option<bool>,
    /// Units programmed divided by units written, over the last pass of overwrites.
    pub write_amplification: Option<f64>,
    /// Steps by which the cells were aged after that, in order, as `--age` takes them.
    #[serde(default)]
    pub age_steps: Vec<String>,
    /// Processor time of preconditioning, ageing included.
    pub cpu_seconds: f64,
    /// Whether the drive was cached by an earlier run, which made it in the same way; `preconditioning.cpu_seconds`
    /// is that run's.
    #[serde(default)]
    pub kept: bool,
    /// Keys, with values, that the drive had while it was aged, where they differ from the run's (`age_with` of a
    /// sweep).
    #[serde(default)]
    pub aged_as: Vec<String>,
}

/// Over-provisioning: space beyond what the data takes, unwritten and trimmed space included, divided by the data;
/// null if there is no data.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Spare {
    /// Gross: all good blocks, minus what the valid data takes, divided by the data.
    pub gross: Option<f64>,
    /// Effective: the same without blocks that are open, in reserve, or kept free for garbage collection.
    pub net: Option<f64>,
}

impl Spare {
    /// Of a drive as it is, which is of this configuration.
    pub(crate) fn of(drive: &Drive, config: &DriveConfig) -> Self {
        let lanes = drive.blocks().lanes();
        let good = drive.health().wear.blocks.into();
        Spare::beyond(lanes.live_units, lanes.units, (good, lanes.blocks), config)
    }

    /// Of a drive of this configuration that is full, and none of whose blocks is bad.
    pub(crate) fn when_full(config: &DriveConfig) -> Self {
        let blocks = config.used_blocks_per_plane();
        let all = u64::from(blocks) * u64::from(config.lanes());
        Spare::beyond(config.logical_units(), config.data_units_per_block() as u32, (all, blocks), config)
    }

    /// Beyond so many units of data, in blocks of so many: how many are good, and how many each lane has.
    fn beyond(data: u64, block: u32, (good, per_lane): (u64, u32), config: &DriveConfig) -> Self {
        let (data, block) = (data as f64, f64::from(block));
        let kept = config.spare_blocks_to_work_per_lane(per_lane) as f64 * f64::from(config.lanes()) * block;
        let room = good as f64 * block - data;
        let share = |room: f64| (data > 0.0).then(|| room.max(0.0) / data);
        Spare { gross: share(room), net: share(room - kept) }
    }
}

impl Preconditioned {
    /// By how much the last two windows differ; %.
    fn change_percent(&self) -> Option<f64> {
        let [.., before, last] = self.write_amplification_by_window[..] else { return None };
        Some(100.0 * (last / before - 1.0).abs())
    }

    /// The word for what came of it.
    fn say(&mut self) {
        let was_laid_out = self.steady_way.as_deref() == Some("one_die");
        self.state = match (self.steady, self.change_percent()) {
            _ if self.units_filled == 0 => String::new(),
            _ if was_laid_out && self.steady == Some(true) => "laid out as if overwritten".to_owned(),
            _ if self.units_overwritten == 0 => "written once".to_owned(),
            _ if !self.turned_over => "not turned over".to_owned(),
            (Some(true), _) => "steady".to_owned(),
            (Some(false), Some(moved)) => {
                format!("still moving by {}", crate::base::number::percent(moved / 100.0))
            }
            (Some(false), None) => "still moving".to_owned(),
            (None, _) => "overwritten".to_owned(),
        };
    }
}

/// Units of a drive that so much of its logical space takes.
fn units_filled(drive: &Drive, percent: f64) -> u32 {
    (f64::from(drive.logical_units()) * (percent / 100.0)).round() as u32
}

/// How results call a pace.
fn pace_name(pace: Pace) -> &'static str {
    if pace == Pace::Saturated { "saturated" } else { "relaxed" }
}

/// Units programmed so far, by the host and by moves, places left empty included.
fn units_programmed(drive: &Drive) -> u64 {
    let counts = drive.stats().ftl;
    let moved = counts.moved_units.iter().sum::<u64>();
    counts.host_units + moved + counts.padded_units.iter().sum::<u64>() + counts.parity_units
}

/// Ages a drive. Counters are not reset. Without its configuration the whole drive is overwritten until it is steady,
/// whatever `steady_way` says.
pub fn precondition(
    drive: &mut Drive,
    seed: u64,
    wanted: &Preconditioning,
    progress: &mut dyn FnMut(Progress),
) -> Result<Preconditioned, Failure> {
    precondition_until(drive, None, None, seed, wanted, (&Stop::default(), progress))
}

/// The same for a drive of a configuration, of which a single die can be built; ending early if `stop` is asked for.
pub(crate) fn precondition_until(
    drive: &mut Drive,
    config: Option<&DriveConfig>,
    own: Option<Own<'_>>,
    seed: u64,
    wanted: &Preconditioning,
    (stop, progress): (&Stop, &mut dyn FnMut(Progress)),
) -> Result<Preconditioned, Failure> {
    wanted.check().map_err(Failure::Preconditioning)?;
    let cpu = crate::base::process::thread_cpu_time();
    let filled = units_filled(drive, wanted.fill_percent);
    let mut done = Preconditioned { pace: pace_name(wanted.pace).to_owned(), ..Preconditioned::default() };
    let mut work = Work { drive, stop, progress };
    let wants_own = wanted.past == Past::Own && wanted.overwrite != Overwrite::None && filled > 0;
    let own = if wants_own { known(own, &mut work, (config, wanted, filled))? } else { Err("") };
    done.units_filled = u64::from(filled);
    if let Err(reason) = own {
        done.past_reason = reason.to_owned();
    }
    if let Ok((own, passes)) = own {
        work.fill(filled)?;
        done.past = Past::Own.name().to_owned();
        let mut ageing = Ageing::new(&mut work, (own, passes), wanted, (seed, filled), &mut done);
        match wanted.overwrite {
            Overwrite::Times(times) => ageing.times(times)?,
            Overwrite::SteadyState { change_percent, times_at_most } => {
                ageing.until_steady(change_percent, times_at_most)?;
            }
            Overwrite::None => {}
        }
    } else {
        uniform(&mut work, config, seed, wanted, (filled, &mut done))?;
    }
    // What a drive brings along that is not written here goes on as it would have.
    if filled > 0 {
        settle(drive, wanted.pace, stop)?;
    }
    done.say();
    set_erase_counts(drive, seed, wanted.erase_counts);
    done.cpu_seconds = crate::base::process::thread_cpu_time().saturating_sub(cpu).as_secs_f64();
    Ok(done)
}

/// The writes of a workload's own that a drive is overwritten with, where they were asked for; or why not with them.
fn known<'a>(
    own: Option<Own<'a>>,
    work: &mut Work<'_>,
    (config, wanted, filled): (Option<&DriveConfig>, &Preconditioning, u32),
) -> Result<Result<(Own<'a>, own::Passes), &'static str>, Failure> {
    let Some(own) = own else { return Ok(Err(reason::UNKNOWN)) };
    if wanted.steady_way == SteadyWay::OneDie {
        return Ok(Err(reason::ONE_DIE));
    }
    // The same past, in a tenth of the time.
    let is_short = config.is_some_and(|it| one_die::is_wanted(filled, it.geometry.dies(), wanted));
    let unit_bytes = u64::from(work.drive.unit_bytes());
    if is_short && filled == work.drive.logical_units() && own.workload.writes_evenly(unit_bytes) {
        return Ok(Err(reason::EVEN));
    }
    Ok(own.read(work)?.map(|passes| (own, passes)))
}

/// What a drive that was written in no time has still to do, before time passes: its past is no part of what is
/// measured.
fn settle(drive: &mut Drive, pace: Pace, stop: &Stop) -> Result<(), Failure> {
    while drive.past().catch_up(pace) {
        if stop.is_asked() {
            return Err(Failure::Interrupted { phase: Phase::Overwriting });
        }
    }
    Ok(())
}

/// Writes a drive in order, and overwrites what was written at random.
fn uniform(
    work: &mut Work<'_>,
    config: Option<&DriveConfig>,
    seed: u64,
    wanted: &Preconditioning,
    (filled, done): (u32, &mut Preconditioned),
) -> Result<(), Failure> {
    let turnover = Turnover::begin(work.drive);
    let die = match config {
        Some(config) => one_die::measure(work, config, seed, wanted, filled)?,
        None => None,
    };
    if let Some(die) = &die {
        die.lay_out(work, seed, filled)?;
        done.steady_way = Some("one_die".to_owned());
    } else {
        work.fill(filled)?;
    }
    if filled == 0 {
        return Ok(());
    }
    done.past = Past::Uniform.name().to_owned();
    let rng = Rng::named(seed, "lab/precondition/overwrite");
    let mut overwriting = Overwriting { work, rng, pace: wanted.pace, filled, done, turnover };
    let agrees = match &die {
        Some(die) => overwriting.agrees_with(die.write_amplification, wanted)?,
        None => false,
    };
    if !agrees {
        overwriting.run(wanted.overwrite)?;
    }
    let Overwriting { work, done, mut turnover, .. } = overwriting;
    turnover.look(work.drive);
    done.turned_over = turnover.is_complete(work.drive);
    Ok(())
}

/// Overwrites a drive in steady state for a pass more, looks at it at so many moments, and returns its write
/// amplification.
fn once_more(
    drive: &mut Drive,
    seed: u64,
    wanted: &Preconditioning,
    moments: u64,
    look: &mut dyn FnMut(&Drive),
    (stop, progress): (&Stop, &mut dyn FnMut(Progress)),
) -> Result<f64, Failure> {
    let filled = units_filled(drive, wanted.fill_percent);
    let mut done = Preconditioned::default();
    let rng = Rng::named(seed, "lab/precondition/once_more");
    let work = &mut Work { drive, stop, progress };
    let turnover = Turnover::begin(work.drive);
    Overwriting { work, rng, pace: wanted.pace, filled, done: &mut done, turnover }.pass(moments, look)
}

impl Preconditioning {
    fn check(&self) -> Result<(), PreconditionError> {
        let within = |key, found: f64, low: f64, high: f64, allowed| {
            let is_allowed = found >= low && found <= high;
            if is_allowed { Ok(()) } else { Err(PreconditionError::Setting { key, found, allowed }) }
        };
        within("run.fill_percent", self.fill_percent, 0.0, 100.0, "0 to 100 %")?;
        match self.overwrite {
            Overwrite::None => Ok(()),
            Overwrite::Times(times) => within("run.overwrite_times", times, 0.0, 1e6, "0 to 1000000"),
            Overwrite::SteadyState { change_percent, times_at_most } => {
                within("run.steady_change_percent", change_percent, 0.001, 100.0, "0.001 to 100 %")?;
                within("run.overwrite_times", times_at_most, 0.0, 1e6, "0 to 1000000")
            }
        }
    }
}

fn set_erase_counts(drive: &mut Drive, seed: u64, counts: EraseCounts) {
    match counts {
        EraseCounts::AsIs => {}
        EraseCounts::Equal(count) => drive.past().set_erase_counts(|_| count),
        EraseCounts::Uniform { min, max } => {
            let mut rng = Rng::named(seed, "lab/precondition/erase_counts");
            let (low, high) = (min.min(max), min.max(max));
            let values = (high - low).saturating_add(1);
            drive.past().set_erase_counts(|_| low + rng.below(values));
        }
    }
}

/// Writes all of a drive in order.
pub(crate) fn fill(drive: &mut Drive, stop: &Stop) -> Result<(), Failure> {
    let units = drive.logical_units();
    Work { drive, stop, progress: &mut |_| {} }.fill(units)
}

/// Why a drive takes no more of what it had to.
pub(crate) fn no_room(drive: &Drive, phase: Phase, written: u64, wanted: u64) -> Failure {
    let health = drive.health();
    let retired = health.wear.retired;
    if health.read_only == Some(Reason::WornOut) || health.read_only.is_none() && retired > 0 {
        let unit_bytes = u64::from(drive.unit_bytes());
        return Failure::Preconditioning(PreconditionError::WornOut {
            phase,
            written_bytes: drive.stats().ftl.host_units * unit_bytes,
            logical_bytes: u64::from(drive.logical_units()) * unit_bytes,
            retired,
        });
    }
    Failure::Preconditioning(PreconditionError::NoRoom {
        phase,
        written,
        wanted,
        reason: health.read_only,
        retired,
    })
}

/// A drive being aged.
struct Work<'a> {
    drive: &'a mut Drive,
    stop: &'a Stop,
    progress: &'a mut dyn FnMut(Progress),
}

impl Work<'_> {
    /// Tells how far it is; an error if that is far enough.
    fn tell(&mut self, phase: Phase, done: u64, total: u64) -> Result<(), Failure> {
        (self.progress)(Progress { phase, done, total: Some(total), simulated_ns: 0, so_far: None });
        self.look(phase)
    }

    /// An error if somebody has asked to end. Asked for every batch of units: what a batch costs depends on the drive.
    fn look(&self, phase: Phase) -> Result<(), Failure> {
        if self.stop.is_asked() {
            return Err(Failure::Interrupted { phase });
        }
        Failure::of_policy(self.drive).map_or(Ok(()), Err)
    }

    fn no_room(&self, phase: Phase, written: u64, wanted: u64) -> Failure {
        no_room(self.drive, phase, written, wanted)
    }

    fn fill(&mut self, units: u32) -> Result<(), Failure> {
        let mut done = 0;
        while done < units {
            let count = (units - done).min(FILL_BATCH);
            if let Err(short) = self.drive.fill(done, count) {
                return Err(self.no_room(Phase::Filling, u64::from(done) + short.written, u64::from(units)));
            }
            done += count;
            self.tell(Phase::Filling, u64::from(done), u64::from(units))?;
        }
        Ok(())
    }
}
