//! Verdicts by rule, at the edges.

use lab::reproduce::{As, Measured, Rule, Verdict, judge};

fn number(how: As, claimed: f64, measured: f64) -> Verdict {
    judge(&Rule::Number, how, Some(claimed), &Measured::Number(measured))
}

#[test]
fn a_number_is_met_within_a_factor_of_one_and_a_quarter_the_edge_included() {
    for how in [As::Value, As::Ratio] {
        for met in [10.0, 8.0, 12.5] {
            assert_eq!(number(how, 10.0, met), Verdict::Met, "{met}");
        }
        assert_eq!(number(how, 10.0, 12.6), Verdict::Missed("1.26 x the claimed".to_owned()));
        assert_eq!(number(how, 10.0, 7.9), Verdict::Missed("0.79 x the claimed".to_owned()));
        assert_eq!(number(how, 10.0, -10.0).name(), "missed");
        assert_eq!(number(how, -3.0, -3.4), Verdict::Met);
    }
    assert_eq!(number(As::Ratio, 0.3, 0.375), Verdict::Met, "0.3 x 1.25 is not 0.375 in binary");
    // Nothing has no multiples.
    assert_eq!(number(As::Value, 0.0, 0.0), Verdict::Met);
    assert_eq!(number(As::Value, 0.0, 0.1), Verdict::Missed("0.1, not 0".to_owned()));
}

#[test]
fn a_rough_number_is_met_within_half_of_the_claimed_one() {
    let rough =
        |claimed, measured| judge(&Rule::Rough, As::Value, Some(claimed), &Measured::Number(measured));
    for met in [10.0, 5.0, 15.0] {
        assert_eq!(rough(10.0, met), Verdict::Met, "{met}");
    }
    assert_eq!(rough(10.0, 15.1), Verdict::Missed("1.51 x the claimed".to_owned()));
    assert_eq!(rough(10.0, 4.9), Verdict::Missed("0.49 x the claimed".to_owned()));
    assert_eq!((rough(0.0, 0.0), rough(0.0, 0.1)), (Verdict::Met, Verdict::Missed("0.1, not 0".to_owned())));
}

#[test]
fn a_reduction_is_judged_by_what_it_leaves() {
    // Of 91.5 % less 8.5 % remain; 5 points less of it would be half as much again and more.
    assert_eq!(number(As::Reduction, 91.5, 90.0), Verdict::Met);
    assert_eq!(number(As::Reduction, 91.5, 93.0), Verdict::Met);
    assert_eq!(
        number(As::Reduction, 91.5, 86.5),
        Verdict::Missed("what remains is 1.588 x the claimed".to_owned())
    );
    assert_eq!(number(As::Reduction, 91.5, 96.5).name(), "missed", "too good is not as claimed");
    assert_eq!(number(As::Reduction, 30.0, 15.0), Verdict::Met, "70 and 85 remain");
    // 82.9 and 98.2 remain, which is near; a tenth of the reduction is not.
    assert_eq!(number(As::Reduction, 17.1, 1.8), Verdict::Missed("0.105 x the claimed change".to_owned()));
    assert_eq!(number(As::Reduction, 5.0, 10.5).name(), "missed");
    assert_eq!(number(As::Increase, 3.0, 0.8).name(), "missed");
    assert_eq!(number(As::Increase, 3.0, 1.5), Verdict::Met);
    assert_eq!(number(As::Reduction, 0.0, -25.0), Verdict::Met);
    assert_eq!(number(As::Reduction, 100.0, 99.0).name(), "missed");
    // 88 and 101 remain: near enough, but more where less is claimed.
    assert_eq!(number(As::Reduction, 12.0, -1.0), Verdict::Missed("the other way".to_owned()));
    assert_eq!(number(As::Increase, 12.0, -1.0), Verdict::Missed("the other way".to_owned()));
    assert_eq!(number(As::Increase, 40.0, 75.0), Verdict::Met);
    assert_eq!(
        number(As::Increase, 40.0, 76.0),
        Verdict::Missed("the whole is 1.257 x the claimed".to_owned())
    );
}

#[test]
fn a_sign_is_met_on_the_claimed_side_only() {
    let sign = |above, bound, value| {
        judge(&Rule::Sign { above }, As::Value, Some(bound), &Measured::Number(value)).name()
    };
    assert_eq!(sign(true, 0.0, 0.1), "met");
    assert_eq!(sign(true, 0.0, 0.0), "missed");
    assert_eq!(sign(true, 0.0, -0.1), "missed");
    assert_eq!(sign(false, 10.0, 9.9), "met");
    assert_eq!(sign(false, 10.0, 10.0), "missed");
}

#[test]
fn an_order_is_met_if_each_technique_is_below_its_successor() {
    let order = |values: &[(&str, f64)]| {
        let techniques = ["a", "b", "c"].map(str::to_owned).to_vec();
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        judge(&Rule::Order { techniques }, As::Ratio, None, &Measured::Order(values))
    };
    assert_eq!(order(&[("a", 1.0), ("b", 2.0), ("c", 3.0)]), Verdict::Met);
    let tie = order(&[("a", 1.0), ("b", 1.0), ("c", 2.0)]);
    assert_eq!(tie, Verdict::Missed("a is as b: 1".to_owned()));
    let missed = order(&[("b", 1.0), ("a", 1.01), ("c", 3.0)]);
    assert_eq!(missed, Verdict::Missed("a is above b: 1.01 over 1".to_owned()));
    assert_eq!(order(&[("a", 1.0), ("b", 2.0)]).name(), "not judged");
    // The same of workloads.
    let workloads = ["a", "b"].map(str::to_owned).to_vec();
    let of = |a: f64, b: f64| {
        let values = Measured::Order(vec![("a".to_owned(), a), ("b".to_owned(), b)]);
        judge(&Rule::OrderOfWorkloads { workloads: workloads.clone() }, As::Value, None, &values)
    };
    assert_eq!((of(1.0, 2.0), of(2.0, 1.0).name()), (Verdict::Met, "missed"));
}

#[test]
fn the_first_of_an_order_may_have_others_in_any_order_behind_it() {
    let workloads = ["a", "b", "c"].map(str::to_owned).to_vec();
    let first = |values: [f64; 3]| {
        let values = workloads.iter().cloned().zip(values).collect();
        let rule = Rule::FirstOfWorkloads { workloads: workloads.clone() };
        judge(&rule, As::Ratio, None, &Measured::Order(values))
    };
    assert_eq!(first([1.0, 3.0, 2.0]), Verdict::Met);
    assert_eq!(first([2.0, 3.0, 1.0]), Verdict::Missed("a is above c: 2 over 1".to_owned()));
}

#[test]
fn a_limit_allows_itself_and_nothing_beyond() {
    let limit = |at_most, bound, measured| {
        judge(&Rule::Limit { at_most }, As::Value, Some(bound), &Measured::Number(measured))
    };
    assert_eq!((limit(true, 2.0, 2.0), limit(true, 2.0, 0.0)), (Verdict::Met, Verdict::Met));
    assert_eq!(limit(true, 2.0, 2.5), Verdict::Missed("2.5 is above 2".to_owned()));
    assert_eq!(limit(false, 2.0, 2.0), Verdict::Met);
    assert_eq!(limit(false, 2.0, 1.5), Verdict::Missed("1.5 is below 2".to_owned()));
}

#[test]
fn an_interval_allows_its_ends_and_nothing_outside() {
    let interval = |measured| {
        judge(&Rule::Interval { from: 80.0, to: 93.0 }, As::Value, None, &Measured::Number(measured))
    };
    assert_eq!((interval(80.0), interval(93.0)), (Verdict::Met, Verdict::Met));
    assert_eq!(interval(93.5), Verdict::Missed("93.5 is not from 80 to 93".to_owned()));
    assert_eq!(interval(79.0).name(), "missed", "86.5 within a factor of 1.25 would be");
}

#[test]
fn nothing_measured_is_not_judged_and_says_why() {
    let nothing = Measured::Nothing("the trace is missing".to_owned());
    for rule in [Rule::Number, Rule::Sign { above: true }] {
        let verdict = judge(&rule, As::Value, Some(0.0), &nothing);
        assert_eq!(verdict, Verdict::NotJudged("the trace is missing".to_owned()));
    }
    // A rule that does not fit what was measured is no verdict either.
    let misfit = judge(&Rule::Sign { above: true }, As::Value, None, &Measured::Number(1.0));
    assert_eq!(misfit.name(), "not judged");
    let misfit = judge(&Rule::Number, As::Value, Some(1.0), &Measured::Order(Vec::new()));
    assert_eq!(misfit.name(), "not judged");
}
