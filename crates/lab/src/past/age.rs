//! Time travel before a measurement: the cells are worn, left alone or read, in the steps that `[run] age` lists.

use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::measure::progress::Progress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::age::{GRAMMAR, Part};
use ssd::config::{Field, Kind, Layer, Parameter, Problem, Value, presets};
use ssd::drive_config::resolve;
use ssd::sections::ErrorModel;
use ssd::{AgeError, AgeStep, Drive};

/// Steps in the order in which they are taken: the value of `run.age`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Vec<String>", try_from = "Vec<String>")]
pub struct AgeSteps(pub Vec<AgeStep>);

impl AgeSteps {
    /// Reads steps as a user writes them; the error says which of them is wrong, and what is allowed.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, Problem> {
        texts.iter().map(|text| step(text.as_ref())).collect::<Result<_, _>>().map(AgeSteps)
    }

    /// The same steps of a part of the logical space alone, such as `0%-50%`; an error if one ages what belongs to no
    /// address.
    pub fn limited_to(&self, part: &str) -> Result<Self, Problem> {
        let problem = |error: AgeError| match error {
            AgeError::OutOfRange { found, allowed } => Problem::OutOfRange { found, allowed },
            other => Problem::Conflict { found: part.to_owned(), allowed: other.to_string() },
        };
        let part: Part = part.parse().map_err(problem)?;
        self.0
            .iter()
            .map(|step| step.limited_to(part))
            .collect::<Result<_, _>>()
            .map(AgeSteps)
            .map_err(problem)
    }

    /// What was found and what is allowed, if there are steps although the drive's cells do not age.
    pub fn without_effect(&self, model: ErrorModel) -> Option<(String, String)> {
        let first = self.0.first().filter(|_| model == ErrorModel::None)?;
        let found = format!("\"{first}\", on a drive whose cells do not age");
        let presets = aging_drives().join(", ");
        Some((found, format!("no steps, or a drive with nand.errors.model = \"cells\" (presets: {presets})")))
    }

    /// Each step as it is written.
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}

/// The shipped drives whose cells age.
pub fn aging_drives() -> Vec<&'static str> {
    let ages = |preset: &&presets::Preset| {
        let layer = Layer::file(preset.file, format!("preset = \"{}\"", preset.name));
        resolve(&[layer], &[]).is_ok_and(|drive| drive.config.errors.model != ErrorModel::None)
    };
    presets::drives().iter().filter(ages).map(|preset| preset.name).collect()
}

/// A step; what is wrong with one is told as with any other value of a configuration.
fn step(text: &str) -> Result<AgeStep, Problem> {
    text.parse().map_err(|error| match error {
        AgeError::Grammar { found, allowed, near, .. } => {
            let first = text.split_whitespace().next().unwrap_or_default();
            let of_its_kind =
                |form: &&&str| form.split(' ').next().is_some_and(|word| word.eq_ignore_ascii_case(first));
            let forms: Vec<String> =
                GRAMMAR.iter().filter(of_its_kind).map(|form| format!("{form:?}")).collect();
            let allowed = match forms.is_empty() {
                true => vec![allowed],
                false => vec![format!("{} (found {found}, expected {allowed})", forms.join(", "))],
            };
            Problem::NoSuchName { what: "age step", found: text.to_owned(), allowed, near }
        }
        AgeError::OutOfRange { found, allowed } => {
            Problem::OutOfRange { found: format!("{text:?}: {found}"), allowed }
        }
        other => Problem::Conflict { found: format!("{text:?}"), allowed: other.to_string() },
    })
}

impl From<AgeSteps> for Vec<String> {
    fn from(steps: AgeSteps) -> Self {
        steps.texts()
    }
}

impl TryFrom<Vec<String>> for AgeSteps {
    type Error = String;
    fn try_from(texts: Vec<String>) -> Result<Self, String> {
        AgeSteps::parse(&texts).map_err(|problem| format!("{problem:?}"))
    }
}

impl Parameter for AgeSteps {
    const KIND: Kind = Kind::Steps(GRAMMAR);

    /// A list of texts; one text is a list of one.
    fn read(value: &Value, _: &Field) -> Result<Self, Problem> {
        let wrong =
            |found: &Value| Problem::WrongType { found: found.to_string(), allowed: Self::KIND.to_string() };
        let items = match value {
            Value::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let text = |item: &Value| match item {
            Value::Text(text) => step(text),
            other => Err(wrong(other)),
        };
        items.iter().map(text).collect::<Result<_, _>>().map(AgeSteps)
    }

    fn check(&self, _: &Field) -> Result<(), Problem> {
        Ok(())
    }

    fn show(&self) -> String {
        let texts = self.texts().iter().map(|text| format!("{text:?}")).collect::<Vec<_>>();
        format!("[{}]", texts.join(", "))
    }
}

/// Why a drive cannot take a step, as an error of the setting.
fn refused(step: &AgeStep, error: &AgeError) -> Failure {
    let (found, allowed) = match error {
        AgeError::OutOfRange { found, allowed } | AgeError::BeyondTables { found, allowed } => {
            (format!("\"{step}\": {found}"), allowed.clone())
        }
        AgeError::CyclesGoDown { seen, .. } => (
            format!("\"{step}\", but a block has seen {seen} erases"),
            format!("\"cycle to {seen}\" or more"),
        ),
        AgeError::NoSuchWordline { wordlines, .. } => {
            (format!("\"{step}\""), format!("wordlines 0 to {}", wordlines - 1))
        }
        other => (format!("\"{step}\""), other.to_string()),
    };
    Failure::Setting { key: "run.age", found, allowed }
}

/// Refuses steps that the drive would refuse at any age: before it is filled, which takes long.
pub(crate) fn check(drive: &Drive, model: ErrorModel, steps: &AgeSteps) -> Result<(), Failure> {
    if let Some((found, allowed)) = steps.without_effect(model) {
        return Err(Failure::Setting { key: "run.age", found, allowed });
    }
    steps.0.iter().try_for_each(|step| drive.check_age(step).map_err(|error| refused(step, &error)))
}

/// Takes steps that were checked, one after the other.
pub(crate) fn age(
    drive: &mut Drive,
    steps: &AgeSteps,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    let total = steps.0.len() as u64;
    for (step, done) in steps.0.iter().zip(1..) {
        if stop.is_asked() {
            return Err(Failure::Interrupted { phase: Phase::Ageing });
        }
        drive.age(step).map_err(|error| refused(step, &error))?;
        progress(Progress { phase: Phase::Ageing, done, total: Some(total), simulated_ns: 0, so_far: None });
    }
    Ok(())
}
