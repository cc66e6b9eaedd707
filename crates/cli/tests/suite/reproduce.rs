//! `wordline reproduce`.

use crate::program::{children_of, finish, folder, kill, root, start, wordline, wordline_in};
use std::path::{Path, PathBuf};

const DRIVE: &str = "\
[drive]
over_provisioning_percent = 100.0
[nand.geometry]
channels = 1
chips_per_channel = 1
planes_per_die = 1
blocks_per_plane = 12
wordlines_per_block = 16
[ftl.mapping]
unit = \"page\"
[ftl.cleaning]
reserve_blocks = 3
[run]
overwrite = \"none\"
executor = \"functional\"
requests = 6000
";

const EXPERIMENT: &str = "\
title = \"a test\"
[[technique]]
name = \"early\"
set = [\"ftl.read_reclaim.policy=block\", \"ftl.read_reclaim.max_reads=100\"]
[[technique]]
name = \"late\"
set = [\"ftl.read_reclaim.policy=block\", \"ftl.read_reclaim.max_reads=400\"]
[[age]]
name = \"now\"
[[workload]]
name = \"even\"
[workload.spec]
pattern = \"uniform\"
read_percent = 100.0
size_bytes = 16384
count = 6000
[[study]]
name = \"copies\"
config = [\"drive.toml\"]
[[figure]]
name = \"copies\"
title = \"copies\"
study = \"copies\"
kind = \"bars\"
metrics = [\"pages_copied\"]
[[figure]]
name = \"lost\"
title = \"lost\"
study = \"copies\"
kind = \"bars\"
metrics = [\"lost_units\"]
";

const CLAIMS: &str = "\
[[claim]]
id = \"more\"
where = \"figure 1\"
text = \"late copies more\"
study = \"copies\"
metric = \"pages_copied\"
technique = \"late\"
against = \"early\"
as = \"increase\"
claimed = 0
unit = \"%\"
kind = \"sign\"
side = \"above\"
basis = \"evidence\"
";

/// A folder of papers with one in it.
fn papers(name: &str) -> PathBuf {
    let papers = folder(name).join("papers");
    let paper = papers.join("tiny");
    std::fs::create_dir_all(&paper).unwrap();
    for (file, text) in [("drive.toml", DRIVE), ("experiment.toml", EXPERIMENT), ("claims.toml", CLAIMS)] {
        std::fs::write(paper.join(file), text).unwrap();
    }
    papers
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_claim_that_is_missed_is_a_result_and_no_failure() {
    let papers = papers("reproduce_missed");
    let out = text(&papers.parent().unwrap().join("out"));
    let papers = text(&papers);
    let run = ["reproduce", "tiny", "--papers", &papers, "--out", &out, "--date", "2026-11-21"];
    let done = wordline(&run).ok();
    for says in
        ["claimed", "measured", "> 0 %", "missed", "not above 0", "0 met, 1 missed, 0 not judged; 2 runs"]
    {
        assert!(done.out.contains(says), "{says} in:\n{}", done.out);
    }
    assert!(done.err.is_empty(), "no progress in a pipe: {}", done.err);
    let folder = Path::new(&out).join("tiny/full");
    let results = std::fs::read_to_string(folder.join("results.toml")).unwrap();
    assert!(
        results.contains("date = \"2026-11-21\"") && results.contains("verdict = \"missed\""),
        "{results}"
    );
    assert!(folder.join("copies-now.svg").is_file());
    assert!(!folder.join("lost-now.svg").exists(), "zeros are no plot");
    // Once more, taking over what is there: the same results, and no plots but this run's own.
    for name in ["lost-now.svg", "lost-now.pdf", "lost-then.svg", "own.svg"] {
        std::fs::write(folder.join(name), "old").unwrap();
    }
    let list = folder.join(".wordline.files");
    let listed = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, listed + "reproduce\tlost-now.svg\nreproduce\tlost-now.pdf\n").unwrap();
    let again = wordline(&[&run[..], &["--resume", "--jobs", "1"]].concat()).ok();
    assert!(again.out.contains("2 runs, 2 of them from before"), "{}", again.out);
    assert_eq!(std::fs::read_to_string(folder.join("results.toml")).unwrap(), results);
    let is_there = |name: &str| folder.join(name).exists();
    assert_eq!(
        ["lost-now.svg", "lost-now.pdf", "lost-then.svg", "own.svg"].map(is_there),
        [false, false, true, true]
    );
}

#[test]
fn quick_runs_are_checked_against_what_is_expected() {
    let papers = papers("reproduce_check");
    let out = text(&papers.parent().unwrap().join("out"));
    let expected = papers.join("tiny/expected_quick.toml");
    let papers = text(&papers);
    let check = ["reproduce", "--quick", "--check", "--force", "--papers", &papers, "--out", &out];
    wordline(&check).fails(2, &["sentences.toml: sentence", "no sentence makes claim \"more\""]);
    let sentence = "document = \"000\"\n[[sentence]]\nwhere = \"1\"\ntext = \"more\"\nclaims = [\"more\"]\n";
    std::fs::write(Path::new(&papers).join("tiny/sentences.toml"), sentence).unwrap();
    wordline(&check).fails(2, &["expected_quick.toml", "cannot read"]);
    let results = std::fs::read_to_string(Path::new(&out).join("tiny/quick/results.toml")).unwrap();
    std::fs::write(&expected, &results).unwrap();
    assert!(wordline(&check).ok().out.contains("as expected"));
    std::fs::write(&expected, results.replacen("verdict = \"missed\"", "verdict = \"met\"", 1)).unwrap();
    wordline(&check).fails(1, &["tiny: claim more", "expected: met", "found:    missed"]);
    // Nor is what the user has put among it, whatever is asked.
    let notes = Path::new(&out).join("tiny/quick/cells/notes");
    std::fs::write(&notes, "mine").unwrap();
    wordline(&check).fails(1, &["tiny: claim more"]);
    assert_eq!(std::fs::read(&notes).unwrap(), b"mine");
    // What has been measured is not thrown away unasked.
    let unasked: Vec<&str> = check.into_iter().filter(|flag| *flag != "--force").collect();
    wordline(&unasked).fails(2, &["found:   earlier results of tiny", "--resume", "--force"]);
}

/// Runs are done by processes of their own: whichever of them is killed, what comes of the paper is the same.
#[test]
fn a_process_that_is_killed_costs_nothing() {
    let papers = papers("reproduce_killed");
    let experiment = EXPERIMENT.replace("count = 6000", "count = 400000");
    std::fs::write(papers.join("tiny/experiment.toml"), experiment).unwrap();
    std::fs::write(papers.join("tiny/drive.toml"), DRIVE.replace("requests = 6000\n", "")).unwrap();
    let out = |name: &str| text(&papers.parent().unwrap().join(name));
    let [at, whole, killed] = [text(&papers), out("whole"), out("killed")];
    let args = |out| ["reproduce", "--papers", &at, "--jobs", "2", "--out", out];
    wordline(&args(&whole)).ok();
    let child = start(&root(), &args(&killed));
    let mut kills = 0;
    let cells = Path::new(&killed).join("tiny/full/cells");
    while kills < 1 {
        let is_running = Path::new(&killed).join("tiny/full/drives").is_dir() && !cells.is_dir();
        if let Some(worker) = children_of(child.id()).first().filter(|_| is_running) {
            kill("-9", *worker);
            kills += 1;
        }
        assert!(!cells.is_dir(), "it was over before anything was killed");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    finish(child, &args(&killed)).ok();
    let results = |out: &str| std::fs::read_to_string(Path::new(out).join("tiny/full/results.toml")).unwrap();
    assert_eq!(results(&killed), results(&whole));
}

/// A paper that claims nothing is run all the same.
#[test]
fn claims_are_optional() {
    let papers = papers("reproduce_unclaimed");
    std::fs::remove_file(papers.join("tiny/claims.toml")).unwrap();
    let out = text(&papers.parent().unwrap().join("out"));
    let done = wordline(&["reproduce", "--papers", &text(&papers), "--out", &out]).ok();
    assert!(done.out.contains("0 met, 0 missed, 0 not judged; 2 runs"), "{}", done.out);
}

#[test]
fn papers_are_listed_with_their_claims() {
    let done = wordline(&["reproduce", "--list"]).ok();
    for says in ["straw: ", "fig8-straw-ss-2k", "83.8 %", "IV, figure 8"] {
        assert!(done.out.contains(says), "{says} in:\n{}", done.out);
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let papers = papers("reproduce_wrong");
    let out = text(&papers.parent().unwrap().join("out"));
    let at = text(&papers);
    let run = |more: &[&str]| wordline(&[&["reproduce", "--papers", &at, "--out", &out], more].concat());
    run(&["tini"]).fails(2, &["no such paper", "tiny", "did you mean"]);
    run(&["--check"]).fails(2, &["--quick"]);
    run(&["--jobs", "0"]).fails(2, &["--jobs"]);
    run(&["--date", "today"]).fails(2, &["YYYY-MM-DD"]);
    wordline_in(&papers, &["reproduce"]).fails(2, &["papers", "--papers DIR"]);
    let paper = papers.join("tiny");
    let put = |file: &str, text: &str| std::fs::write(paper.join(file), text).unwrap();
    put("claims.toml", &CLAIMS.replace("kind = \"sign\"", "kind = \"sing\""));
    run(&["--list"]).fails(2, &["claims.toml:12: claim[1].kind", "did you mean \"sign\"?"]);
    put("claims.toml", CLAIMS);
    put("experiment.toml", &EXPERIMENT.replace("max_reads=100", "max_raeds=100"));
    run(&[]).fails(2, &["technique early", "max_raeds", "max_reads"]);
    put("experiment.toml", &EXPERIMENT.replace("drive.toml", "drvie.toml"));
    run(&[]).fails(2, &["drvie.toml", "cannot read"]);
    put("experiment.toml", EXPERIMENT);
    put("drive.toml", &DRIVE.replace("channels = 1", "chanels = 1"));
    run(&[]).fails(2, &["drive.toml:4", "chanels", "channels"]);
}
