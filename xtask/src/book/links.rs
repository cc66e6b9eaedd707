//! What pages point to must be there: files, anchors, keys of the configuration, and each page in the summary.

use super::page::Page;
use std::path::{Component, Path, PathBuf};

/// The table of contents, from the root.
pub const SUMMARY: &str = "docs/SUMMARY.md";
/// Folders of the checkout that inline code names files of.
const FOLDERS: &[&str] =
    &["crates/", "docs/", "data/", "presets/", "scripts/", "xtask/", "examples/", "papers/", "benches/"];
/// First parts of the keys of a configuration.
const SECTIONS: &[&str] = &["drive", "nand", "cell", "flash", "ftl", "host", "run", "workload"];
/// The page that says which keys there are not.
const DENIES: &str = "docs/limits.md";

/// The page that tells of what has been, by the names that it had.
const PAST: &str = "CHANGELOG.md";

/// Reads the pages that are checked: all below `docs/`, and those at the root that a newcomer reads.
pub fn pages(root: &Path) -> Result<Vec<Page>, String> {
    let mut paths: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(str::to_owned).into();
    collect(root, "docs", &mut paths)?;
    paths.retain(|path| root.join(path).is_file());
    paths.sort();
    let read = |path: &String| {
        let text = std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        Page::parse(path, &text)
    };
    paths.iter().map(read).collect()
}

fn collect(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<(), String> {
    for entry in std::fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))? {
        let path = format!("{folder}/{}", entry.map_err(|e| e.to_string())?.file_name().to_string_lossy());
        if root.join(&path).is_dir() {
            collect(root, &path, paths)?;
        } else if path.ends_with(".md") {
            paths.push(path);
        }
    }
    Ok(())
}

/// All that points to nothing, as `path:line: what`.
pub fn check(root: &Path, pages: &[Page], keys: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    for page in pages {
        for (line, target) in &page.links {
            if let Err(error) = link(root, pages, page, target) {
                wrong.push(format!("{}:{line}: {error}", page.path));
            }
        }
        for (line, code) in page.codes.iter().filter(|_| page.path != PAST) {
            if let Some(path) = named_path(code).filter(|path| !root.join(path).exists()) {
                wrong.push(format!("{}:{line}: `{path}` is not there", page.path));
            }
            let key = set_key(code).filter(|_| page.path != DENIES);
            if let Some(key) = key.filter(|key| !is_known(key, keys)) {
                wrong.push(format!("{}:{line}: there is no key `{key}`", page.path));
            }
        }
        let unlabelled = page.fences.iter().filter(|fence| fence.language.is_empty());
        wrong.extend(unlabelled.map(|fence| {
            format!("{}:{}: a block says what it is behind its marks: sh, toml, text", page.path, fence.line)
        }));
    }
    wrong.extend(unlisted(pages));
    wrong
}

/// A link must lead to a file of the checkout, and to a heading of it.
fn link(root: &Path, pages: &[Page], page: &Page, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.path.clone() } else { beside(&page.path, file) };
    if !root.join(&path).exists() {
        return Err(format!("the link to {target} is dead: there is no {path}"));
    }
    if anchor.is_empty() {
        return Ok(());
    }
    match pages.iter().find(|page| page.path == path) {
        Some(found) if found.anchors.iter().any(|there| there == anchor) => Ok(()),
        Some(found) => {
            Err(format!("the link to {target} is dead: {path} has #{}", found.anchors.join(", #")))
        }
        None => Err(format!("the link to {target} is dead: {path} is no page with headings")),
    }
}

/// The path, from the root, that a page means by a relative one.
fn beside(page: &str, file: &str) -> String {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path.to_string_lossy().into_owned()
}

/// The file or folder of the checkout that inline code names; what stands for several names none.
fn named_path(code: &str) -> Option<&str> {
    let is_path = FOLDERS.iter().any(|folder| code.starts_with(folder));
    let is_one = code.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    (is_path && is_one && !code.contains("..")).then_some(code)
}

/// The key that inline code sets, as in `ftl.gc_victim.policy = "fifo"` and `--set run.size=footprint`.
fn set_key(code: &str) -> Option<&str> {
    let (key, _) = code.trim_start_matches("--set ").split_once('=')?;
    let key = key.trim();
    let is_key = key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c));
    let section = key.split('.').next().unwrap_or_default();
    (is_key && key.contains('.') && SECTIONS.contains(&section)).then_some(key)
}

/// Is it a key, or one of a workload, which only its kind knows?
fn is_known(key: &str, keys: &[String]) -> bool {
    key.starts_with("workload.") || keys.iter().any(|known| known == key)
}

/// Pages below `docs/` that the summary does not list.
fn unlisted(pages: &[Page]) -> Vec<String> {
    let Some(summary) = pages.iter().find(|page| page.path == SUMMARY) else {
        return vec![format!("{SUMMARY} is missing")];
    };
    let listed = |page: &Page| summary.links.iter().any(|(_, to)| beside(SUMMARY, to) == page.path);
    let is_of_book = |page: &&Page| page.path.starts_with("docs/") && page.path != SUMMARY;
    let missing = pages.iter().filter(is_of_book).filter(|page| !listed(page));
    missing.map(|page| format!("{SUMMARY}: {} is not listed", page.path)).collect()
}
