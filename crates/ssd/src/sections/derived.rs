//! What follows from the fixed sections alone: units, capacities, lanes.

use super::{ErrorModel, Issue, Placement, Sections, Superblock};

/// Most mapping units a drive can have: unit numbers are 32 bits wide, and the last two have a meaning of their own.
pub const MAX_UNITS: u64 = u32::MAX as u64 - 1;
/// Bytes of a GiB.
pub(crate) const GIB: f64 = (1u64 << 30) as f64;

impl Sections {
    /// The program mode of blocks of one bit a cell: the one after the part's own; where cells do not age all are one.
    pub fn one_bit_mode(&self) -> u8 {
        if self.errors.model == ErrorModel::Cells { self.cells.modes.names.len() as u8 } else { 0 }
    }

    /// Mapping units in a page: 1, or the pieces that the page is mapped in.
    pub fn units_per_page(&self) -> u32 {
        self.mapping.unit.bytes().map_or(1, |bytes| (self.geometry.page_bytes / bytes).max(1))
    }

    /// Pages of the chips that a mapping unit takes, in planes side by side: 1, or more where it is larger than a page.
    pub fn pages_per_unit(&self) -> u32 {
        self.mapping.unit.bytes().map_or(1, |bytes| (bytes / self.geometry.page_bytes).max(1))
    }

    /// Pages of a wordline that one program writes: all of them, where chips program one-shot, or one.
    pub fn pages_of_program(&self) -> u32 {
        if self.cell.one_shot { self.geometry.bits_per_cell } else { 1 }
    }

    /// Mapping units that one program of a plane writes: those of a page, or of all pages of a wordline.
    pub fn units_per_program(&self) -> u32 {
        self.units_per_page() * self.pages_of_program()
    }

    /// tPROG for each page, where these are the times of the page types: their mean, or its share of the one that a
    /// wordline takes.
    pub fn program_us_per_page(&self, times: &[f64]) -> f64 {
        if self.cell.one_shot {
            return times.iter().copied().fold(0.0, f64::max) / f64::from(self.geometry.bits_per_cell);
        }
        times.iter().sum::<f64>() / times.len().max(1) as f64
    }

    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u32 {
        self.geometry.page_bytes / self.units_per_page() * self.pages_per_unit()
    }

    /// Blocks of each plane that the firmware uses (`drive.raw_gib`), to the nearest block.
    pub fn used_blocks_per_plane(&self) -> u32 {
        let (g, raw) = (&self.geometry, self.drive.raw_gib * GIB);
        if raw <= 0.0 {
            return g.blocks_per_plane;
        }
        let row = f64::from(g.planes()) * f64::from(g.pages_per_block()) * f64::from(g.page_bytes);
        ((raw / row).round() as u32).clamp(1, g.blocks_per_plane)
    }

    /// Blocks of the drive that the firmware uses.
    pub fn used_blocks(&self) -> u64 {
        u64::from(self.geometry.planes()) * u64::from(self.used_blocks_per_plane())
    }

    /// Data bytes of the blocks that the firmware uses.
    pub fn used_bytes(&self) -> u64 {
        self.used_blocks().saturating_mul(self.geometry.block_bytes())
    }

    /// Mapping units that fit in the blocks that the firmware uses.
    pub fn physical_units(&self) -> u64 {
        self.units_of_pages(self.used_blocks().saturating_mul(self.geometry.pages_per_block().into()))
    }

    /// Mapping units that fit on so many pages of the chips.
    pub(crate) fn units_of_pages(&self, pages: u64) -> u64 {
        pages.saturating_mul(u64::from(self.units_per_page())) / u64::from(self.pages_per_unit())
    }

    /// Mapping units the host sees: `logical_gib`, or what over-provisioning leaves; whole units, rounded down.
    pub fn logical_units(&self) -> u64 {
        if self.drive.logical_gib > 0.0 {
            (self.drive.logical_gib * GIB / f64::from(self.unit_bytes())) as u64
        } else {
            (self.physical_units() as f64 / (1.0 + self.drive.over_provisioning_percent / 100.0)) as u64
        }
    }

    /// Bytes the host sees.
    pub fn logical_bytes(&self) -> u64 {
        self.logical_units().saturating_mul(u64::from(self.unit_bytes()))
    }

    /// Programs of host data that may be under way at once. Writes that wait for planes of their own leave programs,
    /// and with them slots, for all others.
    pub(crate) fn host_programs_at_most(&self) -> u32 {
        let waiting = match self.allocation.placement {
            Placement::Static => self.queues.count * self.queues.depth,
            Placement::Dynamic => 4,
        };
        (2 * self.geometry.planes() / self.pages_per_unit()).max(waiting)
    }

    /// Parity for each page of anything else (`ftl.parity_percent`), in 1/2^32, rounded down: pages that share one in
    /// whole numbers do.
    pub(crate) fn parity_share_q32(&self) -> u64 {
        (self.redundancy.parity_percent / 100.0 * (1u64 << 32) as f64) as u64
    }

    /// Allocation lanes: groups of planes that open, fill and erase their blocks together.
    pub fn lanes(&self) -> u32 {
        match self.allocation.superblock {
            Superblock::None => self.geometry.planes(),
            Superblock::Planes => self.geometry.dies(),
            Superblock::All => 1,
        }
    }

    /// Pages that are read and programmed together; those that a mapping unit takes count as one.
    pub fn pages_per_row(&self) -> u32 {
        self.planes_per_row() / self.pages_per_unit()
    }

    /// Planes that read and program together.
    pub fn planes_per_row(&self) -> u32 {
        match (self.allocation.issue, self.allocation.superblock) {
            (Issue::Page, _) | (_, Superblock::None) => 1,
            (Issue::Row, Superblock::Planes | Superblock::All) => self.geometry.planes_per_die,
        }
    }

    /// Pages that moves of a lane may have on their way at once, in pages of the firmware: of rows or of wordlines that
    /// are programmed at once two at least, for one is read while the other is programmed.
    pub(crate) fn moves_in_flight(&self) -> u32 {
        let (wide, deep) = (self.pages_per_unit(), self.pages_of_program());
        let two = match self.planes_per_row() {
            1 if deep == 1 => 0,
            1 => 2 * deep,
            _ => 2 * self.lane_span() / wide * deep,
        };
        self.cleaning.copies_in_flight.div_ceil(wide).max(two)
    }

    /// Planes in each lane, which is also the blocks in a superblock.
    pub fn lane_span(&self) -> u32 {
        self.geometry.planes() / self.lanes()
    }
}
