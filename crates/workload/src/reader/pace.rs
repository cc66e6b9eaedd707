//! The units of a trace that names none, told by its beginning.
//!
//! Read in too fine a unit, a trace asks for more than any drive does: 300 s of microseconds become 0.3 s of
//! nanoseconds. So the unit of whole-number times is
//!
//! - that in which they are dates (between the years 2000 and 2040) at a pace that can be;
//! - else the finest of ns, us and ms at which the head asks for at most 8 GB/s and a million requests a second. If it
//!   would be an ordinary trace in a coarser one as well, nothing is guessed: the user has to say. Of a handful of
//!   requests nobody can tell what is ordinary: there the finest is taken. So it is if all times are multiples of
//!   1,000: those are microseconds kept as ns.
//!
//! Addresses are bytes if all of them and all sizes are multiples of 512 and the sizes differ. If they do not differ,
//! both are tried, and the pace decides. Else they are sectors. All of these limits are assumed.
//!
//! A format whose units are known gets the same check, as a remark.

use super::fields::{TimeScale, Units};
use super::format::{Format, OpenUnits, Raw, Row};
use crate::base::error::{Problem, WorkloadError};
use crate::base::findings::{Assumed, Pace};
use crate::base::footprint::Footprint;
use crate::base::pages::PageSet;
use crate::base::request::{PAGE_BYTES, SECTOR_BYTES};
use crate::base::units::{AddressUnit, TimeUnit};
use std::ops::Range;

/// Units that whole numbers may have, the finest first.
const UNITS: [TimeUnit; 3] = [TimeUnit::Nanoseconds, TimeUnit::Microseconds, TimeUnit::Milliseconds];
/// The most that one drive is asked for: the link of a fast one.
const BYTES_PER_S_MAX: u64 = 8_000_000_000;
/// The most requests a second.
const REQUESTS_PER_S_MAX: u64 = 1_000_000;
/// Requests a second from which on a coarser unit makes an ordinary trace too.
const REQUESTS_PER_S_ORDINARY: u64 = 100;
/// Requests that it takes to say so.
const REQUESTS_MIN: u64 = 20;
/// Requests that it takes to doubt a unit that the format or the user says.
const REQUESTS_TO_DOUBT: u64 = 100;
/// The years 2000 and 2040 in seconds since 1970.
const DATES_S: Range<u64> = 946_684_800..2_208_988_800;
/// From 1601, where Windows file times begin, to 1970, in seconds.
const FILETIME_EPOCH_S: u64 = 11_644_473_600;
/// Seconds between two requests from which on dates are taken for something else, on average.
const DATE_GAP_S_MAX: u64 = 10;

/// What was found.
#[derive(Default)]
pub(super) struct Evidence {
    pub assumed: Option<Assumed>,
    /// A pace above what a drive can do, in units that the format or the user says.
    pub too_fast: Option<Pace>,
}

/// The beginning of a trace in the units of the trace itself: sectors stand for one unit of address or size.
struct Head {
    requests: Vec<Raw>,
    /// Earliest and latest time.
    first: u64,
    last: u64,
}

impl Head {
    fn of<F: Format>(format: &mut F, head: &[&[u8]]) -> Self {
        let rows = head.iter().filter_map(|line| match format.parse(line) {
            Ok(Row::Request(raw)) => Some(raw),
            _ => None,
        });
        let requests: Vec<Raw> = rows.collect();
        let times = || requests.iter().map(|raw| raw.time_ns);
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        Head { requests, first, last }
    }

    /// What it is in given units: ns of one unit of time, bytes of one of space.
    fn pace(&self, unit_ns: u64, bytes: u64) -> Pace {
        let span_ns = u128::from(self.last - self.first) * u128::from(unit_ns);
        let per_s = |count: u64| {
            let rate = (u128::from(count) * 1_000_000_000).div_ceil(span_ns.max(1));
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        // All but the last: it takes as long as there are gaps.
        let before = self.requests.len().saturating_sub(1);
        let units = self.requests.iter().take(before).map(|raw| u64::from(raw.range.sectors));
        let asked = units.fold(0, u64::saturating_add).saturating_mul(bytes);
        Pace {
            head_requests: self.requests.len() as u64,
            requests_per_s: per_s(before as u64),
            bytes_per_s: per_s(asked),
            footprint_bytes: self.footprint(bytes),
        }
    }

    /// Bytes of the 4 KiB pages it touches.
    fn footprint(&self, bytes: u64) -> u64 {
        let mut pages = PageSet::default();
        let page = |unit: u64| unit.saturating_mul(bytes) / PAGE_BYTES;
        for raw in self.requests.iter().filter(|raw| raw.range.sectors > 0) {
            let last = raw.range.lba + u64::from(raw.range.sectors) - 1;
            let (first, last) = (page(raw.range.lba), page(last));
            // A page or two are as good as all for telling, where one request would be gigabytes.
            pages.insert(first, last.min(first + (1 << 18)));
        }
        Footprint { pages: pages.len(), ..Footprint::default() }.bytes()
    }

    /// Whether its times are dates in a unit, at a pace that dates have.
    fn is_dated(&self, unit: TimeUnit) -> bool {
        let unit_ns = u128::from(unit.ns_or(1));
        let epoch_s = if unit == TimeUnit::Filetime { FILETIME_EPOCH_S } else { 0 };
        let at = |year_s: u64| u128::from(year_s + epoch_s) * 1_000_000_000 / unit_ns;
        let dates = at(DATES_S.start)..at(DATES_S.end);
        let gaps = (self.requests.len() as u128).saturating_sub(1);
        let span_s = u128::from(self.last - self.first) * unit_ns / 1_000_000_000;
        let is_in = |time: u64| dates.contains(&u128::from(time));
        is_in(self.first) && is_in(self.last) && span_s <= gaps * u128::from(DATE_GAP_S_MAX)
    }

    /// Units of time in which it is an ordinary trace, for a unit of space; the finest that is possible comes first.
    fn times(&self, bytes: u64) -> Vec<(TimeUnit, Pace)> {
        let with_pace = |unit: TimeUnit| (unit, self.pace(unit.ns_or(1), bytes));
        let dated = [TimeUnit::Seconds, TimeUnit::Filetime].into_iter().chain(UNITS);
        let dated = dated.filter(|unit| self.is_dated(*unit)).map(with_pace);
        if let Some(dated) = dated.into_iter().find(|(_, pace)| is_possible(pace)) {
            return vec![dated];
        }
        let mut possible = UNITS.into_iter().map(with_pace).filter(|(_, pace)| is_possible(pace));
        let Some(finest) = possible.next() else { return Vec::new() };
        let thousands = || self.requests.iter().all(|raw| raw.time_ns.is_multiple_of(1_000));
        if finest.0 == TimeUnit::Nanoseconds && thousands() {
            return vec![finest];
        }
        let is_ordinary = |pace: &Pace| {
            pace.requests_per_s >= REQUESTS_PER_S_ORDINARY && pace.head_requests >= REQUESTS_MIN
        };
        std::iter::once(finest).chain(possible.filter(|(_, pace)| is_ordinary(pace))).collect()
    }

    /// Units of space that addresses and sizes may have.
    fn spaces(&self) -> &'static [AddressUnit] {
        let sized = || self.requests.iter().filter(|raw| raw.range.sectors > 0);
        let is_multiple = |raw: &Raw| {
            raw.range.lba.is_multiple_of(SECTOR_BYTES)
                && u64::from(raw.range.sectors).is_multiple_of(SECTOR_BYTES)
        };
        let mut sizes = sized().map(|raw| raw.range.sectors);
        let first = sizes.next();
        match (sized().all(is_multiple) && first.is_some(), sizes.any(|size| Some(size) != first)) {
            (false, _) => &[AddressUnit::Sectors],
            (true, true) => &[AddressUnit::Bytes],
            (true, false) => &[AddressUnit::Sectors, AddressUnit::Bytes],
        }
    }
}

fn is_possible(pace: &Pace) -> bool {
    pace.requests_per_s <= REQUESTS_PER_S_MAX && pace.bytes_per_s <= BYTES_PER_S_MAX
}

/// Finds the units that a format leaves open; `format` is one that reads nothing but these lines.
pub(super) fn evidence<F: Format>(
    mut format: F,
    lines: &[&[u8]],
    file: &str,
) -> Result<Evidence, WorkloadError> {
    if let Some(first) = lines.first() {
        // Columns may be known by name only; that the header is wrong is told when it is read.
        let _ = format.header(first);
    }
    let OpenUnits { time, space } = format.open_units();
    // What is open is read as it stands.
    let time_is_open = time.map(|scale| scale.unit_ns = 1).is_some();
    let space_is_open = space.map(|units| *units = Units::SECTORS).is_some();
    let head = Head::of(&mut format, lines);
    let is_timed = format.has_times() && head.first != head.last;
    let time_is_open = time_is_open && is_timed;
    let guessed = format.guessed_time();
    if head.requests.len() < 2 || !(time_is_open || space_is_open || guessed != TimeUnit::Auto) {
        let too_fast = is_timed.then(|| head.pace(1, SECTOR_BYTES)).filter(is_doubtful);
        return Ok(Evidence { assumed: None, too_fast });
    }
    let spaces = if space_is_open { head.spaces() } else { &[AddressUnit::Auto] };
    let times = |&space: &AddressUnit| {
        let bytes = space.bytes_or(SECTOR_BYTES);
        let as_known = || vec![(guessed, head.pace(1, bytes))];
        let paced = if time_is_open { head.times(bytes) } else { as_known() };
        paced.into_iter().map(move |(time, pace)| Assumed { time, space, pace })
    };
    let mut left: Vec<Assumed> = spaces.iter().flat_map(times).collect();
    if is_timed && left.len() > 1 && left.iter().any(|assumed| is_possible(&assumed.pace)) {
        left.retain(|assumed| is_possible(&assumed.pace));
    }
    if let [one] = left.as_slice() {
        let says_something = one.time != TimeUnit::Auto || one.space != AddressUnit::Auto;
        let too_fast = (is_timed && is_doubtful(&one.pace)).then_some(one.pace);
        return Ok(Evidence { assumed: says_something.then_some(*one), too_fast });
    }
    let is_too_fast = left.is_empty();
    if is_too_fast {
        let slowest = spaces.last().copied().unwrap_or_default();
        let paced = UNITS.map(|time| (time, head.pace(time.ns_or(1), slowest.bytes_or(SECTOR_BYTES))));
        left = paced.map(|(time, pace)| Assumed { time, space: slowest, pace }).into();
    }
    Err(Problem::UnknownUnits { file: file.to_string(), candidates: left, is_too_fast }.into())
}

/// The unit of times with decimals: s, if that makes all of them dates, else ms.
pub(super) fn guess_of_decimals<'a>(words: impl Iterator<Item = &'a [u8]>) -> TimeUnit {
    let mut seconds = words.filter_map(|word| {
        let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
        std::str::from_utf8(&word[..digits]).ok()?.parse::<u64>().ok()
    });
    let are_dates =
        seconds.next().is_some_and(|first| DATES_S.contains(&first)) && seconds.all(|s| DATES_S.contains(&s));
    if are_dates { TimeUnit::Seconds } else { TimeUnit::Milliseconds }
}

fn is_doubtful(pace: &Pace) -> bool {
    pace.head_requests >= REQUESTS_TO_DOUBT && !is_possible(pace)
}

/// Sets the units that were found.
pub(super) fn set<F: Format>(format: &mut F, assumed: &Assumed) {
    let OpenUnits { time, space } = format.open_units();
    if let Some(TimeScale { unit_ns, .. }) = time {
        *unit_ns = assumed.time.ns_or(1);
    }
    if let Some(units) = space {
        let bytes = assumed.space.bytes_or(SECTOR_BYTES);
        *units = Units { address: bytes, size: bytes };
    }
}
