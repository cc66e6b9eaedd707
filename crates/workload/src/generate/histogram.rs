//! A generator from a histogram: a file that says how often each address was accessed (`LBA,Frequency`) becomes
//! requests to these addresses, as often and in random order. Memory grows with the number of addresses, some 30 bytes
//! each.

use crate::base::error::{Problem, WorkloadError, printable};
use crate::base::findings::BadReason;
use crate::base::input::bytes::{Input, Progress};
use crate::base::input::lines::Lines;
use crate::base::report::SourceReport;
use crate::base::request::{PAGE_SECTORS, Request, SECTOR_BYTES, SECTORS_MAX, Source};
use crate::base::settings::choice;
use crate::base::shape::Sizes;
use crate::generate::synthetic::arrival::generator;
use crate::generate::synthetic::zipf::Alias;
use crate::generate::synthetic::{Arrival, Draws};
use crate::reader::fields::{Bad, Fields, column_at};
use crate::stack::kind::{Kind, Ready, name_of, path_in};
use crate::stack::priorities::PriorityShares;
use crate::stack::replay::{copies, passes};
use ssd::rng::mix;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

choice! {
    /// What the addresses of a histogram are numbers of.
    pub enum AddressUnit {
        /// Bytes.
        Bytes = "bytes",
        /// Sectors of 512 bytes.
        Sectors = "sectors",
    }
}

choice! {
    /// Where the addresses of a histogram lie on the drive.
    pub enum Placement {
        /// Pages that occur, in their order, packed from the start of the drive.
        Compact = "compact",
        /// As they are.
        AsIs = "as_is",
    }
}

generator! {
    /// A generator from a file of addresses and how often each was accessed.
    pub struct HistogramSpec {
        /// The file: a header, then one address and count per line, separated by a comma; text, gzip or zstd.
        histogram: PathBuf = PathBuf::new(), unit "", allowed "a path",
            if |path| !path.as_os_str().is_empty();
        /// Requests to generate; 0 for as many as the file counts.
        count: u64 = 0, unit "requests", allowed "", if |_| true;
        /// Unit of the addresses.
        address_unit: AddressUnit = AddressUnit::Bytes, unit "", allowed "", if |_| true;
        /// Where the addresses are placed on the drive.
        address: Placement = Placement::Compact, unit "", allowed "", if |_| true;
        /// Share of reads; the others are writes.
        read_percent: f64 = 0.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Size of each request, or a list of sizes, or of [size, weight] pairs; the file has no sizes.
        size_bytes: Sizes = Sizes(vec![(4096, 1)]), unit "bytes", allowed "", if |_| true;
    }
}

impl Kind for HistogramSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        if self.histogram.as_os_str().is_empty() {
            return Err(WorkloadError::setting("histogram", "found nothing", "the path of a file"));
        }
        self.check_times(self.count)
    }

    fn has_times(&self) -> bool {
        self.arrival != Arrival::Closed
    }

    fn title(&self) -> String {
        name_of(&self.histogram)
    }

    fn resolve_path(&mut self, directory: &Path) {
        self.histogram = path_in(directory, &self.histogram);
    }

    fn reads(&self) -> Vec<OsString> {
        vec![self.histogram.clone().into()]
    }

    fn page_cache(&self) -> Option<(f64, bool)> {
        self.cache()
    }

    fn priorities(&self) -> (PriorityShares, u64) {
        self.priorities()
    }

    fn prepare(&self, progress: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        let places = Places::read(self, progress)?;
        Ok(Box::new(Counted { places: Arc::new(places), spec: self.clone() }))
    }
}

/// What a file says.
struct Places {
    /// First sector of each address.
    lbas: Vec<u64>,
    chosen: Alias,
    total: u64,
    lines: u64,
    /// Sectors of the drive that it needs.
    end: u64,
    hash: u64,
}

impl Places {
    fn read(spec: &HistogramSpec, progress: &mut dyn FnMut(Progress)) -> Result<Self, WorkloadError> {
        let mut lines = Lines::new(Input::open(&spec.histogram)?)?;
        let (mut lbas, mut counts): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        let (mut number, mut hash, mut total) = (0u64, 0, 0u64);
        while let Some(line) = lines.next()? {
            number += 1;
            let text = line.bytes.trim_ascii();
            // The header names the columns.
            let is_name = |text: &[u8]| !text[0].is_ascii_digit() && !b"+-.".contains(&text[0]);
            if text.is_empty() || number == 1 && is_name(text) {
                continue;
            }
            let (lba, count) = row(text, spec.address_unit).map_err(|bad| Problem::BadLine {
                file: spec.histogram.display().to_string(),
                line: number,
                byte: None,
                column: bad.column,
                reason: bad.reason,
                found: printable(column_at(text, bad.at, b',')),
                allowed: bad.allowed.to_string(),
            })?;
            if count > 0 {
                hash = mix(mix(hash ^ lba) ^ count);
                total = total.saturating_add(count);
                lbas.push(lba);
                counts.push(count);
            }
            if number.is_multiple_of(1 << 16) {
                progress(lines.progress());
            }
        }
        if lbas.is_empty() {
            let file = spec.histogram.display().to_string();
            return Err(
                Problem::NoRequests { file, lines: number, skipped: 0, passed_over: Vec::new() }.into()
            );
        }
        let weights: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        if spec.address == Placement::Compact {
            pack(&mut lbas);
        }
        let last = lbas.iter().copied().max().unwrap_or(0);
        let end = last + (spec.size_bytes.largest() / SECTOR_BYTES).max(PAGE_SECTORS);
        Ok(Places { lbas, chosen: Alias::new(&weights), total, lines: number, end, hash })
    }
}

/// Moves the pages that occur together, in their order.
fn pack(lbas: &mut [u64]) {
    let mut pages: Vec<u64> = lbas.iter().map(|lba| lba / PAGE_SECTORS).collect();
    pages.sort_unstable();
    pages.dedup();
    for lba in lbas {
        let rank = pages.partition_point(|&page| page < *lba / PAGE_SECTORS) as u64;
        *lba = rank * PAGE_SECTORS + *lba % PAGE_SECTORS;
    }
}

/// Address, as a sector, and count of a line.
fn row(text: &[u8], unit: AddressUnit) -> Result<(u64, u64), Bad> {
    let mut fields = Fields::new(text, b',');
    let at = fields.position();
    let address = fields.number("LBA")?;
    let lba = if unit == AddressUnit::Bytes { address / SECTOR_BYTES } else { address };
    if lba >= SECTORS_MAX - (1 << 22) {
        return Err(fields.refuse(BadReason::TooLarge, "LBA", "an address below 512 PiB", at));
    }
    Ok((lba, fields.number("Frequency")?))
}

/// A histogram that was read.
struct Counted {
    spec: HistogramSpec,
    places: Arc<Places>,
}

impl Counted {
    fn generator(&self, drive_sectors: u64) -> Result<FromHistogram, WorkloadError> {
        let (spec, places) = (&self.spec, &self.places);
        if places.end > drive_sectors {
            return Err(Problem::DoesNotFit {
                what: "the histogram".into(),
                needed_sectors: places.end,
                drive_sectors,
                advice: "take a larger drive, or address = \"compact\"".into(),
            }
            .into());
        }
        let count = if spec.count == 0 { places.total } else { spec.count };
        spec.check_times(count)?;
        let draws = Draws::new(spec.read_percent, &spec.size_bytes, count, spec.clock(), spec.seed);
        Ok(FromHistogram { places: Arc::clone(places), draws })
    }
}

impl Ready for Counted {
    fn space_sectors(&self) -> Option<u64> {
        Some(self.places.end)
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(self.generator(drive_sectors)?))
    }

    fn report(&self) -> SourceReport {
        SourceReport { lines: self.places.lines, ..SourceReport::default() }
    }

    fn content(&self) -> Option<(u64, &'static [&'static str])> {
        Some((self.places.hash, &["histogram", "address_unit"]))
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        let one = self.generator(drive_sectors)?;
        copies(self.spec.copies, self.spec.seed, || Ok(passes(one.clone(), self.spec.repeat)))
    }
}

/// Requests to the addresses of a histogram.
#[derive(Clone)]
struct FromHistogram {
    places: Arc<Places>,
    draws: Draws,
}

impl Source for FromHistogram {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        let Places { lbas, chosen, .. } = &*self.places;
        Ok(self.draws.next(|_, _, rng| lbas[chosen.sample(rng)]))
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.draws.left)
    }

    fn report(&self) -> SourceReport {
        SourceReport { lines: self.places.lines, ..SourceReport::default() }
    }
}
