//! `wordline lab`.

use crate::program::{folder, root, shell, wordline};

#[test]
fn the_check_prints_and_keeps_its_table() {
    let folder = folder("lab_check");
    let out = folder.join("kept").display().to_string();
    let check = ["lab", "check", "--quick", "--part", "mlc", "--cells", "1000", "--date", "1 May"];
    let kept = wordline(&[&check[..], &["--out", &out]].concat()).ok();
    for text in ["claimed", "measured", "pages lost when the LSB page", "7.4", " met", "not judged"] {
        assert!(kept.out.contains(text), "{text} in:\n{}", kept.out);
    }
    assert_eq!(wordline(&check).ok().out, kept.out);
    let toml = std::fs::read_to_string(folder.join("kept/results.toml")).unwrap();
    assert!(toml.contains("date = \"1 May\"") && toml.contains("verdict = \"met\""), "{toml}");
    assert!(folder.join("kept/results.md").exists());
}

#[test]
fn a_part_is_characterized_in_tables_and_plots() {
    let folder = folder("lab_characterize");
    // SLC has one page type and no table of retries: two of the plots would show nothing.
    for (part, plots) in [("tlc_48l", 16), ("slc", 14)] {
        std::fs::create_dir(folder.join(part)).unwrap();
        for name in ["retries_by_retention.svg", "own.svg"] {
            std::fs::write(folder.join(part).join(name), "old").unwrap();
        }
        let list = folder.join(part).join(".wordline.files");
        std::fs::write(list, "lab characterize\tretries_by_retention.svg\n").unwrap();
        let out = folder.join(part).display().to_string();
        let done = wordline(&[
            "lab",
            "characterize",
            "--part",
            part,
            "--chips",
            "4",
            "--blocks",
            "5",
            "--quick",
            "--date",
            "the 1 of May",
            "--force",
            "--out",
            &out,
        ]);
        let done = done.ok();
        let ends = |ending: &str| done.out.lines().filter(|path| path.ends_with(ending)).count();
        // Seven plots show other numbers than all those of their tables.
        let counts = (ends(".csv"), ends(".parquet"), ends(".svg"), ends(".pdf"), ends(".txt"));
        assert_eq!(counts, (13 + 7, 13, plots, plots, plots), "{}", done.out);
        let all = 13 + 7 + 13 + 3 * plots + 1;
        assert_eq!((ends("provenance.json"), done.out.lines().count()), (1, all), "{}", done.out);
        // A plot of an earlier run goes; what is none of ours stays.
        let old = std::fs::read_to_string(folder.join(part).join("retries_by_retention.svg"));
        assert_eq!(old.is_ok_and(|svg| svg.starts_with("<svg")), part == "tlc_48l");
        assert_eq!(folder.join(part).join("retries_by_retention.svg").exists(), part == "tlc_48l");
        assert!(folder.join(part).join("own.svg").exists());
        for path in done.out.lines() {
            let content = std::fs::read(path).unwrap();
            if path.ends_with(".parquet") {
                assert!(content.starts_with(b"PAR1") && content.ends_with(b"PAR1"), "{path}");
                assert!(content.windows(10).any(|own| own == b"the 1 of May".get(..10).unwrap()), "{path}");
                continue;
            }
            if path.ends_with(".pdf") {
                assert!(content.starts_with(b"%PDF-1."), "{path}");
                continue;
            }
            let text = String::from_utf8(content).unwrap();
            assert!(!text.is_empty() && !text.contains("NaN") && !text.contains("inf"), "{path}:\n{text}");
        }
        let csv = std::fs::read_to_string(folder.join(part).join("n12.csv")).unwrap();
        assert_eq!(csv.lines().count(), 1 + 3 * 17, "{csv}");
    }
}

#[test]
fn wrong_arguments_of_the_laboratory_are_told() {
    wordline(&["lab", "check", "--part", "tlc_48"]).fails(2, &["tlc_48", "did you mean \"tlc_48l\"?", "qlc"]);
    let characterize = ["lab", "characterize", "--out", "unused", "--part"];
    wordline(&[&characterize[..], &["slk"]].concat()).fails(2, &["slk", "did you mean \"slc\"?"]);
    wordline(&["lab", "chek"]).fails(2, &["chek", "check"]);
    wordline(&["lab", "check", "--cells", "0"]).fails(2, &["--cells"]);
    wordline(&["lab", "check", "--qick"]).fails(2, &["--quick"]);
}

/// The regions of Evanesco's design spaces, and what is lost in five years.
#[test]
fn the_design_spaces_of_locks_are_shown() {
    let folder = folder("lab_locks");
    let out = folder.join("kept").display().to_string();
    let locks = ["lab", "locks", "--flags", "100000"];
    let shown = wordline(&[&locks[..], &["--out", &out]].concat()).ok();
    for text in ["47.29 %", "candidate, chosen", "3.84e-7 in 5 years", "4.2 would answer", "90 days", "never"]
    {
        assert!(shown.out.contains(text), "{text} in:\n{}", shown.out);
    }
    assert_eq!(wordline(&locks).ok().out, shown.out);
    let table = std::fs::read_to_string(folder.join("kept/page_locks.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 15, "{table}");
    assert!(folder.join("kept/block_locks.svg").exists());
    wordline(&["lab", "locks", "--cells", "8"]).fails(2, &["--cells", "odd number"]);
}

/// The stacks of threads that have no room stand for a machine that has no more threads: the work is done all the
/// same, by the thread that is there, or the command says what it lacks. A panic is neither.
#[test]
fn without_threads_the_same_comes_out_or_the_lack_is_told() {
    let folder = folder("threadless");
    let fleet = "$WORDLINE lab fleet --drives 3";
    let none = "RUST_MIN_STACK=70368744177664";
    let usual = shell(&folder, fleet).ok().out;
    assert_eq!(shell(&folder, &format!("{none} {fleet}")).ok().out, usual);
    let told = "no thread can be started";
    shell(&folder, &format!("{none} $WORDLINE worker < /dev/null")).fails(1, &[told]);
}

/// The price of trying all keys of a paper, and one of them tried. What is wrong with names is told.
#[test]
fn a_paper_is_tried_with_other_values() {
    let folder = folder("lab_sensitivity");
    let out = folder.join("kept").display().to_string();
    let papers = root().join("papers").display().to_string();
    let sensitivity = ["lab", "sensitivity", "ids", "--papers", &papers, "--out", &out];
    let told = wordline(&[&sensitivity[..], &["--price"]].concat()).ok();
    assert!(told.out.contains("ids: ") && told.out.contains("one after the other"), "{}", told.out);
    let one = [&sensitivity[..], &["--only", "host.buffer"]].concat();
    let tried = wordline(&one).ok();
    for text in ["decided by", "host.buffer.", " = ", "as before"] {
        assert!(tried.out.contains(text), "{text} in:\n{}", tried.out);
    }
    let kept = std::fs::read_to_string(folder.join("kept/ids/sensitivity.toml")).unwrap();
    assert!(kept.contains("only = [\"host.buffer\"]") && kept.contains("outcome = \"judged\""), "{kept}");
    assert!(!folder.join("kept/ids/runs").exists());
    wordline(&one).fails(2, &["--force"]);
    wordline(&["lab", "sensitivity", "idz", "--papers", &papers]).fails(2, &["idz", "did you mean \"ids\"?"]);
    let wrong = [&sensitivity[..], &["--force", "--only", "host.bufer"]].concat();
    wordline(&wrong).fails(2, &["host.bufer", "did you mean \"host.buffer\"?"]);
}
