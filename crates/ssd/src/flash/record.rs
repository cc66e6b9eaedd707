//! What is kept of every operation that is over: the counters, and a hash.

use super::counts::{ATTEMPTS, FlashCounts, PROGRAM_MODES};
use super::op::{Cause, Op, OpKind};
use crate::nand::{Chip, Outcome, PageAddress};
use crate::restore::{MOST, Verdict, ensure};
use crate::rng::{SPREAD, mix};
use crate::units::{Ppn, SimTime};
use serde::{Deserialize, Serialize};

/// Counters, and a hash of every operation so far with its time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Counters.
    pub counts: FlashCounts,
    pub(super) hash: u64,
}

impl Record {
    /// An operation is over.
    #[inline(always)]
    pub(super) fn add(&mut self, (kind, cause): (OpKind, Cause), ppn: Ppn, lost: bool, now: SimTime) {
        self.counts.ops[kind as usize][cause as usize] += 1;
        let what = u64::from(lost) << 63 | u64::from(ppn.0) << 8 | (kind as u64) << 4 | cause as u64;
        self.hash = (self.hash ^ now.0.rotate_left(20) ^ mix(what)).wrapping_mul(SPREAD).rotate_left(29);
    }

    /// A page was read that is lost, because others of its wordline were reprogrammed; nothing was promised of it. What
    /// that comes to: attempts it takes, and that the last fails.
    #[cold]
    pub(super) fn sense_lost(&mut self, chip: &mut Chip, at: PageAddress, cause: Cause) -> (u8, Outcome) {
        let failed = chip.sense_lost(at.block, at.page);
        // Where cells age, what is read is counted by its attempts.
        self.counts.uncorrectable[cause as usize] += u64::from(!chip.ages());
        (failed, Outcome::Fail)
    }

    /// The attempts of a page read that is over.
    #[inline]
    pub(super) fn add_attempts(&mut self, op: &Op, chip: &Chip, outcome: Outcome, attempts: u8) {
        if op.cause == Cause::Host {
            let mode = usize::from(chip.mode(op.at.block));
            self.counts.host_reads_by_mode[mode.min(PROGRAM_MODES - 1)] += 1;
        }
        let failed = attempts - u8::from(outcome == Outcome::Pass);
        self.counts.retries[usize::from(failed).min(ATTEMPTS - 1)] += 1;
        self.counts.uncorrectable[op.cause as usize] += u64::from(outcome == Outcome::Fail);
    }

    /// What a snapshot holds can have been counted. Dies and channels count their own time.
    pub(super) fn check(&self) -> Verdict {
        let c = &self.counts;
        let lists = [&c.die_busy_ns, &c.die_array_ns, &c.channel_busy_ns];
        ensure(lists.iter().all(|list| list.is_empty()), "counts of dies and channels")?;
        let of_stops = c.suspends.iter().flatten().chain(&c.suspends_per_erase).chain(&c.delayed_by_lower);
        let of_ops = c.ops.iter().chain(&c.joined).flatten().chain(&c.retries).chain(&c.uncorrectable);
        let single = [&c.inversions, &c.beyond_bound, &c.bound_broken, &c.groups];
        let fails = [&c.program_fails, &c.erase_fails, &c.lock_fails];
        let mut all = of_ops.chain(of_stops).chain(single).chain(fails);
        ensure(all.all(|&count| count < MOST), "counts of operations")
    }
}
