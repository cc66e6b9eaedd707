//! What the flash counts.

use super::op::{CAUSES, Cause, KINDS, Op, OpKind};
use crate::signals::PRIORITIES;
use serde::{Deserialize, Serialize};

/// Attempts that a read can take at most, and one more.
pub const ATTEMPTS: usize = 32;

/// Program modes that counters tell apart; higher ones count as the last.
pub const PROGRAM_MODES: usize = 4;

/// What can be suspended, at once and at the end of a step.
pub const SUSPENDS: usize = 6;

/// Rows of the count of suspends: of erases, programs and reads, each at once and at the end of a step.
pub(super) const ERASE: usize = 0;
pub(super) const PROGRAM: usize = 2;
pub(super) const READ: usize = 4;
pub(super) const BOUNDARY: usize = 1;

/// Numbers of suspends of an erase that are told apart; more count as the last.
pub const PER_ERASE: usize = 32;

counters! {
    /// What the flash has counted.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FlashCounts of "flash" {
        /// Operations by kind and cause.
        ops: [[u64; CAUSES]; KINDS], "operations", in "flash.reads";
        /// Multi-plane groups of more than one operation.
        groups: u64, "operations", in "flash.multi_plane_groups";
        /// Operations, by kind and cause, that a die carried out together with one that was there before them.
        joined: [[u64; CAUSES]; KINDS], "operations", in "flash.pages_per_program.host";
        /// Programs that failed.
        program_fails: u64, "programs", in "flash.program_fails";
        /// Erases that failed.
        erase_fails: u64, "erases", in "flash.erase_fails";
        /// Locks and scrubs that failed.
        lock_fails: u64, "operations", in "ftl.sanitize.failed";
        /// Page reads by the number of attempts that failed before one succeeded (or none was left).
        retries: [u64; ATTEMPTS], "pages", in "flash.retries.histogram";
        /// Page reads corrected by none of the voltage sets that `table_by_age` chose for the age of their block.
        beyond_bound: u64, "pages", in "flash.retries.beyond_bound";
        /// Of these, page reads that the policy promised to correct: there must be none, or the run fails.
        bound_broken: u64, "pages", in "flash.retries.bound_broken";
        /// Page reads that no attempt could correct, by cause.
        uncorrectable: [u64; CAUSES], "pages", in "flash.uncorrectable";
        /// Pages read for the host by the program mode of their block, where cells age; retries do not count.
        host_reads_by_mode: [u64; PROGRAM_MODES], "pages", in "ftl.program_mode.reads";
        /// Suspends for host reads by what was stopped (erase, program, read; each at once, then at the end of a step)
        /// and by the priority of the read.
        suspends: [[u64; PRIORITIES]; SUSPENDS], "suspends", in "flash.suspends.erase.at_once.high";
        /// Erases by how often they were suspended (where anything is).
        suspends_per_erase: [u64; PER_ERASE], "erases", in "flash.suspends.per_erase.histogram";
        /// Host page reads by priority, during whose wait the die worked for one of lower priority.
        delayed_by_lower: [u64; PRIORITIES], "pages", in "flash.priority.delayed_by_lower.high";
        /// High-priority reads, alone at their die, that waited longer than `flash.preemption` allows.
        inversions: u64, "pages", in "flash.priority.inversions";
        /// Nanoseconds that each die was occupied: held by an operation, transfers and waits included.
        die_busy_ns: Vec<u64>, "ns", in "utilisation.die.mean";
        /// Of these, nanoseconds that it was busy: its array worked. The rest of the time it waited for its channel or
        /// used it.
        die_array_ns: Vec<u64>, "ns", in "utilisation.array.mean";
        /// Nanoseconds each channel carried something.
        channel_busy_ns: Vec<u64>, "ns", in "utilisation.channel.mean";
    }
}

impl FlashCounts {
    /// An operation joins others. Attempts of a read that come back are not counted: it is one operation.
    #[inline]
    pub(super) fn note_joined(&mut self, op: &Op) {
        self.joined[op.kind as usize][op.cause as usize] += u64::from(op.attempts == 0);
    }

    /// Operations of a kind that a die carried out at the same time for these causes, on average; `None` without any.
    /// An operation that joins one for another cause counts with its own.
    // tidy: allow(float): what a result says
    pub fn together(&self, kind: OpKind, of: impl Fn(Cause) -> bool) -> Option<f64> {
        let sum = |counts: &[u64; CAUSES]| {
            Cause::ALL.into_iter().filter(|&cause| of(cause)).map(|cause| counts[cause as usize]).sum::<u64>()
        };
        let (all, joined) = (sum(&self.ops[kind as usize]), sum(&self.joined[kind as usize]));
        (all > joined).then(|| all as f64 / (all - joined) as f64)
    }

    /// Pages programmed for a cause, by whatever means.
    pub fn pages_programmed(&self, cause: Cause) -> u64 {
        let of = |kind: OpKind| self.ops[kind as usize][cause as usize];
        of(OpKind::Program) + of(OpKind::Copyback)
    }
}
