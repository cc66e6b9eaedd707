//! The least and the greatest value of every parameter of every policy: the drive runs with it, or is refused with an
//! error that says what is allowed.

use crate::support::{Load, every, small};
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

/// Every policy of a family with each of its parameters at an end of its range, and with all of them; where moves join
/// the first stream and where they do not.
fn try_ends(name: &str) {
    let family = FAMILIES.iter().find(|family| family.section() == name).expect("a family");
    let (mut served, mut refused) = (0, Vec::new());
    for policy in family.members {
        for moves in [MovesOfFirst::Apart, MovesOfFirst::Joined] {
            let mut usual = roomy(family, policy.name);
            usual.allocation.moves = moves;
            let table = usual.section(name).expect("the family's section");
            let fields: Vec<_> =
                table.fields().iter().filter(|field| !every::ends(field).is_empty()).collect();
            let each = fields
                .iter()
                .flat_map(|field| every::ends(field).into_iter().map(|end| vec![(field.key, end)]));
            let all = [0, 1]
                .map(|at| fields.iter().map(|field| (field.key, every::ends(field)[at].clone())).collect());
            for values in each.chain(all) {
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
    assert!(served > 0, "{refused:#?}");
}

#[test]
fn every_policy_runs_at_the_ends_of_its_parameters() {
    for family in FAMILIES {
        try_ends(&family.section());
    }
}
