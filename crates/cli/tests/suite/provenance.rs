//! Whose results they are: what is not committed is no commit's.

use crate::program::folder;

#[allow(dead_code, reason = "the rest is the build scripts'")]
mod script {
    include!("../../commit.rs");
}
use script::{commit_of, git};
use std::path::Path;

fn commit(top: &Path) -> String {
    commit_of(top).unwrap_or_else(|| panic!("{}: no commit", top.display()))
}

fn write(top: &Path, file: &str, text: &str) {
    let path = top.join(file);
    std::fs::create_dir_all(path.parent().expect("a folder above")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

#[test]
fn a_changed_tree_is_not_its_commit() {
    let top = folder("provenance");
    let run = |arguments: &[&str]| git(&top, arguments).unwrap_or_else(|| panic!("git {arguments:?}"));
    assert_eq!(commit_of(Path::new("/")), None);
    run(&["init", "-q"]);
    write(&top, "crates/a/src/a.rs", "one");
    write(&top, "Cargo.toml", "two");
    write(&top, "papers/results.toml", "three");
    run(&["add", "."]);
    run(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "commit.gpgsign=false",
        "commit",
        "-qm",
        "first",
    ]);
    let clean = commit(&top);
    assert!(clean.len() == 12 && clean.bytes().all(|byte| byte.is_ascii_hexdigit()), "{clean}");
    // Results are written while papers run: they are not what is compiled.
    write(&top, "papers/results.toml", "measured");
    assert_eq!(commit(&top), clean);
    // Nor is what tests it, known to git or not.
    for text in ["a test", "another"] {
        write(&top, "crates/a/tests/a.rs", text);
        write(&top, "crates/a/benches/a.rs", text);
        assert_eq!(commit(&top), clean);
    }
    // Two changes differ from the commit and from each other, and so does a file that git does not know yet.
    let mut seen = vec![clean.clone()];
    for text in ["changed", "changed again"] {
        write(&top, "crates/a/src/a.rs", text);
        seen.push(commit(&top));
    }
    write(&top, "crates/a/src/a.rs", "one");
    for text in ["new", "newer"] {
        write(&top, "crates/a/src/b.rs", text);
        seen.push(commit(&top));
    }
    assert!(seen[1..].iter().all(|other| other.starts_with(&format!("{clean}-dirty-"))), "{seen:?}");
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5, "{seen:?}");
    std::fs::remove_file(top.join("crates/a/src/b.rs")).expect("a file");
    assert_eq!(commit(&top), clean);
}
