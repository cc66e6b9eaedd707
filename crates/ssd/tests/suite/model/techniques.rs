//! What is drawn for techniques that a drive may lack. It is drawn without them, too: the drive is otherwise the same.

use super::setup::{names, pick, random_policy};
use ssd::DriveConfig;
use ssd::config::Value;
use ssd::policy::family;
use ssd::rng::Rng;

/// How wear is levelled.
pub fn random_leveling(cfg: &mut DriveConfig, rng: &mut Rng) {
    let policies = [
        ("age_aware", &["check_interval"][..]),
        ("static_swap", &["max_difference", "check_interval"]),
        ("dynamic", &[]),
        ("none", &[]),
    ];
    let (policy, keys) = pick(rng, &policies);
    let drawn: Vec<_> = keys
        .iter()
        .map(|&key| (key, pick(rng, if key == "max_difference" { &[1, 3] } else { &[1, 4] })))
        .collect();
    let Some(family) = family("ftl.wear_leveling") else { return };
    let possible = names(family);
    assert!(possible.iter().all(|name| policies.iter().any(|(policy, _)| policy == name)), "{possible:?}");
    if possible.contains(&policy) {
        let value = |key: &str| drawn.iter().find(|(drawn, _)| *drawn == key);
        random_policy(cfg, "ftl.wear_leveling", policy, |key| Some(Value::Integer(value(key)?.1)));
    }
}
