//! What calls of programs ask of the file system beyond the steps of generated loads: any place, any length.

use super::{File, System, Who, key};
use crate::base::request::PAGE_BYTES;
use crate::files::space::Extent;

impl System {
    /// So many slots for files at least.
    pub(in crate::files) fn make_slots(&mut self, count: u32) {
        if self.files.len() < count as usize {
            self.files.resize(count as usize, File::default());
        }
    }

    /// Writes bytes at any place; what lies between the end and it is room that was never written. `false`, and nothing
    /// is written, if there is no room.
    pub(in crate::files) fn write_at(&mut self, slot: u32, offset: u64, bytes: u64, who: Who) -> bool {
        let end = self.files[slot as usize].bytes;
        if offset > end
            && offset.div_ceil(PAGE_BYTES) > end.div_ceil(PAGE_BYTES)
            && !self.extend(slot, offset)
        {
            return false;
        }
        let file = &mut self.files[slot as usize];
        file.bytes = file.bytes.max(offset);
        self.write(slot, offset, bytes, who)
    }

    /// The file is at least so long: it gets the room at once, as by `fallocate`. `false` if there is none.
    pub(in crate::files) fn extend(&mut self, slot: u32, bytes: u64) -> bool {
        let old = self.files[slot as usize].bytes;
        if bytes <= old {
            return true;
        }
        let more = self.units(bytes) - self.units(old);
        if more > self.free_units() {
            self.commit();
            if more > self.free_units() {
                self.refused += 1;
                return false;
            }
        }
        self.promised += more;
        self.files[slot as usize].bytes = bytes;
        self.assign(slot);
        true
    }

    /// The file has so many bytes from now on.
    pub(in crate::files) fn set_length(&mut self, slot: u32, bytes: u64) {
        let old = self.files[slot as usize].bytes;
        if bytes == 0 {
            return if old > 0 {
                self.truncate(slot)
            };
        }
        if bytes >= old {
            self.extend(slot, bytes);
            return;
        }
        let (pages, all) = (bytes.div_ceil(PAGE_BYTES), old.div_ceil(PAGE_BYTES));
        (pages..all).for_each(|page| self.cache.remove(key(slot, page)));
        let (units, all) = (self.units(bytes), self.units(old));
        let has = self.files[slot as usize].units;
        self.promised -= (all - has) - units.saturating_sub(has);
        while self.files[slot as usize].units > units {
            let file = &mut self.files[slot as usize];
            let last = file.pieces.last_mut().expect("a file's units lie in its pieces");
            let cut = (file.units - units).min(last.place.len);
            last.place.len -= cut;
            let freed = Extent { start: last.place.end(), len: cut };
            if last.place.len == 0 {
                file.pieces.pop();
            }
            file.units -= cut;
            self.change_bitmap(freed.start);
            self.change_bitmap(freed.end() - 1);
            self.freed.add(freed);
        }
        let file = &mut self.files[slot as usize];
        file.bytes = bytes;
        let (low, high) = file.dirty;
        file.dirty = (low.min(pages as u32), high.min(pages as u32));
        file.ahead = (0, 0);
        self.change_inode(slot);
        if self.journal.is_large() {
            self.commit();
        }
    }

    /// Bytes of a file become zero or nothing: what of them waits in whole pages need not be written.
    pub(in crate::files) fn punch(&mut self, slot: u32, offset: u64, bytes: u64) {
        let file = &self.files[slot as usize];
        let end = offset.saturating_add(bytes).min(file.bytes);
        let behind = if end == file.bytes { end.div_ceil(PAGE_BYTES) } else { end / PAGE_BYTES };
        if file.units < self.units(file.bytes) {
            self.assign(slot);
        }
        (offset.div_ceil(PAGE_BYTES)..behind).for_each(|page| self.cache.remove(key(slot, page)));
        self.change_inode(slot);
    }

    /// Writes what waits of some bytes of a file; nothing is made durable by it.
    pub(in crate::files) fn write_range(&mut self, slot: u32, offset: u64, bytes: u64) {
        let all = self.files[slot as usize].pages();
        let behind = offset.saturating_add(bytes).div_ceil(PAGE_BYTES).min(all);
        let mut pages = std::mem::take(&mut self.pages);
        self.cache.dirty_in(key(slot, (offset / PAGE_BYTES).min(behind))..key(slot, behind), &mut pages);
        let mut done = 0;
        for &page in &pages {
            // Those that a run before has taken are clean.
            if page >= done {
                done = self.write_back(page);
            }
        }
        self.pages = pages;
    }

    /// Writes all that waits, and commits.
    pub(in crate::files) fn sync(&mut self) {
        while self.cache.dirty_pages() > 0 {
            self.write_oldest();
        }
        if self.journal.is_empty() { self.out.flush() } else { self.commit() }
    }
}
