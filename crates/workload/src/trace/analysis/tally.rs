//! Who asks for how much: counts by device, process, file and other numbers that requests carry.

use super::rates::Bin;
use crate::base::pages::ChunkHasher;
use crate::base::request::Request;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Numbers that are counted one by one: the first so many that appear.
const NUMBERS_MAX: usize = 1 << 16;

/// Counts by a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Only looked up; sorted before it is used.
    index: HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>,
    counts: Vec<(u32, Bin)>,
    last: usize,
    others: Bin,
}

/// Counts by a number, the one with most bytes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallied {
    /// Each number with what it asked for.
    pub counts: Vec<(u32, Bin)>,
    /// What was asked for by numbers that appeared when 65,536 others had.
    pub others: Bin,
}

impl Tally {
    /// Counts a read or write under a number.
    #[inline]
    pub(crate) fn add(&mut self, number: u32, request: &Request) {
        if self.counts.get(self.last).is_none_or(|(known, _)| *known != number) {
            match self.find(number) {
                Some(at) => self.last = at,
                None => return self.others.add(request),
            }
        }
        self.counts[self.last].1.add(request);
    }

    fn find(&mut self, number: u32) -> Option<usize> {
        if let Some(&at) = self.index.get(&u64::from(number)) {
            return Some(at as usize);
        }
        let at = self.counts.len();
        (at < NUMBERS_MAX).then(|| {
            self.index.insert(u64::from(number), at as u32);
            self.counts.push((number, Bin::default()));
            at
        })
    }

    pub(crate) fn finish(mut self) -> Tallied {
        self.counts.sort_by_key(|(number, bin)| (std::cmp::Reverse(bin.bytes()), *number));
        Tallied { counts: self.counts, others: self.others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::signals::OpCode;

    #[test]
    fn numbers_beyond_the_list_are_counted_together() {
        let mut tally = Tally::default();
        let request = |op, sectors| Request { op, sectors, ..Request::default() };
        for number in 0..NUMBERS_MAX as u32 + 5 {
            tally.add(number, &request(OpCode::Read, 1));
        }
        tally.add(7, &request(OpCode::Write, 8));
        tally.add(NUMBERS_MAX as u32 + 1, &request(OpCode::Write, 8));
        let found = tally.finish();
        assert_eq!(found.counts.len(), NUMBERS_MAX);
        let seven = Bin { reads: 1, writes: 1, bytes_read: 512, bytes_written: 4096 };
        assert_eq!((found.counts[0], found.counts[1].0), ((7, seven), 0));
        assert_eq!(found.others, Bin { reads: 5, writes: 1, bytes_read: 5 * 512, bytes_written: 4096 });
    }
}
