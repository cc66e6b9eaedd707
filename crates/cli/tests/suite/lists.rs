//! The commands that list things, help, completion, and readers that go away early.

use crate::program::{root, trace, wordline};
use serde_json::json;
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn presets_are_listed_and_shown() {
    let list = wordline(&["presets"]).ok().out;
    for name in ["tlc", "qlc", "m64", "straw", "Plain modern TLC drive"] {
        assert!(list.contains(name), "{name} in:\n{list}");
    }
    let text = wordline(&["presets", "m64"]).ok().out;
    assert_eq!(text, std::fs::read_to_string(root().join("presets/drive/m64.toml")).unwrap());
    let part = wordline(&["presets", "nand/tlc"]).ok().out;
    assert!(part.contains("t_sense_us"), "{part}");
    for name in ["NAND parts", "Cell parts", "aged_tlc", "mlc_hire", "48-layer TLC of RealWear"] {
        assert!(list.contains(name), "{name} in:\n{list}");
    }
    for name in ["cell/mlc_hire", "mlc_hire"] {
        let text = wordline(&["presets", name]).ok().out;
        assert_eq!(text, std::fs::read_to_string(root().join("presets/cell/mlc_hire.toml")).unwrap());
    }
    wordline(&["presets", "cell/mlc_hir"]).fails(2, &["cell/mlc_hir", "did you mean \"cell/mlc_hire\"?"]);
    wordline(&["presets", "tcl"]).fails(2, &["tcl", "did you mean \"tlc\"?", "straw"]);
    wordline(&["presets", "chip/tlc"]).fails(2, &["no such preset"]);
}

#[test]
fn policies_tell_all_there_is_to_know() {
    let list = wordline(&["policies"]).ok().out;
    for text in ["ftl/gc_victim", "greedy (default)", "static_swap", "host/buffer", "background_idle"] {
        assert!(list.contains(text), "{text} in:\n{list}");
    }
    let one = wordline(&["policies", "ftl/gc_victim/d_choices"]).ok().out;
    for text in [
        "crates/ssd/src/ftl/gc_victim/d_choices.rs",
        "source",
        "memory",
        "blocks",
        "--set ftl.gc_victim.policy=d_choices",
    ] {
        assert!(one.contains(text), "{text} in:\n{one}");
    }
    assert!(!one.contains("cost_benefit"));
    assert_eq!(wordline(&["policies", "ftl.gc_victim.d_choices"]).ok().out, one);
    assert_eq!(wordline(&["policies", "d_choices"]).ok().out, one);
    wordline(&["policies", "gc_victim/gredy"]).fails(2, &["gredy", "did you mean \"greedy\"?"]);
    wordline(&["policies", "ftl/gc_victm"]).fails(2, &["did you mean \"ftl/gc_victim\"?"]);
}

#[test]
fn the_policy_reference_is_fresh() {
    let made = wordline(&["policies", "--markdown"]).ok().out;
    let kept = std::fs::read_to_string(root().join("docs/policies.md")).unwrap();
    assert_eq!(made, kept, "stale: run `wordline policies --markdown > docs/policies.md`");
}

#[test]
fn policies_as_json_name_files_that_exist() {
    let all = wordline(&["policies", "--json"]).ok().json();
    let families = all.as_array().unwrap();
    assert_eq!(families.len(), ssd::policy::FAMILIES.len());
    for family in families {
        let policies = family["policies"].as_array().unwrap();
        assert!(policies.iter().any(|policy| policy["name"] == family["default"]));
        for policy in policies {
            let file = policy["file"].as_str().unwrap();
            assert!(root().join(file).exists(), "{file}");
            for parameter in policy["parameters"].as_array().unwrap() {
                assert!(!parameter["doc"].as_str().unwrap().is_empty());
                assert!(!parameter["default"].as_str().unwrap().is_empty());
            }
        }
    }
}

#[test]
fn formats_are_listed() {
    let list = wordline(&["formats"]).ok().out;
    for text in ["msr", "spc", "mqsim", "rocksdb", "crates/workload/src/reader/msr.rs", "Timestamp"] {
        assert!(list.contains(text), "{text} in:\n{list}");
    }
    assert!(!wordline(&["formats", "spc"]).ok().out.contains("mqsim"));
    wordline(&["formats", "scp"]).fails(2, &["did you mean \"spc\"?"]);
}

#[test]
fn a_trace_is_summed_up() {
    let text = wordline(&["trace", &trace()]).ok().out;
    for part in ["64,189", "0.0 % reads", "128 KiB 99.3 %", "24.65 s", "1.66 GiB", "skipped       0"] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    let json = wordline(&["trace", &trace(), "--json", "--first", "1000"]).ok().json();
    // Of the first 1000 requests, nine are trims.
    assert_eq!((&json["requests"], &json["trims"]), (&json!(991), &json!(9)));
    assert_eq!(json["lines_skipped"], json!({}));
    assert!(json["write_sizes_bytes"]["131072"].as_u64().unwrap() > 900);
}

#[test]
fn help_has_examples_and_every_command_has_help() {
    let top = wordline(&["--help"]).ok().out;
    assert!(top.contains("Exit codes"), "{top}");
    for command in ["run", "presets", "policies", "explain", "trace", "formats", "compare", "completion"] {
        assert!(top.contains(command));
        let help = wordline(&[command, "--help"]).ok().out;
        assert!(help.matches("wordline ").count() >= 3 && help.contains("Examples"), "{command}: {help}");
    }
    assert!(wordline(&["--version"]).ok().out.starts_with("wordline 0."));
    wordline(&[]).fails(2, &["Usage"]);
    wordline(&["polices"]).fails(2, &["polices", "policies"]);
    wordline(&["run", "--sed", "1"]).fails(2, &["--sed", "--seed"]);
}

#[test]
fn completion_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = wordline(&["completion", shell]).ok().out;
        assert!(script.contains("wordline") && script.contains("save-snapshot"), "{shell}");
        assert!(script.contains("age"), "{shell}");
    }
    wordline(&["completion", "csh"]).fails(2, &["csh", "bash"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in [&["policies", "--json"][..], &["explain", "--docs"], &["completion", "bash"], &["formats"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wordline"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closed before anything is read: the program finds a broken pipe.
        drop(child.stdout.take());
        let status = child.wait().unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(status.success() && err.is_empty(), "{args:?}: {status}, {err}");
    }
}
