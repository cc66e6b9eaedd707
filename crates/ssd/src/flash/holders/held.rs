//! Who can hold what others wait for, and for how long each did.

use crate::flash::op::{CAUSES, Cause, OpKind};
use crate::flash::rows::{Data, Outcomes};
use core::cmp::Reverse;

/// What the array of a die does, as far as it matters to those who wait.
const WORKS: [&str; 4] = ["read", "program", "erase", "lock"];
/// Directions of data.
const WAYS: [&str; 2] = ["in", "out"];
const TRANSFERS: usize = WORKS.len() * CAUSES;
const SWITCHING: usize = TRANSFERS + WAYS.len() * CAUSES;
/// Number of [`Holder`]s.
pub const HOLDERS: usize = SWITCHING + 7;

/// Who holds what a request waits for: an index, below [`HOLDERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder(u8);

impl Holder {
    /// The array is being stopped for a read, or goes on after it.
    pub const SWITCHING: Holder = Holder(SWITCHING as u8);
    /// A read that comes back for another attempt.
    pub const RETURNING: Holder = Holder(SWITCHING as u8 + 1);
    /// Nobody: the order of operations keeps it waiting.
    pub const NOBODY: Holder = Holder(SWITCHING as u8 + 2);
    /// What makes room for it has not been issued yet: it waits for its turn, or for more to share a row with.
    pub const ROOM: Holder = Holder(SWITCHING as u8 + 3);
    /// No page is free: cleaning, or what else makes room, has not made it yet.
    pub const PAGE: Holder = Holder(SWITCHING as u8 + 4);
    /// What has died must not be readable first (`ftl.sanitize.acknowledge`).
    pub const LOCKS: Holder = Holder(SWITCHING as u8 + 5);
    /// Its data waits for more to fill the row, or the page, that it is programmed in (`ftl.allocation.issue`).
    pub const ROW: Holder = Holder(SWITCHING as u8 + 6);

    /// All of them.
    pub fn all() -> impl Iterator<Item = Holder> {
        (0..HOLDERS as u8).map(Holder)
    }

    /// Whether it is an array at work.
    pub fn is_array(self) -> bool {
        self.index() < TRANSFERS
    }

    /// Its index.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The array at work on an operation.
    pub fn array(kind: OpKind, cause: Cause) -> Self {
        let work = match kind.row().effect {
            Outcomes::Reads => 0,
            Outcomes::Programs => 1,
            Outcomes::Erases => 2,
            Outcomes::HidesPage | Outcomes::HidesBlock => 3,
        };
        Holder((work * CAUSES + cause as usize) as u8)
    }

    /// Command or data of an operation on the channel, or waiting for it.
    pub fn transfer(kind: OpKind, cause: Cause) -> Self {
        let way = usize::from(kind.row().data == Data::Out);
        Holder((TRANSFERS + way * CAUSES + cause as usize) as u8)
    }

    /// Name in results: `array.program.cleaning`, `transfer.out.host`.
    pub fn name(self) -> String {
        let cause = |at: usize| Cause::numbered(at % CAUSES).map_or("", Cause::name);
        match self.index() {
            at if at < TRANSFERS => format!("array.{}.{}", WORKS[at / CAUSES], cause(at)),
            at if at < SWITCHING => {
                let at = at - TRANSFERS;
                format!("transfer.{}.{}", WAYS[at / CAUSES], cause(at))
            }
            _ => match self {
                Self::SWITCHING => "switching",
                Self::RETURNING => "returning",
                Self::NOBODY => "nobody",
                Self::ROOM => "room",
                Self::PAGE => "page",
                Self::LOCKS => "locks",
                _ => "row",
            }
            .to_owned(),
        }
    }
}

/// Nanoseconds by [`Holder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// By [`Holder::index`].
    pub ns: [u64; HOLDERS],
}

impl Held {
    /// None.
    pub const NOTHING: Held = Held { ns: [0; HOLDERS] };

    /// What it is most of, of equals the first; none if it is nothing.
    pub fn longest(&self) -> Option<(Holder, u64)> {
        let all = Holder::all().zip(self.ns).filter(|(_, ns)| *ns > 0);
        all.max_by_key(|(holder, ns)| (*ns, Reverse(*holder)))
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.ns.iter().sum()
    }

    /// Adds to one.
    #[inline]
    pub fn add(&mut self, holder: Holder, ns: u64) {
        self.ns[holder.index()] += ns;
    }

    /// Adds all of another.
    pub fn add_all(&mut self, more: &Held) {
        self.ns.iter_mut().zip(&more.ns).for_each(|(ns, more)| *ns += more);
    }

    /// Adds what clocks show beyond what they showed; returns how much that is.
    pub(super) fn add_since(&mut self, now: &Held, from: &Held) -> u64 {
        let mut sum = 0;
        for ((ns, now), from) in self.ns.iter_mut().zip(&now.ns).zip(&from.ns) {
            *ns += now - from;
            sum += now - from;
        }
        sum
    }

    /// So much of it at most: each has its share, to the nanosecond in all.
    pub(crate) fn at_most(&self, ns: u64) -> Held {
        let total = u128::from(self.total());
        if total <= u128::from(ns) {
            return *self;
        }
        let (mut seen, mut kept, mut left) = (0, 0, *self);
        for part in &mut left.ns {
            seen += u128::from(*part);
            let upto = (seen * u128::from(ns) / total) as u64;
            (*part, kept) = (upto - kept, upto);
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Shares are whole, add up to what is asked for, and none is more than there was, or a nanosecond off its part.
    #[test]
    fn what_is_scaled_down_adds_up() {
        let mut rng = Rng::named(1, "held");
        let mut any = |below: u32| {
            let bits = rng.below(31);
            (rng.below(below), u64::from(rng.below(1 << bits)))
        };
        for _ in 0..2_000 {
            let mut held = Held::NOTHING;
            for _ in 0..any(6).0 {
                let (holder, ns) = any(HOLDERS as u32);
                held.add(Holder(holder as u8), ns);
            }
            let (total, (_, ns)) = (held.total(), any(1));
            let left = held.at_most(ns);
            assert_eq!(left.total(), ns.min(total));
            for (left, of) in left.ns.iter().zip(held.ns) {
                let part = of as f64 * ns.min(total) as f64 / total.max(1) as f64;
                assert!(*left <= of && (*left as f64 - part).abs() <= 1.0, "{left} of {of}, {part}");
            }
        }
    }

    #[test]
    fn names_are_one_for_each() {
        let names: std::collections::BTreeSet<String> = Holder::all().map(Holder::name).collect();
        assert_eq!(names.len(), HOLDERS);
    }
}
