//! The power is lost: what the arrays of the dies were doing stays as it was then.

use super::Flash;
use super::die::Die;
use super::op::{Op, OpKind};
use super::rows::Outcomes;
use crate::nand::torn::{AtWork, Doing, TornChips};
use crate::units::{OpId, SimTime};

impl Flash {
    /// What the arrays of the dies do to the chips, what is suspended included (slow).
    pub fn at_work(&self) -> Vec<AtWork> {
        let mut all = Vec::new();
        for die in &self.dies {
            for leader in [die.array, die.stops.suspended] {
                let mut id = leader;
                while id.is_some() {
                    let op = self.pool.get(id);
                    all.extend(doing(op).map(|doing| self.progress(die, (leader, id), doing)));
                    id = op.follower;
                }
            }
        }
        all
    }

    fn progress(&self, die: &Die, (leader, id): (OpId, OpId), doing: Doing) -> AtWork {
        let op = self.pool.get(id);
        let steps = self.rules.timing.steps(op);
        let whole = AtWork {
            doing,
            block: op.at.block,
            page: op.at.page,
            since: self.pool.spent(id).mark,
            until: SimTime(u64::MAX),
            before_ns: 0,
            lead_ns: steps.lead_ns,
            total_ns: steps.total_ns,
        };
        if !self.rules.preempts {
            return whole;
        }
        let (work, stop) = (die.stops.work, die.stops.stop);
        let (until, since) = match stop {
            _ if leader == die.stops.suspended => (SimTime::ZERO, SimTime::ZERO),
            Some(stop) => (stop.at, work.since),
            None => (whole.until, work.since),
        };
        AtWork { since, until, before_ns: work.done_ns, ..whole }
    }

    /// The chips as the power left them at a time.
    #[cold]
    pub fn cut(self, now: SimTime) -> TornChips {
        let at_work = self.at_work();
        let mut chips = TornChips::new(self.chip);
        at_work.iter().for_each(|work| chips.tear(work, now));
        chips
    }
}

/// What an operation does to its chip, if it leaves it another.
fn doing(op: &Op) -> Option<Doing> {
    match op.kind.row().effect {
        Outcomes::Reads => None,
        Outcomes::Programs => Some(Doing::Programs),
        Outcomes::Erases => Some(Doing::Erases),
        Outcomes::HidesBlock => Some(Doing::LocksBlock),
        Outcomes::HidesPage if op.kind == OpKind::Scrub => Some(Doing::Scrubs),
        Outcomes::HidesPage if op.kind == OpKind::Reprogram => Some(Doing::Reprograms),
        Outcomes::HidesPage => Some(Doing::LocksPage),
    }
}
