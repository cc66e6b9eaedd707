//! The bound of exposure (`ftl.sanitize.max_exposed_ms`): what locks owe, in room and in time.
//!
//! A page that is exposed *owes* its lock and, where something lives in it, before that a read and a program elsewhere
//! in its lane. What a program under way is going to kill is *claimed* when it begins, a page for each copy: they may
//! lie anywhere, and what moves meanwhile stays in its lane. Room is owed by the page, for what moves for a lock may
//! have nothing else to share one with; time by the *group*, the dies that lanes have in common: a die, or all of
//! them where a lane spans several.
//!
//! The time that a group has left (`slack`) is what passes until the page exposed there for longest has been so for
//! the maximum, less all that is owed there and all else that is under way. Whatever begins there beside locks (a
//! program of the host's with what it claims, a read of a move) must fit in that. Then all that is owed ends in time,
//! in whatever order. Once none is left the group is *pressed*: it does nothing else, host reads included, and nothing
//! waits there for others to share a page, a row or a lock with.

use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::flash::timing::Timing;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::Work;
use crate::list::{Links, List, Node};
use crate::restore::{Verdict, alike, ensure};
use crate::sections::{ErrorModel, Sections};
use crate::units::{LaneId, Lpn, NONE, Ppn, SimTime};
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// While something is owed its time is looked at so often (assumed); ns.
pub(crate) const LOOK_NS: u64 = 1_000_000;
/// Host reads that may be at work on a die when each of the operations of a move for a lock comes: read, program, lock.
const READS_BETWEEN: u64 = 3;

/// So many reads may wait at a die without being looked at: all may be of pages that are to be locked, and go before.
pub(in crate::ftl) const READS_BEFORE: u32 = 16;

/// Copies of secured data that something is going to kill in a lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct Kill {
    pub lane: LaneId,
    pub copies: u32,
    /// Reads that wait for their pages, beside those that are counted already.
    pub reads: u32,
}

/// What a page owes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Owed {
    /// Nothing: it is not exposed, or its lock has failed.
    #[default]
    Nothing,
    /// Its lock.
    Lock,
    /// And before it a move: something lives there.
    Move,
}

/// What is known of a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Page {
    links: Links,
    owed: Owed,
    group: u32,
    since: u64,
}

impl Node for Page {
    fn links(&self) -> Links {
        self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// What follows from the configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// The maximum; ns. 0: there is none.
    limit_ns: u64,
    /// What may come between in a group, whatever is owed; ns.
    between_ns: u64,
    /// Die time of a read for the host; of a move for a lock, with the lock; of a lock; of a move of other work; of its
    /// program; of an erase.
    read_ns: u64,
    move_ns: u64,
    lock_ns: u64,
    page_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    /// Pages of a lane that may be exposed without a claim: of copies that are dead on arrival.
    pub margin: u32,
    lanes_per_group: u32,
}

impl Terms {
    /// Those of a configuration with this maximum; ns. Work of dies may be stopped for reads, or not.
    pub(crate) fn new(cfg: &Sections, limit_ns: u64, suspends: bool) -> Self {
        let (g, in_flight) = (&cfg.geometry, cfg.moves_in_flight());
        let timing = Timing::new(cfg);
        let longest = timing.longest(g.page_bytes);
        // When a group is pressed, each of its dies may be about to stop; from then on nothing stops.
        let dies = u64::from((cfg.lane_span() / g.planes_per_die).max(1));
        let stopped_ns = if suspends { dies * (timing.suspend_ns() + timing.resume_ns()) } else { 0 };
        let attempts = match cfg.errors.model {
            ErrorModel::None => 1,
            ErrorModel::Cells => {
                2 + u64::from(cfg.cells.retry.entries) + cfg.cells.ecc.level_steps.len() as u64
            }
        };
        // Others of the channel may send before each.
        let others = u64::from(g.chips_per_channel * g.dies_per_chip) * longest.data_ns;
        let parts = u64::from(cfg.pages_per_unit() * cfg.pages_of_program());
        let read_ns = longest.read_ns + others;
        let program_ns = parts * (longest.program_ns + others);
        let (all_reads_ns, lock_ns) = (parts * attempts * read_ns, longest.lock_ns + read_ns);
        let lanes_per_group = (g.planes_per_die / cfg.lane_span()).max(1);
        let page_ns = all_reads_ns + program_ns + lock_ns;
        let move_ns = page_ns + (READS_BETWEEN - 1) * read_ns;
        let waiting = u64::from(in_flight) * move_ns + 2 * u64::from(cfg.pages_per_row()) * program_ns;
        let erases = if cfg.scheduling.multi_plane { 1 } else { u64::from(g.planes_per_die) };
        Terms {
            limit_ns,
            between_ns: LOOK_NS
                + stopped_ns
                + (1 + u64::from(READS_BEFORE)) * read_ns
                + u64::from(lanes_per_group) * waiting,
            read_ns,
            move_ns,
            lock_ns,
            page_ns,
            program_ns,
            erase_ns: erases * longest.erase_ns,
            margin: Self::margin_of(cfg),
            lanes_per_group,
        }
    }

    /// Pages of a lane that may be exposed without a claim, of any maximum.
    pub(crate) fn margin_of(cfg: &Sections) -> u32 {
        cfg.moves_in_flight() + cfg.pages_per_row()
    }

    /// The least maximum with which the drive goes on, whose lanes may free so many blocks at once: a program may kill
    /// as many copies as it has units, all of one group; ns.
    pub(crate) fn least_ns(&self, cfg: &Sections, coming: u32) -> u64 {
        let moves = u64::from(cfg.moves_in_flight()) * self.page_ns;
        let work = u64::from(coming) * self.erase_ns + moves + 2 * self.program_ns;
        let claims = u64::from(cfg.units_per_program()) * self.move_ns;
        self.between_ns + u64::from(self.lanes_per_group) * work + claims + self.program_ns
    }

    fn of(&self, owed: Owed) -> u64 {
        match owed {
            Owed::Nothing => 0,
            Owed::Lock => self.lock_ns,
            Owed::Move => self.move_ns,
        }
    }
}

/// What is owed and claimed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bound {
    #[serde(skip)]
    pub(crate) terms: Terms,
    /// All that is exposed and owed, by page; empty without a maximum, as is all that follows.
    pages: Vec<Page>,
    /// By group: its pages, the one exposed for longest first.
    lists: Vec<List>,
    /// What is owed and claimed, and what else is under way; ns.
    owed_ns: Vec<u64>,
    busy_ns: Vec<u64>,
    /// By group: what reads for the host take that wait for pages that owe something, and must be done before their
    /// locks; ns.
    reads_ns: Vec<u64>,
    /// By slot: the lane in which its program is going to kill a copy; [`NONE`] if in none.
    claims: Vec<u32>,
    /// By group: nothing but what is owed is done.
    pressed: Vec<bool>,
    /// Since when the host's next program or trim waits for locks, if it does.
    held_since: Option<SimTime>,
}

impl Bound {
    /// Nothing is owed on a drive of so many slots.
    pub(in crate::ftl) fn new(terms: Terms, layout: &Layout, slots: u32) -> Self {
        let is_on = terms.limit_ns > 0;
        let of = |count: u32| if is_on { count as usize } else { 0 };
        let groups = of(layout.lanes.div_ceil(terms.lanes_per_group.max(1)));
        let page = Page { links: Links::NONE, owed: Owed::Nothing, group: 0, since: 0 };
        Bound {
            pages: vec![page; of(layout.blocks() * layout.pages_per_block)],
            lists: vec![List::EMPTY; groups],
            owed_ns: vec![0; groups],
            busy_ns: vec![0; groups],
            reads_ns: vec![0; groups],
            claims: vec![NONE; of(slots)],
            pressed: vec![false; groups],
            held_since: None,
            terms,
        }
    }

    /// Whether there is a maximum.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.terms.limit_ns > 0
    }

    /// Bytes of memory of the controller.
    pub(in crate::ftl) fn bytes(&self) -> usize {
        self.pages.len() * core::mem::size_of::<Page>() + self.claims.len() * 4
    }

    /// For how long copies that moves have killed wait for the end of their job at most; without a maximum it is for
    /// `batch_ns`.
    pub(in crate::ftl) fn batch_ns(&self, batch_ns: u64) -> u64 {
        match self.is_on() {
            true => batch_ns.min(self.terms.limit_ns.saturating_sub(self.terms.between_ns) / 4),
            false => batch_ns,
        }
    }

    /// The group of a lane.
    #[inline]
    pub(in crate::ftl) fn group_of(&self, lane: LaneId) -> usize {
        (lane.0 / self.terms.lanes_per_group) as usize
    }

    /// The lanes of a group.
    pub(in crate::ftl) fn lanes_of(&self, group: usize) -> Range<u32> {
        let count = self.terms.lanes_per_group;
        group as u32 * count..(group as u32 + 1) * count
    }

    /// Groups.
    pub(in crate::ftl) fn groups(&self) -> usize {
        self.lists.len()
    }

    /// Whether anything is owed, or claimed.
    pub(crate) fn owes(&self) -> bool {
        self.owed_ns.iter().any(|&ns| ns > 0)
    }

    /// Whether time alone may leave a group none for anything but what it owes.
    pub(crate) fn may_be_pressed(&self) -> bool {
        self.owed_ns.iter().zip(&self.pressed).any(|(&ns, &is_pressed)| ns > 0 && !is_pressed)
    }

    /// A page is exposed, or something in it has died, or come to live there. It `lives` if something does.
    pub(in crate::ftl) fn update(
        &mut self,
        work: &mut Work,
        lane: LaneId,
        (page, lives): (Ppn, bool),
        now: SimTime,
    ) {
        if !self.is_on() {
            return;
        }
        let (group, owed) = (self.group_of(lane), if lives { Owed::Move } else { Owed::Lock });
        let before = core::mem::replace(&mut self.pages[page.index()].owed, owed);
        if before == Owed::Nothing {
            let found = &mut self.pages[page.index()];
            (found.group, found.since) = (group as u32, now.0);
            self.lists[group].put(&mut self.pages, page.0, false);
        }
        self.count(work, lane, before, owed);
    }

    /// A page owes nothing any more: it is locked or erased, or its lock has failed.
    pub(in crate::ftl) fn end(&mut self, work: &mut Work, lane: LaneId, page: Ppn) {
        if !self.is_on() {
            return;
        }
        let before = core::mem::take(&mut self.pages[page.index()].owed);
        if before != Owed::Nothing {
            let group = self.group_of(lane);
            self.lists[group].remove(&mut self.pages, page.0);
            self.count(work, lane, before, Owed::Nothing);
        }
    }

    fn count(&mut self, work: &mut Work, lane: LaneId, before: Owed, after: Owed) {
        let group = self.group_of(lane);
        let owed_ns = &mut self.owed_ns[group];
        *owed_ns = *owed_ns + self.terms.of(after) - self.terms.of(before);
        let owed = &mut work.lane_mut(lane).owed;
        *owed = *owed + u32::from(after == Owed::Move) - u32::from(before == Owed::Move);
    }

    /// Units of the host's, each in its slot, are about to be programmed: the copies that they are going to kill are
    /// claimed.
    #[cold]
    pub(in crate::ftl) fn claim_all(&mut self, tables: &Tables, work: &mut Work, units: &[UnitRef]) {
        for unit in units.iter().filter(|unit| unit.lpn != NONE) {
            let Some(lane) = tables.lane_of_kill(Lpn(unit.lpn)) else { continue };
            let group = self.group_of(lane);
            self.claims[unit.source as usize] = lane.0;
            self.owed_ns[group] += self.terms.move_ns;
            work.lane_mut(lane).owed += 1;
        }
    }

    /// The program of a slot has killed its copy, or will never.
    pub(in crate::ftl) fn unclaim(&mut self, work: &mut Work, slot: usize) {
        let lane = LaneId(core::mem::replace(&mut self.claims[slot], NONE));
        if lane.0 != NONE {
            let group = self.group_of(lane);
            self.owed_ns[group] -= self.terms.move_ns;
            work.lane_mut(lane).owed -= 1;
        }
    }

    /// The host's next program, or a trim, waits for locks from now on.
    pub(in crate::ftl) fn hold(&mut self, now: SimTime) {
        self.held_since.get_or_insert(now);
    }

    /// One goes on.
    #[inline]
    pub(in crate::ftl) fn let_go(&mut self, work: &mut Work, now: SimTime) {
        if let Some(since) = self.held_since.take() {
            work.counts.sanitize_held_ns += now.since(since);
        }
    }

    /// How much of the time of an operation is not owed anyhow: a read of a move stands for the program of what it
    /// reads, too, and what is coming of erases is known otherwise.
    fn time_of(&self, op: &Op) -> u64 {
        match op.kind {
            _ if op.cause == Cause::Sanitize => 0,
            OpKind::Read if op.cause.is_for_host() => 0,
            OpKind::Read => self.terms.page_ns - self.terms.lock_ns,
            OpKind::Program => self.terms.program_ns,
            OpKind::Copyback => self.terms.page_ns,
            _ => 0,
        }
    }

    /// An operation is issued that is no read for the host.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn begin_op(&mut self, layout: &Layout, op: &Op) {
        let group = self.group_of(layout.lane_of(layout.block_of_page(op.ppn).0));
        self.busy_ns[group] += self.time_of(op);
    }

    /// It is over.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_op(&mut self, layout: &Layout, op: &Op) {
        let group = self.group_of(layout.lane_of(layout.block_of_page(op.ppn).0));
        self.busy_ns[group] -= self.time_of(op);
    }

    /// Whether a page owes its lock.
    pub(in crate::ftl) fn is_owed(&self, page: Ppn) -> bool {
        self.pages[page.index()].owed != Owed::Nothing
    }

    /// Reads that wait at the dies of a group are looked at: so many at most wait at one of them, and so many of those
    /// are `of_owed` pages, which is only asked where it matters.
    pub(in crate::ftl) fn note_reads(
        &mut self,
        work: &Work,
        (group, waiting): (usize, u32),
        of_owed: impl FnOnce(&Bound) -> u32,
        now: SimTime,
    ) {
        let read_ns = self.terms.read_ns;
        let time_of = |reads: u32| u64::from(reads.saturating_sub(READS_BEFORE)) * read_ns;
        self.reads_ns[group] = 0;
        if self.owed_ns[group] == 0 || waiting <= READS_BEFORE {
            return;
        }
        let most = time_of(waiting);
        let is_far = self.slack(work, group, now) > (most + self.terms.limit_ns / 2) as i64;
        self.reads_ns[group] = if is_far { most } else { time_of(of_owed(self)) };
    }

    /// The same of copies that are killed at once, until their dies are looked at.
    pub(in crate::ftl) fn add_reads(&mut self, kills: &[Kill]) {
        for kill in kills {
            let group = self.group_of(kill.lane);
            self.reads_ns[group] += u64::from(kill.reads) * self.terms.read_ns;
        }
    }

    /// How much time a group has left for anything but what is owed there; ns, negative if none.
    pub(in crate::ftl) fn slack(&self, work: &Work, group: usize, now: SimTime) -> i64 {
        let oldest = self.lists[group].oldest();
        let since = self.pages.get(oldest as usize).map_or(now.0, |page| page.since);
        let coming: u32 = self.lanes_of(group).map(|lane| work.lanes[lane as usize].coming_free()).sum();
        let taken = self.terms.between_ns
            + self.owed_ns[group]
            + self.busy_ns[group]
            + self.reads_ns[group]
            + u64::from(coming) * self.terms.erase_ns;
        (since + self.terms.limit_ns) as i64 - now.0 as i64 - taken as i64
    }

    /// Whether a group has time for a program that kills so many copies in each of these lanes, of which this is one.
    pub(in crate::ftl) fn has_time(&self, work: &Work, kills: &[Kill], lane: LaneId, now: SimTime) -> bool {
        let group = self.group_of(lane);
        let here = kills.iter().filter(|kill| self.group_of(kill.lane) == group);
        let of = |kill: &Kill| {
            u64::from(kill.copies) * self.terms.move_ns + u64::from(kill.reads) * self.terms.read_ns
        };
        let ns = here.map(of).sum::<u64>() + self.terms.program_ns;
        self.slack(work, group, now) >= ns as i64
    }

    /// Whether locks of a lane's dies would be late if a page of a move were read there, and, if a job `begins`, its
    /// block erased.
    #[cold]
    #[inline(never)]
    pub(in crate::ftl) fn would_be_late(
        &self,
        work: &Work,
        lane: LaneId,
        now: SimTime,
        begins: bool,
    ) -> bool {
        let group = self.group_of(lane);
        let ns = self.terms.page_ns + if begins { self.terms.erase_ns } else { 0 };
        self.owed_ns[group] > 0 && self.slack(work, group, now) < ns as i64
    }

    /// Whether a group has time for nothing but what it owes, if that is not as it was.
    pub(in crate::ftl) fn press(&mut self, work: &Work, group: usize, now: SimTime) -> Option<bool> {
        let is_pressed = self.owed_ns[group] > 0 && self.slack(work, group, now) <= 0;
        let was_pressed = core::mem::replace(&mut self.pressed[group], is_pressed);
        (is_pressed != was_pressed).then_some(is_pressed)
    }

    /// Whether any group does nothing else.
    pub(in crate::ftl) fn presses(&self) -> bool {
        self.pressed.contains(&true)
    }

    /// Whether what moves in a lane waits for nothing to share its page with.
    #[inline(always)]
    pub(in crate::ftl) fn is_pressed(&self, lane: LaneId) -> bool {
        self.is_on() && self.pressed[self.group_of(lane)]
    }

    /// Takes what follows from the configuration from a fresh one; that claims and debts are those of what is exposed
    /// and under way is [`Bound::check`]'s to say.
    pub(in crate::ftl) fn restored(&mut self, fresh: Bound, now: SimTime) -> Verdict {
        ensure(self.held_since.is_none_or(|since| since <= now), "since when writes wait for locks")?;
        ensure(self.pages.iter().all(|page| page.since <= now.0), "since when a page owes a lock")?;
        alike("pages that owe locks", &self.pages, &fresh.pages)?;
        alike("dies that owe locks", &self.lists, &fresh.lists)?;
        alike("debts of dies", &self.owed_ns, &fresh.owed_ns)?;
        alike("work of dies", &self.busy_ns, &fresh.busy_ns)?;
        alike("reads before locks", &self.reads_ns, &fresh.reads_ns)?;
        alike("claims of programs", &self.claims, &fresh.claims)?;
        alike("dies that are pressed", &self.pressed, &fresh.pressed)?;
        self.terms = fresh.terms;
        Ok(())
    }

    /// Checks debts and claims against what is exposed and under way (slow): the operations of the drive's own and
    /// programs of the host with their lanes, and the slots that those carry.
    pub(in crate::ftl) fn check<'a>(
        &self,
        layout: &Layout,
        owed: impl Iterator<Item = u32>,
        (is_owed, lives): (impl Fn(Ppn) -> bool, impl Fn(Ppn) -> bool),
        under_way: impl Iterator<Item = (LaneId, &'a Op)>,
        is_programmed: impl Fn(usize) -> bool,
    ) -> Verdict {
        if !self.is_on() {
            return Ok(());
        }
        let (mut owed_ns, mut busy_ns) = (vec![0; self.groups()], vec![0; self.groups()]);
        let mut pages = vec![0; layout.lanes as usize];
        for (page, found) in (0..).map(Ppn).zip(&self.pages) {
            let is_owed = is_owed(page);
            let expected = match is_owed {
                false => Owed::Nothing,
                true if lives(page) => Owed::Move,
                true => Owed::Lock,
            };
            ensure(found.owed == expected, "what a page owes")?;
            let lane = layout.lane_of(layout.block_of_page(page).0);
            ensure(
                !is_owed || found.group as usize == self.group_of(lane),
                "the dies of a page that owes a lock",
            )?;
            owed_ns[self.group_of(lane)] += self.terms.of(found.owed);
            pages[lane.index()] += u32::from(found.owed == Owed::Move);
        }
        for (slot, &lane) in self.claims.iter().enumerate().filter(|(_, lane)| **lane != NONE) {
            ensure(lane < layout.lanes && is_programmed(slot), "a claim of no program")?;
            owed_ns[self.group_of(LaneId(lane))] += self.terms.move_ns;
            pages[lane as usize] += 1;
        }
        for (lane, op) in under_way {
            busy_ns[self.group_of(lane)] += self.time_of(op);
        }
        ensure(owed_ns == self.owed_ns, "debts of locks")?;
        ensure(busy_ns == self.busy_ns, "work beside locks")?;
        ensure(owed.eq(pages), "pages owed in a lane")?;
        for (group, list) in self.lists.iter().enumerate() {
            let is_own = |page: &Page| page.owed != Owed::Nothing && page.group as usize == group;
            list.check("a list of pages that owe locks", &self.pages, is_own)?;
        }
        Ok(())
    }
}
