//! What a paper claims: `claims.toml`.

use super::PaperError;
use super::document::{File, Walk};
use super::metrics;
use std::path::Path;

/// How two techniques are compared, or that they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// The metric itself.
    Value,
    /// The technique's over the other's.
    Ratio,
    /// How much less the technique has than the other; %.
    Reduction,
    /// How much more; %.
    Increase,
}

const AS: [(&str, As); 4] =
    [("value", As::Value), ("ratio", As::Ratio), ("reduction", As::Reduction), ("increase", As::Increase)];

/// By which rule a claim is judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// The claimed number, give or take so much in its own unit.
    Number {
        /// How far the measured number may be away.
        tolerance: f64,
    },
    /// On the claimed side of a bound, which is the claimed value.
    Sign {
        /// Above it; else below.
        above: bool,
    },
    /// Techniques in this order, the one with the least first.
    Order {
        /// Their names.
        techniques: Vec<String>,
        /// So much may a technique be above its successor and still count as equal; %.
        tie_percent: f64,
    },
}

impl Rule {
    /// The rule in words.
    pub fn text(&self) -> String {
        match self {
            Rule::Number { tolerance } => format!("+-{tolerance}"),
            Rule::Sign { above: true } => "above".to_owned(),
            Rule::Sign { above: false } => "below".to_owned(),
            Rule::Order { tie_percent, .. } if *tie_percent > 0.0 => format!("order, ties {tie_percent} %"),
            Rule::Order { .. } => "order".to_owned(),
        }
    }

    /// `number`, `sign` or `order`.
    pub fn kind(&self) -> &'static str {
        match self {
            Rule::Number { .. } => "number",
            Rule::Sign { .. } => "sign",
            Rule::Order { .. } => "order",
        }
    }
}

/// What is measured for a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// In which study.
    pub study: String,
    /// What ([`super::metrics`]).
    pub metric: String,
    /// Of which technique; empty for an order.
    pub technique: String,
    /// Compared with which; empty for a value.
    pub against: String,
    /// How they are compared.
    pub how: As,
    /// Over which workloads the mean is taken; empty for all of the study.
    pub workloads: Vec<String>,
    /// Over which ages; empty for all of the study.
    pub ages: Vec<String>,
}

/// A claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Short name.
    pub id: String,
    /// Figure, table or section.
    pub place: String,
    /// What is claimed, in words, with its conditions.
    pub text: String,
    /// The claimed value; `None` for an order.
    pub claimed: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// How it is judged.
    pub rule: Rule,
    /// What is measured; `None` if nothing can be.
    pub measure: Option<Measure>,
    /// Why it is not judged, if that is known before.
    pub not_judged: Option<String>,
    /// Anything to know.
    pub note: String,
}

/// Reads `claims.toml`.
pub fn read(path: &Path) -> Result<Vec<Claim>, PaperError> {
    let file = File::read(path)?;
    file.with_table(|top| {
        let claims = top.tables("claim", claim)?;
        for (number, claim) in claims.iter().enumerate() {
            if claims[..number].iter().any(|other| other.id == claim.id) {
                let found = format!("{:?} twice", claim.id);
                return Err(top.wrong("claim", found, "a name of its own for each claim (id)"));
            }
        }
        if claims.is_empty() {
            return Err(top.wrong("claim", "found nothing", "one [[claim]] or more"));
        }
        Ok(claims)
    })
}

fn claim(walk: &Walk<'_>) -> Result<Claim, PaperError> {
    let not_judged = walk.text("not_judged")?;
    let rule = rule(walk)?;
    let claimed = walk.number("claimed")?;
    match (&rule, claimed) {
        (Rule::Order { .. }, Some(_)) => {
            return Err(walk.wrong("claimed", "a value with kind = \"order\"", "only order"));
        }
        (Rule::Number { .. } | Rule::Sign { .. }, None) => {
            return Err(walk.wrong("claimed", "found nothing", "a number"));
        }
        _ => {}
    }
    Ok(Claim {
        id: walk.need_text("id")?,
        place: walk.need_text("where")?,
        text: walk.need_text("text")?,
        claimed,
        unit: walk.text("unit")?.unwrap_or_default(),
        measure: measure(walk, &rule, not_judged.is_some())?,
        rule,
        not_judged,
        note: walk.text("note")?.unwrap_or_default(),
    })
}

fn rule(walk: &Walk<'_>) -> Result<Rule, PaperError> {
    const KINDS: [&str; 3] = ["number", "sign", "order"];
    let kind = walk.need_text("kind")?;
    if !KINDS.contains(&kind.as_str()) {
        return Err(walk.no_such("kind", "kind of claim", &kind, &KINDS));
    }
    let tolerance = walk.number("tolerance")?;
    let side = walk.text("side")?;
    let order = walk.texts("order")?;
    if tolerance.is_some_and(|tolerance| tolerance < 0.0) {
        return Err(walk.wrong("tolerance", "a negative number", "0 or more"));
    }
    let only = |key, of| {
        Err(walk.wrong(key, format!("a key of kind = {of:?}, with kind = {kind:?}"), "no such key"))
    };
    if side.is_some() && kind != "sign" {
        return only("side", "sign");
    }
    if order.is_some() && kind != "order" {
        return only("order", "order");
    }
    match kind.as_str() {
        "number" => match tolerance {
            Some(tolerance) => Ok(Rule::Number { tolerance }),
            None => Err(walk.wrong("tolerance", "found nothing", "a number, in the unit of claimed")),
        },
        "sign" if tolerance.is_some() => only("tolerance", "number"),
        "sign" => match side.as_deref() {
            Some("above") => Ok(Rule::Sign { above: true }),
            Some("below") => Ok(Rule::Sign { above: false }),
            Some(other) => Err(walk.no_such("side", "side", other, &["above", "below"])),
            None => Err(walk.wrong("side", "found nothing", "\"above\" or \"below\" (the claimed value)")),
        },
        _ => {
            let techniques = order.unwrap_or_default();
            if techniques.len() < 2 {
                return Err(walk.wrong("order", "fewer than two techniques", "two or more, the least first"));
            }
            Ok(Rule::Order { techniques, tie_percent: tolerance.unwrap_or(0.0) })
        }
    }
}

fn measure(walk: &Walk<'_>, rule: &Rule, may_lack: bool) -> Result<Option<Measure>, PaperError> {
    let study = walk.text("study")?;
    let metric = walk.text("metric")?;
    let technique = walk.text("technique")?.unwrap_or_default();
    let against = walk.text("against")?.unwrap_or_default();
    let how = walk.text("as")?;
    let workloads = walk.texts("workloads")?.unwrap_or_default();
    let ages = walk.texts("ages")?.unwrap_or_default();
    let (study, metric) = match (study, metric) {
        (None, None) if may_lack => return Ok(None),
        (None, _) => {
            return Err(walk.wrong("study", "found nothing", "a study of experiment.toml, or not_judged"));
        }
        (_, None) => return Err(walk.wrong("metric", "found nothing", metrics::names().join(", "))),
        (Some(study), Some(metric)) => (study, metric),
    };
    if !metrics::names().contains(&metric.as_str()) {
        return Err(walk.no_such("metric", "metric", &metric, &metrics::names()));
    }
    let names = AS.map(|(name, _)| name);
    let how = match how.as_deref() {
        None if matches!(rule, Rule::Order { .. }) => As::Value,
        None => return Err(walk.wrong("as", "found nothing", names.join(", "))),
        Some(name) => match AS.iter().find(|(known, _)| *known == name) {
            Some((_, how)) => *how,
            None => return Err(walk.no_such("as", "comparison", name, &names)),
        },
    };
    if technique.is_empty() && !matches!(rule, Rule::Order { .. }) {
        return Err(walk.wrong("technique", "found nothing", "a technique of experiment.toml"));
    }
    if against.is_empty() != (how == As::Value) {
        let allowed = "a technique of experiment.toml if as is ratio, reduction or increase; else nothing";
        return Err(walk.wrong("against", format!("{against:?}"), allowed));
    }
    Ok(Some(Measure { study, metric, technique, against, how, workloads, ages }))
}
