//! What a drive tells of its policies, of the memory of their tables, and of what lies where.

use crate::drive::Drive;
use crate::ftl::{page_class, slc_cache, stream};
use crate::signals::Spare;
use crate::units::{Lpn, Pun};

impl Drive {
    /// Bytes of the tables that the read-reclaim policy keeps: its counters and limits.
    pub fn read_reclaim_bytes(&self) -> usize {
        self.state.ftl.read_reclaim_bytes()
    }

    /// Bytes of the firmware's tables of what is to be locked.
    pub fn lock_bytes(&self) -> usize {
        self.state.ftl.lock_bytes()
    }

    /// What the separator of data (`ftl.stream`) has found, and the most blocks that streams have had open in one lane.
    pub fn stream_report(&self) -> (stream::Report, u32) {
        self.state.ftl.stream_report()
    }

    /// Whether the separator of data learns from what is written.
    pub fn learns_from_writes(&self) -> bool {
        self.state.ftl.stream.learns()
    }

    /// How many blocks the cache of one bit a cell has, and should have.
    pub fn slc_report(&self) -> slc_cache::Report {
        self.state.ftl.slc_report()
    }

    /// What the policy that sorts data by page type (`ftl.page_class`) knows of it now. Takes a look at every unit.
    pub fn page_class_report(&self) -> page_class::Report {
        self.state.ftl.page_classes.report(u64::from(self.logical_units()))
    }

    /// Bytes of the tables that grow with the drive.
    pub fn table_bytes(&self) -> usize {
        self.state.ftl.table_bytes() + self.state.flash.chip.aging_bytes().0
    }

    /// Mapping units of flash, as effects count them ([`crate::observe`]).
    pub fn physical_units(&self) -> u32 {
        self.state.ftl.map.physical()
    }

    /// Where a unit of flash is: its physical block, counted over the drive, and its page there.
    pub fn place_of(&self, unit: Pun) -> (u32, u32) {
        let layout = &self.state.ftl.layout;
        let at = layout.locate(layout.page_of_unit(unit).0);
        (at.block, at.page)
    }

    /// What the spare area of a unit of flash says, its data alive or dead.
    pub fn spare_of(&self, unit: Pun) -> Option<Spare> {
        self.state.ftl.spare_of(unit)
    }

    /// The unit of flash that a logical unit is mapped to.
    pub fn mapped_to(&self, lpn: Lpn) -> Option<Pun> {
        Some(self.state.ftl.map.lookup(lpn)).filter(|unit| unit.is_some())
    }
}
