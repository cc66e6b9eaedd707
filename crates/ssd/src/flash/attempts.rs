//! Reading cells that make errors: attempt after attempt, until a page is decoded or nothing is left to try.
//!
//! Every attempt senses the page, sends it over the channel and decodes it: tREAD = (tR + tDMA + tECC) for each
//! (RealWear Eq. 2.2). While the controller decodes, die and channel serve others; decoders are enough for all pages
//! (assumed). A read that comes back for another attempt goes before what else its die has to do.

use super::op::{Cause, Op, Turn};
use super::rows::Outcomes;
use super::timing::Timing;
use super::{BrokenBound, Flash, PROGRAM_MODES};
use crate::events::{EventKind, EventQueue};
use crate::nand::aging::{Margin, PageAge, Sequence};
use crate::nand::{Outcome, PageAddress};
use crate::units::{OpId, SimTime};

impl Flash {
    /// The voltages to begin with. Policies know the drive's own cells; those of one bit a cell are read by the table.
    #[inline]
    pub(super) fn sequence(&self, block: u32, page: u32) -> Sequence {
        if !self.read_voltage.looks() || self.chip.is_one_bit(block) {
            return Sequence::entry(0);
        }
        let age_range = self.age_ranges.get(block as usize).copied().unwrap_or(0);
        self.read_voltage.sequence(&PageAge { age_range, ..self.chip.page_age(block, page) })
    }

    /// What reading a page comes to: attempts it takes, and whether the last succeeds. Counted is whether none of the
    /// sets of voltages did that a policy chose for the block's age.
    #[inline]
    pub(super) fn sense(&mut self, at: PageAddress) -> (u8, Outcome) {
        let sequence = self.sequence(at.block, at.page);
        let sensed = self.chip.sense_with(at.block, at.page, &sequence);
        let attempts = sensed.failed + u8::from(sensed.readable);
        if !self.age_ranges.is_empty() && usize::from(sensed.failed) >= sequence.sets().len() {
            self.count_beyond(at);
        }
        (attempts, if sensed.readable { Outcome::Pass } else { Outcome::Fail })
    }

    /// The same of a page that is lost, because others of its wordline were reprogrammed; nothing was promised of it.
    #[cold]
    pub(super) fn sense_lost(&mut self, at: PageAddress, cause: Cause) -> (u8, Outcome) {
        let failed = self.chip.sense_lost(at.block, at.page);
        // Where cells age, what is read is counted by its attempts.
        self.counts.uncorrectable[cause as usize] += u64::from(!self.chip.ages());
        (failed, Outcome::Fail)
    }

    /// None of the sets has read a page that were chosen for its age: that breaks a promise, if it was given for
    /// what the page truly is.
    #[cold]
    fn count_beyond(&mut self, PageAddress { block, page, .. }: PageAddress) {
        self.counts.beyond_bound += 1;
        let Some((margin, wear)) = self.chip.plain_margin(block, page) else { return };
        let age = PageAge { age_range: self.age_ranges[block as usize], ..self.chip.page_age(block, page) };
        if self.read_voltage.promises(&age, &margin, wear) {
            self.counts.bound_broken += 1;
            let Margin { erc_q12, bits_q8, limit_q8 } = margin;
            let (minutes, cycles) = (age.minutes, wear);
            self.broken_bound.get_or_insert(BrokenBound {
                block,
                page,
                cycles,
                minutes,
                erc_q12,
                bits_q8,
                limit_q8,
            });
        }
    }

    /// The firmware has told the age of a physical block, in 1/4096 of its life.
    #[inline]
    pub(crate) fn note_age(&mut self, block: u32, age_q12: u32) {
        if let Some(range) = self.age_ranges.get_mut(block as usize) {
            *range = self.read_voltage.age_range(age_q12);
        }
    }

    /// Counts the attempts of a page read that is over.
    #[inline]
    pub(super) fn count_attempts(&mut self, op: &Op, outcome: Outcome, attempts: u8) {
        if op.cause == Cause::Host {
            let mode = usize::from(self.chip.mode(op.at.block));
            self.counts.host_reads_by_mode[mode.min(PROGRAM_MODES - 1)] += 1;
        }
        let failed = attempts - u8::from(outcome == Outcome::Pass);
        self.counts.retries[usize::from(failed).min(super::ATTEMPTS - 1)] += 1;
        self.counts.uncorrectable[op.cause as usize] += u64::from(outcome == Outcome::Fail);
    }

    /// Effective reads, in units of the chips' counters, up to which the first attempt to read a page surely succeeds.
    pub(crate) fn plain_until(&self, block: u32, page: u32) -> u64 {
        self.chip.plain_until(block, page, self.sequence(block, page).first())
    }

    /// What an operation's durations depend on, for cells that age.
    #[inline]
    pub(super) fn prepare(&mut self, id: OpId) {
        let op = self.pool.get_mut(id);
        // A block's mode is that of its first program; until the chip has that, the issuer's word counts.
        let begins =
            op.kind.row().effect == Outcomes::Programs && self.chip.programmed_pages(op.at.block) == 0;
        if !begins {
            op.mode = self.chip.mode(op.at.block);
        }
        if op.kind.reads() {
            self.chip.prefetch_sense(op.at.block, op.at.page);
        } else if !op.kind.hides() {
            let erase = op.kind.erases();
            op.slower_q12 = self.chip.time_scale_q12(op.at.block, erase).min(u32::from(u16::MAX)) as u16;
        }
    }

    /// The data of an attempt is in the controller.
    #[inline(always)]
    pub(super) fn on_sent(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        if self.chip.ages() { self.on_attempt(id, now, events) } else { self.finish_read(id) }
    }

    fn on_attempt(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        let &Op { at, cause, attempts, .. } = self.pool.get(id);
        let is_lost = self.chip.is_lost(at.block, at.page, self.now);
        if attempts == 0 {
            let (due, outcome) = if is_lost { self.sense_lost(at, cause) } else { self.sense(at) };
            let op = self.pool.get_mut(id);
            (op.attempts_due, op.outcome) = (due, outcome);
        }
        let op = self.pool.get_mut(id);
        op.attempts += 1;
        op.turn = Turn::First;
        self.dies[at.die as usize].returning += u32::from(op.attempts < op.attempts_due);
        let decode_ns = self.rules.timing.decode_ns(op);
        let spent = self.pool.spent_mut(id);
        spent.times.decode += decode_ns;
        spent.mark = SimTime(now.0 + decode_ns);
        if decode_ns == 0 {
            self.on_decoded(id, now, events);
        } else {
            events.push(spent.mark, EventKind::Decoded, id.0);
        }
    }

    /// An attempt is decoded, or has failed: the read is over, or the page is read again.
    pub(super) fn on_decoded(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        let &Op { at, attempts, attempts_due, .. } = self.pool.get(id);
        if attempts >= attempts_due {
            return self.finish(id);
        }
        let attempt = self.chip.attempt(self.pool.get(id).mode, attempts);
        let op = self.pool.get_mut(id);
        op.attempt_kind = Timing::kind_of(attempt);
        op.follower = OpId::NONE;
        let die = &mut self.dies[at.die as usize];
        die.returning -= 1;
        die.queue(&mut self.pool, id, true);
        if let Some(by) = die.more_urgent_than(self.pool.get(id)) {
            self.counts.suspends[super::suspend::READ + super::suspend::BOUNDARY][by as usize] += 1;
        }
        self.start_waiting(at.die, now, events);
    }
}
