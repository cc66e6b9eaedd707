//! What is done about locks when nothing is left to carry: who waits for them is answered, and what they owe is looked
//! at, now and again later.

use super::engine::State;
use crate::executor::Executor;
use crate::ftl::Media;
use crate::ftl::work::bound::LOOK_NS;
use crate::ftl::write::waits::Lack;
use crate::signals::Reason;
use crate::timers::Timer;
use crate::units::SimTime;

impl State {
    /// Nothing is left to carry: who must wait for locks, and who no longer, is known anew, and soon again, as long as
    /// time alone may change that. Returns whether there is something to carry again.
    #[cold]
    #[inline(never)]
    pub(crate) fn tend_bound(&mut self) -> bool {
        if self.executor != Executor::Timed {
            return false;
        }
        let Media { locks, waits, .. } = &self.ftl.moves.media;
        if locks.bound.may_be_pressed() || locks.bound.owes() && waits.is_wanted(Lack::Page) {
            self.events.set(Timer::Exposure, SimTime(self.now.0 + LOOK_NS));
        }
        self.ftl.tend_bound(&mut self.flash)
    }

    /// Nothing is left to carry: commands whose locks are there are answered, and the next look at locks that wait is
    /// scheduled. Returns whether there is something to carry again.
    #[cold]
    #[inline(never)]
    pub(crate) fn tend_locks(&mut self) -> bool {
        let (host, mut below) = self.split();
        if host.waits_for_locks() {
            host.after_locks(false, &mut below);
        }
        let Media { locks, tables, work, .. } = &mut self.ftl.moves.media;
        if locks.renewals.are_on() {
            locks.renew_locks(tables, work, self.now);
        }
        if let Some(at) = locks.lists.next_at()
            && self.executor == Executor::Timed
        {
            self.events.set(Timer::Locks, at.max(self.now));
        }
        if self.ftl.moves.media.work.has_new_candidates() || !self.ftl.moves.media.outbox.is_empty() {
            return true;
        }
        if !self.host.waits_for_locks() {
            return false;
        }
        if self.ftl.moves.hurry_leaving(&mut self.flash) {
            return true;
        }
        if self.flash.pool.in_flight() > 0 {
            return false;
        }
        // What is to be locked finds no room to make the page free of what lives there.
        if self.ftl.retry_locks(&mut self.flash) || self.ftl.erase_dead(&mut self.flash) {
            return true;
        }
        // Where no time passes what has found room is read by now, and may wait for others of its class.
        if self.ftl.moves.hurry_leaving(&mut self.flash) || self.ftl.moves.media.work.has_new_candidates() {
            return true;
        }
        let Media { locks, tables, .. } = &self.ftl.moves.media;
        let given_up = locks.exposed.has_given_up(&tables.layout, &tables.blocks);
        let reason = if given_up { Reason::NotSanitized } else { tables.blocks.why_no_room() };
        let (host, mut below) = self.split();
        host.end_in_read_only(reason, &mut below);
        host.after_locks(true, &mut below);
        false
    }
}
