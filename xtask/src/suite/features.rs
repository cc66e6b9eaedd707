//! Three builds share what they have in common: that of `make demo`, of the tests and of the Python package. Where one
//! asks a library for another feature, it and all that stands on it is built once more.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What each build asks cargo for, as `cargo tree` takes it.
const BUILDS: [(&str, &[&str]); 3] = [
    ("demo", &["--workspace", "--exclude", "xtask", "--edges", "normal"]),
    ("python", &["--package", "wordline-python", "--edges", "normal"]),
    ("tests", &["--workspace", "--edges", "normal,dev"]),
];

/// All crates of a build, with their features.
fn crates(build: &[&str]) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["tree", "--offline", "--format", "{p} {f}", "--prefix", "none"]);
    let output = command.arg("--no-dedupe").args(build).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.trim_end_matches(" (*)").trim().to_owned()).collect()
}

#[test]
fn no_crate_is_built_for_one_build_alone() {
    let [demo, python, tests] = BUILDS.map(|(_, build)| crates(build));
    assert!(demo.len() > 50 && demo.iter().any(|line| line.starts_with("wordline-lab ")));
    for (name, build) in [(BUILDS[0].0, demo), (BUILDS[1].0, python)] {
        let alone: Vec<&String> = build.difference(&tests).collect();
        assert!(
            alone.is_empty(),
            "only the build of {name} has {alone:#?}, and that of the tests has others"
        );
    }
}
