//! A plot, and the files that it may come in.

#[cfg(feature = "pdf")]
use super::pdf;
use super::picture::Picture;
use super::{svg, text};
use crate::base::csv::Csv;

/// Endings of the files that a plot may come in.
const ENDINGS: [&str; 4] = ["svg", "pdf", "txt", "csv"];

/// Whether any of the series has more than one point and more than zeros.
pub(crate) fn shows<'a>(series: impl IntoIterator<Item = &'a [(f64, f64)]>) -> bool {
    series
        .into_iter()
        .any(|points| points.iter().any(|(_, y)| *y != 0.0) && points.iter().any(|point| *point != points[0]))
}

/// A plot, and the numbers that it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    picture: Picture,
    data: Csv,
    shows: bool,
}

impl Plot {
    /// `shows` is whether there is more to it than zeros or a single point.
    pub(crate) fn new(picture: Picture, data: Csv, shows: bool) -> Self {
        Plot { picture, data, shows }
    }

    /// Names of all files that a plot may come in.
    pub fn names(stem: &str) -> impl Iterator<Item = String> {
        ENDINGS.iter().map(move |ending| format!("{stem}.{ending}"))
    }

    /// The plot as SVG.
    pub fn svg(&self) -> String {
        svg::write(&self.picture)
    }

    /// The numbers that it shows.
    pub fn csv(&self) -> &str {
        self.data.text()
    }

    /// The plot as PDF; `None` in a program built without.
    #[cfg(not(feature = "pdf"))]
    pub fn pdf(&self) -> Option<Vec<u8>> {
        None
    }

    /// The plot as PDF; `None` in a program built without.
    #[cfg(feature = "pdf")]
    pub fn pdf(&self) -> Option<Vec<u8>> {
        Some(pdf::write(&self.picture))
    }

    /// The plot in letters, at most 120 to a line.
    pub fn text(&self) -> String {
        text::write(&self.picture)
    }

    /// Whether there is nothing to show: no series with more than zeros or a single point.
    pub fn is_empty(&self) -> bool {
        !self.shows
    }

    /// All files of the plot with their names: `stem.svg`, `stem.pdf` (if the program can), `stem.txt` and `stem.csv`;
    /// none where there is nothing to show.
    pub fn files(&self, stem: &str) -> Vec<(String, Vec<u8>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut files = vec![(format!("{stem}.svg"), self.svg().into_bytes())];
        files.extend(self.pdf().map(|bytes| (format!("{stem}.pdf"), bytes)));
        files.push((format!("{stem}.txt"), self.text().into_bytes()));
        files.push((format!("{stem}.csv"), self.data.text().as_bytes().to_vec()));
        files
    }
}
