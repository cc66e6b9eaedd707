//! What is drawn for techniques that a drive may lack. It is drawn without them, too: the drive is otherwise the same.

use super::setup::{make_room, names, pick, random_policy};
use ssd::DriveConfig;
use ssd::config::{Table, Value};
use ssd::ftl::read_reclaim;
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

/// Any policy that moves data because of reads.
pub fn random_read_reclaim(cfg: &mut DriveConfig, rng: &mut Rng) {
    const ALL: [&str; 7] = ["never", "block", "page_type", "lazy_exact", "redftl", "straw", "redftl_plus"];
    let possible = names(&read_reclaim::FAMILY);
    assert!(possible.iter().all(|name| ALL.contains(name)), "{possible:?}");
    let policy = pick(rng, &ALL);
    if policy == "redftl" {
        return random_redftl(cfg, rng);
    }
    let value = |key: &str| {
        Some(match key {
            "max_reads" => Value::Integer(pick(rng, &[5, 40, 400])),
            "ahead_reads" => Value::Integer(pick(rng, &[1, 20])),
            "check_interval" => Value::Integer(pick(rng, &[1, 5, 30])),
            "entries" => Value::Integer(pick(rng, &[1, 3, 8])),
            "idle_after_us" => Value::Float(pick(rng, &[5.0, 500.0, 10_000.0])),
            _ => return None,
        })
    };
    if possible.contains(&policy) {
        random_policy(cfg, "ftl.read_reclaim", policy, value);
    } else {
        let drawn = ["max_reads", "idle_after_us"].map(value);
        stand_in(cfg, &drawn[0].clone().expect("a number"), DEALS);
    }
    if cfg.validate().is_err() && !make_room(cfg) {
        random_policy(cfg, "ftl.read_reclaim", read_reclaim::FAMILY.default, |_| None);
    }
}

/// What policies that were taken out are told by, where another stands in for them: no other drive has such limits.
const DEALS: i128 = 1;
const REPLICAS: i128 = 2;

/// In place of a policy that was taken out blocks move as a whole, after about as many reads.
pub fn stand_in(cfg: &mut DriveConfig, max_reads: &Value, mark: i128) {
    let &Value::Integer(reads) = max_reads else { unreachable!("reads are whole numbers") };
    cfg.read_reclaim = read_reclaim::Config::named("block").expect("a policy");
    cfg.read_reclaim.set("max_reads", &Value::Integer(reads + mark)).expect("a parameter");
}

/// Whether another policy stands in for one that was taken out.
fn has_stand_in(cfg: &DriveConfig, mark: i128) -> bool {
    let reads = cfg.read_reclaim.show("max_reads").and_then(|reads| reads.parse::<i128>().ok());
    cfg.read_reclaim.name() == "block" && reads.is_some_and(|reads| reads % 5 == mark)
}

/// Whether the drive deals data over blocks because of reads, or would, if it could.
pub fn deals(cfg: &DriveConfig) -> bool {
    cfg.read_reclaim.name() == "redftl_plus" || has_stand_in(cfg, DEALS)
}

/// Whether it has room for replicas, or would have, if it could make some.
pub fn replicates(cfg: &DriveConfig) -> bool {
    cfg.replica_pages_per_block() > 0 || has_stand_in(cfg, REPLICAS)
}

/// A quarter of the drives deal data over blocks because of reads, whether their cells age or not.
pub fn random_deals(cfg: &mut DriveConfig, rng: &mut Rng) {
    if rng.below(4) > 0 {
        return;
    }
    let values = [
        ("max_reads", Value::Integer(pick(rng, &[5, 40, 300]))),
        ("threshold_percent", Value::Float(pick(rng, &[50.0, 95.0]))),
        ("idle_after_us", Value::Float(pick(rng, &[5.0, 500.0, 10_000.0]))),
        ("pairing", Value::Bool(rng.below(4) > 0)),
        ("empty_partner", Value::Bool(rng.below(2) == 0)),
        ("page_types", Value::Bool(rng.below(4) > 0)),
        ("counters", Value::Text(pick(rng, &["two_level", "exact"]).to_owned())),
        ("deal_order", Value::Text(["page_type", "weight"][(cfg.drive.seed % 2) as usize].to_owned())),
    ];
    let Some(policy) = read_reclaim::Config::named("redftl_plus") else {
        return stand_in(cfg, &values[0].1, DEALS);
    };
    cfg.read_reclaim = policy;
    for (key, value) in values {
        cfg.read_reclaim.set(key, &value).expect("a parameter");
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
    let Some(policy) = read_reclaim::Config::named("redftl") else {
        return stand_in(cfg, &values[0].1, REPLICAS);
    };
    cfg.read_reclaim = policy;
    for (key, value) in values {
        cfg.read_reclaim.set(key, &value).unwrap_or_else(|problem| panic!("redftl.{key}: {problem:?}"));
    }
    cfg.read_reclaim.set("replica_limit", &Value::Integer(i128::from(limit))).unwrap();
    if !make_room(cfg) {
        cfg.read_reclaim.set("replica_limit", &Value::Integer(0)).unwrap();
    }
}
