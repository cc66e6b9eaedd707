//! Which data shares a block?
//!
//! Data that dies together should lie together: then blocks empty by themselves, and cleaning moves little. A policy
//! puts each unit in a *stream* when it is about to be programmed, host data and moved data alike; a stream fills pages
//! and blocks of its own in each lane. What wear levelling moves has one more stream, which takes the most worn blocks.

use crate::flash::op::Cause;
use crate::signals::{Facts, Hints};
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

family! {
    /// Which data shares a block?
    path "ftl/stream", default none;
    members { none: None }
    external External;
    methods {
        /// The streams there are: always the same.
        fn streams(&self) -> Streams;
        /// What is to be kept for it: always the same.
        fn needs(&self) -> Needs {
            Needs::default()
        }
        /// The stream of a unit that the host has written: one of [`Streams::of_host`].
        fn of_write(&mut self, write: Written) -> StreamId;
        /// The stream of a unit that is moved: one of [`Streams::of_moves`]. Not asked where there is but one.
        fn of_move(&mut self, moved: Moved) -> StreamId;
    }
}

/// A stream, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StreamId(pub u8);

impl StreamId {
    /// As an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Streams at most, that of wear levelling among them.
pub const STREAMS_AT_MOST: usize = 32;

/// The streams of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streams {
    /// How many: less than [`STREAMS_AT_MOST`].
    pub count: u8,
    /// Which of them take host data, a bit for each; at least one.
    pub of_host: u32,
    /// Which of them take what is moved, but for wear levelling; at least one. They may take host data, too.
    pub of_moves: u32,
}

impl Policy {
    /// The streams there are, if they can be.
    ///
    /// # Panics
    /// A policy of the caller's own may name more streams than there can be, or none for the host or for moves.
    pub(crate) fn checked_streams(&self) -> Streams {
        let streams = self.streams();
        let Streams { count, of_host, of_moves } = streams;
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
}

impl Streams {
    /// The stream of what wear levelling moves: after all others.
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

    /// Whether a stream takes what is moved, but for wear levelling.
    #[inline]
    pub const fn is_of_moves(self, stream: StreamId) -> bool {
        self.of_moves >> stream.0 & 1 == 1
    }

    /// The stream that takes all that is moved for a cause, if there is no choice.
    #[inline]
    pub fn only_for(self, cause: Cause) -> Option<StreamId> {
        match cause {
            Cause::WearLeveling => Some(self.cold()),
            _ => self.of_moves.is_power_of_two().then(|| StreamId(self.of_moves.trailing_zeros() as u8)),
        }
    }
}

/// What a policy asks the drive to keep for it; by default nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// The hints of the last command that wrote a unit, and its size, until the unit's stream is chosen.
    pub hints: bool,
    /// The facts of every unit of flash, for when it moves.
    pub facts: bool,
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
