//! The file system: files in blocks, a page cache above, a journal beside. Modelled on ext4 in outline (Mathur et al.,
//! OLS 2007; the kernel's documentation of its layout): groups with bitmaps and inode tables, delayed allocation,
//! ordered journal. Blocks have 4 KiB; space is given in units of one or more of them.

mod by_call;

use super::journal::Journal;
use super::layout::{GROUP_BLOCKS, Layout};
use super::out::{DOUBLEWRITE, FIRST, Out};
use super::space::{Extent, Space};
use super::spec::FilesSpec;
use super::trim::{Freed, trim_free};
use crate::base::request::{FilesAtStart, Held, PAGE_BYTES, PAGE_SECTORS};
use crate::stack::page_cache::PageCache;
use ssd::signals::{Hints, OpCode};

/// Who does something to a file: the process, and the number of its operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Who {
    pub process: u32,
    pub context: u32,
}

/// A run of units that holds a part of a file.
#[derive(Clone, Copy)]
struct Piece {
    /// Its first unit, counted in the file.
    at: u32,
    place: Extent,
}

#[derive(Clone, Default)]
pub(super) struct File {
    /// Its number in hints; none is used twice.
    pub id: u32,
    /// Stands for its name: where its entry in a directory lies.
    pub name: u32,
    pub bytes: u64,
    pieces: Vec<Piece>,
    /// Units it has.
    units: u32,
    /// The page behind those read last, and the last read-ahead.
    ahead: (u32, u32),
    /// All its dirty pages lie between these.
    dirty: (u32, u32),
    /// The transaction that changed its inode last.
    changed_in: u64,
    pub is_secure: bool,
    /// Only appended to, never deleted.
    pub is_kept: bool,
    is_there: bool,
}

impl File {
    fn pages(&self) -> u64 {
        self.bytes.div_ceil(PAGE_BYTES)
    }

    /// Whether it is there and of that number.
    pub(super) fn is(&self, id: u32) -> bool {
        self.is_there && self.id == id
    }
}

/// A file system at work.
#[derive(Clone)]
pub(super) struct System {
    pub out: Out,
    pub cache: PageCache,
    pub files: Vec<File>,
    layout: Layout,
    space: Space,
    journal: Journal,
    freed: Freed,
    /// Blocks of a unit.
    unit: u32,
    /// Units that dirty pages will need.
    promised: u32,
    next_id: u32,
    commit_ns: u64,
    batch_ns: u64,
    /// When the running transaction must commit.
    commit_at: u64,
    flusher_at: u64,
    /// Operations refused since nothing was free.
    pub refused: u64,
    /// Scratch.
    pages: Vec<u64>,
}

/// The page of a file in the cache.
#[inline]
fn key(slot: u32, page: u64) -> u64 {
    u64::from(slot) << 32 | page
}

impl System {
    /// An empty one of so many sectors, for so many files and directories.
    pub(super) fn new(spec: &FilesSpec, layout: Layout, cache: PageCache) -> Self {
        let unit = spec.unit_blocks();
        let mut space = Space::new(layout.blocks / unit, GROUP_BLOCKS / unit);
        space.take(Extent { start: 0, len: layout.data.div_ceil(unit) });
        let seconds = |s: f64| (s * 1e9) as u64;
        let rules = cache.rules;
        System {
            out: Out::new(rules.run_pages as u32),
            flusher_at: rules.flusher_ns,
            cache,
            files: Vec::new(),
            journal: Journal::new(layout.journal, seconds(spec.journal_home_s), spec.journal_full_percent),
            freed: Freed::new(spec.discard, seconds(spec.discard_every_s)),
            layout,
            space,
            unit,
            promised: 0,
            next_id: FIRST,
            commit_ns: seconds(spec.commit_s),
            batch_ns: seconds(spec.batch_ms / 1e3),
            commit_at: u64::MAX,
            refused: 0,
            pages: Vec::new(),
        }
    }

    fn units(&self, bytes: u64) -> u32 {
        bytes.div_ceil(PAGE_BYTES * u64::from(self.unit)) as u32
    }

    /// Units that are neither used nor promised.
    pub(super) fn free_units(&self) -> u32 {
        self.space.free().saturating_sub(self.promised)
    }

    /// Bytes of a unit.
    pub(super) fn unit_bytes(&self) -> u64 {
        PAGE_BYTES * u64::from(self.unit)
    }

    /// A file that was there before the first request: so many bytes, nothing of it in memory. `false` if there is no
    /// room.
    pub(super) fn format_file(&mut self, slot: u32, bytes: u64) -> bool {
        if self.units(bytes) > self.space.free() {
            return false;
        }
        self.new_file(slot);
        self.files[slot as usize].bytes = bytes;
        self.promised += self.units(bytes);
        self.assign(slot);
        true
    }

    fn new_file(&mut self, slot: u32) {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1).max(FIRST);
        self.files[slot as usize] = File { id, name: id, is_there: true, ..File::default() };
    }

    /// A file is in memory at the start, as far as there is room; whether there is.
    pub(super) fn warm(&mut self, slot: u32) -> bool {
        for page in 0..self.files[slot as usize].pages() {
            if self.cache.is_full() {
                return false;
            }
            if !self.cache.holds(key(slot, page)) {
                self.cache.add(key(slot, page));
            }
        }
        true
    }

    /// Forgets what formatting has changed in the metadata: it is on the drive.
    pub(super) fn mount(&mut self, spec: &FilesSpec) {
        let seconds = (spec.journal_home_s * 1e9) as u64;
        self.journal = Journal::new(self.layout.journal, seconds, spec.journal_full_percent);
        self.commit_at = u64::MAX;
        self.files.iter_mut().for_each(|file| file.changed_in = 0);
        self.space.rewind();
        self.out.queue.clear();
        if spec.trim_at_start {
            trim_free(&self.space, self.unit, &mut self.out);
        }
    }

    /// The running transaction changes a metadata block.
    fn join(&mut self, block: u32) {
        if self.journal.is_empty() {
            self.commit_at = self.out.now_ns.saturating_add(self.commit_ns);
        }
        self.journal.join(block);
    }

    fn change_inode(&mut self, slot: u32) {
        self.join(self.layout.inode(slot));
        self.files[slot as usize].changed_in = self.journal.running();
    }

    fn change_directory(&mut self, slot: u32) {
        let name = self.files[slot as usize].name;
        self.layout.directory(slot, name).into_iter().for_each(|block| self.join(block));
    }

    /// The bitmap and the descriptor of the group that a block lies in.
    fn change_bitmap(&mut self, unit: u32) {
        let blocks = self.layout.bitmap(self.space.group_of(unit));
        blocks.into_iter().for_each(|block| self.join(block));
    }

    /// An empty file.
    pub(super) fn create(&mut self, slot: u32) {
        self.new_file(slot);
        self.layout.inode_bitmap(slot).into_iter().for_each(|block| self.join(block));
        self.change_inode(slot);
        self.change_directory(slot);
    }

    /// Another name, in the same directory.
    pub(super) fn rename(&mut self, slot: u32) {
        self.change_directory(slot);
        self.files[slot as usize].name ^= 0x5bd1_e995;
        self.change_directory(slot);
        self.change_inode(slot);
    }

    /// The file is no more; what was never written of it never will be.
    pub(super) fn delete(&mut self, slot: u32) {
        self.truncate(slot);
        self.layout.inode_bitmap(slot).into_iter().for_each(|block| self.join(block));
        self.change_directory(slot);
        self.files[slot as usize].is_there = false;
    }

    /// The file has no bytes left.
    pub(super) fn truncate(&mut self, slot: u32) {
        let (pages, bytes) = (self.files[slot as usize].pages(), self.files[slot as usize].bytes);
        (0..pages).for_each(|page| {
            self.cache.remove(key(slot, page));
        });
        self.promised -= self.units(bytes) - self.files[slot as usize].units;
        let pieces = std::mem::take(&mut self.files[slot as usize].pieces);
        for Piece { place, .. } in pieces {
            self.change_bitmap(place.start);
            self.change_bitmap(place.end() - 1);
            self.freed.add(place);
        }
        let file = &mut self.files[slot as usize];
        (file.bytes, file.units, file.ahead, file.dirty) = (0, 0, (0, 0), (0, 0));
        self.change_inode(slot);
        if self.journal.is_large() {
            self.commit();
        }
    }

    fn hints(&self, slot: u32, who: Who) -> Hints {
        let file = &self.files[slot as usize];
        let class = if file.is_secure { 2 } else { 1 };
        Hints { file: file.id, process: who.process, context: who.context, class, ..Hints::default() }
    }

    /// The files there are and where they lie; before the first request, those of the start.
    pub(super) fn files_now(&self) -> FilesAtStart {
        let sectors = |units: u32| u64::from(units * self.unit) * PAGE_SECTORS;
        let of_file = |(slot, file): (u32, &File)| {
            let hints = self.hints(slot, Who::default());
            let held = |piece: &Piece| Held {
                hints,
                lba: sectors(piece.place.start),
                sectors: sectors(piece.place.len),
            };
            file.pieces.iter().map(held).collect::<Vec<_>>()
        };
        FilesAtStart { first: FIRST, held: (0..).zip(&self.files).flat_map(of_file).collect() }
    }

    /// Writes bytes of a file, from `offset` on, which is not behind its end. `false`, and nothing is written, if there
    /// is no room.
    pub(super) fn write(&mut self, slot: u32, offset: u64, bytes: u64, who: Who) -> bool {
        let file = &self.files[slot as usize];
        let (old_pages, old_bytes) = (file.pages(), file.bytes);
        let end = offset + bytes;
        let more = self.units(end.max(old_bytes)) - self.units(old_bytes);
        if more > self.free_units() {
            self.commit();
            if more > self.free_units() {
                self.refused += 1;
                return false;
            }
        }
        self.promised += more;
        self.files[slot as usize].bytes = end.max(old_bytes);
        let hints = self.hints(slot, who);
        let file = &mut self.files[slot as usize];
        let (first, behind) = (offset / PAGE_BYTES, end.div_ceil(PAGE_BYTES));
        file.dirty = match file.dirty {
            (low, high) if low == high => (first as u32, behind as u32),
            (low, high) => (low.min(first as u32), high.max(behind as u32)),
        };
        for page in first..behind {
            let key = key(slot, page);
            let at = self.cache.touch(key).unwrap_or_else(|| {
                let is_covered = offset <= page * PAGE_BYTES && end >= old_bytes.min((page + 1) * PAGE_BYTES);
                if page < old_pages && !is_covered {
                    self.fetch(slot, page, 1, hints)
                } else {
                    self.make_room();
                    self.cache.add(key)
                }
            });
            self.cache.soil(at, self.out.now_ns, hints);
            while self.cache.dirty_pages() > self.cache.rules.limit {
                self.write_oldest();
            }
        }
        self.change_inode(slot);
        true
    }

    /// Reads so many pages of a file, as far as it has them.
    pub(super) fn read(&mut self, slot: u32, first: u64, count: u64, who: Who) {
        let hints = self.hints(slot, who);
        let end = (first + count).min(self.files[slot as usize].pages());
        let mut page = first;
        while page < end {
            if self.cache.touch(key(slot, page)).is_some() {
                page += 1;
                continue;
            }
            let (next, last) = self.files[slot as usize].ahead;
            let is_sequential = page == 0 || page == u64::from(next);
            let (least, most) = self.cache.rules.ahead;
            let asked = (end - page).min(self.cache.rules.run_pages);
            // Doubles while one reads on; what is asked for is read in any case.
            let ahead = if is_sequential { (2 * u64::from(last)).clamp(least, most) } else { 0 };
            let window = asked.max(ahead).min(self.files[slot as usize].pages() - page);
            let missing =
                (1..window).take_while(|&i| !self.cache.holds(key(slot, page + i))).count() as u64 + 1;
            self.fetch(slot, page, missing, hints);
            page += missing;
            self.files[slot as usize].ahead = (page as u32, ahead as u32);
        }
        let file = &mut self.files[slot as usize];
        file.ahead.0 = file.ahead.0.max(end as u32);
    }

    /// Brings pages that are on the drive into memory; the slot of the last.
    fn fetch(&mut self, slot: u32, first: u64, count: u64, hints: Hints) -> u32 {
        let mut last = 0;
        for page in first..first + count {
            self.make_room();
            last = self.cache.add(key(slot, page));
        }
        self.transfer(OpCode::Read, slot, first, count, hints);
        last
    }

    /// Reads or writes pages where they lie.
    fn transfer(&mut self, op: OpCode, slot: u32, first: u64, count: u64, hints: Hints) {
        let unit = self.unit;
        let (mut at, mut end) = (first as u32, (first + count) as u32);
        if op == OpCode::Write {
            // Whole units.
            (at, end) = (at / unit * unit, end.next_multiple_of(unit));
        }
        let pieces = &self.files[slot as usize].pieces;
        let mut index = pieces.partition_point(|piece| (piece.at + piece.place.len) * unit <= at);
        while at < end {
            let piece = &pieces[index];
            let skipped = at - piece.at * unit;
            let len = (piece.place.len * unit - skipped).min(end - at);
            let extent = Extent { start: piece.place.start * unit + skipped, len };
            self.out.blocks(op, extent, false, hints);
            at += len;
            index += 1;
        }
    }

    /// Makes room for one page.
    fn make_room(&mut self) {
        while self.cache.is_full() {
            let Some((page, is_dirty)) = self.cache.oldest() else { return };
            if is_dirty {
                self.write_back(page);
            }
            self.cache.remove(page);
        }
    }

    /// Writes the pages that have been dirty longest.
    fn write_oldest(&mut self) {
        if let Some((page, _)) = self.cache.oldest_dirty() {
            self.write_back(page);
        }
    }

    /// Writes a dirty page and those beside it, at last giving them blocks. The page behind those written.
    fn write_back(&mut self, page: u64) -> u64 {
        let slot = (page >> 32) as u32;
        let Some((first, count, hints)) = self.cache.take_run(page) else { return page + 1 };
        let behind = first + count;
        let first = first & u64::from(u32::MAX);
        if first + count > u64::from(self.files[slot as usize].units * self.unit) {
            self.assign(slot);
        }
        self.transfer(OpCode::Write, slot, first, count, hints);
        behind
    }

    /// Gives blocks to all of a file that has none.
    fn assign(&mut self, slot: u32) {
        let file = &self.files[slot as usize];
        let mut missing = self.units(file.bytes) - file.units;
        self.promised -= missing;
        while missing > 0 {
            let goal = self.files[slot as usize].pieces.last().map(|piece| piece.place.end());
            let place = self.space.allocate(missing, goal);
            let place = place.expect("room was promised");
            let file = &mut self.files[slot as usize];
            match file.pieces.last_mut() {
                Some(last) if last.place.end() == place.start => last.place.len += place.len,
                _ => file.pieces.push(Piece { at: file.units, place }),
            }
            file.units += place.len;
            missing -= place.len;
            self.change_bitmap(place.start);
            if self.space.group_of(place.end() - 1) != self.space.group_of(place.start) {
                self.change_bitmap(place.end() - 1);
            }
        }
        self.change_inode(slot);
    }

    /// What was written to a file is to be durable: its data now, its metadata with the commit that others share.
    /// The transaction that must commit before whoever asked goes on, if there is one.
    pub(super) fn fsync(&mut self, slot: u32) -> Option<u64> {
        let mut pages = std::mem::take(&mut self.pages);
        let (first, behind) = std::mem::take(&mut self.files[slot as usize].dirty);
        self.cache.dirty_in(key(slot, u64::from(first))..key(slot, u64::from(behind)), &mut pages);
        let mut behind = 0;
        for &page in &pages {
            // Those that a run before has taken are clean.
            if page >= behind {
                behind = self.write_back(page);
            }
        }
        let mut waits_for = None;
        if !self.journal.is_empty() && self.files[slot as usize].changed_in == self.journal.running() {
            self.commit_at = self.commit_at.min(self.out.now_ns.saturating_add(self.batch_ns));
            waits_for = Some(self.journal.running());
            if self.batch_ns == 0 {
                self.commit();
            }
        } else if !pages.is_empty() {
            self.out.flush();
        }
        self.pages = pages;
        waits_for
    }

    /// Writes bytes of a file past the page cache, and waits until they are durable.
    pub(super) fn write_through(&mut self, slot: u32, first: u64, count: u64, who: Who) {
        let hints = self.hints(slot, who);
        self.transfer(OpCode::Write, slot, first, count, hints);
    }

    /// The same for a database's doublewrite area, which has hints of its own.
    pub(super) fn write_double(&mut self, slot: u32, first: u64, count: u64) {
        self.transfer(OpCode::Write, slot, first, count, super::out::own(DOUBLEWRITE));
    }

    /// Reads pages of a file past the page cache.
    pub(super) fn read_through(&mut self, slot: u32, first: u64, count: u64, who: Who) {
        let hints = self.hints(slot, who);
        self.transfer(OpCode::Read, slot, first, count, hints);
    }

    /// Number of the running transaction.
    pub(super) fn running(&self) -> u64 {
        self.journal.running()
    }

    /// The running transaction commits.
    pub(super) fn commit(&mut self) {
        self.commit_at = u64::MAX;
        self.journal.commit(self.out.now_ns, &mut self.out);
        self.freed.committed(&mut self.space, self.unit, &mut self.out);
    }

    /// Does what is due until now, each at its time, and what the flusher does since too much is dirty.
    pub(super) fn catch_up(&mut self, now_ns: u64) {
        loop {
            let trim_at = self.freed.due_at();
            let at = self.commit_at.min(self.flusher_at).min(trim_at);
            if at > now_ns {
                break;
            }
            self.out.now_ns = at;
            if at == self.commit_at {
                self.commit();
            } else if at == self.flusher_at {
                self.flusher_at += self.cache.rules.flusher_ns;
                let oldest = at.saturating_sub(self.cache.rules.expire_ns);
                while at >= self.cache.rules.expire_ns
                    && self.cache.oldest_dirty().is_some_and(|(_, since)| since <= oldest)
                {
                    self.write_oldest();
                }
                self.journal.due_home(at, &mut self.out);
            } else {
                self.freed.trim_all(&self.space, self.unit, &mut self.out);
            }
        }
        self.out.now_ns = now_ns;
    }

    /// What the operation leaves for the flusher.
    pub(super) fn settle(&mut self) {
        while self.cache.dirty_pages() > self.cache.rules.background {
            self.write_oldest();
        }
        if self.journal.is_large() {
            self.commit();
        }
    }
}

#[cfg(test)]
impl System {
    /// The blocks of a file, in its order.
    pub(super) fn blocks_of(&self, file: &File) -> Vec<u32> {
        let all =
            file.pieces.iter().flat_map(|piece| piece.place.start * self.unit..piece.place.end() * self.unit);
        all.collect()
    }

    pub(super) fn all_blocks(&self) -> u32 {
        self.layout.blocks
    }

    pub(super) fn journal_blocks(&self) -> Extent {
        self.layout.journal
    }
}
