//! `wordline explain`: every value with its place, and a configuration that reads back.

use crate::program::{SMALL, file, folder, trace, wordline};
use serde_json::json;

#[test]
fn every_value_has_a_place() {
    let folder = folder("explain_places");
    let config = file(
        &folder,
        "my.toml",
        format!(
            "preset = \"qlc\"\n[nand.timing]\nt_erase_us = 4000\n[run]\ndepth = 8\n[workload]\npath = {:?}\n",
            trace()
        ),
    );
    let text =
        wordline(&["explain", &config, "--set", "drive.seed=7", "--set", "workload.first=10"]).ok().out;
    let line = |key: &str| {
        text.lines().find(|line| line.trim_start().starts_with(key)).unwrap_or_else(|| panic!("{key}"))
    };
    for (key, parts) in [
        ("t_erase_us", &["4000", "us", "my.toml:3"][..]),
        ("seed", &["7", "--set drive.seed=7"]),
        ("bits_per_cell", &["4", "preset nand/qlc:"]),
        ("endurance_cycles", &["0", "cycles", "default"]),
        ("depth ", &["default"]),
        ("physical_gib", &["GiB", "derived"]),
        ("first", &["10", "--set workload.first=10"]),
        ("path", &["my.toml:7"]),
    ] {
        let line = line(key);
        assert!(parts.iter().all(|part| line.contains(part)), "{parts:?} in {line}");
    }
    assert!(text.contains("depth                                8"), "run.depth:\n{text}");
    let docs = wordline(&["explain", &config, "--docs"]).ok().out;
    assert!(docs.contains("tBERS: erase of a block.") && docs.contains("Allowed: "), "{docs}");
}

#[test]
fn what_it_prints_as_toml_is_the_same_drive() {
    let folder = folder("explain_toml");
    let small = file(&folder, "small.toml", SMALL);
    for args in [&["--drive", "m64"][..], &["--drive", "straw"], &["--config", small.as_str()], &[]] {
        let args = [&["explain"], args].concat();
        let hash = |text: &str| text.lines().next().unwrap().split(',').next().unwrap().to_owned();
        let toml = wordline(&[&args[..], &["--toml"]].concat()).ok().out;
        let again = file(&folder, "again.toml", &toml);
        assert_eq!(
            hash(&wordline(&args).ok().out),
            hash(&wordline(&["explain", &again]).ok().out),
            "{args:?}"
        );
        assert_eq!(wordline(&["explain", &again, "--toml"]).ok().out, toml);
    }
}

#[test]
fn cells_are_shown_when_they_are_in_use_or_asked_for() {
    let plain = wordline(&["explain", "--drive", "straw"]).ok().out;
    assert!(!plain.contains("[cell.states]") && !plain.contains("sigma_erased_v"), "{plain}");
    assert!(plain.contains("[cell.*]\n  1") && plain.contains("--all shows them"), "{plain}");
    // What the user sets himself is never hidden.
    let set = wordline(&["explain", "--drive", "straw", "--set", "cell.retry.entries=3"]).ok().out;
    assert!(set.contains("[cell.retry]") && !set.contains("sigma_erased_v"), "{set}");

    let all = wordline(&["explain", "--drive", "straw", "--all"]).ok().out;
    let aged = wordline(&["explain", "--drive", "aged_tlc"]).ok().out;
    for text in [&all, &aged] {
        let line =
            text.lines().find(|line| line.contains("sigma_erased_v")).expect("a constant of the cells");
        for part in ["0.347269", " V ", "preset cell/tlc_48l:", "[F] calibration section 1.1"] {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert!(text.contains("[cell.retry]") && !text.contains("[cell.*]"), "{text}");
    }
    let times = plain.lines().find(|line| line.contains("t_program_us")).expect("a key");
    assert!(times.contains("preset nand/straw:") && times.contains("[P] Straw table I"), "{times}");
    let docs = wordline(&["explain", "--drive", "straw", "--docs"]).ok().out;
    assert!(docs.contains("t_program_us = [380] us") && docs.contains("[P] Straw table I"), "{docs}");
}

#[test]
fn one_section_or_key_is_shown() {
    let only = |name: &str| wordline(&["explain", "--drive", "hire_boost", "--only", name]).ok().out;
    let text = only("cell.modes");
    let sections: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(sections, ["[cell.modes]"]);
    assert!(text.contains("voltage_scale") && text.contains("[D] calibration section 4.1"), "{text}");
    assert_eq!(only("cell").lines().filter(|line| line.starts_with('[')).count(), 12);
    let key = only("cell.modes.voltage_scale");
    assert_eq!(key.lines().filter(|line| line.starts_with("  ")).count(), 1);
    assert!(key.contains("preset nand/hire_boost:") && key.contains("[P] HIRE table 1: boosted"), "{key}");
    wordline(&["explain", "--only", "cell.mods"]).fails(2, &["cell.mods", "did you mean \"cell.modes\"?"]);
    wordline(&["explain", "--only", "nand.timing.t_reed_us"]).fails(2, &["mean \"nand.timing.t_read_us\"?"]);
}

#[test]
fn json_has_every_value_with_its_note() {
    let json = wordline(&["explain", "--drive", "aged_tlc", "--json"]).ok().json();
    let values = json["values"].as_array().unwrap();
    let find = |key: &str| values.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("{key}"));
    let sigma = find("cell.states.sigma_v");
    assert_eq!((&sigma["value"], &sigma["unit"]), (&"0.106428".into(), &"V".into()));
    assert_eq!(sigma["note"], "[F] calibration section 1.1");
    assert!(sigma["source"].as_str().unwrap().starts_with("preset cell/tlc_48l:"));
    assert_eq!(find("nand.errors.model")["value"], "\"cells\"");
    assert_eq!(find("derived.dies")["derived"], true);
    assert_eq!((&json["hidden_values"], json["configuration"].as_str().unwrap().len()), (&0.into(), 16));
    let plain = wordline(&["explain", "--drive", "tlc", "--json"]).ok().json();
    assert!(plain["hidden_values"].as_u64().unwrap() > 100);
    assert!(plain["values"].as_array().unwrap().iter().all(|row| row["note"].is_string()));
}

#[test]
fn the_schema_of_results_is_that_of_the_docs() {
    let docs = include_str!("../../../../docs/result.schema.json");
    assert!(wordline(&["explain", "--schema"]).ok().out == docs, "docs/result.schema.json is another");
    wordline(&["explain", "--schema", "--docs"]).fails(2, &["--schema"]);
}

#[test]
fn a_result_says_where_its_workload_was_set() {
    let folder = folder("workload-origins");
    let table = "[workload]\npattern = \"zipf\"\ncount = 500\nread_percent = 30\n";
    let config = file(&folder, "own.toml", format!("{SMALL}{table}"));
    let origins = |args: &[&str]| {
        wordline(&[&["run", "--json"], args].concat()).ok().json()["workload_origins"].clone()
    };
    let own = origins(&[&config, "--read-percent", "50", "--set", "workload.seed=3"]);
    let lines = SMALL.lines().count();
    let expected = json!({
        "workload.pattern": format!("{config}:{}", lines + 2),
        "workload.count": format!("{config}:{}", lines + 3),
        "workload.read_percent": "--read-percent",
        "workload.seed": "--set workload.seed=3",
    });
    assert_eq!(own, expected);
    // Another workload takes the place of the file's, whose settings are not in force.
    let read = origins(&[&trace(), "--config", &config, "--first", "50"]);
    assert_eq!(read, json!({ "workload.path": "command line", "workload.first": "--first" }));
    let shipped = origins(&["--workload", "ads", "--requests", "500", "--precondition", "none"]);
    assert_eq!(shipped["workload.count"], "--requests");
    assert_eq!(shipped["workload.preset"], "--workload");
    assert!(shipped["workload.rate_iops"].as_str().unwrap().starts_with("preset workload/ads:"), "{shipped}");
    assert_eq!(shipped.get("workload.seed"), None);
}
