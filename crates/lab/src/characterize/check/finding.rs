//! A claim about chips beside what was measured, with its verdict by rule.

/// When a measured number meets a claimed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Counts, and times that a paper gives in whole units: equal.
    Exact,
    /// Three digits or more are printed: within 1 %.
    Printed,
    /// Two digits or fewer are printed, or a curve is read off: within 5 %.
    Rounded,
    /// A mean over the population: within 2 %.
    Mean,
    /// The ends of a population: within 10 %.
    Ends,
    /// "Up to": not more.
    AtMost,
    /// "At least", "some": not less.
    AtLeast,
    /// Nothing to judge by, for this reason.
    None(&'static str),
}

impl Rule {
    /// The rule as the table states it.
    pub fn text(self) -> &'static str {
        match self {
            Rule::Exact => "equal",
            Rule::Printed => "1 %",
            Rule::Rounded => "5 %",
            Rule::Mean => "2 %",
            Rule::Ends => "10 %",
            Rule::AtMost => "at most",
            Rule::AtLeast => "at least",
            Rule::None(why) => why,
        }
    }

    fn holds(self, claimed: f64, measured: f64) -> Option<bool> {
        let within = |share: f64| (measured - claimed).abs() <= share * claimed.abs();
        match self {
            Rule::Exact => Some((measured - claimed).abs() < 1e-9),
            Rule::Printed => Some(within(0.01)),
            Rule::Rounded => Some(within(0.05)),
            Rule::Mean => Some(within(0.02)),
            Rule::Ends => Some(within(0.10)),
            Rule::AtMost => Some(measured <= claimed),
            Rule::AtLeast => Some(measured >= claimed),
            Rule::None(_) => None,
        }
    }
}

/// Was the claimed number used to choose a constant of the model?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitted {
    /// The number itself was.
    Yes,
    /// Numbers beside it were, or it is one of several that a constant is a compromise of.
    Partly,
    /// It came out.
    No,
}

/// What becomes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// By the rule, the measured number is the claimed one.
    Met,
    /// It is not.
    Missed,
    /// There is no rule to judge by.
    NotJudged,
}

impl Verdict {
    /// `met`, `missed`, `not judged`.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Part measured.
    pub part: &'static str,
    /// What was measured, with its unit.
    pub quantity: String,
    /// Paper and figure or section.
    pub source: &'static str,
    /// What the paper says.
    pub claimed: f64,
    /// What the laboratory found, if it is a number and if it can be measured here.
    pub measured: Option<f64>,
    /// When they agree.
    pub rule: Rule,
    /// Whether that says anything.
    pub fitted: Fitted,
}

impl Finding {
    /// By the rule.
    pub fn verdict(&self) -> Verdict {
        let held = match self.measured {
            Some(measured) => self.rule.holds(self.claimed, measured),
            None if matches!(self.rule, Rule::None(_)) => None,
            None => Some(false),
        };
        match held {
            Some(true) => Verdict::Met,
            Some(false) => Verdict::Missed,
            None => Verdict::NotJudged,
        }
    }

    pub(super) fn fitted_text(&self) -> &'static str {
        match self.fitted {
            Fitted::Yes => "yes",
            Fitted::Partly => "partly",
            Fitted::No => "no",
        }
    }
}

/// The lines being collected for one part.
pub(super) struct Findings {
    pub part: &'static str,
    pub list: Vec<Finding>,
}

impl Findings {
    pub fn add(
        &mut self,
        quantity: &str,
        source: &'static str,
        numbers: (f64, f64),
        rule: Rule,
        fitted: Fitted,
    ) {
        let (claimed, measured) = numbers;
        let (quantity, measured) = (quantity.to_owned(), Some(measured).filter(|found| found.is_finite()));
        self.list.push(Finding { part: self.part, quantity, source, claimed, measured, rule, fitted });
    }
}
