//! Bad physics is refused with the key and the rule.

use super::part;
use crate::config::Layer;
use crate::nand::cell::{CellPart, PRESETS};

fn refused(text: &str) -> String {
    match CellPart::read(&[Layer::file("my.toml", text)]) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn errors_name_the_place_the_key_and_the_rule() {
    // Text, and what the message must say.
    const CASES: &[(&str, &[&str])] = &[
        ("[cell.states]\nsigma_v = -0.1", &["my.toml:2", "cell.states.sigma_v", "-0.1", "0.001 to 2 V"]),
        (
            "[cell.states]\nmean_v = [-2, 0.3, 1.7, 1.2, 3, 3.6, 4.3, 5.2]",
            &["my.toml:2", "cell.states.mean_v", "states out of order", "1.7 V, state 3 at 1.2 V", "rise"],
        ),
        ("[cell.states]\nmean_v = [-2, 0.3]", &["cell.states.mean_v", "2 means", "8 means", "bits_per_cell"]),
        (
            "[cell.retention]\nreference_c = -300",
            &["my.toml:2", "cell.retention.reference_c", "-273 to 300 degrees C"],
        ),
        (
            "[cell.wordlines]\ngroup_shares = [0.4, 0.3, 0.2, 0.2]",
            &["my.toml:2", "cell.wordlines.group_shares", "sum to 1.1", "a sum of 1"],
        ),
        ("[cell.wordlines]\ngroup_shares = [0.5, 0.5]", &["cell.wordlines.group_shares", "four numbers"]),
        (
            "[cell.ecc]\nlimit_bits = 100",
            &["my.toml:2", "cell.ecc.limit_bits", "100 bits corrected by 128 bytes", "at most 73 bits"],
        ),
        (
            "[cell.ecc]\ncode = \"ldpc\"\nmax_rber = [0.02, 0.025]\nlevel_steps = [1]\ndecode_us = [5]",
            &["cell.ecc.max_rber", "0.02 at 1 levels", "capacity"],
        ),
        (
            "[cell.states]\ngray_code = [[1, 5], [2, 4, 6], [3, 6]]",
            &["my.toml:2", "cell.states.gray_code", "not a Gray code", "threshold 6 twice"],
        ),
        ("[cell.states]\nsigm_v = 0.1", &["my.toml:2", "no such key", "did you mean", "sigma_v"]),
        (
            "[cell.retntion]\nshift_v = 0.1",
            &["my.toml:1", "no such section", "did you mean [cell.retention]"],
        ),
        ("[cel.states]\nsigma_v = 0.1", &["my.toml:1", "no such section", "[cel]"]),
        ("[cell.population]\ndwell = \"linear\"", &["my.toml:2", "log, logistic"]),
        ("[cell.modes]\nwear = [1.0]", &["my.toml:2", "cell.modes.wear", "lists of 1 and 3"]),
        ("[cell.modes]\npass_ratio = [1, 0.98, 0.9]", &["cell.modes.pass_ratio", "at least 0.96"]),
        ("[cell.population]\nn12_span = 30", &["cell.population.n12_span", "above 0"]),
        ("[cell.effects]\nsuspends_full = 20", &["cell.effects.suspends_full", "above suspends_free"]),
        ("[cell.states", &["my.toml:1", "not valid TOML"]),
    ];
    for (text, words) in CASES {
        let message = refused(text);
        for word in *words {
            assert!(message.contains(word), "{word:?} is missing:\n{message}");
        }
    }
    let two = refused("[cell.states]\nsigma_v = -1\n[cell.ecc]\nparity_bytes = 0");
    assert!(two.contains("sigma_v") && two.contains("parity_bytes"), "all errors at once:\n{two}");
}

#[test]
fn the_default_part_is_the_shipped_tlc() {
    let shipped = CellPart::preset("tlc_48l").expect("a shipped part");
    let code = shipped.states.gray_code.clone();
    let mut default = CellPart::default();
    default.states.gray_code = code;
    default.markers = shipped.markers.clone();
    assert_eq!(shipped, default);
    let unknown = CellPart::preset("tlc_48").expect_err("not shipped").to_string();
    assert!(unknown.contains("tlc_48l"), "{unknown}");
}

/// Every number of a shipped part is written out, with a tag.
#[test]
fn shipped_parts_say_where_numbers_are_from() {
    let mut files: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    files.sort_unstable();
    assert_eq!(files, ["mlc", "mlc_hire", "qlc", "qlc_modes", "slc", "tlc_48l"]);
    for preset in PRESETS {
        let model = part(preset.name);
        let markers = crate::config::presets::marker(preset.name).expect("fitted on every part");
        let text = format!("{}{}", preset.text, markers.text);
        for (path, section) in model.part().sections() {
            assert!(text.contains(&format!("[{path}]")), "{}: {path}", preset.file);
            for field in section.fields() {
                let line = text.lines().find(|line| line.starts_with(&format!("{} = ", field.key)));
                let line = line.unwrap_or_else(|| panic!("{}: {path}.{} is not set", preset.file, field.key));
                assert!(
                    ["[P]", "[D]", "[F]", "[A]"].iter().any(|tag| line.contains(tag)),
                    "{}: {line}",
                    preset.file
                );
            }
        }
    }
}
