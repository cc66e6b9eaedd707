//! Phases that are measured each for itself, and runs with several seeds.

use crate::reproduce::{CLAIMS, EXPERIMENT, paper};
use lab::reproduce::{Cell, Measured, Options, Outcome, Paper};
use std::path::Path;

/// Half the drive written, all of it read 1000 times, a quarter written elsewhere, read 500 times.
const PHASES: &str = r#"
[[workload]]
name = "turns"
[workload.spec]
[[workload.spec.phases]]
name = "fill"
pattern = "uniform"
read_percent = 0.0
size_bytes = 16384
until_drive_writes = 0.5
[[workload.spec.phases]]
name = "first"
pattern = "uniform"
read_percent = 100.0
size_bytes = 16384
until_drive_reads = 1000
[[workload.spec.phases]]
name = "more"
pattern = "uniform"
read_percent = 0.0
size_bytes = 16384
seed = 2
until_drive_writes = 0.25
[[workload.spec.phases]]
name = "second"
pattern = "uniform"
read_percent = 100.0
size_bytes = 16384
until_drive_reads = 500
[[study]]
name = "copies"
config = ["drive.toml"]
workloads = ["turns"]
ages = ["old"]
"#;

/// The experiment with these phases and a study that says this, all of the workload served.
fn experiment(study: &str) -> String {
    let (head, rest) = EXPERIMENT.split_once("[[workload]]").expect("workloads");
    let (_, tail) = rest.split_once("[[figure]]").expect("a figure");
    let whole = head.replace("set = [", "set = [\"run.requests=0\", ");
    format!("{whole}{PHASES}{study}\n[[figure]]{tail}")
}

fn options(folder: &Path) -> Options {
    let out = folder.parent().expect("a folder above").join("out");
    Options { quick: false, seed: 1, jobs: 2, resume: false, out, traces: Vec::new() }
}

fn run(name: &str, study: &str, seed: u64) -> Outcome {
    let paper = load(name, study);
    let outcome = paper.run(&Options { seed, ..options(&paper.folder) }, &|_| {});
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    outcome
}

fn load(name: &str, study: &str) -> Paper {
    Paper::load(&paper(name, &experiment(study), CLAIMS)).unwrap_or_else(|error| panic!("{error}"))
}

fn cell<'a>(outcome: &'a Outcome, technique: &str, phase: &str) -> &'a Cell {
    let mut all = outcome.cells.iter();
    let found = all.find(|cell| cell.place.technique == technique && cell.place.phase == phase);
    found.unwrap_or_else(|| panic!("no {technique} at {phase}"))
}

#[test]
fn phases_are_measured_each_for_itself() {
    let outcome = run("phases", "measured = [\"first\", \"second\"]", 1);
    assert_eq!(outcome.cells.len(), 4, "two techniques, two phases");
    let units = cell(&outcome, "late", "first").result.drive.logical_bytes / 16384;
    for (phase, times) in [("first", 1000), ("second", 500)] {
        let result = &cell(&outcome, "late", phase).result;
        assert_eq!((result.reads, result.writes), (times * units, 0), "{phase}");
    }
    // Each read of flash brings about as many copies: what was counted before a phase is in neither number.
    let per_read = |phase| {
        let metrics = &cell(&outcome, "early", phase).metrics;
        metrics["pages_copied"] / metrics["ftl.host_reads_by_type"]
    };
    let (first, second) = (per_read("first"), per_read("second"));
    assert!(first > 0.0 && (first / second - 1.0).abs() < 0.1, "{first}, {second}");
    // The drive went the same way as in a run of all that is not cut into pieces.
    let whole = run("phases-whole", "", 1);
    let end = cell(&outcome, "early", "second").result.event_hash.clone();
    assert_eq!(end, cell(&whole, "early", "").result.event_hash);
    // Claims are about the last phase, unless they name another.
    let reduction = |phase: &str| {
        let copied = |technique| cell(&outcome, technique, phase).metrics["pages_copied"];
        100.0 * (1.0 - copied("late") / copied("early"))
    };
    assert_eq!(outcome.findings[0].measured, Measured::Number(reduction("second")));
    let named = CLAIMS.replacen("as = \"reduction\"", "as = \"reduction\"\nphase = \"first\"", 1);
    let folder = paper("phase-named", &experiment("measured = [\"first\", \"second\"]"), &named);
    let paper = Paper::load(&folder).unwrap_or_else(|error| panic!("{error}"));
    let first = paper.run(&options(&folder), &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(first.findings[0].measured, Measured::Number(reduction("first")));
    // What is finished is taken over, phase by phase.
    let again = Options { resume: true, ..options(&folder) };
    let resumed = paper.run(&again, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((resumed.resumed, resumed.cells), (4, first.cells));
    let toml = outcome.toml(None);
    assert!(toml.contains("\nphase = \"first\"\n") && !toml.contains("seeds"), "{toml}");
}

#[test]
fn seeds_are_told_by_their_means_and_how_far_they_lie_apart() {
    let study = "measured = [\"second\"]\nseeds = 3";
    let three = run("seeds", study, 1);
    let alone: Vec<Outcome> =
        (1..=3).map(|seed| run(&format!("seed-{seed}"), "measured = [\"second\"]", seed)).collect();
    let told = |values: [f64; 3]| {
        let mean = values.iter().sum::<f64>() / 3.0;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        (mean, (squares / 2.0).sqrt())
    };
    for technique in ["early", "late"] {
        let of = |outcome: &Outcome| cell(outcome, technique, "second").metrics["pages_copied"];
        let (mean, spread) = told([of(&alone[0]), of(&alone[1]), of(&alone[2])]);
        let found = cell(&three, technique, "second");
        assert_eq!((found.metrics["pages_copied"], found.seeds.as_slice()), (mean, [1, 2, 3].as_slice()));
        let found = found.spread["pages_copied"];
        assert!(spread > 0.0 && (found - spread).abs() < 1e-9, "{technique}: {found}, {spread}");
    }
    let of = |outcome: &Outcome| match outcome.findings[0].measured {
        Measured::Number(value) => value,
        _ => panic!("no number"),
    };
    let (_, spread) = told([of(&alone[0]), of(&alone[1]), of(&alone[2])]);
    assert!((three.findings[0].spread.expect("three seeds") - spread).abs() < 1e-9);
    assert_eq!(alone[0].findings[0].spread, None);
    let (table, toml) = (three.table(), three.toml(None));
    assert!(table.contains(" +- ") && table.contains("; 6 runs"), "{table}");
    for text in ["\nspread = ", "\nseeds = [1, 2, 3]\n", "\nspread = { "] {
        assert!(toml.contains(text), "{text} in {toml}");
    }
    // Quick runs with seeds are held to expectations, too; a list says which seeds.
    let listed = load("seeds-listed", "measured = [\"second\"]\nseeds = [3, 1, 2]\nquick_seeds = 1");
    let full = listed.run(&options(&listed.folder), &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    let copied = |outcome: &Outcome| cell(outcome, "late", "second").metrics["pages_copied"];
    assert!((copied(&full) - copied(&three)).abs() < 1e-9);
    std::fs::write(listed.folder.join("expected_quick.toml"), full.toml(None)).expect("a file");
    assert_eq!(listed.check(&full), Ok(Vec::new()));
    let quick = Options { quick: true, ..options(&listed.folder) };
    let quick = listed.run(&quick, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(cell(&quick, "late", "second").seeds, [1]);
}

#[test]
fn curves_over_phases_have_a_point_for_each() {
    let study = "measured = [\"first\", \"second\"]\nmeasured_across = [50, 75]\n[[figure]]\nname = \"turns\"\n\
                 title = \"turns\"\nstudy = \"copies\"\nkind = \"series\"\nmetrics = [\"pages_copied\"]\nacross = \"written (%)\"";
    let paper = load("series", study);
    let outcome = paper.run(&options(&paper.folder), &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    let plots = outcome.plots(&paper.experiment);
    let (_, plot) = plots.iter().find(|(name, _)| name == "turns-old").expect("the curves");
    let csv = plot.csv();
    for (phase, across) in [("first", 50), ("second", 75)] {
        let copied = cell(&outcome, "early", phase).metrics["pages_copied"];
        assert!(csv.contains(&format!("early,{across},{copied}\n")), "{csv}");
    }
}

#[test]
fn studies_of_phases_with_mistakes_are_refused_with_their_place() {
    let measured = "measured = [\"first\"]";
    let cases = [
        ("measured = []", "study[1].measured", "found no phase"),
        ("measured = [\"frist\"]", "study[1].measured", "did you mean \"first\""),
        ("measured = [\"first\", \"first\"]", "study[1].measured", "\"first\" twice"),
        ("measured = 3", "study[1].measured", "a list of texts"),
        (
            &format!("{measured}\nwarm = {{ workload = \"turns\", requests = 9 }}"),
            "study[1].warm",
            "untimed, like one",
        ),
        (&format!("{measured}\nrepeat = 2"), "study[1].repeat", "beside measured"),
        (&format!("{measured}\nbound = true"), "study[1].bound", "beside measured"),
        (&format!("{measured}\nmeasured_across = [1, 2]"), "study[1].measured_across", "2 numbers for 1"),
        ("measured_across = [1]", "study[1].measured", "found no phase"),
        ("seeds = 0", "study[1].seeds", "how many, from 1"),
        ("seeds = []", "study[1].seeds", "an empty list"),
        ("seeds = [4, 5, 4]", "study[1].seeds", "4 twice"),
        ("seeds = [1, \"2\"]", "study[1].seeds", "whole numbers"),
    ];
    for (study, key, says) in cases {
        let error =
            Paper::load(&paper("phases-wrong", &experiment(study), CLAIMS)).expect_err(study).to_string();
        assert!(
            error.contains("experiment.toml:") && error.contains(key) && error.contains(says),
            "{study}: {error}"
        );
    }
    let wrong = |old: &str, new: &str| {
        let text = experiment(measured);
        assert!(text.contains(old), "{old}");
        let folder = paper("phases-wrong", &text.replacen(old, new, 1), CLAIMS);
        Paper::load(&folder).expect_err(new).to_string()
    };
    assert!(wrong("name = \"second\"", "name = \"first\"").contains("2 phases \"first\" of workload"));
    let plain = "[workload.spec]\npattern = \"uniform\"\n[[workload]]\nname = \"other\"\n[workload.spec]\n";
    let other = wrong("[workload.spec]\n", plain).replace('\n', " ");
    assert!(other.contains("workload \"turns\", which has no phases"), "{other}");
    let named = CLAIMS.replacen("as = \"reduction\"", "as = \"reduction\"\nphase = \"third\"", 1);
    let error = Paper::load(&paper("phases-wrong", &experiment(measured), &named)).expect_err("no phase");
    assert!(error.to_string().contains("\"third\"") && error.to_string().contains("first"), "{error}");
    // What only the drive's configuration says is refused before anything runs.
    let folder =
        paper("phases-limit", &experiment(measured).replace("run.requests=0", "run.requests=9"), CLAIMS);
    let paper = Paper::load(&folder).unwrap_or_else(|error| panic!("{error}"));
    let error = paper.run(&options(&folder), &|_| {}).expect_err("a limit").to_string();
    assert!(error.contains("study copies: measured") && error.contains("run.requests = 9"), "{error}");
}
