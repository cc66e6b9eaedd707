//! The engine: takes events in order, carries operations from the firmware to the chips and results back.
//!
//! Two executors run the same firmware. *Timed*: operations queue at dies and channels and take their time.
//! *Functional*: every operation is applied at once and no time passes, for preconditioning, ageing and counting.

use crate::drive::silence::Silence;
use crate::drive::stats::Stats;
use crate::events::{EventKind, EventQueue};
use crate::executor::Executor;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind};
use crate::ftl::write::waits::Lack;
use crate::ftl::{Ftl, Media};
use crate::host::{Below, Host};
use crate::nand::Outcome;
use crate::restore::{MOST, Verdict, ensure};
use crate::signals::{Command, Status};
use crate::timers::Timer;
use crate::units::{CommandId, Lba, OpId, SimTime};
use serde::{Deserialize, Serialize};

/// Everything of a drive that a snapshot holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub host: Host,
    pub ftl: Ftl,
    pub flash: Flash,
    pub events: EventQueue,
    pub now: SimTime,
    pub executor: Executor,
    pub silence: Silence,
    pub counted_since: SimTime,
}

impl State {
    /// Takes what follows from the configuration from a fresh drive, and checks that the rest can have happened to it.
    pub(crate) fn restored(&mut self, fresh: State) -> Verdict {
        ensure(self.now.0 < MOST, "the drive's time")?;
        ensure(self.counted_since <= self.now && self.flash.now <= self.now, "the drive's time")?;
        let due = self.events.restored(fresh.events, self.now)?;
        self.silence.restored(self.now)?;
        let layout = fresh.ftl.moves.media.tables.layout.clone();
        self.flash.restored(fresh.flash, &|op| layout.check_op(op))?;
        self.flash.check_due(&due)?;
        self.flash.set_instant(self.executor == Executor::Functional);
        self.ftl.restored(fresh.ftl, &self.flash)?;
        self.host.restored(fresh.host, &self.flash, &due, self.now)?;
        self.check()
    }

    /// The parts of the drive, for a layer to work with.
    #[inline]
    pub(crate) fn split(&mut self) -> (&mut Host, Below<'_>) {
        let State { host, ftl, flash, events, now, executor, .. } = self;
        let timed = *executor == Executor::Timed;
        (host, Below { now: *now, timed, ftl, flash, events })
    }

    #[inline]
    pub(crate) fn set_now(&mut self, now: SimTime) {
        if self.flash.is_told {
            self.tell_lack(now);
        }
        self.now = now;
        self.flash.now = now;
        self.ftl.moves.media.locks.clocks.set_now(now);
        if self.flash.chip.advance_clock(now) {
            self.ftl.on_tick(&self.flash.chip);
        }
    }

    /// Begins what the time that has passed has made due.
    pub(crate) fn settle_new(&mut self) {
        if self.ftl.is_behind() {
            self.settle();
        }
    }

    pub(crate) fn apply_executor(&mut self, executor: Executor) {
        self.executor = executor;
        self.flash.set_instant(executor == Executor::Functional);
        if executor == Executor::Functional && self.ftl.moves.media.work.erases_lazily() {
            self.ftl.moves.media.erase_all_stale(&mut self.flash);
        }
    }

    /// Puts a command in a submission queue that has room, at a time that does not lie before the drive's.
    #[inline]
    pub(crate) fn submit(&mut self, queue: usize, command: &Command, now: SimTime) {
        self.run_until_before(now);
        self.set_now(now);
        self.silence.end(&mut self.ftl, &mut self.flash);
        let (host, mut below) = self.split();
        host.submit(queue, command, &mut below);
        self.settle_event();
    }

    /// Lets everything happen that is under way, however long it takes.
    pub(crate) fn drain(&mut self) {
        while self.step() {}
    }

    /// Does in no time what techniques have to do, if they have.
    pub(crate) fn catch_up(&mut self) {
        if !self.ftl.is_behind() {
            return;
        }
        let executor = self.executor;
        self.drain();
        self.apply_executor(Executor::Functional);
        self.settle();
        self.apply_executor(executor);
    }

    /// A timer rings: whose it is looks again.
    #[cold]
    #[inline(never)]
    fn on_timer(&mut self, id: u32) {
        match self.events.ring(id) {
            Timer::Gather => {
                let (host, mut below) = self.split();
                host.on_gather_timeout(&mut below);
            }
            timer @ (Timer::Cleaning | Timer::Reclaim | Timer::Destage) => self.on_idle_check(timer),
            Timer::Exposure => {
                // Who waits for a page is asked again: time has passed.
                self.ftl.moves.media.waits.come(Lack::Page);
            }
            Timer::Locks => {
                let Media { locks, tables, work, .. } = &mut self.ftl.moves.media;
                locks.on_locks_due(tables, work);
            }
        }
    }

    fn on_idle_check(&mut self, timer: Timer) {
        let is_silent = self.host.working() == 0;
        let State { ftl, flash, events, silence, now, .. } = self;
        silence.on_check(timer, is_silent, (*now, events), ftl, flash);
    }

    #[inline(never)]
    fn fall_silent(&mut self) {
        let timed = self.executor == Executor::Timed;
        self.silence.begin(timed, (self.now, &mut self.events), &self.ftl);
    }

    /// Time passes: whether the host lacks a page is as it was until then.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_lack(&mut self, now: SimTime) {
        if let Some(holders) = &mut self.flash.holders {
            holders.programs.lack.tell(self.ftl.moves.media.waits.is_wanted(Lack::Page), now);
        }
    }

    /// An event of the flash, where somebody listens.
    #[cold]
    #[inline(never)]
    fn on_event_told(&mut self, kind: EventKind, id: u32) {
        let (flash, now, events) = (&mut self.flash, self.now, &mut self.events);
        if let Some(mut holders) = flash.holders.take() {
            holders.on_event(flash, (kind, id), now, events);
            flash.holders = Some(holders);
        } else {
            flash.on_event(kind, id, now, events);
        }
        self.ftl.moves.media.effects.tell_steps(&self.ftl.moves.media.tables.layout, flash);
    }

    /// What was issued goes to the flash, where somebody listens.
    #[cold]
    #[inline(never)]
    fn give_told(&mut self) {
        let (flash, ids, now, events) =
            (&mut self.flash, &self.ftl.moves.media.outbox, self.now, &mut self.events);
        if let Some(mut holders) = flash.holders.take() {
            holders.give(flash, ids, now, events);
            flash.holders = Some(holders);
        } else {
            flash.give(ids, now, events);
        }
        self.ftl.moves.media.effects.tell_steps(&self.ftl.moves.media.tables.layout, flash);
    }

    /// Everything due strictly before `end` happens.
    #[inline]
    pub(crate) fn run_until_before(&mut self, end: SimTime) {
        // Nothing is due before the drive's time.
        while end > self.now && self.events.next_at().is_some_and(|at| at < end) {
            self.step();
        }
    }

    /// The next event happens; false if there is none.
    pub(crate) fn step(&mut self) -> bool {
        self.step_here()
    }

    /// [`State::step`], inlined for who takes many.
    #[inline(always)]
    pub(crate) fn step_here(&mut self) -> bool {
        let Some((at, kind, id)) = self.events.pop() else { return false };
        debug_assert!(at >= self.now);
        self.set_now(at);
        let is_news =
            if self.flash.is_told { self.happen_told(kind, id) } else { self.happen::<false>(kind, id) };
        if is_news {
            self.settle_event();
            if kind == EventKind::Complete && self.host.working() == 0 {
                self.fall_silent();
            }
        }
        if cfg!(feature = "verify")
            && let Err(what) = self.check()
        {
            panic!("after {kind:?} {id} at {} ns: {what}", at.0);
        }
        true
    }

    /// [`State::happen`], where somebody listens to the flash.
    #[cold]
    #[inline(never)]
    fn happen_told(&mut self, kind: EventKind, id: u32) -> bool {
        self.happen::<true>(kind, id)
    }

    /// An event happens; whether somebody has to hear of it.
    #[inline(always)]
    fn happen<const TOLD: bool>(&mut self, kind: EventKind, id: u32) -> bool {
        let command = CommandId(id);
        match kind {
            EventKind::Timer => self.on_timer(id),
            EventKind::Arrive | EventKind::Fetched | EventKind::DataIn | EventKind::Complete => {
                let (host, mut below) = self.split();
                match kind {
                    EventKind::Arrive => host.on_arrive(command, &mut below),
                    EventKind::Fetched => host.on_fetched(command, &mut below),
                    EventKind::DataIn => host.on_data_in(command, &mut below),
                    _ => host.on_complete(command, &mut below),
                }
            }
            _ => {
                if TOLD {
                    self.on_event_told(kind, id);
                } else {
                    self.flash.on_event(kind, id, self.now, &mut self.events);
                }
                // Of an operation that has gone on and is not over nobody has to hear.
                return !self.flash.done.is_empty();
            }
        }
        true
    }

    /// Lets time pass to the next completion, for at most as many events as `left` says, from which what happened is
    /// taken. False with some left: there is nothing to wait for.
    #[inline]
    pub(crate) fn advance_to_completion_within(&mut self, left: &mut u32) -> bool {
        while !self.host.has_completion() {
            if *left == 0 || !self.step_here() {
                return false;
            }
            *left -= 1;
        }
        true
    }

    /// Carries operations and results between the layers until nothing is left to carry.
    pub(crate) fn settle(&mut self) {
        self.settle_all(false);
    }

    /// Settles after something that leaves one operation to carry, or nothing, as most events do. What it does itself
    /// is what [`State::settle_all`] would do first.
    #[inline(always)]
    pub(crate) fn settle_event(&mut self) {
        let mut something_done = false;
        match (&self.ftl.moves.media.outbox[..], &self.flash.done[..]) {
            (&[id], _) if self.executor == Executor::Timed => {
                if self.flash.is_told {
                    self.give_told();
                } else {
                    self.flash.give_alone(id, self.now, &mut self.events);
                }
                self.ftl.moves.media.outbox.clear();
            }
            (&[], &[id]) if Self::is_plain(self.flash.pool.get(id)) => {
                self.on_read(id);
                self.flash.done.clear();
                something_done = true;
            }
            _ => {}
        }
        let State { ftl, flash, .. } = self;
        let is_quiet = ftl.moves.media.outbox.is_empty()
            && flash.done.is_empty()
            && !ftl.moves.media.work.has_new_candidates()
            && ftl.moves.media.waits.is_quiet(Lack::Page, something_done);
        if !is_quiet {
            self.settle_all(something_done);
        }
    }

    fn settle_all(&mut self, something_done: bool) {
        match self.ftl.moves.media.locks.are_on() {
            true => self.settle_locked(something_done),
            false => self.settle_kind::<false>(something_done),
        }
    }

    /// Settles a drive that locks what has died.
    #[inline(never)]
    fn settle_locked(&mut self, something_done: bool) {
        self.settle_kind::<true>(something_done);
    }

    #[inline(always)]
    fn settle_kind<const LOCKS: bool>(&mut self, mut something_done: bool) {
        loop {
            something_done |= self.carry::<LOCKS>();
            // Try again only if something changed: an operation is done, or another program was refused.
            let waits = &mut self.ftl.moves.media.waits;
            let tries_again = waits.take_refusal(Lack::Page) || something_done;
            if !(waits.is_wanted(Lack::Page) && tries_again || waits.has_come(Lack::Page))
                || !self.make_room()
            {
                return;
            }
            something_done = false;
        }
    }

    /// Carries until nothing is left, where nobody waits for room.
    pub(crate) fn carry_all(&mut self) {
        match self.ftl.moves.media.locks.are_on() {
            true => self.carry::<true>(),
            false => self.carry::<false>(),
        };
    }

    /// Carries until nothing is left; returns whether an operation was done that may have made room.
    #[inline(always)]
    fn carry<const LOCKS: bool>(&mut self) -> bool {
        let mut something_done = false;
        loop {
            self.empty_outbox();
            if self.flash.done.is_empty() {
                if self.ftl.moves.media.work.has_new_candidates() {
                    // Only now: what was issued before is read from where it then was.
                    self.ftl.look_at_candidates(&mut self.flash);
                    continue;
                }
                if LOCKS
                    && (self.ftl.moves.media.waits.is_watched()
                        || !self.events.is_set(Timer::Locks)
                            && self.ftl.moves.media.locks.lists.has_deferred())
                    && self.tend_locks()
                {
                    continue;
                }
                if LOCKS && self.ftl.moves.media.locks.bound.is_on() && self.tend_bound() {
                    continue;
                }
                return something_done;
            }
            let mut programs = false;
            let mut next = 0;
            while let Some(&id) = self.flash.done.get(next) {
                next += 1;
                // A lock makes no room.
                something_done |= !LOCKS
                    || !self.flash.pool.get(id).kind.hides()
                    || self.ftl.moves.media.locks.bound.is_on();
                programs |= self.on_done(id);
            }
            self.flash.done.clear();
            // Who waits for room is told that nothing will come.
            if LOCKS && !something_done {
                something_done = self.flash.pool.in_flight() == 0;
            }
            if programs {
                let (host, mut below) = self.split();
                host.after_programs(&mut below);
            }
        }
    }

    /// Gives what the translation layer has issued to the flash.
    #[inline(always)]
    fn empty_outbox(&mut self) {
        if self.ftl.moves.media.outbox.is_empty() {
            return;
        }
        if self.executor == Executor::Timed {
            if self.flash.is_told {
                self.give_told();
            } else {
                self.flash.give(&self.ftl.moves.media.outbox, self.now, &mut self.events);
            }
            self.ftl.moves.media.outbox.clear();
        } else {
            self.ftl.moves.media.apply_outbox(&mut self.flash);
        }
    }

    /// Whether an operation was a read for the host that went as it should.
    #[inline(always)]
    fn is_plain(op: &Op) -> bool {
        op.kind == OpKind::Read && op.cause == Cause::Host && op.outcome == Outcome::Pass && op.attempts <= 1
    }

    #[inline(always)]
    fn on_read(&mut self, id: OpId) {
        let (host, mut below) = self.split();
        host.on_read(id, &mut below);
    }

    /// Tells the layer that issued an operation; returns whether it was a program of host data. Reads for the host and
    /// for merges are the host's; of the rest the translation layer tells programs of host data from its own operations
    /// (`Ftl::on_done`, then `Moves::on_own_done`), and the host is told which slots are in flash.
    fn on_done(&mut self, id: OpId) -> bool {
        let op = self.flash.pool.get(id);
        let &Op { kind, cause, tag, .. } = op;
        if kind == OpKind::Read {
            self.ftl.moves.media.after_read(&self.flash, op);
            match cause {
                Cause::Host => {
                    self.on_read(id);
                    return false;
                }
                Cause::Merge | Cause::ReadAhead => {
                    let (host, mut below) = self.split();
                    host.on_own_read(cause, id, tag, &mut below);
                    return false;
                }
                _ => {}
            }
        }
        let State { flash, now, ftl, .. } = self;
        if let Some(holders) = &mut flash.holders {
            // Its place in the pool may be another's after that.
            holders.note_ended(&flash.pool, id, *now);
        }
        let Media { parts, tables, locks, .. } = &mut ftl.moves.media;
        if locks.bound.is_on() {
            locks.bound.end_op(&tables.layout, flash.pool.get(id));
        }
        if parts.are_used() && !parts.end(&tables.layout, flash, id) {
            return false;
        }
        ftl.on_done(flash, id);
        if !cause.is_for_host() {
            return false;
        }
        self.host.on_program_done();
        let mut next = 0;
        while let Some(&done) = self.ftl.programmed.get(next) {
            next += 1;
            let (host, mut below) = self.split();
            host.on_programmed(&done, &mut below);
        }
        self.ftl.programmed.clear();
        true
    }

    /// Data waits for room, or room was made: programs go on, or more is cleaned, or the drive ends in read-only.
    /// Returns whether anything was started.
    fn make_room(&mut self) -> bool {
        if self.ftl.moves.media.waits.take_come(Lack::Page) || self.flash.pool.in_flight() == 0 {
            self.ftl.unpark();
        }
        let (host, mut below) = self.split();
        host.flush_some(&mut below);
        let refused = self.ftl.moves.media.waits.take_refusal(Lack::Page);
        if self.ftl.moves.media.locks.bound.is_on() {
            // Lanes that have no room for what locks will move are cleaned.
            self.ftl.look_at_candidates(&mut self.flash);
        }
        if !self.ftl.moves.media.outbox.is_empty() {
            return true;
        }
        if !self.ftl.moves.media.waits.is_wanted(Lack::Page) {
            return false;
        }
        let given_up = self.ftl.retry(&mut self.flash);
        let may_come =
            || given_up || self.ftl.moves.media.locks.are_on() || self.ftl.moves.media.work.erases_lazily();
        if !self.ftl.moves.media.outbox.is_empty()
            || self.ftl.moves.media.waits.has_come(Lack::Page) && may_come()
        {
            return true;
        }
        if self.flash.pool.in_flight() > 0 {
            // Where no time passes, moves that were tried again may have had an erase done on the way.
            return !self.flash.done.is_empty();
        }
        if self.ftl.moves.media.locks.bound.is_on() && self.ftl.retry_locks(&mut self.flash) {
            return true;
        }
        if !refused {
            // Who was once refused a page was trimmed meanwhile, or waits for others to share it with.
            self.ftl.moves.media.waits.grant(Lack::Page, false);
        } else if self.host.waits_for_room() {
            if self.ftl.erase_dead(&mut self.flash) {
                return true;
            }
            let reason = self.ftl.moves.media.tables.blocks.why_no_room();
            let (host, mut below) = self.split();
            host.end_in_read_only(reason, &mut below);
            // What was answered so may wait for locks now, and nothing else would have those looked at.
            return self.host.waits_for_locks();
        }
        false
    }

    /// Reads sectors of one page as a command would, in no time and without the command: several times faster. `None`
    /// if it takes a command: where time passes, while others are under way, for what is not on one page of flash, and
    /// where effects are recorded or reads are kept. Counts and hashes are those of the command.
    #[inline]
    pub(crate) fn read_at_once(&mut self, lba: Lba, sectors: u32) -> Option<Status> {
        if self.events.next_at().is_some() || self.silence.is_felt() {
            return None;
        }
        let (host, mut below) = self.split();
        let status = host.read_at_once(lba, sectors, &mut below)?;
        let ftl = &self.ftl;
        let media = &ftl.moves.media;
        if media.work.has_new_candidates() || media.waits.has_come(Lack::Page) || !media.outbox.is_empty() {
            self.settle();
        }
        self.fall_silent();
        Some(status)
    }

    /// Writes everything dirty in the buffer to flash and empties the buffer.
    pub(crate) fn flush_buffer(&mut self) {
        let (host, mut below) = self.split();
        host.hurry(true, &mut below);
        self.settle();
        while self.host.unclean() > 0 && self.host.read_only().is_none() && self.step() {}
        let (host, mut below) = self.split();
        host.hurry(false, &mut below);
        host.drop_clean(&mut below);
        self.settle();
    }

    pub(crate) fn counted(&self) -> Stats {
        let State { host, ftl, flash, now, counted_since, .. } = self;
        let media = &ftl.moves.media;
        Stats {
            since: *counted_since,
            until: *now,
            host: *host.counts(),
            ftl: media.work.counts.clone(),
            techniques: media.techniques.counts.clone(),
            flash: flash.counts_until(*now),
            unit_bytes: media.tables.layout.unit_bytes,
            units_per_page: media.tables.layout.units_per_read,
            page_bytes: media.tables.layout.part_bytes(),
            cells_age: flash.chip.ages(),
        }
    }

    /// Sets all counters back to zero.
    pub(crate) fn reset_counts(&mut self) {
        self.host.reset_counts();
        self.ftl.moves.media.work.counts = Default::default();
        self.ftl.moves.media.techniques.counts = Default::default();
        self.flash.reset_counts(self.now);
        self.counted_since = self.now;
    }

    /// Checks that all tables agree (slow); the error names the first place where they do not.
    pub(crate) fn check(&self) -> Result<(), String> {
        let State { host, ftl, flash, events, .. } = self;
        ftl.check(flash)?;
        host.check(&ftl.gather)?;
        self.counted().check()?;
        flash.broken_bound().map_or(Ok(()), |broken| Err(broken.to_string()))?;
        let left = flash.pool.in_flight() + host.working();
        if events.is_empty() && left > 0 {
            return Err(format!("no events are left, but {left} operations and commands are in flight"));
        }
        Ok(())
    }
}
