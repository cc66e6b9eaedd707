//! Everything that the drive counted, as it is told people.

use crate::base::number::count;
use crate::report::cells::cells;
use crate::report::table::grid;
use crate::result::RunResult;
use ssd::Stats;
use ssd::counters::Counter;

/// What is not zero in any of these results, in the order of the layers, with the sum of each.
pub(crate) fn rows(results: &[RunResult]) -> Vec<(&'static Counter, Vec<u64>)> {
    let of = |counter: &'static Counter| {
        let sum = |result: &RunResult| result.counters.get(counter.key).map_or(0, |count| count.sum());
        let sums: Vec<u64> = results.iter().map(sum).collect();
        sums.iter().any(|sum| *sum > 0).then_some((counter, sums))
    };
    Stats::all_counters().filter_map(of).collect()
}

/// What is not zero, as a table: how many, of what, and what that is.
pub(crate) fn table(result: &RunResult) -> String {
    let mut table = vec![cells(["counted by the drive", ""])];
    let mut said = vec![String::new()];
    for (counter, sums) in rows(std::slice::from_ref(result)) {
        table.push(vec![format!("  {}", counter.key), count(sums[0])]);
        said.push(format!("  {}: {}", counter.unit, counter.doc));
    }
    let grid = grid(&table);
    grid.lines().zip(said).map(|(line, said)| format!("{line}{said}\n")).collect()
}
