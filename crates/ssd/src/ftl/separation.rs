//! Which stream data goes to: the policy that separates it (`ftl.stream`), and whether it ever has.

use crate::flash::op::{Cause, UnitRef};
use crate::ftl::stream::{Leaving, Moved, Policy, Report, Said, StreamId, Streams, Written};
use crate::ftl::tables::Tables;
use crate::restore::Verdict;
use crate::signals::Hotness;
use crate::units::{Lpn, Pun};
use serde::{Deserialize, Serialize};

/// What keeps data apart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Separation {
    pub policy: Policy,
    /// Whether anything went to another stream than the first.
    tells_apart: bool,
}

impl Separation {
    /// By a policy that has learnt nothing yet.
    pub fn new(policy: Policy) -> Self {
        Separation { policy, tells_apart: false }
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: Separation) -> Verdict {
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
        self.tells_apart |= stream.0 > 0;
        stream
    }

    /// The stream that a unit goes to which moves for a cause.
    #[inline(always)]
    pub fn of_move(&mut self, streams: Streams, clock: u64, cause: Cause, unit: &UnitRef) -> StreamId {
        let moved = || Moved { lpn: Lpn(unit.lpn), cause, facts: unit.facts(), clock };
        streams.only_for(cause).unwrap_or_else(|| streams.of_moved(self.policy.of_move(moved())))
    }

    /// The stream that a unit would go to if it moved for a cause.
    #[inline(always)]
    pub fn peek_move(&mut self, streams: Streams, clock: u64, cause: Cause, unit: &UnitRef) -> StreamId {
        let moved = || Moved { lpn: Lpn(unit.lpn), cause, facts: unit.facts(), clock };
        streams.only_for(cause).unwrap_or_else(|| streams.of_moved(self.policy.peek_move(moved())))
    }

    /// The data of a unit leaves DRAM, clean or dirty. True: it is to be written once more, although it is clean.
    pub fn leaves(&mut self, tables: &Tables, lpn: Lpn, hotness: Hotness, is_clean: bool) -> bool {
        let lies = if is_clean { tables.map.lookup(lpn) } else { Pun::NONE };
        let lies_in = lies.is_some().then(|| tables.blocks.stream(tables.layout.block_of_unit(lies)));
        self.policy.on_leave(Leaving { lpn, hotness, lies_in })
    }

    /// What it has found so far.
    pub fn report(&self) -> Report {
        Report { learns: self.policy.learns(), ..self.policy.report() }
    }
}
