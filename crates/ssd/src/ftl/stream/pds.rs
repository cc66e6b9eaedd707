//! PDS: program contexts whose data is updated at similar times form groups, and each group has a stream of its own.
//! All else is taken for written once, and its blocks are cleaned first.
//!
//! Grouped is who wrote the *old* data, when it is updated ("the algorithm takes ... the identifier of the PC which has
//! generated the data updated by the current write request", PDS section 5.3); where the new data goes says the group
//! of its own writer.

use super::{Among, LaneStreams, Member, Moved, Needs, Report, Size, StreamId, Streams, Written};
use crate::ftl::contexts::groups::Groups;
use crate::ftl::contexts::writers::Writers;
use crate::ftl::contexts::{Group, ROWS, Row};
use crate::restore::{Verdict, alike, ensure};
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "pds";
/// What it does.
pub const SUMMARY: &str = "a stream for each group of program contexts whose data is updated together";
/// Where it comes from.
pub const SOURCE: &str = "PDS (redFTL section 5.3, algorithm 1)";
/// What it costs.
pub const MEMORY: &str = "2 bytes per logical unit, and 100 KiB for 4,096 contexts";

section! {
    /// Parameters of `pds`.
    pub struct Params {
        /// Updates of its data after which a context gets its own group (assumed; the paper tries 1 to 32). The
        /// first update does not count, so 1 is the same as 2.
        threshold: u32 = 4, unit "updates", range 1..=1_000_000;
        /// Streams: one for what is written once, the others for groups (assumed). With more groups, a new one takes
        /// the stream of the least recently used.
        streams: u32 = 8, unit "streams", range 2..=30;
    }
}

/// What is known of a context: a row of the "program context information table".
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Context {
    /// Updates of its data; 0: the paper's table does not have it yet.
    updates: u32,
    group: Option<Group>,
}

/// The last update of data whose writer was known.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Update {
    /// The logical unit after it.
    next: u32,
    group: Option<Group>,
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    writers: Writers,
    /// By row.
    contexts: Vec<Context>,
    /// Groups made so far.
    made: u16,
    last: Update,
    groups: Groups,
}

/// What is written once.
const ONCE: StreamId = StreamId(0);

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            writers: Writers::new(0),
            contexts: Vec::new(),
            made: 0,
            last: Update::default(),
            groups: Groups::new(1, params.streams as u8),
        }
    }

    /// Data that a context has written is updated: PDS algorithm 1, by its lines.
    fn on_update(&mut self, writer: Row, lpn: Lpn) {
        let context = &mut self.contexts[writer.index()];
        context.updates = context.updates.saturating_add(1);
        // Lines 2 to 6: what is told of for the first time is inserted, and no more.
        if context.updates > 1 && context.group.is_none() {
            if context.updates >= self.params.threshold {
                self.made += 1;
                context.group = Group::new(self.made);
            } else if self.last.next == lpn.0 {
                context.group = self.last.group;
            }
        }
        self.last = Update { next: lpn.0 + 1, group: context.group };
    }

    /// The stream of what a context has written, if it is known who it was.
    #[inline]
    fn stream_of(&mut self, writer: Option<Row>) -> StreamId {
        match writer.and_then(|row| self.contexts[row.index()].group) {
            Some(group) => self.groups.stream(group),
            None => ONCE,
        }
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(self.params.streams as u8)
    }

    fn needs(&self) -> Needs {
        Needs { hints: true, victims: true, ..Needs::default() }
    }

    fn learn(&mut self, size: &Size) {
        self.writers = Writers::new(size.logical_units);
        self.contexts = vec![Context::default(); ROWS];
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        let rows = (ROWS * size_of::<Context>()) as u64;
        let groups = Groups::bytes(self.params.streams as u8);
        Writers::bytes(size.logical_units).saturating_add(rows + groups)
    }

    /// A write of which no context is told touches no table, but that the unit's writer is not known any more. What was
    /// overwritten while it waited was not updated in flash: only the last writer counts.
    fn of_write(&mut self, write: Written) -> StreamId {
        let old = self.writers.of(write.lpn);
        if write.said.hints.context == 0 {
            if old.is_some() {
                self.writers.set(write.lpn, None);
            }
            return ONCE;
        }
        if let Some(old) = old
            && !write.again
        {
            self.on_update(old, write.lpn);
        }
        let writer = self.writers.row(&write.said.hints);
        self.writers.set(write.lpn, writer);
        self.stream_of(writer)
    }

    /// By the last writer of the logical unit. Where a newer version is on its way to flash that is the newer one's,
    /// and what moves is about to die.
    fn of_move(&mut self, moved: Moved) -> StreamId {
        let writer = self.writers.of(moved.lpn);
        self.stream_of(writer)
    }

    fn on_trim(&mut self, lpn: Lpn) {
        self.writers.set(lpn, None);
    }

    /// Blocks of groups go last: "the FTL gives the lowest priority to update blocks" (PDS section 5.3).
    fn class(&self, stream: StreamId) -> u8 {
        u8::from(stream != ONCE)
    }

    fn among(&mut self, _: &LaneStreams<'_>) -> Among {
        Among::Classes
    }

    fn report(&self) -> Report {
        let (contexts, turned_away) = (self.writers.count(), self.writers.turned_away());
        Report { groups: u32::from(self.made), contexts, turned_away, ..Report::default() }
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        self.params = fresh.params;
        self.writers.restored(&fresh.writers)?;
        alike("contexts", &self.contexts, &fresh.contexts)?;
        ensure(usize::from(self.made) <= ROWS, "groups of contexts")?;
        let is_made = |group: Option<Group>| group.is_none_or(|group| group.get() <= self.made);
        let known = self.contexts.iter().map(|context| context.group);
        ensure(known.chain([self.last.group]).all(is_made), "the group of a context")?;
        // A context makes one group at most, so that there are never more than rows.
        let grouped = self.contexts.iter().filter(|context| context.group.is_some()).count();
        ensure(usize::from(self.made) <= grouped, "groups without a context")?;
        self.groups.restored(fresh.groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::stream::Said;
    use crate::signals::Hints;

    fn policy(threshold: u32) -> Policy {
        let mut policy = Policy::new(&Params { threshold, ..Params::default() });
        policy.learn(&Size {
            logical_units: 100,
            physical_units: 120,
            lanes: 1,
            blocks_per_lane: 30,
            units_per_block: 4,
        });
        policy
    }

    fn write(context: u32, lpn: u32, again: bool) -> Written {
        let said = Said { hints: Hints { context, ..Hints::default() }, sectors: 8 };
        Written { lpn: Lpn(lpn), said, clock: 0, again }
    }

    /// Writes of contexts to units, one after the other: their streams.
    fn written(policy: &mut Policy, writes: &[(u32, u32)]) -> Vec<u8> {
        writes.iter().map(|&(context, lpn)| policy.of_write(write(context, lpn, false)).0).collect()
    }

    const A: u32 = 0xAAAA;
    const B: u32 = 0xBBBB;
    /// Of contexts whose own data is never updated.
    const C: u32 = 0xCCCC;

    /// Threshold 3; old contexts and pages A10 A11 A50 B51 A60 B61.
    #[test]
    fn algorithm_1_by_hand() {
        let mut policy = policy(3);
        written(&mut policy, &[(A, 10), (A, 11), (A, 50), (B, 51), (A, 60), (B, 61)]);
        let groups =
            |policy: &Policy| [0, 1].map(|row: usize| policy.contexts[row].group.map_or(0, Group::get));
        let mut found = Vec::new();
        for lpn in [10, 11, 50, 51, 60, 61] {
            written(&mut policy, &[(C, lpn)]);
            found.push(groups(&policy));
        }
        // A has a group from its third update on. At 51 B is told of for the first time; at 61 it follows A's 60.
        assert_eq!(found, [[0, 0], [0, 0], [1, 0], [1, 0], [1, 0], [1, 1]]);
        assert_eq!(written(&mut policy, &[(A, 1), (B, 2), (C, 3), (0, 4)]), [1, 1, 0, 0]);
        assert_eq!(policy.report(), Report { groups: 1, contexts: 3, turned_away: 0, ..Report::default() });
    }

    /// What follows the update of a context without a group joins none.
    #[test]
    fn who_follows_nobody_s_group_waits_for_the_threshold() {
        let mut policy = policy(3);
        written(&mut policy, &[(A, 10), (B, 11), (A, 20), (B, 21), (A, 30), (B, 31)]);
        written(&mut policy, &[(C, 10), (C, 11), (C, 20), (C, 21)]);
        assert_eq!(written(&mut policy, &[(A, 1), (B, 2)]), [0, 0]);
        written(&mut policy, &[(C, 30), (C, 31)]);
        assert_eq!(policy.made, 2, "B reaches the threshold before it can follow A");
        assert_eq!(written(&mut policy, &[(A, 1), (B, 2)]), [1, 2]);
    }

    /// Inserting skips the test, so that thresholds 1 and 2 are one algorithm; 3 is another.
    #[test]
    fn thresholds_1_and_2_are_the_same() {
        let mut rng = crate::rng::Rng::named(1, "thresholds");
        let writes: Vec<_> = (0..5_000).map(|_| (rng.below(40), rng.below(100))).collect();
        let streams = [1, 2, 3].map(|threshold| written(&mut policy(threshold), &writes));
        assert!(streams[0] == streams[1] && streams[1] != streams[2]);
    }

    #[test]
    fn what_waits_is_updated_once_and_belongs_to_its_last_writer() {
        let mut policy = policy(2);
        written(&mut policy, &[(A, 10), (C, 10)]);
        assert_eq!(policy.contexts[0].updates, 1);
        for context in [C, C, A] {
            policy.of_write(write(context, 10, true));
        }
        assert_eq!((policy.contexts[0].updates, policy.contexts[1].updates), (1, 0));
        written(&mut policy, &[(C, 10)]);
        assert_eq!((policy.contexts[0].updates, policy.contexts[1].updates), (2, 0));
    }

    /// It is forgotten who wrote what is trimmed, or overwritten by nobody that is known.
    #[test]
    fn nobody_s_write_and_a_trim_forget_the_writer() {
        let mut policy = policy(2);
        written(&mut policy, &[(A, 10), (A, 11), (0, 10)]);
        policy.on_trim(Lpn(11));
        written(&mut policy, &[(C, 10), (C, 11)]);
        assert_eq!(policy.contexts[0].updates, 0);
        let moved = |lpn| Moved {
            lpn: Lpn(lpn),
            cause: crate::flash::op::Cause::Cleaning,
            facts: crate::signals::Facts::NONE,
            clock: 0,
        };
        written(&mut policy, &[(A, 20), (A, 21), (A, 22), (C, 20), (C, 21)]);
        assert_eq!([22, 20, 50].map(|lpn| policy.of_move(moved(lpn)).0), [1, 0, 0]);
    }
}
