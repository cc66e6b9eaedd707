//! A look at a drive that costs little and allocates nothing: for those who take many, as time series do.

use crate::counters::Counter;
use crate::drive::Drive;
use crate::drive::stats::Stats;
use crate::flash::op::{CAUSES, Cause};
use crate::units::{LaneId, SimTime};

/// What a drive says at a moment. Counts are those since [`Drive::reset_stats`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// When.
    pub at: SimTime,
    /// What the counters of [`Reading::counters`] say in sum, in their order.
    pub totals: Vec<u64>,
    /// Pages programmed by cause.
    pub programmed_pages: [u64; CAUSES],
    /// Free blocks (superblocks count as one) of all lanes.
    pub free_blocks: u64,
    /// Mapping units in the buffer whose data is not in flash yet and not on its way.
    pub dirty_units: u32,
    /// Commands in the drive, in its queues and under way.
    pub commands: u32,
    /// How long each die had work on it, and of this how long its array worked; ns.
    pub dies: Vec<[u64; 2]>,
    /// How long each channel carried something; ns.
    pub channels_ns: Vec<u64>,
}

impl Reading {
    /// The counters that [`Reading::totals`] holds: all but those that say one number for each part of the drive.
    pub fn counters() -> impl Iterator<Item = &'static Counter> {
        Stats::all_counters().filter(|counter| !counter.by_part)
    }

    /// What a counter says in sum, by its key; 0 of one that is not there.
    pub fn total(&self, key: &str) -> u64 {
        let at = Self::counters().position(|counter| counter.key == key);
        at.and_then(|at| self.totals.get(at)).copied().unwrap_or(0)
    }

    /// Mapping units in a drive's buffer whose data is not in flash yet and not on its way.
    pub fn dirty_units_of(drive: &Drive) -> u32 {
        drive.state.host.dirty_units()
    }

    /// Looks at a drive anew. The first look allocates.
    pub fn take(&mut self, drive: &Drive) {
        let (state, now) = (&drive.state, drive.now());
        let media = &state.ftl.moves.media;
        self.at = now;
        self.totals.clear();
        let mut tell = |total| self.totals.push(total);
        state.host.counts().each_total(&mut tell);
        media.work.counts.each_total(&mut tell);
        media.techniques.counts.each_total(&mut tell);
        state.flash.record.counts.each_total(&mut tell);
        for cause in Cause::ALL {
            self.programmed_pages[cause as usize] = state.flash.record.counts.pages_programmed(cause);
        }
        let lanes = (0..media.tables.layout.lanes).map(LaneId);
        self.free_blocks = lanes.map(|lane| u64::from(media.space.allocator.free(lane))).sum();
        self.dirty_units = state.host.dirty_units();
        self.commands = drive.outstanding() as u32;
        state.flash.read_busy(now, &mut self.dies, &mut self.channels_ns);
    }
}
