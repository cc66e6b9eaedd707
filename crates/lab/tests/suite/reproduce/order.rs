//! A set-up is committed before its results: what was chosen with the result in sight cannot pass for a prediction.

use crate::reproduce::{all, top};
use std::path::Path;
use std::process::Command;

/// Files that may come with results: what was measured, and how it is judged and told.
const WITH_RESULTS: [&str; 5] =
    ["results.toml", "expected_quick.toml", "claims.toml", "sentences.toml", "sensitivity.toml"];

/// What git prints; nothing where it fails, as without history.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(top()).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A file as a commit has it; nothing where it has none.
fn file(commit: &str, path: &str) -> Option<String> {
    git(&["show", &format!("{commit}:{path}")])
}

/// What a file sets, line by line: comments and blanks say nothing.
fn settings(text: &str) -> Vec<String> {
    let told = text.lines().map(|line| line.split(" #").next().unwrap_or_default());
    let told = told.filter(|line| !line.starts_with('#'));
    told.map(|line| line.split_whitespace().collect()).filter(|line: &String| !line.is_empty()).collect()
}

/// The sentences that fix a set-up, as a commit has them; none where it has no such file.
fn fixing(commit: &str, folder: &str) -> Option<Vec<String>> {
    let sentences = file(commit, &format!("{folder}/sentences.toml"))?;
    let fixing = sentences.split("[[sentence]]").skip(1).filter(|sentence| sentence.contains("studies = "));
    Some(fixing.flat_map(settings).filter(|line| line.starts_with("text=")).collect())
}

/// The commit that brought the results of a folder, and its parent. `None` if they are not committed yet.
fn brought(folder: &str) -> Option<(String, String)> {
    let path = format!("{folder}/results.toml");
    let results = std::fs::read_to_string(top().join(&path)).ok()?;
    let measured = results.lines().find(|line| line.starts_with("commit = "))?;
    let found = git(&["log", "--format=%H", &format!("-S{measured}"), "--", &path])?;
    let commit = found.lines().last()?.to_owned();
    let parent = git(&["rev-parse", "--verify", "--quiet", &format!("{commit}^")])?.trim().to_owned();
    Some((commit, parent))
}

/// Files of the set-up that differ between two commits, comments aside.
fn changed(parent: &str, commit: &str, folder: &str) -> Vec<String> {
    let names = git(&["diff", "--name-only", parent, commit, "--", folder, "presets"]).unwrap_or_default();
    let is_set_up = |name: &&str| {
        let path = Path::new(name);
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        is_toml && !path.file_name().is_some_and(|name| WITH_RESULTS.iter().any(|other| name == *other))
    };
    let set_by = |commit: &str, name: &str| file(commit, name).map(|text| settings(&text));
    let differs = |name: &&str| set_by(parent, name) != set_by(commit, name);
    names.lines().filter(is_set_up).filter(differs).map(str::to_owned).collect()
}

#[test]
fn set_ups_are_committed_before_their_results() {
    let is_whole = git(&["rev-parse", "--is-shallow-repository"]).is_some_and(|it| it.trim() == "false");
    if !is_whole {
        return println!("skipped: there is no history here");
    }
    let mut looked_at = 0;
    for paper in all() {
        let folder = format!("papers/{}", paper.name);
        let Some((commit, parent)) = brought(&folder) else { continue };
        let set_up = changed(&parent, &commit, &folder);
        assert!(set_up.is_empty(), "{folder}: {commit} brings results and changes {set_up:?}");
        if let (Some(before), Some(with)) = (fixing(&parent, &folder), fixing(&commit, &folder)) {
            let late = with.iter().find(|text| !before.contains(text));
            assert_eq!(late, None, "{folder}: {commit} brings results and a sentence that fixes a set-up");
        }
        looked_at += 1;
    }
    assert!(looked_at > 9, "results of {looked_at} folders were looked at");
    // What would be refused beside results is seen where it was committed by itself.
    let log = git(&["log", "-30", "--format=%H", "--", "papers/*/experiment.toml"]).unwrap_or_default();
    let changes = |commit: &str| !changed(&format!("{commit}^"), commit, "papers").is_empty();
    assert!(log.lines().any(changes), "no set-up was changed in {} commits", log.lines().count());
}
