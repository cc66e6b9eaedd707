//! How often numbers occur, most of them small.

use std::collections::BTreeMap;

/// Numbers below it have a place of their own.
const COMMON: usize = 1 << 12;

/// How often each number occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    common: Vec<u64>,
    rare: BTreeMap<u32, u64>,
}

impl Counts {
    /// Counts a number, unless it is a large one beyond so many different large ones: then it says `false`.
    #[inline]
    pub(crate) fn add(&mut self, number: u32, rare_max: usize) -> bool {
        let at = number as usize;
        if at < COMMON {
            if self.common.len() <= at {
                self.common.resize(at + 1, 0);
            }
            self.common[at] += 1;
            return true;
        }
        let has_room = self.rare.len() < rare_max || self.rare.contains_key(&number);
        if has_room {
            *self.rare.entry(number).or_default() += 1;
        }
        has_room
    }

    /// The numbers that occurred with how often they did, in ascending order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u64)> {
        let common = self.common.iter().enumerate().map(|(number, count)| (number as u32, *count));
        let rare = self.rare.iter().map(|(number, count)| (*number, *count));
        common.chain(rare).filter(|(_, count)| *count > 0)
    }
}
