//! A trace as a workload: read twice, in constant memory. The first pass counts, finds the devices' extents and the
//! pages touched, and meets every damaged line before a simulation has begun; the second one hands out requests.

use crate::base::error::{Problem, WorkloadError};
use crate::base::footprint::{Footprint, Meter};
use crate::base::input::bytes::Progress;
use crate::base::pages::RankMap;
use crate::base::report::SourceReport;
use crate::base::request::{PAGE_SECTORS, Record, Request, SECTORS_MAX, Source};
use crate::base::shape::Devices;
use crate::trace::address::{AddressMap, AddressPolicy, page_base};
use crate::trace::select::Selected;
use crate::trace::spec::TraceSpec;
use ssd::rng::mix;
use std::sync::Arc;

/// Extents of devices are rounded up to this many sectors (1 MiB) so that no page is shared by two of them.
const EXTENT_SECTORS: u64 = 2048;
/// Longest workload: 146 years.
const TIME_NS_MAX: u128 = 1 << 62;
/// Requests between two calls of a progress function.
const PROGRESS_REQUESTS: u64 = 1 << 16;

/// What the first pass over a trace found.
pub(crate) struct Survey {
    /// Totals, with the end of the last device if they are laid out one after the other.
    pub footprint: Footprint,
    /// Requests handed out by one pass.
    requests: u64,
    /// First sector of each device, by device number.
    bases: Vec<u64>,
    /// Touched granules, for `compact`.
    ranks: Option<Arc<RankMap>>,
    /// Identifies the requests, whatever file they came from.
    pub hash: u64,
    pub report: SourceReport,
    /// Devices that requests go to, in ascending order.
    pub devices: Vec<u16>,
}

/// Pages of a granule as a power of two.
fn granule_shift(spec: &TraceSpec) -> u32 {
    (spec.granularity_kib / 4).max(1).ilog2()
}

/// Whether devices lie one after the other.
fn is_laid_out(spec: &TraceSpec) -> bool {
    match &spec.devices {
        Devices::Concatenate => true,
        Devices::Merge => false,
        Devices::Only(numbers) => numbers.len() > 1,
    }
}

impl Survey {
    /// Reads the trace once.
    pub(crate) fn run(spec: &TraceSpec, progress: &mut dyn FnMut(Progress)) -> Result<Self, WorkloadError> {
        let mut selected = Selected::open(spec)?;
        let mut meter = Meter::default();
        let mut ends: Vec<u64> = Vec::new();
        let mut hash = RequestHash::default();
        let mut requests = 0;
        while let Some(record) = selected.next()? {
            let Record { request, device } = record;
            meter.add(&request, page_base(device));
            hash.add(&record);
            if ends.len() <= usize::from(device) {
                ends.resize(usize::from(device) + 1, 0);
            }
            ends[usize::from(device)] = ends[usize::from(device)].max(request.end());
            requests += 1;
            if requests % PROGRESS_REQUESTS == 0 {
                progress(selected.progress());
            }
        }
        if requests == 0 {
            return Err(selected.nothing(spec));
        }
        let mut footprint = meter.finish();
        let is_compact = spec.address == AddressPolicy::Compact;
        let ranks = is_compact.then(|| Arc::new(RankMap::new(&meter.pages, granule_shift(spec))));
        let is_laid_out = is_laid_out(spec);
        let bases = if is_laid_out { bases(&ends, &mut footprint.end_lba) } else { Vec::new() };
        if !is_compact && footprint.end_lba > SECTORS_MAX {
            return Err(Problem::DoesNotFit {
                what: "a layout of all devices one after the other".into(),
                needed_sectors: footprint.end_lba,
                drive_sectors: SECTORS_MAX,
                advice: "choose one device, or devices = \"merge\"".into(),
            }
            .into());
        }
        let devices: Vec<u16> =
            (0..=u16::MAX).zip(&ends).filter(|(_, end)| **end > 0).map(|at| at.0).collect();
        let several = if devices.len() > 1 { devices.len() as u64 } else { 0 };
        let report = SourceReport { devices: several, ..selected.report() };
        Ok(Survey { footprint, requests, bases, ranks, hash: hash.0, report, devices })
    }

    /// The smallest drive that the workload fits on without being changed, in sectors.
    pub(crate) fn space_sectors(&self, spec: &TraceSpec) -> u64 {
        match &self.ranks {
            Some(ranks) => ranks.len() * (PAGE_SECTORS << granule_shift(spec)),
            None => self.footprint.end_lba,
        }
    }
}

/// First sectors of devices one after the other; moves the end of the last one into `end`.
pub(crate) fn bases(ends: &[u64], end: &mut u64) -> Vec<u64> {
    let mut next = 0u64;
    ends.iter()
        .map(|&device_end| {
            let base = next;
            if device_end > 0 {
                *end = base.saturating_add(device_end);
                next = base.saturating_add(device_end.next_multiple_of(EXTENT_SECTORS));
            }
            base
        })
        .collect()
}

/// Stands for the hint in a hash: no context is so large.
const ONE_TIME: u64 = 1 << 32;

/// A running hash of requests.
struct RequestHash(u64);

impl Default for RequestHash {
    fn default() -> Self {
        RequestHash(mix(0x7265_7175_6573_7473))
    }
}

impl RequestHash {
    #[inline]
    fn add(&mut self, record: &Record) {
        let r = &record.request;
        let kind =
            r.op as u64 | u64::from(r.fua) << 8 | u64::from(record.device) << 16 | u64::from(r.sectors) << 32;
        let who = u64::from(r.hints.file) | u64::from(r.hints.process) << 32;
        let how =
            u64::from(r.hints.stream) | u64::from(r.hints.priority) << 16 | u64::from(r.hints.class) << 24;
        self.fold(r.arrival_ns, kind);
        self.fold(r.lba ^ how << 32, who);
        // Few formats have one: traces without keep the hash they had before.
        if r.hints.context != 0 {
            self.fold(u64::from(r.hints.context), how);
        }
        if r.hints.one_time {
            self.fold(ONE_TIME, how);
        }
    }

    /// Mixes two words in by one wide multiplication.
    #[inline]
    fn fold(&mut self, a: u64, b: u64) {
        let x = self.0 ^ a ^ 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(x) * u128::from(b ^ self.0.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
        self.0 = self.0.rotate_left(17) ^ (product >> 64) as u64 ^ product as u64;
    }
}

/// The second pass: requests as a drive gets them.
pub(crate) struct TraceSource {
    spec: TraceSpec,
    survey: Arc<Survey>,
    selected: Selected,
    map: AddressMap,
    /// Requests of this pass so far.
    taken: u64,
    /// Passes to come after this one.
    passes_left: u64,
    /// Start of this pass in the trace's time.
    offset_ns: u128,
    period_ns: u64,
    produced: u64,
    /// Counts of the first pass, once it is over.
    first_pass: Option<SourceReport>,
    /// Counts of what the address policy did in the current pass.
    placed: SourceReport,
}

impl TraceSource {
    /// Opens a surveyed trace for a drive of so many sectors.
    pub(crate) fn open(
        spec: &TraceSpec,
        survey: &Arc<Survey>,
        drive_sectors: u64,
    ) -> Result<Self, WorkloadError> {
        let shift = granule_shift(spec);
        let needed_sectors = survey.space_sectors(spec);
        let map = match (&survey.ranks, spec.address) {
            (Some(ranks), _) => {
                if needed_sectors > drive_sectors {
                    let what = "this trace, compacted to the pages it touches,".into();
                    let advice = "take a larger drive, or address = \"wrap\"".into();
                    return Err(Problem::DoesNotFit { what, needed_sectors, drive_sectors, advice }.into());
                }
                AddressMap::compact(Arc::clone(ranks), shift)
            }
            (None, AddressPolicy::Wrap) => AddressMap::wrap(drive_sectors, PAGE_SECTORS << shift),
            (None, _) => AddressMap::as_is(drive_sectors),
        };
        let duration = u128::from(survey.footprint.duration_ns);
        let passes = u128::from(spec.repeat);
        let gaps = u128::from(survey.requests.saturating_sub(1));
        // One mean gap between the last request and the first of the next pass: the rate stays what it was.
        let period = duration + duration.checked_div(gaps).unwrap_or(0);
        if spec.speed_up.apply(period.saturating_mul(passes)) > TIME_NS_MAX {
            let found = format!("{passes} repeats at this speed take longer than a simulation can");
            return Err(WorkloadError::setting("repeat", found, "at most 2^62 ns (146 years) in all"));
        }
        Ok(TraceSource {
            selected: Selected::open(spec)?,
            spec: spec.clone(),
            survey: Arc::clone(survey),
            map,
            taken: 0,
            passes_left: spec.repeat - 1,
            offset_ns: 0,
            period_ns: u64::try_from(period).unwrap_or(u64::MAX),
            produced: 0,
            first_pass: None,
            placed: SourceReport::default(),
        })
    }

    fn changed(&self) -> WorkloadError {
        Problem::Changed { file: self.spec.path.display().to_string() }.into()
    }

    /// Starts the next pass; false after the last one.
    #[cold]
    fn rewind(&mut self) -> Result<bool, WorkloadError> {
        if self.taken != self.survey.requests {
            return Err(self.changed());
        }
        if self.passes_left == 0 {
            return Ok(false);
        }
        if self.first_pass.is_none() {
            self.first_pass = Some(self.report());
        }
        self.passes_left -= 1;
        self.taken = 0;
        self.offset_ns += u128::from(self.period_ns);
        self.selected = Selected::open(&self.spec)?;
        Ok(true)
    }
}

impl Source for TraceSource {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        loop {
            let Some(Record { mut request, device }) = self.selected.next()? else {
                if self.rewind()? {
                    continue;
                }
                return Ok(None);
            };
            self.taken += 1;
            if self.taken > self.survey.requests {
                return Err(self.changed());
            }
            let time = self.spec.speed_up.apply(self.offset_ns + u128::from(request.arrival_ns));
            request.arrival_ns = u64::try_from(time).unwrap_or(u64::MAX);
            if request.sectors > 0 {
                match self.survey.bases.get(usize::from(device)) {
                    Some(base) if self.survey.ranks.is_none() => request.lba += base,
                    None if is_laid_out(&self.spec) => return Err(self.changed()),
                    _ => {}
                }
            }
            self.produced += 1;
            let number = self.produced;
            if self.map.place(&mut request, device, number, &self.spec.path, &mut self.placed)? {
                return Ok(Some(request));
            }
        }
    }

    fn len_hint(&self) -> Option<u64> {
        let later = self.passes_left.checked_mul(self.survey.requests)?;
        later.checked_add(self.survey.requests.saturating_sub(self.taken))
    }

    fn report(&self) -> SourceReport {
        if let Some(report) = &self.first_pass {
            return report.clone();
        }
        SourceReport {
            wrapped: self.placed.wrapped,
            moved_from_end: self.placed.moved_from_end,
            shortened: self.placed.shortened,
            trims_dropped: self.placed.trims_dropped,
            devices: self.survey.report.devices,
            ..self.selected.report()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::signals::{Hints, OpCode};

    #[test]
    fn all_that_a_request_carries_is_in_the_hash() {
        let request = |request: Request| Record { request, device: 0 };
        let hints = |hints: Hints| request(Request { hints, ..Request::default() });
        let none = Record::default();
        let records = [
            none,
            Record { device: 1, ..none },
            request(Request { arrival_ns: 1, ..none.request }),
            request(Request { op: OpCode::Write, ..none.request }),
            request(Request { fua: true, ..none.request }),
            request(Request { lba: 1, ..none.request }),
            request(Request { sectors: 1, ..none.request }),
            hints(Hints { stream: 1, ..Hints::default() }),
            hints(Hints { file: 1, ..Hints::default() }),
            hints(Hints { process: 1, ..Hints::default() }),
            hints(Hints { context: 1, ..Hints::default() }),
            hints(Hints { priority: 1, ..Hints::default() }),
            hints(Hints { class: 1, ..Hints::default() }),
            hints(Hints { one_time: true, ..Hints::default() }),
        ];
        let hash = |record: &Record| {
            let mut hash = RequestHash::default();
            hash.add(record);
            hash.0
        };
        let hashes: std::collections::BTreeSet<u64> = records.iter().map(hash).collect();
        assert_eq!(hashes.len(), records.len());
    }
}
