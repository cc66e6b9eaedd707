//! Sizes and colours that plots have in common.

/// Height of the inside of a frame.
pub(crate) const HEIGHT: f64 = 300.0;
/// Share of a step of an axis that its bars take.
pub(crate) const FILLED: f64 = 0.8;

/// Colours told apart by most eyes (Okabe and Ito, 2008), then greys and browns for long lists.
pub(super) const COLOURS: [&str; 15] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22",
    "#1a1a1a", "#882255", "#44aa99", "#6a5acd", "#ddcc77", "#661100",
];

/// The colour of the series of that number.
pub(crate) fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}
