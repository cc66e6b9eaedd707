//! What stands in the cells of tables of results.

use crate::result::Distribution;

/// What stands where there is no value.
pub(crate) const NONE: &str = "-";

/// A value as it is shown, or that there is none.
pub(crate) fn or_none<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or(NONE.to_owned(), show)
}

/// Cells of these texts.
pub(crate) fn cells<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// A point of a distribution, if there is one.
pub(crate) type Point = fn(&Distribution) -> Option<u64>;

/// The points of a distribution that tables show, with their names.
pub(crate) const POINTS: [(&str, Point); 6] = [
    ("min", |spread| spread.min),
    ("p50", |spread| spread.p50),
    ("p99", |spread| spread.p99),
    ("p99.9", |spread| spread.p99_9),
    ("p99.99", |spread| spread.p99_99),
    ("max", |spread| spread.max),
];
