//! The configuration: what is accepted, what is refused and how it is told, how layers add up.

mod cells;
mod locks;
mod numbers;
mod wrong;

use crate::support::soaked;
use ssd::DriveConfig;
use ssd::config::{ConfigErrors, Layer, Table};
use ssd::drive_config::{Base, Resolved, resolve, resolve_table};

fn user(text: &str) -> Result<Resolved, ConfigErrors> {
    resolve(&[Layer::file("my.toml", text)], &["workload", "run"])
}

fn accepted(text: &str) -> Resolved {
    user(text).unwrap_or_else(|errors| panic!("refused:\n{text}\n{errors}"))
}

/// Resolves a text that is wrong and returns the message.
fn refused(text: &str) -> String {
    match user(text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

fn preset(name: &str) -> Resolved {
    accepted(&format!("preset = \"{name}\""))
}

fn assert_has(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in:\n{message}");
    }
}

#[test]
fn all_errors_are_told_at_once_in_order() {
    let text = "[drive]\nsed = 1\n[host.queues]\ndepth = 0\n[nand.cell]\ngray_code = [[1]]\n[ftl.mapping]\nunit = \"8kib\"";
    let message = refused(text);
    assert_has(&message, &["my.toml:2: ", "my.toml:4: ", "my.toml:6: ", "my.toml:8: "]);
    let lines = message.lines().filter(|line| line.starts_with("my.toml"));
    assert!(lines.is_sorted(), "{message}");
    // A check that depends on a section with an error is not made: it might not hold after the correction.
    let message = refused("[nand.geometry]\nblocks_per_plan = 2000\n[drive]\nlogical_gib = 150");
    assert_has(&message, &["mean blocks_per_plane?"]);
    assert!(!message.contains("impossible"), "{message}");
}

#[test]
fn over_provisioning_follows_where_flash_and_capacity_are_set() {
    let spare = |text: &str| accepted(text).config.drive.over_provisioning_percent;
    let both = "[drive]\nraw_gib = 30\nlogical_gib = 20\n";
    assert_eq!(spare(both), 50.0);
    assert_eq!(spare(&format!("preset = \"tlc\"\n{both}")), 50.0, "a preset's counts no more");
    assert_eq!(spare(&format!("{both}over_provisioning_percent = 50.05")), 50.05, "one that agrees");
    assert_eq!(spare("[drive]\nraw_gib = 30\n"), 7.0);
    assert_eq!(spare("[drive]\nlogical_gib = 20\n"), 7.0, "as it was");
    // Written out in full, it agrees with itself.
    let resolved = accepted(&format!("preset = \"tlc\"\n{both}"));
    assert_eq!(accepted(&resolved.to_toml()).config, resolved.config);
    let layers = [Layer::file("my.toml", both), Layer::set("drive.over_provisioning_percent=28").unwrap()];
    let error = resolve(&layers, &[]).unwrap_err().to_string();
    assert_has(&error, &["--set drive.over_provisioning_percent=28", "raw_gib (my.toml:2)", "50 %"]);
    // Without a capacity it says what the host sees of the flash that is used.
    let config = accepted("[drive]\nraw_gib = 30\nover_provisioning_percent = 50").config;
    assert!((config.logical_bytes() as f64 / config.used_bytes() as f64 * 1.5 - 1.0).abs() < 1e-6);
}

#[test]
fn a_suggested_remedy_works() {
    let base = "preset = \"m64\"\n[nand.geometry]\nblocks_per_plane = 40\n";
    for space in ["over_provisioning_percent = 5", "logical_gib = 9.6"] {
        let message = refused(&format!("{base}[drive]\n{space}"));
        let suggestion = |key: &str| {
            let after =
                message.split(&format!("{key} at ")).nth(1).and_then(|rest| rest.split([',', '\n']).next());
            after
                .and_then(|text| text.split(' ').nth(1))
                .unwrap_or_else(|| panic!("{key}: {message}"))
                .to_owned()
        };
        let space_key = space.split(' ').next().unwrap_or_default();
        accepted(&format!("{base}[drive]\n{space_key} = {}", suggestion(space_key)));
        let blocks: u32 = suggestion("blocks_per_plane").parse().expect("a number of blocks");
        let with = |blocks: u32| {
            format!("preset = \"m64\"\n[drive]\n{space}\n[nand.geometry]\nblocks_per_plane = {blocks}")
        };
        accepted(&with(blocks));
        refused(&with(blocks - 1));
    }
}

#[test]
fn spare_blocks_are_counted_for_what_is_open() {
    // 40 blocks a lane of which 36 hold data: 4 spare are enough, but not with factory bad blocks.
    let text = "preset = \"m64\"\n[drive]\nlogical_gib = 9.0\n[nand.geometry]\nblocks_per_plane = 40\n";
    accepted(text);
    let message = refused(&format!("{text}[nand.reliability]\nfactory_bad_ppm = 1000"));
    assert_has(&message, &["at least 5 superblocks beyond the data", "1 bad from the factory"]);
}

#[test]
fn what_many_begin_with_is_read_once_and_resolves_alike() {
    let settings = [
        "drive.seed=7",
        "ftl.gc_victim.policy=d_choices",
        "ftl.gc_victim.d=4",
        "ftl.gc_victim.policy=fifo",
        "nand.errors.model=cells",
        "nand.geometry.blocks_per_plane=90",
        "cell.states.program_step_v=0.1",
        // Others come before them.
        "preset=qlc",
        "nand.part=rftl",
        "cell.part=qlc",
        // Wrong ones, and one of another table.
        "ftl.gc_victim.d=0",
        "nand.timing.t_raed_us=3",
        "nan.timing=3",
        "run.depth=4",
    ];
    let texts =
        ["", "preset = \"m64\"\n", "[ftl.gc_victim]\npolicy = \"d_choices\"\nd = 3\n[drive]\nsed = 1\n"];
    for text in texts {
        for first in [None, Some("preset=tlc")] {
            let set = |text: &str| Layer::set(text).expect("a setting");
            let mut under = vec![Layer::file("my.toml", text)];
            under.extend(first.map(set));
            let base = Base::new(under.clone(), &["run"]);
            for a in settings {
                for b in settings {
                    let sets = [set(a), set(b)];
                    let all = [under.clone(), sets.to_vec()].concat();
                    assert_eq!(base.with(&sets), resolve(&all, &["run"]), "{text}\n{first:?}, {a}, {b}");
                }
            }
        }
    }
}

#[test]
fn later_layers_override_and_every_value_knows_its_place() {
    let layers = [
        Layer::file(
            "a.toml",
            "preset = \"m64\"\n[host.queues]\ndepth = 8\n[drive]\nseed = 5\n[workload]\nkind = 1",
        ),
        Layer::file("b.toml", "[host.queues]\ndepth = 16"),
        Layer::set("drive.seed = 7").expect("a setting"),
    ];
    let resolved = resolve(&layers, &["workload"]).expect("resolves");
    assert_eq!((resolved.config.queues.depth, resolved.config.drive.seed), (16, 7));
    assert_eq!(resolved.config.geometry.pages_per_block(), 256);
    let source = |key: &str| resolved.origin(key).map(ToString::to_string);
    assert_eq!(source("host.queues.depth").as_deref(), Some("b.toml:2"));
    assert_eq!(source("drive.seed").as_deref(), Some("--set drive.seed = 7"));
    assert_eq!(source("host.queues.count"), None);
    assert!(source("nand.geometry.page_bytes").is_some_and(|place| place.starts_with("preset nand/m64:")));
    assert!(source("nand.geometry.channels").is_some_and(|place| place.starts_with("preset drive/m64:")));
    assert_eq!(
        resolved.sources,
        [
            "preset cell/mlc",
            "preset marker/mlc",
            "preset nand/m64",
            "preset drive/m64",
            "a.toml",
            "b.toml",
            "--set drive.seed = 7"
        ]
    );
    let rows = resolved.explain();
    let depth = rows.iter().find(|row| row.key == "host.queues.depth").expect("explained");
    assert_eq!(
        (depth.value.as_str(), depth.unit.as_str(), depth.source.as_str()),
        ("16", "commands", "b.toml:2")
    );
    let derived = rows.iter().find(|row| row.key == "derived.physical_gib").expect("derived");
    assert_eq!((derived.value.as_str(), derived.derived), ("64", true));
}

#[test]
fn a_part_replaces_the_chip_of_the_preset() {
    let resolved = accepted("preset = \"tlc\"\n[nand]\npart = \"qlc\"\n[nand.timing]\nt_erase_us = 9");
    assert_eq!(resolved.config.geometry.bits_per_cell, 4);
    assert_eq!(resolved.config.geometry.channels, 8);
    assert_eq!(resolved.config.timing.t_erase_us, 9.0);
}

#[test]
fn switching_the_policy_resets_its_parameters() {
    let layers = |more: &str| {
        [
            Layer::file("a.toml", "[ftl.gc_victim]\npolicy = \"d_choices\"\nd = 4"),
            Layer::file("b.toml", format!("[ftl.gc_victim]\n{more}")),
        ]
    };
    let victim = |more: &str| resolve(&layers(more), &[]).expect("resolves");
    let same = victim("policy = \"d_choices\"");
    assert_eq!(same.config.gc_victim.show("d").as_deref(), Some("4"));
    let switched = victim("policy = \"fifo\"");
    assert_eq!((switched.config.gc_victim.name(), switched.config.gc_victim.show("d")), ("fifo", None));
    assert_eq!(switched.origin("ftl.gc_victim.d"), None);
    assert_eq!(switched.origin("ftl.gc_victim.policy").map(ToString::to_string).as_deref(), Some("b.toml:2"));
}

#[test]
fn settings_on_the_command_line() {
    let set = |arguments: &[&str]| {
        let layers: Result<Vec<Layer>, _> = arguments.iter().map(|argument| Layer::set(argument)).collect();
        resolve(&layers?, &[])
    };
    // Bare words are text, numbers and lists are numbers and lists, the order of policy and parameter is free.
    let ok = set(&[
        "ftl.gc_victim.d=4",
        "ftl.gc_victim.policy=d_choices",
        "ftl.mapping.unit=4kib",
        "nand.timing.t_read_us=[1, 2.5, 3]",
        "flash.scheduling.multi_plane=false",
        "ftl.allocation.issue=page",
    ])
    .expect("resolves");
    assert_eq!(ok.config.gc_victim.show("d").as_deref(), Some("4"));
    assert_eq!(ok.config.timing.t_read_us, [1.0, 2.5, 3.0]);
    assert_eq!(set(&["preset=m64"]).expect("resolves").config.timing.t_erase_us, 3_800.0);
    // A number needs no digit before its point.
    let firmware = |value| set(&[&format!("host.firmware.t_command_us={value}")]);
    assert_eq!(
        [".2", "+.2"].map(|of| firmware(of).expect("resolves").config.firmware.t_command_us),
        [0.2; 2]
    );
    assert_has(&firmware("-.2").expect_err("negative").to_string(), &["-0.2", "0 to 1000000 us"]);
    assert_has(&firmware(".x").expect_err("no number").to_string(), &["wrong type of value", "\".x\""]);

    let wrong = |arguments: &[&str]| set(arguments).expect_err("wrong").to_string();
    assert_has(
        &wrong(&["ftl.gc_victim.d=4"]),
        &["--set ftl.gc_victim.d=4: ftl.gc_victim.d: not a param", "d_choices"],
    );
    assert_has(&wrong(&["drive.sead=4"]), &["--set drive.sead=4: drive.sead: no such key", "mean seed?"]);
    assert_has(&wrong(&["seed=4"]), &["--set seed=4: seed: no such key", "mean drive.seed?"]);
    for argument in ["seed", "=4", "drive.seed=", "drive..seed=4", "a b=4", "drive.seed=1\ndrive.seed=2", ""]
    {
        // In one line, whatever is in it.
        assert_has(&wrong(&[argument]), &[&format!("--set {}", argument.replace('\n', "\\u000a"))]);
    }
}

#[test]
fn sections_of_others_follow_the_same_rules() {
    ssd::section! {
        /// A section that the drive does not know.
        struct Run {
            /// Length.
            length_s: f64 = 1.0, unit "s", range 0.0..=100.0;
            /// Requests.
            requests: u64 = 9;
        }
    }
    let layers = [
        Layer::file("my.toml", "[run]\nlength_s = 2\n[drive]\nseed = 3"),
        Layer::set("run.requests=4").expect("a setting"),
    ];
    let mut run = Run::default();
    let places = resolve_table(&layers, "run", &mut run).expect("resolves");
    assert_eq!(run, Run { length_s: 2.0, requests: 4 });
    assert_eq!(places["run.length_s"].to_string(), "my.toml:2");
    assert_eq!(places["run.requests"].to_string(), "--set run.requests=4");

    let wrong = |text: &str| {
        let errors = resolve_table(&[Layer::file("my.toml", text)], "run", &mut Run::default());
        errors.expect_err("wrong").to_string()
    };
    assert_has(
        &wrong("[run]\nlength_ms = 3"),
        &["my.toml:2: run.length_ms: no such key", "mean length_s? Its unit is s"],
    );
    assert_has(
        &wrong("[run]\nlength_s = 300"),
        &["my.toml:2: run.length_s: out of range", "300", "0 to 100 s"],
    );
    assert_has(&wrong("\nrun = 1"), &["my.toml:2: run: wrong type", "a section: [run]"]);
    assert_has(&wrong("[run"), &["my.toml:1: not valid TOML"]);
}

#[test]
fn values_set_by_code_are_checked_too() {
    let mut config = DriveConfig::default();
    assert!(config.validate().is_ok());
    config.queues.depth = 0;
    config.geometry.channels = 0;
    let message = config.validate().expect_err("wrong").to_string();
    assert_has(&message, &["host.queues.depth: out of range", "nand.geometry.channels: out of range"]);
}

#[test]
fn the_hash_sees_every_value_and_nothing_else() {
    let base = DriveConfig::default();
    assert_eq!(base.hash(), accepted("# only a comment").hash());
    assert_eq!(base.hash(), accepted("[nand.timing]\nt_read_us = 75").hash());
    let other = accepted("[nand.timing]\nt_read_us = 75.001");
    assert_ne!(base.hash(), other.hash());
}

/// A small random generator (SplitMix64), so that a failing case is found again.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

/// Changes a few places of a text: characters, words, lines.
fn mutate(text: &str, random: &mut Random) -> String {
    const WORDS: &[&str] = &[
        "0",
        "-1",
        "99999999999999999999",
        "1e308",
        "nan",
        "[",
        "]",
        "[[1], [2]]",
        "\"\"",
        "\"greedy\"",
        "= ",
        "\n[drive]\n",
        ".",
        "true",
        "\u{fffd}",
        "\"\"\"",
        "{ a = 1 }",
        "#",
        "policy = \"none\"\n",
        "4294967295",
        "[nand]\npart = \"qlc\"\n",
        "[cell]\npart = \"mlc\"\n",
        "model = \"cells\"\n",
        "preset = \"m64\"\n",
        "'",
        "\\u0000",
        "\0",
        "1979-05-27",
    ];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let (a, b) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(6) {
            0 => lines.swap(a, b),
            1 => _ = lines.remove(a),
            2 => lines.insert(a, lines[b].clone()),
            _ => {
                let mut chars: Vec<char> = lines[a].chars().collect();
                let at = random.below(chars.len() + 1);
                let end = (at + random.below(6)).min(chars.len());
                chars.splice(at..end, WORDS[random.below(WORDS.len())].chars());
                lines[a] = chars.into_iter().collect();
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn no_text_makes_it_panic() {
    let texts: Vec<String> = ["tlc", "straw", "rhs", "pds", "aged_tlc", "aged_qlc"]
        .iter()
        .map(|name| preset(name).to_toml())
        .collect();
    let mut random = Random(2);
    let mut good = 0;
    let cases = soaked(1_500) as usize;
    for case in 0..cases {
        let text = mutate(&texts[case % texts.len()], &mut random);
        match user(&text) {
            Err(errors) => assert!(!errors.0.is_empty() && !errors.to_string().is_empty()),
            Ok(resolved) => {
                good += 1;
                assert!(resolved.config.validate().is_ok());
                assert_eq!(accepted(&resolved.to_toml()).config, resolved.config, "case {case}");
                assert!(!resolved.explain().is_empty());
            }
        }
        let line = text.lines().nth(random.below(60)).unwrap_or_default();
        if let Ok(layer) = Layer::set(&format!("drive.{line}")) {
            _ = resolve(&[layer], &[]);
        }
    }
    assert!(good > cases / 60 && good < cases - cases / 60, "{good} of {cases} accepted");
}
