//! The place of a policy that is given to the drive: a library, a script, a program's own. What is wrong with its
//! answers is found here; from then on all data goes to the first stream.

use super::{Member, Moved, Needs, Size, StreamId, Streams, Written};
use crate::ftl::outside::{self, Identity, Record};
use core::fmt::Debug;

/// Name in configurations.
pub const NAME: &str = "external";
/// What it does.
pub const SUMMARY: &str = outside::SUMMARY;
/// Where it comes from.
pub const SOURCE: &str = "yours: --policy stream=FILE";
/// What it costs.
pub const MEMORY: &str = "8 bytes per unit of flash, and whatever it allocates itself";

section! {
    /// Parameters of `external`.
    pub struct Params {
        /// Number of streams it uses; each takes host writes and moved data alike.
        streams: u32 = 2, range 1..=30;
    }
}

/// A unit whose stream is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// The host has written it.
    Written(Written),
    /// It is moved.
    Moved(Moved),
    /// It may be moved, or stay for now: nothing is to be noted.
    Peeked(Moved),
}

/// A call of a policy that separates data.
#[derive(Clone, Copy, Debug)]
pub struct UnitCall {
    /// The unit.
    pub unit: Unit,
    /// The stream it lies in, if it is moved.
    pub lies_in: StreamId,
    /// Streams there are: its answer must be less.
    pub streams: u8,
    /// Number of the call, from 1.
    pub call: u64,
}

/// A policy from outside that separates data.
pub trait StreamPolicy: Debug + Send + Sync {
    /// Who it is.
    fn identity(&self) -> Identity;
    /// The stream of a unit, from 0.
    ///
    /// # Errors
    /// What went wrong. It is not asked again.
    fn choose(&mut self, call: &UnitCall) -> Result<u32, String>;
    /// A copy of it as it is now, for a copy of its drive.
    fn copied(&self) -> Box<dyn StreamPolicy>;
}

impl Clone for Box<dyn StreamPolicy> {
    fn clone(&self) -> Self {
        (**self).copied()
    }
}

/// The policy, once it is given, and the streams that it puts data in.
#[derive(Clone, Debug)]
pub struct Policy {
    streams: u8,
    given: Option<Guard>,
}

#[derive(Clone, Debug)]
struct Guard {
    policy: Box<dyn StreamPolicy>,
    record: Record,
}

impl Policy {
    /// The place of one.
    pub fn new(params: &Params) -> Self {
        Policy { streams: params.streams as u8, given: None }
    }

    #[inline]
    fn ask(&mut self, unit: Unit, lies_in: StreamId) -> StreamId {
        let streams = self.streams;
        match &mut self.given {
            Some(guard) if guard.record.fault.is_none() => guard.ask(unit, lies_in, streams),
            _ => StreamId(0),
        }
    }

    fn moved(&mut self, moved: Moved, wrap: fn(Moved) -> Unit) -> StreamId {
        let lies_in = moved.stream(self.streams());
        self.ask(wrap(moved), lies_in)
    }
}

/// The policy that is given, behind what checks it.
pub(crate) fn checked(config: &super::Config, policy: Box<dyn StreamPolicy>) -> Box<dyn super::External> {
    let record = Record::new("ftl.stream", policy.identity());
    let streams = super::Policy::build(config).streams().count;
    Box::new(Policy { streams, given: Some(Guard { policy, record }) })
}

impl Guard {
    #[inline]
    fn ask(&mut self, unit: Unit, lies_in: StreamId, streams: u8) -> StreamId {
        self.record.calls += 1;
        match self.policy.choose(&UnitCall { unit, lies_in, streams, call: self.record.calls }) {
            Ok(stream) if stream < u32::from(streams) => StreamId(stream as u8),
            Ok(stream) => self.fail(format!("stream {stream}"), streams),
            Err(why) => self.fail(why, streams),
        }
    }

    #[cold]
    fn fail(&mut self, found: String, streams: u8) -> StreamId {
        let allowed = format!("a stream from 0 to {} (ftl.stream.streams)", streams - 1);
        self.record.fail(found, allowed);
        StreamId(0)
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(self.streams)
    }

    fn needs(&self) -> Needs {
        Needs { hints: true, facts: true, ..Needs::default() }
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        8 * size.physical_units
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        self.ask(Unit::Written(write), StreamId(0))
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        self.moved(moved, Unit::Moved)
    }

    fn peek_move(&mut self, moved: Moved) -> StreamId {
        self.moved(moved, Unit::Peeked)
    }

    fn record(&self) -> Option<&Record> {
        self.given.as_ref().map(|guard| &guard.record)
    }
}
