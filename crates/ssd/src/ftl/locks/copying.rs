//! Copies that are being programmed where time passes: where from, and to which page.

use crate::flash::op::UnitRef;
use crate::units::{Ppn, Pun};
use serde::{Deserialize, Serialize};

/// One of them, in a word, so that looking for one is quick: that is done for every death.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Way(u64);

impl Way {
    fn from(self) -> u32 {
        self.0 as u32
    }

    fn to(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// All of them, in the order in which they were issued: those to one page follow one another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Copying {
    all: Vec<Way>,
}

impl Copying {
    /// None, with room for so many.
    pub fn with_capacity(count: usize) -> Self {
        Copying { all: Vec::with_capacity(count) }
    }

    /// Takes the room of fresh ones.
    pub fn restored(&mut self, fresh: &Copying) {
        crate::restore::keep_room(&mut self.all, &fresh.all);
    }

    /// Units begin to be copied to a page.
    #[cold]
    pub fn begin(&mut self, to: Ppn, units: &[UnitRef]) {
        for unit in units {
            self.all.push(Way(u64::from(to.0) << 32 | u64::from(unit.source)));
        }
    }

    /// They are there.
    #[cold]
    pub fn end(&mut self, to: Ppn) {
        if let Some(first) = self.all.iter().position(|copy| copy.to() == to.0) {
            let count = self.all[first..].iter().take_while(|copy| copy.to() == to.0).count();
            self.all.copy_within(first + count.., first);
            self.all.truncate(self.all.len() - count);
        }
    }

    /// Whether a unit is being copied.
    #[inline]
    pub fn has(&self, unit: Pun) -> bool {
        self.all.iter().fold(false, |has, copy| has | (copy.from() == unit.0))
    }

    /// The page that one of them goes to, if it is of this unit.
    #[inline]
    pub fn target(&self, at: usize, unit: Pun) -> Option<Ppn> {
        let copy = self.all[at];
        (copy.from() == unit.0).then(|| Ppn(copy.to()))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them: to which page, where from.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.all.iter().map(|copy| (copy.to(), copy.from()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Beside a plain list of what begins and ends at random: whichever copy is asked for, however many there are.
    #[test]
    fn every_copy_under_way_is_found() {
        for seed in 0..8 {
            let (mut rng, mut copying) = (Rng::named(seed, "copies"), Copying::with_capacity(64));
            let mut expected: Vec<(u32, u32)> = Vec::new();
            for page in 0..400 {
                if expected.len() < 12 && rng.below(2) == 0 {
                    let sources: Vec<u32> = (0..1 + rng.below(4)).map(|_| rng.below(48)).collect();
                    expected.extend(sources.iter().map(|&from| (page, from)));
                    let units: Vec<UnitRef> = sources.iter().map(|&from| UnitRef::new(0, from)).collect();
                    copying.begin(Ppn(page), &units);
                } else if let Some(&(to, _)) = expected.get(rng.below(12) as usize) {
                    expected.retain(|copy| copy.0 != to);
                    copying.end(Ppn(to));
                }
                assert_eq!(copying.iter().collect::<Vec<_>>(), expected);
                for unit in 0..48 {
                    let is_copied = expected.iter().any(|copy| copy.1 == unit);
                    assert_eq!(copying.has(Pun(unit)), is_copied, "unit {unit} of {expected:?}");
                    let targets = (0..copying.len()).map(|at| copying.target(at, Pun(unit)));
                    let wanted = expected.iter().map(|&(to, from)| (from == unit).then_some(Ppn(to)));
                    assert!(targets.eq(wanted), "unit {unit} of {expected:?}");
                }
            }
        }
    }
}
