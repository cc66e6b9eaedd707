//! Verdicts by rule, at the edges.

use lab::reproduce::{Measured, Rule, Verdict, judge};

fn number(tolerance: f64, claimed: f64, measured: f64) -> Verdict {
    judge(&Rule::Number { tolerance }, Some(claimed), &Measured::Number(measured))
}

#[test]
fn a_number_is_met_within_its_tolerance_the_edge_included() {
    assert_eq!(number(5.0, 83.8, 83.8), Verdict::Met);
    assert_eq!(number(5.0, 83.8, 88.8), Verdict::Met);
    assert_eq!(number(5.0, 83.8, 78.8), Verdict::Met);
    assert_eq!(number(0.3, 0.1, 0.4), Verdict::Met, "0.1 + 0.3 is not 0.4 in binary");
    assert_eq!(number(5.0, 83.8, 88.9), Verdict::Missed("+5.1".to_owned()));
    assert_eq!(number(5.0, 83.8, 70.0), Verdict::Missed("-13.8".to_owned()));
    assert_eq!(number(0.0, 0.0, 0.0), Verdict::Met);
    assert_eq!(number(0.0, 0.0, 1.0).name(), "missed");
    assert_eq!(number(0.5, -3.0, -3.4), Verdict::Met);
}

#[test]
fn a_sign_is_met_on_the_claimed_side_only() {
    let sign =
        |above, bound, value| judge(&Rule::Sign { above }, Some(bound), &Measured::Number(value)).name();
    assert_eq!(sign(true, 0.0, 0.1), "met");
    assert_eq!(sign(true, 0.0, 0.0), "missed");
    assert_eq!(sign(true, 0.0, -0.1), "missed");
    assert_eq!(sign(false, 10.0, 9.9), "met");
    assert_eq!(sign(false, 10.0, 10.0), "missed");
}

#[test]
fn an_order_is_met_if_no_technique_is_above_its_successor() {
    let order = |tie_percent, values: &[(&str, f64)]| {
        let techniques = ["a", "b", "c"].map(str::to_owned).to_vec();
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        judge(&Rule::Order { techniques, tie_percent }, None, &Measured::Order(values))
    };
    assert_eq!(order(0.0, &[("a", 1.0), ("b", 2.0), ("c", 3.0)]), Verdict::Met);
    assert_eq!(order(0.0, &[("a", 1.0), ("b", 1.0), ("c", 1.0)]), Verdict::Met, "ties are no inversion");
    let missed = order(0.0, &[("b", 1.0), ("a", 1.01), ("c", 3.0)]);
    assert_eq!(missed, Verdict::Missed("a is above b: 1.01 over 1".to_owned()));
    assert_eq!(order(2.0, &[("b", 1.0), ("a", 1.01), ("c", 3.0)]), Verdict::Met, "within the tie");
    assert_eq!(order(0.0, &[("a", 1.0), ("b", 2.0)]).name(), "not judged");
}

#[test]
fn nothing_measured_is_not_judged_and_says_why() {
    let nothing = Measured::Nothing("the trace is missing".to_owned());
    for rule in [Rule::Number { tolerance: 1e9 }, Rule::Sign { above: true }] {
        assert_eq!(judge(&rule, Some(0.0), &nothing), Verdict::NotJudged("the trace is missing".to_owned()));
    }
    // A rule that does not fit what was measured is no verdict either.
    assert_eq!(judge(&Rule::Sign { above: true }, None, &Measured::Number(1.0)).name(), "not judged");
    assert_eq!(
        judge(&Rule::Number { tolerance: 1.0 }, Some(1.0), &Measured::Order(Vec::new())).name(),
        "not judged"
    );
}
