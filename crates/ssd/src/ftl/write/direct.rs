//! Writing below the buffer: whole units one after another, without operations or time.

use crate::ftl::stream::Streams;
use serde::{Deserialize, Serialize};

/// Units of several streams that are written without operations and wait until they make a page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Direct {
    /// By stream; nothing where the host writes to but one.
    pub(in crate::ftl) waiting: Vec<Vec<u32>>,
}

impl Direct {
    /// Nothing waits.
    pub fn new(streams: Streams, units_per_page: u32) -> Self {
        let count = if streams.of_host.is_power_of_two() { 0 } else { usize::from(streams.count) };
        let line = || Vec::with_capacity(units_per_page as usize);
        Direct { waiting: (0..count).map(|_| line()).collect() }
    }

    /// Whether it is as between two calls from outside: nothing waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.iter().all(Vec::is_empty)
    }

    /// Gives up the units that wait, for which there is no room: how many there were.
    pub fn drop_rest(&mut self) -> usize {
        self.waiting.iter_mut().map(|units| units.drain(..).count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::drive_config::DriveConfig;
    use crate::executor::Pace;
    use crate::flash::op::Cause;
    use crate::{Drive, sections::MappingUnit};

    /// What stands for moved data is not written by the host: no block grows older by it.
    #[test]
    fn what_is_placed_as_moved_ages_no_block() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (16, 4, 1);
        (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 100.0);
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, 16).unwrap();
        let age = |drive: &Drive| drive.blocks().full()[0].0;
        let counts = |drive: &Drive| {
            let stats = drive.stats().ftl;
            (stats.host_units, stats.moved_units[Cause::Cleaning as usize])
        };
        let before = age(&drive);
        drive.past().place(Pace::Relaxed, &[4, 5, 8, 9, 12]).unwrap();
        assert_eq!((age(&drive), counts(&drive)), (before, (16, 5)));
        drive.overwrite(&[4, 5, 8]).unwrap();
        assert_eq!((age(&drive), counts(&drive)), (before + 3, (19, 5)));
    }
}
