//! How full blocks are when cleaning begins to empty them: a curve for each result.

use super::files::Plot;
use super::lines::{Across, Line, Lines};
use crate::base::csv::Csv;
use crate::base::number::digits;
use crate::report::table::title;
use crate::result::RunResult;

/// The share of a result's victims of which no more than a share of their units lived, over that share.
pub(crate) fn victims(results: &[RunResult]) -> Plot {
    let mut data = Csv::new(&["run", "live_share", "victims", "share"]);
    let mut lines = Vec::new();
    for result in results.iter().filter(|result| result.ftl.victims.all() > 0) {
        let victims = &result.ftl.victims;
        let (all, most) = (victims.all() as f64, (victims.histogram.len().max(2) - 1) as f64);
        let (mut so_far, mut points) = (0, Vec::new());
        for (bin, count) in victims.histogram.iter().enumerate() {
            so_far += count;
            let (live, share) = (bin as f64 / most, so_far as f64 / all);
            data.row(&[title(result), &live.to_string(), &count.to_string(), &share.to_string()]);
            points.push((live, share));
        }
        let copied = victims.copied().map(digits).unwrap_or_default();
        lines.push(Line::new(format!("{}: mean {copied} units", title(result)), points));
    }
    let up = "CDF of GC victims (fraction)";
    let plot = Lines { up, across: "Valid data in a victim (fraction)", lines: &lines };
    Plot::new(plot.picture(&Across::Linear), data, plot.shows())
}
