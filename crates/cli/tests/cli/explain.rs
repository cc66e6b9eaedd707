//! `wordline explain`: every value with its place, and a configuration that reads back.

use crate::program::{SMALL, file, folder, trace, wordline};

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
