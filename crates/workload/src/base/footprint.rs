//! What a workload touches and how much it does: needed to size a drive for it.

use crate::base::error::WorkloadError;
use crate::base::pages::PageSet;
use crate::base::request::{PAGE_BYTES, PAGE_SECTORS, Request, Source};
use ssd::signals::OpCode;

/// Totals of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Distinct 4 KiB pages read or written (of each device for itself).
    pub pages: u64,
    /// Reads and writes.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims (their pages are not counted).
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// From the first arrival to the last, in nanoseconds.
    pub duration_ns: u64,
    /// One past the last sector addressed.
    pub end_lba: u64,
}

impl Footprint {
    /// Bytes of the pages touched.
    pub fn bytes(&self) -> u64 {
        self.pages * PAGE_BYTES
    }

    /// Share of reads among reads and writes, in percent; 0 if there are none.
    pub fn read_percent(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { 100.0 * self.reads as f64 / self.requests as f64 }
    }

    /// Share of the bytes read among those read and written, in percent; `None` if there are none.
    pub fn read_bytes_percent(&self) -> Option<f64> {
        let bytes = self.bytes_read as f64 + self.bytes_written as f64;
        (bytes > 0.0).then(|| 100.0 * self.bytes_read as f64 / bytes)
    }
}

/// Runs through a source and adds it up. Memory: about a bit for every page touched (at most 100 bytes for one
/// that lies alone).
pub fn footprint(source: &mut dyn Source) -> Result<Footprint, WorkloadError> {
    let mut meter = Meter::default();
    while let Some(request) = source.next()? {
        meter.add(&request, 0);
    }
    Ok(meter.finish())
}

/// Adds up requests one by one, but for the pages they touch.
#[derive(Default)]
pub(crate) struct Totals {
    sums: Footprint,
    first_ns: Option<u64>,
}

impl Totals {
    /// Adds a request; the first and the last page that it reads or writes come back.
    #[inline]
    pub(crate) fn add(&mut self, request: &Request) -> Option<(u64, u64)> {
        let sums = &mut self.sums;
        let first_ns = *self.first_ns.get_or_insert(request.arrival_ns);
        sums.duration_ns = sums.duration_ns.max(request.arrival_ns.saturating_sub(first_ns));
        match request.op {
            OpCode::Read => {
                sums.reads += 1;
                sums.bytes_read = sums.bytes_read.saturating_add(request.bytes());
            }
            OpCode::Write => {
                sums.writes += 1;
                sums.bytes_written = sums.bytes_written.saturating_add(request.bytes());
            }
            OpCode::Trim => sums.trims += 1,
            OpCode::Flush => sums.flushes += 1,
        }
        if request.sectors == 0 {
            return None;
        }
        sums.end_lba = sums.end_lba.max(request.end());
        let is_access = matches!(request.op, OpCode::Read | OpCode::Write);
        is_access.then(|| (request.lba / PAGE_SECTORS, (request.end() - 1) / PAGE_SECTORS))
    }

    /// The totals, with so many pages touched.
    pub(crate) fn finish(&self, pages: u64) -> Footprint {
        Footprint { pages, requests: self.sums.reads + self.sums.writes, ..self.sums }
    }
}

/// Adds up requests one by one.
#[derive(Default)]
pub(crate) struct Meter {
    totals: Totals,
    pub pages: PageSet,
}

impl Meter {
    /// Adds a request whose pages are numbered from `page_base`.
    #[inline]
    pub(crate) fn add(&mut self, request: &Request, page_base: u64) {
        if let Some((first, last)) = self.totals.add(request) {
            self.pages.insert(page_base + first, page_base + last);
        }
    }

    /// The totals.
    pub(crate) fn finish(&self) -> Footprint {
        self.totals.finish(self.pages.len())
    }
}
