//! What lies where on the flash.

use crate::ftl::Ftl;
use crate::signals::Spare;
use crate::units::{Lpn, Pun};

/// The units of a drive's flash, as effects count them ([`crate::observe`]), and what is in them
/// ([`Drive::contents`](crate::Drive::contents)).
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    pub(crate) ftl: &'a Ftl,
}

impl Contents<'_> {
    /// Mapping units of flash.
    pub fn units(self) -> u32 {
        self.ftl.moves.media.tables.map.physical()
    }

    /// Where a unit of flash is: its physical block, counted over the drive, and its page there; of a unit larger than
    /// a page the first that it takes.
    pub fn place_of(self, unit: Pun) -> (u32, u32) {
        let layout = &self.ftl.moves.media.tables.layout;
        let at = layout.locate_part(layout.page_of_unit(unit).0, layout.page_of_wordline(unit) * layout.wide);
        (at.block, at.page)
    }

    /// What the spare area of a unit of flash says, its data alive or dead.
    pub fn spare_of(self, unit: Pun) -> Option<Spare> {
        self.ftl.moves.media.tables.spare_of(unit)
    }

    /// The unit of flash that a logical unit is mapped to.
    pub fn mapped_to(self, lpn: Lpn) -> Option<Pun> {
        Some(self.ftl.moves.media.tables.map.lookup(lpn)).filter(|unit| unit.is_some())
    }

    /// Whether a unit of flash holds the data of a logical unit as it is now: where that is mapped to, or a replica.
    pub fn lives_at(self, lpn: Lpn, unit: Pun) -> bool {
        let media = &self.ftl.moves.media;
        [media.tables.map.lookup(lpn), media.tables.replicas.get(lpn)].contains(&unit)
    }
}
