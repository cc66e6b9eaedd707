//! A job file, understood and checked, and where the files of its jobs lie on the drive.

use super::names::{is_device, split_names};
use super::option::{Class, JobOption};
use super::options::unknown;
use super::parse::{Line, Machine, Place, Section, UNQUOTED, World, Wrong, sections};
use super::settings::{Distribution, Job, Size, Step, Way, Work};
use super::value::{Kilo, Value};
use crate::base::error::WorkloadError;

use crate::base::remark::{Kind, Remark};
use crate::base::shape::SIZE_BYTES_MAX;
use crate::stack::drives::{DRIVES_MAX, names_of};
use ssd::rng::mix;
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

/// A remark, with the jobs that it is made of.
type JobRemark = (Kind, fn(&Job) -> bool, &'static str);

/// What is remarked of jobs.
const REMARKS: &[JobRemark] = &[
    (Remark::note, |job| !job.direct, NO_CACHE),
    (
        Remark::note,
        |job| job.is_rounded,
        "sizes that are no multiples of 512 bytes are rounded up to pages of 4 KiB, which is what a page cache \
         reads and writes",
    ),
    (
        Remark::note,
        |job| job.has_sync_engine && job.iodepth > 1,
        "iodepth is used as given, although a synchronous engine would keep only one request in flight",
    ),
    (
        Remark::note,
        |job| job.way == Way::Server,
        "an engine that asks a server for its data: here requests go straight to the drive, without a network",
    ),
    (
        Remark::note,
        |job| job.way == Way::Mapping,
        "an engine that copies from and to mapped memory: here each of its requests is one of the drive's, or of \
         the page cache's",
    ),
    (
        Remark::note,
        |job| job.writes_verify,
        "commands that verify the medium are reads of the drive here, and counted as such",
    ),
    (
        Remark::caution,
        |job| job.size_rules.is_misread,
        "a range behind bs is one size for fio, its last number: a range of sizes is bsrange",
    ),
    (
        Remark::caution,
        |job| job.time_based && job.runtime_ns == 0,
        "time_based has no effect without runtime",
    ),
    (
        Remark::note,
        |job| job.uses_map() && job.work == Work::Mixed && job.sizes[0].min() != job.sizes[1].min(),
        "reads and writes of different sizes share one random map, as in fio: some places come twice, \
         and a pass ends early; norandommap=1 avoids this",
    ),
    (
        Remark::note,
        |job| {
            matches!(
                job.distribution,
                Distribution::Zipf(..) | Distribution::Pareto(..) | Distribution::Normal(..)
            )
        },
        "ranks are spread by fio's hash, which reaches all places only if their number is a power of \
         two; of 20,000 it reaches 33.57 %",
    ),
];

/// A job file that was read and understood.
#[derive(Clone, Debug)]
pub struct JobFile {
    pub(crate) jobs: Vec<Job>,
    remarks: Vec<Remark>,
    /// Devices that are drives of their own; none if there is one drive.
    pub(super) drives: Vec<String>,
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

    /// Names of the clones: that of the job, with a number where there are several.
    pub(crate) fn name(&self, job: usize, number: u64) -> String {
        let Job { name, numjobs, .. } = &self.jobs[job];
        if *numjobs == 1 { name.clone() } else { format!("{name}.{number}") }
    }

    /// Checks what concerns several options, or several jobs.
    fn check(&self) -> Result<(), WorkloadError> {
        let (mut lanes, mut files) = (0, 0u64);
        for (number, job) in self.jobs.iter().enumerate() {
            self.check_wait(number)?;
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

    /// A job waits for one that stands above it, and has a name of its own.
    fn check_wait(&self, number: usize) -> Result<(), WorkloadError> {
        let job = &self.jobs[number];
        let Some(name) = &job.others.wait_for else { return Ok(()) };
        let above = || self.jobs[..number].iter().map(|job| job.name.as_str());
        let found = match above().filter(|above| above == name).count() {
            1 if *name != job.name => return Ok(()),
            0 => format!("found {name:?}, which is no job above this one"),
            _ => format!("found {name:?}, a name of several jobs"),
        };
        let wrong = Wrong::new(found, "the name of one other job above this one");
        Err(wrong.like(name, above()).at(&job.place, "wait_for"))
    }

    /// The job that a job waits for (`wait_for`).
    pub(super) fn waits_for(&self, number: usize) -> Option<usize> {
        let name = self.jobs[number].others.wait_for.as_ref()?;
        self.jobs[..number].iter().position(|job| job.name == *name)
    }

    fn remark(&mut self, ignored: &[&'static str]) {
        let mut remarks = Vec::new();
        if !ignored.is_empty() {
            let text = format!("ignored fio options: {}", ignored.join(", "));
            remarks.push(Remark::note(text));
        }
        for (kind, is_so, text) in REMARKS {
            let names: Vec<&str> =
                self.jobs.iter().filter(|job| is_so(job)).map(|job| job.name.as_str()).collect();
            if !names.is_empty() {
                remarks.push(kind(format!("{text} ({})", names.join(", "))));
            }
        }
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

/// Whether a check of contents brings reads: what was written is read again behind each pass. Of a job that ends by its
/// time no pass has an end.
fn reads_back(section: &Section, job: &Job) -> Result<bool, WorkloadError> {
    let last = |key: &str| section.lines.iter().rev().find(|line| line.key == key);
    let is_off = |line: &&Line| matches!(line.value.as_deref(), Some("0" | "none" | "null"));
    let Some(verify) = last("verify").filter(|line| !is_off(line)) else { return Ok(false) };
    let ends_by_time = job.time_based && job.runtime_ns > 0;
    if matches!(job.work, Work::Read | Work::Trim)
        || last("do_verify").is_some_and(|it| is_off(&it))
        || (ends_by_time && job.checks.every == 0)
    {
        return Ok(false);
    }
    let among = ["experimental_verify", "trim_percentage", "trim_backlog"];
    let beside = among.iter().find_map(|key| last(key).filter(|line| !is_off(line)));
    let found = match beside {
        Some(line) => format!("found {}", line.key),
        None if job.work == Work::TrimWrite => "found a job that trims".to_owned(),
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

pub(super) type WrongOption = (Wrong, &'static str);

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
    check_zones(job)?;
    if job.loops > LOOPS_MAX {
        return Err((Wrong::new(format!("{} loops", job.loops), format!("up to {LOOPS_MAX}")), "loops"));
    }
    Ok(())
}

/// Zones that a job works in one after the other.
fn check_zones(job: &Job) -> Result<(), WrongOption> {
    let Some(zones) = job.strided() else {
        return match job.zones.size {
            0 => Ok(()),
            _ => Err((Wrong::new("found zonesize without zones", "zonemode=strided beside it"), "zonesize")),
        };
    };
    if zones.size == 0 {
        return Err((Wrong::new("found no zonesize beside it", "zonesize=..."), "zonemode"));
    }
    let largest = job.used_sizes().map(Size::max).max().unwrap_or(0);
    if zones.range < largest {
        let found = format!("zones of {} bytes for requests of {largest} bytes", zones.range);
        return Err((Wrong::new(found, "room for one at least"), "zonerange"));
    }
    if matches!(job.step, Step::Back(_)) || job.work == Work::TrimWrite {
        let what = if job.work == Work::TrimWrite { "trims with writes" } else { "steps backwards" };
        return Err((Wrong::new(format!("found {what} in zones"), "one of the two"), "zonemode"));
    }
    Ok(())
}
