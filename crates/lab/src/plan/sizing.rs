//! A drive that nobody described: a preset, made as small as a workload allows (docs/default-drive.md has the rule).
//!
//! Channels, chips, dies and planes stay, because latency depends on them. Planes get fewer blocks, then blocks fewer
//! wordlines, until the drive is small enough to be filled in a moment; a larger footprint makes it larger again.
//! [`SizeChoice::Footprint`] goes on below that: block length goes first, then dies. How large the spare room is has no
//! part in it, so that a sweep of over-provisioning compares drives of one geometry: the footprint fits up to
//! [`OVER_PROVISIONING_PERCENT`].

use ssd::DriveConfig;

/// Over-provisioning up to which the footprint fits; % (assumed: what drives for heavy writing have).
pub const OVER_PROVISIONING_PERCENT: f64 = 28.0;
/// Flash that the drive has at least, and at most where the footprint does not ask for more; bytes (assumed).
pub const RAW_BYTES: std::ops::RangeInclusive<u64> = 8 << 30..=12 << 30;
/// The smallest footprint that a drive is sized to; bytes (assumed).
pub const FOOTPRINT_BYTES_MIN: u64 = 128 << 20;
/// What a named drive may have more of spare room, as a share of its capacity: a block in each plane.
const SPARE_SLACK: f64 = 0.02;
/// Capacities of named drives are multiples of this; bytes.
const CAPACITY_STEP: u64 = 1 << 20;
/// Blocks in each plane at least (assumed: 8 of them are spare at 7 %).
pub const BLOCKS_MIN: u32 = 128;
/// Wordlines in each block at least.
const WORDLINES_MIN: u32 = 4;
/// Blocks in each plane at most: what the configuration allows.
const BLOCKS_MAX: u32 = 4_194_304;

ssd::choice! {
    /// How small a drive is made that nobody described.
    pub enum SizeChoice {
        /// As small as is quick to fill, or as the workload's footprint asks for.
        Auto = "auto",
        /// As small as the workload's footprint, down to 128 MiB: gives up block length, then dies.
        Footprint = "footprint",
    }
}

/// What the drive has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The bytes that a workload touches, packed.
    Footprint(u64),
    /// A share of whatever drive there is.
    Share,
}

/// What the user has fixed of the geometry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// Chips on each channel.
    pub chips: bool,
    /// Wordlines of each block.
    pub wordlines: bool,
}

/// Bytes in the binary unit that suits them: `4 KiB`, `1.50 GiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = (1..UNITS.len()).rev().find(|&i| n >= 1 << (10 * i)).unwrap_or(0);
    let scale = 1u64 << (10 * unit);
    if n.is_multiple_of(scale) {
        format!("{} {}", n / scale, UNITS[unit])
    } else {
        format!("{:.2} {}", n as f64 / scale as f64, UNITS[unit])
    }
}

/// The smallest drive like `preset`, by the rule; `None` if none holds it.
pub fn fit(preset: &DriveConfig, need: Need, choice: SizeChoice, fixed: Fixed) -> Option<DriveConfig> {
    let footprint = match need {
        Need::Footprint(bytes) => bytes,
        Need::Share => 0,
    };
    match choice {
        SizeChoice::Auto => with_all_dies(preset, footprint, fixed),
        SizeChoice::Footprint => tightest(preset, footprint, fixed),
    }
}

/// A drive that was named, as small as a footprint: it has that capacity, whichever drive it is, and its own spare room
/// beside, so that several can be compared by what else they are. `None` where its blocks are too large for that.
pub fn like(named: &DriveConfig, footprint: u64, fixed: Fixed) -> Option<DriveConfig> {
    let capacity = footprint.max(FOOTPRINT_BYTES_MIN).next_multiple_of(CAPACITY_STEP);
    let raw = (capacity as f64 * with_spare(named)) as u64;
    let mut shape = named.clone();
    // All of a small drive is used: there are as many blocks as that takes.
    shape.drive.raw_gib = 0.0;
    shape.drive.logical_gib = capacity as f64 / (1u64 << 30) as f64;
    let shapes = smaller(&shape, fixed);
    let fitting = shapes.iter().find(|shape| raw_bytes(shape) <= raw);
    let found = fitting.or_else(|| shapes.iter().min_by_key(|shape| raw_bytes(shape)))?;
    let found = smallest(found.clone(), capacity, raw)?;
    (with_spare(&found) - with_spare(named) <= SPARE_SLACK).then_some(found)
}

/// All flash for each byte that the host sees.
pub fn with_spare(config: &DriveConfig) -> f64 {
    config.physical_units() as f64 / config.logical_units().max(1) as f64
}

/// Bytes of the flash that is used.
pub fn raw_bytes(config: &DriveConfig) -> u64 {
    config.physical_units().saturating_mul(u64::from(config.unit_bytes()))
}

/// Flash that a footprint takes with the most over-provisioning for which it has to fit.
fn raw_for(footprint: u64) -> u64 {
    (footprint as f64 * (1.0 + OVER_PROVISIONING_PERCENT / 100.0)) as u64
}

fn with_blocks(shape: &DriveConfig, blocks: u32) -> DriveConfig {
    let mut config = shape.clone();
    config.geometry.blocks_per_plane = blocks;
    config
}

/// The preset with blocks as long as a drive of few of them allows.
fn with_all_dies(preset: &DriveConfig, footprint: u64, fixed: Fixed) -> Option<DriveConfig> {
    let most = raw_for(footprint).max(*RAW_BYTES.end());
    let mut best: Option<DriveConfig> = None;
    for shape in shorter(preset, fixed) {
        let Some(found) = smallest(shape, footprint, raw_for(footprint).max(*RAW_BYTES.start())) else {
            continue;
        };
        if raw_bytes(&found) <= most {
            return Some(found);
        }
        if best.as_ref().is_none_or(|best| raw_bytes(&found) < raw_bytes(best)) {
            best = Some(found);
        }
    }
    best
}

/// The preset with few blocks, ever shorter ones.
fn shorter(preset: &DriveConfig, fixed: Fixed) -> Vec<DriveConfig> {
    let mut shape = with_blocks(preset, BLOCKS_MIN);
    let mut shapes = vec![shape.clone()];
    while !fixed.wordlines && shape.geometry.wordlines_per_block / 2 >= WORDLINES_MIN {
        shape.geometry.wordlines_per_block /= 2;
        shapes.push(shape.clone());
    }
    shapes
}

/// The first of ever smaller shapes whose least number of blocks is not too much for the footprint; else the smallest.
fn tightest(preset: &DriveConfig, footprint: u64, fixed: Fixed) -> Option<DriveConfig> {
    let raw = raw_for(footprint);
    let shapes = smaller(preset, fixed);
    let fitting = shapes.iter().find(|shape| raw_bytes(shape) <= raw);
    let found = fitting.or_else(|| shapes.iter().min_by_key(|shape| raw_bytes(shape)))?;
    smallest(found.clone(), footprint, raw)
}

/// The preset with few blocks, then shorter ones, then fewer dies.
fn smaller(preset: &DriveConfig, fixed: Fixed) -> Vec<DriveConfig> {
    let mut shapes = shorter(preset, fixed);
    let Some(mut shape) = shapes.last().cloned() else { return shapes };
    while !fixed.chips && shape.geometry.chips_per_channel > 1 {
        shape.geometry.chips_per_channel /= 2;
        shapes.push(shape.clone());
    }
    while shape.geometry.dies_per_chip > 1 {
        shape.geometry.dies_per_chip /= 2;
        shapes.push(shape.clone());
    }
    while shape.geometry.channels > 1 {
        shape.geometry.channels /= 2;
        shapes.push(shape.clone());
    }
    shapes
}

/// The shape with the fewest blocks that make it a drive, hold the footprint and have so many bytes of flash.
fn smallest(shape: DriveConfig, footprint: u64, raw: u64) -> Option<DriveConfig> {
    let is_enough = |blocks: u32| {
        let config = with_blocks(&shape, blocks);
        raw_bytes(&config) >= raw && config.logical_bytes() >= footprint && config.validate().is_ok()
    };
    let mut high = BLOCKS_MIN;
    while !is_enough(high) {
        high = high.checked_mul(2).filter(|high| *high <= BLOCKS_MAX)?;
    }
    let mut low = BLOCKS_MIN - 1;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(with_blocks(&shape, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::config::{Layer, presets};
    use ssd::drive_config::resolve;

    fn preset(name: &str) -> DriveConfig {
        resolve(&[Layer::file("preset", format!("preset = \"{name}\"\n"))], &[]).unwrap().config
    }

    fn units(config: &DriveConfig) -> [u32; 4] {
        let g = &config.geometry;
        [g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die]
    }

    #[test]
    fn every_preset_keeps_its_dies_and_is_of_the_least_size() {
        for drive in presets::drives() {
            let mut preset = preset(drive.name);
            // Where a paper says how large the drive is, it is not to be made small.
            (preset.drive.raw_gib, preset.drive.logical_gib) = (0.0, 0.0);
            let found = fit(&preset, Need::Share, SizeChoice::Auto, Fixed::default());
            let found = found.unwrap_or_else(|| panic!("{}", drive.name));
            assert_eq!(units(&found), units(&preset), "{}", drive.name);
            assert!(raw_bytes(&found) >= *RAW_BYTES.start(), "{}", drive.name);
            assert!(raw_bytes(&found) <= *RAW_BYTES.end(), "{}: {}", drive.name, raw_bytes(&found));
        }
    }

    #[test]
    fn a_footprint_fits_at_any_over_provisioning_and_the_geometry_is_one() {
        for mib in [1u64, 500, 7_000, 20_000, 100_000, 1_000_000] {
            let preset = preset("tlc");
            let need = Need::Footprint(mib << 20);
            let found = fit(&preset, need, SizeChoice::Auto, Fixed::default()).unwrap();
            assert_eq!(units(&found), units(&preset));
            for percent in [7.0, 15.0, OVER_PROVISIONING_PERCENT] {
                let mut other = found.clone();
                other.drive.over_provisioning_percent = percent;
                assert!(other.logical_bytes() >= mib << 20, "{mib} MiB, {percent} %");
                assert!(other.validate().is_ok(), "{mib} MiB, {percent} %");
            }
            let most = raw_for(mib << 20).max(*RAW_BYTES.end());
            assert!(raw_bytes(&found) as f64 <= 1.02 * most as f64, "{mib} MiB: {}", raw_bytes(&found));
        }
    }

    #[test]
    fn named_drives_have_the_same_capacity_and_their_own_spare() {
        for mib in [128u64, 700, 5_000] {
            for drive in ["client_tlc", "tlc", "qlc", "m64", "straw"] {
                let mut preset = preset(drive);
                for percent in [7.0, 20.0] {
                    preset.drive.over_provisioning_percent = percent;
                    let found = like(&preset, (mib << 20) - 5, Fixed::default()).unwrap();
                    assert_eq!(found.logical_bytes(), mib << 20, "{drive}");
                    let (had, has) = (with_spare(&preset), with_spare(&found));
                    // A block more in each plane than would be needed.
                    assert!((0.0..0.011).contains(&(has - had)), "{drive}, {mib} MiB: {has} for {had}");
                }
            }
        }
        assert_eq!(like(&preset("rhs"), 128 << 20, Fixed::default()), None, "its spare would be half of it");
    }

    #[test]
    fn a_named_drive_that_uses_some_of_its_flash_keeps_the_spare_of_what_it_uses() {
        let mut preset = preset("tlc");
        let all = preset.used_bytes() as f64 / (1u64 << 30) as f64;
        (preset.drive.raw_gib, preset.drive.logical_gib) = (0.75 * all, 0.5 * all);
        assert!((with_spare(&preset) - 1.5).abs() < 0.01);
        let found = like(&preset, 700 << 20, Fixed::default()).unwrap();
        assert_eq!((found.drive.raw_gib, found.logical_bytes()), (0.0, 700 << 20));
        assert!((with_spare(&found) - with_spare(&preset)).abs() < 0.011, "{}", with_spare(&found));
    }

    #[test]
    fn the_tightest_drive_is_as_large_as_the_footprint() {
        let preset = preset("tlc");
        for mib in [128u64, 200, 1_000, 3_000, 10_000] {
            let need = Need::Footprint(mib << 20);
            let found = fit(&preset, need, SizeChoice::Footprint, Fixed::default()).unwrap();
            let over = raw_bytes(&found) as f64 / raw_for(mib << 20) as f64;
            assert!((1.0..1.03).contains(&over), "{mib} MiB: {over}");
        }
    }
}
