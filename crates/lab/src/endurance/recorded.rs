//! A recording, looked through once: how much it writes in which time, and of its writes what a scaled drive gets.
//!
//! Of a drive so many times smaller, so many times fewer pieces of the address space are kept, drawn by a hash, with
//! all that happens on them, in the order of the recording. So the share of the drive that is written, how often a page
//! is written, and how much is written between two times stay as they were. (The sampling of places is that of SHARDS:
//! Waldspurger et al., FAST 2015.) What the recording does not change is taken for data that nobody changes.
//!
//! It is played over and over, each time in pieces of another order, as a drive's past is
//! ([`crate::past::precondition`]).

use ssd::rng::{Rng, mix};
use ssd::signals::{Hints, OpCode};
use workload::{Played, Prepared, Request, SECTOR_BYTES, Source, WorkloadError};

use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::past::precondition::PIECES;

/// Requests that are kept at most.
const KEPT_MAX: usize = 50_000_000;
/// Places that a smaller recording keeps at least.
const PLACES: u64 = 4_096;
/// Bytes of a place.
const PLACE_BYTES: std::ops::RangeInclusive<u64> = 65_536..=1 << 20;
/// Data that is kept of a recording at least, if it has so much; bytes (assumed: large enough to judge by).
const DATA_BYTES_MIN: f64 = 67_108_864.0;
/// Requests between two looks at whether to stop.
const LOOK_EVERY: u64 = 1 << 16;
/// How long a request takes where nothing says when the next one comes; ns (assumed).
const SERVICE_NS: u64 = 100_000;

/// What a recording does in its whole length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Bytes that it writes.
    pub written: f64,
    /// Bytes that it reads.
    pub read: f64,
    /// Its time in days, where it has times.
    pub days: f64,
    /// Bytes of the pages it touches, packed.
    pub touched: f64,
}

/// Whether it changes what is on the drive, or has it made durable.
pub(super) fn counts(request: &Request) -> bool {
    match request.op {
        OpCode::Write | OpCode::Trim => request.sectors > 0,
        OpCode::Flush => true,
        OpCode::Read => false,
    }
}

/// A change of what is on the drive.
#[derive(Clone, Copy, Debug)]
struct Change {
    lba: u64,
    sectors: u32,
    op: OpCode,
    fua: bool,
    hints: u32,
}

/// What a scaled drive gets of it.
#[derive(Debug)]
pub struct Recorded {
    changes: Vec<Change>,
    hints: Vec<Hints>,
    sectors: u64,
    /// All of the recording.
    pub totals: Totals,
    /// Bytes written by what is kept.
    pub kept: f64,
    /// Whether there was more than is kept.
    pub is_cut: bool,
}

/// Where places of the recording lie on the scaled drive.
struct Places {
    sectors: u64,
    slots: Vec<u32>,
}

/// No place.
const NONE: u32 = u32::MAX;

/// Stretches of 64 KiB that a recording changes.
struct Changed(Vec<bool>);

impl Changed {
    const SECTORS: u64 = *PLACE_BYTES.start() / SECTOR_BYTES;

    /// Looks through a recording of so many sectors.
    fn read(source: &mut dyn Source, sectors: u64, stop: &Stop) -> Result<Self, Failure> {
        let mut changed = vec![false; sectors.div_ceil(Self::SECTORS) as usize];
        let mut count = 0u64;
        while let Some(request) = source.next().map_err(Failure::Workload)? {
            count += 1;
            if count.is_multiple_of(LOOK_EVERY) && stop.is_asked() {
                return Err(Failure::Interrupted { phase: Phase::LookingAhead });
            }
            if counts(&request) && request.sectors > 0 {
                let (first, last) = (request.lba / Self::SECTORS, (request.end() - 1) / Self::SECTORS);
                let stretches = changed.iter_mut().take(last as usize + 1).skip(first as usize);
                stretches.for_each(|stretch| *stretch = true);
            }
        }
        Ok(Changed(changed))
    }

    fn bytes(&self) -> u64 {
        self.0.iter().filter(|is| **is).count() as u64 * PLACE_BYTES.start()
    }
}

impl Places {
    /// Of what a recording changes a share, one of so many times, on a drive of so many sectors. What is only read is
    /// data that nobody changes.
    fn new(changed: &Changed, times: f64, drive_sectors: u64) -> Self {
        let bytes = changed.bytes();
        let share = (1.0 / times).max(DATA_BYTES_MIN / bytes.max(1) as f64).min(1.0);
        let bytes = (bytes as f64 * share) as u64 / PLACES;
        let bytes = bytes.clamp(*PLACE_BYTES.start(), *PLACE_BYTES.end()).next_power_of_two();
        let sectors = bytes / SECTOR_BYTES;
        let limit = (share * 2f64.powi(64)) as u64;
        let mut next = 0u32;
        let slot = |(place, stretches): (usize, &[bool])| {
            let is_kept = share >= 1.0 || mix(place as u64) < limit;
            let is_changed = stretches.contains(&true);
            if !is_kept || !is_changed || (u64::from(next) + 1) * sectors > drive_sectors {
                return NONE;
            }
            next += 1;
            next - 1
        };
        let stretches = changed.0.chunks((sectors / Changed::SECTORS) as usize);
        Places { sectors, slots: stretches.enumerate().map(slot).collect() }
    }

    /// The pieces of a request that are kept.
    fn pieces(&self, request: &Request, mut keep: impl FnMut(u64, u32)) {
        let mut at = request.lba;
        while at < request.end() {
            let place = at / self.sectors;
            let end = request.end().min((place + 1) * self.sectors);
            match self.slots.get(place as usize) {
                Some(&slot) if slot != NONE => {
                    keep(u64::from(slot) * self.sectors + at % self.sectors, (end - at) as u32);
                }
                _ => {}
            }
            at = end;
        }
    }
}

/// The requests of a workload for a drive of so many sectors; jobs as if each request took a fixed time.
fn source(prepared: &Prepared, sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
    match prepared.driven(sectors) {
        Some(driven) => Ok(Box::new(Played::new(driven?, SERVICE_NS))),
        None => prepared.open(sectors),
    }
}

impl Recorded {
    /// Looks through a workload for a whole drive, and keeps what one so many times smaller gets, which has so many
    /// sectors.
    pub fn read(
        prepared: &Prepared,
        whole_sectors: u64,
        (times, sectors): (f64, u64),
        stop: &Stop,
    ) -> Result<Self, Failure> {
        let space = prepared.space_sectors().unwrap_or(whole_sectors).min(whole_sectors);
        let touched = space * SECTOR_BYTES;
        let open = || source(prepared, whole_sectors).map_err(Failure::Workload);
        let places = Places::new(&Changed::read(&mut *open()?, space, stop)?, times, sectors);
        let mut source = open()?;
        let mut found = Recorded {
            changes: Vec::new(),
            hints: Vec::new(),
            sectors: places.slots.iter().filter(|slot| **slot != NONE).count() as u64 * places.sectors,
            totals: Totals { touched: touched as f64, ..Totals::default() },
            kept: 0.0,
            is_cut: false,
        };
        let (mut last_ns, mut count, mut was_kept) = (0, 0u64, false);
        while let Some(request) = source.next().map_err(Failure::Workload)? {
            count += 1;
            if count.is_multiple_of(LOOK_EVERY) && stop.is_asked() {
                return Err(Failure::Interrupted { phase: Phase::LookingAhead });
            }
            last_ns = request.arrival_ns;
            match request.op {
                OpCode::Read => found.totals.read += request.bytes() as f64,
                OpCode::Write => found.totals.written += request.bytes() as f64,
                OpCode::Trim | OpCode::Flush => {}
            }
            if counts(&request) {
                was_kept = found.keep(&request, &places, was_kept);
            }
            if found.changes.len() >= KEPT_MAX {
                found.is_cut = true;
                break;
            }
        }
        found.totals.days = last_ns as f64 / 86_400e9;
        Ok(found)
    }

    /// Keeps what of a request is kept, a flush with the write before it; whether that was anything.
    fn keep(&mut self, request: &Request, places: &Places, was_kept: bool) -> bool {
        if self.hints.last() != Some(&request.hints) {
            self.hints.push(request.hints);
        }
        let change = Change {
            lba: 0,
            sectors: 0,
            op: request.op,
            fua: request.fua,
            hints: self.hints.len() as u32 - 1,
        };
        if request.op == OpCode::Flush {
            if was_kept {
                self.changes.push(change);
            }
            return was_kept;
        }
        let before = self.changes.len();
        places.pieces(request, |lba, sectors| self.changes.push(Change { lba, sectors, ..change }));
        if request.op == OpCode::Write {
            let sectors: u64 = self.changes[before..].iter().map(|change| u64::from(change.sectors)).sum();
            self.kept += (sectors * SECTOR_BYTES) as f64;
        }
        self.changes.len() > before
    }

    /// Sectors that it needs.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether any request has a placement id.
    pub fn has_ids(&self) -> bool {
        self.hints.iter().any(|hints| hints.stream > 0)
    }

    /// Whether anything must be durable at once.
    pub fn has_flushes(&self) -> bool {
        self.changes.iter().any(|change| change.op == OpCode::Flush || change.fua)
    }

    /// Whether anything of it is written.
    pub fn is_written(&self) -> bool {
        self.kept > 0.0
    }

    /// All of it over and over.
    pub fn passes(&self, rng: Rng) -> Passes<'_> {
        let length = self.changes.len().div_ceil(PIECES as usize).max(1);
        Passes { recorded: self, rng, pieces: self.changes.chunks(length).collect(), piece: 0, at: 0 }
    }
}

/// A recording being played over and over: the first time in its own order.
pub struct Passes<'a> {
    recorded: &'a Recorded,
    rng: Rng,
    pieces: Vec<&'a [Change]>,
    piece: usize,
    at: usize,
}

impl Passes<'_> {
    /// The next request.
    pub fn next(&mut self) -> Request {
        loop {
            let Some(piece) = self.pieces.get(self.piece) else {
                for last in (1..self.pieces.len()).rev() {
                    self.pieces.swap(last, self.rng.below(last as u32 + 1) as usize);
                }
                self.piece = 0;
                if self.pieces.is_empty() {
                    return Request::default();
                }
                continue;
            };
            let Some(change) = piece.get(self.at) else {
                (self.piece, self.at) = (self.piece + 1, 0);
                continue;
            };
            self.at += 1;
            return Request {
                arrival_ns: 0,
                op: change.op,
                fua: change.fua,
                lba: change.lba,
                sectors: change.sectors,
                hints: self.recorded.hints[change.hints as usize],
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Spec;

    fn read(text: &str, times: f64) -> Recorded {
        let prepared = Spec::parse(text).unwrap().prepare().unwrap();
        let whole = 1u64 << 25;
        Recorded::read(&prepared, whole, (times, (whole as f64 / times) as u64), &Stop::default()).unwrap()
    }

    const TEXT: &str = "pattern = \"uniform\"\nread_percent = 50\nsize_bytes = 4096\ncount = 2000000\n\
                        footprint_gib = 8.0\narrival = \"poisson\"\nrate_iops = 1000\n";

    #[test]
    fn all_is_counted_and_a_share_is_kept() {
        let whole = read(TEXT, 1.0);
        assert!((whole.kept / whole.totals.written - 1.0).abs() < 1e-9);
        assert!((whole.totals.days * 86_400.0 / 2_000.0 - 1.0).abs() < 0.01, "{:?}", whole.totals);
        assert!((whole.totals.read / whole.totals.written - 1.0).abs() < 0.02);
        let part = read(TEXT, 10.0);
        assert_eq!(part.totals, whole.totals);
        let share = part.kept / part.totals.written;
        assert!((share * 10.0 - 1.0).abs() < 0.1, "{share}");
        let sectors = part.sectors() as f64 / whole.sectors() as f64;
        assert!((sectors * 10.0 - 1.0).abs() < 0.1, "{sectors}");
        let mut passes = part.passes(Rng::named(1, "test"));
        let length = part.changes.len();
        let first: Vec<Request> = (0..length).map(|_| passes.next()).collect();
        let mut again: Vec<Request> = (0..length).map(|_| passes.next()).collect();
        assert_ne!(first, again);
        let mut sorted = first.clone();
        let by = |request: &Request| (request.lba, request.sectors);
        sorted.sort_by_key(by);
        again.sort_by_key(by);
        assert_eq!(sorted, again);
        assert!(first.iter().all(|request| request.end() <= part.sectors()));
    }

    /// Places are drawn among those that are written, however much is read beside them.
    #[test]
    fn a_few_places_that_are_written_are_kept() {
        let text = "count = 200000\nchunk_kib = 0\narrival = \"poisson\"\nrate_iops = 1000\nparts = [\
                    { name = \"reads\", share_percent = 90.0, space_mib = 8192.0 }, \
                    { name = \"log\", share_percent = 10.0, read_percent = 0.0, at_mib = 8192.0, space_mib = 2.0, \
                    places = \"scan\" }]\n";
        let part = read(text, 10.0);
        assert!(part.totals.written > 0.0 && part.totals.touched > 8e9, "{:?}", part.totals);
        assert!((part.kept / part.totals.written - 1.0).abs() < 1e-9, "{} of {:?}", part.kept, part.totals);
        assert_eq!(part.sectors(), 4_096);
    }
}
