//! The papers at quick scale, against what they are expected to give: a drift must be explained where it is accepted.
//! Those whose quick runs take more than some seconds are run by `make soak`.

use crate::program::root;
use std::path::Path;
use std::process::Command;

/// Papers whose quick runs are long: half a minute of processor time, some of them.
const LONG: &[&str] = &[
    "boundedread",
    "evanesco",
    "longlive",
    "read_disturb",
    "redftl",
    "redftl_plus",
    "rhs",
    "straw",
    "vertrace",
];

/// Without runs of drives: tables that `wordline lab check` holds.
const TABLES: &[&str] = &["characterization"];

fn assert_expected(paper: &str) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("papers").join(paper);
    let done = Command::new(env!("CARGO_BIN_EXE_wordline"))
        .current_dir(root())
        .args(["reproduce", paper, "--quick", "--check", "--force", "--out"])
        .arg(out)
        .output()
        .expect("the program runs");
    let (text, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{text}\n{errors}");
    assert!(text.contains("as expected"), "{text}");
}

macro_rules! quick {
    ($($paper:ident)+) => {
        const QUICK: &[&str] = &[$(stringify!($paper)),+];
        $(#[test]
        fn $paper() {
            assert_expected(stringify!($paper));
        })+
    };
}

quick! { fastcopy hire ids pds psr realwear separators voltage_heat worn_drive }

#[test]
fn every_paper_is_run_here_or_by_the_soak() {
    let entries = std::fs::read_dir(root().join("papers")).expect("the papers");
    let folders = entries.map(|entry| entry.expect("a folder").path()).filter(|path| path.is_dir());
    let mut found: Vec<String> =
        folders.map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    found.sort();
    let mut known: Vec<&str> = [QUICK, LONG, TABLES].concat();
    known.sort_unstable();
    assert_eq!(found, known);
}
