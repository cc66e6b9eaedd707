//! Runs beside what every policy must copy and beside what is copied without harm; curves over what workloads differ
//! in.

use crate::reproduce::{CLAIMS, paper};
use lab::reproduce::{Options, Paper};

const EXPERIMENT: &str = r#"
title = "a test"
[[technique]]
name = "early"
set = ["ftl.read_reclaim.policy=block"]
[[technique]]
name = "late"
set = ["ftl.read_reclaim.policy=lazy_exact", "ftl.read_reclaim.ahead_reads=1"]
[[technique]]
name = "unharmed"
set = [
    "ftl.read_reclaim.policy=never",
    "cell.disturb.erc_max=[1e10, 1e10, 1e10, 1e10]",
    "cell.disturb.top_erc=1.1e10",
]
[[age]]
name = "old"
steps = ["cycle to 2000"]
[[workload]]
name = "even"
across = 20
[workload.spec]
pattern = "uniform"
read_percent = 100.0
size_bytes = 16384
count = 1000
[[workload]]
name = "mixed"
across = 10
[workload.spec]
pattern = "uniform"
read_percent = 98.0
size_bytes = 16384
count = 1000
[[study]]
name = "copies"
config = ["drive.toml", "weak.toml"]
beyond = "unharmed"
bound = true
[[figure]]
name = "curve"
title = "copies"
study = "copies"
kind = "lines"
metrics = ["pages_copied_beyond"]
against = "early"
across = "reads in fifty"
"#;

/// Cells that stand so little that a run is many lives long.
const WEAK: &str = r#"
[cell.disturb]
erc_max = [3000.0, 2900.0, 2800.0, 2700.0]
top_erc = 3100.0
[host.buffer]
policy = "none"
[run]
requests = 120000
"#;

fn load(name: &str, experiment: &str) -> Result<Paper, String> {
    let folder = paper(name, experiment, CLAIMS);
    std::fs::write(folder.join("weak.toml"), WEAK).expect("a file");
    Paper::load(&folder).map_err(|error| error.to_string())
}

#[test]
fn every_run_is_held_against_what_it_must_copy() {
    let paper = load("bounded", EXPERIMENT).expect("a paper");
    let out = paper.folder.parent().expect("a folder above").join("out");
    let options = Options { quick: false, seed: 1, jobs: 2, resume: false, out, traces: Vec::new() };
    let outcome = paper.run(&options, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let of = |technique: &str, workload: &str, metric: &str| {
        let mut cells = outcome.cells.iter();
        let cell = cells.find(|c| c.place.technique == technique && c.place.workload == workload);
        cell.expect("a cell").metrics[metric]
    };
    for workload in ["even", "mixed"] {
        let without = of("unharmed", workload, "pages_copied_all");
        for technique in ["early", "late"] {
            let copied = of(technique, workload, "pages_copied_all");
            let bound = of(technique, workload, "copies_bound");
            println!("{technique} {workload}: {copied}, at least {bound:.0}, {without} without harm");
            assert_eq!(of(technique, workload, "uncorrectable"), 0.0);
            assert!(bound > 0.0 && bound <= copied, "{technique} {workload}: {bound} of {copied}");
            assert_eq!(of(technique, workload, "pages_copied_beyond"), copied - without);
        }
        // The future and the cells are the same, whatever the policy.
        assert_eq!(of("early", workload, "copies_bound"), of("late", workload, "copies_bound"));
        assert_eq!(of("unharmed", workload, "pages_copied_beyond"), 0.0);
        assert_eq!(of("unharmed", workload, "copies_bound"), 0.0);
    }
    assert!(of("early", "mixed", "copies_bound") < of("early", "even", "copies_bound"), "writes renew");
    let table = outcome.table();
    assert!(table.contains("at least") && table.contains("copies, old, late"), "{table}");
    let plots = outcome.plots(&paper.experiment);
    let [(name, plot)] = plots.as_slice() else { panic!("{} plots", plots.len()) };
    let csv = plot.csv();
    assert!(name == "curve-old" && csv.starts_with("curve,x,y\nearly,10,1\nearly,20,1\nlate,10,"), "{csv}");
    assert!(plot.svg().contains("reads in fifty"));
}

#[test]
fn a_bound_that_cannot_be_had_is_an_error() {
    for (from, to, expected) in [
        ("beyond = \"unharmed\"", "beyond = \"unarmed\"", "did you mean \"unharmed\"?"),
        ("bound = true", "bound = 1", "true or false"),
        ("across = \"reads in fifty\"", "", "what is on the horizontal axis"),
    ] {
        let error = load("unbounded", &EXPERIMENT.replace(from, to)).expect_err("it is wrong");
        assert!(error.contains(expected), "{error}");
    }
    let paper = load("half-full", EXPERIMENT).expect("a paper");
    std::fs::write(paper.folder.join("weak.toml"), "[run]\nfill_percent = 50.0\n").expect("a file");
    let out = paper.folder.parent().expect("a folder above").join("out");
    let options = Options { quick: false, seed: 1, jobs: 1, resume: false, out, traces: Vec::new() };
    let error = paper.run(&options, &|_| {}).expect_err("half of the units hold nothing").to_string();
    assert!(error.contains("study copies: bound") && error.contains("not completely filled"), "{error}");
}
