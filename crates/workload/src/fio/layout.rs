//! Where the files of the jobs lie on the drive, and which parts of them each clone uses.

use super::jobs::{JobFile, WrongOption};
use super::names::{is_device, names};
use super::parse::Wrong;
use super::settings::{Job, Size};
use super::value::Amount;
use crate::base::error::WorkloadError;
use crate::base::request::{SECTOR_BYTES, SECTORS_MAX};
use std::collections::BTreeMap;

/// Files begin at multiples of it, as in a file system of 4-KiB blocks [A].
const FILE_ALIGN: u64 = 4096;

/// A part of the drive that a clone of a job works in: a file, or what `offset` and `size` leave of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First sector on the drive.
    pub lba: u64,
    pub sectors: u64,
    /// Sectors of the file before it.
    pub before: u64,
    /// Sectors of the file behind it.
    pub behind: u64,
    /// Number of the file on its drive, from 1.
    pub file: u32,
    /// Number of the drive.
    pub drive: u16,
}

/// One clone of a job, with its places.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    /// Its job in the file.
    pub job: usize,
    /// Its number among the clones of the job.
    pub number: u64,
    pub spans: Vec<Span>,
    /// Bytes of a pass.
    pub size: u64,
    /// Bytes to be done, if that is not a pass.
    pub io_size: Option<u64>,
}

/// Which part of which file a clone uses, before the files have places; bytes.
struct Use {
    file: String,
    offset: u64,
    length: u64,
    /// Bytes that the file has at least.
    file_bytes: u64,
}

/// A clone of a job, and what it uses.
struct JobClone {
    /// Which job.
    job: usize,
    /// Which of its clones.
    number: u64,
    uses: Vec<Use>,
}

impl JobFile {
    /// The smallest drive, in sectors, that has room for all files; `None` if jobs use a share of whatever drive there
    /// is.
    pub fn space_sectors(&self) -> Result<Option<u64>, WorkloadError> {
        let clones = self.clones(None)?;
        Ok(clones.map(|clones| {
            let files = Files::new(&clones, |name| self.drive_of(name).is_some());
            files.end / SECTOR_BYTES
        }))
    }

    /// The clones of all jobs with their places on a drive of so many sectors.
    pub(crate) fn workers(&self, drive_sectors: u64) -> Result<Vec<Worker>, WorkloadError> {
        let drive_bytes = drive_sectors * SECTOR_BYTES;
        let clones = self.clones(Some(drive_bytes))?.unwrap_or_default();
        let files = Files::new(&clones, |name| self.drive_of(name).is_some());
        if files.end > drive_bytes {
            let advice = "take a larger drive, or smaller files".into();
            let (needed_sectors, what) = (files.end / SECTOR_BYTES, "the files of the jobs".into());
            return Err(crate::Problem::DoesNotFit { what, needed_sectors, drive_sectors, advice }.into());
        }
        let mut workers = Vec::new();
        for JobClone { job, number, uses } in &clones {
            let spans: Vec<Span> = uses
                .iter()
                .map(|part| Span {
                    lba: (files.place[part.file.as_str()] + part.offset) / SECTOR_BYTES,
                    sectors: part.length / SECTOR_BYTES,
                    before: part.offset / SECTOR_BYTES,
                    behind: (files.bytes[part.file.as_str()] - part.offset - part.length) / SECTOR_BYTES,
                    file: files.number[part.file.as_str()],
                    drive: self.drive_of(&part.file).unwrap_or(0) as u16,
                })
                .collect();
            let whole: u64 = uses.iter().map(|part| part.length).sum();
            let settings = &self.jobs[*job];
            let size = match settings.size {
                Some(Amount::Bytes(bytes)) => bytes,
                _ => whole,
            };
            let io_size = settings.io_size.map(|amount| match amount {
                Amount::Bytes(bytes) => bytes,
                Amount::Percent(share) => share_of(size, share),
            });
            workers.push(Worker { job: *job, number: *number, spans, size, io_size });
        }
        Ok(workers)
    }

    /// Which of several drives a file is.
    fn drive_of(&self, file: &str) -> Option<usize> {
        self.drives.iter().position(|drive| drive == file)
    }

    /// Bytes of files as jobs that give them a size do, for those that give them none: what one wrote, others read.
    fn said_sizes(&self, drive: Option<u64>) -> BTreeMap<String, u64> {
        let mut said = BTreeMap::new();
        if !self.jobs.iter().any(|job| job.filename.is_some() && has_no_size(job)) {
            return said;
        }
        let nothing = BTreeMap::new();
        let with_sizes = self.jobs.iter().filter(|job| job.filename.is_some() && !has_no_size(job));
        for job in with_sizes {
            let of_clones =
                (0..job.numjobs).filter_map(|number| uses(job, number, drive, &nothing).ok().flatten());
            for part in of_clones.flatten() {
                let bytes = said.entry(part.file).or_insert(0);
                *bytes = part.file_bytes.max(*bytes);
            }
        }
        said
    }

    /// All clones with the parts of files that they use. `None` if that depends on a drive that is not known.
    fn clones(&self, drive: Option<u64>) -> Result<Option<Vec<JobClone>>, WorkloadError> {
        if drive.is_none() && self.jobs.iter().any(|job| job.fills && job.size.is_none()) {
            return Ok(None);
        }
        let mut all = Vec::new();
        let said = self.said_sizes(drive);
        for (job, settings) in self.jobs.iter().enumerate() {
            for number in 0..settings.numjobs {
                let uses = uses(settings, number, drive, &said)
                    .map_err(|(wrong, option)| wrong.at(&settings.place, option))?;
                let Some(uses) = uses else { return Ok(None) };
                all.push(JobClone { job, number, uses });
            }
        }
        let has = |device: bool| {
            all.iter().flat_map(|clone| &clone.uses).any(|part| is_device(&part.file) == device)
        };
        if has(true) && has(false) {
            let found = "files beside a device, which is the whole drive";
            return Err(Wrong::new(found, "only files, or only /dev/...").at(&self.jobs[0].place, "filename"));
        }
        Ok(Some(all))
    }
}

/// Places of files: one after the other, in the order in which they are named first.
struct Files<'a> {
    /// First byte.
    place: BTreeMap<&'a str, u64>,
    /// On their drive, from 1.
    number: BTreeMap<&'a str, u32>,
    bytes: BTreeMap<&'a str, u64>,
    end: u64,
}

impl<'a> Files<'a> {
    /// `is_drive` says which of them are drives by themselves.
    fn new(clones: &'a [JobClone], is_drive: impl Fn(&str) -> bool) -> Self {
        let mut order = Vec::new();
        let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
        for part in clones.iter().flat_map(|clone| &clone.uses) {
            let length = bytes.entry(&part.file).or_insert_with(|| {
                order.push(part.file.as_str());
                0
            });
            *length = (*length).max(part.file_bytes);
        }
        let mut files = Files { place: BTreeMap::new(), number: BTreeMap::new(), bytes, end: 0 };
        for name in order {
            let number = if is_drive(name) { 1 } else { 1 + files.number.len() as u32 };
            files.number.insert(name, number);
            // A device begins where its drive does.
            let next = files.end.checked_next_multiple_of(FILE_ALIGN).unwrap_or(u64::MAX);
            let at = if is_device(name) { 0 } else { next };
            files.place.insert(name, at);
            files.end = files.end.max(at.saturating_add(files.bytes[name]));
        }
        files
    }
}

/// So many percent.
fn share_of(bytes: u64, percent: u64) -> u64 {
    (u128::from(bytes) * u128::from(percent) / 100) as u64
}

/// Whether a job says of its files' size nothing, or a share.
fn has_no_size(job: &Job) -> bool {
    job.filesize.is_none() && !job.fills && !matches!(job.size, Some(Amount::Bytes(_)))
}

/// The parts of files that a clone uses; `None` if that depends on a drive that is not known.
fn uses(
    job: &Job,
    number: u64,
    drive: Option<u64>,
    said: &BTreeMap<String, u64>,
) -> Result<Option<Vec<Use>>, WrongOption> {
    let names = names(job, number);
    if names.is_empty() {
        return Err((Wrong::new("found nothing", "names of files"), "filename"));
    }
    let count = names.len() as u64;
    let amounts = (job.size, job.offset, job.offset_increment);
    let is_share = !matches!(amounts, (Some(Amount::Bytes(_)), Amount::Bytes(_), Amount::Bytes(_)));
    let mut uses = Vec::new();
    for file in names {
        // A file that is filled until no room is left is as large as the drive.
        let is_device = is_device(&file) || (job.fills && job.size.is_none());
        if is_device && drive.is_none() && job.filesize.is_none() && is_share {
            return Ok(None);
        }
        let of_file = job.filesize.or(drive.filter(|_| is_device)).or_else(|| said.get(&file).copied());
        let piece = match job.size {
            Some(Amount::Bytes(bytes)) => Some(bytes / count),
            _ => None,
        };
        let Some(base) = of_file.or(piece) else {
            let allowed =
                "size=..., or filesize=..., or filename=/dev/... for the whole drive (--fio-set size=1g)";
            return Err((Wrong::new("found no size", allowed), "size"));
        };
        let offset = place_of(job, job.offset, base)
            .checked_add(place_of(job, job.offset_increment, base).saturating_mul(number))
            .filter(|bytes| *bytes < SECTORS_MAX * SECTOR_BYTES)
            .ok_or_else(|| (Wrong::new("an offset beyond any drive", "less"), "offset"))?;
        if offset % SECTOR_BYTES != 0 {
            return Err((Wrong::new(format!("found {offset} bytes"), "multiples of 512 bytes"), "offset"));
        }
        let left = of_file.map(|bytes| bytes.saturating_sub(offset));
        let length = match (job.size, piece, left) {
            (_, Some(piece), _) if job.filesize.is_none() => piece,
            (Some(Amount::Percent(share)), _, Some(left)) => share_of(base, share).min(left),
            // A file with a size of its own is used from the offset to its end.
            (_, _, Some(left)) => left,
            (_, piece, None) => piece.unwrap_or(0),
        };
        let length = length / SECTOR_BYTES * SECTOR_BYTES;
        let least = job.used_sizes().map(Size::min).max().unwrap_or(0);
        if length < least {
            let behind = if offset > 0 { format!(" behind an offset of {offset}") } else { String::new() };
            let found = format!("{length} bytes of {file}{behind} for requests of {least} bytes");
            let allowed =
                if is_device { "room for one at least, or a larger drive" } else { "room for one at least" };
            return Err((Wrong::new(found, allowed), "size"));
        }
        let end = offset.checked_add(length).filter(|end| *end <= SECTORS_MAX * SECTOR_BYTES);
        let end = end.ok_or_else(|| (Wrong::new("files beyond any drive", "less"), "size"))?;
        let file_bytes = end.max(of_file.unwrap_or(0));
        uses.push(Use { file, offset, length, file_bytes });
    }
    Ok(Some(uses))
}

/// An offset in bytes; one in percent is rounded up to `offset_align`, or to the smallest request.
fn place_of(job: &Job, amount: Amount, file: u64) -> u64 {
    match amount {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(share) => {
            let align = match job.offset_align {
                0 => job.least_size(),
                align => align,
            };
            share_of(file, share).next_multiple_of(align)
        }
    }
}
