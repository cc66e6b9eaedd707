//! A job file, understood and checked, and where the files of its jobs lie on the drive.

use super::names::{names, split_names};
use super::options::{Class, JobOption, unknown};
use super::parse::{Line, Machine, Place, Section, UNQUOTED, World, Wrong, sections};
use super::settings::{Distribution, Job, Size, Step, Work};
use super::value::{Amount, Kilo, Value};
use crate::error::WorkloadError;
use crate::record::{SECTOR_BYTES, SECTORS_MAX};
use crate::remark::{Kind, Remark};
use crate::shape::{DRIVES_MAX, SIZE_BYTES_MAX};
use crate::split::names_of;
use ssd::rng::mix;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Clones of all jobs together, at most.
const LANES_MAX: usize = 4096;
/// What is remarked of jobs with `direct=0` where there is no page cache.
const NO_CACHE: &str = "requests go straight to the drive, although fio would have a page cache in front \
                        of it (direct=0): set `page_cache_mib` beside `jobs` to have one";
/// Files of all clones together, at most.
const FILES_MAX: u64 = 1 << 20;
/// What is remarked of several devices that are one drive.
const ONE_DRIVE: &str = "devices are one drive here";
/// Requests in flight of a job, at most: a queue of NVMe holds no more.
const DEPTH_MAX: u64 = 1 << 16;
/// Passes of a job, at most: times the bytes of a pass, up to a tebibyte, they are a number of 64 bits.
const LOOPS_MAX: u64 = 1 << 24;
/// Bytes of a page of the host's page cache.
const PAGE_BYTES: u64 = 4096;
/// Bytes of a file that are looked at to see whether it is a job file.
const HEAD: u64 = 4096;
/// Files begin at multiples of it, as in a file system of 4-KiB blocks [A].
const FILE_ALIGN: u64 = 4096;

/// A job file that was read and understood.
#[derive(Clone, Debug)]
pub struct JobFile {
    pub(crate) jobs: Vec<Job>,
    remarks: Vec<Remark>,
    /// Devices that are drives of their own; none if there is one drive.
    drives: Vec<String>,
}

/// A part of the drive that a clone of a job works in: a file, or what `offset` and `size` leave of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First sector on the drive.
    pub lba: u64,
    pub sectors: u64,
    /// Sectors of the file before it.
    pub before: u64,
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

/// Whether a file is a job file: its name ends in `.fio`, or it begins with a section in brackets.
pub fn is_job_file(path: &Path) -> bool {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fio")) {
        return true;
    }
    let mut head = Vec::new();
    if !path.is_file() || File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
        return false;
    }
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines =
        lines.filter(|line| !line.is_empty() && !line.starts_with(b";") && !line.starts_with(b"#"));
    lines.next().is_some_and(|line| line.starts_with(b"[") && line.contains(&b']') && line.is_ascii())
}

fn is_device(name: &str) -> bool {
    name.starts_with("/dev/")
}

impl JobFile {
    /// Reads a job file and all that it includes; variables come from the environment.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, WorkloadError> {
        JobFile::load_with(path, &[])
    }

    /// The same with options that hold where the file says nothing of them: `size=10g`, or `--size=10g`.
    pub fn load_with(path: impl AsRef<Path>, options: &[String]) -> Result<Self, WorkloadError> {
        JobFile::load_from(path.as_ref(), options, &Machine)
    }

    pub(crate) fn load_from(
        path: &Path,
        options: &[String],
        world: &dyn World,
    ) -> Result<Self, WorkloadError> {
        let mut ignored = Vec::new();
        let jobs: Result<Vec<Job>, _> =
            sections(path, options, world)?.iter().map(|section| job(section, &mut ignored)).collect();
        let mut file = JobFile { jobs: jobs?, remarks: Vec::new(), drives: Vec::new() };
        file.check()?;
        file.remark(&ignored);
        Ok(file)
    }

    /// The same where each device is a drive of its own.
    pub fn on_drives_apart(mut self) -> Result<Self, WorkloadError> {
        let devices = self.devices();
        if devices.len() > DRIVES_MAX {
            let found = format!("{} devices, which are as many drives", devices.len());
            let allowed = format!("up to {DRIVES_MAX}, or drives = \"together\"");
            return Err(Wrong::new(found, allowed).at(&self.jobs[0].place, "filename"));
        }
        if devices.len() > 1 {
            self.remarks.retain(|remark| !remark.text.starts_with(ONE_DRIVE));
            self.drives = devices;
        }
        Ok(self)
    }

    /// Names of its drives, if there are several.
    pub fn drives(&self) -> Vec<String> {
        names_of(&self.drives)
    }

    /// There is a page cache in front of the drive.
    pub(super) fn has_cache(&mut self) {
        self.remarks.retain(|remark| !remark.text.starts_with(NO_CACHE));
    }

    /// What a person should know of it: options without effect, and what runs otherwise than in fio. A line each.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The first job whose end is a time: it cannot be run where no time passes.
    pub fn timed_job(&self) -> Option<&str> {
        let is_timed = |job: &&Job| job.runtime_ns > 0 || job.time_based;
        self.jobs.iter().find(is_timed).map(|job| job.name.as_str())
    }

    /// Identifies what the jobs do.
    pub fn hash(&self) -> u64 {
        let nowhere = Place { file: "".into(), line: 0, is_included: false };
        let mut hash = 0;
        for job in &self.jobs {
            let text = format!("{:?}", Job { place: nowhere.clone(), ..job.clone() });
            hash = text.bytes().fold(mix(hash), |hash, byte| mix(hash ^ u64::from(byte)));
        }
        hash
    }

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

    /// Names of the clones: that of the job, with a number where there are several.
    pub(crate) fn name(&self, job: usize, number: u64) -> String {
        let Job { name, numjobs, .. } = &self.jobs[job];
        if *numjobs == 1 { name.clone() } else { format!("{name}.{number}") }
    }

    /// Which of several drives a file is.
    fn drive_of(&self, file: &str) -> Option<usize> {
        self.drives.iter().position(|drive| drive == file)
    }

    /// All clones with the parts of files that they use. `None` if that depends on a drive that is not known.
    fn clones(&self, drive: Option<u64>) -> Result<Option<Vec<JobClone>>, WorkloadError> {
        let mut all = Vec::new();
        for (job, settings) in self.jobs.iter().enumerate() {
            for number in 0..settings.numjobs {
                let uses = uses(settings, number, drive)
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

    /// Checks what concerns several options, or several jobs.
    fn check(&self) -> Result<(), WorkloadError> {
        let (mut lanes, mut files) = (0, 0u64);
        for job in &self.jobs {
            check(job).map_err(|(wrong, option)| wrong.at(&job.place, option))?;
            lanes += job.numjobs as usize;
            let of_each = job.filename.as_ref().map_or(job.nrfiles, |names| split_names(names).len() as u64);
            files = files.saturating_add(of_each.saturating_mul(job.numjobs));
            if lanes > LANES_MAX || files > FILES_MAX {
                let found = format!("{lanes} clones of jobs with {files} files");
                let allowed = format!("up to {LANES_MAX} clones and {FILES_MAX} files");
                return Err(Wrong::new(found, allowed).at(&job.place, "numjobs"));
            }
        }
        Ok(())
    }

    fn remark(&mut self, ignored: &[&'static str]) {
        let mut remarks = Vec::new();
        if !ignored.is_empty() {
            let text = format!("ignored fio options: {}", ignored.join(", "));
            remarks.push(Remark::note(text));
        }
        let mut remark = |kind: Kind, is_so: fn(&Job) -> bool, text: &str| {
            let names: Vec<&str> =
                self.jobs.iter().filter(|job| is_so(job)).map(|job| job.name.as_str()).collect();
            if !names.is_empty() {
                remarks.push(kind(format!("{text} ({})", names.join(", "))));
            }
        };
        let (note, caution): (Kind, Kind) = (Remark::note, Remark::caution);
        remark(note, |job| !job.direct, NO_CACHE);
        remark(
            note,
            |job| job.is_rounded,
            "sizes that are no multiples of 512 bytes are rounded up to pages of 4 KiB, which is what a page cache \
             reads and writes",
        );
        remark(
            note,
            |job| job.has_sync_engine && job.iodepth > 1,
            "iodepth is used as given, although a synchronous engine would keep only one request in flight",
        );
        let is_endless = |job: &Job| job.time_based && job.runtime_ns == 0;
        remark(caution, is_endless, "time_based has no effect without runtime");
        remark(
            note,
            |job| job.uses_map() && job.work == Work::Mixed && job.sizes[0].min() != job.sizes[1].min(),
            "reads and writes of different sizes share one random map, as in fio: some places come twice, \
             and a pass ends early; norandommap=1 avoids this",
        );
        remark(
            note,
            |job| {
                matches!(
                    job.distribution,
                    Distribution::Zipf(..) | Distribution::Pareto(..) | Distribution::Normal(..)
                )
            },
            "ranks are spread by fio's hash, which reaches all places only if their number is a power of \
             two; of 20,000 it reaches 33.57 %",
        );
        let devices = self.devices();
        if devices.len() > 1 {
            let text = format!("{ONE_DRIVE}, whose addresses they share: {}", devices.join(", "));
            let advice =
                "run them by themselves with --drives each, or the jobs of each from a file of their own";
            remarks.push(Remark::caution(text).advising(advice));
        }
        self.remarks = remarks;
    }

    /// Devices that jobs name, each once, in the order in which they are named first.
    fn devices(&self) -> Vec<String> {
        let mut devices = Vec::new();
        let named = self.jobs.iter().filter_map(|job| job.filename.as_deref()).flat_map(split_names);
        for name in named.filter(|name| is_device(name)) {
            if !devices.contains(&name) {
                devices.push(name);
            }
        }
        devices
    }
}

/// Places of files: one after the other, in the order in which they are named first.
struct Files<'a> {
    /// First byte.
    place: BTreeMap<&'a str, u64>,
    /// On their drive, from 1.
    number: BTreeMap<&'a str, u32>,
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
        let mut files = Files { place: BTreeMap::new(), number: BTreeMap::new(), end: 0 };
        for name in order {
            let number = if is_drive(name) { 1 } else { 1 + files.number.len() as u32 };
            files.number.insert(name, number);
            // A device begins where its drive does.
            let at = if is_device(name) { 0 } else { files.end.next_multiple_of(FILE_ALIGN) };
            files.place.insert(name, at);
            files.end = files.end.max(at + bytes[name]);
        }
        files
    }
}

/// So many percent.
fn share_of(bytes: u64, percent: u64) -> u64 {
    (u128::from(bytes) * u128::from(percent) / 100) as u64
}

/// Whether a check of contents brings reads: what was written is read again behind each pass. Of a job that ends by its
/// time no pass has an end.
fn reads_back(section: &Section, job: &Job) -> Result<bool, WorkloadError> {
    let last = |key: &str| section.lines.iter().rev().find(|line| line.key == key);
    let is_off = |line: &&Line| matches!(line.value.as_deref(), Some("0" | "none" | "null"));
    let Some(verify) = last("verify").filter(|line| !is_off(line)) else { return Ok(false) };
    let ends_by_time = job.time_based && job.runtime_ns > 0;
    if matches!(job.work, Work::Read | Work::Trim)
        || last("do_verify").is_some_and(|it| is_off(&it))
        || ends_by_time
    {
        return Ok(false);
    }
    let among = ["verify_backlog", "experimental_verify", "io_size", "io_limit"];
    let beside = among.iter().find_map(|key| last(key).filter(|line| !is_off(line)));
    let found = match beside {
        Some(line) => format!("found {}", line.key),
        None if job.work == Work::TrimWrite => "found a job that trims".to_owned(),
        None if job.loops > 1 && job.number_ios > 0 => "found loops and number_ios".to_owned(),
        None => return Ok(true),
    };
    let found = format!("{found} beside it; the reading back would then not be simulated");
    let allowed = "do_verify=0, no verify, or a job without that";
    Err(Wrong::new(found, allowed).at(&verify.place, "verify"))
}

/// A job from its section; names of options without effect are added to `ignored`.
fn job(section: &Section, ignored: &mut Vec<&'static str>) -> Result<Job, WorkloadError> {
    let mut job = Job::new(section.place.clone(), section.name.clone());
    let base = section.lines.iter().rev().find(|line| line.key == "kb_base");
    let kilo = match base.and_then(|line| line.value.as_deref()) {
        Some("1000") => Kilo::Decimal,
        _ => Kilo::Binary,
    };
    for Line { place, key, value, lacks } in &section.lines {
        let option = JobOption::named(key).ok_or_else(|| match place.is_included {
            true => Wrong { found: UNQUOTED.to_owned(), ..unknown(key) }.at(place, ""),
            false => unknown(key).at(place, key),
        })?;
        let value = Value { text: value.as_deref(), kilo };
        let with_way = |wrong: Wrong| match lacks {
            Some(name) if !place.is_included => {
                let allowed =
                    format!("{}; there is no variable {name}: {name}=... wordline run ...", wrong.allowed);
                Wrong { allowed, ..wrong }
            }
            _ => wrong,
        };
        option.apply(&mut job, value).map_err(|wrong| with_way(wrong).at(place, key))?;
        let name = option.names.iter().find(|name| *name == key).copied().unwrap_or_default();
        if option.class == Class::Warning
            && !ignored.contains(&name)
            && name != "direct"
            && name != "buffered"
        {
            ignored.push(name);
        }
    }
    job.reads_back = reads_back(section, &job)?;
    round_sizes(section, &mut job)?;
    if let (true, Step::Follow(number)) = (job.identical, job.step) {
        job.step = Step::Repeat(number);
    }
    if job.align != [0; 3] || job.distribution != Distribution::Random {
        job.has_map = false;
        job.is_lfsr = false;
    }
    Ok(job)
}

/// Sizes that are no whole sectors: through the page cache they become whole pages, and else none are possible.
fn round_sizes(section: &Section, job: &mut Job) -> Result<(), WorkloadError> {
    let Some(odd) = job.sizes.iter().find_map(Size::odd) else { return Ok(()) };
    if job.direct {
        let keys = ["bs", "blocksize", "bsrange", "blocksize_range", "bssplit"];
        let line = section.lines.iter().rev().find(|line| keys.contains(&line.key.as_str()));
        let (place, key) = line.map_or((&section.place, "bs"), |line| (&line.place, line.key.as_str()));
        let allowed = "multiples of 512 bytes, or direct=0, which goes through a page cache";
        return Err(Wrong::new(format!("found {odd} bytes"), allowed).at(place, key));
    }
    job.sizes.iter_mut().for_each(|size| size.round_up_to(PAGE_BYTES));
    job.is_rounded = true;
    Ok(())
}

type WrongOption = (Wrong, &'static str);

/// Checks what concerns several options of a job.
fn check(job: &Job) -> Result<(), WrongOption> {
    for size in &job.sizes {
        if size.max() > SIZE_BYTES_MAX {
            let allowed = format!("up to {SIZE_BYTES_MAX} bytes");
            return Err((Wrong::new(format!("requests of {} bytes", size.max()), allowed), "bs"));
        }
    }
    if job.work == Work::TrimWrite && job.sizes[1] != job.sizes[2] {
        return Err((Wrong::new("writes and trims of different sizes", "the same for both"), "bs"));
    }
    for direction in 0..3 {
        if job.rate[direction] > 0 && job.rate_iops[direction] > 0 {
            return Err((Wrong::new("both rate and rate_iops", "one of the two"), "rate"));
        }
    }
    if job.iodepth > DEPTH_MAX {
        let allowed = format!("1 to {DEPTH_MAX}");
        return Err((Wrong::new(format!("{} requests in flight", job.iodepth), allowed), "iodepth"));
    }
    if job.numjobs > LANES_MAX as u64 {
        return Err((Wrong::new(format!("{} clones", job.numjobs), format!("up to {LANES_MAX}")), "numjobs"));
    }
    if job.nrfiles > FILES_MAX {
        return Err((Wrong::new(format!("{} files", job.nrfiles), format!("up to {FILES_MAX}")), "nrfiles"));
    }
    if job.loops > LOOPS_MAX {
        return Err((Wrong::new(format!("{} loops", job.loops), format!("up to {LOOPS_MAX}")), "loops"));
    }
    Ok(())
}

/// The parts of files that a clone uses; `None` if that depends on a drive that is not known.
fn uses(job: &Job, number: u64, drive: Option<u64>) -> Result<Option<Vec<Use>>, WrongOption> {
    let names = names(job, number);
    if names.is_empty() {
        return Err((Wrong::new("found nothing", "names of files"), "filename"));
    }
    let count = names.len() as u64;
    let amounts = (job.size, job.offset, job.offset_increment);
    let is_share = !matches!(amounts, (Some(Amount::Bytes(_)), Amount::Bytes(_), Amount::Bytes(_)));
    let mut uses = Vec::new();
    for file in names {
        let is_device = is_device(&file);
        if is_device && drive.is_none() && job.filesize.is_none() && is_share {
            return Ok(None);
        }
        let of_file = job.filesize.or(drive.filter(|_| is_device));
        let piece = match job.size {
            Some(Amount::Bytes(bytes)) => Some(bytes / count),
            _ => None,
        };
        let Some(base) = of_file.or(piece) else {
            let allowed = "size=..., or filesize=..., or filename=/dev/... for the whole drive";
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
            let found = format!("{length} bytes of {file} for requests of {least} bytes");
            return Err((Wrong::new(found, "room for one at least"), "size"));
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
