//! How is data used that leaves DRAM?
//!
//! The buffer sees every access to what it holds. When data leaves it, a policy says what these accesses amount to; the
//! translation layer is told ([`crate::signals::Hotness`]), and places the data by it when it is written or moved next.

use crate::signals::Hotness;

family! {
    /// How is data classified as it leaves DRAM?
    path "host/hotness", default none;
    members {
        none: None,
        hit_counts: HitCounts,
    }
    methods {
        /// Whether accesses to what DRAM holds are counted.
        fn counts(&self) -> bool {
            true
        }
        /// What so many reads and writes of data in DRAM say of it, the one that brought it there included.
        fn classify(&self, hits: Hits) -> Hotness;
    }
}

/// Accesses to the data of a slot since it came to DRAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Hits {
    /// Reads.
    pub reads: u8,
    /// Writes.
    pub writes: u8,
}

impl Hits {
    /// One more. At 255 both are halved (assumed), which keeps their ratio.
    #[inline]
    pub(super) fn count(&mut self, is_write: bool) {
        let hits = if is_write { &mut self.writes } else { &mut self.reads };
        *hits += 1;
        if *hits == u8::MAX {
            (self.reads, self.writes) = (self.reads / 2, self.writes / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_255_both_counts_are_halved() {
        let mut hits = Hits { reads: 253, writes: 9 };
        hits.count(false);
        assert_eq!(hits, Hits { reads: 254, writes: 9 });
        hits.count(false);
        assert_eq!(hits, Hits { reads: 127, writes: 4 });
        hits.count(true);
        assert_eq!(hits, Hits { reads: 127, writes: 5 });
    }
}
