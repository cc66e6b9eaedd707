//! IDS: contexts whose data is updated in a row are update contexts; those that are updated at similar times are
//! clustered again and again, and a cluster has a stream. What an update context writes once more goes to a hot
//! archive.
//!
//! As in PDS it is the writer of the old data whose update is counted, and the writer of the new data that says where
//! it goes.

use super::{Member, Moved, Needs, Report, Size, StreamId, Streams, Written};
use crate::ftl::contexts::groups::Groups;
use crate::ftl::contexts::linkage::Linkage;
use crate::ftl::contexts::writers::Writers;
use crate::ftl::contexts::{Group, ROWS, Row};
use crate::restore::{Verdict, alike, ensure, within};
use crate::snapshot::raw;
use crate::units::{Lpn, NONE};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "ids";
/// What it does.
pub const SUMMARY: &str =
    "clusters contexts by when their data is updated; data updated again is kept separate";
/// Where it comes from.
pub const SOURCE: &str = "IDS (redFTL chapter 6, algorithm 2)";
/// What it costs.
pub const MEMORY: &str =
    "2 bytes and a bit per logical unit, 115 KiB for 4,096 contexts, 4 bytes per window squared";

choice! {
    /// When the update history of a context's data is asked.
    pub enum History {
        /// After the write itself was entered: what a context writes once more goes to the archive at once.
        Entered = "entered",
        /// Before: what is written once more goes to the group, and to the archive from the next time on.
        AskedFirst = "asked_first",
    }
}

section! {
    /// Parameters of `ids`.
    pub struct Params {
        /// A context becomes an update context after more than this many consecutive updates of its data (assumed).
        update_threshold: u32 = 4, unit "updates", range 0..=1_000_000;
        /// Length of the update log; contexts are clustered again after this many updates (assumed).
        window: u32 = 64, unit "updates", range 2..=256;
        /// A context joins a group if its first cluster was formed at most this many steps after the earliest
        /// cluster inside it; 2 in the paper's example.
        cluster_levels: u32 = 2, unit "clusters", range 0..=255;
        /// When the history is asked: with a write in it, or before it is entered (the paper does not say; both are
        /// assumed).
        history: History = History::Entered;
        /// Streams: one for what is written once, one for the hot archive, the others for groups (assumed). With
        /// more groups, a new one takes the stream of the least recently used.
        streams: u32 = 8, unit "streams", range 3..=30;
    }
}

/// What is known of a context: a row of the "program context information table".
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Context {
    is_update: bool,
    group: Option<Group>,
}

/// Updates one after the other of one context's data.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Run {
    /// Row of the context.
    row: u16,
    /// Updates that followed the first.
    count: u32,
}

/// A member of a cluster to be, and the group it gets.
#[derive(Clone, Copy, Debug, Default)]
struct Placed {
    /// The root cluster whose group it gets, if it is near enough.
    root: Option<u16>,
    group: Option<Group>,
}

/// What is made anew whenever contexts are clustered: in no snapshot.
#[derive(Clone, Debug, Default)]
struct Room {
    log: Vec<Row>,
    linkage: Linkage,
    /// By member of the linkage.
    placed: Vec<Placed>,
    /// Contexts of each group.
    sizes: Vec<u16>,
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    writers: Writers,
    /// By row.
    contexts: Vec<Context>,
    /// Whether a logical unit was updated since an update context first wrote it, a bit for each.
    #[serde(with = "raw")]
    hot: Vec<u64>,
    run: Run,
    /// Rows of the contexts whose data was updated, since they were clustered last.
    log: Vec<u16>,
    groups: Groups,
    #[serde(skip)]
    room: Room,
}

/// What is written once.
const ONCE: StreamId = StreamId(0);
/// What update contexts write again.
const ARCHIVE: StreamId = StreamId(1);

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy {
            params: params.clone(),
            writers: Writers::new(0),
            contexts: Vec::new(),
            hot: Vec::new(),
            run: Run { row: u16::MAX, count: 0 },
            log: Vec::new(),
            groups: Groups::new(2, params.streams as u8),
            room: Room::default(),
        }
    }

    /// Data that a context has written is updated.
    fn on_update(&mut self, writer: Row) {
        let count = if self.run.row == writer.0 { self.run.count.saturating_add(1) } else { 0 };
        self.run = Run { row: writer.0, count };
        self.contexts[writer.index()].is_update |= count > self.params.update_threshold;
        self.log.push(writer.0);
        if self.log.len() == self.params.window as usize {
            self.regroup();
            self.log.clear();
        }
    }

    /// The update contexts of the log are clustered, and get the groups of their root clusters (IDS algorithm 2).
    /// Contexts that were not updated keep theirs.
    #[cold]
    fn regroup(&mut self) {
        let Policy { contexts, room, .. } = self;
        room.log.clear();
        room.log.extend(self.log.iter().map(|&row| Row(row)));
        room.linkage.cluster(&room.log, |row| contexts[row.index()].is_update);
        room.placed.clear();
        if let [_] = room.linkage.members() {
            // An update context alone is in no cluster, and the paper says nothing of it: it is a group.
            room.placed.push(Placed { root: Some(0), group: None });
        }
        let levels = self.params.cluster_levels;
        room.placed.extend(room.linkage.standings().iter().map(|at| {
            // "j - i < threshold" is printed, "2 if the threshold is 2" said: the example counts.
            let near = u32::from(at.original - at.root) <= levels;
            Placed { root: near.then_some(at.root), group: None }
        }));
        for root in 0..room.placed.len() as u16 {
            if room.placed.iter().any(|placed| placed.root == Some(root)) {
                let group = room.group_of(root, contexts);
                let own = room.placed.iter_mut().filter(|placed| placed.root == Some(root));
                own.for_each(|placed| placed.group = group);
            }
        }
        room.adopt(contexts, &mut self.groups);
    }

    /// The stream of a unit.
    #[inline]
    fn stream_of(&mut self, lpn: Lpn) -> StreamId {
        if self.is_hot(lpn) { ARCHIVE } else { self.stream_of_writer(lpn) }
    }

    #[inline]
    fn is_hot(&self, lpn: Lpn) -> bool {
        self.hot[lpn.index() / 64] >> (lpn.0 % 64) & 1 == 1
    }

    /// The stream of the last writer of a unit, whatever its history.
    #[inline]
    fn stream_of_writer(&mut self, lpn: Lpn) -> StreamId {
        match self.writers.of(lpn).and_then(|row| self.contexts[row.index()].group) {
            Some(group) => self.groups.stream(group),
            None => ONCE,
        }
    }

    #[inline]
    fn set_hot(&mut self, lpn: Lpn, is_hot: bool) {
        let word = &mut self.hot[lpn.index() / 64];
        *word = *word & !(1 << (lpn.0 % 64)) | u64::from(is_hot) << (lpn.0 % 64);
    }

    fn forget(&mut self, lpn: Lpn) {
        self.writers.set(lpn, None);
        self.set_hot(lpn, false);
    }
}

impl Room {
    fn new(window: usize) -> Self {
        Room {
            log: Vec::with_capacity(window),
            linkage: Linkage::new(window),
            placed: Vec::with_capacity(window),
            sizes: vec![0; ROWS + 1],
        }
    }

    fn bytes(window: usize) -> u64 {
        Linkage::bytes(window) + (window * size_of::<(Row, Placed)>() + (ROWS + 1) * size_of::<u16>()) as u64
    }

    /// The group of a root cluster: that which most of those who get it had, of equal ones the lowest, unless an
    /// earlier cluster has it; else one that nobody has.
    fn group_of(&self, root: u16, contexts: &[Context]) -> Option<Group> {
        let had = |at: usize| contexts[self.linkage.members()[at].index()].group;
        let own = || (0..self.placed.len()).filter(|&at| self.placed[at].root == Some(root));
        let is_taken = |group: Group| self.placed.iter().any(|placed| placed.group == Some(group));
        let candidates = own().filter_map(had).filter(|&group| !is_taken(group));
        let votes = |group: Group| own().filter(|&at| had(at) == Some(group)).count();
        let most = candidates.max_by_key(|&group| (votes(group), core::cmp::Reverse(group)));
        most.or_else(|| {
            let free = |&group: &Group| self.sizes[usize::from(group.get())] == 0 && !is_taken(group);
            (1..=ROWS as u16).filter_map(Group::new).find(free)
        })
    }

    /// All placed contexts get their groups; those that nobody is left in are no more.
    fn adopt(&mut self, contexts: &mut [Context], groups: &mut Groups) {
        let before = |row: &Row| contexts[row.index()].group;
        for group in self.linkage.members().iter().filter_map(before) {
            self.sizes[usize::from(group.get())] -= 1;
        }
        for group in self.placed.iter().filter_map(|placed| placed.group) {
            self.sizes[usize::from(group.get())] += 1;
        }
        for (row, placed) in self.linkage.members().iter().zip(&self.placed) {
            let old = core::mem::replace(&mut contexts[row.index()].group, placed.group);
            if let Some(old) = old.filter(|old| self.sizes[usize::from(old.get())] == 0) {
                groups.dissolve(old);
            }
        }
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(self.params.streams as u8)
    }

    fn needs(&self) -> Needs {
        Needs { hints: true, ..Needs::default() }
    }

    fn learn(&mut self, size: &Size) {
        let window = self.params.window as usize;
        self.writers = Writers::new(size.logical_units);
        self.contexts = vec![Context::default(); ROWS];
        self.hot = vec![0; size.logical_units.div_ceil(64) as usize];
        self.log = Vec::with_capacity(window);
        self.room = Room::new(window);
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        let window = self.params.window as usize;
        let rows = (ROWS * size_of::<Context>() + window * size_of::<u16>()) as u64;
        let fixed = rows + Room::bytes(window) + Groups::bytes(self.params.streams as u8);
        let bits = size.logical_units.div_ceil(64) * 8;
        Writers::bytes(size.logical_units).saturating_add(bits).saturating_add(fixed)
    }

    /// A write of which no context is told touches no table, but that nothing is known of the unit any more. What was
    /// overwritten while it waited was not updated in flash: only the last writer counts.
    fn of_write(&mut self, write: Written) -> StreamId {
        let (lpn, old) = (write.lpn, self.writers.of(write.lpn));
        if write.said.hints.context == 0 {
            if old.is_some() {
                self.forget(lpn);
            }
            return ONCE;
        }
        let updated = old.filter(|_| !write.again);
        if let Some(old) = updated {
            self.on_update(old);
        }
        let writer = self.writers.row(&write.said.hints);
        self.writers.set(lpn, writer);
        let was_hot = self.is_hot(lpn);
        if writer.is_none() || writer != old {
            self.set_hot(lpn, false);
        } else if updated.is_some_and(|row| self.contexts[row.index()].is_update) {
            self.set_hot(lpn, true);
        }
        let is_first = self.params.history == History::AskedFirst && !was_hot;
        if is_first { self.stream_of_writer(lpn) } else { self.stream_of(lpn) }
    }

    /// By the last writer of the logical unit, and whether it has updated it. Where a newer version is on its way to
    /// flash that says what is known of the newer one, and what moves is about to die.
    fn of_move(&mut self, moved: Moved) -> StreamId {
        self.stream_of(moved.lpn)
    }

    fn on_trim(&mut self, lpn: Lpn) {
        self.forget(lpn);
    }

    /// Only for what is told of victims: which one is chosen is greedy's matter among all (IDS table 9).
    fn class(&self, stream: StreamId) -> u8 {
        match stream {
            ONCE => 0,
            ARCHIVE => 2,
            _ => 1,
        }
    }

    fn report(&self) -> Report {
        let groups = self.room.sizes.iter().filter(|&&size| size > 0).count() as u32;
        Report {
            groups,
            contexts: self.writers.count(),
            turned_away: self.writers.turned_away(),
            ..Report::default()
        }
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        (self.params, self.room) = (fresh.params, fresh.room);
        self.writers.restored(&fresh.writers)?;
        alike("contexts", &self.contexts, &fresh.contexts)?;
        alike("what is hot", &self.hot, &fresh.hot)?;
        ensure(self.log.len() < self.params.window as usize, "updates of the log")?;
        let rows = self.log.iter().map(|&row| u32::from(row));
        within("contexts of the log", rows, self.writers.count() as usize)?;
        self.log.reserve_exact(self.params.window as usize - self.log.len());
        let run = if self.run.row == u16::MAX { NONE } else { u32::from(self.run.row) };
        ensure(run == NONE || run < self.writers.count(), "the context of the last update")?;
        for group in self.contexts.iter().filter_map(|context| context.group) {
            ensure(usize::from(group.get()) <= ROWS, "the group of a context")?;
            self.room.sizes[usize::from(group.get())] += 1;
        }
        self.groups.restored(fresh.groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::stream::Said;
    use crate::signals::Hints;

    fn policy(window: u32) -> Policy {
        let mut policy = Policy::new(&Params { window, update_threshold: 0, ..Params::default() });
        policy.learn(&Size {
            logical_units: 1_000,
            physical_units: 1_200,
            lanes: 1,
            blocks_per_lane: 300,
            units_per_block: 4,
        });
        policy
    }

    fn write(context: u32, lpn: u32, again: bool) -> Written {
        let said = Said { hints: Hints { context, ..Hints::default() }, sectors: 8 };
        Written { lpn: Lpn(lpn), said, clock: 0, again }
    }

    fn written(policy: &mut Policy, writes: &[(u32, u32)]) -> Vec<u8> {
        writes.iter().map(|&(context, lpn)| policy.of_write(write(context, lpn, false)).0).collect()
    }

    /// Logs updates of contexts 1, 2, ..., which are update contexts, as if their data had been overwritten.
    fn logged(policy: &mut Policy, contexts: &[u32]) -> Vec<u16> {
        for context in 1..=9 {
            let row = policy.writers.row(&write(context, 0, false).said.hints).unwrap();
            policy.contexts[row.index()].is_update = true;
        }
        contexts.iter().for_each(|&context| policy.on_update(Row(context as u16 - 1)));
        groups(policy)
    }

    fn groups(policy: &Policy) -> Vec<u16> {
        (0..9).map(|row: usize| policy.contexts[row].group.map_or(0, Group::get)).collect()
    }

    #[test]
    fn an_update_context_is_updated_in_a_row() {
        let mut policy = policy(256);
        policy.params.update_threshold = 4;
        written(&mut policy, &(0..20).map(|lpn| (1 + lpn / 10, lpn)).collect::<Vec<_>>());
        // Five of the first, one of the other, five of the first: the count begins anew.
        let updated = [0, 1, 2, 3, 4, 10, 5, 6, 7, 8, 9];
        written(&mut policy, &updated.map(|lpn| (3, lpn)));
        assert!(!policy.contexts[0].is_update);
        written(&mut policy, &[11, 12, 13, 14, 15].map(|lpn| (3, lpn)));
        assert!(!policy.contexts[1].is_update, "four have followed the first");
        written(&mut policy, &[(3, 16)]);
        assert!(policy.contexts[1].is_update && !policy.contexts[0].is_update);
    }

    /// Figure 34: contexts 1 and 2, and 4 and 5, make groups; 3 joins the former, for its first cluster was made two
    /// after that. Cluster 4 joins clusters alone.
    #[test]
    fn figure_34_groups() {
        // 1-2 one apart; 4-5 two; 2-3 four; far from each other.
        let mut log = vec![1, 2, 9, 9, 9, 3];
        log.extend([8; 20]);
        log.extend([4, 8, 5]);
        let mut policy = policy(log.len() as u32);
        for context in [8, 9] {
            let row = policy.writers.row(&write(context, 0, false).said.hints).unwrap();
            assert_eq!(row.index() as u32, context - 8);
        }
        // Rows are in order of appearance: 8 and 9 stand first, and are no update contexts.
        for context in 1..=5 {
            let row = policy.writers.row(&write(context, 0, false).said.hints).unwrap();
            policy.contexts[row.index()].is_update = true;
        }
        policy.params.update_threshold = 1_000;
        for context in log {
            let row = policy.writers.row(&write(context, 0, false).said.hints).unwrap();
            policy.on_update(row);
        }
        let found: Vec<u16> =
            (2..7).map(|row: usize| policy.contexts[row].group.map_or(0, Group::get)).collect();
        assert_eq!(found, [1, 1, 1, 2, 2]);
        assert_eq!((policy.report().groups, groups(&policy)[0]), (2, 0));
    }

    /// What an update context writes once more: to the archive at once, or the next time if the history is asked first.
    #[test]
    fn the_history_is_asked_with_a_write_in_it_or_before() {
        for (history, expected) in [(History::Entered, [ARCHIVE; 2]), (History::AskedFirst, [ONCE, ARCHIVE])]
        {
            let mut policy = policy(256);
            policy.params.history = history;
            written(&mut policy, &[(1, 0), (1, 1), (1, 0), (1, 1)]);
            assert!(policy.contexts[0].is_update);
            written(&mut policy, &[(1, 7)]);
            let streams = written(&mut policy, &[(1, 7), (1, 7)]);
            assert_eq!(streams, expected.map(|stream| stream.0), "{history:?}");
            assert_eq!(policy.stream_of(Lpn(7)), ARCHIVE, "what moves has been entered");
        }
    }

    /// Groups keep their names while their members do, and end with the last; who is alone is a group.
    #[test]
    fn groups_change_with_the_log() {
        let mut policy = policy(4);
        assert_eq!(logged(&mut policy, &[1, 2, 1, 2])[..4], [1, 1, 0, 0]);
        assert_eq!(logged(&mut policy, &[3, 4, 3, 4])[..4], [1, 1, 2, 2]);
        // 2 is nearer to 3 now: both had a group, and that of 2 is the lower. 1 and 4 keep theirs.
        assert_eq!(logged(&mut policy, &[2, 3, 2, 3])[..4], [1, 1, 1, 2]);
        // 4 alone keeps its own.
        assert_eq!(logged(&mut policy, &[4, 4, 4, 4])[..4], [1, 1, 1, 2]);
        // 4 goes to the group of most; its own is no more, and the next new one has its name.
        assert_eq!(logged(&mut policy, &[1, 4, 1, 4])[..4], [1, 1, 1, 1]);
        assert_eq!(policy.report().groups, 1);
        assert_eq!(logged(&mut policy, &[5, 6, 5, 6])[..6], [1, 1, 1, 1, 2, 2]);
    }

    /// Two root clusters whose contexts were one group: the first keeps its name.
    #[test]
    fn a_group_that_comes_apart() {
        let mut policy = policy(8);
        assert_eq!(logged(&mut policy, &[1, 2, 3, 4, 1, 2, 3, 4])[..4], [1; 4]);
        assert_eq!(logged(&mut policy, &[1, 2, 1, 2, 3, 4, 3, 4])[..4], [1, 1, 2, 2]);
        // A context that is first linked three clusters after the first inside its own belongs to none.
        policy.params.cluster_levels = 1;
        assert_eq!(logged(&mut policy, &[1, 2, 3, 4, 1, 2, 3, 4])[..4], [1, 1, 1, 0]);
    }

    #[test]
    fn what_is_updated_by_its_own_context_goes_to_the_archive() {
        let mut policy = policy(2);
        written(&mut policy, &[(1, 10), (1, 11), (1, 12), (1, 13)]);
        // The second update in a row makes it an update context, alone in the log: a group.
        assert_eq!(written(&mut policy, &[(1, 10), (1, 11), (1, 14)]), [0, 1, 2]);
        let moved = |lpn| Moved {
            lpn: Lpn(lpn),
            cause: crate::flash::op::Cause::Cleaning,
            facts: crate::signals::Facts::NONE,
            clock: 0,
        };
        assert_eq!([10, 11, 12, 50].map(|lpn| policy.of_move(moved(lpn)).0), [2, 1, 2, 0]);
        // What waited is no update; another context, nobody and a trim clear it.
        assert_eq!(policy.of_write(write(1, 12, true)), StreamId(2));
        assert_eq!(written(&mut policy, &[(1, 12), (1, 13), (1, 14)]), [1; 3]);
        assert_eq!(written(&mut policy, &[(2, 11), (0, 12)]), [0, 0]);
        policy.on_trim(Lpn(13));
        assert_eq!([11, 12, 13, 14].map(|lpn| policy.of_move(moved(lpn)).0), [0, 0, 0, 1]);
        assert_eq!(written(&mut policy, &[(1, 11), (1, 12), (1, 13)]), [2, 2, 2]);
        assert_eq!([0, 1, 2, 7].map(|stream| policy.class(StreamId(stream))), [0, 2, 1, 1]);
    }
}
