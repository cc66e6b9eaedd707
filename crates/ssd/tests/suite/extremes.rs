//! The least and the greatest value of every parameter of every policy: the drive runs with it, or is refused with an
//! error that says what is allowed.

use crate::support::{Load, every, small};
use ssd::config::{Field, Value};
use ssd::policy::{FAMILIES, FamilyInfo};
use ssd::sections::{ErrorModel, MovesOfFirst};
use ssd::{Drive, DriveConfig};

/// Commands that a full drive serves.
const COMMANDS: u64 = 500;

/// A drive with room for as many open blocks as there can be streams.
fn roomy(family: &FamilyInfo, policy: &str) -> DriveConfig {
    let mut cfg = small();
    cfg.geometry.blocks_per_plane = 80;
    cfg.drive.over_provisioning_percent = 110.0;
    every::choose(&mut cfg, &family.section(), policy);
    if family.section() == "ftl.read_reclaim" {
        cfg.errors.model = ErrorModel::Cells;
    }
    cfg
}

/// What the drive is refused with, or else it has served commands and all its tables agree.
fn refusal(cfg: DriveConfig) -> Option<String> {
    let cfg = match every::fitted(cfg) {
        Ok(cfg) => cfg,
        Err(wrong) => return Some(wrong),
    };
    let mut drive = match Drive::new(&cfg) {
        Ok(drive) => drive,
        Err(errors) => return Some(errors.to_string()),
    };
    drive.fill(0, drive.logical_units()).unwrap_or_else(|full| panic!("{full:?}\n{}", cfg.to_toml()));
    Load::new(1).run(&mut drive, COMMANDS);
    drive.drain();
    drive.check().unwrap_or_else(|what| panic!("{what}\n{}", cfg.to_toml()));
    None
}

/// What parameters of a policy are set to.
type Values = Vec<(&'static str, Value)>;

/// Each parameter at an end of its range, and all of them.
fn alone(fields: &[&Field]) -> Vec<Values> {
    let each =
        fields.iter().flat_map(|field| every::ends(field).into_iter().map(|end| vec![(field.key, end)]));
    let all =
        [0, 1].map(|at| fields.iter().map(|field| (field.key, every::ends(field)[at].clone())).collect());
    each.chain(all).collect()
}

/// One parameter at an end of its range and all others at the other: a large table that is gone through at each write.
fn against_the_others(fields: &[&Field]) -> Vec<Values> {
    let with = |one: usize, end: usize| {
        let numbered = fields.iter().enumerate();
        let at = move |of: usize| if of == one { end } else { 1 - end };
        numbered.map(|(of, field)| (field.key, every::ends(field)[at(of)].clone())).collect()
    };
    // Of two, what one is against the other the other is against the one.
    let ones = if fields.len() > 2 { 0..fields.len() } else { 1..fields.len() };
    ones.flat_map(|one| [with(one, 0), with(one, 1)]).collect()
}

/// Every policy of a family with its parameters at ends of their ranges; where moves join the first stream and where
/// they do not.
fn try_ends(name: &str, chosen: fn(&[&Field]) -> Vec<Values>) {
    let family = FAMILIES.iter().find(|family| family.section() == name).expect("a family");
    let (mut served, mut refused) = (0, Vec::new());
    for policy in family.members.iter().filter(|policy| every::is_possible(name, policy.name)) {
        for moves in [MovesOfFirst::Apart, MovesOfFirst::Joined] {
            let mut usual = roomy(family, policy.name);
            usual.allocation.moves = moves;
            let table = usual.section(name).expect("the family's section");
            let fields: Vec<_> =
                table.fields().iter().filter(|field| !every::ends(field).is_empty()).collect();
            for values in chosen(&fields) {
                let mut cfg = usual.clone();
                let table = cfg.section_mut(name).expect("the family's section");
                for (key, value) in &values {
                    table.set(key, value).unwrap_or_else(|problem| panic!("{key} {value}: {problem:?}"));
                }
                match refusal(cfg) {
                    None => served += 1,
                    Some(wrong) => refused.push((policy.name, values, wrong)),
                }
            }
        }
    }
    for (policy, values, wrong) in &refused {
        assert!(wrong.contains("allowed: "), "{name} {policy} {values:?}: {wrong}");
    }
    assert!(served > 0 || refused.is_empty(), "{name}: nothing is served: {refused:#?}");
}

#[test]
fn every_policy_runs_at_the_ends_of_its_parameters() {
    for family in FAMILIES {
        try_ends(&family.section(), alone);
    }
}

#[test]
fn every_policy_runs_with_one_parameter_at_an_end_and_the_others_at_the_other() {
    for family in FAMILIES {
        try_ends(&family.section(), against_the_others);
    }
}
