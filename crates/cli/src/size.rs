//! A drive for a workload: the default drive, made as small as the workload's footprint allows.
//!
//! A trace says what was touched, not on which drive; on a drive hundreds of times larger nothing would ever be
//! cleaned. The rule: keep the preset's timing, channels, over-provisioning and policies, and find the smallest drive
//! on which the footprint takes at most 80 % of the logical space, with at least 64 blocks in each plane so that
//! cleaning has a choice (256, where the workload addresses all of the space and leaves no slack). First there are
//! fewer blocks in each plane; then shorter blocks, down to a sixteenth, because that changes the drive's speed least;
//! then fewer chips on each channel; then still shorter blocks. Keys that were given by `--set` stay as they are.

use ssd::DriveConfig;
use workload::SECTOR_BYTES;

use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::text::bytes;

/// Share of the logical space that a footprint takes at most.
pub const UTILISATION_PERCENT_MAX: u64 = 80;
/// Share below which a smaller shape is looked for.
pub const UTILISATION_PERCENT_MIN: u64 = 75;
/// Blocks in each plane at least, where the footprint leaves part of the space unwritten.
pub const BLOCKS_MIN: u32 = 64;
/// Blocks in each plane at least, where it does not: the open blocks are a small part of the spare ones.
const BLOCKS_MIN_WHOLE: u32 = 256;
/// Wordlines in each block at least.
const WORDLINES_MIN: u32 = 4;
/// Blocks become shorter by this before there are fewer chips.
const SHORTER_BEFORE_CHIPS: u32 = 16;
/// Blocks in each plane at most: what the configuration allows.
const BLOCKS_MAX: u32 = 4_194_304;
/// Logical space for a generator that addresses a share of whatever drive there is.
pub const GENERATOR_SPACE_BYTES: u64 = 8 << 30;

const CHIPS: &str = "nand.geometry.chips_per_channel";
const WORDLINES: &str = "nand.geometry.wordlines_per_block";
const BLOCKS: &str = "nand.geometry.blocks_per_plane";

/// Keys by which the user says how large the drive is; with one of them it is not sized.
const CAPACITY_KEYS: &[&str] = &[BLOCKS, "drive.logical_gib"];

/// What the drive has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The pages a workload touches; 20 to 25 % of the drive stay unwritten.
    Footprint(u64),
    /// All of the logical space is addressed.
    Whole(u64),
}

/// The drive found.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// The keys that differ from the preset.
    pub toml: String,
    /// What was done, in a line.
    pub note: String,
    /// The footprint's share of the logical space.
    pub fill_percent: f64,
}

/// Whether the drive is to be sized: nothing names or describes one, and no key fixes its capacity.
pub fn wanted(inputs: &Inputs) -> bool {
    !inputs.names_a_drive() && !CAPACITY_KEYS.iter().any(|key| inputs.sets(key))
}

/// The need of a workload that runs unchanged on so many sectors, or on a share of any drive.
pub fn need(space_sectors: Option<u64>) -> Need {
    match space_sectors {
        Some(sectors) => Need::Footprint(sectors.saturating_mul(SECTOR_BYTES)),
        None => Need::Whole(GENERATOR_SPACE_BYTES),
    }
}

/// Finds the smallest drive of the preset's kind.
pub fn size(inputs: &Inputs, need: Need) -> Result<Sized, Failure> {
    let preset = inputs.resolve(None)?.config;
    let (footprint, target, blocks_min) = match need {
        Need::Footprint(bytes) => {
            (bytes, bytes.div_ceil(UTILISATION_PERCENT_MAX).saturating_mul(100), BLOCKS_MIN)
        }
        Need::Whole(bytes) => (bytes, bytes, BLOCKS_MIN_WHOLE),
    };
    let tight = target / UTILISATION_PERCENT_MIN * UTILISATION_PERCENT_MAX;
    let shapes = shapes(&preset, inputs.sets(CHIPS), inputs.sets(WORDLINES));
    let mut best: Option<DriveConfig> = None;
    for shape in shapes {
        let Some(config) = smallest(shape, target, blocks_min) else { continue };
        if best.as_ref().is_none_or(|best| config.logical_bytes() < best.logical_bytes()) {
            best = Some(config);
        }
        if best.as_ref().is_some_and(|best| best.logical_bytes() <= tight) {
            break;
        }
    }
    let Some(config) = best else {
        let message = format!(
            "no drive of this kind holds the workload's footprint of {}: name a drive with --drive or --config",
            bytes(footprint)
        );
        return Err(Failure::usage(message));
    };
    Ok(described(&preset, &config, need, footprint))
}

/// Wordlines and chips to try, the preset's first, each about half as large as the one before.
fn shapes(preset: &DriveConfig, chips_fixed: bool, wordlines_fixed: bool) -> Vec<DriveConfig> {
    let mut shapes = vec![preset.clone()];
    let mut config = preset.clone();
    let shorter_to = |config: &mut DriveConfig, least: u32, shapes: &mut Vec<DriveConfig>| {
        while !wordlines_fixed && config.geometry.wordlines_per_block / 2 >= least.max(WORDLINES_MIN) {
            config.geometry.wordlines_per_block /= 2;
            shapes.push(config.clone());
        }
    };
    shorter_to(&mut config, preset.geometry.wordlines_per_block / SHORTER_BEFORE_CHIPS, &mut shapes);
    while !chips_fixed && config.geometry.chips_per_channel > 1 {
        config.geometry.chips_per_channel /= 2;
        shapes.push(config.clone());
    }
    shorter_to(&mut config, WORDLINES_MIN, &mut shapes);
    shapes
}

/// The shape with the fewest blocks that make it valid and large enough; `None` if no number does.
fn smallest(shape: DriveConfig, target: u64, blocks_min: u32) -> Option<DriveConfig> {
    let with = |blocks: u32| {
        let mut config = shape.clone();
        config.geometry.blocks_per_plane = blocks;
        config
    };
    let is_enough = |blocks: u32| {
        let config = with(blocks);
        config.logical_bytes() >= target && config.validate().is_ok()
    };
    let mut high = blocks_min;
    while !is_enough(high) {
        high = high.checked_mul(2).filter(|high| *high <= BLOCKS_MAX)?;
    }
    let mut low = blocks_min - 1;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(with(high))
}

fn described(preset: &DriveConfig, config: &DriveConfig, need: Need, footprint: u64) -> Sized {
    let mut toml = String::from("[nand.geometry]\n");
    let (old, new) = (&preset.geometry, &config.geometry);
    for (key, old, new) in [
        ("chips_per_channel", old.chips_per_channel, new.chips_per_channel),
        ("wordlines_per_block", old.wordlines_per_block, new.wordlines_per_block),
        ("blocks_per_plane", old.blocks_per_plane, new.blocks_per_plane),
    ] {
        if old != new {
            toml.push_str(&format!("{key} = {new}\n"));
        }
    }
    let logical = config.logical_bytes();
    let fill_percent = 100.0 * footprint.min(logical) as f64 / logical as f64;
    let for_what = match need {
        Need::Footprint(bytes_touched) => {
            format!("sized to the footprint of {} ({fill_percent:.0} % of it)", bytes(bytes_touched))
        }
        Need::Whole(_) => "all of it addressed".to_owned(),
    };
    let shape = format!(
        "{} channels x {} chips x {} planes x {} blocks of {}",
        new.channels,
        new.chips_per_channel * new.dies_per_chip,
        new.planes_per_die,
        new.blocks_per_plane,
        bytes(u64::from(new.pages_per_block()) * u64::from(new.page_bytes)),
    );
    let note = format!("drive: {} for the host, {for_what}; {shape}", bytes(logical));
    Sized { toml, note, fill_percent }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::DriveArgs;

    fn sized(footprint: u64, set: &[&str]) -> (Sized, DriveConfig) {
        let args = DriveArgs { set: set.iter().map(ToString::to_string).collect(), ..DriveArgs::default() };
        let inputs = Inputs::read(&args, None, Vec::new()).unwrap();
        assert!(wanted(&inputs));
        let sized = size(&inputs, Need::Footprint(footprint)).unwrap();
        let config = inputs.resolve(Some(&sized.toml)).unwrap().config;
        (sized, config)
    }

    #[test]
    fn the_footprint_takes_75_to_80_percent_from_small_to_large() {
        for mib in [210, 500, 1_703, 10_000, 100_000, 1_000_000, 4_000_000] {
            let footprint = mib << 20;
            let (sized, config) = sized(footprint, &[]);
            let percent = 100.0 * footprint as f64 / config.logical_bytes() as f64;
            assert!((74.9..=80.0).contains(&percent), "{mib} MiB: {percent} % of {}", sized.note);
            assert!((percent - sized.fill_percent).abs() < 0.1);
            assert!(config.geometry.blocks_per_plane >= BLOCKS_MIN);
            assert_eq!(config.geometry.channels, 8);
        }
    }

    #[test]
    fn a_tiny_footprint_gets_the_smallest_drive() {
        let (_, config) = sized(4_096, &[]);
        assert_eq!(config.geometry.chips_per_channel, 1);
        assert!(config.logical_bytes() < 512 << 20);
    }

    #[test]
    fn what_was_set_stays() {
        let (_, config) =
            sized(1 << 30, &["nand.geometry.chips_per_channel=4", "drive.over_provisioning_percent=28"]);
        assert_eq!(config.geometry.chips_per_channel, 4);
        assert!((config.physical_units() as f64 / config.logical_units() as f64 - 1.28).abs() < 1e-3);
        let args = DriveArgs { set: vec!["drive.logical_gib=10".into()], ..DriveArgs::default() };
        assert!(!wanted(&Inputs::read(&args, None, Vec::new()).unwrap()));
    }

    #[test]
    fn the_impossible_is_an_error() {
        let inputs = Inputs::read(&DriveArgs::default(), None, Vec::new()).unwrap();
        let error = size(&inputs, Need::Footprint(1 << 50)).unwrap_err();
        assert!(error.message().unwrap().contains("1 PiB") || error.message().unwrap().contains("1024 TiB"));
    }
}
