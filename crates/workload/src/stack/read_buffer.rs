//! A read buffer by itself: which reads an exact LRU of a given size would answer (the read-buffer study of redFTL,
//! redFTL table 1). A cross-check of the drive's own buffer, and a figure that needs no drive.

use crate::base::error::WorkloadError;
use crate::base::pages::ChunkHasher;
use crate::base::request::{Request, SECTOR_BYTES, Source};
use ssd::signals::OpCode;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// No slot.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Slot {
    page: u64,
    newer: u32,
    older: u32,
}

/// An LRU buffer of whole pages. Pages that are read or written enter it; reads are counted.
pub struct ReadBuffer {
    page_sectors: u64,
    capacity: usize,
    /// Only looked up, never walked.
    index: HashMap<u64, u32, BuildHasherDefault<ChunkHasher>>,
    slots: Vec<Slot>,
    newest: u32,
    oldest: u32,
    hits: u64,
    reads: u64,
}

impl ReadBuffer {
    /// A buffer of so many bytes in pages of so many (at least one page, each at least a sector).
    pub fn new(size_bytes: u64, page_bytes: u64) -> Self {
        let page_bytes = page_bytes.max(SECTOR_BYTES);
        ReadBuffer {
            page_sectors: page_bytes / SECTOR_BYTES,
            capacity: (size_bytes / page_bytes).clamp(1, u64::from(NONE - 1)) as usize,
            index: HashMap::default(),
            slots: Vec::new(),
            newest: NONE,
            oldest: NONE,
            hits: 0,
            reads: 0,
        }
    }

    /// Serves a request; trims and flushes change nothing.
    pub fn add(&mut self, request: &Request) {
        self.add_on(request, 0);
    }

    /// The same of one of several devices, each with pages of its own.
    pub fn add_on(&mut self, request: &Request, device: u16) {
        if request.sectors == 0 || !matches!(request.op, OpCode::Read | OpCode::Write) {
            return;
        }
        let is_read = request.op == OpCode::Read;
        for page in request.lba / self.page_sectors..=(request.end() - 1) / self.page_sectors {
            // 2^48 pages are 128 PiB at least; what lies beyond may share pages with another device.
            let is_hit = self.touch(page ^ u64::from(device) << 48);
            self.reads += u64::from(is_read);
            self.hits += u64::from(is_read && is_hit);
        }
    }

    /// Forgets the counts, not the pages: what came so far was warming up.
    pub fn start_counting(&mut self) {
        (self.hits, self.reads) = (0, 0);
    }

    /// Pages read that were in the buffer, and all pages read.
    pub fn counts(&self) -> (u64, u64) {
        (self.hits, self.reads)
    }

    /// Share of pages read that were in the buffer, in percent; 0 if nothing was read.
    pub fn hit_percent(&self) -> f64 {
        if self.reads == 0 { 0.0 } else { 100.0 * self.hits as f64 / self.reads as f64 }
    }

    /// Makes a page the newest; true if it was there.
    fn touch(&mut self, page: u64) -> bool {
        if let Some(&slot) = self.index.get(&page) {
            if slot != self.newest {
                self.unlink(slot);
                self.link(slot);
            }
            return true;
        }
        let slot = if self.slots.len() < self.capacity {
            self.slots.push(Slot { page, newer: NONE, older: NONE });
            (self.slots.len() - 1) as u32
        } else {
            let slot = self.oldest;
            self.index.remove(&self.slots[slot as usize].page);
            self.unlink(slot);
            self.slots[slot as usize].page = page;
            slot
        };
        self.index.insert(page, slot);
        self.link(slot);
        false
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }

    fn link(&mut self, slot: u32) {
        let older = self.newest;
        self.slots[slot as usize] = Slot { newer: NONE, older, ..self.slots[slot as usize] };
        match older {
            NONE => self.oldest = slot,
            older => self.slots[older as usize].newer = slot,
        }
        self.newest = slot;
    }
}

/// Hit ratios, in percent, of LRU buffers of these sizes in pages of `page_bytes`, over all of a workload but its first
/// `warm_up` requests.
pub fn read_hit_percent(
    source: &mut dyn Source,
    page_bytes: u64,
    sizes_bytes: &[u64],
    warm_up: u64,
) -> Result<Vec<f64>, WorkloadError> {
    let mut buffers: Vec<ReadBuffer> =
        sizes_bytes.iter().map(|&size| ReadBuffer::new(size, page_bytes)).collect();
    let mut seen = 0;
    while let Some(request) = source.next()? {
        if seen == warm_up {
            buffers.iter_mut().for_each(ReadBuffer::start_counting);
        }
        seen += 1;
        buffers.iter_mut().for_each(|buffer| buffer.add(&request));
    }
    Ok(buffers.iter().map(ReadBuffer::hit_percent).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;

    #[test]
    fn agrees_with_a_list_that_is_searched() {
        let mut rng = Rng::named(1, "read buffer");
        for capacity in [1usize, 2, 7, 50] {
            let mut buffer = ReadBuffer::new(capacity as u64 * 8192, 8192);
            let mut list: Vec<u64> = Vec::new();
            let (mut hits, mut reads) = (0, 0);
            for _ in 0..20_000 {
                let first = u64::from(rng.below(60));
                let last = first + u64::from(rng.below(3));
                let op = if rng.below(4) == 0 { OpCode::Write } else { OpCode::Read };
                let sectors = (last - first + 1) as u32 * 16;
                buffer.add(&Request { op, lba: first * 16, sectors, ..Request::default() });
                for page in first..=last {
                    let at = list.iter().position(|&p| p == page);
                    at.map(|at| list.remove(at));
                    list.insert(0, page);
                    list.truncate(capacity);
                    reads += u64::from(op == OpCode::Read);
                    hits += u64::from(op == OpCode::Read && at.is_some());
                }
            }
            assert_eq!(buffer.counts(), (hits, reads), "{capacity} pages");
        }
    }

    #[test]
    fn parts_of_pages_count_as_pages_and_trims_do_not() {
        let mut buffer = ReadBuffer::new(1 << 20, 8192);
        let request = |op, lba, sectors| Request { op, lba, sectors, ..Request::default() };
        buffer.add(&request(OpCode::Read, 15, 2));
        buffer.add(&request(OpCode::Trim, 0, 64));
        buffer.add(&request(OpCode::Read, 0, 1));
        assert_eq!(buffer.counts(), (1, 3));
        buffer.start_counting();
        assert_eq!((buffer.counts(), buffer.hit_percent()), ((0, 0), 0.0));
        buffer.add_on(&request(OpCode::Read, 0, 1), 1);
        assert_eq!(buffer.counts(), (0, 1), "another device's page");
    }
}
