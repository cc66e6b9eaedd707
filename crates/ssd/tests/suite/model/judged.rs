//! What a drive says of itself, judged by what its configuration lets it say.

use super::super::setup::may_wear_out;
use super::{Run, Verdict};
use ssd::sections::Placement;
use ssd::{Completion, Holder, Part, Reason};

impl Run {
    /// Whom a command has waited for adds up to what it waited in the flash, for room in the buffer and for locks.
    pub(super) fn check_held(&mut self, done: &Completion) -> Verdict {
        let told = self.drive.tracing().take_told();
        let held = told.held;
        let (lacked, went_to) = (held.ns[Holder::PAGE.index()], told.page.total());
        if lacked != went_to {
            return Err(format!("{done:?} lacked a page for {lacked} ns, of which {went_to} are told"));
        }
        let of = |part: Part| done.breakdown.ns[part as usize];
        let waits = [Part::DieWait, Part::ChannelWait, Part::Suspended, Part::BufferWait, Part::LockWait];
        let waited: u64 = waits.map(of).iter().sum();
        // Of what a command was not given to a die yet, the lack of a page and of more for its row are told.
        if held.total().checked_sub(waited).is_some_and(|ns| ns <= of(Part::Dispatch)) {
            return Ok(());
        }
        let named = Holder::all().map(|holder| (holder.name(), held.ns[holder.index()]));
        let named: Vec<_> = named.filter(|(_, ns)| *ns > 0).collect();
        Err(format!("{done:?} has waited {waited} ns: {named:?}"))
    }

    /// Has the drive lost so many blocks that it may refuse writes?
    pub(super) fn may_refuse(&self, reason: Reason) -> Verdict {
        let (wear, lanes) = (self.drive.health().wear, self.cfg.lanes());
        let per_lane = (wear.blocks + wear.retired) / lanes;
        let needed = self.cfg.data_blocks_per_lane() + self.cfg.spare_blocks_to_work_per_lane(per_lane);
        // Blocks that failed and could not be retired any more are not good either.
        let left = match self.cfg.allocation.placement {
            Placement::Dynamic => u64::from(wear.blocks) > u64::from(lanes) * (needed + 4),
            // They may all be of one lane, which no other can help.
            Placement::Static => u64::from(per_lane) > needed + 4 + u64::from(wear.retired),
        };
        // Where the next erase of any block fails none can be made room of.
        let (endurance, fails) =
            (self.cfg.reliability.endurance_cycles, self.cfg.reliability.erase_fail_ppm >= 1_000_000.0);
        // Who erases late learns that a block is spent when that was opened, and was the room for what moves.
        let spent = if self.cfg.cleaning.lazy_erase { wear.max } else { wear.min };
        let left = left && !fails && !(endurance > 0 && spent >= endurance);
        // What lies in a block out of use stays readable where locks fail.
        let cannot_lock = wear.retired > 0 && self.cfg.reliability.lock_fail_ppm > 0.0;
        let is_right = match reason {
            Reason::Full => false,
            Reason::WornOut => !left && may_wear_out(&self.cfg),
            Reason::NotSanitized => cannot_lock && may_wear_out(&self.cfg),
        };
        if !is_right {
            return Err(format!("the drive takes no more writes, {reason:?}, though it could: {wear:?}"));
        }
        Ok(())
    }
}
