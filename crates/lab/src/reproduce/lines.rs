//! Claims about lines of laboratories.

use super::PaperError;
use super::claims::{As, Claim, Line};
use super::laboratory::{Found, Laboratory};
use super::verdict::{Finding, Measured, Verdict, judge};

/// Refuses a claim about a measurement that is not made.
pub(super) fn check_claim(claim: &Claim, known: &[Laboratory]) -> Result<(), (String, Vec<String>)> {
    let Some(line) = &claim.laboratory else { return Ok(()) };
    let is_known = |name: &&String| known.iter().any(|laboratory| laboratory.name == **name);
    match line.laboratories.iter().find(|name| !is_known(name)) {
        Some(wrong) => Err((wrong.clone(), known.iter().map(|it| it.name.clone()).collect())),
        None => Ok(()),
    }
}

/// What becomes of a claim about a line; an error where there is no such line.
pub(super) fn find(claim: &Claim, line: &Line, found: &[Found]) -> Result<Finding, PaperError> {
    let mut values = Vec::new();
    for laboratory in found.iter().filter(|found| line.laboratories.contains(&found.name)) {
        let Some(value) = laboratory.numbers.get(&line.finding) else {
            return Err(PaperError::Wrong {
                place: format!("claims.toml: claim {:?}", claim.id),
                key: "finding".to_owned(),
                found: format!("{:?}, of which laboratory {:?} has no line", line.finding, laboratory.name),
                allowed: laboratory.numbers.keys().cloned().collect::<Vec<_>>().join("\n             "),
                near: None,
            });
        };
        values.push(*value);
    }
    let measured = Measured::Number(claim.rule.takes().of(&values));
    let verdict = match &claim.not_judged {
        Some(why) => Verdict::NotJudged(why.clone()),
        None => judge(&claim.rule, As::Value, claim.claimed, &measured),
    };
    Ok(Finding { claim: claim.clone(), measured, spread: None, pairs: values.len(), verdict })
}
