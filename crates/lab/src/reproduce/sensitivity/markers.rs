//! Markers of a block's age, fitted again: whoever builds a drive of other cells fits them to these.

use crate::base::document::PaperError;
use crate::characterize::fit::{Plan, fit_to};
use crate::reproduce::paper::Paper;
use crate::reproduce::study::FittedAgain;
use ssd::config::Table;
use ssd::ftl::techniques::age_marker::Policy;
use ssd::nand::cell::CellModel;
use ssd::sections::CellPart;
use ssd::sections::cell::Markers;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The drives of a paper whose blocks have ages by a marker that was fitted to their cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Marked(Vec<Drive>);

/// Such a drive.
#[derive(Clone, Debug)]
struct Drive {
    study: String,
    technique: String,
    workload: String,
    cells: CellPart,
}

impl Marked {
    /// Those of a paper at a scale.
    pub fn of(paper: &Paper, quick: bool) -> Result<Self, PaperError> {
        let (experiment, mut all) = (&paper.experiment, Vec::new());
        for study in &experiment.studies {
            for (technique, workload) in experiment.drives_of(study, quick) {
                let config = experiment.setup(study, (technique, workload), quick, 1)?.resolved.config;
                if Policy::build(&config.age_marker).is_fitted() {
                    all.push(Drive {
                        study: study.name.clone(),
                        technique: technique.name.clone(),
                        workload: workload.name.clone(),
                        cells: config.cells.clone(),
                    });
                }
            }
        }
        Ok(Marked(all))
    }

    /// Seconds that a fit takes; 0 if there are no such drives.
    pub fn seconds(&self) -> Result<f64, PaperError> {
        let Some(drive) = self.0.first() else { return Ok(0.0) };
        let model = CellModel::new(drive.cells.clone()).map_err(PaperError::Config)?;
        let begun = Instant::now();
        let _ = fitted(&model);
        Ok(begun.elapsed().as_secs_f64())
    }

    /// To how many cells the drives of the paper with another value need their markers fitted again.
    pub fn fits(&self, other: &Paper, quick: bool) -> usize {
        let all = self.off(other, quick);
        all.iter().map(|(_, model)| model.part().fingerprint()).collect::<BTreeSet<u32>>().len()
    }

    /// Fits them again where that is needed; whether it was.
    pub fn fit(&self, other: &mut Paper, quick: bool) -> Result<bool, PaperError> {
        let mut made: BTreeMap<u32, Option<String>> = BTreeMap::new();
        for (drive, model) in self.off(other, quick) {
            let text = made.entry(model.part().fingerprint()).or_insert_with(|| text(&fitted(&model)));
            let text = text.clone().ok_or_else(|| nothing_to_fit(drive))?;
            let (technique, workload) = (drive.technique.clone(), drive.workload.clone());
            if let Some(study) = other.experiment.studies.iter_mut().find(|it| it.name == drive.study) {
                study.markers.push(FittedAgain { technique, workload, text });
            }
        }
        Ok(!made.is_empty())
    }

    /// The drives of the paper with another value that have other cells than their markers were fitted to. Of cells
    /// that cannot be, the drive itself says what is wrong.
    fn off(&self, other: &Paper, quick: bool) -> Vec<(&Drive, CellModel)> {
        let experiment = &other.experiment;
        let model = |drive: &Drive| {
            let study = experiment.studies.iter().find(|it| it.name == drive.study)?;
            let technique = experiment.technique(&drive.technique)?;
            let workload = experiment.workloads.iter().find(|it| it.name == drive.workload)?;
            let mut cells = drive.cells.clone();
            experiment.put_cells(study, (technique, workload), quick, &mut cells).ok()?;
            if cells.fingerprint() == cells.markers.fitted_on {
                return None;
            }
            CellModel::new(cells).ok()
        };
        self.0.iter().filter_map(|drive| Some((drive, model(drive)?))).collect()
    }
}

/// The markers of cells, fitted as those that ship, with the seed and the guard of those that they had.
fn fitted(model: &CellModel) -> Markers {
    let (own, Plan { chips, blocks, .. }) = (&model.part().markers, Plan::FULL);
    Markers { guard_bits: own.guard_bits, ..fit_to(model, own.seed, (chips, blocks)) }
}

/// As a configuration says it; `None` if nothing could be fitted.
fn text(markers: &Markers) -> Option<String> {
    let lists = [&markers.real_wear, &markers.uncalibrated, &markers.pe_tprog, &markers.pe_tprog_ber];
    if lists.iter().any(|list| list.is_empty()) {
        return None;
    }
    let line = |key: &str| Some(format!("{key} = {}\n", markers.show(key)?));
    let lines: Option<String> = Markers::FIELDS.iter().map(|field| line(field.key)).collect();
    Some(format!("[cell.markers]\n{}", lines?))
}

fn nothing_to_fit(drive: &Drive) -> PaperError {
    PaperError::Wrong {
        place: format!("study {}, technique {}", drive.study, drive.technique),
        key: "cell.markers".to_owned(),
        found: "cells to which no age marker can be fitted: what is seen of their blocks tells nothing"
            .to_owned(),
        allowed: "cells that live for some cycles, and whose wear can be seen".to_owned(),
        near: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells that are as they were get what ships with them, and cells that die at once get none.
    #[test]
    fn markers_fitted_again_to_the_same_cells_are_the_same() {
        let mut cells = CellPart::preset("tlc_48l").expect("a shipped part");
        let shipped =
            ssd::config::Layer::file("marker", ssd::config::presets::marker("tlc_48l").unwrap().text);
        let put = |markers| ssd::drive_config::resolve_table(&[shipped], "cell.markers", markers);
        put(&mut cells.markers).expect("a shipped marker");
        let model = CellModel::new(cells.clone()).expect("a shipped part");
        assert_eq!(fitted(&model), cells.markers);
        assert!(text(&cells.markers).is_some());
        cells.markers.pe_tprog.clear();
        assert_eq!(text(&cells.markers), None);
    }
}
