//! What is tagged as assumed or fitted, and what hangs on it.

use crate::reproduce::{DRIVE, EXPERIMENT, all, paper, top};
use lab::reproduce::sensitivity::{FILE, Hang, Outcome, Report, SEEDS, Sensitivity, SoFar, Tag};
use lab::reproduce::{Options, Paper};
use std::cell::RefCell;
use std::path::Path;

/// Claims on what a technique copies, which as many reads decide, and on who copies less, which nothing does.
const CLAIMS: &str = r#"
[[claim]]
id = "copies"
where = "figure 1"
text = "pages copied"
study = "copies"
metric = "pages_copied"
technique = "early"
as = "value"
workloads = ["even"]
claimed = 2880
unit = "pages"
kind = "number"
basis = "fitted"
[[claim]]
id = "order"
where = "figure 1"
text = "late copies less"
study = "copies"
metric = "pages_copied"
workloads = ["even"]
kind = "order"
basis = "evidence"
order = ["late", "early"]
[[claim]]
id = "elsewhere"
where = "figure 2"
text = "cannot be run"
claimed = 1
kind = "number"
basis = "fitted"
not_judged = "it needs a crystal ball"
"#;

fn options(folder: &Path, quick: bool) -> Options {
    Options { quick, seed: 1, jobs: 2, resume: true, out: folder.join("runs"), traces: Vec::new() }
}

/// A paper with an assumed number of requests, one of a load, and one of blocks that can hardly be another.
fn tagged() -> Paper {
    let load = "count = 1000";
    let folder = paper("sensitivity", &EXPERIMENT.replace(load, &format!("{load} # requests [A]")), CLAIMS);
    let drive = DRIVE
        .replace("requests = 6000", "requests = 6000 # [A]")
        .replace("blocks_per_plane = 12", "blocks_per_plane = 12 # [F] to figure 1")
        .replace("unit = \"page\"", "unit = \"page\" # [P] section 3; 4 KiB [A]");
    std::fs::write(folder.join("drive.toml"), drive).unwrap();
    Paper::load(&folder).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn half_and_twice_of_what_is_assumed_turn_the_claims_that_hang_on_it() {
    let paper = tagged();
    let out = paper.folder.parent().unwrap().to_owned();
    let mut all = Sensitivity::plan(&paper, &options(&out, true)).unwrap_or_else(|error| panic!("{error}"));
    // The cells are those of a shipped part, whose tags are many.
    assert!(
        all.tagged.iter().any(|it| it.key == "cell.states.mean_v" && it.file == "presets/cell/tlc_48l.toml")
    );
    all.tagged.retain(|it| !it.key.starts_with("cell."));
    let told: Vec<_> = all.tagged.iter().map(|it| (it.key.as_str(), it.file.as_str(), it.tag)).collect();
    let expected = [
        ("nand.geometry.blocks_per_plane", "drive.toml", Tag::Fitted),
        ("run.requests", "drive.toml", Tag::Assumed),
        ("workload.count", "experiment.toml", Tag::Assumed),
    ];
    assert_eq!(told, expected);
    assert!(all.tagged.iter().all(|it| it.claims == ["copies", "order"]), "{:?}", all.tagged);
    let said = RefCell::new(Vec::new());
    let tell = |at: SoFar<'_>| said.borrow_mut().push((at.what.to_owned(), at.done, at.total));
    let base = all.base(&tell).unwrap();
    // Two techniques at one age; the workload whose trace is nowhere judges nothing.
    assert_eq!((base.runs, base.findings.len()), (2, SEEDS as usize));
    assert!(all.price(&base) > 0.0);
    let mut tried = all.run(&base, &tell).unwrap();
    let turned = |key: usize| -> Vec<&Outcome> { tried[key].trials.iter().map(|it| &it.outcome).collect() };
    let Outcome::Refused(why) = turned(0)[0] else { panic!("{:?}", turned(0)) };
    assert!(why.contains("blocks_per_plane"), "{why}");
    let copies = Outcome::Judged(vec!["copies".to_owned()]);
    assert_eq!(turned(1), [&copies, &copies]);
    assert_eq!(turned(2), [&Outcome::Judged(Vec::new()); 2]);
    assert!(said.borrow().contains(&("run.requests".to_owned(), 2, 6)), "{said:?}");
    // Without results at full scale nothing can be compared with them.
    let error = all.run_in_full(&mut tried, &tell).unwrap_err().to_string();
    assert!(error.contains("results.toml"), "{error}");
    let report = all.report(&base, &tried).unwrap();
    assert!(!out.join("runs").exists());
    let hangs: Vec<Hang> = report.claims.iter().map(|claim| report.hangs(claim)).collect();
    let Hang::Keys(keys) = &hangs[0] else { panic!("{hangs:?}") };
    assert!(keys.contains(&("run.requests".to_owned(), "3000 or 12000".to_owned())), "{keys:?}");
    assert_eq!(hangs[1..], [Hang::Nothing, Hang::NotJudged]);
    let table = report.table();
    for text in [
        "\n  run.requests (3000 or 12000)",
        "  nothing\n",
        "  500: as before",
        "elsewhere: it needs a crystal ball",
    ] {
        assert!(table.contains(text), "{text} in:\n{table}");
    }
    std::fs::write(out.join(FILE), report.toml()).unwrap();
    assert_eq!(Report::read(&out.join(FILE)).unwrap(), report);
    let some = Report { only: vec!["run".to_owned()], ..report.clone() }.markdown(&|_| None);
    assert!(some.contains("- Met whatever of these we assume: `order`."), "{some}");
    let section = report.markdown(&|id| (id == "order").then(|| "missed".to_owned()));
    for text in
        ["3 keys", "- Met whatever we assume: `order` (missed at full scale).", "hangs on `run.requests`"]
    {
        assert!(section.replace("\n  ", " ").contains(text), "{text} in:\n{section}");
    }
}

/// Other cells get a marker of their own; what they had it fitted to is no constant.
#[test]
fn markers_are_fitted_again_to_other_cells() {
    let late = "\"ftl.read_reclaim.max_reads=400\"";
    let marked = EXPERIMENT.replace(late, &format!("{late}, \"ftl.age_marker.policy=real_wear\""));
    let folder = paper("fitted_again", &marked, CLAIMS);
    let paper = Paper::load(&folder).unwrap_or_else(|error| panic!("{error}"));
    let out = paper.folder.parent().unwrap().to_owned();
    let mut all = Sensitivity::plan(&paper, &options(&out, true)).unwrap_or_else(|error| panic!("{error}"));
    let keys = [
        "cell.disturb.slope",
        "cell.markers.fitted_on",
        "cell.observables.erase_base",
        "cell.population.quality_high",
    ];
    all.tagged.retain(|it| keys.contains(&it.key.as_str()));
    assert_eq!(all.tagged.iter().map(|it| it.tries.len()).collect::<Vec<_>>(), [2, 0, 2, 2]);
    let base = all.base(&|_| {}).unwrap();
    let tried = all.run(&base, &|_| {}).unwrap();
    let fitted: Vec<Vec<bool>> =
        tried.iter().map(|it| it.trials.iter().map(|trial| trial.fitted_again).collect()).collect();
    // What reads do is not among what a marker is fitted to; blocks that cannot be are refused before.
    assert_eq!(fitted, [vec![false; 2], vec![], vec![true; 2], vec![true, false]]);
    assert_eq!(base.fits, 3);
    let outcomes = |key: usize| tried[key].trials.iter().map(|trial| &trial.outcome);
    assert!(outcomes(2).all(|outcome| matches!(outcome, Outcome::Judged(_))), "{:?}", tried[2]);
    assert!(outcomes(3).any(|outcome| matches!(outcome, Outcome::Refused(why) if why.contains("n12_span"))));
    let report = all.report(&base, &tried).unwrap();
    std::fs::write(out.join(FILE), report.toml()).unwrap();
    assert_eq!(Report::read(&out.join(FILE)).unwrap(), report);
    assert!(report.table().contains(": age marker fitted again, "), "{}", report.table());
    let section = report.markdown(&|_| None);
    assert!(section.contains("For 3 of them the age marker was fitted again"), "{section}");
}

/// From each tag to the claims that it can decide, by what studies resolve to: what `claims.toml` says was chosen by
/// claims is set where these are judged.
#[test]
fn tags_lead_to_the_claims_that_hang_on_them() {
    let (mut links, mut chosen) = (0, 0);
    for paper in all() {
        let found = Sensitivity::plan(&paper, &options(&top(), false));
        let found = found.unwrap_or_else(|error| panic!("papers/{}: {error}", paper.name)).tagged;
        for tagged in &found {
            assert!(!tagged.claims.is_empty(), "papers/{}: {} decides nothing", paper.name, tagged.key);
            links += tagged.claims.len();
        }
        let is_judged = |id: &String| {
            paper.claims.iter().any(|it| it.id == *id && it.not_judged.is_none() && it.measure.is_some())
        };
        for constant in &paper.constants {
            let what = format!("papers/{}: {} of {}", paper.name, constant.key, constant.file);
            let own = found.iter().filter(|it| {
                it.file == constant.file
                    && it.tag == Tag::Fitted
                    && it.key.rsplit('.').next() == Some(&constant.key)
            });
            let reached: Vec<&String> = own.flat_map(|it| &it.claims).collect();
            if reached.is_empty() {
                // Of blocks alone, or set by techniques: `[D]` too.
                continue;
            }
            for id in constant.claims.iter().filter(|id| is_judged(id)) {
                assert!(reached.contains(&id), "{what}: {id} is judged without it");
                chosen += 1;
            }
        }
    }
    assert!(links > 5000 && chosen > 20, "{links} and {chosen}");
}

/// What stands before and behind what a README says of it.
const BEGIN: &str =
    "\n## Sensitivity\n\n<!-- written by a test (WORDLINE_DOCS=write) from sensitivity.toml -->\n\n";
const END: &str = "\n<!-- end of what is written -->\n";

/// `WORDLINE_DOCS=write` writes it. What was tried is what is tagged now, and claims are those that there are.
#[test]
fn readmes_end_with_what_verdicts_hang_on() {
    let writes = std::env::var_os("WORDLINE_DOCS").is_some_and(|value| value == "write");
    for paper in all() {
        let path = paper.folder.join(FILE);
        if !path.exists() {
            continue;
        }
        let name = format!("papers/{}/{FILE}", paper.name);
        let report = Report::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let stored = report.claims.iter().map(|claim| &claim.id);
        let now = paper.claims.iter().map(|claim| &claim.id);
        assert_eq!(stored.collect::<Vec<_>>(), now.collect::<Vec<_>>(), "{name}: the claims");
        let mut now = Sensitivity::plan(&paper, &options(&top(), report.quick)).unwrap().tagged;
        now.retain(|it| {
            report.only.is_empty() || report.only.iter().any(|only| it.key.starts_with(only.as_str()))
        });
        let stored = report.keys.iter().map(|it| (&it.key, &it.file, it.tag.as_str(), &it.value));
        let now = now.iter().map(|it| (&it.key, &it.file, it.tag.letter(), &it.value));
        assert_eq!(stored.collect::<Vec<_>>(), now.collect::<Vec<_>>(), "{name}: what is tagged");
        let results = std::fs::read_to_string(paper.folder.join("results.toml")).unwrap();
        let in_full = |id: &str| {
            let (_, rest) = results.split_once(&format!("\nid = {id:?}\n"))?;
            let verdict = rest.lines().find_map(|line| line.strip_prefix("verdict = \""))?;
            Some(verdict.trim_end_matches('"').to_owned())
        };
        let readme = paper.folder.join("README.md");
        let text = std::fs::read_to_string(&readme).unwrap();
        let before = text.split(BEGIN).next().unwrap();
        let expected = format!("{before}{BEGIN}{}{END}", report.markdown(&in_full));
        if writes {
            std::fs::write(&readme, &expected).unwrap();
        }
        let is_current = writes || text == expected;
        assert!(is_current, "{} is stale: WORDLINE_DOCS=write writes it anew", readme.display());
    }
}
