//! How full blocks are when cleaning begins to empty them: a curve for each result.

use super::{Line, Lines, Plot};
use crate::number::digits;
use crate::result::RunResult;
use crate::table::title;

/// The share of a result's victims of which no more than a share of their units lived, over that share.
pub(crate) fn victims(results: &[RunResult]) -> Plot {
    let line = |result: &RunResult| {
        let victims = &result.ftl.victims;
        let (all, most) = (victims.all() as f64, (victims.histogram.len().max(2) - 1) as f64);
        let mut so_far = 0;
        let point = |(bin, count): (usize, &u64)| {
            so_far += count;
            (bin as f64 / most, so_far as f64 / all)
        };
        let points = victims.histogram.iter().enumerate().map(point).collect();
        let copied = victims.copied().map(digits).unwrap_or_default();
        Line { name: format!("{}: {copied} units in the mean", title(result)), points }
    };
    let lines: Vec<Line> = results.iter().filter(|result| result.ftl.victims.all() > 0).map(line).collect();
    Lines {
        up: "share of victims of cleaning",
        across: "share of a victim's units that lived, at most",
        lines: &lines,
    }
    .plot()
}
