//! What the documents deny must not be there.

use crate::program::{root, wordline};
use std::collections::BTreeSet;

/// The words of a name: `host.queues.count`, `--warm-up`, `ftl/gc_victim`.
fn words(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(|part| part.trim_end_matches('s').to_lowercase()).collect()
}

/// Every name that a user can write: keys, allowed values as `key=value`, policies, presets, commands and flags.
fn names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let explained = wordline(&["explain", "--all", "--json"]).ok().json();
    for row in explained["values"].as_array().expect("rows") {
        let key = text(&row["key"]);
        let allowed = text(&row["allowed"]);
        let values = allowed.split(", ").map(|value| value.trim_matches('"'));
        let is_name =
            |value: &&str| value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        names.extend(values.filter(is_name).map(|value| format!("{key}={value}")));
        names.insert(key);
    }
    let families = wordline(&["policies", "--json"]).ok().json();
    for family in families.as_array().expect("families") {
        let section = text(&family["family"]).replace('/', ".");
        for policy in family["policies"].as_array().expect("policies") {
            names.insert(format!("{section}.policy={}", text(&policy["name"])));
            let parameters = policy["parameters"].as_array().expect("parameters");
            names.extend(parameters.iter().map(|it| format!("{section}.{}", text(&it["key"]))));
        }
    }
    let presets = ssd::config::presets::drives();
    names.extend(presets.iter().map(|preset| preset.name.to_owned()));
    let help = wordline(&["--help"]).ok().out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.map_while(|line| line.split_whitespace().next());
    for command in commands.filter(|command| *command != "help") {
        let flags = wordline(&[command, "--help"]).ok().out;
        let flags = flags.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        names.extend(flags.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned));
        names.insert(command.to_owned());
    }
    names
}

/// The name that stands, if what a document says is not there is.
fn found<'n>(denied: &str, names: &'n BTreeSet<String>) -> Option<&'n String> {
    let denied = words(denied);
    names.iter().find(|name| words(name).windows(denied.len()).any(|part| part == denied))
}

/// The second column of each row of `docs/limits.md`, with its line.
fn denials(text: &str) -> Vec<(usize, String)> {
    let rows = (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("| "));
    let rows = rows.filter(|(_, line)| !line.starts_with("| not modelled |"));
    rows.map(|(number, line)| (number, line.split(" | ").nth(1).unwrap_or_default().to_owned())).collect()
}

#[test]
fn what_is_not_modelled_has_no_name() {
    let names = names();
    assert!(names.len() > 300, "{}", names.len());
    // What once stood there though it was built, and one name of each kind.
    let built =
        ["placement_id", "slc", "slc_cache", "past", "ftl.gc_victim.policy=greedy", "--brief", "compare"];
    for built in [&built[..], &["host.queues.arbitration=priority", "d_choices", "wear_levelings"]].concat() {
        assert!(found(built, &names).is_some(), "{built} is there");
    }
    let rows = denials(&std::fs::read_to_string(root().join("docs/limits.md")).expect("the file"));
    let unnamed = rows.iter().filter(|(_, column)| column == "-").count();
    assert!(rows.len() > 15 && unnamed <= 3, "{unnamed} of {} rows name nothing", rows.len());
    for (line, column) in rows.iter().filter(|(_, column)| column != "-") {
        let denied: Vec<&str> = column.split('`').skip(1).step_by(2).collect();
        assert!(!denied.is_empty(), "docs/limits.md:{line}: name what there is not, as `name`, or `-`");
        for denied in denied {
            let found = found(denied, &names);
            assert_eq!(
                found, None,
                "docs/limits.md:{line}: `{denied}` is there; delete the row or say what is left"
            );
        }
    }
}
