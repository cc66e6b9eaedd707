//! The test binaries that cargo builds, and the tests in each.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A test binary.
pub struct Binary {
    /// Folder of its crate and what it is: `ssd/lib`, `ssd/suite`, `cli/wordline`.
    pub name: String,
    /// The package, as cargo calls it.
    pub package: String,
    /// The flag by which cargo chooses it: `--lib`, `--test suite`, `--bin wordline`.
    pub flag: String,
    /// The program.
    pub path: PathBuf,
    /// Where it runs: the folder of its package.
    pub directory: PathBuf,
}

/// The package whose unit tests are built apart.
const DRIVE: &str = "wordline-ssd";
/// How they are built.
const UNOPTIMISED: &str = "profile.dev.package.wordline-ssd.opt-level=0";

/// What is asked of cargo, one call after the other. Unit tests of the drive are built unoptimised: they need a second
/// build of it, which takes three times as long optimised, and what takes long to run is in its `suite`. A profile
/// knows packages alone, no targets, so that they take a call of their own; all others are built as `make demo` builds.
fn calls() -> [Vec<String>; 3] {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    [
        words(&["--package", DRIVE, "--lib", "--config", UNOPTIMISED]),
        words(&["--package", DRIVE, "--examples", "--test", "*"]),
        words(&["--workspace", "--exclude", DRIVE]),
    ]
}

/// Builds all tests of the workspace at a place.
pub fn binaries(root: &Path, target: &Path) -> Result<Vec<Binary>, String> {
    let mut found = Vec::new();
    for call in calls() {
        found.extend(built(root, target, &call)?);
    }
    Ok(found)
}

/// The test binaries that one call of cargo builds.
fn built(root: &Path, target: &Path, call: &[String]) -> Result<Vec<Binary>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).env("CARGO_TARGET_DIR", target);
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]).args(call);
    if std::env::var_os("CI").is_some() {
        command.arg("--locked");
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| format!("cargo does not run: {e}"))?;
    if !output.status.success() {
        return Err("the tests do not build".to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(binary).collect())
}

/// What a message of cargo says of a test binary; none if it is of something else.
fn binary(message: &str) -> Option<Binary> {
    if !message.contains("\"reason\":\"compiler-artifact\"") || !message.contains("\"test\":true}") {
        return None;
    }
    let path = PathBuf::from(text(message, "\"executable\":\"")?);
    let directory = PathBuf::from(text(message, "\"manifest_path\":\"")?).parent()?.to_owned();
    let kind = text(message, "\"kind\":[\"")?;
    // What stands before the target's name ends with its crate types.
    let name = text(&message[message.find("\"target\":")?..], "\"name\":\"")?;
    let folder = directory.file_name()?.to_string_lossy().into_owned();
    let package_id = text(message, "\"package_id\":\"")?;
    let package = package_id.rsplit(['#', '/']).next()?.split('@').next()?;
    let package =
        if package.starts_with(|c: char| c.is_ascii_digit()) { folder.clone() } else { package.to_owned() };
    let (called, flag) = match kind.as_str() {
        "test" => (name.clone(), format!("--test {name}")),
        "bin" => (name.clone(), format!("--bin {name}")),
        "lib" if package == DRIVE => ("lib".to_owned(), format!("--lib --config {UNOPTIMISED}")),
        "lib" => ("lib".to_owned(), "--lib".to_owned()),
        _ => return None,
    };
    Some(Binary { name: format!("{folder}/{called}"), package, flag, path, directory })
}

/// The string behind a key, as JSON writes it.
fn text(message: &str, key: &str) -> Option<String> {
    let begin = message.find(key)? + key.len();
    let mut found = String::new();
    let mut letters = message[begin..].chars();
    loop {
        match letters.next()? {
            '"' => return Some(found),
            '\\' => found.push(letters.next()?),
            letter => found.push(letter),
        }
    }
}

impl Binary {
    /// The tests in it.
    pub fn list(&self) -> Result<Vec<String>, String> {
        let output = self.command().args(["--list", "--format", "terse"]).output();
        let output = output.map_err(|error| format!("{} does not run: {error}", self.path.display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// The program where cargo would run it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.directory).env("CARGO_MANIFEST_DIR", &self.directory);
        command.stdin(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_binary_is_known_by_its_message() {
        let message = concat!(
            r#"{"reason":"compiler-artifact","package_id":"path+file:///x/crates/ssd#wordline-ssd@0.1.0","#,
            r#""manifest_path":"/x/crates/ssd/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"#,
            r#""name":"suite","src_path":"/x"},"profile":{"opt_level":"2","test":true},"features":[],"#,
            r#""executable":"/x/deps/suite-1","fresh":true}"#
        );
        let found = binary(message).expect("it is one");
        assert_eq!((found.name.as_str(), found.package.as_str()), ("ssd/suite", "wordline-ssd"));
        assert_eq!((found.flag.as_str(), found.path.to_str()), ("--test suite", Some("/x/deps/suite-1")));
        assert!(binary(&message.replace("\"test\":true", "\"test\":false")).is_none());
        // What is repeated is built as it was.
        let units = binary(&message.replace("[\"test\"]", "[\"lib\"]")).expect("it is one");
        assert_eq!((units.name, units.flag), ("ssd/lib".to_owned(), format!("--lib --config {UNOPTIMISED}")));
    }
}
