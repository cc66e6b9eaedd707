//! Runs beside what every policy must copy, and beside what is copied without reads' harm.

use super::cell::{Cell, Place};
use super::experiment::Experiment;
use crate::number::digits;
use crate::table::grid;

/// Adds to each run of a study with a technique `beyond` what it copied more than that.
pub(super) fn beyond(experiment: &Experiment, cells: &mut [Cell]) {
    let others: Vec<_> =
        cells.iter().map(|cell| (cell.place.clone(), cell.metrics["pages_copied_all"])).collect();
    for cell in cells {
        let study = experiment.studies.iter().find(|study| study.name == cell.place.study);
        let Some(technique) = study.map(|study| &study.beyond).filter(|name| !name.is_empty()) else {
            continue;
        };
        let place = Place { technique: technique.clone(), ..cell.place.clone() };
        let Some((_, without)) = others.iter().find(|(other, _)| *other == place) else { continue };
        let more = cell.metrics["pages_copied_all"] - without;
        cell.metrics.insert("pages_copied_beyond".to_owned(), more);
    }
}

/// What each technique copied beside what every policy must copy, over all workloads of a study at an age.
pub(super) fn table(cells: &[Cell]) -> String {
    let bounded = |cell: &&Cell| cell.metrics.contains_key("copies_bound");
    let mut rows: Vec<(String, f64, f64, usize)> = Vec::new();
    for cell in cells.iter().filter(bounded) {
        let name = format!("{}, {}, {}", cell.place.study, cell.place.age, cell.place.technique);
        let (copied, bound) = (cell.metrics["pages_copied_all"], cell.metrics["copies_bound"]);
        match rows.iter_mut().find(|(other, ..)| *other == name) {
            Some(row) => (row.1, row.2, row.3) = (row.1 + copied, row.2 + bound, row.3 + 1),
            None => rows.push((name, copied, bound, 1)),
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let head = ["all pages copied", "copied", "at least", "copied / least", "n"].map(str::to_owned).to_vec();
    let row = |(name, copied, bound, n): (String, f64, f64, usize)| {
        let over = if bound > 0.0 { digits(copied / bound) } else { "-".to_owned() };
        vec![name, digits(copied), digits(bound), over, n.to_string()]
    };
    let all: Vec<Vec<String>> = std::iter::once(head).chain(rows.into_iter().map(row)).collect();
    format!("\n{}\n", grid(&all))
}
