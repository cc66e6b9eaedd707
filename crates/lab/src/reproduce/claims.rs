//! What a paper claims: `claims.toml`.

use super::{PaperError, metrics};
use crate::base::document::{File, Walk};
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

impl As {
    /// A ratio, or a value, as a claim tells it.
    pub(super) fn of(self, ratio: f64) -> f64 {
        match self {
            As::Value | As::Ratio => ratio,
            As::Reduction => 100.0 * (1.0 - ratio),
            As::Increase => 100.0 * (ratio - 1.0),
        }
    }
}

const AS: [(&str, As); 4] =
    [("value", As::Value), ("ratio", As::Ratio), ("reduction", As::Reduction), ("increase", As::Increase)];

/// Which number of several pairs of workload and age counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Take {
    /// The mean.
    Mean,
    /// The mean of each technique by itself, compared then: what a paper says of averages.
    Means,
    /// The most: what a paper says with "up to".
    Most,
    /// The least.
    Least,
    /// The one farthest out of an interval, or nearest to its ends: all must be inside.
    Outermost {
        /// Where it begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
}

impl Take {
    const ALL: [(&'static str, Take); 4] =
        [("mean", Take::Mean), ("means", Take::Means), ("most", Take::Most), ("least", Take::Least)];

    /// The number that counts; of none, no number.
    pub(super) fn of(self, values: &[f64]) -> f64 {
        match self {
            Take::Mean | Take::Means => values.iter().sum::<f64>() / values.len() as f64,
            Take::Most => values.iter().copied().fold(f64::NAN, f64::max),
            Take::Least => values.iter().copied().fold(f64::NAN, f64::min),
            Take::Outermost { from, to } => {
                let beyond = |value: f64| (from - value).max(value - to);
                let farther = |a: f64, b: f64| if beyond(b) > beyond(a) { b } else { a };
                values.iter().copied().reduce(farther).unwrap_or(f64::NAN)
            }
        }
    }
}

/// What a claim that is met would tell: whether it could have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Nothing was fitted to it or chosen by it: it could have failed.
    Evidence,
    /// A constant was fitted to it, or the set-up was chosen after it was seen.
    Fitted,
    /// It follows from how the simulator or the workload is built.
    Tautology,
}

impl Basis {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Basis); 3] =
        [("evidence", Basis::Evidence), ("fitted", Basis::Fitted), ("tautology", Basis::Tautology)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Basis::ALL[self as usize].0
    }
}

/// By which rule a claim is judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// The claimed number, within a factor of [`FACTOR`](super::FACTOR): of itself, or of the share that it leaves.
    Number,
    /// The same within half of the claimed number: of traces that nobody else has.
    Rough,
    /// On the claimed side of a bound, which is the claimed value.
    Sign {
        /// Above it; else below.
        above: bool,
    },
    /// No pair of workload and age is beyond a limit, which is the claimed value and is allowed itself.
    Limit {
        /// It is the most that is allowed; else the least.
        at_most: bool,
    },
    /// All pairs of workload and age are in an interval, whose ends are allowed; or the number that `take` names.
    Interval {
        /// Where it begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// Techniques in this order, the one with the least first; a tie is none.
    Order {
        /// Their names.
        techniques: Vec<String>,
    },
    /// Workloads in this order, under one technique.
    OrderOfWorkloads {
        /// Their names.
        workloads: Vec<String>,
    },
    /// A workload that has less than each of the others, under one technique.
    FirstOfWorkloads {
        /// Their names, that one's first.
        workloads: Vec<String>,
    },
}

impl Rule {
    /// The rule in words.
    pub fn text(&self) -> &'static str {
        match self {
            Rule::Number => "factor 1.25",
            Rule::Rough => "50 %",
            Rule::Sign { above: true } => "above",
            Rule::Sign { above: false } => "below",
            Rule::Limit { at_most: true } => "at most",
            Rule::Limit { at_most: false } => "at least",
            Rule::Interval { .. } => "interval",
            Rule::Order { .. } | Rule::OrderOfWorkloads { .. } => "order",
            Rule::FirstOfWorkloads { .. } => "first",
        }
    }

    /// `number`, `rough`, `sign`, `limit`, `interval` or `order`.
    pub fn kind(&self) -> &'static str {
        match self {
            Rule::Number => "number",
            Rule::Rough => "rough",
            Rule::Sign { .. } => "sign",
            Rule::Limit { .. } => "limit",
            Rule::Interval { .. } => "interval",
            Rule::Order { .. } | Rule::OrderOfWorkloads { .. } | Rule::FirstOfWorkloads { .. } => "order",
        }
    }

    /// Which of several numbers it judges if the claim does not say: a limit and an interval hold for each of them.
    pub(super) fn takes(&self) -> Take {
        match *self {
            Rule::Limit { at_most: true } => Take::Most,
            Rule::Limit { at_most: false } => Take::Least,
            Rule::Interval { from, to } => Take::Outermost { from, to },
            _ => Take::Mean,
        }
    }

    /// Whether it is one of an order, not of a number.
    fn is_order(&self) -> bool {
        !self.order().is_empty()
    }

    /// What stands in order, the least first; nothing for a number.
    pub(super) fn order(&self) -> &[String] {
        match self {
            Rule::Order { techniques: names }
            | Rule::OrderOfWorkloads { workloads: names }
            | Rule::FirstOfWorkloads { workloads: names } => names,
            Rule::Number | Rule::Rough | Rule::Sign { .. } | Rule::Limit { .. } | Rule::Interval { .. } => {
                &[]
            }
        }
    }
}

/// What is measured for a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// In which studies: one, or several drives whose pairs all count.
    pub studies: Vec<String>,
    /// What (`reproduce/metrics.rs`).
    pub metric: String,
    /// Of which techniques, whose pairs all count; none for an order.
    pub techniques: Vec<String>,
    /// Compared with which; empty for a value.
    pub against: String,
    /// How they are compared.
    pub how: As,
    /// Which number of all pairs of workload and age counts.
    pub take: Take,
    /// Over which workloads it is taken; empty for all of the study.
    pub workloads: Vec<String>,
    /// Over which ages; empty for all of the study.
    pub ages: Vec<String>,
    /// In which measured phase; `None` for the last of the study, or workloads as a whole.
    pub phase: Option<String>,
}

/// A line of measurements; of several the mean is what counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Names of the measurements.
    pub laboratories: Vec<String>,
    /// The line.
    pub finding: String,
}

impl Line {
    /// What a claim says of a laboratory, if it does.
    pub(super) fn read(walk: &Walk<'_>) -> Result<Option<Self>, PaperError> {
        let Some(laboratories) = walk.texts("laboratory")? else { return Ok(None) };
        if walk.has("study") {
            let allowed = "either laboratory and finding, or a study with its metric";
            return Err(walk.wrong("laboratory", "a claim of a laboratory and of a study", allowed));
        }
        if laboratories.is_empty() {
            return Err(walk.wrong("laboratory", "found an empty list", "[[laboratory]] of experiment.toml"));
        }
        Ok(Some(Line { laboratories, finding: walk.need_text("finding")? }))
    }
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
    /// What it would tell if it is met.
    pub basis: Basis,
    /// How it is judged.
    pub rule: Rule,
    /// What is measured on drives; `None` if nothing is.
    pub measure: Option<Measure>,
    /// What is measured in a laboratory instead.
    pub laboratory: Option<Line>,
    /// Why it is not judged, if that is known before.
    pub not_judged: Option<String>,
    /// Anything to know.
    pub note: String,
}

impl Claim {
    /// Whether no paper says it.
    pub fn is_ours(&self) -> bool {
        self.place.starts_with("ours")
    }
}

/// Something that was chosen with numbers of a paper in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its key.
    pub key: String,
    /// Where it is set: a file of the paper's folder, or a path from the folder above all papers.
    pub file: String,
    /// How it was chosen.
    pub why: String,
    /// The claims that hang on it: none of them is evidence.
    pub claims: Vec<String>,
}

impl Constant {
    fn read(walk: &Walk<'_>) -> Result<Self, PaperError> {
        Ok(Constant {
            key: walk.need_text("key")?,
            file: walk.need_text("file")?,
            why: walk.need_text("why")?,
            claims: walk.texts("claims")?.unwrap_or_default(),
        })
    }

    /// Refuses one that claims hang on which are said to be evidence.
    fn check(&self, top: &Walk<'_>, claims: &[Claim]) -> Result<(), PaperError> {
        let names: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
        if self.claims.is_empty() {
            return Err(top.wrong(
                "constant",
                format!("no claims of {:?}", self.key),
                "one or more (claims)",
            ));
        }
        for id in &self.claims {
            let Some(claim) = claims.iter().find(|claim| claim.id == *id) else {
                return Err(top.no_such("constant", "claim", id, &names));
            };
            if claim.basis == Basis::Evidence {
                let found = format!("claim {id:?} is evidence, and {:?} was chosen by it", self.key);
                return Err(top.wrong("constant", found, "claims that are fitted or a tautology"));
            }
        }
        Ok(())
    }
}

/// Reads `claims.toml`: claims, and what was chosen with their numbers in sight.
pub fn read(path: &Path) -> Result<(Vec<Claim>, Vec<Constant>), PaperError> {
    let file = File::read(path)?;
    file.with_table(|top| {
        let claims = top.tables("claim", claim)?;
        for (number, claim) in claims.iter().enumerate() {
            if claims[..number].iter().any(|other| other.id == claim.id) {
                let found = format!("{:?} twice", claim.id);
                return Err(top.wrong("claim", found, "a name of its own for each claim (id)"));
            }
        }
        if let Some((one, again)) = counted_twice(&claims) {
            let found = format!("{:?} and {:?} are evidence, and of one number", one.id, again.id);
            return Err(top.wrong("claim", found, "a number that counts once: the other claim is fitted"));
        }
        if claims.is_empty() {
            return Err(top.wrong("claim", "found nothing", "one [[claim]] or more"));
        }
        let constants = top.tables("constant", Constant::read)?;
        constants.iter().try_for_each(|constant| constant.check(top, &claims))?;
        Ok((claims, constants))
    })
}

/// Two claims that are evidence, of a number of one place in a paper: of other drives or techniques, it is no other
/// number.
fn counted_twice(claims: &[Claim]) -> Option<(&Claim, &Claim)> {
    let is_number = |claim: &&Claim| {
        let is_it = matches!(claim.rule, Rule::Number | Rule::Rough | Rule::OrderOfWorkloads { .. });
        is_it && claim.basis == Basis::Evidence && claim.not_judged.is_none() && !claim.is_ours()
    };
    let what = |claim: &Claim| {
        let measure = claim.measure.clone();
        measure.map(|it| Measure {
            studies: Vec::new(),
            techniques: Vec::new(),
            against: String::new(),
            ..it
        })
    };
    let is_same = |one: &Claim, other: &Claim| {
        (&one.place, one.claimed, &one.rule) == (&other.place, other.claimed, &other.rule)
            && what(one).is_some()
            && what(one) == what(other)
    };
    let all: Vec<&Claim> = claims.iter().filter(is_number).collect();
    all.iter().enumerate().find_map(|(at, one)| {
        all[at + 1..].iter().find(|other| is_same(one, other)).map(|other| (*one, *other))
    })
}

fn claim(walk: &Walk<'_>) -> Result<Claim, PaperError> {
    let not_judged = walk.text("not_judged")?;
    let rule = rule(walk)?;
    let laboratory = laboratory(walk, &rule)?;
    let claimed = claimed(walk, &rule)?;
    Ok(Claim {
        id: walk.need_text("id")?,
        place: walk.need_text("where")?,
        text: walk.need_text("text")?,
        claimed,
        unit: walk.text("unit")?.unwrap_or_default(),
        basis: basis(walk)?,
        measure: measure(walk, &rule, not_judged.is_some() || laboratory.is_some())?,
        laboratory,
        rule,
        not_judged,
        note: walk.text("note")?.unwrap_or_default(),
    })
}

/// The claimed number; none of an order, nor of an interval, which is a rule of its own.
fn claimed(walk: &Walk<'_>, rule: &Rule) -> Result<Option<f64>, PaperError> {
    if matches!(rule, Rule::Interval { .. }) {
        return Ok(None);
    }
    match walk.number("claimed")? {
        Some(_) if rule.is_order() => {
            Err(walk.wrong("claimed", "a value with kind = \"order\"", "only order"))
        }
        None if !rule.is_order() => Err(walk.wrong("claimed", "found nothing", "a number")),
        found => Ok(found),
    }
}

/// Both ends of an interval, the lower one first.
fn interval(walk: &Walk<'_>) -> Result<Rule, PaperError> {
    match walk.numbers("claimed")?.as_deref() {
        Some(&[from, to]) if from < to => Ok(Rule::Interval { from, to }),
        Some(other) => Err(walk.wrong("claimed", format!("{other:?}"), "[from, to], the lower number first")),
        None => Err(walk.wrong("claimed", "found nothing", "[from, to]")),
    }
}

/// The line of a laboratory that is a number.
fn laboratory(walk: &Walk<'_>, rule: &Rule) -> Result<Option<Line>, PaperError> {
    let line = Line::read(walk)?;
    if line.is_some() && rule.is_order() {
        return Err(walk.wrong("kind", "an order, of a laboratory", "number, rough, sign, limit, interval"));
    }
    Ok(line)
}

fn basis(walk: &Walk<'_>) -> Result<Basis, PaperError> {
    let names = Basis::ALL.map(|(name, _)| name);
    let Some(found) = walk.text("basis")? else {
        return Err(walk.wrong("basis", "found nothing", names.join(", ")));
    };
    match Basis::ALL.iter().find(|(name, _)| *name == found) {
        Some((_, basis)) => Ok(*basis),
        None => Err(walk.no_such("basis", "basis of a claim", &found, &names)),
    }
}

fn rule(walk: &Walk<'_>) -> Result<Rule, PaperError> {
    const KINDS: [&str; 6] = ["number", "rough", "sign", "limit", "interval", "order"];
    let kind = walk.need_text("kind")?;
    if !KINDS.contains(&kind.as_str()) {
        return Err(walk.no_such("kind", "kind of claim", &kind, &KINDS));
    }
    if walk.has("tolerance") {
        let allowed = "no such key: one rule applies to all claims, a number is met within a factor of \
                       1.25 of the claimed ratio, or of what a reduction leaves (docs/reproduce.md)";
        return Err(walk.wrong("tolerance", "a tolerance of the claim's own", allowed));
    }
    if walk.has("side") && !matches!(kind.as_str(), "sign" | "limit") {
        let found = format!("a key of kind = \"sign\" or \"limit\", with kind = {kind:?}");
        return Err(walk.wrong("side", found, "no such key"));
    }
    let order = order(walk)?;
    if let (Some((key, _)), true) = (&order, kind != "order") {
        let found = format!("a key of kind = \"order\", with kind = {kind:?}");
        return Err(walk.wrong(key, found, "no such key"));
    }
    match (kind.as_str(), order) {
        ("number", _) => Ok(Rule::Number),
        ("rough", _) => Ok(Rule::Rough),
        ("sign", _) => Ok(Rule::Sign { above: side(walk, ["above", "below"])? }),
        ("limit", _) => Ok(Rule::Limit { at_most: side(walk, ["at_most", "at_least"])? }),
        ("interval", _) => interval(walk),
        (_, Some((_, rule))) => Ok(rule),
        (_, None) => Err(walk.wrong("order", "fewer than two techniques", "two or more, the least first")),
    }
}

/// Whether a claim is on the first of two sides.
fn side(walk: &Walk<'_>, names: [&str; 2]) -> Result<bool, PaperError> {
    match walk.text("side")?.as_deref() {
        Some(side) if names.contains(&side) => Ok(side == names[0]),
        Some(other) => Err(walk.no_such("side", "side", other, &names)),
        None => {
            let allowed = format!("{:?} or {:?} (the claimed value)", names[0], names[1]);
            Err(walk.wrong("side", "found nothing", allowed))
        }
    }
}

/// The rule of the list that is in order, with its key.
fn order(walk: &Walk<'_>) -> Result<Option<(&'static str, Rule)>, PaperError> {
    type Make = fn(Vec<String>) -> Rule;
    const LISTS: [(&str, &str, Make); 3] = [
        ("order", "techniques", |techniques| Rule::Order { techniques }),
        ("order_of_workloads", "workloads", |workloads| Rule::OrderOfWorkloads { workloads }),
        ("first_of_workloads", "workloads", |workloads| Rule::FirstOfWorkloads { workloads }),
    ];
    let mut found = None;
    for (key, of, make) in LISTS {
        let Some(names) = walk.texts(key)? else { continue };
        if let Some((other, _)) = found {
            return Err(walk.wrong(key, format!("beside {other}"), "one of the two"));
        }
        if names.len() < 2 {
            return Err(walk.wrong(key, format!("fewer than two {of}"), "two or more, the least first"));
        }
        found = Some((key, make(names)));
    }
    Ok(found)
}

fn measure(walk: &Walk<'_>, rule: &Rule, may_lack: bool) -> Result<Option<Measure>, PaperError> {
    let studies = walk.texts("study")?.filter(|studies| !studies.is_empty());
    let metric = walk.text("metric")?;
    let techniques = walk.texts("technique")?.unwrap_or_default();
    let against = walk.text("against")?.unwrap_or_default();
    let how = walk.text("as")?;
    let workloads = walk.texts("workloads")?.unwrap_or_default();
    let ages = walk.texts("ages")?.unwrap_or_default();
    let phase = walk.text("phase")?;
    let (studies, metric) = match (studies, metric) {
        (None, None) if may_lack => return Ok(None),
        (None, _) => {
            return Err(walk.wrong("study", "found nothing", "a study of experiment.toml, or not_judged"));
        }
        (_, None) => return Err(walk.wrong("metric", "found nothing", metrics::names().join(", "))),
        (Some(studies), Some(metric)) => (studies, metric),
    };
    if !metrics::names().contains(&metric.as_str()) {
        return Err(walk.no_such("metric", "metric", &metric, &metrics::names()));
    }
    let names = AS.map(|(name, _)| name);
    let how = match how.as_deref() {
        None if rule.is_order() => As::Value,
        None => return Err(walk.wrong("as", "found nothing", names.join(", "))),
        Some(name) => match AS.iter().find(|(known, _)| *known == name) {
            Some((_, how)) => *how,
            None => return Err(walk.no_such("as", "comparison", name, &names)),
        },
    };
    let take = take(walk, rule)?;
    if techniques.is_empty() && !matches!(rule, Rule::Order { .. }) {
        return Err(walk.wrong("technique", "found nothing", "a technique of experiment.toml"));
    }
    if against.is_empty() != (how == As::Value) {
        let allowed = "a technique of experiment.toml if as is ratio, reduction or increase; else nothing";
        return Err(walk.wrong("against", format!("{against:?}"), allowed));
    }
    Ok(Some(Measure { studies, metric, techniques, against, how, take, workloads, ages, phase }))
}

fn take(walk: &Walk<'_>, rule: &Rule) -> Result<Take, PaperError> {
    let names = Take::ALL.map(|(name, _)| name);
    let Some(found) = walk.text("take")? else { return Ok(rule.takes()) };
    if rule.is_order() || matches!(rule, Rule::Limit { .. }) {
        let found = format!("a key of numbers, signs and intervals, with kind = {:?}", rule.kind());
        return Err(walk.wrong("take", found, "no such key"));
    }
    match Take::ALL.iter().find(|(name, _)| *name == found) {
        Some((_, take)) => Ok(*take),
        None => Err(walk.no_such("take", "number of several pairs", &found, &names)),
    }
}
