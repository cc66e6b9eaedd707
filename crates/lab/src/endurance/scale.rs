//! A drive small enough to be written over many times, that amplifies writes as the whole one does.
//!
//! What decides that is the spare room that cleaning can use, how many blocks a lane has to choose from, and the
//! mapping unit. Blocks become shorter, so that a lane keeps as many as it had, and dies fewer, each of which cleans
//! for itself. The blocks that are open or in reserve take another share of a small drive, so the capacity is set by
//! the spare room that is left without them, which is that of the whole drive.

use ssd::DriveConfig;
use ssd::config::Value;
use ssd::sections::{ErrorModel, Geometry, Reliability};

use crate::past::precondition::Spare;
use crate::plan::job::JobError;
use crate::plan::sizing::raw_bytes;
use workload::SECTOR_BYTES;

/// Flash of the scaled drive at most; bytes (assumed: written over ten times in a few seconds).
const RAW_BYTES_MAX: u64 = 6 << 30;
/// Wordlines of a block, while there can be fewer dies instead; and while lanes can have fewer blocks.
const WORDLINES: [u32; 2] = [32, 8];
/// Dies, while blocks can be shorter instead: each cleans for itself.
const DIES_MIN: u32 = 2;
/// Blocks of a plane, while there can be fewer dies instead.
const BLOCKS_MIN: u32 = 256;

/// A drive to be measured in place of another.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// Its configuration.
    pub config: DriveConfig,
    /// How many times larger the whole drive is.
    pub times: f64,
}

/// A drive as it is asked about.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Its configuration, or that of a drive of another capacity like it: with more dies, or fewer.
    pub config: DriveConfig,
    /// Bytes that the host sees.
    pub capacity: f64,
}

impl Whole {
    /// Bytes of its flash.
    pub fn flash(&self) -> f64 {
        self.config.used_bytes() as f64 * self.capacity / self.config.logical_bytes().max(1) as f64
    }

    /// Sectors that the host sees.
    pub fn sectors(&self) -> u64 {
        (self.capacity / SECTOR_BYTES as f64) as u64
    }
}

/// The drive that is measured in place of `whole`.
pub fn scaled(whole: &Whole) -> Result<Scaled, JobError> {
    let capacity_of_whole = whole.capacity;
    let whole = &whole.config;
    let mut config = shape(whole);
    config.drive.raw_gib = 0.0;
    config.reliability = Reliability::default();
    config.drive.logical_gib = capacity(&config, net(whole)).ok_or_else(|| too_little(whole))?;
    let times = capacity_of_whole / config.logical_bytes().max(1) as f64;
    scale_buffer(&mut config, times);
    let plain = without_errors(&config);
    let config = if plain.validate().is_ok() { plain } else { config };
    config.validate()?;
    Ok(Scaled { times, config })
}

/// The same with so much more spare room, as a share of the data: less of it is used.
pub fn with_spare(scaled: &DriveConfig, more: f64) -> DriveConfig {
    let mut config = scaled.clone();
    config.drive.logical_gib = scaled.logical_bytes() as f64 / (1.0 + more) / (1u64 << 30) as f64;
    config
}

fn too_little(whole: &DriveConfig) -> JobError {
    let spare = 100.0 * (crate::plan::sizing::with_spare(whole) - 1.0);
    JobError::new(format!(
        "the drive has no over-provisioning for garbage collection\n    found:   {spare:.1} % \
         (drive.over_provisioning_percent)\n    allowed: more, such as 7"
    ))
}

/// Spare room that cleaning can use, as a share of the data.
fn net(config: &DriveConfig) -> f64 {
    Spare::when_full(config).net.unwrap_or(0.0)
}

/// As many blocks in each plane, and shorter ones; then fewer dies, and so on.
fn shape(whole: &DriveConfig) -> DriveConfig {
    let mut config = whole.clone();
    config.geometry.blocks_per_plane = whole.used_blocks_per_plane();
    config.drive.raw_gib = 0.0;
    while raw_bytes(&config) > RAW_BYTES_MAX && smaller(&mut config.geometry) {}
    config
}

/// Halves what is given up next; false if nothing is left.
fn smaller(geometry: &mut Geometry) -> bool {
    let dies = geometry.dies();
    let Geometry { channels, chips_per_channel, dies_per_chip, .. } = geometry;
    let die = [chips_per_channel, dies_per_chip, channels].into_iter().find(|count| **count > 1);
    let (wordlines, blocks) = (geometry.wordlines_per_block, geometry.blocks_per_plane);
    match die {
        _ if wordlines / 2 >= WORDLINES[0] => geometry.wordlines_per_block /= 2,
        Some(count) if dies > DIES_MIN => *count /= 2,
        _ if wordlines / 2 >= WORDLINES[1] => geometry.wordlines_per_block /= 2,
        _ if blocks / 2 >= BLOCKS_MIN => geometry.blocks_per_plane /= 2,
        Some(count) => *count /= 2,
        None if wordlines > 1 => geometry.wordlines_per_block /= 2,
        None => return false,
    }
    true
}

/// GiB that leave so much net spare room; none if nothing is left.
fn capacity(config: &DriveConfig, net: f64) -> Option<f64> {
    let blocks = config.used_blocks_per_plane();
    let (lanes, block) = (f64::from(config.lanes()), config.data_units_per_block() as f64);
    let kept = config.spare_blocks_to_work_per_lane(blocks) as f64;
    let units = lanes * block * (f64::from(blocks) - kept) / (1.0 + net.max(0.0));
    let gib = units * f64::from(config.unit_bytes()) / (1u64 << 30) as f64;
    (net > 0.0 && gib > 0.0).then_some(gib)
}

/// A buffer that holds the same share of the drive, as far as one can be so small.
fn scale_buffer(config: &mut DriveConfig, times: f64) {
    let Some(section) = config.section_mut("host.buffer") else { return };
    let size = section.show("size_mib").and_then(|text| text.parse::<f64>().ok());
    let least = section.fields().iter().find(|field| field.key == "size_mib").and_then(|field| field.limits);
    if let (Some(size), Some(least)) = (size, least) {
        let scaled = (size / times.max(1.0)).max(least.min);
        // Within the limits: it was, and is no smaller than the least.
        let _ = section.set("size_mib", &Value::Float(scaled));
    }
}

/// Cells that make no errors: how much is written does not depend on them.
fn without_errors(config: &DriveConfig) -> DriveConfig {
    let mut config = config.clone();
    config.errors.model = ErrorModel::None;
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::job::Job;

    fn drive(name: &str) -> Whole {
        let config = Job::read(None, Some(name), &[]).unwrap().resolve(None).unwrap().config.clone();
        let capacity = config.logical_bytes() as f64;
        Whole { config, capacity }
    }

    #[test]
    fn the_scaled_drive_has_the_spare_room_and_unit_of_the_whole() {
        for name in ["client_tlc", "tlc", "qlc"] {
            let whole = drive(name);
            let small = scaled(&whole).unwrap();
            assert!(raw_bytes(&small.config) <= RAW_BYTES_MAX, "{name}");
            assert!((net(&small.config) / net(&whole.config) - 1.0).abs() < 0.01, "{name}");
            assert_eq!(small.config.unit_bytes(), whole.config.unit_bytes());
            let times = whole.capacity / small.config.logical_bytes() as f64;
            assert!((small.times - times).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn a_capacity_changes_neither_spare_room_nor_the_drive_that_is_measured() {
        let one = drive("client_tlc");
        let other = Whole { capacity: 2.0 * one.capacity, ..one.clone() };
        assert!((other.flash() / one.flash() - 2.0).abs() < 1e-9);
        let [one, other] = [one, other].map(|whole| scaled(&whole).unwrap());
        assert_eq!(one.config, other.config);
        assert!((other.times / one.times - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_small_drive_is_not_made_larger() {
        let mut whole = drive("client_tlc");
        whole.config.geometry.blocks_per_plane = 64;
        whole.config.geometry.wordlines_per_block = 4;
        whole.capacity = whole.config.logical_bytes() as f64;
        let small = scaled(&whole).unwrap();
        assert_eq!(small.config.geometry, whole.config.geometry);
        assert!((small.times - 1.0).abs() < 0.01, "{}", small.times);
    }
}
