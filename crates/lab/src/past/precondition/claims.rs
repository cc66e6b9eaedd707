//! Whether what a file says of an aged drive can be true of the drive in it.
//!
//! Whoever writes a drive to a file can write anything beside it. What was asked for is known, and the drive has
//! counted what was done to it: what follows from these is compared, and what is only measured on the way (the last
//! write amplification) has bounds.

use super::done::{Preconditioned, Spare, pace_name};
use super::one_die;
use super::overwriting::Windows;
use super::own::reason;
use super::turnover::Turnover;
use super::wanted::{EraseCounts, Overwrite, Past, Preconditioning};
use super::work::units_filled;
use ssd::flash::op::{CAUSES, Cause};
use ssd::{Drive, DriveConfig};
use std::fmt::Debug;

/// The longest text of a wrong value that is shown; characters.
const SHOWN_AT_MOST: usize = 60;
/// Nobody waits for longer than that (30 years); s.
const CPU_SECONDS_AT_MOST: f64 = 1e9;

/// How a drive was to be aged.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub preconditioning: Preconditioning,
    /// Steps of its cells' age, as they are written.
    pub steps: Vec<String>,
}

/// The error says what cannot be.
type Verdict = Result<(), String>;

/// A value that is told must be the one that was found.
fn same<T: PartialEq + Debug>(what: &str, told: &T, found: &T) -> Verdict {
    let shown = |value: &T| {
        let text = format!("{value:?}");
        match text.char_indices().nth(SHOWN_AT_MOST) {
            Some((at, _)) => format!("{}...", &text[..at]),
            None => text,
        }
    };
    if told == found {
        return Ok(());
    }
    Err(format!("it says {what} = {}, of a drive with {}", shown(told), shown(found)))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(what()) }
}

impl Preconditioned {
    /// Whether this can be said of a drive of a configuration that was new before.
    pub(crate) fn check(&self, recipe: &Recipe, drive: &Drive, config: &DriveConfig) -> Verdict {
        self.check_told(recipe, drive)?;
        self.check_windows(&recipe.preconditioning)?;
        self.check_steadiness(&recipe.preconditioning)?;
        self.check_counts(&recipe.preconditioning, drive, config)?;
        self.check_blocks(&recipe.preconditioning, drive)
    }

    /// What follows from what was asked for.
    fn check_told(&self, recipe: &Recipe, drive: &Drive) -> Verdict {
        let wanted = &recipe.preconditioning;
        let filled = u64::from(units_filled(drive, wanted.fill_percent));
        same("units_filled", &self.units_filled, &filled)?;
        let units = u128::from(filled) + u128::from(self.units_overwritten);
        let written = units * u128::from(drive.unit_bytes());
        same("bytes_written", &u128::from(self.bytes_written), &written)?;
        same("pace", &self.pace.as_str(), &pace_name(wanted.pace))?;
        same("age_steps", &self.age_steps, &recipe.steps)?;
        let has_past = filled > 0 && wanted.past == Past::Own && wanted.overwrite != Overwrite::None;
        let past = match self.past.as_str() {
            own if has_past && own == Past::Own.name() => own,
            _ if filled > 0 => Past::Uniform.name(),
            _ => "",
        };
        same("past", &self.past.as_str(), &past)?;
        let needs_reason = has_past && past == Past::Uniform.name();
        let has_reason = reason::ALL.contains(&self.past_reason.as_str());
        ensure(if needs_reason { has_reason } else { self.past_reason.is_empty() }, || {
            format!("it says past = {past} for a reason that it cannot have (past_reason)")
        })?;
        let mut again = self.clone();
        again.say();
        same("state", &self.state, &again.state)?;
        // What is added when it is used.
        same("kept", &self.kept, &false)?;
        same("aged_as", &self.aged_as, &Vec::new())?;
        same("spare", &self.spare, &Spare::default())?;
        let seconds = self.cpu_seconds;
        ensure((0.0..CPU_SECONDS_AT_MOST).contains(&seconds), || format!("it says cpu_seconds = {seconds:e}"))
    }

    /// Write amplifications, and how many windows they are of.
    fn check_windows(&self, wanted: &Preconditioning) -> Verdict {
        let is_own = self.past == Past::Own.name();
        let windows = &self.write_amplification_by_window;
        let are_asked = is_own && matches!(wanted.overwrite, Overwrite::SteadyState { .. });
        ensure(are_asked || windows.is_empty(), || {
            format!("it tells of {} windows, of none", windows.len())
        })?;
        ensure(is_own || self.passes == 0, || format!("it tells of {} passes, of none", self.passes))?;
        ensure(windows.len() as u64 <= self.passes, || {
            format!("it tells of {} windows in {} passes", windows.len(), self.passes)
        })?;
        let mut all = windows.iter().chain(&self.write_amplification);
        let wrong = all.find(|told| !(0.0..=self.bytes_programmed as f64).contains(*told));
        ensure(wrong.is_none(), || format!("it says write_amplification = {:e}", wrong.unwrap_or(&0.0)))?;
        ensure(self.write_amplification.is_none() || self.units_overwritten > 0, || {
            "it tells of the write amplification of no writes".to_owned()
        })
    }

    /// Whether it became steady, and how.
    fn check_steadiness(&self, wanted: &Preconditioning) -> Verdict {
        let is_own = self.past == Past::Own.name();
        let allowed = match wanted.overwrite {
            Overwrite::SteadyState { change_percent, .. } if self.units_filled > 0 => Some(change_percent),
            _ => None,
        };
        let is_asked = allowed.is_some() && (!is_own || self.units_overwritten > 0);
        same("steady", &self.steady.is_some(), &is_asked)?;
        let way = match self.steady_way.as_deref() {
            Some("one_die") => "one_die",
            _ => "whole",
        };
        let way = (is_asked && !is_own).then(|| way.to_owned());
        // A workload that writes nothing makes no past.
        same("steady_way", &self.steady_way, &way)?;
        if self.steady != Some(true) {
            return Ok(());
        }
        let unsteady = |what: &str| Err(format!("it says steady = true, {what}"));
        let least = if way.as_deref() == Some("whole") { self.units_filled } else { 1 };
        if self.units_overwritten < least || self.write_amplification.is_none() {
            return unsteady("of a drive that was hardly overwritten");
        }
        let change = allowed.unwrap_or_default();
        let mut past = Windows::default();
        self.write_amplification_by_window.iter().for_each(|&window| past.add(window));
        let moved = self.change_percent().is_some_and(|moved| moved <= change);
        if is_own && !(moved || past.is_steady(change / 100.0)) {
            return unsteady("and its windows do not");
        }
        // One that was laid out like a die has not erased what that die has.
        if way.as_deref() != Some("one_die") && !self.turned_over {
            return unsteady("of a drive that was not turned over");
        }
        Ok(())
    }

    /// What the drive has counted.
    fn check_counts(&self, wanted: &Preconditioning, drive: &Drive, config: &DriveConfig) -> Verdict {
        let stats = drive.stats();
        let page = u128::from(stats.page_bytes);
        let pages =
            (0..CAUSES).filter_map(Cause::numbered).map(|cause| u128::from(stats.pages_programmed(cause)));
        same("bytes_programmed", &u128::from(self.bytes_programmed), &(pages.sum::<u128>() * page))?;
        let (filled, host) = (self.units_filled, stats.ftl.host_units);
        let written = filled.saturating_add(self.units_overwritten);
        let may_be_laid_out = one_die::is_wanted(filled as u32, config.geometry.dies(), wanted);
        if self.past == Past::Uniform.name() && !may_be_laid_out {
            same("units written", &written, &host)
        } else {
            // The buffer may have held what was written twice; and a drive laid out like a die is written in part
            // by moves.
            ensure(host <= written || may_be_laid_out, || {
                format!("it says units written = {written}, of a drive with {host}")
            })
        }
    }

    /// What has become of its blocks.
    fn check_blocks(&self, wanted: &Preconditioning, drive: &Drive) -> Verdict {
        ensure(drive.outstanding() == 0, || {
            format!("its drive still serves {} commands", drive.outstanding())
        })?;
        let lanes = drive.blocks().lanes();
        let (filled, live, lost) = (self.units_filled, lanes.live_units, drive.stats().ftl.lost_units);
        let holds = (filled.saturating_sub(lost)..=filled).contains(&live);
        ensure(holds || self.past != Past::Uniform.name(), || {
            format!("it says units_filled = {filled}, of a drive that holds {live}")
        })?;
        // Counts that were given to blocks are no erases.
        if wanted.erase_counts != EraseCounts::AsIs {
            return Ok(());
        }
        let turned_over = Turnover::of_life(drive).is_complete(drive);
        ensure(turned_over || !self.turned_over, || {
            "it says turned_over = true, of a drive that has erased fewer blocks than it has beyond its data"
                .to_owned()
        })?;
        let blocks = u64::from(lanes.blocks) * lanes.erases.len() as u64;
        let lives = lanes.erases.iter().fold(blocks, |sum, &erases| sum.saturating_add(erases));
        let pages = u128::from(drive.blocks().pages() / blocks.max(1)) * u128::from(lives);
        let unit_bytes = u128::from(drive.unit_bytes());
        let stats = drive.stats();
        let room = pages * unit_bytes * u128::from(stats.units_per_page);
        ensure(u128::from(self.bytes_programmed) <= room, || {
            format!(
                "it says bytes_programmed = {}, and its blocks had room for {room}",
                self.bytes_programmed
            )
        })
    }
}
