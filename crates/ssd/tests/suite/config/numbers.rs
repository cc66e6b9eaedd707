//! What no number may be.

use super::{accepted, assert_has, refused};
use ssd::DriveConfig;
use ssd::config::{Field, Kind};

/// All keys that take numbers: those of sections, and those of every policy, with the text that selects it.
fn numbers() -> Vec<(String, &'static str, String)> {
    let takes = |field: &&Field| matches!(field.kind, Kind::Number | Kind::Numbers | Kind::Integer);
    let mut all = Vec::new();
    for (path, section) in DriveConfig::default().sections() {
        match section.family() {
            None => {
                all.extend(
                    section.fields().iter().filter(takes).map(|it| (path.to_owned(), it.key, String::new())),
                );
            }
            Some(family) => {
                for member in family.members {
                    let policy = format!("policy = \"{}\"\n", member.name);
                    all.extend(
                        member
                            .fields
                            .iter()
                            .filter(takes)
                            .map(|it| (path.to_owned(), it.key, policy.clone())),
                    );
                }
            }
        }
    }
    all
}

#[test]
fn no_key_takes_what_is_no_number_or_endless() {
    let all = numbers();
    assert!(all.len() > 100, "{}", all.len());
    for (section, key, policy) in all {
        for value in ["nan", "-nan", "inf", "-inf", "[nan]", "[inf]"] {
            let message = refused(&format!("[{section}]\n{policy}{key} = {value}"));
            assert_has(&message, &[&format!("{section}.{key}"), "found:", "allowed:"]);
        }
    }
}

#[test]
fn a_zero_below_zero_is_zero() {
    let config =
        |zero: &str| accepted(&format!("preset = \"m64\"\n[cell.states]\nprogram_step_v = {zero}")).to_toml();
    assert_eq!(config("-0.0"), config("0.0"));
}
