//! How many attempts of page reads fail: a histogram, with a bar for each result.

use super::axis::Numbers;
use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::Picture;
use super::{FILLED, HEIGHT, Plot, colour};
use crate::base::csv::Csv;
use crate::base::number::{digits, percent};
use crate::report::table::title;
use crate::result::RunResult;

/// At most so many numbers of attempts are marked.
const MARKS: usize = 12;

/// Page reads by the number of attempts that failed, as a share of all page reads of a result.
pub(crate) fn retries(results: &[RunResult]) -> Plot {
    let has_reads = |result: &&RunResult| result.flash.retries.histogram.iter().any(|count| *count > 0);
    let shown: Vec<&RunResult> = results.iter().filter(has_reads).collect();
    let mut data = Csv::new(&["run", "failed_attempts", "page_reads", "share"]);
    let mut shares: Vec<Vec<f64>> = Vec::new();
    for result in &shown {
        let reads = &result.flash.retries.histogram;
        let all: u64 = reads.iter().sum();
        let own: Vec<f64> = reads.iter().map(|count| *count as f64 / all as f64).collect();
        for (attempts, (count, share)) in reads.iter().zip(&own).enumerate() {
            data.row(&[title(result), &attempts.to_string(), &count.to_string(), &share.to_string()]);
        }
        shares.push(own);
    }
    // A bar of its own is a number, not a distribution.
    let is_spread = |own: &Vec<f64>| own.iter().filter(|share| **share > 0.0).count() > 1;
    Plot::new(draw(&shown, &shares), data, shares.iter().any(is_spread))
}

fn draw(shown: &[&RunResult], shares: &[Vec<f64>]) -> Picture {
    let steps = shares.iter().map(Vec::len).max().unwrap_or(1);
    let marked = (0..steps).step_by(steps.div_ceil(MARKS));
    let marks = marked.map(|attempts| Mark::of_step(attempts, steps, attempts.to_string())).collect();
    let across = Scale { title: "Read retries (per page read)".to_owned(), marks };
    let rows = Numbers::of_bars(shares.iter().flatten().map(|share| 100.0 * share));
    let up = rows.scale("Page reads (%)");
    if shown.is_empty() {
        return Frame::empty(&across, &up, "nothing to show");
    }
    let key = |(number, result): (usize, &&RunResult)| {
        let mean = result.flash.retries.mean.map(digits).unwrap_or_default();
        let label = format!("{}: mean {mean}", title(result));
        Key { label, colour: colour(number), kind: KeyKind::Box }
    };
    let keys: Vec<Key> = shown.iter().enumerate().map(key).collect();
    let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
    let bar = FILLED / shown.len() as f64;
    for (number, own) in shares.iter().enumerate() {
        for (attempts, share) in own.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let left = attempts as f64 + (1.0 - FILLED) / 2.0 + bar * number as f64;
            let [from, to] = [left, left + bar].map(|at| at / steps as f64);
            let hint = format!("{}, {attempts} failed: {}", title(shown[number]), percent(*share));
            frame.rect((from, 0.0), (to, rows.share(100.0 * share)), colour(number), &hint);
        }
    }
    frame.picture
}
