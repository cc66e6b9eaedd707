//! A small paper, run: the same whatever the number of threads, and never twice what is finished.

use crate::reproduce::{CLAIMS, EXPERIMENT, paper};
use lab::reproduce::{Cell, Measured, Options, Outcome, Paper};
use std::path::Path;
use std::sync::Mutex;

fn options(folder: &Path) -> Options {
    let out = folder.parent().expect("a folder above").join("out");
    Options { quick: false, seed: 1, jobs: 2, resume: false, out, traces: Vec::new() }
}

fn run(paper: &Paper, options: &Options) -> Outcome {
    let outcome = paper.run(options, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    outcome
}

fn load(name: &str, experiment: &str) -> Paper {
    Paper::load(&paper(name, experiment, CLAIMS)).unwrap_or_else(|error| panic!("{error}"))
}

/// The experiment without the workload whose trace is in no folder: no pair is missing.
fn whole() -> String {
    EXPERIMENT.replace("[[workload]]\nname = \"absent\"\ntrace = \"no-such-trace.csv.zst\"\n", "")
}

#[test]
fn claims_are_measured_over_all_cells() {
    let paper = load("measured", &whole());
    let outcome = run(&paper, &options(&paper.folder));
    // Two techniques, two ages, one workload.
    assert_eq!(outcome.cells.len(), 4);
    assert!(outcome.skipped.is_empty());
    let copied = |technique: &str, age: &str| {
        let cell = outcome.cells.iter().find(|c| c.place.technique == technique && c.place.age == age);
        cell.expect("a cell").metrics["pages_copied"]
    };
    // 6,000 reads of 6 blocks: each limit of 95 or 380 is reached so often by each block, give or take one.
    for age in ["young", "old"] {
        let rounds = copied("early", age) / (6.0 * 48.0);
        assert!((9.0..=11.0).contains(&rounds), "{rounds}");
        assert!(copied("late", age) > 0.0 && copied("late", age) < copied("early", age) / 3.0);
    }
    let ratio = |age: &str| copied("late", age) / copied("early", age);
    let Measured::Number(reduction) = outcome.findings[0].measured else { panic!("no number") };
    assert!((reduction - 100.0 * (1.0 - (ratio("young") + ratio("old")) / 2.0)).abs() < 1e-9);
    let found: Vec<(&str, usize)> =
        outcome.findings.iter().map(|finding| (finding.verdict.name(), finding.pairs)).collect();
    assert_eq!(found, [("met", 2), ("met", 2), ("not judged", 0)]);
    assert_eq!(outcome.findings[2].verdict.why(), "it needs a crystal ball");
    let table = outcome.table();
    for text in [
        "claimed",
        "measured",
        "75 %",
        "late < early",
        "2 met, 0 missed, 1 not judged",
        "met by basis: evidence 1 of 1, fitted 0 of 0, tautology 1 of 1",
        "  2  factor 1.25   evidence ",
    ] {
        assert!(table.contains(text), "{text} in:\n{table}");
    }
    let toml = outcome.toml(Some("2026-11-21"));
    for text in [
        "date = \"2026-11-21\"",
        "seed = 1",
        "commit = ",
        "verdict = \"not judged\"",
        "pages_copied = ",
        "basis = \"tautology\"",
        "\nn = 2\n",
    ] {
        assert!(toml.contains(text), "{text} in:\n{toml}");
    }
    let plots = outcome.plots(&paper.experiment);
    let names: Vec<&str> = plots.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["copies-young", "copies-old"]);
    for ((_, plot), age) in plots.iter().zip(["young", "old"]) {
        let svg = plot.svg();
        assert!(svg.ends_with("</svg>\n") && svg.contains("\"early\"") && svg.contains("\"Workload\""));
        // A bar's number, as it was measured.
        let (csv, value) = (plot.csv(), copied("early", age));
        assert!(csv.starts_with("workload,technique,pages_copied") && csv.contains(",early,"), "{csv}");
        assert!(csv.contains(&format!(",early,{value}\n")) || csv.contains("_over_"), "{csv}");
    }
}

#[test]
fn a_claim_of_several_techniques_or_of_means_counts_all_pairs() {
    let claim = |id: &str, keys: &str| {
        let fixed = "where = \"figure 1\"\ntext = \"so\"\nstudy = \"copies\"\nmetric = \"pages_copied\"";
        format!("[[claim]]\nid = {id:?}\n{fixed}\nbasis = \"evidence\"\n{keys}\n")
    };
    let both = "technique = [\"early\", \"late\"]\nas = \"value\"";
    let claims = [
        claim("mean", &format!("{both}\nkind = \"number\"\nclaimed = 1.0")),
        claim("most", &format!("{both}\nkind = \"number\"\nclaimed = 1.0\ntake = \"most\"")),
        claim("all", &format!("{both}\nkind = \"interval\"\nclaimed = [0.0, 10.0]")),
        claim(
            "means",
            "technique = \"late\"\nagainst = \"early\"\nas = \"ratio\"\ntake = \"means\"\nkind = \"interval\"\n\
             claimed = [0.2, 0.33]",
        ),
    ];
    let folder = paper("several", &whole(), &claims.concat());
    let paper = Paper::load(&folder).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&paper, &options(&paper.folder));
    let of = |technique: &str| -> Vec<f64> {
        let cells = outcome.cells.iter().filter(|cell| cell.place.technique == technique);
        cells.map(|cell| cell.metrics["pages_copied"]).collect()
    };
    let (early, late) = (of("early"), of("late"));
    let (few, many) = (late[0] + late[1], early[0] + early[1]);
    let most = early[0].max(early[1]);
    for (finding, (expected, pairs)) in
        outcome.findings.iter().zip([((few + many) / 4.0, 4), (most, 4), (most, 4), (few / many, 2)])
    {
        let Measured::Number(value) = finding.measured else { panic!("no number") };
        assert!((value - expected).abs() < 1e-9, "{}: {value}, not {expected}", finding.claim.id);
        assert_eq!(finding.pairs, pairs, "{}", finding.claim.id);
    }
    let names = outcome.findings.iter().map(|finding| finding.verdict.name()).collect::<Vec<_>>();
    assert_eq!(names, ["missed", "missed", "missed", "met"]);
}

#[test]
fn a_claim_is_not_judged_while_a_pair_is_missing() {
    let verdicts = |outcome: &Outcome| -> Vec<(String, usize)> {
        let each = outcome.findings.iter();
        each.map(|finding| (finding.verdict.name().to_owned(), finding.pairs)).collect()
    };
    let judged = |verdict: &str, pairs| (verdict.to_owned(), pairs);
    // A trace that is in no folder: half of the pairs.
    let paper = load("missing", EXPERIMENT);
    let outcome = run(&paper, &options(&paper.folder));
    assert_eq!((outcome.cells.len(), outcome.skipped.as_slice()), (4, ["absent".to_owned()].as_slice()));
    assert_eq!(verdicts(&outcome)[..2], [judged("not judged", 2), judged("not judged", 2)]);
    let why = "2 of 4 pairs: no pages_copied to compare of absent at young, absent at old";
    assert_eq!(outcome.findings[0].verdict.why(), why);
    assert!(matches!(outcome.findings[0].measured, Measured::Number(_)), "what there is is shown");
    assert!(outcome.table().contains("skipped: workload absent"));
    // The claim that leaves it out is judged.
    let named = CLAIMS.replacen("as = \"reduction\"", "as = \"reduction\"\nworkloads = [\"even\"]", 1);
    std::fs::write(paper.folder.join("claims.toml"), named).expect("a file");
    let paper = Paper::load(&paper.folder).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&paper, &Options { resume: true, ..options(&paper.folder) });
    assert_eq!(verdicts(&outcome)[..2], [judged("met", 2), judged("not judged", 2)]);
    // A technique to compare with that copies nothing is a pair less, too.
    let paper = load("nothing", &whole().replace("max_reads=100\"", "max_reads=1000000\""));
    let outcome = run(&paper, &options(&paper.folder));
    assert_eq!(verdicts(&outcome)[0], judged("not judged", 0));
}

#[test]
fn results_are_the_same_whatever_the_threads_and_others_with_another_seed() {
    let paper = load("threads", EXPERIMENT);
    let with = |jobs, seed| run(&paper, &Options { jobs, seed, ..options(&paper.folder) });
    let one = with(1, 1);
    assert_eq!(one, with(3, 1));
    let hash = |outcome: &Outcome| outcome.cells[0].result.event_hash.clone();
    assert_ne!(hash(&one), hash(&with(2, 2)));
}

#[test]
fn a_run_goes_on_where_it_stopped() {
    let paper = load("resumed", EXPERIMENT);
    let options = Options { jobs: 1, ..options(&paper.folder) };
    // Killed after two cells: the panic of a progress function ends the run as a signal would.
    let done = Mutex::new(0);
    let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        paper.run(&options, &|at| {
            if at.what == "running" {
                *done.lock().expect("no panic while it is held") = at.done;
                assert!(at.done < 2, "killed, on purpose");
            }
        })
    }));
    assert!(killed.is_err() && *done.lock().expect("no panic") == 2);
    let cells = paper.out(&options).join("cells");
    let modified = |name: &std::ffi::OsStr| {
        std::fs::metadata(cells.join(name)).expect("a file").modified().expect("a time")
    };
    let kept: Vec<_> = std::fs::read_dir(&cells)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let before: Vec<_> = kept.iter().map(|name| modified(name)).collect();
    let resumed = run(&paper, &Options { resume: true, ..options.clone() });
    assert_eq!((resumed.resumed, resumed.cells.len()), (2, 4));
    assert_eq!(before, kept.iter().map(|name| modified(name)).collect::<Vec<_>>(), "they were not run again");
    assert!(resumed.table().contains("2 of them from before"));
    // The same as in one go; and all over again without resume.
    let fresh = run(&paper, &options);
    assert_eq!(fresh.resumed, 0);
    assert_eq!((fresh.cells, fresh.findings), (resumed.cells, resumed.findings));
}

#[test]
fn what_has_changed_is_run_again() {
    let first = load("changed", EXPERIMENT);
    let options = Options { resume: true, ..options(&first.folder) };
    assert_eq!(run(&first, &options).resumed, 0);
    assert_eq!(run(&first, &options).resumed, 4);
    assert_eq!(run(&first, &Options { seed: 9, ..options.clone() }).resumed, 0);
    run(&first, &options);
    // Another limit for one technique: its cells are run again, the other's are not.
    let changed = EXPERIMENT.replace("max_reads=400", "max_reads=300");
    std::fs::write(first.folder.join("experiment.toml"), changed).expect("a file");
    let second = Paper::load(&first.folder).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run(&second, &options).resumed, 2);
    // A damaged file is not a finished cell.
    let cells = first.out(&options).join("cells");
    std::fs::write(cells.join("copies-early-even-old.json"), "{").expect("a file");
    assert_eq!(run(&second, &options).resumed, 3);
    // Nor is that of another program, be it the same commit with changes.
    let other = cells.join("copies-late-even-old.json");
    let text = std::fs::read_to_string(&other).expect("a file");
    let changed = text.replacen("; drive ", "-dirty-01234567; drive ", 1);
    assert_ne!(changed, text);
    std::fs::write(&other, changed).expect("a file");
    assert_eq!(run(&second, &options).resumed, 3);
}

#[test]
fn quick_runs_are_held_to_their_expectations() {
    let paper = load("expected", &whole());
    let options = Options { quick: true, ..options(&paper.folder) };
    let outcome = run(&paper, &options);
    assert_eq!(outcome.cells.len(), 2, "one age at quick scale");
    let expected = paper.folder.join("expected_quick.toml");
    assert!(paper.check(&outcome).expect_err("no file").to_string().contains("expected_quick.toml"));
    let text = outcome.toml(None);
    std::fs::write(&expected, &text).expect("a file");
    assert_eq!(paper.check(&outcome), Ok(Vec::new()));
    // One page more, a verdict, a cell that is no longer run.
    let found = outcome.cells[0].metrics["pages_copied"];
    let drifted = text
        .replacen(&format!("pages_copied = {found:?}"), &format!("pages_copied = {:?}", found + 1.0), 1)
        .replacen("verdict = \"met\"", "verdict = \"missed\"", 1)
        + "\n[[cell]]\nstudy = \"copies\"\ntechnique = \"gone\"\nworkload = \"even\"\nage = \"old\"\n";
    std::fs::write(&expected, drifted).expect("a file");
    let what: Vec<String> =
        paper.check(&outcome).expect("a file").into_iter().map(|drift| drift.what).collect();
    assert_eq!(what, ["copies-early-even-young: pages_copied", "copies-gone-even-old", "claim fewer"]);
}

/// The numbers of the figure at the greater age.
fn csv(outcome: &Outcome, paper: &Paper) -> String {
    let plots = outcome.plots(&paper.experiment);
    plots.iter().find(|(stem, _)| stem == "copies-old").expect("a plot").1.csv().to_owned()
}

/// As the tables and figures of a sweep.
#[test]
fn runs_with_problems_are_marked_in_tables_figures_and_results() {
    let paper = load("problems", &whole());
    let mut outcome = run(&paper, &options(&paper.folder));
    let files = |outcome: &Outcome| (outcome.table(), outcome.toml(None), csv(outcome, &paper));
    let (table, results, figure) = files(&outcome);
    assert!(!table.contains("problems") && !results.contains("problems ="), "{table}");
    let column =
        |csv: &str| csv.lines().map(|line| line.rsplit(',').next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(column(&figure), ["problems", "", "", "", ""]);
    let set = |outcome: &mut Outcome, technique: &str, problems: &[&str]| {
        let is_it = |cell: &&mut Cell| cell.place.technique == technique && cell.place.age == "old";
        let cell = outcome.cells.iter_mut().find(is_it).expect("a cell");
        cell.problems = problems.iter().map(|name| (*name).to_owned()).collect();
    };
    set(&mut outcome, "late", &["overloaded", "several_regimes"]);
    let (table, results, figure) = files(&outcome);
    for told in
        ["problems: 1 of 4 overloaded, 1 not stationary", "(or)\n", "(o) overloaded, (r) not stationary"]
    {
        assert!(table.contains(told), "{told}: {table}");
    }
    assert_eq!(results.matches("problems = [\"overloaded\", \"several_regimes\"]").count(), 1, "{results}");
    // Bars over another technique's are as doubtful as either; the means, as all that they are of.
    assert_eq!(column(&figure), ["problems", "", "or", "", "or"]);
    set(&mut outcome, "late", &[]);
    set(&mut outcome, "early", &["overloaded"]);
    assert_eq!(column(&files(&outcome).2), ["problems", "o", "o", "o", "o"]);
    // Results with problems are read as others are.
    std::fs::write(paper.folder.join("results.toml"), &results).expect("written");
    let judged =
        paper.judged_anew("results.toml").unwrap_or_else(|error| panic!("{error}")).expect("results");
    assert!(judged.anew.contains("problems = [\"overloaded\", \"several_regimes\"]"), "{}", judged.anew);
}
