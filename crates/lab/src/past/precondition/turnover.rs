//! Turning over: what a drive must have erased before its write amplification says anything.
//!
//! Free blocks are opened in the order in which they came free, or least erased first. So a lane that has erased as
//! many blocks as it has beside its data has programmed each of its blocks.

use ssd::{Drive, Lanes};

/// Whether each lane has erased as many blocks as it has to spare: those that no data takes, wherever it lies.
pub(crate) struct Turnover {
    before: Vec<u64>,
    /// Spare blocks of each lane.
    spare_blocks: u64,
    /// Units that the spare blocks of all lanes take.
    pub spare_units: u64,
}

impl Turnover {
    /// From now on.
    pub fn begin(drive: &Drive) -> Self {
        Turnover::since(drive.blocks().lanes().erases, drive)
    }

    /// Since the drive was new.
    pub fn of_life(drive: &Drive) -> Self {
        let lanes = drive.blocks().lanes().erases.len();
        Turnover::since(vec![0; lanes], drive)
    }

    fn since(before: Vec<u64>, drive: &Drive) -> Self {
        let mut turnover = Turnover { before, spare_blocks: 0, spare_units: 0 };
        turnover.look(drive);
        turnover
    }

    /// Data has come or gone: what is spare now counts.
    pub fn look(&mut self, drive: &Drive) {
        let Lanes { blocks, units, live_units, erases } = drive.blocks().lanes();
        let (lanes, units) = (erases.len() as u64, u64::from(units));
        let data = live_units.div_ceil(lanes.max(1)).div_ceil(units.max(1));
        self.spare_blocks = u64::from(blocks).saturating_sub(data);
        self.spare_units = (self.spare_blocks * lanes * units).max(1);
    }

    pub fn is_complete(&self, drive: &Drive) -> bool {
        let mut lanes = drive.blocks().lanes().erases.into_iter().zip(&self.before);
        lanes.all(|(now, before)| now - before >= self.spare_blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::{Command, DriveConfig, OpCode};

    /// By hand: of a drive that is full 28 % of the blocks are beside its data; what a trim frees joins them.
    #[test]
    fn what_is_trimmed_is_spare() {
        let mut config = DriveConfig::default();
        let g = &mut config.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (128, 4, 3);
        config.drive.over_provisioning_percent = 28.0;
        let mut drive = Drive::new(&config).unwrap();
        drive.fill(0, drive.logical_units()).unwrap();
        let mut turnover = Turnover::begin(&drive);
        assert_eq!((turnover.spare_blocks, turnover.spare_units), (28, 28 * 48));
        let sectors = (drive.logical_sectors() / 2) as u32;
        drive.submit(0, &Command { op: OpCode::Trim, sectors, ..Command::default() }, drive.now()).unwrap();
        drive.drain();
        turnover.look(&drive);
        assert_eq!((turnover.spare_blocks, turnover.spare_units), (78, 78 * 48));
        assert!(!turnover.is_complete(&drive));
    }
}
