//! The unit of times that are whole numbers and name none: found by how much the beginning of the trace would ask for.
//!
//! Read in too fine a unit, a trace asks for more than any drive does: 300 s of microseconds become 0.3 s of
//! nanoseconds. So the unit is the finest of ns, us and ms at which the head asks for at most 8 GB/s and a million
//! requests a second. If it would be an ordinary trace in a coarser one as well, nothing is guessed: the user has to
//! say. Of a handful of requests nobody can tell what is ordinary: there the finest is taken.

use super::fields::TimeScale;
use super::{Format, Raw, TimeUnit};
use crate::error::{Problem, WorkloadError};
use crate::lines::Lines;
use crate::report::AssumedUnit;

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

/// How fast requests follow each other, in units that are not known.
#[derive(Default)]
struct Pace {
    /// Requests but for the last one, and their bytes.
    requests: u64,
    bytes: u64,
    /// From the first time to the latest.
    span: u64,
}

impl Pace {
    fn of(requests: &[Raw]) -> Self {
        let Some((last, before)) = requests.split_last() else { return Self::default() };
        let first = before.first().map_or(last.time_ns, |raw| raw.time_ns);
        let latest = requests.iter().map(|raw| raw.time_ns).max().unwrap_or(first);
        let bytes = before.iter().map(|raw| u64::from(raw.sectors) * crate::record::SECTOR_BYTES);
        Pace {
            requests: before.len() as u64,
            bytes: bytes.fold(0, u64::saturating_add),
            span: latest.saturating_sub(first),
        }
    }

    /// What it is in a unit.
    fn in_unit(&self, unit: TimeUnit) -> AssumedUnit {
        let span_ns = u128::from(self.span) * u128::from(unit.ns_or(1));
        let per_s = |count: u64| {
            let rate = (u128::from(count) * 1_000_000_000).div_ceil(span_ns.max(1));
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        AssumedUnit {
            unit,
            head_requests: self.requests + 1,
            requests_per_s: per_s(self.requests),
            bytes_per_s: per_s(self.bytes),
        }
    }

    /// The only unit in which it is an ordinary trace, or all that are possible (none, or several).
    fn unit(&self) -> Result<AssumedUnit, Vec<AssumedUnit>> {
        let is_possible = |pace: &AssumedUnit| {
            pace.requests_per_s <= REQUESTS_PER_S_MAX && pace.bytes_per_s <= BYTES_PER_S_MAX
        };
        let mut possible = UNITS.map(|unit| self.in_unit(unit)).into_iter().filter(is_possible);
        let Some(finest) = possible.next() else { return Err(Vec::new()) };
        let is_ordinary = |pace: &AssumedUnit| {
            pace.requests_per_s >= REQUESTS_PER_S_ORDINARY && pace.head_requests >= REQUESTS_MIN
        };
        let coarser = possible.filter(is_ordinary);
        let left: Vec<AssumedUnit> = std::iter::once(finest).chain(coarser).collect();
        if left.len() == 1 { Ok(finest) } else { Err(left) }
    }
}

/// Sets the unit of a format that leaves it open, and returns what was assumed; `None` if it does not, or if all times
/// are the same.
pub(super) fn assume<F: Format>(format: &mut F, lines: &Lines) -> Result<Option<AssumedUnit>, WorkloadError> {
    if format.open_scale().is_none() {
        return Ok(None);
    }
    set(format, 1);
    let head: Vec<Raw> = lines.sample().filter_map(|line| format.parse(line).ok()).collect();
    let pace = Pace::of(&head);
    if pace.span == 0 {
        return Ok(None);
    }
    let assumed = pace.unit().map_err(|possible| {
        let all = || UNITS.map(|unit| pace.in_unit(unit)).to_vec();
        let is_too_fast = possible.is_empty();
        let paces = if is_too_fast { all() } else { possible };
        Problem::UnknownTimeUnit { file: lines.file().to_string(), paces, is_too_fast }
    })?;
    set(format, assumed.unit.ns_or(1));
    Ok(Some(assumed))
}

fn set<F: Format>(format: &mut F, unit_ns: u64) {
    if let Some(TimeScale { unit_ns: unit, .. }) = format.open_scale() {
        *unit = unit_ns;
    }
}
