//! Reads where no time passes and nothing else goes on: what a command would come to, without the command.
//!
//! Counting reads by the hundred million spends more on queues, parts of latencies and events than on the flash. What
//! is left out here is only that: the same pages are read in the same order, and every count and hash comes out alike.

use super::{Below, Host};
use crate::nand::Outcome;
use crate::signals::{OpCode, Status};
use crate::units::{Lba, Lpn};

impl Host {
    /// Reads sectors of one page of flash; `None` if a command must do it: because something is under way, is kept in
    /// DRAM or is not on flash.
    #[inline]
    pub fn read_at_once(&mut self, lba: Lba, sectors: u32, b: &mut Below<'_>) -> Option<Status> {
        let end = lba.0.saturating_add(u64::from(sectors));
        let is_quiet = self.commands.len() == 0 && self.queues.len() == 1 && b.ftl.waits.is_idle();
        if b.timed || !is_quiet || self.rules.keep_reads || b.ftl.effects.is_on() {
            return None;
        }
        if sectors == 0 || end > self.logical_sectors {
            return None;
        }
        let first = Lpn((lba.0 / self.shape.sectors) as u32);
        let count = end.div_ceil(self.shape.sectors) as u32 - first.0;
        let mut units = (first.0..first.0 + count).map(Lpn);
        let place = b.ftl.tables.one_page_of(first, count)?;
        if units.any(|lpn| self.staging.find(lpn).is_some()) {
            return None;
        }
        if self.tells_reads {
            (first.0..first.0 + count).for_each(|lpn| b.ftl.note_host_read(Lpn(lpn)));
        }
        let (tries, outcome) = b.ftl.read_at_once(b.flash, first, count, place);
        self.counts.buffer_misses += u64::from(tries) * u64::from(count);
        let status = if outcome == Outcome::Pass { Status::Ok } else { Status::Uncorrectable };
        self.count_end(OpCode::Read, lba, sectors, status, b.now);
        Some(status)
    }
}
