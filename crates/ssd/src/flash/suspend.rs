//! Suspends: what stops a die's array for a read (RealWear section 4.2). What goes by meanwhile, and how it goes on, is
//! a matter of the die's events (`phases.rs`).
//!
//! The read that would go next asks the policy ([`super::preemption`]) when it finds the array at work, when it comes
//! and when something begins or goes on while it waits. What is stopped keeps the array time that it had, unless the
//! policy loses some by stopping within a step; from the moment it stops until another command may come pass
//! `nand.timing.t_suspend_us`, and `t_resume_us` until it works again. One group of programs, copies or erases is
//! suspended at a time, and nothing but reads goes by it: so many as may pass an older operation in line
//! (`flash.scheduling.read_bypass_limit`, `due_bypass_limit` beside moves that are due), and none of the wordline that
//! a program has in work. A copy is stopped in its program part only, a transfer never, and nothing that has no more
//! array time left than stopping it takes (assumed). A read that is stopped has lost the attempt, which begins anew in
//! its turn; only one that has let so many go before it that it is its turn is not stopped.

use super::at::At;
use super::counts::{BOUNDARY, ERASE, PROGRAM, READ};
use super::die::{Interface, Progress, Stop};
use super::op::{Cause, OTHERS, Op, OpKind, Turn};
use super::preemption::{Answer, Loses, Running, View};
use super::rows::{Outcomes, Stops};
use super::timing::Steps;
use crate::events::EventKind;
use crate::sections::ChannelOrder;
use crate::signals::{PRIORITIES, Priority};
use crate::units::{OpId, SimTime};

impl At<'_> {
    /// Books what each member of a group had of the array up to `stopped`, and that it is suspended since.
    pub(super) fn book_stop(&mut self, leader: OpId, stopped: SimTime) {
        let mut id = leader;
        while id.is_some() {
            let spent = self.pool.spent_mut(id);
            spent.times.array += stopped.since(spent.mark);
            spent.times.suspended += self.now.since(spent.mark.max(stopped));
            spent.mark = self.now;
            id = self.pool.get(id).follower;
        }
    }

    /// How far a group has come that is suspended, and what of that the stop has lost.
    pub(super) fn note_progress(&mut self, leader: OpId, stop: Stop) {
        let steps = self.steps_of(self.pool.get(leader), self.die.stops.work.total_ns);
        let elapsed_ns = self.die.stops.work.elapsed(stop.at);
        let kept_ns = match self.preemption.loses() {
            Loses::Step if stop.at_once => steps.boundary_before(elapsed_ns),
            Loses::Operation if stop.at_once => steps.lead_ns.min(elapsed_ns),
            _ => elapsed_ns,
        };
        self.die.stops.work.suspend(elapsed_ns, kept_ns);
    }

    /// The steps of a group, by its leader: it takes as long as the slowest of it.
    fn steps_of(&self, leader: &Op, total_ns: u64) -> Steps {
        Steps { total_ns, ..self.rules.timing.steps(leader) }
    }

    /// Counts a suspend for what it was of; returns its row among all.
    pub(super) fn note_stop(&mut self, kind: OpKind, stop: Stop) -> usize {
        let boundary = if stop.at_once { 0 } else { BOUNDARY };
        match kind.row().effect {
            Outcomes::Reads => READ + boundary,
            Outcomes::Programs => PROGRAM + boundary,
            Outcomes::HidesPage | Outcomes::HidesBlock => unreachable!("pulses are not stopped"),
            Outcomes::Erases => {
                let stops = &mut self.die.stops;
                stops.count += 1;
                stops.at_once[stop.by as usize] += u32::from(stop.at_once);
                ERASE + boundary
            }
        }
    }

    /// The array begins with a group.
    #[cold]
    pub(super) fn note_start(&mut self, leader: OpId, start: SimTime, total_ns: u64) {
        let waits = self.die.first_read().is_some();
        let op = self.pool.get(leader);
        let (kind, steps) = (op.kind, self.steps_of(op, total_ns));
        let progress = Progress::begun(start, total_ns);
        let min_run_ns = self.preemption.min_run_ns();
        let stops = &mut self.die.stops;
        stops.gate = start;
        if kind.reads() {
            stops.sensing = progress;
            if waits {
                // It was on its way before something more urgent came.
                self.ask();
            }
            return;
        }
        // What reads wait for has gone before them for a reason.
        stops.work = Progress { floor_ns: if waits { min_run_ns } else { 0 }, ..progress };
        (stops.at_once, stops.count) = ([0; PRIORITIES], 0);
        let run_ns =
            if kind.erases() && !op.critical { min_run_ns } else { steps.longest_run_ns(min_run_ns) };
        let timing = &self.rules.timing;
        stops.patience_ns = timing.resume_ns() + timing.suspend_ns() + steps.lead_ns + run_ns;
        if kind.erases() {
            stops.shares = std::mem::take(&mut stops.came);
        }
        if waits {
            self.ask();
        }
    }

    /// Whether a read is of a wordline that a group programs.
    pub(super) fn is_held(&self, read: &Op, leader: OpId) -> bool {
        let Some(places) = &self.rules.places else { return false };
        let mut id = leader;
        while id.is_some() {
            let op = self.pool.get(id);
            let same_block = (op.at.plane, op.at.block) == (read.at.plane, read.at.block);
            if same_block && places.place(op.at.page).wordline == places.place(read.at.page).wordline {
                return true;
            }
            id = op.follower;
        }
        false
    }

    /// The read that would go next asks what is in the array to make room for it. On a die that owes locks and has time
    /// for nothing else it waits.
    #[cold]
    pub(super) fn ask(&mut self) {
        let (leader, read) = (self.die.array, self.die.first_read());
        let is_set = |stop: Stop| stop.at_once || stop.at <= self.now;
        if !leader.is_some()
            || !read.is_some()
            || self.die.pressed
            || self.die.array_done
            || self.die.interface != Interface::Idle
            || self.die.stops.stop.is_some_and(is_set)
        {
            return;
        }
        let (op, by) = (*self.pool.get(leader), self.pool.get(read).priority);
        let programs = |id: OpId| id.is_some() && self.pool.get(id).kind.row().effect == Outcomes::Programs;
        let is_held = |id: OpId| programs(id) && self.is_held(self.pool.get(read), id);
        if is_held(leader) || is_held(self.die.stops.suspended) {
            self.pool.get_mut(read).alone = false;
            return;
        }
        let reads = op.kind.reads();
        let may_stop = if reads { self.is_stoppable(&op) } else { op.kind.row().stops != Stops::Never };
        if !may_stop {
            return;
        }
        let running = match op.kind.row().effect {
            Outcomes::Reads => Running::Read(op.priority),
            Outcomes::Programs => Running::Program,
            Outcomes::Erases => Running::Erase,
            Outcomes::HidesPage | Outcomes::HidesBlock => return,
        };
        let (at_once, shares, is_critical) = (self.die.stops.at_once, self.die.stops.shares, op.critical);
        let answer = self.preemption.answer(&View { running, by, is_critical, at_once, reads: shares });
        if answer != Answer::Wait {
            self.stop(&op, by, answer == Answer::AtOnce);
        }
    }

    /// Whether a read in the array can be stopped: one that stands in the lines of reads, and has not waited enough.
    fn is_stoppable(&self, op: &Op) -> bool {
        op.turn != Turn::Due && op.line() != OTHERS
    }

    /// The array is to stop what it does, unless that is over as soon.
    fn stop(&mut self, op: &Op, by: Priority, at_once: bool) {
        let stops = &self.die.stops;
        let progress = if op.kind.reads() { stops.sensing } else { stops.work };
        let steps = self.steps_of(op, progress.total_ns);
        let earliest = progress.elapsed(self.now).max(progress.floor_ns);
        let elapsed = if at_once {
            earliest.max(steps.lead_ns)
        } else {
            // A step that ends just now has ended.
            steps.boundary_after(earliest.max(1) - 1)
        };
        let suspend_ns = self.rules.timing.suspend_ns();
        let at = progress.at(elapsed);
        let is_late = stops.stop.is_some_and(|stop| stop.at <= at);
        if elapsed + suspend_ns >= progress.total_ns || is_late {
            return;
        }
        self.die.stops.stop = Some(Stop { at, by, at_once });
        self.announce(SimTime(at.0 + suspend_ns));
    }

    /// What the array does ends at another time than was announced before.
    pub(super) fn announce(&mut self, end: SimTime) {
        self.die.generation = self.die.generation.wrapping_add(1);
        self.die.ends = end;
        self.events.push(end, EventKind::ArrayDone, self.die.end_of_array(self.number));
    }

    /// Counts host reads that leave the line and have seen their die work for less urgent ones.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_taken(&mut self, leader: OpId) {
        let &Op { priority, cause, attempts, turn, .. } = self.pool.get(leader);
        if cause == Cause::Host && attempts == 0 && turn != Turn::Again {
            let queued = self.pool.spent(leader).queued;
            if self.die.left[..priority as usize].iter().any(|&left| left > queued) {
                self.count_delayed(leader);
            }
            if self.rules.preempts {
                self.judge_wait(leader);
            }
        }
    }

    /// Counts the members of a group of host reads that less urgent ones have delayed.
    #[cold]
    pub(super) fn count_delayed(&mut self, leader: OpId) {
        let mut id = leader;
        while id.is_some() {
            let op = self.pool.get(id);
            self.counts.delayed_by_lower[op.priority as usize] += 1;
            id = op.follower;
        }
    }

    /// Counts a high read, alone at its die, that waited longer than the rule allows: until the transfer in progress
    /// ended, and from then on for a read to be stopped, if one was, and for what is there to be resumed, to end its
    /// step, and to stop; where planes read on their own, for the read in its plane, too. Nothing is promised where
    /// channels carry data first: a command waits for all that the dies have to send.
    #[cold]
    pub(super) fn judge_wait(&mut self, leader: OpId) {
        let op = self.pool.get(leader);
        let high = Priority::High as usize;
        let queued = self.pool.spent(leader).queued;
        let is_judged = self.rules.precedence.is_priority_aware
            && self.rules.channel == ChannelOrder::CommandsFirst
            && op.priority as usize == high
            && op.alone;
        if !is_judged {
            return;
        }
        let stops = &self.die.stops;
        let is_alone = self.die.left[high] <= queued;
        let since = queued.max(stops.gate);
        let waited = self.now.since(since);
        let suspend_ns = self.rules.timing.suspend_ns();
        // Its plane may sense for another, which is not stopped.
        let of_plane_ns = if self.rules.independent { self.rules.timing.longest_sense_ns() } else { 0 };
        let stopped_ns = if stops.read_stopped > since { suspend_ns } else { 0 };
        let patience_ns = stops.patience_ns.max(suspend_ns) + stopped_ns + of_plane_ns;
        self.counts.inversions += u64::from(is_alone && waited > patience_ns);
    }
}

#[cfg(test)]
mod tests;
