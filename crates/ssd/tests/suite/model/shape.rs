//! Units and their granules, found the slow way.

use ssd::Command;

/// What a part of a unit must look like: granules of at least a sector, at most 64 of them.
#[derive(Clone, Copy)]
pub struct Shape {
    pub unit_sectors: u64,
    pub granule_sectors: u64,
    pub granules: usize,
}

impl Shape {
    pub fn new(unit_bytes: u32) -> Self {
        let unit_sectors = u64::from(unit_bytes) / 512;
        let granule_sectors = unit_sectors.div_ceil(64);
        Shape { unit_sectors, granule_sectors, granules: unit_sectors.div_ceil(granule_sectors) as usize }
    }

    /// The granules of a unit that a command touches, found the slow way.
    pub fn mask(&self, command: &Command, lpn: u32) -> u64 {
        let touched = command.lba.0..command.lba.0 + u64::from(command.sectors);
        (0..self.granules as u64)
            .filter(|g| {
                let from = u64::from(lpn) * self.unit_sectors + g * self.granule_sectors;
                let end = (from + self.granule_sectors).min((u64::from(lpn) + 1) * self.unit_sectors);
                from < touched.end && touched.start < end
            })
            .fold(0, |mask, g| mask | 1 << g)
    }

    /// The units a command touches.
    pub fn units(&self, command: &Command) -> std::ops::Range<u32> {
        let end = command.lba.0 + u64::from(command.sectors);
        (command.lba.0 / self.unit_sectors) as u32..end.div_ceil(self.unit_sectors) as u32
    }

    /// The units a command covers whole.
    pub fn whole_units(&self, command: &Command) -> std::ops::Range<u32> {
        let end = command.lba.0 + u64::from(command.sectors);
        command.lba.0.div_ceil(self.unit_sectors) as u32..(end / self.unit_sectors) as u32
    }
}

/// Granules of a mask.
pub fn bits(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |g| mask >> g & 1 == 1)
}
