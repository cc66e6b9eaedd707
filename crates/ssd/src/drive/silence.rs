//! The host's silence: since when it lasts, and what the firmware may begin because of it.

use crate::events::EventQueue;
use crate::flash::Flash;
use crate::ftl::{Ftl, IdleWork};
use crate::restore::{Verdict, ensure};
use crate::timers::Timer;
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// What is known of the host's silence.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Silence {
    /// The host has been silent since then.
    since: SimTime,
    /// For each [`IdleWork`] a bit: the host has been silent for so long.
    felt: u8,
}

/// The timer of work that begins when the host is silent.
fn timer_of(work: IdleWork) -> Timer {
    match work {
        IdleWork::Cleaning => Timer::Cleaning,
        IdleWork::Reclaim => Timer::Reclaim,
        IdleWork::Destage => Timer::Destage,
    }
}

impl Silence {
    /// Whether it has lasted long enough for some work.
    #[inline]
    pub fn is_felt(&self) -> bool {
        self.felt != 0
    }

    /// The host says something.
    #[inline]
    pub fn end(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        if self.is_felt() {
            self.end_work(ftl, flash);
        }
    }

    #[cold]
    fn end_work(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        for work in IdleWork::ALL {
            if self.felt >> work as u8 & 1 == 1 {
                ftl.set_idle(flash, work, false);
            }
        }
        self.felt = 0;
    }

    /// The host waits for nothing any more, and has said nothing yet. Where time passes checks are scheduled.
    pub fn begin(&mut self, timed: bool, (now, events): (SimTime, &mut EventQueue), ftl: &Ftl) {
        self.since = now;
        for work in IdleWork::ALL {
            if timed && let Some(ns) = ftl.idle_after_ns(work) {
                events.set(timer_of(work), SimTime(now.0 + ns));
            }
        }
    }

    /// A check is due: work begins if the host has been silent all the time, or another check is scheduled.
    pub fn on_check(
        &mut self,
        timer: Timer,
        is_silent: bool,
        (now, events): (SimTime, &mut EventQueue),
        ftl: &mut Ftl,
        flash: &mut Flash,
    ) {
        let Some(work) = IdleWork::ALL.into_iter().find(|&work| timer_of(work) == timer) else { return };
        let Some(ns) = ftl.idle_after_ns(work) else { return };
        let due = SimTime(self.since.0 + ns);
        if !is_silent {
            return;
        }
        if due > now {
            return events.set(timer, due);
        }
        self.felt |= 1 << work as u8;
        ftl.set_idle(flash, work, true);
    }

    /// Of a restored drive: it began before now.
    pub fn restored(&self, now: SimTime) -> Verdict {
        ensure(self.since <= now && self.felt >> IdleWork::ALL.len() == 0, "the drive's silence")
    }
}
