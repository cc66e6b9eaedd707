//! What a fitted drive does, beside what was given.

use super::fitter::{Because, CONTRADICTS, Fitter};
use super::model::{GIB, Model};
use super::quantity::Dimension;
use super::sheet::Measure;
use super::trial::{Load, iops, mb_s, mean_us, percentile, run};
use crate::base::number::digits;
use crate::base::threads::on_all_cores;
use crate::plan::job::JobError;
use crate::result::RunResult;

/// A figure beside what the fitted drive does.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub what: String,
    /// Its dimension.
    pub dimension: Dimension,
    /// What was given.
    pub given: f64,
    /// What runs say.
    pub predicted: f64,
    /// Whether something was fitted to it: then it is no evidence.
    pub is_fitted: bool,
    /// Who gives it.
    pub source: String,
}

impl Row {
    /// How far the prediction is off, as a share of what was given.
    pub fn off(&self) -> f64 {
        self.predicted / self.given - 1.0
    }
}

impl Fitter<'_> {
    /// What the drive does, beside what was given; and a limit on writes where it does far more.
    pub fn rows(&mut self) -> Result<Vec<Row>, JobError> {
        self.say("what the fitted drive does")?;
        let loads = self.loads();
        let (model, stop) = (&self.model, self.stop);
        let results = on_all_cores(loads.len(), |at| run(model, stop, loads[at]));
        let mut done = Vec::new();
        for (load, result) in loads.into_iter().zip(results) {
            done.push((load, result?));
        }
        if let Some(given) = self.sheet.get(Measure::RandomWrite) {
            let found = result_of(&done, Load::Random { reads: 0 }).map_or(given, iops);
            self.compare_writes(given, found, &mut done)?;
        }
        let mut rows = Vec::new();
        for (&measure, figure) in &self.sheet.figures {
            let Some(predicted) = self.predicted(measure, &done) else { continue };
            rows.push(Row {
                what: measure.key().to_owned(),
                dimension: measure.dimension(),
                given: figure.value,
                predicted,
                is_fitted: self.fitted.contains(&measure),
                source: figure.source.clone(),
            });
        }
        for (at, beside) in self.sheet.beside.iter().enumerate() {
            let Some(result) = result_of(&done, Load::Beside { writes: beside.writes }) else { continue };
            for &(percent, given) in &beside.reads {
                rows.push(Row {
                    what: format!("p{} beside {}", digits(percent), Dimension::Rate.told(beside.writes)),
                    dimension: Dimension::Time,
                    given,
                    predicted: percentile(result, percent),
                    is_fitted: self.fits_suspension(at),
                    source: "reads_beside_writes".to_owned(),
                });
            }
        }
        rows.extend(self.rows_partly_used()?);
        Ok(rows)
    }

    /// What the drive does with part of it in use, beside what was given. Nothing is fitted to that.
    fn rows_partly_used(&mut self) -> Result<Vec<Row>, JobError> {
        let parts = &self.sheet.partly_used;
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        self.say("what it does with part of it in use")?;
        let (model, stop) = (&self.model, self.stop);
        let results = on_all_cores(parts.len(), |at| {
            run(&Model { capacity: parts[at].capacity, ..model.clone() }, stop, Load::Random { reads: 0 })
        });
        let mut rows = Vec::new();
        for (part, result) in parts.iter().zip(results) {
            let done = [(Load::Random { reads: 0 }, result?)];
            rows.extend(part.figures.iter().filter_map(|&(measure, given)| {
                Some(Row {
                    what: format!("{} with {} GiB in use", measure.key(), digits(part.capacity / GIB)),
                    dimension: measure.dimension(),
                    given,
                    predicted: self.predicted(measure, &done)?,
                    is_fitted: false,
                    source: "partly_used".to_owned(),
                })
            }));
        }
        Ok(rows)
    }

    /// Whether random writes contradict all else.
    fn compare_writes(
        &mut self,
        given: f64,
        found: f64,
        done: &mut [(Load, RunResult)],
    ) -> Result<(), JobError> {
        let told = |what: &str| format!("{} are predicted: {what}", Dimension::Rate.told(found));
        if self.fitted.contains(&Measure::RandomWrite)
            || (1.0 / CONTRADICTS..=CONTRADICTS).contains(&(found / given))
        {
            return Ok(());
        }
        if found < given {
            let what = "a larger raw size, or figures of a drive that was not full";
            self.note("random_write", Dimension::Rate.told(given), Because::Contradicted(told(what)));
            return Ok(());
        }
        self.model.write_cap_mb_s = given * 4096.0 / 1e6;
        let what = "a limit that the data does not explain; host.write_cap_mb_s set from random writes";
        self.note("random_write", Dimension::Rate.told(given), Because::Contradicted(told(what)));
        self.fitted.push(Measure::RandomWrite);
        self.raw_again()?;
        self.say("what it does with a limit on writes")?;
        let (model, stop) = (&self.model, self.stop);
        let is_written = |load: &Load| {
            !matches!(
                load,
                Load::Single { .. } | Load::Sequential { reads: true } | Load::Random { reads: 100 }
            )
        };
        let again: Vec<usize> = (0..done.len()).filter(|at| is_written(&done[*at].0)).collect();
        let results = on_all_cores(again.len(), |at| run(model, stop, done[again[at]].0));
        for (at, result) in again.into_iter().zip(results) {
            done[at].1 = result?;
        }
        Ok(())
    }

    /// The loads that the figures of the sheet speak of.
    fn loads(&self) -> Vec<Load> {
        let mut loads = Vec::new();
        for measure in self.sheet.figures.keys() {
            let of: &[Load] = match measure {
                Measure::SequentialWrite | Measure::SequentialAmplification => {
                    &[Load::Sequential { reads: false }]
                }
                Measure::SequentialRead => &[Load::Sequential { reads: true }],
                Measure::RandomWrite | Measure::RandomAmplification => &[Load::Random { reads: 0 }],
                Measure::RandomRead => &[Load::Random { reads: 100 }],
                Measure::Mixed => &[Load::Random { reads: 70 }],
                Measure::ReadLatency => &[Load::Single { reads: true }],
                Measure::WriteLatency => &[Load::Single { reads: false }],
                Measure::SkewedAmplification => &[Load::Skewed],
                Measure::RandomEndurance | Measure::SequentialEndurance => {
                    &[Load::Random { reads: 0 }, Load::Sequential { reads: false }]
                }
            };
            for load in of {
                if !loads.contains(load) {
                    loads.push(*load);
                }
            }
        }
        loads.extend(self.sheet.beside.iter().map(|beside| Load::Beside { writes: beside.writes }));
        loads
    }

    /// What runs say of a figure.
    fn predicted(&self, measure: Measure, done: &[(Load, RunResult)]) -> Option<f64> {
        let of = |load| result_of(done, load);
        let random = || of(Load::Random { reads: 0 });
        let sequential = || of(Load::Sequential { reads: false });
        match measure {
            Measure::SequentialWrite => sequential().map(mb_s),
            Measure::SequentialRead => of(Load::Sequential { reads: true }).map(mb_s),
            Measure::RandomWrite => random().map(iops),
            Measure::RandomRead => of(Load::Random { reads: 100 }).map(iops),
            Measure::Mixed => of(Load::Random { reads: 70 }).map(iops),
            Measure::ReadLatency => of(Load::Single { reads: true }).map(mean_us),
            Measure::WriteLatency => of(Load::Single { reads: false }).map(mean_us),
            Measure::RandomAmplification => random()?.write_amplification,
            Measure::SequentialAmplification => sequential()?.write_amplification,
            Measure::SkewedAmplification => of(Load::Skewed)?.write_amplification,
            Measure::RandomEndurance => None,
            // As many bytes as random writes may take, times what they take more of the flash.
            Measure::SequentialEndurance => {
                let given = self.sheet.get(Measure::RandomEndurance)?;
                Some(given * random()?.write_amplification? / sequential()?.write_amplification?)
            }
        }
    }
}

fn result_of(done: &[(Load, RunResult)], load: Load) -> Option<&RunResult> {
    done.iter().find(|(of, _)| *of == load).map(|(_, result)| result)
}
