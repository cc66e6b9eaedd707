//! What a drive tells of its techniques, and of the memory of their tables.

use crate::drive::engine::State;
use crate::ftl::locks::exposure::OpenExposures;
use crate::ftl::{TableBytes, page_class, slc_cache, stream};

/// The truth behind locks (`ftl.sanitize`), also of pages that nobody has read since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SanitizeReport {
    /// Pages with a dead copy of secured data that can be read now.
    pub open: OpenExposures,
    /// Pages with live data that cannot be read any more, because others of their wordline were reprogrammed
    /// (`ftl.sanitize.policy = "reprogram"`).
    pub lost_pages: u64,
}

/// What a drive's techniques have to tell ([`Drive::reports`](crate::Drive::reports)).
#[derive(Clone, Copy, Debug)]
pub struct Reports<'a> {
    pub(crate) state: &'a State,
}

impl Reports<'_> {
    /// What locks, scrubs and reprograms have left undone, and what they have done to others. Takes a look at every
    /// page.
    pub fn sanitize(self) -> SanitizeReport {
        let State { ftl, flash, now, .. } = self.state;
        let media = &ftl.moves.media;
        SanitizeReport {
            open: media.locks.open_exposures(&media.tables.layout, *now),
            lost_pages: media.locks.manner.lost_pages(&media.tables, flash),
        }
    }

    /// What the separator of data (`ftl.stream`) has found, and the most blocks that streams have had open in one lane.
    pub fn streams(self) -> (stream::Report, u32) {
        let ftl = &self.state.ftl;
        (ftl.moves.separation.report(), ftl.moves.media.space.allocator.most_open())
    }

    /// How many blocks the cache of one bit a cell has, and should have.
    pub fn slc_cache(self) -> slc_cache::Report {
        self.state.ftl.moves.media.space.ring.report()
    }

    /// What the policy that sorts data by page type (`ftl.page_class`) knows of it now. Takes a look at every unit.
    pub fn page_classes(self) -> page_class::Report {
        let ftl = &self.state.ftl;
        ftl.moves.page_classes.report(u64::from(ftl.moves.media.tables.map.logical()))
    }

    /// What the drive's tables take.
    pub fn table_bytes(self) -> TableBytes {
        let of_ftl = self.state.ftl.table_bytes();
        TableBytes { all: of_ftl.all + self.state.flash.chip.aging_bytes().0, ..of_ftl }
    }
}
