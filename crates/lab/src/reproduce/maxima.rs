//! Where a series of phases has come to its most: `maximum_at`.

use super::cell::{Cell, Place};
use super::experiment::Experiment;

/// Points of a metric within which it is as good as its most.
const WITHIN: f64 = 1.0;

/// Adds to the last phase of each series where, on the horizontal axis, `achieved` first is within a point of its most.
pub(super) fn add(experiment: &Experiment, cells: &mut [Cell]) {
    for study in experiment.studies.iter().filter(|study| !study.measured.is_empty()) {
        let of_study = |cell: &&Cell| cell.place.study == study.name;
        let points: Vec<(Place, Vec<u64>, f64, f64)> = cells
            .iter()
            .filter(of_study)
            .filter_map(|cell| {
                let (across, value) = (study.across(&cell.place.phase)?, *cell.metrics.get("achieved")?);
                Some((cell.place.clone(), cell.seeds.clone(), across, value))
            })
            .collect();
        let is_last =
            |cell: &&mut Cell| cell.place.study == study.name && cell.place.phase == study.last_phase();
        for cell in cells.iter_mut().filter(is_last) {
            let is_its =
                |place: &Place| Place { phase: cell.place.phase.clone(), ..place.clone() } == cell.place;
            let series = || points.iter().filter(|(place, seeds, ..)| is_its(place) && *seeds == cell.seeds);
            let most = series().map(|point| point.3).fold(f64::NEG_INFINITY, f64::max);
            let first = series().filter(|point| point.3 >= most - WITHIN).map(|point| point.2);
            let first = first.fold(f64::INFINITY, f64::min);
            if first.is_finite() {
                cell.metrics.insert("maximum_at".to_owned(), first);
            }
        }
    }
}
