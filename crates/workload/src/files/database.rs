//! A database in files, in the manner of InnoDB: pages in a buffer pool, a redo log in a ring, and pages written twice.
//!
//! Tables are files past the page cache (`O_DIRECT`). A commit writes the redo and flushes. Changed pages are written,
//! the oldest first, when too much of the pool is dirty or when the redo that would be needed for them fills three
//! quarters of the ring: in batches, first in a row to the doublewrite area, then, after a flush, each to its place
//! (MySQL reference manual, "InnoDB Disk I/O", "Doublewrite Buffer"; batch and thresholds are assumed).

use super::spec::FilesSpec;
use super::system::{System, Who};
use crate::base::request::PAGE_BYTES;
use crate::stack::page_cache::{PageCache, Rules};
use ssd::signals::Hints;

/// Pages of a batch: 1 MiB of 16-KiB pages.
const BATCH: usize = 64;

#[derive(Clone)]
pub(super) struct Database {
    /// Pages of the database; a dirty one's age is the place in the redo log, in bytes.
    pool: PageCache,
    /// 4-KiB pages of one of its pages.
    page: u64,
    /// Redo written so far, and not yet written, in bytes.
    redo: u64,
    pending: u64,
    redo_slot: u32,
    redo_bytes: u64,
    double_slot: Option<u32>,
    double_at: u64,
    row_bytes: u64,
    last_deleted: Option<(u32, u64)>,
    batch: Vec<u64>,
}

impl Database {
    /// Bytes of the doublewrite area: two batches.
    pub(super) fn double_bytes(spec: &FilesSpec) -> u64 {
        2 * BATCH as u64 * (spec.page_kib << 10)
    }

    pub(super) fn new(spec: &FilesSpec, tables_bytes: u64, redo_slot: u32, double_slot: Option<u32>) -> Self {
        let pages = spec.cache_pages(tables_bytes, spec.page_kib << 10);
        let background = (pages as f64 * (spec.background_percent / 100.0)) as usize;
        Database {
            pool: PageCache::new(Rules { background, ..Rules::usual(pages) }),
            page: spec.page_kib / 4,
            redo: 0,
            pending: 0,
            redo_slot,
            redo_bytes: spec.redo_mib << 20,
            double_slot,
            double_at: 0,
            row_bytes: spec.redo_bytes,
            last_deleted: None,
            batch: Vec::new(),
        }
    }

    /// A page is in the pool at the start, if there is room; whether there is.
    pub(super) fn warm(&mut self, slot: u32, page: u64) -> bool {
        let key = u64::from(slot) << 32 | page;
        if !self.pool.is_full() && !self.pool.holds(key) {
            self.pool.add(key);
        }
        !self.pool.is_full()
    }

    /// Brings a page of a table into the pool; its slot there.
    pub(super) fn read(&mut self, system: &mut System, slot: u32, page: u64, who: Who) -> u32 {
        let key = u64::from(slot) << 32 | page;
        if let Some(at) = self.pool.touch(key) {
            return at;
        }
        while self.pool.is_full() {
            match self.pool.oldest() {
                Some((_, true)) => self.write_batch(system),
                Some((page, false)) => self.pool.remove(page),
                None => break,
            }
        }
        system.read_through(slot, page * self.page, self.page, who);
        self.pool.add(key)
    }

    /// Changes a row in a page.
    pub(super) fn update(&mut self, system: &mut System, slot: u32, page: u64, who: Who) {
        let at = self.read(system, slot, page, who);
        let hints = Hints { process: who.process, context: who.context, ..Hints::default() };
        self.pool.soil(at, self.redo + self.pending, hints);
        self.pending += self.row_bytes;
    }

    /// Deletes a row, or inserts the one that was deleted last.
    pub(super) fn replace(&mut self, system: &mut System, row: (u32, u64), is_insert: bool, who: Who) {
        let (slot, page) = if is_insert { self.last_deleted.unwrap_or(row) } else { row };
        self.last_deleted = Some((slot, page));
        self.update(system, slot, page, who);
    }

    /// What was changed is durable.
    pub(super) fn commit(&mut self, system: &mut System, who: Who) {
        if self.pending == 0 {
            return;
        }
        let (first, end) = (self.redo / PAGE_BYTES, (self.redo + self.pending).div_ceil(PAGE_BYTES));
        let ring = self.redo_bytes / PAGE_BYTES;
        let (mut at, mut left) = (first % ring, end - first);
        while left > 0 {
            let count = left.min(ring - at);
            system.write_through(self.redo_slot, at, count, who);
            (at, left) = ((at + count) % ring, left - count);
        }
        system.out.flush();
        self.redo += self.pending;
        self.pending = 0;
    }

    /// Writes changed pages until few enough are left.
    pub(super) fn settle(&mut self, system: &mut System) {
        let most = self.redo_bytes / 4 * 3;
        while self.pool.dirty_pages() > self.pool.rules.background
            || self.pool.oldest_dirty().is_some_and(|(_, since)| self.redo.saturating_sub(since) > most)
        {
            self.write_batch(system);
        }
    }

    /// Writes the pages that were changed first.
    fn write_batch(&mut self, system: &mut System) {
        // Redo goes before data.
        let writer = self.pool.oldest_dirty().and_then(|(page, _)| self.pool.dirt(page)).unwrap_or_default();
        let who = |hints: Hints| Who { process: hints.process, context: hints.context };
        self.commit(system, who(writer));
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        while let Some((page, _)) = self.pool.oldest_dirty().filter(|_| batch.len() < BATCH) {
            batch.push(page);
            self.pool.clean(page);
        }
        if let Some(slot) = self.double_slot {
            system.write_double(slot, self.double_at, batch.len() as u64 * self.page);
            // One half after the other.
            self.double_at = BATCH as u64 * self.page - self.double_at;
            system.out.flush();
        }
        batch.sort_unstable();
        for run in batch.chunk_by(|a, b| a + 1 == *b) {
            let (slot, page) = ((run[0] >> 32) as u32, run[0] & u64::from(u32::MAX));
            system.write_through(slot, page * self.page, run.len() as u64 * self.page, who(writer));
        }
        system.out.flush();
        self.batch = batch;
    }
}
