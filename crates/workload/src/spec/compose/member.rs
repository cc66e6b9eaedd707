//! A workload that is a part of another at work: its requests until it ends.

use crate::base::driven::Driven;
use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::remark::Remark;
use crate::base::report::SourceReport;
use crate::base::request::{FilesAtStart, Request, SECTOR_BYTES, Source};
use crate::spec::kinds::Member;
use crate::spec::member_keys::MemberKeys;
use crate::spec::prepared::Prepared;
use crate::spec::read::{WITHOUT_END, count_of};
use ssd::rng::mix;
use ssd::signals::OpCode;
use std::sync::Arc;

/// Keys that came later: where they are not used, what identifies a workload is as before.
const CAME_LATER: [&str; 5] = ["priority", "class", "one_time", "depth", "until_drive_reads"];

/// Sectors of a size in GiB: whole MiB.
fn gib_sectors(gib: f64) -> u64 {
    (gib * 1024.0) as u64 * 2048
}

/// After so many of its requests limits must have come nearer.
const LOOK: u64 = 1_000_000;

/// Jobs on their part of the drive, and where that begins.
pub(super) type OnPart = (Box<dyn Driven>, u64);

/// A member that was looked through.
pub(super) struct Seen {
    /// Its key, for messages.
    here: String,
    title: String,
    keys: MemberKeys,
    has_times: bool,
    is_driven: bool,
    /// Whether it is a generator that only its limits end.
    is_without_end: bool,
    prepared: Prepared,
}

impl Seen {
    pub(super) fn new(
        member: &Member,
        here: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, WorkloadError> {
        let prepared = member.spec.on_one_drive().prepare_with(progress)?;
        Ok(Seen {
            here: here.to_string(),
            title: member.title(),
            keys: member.keys.clone(),
            has_times: member.spec.has_times(),
            is_driven: member.spec.is_driven(),
            is_without_end: count_of(&member.spec).as_deref() == Some(WITHOUT_END),
            prepared,
        })
    }

    /// What it is called.
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// What it says beyond itself.
    pub(super) fn keys(&self) -> &MemberKeys {
        &self.keys
    }

    /// Whether its requests have times.
    pub(super) fn has_times(&self) -> bool {
        self.has_times
    }

    /// Whether it drives itself.
    pub(super) fn is_driven(&self) -> bool {
        self.is_driven
    }

    /// Requests that it keeps in flight beside jobs, or as jobs; those with times wait for nobody.
    pub(super) fn depth(&self) -> u64 {
        let has_own = !self.is_driven && !self.has_times;
        if has_own { self.keys.depth } else { self.prepared.depth() }
    }

    /// What of it ends by time only.
    pub(super) fn timed_job(&self) -> Option<&str> {
        // Drive writes are no limit of jobs that only read.
        let ends = self.keys.until_requests > 0 || self.keys.until_gib > 0.0;
        let by_limit = self.keys.ends_by_time_only().then_some(self.title.as_str());
        by_limit.or(self.prepared.timed_job()).filter(|_| self.is_driven && !ends)
    }

    /// It as jobs on its part of the drive, if it drives itself, and where that part begins.
    pub(super) fn driven(&self, drive_sectors: u64) -> Option<Result<OnPart, WorkloadError>> {
        let (base, space) = match self.part(drive_sectors) {
            Ok(part) => part,
            Err(error) => return Some(Err(error)),
        };
        let driven = self.prepared.driven(space)?;
        Some(driven.map(|driven| (driven, base)).map_err(|error| self.within(error)))
    }

    /// Where its part of the drive begins, and its size.
    fn part(&self, drive_sectors: u64) -> Result<(u64, u64), WorkloadError> {
        let base = gib_sectors(self.keys.at_gib);
        let rest = drive_sectors.saturating_sub(base);
        let space = if self.keys.space_gib > 0.0 { gib_sectors(self.keys.space_gib) } else { rest };
        if space > rest || rest == 0 {
            let found = format!("found {:?} GiB after the first {:?}", self.keys.space_gib, self.keys.at_gib);
            let allowed = format!("up to {:?} GiB together", drive_sectors as f64 / (1u64 << 21) as f64);
            return Err(WorkloadError::setting(&format!("{}.space_gib", self.here), found, allowed));
        }
        Ok((base, space))
    }

    /// An error of its own, with its key.
    pub(super) fn within(&self, error: WorkloadError) -> WorkloadError {
        error.within(&self.here)
    }

    /// The error of a pass that brought no limit nearer.
    pub(super) fn endless(&self) -> WorkloadError {
        let found = "found limits that a whole pass got no closer to: it would never end";
        let allowed = "a limit that its requests reach: requests, GiB, seconds, or drive writes if it writes";
        WorkloadError::setting(&self.here, found, allowed)
    }

    /// The sectors of the drive that it needs.
    pub(super) fn space_sectors(&self) -> Option<u64> {
        let at = gib_sectors(self.keys.at_gib);
        let own = self.prepared.space_sectors();
        let given = (self.keys.space_gib > 0.0).then(|| gib_sectors(self.keys.space_gib));
        own.max(given).map(|sectors| at + sectors)
    }

    pub(super) fn report(&self) -> SourceReport {
        self.prepared.report()
    }

    /// What a report of it remarks, with its key.
    pub(super) fn told(&self, report: &SourceReport) -> Vec<Remark> {
        report.told().into_iter().map(|remark| remark.of_part(&self.here)).collect()
    }

    /// Adds it to a number that stands for all.
    pub(super) fn hash(&self, before: u64) -> u64 {
        let mut hash = mix(before ^ self.prepared.workload_hash());
        let counts = |(key, value): &&(&str, String)| {
            *key != "name" && (!CAME_LATER.contains(key) || !["0", "0.0", "false"].contains(&value.as_str()))
        };
        for (key, value) in self.keys.entries().iter().filter(counts) {
            for byte in key.bytes().chain(value.bytes()) {
                hash = mix(hash ^ u64::from(byte));
            }
        }
        hash
    }

    /// How many requests it will have, where nothing but their number ends it.
    pub(super) fn len_hint(&self) -> Option<u64> {
        let MemberKeys { until_gib, until_s, until_drive_writes, until_drive_reads, until_requests, .. } =
            self.keys;
        let others = [until_gib, until_s, until_drive_writes, until_drive_reads];
        (until_requests > 0 && others == [0.0; 4]).then_some(until_requests)
    }
}

/// What a member has done towards its limits.
#[derive(Default)]
pub(super) struct Done {
    requests: u64,
    bytes: u64,
    written: u64,
    read: u64,
    /// The same when the present pass began.
    before: [u64; 4],
}

impl Done {
    /// Whether a limit other than that of time is reached on a drive of so many sectors.
    pub(super) fn is_full(&self, keys: &MemberKeys, drive_sectors: u64) -> bool {
        let gib = |sectors: u64| sectors as f64 / (1u64 << 21) as f64;
        (keys.until_requests > 0 && self.requests >= keys.until_requests)
            || (keys.until_gib > 0.0 && gib(self.bytes / SECTOR_BYTES) >= keys.until_gib)
            || (keys.until_drive_writes > 0.0
                && (self.written / SECTOR_BYTES) as f64 >= keys.until_drive_writes * drive_sectors as f64)
            || (keys.until_drive_reads > 0.0
                && (self.read / SECTOR_BYTES) as f64 >= keys.until_drive_reads * drive_sectors as f64)
    }

    /// Counts a request, and makes it one of the member, whose part of the drive begins at `base`.
    pub(super) fn take(&mut self, keys: &MemberKeys, base: u64, request: &mut Request) {
        if request.op != OpCode::Flush {
            request.lba += base;
        }
        keys.set_hints(&mut request.hints);
        self.requests += 1;
        match request.op {
            OpCode::Read => {
                self.bytes += request.bytes();
                self.read += request.bytes();
            }
            OpCode::Write => {
                self.bytes += request.bytes();
                self.written += request.bytes();
            }
            OpCode::Trim | OpCode::Flush => {}
        }
    }

    /// Requests of the present pass.
    fn of_pass(&self) -> u64 {
        self.requests - self.before[0]
    }

    /// Another pass begins; the requests of the last one. `None` if it brought no limit nearer, that of time neither:
    /// it would be followed by others.
    pub(super) fn again(&mut self, keys: &MemberKeys, time_went_on: bool) -> Option<u64> {
        let now = [self.requests, self.bytes, self.written, self.read];
        let before = std::mem::replace(&mut self.before, now);
        let limits =
            [keys.until_requests as f64, keys.until_gib, keys.until_drive_writes, keys.until_drive_reads];
        let is_nearer = |number: usize| limits[number] > 0.0 && now[number] > before[number];
        let is_any_nearer = (0..limits.len()).any(is_nearer) || (keys.until_s > 0.0 && time_went_on);
        is_any_nearer.then_some(now[0] - before[0])
    }
}

/// A member at work.
pub(super) struct Running {
    seen: Arc<Seen>,
    source: Box<dyn Source>,
    /// Of the drive: what it sees, where it begins, and all of it.
    space: u64,
    base: u64,
    drive_sectors: u64,
    start_ns: u64,
    /// When the present pass began, and the time of the last request.
    pass_ns: u64,
    last_ns: u64,
    done: Done,
    is_over: bool,
}

impl Running {
    pub(super) fn open(seen: &Arc<Seen>, drive_sectors: u64, start_ns: u64) -> Result<Self, WorkloadError> {
        let (base, space) = seen.part(drive_sectors)?;
        let source = seen.prepared.open(space).map_err(|error| error.within(&seen.here))?;
        Ok(Running {
            seen: Arc::clone(seen),
            source,
            space,
            base,
            drive_sectors,
            start_ns,
            pass_ns: start_ns,
            last_ns: start_ns,
            done: Done::default(),
            is_over: false,
        })
    }

    /// When it ended: at its limit of time, or with its last request.
    pub(super) fn end_ns(&self) -> u64 {
        if self.is_over { self.start_ns.saturating_add(self.seen.keys.stop_ns()) } else { self.last_ns }
    }

    pub(super) fn len_hint(&self) -> Option<u64> {
        match self.seen.keys.has_limit() {
            true => self.seen.len_hint().map(|all| all.saturating_sub(self.done.requests)),
            false => self.source.len_hint(),
        }
    }

    /// What it remarks.
    pub(super) fn told(&self) -> Vec<Remark> {
        self.seen.told(&self.source.report())
    }

    /// The files that lie there before its first request.
    pub(super) fn files_at_start(&self) -> FilesAtStart {
        let mut files = self.source.files_at_start();
        for held in &mut files.held {
            held.lba += self.base;
            self.seen.keys.set_hints(&mut held.hints);
        }
        files
    }

    /// The next request; `None` at its end.
    pub(super) fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        while !self.is_over && !self.done.is_full(&self.seen.keys, self.drive_sectors) {
            let request = self.source.next().map_err(|error| error.within(&self.seen.here))?;
            let Some(mut request) = request else {
                if !self.seen.keys.has_limit() {
                    break;
                }
                self.again()?;
                continue;
            };
            request.arrival_ns = request.arrival_ns.saturating_add(self.pass_ns);
            if request.arrival_ns - self.start_ns >= self.seen.keys.stop_ns() {
                self.is_over = true;
                return Ok(None);
            }
            self.last_ns = request.arrival_ns;
            self.done.take(&self.seen.keys, self.base, &mut request);
            if self.seen.is_without_end && self.done.of_pass() >= LOOK {
                let time_went_on = self.last_ns > self.pass_ns;
                self.done.again(&self.seen.keys, time_went_on).ok_or_else(|| self.seen.endless())?;
            }
            return Ok(Some(request));
        }
        Ok(None)
    }

    /// Begins again, a mean gap after the last request.
    fn again(&mut self) -> Result<(), WorkloadError> {
        let time_went_on = self.last_ns > self.pass_ns;
        let requests = self.done.again(&self.seen.keys, time_went_on).ok_or_else(|| self.seen.endless())?;
        let gap = (self.last_ns - self.pass_ns).checked_div(requests.saturating_sub(1)).unwrap_or(0);
        self.pass_ns = self.last_ns.saturating_add(gap);
        self.source = self.seen.prepared.open(self.space)?;
        Ok(())
    }
}

/// What results call them.
pub(super) fn names(members: &[Arc<Seen>]) -> Vec<String> {
    members.iter().map(|member| member.title().to_string()).collect()
}

/// The remarks of all members, each said once.
pub(super) fn told(remarks: impl Iterator<Item = Vec<Remark>>) -> SourceReport {
    let mut notes: Vec<Remark> = Vec::new();
    for note in remarks.flatten() {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    SourceReport { notes, ..SourceReport::default() }
}
