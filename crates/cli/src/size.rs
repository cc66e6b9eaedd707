//! A drive for a workload: the default drive, made as small as the workload's footprint allows.
//!
//! A trace says what was touched, not on which drive; on a drive hundreds of times larger nothing would ever be
//! cleaned. The rule: keep the preset's timing, channels, over-provisioning and policies, and find the smallest drive
//! on which the footprint takes at most 80 % of the logical space, with at least 64 blocks in each plane so that
//! cleaning has a choice (256, where the workload addresses all of the space and leaves no slack). First there are
//! fewer blocks in each plane; then shorter blocks, down to a sixteenth, because that changes the drive's speed least;
//! then fewer chips on each channel; then still shorter blocks. Keys that were given by `--set` stay as they are.
//!
//! Settings that do not describe the chips have no part in it, so that a sweep of one of them (over-provisioning, a
//! policy) compares drives of one geometry. Only where the footprint does not fit with them are they taken into
//! account.

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

/// What the drive has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The pages a workload touches; 20 to 25 % of the drive stay unwritten.
    Footprint(u64),
    /// All of the logical space may be addressed, of a drive about so large.
    Whole(u64),
}

impl Need {
    fn bytes(self) -> u64 {
        match self {
            Need::Footprint(bytes) | Need::Whole(bytes) => bytes,
        }
    }
}

/// The drive found.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// The keys that differ from the preset.
    pub toml: String,
    /// What was done, in a line.
    pub note: String,
    /// Share of the logical space that holds all that the workload addresses.
    pub fill_percent: f64,
}

/// The need of a workload that runs unchanged on so many sectors, or on a share of any drive.
pub fn need(space_sectors: Option<u64>) -> Need {
    match space_sectors {
        Some(sectors) => Need::Footprint(sectors.saturating_mul(SECTOR_BYTES)),
        None => Need::Whole(GENERATOR_SPACE_BYTES),
    }
}

/// Finds the smallest drive of the default's kind; with the user's settings it keeps that one's geometry, if the
/// workload fits on it.
pub fn size(inputs: &Inputs, need: Need) -> Result<Sized, Failure> {
    let wanted = inputs.resolve(None)?.config;
    let fixed = Fixed { chips: inputs.sets(CHIPS), wordlines: inputs.sets(WORDLINES) };
    // Chips that are no drive without the other settings are sized with them.
    let found = inputs.chips().ok().and_then(|chips| find(&chips, need, fixed));
    let kept = found.as_ref().map(|found| with_geometry(&wanted, found));
    let (config, is_other) = match kept.filter(|config| holds(config, need)) {
        Some(config) => (Some(config), false),
        None => (find(&wanted, need, fixed), found.is_some()),
    };
    let Some(config) = config else {
        let message = format!(
            "no drive of this kind holds the workload's footprint of {}: name a drive with --drive or --config",
            bytes(need.bytes())
        );
        return Err(Failure::usage(message));
    };
    let mut sized = described(&wanted, &config, need);
    if is_other {
        sized.note.push_str(
            "; another geometry than without the settings, which need more room or more spare blocks",
        );
    }
    Ok(sized)
}

/// Whether a configuration makes a drive, and one that the workload fits on.
fn holds(config: &DriveConfig, need: Need) -> bool {
    let is_large_enough = match need {
        Need::Footprint(bytes) => config.logical_bytes() >= bytes,
        // It takes its share of whatever there is.
        Need::Whole(_) => true,
    };
    is_large_enough && config.validate().is_ok()
}

/// A drive with the geometry of another.
fn with_geometry(config: &DriveConfig, of: &DriveConfig) -> DriveConfig {
    let mut config = config.clone();
    config.geometry = of.geometry.clone();
    config
}

/// What the user has fixed of the geometry.
#[derive(Clone, Copy)]
struct Fixed {
    chips: bool,
    wordlines: bool,
}

/// The smallest drive like `preset`.
fn find(preset: &DriveConfig, need: Need, fixed: Fixed) -> Option<DriveConfig> {
    let (target, blocks_min) = match need {
        Need::Footprint(bytes) => (bytes.div_ceil(UTILISATION_PERCENT_MAX).saturating_mul(100), BLOCKS_MIN),
        Need::Whole(bytes) => (bytes, BLOCKS_MIN_WHOLE),
    };
    let tight = target / UTILISATION_PERCENT_MIN * UTILISATION_PERCENT_MAX;
    let mut best: Option<DriveConfig> = None;
    for shape in shapes(preset, fixed) {
        let Some(config) = smallest(shape, target, blocks_min) else { continue };
        if best.as_ref().is_none_or(|best| config.logical_bytes() < best.logical_bytes()) {
            best = Some(config);
        }
        if best.as_ref().is_some_and(|best| best.logical_bytes() <= tight) {
            break;
        }
    }
    best
}

/// Wordlines and chips to try, the preset's first, each about half as large as the one before.
fn shapes(preset: &DriveConfig, fixed: Fixed) -> Vec<DriveConfig> {
    let mut shapes = vec![preset.clone()];
    let mut config = preset.clone();
    let shorter_to = |config: &mut DriveConfig, least: u32, shapes: &mut Vec<DriveConfig>| {
        while !fixed.wordlines && config.geometry.wordlines_per_block / 2 >= least.max(WORDLINES_MIN) {
            config.geometry.wordlines_per_block /= 2;
            shapes.push(config.clone());
        }
    };
    shorter_to(&mut config, preset.geometry.wordlines_per_block / SHORTER_BEFORE_CHIPS, &mut shapes);
    while !fixed.chips && config.geometry.chips_per_channel > 1 {
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

fn described(preset: &DriveConfig, config: &DriveConfig, need: Need) -> Sized {
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
    let (fill_percent, for_what) = match need {
        Need::Footprint(footprint) => {
            // Whole units: what is only touched in part is filled as well.
            let filled = footprint.next_multiple_of(u64::from(config.unit_bytes())).min(logical);
            let percent = 100.0 * filled as f64 / logical as f64;
            (percent, format!("sized to the footprint of {} ({percent:.0} % of it)", bytes(footprint)))
        }
        Need::Whole(_) => (100.0, "of the size for generated workloads".to_owned()),
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
        assert!(inputs.leave_the_size_open());
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
        assert!(!Inputs::read(&args, None, Vec::new()).unwrap().leave_the_size_open());
    }

    #[test]
    fn a_setting_does_not_change_the_geometry() {
        let whole = |set: &[&str]| {
            let args =
                DriveArgs { set: set.iter().map(ToString::to_string).collect(), ..DriveArgs::default() };
            let inputs = Inputs::read(&args, None, Vec::new()).unwrap();
            let sized = size(&inputs, need(None)).unwrap();
            assert_eq!(sized.fill_percent, 100.0, "all that may be addressed is filled");
            inputs.resolve(Some(&sized.toml)).unwrap().config
        };
        let plain = whole(&[]);
        for percent in [4, 7, 20, 28] {
            let set = format!("drive.over_provisioning_percent={percent}");
            let swept = whole(&[&set]);
            assert_eq!(swept.geometry, plain.geometry, "{set}");
            let spare = swept.physical_units() as f64 / swept.logical_units() as f64;
            assert!((spare - 1.0 - f64::from(percent) / 100.0).abs() < 1e-3, "{set}: {spare}");
            let (of_footprint, config) = sized(4 << 30, &[&set]);
            let filled = of_footprint.fill_percent / 100.0 * config.logical_bytes() as f64;
            assert!((filled / f64::from(4 << 20) - 1024.0).abs() < 1e-6, "{set}: {filled} bytes");
            // Three spare blocks a plane are too few to work with, so that a drive of more and shorter ones is taken.
            let is_other = of_footprint.note.contains("another geometry");
            assert_eq!(is_other, percent == 4, "{}", of_footprint.note);
            assert_eq!(is_other, config.geometry != sized(4 << 30, &[]).1.geometry, "{set}");
        }
        // A setting that leaves too little room for the footprint makes the drive larger.
        let (sized, roomy) = sized(4 << 30, &["drive.over_provisioning_percent=60"]);
        assert!(roomy.logical_bytes() >= 4 << 30 && sized.note.contains("another geometry"));
        // One that describes the chips counts from the start.
        let channels = whole(&["nand.geometry.channels=4"]);
        assert!(channels.geometry.channels == 4 && channels.logical_bytes() >= GENERATOR_SPACE_BYTES);
    }

    #[test]
    fn the_impossible_is_an_error() {
        let inputs = Inputs::read(&DriveArgs::default(), None, Vec::new()).unwrap();
        let error = size(&inputs, Need::Footprint(1 << 50)).unwrap_err();
        assert!(error.message().unwrap().contains("1 PiB") || error.message().unwrap().contains("1024 TiB"));
    }
}
