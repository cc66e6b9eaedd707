//! Runs that are several in one are told from steady ones.

use crate::common;

use common::{closed, generator, run, small_drive, soaked};
use lab::result::regimes::Change;
use lab::{Overwrite, Preconditioning, RunResult, RunSpec};

/// What changed, by the metric.
fn of<'a>(result: &'a RunResult, metric: &str) -> Vec<&'a Change> {
    result.changes.iter().filter(|change| change.metric == metric).collect()
}

/// A drive that was empty is written beyond what it holds: until it cleans, and after.
#[test]
fn a_write_cliff_is_told_with_both_values() {
    let spec = RunSpec { samples: 1_000, preconditioning: Preconditioning::default(), ..closed(16) };
    let result = run(&small_drive(), &generator(60_000, "read_percent = 0"), &spec);
    let [bandwidth] = &of(&result, "bandwidth")[..] else { panic!("{:?}", result.changes) };
    let series = result.series.as_ref().unwrap();
    let column = |name: &str| series.column(name).unwrap();
    let value = |row: usize, name: &str| match series.rows[row][column(name)] {
        lab::SeriesValue::Number(number) => number,
        _ => 0,
    };
    let first_erase =
        (0..series.rows.len()).find(|&row| value(row, "bytes_programmed.cleaning") > 0).unwrap();
    let (begun, cut) = (value(first_erase, "end_ns"), bandwidth.at_ns);
    assert!(cut.abs_diff(begun) < result.simulated_ns / 10, "changed at {cut}, cleaned since {begun}");
    let bytes = |rows: std::ops::Range<usize>| rows.map(|row| value(row, "host.written_bytes")).sum::<u64>();
    let at = (0..series.rows.len()).find(|&row| value(row, "end_ns") >= cut).unwrap() + 1;
    let before = bytes(0..at) as f64 * 1e3 / cut as f64;
    assert!((bandwidth.before / before - 1.0).abs() < 1e-9, "{bandwidth:?}, {before}");
    assert!(bandwidth.before > 1.25 * bandwidth.after && !of(&result, "write_amplification").is_empty());
    let text = lab::report::table(&result);
    assert!(text.lines().next().unwrap().contains("not stationary: bandwidth"), "{text}");
    let names: Vec<&str> = result.problems.iter().map(|problem| problem.name.as_str()).collect();
    assert_eq!(names, ["several_regimes"]);
}

/// Of a hundred steady runs, with all seeds and several kinds of load, one at most seems to change.
#[test]
fn steady_runs_do_not_change() {
    let runs = soaked(20);
    let mut wrong = Vec::new();
    for seed in 0..runs {
        let (reads, depth) = ([0, 30, 70, 100][seed as usize % 4], [1, 8, 32][seed as usize % 3]);
        let mix = format!("read_percent = {reads}\nseed = {seed}");
        let overwrite = Overwrite::Times(3.0);
        let spec = RunSpec {
            samples: 1_000,
            preconditioning: Preconditioning { overwrite, ..common::used() },
            ..closed(depth)
        };
        let result = run(&small_drive(), &generator(10_000, &mix), &spec);
        if !result.changes.is_empty() {
            wrong.push((seed, mix, depth, result.changes));
        }
    }
    assert!(wrong.len() as u64 <= runs / 100, "{wrong:#?}");
}
