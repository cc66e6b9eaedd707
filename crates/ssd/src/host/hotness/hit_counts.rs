//! Counts reads and writes of each slot. What leaves DRAM is read-hot if nearly all of them were reads, write-hot if
//! nearly all were writes, and mixed otherwise. Reads of part of a unit bring nothing to DRAM, and so count only where
//! the unit is there.

use super::{Hits, Member};
use crate::signals::Hotness;

/// Name in configurations.
pub const NAME: &str = "hit_counts";
/// What it does.
pub const SUMMARY: &str = "read-hot or write-hot, by the shares of reads and writes while data was in DRAM";
/// Where it comes from.
pub const SOURCE: &str = "HIRE section 3.1";
/// What it costs.
pub const MEMORY: &str = "2 bytes per slot of DRAM";

section! {
    /// Parameters of `hit_counts`.
    pub struct Params {
        /// Data is read-hot (write-hot) if more than this share of its accesses are reads (writes).
        watermark_percent: u32 = 95, unit "%", range 51..=99;
    }
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn classify(&self, Hits { reads, writes }: Hits) -> Hotness {
        Hotness::of_hits(reads.into(), writes.into(), self.watermark_percent.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, at 95 %: more than 19 of one for each of the other.
    #[test]
    fn nineteen_reads_for_a_write_are_not_enough() {
        let of = |reads, writes| Params::default().classify(Hits { reads, writes });
        assert_eq!([of(19, 1), of(20, 1), of(39, 2), of(38, 2)], {
            use Hotness::{Mixed, ReadHot};
            [Mixed, ReadHot, ReadHot, Mixed]
        });
        assert_eq!([of(1, 19), of(1, 20), of(0, 1), of(1, 0)], {
            use Hotness::{Mixed, ReadHot, WriteHot};
            [Mixed, WriteHot, WriteHot, ReadHot]
        });
        // Data that nobody has touched since it came says nothing.
        assert_eq!(of(0, 0), Hotness::Mixed);
        let strict = |reads| Params { watermark_percent: 51 }.classify(Hits { reads, writes: 49 });
        assert_eq!([strict(51), strict(52)], [Hotness::Mixed, Hotness::ReadHot]);
    }
}
