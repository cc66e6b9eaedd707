//! Reads where no time passes and nothing else goes on: what a command would come to, without the command.
//!
//! Counting reads by the hundred million spends more on queues, parts of latencies and events than on the flash. What
//! is left out here is only that: the same pages are read in the same order, and every count and hash comes out alike.

use super::{Below, Host};
use crate::nand::Outcome;
use crate::signals::{OpCode, Status};
use crate::units::{Lba, Lpn, Pun};

impl Host {
    /// Reads sectors of one page of flash; `None` if a command must do it: because something is under way, is kept in
    /// DRAM or is not on flash.
    #[inline]
    pub fn read_at_once(&mut self, lba: Lba, sectors: u32, b: &mut Below<'_>) -> Option<Status> {
        let end = lba.0.saturating_add(u64::from(sectors));
        let is_quiet =
            self.commands.len() == 0 && self.queues.len() == 1 && !b.ftl.room.is_wanted() && !self.held_back;
        if b.timed || !is_quiet || self.rules.keep_reads || b.ftl.effects.is_on() {
            return None;
        }
        if sectors == 0 || end > self.logical_sectors {
            return None;
        }
        let first = Lpn((lba.0 / self.shape.sectors) as u32);
        let count = end.div_ceil(self.shape.sectors) as u32 - first.0;
        let at = self.page_of_units(first, count, b)?;
        let status = self.read_units(first, count, at, b);
        self.count_end(OpCode::Read, lba, sectors, status, b.now);
        Some(status)
    }

    /// Where the first of some units is read, if none is in DRAM and one read gets them all. Units that have replicas
    /// are read one at a time.
    #[inline]
    fn page_of_units(&self, first: Lpn, count: u32, b: &Below<'_>) -> Option<Pun> {
        let at = b.ftl.place_to_read(first);
        let alone = count == 1;
        let is_here = |lpn: Lpn| {
            let unit = b.ftl.place_to_read(lpn);
            let reached = alone || (b.ftl.map.lookup(lpn) == unit && b.ftl.layout.share_page(at, unit));
            unit.is_some() && reached && !self.staging.find(lpn).is_some()
        };
        (first.0..first.0 + count).map(Lpn).all(is_here).then_some(at)
    }

    /// Reads units of one page, and those that cannot be corrected wherever else they are.
    #[inline]
    fn read_units(&mut self, first: Lpn, count: u32, mut at: Pun, b: &mut Below<'_>) -> Status {
        let units = || (first.0..first.0 + count).map(Lpn);
        loop {
            self.counts.buffer_misses += u64::from(count);
            if b.ftl.read_at_once(b.flash, units(), at) == Outcome::Pass {
                return Status::Ok;
            }
            // Units that are read together have no replicas: none is left, or the only one is read again.
            let from = |lpn, b: &Below<'_>| if count == 1 { at } else { b.ftl.map.lookup(lpn) };
            let mut lost = true;
            for lpn in units() {
                lost &= b.ftl.read_failed(lpn, from(lpn, b));
            }
            if lost {
                return Status::Uncorrectable;
            }
            at = b.ftl.place_to_read(first);
        }
    }
}
