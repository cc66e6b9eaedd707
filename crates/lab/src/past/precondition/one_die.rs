//! The short way to a large drive in steady state: one die of it is overwritten for as long as it takes, and the
//! drive is then written once, so that its blocks are as full as that die's.
//!
//! Why that is the same state. Lanes never exchange data but in need, and all take the same share of what is written:
//! each die is a drive of its own. Under overwrites that hit each unit with the same probability, units die alike,
//! however they came to be where they are; so all that there is to know of a block is when it was filled and how many
//! of its units are live. Both are taken from the die, block by block in the order of filling, at another moment for
//! each lane. A unit that is to be dead is a copy of one that is written again later; a live one is the next of a
//! random permutation of the filled space. So each unit lies at a random place, as it would, and the chips have seen
//! only what they may: every page programmed once.
//!
//! What differs from the long way: no block has been erased yet.

use super::around::aged;
use super::laid::OneDie;
use super::uniform::{once_more, uniform};
use super::wanted::{Overwrite, Preconditioning, SteadyWay};
use super::work::Work;
use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::measure::progress::Progress;
use ssd::ftl::{read_reclaim, stream};
use ssd::sections::{ErrorModel, Placement, Reliability};
use ssd::{Drive, DriveConfig};

/// Units of the filled space from which on the short way is taken by itself, and dies.
const UNITS_MIN: u32 = 1 << 24;
const DIES_MIN: u32 = 8;
/// Moments at which the die is looked at, over one pass. Each lane is laid out like one of them, so that not all of
/// them have what the die had by chance.
const MOMENTS: u64 = 32;

/// Whether a drive of so many dies, of which so many units are filled, goes the short way if it can.
pub(super) fn is_wanted(filled: u32, dies: u32, wanted: &Preconditioning) -> bool {
    let is_chosen = match wanted.steady_way {
        SteadyWay::Auto => filled >= UNITS_MIN && dies >= DIES_MIN,
        SteadyWay::Whole => false,
        SteadyWay::OneDie => dies > 1 && filled > 0,
    };
    is_chosen && matches!(wanted.overwrite, Overwrite::SteadyState { .. })
}

/// Overwrites one die of a drive until it is steady, and once more. `None` if the long way is to be taken: it is asked
/// for, or the drive is too small to be worth it, or such a die cannot be built or does not become steady.
pub(super) fn measure(
    work: &mut Work<'_>,
    config: &DriveConfig,
    seed: u64,
    wanted: &Preconditioning,
    filled: u32,
) -> Result<Option<OneDie>, Failure> {
    let dies = config.geometry.dies();
    if !is_wanted(filled, dies, wanted) {
        return Ok(None);
    }
    let of_one_die = one_die(work.drive, config);
    let Ok(mut die) = Drive::with_policies(&of_one_die, work.drive.external().copies_for(&of_one_die)) else {
        return Ok(None);
    };
    // Not where blocks go beyond a die, addresses name the plane, data is separated (what lies where is then not a
    // matter of how full blocks are), or something lies on the drive already.
    let is_alike = die.blocks().lanes().units == work.drive.blocks().lanes().units
        && config.allocation.placement == Placement::Dynamic
        && config.stream == stream::Config::default();
    if !is_alike || !work.drive.blocks().full().is_empty() {
        return Ok(None);
    }
    let share = 100.0 * f64::from(filled) / f64::from(dies) / f64::from(die.logical_units());
    let wanted = Preconditioning { fill_percent: share.min(100.0), ..*wanted };
    match overwritten(&mut die, seed, &wanted, work) {
        Err(asked @ Failure::Interrupted { .. }) => Err(asked),
        Err(_) => Ok(None),
        Ok(found) => Ok(found),
    }
}

/// The die, overwritten until it is steady and once more; `None` if it does not become steady.
fn overwritten(
    die: &mut Drive,
    seed: u64,
    wanted: &Preconditioning,
    work: &mut Work<'_>,
) -> Result<Option<OneDie>, Failure> {
    let mut tell = |at: Progress| (work.progress)(Progress { phase: Phase::OneDie, ..at });
    let steady = aged(die, seed, wanted, (work.stop, &mut tell), |work, filled, done| {
        uniform(work, None, seed, wanted, (filled, done))
    })?;
    if steady.steady != Some(true) {
        return Ok(None);
    }
    let mut moments = Vec::new();
    let mut look = |die: &Drive| {
        let mut full = die.blocks().full();
        full.sort_by_key(|&(age, _)| std::cmp::Reverse(age));
        moments.push(full.into_iter().map(|(_, live)| live).collect());
    };
    let observed = (work.stop, &mut tell as &mut dyn FnMut(Progress));
    let write_amplification = once_more(die, seed, wanted, MOMENTS, &mut look, observed)?;
    Ok(Some(OneDie {
        moments,
        lanes: die.blocks().lanes().erases.len() as u32,
        pace: wanted.pace,
        write_amplification,
    }))
}

/// A drive of one die that has the good blocks of the drive's lanes and that die's share of the logical space. Its
/// chips neither err nor fail: it is there to see how full blocks are.
fn one_die(drive: &Drive, config: &DriveConfig) -> DriveConfig {
    let dies = config.geometry.dies();
    let mut die = config.clone();
    let g = &mut die.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip) = (1, 1, 1);
    g.blocks_per_plane = drive.blocks().lanes().blocks;
    die.drive.raw_gib = 0.0;
    die.reliability = Reliability::default();
    die.errors.model = ErrorModel::None;
    die.read_reclaim = read_reclaim::Config::default();
    let bytes = f64::from(drive.logical_units() / dies) * f64::from(drive.unit_bytes());
    die.drive.logical_gib = bytes / f64::from(1u32 << 30);
    die
}
