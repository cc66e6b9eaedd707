//! Takes a technique out of a copy of the code: its folder, its line, and the rows that are generated from it. What is
//! left must build without a warning and pass its tests, or something outside the folder knew of it.

use crate::faults::tree::Tree;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The list of techniques, a line each behind its documentation.
const LIST: &str = "crates/ssd/src/techniques.rs";
/// Where their folders are.
const FOLDERS: &str = "crates/ssd/src/ftl/techniques";
/// Files with rows for each policy, which are generated.
const GENERATED: [&str; 2] =
    ["crates/ssd/tests/suite/goldens/hashes.txt", "crates/ssd/tests/suite/goldens/pairs.txt"];

/// Where presets are listed, by their folders.
const PRESETS: &str = "crates/ssd/src/config/presets.rs";

/// Removes the technique of that name from a copy, builds the drive and runs its tests.
pub fn remove(root: &Path, target: &Path, name: Option<&str>) -> ExitCode {
    let done = Tree::read(root).and_then(|mut tree| {
        without(&mut tree, name)?;
        let place = target.join("remove");
        let copy = place.join("tree");
        std::fs::create_dir_all(&copy).map_err(|error| format!("{}: {error}", copy.display()))?;
        tree.write(&copy)?;
        cargo(&copy, &place, &["build", "--package", "wordline-ssd"])?;
        cargo(&copy, &place, &["test", "--package", "wordline-ssd"])
    });
    match done {
        Ok(()) => {
            println!(
                "without {}: builds without a warning, and all other tests pass",
                name.unwrap_or_default()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The technique that a line of the list begins, if it begins one.
fn begun(line: &str) -> Option<&str> {
    let (name, rest) = line.trim().split_once(": ")?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    (is_name && rest.contains(" = \"")).then_some(name)
}

/// The techniques of the list.
fn listed(list: &str) -> Vec<&str> {
    list.lines().filter_map(begun).collect()
}

/// Takes it out of the tree.
fn without(tree: &mut Tree, name: Option<&str>) -> Result<(), String> {
    let list = tree.files.get(LIST).ok_or(format!("no {LIST}"))?;
    let list = String::from_utf8_lossy(list).into_owned();
    let known = listed(&list);
    let name = name
        .filter(|name| known.contains(name))
        .ok_or_else(|| format!("found {}, allowed: {}", name.unwrap_or("no technique"), known.join(", ")))?;
    let folder = format!("{FOLDERS}/{name}/");
    tree.files.retain(|file, _| !file.starts_with(&folder));
    tree.files.insert(LIST.to_owned(), unlisted(&list, name).into_bytes());
    let section = format!("ftl.{name}");
    for file in GENERATED {
        if let Some(bytes) = tree.files.get_mut(file) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let kept = text.lines().filter(|line| !line.contains(&section));
            *bytes = kept.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes();
        }
    }
    // Papers that set something of it have no drive any more. Presets are drives without it, but for those that speak
    // of it elsewhere, too: what they set there goes by it.
    let mut gone = Vec::new();
    tree.files.retain(|file, bytes| {
        let is_data = ["presets/", "papers/"].iter().any(|folder| file.starts_with(folder));
        let text = String::from_utf8_lossy(bytes);
        if !is_data || !text.contains(&section) {
            return true;
        }
        let rest = without_table(&text, &section);
        let stays = file.starts_with("presets/") && !rest.contains(&section);
        if stays {
            *bytes = rest.into_bytes();
        } else {
            gone.push(file.clone());
        }
        stays
    });
    if let Some(bytes) = tree.files.get_mut(PRESETS) {
        let text = gone
            .iter()
            .fold(String::from_utf8_lossy(bytes).into_owned(), |text, file| unshipped(&text, file));
        *bytes = text.into_bytes();
    }
    Ok(())
}

/// A TOML file without a table.
fn without_table(text: &str, section: &str) -> String {
    let header = format!("[{section}]");
    let mut is_inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with('[') {
            is_inside = line.starts_with(&header);
        }
        if !is_inside {
            kept.extend([line, "\n"]);
        }
    }
    kept
}

/// The lists of presets without that of a file, such as `presets/drive/tlc.toml`; as they are if it is none of theirs.
fn unshipped(lists: &str, file: &str) -> String {
    let parts: Vec<&str> = file.trim_end_matches(".toml").split('/').collect();
    let [_, folder, name] = parts[..] else { return lists.to_owned() };
    let Some(from) = lists.find(&format!("shipped!(\"{folder}\":")) else { return lists.to_owned() };
    let (before, list) = lists.split_at(from);
    let (list, after) = list.split_at(list.find(')').unwrap_or(list.len()));
    format!("{before}{}{after}", list.replace(&format!(" \"{name}\","), ""))
}

/// The list without one technique, and what documents it.
fn unlisted(list: &str, name: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = list.lines();
    while let Some(mut line) = lines.next() {
        if begun(line) != Some(name) {
            kept.push(line);
            continue;
        }
        while kept.last().is_some_and(|before| before.trim().starts_with("/// ")) {
            kept.pop();
        }
        while !line.trim().ends_with(';') {
            let Some(next) = lines.next() else { break };
            line = next;
        }
    }
    kept.into_iter().flat_map(|line| [line, "\n"]).collect()
}

fn cargo(copy: &Path, place: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(arguments).arg("--quiet").current_dir(copy);
    command.env("CARGO_TARGET_DIR", place.join("target")).env("RUSTFLAGS", "-D warnings");
    let ended = command.status().map_err(|error| format!("cargo does not run: {error}"))?;
    if ended.success() { Ok(()) } else { Err(format!("cargo {}: {ended}", arguments.join(" "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "            @techniques\n            /// One.\n            first: First = \"ftl.first\";\n            \
                        /// Two,\n            /// and more.\n            second: Second = \"ftl.second\", cause Second(2) \
                        \"second\",\n                external LanePolicy;\n        }\n";

    #[test]
    fn a_table_goes_up_to_the_next() {
        let text = "a = 1\n[ftl.first]\npolicy = \"x\"\n\n[ftl.first_of_all]\nb = 2\n";
        assert_eq!(without_table(text, "ftl.first"), "a = 1\n[ftl.first_of_all]\nb = 2\n");
    }

    #[test]
    fn a_preset_goes_from_the_list_of_its_folder() {
        let lists =
            "shipped!(\"drive\":\n    \"a\", \"b\", \"c\",\n);\nshipped!(\"nand\":\n    \"a\", \"b\",\n);\n";
        let rest = unshipped(lists, "presets/drive/b.toml");
        assert_eq!(rest, lists.replacen(" \"b\",", "", 1));
        assert_eq!(unshipped(lists, "papers/b/experiment.toml"), lists);
    }

    #[test]
    fn a_line_goes_with_what_documents_it() {
        assert_eq!(listed(TEXT), ["first", "second"]);
        let rest = unlisted(TEXT, "second");
        assert_eq!(listed(&rest), ["first"]);
        assert!(!rest.contains("more") && !rest.contains("LanePolicy") && rest.contains("One"));
        assert!(rest.ends_with("        }\n"), "what stands behind it stays");
    }
}
