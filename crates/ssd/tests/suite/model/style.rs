//! How the host of a random run behaves.

use super::setup::pick;
use ssd::rng::Rng;

/// How a run's host behaves.
pub struct Style {
    /// Commands under way that a closed loop keeps up; an open loop has arrival times instead.
    pub depth: usize,
    pub open_loop: bool,
    pub mean_gap_ns: u32,
    pub read_percent: u32,
    pub trim_percent: u32,
    pub flush_percent: u32,
    pub fua_percent: u32,
    pub hot_percent: u32,
    pub hot_first: u32,
    pub hot_units: u32,
    /// Units from one hot unit to the next.
    pub hot_stride: u32,
    pub footprint: u32,
    pub sectors_at_most: u32,
    /// One action in so many is not a command or a wait.
    pub upheaval_every: u32,
}

impl Style {
    /// Draws all of it, for a drive of so many units.
    pub fn random(rng: &mut Rng, units: u32, unit_sectors: u32) -> Self {
        let footprint =
            (u64::from(units) * u64::from(pick(rng, &[10u32, 50, 90, 100, 100])) / 100).max(1) as u32;
        let largest = [1, 8, unit_sectors, 3 * unit_sectors, 9 * unit_sectors, 40 * unit_sectors];
        Style {
            depth: pick(rng, &[1, 2, 7, 32, 200]),
            open_loop: rng.below(3) == 0,
            mean_gap_ns: pick(rng, &[100, 3_000, 100_000, 1_000_000]),
            read_percent: pick(rng, &[5, 30, 50, 90]),
            trim_percent: pick(rng, &[0, 2, 15]),
            flush_percent: pick(rng, &[0, 1, 8]),
            fua_percent: pick(rng, &[0, 5, 50]),
            hot_percent: pick(rng, &[0, 30, 90]),
            hot_first: rng.below(footprint),
            hot_units: pick(rng, &[1, 3, 20]),
            hot_stride: 1,
            footprint,
            sectors_at_most: pick(rng, &largest),
            upheaval_every: pick(rng, &[60, 400, 3_000]),
        }
    }

    /// Most hosts forget ranges that are as long as blocks: so blocks die whole.
    pub fn trims_ranges(&mut self, rng: &mut Rng, unit_sectors: u32) {
        if rng.below(4) > 0 {
            self.trim_percent = pick(rng, &[5, 15]);
            self.sectors_at_most = unit_sectors * pick(rng, &[40, 150]);
        }
    }
}
