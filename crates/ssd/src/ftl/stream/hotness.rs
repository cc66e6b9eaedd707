//! Data that is mostly read, data that is mostly written, and the rest, in blocks of their own: so that each can have
//! the program mode that it deserves (`ftl.program_mode = "hire"`).
//!
//! What is known of a unit are two bits, which the buffer gives when the unit leaves it (`host.hotness`), and which
//! count when it is written or moved next. So a read-hot page that nobody writes stays where it is until cleaning
//! moves it: HIRE's text, and its weakness (`place`). `preclassified` is a bound: the classes of the whole workload,
//! known before the drive is filled.

use super::{Foresight, Leaving, Member, Moved, Needs, Size, StreamId, Streams, Written};
use crate::restore::{Verdict, alike, ensure};
use crate::signals::Hotness;
use crate::units::Lpn;
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name in configurations.
pub const NAME: &str = "hotness";
/// What it does.
pub const SUMMARY: &str = "read-hot, write-hot and mixed data, by its accesses in the buffer";
/// Where it comes from.
pub const SOURCE: &str = "HIRE section 3.2 (readActive, writeActive and mixActive blocks)";
/// What it costs.
pub const MEMORY: &str = "2 bits per logical unit";

choice! {
    /// When the class of a unit takes effect.
    pub enum Place {
        /// When it is written or moved next (HIRE section 3.2).
        OnRewrite = "on_rewrite",
        /// Before the drive is filled, by all reads and writes that are to come, and then for good: no drive can do
        /// that.
        Preclassified = "preclassified",
        /// As `on_rewrite`, and what leaves DRAM clean as read-hot while it lies among other data is written once more
        /// at once, within `promote_percent` of what the host writes (ours).
        Promote = "promote",
    }
}

section! {
    /// Parameters of `hotness`.
    pub struct Params {
        /// When the class of a unit takes effect.
        place: Place = Place::OnRewrite;
        /// Maximum extra writes, as a share of the units that the host writes; for `place = "promote"` (assumed).
        promote_percent: u32 = 5, unit "%", range 1..=100;
    }
}

/// Share of reads (writes) in all accesses above which data is read-hot (write-hot) where classes come from the whole
/// workload: HIRE's w (section 3.1), and the default of `host.hotness`; %.
const WATERMARK_PERCENT: u64 = 95;

/// Units that may be written once more in a row, if the host has written enough before (assumed).
const PROMOTED_IN_A_ROW: u32 = 64;

/// Units in a word of the table.
const PER_WORD: usize = 32;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    #[serde(skip, default = "Params::default")]
    params: Params,
    /// Two bits a unit.
    classes: Vec<u64>,
    /// What the host has written allows so much to be written once more, in 1/100 of a unit.
    credit: u32,
    /// What it was told; not in snapshots.
    #[serde(skip)]
    told: Option<Arc<Foresight>>,
}

impl Policy {
    /// What stands beside a policy that separates data by something else, where `ftl.program_mode` asks for its
    /// hotness: a class counts when a unit is written or moved next.
    pub(crate) fn beside(size: &Size) -> Self {
        let mut policy = Policy::new(&Params::default());
        policy.learn(size);
        policy
    }

    /// A unit was used so while it was in DRAM.
    pub(crate) fn note(&mut self, lpn: Lpn, hotness: Hotness) {
        self.set(lpn, hotness);
    }

    /// The class of a unit.
    #[inline]
    pub(crate) fn class_of(&self, lpn: Lpn) -> u8 {
        self.stream_of(lpn).0
    }

    /// A policy that knows of no data.
    pub fn new(params: &Params) -> Self {
        Policy { params: params.clone(), classes: Vec::new(), credit: 0, told: None }
    }

    #[inline]
    fn of(&self, lpn: Lpn) -> Hotness {
        Hotness::of_bits(self.classes[lpn.index() / PER_WORD] >> (2 * (lpn.index() % PER_WORD)))
    }

    #[inline]
    fn set(&mut self, lpn: Lpn, hotness: Hotness) {
        let (word, shift) = (&mut self.classes[lpn.index() / PER_WORD], 2 * (lpn.index() % PER_WORD));
        *word = *word & !(3 << shift) | (hotness as u64) << shift;
    }

    /// The stream of a unit: the first for what is mixed, and for what nothing is known of.
    #[inline]
    fn stream_of(&self, lpn: Lpn) -> StreamId {
        match self.of(lpn) {
            Hotness::Unknown | Hotness::Mixed => StreamId(MIXED),
            Hotness::ReadHot => StreamId(READ_HOT),
            Hotness::WriteHot => StreamId(WRITE_HOT),
        }
    }
}

/// Bytes that the classes of all units take.
pub(crate) fn memory_bytes(size: &Size) -> u64 {
    size.logical_units.div_ceil(PER_WORD as u64) * 8
}

/// Classes of data.
pub const CLASSES: u8 = 3;
/// Class, and stream, of mixed data.
pub const MIXED: u8 = 0;
/// Class, and stream, of read-hot data.
pub const READ_HOT: u8 = 1;
/// Class, and stream, of write-hot data.
pub const WRITE_HOT: u8 = 2;

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(3)
    }

    fn needs(&self) -> Needs {
        let ahead = self.params.place == Place::Preclassified;
        Needs {
            foresight: ahead,
            before_filling: ahead,
            reads_to_come: ahead,
            hotness: !ahead,
            promotes: self.params.place == Place::Promote,
            ..Needs::default()
        }
    }

    fn tells_hotness(&self) -> bool {
        true
    }

    fn learn(&mut self, size: &Size) {
        self.classes = vec![0; (size.logical_units as usize).div_ceil(PER_WORD)];
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        memory_bytes(size)
    }

    /// A drive that was told nothing would know no classes; what comes is not held against what was told.
    fn on_accept(&mut self, _: Range<u32>, _: bool) -> bool {
        self.params.place != Place::Preclassified || self.told.is_some()
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        if self.params.place == Place::Promote && !write.again {
            self.credit = (self.credit + self.params.promote_percent).min(100 * PROMOTED_IN_A_ROW);
        }
        self.stream_of(write.lpn)
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        self.stream_of(moved.lpn)
    }

    fn on_leave(&mut self, leaving: Leaving) -> bool {
        let Leaving { lpn, hotness, lies_in } = leaving;
        if self.params.place != Place::Preclassified {
            self.set(lpn, hotness);
        }
        let is_astray = lies_in.is_some_and(|stream| stream.0 != READ_HOT) && hotness == Hotness::ReadHot;
        let promotes = self.params.place == Place::Promote && is_astray && self.credit >= 100;
        self.credit -= if promotes { 100 } else { 0 };
        promotes
    }

    fn foresee(&mut self, foresight: &Arc<Foresight>) {
        for lpn in (0..foresight.units()).map(Lpn) {
            let (reads, writes) =
                (foresight.reads_of(lpn).len() as u64, foresight.deaths_of(lpn).len() as u64);
            self.set(lpn, Hotness::of_hits(reads, writes, WATERMARK_PERCENT));
        }
        self.told = Some(Arc::clone(foresight));
    }

    fn foresight(&self) -> Option<&Arc<Foresight>> {
        self.told.as_ref()
    }

    fn class(&self, stream: StreamId) -> u8 {
        stream.0.min(WRITE_HOT)
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        alike("classes of units", &self.classes, &fresh.classes)?;
        ensure(self.credit <= 100 * PROMOTED_IN_A_ROW, "what may be written once more")?;
        self.params = fresh.params;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SIZE, moved, written};
    use super::*;

    fn policy(place: Place) -> Policy {
        let mut policy = Policy::new(&Params { place, promote_percent: 5 });
        policy.learn(&SIZE);
        policy
    }

    /// It lies among mixed data.
    fn leaving(lpn: u32, hotness: Hotness) -> Leaving {
        Leaving { lpn: Lpn(lpn), hotness, lies_in: Some(StreamId(MIXED)) }
    }

    #[test]
    fn two_bits_a_unit_say_its_stream_when_it_is_written_or_moved() {
        let mut policy = policy(Place::OnRewrite);
        for (lpn, hotness) in [(31, Hotness::ReadHot), (32, Hotness::WriteHot), (33, Hotness::Mixed)] {
            policy.on_leave(leaving(lpn, hotness));
        }
        let streams = |policy: &mut Policy| {
            [30, 31, 32, 33, 34].map(|lpn| {
                let written = policy.of_write(written(lpn));
                assert_eq!(policy.of_move(moved(lpn, 0)), written, "copies go where writes go");
                written.0
            })
        };
        assert_eq!(streams(&mut policy), [MIXED, READ_HOT, WRITE_HOT, MIXED, MIXED]);
        policy.on_leave(leaving(32, Hotness::ReadHot));
        assert_eq!(streams(&mut policy), [MIXED, READ_HOT, READ_HOT, MIXED, MIXED]);
        assert_eq!([MIXED, READ_HOT, WRITE_HOT, 3].map(|at| policy.class(StreamId(at))), [0, 1, 2, 2]);
        // 1,024 units.
        assert_eq!((policy.memory_bytes(&SIZE), policy.needs().foresight), (256, false));
    }

    /// By the whole workload: 20 writes of unit 3 and none of the others.
    #[test]
    fn preclassified_data_has_its_class_before_it_is_written() {
        let mut policy = policy(Place::Preclassified);
        let written_units = std::iter::repeat_n(Lpn(3), 20);
        policy.foresee(&Arc::new(Foresight::of_writes(1_024, written_units).unwrap()));
        assert_eq!([3, 4].map(|lpn| policy.of_write(written(lpn)).0), [WRITE_HOT, MIXED]);
        policy.on_leave(leaving(3, Hotness::ReadHot));
        assert_eq!(policy.of_write(written(3)).0, WRITE_HOT, "fixed");
        assert!(policy.needs().foresight && policy.needs().reads_to_come);
    }

    /// 5 % of what the host writes: one unit after 20 writes, and never more than 64 in a row.
    #[test]
    fn read_hot_data_is_promoted_within_a_share_of_writes() {
        let mut policy = policy(Place::Promote);
        let promoted = |policy: &mut Policy, leaving| (0..100).filter(|_| policy.on_leave(leaving)).count();
        let write = |policy: &mut Policy, times| (0..times).for_each(|_| _ = policy.of_write(written(9)));
        let hot = leaving(1, Hotness::ReadHot);
        write(&mut policy, 19);
        let again = Written { again: true, ..written(9) };
        policy.of_write(again);
        assert_eq!(promoted(&mut policy, hot), 0);
        write(&mut policy, 1);
        let unmoved = [
            leaving(1, Hotness::Mixed),
            leaving(1, Hotness::WriteHot),
            Leaving { lies_in: None, ..hot },
            Leaving { lies_in: Some(StreamId(READ_HOT)), ..hot },
        ];
        assert_eq!(unmoved.map(|leaving| promoted(&mut policy, leaving)), [0; 4]);
        assert_eq!(promoted(&mut policy, hot), 1);
        write(&mut policy, 10_000);
        assert_eq!(promoted(&mut policy, hot), 64);
        assert!(policy.needs().promotes && policy.needs().hotness);
    }
}
