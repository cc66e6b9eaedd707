//! What a drive tells of its policies, of the memory of their tables, and of what lies where.

use crate::drive::{Drive, State};
use crate::flash::holders::{Holders, Span, Told};
use crate::ftl::locks::exposure::OpenExposures;
use crate::ftl::{TableBytes, page_class, slc_cache, stream};
use crate::signals::Spare;
use crate::units::{BlockId, Lpn, Pun};

/// The truth behind locks (`ftl.sanitize`), also of pages that nobody has read since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SanitizeReport {
    /// Pages with a dead copy of secured data that can be read now.
    pub open: OpenExposures,
    /// Pages with live data that cannot be read any more, because others of their wordline were reprogrammed
    /// (`ftl.sanitize.policy = "reprogram"`).
    pub lost_pages: u64,
}

/// Lanes, and what lies in all of them. Superblocks count as one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Blocks of each lane.
    pub blocks: u32,
    /// Mapping units that data fills in a block.
    pub units: u32,
    /// Mapping units that hold data in flash.
    pub live_units: u64,
    /// Erases of the blocks of each.
    pub erases: Vec<u64>,
}

impl Drive {
    /// The lanes and what is in them. Takes a look at every block.
    pub fn lanes(&self) -> Lanes {
        let (layout, blocks) = (&self.state.ftl.tables.layout, &self.state.ftl.tables.blocks);
        let mut lanes = Lanes {
            blocks: layout.blocks_per_lane,
            units: layout.data_units_per_block(),
            live_units: 0,
            erases: vec![0; layout.lanes as usize],
        };
        for block in (0..layout.blocks()).map(BlockId) {
            lanes.live_units += u64::from(blocks.live(block));
            lanes.erases[layout.lane_of(block).index()] += u64::from(blocks.erase_count(block));
        }
        lanes
    }

    /// What locks, scrubs and reprograms have left undone, and what they have done to others. Takes a look at every
    /// page.
    pub fn sanitize_report(&self) -> SanitizeReport {
        let ftl = &self.state.ftl;
        SanitizeReport {
            open: ftl.locks.open_exposures(&ftl.tables.layout, self.now()),
            lost_pages: ftl.lost_pages(&self.state.flash),
        }
    }

    /// Tells from now on whom commands wait for, or no more: those that come from now on. See [`Drive::take_told`].
    pub fn tell_holders(&mut self, on: bool) {
        let State { flash, host, now, .. } = &mut self.state;
        flash.holders = on.then(|| Box::new(Holders::new(flash, *now)));
        flash.note_listeners();
        host.tell_holders(on);
    }

    /// Whom the command has waited for whose completion was taken last: nanoseconds by [`Holder`](crate::Holder). They
    /// add up to its [`Part::DieWait`](crate::Part::DieWait), `ChannelWait`, `Suspended`, `BufferWait` and `LockWait`,
    /// and what of `Dispatch` no page was free for. To be asked once for each completion.
    pub fn take_told(&mut self) -> Told {
        self.state.host.waiters.take_told()
    }

    /// Tells from now on what dies, planes and channels do, or no more; only beside [`Drive::tell_holders`]. Take spans
    /// often: they are kept until then.
    pub fn tell_spans(&mut self, on: bool) {
        let State { flash, ftl, now, .. } = &mut self.state;
        let planes = ftl.tables.layout.planes_per_die;
        if let Some(mut holders) = flash.holders.take() {
            holders.tell_spans(flash, on, planes, *now);
            flash.holders = Some(holders);
        }
    }

    /// Takes the next span that is over. They come by place in order of time, places among each other do not.
    pub fn take_span(&mut self) -> Option<Span> {
        self.state.flash.holders.as_mut().and_then(|holders| holders.take_span())
    }

    /// All spans end now; what goes on after that has spans of its own.
    pub fn close_spans(&mut self) {
        let State { flash, now, .. } = &mut self.state;
        if let Some(holders) = &mut flash.holders {
            holders.close_spans(*now);
        }
    }

    /// What the separator of data (`ftl.stream`) has found, and the most blocks that streams have had open in one lane.
    pub fn stream_report(&self) -> (stream::Report, u32) {
        self.state.ftl.stream_report()
    }

    /// How many blocks the cache of one bit a cell has, and should have.
    pub fn slc_report(&self) -> slc_cache::Report {
        self.state.ftl.ring.report()
    }

    /// What the policy that sorts data by page type (`ftl.page_class`) knows of it now. Takes a look at every unit.
    pub fn page_class_report(&self) -> page_class::Report {
        self.state.ftl.page_classes.report(u64::from(self.logical_units()))
    }

    /// What the drive's tables take.
    pub fn table_bytes(&self) -> TableBytes {
        let of_ftl = self.state.ftl.table_bytes();
        TableBytes { all: of_ftl.all + self.state.flash.chip.aging_bytes().0, ..of_ftl }
    }

    /// Mapping units of flash, as effects count them ([`crate::observe`]).
    pub fn physical_units(&self) -> u32 {
        self.state.ftl.tables.map.physical()
    }

    /// Where a unit of flash is: its physical block, counted over the drive, and its page there.
    pub fn place_of(&self, unit: Pun) -> (u32, u32) {
        let layout = &self.state.ftl.tables.layout;
        let at = layout.locate(layout.page_of_unit(unit).0);
        (at.block, at.page)
    }

    /// What the spare area of a unit of flash says, its data alive or dead.
    pub fn spare_of(&self, unit: Pun) -> Option<Spare> {
        self.state.ftl.spare_of(unit)
    }

    /// The unit of flash that a logical unit is mapped to.
    pub fn mapped_to(&self, lpn: Lpn) -> Option<Pun> {
        Some(self.state.ftl.tables.map.lookup(lpn)).filter(|unit| unit.is_some())
    }

    /// Whether a unit of flash holds the data of a logical unit as it is now: where that is mapped to, or a replica.
    pub fn lives_at(&self, lpn: Lpn, unit: Pun) -> bool {
        let ftl = &self.state.ftl;
        [ftl.tables.map.lookup(lpn), ftl.tables.replicas.get(lpn)].contains(&unit)
    }
}
