//! The host's silence: since when it lasts, and what the firmware may begin because of it.

use crate::events::{EventKind, EventQueue};
use crate::flash::Flash;
use crate::ftl::{Ftl, IdleWork};
use crate::restore::{Verdict, distinct, ensure};
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// What is known of the host's silence.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Silence {
    /// The host has been silent since then.
    since: SimTime,
    /// For each [`IdleWork`]: a check is scheduled.
    checks: [bool; IdleWork::ALL.len()],
    /// For each [`IdleWork`]: the host has been silent for so long.
    felt: [bool; IdleWork::ALL.len()],
}

impl Silence {
    /// Whether it has lasted long enough for some work.
    #[inline]
    pub fn is_felt(&self) -> bool {
        self.felt != [false; IdleWork::ALL.len()]
    }

    /// The host says something.
    #[inline]
    pub fn end(&mut self, ftl: &mut Ftl, flash: &mut Flash) {
        for work in IdleWork::ALL {
            if std::mem::take(&mut self.felt[work as usize]) {
                ftl.set_idle(flash, work, false);
            }
        }
    }

    /// The host waits for nothing any more, and has said nothing yet. Where time passes checks are scheduled.
    pub fn begin(&mut self, timed: bool, (now, events): (SimTime, &mut EventQueue), ftl: &Ftl) {
        self.since = now;
        for work in IdleWork::ALL {
            if !self.checks[work as usize]
                && let Some(ns) = ftl.idle_after_ns(work)
                && timed
            {
                self.checks[work as usize] = true;
                events.push(SimTime(now.0 + ns), EventKind::IdleCheck, work as u32);
            }
        }
    }

    /// A check is due: work begins if the host has been silent all the time, or another check is scheduled.
    pub fn on_check(
        &mut self,
        work: IdleWork,
        is_silent: bool,
        (now, events): (SimTime, &mut EventQueue),
        ftl: &mut Ftl,
        flash: &mut Flash,
    ) {
        self.checks[work as usize] = false;
        let Some(ns) = ftl.idle_after_ns(work) else { return };
        let due = SimTime(self.since.0 + ns);
        if !is_silent {
            return;
        }
        if due > now {
            self.checks[work as usize] = true;
            events.push(due, EventKind::IdleCheck, work as u32);
            return;
        }
        self.felt[work as usize] = true;
        ftl.set_idle(flash, work, true);
    }

    /// Of a restored drive: it began before now, and the checks are due that it says are; `due` are all events.
    pub fn check_due(&self, due: &[(SimTime, EventKind, u32)], now: SimTime) -> Verdict {
        ensure(self.since <= now, "the drive's time")?;
        let checks = due.iter().filter(|event| event.1 == EventKind::IdleCheck).map(|event| event.2);
        let checks = distinct("looks at silence", checks, IdleWork::ALL.len())?;
        ensure(checks[..] == self.checks, "looks at silence")
    }
}
