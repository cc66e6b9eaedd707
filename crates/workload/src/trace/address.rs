//! Where a workload's addresses lie on the drive.
//!
//! A trace was recorded on another disk, often larger than the drive simulated. `D` is the drive's size in sectors,
//! `g` the granularity (`granularity_kib`, default 4 KiB = 8 sectors).
//!
//! * `compact`: the granules that the workload reads or writes are numbered in ascending order (device by device),
//!   and granule number `i` becomes sectors `i·g` to `(i+1)·g - 1`; the place within a granule is kept. Granules that
//!   touch remain neighbours, so a request stays one range; gaps between touched areas close. Trims are cut to the
//!   touched granules within them; one that has none is dropped and counted.
//! * `wrap`: let `W` be `D` rounded down to whole granules (or `D`, if smaller than one). A request longer than `W`
//!   is cut to `W`. Its address becomes `lba mod W`; if it would then cross `W`, it is moved down by whole granules
//!   until it does not (to sector 0, if that is impossible). The place within a granule is kept, requests are never
//!   split. All three are counted.
//! * `as_is`: addresses are taken as they are; one beyond `D` is an error that names the request.

use crate::base::error::{Problem, WorkloadError};
use crate::base::pages::RankMap;
use crate::base::report::SourceReport;
use crate::base::request::{PAGE_SECTORS, Request};
use crate::base::settings::choice;
use ssd::signals::OpCode;
use std::path::Path;
use std::sync::Arc;

choice! {
    /// What becomes of a workload's addresses (see [`crate::trace::address`]).
    pub enum AddressPolicy {
        /// Number the touched granules densely from 0.
        Compact = "compact",
        /// Modulo the drive.
        Wrap = "wrap",
        /// Unchanged; beyond the drive is an error.
        AsIs = "as_is",
    }
}

/// Page numbers of devices lie this far apart: addresses are below 2^50 sectors, so pages below 2^47.
const DEVICE_SHIFT: u32 = 47;

/// Number of a device's first page in a set of pages of all devices.
#[inline]
pub(crate) fn page_base(device: u16) -> u64 {
    u64::from(device) << DEVICE_SHIFT
}

/// An address policy with all it needs to know.
pub(crate) enum AddressMap {
    AsIs { sectors: u64 },
    Wrap { sectors: u64, granule: u64 },
    Compact { ranks: Arc<RankMap>, shift: u32 },
}

impl AddressMap {
    /// Unchanged addresses on a drive of so many sectors.
    pub(crate) fn as_is(drive_sectors: u64) -> Self {
        AddressMap::AsIs { sectors: drive_sectors }
    }

    /// Addresses modulo a drive of so many sectors. A drive of none leaves nothing to wrap to: every request is out
    /// of range.
    pub(crate) fn wrap(drive_sectors: u64, granule: u64) -> Self {
        if drive_sectors == 0 {
            return AddressMap::as_is(0);
        }
        let whole = drive_sectors / granule * granule;
        if whole == 0 {
            AddressMap::Wrap { sectors: drive_sectors, granule: 1 }
        } else {
            AddressMap::Wrap { sectors: whole, granule }
        }
    }

    /// Dense addresses of granules of `1 << shift` pages.
    pub(crate) fn compact(ranks: Arc<RankMap>, shift: u32) -> Self {
        AddressMap::Compact { ranks, shift }
    }

    /// Places a request, numbered from 1, of `device`; false if nothing is left of it. Its address already counts
    /// from the device's base, except for `compact`.
    #[inline]
    pub(crate) fn place(
        &self,
        request: &mut Request,
        device: u16,
        number: u64,
        file: &Path,
        report: &mut SourceReport,
    ) -> Result<bool, WorkloadError> {
        if request.sectors == 0 {
            return Ok(true);
        }
        match self {
            &AddressMap::AsIs { sectors } => {
                if request.end() > sectors {
                    return Err(Problem::OutOfRange {
                        request: number,
                        lba: request.lba,
                        sectors: request.sectors,
                        drive_sectors: sectors,
                    }
                    .into());
                }
            }
            &AddressMap::Wrap { sectors, granule } => wrap(request, sectors, granule, report),
            AddressMap::Compact { ranks, shift } => {
                let granule_sectors = PAGE_SECTORS << shift;
                let granule = |sector: u64| (page_base(device) >> shift) + sector / granule_sectors;
                if request.op == OpCode::Trim {
                    let granules = (granule(request.lba), granule(request.end() - 1));
                    let kept = compact_trim(request, granules, ranks, granule_sectors);
                    report.trims_dropped += u64::from(!kept);
                    return Ok(kept);
                }
                let Some(rank) = ranks.rank(granule(request.lba)) else {
                    return Err(Problem::Changed { file: file.display().to_string() }.into());
                };
                request.lba = rank * granule_sectors + request.lba % granule_sectors;
            }
        }
        Ok(true)
    }
}

/// Takes a request modulo `sectors`, a multiple of `granule`.
#[inline]
fn wrap(request: &mut Request, sectors: u64, granule: u64, report: &mut SourceReport) {
    if request.end() <= sectors {
        return;
    }
    if u64::from(request.sectors) > sectors {
        // `sectors` is less than a u32 here.
        request.sectors = sectors as u32;
        report.shortened += 1;
    }
    let length = u64::from(request.sectors);
    let mut lba = request.lba % sectors;
    report.wrapped += u64::from(lba != request.lba);
    if lba + length > sectors {
        let down = (lba + length - sectors).next_multiple_of(granule);
        lba = lba.saturating_sub(down);
        report.moved_from_end += 1;
    }
    request.lba = lba;
}

/// Cuts a trim to the touched granules within it, which are neighbours after compaction; false if there are none.
fn compact_trim(request: &mut Request, granules: (u64, u64), ranks: &RankMap, granule_sectors: u64) -> bool {
    let (first, last) = granules;
    let (from, to) = (ranks.rank_below(first), ranks.rank_below(last + 1));
    if from == to {
        return false;
    }
    let end = request.end();
    // The edges are kept within granules that are themselves touched.
    let start_offset = if ranks.rank(first).is_some() { request.lba % granule_sectors } else { 0 };
    let end_offset =
        if ranks.rank(last).is_some() { (end - 1) % granule_sectors + 1 } else { granule_sectors };
    let new_end = (to - 1) * granule_sectors + end_offset;
    request.lba = from * granule_sectors + start_offset;
    // Not longer than before, so it fits.
    request.sectors = (new_end - request.lba) as u32;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pages::PageSet;

    fn request(op: OpCode, lba: u64, sectors: u32) -> Request {
        Request { op, lba, sectors, ..Request::default() }
    }

    #[test]
    fn wrap_keeps_alignment_and_never_splits() {
        let cases = [
            // lba, sectors, drive, expected lba, expected sectors
            (0, 8, 100, 0, 8),
            (88, 8, 100, 88, 8),
            (96, 8, 100, 0, 8),
            (99, 1, 100, 3, 1),
            (90, 8, 100, 82, 8),
            (92, 16, 100, 76, 16),
            (1000, 8, 100, 40, 8),
            (7, 90, 100, 0, 90),
            (5, 200, 100, 0, 96),
            (3, 2, 4, 2, 2),
            (9, 9, 4, 0, 4),
            (1 << 49, 8, 1 << 21, 0, 8),
        ];
        for (lba, sectors, drive, expected_lba, expected_sectors) in cases {
            let map = AddressMap::wrap(drive, 8);
            let mut r = request(OpCode::Write, lba, sectors);
            let mut report = SourceReport::default();
            assert!(map.place(&mut r, 0, 1, Path::new("t"), &mut report).unwrap());
            assert_eq!((r.lba, r.sectors), (expected_lba, expected_sectors), "{lba}+{sectors} on {drive}");
            assert!(r.end() <= drive);
        }
    }

    #[test]
    fn as_is_names_the_request() {
        let map = AddressMap::as_is(100);
        let mut report = SourceReport::default();
        assert!(map.place(&mut request(OpCode::Read, 99, 1), 0, 1, Path::new("t"), &mut report).unwrap());
        let error =
            map.place(&mut request(OpCode::Read, 96, 8), 0, 7, Path::new("t"), &mut report).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("request 7") && text.contains("96 to 103") && text.contains("wrap"), "{text}");
    }

    #[test]
    fn compact_closes_gaps_and_keeps_neighbours() {
        let mut pages = PageSet::default();
        for (first, last) in [(2, 3), (10, 10), (1000, 1003)] {
            pages.insert(first, last);
            pages.insert(page_base(7) + first, page_base(7) + last);
        }
        let map = AddressMap::compact(Arc::new(RankMap::new(&pages, 0)), 0);
        let place = |op, lba, sectors, device| {
            let mut r = request(op, lba, sectors);
            let kept = map.place(&mut r, device, 1, Path::new("t"), &mut SourceReport::default()).unwrap();
            kept.then_some((r.lba, r.sectors))
        };
        assert_eq!(place(OpCode::Write, 16, 16, 0), Some((0, 16)));
        assert_eq!(place(OpCode::Read, 83, 2, 0), Some((19, 2)));
        assert_eq!(place(OpCode::Read, 8003, 20, 0), Some((27, 20)));
        assert_eq!(place(OpCode::Write, 16, 16, 7), Some((7 * 8, 16)));
        // Trims: of everything, of a gap, of parts.
        assert_eq!(place(OpCode::Trim, 0, 1 << 20, 0), Some((0, 56)));
        assert_eq!(place(OpCode::Trim, 32, 48, 0), None);
        assert_eq!(place(OpCode::Trim, 20, 64, 0), Some((4, 16)));
        assert_eq!(place(OpCode::Trim, 20, 63, 0), Some((4, 15)));
        assert_eq!(place(OpCode::Trim, 81, 2, 0), Some((17, 2)));
        assert_eq!(place(OpCode::Trim, 0, 4, 0), None);
        let mut unseen = request(OpCode::Read, 40, 8);
        assert!(map.place(&mut unseen, 0, 1, Path::new("t"), &mut SourceReport::default()).is_err());
    }
}
