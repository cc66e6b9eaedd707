//! The engine: takes events in order, carries operations from the firmware to the chips and results back.
//!
//! Two executors run the same firmware. *Timed*: operations queue at dies and channels and take their time.
//! *Functional*: every operation is applied at once and no time passes, for preconditioning, ageing and counting.

use crate::drive::{Drive, State};
use crate::events::EventKind;
use crate::executor::{Executor, Pace};
use crate::flash::op::{Cause, Op, OpKind};
use crate::ftl::IdleWork;
use crate::ftl::write::waits::Lack;
use crate::nand::Outcome;
use crate::signals::{Reason, Status};
use crate::units::{CommandId, Lba, OpId, SimTime};

/// A write below the buffer that could not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Units written before room ran out.
    pub written: u64,
}

impl State {
    /// Time passes: whether the host lacks a page is as it was until then.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_lack(&mut self, now: SimTime) {
        if let Some(holders) = &mut self.flash.holders {
            holders.programs.lack.tell(self.ftl.waits.is_wanted(Lack::Page), now);
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
        self.ftl.tell_steps(flash);
    }

    /// What was issued goes to the flash, likewise.
    #[cold]
    #[inline(never)]
    fn give_told(&mut self) {
        let (flash, ids, now, events) = (&mut self.flash, &self.ftl.outbox, self.now, &mut self.events);
        if let Some(mut holders) = flash.holders.take() {
            holders.give(flash, ids, now, events);
            flash.holders = Some(holders);
        } else {
            flash.give(ids, now, events);
        }
        self.ftl.tell_steps(flash);
    }
}

impl Drive {
    /// Everything due strictly before `end` happens.
    #[inline]
    pub(crate) fn run_until_before(&mut self, end: SimTime) {
        // Nothing is due before the drive's time.
        while end > self.state.now && self.state.events.next_at().is_some_and(|at| at < end) {
            self.step();
        }
    }

    /// The next event happens; false if there is none.
    pub(crate) fn step(&mut self) -> bool {
        self.step_here()
    }

    /// The same for who takes many steps.
    #[inline(always)]
    pub(crate) fn step_here(&mut self) -> bool {
        let Some((at, kind, id)) = self.state.events.pop() else { return false };
        debug_assert!(at >= self.state.now);
        self.set_now(at);
        let mut is_news = true;
        match kind {
            EventKind::ArrayDone
            | EventKind::InDone
            | EventKind::OutDone
            | EventKind::ChannelFree
            | EventKind::Decoded => {
                let state = &mut self.state;
                if state.flash.is_told {
                    state.on_event_told(kind, id);
                } else {
                    state.flash.on_event(kind, id, at, &mut state.events);
                }
                // Of an operation that has gone on and is not over nobody has to hear.
                is_news = !state.flash.done.is_empty();
            }
            EventKind::IdleCheck => self.on_idle_check(IdleWork::ALL[id as usize]),
            EventKind::LocksDue => self.state.ftl.on_locks_due(),
            _ => {
                let (host, mut below) = self.split();
                let command = CommandId(id);
                match kind {
                    EventKind::Arrive => host.on_arrive(command, &mut below),
                    EventKind::Fetched => host.on_fetched(command, &mut below),
                    EventKind::DataIn => host.on_data_in(command, &mut below),
                    EventKind::Complete => host.on_complete(command, &mut below),
                    _ => host.on_gather_timeout(&mut below),
                }
            }
        }
        if is_news {
            self.settle_event();
            if kind == EventKind::Complete && self.state.host.working() == 0 {
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

    /// Lets time pass to the next completion, for at most as many events as `left` says, from which what happened is
    /// taken. False with some left: there is nothing to wait for.
    #[inline]
    pub fn advance_to_completion_within(&mut self, left: &mut u32) -> bool {
        while !self.state.host.has_completion() {
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

    /// The same after something that leaves one operation to carry, or nothing, as most events do. What it does itself
    /// is what [`Drive::settle_all`] would do first.
    #[inline(always)]
    pub(crate) fn settle_event(&mut self) {
        let state = &mut self.state;
        let mut something_done = false;
        match (&state.ftl.outbox[..], &state.flash.done[..]) {
            (&[id], _) if state.executor == Executor::Timed => {
                if state.flash.is_told {
                    state.give_told();
                } else {
                    state.flash.give_alone(id, state.now, &mut state.events);
                }
                state.ftl.outbox.clear();
            }
            (&[], &[id]) if Self::is_plain(state.flash.pool.get(id)) => {
                self.on_read(id);
                self.state.flash.done.clear();
                something_done = true;
            }
            _ => {}
        }
        let State { ftl, flash, .. } = &self.state;
        let is_quiet = ftl.outbox.is_empty()
            && flash.done.is_empty()
            && !ftl.has_new_candidates()
            && ftl.waits.is_quiet(Lack::Page, something_done);
        if !is_quiet {
            self.settle_all(something_done);
        }
    }

    fn settle_all(&mut self, something_done: bool) {
        match self.state.ftl.locks_data() {
            true => self.settle_locked(something_done),
            false => self.settle_kind::<false>(something_done),
        }
    }

    /// The same of a drive that locks what has died.
    #[inline(never)]
    fn settle_locked(&mut self, something_done: bool) {
        self.settle_kind::<true>(something_done);
    }

    #[inline(always)]
    fn settle_kind<const LOCKS: bool>(&mut self, mut something_done: bool) {
        loop {
            something_done |= self.carry::<LOCKS>();
            // Try again only if something changed: an operation is done, or another program was refused.
            let waits = &mut self.state.ftl.waits;
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
    fn carry_all(&mut self) {
        match self.state.ftl.locks_data() {
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
            if self.state.flash.done.is_empty() {
                let state = &mut self.state;
                if state.ftl.has_new_candidates() {
                    // Only now: what was issued before is read from where it then was.
                    state.ftl.look_at_candidates(&mut state.flash);
                    continue;
                }
                let state = &self.state;
                if LOCKS
                    && (state.ftl.waits.is_watched() || state.ftl.locks.lack_timer())
                    && self.tend_locks()
                {
                    continue;
                }
                return something_done;
            }
            let mut programs = false;
            let mut next = 0;
            while let Some(&id) = self.state.flash.done.get(next) {
                next += 1;
                // A lock makes no room.
                something_done |= !LOCKS || !self.state.flash.pool.get(id).kind.hides();
                programs |= self.on_done(id);
            }
            self.state.flash.done.clear();
            // Who waits for room is told that nothing will come.
            if LOCKS && !something_done {
                something_done = self.state.flash.pool.in_flight() == 0;
            }
            if programs {
                let (host, mut below) = self.split();
                host.after_programs(&mut below);
            }
        }
    }

    /// Nothing is left to carry: commands whose locks are there are answered, and the next look at locks that wait is
    /// scheduled. Returns whether there is something to carry again.
    #[cold]
    #[inline(never)]
    fn tend_locks(&mut self) -> bool {
        let (host, mut below) = self.split();
        if host.waits_for_locks() {
            host.after_locks(false, &mut below);
        }
        let state = &mut self.state;
        if state.ftl.renews_locks() {
            state.ftl.renew_locks(state.now);
        }
        if let Some(at) = state.ftl.locks.next_at()
            && state.executor == Executor::Timed
        {
            state.ftl.locks.timer = true;
            state.events.push(at.max(state.now), EventKind::LocksDue, 0);
        }
        if state.ftl.has_new_candidates() || !state.ftl.outbox.is_empty() {
            return true;
        }
        if !state.host.waits_for_locks() {
            return false;
        }
        if state.ftl.hurry_leaving(&mut state.flash) {
            return true;
        }
        if state.flash.pool.in_flight() > 0 {
            return false;
        }
        // What is to be locked finds no room to make the page free of what lives there.
        if state.ftl.retry_locks(&mut state.flash) {
            return true;
        }
        let given_up = state.ftl.locks.has_given_up(&state.ftl.tables.layout, &state.ftl.tables.blocks);
        let reason = if given_up { Reason::NotSanitized } else { state.ftl.tables.blocks.why_no_room() };
        let (host, mut below) = self.split();
        host.end_in_read_only(reason, &mut below);
        host.after_locks(true, &mut below);
        false
    }

    /// Gives what the translation layer has issued to the flash.
    #[inline(always)]
    fn empty_outbox(&mut self) {
        let state = &mut self.state;
        if state.ftl.outbox.is_empty() {
            return;
        }
        if state.executor == Executor::Timed {
            if state.flash.is_told {
                state.give_told();
            } else {
                state.flash.give(&state.ftl.outbox, state.now, &mut state.events);
            }
            state.ftl.outbox.clear();
        } else {
            state.ftl.apply_outbox(&mut state.flash);
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

    /// Tells the layer that issued an operation; returns whether it was a program of host data.
    fn on_done(&mut self, id: OpId) -> bool {
        let state = &mut self.state;
        let op = state.flash.pool.get(id);
        let &Op { kind, cause, tag, .. } = op;
        if kind == OpKind::Read {
            state.ftl.after_read(&state.flash, op);
            match cause {
                Cause::Host => {
                    self.on_read(id);
                    return false;
                }
                Cause::Merge => {
                    let (host, mut below) = self.split();
                    host.on_merged(id, tag, &mut below);
                    return false;
                }
                _ => {}
            }
        }
        let State { flash, now, ftl, .. } = &mut self.state;
        if let Some(holders) = &mut flash.holders {
            // Its place in the pool may be another's after that.
            holders.note_ended(&flash.pool, id, *now);
        }
        ftl.on_done(flash, id);
        if !cause.is_for_host() {
            return false;
        }
        self.state.host.on_program_done();
        let mut next = 0;
        while let Some(&done) = self.state.ftl.programmed.get(next) {
            next += 1;
            let (host, mut below) = self.split();
            host.on_programmed(&done, &mut below);
        }
        self.state.ftl.programmed.clear();
        true
    }

    /// Data waits for room, or room was made: programs go on, or more is cleaned, or the drive ends in read-only.
    /// Returns whether anything was started.
    fn make_room(&mut self) -> bool {
        if self.state.ftl.waits.take_come(Lack::Page) || self.state.flash.pool.in_flight() == 0 {
            self.state.ftl.unpark();
        }
        let (host, mut below) = self.split();
        host.flush_some(&mut below);
        let state = &mut self.state;
        let refused = state.ftl.waits.take_refusal(Lack::Page);
        if !state.ftl.outbox.is_empty() {
            return true;
        }
        if !state.ftl.waits.is_wanted(Lack::Page) {
            return false;
        }
        state.ftl.retry(&mut state.flash);
        let may_come = || state.ftl.locks_data() || state.ftl.erases_lazily();
        if !state.ftl.outbox.is_empty() || state.ftl.waits.has_come(Lack::Page) && may_come() {
            return true;
        }
        if state.flash.pool.in_flight() > 0 {
            // Where no time passes, moves that were tried again may have had an erase done on the way.
            return !state.flash.done.is_empty();
        }
        if !refused {
            // Who was once refused a page was trimmed meanwhile, or waits for others to share it with.
            state.ftl.waits.grant(Lack::Page, false);
        } else if state.host.waits_for_room() {
            let reason = state.ftl.tables.blocks.why_no_room();
            let (host, mut below) = self.split();
            host.end_in_read_only(reason, &mut below);
            // What was answered so may wait for locks now, and nothing else would have those looked at.
            return self.state.host.waits_for_locks();
        }
        false
    }

    fn on_idle_check(&mut self, work: IdleWork) {
        let state = &mut self.state;
        state.idle_check[work as usize] = false;
        let Some(ns) = state.ftl.idle_after_ns(work) else { return };
        let due = SimTime(state.silent_since.0 + ns);
        if state.host.working() > 0 {
            return;
        }
        if due > state.now {
            state.idle_check[work as usize] = true;
            state.events.push(due, EventKind::IdleCheck, work as u32);
            return;
        }
        state.idle[work as usize] = true;
        state.ftl.set_idle(&mut state.flash, work, true);
    }

    /// Reads sectors of one page as a command would, in no time and without the command: several times faster. `None`
    /// if it takes a command: where time passes, while others are under way, for what is not on one page of flash, and
    /// where effects are recorded or reads are kept. Counts and hashes are those of the command.
    #[inline]
    pub fn read_at_once(&mut self, lba: Lba, sectors: u32) -> Option<Status> {
        let state = &mut self.state;
        if state.events.next_at().is_some() || state.idle != [false; IdleWork::ALL.len()] {
            return None;
        }
        let (host, mut below) = self.split();
        let status = host.read_at_once(lba, sectors, &mut below)?;
        let ftl = &self.state.ftl;
        if ftl.has_new_candidates() || ftl.waits.has_come(Lack::Page) || !ftl.outbox.is_empty() {
            self.settle();
        }
        self.fall_silent();
        Some(status)
    }

    /// Writes everything dirty in the buffer to flash and empties the buffer.
    pub fn flush_buffer(&mut self) {
        let (host, mut below) = self.split();
        host.hurry(true, &mut below);
        self.settle();
        while self.state.host.unclean() > 0 && self.state.host.read_only().is_none() && self.step() {}
        let (host, mut below) = self.split();
        host.hurry(false, &mut below);
        host.drop_clean(&mut below);
        self.settle();
    }

    /// Writes whole mapping units below the buffer, in no time: the quick way to a used drive. Units are packed in
    /// pages in the order given; cleaning runs as it must. What is under way is finished first.
    pub fn overwrite(&mut self, units: &[u32]) -> Result<(), NoRoom> {
        self.overwrite_at(Pace::Relaxed, units)
    }

    /// The same for a host that writes at this pace.
    pub fn overwrite_at(&mut self, pace: Pace, units: &[u32]) -> Result<(), NoRoom> {
        self.write_below(pace, false, units)
    }

    /// The same for units that count as moved by cleaning, not as written by the host: blocks grow no older by them.
    pub fn place(&mut self, pace: Pace, units: &[u32]) -> Result<(), NoRoom> {
        self.write_below(pace, true, units)
    }

    fn write_below(&mut self, pace: Pace, moved: bool, units: &[u32]) -> Result<(), NoRoom> {
        if self.state.host.outstanding() > 0
            || self.state.host.unclean() > 0
            || self.state.flash.pool.in_flight() > 0
        {
            self.drain();
            self.flush_buffer();
            self.drain();
        }
        if self.state.host.read_only().is_some() {
            return Err(NoRoom { written: 0 });
        }
        // What the buffer still holds would hide what is written below it.
        let (host, mut below) = self.split();
        host.drop_clean(&mut below);
        let executor = self.state.executor;
        self.apply_executor(Executor::Functional);
        self.state.ftl.set_pace(pace);
        let mut written = 0;
        let mut stuck = false;
        while (written < units.len() || !self.state.ftl.direct.is_idle()) && !stuck {
            let state = &mut self.state;
            let result = state.ftl.write_directly(&mut state.flash, &units[written..], moved);
            written += result.unwrap_or_else(|count| count);
            if pace == Pace::Saturated && result.is_err() {
                state.ftl.check_lanes(&mut state.flash);
            }
            let cleaning = !state.ftl.outbox.is_empty();
            self.carry_all();
            if result == Err(0) && !cleaning {
                let state = &mut self.state;
                // A block that was kept for what must leave pages may be the host's now.
                state.ftl.waits.take_come(Lack::Page);
                state.ftl.retry(&mut state.flash);
                stuck = state.ftl.outbox.is_empty() && !state.ftl.waits.take_come(Lack::Page);
                self.carry_all();
            }
        }
        if stuck {
            written -= self.state.ftl.direct.drop_rest();
        }
        self.apply_executor(executor);
        self.state.ftl.set_pace(Pace::Relaxed);
        self.state.ftl.waits.take_come(Lack::Page);
        if stuck { Err(NoRoom { written: written as u64 }) } else { Ok(()) }
    }

    /// Does, in no time, what a drive that was written in no time at a pace has still to do before time passes, so that
    /// what is measured does not begin with it. Does a part of that, and says whether there is more; then ask again.
    ///
    /// What is exposed is locked, as in a long silence: what was written left no room for that. Where cleaning paces
    /// the host (`ftl.cleaning.paces_host`) and the host was faster than cleaning, what such a host would have waited
    /// for is cleaned.
    pub fn settle_past(&mut self, pace: Pace) -> bool {
        let exposed = self.state.ftl.locks.exposed();
        let is_behind = pace == Pace::Saturated && self.state.ftl.paces_host();
        if exposed == 0 && !is_behind || self.state.host.read_only().is_some() {
            return false;
        }
        self.drain();
        let executor = self.state.executor;
        self.apply_executor(Executor::Functional);
        if exposed > 0 {
            self.state.ftl.retry_locks(&mut self.state.flash);
            self.carry_all();
        }
        let goes_on = (1..exposed).contains(&self.state.ftl.locks.exposed());
        if is_behind && !goes_on {
            self.state.ftl.catch_up(&mut self.state.flash);
            self.carry_all();
            self.state.ftl.set_pace(Pace::Relaxed);
        }
        self.apply_executor(executor);
        self.state.ftl.waits.take_come(Lack::Page);
        goes_on
    }

    /// Writes `units` consecutive mapping units from unit `from` below the buffer, in no time.
    pub fn fill(&mut self, from: u32, units: u32) -> Result<(), NoRoom> {
        const AT_ONCE: u32 = 4096;
        let mut lpns = [0; AT_ONCE as usize];
        let mut done = 0;
        while done < units {
            let count = (units - done).min(AT_ONCE);
            for (i, lpn) in (0..count).zip(&mut lpns) {
                *lpn = from + done + i;
            }
            self.overwrite(&lpns[..count as usize])
                .map_err(|short| NoRoom { written: u64::from(done) + short.written })?;
            done += count;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::host::buffer::none;
    use crate::signals::{Command, OpCode};

    /// A unit waits for others to share a page with, a read ends meanwhile, and somebody was once refused a page: the
    /// unit is programmed when it has waited long enough, and the drive is not full.
    #[test]
    fn who_waits_for_company_is_not_taken_for_one_without_room() {
        let buffer = none::Params { gather_timeout_us: 500.0, ..Default::default() }.into();
        let cfg = DriveConfig { buffer, ..DriveConfig::default() };
        assert!(cfg.units_per_page() > 1);
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, 64).unwrap();
        drive.set_executor(Executor::Timed);
        drive.state.ftl.waits.lack(Lack::Page);
        drive.state.ftl.waits.take_refusal(Lack::Page);
        let command = |op, fua| Command { op, fua, sectors: 8, arrival: drive.now(), ..Command::default() };
        let commands =
            [command(OpCode::Write, true), Command { lba: Lba(64), ..command(OpCode::Read, false) }];
        for command in commands {
            drive.submit(0, &command, command.arrival).unwrap();
        }
        drive.drain();
        let ends: Vec<_> =
            std::iter::from_fn(|| drive.pop_completion()).map(|it| (it.op, it.status)).collect();
        assert_eq!(ends, [(OpCode::Read, Status::Ok), (OpCode::Write, Status::Ok)]);
        assert_eq!(drive.health().read_only, None);
    }
}
