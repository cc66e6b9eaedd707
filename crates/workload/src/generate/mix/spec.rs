//! What a mix can be told, and where its parts lie.

use super::part::{Part, Parts, Places};
use crate::base::error::{Problem, WorkloadError};
use crate::generate::synthetic::arrival::generator;

generator! {
    /// A mix of requests.
    pub struct MixSpec {
        /// Shipped stand-in to start from (see `wordline presets`); the other keys change it.
        preset: String = String::new(), unit "", allowed "", if |_| true;
        /// Requests to generate in one pass.
        count: u64 = 1_000_000, unit "requests", allowed "a whole number from 1, such as 10000 or 1e4", if |n| *n >= 1;
        /// What the requests are: shares, operations, places, sizes.
        parts: Parts = Parts::default(), unit "", allowed "", if |_| true;
        /// Hot data lies in chunks of this size, scattered over the part's space; 0 to leave it in order.
        chunk_kib: u64 = 64, unit "KiB", allowed "0, or a multiple of 4 up to 1048576",
            if |n| n % 4 == 0 && *n <= 1 << 20;
        /// Seed of where they are scattered, so that mixes with other seeds have the same hot places; 0 for `seed`.
        scatter_seed: u64 = 0, unit "", allowed "", if |_| true;
        /// Space of all parts together, which are scaled alike; 0 to leave them as they are.
        footprint_gib: f64 = 0.0, unit "GiB", allowed "0 to 1048576", if |x| (0.0..=1_048_576.0).contains(x);
        /// The same as a share of the drive, if `footprint_gib` is 0; 0 to leave them as they are.
        footprint_percent: f64 = 0.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
    }
}

/// How far the shares of all parts may be from 100 %.
const SHARES_SLACK_PERCENT: f64 = 0.01;
/// Scaled stretches begin and end at multiples of this many sectors (16 KiB).
const SCALED_SECTORS: u64 = 32;
/// Sectors of a GiB.
const GIB_SECTORS: f64 = (1u64 << 21) as f64;

impl MixSpec {
    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        let parts = &self.parts.0;
        if parts.is_empty() {
            return Err(WorkloadError::setting("parts", "found none", "at least one [[workload.parts]]"));
        }
        let shares: f64 = parts.iter().map(|part| part.share_percent).sum();
        if (shares - 100.0).abs() > SHARES_SLACK_PERCENT {
            let found = format!("share_percent of all parts adds up to {shares:?}");
            return Err(WorkloadError::setting("parts", found, "100"));
        }
        if let Some(i) = parts.iter().position(|part| part.space_mib == 0.0) {
            let key = format!("parts[{i}].space_mib");
            return Err(WorkloadError::setting(&key, "found nothing", "above 0, up to 1e9"));
        }
        self.check_times(self.count)
    }

    /// Sectors of the space as it is described, before scaling.
    pub(crate) fn described_sectors(&self) -> u64 {
        self.parts.0.iter().map(|part| part.stretch().1).max().unwrap_or(0)
    }

    /// The space in sectors; `None` for a share of the drive.
    pub(crate) fn space_sectors(&self) -> Option<u64> {
        match (self.footprint_gib, self.footprint_percent) {
            (gib, _) if gib > 0.0 => Some((gib * GIB_SECTORS) as u64),
            (_, percent) if percent > 0.0 => None,
            _ => Some(self.described_sectors()),
        }
    }

    /// First sector of each part's stretch and one past its last, on a drive of so many sectors.
    pub(super) fn stretches(&self, drive_sectors: u64) -> Result<Vec<(u64, u64)>, WorkloadError> {
        let share = (drive_sectors as f64 * (self.footprint_percent / 100.0)) as u64;
        let described = self.described_sectors();
        let space = self.space_sectors().unwrap_or(share.min(drive_sectors));
        if space > drive_sectors {
            return Err(does_not_fit(space, drive_sectors));
        }
        let factor = space as f64 / described as f64;
        let place = |sector: u64| match space == described {
            true => sector,
            false => (sector as f64 * factor) as u64 / SCALED_SECTORS * SCALED_SECTORS,
        };
        let scaled = |part: &Part| {
            let (start, end) = part.stretch();
            (place(start), place(end))
        };
        let stretches: Vec<(u64, u64)> = self.parts.0.iter().map(scaled).collect();
        let too_short = |(part, (start, end)): &(&Part, &(u64, u64))| end - start < part.longest();
        if let Some((part, (start, end))) = self.parts.0.iter().zip(&stretches).find(too_short) {
            return Err(self.too_small(part, end - start, space));
        }
        Ok(stretches)
    }

    /// Seed of where hot data lies.
    pub(crate) fn scattered_by(&self) -> u64 {
        if self.scatter_seed > 0 { self.scatter_seed } else { self.seed }
    }

    /// The parts without their reads; none if they write nothing. Reads of a scan stay: they take places that are not
    /// written then.
    pub(crate) fn parts_that_write(&self) -> Option<Parts> {
        let weight = |part: &Part| match part.places {
            Places::Scan if part.read_percent < 100.0 => part.share_percent,
            _ => part.share_percent * (1.0 - part.read_percent / 100.0),
        };
        let all: f64 = self.parts.0.iter().map(weight).sum();
        let written = |part: &Part| Part {
            share_percent: 100.0 * weight(part) / all,
            read_percent: if part.places == Places::Scan { part.read_percent } else { 0.0 },
            ..part.clone()
        };
        (all > 0.0).then(|| Parts(self.parts.0.iter().map(written).collect()))
    }

    /// The error of a scale at which a part has no room for its longest request.
    fn too_small(&self, part: &Part, sectors: u64, space: u64) -> WorkloadError {
        let needed = |part: &Part| {
            let (start, end) = part.stretch();
            // Two more steps, since both of its ends are rounded.
            (part.longest() + 2 * SCALED_SECTORS) as f64 / (end - start) as f64
        };
        let share = self.parts.0.iter().map(needed).fold(0.0, f64::max);
        let least = libm::ceil(share * self.described_sectors() as f64 / GIB_SECTORS * 1e4) / 1e4;
        let found = format!(
            "at {:.4} GiB the part {:?} has {} KiB, and its longest request or run is {} KiB",
            space as f64 / GIB_SECTORS,
            part.name,
            sectors / 2,
            part.longest() / 2
        );
        WorkloadError::setting("footprint_gib", found, format!("{least:?} or more"))
    }
}

/// The error of a drive that is too small, with the scale that would do.
fn does_not_fit(needed_sectors: u64, drive_sectors: u64) -> WorkloadError {
    let gib = libm::floor(drive_sectors as f64 / GIB_SECTORS * 1000.0) / 1000.0;
    let advice = format!(
        "take a larger drive, or shrink all parts alike by footprint_gib = {gib:?} or less (or footprint_percent = \
         100 or less)"
    );
    let what = "this workload".into();
    Problem::DoesNotFit { what, needed_sectors, drive_sectors, advice: advice.into() }.into()
}
