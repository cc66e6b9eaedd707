//! Which data shares a block?
//!
//! Data that dies together should lie together: then blocks empty by themselves, and cleaning moves little. A policy
//! puts each unit in a *stream* when it is about to be programmed, host data and moved data alike; a stream fills pages
//! and blocks of its own in each lane. What wear levelling moves has one more stream, which takes the most worn blocks.
//!
//! Stream 0 is for what nothing is known of. `ftl.allocation.moves` says whether what moves to it shares its blocks.

use crate::flash::op::Cause;
pub use crate::ftl::foresight::Foresight;
use crate::ftl::outside::Record;
use crate::ftl::tables::blocks::LaneView;
use crate::sections::MovesOfFirst;
use crate::signals::{self, Facts, Hints};
pub use crate::units::StreamId;
use crate::units::{LaneId, Lpn};
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

family! {
    /// Which data shares a block?
    path "ftl/stream", default none;
    members {
        none: None,
        bloom: Bloom,
        hash: Hash,
        hotness: Hotness,
        ids: Ids,
        midas: Midas,
        oracle: Oracle,
        pds: Pds,
        placement_id: PlacementId,
        process: Process,
        request_size: RequestSize,
        sepbit: Sepbit,
        two_level_lru: TwoLevelLru,
    }
    external External, named external: Outside, kept in Record;
    methods {
        /// The streams there are: always the same.
        fn streams(&self) -> Streams;
        /// What is to be kept for it: always the same.
        fn needs(&self) -> Needs {
            Needs::default()
        }
        /// Whether it learns from what is written: what it does in a run depends on what came before.
        fn learns(&self) -> bool {
            true
        }
        /// Told of the drive once, when it is built: it makes its tables.
        fn learn(&mut self, size: &Size) {}
        /// Bytes of memory that it takes on such a drive, its tables and what is kept for it.
        fn memory_bytes(&self, size: &Size) -> u64 {
            0
        }
        /// The stream of a unit that the host has written: one of [`Streams::of_host`].
        fn of_write(&mut self, write: Written) -> StreamId;
        /// The stream of a unit that is moved: one of [`Streams::of_moves`]. Not asked where there is but one. Asked
        /// again for a unit whose program failed.
        fn of_move(&mut self, moved: Moved) -> StreamId;
        /// What [`Member::of_move`] would say, and nothing is noted: the unit may stay where it is for now.
        fn peek_move(&mut self, moved: Moved) -> StreamId {
            self.of_move(moved)
        }
        /// The data of a unit is forgotten: the host has trimmed it.
        fn on_trim(&mut self, lpn: Lpn) {}
        /// The data of a unit leaves DRAM; told to a policy that asks for it ([`Needs::hotness`]). True: it is to be
        /// written once more, because it lies where it is not to stay; for a policy that [`Needs::promotes`], and if
        /// [`Leaving::lies_in`] says where.
        fn on_leave(&mut self, leaving: Leaving) -> bool {
            false
        }
        /// Whether [`Member::class`] tells mixed (0), read-hot (1) and write-hot (2) data apart.
        fn tells_hotness(&self) -> bool {
            false
        }
        /// What the host is going to do, from now on, in place of what it was told before: for a policy that looks
        /// ahead ([`Needs::foresight`]).
        fn foresee(&mut self, foresight: &Arc<Foresight>) {}
        /// What it was told so.
        fn foresight(&self) -> Option<&Arc<Foresight>> {
            None
        }
        /// The host has handed over a command that overwrites units, or trims them. False if it is not the one that was
        /// foreseen: it is refused then. Told to a policy that looks ahead ([`Needs::foresight`]).
        fn on_accept(&mut self, units: Range<u32>, is_trim: bool) -> bool {
            true
        }
        /// Cleaning begins to empty a block.
        fn on_victim(&mut self, victim: Victim) {}
        /// The class of a stream's blocks, less than [`CLASSES`]: where the policy chooses victims by class
        /// ([`Among::Classes`]) those of a lower one go first. Results tell victims apart by it.
        fn class(&self, stream: StreamId) -> u8 {
            0
        }
        /// Among which blocks of a lane the next victim is looked for. Asked only of a policy that
        /// [`Needs::victims`], and once anything went to another stream than the first.
        fn among(&mut self, lane: &LaneStreams<'_>) -> Among {
            Among::All
        }
        /// The group of a lane's block, for a policy that has victims chosen by group ([`Among::Group`]).
        fn group(&self, block: Filled) -> u8 {
            block.stream.0
        }
        /// What it has found so far.
        fn report(&self) -> Report {
            Report::default()
        }
    }
}

/// Streams at most, the cold one among them.
pub const STREAMS_AT_MOST: usize = 32;

/// The streams of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streams {
    /// How many: less than [`STREAMS_AT_MOST`].
    pub count: u8,
    /// How many there are of one class of hotness: all, unless data is told apart by that as well.
    of_class: u8,
    /// Which of them take host data, a bit for each; at least one.
    pub of_host: u32,
    /// Which of them take what is moved and is not cold; at least one. They may take host data, too.
    pub of_moves: u32,
    /// The stream that takes what a policy moves to the first.
    moves_of_first: StreamId,
    /// Causes of moves of cold data, a bit for each: that has a stream of its own.
    cold_for: u32,
}

impl Policy {
    /// The streams there are, if they can be; what moves for the causes of a mask is cold.
    ///
    /// # Panics
    /// A policy of the caller's own may name more streams than there can be, or none for the host or for moves.
    pub(crate) fn checked_streams(&self, moves: MovesOfFirst, cold_for: u32, by_hotness: bool) -> Streams {
        let streams = Streams { cold_for, ..self.laid_out(moves, by_hotness) };
        let Streams { count, of_host, of_moves, .. } = streams;
        assert!(
            usize::from(count) < STREAMS_AT_MOST,
            "{count} streams, at most {} can be",
            STREAMS_AT_MOST - 1
        );
        for (what, taken) in [("host", of_host), ("moved", of_moves)] {
            assert!(taken != 0 && taken >> count == 0, "{what} data goes to streams {taken:#b} of {count}");
        }
        streams
    }

    /// The streams there are. Where moved data is kept apart, what moves to a first stream that takes both host data
    /// and moves has one of its own: the last. Where data is told apart `by_hotness` as well, there are as many for
    /// each class of that.
    pub fn laid_out(&self, moves: MovesOfFirst, by_hotness: bool) -> Streams {
        let streams = match (self.streams(), moves) {
            (own, MovesOfFirst::Apart) if own.of_host & own.of_moves & 1 == 1 => own.with_moves_of_first(),
            (own, _) => own,
        };
        if by_hotness { streams.for_each_class() } else { streams }
    }
}

impl Streams {
    /// So many streams, of which some take host data and some what is moved: a bit for each.
    pub const fn of(count: u8, of_host: u32, of_moves: u32) -> Streams {
        Streams { count, of_class: count, of_host, of_moves, moves_of_first: StreamId(0), cold_for: 0 }
    }

    /// With one more, the last, for what moves to the first.
    fn with_moves_of_first(self) -> Streams {
        let count = self.count.saturating_add(1);
        let last = 1u32.checked_shl(u32::from(self.count)).unwrap_or(0);
        let of_moves = self.of_moves & !1 | last;
        Streams { count, of_class: count, of_moves, moves_of_first: StreamId(self.count), ..self }
    }

    /// As many for each class of hotness, one class after the other: mixed, read-hot and write-hot data.
    fn for_each_class(self) -> Streams {
        let all = |mask: u32| {
            let of = |class: u32| mask.checked_shl(class * u32::from(self.count)).unwrap_or(0);
            (0..u32::from(hotness::CLASSES)).fold(0, |all, class| all | of(class))
        };
        let count = self.count.saturating_mul(hotness::CLASSES);
        Streams { count, of_host: all(self.of_host), of_moves: all(self.of_moves), ..self }
    }

    /// The stream in which a class of hotness has its share of one of the policy's.
    ///
    /// # Panics
    /// A policy of the caller's own may name a stream that is not its own.
    #[inline]
    pub(crate) const fn of_class(self, stream: StreamId, class: u8) -> StreamId {
        assert!(stream.0 < self.of_class, "ftl.stream named a stream that is not its own");
        StreamId(class * self.of_class + stream.0)
    }

    /// The class of hotness that a stream holds: mixed data where it is not told apart.
    pub(crate) const fn class(self, stream: StreamId) -> u8 {
        if stream.0 < self.count { stream.0 / self.of_class } else { hotness::MIXED }
    }

    /// The only stream of a policy for what is moved, if there is no choice.
    pub(crate) fn only_of_policy(self) -> Option<StreamId> {
        let of_moves = self.of_moves & (u32::MAX >> (32 - u32::from(self.of_class)));
        of_moves.is_power_of_two().then(|| StreamId(of_moves.trailing_zeros() as u8))
    }

    /// So many streams, each for host data and for moves: the first takes what nothing is known of.
    pub const fn shared(count: u8) -> Streams {
        let all = u32::MAX >> (32 - count as u32);
        Streams::of(count, all, all)
    }

    /// The stream of cold data that moves because it is cold: after all others.
    #[inline]
    pub const fn cold(self) -> StreamId {
        StreamId(self.count)
    }

    /// All, and the cold one.
    pub const fn all(self) -> usize {
        self.count as usize + 1
    }

    /// Whether the host writes to a stream: then nobody can be sure of what is left in its blocks.
    #[inline]
    pub const fn is_of_host(self, stream: StreamId) -> bool {
        self.of_host >> stream.0 & 1 == 1
    }

    /// The stream of a unit that a policy moves to one of its own.
    ///
    /// # Panics
    /// A policy of the caller's own may move data to a stream that takes none.
    #[inline]
    pub(crate) fn of_moved(self, to: StreamId) -> StreamId {
        let to = if to.0 == 0 { self.moves_of_first } else { to };
        assert!(self.is_of_moves(to), "ftl.stream put moved data in stream {}, which takes none", to.0);
        to
    }

    /// The stream of a policy that a block's is: the first where the drive has one beyond those.
    #[inline]
    pub(crate) fn of_policy(self, stream: StreamId) -> StreamId {
        let mut own = stream;
        while own.0 >= self.of_class && stream.0 < self.count {
            own.0 -= self.of_class;
        }
        let beyond = own.0 >= self.of_class || own == self.moves_of_first;
        if beyond { StreamId(0) } else { own }
    }

    /// Whether a stream takes both host data and moves: its blocks are shared.
    #[inline]
    pub const fn is_shared(self, stream: StreamId) -> bool {
        stream.0 < self.count && (self.of_host & self.of_moves) >> stream.0 & 1 == 1
    }

    /// Whether any does.
    #[inline]
    pub const fn any_shared(self) -> bool {
        self.of_host & self.of_moves != 0
    }

    /// Whether a stream takes what is moved and is not cold.
    #[inline]
    pub const fn is_of_moves(self, stream: StreamId) -> bool {
        self.of_moves >> stream.0 & 1 == 1
    }

    /// The stream that takes all that is moved for a cause, if there is no choice.
    #[inline]
    pub fn only_for(self, cause: Cause) -> Option<StreamId> {
        match self.is_cold(cause) {
            true => Some(self.cold()),
            false => self.of_moves.is_power_of_two().then(|| StreamId(self.of_moves.trailing_zeros() as u8)),
        }
    }

    /// Whether what moves for a cause is cold.
    #[inline]
    pub const fn is_cold(self, cause: Cause) -> bool {
        self.cold_for >> cause as u32 & 1 == 1
    }
}

/// Where policies that know but two kinds of data put what is not hot, and what nothing is known of.
pub const COLD: StreamId = StreamId(0);

/// Where they put hot data.
pub const HOT: StreamId = StreamId(1);

/// The stream of hot data, or the other.
#[inline]
const fn hot_or_cold(is_hot: bool) -> StreamId {
    if is_hot { HOT } else { COLD }
}

/// Classes of victims that results tell apart.
pub const CLASSES: usize = 4;

/// Among which blocks of a lane a victim is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Among {
    /// All; `ftl.gc_victim` chooses.
    #[default]
    All,
    /// A block without live data; else those of the lowest class ([`Member::class`]) that has any, where
    /// `ftl.gc_victim` chooses.
    Classes,
    /// A block without live data; else those of a group ([`Member::group`]), where `ftl.gc_victim` chooses; else all.
    Group(u8),
    /// A block without live data; else this one; else all, if it cannot be chosen.
    This(u32),
}

/// A block of a lane that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Its lane.
    pub lane: LaneId,
    /// The stream that filled it; the first if it was none of the policy's.
    pub stream: StreamId,
    /// Units the host had written to flash when it was full.
    pub at: u64,
}

/// The blocks of a lane, with their streams.
#[derive(Clone, Copy)]
pub struct LaneStreams<'a> {
    /// The blocks.
    pub blocks: &'a LaneView<'a>,
    /// The lane.
    pub lane: LaneId,
    pub(crate) filled_by: &'a [StreamId],
    pub(crate) streams: Streams,
}

impl LaneStreams<'_> {
    /// The stream that fills or has filled a block; the first for one that belongs to none of the policy's.
    #[inline]
    pub fn of(&self, block: u32) -> StreamId {
        self.streams.of_policy(self.filled_by[block as usize])
    }

    /// The stream that fills or has filled a block, and when it was full.
    #[inline]
    pub fn filled(&self, block: u32) -> Filled {
        let at = self.blocks.now - self.blocks.age(block);
        Filled { lane: self.lane, stream: self.of(block), at }
    }
}

/// A block that cleaning begins to empty.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    /// The stream that filled it.
    pub stream: StreamId,
    /// Its lane.
    pub lane: LaneId,
    /// Units the host had written to flash when it was full.
    pub filled: u64,
    /// Units the host had written to flash when it was opened.
    pub opened: u64,
    /// Units the host has written to flash so far.
    pub clock: u64,
    /// Units of it that live, of so many that it holds.
    pub live: u32,
    /// Units that it holds.
    pub units: u32,
}

/// What a policy has found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Groups of data that it expects to die together.
    pub groups: u32,
    /// Program contexts (or processes, or whatever it tells writers apart by) that it knows.
    pub contexts: u32,
    /// Units written by contexts that its table has no room for.
    pub turned_away: u64,
    /// It learns from what is written.
    pub learns: bool,
}

/// How large a drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Logical units.
    pub logical_units: u64,
    /// Units of flash.
    pub physical_units: u64,
    /// Lanes.
    pub lanes: u32,
    /// Blocks of a lane.
    pub blocks_per_lane: u32,
    /// Units of a block.
    pub units_per_block: u32,
}

/// What a policy asks the drive to keep for it; by default nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// The hints of the last command that wrote a unit, and its size, until the unit's stream is chosen.
    pub hints: bool,
    /// The facts of every unit of flash, for when it moves.
    pub facts: bool,
    /// To be told what the host is going to do ([`Member::foresee`]), and when it does ([`Member::on_accept`]).
    pub foresight: bool,
    /// To be told so before the drive is filled.
    pub before_filling: bool,
    /// To be told its reads as well.
    pub reads_to_come: bool,
    /// To be told how data was used that leaves DRAM ([`Member::on_leave`]): `host.hotness` must count.
    pub hotness: bool,
    /// That what leaves DRAM is written once more where the policy says so: clean and dirty data must leave in one
    /// order (`host.buffer.evict = "lru"`).
    pub promotes: bool,
    /// To be asked among which blocks victims are looked for ([`Member::among`]).
    pub victims: bool,
}

/// What the host said with the last write of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Its hints.
    pub hints: Hints,
    /// Sectors of the whole command.
    pub sectors: u32,
}

/// A unit that the host has written, when its page is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Which unit.
    pub lpn: Lpn,
    /// What the host said; nothing if nobody asked for it ([`Needs::hints`]).
    pub said: Said,
    /// Units that the host has written to flash so far.
    pub clock: u64,
    /// It was asked about before, and written again before it was programmed: of the two writes only this one goes to
    /// flash. A policy may choose another stream now, but has learnt of the write already.
    pub again: bool,
}

/// A unit whose data leaves DRAM.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// Which unit.
    pub lpn: Lpn,
    /// How it was used while it was there.
    pub hotness: signals::Hotness,
    /// The stream of the block that the same data lies in; `None` if it is programmed anyway, or cannot be now.
    pub lies_in: Option<StreamId>,
}

/// A unit that is moved, when it has been read.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// Which unit.
    pub lpn: Lpn,
    /// Why; never wear levelling.
    pub cause: Cause,
    /// What its spare area says; nothing if nobody asked for it ([`Needs::facts`]).
    pub facts: Facts,
    /// Units that the host has written to flash so far.
    pub clock: u64,
}

impl Moved {
    /// The stream of a policy that it lay in, by its facts; the first if that was one that the drive has beyond those.
    #[inline]
    pub fn stream(&self, streams: Streams) -> StreamId {
        streams.of_policy(StreamId(self.facts.stream() as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive of four lanes of 32 blocks, 1,024 logical units.
    pub(super) const SIZE: Size = Size {
        logical_units: 1_024,
        physical_units: 2_048,
        lanes: 4,
        blocks_per_lane: 32,
        units_per_block: 16,
    };

    /// A write of which nothing is said.
    pub(super) fn written(lpn: u32) -> Written {
        Written { lpn: Lpn(lpn), said: Said::default(), clock: 0, again: false }
    }

    /// A unit of a stream that cleaning moves.
    pub(super) fn moved(lpn: u32, stream: u64) -> Moved {
        let facts = Facts::NONE.with_stream(stream);
        Moved { lpn: Lpn(lpn), cause: Cause::Cleaning, facts, clock: 0 }
    }
}
