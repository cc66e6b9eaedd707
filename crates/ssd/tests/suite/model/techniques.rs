//! What is drawn for techniques that a drive may lack. It is drawn without them, too: the drive is otherwise the same.

use super::setup::{make_room, names, pick, random_policy};
use crate::support::every::has;
use ssd::DriveConfig;
use ssd::config::{Table, Value};
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

/// Replicas of pages read often, as many as the drive has room for.
pub fn random_redftl(cfg: &mut DriveConfig, rng: &mut Rng) {
    let replica_percent = pick(rng, &[10.0, 50.0, 70.0]);
    let values = [
        ("max_reads", Value::Integer(i128::from(pick(rng, &[20, 60, 400])))),
        ("replica_percent", Value::Float(replica_percent)),
        ("migration_percent", Value::Float(pick(rng, &[replica_percent + 2.0, 75.0, 95.0]))),
        ("check_percent", Value::Float(pick(rng, &[1.0, 5.0, 30.0]))),
        ("alpha", Value::Float(pick(rng, &[0.0, 0.5, 2.0]))),
        ("block_rate", Value::Text(pick(rng, &["mean", "sum"]).to_owned())),
        ("even_variation", Value::Float(pick(rng, &[0.0, 0.25, 2.0]))),
        ("good_blocks_percent", Value::Float(pick(rng, &[3.0, 30.0, 100.0]))),
    ];
    let pages = cfg.geometry.pages_per_block();
    let limit = pick(rng, &[1, 2, 15]).min(pages / 2);
    if !has("ftl.read_reclaim.redftl") {
        return;
    }
    cfg.read_reclaim.select("redftl").unwrap();
    for (key, value) in values {
        cfg.read_reclaim.set(key, &value).unwrap_or_else(|problem| panic!("redftl.{key}: {problem:?}"));
    }
    cfg.read_reclaim.set("replica_limit", &Value::Integer(i128::from(limit))).unwrap();
    if !make_room(cfg) {
        cfg.read_reclaim.set("replica_limit", &Value::Integer(0)).unwrap();
    }
}
