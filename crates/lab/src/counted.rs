//! The table of everything that the drive counted.

use crate::number::count;
use crate::result::RunResult;
use crate::table::{cells, grid};
use ssd::Stats;

/// What is not zero, in the order of the layers: how many, of what, and what that is.
pub(crate) fn table(result: &RunResult) -> String {
    let shown = Stats::all_counters().filter_map(|counter| {
        let sum = result.counters.get(counter.key)?.sum();
        (sum > 0).then_some((counter, sum))
    });
    let mut rows = vec![cells(["counted by the drive", ""])];
    let mut said = vec![String::new()];
    for (counter, sum) in shown {
        rows.push(vec![format!("  {}", counter.key), count(sum)]);
        said.push(format!("  {}: {}", counter.unit, counter.doc));
    }
    let grid = grid(&rows);
    grid.lines().zip(said).map(|(line, said)| format!("{line}{said}\n")).collect()
}
