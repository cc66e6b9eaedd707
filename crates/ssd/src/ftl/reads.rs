//! What the host reads: logical units become reads of pages, and their ends become data, losses and second tries.

use super::Ftl;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, UNITS_AT_MOST, UnitRef};
use crate::ftl::tables::Place;
use crate::nand::Outcome;
use crate::observe::{Effect, Source};
use crate::signals::Priority;
use crate::units::{Lpn, NONE, OpId, Pun};

/// Where the data of a logical unit is to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// In flash: it is being read, by so many operations that were issued for it.
    Issued(u8),
    /// In flash: it is being read together with what was asked for before.
    Joined,
    /// Nowhere: it was never written, or was trimmed.
    Nowhere,
    /// Nowhere any more: it was lost to errors.
    Lost,
}

/// The read issued last for a command: units of the same page join it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRead {
    /// The read; none yet.
    pub op: OpId,
    at: Pun,
}

impl LastRead {
    /// None yet.
    pub const NONE: LastRead = LastRead { op: OpId::NONE, at: Pun::NONE };
}

/// What a read brought of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brought {
    /// The unit.
    pub lpn: Lpn,
    /// The granules wanted.
    pub mask: u64,
    /// What became of them.
    pub end: End,
}

/// How the read of a unit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its data is in the controller; `current` if it was not written or trimmed in the meantime.
    Read {
        /// Where it came from.
        from: Source,
        /// Whether it is still what the logical unit holds.
        current: bool,
    },
    /// It could not be corrected, and there is no other copy.
    Lost,
    /// It could not be corrected, or has not been read yet: to be read again from where it is now.
    Again,
}

/// For whom a unit is read.
#[derive(Clone, Copy, Debug)]
pub enum Reader {
    /// A command of the host, with its priority.
    Command(u32, Priority),
    /// Nobody yet.
    Ahead {
        /// Only with the last read.
        must_join: bool,
    },
}

impl Ftl {
    /// Reads granules of a unit, with the last read if that is of the same page; of none where nobody has asked yet.
    #[inline]
    pub fn read_unit(
        &mut self,
        flash: &mut Flash,
        reader: Reader,
        (lpn, mask, bytes): (Lpn, u64, u32),
        last: &mut LastRead,
    ) -> Found {
        let media = &mut self.moves.media;
        let at = media.tables.place_to_read(lpn);
        if !at.is_some() {
            return if media.tables.map.is_lost(lpn) { Found::Lost } else { Found::Nowhere };
        }
        let wanted = UnitRef::new(lpn.0, at.0).with_mask(mask);
        let joins = last.op.is_some() && media.tables.layout.share_read(last.at, at);
        let (cause, tag, priority) = match reader {
            Reader::Command(tag, priority) => (Cause::Host, tag, priority),
            Reader::Ahead { must_join: true } if !joins => return Found::Nowhere,
            Reader::Ahead { .. } => (Cause::ReadAhead, NONE, Priority::Medium),
        };
        media.work.counts.replica_reads += u64::from(media.tables.replicas.get(lpn) == at);
        if joins {
            media.reclaim.note_unit(lpn);
            flash.pool.extend(last.op, wanted);
            flash.pool.get_mut(last.op).bytes += bytes;
            return Found::Joined;
        }
        if media.tables.layout.wide > 1 {
            return Found::Issued(self.read_parts(flash, cause, bytes, (tag, priority), wanted));
        }
        let op = self.issue_read(flash, cause, bytes, (tag, priority), wanted);
        *last = LastRead { op, at };
        Found::Issued(1)
    }

    /// Whether it is to be told what the host reads ([`Ftl::note_host_read`]).
    pub fn counts_host_reads(&self) -> bool {
        self.moves.page_classes.counts_reads()
    }

    /// A command of the host reads a unit: told where `ftl.page_class` counts reads.
    #[inline]
    pub fn note_host_read(&mut self, lpn: Lpn) {
        let media = &mut self.moves.media;
        let change = self.moves.page_classes.on_read(lpn, &media.tables.map);
        media.work.counts.heat_raises += u64::from(change.raised);
        media.work.counts.heat_lowers += u64::from(change.lowered);
    }

    /// A unit waits behind the last read: it is looked at again when that is over.
    pub fn read_behind(&mut self, flash: &mut Flash, lpn: Lpn, mask: u64, last: &LastRead) {
        flash.pool.extend(last.op, UnitRef::new(lpn.0, NONE).with_mask(mask));
    }

    /// Reads the rest of a unit of which a slot of DRAM holds some; `tag` is the slot.
    pub fn read_rest(&mut self, flash: &mut Flash, tag: u32, (lpn, mask, bytes): (Lpn, u64, u32)) -> Found {
        let media = &mut self.moves.media;
        let at = media.tables.place_to_read(lpn);
        if !at.is_some() {
            return if media.tables.map.is_lost(lpn) { Found::Lost } else { Found::Nowhere };
        }
        let unit = UnitRef::new(lpn.0, at.0).with_mask(mask);
        if media.tables.layout.wide > 1 {
            let by = (tag, Priority::Medium);
            return Found::Issued(self.read_parts(flash, Cause::Merge, bytes, by, unit));
        }
        self.issue_read(flash, Cause::Merge, bytes, (tag, Priority::Medium), unit);
        Found::Issued(1)
    }

    /// Reads granules of a unit that is larger than a page: the pages that hold them, and no others. How many those
    /// are.
    #[cold]
    #[inline(never)]
    fn read_parts(
        &mut self,
        flash: &mut Flash,
        cause: Cause,
        bytes: u32,
        by: (u32, Priority),
        unit: UnitRef,
    ) -> u8 {
        let granule_bytes = bytes / unit.mask().count_ones().max(1);
        let mut reads = 0;
        for part in 0..self.moves.media.tables.layout.wide {
            let mask = unit.mask() & self.moves.media.tables.layout.granules_of_part(part);
            if mask != 0 {
                let id = self.issue_read(
                    flash,
                    cause,
                    mask.count_ones() * granule_bytes,
                    by,
                    unit.with_mask(mask),
                );
                let ppn = flash.pool.get(id).ppn;
                flash.pool.get_mut(id).at = self.moves.media.tables.layout.locate_part(ppn, part);
                reads += 1;
            }
        }
        reads
    }

    #[inline(always)]
    fn issue_read(
        &mut self,
        flash: &mut Flash,
        cause: Cause,
        bytes: u32,
        (tag, priority): (u32, Priority),
        unit: UnitRef,
    ) -> OpId {
        let media = &mut self.moves.media;
        let read = media.tables.read_of(cause, Pun(unit.source));
        let op = Op { bytes, tag, priority, ..read };
        media.reclaim.note_unit(Lpn(unit.lpn));
        if cause == Cause::Host {
            media.space.ring.note_host_page(&media.tables, &mut media.work, &op);
        }
        media.reclaim.note_read(&media.tables, &mut media.work, flash, &op);
        media.issue(flash, op, &[unit])
    }

    /// What a read for the host brought, unit by unit; it is over. What still lies where it could not be corrected is
    /// lost; what has moved since, or has a second copy, can be read again. `tag` is the command's.
    pub fn end_read(
        &mut self,
        flash: &mut Flash,
        id: OpId,
        tag: u64,
        brought: &mut [Brought; UNITS_AT_MOST],
    ) -> usize {
        let media = &mut self.moves.media;
        let op = *flash.pool.get(id);
        let count = usize::from(op.units);
        for (place, brought) in (0..count).zip(brought) {
            let unit = flash.pool.units(id)[place];
            let (lpn, at, mask) = (Lpn(unit.lpn), Pun(unit.source), unit.mask());
            // What was read ahead nobody has asked for.
            let end = if !at.is_some() || mask == 0 && op.outcome != Outcome::Pass {
                End::Again
            } else if op.outcome == Outcome::Pass {
                let from = Source::Flash(at);
                if mask > 0 {
                    media.effects.push(Effect::Read { tag, lpn, from, mask });
                }
                End::Read {
                    from,
                    current: media.tables.map.lookup(lpn) == at || media.tables.replicas.get(lpn) == at,
                }
            } else if media.read_failed(lpn, at) {
                End::Lost
            } else {
                End::Again
            };
            *brought = Brought { lpn, mask, end };
        }
        flash.pool.remove(id);
        count
    }

    /// What the read of the rest of a unit brought, or of a part of that; it is over. `in_vain` if nobody wants it any
    /// more. The granules that it was to bring.
    pub fn end_rest(&mut self, flash: &mut Flash, id: OpId, in_vain: bool) -> (End, u64) {
        let (op, unit) = (*flash.pool.get(id), flash.pool.units(id)[0]);
        flash.pool.remove(id);
        let at = Pun(unit.source);
        if op.outcome == Outcome::Pass || in_vain {
            return (End::Read { from: Source::Flash(at), current: !in_vain }, unit.mask());
        }
        self.moves.media.read_failed(Lpn(unit.lpn), at);
        // Is the rest elsewhere? Whoever reads again is told.
        (End::Again, unit.mask())
    }

    /// Reads units of one page in no time, and those that cannot be corrected wherever else they are: how often the
    /// flash was asked, and whether it had them. What moves because of it has yet to be looked at.
    #[inline]
    pub fn read_at_once(
        &mut self,
        flash: &mut Flash,
        first: Lpn,
        count: u32,
        Place(mut at): Place,
    ) -> (u32, Outcome) {
        let units = || (first.0..first.0 + count).map(Lpn);
        let mut tries = 0;
        loop {
            tries += 1;
            if self.read_page_at_once(flash, units(), at) == Outcome::Pass {
                return (tries, Outcome::Pass);
            }
            // Units that are read together have no replicas: none is left, or the only one is read again.
            let mut lost = true;
            for lpn in units() {
                let from = if count == 1 { at } else { self.moves.media.tables.map.lookup(lpn) };
                lost &= self.moves.media.read_failed(lpn, from);
            }
            if lost {
                return (tries, Outcome::Fail);
            }
            at = self.moves.media.tables.place_to_read(first);
        }
    }

    #[inline]
    fn read_page_at_once(&mut self, flash: &mut Flash, units: impl Iterator<Item = Lpn>, at: Pun) -> Outcome {
        let media = &mut self.moves.media;
        let mut op = media.tables.read_of(Cause::Host, at);
        media.space.ring.note_host_page(&media.tables, &mut media.work, &op);
        for (nth, lpn) in units.enumerate() {
            media.reclaim.note_unit(lpn);
            if nth == 0 {
                media.work.counts.replica_reads += u64::from(media.tables.replicas.get(lpn) == at);
                media.reclaim.note_read(&media.tables, &mut media.work, flash, &op);
            }
        }
        flash.do_at_once(&mut op);
        media.after_read(flash, &op);
        op.outcome
    }
}
