//! Claims of blocks alone, drives that are written to their end, and workloads on drives of their own age.

use crate::reproduce::{CLAIMS, EXPERIMENT, paper};
use lab::characterize::{check, fleet};
use lab::reproduce::{Measured, Options, Outcome, Paper};
use std::path::Path;

const LABORATORIES: &str = r#"
[[laboratory]]
name = "population"
what = "check"
part = "tlc_48l"
chips = 8
blocks = 10
quick_chips = 4
[[laboratory]]
name = "short"
what = "fleet"
part = "tlc_48l"
marker = "real_wear"
drives = 2
blocks = 12
dwell_minutes = 1.0
spare_percent = 7.0
limits = [1_000, 8_000]
[[laboratory]]
name = "long"
what = "fleet"
part = "tlc_48l"
marker = "real_wear"
drives = 2
blocks = 12
dwell_minutes = 60.0
spare_percent = 7.0
limits = [1_000, 8_000]
"#;

const OF_LABORATORIES: &str = r#"
[[claim]]
id = "life"
where = "figure 3"
text = "mean life"
laboratory = "population"
finding = "mean life, dwell 1 min (K cycles)"
claimed = 12.3
kind = "number"
basis = "fitted"
[[claim]]
id = "more"
where = "figure 4"
text = "writes more"
laboratory = ["short", "long"]
finding = "real_wear, age levelled: over 8000 cycles (x)"
claimed = 1.0
kind = "sign"
side = "above"
basis = "evidence"
"#;

/// The experiment without the workload whose trace is in no folder.
fn experiment() -> String {
    let none = EXPERIMENT.replace("[[workload]]\nname = \"absent\"\ntrace = \"no-such-trace.csv.zst\"\n", "");
    none + LABORATORIES
}

fn run(folder: &Path, quick: bool) -> Outcome {
    let paper = Paper::load(folder).unwrap_or_else(|error| panic!("{error}"));
    let out = folder.parent().expect("a folder above").join("out");
    let options = Options { quick, seed: 1, jobs: 2, resume: false, out, traces: Vec::new() };
    let outcome = paper.run(&options, &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    outcome
}

fn refused(name: &str, experiment: &str, claims: &str) -> String {
    let folder = paper(name, experiment, claims);
    let options =
        Options { quick: true, seed: 1, jobs: 2, resume: false, out: folder.join("out"), traces: Vec::new() };
    match Paper::load(&folder) {
        Err(error) => error.to_string(),
        Ok(paper) => match paper.run(&options, &|_| {}) {
            Err(error) => error.to_string(),
            Ok(outcome) => outcome.failed.concat(),
        },
    }
}

/// Numbers of claims are those that `lab check` and `lab fleet` find, of several the mean.
#[test]
fn claims_of_blocks_alone_are_lines_of_the_laboratory() {
    let claims = CLAIMS.to_owned() + OF_LABORATORIES;
    let folder = paper("laboratory", &experiment(), &claims);
    let outcome = run(&folder, false);
    let plan = check::Plan { seed: 1, chips: 8, blocks: 10, cells: 0, part: Some("tlc_48l") };
    let lines = check::run(&plan).expect("a shipped part").findings;
    let life = lines.iter().find(|line| line.quantity.starts_with("mean life, dwell 1 min")).expect("a line");
    let of = |dwell_minutes: f64| {
        let plan = fleet::Plan {
            part: "tlc_48l",
            marker: "real_wear".to_owned(),
            drives: 2,
            blocks: 12,
            dwell_minutes,
            limits: vec![1_000, 8_000],
            spare_percent: 7.0,
            seed: 1,
        };
        let outcomes = fleet::live(&plan).expect("a shipped part").outcomes;
        outcomes[3].cycles[0] / outcomes[1].cycles[0]
    };
    let wanted = [life.measured.expect("a number"), (of(1.0) + of(60.0)) / 2.0];
    for ((finding, wanted), pairs) in outcome.findings[3..].iter().zip(wanted).zip([1, 2]) {
        let Measured::Number(found) = finding.measured else { panic!("{finding:?}") };
        assert!((found - wanted).abs() < 1e-9, "{finding:?}: {wanted}");
        assert_eq!((finding.verdict.name(), finding.pairs), ("met", pairs));
    }
    // Quick runs are held to their numbers.
    let quick = run(&folder, true);
    assert_ne!(quick.laboratories[0], outcome.laboratories[0]);
    assert_eq!(quick.laboratories[1..], outcome.laboratories[1..]);
    let text = quick.toml(None);
    std::fs::write(folder.join("expected_quick.toml"), &text).expect("a file");
    let paper = Paper::load(&folder).expect("a paper");
    assert_eq!(paper.check(&quick).expect("expectations"), []);
    let line = "\"real_wear, age levelled: cycles\" = ";
    assert!(text.contains(line), "{text}");
    std::fs::write(folder.join("expected_quick.toml"), text.replacen(line, &format!("{line}1"), 1))
        .expect("a file");
    let drifts = paper.check(&quick).expect("expectations");
    assert!(matches!(drifts.as_slice(), [one] if one.what == "short: real_wear, age levelled: cycles"));
}

#[test]
fn laboratories_with_mistakes_are_refused_with_their_place() {
    let cases: [(&str, &str, &[&str]); 8] = [
        ("what = \"check\"", "what = \"chek\"", &["laboratory[1].what", "did you mean \"check\""]),
        ("part = \"tlc_48l\"", "part = \"tlc\"", &["laboratory[1].part", "no such cell part", "tlc_48l"]),
        ("chips = 8\n", "", &["laboratory[1].chips", "1 to 100,000"]),
        ("chips = 8\n", "chips = 0\n", &["laboratory[1].chips", "found 0"]),
        ("marker = \"real_wear\"", "marker = \"none\"", &["laboratory[2].marker", "real_wear"]),
        ("dwell_minutes = 1.0", "dwell_minutes = 0.1", &["laboratory[2].dwell_minutes", "from 1 to 10000"]),
        ("limits = [1_000, 8_000]", "limits = [0]", &["laboratory[2].limits", "1 to 20,000"]),
        ("spare_percent = 7.0", "sparing = 7.0", &["laboratory[2]", "spare_percent"]),
    ];
    for (number, (old, new, words)) in cases.into_iter().enumerate() {
        assert!(LABORATORIES.contains(old), "{old}");
        let said = refused(&format!("lab-{number}"), &experiment().replacen(old, new, 1), CLAIMS);
        assert!(words.iter().all(|word| said.contains(word)), "{new}: {said}");
    }
    let cases: [(&str, &str, &[&str]); 4] = [
        (
            "laboratory = \"population\"",
            "laboratory = \"city\"",
            &["laboratory", "city", "population, short"],
        ),
        ("dwell 1 min (K", "dwell 2 min (K", &["claim \"life\"", "has no line", "mean life, dwell 1 min"]),
        ("laboratory = [\"short\", \"long\"]", "laboratory = []", &["empty list"]),
        ("kind = \"number\"", "study = \"copies\"\nkind = \"number\"", &["of a laboratory and of a study"]),
    ];
    for (number, (old, new, words)) in cases.into_iter().enumerate() {
        assert!(OF_LABORATORIES.contains(old), "{old}");
        let claims = CLAIMS.to_owned() + &OF_LABORATORIES.replacen(old, new, 1);
        let said = refused(&format!("lab-claim-{number}"), &experiment(), &claims);
        assert!(words.iter().all(|word| said.contains(word)), "{new}: {said}");
    }
}

/// A drive whose blocks end after 20 cycles, written until it takes no more; and one whose cells are older by the
/// workload's own steps.
#[test]
fn drives_are_written_to_their_end() {
    let ends = |name: &str, cycles: u32| {
        let set = format!("[[technique]]\nname = \"{name}\"\nset = [");
        let more = "\"host.buffer.policy=none\", \"ftl.age_marker.policy=pe_cycles\"";
        (set.clone(), format!("{set}{more}, \"ftl.age_marker.max_cycles={cycles}\", "))
    };
    let fixed = [
        ("read_percent = 100.0\nsize_bytes = 16384\ncount = 1000", "read_percent = 0.0\ncount = 1_000_000"),
        ("steps = [\"cycle to 500\"]", "steps = []"),
        ("steps = [\"cycle to 2000\"]", "steps = []"),
        ("name = \"even\"", "name = \"even\"\nsteps = [\"cycle to 2000\"]"),
        ("config = [\"drive.toml\"]", "config = [\"drive.toml\"]\nages = [\"young\"]\nuntil_worn = true"),
    ];
    let fixed = fixed.map(|(old, new)| (old.to_owned(), new.to_owned()));
    let worn = fixed.into_iter().chain([ends("early", 2_020), ends("late", 2_040)]);
    let worn = worn.fold(experiment(), |text, (old, new)| {
        assert!(text.contains(&old), "{old}");
        text.replacen(&old, &new, 1)
    });
    let claims = CLAIMS.replace("pages_copied", "tb_written");
    let folder = paper("worn", &worn, &claims);
    let drive = std::fs::read_to_string(folder.join("drive.toml")).expect("a file");
    let requests = |count: &str| {
        let drive = drive.replace("requests = 6000", &format!("requests = {count}"));
        std::fs::write(folder.join("drive.toml"), drive).expect("a file");
    };
    // Of 20 cycles are 11,520 pages.
    requests("2000");
    let short = Paper::load(&folder).expect("a paper");
    let out = folder.parent().expect("a folder above").join("out");
    let options = Options { quick: false, seed: 1, jobs: 2, resume: false, out, traces: Vec::new() };
    let failed = short.run(&options, &|_| {}).expect("an outcome").failed.concat();
    assert!(failed.contains("ran out before the drive wore out"), "{failed}");
    requests("1_000_000");
    let outcome = run(&folder, false);
    let written = |technique: &str| {
        let cell = outcome.cells.iter().find(|cell| cell.place.technique == technique).expect("a cell");
        assert_eq!(cell.result.preconditioning.age_steps, Vec::<String>::new());
        (cell.metrics["tb_written"], cell.metrics["erases"] / 12.0)
    };
    // Of the steps 2,000 cycles are gone; 20 or 40 are left to 12 blocks, the last of them to few.
    let ((early, few), (late, many)) = (written("early"), written("late"));
    assert!((15.0..=20.0).contains(&few) && (35.0..=40.0).contains(&many), "{few} {many}");
    assert!((late / early - many / few).abs() < 0.1 * many / few, "{early} {late}");
}
