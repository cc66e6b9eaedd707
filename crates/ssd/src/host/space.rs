//! The logical space: sectors, mapping units, and the granules that units are read and written by.

use crate::signals::{Command, OpCode};
use crate::units::Lba;
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// How sectors make up mapping units and their granules.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct UnitShape {
    pub sectors: u64,
    /// That is two to the power of so much; `NONE` if it is no power of two. Divisions are slow.
    pub shift: u32,
    pub granule_sectors: u64,
    pub granule_bytes: u32,
    pub full: u64,
}

impl UnitShape {
    pub fn new(unit_bytes: u32) -> Self {
        let sectors = u64::from(unit_bytes) / crate::units::SECTOR_BYTES;
        let granule_sectors = sectors.div_ceil(64);
        let granules = sectors.div_ceil(granule_sectors);
        let full = u64::MAX >> (64 - granules);
        let shift = if sectors.is_power_of_two() { sectors.trailing_zeros() } else { crate::units::NONE };
        UnitShape { sectors, shift, granule_sectors, granule_bytes: granule_sectors as u32 * 512, full }
    }

    /// The unit that a sector is part of.
    #[inline]
    pub fn unit_of(&self, sector: u64) -> u64 {
        if self.shift == crate::units::NONE { sector / self.sectors } else { sector >> self.shift }
    }

    /// The granules of unit `lpn` that sectors `from..end` touch.
    #[inline]
    pub fn mask(&self, lpn: u32, from: u64, end: u64) -> u64 {
        let base = u64::from(lpn) * self.sectors;
        let (first, last) = (from.saturating_sub(base), (end - base).min(self.sectors));
        let (first, last) = match self.granule_sectors {
            1 => (first, last),
            sectors => (first / sectors, last.div_ceil(sectors)),
        };
        self.full & (u64::MAX << first) & (u64::MAX >> (64 - last))
    }

    /// The units that sectors cover whole.
    #[inline]
    pub fn covered(&self, first: u64, end: u64) -> Range<u32> {
        first.div_ceil(self.sectors) as u32..(end / self.sectors) as u32
    }

    /// Bytes of the granules of a mask.
    #[inline]
    pub fn bytes(&self, mask: u64) -> u32 {
        mask.count_ones() * self.granule_bytes
    }
}

/// The logical space, as commands name parts of it.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    pub(super) shape: UnitShape,
    pub(super) sectors: u64,
}

impl Space {
    /// The units that a command reads, writes or forgets; `None` if it names none, or is refused for what it names.
    #[inline]
    pub fn touched(&self, command: &Command) -> Option<Range<u32>> {
        let Command { op, lba: Lba(first), sectors, .. } = *command;
        let end = first.saturating_add(u64::from(sectors));
        if op == OpCode::Flush || sectors == 0 || end > self.sectors || !command.hints.are_valid() {
            return None;
        }
        if op == OpCode::Trim {
            return Some(self.shape.covered(first, end));
        }
        Some(self.shape.unit_of(first) as u32..self.shape.unit_of(end - 1) as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_cover_the_touched_granules() {
        let page = UnitShape::new(16_384);
        assert_eq!((page.sectors, page.full), (32, 0xffff_ffff));
        assert_eq!(page.mask(0, 0, 32), 0xffff_ffff);
        assert_eq!(page.mask(1, 40, 48), 0xff00);
        assert_eq!(page.mask(1, 10, 33), 1);
        assert_eq!(page.mask(1, 63, 100), 1 << 31);
        assert_eq!(page.bytes(0xff00), 4096);
        let large = UnitShape::new(65_536);
        assert_eq!((large.sectors, large.granule_sectors, large.full), (128, 2, u64::MAX));
        assert_eq!(large.mask(0, 3, 4), 0b10);
        assert_eq!(large.mask(0, 0, 128), u64::MAX);
    }
}
