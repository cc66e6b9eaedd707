//! Mistakes in a paper's files: each error names file, line and key, and what is allowed.

use crate::reproduce::{CLAIMS, EXPERIMENT, paper};
use lab::reproduce::{Paper, papers};

/// The error of a paper with one text replaced by another.
fn wrong(name: &str, file: &str, old: &str, new: &str) -> String {
    let replace = |text: &str, is_it: bool| {
        assert!(!is_it || text.contains(old), "{old}");
        if is_it { text.replacen(old, new, 1) } else { text.to_owned() }
    };
    let experiment = replace(EXPERIMENT, file == "experiment.toml");
    let claims = replace(CLAIMS, file == "claims.toml");
    let folder = paper(name, &experiment, &claims);
    Paper::load(&folder).expect_err(&format!("{old} -> {new}")).to_string()
}

#[test]
fn claims_with_mistakes_are_refused_with_their_place() {
    // What is replaced, by what, and what the error must say: the line first.
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "kind = \"number\"",
            "kind = \"nummer\"",
            &["claims.toml:13: claim[1].kind", "no such kind", "did you mean \"number\""],
        ),
        (
            "kind = \"number\"",
            "kind = 3",
            &["claims.toml:13: claim[1].kind", "the number 3", "text in quotes"],
        ),
        ("basis = \"evidence\"", "", &["claim[1].basis", "found nothing", "evidence, fitted, tautology"]),
        (
            "basis = \"evidence\"",
            "basis = \"evidense\"",
            &["claims.toml:14: claim[1].basis", "did you mean \"evidence\""],
        ),
        ("basis = \"evidence\"", "basis = 1", &["claims.toml:14: claim[1].basis", "text in quotes"]),
        (
            "basis = \"evidence\"",
            "basis = \"evidence\"\ntolerance = 10",
            &["claims.toml:15: claim[1].tolerance", "one rule applies to all claims", "factor of 1.25"],
        ),
        (
            "basis = \"evidence\"",
            "basis = \"evidence\"\nside = \"above\"",
            &["claims.toml:15: claim[1].side", "kind = \"sign\""],
        ),
        ("claimed = 75.0", "claimed = inf", &["claims.toml:11", "a finite number"]),
        ("claimed = 75.0", "", &["claim[1].claimed", "found nothing"]),
        (
            "metric = \"pages_copied\"",
            "metric = \"pages_copyed\"",
            &["claims.toml:7: claim[1].metric", "did you mean \"pages_copied\""],
        ),
        (
            "as = \"reduction\"",
            "as = \"redaction\"",
            &["claims.toml:10: claim[1].as", "did you mean \"reduction\""],
        ),
        ("against = \"early\"", "", &["claim[1].against", "reduction"]),
        ("technique = \"late\"", "technique = \"lat\"", &["claim \"fewer\"", "technique", "early, late"]),
        ("study = \"copies\"", "study = \"copy\"", &["claim \"fewer\"", "study", "copies"]),
        (
            "unit = \"%\"",
            "unti = \"%\"",
            &["claims.toml:12: claim[1].unti", "unknown key", "did you mean \"unit\""],
        ),
        ("id = \"order\"", "id = \"fewer\"", &["\"fewer\" twice"]),
        (
            "kind = \"order\"\nbasis = \"tautology\"\norder = [\"late\", \"early\"]",
            "technique = \"early\"\nagainst = \"late\"\nas = \"reduction\"\nclaimed = 75.0\nkind = \"number\"\n\
             basis = \"evidence\"",
            &["\"fewer\" and \"order\" are evidence", "counts once"],
        ),
        (
            "order = [\"late\", \"early\"]",
            "order = [\"late\"]",
            &["claims.toml:23: claim[2].order", "fewer than two"],
        ),
        (
            "order = [\"late\", \"early\"]",
            "order_of_workloads = [\"late\"]",
            &["claims.toml:23: claim[2].order_of_workloads", "fewer than two workloads"],
        ),
        (
            "order = [\"late\", \"early\"]",
            "order = [\"late\", \"early\"]\norder_of_workloads = [\"a\", \"b\"]",
            &["claim[2].order", "one of the two"],
        ),
        (
            "order = [\"late\", \"early\"]",
            "technique = \"late\"\norder_of_workloads = [\"no\", \"such\"]",
            &["claim \"order\"", "workloads", "\"no\""],
        ),
        ("order = [\"late\", \"early\"]", "order = [\"late\", \"never\"]", &["claim \"order\"", "\"never\""]),
        ("not_judged = \"it needs a crystal ball\"", "", &["claims.toml:24: claim[3].study", "not_judged"]),
        ("id = \"fewer\"", "id = fewer", &["claims.toml:3", "TOML"]),
    ];
    refused("claims", cases);
}

/// Each text replaced by another in `claims.toml` is an error that says so much.
fn refused(name: &str, cases: &[(&str, &str, &[&str])]) {
    for (old, new, says) in cases {
        let error = wrong(name, "claims.toml", old, new);
        for text in *says {
            assert!(error.contains(text), "{old} -> {new}: expected {text:?} in:\n{error}");
        }
    }
}

#[test]
fn limits_and_constants_with_mistakes_are_refused_with_their_place() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "basis = \"evidence\"",
            "basis = \"evidence\"\ntake = \"mots\"",
            &["claims.toml:15: claim[1].take", "mean, means, most, least", "did you mean \"most\""],
        ),
        (
            "kind = \"number\"",
            "kind = \"interval\"",
            &["claims.toml:11: claim[1].claimed", "the number 75", "a list of numbers"],
        ),
        ("claimed = 75.0", "claimed = [80, 75]", &["claims.toml:11: claim[1].claimed", "a number"]),
        (
            "kind = \"number\"",
            "kind = \"limit\"\nside = \"above\"",
            &["claims.toml:14: claim[1].side", "no such side", "at_most, at_least"],
        ),
        (
            "basis = \"evidence\"",
            "basis = \"evidence\"\nfirst_of_workloads = [\"a\", \"b\"]",
            &["claims.toml:15: claim[1].first_of_workloads", "kind = \"order\""],
        ),
        (
            "not_judged = \"it needs a crystal ball\"",
            "not_judged = \"later\"\n[[constant]]\nkey = \"seed\"\nfile = \"drive.toml\"\nwhy = \"so\"\nclaims = \"fewer\"",
            &["claims.toml:32: constant", "claim \"fewer\" is evidence", "\"seed\" was chosen by it"],
        ),
        (
            "not_judged = \"it needs a crystal ball\"",
            "not_judged = \"later\"\n[[constant]]\nkey = \"seed\"\nfile = \"drive.toml\"\nwhy = \"so\"\nclaims = \"fwer\"",
            &["claims.toml:32: constant", "did you mean \"fewer\""],
        ),
    ];
    refused("limits", cases);
}

#[test]
fn experiments_with_mistakes_are_refused_with_their_place() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("title = \"a test\"", "", &["title", "found nothing"]),
        ("[[technique]]\nname = \"early\"", "[[technique]]\nname = \"late\"", &["\"late\" twice"]),
        (
            "name = \"early\"",
            "name = \"../early\"",
            &["experiment.toml:4: technique[1].name", "letters, digits"],
        ),
        ("cycle to 500", "cycle two 500", &["experiment.toml:11", "age[1].steps", "cycle two 500"]),
        ("pattern = \"uniform\"", "pattern = \"unifrom\"", &["experiment.toml:18", "pattern", "uniform"]),
        ("trace = \"no-such-trace.csv.zst\"", "", &["workload[2].trace", "neither trace nor spec"]),
        (
            "quick_ages = [\"young\"]",
            "quick_ages = [\"yuong\"]",
            &["experiment.toml:28: study[1].quick_ages", "did you mean \"young\""],
        ),
        (
            "config = [\"drive.toml\"]",
            "confg = [\"drive.toml\"]",
            &["experiment.toml:27: study[1].confg", "did you mean \"config\""],
        ),
        ("kind = \"bars\"", "kind = \"bar\"", &["figure[1].kind", "did you mean \"bars\""]),
        ("metrics = [\"pages_copied\"]", "metrics = []", &["figure[1].metrics", "one metric for bars"]),
        ("default_percent = 0", "default_percent = \"none\"", &["check.default_percent", "a number"]),
    ];
    for (old, new, says) in cases {
        let error = wrong("experiments", "experiment.toml", old, new);
        for text in *says {
            assert!(error.contains(text), "{old} -> {new}: expected {text:?} in:\n{error}");
        }
    }
}

#[test]
fn papers_are_folders_with_an_experiment() {
    let folder = paper("listed", EXPERIMENT, CLAIMS);
    let all = folder.parent().expect("a folder above");
    std::fs::create_dir_all(all.join("notes")).expect("a folder");
    assert_eq!(papers(all).expect("a list"), ["paper"]);
    assert!(papers(&all.join("nowhere")).expect_err("no folder").to_string().contains("nowhere"));
    let error = Paper::load(&all.join("notes")).expect_err("no files").to_string();
    assert!(error.contains("experiment.toml") && error.contains("cannot read"), "{error}");
}

#[test]
fn the_papers_that_ship_can_be_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let names = papers(&folder).expect("the folder of papers");
    assert!(names.iter().any(|name| name == "straw"), "{names:?}");
    for name in names {
        let paper = Paper::load(&folder.join(&name)).unwrap_or_else(|error| panic!("{error}"));
        assert!(!paper.claims.is_empty(), "{name}");
    }
}
