//! Which stream data goes to: the policy that separates it (`ftl.stream`), its hotness where `ftl.program_mode` asks
//! for that beside another policy, and whether anything was ever told apart.

use crate::flash::op::{Cause, UnitRef};
use crate::ftl::stream::{
    Leaving, Member as _, Moved, Policy, Report, Said, StreamId, Streams, Written, hotness,
};
use crate::ftl::tables::Tables;
use crate::restore::{Verdict, ensure};
use crate::signals::Hotness;
use crate::units::{Lpn, Pun};
use serde::{Deserialize, Serialize};

/// What keeps data apart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Separation {
    pub policy: Policy,
    /// Hotness beside the policy: each class has streams of its own ([`Streams::of_class`]).
    beside: Option<hotness::Policy>,
    /// Whether anything went to another stream than the first.
    tells_apart: bool,
}

impl Separation {
    /// By a policy that has learnt nothing yet, and by hotness beside it.
    pub fn new(policy: Policy, beside: Option<hotness::Policy>) -> Self {
        Separation { policy, beside, tells_apart: false }
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: Separation) -> Verdict {
        ensure(self.beside.is_some() == fresh.beside.is_some(), "hotness beside streams")?;
        if let (Some(beside), Some(fresh)) = (&mut self.beside, fresh.beside) {
            beside.restored(fresh)?;
        }
        self.policy.restored(fresh.policy)
    }

    /// Whether anything went to another stream than the first.
    #[inline]
    pub fn tells_apart(&self) -> bool {
        self.tells_apart
    }

    /// The stream that a unit the host has written goes to, `again` if it has while it waited.
    #[inline]
    pub fn of_write(
        &mut self,
        streams: Streams,
        clock: u64,
        (lpn, said, again): (Lpn, Said, bool),
    ) -> StreamId {
        let stream = self.policy.of_write(Written { lpn, said, clock, again });
        let takes = streams.is_of_host(stream);
        assert!(takes, "ftl.stream put host data in stream {}, which takes none", stream.0);
        let stream = match &self.beside {
            None => stream,
            Some(beside) => streams.of_class(stream, beside.class_of(lpn)),
        };
        self.tells_apart |= stream.0 > 0;
        stream
    }

    /// The stream that a unit goes to which moves for a cause.
    #[inline(always)]
    pub fn of_move(&mut self, streams: Streams, clock: u64, cause: Cause, unit: &UnitRef) -> StreamId {
        self.placed(streams, (clock, cause), unit, |policy, moved| policy.of_move(moved))
    }

    /// The stream that a unit would go to if it moved for a cause.
    #[inline(always)]
    pub fn peek_move(&mut self, streams: Streams, clock: u64, cause: Cause, unit: &UnitRef) -> StreamId {
        self.placed(streams, (clock, cause), unit, |policy, moved| policy.peek_move(moved))
    }

    /// The stream of a unit that moves, as the policy answers where there is a choice.
    #[inline(always)]
    fn placed(
        &mut self,
        streams: Streams,
        (clock, cause): (u64, Cause),
        unit: &UnitRef,
        ask: impl FnOnce(&mut Policy, Moved) -> StreamId,
    ) -> StreamId {
        if let Some(only) = streams.only_for(cause) {
            return only;
        }
        let (lpn, facts) = (Lpn(unit.lpn), unit.facts());
        let Some(beside) = &self.beside else {
            return streams.of_moved(ask(&mut self.policy, Moved { lpn, cause, facts, clock }));
        };
        let own = streams.only_of_policy().unwrap_or_else(|| {
            let lay_in = streams.of_policy(StreamId(facts.stream() as u8));
            let facts = facts.with_stream(u64::from(lay_in.0));
            streams.of_moved(ask(&mut self.policy, Moved { lpn, cause, facts, clock }))
        });
        streams.of_class(own, beside.class_of(lpn))
    }

    /// The data of a unit leaves DRAM, clean or dirty. True: it is to be written once more, although it is clean.
    pub fn leaves(&mut self, tables: &Tables, lpn: Lpn, hotness: Hotness, is_clean: bool) -> bool {
        let lies = if is_clean { tables.map.lookup(lpn) } else { Pun::NONE };
        let lies_in = lies.is_some().then(|| tables.blocks.stream(tables.layout.block_of_unit(lies)));
        if let Some(beside) = &mut self.beside {
            beside.note(lpn, hotness);
        }
        self.policy.on_leave(Leaving { lpn, hotness, lies_in })
    }

    /// What it has found so far.
    pub fn report(&self) -> Report {
        Report { learns: self.policy.learns(), ..self.policy.report() }
    }
}
