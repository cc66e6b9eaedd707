//! Random drives at the ends of what can be: one lane of long blocks, the least and the greatest value of policies'
//! parameters, operations that always fail.

use super::hotness::choose_modes;
use super::setup::{
    UNITS_AT_MOST, make_room, pick, random_aging, random_caching, random_config, random_locked_replicas,
    random_locks, random_sorting, random_stream,
};
use crate::support::every;
use ssd::config::{Field, Value};
use ssd::policy::FAMILIES;
use ssd::rng::Rng;
use ssd::sections::{MappingUnit, Superblock};
use ssd::{Drive, DriveConfig};

/// Something of a drive is taken to an end.
type Push = fn(&mut DriveConfig, &mut Rng);

/// A drive of any kind that the model knows.
fn random_kind(rng: &mut Rng) -> DriveConfig {
    match rng.below(8) {
        0..=2 => random_locks(rng),
        3 => random_locked_replicas(rng),
        4 => random_caching(rng),
        5 => random_sorting(rng),
        6 => loop {
            let mut cfg = random_config(rng);
            if random_stream(&mut cfg, rng) {
                random_aging(&mut cfg, rng);
                choose_modes(&mut cfg);
                break cfg;
            }
        },
        _ => random_config(rng),
    }
}

/// All is one lane, of one plane or of two; half of these have few long blocks.
fn one_lane(cfg: &mut DriveConfig, rng: &mut Rng) {
    let planes = pick(rng, &[1, 1, 2]);
    let lane =
        if planes == 2 { Superblock::Planes } else { pick(rng, &[Superblock::None, Superblock::Planes]) };
    cfg.allocation.superblock = lane;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, planes);
    g.blocks_per_plane = 24 + rng.below(40);
    g.wordlines_per_block = pick(rng, &[2, 7, 64]);
    if rng.below(2) == 0 {
        cfg.mapping.unit = MappingUnit::FourKib;
    }
    while cfg.physical_units() > UNITS_AT_MOST && cfg.geometry.wordlines_per_block > 1 {
        cfg.geometry.wordlines_per_block /= 2;
    }
}

/// One parameter of each policy, or all of them, at an end of its range.
fn ends_of(section: &str, cfg: &mut DriveConfig, rng: &mut Rng) {
    let table = cfg.section_mut(section).expect("the family's section");
    let fields: Vec<(&Field, Vec<Value>)> = table.fields().iter().map(|f| (f, every::ends(f))).collect();
    let fields: Vec<_> = fields.into_iter().filter(|(_, ends)| !ends.is_empty()).collect();
    let (only, side) = (rng.below(1 + fields.len() as u32) as usize, rng.below(2) as usize);
    for (at, (field, ends)) in fields.iter().enumerate() {
        if only == fields.len() || only == at {
            table.set(field.key, &ends[side]).unwrap_or_else(|problem| panic!("{}: {problem:?}", field.key));
        }
    }
}

fn programs_fail(cfg: &mut DriveConfig, _: &mut Rng) {
    cfg.reliability.program_fail_ppm = 1_000_000.0;
}

fn erases_fail(cfg: &mut DriveConfig, _: &mut Rng) {
    cfg.reliability.erase_fail_ppm = 1_000_000.0;
}

fn locks_fail(cfg: &mut DriveConfig, _: &mut Rng) {
    cfg.reliability.lock_fail_ppm = 1_000_000.0;
}

fn blocks_die_young(cfg: &mut DriveConfig, _: &mut Rng) {
    cfg.reliability.endurance_cycles = 1;
}

/// No attempt corrects a page.
fn reads_fail(cfg: &mut DriveConfig, _: &mut Rng) {
    cfg.cells.disturb.erc_max = vec![1.0; 4];
    cfg.cells.disturb.top_erc = 1.0;
}

/// Takes it there, where the drive can be with that.
fn push(cfg: &mut DriveConfig, change: impl FnOnce(&mut DriveConfig)) {
    let before = cfg.clone();
    change(cfg);
    if cfg.validate().is_err() && !make_room(cfg) {
        *cfg = before;
    }
}

/// A drive of any kind of which some is at an end.
pub fn random_ends(rng: &mut Rng) -> DriveConfig {
    const RATES: [(Push, u32); 5] =
        [(programs_fail, 12), (erases_fail, 8), (locks_fail, 4), (blocks_die_young, 10), (reads_fail, 6)];
    // By name: a seed draws what it did, wherever a family's folder is.
    let mut sections: Vec<String> = FAMILIES.iter().map(|family| family.section()).collect();
    sections.sort();
    loop {
        let mut cfg = random_kind(rng);
        if rng.below(3) == 0 {
            push(&mut cfg, |cfg| one_lane(cfg, rng));
        }
        for section in &sections {
            if rng.below(6) == 0 {
                push(&mut cfg, |cfg| ends_of(section, cfg, rng));
            }
        }
        for (fail, one_in) in RATES {
            if rng.below(one_in) == 0 {
                push(&mut cfg, |cfg| fail(cfg, rng));
            }
        }
        if Drive::new(&cfg).is_ok() {
            return cfg;
        }
    }
}
