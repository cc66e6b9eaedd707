//! A workload that is a part of another: what its table says beyond itself, and its requests until it ends.

use crate::error::WorkloadError;
use crate::input::Progress;
use crate::near::near;
use crate::record::{Request, SECTOR_BYTES, Source};
use crate::report::SourceReport;
use crate::settings::{Value, found, settings};
use crate::spec::{Prepared, Spec, is_key, unknown_key};
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
    }
}

/// Keys that came later: where they are not used, what identifies a workload is as before.
const CAME_LATER: [&str; 2] = ["priority", "class"];

impl MemberKeys {
    fn has_limit(&self) -> bool {
        let limits = [self.until_requests as f64, self.until_gib, self.until_s, self.until_drive_writes];
        limits.into_iter().any(|limit| limit > 0.0)
    }

    /// Sets the hints that it names.
    fn set_hints(&self, hints: &mut Hints) {
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
            let spec = Spec::from_table(&inner).map_err(|error| error.within(&here).at(item.span()))?;
            members.push(Member { keys, spec });
        }
        Ok(Members(members))
    }

    /// Checks what no single key can tell.
    pub(super) fn check(&self, key: &str) -> Result<(), WorkloadError> {
        let Some(first) = self.0.first() else {
            return Err(WorkloadError::setting(
                key,
                "found none",
                format!("at least one [[workload.{key}]]"),
            ));
        };
        for (i, member) in self.0.iter().enumerate() {
            let here = format!("{key}[{i}]");
            member.spec.check().map_err(|error| error.within(&here))?;
            if matches!(member.spec, Spec::Fio(_)) {
                let found = "found a fio job file, whose jobs drive themselves";
                return Err(WorkloadError::setting(&here, found, "any other workload"));
            }
            if member.spec.has_times() != first.spec.has_times() {
                let told = |has: bool| if has { "its requests have times" } else { "its requests have none" };
                let found = format!("{}, those of {key}[0] differ", told(member.spec.has_times()));
                let allowed = "all with times, or none (set `arrival`)";
                return Err(WorkloadError::setting(&here, found, allowed));
            }
            if member.keys.until_s > 0.0 && !member.spec.has_times() {
                let found = "found a limit of time, and requests without times: it would never end";
                let allowed = "another limit, or `arrival` other than closed";
                return Err(WorkloadError::setting(&format!("{here}.until_s"), found, allowed));
            }
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

/// A member that was looked through.
pub(super) struct Seen {
    /// Its key, for messages.
    here: String,
    title: String,
    keys: MemberKeys,
    prepared: Prepared,
}

impl Seen {
    pub(super) fn new(
        member: &Member,
        here: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, WorkloadError> {
        let prepared = member.spec.prepare_with(progress)?;
        Ok(Seen { here: here.to_string(), title: member.title(), keys: member.keys.clone(), prepared })
    }

    /// What it is called.
    pub(super) fn title(&self) -> &str {
        &self.title
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
    pub(super) fn told(&self, report: &SourceReport) -> Vec<String> {
        report.remarks().into_iter().map(|remark| format!("{}: {remark}", self.here)).collect()
    }

    /// Adds it to a number that stands for all.
    pub(super) fn hash(&self, before: u64) -> u64 {
        let mut hash = mix(before ^ self.prepared.workload_hash());
        let counts = |(key, value): &&(&str, String)| {
            *key != "name" && (!CAME_LATER.contains(key) || value.as_str() != "0")
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
        let MemberKeys { until_gib, until_s, until_drive_writes, until_requests, .. } = self.keys;
        let others = [until_gib, until_s, until_drive_writes];
        (until_requests > 0 && others == [0.0; 3]).then_some(until_requests)
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
    requests: u64,
    bytes: u64,
    written: u64,
    /// What the limits have counted, and requests, when the pass began.
    before: (u64, u64, u64),
    is_over: bool,
}

impl Running {
    pub(super) fn open(seen: &Arc<Seen>, drive_sectors: u64, start_ns: u64) -> Result<Self, WorkloadError> {
        let base = gib_sectors(seen.keys.at_gib);
        let rest = drive_sectors.saturating_sub(base);
        let space = if seen.keys.space_gib > 0.0 { gib_sectors(seen.keys.space_gib) } else { rest };
        if space > rest || rest == 0 {
            let found =
                format!("found {:?} GiB behind the first {:?}", seen.keys.space_gib, seen.keys.at_gib);
            let allowed = format!("up to {:?} GiB together", drive_sectors as f64 / (1u64 << 21) as f64);
            return Err(WorkloadError::setting(&format!("{}.space_gib", seen.here), found, allowed));
        }
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
            requests: 0,
            bytes: 0,
            written: 0,
            before: (0, 0, 0),
            is_over: false,
        })
    }

    /// When it ended: at its limit of time, or with its last request.
    pub(super) fn end_ns(&self) -> u64 {
        match self.seen.keys.until_s {
            0.0 => self.last_ns,
            _ if !self.is_over => self.last_ns,
            seconds => self.start_ns.saturating_add((seconds * 1e9) as u64),
        }
    }

    pub(super) fn len_hint(&self) -> Option<u64> {
        match self.seen.keys.has_limit() {
            true => self.seen.len_hint().map(|all| all.saturating_sub(self.requests)),
            false => self.source.len_hint(),
        }
    }

    /// What it remarks.
    pub(super) fn told(&self) -> Vec<String> {
        self.seen.told(&self.source.report())
    }

    /// Whether a limit other than that of time is reached.
    fn is_full(&self) -> bool {
        let keys = &self.seen.keys;
        let gib = |sectors: u64| sectors as f64 / (1u64 << 21) as f64;
        (keys.until_requests > 0 && self.requests >= keys.until_requests)
            || (keys.until_gib > 0.0 && gib(self.bytes / SECTOR_BYTES) >= keys.until_gib)
            || (keys.until_drive_writes > 0.0
                && (self.written / SECTOR_BYTES) as f64
                    >= keys.until_drive_writes * self.drive_sectors as f64)
    }

    /// The next request; `None` at its end.
    pub(super) fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        while !self.is_over && !self.is_full() {
            let request = self.source.next().map_err(|error| error.within(&self.seen.here))?;
            let Some(mut request) = request else {
                if !self.seen.keys.has_limit() {
                    break;
                }
                self.again()?;
                continue;
            };
            request.arrival_ns = request.arrival_ns.saturating_add(self.pass_ns);
            let until_s = self.seen.keys.until_s;
            if until_s > 0.0 && (request.arrival_ns - self.start_ns) as f64 >= until_s * 1e9 {
                self.is_over = true;
                return Ok(None);
            }
            if request.op != OpCode::Flush {
                request.lba += self.base;
            }
            self.seen.keys.set_hints(&mut request.hints);
            self.last_ns = request.arrival_ns;
            self.requests += 1;
            match request.op {
                OpCode::Read => self.bytes += request.bytes(),
                OpCode::Write => {
                    self.bytes += request.bytes();
                    self.written += request.bytes();
                }
                OpCode::Trim | OpCode::Flush => {}
            }
            return Ok(Some(request));
        }
        Ok(None)
    }

    /// Begins again, a mean gap after the last request. A pass that brings no limit nearer would be followed by others.
    fn again(&mut self) -> Result<(), WorkloadError> {
        let now = (self.requests, self.bytes, self.written);
        let keys = &self.seen.keys;
        let is_nearer = (keys.until_requests > 0 && now.0 > self.before.0)
            || (keys.until_gib > 0.0 && now.1 > self.before.1)
            || (keys.until_drive_writes > 0.0 && now.2 > self.before.2)
            || (keys.until_s > 0.0 && self.last_ns > self.pass_ns);
        if !is_nearer {
            let found = "found limits that a whole pass through it brought no nearer: it would never end";
            let allowed =
                "a limit that its requests reach: requests, GiB, seconds, or drive writes of one that writes";
            return Err(WorkloadError::setting(&self.seen.here, found, allowed));
        }
        let gap = (self.last_ns - self.pass_ns).checked_div(now.0 - self.before.0 - 1).unwrap_or(0);
        self.pass_ns = self.last_ns.saturating_add(gap);
        self.before = now;
        self.source = self.seen.prepared.open(self.space)?;
        Ok(())
    }
}
