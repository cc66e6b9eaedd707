//! What a workload is like: its shares, sizes, skew, reuse and pace, found in one pass and bounded memory.
//!
//! A page is 4 KiB, and a request accesses each page that it touches once. Devices have pages of their own. Trims and
//! flushes are counted, and access nothing.

mod counts;
mod distances;
mod histogram;
mod pages;
mod popularity;
mod rates;
mod reuse;
mod sequence;
mod sizes;
mod slabs;
mod tally;
mod updates;

use crate::base::footprint::{Footprint, Totals};
use crate::base::request::{PAGE_SECTORS, Record};
use crate::trace::address::page_base;
use crate::trace::survey::bases;
use pages::PageTable;
pub use pages::{EXTENT_BYTES, Popularities, Rewrites};
pub use popularity::Popularity;
pub use rates::{Bin, Rates};
use reuse::Reuse;
pub use reuse::{MissRatio, SAMPLE_PAGES};
pub use sequence::Sequence;
use sizes::Sizes;
use ssd::signals::OpCode;
use std::collections::BTreeMap;
pub use tally::Tallied;
use tally::Tally;
pub use updates::Updates;

/// What the tallies, the sizes, the updates of contexts and the sample of reuse distances take at most, together.
const FIXED_BYTES: u64 = 32 << 20;

/// Requests looked at together.
const BATCH: usize = 64;

/// How a workload is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Memory that it may take, in bytes; past that, pages are sampled.
    pub memory_bytes: u64,
    /// Follow every page for the miss-ratio curve, as far as half of the memory goes, instead of a sample.
    pub exact: bool,
}

impl Options {
    /// The least memory that makes sense, in bytes.
    pub const MEMORY_BYTES_MIN: u64 = 2 * FIXED_BYTES;
}

impl Default for Options {
    fn default() -> Self {
        Options { memory_bytes: 1 << 30, exact: false }
    }
}

/// Looks into a workload, request by request.
pub struct Analyzer {
    totals: Totals,
    /// One past the last sector of each device.
    ends: Vec<u64>,
    pages: PageTable,
    reuse: Reuse,
    exact: bool,
    sequence: Sequence,
    rates: Rates,
    read_sizes: Sizes,
    write_sizes: Sizes,
    fua: u64,
    by: By<Tally>,
    updates: Updates,
    /// Requests that are looked at together: what is known of their pages is loaded for all at once.
    batch: Vec<Record>,
}

/// Something for each number that a request carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct By<T> {
    /// Device.
    pub device: T,
    /// Stream hint; requests without one are not counted, here and below.
    pub stream: T,
    /// File hint.
    pub file: T,
    /// Process hint.
    pub process: T,
    /// Program context.
    pub context: T,
    /// Priority.
    pub priority: T,
    /// Security class.
    pub class: T,
}

impl<T> By<T> {
    /// Each with what the numbers are called.
    pub fn named(&self) -> [(&'static str, &T); 7] {
        [
            ("devices", &self.device),
            ("streams", &self.stream),
            ("files", &self.file),
            ("processes", &self.process),
            ("contexts", &self.context),
            ("priorities", &self.priority),
            ("classes", &self.class),
        ]
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Totals; the pages touched are an estimate if extents are sampled.
    pub footprint: Footprint,
    /// Requests with forced unit access.
    pub fua: u64,
    /// Sizes of reads in sectors, with how often they occur; 0 stands for what was beyond 65,536 different large ones.
    pub read_sizes: BTreeMap<u32, u64>,
    /// The same of writes.
    pub write_sizes: BTreeMap<u32, u64>,
    /// Sequential requests.
    pub sequence: Sequence,
    /// How accesses fall on pages.
    pub popularity: Popularities,
    /// How often pages are written again.
    pub rewrites: Rewrites,
    /// The miss-ratio curve of all accesses, with those of the reads and of the writes among them.
    pub miss_ratio: [MissRatio; 3],
    /// The rate over time.
    pub rates: Rates,
    /// Who asks for how much.
    pub by: By<Tallied>,
    /// Which program contexts write pages again.
    pub updates: Updates,
    /// Share of the pages that the miss-ratio curve is made of; 1 if all.
    pub reuse_rate: f64,
    /// Share of the extents that popularity, rewrites and footprint are made of; 1 if all.
    pub pages_rate: f64,
    /// The curve was to be exact.
    pub exact: bool,
}

impl Analyzer {
    /// Begins.
    pub fn new(options: Options) -> Self {
        let left = options.memory_bytes.saturating_sub(FIXED_BYTES).max(1 << 20);
        let (pages, reuse) =
            if options.exact { (left / 2, Reuse::exact(left / 2)) } else { (left, Reuse::new(SAMPLE_PAGES)) };
        Analyzer {
            totals: Totals::default(),
            ends: Vec::new(),
            pages: PageTable::new(pages),
            reuse,
            exact: options.exact,
            sequence: Sequence::default(),
            rates: Rates::default(),
            read_sizes: Sizes::default(),
            write_sizes: Sizes::default(),
            fua: 0,
            by: By::default(),
            updates: Updates::default(),
            batch: Vec::with_capacity(BATCH),
        }
    }

    /// Looks at a request.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        self.batch.push(*record);
        if self.batch.len() == BATCH {
            self.look();
        }
    }

    /// Looks at the requests of the batch.
    fn look(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.pages.load(batch.iter().filter(|record| record.request.sectors > 0).map(|record| {
            let page = |sector: u64| page_base(record.device) + sector / PAGE_SECTORS;
            (page(record.request.lba), page(record.request.end() - 1))
        }));
        batch.iter().for_each(|record| self.look_at(record));
        self.batch = batch;
        self.batch.clear();
    }

    fn look_at(&mut self, record: &Record) {
        let request = &record.request;
        self.fua += u64::from(request.fua);
        let device = usize::from(record.device);
        if self.ends.len() <= device {
            self.ends.resize(device + 1, 0);
        }
        if request.sectors > 0 {
            self.ends[device] = self.ends[device].max(request.end());
        }
        let Some((first, last)) = self.totals.add(request) else { return };
        let is_read = request.op == OpCode::Read;
        if is_read { &mut self.read_sizes } else { &mut self.write_sizes }.add(request.sectors);
        let base = page_base(record.device);
        let again = self.pages.add(base + first, base + last, is_read, request.arrival_ns);
        self.updates.add(request.hints.context, again);
        self.reuse.add(base + first, base + last, is_read, self.pages.distinct());
        self.sequence.add(record);
        self.rates.add(request);
        self.by.device.add(u32::from(record.device), request);
        let hints = &request.hints;
        let by = [
            (&mut self.by.stream, u32::from(hints.stream)),
            (&mut self.by.file, hints.file),
            (&mut self.by.process, hints.process),
            (&mut self.by.context, hints.context),
            (&mut self.by.priority, u32::from(hints.priority)),
            (&mut self.by.class, u32::from(hints.class)),
        ];
        for (tally, number) in by {
            if number != 0 {
                tally.add(number, request);
            }
        }
    }

    /// What was found.
    pub fn finish(mut self) -> Analysis {
        self.look();
        let mut footprint = self.totals.finish(self.pages.pages());
        // As a drive would hold them: one device after the other.
        bases(&self.ends, &mut footprint.end_lba);
        let by = self.by;
        Analysis {
            footprint,
            fua: self.fua,
            read_sizes: self.read_sizes.finish(),
            write_sizes: self.write_sizes.finish(),
            sequence: self.sequence,
            popularity: self.pages.popularities(),
            rewrites: self.pages.rewrites(),
            miss_ratio: self.reuse.curves(self.pages.gaps()),
            rates: self.rates,
            by: By {
                device: by.device.finish(),
                stream: by.stream.finish(),
                file: by.file.finish(),
                process: by.process.finish(),
                context: by.context.finish(),
                priority: by.priority.finish(),
                class: by.class.finish(),
            },
            updates: self.updates,
            reuse_rate: self.reuse.rate(),
            pages_rate: self.pages.rate(),
            exact: self.exact,
        }
    }
}
