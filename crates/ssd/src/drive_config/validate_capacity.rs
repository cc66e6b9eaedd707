//! Checks of capacities: the flash there is, what the firmware uses of it, and what the host sees.

use super::DriveConfig;
use super::conflicts::{Conflicts, show_gib, show_gib_up};
use crate::config::value::show_f64;
use crate::ftl::{read_reclaim, sanitize};
use crate::sections::{GIB, MAX_UNITS};

const BLOCKS: &str = "nand.geometry.blocks_per_plane";
const RAW: &str = "drive.raw_gib";
const LOGICAL: &str = "drive.logical_gib";
const SPARE: &str = "drive.over_provisioning_percent";
/// By so much an over-provisioning that is set may miss the one that follows from two capacities: they are written with
/// few digits; percentage points.
const SPARE_AGREES: f64 = 0.1;

impl DriveConfig {
    /// The key that says how much flash the firmware has.
    pub(super) fn flash_key(&self) -> &'static str {
        if self.drive.raw_gib > 0.0 { RAW } else { BLOCKS }
    }

    /// The same drive, whose firmware uses so many blocks of each plane.
    pub(super) fn with_used_blocks(&self, blocks: u32) -> DriveConfig {
        let mut other = self.clone();
        other.geometry.blocks_per_plane = blocks;
        other.drive.raw_gib = 0.0;
        // Blocks beyond those that are used still stand in for bad ones.
        if self.drive.raw_gib > 0.0 {
            other.geometry.blocks_per_plane = self.geometry.blocks_per_plane;
            let row = other.geometry.block_bytes() * u64::from(other.geometry.planes());
            other.drive.raw_gib = (row * u64::from(blocks)) as f64 / GIB;
        }
        other
    }

    /// Is what the firmware is to use there? Do addresses fit, and does the logical space fit on the drive?
    pub(super) fn check_capacity(&self, conflicts: &mut Conflicts) -> bool {
        let all = self.geometry.physical_bytes();
        if self.drive.raw_gib * GIB > all as f64 {
            let found = format!("{} GiB, of {} GiB of flash", show_f64(self.drive.raw_gib), show_gib_up(all));
            let allowed = format!("at most {} GiB, 0 for all of it, or more blocks", show_gib(all));
            conflicts.add(&[RAW, BLOCKS], found, &allowed);
            return false;
        }
        let physical = self.physical_units();
        if physical > MAX_UNITS {
            let found = format!("{physical} mapping units of {} bytes", self.unit_bytes());
            let allowed = format!("at most {MAX_UNITS} (fewer blocks, or ftl.mapping.unit = \"page\")");
            conflicts.add(&[self.flash_key(), "ftl.mapping.unit"], found, &allowed);
            return false;
        }
        let logical = self.logical_units();
        let gib = |units: u64| show_gib(units.saturating_mul(u64::from(self.unit_bytes())));
        if logical == 0 {
            let found = "no mapping unit left for the host".to_owned();
            let keys = [LOGICAL, SPARE, self.flash_key()];
            conflicts.add(&keys, found, &format!("up to {} GiB", gib(physical)));
            return false;
        }
        if logical > physical {
            let what = if self.drive.raw_gib > 0.0 { "used" } else { "physical" };
            let found = format!("{} GiB logical on {} GiB {what}", gib(logical), gib(physical));
            let allowed =
                format!("less than the {what} {} GiB; 0 derives it from over-provisioning", gib(physical));
            conflicts.add(&[LOGICAL, self.flash_key()], found, &allowed);
            return false;
        }
        true
    }

    /// Can parity be written beside all data, if it is to be?
    pub(super) fn check_parity(&self, conflicts: &mut Conflicts) {
        const PARITY: &str = "ftl.parity_percent";
        let percent = self.redundancy.parity_percent;
        if percent <= 0.0 {
            return;
        }
        let allowed = |other: &str| format!("{PARITY} = 0, or {other}");
        if self.slc_blocks_per_lane() > 0 {
            let cache = self.slc_cache.name();
            let found =
                format!("{} %, with a cache (\"{cache}\") of blocks that hold none", show_f64(percent));
            conflicts.add(
                &[PARITY, "ftl.slc_cache.policy"],
                found,
                &allowed("ftl.slc_cache.policy = \"none\""),
            );
        }
        if self.cell.one_shot {
            let found = format!("{} %, on wordlines that are programmed at once", show_f64(percent));
            conflicts.add(&[PARITY, "nand.cell.one_shot"], found, &allowed("nand.cell.one_shot = false"));
        }
        if self.pages_per_unit() > 1 {
            let found = format!("{} %, with units of {} pages", show_f64(percent), self.pages_per_unit());
            let keys = [PARITY, "ftl.mapping.unit"];
            conflicts.add(&keys, found, &allowed("units that fit in a page"));
        }
        if sanitize::Policy::build(&self.sanitize).acts() {
            let name = self.sanitize.name();
            let found = format!("{} %, which would tell of what \"{name}\" hides", show_f64(percent));
            conflicts.add(
                &[PARITY, "ftl.sanitize.policy"],
                found,
                &allowed("ftl.sanitize.policy = \"none\""),
            );
        }
        let policy = read_reclaim::Policy::build(&self.read_reclaim);
        if policy.spreads() || policy.replica_pages_per_block() > 0 {
            let name = self.read_reclaim.name();
            let found = format!("{} %, with \"{name}\", which places pages by itself", show_f64(percent));
            let other = allowed("another ftl.read_reclaim.policy");
            conflicts.add(&[PARITY, "ftl.read_reclaim.policy"], found, &other);
        }
        if !self.parity().fits() {
            let keys = [PARITY, "nand.geometry.wordlines_per_block"];
            conflicts.add(
                &keys,
                "parity in blocks that hold less than two pages of data beside it".to_owned(),
                &allowed("longer blocks"),
            );
        }
    }

    /// The over-provisioning that follows where both the flash that is used and the logical capacity are set; %.
    pub(super) fn spare_that_follows(&self) -> Option<f64> {
        let (raw, logical) = (self.drive.raw_gib, self.drive.logical_gib);
        let percent = 100.0 * (raw / logical - 1.0);
        (raw > 0.0 && logical > 0.0 && percent >= 0.0).then(|| (percent * 1e4).round() / 1e4)
    }

    /// Does an over-provisioning that was set beside both capacities agree with what follows from them?
    pub(super) fn check_spare_set(&self, conflicts: &mut Conflicts) {
        let Some(follows) = self.spare_that_follows() else { return };
        let set = self.drive.over_provisioning_percent;
        if (set - follows).abs() <= SPARE_AGREES {
            return;
        }
        let (raw, logical) = (show_f64(self.drive.raw_gib), show_f64(self.drive.logical_gib));
        let found = format!(
            "{} %, with {raw} GiB of flash for {logical} GiB, which leave {} %",
            show_f64(set),
            show_f64(follows)
        );
        let allowed = format!("{} %, or no more than two of the three keys", show_f64(follows));
        conflicts.add(&[SPARE, RAW, LOGICAL], found, &allowed);
    }
}
