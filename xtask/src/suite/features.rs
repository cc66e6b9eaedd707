//! Builds share what they have in common: that of `make demo`, of the Python package, and the three calls by which the
//! tests are built ([`super::build`]). Where one asks a library for another feature, it and all that stands on it is
//! built once more.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What each build asks cargo for, as `cargo tree` takes it.
const BUILDS: [(&str, &[&str]); 5] = [
    ("demo", &["--workspace", "--exclude", "xtask", "--edges", "normal,build"]),
    ("python", &["--package", "wordline-python", "--edges", "normal,build"]),
    ("the drive's tests", &["--package", "wordline-ssd", "--edges", "normal,build,dev"]),
    ("other tests", &["--workspace", "--exclude", "wordline-ssd", "--edges", "normal,build,dev"]),
    ("tests", &["--workspace", "--edges", "normal,build,dev"]),
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
    let [demo, python, drive, others, tests] = BUILDS.map(|(name, build)| (name, crates(build)));
    assert!(demo.1.len() > 50 && demo.1.iter().any(|line| line.starts_with("wordline-lab ")));
    for (name, build) in [demo, python, drive, others] {
        let alone: Vec<&String> = build.difference(&tests.1).collect();
        assert!(
            alone.is_empty(),
            "only the build of {name} has {alone:#?}, and that of the tests has others"
        );
    }
}
