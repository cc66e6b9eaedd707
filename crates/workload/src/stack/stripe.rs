//! Drives in a stripe (RAID 0): which sectors of the volume lie on which drive.

use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use crate::base::request::{Request, Source};

/// A volume of several drives: its chunks lie on one after the other, and each holds its own without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    drives: u16,
    chunk: u64,
}

impl Stripe {
    /// Of so many drives, in chunks of so many 512-byte sectors; neither is 0.
    pub fn new(drives: u16, chunk_sectors: u64) -> Self {
        assert!(drives > 0 && chunk_sectors > 0, "a stripe of nothing");
        Stripe { drives, chunk: chunk_sectors }
    }

    /// Drives.
    pub fn drives(&self) -> u16 {
        self.drives
    }

    /// Sectors of a chunk.
    pub fn chunk_sectors(&self) -> u64 {
        self.chunk
    }

    /// Names of the drives.
    pub fn names(&self) -> Vec<String> {
        (0..self.drives).map(|drive| format!("drive-{drive}")).collect()
    }

    /// The volume of drives of so many sectors: whole chunks of each.
    pub fn volume_sectors(&self, drive_sectors: u64) -> u64 {
        (drive_sectors / self.chunk).saturating_mul(self.chunk * u64::from(self.drives))
    }

    /// What each drive needs for so many sectors of the volume.
    pub fn drive_sectors(&self, volume_sectors: u64) -> u64 {
        volume_sectors.div_ceil(self.chunk * u64::from(self.drives)).saturating_mul(self.chunk)
    }

    /// What each drive gets of a request, in the order of the volume's sectors: one piece, since what a drive holds of
    /// a range is a range. A flush goes to all.
    pub fn pieces(self, request: &Request) -> impl Iterator<Item = (u16, Request)> {
        let Stripe { drives, chunk } = self;
        let (request, of) = (*request, u64::from(drives));
        let last = request.lba + u64::from(request.sectors).saturating_sub(1);
        let (from, to) = if request.sectors == 0 { (0, of - 1) } else { (request.lba / chunk, last / chunk) };
        (from..=to.min(from + of - 1)).map(move |first| {
            let drive = (first % of) as u16;
            if request.sectors == 0 {
                return (drive, request);
            }
            let end = first + (to - first) / of * of;
            let lba = first / of * chunk + if first == from { request.lba % chunk } else { 0 };
            let after = end / of * chunk + if end == to { last % chunk + 1 } else { chunk };
            (drive, Request { lba, sectors: (after - lba) as u32, ..request })
        })
    }
}

/// What one of the drives gets of a stream for the volume.
pub(crate) struct OnMember {
    pub source: Box<dyn Source>,
    pub stripe: Stripe,
    pub drive: u16,
}

impl Source for OnMember {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        while let Some(request) = self.source.next()? {
            let own = self.stripe.pieces(&request).find(|(drive, _)| *drive == self.drive);
            if let Some((_, piece)) = own {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    fn len_hint(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        self.source.report()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::OpCode;

    fn request(lba: u64, sectors: u32) -> Request {
        Request { op: OpCode::Write, lba, sectors, ..Request::default() }
    }

    fn pieces(stripe: Stripe, lba: u64, sectors: u32) -> Vec<(u16, u64, u32)> {
        stripe
            .pieces(&request(lba, sectors))
            .map(|(drive, piece)| (drive, piece.lba, piece.sectors))
            .collect()
    }

    #[test]
    fn a_request_is_cut_as_by_hand() {
        let stripe = Stripe::new(3, 8);
        assert_eq!(pieces(stripe, 0, 8), [(0, 0, 8)]);
        assert_eq!(pieces(stripe, 30, 1), [(0, 14, 1)]);
        assert_eq!(pieces(stripe, 20, 8), [(2, 4, 4), (0, 8, 4)]);
        // Chunks 1 to 5: the second of drives 1 and 2 joins their first.
        assert_eq!(pieces(stripe, 10, 36), [(1, 2, 14), (2, 0, 14), (0, 8, 8)]);
        assert_eq!((stripe.volume_sectors(23), stripe.drive_sectors(49)), (48, 24));
        let flush = Request { op: OpCode::Flush, lba: 0, sectors: 0, ..Request::default() };
        assert_eq!(stripe.pieces(&flush).map(|(drive, _)| drive).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn each_sector_lies_on_one_place_of_one_drive() {
        for (drives, chunk) in [(1, 8), (2, 1), (3, 8), (5, 64)] {
            let stripe = Stripe::new(drives, chunk);
            let place = |sector: u64| pieces(stripe, sector, 1)[0];
            for (lba, sectors) in [(0, 1), (3, 500), (63, 66), (640, 1_000), (7, 9)] {
                let cut = pieces(stripe, lba, sectors);
                assert!(cut.len() <= usize::from(drives));
                let mut found: Vec<(u16, u64)> = cut
                    .iter()
                    .flat_map(|&(drive, lba, sectors)| {
                        (0..u64::from(sectors)).map(move |at| (drive, lba + at))
                    })
                    .collect();
                let mut expected: Vec<(u16, u64)> = (0..u64::from(sectors))
                    .map(|at| place(lba + at))
                    .map(|(drive, lba, _)| (drive, lba))
                    .collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{drives} drives, {chunk} sectors: {lba}+{sectors}");
                assert!(expected.windows(2).all(|pair| pair[0] != pair[1]));
                let end = lba + u64::from(sectors);
                let room = stripe.drive_sectors(end);
                assert!(expected.iter().all(|(_, at)| *at < room) && stripe.volume_sectors(room) >= end);
            }
        }
    }
}
