//! The write cliff: how fast the host writes until the SLC cache is full, and how fast after that. By time the first
//! part may be too short to be a regime of the run ([`crate::result::regimes`]); by bytes it is what a drive's maker
//! names.

use crate::measure::series::{SeriesValue, TimeSeries};

/// Writes fall to this part of their speed, or less.
const FALL: f64 = 0.5; // [A]
/// Each side of a cliff has at least this share of all that is written,
const SHARE_MIN: f64 = 0.05; // [A]
/// and at least so many intervals.
const INTERVALS_MIN: usize = 4; // [A]

/// Where the speed of writes falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cliff {
    /// Bytes written before.
    pub bytes: u64,
    /// Bytes per second until then.
    pub before: f64,
    /// And from then on.
    pub after: f64,
}

impl Cliff {
    /// That of a run, if it has one.
    pub fn find(series: &TimeSeries) -> Option<Self> {
        let written = series.column("host.written_bytes")?;
        let number = |value| if let SeriesValue::Number(number) = value { number } else { 0 };
        let intervals = series.rows.iter();
        let intervals =
            intervals.map(|row| (number(row[1]).saturating_sub(number(row[0])), number(row[written])));
        Self::of(&intervals.collect::<Vec<_>>())
    }

    /// That of intervals, each with its length in ns and what was written in it. The cut is where what was written
    /// until then is furthest above what it would be at the mean speed.
    fn of(intervals: &[(u64, u64)]) -> Option<Self> {
        let add = |sum: &mut (u64, u64), it: &(u64, u64)| {
            *sum = (sum.0 + it.0, sum.1 + it.1);
            Some(*sum)
        };
        let sums: Vec<(u64, u64)> = intervals.iter().scan((0, 0), add).collect();
        let &(all_ns, all_bytes) = sums.last()?;
        let above = |&(ns, bytes): &(u64, u64)| bytes as f64 - all_bytes as f64 * (ns as f64 / all_ns as f64);
        let (at, &(ns, bytes)) = sums.iter().enumerate().max_by(|a, b| above(a.1).total_cmp(&above(b.1)))?;
        let is_long = at + 1 >= INTERVALS_MIN && sums.len() - at > INTERVALS_MIN;
        let share = bytes as f64 / all_bytes as f64;
        let per_second = |bytes: u64, ns: u64| bytes as f64 * 1e9 / ns as f64;
        let cliff =
            Cliff { bytes, before: per_second(bytes, ns), after: per_second(all_bytes - bytes, all_ns - ns) };
        let is_cliff = is_long && (SHARE_MIN..=1.0 - SHARE_MIN).contains(&share);
        (is_cliff && cliff.after <= FALL * cliff.before).then_some(cliff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of a second, in which so many bytes are written.
    fn found(bytes: impl IntoIterator<Item = u64>) -> Option<Cliff> {
        Cliff::of(&bytes.into_iter().map(|bytes| (1_000_000_000, bytes)).collect::<Vec<_>>())
    }

    /// 8,050 bytes in 14 s, 8,260 in 236 s: by time a twentieth, by bytes a half.
    #[test]
    fn a_cliff_is_told_by_bytes() {
        let cliff = found((0..250).map(|at| if at < 14 { 575 } else { 35 }));
        assert_eq!(cliff, Some(Cliff { bytes: 14 * 575, before: 575.0, after: 35.0 }));
        // Speeds that swing about their means do not hide it.
        let swings = found((0..250).map(|at| (if at < 14 { 575 } else { 35 }) * (3 + at % 2 * 2) / 4));
        assert_eq!(swings.map(|cliff| cliff.bytes / 100), Some(80));
    }

    #[test]
    fn what_is_none_is_not_told() {
        assert_eq!(found([]), None);
        assert_eq!(found([0; 100]), None);
        assert_eq!(found([100; 100]), None);
        assert_eq!(found((0..100).map(|at| if at < 50 { 100 } else { 60 })), None, "a fall to 60 %");
        assert_eq!(found((0..100).map(|at| if at < 50 { 10 } else { 100 })), None, "a rise");
        assert_eq!(found((0..100).map(|at| if at < 3 { 1_000 } else { 10 })), None, "three intervals");
        assert_eq!(
            found((0..1_000).map(|at| if at < 5 { 200 } else { 20 })),
            None,
            "a twentieth of the bytes"
        );
    }
}
