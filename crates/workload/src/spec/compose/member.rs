//! A workload that is a part of another: what its table says beyond itself, and its requests until it ends.

use crate::base::driven::Driven;
use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::near::near;
use crate::base::remark::Remark;
use crate::base::report::SourceReport;
use crate::base::request::{FilesAtStart, Request, SECTOR_BYTES, Source};
use crate::base::settings::{Value, found, settings, unknown_key};
use crate::generate::synthetic::SyntheticSpec;
use crate::spec::kinds::{Spec, is_key};
use crate::spec::prepared::Prepared;
use ssd::rng::mix;
use ssd::signals::{Hints, OpCode};
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

settings! {
    /// What a phase, or a workload together with others, says beyond itself. It ends at the first limit that is
    /// reached; until then it begins again whenever it is through. Without a limit it runs through once.
    pub struct MemberKeys {
        /// What to call it.
        name: String = String::new(), unit "", allowed "", if |_| true;
        /// It ends after so many requests; 0 for no such limit.
        until_requests: u64 = 0, unit "requests", allowed "", if |_| true;
        /// It ends when so much is read and written; 0 for no such limit.
        until_gib: f64 = 0.0, unit "GiB", allowed "0 to 1e9", if |x| (0.0..=1e9).contains(x);
        /// It ends so long after its beginning; 0 for no such limit.
        until_s: f64 = 0.0, unit "s", allowed "0 to 1e9", if |x| (0.0..=1e9).contains(x);
        /// It ends when the drive is written so many times over; 0 for no such limit.
        until_drive_writes: f64 = 0.0, unit "drives", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// It ends when the drive is read so many times over; 0 for no such limit.
        until_drive_reads: f64 = 0.0, unit "drives", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// Where on the drive it begins.
        at_gib: f64 = 0.0, unit "GiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// How much of the drive it sees from there; 0 for the rest.
        space_gib: f64 = 0.0, unit "GiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// The stream hint of its requests; 0 leaves them as they are.
        stream: u64 = 0, unit "", allowed "0 to 65535", if |n| *n <= 65_535;
        /// The priority of its requests: 1 low, 2 medium, 3 high; 0 leaves it as it is.
        priority: u64 = 0, unit "", allowed "0 to 3", if |n| *n <= 3;
        /// The security class of its requests: 1 insecure, 2 secure; 0 leaves it as it is.
        class: u64 = 0, unit "", allowed "0 to 2", if |n| *n <= 2;
        /// Its reads are read this once and say nothing of how data is used: a scrub, a backup.
        one_time: bool = false, unit "", allowed "", if |_| true;
        /// Its requests in flight, of a phase without times where another phase is jobs of fio; 0 for 32.
        depth: u64 = 0, unit "requests", allowed "0 to 65536", if |n| *n <= 65_536;
    }
}

/// Keys that came later: where they are not used, what identifies a workload is as before.
const CAME_LATER: [&str; 5] = ["priority", "class", "one_time", "depth", "until_drive_reads"];
/// By so much seeds of workloads in others move on with the next seed of all.
const SEED_STEP: u64 = 1000;

impl MemberKeys {
    pub(super) fn has_limit(&self) -> bool {
        self.until_s > 0.0 || self.ends_by_amount()
    }

    /// Whether nothing but time ends it.
    pub(super) fn ends_by_time_only(&self) -> bool {
        self.until_s > 0.0 && !self.ends_by_amount()
    }

    /// Whether so many requests or bytes end it.
    fn ends_by_amount(&self) -> bool {
        let bytes = [self.until_gib, self.until_drive_writes, self.until_drive_reads];
        self.until_requests > 0 || bytes.into_iter().any(|limit| limit > 0.0)
    }

    /// The time after which it ends; the end of time for none. ns.
    pub(super) fn stop_ns(&self) -> u64 {
        if self.until_s > 0.0 { (self.until_s * 1e9) as u64 } else { u64::MAX }
    }

    /// Sets the hints that it names.
    pub(super) fn set_hints(&self, hints: &mut Hints) {
        // The ranges of the keys are those of the fields.
        if self.stream > 0 {
            hints.stream = self.stream as u16;
        }
        if self.priority > 0 {
            hints.priority = self.priority as u8;
        }
        if self.class > 0 {
            hints.class = self.class as u8;
        }
        hints.one_time |= self.one_time;
    }
}

/// Sectors of a size in GiB: whole MiB.
fn gib_sectors(gib: f64) -> u64 {
    (gib * 1024.0) as u64 * 2048
}

/// One of the workloads.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// What it says beyond itself.
    pub keys: MemberKeys,
    /// The workload.
    pub spec: Spec,
}

impl Member {
    pub(super) fn title(&self) -> String {
        if self.keys.name.is_empty() { self.spec.title() } else { self.keys.name.clone() }
    }
}

/// Whether an unknown key must be meant for one of a member, not of its workload.
fn is_meant(name: &str) -> bool {
    let is_near = || near(name, MemberKeys::NAMES.iter().copied()).is_some();
    !is_key(name) && (name.starts_with("until") || is_near())
}

/// The key of how many requests a generator makes, and more than any limit lets it.
const COUNT: &str = "count";
const WITHOUT_END: &str = "1000000000000";
/// After so many of its requests limits must have come nearer.
const LOOK: u64 = 1_000_000;

/// How many requests a generator makes.
fn count_of(spec: &Spec) -> Option<String> {
    spec.entries().into_iter().find(|(key, _)| *key == COUNT).map(|(_, value)| value)
}

/// Whether a workload is a generator of as many requests as where nobody says how many: within a limit of its own it
/// goes on until that, and does not begin again with the same requests.
fn counts_by_default(spec: &Spec) -> bool {
    count_of(spec) == Some(SyntheticSpec::default().count.to_string())
}

/// Some workloads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(pub Vec<Member>);

/// Most members.
const MEMBERS_MAX: usize = 64;

impl Members {
    fn parse(key: &str, value: &DeValue<'_>) -> Result<Self, WorkloadError> {
        let wrong = |key: &str, value: &DeValue<'_>| {
            WorkloadError::setting(key, format!("found {}", found(value)), Self::allowed())
        };
        let DeValue::Array(items) = value else { return Err(wrong(key, value)) };
        if items.len() > MEMBERS_MAX {
            let found = format!("found {} workloads", items.len());
            return Err(WorkloadError::setting(key, found, format!("at most {MEMBERS_MAX}")));
        }
        let mut members = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let here = format!("{key}[{i}]");
            let DeValue::Table(table) = item.get_ref() else { return Err(wrong(&here, item.get_ref())) };
            let mut keys = MemberKeys::default();
            let mut inner = DeTable::new();
            for (name, value) in table.iter() {
                if MemberKeys::NAMES.contains(&name.get_ref().as_ref()) {
                    let set = keys.set_value(name.get_ref(), value.get_ref());
                    set.map_err(|error| error.within(&here).at(value.span()))?;
                } else if is_meant(name.get_ref()) {
                    let error = unknown_key(name.get_ref(), MemberKeys::NAMES);
                    return Err(error.within(&here).at(name.span()));
                } else {
                    inner.insert(name.clone(), value.clone());
                }
            }
            let mut spec = Spec::from_table(&inner).map_err(|error| error.within(&here).at(item.span()))?;
            if keys.has_limit() && !inner.contains_key(COUNT) && counts_by_default(&spec) {
                spec.set(COUNT, WITHOUT_END)?;
            }
            members.push(Member { keys, spec });
        }
        Ok(Members(members))
    }

    /// What each is called.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(Member::title).collect()
    }

    /// Moves their seeds on from those for seed 1 to those for another.
    pub(super) fn move_seeds(&mut self, seed: u64) -> Result<(), WorkloadError> {
        self.0.iter_mut().try_for_each(|member| member.move_seeds(seed))
    }

    /// Whether one drives itself; where the others are phases, each is driven by itself then.
    pub(super) fn is_driven(&self) -> bool {
        self.0.iter().any(|member| member.spec.is_driven())
    }

    /// Checks what no single key can tell.
    pub(super) fn check(&self, key: &str, in_turn: bool) -> Result<(), WorkloadError> {
        let Some(first) = self.0.first() else {
            return Err(WorkloadError::setting(
                key,
                "found none",
                format!("at least one [[workload.{key}]]"),
            ));
        };
        let by_themselves = in_turn && self.is_driven();
        for (i, member) in self.0.iter().enumerate() {
            let here = format!("{key}[{i}]");
            member.spec.check().map_err(|error| error.within(&here))?;
            if member.spec.is_driven() && !in_turn {
                let found =
                    "found fio jobs, which wait for their own requests and have no times to be merged by";
                let allowed = "any other workload; or the jobs of one file, which run together";
                return Err(WorkloadError::setting(&here, found, allowed));
            }
            if member.spec.kind().stripe().is_some() {
                let key = format!("{here}.drives");
                return Err(WorkloadError::setting(
                    &key,
                    "found \"striped\"",
                    "\"together\": all have one drive",
                ));
            }
            member.check_times(&here, (&format!("{key}[0]"), first), by_themselves)?;
        }
        Ok(())
    }
}

impl Member {
    fn move_seeds(&mut self, seed: u64) -> Result<(), WorkloadError> {
        if let Spec::Phases(_) | Spec::Together(_) = &self.spec {
            return self.spec.set_seed(seed);
        }
        let seeds = self.spec.entries().into_iter().filter(|(key, _)| key.ends_with("seed"));
        for (key, own) in seeds.collect::<Vec<_>>() {
            // 0 stands for another key's.
            if let Some(own) = own.parse::<u64>().ok().filter(|own| *own > 0) {
                let moved = own.wrapping_add(SEED_STEP.wrapping_mul(seed.wrapping_sub(1)));
                self.spec.set(key, &moved.to_string())?;
            }
        }
        Ok(())
    }

    /// Checks what depends on whether requests have times.
    fn check_times(
        &self,
        here: &str,
        (first_key, first): (&str, &Member),
        by_themselves: bool,
    ) -> Result<(), WorkloadError> {
        let has_times = self.spec.has_times();
        if has_times != first.spec.has_times() && !by_themselves {
            let told = |has: bool| if has { "its requests have times" } else { "its requests have none" };
            let found = format!("{}, those of {first_key} differ", told(has_times));
            let allowed = "all with times, or none (set `arrival`)";
            return Err(WorkloadError::setting(here, found, allowed));
        }
        if self.keys.until_s > 0.0 && !has_times && !self.spec.is_driven() {
            let found = "found a time limit, and requests without times: it would never end";
            let allowed = "another limit, or `arrival` other than closed";
            return Err(WorkloadError::setting(&format!("{here}.until_s"), found, allowed));
        }
        if self.keys.depth > 0 && (!by_themselves || has_times || self.spec.is_driven()) {
            let found = "found a depth where none is needed";
            let allowed = "0; it applies to phases without times beside fio jobs (run.depth applies to all \
                           others, iodepth to jobs)";
            return Err(WorkloadError::setting(&format!("{here}.depth"), found, allowed));
        }
        Ok(())
    }
}

impl Value for Members {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::parse("", value).ok()
    }
    fn explain(key: &str, value: &DeValue<'_>) -> Option<WorkloadError> {
        Self::parse(key, value).err()
    }
    fn show(&self) -> String {
        let member = |member: &Member| {
            let entries = member.keys.entries().into_iter().chain(member.spec.entries());
            let keys: Vec<String> = entries.map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", keys.join(", "))
        };
        format!("[{}]", self.0.iter().map(member).collect::<Vec<_>>().join(", "))
    }
    fn allowed() -> String {
        "a list of tables, each a workload".to_string()
    }
}

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
