//! The host says where data goes: each placement id has blocks of its own, as a reclaim unit handle of flexible data
//! placement has reclaim units, or a stream of multi-stream drives.

use super::{Member, Moved, Needs, Report, Size, StreamId, Streams, Written};
use crate::restore::{Verdict, ensure};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "placement_id";
/// What it does.
pub const SUMMARY: &str = "each placement id of the host (FDP handle, stream) has its own blocks";
/// Where it comes from.
pub const SOURCE: &str = "NVMe TP4146, flexible data placement; streams: Kang et al. (2014)";
/// What it costs.
pub const MEMORY: &str = "8 bytes per unit of flash (its hints), if copies stay isolated";

choice! {
    /// Where data goes that moves.
    pub enum Copies {
        /// To the drive's own choice, with copies of other handles (initially isolated).
        Initially = "initially",
        /// To blocks of its handle (persistently isolated).
        Persistently = "persistently",
    }
}

section! {
    /// Parameters of `placement_id`.
    pub struct Params {
        /// Handles: the host's placement ids, from 1 up. Writes with no id, or another one, share a stream.
        handles: u32 = 8, range 1..=30;
        /// Whether copies stay separate from those of other handles.
        copies: Copies = Copies::Initially;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    /// Handles that the host has used, a bit each.
    used: u32,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { params: params.clone(), used: 0 }
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(self.params.handles as u8 + 1)
    }

    fn learns(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        let facts = self.params.copies == Copies::Persistently;
        Needs { hints: true, facts, ..Needs::default() }
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        if self.needs().facts { 8 * size.physical_units } else { 0 }
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        let id = u32::from(write.said.hints.stream);
        // To name a handle that is not there is the host's mistake: the write succeeds all the same.
        if id == 0 || id > self.params.handles {
            return StreamId(0);
        }
        self.used |= 1 << id;
        StreamId(id as u8)
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        match self.params.copies {
            Copies::Initially => StreamId(0),
            Copies::Persistently => moved.stream(self.streams()),
        }
    }

    fn class(&self, stream: StreamId) -> u8 {
        u8::from(stream.0 > 0)
    }

    fn report(&self) -> Report {
        Report { groups: self.used.count_ones(), contexts: 0, ..Report::default() }
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        self.params = fresh.params;
        let most = 1 << (self.params.handles + 1);
        ensure(self.used & 1 == 0 && u64::from(self.used) < most, "handles that the host has used")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Said;
    use super::super::tests::{moved, written};
    use super::*;
    use crate::signals::Hints;

    fn of_id(stream: u16) -> Written {
        Written { said: Said { hints: Hints { stream, ..Hints::default() }, sectors: 8 }, ..written(1) }
    }

    #[test]
    fn each_handle_has_a_stream_and_what_names_none_has_the_first() {
        let mut policy = Policy::new(&Params::default());
        assert_eq!([0, 1, 8, 9, 300].map(|id| policy.of_write(of_id(id)).0), [0, 1, 8, 0, 0]);
        assert_eq!((policy.report().groups, policy.streams().count), (2, 9));
    }

    #[test]
    fn copies_are_isolated_initially_or_persistently() {
        let mut policy = Policy::new(&Params::default());
        assert_eq!([0, 1, 8].map(|stream| policy.of_move(moved(1, stream)).0), [0, 0, 0]);
        let mut policy = Policy::new(&Params { copies: Copies::Persistently, ..Params::default() });
        // Stream 9 is that of what nothing is known of and was moved before.
        assert_eq!([0, 1, 8, 9].map(|stream| policy.of_move(moved(1, stream)).0), [0, 1, 8, 0]);
        assert_eq!(policy.needs(), Needs { hints: true, facts: true, ..Needs::default() });
    }
}
