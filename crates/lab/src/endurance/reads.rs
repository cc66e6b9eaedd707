//! What reads make a drive write: blocks that were read too often are moved before their data fades.
//!
//! A block of `p` pages is moved after `n` reads of its pages. Where data is read evenly, page by page, `p / n` of the
//! bytes read are programmed again.

use serde::Serialize;
use ssd::DriveConfig;
use ssd::config::Table;
use ssd::ftl::read_reclaim;
use ssd::nand::cell::CellModel;

use crate::base::number::digits;

/// Share of what a block endures at which it is moved, where the drive's configuration says nothing: that of `block`.
const SHARE: f64 = 0.95;

/// Reads, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reads {
    /// Bytes read a day.
    pub bytes_a_day: f64,
    /// Reads of its pages after which a block is moved.
    pub reads_a_block: f64,
    /// Bytes programmed a day for that.
    pub programmed_a_day: f64,
    /// Where the number of reads is from, as a sentence.
    pub basis: String,
}

impl Reads {
    /// Of so many bytes a day on a drive; `limit` are the reads of a block, if somebody says.
    pub fn of(
        whole: &DriveConfig,
        bytes_a_day: f64,
        limit: Option<f64>,
        cycles: Option<u32>,
    ) -> Option<Self> {
        let (reads_a_block, basis) = match (limit, own_limit(whole)) {
            (Some(limit), _) => (limit, "as asked for".to_owned()),
            (None, Some(limit)) => (limit, "ftl.read_reclaim.max_reads and threshold_percent".to_owned()),
            (None, None) => of_cells(whole, cycles)?,
        };
        let pages = f64::from(whole.geometry.pages_per_block());
        let programmed_a_day = bytes_a_day * pages / reads_a_block;
        let basis =
            format!("{basis}; data is read evenly, page by page, in blocks of {} pages", digits(pages));
        Some(Reads { bytes_a_day, reads_a_block, programmed_a_day, basis })
    }
}

/// What the drive's own policy counts to, where that is a number.
fn own_limit(whole: &DriveConfig) -> Option<f64> {
    let number = |key: &str| whole.read_reclaim.show(key).and_then(|text| text.parse::<f64>().ok());
    let is_on = whole.read_reclaim.name() != read_reclaim::never::NAME;
    let limit = number("max_reads").filter(|reads| is_on && *reads > 0.0)?;
    Some(limit * number("threshold_percent").unwrap_or(100.0) / 100.0)
}

/// What the cells endure at half of the drive's life.
fn of_cells(whole: &DriveConfig, cycles: Option<u32>) -> Option<(f64, String)> {
    let cells = CellModel::new(whole.cells.clone()).ok()?;
    let kcycles = match cycles {
        Some(cycles) => f64::from(cycles) / 2_000.0,
        None => whole.cells.disturb.reference_kcycles,
    };
    let reads = cells.block_reads_max(kcycles) * SHARE;
    let basis = format!(
        "{:.0} % of what the worst wordline of the drive's cells endures after {:.0} cycles (cell.disturb)",
        SHARE * 100.0,
        kcycles * 1e3
    );
    (reads.is_finite() && reads >= 1.0).then_some((reads, basis))
}
