//! What stands in the cells of tables of results.

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
