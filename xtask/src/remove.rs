//! Takes a technique out of a copy of the code: its folder, its line, its tests of whole drives, and the rows that are
//! generated from it. What is left must build without a warning and pass its tests, or something outside the folder
//! knew of it.

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

/// Where its tests of whole drives are, if it has some: a file and a folder of its name, and a line in the list.
const TESTS: &str = "crates/ssd/tests/suite";

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
    let folders = [format!("{FOLDERS}/{name}/"), format!("{TESTS}/{name}/")];
    let tests = format!("{TESTS}/{name}.rs");
    tree.files.retain(|file, _| *file != tests && !folders.iter().any(|folder| file.starts_with(folder)));
    tree.files.insert(LIST.to_owned(), unlisted(&list, name).into_bytes());
    without_lines(tree, &format!("{TESTS}/main.rs"), |line| line == format!("mod {name};"));
    if let Some((family, policy)) = member(&list, name) {
        let key = format!("ftl.{family}.{policy}");
        GENERATED.iter().for_each(|file| without_lines(tree, file, |line| names_key(line, &key)));
        without_data(tree, &format!("ftl.{family}"), |text| chooses(text, &family, &policy));
    } else {
        let section = format!("ftl.{name}");
        GENERATED.iter().for_each(|file| without_lines(tree, file, |line| line.contains(&section)));
        without_data(tree, &section, |text| text.contains(&section));
    }
    Ok(())
}

/// Takes out what presets and papers set of a section, if `speaks` says that they mean what is taken out.
fn without_data(tree: &mut Tree, section: &str, speaks: impl Fn(&str) -> bool) {
    // Papers that set something of it have no drive any more. Presets are drives without it, but for those that speak
    // of it elsewhere, too: what they set there goes by it.
    let mut gone = Vec::new();
    tree.files.retain(|file, bytes| {
        let is_data = ["presets/", "papers/"].iter().any(|folder| file.starts_with(folder));
        let text = String::from_utf8_lossy(bytes);
        if !is_data || !speaks(&text) {
            return true;
        }
        let rest = without_table(&text, section);
        let stays = file.starts_with("presets/") && !speaks(&rest);
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
}

/// Whether a TOML file chooses a policy of a family: in its table, or with a key that it sets.
fn chooses(text: &str, family: &str, policy: &str) -> bool {
    let (table, quoted) = (format!("[ftl.{family}]"), format!("\"{policy}\""));
    let mut is_inside = false;
    text.lines().filter(|line| !line.starts_with('#')).any(|line| {
        if line.starts_with('[') {
            is_inside = line.starts_with(&table);
        }
        let of_family = line.contains(&format!("ftl.{family}.policy"));
        is_inside && line.starts_with("policy") && line.contains(&quoted)
            || of_family && (names_key(line, &format!("policy={policy}")) || line.contains(&quoted))
    })
}

/// The family of which a technique's policy is a member, and that policy, if its line says so.
fn member(list: &str, name: &str) -> Option<(String, String)> {
    let line = list.lines().skip_while(|line| begun(line) != Some(name));
    let line: String = line.take_while(|line| !line.is_empty()).flat_map(|line| [line.trim(), " "]).collect();
    let (_, rest) = line.split(';').next()?.split_once("member of ")?;
    let mut words = rest.split([' ', ':']);
    Some((words.next()?.to_owned(), words.next()?.to_owned()))
}

/// Whether a line names a key, and not only one that begins like it.
fn names_key(line: &str, key: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
    line.match_indices(key).any(|(at, _)| !goes_on(&line[at + key.len()..]))
}

/// Takes lines out of a file.
fn without_lines(tree: &mut Tree, file: &str, is_out: impl Fn(&str) -> bool) {
    if let Some(bytes) = tree.files.get_mut(file) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let kept = text.lines().filter(|line| !is_out(line));
        *bytes = kept.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes();
    }
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
    fn a_member_is_of_a_family_and_its_keys_are_its_policys() {
        let list = "@members {\n/// Three.\nthird: Third = \"ftl.other\",\n    member of other three: Three in \"x.rs\";\n}\n";
        assert_eq!(listed(list), ["third"]);
        assert_eq!(member(list, "third"), Some(("other".to_owned(), "three".to_owned())));
        assert_eq!(member(TEXT, "second"), None);
        assert_eq!(unlisted(list, "third"), "@members {\n}\n");
        assert!(chooses("[ftl.other]\npolicy = \"three\"\n", "other", "three"));
        assert!(chooses("set = [\"ftl.other.policy=three\"]\n", "other", "three"));
        assert!(!chooses(
            "# ftl.other.policy=three\n[ftl.other]\npolicy = \"three_more\"\n",
            "other",
            "three"
        ));
        for line in ["ftl.other.three used 1", "ftl.other.three.key=2 used 1"] {
            assert!(names_key(line, "ftl.other.three") && !names_key(line, "ftl.other.thr"), "{line}");
        }
    }

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
