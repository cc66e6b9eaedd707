//! The power is lost: what the arrays of the dies were doing stays as it was then.

use super::die::Die;
use super::dies::Dies;
use super::op::{Op, OpKind, OpPool};
use super::rows::Outcomes;
use crate::nand::torn::{AtWork, Doing};
use crate::units::{OpId, SimTime};

impl Dies {
    /// What the arrays of the dies do to the chips, what is suspended included (slow).
    pub fn at_work(&self, pool: &OpPool) -> Vec<AtWork> {
        let mut all = Vec::new();
        for die in &self.all {
            for leader in [die.array, die.stops.suspended] {
                let mut id = leader;
                while id.is_some() {
                    let op = pool.get(id);
                    all.extend(doing(op).map(|doing| self.progress(die, (leader, id), pool, doing)));
                    id = op.follower;
                }
            }
        }
        all
    }

    fn progress(&self, die: &Die, (leader, id): (OpId, OpId), pool: &OpPool, doing: Doing) -> AtWork {
        let op = pool.get(id);
        let steps = self.rules.timing.steps(op);
        let whole = AtWork {
            doing,
            block: op.at.block,
            page: op.at.page,
            since: pool.spent(id).mark,
            until: SimTime(u64::MAX),
            before_ns: 0,
            lead_ns: steps.lead_ns,
            total_ns: steps.total_ns,
        };
        if !self.rules.preempts {
            return whole;
        }
        let (work, stop) = (die.stops.work, die.stops.stop);
        let (before_ns, grows) = work.shown();
        let (until, since) = match stop {
            _ if leader == die.stops.suspended => (SimTime::ZERO, SimTime::ZERO),
            Some(stop) => (stop.at, grows),
            None => (whole.until, grows),
        };
        AtWork { since, until, before_ns, ..whole }
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
