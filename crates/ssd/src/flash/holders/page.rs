//! What making room went to while the host lacked a page: the operations of the die whose erase gave it.

use super::held::{Held, Holder};
use crate::units::SimTime;

/// What the operations of a die that make room went to since the lack began, or since the erase before.
#[derive(Clone, Copy, Debug)]
struct Chain {
    /// Of which lack it tells ([`Lack::number`]).
    lack: u64,
    /// When the last of them ended.
    at: SimTime,
    /// From one end to the next, what the life of the latter went to.
    went_to: Held,
}

/// How long the host has lacked a page, and whom it waited for.
#[derive(Clone, Debug)]
pub(crate) struct Lack {
    /// In all, up to when. What no erase has made good yet, and time in which nobody made room, is [`Holder::PAGE`]'s.
    held: Held,
    at: SimTime,
    /// Since when it is lacked, or since the erase before, if it is.
    since: Option<SimTime>,
    /// Counts lacks, and erases that ended within one.
    number: u64,
    dies: Box<[Chain]>,
}

impl Lack {
    pub(super) fn new(dies: usize, now: SimTime) -> Self {
        let nothing = Chain { lack: 0, at: now, went_to: Held::NOTHING };
        Lack { held: Held::NOTHING, at: now, since: None, number: 0, dies: vec![nothing; dies].into() }
    }

    /// Whether the host has lacked a page since this was last told, and until now.
    pub fn tell(&mut self, is_lacking: bool, now: SimTime) {
        match (is_lacking, self.since) {
            (true, None) => self.begin(self.at),
            (false, Some(_)) => self.since = None,
            _ => {}
        }
        if is_lacking {
            self.held.add(Holder::PAGE, now.since(self.at));
        }
        self.at = now;
    }

    fn begin(&mut self, since: SimTime) {
        self.since = Some(since);
        self.number += 1;
    }

    /// So far.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Whether it is lacked.
    pub fn is_lacked(&self) -> bool {
        self.since.is_some()
    }

    /// An operation of a die has ended that makes room, which `spent` its last nanoseconds so; an erase gives what is
    /// lacked.
    pub(super) fn on_ended(&mut self, die: usize, spent: impl Fn(u64) -> Held, is_erase: bool, now: SimTime) {
        let Some(since) = self.since else { return };
        let chain = &mut self.dies[die];
        if chain.lack != self.number {
            *chain = Chain { lack: self.number, at: since, went_to: Held::NOTHING };
        }
        chain.went_to.add_all(&spent(now.since(chain.at)));
        chain.at = now;
        if is_erase {
            let went_to = chain.went_to;
            self.held.add_all(&went_to);
            self.held.ns[Holder::PAGE.index()] -= went_to.total();
            self.begin(now);
        }
    }
}

impl Held {
    /// What came to what it was by then: as much as the sums differ by, though what was one's may be another's since.
    pub(super) fn since(&self, before: &Held) -> Held {
        let mut since = *self;
        since.ns.iter_mut().zip(&before.ns).for_each(|(ns, before)| *ns = ns.saturating_sub(*before));
        since.at_most(self.total() - before.total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::op::{Cause, OpKind};

    /// Of an operation that was so long in the array, and nowhere else.
    fn ended(kind: OpKind, ns: u64) -> impl Fn(u64) -> Held {
        move |last| {
            let mut held = Held::NOTHING;
            held.add(Holder::array(kind, Cause::Cleaning), ns.min(last));
            held
        }
    }

    /// Of a lack of 1,000 ns the die that erased worked for 700; what the other did gave no page.
    #[test]
    fn a_lack_is_what_the_die_did_whose_erase_ended_it() {
        let mut lack = Lack::new(2, SimTime(0));
        lack.tell(false, SimTime(5_000));
        let at = |ns: u64| SimTime(5_000 + ns);
        lack.tell(true, at(400));
        // It began before the lack, of which it took 400.
        lack.on_ended(1, ended(OpKind::Program, 900), false, at(400));
        lack.on_ended(0, ended(OpKind::Read, 50), false, at(400));
        lack.tell(true, at(1_000));
        lack.on_ended(1, ended(OpKind::Erase, 300), true, at(1_000));
        lack.tell(false, at(9_000));
        let of = |kind| lack.held().ns[Holder::array(kind, Cause::Cleaning).index()];
        assert_eq!([OpKind::Program, OpKind::Erase, OpKind::Read].map(of), [400, 300, 0]);
        assert_eq!((lack.held().ns[Holder::PAGE.index()], lack.held().total()), (300, 1_000));
    }

    /// What was nobody's when somebody looked may be somebody's at the next look; the sum is what went by.
    #[test]
    fn differences_are_the_time_that_went_by() {
        let held = |page, array| {
            let mut held = Held::NOTHING;
            held.add(Holder::PAGE, page);
            held.add(Holder::array(OpKind::Erase, Cause::Cleaning), array);
            held
        };
        assert_eq!(held(700, 0).since(&held(400, 0)), held(300, 0));
        assert_eq!(held(100, 900).since(&held(400, 0)), held(0, 600));
        assert_eq!(held(900, 0).since(&held(900, 0)), Held::NOTHING);
    }
}
