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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Table;
    use crate::drive_config::DriveConfig;
    use crate::ftl::stream::Size;
    use crate::sections::MovesOfFirst;
    use crate::signals::Facts;

    const SIZE: Size =
        Size { logical_units: 64, physical_units: 128, lanes: 1, blocks_per_lane: 8, units_per_block: 16 };

    /// Streams by a policy, with hotness beside; unit 1 is read-hot, unit 2 write-hot.
    fn separation(policy: &str, moves: MovesOfFirst) -> (Separation, Streams) {
        let mut cfg = DriveConfig::default();
        cfg.stream.select(policy).unwrap();
        let mut policy = Policy::build(&cfg.stream);
        policy.learn(&SIZE);
        let streams = policy.checked_streams(moves, 1 << Cause::BadBlock as u32, true);
        let mut beside = hotness::Policy::beside(&SIZE);
        beside.note(Lpn(1), Hotness::ReadHot);
        beside.note(Lpn(2), Hotness::WriteHot);
        (Separation::new(policy, Some(beside)), streams)
    }

    /// Where units 0 to 2 go that lay in a stream when they move.
    fn moved(policy: &str, moves: MovesOfFirst, (lay_in, cause): (u8, Cause)) -> [u8; 3] {
        let (mut separation, streams) = separation(policy, moves);
        [0, 1, 2].map(|lpn| {
            let facts = Facts::NONE.with_stream(u64::from(lay_in));
            let unit = UnitRef::new(lpn, 5).with_facts(facts);
            let to = separation.of_move(streams, 0, cause, &unit);
            assert_eq!(separation.peek_move(streams, 0, cause, &unit), to);
            to.0
        })
    }

    /// `request_size` has two streams, and moves to the first; with one more for what moves out of that there are three
    /// of a class. `sepbit` has six, of which moves take the last four; what lay in none of the host's second goes on.
    #[test]
    fn what_moves_keeps_its_class_and_goes_where_the_policy_has_it() {
        let cleaning = (0, Cause::Cleaning);
        assert_eq!(moved("request_size", MovesOfFirst::Joined, cleaning), [0, 2, 4]);
        assert_eq!(moved("request_size", MovesOfFirst::Apart, cleaning), [2, 5, 8]);
        // A policy of one stream is not asked.
        assert_eq!(moved("none", MovesOfFirst::Joined, cleaning), [0, 1, 2]);
        assert_eq!(moved("none", MovesOfFirst::Apart, cleaning), [1, 3, 5]);
        // What is cold has one stream, whatever its class.
        assert_eq!(moved("request_size", MovesOfFirst::Joined, (0, Cause::BadBlock)), [6; 3]);
    }

    /// `process` keeps what moves in its stream: it is told the policy's own of the one that it lay in, whose class may
    /// have been another.
    #[test]
    fn a_policy_is_told_of_its_own_streams_alone() {
        let (separation, streams) = separation("process", MovesOfFirst::Joined);
        let count = separation.policy.streams().count;
        assert_eq!(streams.count, 3 * count);
        for class in 0..3 {
            let lay_in = (class * count + 3, Cause::Cleaning);
            assert_eq!(moved("process", MovesOfFirst::Joined, lay_in), [3, count + 3, 2 * count + 3]);
        }
    }

    #[test]
    fn what_the_host_writes_goes_to_its_class() {
        let (mut separation, streams) = separation("none", MovesOfFirst::Apart);
        let to = [0, 1, 2].map(|lpn| separation.of_write(streams, 0, (Lpn(lpn), Said::default(), false)).0);
        assert_eq!(to, [0, 2, 4]);
        assert!(separation.tells_apart());
    }
}
