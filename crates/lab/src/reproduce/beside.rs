//! Runs beside what every policy must copy, and beside what is copied without reads' harm.

use super::cell::{Cell, Place};
use super::experiment::Experiment;
use crate::base::number::digits;
use crate::report::table::grid;

/// Adds to each run what it copied beside a technique of its study: more than the one `beyond`, and the share of that
/// which the one `over` did.
pub(super) fn techniques(experiment: &Experiment, cells: &mut [Cell]) {
    let others: Vec<_> =
        cells.iter().map(|cell| (cell.place.clone(), cell.metrics["pages_copied_all"])).collect();
    for cell in cells {
        let study = experiment.studies.iter().find(|study| study.name == cell.place.study);
        let copied_by = |technique: &str| {
            let place = Place { technique: technique.to_owned(), ..cell.place.clone() };
            others
                .iter()
                .find(|(other, _)| !technique.is_empty() && *other == place)
                .map(|(_, copied)| *copied)
        };
        let [beyond, over] = [study.map(|it| &it.beyond), study.map(|it| &it.over)]
            .map(|technique| technique.and_then(|name| copied_by(name)));
        let copied = cell.metrics["pages_copied_all"];
        cell.metrics.extend(beyond.map(|without| ("pages_copied_beyond".to_owned(), copied - without)));
        let share = over.filter(|over| *over > 0.0).map(|over| 100.0 * copied / over);
        cell.metrics.extend(share.map(|share| ("copied_share".to_owned(), share)));
    }
}

/// Who copied less than the technique that all of a study are held over, by name.
pub(super) fn less(cells: &[Cell]) -> String {
    let below = |cell: &Cell| {
        let share = cell.metrics.get("copied_share").filter(|share| **share < 100.0)?;
        let Place { technique, workload, .. } = &cell.place;
        let share = digits(*share);
        Some(format!("{technique} copies {share} % of that on {workload} ({})\n", cell.place.study))
    };
    let lines: String = cells.iter().filter_map(below).collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nless than the technique that all are held over:\n{lines}")
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
